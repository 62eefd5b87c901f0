"""Base parameters of a tree in closed form: those of Gautier and Khalil, and Lin's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..formulations.linfang import Minimal, minimal_combinations
from ..formulations.regressor import Parameter
from ..model import ELEMENTS, Model
from ..model.joints import JointKind
from ..scalar import Scalar
from ..spatial import Inertia, Screw, Symmetric, Transform, Vector, Z
from .body_motion import ABOUT_ONE, NO_TURN, BodyMotion


def with_values(model: Model, values: Mapping[Parameter, Scalar]) -> Model:
    """Return the robot with these inertia parameters and rotor inertias, scalars of any kind."""
    bodies = tuple(
        replace(
            body,
            inertia=Inertia.of(values[Parameter(i, element)] for element in ELEMENTS),
            joint=replace(body.joint, rotor_inertia=values.get(Parameter(i, "IA"), 0.0)),
        )
        for i, body in enumerate(model.bodies, 1)
    )
    return replace(model, bodies=bodies)


def khalil_parameters(model: Model, motions: dict[int, BodyMotion]) -> dict[Parameter, Scalar]:
    """Return base parameters by the standard parameter whose place each takes, over any scalar (Gautier & Khalil 1990).

    Body by body, inward. Parameters that a joint cannot separate from the parent's move there, as for a body fixed to
    it:

      (1)  revolute joint:  M, MZ and YY of its body, the latter as XX = YY:  XXR = XX - YY
      (2)  prismatic joint:  XX, XY, XZ, YY, YZ, ZZ of its body

    and for other kinds what ``JointKind.grouped`` says. Behind those the rules do not decide whether fewer act.

    With R and p the place of the joint in its parent at position zero, the parent's J grows by R J' R^T + 2 (p.u) 1 - p
    u^T - u p^T, its first moments by MS' + M p, where MS' = R MS, u = MS' + M p / 2; its mass by M. The first joints of
    a fixed base let fewer parameters act. With u the one direction that a body turns about:

      (3)  only slides                  M
      (4)  revolute about u             ZZ, MX, MY; the latter two not if it turns and slides along one vertical line
      (5)  prismatic across u           M and two of MS, since MS along u does not act:  MS - u (MS_e / u_e)
      (6)  prismatic along u            M; MX and MY go to the parent, MZ does not act
    """
    inertia = {i: model.inertia(i) for i, _ in model.outward()} | {0: Inertia()}
    base: dict[Parameter, Scalar] = {}
    for i, p in model.inward():
        motion, joint = motions[i], model.joint(i)
        rest, moved = joint.kind.grouped(inertia[i])  # (1) (2)
        values: dict[str, Scalar] = dict(zip(ELEMENTS, rest, strict=True))
        acting = _staying(joint.kind)
        if joint.prismatic and motion.turns == NO_TURN:
            acting = ("M",)  # (3)
        elif joint.prismatic and motion.along:
            moved, acting = Inertia(0, Vector(inertia[i].h.x, inertia[i].h.y, 0), inertia[i].J), ("M",)  # (6)
        elif joint.prismatic and motion.turns == ABOUT_ONE:
            first, acting = _across(inertia[i].h, _direction(model, i))  # (5)
            values |= dict(zip(("MX", "MY", "MZ"), first, strict=True))
        elif motion.turns == ABOUT_ONE:
            acting = ("MX", "MY", "ZZ") if motion.moments else ("ZZ",)  # (4)
        base |= {Parameter(i, element): values[element] for element in acting}
        if p:
            inertia[p] = inertia[p] + carrier(model, i).inertia_outward(moved)
    return {each: base[each] for each in sorted(base, key=lambda each: (each.body, ELEMENTS.index(each.element)))}


def with_rotors_absorbed(model: Model, motions: dict[int, BodyMotion]) -> Model:
    """Return the same robot with rotor inertias as inertias of bodies, where they act like these.

    It is ZZ of a body that turns about its joint's axis with the joint's speed alone, M of one that slides so along its
    joint's axis. The parent carries the latter's mass, too, which does not hold for a rotor's inertia: there it is
    subtracted.
    """
    inertia = {i: model.inertia(i) for i, _ in model.outward()} | {0: Inertia()}
    joints = {}
    for i, p in model.outward():
        joints[i] = joint = model.joint(i)
        if motions[i].rotor:
            Ia = joint.rotor_inertia
            joints[i] = replace(joint, rotor_inertia=0.0)
            inertia[i] = inertia[i] + (Inertia(Ia) if joint.prismatic else Inertia(0, Vector(), Symmetric(zz=Ia)))
            if joint.prismatic:
                inertia[p] = inertia[p] + carrier(model, i).inertia_outward(Inertia(-Ia))
    bodies = (replace(body, inertia=inertia[i], joint=joints[i]) for i, body in enumerate(model.bodies, 1))
    return replace(model, bodies=tuple(bodies))


def carrier(model: Model, i: int) -> Transform:
    """Return the place of joint ``i`` in its parent; a joint that turns about z counts at position zero."""
    whole = model.transform(i, model.tree.neutral().tolist())
    joint, (*placement, last) = model.joint(i), whole.screws
    turns = joint.kind.axial and not joint.prismatic
    return Transform(*placement, Screw("z", t=last.t)) if turns and isinstance(last, Screw) else whole


def _staying(kind: JointKind) -> tuple[str, ...]:
    """Return the parameters that are not moved to the parent, by a trial with ten different numbers."""
    kept, _ = kind.grouped(Inertia.of(range(1, 11)))
    return tuple(element for element, value in zip(ELEMENTS, kept, strict=True) if value)


def _direction(model: Model, i: int) -> Vector:
    """Return the one direction that a body turns about, in its own frame."""
    if not model.joint(i).prismatic:
        return Z
    return carrier(model, i).inward(_direction(model, model.body(i).parent))


def _across(h: Vector, u: Vector) -> tuple[Vector, tuple[str, ...]]:
    """Return first moments without their part along ``u``, zero where ``u`` is largest; and the parameters left."""
    largest = max((2, 1, 0), key=lambda k: round(abs(u[k]), 12))
    others = tuple(name for k, name in enumerate(("MX", "MY", "MZ")) if k != largest)
    return h - u * (h[largest] * (1 / u[largest])), ("M", *others)


def lin_parameters(model: Model) -> dict[str, Scalar]:
    """Return the parameters of Theorem 1 of Lin & Fang (1999), over any scalar: m^_i, k_i.x, U_i.33, kappa1_i, ...

    U_i.11-22 is the difference of the two.
    """
    minimal = minimal_combinations(model)
    entries = ("11-22", "12", "13", "22", "23", "33")
    names = Minimal(
        minimal.classes,
        {i: f"m^_{i}" for i in minimal.m},
        {i: Vector(*(f"k_{i}.{axis}" for axis in "xyz")) for i in minimal.k},
        {i: Symmetric(*(f"U_{i}.{entry}" for entry in entries)) for i in minimal.U},
        {i: (f"kappa1_{i}", f"kappa2_{i}") for i in minimal.kappa},
    )
    return dict(sorted(zip(names.values(), minimal.values(), strict=True), key=_joint))


def _joint(item: tuple[str, Scalar]) -> int:
    return int(item[0].split("_")[1].split(".")[0])
