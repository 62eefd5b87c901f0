"""Random closed mechanisms: trees with cut joints of every kind that close exactly at a random home position.

A :class:`LoopRecipe` fixes a mechanism completely: ``mechanism(LoopRecipe(seed=3, closures=("weld",)))``. One chain
leads from the base; for each loop a further chain starts at the base or on the first one, and its cut joint holds its
tip to the base or to the first chain. Chains are as long as it takes to leave ``freedoms``.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

import linkwork
from linkwork.constraints import closed
from linkwork.model import (
    CUT_JOINTS,
    ConstraintDescription,
    Description,
    JointDescription,
    Link,
    Mimic,
    Model,
    Placement,
    build,
)
from support.evaluate import evaluate
from support.random_robots import inertia, random_rotation

CLOSURES = ("revolute", "prismatic", "universal", "spherical", "weld")
RANK = {"revolute": 5, "prismatic": 5, "universal": 4, "spherical": 3, "weld": 6}
PLANAR_RANK = {"revolute": 2, "prismatic": 2, "spherical": 2, "weld": 3}
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class LoopRecipe:
    """``motors``: "fit" as many as freedoms, "some" at random, "all" joints. ``elastic``: about every third joint
    without a motor has a spring instead. ``mimic``: the first chain has a joint that follows another. ``fixed``: links
    fixed to moving ones, in the chains and at the cut joints."""

    seed: int = 0
    closures: tuple[str, ...] = ("revolute",)
    freedoms: int = 1
    planar: bool = False
    motors: str = "fit"
    elastic: bool = False
    floating: bool = False
    mimic: bool = False
    fixed: bool = False

    @property
    def ranks(self) -> list[int]:
        """Independent equations of each loop."""
        return [(PLANAR_RANK if self.planar else RANK)[kind] for kind in self.closures]


def closed_model(description: Description, **options) -> Model:
    return closed(build(description, **options), description)


def loop_recipes(**given) -> st.SearchStrategy[LoopRecipe]:
    """``given`` fixes fields, but for ``planar``."""

    def of(planar: bool) -> st.SearchStrategy[LoopRecipe]:
        kinds = st.sampled_from(tuple(PLANAR_RANK) if planar else CLOSURES)
        fields = {
            "seed": st.integers(0, 1000),
            "closures": st.lists(kinds, min_size=1, max_size=2).map(tuple),
            "freedoms": st.integers(1, 3),
            "planar": st.just(planar),
            "motors": st.sampled_from(("fit", "some", "all")),
            **{name: st.booleans() for name in ("elastic", "floating", "mimic", "fixed")},
        }
        return st.builds(LoopRecipe, **(fields | {name: st.just(value) for name, value in given.items()}))

    return st.booleans().flatmap(of)


def mechanism(recipe: LoopRecipe) -> Description:
    """The described mechanism. Far from singular: of the random ones, the first whose joints move at similar speeds."""
    for attempt in range(100):
        rng = np.random.default_rng([recipe.seed, attempt])
        bare = _attempt(recipe, rng)
        try:
            robot = linkwork.load(bare)
        except linkwork.ModelError:  # singular where it stands
            continue
        if np.abs(evaluate(robot.model, "velocity_map", robot.home)).max() < 20:
            return _with_roles(recipe, bare, robot.joint_names, rng)
    raise AssertionError(f"no mechanism for {recipe}")


def _attempt(recipe: LoopRecipe, rng: np.random.Generator) -> Description:
    """All joints passive."""
    links, joints, loops = [Link("base", inertia(rng))], [], []
    placed, home = {"base": Placement()}, {}  # in the base, at home
    world = random_rotation(rng)  # its z is the normal of a planar mechanism

    def frame() -> np.ndarray:
        """A random rotation, about the normal if there is one."""
        return world @ spin(Z, rng.uniform(-3, 3)) if recipe.planar else random_rotation(rng)

    def along(kind: str) -> np.ndarray:
        """A joint axis, in the base."""
        direction = frame()[:, 0]
        return world[:, 2] if recipe.planar and kind != "prismatic" else direction

    def attach(parent: str, name: str, kind: str, **more) -> str:
        at = Placement(random_rotation(rng), placed[parent].translation + rng.uniform(-0.5, 0.5, 3))
        axis = at.rotation.T @ along(kind) * rng.uniform(0.5, 2)
        links.append(Link(name, inertia(rng) if kind != "fixed" or rng.random() < 0.5 else None))
        moved = Placement()
        if kind != "fixed":
            position = more.pop("position", rng.uniform(-1, 1))
            home[f"to_{name}"] = position
            unit = axis / np.linalg.norm(axis)
            moved = Placement(np.eye(3), unit * position) if kind == "prismatic" else Placement(spin(unit, position))
            drive = dict(zip(("rotor_inertia", "coulomb", "viscous"), rng.uniform(0.1, 1, 3).tolist(), strict=True))
            more = drive | more
        joints.append(JointDescription(f"to_{name}", kind, parent, name, placed[parent].inverse() @ at, axis, **more))
        placed[name] = at @ moved
        return name

    def chain(name: str, parent: str, length: int) -> list[str]:
        made, slides = [parent], 0
        for k in range(length):
            kind = "prismatic" if slides < length // 3 and rng.random() < 0.25 else "revolute"
            slides += kind == "prismatic"
            made.append(attach(made[-1], f"{name}{k + 1}", kind))
            if recipe.fixed and rng.random() < 0.4:
                made[-1] = attach(made[-1], f"{name}{k + 1}_bracket", "fixed")
        return made

    trunk = chain("trunk", "base", recipe.freedoms)
    if recipe.mimic:
        leads = Mimic("to_trunk1", rng.uniform(0.5, 1.5), rng.uniform(-0.5, 0.5))
        position = leads.multiplier * home[leads.joint] + leads.offset
        trunk.append(attach(trunk[-1], "follower", "revolute", mimic=leads, position=position))
        del home["to_follower"]
    for number, (kind, rank) in enumerate(zip(recipe.closures, recipe.ranks, strict=True), 1):
        start, end = rng.permutation(len(trunk))[:2]  # on different bodies of the trunk, so that it takes part
        branch = chain(f"leg{number}_", trunk[start], rank)
        first, second = trunk[end], branch[-1]
        if recipe.fixed:
            second = attach(second, f"tip{number}", "fixed")
        rotation = frame()
        if recipe.planar and kind == "prismatic":
            rotation = rotation[:, [1, 2, 0]]  # it slides in the plane
        at = Placement(rotation, placed[second].translation + rng.uniform(-0.5, 0.5, 3))
        other = at @ cut_motion(kind, rng)
        sides = [(link, placed[link].inverse() @ where) for link, where in ((first, at), (second, other))]
        if rng.random() < 0.5:
            sides = [(link, placed[link].inverse() @ where) for link, where in ((second, at), (first, other))]
        loops.append(ConstraintDescription(f"loop{number}", CUT_JOINTS[kind], *sides))
    tip = links[-1].name
    passive = tuple(replace(joint, role="passive" if _moves(joint) else "active") for joint in joints)
    return Description(
        "mechanism",
        tuple(links),
        passive,
        gravity=tuple(rng.uniform(-10, 10, 3)),
        floating=recipe.floating,
        frames={"tool": (tip, Placement(random_rotation(rng), rng.uniform(-0.5, 0.5, 3)))},
        constraints=tuple(loops),
        home=home,
    )


def _moves(joint: JointDescription) -> bool:
    return joint.kind != "fixed" and joint.mimic is None


def _with_roles(recipe: LoopRecipe, bare: Description, fitting, rng: np.random.Generator) -> Description:
    """Motors, springs and weights."""
    moving = [joint.name for joint in bare.joints if _moves(joint)]
    some = rng.permutation(moving)[: rng.integers(1, len(moving))]
    motors = {"fit": fitting, "some": some, "all": moving}[recipe.motors]
    joints = []
    for joint in bare.joints:
        if joint.name in motors:
            joint = replace(joint, role="active", weight=rng.uniform(0.2, 5))
        elif _moves(joint) and recipe.elastic and rng.random() < 0.35:
            joint = replace(joint, role="elastic", stiffness=rng.uniform(1, 20), rest=rng.uniform(-1, 1))
        joints.append(joint)
    return replace(bare, joints=tuple(joints), redundant=recipe.motors != "fit")


def cut_motion(kind: str, rng: np.random.Generator) -> Placement:
    """Where the second frame of a closed cut joint is, seen from the first, at a random position of that joint."""
    a, b = rng.uniform(-1.5, 1.5, 2)
    if kind == "prismatic":
        return Placement(np.eye(3), a * Z)
    rotation = {
        "revolute": spin(Z, a),
        "universal": spin(Z, a) @ spin(np.array([1.0, 0.0, 0.0]), b),
        "spherical": random_rotation(rng),
        "weld": np.eye(3),
    }[kind]
    return Placement(rotation)


def spin(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about a unit vector."""
    x, y, z = axis
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * hat + (1 - math.cos(angle)) * hat @ hat


