"""From a Description to a Model: options applied, fixed joints merged, axes turned to z, frames chosen well.

A body's frame may be turned about and shifted along its joint axis without changing the dynamics. That freedom is
used to put x along the common normal to the next axis (modified Denavit-Hartenberg), which makes most constants of the
transforms zero. The user's own frames are kept as named frames.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from ..errors import ModelError, UnknownNameError
from ..spatial import Inertia, Matrix, Pose, Symmetric, Transform, Vector
from .commands import commands_of
from .description import (
    ConstraintDescription,
    Description,
    JointDescription,
    LinkInertia,
    Mimic,
    Placement,
    floating_joint,
)
from .drive import Transmission
from .model import Body, Constraint, FixedScrew, Frame, Joint, Model
from .placement import FAR, joined, placement_of, screws, snapped
from .places import check_places
from .rotations import cos_sin
from .structure_checks import is_position
from .validate import check, raise_errors

VECTOR = "an acceleration vector (x, y, z) in m/s^2"
OTHERWISE = {  # what may have been meant
    "friction": "other values stand in the file (Fs, Fv; <dynamics>), or go to rollout(vary={'coulomb': ...})",
    "rotors": "other values stand in the file (Ia; rotorInertia in a <transmission>)",
    "mimic": "which joint follows which stands in the file (mimic; <mimic>)",
}
INERTIA_NOISE = 1e-15  # relative to the largest entry


def build(
    description: Description,
    *,
    base: str | None = None,
    gravity: Sequence[float] | None = None,
    friction: bool = True,
    rotors: bool = True,
    mimic: bool = True,
    lock: Mapping[str, Any] | None = None,
) -> Model:
    """The Model of a described robot. ``base`` is "fixed" or "floating" (default: what the file says). Loops stay
    cut: ``linkwork.constraints.closed`` closes them."""
    findings = check(description)
    raise_errors(findings)
    for name, value in (("friction", friction), ("rotors", rotors), ("mimic", mimic)):
        if not isinstance(value, (bool, np.bool_)):
            message, expected = f"{name} is kept or left out", "True (as the file has it) or False"
            raise ModelError(
                message, where=f"load({name}=...)", got=repr(value), expected=expected, fix=OTHERWISE[name]
            )
    joints = _with_options(description, friction, rotors, mimic, {} if lock is None else lock)
    description = replace(description, constraints=tuple(_still_tied(description, joints, lock or {})))
    if not (base is None or (isinstance(base, str) and base in ("fixed", "floating"))):
        raise UnknownNameError("kind of base", str(base), ("fixed", "floating"), where=description.name)
    floating = description.floating if base is None else base == "floating"
    direction = description.gravity if gravity is None else _finite(gravity, description.name, "gravity", VECTOR)
    if len(direction) != 3:
        raise ModelError("gravity has three components", where=description.name, got=gravity, expected=VECTOR)
    tree = _grow(description, joints, floating)
    inertias = _locked_inertias(description, lock or {})
    _choose_frames(tree, inertias)
    model = _finish(description, tree, Vector(*direction), inertias)
    check_places(model)
    transmissions = _transmissions(description, joints, friction, rotors, lock or {})
    warned = tuple(finding for finding in findings if finding.at_load)
    return replace(model, transmissions=transmissions, findings=warned)


def _with_options(
    description: Description, friction: bool, rotors: bool, mimic: bool, lock: Mapping[str, Any]
) -> list[JointDescription]:
    joints = {joint.name: joint for joint in description.joints}
    if not isinstance(lock, Mapping):
        raise ModelError("lock says where each joint stands", got=repr(lock), expected="{joint: position}")
    for name, position in lock.items():
        if name not in joints:
            raise UnknownNameError("joint", name, joints, where=description.name)
        size = joints[name].motion.nq
        if not size:
            raise ModelError(f"joint {name!r} is fixed already", where=description.name, fix="leave it out of lock")
        where = f"lock of joint {name!r}"
        parts = f"{size} numbers: {', '.join(joints[name].motion.position_parts)}"
        expected = "a position in rad or m" if size == 1 else parts
        given = _finite([position] if size == 1 else position, description.name, where, expected)
        if len(given) != size:
            message = f"{where} has another number of entries"
            raise ModelError(message, where=description.name, got=given, expected=parts)
        if not is_position(joints[name].motion, given):
            message, expected = f"{where} is no position", "a quaternion x, y, z, w of length one at its end"
            raise ModelError(message, where=description.name, got=given, expected=expected)
    result = []
    for joint in description.joints:
        if not friction:
            joint = joint.without_friction()
        if not rotors:
            joint = joint.without_rotor()
        tied = mimic or joint.motion.tied
        joint = replace(joint, mimic=_leader(joint, joints) if tied else None)
        position = _locked_position(joint, joints, lock)
        result.append(joint if position is None else _locked(joint, position))
    return result


def _still_tied(
    description: Description, joints: Sequence[JointDescription], lock: Mapping[str, Any]
) -> Iterator[ConstraintDescription]:
    """The constraints, between the joints that still move: those that are locked stand where they are."""
    given, moving = (
        {joint.name: joint for joint in description.joints},
        {part for joint in joints for part in joint.freedoms},
    )
    for each in description.constraints:
        stopped = {name: _stands(name, given, lock) for name in each.kind.coordinates if name not in moving}
        if kind := each.kind.locked(stopped):
            yield replace(each, kind=kind)


def _stands(entry: str, joints: Mapping[str, JointDescription], lock: Mapping[str, Any]) -> float:
    """The position at which an entry of a joint is locked."""
    joint = next(joint for joint in joints.values() if entry in joint.freedoms)
    position = _locked_position(replace(joint, mimic=_leader(joint, joints)), joints, lock)
    return 0.0 if position is None else position[joint.freedoms.index(entry)]


def _transmissions(
    description: Description,
    joints: Sequence[JointDescription],
    friction: bool,
    rotors: bool,
    lock: Mapping[str, Any],
) -> tuple[Transmission, ...]:
    """Those that still move, of the joints that do."""
    given, moving = (
        {joint.name: joint for joint in description.joints},
        {joint.name for joint in joints if joint.motion.nv},
    )
    result = []
    for each in description.transmissions:
        motors = [motor if friction else motor.without_friction() for motor in each.motors]
        motors = [motor if rotors else motor.without_rotor() for motor in motors]
        each = replace(each, motors=tuple(motors))
        result.append(each.among(moving, lambda name: _stands(name, given, lock)))
    return tuple(each for each in result if each.joints)


def _finite(values: Any, robot: str, what: str, expected: str) -> tuple[float, ...]:
    try:
        values = tuple(values)
        numbers = tuple(float(x) if isinstance(x, Real) and not isinstance(x, bool) else math.nan for x in values)
    except (TypeError, OverflowError):
        numbers = (math.nan,)
    if not all(abs(x) < 1e100 for x in numbers):  # squares of larger ones overflow
        raise ModelError(f"{what} must be finite numbers", where=robot, got=values, expected=expected)
    return numbers


def _leader(joint: JointDescription, joints: Mapping[str, JointDescription]) -> Mimic | None:
    """What ``joint`` follows in the end, with chains of mimics multiplied out (``check`` has refused cycles)."""
    own = joint.mimic
    while own is not None and (further := joints[own.joint].mimic) is not None:
        own = Mimic(further.joint, own.multiplier * further.multiplier, own.multiplier * further.offset + own.offset)
    return own


def _locked_position(
    joint: JointDescription, joints: Mapping[str, JointDescription], lock: Mapping[str, Any]
) -> list[float] | None:
    if not joint.motion.nq:
        return None
    follows = joint.mimic
    if joint.name in lock:
        if follows is not None:
            untied = "" if joint.motion.tied else ", or load with mimic=False"
            raise ModelError(
                f"joint {joint.name!r} follows {follows.joint!r} and cannot be locked by itself",
                fix=f"lock {follows.joint!r}{untied}",
            )
        return np.atleast_1d(np.asarray(lock[joint.name], float)).tolist()
    if follows is None:
        return None
    if follows.joint in lock:
        given = np.atleast_1d(np.asarray(lock[follows.joint], float))
        return (follows.multiplier * given + follows.offset).tolist()
    return None if joints[follows.joint].motion.nq else [follows.offset]


def _locked(joint: JointDescription, position: list[float]) -> JointDescription:
    start, end = _ends(joint)
    own = Joint(joint.name, joint.motion, pitch=joint.pitch)
    moved = Pose.identity().then(Transform(*own.kind.transform(own, own.kind.normalised(position))))
    origin = joint.origin @ start @ _placement(moved) @ end.inverse()
    return joint.locked(origin)


def _ends(joint: JointDescription) -> tuple[Placement, Placement]:
    """Where the joint's own motion begins, and the body's frame where it ends, seen by the child at position zero."""
    start, end = joint.motion.frames(joint.axis, joint.second_axis)
    if not joint.motion.modes:  # others do not move at zero
        return Placement(start), Placement(end)
    own = Joint(joint.name, joint.motion, pitch=joint.pitch)
    along = np.array(list(Transform(*own.kind.transform(own, own.kind.neutral())).origin), float)
    return Placement(start, 0.0 - start @ along), Placement(end)


def _locked_inertias(description: Description, lock: Mapping[str, Any]) -> dict[str, LinkInertia | None]:
    """Of the links; of one whose modes are locked, as it is deformed then."""
    inertias = {link.name: link.inertia for link in description.links}
    for joint in description.joints:
        if joint.motion.modes and joint.name in lock:
            root = joint.origin @ _ends(joint)[0]
            added = joint.motion.added_inertia(np.atleast_1d(np.asarray(lock[joint.name], float)).tolist())
            own = (inertias[joint.parent] or LinkInertia(0.0)).placed(root.inverse())
            h, J = np.array(list(added.h), float), np.array([list(row) for row in added.J.rows], float)
            total = LinkInertia.about(own.mass, own.first_moment + h, own.about_origin + J)
            inertias[joint.parent] = total.placed(root)
    return inertias


def _placement(pose: Pose) -> Placement:
    return Placement(np.array([list(row) for row in pose.rotation.rows], float), np.array(list(pose.origin), float))


@dataclass
class _Node:
    """A body under construction, placed in its parent by ``chain``; ``links``: where its links' frames sit in it."""

    name: str
    parent: int
    joint: JointDescription | None
    chain: tuple[FixedScrew, ...] = ()
    links: dict[str, Placement] = field(default_factory=dict)
    children: list[int] = field(default_factory=list)


