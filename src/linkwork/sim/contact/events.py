"""Simulation by events: contacts touch down, stick, slide and lift off, each at its own time within a step.

Between two events the set of contacts on the ground does not change, and the motion is smooth. It is stepped by a
Runge-Kutta method. After each step, sticking contacts are projected to their places and sliding ones to the ground. An
event is an indicator that became negative: the height of a contact in the air, the normal force of one on the ground,
its distance from the friction cone, its speed along the direction in which it slid. The step then ends where the first
indicator is zero. Soles are their four corners here, so they may tip over an edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...codegen.schemes import RungeKutta
from ...constraints import forces_at_cuts
from ...errors import DivergedError, LinkworkError, UnsupportedError, at_door, method_at_door
from ...function import Function, Label
from ...model import Model
from ...notes import Note
from ...options import Options, one_of_names
from ...program import Program
from ...workspace import Workspace
from ..derivatives.transition import NUMBERS
from ..plant.instant import MEMORY
from ..plant.setup import Setup, prepare
from ..run import Run
from ..schemes import stability
from ..schemes.integrators import INTEGRATORS
from ..trajectory.outputs import by_output
from ..trajectory.trajectory import Event, Trajectory
from .contact_modes import BOUNCES, SLIDES, SMALL, ContactDynamics, Ground, Mode
from .contact_points import with_contact_points

KINDS = ("events", "coulomb")  # values of contacts=: contacts never slide, or slide with friction
TOUCH = 1e-10  # m: a contact that is lower has passed through the ground
NEAR = 1e-8  # m: a contact that is not higher touches the ground
BELOW = 1e-6  # m: contacts that begin deeper are an error
ROUNDING = 1e-12  # relative to the energy before an impact: a smaller loss is rounding
MOST = 200  # largest number of events in a step
PART = 0.05  # a part of a step without events counts as this share of an event
MANY = 60  # events in a step after which contacts no longer slip until it ends; after twice as many they glide
PATIENCE = 3  # events at one time with the same effect
LONG = 5e-3  # s: contacts that glided for longer get a warning
FEW = 6  # events that a note lists
CHANGED_BY_CONTACTS = ("a", "contacts", "contact_forces", "constraint_forces")  # outputs computed here

Indicator = tuple[str, int]


def simulate_events(
    workspace: Workspace, q0: Any, v0: Any, dt: float, steps: int, options: Options, outputs: Sequence[str]
) -> Trajectory:
    """Simulate one motion by events and record the outputs."""
    kind = one_of_names("choice of contacts", options.contacts, KINDS)
    method = one_of_names("method of simulation", options.method or "rk4", INTEGRATORS)
    scheme = INTEGRATORS[method].scheme
    if not isinstance(scheme, RungeKutta):
        methods = ", ".join(name for name, each in INTEGRATORS.items() if isinstance(each.scheme, RungeKutta))
        raise UnsupportedError(
            f"{method} does not stop at events",
            where="contacts",
            expected=f"one of: {methods}",
            fix=method_at_door("rk4"),
        )
    if options.checkpoint_every is not None:
        fix = "give a schedule of contacts, or compliant ground: robot.with_forces({frame: Contact(...)})"
        raise UnsupportedError("simulations by events have no gradients", where="checkpoint_every", fix=fix)
    points = workspace.derived(_with_contact_points)
    start = replace(options, contacts=np.zeros(len(points.model.switched)), method=method)  # contacts are set here
    setup = prepare(points, q0, v0, steps, dt, start, (*outputs, "work"))  # work is part of the state
    taken = setup.plant.own_outputs.inputs if setup.plant.own_outputs is not None else ()
    if changed := [port.name for port in taken if port.name in CHANGED_BY_CONTACTS]:
        message, fix = (
            f"a simulation by events cannot give {changed[0]} to outputs of one's own",
            ("record it, and compute the rest from the trajectory; or give a schedule of contacts"),
        )
        raise UnsupportedError(message, where="outputs", fix=fix)
    memory = setup.plant.memory if options.outputs is None else ()
    setup = replace(setup, outputs=(*(x for x in setup.outputs if x != "work" or x in outputs), *memory))
    if setup.batched:
        fix = "use robot.rollout, with a schedule of contacts"
        raise LinkworkError("simulate makes one motion", where="q0", got=f"{setup.samples} samples", fix=fix)
    simulation = _EventSimulation(workspace.model, setup, scheme, dt, steps, options, kind == "coulomb")
    try:
        return simulation.trajectory(method)
    except np.linalg.LinAlgError:
        where = f"robot {workspace.model.name!r}, step {simulation.step + 1}"
        fix = "give these links an inertia; `linkwork check` names them"
        raise LinkworkError("links without inertia move, and no contact holds them", where=where, fix=fix) from None


def _with_contact_points(workspace: Workspace) -> Workspace:
    return Workspace(with_contact_points(workspace.model))


@dataclass
class _State:
    """State of the motion: x of the plant, the contacts on the ground, and their places (contacts, 2)."""

    t: float
    x: np.ndarray
    mode: Mode
    stand: np.ndarray


class _EventSimulation:
    """A simulation by events; ``model`` is the robot with soles, the plant has their corners."""

    def __init__(
        self, model: Model, setup: Setup, scheme: RungeKutta, dt: float, steps: int, options: Options, slides: bool
    ):
        self.model, self.setup, self.plant, self.scheme = model, setup, setup.plant, scheme
        self.dt, self.steps, self.options = dt, steps, options
        self.contacts = contacts = self.plant.model.switched
        bodies = [contact.second.body for contact in contacts]
        groups = [[i for i, body in enumerate(bodies) if body == one] for one in dict.fromkeys(bodies)]
        friction, restitution = np.array(
            [[min(each.kind.friction, 1e12), each.kind.restitution] for each in contacts]
        ).T
        sticky = Ground(0 * friction, restitution, groups, slides=False)
        # If modes change endlessly, the next ground is used: for some states friction has no forces, or several.
        self.grounds = [sticky, replace(sticky, glides=True)]
        if slides:
            self.grounds.insert(0, Ground(friction, restitution, groups, slides))
        self.ground = self.grounds[0]
        counts = [len(each.kind.points) for each in model.switched]
        self.owners = np.repeat(range(len(model.switched)), counts)  # contact of the model for each point
        label = Label(model.name, "contact", self.plant.method.name)

        def compiled(key: Any, program: Callable[[], Program]) -> Function:
            return self.plant.cached(
                (key, options.backend), lambda: Function(program(), label, backend=options.backend)
            )

        self.recorded = tuple(name for name in setup.outputs if name not in CHANGED_BY_CONTACTS)
        self.terms = compiled("contact terms", lambda: self.plant.contact_terms)
        own = self.plant.own_outputs and self.plant.own_outputs.digest
        key = ("record", self.recorded, own)
        self.record = compiled(key, lambda: self.plant.record(self.recorded)) if self.recorded else None
        self.events: list[Event] = []
        self.glided = np.zeros(len(contacts))  # seconds
        self.step, self.last = 0, -1.0

    # -- the smooth motion -----------------------------------------------------------------------------------------

    def arguments(self, x: np.ndarray, t: float) -> list[Any]:
        """Return the arguments of the plant's programs."""
        return self.setup.arguments(x, t, self.dt, self.step)

    def dynamics(self, x: np.ndarray, t: float) -> tuple[ContactDynamics, Any]:
        """Return the equations of motion, and all terms that the program computes."""
        terms, v = self.terms(*self.arguments(x, t)), self.plant.parts(x)["v"]
        loops, n = len(terms.residual), len(self.contacts)
        J, gamma = terms.J[loops:].reshape(n, 3, -1), terms.gamma[loops:].reshape(n, 3)
        p = terms.p.reshape(n, 3)
        return ContactDynamics(terms.M, terms.f, v, terms.J[:loops], terms.gamma[:loops], J, gamma, p), terms

    def rates(self, x: np.ndarray, t: float, mode: Mode) -> np.ndarray:
        """Return dx/dt in a mode."""
        dynamics, terms = self.dynamics(x, t)
        a, forces = self.forces(dynamics, mode)
        rates = np.zeros_like(x)
        parts = self.plant.parts(rates)
        parts["q"][:], parts["v"][:] = terms.dq, a
        for name in self.plant.memory:
            parts[MEMORY + name][...] = getattr(terms, MEMORY + name)
        parts["work"][...] = terms.power + float((forces * dynamics.velocities).sum())
        return rates

    def forces(self, dynamics: ContactDynamics, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
        """Return the accelerations, and the forces on the contacts."""
        return self.ground.accelerations(dynamics, self.ground.directions_in_step(dynamics, mode))

    def advanced(self, state: _State, h: float) -> _State:
        """Return the state after h seconds in the same mode."""
        slopes = [self.rates(state.x, state.t, state.mode)]
        for node, place in self.scheme.stages:
            x = place(state.x, slopes.__getitem__, float(place.share) * h, NUMBERS)
            slopes.append(self.rates(x, state.t + node * h, state.mode))
        x = self.scheme.step(state.x, slopes.__getitem__, float(self.scheme.step.share) * h, NUMBERS)
        return self.projected(replace(state, t=state.t + h, x=x))

    def projected(self, state: _State) -> _State:
        """Return the state with contacts at their places, closed loops, fitting velocities and unit quaternions."""
        x, coordinates = state.x.copy(), self.plant.model.coordinates
        parts = self.plant.parts(x)
        parts["q"][:] = coordinates.normalised(parts["q"].tolist())
        if not (state.mode or self.plant.model.constrained):
            return replace(state, x=x)
        dynamics, terms = self.dynamics(x, state.t)
        off = dynamics.p - np.column_stack([state.stand, np.zeros(len(dynamics.p))])
        correction = dynamics.correction(state.mode, terms.residual, off)
        parts["q"][:] = self.plant.model.moved(parts["q"].tolist(), correction.tolist())
        rates = dynamics.J_loops @ dynamics.v
        parts["v"][:] += dynamics.correction(state.mode, rates, dynamics.velocities)
        return replace(state, x=x)

    # -- events ----------------------------------------------------------------------------------------------------

    def indicators(self, state: _State, directions: Mode) -> dict[Indicator, float]:
        """Return numbers that are negative after an event; ``directions`` are those of sliding at the beginning."""
        dynamics, _ = self.dynamics(state.x, state.t)
        forces = self.forces(dynamics, state.mode)[1]
        size = SMALL * max(1.0, np.abs(forces).max(initial=0.0))
        heights = enumerate(dynamics.p[:, 2])
        values: dict[Indicator, float] = {("touchdown", i): z / TOUCH for i, z in heights if i not in state.mode}
        values |= {("lift-off", i): forces[i, 2] / size for i in state.mode}
        if self.ground.slides:
            values |= {("slip", i): x / size for i, x in self.ground.margins(dynamics, state.mode, forces).items()}
        return values | {
            ("stick", i): x / SLIDES for i, x in self.ground.sliding(dynamics, state.mode, directions).items()
        }

    def through_step(self, state: _State, h: float) -> _State:
        """Return the state after a step, with all events in it."""
        end, repeated, effort, limit, self.ground, *others = state.t + h, 0, 0.0, MANY, *self.grounds
        while effort < MOST:
            left = end - state.t
            if left <= 1e-14 * max(1.0, end):
                return replace(state, t=end)
            dynamics, _ = self.dynamics(state.x, state.t)
            state = replace(state, mode=self.ground.directions(dynamics, state.mode))
            directions = state.mode
            if any(d is not None for d in directions.values()):
                left = min(left, self.ground.pace(dynamics, directions, self.forces(dynamics, directions)[1]))
            after = self.advanced(state, left)
            passed = [which for which, value in self.indicators(after, directions).items() if value < -1]
            if not np.isfinite(after.x).all():
                raise self.diverged(state)
            times = {which: self.event_time(state, left, which, directions) for which in passed}
            first = min(times.values(), default=left)
            first_events = [which for which, time in times.items() if time <= first + 1e-13]
            self.glided[self.gliding(state)] += first
            state = after if not passed else self.advanced(state, first) if first else state
            repeated = 0 if first > 1e-12 else repeated + 1
            effort += 1.0 if passed else PART
            if others and (repeated > PATIENCE or effort > limit):
                self.ground, repeated, limit = others.pop(0), 0, limit + MANY
                state = self.after_events(state, first_events)
            else:
                state = self.after_events(state, first_events) if first_events else self.stop_gliding(state)
        raise LinkworkError(
            "there are too many events in one step",
            where=f"robot {self.model.name!r}, t = {state.t:g} s",
            got=f"{MOST}, the last: {self.events[-1]}" if self.events else f"{MOST}",
            fix="use a smaller dt, smaller gains, or a schedule of contacts",
        )

    def stop_gliding(self, state: _State) -> _State:
        """With unlimited friction, stop a gliding contact as soon as the ground can stop it without pulling."""
        if not (gliding := self.gliding(state)):
            return state
        dynamics, _ = self.dynamics(state.x, state.t)
        after = replace(dynamics, v=self.ground.impact(dynamics, self.touching(dynamics)))
        ends = [("stick", i) for i in gliding if i not in self.ground.moving(after)]
        return self.after_events(state, ends) if ends else state

    def gliding(self, state: _State) -> list[int]:
        """Return the contacts that slide without friction."""
        return [i for i, d in state.mode.items() if d is not None and not self.ground.slides]

    def touching(self, dynamics: ContactDynamics) -> list[int]:
        """Return the contacts that touch the ground."""
        return [i for i, height in enumerate(dynamics.p[:, 2]) if height < NEAR]

    def event_time(self, state: _State, h: float, which: Indicator, directions: Mode) -> float:
        """Return the time within h seconds at which an indicator is zero, by the Illinois method (regula falsi)."""

        def value(s: float) -> float:
            return self.indicators(self.advanced(state, s), directions)[which]

        a, b = 0.0, h
        at_a, at_b = self.indicators(state, directions)[which], value(h)
        while at_a <= 1.0 and b > 1e-12:  # it begins at zero, and may rise before it falls
            middle = 0.5 * b
            if (at_middle := value(middle)) > 1.0:
                a, at_a = middle, at_middle
                break
            b, at_b = middle, at_middle
        if a == 0.0 and at_a <= 1.0:
            return 0.0
        for _ in range(100):
            s = b - at_b * (b - a) / (at_b - at_a)
            at_s = value(s)
            if at_s * at_b <= 0:
                a, at_a = b, at_b
            else:
                at_a *= 0.5
            b, at_b = s, at_s
            if abs(at_s) < 1e-4 or abs(b - a) <= 1e-15 * max(1.0, state.t):  # indicators have the scale of an event
                break
        return b

    def after_events(self, state: _State, indicators: Sequence[Indicator]) -> _State:
        """Return the state after events at one time: velocities after an impact, and the new mode."""
        dynamics, _ = self.dynamics(state.x, state.t)
        ground, touching = self.ground, self.touching(dynamics)
        x, energy = state.x.copy(), dynamics.energy(dynamics.v)
        down = [i for kind, i in indicators if kind == "touchdown"]
        again = down if state.t <= self.last else ()  # these contacts did not leave the ground
        impact = not indicators or any(dynamics.velocities[i, 2] < -BOUNCES * (i not in again) for i in touching)
        if not ground.slides:  # motion along the ground also ends by an impact
            impact |= any(dynamics.velocities[i, 2] <= BOUNCES for i in ground.moving(dynamics) if i in touching)
        ends = [first for kind, first in indicators if kind == "stick"]
        if impact or ends:
            v = ground.impact(dynamics, touching) if impact else ground.stopped(dynamics, state.mode, ends)
            self.plant.parts(x)["v"][:] = v
            dynamics, _ = self.dynamics(x, state.t)
        self.last = state.t
        staying = [i for i in touching if abs(dynamics.velocities[i, 2]) <= BOUNCES or i in again]
        leaving = [i for kind, i in indicators if kind == "lift-off"]
        idle = [] if impact else [i for i in staying if i not in state.mode and i not in down]
        slip = [first for kind, first in indicators if kind == "slip"]
        mode = ground.choose_mode(dynamics, staying, idle, leaving, slip)
        if mode is None:  # there are no forces of friction, so sliding contacts are stopped by an impact
            self.ground = self.grounds[1]
            return self.after_events(state, indicators)
        stand = state.stand.copy()
        for i, d in mode.items():
            if i not in state.mode or d is not None or state.mode[i] is not None:
                stand[i] = dynamics.p[i, :2]
        after = self.projected(_State(state.t, x, mode, stand))
        parts = self.plant.parts(after.x)
        lost = energy - dynamics.energy(parts["v"])
        parts["work"][...] -= lost
        self.log(state, after, down, lost if lost > ROUNDING * energy else 0.0)
        return after

    def log(self, before: _State, after: _State, down: Sequence[int], lost: float) -> None:
        """Add events: changes of the mode, and contacts that came down, which may have bounced."""
        touchdowns = {*down} | (after.mode.keys() - before.mode.keys())
        changes = [(i, "touchdown") for i in touchdowns] + [
            (i, "lift-off") for i in before.mode.keys() - after.mode.keys()
        ]
        for i, d in after.mode.items():
            reported = i in before.mode or not self.ground.slides  # a contact that touches down may slide at once
            if reported and (d is None) != (before.mode.get(i) is None):
                changes.append((i, "stick" if d is None else "slip" if self.ground.slides else "glide"))
        # The energy is that of the whole impact; it is noted once, at the first contact that touches down or sticks.
        impacts = ([pair for pair in changes if pair[1] == what] for what in ("touchdown", "stick"))
        first = next((min(pairs) for pairs in impacts if pairs), None)
        for i, what in sorted(changes, key=lambda pair: (pair[0], pair[1] != "touchdown")):
            self.events.append(Event(float(before.t), what, self.contacts[i].name, lost if (i, what) == first else 0.0))

    def diverged(self, state: _State) -> DivergedError:
        """Return the error of a motion that diverged."""
        q, v = self.plant.positions_and_velocities(state.x)
        return DivergedError(
            f"the motion is not finite after t = {state.t:g} s",
            where=f"robot {self.model.name!r}",
            got=f"q = {q}, v = {v}",
            fix="use a smaller dt, or smaller gains",
            sample=None, step=self.step, time=state.t, q=q, v=v,
        )  # fmt: skip

    # -- the whole motion ------------------------------------------------------------------------------------------

    def initial(self) -> _State:
        """Return the initial state, after impacts of contacts that touch the ground and move down."""
        x = self.setup.x0[0].copy()
        dynamics, _ = self.dynamics(x, 0.0)
        lowest = int(dynamics.p[:, 2].argmin())
        if (z := dynamics.p[lowest, 2]) < -BELOW:
            contact = self.model.switched[self.owners[lowest]]
            fix = at_door("q0 = robot.standing_position(q0)", "start it higher: --q0")
            got, where = f"{contact.kind.word} {contact.name!r} at z = {z:g} m", f"robot {self.model.name!r}"
            raise LinkworkError("contacts are below the ground at q0", where=where, got=got, fix=fix)
        down = [i for i, p in enumerate(dynamics.p) if p[2] < NEAR and dynamics.velocities[i, 2] < -BOUNCES]
        start = _State(0.0, x, {}, dynamics.p[:, :2].copy())
        state = self.after_events(start, [("touchdown", i) for i in down])
        names = {self.contacts[i].name for i in down}
        self.events = [event for event in self.events if event.contact in names]  # the others stand from the start
        return state

    def too_fast(self, state: _State) -> float:
        """Return the rate in 1/s of the fastest mode for which the step is too long, 0 if there is none.

        All contacts on the ground are treated as sticking; sliding ones get shorter steps in any case.
        """
        steps = 1e-6 * np.eye(len(state.x))
        sticking = dict.fromkeys(state.mode)
        rows = [self.rates(state.x + dx, 0.0, sticking) - self.rates(state.x - dx, 0.0, sticking) for dx in steps]
        return stability.unstable_rate(stability.modes_of(np.array(rows).T / 2e-6), self.scheme, self.dt)

    def row(self, state: _State) -> dict[str, Any]:
        """Return the recorded outputs of a state."""
        dynamics, _ = self.dynamics(state.x, state.t)
        a, forces = self.forces(dynamics, state.mode)
        on, total = np.zeros(len(self.model.switched)), np.zeros((len(self.model.switched), 6))
        for i, k in enumerate(self.owners):
            on[k] = max(on[k], float(i in state.mode))
            if i in state.mode:
                centre = dynamics.p[self.owners == k].mean(axis=0)
                total[k] += [*forces[i], *np.cross(dynamics.p[i] - centre, forces[i])]
        row = by_output(self.recorded, self.record(*self.arguments(state.x, state.t)) if self.record else ())
        independent = list(self.plant.model.mobility.independent)
        if "constraint_forces" in self.setup.outputs:
            unbalanced = dynamics.f + np.einsum("ijk,ij->k", dynamics.J, forces) - dynamics.M @ a
            multipliers = np.linalg.lstsq(dynamics.J_loops.T, unbalanced, rcond=None)[0].tolist()
            tree = self.plant.model.expand(self.plant.parts(state.x)["q"].tolist())
            row["constraint_forces"] = np.array(forces_at_cuts(self.plant.model, tree, multipliers))
        return row | {"a": a[independent], "contacts": on, "contact_forces": total.ravel()}

    def trajectory(self, method: str) -> Trajectory:
        """Run the simulation."""
        every, state = self.options.every, self.initial()
        run = Run(self.setup, method, self.dt, self.options, self.model, fixed=False)
        if rate := self.too_fast(state):
            run.warn(stability.too_long(method, self.dt, rate))
        rows = [self.row(state)]
        for k in range(self.steps):
            self.step = k
            state = self.through_step(state, (self.step + 1) * self.dt - state.t)
            if (self.step + 1) % every == 0:  # with the inputs of this step
                rows.append(self.row(state))
        names = [each for each in self.setup.outputs if each in rows[0]]
        run.arrays = {"t": self.dt * every * np.arange(len(rows))}
        run.arrays |= {each: np.stack([row[each] for row in rows])[None] for each in names}
        run.notes.append(Note("events", self.events_text()))
        run.events, run.last_warnings = self.events, [*self.glide_warnings()]
        run.contact_checks = () if self.grounds[0].slides else ("slip",)  # others are events
        return run.finish()

    def glide_warnings(self) -> Iterator[Note]:
        """Yield a warning about contacts that glided for long."""
        if long := [i for i, seconds in enumerate(self.glided) if seconds > LONG]:
            names = ", ".join(f"{self.contacts[i].name} for {self.glided[i]:.2g} s" for i in long)
            text = f"{names} glided without friction, where no contact forces with friction exist"
            if self.grounds[0].slides:
                yield Note("glided", text, severity="warning")
            else:
                slip = "contacts='coulomb' lets them slip", "--contacts coulomb lets them slip"
                yield Note("glided", f"{text};", *slip, severity="warning")

    def events_text(self) -> str:
        """Return the text of the note about events."""
        if not self.events:
            return "no contact touched down or left the ground"
        counts = Counter(event.what for event in self.events)
        first = "; ".join(map(str, self.events[:FEW]))
        more = f"; and {len(self.events) - FEW} more: trajectory.events" if len(self.events) > FEW else ""
        return f"contact events, {', '.join(f'{n} {what}' for what, n in counts.items())}: {first}{more}"
