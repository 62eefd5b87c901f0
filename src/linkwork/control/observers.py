"""Observers: external joint forces from the momentum, velocities from positions.

They are ordinary functions with memory: copy one, change it, and compile it with ``robot.function``. The memory of an
observer is what it predicts for the next sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compose import TracedRobot
from ..constraints import ClosedLoops
from ..errors import UnsupportedError
from ..program.traced_array import nested_nodes


@dataclass(frozen=True, eq=False)
class MomentumObserver:
    """Observer of the generalised momentum p = M(q) v, for external joint forces (De Luca and Mattone 2003).

    The momentum changes as p' = tau + C^T v - g - friction + r, where r are the joint forces of contacts and of all
    that the model lacks. The output ``residual`` follows r as a filter of first order, residual' = gain (r -
    residual), exactly so at the sample times if r is constant. tau is constant between samples. The other forces are
    integrated by the trapezoidal rule, so their error is proportional to the square of the period. Of a robot with
    commands, such as thrusts of rotors, they are an input, held between samples as tau is.

    Args:
        gain: Gains in 1/s, one number or one per velocity (nv,).

    Example:
        >>> observer = robot.function(linkwork.control.MomentumObserver(100.0), period=1e-3)
        >>> observer.signature
        'q(7), v(7), tau(7), memory -> residual(7), memory'
    """

    gain: Any = 50.0

    def start(self, robot: TracedRobot, q: Any, v: Any, period: float) -> dict[str, Any]:
        """Return the initial memory: the momentum, so that the first residual is zero, and commands of zero, if any.

        Args:
            robot: The robot.
            q: Positions (nq,).
            v: Velocities (nv,).
            period: Sample time in s.

        Returns:
            The memory.
        """
        p, rate = _momentum(robot, q, v)
        return {"momentum": p - period / 2 * rate, **_commands(robot)}

    def __call__(
        self,
        robot: TracedRobot,
        q: Any,
        v: Any,
        tau: Any,
        memory: Any,
        period: float,
        commands: Any = None,
        gain: Any = None,
    ) -> tuple[Any, Any]:
        """Return the residual, and the momentum expected at the next sample without its part of the rate there.

        Args:
            robot: The robot.
            q: Positions (nq,).
            v: Velocities (nv,).
            tau: Joint forces of the motors until the next sample.
            memory: The memory.
            period: Sample time in s.
            commands: Commands of the force laws until the next sample. Default: zero.
            gain: Gains, if they are an input. Default: those of the observer.

        Returns:
            Output and next memory.
        """
        p, rate = _momentum(robot, q, v, memory.get("commands"))
        expected = memory["momentum"] + period / 2 * rate
        gain = np.asanyarray(self.gain if gain is None else gain)
        residual = (1 - np.exp(-gain * period)) / period * (p - expected)
        acting = _on_velocities(robot, q, tau) + _momentum(robot, q, v, commands)[1] / 2 + residual
        return {"residual": residual}, {"momentum": expected + period * acting, **_commands(robot, commands)}


@dataclass(frozen=True, eq=False)
class VelocityObserver:
    """Observer of velocities from measured positions and the joint forces, by the robot's forward dynamics.

    It predicts positions and velocities with semi-implicit Euler, and corrects both by the error of the positions. The
    errors of prediction decay as those of a critically damped filter, with the double pole exp(-bandwidth period).

    Args:
        bandwidth: How fast errors decay, in 1/s.

    Raises:
        UnsupportedError: Positions and velocities of the robot have different entries (floating bases, ball joints,
            loops).

    Example:
        >>> observer = robot.function(linkwork.control.VelocityObserver(100.0), period=1e-3)
        >>> observer.signature
        'q(7), tau(7), memory -> v(7), memory'
    """

    bandwidth: float = 100.0

    def start(self, robot: TracedRobot, q: Any) -> dict[str, Any]:
        """Return the initial memory: the measured positions, at rest.

        Args:
            robot: The robot.
            q: Positions (nq,).

        Returns:
            The memory.
        """
        if robot.nq != robot.nv or robot.model.constrained:
            got = f"{robot.nq} positions and {robot.nv} velocities"
            expected = "a robot whose velocities are the rates of its positions"
            raise UnsupportedError("a velocity observer cannot follow this robot", got=got, expected=expected)
        return {"q": q, "v": np.zeros(robot.nv)}

    def __call__(self, robot: TracedRobot, q: Any, tau: Any, memory: Any, period: float) -> tuple[Any, Any]:
        """Return the estimated velocities, and the positions and velocities expected at the next sample.

        Args:
            robot: The robot.
            q: Positions (nq,).
            tau: Joint forces until the next sample.
            memory: The memory.
            period: Sample time in s.

        Returns:
            Output and next memory.
        """
        pole = np.exp(-self.bandwidth * period)
        error = q - memory["q"]
        q = memory["q"] + (1 - pole**2) * error
        v = memory["v"] + (1 - pole) ** 2 / period * error
        following = v + period * robot.forward_dynamics(q, v, tau)
        return {"v": v}, {"q": q + period * following, "v": following}


def _momentum(robot: TracedRobot, q: Any, v: Any, commands: Any = None) -> tuple[Any, Any]:
    """Generalised momentum, and its rate without tau and external forces: C^T v - g - friction = Mdot v - bias."""
    bias = robot.bias(q, v, **_commands(robot, commands))
    return robot.inertia_matrix(q) @ v, robot.inertia_matrix_rate(q, v) @ v - bias


def _commands(robot: TracedRobot, commands: Any = None) -> dict[str, Any]:
    """Commands by name, zero by default; nothing for a robot without commands."""
    size = robot.model.commands.size
    return {"commands": np.zeros(size) if commands is None else commands} if size else {}


def _on_velocities(robot: TracedRobot, q: Any, tau: Any) -> Any:
    """Forces on the independent velocities that are equivalent to tau; they differ where others have the motors."""
    model = robot.model
    if model.mobility.forced == model.mobility.independent:
        return tau
    return np.array(ClosedLoops(model, model.expand(nested_nodes(q))).of_motors(nested_nodes(tau)))