def _grow(description: Description, joints: Sequence[JointDescription], floating: bool) -> list[_Node]:
    """Bodies in depth-first file order; entry 0 is the ground."""
    outgoing, root = replace(description, joints=tuple(joints)).outgoing(), description.root
    tree = [_Node("ground", -1, None)]
    if floating:
        tree.append(_Node(root, 0, floating_joint((joint.name for joint in joints), root)))
        tree[0].children.append(1)
    stack: list[tuple[str, JointDescription | None, int, Placement]] = [(root, None, len(tree) - 1, Placement())]
    while stack:
        link, joint, body, placed = stack.pop()
        if joint is not None and joint.motion.nv:
            start, end = _ends(joint)
            tree.append(_Node(link, body, joint, screws(placed @ start)))
            tree[body].children.append(len(tree) - 1)
            body, placed = len(tree) - 1, end.inverse()
        tree[body].links[link] = placed
        for further in reversed(outgoing[link]):
            stack.append((further.child, further, body, placed @ further.origin))
    return tree


def _choose_frames(tree: list[_Node], inertias: Mapping[str, LinkInertia | None]) -> None:
    """Use each body's freedom about its own axis, leaves first so that moved screws are seen by the next body in."""
    descendants, near = [1] * len(tree), FAR * _reach(tree, inertias) or math.inf
    for i in reversed(range(1, len(tree))):
        descendants[tree[i].parent] += descendants[i]
    for node in reversed(tree):
        if node.joint is None or not node.joint.motion.axial:
            continue
        if node.children:  # x along the common normal to the axis of the largest branch
            main = max(node.children, key=lambda k: (descendants[k], -k))
            _shift(tree, node, _leading(tree[main].chain))
        else:  # nothing hangs on it: let its constant turn and shift vanish, but not where its frame would go far away
            last = _trailing(node.chain)
            _shift(tree, node, FixedScrew("z", -last.angle, -last.length if abs(last.length) <= near else 0.0))
            tilted = any(screw.axis == "x" and cos_sin(screw.angle)[1] for screw in node.chain)
            if tilted and any(node.joint.motion.turning):  # turning x towards the centre of mass saves 9 operations
                h = _inertia([(inertias[name], placement) for name, placement in node.links.items()]).h
                _shift(tree, node, FixedScrew("z", snapped(math.atan2(h.y, h.x))))


