"""A linearly implicit step of a plant, on traced numbers.

The state is q, with q' = g(q, v), and w: the velocities v, and the memory of a controller. The rates of w, and with
them the forces at the cuts of loops, are y, which a balance of forces tells: r(q, w, t, y) = 0. Inertia, damping and
stiffness are slopes of r, and no slope ever goes through the solution of r for y. With s = gamma dt, a stage asks for

  (1)  (1 / s - J) u = b                   J = df/dx of x = (q, w)
  (2)  u_q = s P (b_q + T u_v)             P = (1 - s dg/dq)^-1,   T = dg/dv
  (3)  u_w = s (b_w + z_w)                 z = dy along u
  (4)  dr/dy z + dr/dw u_w + dr/dq u_q + dr/dt u_t = 0

and (2), (3) in (4) leave z: (dr/dy + s dr/dw + s^2 dr/dq P T) z, which is M + s D + s^2 K for a robot of inertia M,
damping D and stiffness K: as well conditioned as the robot, however stiff it is. The clock is a state, too, with u_t
known beforehand, so that forces may depend on time.

Accelerations are taken at unit quaternions, so that slopes across them are zero, whatever the formulation is there.
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
from ..plant.instant import MEMORY, Now

if TYPE_CHECKING:
    from ..plant.plant import Plant

Scalars = Sequence[Scalar]
Matrix = list[list[Scalar]]


def stepped(plant: Plant, now: Now, scheme: Rosenbrock) -> dict[str, Any]:
    """The state after dt, beside its manifold."""
    dt, once, start = now.dt, 1 / now.dt, flattened(now.values, plant.state)
    beginning = Beginning(plant, now, scheme.g * dt)
    us: list[list[Scalar]] = []

    def sums(x: Scalars, weights: Scalars) -> list[Scalar]:
        return [each + dot(weights, column) for each, column in zip(x, zip(*us, strict=True), strict=True)]

    for k, node in enumerate(scheme.nodes):
        rates = beginning.rates
        if k:
            x = sums(start, scheme.A[k, :k].tolist())
            there = plant.now({**now.values, **nested(x, plant.state), "t": now.t + node * dt})
            rates = sums(flattened(_flow(plant, there), plant.state), [c * once for c in scheme.C[k, :k].tolist()])
        us.append(beginning.solve(rates, float(scheme.passed[k]) * dt))
    return nested(sums(start, scheme.m.tolist()), plant.state)


class Beginning:
    """A plant at the beginning of a step, and all slopes there; ``s``: gamma dt."""

    def __init__(self, plant: Plant, now: Now, s: Scalar):
        self.plant, self.now, self.s = plant, now, s
        self.nq, self.nv = plant.model.nq, plant.model.coordinates.nv
        self.moving = self.nq + self.nv + sum(port.size for port in plant.state if port.name in now.memory_rates)
        self.n = self.moving - self.nq

    @cached_property
    def rates(self) -> list[Scalar]:
        return flattened(_flow(self.plant, self.now), self.plant.state)

    @cached_property
    def y(self) -> list[Scalar]:
        return [*self.rates[self.nq : self.moving], *_upright(self.plant, self.now).held]

    @cached_property
    def turning(self) -> tuple[Elimination, Matrix]:
        """P, and s P T."""
        rates = self.plant.model.coordinates.rates
        program = trace("turning", lambda q, v: {"rates": rates(q, v)}, [Port("q", (self.nq,)), Port("v", (self.nv,))])
        values = replay(program, [*self.now.q, *self.now.rates])
        rows = forward(program, values, {k: {k: 1} for k in range(self.nq + self.nv)})
        slopes = [[int(i == j) - self.s * row.get(j, 0) for j in range(self.nq)] for i, row in enumerate(rows)]
        P = Elimination(slopes, range(self.nq))  # one less what is skew, or below the diagonal
        columns = [[self.s * row.get(self.nq + k, 0) for row in rows] for k in range(self.nv)]
        return P, [list(row) for row in zip(*map(P.solve, columns), strict=True)]

    @cached_property
    def slopes(self) -> tuple[Matrix, Matrix, list[Scalar], list[Scalar]]:
        """Of the balance by q, w and t; of the power by all three."""
        program = _balance(self.plant)
        values = replay(program, [*flattened(self.now.values, self.plant.ports), *self.y])
        numbers = [*range(self.moving), self.plant.x]  # of the inputs; the clock stands behind the state
        rows = forward(program, values, {number: {column: 1} for column, number in enumerate(numbers)})
        own = [[row.get(column, 0) for column in range(len(numbers))] for row in rows[: len(self.y)]]
        bars = reverse(program, values, {program.results[-1]: 1}) if self.plant.works else []
        power = [bars[number] for number in numbers] if bars else []
        return [row[: self.nq] for row in own], [row[self.nq : -1] for row in own], [row[-1] for row in own], power

    @cached_property
    def system(self) -> Elimination:
        """M + s D + s^2 K."""
        by_q, by_w, _, _ = self.slopes
        columns = list(zip(*self.turning[1], strict=True))
        S = _with_identity(_upright(self.plant, self.now).by_motion, self.nv, self.n)
        for i, row in enumerate(S):
            for k in range(self.n):
                slope = by_w[i][k] + (dot(by_q[i], columns[k]) if k < self.nv else 0)
                row[k] = row[k] + self.s * slope
        # Forces at the cuts come last: they have no inertia.
        return Elimination(S, [*reversed(range(self.nv)), *range(self.nv, len(S))])

    def solve(self, b: Scalars, passed: Scalar) -> list[Scalar]:
        """u; ``passed``: that of the clock."""
        s, (P, T), (by_q, by_w, by_t, power) = self.s, self.turning, self.slopes
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


def _upright(plant: Plant, now: Now) -> Now:
    """With quaternions of length one."""
    coordinates = plant.model.coordinates
    return plant.now({**now.values, "q": coordinates.normalised(now.q)}) if coordinates.quaternions else now


def _flow(plant: Plant, now: Now) -> dict[str, Any]:
    """dx/dt with accelerations at unit quaternions, wherever q is."""
    return plant.flow(_upright(plant, now)) | {"q": plant.model.coordinates.rates(now.q, now.rates)}


def _balance(plant: Plant) -> Program:
    """r of the state and y, and then the power, if there is work."""
    memory, held = [port for port in plant.state if port.name.startswith(MEMORY)], []
    if plant.model.constrained:
        held = [Port("held", (len(plant.model.mobility.rows),))]
    rates = [
        Port("a", (plant.model.coordinates.nv,)),
        *(Port(f"rate of {port.name}", port.shape) for port in memory),
        *held,
    ]

    def run(*values: Any) -> dict[str, Any]:
        given = dict(zip((port.name for port in (*plant.ports, *rates)), values, strict=True))
        now = _upright(plant, plant.now({port.name: given[port.name] for port in plant.ports}))
        forces = now.balance(given["a"], given.get("held", ()))
        told = zip(flattened(given, rates[1 : len(memory) + 1]), flattened(now.memory_rates, memory), strict=True)
        rows = [*forces[: len(given["a"])], *(x - y for x, y in told), *forces[len(given["a"]) :]]
        return {"balance": rows} | ({"power": now.power(now.tau)} if plant.works else {})

    return trace("balance", run, [*plant.ports, *rates])


def _with_identity(S: Matrix, first: int, end: int) -> Matrix:
    """Rows and columns of rates that stand in their own balance as they are."""
    more = end - first
    wide = [[*row[:first], *[0] * more, *row[first:]] for row in S]
    own = [[int(i == j) for j in range(len(S) + more)] for i in range(first, end)]
    return [*wide[:first], *own, *wide[first:]]
