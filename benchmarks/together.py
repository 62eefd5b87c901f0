"""What functions of one's own cost: several quantities in one call, a quantity inside a function, closed loops.

    python benchmarks/together.py [--quick]

Contenders run in turn in one process; their results agree before they are timed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import Contender, race, ratio, use_cores

import linkwork
from linkwork.codegen.native.target import host

HAND = "panda_link8"
NAMES = ["inertia_matrix", "bias", "gravity", f"pose:{HAND}", f"jacobian:{HAND}"]
SIZES = (1, 64, 512, 4096, 32_768)
NEAR = 0.05  # m, from the guess of a platform to its position
Times = Callable[..., dict[str, Any]]


def states(number: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(3, number, 7) if number > 1 else (3, 7))


def several(times: Times) -> Table:
    """Five quantities of the Panda together, as five functions, and as five methods of the robot."""
    robot = linkwork.load("panda")
    together, (M, b, g, T, J) = robot.compile(NAMES), [robot.compile(name) for name in NAMES]

    def functions(q: Any, v: Any) -> Any:
        return M(q), b(q, v), g(q), T(q), J(q)

    def methods(q: Any, v: Any) -> Any:
        return (robot.inertia_matrix(q), robot.bias(q, v), robot.gravity(q), robot.pose(HAND, q),
                robot.jacobian(HAND, q))  # fmt: skip

    table = Table("states", "results in", "together", "functions", "methods", "together / functions", "/ methods")
    for number in SIZES:
        q, v, _ = states(number)
        own, out = together(q, v), functions(q, v)
        for x, y in zip(own, out, strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-11)

        def into(q: Any, v: Any, out: Any = out) -> None:
            M(q, out=out[0]), b(q, v, out=out[1]), g(q, out=out[2]), T(q, out=out[3]), J(q, out=out[4])

        for where, calls in {
            "new arrays": {"together": together, "functions": functions, "methods": methods},
            "given arrays": {"together": partial(together, out=tuple(own)), "functions": into},
        }.items():
            found = times(calls, (q, v), number)
            figures = [f"{found[name]['ns']:.1f}" for name in found]
            ratios = [f"{1 / ratio(found[name], found['together']):.2f}" for name in (*found,)[1:]]
            blank = [""] * (3 - len(found))
            table.add_row(f"{number:,}", where, *figures, *blank, *ratios, *blank)
    return table


def own(times: Times) -> Table:
    """A quantity of the Panda, and a function of one's own that returns it."""
    robot = linkwork.load("panda")
    table = Table("quantity", "states", "quantity", "own function", "own / quantity")
    functions = {
        "inertia_matrix": robot.function(lambda robot, q: robot.inertia_matrix(q)),
        "bias": robot.function(lambda robot, q, v: robot.bias(q, v)),
        "forward_dynamics": robot.function(lambda robot, q, v, tau: robot.forward_dynamics(q, v, tau)),
    }
    for name, function in functions.items():
        for number in (1, 4096):
            inputs = tuple(states(number)[: len(function.program.inputs)])
            quantity = robot.compile(name)
            np.testing.assert_allclose(quantity(*inputs), function(*inputs), rtol=1e-10, atol=1e-10)
            found = times({"quantity": quantity, "own": function}, inputs, number)
            figures = [f"{each['ns']:.1f}" for each in found.values()]
            table.add_row(name, f"{number:,}", *figures, f"{1 / ratio(found['quantity'], found['own']):.2f}")
    return table


def closed(times: Times) -> Table:
    """Positions of all joints of a platform from those of its six motors, from the position at an earlier step."""
    robot = linkwork.load("gough-stewart")
    close = robot.compile("assemble")
    random, table = np.random.default_rng(0), Table("states", "ns a state", "turns", "largest residual")
    for number in (1, 4096):
        home = np.array(robot.home)
        motors = robot.coordinates.places(robot.motor_names)
        goal = home[motors] + random.uniform(-NEAR, NEAR, (number, 6) if number > 1 else 6)
        guess = np.broadcast_to(home, (*goal.shape[:-1], home.size)).copy()
        result = close(goal, guess)
        if not np.all(result.solved) or np.abs(result.q[..., motors] - goal).max() > 1e-12:
            raise SystemExit("a platform is not closed")
        found = times({"assemble": close}, (goal, guess), number)
        table.add_row(f"{number:,}", f"{found['assemble']['ns']:.0f}", f"{np.mean(result.turns):.2f}",
                      f"{np.max(result.residual):.0e}")  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: to try the benchmark, not to quote it")
    rounds, budget = (3, 0.005) if parser.parse_args().quick else (15, 0.03)
    use_cores(1)

    def times(calls: dict[str, Callable[..., Any]], args: Any, number: int) -> dict[str, Any]:
        return race([Contender(name, call, args, number) for name, call in calls.items()], rounds, budget)

    console = Console(width=140)
    console.print(f"{host().cpu}, {host().lanes('float64')} lanes; ns a state, medians of {rounds} rounds")
    for measure in (several, own, closed):
        console.print(f"\n{measure.__doc__}", measure(times))


if __name__ == "__main__":
    main()
