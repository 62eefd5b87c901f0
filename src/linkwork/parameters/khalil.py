"""Base parameters of a tree in closed form: what acts on its joints, each by itself."""

from __future__ import annotations

from dataclasses import replace

from ..formulations.regressor import Parameter
from ..model import ELEMENTS, Model
from ..model.joints import JointKind
from ..scalar import Scalar
from ..spatial import Inertia, Screw, Symmetric, Transform, Vector, Z
from .excitation import ABOUT_ONE, NO_TURN, Excitation


def khalil_parameters(model: Model, excited: dict[int, Excitation]) -> dict[Parameter, Scalar]:
    """The base parameters by the standard parameter whose place each takes, over any scalar (Gautier & Khalil 1990).

    Body by body, inward. Parameters that a joint cannot tell from the parent's go there, as of a body fixed to it:

      (1)  of a revolute joint's body M, MZ and YY, the latter as XX = YY:  XXR = XX - YY
      (2)  of a prismatic joint's body XX, XY, XZ, YY, YZ, ZZ

    and of other kinds what they say (``JointKind.grouped``). Behind those the rules do not tell whether less acts.

    With R and p the place of the joint in its parent at position zero, the parent's J grows by R J' R^T
    + 2 (p.u) 1 - p u^T - u p^T, its first moments by MS' + M p, where MS' = R MS, u = MS' + M p / 2; its mass by M.
    The first joints of a fixed base let fewer parameters act. With u the one direction that a body turns about:

      (3)  only slides                  M
      (4)  revolute about u             ZZ, MX, MY; the latter two not if it turns and slides along one vertical line
      (5)  prismatic across u           M and two of MS, since MS along u does not act:  MS - u (MS_e / u_e)
      (6)  prismatic along u            M; MX and MY go to the parent, MZ does not act
    """
    own = {i: model.inertia(i) for i, _ in model.outward()} | {0: Inertia()}
    base: dict[Parameter, Scalar] = {}
    for i, p in model.inward():
        how, joint = excited[i], model.joint(i)
        rest, moved = joint.kind.grouped(own[i])  # (1) (2)
        kept: dict[str, Scalar] = dict(zip(ELEMENTS, rest, strict=True))
        acting = _staying(joint.kind)
        if joint.prismatic and how.turns == NO_TURN:
            acting = ("M",)  # (3)
        elif joint.prismatic and how.along:
            moved, acting = Inertia(0, Vector(own[i].h.x, own[i].h.y, 0), own[i].J), ("M",)  # (6)
        elif joint.prismatic and how.turns == ABOUT_ONE:
            first, acting = _across(own[i].h, _direction(model, i))  # (5)
            kept |= dict(zip(("MX", "MY", "MZ"), first, strict=True))
        elif how.turns == ABOUT_ONE:
            acting = ("MX", "MY", "ZZ") if how.moments else ("ZZ",)  # (4)
        base |= {Parameter(i, element): kept[element] for element in acting}
        if p:
            own[p] = own[p] + carrier(model, i).inertia_outward(moved)
    return {each: base[each] for each in sorted(base, key=lambda each: (each.body, ELEMENTS.index(each.element)))}


def with_rotors_absorbed(model: Model, excited: dict[int, Excitation]) -> Model:
    """The same robot where rotor inertias are felt as inertias of bodies: as ZZ of a body that turns about its joint's
    axis with the joint's speed alone, as M of one that slides so along its joint's axis. The latter's mass is carried
    by its parent, too, which a rotor's inertia is not: there it is taken off."""
    inertia = {i: model.inertia(i) for i, _ in model.outward()} | {0: Inertia()}
    joints = {}
    for i, p in model.outward():
        joints[i] = joint = model.joint(i)
        if excited[i].rotor:
            Ia = joint.rotor_inertia
            joints[i] = replace(joint, rotor_inertia=0.0)
            inertia[i] = inertia[i] + (Inertia(Ia) if joint.prismatic else Inertia(0, Vector(), Symmetric(zz=Ia)))
            if joint.prismatic:
                inertia[p] = inertia[p] + carrier(model, i).inertia_outward(Inertia(-Ia))
    changed = (replace(body, inertia=inertia[i], joint=joints[i]) for i, body in enumerate(model.bodies, 1))
    return replace(model, bodies=tuple(changed))


def carrier(model: Model, i: int) -> Transform:
    """The place of joint ``i`` in its parent; where it stands does not matter, so one that turns about z does not turn
    it."""
    whole = model.transform(i, model.tree.neutral().tolist())
    joint, (*placement, last) = model.joint(i), whole.screws
    turns = joint.kind.axial and not joint.prismatic
    return Transform(*placement, Screw("z", t=last.t)) if turns and isinstance(last, Screw) else whole


def _staying(kind: JointKind) -> tuple[str, ...]:
    """The parameters that are not moved to the parent, of ten different ones."""
    kept, _ = kind.grouped(Inertia.of(range(1, 11)))
    return tuple(element for element, value in zip(ELEMENTS, kept, strict=True) if value)


def _direction(model: Model, i: int) -> Vector:
    """Of a body that turns about one direction: that, in its own frame."""
    if not model.joint(i).prismatic:
        return Z
    return carrier(model, i).inward(_direction(model, model.body(i).parent))


def _across(h: Vector, u: Vector) -> tuple[Vector, tuple[str, ...]]:
    """First moments without what is along ``u``, such that the component where ``u`` is largest vanishes; and which of
    the parameters are left."""
    largest = max((2, 1, 0), key=lambda k: round(abs(u[k]), 12))
    left = tuple(name for k, name in enumerate(("MX", "MY", "MZ")) if k != largest)
    return h - u * (h[largest] * (1 / u[largest])), ("M", *left)
