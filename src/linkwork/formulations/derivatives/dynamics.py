"""Derivatives of inverse and forward dynamics with respect to q and v, and what all methods have in common.

Directions of dual numbers: the first n are those of the positions, along the tangent of their coordinates and, where
loops are closed, so that they stay closed; the next nv are those of the velocities. n is nv, and more where something
rolls. The last ones are those of the commands, which force laws of the surroundings may take.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ...constraints import ClosedLoops
from ...model import Model, commanded
from ...scalar import Scalar, Scalars
from ...scalar.dual import change_of, dual, slope_of, value_of
from ...scalar.orthogonal import dot
from ...spatial import Force, Vector
from ..crba import crba
from ..drives import with_rotor_forces, with_rotors
from ..method import Method
from ..parallel_axes import shared_axes
from ..passive_forces import body_wrenches, passive_forces
from ..quantities import NO_LOADS, Loads, Solvable, forces_for_motion, require_motors
from ..total_inertia import total_inertia_matrix
from .implicit import carried_along, implicit

Rows = list[list[Scalar]]


def inverse_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, *, method: Method, loads: Loads = NO_LOADS, commands: Scalars = ()
) -> tuple[Any, ...]:
    """Return tau, dtau/dq, dtau/dv, M, and dtau/dcommands if there are commands."""
    require_motors(model)
    model = under(model, commands)
    if method.closed:
        tree, forces = by_duals(model, q, v, a, method, loads)
        tau, M = tree.to_motors(forces), inertia(model, q)
    else:
        form = Form(model, q, v, method, loads)
        tau, M = form.forces(a)
    of_q, of_v, of_commands = slopes(model, tau, len(commands))
    return [value_of(x) for x in tau], of_q, of_v, M, *[of_commands] * bool(commands)


def forward_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *,
    method: Method,
    loads: Loads = NO_LOADS,
    commands: Scalars = (),
) -> tuple[Any, ...]:
    """Return a, da/dq, da/dv, da/dtau, and da/dcommands if there are commands."""
    model = under(model, commands)
    tree = ClosedLoops(model, model.expand(q))

    def by_duals_alone(a: Scalars) -> list[Scalar]:
        moved, forces = by_duals(model, q, v, a, method, loads)
        return [x - y for x, y in zip(moved.of_motors(tau), forces, strict=True)]

    n = len(commands)
    with Solvable(model):
        if method.closed:
            bias = [value_of(x) for x in forces_for_motion(method.function, tree, v, [0] * model.nv, loads)]
            return implicit(tree, tau, bias, inertia(model, q), by_duals_alone, {}, n)
        form = Form(model, q, v, method, loads)
        known = carried_along(model, form.q, form.v)
        return implicit(tree, tau, *form.bias(), lambda a: [-x for x in form.forces(a, known)[0]], known, n)


def under(model: Model, commands: Scalars) -> Model:
    """Return the robot under commands, with unit slopes along their directions."""
    first = model.n_configuration + model.nv
    seeds = [dual(x, {first + k: 1}) for k, x in enumerate(commands)]
    return commanded(model, seeds) if seeds else model


# -- by dual numbers alone: a method of inverse dynamics is run on them, loops included ------------------------------


def by_duals(
    model: Model, q: Scalars, v: Scalars, a: Scalars, method: Method, loads: Loads
) -> tuple[ClosedLoops, list[Scalar]]:
    """Return the loops, and the forces of the independent coordinates for a motion, as dual numbers."""
    moving, rates = seeded(model, q, v)
    tree = ClosedLoops(model, model.expand(moving))
    return tree, forces_for_motion(method.function, tree, rates, a, loads)


def inertia(model: Model, q: Scalars) -> Rows:
    """Return the inertia matrix of the independent coordinates."""
    q = model.expand(q)
    return ClosedLoops(model, q).collect_matrix(total_inertia_matrix(crba, model, q))


# -- by a published form for trees -------------------------------------------------------------------------------------


class Form:
    """A published form for the rigid links of a tree. Dual numbers differentiate the rest: friction, springs and stops,
    rotors of transmissions, and forces of the surroundings, which change with the bodies they act on."""

    def __init__(self, model: Model, q: Scalars, v: Scalars, method: Method, loads: Loads):
        self.model, self.method = model, method
        self.q, self.v = model.expand(q), model.expand_rates(v)
        moving, rates = seeded(model, q, v)
        moving, rates = model.expand(moving), model.expand_rates(rates)
        applied = body_wrenches(model, moving, rates, *loads)
        self.wrenches = {i: _wrench(value_of, f) for i, f in applied.items()}
        rest = passive_forces(model, moving, rates)
        if model.forces:
            rest = [x + y for x, y in zip(rest, forces_against(model, self.q, changes_of(applied)), strict=True)]
        self.rest = model.collect(rest)

    def bias(self) -> tuple[list[Scalar], Rows]:
        """Return the forces at zero acceleration, and M. Those of the links, except at rest, are quadratic in v."""
        model, still, half = self.model, [0] * self.model.n_tree, [0.5 * x for x in self.v]
        at_rest = shared_axes(model, self.q, still, still, self.wrenches)
        _, _, dv, M = self.method.function(model, self.q, self.v, still, self.wrenches)
        b = model.collect([x + dot(row, half) for x, row in zip(at_rest, dv, strict=True)])
        total = [x + value_of(y) for x, y in zip(b, self.rest, strict=True)]
        return total, model.collect_matrix(with_rotors(model, M))

    def forces(self, a: Scalars, known: Collection[int] = ()) -> tuple[list[Scalar], Rows]:
        """Return the forces for a motion as dual numbers, and M. Slopes of the links along ``known`` are left out."""
        model, a = self.model, self.model.expand_rates(a)
        tau, dq, dv, M = self.method.function(model, self.q, self.v, a, self.wrenches)
        tau = model.collect(with_rotor_forces(model, tau, a))
        both = zip(model.collect_matrix(dq), model.collect_matrix(dv), strict=True)
        rows = [{k: x for k, x in enumerate([*of_q, *of_v]) if k not in known} for of_q, of_v in both]
        total = [dual(x, row) + y for x, row, y in zip(tau, rows, self.rest, strict=True)]
        return total, model.collect_matrix(with_rotors(model, M))


def seeded(model: Model, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """Return the user's q and v with unit slopes along the directions."""
    G = ClosedLoops.of_configuration(model, model.expand(q)).G
    along = [model.coordinates.rates(q, [row[k] for row in G]) for k in range(model.n_configuration)]
    moving = [dual(x, {k: rates[n] for k, rates in enumerate(along)}) for n, x in enumerate(q)]
    return moving, [dual(x, {model.n_configuration + k: 1}) for k, x in enumerate(v)]


