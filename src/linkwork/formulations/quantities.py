"""What can be asked of a robot. Each quantity is composed here, once, of a method and of what belongs to every joint:
mimic joints, friction, springs, wrenches on named frames.

A quantity function takes the model, a :class:`Request` and its input vectors, and returns its one named output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LinkworkError
from ..model import Frame, Model
from ..scalar import Scalar, is_zero, sign
from ..spatial import Force, Vector
from . import coriolis, energy, kinematics
from .khalil import khalil_kleinfinger

Scalars = Sequence[Scalar]
WrenchRows = Sequence[Sequence[Scalar]]  # one row of six for each loaded frame


@dataclass(frozen=True)
class Request:
    """Which method, for which frame, in which axes, with wrenches on which frames."""

    method: Callable[..., Any] | None = None
    frame: Frame | None = None
    axes: str = "world"
    loaded: tuple[Frame, ...] = ()  # the frames of the ``wrenches`` input, row by row

    @property
    def run(self) -> Callable[..., Any]:
        """The method, of a quantity that has methods."""
        assert self.method is not None  # the pipeline has seen to it
        return self.method


@dataclass(frozen=True)
class Quantity:
    """``inputs`` are among q, v, a, tau. ``of_joints`` tells that only joint forces and motions go in and out, so that
    inertia parameters may be grouped without changing the result."""

    name: str
    inputs: tuple[str, ...]
    output: str
    shape: tuple[int | str, ...]  # of the output; "nv" is the robot's number
    function: Callable[..., Any]
    summary: str
    of_frame: bool = False
    has_axes: bool = False
    takes_wrenches: bool = False
    of_joints: bool = False


def passive_forces(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """Force each joint's own friction and spring takes: Fs sign(v) + Fv v + K (q - rest), on tree vectors."""
    forces: list[Scalar] = [0] * model.n_tree
    for i, _ in model.outward():
        joint = model.joint(i)
        if not joint.floating:
            (k,), (at,) = model.freedoms(i), model.coordinates(i)
            forces[k] = joint.viscous * v[k] + joint.stiffness * (q[at] - joint.rest)
            if not is_zero(joint.coulomb):
                forces[k] = forces[k] + joint.coulomb * sign(v[k])
    return forces


def body_wrenches(loaded: Sequence[Frame], rows: WrenchRows) -> dict[int, Force]:
    """Wrenches given at frames (force, then moment about the frame's origin, in its axes) as forces on bodies."""
    total: dict[int, Force] = {}
    for frame, row in zip(loaded, rows, strict=True):
        wrench = frame.pose.force_outward(Force(Vector(*row[:3]), Vector(*row[3:])))
        total[frame.body] = total.get(frame.body, Force()) + wrench
    return total


def inverse_dynamics(
    model: Model, request: Request, q: Scalars, v: Scalars, a: Scalars, wrenches: WrenchRows = ()
) -> list[Scalar]:
    q, v, a = model.expand(q), model.expand_rates(v), model.expand_rates(a)
    tau = request.run(model, q, v, a, body_wrenches(request.loaded, wrenches))
    return model.collect([x + y for x, y in zip(tau, passive_forces(model, q, v), strict=True)])


def forward_dynamics(
    model: Model, request: Request, q: Scalars, v: Scalars, tau: Scalars, wrenches: WrenchRows = ()
) -> list[Scalar]:
    q, v = model.expand(q), model.expand_rates(v)
    passive = model.collect(passive_forces(model, q, v))
    net = [x - y for x, y in zip(tau, passive, strict=True)]
    try:
        return request.run(model, q, v, net, body_wrenches(request.loaded, wrenches))
    except ZeroDivisionError:
        raise LinkworkError(
            "the inertia matrix is singular, so forward dynamics is not defined",
            where=f"robot {model.name!r}",
            fix="`linkwork check` names the moving links without inertia: give them some, or lock their joints",
        ) from None


def bias(model: Model, request: Request, q: Scalars, v: Scalars, wrenches: WrenchRows = ()) -> list[Scalar]:
    q, v = model.expand(q), model.expand_rates(v)
    b = request.run(model, q, v, body_wrenches(request.loaded, wrenches))
    return model.collect([x + y for x, y in zip(b, passive_forces(model, q, v), strict=True)])


def gravity(model: Model, request: Request, q: Scalars) -> list[Scalar]:
    still = [0] * model.n_tree
    return model.collect(khalil_kleinfinger(model, model.expand(q), still, still))


def inertia_matrix(model: Model, request: Request, q: Scalars) -> list[list[Scalar]]:
    M = model.collect_matrix(request.run(model, model.expand(q)))
    return [[M[max(i, j)][min(i, j)] for j in range(model.nv)] for i in range(model.nv)]  # symmetric to the last bit


def coriolis_matrix(model: Model, request: Request, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    return model.collect_matrix(coriolis.coriolis_matrix(model, model.expand(q), model.expand_rates(v)))


def kinetic_energy(model: Model, request: Request, q: Scalars, v: Scalars) -> Scalar:
    return energy.kinetic_energy(model, model.expand(q), model.expand_rates(v))


def potential_energy(model: Model, request: Request, q: Scalars) -> Scalar:
    return energy.potential_energy(model, model.expand(q))


def momentum(model: Model, request: Request, q: Scalars, v: Scalars) -> list[Scalar]:
    _require_mass(model)
    return energy.momentum(model, model.expand(q), model.expand_rates(v))


def center_of_mass(model: Model, request: Request, q: Scalars) -> list[Scalar]:
    _require_mass(model)
    return list(kinematics.center_of_mass(model, model.expand(q)))


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
    return model.collect_rows(rows)


def jacobian_drift(model: Model, request: Request, q: Scalars, v: Scalars) -> list[Scalar]:
    q, v, frame = model.expand(q), model.expand_rates(v), _frame(request)
    drift = kinematics.frame_drift(model, frame, q, v)
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
            ("nv",),
            inverse_dynamics,
            "joint forces for a motion",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "forward_dynamics",
            ("q", "v", "tau"),
            "a",
            ("nv",),
            forward_dynamics,
            "joint accelerations under joint forces",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "inertia_matrix", ("q",), "M", ("nv", "nv"), inertia_matrix, "M(q), complete and symmetric", of_joints=True
        ),
        Quantity(
            "bias",
            ("q", "v"),
            "b",
            ("nv",),
            bias,
            "joint forces at zero acceleration: M a + b = tau",
            takes_wrenches=True,
            of_joints=True,
        ),
        Quantity(
            "gravity", ("q",), "g", ("nv",), gravity, "joint forces that hold the robot against gravity", of_joints=True
        ),
        Quantity(
            "coriolis_matrix", ("q", "v"), "C", ("nv", "nv"), coriolis_matrix, "C(q, v) with Mdot - 2 C skew-symmetric"
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
            (6, "nv"),
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
            "Jdot v: a frame's acceleration at zero joint accelerations",
            of_frame=True,
            has_axes=True,
        ),
    )
}
