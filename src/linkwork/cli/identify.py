"""``linkwork identify``: dynamic parameters of a robot from recordings, with a report, a picture and a file."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import io
from ..drawing import styled
from ..errors import IdentificationWarning, LinkworkError, UnknownNameError
from ..files import write_text
from ..identify import Fit, Log
from ..identify.identification import METHODS
from ..identify.plots import fit_tables
from ..io.parameter_file import write_parameters
from ..model import FrictionLaw, describe
from ..robot import Robot
from .common import PICTURES, Json, Plot, Source, among, number, option, require_suffix, takes_robot
from .options import Typed, help_of, takes_options
from .printing import plain_status, print_json, progress, say, show

FORMATS = {"--output": (".yaml", ".yml", ".urdf"), "--report": (".html",), "--plot": PICTURES}
KNOWN = ("inertias", "rotors")
KINDS = ("t", "q", "v", "a", "tau")
reading = partial(option, rich_help_panel="Reading the recordings")
filtering = partial(option, rich_help_panel="Selecting and filtering samples")


def _laws(text: str, option: str) -> list[str | FrictionLaw]:
    """Parse friction laws by name, with NAME=NUMBER for those that need a number."""
    laws: list[str | FrictionLaw] = []
    for part in text.split(",") if text not in ("", "none") else ():
        name, equals, value = part.partition("=")
        name = name.strip()
        if name not in FrictionLaw.known:
            raise UnknownNameError("friction law", name, FrictionLaw.known, where=option)
        law = FrictionLaw.known[name]
        others = [field for field in law.__dataclass_fields__ if field not in law.elements.values()]  # type: ignore[attr-defined]
        if len(others) != bool(equals):
            fix = f"{option} {name}={others[0].upper()}" if others else f"{option} {name}"
            raise LinkworkError(f"{name} takes {'one number' if others else 'no number'}", where=option, fix=fix)
        zeros: Any = dict.fromkeys(law.elements.values(), 0.0)
        laws.append(law(**zeros, **{others[0]: number(value, option)}) if equals else name)
    return laws


OPTIONS = {
    "friction": Typed("LAWS", parse=_laws),
    "width": Typed("V", float),
    "springs": Typed(),
    "payload": Typed("FRAME", str),
    "gamma": Typed("WEIGHT", float),
}


@takes_robot
@takes_options("identify", OPTIONS)
def identify(
    source: Source,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG", help="Recordings: .csv, .csv.gz, .npz or .parquet.")],
    method: Annotated[
        str,
        option(
            "METHOD",
            f"One of {', '.join(METHODS)}. docs/identification.md says when to use which.",
            autocompletion=among(METHODS),
        ),
    ] = "consistent",
    *,
    options: dict[str, Any],
    known: Annotated[
        str, option("WHAT", "Keep the robot's values of these: inertias, rotors, or inertias,rotors.")
    ] = "",
    held_out: Annotated[list[Path] | None, option("LOG", help_of("identify", "held_out"))] = None,
    columns: Annotated[
        list[str] | None,
        reading(
            "KIND=WHICH",
            "Columns of t, q, v, a or tau, if their names differ: q=1:7 (counted from 0, end not included),"
            " q=1,2,5, tau=effort (prefix of names) or t=stamp; may be repeated.",
        ),
    ] = None,
    units: Annotated[str | None, reading("KIND=UNIT,...", "Units, such as q=deg,tau=mNm. Default: SI.")] = None,
    gains: Annotated[
        str | None,
        reading(
            "VALUES",
            "Drive gains, if tau holds currents: N m per A, as 14.9,13.3,... or joint1=14.9,... Default: 1.",
        ),
    ] = None,
    joints: Annotated[
        str | None, reading("NAMES", "Joint of each column of q, such as a,b,c. Default: from the column names.")
    ] = None,
    rate: Annotated[float | None, reading("HZ", "Sampling rate, if no column has times.")] = None,
    decimal: Annotated[
        str | None,
        reading("MARK", "Decimal mark in text files, '.' or ','. Default: detected; if 1,234 is ambiguous, an error."),
    ] = None,
    from_drives: Annotated[
        bool,
        reading(
            None, "The recording is of motors: convert it to joints, by the robot's transmissions.", "--from-drives"
        ),
    ] = False,
    between: Annotated[str | None, filtering("START:END", "Use only this span, in s from the start.")] = None,
    cutoff: Annotated[
        float | None,
        filtering(
            "HZ",
            "Low-pass cutoff of q, v, a. Default: from the spectrum of q, if v or a was not measured; else no filter.",
        ),
    ] = None,
    band: Annotated[
        float | None,
        filtering(
            "HZ", "Cutoff of a low-pass filter of regressor and joint forces, with decimation. Default: no filter."
        ),
    ] = None,
    keep_standstill: Annotated[bool, filtering(None, "Use samples at standstill, too.", "--keep-standstill")] = False,
    output: Annotated[
        Path | None,
        option(
            "FILE",
            "File for the result. .yaml: the parameters, for --with-parameters of every command. .urdf: the robot.",
            "--output",
            "-o",
        ),
    ] = None,
    report: Annotated[Path | None, option("FILE", "File for a report on one page: .html.")] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Identify the dynamic parameters of a robot from recordings of its motion: positions and joint forces, and, if
    measured, velocities and accelerations.

    Velocities and accelerations that were not measured are derivatives of the filtered positions. Samples at standstill
    are left out. Columns are found by their names, such as q1 or tau.elbow. Parameters that the data do not determine
    stay near the robot's own values.

    \b
    linkwork identify puma560 log.csv -o identified.yaml --report fit.html
    linkwork simulate puma560 --with-parameters identified.yaml
    linkwork identify arm.urdf run.csv --columns t=0 --columns q=1:7 --columns tau=7:13 --units q=deg
    linkwork identify panda loaded.csv --payload panda_link8
    """
    start = time.perf_counter()
    if method not in METHODS:
        raise UnknownNameError("method of identification", method, METHODS)
    outputs = {"--output": output, "--report": report, "--plot": plot}
    _require_places(outputs, [Path(source.name), *logs, *(held_out or ())])
    options |= _identified(known)
    columns_read = {
        **_columns(columns or ()),
        "units": _pairs(units, "--units", "KIND=UNIT"),
        "gains": _gains(gains),
        "rate": rate,
    }
    columns_read |= {"joints": joints.split(",") if joints else None, "decimal": decimal}
    robot = source.load()

    def prepared(path: Path) -> Log:
        log = Log.read(path, **columns_read)
        log = log.between(*_span(between, float(log.t[0]))) if between is not None else log
        log = log.from_drives(robot) if from_drives else log
        log = log.smoothed(cutoff) if cutoff is not None or log.v is None or log.a is None else log
        log = log if keep_standstill else log.without_standstill()
        return log if band is None else log.banded(band)

    with progress("reading") as status, warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)  # they are printed below
        recordings, others = [prepared(path) for path in logs], [prepared(path) for path in held_out or ()]
        fit = robot.identify(recordings, method, held_out=others, progress=_reporting(status, robot), **options)
        texts = _texts(fit, output, report)
        if plot is not None:
            fit.plot(path=plot)
    for path, text in texts.items():
        write_text(path, text)
    paths = [*map(str, texts), *([str(plot)] if plot is not None else [])]
    if json:
        print_json(summary(fit) | {"files": paths})
        return
    show_fit(fit)
    say(f"{time.perf_counter() - start:.2f} s.", "dim")
    for name in paths:
        say(f"wrote {name}")


