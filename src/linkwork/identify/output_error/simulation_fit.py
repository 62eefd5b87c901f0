"""Fits by simulation: for what joint forces are not linear in, and for recordings without accelerations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError
from ...options import one_of_names, positive
from ...sim.plant.inputs import is_law
from ...sim.schemes import stability
from ...sim.schemes.integrators import schemes
from .damped_search import Search
from .quadratic import Directions
from .rollout_error import OutputError
from .search_variables import searched
from .segments import cut

if TYPE_CHECKING:
    from ...robot import Robot

CLOSED, OPEN = 0.5, 0.1  # seconds of a segment, with a controller in the loop and without
LEAD = 0.05  # seconds of a command that may act so much later


@dataclass(frozen=True, eq=False)
class SimulationFit:
    """``robot``: with the numbers found. ``values``, ``deviations`` (standard ones) and ``covariance`` of the unknowns
    by ``names``; the prior counts as knowledge in them, so that what the data do not tell has the width of the prior.

    ``parameters`` (bodies, 10) as ``Robot.parameters``, ``drives``: joint -> name -> value, ``delay`` in seconds,
    ``payload`` (10,) or None. ``q0``, ``v0``: where segments begin. ``rank``: of how many directions of the unknowns
    the data tell more than the prior. ``weights`` and ``rms``: output -> weight of each entry, and what is left of it.
    ``history``: cost after each iteration, with the prior's part; weights may change between them.
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
    with a ``controller`` and its ``gains``, the ``reference`` it followed, and then tau is one more output.
    ``unknowns``: "inertial", "payload", "rotor_inertia", "viscous", "coulomb", "offset", "stribeck",
    "stribeck_velocity", "friction_width", "stiffness", "delay" (of the torques, or of the reference), each for all
    links or joints that have it; or a dict, name -> links, joints, or for a payload its frame.

    The recording is cut into segments of ``horizon`` seconds (0.5, or 0.1 without a controller), each from the state
    measured there, which is searched for as well if ``initial`` is True (not where loops are closed). ``outputs``:
    which of q, v, tau are compared; all that were measured, if not said; NaN counts as not measured. ``weight``: output
    -> 1 / standard deviation, a number or one of each entry; if not said they come from what is left. ``dt``: step of
    ``method``, the recording's period if not said. ``gamma``: how strongly bodies are drawn to those of ``prior`` (the
    robot itself): a relative deviation of 1 / sqrt(gamma). ``progress``: a function of iteration and cost.
    """
    began = time.perf_counter()
    logs = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if controller is not None and not is_law(controller):
        raise LinkworkError("this is not a controller", where="controller", got=repr(controller)[:80])
    one_of_names("method with steps of its own", method, schemes(), where="method")
    for name, value in (("horizon", horizon), ("dt", dt), ("gamma", gamma)):
        if value is not None:
            positive(value, name)
    closed = controller is not None
    own = searched(robot, unknowns, prior, friction_width)
    lead = LEAD if own.delay else 0.0
    segments = cut(robot, logs, closed, horizon or (CLOSED if closed else OPEN), dt, outputs, lead)
    options = {"method": method, "friction_width": friction_width, **({"gains": gains} if gains else {})}
    notes = list(segments.notes)
    if initial and robot.model.constrained:
        initial = False
        notes.append("loops are closed: segments start where they were measured")
    error = OutputError(own, segments, controller, options, initial)
    search = Search(error, gamma, _given(error, weight), iterations, progress)
    notes += filter(None, [stability.warning(search.now.run.tape.setup, method, segments.dt)])
    search.run()
    return _answer(search, notes, began)


def _answer(search: Search, notes: list[str], began: float) -> SimulationFit:
    error, own, z = search.error, search.own, search.z
    equations = error.equations(z, search.now, search.weights)
    H, g = equations.eliminated()
    R = Directions.of(H, g, search.factor(H)).factor
    counted, left = int(error.there.sum()), float(((search.weights * search.now.differences) ** 2).sum())
    covariance, rank = _known(R, np.sqrt(search.gamma) * own.factor(z))
    if search.given is None:
        covariance *= left / max(counted - rank - equations.g0.size, 1)
    slopes = own.slopes(z)
    covariance *= slopes * slopes[:, None]
    if len(search.history) >= search.iterations:
        notes.append(f"stopped after {search.iterations} iterations")
    bound = [label for label, at in zip(own.labels, z <= own.least, strict=True) if at]
    if bound:
        notes.append(f"at zero, and would be negative: {', '.join(bound)}")
    names, cuts = error.outputs, np.cumsum([x.shape[2] for x in error.segments.measured.values()])[:-1]
    there = error.there.sum(axis=(0, 1))
    rms = np.sqrt((search.now.differences**2).sum(axis=(0, 1)) / np.where(there, there, np.nan))
    inputs = own.inputs(z)
    model = own.model(z)
    return SimulationFit(
        robot=error.robot.with_model(model),
        names=own.labels,
        values=own.numbers(z),
        deviations=np.sqrt(np.diag(covariance)),
        covariance=covariance,
        parameters=inputs.get("parameters", np.array(error.robot.parameters, float)),
        drives=own.drives(z),
        delay=own.seconds(z),
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


def _given(error: OutputError, weight: Mapping[str, Any] | None) -> np.ndarray | None:
    if weight is None:
        return None
    parts = []
    for name, values in error.segments.measured.items():
        if name not in weight:
            raise LinkworkError("an output has no weight", where="weight", got=", ".join(weight), expected=name)
        parts.append(np.broadcast_to(np.asarray(weight[name], float), values.shape[2]))
    return np.concatenate(parts)


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
