"""Output error: recordings beside simulations of the same segments, and its slopes by all that is searched for.

All segments are one batch of rollouts. Slopes go forward through time with them, exact for the steps as they are made;
those by the starts of segments concern one segment each, and are eliminated from the normal equations:

  (1)  [ H    B^T ] [ d  ]     [ g  ]        (H - sum B^T H0^-1 B) d = -(g - sum B^T H0^-1 g0)
       [ B    H0  ] [ d0 ] = - [ g0 ]        d0 = -H0^-1 (g0 + B d)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Point
from ...errors import SimulationWarning
from ...sim import Options, Trajectory
from ...sim.derivatives.forward_sensitivity import Forward
from ...sim.plant.instant import MEMORY, REFERENCE
from ...sim.plant.setup import prepare
from ...sim.schemes.fixed_steps import run_steps
from .search_variables import Searched
from .segments import Segments

if TYPE_CHECKING:
    from ...robot import Robot

UNSHARED = 2**18  # multiplications of a product


@dataclass(frozen=True, eq=False)
class Starts:
    """Of all segments; ``memory`` of the controller by name."""

    q: np.ndarray
    v: np.ndarray
    memory: Mapping[str, np.ndarray]

    def moved(self, robot: Robot, step: np.ndarray) -> Starts:
        """By steps (segments, n) along the tangent of q, of v, of the memory."""
        nv, at = robot.nv, 2 * robot.nv
        memory = {}
        for name, values in self.memory.items():
            size = values[0].size
            memory[name] = values + step[:, at : at + size].reshape(values.shape)
            at += size
        q = robot.coordinates.integrate(self.q, step[:, :nv])
        return Starts(np.asarray(q), self.v + step[:, nv : 2 * nv], memory)


@dataclass(frozen=True, eq=False)
class Equations:
    """Normal equations (1) of a linearised problem; ``H0``, ``B`` and ``g0`` are empty where starts are known."""

    H: np.ndarray
    g: np.ndarray
    H0: np.ndarray
    B: np.ndarray
    g0: np.ndarray

    def eliminated(self, damping: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """H and g without the starts."""
        if not self.H0.size:
            return self.H, self.g
        both = np.concatenate([self.B, self.g0[..., None]], axis=2)
        solved = np.linalg.solve(self._damped(damping), both)
        less = np.einsum("sij,sik->jk", self.B, solved)
        return self.H - less[:, :-1], self.g - less[:, -1]

    def starts(self, step: np.ndarray, damping: float = 0.0) -> np.ndarray:
        """d0 of each segment."""
        if not self.H0.size:
            return self.g0
        return -np.linalg.solve(self._damped(damping), (self.g0 + self.B @ step)[..., None])[..., 0]

    def promised(self, damping: float = 0.0) -> float:
        """By how much the cost shrinks if only the starts move."""
        if not self.H0.size:
            return 0.0
        return 0.5 * float((self.g0 * np.linalg.solve(self._damped(damping), self.g0[..., None])[..., 0]).sum())

    def _damped(self, damping: float) -> np.ndarray:
        """What no output tells of a start stays as it is."""
        diagonal = np.einsum("sii->si", self.H0)
        least = 1e-12 * diagonal.max(axis=1, keepdims=True) + np.finfo(float).tiny
        return self.H0 + (damping * diagonal + least)[..., None] * np.eye(diagonal.shape[1])

    def turned(self, slopes: np.ndarray) -> Equations:
        """In unknowns by which the inputs have these slopes, a matrix."""
        return replace(self, H=slopes.T @ self.H @ slopes, g=slopes.T @ self.g, B=self.B @ slopes)


@dataclass(frozen=True, eq=False)
class Residuals:
    """``run``: the simulation; ``differences``: from what was measured, (segments, rows, entries of all outputs), zero
    where nothing was."""

    run: Trajectory
    differences: np.ndarray

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.differences).all())


@dataclass(frozen=True, eq=False)
class OutputError:
    """``options``: of the rollouts; ``controller``: none where torques are the command. ``initial``: are the starts
    searched for?"""

    searched: Searched
    segments: Segments
    controller: Any
    options: Mapping[str, Any]
    initial: bool

    @property
    def robot(self) -> Robot:
        return self.searched.robot

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.segments.measured)

    @cached_property
    def measured(self) -> np.ndarray:
        """Of all outputs side by side."""
        return np.concatenate(list(self.segments.measured.values()), axis=2)

    @cached_property
    def there(self) -> np.ndarray:
        """Where something was measured."""
        return np.isfinite(self.measured)

    def simulated(self, z: np.ndarray, starts: Starts) -> Residuals:
        command, _ = self.segments.commanded(self.searched.seconds(z))
        torque, reference = command, None
        if self.controller is not None:
            torque, reference = self.controller, Point(*np.moveaxis(command, 2, 0))
        names = ("q", "v", *(["tau"] if "tau" in self.outputs else []))
        segments, method = self.segments, self.options["method"]
        options = Options(
            torque=torque, reference=reference, memory=starts.memory or None, vary=self.searched.vary(z),
            every=segments.parts, outputs=names, checkpoint_every=1, diverged="keep", progress=False, **self.options,
        )  # fmt: skip
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", SimulationWarning)  # on the way any robot may come along
            setup = prepare(self.robot, starts.q, starts.v, segments.steps, segments.dt, options, names)
            run = run_steps(setup, method, segments.dt, segments.steps, options, check=False).finish()
        made = np.concatenate([run[name] for name in self.outputs], axis=2)
        return Residuals(run, np.where(self.there, made - self.measured, 0.0))

    def equations(self, z: np.ndarray, residuals: Residuals, weights: np.ndarray) -> Equations:
        """``weights``: of the entries of the outputs."""
        forward = self.forward(z, residuals.run)
        p, columns, segments = len(self.searched), forward.columns, len(self.segments.q0)
        whole, right = np.zeros((segments, columns, columns)), np.zeros((segments, columns))
        weighted = np.where(self.there, weights, 0.0)
        r = weighted * residuals.differences
        for group, rows, slopes in forward.blocks(self.outputs):
            slopes *= weighted[group, rows, :, None]
            left = r[group, rows].reshape(len(slopes), -1)
            for s, (J, own) in enumerate(zip(slopes.reshape(len(slopes), -1, columns), left, strict=True), group.start):
                _add_products(whole[s], right[s], J, own)
        H, H0, B = whole[:, :p, :p].sum(axis=0), whole[:, p:, p:], whole[:, p:, :p]
        return Equations(H, right[:, :p].sum(axis=0), H0, B, right[:, p:]).turned(self.searched.input_slopes(z))

    def forward(self, z: np.ndarray, run: Trajectory) -> Forward:
        """Slopes by the unknowns, without logarithms, then by the starts."""
        held = {}
        if self.searched.delay:
            _, slope = self.segments.commanded(self.searched.seconds(z))
            held = {"tau" if self.controller is None else REFERENCE: slope}
        return Forward(run.tape, self.searched.constants, held, self._along(run) if self.initial else None)

    def _along(self, run: Trajectory) -> np.ndarray:
        """Slopes of the starts by steps of theirs, as ``Starts.moved`` makes them."""
        tape, nv = run.tape, self.robot.nv
        plant = tape.plant
        memory = sum(port.size for port in plant.state if port.name.startswith(MEMORY))
        along = np.zeros((len(tape.setup.x0), plant.state_size, 2 * nv + memory))
        nq = plant.model.nq
        along[:, :nq, :nv] = tape.tangent()
        for k in range(nv + memory):
            along[:, nq + k, nv + k] = 1.0
        return along


def _add_products(H: np.ndarray, g: np.ndarray, J: np.ndarray, r: np.ndarray) -> None:
    """J^T J and J^T r. In parts that BLAS does not share among threads: where others work too, these wait for each
    other ten times as long as the product takes."""
    count = max(1, UNSHARED // J.shape[1] ** 2)
    for k in range(0, len(J), count):
        part = J[k : k + count]
        H += part.T @ part
        g += part.T @ r[k : k + count]
