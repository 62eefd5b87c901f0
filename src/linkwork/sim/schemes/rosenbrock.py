"""A linearly implicit step of a plant, on traced numbers.

The state is q, with q' = g(q, v), and w: the velocities v, and the memory of a controller. The rates of w, and with
them the constraint forces, are y, which a balance of forces determines: r(q, w, t, y) = 0. Inertia, damping and
stiffness are derivatives of r, so the solution of r for y is never differentiated. With s = gamma dt, a stage solves

  (1)  (1 / s - J) u = b                   J = df/dx of x = (q, w)
  (2)  u_q = s P (b_q + T u_v)             P = (1 - s dg/dq)^-1,   T = dg/dv
  (3)  u_w = s (b_w + z_w)                 z = dy along u
  (4)  dr/dy z + dr/dw u_w + dr/dq u_q + dr/dt u_t = 0

Inserting (2) and (3) in (4) leaves a linear system for z with the matrix dr/dy + s dr/dw + s^2 dr/dq P T. This is
M + s D + s^2 K for a robot of inertia M, damping D and stiffness K: as well conditioned as the robot, however stiff it
is. Time is a state, too, with u_t known beforehand, so that forces may depend on time.

Accelerations are evaluated at unit quaternions, so derivatives along the norm of a quaternion are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...codegen.schemes import Rosenbrock
from ...derive.modes import forward, reverse
from ...program import Port, Program, trace
from ...program.replay import flattened, nested, replay
from ...scalar import Scalar
from ...scalar.elimination import Elimination
from ...scalar.orthogonal import dot
from ..plant.instant import MEMORY, Instant

if TYPE_CHECKING:
    from ..plant.plant import Plant

Scalars = Sequence[Scalar]
Matrix = list[list[Scalar]]


def next_state(plant: Plant, instant: Instant, scheme: Rosenbrock) -> dict[str, Any]:
    """Return the state after dt, before it is projected."""
    dt, per_dt, start = instant.dt, 1 / instant.dt, flattened(instant.values, plant.state)
    beginning = Beginning(plant, instant, scheme.g * dt)
    us: list[list[Scalar]] = []

    def sums(x: Scalars, weights: Scalars) -> list[Scalar]:
        return [each + dot(weights, column) for each, column in zip(x, zip(*us, strict=True), strict=True)]

    for k, node in enumerate(scheme.nodes):
        rates = beginning.rates
        if k:
            x = sums(start, scheme.A[k, :k].tolist())
            stage = plant.instant({**instant.values, **nested(x, plant.state), "t": instant.t + node * dt})
            rates = sums(flattened(_rates(plant, stage), plant.state), [c * per_dt for c in scheme.C[k, :k].tolist()])
        us.append(beginning.solve(rates, float(scheme.passed[k]) * dt))
    return nested(sums(start, scheme.m.tolist()), plant.state)


class Beginning:
    """A plant at the beginning of a step, with all derivatives there; ``s`` is gamma dt."""

    def __init__(self, plant: Plant, instant: Instant, s: Scalar):
        self.plant, self.instant, self.s = plant, instant, s
        self.nq, self.nv = plant.model.nq, plant.model.coordinates.nv
        self.moving = self.nq + self.nv + sum(port.size for port in plant.state if port.name in instant.memory_rates)
        self.n = self.moving - self.nq

    @cached_property
    def rates(self) -> list[Scalar]:
        """dx/dt at the beginning."""
        return flattened(_rates(self.plant, self.instant), self.plant.state)

    @cached_property
    def y(self) -> list[Scalar]:
        """Rates of w, and constraint forces."""
        return [*self.rates[self.nq : self.moving], *_at_unit(self.plant, self.instant).multipliers]

    @cached_property
    def kinematics(self) -> tuple[Elimination, Matrix]:
        """P, and s P T."""
        rates = self.plant.model.coordinates.rates
        program = trace("turning", lambda q, v: {"rates": rates(q, v)}, [Port("q", (self.nq,)), Port("v", (self.nv,))])
        values = replay(program, [*self.instant.q, *self.instant.rates])
        rows = forward(program, values, {k: {k: 1} for k in range(self.nq + self.nv)})
        slopes = [[int(i == j) - self.s * row.get(j, 0) for j in range(self.nq)] for i, row in enumerate(rows)]
        P = Elimination(slopes, range(self.nq))  # regular: the identity less a skew or a triangular matrix
        columns = [[self.s * row.get(self.nq + k, 0) for row in rows] for k in range(self.nv)]
        return P, [list(row) for row in zip(*map(P.solve, columns), strict=True)]

    @cached_property
    def derivatives(self) -> tuple[Matrix, Matrix, list[Scalar], list[Scalar]]:
        """Derivatives of the balance with respect to q, w and t, and of the power with respect to all three."""
        program = _balance(self.plant)
        values = replay(program, [*flattened(self.instant.values, self.plant.ports), *self.y])
        numbers = [*range(self.moving), self.plant.state_size]  # of inputs; time follows the state
        rows = forward(program, values, {number: {column: 1} for column, number in enumerate(numbers)})
        dense = [[row.get(column, 0) for column in range(len(numbers))] for row in rows[: len(self.y)]]
        bars = reverse(program, values, {program.results[-1]: 1}) if self.plant.records_work else []
        power = [bars[number] for number in numbers] if bars else []
        return (
            [row[: self.nq] for row in dense],
            [row[self.nq : -1] for row in dense],
            [row[-1] for row in dense],
            power,
        )

    @cached_property
    def system(self) -> Elimination:
        """M + s D + s^2 K."""
        by_q, by_w, _, _ = self.derivatives
        columns = list(zip(*self.kinematics[1], strict=True))
        S = _with_identity(_at_unit(self.plant, self.instant).balance_matrix, self.nv, self.n)
        for i, row in enumerate(S):
            for k in range(self.n):
                slope = by_w[i][k] + (dot(by_q[i], columns[k]) if k < self.nv else 0)
                row[k] = row[k] + self.s * slope
        # Constraint forces are eliminated last, since their diagonal is zero.
        return Elimination(S, [*reversed(range(self.nv)), *range(self.nv, len(S))])

    def solve(self, b: Scalars, passed: Scalar) -> list[Scalar]:
        """Return u of a stage with right side ``b``; ``passed`` is u_t."""
        s, (P, T), (by_q, by_w, by_t, power) = self.s, self.kinematics, self.derivatives
        b_q, b_w = b[: self.nq], b[self.nq : self.moving]
        to_q = zip(P.solve(b_q), T, strict=True)
        q = [s * (x + dot(row, b_w[: self.nv])) for x, row in to_q]  # (2) without z
        w = [s * x for x in b_w]  # (3) without z
        right = [-(dot(a, q) + dot(d, w) + c * passed) for a, d, c in zip(by_q, by_w, by_t, strict=True)]
        z = self.system.solve(right)  # (4)
        q = [x + s * dot(row, z[: self.nv]) for x, row in zip(q, T, strict=True)]
        w = [x + s * y for x, y in zip(w, z, strict=False)]
        work = [s * (b[self.moving] + dot(power, [*q, *w, passed]))] if power else []
        return [*q, *w, *work, *[0] * (len(b) - self.moving - len(work))]


def _at_unit(plant: Plant, instant: Instant) -> Instant:
    """The instant with unit quaternions."""
    coordinates = plant.model.coordinates
    if not coordinates.quaternions:
        return instant
    return plant.instant({**instant.values, "q": coordinates.normalised(instant.q)})


def _rates(plant: Plant, instant: Instant) -> dict[str, Any]:
    """dx/dt with accelerations at unit quaternions, wherever q is."""
    q_rates = plant.model.coordinates.rates(instant.q, instant.rates)
    return plant.state_rates(_at_unit(plant, instant)) | {"q": q_rates}


def _balance(plant: Plant) -> Program:
    """Program of r from the state and y, and then of the power, if work is recorded."""
    memory = [port for port in plant.state if port.name.startswith(MEMORY)]
    memory_rates = [Port(f"rate of {port.name}", port.shape) for port in memory]
    rates = [Port("a", (plant.model.coordinates.nv,)), *memory_rates]
    if plant.model.constrained:
        rates.append(Port("held", (len(plant.model.mobility.rows),)))

    def run(*values: Any) -> dict[str, Any]:
        by_name = dict(zip((port.name for port in (*plant.ports, *rates)), values, strict=True))
        instant = _at_unit(plant, plant.instant({port.name: by_name[port.name] for port in plant.ports}))
        a = by_name["a"]
        forces = instant.balance(a, by_name.get("held", ()))
        pairs = zip(flattened(by_name, memory_rates), flattened(instant.memory_rates, memory), strict=True)
        rows = [*forces[: len(a)], *(x - y for x, y in pairs), *forces[len(a) :]]
        return {"balance": rows} | ({"power": instant.power(instant.tau)} if plant.records_work else {})

    return trace("balance", run, [*plant.ports, *rates])


def _with_identity(S: Matrix, first: int, end: int) -> Matrix:
    """S with rows and columns of the identity from ``first`` to ``end``: the rates of the memory."""
    more = end - first
    wide = [[*row[:first], *[0] * more, *row[first:]] for row in S]
    identity = [[int(i == j) for j in range(len(S) + more)] for i in range(first, end)]
    return [*wide[:first], *identity, *wide[first:]]
