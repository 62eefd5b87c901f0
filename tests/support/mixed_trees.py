"""Random trees that mix every kind of joint, deep or branched, and where their entries stand in joint vectors.

A :class:`MixedRecipe` fixes a robot completely: ``mixed(MixedRecipe(seed=3, kinds=("spherical", "planar")))``. All
bodies have full inertias and centres of mass off their frames, all axes are skew unless ``coordinate``.

What is said here of a joint's numbers is the convention written down once more, and not asked of linkwork:

    revolute, continuous   angle                        v its rate
    prismatic              shift                        v its rate
    helical                angle; shift pitch * angle   v its rate; the pitch in metres per radian
    universal              first, second                v their rates; about axis, then about second_axis
    cylindrical            shift, turn                  v their rates
    planar                 x, y, angle                  v in the child's axes: vx, vy, rate of the angle
    spherical              quaternion x, y, z, w        v the angular velocity in the child's axes
    floating               x, y, z, quaternion          v in the child's axes: of its origin, then angular
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement
from support.evaluate import rotation_of
from support.random_robots import inertia, quarter_turns, random_rotation

SIZES = {  # of q and of v
    "revolute": (1, 1),
    "continuous": (1, 1),
    "prismatic": (1, 1),
    "helical": (1, 1),
    "universal": (2, 2),
    "cylindrical": (2, 2),
    "planar": (3, 3),
    "spherical": (4, 3),
    "floating": (7, 6),
}
KINDS = tuple(SIZES)
PARTS = {  # names of the entries of q and of v; others have one, called as the joint is
    "universal": ("first second", "first second"),
    "cylindrical": ("shift turn", "shift turn"),
    "planar": ("x y angle", "x y rz"),
    "spherical": ("qx qy qz qw", "rx ry rz"),
    "floating": ("x y z qx qy qz qw", "x y z rx ry rz"),
}
ANGLES = {
    "revolute": (0,),
    "continuous": (0,),
    "helical": (0,),
    "universal": (0, 1),
    "cylindrical": (1,),
    "planar": (2,),
}


@dataclass(frozen=True)
class MixedRecipe:
    """The joints have the ``kinds`` in this order, each carried by one of the last ``reach`` bodies (by the last one
    if 1: a serial chain; the base counts as a body). ``fixed``: fixed links at the root, between the joints and at the
    tips, some without mass. ``coordinate``: axes and placements along coordinate axes. ``rotors``: rotor inertia in
    every joint but those of floating bodies. ``extras``: friction too, and limits of the joints with one freedom."""

    seed: int = 0
    kinds: tuple[str, ...] = KINDS
    reach: int = 1
    floating: bool = False
    fixed: bool = False
    coordinate: bool = False
    rotors: bool = False
    extras: bool = False


def mixed_recipes(*, joints: int = 5, **given) -> st.SearchStrategy[MixedRecipe]:
    """Recipes with up to ``joints`` joints of any kinds; ``given`` fixes fields."""
    fields = {
        "seed": st.integers(0, 1000),
        "kinds": st.lists(st.sampled_from(KINDS), min_size=1, max_size=joints).map(tuple),
        "reach": st.integers(1, joints),
        **{name: st.booleans() for name in ("floating", "fixed", "coordinate", "rotors", "extras")},
    }
    return st.builds(MixedRecipe, **(fields | {name: st.just(value) for name, value in given.items()}))


def shuffled(seed: int, times: int = 1) -> tuple[str, ...]:
    """Every kind so many times, in random order."""
    return tuple(np.random.default_rng(seed).permutation(np.repeat(KINDS, times)).tolist())


def mixed(recipe: MixedRecipe) -> Description:
    """The robot of a recipe: links base, link1, ...; joints joint1, ... in the order of ``kinds``."""
    rng = np.random.default_rng(recipe.seed)
    links, joints = [Link("base", inertia(rng))], []

    def attach(name: str, link: str, kind: str, parent: str, own: LinkInertia | None, **more) -> None:
        turn = quarter_turns(rng) if recipe.coordinate else random_rotation(rng)
        first, second = directions(rng, recipe.coordinate)
        axes = {"axis": first}
        if kind == "universal":
            axes["second_axis"] = second
        links.append(Link(link, own))
        origin = Placement(turn, rng.uniform(-0.5, 0.5, 3))
        joints.append(JointDescription(name, kind, parent, link, origin, **axes, **more))

    carriers = ["base"]
    if recipe.fixed:
        attach("mounting", "mount", "fixed", "base", inertia(rng))
        carriers = ["mount"]
    for k, kind in enumerate(recipe.kinds, 1):
        latest = carriers[-recipe.reach :]
        attach(
            f"joint{k}",
            f"link{k}",
            kind,
            latest[rng.integers(len(latest))],
            inertia(rng),
            **own_values(recipe, kind, rng),
        )
        carriers.append(f"link{k}")
        if recipe.fixed:
            attach(f"fixing{k}", f"bracket{k}", "fixed", f"link{k}", inertia(rng) if rng.random() < 0.5 else None)
            carriers[-1] = str(rng.choice([f"link{k}", f"bracket{k}"]))
    tool = links[-1].name, Placement(random_rotation(rng), rng.uniform(-0.5, 0.5, 3))
    gravity = tuple(rng.uniform(-10, 10, 3).tolist())
    return Description(
        "mixed", tuple(links), tuple(joints), gravity=gravity, floating=recipe.floating, frames={"tool": tool}
    )


def own_values(recipe: MixedRecipe, kind: str, rng: np.random.Generator) -> dict[str, float]:
    """What the joint has of its own, drawn alike for every recipe."""
    pitch, rotor, coulomb, viscous, lower, upper = rng.uniform(0.1, 2, 6).tolist()
    values = {"pitch": float(rng.choice([-1, 1])) * 0.2 * pitch} if kind == "helical" else {}
    if (recipe.rotors or recipe.extras) and kind != "floating":
        values["rotor_inertia"] = 0.2 * rotor
    if recipe.extras:
        values |= {"coulomb": coulomb, "viscous": viscous}
    if recipe.extras and kind in ("revolute", "prismatic"):
        values |= {"lower": -lower, "upper": upper}
    return values


def turned_off(joints: Sequence[JointDescription], seed: int) -> tuple[JointDescription, ...]:
    """The same joints; about half of them have no motor."""
    rng = np.random.default_rng(seed + 7907)
    roles = ["active" if joint.kind == "fixed" or rng.random() < 0.5 else "passive" for joint in joints]
    return tuple(replace(joint, role=role) for joint, role in zip(joints, roles))


def directions(rng: np.random.Generator, coordinate: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two perpendicular vectors of any length."""
    if coordinate:
        columns = quarter_turns(rng)
        return columns[:, 0], columns[:, 1]
    columns = random_rotation(rng)
    return columns[:, 0] * rng.uniform(0.5, 2), columns[:, 1] * rng.uniform(0.5, 2)


