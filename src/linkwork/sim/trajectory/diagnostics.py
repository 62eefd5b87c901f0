"""What casts doubt on a motion that has been computed: energy that does not balance, joints beyond their limits, modes
beyond their model, singular positions of closed loops. Each is said in the trajectory's notes and as a warning."""

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
from ..schemes.integrators import INTEGRATORS

ENERGIES = ("kinetic_energy", "potential_energy", "work")
SHARE = 0.05  # of the energy exchanged: a balance that is off by more gets a warning, whatever the method
FINE = 1e-3  # the same of methods of high order: more means that the step is too long for what the motion meets
HIGH = 4  # of orders
ROUNDING = 1e-9  # of the largest energy: less is the noise of numbers
UNTOLD = 1e-2  # conditioning of the velocities of what rolls
FLAT = 0.05  # rad between the axle of a wheel and the normal of its plane
SINGULAR = 0.03  # of the distance from singular positions at home
LARGEST = 0.25  # deflection of a link, by its length, that modes of small deflections may have
LOOKS_AT_CONTACTS = 4096  # times, of all samples
LOOKS = 64  # times of each sample of a batch that are looked at
FEW = 2  # for limits in short runs, which looking must not make longer
SPARED = 50  # times for each such look
ALONE = 256  # of a single motion, for its limits
MOST = 2**18  # of a single motion, for its energy: long ones are on disk, and stay there
BEYOND = 1e-9  # of a limit: less is none
CONTACT_CHECKS = ("lift off", "slip", "tip")


