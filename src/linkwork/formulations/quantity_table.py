"""The quantities there are: what each is called, takes and gives, in which units, and what is built into it."""

from __future__ import annotations

from dataclasses import replace

from ..errors import UnknownNameError
from ..model import Model
from . import centroidal, contact, frame_motion, rates
from . import quantities as of
from .adaptive_regressor import adaptive_regressor
from .derivatives import QUANTITIES as OF_SLOPES
from .derivatives import dynamics
from .quantity import BUILT_IN, FORCE, VARIABLES, Quantity, Variable

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
A, TAU, V_JOINTS, A_JOINTS, CUT_FORCES = (VARIABLES[name] for name in ("a", "tau", "v_joints", "a_joints", "forces"))
M = Variable("M", ("v", "v"), "SI", "inertia matrix")
CONTACT_FORCES = Variable(
    "forces",
    ("contacts", 6),
    "N, N m",
    "of the ground on the contacts, a row each: force, then moment about the contact's frame, in the world's axes",
    labels=(None, ("fx", "fy", "fz", "mx", "my", "mz")),
)


def slope(of: str, by: str, shape: tuple[str, str]) -> Variable:
    """A row for each entry of one, a column for each entry of the other; of q, along the tangent of its coordinates."""
    what, along = VARIABLES[of].meaning, "positions along their tangent" if by == "q" else VARIABLES[by].meaning
    return Variable(f"d{of}_d{by}", shape, "SI", f"slopes of the {what} by the {along}")


