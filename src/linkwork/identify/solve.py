"""From recordings to a Fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import IdentificationWarning, LinkworkError, UnknownNameError
from ..model import pseudo_inertia, unphysical
from .consistent import GAMMAS, Prior, consistent, path
from .equations import HELD, Information, Progress, collect
from .excited import unseen_in_words
from .fit import Fit, Values, fastest_of
from .instruments import instruments_of
from .least_squares import Solution, irls, iv, ols, wls
from .log import Log
from .nearest import nearest
from .suspicions import force_names, suspicions
from .unknowns import FRICTION, TEN, Friction, Unknowns, payload_of, unknowns_of
from .width import width_of

if TYPE_CHECKING:
    from ..robot import Robot

EXACT = 1e-6  # of the size of a force: no measurement is better, and the prior's term would drown in rounding
NEARLY = 1e-3  # of the least error of held-out data: a stronger pull may cost as much
METHODS = ("consistent", "wls", "ols", "irls", "iv", "simulation")


def identify(
    robot: Robot,
    logs: Log | Sequence[Log],
    method: str = "consistent",
    *,
    friction: Friction = FRICTION,
    inertias: bool = True,
    rotors: bool = True,
    springs: bool = False,
    width: float | None = None,
    payload: str | None = None,
    prior: Robot | None = None,
    gamma: float | None = None,
    held_out: Log | Sequence[Log] = (),
    controller: Any = None,
    gains: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> Fit:
    """See ``Robot.identify``."""
    if method not in METHODS:
        raise UnknownNameError("method of identification", method, METHODS)
    given, others = _listed(logs), _listed(held_out)
    if not given:
        raise LinkworkError("there are no recordings", where="identify", fix="give a Log, or a list of them")
    frames = tuple(given[0].wrenches)
    notes: list[str] = []
    if payload is None:
        asked = {"inertias": inertias, "rotors": rotors, "springs": springs, "prior": prior, "frames": frames}
        unknowns = unknowns_of(robot, friction, width=width or 0.0, **asked)
        own = [log.for_robot(unknowns.robot) for log in given]
        if width is None and (found := width_of(unknowns, own)):
            unknowns = unknowns_of(robot, friction, width=found, **asked)
            notes.append(f"friction goes smoothly through zero within {found:g} rad/s (m/s): chosen on spans held out")
    else:
        unknowns = payload_of(robot, payload, frames)
        own = [log.for_robot(unknowns.robot) for log in given]
    information = collect(unknowns, own, progress)
    _require_enough(unknowns, information)
    held = collect(unknowns, [log.for_robot(unknowns.robot) for log in others]) if others else None
    data = _Data(unknowns, given, own, information, held)
    notes = [*(f"recording {k}: {note}" for k, log in enumerate(own, 1) for note in log.notes), *notes]
    doubts = list(suspicions(unknowns, own))
    found = _found(data, method, gamma, controller, gains, progress)
    unseen = unseen_in_words(unknowns, own, found.solution.unseen)
    if unseen:
        doubts.append(f"the data do not tell all parameters; these stay as they were before: {'; '.join(unseen)}")
    for text in doubts:
        warnings.warn(text, IdentificationWarning, stacklevel=3)
    return _fit(data, found, method, unseen, (*notes, *found.notes, *doubts), doubts)


@dataclass(frozen=True, eq=False)
class _Data:
    unknowns: Unknowns
    given: list[Log]
    logs: list[Log]  # in the robot's order
    information: Information
    held: Information | None


@dataclass(frozen=True, eq=False)
class _Found:
    """``spread``: covariance of the standard parameters."""

    solution: Solution
    theta: np.ndarray
    spread: np.ndarray
    gamma: float | None = None
    pull: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()


def _found(
    data: _Data, method: str, gamma: float | None, controller: Any, gains: Mapping[str, Any] | None, progress: Progress
) -> _Found:
    unknowns, information = data.unknowns, data.information
    before = unknowns.base_prior
    first = wls(information, before)
    prior = Prior.of(unknowns, _typical(unknowns, first.x))
    if method == "consistent":
        return _consistent(data, first, prior, gamma)
    if method == "ols":
        found = ols(information, before)
    elif method == "irls":
        found = irls(unknowns, data.logs, information, progress)
    elif method == "iv":

        def changed(x: np.ndarray) -> Robot:
            return unknowns.changed(dict(zip(unknowns.standard, nearest(unknowns, prior, x)[0], strict=True)))

        motions = instruments_of(unknowns, data.given, changed, controller, gains)
        found = iv(unknowns, data.logs, information, motions, progress)
    else:
        found = first
    theta, slope = nearest(unknowns, prior, found.x)
    iterations = (f"{method}: {found.iterations} iterations",) if found.iterations > 1 else ()
    return _Found(found, theta, slope @ found.covariance @ slope.T, notes=iterations)


def _consistent(data: _Data, first: Solution, prior: Prior, gamma: float | None) -> _Found:
    """Forces in deviations of plain least squares; the pull is the strongest one that predicts held-out data as well as
    the best does, within the spread of the folds."""
    unknowns, information = data.unknowns, data.information
    size = np.sqrt(information.power.sum(axis=0) / np.maximum(information.count.sum(axis=0), 1))
    weights = np.sqrt(information.thin) / np.maximum(first.sigma, EXACT * size)
    K = unknowns.matrix
    notes: tuple[str, ...] = ()
    if gamma is None:
        gamma, text = _chosen(data, prior, weights)
        notes = (text,)
    T = information.triangle(weights)
    found = consistent(T, prior, gamma)
    spread = found.covariance

    def refit(folds: Sequence[int]) -> np.ndarray:
        return K @ consistent(information.without(folds).triangle(weights), prior, gamma, found.theta).theta

    x = K @ found.theta
    solution = replace(first, x=x, sigma=_sigma(information, x), refit=refit)  # deviations are those of the data alone
    pull = {
        name: _divergence(found.theta[at : at + TEN], inverse)
        for (name, at), inverse in zip(unknowns.bodies, prior.P0_inverse, strict=True)
    }
    notes = (*notes, f"consistent: {found.iterations} steps of Newton's, weight of the prior {gamma:g}")
    return _Found(solution, found.theta, spread, gamma, pull, notes)


def _chosen(data: _Data, prior: Prior, weights: np.ndarray) -> tuple[float, str]:
    """Goes from strong pull to weak until the error of held-out data has grown twice."""
    information, K = data.information, data.unknowns.matrix
    if data.held is not None:
        pairs, what = [(information, data.held)], "recordings held out"
    else:
        pairs = [(information.without(folds), information.only(folds)) for folds in HELD]
        what = f"each of {len(HELD)} spans held out"
    paths = zip(*(path(fitted.triangle(weights), prior) for fitted, _ in pairs), strict=True)
    squares: list[list[float]] = []
    for found in paths:
        squares.append(
            [float(held.squares(K @ x.theta) @ weights**2) for x, (_, held) in zip(found, pairs, strict=True)]
        )
        mean = np.mean(squares, axis=1)
        if len(mean) > mean.argmin() + 2:
            break
    rows = np.array(squares)
    mean, best = rows.mean(axis=1), int(rows.mean(axis=1).argmin())
    spread = (rows - rows[best]).std(axis=1, ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else 0.0
    near = mean <= mean[best] + np.maximum(spread, NEARLY * mean[best])
    k = int(np.flatnonzero(near)[0])
    error = np.sqrt(rows[k].sum() / sum(held.count.sum() for _, held in pairs))
    return GAMMAS[k], f"weight of the prior, {GAMMAS[k]:g}, chosen on {what}: their error is {error:.3g} deviations"


def _fit(
    data: _Data, found: _Found, method: str, unseen: Sequence[str], notes: Sequence[str], doubts: Sequence[str]
) -> Fit:
    unknowns, information, solution = data.unknowns, data.information, found.solution
    robot = unknowns.changed(dict(zip(unknowns.standard, found.theta.tolist(), strict=True)))
    left = sum(information.only(folds).squares(solution.refit(folds)) for folds in HELD)
    size = np.maximum(information.power.sum(axis=0), np.finfo(float).tiny)
    errors = {"fitted": information.error(solution.x), "held out": np.sqrt(left / size)}
    if data.held is not None:
        errors["held out"] = data.held.error(solution.x)
    hidden = np.abs(solution.unseen).max(axis=1, initial=0.0) > 0
    base = Values(
        unknowns.names, solution.x, solution.deviations, unknowns.base_prior,
        tuple("untold" if each else "alone" for each in hidden),
    )  # fmt: skip
    told = _told(unknowns.matrix, hidden)
    deviations = np.sqrt(np.maximum(np.diag(found.spread), 0.0))
    for k in (k for k, word in enumerate(told) if word == "alone"):
        row = int(np.flatnonzero(unknowns.matrix[:, k])[0])
        deviations[k] = solution.deviations[row] / abs(unknowns.matrix[row, k])
    standard = Values(unknowns.standard, found.theta, deviations, unknowns.prior, tuple(told))
    return Fit(
        robot=robot,
        method=method,
        base=base,
        standard=standard,
        forces=force_names(unknowns),
        errors=errors,
        sigma=solution.sigma,
        covariance=solution.covariance,
        condition=solution.condition,
        unseen=tuple(unseen),
        physical=_physical(unknowns, found.theta),
        fastest=np.max([fastest_of(log.v) for log in data.logs], axis=0),
        unknowns=unknowns,
        logs=tuple(data.given),
        gamma=found.gamma,
        pull=found.pull or {},
        notes=tuple(notes),
        doubts=tuple(doubts),
    )


def _listed(logs: Log | Sequence[Log]) -> list[Log]:
    return [logs] if isinstance(logs, Log) else list(logs)


def _require_enough(unknowns: Unknowns, information: Information) -> None:
    count = int(information.count.sum())
    if count < len(unknowns):
        forces = information.R.shape[1]
        raise LinkworkError(
            "too few samples",
            where="identify",
            got=f"{count // max(forces, 1)} of {forces} forces, {count} equations, after cutting and decimation",
            expected=f"more than {len(unknowns)} equations, better a hundred times as many: so many are unknown",
            fix="record longer, decimate less, or ask for less",
        )


def _typical(unknowns: Unknowns, x: np.ndarray) -> np.ndarray:
    """Sizes of the standard parameters, from the base parameters that hold them; one where nothing tells."""
    sizes = np.abs(np.linalg.lstsq(unknowns.matrix, x, rcond=1e-10)[0])
    typical = np.median(sizes[list(unknowns.positive)]) if unknowns.positive else 1.0
    return np.maximum(sizes, 1e-3 * typical if typical > 0 else 1e-3)


def _told(K: np.ndarray, hidden: np.ndarray) -> list[str]:
    """Of each standard parameter: by itself, with others only, or not at all."""
    words = []
    for column in K.T:
        rows = np.flatnonzero(column)
        alone = len(rows) == 1 and np.count_nonzero(K[rows[0]]) == 1
        seen = len(rows) and not hidden[rows].all()
        words.append("untold" if not seen else "alone" if alone else "grouped")
    return words


def _sigma(information: Information, x: np.ndarray) -> np.ndarray:
    return np.sqrt(information.squares(x) / np.maximum(information.count.sum(axis=0), 1.0))


def _divergence(ten: np.ndarray, inverse: np.ndarray) -> float:
    """Of a body from its prior: zero if they are equal."""
    turned = inverse @ pseudo_inertia(ten)
    return float(np.trace(turned) - np.linalg.slogdet(turned)[1] - 4.0)


def _physical(unknowns: Unknowns, theta: np.ndarray) -> dict[str, str]:
    return {name: unphysical(theta[at : at + TEN]) for name, at in unknowns.bodies}
