"""A robot's equations inside a controller: on plain numbers, and on traced ones while it is compiled."""

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
    """Of a Robot (or of its Model), for use in a controller: functions of one state, the same as those of ``Robot``,
    over numbers of any kind. Arrays of plain numbers give such arrays, those of traced numbers become part of the
    program that is being traced."""

    def __init__(self, robot: Model | HasModel):
        self.model = model_of(robot)
        self._problems: dict[tuple[str, str | None], Problem] = {}

    def gravity(self, q: Any) -> np.ndarray:
        """Forces (nv,) that hold the robot against gravity."""
        return self._evaluate("gravity", q)

    def bias(self, q: Any, v: Any, *, commands: Any = None) -> np.ndarray:
        """Forces (nv,) at zero acceleration; ``commands`` of force laws here and below: zero if not said."""
        return self._evaluate("bias", q, v, commands=commands)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, *, commands: Any = None) -> np.ndarray:
        """tau for a motion."""
        return self._evaluate("inverse_dynamics", q, v, a, commands=commands)

    def hybrid_dynamics(
        self, q: Any, v: Any, a_known: Any, tau_known: Any = None, *, commands: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Forces of the motors and accelerations of what they leave free; see ``Robot.hybrid_dynamics``."""
        if tau_known is None:
            tau_known = [0] * sizes(self.model)["tau_known"]
        return self._evaluate("hybrid_dynamics", q, v, a_known, tau_known, commands=commands)

    def inertia_matrix(self, q: Any) -> np.ndarray:
        """M (nv, nv), complete and symmetric."""
        return self._evaluate("inertia_matrix", q)

    def pose(self, frame: str, q: Any) -> np.ndarray:
        """4 x 4 pose of a link or named frame in the world."""
        return self._evaluate("pose", q, frame=frame)

    def jacobian(self, frame: str, q: Any) -> np.ndarray:
        """6 x nv: velocity of the frame's origin, then angular velocity, per joint velocity; in world axes."""
        return self._evaluate("jacobian", q, frame=frame)

    def motor_positions(self, q: Any) -> np.ndarray:
        """Those of the active joints, in the order of ``Robot.motor_names``."""
        values = self._vector("q", q)
        return np.array([values[k] for k in self.model.motor_places()])

    def motor_velocities(self, q: Any, v: Any) -> np.ndarray:
        """Those of the active joints, which may depend on the independent ones of ``v``."""
        mobility = self.model.mobility
        if set(mobility.motors) <= set(mobility.independent):
            v = self._vector("v", v)
            return np.array([v[mobility.independent.index(k)] for k in mobility.motors])
        return self._evaluate("joint_velocities", q, v)[list(mobility.motors)]

    def motor_jacobian(self, q: Any) -> np.ndarray:
        """Velocities of the motors per independent one."""
        return self._evaluate("motor_jacobian", q)

    def motor_drift(self, q: Any, v: Any) -> np.ndarray:
        """Accelerations of the motors when the independent ones are zero."""
        return self._evaluate("joint_accelerations", q, v, [0] * self.model.nv)[list(self.model.mobility.motors)]

    def _evaluate(self, quantity: str, *inputs: Any, frame: str | None = None, commands: Any = None) -> Any:
        if (quantity, frame) not in self._problems:
            method = choose(self.model, quantity) if methods(quantity) else None
            self._problems[quantity, frame] = Problem(self.model, quantity, method, frame)
        problem = self._problems[quantity, frame]
        if "commands" in problem.inputs:
            inputs = (*inputs, command_vector(self.model.commands, {} if commands is None else commands, "equations"))
        given = [self._vector(name, value) for name, value in zip(problem.inputs, inputs, strict=True)]
        results = [np.array(value) for value in problem.evaluate(*given).values()]
        return tuple(results) if len(results) > 1 else results[0]

    def _vector(self, name: str, value: Any) -> Sequence[Scalar]:
        array, size = np.asarray(value), sizes(self.model)[name]
        if array.shape != (size,):
            raise ShapeError("wrong shape", where=f"equations, input {name!r}", got=array.shape, expected=f"({size},)")
        return array.tolist()
