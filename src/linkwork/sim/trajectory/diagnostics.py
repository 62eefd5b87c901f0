"""Warnings about a computed motion: energy that does not balance, joints beyond their limits, deflections that are too
large, singular positions of loops, contacts that would not hold. Each is also a note of the trajectory."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...codegen.schemes import Rosenbrock
from ...constraints import ConstraintEquations
from ...constraints.equations import Way
from ...formulations.quantities import conditioning
from ...model import Model
from ...notes import Note
from ..contact.contact_report import ContactForces
from ..plant.randomisation import varied
from ..schemes.integrators import INTEGRATORS

ENERGIES = ("kinetic_energy", "potential_energy", "work")
SHARE = 0.05  # error of the energy balance, relative to the energy exchanged, that gets a warning with any method
FINE = 1e-3  # the same with a method of high order: a larger error means that the step is too long
HIGH = 4  # orders from which on a method is of high order
ROUNDING = 1e-9  # relative to the largest energy: a smaller error is rounding
UNDETERMINED = 1e-2  # conditioning of the velocities of a robot that rolls, below which it gets a warning
FLAT = 0.05  # rad between the axle of a wheel and the normal of its plane
SINGULAR = 0.03  # distance from singular positions relative to home, below which it gets a warning
LARGEST = 0.25  # deflection of a link, relative to its length, for which modes of small deflections hold
CONTACT_TIMES = 4096  # times that are checked for contacts, of all samples
BATCH_TIMES = 64  # times that are checked, of each sample of a batch
FEW = 2  # times that are checked for limits in short runs, to keep them fast
SPARED = 50  # in short runs, one time is checked for this many recorded ones
SINGLE_TIMES = 256  # times that are checked for limits, of a single motion
MOST = 2**18  # times that are checked for energy, of a single motion: a longer one is on disk, and stays there
BEYOND = 1e-9  # rad or m beyond a limit: less is rounding
CONTACT_CHECKS = ("lift off", "slip", "tip")


def diagnostics(
    model: Model,
    arrays: Mapping[str, Any],
    closeness: np.ndarray | None = None,
    contact_checks: Sequence[str] = CONTACT_CHECKS,
    method: str = "",
    dt: float = 0.0,
    geometry: Mapping[str, np.ndarray] = {},
) -> Iterator[Note]:
    """Yield warnings about a motion.

    Args:
        model: The robot.
        arrays: Recorded arrays, with an axis of samples first.
        closeness: Final value of this part of the state, of robots with loops.
        contact_checks: What to check of contacts that were held on the ground.
        method: Method, if all steps are equal.
        dt: Length of these steps.
        geometry: Numbers that vary on which loops and contacts depend, (samples or 1, ...), by name.
    """
    if not len(arrays["t"]) or len(arrays) == 1:  # stopped before the first record
        return
    samples = next(array.shape[0] for name, array in arrays.items() if name != "t")
    times = len(arrays["t"])
    columns = {name: np.moveaxis(x[:, None], (0, 1), (-2, -1)) for name, x in geometry.items()}
    samples_model = varied(model, columns)  # arrays (samples or 1, 1) in place of numbers
    flat = np.zeros(samples, bool)
    if "q" in arrays and (model.n_configuration > model.nv or model.has_modes):
        every = -(-times // (BATCH_TIMES if samples > 1 else SINGLE_TIMES))
        t, q = arrays["t"][::every], np.asarray(arrays["q"][:, ::every])
        yield from _deflections(model, t, q)
        if model.n_configuration > model.nv:
            flat = yield from _flat(samples_model, t, q)
            yield from _undetermined(samples_model, t, q)
    every = -(-times // (BATCH_TIMES if samples > 1 else MOST))
    seen = {name: x[::every] if name == "t" else x[:, ::every] for name, x in arrays.items()}
    yield from _energy(samples_model, seen, flat, method, dt)
    if model.soft_limits is None and "q" in arrays:
        every = -(-times // (min(BATCH_TIMES, max(FEW, times // SPARED)) if samples > 1 else SINGLE_TIMES))
        yield from _limits(model, arrays, slice((times - 1) % every, None, every))  # includes the last time
    if closeness is not None:
        yield from _singular(closeness)
    if "constraint_forces" in arrays:
        yield from _slips(model, arrays)
    if {"q", "contacts", "contact_forces"} <= arrays.keys():
        every = -(-times // CONTACT_TIMES)
        seen = {name: np.asarray(arrays[name][:, ::every]) for name in ("q", "contacts", "contact_forces")}
        yield from _contacts(samples_model, contact_checks, np.asarray(arrays["t"][::every]), **seen)


class Imbalance(NamedTuple):
    """Error of the energy balance of each sample.

    Attributes:
        off: The error in J.
        exchanged: Energy exchanged in J.
        share: The error relative to it.
        row: Index of the record after which the error grew most.
    """

    off: np.ndarray
    exchanged: np.ndarray
    share: np.ndarray
    row: np.ndarray

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Imbalance | None:
        """Return the error of the balance; None if energies are not recorded."""
        if not {*ENERGIES} <= arrays.keys():
            return None
        kinetic, potential, work = (np.asarray(arrays[name]) for name in ENERGIES)
        balance = kinetic + potential - work
        with np.errstate(invalid="ignore"):
            off = np.abs(balance - balance[:, :1]).max(axis=1, initial=0.0)
            exchanged = np.max([kinetic.max(axis=1), np.ptp(potential, axis=1), np.ptp(work, axis=1)], axis=0)
            noise = ROUNDING * np.max([np.abs(each).max(axis=1) for each in (kinetic, potential, work)], axis=0)
            share = np.where(off > noise, off / np.maximum(exchanged, 1e-300), 0.0)
            row = np.abs(np.diff(balance, axis=1, append=balance[:, -1:])).argmax(axis=1)
        return cls(off, exchanged, share, row)

    def text(self, k: int, t: np.ndarray) -> str:
        """Return the end of a sentence about the energy balance of sample k."""
        share = self.share[k]
        part = f"{share:.0%}" if share > 0.1 else f"{100 * share:.2g}%"
        return (
            f"off by {self.off[k]:.2g} J, {part} of the {self.exchanged[k]:.2g} J exchanged, most of it about"
            f" t = {t[self.row[k]]:g} s"
        )


def unbalanced(model: Model, arrays: Mapping[str, Any]) -> str:
    """Return the end of a sentence about the energy balance of a single motion; empty if it is good enough.

    It is also empty if shorter steps would not improve it.
    """
    imbalance = Imbalance.of(arrays)
    if imbalance is None or not imbalance.share[0] > FINE:
        return ""
    if model.n_configuration > model.nv and any(_flat(model, arrays["t"], np.asarray(arrays["q"]))):
        return ""
    return imbalance.text(0, arrays["t"])


def _energy(model: Model, arrays: Mapping[str, Any], excluded: np.ndarray, method: str, dt: float) -> Iterator[Note]:
    """Warn about the energy balance, but not of excluded samples, which got another warning."""
    imbalance, integrator = Imbalance.of(arrays), INTEGRATORS.get(method)
    # Methods that damp modes which are too fast for the step have less accurate work.
    accurate = integrator and integrator.order >= HIGH and not isinstance(integrator.scheme, Rosenbrock)
    limit = FINE if accurate else SHARE
    if imbalance is None or not (bad := (imbalance.share > limit) & ~excluded).any():
        return
    k = int(np.nanargmax(np.where(bad, imbalance.share, 0.0)))
    share, fix = imbalance.share[k], "use a smaller dt, or another method"
    if integrator and np.isfinite(share):
        shorter = dt * (0.5 * limit / share) ** (1 / integrator.order)
        fix = f"use dt = {_rounded_down(max(shorter, 0.01 * dt)):g} s or less, or another method"
    trust = " the motion is not reliable;" if share > SHARE else ""
    where = f"{_samples_text(bad, k)}{_conditioning_text(model, arrays, k)}"
    text = f"the energy balance is {imbalance.text(k, arrays['t'])}{where}:{trust}"
    yield _warning("energy-balance", text, fix, sample=k, off=float(imbalance.off[k]), share=float(share))


def _conditioning_text(model: Model, arrays: Mapping[str, Any], sample: int) -> str:
    """Time at which the loops of a sample are least determined by the independent joints."""
    if not model.constrained or "q" not in arrays:
        return ""
    every = -(-len(arrays["t"]) // SINGLE_TIMES)
    q = np.asarray(arrays["q"][sample, ::every])
    with np.errstate(all="ignore"):
        well = np.broadcast_to(conditioning(model, list(q.T)), (len(arrays["q"]), len(q)))[sample]
    k = int(np.nanargmin(np.where(np.isfinite(q).all(axis=1) & np.isnan(well), 0.0, well)))
    return f" (conditioning of the loops down to {well[k]:.1g}, at t = {arrays['t'][k * every]:g} s)"


def _rounded_down(x: float) -> float:
    """Round down to one digit."""
    unit = 10.0 ** np.floor(np.log10(x))
    return float(np.floor(x / unit) * unit)


def _contacts(
    model: Model, which: Sequence[str], t: np.ndarray, q: np.ndarray, contacts: np.ndarray, contact_forces: np.ndarray
) -> Iterator[Note]:
    """Warn of contacts that would not have stayed where they were held."""
    loads, on = ContactForces.of(model, q, contact_forces=contact_forces), contacts > 0
    checks = {"lift off": loads.lifts, "slip": loads.slips, "tip": loads.tips}
    for what in which:
        bad = checks[what] & on
        for k in np.flatnonzero(bad.any(axis=(0, 1))):
            contact, sample = model.switched[k], int(bad[..., k].any(axis=1).argmax())
            at = int(bad[sample, :, k].argmax())
            reasons = {
                "lift off": f"the ground would have to pull with {-loads.normal[sample, at, k]:.3g} N",
                "slip": f"it needs friction {loads.needed[sample, at, k]:.3g}, and has {contact.kind.friction:g}",
                "tip": "its centre of pressure is outside the sole",
            }
            text = f"{contact.kind.word} {contact.name} would {what} at t = {t[at]:g} s: {reasons[what]}"
            where = _samples_text(bad[..., k].any(axis=1), sample)
            yield _warning(f"contact-{what.replace(' ', '-')}", text + where, sample=sample, t=float(t[at]))


def _limits(model: Model, arrays: Mapping[str, Any], checked: slice) -> Iterator[Note]:
    """Warn of joints beyond their limits at the checked times."""
    bounded, lower, upper = _bounds(model)
    if not len(bounded):
        return
    q = np.asarray(arrays["q"][:, checked])
    columns = q.reshape(-1, q.shape[-1]).T[bounded]  # comparing long rows is much faster
    with np.errstate(invalid="ignore"):
        beyond = np.maximum(lower - columns, columns - upper)
    worst = beyond.argmax()
    if np.isnan(beyond.flat[worst]):  # diverged samples
        beyond[np.isnan(beyond)] = -np.inf
        worst = beyond.argmax()
    if beyond.flat[worst] > BEYOND:
        k, place = divmod(int(worst), beyond.shape[1])
        sample = place // q.shape[1]
        out = beyond > BEYOND
        names = [model.coordinates.names[j] for j in bounded]
        joints = [name for name, any_ in zip(names, out.any(axis=1), strict=True) if any_]
        bad = out.any(axis=0).reshape(q.shape[:2]).any(axis=1)
        every = -(-len(arrays["t"]) // MOST)
        positions = np.asarray(arrays["q"][sample, ::every, bounded[k]])  # of the worst joint, at all times
        excess = np.fmax(lower[k] - positions, positions - upper[k])
        start = arrays["t"][every * int((excess > BEYOND).argmax())]
        largest = float(np.fmax.reduce(excess))
        yield _warning(
            "limits-left",
            f"joint limits are off, and {', '.join(joints[:6])}{', ...' if len(joints) > 6 else ''}"
            f" {'go beyond theirs' if len(joints) > 1 else 'goes beyond its own'}:"
            f" {names[k]} by up to {largest:.2g}, from t = {start:g} s on{_samples_text(bad, sample)};",
            "limits=linkwork.SoftLimits(...) switches them on",
            "--limits STIFFNESS switches them on",
            sample=sample, t=float(start), beyond=largest,
        )  # fmt: skip


def _deflections(model: Model, t: np.ndarray, q: np.ndarray) -> Iterator[Note]:
    """Warn of links that deflect too far for the model of small deflections."""
    for joint in (body.joint for body in model.bodies if body.joint.kind.modes and not body.joint.leader):
        share = joint.kind.deflection(q[..., model.coordinates.places([joint.name])])
        if (bad := share > LARGEST).any():
            sample, at = np.unravel_index(int(np.nanargmax(share)), share.shape)
            yield _warning(
                "small-deflections-left",
                f"the tip of {joint.name} deflects by up to {share[sample, at]:.0%} of its length, at t = {t[at]:g} s"
                f"{_samples_text(bad.any(axis=1), int(sample))}: its modes are valid for small deflections;",
                "use a chain of short bodies (linkwork.library.lumped_beam) for large ones",
                sample=int(sample), t=float(t[at]), share=float(share[sample, at]),
            )  # fmt: skip


_BOUNDS: WeakKeyDictionary[Model, tuple[np.ndarray, np.ndarray, np.ndarray]] = WeakKeyDictionary()


def _bounds(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of the entries of q with limits, and the limits as columns."""
    if model not in _BOUNDS:
        lower, upper = model.coordinates.lower, model.coordinates.upper
        bounded = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))
        _BOUNDS[model] = bounded, lower[bounded, None], upper[bounded, None]
    return _BOUNDS[model]