# Of each kind one with that joint at the root, in the middle and at the tip.
TREES = {kind: MixedRecipe(k, (kind, "revolute", kind, "prismatic", kind)) for k, kind in enumerate(KINDS)} | {
    "deep": MixedRecipe(21, shuffled(21), rotors=True),
    "deeper": MixedRecipe(22, shuffled(22, 2), fixed=True),
    "branched": MixedRecipe(23, shuffled(23, 2), reach=4, fixed=True, rotors=True),
    "bushy": MixedRecipe(24, shuffled(24), reach=20),
    "coordinate axes": MixedRecipe(25, shuffled(25), reach=2, coordinate=True, fixed=True),
    "floating base": MixedRecipe(26, shuffled(26), reach=3, floating=True, fixed=True, rotors=True),
    "floating bodies": MixedRecipe(
        27, ("floating",) * 2 + ("spherical", "floating", "universal"), reach=3, floating=True
    ),
    "ball on a floating base": MixedRecipe(28, ("spherical",), floating=True),
    "robot and objects": MixedRecipe(
        29, ("revolute", "universal", "floating", "floating", "planar"), reach=20, fixed=True
    ),
}


def depth_first(description: Description) -> Iterator[JointDescription]:
    """The joints, each before those that its child carries, in the order of the description."""
    outgoing = description.outgoing()
    waiting = outgoing[description.root][::-1]
    while waiting:
        joint = waiting.pop()
        yield joint
        waiting += outgoing[joint.child][::-1]


