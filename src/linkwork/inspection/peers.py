"""Pinocchio on the same URDF and the same states: results are compared before it is timed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .. import io
from ..errors import LinkworkError, UnsupportedError, missing_package
from ..robot import Robot
from .measure import deviation, seconds
from .states import random_states


class Pinocchio:
    """A robot in Pinocchio: the URDF file ``path``, and ``robot``, the same in linkwork without friction and rotors."""

    def __init__(self, path: str, robot: Robot):
        if Path(path).suffix.lower() != ".urdf":
            urdf = f"{Path(path).stem}.urdf"
            raise UnsupportedError(
                "Pinocchio reads URDF only", where="--pinocchio", got=path,
                fix=f"linkwork convert {path} {urdf}, then linkwork bench {urdf} --pinocchio",
            )  # fmt: skip
        try:
            pinocchio: Any = import_module("pinocchio")
        except ImportError as error:
            raise missing_package("Pinocchio", "pip install pin", "--pinocchio") from error
        self.library, self.robot = pinocchio, robot
        self.version = str(pinocchio.__version__)
        floating = self.robot.model.moving_base
        base = (pinocchio.JointModelFreeFlyer(),) if floating and not io.read(path).floating else ()
        self.model = pinocchio.buildModelFromUrdf(path, *base)
        self.model.gravity.linear = np.array(list(self.robot.model.gravity))
        self.model.armature[:] = 0
        names = list(self.model.names)[2 if floating else 1 :]
        if self.model.nv < 2:  # its bindings take a single row for a column, and abort
            raise UnsupportedError("robots with a single joint are not compared", where="--pinocchio", got=path)
        if sorted(names) != sorted(self.robot.joint_names):
            raise UnsupportedError(
                "Pinocchio reads other joints from this file", where="--pinocchio", got=", ".join(names),
                expected=", ".join(self.robot.joint_names), fix="--no-mimic, if the file has mimic joints",
            )  # fmt: skip
        self.data = self.model.createData()

    def measure(self, quantity: str, batch: int) -> dict[str, Any]:
        states = random_states(self.robot, batch)
        ours = self.robot.compile(quantity, backend="interpreter")
        inputs = [port.name for port in ours.program.inputs if port.name != "commands"]
        expected = ours(*(states[name][:16] for name in inputs))
        q, *rest = [self._positions(states["q"]), *(self._velocities(states[name]) for name in inputs[1:])]
        call = {
            "inverse_dynamics": self.library.rnea,
            "forward_dynamics": self.library.aba,
            "inertia_matrix": self.library.crba,
        }[quantity]
        rows = zip(q[: len(expected)], *rest, strict=False)
        theirs = np.array([np.array(call(self.model, self.data, *row)) for row in rows])
        if quantity == "inertia_matrix":
            theirs = np.triu(theirs) + np.triu(theirs, 1).swapaxes(-1, -2)
            theirs = theirs[:, self._order][:, :, self._order]
        else:
            theirs = theirs[:, self._order]
        difference = deviation(theirs, expected)
        if not difference < 1e-8:
            got = f"relative deviation {difference:.1e}"
            raise LinkworkError(f"Pinocchio's {quantity} differs, so it is not timed", where="--pinocchio", got=got)
        one = seconds(lambda: call(self.model, self.data, q[0], *(x[0] for x in rest)))
        return {
            "quantity": quantity,
            "batch_ns_per_state": self._batch(quantity, q, rest) * 1e9,
            "one_call_us": one * 1e6,
            "deviation": difference,
        }

    def _batch(self, quantity: str, q: np.ndarray, rest: list[np.ndarray]) -> float:
        """Return the seconds per state."""
        if quantity == "inertia_matrix":
            return seconds(lambda: [self.library.crba(self.model, self.data, x) for x in q], repeats=5) / len(q)
        pool = self.library.ModelPool(self.model, 1)
        function = self.library.rneaInParallel if quantity == "inverse_dynamics" else self.library.abaInParallel
        arguments = [np.asfortranarray(x.T) for x in (q, *rest)]
        out = np.zeros_like(arguments[-1])
        return seconds(lambda: function(1, pool, *arguments, out), repeats=5) / len(q)

    @property
    def _order(self) -> list[int]:
        """Index of each of our velocities in Pinocchio's vector."""
        joints = map(self._joint, self.robot.coordinates.velocities.joints)
        return [k for joint in joints for k in range(joint.idx_v, joint.idx_v + joint.nv)]

    def _joint(self, name: str) -> Any:
        """Return Pinocchio's joint of that name; a floating base may have another name there."""
        base = self.robot.model.moving_base and name == self.robot.coordinates.joints[0].name
        return self.model.joints[1 if base else self.model.getJointId(name)]

    def _velocities(self, v: np.ndarray) -> np.ndarray:
        result = np.empty_like(v)
        result[:, self._order] = v
        return result

    def _positions(self, q: np.ndarray) -> np.ndarray:
        """Convert positions: Pinocchio has the angle of a continuous or planar joint as cosine and sine."""
        result = np.empty((len(q), self.model.nq))
        for name, at in self.robot.coordinates.positions.places.items():
            joint, values = self._joint(name), q[:, at]
            if joint.nq > values.shape[1]:
                values = np.column_stack([values[:, :-1], np.cos(values[:, -1]), np.sin(values[:, -1])])
            result[:, joint.idx_q : joint.idx_q + joint.nq] = values
        return result
