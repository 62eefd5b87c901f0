"""Files of logs: which columns of a table are a log's, in which units and of which joints; and the files that
``Log.save`` writes, which ``Log.read`` reads without options."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from math import pi
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...control import Point
from ...errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, at_door, counted, option_at_door
from ...files import write_bytes
from ...sim.trajectory.storage import KEY, csv_of, parquet_of
from .filters import Band
from .sample_times import require_increasing
from .table_files import Table

if TYPE_CHECKING:
    from .log import Log

FORMAT = "linkwork log 1"
KINDS = ("q", "v", "a", "tau")
TIMES = ("t", "time", "timestamp", "seconds")
NAMES = {  # default prefixes of columns
    "q": ("q", "pos", "position"),
    "v": ("v", "dq", "qd", "vel", "velocity"),
    "a": ("a", "ddq", "qdd", "acc", "acceleration"),
    "tau": ("tau", "torque", "effort"),
}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0}
LENGTHS = {"rad": 1.0, "mrad": 1e-3, "deg": pi / 180, "°": pi / 180, "rev": 2 * pi, "m": 1.0, "cm": 1e-2, "mm": 1e-3}
UNITS = {
    "t": SECONDS,
    "q": LENGTHS,
    "v": {"rpm": 2 * pi / 60} | {f"{x}/{t}": LENGTHS[x] / SECONDS[t] for x in LENGTHS for t in ("s", "min")},
    "a": {f"{x}/s{two}": LENGTHS[x] for x in LENGTHS for two in ("^2", "2", "²", "/s")},
    "tau": {"N": 1.0, "kN": 1e3, "mN": 1e-3, "Nm": 1.0, "kNm": 1e3, "mNm": 1e-3, "Ncm": 1e-2, "Nmm": 1e-3},
}
HIGHEST = 1e9  # Hz
DIGITS = 10  # names with so many digits are not numbered columns
CURRENTS = {"A": 1.0, "mA": 1e-3}
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


class Choice(NamedTuple):
    """Columns of a table, and the joints they belong to if the table names them."""

    table: Table
    columns: list[int]
    names: tuple[str, ...] = ()


def arguments(tables: Mapping[str, Table], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a Log.

    ``tables`` maps "" to one table for everything, or t, q, v, a and tau to one each.
    """
    main = tables.get("") or next(iter(tables.values()))
    _require_one_motion(main)
    choices = [
        _columns(main, options[kind], kind) for kind in KINDS if options[kind] is not None and kind not in tables
    ]
    columns = [column for each in choices for column in each.columns]
    selection = {kind: _choose(tables, kind, options[kind], columns) for kind in KINDS}
    for kind in ("q", "tau"):
        if selection[kind] is None:
            message = f"there are no columns of {'positions' if kind == 'q' else 'joint forces'}"
            typed = at_door(f"{kind}=range(1, 7)", f"--columns {kind}=1:7")
            fix = f"choose them by names or numbers from 0: {typed}"
            raise LinkworkError(message, where=main.where, got=_listed(main), fix=fix)
    reference = _several(main, options["reference"], {kind: f"reference.{kind}" for kind in "qva"}, "reference")
    frames = _frames(main)
    wrenches = _several(main, options["wrenches"], {frame: f"wrench.{frame}" for frame in frames}, "wrenches")
    units = _units(options["units"], {"t", *selection, "wrenches"})
    values = {kind: _values(each, kind, units) for kind, each in selection.items() if each is not None}
    references = {f"reference.{kind}": _values(each, kind, units) for kind, each in reference.items()}
    forces_on = {frame: _values(each, "wrenches", units) for frame, each in wrenches.items()}
    about = main.about if main.about.get("format") == FORMAT else {}
    names = {kind: each.names for kind, each in selection.items() if each is not None}
    if options["joints"] is not None:
        joints = (options["joints"],) if isinstance(options["joints"], str) else tuple(options["joints"])
        if len(joints) != values["q"].shape[1]:
            expected = f"{values['q'].shape[1]} names, one for each column of q"
            got = counted(len(joints), "name")
            raise ShapeError(
                "the names of the joints do not fit the columns of q",
                where=option_at_door("joints"),
                got=got,
                expected=expected,
            )
        names = {kind: joints if len(joints) == array.shape[1] else () for kind, array in values.items()}
    gains = _gains(options["gains"], values["tau"].shape[1], names["tau"] or names["q"])
    saved_notes = about.get("notes")
    notes = [*map(str, saved_notes)] if isinstance(saved_notes, list) else []
    notes = notes or ["read from " + ", ".join(Path(table.where).name for table in tables.values())]
    if gains is not None:
        values["tau"] *= gains
        notes.append(f"tau is the column times {', '.join(f'{gain:g}' for gain in gains)}")
    elif options["units"] and (options["units"].get("tau") in CURRENTS):
        fix = at_door("gains=[...]", "--gains ...") + ", newton metres per ampere of each joint"
        where = option_at_door("gains")
        raise LinkworkError("currents need gains to become torques", where=where, got="none", fix=fix)
    notes += [f"{kind} was in {unit}" for kind, unit in (options["units"] or {}).items()]
    times, note = _times(tables, options, units, len(values["q"]))
    keep = main.names.index("keep") if about and "keep" in main.names else None
    if "v" in names and "a" in names and names["v"] != names["a"]:
        got = f"{', '.join(names['v']) or 'no names'}, and {', '.join(names['a']) or 'no names'}"
        fix = at_door("joints=, or choose columns", "--joints, or choose --columns")
        raise ShapeError("v and a are of different joints", where=main.where, got=got, fix=fix)
    return {
        "t": times,
        **values,
        "joints": names["q"],
        "rates": names.get("v") or names.get("a") or (),
        "forces": names["tau"],
        "reference": Point(*(references.get(f"reference.{kind}") for kind in "qva")) if references else None,
        "wrenches": forces_on,
        "keep": None if keep is None else main.take([keep])[:, 0] != 0,
        "band": _band(about.get("band"), main.where),
        "passed": passed if _is_frequency(passed := about.get("passed")) else None,
        **_noise(about, values, options["units"]),
        "notes": (*notes, *note),
    }


