"""Robot: a Model with its Functions, each compiled when first used; load makes one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import io
from .assembly import Assembly
from .constraints import closed
from .errors import ModelError, ModelWarning, memory_reported, require_mapping
from .function import Function
from .io import parameter_file
from .model import (
    Coordinates,
    Description,
    Drive,
    ElasticDrive,
    SoftLimits,
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
from .pipeline import compile
from .quoting import printable
from .symbolic import SymbolicModel, symbolic
from .workspace import Workspace

if TYPE_CHECKING:
    from .identify import Fit, Log
    from .sim import Grip, LinearSystem, Stepper, Trajectory
    from .sim.feet import FootLoads


class Robot(Workspace):
    """A Model with its Functions, each compiled when first used.

    ``robot.inverse_dynamics(q, v, a)`` and the others take arrays with any leading batch axes. ``robot.model`` is the
    immutable Model behind it. q holds the positions of all joints; v and a are of the independent ones, tau of those
    that are driven or free: all joints, unless loops are closed.
    """

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
        freedoms = f" with {self.nv} freedoms" if self.model.loops else ""
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

    def grip(
        self, q: Any, v: Any, tau: Any, *, commands: Any = None, wrenches: Mapping[str, Any] | None = None
    ) -> Grip:
        """What the contacts of a robot that rolls bear at states (..., n) under joint forces tau, and where they would
        slip or lift off. ``v``: independent velocities, or those of all joints. ``commands``: of force laws that take
        some, which must be said; ``wrenches``: frame -> (..., 6)."""
        from .sim import grip

        return grip(self, q, v, tau, commands, wrenches)

    def standing(self, q: Any = None) -> np.ndarray:
        """Positions (..., nq) with a floating base at the height at which the lowest foot touches the ground, z = 0;
        from home, or zero, if not said."""
        from .sim.feet import standing

        return standing(self.model, q)

    def foot_loads(self, q: Any, forces: Any) -> FootLoads:
        """What the forces of ``contact_dynamics``, ``contact_inverse_dynamics`` or of a trajectory's contact_forces
        mean at positions q: normal and tangential parts, the friction they need, the centre of pressure; and which feet
        would lift off, slip or tip."""
        from .sim.feet import foot_loads

        return foot_loads(self.model, q, forces)

    # -- motion ----------------------------------------------------------------------------------------------------

    def simulate(
        self,
        q0: Any = None,
        v0: Any = None,
        duration: float = 1.0,
        dt: float | None = None,
        *,
        torque: Any = None,
        reference: Any = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        wrenches: Mapping[str, Any] | None = None,
        commands: Any = None,
        contacts: Any = None,
        method: str | None = None,
        every: int = 1,
        outputs: Sequence[str] | None = None,
        limits: SoftLimits | None = None,
        friction_width: float = 0.05,
        dynamics: str = "auto",
        tolerance: float = 1e-9,
        backend: str = "native",
        checkpoint_every: int | None = None,
        progress: Any = None,
    ) -> Trajectory:
        """One motion from a state (without it: home or zero, at rest).

        ``torque``: nothing; joint forces ``tau``, constant (n,) or held over each step (steps, n); a controller of
        ``linkwork.control``, or any function (t, q, v, reference) -> tau in ordinary Python, which is compiled with the
        robot. ``reference``: what the controller follows, a function t -> Point or a Point of numbers. ``gains``: of
        the controller, by name. ``memory``: where its own states begin, by name, if it has any and shall begin
        elsewhere; they are recorded by their names.
        ``wrenches``: frame -> (6,), (steps, 6), or a function of t. ``commands``: of force laws that take some, as they
        are in ``command_names``: (n,), (steps, n), a dict by name, or a function of t; zero if nothing is said. A
        controller gives its own, which add to them, by returning {"tau": ..., "commands": ...}, or one of both.
        ``contacts``: which feet are on the ground, (feet,) or (steps, feet) of 1 and 0, or a dict by foot: they are
        held where they are when they come to be; none if not said. Or "events": feet touch down, bounce and lift off by
        themselves, which ``trajectory.events`` tells, but never slide; "coulomb": they slide, too.
        ``method``: "adams-bashforth-4" (after three steps of Runge and Kutta's), "rk4", "semi-implicit-euler", "heun",
        "dormand-prince-5", for stiff robots "rosenbrock", or one of your own (``linkwork.add_integrator``); with SciPy
        "dormand-prince" and "implicit", which choose their own steps within ``tolerance``. If it or ``dt`` is not said:
        Adams and Bashforth's with 1 ms, or what bears the modes of the motion; notes say it.
        ``backend``: "interpreter" runs in NumPy, without LLVM, slowly.
        ``v0`` of a robot with loops may be of all joints. ``every``: record each so many steps. ``limits``:
        ``SoftLimits``, or none act. ``friction_width``: velocity below which Coulomb friction goes smoothly through
        zero. ``dynamics``: method of forward dynamics. ``checkpoint_every``: keep states for ``Trajectory.pullback``,
        as in ``rollout``; by methods with a fixed step, and of the steps as they are made.

        ``outputs``: names of what is recorded, those of ``rollout``. The default is all: q, v, a, tau, kinetic_energy,
        potential_energy, work (done on the robot by all but weight and springs), momentum, loop_residual where loops
        are closed, the memory of a controller; ``drift`` sums up what should not have changed.
        A SimulationWarning tells, and a note, when energy does not balance, joints leave limits that do not act, or
        loops come close to a singular position.
        """
        from .sim import Options, simulate  # not before it is used: most programs start sooner without

        return simulate(self, q0, v0, duration, dt, Options.among(locals()))

    def rollout(
        self,
        q0: Any,
        v0: Any,
        torque: Any = None,
        dt: float = 1e-3,
        steps: int = 1000,
        *,
        reference: Any = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        vary: Mapping[str, Any] | None = None,
        wrenches: Mapping[str, Any] | None = None,
        commands: Any = None,
        contacts: Any = None,
        method: str = "semi-implicit-euler",
        every: int = 1,
        outputs: Sequence[str] = ("q", "v"),
        limits: SoftLimits | None = None,
        friction_width: float = 0.05,
        dynamics: str = "auto",
        backend: str = "native",
        threads: int | str = 1,
        to: str | Path | None = None,
        out: Trajectory | None = None,
        checkpoint_every: int | None = None,
        progress: Any = None,
        diverged: str = "raise",
    ) -> Trajectory:
        """Motions from many states at once, (samples, n), the time loop compiled; arrays (samples, times, ...).

        Beside the options of ``simulate`` (methods with a fixed step alone): torque, wrenches, commands and contacts
        may have an axis of samples first. ``outputs``: names of what is recorded, ("q", "v") if not said, also a, tau,
        commands, contacts, contact_forces (feet in contact: fx, fy, fz, mx, my, mz each), kinetic_energy,
        potential_energy, momentum, center_of_mass, loop_residual, work, and states of the controller by name, or memory
        for all of these. ``vary``: parameters of each sample: mass (samples, bodies), with which moments and inertia
        scale; parameters (samples, bodies, 10); payload, {frame:
        (samples, 10)}; rotor_inertia, viscous, coulomb, offset, stribeck, stribeck_velocity, friction_width and
        stiffness (samples, joints); gravity (samples, 3). Controllers know nothing of these.
        ``gains`` and ``memory`` of the controller: by name, with an axis of samples first. ``threads``: that share the
        samples, at most one for each processor; "auto" for as many as gain something. ``to``: a new folder to stream
        into, of .npy files or, if its name ends in .zarr, a Zarr group, so that little is kept here. ``out``: a
        trajectory of an earlier rollout with the same outputs, samples and times: it is filled anew, notes and all, and
        returned; after an error it has what was recorded until then. ``progress``: True, False, or a function of
        (done, total) steps; if not said, long runs show it in a terminal. ``diverged``: "raise" a DivergedError, or
        "keep" samples that left the numbers. ``checkpoint_every``: keep the state at every so many steps, so that
        ``Trajectory.pullback`` gives gradients of anything recorded; what lies between is computed again. 1 is the
        quickest: records of q and v at every step serve as they are, and cannot be written to then. Ctrl-C ends a run
        early and keeps what is done.
        """
        from .sim import Options, rollout

        return rollout(self, q0, v0, dt, steps, Options.among(locals()))

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

    def stepper(
        self,
        samples: int,
        dt: float = 1e-3,
        *,
        substeps: int = 1,
        q0: Any = None,
        v0: Any = None,
        torque: Any = None,
        reference: Any = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        vary: Mapping[str, Any] | None = None,
        wrenches: Mapping[str, Any] | None = None,
        commands: Any = None,
        contacts: Any = None,
        method: str = "semi-implicit-euler",
        outputs: Sequence[str] = (),
        limits: SoftLimits | None = None,
        friction_width: float = 0.05,
        dynamics: str = "auto",
        backend: str = "native",
        threads: int | str = 1,
    ) -> Stepper:
        """Many motions at once, a step at a time, for learning and for hardware in the loop; a step is one native call,
        of ``substeps`` steps of ``dt`` seconds each, and gives the bits of ``rollout``.

        ``q0``, ``v0``: where samples start, and start anew, (n,) or (samples, n). ``torque``: what ``stepper.tau``
        begins with, zero if not said; or a controller, whose ``reference`` is a function of time, or a Point of
        numbers that ``stepper.reference`` begins with. ``wrenches``: frame -> what ``stepper.wrenches[frame]`` begins
        with, (6,) or (samples, 6), or a function of t. ``commands``: likewise, of ``stepper.commands``, zero if not
        said. ``contacts``: which feet are on the ground, (feet,) or (samples, feet) of 1 and 0, what
        ``stepper.contacts`` begins with. ``vary`` and ``gains``: as in ``rollout``, and ``stepper.vary`` and
        ``stepper.gains`` may be changed between steps. ``memory``: where states of the controller start, and start
        anew, by name; ``stepper.memory`` has them. ``outputs``: what of ``rollout``'s is computed after each step, for
        ``stepper.outputs``. The other options are those of ``rollout``.
        """
        from .sim import Options, Stepper

        options = Options.among(locals())
        with memory_reported("these samples", where="stepper", fix="step fewer samples at a time"):
            return Stepper(self, samples, dt, substeps, q0, v0, options)

    # -- functions of the joints -----------------------------------------------------------------------------------

    def compile(self, quantity: str, **options: Any) -> Function:
        """``linkwork.compile`` of this robot."""
        return compile(self, quantity, **options)

    def symbolic(self, quantity: str = "inverse_dynamics", **options: Any) -> SymbolicModel:
        """The equations of a quantity, with symbols for the robot's constants; see ``linkwork.symbolic.symbolic``."""
        return symbolic(self, quantity, **options)

    @cached_property
    def inverse_dynamics(self) -> Function:
        """tau = inverse_dynamics(q, v, a): joint forces for a motion."""
        return self.function("inverse_dynamics")

    @cached_property
    def forward_dynamics(self) -> Function:
        """a = forward_dynamics(q, v, tau): joint accelerations under joint forces."""
        return self.function("forward_dynamics")

    @cached_property
    def inverse_dynamics_derivatives(self) -> Function:
        """tau, dtau_dq, dtau_dv, M = inverse_dynamics_derivatives(q, v, a); columns of q are along the tangent of its
        coordinates: in a floating base's or ball joint's own axes."""
        return self.function("inverse_dynamics_derivatives")

    @cached_property
    def forward_dynamics_derivatives(self) -> Function:
        """a, da_dq, da_dv, da_dtau = forward_dynamics_derivatives(q, v, tau); columns of q as above."""
        return self.function("forward_dynamics_derivatives")

    @cached_property
    def hybrid_dynamics(self) -> Function:
        """tau, a = hybrid_dynamics(q, v, a_known, tau_known): forces of the motors and accelerations of what they leave
        free (a floating base, elastic and passive joints), from accelerations of the driven joints and the forces on
        the free ones beside their springs and friction, none if left out."""
        return self.function("hybrid_dynamics")

    @cached_property
    def inertia_matrix(self) -> Function:
        """M = inertia_matrix(q), complete and symmetric."""
        return self.function("inertia_matrix")

    @cached_property
    def bias(self) -> Function:
        """b = bias(q, v): joint forces at zero acceleration, M a + b = tau."""
        return self.function("bias")

    @cached_property
    def gravity(self) -> Function:
        """g = gravity(q): joint forces that hold the robot against gravity."""
        return self.function("gravity")

    @cached_property
    def coriolis_matrix(self) -> Function:
        """C = coriolis_matrix(q, v) with Mdot - 2 C skew-symmetric."""
        return self.function("coriolis_matrix")

    @cached_property
    def kinetic_energy(self) -> Function:
        """T = kinetic_energy(q, v), of bodies and rotors."""
        return self.function("kinetic_energy")

    @cached_property
    def potential_energy(self) -> Function:
        """V = potential_energy(q), of gravity and springs."""
        return self.function("potential_energy")

    @cached_property
    def momentum(self) -> Function:
        """momentum(q, v): linear, and angular about the centre of mass, in world axes."""
        return self.function("momentum")

    @cached_property
    def center_of_mass(self) -> Function:
        """c = center_of_mass(q), of the moving bodies, in the world."""
        return self.function("center_of_mass")

    @cached_property
    def velocity_map(self) -> Function:
        """G = velocity_map(q): velocities of all joints per independent one; Khalil's G."""
        return self.function("velocity_map")

    @cached_property
    def position_map(self) -> Function:
        """G = position_map(q): changes of all positions, as velocities, per direction in which they can change: that of
        ``velocity_map`` unless something rolls, which can stand at places to which it cannot go straight."""
        return self.function("position_map")

    @cached_property
    def motor_jacobian(self) -> Function:
        """J = motor_jacobian(q): velocities of the motors per independent one; of a parallel robot, J_p^-1."""
        return self.function("motor_jacobian")

    @cached_property
    def platform_jacobian(self) -> Function:
        """J = platform_jacobian(q): independent velocities per velocity of the motors; of a parallel robot, J_p."""
        return self.function("platform_jacobian")

    @cached_property
    def joint_velocities(self) -> Function:
        """joint_velocities(q, v): of all joints, loops closed."""
        return self.function("joint_velocities")

    @cached_property
    def joint_accelerations(self) -> Function:
        """joint_accelerations(q, v, a): of all joints, loops closed."""
        return self.function("joint_accelerations")

    @cached_property
    def constrained_dynamics(self) -> Function:
        """a_joints, forces = constrained_dynamics(q, v_joints, tau): accelerations of all joints from velocities of all
        joints, and the forces that hold the loops at the cuts. It exists wherever the mechanism is regular, also where
        the independent joints do not tell the others."""
        return self.function("constrained_dynamics")

    @cached_property
    def constraint_forces(self) -> Function:
        """forces = constraint_forces(q, v_joints, tau): of each cut joint's first frame on its second one, in the axes
        of the first; the entries are those of ``loop_residual``."""
        return self.function("constraint_forces")

    @cached_property
    def contact_dynamics(self) -> Function:
        """a, forces = contact_dynamics(q, v, tau, contacts): accelerations of a robot on its feet, and the forces of
        the ground on them, a row each: force, then moment about the origin of the foot's frame, in the world's axes.
        ``contacts``: 1 for each foot of ``robot.model.feet`` on the ground, which is held where it stands, else 0."""
        return self.function("contact_dynamics")

    @cached_property
    def contact_inverse_dynamics(self) -> Function:
        """tau, forces = contact_inverse_dynamics(q, v, a, contacts): the least forces on the feet that leave nothing to
        joints without motors, and joint forces beside them. What the feet cannot bear stays in tau of those joints, the
        first six of a floating base. Among feet on the ground, a larger number of ``contacts`` takes a larger share."""
        return self.function("contact_inverse_dynamics")

    @cached_property
    def impact(self) -> Function:
        """v_after, impulses = impact(q, v, contacts, restitution): when the feet of ``contacts`` meet the ground, or
        are there, at once. They stop, or along the ground's normal move back with a share of the velocity, by foot."""
        return self.function("impact")

    @cached_property
    def conditioning(self) -> Function:
        """c = conditioning(q): how well the independent joints tell the others, from 1 to 0, where forward dynamics in
        their coordinates does not exist (it gives NaN there)."""
        return self.function("conditioning")

    @cached_property
    def loop_rates(self) -> Function:
        """loop_rates(q, v_joints): at which velocities of all joints open the loops; zero for those they allow."""
        return self.function("loop_rates")

    @cached_property
    def loop_residual(self) -> Function:
        """r = loop_residual(q): by how much the loops are open, in metres and radians."""
        return self.function("loop_residual")

    @cached_property
    def torque_projector(self) -> Function:
        """N = torque_projector(q): with more motors than freedoms, tau + N z moves the robot as tau does."""
        return self.function("torque_projector")

    # -- parameters ------------------------------------------------------------------------------------------------

    def regressor(
        self,
        q: Any,
        v: Any,
        a: Any,
        parameters: str = "standard",
        drives: bool | Sequence[str] | None = None,
        **how: Any,
    ) -> Any:
        """Y with tau = Y theta, a column for each of ``parameter_names(parameters, drives)``: "standard", "minimal",
        "lin".

        ``drives``: which parameters of joints and motors have columns. None: those that are not zero (rotor inertia IA,
        Coulomb and viscous friction FS and FV, those of further friction laws, stiffness K). True: also where they are
        zero, but for K. False: none. Names, such as ("IA", "FS", "FV", "F0"): these of every joint and motor;
        "elbow.FV" is that of one."""
        return self.function("regressor", parameters=parameters, drives=drives)(q, v, a, **how)

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

    def identify(
        self,
        logs: Log | Sequence[Log],
        method: str = "consistent",
        *,
        friction: Any = ("coulomb", "viscous", "offset"),
        inertias: bool = True,
        rotors: bool = True,
        springs: bool = False,
        width: float | None = None,
        payload: str | None = None,
        prior: Robot | None = None,
        gamma: float | None = None,
        held_out: Log | Sequence[Log] = (),
        controller: Any = None,
        gains: Mapping[str, Any] | None = None,
        simulation: Mapping[str, Any] | None = None,
        progress: Any = None,
    ) -> Fit:
        """Dynamic parameters from recordings, ``linkwork.identify.Log``; the result's ``robot`` has them.

        ``method``: "consistent" (every body physical, near the prior as far as the data leave it open), least squares
        "ols", "wls" (each joint by its own residual), "irls" (robust), "iv" (instruments from the commanded motion, or
        from what ``controller`` with ``gains`` makes of it), "simulation" (output error). ``friction``: laws that are
        found, by name or as objects, for all driven joints and motors or as {joint: laws}, in place of those of the
        file, which are known if there are none here; ``width``: velocities within which they go smoothly through zero,
        chosen on held-out data if not said.
        ``inertias``, ``rotors``, ``springs``: are these to be found? What is not is known, with the robot's values.
        ``payload``: a frame; only a body fixed there is to be found. ``prior``: a variant of the robot that is thought
        to be near, this one if not said; ``gamma``: its weight, chosen on held-out data if not said: ``held_out``, or
        spans of the recordings in turn. ``simulation``: options of ``linkwork.identify.fit_simulation``, such as
        {"unknowns": ("stiffness", "friction_width", "delay"), "horizon": 0.5}.
        """
        from .identify.fit_options import FitOptions
        from .identify.identification import identify

        return identify(self, FitOptions.from_arguments(locals()))

    # -- functions of a named frame ----------------------------------------------------------------------------------

    def pose(self, frame: str, q: Any, **how: Any) -> Any:
        """4 x 4 pose of a link or named frame in the world."""
        return self.function("pose", frame=frame)(q, **how)

    def jacobian(self, frame: str, q: Any, axes: str = "world", **how: Any) -> Any:
        """6 x nv: velocity of the frame's origin, then angular velocity, per joint velocity; in world or local axes."""
        return self.function("jacobian", frame=frame, axes=axes)(q, **how)

    def tree_jacobian(self, frame: str, q: Any, **how: Any) -> Any:
        """6 x all joints: the Jacobian of a frame in world axes as if the loops were open. A frame of a loop's name is
        where the loop was cut, the tip of a leg; the leg's own columns are its Jacobian J_i."""
        return self.function("tree_jacobian", frame=frame)(q, **how)

    def jacobian_drift(self, frame: str, q: Any, v: Any, axes: str = "world", **how: Any) -> Any:
        """Jdot v: the frame's acceleration when the joints do not accelerate; in world or local axes."""
        return self.function("jacobian_drift", frame=frame, axes=axes)(q, v, **how)


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
    mimic joints as joints of their own, but for places along a link that bends. ``lock``: joint name -> position at
    which it is fixed. ``elastic``: joint name -> ElasticDrive that moves it through a spring. ``structure``: a YAML
    file, or a dict of the same, with the loops and roles that a URDF cannot have. ``parameters``: other numbers of the
    robot as it is with all this, as of ``with_parameters``. ``outside=True``: an MJCF file may include files and take
    meshes from outside its folder.
    """
    if (robot is None) == (text is None):
        got = "both" if text is not None else "neither"
        raise ModelError("a robot is loaded from a file or from a text", where="load", got=got, expected="one of them")
    if text is not None:
        robot = io.parse(text, outside=outside)
    if isinstance(robot, Description):
        description = robot if structure is None else io.apply(robot, io.structure_of(structure))
    else:
        assert robot is not None
        description = io.read(robot, structure, outside=outside)
    if elastic is not None:
        description = with_elastic_drives(description, elastic)
    cut = build(description, base=base, gravity=gravity, friction=friction, rotors=rotors, mimic=mimic, lock=lock)
    model = closed(cut, description)
    if parameters is not None:
        model = parameter_file.with_parameters(model, parameters)
        model = model if friction else changed_drives(model, Drive.without_friction)
        model = model if rotors else changed_drives(model, Drive.without_rotor)
    for finding in model.findings:
        warnings.warn(str(finding).removeprefix("warning: "), ModelWarning, stacklevel=2)
    return Robot(model)
