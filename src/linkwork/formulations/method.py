"""Method: one published way to compute a quantity, with what it supports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..model import Model
from ..spatial import Force

ONE_AXIS = ("revolute", "continuous", "prismatic")  # Khalil's sigma distinguishes them
Wrenches = Mapping[int, Force] | None  # applied to the bodies, in their frames


@dataclass(frozen=True)
class Method:
    """Published way to compute a quantity.

    The arguments of its function depend on the quantity (tree vectors):

    - inverse_dynamics: (model, q, v, a, wrenches) -> joint forces, rotor inertia included
    - inertia_matrix: (model, q) -> complete matrix, rotor inertia on the diagonal
    - bias: (model, q, v, wrenches) -> joint forces at zero acceleration
    - forward_dynamics: (model, q, v, tau, wrenches) -> accelerations; tau and the result are of the non-mimic joints
    - hybrid_dynamics: (model, q, v, a, tau, known, wrenches) -> forces and accelerations, all of them; known[k] is True
      where a[k] is given, False where tau[k] is

    ``wrenches`` maps bodies to the Force applied to them, in the body's frame. Friction and springs are added by the
    quantity. A method for robots with loops (``loops``) also takes the keyword ``a`` if it is one of bias, the
    accelerations at which it is evaluated, and ``tree`` (ClosedLoops) if it is one of forward dynamics.

    A ``closed`` method works on the user's vectors (see ``Mobility``), with friction and springs, and on tree
    positions q: (model, q, v, a, wrenches) -> tau, (model, q, v, tau, wrenches) -> a, or
    (model, q, v, a_known, tau_known, wrenches) -> (tau, a).

    Attributes:
        name: name of the method, as ``method=`` takes it.
        quantity: name of the quantity.
        function: the formulation, over any scalar.
        reference: key of the BibTeX entry in references.bib.
        summary: one line on the method, with its order of operations.
        serial: it is for serial chains on a fixed base only; default False.
        fixed_base: it is for trees on a fixed base only; default False.
        mimic: it supports mimic joints; default True.
        wrenches: it takes wrenches; default True.
        grouped: it works with grouped inertia parameters, that is with bodies without mass; default True.
        candidate: "auto" tries it; default False.
        linear: its work grows with the number of joints, where that of others grows faster; default False.
        loops: it supports loops, which the quantity closes; default True.
        closed: it works on the user's vectors; default False.
        rigid: it is for rigid links only, and nothing can be added to it (see ``total_inertia``); default False.
        coupled: it works where transmissions couple the rotors of several joints; default True.
        placed: it works where geometry is an input; default True.
        kinds: kinds of joints that it supports, besides a floating base; default: all.
        fits: function that returns why the method does not suit a model, or an empty text; default: none.

    Example:
        >>> method = linkwork.methods("inverse_dynamics")[0]
        >>> method.name, method.reference
        ('rnea', 'luh1980')
    """

    name: str
    quantity: str
    function: Callable[..., Any]
    reference: str
    summary: str
    serial: bool = False
    fixed_base: bool = False
    mimic: bool = True
    wrenches: bool = True
    grouped: bool = True
    candidate: bool = False
    linear: bool = False
    loops: bool = True
    closed: bool = False
    rigid: bool = False
    coupled: bool = True
    placed: bool = True
    kinds: tuple[str, ...] | None = None
    fits: Callable[[Model], str] | None = None

    def refusal(self, model: Model, wrenches: bool = False, as_input: bool = False, placed: bool = False) -> str:
        """Return why the method does not work for a model.

        Args:
            model: the robot.
            wrenches: it is to take wrenches; default False.
            as_input: inertia parameters are to be inputs; default False.
            placed: geometry is to be an input; default False.

        Returns:
            The reason; empty if the method works.
        """
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
        if placed and not self.placed:
            return "it depends on which axes are parallel or at right angles, and geometry is an input"
        return ""

    def _unfit(self, model: Model) -> str:
        """Return the reason if a joint has a kind that the method does not support."""
        for joint in model.joints_on_base:
            if self.kinds is not None and joint.kind.name not in self.kinds:
                kinds = " and ".join(kind for kind in self.kinds if kind != "continuous")
                return f"it is for {kinds} joints, and {joint.name!r} is {joint.kind.name}"
        return ""


def beyond_rigid(model: Model) -> str:
    """Return what has inertia besides rigid links and rotors, as a clause; empty if nothing has."""
    for body in model.bodies:
        if body.joint.kind.modes:
            return f"{model.root if body.parent == 0 else model.body(body.parent).name!r} {body.joint.kind.deforms}"
    for frame, law in model.forces:
        if getattr(law, "added_inertia", None) is not None:
            return f"{frame.name!r} carries fluid along"
    return ""
