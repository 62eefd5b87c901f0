"""Writes robot_functions.pyi, what editors and type checkers know of a robot's functions: python tests/robot_stub.py"""

import inspect
import textwrap
from pathlib import Path

from linkwork import robot_functions
from linkwork.formulations import QUANTITIES
from linkwork.robot_functions import RobotFunctions

STUB = Path(robot_functions.__file__).with_suffix(".pyi")
MOTIONS = ("simulate", "rollout", "stepper", "identify")
HEAD = """# Written by tests/robot_stub.py from the quantity table and linkwork/options.py; do not edit.
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .function import Function
from .identify import Fit, Log
from .model import SoftLimits
from .robot import Robot
from .sim import Stepper, Trajectory
from .workspace import Workspace

class RobotFunctions(Workspace):
"""


def stub() -> str:
    """The text of the file."""
    return HEAD + "\n".join(map(_member, [*MOTIONS, *QUANTITIES]))


def _member(name: str) -> str:
    value = inspect.getattr_static(RobotFunctions, name)
    body = textwrap.indent(f'"""{inspect.getdoc(value)}\n"""', " " * 8)
    if not inspect.isfunction(value):
        return f"    @property\n    def {name}(self) -> Function:\n{body}\n"
    signature = inspect.signature(value)
    parameters = list(signature.parameters.values())
    lines = [f"        {_written(each)},\n" for each in parameters]
    named = [k for k, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY]
    if named:
        lines.insert(named[0], "        *,\n")
    return f"    def {name}(\n{''.join(lines)}    ) -> {signature.return_annotation}:\n{body}\n"


def _written(parameter: inspect.Parameter) -> str:
    if parameter.name == "self":
        return "self"
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{stars}{parameter.name}: {parameter.annotation}{default}"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
