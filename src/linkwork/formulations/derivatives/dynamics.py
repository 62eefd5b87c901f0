"""Slopes of inverse and forward dynamics by q and v, composed of a method and of what belongs to every joint.

Directions of dual numbers: 0 ... nv - 1 are those of the positions, along the tangent of their coordinates and, where
loops are closed, so that they stay closed; nv ... 2 nv - 1 are those of the velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ...constraints import ClosedLoops
from ...model import Model
from ...scalar import Scalar
from ...scalar.dual import change_of, dual, slope_of, value_of
from ...scalar.orthogonal import dot
from ...spatial import Force, Vector
from ..crba import crba
from ..drives import with_rotor_forces, with_rotors
from ..method import Method
from ..passive import body_wrenches, passive_forces
from ..quantities import NO_LOADS, Loads, Solvable, forces_for_motion, require_motors
from ..shared_axes import shared_axes
from ..whole import whole_inertia
from .implicit import carried_along, implicit

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]


def inverse_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, *, method: Method, loads: Loads = NO_LOADS
) -> tuple[list[Scalar], Rows, Rows, Rows]:
    require_motors(model)
    if method.closed:
        tree, forces = by_duals(model, q, v, a, method, loads)
        tau, M = tree.to_motors(forces), inertia(model, q)
    else:
        form = Form(model, q, v, method, loads)
        tau, M = form.forces(a)
    return [value_of(x) for x in tau], *slopes(model, tau), M


def forward_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, *, method: Method, loads: Loads = NO_LOADS
) -> tuple[list[Scalar], Rows, Rows, Rows]:
    tree = ClosedLoops(model, model.expand(q))

    def by_duals_alone(a: Scalars) -> list[Scalar]:
        moved, forces = by_duals(model, q, v, a, method, loads)
        return [x - y for x, y in zip(moved.of_motors(tau), forces, strict=True)]

    with Solvable(model):
        if method.closed:
            bias = forces_for_motion(method.function, tree, v, [0] * model.nv, loads)
            return implicit(tree, tau, bias, inertia(model, q), by_duals_alone, {})
        form = Form(model, q, v, method, loads)
        known = carried_along(model, form.q, form.v)
        return implicit(tree, tau, *form.bias(), lambda a: [-x for x in form.forces(a, known)[0]], known)


# -- by dual numbers alone: a method of inverse dynamics is run on them, with all that closes the loops ---------------


def by_duals(
    model: Model, q: Scalars, v: Scalars, a: Scalars, method: Method, loads: Loads
) -> tuple[ClosedLoops, list[Scalar]]:
    """Forces of the independent coordinates for a motion, and the loops, as dual numbers."""
    moving, rates = seeded(model, q, v)
    tree = ClosedLoops(model, model.expand(moving))
    return tree, forces_for_motion(method.function, tree, rates, a, loads)


def inertia(model: Model, q: Scalars) -> Rows:
    q = model.expand(q)
    return ClosedLoops(model, q).collect_matrix(whole_inertia(crba, model, q))


# -- by a form for trees ----------------------------------------------------------------------------------------------


class Form:
    """A method that knows the links of a tree; what else there is has its slopes by dual numbers: friction, springs and
    stops, rotors of transmissions, and forces of the surroundings as they change with the bodies they act on."""

    def __init__(self, model: Model, q: Scalars, v: Scalars, method: Method, loads: Loads):
        self.model, self.method = model, method
        self.q, self.v = model.expand(q), model.expand_rates(v)
        moving, rates = seeded(model, q, v)
        moving, rates = model.expand(moving), model.expand_rates(rates)
        applied = body_wrenches(model, moving, rates, *loads)
        self.held = {i: _wrench(value_of, f) for i, f in applied.items()}
        rest = passive_forces(model, moving, rates)
        if model.forces:
            changing = {i: _wrench(change_of, f) for i, f in applied.items()}
            rest = [x + y for x, y in zip(rest, forces_against(model, self.q, changing), strict=True)]
        self.rest = model.collect(rest)

    def bias(self) -> tuple[list[Scalar], Rows]:
        """Forces at zero acceleration, and M. Those of the links are of second order in v, but for those at rest."""
        model, still, half = self.model, [0] * self.model.n_tree, [0.5 * x for x in self.v]
        at_rest = shared_axes(model, self.q, still, still, self.held)
        _, _, dv, M = self.method.function(model, self.q, self.v, still, self.held)
        b = model.collect([x + dot(row, half) for x, row in zip(at_rest, dv, strict=True)])
        total = [x + value_of(y) for x, y in zip(b, self.rest, strict=True)]
        return total, model.collect_matrix(with_rotors(model, M))

    def forces(self, a: Scalars, known: Collection[int] = ()) -> tuple[list[Scalar], Rows]:
        """For a motion, as dual numbers, and M. Slopes of the links along ``known`` directions are left out."""
        model, a = self.model, self.model.expand_rates(a)
        tau, dq, dv, M = self.method.function(model, self.q, self.v, a, self.held)
        tau = model.collect(with_rotor_forces(model, tau, a))
        both = zip(model.collect_matrix(dq), model.collect_matrix(dv), strict=True)
        rows = [{k: x for k, x in enumerate([*of_q, *of_v]) if k not in known} for of_q, of_v in both]
        total = [dual(x, row) + y for x, row, y in zip(tau, rows, self.rest, strict=True)]
        return total, model.collect_matrix(with_rotors(model, M))


def seeded(model: Model, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The user's q and v with slopes of one along the directions."""
    G = ClosedLoops(model, model.expand(q)).G
    along = [model.coordinates.rates(q, [row[k] for row in G]) for k in range(model.nv)]
    moving = [dual(x, {k: rates[n] for k, rates in enumerate(along)}) for n, x in enumerate(q)]
    return moving, [dual(x, {model.nv + k: 1}) for k, x in enumerate(v)]


def slopes(model: Model, values: Scalars) -> tuple[Rows, Rows]:
    """By q and by v, a row for each value."""
    of_q = [[slope_of(x, k) for k in range(model.nv)] for x in values]
    return of_q, [[slope_of(x, model.nv + k) for k in range(model.nv)] for x in values]


def forces_against(model: Model, q: Scalars, wrenches: dict[int, Force]) -> list[Scalar]:
    """Joint forces that hold still against wrenches on the bodies: those of a robot without masses."""
    tau: list[Scalar] = [0] * model.n_tree
    f = {i: -wrenches.get(i, Force()) for i, _ in model.outward()}
    for i, p in model.inward():
        for k, S in zip(model.freedoms(i), model.subspace(i, q), strict=True):
            tau[k] = S.dot(f[i])
        if p > 0:
            f[p] = f[p] + model.transform(i, q).force_outward(f[i])
    return tau


def _wrench(act: Callable[[Scalar], Scalar], f: Force) -> Force:
    return Force(Vector(*map(act, f.linear)), Vector(*map(act, f.angular)))

