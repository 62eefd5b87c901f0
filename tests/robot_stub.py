"""Writes robot_functions.pyi and excite.pyi, what editors, type checkers and the site know of functions whose options
stand in a table: python tests/robot_stub.py"""

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path

from linkwork import robot_functions
from linkwork.formulations import QUANTITIES
from linkwork.identify import excite
from linkwork.robot_functions import RobotFunctions

STUB = Path(robot_functions.__file__).with_suffix(".pyi")
EXCITE = Path(inspect.getfile(excite)).with_suffix(".pyi")
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
EXCITE_HEAD = """# Written by tests/robot_stub.py from linkwork/options.py; do not edit.
from collections.abc import Mapping, Sequence
from typing import Any

from ...robot import Robot
from .excitation import Excitation

"""


def stubs() -> dict[Path, str]:
    """The texts of the files."""
    robot = HEAD + "\n".join(map(_member, [*MOTIONS, *(name for name in QUANTITIES if name in vars(RobotFunctions))]))
    return {STUB: robot, EXCITE: EXCITE_HEAD + textwrap.dedent(_function("excite", excite))}


def _member(name: str) -> str:
    value = inspect.getattr_static(RobotFunctions, name)
    if inspect.isfunction(value):
        return _function(name, value)
    return f"    @property\n    def {name}(self) -> Function:\n{_body(value)}\n"


def _body(value: object) -> str:
    return textwrap.indent(f'"""{inspect.getdoc(value)}\n"""', " " * 8)


def _function(name: str, value: Callable[..., object]) -> str:
    signature = inspect.signature(value)
    parameters = list(signature.parameters.values())
    lines = [f"        {_written(each)},\n" for each in parameters]
    named = [k for k, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY]
    if named:
        lines.insert(named[0], "        *,\n")
    return f"    def {name}(\n{''.join(lines)}    ) -> {signature.return_annotation}:\n{_body(value)}\n"


def _written(parameter: inspect.Parameter) -> str:
    if parameter.name == "self":
        return "self"
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{stars}{parameter.name}: {parameter.annotation}{default}"


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
