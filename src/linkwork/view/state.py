"""State: what the page shows of a robot at one moment, without the page: positions by handles, torques, energies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import UnknownNameError
from ..formulations import layouts, methods
from ..function import Function
from ..io.rpy import rotation_from_quaternion, rpy_from_rotation
from ..model import Layout
from ..model.rotations import rotation_from_rpy
from ..robot import Robot
from ..spatial import Vector
from ..timing import least_seconds
from .primitives import reach
from .shapes import poses, quaternion

INDEPENDENT, MOTORS = "independent joints", "motors"
POSE = ("x", "y", "z", "roll", "pitch", "yaw")
STRIDE = 0.05  # radians or metres: how far a handle of a robot with loops goes at once
BATCH = 4096
NEGLIGIBLE = 1e-6  # of the robot's weight: what is smaller is rounding


@dataclass(frozen=True)
class Handle:
    """One number a user moves the robot by."""

    name: str
    unit: str
    lower: float
    upper: float


@dataclass(frozen=True)
class Cost:
    """What one evaluation of the torques takes, by the method chosen."""

    method: str
    operations: str
    seconds: float  # one state alone
    seconds_in_batch: float  # per state


class State:
    """A robot at positions ``q``, velocities ``v``, accelerations ``a``, under ``gravity`` and a wrench on ``frame``.

    ``move`` sets handles; those of a robot with loops stop where it can no longer be put together, and ``message`` says
    so. ``torques`` are those that make it move so: at ``v = a = 0`` those that hold it still.
    """

    def __init__(self, robot: Robot):
        self.original = self.robot = robot
        model = robot.model
        self.q = start(robot)
        self.v, self.a = np.zeros(robot.nv), np.zeros(robot.nv)
        self.size = reach(model, self.q)
        self.frame = _tip(robot)
        self.force, self.moment = np.zeros(3), np.zeros(3)  # in world axes
        self.moved_by = INDEPENDENT
        self.message = ""
        self.quantity = "hybrid_dynamics" if _lazy(robot) else "inverse_dynamics"
        self.method = "auto"

    # -- positions -----------------------------------------------------------------------------------------------

    @cached_property
    def ways_to_move(self) -> tuple[str, ...]:
        """By what the user may move it: a robot with loops also by its motors, if they tell where the rest is."""
        model = self.robot.model
        motors = model.mobility.motors
        if not model.loops or motors == model.mobility.independent or len(motors) != model.nv:
            return (INDEPENDENT,)
        return INDEPENDENT, MOTORS

    @property
    def handles(self) -> list[Handle]:
        """Of a floating base or platform its pose; then one for each joint that is moved."""
        model = self.robot.model
        names = self._moved_joints
        handles = [] if not self._moves_pose else [self._pose_handle(name) for name in POSE]
        return handles + [self._joint_handle(joint) for joint in model.leading_joints if joint.name in names]

    @property
    def _moved_joints(self) -> tuple[str, ...]:
        robot = self.robot
        return robot.motor_names if self.moved_by == MOTORS else robot.joint_names

    @property
    def _moves_pose(self) -> bool:
        return self.robot.model.floating and self.moved_by == INDEPENDENT

    def _pose_handle(self, name: str) -> Handle:
        at = start(self.original)[:3]
        turn = name in POSE[3:]
        middle = 0.0 if turn else float(at[POSE.index(name)])
        width = math.pi if turn else (1.5 if self.robot.model.moving_base else 0.4) * self.size
        return Handle(name, "rad" if turn else "m", middle - width, middle + width)

    def _joint_handle(self, joint: Any) -> Handle:
        home = float(start(self.original)[self._places[joint.name]])
        width = 0.5 if joint.role == "elastic" else self.size if joint.prismatic else math.pi
        lower, upper = (
            bound if math.isfinite(bound) else other
            for bound, other in ((joint.lower, home - width), (joint.upper, home + width))
        )
        return Handle(joint.name, "m" if joint.prismatic else "rad", min(lower, home), max(upper, home))

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """Of the entries of v."""
        model = self.robot.model
        moves = model.floating and 0 in model.mobility.independent
        free = (f"{model.floating_name} {kind}{axis}" for kind in ("v", "w") for axis in "xyz")
        return (*(free if moves else ()), *model.joint_names)

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each joint stands in q."""
        first = 7 if self.robot.model.floating else 0
        return {name: first + k for k, name in enumerate(self.robot.position_names)}

    @property
    def values(self) -> list[float]:
        """Of the handles, in their order."""
        pose = []
        if self._moves_pose:
            x, y, z, w = self.q[3:7]
            pose = [*self.q[:3], *rpy_from_rotation(rotation_from_quaternion(x, y, z, w))]
        names = self._moved_joints
        joints = (self.q[place] for name, place in self._places.items() if name in names)
        return [float(value) for value in (*pose, *joints)]

    def move(self, values: Sequence[float], v: Any = None) -> bool:
        """Set the handles, and velocities, zero unless given; false if the loops could not follow all the way."""
        self.v = np.zeros_like(self.v) if v is None else np.array(v, float)
        self.a, self.message = np.zeros_like(self.a), ""
        goal = self._known(values)
        if not self.robot.model.loops:
            self.q = goal
            return True
        now = self._known(self.values)
        strides = max(1, math.ceil(np.abs(goal - now).max(initial=0.0) / STRIDE))
        for k in range(1, strides + 1):
            known = self.robot.motor_names if self.moved_by == MOTORS else None
            found = self.robot.assemble(now + (goal - now) * (k / strides), guess=self.q, known=known)
            if not found.solved:
                why = "singular" if found.singular else f"loops open by {float(found.residual):.2g}"
                why = "beyond a singular position" if found.lost else why
                self.message = f"Out of reach ({why}): kept at the last positions that fit together."
                return False
            self.q = found.q
        return True

    def _known(self, values: Sequence[float]) -> np.ndarray:
        """Positions of what is moved, in the order of q, from values of the handles."""
        numbers = np.array(values, float)
        if not self._moves_pose:
            return numbers
        return np.concatenate([numbers[:3], quaternion(rotation_from_rpy(*numbers[3:6])), numbers[6:]])

    def follow(self, q: Any, v: Any, a: Any) -> None:
        """A moment of a trajectory."""
        self.q, self.v, self.a, self.message = np.array(q), np.array(v), np.array(a), ""

    def poses(self) -> np.ndarray:
        """4 x 4 pose of every body, the ground first."""
        return poses(self.robot.model, self.q)

    def frame_pose(self, name: str) -> np.ndarray:
        return self.robot.pose(name, self.q)

    # -- surroundings --------------------------------------------------------------------------------------------

    @property
    def gravity(self) -> np.ndarray:
        return np.array([*self.robot.model.gravity], float)

    @gravity.setter
    def gravity(self, vector: Any) -> None:
        if not np.array_equal(vector, self.gravity):
            x, y, z = (float(value) for value in vector)
            self.robot = Robot(replace(self.original.model, gravity=Vector(x, y, z)))
            self._forget()

    def _forget(self) -> None:
        for name in ("function", "cost", "takes_wrenches"):
            self.__dict__.pop(name, None)

    @property
    def wrenches(self) -> dict[str, np.ndarray]:
        """The wrench as functions take it, in the axes of its frame; none if it is zero."""
        if not (self.force.any() or self.moment.any()):
            return {}
        rotation = self.frame_pose(self.frame)[:3, :3]
        return {self.frame: np.concatenate([rotation.T @ self.force, rotation.T @ self.moment])}

    # -- dynamics ------------------------------------------------------------------------------------------------

    @cached_property
    def method_names(self) -> tuple[str, ...]:
        """The formulations that fit this robot."""
        model = self.robot.model
        return ("auto", *(m.name for m in methods(self.quantity) if not m.refusal(model)))

    def choose(self, method: str) -> None:
        if method not in self.method_names:
            raise UnknownNameError(f"method of {self.quantity}", method, self.method_names)
        self.method = method
        self._forget()

    @cached_property
    def function(self) -> Function:
        """What gives the torques, by the method chosen."""
        return self.robot.compile(self.quantity, method=self.method)

    @cached_property
    def takes_wrenches(self) -> bool:
        """Does the method chosen? Another one stands in for it if not."""
        found = [m for m in methods(self.quantity) if m.name == self.method]
        return not found or found[0].wrenches

    @cached_property
    def cost(self) -> Cost:
        arguments = self._arguments()
        many = [np.tile(x, (BATCH, 1)) for x in arguments]
        function = self.function
        function(*arguments)
        return Cost(
            function.label.method,
            str(function.operations),
            least_seconds(lambda: [function(*arguments) for _ in range(100)], runs=5) / 100,
            least_seconds(lambda: function(*many), runs=5) / BATCH,
        )

    def _arguments(self) -> list[np.ndarray]:
        if self.quantity == "inverse_dynamics":
            return [self.q, self.v, self.a]
        mobility = self.robot.model.mobility
        driven = [mobility.independent.index(k) for k in mobility.driven]
        return [self.q, self.v, self.a[driven], np.zeros(len(mobility.free))]

    def torques(self) -> dict[str, float]:
        """Forces of the motors (and of what else would have to act on a floating base or an elastic joint) for the
        motion; of a robot with passive freedoms, which no motor holds, those of its motors."""
        wrenches = self.wrenches
        function = self.function if self.takes_wrenches or not wrenches else getattr(self.robot, self.quantity)
        result = function(*self._arguments(), wrenches=wrenches)
        tau = result if isinstance(result, np.ndarray) else result[0]
        return dict(zip(self.torque_names, (float(x) for x in tau), strict=True))

    def motor_torques(self) -> np.ndarray:
        """``torques`` as a simulation takes them: nothing on what no motor drives."""
        wanted, motors = self.torques(), self.robot.motor_names
        return np.array([wanted[name] if name in motors else 0.0 for name in layouts(self.robot.model)["tau"].names])

    @cached_property
    def torque_layout(self) -> Layout:
        kind = "motors" if self.quantity == "hybrid_dynamics" else "tau"
        return layouts(self.robot.model)[kind]

    @property
    def torque_names(self) -> tuple[str, ...]:
        return self.torque_layout.names

    @property
    def torque_units(self) -> tuple[str, ...]:
        return self.torque_layout.units

    @cached_property
    def torque_limits(self) -> tuple[float, ...]:
        limits = {joint.name: joint.effort_limit for joint in self.robot.model.coordinates.joints}
        return tuple(limits[segment.name] for segment in self.torque_layout.segments for _ in segment.parts)

    @cached_property
    def negligible(self) -> dict[str, float]:
        """Forces, moments and energies below which there are none, by their units."""
        force = NEGLIGIBLE * 9.81 * (sum(body.inertia.mass for body in self.robot.model.bodies) or 1.0)
        return {"N": force, "N m": force * self.size, "J": force * self.size}

    def energies(self) -> dict[str, float]:
        kinetic = float(self.robot.kinetic_energy(self.q, self.v))
        potential = float(self.robot.potential_energy(self.q))
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}

    def center_of_mass(self) -> np.ndarray | None:
        """None of a robot without mass."""
        has_mass = any(body.inertia.mass for body in self.robot.model.bodies)
        return self.robot.center_of_mass(self.q) if has_mass else None


def start(robot: Robot) -> np.ndarray:
    """Where the page begins: home of a robot with loops; zeros, or what is nearest to them within the limits."""
    model = robot.model
    if model.home:
        return np.array(model.home)
    head = [0.0, 0, 0, 0, 0, 0, 1] if model.floating else []
    return np.array([*head, *(min(max(0.0, joint.lower), joint.upper) for joint in model.leading_joints)])


def _lazy(robot: Robot) -> bool:
    """Are there passive joints that no motor holds?"""
    free = robot.model.names_of(robot.model.mobility.free)
    return any(robot.roles[name] == "passive" for name in free)


def _tip(robot: Robot) -> str:
    """A frame of the last body, the one farthest along."""
    model = robot.model
    return max(
        model.frames, key=lambda name: (model.frames[name].body, sum(x * x for x in model.frames[name].pose.origin))
    )