# -- mechanisms by hand --------------------------------------------------------------------------------------------


def four_bar(ground=0.504, crank=0.12, coupler=0.39, rocker=0.306, roles=("active", "passive", "passive"), **more):
    """In the xy plane, y up; at home the crank stands upright. ``more``: fields of the Description."""
    pin = np.array([0.0, crank, 0.0])
    reach = np.array([ground, 0.0, 0.0]) - pin
    distance = np.linalg.norm(reach)
    cosine = (distance**2 + coupler**2 - rocker**2) / (2 * distance * coupler)
    toward = math.atan2(reach[1], reach[0]) + math.acos(cosine)  # of the coupler, elbow up
    tip = pin + coupler * np.array([math.cos(toward), math.sin(toward), 0.0])
    home = {"crank": math.pi / 2, "coupler": toward - math.pi / 2, "rocker": math.atan2(tip[1], tip[0] - ground)}
    rng = np.random.default_rng(0)
    links = [Link("base"), *(Link(name, inertia(rng)) for name in ("crank_link", "coupler_link", "rocker_link"))]
    places = {"crank": ("base", 0.0), "coupler": ("crank_link", crank), "rocker": ("base", ground)}
    joints = [
        JointDescription(name, "revolute", parent, f"{name}_link", along_x(shift), role=role, rotor_inertia=0.02)
        for (name, (parent, shift)), role in zip(places.items(), roles, strict=True)
    ]
    cut = ConstraintDescription(
        "cut", CUT_JOINTS["revolute"], ("coupler_link", along_x(coupler)), ("rocker_link", along_x(rocker))
    )
    fields = {"gravity": (0.0, -9.81, 0.0), "constraints": (cut,), "home": home} | more
    return Description("four-bar", tuple(links), tuple(joints), **fields)


def along_x(length: float) -> Placement:
    return Placement(np.eye(3), np.array([length, 0.0, 0.0]))
