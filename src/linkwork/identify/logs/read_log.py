"""What of a table is a log: which columns, in which units, of which joints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...control import Point
from ...errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, at_door
from .filters import Band
from .sample_times import require_increasing
from .table_files import Table

FORMAT = "linkwork log 1"
KINDS = ("q", "v", "a", "tau")
TIMES = ("t", "time", "timestamp", "seconds")
NAMES = {  # that columns begin with, where nobody says which they are
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
DIGITS = 10  # and more are no number of a column
CURRENTS = {"A": 1.0, "mA": 1e-3}


class Choice(NamedTuple):
    """Columns of a table, and the joints they are of where it tells."""

    table: Table
    columns: list[int]
    names: tuple[str, ...] = ()


def arguments(tables: Mapping[str, Table], options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a Log. ``tables``: "" -> the one for everything, or one for each of t, q, v, a, tau."""
    main = tables.get("") or next(iter(tables.values()))
    _require_one_motion(main)
    said = [_columns(main, options[kind], kind) for kind in KINDS if options[kind] is not None and kind not in tables]
    taken = [column for each in said for column in each.columns]
    chosen = {kind: _choose(tables, kind, options[kind], taken) for kind in KINDS}
    for kind in ("q", "tau"):
        if chosen[kind] is None:
            raise LinkworkError(
                "there are no columns of " + ("positions" if kind == "q" else "joint forces"), where=main.where,
                got=_listed(main), fix=f"say which they are, by names or numbers from 0: {kind}=range(1, 7)",
            )  # fmt: skip
    reference = _several(main, options["reference"], {kind: f"reference.{kind}" for kind in "qva"}, "reference")
    frames = _frames(main)
    wrenches = _several(main, options["wrenches"], {frame: f"wrench.{frame}" for frame in frames}, "wrenches")
    units = _units(options["units"], {"t", *chosen, "wrenches"})
    values = {kind: _values(each, kind, units) for kind, each in chosen.items() if each is not None}
    told = {f"reference.{kind}": _values(each, kind, units) for kind, each in reference.items()}
    pushes = {frame: _values(each, "wrenches", units) for frame, each in wrenches.items()}
    about = main.about if main.about.get("format") == FORMAT else {}
    names = {kind: each.names for kind, each in chosen.items() if each is not None}
    if options["joints"] is not None:
        joints = (options["joints"],) if isinstance(options["joints"], str) else tuple(options["joints"])
        if len(joints) != values["q"].shape[1]:
            expected = f"{values['q'].shape[1]} names, one for each column of q"
            raise ShapeError("the joints do not fit", where="joints", got=f"{len(joints)} names", expected=expected)
        names = {kind: joints if len(joints) == array.shape[1] else () for kind, array in values.items()}
    gains = _gains(options["gains"], values["tau"].shape[1], names["tau"] or names["q"])
    before = about.get("notes")
    notes = [*map(str, before)] if isinstance(before, list) else []
    notes = notes or ["read from " + ", ".join(Path(table.where).name for table in tables.values())]
    if gains is not None:
        values["tau"] *= gains
        notes.append(f"tau is the column times {', '.join(f'{gain:g}' for gain in gains)}")
    elif options["units"] and (options["units"].get("tau") in CURRENTS):
        fix = "gains=[...], newton metres per ampere of each joint"
        raise LinkworkError("currents tell no torque without gains", where="gains", got="none", fix=fix)
    notes += [f"{kind} was in {unit}" for kind, unit in (options["units"] or {}).items()]
    times, note = _times(tables, options, units, len(values["q"]))
    keep = main.names.index("keep") if about and "keep" in main.names else None
    if "v" in names and "a" in names and names["v"] != names["a"]:
        got = f"{', '.join(names['v']) or 'no names'}, and {', '.join(names['a']) or 'no names'}"
        raise ShapeError("v and a are of different joints", where=main.where, got=got, fix="joints=, or choose columns")
    return {
        "t": times,
        **values,
        "joints": names["q"],
        "rates": names.get("v") or names.get("a") or (),
        "forces": names["tau"],
        "reference": Point(*(told.get(f"reference.{kind}") for kind in "qva")) if told else None,
        "wrenches": pushes,
        "keep": None if keep is None else main.take([keep])[:, 0] != 0,
        "band": _band(about.get("band"), main.where),
        "passed": passed if _is_frequency(passed := about.get("passed")) else None,
        **_noise(about, values, options["units"]),
        "notes": (*notes, *note),
    }


def _noise(about: Mapping[str, Any], values: Mapping[str, np.ndarray], units: Any) -> dict[str, Any]:
    """Noise of the columns that a log was saved with, and which of them were differentiated."""
    noise, made = about.get("noise"), about.get("differentiated")
    noise = {} if units or not isinstance(noise, Mapping) else noise
    columns = {kind: x.shape[1] for kind, x in values.items() if kind != "tau"}
    fits = {kind: x for kind, x in noise.items() if isinstance(x, list) and len(x) == columns.get(kind)}
    return {"noise": fits, "differentiated": [k for k in "va" if k in values and isinstance(made, list) and k in made]}


