"""Contact modes: which contacts stick, slide or lift off at one instant.

With J of the contacts that touch the ground, their normal rows n and tangential rows t, and forces F:

  (1)  M a = f + J_loops^T l + sum over contacts of J_n^T F_n + J_t^T F_t,   J_loops a = -gamma
  (2)  one that sticks:   J a = -gamma
  (3)  one that slides in the direction d:   J_n a = -gamma_n,   F_t = -mu F_n d
  (4)  contacts in the mode push:   F_n >= 0;   the others rise:   J_n a + gamma_n >= 0
  (5)  those that stick are within the friction cone:   |F_t| <= mu F_n, of the sum over those on one body, and likewise
       of the moment about their centre of pressure

Impacts obey the same equations for velocities and impulses, where J_n v+ = -e J_n v for contacts that move down. If not
all of them stick, each impulse opposes the slip after the impact: see ``coulomb_impact``. Forces that the motion does
not determine are those of least norm.

A mode is found by active-set iteration: remove the contact that pulls most, let the one slide that is farthest outside
its cone, add back one that would sink, until nothing changes. If this does not end, there may be no forces of friction.
With unlimited friction, contacts then glide without friction (see ``_held``), for which there are always forces.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ...constraints.saddle import solve_arrays
from .coulomb_impact import coulomb_impulses

SMALL = 1e-9  # relative to the largest force, impulse or acceleration: less is zero
SLIDES = 1e-8  # m/s along the ground: slower contacts stick
TURNS = 5e-3  # m/s: slower sliding keeps its direction, which friction would turn faster than the steps resolve
TURNED = 50  # largest number of corrections to the direction of a contact that begins to slip
BOUNCES = 1e-4  # m/s along the normal: slower bounces, which become ever more frequent, are suppressed

Mode = dict[int, np.ndarray | None]  # contact on the ground -> direction in which it slides, None if it sticks
Solve = Callable[..., tuple[np.ndarray, np.ndarray]]  # from a mode, and contacts held along the ground alone
Rates = Callable[[np.ndarray], np.ndarray]  # from a solution to the rates of the contacts (contacts, 3)


@dataclass(frozen=True)
class ContactDynamics:
    """Equations of motion at a state: M, f and v, J and gamma of the loops, and of the contacts.

    J has shape (contacts, 3, n), gamma and the places p (contacts, 3).
    """

    M: np.ndarray
    f: np.ndarray
    v: np.ndarray
    J_loops: np.ndarray
    gamma_loops: np.ndarray
    J: np.ndarray
    gamma: np.ndarray
    p: np.ndarray

    @cached_property
    def velocities(self) -> np.ndarray:
        """Velocities of the contacts (contacts, 3)."""
        return self.J @ self.v

    def energy(self, v: np.ndarray) -> float:
        """Return the kinetic energy at velocities v."""
        return 0.5 * float(v @ self.M @ v)

    def solved(
        self,
        mode: Mode,
        friction: np.ndarray,
        force: np.ndarray,
        loops: np.ndarray,
        contacts: np.ndarray,
        along: Collection[int] = (),
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return x with M x = force + constraint forces and J x as given, and the contact forces (contacts, 3).

        Args:
            mode: Contacts on the ground.
            friction: Friction coefficients.
            force: Right side.
            loops: J x of the loops.
            contacts: J x of the contacts, (contacts, 3).
            along: Further contacts that are held along the ground alone.
        """
        rows, columns, targets, places = [*self.J_loops], [*self.J_loops], [*loops], []
        for i, d in mode.items():
            if d is None:
                rows, columns, targets = [*rows, *self.J[i]], [*columns, *self.J[i]], [*targets, *contacts[i]]
                places += [(i, np.eye(3)[k]) for k in range(3)]
            else:  # (3)
                push = np.array([*(-friction[i] * d), 1.0])
                rows, columns, targets = [*rows, self.J[i, 2]], [*columns, push @ self.J[i]], [*targets, contacts[i, 2]]
                places.append((i, push))
        for i in (i for i in along if i not in mode):
            rows, columns, targets = [*rows, *self.J[i, :2]], [*columns, *self.J[i, :2]], [*targets, *contacts[i, :2]]
            places += [(i, np.eye(3)[k]) for k in range(2)]
        forces = np.zeros((len(self.J), 3))
        x, phi = solve_arrays(self.M, force, np.array(rows), np.array(targets), np.array(columns))
        for (i, direction), value in zip(places, phi[len(self.J_loops) :], strict=True):
            forces[i] += value * direction
        return x, forces

    def coulomb_impact(self, contacts: list[int], friction: np.ndarray, after: np.ndarray) -> np.ndarray | None:
        """Return the velocities after an impact of these contacts by impulses of Coulomb's law.

        Contacts leave the ground at least with the velocities ``after``. None if no impulses are found, for example
        because a link has no inertia.
        """
        rows = self.J[contacts].reshape(3 * len(contacts), -1)
        try:
            change, _ = solve_arrays(self.M, rows.T, self.J_loops, np.zeros((len(self.J_loops), len(rows))))
        except np.linalg.LinAlgError:
            return None
        W = rows @ change
        p = coulomb_impulses(self.velocities[contacts] - after[contacts], 0.5 * (W + W.T), friction[contacts])
        return None if p is None else self.v + change @ p.ravel()

    def correction(self, mode: Mode, residual: np.ndarray, off: np.ndarray) -> np.ndarray:
        """Return the step of least kinetic energy that removes residuals of loops and errors ``off`` of contacts."""
        return -self.solved(mode, np.zeros(len(self.J)), np.zeros_like(self.f), residual, off)[0]


