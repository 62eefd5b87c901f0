"""Closed mechanisms of joints of any kind, solved as in ``kkt``; and random ones that are closed where they stand."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pinocchio as pin

from linkwork.model import Description, LoopDescription, Placement
from support.kkt import Reference
from support.mixed_trees import MixedRecipe, Places, mixed
from support.pinocchio_tree import PinocchioTree, se3


class MixedReference(Reference):
    """Vectors are linkwork's; ``order``: the joints as they have them. No mimic joints, friction or springs."""

    def __init__(self, description: Description, order: Iterable[str]):
        self.description, self.tree, self.joints = description, PinocchioTree(description, order), []
        self.model = self.tree.model
        for loop in description.loops:
            for side in ("first", "second"):
                link, placement = getattr(loop, side)
                at = self.model.frames[self.model.getFrameId(link)]
                placed = at.placement * se3(placement)
                self.model.addFrame(pin.Frame(f"{loop.name}.{side}", at.parentJoint, placed, pin.FrameType.OP_FRAME))
        self.tree.data = self.data = self.model.createData()
        self.E = np.eye(self.model.nv)[:, self.tree.order]

    def positions(self, q: np.ndarray) -> np.ndarray:
        return self.tree.positions(q)

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        return self.tree.integrate(q, step)

    def inertia_matrix(self, q: np.ndarray) -> np.ndarray:
        return self.tree.inertia_matrix(q)

    def nonlinear(self, q: np.ndarray, v: np.ndarray, wrenches=None) -> np.ndarray:
        return self.tree.bias(q, v)


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
    loop = LoopDescription("cut", closure, *(reversed(sides) if back else sides))
    joints = tuple(replace(joint, role="passive" if k else "active") for k, joint in enumerate(tree.joints))
    return replace(tree, joints=joints, loops=(loop,), home=home, redundant=True)
