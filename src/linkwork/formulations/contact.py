"""Dynamics of a robot with contacts. An input says which contacts are active, so one program covers all support phases.

With J of the independent equations of the loops and of the contacts that are on (``constraints.equations``):

  (1)  M a + J^T lambda = f,   J a = -gamma         f: all forces less the bias, gamma = Jd v
  (2)  M v+ = M v - J^T Lambda,   J v+ = -e J v     an impact; e of the rows along the normal, 0 of all others
  (3)  E^T phi = Q_u                                Q: forces for the motion, u: freedoms that no motor drives
  (4)  the least phi of these                       E: columns u of J; J without weights decides which of them count
  (5)  tau = Q - J^T phi

Rows of J that depend on others, or are off, are left out, and lambda is the least that has the same effect. If the
contacts cannot bear Q_u, some of it stays in tau.
"""

from __future__ import annotations

from functools import partial

from ..constraints import ClosedLoops, SwitchedEquations
from ..model import Model
from ..scalar import Scalar, Scalars
from ..scalar.independent import Independent
from ..scalar.orthogonal import dot
from .crba import crba
from .forward import bias_by
from .multipliers import ByMultipliers
from .parallel_axes import shared_axes
from .passive_forces import body_wrenches
from .quantities import NO_LOADS, Loads, Solvable, forces_for_motion, joint_forces

Rows = list[list[Scalar]]

METHOD = ByMultipliers(crba, partial(bias_by, shared_axes))


def contact_dynamics(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, contacts: Scalars, *, loads: Loads = NO_LOADS
) -> tuple[list[Scalar], Rows]:
    q = model.expand(q)
    qd = ClosedLoops(model, q).rates(v)
    applied, rows = body_wrenches(model, q, qd, *loads), SwitchedEquations(model, q, contacts)
    with Solvable(model):
        supports = METHOD.supports(model, q, rows)
        f = METHOD.net(model, q, qd, joint_forces(model, q, qd, tau), applied)
        a, multipliers = supports.accelerations(f, rows.drift(qd))                      # (1)
    return [a[k] for k in model.mobility.independent], rows.forces(multipliers)


def contact_inverse_dynamics(
    model: Model, q: Scalars, v: Scalars, a: Scalars, contacts: Scalars, *, loads: Loads = NO_LOADS
) -> tuple[list[Scalar], Rows]:
    tree, mobility = ClosedLoops(model, model.expand(q)), model.mobility
    Q = forces_for_motion(shared_axes, tree, v, a, loads)
    rows = SwitchedEquations(model, tree.q, contacts)
    columns = [[dot(row, column) for row in rows.switched.J] for column in zip(*tree.G, strict=True)]
    u = [mobility.independent.index(k) for k in mobility.free]
    counts = Independent([_times(rows.on, columns[k]) for k in u]).on
    J = [_times(rows.scales, column) for column in columns]
    E = Independent([J[k] for k in u], on=counts)
    phi, _ = E.nearest([Q[k] for k in u], [0] * len(rows.scales))                       # (4)
    rest = [force - dot(column, phi) for force, column in zip(Q, J, strict=True)]           # (5)
    return tree.to_motors(rest), rows.forces([-x for x in phi])


def impact(model: Model, q: Scalars, v: Scalars, contacts: Scalars, restitution: Scalars) -> tuple[list[Scalar], Rows]:
    q = model.expand(q)
    leading = ClosedLoops(model, q).joint_velocities(v)
    rows = SwitchedEquations(model, q, contacts)
    with Solvable(model):
        supports = METHOD.supports(model, q, rows)
        change = rows.bouncing(leading, restitution)
        after = [x - y for x, y in zip(leading, supports.correction(change), strict=True)]  # (2)
    return [after[k] for k in model.mobility.independent], rows.forces(supports.impulses(change))


def _times(scales: Scalars, row: Scalars) -> list[Scalar]:
    """Return the products entry by entry."""
    return [s * x for s, x in zip(scales, row, strict=True)]
