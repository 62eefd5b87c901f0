"""Build a Model from a Description: apply options, merge fixed joints, choose frames with z along the joint axis.

A body's frame can be rotated about its joint axis and moved along it without changing the dynamics. Here x is put along
the common normal to the next axis (modified Denavit-Hartenberg), which makes most constants of the transforms zero. The
user's frames are kept as named frames.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from ..errors import ModelError, UnknownNameError
from ..spatial import Inertia, Pose, Symmetric, Transform, Vector
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
from .geometry import Geometry, Seat, pose_of
from .model import Body, Constraint, FixedScrew, Frame, Joint, Model
from .placement import FAR, joined, placement_of, screws, snapped
from .places import check_places
from .rotations import cos_sin
from .structure_checks import is_position
from .validate import check, raise_errors

VECTOR = "an acceleration vector (x, y, z) in m/s^2"
SWITCHES = {  # where to give values instead
    "friction": "give other values in the file (Fs, Fv; <dynamics>), or by rollout(vary={'coulomb': ...})",
    "rotors": "give other values in the file (Ia; rotorInertia in a <transmission>)",
    "mimic": "give mimic joints in the file (mimic; <mimic>)",
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
    """Return the Model of a description. ``base``: "fixed" or "floating"; default: that of the file. Loops stay open:
    ``linkwork.constraints.closed`` closes them."""
    findings = check(description)
    raise_errors(findings)
    for name, value in (("friction", friction), ("rotors", rotors), ("mimic", mimic)):
        if not isinstance(value, (bool, np.bool_)):
            where, expected = f"load({name}=...)", "True (as in the file) or False"
            raise ModelError("not a switch", where=where, got=repr(value), expected=expected, fix=SWITCHES[name])
    joints = _with_options(description, friction, rotors, mimic, {} if lock is None else lock)
    description = replace(description, constraints=tuple(_unlocked_constraints(description, joints, lock or {})))
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
    model = replace(model, geometry=_geometry(description, joints, tree, inertias))
    check_places(model)
    transmissions = _transmissions(description, joints, friction, rotors, lock or {})
    warned = tuple(finding for finding in findings if finding.at_load)
    return replace(model, transmissions=transmissions, findings=warned)


def _with_options(
    description: Description, friction: bool, rotors: bool, mimic: bool, lock: Mapping[str, Any]
) -> list[JointDescription]:
    joints = {joint.name: joint for joint in description.joints}
    if not isinstance(lock, Mapping):
        raise ModelError("locked joints are given with their positions", got=repr(lock), expected="{joint: position}")
    for name, position in lock.items():
        if name not in joints:
            raise UnknownNameError("joint", name, joints, where=description.name)
        size = joints[name].motion.nq
        if not size:
            raise ModelError(f"joint {name!r} is fixed already", where=description.name, fix="leave it out of lock")
        where = f"lock of joint {name!r}"
        parts = f"{size} numbers: {', '.join(joints[name].motion.position_parts)}"
        expected = "a position in rad or m" if size == 1 else parts
        numbers = _finite([position] if size == 1 else position, description.name, where, expected)
        if len(numbers) != size:
            message = f"{where} has the wrong number of entries"
            raise ModelError(message, where=description.name, got=numbers, expected=parts)
        if not is_position(joints[name].motion, numbers):
            message, expected = f"{where} is not a position", "a quaternion x, y, z, w of length one at its end"
            raise ModelError(message, where=description.name, got=numbers, expected=expected)
    result = []
    for joint in description.joints:
        if not friction:
            joint = joint.without_friction()
        if not rotors:
            joint = joint.without_rotor()
        follows = mimic or joint.motion.tied
        joint = replace(joint, mimic=_leader(joint, joints) if follows else None)
        position = _locked_position(joint, joints, lock)
        result.append(joint if position is None else _locked(joint, position))
    return result


def _unlocked_constraints(
    description: Description, joints: Sequence[JointDescription], lock: Mapping[str, Any]
) -> Iterator[ConstraintDescription]:
    """The constraints between joints that are not locked."""
    by_name = {joint.name: joint for joint in description.joints}
    moving = {part for joint in joints for part in joint.freedoms}
    for each in description.constraints:
        locked = {name: _position_of(name, by_name, lock) for name in each.kind.coordinates if name not in moving}
        if kind := each.kind.locked(locked):
            yield replace(each, kind=kind)


def _position_of(entry: str, joints: Mapping[str, JointDescription], lock: Mapping[str, Any]) -> float:
    """Return the position at which a coordinate is locked."""
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
    """The transmissions of the joints that are not locked."""
    by_name = {joint.name: joint for joint in description.joints}
    moving = {joint.name for joint in joints if joint.motion.nv}
    result = []
    for each in description.transmissions:
        motors = [motor if friction else motor.without_friction() for motor in each.motors]
        motors = [motor if rotors else motor.without_rotor() for motor in motors]
        each = replace(each, motors=tuple(motors))
        result.append(each.among(moving, lambda name: _position_of(name, by_name, lock)))
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
    """Return what a joint follows, with chains of mimic joints multiplied out (``check`` refuses cycles)."""
    mimic = joint.mimic
    while mimic is not None and (next_one := joints[mimic.joint].mimic) is not None:
        offset = mimic.multiplier * next_one.offset + mimic.offset
        mimic = Mimic(next_one.joint, mimic.multiplier * next_one.multiplier, offset)
    return mimic


def _locked_position(
    joint: JointDescription, joints: Mapping[str, JointDescription], lock: Mapping[str, Any]
) -> list[float] | None:
    if not joint.motion.nq:
        return None
    follows = joint.mimic
    if joint.name in lock:
        if follows is not None:
            or_untie = "" if joint.motion.tied else ", or load with mimic=False"
            message = f"joint {joint.name!r} follows {follows.joint!r} and cannot be locked by itself"
            raise ModelError(message, fix=f"lock {follows.joint!r}{or_untie}")
        return np.atleast_1d(np.asarray(lock[joint.name], float)).tolist()
    if follows is None:
        return None
    if follows.joint in lock:
        leader = np.atleast_1d(np.asarray(lock[follows.joint], float))
        return (follows.multiplier * leader + follows.offset).tolist()
    return None if joints[follows.joint].motion.nq else [follows.offset]


def _locked(joint: JointDescription, position: list[float]) -> JointDescription:
    start, end = _ends(joint)
    bare, kind = Joint(joint.name, joint.motion, pitch=joint.pitch), joint.motion
    moved = Pose.identity().then(Transform(*kind.transform(bare, kind.normalised(position))))
    origin = joint.origin @ start @ Placement.of(moved) @ end.inverse()
    return joint.locked(origin)


def _ends(joint: JointDescription) -> tuple[Placement, Placement]:
    """Return the frame where the motion begins and the body's frame, in the child's frame at position zero."""
    start, end = joint.motion.frames(joint.axis, joint.second_axis)
    if not joint.motion.modes:  # only these have a translation at zero
        return Placement(start), Placement(end)
    bare, kind = Joint(joint.name, joint.motion, pitch=joint.pitch), joint.motion
    along = np.array(list(Transform(*kind.transform(bare, kind.neutral())).origin), float)
    return Placement(start, 0.0 - start @ along), Placement(end)


def _locked_inertias(description: Description, lock: Mapping[str, Any]) -> dict[str, LinkInertia | None]:
    """Return the inertias of the links; those with locked modes as they are deformed then."""
    inertias = {link.name: link.inertia for link in description.links}
    for joint in description.joints:
        if joint.motion.modes and joint.name in lock:
            root = joint.origin @ _ends(joint)[0]
            added = joint.motion.added_inertia(np.atleast_1d(np.asarray(lock[joint.name], float)).tolist())
            straight = (inertias[joint.parent] or LinkInertia(0.0)).placed(root.inverse())
            h, J = np.array(list(added.h), float), np.array([list(row) for row in added.J.rows], float)
            total = LinkInertia.about(straight.mass, straight.first_moment + h, straight.about_origin + J)
            inertias[joint.parent] = total.placed(root)
    return inertias


@dataclass
class _Node:
    """A body under construction, placed in its parent by ``chain``; ``links``: placements of its links' frames."""

    name: str
    parent: int
    joint: JointDescription | None
    chain: tuple[FixedScrew, ...] = ()
    links: dict[str, Placement] = field(default_factory=dict)
    children: list[int] = field(default_factory=list)


