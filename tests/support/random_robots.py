"""Random test robots: trees of every joint kind, with the geometric coincidences that trip dynamics code.

A :class:`Recipe` fixes a robot completely, so the recipe that hypothesis prints is all that is needed to see a failure
again: ``describe(Recipe(seed=3, joints=2))``.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from hypothesis import strategies as st

from linkwork.formulations import sizes
from linkwork.model import Description, JointDescription, Link, LinkInertia, Mimic, Placement

# How a joint's axis lies to the axis before it (at position zero; the first one to the base's z axis).
RELATIONS = ("skew", "coordinate", "parallel", "antiparallel", "coaxial", "right angle", "1e-3", "1e-6", "1e-9")


@dataclass(frozen=True)
class Recipe:
    """``relations``: the joints take them in turn. ``fixed``: fixed joints at the root, between joints and at the tips.
    ``extras``: friction, rotor inertia and springs in the joints. ``light``: the last moving link has no mass, only its
    rotor has inertia."""

    seed: int = 0
    joints: int = 1
    relations: tuple[str, ...] = ("skew",)
    kinds: tuple[str, ...] = ("revolute", "continuous", "prismatic")
    branches: bool = False
    fixed: bool = False
    floating: bool = False
    mimic: bool = False
    extras: bool = False
    light: bool = False


def recipes(*, joints: int = 6, **given) -> st.SearchStrategy[Recipe]:
    """Recipes with up to ``joints`` moving joints; ``given`` fixes fields."""
    fields = {
        "seed": st.integers(0, 1000),
        "joints": st.integers(1, joints),
        "relations": st.lists(st.sampled_from(RELATIONS), min_size=1, max_size=3).map(tuple),
        **{name: st.booleans() for name in ("branches", "fixed", "floating", "mimic", "extras", "light")},
    }
    return st.builds(Recipe, **(fields | {name: st.just(value) for name, value in given.items()}))


def _patterns() -> list[str]:
    """Every sequence of revolute and prismatic joints up to four, others up to eight."""
    rng = np.random.default_rng(0)
    short = ["".join(kinds) for n in range(1, 5) for kinds in product("RP", repeat=n)]
    drawn = ["".join(rng.choice(["R", "P"], n)) for n in (5, 6, 7, 8) for _ in range(4)]
    chosen = ["RPRPR", "PPRRR", "RRPRRR", "PPPPPR", "RRRRRR", "PRPRPRP", "RRRRRRRR", "PPPPPPPP"]
    return list(dict.fromkeys(short + drawn + chosen))


PATTERNS = _patterns()


def serial(pattern: str, seed: int = 0, relations: tuple[str, ...] = ("skew",), **more) -> Description:
    """A random robot with revolute (R) and prismatic (P) joints as the pattern says."""
    described = describe(Recipe(seed=seed, joints=len(pattern), relations=relations, **more))
    kinds = {f"to_link{k}": {"R": "revolute", "P": "prismatic"}[kind] for k, kind in enumerate(pattern, 1)}
    joints = tuple(replace(joint, kind=kinds.get(joint.name, joint.kind)) for joint in described.joints)
    return replace(described, joints=joints)


def describe(recipe: Recipe) -> Description:
    """The robot of a recipe."""
    rng = np.random.default_rng(recipe.seed)
    links, joints = [Link("base", inertia(rng))], []
    placed = {"base": Placement()}  # in the base, at position zero
    axes = {"base": np.array([0.0, 0.0, 1.0])}  # direction of the last moving axis before each link

    def attach(name: str, kind: str, parent: str, relation: str, own: LinkInertia | None, **more) -> None:
        before = axes[parent]
        rotation, direction = random_rotation(rng), turned(before, relation, rng)
        if relation in ("coordinate", "right angle"):
            rotation = quarter_turns(rng)
        shift = rng.uniform(-0.5, 0.5) * before if relation == "coaxial" else rng.uniform(-0.5, 0.5, 3)
        outer = Placement(rotation, placed[parent].translation + shift)
        axis = rotation.T @ direction * rng.uniform(0.5, 2)
        if relation == "coordinate":
            axis = rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)]
        origin = placed[parent].inverse() @ outer
        links.append(Link(name, own))
        joints.append(JointDescription(f"to_{name}", kind, parent, name, origin, axis, **more))
        placed[name], axes[name] = outer, before if kind == "fixed" else rotation @ axis / np.linalg.norm(axis)

    movers = ["base"]
    if recipe.fixed:
        attach("mount", "fixed", "base", "skew", inertia(rng))
        movers = ["mount"]
    for k in range(1, recipe.joints + 1):
        parent = movers[rng.integers(len(movers))] if recipe.branches else movers[-1]
        own = None if recipe.light and k == recipe.joints else inertia(rng)
        terms = random_terms(rng) if recipe.extras else {}
        if own is None:
            terms["rotor_inertia"] = 0.5
        if recipe.mimic and k > 1 and rng.random() < 0.5:  # may follow a follower
            terms["mimic"] = Mimic(f"to_link{rng.integers(1, k)}", rng.uniform(-2, 2), rng.uniform(-1, 1))
        relation = recipe.relations[(k - 1) % len(recipe.relations)]
        attach(f"link{k}", str(rng.choice(recipe.kinds)), parent, relation, own, **terms)
        movers.append(f"link{k}")
        if recipe.fixed:
            massive = rng.random() < 0.5
            attach(f"bracket{k}", "fixed", f"link{k}", "skew", inertia(rng) if massive and own else None)
            if rng.random() < 0.5:
                movers[-1] = f"bracket{k}"
    return Description(
        "random",
        tuple(links),
        tuple(joints),
        gravity=tuple(rng.uniform(-10, 10, 3)),
        floating=recipe.floating,
        frames={"tool": (links[-1].name, Placement(random_rotation(rng), rng.uniform(-0.5, 0.5, 3)))},
    )


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return rotation * np.linalg.det(rotation)


def quarter_turns(rng: np.random.Generator) -> np.ndarray:
    """One of the 24 rotations that take coordinate axes to coordinate axes."""
    rotation = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    return rotation * np.linalg.det(rotation).round()


def turned(axis: np.ndarray, relation: str, rng: np.random.Generator) -> np.ndarray:
    """A unit vector in the given relation to ``axis``."""
    random = random_rotation(rng)[0]
    normal = np.cross(axis, random)
    normal /= np.linalg.norm(normal)
    return {"skew": random, "coordinate": random, "antiparallel": -axis, "right angle": normal}.get(
        relation, axis + float(relation) * normal if relation.startswith("1e") else axis
    )


def inertia(rng: np.random.Generator) -> LinkInertia:
    """A body that exists: its principal moments are sums of positive second moments of mass."""
    mass, second, R = rng.uniform(0.5, 3), rng.uniform(0.01, 0.05, 3), random_rotation(rng)
    return LinkInertia(mass, rng.uniform(-0.3, 0.3, 3), mass * R @ np.diag(second.sum() - second) @ R.T)


def random_terms(rng: np.random.Generator) -> dict[str, float]:
    names = ("rotor_inertia", "coulomb", "viscous", "stiffness", "rest")
    return dict(zip(names, rng.uniform(0.1, 2, 5).tolist(), strict=True))


def half_driven(description: Description, seed: int) -> Description:
    """The same robot; unless all joints keep their motors, about half of them do. One that follows another has none."""
    rng = np.random.default_rng(seed + 7907)
    share = rng.choice([0.0, 0.5])
    joints = [
        replace(joint, role="passive") if joint.kind != "fixed" and rng.random() < share and not joint.mimic else joint
        for joint in description.joints
    ]
    return replace(description, joints=tuple(joints))


def random_state(model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a; the quaternion of a floating base is not of unit length, as any length means the same rotation."""
    rng = np.random.default_rng(seed + 7919)
    return rng.uniform(-3, 3, model.nq), rng.uniform(-2, 2, model.nv), rng.uniform(-5, 5, model.nv)


def random_vectors(model, seed: int = 0) -> dict[str, np.ndarray]:
    """All that a quantity may ask for, by name; q, v, a are those of ``random_state``."""
    rng = np.random.default_rng(seed + 7919**2)
    names = ("tau", "a_known", "tau_known", "v_joints", "commands", "v_ref", "a_ref")
    forces = {name: rng.uniform(-5, 5, sizes(model)[name]) for name in names}
    feet = {name: rng.uniform(0.5, 1, len(model.switched)) for name in ("contacts", "restitution")}
    others = forces | feet | {"damping": np.float64(0.3)}
    return dict(zip("qva", random_state(model, seed), strict=True)) | others
