"""Functions of the quantities. Each combines a method with what every method has in common: mimic joints, closed loops,
friction, springs, wrenches on named frames.

A quantity's function takes the model and its input vectors and, by keyword, what else it depends on (see ``Problem``):
``method``, ``frame``, ``axes``, ``loads``, ``columns``, ``known``, ``turns``, ``tolerance``. It returns its output, or
a tuple of outputs. ``quantity_table`` documents each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..constraints import ClosedLoops, ConstraintEquations, forces_at_cuts
from ..errors import LinkworkError, UnsupportedError
from ..model import Frame, Model
from ..scalar import Scalar, Scalars, is_zero
from ..scalar.orthogonal import Orthogonal, dot
from ..scalar.staircase import unique_or_nan
from ..spatial import Vector
from . import coriolis, energy, kinematics
from .crba import crba
from .forward import bias_by
from .method import Method
from .multipliers import ByMultipliers
from .parallel_axes import shared_axes
from .passive_forces import WrenchRows, body_wrenches, passive_forces
from .regressor import Columns, regressor, standard_parameters
from .total_inertia import total_bias, total_inertia_matrix, total_inverse_dynamics

Loads = tuple[Sequence[Frame], WrenchRows]  # frames, and the wrench on each
NO_LOADS: Loads = ((), ())


def inverse_dynamics(
    model: Model, q: Scalars, v: Scalars, a: Scalars, *, method: Method, loads: Loads = NO_LOADS
) -> list[Scalar]:
    require_motors(model)
    tree = ClosedLoops(model, model.expand(q))
    if method.closed:
        return method.function(model, tree.q, v, a, body_wrenches(model, tree.q, tree.rates(v), *loads))
    return tree.to_motors(forces_for_motion(method.function, tree, v, a, loads))


def forces_for_motion(
    inverse: Callable[..., list[Scalar]], tree: ClosedLoops, v: Scalars, a: Scalars, loads: Loads
) -> list[Scalar]:
    """Return the forces of the independent coordinates, by a method's function of inverse dynamics."""
    model, q, qd = tree.model, tree.q, tree.rates(v)
    applied = body_wrenches(model, q, qd, *loads)
    qdd = tree.accelerations(qd, a)
    tau = total_inverse_dynamics(inverse, model, q, qd, qdd, applied)
    return tree.collect([x + y for x, y in zip(tau, passive_forces(model, q, qd), strict=True)])


def forward_dynamics(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, *, method: Method, loads: Loads = NO_LOADS
) -> list[Scalar]:
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    qd, force = tree.rates(v), tree.of_motors(tau)
    applied = body_wrenches(model, q, qd, *loads)
    with Solvable(model):
        if method.closed:
            return method.function(model, q, v, tau, applied)
        passive = tree.collect(passive_forces(model, q, qd))
        net = [x - y for x, y in zip(force, passive, strict=True)]
        if not model.constrained:
            return method.function(model, q, qd, net, applied)
        one = unique_or_nan([tree.J_p])
        return [one * x for x in method.function(model, q, qd, net, applied, tree=tree)]


def constrained_dynamics(
    model: Model, q: Scalars, v_joints: Scalars, tau: Scalars, *, loads: Loads = NO_LOADS
) -> tuple[list[Scalar], list[Scalar]]:
    q, qd = model.expand(q), model.expand_rates(v_joints)
    applied = body_wrenches(model, q, qd, *loads)
    with Solvable(model):
        a, multipliers = ByMultipliers(crba, partial(bias_by, shared_axes))(
            model, q, qd, joint_forces(model, q, qd, tau), applied
        )
    return a, forces_at_cuts(model, q, multipliers)


def joint_forces(model: Model, q: Scalars, qd: Scalars, tau: Scalars) -> list[Scalar]:
    """Return the forces of the non-mimic joints: ``tau`` of the forced ones, less friction and springs."""
    forces = [-x for x in model.collect(passive_forces(model, q, qd))]
    for k, value in zip(model.mobility.forced, tau, strict=True):
        forces[k] = forces[k] + value
    return forces


def constraint_forces(
    model: Model, q: Scalars, v_joints: Scalars, tau: Scalars, *, loads: Loads = NO_LOADS
) -> list[Scalar]:
    return constrained_dynamics(model, q, v_joints, tau, loads=loads)[1]