def _noise(about: Mapping[str, Any], values: Mapping[str, np.ndarray], units: Any) -> dict[str, Any]:
    """Return the noise of the columns that a log was saved with, and which of them were differentiated."""
    noise, computed = about.get("noise"), about.get("differentiated")
    noise = {} if units or not isinstance(noise, Mapping) else noise
    columns = {kind: x.shape[1] for kind, x in values.items() if kind != "tau"}
    fits = {kind: x for kind, x in noise.items() if isinstance(x, list) and len(x) == columns.get(kind)}
    return {
        "noise": fits,
        "differentiated": [k for k in "va" if k in values and isinstance(computed, list) and k in computed],
    }


def _require_one_motion(table: Table) -> None:
    if table.about.get("batch"):
        raise UnsupportedError(
            "a log is of one motion, and this is a batch", where=table.where, got=f"batch {table.about['batch']}",
            fix=at_door("Log.from_trajectory(linkwork.Trajectory.load(path)[i])", "use a file of one motion"),
        )  # fmt: skip


def _band(values: Any, where: str) -> Band | None:
    if values is None:
        return None
    valid = isinstance(values, list) and len(values) == 3 and all(type(x) is int and x > 0 for x in values[1:])
    if not valid or not _is_frequency(values[0]):
        raise LinkworkError("this is not a band", where=where, got=values, expected="cutoff, order, decimation")
    return Band(*values)


