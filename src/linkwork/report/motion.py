"""A sample motion of any robot: driven joints follow a smooth step within their limits, free joints move by the
dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..control import Quintic
from ..errors import LinkworkError
from ..formulations.drives import motors
from ..robot import Robot

DURATION = 2.0  # seconds
STEP = 1e-3  # seconds, at most
TURN, SHIFT = 1.0, 0.25  # radians and metres, at most
OF_SEVERAL = 0.5  # factor on TURN and SHIFT for each degree of freedom of a joint that has several
FREE = 0.1  # radians and metres, for bodies that only loops hold
SHARE, SPEED = 0.6, 0.8  # fraction of the distance to a limit, and of the largest speed
PEAK = 1.875  # largest speed of a quintic, as a multiple of distance over duration
STABLE = 0.25  # radians of phase of the fastest spring in a step
WELL = 1e-2  # least conditioning of loops
TRIES = 12


@dataclass(frozen=True)
class Motion:
    """A motion, sampled at T times.

    Attributes:
        t: Times (T,) in s.
        q: Positions of all joints (T, nq).
        v: Independent velocities (T, nv).
        a: Independent accelerations (T, nv).

    Example:
        >>> motion = linkwork.report.Motion(np.zeros(2), *np.zeros((3, 2, 7)))
        >>> motion.q.shape
        (2, 7)
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    @property
    def dt(self) -> float:
        """Time step in s."""
        return float(self.t[1] - self.t[0])


def sample_motion(robot: Robot) -> Motion:
    """Return a motion from rest to rest within the limits of positions and velocities, away from singularities.

    Args:
        robot: The robot.

    Returns:
        A Motion of 2 s.

    Raises:
        LinkworkError: No such motion was found.

    Example:
        >>> linkwork.report.sample_motion(linkwork.load("planar2r")).q.shape
        (2001, 2)
    """
    start = _start(robot)
    distance = _distance(robot, start)
    steps = int(np.ceil(DURATION / min(STEP, STABLE / max(_fastest(robot, start), STABLE / STEP))))
    for _ in range(TRIES):
        with np.errstate(all="ignore"):  # a motion through a singularity is rejected below
            motion = _moved(robot, start, distance, steps)
        if _allowed(robot, motion):
            return motion
        distance = distance / 2
    raise LinkworkError(
        "no motion within the limits was found", where=f"robot {robot.name!r}",
        fix="widen the limits of its joints, or give a `home` away from them and from singular positions",
    )  # fmt: skip


def _start(robot: Robot) -> np.ndarray:
    """Return home, or zero; without loops, a joint near its limits starts in the middle of its range."""
    model, coordinates = robot.model, robot.coordinates
    q = np.array(model.home) if model.home else coordinates.neutral()
    if model.constrained:
        return q
    for k, (lower, upper) in enumerate(zip(coordinates.lower.tolist(), coordinates.upper.tolist(), strict=True)):
        margin = 0.1 * (upper - lower)
        if np.isfinite(margin) and not lower + margin <= q[k] <= upper - margin:
            q[k] = (lower + upper) / 2
    return _settled(robot, q)