def hybrid_dynamics(
    model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, *, method: Method, loads: Loads = NO_LOADS
) -> tuple[list[Scalar], list[Scalar]]:
    q = model.expand(q)
    qd = ClosedLoops(model, q).rates(v)
    applied = body_wrenches(model, q, qd, *loads)
    with Solvable(model):
        if method.closed:
            return method.function(model, q, v, a, tau, applied)
        mobility = model.mobility  # without loops and mimic joints: freedoms of the tree
        known = [k in mobility.driven for k in range(model.n_tree)]
        qdd, force, passive = [0] * model.n_tree, [0] * model.n_tree, passive_forces(model, q, qd)
        for k, value in zip(mobility.driven, a, strict=True):
            qdd[k] = value
        for k, value in zip(mobility.free, tau, strict=True):
            force[k] = value - passive[k]
        forces, accelerations = method.function(model, q, qd, qdd, force, known, applied)
    return [forces[k] + passive[k] for k in mobility.motors], [accelerations[k] for k in mobility.free]


class Solvable:
    """Context that explains a division by a structural zero: the inertia matrix, or part of it, is always singular."""

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


def require_motors(model: Model) -> None:
    """Raise UnsupportedError if a passive joint is free to move, because then no motor can give it any motion."""
    free = dict.fromkeys(model.coordinates.joint_of(k) for k in model.mobility.free)
    if passive := [joint.name for joint in free if joint.role == "passive" and not joint.kind.free]:
        raise UnsupportedError(
            "inverse dynamics needs a motor for every freedom",
            where=f"robot {model.name!r}",
            got=f"passive joints that are free to move: {', '.join(passive)}",
            fix="hybrid_dynamics gives the motors' forces and these joints' accelerations; or mark them active",
        )


def bias(model: Model, q: Scalars, v: Scalars, *, method: Method, loads: Loads = NO_LOADS) -> list[Scalar]:
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    qd = tree.rates(v)
    drift = tree.drift(qd) if model.constrained else None
    b = total_bias(method.function, model, q, qd, body_wrenches(model, q, qd, *loads), drift)
    return tree.collect([x + y for x, y in zip(b, passive_forces(model, q, qd), strict=True)])


def gravity(model: Model, q: Scalars) -> list[Scalar]:
    q, still = model.expand(q), [0] * model.n_tree
    return ClosedLoops(model, q).collect(total_inverse_dynamics(shared_axes, model, q, still, still))


def inertia_matrix(model: Model, q: Scalars, *, method: Method) -> list[list[Scalar]]:
    q = model.expand(q)
    M = ClosedLoops(model, q).collect_matrix(total_inertia_matrix(method.function, model, q))
    return [[M[max(i, j)][min(i, j)] for j in range(model.nv)] for i in range(model.nv)]  # symmetric to the last bit


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    if model.constrained:
        message = "there is no Coriolis matrix for robots with loops"
        raise UnsupportedError(message, where=f"robot {model.name!r}", fix="its product with v is in `bias`")
    return model.collect_matrix(coriolis.coriolis_matrix(model, model.expand(q), model.expand_rates(v)))


def kinetic_energy(model: Model, q: Scalars, v: Scalars) -> Scalar:
    q = model.expand(q)
    return energy.kinetic_energy(model, q, ClosedLoops(model, q).rates(v))


def potential_energy(model: Model, q: Scalars) -> Scalar:
    return energy.potential_energy(model, model.expand(q))


