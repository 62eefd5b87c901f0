"""``linkwork eval``: a quantity at one state from the command line, or at many from a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..errors import LinkworkError
from ..formulations import QUANTITIES, methods
from ..function import Function
from ..model import Model
from .common import Json, Source, console, print_json, progress, say, show, takes_robot
from .states import check_suffix, csv_text, entries, neutral, parse, read_states, unit, write_results

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
LABELS = {  # where the entries are not those of the joints; None: they are
    "momentum": (("px", "py", "pz", "Lx", "Ly", "Lz"),),
    "center_of_mass": (("x", "y", "z"),),
    "pose": (("x", "y", "z", "1"), ("x", "y", "z", "origin")),
    "jacobian": (TWIST, None),
    "jacobian_drift": (TWIST,),
}
LISTED = 20  # names in a message


def _with_quantities(verb: Callable[..., None]) -> Callable[..., None]:
    """End the help of a verb with the list of quantities."""
    width = max(map(len, QUANTITIES))
    lines = "".join(f"\n    {name:{width}}  {quantity.summary}" for name, quantity in QUANTITIES.items())
    verb.__doc__ = f"{verb.__doc__}\n    \b\n    The quantities:{lines}\n"
    return verb


@takes_robot
@_with_quantities
def evaluate(
    source: Source,
    quantity: Annotated[str, typer.Argument(metavar="QUANTITY", help="One of those listed above.")],
    q: Annotated[str | None, typer.Option("--q", metavar="VALUES", help="Positions in rad or m.")] = None,
    v: Annotated[str | None, typer.Option("--v", metavar="VALUES", help="Velocities.")] = None,
    a: Annotated[str | None, typer.Option("--a", metavar="VALUES", help="Accelerations.")] = None,
    tau: Annotated[str | None, typer.Option("--tau", metavar="VALUES", help="Joint forces in N m or N.")] = None,
    frame: Annotated[str | None, typer.Option(metavar="FRAME", help="For pose, jacobian, jacobian_drift.")] = None,
    axes: Annotated[str, typer.Option(metavar="AXES", help="world or local, for Jacobians.")] = "world",
    input: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="States to evaluate: .csv, .npy or .npz.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Where the results go: .csv, .npy or .npz.")
    ] = None,
    method: Annotated[str, typer.Option(metavar="METHOD", help="auto: the one with the fewest operations.")] = "auto",
    dtype: Annotated[str, typer.Option(metavar="TYPE", help="float64 or float32.")] = "float64",
    threads: Annotated[int, typer.Option(min=1, help="Threads among which a batch is split.")] = 1,
    json: Json = False,
) -> None:
    """Evaluate a quantity at one state, or at every state of a file.

    One state: VALUES are numbers in the order of the joints, 0,0.1,..., or by name, joint1=0.1,joint2=...; what is not
    given is zero. With --input, a vector given on the command line holds for every state of the file.

    CSV: one row per state under a header. A column is named after its vector and joint: q:joint1, v:joint1, a:joint1,
    tau:joint1 (or with a dot, q.joint1); others are ignored. A floating base has q:base.x, y, z, qx, qy, qz, qw, and
    for the other vectors base.x, y, z (linear) and base.rx, ry, rz (angular). Results are named in the same way,
    tau:joint1, and matrices by row and column, M:joint1:joint2; pandas.read_csv reads them.

    NPZ: arrays q, v, a, tau of shape (..., n). NPY: one array with the inputs of the quantity side by side.

    Without --output, results of a file are printed as CSV.

    \b
    linkwork eval panda inverse_dynamics --q 0,0.3,0,-1.5,0,1.8,0.7 --a panda_joint4=1
    linkwork eval panda pose --frame panda_link8
    linkwork eval ur5e forward_dynamics --input states.csv --output accelerations.csv
    """
    for path in (input, output):
        if path is not None:
            check_suffix(path)
    if input is not None and output is not None and input.resolve() == output.resolve():
        raise LinkworkError("the results would replace the states", where=str(output), fix="choose another --output")
    robot = source.load()
    model = robot.model
    methods(quantity)  # refuses what is no quantity
    texts = {"q": q, "v": v, "a": a, "tau": tau}
    inputs = QUANTITIES[quantity].inputs
    if needless := [f"--{name}" for name, text in texts.items() if text is not None and name not in inputs]:
        raise LinkworkError(f"{quantity} does not depend on this", got=", ".join(needless), expected=", ".join(inputs))
    if QUANTITIES[quantity].of_frame and frame is None:
        raise _frame_needed(quantity, robot.name, robot.frame_names)
    given = {name: parse(model, name, text) for name, text in texts.items() if text is not None}
    function = robot.compile(quantity, method=method, frame=frame, axes=axes, dtype=dtype)
    zero = [name for name in inputs if name not in given]
    if input is not None and not zero:
        got = "all of " + ", ".join(inputs)
        raise LinkworkError(f"nothing is left to read from {input}", got=got, fix="leave out --input, or a vector")
    if input is not None:
        with progress(f"reading {input}"):
            given |= read_states(input, model, zero)
    else:
        given |= {name: neutral(model, name) for name in zero}
    with progress("compiling and evaluating"):
        result = np.asarray(function(**{name: given[name] for name in inputs}, threads=threads))
    port = function.program.outputs[0]
    batch = result.shape[: result.ndim - len(port.shape)]
    labels = _labels(function, model)
    if output is not None:
        with progress(f"writing {output}"):
            write_results(output, port.name, _columns(port.name, labels), result, batch)
    if json:
        print_json(
            {
                "robot": robot.name, "quantity": quantity, "method": function.label.method,
                "signature": function.signature, "labels": labels, "inputs": given if input is None else str(input),
                "output": {port.name: result} if output is None else str(output), "states": math.prod(batch),
            }
        )  # fmt: skip
    elif output is not None:
        say(f"wrote {output}: {port.name} at {math.prod(batch)} state{'' if math.prod(batch) == 1 else 's'}")
    elif input is not None:
        print(csv_text(_columns(port.name, labels), result, batch), end="")
    else:
        _show(function, model, labels, given, result)
        if zero:
            say(f"Not given, so zero: {', '.join(zero)}.", "dim")


def _frame_needed(quantity: str, robot: str, frames: Sequence[str]) -> LinkworkError:
    listed = ", ".join(frames[:LISTED]) + (", ..." if len(frames) > LISTED else "")
    fix = f"give --frame, e.g. --frame {frames[-1]}"
    return LinkworkError(f"{quantity} needs a frame", where=robot, expected=f"one of: {listed}", fix=fix)


def _labels(function: Function, model: Model) -> list[list[str]]:
    """Names along each axis of the result."""
    shape = function.program.outputs[0].shape
    joints = entries(model, "v")
    known = LABELS.get(function.label.quantity, (None,) * len(shape))
    return [list(names) if names else joints for names, _ in zip(known, shape, strict=True)]


def _columns(name: str, labels: list[list[str]]) -> list[str]:
    return [":".join((name, *where)) for where in product(*labels)]


def _show(
    function: Function, model: Model, labels: list[list[str]], given: dict[str, np.ndarray], result: np.ndarray
) -> None:
    quantity, name = function.label.quantity, function.program.outputs[0].name
    by = f" by {function.label.method}" if function.label.method else ""
    of = f" of {function.label.frame}" if function.label.frame else ""
    title = f"{model.name}: {quantity}{of}{by}"
    measure = unit(model, quantity)
    if result.ndim == 0:
        show(title, [f"{name}\n{measure}"], [[float(result)]])
    elif result.ndim == 1:
        shown = QUANTITIES[quantity].inputs if quantity not in LABELS else ()
        beside = [vector for vector in shown if len(given[vector]) == len(result)]  # not q of a floating base
        columns = zip(labels[0], *(given[vector] for vector in beside), result, strict=True)
        headers = ["", *(f"{vector}\n{unit(model, vector)}" for vector in beside), f"{name}\n{measure}"]
        show(title, headers, [[label, *map(float, values)] for label, *values in columns])
    else:
        _show_matrix(f"{title}, {name}, {measure}", labels, result)


def _show_matrix(title: str, labels: list[list[str]], matrix: np.ndarray) -> None:
    """As many columns beside one another as the terminal holds."""
    rows, columns = labels
    if not rows or not columns:
        say(f"{title}: empty, {len(rows)} x {len(columns)}")
        return
    width = 2 + max(12, *map(len, columns))
    fit = max(1, (console().width - max(map(len, rows)) - 4) // width)
    for start in range(0, len(columns), fit):
        part = slice(start, start + fit)
        body = [[label, *map(float, row[part])] for label, row in zip(rows, matrix, strict=True)]
        show(title if start == 0 else "", ["", *columns[part]], body)
