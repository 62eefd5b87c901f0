"""The regressor: joint forces as a matrix times the dynamic parameters, in which they are linear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..constraints import ClosedLoops
from ..errors import UnknownNameError, names_of
from ..model import ELEMENTS, Joint, Model, Motor
from ..scalar import Scalar, Scalars, is_zero
from ..spatial import AXES, Force, Matrix, Pose, Symmetric, Vector
from .drives import add_force, drives_of, motor_rate, motor_stretch, motors, stretches
from .rnea import acceleration_matrix, rate_of_spin

UNITS = tuple(Symmetric(*(int(k == j) for j in range(6))) for k in range(6))


class Parameter(NamedTuple):
    """A dynamic parameter, in which joint forces are linear: of a body, of its joint, or of a motor of a transmission,
    which has a name and no body. Names follow Khalil: XX2, IA2."""

    body: int
    element: str
    motor: str = ""

    @property
    def of_body(self) -> bool:
        """Whether it is an inertia parameter of a body."""
        return self.element in ELEMENTS

    def __str__(self) -> str:
        return f"{self.element}_{self.motor}" if self.motor else f"{self.element}{self.body}"


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a regressor.

    Attributes:
        columns: parameters that have a column.
        in_links: parameters are in the frames of the user's links, not in those of the bodies.
        mixing: NumPy matrix by which the columns are multiplied; default: none.
    """

    columns: tuple[Parameter, ...]
    in_links: bool
    mixing: Any = None


Drives = bool | Sequence[str] | None  # choice of parameters of drives; see ``standard_parameters``


def standard_parameters(model: Model, drives: Drives = None) -> tuple[Parameter, ...]:
    """Return the standard parameters: ten of each body in the order of ``Robot.parameters``, then those of the drives.

    Parameters of the drives are rotor inertia, friction and stiffness of joints and motors. ``drives`` selects them.
    None (default): those that are not zero. True: also zeros, except stiffness. False: none. Names such as ("IA", "FS",
    "FV", "F0"): these of every joint and motor; "elbow.FV" is that of one joint or motor.
    """
    bodies = tuple(Parameter(i, element) for i, _ in model.outward() for element in ELEMENTS)
    if isinstance(drives, str):
        raise UnknownNameError("choice of drives", drives, ("True", "False", f"({drives!r},)"), where="drives")

    def selected(drive: Joint | Motor) -> list[str]:
        nonzero = {element for element, value in drive.parameters.items() if not is_zero(value)}
        if drives is None or (isinstance(drive, Joint) and drive.kind.free):  # no spring or motor acts on a free body
            return [element for element in drive.parameters if element in nonzero and drives is not False]
        if isinstance(drives, bool):
            return [element for element in drive.parameters if drives and (element in nonzero or element != "K")]
        elements = [element for owner, element in owned if owner in ("", drive.name)]
        for element in elements:
            if element != "K":
                drive.column(element, 0.0, 0.0)  # raises if there is no such parameter
        springs = drive.kind.has_spring if isinstance(drive, Joint) else "K" in nonzero
        return [element for element in elements if element != "K" or springs]

    joints = [(i, model.joint(i)) for i, _ in model.outward()]
    named = () if isinstance(drives, (bool, type(None))) else names_of(drives, "drives")
    owned = [each.rpartition(".")[::2] for each in named]
    drive_names = {drive.name for drive in drives_of(model)}
    for owner, _ in owned:
        if owner and owner not in drive_names:
            raise UnknownNameError("joint or motor", owner, drive_names, where=f"robot {model.name!r}, drives")
    of_joints = tuple(Parameter(i, element) for i, joint in joints for element in selected(joint))
    coupled = tuple(Parameter(0, element, motor.name) for motor, _ in motors(model) for element in selected(motor))
    return bodies + of_joints + coupled


def parameter_values(model: Model, parameters: Sequence[Parameter], in_links: bool = False) -> list[Scalar]:
    """Return values of parameters, in the frames of bodies or of the user's links; 0 where the model has none."""
    values: dict[Parameter, Scalar] = {}
    for i, _ in model.outward():
        inertia = model.link_pose(i).inverse().inertia_outward(model.inertia(i)) if in_links else model.inertia(i)
        values |= {Parameter(i, element): value for element, value in zip(ELEMENTS, inertia, strict=True)}
        values |= {Parameter(i, element): value for element, value in model.joint(i).parameters.items()}
    for motor, _ in motors(model):
        values |= {Parameter(0, element, motor.name): value for element, value in motor.parameters.items()}
    return [values.get(each, 0.0) for each in parameters]


