"""``linkwork eval``: a quantity at one state from the command line, or at many from a file."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..constraints import row_names
from ..errors import LinkworkError
from ..formulations import QUANTITIES, VARIABLES, Variable, quantity_of, sizes
from ..function import Function
from ..inspection.states import DAMPING, entries, is_number, neutral, unit
from ..model import Model
from ..parameters import parameter_vector
from ..table import Table
from .common import (
    Json,
    Source,
    among,
    method_option,
    named_numbers,
    option,
    require_suffix,
    takes_robot,
    takes_several,
)
from .printing import console, print_json, progress, say, show
from .states import SUFFIXES, Result, csv_text, parse, read_states, write_results

VECTORS = ("q", "v", "a", "tau", "a_known", "tau_known", "v_joints", "commands", "contacts", "restitution")
VECTORS += ("v_ref", "a_ref", "positions", "guess", "damping")


def _with_quantities(command: Callable[..., None]) -> Callable[..., None]:
    """End the help of a command with the list of quantities."""
    width = 20  # quantities with longer names have shorter summaries
    lines = "".join(f"\n    {name:{width}}  {quantity.summary}" for name, quantity in QUANTITIES.items())
    command.__doc__ = f"{command.__doc__}\n    \b\n    The quantities:{lines}\n"
    return command


def _vector(name: str) -> inspect.Parameter:
    """Return the option of a vector; its help is from the table of variables."""
    variable = VARIABLES[name]
    unit = variable.unit if isinstance(variable.unit, str) else "{} ({})".format(*variable.unit)
    default = {"contacts": " Default: all 1.", "damping": f" Default: {DAMPING}."}.get(name, "")
    text = f"{variable.meaning[0].upper()}{variable.meaning[1:]}, {unit}.{default}"
    annotation = Annotated[str | None, option("VALUES", text, f"--{name.replace('_', '-')}")]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _given(texts: dict[str, Any]) -> dict[str, Any]:
    return {name: text for name, text in texts.items() if text is not None}


def _shaped(name: str, values: list[float], shape: tuple[int, ...]) -> np.ndarray:
    if len(values) != math.prod(shape):
        expected = f"{math.prod(shape)} numbers, row by row"
        raise LinkworkError("wrong number of values", where=f"--inputs {name}", got=len(values), expected=expected)
    if not np.isfinite(values).all():
        raise LinkworkError("not finite", where=f"--inputs {name}", got=values, expected="finite numbers")
    return np.reshape(values, shape)


@takes_robot
@takes_several("texts", [*map(_vector, VECTORS)], _given)
@_with_quantities
def evaluate(
    source: Source,
    quantity: Annotated[
        list[str],
        typer.Argument(
            metavar="QUANTITY...",
            help="One of the quantities listed above, or several; pose:hand is the pose of the frame hand.",
            autocompletion=among(QUANTITIES),
        ),
    ],
    *,
    texts: dict[str, str],
    frame: Annotated[str | None, option("FRAME", "Frame for poses and Jacobians; required for them.")] = None,
    axes: Annotated[str, option("AXES", "Axes of Jacobians: world or local.")] = "world",
    input: Annotated[Path | None, option("FILE", "File of states to evaluate: .csv, .npy or .npz.", "--input")] = None,
    output: Annotated[
        Path | None, option("FILE", "File for the results: .csv, .npy or .npz. Default: printed.", "--output", "-o")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        option("NAME=VALUES", "Other numbers of the robot: gravity=0,0,-1.62, payload:FRAME=...; may be repeated."),
    ] = None,
    method: Annotated[str, method_option()] = "auto",
    dtype: Annotated[str, option("TYPE", "Number type: float64 or float32.")] = "float64",
    threads: Annotated[str, option("N|auto", "Threads for a batch of states; auto: as many as save time.")] = "1",
    json: Json = False,
) -> None:
    """Evaluate a quantity at one state, or at every state of a file.

    One state: VALUES are numbers in the order of the joints, 0,0.1,..., or by name, joint1=0.1,joint2=... The default
    is zero. For positions it is the home position of the robot file, if it has one. For a robot with closed loops,
    give the positions of the independent joints; the others are solved for, starting from home. With --input, a vector
    given on the command line applies to every state of the file.

    CSV: one row per state under a header. A column is named after its vector and joint: q:joint1, v:joint1, a:joint1,
    tau:joint1 (or with a dot, q.joint1). Others are ignored. A floating base has q:base.x, y, z, qx, qy, qz, qw, and
    for the other vectors base.x, y, z (linear) and base.rx, ry, rz (angular). Results are named in the same way,
    tau:joint1, and matrices by row and column, M:joint1:joint2; pandas.read_csv reads them.

    NPZ: arrays q, v, a, tau of shape (..., n). NPY: one array with the inputs of the quantity, concatenated along the
    last axis.

    Without --output, results of a file are printed as CSV.

    \b
    linkwork eval panda inverse_dynamics --q 0,0.3,0,-1.5,0,1.8,0.7 --a panda_joint4=1
    linkwork eval panda pose --frame panda_link8
    linkwork eval panda inertia_matrix bias pose:panda_link8
    linkwork eval panda gravity --inputs gravity=0,0,-1.62
    linkwork eval ur5e forward_dynamics --input states.csv --output accelerations.csv
    """
    require_suffix("--input", input, SUFFIXES)
    require_suffix("--output", output, SUFFIXES)
    if input is not None and output is not None and input.resolve() == output.resolve():
        raise LinkworkError("the results would replace the states", where=str(output), fix="choose another --output")
    robot = source.load()
    model = robot.model
    definitions = [quantity_of(model, text.partition(":")[0]) for text in quantity]
    vectors = list(dict.fromkeys(name for each in definitions for name in each.inputs))
    outputs = [variable for each in definitions for variable in each.outputs]
    if needless := [name for name in texts if name not in vectors]:
        got = ", ".join(f"--{name.replace('_', '-')}" for name in needless)
        names = " and ".join(quantity)
        raise LinkworkError(f"{names} does not depend on this", got=got, expected=", ".join(vectors))
    for each, text in zip(definitions, quantity, strict=True):
        if each.of_frame and frame is None and ":" not in text:
            raise _frame_needed(text, robot.name, robot.frame_names)
    state = {name: parse(model, name, text) for name, text in texts.items()}
    thread_count = int(threads) if threads.isdecimal() else threads
    if thread_count != "auto" and not (isinstance(thread_count, int) and thread_count):
        raise typer.BadParameter(f"{threads!r} is neither a positive number nor auto", param_hint="--threads")
    quantities = quantity[0] if len(quantity) == 1 else quantity
    values = dict(named_numbers(text) for text in inputs or ())
    function = robot.compile(quantities, method=method, frame=frame, axes=axes, inputs=[*values], dtype=dtype)
    shapes = {each.name: each.array(port).shape for port in function.program.inputs
              if (each := function.label.nominal.get(port.name))}  # fmt: skip
    values = {name: _shaped(name, array, shapes[name]) for name, array in values.items()}
    missing = [name for name in vectors if name not in state]
    if input is not None and not missing:
        got = "all of " + ", ".join(vectors)
        raise LinkworkError(f"nothing is left to read from {input}", got=got, fix="leave out --input, or a vector")
    if input is not None:
        with progress(f"reading {input}"):
            state |= read_states(input, model, missing)
    else:
        state |= {name: neutral(model, name) for name in missing}
    with progress("compiling and evaluating"):
        given = {name: state[name][..., 0] if is_number(name) else state[name] for name in vectors}
        result = function(**given, **values, threads=thread_count)
    arrays = result if len(outputs) > 1 else (np.asarray(result),)
    names_of_outputs = [port.name for port in function.program.outputs]
    results = [
        Result(name, _labels(model, output), array, unit(model, output.unit))
        for name, output, array in zip(names_of_outputs, outputs, arrays, strict=True)
    ]
    states = math.prod(results[0].batch)
    if output is not None:
        with progress(f"writing {output}"):
            write_results(output, results)
    names = ", ".join(names_of_outputs)
    if json:
        print_json(
            {
                "robot": robot.name, "quantity": quantities, "method": function.label.method,
                "signature": function.signature, "labels": {each.name: each.labels for each in results},
                "inputs": state | values if input is None else str(input), "states": states,
                "output": {each.name: each.values for each in results} if output is None else str(output),
            }
        )  # fmt: skip
    elif output is not None:
        say(f"wrote {output}: {names} at {states} state{'' if states == 1 else 's'}")
    elif input is not None:
        print(csv_text(results), end="")
    else:
        for each in results:
            _show(function, model, each, state, len(quantity) > 1)
        if missing:
            say(_defaults(model, missing), "dim")


def _defaults(model: Model, missing: Sequence[str]) -> str:
    """Return a sentence on the defaults of the vectors that were not given."""
    home = [name for name in missing if name in ("q", "positions", "guess") and model.home]
    zero = [name for name in missing if name not in ("contacts", "damping", *home)]
    parts = {
        "at home": ", ".join(home),
        "zero": ", ".join(zero),
        str(DAMPING): "damping" if "damping" in missing else "",
        "on the ground": ", ".join(entries(model, "contacts")) if "contacts" in missing else "",
    }
    return " ".join(f"Not given, so {where}: {names}." for where, names in parts.items() if names)


def _frame_needed(quantity: str, robot: str, frames: Sequence[str]) -> LinkworkError:
    fix = f"give --frame, e.g. --frame {frames[-1]}"
    return LinkworkError(f"{quantity} needs a frame", where=robot, expected=f"one of: {', '.join(frames)}", fix=fix)


def _labels(model: Model, output: Variable) -> list[list[str]]:
    """Return the names along each axis of an output."""
    names = {"residual": row_names(model), "frames": list(model.frames)}
    names |= {size: [f"sigma{k + 1}" for k in range(sizes(model)[size])] for size in ("whole", "part")}
    if "adaptive" in output.shape:
        names["adaptive"] = list(parameter_vector(model, "standard", ["IA"]).names)
    if "parameters" in output.shape:
        names["parameters"] = list(parameter_vector(model, "minimal").names)
    return [
        list(output.along(k) or (names[str(axis)] if axis in names else entries(model, str(axis))))
        for k, axis in enumerate(output.shape)
    ]


def _show(function: Function, model: Model, result: Result, state: dict[str, np.ndarray], several: bool) -> None:
    quantity, name, values = function.label.quantity, result.name, result.values
    by = f" by {function.label.method}" if function.label.method else ""
    of = f" of {function.label.frame}" if function.label.frame else ""
    title = f"{model.name}: {name if several else f'{quantity}{of}{by}'}"
    if values.ndim == 1 and not values.size:
        say(f"{title}, {name}: empty")
    elif values.ndim == 0:
        show(Table(title, [(name, result.unit)], [[float(values)]]))
    elif values.ndim == 1:
        labels = list(result.labels[0])
        inputs = [vector for vector in state if entries(model, vector) == labels]
        columns = zip(labels, *(state[vector] for vector in inputs), values, strict=True)
        heads = ((vector, unit(model, VARIABLES[vector].unit)) for vector in inputs)
        rows = [[label, *map(float, row)] for label, *row in columns]
        show(Table(title, ["", *heads, (name, result.unit)], rows))
    elif values.ndim == 2:
        _show_matrix(f"{title}{'' if several else f', {name}'}, {result.unit}", result.labels, values)
    else:
        for label, part in zip(result.labels[0], values, strict=True):
            _show_matrix(f"{title}, {name} of {label}, {result.unit}", result.labels[1:], part)


def _show_matrix(title: str, labels: Sequence[Sequence[str]], matrix: np.ndarray) -> None:
    """Show a matrix in blocks of as many columns as fit into the terminal."""
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