def _settled(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the equilibrium of elastic joints under gravity, by Newton steps."""
    model, coordinates = robot.model, robot.coordinates
    places = [k for joint in coordinates.joints if joint.role == "elastic" for k in model.joint_freedoms(joint.name)]
    if not places:
        return q
    rows = [model.mobility.forced.index(k) for k in places]
    still, along, slope = np.zeros(model.nv), np.eye(model.nv)[places], robot.inverse_dynamics.jvp("q")
    for _ in range(6):
        force = robot.inverse_dynamics(q, still, still)[rows]
        stiffness = slope(q, still, still, dq=along)[:, rows].T
        q = coordinates.integrate(q, -np.linalg.solve(stiffness, force) @ along)
    return q


def _distance(robot: Robot, start: np.ndarray) -> np.ndarray:
    """Return how far each driven joint moves: towards the farther limit, or alternately up and down without limits."""
    coordinates = robot.coordinates
    distances: list[float] = []
    for k in robot.model.mobility.driven:
        joint, place = coordinates.joint_of(k), coordinates.position_of(k)
        if joint.kind.free:
            distances.append(FREE)
            continue
        below, above = np.inf, np.inf
        if place is not None:
            below, above = start[place] - coordinates.lower[place], coordinates.upper[place] - start[place]
        sign = np.sign(above - below) if above != below else (-1) ** len(distances)
        room = SHARE * max(above, below)
        most = TURN if coordinates.velocities.units[k] == "rad/s" else SHIFT
        if joint.kind.nv > 1:
            most *= OF_SEVERAL
        distances.append(sign * min(room, most, SPEED * joint.velocity_limit * DURATION / PEAK))
    return np.array(distances)


def _fastest(robot: Robot, q: np.ndarray) -> float:
    """Return the angular frequency of the fastest spring, in rad/s."""
    model = robot.model
    stiffness = np.zeros((model.coordinates.nv,) * 2)
    for joint, places in zip(robot.coordinates.joints, robot.coordinates.velocity_ranges, strict=True):
        stiffness[np.ix_(places, places)] = joint.stiffness * np.eye(len(places)) + joint.kind.own_stiffness()
    for motor, shares in motors(model):
        tree = np.zeros(model.n_tree)
        tree[[k for k, _ in shares]] = [ratio for _, ratio in shares]
        row = model.collect(tree.tolist())
        stiffness += motor.stiffness * np.outer(row, row)
    springs = np.flatnonzero(stiffness.any(axis=0))
    at = [k for k, each in enumerate(model.mobility.independent) if each in springs]
    if not at:
        return 0.0
    M = robot.inertia_matrix(q)[np.ix_(at, at)]
    places = [model.mobility.independent[k] for k in at]
    K = stiffness[np.ix_(places, places)]
    return float(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, K))).max()))


def _moved(robot: Robot, start: np.ndarray, distance: np.ndarray, steps: int) -> Motion:
    """Integrate the motion by the classical Runge-Kutta method."""
    model, h = robot.model, DURATION / steps
    independent = model.mobility.independent
    motors = [independent.index(k) for k in model.mobility.driven]
    free = [independent.index(k) for k in model.mobility.free]
    none = np.zeros(len(free))
    times = np.linspace(0, DURATION, 2 * steps + 1)  # ends and middles of the steps
    driven_a = Quintic([0.0], [1.0], DURATION).sample(times).a * distance

    def rates(k: int, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a = np.zeros(model.nv)
        a[motors] = driven_a[k]
        if free:
            a[free] = robot.hybrid_dynamics(q, v, driven_a[k], none)[1]
        v_joints = robot.joint_velocities(q, v) if model.constrained else v
        return np.array(robot.coordinates.rates(list(q), list(v_joints))), a

    q, v = start, np.zeros(model.nv)
    Q, V, A = np.empty((steps + 1, model.nq)), np.empty((steps + 1, model.nv)), np.empty((steps + 1, model.nv))
    for k in range(steps + 1):
        q1, a1 = rates(2 * k, q, v)
        Q[k], V[k], A[k] = q, v, a1
        if k == steps:
            break
        q2, a2 = rates(2 * k + 1, q + h / 2 * q1, v + h / 2 * a1)
        q3, a3 = rates(2 * k + 1, q + h / 2 * q2, v + h / 2 * a2)
        q4, a4 = rates(2 * k + 2, q + h * q3, v + h * a3)
        q = np.array(robot.coordinates.normalised(list(q + h / 6 * (q1 + 2 * q2 + 2 * q3 + q4))))
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return Motion(h * np.arange(steps + 1), Q, V, A)


def _allowed(robot: Robot, motion: Motion) -> bool:
    """Return whether a motion is finite, within the limits of active joints, and away from singularities."""
    model = robot.model
    if not all(np.isfinite(each).all() for each in (motion.q, motion.v, motion.a)):
        return False
    coordinates = robot.coordinates
    active = coordinates.places(joint.name for joint in coordinates.joints if joint.role == "active")
    lower, upper = coordinates.lower[active] - 1e-9, coordinates.upper[active] + 1e-9
    if not np.all((lower <= motion.q[:, active]) & (motion.q[:, active] <= upper)):
        return False
    if model.constrained:
        few = motion.q[:: max(1, len(motion.q) // 20)]
        if model.n_configuration == model.nv:  # otherwise it rolls, and independent joints do not determine q
            joints = coordinates.whole(model.mobility.independent).positions.joints
            few = robot.assemble(few[:, coordinates.places(joints)], guess=few).q
        return bool(np.all(robot.conditioning(few) > WELL))
    return True