def regressor(
    model: Model, q: Scalars, v: Scalars, a: Scalars, parameters: Sequence[Parameter], in_links: bool = False
) -> list[list[Scalar]]:
    """Return Y with tau = Y theta on the user's vectors: a row for each entry of ``tau``, a column for each parameter.

    Columns of the tree, collected as its forces are where joints mimic others or loops are closed.
    """
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    qd = tree.rates(v)
    columns = tree_regressor(model, q, qd, tree.accelerations(qd, a), parameters, in_links)
    collected = [tree.to_motors(tree.collect(column)) for column in columns]
    return [[column[k] for column in collected] for k in range(len(model.mobility.forced))]


def tree_regressor(
    model: Model, q: Scalars, v: Scalars, a: Scalars, parameters: Sequence[Parameter], in_links: bool = False
) -> list[list[Scalar]]:
    """Return the columns of Y on tree vectors, tau = Y theta.

    Newton-Euler with each parameter apart (Khosla & Kanade 1985; Gautier & Khalil 1990). Motion of the bodies outward
    as in ``rnea``, vd with -g; then the wrench of body i is linear in its parameters, with the 6 x 10 matrix

      (1)  F_i = vd M + U MS                                   U = [wd x] + [w x][w x]
      (2)  N_i = MS x vd + J wd + w x (J w)

    whose columns are carried inward, with a share for every joint on the way:

      (3)  f_p = R f_i,   n_p = R n_i + p x R f_i
      (4)  Y_ji = the share of joint j of (f, n)
      (5)  Y_jj: a_j of Ia,  sign(v_j) of Fs,  v_j of Fv,  q_j - rest of K, and the columns of further friction laws
      (6)  T^T times those of a motor that T joins to several joints

    With ``in_links`` the parameters are those of the links in the user's frames, which (1) and (2) are written in then.
    """
    X, w, wd, vd, U = {}, {0: Vector()}, {0: Vector()}, {0: -model.gravity}, {0: Matrix.zero()}
    for i, p in model.outward():
        X[i] = model.transform(i, q)
        joint_v = model.joint_motion(i, q, v)
        joint_a = model.joint_motion(i, q, a) + model.joint_drift(i, q, v)
        vJ, wJ = joint_v.linear, joint_v.angular
        carried = X[i].inward(w[p])
        w[i] = carried + wJ
        wd[i] = X[i].inward(wd[p]) + carried.cross(wJ) + joint_a.angular
        vd[i] = X[i].inward(vd[p] + U[p] @ X[i].origin) + (2 * carried + wJ).cross(vJ) + joint_a.linear
        U[i] = acceleration_matrix(w[i], wd[i])

    columns = []
    wrenches: dict[int, dict[str, Force]] = {}
    coupled = {motor.name: (motor, shares) for motor, shares in motors(model)}
    for parameter in parameters:
        i, element, _ = parameter
        column: list[Scalar] = [0] * model.n_tree
        if parameter.motor:
            motor, shares = coupled[parameter.motor]
            rate, acceleration = motor_rate(shares, v), motor_rate(shares, a)
            if element == "K":
                entry = motor_stretch(model, motor, shares, q)
            else:
                entry = motor.column(element, rate, acceleration, model.friction_width)
            add_force(column, shares, entry)                                                           # (6)
        elif not parameter.of_body:
            for k, stretch in zip(model.freedoms(i), stretches(model, i, q), strict=True):
                entry = stretch if element == "K" else model.joint(i).column(element, v[k], a[k], model.friction_width)
                column[k] = entry                                                                      # (5)
        else:
            if i not in wrenches:
                frame = model.link_pose(i) if in_links else Pose.identity()
                wrenches[i] = _wrenches(frame, w[i], wd[i], vd[i], U[i])
            f = wrenches[i][element]
            for j in (i, *model.ancestors(i)):
                for k, S in zip(model.freedoms(j), model.subspace(j, q), strict=True):
                    column[k] = S.dot(f)                                                               # (4)
                if model.body(j).parent > 0:
                    f = X[j].force_outward(f)                                                          # (3)
        columns.append(column)
    return columns


def _wrenches(frame: Pose, w: Vector, wd: Vector, vd: Vector, U: Matrix) -> dict[str, Force]:
    """Return the wrench per parameter, in the body's frame, of a body with parameters in ``frame`` that moves so."""
    w, wd, vd = frame.inward(w), frame.inward(wd), frame.inward(vd + U @ frame.origin)
    U = acceleration_matrix(w, wd)
    of_moments = (Force(u, e.cross(vd)) for u, e in zip(U.columns, AXES, strict=True))                 # (1)
    of_inertias = (Force(Vector(), rate_of_spin(J, w, wd, U)) for J in UNITS)                          # (2)
    wrenches = (Force(vd), *of_moments, *of_inertias)
    return {element: frame.force_outward(f) for element, f in zip(ELEMENTS, wrenches, strict=True)}
