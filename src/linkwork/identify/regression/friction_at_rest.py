"""Friction at rest: while a joint stands still, it holds any force within its Coulomb friction, and the motion does not
determine which. Prediction errors of moving and of standing samples are kept apart here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import UnknownNameError, UnsupportedError
from ...formulations.drives import motors
from ...model import Joint, Model, Motor
from ..logs.filters import DURATION, SHARE_AT_REST, lasting
from ..logs.log import Log
from ..logs.signals import zero_phase
from .stacked_regressor import blocks, relative
from .unknowns import Unknowns

AT_REST = ("smooth", "last motion")
PARTS = ("moving", "standing", "standing, beyond Coulomb", "standing, last motion")
LARGE, SMALL = 0.5, 0.01  # friction at rest that is worth a warning: of the squares of an error, and of the force
TINY = 1e-300  # a velocity on either side of rest


def standing(log: Log, fastest: np.ndarray) -> np.ndarray:
    """Samples (N, n) of joints that stand still: a hundredth of their ``fastest`` or slower, for 0.1 s at least."""
    still = np.abs(log.v) <= SHARE_AT_REST * fastest
    return np.stack([lasting(each, log.t, DURATION) for each in still.T], axis=1)


def last_direction(log: Log, resting: np.ndarray) -> np.ndarray:
    """Signs (N, n) of the last motion of joints that are ``resting``; zero while they move, and before they do."""
    rows = np.arange(len(log))[:, None]
    last = np.maximum.accumulate(np.where(resting, -1, rows), axis=0)
    signs = np.sign(np.take_along_axis(np.asarray(log.v), np.maximum(last, 0), axis=0))
    return np.where(resting & (last >= 0), signs, 0.0)


def friction_at_rest(model: Model, v: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """What Coulomb friction in these directions (..., n) adds to joint forces in place of the smooth one at v; nothing
    where a direction is zero."""
    if model.constrained or model.has_mimic:
        raise UnsupportedError(
            "friction at rest is not predicted for robots with loops or joints that follow others",
            where=f"robot {model.name!r}",
            fix='leave direction= out, or take at_rest="smooth"',
        )
    added = np.zeros(np.broadcast_shapes(v.shape, direction.shape))
    for drive, shares in _rubbing(model):
        way = np.sign(sum(ratio * direction[..., k] for k, ratio in shares))
        way = np.where(np.all([direction[..., k] != 0 for k, _ in shares], axis=0), way, 0.0)
        rate = sum(ratio * v[..., k] for k, ratio in shares)
        force = np.where(way != 0, _limit(drive, way) - drive.friction_force(rate, model.friction_width), 0.0)
        for k, ratio in shares:
            added[..., k] += ratio * force
    return added


def _range(model: Model, v: np.ndarray, resting: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest of what friction at rest may add to the forces."""
    low, high = np.zeros(v.shape), np.zeros(v.shape)
    for drive, shares in _rubbing(model):
        rate = sum(ratio * v[..., k] for k, ratio in shares)
        still = np.all([resting[..., k] for k, _ in shares], axis=0)
        smooth = drive.friction_force(rate, model.friction_width)
        ends = [np.where(still, _limit(drive, np.array(side)) - smooth, 0.0) for side in (-1.0, 1.0)]
        for k, ratio in shares:
            low[..., k] += np.minimum(ratio * ends[0], ratio * ends[1])
            high[..., k] += np.maximum(ratio * ends[0], ratio * ends[1])
    return low, high


def _rubbing(model: Model) -> list[tuple[Joint | Motor, list[tuple[int, float]]]]:
    """Drives whose friction jumps at rest, and the forces it acts on; none where joints share forces in other ways than
    by transmissions."""
    if model.constrained or model.has_mimic:
        return []
    drives = [(model.joint(i), [(k, 1.0)]) for i, _ in model.outward() for k in model.freedoms(i)]
    return [(drive, shares) for drive, shares in [*drives, *motors(model)] if any(law.jumps for law in drive.acting)]


