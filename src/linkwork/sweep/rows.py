"""Rows of a study: samples their values, simulates the motions and computes the outputs."""

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
    """Compute rows of a study in this process.

    Args:
        study: The study, see ``read_study``.
        start: First row.
        stop: Row after the last one. All rows must belong to one case, as those of a chunk do.

    Returns:
        The columns by name, each an array (rows,): values of the row, and outputs such as "final.q.JOINT".

    Raises:
        ShapeError: There are no such rows, or they belong to several cases.

    Example:
        >>> from pathlib import Path
        >>> text = "{robot: planar2r, simulation: {dt: 0.01, duration: 0.1}, outputs: [final.q]}"
        >>> _ = Path("study.yaml").write_text(text)
        >>> columns = linkwork.sweep.compute(linkwork.sweep.read_study("study.yaml"), 0, 1)
        >>> columns["final.q.elbow"].shape
        (1,)
    """
    if not 0 <= start < stop <= study.rows or stop > study.ends[study.case_of(start)[0]]:
        expected = f"rows of one case; cases end at {', '.join(map(str, study.ends))}"
        raise ShapeError("there are no such rows", where="compute", got=f"{start} to {stop}", expected=expected)
    size = max(1, MEMORY // _bytes_per_row(study, study.cases[study.case_of(start)[0]]))
    parts = [_compute(study, a, min(a + size, stop)) for a in range(start, stop, size)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _bytes_per_row(study: Study, case: Case) -> int:
    names = entries(case.robot.model)
    numbers = sum(len(names.get(name, range(6))) for name in study.recorded)
    return 8 * numbers * (study.steps // study.options.every + 1)


def _compute(study: Study, start: int, stop: int) -> Columns:
    number, first = study.case_of(start)
    case = study.cases[number]
    values, count = case.plan.values(start - first, stop - first), stop - start
    columns = {
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
        raise KeyboardInterrupt  # after which a rollout returns the steps so far
    return {**columns, **values, **_outputs(study, case, motions)}


# -- outputs -------------------------------------------------------------------------------------------------------


def _outputs(study: Study, case: Case, motions: Trajectory) -> Columns:
    columns = {}
    with np.errstate(all="ignore"):  # motions that diverged overflow
        for output in study.outputs:
            statistic, _, array = output.partition(".")
            for suffix, series in _series(case, motions, array):
                columns[f"{output}{suffix}"] = _summary(statistic, series)
    finite = np.isfinite(motions.q).all(axis=-1) & np.isfinite(motions.v).all(axis=-1)
    step = np.where(finite.all(axis=-1), -1, finite.argmin(axis=-1) * study.options.every)
    return {**columns, DIVERGED: step}


def _summary(statistic: str, series: np.ndarray) -> np.ndarray:
    """Return a statistic (rows,) of a series (rows, times)."""
    if statistic == "final":
        return series[:, -1].copy()
    if statistic == "peak":
        return np.abs(series).max(axis=1)
    return series.mean(axis=1) if statistic == "mean" else np.sqrt(np.mean(series * series, axis=1))


def _series(case: Case, motions: Trajectory, array: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the suffix of the column and the series (rows, times) of each entry of an array."""
    if array == "energy":
        yield "", motions.energy
    elif array == "error":
        reference = case.reference
        if reference is None:
            return
        desired = reference.sample(motions.t).q
        for k, name in enumerate(case.robot.motor_names):
            yield f".{name}", motions.q[..., motions.entries["q"].index(name)] - desired[:, k]
    elif array not in motions.entries:
        yield "", motions[array]
    else:
        for k, name in enumerate(motions.entries[array]):
            yield f".{name}", motions[array][..., k]


def columns_of(study: Study) -> dict[str, Any]:
    """Return the columns of the tables of a study, those of every case in order, and their types."""
    columns: dict[str, Any] = {"row": int, "sample": int, "seed": int, "linkwork": str}
    columns |= {"case": int, "robot": str, "controller": str}
    for case in study.cases:
        columns |= {variable.name: float for variable in case.plan.variables}
    for case in study.cases:
        columns |= {name: float for output in study.outputs for name in _names(case, output)}
    return {**columns, DIVERGED: int}


def _names(case: Case, output: str) -> list[str]:
    array, variables = output.partition(".")[2], entries(case.robot.model)
    if array == "error":
        return [f"{output}.{name}" for name in case.robot.motor_names] if case.reference else []
    names = {**variables, **TRAJECTORY_ENTRIES}.get(array)
    return [output] if names is None else [f"{output}.{name}" for name in names]