def slopes(model: Model, values: Scalars, commands: int) -> tuple[Rows, Rows, Rows]:
    """Return the derivatives with respect to q, v and the commands, a row for each value."""
    n, total = model.n_configuration, model.n_configuration + model.nv
    parts = range(n), range(n, total), range(total, total + commands)
    of_q, of_v, of_commands = ([[slope_of(x, k) for k in part] for x in values] for part in parts)
    return of_q, of_v, of_commands


def forces_against(model: Model, q: Scalars, wrenches: dict[int, Force]) -> list[Scalar]:
    """Return the joint forces that balance wrenches on the bodies, for a robot without masses."""
    tau: list[Scalar] = [0] * model.n_tree
    f = {i: -wrenches.get(i, Force()) for i, _ in model.outward()}
    for i, p in model.inward():
        for k, S in zip(model.freedoms(i), model.subspace(i, q), strict=True):
            tau[k] = S.dot(f[i])
        if p > 0:
            f[p] = f[p] + model.transform(i, q).force_outward(f[i])
    return tau


def changes_of(wrenches: dict[int, Force]) -> dict[int, Force]:
    """Return wrenches of value zero with the slopes of these dual numbers."""
    return {i: _wrench(change_of, f) for i, f in wrenches.items()}


def _wrench(act: Callable[[Scalar], Scalar], f: Force) -> Force:
    """Apply a function to the six components of a force."""
    return Force(Vector(*map(act, f.linear)), Vector(*map(act, f.angular)))
