"""Fits by simulation, for parameters that joint forces are not linear in and for recordings without accelerations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError
from ...notes import Note
from ...options import one_of_names, positive
from ...sim.plant.inputs import is_law
from ...sim.schemes import stability
from ...sim.schemes.integrators import schemes
from .damped_search import Directions, Search
from .rollout_error import OutputError
from .search_variables import searched
from .segments import cut

if TYPE_CHECKING:
    from ...robot import Robot

CLOSED, OPEN = 0.5, 0.1  # default length of a segment in s, with a controller in the loop and without
LEAD = 0.05  # largest delay of a command in s


@dataclass(frozen=True, eq=False)
class SimulationFit:
    """Identified parameters of a fit by simulation, the result of ``fit_simulation``.

    The prior counts as knowledge: what the data do not identify has the standard deviation of the prior.

    Attributes:
        robot: The robot with the identified values.
        names: Names of the unknowns.
        values: Identified values, (n,).
        deviations: Standard deviations, (n,).
        covariance: Covariance, (n, n).
        parameters: Parameters of all bodies, (bodies, 10), as ``Robot.parameters``.
        drives: Identified values by joint and name.
        delay: Delay of the command in s.
        payload: Parameters of the payload, (10,), or None.
        q0: Initial positions of the segments.
        v0: Initial velocities of the segments.
        rank: Number of directions of the unknowns that the data determine better than the prior.
        weights: Weight of each entry, by output.
        rms: Residual of each entry (rms), by output.
        history: Cost after each iteration, with that of the prior; weights may change between them.
        seconds: Time the fit took, in s.
        notes: ``linkwork.notes.Note`` objects: what was done, and warnings.

    Example:
        >>> arm = linkwork.load("planar2r")
        >>> log = linkwork.identify.Log.from_trajectory(arm.simulate([0.3, 0.2], duration=0.3))
        >>> fit = linkwork.identify.fit_simulation(arm, log, ["rotor_inertia"], iterations=1)
        >>> len(fit.names) == len(fit.deviations)
        True
    """

    robot: Robot
    names: tuple[str, ...]
    values: np.ndarray
    deviations: np.ndarray
    covariance: np.ndarray
    parameters: np.ndarray
    drives: dict[str, dict[str, float]]
    delay: float
    payload: np.ndarray | None
    q0: np.ndarray
    v0: np.ndarray
    rank: int
    weights: dict[str, np.ndarray]
    rms: dict[str, np.ndarray]
    history: tuple[float, ...]
    seconds: float
    notes: tuple[Note, ...]

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} {np.sqrt(np.nanmean(rms**2)):.3g}" for name, rms in self.rms.items())
        return f"<SimulationFit of {self.robot.name}: {len(self.names)} unknowns, {self.rank} seen; left {errors}>"


def fit_simulation(
    robot: Robot,
    logs: Any,
    unknowns: Iterable[str] | Mapping[str, Any] = ("inertial",),
    *,
    controller: Any = None,
    gains: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    weight: Mapping[str, Any] | None = None,
    horizon: float | None = None,
    dt: float | None = None,
    method: str = "semi-implicit-euler",
    initial: bool = True,
    prior: Robot | None = None,
    gamma: float = 1.0,
    friction_width: float = 0.05,
    iterations: int = 100,
    progress: Callable[[int, float], Any] | None = None,
) -> SimulationFit:
    """Identify parameters with which a simulation reproduces recordings.

    The recordings are cut into segments, each simulated from the state measured there. NaN counts as not measured.

    Args:
        robot: The robot, where the search begins.
        logs: One recording or several, at one rate, with t, q and perhaps v. Torques ``tau`` drive the simulation. With
            a ``controller``, the ``reference`` does, and tau is one more output.
        unknowns: Names: "inertial", "payload", "rotor_inertia", "viscous", "coulomb", "offset", "stribeck",
            "stribeck_velocity", "friction_width", "stiffness", "delay" (of the torques, or of the reference), each for
            all links or joints that have it; or a dict from names to links, joints, or the frame of a payload. Default:
            "inertial".
        controller: Controller that runs in the simulation. Default: none.
        gains: Its gains by name. Default: none.
        outputs: Which of q, v and tau are compared. Default: all that were measured.
        weight: 1 / standard deviation by output, a number or one for each entry. Default: from the residuals.
        horizon: Length of a segment in s. Default: 0.5, or 0.1 without a controller.
        dt: Time step in s. Default: the period of the recordings.
        method: Integrator with a fixed step. Default: "semi-implicit-euler".
        initial: Whether the initial states of the segments are unknown, too; not with closed loops. Default: True.
        prior: A robot to which bodies are drawn. Default: ``robot``.
        gamma: Weight of the prior: a relative deviation of 1 / sqrt(gamma). Default: 1.
        friction_width: Velocity in rad/s (m/s) within which friction goes smoothly through zero. Default: 0.05.
        iterations: Largest number of iterations. Default: 100.
        progress: Function of iteration and cost. Default: none.

    Returns:
        The identified values with their uncertainty.

    Raises:
        LinkworkError: If the recordings do not fit the robot, or the first simulation diverges.

    Example:
        >>> arm = linkwork.load("planar2r")
        >>> log = linkwork.identify.Log.from_trajectory(arm.simulate([0.3, 0.2], duration=0.3))
        >>> linkwork.identify.fit_simulation(arm, log, ["rotor_inertia"], iterations=1).values.shape
        (2,)
    """
    began = time.perf_counter()
    logs = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if controller is not None and not is_law(controller):
        raise LinkworkError("this is not a controller", where="controller", got=repr(controller)[:80])
    one_of_names("integrator", method, schemes(), where="method")
    for name, value in (("horizon", horizon), ("dt", dt), ("gamma", gamma)):
        if value is not None:
            positive(value, name)
    closed = controller is not None
    variables = searched(robot, unknowns, prior, friction_width)
    lead = LEAD if variables.delay else 0.0
    segments = cut(robot, logs, closed, horizon or (CLOSED if closed else OPEN), dt, outputs, lead)
    options = {"method": method, "friction_width": friction_width, **({"gains": gains} if gains else {})}
    notes = list(segments.notes)
    if initial and robot.model.constrained:
        initial = False
        text = "initial states are not identified for robots with loops: segments start where they were measured"
        notes.append(Note("measured-starts", text))
    error = OutputError(variables, segments, controller, options, initial)
    search = Search(error, gamma, _weights(error, weight), iterations, progress)
    notes += filter(None, [stability.warning(search.now.run.tape.setup, method, segments.dt)])
    search.run()
    return _result(search, notes, began)


def _result(search: Search, notes: list[Note], began: float) -> SimulationFit:
    error, variables, z = search.error, search.variables, search.z
    equations = error.equations(z, search.now, search.weights)
    H, g = equations.eliminated()
    R = Directions.of(H, g, search.factor(H)).factor
    count, squares = int(error.there.sum()), float(((search.weights * search.now.differences) ** 2).sum())
    covariance, rank = _covariance(R, np.sqrt(search.gamma) * variables.factor(z))
    if search.fixed_weights is None:
        covariance *= squares / max(count - rank - equations.g0.size, 1)
    slopes = variables.slopes(z)
    covariance *= slopes * slopes[:, None]
    if len(search.history) >= search.iterations:
        text = f"stopped after {search.iterations} iterations"
        notes.append(Note("iterations", text, values={"iterations": search.iterations}))
    negative = [label for label, at in zip(variables.labels, z <= variables.least, strict=True) if at]
    if negative:
        notes.append(Note("at-bound", f"at zero, and would be negative: {', '.join(negative)}"))
    names, cuts = error.outputs, np.cumsum([x.shape[2] for x in error.segments.measured.values()])[:-1]
    counts = error.there.sum(axis=(0, 1))
    rms = np.sqrt((search.now.differences**2).sum(axis=(0, 1)) / np.where(counts, counts, np.nan))
    inputs = variables.inputs(z)
    return SimulationFit(
        robot=error.robot.with_model(variables.model(z)),
        names=variables.labels,
        values=variables.numbers(z),
        deviations=np.sqrt(np.diag(covariance)),
        covariance=covariance,
        parameters=inputs.get("parameters", np.array(error.robot.parameters, float)),
        drives=variables.drives(z),
        delay=variables.seconds(z),
        payload=inputs.get("payload"),
        q0=search.starts.q,
        v0=search.starts.v,
        rank=rank,
        weights=dict(zip(names, np.split(search.weights, cuts), strict=True)),
        rms=dict(zip(names, np.split(rms, cuts), strict=True)),
        history=tuple(search.history),
        seconds=time.perf_counter() - began,
        notes=tuple(notes),
    )


def _weights(error: OutputError, weight: Mapping[str, Any] | None) -> np.ndarray | None:
    if weight is None:
        return None
    parts = []
    for name, values in error.segments.measured.items():
        if name not in weight:
            raise LinkworkError("an output has no weight", where="weight", got=", ".join(weight), expected=name)
        parts.append(np.broadcast_to(np.asarray(weight[name], float), values.shape[2]))
    return np.concatenate(parts)


def _covariance(R: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the covariance with data and prior, and the number of directions that the data determine better.

    It is infinite where neither data nor prior determine a value.
    """
    both = np.concatenate([R, prior])
    scale = 1 / np.maximum(np.linalg.norm(both, axis=0), np.finfo(float).tiny)
    _, sizes, directions = np.linalg.svd(both * scale)
    nonzero = sizes > 1e-13 * sizes[0]
    factor = (directions[nonzero].T / sizes[nonzero]) * scale[:, None]
    covariance = factor @ factor.T
    undetermined = np.abs(directions[~nonzero]).max(axis=0, initial=0.0) > 1e-6
    covariance[undetermined, undetermined] = np.inf
    shares = np.linalg.svd(R @ ((directions[nonzero].T / sizes[nonzero]) * scale[:, None]), compute_uv=False)
    return covariance, int((shares**2 > 0.5).sum())