def _singular(closeness: np.ndarray) -> Iterator[Note]:
    """Warn of singular positions, from the closeness of each sample and its time."""
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = 1 / np.sqrt(closeness[:, 0])
    if (bad := distance < SINGULAR).any():
        k = int(np.nanargmin(distance))
        yield _warning(
            "singular",
            f"the loops come close to a singular position, at t = {closeness[k, 1]:g} s to {distance[k]:.1e} of the"
            f" distance at home{_samples_text(bad, k)}: the motion after it is not unique",
            sample=k, t=float(closeness[k, 1]), distance=float(distance[k]),
        )  # fmt: skip


def _flat(model: Model, t: np.ndarray, q: np.ndarray) -> Generator[Note, None, np.ndarray]:
    """Warn of wheels that have fallen over, which have no lowest point; return the samples with such a wheel."""
    fallen = np.zeros(len(q), bool)
    with np.errstate(all="ignore"):
        ways = ConstraintEquations.at(model, list(np.moveaxis(q, -1, 0))).ways()
        for loop, way in zip(model.permanent, ways, strict=True):
            if isinstance(way, Way) and (axle := loop.kind.lean(way.end)):
                bad = np.broadcast_to(np.hypot(*axle) < FLAT, q.shape[:-1])
                if bad.any():
                    k = int(bad.any(axis=1).argmax())
                    start = float(t[int(bad[k].argmax())])
                    yield _warning(
                        "lies-flat",
                        f"{loop.kind.name} {loop.name} lies flat at t = {start:g} s"
                        f"{_samples_text(bad.any(axis=1), k)}: it cannot roll on, and the motion after it is invalid",
                        sample=k, t=start,
                    )  # fmt: skip
                fallen |= bad.any(axis=1)
    return fallen


