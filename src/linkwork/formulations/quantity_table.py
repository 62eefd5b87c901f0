"""The table of quantities: name, inputs, outputs with units, and the forces that each includes."""

from __future__ import annotations

from dataclasses import replace

from ..constraints import assembly_loop
from ..errors import UnknownNameError
from ..model import Model
from . import centroidal, contact, frame_motion, operational_space, rates
from . import quantities as of
from .adaptive_regressor import adaptive_regressor
from .derivatives import QUANTITIES as OF_SLOPES
from .derivatives import dynamics
from .quantity import BUILT_IN, FORCE, POSITION, TWIST, VARIABLES, WRENCH, Quantity, Variable

POSE = ("x", "y", "z", "1"), ("x", "y", "z", "origin")  # rows and columns
A, TAU, V_JOINTS, A_JOINTS, CUT_FORCES = (VARIABLES[name] for name in ("a", "tau", "v_joints", "a_joints", "forces"))
M = Variable("M", ("v", "v"), "SI", "inertia matrix")
CONTACT_FORCES = Variable(
    "forces",
    ("contacts", 6),
    "N, N m",
    "contact forces of the ground, a row for each contact: force, then moment about its frame's origin, in world axes",
    labels=(None, WRENCH),
)


def slope(of: str, by: str, shape: tuple[str, str]) -> Variable:
    """Return the output with the derivative of one vector with respect to another: a row for each entry of the first, a
    column for each entry of the second, or for each direction of its tangent if it is q."""
    what, along = VARIABLES[of].meaning, "positions along their tangent" if by == "q" else VARIABLES[by].meaning
    return Variable(f"d{of}_d{by}", shape, "SI", f"derivatives of the {what} with respect to the {along}")


