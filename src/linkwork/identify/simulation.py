"""Fits by simulation: for what joint forces are not linear in, and for recordings without accelerations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DivergedError, LinkworkError
from ..sim.inputs import is_law
from .output_error import Equations, OutputError, Residuals, Starts
from .pseudo_inertia import TEN
from .quadratic import Quadratic, triangle
from .searched import Searched, searched
from .segments import cut

if TYPE_CHECKING:
    from ..robot import Robot

CLOSED, OPEN = 0.5, 0.1  # seconds of a segment, with a controller in the loop and without
FLOOR = 1e-6  # of how much an output changes: what is measured no better than this is as good as exact
SAME = 0.05  # by which they change at most when they are done
DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e-15, 1e8  # the first of these to begin with
DONE, ROUGH = 1e-9, 1e-2  # of the cost, that a last step gains; and before weights change


@dataclass(frozen=True, eq=False)
class SimulationFit:
    """``robot``: with the numbers found. ``values``, ``deviations`` (standard ones) and ``covariance`` of the unknowns
    by ``names``; the prior counts as knowledge in them, so that what the data do not tell has the width of the prior.

    ``parameters`` (bodies, 10) as ``Robot.parameters``, ``drives``: joint -> name -> value, ``delay`` in seconds,
    ``payload`` (10,) or None. ``q0``, ``v0``: where segments begin. ``rank``: of how many directions of the unknowns the
    data tell more than the prior. ``weights``: output -> one of each entry; ``rms``: output -> what is left of each.
    ``history``: cost after each iteration, with the prior's part; weights change between rounds.
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
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        left = ", ".join(f"{name} {np.sqrt(np.nanmean(rms**2)):.3g}" for name, rms in self.rms.items())
        return f"<SimulationFit of {self.robot.name}: {len(self.names)} unknowns, {self.rank} seen; left {left}>"


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
    """Numbers with which a simulation does what was recorded.

    ``logs``: one recording or several, at one rate: t, q, perhaps v; torques ``tau``, which drive the simulation; or,
    with a ``controller`` and its ``gains``, the ``reference`` it followed, and then tau is one more output. ``unknowns``:
    "inertial", "payload", "rotor_inertia", "viscous", "coulomb", "offset", "stribeck", "stribeck_velocity",
    "friction_width", "stiffness", "delay" (of the torques, or of the reference), each for all links or joints that have
    it; or a dict, name -> links, joints, or for a payload its frame.

    The recording is cut into segments of ``horizon`` seconds, each from the state measured there, which is searched for
    as well if ``initial`` is True (not where loops are closed). ``outputs``: which of q, v, tau are compared; all that
    were measured, if not said; NaN counts as not measured. ``weight``: output -> 1 / standard deviation, a number or one
    of each entry; if not said they come from what is left. ``dt``: step of ``method``, the recording's period if not
    said. ``gamma``: how strongly bodies are drawn to those of ``prior`` (the robot itself): a relative deviation of
    1 / sqrt(gamma). ``progress``: a function of iteration and cost.
    """
    began = time.perf_counter()
    logs = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if controller is not None and not is_law(controller):
        raise LinkworkError("this is not a controller", where="controller", got=repr(controller)[:80])
    closed = controller is not None
    own = searched(robot, unknowns, prior, friction_width)
    segments = cut(robot, logs, closed, horizon or (CLOSED if closed else OPEN), dt, outputs)
    options = {"method": method, "friction_width": friction_width, **({"gains": gains} if gains else {})}
    notes = list(segments.notes)
    if initial and robot.model.loops:
        initial = False
        notes.append("loops are closed: segments start where they were measured")
    error = OutputError(own, segments, controller, options, initial)
    search = _Search(error, gamma, _given(error, weight), iterations, progress)
    search.run()
    return search.answer(notes, began)


