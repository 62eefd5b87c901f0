"""State: what the page shows of a robot, without the page: positions by handles, torques, energies."""

from __future__ import annotations

import math
from collections import Counter
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
STRIDE = 0.05  # rad or m: largest step of a handle of a robot with loops, so that it stays in its assembly mode
BATCH = 4096
SAME = 1e-6  # relative to the robot's size
NEGLIGIBLE = 1e-6  # relative to the robot's weight: smaller forces are rounding errors


@dataclass(frozen=True)
class Cost:
    """Operations and time of one evaluation of the torques, by the chosen method."""

    method: str
    operations: str
    seconds: float  # one state alone
    seconds_in_batch: float  # per state


class State:
    """A robot in motion and the loads on it; computes the torques and energies that the page shows.

    It starts at the robot's home position, at rest. Positions ``q``, velocities ``v``, accelerations ``a``, the
    ``commands`` of force laws, ``contacts`` (1 where a contact is on the ground) and the wrench on ``frame`` (``force``
    [N] and ``moment`` [N m], in world axes) may be set at any time.

    Args:
        robot: The robot.

    Example:
        >>> state = linkwork.view.State(linkwork.load("planar2r"))
        >>> state.move([0.3, -0.5])
        True
        >>> state.force[:] = 0, 10, 0  # on state.frame, in world axes
        >>> list(state.torques())
        ['shoulder', 'elbow']
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
        self.free_quantity = "hybrid_dynamics" if _has_passive(robot) else "inverse_dynamics"  # without contacts
        self.method = "auto"
        self._functions: dict[str, Function] = {}
        self._costs: dict[str, Cost] = {}

    # -- positions -----------------------------------------------------------------------------------------------

    @cached_property
    def ways_to_move(self) -> tuple[str, ...]:
        """What the handles can move: independent joints, and motors where these determine the other joints."""
        model = self.robot.model
        motors = model.mobility.motors
        if not model.constrained or motors == model.mobility.independent or len(motors) != model.nv:
            return (INDEPENDENT,)
        return INDEPENDENT, MOTORS

    @property
    def _coordinates(self) -> Coordinates:
        """The coordinates that the handles move."""
        model = self.robot.model
        mobility = model.mobility
        return model.coordinates.whole(mobility.motors if self.moved_by == MOTORS else mobility.independent)

    @property
    def _places(self) -> list[int]:
        """Their places in q."""
        return self.robot.coordinates.places(self._coordinates.positions.joints)

    @property
    def handles(self) -> list[Handle]:
        """Name, unit and bounds of each number that ``move`` takes."""
        home = start(self.original)[self._places]
        return handles_of(self.robot.model, self._coordinates, home, self.size)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of v."""
        return layouts(self.robot.model)["v"].names

    @property
    def values(self) -> list[float]:
        """Current values of the handles."""
        return handle_values(self._coordinates, self.q[self._places])

    def move(self, values: Sequence[float], v: Any = None) -> bool:
        """Move the robot to values of its handles.

        A robot with loops moves in small steps and stops where it can no longer be assembled; then ``message`` says
        why.

        Args:
            values: One number for each of ``handles``, in its unit.
            v: Velocities (nv,) [rad/s, m/s]; default zero.

        Returns:
            Whether the robot reached the values.
        """
        self.v = np.zeros_like(self.v) if v is None else np.array(v, float)
        self.a, self.tau, self.message = np.zeros_like(self.a), None, ""
        coordinates = self._coordinates
        goal = handle_positions(coordinates, values)
        if not self.robot.model.constrained:
            self.q = goal
            return True
        now = self.q[self._places]
        way = coordinates.difference(now, goal)
        strides = max(1, math.ceil(np.abs(way).max(initial=0.0) / STRIDE))
        joints = self.robot.motor_names if self.moved_by == MOTORS else None
        for k in range(1, strides + 1):
            at = goal if k == strides else coordinates.integrate(now, way * (k / strides))
            if self.robot.model.n_configuration > self.robot.nv and self.moved_by == INDEPENDENT:
                assembly = self._rolled(at)
            else:
                assembly = self.robot.assemble(at, guess=self.q, known=joints)
            if not assembly.solved:
                reason = "singular" if assembly.singular else f"loops open by {float(assembly.residual):.2g}"
                reason = "beyond a singular position" if assembly.lost else reason
                self.message = f"Out of reach ({reason}): the robot stays at its last assembled position."
                return False
            self.q = assembly.q
        return True

    def _rolled(self, at: np.ndarray) -> Assembly:
        """Roll the robot from here to ``at``."""
        model, coordinates = self.robot.model, self._coordinates
        step = np.zeros(model.coordinates.nv)
        step[[k for joint in coordinates.joints for k in model.joint_freedoms(joint.name)]] = coordinates.difference(
            self.q[self._places], at
        )
        return self.assembled_after(step[list(model.mobility.independent)], at)

    def assembled_after(self, v: Any, at: np.ndarray | None = None) -> Assembly:
        """Move a robot with loops or wheels by Heun's method, then close its loops and put its wheels on their planes.

        Args:
            v: Independent velocities (nv,), for one unit of time.
            at: Where the handles end; default: where ``v`` takes them.

        Returns:
            The assembly. The state does not change.
        """
        robot, model = self.robot, self.robot.model
        first = robot.velocity_map(self.q) @ v
        second = robot.velocity_map(robot.coordinates.integrate(self.q, first)) @ v
        q = robot.coordinates.integrate(self.q, (first + second) / 2)
        if at is not None:
            q[self._places] = at
        joints = model.coordinates.whole(model.mobility.configuration).positions.joints
        return robot.assemble(q[model.coordinates.places(joints)], guess=q)

    def follow(self, q: Any, v: Any, a: Any, commands: Any, contacts: Any, tau: Any = None) -> None:
        """Take over one recorded state of a trajectory.

        Args:
            q: Positions (nq,) [rad, m].
            v: Velocities (nv,).
            a: Accelerations (nv,).
            commands: Commands of the force laws.
            contacts: 1 for each contact on the ground, else 0.
            tau: Recorded joint forces [N, N m], which contacts do not determine uniquely; default None computes those
                with the least contact forces.
        """
        self.q, self.v, self.a, self.commands = np.array(q), np.array(v), np.array(a), np.array(commands)
        self.contacts, self.tau, self.message = np.array(contacts), tau, ""

    def poses(self) -> np.ndarray:
        """Compute the pose of everything that is drawn.

        Returns:
            Poses (bodies, 4, 4): the ground first, then the bodies, then the pieces of flexible links.
        """
        return placed(self.robot.model, self.q)

    def base_position(self) -> np.ndarray:
        """Compute the position of a base that moves in a plane or freely.

        Returns:
            Position (3,) [m]; zeros for a robot without such a base.
        """
        model = self.robot.model
        roots = [i for i, p in model.outward() if not p]
        if len(roots) != 1 or freedoms(model.joint(roots[0]))[1] < 2:
            return np.zeros(3)
        return self.poses()[roots[0]][:3, 3]

    def frame_pose(self, name: str) -> np.ndarray:
        """Compute the pose of a frame.

        Args:
            name: One of ``robot.frame_names``.

        Returns:
            Pose in the world, (4, 4).
        """
        return self.robot.pose(name, self.q)

    # -- surroundings --------------------------------------------------------------------------------------------

    @property
    def gravity(self) -> np.ndarray:
        """Gravity in world axes, (3,) [m/s^2]; it may be set."""
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
        """The wrench as an argument of compiled functions, in the axes of its frame; empty if it is zero."""
        if not (self.force.any() or self.moment.any()):
            return {}
        rotation = self.frame_pose(self.frame)[:3, :3]
        return {self.frame: np.concatenate([rotation.T @ self.force, rotation.T @ self.moment])}

    # -- dynamics ------------------------------------------------------------------------------------------------

    @property
    def quantity(self) -> str:
        """Name of the quantity that computes the torques."""
        return "contact_inverse_dynamics" if self.contacts.any() else self.free_quantity

    @cached_property
    def method_names(self) -> tuple[str, ...]:
        """Formulations that support this robot; with contacts on the ground there is only one."""
        model = self.robot.model
        return ("auto", *(m.name for m in methods(self.free_quantity) if not m.refusal(model)))

    def choose(self, method: str) -> None:
        """Choose the formulation that computes the torques.

        Args:
            method: One of ``method_names``.

        Raises:
            UnknownNameError: No formulation of this name supports the robot.
        """
        if method not in self.method_names:
            raise UnknownNameError(f"method of {self.free_quantity}", method, self.method_names)
        self.method = method
        self._forget()

    @property
    def function(self) -> Function:
        """The compiled function of the torques, by the chosen method."""
        if self.quantity not in self._functions:
            method = self.method if self.quantity == self.free_quantity else "auto"
            self._functions[self.quantity] = self.robot.compile(self.quantity, method=method)
        return self._functions[self.quantity]

    @property
    def takes_wrenches(self) -> bool:
        """Whether the chosen method supports wrenches; otherwise another one is used while there is a wrench."""
        return all(m.wrenches for m in methods(self.quantity) if m.name == self.method)

    @property
    def cost(self) -> Cost:
        """Operations and time of one evaluation of the torques; measured when first used."""
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
        mobility, commands = self.robot.model.mobility, [self.commands] * bool(len(self.commands))
        if self.quantity == "contact_inverse_dynamics":
            return [self.q, self.v, self.a, self.contacts, *commands]
        if self.quantity == "inverse_dynamics":
            return [self.q, self.v, self.a, *commands]
        motors = [mobility.independent.index(k) for k in mobility.driven]
        return [self.q, self.v, self.a[motors], np.zeros(len(mobility.free)), *commands]

    def torques(self) -> dict[str, float]:
        """Compute the joint forces of the motion; at ``v = a = 0`` they hold the robot still.

        A floating base and elastic joints are included, as if motors drove them. A robot with passive joints has the
        forces of its motors only.

        Returns:
            Forces [N, N m] by name.
        """
        wrenches = self.wrenches
        if self.tau is not None and self.contacts.any() and not wrenches:
            return dict(zip(self.torque_names, self.tau.tolist(), strict=True))
        function = self.function if self.takes_wrenches or not wrenches else getattr(self.robot, self.quantity)
        result = function(*self._arguments(), wrenches=wrenches)
        tau = result if isinstance(result, np.ndarray) else result[0]
        return dict(zip(self.torque_names, (float(x) for x in tau), strict=True))

    def motor_torques(self) -> np.ndarray:
        """Compute the torques of the motors as an input of a simulation.

        Returns:
            Forces (nv,) [N, N m]; zero where no motor acts.
        """
        torques, motors = self.torques(), self.robot.motor_names
        return np.array([torques[name] if name in motors else 0.0 for name in layouts(self.robot.model)["tau"].names])

    @property
    def torque_layout(self) -> Layout:
        """Layout of the torques: joints, names, units."""
        kind = "motors" if self.quantity == "hybrid_dynamics" else "tau"
        return layouts(self.robot.model)[kind]

    @property
    def torque_names(self) -> tuple[str, ...]:
        """Names of the torques."""
        return self.torque_layout.names

    @property
    def torque_units(self) -> tuple[str, ...]:
        """Units of the torques: N or N m."""
        return self.torque_layout.units

    @property
    def torque_limits(self) -> tuple[float, ...]:
        """Effort limits of the torques; infinite where a joint has none."""
        limits = {joint.name: joint.effort_limit for joint in self.robot.model.coordinates.joints}
        return tuple(limits[segment.name] for segment in self.torque_layout.segments for _ in segment.parts)

    @cached_property
    def negligible(self) -> dict[str, float]:
        """Forces, moments and energies that are shown as zero if they are smaller, by unit."""
        force = NEGLIGIBLE * 9.81 * (sum(body.inertia.mass for body in self.robot.model.bodies) or 1.0)
        return {"N": force, "N m": force * self.size, "J": force * self.size}

    def energies(self) -> dict[str, float]:
        """Compute the energies of the robot.

        Returns:
            Energies [J] by name: kinetic, potential, total.
        """
        kinetic = float(self.robot.kinetic_energy(self.q, self.v))
        potential = float(self.robot.potential_energy(self.q))
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}

    def center_of_mass(self) -> np.ndarray | None:
        """Compute the robot's centre of mass.

        Returns:
            Position in the world, (3,) [m]; None for a robot without mass.
        """
        has_mass = any(body.inertia.mass for body in self.robot.model.bodies)
        return self.robot.center_of_mass(self.q) if has_mass else None


def start(robot: Robot) -> np.ndarray:
    """Return the positions at which the page starts: home, by default zeros, within the limits.

    A robot with loops starts at its assembled home position, and one with feet on the ground.
    """
    home, coordinates = robot.model.home, robot.coordinates
    q = np.array(home)
    if not robot.model.constrained:
        q = np.clip(home or coordinates.neutral(), coordinates.lower, coordinates.upper)
    return robot.standing_position(q) if robot.model.switched and robot.model.moving_base else q


def _has_passive(robot: Robot) -> bool:
    """Return whether the robot has passive joints that no motor determines."""
    coordinates = robot.coordinates
    free = (coordinates.joint_of(k) for k in robot.model.mobility.free)
    return any(joint.role == "passive" and not joint.kind.free for joint in free)


def _tip(robot: Robot) -> str:
    """Return the frame that is farthest from the origin of its body: the one where most loops meet, or the last."""
    model = robot.model
    met = Counter(end.body for each in model.permanent for end in (each.first, each.second) if end.body)
    return max(
        model.frames,
        key=lambda name: (
            max(met[model.frames[name].body], 1),
            model.frames[name].body,
            sum(x * x for x in model.frames[name].pose.origin),
        ),
    )