def _grow(description: Description, joints: Sequence[JointDescription], floating: bool) -> list[_Node]:
    """Return the bodies in depth-first order of the file; entry 0 is the ground."""
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
        for child in reversed(outgoing[link]):
            stack.append((child.child, child, body, placed @ child.origin))
    return tree


def _choose_frames(tree: list[_Node], inertias: Mapping[str, LinkInertia | None]) -> None:
    """Choose each body's frame along its axis, from the leaves inward, so that a parent sees the moved screws."""
    descendants, near = [1] * len(tree), FAR * _reach(tree, inertias) or math.inf
    for i in reversed(range(1, len(tree))):
        descendants[tree[i].parent] += descendants[i]
    for node in reversed(tree):
        if node.joint is None or not node.joint.motion.axial:
            continue
        if node.children:  # x along the common normal to the axis of the largest branch
            main = max(node.children, key=lambda k: (descendants[k], -k))
            _shift(tree, node, _first(tree[main].chain))
        else:  # a leaf: make its constant rotation and translation zero unless its frame would move far away
            last = _last(node.chain)
            _shift(tree, node, FixedScrew("z", -last.angle, -last.length if abs(last.length) <= near else 0.0))
            tilted = any(screw.axis == "x" and cos_sin(screw.angle)[1] for screw in node.chain)
            if tilted and any(node.joint.motion.turning):  # x towards the centre of mass saves 9 operations
                h = _inertia([(inertias[name], placement) for name, placement in node.links.items()]).h
                _shift(tree, node, FixedScrew("z", snapped(math.atan2(h.y, h.x))))