class _Search:
    """Levenberg and Marquardt's steps, in the metric of the bodies and inside of what is physical."""

    def __init__(self, error: OutputError, gamma: float, weights: np.ndarray | None, iterations: int, progress: Any):
        self.error, self.gamma, self.iterations, self.progress = error, gamma, iterations, progress
        self.own: Searched = error.searched
        self.z = self.own.start
        self.history: list[float] = []
        self.starts = _starts(error)
        self.now = error.simulated(self.z, self.starts)
        if not self.now.finite:
            _refuse(error, self.now)
        self.given = weights
        self.weights = np.where(weights == 0, 0.0, self._weights()) if weights is not None else self._weights()
        self.damping = DAMPING

    def run(self) -> None:
        """With given weights, or with those of what is left, until these do not change any more."""
        while len(self.history) < self.iterations:
            before = self.weights
            self._converge(ROUGH if self.given is None else DONE)
            if self.given is None:
                self.weights = self._weights()
            now = self.weights > 0
            if np.abs(np.log(self.weights[now] / before[now])).max(initial=0.0) < SAME:
                return self._converge(DONE)

    def _weights(self) -> np.ndarray:
        """1 / rms of what is left of each entry."""
        there = self.error.there
        count = np.maximum(there.sum(axis=(0, 1)), 1)
        left = np.sqrt((self.now.differences**2).sum(axis=(0, 1)) / count)
        measured = np.where(there, self.error.measured, 0.0)
        mean = measured.sum(axis=(0, 1)) / count
        spread = np.sqrt((np.where(there, measured - mean, 0.0) ** 2).sum(axis=(0, 1)) / count)
        sigma = np.maximum(left, FLOOR * np.maximum(spread, 1e-3 * spread.max(initial=0.0)))
        return np.where(there.any(axis=(0, 1)) & (sigma > 0), 1 / np.maximum(sigma, 1e-300), 0.0)

    def cost(self, z: np.ndarray, residuals: Residuals) -> float:
        if not residuals.finite:
            return np.inf
        data = 0.5 * float(((self.weights * residuals.differences) ** 2).sum())
        return data + self._pull(z)

    def _pull(self, z: np.ndarray) -> float:
        return self.gamma * self.own.prior.value(self.own.rows(z)) if self.own.bodies else 0.0

    def _converge(self, tight: float) -> None:
        cost = self.cost(self.z, self.now)
        while len(self.history) < self.iterations:
            equations = self.error.equations(self.z, self.now, self.weights)
            found = self._step(equations, cost, tight)
            self.history.append(cost if found is None else found)
            if self.progress is not None:
                self.progress(len(self.history), self.history[-1])
            if found is None:
                return
            gained, cost = cost - found, found
            if gained < tight * cost:
                return

    def _step(self, equations: Equations, cost: float, tight: float) -> float | None:
        """The cost after a step that was made; None where none is worth it."""
        while self.damping < MOST_DAMPING:
            H, g = equations.eliminated(self.damping)
            factor = self._factor(H)
            problem = Quadratic(self.own, self.gamma, *triangle(H, g, factor), np.sqrt(self.damping) * factor)
            z, promised = problem.minimum(self.z)
            promised += equations.promised(self.damping)
            if promised < 0.1 * tight * cost:
                return None
            first = equations.starts(z - self.z, self.damping)
            starts = self.starts.moved(self.error.robot, first) if first.size else self.starts
            ahead = self.error.simulated(z, starts)
            after = self.cost(z, ahead)
            if after < cost:
                good = cost - after > 0.25 * promised
                self.z, self.starts, self.now = z, starts, ahead
                self.damping = max(self.damping * (0.1 if good else 2.0), LEAST_DAMPING)
                return after
            self.damping *= 10.0
        self.damping = DAMPING
        return None

    def _factor(self, H: np.ndarray) -> np.ndarray:
        """F of the metric F^T F in which steps are measured: as much as the data tell on average of a body, and of each
        other unknown."""
        found, body = self.own.factor(self.z), TEN * len(self.own.bodies)
        if body:
            inside = np.linalg.solve(found[:body, :body].T, H[:body, :body])
            told = np.trace(np.linalg.solve(found[:body, :body].T, inside.T)) / body
            found[:body, :body] *= np.sqrt(max(told, np.finfo(float).tiny))
        others = np.arange(body, len(H))
        found[others, others] = np.sqrt(np.maximum(np.diag(H)[body:], np.finfo(float).tiny))
        return found

    def answer(self, notes: list[str], began: float) -> SimulationFit:
        error, own, z = self.error, self.own, self.z
        equations = error.equations(z, self.now, self.weights)
        H, g = equations.eliminated()
        R, _ = triangle(H, g, self._factor(H))
        counted, left = int(error.there.sum()), float(((self.weights * self.now.differences) ** 2).sum())
        covariance, rank = _known(R, np.sqrt(self.gamma) * own.factor(z))
        if self.given is None:
            covariance *= left / max(counted - rank - equations.g0.size, 1)
        slopes = own.slopes(z)
        covariance *= slopes * slopes[:, None]
        if len(self.history) >= self.iterations:
            notes.append(f"stopped after {self.iterations} iterations")
        bound = [label for label, at in zip(own.labels, z <= own.least, strict=True) if at]
        if bound:
            notes.append(f"at zero, and would be negative: {', '.join(bound)}")
        names, cuts = error.outputs, np.cumsum([x.shape[2] for x in error.segments.measured.values()])[:-1]
        there = error.there.sum(axis=(0, 1))
        rms = np.sqrt((self.now.differences**2).sum(axis=(0, 1)) / np.where(there, there, np.nan))
        inputs = own.inputs(z)
        model = own.model(z)
        return SimulationFit(
            robot=type(error.robot)(model),
            names=own.labels,
            values=own.numbers(z),
            deviations=np.sqrt(np.diag(covariance)),
            covariance=covariance,
            parameters=inputs.get("parameters", np.array(error.robot.parameters, float)),
            drives=own.drives(z),
            delay=own.seconds(z),
            payload=inputs.get("payload"),
            q0=self.starts.q,
            v0=self.starts.v,
            rank=rank,
            weights=dict(zip(names, np.split(self.weights, cuts), strict=True)),
            rms=dict(zip(names, np.split(rms, cuts), strict=True)),
            history=tuple(self.history),
            seconds=time.perf_counter() - began,
            notes=tuple(notes),
        )


