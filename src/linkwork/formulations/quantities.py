"""What can be asked of a robot. Each quantity is composed here, once, of a method and of what belongs to every joint:
mimic joints, closed loops, friction, springs, wrenches on named frames.

A quantity function takes the model, a :class:`Request` and its input vectors, and returns its named outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..errors import LinkworkError, UnsupportedError
from ..model import Frame, Model, closure
from ..scalar import Scalar, is_zero
from ..spatial import Vector
from . import coriolis, energy, kinematics
from .crba import crba
from .forward import bias_by
from .khalil import ClosedLoops
from .multipliers import ByMultipliers, forces_at_cuts
from .orthogonal import Orthogonal, dot
from .passive import WrenchRows, body_wrenches, passive_forces
from .regressor import Parameter, regressor, standard_parameters
from .shared_axes import shared_axes
from .staircase import exists

Scalars = Sequence[Scalar]


@dataclass(frozen=True)
class Request:
    """Which method, for which frame, in which axes, with wrenches on which frames."""

    method: Callable[..., Any] | None = None
    frame: Frame | None = None
    axes: str = "world"
    loaded: tuple[Frame, ...] = ()  # the frames of the ``wrenches`` input, row by row
    closed: bool = False  # the method works on the user's own vectors (``Method.closed``)
    columns: tuple[Parameter, ...] = ()  # of the regressor, in the bodies' frames; none: all, in the links' frames

    @property
    def run(self) -> Callable[..., Any]:
        """The method, of a quantity that has methods."""
        assert self.method is not None  # the pipeline has seen to it
        return self.method


@dataclass(frozen=True)
class Quantity:
    """``inputs`` are kinds of vectors (see ``vectors``). ``of_joints`` tells that only joint forces and motions go in
    and out, so that inertia parameters may be grouped without changing the result."""

    name: str
    inputs: tuple[str, ...]
    output: str | tuple[str, ...]
    shape: tuple[Any, ...]  # of the output, or of each; names are those of ``sizes``
    function: Callable[..., Any]
    summary: str
    of_frame: bool = False
    has_axes: bool = False
    takes_wrenches: bool = False
    of_joints: bool = False

    @property
    def outputs(self) -> dict[str, tuple[int | str, ...]]:
        """Shape of each output."""
        if isinstance(self.output, str):
            return {self.output: self.shape}
        return dict(zip(self.output, self.shape, strict=True))


def vectors(model: Model) -> dict[str, tuple[str, ...]]:
    """The one-freedom joints that each kind of vector holds, in order; a floating body stands before them."""
    mobility = model.mobility
    return {
        "q": model.position_names,
        "v": model.joint_names,
        "v_joints": model.position_names,
        "a": model.joint_names,
        "tau": model.names_of(mobility.forced),
        "a_known": model.names_of(mobility.driven),
        "tau_known": model.names_of(mobility.free),
        "motors": model.names_of(mobility.motors),
        "joints": model.position_names,
    }


def sizes(model: Model) -> dict[str, int]:
    """The robot's numbers: of the entries of each kind of vector, and of what else shapes are made of."""
    mobility, nv = model.mobility, model.nv
    known = {"a_known": len(mobility.driven), "tau_known": len(mobility.free), "motors": len(mobility.motors)}
    others = {"tau": len(mobility.forced), "residual": len(closure.row_names(model))}
    joints = {"joints": model.n_leading, "v_joints": model.n_leading}
    return {"q": model.nq, "v": nv, "a": nv, "parameters": len(standard_parameters(model))} | known | others | joints


def entries(model: Model, quantity: str) -> tuple[dict[str, tuple[str, ...]], str]:
    """The joints that each input and output vector of a quantity holds, and the name of the floating body in them."""
    asked, joints = QUANTITIES[quantity], vectors(model)
    held = {name: joints[name] for name in asked.inputs}
    held |= {name: joints[shape[0]] for name, shape in asked.outputs.items() if len(shape) == 1 and shape[0] in joints}
    return held, model.floating_name


