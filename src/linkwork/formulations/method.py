"""Method: one published way to compute a quantity, as the catalog knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..model import Model
from ..spatial import Force

ONE_AXIS = ("revolute", "continuous", "prismatic")  # Khalil's sigma tells them apart
Wrenches = Mapping[int, Force] | None  # applied to the bodies, in their frames


@dataclass(frozen=True)
class Method:
    """``reference`` is a key of references.bib. The function's arguments depend on the quantity (tree vectors):

    - inverse_dynamics: (model, q, v, a, wrenches) -> joint forces, rotor inertia included
    - inertia_matrix: (model, q) -> complete matrix, rotor inertia on the diagonal
    - bias: (model, q, v, wrenches) -> joint forces at zero acceleration
    - forward_dynamics: (model, q, v, tau, wrenches) -> accelerations; tau and the result are of the leading joints
    - hybrid_dynamics: (model, q, v, a, tau, known, wrenches) -> forces and accelerations, all of them; known[k] tells
      whether a[k] is given, or tau[k]

    ``wrenches`` maps bodies to the Force applied to them, in the body's frame. Friction and springs are not the
    method's business. A method for robots with loops (``loops``) takes, too, the keyword ``a`` if it is one of bias
    (accelerations at which it is taken), and ``tree`` (ClosedLoops) if it is one of forward dynamics.

    A ``closed`` method works on the user's own vectors (see ``Mobility``), with friction and springs, and on tree
    positions q: (model, q, v, a, wrenches) -> tau, (model, q, v, tau, wrenches) -> a, or
    (model, q, v, a_known, tau_known, wrenches) -> (tau, a).
    """

    name: str
    quantity: str
    function: Callable[..., Any]
    reference: str
    summary: str
    serial: bool = False  # only for serial chains on a fixed base
    fixed_base: bool = False  # trees too, but only on a fixed base
    mimic: bool = True  # does it work with mimic joints?
    wrenches: bool = True  # does it take wrenches?
    grouped: bool = True  # does it work with grouped inertia parameters (bodies without mass)?
    candidate: bool = False  # does "auto" try it?
    linear: bool = False  # does its work grow with the number of joints, where that of others grows faster?
    loops: bool = True  # does it work with loops, composed by the quantity?
    closed: bool = False  # does it work on the user's own vectors?
    rigid: bool = False  # does it know rigid links alone, and nothing can be added to it? (see ``whole``)
    coupled: bool = True  # does it work where transmissions couple the rotors of several joints?
    kinds: tuple[str, ...] | None = None  # of joints that it takes beside a floating base; all if nothing is said
    fits: Callable[[Model], str] | None = None  # what else keeps it from a model; empty if nothing does

    def refusal(self, model: Model, wrenches: bool = False, as_input: bool = False) -> str:
        """Why it does not work for ``model``, with wrenches, or with inertia parameters as inputs; empty if it does."""
        if (self.serial or self.fixed_base) and model.moving_base:
            return "it is for a fixed base, and the base floats"
        if reason := self._unfit(model):
            return reason
        if self.serial and not model.serial:
            return "it is for serial chains, and the robot branches"
        if model.constrained and not (self.loops or self.closed):
            return "it is for trees, and the robot has loops"
        if model.transmissions and not self.coupled:
            return "it is for rotors of single joints, and transmissions couple them"
        if self.rigid and (reason := beyond_rigid(model)):
            return f"it is for rigid links alone, and {reason}"
        if self.fits and (reason := self.fits(model)):
            return reason
        if not self.mimic and model.has_mimic:
            return "it does not work with mimic joints"
        if wrenches and not self.wrenches:
            return "it takes no wrenches"
        if as_input and not self.grouped:
            return "it divides by masses, which may be zero when they are inputs"
        return ""

    def _unfit(self, model: Model) -> str:
        """A joint of a kind that it is not for."""
        for joint in model.joints_on_base:
            if self.kinds is not None and joint.kind.name not in self.kinds:
                kinds = " and ".join(kind for kind in self.kinds if kind != "continuous")
                return f"it is for {kinds} joints, and {joint.name!r} is {joint.kind.name}"
        return ""


def beyond_rigid(model: Model) -> str:
    """What has inertia beside rigid links and rotors; empty if nothing has."""
    for body in model.bodies:
        if body.joint.kind.modes:
            return f"{model.root if body.parent == 0 else model.body(body.parent).name!r} {body.joint.kind.deforms}"
    for frame, law in model.forces:
        if getattr(law, "added_inertia", None) is not None:
            return f"{frame.name!r} carries fluid along"
    return ""
