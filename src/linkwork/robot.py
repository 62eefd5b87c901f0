"""Robot: a model with its compiled functions; ``load`` makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from . import io
from .assembly import Assembly
from .compose import compile
from .compose.compile_function import compile_function
from .constraints import closed
from .errors import ModelError, ModelWarning, memory_reported, require_mapping, warn_caller
from .function import Function
from .io import parameter_file
from .model import (
    Coordinates,
    Description,
    Drive,
    ElasticDrive,
    build,
    chain,
    changed,
    changed_drives,
    describe,
    with_elastic_drives,
)
from .model.drive import transmission_matrix
from .model.places import check_places
from .notebook import robot_html
from .parameters import BaseParameters, base_parameters, parameter_vector
from .quoting import printable
from .renamed import refuse, renamed_arguments
from .robot_functions import RobotFunctions
from .sampled import SampledFunction, compile_sampled
from .symbolic import SymbolicModel, symbolic

if TYPE_CHECKING:
    from .kinematics import FollowedPath, Solutions, Task, TimedPath
    from .sim import ContactForces, LinearSystem


class Robot(RobotFunctions):
    """A robot: its model, and a function for each quantity, compiled when it is first used.

    ``robot.inverse_dynamics(q, v, a)`` and the other quantities take arrays with any leading batch axes. q has the
    positions of all joints. v and a have the independent joints, tau the joints that are driven or free. Without loops,
    these are all joints. ``linkwork.load`` makes a robot from a file.

    Args:
        model: The immutable Model, with the joints, bodies and frames.

    Example:
        >>> robot
        <linkwork Robot panda: 7 joints, fixed base>
        >>> robot.inertia_matrix(np.zeros((1000, 7))).shape
        (1000, 7, 7)
    """

    if not TYPE_CHECKING:  # so that type checkers report names that do not exist

        def __getattr__(self, name: str) -> NoReturn:
            refuse("Robot", name)

    @classmethod
    def from_dh(cls, table: Any, convention: str = "modified", *, name: str = "robot", **tables: Any) -> Robot:
        """Make a robot from a table of Denavit-Hartenberg parameters, base to tip.

        Args:
            table: A row per joint, in m and rad. Four numbers: alpha, d, theta, r in the modified convention (Khalil's
                letters; Craig's alpha, a, theta, d), theta, d, a, alpha in the standard one. Or a dict with any of
                these and the other keys of a joint row of a YAML file (name, link, parent, kind, axis, limits, ...),
                the inertia of the link (M, center, central, ...) and the values of the drive (Ia, Fs, Fv, ...).
            convention: "modified" (Khalil and Kleinfinger, Craig; default) or "standard" (distal frames).
            name: The robot's name.
            **tables: Other keys of a YAML file: gravity, base, links, drives, frames, loops, home, ...

        Returns:
            The robot; the joints are revolute unless a row has a ``kind`` or ``sigma``.

        Raises:
            ModelError: A row or a key is not understood, or the robot is not sound.

        Example:
            >>> arm = linkwork.Robot.from_dh([[0, 0, 0, 0.3], {"alpha": -1.57, "M": 2, "center": [0.2, 0, 0]}])
            >>> arm.nv
            2
        """
        rows = io.dh_rows(table, convention)
        return load({"name": name, "convention": convention, "joints": rows, **tables})

    # -- names and sizes -----------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of entries of q: the positions of all joints but mimic joints; ``coordinates.names`` lists them."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of degrees of freedom: entries of v, the independent velocities."""
        return self.model.nv

    @property
    def coordinates(self) -> Coordinates:
        """Coordinates of all joints: names and order of the entries of q and of the velocities.

        Its methods work on positions: neutral(), random(rng, size), normalised(q), integrate(q, v), difference(q0, q1).
        """
        return self.model.coordinates

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints of the tree, in the order of q; without floating bodies and mimic joints."""
        return self.model.joint_names

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the joints whose positions are in q, in its order, without floating bodies."""
        return self.model.position_names

    @property
    def motor_names(self) -> tuple[str, ...]:
        """Names of the active joints, those with motors."""
        return self.model.names_of(self.model.mobility.motors)

    @property
    def command_names(self) -> tuple[str, ...]:
        """Names of the command inputs of the force laws, such as thrusts; each is named after the law's frame."""
        return self.model.commands.names

    @property
    def transmission(self) -> np.ndarray:
        """Transmission matrix T with v_drives = T v and tau = T^T tau_drives.

        It has a row for each of ``drive_names`` and a column for each velocity of the joints.
        """
        return np.array(transmission_matrix(self.model.coordinates.velocity_names, self.model.transmissions)[1])

    @property
    def drive_names(self) -> tuple[str, ...]:
        """Names of the driven motors of transmissions, and of each joint that has no transmission."""
        return transmission_matrix(self.model.coordinates.velocity_names, self.model.transmissions)[0]

    @property
    def home(self) -> tuple[float, ...]:
        """Positions q at which loops are closed and floating bodies have their initial poses.

        Default, if the file has no home: zero positions, identity rotations.
        """
        return self.model.home or tuple(self.coordinates.neutral().tolist())

    @property
    def roles(self) -> dict[str, str]:
        """Role of each joint: "active", "passive" or "elastic"; "base" for a floating base."""
        roles = {joint.name: joint.role for joint in self.coordinates.joints}
        return roles | ({self.coordinates.joints[0].name: "base"} if self.model.moving_base else {})

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links."""
        return self.model.link_names

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the links and the extra frames, as pose, jacobian and wrenches take them."""
        return tuple(self.model.frames)

    @property
    def parameters(self) -> list[list[float]]:
        """Inertial parameters of the moving links, ten for each link with all that is fixed to it.

        They are mass, first moments x, y, z, and inertia xx, xy, xz, yy, yz, zz about the origin of the link's frame,
        in its axes: kg, kg m, kg m^2. Functions compiled with ``inputs=["parameters"]`` take them as an input.
        """
        return self.model.parameters()

    def __repr__(self) -> str:
        freedoms = f" with {self.nv} freedoms" if self.model.constrained else ""
        joints = f"{len(self.position_names)} joints{freedoms}"
        return f"<linkwork Robot {printable(self.name)}: {joints}, {self.model.base} base>"

    def _repr_html_(self) -> str:
        return robot_html(self.model)

    def write(self, path: str | Path) -> None:
        """Write the robot as a URDF or YAML file; reading it back gives the same dynamics.

        Args:
            path: The file; its suffix (.urdf, .yaml or .yml) is the format.

        Raises:
            UnsupportedError: The format cannot describe this robot.

        Example:
            >>> robot.write("panda.yaml")
            >>> linkwork.load("panda.yaml").nv
            7
        """
        io.write(describe(self.model), path)

    # -- variants ------------------------------------------------------------------------------------------------

    def chain(self, tip: str) -> Robot:
        """Return the chain from the base to a link or frame as a robot, without other branches.

        Args:
            tip: Name of the link or frame at which the chain ends.

        Returns:
            A robot with the joints between the base and ``tip``.

        Raises:
            UnknownNameError: There is no such frame.

        Example:
            >>> robot.chain("panda_link4").nv
            4
        """
        return Robot(chain(self.model, tip))

    def with_forces(self, forces: Mapping[str, Any]) -> Robot:
        """Return the robot with force laws added, such as drag, thrusters or springs to the world.

        Args:
            forces: {frame: force law}; the laws are in ``linkwork.forces``.

        Returns:
            A robot with these laws and those that it has already.

        Raises:
            UnknownNameError: There is no such frame.
            ModelError: Two command inputs would have the same name.

        Example:
            >>> robot.with_forces({"panda_link8": linkwork.forces.Thruster()}).command_names
            ('panda_link8',)
        """
        require_mapping(forces, "forces", "{frame: force law}")
        laws = tuple((self.model.frame(name), law) for name, law in forces.items())
        model = replace(self.model, forces=self.model.forces + laws)
        _ = model.commands  # raises an error if two commands have the same name
        check_places(model)
        return Robot(model)

    def with_drives(self, values: Mapping[str, Mapping[str, Any]]) -> Robot:
        """Return the robot with other drives: rotor inertia, friction, springs.

        Args:
            values: {joint, or motor of a transmission: {field: value}}, such as {"elbow": {"coulomb": 0.3, "friction":
                (Stribeck(0.2, velocity=0.05),)}}; friction laws are in ``linkwork.model``.

        Returns:
            A robot with these values; other fields stay as they are.

        Raises:
            UnknownNameError: There is no such joint, motor or field.

        Example:
            >>> robot.with_drives({"panda_joint1": {"viscous": 0.5}}).model.joint(1).viscous
            0.5
        """
        return Robot(changed(self.model, drives=values))

    def with_parameters(self, values: Any) -> Robot:
        """Return the robot with other masses, centres of mass, inertias, rotor inertias or friction.

        Args:
            values: One of: {link: {"mass": 2, "center": (3,), "inertia": (3, 3) or 6 numbers about the centre}}, or
                some of these, or ten numbers as in ``parameters``; {"link2.MX": 0.1, "joint2.IA": 0.3} with names of
                ``parameter_names``; the path of a YAML or JSON file of these; or a Fit. Values of a link include all
                that is fixed to it. A centre that is not given stays; an inertia that is not given grows with the
                mass.

        Returns:
            A robot with these values.

        Raises:
            UnknownNameError: There is no such link or parameter.
            ModelError: A body would be physically impossible.

        Example:
            >>> heavier = robot.with_parameters({"panda_link7": {"mass": 2.0}})
            >>> heavier.model.body(7).inertia.mass
            2.0
        """
        return Robot(parameter_file.with_parameters(self.model, values))

    def with_friction(self, values: Any) -> Robot:
        """Return the robot with other friction; joints that are not named keep theirs.

        Args:
            values: {joint or motor: {"coulomb": 0.3, "viscous": 0.1, "offset": 0.2, "stribeck": {"excess": 1,
                "velocity": 0.1}}}, or {joint or motor: laws of ``linkwork.model``}, which replace all friction of that
                joint; or a file or a Fit, from which only the friction is taken.

        Returns:
            A robot with this friction.

        Raises:
            UnknownNameError: There is no such joint, motor or law.

        Example:
            >>> robot.with_friction({"panda_joint1": {"coulomb": 0.3}}).model.joint(1).coulomb
            0.3
        """
        return Robot(parameter_file.with_friction(self.model, values))

    def with_payload(
        self, frame: Any, mass: float | None = None, center: Any = (0, 0, 0), inertia: Any = (0, 0, 0)
    ) -> Robot:
        """Return the robot with a body fixed to a frame, in addition to what is there.

        Args:
            frame: Name of the frame; or {frame: {"mass": 2, ...}}, a file or a Fit with payloads, alone.
            mass: Mass of the body in kg.
            center: Its centre of mass (3,) in the frame, in m. Default: the origin.
            inertia: Its inertia about the centre of mass in the axes of the frame, in kg m^2: (3, 3), six numbers xx,
                xy, xz, yy, yz, zz, or the diagonal (3,). Default: zero.

        Returns:
            A robot that carries the body.

        Raises:
            UnknownNameError: There is no such frame.
            ModelError: The body is physically impossible.

        Example:
            >>> loaded = robot.with_payload("panda_link8", 2.0, center=(0, 0, 0.1))
            >>> bool(abs(loaded.gravity(np.zeros(7))).max() > abs(robot.gravity(np.zeros(7))).max())
            True
        """
        body = {"mass": mass, "center": center, "inertia": inertia}
        return Robot(parameter_file.with_payload(self.model, frame if mass is None else {frame: body}))

    # -- loops and contacts --------------------------------------------------------------------------------------

    def assemble(
        self,
        positions: Any,
        guess: Any = None,
        *,
        known: str | Sequence[str] | None = None,
        tolerance: float | None = None,
        iterations: int = 100,
    ) -> Assembly:
        """Solve for the positions of all joints of a robot with loops.

        Without a guess the result is in the assembly mode of ``home``, or the Assembly reports that it is lost.

        Args:
            positions: Positions (..., n) of the known joints, or a dict by joint, in rad (m); a floating platform has
                seven.
            guess: Positions q of all joints. If they close the loops, the result is in their assembly mode; otherwise
                positions near them are solved for.
            known: Names of the known joints, with as many degrees of freedom as the robot, such as
                ``robot.motor_names`` for the forward kinematics of a parallel robot. Default: the independent joints.
            tolerance: Largest residual of the loops, in m and rad. Default: 1e-12, or more if rounded numbers in the
                file, or large positions, do not allow it.
            iterations: Largest number of Newton steps.

        Returns:
            An Assembly with q (..., nq) and whether each state was solved.

        Raises:
            UnknownNameError: There is no such joint.
            ShapeError: The shapes do not fit.

        Example:
            >>> linkwork.load("four-bar").assemble([0.5]).q.shape
            (3,)
        """
        assembler = self.assembler(known)
        with memory_reported("these positions", where="assemble", fix="assemble fewer at a time"):
            return assembler(positions, guess, tolerance, iterations)

    # -- inverse kinematics ----------------------------------------------------------------------------------------

    def inverse_kinematics(
        self,
        tasks: str | Task | Sequence[Task],
        target: Any = None,
        guess: Any = None,
        *,
        solutions: str = "one",
        posture: Any = None,
        limits: bool = True,
        tolerance: float = 1e-9,
        restarts: int = 100,
    ) -> Solutions:
        """Solve for positions at which a frame has a pose, or at which other tasks are fulfilled.

        Newton's steps start from the guess. If they do not arrive, they start again from other positions. Joints stay
        within their limits, and loops stay closed. ``linkwork.kinematics`` has the tasks.

        Args:
            tasks: Name of a frame; or a task, or a list of tasks with weights and priorities.
            target: Poses (..., 4, 4) of the frame in the world, for the name of a frame.
            guess: Positions (..., nq) at which to start. Default: ``home``.
            solutions: "one" (default), near the guess if possible; or "all", nearest to the guess first. Angles that
                differ by whole turns are one solution.
            posture: Positions (..., nq) that joints approach as far as the tasks leave them free. Default: none.
            limits: Whether joints stay within their limits. Default: True.
            tolerance: Norm of the weighted errors, in m and rad, at which a target is reached. Default: 1e-9.
            restarts: Largest number of further starts for one solution. Default: 100.

        Returns:
            Solutions with q, solved, error and iterations. A target out of reach has ``solved`` False, and the nearest
            positions in q.

        Raises:
            UnknownNameError: There is no such frame.
            ShapeError: The shapes do not fit.
            UnsupportedError: All solutions are wanted, but there are infinitely many.

        Example:
            >>> q = np.random.default_rng(0).uniform(-1, 1, (1000, 7)) + [0, 0, 0, -1.5, 0, 1.5, 0]
            >>> targets = robot.pose("panda_link8", q)
            >>> solution = robot.inverse_kinematics("panda_link8", targets, guess=q + 0.1)
            >>> solution.q.shape, bool(solution.solved.all())
            ((1000, 7), True)
        """
        from .kinematics.inverse import inverse_kinematics

        return inverse_kinematics(
            self, tasks, target, guess, solutions=solutions, posture=posture, limits=limits, tolerance=tolerance,
            restarts=restarts,
        )  # fmt: skip

    def follow(
        self,
        tasks: str | Task | Sequence[Task],
        path: Any = None,
        guess: Any = None,
        *,
        posture: Any = None,
        limits: bool = True,
        tolerance: float = 1e-9,
        restarts: int = 100,
        largest_step: float = 0.5,
    ) -> FollowedPath:
        """Solve for positions along a path, on one continuous branch if there is one.

        Each point starts from the positions of the point before. Without a guess, several starts are followed; the one
        that leads farthest is returned, and of several such starts the one along which joints move least.

        Args:
            tasks: Name of a frame, or tasks of ``linkwork.kinematics`` whose targets have an axis of points.
            path: Poses (..., points, 4, 4) of the frame in the world, for the name of a frame.
            guess: Positions (..., nq) near the first point. Default: several starts.
            posture: Positions (..., nq) that joints approach as far as the tasks leave them free. Default: none.
            limits: Whether joints stay within their limits. Default: True.
            tolerance: Norm of the weighted errors, in m and rad, at which a target is reached. Default: 1e-9.
            restarts: Largest number of further starts where a point is not reached from the one before. Default: 100.
            largest_step: Longest step of a joint from point to point, in rad or m; a longer one is a jump. Default:
                0.5.

        Returns:
            FollowedPath with q (..., points, nq), and where the path jumps, is at limits or nearly singular.

        Raises:
            UnknownNameError: There is no such frame.
            ShapeError: The shapes do not fit.

        Example:
            >>> circle = np.tile(robot.pose("panda_link8", [0, -0.5, 0, -2, 0, 1.5, 0.8]), (100, 1, 1))
            >>> angle = np.linspace(0, 2 * np.pi, 100)
            >>> circle[:, 1, 3] += 0.1 * np.sin(angle)
            >>> circle[:, 2, 3] += 0.1 * np.cos(angle)
            >>> bool(robot.follow("panda_link8", circle).continuous)
            True
        """
        from .kinematics.path_following import follow

        return follow(
            self, tasks, path, guess, posture=posture, limits=limits, tolerance=tolerance, restarts=restarts,
            largest_step=largest_step,
        )  # fmt: skip

    def contact_forces(
        self,
        q: Any,
        v: Any = None,
        tau: Any = None,
        *,
        contacts: Any = None,
        forces: Any = None,
        commands: Any = None,
        wrenches: Mapping[str, Any] | None = None,
    ) -> ContactForces:
        """Return the contact forces of the ground on wheels and feet.

        The report has loads, friction needed and available, centres of pressure, and which contacts would lift off,
        slip or tip.

        Args:
            q: Positions (..., nq).
            v: Independent velocities (..., nv), or those of all joints.
            tau: Joint forces (..., forces).
            contacts: 1 for each contact with a switch that is on the ground, otherwise 0, (..., contacts). Default: all
                are.
            forces: Known forces of contacts with a switch (..., contacts, 6), as ``contact_dynamics``,
                ``contact_inverse_dynamics`` and the output contact_forces of a trajectory have them. Without v and tau
                the report has these contacts alone.
            commands: Command inputs of the force laws; required by a robot that has them.
            wrenches: {frame: external wrench (..., 6)}, force, then moment about the frame's origin, in its axes.

        Returns:
            A ContactForces report.

        Raises:
            UnsupportedError: Nothing of the robot touches the ground.
            ShapeError: v, tau or commands are missing, or the shapes do not fit.

        Example:
            >>> dog = linkwork.load("quadruped")
            >>> q = dog.standing_position()
            >>> forces = dog.contact_inverse_dynamics(q, np.zeros(18), np.zeros(18), np.ones(4))[1]
            >>> dog.contact_forces(q, forces=forces).normal.shape
            (4,)
        """
        from .sim.contact.contact_report import contact_forces

        return contact_forces(self, q, v, tau, contacts, forces, commands, wrenches)

    def standing_position(self, q: Any = None) -> np.ndarray:
        """Return positions at which the lowest contact of a floating robot touches the ground, z = 0.

        Args:
            q: Positions (..., nq) whose height is changed. Default: home, or zero.

        Returns:
            Positions (..., nq).

        Raises:
            UnsupportedError: The robot has no contacts, or no floating base.

        Example:
            >>> linkwork.load("quadruped").standing_position().shape
            (19,)
        """
        from .sim.contact.contact_points import standing_position

        return standing_position(self.model, q)

    # -- motion --------------------------------------------------------------------------------------------------

    def linearise(
        self,
        q: Any,
        v: Any,
        tau: Any,
        dt: float | None = None,
        method: str = "semi-implicit-euler",
        *,
        commands: Any = None,
    ) -> LinearSystem:
        """Linearise the dynamics at states: x' = A x + B u, or one time step of it.

        x is (dq, dv), the change of positions along the tangent of their coordinates and of velocities, and u the
        change of tau. For robots that roll, dq is along ``position_map``, which has more columns than v has entries;
        otherwise n is 2 nv. ``Trajectory.linearised`` has the same along a motion.

        Args:
            q: Positions (..., nq).
            v: Velocities (..., nv).
            tau: Joint forces (..., forces).
            dt: Time step in s; A and B then describe one step of ``rollout``. Default: none, A and B are those of
                continuous time.
            method: Integrator of the step.
            commands: Command inputs of the force laws. Default: zero. Their changes follow those of tau in u.

        Returns:
            A LinearSystem with A (..., n, n) and B (..., n, inputs).

        Raises:
            ShapeError: The shapes do not fit.

        Example:
            >>> system = robot.linearise(np.zeros(7), np.zeros(7), np.zeros(7))
            >>> system.A.shape, system.B.shape
            ((14, 14), (14, 7))
        """
        from .sim import linearise

        return linearise(self, q, v, tau, dt, method, commands)

    def time_path(
        self,
        path: Any,
        *,
        s: Any = None,
        degree: int = 3,
        gridpoints: Any = None,
        speeds: Any = (0.0, 0.0),
        velocity: Any = None,
        acceleration: Any = None,
        torque: Any = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> TimedPath:
        """Return the fastest motion along joint paths within limits of velocity, acceleration and torque.

        A spline passes through the points of each path. A limit is one number for all joints, one for each (n,), lower
        and upper ones (2, n), or a dict by joint. Coulomb friction counts by the direction of motion.

        Args:
            path: Points of the paths, (..., points, nq), in rad (m).
            s: Parameter of the path at the points, (points,). Default: from 0 to 1, in proportion to the time that each
                stretch takes at the largest velocities.
            degree: Degree of the spline: 3 (default) or 5.
            gridpoints: Number of equal steps plus one, or the points on which limits hold as shares of the path, from 0
                to 1. Default: 100, or more for paths of more than 50 points, and four more in the first and last step.
            speeds: Rates ds/dt at the start and at the end in 1/s, (..., 2). Default: at rest.
            velocity: Largest velocities in rad/s (m/s). Default: those of the robot.
            acceleration: Largest accelerations in rad/s^2 (m/s^2). Default: none.
            torque: Largest joint forces in N m (N). Default: those of the robot.
            inputs: Other numbers of the robot by name, as in ``compile``: {"payload:panda_link8": (..., 10)}, for all
                paths or one for each.

        Returns:
            A TimedPath: times, positions, velocities, accelerations, forces and the limiting joints. ``problems`` says
            why paths have no motion; other paths are not affected.

        Raises:
            UnsupportedError: The robot has loops, a floating base or joints without motors.
            ShapeError: The shapes do not fit.

        Example:
            >>> timed = robot.time_path([np.zeros(7), np.full(7, 0.2), np.full(7, -0.1)], acceleration=10)
            >>> timed.t.shape
            (108,)
        """
        from .kinematics.path_timing import time_path

        how: dict[str, Any] = {"s": s, "degree": degree, "gridpoints": gridpoints, "speeds": speeds, "inputs": inputs}
        return time_path(self, path, velocity=velocity, acceleration=acceleration, torque=torque, **how)

    # -- compiled functions and equations ------------------------------------------------------------------------

    def compile(self, quantity: str | Sequence[str] | Mapping[str, str], **options: Any) -> Function:
        """Compile a quantity of this robot, or several into one program; see ``linkwork.compile``.

        Args:
            quantity: Name of the quantity, such as "inverse_dynamics"; a list of names, or a dict from output to name.
            **options: Options of ``linkwork.compile``: method, frame, axes, inputs, wrenches, dtype, ...

        Returns:
            The compiled Function.

        Raises:
            UnknownNameError: There is no such quantity, method or frame.
            UnsupportedError: The method does not apply to this robot.

        Example:
            >>> function = robot.compile("gravity", dtype="float32")
            >>> function(np.zeros(7)).dtype
            dtype('float32')
        """
        return compile(self, quantity, **options)

    @overload
    def function(
        self, function: Callable[..., Any], /, *, memory: None = None, period: None = None, **options: Any
    ) -> Function: ...

    @overload
    def function(
        self, function: Callable[..., Any], /, *, memory: Any = None, period: float, **options: Any
    ) -> SampledFunction: ...

    def function(
        self,
        function: Callable[..., Any],
        /,
        *,
        memory: Mapping[str, Any] | Callable[..., Any] | None = None,
        period: float | None = None,
        name: str | None = None,
        methods: Mapping[str, str] | None = None,
        dtype: Any = "float64",
        backend: str = "native",
        inputs: Sequence[str] = (),
        **shapes: Any,
    ) -> Function | SampledFunction:
        """Compile an ordinary Python function of a robot's quantities.

        The function is called as ``function(robot, q, v, ...)``: the first argument is a TracedRobot, the others are
        traced arrays. Those named like vectors of the robot (q, v, a, tau, commands, contacts, ...) have its shapes;
        the shapes of others are given by keyword. It returns an array, or a dict of arrays by output name.

        It runs only while it is compiled, several times, on arrays without values. What it reads from elsewhere
        (globals, closures) is compiled in as it is then. Branches on values, random numbers and filling float arrays
        raise an error with the line.

        A function with memory takes an argument ``memory``, a dict of arrays. It returns two things: its outputs, and
        a dict of the next values. It is evaluated once in each ``period``, which it may take as an argument.

        Args:
            function: The Python function. Arguments with a default value, of which no shape is given, keep that value.
            memory: Initial values by name, or a function (robot, q, v, ...) of them. Default: ``function.start`` if it
                has this method, else no memory.
            period: Sample time in s, required with memory.
            name: Name of the compiled function. Default: that of the Python function.
            methods: Method by quantity. Default: the combination with the fewest instructions.
            dtype: "float64" (default) or "float32".
            backend: "native" (default), or "interpreter", which runs in NumPy without LLVM.
            inputs: Numbers of the robot that are further inputs, as in ``linkwork.compile``.
            **shapes: Shape of each further argument: (4, 4), 6 for (6,), () for one number, or a ``linkwork.Input``.

        Returns:
            A Function like any other: batches, threads, derivatives, counts, exports. With memory or a period, a
            SampledFunction.

        Raises:
            UnsupportedError: The function does what cannot be traced; the message has its line.
            ShapeError: An argument has no shape, or a result is not an array of numbers.

        Example:
            >>> def stiffness_torque(robot, q, target, k):
            ...     error = linkwork.pose_error(target, robot.pose("panda_link8", q))
            ...     return robot.jacobian("panda_link8", q).T @ (k * error)
            >>> f = robot.function(stiffness_torque, target=(4, 4), k=(6,))
            >>> f.signature
            'q(7), target(4,4), k(6) -> stiffness_torque(7)'
        """
        options: dict[str, Any] = {"name": name, "methods": methods, "dtype": dtype, "backend": backend}
        options |= {"inputs": inputs, **shapes}
        if memory is None and period is None and not hasattr(function, "start"):
            return compile_function(self, function, **options)
        return compile_sampled(self, function, memory=memory, period=period, **options)

    def symbolic(self, quantity: str = "inverse_dynamics", **options: Any) -> SymbolicModel:
        """Return the equations of a quantity, with symbols for the robot's constants.

        Args:
            quantity: Name of the quantity.
            **options: Options of ``linkwork.symbolic.symbolic``: method, frame, axes, parameters, geometry, ...

        Returns:
            A SymbolicModel, which prints as text, LaTeX or SymPy.

        Raises:
            UnknownNameError: There is no such quantity, method or frame.

        Example:
            >>> len(linkwork.load("planar2r").symbolic("gravity").equations) > 0
            True
        """
        return symbolic(self, quantity, **options)

    # -- parameters ----------------------------------------------------------------------------------------------

    def parameter_names(
        self, parameters: str = "standard", drives: bool | Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Return the names of the regressor's columns.

        Args:
            parameters: "standard", "minimal" (base parameters) or "lin".
            drives: Parameters of drives to include, as in ``regressor``. Default: those that are not zero.

        Returns:
            The names, such as "panda_link1.M" or "panda_joint1.FV".

        Raises:
            UnknownNameError: There is no such choice of parameters.

        Example:
            >>> robot.parameter_names()[:2]
            ('panda_link1.M', 'panda_link1.MX')
        """
        return parameter_vector(self.model, parameters, drives).names

    def parameter_values(self, parameters: str = "standard", drives: bool | Sequence[str] | None = None) -> np.ndarray:
        """Return the parameter vector theta of tau = Y theta, in the order of ``parameter_names``.

        Args:
            parameters: "standard", "minimal" (base parameters) or "lin".
            drives: Parameters of drives to include, as in ``regressor``. Default: those that are not zero.

        Returns:
            The values (parameters,), in SI units.

        Raises:
            UnknownNameError: There is no such choice of parameters.

        Example:
            >>> q, v, a = np.ones((3, 7))
            >>> np.allclose(robot.regressor(q, v, a) @ robot.parameter_values(), robot.inverse_dynamics(q, v, a))
            True
        """
        return parameter_vector(self.model, parameters, drives).values

    def base_parameters(self, kind: str = "khalil", drives: bool | Sequence[str] | None = None) -> BaseParameters:
        """Return the base parameters, the fewest that determine all joint forces.

        Args:
            kind: "khalil": those of Gautier and Khalil. "lin": the minimal linear combinations of Lin.
            drives: Parameters of drives to include, as in ``regressor``. Default: those that are not zero.

        Returns:
            BaseParameters: names, values, and the combinations of standard parameters.

        Raises:
            UnknownNameError: There is no such kind.
            UnsupportedError: Lin's combinations do not exist for this robot.

        Example:
            >>> len(linkwork.load("planar2r").base_parameters(drives=False))
            6
        """
        return base_parameters(self.model, kind, drives)


@renamed_arguments(parameters="with_parameters", outside="allow_external_files")
def load(
    robot: str | Path | Mapping[str, Any] | Description | None = None,
    *,
    text: str | None = None,
    base: str | None = None,
    gravity: Sequence[float] | None = None,
    friction: bool = True,
    rotors: bool = True,
    mimic: bool = True,
    lock: Mapping[str, Any] | None = None,
    elastic: Mapping[str, ElasticDrive] | None = None,
    structure: str | Path | Mapping[str, Any] | None = None,
    with_parameters: Any = None,
    allow_external_files: bool = False,
) -> Robot:
    """Load a robot from a URDF, MJCF or YAML file, a bundled robot, a dict or a text.

    A ModelWarning reports what is suspicious in a file; errors stop loading. ``linkwork check`` lists both.

    Args:
        robot: Path of a file, name of a bundled robot, a dict with the contents of a YAML file, or a Description.
        text: Contents of a file, in place of ``robot``.
        base: "fixed" or "floating". Default: as in the file.
        gravity: Acceleration (3,) in m/s^2 in the base frame of the file. Default: as in the file, or (0, 0, -9.81).
        friction: False leaves friction and damping out.
        rotors: False leaves rotor inertias out.
        mimic: False treats mimic joints as independent joints, but not a ``Station`` of a flexible link.
        lock: {joint: position} of joints to fix, in rad (m).
        elastic: {joint: ElasticDrive} of joints that are driven through a spring.
        structure: YAML file, or a dict with its contents, with loops and roles of joints for a URDF.
        with_parameters: Other values for the loaded robot, as ``Robot.with_parameters`` takes them.
        allow_external_files: True allows an MJCF file to include files and meshes from outside its folder.

    Returns:
        The Robot.

    Raises:
        ModelError: The file cannot be read, or describes no sound robot; ``findings`` lists each mistake.
        UnknownNameError: There is no such bundled robot, joint or link.

    Example:
        >>> linkwork.load("quadruped", base="fixed", lock={"rear_left_knee": 1.0}).nv
        11
    """
    if (robot is None) == (text is None):
        got = "both" if text is not None else "neither"
        raise ModelError("a robot is loaded from a file or from a text", where="load", got=got, expected="one of them")
    if text is not None:
        robot = io.parse(text, allow_external_files=allow_external_files)
    if isinstance(robot, Description):
        description = robot if structure is None else io.apply(robot, io.structure_of(structure))
    else:
        assert robot is not None
        description = io.read(robot, structure, allow_external_files=allow_external_files)
    if elastic is not None:
        description = with_elastic_drives(description, elastic)
    cut = build(description, base=base, gravity=gravity, friction=friction, rotors=rotors, mimic=mimic, lock=lock)
    model = closed(cut, description)
    if with_parameters is not None:
        model = parameter_file.with_parameters(model, with_parameters)
        model = model if friction else changed_drives(model, Drive.without_friction)
        model = model if rotors else changed_drives(model, Drive.without_rotor)
    for finding in model.findings:
        warn_caller(finding.text, ModelWarning)
    return Robot(model)