def findings(
    model: Model,
    arrays: Mapping[str, Any],
    closeness: np.ndarray | None = None,
    contact_checks: Sequence[str] = CONTACT_CHECKS,
    method: str = "",
    dt: float = 0.0,
) -> Iterator[Note]:
    """``arrays`` of a trajectory, with an axis of samples first; ``closeness``: the end of that part of the state.
    ``contact_checks``: what might befall those that were held. ``method`` and ``dt`` where steps are all the same."""
    if not len(arrays["t"]) or len(arrays) == 1:  # stopped before the first record
        return
    samples = next(array.shape[0] for name, array in arrays.items() if name != "t")
    times = len(arrays["t"])
    flat = np.zeros(samples, bool)
    if "q" in arrays and (model.n_configuration > model.nv or model.has_modes):
        every = -(-times // (LOOKS if samples > 1 else ALONE))
        t, q = arrays["t"][::every], np.asarray(arrays["q"][:, ::every])
        yield from _deflections(model, t, q)
        if model.n_configuration > model.nv:
            flat = yield from _flat(model, t, q)
            yield from _undetermined(model, t, q)
    every = -(-times // (LOOKS if samples > 1 else MOST))
    seen = {name: x[::every] if name == "t" else x[:, ::every] for name, x in arrays.items()}
    yield from _energy(model, seen, flat, method, dt)
    if model.soft_limits is None and "q" in arrays:
        every = -(-times // (min(LOOKS, max(FEW, times // SPARED)) if samples > 1 else ALONE))
        yield from _limits(model, arrays, slice((times - 1) % every, None, every))  # the last time is among them
    if closeness is not None:
        yield from _singular(closeness)
    if "constraint_forces" in arrays:
        yield from _slips(model, arrays)
    if {"q", "contacts", "contact_forces"} <= arrays.keys():
        every = -(-times // LOOKS_AT_CONTACTS)
        seen = {name: np.asarray(arrays[name][:, ::every]) for name in ("q", "contacts", "contact_forces")}
        yield from _contacts(model, contact_checks, np.asarray(arrays["t"][::every]), **seen)


class Imbalance(NamedTuple):
    """Energy balance of each sample: by how much it is ``off``, of how much that was ``exchanged``, as a ``share``;
    ``row``: after which of the records it changed most."""

    off: np.ndarray
    exchanged: np.ndarray
    share: np.ndarray
    row: np.ndarray

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Imbalance | None:
        """None where energies are not recorded."""
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

    def story(self, k: int, t: np.ndarray) -> str:
        """The balance of sample k."""
        share = self.share[k]
        part = f"{share:.0%}" if share > 0.1 else f"{100 * share:.2g}%"
        return (
            f"off by {self.off[k]:.2g} J, {part} of the {self.exchanged[k]:.2g} J exchanged, most of it about"
            f" t = {t[self.row[k]]:g} s"
        )


def unbalanced(model: Model, arrays: Mapping[str, Any]) -> str:
    """What is to be said of the energy balance of a single motion that shorter steps might mend, or nothing."""
    found = Imbalance.of(arrays)
    if found is None or not found.share[0] > FINE:
        return ""
    if model.n_configuration > model.nv and any(_flat(model, arrays["t"], np.asarray(arrays["q"]))):
        return ""
    return found.story(0, arrays["t"])


def bearable(method: str) -> float:
    """By which share of what is exchanged the energy balance of a method may be off: where it damps away what is too
    fast for the step, work is not exact to the last digit."""
    one = INTEGRATORS.get(method)
    return FINE if one and one.order >= HIGH and not isinstance(one.scheme, Rosenbrock) else SHARE


def _energy(model: Model, arrays: Mapping[str, Any], known: np.ndarray, method: str, dt: float) -> Iterator[Note]:
    """``known``: of these samples it is known why it cannot balance."""
    found, limit = Imbalance.of(arrays), bearable(method)
    if found is None or not (bad := (found.share > limit) & ~known).any():
        return
    k = int(np.nanargmax(np.where(bad, found.share, 0.0)))
    fix = "take a smaller dt, or another method"
    if method and np.isfinite(found.share[k]):
        shorter = dt * (0.5 * limit / found.share[k]) ** (1 / INTEGRATORS[method].order)
        fix = f"take dt = {_rounded_down(max(shorter, 0.01 * dt)):g} s or less, or another method"
    trust = " the motion is not to be trusted;" if found.share[k] > SHARE else ""
    where = f"{_of_samples(bad, k)}{_place(model, arrays, k)}"
    text = f"the energy balance is {found.story(k, arrays['t'])}{where}:{trust}"
    values = {"sample": k, "off": float(found.off[k]), "share": float(found.share[k])}
    yield _warning("energy-balance", text, fix, **values)


def _place(model: Model, arrays: Mapping[str, Any], sample: int) -> str:
    """Where the loops of a sample are least determined by the independent joints."""
    if not model.constrained or "q" not in arrays:
        return ""
    every = -(-len(arrays["t"]) // ALONE)
    q = np.asarray(arrays["q"][sample, ::every])
    with np.errstate(all="ignore"):
        well = np.broadcast_to(conditioning(model, list(q.T)), len(q))
    k = int(np.nanargmin(np.where(np.isfinite(q).all(axis=1) & np.isnan(well), 0.0, well)))
    return f" (conditioning of the loops down to {well[k]:.1g}, at t = {arrays['t'][k * every]:g} s)"


def _rounded_down(x: float) -> float:
    """To one digit."""
    unit = 10.0 ** np.floor(np.log10(x))
    return float(np.floor(x / unit) * unit)


def _contacts(
    model: Model, which: Sequence[str], t: np.ndarray, q: np.ndarray, contacts: np.ndarray, contact_forces: np.ndarray
) -> Iterator[Note]:
    """Contacts that would not have stayed where they were held."""
    loads, on = ContactForces.of(model, q, contact_forces=contact_forces), contacts > 0
    found = {"lift off": loads.lifts, "slip": loads.slips, "tip": loads.tips}
    for what in which:
        bad = found[what] & on
        for k in np.flatnonzero(bad.any(axis=(0, 1))):
            contact, sample = model.switched[k], int(bad[..., k].any(axis=1).argmax())
            at = int(bad[sample, :, k].argmax())
            rows = {
                "lift off": f"the ground would have to pull with {-loads.normal[sample, at, k]:.3g} N",
                "slip": f"it needs a friction of {loads.needed[sample, at, k]:.3g}, and has {contact.kind.friction:g}",
                "tip": "its centre of pressure is outside the sole",
            }
            text = f"{contact.kind.word} {contact.name} would {what} at t = {t[at]:g} s: {rows[what]}"
            of = _of_samples(bad[..., k].any(axis=1), sample)
            yield _warning(f"contact-{what.replace(' ', '-')}", text + of, sample=sample, t=float(t[at]))


def _limits(model: Model, arrays: Mapping[str, Any], looked_at: slice) -> Iterator[Note]:
    bounded, lower, upper = _bounds(model)
    if not len(bounded):
        return
    q = np.asarray(arrays["q"][:, looked_at])
    seen = q.reshape(-1, q.shape[-1]).T[bounded]  # long rows are compared in a fraction of the time
    with np.errstate(invalid="ignore"):
        beyond = np.maximum(lower - seen, seen - upper)
    worst = beyond.argmax()
    if np.isnan(beyond.flat[worst]):  # samples that left the numbers
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
        own = np.asarray(arrays["q"][sample, ::every, bounded[k]])  # this one at all times
        over = np.fmax(lower[k] - own, own - upper[k])
        began = arrays["t"][every * int((over > BEYOND).argmax())]
        by = float(np.fmax.reduce(over))
        yield _warning(
            "limits-left",
            f"no limits act, and {', '.join(joints[:6])}{', ...' if len(joints) > 6 else ''}"
            f" {'go beyond theirs' if len(joints) > 1 else 'goes beyond its own'}:"
            f" {names[k]} by up to {by:.2g}, from t = {began:g} s on{_of_samples(bad, sample)};",
            "limits=linkwork.SoftLimits(...) makes them act",
            "--limits STIFFNESS makes them act",
            sample=sample, t=float(began), beyond=by,
        )  # fmt: skip


def _deflections(model: Model, t: np.ndarray, q: np.ndarray) -> Iterator[Note]:
    """Links whose tips give way too far."""
    for joint in (body.joint for body in model.bodies if body.joint.kind.modes and not body.joint.leader):
        share = joint.kind.deflection(q[..., model.coordinates.places([joint.name])])
        if (bad := share > LARGEST).any():
            sample, at = np.unravel_index(int(np.nanargmax(share)), share.shape)
            yield _warning(
                "small-deflections-left",
                f"the tip of {joint.name} gives way by up to {share[sample, at]:.0%} of its length, at t = {t[at]:g} s"
                f"{_of_samples(bad.any(axis=1), int(sample))}: its modes are those of small deflections;",
                "a chain of short bodies (linkwork.library.lumped_beam) knows large ones",
                sample=int(sample), t=float(t[at]), share=float(share[sample, at]),
            )  # fmt: skip


_known: WeakKeyDictionary[Model, tuple[np.ndarray, np.ndarray, np.ndarray]] = WeakKeyDictionary()


def _bounds(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which entries of q have limits, and these, as columns."""
    if model not in _known:
        lower, upper = model.coordinates.lower, model.coordinates.upper
        bounded = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))
        _known[model] = bounded, lower[bounded, None], upper[bounded, None]
    return _known[model]


def _singular(closeness: np.ndarray) -> Iterator[Note]:
    """Of each sample: the largest pivot, and its time."""
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = 1 / np.sqrt(closeness[:, 0])
    if (bad := distance < SINGULAR).any():
        k = int(np.nanargmin(distance))
        yield _warning(
            "singular",
            f"the loops come close to a singular position, at t = {closeness[k, 1]:g} s to {distance[k]:.1e} of the"
            f" distance at home{_of_samples(bad, k)}: the motion after it may be another one",
            sample=k, t=float(closeness[k, 1]), distance=float(distance[k]),
        )  # fmt: skip


def _flat(model: Model, t: np.ndarray, q: np.ndarray) -> Generator[Note, None, np.ndarray]:
    """Of what rolls: a wheel that has fallen over has no lowest point. Returns in which samples there is one."""
    fallen = np.zeros(len(q), bool)
    with np.errstate(all="ignore"):
        ways = ConstraintEquations.at(model, list(np.moveaxis(q, -1, 0))).ways()
        for loop, way in zip(model.permanent, ways, strict=True):
            if isinstance(way, Way) and (axle := loop.kind.lean(way.end)):
                bad = np.broadcast_to(np.hypot(*axle) < FLAT, q.shape[:-1])
                if bad.any():
                    k = int(bad.any(axis=1).argmax())
                    began = float(t[int(bad[k].argmax())])
                    yield _warning(
                        "lies-flat",
                        f"{loop.kind.name} {loop.name} lies flat at t = {began:g} s"
                        f"{_of_samples(bad.any(axis=1), k)}: it cannot roll on, and the motion after it means nothing",
                        sample=k, t=began,
                    )  # fmt: skip
                fallen |= bad.any(axis=1)
    return fallen


def _undetermined(model: Model, t: np.ndarray, q: np.ndarray) -> Iterator[Note]:
    """Of what rolls: where axles are parallel or meet in a point, some joints do not tell how it moves."""
    with np.errstate(all="ignore"):
        well = np.broadcast_to(conditioning(model, list(np.moveaxis(q, -1, 0))), q.shape[:-1])
    well = np.where(np.isnan(well) & np.isfinite(q).all(axis=-1), 0.0, well)  # exactly there
    if (bad := well < UNTOLD).any():
        sample, at = np.unravel_index(int(np.nanargmin(well)), well.shape)
        names = ", ".join(model.coordinates.of_freedoms(model.mobility.independent).names)
        yield _warning(
            "undetermined-velocities",
            f"velocities of {names} hardly tell those of the others at t = {t[at]:g} s (conditioning"
            f" {well[sample, at]:.1g}){_of_samples(bad.any(axis=1), int(sample))}: axles are nearly parallel there, or"
            " meet in a point, and forces that make these joints move as told become large",
            sample=int(sample), t=float(t[at]), conditioning=float(well[sample, at]),
        )  # fmt: skip


def _slips(model: Model, arrays: Mapping[str, Any]) -> Iterator[Note]:
    """Contacts that would not hold, with more to say of that which needs the most."""
    every = -(-len(arrays["t"]) // MOST)
    loads = ContactForces.of(model, constraint_forces=arrays["constraint_forces"][:, ::every])
    lack = np.full(loads.normal.shape, np.inf)  # of what has no friction at all
    np.divide(loads.needed, loads.friction, out=lack, where=loads.slips & (loads.friction > 0))
    for what, happens, size in (("lift off", loads.lifts, -loads.normal), ("slip", loads.slips, lack)):
        if not happens.any():
            continue
        names = [name for k, name in enumerate(loads.names) if happens[..., k].any()]
        sample, at, k = np.unravel_index(int(np.argmax(np.where(happens, size, -1.0))), happens.shape)
        began = arrays["t"][every * int(happens[sample, :, k].argmax())]
        by = f"needs friction {loads.needed[sample, at, k]:.2g} and has {loads.friction[k]:g}"
        if what == "lift off":
            by = f"would be pulled by {-loads.normal[sample, at, k]:.3g} N"
        yield _warning(
            f"contact-{what.replace(' ', '-')}",
            f"{', '.join(names)} would {what}: {loads.names[k]} {by}, from t = {began:g} s on"
            f"{_of_samples(happens.any(axis=(1, 2)), int(sample))}; in this motion it goes on rolling",
            sample=int(sample), t=float(began),
        )  # fmt: skip


def _warning(code: str, text: str, fix: str = "", command_fix: str = "", **values: float) -> Note:
    return Note(code, text, fix, command_fix, "warning", values)


def _of_samples(bad: Any, k: int) -> str:
    return "" if len(bad) == 1 else f" (sample {k}; {int(bad.sum())} of {len(bad)} samples)"
