"""Which contacts stick to the ground, slide or leave it, at one instant: numbers, and choices among them.

With J of the contacts that touch, their normal rows n and tangential rows t, and forces F:

  (1)  M a = f + J_loops^T l + sum over contacts of J_n^T F_n + J_t^T F_t,   J_loops a = -gamma
  (2)  one that sticks:   J a = -gamma
  (3)  one that slides in the direction d:   J_n a = -gamma_n,   F_t = -mu F_n d
  (4)  all of them push:   F_n >= 0;   those that were left out rise:   J_n a + gamma_n >= 0
  (5)  those that stick are within the cone:   |F_t| <= mu F_n, of the sum over those on one body, and likewise of
       the moment about their centre of pressure

Impacts are the same of velocities and impulses, where J_n v+ = -e J_n v of contacts that come down; if not all of them
stick, each impulse is against the slip that is left after the impact: see ``coulomb_impact``. Forces that the motion
does not determine are the shortest. The sets are found by leaving out the one that pulls most, letting slide the one
that is farthest outside its cone, and taking back what would sink, until nothing is left to change. Where that has no
end there may be no such forces. Without a limit of friction, they then glide (see ``_held``), for which there always
are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ...constraints.saddle import solve_arrays
from .coulomb_impact import coulomb_impulses

SMALL = 1e-9  # of the largest force, impulse or acceleration: less is none
SLIDES = 1e-8  # m/s along the ground: slower is no sliding
TURNS = (
    5e-3  # m/s: slower sliding keeps its direction, since friction would turn the velocity faster than it is followed
)
TURNED = 50  # times that the direction of a contact that begins to slip is turned into that of its slip
BOUNCES = 1e-4  # m/s along the normal: slower bounces, of which there are more and more in a finite time, are none

Mode = dict[int, np.ndarray | None]  # contact on the ground -> the direction in which it slides, None if it sticks
Solve = Callable[..., tuple[np.ndarray, np.ndarray]]  # of a mode, and contacts held along the ground alone
Rates = Callable[[np.ndarray], np.ndarray]  # of the contacts (contacts, 3): what a solution does to them


@dataclass(frozen=True)
class Situation:
    """A state as the ground meets it: J and gamma of the loops, and J (contacts, 3, n), gamma (contacts, 3)."""

    M: np.ndarray
    f: np.ndarray
    v: np.ndarray
    J_loops: np.ndarray
    gamma_loops: np.ndarray
    J: np.ndarray
    gamma: np.ndarray
    p: np.ndarray  # (contacts, 3): where they are

    @cached_property
    def velocities(self) -> np.ndarray:
        """Of the contacts (contacts, 3)."""
        return self.J @ self.v

    def energy(self, v: np.ndarray) -> float:
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
        """x with M x = force + those of loops and contacts, J x as given; and contact forces (contacts, 3). Those in
        ``along`` but not in the mode are held along the ground alone."""
        rows, columns, wanted, places = [*self.J_loops], [*self.J_loops], [*loops], []
        for i, d in mode.items():
            if d is None:
                rows, columns, wanted = [*rows, *self.J[i]], [*columns, *self.J[i]], [*wanted, *contacts[i]]
                places += [(i, np.eye(3)[k]) for k in range(3)]
            else:  # (3)
                push = np.array([*(-friction[i] * d), 1.0])
                rows, columns, wanted = [*rows, self.J[i, 2]], [*columns, push @ self.J[i]], [*wanted, contacts[i, 2]]
                places.append((i, push))
        for i in (i for i in along if i not in mode):
            rows, columns, wanted = [*rows, *self.J[i, :2]], [*columns, *self.J[i, :2]], [*wanted, *contacts[i, :2]]
            places += [(i, np.eye(3)[k]) for k in range(2)]
        forces = np.zeros((len(self.J), 3))
        x, phi = solve_arrays(self.M, force, np.array(rows), np.array(wanted), np.array(columns))
        for (i, direction), value in zip(places, phi[len(self.J_loops) :], strict=True):
            forces[i] += value * direction
        return x, forces

    def struck(self, contacts: list[int], friction: np.ndarray, after: np.ndarray) -> np.ndarray | None:
        """Velocities after an impact of these contacts, which leave the ground at least as fast as ``after`` says, by
        impulses of Coulomb's law; None if no such impulses are found, as where a link has no inertia."""
        rows = self.J[contacts].reshape(3 * len(contacts), -1)
        try:
            change, _ = solve_arrays(self.M, rows.T, self.J_loops, np.zeros((len(self.J_loops), len(rows))))
        except np.linalg.LinAlgError:
            return None
        W = rows @ change
        p = coulomb_impulses(self.velocities[contacts] - after[contacts], 0.5 * (W + W.T), friction[contacts])
        return None if p is None else self.v + change @ p.ravel()

    def correction(self, mode: Mode, residual: np.ndarray, off: np.ndarray) -> np.ndarray:
        """The lightest step that takes the residual of the loops, and how far contacts are ``off``, away."""
        held = np.zeros_like(self.f)
        return -self.solved(mode, np.zeros(len(self.J)), held, residual, off)[0]


