"""Equations of a robot inside a controller, on numbers and, while the controller is compiled, on traced numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..formulations import Problem, methods, sizes
from ..model import Model, command_vector
from ..pipeline import HasModel, choose, model_of
from ..scalar import Scalar


class Equations:
    """Quantities of a robot for use in a controller: functions of one state, with the results of those of ``Robot``.

    Arrays of numbers give arrays of numbers. Arrays of traced numbers become part of the program that is traced.

    Args:
        robot: A Robot or its Model.

    Example:
        >>> equations = linkwork.control.Equations(robot)
        >>> equations.gravity(np.zeros(7)).shape
        (7,)
    """

    def __init__(self, robot: Model | HasModel):
        self.model = model_of(robot)
        self._problems: dict[tuple[str, str | None], Problem] = {}

    def gravity(self, q: Any) -> np.ndarray:
        """Return the joint forces that balance gravity.

        Args:
            q: Positions (nq,).

        Returns:
            Forces (nv,) in N m (N).
        """
        return self._evaluate("gravity", q)

    def bias(self, q: Any, v: Any, *, commands: Any = None) -> np.ndarray:
        """Return the joint forces at zero acceleration.

        Args:
            q: Positions (nq,).
            v: Velocities (nv,).
            commands: Command inputs of the force laws, as an array or a dict by name. Default: zero.

        Returns:
            Forces (nv,) in N m (N).
        """
        return self._evaluate("bias", q, v, commands=commands)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, *, commands: Any = None) -> np.ndarray:
        """Return the joint forces of a motion.

        Args:
            q: Positions (nq,).
            v: Velocities (nv,).
            a: Accelerations (nv,).
            commands: Command inputs of the force laws, as an array or a dict by name. Default: zero.

        Returns:
            Forces tau (nv,) in N m (N).
        """
        return self._evaluate("inverse_dynamics", q, v, a, commands=commands)

    def hybrid_dynamics(
        self, q: Any, v: Any, a_known: Any, tau_known: Any = None, *, commands: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the forces of joints with known accelerations, and the accelerations of the others.

        Args:
            q: Positions (nq,).
            v: Velocities (nv,).
            a_known: Accelerations of the motors.
            tau_known: Forces of the other joints. Default: zero.
            commands: Command inputs of the force laws, as an array or a dict by name. Default: zero.

        Returns:
            Forces of the motors, and accelerations of the other joints; see ``Robot.hybrid_dynamics``.
        """
        if tau_known is None:
            tau_known = [0] * sizes(self.model)["tau_known"]
        return self._evaluate("hybrid_dynamics", q, v, a_known, tau_known, commands=commands)

    def inertia_matrix(self, q: Any) -> np.ndarray:
        """Return the joint-space inertia matrix.

        Args:
            q: Positions (nq,).

        Returns:
            Symmetric matrix M (nv, nv).
        """
        return self._evaluate("inertia_matrix", q)

    def pose(self, frame: str, q: Any) -> np.ndarray:
        """Return the pose of a frame in the world.

        Args:
            frame: Name of a link or a frame.
            q: Positions (nq,).

        Returns:
            Homogeneous transformation (4, 4).
        """
        return self._evaluate("pose", q, frame=frame)

    def jacobian(self, frame: str, q: Any) -> np.ndarray:
        """Return the geometric Jacobian of a frame, in world axes.

        Args:
            frame: Name of a link or a frame.
            q: Positions (nq,).

        Returns:
            Jacobian (6, nv): rows of the linear velocity of the frame's origin, then of the angular velocity.
        """
        return self._evaluate("jacobian", q, frame=frame)

    def motor_positions(self, q: Any) -> np.ndarray:
        """Return the positions of the active joints.

        Args:
            q: Positions (nq,).

        Returns:
            Positions (motors,), in the order of ``Robot.motor_names``.
        """
        values = self._vector("q", q)
        return np.array([values[k] for k in self.model.motor_places()])

    def motor_velocities(self, q: Any, v: Any) -> np.ndarray:
        """Return the velocities of the active joints, which may depend on the independent velocities.

        Args:
            q: Positions (nq,).
            v: Velocities (nv,).

        Returns:
            Velocities (motors,).
        """
        mobility = self.model.mobility
        if set(mobility.motors) <= set(mobility.independent):
            v = self._vector("v", v)
            return np.array([v[mobility.independent.index(k)] for k in mobility.motors])
        return self._evaluate("joint_velocities", q, v)[list(mobility.motors)]

    def motor_jacobian(self, q: Any) -> np.ndarray:
        """Return the Jacobian of the motors' velocities with respect to the independent velocities.

        Args:
            q: Positions (nq,).

        Returns:
            Jacobian (motors, nv).
        """
        return self._evaluate("motor_jacobian", q)

    def motor_drift(self, q: Any, v: Any) -> np.ndarray:
        """Return the accelerations of the motors at zero independent accelerations.

        Args:
            q: Positions (nq,).
            v: Velocities (nv,).

        Returns:
            Accelerations (motors,).
        """
        return self._evaluate("joint_accelerations", q, v, [0] * self.model.nv)[list(self.model.mobility.motors)]

    def _evaluate(self, quantity: str, *inputs: Any, frame: str | None = None, commands: Any = None) -> Any:
        if (quantity, frame) not in self._problems:
            method = choose(self.model, quantity) if methods(quantity) else None
            self._problems[quantity, frame] = Problem(self.model, quantity, method, frame)
        problem = self._problems[quantity, frame]
        if "commands" in problem.inputs:
            inputs = (*inputs, command_vector(self.model.commands, {} if commands is None else commands, "equations"))
        vectors = [self._vector(name, value) for name, value in zip(problem.inputs, inputs, strict=True)]
        results = [np.array(value) for value in problem.evaluate(*vectors).values()]
        return tuple(results) if len(results) > 1 else results[0]

    def _vector(self, name: str, value: Any) -> Sequence[Scalar]:
        array, size = np.asarray(value), sizes(self.model)[name]
        if array.shape != (size,):
            raise ShapeError("wrong shape", where=f"equations, input {name!r}", got=array.shape, expected=f"({size},)")
        return array.tolist()