def _reach(tree: list[_Node], inertias: Mapping[str, LinkInertia | None]) -> float:
    """About the size of what moves, wherever it stands."""
    sizes = [abs(screw.length) for node in tree if node.parent > 0 for screw in node.chain]
    for node in tree[1:]:
        for name, placement in node.links.items():
            if (own := inertias[name]) is not None and own.mass:
                arm = placement.rotation @ own.center + placement.translation
                sizes.append(math.sqrt(arm @ arm + abs(np.trace(own.central)) / own.mass))
    return sum(sizes)


def _shift(tree: list[_Node], node: _Node, by: FixedScrew) -> None:
    """Move the frame of ``node`` by a screw about its own axis."""
    back = FixedScrew("z", -by.angle, -by.length)
    node.chain = joined(node.chain, (by,))
    for child in node.children:
        tree[child].chain = joined((back,), tree[child].chain)
    undo = placement_of((back,))
    node.links = {name: undo @ placement for name, placement in node.links.items()}


def _leading(chain: tuple[FixedScrew, ...]) -> FixedScrew:
    return chain[0] if chain and chain[0].axis == "z" else FixedScrew("z")


def _trailing(chain: tuple[FixedScrew, ...]) -> FixedScrew:
    return chain[-1] if chain and chain[-1].axis == "z" else FixedScrew("z")


