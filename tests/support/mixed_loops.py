"""Mechanisms of joints of any kind that are closed where they stand."""

from dataclasses import replace

from linkwork.model import CUT_JOINTS, ConstraintDescription, Description, Placement
from support.mixed_trees import MixedRecipe, Places, mixed
from support.pinocchio_tree import PinocchioTree


def closed_chain(
    kinds: tuple[str, ...], closure: str, seed: int = 0, *, floating: bool = False, back: bool = False
) -> Description:
    """A chain of these joints with its tip held to the base by a cut joint, closed at its home; its loop goes from the
    base to the tip, or ``back``. The first joint is driven."""
    tree = mixed(MixedRecipe(seed, kinds, rotors=True, floating=floating))
    places = Places(tree)
    q = places.state(seed, unit=True)[0]
    poses = (PinocchioTree(tree).pose(q, name) for name in ("base", "tool"))
    base, tip = (Placement(T[:3, :3], T[:3, 3]) for T in poses)
    own = {name: q[at].tolist() for name, at in places.q.items() if name != "base"}
    home = {name: tuple(x) if len(x) > 1 else x[0] for name, x in own.items()}
    sides = ("base", base.inverse() @ tip), tree.frames["tool"]
    loop = ConstraintDescription("cut", CUT_JOINTS[closure], *(reversed(sides) if back else sides))
    joints = tuple(replace(joint, role="passive" if k else "active") for k, joint in enumerate(tree.joints))
    return replace(tree, joints=joints, constraints=(loop,), home=home, redundant=True)
