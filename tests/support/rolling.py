"""Random mechanisms that roll, slide and are geared, and how they would slip by Pinocchio's tree: directions by cross
products of what frames do, rates by differences of high order. Only the Description is shared with linkwork."""

from dataclasses import replace

import numpy as np

from linkwork.model import ConstraintDescription, ConstraintKind, Description, Gear, Placement
from support.kkt import Reference
from support.mixed_trees import MixedRecipe, Places, mixed
from support.pinocchio_tree import PinocchioTree
from support.random_robots import random_rotation

ROWS = {
    "wheel": ("normal", "along", "across"),
    "omni": ("normal", "along"),
    "mecanum": ("normal", "roller"),
    "blade": ("normal", "across"),
    "glide": ("normal",),
}
STENCIL = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # a first derivative to the eighth order
H = 5e-3


def rate(function, h=H):
    """d/dt at t = 0."""
    return sum(c * (function(k * h) - function(-k * h)) for k, c in STENCIL.items()) / h


class Rolling(Reference):
    """The reference of ``kkt`` for contacts and gears."""

    def heights(self, q):
        """Residuals of what holds positions, None for the others."""
        found = []
        for loop in self.description.constraints:
            if loop.kind.coordinates:
                at, places = self.positions(q), self.tree.places
                found.append(sum(r * at[places.q[name]].item() for name, r in loop.kind.ratios) - loop.kind.offset)
                continue
            A, B = (self.tree.pose(self.positions(q), loop.name + side) for side in (".first", ".second"))
            n, a = A[:3, 2], B[:3, 2]
            height = n @ (B - A)[:3, 3] - loop.kind.radius * np.linalg.norm(np.cross(n, a))
            found += [height, *[None] * (len(ROWS[loop.kind.name]) - 1)]
        return found

    def slips(self, q, v):
        """J v, row by row."""
        found = []
        for loop in self.description.constraints:
            if loop.kind.coordinates:
                found.append(sum(r * (self.E @ v)[self.tree.places.v[name]].item() for name, r in loop.kind.ratios))
                continue
            (A, _, VA, _), (B, _, VB, _) = (self.frame(loop.name + side, q, v, 0 * v) for side in (".first", ".second"))
            n, a = A[:3, 2], B[:3, 2]
            along = np.cross(a, n) / np.linalg.norm(np.cross(a, n))
            touch = B[:3, 3] - loop.kind.radius * (n - (n @ a) * a) / np.linalg.norm(n - (n @ a) * a)
            u = VB[:3] + np.cross(VB[3:], touch - B[:3, 3]) - VA[:3] - np.cross(VA[3:], touch - A[:3, 3])
            directions = {"normal": n, "along": along, "across": np.cross(n, along)}
            if loop.kind.name == "mecanum":  # the axle, turned by the angle about the normal towards where it rolls
                g = loop.kind.roller_angle
                directions["roller"] = np.cos(g) * directions["across"] - np.sin(g) * np.cross(n, directions["across"])
            found += [directions[row] @ u for row in ROWS[loop.kind.name]]
        return np.array(found)

    def rows(self, q, v):
        units = np.eye(self.E.shape[1])
        jacobian = np.array([self.slips(q, unit) for unit in units]).T
        drift = rate(lambda t: self.slips(self.moved(q, t * v), v))
        values = np.array([0.0 if x is None else x for x in self.heights(q)])
        return values, jacobian, drift


def rolling_mechanism(
    seed: int, kinds: tuple[str, ...], contacts: tuple[str, ...], geared: bool = False
) -> Description:
    """Joints of these kinds on a base that floats, with full inertias and skew axes; contacts of random leaning frames
    between random links, or with the ground. It stands at its home."""
    rng = np.random.default_rng(seed)
    tree = mixed(MixedRecipe(seed, kinds, reach=2, rotors=True, floating=True))
    tree = replace(tree, gravity=(0.5, -1.0, -9.0))
    places = Places(tree)
    q = places.state(seed, unit=True)[0]
    q[places.q["base"]] = [0, 0, 0, 0, 0, 0, 1.0]  # where a floating base is at home
    poses = {link.name: PinocchioTree(tree).pose(q, link.name) for link in tree.links}
    links = list(poses)
    loops = []
    for k, kind in enumerate(contacts):
        carrier, other = rng.permutation(len(links))[:2]
        round_one = kind in ("wheel", "omni", "mecanum")
        radius = rng.uniform(0.1, 0.4) if round_one else 0.0
        made = ConstraintKind.known[kind](**{"radius": radius} if round_one else {})
        wheel = Placement(random_rotation(rng), rng.uniform(-0.3, 0.3, 3))
        at = Placement(poses[links[carrier]][:3, :3], poses[links[carrier]][:3, 3]) @ wheel
        turn, lean = at.rotation, 0.0
        while lean < 0.6:  # differences need more digits the flatter it lies
            turn = random_rotation(rng)
            lean = np.linalg.norm(np.cross(turn[:, 2], at.rotation[:, 2]))
        plane = Placement(turn, at.translation - radius * lean * turn[:, 2] + turn[:, :2] @ rng.uniform(-0.3, 0.3, 2))
        base = links[other] if k % 2 else ""
        if base:
            own = Placement(poses[base][:3, :3], poses[base][:3, 3])
            plane = own.inverse() @ plane
        loops.append(ConstraintDescription(f"contact{k}", made, (base, plane), (links[carrier], wheel)))
    if geared:
        names = [joint.name for joint in tree.joints if joint.kind in ("revolute", "prismatic", "helical")][:3]
        ratios = dict(zip(names, rng.uniform(0.5, 2, 3).tolist(), strict=True))
        offset = sum(ratio * q[places.q[name]].item() for name, ratio in ratios.items())
        ends = [next(joint.child for joint in tree.joints if joint.name == name) for name in (names[0], names[-1])]
        first, second = ((end, Placement()) for end in ends)
        loops.append(ConstraintDescription("gear", Gear(tuple(ratios.items()), offset), first, second))
    home = {name: tuple(x) if len(x := q[at].tolist()) > 1 else x[0] for name, at in places.q.items() if name != "base"}
    joints = tuple(
        replace(joint, role="active" if k % 2 or joint.kind == "floating" else "passive")
        for k, joint in enumerate(tree.joints)
    )
    return replace(tree, joints=joints, constraints=tuple(loops), home=home, redundant=True)
