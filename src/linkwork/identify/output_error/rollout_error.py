"""Output error: differences of simulations and recordings, and their derivatives with respect to all unknowns.

All segments are one batch of rollouts. Derivatives go forward in time with them, exact for the steps as they are made.
Those by the start of a segment concern this segment alone, and are eliminated from the normal equations:

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

UNSHARED = 2**18  # multiplications of a product that BLAS does not distribute among threads


@dataclass(frozen=True, eq=False)
class Starts:
    """States at the starts of all segments; ``memory`` holds states of the controller by name."""

    q: np.ndarray
    v: np.ndarray
    memory: Mapping[str, np.ndarray]

    def moved(self, robot: Robot, step: np.ndarray) -> Starts:
        """Return the starts after steps (segments, n) along the tangent of q, of v and of the memory."""
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
        """Return H and g without the starts."""
        both = np.concatenate([self.B, self.g0[..., None]], axis=2)
        solved = np.linalg.solve(self._damped(damping), both)
        reduction = np.einsum("sij,sik->jk", self.B, solved)
        return self.H - reduction[:, :-1], self.g - reduction[:, -1]

    def starts(self, step: np.ndarray, damping: float = 0.0) -> np.ndarray:
        """Return d0 of each segment."""
        return -np.linalg.solve(self._damped(damping), (self.g0 + self.B @ step)[..., None])[..., 0]

    def promised(self, damping: float = 0.0) -> float:
        """Return by how much the cost decreases if only the starts move."""
        return 0.5 * float((self.g0 * np.linalg.solve(self._damped(damping), self.g0[..., None])[..., 0]).sum())

    def _damped(self, damping: float) -> np.ndarray:
        """Return H0 with damping; what no output determines of a start stays as it is."""
        diagonal = np.einsum("sii->si", self.H0)
        least = 1e-12 * diagonal.max(axis=1, keepdims=True, initial=0.0) + np.finfo(float).tiny
        return self.H0 + (damping * diagonal + least)[..., None] * np.eye(diagonal.shape[1])

    def turned(self, slopes: np.ndarray) -> Equations:
        """Return the equations in unknowns by which the inputs have these derivatives, a matrix."""
        return replace(self, H=slopes.T @ self.H @ slopes, g=slopes.T @ self.g, B=self.B @ slopes)


@dataclass(frozen=True, eq=False)
class Residuals:
    """A simulation, and its ``differences`` from the recordings, (segments, rows, entries), zero where nothing was
    measured."""

    run: Trajectory
    differences: np.ndarray

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.differences).all())


@dataclass(frozen=True, eq=False)
class OutputError:
    """The output error of segments.

    Attributes:
        searched: The unknowns.
        segments: The recordings.
        controller: The controller; None where torques are the command.
        options: Options of the rollouts.
        initial: Whether the starts are unknown, too.
    """

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
        """Measured outputs side by side."""
        return np.concatenate(list(self.segments.measured.values()), axis=2)

    @cached_property
    def there(self) -> np.ndarray:
        """Mask of what was measured."""
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
            warnings.simplefilter("ignore", SimulationWarning)  # trial parameters may be strange
            setup = prepare(self.robot, starts.q, starts.v, segments.steps, segments.dt, options, names)
            trajectory = run_steps(setup, method, segments.dt, segments.steps, options, check=False).finish()
        computed = np.concatenate([trajectory[name] for name in self.outputs], axis=2)
        return Residuals(trajectory, np.where(self.there, computed - self.measured, 0.0))

    def equations(self, z: np.ndarray, residuals: Residuals, weights: np.ndarray) -> Equations:
        """Return the normal equations with these ``weights`` of the entries of the outputs."""
        forward = self.forward(z, residuals.run)
        p, columns, segments = len(self.searched), forward.columns, len(self.segments.q0)
        products, gradients = np.zeros((segments, columns, columns)), np.zeros((segments, columns))
        weighted = np.where(self.there, weights, 0.0)
        r = weighted * residuals.differences
        for group, rows, slopes in forward.blocks(self.outputs):
            slopes *= weighted[group, rows, :, None]
            part = r[group, rows].reshape(len(slopes), -1)
            for s, (J, residual) in enumerate(
                zip(slopes.reshape(len(slopes), -1, columns), part, strict=True), group.start
            ):
                _add_products(products[s], gradients[s], J, residual)
        H, H0, B = products[:, :p, :p].sum(axis=0), products[:, p:, p:], products[:, p:, :p]
        return Equations(H, gradients[:, :p].sum(axis=0), H0, B, gradients[:, p:]).turned(self.searched.input_slopes(z))

    def forward(self, z: np.ndarray, trajectory: Trajectory) -> Forward:
        """Return derivatives with respect to the unknowns, without logarithms, then to the starts."""
        by_delay = {}
        if self.searched.delay:
            _, slope = self.segments.commanded(self.searched.seconds(z))
            by_delay = {"tau" if self.controller is None else REFERENCE: slope}
        return Forward(
            trajectory.tape, self.searched.constants, by_delay, self._along(trajectory) if self.initial else None
        )

    def _along(self, trajectory: Trajectory) -> np.ndarray:
        """Return derivatives of the starts with respect to their steps, as ``Starts.moved`` makes them."""
        tape, nv = trajectory.tape, self.robot.nv
        plant = tape.plant
        memory = sum(port.size for port in plant.state if port.name.startswith(MEMORY))
        along = np.zeros((len(tape.setup.x0), plant.state_size, 2 * nv + memory))
        nq = plant.model.nq
        along[:, :nq, :nv] = tape.tangent()
        for k in range(nv + memory):
            along[:, nq + k, nv + k] = 1.0
        return along


def _add_products(H: np.ndarray, g: np.ndarray, J: np.ndarray, r: np.ndarray) -> None:
    """Add J^T J and J^T r in parts that BLAS does not distribute among threads, which would wait for each other."""
    count = max(1, UNSHARED // J.shape[1] ** 2)
    for k in range(0, len(J), count):
        part = J[k : k + count]
        H += part.T @ part
        g += part.T @ r[k : k + count]
