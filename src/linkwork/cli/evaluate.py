"""``linkwork eval``: a quantity at one state from the command line, or at many from a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..constraints import row_names
from ..errors import LinkworkError
from ..formulations import QUANTITIES, VARIABLES, Variable, quantity_of
from ..function import Function
from ..inspection.states import entries, neutral, unit
from ..model import Model
from ..parameters import parameter_vector
from ..table import Table
from .common import Json, Source, among, console, method_option, print_json, progress, say, show, takes_robot
from .states import Result, check_suffix, csv_text, parse, read_states, write_results


def _with_quantities(verb: Callable[..., None]) -> Callable[..., None]:
    """End the help of a verb with the list of quantities."""
    width = 20  # what is called longer has a shorter summary
    lines = "".join(f"\n    {name:{width}}  {quantity.summary}" for name, quantity in QUANTITIES.items())
    verb.__doc__ = f"{verb.__doc__}\n    \b\n    The quantities:{lines}\n"
    return verb


@takes_robot
@_with_quantities
def evaluate(
    source: Source,
    quantity: Annotated[
        str, typer.Argument(metavar="QUANTITY", help="One of those listed above.", autocompletion=among(QUANTITIES))
    ],
    q: Annotated[str | None, typer.Option("--q", metavar="VALUES", help="Positions in rad or m.")] = None,
    v: Annotated[str | None, typer.Option("--v", metavar="VALUES", help="Velocities.")] = None,
    a: Annotated[str | None, typer.Option("--a", metavar="VALUES", help="Accelerations.")] = None,
    tau: Annotated[str | None, typer.Option("--tau", metavar="VALUES", help="Joint forces in N m or N.")] = None,
    a_known: Annotated[
        str | None, typer.Option("--a-known", metavar="VALUES", help="Accelerations of the driven joints.")
    ] = None,
    tau_known: Annotated[
        str | None, typer.Option("--tau-known", metavar="VALUES", help="Forces on what no motor drives.")
    ] = None,
    v_joints: Annotated[
        str | None, typer.Option("--v-joints", metavar="VALUES", help="Velocities of all joints of a robot with loops.")
    ] = None,
    commands: Annotated[
        str | None, typer.Option("--commands", metavar="VALUES", help="Commands of thrusters, rotors and the like.")
    ] = None,
    contacts: Annotated[
        str | None, typer.Option(metavar="VALUES", help="Contacts on the ground: 1, or 0; default: all.")
    ] = None,
    restitution: Annotated[str | None, typer.Option(metavar="VALUES", help="Of contacts in an impact, 0 to 1.")] = None,
    frame: Annotated[str | None, typer.Option(metavar="FRAME", help="For pose, jacobian, jacobian_drift.")] = None,
    axes: Annotated[str, typer.Option(metavar="AXES", help="world or local, for Jacobians.")] = "world",
    input: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="States to evaluate: .csv, .npy or .npz.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Where the results go: .csv, .npy or .npz.")
    ] = None,
    method: Annotated[str, method_option()] = "auto",
    dtype: Annotated[str, typer.Option(metavar="TYPE", help="float64 or float32.")] = "float64",
    threads: Annotated[str, typer.Option(metavar="N|auto", help="Threads that share a batch.")] = "1",
    json: Json = False,
) -> None:
    """Evaluate a quantity at one state, or at every state of a file.

    One state: VALUES are numbers in the order of the joints, 0,0.1,..., or by name, joint1=0.1,joint2=...; what is not
    given is zero, or at home where the file tells it. Of the positions of a robot with loops those of the independent
    joints are enough, and the others are found from home. With --input, a vector given on the command line holds for
    every state of the file.

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
    texts = {"q": q, "v": v, "a": a, "tau": tau, "a_known": a_known, "tau_known": tau_known}
    texts |= {"v_joints": v_joints, "commands": commands, "contacts": contacts, "restitution": restitution}
    asked = quantity_of(model, quantity)
    inputs = asked.inputs
    needless = [name.replace("_", "-") for name, text in texts.items() if text is not None and name not in inputs]
    if needless:
        raise LinkworkError(
            f"{quantity} does not depend on this",
            got=", ".join(f"--{name}" for name in needless),
            expected=", ".join(inputs),
        )
    if asked.of_frame and frame is None:
        raise _frame_needed(quantity, robot.name, robot.frame_names)
    given = {name: parse(model, name, text) for name, text in texts.items() if text is not None}
    several = int(threads) if threads.isdecimal() else threads
    if several != "auto" and not (isinstance(several, int) and several):
        raise typer.BadParameter(f"{threads!r} is neither a positive number nor auto", param_hint="--threads")
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
        result = function(**{name: given[name] for name in inputs}, threads=several)
    outputs = asked.outputs
    values = result if len(outputs) > 1 else (np.asarray(result),)
    results = [
        Result(output.name, _labels(model, output), array, unit(model, output.unit))
        for output, array in zip(outputs, values, strict=True)
    ]
    states = math.prod(results[0].batch)
    if output is not None:
        with progress(f"writing {output}"):
            write_results(output, results)
    names = ", ".join(output.name for output in outputs)
    if json:
        print_json(
            {
                "robot": robot.name, "quantity": quantity, "method": function.label.method,
                "signature": function.signature, "labels": {each.name: each.labels for each in results},
                "inputs": given if input is None else str(input), "states": states,
                "output": {each.name: each.values for each in results} if output is None else str(output),
            }
        )  # fmt: skip
    elif output is not None:
        say(f"wrote {output}: {names} at {states} state{'' if states == 1 else 's'}")
    elif input is not None:
        print(csv_text(results), end="")
    else:
        for each in results:
            _show(function, model, each, given)
        if zero:
            at_home = "q" in zero and model.home
            others = [name for name in zero if name != "contacts" and not (at_home and name == "q")]
            said = (["Not given, so at home: q."] if at_home else []) + (
                [f"Not given, so zero: {', '.join(others)}."] if others else []
            )
            said += (
                [f"Not given, so on the ground: {', '.join(entries(model, 'contacts'))}."] if "contacts" in zero else []
            )
            say(" ".join(said), "dim")


