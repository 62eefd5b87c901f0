"""A motion on contacts that touch down, stick, slide and lift off by themselves, each at its own time inside a step.

Between two events the set of contacts on the ground stays, and the motion is smooth: a step by a table of Runge and
Kutta, after which those that stick are put where they stand, and the height of those that slide to zero. An event is a
number that has become negative after a step: the height of one in the air, the force along the normal of one on the
ground, its distance from the cone, the speed along the direction in which it slid. The step is then taken as far as the
first of them is zero. Soles are their four corners here, so they may tip over an edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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
from ...workspace import Workspace
from ..derivatives.transition import NUMBERS
from ..plant.instant import MEMORY
from ..plant.setup import Setup, prepare
from ..run import Run
from ..schemes import stability
from ..schemes.integrators import INTEGRATORS
from ..trajectory.outputs import by_output
from ..trajectory.trajectory import Event, Trajectory
from .contact_modes import BOUNCES, SLIDES, SMALL, Ground, Mode, Situation
from .contact_points import on_corners

KINDS = ("events", "coulomb")  # of contacts that come and go by themselves: they never slide, or do
TOUCH = 1e-10  # m: what is lower has gone through the ground
NEAR = 1e-8  # m: what is not higher touches it
BELOW = 1e-6  # m: contacts that begin so deep are a mistake
ROUNDING = 1e-12  # of the energy before an impact: less is not lost
MOST = 200  # events in a step
PART = 0.05  # of an event, is what a part of a step without one counts
MANY = 60  # events in a step, or
PATIENCE = 3  # at one time, after which contacts do not slip until the step ends; and after as many more, glide
LONG = 5e-3  # s: contacts that glided for longer get a warning
FEW = 6  # events that a note tells

Indicator = tuple[str, int]


def by_events(
    workspace: Workspace, q0: Any, v0: Any, dt: float, steps: int, options: Options, outputs: Sequence[str]
) -> Trajectory:
    """One motion; ``outputs``: what is recorded."""
    kind = one_of_names("choice of contacts", options.contacts, KINDS)
    method = one_of_names("method of simulation", options.method or "rk4", INTEGRATORS)
    scheme = INTEGRATORS[method].scheme
    if not isinstance(scheme, RungeKutta):
        own = [name for name, each in INTEGRATORS.items() if isinstance(each.scheme, RungeKutta)]
        message = f"{method} does not stop at events"
        raise UnsupportedError(
            message, where="contacts", expected=f"one of: {', '.join(own)}", fix=method_at_door("rk4")
        )
    if options.checkpoint_every is not None:
        fix = "a schedule of contacts, or compliant ground: robot.with_forces({frame: Contact(...)})"
        raise UnsupportedError("motions by events have no gradients", where="checkpoint_every", fix=fix)
    points = workspace.derived(_on_corners)
    start = replace(options, contacts=np.zeros(len(points.model.switched)), method=method)  # none is held
    setup = prepare(points, q0, v0, steps, dt, start, (*outputs, "work"))  # which takes part in the motion
    own = setup.plant.memory if options.outputs is None else ()
    setup = replace(setup, outputs=(*(x for x in setup.outputs if x != "work" or x in outputs), *own))
    if setup.batched:
        fix = "robot.rollout takes batches, and a schedule of contacts"
        raise LinkworkError("simulate makes one motion", where="q0", got=f"{setup.samples} samples", fix=fix)
    run = _Run(workspace.model, setup, scheme, dt, steps, options, kind == "coulomb")
    try:
        return run.trajectory(method)
    except np.linalg.LinAlgError:
        where, fix = (
            f"robot {workspace.model.name!r}, step {run.step + 1}",
            "`linkwork check` names them: give them some",
        )
        raise LinkworkError("links without inertia move, and no contact holds them", where=where, fix=fix) from None


def _on_corners(workspace: Workspace) -> Workspace:
    return Workspace(on_corners(workspace.model))


@dataclass
class _State:
    """State of the motion: x of the plant, the contacts on the ground and where they stand (contacts, 2)."""

    t: float
    x: np.ndarray
    mode: Mode
    stand: np.ndarray


class _Run:
    def __init__(
        self, model: Model, setup: Setup, scheme: RungeKutta, dt: float, steps: int, options: Options, slides: bool
    ):
        self.model, self.setup, self.plant, self.scheme = model, setup, setup.plant, scheme
        self.dt, self.steps, self.options = dt, steps, options
        contacts = self.plant.model.switched
        bodies = [contact.second.body for contact in contacts]
        groups = [[i for i, body in enumerate(bodies) if body == one] for one in dict.fromkeys(bodies)]
        friction, restitution = np.array(
            [[min(each.kind.friction, 1e12), each.kind.restitution] for each in contacts]
        ).T
        never = Ground(0 * friction, restitution, groups, slides=False)
        # the others, where contacts would change for ever: for some states friction has no forces, or several
        self.grounds = [never, replace(never, glides=True)]
        if slides:
            self.grounds.insert(0, Ground(friction, restitution, groups, slides))
        self.ground = self.grounds[0]
        self.owners = np.repeat(
            range(len(model.switched)), [len(each.kind.points) for each in model.switched]
        )  # of points
        label = Label(model.name, "contact", self.plant.method.name)
        own = ("a", "contacts", "contact_forces", "constraint_forces")  # which the contacts change
        self.recorded = recorded = tuple(name for name in setup.outputs if name not in own)
        known = self.plant.functions
        for key, program in ((("ground",), lambda: self.plant.ground), (recorded, lambda: self.plant.record(recorded))):
            if key and (key, options.backend) not in known:
                known[key, options.backend] = Function(program(), label=label, backend=options.backend)
        self.meeting = known[("ground",), options.backend]
        self.record = known[recorded, options.backend] if recorded else None
        inputs = setup.inputs
        self.held = [inputs.held[name][0].reshape(-1, *shape) for name, shape in self.plant.held.items()]
        self.constants = [inputs.constants[name][0].reshape(shape) for name, shape in self.plant.constants.items()]
        self.events: list[Event] = []
        self.glided = np.zeros(len(contacts))  # seconds
        self.step, self.last = 0, -1.0

    # -- the smooth motion -----------------------------------------------------------------------------------------

    def given(self, x: np.ndarray, t: float) -> list[Any]:
        times = np.array(t), np.array(self.dt)  # arrays are taken without a look
        return [*self.plant.parts(x).values(), *times, *(rows[self.step] for rows in self.held), *self.constants]

    def situation(self, x: np.ndarray, t: float) -> tuple[Situation, Any]:
        """And what else the program gives."""
        found, v = self.meeting(*self.given(x, t)), self.plant.parts(x)["v"]
        loops, n = len(found.residual), len(self.ground.friction)
        J, gamma = found.J[loops:].reshape(n, 3, -1), found.gamma[loops:].reshape(n, 3)
        p = found.p.reshape(n, 3)
        return Situation(found.M, found.f, v, found.J[:loops], found.gamma[:loops], J, gamma, p), found

    def rates(self, x: np.ndarray, t: float, mode: Mode) -> np.ndarray:
        here, found = self.situation(x, t)
        a, forces = self.forces(here, mode)
        rates = np.zeros_like(x)
        parts = self.plant.parts(rates)
        parts["q"][:], parts["v"][:] = found.dq, a
        for name in self.plant.memory:
            parts[MEMORY + name][...] = getattr(found, MEMORY + name)
        parts["work"][...] = found.power + float((forces * here.velocities).sum())
        return rates

    def forces(self, here: Situation, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
        """a, and the forces on the contacts."""
        return self.ground.accelerations(here, self.ground.onward(here, mode))

    def advanced(self, state: _State, h: float) -> _State:
        """After h seconds in the same mode, on the ground."""
        slopes = [self.rates(state.x, state.t, state.mode)]
        for node, place in self.scheme.stages:
            x = place(state.x, slopes.__getitem__, float(place.share) * h, NUMBERS)
            slopes.append(self.rates(x, state.t + node * h, state.mode))
        x = self.scheme.step(state.x, slopes.__getitem__, float(self.scheme.step.share) * h, NUMBERS)
        return self.placed(replace(state, t=state.t + h, x=x))

    def placed(self, state: _State) -> _State:
        """With contacts where they stand, closed loops, velocities that suit both, and unit quaternions."""
        x, coordinates = state.x.copy(), self.plant.model.coordinates
        parts = self.plant.parts(x)
        parts["q"][:] = coordinates.normalised(parts["q"].tolist())
        if not (state.mode or self.plant.model.constrained):
            return replace(state, x=x)
        here, found = self.situation(x, state.t)
        off = here.p - np.column_stack([state.stand, np.zeros(len(here.p))])
        parts["q"][:] = self.plant.model.moved(
            parts["q"].tolist(), here.correction(state.mode, found.residual, off).tolist()
        )
        rates = here.J_loops @ here.v
        parts["v"][:] += here.correction(state.mode, rates, here.velocities)
        return replace(state, x=x)

    # -- events ----------------------------------------------------------------------------------------------------

    def indicators(self, state: _State, directions: Mode) -> dict[Indicator, float]:
        """Numbers that are negative where an event has gone by. ``directions``: of sliding, at the beginning."""
        here, _ = self.situation(state.x, state.t)
        found: dict[Indicator, float] = {}
        forces = self.forces(here, state.mode)[1]
        size = SMALL * max(1.0, np.abs(forces).max(initial=0.0))
        for i, height in enumerate(here.p[:, 2]):
            if i not in state.mode:
                found["touchdown", i] = height / TOUCH
        found |= {("lift-off", i): forces[i, 2] / size for i in state.mode}
        if self.ground.slides:
            found |= {("slip", i): x / size for i, x in self.ground.room(here, state.mode, forces).items()}
        found |= {("stick", i): x / SLIDES for i, x in self.ground.sliding(here, state.mode, directions).items()}
        return found

    def through(self, state: _State, h: float) -> _State:
        """A step, with all events in it."""
        end, still, effort, limit, self.ground, *others = state.t + h, 0, 0.0, MANY, *self.grounds
        while effort < MOST:
            left = end - state.t
            if left <= 1e-14 * max(1.0, end):
                return replace(state, t=end)
            here, _ = self.situation(state.x, state.t)
            state = replace(state, mode=self.ground.directions(here, state.mode))
            directions = state.mode
            if any(d is not None for d in directions.values()):
                left = min(left, self.ground.pace(here, directions, self.forces(here, directions)[1]))
            after = self.advanced(state, left)
            gone = [which for which, value in self.indicators(after, directions).items() if value < -1]
            if not np.isfinite(after.x).all():
                raise self.diverged(state)
            times = {which: self.located(state, left, which, directions) for which in gone}
            first = min(times.values(), default=left)
            now = [which for which, time in times.items() if time <= first + 1e-13]
            self.glided[self.gliding(state)] += first
            state = after if not gone else self.advanced(state, first) if first else state
            still = 0 if first > 1e-12 else still + 1
            effort += 1.0 if gone else PART
            if others and (still > PATIENCE or effort > limit):
                self.ground, still, limit = others.pop(0), 0, limit + MANY
                state = self.met(state, now)
            else:
                state = self.met(state, now) if now else self.caught(state)
        raise LinkworkError(
            "there are too many events in one step",
            where=f"robot {self.model.name!r}, t = {state.t:g} s",
            got=f"{MOST}, the last: {self.events[-1]}" if self.events else f"{MOST}",
            fix="a smaller dt, weaker gains, or a schedule of contacts",
        )

    def caught(self, state: _State) -> _State:
        """With unlimited friction, a contact that glides stops as soon as the ground may stop it without pulling."""
        if not (gliding := self.gliding(state)):
            return state
        here, _ = self.situation(state.x, state.t)
        after = replace(here, v=self.ground.impact(here, self.touching(here)))
        ends = [("stick", i) for i in gliding if i not in self.ground.moving(after)]
        return self.met(state, ends) if ends else state

    def gliding(self, state: _State) -> list[int]:
        return [i for i, d in state.mode.items() if d is not None and not self.ground.slides]

    def touching(self, here: Situation) -> list[int]:
        return [i for i, height in enumerate(here.p[:, 2]) if height < NEAR]

    def located(self, state: _State, h: float, which: Indicator, directions: Mode) -> float:
        """When, within h seconds, the number becomes zero: by false positions (the Illinois way)."""

        def value(s: float) -> float:
            return self.indicators(self.advanced(state, s), directions)[which]

        a, b = 0.0, h
        at_a, at_b = self.indicators(state, directions)[which], value(h)
        while at_a <= 1.0 and b > 1e-12:  # it begins at zero: it may rise first, and come back
            middle = 0.5 * b
            if (there := value(middle)) > 1.0:
                a, at_a = middle, there
                break
            b, at_b = middle, there
        if a == 0.0 and at_a <= 1.0:
            return 0.0
        for _ in range(100):
            s = b - at_b * (b - a) / (at_b - at_a)
            there = value(s)
            if there * at_b <= 0:
                a, at_a = b, at_b
            else:
                at_a *= 0.5
            b, at_b = s, there
            if abs(there) < 1e-4 or abs(b - a) <= 1e-15 * max(1.0, state.t):  # of what counts as an event
                break
        return b

    def met(self, state: _State, gone: Sequence[Indicator]) -> _State:
        """The state after an event: velocities after an impact, and the contacts that stay on the ground."""
        here, _ = self.situation(state.x, state.t)
        ground, touching = self.ground, self.touching(here)
        x, had = state.x.copy(), here.energy(here.v)
        down = [i for kind, i in gone if kind == "touchdown"]
        again = down if state.t <= self.last else ()  # it did not get off the ground
        anew = not gone or any(here.velocities[i, 2] < -BOUNCES * (i not in again) for i in touching)
        if not ground.slides:  # what moves along the ground strikes it, too
            anew |= any(here.velocities[i, 2] <= BOUNCES for i in ground.moving(here) if i in touching)
        ends = [first for kind, first in gone if kind == "stick"]
        if anew or ends:
            v = ground.impact(here, touching) if anew else ground.stopped(here, state.mode, ends)
            self.plant.parts(x)["v"][:] = v
            here, _ = self.situation(x, state.t)
        self.last = state.t
        staying = [i for i in touching if abs(here.velocities[i, 2]) <= BOUNCES or i in again]
        leaving = [i for kind, i in gone if kind == "lift-off"]
        idle = [] if anew else [i for i in staying if i not in state.mode and i not in down]
        slip = [first for kind, first in gone if kind == "slip"]
        mode = ground.settled(here, staying, idle, leaving, slip)
        if mode is None:  # no forces of friction are right: it stops what slides, by an impact
            self.ground = self.grounds[1]
            return self.met(state, gone)
        stand = state.stand.copy()
        for i, d in mode.items():
            if i not in state.mode or d is not None or state.mode[i] is not None:
                stand[i] = here.p[i, :2]
        after = self.placed(_State(state.t, x, mode, stand))
        parts = self.plant.parts(after.x)
        lost = had - here.energy(parts["v"])
        parts["work"][...] -= lost
        self.tell(state, after, gone, lost if lost > ROUNDING * had else 0.0)
        return after

    def tell(self, before: _State, after: _State, gone: Sequence[Indicator], lost: float) -> None:
        """What has happened to which contact."""
        down = (after.mode.keys() - before.mode.keys()) | {i for kind, i in gone if kind == "touchdown"}  # or bounces
        now = [(i, "touchdown") for i in down] + [(i, "lift-off") for i in before.mode.keys() - after.mode.keys()]
        for i, d in after.mode.items():
            known = i in before.mode or not self.ground.slides  # what touches down may slide
            if known and (d is None) != (before.mode.get(i) is None):
                now.append((i, "stick" if d is None else "slip" if self.ground.slides else "glide"))
        takes = min((pair for pair in now if pair[1] == "touchdown"), default=None)
        takes = takes or min((pair for pair in now if pair[1] == "stick"), default=None)
        for i, what in sorted(now, key=lambda pair: (pair[0], pair[1] != "touchdown")):
            name = self.plant.model.switched[i].name
            self.events.append(Event(float(before.t), what, name, lost if (i, what) == takes else 0.0))

    def diverged(self, state: _State) -> DivergedError:
        q, v = self.plant.reported(state.x)
        return DivergedError(
            f"the motion is not finite after t = {state.t:g} s",
            where=f"robot {self.model.name!r}",
            got=f"q = {q}, v = {v}",
            fix="take a smaller dt, or weaker gains",
            sample=None, step=self.step, time=state.t, q=q, v=v,
        )  # fmt: skip

    # -- the whole motion ------------------------------------------------------------------------------------------

    def started(self) -> _State:
        x = self.setup.x0[0].copy()
        here, _ = self.situation(x, 0.0)
        lowest = int(here.p[:, 2].argmin())
        if (z := here.p[lowest, 2]) < -BELOW:
            contact = self.model.switched[self.owners[lowest]]
            fix = at_door(
                "q0 = robot.standing_position(q0) puts the lowest contact on the ground", "start it higher: --q0"
            )
            got = f"{contact.kind.word} {contact.name!r} at z = {z:g} m"
            raise LinkworkError(
                "contacts are below the ground at q0", where=f"robot {self.model.name!r}", got=got, fix=fix
            )
        down = [i for i, p in enumerate(here.p) if p[2] < NEAR and here.velocities[i, 2] < -BOUNCES]
        start = _State(0.0, x, {}, here.p[:, :2].copy())
        state = self.met(start, [("touchdown", i) for i in down])
        coming = {self.plant.model.switched[i].name for i in down}
        self.events = [event for event in self.events if event.contact in coming]  # the others stand
        return state

    def too_fast(self, state: _State) -> float:
        """The rate of a motion that the step is too long for, with what touches the ground at the start held, 0 if none
        is seen: sliding ones get shorter steps anyway."""
        steps = 1e-6 * np.eye(len(state.x))
        held = dict.fromkeys(state.mode)
        slopes = [self.rates(state.x + dx, 0.0, held) - self.rates(state.x - dx, 0.0, held) for dx in steps]
        return stability.grown(stability.modes_of(np.array(slopes).T / 2e-6), self.scheme, self.dt)

    def row(self, state: _State) -> dict[str, Any]:
        here, _ = self.situation(state.x, state.t)
        a, forces = self.forces(here, state.mode)
        on, total = np.zeros(len(self.model.switched)), np.zeros((len(self.model.switched), 6))
        for i, k in enumerate(self.owners):
            on[k] = max(on[k], float(i in state.mode))
            if i in state.mode:
                centre = here.p[self.owners == k].mean(axis=0)
                total[k] += [*forces[i], *np.cross(here.p[i] - centre, forces[i])]
        row = by_output(self.recorded, self.record(*self.given(state.x, state.t)) if self.record else ())
        independent = list(self.plant.model.mobility.independent)
        if "constraint_forces" in self.setup.outputs:
            unbalanced = here.f + np.einsum("ijk,ij->k", here.J, forces) - here.M @ a
            multipliers = np.linalg.lstsq(here.J_loops.T, unbalanced, rcond=None)[0].tolist()
            tree = self.plant.model.expand(self.plant.parts(state.x)["q"].tolist())
            row["constraint_forces"] = np.array(forces_at_cuts(self.plant.model, tree, multipliers))
        return row | {"a": a[independent], "contacts": on, "contact_forces": total.ravel()}

    def trajectory(self, method: str) -> Trajectory:
        every, state = self.options.every, self.started()
        run = Run(self.setup, method, self.dt, self.options, self.model, fixed=False)
        if rate := self.too_fast(state):
            run.warn(stability.too_long(method, self.dt, rate))
        rows = [self.row(state)]
        for k in range(self.steps):
            self.step = k
            state = self.through(state, (self.step + 1) * self.dt - state.t)
            if (self.step + 1) % every == 0:  # under what acted in the step
                rows.append(self.row(state))
        names = [each for each in self.setup.outputs if each in rows[0]]
        run.arrays = {"t": self.dt * every * np.arange(len(rows))}
        run.arrays |= {each: np.stack([row[each] for row in rows])[None] for each in names}
        run.notes.append(Note("events", self.told()))
        run.events, run.doubts = self.events, [*self.doubts()]
        run.contact_checks = () if self.grounds[0].slides else ("slip",)  # the others happen
        return run.finish()

    def doubts(self) -> Iterator[Note]:
        if long := [i for i, seconds in enumerate(self.glided) if seconds > LONG]:
            names = ", ".join(f"{self.plant.model.switched[i].name} for {self.glided[i]:.2g} s" for i in long)
            text = f"{names} glided without friction, where no forces of the ground were right"
            if self.grounds[0].slides:
                yield Note("glided", text, severity="warning")
            else:
                slip = "contacts='coulomb' lets them slip", "--contacts coulomb lets them slip"
                yield Note("glided", f"{text};", *slip, severity="warning")

    def told(self) -> str:
        if not self.events:
            return "nothing touched down or left the ground"
        counts = Counter(event.what for event in self.events)
        first = "; ".join(map(str, self.events[:FEW]))
        more = f"; and {len(self.events) - FEW} more: trajectory.events" if len(self.events) > FEW else ""
        return f"events on the ground, {', '.join(f'{n} {what}' for what, n in counts.items())}: {first}{more}"
