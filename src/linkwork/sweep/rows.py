"""Rows of a study: their values sampled, their motions simulated, their outputs summed up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import __version__
from ..errors import ShapeError
from ..sim import Trajectory, rollout
from ..sim.trajectory.outputs import entries
from ..sim.trajectory.trajectory import ENTRIES as TRAJECTORY_ENTRIES
from .study import DIVERGED, Case, Study, closed

MEMORY = 2**28  # bytes of records at a time

Columns = dict[str, np.ndarray]


def compute(study: Study, start: int, stop: int) -> Columns:
    """The columns of rows start to stop, which must belong to one case, as those of a chunk do."""
    if not 0 <= start < stop <= study.rows or stop > study.ends[study.case_of(start)[0]]:
        expected = f"rows of one case; cases end at {', '.join(map(str, study.ends))}"
        raise ShapeError("no such rows", where="compute", got=f"{start} to {stop}", expected=expected)
    size = max(1, MEMORY // _bytes_per_row(study, study.cases[study.case_of(start)[0]]))
    parts = [_compute(study, a, min(a + size, stop)) for a in range(start, stop, size)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _bytes_per_row(study: Study, case: Case) -> int:
    named = entries(case.robot.model)
    numbers = sum(len(named.get(name, range(6))) for name in study.recorded)
    return 8 * numbers * (study.steps // study.options.every + 1)


def _compute(study: Study, start: int, stop: int) -> Columns:
    number, first = study.case_of(start)
    case = study.cases[number]
    values, count = case.plan.values(start - first, stop - first), stop - start
    about = {
        "row": np.arange(start, stop),
        "sample": case.plan.sample_numbers(start - first, stop - first),
        "seed": np.full(count, study.seed),
        "linkwork": np.full(count, __version__),
        "case": np.full(count, number),
        "robot": np.full(count, case.label),
        "controller": np.full(count, case.controller.label if case.controller else ""),
    }
    law = case.controller
    vary: dict[str, Any] = {name: vector.rows(values, count) for name, vector in case.vary.items()}
    if "payload" in vary:
        vary["payload"] = {case.payload: vary["payload"]}
    options = replace(
        study.options,
        torque=law.law if law else None,
        reference=case.reference,
        outputs=study.recorded,
        vary=vary,
        commands=case.commands.rows(values, count) if case.commands.base else None,
        gains={name: vector.rows(values, count) for name, vector in law.gains.items()} if law else None,
    )
    q, v = closed(case.robot, case.q.rows(values, count)), case.v.rows(values, count)
    motions = rollout(case.robot, q, v, study.dt, study.steps, options)
    if len(motions) < count or len(motions.t) <= study.steps // study.options.every:
        raise KeyboardInterrupt  # which a rollout answers with what it has
    return {**about, **values, **_outputs(study, case, motions)}


# -- outputs -------------------------------------------------------------------------------------------------------


def _outputs(study: Study, case: Case, motions: Trajectory) -> Columns:
    columns = {}
    with np.errstate(all="ignore"):  # of motions that diverged
        for output in study.outputs:
            statistic, _, array = output.partition(".")
            for suffix, series in _series(case, motions, array):
                columns[f"{output}{suffix}"] = _summary(statistic, series)
    finite = np.isfinite(motions.q).all(axis=-1) & np.isfinite(motions.v).all(axis=-1)
    step = np.where(finite.all(axis=-1), -1, finite.argmin(axis=-1) * study.options.every)
    return {**columns, DIVERGED: step}


def _summary(statistic: str, series: np.ndarray) -> np.ndarray:
    """(rows, times) -> (rows,)"""
    if statistic == "final":
        return series[:, -1].copy()
    if statistic == "peak":
        return np.abs(series).max(axis=1)
    return series.mean(axis=1) if statistic == "mean" else np.sqrt(np.mean(series * series, axis=1))


def _series(case: Case, motions: Trajectory, array: str) -> Iterator[tuple[str, np.ndarray]]:
    """Suffix of the column and (rows, times), for each entry of an array."""
    if array == "energy":
        yield "", motions.energy
    elif array == "error":
        reference = case.reference
        if reference is None:
            return
        wanted = reference.sample(motions.t).q
        for k, name in enumerate(case.robot.motor_names):
            yield f".{name}", motions.q[..., motions.entries["q"].index(name)] - wanted[:, k]
    elif array not in motions.entries:
        yield "", motions[array]
    else:
        for k, name in enumerate(motions.entries[array]):
            yield f".{name}", motions[array][..., k]


def columns_of(study: Study) -> dict[str, Any]:
    """All columns of the study's tables and their types: those of every case, in order."""
    columns: dict[str, Any] = {"row": int, "sample": int, "seed": int, "linkwork": str}
    columns |= {"case": int, "robot": str, "controller": str}
    for case in study.cases:
        columns |= {variable.name: float for variable in case.plan.variables}
    for case in study.cases:
        columns |= {name: float for output in study.outputs for name in _names(case, output)}
    return {**columns, DIVERGED: int}


def _names(case: Case, output: str) -> list[str]:
    array, named = output.partition(".")[2], entries(case.robot.model)
    if array == "error":
        return [f"{output}.{name}" for name in case.robot.motor_names] if case.reference else []
    names = {**named, **TRAJECTORY_ENTRIES}.get(array)
    return [output] if names is None else [f"{output}.{name}" for name in names]