def _frame_needed(quantity: str, robot: str, frames: Sequence[str]) -> LinkworkError:
    fix = f"give --frame, e.g. --frame {frames[-1]}"
    return LinkworkError(f"{quantity} needs a frame", where=robot, expected=f"one of: {', '.join(frames)}", fix=fix)


def _labels(model: Model, output: Variable) -> list[list[str]]:
    """Names along each axis of an output."""
    named = {"residual": row_names(model)}
    if "parameters" in output.shape:
        named["parameters"] = list(parameter_vector(model, "minimal").names)
    return [
        list(output.along(k) or (named[str(axis)] if axis in named else entries(model, str(axis))))
        for k, axis in enumerate(output.shape)
    ]


def _show(function: Function, model: Model, result: Result, given: dict[str, np.ndarray]) -> None:
    quantity, name, values = function.label.quantity, result.name, result.values
    by = f" by {function.label.method}" if function.label.method else ""
    of = f" of {function.label.frame}" if function.label.frame else ""
    title = f"{model.name}: {quantity}{of}{by}"
    if values.ndim == 1 and not values.size:
        say(f"{title}, {name}: empty")
    elif values.ndim == 0:
        show(Table(title, [(name, result.unit)], [[float(values)]]))
    elif values.ndim == 1:
        labels = list(result.labels[0])
        beside = [vector for vector in given if entries(model, vector) == labels]
        columns = zip(labels, *(given[vector] for vector in beside), values, strict=True)
        heads = ((vector, unit(model, VARIABLES[vector].unit)) for vector in beside)
        rows = [[label, *map(float, row)] for label, *row in columns]
        show(Table(title, ["", *heads, (name, result.unit)], rows))
    else:
        _show_matrix(f"{title}, {name}, {result.unit}", result.labels, values)


def _show_matrix(title: str, labels: Sequence[Sequence[str]], matrix: np.ndarray) -> None:
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
        show(Table(title if start == 0 else "", ["", *columns[part]], body))
