"""Robot: a Model with its Functions, each compiled when first used; load makes one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import io
from .assembly import Assembly
from .compose import compile, compile_function
from .constraints import closed
from .errors import ModelError, ModelWarning, memory_reported, require_mapping
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
from .renamed import refuse
from .robot_functions import RobotFunctions
from .symbolic import SymbolicModel, symbolic

if TYPE_CHECKING:
    from .sim import ContactForces, LinearSystem


class Robot(RobotFunctions):
    """A Model with its Functions, each compiled when first used.

    ``robot.inverse_dynamics(q, v, a)`` and the others take arrays with any leading batch axes. ``robot.model`` is the
    immutable Model behind it. q holds the positions of all joints; v and a are of the independent ones, tau of those
    that are driven or free: all joints, unless loops are closed.
    """

    if not TYPE_CHECKING:  # type checkers are to report names that do not exist

        def __getattr__(self, name: str) -> NoReturn:
            refuse("Robot", name)

    @classmethod
    def from_dh(cls, table: Any, convention: str = "modified", *, name: str = "robot", **tables: Any) -> Robot:
        """A robot from a table of Denavit and Hartenberg's parameters, base to tip.

        Args:
            table: A row per joint, in m and rad. Four numbers: alpha, d, theta, r in the modified convention (Khalil's
                letters; Craig's alpha, a, theta, d), theta, d, a, alpha in the standard one. Or a dict with any of
                these and the other keys of a joint row of a YAML file (name, link, parent, kind, axis, limits, ...),
                the inertia of the link (M, center, central, ...) and the values of the drive (Ia, Fs, Fv, ...).
            convention: "modified" (Khalil and Kleinfinger, Craig; default) or "standard" (distal frames).
            name: The robot's name.
            **tables: What else a YAML file may have: gravity, base, links, drives, frames, loops, home, ...

        Returns:
            The robot; the joints are revolute unless a row has a ``kind`` or ``sigma``.

        Raises:
            ModelError: A row or a key is not understood, or the robot is not sound.

        Example:
            >>> arm = linkwork.Robot.from_dh([[0, 0, 0, 0.3], {"alpha": -1.57, "M": 2, "center": [0.2, 0, 0]}])
        """
        rows = io.dh_rows(table, convention)
        return load({"name": name, "convention": convention, "joints": rows, **tables})

    # -- what it is ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of positions, of all joints that follow no other: ``coordinates.names`` has their names."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of independent velocities: those of all joints of q, and fewer of a robot with loops."""
        return self.model.nv

    @property
    def coordinates(self) -> Coordinates:
        """Names and order of the entries of q and of the velocities of all joints, and the ways between positions:
        neutral(), random(rng, size), normalised(q), integrate(q, v), difference(q0, q1)."""
        return self.model.coordinates

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self.model.joint_names

    @property
    def position_names(self) -> tuple[str, ...]:
        """The joints of q, in its order, but for floating bodies: all of a robot with loops."""
        return self.model.position_names

    @property
    def motor_names(self) -> tuple[str, ...]:
        """The active joints."""
        return self.model.names_of(self.model.mobility.motors)

    @property
    def command_names(self) -> tuple[str, ...]:
        """What force laws take beside motion: an entry for each, called after the law's frame."""
        return self.model.commands.names

    @property
    def transmission(self) -> np.ndarray:
        """T with v_drives = T v and tau = T^T tau_drives: a row for each of ``drive_names``, a column for each velocity
        of the joints."""
        return np.array(transmission_matrix(self.model.coordinates.velocity_names, self.model.transmissions)[1])

    @property
    def drive_names(self) -> tuple[str, ...]:
        """Driven motors of transmissions, and each joint that none of them drives, as its own."""
        return transmission_matrix(self.model.coordinates.velocity_names, self.model.transmissions)[0]

    @property
    def home(self) -> tuple[float, ...]:
        """Positions q at which loops are closed and floating bodies have their places; where the file tells none, zero
        and no rotation."""
        return self.model.home or tuple(self.coordinates.neutral().tolist())

    @property
    def roles(self) -> dict[str, str]:
        """Joint -> active, passive or elastic; a floating base is "base"."""
        roles = {joint.name: joint.role for joint in self.coordinates.joints}
        return roles | ({self.coordinates.joints[0].name: "base"} if self.model.moving_base else {})

    @property
    def link_names(self) -> tuple[str, ...]:
        return self.model.link_names

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Links and extra frames: what pose, jacobian and wrenches know."""
        return tuple(self.model.frames)

    @property
    def parameters(self) -> list[list[float]]:
        """Inertial parameters of each moving link with all that is fixed to it: mass, first moments (3), inertia about
        the origin of the link's frame (xx, xy, xz, yy, yz, zz), in its axes; the input of functions compiled with
        ``parameters="input"``."""
        return self.model.parameters()

    def __repr__(self) -> str:
        freedoms = f" with {self.nv} freedoms" if self.model.constrained else ""
        joints = f"{len(self.position_names)} joints{freedoms}"
        return f"<linkwork Robot {printable(self.name)}: {joints}, {self.model.base} base>"

    def _repr_html_(self) -> str:
        return robot_html(self.model)

    def write(self, path: str | Path) -> None:
        """Write the robot as URDF or YAML, by the suffix of ``path``. Reading it back gives the same dynamics."""
        io.write(describe(self.model), path)

    def chain(self, tip: str) -> Robot:
        """The path from the base to a link or frame, as a robot of its own; other branches are left out."""
        return Robot(chain(self.model, tip))

    def with_forces(self, forces: Mapping[str, Any]) -> Robot:
        """The same robot in its surroundings: frame -> force law (see ``linkwork.forces``), beside those it has."""
        require_mapping(forces, "forces", "{frame: force law}")
        laws = tuple((self.model.frame(name), law) for name, law in forces.items())
        model = replace(self.model, forces=self.model.forces + laws)
        _ = model.commands  # or it says which two are called the same
        check_places(model)
        return Robot(model)

    def with_drives(self, values: Mapping[str, Mapping[str, Any]]) -> Robot:
        """The same robot with other drives: joint, or motor of a transmission -> values of its fields, such as
        {"elbow": {"coulomb": 0.3, "friction": (Stribeck(0.2, velocity=0.05),)}} (laws are in ``linkwork.model``)."""
        return Robot(changed(self.model, drives=values))

    def with_parameters(self, values: Any) -> Robot:
        """The same robot with other numbers: {link: {"mass": 2, "center": (3,), "inertia": (3, 3) or 6, about it}}, or
        a part of it, or ten as in ``parameters``; {"link2.MX": 0.1, "joint2.IA": 0.3} as ``parameter_names`` has them;
        the path of a YAML or JSON file of these; or a fit. A link stands for all that is fixed to it. A centre that is
        not given stays; the inertia about it, if not given, grows with the mass."""
        return Robot(parameter_file.with_parameters(self.model, values))

    def with_friction(self, values: Any) -> Robot:
        """The same robot with other friction: {joint or motor: {"coulomb": 0.3, "viscous": 0.1, "offset": 0.2,
        "stribeck": {"excess": 1, "velocity": 0.1}}}, or laws of ``linkwork.model``, which are all the friction it has
        then; or a file or a fit, of which friction alone is taken."""
        return Robot(parameter_file.with_friction(self.model, values))

    def with_payload(
        self, frame: Any, mass: float | None = None, center: Any = (0, 0, 0), inertia: Any = (0, 0, 0)
    ) -> Robot:
        """The same robot with a body fixed to a frame, beside what is there: mass, centre of mass and inertia about it,
        as of ``with_parameters``, in the frame's axes; or {frame: {"mass": 2, ...}}, a file or a fit of these."""
        body = {"mass": mass, "center": center, "inertia": inertia}
        return Robot(parameter_file.with_payload(self.model, frame if mass is None else {frame: body}))

    def assemble(
        self,
        positions: Any,
        guess: Any = None,
        *,
        known: str | Sequence[str] | None = None,
        tolerance: float | None = None,
        iterations: int = 100,
    ) -> Assembly:
        """Positions of all joints of a robot with loops, from those of its independent ones.

        ``positions``: (..., n), or a dict by joint; a floating platform counts seven. ``known``: other joints than the
        independent ones, as many freedoms, such as ``robot.motor_names`` for the forward kinematics of a parallel
        robot. Without a ``guess`` the way in which the loops are put together at ``home`` is followed, or the result
        says that it is lost. ``guess``: positions q of all joints; if they close the loops, their way is followed, and
        if not, positions near them are looked for. ``tolerance``: of the residual, in metres and radians; 1e-12 unless
        rounded numbers in the file, or the last bits of large positions, keep the loops from closing so well.
        """
        assembler = self.assembler(known)
        with memory_reported("these positions", where="assemble", fix="assemble fewer at a time"):
            return assembler(positions, guess, tolerance, iterations)

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
        """Forces of the ground on all contacts: loads, friction needed and available, centres of
        pressure, and which contacts would lift off, slip or tip.

        Args:
            q: positions (..., nq).
            v: independent velocities (..., nv), or those of all joints.
            tau: joint forces (..., forced joints).
            contacts: which contacts with a switch are on the ground (..., contacts), 1 or 0; default: all.
            forces: forces already known of contacts with a switch (..., contacts, 6), as ``contact_dynamics``,
                ``contact_inverse_dynamics`` and the output contact_forces of a trajectory have them. Without v and tau
                the report has these contacts alone.
            commands: inputs of the force laws that take some; required by a robot that has such laws.
            wrenches: frame -> external wrench (..., 6) in the world's axes.

        Raises:
            UnsupportedError: if nothing of the robot touches the ground.
            ShapeError: if v, tau or commands are missing, or the shapes do not fit.
        """
        from .sim.contact.contact_report import contact_forces

        return contact_forces(self, q, v, tau, contacts, forces, commands, wrenches)

    def standing_position(self, q: Any = None) -> np.ndarray:
        """Return positions (..., nq) at which the lowest contact of a floating robot touches the ground, z = 0.

        Args:
            q: positions whose height is changed; default: home, or zero.
        """
        from .sim.contact.contact_points import standing_position

        return standing_position(self.model, q)

    # -- motion ----------------------------------------------------------------------------------------------------

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
        """A (..., n, n) and B (..., n, len(tau)) of x' = A x + B u near states under forces tau, where x is (dq, dv),
        positions along the tangent of their coordinates (of what rolls, along ``position_map``, which has more columns
        than v has entries; else n is 2 nv), and u the change of tau. Of a robot that takes
        ``commands`` (zero if not said) their changes follow in u, and their columns in B.

        With ``dt``: of x after a step = A x + B u, where the step is that of ``rollout`` by this ``method``, friction
        smooth as it is there. Along a motion, with all that acts in it, ``Trajectory.linearised`` has them.
        """
        from .sim import linearise

        return linearise(self, q, v, tau, dt, method, commands)

    # -- functions of the joints -----------------------------------------------------------------------------------

    def compile(self, quantity: str | Sequence[str] | Mapping[str, str], **options: Any) -> Function:
        """Compile one quantity of this robot, or several into one program: ``linkwork.compile`` of this robot."""
        return compile(self, quantity, **options)

    def function(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        methods: Mapping[str, str] | None = None,
        dtype: Any = "float64",
        backend: str = "native",
        **inputs: Any,
    ) -> Function:
        """Compile an ordinary Python function of a robot's quantities.

        The function is called as ``function(robot, q, v, ...)``: the first argument is a TracedRobot, the others are
        traced arrays. Those named like vectors of the robot (q, v, a, tau, commands, contacts, ...) have its shapes;
        the shapes of others are given by keyword. It returns an array, or a dict of arrays by output name.

        It runs when you call this, on arrays without values: what it reads from elsewhere (globals, closures) is
        compiled in as it is then. Branches on values, random numbers and filling float arrays raise an error with the
        line.

        Args:
            function: The Python function. Arguments with a default value, of which no shape is given, keep that value.
            name: Name of the compiled function. Default: that of the Python function.
            methods: Method by quantity. Default: the combination with the fewest instructions.
            dtype: "float64" (default) or "float32".
            backend: "native" (default), or "interpreter", which runs in NumPy without LLVM.
            **inputs: Shape of each further argument: (4, 4), 6 for (6,), () for one number, or a ``linkwork.Input``.

        Returns:
            A Function like any other: batches, threads, derivatives, counts, exports.

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
        return compile_function(self, function, name=name, methods=methods, dtype=dtype, backend=backend, **inputs)

    def symbolic(self, quantity: str = "inverse_dynamics", **options: Any) -> SymbolicModel:
        """The equations of a quantity, with symbols for the robot's constants; see ``linkwork.symbolic.symbolic``."""
        return symbolic(self, quantity, **options)

    # -- parameters ------------------------------------------------------------------------------------------------

    def parameter_names(
        self, parameters: str = "standard", drives: bool | Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Names of the regressor's columns."""
        return parameter_vector(self.model, parameters, drives).names

    def parameter_values(self, parameters: str = "standard", drives: bool | Sequence[str] | None = None) -> np.ndarray:
        """theta of tau = Y theta, in the order of ``parameter_names``."""
        return parameter_vector(self.model, parameters, drives).values

    def base_parameters(self, kind: str = "khalil", drives: bool | Sequence[str] | None = None) -> BaseParameters:
        """The fewest parameters that tell all joint forces, as combinations of the standard ones: those of Gautier and
        Khalil, or "lin": the minimal linear combinations of Lin. ``drives``: as in ``regressor``."""
        return base_parameters(self.model, kind, drives)

    # -- functions of a named frame ----------------------------------------------------------------------------------


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
    parameters: Any = None,
    outside: bool = False,
) -> Robot:
    """A robot from a URDF, MJCF or YAML file, a bundled robot by name, a dict that holds what a YAML file would, a
    Description; or from the ``text`` of such a file.

    ``base``: "fixed" or "floating" (default: what the file says). ``gravity``: acceleration vector in the base frame of
    the file. ``friction=False``, ``rotors=False`` leave damping, friction and rotor inertia out. ``mimic=False`` keeps
    mimic joints as joints of their own, but for a ``Station`` of a link with modes. ``lock``: joint name -> position at
    which it is fixed. ``elastic``: joint name -> ElasticDrive that moves it through a spring. ``structure``: a YAML
    file, or a dict of the same, with the loops and roles that a URDF cannot have. ``parameters``: other numbers of the
    robot as it is with all this, as of ``with_parameters``. ``outside=True``: an MJCF file may include files and take
    meshes from outside its folder.
    """
    if (robot is None) == (text is None):
        got = "both" if text is not None else "neither"
        raise ModelError("a robot is loaded from a file or from a text", where="load", got=got, expected="one of them")
    if text is not None:
        robot = io.parse(text, allow_external_files=outside)
    if isinstance(robot, Description):
        description = robot if structure is None else io.apply(robot, io.structure_of(structure))
    else:
        assert robot is not None
        description = io.read(robot, structure, allow_external_files=outside)
    if elastic is not None:
        description = with_elastic_drives(description, elastic)
    cut = build(description, base=base, gravity=gravity, friction=friction, rotors=rotors, mimic=mimic, lock=lock)
    model = closed(cut, description)
    if parameters is not None:
        model = parameter_file.with_parameters(model, parameters)
        model = model if friction else changed_drives(model, Drive.without_friction)
        model = model if rotors else changed_drives(model, Drive.without_rotor)
    for finding in model.findings:
        warnings.warn(finding.text, ModelWarning, stacklevel=2)
    return Robot(model)