def _require_one_motion(table: Table) -> None:
    if table.about.get("batch"):
        raise UnsupportedError(
            "a log is of one motion, and this is a batch", where=table.where, got=f"batch {table.about['batch']}",
            fix=at_door("Log.from_trajectory(linkwork.Trajectory.load(path)[i])", "give a file of one motion"),
        )  # fmt: skip


def _band(told: Any, where: str) -> Band | None:
    if told is None:
        return None
    whole = isinstance(told, list) and len(told) == 3 and all(type(x) is int and x > 0 for x in told[1:])
    if not whole or not _is_frequency(told[0]):
        raise LinkworkError("this is no band", where=where, got=told, expected="cutoff, order, decimation")
    return Band(*told)


def _is_frequency(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 < value < HIGHEST


def _listed(table: Table) -> str:
    return ", ".join(table.names) if table.named else f"{len(table.names)} columns without names"


# -- which columns -----------------------------------------------------------------------------------------------------


def _choose(tables: Mapping[str, Table], kind: str, what: Any, taken: Sequence[int]) -> Choice | None:
    """What the caller said, or what names tell."""
    table = tables.get(kind) or tables.get("")
    if table is None:
        return None
    if what is not None:
        return _columns(table, what, kind)
    if kind in tables:
        others = [k for k, name in enumerate(table.names) if name.lower() not in TIMES]
        names = tuple(table.names[k] for k in others)
        return Choice(table, others, names if all(names) else ())
    if (entries := _told(table, kind)) is not None:
        return entries
    return next((found for name in NAMES[kind] if (found := _group(table, name, taken))), None)


def _told(table: Table, kind: str) -> Choice | None:
    """By what linkwork wrote beside the numbers."""
    entries = table.about.get("entries")
    own = entries.get(kind) if isinstance(entries, dict) else None
    if not isinstance(own, list):
        return None
    names = [f"{kind}.{entry}" for entry in own]
    if not names or not {*names} <= {*table.names}:
        return None
    return Choice(table, [_column(table, name, kind) for name in names], _named(own))


def _named(names: Sequence[str]) -> tuple[str, ...]:
    """None, if they are only counted."""
    return () if all(str(name).isdigit() for name in names) else tuple(map(str, names))


def _group(table: Table, prefix: str, taken: Sequence[int] = ()) -> Choice | None:
    """Columns such as q1, q_1, q[1], in the order of their numbers, or q.elbow, q_elbow; or one that is called so. Not
    those ``taken`` already."""
    flags = re.S if len(prefix) == 1 else re.S | re.I  # A1 may be amperes
    pattern = re.compile(rf"{re.escape(prefix)}(?:[ _]?(\d+)|\[(.+)\]|\((.+)\)|[._ :/](.+))", flags)
    names = [(k, name.strip()) for k, name in enumerate(table.names) if k not in taken]
    found = [(k, match) for k, name in names if (match := pattern.fullmatch(name))]
    if not found:
        exact = [k for k, name in names if name == prefix]
        return Choice(table, exact) if len(exact) == 1 else None
    parts = [next(part for part in match.groups() if part is not None) for _, match in found]
    columns = [k for k, _ in found]
    if all(part.isdecimal() and len(part) < DIGITS for part in parts):
        return Choice(table, _by_number(table, prefix, columns, list(map(int, parts))))
    return Choice(table, columns, tuple(parts))


def _by_number(table: Table, prefix: str, columns: Sequence[int], numbers: Sequence[int]) -> list[int]:
    """Columns in the order of the numbers in their names, whatever the order in the file."""
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    counted = [numbers[k] for k in order]
    if counted not in ([*range(len(counted))], [*range(1, len(counted) + 1)]):
        double = len({*counted}) < len(counted)
        raise ShapeError(
            "two columns have the same number" if double else "the numbers of the columns have gaps",
            where=f"{table.where}, {prefix}", got=", ".join(table.names[columns[k]] for k in order),
            expected="each number from 0 or 1 on once, in any order",
            fix="choose the columns in the order of the joints, by names or numbers from 0",
        )  # fmt: skip
    return [columns[k] for k in order]


def _columns(table: Table, what: Any, kind: str) -> Choice:
    """What the caller said: a name, a prefix, a number, a slice, or a list of names or numbers."""
    if isinstance(what, str) and what not in table.names:
        if (found := _group(table, what)) is not None:
            return found
        raise _unknown(table, what, kind)
    if isinstance(what, slice):
        what = range(len(table.names))[what]
    if isinstance(what, (str, int, np.integer)):
        what = [what]
    columns = [_column(table, each, kind) for each in what]
    if not columns:
        raise ShapeError("no columns are chosen", where=f"{table.where}, {kind}", expected="one for each joint")
    return Choice(table, columns)


def _column(table: Table, what: Any, kind: str) -> int:
    if isinstance(what, (int, np.integer)) and not isinstance(what, bool):
        if not -len(table.names) <= what < len(table.names):
            expected = f"0 to {len(table.names) - 1}"
            raise ShapeError("no such column", where=f"{table.where}, {kind}", got=what, expected=expected)
        return int(what) % len(table.names)
    if what not in table.names:
        raise _unknown(table, str(what), kind)
    if table.names.count(what) > 1:
        fix = "choose it by its number, from 0"
        raise ShapeError("several columns have this name", where=f"{table.where}, {kind}", got=repr(what), fix=fix)
    return table.names.index(what)


def _unknown(table: Table, what: str, kind: str) -> LinkworkError:
    where = f"{table.where}, {kind}"
    if table.named:
        return UnknownNameError("column", what, [name for name in table.names if name], where=where)
    got, fix = f"{what!r}; there are {len(table.names)}", "choose by number, from 0: t=0, q=range(1, 7), ..."
    return LinkworkError("the columns have no names", where=where, got=got, fix=fix)


def _several(table: Table, said: Any, own: Mapping[str, str], where: str) -> dict[str, Choice]:
    """Of a mapping that the caller gave, or of what linkwork wrote."""
    if said is None:
        found = {key: _told(table, name) for key, name in own.items()}
        return {key: each for key, each in found.items() if each is not None}
    if not isinstance(said, Mapping) or (where == "reference" and (not {*said} <= {*own} or "q" not in said)):
        expected = 'columns by name: {"q": ..., "v": ...}' if where == "reference" else "columns by frame"
        raise ShapeError("these columns are not told as they should", where=where, got=said, expected=expected)
    return {key: _columns(table, what, f"{where} {key}") for key, what in said.items()}


def _frames(table: Table) -> list[str]:
    entries = table.about.get("entries")
    named = [key for key in entries if str(key).startswith("wrench.")] if isinstance(entries, dict) else []
    return [key.removeprefix("wrench.") for key in named]


# -- numbers -----------------------------------------------------------------------------------------------------------


def _units(said: Mapping[str, Any] | None, kinds: set[str]) -> dict[str, Any]:
    """Factors to SI by kind, a number or an array, one per column."""
    factors: dict[str, Any] = {}
    for kind, unit in (said or {}).items():
        if kind not in kinds:
            raise UnknownNameError("kind of column", str(kind), kinds, where="units")
        table = UNITS.get(kind, UNITS["tau"]) | (CURRENTS if kind == "tau" else {})
        each = [unit] if isinstance(unit, str) else list(unit)
        found = []
        for one in each:
            short = re.sub(r"[\s*·.]", "", str(one))
            if short not in table:
                raise UnknownNameError("unit", str(one), table, where=f"units, {kind}")
            found.append(table[short])
        factors[kind] = found[0] if isinstance(unit, str) else np.array(found)
    return factors


def _values(choice: Choice, kind: str, units: Mapping[str, Any]) -> np.ndarray:
    """Finite numbers in SI, (N, n)."""
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
        got, expected = f"{len(factor)} units", f"one, or one for each of {values.shape[1]} columns"
        raise ShapeError("the units do not fit the columns", where=f"units, {kind}", got=got, expected=expected)
    return values if np.all(factor == 1.0) else values * factor


def _gains(said: Any, count: int, names: Sequence[str]) -> np.ndarray | None:
    """Factors from what was recorded to joint forces."""
    if said is None:
        return None
    if isinstance(said, Mapping):
        for name in said:
            if name not in names:
                raise UnknownNameError("joint", str(name), names, where="gains")
        said = [said.get(name, 1.0) for name in names]
    gains = np.asarray(said, float)
    if gains.shape not in ((), (count,)) or not np.isfinite(gains).all() or not gains.all():
        expected = f"a number, or {count}, none of them zero"
        raise ShapeError("these gains do not fit the columns of tau", where="gains", got=said, expected=expected)
    return np.broadcast_to(gains, (count,))


def _times(
    tables: Mapping[str, Table], options: Mapping[str, Any], units: Mapping[str, Any], count: int
) -> tuple[np.ndarray, list[str]]:
    if (rate := options["rate"]) is not None:
        if not (isinstance(rate, (int, float, np.number)) and 0 < float(rate) < np.inf):
            raise ShapeError("this is no sampling rate", where="rate", got=rate, expected="samples per second")
        return np.arange(count) / rate, [f"times are those of {rate:g} samples per second"]
    table = tables.get("t") or tables.get("") or next(iter(tables.values()))
    what = options["t"]
    if isinstance(what, str) and what == "t" and "t" not in table.names:  # nobody said more
        what = next((name for name in table.names if name.strip().lower() in TIMES), what)
    if isinstance(what, str) and what not in table.names:
        raise LinkworkError(
            f"there is no column {what!r} of times", where=table.where, got=_listed(table),
            fix="say which it is, by name or number from 0, such as t=0; or how fast was sampled: rate=1000",
        )  # fmt: skip
    times = _values(_columns(table, what, "t"), "t", units)[:, 0]
    require_increasing(times, table.row, table.where)
    return times, []