class Places:
    """Where the numbers of each joint stand: ``q[joint]`` and ``v[joint]`` are slices, ``kinds[joint]`` names.

    ``order``: the joints as the vectors have them, "base" for a floating base; else depth first.
    """

    def __init__(self, description: Description, order: Iterable[str] = ()):
        kinds = {"base": "floating"} if description.floating else {}
        kinds |= {joint.name: joint.kind for joint in depth_first(description) if joint.kind != "fixed"}
        self.order = tuple(order) or tuple(kinds)
        self.kinds = {name: kinds[name] for name in self.order}
        self.q, self.v, self.nq, self.nv = {}, {}, 0, 0
        for name in self.order:
            nq, nv = SIZES[self.kinds[name]]
            self.q[name], self.v[name] = slice(self.nq, self.nq + nq), slice(self.nv, self.nv + nv)
            self.nq, self.nv = self.nq + nq, self.nv + nv

    def per_freedom(self, values: dict[str, float]) -> np.ndarray:
        """A vector like v with the joint's value at each of its freedoms."""
        result = np.zeros(self.nv)
        for name, value in values.items():
            if name in self.v:
                result[self.v[name]] = value
        return result

    def state(self, seed: int = 0, unit: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Random q, v, a. Quaternions are not of unit length unless asked: any length means the same rotation."""
        rng = np.random.default_rng(seed + 104729)
        q = rng.uniform(-3, 3, self.nq)
        for name in self.quaternions:
            length = 1.0 if unit else rng.uniform(0.5, 2)
            q[self.quaternion(name)] *= length / np.linalg.norm(q[self.quaternion(name)])
        return q, rng.uniform(-2, 2, self.nv), rng.uniform(-5, 5, self.nv)

    @property
    def quaternions(self) -> list[str]:
        """The joints that have one."""
        return [name for name in self.order if self.kinds[name] in ("spherical", "floating")]

    def quaternion(self, name: str) -> slice:
        return slice(self.q[name].stop - 4, self.q[name].stop)

    def normalised(self, q: np.ndarray) -> np.ndarray:
        q = np.array(q, float)
        for name in self.quaternions:
            q[self.quaternion(name)] /= np.linalg.norm(q[self.quaternion(name)])
        return q

    def same(self, q: np.ndarray, as_q: np.ndarray) -> np.ndarray:
        """``q`` written as near to ``as_q`` as can be: quaternions of the other sign, angles but for whole turns."""
        q = self.normalised(q)
        for name in self.quaternions:
            at = self.quaternion(name)
            q[at] *= np.sign(q[at] @ as_q[at]) or 1.0
        for name, kind in self.kinds.items():
            for k in ANGLES.get(kind, ()):
                at = self.q[name].start + k
                q[at] += 2 * np.pi * np.round((as_q[at] - q[at]) / (2 * np.pi))
        return q

    def rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """dq/dt; a quaternion of any length keeps it."""
        rate = np.zeros(self.nq)
        for name, kind in self.kinds.items():
            own, u = q[self.q[name]], v[self.v[name]]
            match kind:
                case "planar":
                    c, s = np.cos(own[2]), np.sin(own[2])
                    rate[self.q[name]] = [c * u[0] - s * u[1], s * u[0] + c * u[1], u[2]]
                case "spherical" | "floating":
                    shift = rotation_of(own[-4:]) @ u[:3] if kind == "floating" else []
                    rate[self.q[name]] = [*shift, *turning(own[-4:], u[-3:])]
                case _:
                    rate[self.q[name]] = u
        return rate


def turning(quaternion: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Rate of a quaternion x, y, z, w at angular velocity ``w`` in the axes it leads to: half its product with w."""
    u, scalar = quaternion[:3], quaternion[3]
    return np.array([*(scalar * w + np.cross(u, w)), -u @ w]) / 2


def joint_order(names: Sequence[str]) -> list[str]:
    """The joints in the order of their entries, from names such as "joint1", "joint2.x", "joint2.y"."""
    return list(dict.fromkeys(name.partition(".")[0] for name in names))