def _finish(
    description: Description, tree: list[_Node], gravity: Vector, inertias: Mapping[str, LinkInertia | None]
) -> Model:
    bodies, frames = [], {}
    totals = []
    for i, node in enumerate(tree):
        totals.append(_inertia([(inertias[name], placement) for name, placement in node.links.items()]))
        frames |= {name: Frame(name, i, _pose(placement)) for name, placement in node.links.items()}
        if node.joint is not None:
            bodies.append(Body(node.name, node.parent, _joint(node.joint, node.chain), totals[-1]))
    where = {name: (i, placement) for i, node in enumerate(tree) for name, placement in node.links.items()}
    where[""] = 0, Placement()  # the ground

    def frame(name: str, link: str, placement: Placement) -> Frame:
        body, placed = where[link]
        return Frame(name, body, _pose(placed @ placement))

    for name, (link, placement) in description.frames.items():
        frames[name] = frame(name, link, placement)
    constraints = tuple(
        Constraint(
            each.name,
            each.kind,
            frame(each.name, *each.first),
            frames[each.second] if isinstance(each.second, str) else frame(each.name, *each.second),
        )
        for each in description.constraints
    )
    tips = {
        each.name: each.first for each in constraints if each.kind.closes_loop and each.name not in frames
    }  # of legs
    for name, _ in description.forces:
        if name not in frames:
            raise UnknownNameError("frame", name, frames, where=f"{description.name}: forces")
    forces = tuple((frames[name], law) for name, law in description.forces)
    commands_of(description.name, forces)  # or it says which two are called the same
    order = {link.name: None for link in description.links}
    model = Model(
        name=description.name,
        bodies=tuple(bodies),
        frames={name: frames[name] for name in (*order, *description.frames)} | tips,
        link_names=tuple(order),
        gravity=gravity,
        root=description.root,
        base_inertia=totals[0],
        summary=description.summary,
        sources=description.sources,
        constraints=constraints,
        forces=forces,
    )
    return replace(model, home=home_of(description.home, model)) if model.constrained or description.home else model


def home_of(positions: Mapping[str, Any], model: Model) -> tuple[float, ...]:
    """The user's q at positions of some joints, by name; the others are at zero."""
    home: list[float] = []
    for joint in model.coordinates.joints:
        given = positions.get(joint.name, joint.kind.neutral())
        home += joint.kind.normalised(np.atleast_1d(np.asarray(given, float)).tolist())
    return tuple(home)


def _joint(joint: JointDescription, chain: tuple[FixedScrew, ...]) -> Joint:
    last = _trailing(chain) if joint.motion.axial else FixedScrew("z")
    follows = joint.mimic
    return Joint(
        name=joint.name,
        kind=joint.motion,
        placement=chain[:-1] if joint.motion.axial and chain and chain[-1].axis == "z" else chain,
        angle=last.angle,
        length=last.length,
        pitch=joint.pitch,
        **joint.joint_values(),
        leader=follows and follows.joint,
        multiplier=follows.multiplier if follows else 1.0,
        offset=follows.offset if follows else 0.0,
    )


def _inertia(parts: Sequence[tuple[LinkInertia | None, Placement]]) -> Inertia:
    """Sum of link inertias, each placed in the body's frame."""
    mass, h, J = 0.0, np.zeros(3), np.zeros((3, 3))
    for inertia, placement in parts:
        if inertia is not None:
            placed = inertia.placed(placement)
            mass, h, J = mass + placed.mass, h + placed.first_moment, J + placed.about_origin
    h, J = _denoised(h), _denoised(J)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = J.tolist()
    return Inertia(float(mass), Vector(*h.tolist()), Symmetric(xx, xy, xz, yy, yz, zz))


def _denoised(array: np.ndarray) -> np.ndarray:
    """Entries that are rounding of larger ones become exact zeros."""
    return np.where(np.abs(array) <= INERTIA_NOISE * np.abs(array).max(), 0.0, array)


def _pose(placement: Placement) -> Pose:
    R = np.where(np.abs(placement.rotation) < INERTIA_NOISE, 0.0, placement.rotation)
    rows = (Vector(*row) for row in R.tolist())
    return Pose(Matrix(*rows), Vector(*placement.translation.tolist()))
