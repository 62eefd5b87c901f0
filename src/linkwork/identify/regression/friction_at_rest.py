"""Friction at rest: prediction errors of moving and of standing samples.

While a joint stands still, it holds any force within its Coulomb friction, and the motion does not determine which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import UnknownNameError, UnsupportedError
from ...model import Joint, Model, Motor
from ...notes import Note
from ..logs.filters import DURATION, SHARE_AT_REST, lasting
from ..logs.log import Log
from ..logs.signals import zero_phase
from .stacked_regressor import blocks, relative
from .unknowns import Unknowns, drives_with_shares

AT_REST = ("smooth", "last motion")
PARTS = ("moving", "standing", "standing, beyond Coulomb", "standing, last motion")
LARGE, SMALL = 0.5, 0.01  # shares of the squared error, and of the force, from which on friction at rest is reported
TINY = 1e-300  # velocity on either side of rest


def standing(log: Log, max_velocities: np.ndarray) -> np.ndarray:
    """Return which samples (N, n) of joints stand still: at most 1 % of ``max_velocities``, for at least 0.1 s."""
    still = np.abs(log.v) <= SHARE_AT_REST * max_velocities
    return np.stack([lasting(each, log.t, DURATION) for each in still.T], axis=1)


def last_direction(log: Log, resting: np.ndarray) -> np.ndarray:
    """Return signs (N, n) of the last motion of ``resting`` joints; zero while they move, and before they do."""
    rows = np.arange(len(log))[:, None]
    last = np.maximum.accumulate(np.where(resting, -1, rows), axis=0)
    signs = np.sign(np.take_along_axis(np.asarray(log.v), np.maximum(last, 0), axis=0))
    return np.where(resting & (last >= 0), signs, 0.0)


def friction_at_rest(model: Model, v: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return what Coulomb friction in these directions (..., n) adds to the smooth friction at v; zero where they are
    zero."""
    if model.constrained or model.has_mimic:
        raise UnsupportedError(
            "friction at rest is not predicted for robots with loops or mimic joints",
            where=f"robot {model.name!r}",
            fix='leave direction= out, or use at_rest="smooth"',
        )
    friction = np.zeros(np.broadcast_shapes(v.shape, direction.shape))
    for drive, shares in _with_dry_friction(model):
        sign = np.sign(sum(ratio * direction[..., k] for k, ratio in shares))
        sign = np.where(np.all([direction[..., k] != 0 for k, _ in shares], axis=0), sign, 0.0)
        rate = sum(ratio * v[..., k] for k, ratio in shares)
        force = np.where(sign != 0, _limit(drive, sign) - drive.friction_force(rate, model.friction_width), 0.0)
        for k, ratio in shares:
            friction[..., k] += ratio * force
    return friction