# -- parsing --------------------------------------------------------------------------------------------------------


def _require_places(outputs: Mapping[str, Path | None], inputs: Sequence[Path]) -> None:
    """Raise an error if a result cannot be written, before the fit is computed."""
    for name, path in outputs.items():
        require_suffix(name, path, FORMATS[name])
        if path is None:
            continue
        if path.is_dir() or not path.parent.is_dir():
            what = "this is a folder" if path.is_dir() else "there is no such folder"
            raise LinkworkError(what, where=str(path if path.is_dir() else path.parent), fix="choose another name")
        if path.exists() and any(each.exists() and each.samefile(path) for each in inputs):
            raise LinkworkError("this would replace a file that is read", where=str(path), fix="choose another name")
    if outputs["--plot"] is not None:
        styled()  # raises an error if matplotlib is missing


def _identified(known: str) -> dict[str, bool]:
    """Return which kinds of parameters are identified: those that are not ``known``."""
    names = [name.strip() for name in known.split(",") if name.strip()]
    for name in names:
        if name not in KNOWN:
            raise UnknownNameError("kind of parameters", name, KNOWN, where="--known")
    return {kind: kind not in names for kind in KNOWN}


def _columns(texts: Sequence[str]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for text in texts:
        kind, equals, which = text.partition("=")
        kind = kind.strip()
        if not equals or not which:
            raise typer.BadParameter(f"{text!r} is not of the form KIND=WHICH", param_hint="--columns")
        if kind not in KINDS:
            raise UnknownNameError("kind of column", kind, KINDS, where="--columns")
        columns[kind] = _which(which)
    return columns


def _which(text: str) -> Any:
    """Parse a range of column numbers, column numbers, or names."""
    first, colon, last = text.partition(":")
    if colon and all(not end or end.isdigit() for end in (first, last)):
        return slice(int(first or 0), int(last) if last else None)
    parts = [int(part) if part.strip().isdigit() else part.strip() for part in text.split(",")]
    return parts[0] if len(parts) == 1 else parts


def _pairs(text: str | None, option: str, form: str) -> dict[str, str] | None:
    """Parse NAME=VALUE,...; ``form`` is how the option writes it."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    for name, equals, _ in pairs:
        if not equals:
            raise typer.BadParameter(f"{name!r} is not of the form {form}", param_hint=option)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _gains(text: str | None) -> Any:
    if text is None:
        return None
    if "=" in text:
        pairs = _pairs(text, "--gains", "JOINT=NUMBER") or {}
        return {name: number(value, "--gains") for name, value in pairs.items()}
    values = [number(part, "--gains") for part in text.split(",")]
    return values if len(values) > 1 else values[0]


def _span(text: str, begin: float) -> tuple[float | None, float | None]:
    """Parse START:END, in s after ``begin``."""
    first, colon, last = text.partition(":")
    if not colon:
        raise typer.BadParameter(f"{text!r} is not of the form START:END", param_hint="--between")
    start, end = (begin + number(part, "--between") if part.strip() else None for part in (first, last))
    return start, end


def _reporting(status: Any, robot: Robot) -> Callable[[int, int], None] | None:
    """Return a function that shows progress in a terminal."""
    if status is None:
        return None
    return lambda done, total: status.update(plain_status(f"fitting {robot.name}: {done / total:.0%} of the samples"))


# -- results --------------------------------------------------------------------------------------------------------


def _texts(fit: Fit, output: Path | None, report: Path | None) -> dict[Path, str]:
    """Return the contents of all files, before any is written."""
    texts: dict[Path, str] = {}
    if output is not None and output.suffix.lower() == ".urdf":
        texts |= io.texts(describe(fit.robot.model), output)
    elif output is not None:
        texts[output] = write_parameters(fit.robot.model)
    if report is not None:
        texts[report] = fit.report()
    return texts


def summary(fit: Fit) -> dict[str, Any]:
    """Return the data that ``--json`` prints."""

    def listed(values: Any) -> list[dict[str, Any]]:
        rows = zip(values.names, values.values, values.deviations, values.prior, values.status, strict=True)
        return [dict(zip(("name", "value", "deviation", "before", "status"), row, strict=True)) for row in rows]

    return {
        "robot": fit.robot.name, "method": fit.method, "forces": fit.forces, "errors": fit.errors, "sigma": fit.sigma,
        "condition": fit.condition, "gamma": fit.gamma, "base": listed(fit.base), "standard": listed(fit.standard),
        "physical": fit.physical, "divergence": fit.divergence, "unidentifiable": fit.unidentifiable,
        "notes": [note.message for note in fit.notes], "warnings": [note.message for note in fit.warnings],
    }  # fmt: skip


def show_fit(fit: Fit) -> None:
    title = f"{fit.robot.name}: {len(fit.base)} base parameters by {fit.method}, condition number {fit.condition:.3g}"
    show(replace(fit_tables.errors(fit), title=title))
    show(fit_tables.errors_at_rest(fit))
    show(fit_tables.bodies(fit))
    show(fit_tables.drives(fit))
    for note in fit.notes:
        if note.severity != "warning":
            say(f"Note: {note.message}.", "dim")
    for name, wrong in fit.physical.items():
        if wrong:
            say(f"Warning: {name} is physically impossible: {wrong}.", "yellow")
    for note in fit.warnings:
        say(f"Warning: {note.message}{'' if note.message.endswith('?') else '.'}", "yellow")