@dataclass(frozen=True)
class Ground:
    """The ground, which chooses contact modes and computes impacts.

    With friction there are states for which no contact forces exist; a frictionless ground (``glides``) always has
    some.

    Attributes:
        friction: Friction coefficients (contacts,).
        restitution: Coefficients of restitution (contacts,).
        groups: Contacts on one body, which slide together or not at all: only the sum and the moment of their forces
            are determined.
        slides: Whether contacts may slide; otherwise friction is unlimited.
        glides: Whether there is no friction at all.
    """

    friction: np.ndarray
    restitution: np.ndarray
    groups: list[list[int]]
    slides: bool
    glides: bool = False

    def accelerations(
        self, dynamics: ContactDynamics, mode: Mode, along: Collection[int] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a, and the forces on the contacts."""
        loops, contacts = -dynamics.gamma_loops, -dynamics.gamma
        return dynamics.solved(mode, self.friction, dynamics.f, loops, contacts, along)  # (1) (2) (3)

    def directions(self, dynamics: ContactDynamics, mode: Mode) -> Mode:
        """Return a mode with sliding directions along the current velocities."""
        return {i: None if d is None else _direction(dynamics.velocities[i, :2], d, TURNS) for i, d in mode.items()}

    def directions_in_step(self, dynamics: ContactDynamics, mode: Mode) -> Mode:
        """Return a mode with sliding directions within a step; none reverses, since stopping ends the step."""
        turned, v = self.directions(dynamics, mode), dynamics.velocities
        return {i: d if d is None or d @ v[i, :2] < 0 else turned[i] for i, d in mode.items()}

    def moving(self, dynamics: ContactDynamics) -> np.ndarray:
        """Return the contacts that move along the ground; without sliding, faster than suppressed bounces."""
        return np.flatnonzero(np.hypot(*dynamics.velocities[:, :2].T) > (SLIDES if self.slides else BOUNCES))

    def pace(self, dynamics: ContactDynamics, mode: Mode, forces: np.ndarray) -> float:
        """Return the time in s in which friction may turn a sliding velocity."""
        rates = [0.0]
        for i in (i for i, d in mode.items() if d is not None):
            tangential = dynamics.J[i, :2]
            mobility = np.linalg.norm(tangential @ np.linalg.solve(dynamics.M, tangential.T), 2)  # 1/kg
            rates.append(self.friction[i] * forces[i, 2] * mobility / max(np.hypot(*dynamics.velocities[i, :2]), TURNS))
        return 1 / max(max(rates), 1e-12)

    def choose_mode(
        self,
        dynamics: ContactDynamics,
        touching: Iterable[int],
        idle: Iterable[int],
        left: Iterable[int],
        slip: Iterable[int],
    ) -> Mode | None:
        """Return the mode at a state; None if there are no forces of friction.

        Args:
            dynamics: Equations of motion.
            touching: Contacts that touch the ground and do not rise.
            idle: Those that have not pushed so far.
            left: Those that have just ceased to push. One that would sink without the tangential force that held it is
                added back, and glides.
            slip: First contacts of groups whose force is about to leave the friction cone.
        """
        start: Mode = dict.fromkeys(touching, np.zeros(2) if self.glides else None)
        for group in self._groups_in(start) if self.slides else [[i] for i in start]:
            if any(i in self.moving(dynamics) for i in group):
                start |= {i: _direction(dynamics.velocities[i, :2], np.zeros(2)) for i in group}

        pushing = {i: d for i, d in start.items() if i not in {*idle, *left}}
        for group in self._groups_in(pushing):
            if group[0] in slip and pushing[group[0]] is None:
                start |= self._released(dynamics, group, self.accelerations(dynamics, pushing)[1])

        solve = partial(self.accelerations, dynamics)
        solution = self._solved_mode(dynamics, start, idle, left, solve, lambda a: dynamics.J @ a + dynamics.gamma)
        return None if solution is None else solution[0]

    def impact(self, dynamics: ContactDynamics, touching: Iterable[int]) -> np.ndarray:
        """Return the velocities after an impact of the touching contacts.

        Bounces that would gain energy, as oblique ones that stop along the ground may, are reduced until they do not.
        Where there are no impulses of friction, contacts stop.
        """
        start: Mode = dict.fromkeys(touching, np.zeros(2) if self.glides else None)
        back = -self.restitution * dynamics.velocities[:, 2]

        def bounced(share: float) -> np.ndarray:
            after = np.zeros_like(dynamics.velocities)
            after[:, 2] = np.where(back > BOUNCES, share * back, 0.0)
            solve = partial(self._impulses, dynamics, after=after)
            arguments = dynamics, start, (), (), solve, lambda v: dynamics.J @ v
            solution = self._solved_mode(*arguments)
            if self.slides and (solution is None or any(d is not None for d in solution[0].values())):
                v = dynamics.coulomb_impact([*start], self.friction, after)
                if v is not None:
                    return v
            solution = solution or replace(self, slides=False)._solved_mode(*arguments)
            assert solution is not None  # without sliding there is always a mode
            return solution[1]

        v, available, low, high = bounced(1.0), dynamics.energy(dynamics.v), 0.0, 1.0
        if dynamics.energy(v) <= available * (1 + SMALL):
            return v
        for _ in range(40):
            share = 0.5 * (low + high)
            low, high = (share, high) if dynamics.energy(bounced(share)) <= available else (low, share)
        return bounced(low)

    def stopped(self, dynamics: ContactDynamics, mode: Mode, ends: Iterable[int]) -> np.ndarray:
        """Return the velocities after the sliding of these groups ends.

        Groups that slid so slowly that their direction was kept have a velocity left across it, and stop.
        """
        groups = [group for group in self._groups_in(mode) if group[0] in ends]
        slow = [i for group in groups if np.hypot(*dynamics.velocities[group, :2].T).max() < TURNS for i in group]
        return self._impulses(dynamics, mode | dict.fromkeys(slow), after=np.zeros_like(dynamics.velocities))[0]

    def _impulses(
        self, dynamics: ContactDynamics, mode: Mode, along: Collection[int] = (), *, after: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Velocities for which those of the contacts are ``after`` (contacts, 3), and the impulses."""
        return dynamics.solved(
            mode, self.friction, dynamics.M @ dynamics.v, np.zeros(len(dynamics.J_loops)), after, along
        )

    def margins(self, dynamics: ContactDynamics, mode: Mode, forces: np.ndarray) -> dict[int, float]:
        """Return the distance in N of each sticking group from sliding or turning on the spot, by first contact."""
        sticking = (group for group in self._groups_in(mode) if mode[group[0]] is None)
        return {group[0]: min(self._margins(dynamics, group, forces)) for group in sticking}

    def _margins(self, dynamics: ContactDynamics, group: list[int], forces: np.ndarray) -> tuple[float, float]:
        """Margin of the force, and of the moment by its arm, which is infinite for a single point."""
        pushes, arms = forces[group], dynamics.p[group, :2] - self._centre(dynamics, group, forces)
        limits, lengths = self.friction[group] * pushes[:, 2], np.hypot(*arms.T)
        turn = limits @ lengths - abs(_cross(arms, pushes).sum())
        force = limits.sum() - np.hypot(*pushes[:, :2].sum(axis=0))
        return force, turn / max(lengths.max(), 1e-12) if len(group) > 1 else np.inf

    def sliding(self, dynamics: ContactDynamics, mode: Mode, directions: Mode) -> dict[int, float]:
        """Return the speed of each sliding group along earlier directions, by first contact."""
        return {
            group[0]: float(sum(dynamics.velocities[i, :2] @ directions[i] for i in group))
            for group in self._groups_in(mode)
            if mode[group[0]] is not None
        }

    def _groups_in(self, mode: Mode) -> list[list[int]]:
        """Groups of contacts of a mode on one body that all stick or all slide."""
        split = (
            [i for i in group if i in mode and (mode[i] is None) == still] for group in self.groups for still in (1, 0)
        )
        return [group for group in split if group]

    def _centre(self, dynamics: ContactDynamics, group: list[int], forces: np.ndarray) -> np.ndarray:
        """Centre of pressure of a group."""
        weights = np.maximum(forces[group, 2], 1e-12)
        return weights @ dynamics.p[group, :2] / weights.sum()

    def _released(self, dynamics: ContactDynamics, group: list[int], forces: np.ndarray) -> Mode:
        """Mode of a group that begins to slide: against its force, or to turn on the spot, against its moment."""
        pushes, arms = forces[group], dynamics.p[group, :2] - self._centre(dynamics, group, forces)
        total, (force, turn) = pushes[:, :2].sum(axis=0), self._margins(dynamics, group, forces)
        if force <= turn:
            return dict.fromkeys(group, _direction(-total, np.zeros(2), 0.0))
        sense = -np.sign(_cross(arms, pushes).sum())
        return {i: _direction(sense * np.array([-y, x]), np.zeros(2)) for i, (x, y) in zip(group, arms, strict=True)}

    def _held(
        self, dynamics: ContactDynamics, start: Mode, left: Iterable[int], solve: Solve, rates: Rates
    ) -> tuple[Mode, np.ndarray]:
        """Mode and solution with unlimited friction, where contacts do not all stick or lift off.

        For a given set of contacts held along the ground, those that push follow uniquely from a least-squares problem.
        Held contacts that do not push are released, until all of them push; others that push glide.
        """
        held = {i for i, d in start.items() if d is None}
        held -= {i for group in self._groups_in(start) if {*group} <= {*left} for i in group}
        while True:
            trial: Mode = {i: None if i in held else np.zeros(2) if d is None else d for i, d in start.items()}
            mode, x = _pushing(trial, partial(solve, along=held), rates)
            slip = np.abs(rates(x)[:, :2]).max(axis=1)
            sticking = {i for i in mode if start[i] is None and slip[i] <= SMALL * _size(slip)}
            mode: Mode = {i: None if i in sticking else trial[i] for i in mode}
            if held <= sticking or np.abs(solve(mode)[0] - x).max() <= SMALL * _size(x):
                return mode, x
            held &= sticking

    def _solved_mode(
        self,
        dynamics: ContactDynamics,
        start: Mode,
        idle: Iterable[int],
        left: Iterable[int],
        solve: Solve,
        rates: Rates,
    ) -> tuple[Mode, np.ndarray] | None:
        """Mode in which no contact pulls, sinks or leaves its cone, and its solution; None if there is none."""
        if self.glides:
            return _pushing(start, solve, rates)
        if not self.slides:
            return _consistent(start, idle, left, solve, rates) or self._held(dynamics, start, left, solve, rates)
        mode = {i: d for i, d in start.items() if i not in {*idle, *left}}
        added, slipping, turns = dict.fromkeys(start, 0), set[int](), 0
        for _ in range(10 * len(start) + 10 + TURNED):
            x, forces = solve(mode)
            least = -SMALL * _size(forces)
            pulling = {i: forces[i, 2] for i in mode if forces[i, 2] < least}
            if pulling:
                del mode[min(pulling, key=pulling.__getitem__)]  # (4)
                continue
            margins = self.margins(dynamics, mode, forces)
            if margins and min(margins.values()) < least:
                first = min(margins, key=margins.__getitem__)
                group = next(group for group in self._groups_in(mode) if group[0] == first)
                mode |= self._released(dynamics, group, forces)  # (5)
                continue
            slip, rate = rates(x)[:, :2], rates(x)[:, 2]
            directions = {i: _direction(slip[i], np.zeros(2), 0.0) for i in slipping.intersection(mode)}
            if any(np.abs(d - mode[i]).max() > SMALL for i, d in directions.items()):
                mode, turns = mode | directions, turns + 1
                if turns > TURNED:
                    break
                continue
            sinking = {i: rate[i] for i in start if i not in mode and rate[i] < -SMALL * _size(rate)}
            if not sinking:
                return mode, x
            i = min(sinking, key=sinking.__getitem__)
            added[i] += 1
            if added[i] > 2:
                break
            mode[i] = np.zeros(2) if i in {*left} else start[i]  # (4)
            if added[i] == 2 and mode[i] is None:  # it pulls if it sticks and sinks if it is removed, so it slips
                mode[i] = _direction(slip[i], np.zeros(2), 0.0)
                slipping.add(i)
        mode, _ = _pushing(start | mode, solve, rates)
        x, forces = solve(mode)
        rate = rates(x)[:, 2]
        valid = min([forces[i, 2] for i in mode], default=0.0) >= -SMALL * _size(forces)
        valid &= min(rate[[*start]]) >= -SMALL * _size(rate)
        return (mode, x) if valid else None


def _consistent(
    start: Mode, idle: Iterable[int], left: Iterable[int], solve: Solve, rates: Rates
) -> tuple[Mode, np.ndarray] | None:
    """Subset of ``start`` in which no contact pulls or sinks, and its solution; None if the iteration cycles."""
    mode, seen = {i: d for i, d in start.items() if i not in {*idle, *left}}, []
    while {*mode} not in seen:
        x, forces = solve(mode)
        rate, size = rates(x)[:, 2], SMALL * _size(forces)
        violated = {i: forces[i, 2] for i in mode if forces[i, 2] < (size if i in {*left} else -size)}
        violated = violated or {i: rate[i] for i in start if i not in mode and rate[i] < -SMALL * _size(rate)}
        if not violated:
            return mode, x
        seen.append({*mode})
        changed = {*mode} ^ {min(violated, key=violated.__getitem__)}
        mode = {i: d for i, d in start.items() if i in changed}
    return None


def _pushing(start: Mode, solve: Solve, rates: Rates) -> tuple[Mode, np.ndarray]:
    """Mode and solution of contacts that only push, by Lawson and Hanson's non-negative least squares, which ends."""
    mode: Mode = {}
    pushes = dict.fromkeys(start, 0.0)
    x = solve(mode)[0]
    for _ in range(10 * len(start) + 10):
        rate = rates(x)[:, 2]
        sinking = {i: rate[i] for i in start if i not in mode and rate[i] < -SMALL * _size(rate)}
        if not sinking:
            break
        i = min(sinking, key=sinking.__getitem__)
        mode[i] = start[i]
        while mode:
            x, forces = solve(mode)
            if all(forces[k, 2] > 0 for k in mode):
                pushes |= {k: forces[k, 2] for k in mode}
                break
            share = min(pushes[k] / (pushes[k] - forces[k, 2]) for k in mode if forces[k, 2] <= 0)
            pushes |= {k: pushes[k] + share * (forces[k, 2] - pushes[k]) for k in mode}
            least = min(mode, key=pushes.__getitem__)
            mode = {k: d for k, d in mode.items() if k != least and pushes[k] > 0}
            pushes |= {k: 0.0 for k in pushes if k not in mode}
    return mode, x


def _size(x: np.ndarray) -> float:
    return max(1.0, np.abs(x).max(initial=0.0))


def _direction(velocity: np.ndarray, otherwise: np.ndarray, above: float = SLIDES) -> np.ndarray:
    speed = float(np.hypot(*velocity))
    return velocity / speed if speed > above else otherwise


def _cross(arms: np.ndarray, pushes: np.ndarray) -> np.ndarray:
    return arms[:, 0] * pushes[:, 1] - arms[:, 1] * pushes[:, 0]
