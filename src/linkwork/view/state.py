"""State: what the page shows of a robot at one moment, without the page: positions by handles, torques, energies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..assembly import Assembly
from ..errors import UnknownNameError
from ..formulations import layouts, methods
from ..function import Function
from ..model import Coordinates, Layout
from ..robot import Robot
from ..spatial import Vector
from ..timing import least_seconds
from .handles import Handle, handle_positions, handle_values, handles_of
from .primitives import reach
from .shapes import freedoms, ground, placed, touching

INDEPENDENT, MOTORS = "independent joints", "motors"
STRIDE = 0.05  # radians or metres: how far a handle of a robot with loops goes at once
BATCH = 4096
SAME = 1e-6  # of the robot's size
NEGLIGIBLE = 1e-6  # of the robot's weight: what is smaller is rounding


@dataclass(frozen=True)
class Cost:
    """What one evaluation of the torques takes, by the method chosen."""

    method: str
    operations: str
    seconds: float  # one state alone
    seconds_in_batch: float  # per state


class State:
    """A robot at positions ``q``, velocities ``v``, accelerations ``a``, under ``gravity``, the ``commands`` of its
    force laws and a wrench on ``frame``, with ``contacts`` on the ground or not.

    ``move`` sets handles; those of a robot with loops stop where it can no longer be put together, and ``message`` says
    so. ``torques`` are those that make it move so: at ``v = a = 0`` those that hold it still. Contacts on the ground
    leave some of them open: then they are ``tau``, if the motion that is followed has it, else those of the least
    contact forces.
    """

    def __init__(self, robot: Robot):
        self.original = self.robot = robot
        model = robot.model
        self.q = start(robot)
        self.v, self.a = np.zeros(robot.nv), np.zeros(robot.nv)
        self.commands = np.zeros(len(robot.command_names))
        self.tau: np.ndarray | None = None
        self.size = reach(model, self.q)
        self.ground = ground(model)
        self.contacts = touching(model, self.q, SAME * self.size)
        self.frame = _tip(robot)
        self.force, self.moment = np.zeros(3), np.zeros(3)  # in world axes
        self.moved_by = INDEPENDENT
        self.message = ""
        self.free_quantity = "hybrid_dynamics" if _lazy(robot) else "inverse_dynamics"  # while nothing is on the ground
        self.method = "auto"
        self._functions: dict[str, Function] = {}
        self._costs: dict[str, Cost] = {}

    # -- positions -----------------------------------------------------------------------------------------------

    @cached_property
    def ways_to_move(self) -> tuple[str, ...]:
        """By what the user may move it: a robot with loops also by its motors, if they tell where the rest is."""
        model = self.robot.model
        motors = model.mobility.motors
        if not model.constrained or motors == model.mobility.independent or len(motors) != model.nv:
            return (INDEPENDENT,)
        return INDEPENDENT, MOTORS

    @property
    def _moved(self) -> Coordinates:
        """Of the joints that the handles move."""
        model = self.robot.model
        mobility = model.mobility
        return model.coordinates.whole(mobility.motors if self.moved_by == MOTORS else mobility.independent)

    @property
    def _places(self) -> list[int]:
        """Where these stand in q."""
        return self.robot.coordinates.places(self._moved.positions.joints)

    @property
    def handles(self) -> list[Handle]:
        home = start(self.original)[self._places]
        return handles_of(self.robot.model, self._moved, home, self.size)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """Of the entries of v."""
        return layouts(self.robot.model)["v"].names

    @property
    def values(self) -> list[float]:
        """Of the handles, in their order."""
        return handle_values(self._moved, self.q[self._places])

    def move(self, values: Sequence[float], v: Any = None) -> bool:
        """Set the handles, and velocities, zero unless given; false if the loops could not follow all the way."""
        self.v = np.zeros_like(self.v) if v is None else np.array(v, float)
        self.a, self.tau, self.message = np.zeros_like(self.a), None, ""
        moved = self._moved
        goal = handle_positions(moved, values)
        if not self.robot.model.constrained:
            self.q = goal
            return True
        now = self.q[self._places]
        way = moved.difference(now, goal)
        strides = max(1, math.ceil(np.abs(way).max(initial=0.0) / STRIDE))
        known = self.robot.motor_names if self.moved_by == MOTORS else None
        for k in range(1, strides + 1):
            at = goal if k == strides else moved.integrate(now, way * (k / strides))
            if self.robot.model.n_configuration > self.robot.nv and self.moved_by == INDEPENDENT:
                found = self._rolled(at)
            else:
                found = self.robot.assemble(at, guess=self.q, known=known)
            if not found.solved:
                why = "singular" if found.singular else f"loops open by {float(found.residual):.2g}"
                why = "beyond a singular position" if found.lost else why
                self.message = f"Out of reach ({why}): kept at the last positions that fit together."
                return False
            self.q = found.q
        return True

    def _rolled(self, at: np.ndarray) -> Assembly:
        """Where a robot that rolls gets on the way from here to ``at``, by Heun's rule; then put on its planes."""
        robot, model, moved = self.robot, self.robot.model, self._moved
        step = np.zeros(model.coordinates.nv)
        step[[k for joint in moved.joints for k in model.joint_freedoms(joint.name)]] = moved.difference(
            self.q[self._places], at
        )
        v = step[list(model.mobility.independent)]
        first = robot.velocity_map(self.q) @ v
        second = robot.velocity_map(robot.coordinates.integrate(self.q, first)) @ v
        q = robot.coordinates.integrate(self.q, (first + second) / 2)
        q[self._places] = at
        known = model.coordinates.whole(model.mobility.configuration).positions.joints
        return robot.assemble(q[model.coordinates.places(known)], guess=q)

    def follow(self, q: Any, v: Any, a: Any, commands: Any, contacts: Any, tau: Any = None) -> None:
        """A moment of a trajectory."""
        self.q, self.v, self.a, self.commands = np.array(q), np.array(v), np.array(a), np.array(commands)
        self.contacts, self.tau, self.message = np.array(contacts), tau, ""

    def poses(self) -> np.ndarray:
        """4 x 4 pose of every body, the ground first."""
        return placed(self.robot.model, self.q)

    def base_position(self) -> np.ndarray:
        """Of the only body on the ground, if it moves in a plane at least; else the origin."""
        model = self.robot.model
        roots = [i for i, p in model.outward() if not p]
        if len(roots) != 1 or freedoms(model.joint(roots[0]))[1] < 2:
            return np.zeros(3)
        return self.poses()[roots[0]][:3, 3]

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
        self._functions.clear()
        self._costs.clear()

    @property
    def wrenches(self) -> dict[str, np.ndarray]:
        """The wrench as functions take it, in the axes of its frame; none if it is zero."""
        if not (self.force.any() or self.moment.any()):
            return {}
        rotation = self.frame_pose(self.frame)[:3, :3]
        return {self.frame: np.concatenate([rotation.T @ self.force, rotation.T @ self.moment])}

    # -- dynamics ------------------------------------------------------------------------------------------------

    @property
    def quantity(self) -> str:
        """What gives the torques."""
        return "contact_inverse_dynamics" if self.contacts.any() else self.free_quantity

    @cached_property
    def method_names(self) -> tuple[str, ...]:
        """The formulations that fit this robot; on the ground it has one."""
        model = self.robot.model
        return ("auto", *(m.name for m in methods(self.free_quantity) if not m.refusal(model)))

    def choose(self, method: str) -> None:
        if method not in self.method_names:
            raise UnknownNameError(f"method of {self.free_quantity}", method, self.method_names)
        self.method = method
        self._forget()

    @property
    def function(self) -> Function:
        """What gives the torques, by the method chosen."""
        if self.quantity not in self._functions:
            method = self.method if self.quantity == self.free_quantity else "auto"
            self._functions[self.quantity] = self.robot.compile(self.quantity, method=method)
        return self._functions[self.quantity]

    @property
    def takes_wrenches(self) -> bool:
        """Does the method chosen? Another one stands in for it if not."""
        found = [m for m in methods(self.quantity) if m.name == self.method]
        return not found or found[0].wrenches

    @property
    def cost(self) -> Cost:
        if self.quantity not in self._costs:
            self._costs[self.quantity] = self._measured()
        return self._costs[self.quantity]

    def _measured(self) -> Cost:
        arguments = self._arguments()
        many = [np.tile(x, (BATCH, 1)) for x in arguments]
        function = self.function
        function(*arguments)
        return Cost(
            function.label.method or function.label.quantity,
            str(function.operations),
            least_seconds(lambda: [function(*arguments) for _ in range(100)], runs=5) / 100,
            least_seconds(lambda: function(*many), runs=5) / BATCH,
        )

    def _arguments(self) -> list[np.ndarray]:
        mobility, told = self.robot.model.mobility, [self.commands] * bool(len(self.commands))
        if self.quantity == "contact_inverse_dynamics":
            return [self.q, self.v, self.a, self.contacts, *told]
        if self.quantity == "inverse_dynamics":
            return [self.q, self.v, self.a, *told]
        driven = [mobility.independent.index(k) for k in mobility.driven]
        return [self.q, self.v, self.a[driven], np.zeros(len(mobility.free)), *told]

    def torques(self) -> dict[str, float]:
        """Forces of the motors (and of what else would have to act on a floating base or an elastic joint) for the
        motion; of a robot with passive freedoms, which no motor holds, those of its motors."""
        wrenches = self.wrenches
        if self.tau is not None and self.contacts.any() and not wrenches:
            return dict(zip(self.torque_names, self.tau.tolist(), strict=True))
        function = self.function if self.takes_wrenches or not wrenches else getattr(self.robot, self.quantity)
        result = function(*self._arguments(), wrenches=wrenches)
        tau = result if isinstance(result, np.ndarray) else result[0]
        return dict(zip(self.torque_names, (float(x) for x in tau), strict=True))

    def motor_torques(self) -> np.ndarray:
        """``torques`` as a simulation takes them: nothing on what no motor drives."""
        wanted, motors = self.torques(), self.robot.motor_names
        return np.array([wanted[name] if name in motors else 0.0 for name in layouts(self.robot.model)["tau"].names])

    @property
    def torque_layout(self) -> Layout:
        kind = "motors" if self.quantity == "hybrid_dynamics" else "tau"
        return layouts(self.robot.model)[kind]

    @property
    def torque_names(self) -> tuple[str, ...]:
        return self.torque_layout.names

    @property
    def torque_units(self) -> tuple[str, ...]:
        return self.torque_layout.units

    @property
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
    """Where the page begins: home, or zeros; without loops, what is nearest to that within the limits; on the
    ground, if it can stand."""
    home, coordinates = robot.model.home, robot.coordinates
    q = np.array(home)
    if not robot.model.constrained:
        q = np.clip(home or coordinates.neutral(), coordinates.lower, coordinates.upper)
    return robot.standing_position(q) if robot.model.switched and robot.model.moving_base else q


def _lazy(robot: Robot) -> bool:
    """Are there passive joints that no motor holds?"""
    coordinates = robot.coordinates
    free = (coordinates.joint_of(k) for k in robot.model.mobility.free)
    return any(joint.role == "passive" and not joint.kind.free for joint in free)


def _tip(robot: Robot) -> str:
    """A frame of the last body, the one farthest along."""
    model = robot.model
    return max(
        model.frames, key=lambda name: (model.frames[name].body, sum(x * x for x in model.frames[name].pose.origin))
    )