def _range(model: Model, v: np.ndarray, resting: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest force that friction at rest may add."""
    low, high = np.zeros(v.shape), np.zeros(v.shape)
    for drive, shares in _with_dry_friction(model):
        rate = sum(ratio * v[..., k] for k, ratio in shares)
        still = np.all([resting[..., k] for k, _ in shares], axis=0)
        smooth = drive.friction_force(rate, model.friction_width)
        ends = [np.where(still, _limit(drive, np.array(side)) - smooth, 0.0) for side in (-1.0, 1.0)]
        for k, ratio in shares:
            low[..., k] += np.minimum(ratio * ends[0], ratio * ends[1])
            high[..., k] += np.maximum(ratio * ends[0], ratio * ends[1])
    return low, high


def _with_dry_friction(model: Model) -> list[tuple[Joint | Motor, list[tuple[int, float]]]]:
    """Return drives whose friction jumps at rest, with the forces they act on."""
    return [pair for pair in drives_with_shares(model) if any(law.jumps for law in pair[0].acting)]


def _limit(drive: Joint | Motor, side: np.ndarray) -> np.ndarray:
    """Return the friction on either side of rest, without smoothing."""
    return np.asarray(replace(drive, friction_width=0.0).friction_force(side * TINY, 0.0))


# -- errors ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Squares:
    """Sums of squares by force, of the residual (``residual``) and of the measured force (``power``).

    They are kept for all samples and for the PARTS of them, with the ``count`` of moving and of standing samples.
    """

    residual: dict[str, np.ndarray]
    power: dict[str, np.ndarray]
    count: dict[str, np.ndarray]

    def errors(self) -> dict[str, np.ndarray]:
        """Return relative errors by force; NaN where a joint never moves or never stands still."""
        errors = {}
        for part in PARTS:
            kind = "moving" if part == "moving" else "standing"
            errors[part] = np.where(self.count[kind] > 0, relative(self.residual[part], self.power[kind]), np.nan)
        return errors

    def warning(self, names: Sequence[str], limits: np.ndarray) -> Note | None:
        """Return a warning if friction at rest is a large part of the error."""
        total = np.maximum(self.residual["moving"] + self.residual["standing"], np.finfo(float).tiny)
        inside = np.maximum(self.residual["standing"] - self.residual["standing, beyond Coulomb"], 0.0)
        counts = relative(inside, self.power["moving"] + self.power["standing"]) > SMALL
        inside = inside / total
        samples = self.count["standing"] / np.maximum(self.count["moving"] + self.count["standing"], 1)
        places = [int(k) for k in np.flatnonzero(counts & (inside > LARGE))]
        if not places:
            return None
        joints = ", ".join(
            f"{names[k]} ({inside[k]:.0%} of the squared error, in {samples[k]:.0%} of the samples, within"
            f" ±{limits[k]:.3g})"
            for k in places
        )
        text = "friction at rest, which the motion does not determine within ± Coulomb friction, counts as error of"
        shares = {names[k]: float(inside[k]) for k in places}
        return Note("friction-at-rest", f"{text} {joints}", severity="warning", values=shares)


def squares_of(
    unknowns: Unknowns, model: Model, x: np.ndarray, logs: Sequence[Log], max_velocities: np.ndarray
) -> Squares | None:
    """Return squared errors of recordings in the robot's order; None if no joint with Coulomb friction rests."""
    resting = [standing(log, max_velocities) for log in logs] if _with_dry_friction(model) else []
    if not any(still.any() for still in resting):
        return None
    forces = len(unknowns.forces)
    squares, power = ({part: np.zeros(forces) for part in PARTS} for _ in range(2))
    count = {kind: np.zeros(forces) for kind in ("moving", "standing")}
    for log, still in zip(logs, resting, strict=True):
        friction = filtered(log, friction_at_rest(model, np.asarray(log.v), last_direction(log, still)))
        for block in blocks(unknowns, [log]):
            rows = np.searchsorted(log.t, block.t)
            residual, mask = block.z - block.Y @ x, still[rows]
            low, high = _range(model, np.asarray(log.v[rows]), mask)
            parts = {"moving": (residual, ~mask), "standing": (residual, mask)}
            parts["standing, beyond Coulomb"] = residual - np.clip(residual, low, high), mask
            parts["standing, last motion"] = residual - friction[rows], mask
            for part, (rest, samples) in parts.items():
                squares[part] += (rest**2 * samples).sum(axis=0)
                power[part] += (np.maximum(block.tau**2, block.z**2) * samples).sum(axis=0)
            for kind in count:
                count[kind] += parts[kind][1].sum(axis=0)
    return Squares(squares, power, count)


def limits_of(model: Model) -> np.ndarray:
    """Return the largest friction at rest of each force."""
    still = np.ones((1, len(model.mobility.forced)), bool)
    low, high = _range(model, np.zeros(still.shape), still)
    return (high - low)[0] / 2


def filtered(log: Log, x: np.ndarray) -> np.ndarray:
    return zero_phase(x, log.rate, log.band.cutoff, log.band.order) if log.band else x


def require_prediction(at_rest: str) -> None:
    if at_rest not in AT_REST:
        raise UnknownNameError("prediction at rest", str(at_rest), AT_REST, where="at_rest")