def inverse_dynamics(
    model: Model, request: Request, q: Scalars, v: Scalars, a: Scalars, wrenches: WrenchRows = ()
) -> list[Scalar]:
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    qd = tree.rates(v)
    _require_motors(model)
    applied = body_wrenches(model, q, qd, request.loaded, wrenches)
    if request.closed:
        return request.run(model, q, v, a, applied)
    tau = request.run(model, q, qd, tree.accelerations(qd, a), applied)
    return tree.to_motors(tree.collect([x + y for x, y in zip(tau, passive_forces(model, q, qd), strict=True)]))


def forward_dynamics(
    model: Model, request: Request, q: Scalars, v: Scalars, tau: Scalars, wrenches: WrenchRows = ()
) -> list[Scalar]:
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    qd, force = tree.rates(v), tree.of_motors(tau)
    applied = body_wrenches(model, q, qd, request.loaded, wrenches)
    with _Solvable(model):
        if request.closed:
            return request.run(model, q, v, tau, applied)
        passive = tree.collect(passive_forces(model, q, qd))
        net = [x - y for x, y in zip(force, passive, strict=True)]
        if not model.loops:
            return request.run(model, q, qd, net, applied)
        one = exists([tree.J_p])
        return [one * x for x in request.run(model, q, qd, net, applied, tree=tree)]


def constrained_dynamics(
    model: Model, request: Request, q: Scalars, v_joints: Scalars, tau: Scalars, wrenches: WrenchRows = ()
) -> tuple[list[Scalar], list[Scalar]]:
    q, qd = model.expand(q), model.expand_rates(v_joints)
    applied = body_wrenches(model, q, qd, request.loaded, wrenches)
    with _Solvable(model):
        a, multipliers = ByMultipliers(crba, partial(bias_by, shared_axes))(
            model, q, qd, joint_forces(model, q, qd, tau), applied
        )
    return a, forces_at_cuts(model, q, multipliers)


def joint_forces(model: Model, q: Scalars, qd: Scalars, tau: Scalars) -> list[Scalar]:
    """Forces of the leading joints: ``tau`` of the forced ones, less friction and springs."""
    forces = [-x for x in model.collect(passive_forces(model, q, qd))]
    for k, value in zip(model.mobility.forced, tau, strict=True):
        forces[k] = forces[k] + value
    return forces


def constraint_forces(
    model: Model, request: Request, q: Scalars, v_joints: Scalars, tau: Scalars, wrenches: WrenchRows = ()
) -> list[Scalar]:
    return constrained_dynamics(model, request, q, v_joints, tau, wrenches)[1]


def hybrid_dynamics(
    model: Model, request: Request, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, wrenches: WrenchRows = ()
) -> tuple[list[Scalar], list[Scalar]]:
    q = model.expand(q)
    qd = ClosedLoops(model, q).rates(v)
    applied = body_wrenches(model, q, qd, request.loaded, wrenches)
    with _Solvable(model):
        if request.closed:
            return request.run(model, q, v, a, tau, applied)
        mobility = model.mobility  # without loops and mimic joints: freedoms of the tree
        known = [k in mobility.driven for k in range(model.n_tree)]
        given, force, passive = [0] * model.n_tree, [0] * model.n_tree, passive_forces(model, q, qd)
        for k, value in zip(mobility.driven, a, strict=True):
            given[k] = value
        for k, value in zip(mobility.free, tau, strict=True):
            force[k] = value - passive[k]
        forces, accelerations = request.run(model, q, qd, given, force, known, applied)
    return [forces[k] + passive[k] for k in mobility.motors], [accelerations[k] for k in mobility.free]


class _Solvable:
    """Turns a division by an exact zero into words: the inertia matrix, or a part of it, is singular everywhere."""

    def __init__(self, model: Model):
        self.model = model

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, *_: Any) -> None:
        if kind is ZeroDivisionError:
            raise LinkworkError(
                "the inertia matrix is singular, so accelerations under forces are not defined",
                where=f"robot {self.model.name!r}",
                fix="`linkwork check` names the moving links without inertia: give them some, or lock their joints",
            ) from None