def quantity_of(model: Model, name: str) -> Quantity:
    """A quantity as it is of a robot: where forces of the surroundings take commands, these are the last of its inputs,
    and the last of its slopes are by them."""
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
            "joint forces for a motion",
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
            "forces of motors, accelerations of what they leave free",
            of.hybrid_dynamics,
            ("q", "v", "a_known", "tau_known"),
            (replace(TAU, shape=("motors",)), replace(A, shape=("tau_known",))),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "What motors leave free: a floating base, elastic and passive joints. ``tau_known`` is zero if left "
                "out."
            ),
        ),
        Quantity(
            "inverse_dynamics_derivatives",
            "tau, its slopes by q and v, and M",
            dynamics.inverse_dynamics_derivatives,
            ("q", "v", "a"),
            (TAU, slope("tau", "q", ("tau", "dq")), slope("tau", "v", ("tau", "v")), M),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "Columns of q are along the tangent of its coordinates: in the own axes of a floating base or ball "
                "joint."
            ),
        ),
        Quantity(
            "forward_dynamics_derivatives",
            "a, and its slopes by q, v and tau",
            dynamics.forward_dynamics_derivatives,
            ("q", "v", "tau"),
            (A, *(slope("a", *by) for by in (("q", ("v", "dq")), ("v", ("v", "v")), ("tau", ("v", "tau"))))),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "Columns of q are along the tangent of its coordinates: in the own axes of a floating base or ball "
                "joint."
            ),
        ),
        Quantity(
            "inertia_matrix",
            "M(q), complete and symmetric",
            of.inertia_matrix,
            ("q",),
            (M,),
            ("rotors",),
            of_joints=True,
        ),
        Quantity(
            "bias",
            "joint forces at zero acceleration: M a + b = tau",
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
            "C(q, v) with Mdot - 2 C skew-symmetric",
            of.coriolis_matrix,
            ("q", "v"),
            (Variable("C", ("v", "v"), "SI", letter="Cor"),),  # C12 is a cosine
        ),
        Quantity(
            "kinetic_energy",
            "of bodies and rotors",
            of.kinetic_energy,
            ("q", "v"),
            (Variable("T", (), "J"),),
            ("rotors",),
        ),
        Quantity(
            "potential_energy",
            "of gravity and springs",
            of.potential_energy,
            ("q",),
            (Variable("V", (), "J"),),
            ("gravity", "springs"),
        ),
        Quantity(
            "momentum",
            "linear, and angular about the centre of mass",
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
            "of the moving bodies, in the world",
            of.center_of_mass,
            ("q",),
            (Variable("c", (3,), "m", letter="com", labels=(("x", "y", "z"),)),),  # c12 would be taken for a cosine
        ),
        Quantity(
            "pose",
            "4 x 4 pose of a frame in the world",
            of.pose,
            ("q",),
            (Variable("T", (4, 4), "origin in m", labels=(("x", "y", "z", "1"), ("x", "y", "z", "origin"))),),
            of_frame=True,
        ),
        Quantity(
            "jacobian",
            "6 x nv, linear rows first, at the frame's origin",
            of.jacobian,
            ("q",),
            (Variable("J", (6, "v"), "SI", labels=(TWIST, None)),),
            of_frame=True,
            has_axes=True,
            details="Linear and angular velocity of the frame per joint velocity, in world or local axes.",
        ),
        Quantity(
            "jacobian_drift",
            "Jdot v: a frame's acceleration when a is zero",
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
            (Variable("T", ("frames", 4, 4), "origin in m"),),
            details="In the order of ``robot.frame_names``.",
        ),
        Quantity(
            "frame_jacobians",
            "Jacobians of all frames, 6 x nv each",
            frame_motion.frame_jacobians,
            ("q",),
            (Variable("J", ("frames", 6, "v"), "SI"),),
            details="In the order of ``robot.frame_names``, in world axes.",
        ),
        Quantity(
            "frame_velocities",
            "velocities of all frames: of the origin, then angular",
            frame_motion.frame_velocities,
            ("q", "v"),
            (Variable("V", ("frames", 6), "m/s, rad/s"),),
            details="In the order of ``robot.frame_names``, in world axes.",
        ),
        Quantity(
            "frame_accelerations",
            "accelerations of all frames: of the origin, then angular",
            frame_motion.frame_accelerations,
            ("q", "v", "a"),
            (Variable("A", ("frames", 6), "m/s^2, rad/s^2"),),
            details="In the order of ``robot.frame_names``, in world axes, without gravity.",
        ),
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
            "Adot: the rate of the centroidal momentum matrix along the motion",
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
            "c_ijk of the first kind: Coriolis force i is the sum of c_ijk v_j v_k",
            rates.christoffel_symbols,
            ("q",),
            (Variable("c", ("v", "v", "v"), "SI", letter="chr"),),
            of_joints=True,
            details="For trees whose velocities are the rates of their positions.",
        ),
        Quantity(
            "adaptive_regressor",
            "Y with M a_ref + C v_ref + g = Y theta, of Slotine and Li",
            adaptive_regressor,
            ("q", "v", "v_ref", "a_ref"),
            (Variable("Y", ("v", "adaptive"), "SI"),),
            ("gravity",),
            details=(
                "theta: the ten standard parameters of each link, then the rotor inertias IA of the joints; C is that "
                'of ``coriolis_matrix``. ``parameter_values("standard", drives=["IA"])`` has their values.'
            ),
        ),
        Quantity(
            "regressor",
            "joint forces per dynamic parameter: tau = Y theta",
            of.parameter_regressor,
            ("q", "v", "a"),
            (Variable("Y", ("tau", "parameters"), "SI"),),
            ("gravity",),
            details=(
                '``parameters``: "standard", "minimal" or "lin"; a column for each of ``parameter_names(parameters, '
                "drives)``. ``drives``: which parameters of joints and motors have columns. None: those that are not "
                "zero (rotor inertia IA, Coulomb and viscous friction FS and FV, those of further friction laws, "
                'stiffness K). True: also where they are zero, except K. False: none. Names, such as ("IA", "FS", '
                '"FV", "F0"): these of every joint and motor; "elbow.FV" is that of one.'
            ),
        ),
        Quantity(
            "tree_jacobian",
            "6 x all joints, as if the loops were open: of a leg, say",
            of.tree_jacobian,
            ("q",),
            (Variable("J", (6, "joints"), "SI", labels=(TWIST, None)),),
            of_frame=True,
            details=(
                "In world axes. A frame with the name of a loop is where the loop was cut, the tip of a leg; the "
                "leg's own columns are its Jacobian J_i."
            ),
        ),
        Quantity(
            "motor_jacobian",
            "motors' velocities per independent one",
            of.motor_jacobian,
            ("q",),
            (Variable("J", ("motors", "v"), "SI"),),
            details="For a parallel robot, the inverse of its Jacobian J_p.",
        ),
        Quantity(
            "platform_jacobian",
            "independent velocities per velocity of the motors",
            of.platform_jacobian,
            ("q",),
            (Variable("J", ("v", "motors"), "SI"),),
            details="For a parallel robot, its Jacobian J_p.",
        ),
        Quantity(
            "velocity_map",
            "velocities of all joints per independent one",
            of.velocity_map,
            ("q",),
            (Variable("G", ("joints", "v"), "SI"),),
            details="Khalil's G.",
        ),
        Quantity(
            "position_map",
            "changes of all positions per direction in which they can",
            of.position_map,
            ("q",),
            (Variable("G", ("joints", "dq"), "SI"),),
            details=(
                "It equals ``velocity_map`` unless something rolls, which can stand at places to which it cannot go "
                "straight."
            ),
        ),
        Quantity(
            "joint_velocities",
            "of all joints, loops closed",
            of.joint_velocities,
            ("q", "v"),
            (V_JOINTS,),
        ),
        Quantity(
            "joint_accelerations",
            "of all joints, loops closed",
            of.joint_accelerations,
            ("q", "v", "a"),
            (A_JOINTS,),
        ),
        Quantity(
            "constrained_dynamics",
            "accelerations of all joints and forces at the cuts",
            of.constrained_dynamics,
            ("q", "v_joints", "tau"),
            (A_JOINTS, CUT_FORCES),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "From velocities of all joints. It exists wherever the mechanism is regular, also where the "
                "independent joints do not determine the others."
            ),
        ),
        Quantity(
            "constraint_forces",
            "that hold the loops together at the cuts",
            of.constraint_forces,
            ("q", "v_joints", "tau"),
            (CUT_FORCES,),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details="The entries are those of ``loop_residual``.",
        ),
        Quantity(
            "contact_dynamics",
            "accelerations, and forces on the contacts",
            contact.contact_dynamics,
            ("q", "v", "tau", "contacts"),
            (A, CONTACT_FORCES),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "``contacts``: 1 for each of ``robot.model.switched`` on the ground, which is held where it stands, "
                "else 0."
            ),
        ),
        Quantity(
            "contact_inverse_dynamics",
            "forces of joints and contacts for a motion",
            contact.contact_inverse_dynamics,
            ("q", "v", "a", "contacts"),
            (TAU, CONTACT_FORCES),
            BUILT_IN,
            takes_wrenches=True,
            of_joints=True,
            details=(
                "The least contact forces that leave nothing to joints without motors, and the joint forces. What"
                " they cannot bear stays in tau of those joints, the first six of a floating base. Among those on the"
                " ground, a larger number of ``contacts`` takes a larger share."
            ),
        ),
        Quantity(
            "impact",
            "velocities after contacts meet the ground, and impulses",
            contact.impact,
            ("q", "v", "contacts", "restitution"),
            (
                replace(VARIABLES["v"], name="v_after", meaning="velocities after the impact"),
                replace(CONTACT_FORCES, name="impulses", unit="N s, N m s"),
            ),
            ("rotors",),
            of_joints=True,
            details=(
                "Those of ``contacts`` stop at once, or move back along the ground's normal with a share of the "
                "velocity, by contact."
            ),
        ),
        Quantity(
            "conditioning",
            "how well the independent joints tell the others, 0 to 1",
            of.conditioning,
            ("q",),
            (Variable("c", (), "of 1", letter="cond"),),
            details=(
                "Forward dynamics in the coordinates of the independent joints does not exist at 0 (it gives NaN "
                "there)."
            ),
        ),
        Quantity(
            "loop_rates",
            "at which the joints open the loops",
            of.loop_rates,
            ("q", "v_joints"),
            (Variable("rates", ("residual",), "m/s, rad/s"),),
            details="Zero for velocities that the loops allow.",
        ),
        Quantity(
            "loop_residual",
            "by how much the loops are open",
            of.loop_residual,
            ("q",),
            (Variable("r", ("residual",), "m, rad"),),
        ),
        Quantity(
            "torque_projector",
            "joint forces N z that move nothing",
            of.torque_projector,
            ("q",),
            (Variable("N", ("tau", "tau"), "SI"),),
            details="With more motors than degrees of freedom, tau + N z moves the robot as tau does.",
        ),
    )
}