def _limit(drive: Joint | Motor, side: np.ndarray) -> np.ndarray:
    """Friction on either side of rest, without a width."""
    return np.asarray(replace(drive, friction_width=0.0).friction_force(side * TINY, 0.0))


# -- errors ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Squares:
    """Sums of squares by force: of what is ``left`` and of the measured force (``power``), in all samples and in the
    PARTS of them; ``count`` of moving and of standing samples."""

    left: dict[str, np.ndarray]
    power: dict[str, np.ndarray]
    count: dict[str, np.ndarray]

    def errors(self) -> dict[str, np.ndarray]:
        """Relative, by force; NaN where a joint never moves or never stands still."""
        found = {}
        for part in PARTS:
            kind = "moving" if part == "moving" else "standing"
            found[part] = np.where(self.count[kind] > 0, relative(self.left[part], self.power[kind]), np.nan)
        return found

    def doubt(self, names: Sequence[str], limits: np.ndarray) -> str:
        """What is to be said of the error of all samples, if friction at rest is a large part of it."""
        total = np.maximum(self.left["moving"] + self.left["standing"], np.finfo(float).tiny)
        inside = np.maximum(self.left["standing"] - self.left["standing, beyond Coulomb"], 0.0)
        counts = relative(inside, self.power["moving"] + self.power["standing"]) > SMALL
        inside = inside / total
        samples = self.count["standing"] / np.maximum(self.count["moving"] + self.count["standing"], 1)
        joints = [
            f"{names[k]} ({inside[k]:.0%} of the squared error, in {samples[k]:.0%} of the samples, within"
            f" ±{limits[k]:.3g})"
            for k in np.flatnonzero(counts & (inside > LARGE)).tolist()
        ]
        if not joints:
            return ""
        what = "friction at rest, which the motion does not determine within ± Coulomb friction, counts as error of"
        return f"{what} {', '.join(joints)}"


def squares_of(
    unknowns: Unknowns, model: Model, x: np.ndarray, logs: Sequence[Log], fastest: np.ndarray
) -> Squares | None:
    """Squared errors of recordings in the robot's order; None where no joint with Coulomb friction stands still."""
    resting = [standing(log, fastest) if _rubbing(model) else np.zeros((0, 0), bool) for log in logs]
    if not any(each.any() for each in resting):
        return None
    shape = len(unknowns.forces)
    left, power = ({part: np.zeros(shape) for part in PARTS} for _ in range(2))
    count = {kind: np.zeros(shape) for kind in ("moving", "standing")}
    for log, still in zip(logs, resting, strict=True):
        held = in_band(log, friction_at_rest(model, np.asarray(log.v), last_direction(log, still)))
        for block in blocks(unknowns, [log]):
            rows = np.searchsorted(log.t, block.t)
            rest, own = block.z - block.Y @ x, still[rows]
            low, high = _range(model, np.asarray(log.v[rows]), own)
            parts = {"moving": (rest, ~own), "standing": (rest, own)}
            parts["standing, beyond Coulomb"] = rest - np.clip(rest, low, high), own
            parts["standing, last motion"] = rest - held[rows], own
            for part, (each, which) in parts.items():
                left[part] += (each**2 * which).sum(axis=0)
                power[part] += (np.maximum(block.tau**2, block.z**2) * which).sum(axis=0)
            count = {"moving": count["moving"] + (~own).sum(axis=0), "standing": count["standing"] + own.sum(axis=0)}
    return Squares(left, power, count)


def limits_of(model: Model) -> np.ndarray:
    """The largest friction at rest of each force."""
    still = np.ones((1, len(model.mobility.forced)), bool)
    low, high = _range(model, np.zeros(still.shape), still)
    return (high - low)[0] / 2


def in_band(log: Log, x: np.ndarray) -> np.ndarray:
    return zero_phase(x, log.rate, log.band.cutoff, log.band.order) if log.band else x


def require_known(at_rest: str) -> None:
    if at_rest not in AT_REST:
        raise UnknownNameError("prediction at rest", str(at_rest), AT_REST, where="at_rest")