def _given(error: OutputError, weight: Mapping[str, Any] | None) -> np.ndarray | None:
    if weight is None:
        return None
    parts = []
    for name, values in error.segments.measured.items():
        if name not in weight:
            raise LinkworkError("an output has no weight", where="weight", got=", ".join(weight), expected=name)
        parts.append(np.broadcast_to(np.asarray(weight[name], float), values.shape[2]))
    return np.concatenate(parts)


def _starts(error: OutputError) -> Starts:
    from ..control import Law

    memory = {}
    if error.controller is not None:
        law, count = Law(error.controller, error.robot.model), len(error.segments.q0)
        memory = {name: np.repeat(np.asarray(x, float)[None], count, axis=0) for name, x in law.memory.items()}
    return Starts(error.segments.q0, error.segments.v0, memory)


def _refuse(error: OutputError, residuals: Residuals) -> None:
    raise LinkworkError(
        "the simulation leaves the numbers from where the search begins", where="fit_simulation",
        got=f"{int((~np.isfinite(residuals.differences)).any(axis=(1, 2)).sum())} of {len(error.segments.q0)} segments",
        fix="a smaller dt, a shorter horizon, or a robot that is nearer to the one recorded",
    )  # fmt: skip


def _known(R: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, int]:
    """Covariance with data and prior, infinite where neither tells; and the number of directions of which the data tell
    more than the prior."""
    both = np.concatenate([R, prior])
    scale = 1 / np.maximum(np.linalg.norm(both, axis=0), np.finfo(float).tiny)
    _, sizes, ways = np.linalg.svd(both * scale)
    seen = sizes > 1e-13 * sizes[0]
    spread = (ways[seen].T / sizes[seen]) * scale[:, None]
    covariance = spread @ spread.T
    lost = np.abs(ways[~seen]).max(axis=0, initial=0.0) > 1e-6
    covariance[lost, lost] = np.inf
    shares = np.linalg.svd(R @ ((ways[seen].T / sizes[seen]) * scale[:, None]), compute_uv=False)
    return covariance, int((shares**2 > 0.5).sum())