@dataclass(frozen=True)
class Ground:
    """What it makes of contacts. ``groups``: those on one body, which slide together or not at all: of points that one
    body holds together, single forces are a matter of choice, and only their sum and their moment are known. With
    friction there are states in which no choice of forces is right; a ground on which contacts glide has one always."""

    friction: np.ndarray
    restitution: np.ndarray
    groups: list[list[int]]
    slides: bool
    glides: bool = False  # does it push alone, without friction?

    def accelerations(self, here: Situation, mode: Mode, along: Collection[int] = ()) -> tuple[np.ndarray, np.ndarray]:
        """a, and the forces on the contacts."""
        return here.solved(mode, self.friction, here.f, -here.gamma_loops, -here.gamma, along)  # (1) (2) (3)

    def directions(self, here: Situation, mode: Mode) -> Mode:
        """Sliding goes on along the velocity there is."""
        return {i: None if d is None else _direction(here.velocities[i, :2], d, TURNS) for i, d in mode.items()}

    def onward(self, here: Situation, mode: Mode) -> Mode:
        """The same within a step: what turns back comes to a stop before, which ends the step."""
        return {
            i: d if d is None or d @ here.velocities[i, :2] < 0 else _direction(here.velocities[i, :2], d, TURNS)
            for i, d in mode.items()
        }

    def moving(self, here: Situation) -> np.ndarray:
        """Contacts that move along the ground; where none is to slide, faster than they may rise and yet stay."""
        return np.flatnonzero(np.hypot(*here.velocities[:, :2].T) > (SLIDES if self.slides else BOUNCES))

    def pace(self, here: Situation, mode: Mode, forces: np.ndarray) -> float:
        """Seconds in which friction may turn a velocity along the ground."""
        rates = [0.0]
        for i in (i for i, d in mode.items() if d is not None):
            along = here.J[i, :2]
            yields = np.linalg.norm(along @ np.linalg.solve(here.M, along.T), 2)  # 1/kg
            rates.append(self.friction[i] * forces[i, 2] * yields / max(np.hypot(*here.velocities[i, :2]), TURNS))
        return 1 / max(max(rates), 1e-12)

    def settled(
        self, here: Situation, touching: Iterable[int], idle: Iterable[int], left: Iterable[int], slip: Iterable[int]
    ) -> Mode | None:
        """Which of the contacts that touch the ground and do not rise push on it. ``idle``: those that did not so far;
        ``left``: those that just ceased to. If one would sink then, the ground held it sideways while it no longer
        pushed: it is taken back, and glides. ``slip``: groups whose force is on the cone and about to leave it."""
        start: Mode = dict.fromkeys(touching, np.zeros(2) if self.glides else None)
        for group in self._of(start) if self.slides else [[i] for i in start]:
            if any(i in self.moving(here) for i in group):
                start |= {i: _direction(here.velocities[i, :2], np.zeros(2)) for i in group}

        on = {i: d for i, d in start.items() if i not in {*idle, *left}}
        for group in self._of(on):
            if group[0] in slip and on[group[0]] is None:
                start |= self._released(here, group, self.accelerations(here, on)[1])

        solve = partial(self.accelerations, here)
        found = self._chosen(here, start, idle, left, solve, lambda a: here.J @ a + here.gamma)
        return None if found is None else found[0]

    def impact(self, here: Situation, touching: Iterable[int]) -> np.ndarray:
        """Velocities after it. Bounces that would make energy, as slanting ones that stop along the ground may,
        are smaller, so that they keep it. Where no impulses of friction are right, contacts stop."""
        start: Mode = dict.fromkeys(touching, np.zeros(2) if self.glides else None)
        back = -self.restitution * here.velocities[:, 2]

        def bounced(share: float) -> np.ndarray:
            after = np.zeros_like(here.velocities)
            after[:, 2] = np.where(back > BOUNCES, share * back, 0.0)
            solve = partial(self._jumped, here, after=after)
            given = here, start, (), (), solve, lambda v: here.J @ v
            found = self._chosen(*given)
            if self.slides and (found is None or any(d is not None for d in found[0].values())):
                v = here.struck([*start], self.friction, after)
                if v is not None:
                    return v
            found = found or replace(self, slides=False)._chosen(*given)
            assert found is not None  # without slipping there is a choice
            return found[1]

        v, most, few, many = bounced(1.0), here.energy(here.v), 0.0, 1.0
        if here.energy(v) <= most * (1 + SMALL):
            return v
        for _ in range(40):
            share = 0.5 * (few + many)
            few, many = (share, many) if here.energy(bounced(share)) <= most else (few, share)
        return bounced(few)

    def stopped(self, here: Situation, mode: Mode, ends: Iterable[int]) -> np.ndarray:
        """Velocities where the sliding of these groups ends: those that were slow enough to keep their direction have
        some left across it, and stop."""
        groups = [group for group in self._of(mode) if group[0] in ends]
        slow = [i for group in groups if np.hypot(*here.velocities[group, :2].T).max() < TURNS for i in group]
        still = np.zeros_like(here.velocities)
        return self._jumped(here, mode | dict.fromkeys(slow), after=still)[0]

    def _jumped(
        self, here: Situation, mode: Mode, along: Collection[int] = (), *, after: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Velocities, with those of the contacts (contacts, 3) as told, and the impulses."""
        return here.solved(mode, self.friction, here.M @ here.v, np.zeros(len(here.J_loops)), after, along)

    def room(self, here: Situation, mode: Mode, forces: np.ndarray) -> dict[int, float]:
        """By group, of one that sticks: how far its force is inside the cone, and its moment below what rubbing in a
        circle would give; the smaller one."""
        sticking = (group for group in self._of(mode) if mode[group[0]] is None)
        return {group[0]: min(self._rooms(here, group, forces)) for group in sticking}

    def _rooms(self, here: Situation, group: list[int], forces: np.ndarray) -> tuple[float, float]:
        """Of the force, and of the moment over its arm; points have none."""
        pushes, arms = forces[group], here.p[group, :2] - self._centre(here, group, forces)
        limits, lengths = self.friction[group] * pushes[:, 2], np.hypot(*arms.T)
        turn = limits @ lengths - abs(_cross(arms, pushes).sum())
        force = limits.sum() - np.hypot(*pushes[:, :2].sum(axis=0))
        return force, turn / max(lengths.max(), 1e-12) if len(group) > 1 else np.inf

    def sliding(self, here: Situation, mode: Mode, directions: Mode) -> dict[int, float]:
        """By group, of one that slides: the speed along directions of before."""
        found = {}
        for group in self._of(mode):
            if mode[group[0]] is not None:
                found[group[0]] = float(sum(here.velocities[i, :2] @ directions[i] for i in group))
        return found

    def _of(self, mode: Mode) -> list[list[int]]:
        """Those on one body that do the same."""
        split = (
            [i for i in group if i in mode and (mode[i] is None) == still] for group in self.groups for still in (1, 0)
        )
        return [group for group in split if group]

    def _centre(self, here: Situation, group: list[int], forces: np.ndarray) -> np.ndarray:
        """Of pressure."""
        weights = np.maximum(forces[group, 2], 1e-12)
        return weights @ here.p[group, :2] / weights.sum()

    def _released(self, here: Situation, group: list[int], forces: np.ndarray) -> Mode:
        """The group as it begins to slide: against its force, or in a circle against its moment."""
        pushes, arms = forces[group], here.p[group, :2] - self._centre(here, group, forces)
        total, (force, turn) = pushes[:, :2].sum(axis=0), self._rooms(here, group, forces)
        if force <= turn:
            return dict.fromkeys(group, _direction(-total, np.zeros(2), 0.0))
        around = -np.sign(_cross(arms, pushes).sum())
        return {i: _direction(around * np.array([-y, x]), np.zeros(2)) for i, (x, y) in zip(group, arms, strict=True)}

    def _held(
        self, here: Situation, start: Mode, left: Iterable[int], solve: Solve, rates: Rates
    ) -> tuple[Mode, np.ndarray]:
        """The same with friction without limits, where not all contacts stick or leave. Of those held along the
        ground, and push or rise, there is one choice, the least of a square. Held ones that do not push are let go,
        until all of them push; others that push glide."""
        held = {i for i, d in start.items() if d is None}
        held -= {i for group in self._of(start) if {*group} <= {*left} for i in group}
        while True:
            trial: Mode = {i: None if i in held else np.zeros(2) if d is None else d for i, d in start.items()}
            mode, x = _pushing(trial, partial(solve, along=held), rates)
            along = np.abs(rates(x)[:, :2]).max(axis=1)
            still = {i for i in mode if start[i] is None and along[i] <= SMALL * _size(along)}
            mode: Mode = {i: None if i in still else trial[i] for i in mode}
            if held <= still or np.abs(solve(mode)[0] - x).max() <= SMALL * _size(x):
                return mode, x
            held &= still

    def _chosen(
        self, here: Situation, start: Mode, idle: Iterable[int], left: Iterable[int], solve: Solve, rates: Rates
    ) -> tuple[Mode, np.ndarray] | None:
        """The mode in which nothing pulls, sinks or leaves its cone, and the solution there, if there is one."""
        if self.glides:
            return _pushing(start, solve, rates)
        if not self.slides:
            return _agreed(start, idle, left, solve, rates) or self._held(here, start, left, solve, rates)
        mode = {i: d for i, d in start.items() if i not in {*idle, *left}}
        again, begun, turns = dict.fromkeys(start, 0), set[int](), 0
        for _ in range(10 * len(start) + 10 + TURNED):
            x, forces = solve(mode)
            least = -SMALL * _size(forces)
            pulling = {i: forces[i, 2] for i in mode if forces[i, 2] < least}
            if pulling:
                del mode[min(pulling, key=pulling.__getitem__)]  # (4)
                continue
            room = self.room(here, mode, forces) if self.slides else {}
            if room and min(room.values()) < least:
                first = min(room, key=room.__getitem__)
                group = next(group for group in self._of(mode) if group[0] == first)
                mode |= self._released(here, group, forces)  # (5)
                continue
            slip, rate = rates(x)[:, :2], rates(x)[:, 2]
            along = {i: _direction(slip[i], np.zeros(2), 0.0) for i in begun.intersection(mode)}
            if any(np.abs(d - mode[i]).max() > SMALL for i, d in along.items()):
                mode, turns = mode | along, turns + 1
                if turns > TURNED:
                    break
                continue
            sinking = {i: rate[i] for i in start if i not in mode and rate[i] < -SMALL * _size(rate)}
            if not sinking:
                return mode, x
            i = min(sinking, key=sinking.__getitem__)
            again[i] += 1
            if again[i] > 2:
                break
            mode[i] = np.zeros(2) if i in {*left} else start[i]  # (4)
            if (
                again[i] == 2 and mode[i] is None
            ):  # it pulls if it sticks and sinks if it is left out: it begins to slip
                mode[i] = _direction(slip[i], np.zeros(2), 0.0)
                begun.add(i)
        mode, _ = _pushing(start | mode, solve, rates)
        x, forces = solve(mode)
        rate = rates(x)[:, 2]
        right = min([forces[i, 2] for i in mode], default=0.0) >= -SMALL * _size(forces)
        right &= min(rate[[*start]]) >= -SMALL * _size(rate)
        return (mode, x) if right else None


def _agreed(
    start: Mode, idle: Iterable[int], left: Iterable[int], solve: Solve, rates: Rates
) -> tuple[Mode, np.ndarray] | None:
    """Contacts as in ``start`` or left out, so that none pulls or sinks, if leaving out and taking back ends."""
    mode, seen = {i: d for i, d in start.items() if i not in {*idle, *left}}, []
    while {*mode} not in seen:
        x, forces = solve(mode)
        rising, size = rates(x)[:, 2], SMALL * _size(forces)
        wrong = {i: forces[i, 2] for i in mode if forces[i, 2] < (size if i in {*left} else -size)}
        wrong = wrong or {i: rising[i] for i in start if i not in mode and rising[i] < -SMALL * _size(rising)}
        if not wrong:
            return mode, x
        seen.append({*mode})
        now = {*mode} ^ {min(wrong, key=wrong.__getitem__)}
        mode = {i: d for i, d in start.items() if i in now}
    return None


def _pushing(start: Mode, solve: Solve, rates: Rates) -> tuple[Mode, np.ndarray]:
    """The same of contacts that only push, by Lawson and Hanson's way of least squares without negative unknowns, which
    comes to an end."""
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