def _require_motors(model: Model) -> None:
    """No motor makes a passive joint move as it is told, if it can move otherwise."""
    passive = [joint.name for joint in model.leading_joints if joint.role == "passive"]
    free = set(model.names_of(model.mobility.free))
    if lazy := [name for name in passive if name in free]:
        raise UnsupportedError(
            "inverse dynamics needs a motor for every freedom",
            where=f"robot {model.name!r}",
            got=f"passive joints that are free to move: {', '.join(lazy)}",
            fix="hybrid_dynamics gives the motors' forces and these joints' accelerations; or mark them active",
        )


def bias(model: Model, request: Request, q: Scalars, v: Scalars, wrenches: WrenchRows = ()) -> list[Scalar]:
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    qd = tree.rates(v)
    how = {"a": tree.drift(qd)} if model.loops else {}
    b = request.run(model, q, qd, body_wrenches(model, q, qd, request.loaded, wrenches), **how)
    return tree.collect([x + y for x, y in zip(b, passive_forces(model, q, qd), strict=True)])


def gravity(model: Model, request: Request, q: Scalars) -> list[Scalar]:
    q, still = model.expand(q), [0] * model.n_tree
    return ClosedLoops(model, q).collect(shared_axes(model, q, still, still))


def inertia_matrix(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    q = model.expand(q)
    M = ClosedLoops(model, q).collect_matrix(request.run(model, q))
    return [[M[max(i, j)][min(i, j)] for j in range(model.nv)] for i in range(model.nv)]  # symmetric to the last bit


def coriolis_matrix(model: Model, request: Request, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    if model.loops:
        message = "the Coriolis matrix is not made for robots with loops"
        raise UnsupportedError(message, where=f"robot {model.name!r}", fix="its product with v is in `bias`")
    return model.collect_matrix(coriolis.coriolis_matrix(model, model.expand(q), model.expand_rates(v)))


def kinetic_energy(model: Model, request: Request, q: Scalars, v: Scalars) -> Scalar:
    q = model.expand(q)
    return energy.kinetic_energy(model, q, ClosedLoops(model, q).rates(v))


def potential_energy(model: Model, request: Request, q: Scalars) -> Scalar:
    return energy.potential_energy(model, model.expand(q))


def momentum(model: Model, request: Request, q: Scalars, v: Scalars) -> list[Scalar]:
    _require_mass(model)
    q = model.expand(q)
    return energy.momentum(model, q, ClosedLoops(model, q).rates(v))


def center_of_mass(model: Model, request: Request, q: Scalars) -> list[Scalar]:
    _require_mass(model)
    return list(kinematics.center_of_mass(model, model.expand(q)))


def parameter_regressor(model: Model, request: Request, q: Scalars, v: Scalars, a: Scalars) -> list[list[Scalar]]:
    if request.columns:
        return regressor(model, q, v, a, request.columns)
    return regressor(model, q, v, a, standard_parameters(model), in_links=True)


def velocity_map(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    return ClosedLoops(model, model.expand(q)).G


def joint_velocities(model: Model, request: Request, q: Scalars, v: Scalars) -> list[Scalar]:
    return ClosedLoops(model, model.expand(q)).leading(v)


def joint_accelerations(model: Model, request: Request, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    tree = ClosedLoops(model, model.expand(q))
    return _of_leading(model, tree.accelerations(tree.rates(v), a))


def _of_leading(model: Model, tree: Scalars) -> list[Scalar]:
    leads = (i for i, _ in model.outward() if model.joint(i).leader is None)
    return [tree[k] for i in leads for k in model.freedoms(i)]


def loop_residual(model: Model, request: Request, q: Scalars) -> list[Scalar]:
    return closure.residual(model, model.expand(q))


def loop_rates(model: Model, request: Request, q: Scalars, v_joints: Scalars) -> list[Scalar]:
    return [dot(row, v_joints) for row in model.collect_rows(closure.jacobian(model, model.expand(q)))]


def conditioning(model: Model, request: Request, q: Scalars) -> Scalar:
    J, independent = model.collect_rows(closure.jacobian(model, model.expand(q))), model.mobility.independent
    return Orthogonal([[row[k] for row in J] for k in range(model.n_leading) if k not in independent]).conditioning()


def torque_projector(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    return ClosedLoops(model, model.expand(q)).null_torques()


def pose(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    at = kinematics.frame_pose(model, _frame(request), model.expand(q))
    return [[*row, x] for row, x in zip(at.rotation.rows, at.origin, strict=True)] + [[0, 0, 0, 1]]


def jacobian(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    q, frame = model.expand(q), _frame(request)
    rows = kinematics.frame_jacobian(model, frame, q)
    if request.axes == "local":
        inward = kinematics.frame_pose(model, frame, q).inward
        columns = [(*inward(Vector(*c[:3])), *inward(Vector(*c[3:]))) for c in zip(*rows, strict=True)]
        rows = [[column[k] for column in columns] for k in range(6)]
    return ClosedLoops(model, q).collect_rows(rows)


def tree_jacobian(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    return model.collect_rows(kinematics.frame_jacobian(model, _frame(request), model.expand(q)))


def motor_jacobian(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    return ClosedLoops(model, model.expand(q)).motors()


def platform_jacobian(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    motors = ClosedLoops(model, model.expand(q)).motors()
    if len(model.mobility.driven) < model.nv:
        raise UnsupportedError(
            "the motors' velocities do not tell those of the robot",
            where=f"robot {model.name!r}",
            got=f"{len(motors)} motors for {model.nv} freedoms",
            fix="motor_jacobian has the velocities of the motors",
        )
    inverse = Orthogonal([list(column) for column in zip(*motors, strict=True)])
    units = ([int(i == j) for i in range(len(motors))] for j in range(len(motors)))
    return [list(row) for row in zip(*map(inverse.solve, units), strict=True)]


def jacobian_drift(model: Model, request: Request, q: Scalars, v: Scalars) -> list[Scalar]:
    q, frame = model.expand(q), _frame(request)
    tree = ClosedLoops(model, q)
    v = tree.rates(v)
    drift = kinematics.frame_drift(model, frame, q, v)
    if model.loops:  # the dependent joints accelerate of themselves
        own = kinematics.frame_velocity(model, frame, q, tree.drift(v))
        drift = [x + y for x, y in zip(drift, own, strict=True)]
    if request.axes == "local":  # d/dt (R^T J) v = R^T (Jdot v - w x J v)
        velocity = kinematics.frame_velocity(model, frame, q, v)
        w, inward = Vector(*velocity[3:]), kinematics.frame_pose(model, frame, q).inward
        parts = (Vector(*drift[k : k + 3]) - w.cross(Vector(*velocity[k : k + 3])) for k in (0, 3))
        drift = [x for part in parts for x in inward(part)]
    return drift


def _require_mass(model: Model) -> None:
    if all(is_zero(body.inertia.mass) for body in model.bodies):
        raise LinkworkError("no moving body has a mass, so there is no centre of mass", where=f"robot {model.name!r}")


def _frame(request: Request) -> Frame:
    assert request.frame is not None  # the pipeline has seen to it
    return request.frame


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity(
            "inverse_dynamics",
            ("q", "v", "a"),
            "tau",
            ("tau",),
            inverse_dynamics,
            "joint forces for a motion",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "forward_dynamics",
            ("q", "v", "tau"),
            "a",
            ("v",),
            forward_dynamics,
            "joint accelerations under joint forces",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "hybrid_dynamics",
            ("q", "v", "a_known", "tau_known"),
            ("tau", "a"),
            (("motors",), ("tau_known",)),
            hybrid_dynamics,
            "forces of motors, accelerations of what they leave free",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "inertia_matrix", ("q",), "M", ("v", "v"), inertia_matrix, "M(q), complete and symmetric", of_joints=True
        ),
        Quantity(
            "bias",
            ("q", "v"),
            "b",
            ("v",),
            bias,
            "joint forces at zero acceleration: M a + b = tau",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "gravity", ("q",), "g", ("v",), gravity, "joint forces that hold the robot against gravity", of_joints=True
        ),
        Quantity(
            "coriolis_matrix", ("q", "v"), "C", ("v", "v"), coriolis_matrix, "C(q, v) with Mdot - 2 C skew-symmetric"
        ),
        Quantity("kinetic_energy", ("q", "v"), "T", (), kinetic_energy, "of bodies and rotors"),
        Quantity("potential_energy", ("q",), "V", (), potential_energy, "of gravity and springs"),
        Quantity("momentum", ("q", "v"), "momentum", (6,), momentum, "linear, and angular about the centre of mass"),
        Quantity("center_of_mass", ("q",), "c", (3,), center_of_mass, "of the moving bodies, in the world"),
        Quantity("pose", ("q",), "T", (4, 4), pose, "4 x 4 pose of a frame in the world", of_frame=True),
        Quantity(
            "jacobian",
            ("q",),
            "J",
            (6, "v"),
            jacobian,
            "6 x nv, linear rows first, at the frame's origin",
            of_frame=True,
            has_axes=True,
        ),
        Quantity(
            "jacobian_drift",
            ("q", "v"),
            "Jdot_v",
            (6,),
            jacobian_drift,
            "Jdot v: a frame's acceleration when a is zero",
            of_frame=True,
            has_axes=True,
        ),
        Quantity(
            "regressor",
            ("q", "v", "a"),
            "Y",
            ("tau", "parameters"),
            parameter_regressor,
            "joint forces per dynamic parameter: tau = Y theta",
        ),
        Quantity(
            "tree_jacobian",
            ("q",),
            "J",
            (6, "joints"),
            tree_jacobian,
            "6 x all joints, as if the loops were open: of a leg, say",
            of_frame=True,
        ),
        Quantity(
            "motor_jacobian", ("q",), "J", ("motors", "v"), motor_jacobian, "motors' velocities per independent one"
        ),
        Quantity(
            "platform_jacobian",
            ("q",),
            "J",
            ("v", "motors"),
            platform_jacobian,
            "independent velocities per velocity of the motors",
        ),
        Quantity(
            "velocity_map", ("q",), "G", ("joints", "v"), velocity_map, "velocities of all joints per independent one"
        ),
        Quantity(
            "joint_velocities", ("q", "v"), "v_joints", ("joints",), joint_velocities, "of all joints, loops closed"
        ),
        Quantity(
            "joint_accelerations",
            ("q", "v", "a"),
            "a_joints",
            ("joints",),
            joint_accelerations,
            "of all joints, loops closed",
        ),
        Quantity(
            "constrained_dynamics",
            ("q", "v_joints", "tau"),
            ("a_joints", "forces"),
            (("joints",), ("residual",)),
            constrained_dynamics,
            "accelerations of all joints and forces at the cuts",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "constraint_forces",
            ("q", "v_joints", "tau"),
            "forces",
            ("residual",),
            constraint_forces,
            "that hold the loops together at the cuts",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "conditioning", ("q",), "c", (), conditioning, "how well the independent joints tell the others, 0 to 1"
        ),
        Quantity(
            "loop_rates", ("q", "v_joints"), "rates", ("residual",), loop_rates, "at which the joints open the loops"
        ),
        Quantity("loop_residual", ("q",), "r", ("residual",), loop_residual, "by how much the loops are open"),
        Quantity(
            "torque_projector", ("q",), "N", ("tau", "tau"), torque_projector, "joint forces N z that move nothing"
        ),
    )
}
