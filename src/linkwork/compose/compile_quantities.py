"""One quantity as a compiled function, or several in one program that does their common work once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import LinkworkError, UnknownNameError, UnsupportedError, at_door
from ..formulations import QUANTITIES, Problem
from ..function import Function
from ..model import Model, NumberInput
from ..pipeline import HasModel, bound, checked_inputs, checked_options, compile_quantity, model_of
from ..program import PARAMETER, STATE, Port
from ..quoting import identifier
from ..renamed import renamed_arguments
from .function_ports import check_port
from .method_combinations import compiled, with_method
from .traced_robot import used_inputs


@renamed_arguments(payload='inputs=["payload:FRAME"]')
def compile(
    robot: Model | HasModel,
    quantity: str | Sequence[str] | Mapping[str, str],
    *,
    method: str | Mapping[str, str] = "auto",
    frame: str | None = None,
    axes: str = "world",
    wrenches: Sequence[str] = (),
    parameters: str = "minimal",
    drives: bool | Sequence[str] | None = None,
    inputs: Sequence[str] = (),
    known: Sequence[str] | None = None,
    dtype: Any = "float64",
    backend: str = "native",
) -> Function:
    """Compile one quantity of a robot, or several into one program that does their common work once.

    Args:
        robot: A Robot, or its Model.
        quantity: A quantity, a list of quantities, or a dict from output name to quantity. In a list or dict,
            "pose:hand" is the pose of the frame "hand".
        method: A name from the catalog. "auto" takes the method with the fewest instructions for this robot among those
            worth trying (``Method.candidate``), "fastest" the one of them that takes the least time here. For several
            quantities: a dict from quantity to method; those left out are chosen together, by instructions.
        frame: Frame of the quantities that have one, if not given as "pose:hand".
        axes: "world" (default) or "local", for jacobian and jacobian_drift.
        wrenches: Frames on which wrenches act. Adds the input ``wrenches`` of shape (len(wrenches), 6): force, then
            moment about the frame's origin, in its axes, applied to the robot.
        parameters: "minimal" (default) groups the inertial parameters into the fewest that act on the joints, where the
            quantity is about the joints alone. "standard" leaves them as they are; some methods group them themselves.
        drives: Which parameters of the drives have columns in a regressor, as in ``Robot.regressor``.
        inputs: Numbers of the robot that are inputs, each by its name: "gravity", "parameters", "payload:FRAME",
            "friction" and others, see the page on inputs. A call that leaves one out takes the robot's own.
        known: Joints whose positions "assemble" takes. Default: the motors if they determine all joints, else the
            independent joints.
        dtype: "float64" (default) or "float32".
        backend: "native" (default), or "interpreter", which runs in NumPy without LLVM.

    Returns:
        The compiled Function. One of several quantities returns a named tuple; an output has the name of its quantity,
        followed by the frame where a quantity occurs more than once.

    Raises:
        UnknownNameError: There is no such quantity, method, frame or option.

    Example:
        >>> f = linkwork.compile(robot, ["inertia_matrix", "bias", "pose:panda_link8"])
        >>> f.signature
        'q(7), v(7) -> inertia_matrix(7,7), bias(7), pose(4,4)'
    """
    options: dict[str, Any] = {"axes": axes, "wrenches": wrenches, "parameters": parameters}
    options |= {"drives": drives, "inputs": inputs, "known": known, "dtype": dtype, "backend": backend}
    if isinstance(quantity, str):
        name, _, of = quantity.partition(":")
        if of and frame not in (None, of):
            got, fix = f"{quantity!r} and {at_door('frame=', '--frame ')}{frame}", "give one of them"
            raise LinkworkError("the frame is given twice", got=got, fix=fix)
        if not isinstance(method, str):
            raise UnsupportedError("one quantity has one method", got=repr(method), fix="method='name'")
        return compile_quantity(robot, name, method=method, frame=of or frame, **options)
    return _several(robot, quantity, method, frame, **options)


def _several(
    robot: Model | HasModel, quantities: Any, method: Any, frame: str | None, *, wrenches: Sequence[str], **options: Any
) -> Function:
    """Compile several quantities into one program."""
    model = model_of(robot)
    axes, drives, known = (options.pop(name) for name in ("axes", "drives", "known"))
    inputs = checked_inputs(options.pop("inputs"))
    dtype, wrenches = checked_options(wrenches=wrenches, axes=axes, **options)
    chosen = quantities_by_output(quantities, frame)
    if isinstance(method, str) and method != "auto":
        raise UnsupportedError(
            "several quantities have no common method", got=repr(method), fix='method={"inertia_matrix": "crba"}'
        )
    asked = dict(method) if isinstance(method, Mapping) else {}
    if unknown := [name for name in asked if name not in {each for each, _ in chosen.values()}]:
        raise UnknownNameError("quantity of method=", unknown[0], [name for name, _ in chosen.values()])
    problems = {
        output: bound(
            model,
            name,
            frame=of,
            axes=axes if QUANTITIES[name].has_axes else "world",
            wrenches=wrenches if QUANTITIES[name].takes_wrenches else (),
            parameters=options["parameters"],
            drives=drives,
            inputs=used_inputs(model, name, inputs),
            known=known if name == "assemble" else None,
            dtype=dtype,
        )
        for output, (name, of) in chosen.items()
    }
    if all(not QUANTITIES[name].takes_wrenches for name, _ in chosen.values()) and wrenches:
        raise LinkworkError("none of these quantities takes wrenches", got=", ".join(wrenches))
    if known is not None and all(name != "assemble" for name, _ in chosen.values()):
        raise LinkworkError("none of these quantities has known joints", got=f"known={known!r}")
    shapes: dict[str, tuple[int, ...]] = {}
    for problem in problems.values():
        shapes |= problem.inputs
    numbers: dict[str, NumberInput] = {}
    for problem in sorted(problems.values(), key=lambda problem: -len(problem.numbers)):  # that of most inputs first
        numbers |= {name: each for name, each in problem.numbers.items() if name not in numbers}
    order = [*(name for name in shapes if name not in numbers), *(name for name in numbers if name in shapes)]
    ports = [Port(name, shapes[name], PARAMETER if name in numbers else STATE) for name in order]

    def run(methods: Mapping[str, str], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        results, bound_problems = {}, []
        for output, problem in problems.items():
            each = with_method(problem, methods)
            bound_problems.append(each)
            made = each.evaluate(*(values[name] for name in each.inputs))
            for key, value in made.items():
                name = output if len(made) == 1 else key if len(problems) == 1 else f"{output}_{key}"
                results[name] = np.array(value, dtype=object).reshape(each.outputs[key])
        return results, bound_problems

    name = "_and_".join(problems) if len("_and_".join(problems)) <= 60 else f"{next(iter(problems))}_and_others"
    meanings = {}
    for output, problem in problems.items():
        known = problem.meanings
        meanings |= {key: known[key] for key in problem.inputs}
        several = len(problem.outputs) > 1
        meanings |= {(f"{output}_{key}" if several else output): known[key] for key in problem.outputs}
    return compiled(model, name, ports, run, asked, meanings, dtype, options["backend"], wrenches, numbers)


def quantities_by_output(quantities: Any, frame: str | None) -> dict[str, tuple[str, str | None]]:
    """Return quantity and frame by output name."""
    if isinstance(quantities, Mapping):
        pairs = list(quantities.items())
    elif isinstance(quantities, Sequence):
        pairs = [("", each) for each in quantities]
    else:
        raise UnsupportedError("quantity is a name, a list of names, or a dict", got=repr(quantities))
    if not pairs:
        raise LinkworkError("no quantity to compile", expected='names such as ["inertia_matrix", "bias"]')
    parsed = []
    for output, text in pairs:
        if not isinstance(text, str) or not isinstance(output, str):
            raise UnsupportedError("a quantity is a name", got=repr(text), expected="a text such as 'pose:hand'")
        name, _, of = text.partition(":")
        if name not in QUANTITIES:
            raise UnknownNameError("quantity", name, QUANTITIES)
        parsed.append((output, name, of or (frame if QUANTITIES[name].of_frame else None)))
    names = [name for _, name, _ in parsed]
    found: dict[str, tuple[str, str | None]] = {}
    for output, name, of in parsed:
        output = output or (name if names.count(name) == 1 else identifier(f"{name}_{of}" if of else name))
        if output in found:
            fix = at_door(f'{{"my_name": "{name}:{of}", ...}}' if of else f'give "{name}" once', "one command for each")
            raise LinkworkError("two outputs have the same name", got=output, fix=fix)
        check_port(output, "output")
        found[output] = name, of
    return found