def momentum(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    _require_mass(model)
    q = model.expand(q)
    return energy.momentum(model, q, ClosedLoops(model, q).rates(v))


def center_of_mass(model: Model, q: Scalars) -> list[Scalar]:
    _require_mass(model)
    return list(energy.center_of_mass(model, model.expand(q)))


def parameter_regressor(
    model: Model, q: Scalars, v: Scalars, a: Scalars, *, columns: Columns | None = None
) -> list[list[Scalar]]:
    if columns is None:
        return regressor(model, q, v, a, standard_parameters(model), in_links=True)
    Y = regressor(model, q, v, a, columns.columns, columns.in_links)
    if columns.mixing is None:
        return Y
    return [[dot(row, column) for column in columns.mixing.T.tolist()] for row in Y]


def velocity_map(model: Model, q: Scalars) -> list[list[Scalar]]:
    return ClosedLoops(model, model.expand(q)).G


def position_map(model: Model, q: Scalars) -> list[list[Scalar]]:
    return ClosedLoops.of_configuration(model, model.expand(q)).G


def joint_velocities(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    return ClosedLoops(model, model.expand(q)).joint_velocities(v)


def joint_accelerations(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    tree = ClosedLoops(model, model.expand(q))
    return _of_leaders(model, tree.accelerations(tree.rates(v), a))


def _of_leaders(model: Model, tree: Scalars) -> list[Scalar]:
    """Return the entries of the non-mimic joints of a tree vector."""
    leaders = (i for i, _ in model.outward() if model.joint(i).leader is None)
    return [tree[k] for i in leaders for k in model.freedoms(i)]


def loop_residual(model: Model, q: Scalars) -> list[Scalar]:
    return ConstraintEquations.at(model, q).residual


def loop_rates(model: Model, q: Scalars, v_joints: Scalars) -> list[Scalar]:
    return ConstraintEquations.at(model, q).rates(v_joints)


def conditioning(model: Model, q: Scalars) -> Scalar:
    dependent = [k for k in range(model.coordinates.nv) if k not in model.mobility.independent]
    return Orthogonal(ConstraintEquations.at(model, q).columns(dependent)).conditioning()


def torque_projector(model: Model, q: Scalars) -> list[list[Scalar]]:
    return ClosedLoops(model, model.expand(q)).null_torques()


def pose(model: Model, q: Scalars, *, frame: Frame) -> list[list[Scalar]]:
    at = kinematics.frame_pose(model, frame, model.expand(q))
    return [[*row, x] for row, x in zip(at.rotation.rows, at.origin, strict=True)] + [[0, 0, 0, 1]]


def jacobian(model: Model, q: Scalars, *, frame: Frame, axes: str = "world") -> list[list[Scalar]]:
    q = model.expand(q)
    rows = kinematics.frame_jacobian(model, frame, q)
    if axes == "local":
        inward = kinematics.frame_pose(model, frame, q).inward
        columns = [(*inward(Vector(*c[:3])), *inward(Vector(*c[3:]))) for c in zip(*rows, strict=True)]
        rows = [[column[k] for column in columns] for k in range(6)]
    return ClosedLoops(model, q).collect_rows(rows)


def tree_jacobian(model: Model, q: Scalars, *, frame: Frame) -> list[list[Scalar]]:
    return model.collect_rows(kinematics.frame_jacobian(model, frame, model.expand(q)))


def motor_jacobian(model: Model, q: Scalars) -> list[list[Scalar]]:
    return ClosedLoops(model, model.expand(q)).motors()


def platform_jacobian(model: Model, q: Scalars) -> list[list[Scalar]]:
    motors = ClosedLoops(model, model.expand(q)).motors()
    if len(model.mobility.driven) < model.nv:
        raise UnsupportedError(
            "the velocities of the motors do not determine those of the robot",
            where=f"robot {model.name!r}",
            got=f"{len(motors)} motors for {model.nv} freedoms",
            fix="motor_jacobian has the velocities of the motors",
        )
    inverse = Orthogonal([list(column) for column in zip(*motors, strict=True)])
    units = ([int(i == j) for i in range(len(motors))] for j in range(len(motors)))
    return [list(row) for row in zip(*map(inverse.solve, units), strict=True)]


def jacobian_drift(model: Model, q: Scalars, v: Scalars, *, frame: Frame, axes: str = "world") -> list[Scalar]:
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    v = tree.rates(v)
    drift = kinematics.frame_drift(model, frame, q, v)
    if model.constrained:  # the dependent joints accelerate although a is zero
        dependent = kinematics.frame_velocity(model, frame, q, tree.drift(v))
        drift = [x + y for x, y in zip(drift, dependent, strict=True)]
    if axes == "local":  # d/dt (R^T J) v = R^T (Jdot v - w x J v)
        velocity = kinematics.frame_velocity(model, frame, q, v)
        w, inward = Vector(*velocity[3:]), kinematics.frame_pose(model, frame, q).inward
        parts = (Vector(*drift[k : k + 3]) - w.cross(Vector(*velocity[k : k + 3])) for k in (0, 3))
        drift = [x for part in parts for x in inward(part)]
    return drift


def _require_mass(model: Model) -> None:
    if all(is_zero(body.inertia.mass) for body in model.bodies):
        raise LinkworkError("no moving body has a mass, so there is no centre of mass", where=f"robot {model.name!r}")
