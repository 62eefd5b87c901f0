"""From recordings to a Fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import IdentificationWarning, LinkworkError, UnknownNameError
from ..formulations import drives_of
from ..model.drive_checks import check_values
from .answer import Data, Found, fit_of
from .convex.consistent_fit import consistent_fit, typical
from .convex.entropic_prior import Prior
from .convex.nearest_parameters import nearest
from .fit import Fit
from .logs.log import Log
from .output_error.by_simulation import by_simulation, searched_names
from .regression.friction_at_rest import limits_of, squares_of
from .regression.friction_smoothing import width_of
from .regression.instruments import instruments_of
from .regression.least_squares import irls, iv, ols, wls
from .regression.log_warnings import suspicions
from .regression.noise_floor import noise_doubts
from .regression.stacked_regressor import Progress, collect, frames_of, require_enough
from .regression.unidentifiable import unseen_in_words
from .regression.unknowns import Friction, payload_of, unknowns_of

if TYPE_CHECKING:
    from ..robot import Robot

METHODS = ("consistent", "wls", "ols", "irls", "iv", "simulation")


def identify(
    robot: Robot,
    logs: Log | Sequence[Log],
    method: str,
    *,
    friction: Friction,
    inertias: bool,
    rotors: bool,
    springs: bool,
    width: float | None,
    payload: str | None,
    prior: Robot | None,
    gamma: float | None,
    held_out: Log | Sequence[Log],
    controller: Any,
    gains: Mapping[str, Any] | None,
    simulation: Mapping[str, Any] | None,
    progress: Progress,
) -> Fit:
    """``Robot.identify``, which has the defaults."""
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownNameError("method of identification", method, METHODS)
    given, others = _listed(logs, "logs"), _listed(held_out, "held_out")
    if not given:
        raise LinkworkError("there are no recordings", where="identify", fix="give a Log, or a list of them")
    _check(robot, prior, gamma, width)
    for name, value, users in (
        ("controller", controller, ("iv", "simulation")),
        ("simulation", simulation, ("simulation",)),
    ):
        if value is not None and method not in users:
            fix = f"method={' or '.join(map(repr, users))}"
            raise LinkworkError("this method does not use it", where=name, got=f"method={method!r}", fix=fix)
    frames = frames_of([*given, *others])
    if method == "simulation":
        asked = searched_names(friction, inertias, rotors, springs, payload)
        options = {"controller": controller, "gains": gains, "prior": prior, **(simulation or {})}
        options |= {"friction_width": width} if width is not None else {}
        data, found = by_simulation(robot, given, others, asked, gamma, options, progress)
        return _answer(data, found, method, [])
    notes: list[str] = []
    if payload is None:
        flags = {"inertias": inertias, "rotors": rotors, "springs": springs, "prior": prior, "frames": frames}
        unknowns = unknowns_of(robot, friction, width=width or 0.0, **flags)
        own = [log.for_robot(unknowns.robot) for log in given]
        if width is None and (smooth := width_of(unknowns, own)):
            unknowns = unknowns_of(robot, friction, width=smooth, **flags)
            notes.append(f"friction goes smoothly through zero within {smooth:g} rad/s (m/s): chosen on spans held out")
    else:
        unknowns = payload_of(robot, payload, frames)
        own = [log.for_robot(unknowns.robot) for log in given]
    information = collect(unknowns, own, progress)
    require_enough(information, len(unknowns), "identify")
    held = collect(unknowns, [log.for_robot(unknowns.robot) for log in others]) if others else None
    data = Data(unknowns, given, own, information, held)
    return _answer(data, _found(data, method, gamma, controller, gains, progress), method, notes)


def _answer(data: Data, found: Found, method: str, notes: Sequence[str]) -> Fit:
    """With what is to be said."""
    bears_noise = method in ("iv", "simulation")  # of accelerations
    noise = None if bears_noise else data.noise
    noisy = noise_doubts(data.unknowns, data.logs, data.information, noise, found.solution.x)
    doubts = [*suspicions(data.unknowns, data.logs, found.solution.x, bears_noise), *noisy, *found.doubts]
    unseen, never = unseen_in_words(data.unknowns, data.logs, found.solution.unseen)
    if unseen:
        moved = found.solution.unseen.T @ (found.solution.x - data.unknowns.base_prior)
        anywhere = found.simulation is not None and not np.allclose(moved, 0.0)
        kept = "the search left some of these anywhere" if anywhere else "these stay as they were before"
        doubts.append(f"the data do not tell all parameters; {kept}: {'; '.join(unseen)}")
    robot = found.robot(data.unknowns)
    squares = squares_of(data.unknowns, robot.model, found.solution.x, data.logs, data.fastest)
    if squares and (doubt := squares.doubt(data.unknowns.forces, limits_of(robot.model))):
        doubts.append(f"{doubt}; log.without_standstill(), on the command line the default, leaves it out of the fit")
    for text in doubts:
        warnings.warn(text, IdentificationWarning, stacklevel=4)
    told = [f"recording {k}: {note}" for k, log in enumerate(data.logs, 1) for note in log.notes]
    impossible = [f"{each.where}: {each.message}; robot files refuse it, method 'consistent' avoids it"
                  for drive in drives_of(robot.model) for each in check_values(drive.name, drive)]  # fmt: skip
    said = [*unseen, *never], (*told, *notes, *found.notes, *impossible, *doubts), doubts
    return fit_of(data, found, robot, method, squares, *said)


def _found(
    data: Data, method: str, gamma: float | None, controller: Any, gains: Mapping[str, Any] | None, progress: Progress
) -> Found:
    unknowns, information = data.unknowns, data.excited
    before = unknowns.base_prior
    first = wls(information, before)
    own = unknowns.prior.any()  # of a load, nothing is thought before
    thought = unknowns.prior if own else np.linalg.lstsq(unknowns.matrix, first.x, rcond=None)[0]
    prior = Prior.of(unknowns, thought, typical(unknowns, first.x))
    if method == "consistent":
        return consistent_fit(data, first, prior, gamma)
    if method == "ols":
        found = ols(information, before)
    elif method == "irls":
        found = irls(unknowns, data.logs, information, data.noise, progress)
    elif method == "iv":

        def changed(x: np.ndarray) -> Robot:
            return unknowns.changed(dict(zip(unknowns.standard, nearest(unknowns, prior, x)[0], strict=True)))

        motions = instruments_of(unknowns, data.given, changed, controller, gains)
        found = iv(unknowns, data.logs, information, motions, data.noise, progress)
    else:
        found = first
    theta, slope = nearest(unknowns, prior, found.x)
    iterations = (f"{method}: {found.iterations} iterations",) if found.iterations > 1 else ()
    return Found(found, theta, slope @ found.covariance @ slope.T, notes=iterations)


def _listed(logs: Log | Sequence[Log], where: str) -> list[Log]:
    found: list[Any] = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if wrong := [each for each in found if not isinstance(each, Log)]:
        fix = "linkwork.identify.Log.read(path), Log(t=, q=, tau=)"
        raise LinkworkError("this is no recording", where=where, got=repr(wrong[0])[:80], expected="a Log", fix=fix)
    return found


def _check(robot: Robot, prior: Any, gamma: Any, width: Any) -> None:
    if prior is not None and not isinstance(prior, type(robot)):
        raise LinkworkError("the prior is a robot", where="prior", got=repr(prior)[:80], fix="linkwork.load(...)")
    for name, value, least in (("gamma", gamma, np.finfo(float).tiny), ("width", width, 0.0)):
        if value is not None and not (isinstance(value, (int, float, np.number)) and least <= value < np.inf):
            expected = f"a number, {'zero or more' if least == 0 else 'positive'}, or None: it is chosen"
            raise LinkworkError("out of range", where=name, got=repr(value)[:80], expected=expected)