def _reach(tree: list[_Node], inertias: Mapping[str, LinkInertia | None]) -> float:
    """Return the approximate size of the moving part, wherever it stands."""
    sizes = [abs(screw.length) for node in tree if node.parent > 0 for screw in node.chain]
    for node in tree[1:]:
        for name, placement in node.links.items():
            if (inertia := inertias[name]) is not None and inertia.mass:
                arm = placement.rotation @ inertia.center + placement.translation
                sizes.append(math.sqrt(arm @ arm + abs(np.trace(inertia.central)) / inertia.mass))
    return sum(sizes)


def _shift(tree: list[_Node], node: _Node, by: FixedScrew) -> None:
    """Move the frame of ``node`` by a screw about its axis."""
    back = FixedScrew("z", -by.angle, -by.length)
    node.chain = joined(node.chain, (by,))
    for child in node.children:
        tree[child].chain = joined((back,), tree[child].chain)
    undo = placement_of((back,))
    node.links = {name: undo @ placement for name, placement in node.links.items()}


def _first(chain: tuple[FixedScrew, ...]) -> FixedScrew:
    """Return the first screw if it is about z, else a neutral one."""
    return chain[0] if chain and chain[0].axis == "z" else FixedScrew("z")


def _last(chain: tuple[FixedScrew, ...]) -> FixedScrew:
    """Return the last screw if it is about z, else a neutral one."""
    return chain[-1] if chain and chain[-1].axis == "z" else FixedScrew("z")


def _finish(
    description: Description, tree: list[_Node], gravity: Vector, inertias: Mapping[str, LinkInertia | None]
) -> Model:
    bodies, frames, totals = [], {}, []
    for i, node in enumerate(tree):
        totals.append(_inertia([(inertias[name], placement) for name, placement in node.links.items()]))
        frames |= {name: Frame(name, i, pose_of(placement)) for name, placement in node.links.items()}
        if node.joint is not None:
            bodies.append(Body(node.name, node.parent, _joint(node.joint, node.chain), totals[-1]))
    where = {name: (i, placement) for i, node in enumerate(tree) for name, placement in node.links.items()}
    where[""] = 0, Placement()  # the ground

    def frame(name: str, link: str, placement: Placement) -> Frame:
        body, placed = where[link]
        return Frame(name, body, pose_of(placed @ placement))

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
    loops = (each for each in constraints if each.kind.closes_loop)
    tips = {each.name: each.first for each in loops if each.name not in frames}  # of legs
    for name, _ in description.forces:
        if name not in frames:
            raise UnknownNameError("frame", name, frames, where=f"{description.name}: forces")
    forces = tuple((frames[name], law) for name, law in description.forces)
    commands_of(description.name, forces)  # raises an error if two commands have the same name
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


def _geometry(
    description: Description,
    joints: Sequence[JointDescription],
    tree: Sequence[_Node],
    inertias: Mapping[str, LinkInertia | None],
) -> Geometry:
    """Return the placements of the file, parents before children."""
    bodies = {node.joint.name: node for node in tree if node.joint is not None}
    outgoing, links, seats = replace(description, joints=tuple(joints)).outgoing(), [description.root], []
    for link in links:
        for joint in outgoing[link]:
            seats.append(_seat(joint, bodies.get(joint.name)))
            links.append(joint.child)
    sides = {
        (each.name, key): side
        for each in description.constraints
        if not (each.kind.coordinates or each.kind.second.named)
        for key, side in each.sides.items()
    }
    return Geometry(description.root, tuple(seats), description.frames, sides, inertias)


def _seat(joint: JointDescription, node: _Node | None) -> Seat:
    movable = not joint.motion.modes
    if node is None:
        return Seat(joint.name, joint.parent, joint.child, joint.origin, movable=movable)
    start, end = _ends(joint)
    begin = start @ (node.links[joint.child] @ end).inverse()
    return Seat(joint.name, joint.parent, joint.child, joint.origin, node.name, begin, movable)


def home_of(positions: Mapping[str, Any], model: Model) -> tuple[float, ...]:
    """Return the user's q from positions of some joints, by name; the others are at zero."""
    home: list[float] = []
    for joint in model.coordinates.joints:
        position = positions.get(joint.name, joint.kind.neutral())
        home += joint.kind.normalised(np.atleast_1d(np.asarray(position, float)).tolist())
    return tuple(home)


def _joint(joint: JointDescription, chain: tuple[FixedScrew, ...]) -> Joint:
    last = _last(chain) if joint.motion.axial else FixedScrew("z")
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
    """Return the sum of link inertias, each placed in the body's frame."""
    mass, h, J = 0.0, np.zeros(3), np.zeros((3, 3))
    for inertia, placement in parts:
        if inertia is not None:
            placed = inertia.placed(placement)
            mass, h, J = mass + placed.mass, h + placed.first_moment, J + placed.about_origin
    h, J = _denoised(h), _denoised(J)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = J.tolist()
    return Inertia(float(mass), Vector(*h.tolist()), Symmetric(xx, xy, xz, yy, yz, zz))


def _denoised(array: np.ndarray) -> np.ndarray:
    """Return the array with rounding errors of the largest entry set to zero."""
    return np.where(np.abs(array) <= INERTIA_NOISE * np.abs(array).max(), 0.0, array)
