# Written by tests/robot_stub.py from the quantity table and linkwork/options.py; do not edit.
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .function import Function
from .identify import Fit, Log
from .model import SoftLimits
from .robot import Robot
from .sim import Stepper, Trajectory
from .workspace import Workspace

class RobotFunctions(Workspace):
    def simulate(
        self,
        q0: Any = None,
        v0: Any = None,
        duration: float = 1.0,
        dt: float | None = None,
        *,
        torque: Any = None,
        observers: Any = None,
        reference: Any = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        wrenches: Mapping[str, Any] | None = None,
        commands: Any = None,
        contacts: Any = None,
        method: str | None = None,
        every: int = 1,
        outputs: Any = None,
        limits: SoftLimits | None = None,
        friction_width: float = 0.05,
        dynamics: str = 'auto',
        tolerance: float = 1e-09,
        backend: str = 'native',
        checkpoint_every: int | None = None,
        progress: bool | Callable[[int, int], Any] | None = None,
    ) -> Trajectory:
        """Simulate one motion from a state and return a Trajectory.

        A SimulationWarning, and a note, report when energy does not balance, joints leave limits that do not act, or
        loops come close to a singular position.

        Args:
            q0: Initial positions (nq,). Default: home, or zero.
            v0: Initial velocities (nv,), or those of all joints. Default: zero.
            duration: Duration of the motion in s.
            dt: Time step in s. Default: see ``method``.
            torque: Joint forces tau in N m (N), constant (n,) or held over each step (steps, n); a controller of
                ``linkwork.control``; or any function (t, q, v, reference) -> tau in ordinary Python, which is compiled
                with the robot, and may return {"tau": ..., "commands": ...}.
            observers: Functions with memory and a sample time (``robot.function(..., period=)``) that run with the
                motion, one or a list. They receive t, q, v, tau, commands and the reference by name, and their other
                inputs as gains. Outputs are recorded as NAME_OUTPUT, memory as NAME_memory_MEMORY. Default: none.
            reference: Reference of the controller, a function t -> Point or a constant Point.
            gains: Gains of the controller, by name. Arrays may have an axis of steps first.
            memory: Initial values of the controller's states, by name; the states are recorded under these names.
            wrenches: {frame: force and moment on it} in N and N m, (6,), (steps, 6), or a function of t.
            commands: Command inputs of the force laws, in the order of ``command_names``: (n,), (steps, n), a dict by
                name, or a function of t. Default: zero. Those that a controller returns are added.
            contacts: Contacts on the ground, (contacts,) or (steps, contacts) of 1 and 0, or a dict by name: each is
                held where it is when its contact begins. Default: none. "events": they touch down, bounce and lift off
                but never slide, see ``trajectory.events``; "coulomb": they also slide.
            method: Integrator: "adams-bashforth-4" (its first three steps are Runge-Kutta steps), "rk4",
                "semi-implicit-euler", "heun", "dormand-prince-5", for stiff robots "rosenbrock", or your own
                (``linkwork.add_integrator``). With SciPy also "dormand-prince" and "implicit", which choose their own
                steps. Default: without ``method`` or ``dt``, adams-bashforth-4 with 1 ms, or what is stable for the
                robot's fastest modes; a note names it.
            every: Record every n-th step. Default: 1.
            outputs: Recorded outputs: q, v, a, tau, commands, contacts, contact_forces (fx, fy, fz, mx, my, mz for each
                contact), kinetic_energy, potential_energy, momentum, center_of_mass, loop_residual, work (done on the
                robot by all but weight and springs), states of the controller by name, or memory for all of these;
                quantities such as "inertia_matrix" and "pose:hand"; and functions (robot, q, v, ...) -> array or dict
                of arrays, as ``robot.function`` takes them, of anything that the simulation knows. Default: all that
                the robot has; ``trajectory.drift`` sums up changes of conserved quantities.
            limits: ``SoftLimits`` of the joints. Default: joint limits are off.
            friction_width: Velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero. Default:
                0.05.
            dynamics: Method of forward dynamics; ``linkwork.methods`` lists them. Default: 'auto'.
            tolerance: Error tolerance of integrators with a variable step. Default: 1e-09.
            backend: "native", or "interpreter": slow, runs in NumPy without LLVM. Default: 'native'.
            checkpoint_every: Keep the state at every n-th step as a checkpoint, so that ``Trajectory.pullback`` gives
                gradients of any output; steps between checkpoints are computed again. 1 is the fastest: the records of
                q and v serve as checkpoints, and become read-only. For methods with a fixed step. Default: no
                gradients.
            progress: True, False, or a function of (done, total) steps. Default: shown in a terminal, for long runs.

        Returns:
            A Trajectory with an array (times, ...) for each output, and notes.

        Raises:
            DivergedError: The motion diverged: a value is NaN or infinite.
            ShapeError: The shapes do not fit.

        Example:
            >>> trajectory = robot.simulate(duration=0.01)
            >>> trajectory.q.shape
            (11, 7)
        """

    def rollout(
        self,
        q0: Any,
        v0: Any,
        torque: Any = None,
        dt: float = 0.001,
        steps: int = 1000,
        *,
        observers: Any = None,
        reference: Any = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        vary: Mapping[str, Any] | None = None,
        wrenches: Mapping[str, Any] | None = None,
        commands: Any = None,
        contacts: Any = None,
        method: str | None = 'semi-implicit-euler',
        every: int = 1,
        outputs: Any = ('q', 'v'),
        limits: SoftLimits | None = None,
        friction_width: float = 0.05,
        dynamics: str = 'auto',
        backend: str = 'native',
        dtype: Any = 'float64',
        threads: int | str = 1,
        to: str | Path | None = None,
        out: Trajectory | None = None,
        checkpoint_every: int | None = None,
        progress: bool | Callable[[int, int], Any] | None = None,
        diverged: str = 'raise',
    ) -> Trajectory:
        """Simulate a batch of motions with a compiled time loop.

        Ctrl-C ends a run early and keeps the steps that are done.

        Args:
            q0: Initial positions (samples, nq) or (nq,).
            v0: Initial velocities (samples, nv) or (nv,), or those of all joints.
            torque: As in ``simulate``; arrays may have an axis of samples first.
            dt: Time step in s.
            steps: Number of time steps.
            observers: Functions with memory and a sample time (``robot.function(..., period=)``) that run with the
                motion, one or a list. They receive t, q, v, tau, commands and the reference by name, and their other
                inputs as gains. Outputs are recorded as NAME_OUTPUT, memory as NAME_memory_MEMORY. Default: none.
            reference: Reference of the controller, a function t -> Point or a constant Point.
            gains: Gains of the controller, by name. Arrays may have an axis of samples first, or axes of samples and
                steps, either of which may be 1.
            memory: Initial values of the controller's states, by name; the states are recorded under these names.
                Arrays may have an axis of samples first.
            vary: Parameters of each sample: mass (samples, bodies), with which moments and inertia scale; parameters
                (samples, bodies, 10); payload, {frame: (samples, 10)}; rotor_inertia, viscous, coulomb, offset,
                stribeck, stribeck_velocity, friction_width and stiffness (samples, joints); gravity (samples, 3); any
                other input that ``linkwork.compile`` knows, such as geometry. Controllers keep the robot's own
                parameters.
            wrenches: {frame: force and moment on it} in N and N m, (6,), (steps, 6), or a function of t. Arrays may
                have an axis of samples first.
            commands: Command inputs of the force laws, in the order of ``command_names``: (n,), (steps, n), a dict by
                name, or a function of t. Default: zero. Those that a controller returns are added. Arrays may have an
                axis of samples first.
            contacts: Contacts on the ground, (contacts,) or (steps, contacts) of 1 and 0, or a dict by name: each is
                held where it is when its contact begins. Default: none. Arrays may have an axis of samples first.
            method: Integrator: "adams-bashforth-4" (its first three steps are Runge-Kutta steps), "rk4",
                "semi-implicit-euler", "heun", "dormand-prince-5", for stiff robots "rosenbrock", or your own
                (``linkwork.add_integrator``). Default: 'semi-implicit-euler'.
            every: Record every n-th step. Default: 1.
            outputs: Recorded outputs: q, v, a, tau, commands, contacts, contact_forces (fx, fy, fz, mx, my, mz for each
                contact), kinetic_energy, potential_energy, momentum, center_of_mass, loop_residual, work (done on the
                robot by all but weight and springs), states of the controller by name, or memory for all of these;
                quantities such as "inertia_matrix" and "pose:hand"; and functions (robot, q, v, ...) -> array or dict
                of arrays, as ``robot.function`` takes them, of anything that the simulation knows. Default: ('q', 'v').
            limits: ``SoftLimits`` of the joints. Default: joint limits are off.
            friction_width: Velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero. Default:
                0.05.
            dynamics: Method of forward dynamics; ``linkwork.methods`` lists them. Default: 'auto'.
            backend: "native", or "interpreter": slow, runs in NumPy without LLVM. Default: 'native'.
            dtype: Number type of states, inputs and records: "float64", or "float32", which is faster and has seven
                digits. Default: 'float64'.
            threads: Threads that share the samples, at most one per processor; "auto": as many as help. Default: 1.
            to: A new folder to stream records into, to save memory: .npy files or, if its name ends in .zarr, a Zarr
                group. Default: records stay in memory.
            out: A trajectory of an earlier rollout with the same outputs, samples and times: it is filled again, notes
                included, and returned. After an error it has the records up to it. Default: a new trajectory.
            checkpoint_every: Keep the state at every n-th step as a checkpoint, so that ``Trajectory.pullback`` gives
                gradients of any output; steps between checkpoints are computed again. 1 is the fastest: the records of
                q and v serve as checkpoints, and become read-only. For methods with a fixed step. Default: no
                gradients.
            progress: True, False, or a function of (done, total) steps. Default: shown in a terminal, for long runs.
            diverged: "raise" a DivergedError, or "keep" diverged samples (NaN or infinite). Default: 'raise'.

        Returns:
            A Trajectory with an array (samples, times, ...) for each output.

        Raises:
            DivergedError: A sample diverged and ``diverged`` is "raise".
            ShapeError: The shapes do not fit.

        Example:
            >>> robot.rollout(np.zeros((100, 7)), np.zeros((100, 7)), steps=10).q.shape
            (100, 11, 7)
        """

    def stepper(
        self,
        samples: int,
        dt: float = 0.001,
        *,
        substeps: int = 1,
        q0: Any = None,
        v0: Any = None,
        torque: Any = None,
        observers: Any = None,
        reference: Any = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
        vary: Mapping[str, Any] | None = None,
        wrenches: Mapping[str, Any] | None = None,
        commands: Any = None,
        contacts: Any = None,
        method: str | None = 'semi-implicit-euler',
        outputs: Any = (),
        limits: SoftLimits | None = None,
        friction_width: float = 0.05,
        dynamics: str = 'auto',
        backend: str = 'native',
        dtype: Any = 'float64',
        threads: int | str = 1,
    ) -> Stepper:
        """Return a Stepper: a batch of motions, one step at a time, for learning and for hardware in the loop.

        A step is one native call and gives the same bits as ``rollout``.

        Args:
            samples: Number of motions.
            dt: Time step in s.
            substeps: Number of time steps in each call of ``step``.
            q0: Positions (nq,) or (samples, nq) at the start and after a reset. Default: home, or zero.
            v0: Velocities (nv,) or (samples, nv) at the start and after a reset. Default: zero.
            torque: Joint forces tau in N m (N), constant (n,) or held over each step (steps, n); a controller of
                ``linkwork.control``; or any function (t, q, v, reference) -> tau in ordinary Python, which is compiled
                with the robot, and may return {"tau": ..., "commands": ...}. Numbers are the initial ``stepper.tau``.
                Default: zero.
            observers: Functions with memory and a sample time (``robot.function(..., period=)``) that run with the
                motion, one or a list. They receive t, q, v, tau, commands and the reference by name, and their other
                inputs as gains. Outputs are recorded as NAME_OUTPUT, memory as NAME_memory_MEMORY. Default: none.
            reference: Reference of the controller, a function t -> Point or a constant Point. Numbers are the initial
                ``stepper.reference``.
            gains: Gains of the controller, by name. Arrays may have an axis of samples first; ``stepper.gains`` may be
                changed between steps.
            memory: Initial values of the controller's states, by name; the states are recorded under these names.
                Samples that are reset start from them, too; ``stepper.memory`` has the states.
            vary: Parameters of each sample: mass (samples, bodies), with which moments and inertia scale; parameters
                (samples, bodies, 10); payload, {frame: (samples, 10)}; rotor_inertia, viscous, coulomb, offset,
                stribeck, stribeck_velocity, friction_width and stiffness (samples, joints); gravity (samples, 3); any
                other input that ``linkwork.compile`` knows, such as geometry. Controllers keep the robot's own
                parameters. ``stepper.vary`` may be changed between steps.
            wrenches: {frame: force and moment on it} in N and N m, (6,), (steps, 6), or a function of t. Numbers, (6,)
                or (samples, 6), are the initial ``stepper.wrenches[frame]``.
            commands: Command inputs of the force laws, in the order of ``command_names``: (n,), (steps, n), a dict by
                name, or a function of t. Default: zero. Those that a controller returns are added. Numbers are the
                initial ``stepper.commands``.
            contacts: Contacts on the ground, (contacts,) or (steps, contacts) of 1 and 0, or a dict by name: each is
                held where it is when its contact begins. Default: none. Numbers, (contacts,) or (samples, contacts),
                are the initial ``stepper.contacts``.
            method: Integrator: "adams-bashforth-4" (its first three steps are Runge-Kutta steps), "rk4",
                "semi-implicit-euler", "heun", "dormand-prince-5", for stiff robots "rosenbrock", or your own
                (``linkwork.add_integrator``). Default: 'semi-implicit-euler'.
            outputs: Recorded outputs: q, v, a, tau, commands, contacts, contact_forces (fx, fy, fz, mx, my, mz for each
                contact), kinetic_energy, potential_energy, momentum, center_of_mass, loop_residual, work (done on the
                robot by all but weight and springs), states of the controller by name, or memory for all of these;
                quantities such as "inertia_matrix" and "pose:hand"; and functions (robot, q, v, ...) -> array or dict
                of arrays, as ``robot.function`` takes them, of anything that the simulation knows. They are computed
                after each step, for ``stepper.outputs``. Default: ().
            limits: ``SoftLimits`` of the joints. Default: joint limits are off.
            friction_width: Velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero. Default:
                0.05.
            dynamics: Method of forward dynamics; ``linkwork.methods`` lists them. Default: 'auto'.
            backend: "native", or "interpreter": slow, runs in NumPy without LLVM. Default: 'native'.
            dtype: Number type of states, inputs and records: "float64", or "float32", which is faster and has seven
                digits. Default: 'float64'.
            threads: Threads that share the samples, at most one per processor; "auto": as many as help. Default: 1.

        Returns:
            A Stepper with the states of all samples.

        Raises:
            ShapeError: The shapes do not fit.

        Example:
            >>> stepper = robot.stepper(samples=100)
            >>> stepper.step()
            >>> stepper.q.shape
            (100, 7)
        """

    def identify(
        self,
        logs: Log | Sequence[Log],
        method: str = 'consistent',
        *,
        friction: Any = ('coulomb', 'viscous', 'offset'),
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
        """Identify dynamic parameters from recordings of a motion.

        Args:
            logs: A ``linkwork.identify.Log``, or several.
            method: "consistent" (all bodies physically consistent, near the prior where the data leave a choice), least
                squares "ols", "wls" (each joint weighted by its residual), "irls" (robust), "iv" (instrumental variables
                from the commanded motion, or from the closed loop with ``controller``), "simulation" (output error).
            friction: Friction laws to identify. They replace those of the file; without any, the file's friction is
                kept. By name or as objects, for all driven joints and motors or as {joint: laws}. Default: ('coulomb',
                'viscous', 'offset').
            inertias: Identify the inertial parameters; False: keep the robot's values. Default: True.
            rotors: Identify the rotor inertias; False: keep the robot's values. Default: True.
            springs: Identify the stiffnesses of springs; otherwise they keep the robot's values. Default: False.
            width: Velocity in rad/s (m/s) below which friction is smoothed. Default: chosen on held-out data.
            payload: A frame; identify only a body fixed to it. Default: the whole robot.
            prior: A robot with parameters near the true ones. Default: this robot.
            gamma: Weight of the prior, the robot's parameters. Default: chosen on held-out data.
            held_out: Recordings for validation. Default: cross-validation over spans of the recordings.
            controller: Controller whose closed loop gives the instruments of "iv", or runs in "simulation". Default:
                none.
            gains: Gains of the controller, by name. Default: its own.
            simulation: Options of ``linkwork.identify.fit_simulation``, such as {"unknowns": ("stiffness",
                "friction_width", "delay"), "horizon": 0.5}.
            progress: True, False, or a function of (done, total). Default: shown in a terminal.

        Returns:
            A Fit: the parameters with their uncertainty, the prediction error, and ``robot`` with these parameters.

        Raises:
            LinkworkError: The recordings do not fit the robot, or nothing is to be identified.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> reference = linkwork.control.Quintic([0, 0], [1, -1], duration=1.0)
            >>> motion = arm.simulate(duration=1.0, torque=linkwork.control.PD(50, 5), reference=reference)
            >>> log = linkwork.identify.Log.from_trajectory(motion)
            >>> arm.identify(log, "ols").robot.nv
            2
        """

    @property
    def inverse_dynamics(self) -> Function:
        """Joint forces that produce a motion.

        ``tau = robot.inverse_dynamics(q, v, a)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            tau (..., forces): joint forces, N m (N for a prismatic joint)
        """

    @property
    def forward_dynamics(self) -> Function:
        """Joint accelerations under joint forces.

        ``a = robot.forward_dynamics(q, v, tau)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            tau (..., forces): joint forces, N m (N for a prismatic joint)
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
        """

    @property
    def hybrid_dynamics(self) -> Function:
        """Forces of driven joints, accelerations of free joints.

        ``tau, a = robot.hybrid_dynamics(q, v, a_known, tau_known)``

        Free joints are a floating base, elastic and passive joints. Default of ``tau_known``: zero.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            a_known (..., driven): accelerations of the driven joints, rad/s^2 (m/s^2 for a prismatic joint)
            tau_known (..., free): forces on joints without motors, besides springs and friction, N m (N for a prismatic
                joint)
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            tau (..., motors): joint forces, N m (N for a prismatic joint)
            a (..., free): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
        """

    @property
    def inverse_dynamics_derivatives(self) -> Function:
        """Tau, its derivatives wrt q and v, and M.

        ``tau, dtau_dq, dtau_dv, M = robot.inverse_dynamics_derivatives(q, v, a)``

        Columns for q are along the tangent of its coordinates: in the body axes of a floating base or ball joint.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            tau (..., forces): joint forces, N m (N for a prismatic joint)
            dtau_dq (..., forces, dq): derivatives of the joint forces with respect to the positions along their
                tangent, SI
            dtau_dv (..., forces, nv): derivatives of the joint forces with respect to the velocities, SI
            M (..., nv, nv): inertia matrix, SI
        """

    @property
    def forward_dynamics_derivatives(self) -> Function:
        """A, and its derivatives wrt q, v and tau.

        ``a, da_dq, da_dv, da_dtau = robot.forward_dynamics_derivatives(q, v, tau)``

        Columns for q are along the tangent of its coordinates: in the body axes of a floating base or ball joint.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            tau (..., forces): joint forces, N m (N for a prismatic joint)
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
            da_dq (..., nv, dq): derivatives of the accelerations with respect to the positions along their tangent, SI
            da_dv (..., nv, nv): derivatives of the accelerations with respect to the velocities, SI
            da_dtau (..., nv, forces): derivatives of the accelerations with respect to the joint forces, SI
        """

    @property
    def inertia_matrix(self) -> Function:
        """Inertia matrix (mass matrix) M(q), full and symmetric.

        ``M = robot.inertia_matrix(q)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            M (..., nv, nv): inertia matrix, SI
        """

    @property
    def bias(self) -> Function:
        """Joint forces at zero acceleration: tau = M a + bias.

        ``b = robot.bias(q, v)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            b (..., nv): N m (N for a prismatic joint)
        """

    @property
    def gravity(self) -> Function:
        """Joint forces that hold the robot against gravity.

        ``g = robot.gravity(q)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            g (..., nv): N m (N for a prismatic joint)
        """

    @property
    def coriolis_matrix(self) -> Function:
        """Coriolis matrix C(q, v), with Mdot - 2 C skew-symmetric.

        ``C = robot.coriolis_matrix(q, v)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)

        Returns:
            C (..., nv, nv): SI
        """

    @property
    def kinetic_energy(self) -> Function:
        """Kinetic energy of bodies and rotors.

        ``T = robot.kinetic_energy(q, v)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)

        Returns:
            T (...): J
        """

    @property
    def potential_energy(self) -> Function:
        """Potential energy of gravity and springs.

        ``V = robot.potential_energy(q)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            V (...): J
        """

    @property
    def momentum(self) -> Function:
        """Linear momentum, and angular about the centre of mass.

        ``momentum = robot.momentum(q, v)``

        In world axes.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)

        Returns:
            momentum (..., 6): kg m/s, kg m^2/s
        """

    @property
    def center_of_mass(self) -> Function:
        """Centre of mass of the moving bodies, in the world.

        ``c = robot.center_of_mass(q)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            c (..., 3): m
        """

    def pose(
        self,
        frame: str,
        q: Any,
        **how: Any,
    ) -> Any:
        """Pose of a frame in the world, as a 4 x 4 matrix.

        ``T = robot.pose(frame, q)``

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            T (..., 4, 4): origin in m
        """

    def jacobian(
        self,
        frame: str,
        q: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Jacobian of a frame at its origin, linear rows first.

        ``J = robot.jacobian(frame, q, axes="world")``

        Linear and angular velocity of the frame per joint velocity, in world or local axes.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            J (..., 6, nv): SI
        """

    def jacobian_drift(
        self,
        frame: str,
        q: Any,
        v: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Jdot v, the acceleration of a frame when a is zero.

        ``Jdot_v = robot.jacobian_drift(frame, q, v, axes="world")``

        In world or local axes.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            Jdot_v (..., 6): m/s^2, rad/s^2
        """

    def jacobian_rate(
        self,
        frame: str,
        q: Any,
        v: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Jdot: the rate of a frame's Jacobian along the motion.

        ``Jdot = robot.jacobian_rate(frame, q, v, axes="world")``

        In world or local axes. Its product with v is ``jacobian_drift``.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            Jdot (..., 6, nv): SI
        """

    def frame_velocity(
        self,
        frame: str,
        q: Any,
        v: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Velocity of a frame: of its origin, then angular.

        ``V = robot.frame_velocity(frame, q, v, axes="world")``

        In world or local axes.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            V (..., 6): m/s, rad/s
        """

    def frame_acceleration(
        self,
        frame: str,
        q: Any,
        v: Any,
        a: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Acceleration of a frame: of its origin, then angular.

        ``A = robot.frame_acceleration(frame, q, v, a, axes="world")``

        That of the origin as a point, without gravity: J a + Jdot v. In world or local axes.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            A (..., 6): m/s^2, rad/s^2
        """

    @property
    def frame_poses(self) -> Function:
        """4 x 4 poses of all frames in the world.

        ``T = robot.frame_poses(q)``

        In the order of ``robot.frame_names``.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            T (..., frames, 4, 4): origin in m
        """

    @property
    def frame_jacobians(self) -> Function:
        """Jacobians of all frames, 6 x nv each.

        ``J = robot.frame_jacobians(q)``

        In the order of ``robot.frame_names``, in world axes.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            J (..., frames, 6, nv): SI
        """

    @property
    def frame_velocities(self) -> Function:
        """Velocities of all frames: of the origin, then angular.

        ``V = robot.frame_velocities(q, v)``

        In the order of ``robot.frame_names``, in world axes.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)

        Returns:
            V (..., frames, 6): m/s, rad/s
        """

    @property
    def frame_accelerations(self) -> Function:
        """Accelerations of all frames: of the origin, then angular.

        ``A = robot.frame_accelerations(q, v, a)``

        In the order of ``robot.frame_names``, in world axes, without gravity.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)

        Returns:
            A (..., frames, 6): m/s^2, rad/s^2
        """

    def operational_inertia(
        self,
        frame: str,
        q: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Operational-space inertia of a frame (Khatib).

        ``Lambda = robot.operational_inertia(frame, q, axes="world")``

        Lambda = (J M^-1 J^T)^-1; where J is singular, the pseudo-inverse: zero in directions in which the frame cannot
        move. In world or local axes.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            Lambda (..., 6, 6): SI
        """

    def operational_bias(
        self,
        frame: str,
        q: Any,
        v: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Force on a frame for zero acceleration of it.

        ``mu = robot.operational_bias(frame, q, v, axes="world")``

        mu = Jbar^T bias - Lambda Jdot v, with gravity and all else that ``bias`` includes: joint forces J^T (Lambda A +
        mu) give the frame the acceleration A = J a + Jdot v. In world or local axes.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            mu (..., 6): N, N m
        """

    def consistent_inverse(
        self,
        frame: str,
        q: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Dynamically consistent inverse of a frame's Jacobian.

        ``Jbar = robot.consistent_inverse(frame, q, axes="world")``

        Jbar = M^-1 J^T Lambda: of all velocities that move the frame as asked, v = Jbar V has the least kinetic energy.
        Joint forces (1 - J^T Jbar^T) tau do not accelerate the frame. In world or local axes.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            Jbar (..., nv, 6): SI
        """

    def damped_inverse(
        self,
        frame: str,
        q: Any,
        damping: Any,
        *,
        axes: str = 'world',
        **how: Any,
    ) -> Any:
        """Damped pseudo-inverse of a frame's Jacobian.

        ``Jplus = robot.damped_inverse(frame, q, damping, axes="world")``

        J^T (J J^T + damping^2 1)^-1, for steps of inverse kinematics: no singular value is above 1 / (2 damping). With
        zero damping, J must have full rank. In world or local axes.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            damping (...): damping, 0 or more, in the unit of the Jacobian, m, rad
            axes (str): axes of the result, "world" (default) or "local", those of the frame
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            Jplus (..., nv, 6): SI
        """

    def manipulability(
        self,
        frame: str,
        q: Any,
        **how: Any,
    ) -> Any:
        """Manipulability of a frame (Yoshikawa).

        ``whole, translation, rotation = robot.manipulability(frame, q)``

        sqrt(det(J J^T)), the product of the singular values of J; sqrt(det(J^T J)) for a robot with fewer degrees of
        freedom than J has rows. Zero where J is singular.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            whole (...): manipulability of the whole Jacobian, SI
            translation (...): manipulability of the translation alone, SI
            rotation (...): manipulability of the rotation alone, dimensionless
        """

    def singular_values(
        self,
        frame: str,
        q: Any,
        **how: Any,
    ) -> Any:
        """Singular values of J, the distance to singularity.

        ``whole, translation, rotation = robot.singular_values(frame, q)``

        The largest first. The last one is the distance to singularity: the norm of the smallest change of J that makes
        it singular. All are exact to about 1e-15 of the largest.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            whole (..., min(6, nv)): singular values of the whole Jacobian, SI
            translation (..., min(3, nv)): singular values of the translation alone, SI
            rotation (..., min(3, nv)): singular values of the rotation alone, dimensionless
        """

    @property
    def center_of_mass_jacobian(self) -> Function:
        """3 x nv, velocity of the centre of mass per velocity.

        ``J = robot.center_of_mass_jacobian(q)``

        In world axes.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            J (..., 3, nv): SI
        """

    @property
    def centroidal_momentum_matrix(self) -> Function:
        """A with momentum = A v.

        ``A = robot.centroidal_momentum_matrix(q)``

        Linear momentum, then angular momentum about the centre of mass, in world axes.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            A (..., 6, nv): SI
        """

    @property
    def centroidal_momentum_matrix_rate(self) -> Function:
        """Adot, the rate of A along the motion.

        ``Adot = robot.centroidal_momentum_matrix_rate(q, v)``

        The rate of the momentum is A a + Adot v.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)

        Returns:
            Adot (..., 6, nv): SI
        """

    @property
    def inertia_matrix_rate(self) -> Function:
        """Mdot: the rate of the inertia matrix along the motion.

        ``Mdot = robot.inertia_matrix_rate(q, v)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)

        Returns:
            Mdot (..., nv, nv): SI
        """

    @property
    def christoffel_symbols(self) -> Function:
        """C_ijk of the first kind.

        ``c = robot.christoffel_symbols(q)``

        Coriolis and centrifugal force i is the sum of c_ijk v_j v_k. For trees whose velocities are the rates of their
        positions.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            c (..., nv, nv, nv): SI
        """

    @property
    def adaptive_regressor(self) -> Function:
        """Regressor of Slotine and Li.

        ``Y = robot.adaptive_regressor(q, v, v_ref, a_ref)``

        Y with M a_ref + C v_ref + g = Y theta. theta: the ten standard parameters of each link, then the rotor inertias
        IA of the joints; C is that of ``coriolis_matrix``. ``parameter_values("standard", drives=["IA"])`` has their
        values.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            v_ref (..., nv): reference velocities, rad/s (m/s for a prismatic joint)
            a_ref (..., nv): reference accelerations, rad/s^2 (m/s^2 for a prismatic joint)

        Returns:
            Y (..., nv, adaptive): SI
        """

    def regressor(
        self,
        q: Any,
        v: Any,
        a: Any,
        parameters: str = 'standard',
        drives: bool | Sequence[str] | None = None,
        **how: Any,
    ) -> Any:
        """Regressor Y of the dynamic parameters: tau = Y theta.

        ``Y = robot.regressor(q, v, a)``

        It has a column for each of ``parameter_names(parameters, drives)``.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
            parameters (str): "standard" (default), "minimal" (base parameters) or "lin"
            drives: which parameters of joints and motors have columns. None (default): those that are not zero (rotor
                inertia IA, Coulomb and viscous friction FS and FV, those of further friction laws, stiffness K). True:
                also those that are zero, except K. False: none. Names, such as ("IA", "FS", "FV", "F0"): these for
                every joint and motor; "elbow.FV" for one joint
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            Y (..., forces, parameters): SI
        """

    def tree_jacobian(
        self,
        frame: str,
        q: Any,
        **how: Any,
    ) -> Any:
        """Jacobian of a frame wrt all joints, with open loops.

        ``J = robot.tree_jacobian(frame, q)``

        In world axes. A frame with the name of a loop is at its cut joint, the tip of a leg; the columns of the leg are
        its Jacobian J_i.

        Args:
            frame (str): name of a frame, one of ``robot.frame_names``
            q (..., nq): positions, rad (m for a prismatic joint)
            **how: options of the call, such as ``out`` and ``threads`` (see ``Function``)

        Returns:
            J (..., 6, joints): SI
        """

    @property
    def motor_jacobian(self) -> Function:
        """Velocities of motors per independent velocity.

        ``J = robot.motor_jacobian(q)``

        For a parallel robot, the inverse of its Jacobian J_p.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            J (..., motors, nv): SI
        """

    @property
    def platform_jacobian(self) -> Function:
        """Independent velocities per velocity of motors.

        ``J = robot.platform_jacobian(q)``

        For a parallel robot, its Jacobian J_p.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            J (..., nv, motors): SI
        """

    @property
    def velocity_map(self) -> Function:
        """Velocities of all joints per independent velocity.

        ``G = robot.velocity_map(q)``

        Khalil's G.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            G (..., joints, nv): SI
        """

    @property
    def position_map(self) -> Function:
        """Changes of all positions per independent direction.

        ``G = robot.position_map(q)``

        It equals ``velocity_map`` unless the robot rolls: positions then have more freedom than velocities.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            G (..., joints, dq): SI
        """

    @property
    def joint_velocities(self) -> Function:
        """Velocities of all joints, with closed loops.

        ``v_joints = robot.joint_velocities(q, v)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)

        Returns:
            v_joints (..., joints): velocities of all joints, rad/s (m/s for a prismatic joint)
        """

    @property
    def joint_accelerations(self) -> Function:
        """Accelerations of all joints, with closed loops.

        ``a_joints = robot.joint_accelerations(q, v, a)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)

        Returns:
            a_joints (..., joints): accelerations of all joints, rad/s^2 (m/s^2 for a prismatic joint)
        """

    @property
    def constrained_dynamics(self) -> Function:
        """Accelerations of all joints, and constraint forces.

        ``a_joints, forces = robot.constrained_dynamics(q, v_joints, tau)``

        From velocities of all joints. It exists wherever the mechanism is regular, even if the independent joints do
        not determine the others.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v_joints (..., joints): velocities of all joints, rad/s (m/s for a prismatic joint)
            tau (..., forces): joint forces, N m (N for a prismatic joint)
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            a_joints (..., joints): accelerations of all joints, rad/s^2 (m/s^2 for a prismatic joint)
            forces (..., residual): constraint forces at the cut joints, of the first frame on the second in the axes of
                the first, N, N m
        """

    @property
    def constraint_forces(self) -> Function:
        """Constraint forces that close the loops.

        ``forces = robot.constraint_forces(q, v_joints, tau)``

        They act at the cut joints; the entries are those of ``loop_residual``.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v_joints (..., joints): velocities of all joints, rad/s (m/s for a prismatic joint)
            tau (..., forces): joint forces, N m (N for a prismatic joint)
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            forces (..., residual): constraint forces at the cut joints, of the first frame on the second in the axes of
                the first, N, N m
        """

    @property
    def contact_dynamics(self) -> Function:
        """Accelerations, and contact forces.

        ``a, forces = robot.contact_dynamics(q, v, tau, contacts)``

        ``contacts``: 1 for each contact of ``robot.model.switched`` on the ground, which is held there, otherwise 0.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            tau (..., forces): joint forces, N m (N for a prismatic joint)
            contacts (..., contacts): 1 for each contact on the ground, otherwise 0; larger numbers are weights if the
                forces are not unique, dimensionless
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
            forces (..., contacts, 6): contact forces of the ground, a row for each contact: force, then moment about
                its frame's origin, in world axes, N, N m
        """

    @property
    def contact_inverse_dynamics(self) -> Function:
        """Joint and contact forces for a motion.

        ``tau, forces = robot.contact_inverse_dynamics(q, v, a, contacts)``

        The smallest contact forces for which joints without motors need no force, and the joint forces. What contacts
        cannot provide remains in tau of those joints, the first six entries for a floating base. A contact with a
        larger number in ``contacts`` takes a larger share.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            a (..., nv): accelerations, rad/s^2 (m/s^2 for a prismatic joint)
            contacts (..., contacts): 1 for each contact on the ground, otherwise 0; larger numbers are weights if the
                forces are not unique, dimensionless
            wrenches (dict): optional, {frame: (..., 6)}, force, then moment about the frame's origin, in its axes, N, N
                m

        Returns:
            tau (..., forces): joint forces, N m (N for a prismatic joint)
            forces (..., contacts, 6): contact forces of the ground, a row for each contact: force, then moment about
                its frame's origin, in world axes, N, N m
        """

    @property
    def impact(self) -> Function:
        """Velocities after an impact with the ground, and impulses.

        ``v_after, impulses = robot.impact(q, v, contacts, restitution)``

        The contacts with 1 in ``contacts`` stop, or rebound along the normal of the ground by their coefficient of
        restitution.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v (..., nv): velocities, rad/s (m/s for a prismatic joint)
            contacts (..., contacts): 1 for each contact on the ground, otherwise 0; larger numbers are weights if the
                forces are not unique, dimensionless
            restitution (..., contacts): coefficient of restitution, 0 to 1, dimensionless

        Returns:
            v_after (..., nv): velocities after the impact, rad/s (m/s for a prismatic joint)
            impulses (..., contacts, 6): contact impulses of the ground, N s, N m s
        """

    @property
    def conditioning(self) -> Function:
        """Conditioning of the loops, 0 (singular) to 1.

        ``c = robot.conditioning(q)``

        How well the independent joints determine the others. At 0, forward dynamics in their coordinates does not exist
        and gives NaN.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            c (...): dimensionless
        """

    @property
    def loop_rates(self) -> Function:
        """Rates at which joint velocities open the loops.

        ``rates = robot.loop_rates(q, v_joints)``

        Zero for velocities that the loops allow.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)
            v_joints (..., joints): velocities of all joints, rad/s (m/s for a prismatic joint)

        Returns:
            rates (..., residual): m/s, rad/s
        """

    @property
    def loop_residual(self) -> Function:
        """Residual of the loops, zero if they are closed.

        ``r = robot.loop_residual(q)``

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            r (..., residual): m, rad
        """

    @property
    def torque_projector(self) -> Function:
        """Projector N on joint forces N z without effect on motion.

        ``N = robot.torque_projector(q)``

        With more motors than degrees of freedom, tau + N z moves the robot as tau does.

        Args:
            q (..., nq): positions, rad (m for a prismatic joint)

        Returns:
            N (..., forces, forces): SI
        """