def _undetermined(model: Model, t: np.ndarray, q: np.ndarray) -> Iterator[Note]:
    """Warn of a robot that rolls where axles are parallel or meet in a point: its velocities are not determined."""
    with np.errstate(all="ignore"):
        well = np.broadcast_to(conditioning(model, list(np.moveaxis(q, -1, 0))), q.shape[:-1])
    well = np.where(np.isnan(well) & np.isfinite(q).all(axis=-1), 0.0, well)  # exactly singular
    if (bad := well < UNDETERMINED).any():
        sample, at = np.unravel_index(int(np.nanargmin(well)), well.shape)
        names = ", ".join(model.coordinates.of_freedoms(model.mobility.independent).names)
        yield _warning(
            "undetermined-velocities",
            f"velocities of {names} hardly determine the others at t = {t[at]:g} s (conditioning"
            f" {well[sample, at]:.1g}){_samples_text(bad.any(axis=1), int(sample))}: axles are nearly parallel there,"
            " or meet in a point, and forces that control these joints become large",
            sample=int(sample), t=float(t[at]), conditioning=float(well[sample, at]),
        )  # fmt: skip


def _slips(model: Model, arrays: Mapping[str, Any]) -> Iterator[Note]:
    """Warn of rolling contacts that would not hold, with details of the worst one."""
    every = -(-len(arrays["t"]) // MOST)
    loads = ContactForces.of(model, constraint_forces=arrays["constraint_forces"][:, ::every])
    ratio = np.full(loads.normal.shape, np.inf)  # friction needed by friction available
    np.divide(loads.needed, loads.friction, out=ratio, where=loads.slips & (loads.friction > 0))
    for what, happens, size in (("lift off", loads.lifts, -loads.normal), ("slip", loads.slips, ratio)):
        if not happens.any():
            continue
        names = [name for k, name in enumerate(loads.names) if happens[..., k].any()]
        sample, at, k = np.unravel_index(int(np.argmax(np.where(happens, size, -1.0))), happens.shape)
        start = arrays["t"][every * int(happens[sample, :, k].argmax())]
        reason = f"needs friction {loads.needed[sample, at, k]:.2g} and has {loads.friction[k]:g}"
        if what == "lift off":
            reason = f"would be pulled by {-loads.normal[sample, at, k]:.3g} N"
        yield _warning(
            f"contact-{what.replace(' ', '-')}",
            f"{', '.join(names)} would {what}: {loads.names[k]} {reason}, from t = {start:g} s on"
            f"{_samples_text(happens.any(axis=(1, 2)), int(sample))}; in this motion it continues to roll",
            sample=int(sample), t=float(start),
        )  # fmt: skip


def _warning(code: str, text: str, fix: str = "", command_fix: str = "", **values: float) -> Note:
    return Note(code, text, fix, command_fix, "warning", values)


def _samples_text(bad: Any, k: int) -> str:
    return "" if len(bad) == 1 else f" (sample {k}; {int(bad.sum())} of {len(bad)} samples)"
