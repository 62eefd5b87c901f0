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
    """One of the numbers joint forces are linear in, of a body or of its joint; named as Khalil does, XX2, IA2. Those
    of a motor of a transmission have its name, and no body."""

    body: int
    element: str
    motor: str = ""

    @property
    def of_body(self) -> bool:
        return self.element in ELEMENTS

    def __str__(self) -> str:
        return f"{self.element}_{self.motor}" if self.motor else f"{self.element}{self.body}"


@dataclass(frozen=True, eq=False)
class Columns:
    """``columns``: the parameters whose columns a regressor has, in the links' frames or the bodies' own; where
    ``mixing``, a NumPy matrix, is given, times this."""

    columns: tuple[Parameter, ...]
    in_links: bool
    mixing: Any = None


Drives = bool | Sequence[str] | None  # which parameters of drives are asked for; see ``standard_parameters``


def standard_parameters(model: Model, drives: Drives = None) -> tuple[Parameter, ...]:
    """Ten of each body in the order of ``Robot.parameters``, then those of the drives: rotor inertia, friction and
    stiffness of joints and motors, if they are not zero. With ``drives`` True: also where they are zero, but for
    stiffness; False: none; names such as ("IA", "FS", "FV", "F0"): these of every joint and motor, and no others; one
    such as "elbow.FV" is of that joint or motor alone."""
    bodies = tuple(Parameter(i, element) for i, _ in model.outward() for element in ELEMENTS)
    if isinstance(drives, str):
        raise UnknownNameError("choice of drives", drives, ("True", "False", f"({drives!r},)"))

    def asked(drive: Joint | Motor) -> list[str]:
        own = {element for element, value in drive.parameters.items() if not is_zero(value)}
        if drives is None or (isinstance(drive, Joint) and drive.kind.free):  # nothing holds or drives a free body
            return [element for element in drive.parameters if element in own and drives is not False]
        if isinstance(drives, bool):
            return [element for element in drive.parameters if drives and (element in own or element != "K")]
        named = [element for owner, element in owned if owner in ("", drive.name)]
        for element in named:
            if element != "K":
                drive.column(element, 0.0, 0.0)  # there is such a parameter
        springs = drive.kind.has_spring if isinstance(drive, Joint) else "K" in own
        return [element for element in named if element != "K" or springs]

    joints = [(i, model.joint(i)) for i, _ in model.outward()]
    named = () if isinstance(drives, (bool, type(None))) else names_of(drives, "drives")
    owned = [each.rpartition(".")[::2] for each in named]
    known = {drive.name for drive in drives_of(model)}
    for owner, _ in owned:
        if owner and owner not in known:
            raise UnknownNameError("joint or motor", owner, known, where=f"robot {model.name!r}, drives")
    own = tuple(Parameter(i, element) for i, joint in joints for element in asked(joint))
    coupled = tuple(Parameter(0, element, motor.name) for motor, _ in motors(model) for element in asked(motor))
    return bodies + own + coupled


def parameter_values(model: Model, asked: Sequence[Parameter], in_links: bool = False) -> list[Scalar]:
    """Their values in this model, in the bodies' frames or in those of the user's links; zero for what it has not."""
    known: dict[Parameter, Scalar] = {}
    for i, _ in model.outward():
        inertia = model.link_pose(i).inverse().inertia_outward(model.inertia(i)) if in_links else model.inertia(i)
        known |= {Parameter(i, element): value for element, value in zip(ELEMENTS, inertia, strict=True)}
        known |= {Parameter(i, element): value for element, value in model.joint(i).parameters.items()}
    for motor, _ in motors(model):
        known |= {Parameter(0, element, motor.name): value for element, value in motor.parameters.items()}
    return [known.get(each, 0.0) for each in asked]


def regressor(
    model: Model, q: Scalars, v: Scalars, a: Scalars, asked: Sequence[Parameter], in_links: bool = False
) -> list[list[Scalar]]:
    """Y with tau = Y theta on the user's vectors: one row for each entry of ``tau``, one column for each parameter.

    Columns of the tree, collected as its forces are where joints mimic others or loops are closed.
    """
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    qd = tree.rates(v)
    columns = tree_regressor(model, q, qd, tree.accelerations(qd, a), asked, in_links)
    collected = [tree.to_motors(tree.collect(column)) for column in columns]
    return [[column[k] for column in collected] for k in range(len(model.mobility.forced))]


def tree_regressor(
    model: Model, q: Scalars, v: Scalars, a: Scalars, asked: Sequence[Parameter], in_links: bool = False
) -> list[list[Scalar]]:
    """The columns of Y on tree vectors, tau = Y theta.

    Newton-Euler with each parameter apart (Khosla & Kanade 1985; Gautier & Khalil 1990). Motion of the bodies outward
    as in ``rnea``, vd with -g; then the wrench of body i is linear in its parameters, with the 6 x 10 matrix

      (1)  F_i = vd M + U MS                                   U = [wd x] + [w x][w x]
      (2)  N_i = MS x vd + J wd + w x (J w)

    whose columns go inward and leave their share at every joint on the way:

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
    for parameter in asked:
        i, element, _ = parameter
        column: list[Scalar] = [0] * model.n_tree
        if parameter.motor:
            motor, shares = coupled[parameter.motor]
            rate, more = motor_rate(shares, v), motor_rate(shares, a)
            if element == "K":
                own = motor_stretch(model, motor, shares, q)
            else:
                own = motor.column(element, rate, more, model.friction_width)
            add_force(column, shares, own)                                                             # (6)
        elif not parameter.of_body:
            for k, stretch in zip(model.freedoms(i), stretches(model, i, q), strict=True):
                own = stretch if element == "K" else model.joint(i).column(element, v[k], a[k], model.friction_width)
                column[k] = own                                                                        # (5)
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
    """Of each parameter of a body in ``frame``, on the body and in its own frame, from the motion of the latter."""
    w, wd, vd = frame.inward(w), frame.inward(wd), frame.inward(vd + U @ frame.origin)
    U = acceleration_matrix(w, wd)
    of_moments = (Force(u, e.cross(vd)) for u, e in zip(U.columns, AXES, strict=True))                 # (1)
    of_inertias = (Force(Vector(), rate_of_spin(J, w, wd, U)) for J in UNITS)                          # (2)
    found = (Force(vd), *of_moments, *of_inertias)
    return {element: frame.force_outward(f) for element, f in zip(ELEMENTS, found, strict=True)}