def quantity_of(model: Model, name: str) -> Quantity:
    """Return a quantity for a model: if its force laws take commands, these are the last input, and the last of the
    derivatives is with respect to them."""
    if name not in QUANTITIES:
        raise UnknownNameError("quantity", name, QUANTITIES)
    asked = QUANTITIES[name]
    if not model.commands.size or "surroundings" not in asked.built_in:
        return asked
    of, slopes = asked.outputs[0], ()
    if name in OF_SLOPES:
        slopes = (slope(of.name, "commands", (str(of.shape[0]), "commands")),)
    return replace(asked, inputs=(*asked.inputs, "commands"), outputs=(*asked.outputs, *slopes))


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity(
            "inverse_dynamics",
            "joint forces that produce a motion",
            of.inverse_dynamics,
            ("q", "v", "a"),
            (TAU,),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "forward_dynamics",
            "joint accelerations under joint forces",
            of.forward_dynamics,
            ("q", "v", "tau"),
            (A,),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "hybrid_dynamics",
            "forces of driven joints, accelerations of free joints",
            of.hybrid_dynamics,
            ("q", "v", "a_known", "tau_known"),
            (replace(TAU, shape=("motors",)), replace(A, shape=("tau_known",))),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "Free joints are a floating base, elastic and passive joints. Default of ``tau_known``: zero."
            ),
        ),
        Quantity(
            "inverse_dynamics_derivatives",
            "tau, its derivatives wrt q and v, and M",
            dynamics.inverse_dynamics_derivatives,
            ("q", "v", "a"),
            (TAU, slope("tau", "q", ("tau", "dq")), slope("tau", "v", ("tau", "v")), M),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "Columns for q are along the tangent of its coordinates: in the body axes of a floating base or ball "
                "joint."
            ),
        ),
        Quantity(
            "forward_dynamics_derivatives",
            "a, and its derivatives wrt q, v and tau",
            dynamics.forward_dynamics_derivatives,
            ("q", "v", "tau"),
            (A, *(slope("a", *by) for by in (("q", ("v", "dq")), ("v", ("v", "v")), ("tau", ("v", "tau"))))),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "Columns for q are along the tangent of its coordinates: in the body axes of a floating base or ball "
                "joint."
            ),
        ),
        Quantity(
            "inertia_matrix",
            "inertia matrix (mass matrix) M(q), full and symmetric",
            of.inertia_matrix,
            ("q",),
            (M,),
            ("rotors",),
            of_joints=True,
        ),
        Quantity(
            "bias",
            "joint forces at zero acceleration: tau = M a + bias",
            of.bias,
            ("q", "v"),
            (Variable("b", ("v",), FORCE),),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "gravity",
            "joint forces that hold the robot against gravity",
            of.gravity,
            ("q",),
            (Variable("g", ("v",), FORCE),),
            ("gravity",),
            of_joints=True,
        ),
        Quantity(
            "coriolis_matrix",
            "Coriolis matrix C(q, v), with Mdot - 2 C skew-symmetric",
            of.coriolis_matrix,
            ("q", "v"),
            (Variable("C", ("v", "v"), "SI", letter="Cor"),),  # C12 is a cosine
        ),
        Quantity(
            "kinetic_energy",
            "kinetic energy of bodies and rotors",
            of.kinetic_energy,
            ("q", "v"),
            (Variable("T", (), "J"),),
            ("rotors",),
        ),
        Quantity(
            "potential_energy",
            "potential energy of gravity and springs",
            of.potential_energy,
            ("q",),
            (Variable("V", (), "J"),),
            ("gravity", "springs"),
        ),
        Quantity(
            "momentum",
            "linear momentum, and angular about the centre of mass",
            of.momentum,
            ("q", "v"),
            (
                Variable(
                    "momentum",
                    (6,),
                    "kg m/s, kg m^2/s",
                    letter="p",
                    labels=(("px", "py", "pz", "Lx", "Ly", "Lz"),),
                ),
            ),
            details="In world axes.",
        ),
        Quantity(
            "center_of_mass",
            "centre of mass of the moving bodies, in the world",
            of.center_of_mass,
            ("q",),
            (Variable("c", (3,), "m", letter="com", labels=(("x", "y", "z"),)),),  # c12 would be taken for a cosine
        ),
        Quantity(
            "pose",
            "pose of a frame in the world, as a 4 x 4 matrix",
            of.pose,
            ("q",),
            (Variable("T", (4, 4), "origin in m", labels=POSE),),
            of_frame=True,
        ),
        Quantity(
            "jacobian",
            "Jacobian of a frame at its origin, linear rows first",
            of.jacobian,
            ("q",),
            (Variable("J", (6, "v"), "SI", labels=(TWIST, None)),),
            of_frame=True,
            has_axes=True,
            details="Linear and angular velocity of the frame per joint velocity, in world or local axes.",
        ),
        Quantity(
            "jacobian_drift",
            "Jdot v, the acceleration of a frame when a is zero",
            of.jacobian_drift,
            ("q", "v"),
            (Variable("Jdot_v", (6,), "m/s^2, rad/s^2", letter="Jdv", labels=(TWIST,)),),
            of_frame=True,
            has_axes=True,
            details="In world or local axes.",
        ),
        Quantity(
            "jacobian_rate",
            "Jdot: the rate of a frame's Jacobian along the motion",
            rates.jacobian_rate,
            ("q", "v"),
            (Variable("Jdot", (6, "v"), "SI", labels=(TWIST, None)),),
            of_frame=True,
            has_axes=True,
            details="In world or local axes. Its product with v is ``jacobian_drift``.",
        ),
        Quantity(
            "frame_velocity",
            "velocity of a frame: of its origin, then angular",
            frame_motion.frame_velocity,
            ("q", "v"),
            (Variable("V", (6,), "m/s, rad/s", labels=(TWIST,)),),
            of_frame=True,
            has_axes=True,
            details="In world or local axes.",
        ),
        Quantity(
            "frame_acceleration",
            "acceleration of a frame: of its origin, then angular",
            frame_motion.frame_acceleration,
            ("q", "v", "a"),
            (Variable("A", (6,), "m/s^2, rad/s^2", labels=(TWIST,)),),
            of_frame=True,
            has_axes=True,
            details="That of the origin as a point, without gravity: J a + Jdot v. In world or local axes.",
        ),
        Quantity(
            "frame_poses",
            "4 x 4 poses of all frames in the world",
            frame_motion.frame_poses,
            ("q",),
            (Variable("T", ("frames", 4, 4), "origin in m", labels=(None, *POSE)),),
            details="In the order of ``robot.frame_names``.",
        ),
        Quantity(
            "frame_jacobians",
            "Jacobians of all frames, 6 x nv each",
            frame_motion.frame_jacobians,
            ("q",),
            (Variable("J", ("frames", 6, "v"), "SI", labels=(None, TWIST, None)),),
            details="In the order of ``robot.frame_names``, in world axes.",
        ),
        Quantity(
            "frame_velocities",
            "velocities of all frames: of the origin, then angular",
            frame_motion.frame_velocities,
            ("q", "v"),
            (Variable("V", ("frames", 6), "m/s, rad/s", labels=(None, TWIST)),),
            details="In the order of ``robot.frame_names``, in world axes.",
        ),
        Quantity(
            "frame_accelerations",
            "accelerations of all frames: of the origin, then angular",
            frame_motion.frame_accelerations,
            ("q", "v", "a"),
            (Variable("A", ("frames", 6), "m/s^2, rad/s^2", labels=(None, TWIST)),),
            details="In the order of ``robot.frame_names``, in world axes, without gravity.",
        ),
        *operational_space.QUANTITIES,
        Quantity(
            "center_of_mass_jacobian",
            "3 x nv, velocity of the centre of mass per velocity",
            centroidal.center_of_mass_jacobian,
            ("q",),
            (Variable("J", (3, "v"), "SI", labels=(("x", "y", "z"), None)),),
            details="In world axes.",
        ),
        Quantity(
            "centroidal_momentum_matrix",
            "A with momentum = A v",
            centroidal.centroidal_momentum_matrix,
            ("q",),
            (Variable("A", (6, "v"), "SI", labels=(("px", "py", "pz", "Lx", "Ly", "Lz"), None)),),
            details="Linear momentum, then angular momentum about the centre of mass, in world axes.",
        ),
        Quantity(
            "centroidal_momentum_matrix_rate",
            "Adot, the rate of A along the motion",
            centroidal.centroidal_momentum_matrix_rate,
            ("q", "v"),
            (Variable("Adot", (6, "v"), "SI", labels=(("px", "py", "pz", "Lx", "Ly", "Lz"), None)),),
            details="The rate of the momentum is A a + Adot v.",
        ),
        Quantity(
            "inertia_matrix_rate",
            "Mdot: the rate of the inertia matrix along the motion",
            rates.inertia_matrix_rate,
            ("q", "v"),
            (Variable("Mdot", ("v", "v"), "SI"),),
            of_joints=True,
        ),
        Quantity(
            "christoffel_symbols",
            "c_ijk of the first kind",
            rates.christoffel_symbols,
            ("q",),
            (Variable("c", ("v", "v", "v"), "SI", letter="chr"),),
            of_joints=True,
            details=(
                "Coriolis and centrifugal force i is the sum of c_ijk v_j v_k. For trees whose velocities are the "
                "rates of their positions."
            ),
        ),
        Quantity(
            "adaptive_regressor",
            "regressor of Slotine and Li",
            adaptive_regressor,
            ("q", "v", "v_ref", "a_ref"),
            (Variable("Y", ("v", "adaptive"), "SI"),),
            ("gravity",),
            details=(
                "Y with M a_ref + C v_ref + g = Y theta. "
                "theta: the ten standard parameters of each link, then the rotor inertias IA of the joints; C is that "
                'of ``coriolis_matrix``. ``parameter_values("standard", drives=["IA"])`` has their values.'
            ),
        ),
        Quantity(
            "regressor",
            "regressor Y of the dynamic parameters: tau = Y theta",
            of.parameter_regressor,
            ("q", "v", "a"),
            (Variable("Y", ("tau", "parameters"), "SI"),),
            ("gravity",),
            details="It has a column for each of ``parameter_names(parameters, drives)``.",
            options=(
                'parameters (str): "standard" (default), "minimal" (base parameters) or "lin"',
                "drives: which parameters of joints and motors have columns. None (default): those that are not zero "
                "(rotor inertia IA, Coulomb and viscous friction FS and FV, those of further friction laws, stiffness "
                "K). True: also those that are zero, except K. False: none. Names, such as "
                '("IA", "FS", "FV", "F0"): these for every joint and motor; "elbow.FV" for one joint',
            ),
        ),
        Quantity(
            "tree_jacobian",
            "Jacobian of a frame wrt all joints, with open loops",
            of.tree_jacobian,
            ("q",),
            (Variable("J", (6, "joints"), "SI", labels=(TWIST, None)),),
            of_frame=True,
            details=(
                "In world axes. A frame with the name of a loop is at its cut joint, the tip of a leg; the columns of "
                "the leg are its Jacobian J_i."
            ),
        ),
        Quantity(
            "motor_jacobian",
            "velocities of motors per independent velocity",
            of.motor_jacobian,
            ("q",),
            (Variable("J", ("motors", "v"), "SI"),),
            details="For a parallel robot, the inverse of its Jacobian J_p.",
        ),
        Quantity(
            "platform_jacobian",
            "independent velocities per velocity of motors",
            of.platform_jacobian,
            ("q",),
            (Variable("J", ("v", "motors"), "SI"),),
            details="For a parallel robot, its Jacobian J_p.",
            of_loops=True,
        ),
        Quantity(
            "velocity_map",
            "velocities of all joints per independent velocity",
            of.velocity_map,
            ("q",),
            (Variable("G", ("joints", "v"), "SI"),),
            details="Khalil's G.",
        ),
        Quantity(
            "position_map",
            "changes of all positions per independent direction",
            of.position_map,
            ("q",),
            (Variable("G", ("joints", "dq"), "SI"),),
            details=(
                "It equals ``velocity_map`` unless the robot rolls: positions then have more freedom than velocities."
            ),
        ),
        Quantity(
            "joint_velocities",
            "velocities of all joints, with closed loops",
            of.joint_velocities,
            ("q", "v"),
            (V_JOINTS,),
        ),
        Quantity(
            "joint_accelerations",
            "accelerations of all joints, with closed loops",
            of.joint_accelerations,
            ("q", "v", "a"),
            (A_JOINTS,),
        ),
        Quantity(
            "constrained_dynamics",
            "accelerations of all joints, and constraint forces",
            of.constrained_dynamics,
            ("q", "v_joints", "tau"),
            (A_JOINTS, CUT_FORCES),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "From velocities of all joints. It exists wherever the mechanism is regular, even if the independent "
                "joints do not determine the others."
            ),
        ),
        Quantity(
            "constraint_forces",
            "constraint forces that close the loops",
            of.constraint_forces,
            ("q", "v_joints", "tau"),
            (CUT_FORCES,),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details="They act at the cut joints; the entries are those of ``loop_residual``.",
            of_loops=True,
        ),
        Quantity(
            "contact_dynamics",
            "accelerations, and contact forces",
            contact.contact_dynamics,
            ("q", "v", "tau", "contacts"),
            (A, CONTACT_FORCES),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            decides_rank=True,
            details=(
                "``contacts``: 1 for each contact of ``robot.model.switched`` on the ground, which is held there, "
                "otherwise 0."
            ),
        ),
        Quantity(
            "contact_inverse_dynamics",
            "joint and contact forces for a motion",
            contact.contact_inverse_dynamics,
            ("q", "v", "a", "contacts"),
            (TAU, CONTACT_FORCES),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            decides_rank=True,
            details=(
                "The smallest contact forces for which joints without motors need no force, and the joint forces. What"
                " contacts cannot provide remains in tau of those joints, the first six entries for a floating base. A"
                " contact with a larger number in ``contacts`` takes a larger share."
            ),
        ),
        Quantity(
            "impact",
            "velocities after an impact with the ground, and impulses",
            contact.impact,
            ("q", "v", "contacts", "restitution"),
            (
                replace(VARIABLES["v"], name="v_after", meaning="velocities after the impact"),
                replace(CONTACT_FORCES, name="impulses", unit="N s, N m s", meaning="contact impulses of the ground"),
            ),
            ("rotors",),
            of_joints=True,
            decides_rank=True,
            details=(
                "The contacts with 1 in ``contacts`` stop, or rebound along the normal of the ground by their "
                "coefficient of restitution."
            ),
        ),
        Quantity(
            "conditioning",
            "conditioning of the loops, 0 (singular) to 1",
            of.conditioning,
            ("q",),
            (Variable("c", (), "dimensionless", letter="cond"),),
            details=(
                "How well the independent joints determine the others. At 0, forward dynamics in their coordinates "
                "does not exist and gives NaN."
            ),
            of_loops=True,
        ),
        Quantity(
            "assemble",
            "positions of all joints, with the loops closed",
            assembly_loop.assemble,
            ("positions", "guess"),
            (
                Variable("q", ("q",), POSITION, "positions of all joints"),
                Variable("solved", (), "dimensionless", "1 where the loops are closed, else 0"),
                Variable("residual", (), "m, rad", "residual of the loops"),
                Variable("turns", (), "dimensionless", "number of Newton's steps"),
            ),
            details=(
                "By Newton's steps from the guess. The known joints are the motors if they determine all joints, else "
                "the independent joints."
            ),
            of_loops=True,
        ),
        Quantity(
            "loop_rates",
            "rates at which joint velocities open the loops",
            of.loop_rates,
            ("q", "v_joints"),
            (Variable("rates", ("residual",), "m/s, rad/s"),),
            details="Zero for velocities that the loops allow.",
            of_loops=True,
        ),
        Quantity(
            "loop_residual",
            "residual of the loops, zero if they are closed",
            of.loop_residual,
            ("q",),
            (Variable("r", ("residual",), "m, rad"),),
            of_loops=True,
        ),
        Quantity(
            "torque_projector",
            "projector N on joint forces N z without effect on motion",
            of.torque_projector,
            ("q",),
            (Variable("N", ("tau", "tau"), "SI"),),
            details="With more motors than degrees of freedom, tau + N z moves the robot as tau does.",
            of_loops=True,
        ),
    )
}