def _is_frequency(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 < value < HIGHEST


def _listed(table: Table) -> str:
    return ", ".join(table.names) if table.named else f"{counted(len(table.names), 'column')} without names"


# -- which columns -----------------------------------------------------------------------------------------------------


def _choose(tables: Mapping[str, Table], kind: str, choice: Any, used: Sequence[int]) -> Choice | None:
    """Return the columns that the caller chose, or else those that their names identify."""
    table = tables.get(kind) or tables.get("")
    if table is None:
        return None
    if choice is not None:
        return _columns(table, choice, kind)
    if kind in tables:
        others = [k for k, name in enumerate(table.names) if name.lower() not in TIMES]
        names = tuple(table.names[k] for k in others)
        return Choice(table, others, names if all(names) else ())
    if (entries := _saved_columns(table, kind)) is not None:
        return entries
    return next((group for name in NAMES[kind] if (group := _group(table, name, used))), None)


def _saved_columns(table: Table, kind: str) -> Choice | None:
    """Return the columns of a kind as linkwork wrote them, None if it did not write the file."""
    entries = table.about.get("entries")
    joints = entries.get(kind) if isinstance(entries, dict) else None
    if not isinstance(joints, list):
        return None
    names = [f"{kind}.{entry}" for entry in joints]
    if not names or not {*names} <= {*table.names}:
        return None
    return Choice(table, [_column(table, name, kind) for name in names], _named(joints))


def _named(names: Sequence[str]) -> tuple[str, ...]:
    """Return no names if they are only numbers."""
    return () if all(str(name).isdigit() for name in names) else tuple(map(str, names))


def _group(table: Table, prefix: str, used: Sequence[int] = ()) -> Choice | None:
    """Return columns such as q1, q_1, q[1], in the order of their numbers, or q.elbow, q_elbow, or a single one named
    so.

    Columns that are ``used`` already are left out.
    """
    flags = re.S if len(prefix) == 1 else re.S | re.I  # A1 may be amperes
    pattern = re.compile(rf"{re.escape(prefix)}(?:[ _]?(\d+)|\[(.+)\]|\((.+)\)|[._ :/](.+))", flags)
    names = [(k, name.strip()) for k, name in enumerate(table.names) if k not in used]
    matches = [(k, match) for k, name in names if (match := pattern.fullmatch(name))]
    if not matches:
        exact = [k for k, name in names if name == prefix]
        return Choice(table, exact) if len(exact) == 1 else None
    parts = [next(part for part in match.groups() if part is not None) for _, match in matches]
    columns = [k for k, _ in matches]
    if all(part.isdecimal() and len(part) < DIGITS for part in parts):
        return Choice(table, _by_number(table, prefix, columns, list(map(int, parts))))
    return Choice(table, columns, tuple(parts))


def _by_number(table: Table, prefix: str, columns: Sequence[int], numbers: Sequence[int]) -> list[int]:
    """Return columns in the order of the numbers in their names, whatever the order in the file."""
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    in_order = [numbers[k] for k in order]
    if in_order not in ([*range(len(in_order))], [*range(1, len(in_order) + 1)]):
        double = len({*in_order}) < len(in_order)
        raise ShapeError(
            "two columns have the same number" if double else "the numbers of the columns have gaps",
            where=f"{table.where}, {prefix}", got=", ".join(table.names[columns[k]] for k in order),
            expected="consecutive numbers from 0 or 1, each once, in any order",
            fix="choose the columns in the order of the joints, by names or numbers from 0",
        )  # fmt: skip
    return [columns[k] for k in order]


def _columns(table: Table, choice: Any, kind: str) -> Choice:
    """Return the columns that the caller chose: a name, a prefix, a number, a slice, or a list of names or numbers."""
    if isinstance(choice, str) and choice not in table.names:
        if (group := _group(table, choice)) is not None:
            return group
        raise _unknown(table, choice, kind)
    if isinstance(choice, slice):
        choice = range(len(table.names))[choice]
    if isinstance(choice, (str, int, np.integer)):
        choice = [choice]
    columns = [_column(table, each, kind) for each in choice]
    if not columns:
        raise ShapeError("no columns are chosen", where=f"{table.where}, {kind}", expected="one for each joint")
    return Choice(table, columns)


def _column(table: Table, choice: Any, kind: str) -> int:
    if isinstance(choice, (int, np.integer)) and not isinstance(choice, bool):
        if not -len(table.names) <= choice < len(table.names):
            expected = f"0 to {len(table.names) - 1}"
            raise ShapeError("no such column", where=f"{table.where}, {kind}", got=choice, expected=expected)
        return int(choice) % len(table.names)
    if choice not in table.names:
        raise _unknown(table, str(choice), kind)
    if table.names.count(choice) > 1:
        fix = "choose it by its number, from 0"
        raise ShapeError("several columns have this name", where=f"{table.where}, {kind}", got=repr(choice), fix=fix)
    return table.names.index(choice)


def _unknown(table: Table, name: str, kind: str) -> LinkworkError:
    where = f"{table.where}, {kind}"
    if table.named:
        return UnknownNameError("column", name, [name for name in table.names if name], where=where)
    got, typed = (
        f"{name!r}; there are {len(table.names)}",
        at_door("t=0, q=range(1, 7)", "--columns t=0 --columns q=1:7"),
    )
    fix = f"choose by number, from 0: {typed}, ..."
    return LinkworkError("the columns have no names", where=where, got=got, fix=fix)


def _several(table: Table, choice: Any, saved: Mapping[str, str], where: str) -> dict[str, Choice]:
    """Return columns by key, chosen by the caller or as linkwork wrote them."""
    if choice is None:
        columns = {key: _saved_columns(table, name) for key, name in saved.items()}
        return {key: each for key, each in columns.items() if each is not None}
    if not isinstance(choice, Mapping) or (where == "reference" and (not {*choice} <= {*saved} or "q" not in choice)):
        expected = 'columns by name: {"q": ..., "v": ...}' if where == "reference" else "columns by frame"
        raise ShapeError("the columns are not chosen by name", where=where, got=choice, expected=expected)
    return {key: _columns(table, one, f"{where} {key}") for key, one in choice.items()}


def _frames(table: Table) -> list[str]:
    entries = table.about.get("entries")
    keys = [key for key in entries if str(key).startswith("wrench.")] if isinstance(entries, dict) else []
    return [key.removeprefix("wrench.") for key in keys]


# -- numbers -----------------------------------------------------------------------------------------------------------


def _units(units: Mapping[str, Any] | None, kinds: set[str]) -> dict[str, Any]:
    """Return factors to SI by kind, a number or an array with one per column."""
    factors: dict[str, Any] = {}
    for kind, unit in (units or {}).items():
        if kind not in kinds:
            raise UnknownNameError("kind of column", str(kind), kinds, where=option_at_door("units"))
        table = UNITS.get(kind, UNITS["tau"]) | (CURRENTS if kind == "tau" else {})
        per_column = [unit] if isinstance(unit, str) else list(unit)
        scales = []
        for text in per_column:
            short = re.sub(r"[\s*·.]", "", str(text))
            if short not in table:
                raise UnknownNameError("unit", str(text), table, where=f"{option_at_door('units')}, {kind}")
            scales.append(table[short])
        factors[kind] = scales[0] if isinstance(unit, str) else np.array(scales)
    return factors


def _values(choice: Choice, kind: str, units: Mapping[str, Any]) -> np.ndarray:
    """Return finite numbers in SI units, (N, n)."""
    values = choice.table.take(choice.columns)
    finite = np.isfinite(values)
    if not finite.all():
        row, column = (int(k) for k in np.argwhere(~finite)[0])
        table, number = choice.table, choice.columns[column]
        name = f" {table.names[number]!r}" if table.names[number] else ""
        raise LinkworkError(
            "a value is not finite", where=f"{table.where}, {table.row(row)}, column {number}{name}",
            got=f"{values[row, column]} ({int((~finite).any(axis=1).sum())} of {len(values)} rows have such)",
            fix="cut these rows at the ends of the recording; inside of it, interpolate or take the part without them",
        )  # fmt: skip
    factor = units.get(kind, 1.0)
    if np.ndim(factor) and len(factor) != values.shape[1]:
        got, expected = counted(len(factor), "unit"), f"one, or one for each of {counted(values.shape[1], 'column')}"
        where = f"{option_at_door('units')}, {kind}"
        raise ShapeError("the units do not fit the columns", where=where, got=got, expected=expected)
    return values if np.all(factor == 1.0) else values * factor


def _gains(choice: Any, count: int, names: Sequence[str]) -> np.ndarray | None:
    """Return factors from what was recorded to joint forces."""
    if choice is None:
        return None
    if isinstance(choice, Mapping):
        for name in choice:
            if name not in names:
                raise UnknownNameError("joint", str(name), names, where=option_at_door("gains"))
        choice = [choice.get(name, 1.0) for name in names]
    gains = np.asarray(choice, float)
    if gains.shape not in ((), (count,)) or not np.isfinite(gains).all() or not gains.all():
        expected = f"a number, or {count}, none of them zero"
        where = option_at_door("gains")
        raise ShapeError("these gains do not fit the columns of tau", where=where, got=choice, expected=expected)
    return np.broadcast_to(gains, (count,))


def _times(
    tables: Mapping[str, Table], options: Mapping[str, Any], units: Mapping[str, Any], count: int
) -> tuple[np.ndarray, list[str]]:
    if (rate := options["rate"]) is not None:
        if not (isinstance(rate, (int, float, np.number)) and 0 < float(rate) < np.inf):
            where, expected = option_at_door("rate"), "a positive number of samples per second"
            raise ShapeError("this is not a sampling rate", where=where, got=rate, expected=expected)
        return np.arange(count) / rate, [f"times are those of {rate:g} samples per second"]
    table = tables.get("t") or tables.get("") or next(iter(tables.values()))
    choice = options["t"]
    if isinstance(choice, str) and choice == "t" and "t" not in table.names:  # the default
        choice = next((name for name in table.names if name.strip().lower() in TIMES), choice)
    if isinstance(choice, str) and choice not in table.names:
        raise LinkworkError(
            f"there is no column {choice!r} of times", where=table.where, got=_listed(table),
            fix=at_door(
                "choose it by name or number from 0, such as t=0; or pass the sampling rate: rate=1000",
                "choose it by name or number from 0: --columns t=0; or pass the sampling rate: --rate 1000",
            ),
        )  # fmt: skip
    times = _values(_columns(table, choice, "t"), "t", units)[:, 0]
    require_increasing(times, table.row, table.where)
    return times, []


# -- writing -----------------------------------------------------------------------------------------------------------


def save(log: Log, path: Path) -> None:
    formats = {".csv": csv_of, ".npz": None, ".parquet": parquet_of}
    if path.suffix not in formats:
        got, expected = path.suffix or "no suffix", ", ".join(formats)
        raise LinkworkError("the suffix is not that of a log", where=str(path), got=got, expected=expected)
    names, arrays = _arrays(log)
    band = None if log.band is None else astuple(log.band)
    about = {"format": FORMAT, "entries": names, "band": band, "passed": log.passed, "notes": log.notes}
    noise = {kind: sizes.tolist() for kind, sizes in log.noise.items()}
    text = json.dumps({**about, "noise": noise, "differentiated": [*log.differentiated]})
    if write := formats[path.suffix]:
        columns = {"t": log.t}
        for name, array in arrays.items():
            columns |= {f"{name}.{entry}": array[:, k] for k, entry in enumerate(names[name])}
        write_bytes(path, write(text, columns if log.keep is None else {**columns, "keep": log.keep.astype(float)}))
        return
    buffer, whole = io.BytesIO(), {"t": log.t, **arrays, KEY: text}
    np.savez(buffer, **whole if log.keep is None else {**whole, "keep": log.keep})  # type: ignore[arg-type]
    write_bytes(path, buffer.getvalue())


def _arrays(log: Log) -> tuple[dict[str, tuple[str, ...]], dict[str, np.ndarray]]:
    """Return names of the columns of all arrays (N, n), and these arrays."""
    names = {"q": log.joints, "v": log.rates, "a": log.rates, "tau": log.forces}
    arrays = {kind: getattr(log, kind) for kind in names}
    for kind, x in zip("qva", log.reference or (), strict=False):
        arrays[f"reference.{kind}"] = x
        names[f"reference.{kind}"] = names[kind] if x is not None and len(names[kind]) == x.shape[1] else ()
    for frame, x in log.wrenches.items():
        arrays[f"wrench.{frame}"], names[f"wrench.{frame}"] = x, WRENCH
    arrays = {name: x for name, x in arrays.items() if x is not None}
    return {name: tuple(names[name] or map(str, range(x.shape[1]))) for name, x in arrays.items()}, arrays
