"""From a description to the first result of large robots, stage by stage, with nothing in a cache.

    python benchmarks/large.py

Processor time of one thread. ``tests/unit/test_growth.py`` and ``tests/compiled/test_large.py`` hold the growth itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import thread_time
from typing import Any

import numpy as np

import linkwork
from linkwork.codegen.native import ir_text
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement

KINDS = ("revolute", "prismatic", "revolute", "continuous", "revolute", "revolute")  # in turn
LIMIT = 20.0  # seconds
LENGTHS = (50, 100, 200, 400)  # of chains, from which exponents are fitted
STAGES = ("load", "program", "IR", "machine code and first result")


def tree(name: str, parents: Sequence[int], floating: bool = False) -> Description:
    """Link k + 1 hangs on link ``parents[k]``: skew axes, full inertias."""
    random = np.random.default_rng(0)

    def rotation() -> np.ndarray:
        Q, _ = np.linalg.qr(random.normal(size=(3, 3)))
        return Q * np.linalg.det(Q)

    def inertia() -> LinkInertia:
        mass, second, R = random.uniform(0.5, 3), random.uniform(0.01, 0.05, 3), rotation()
        return LinkInertia(mass, random.uniform(-0.3, 0.3, 3), mass * R @ np.diag(second.sum() - second) @ R.T)

    links, joints = [Link("link0", inertia())], []
    for k, parent in enumerate(parents):
        links.append(Link(f"link{k + 1}", inertia()))
        placement = Placement(rotation(), random.uniform(-0.5, 0.5, 3))
        ends = links[parent].name, links[-1].name
        joints.append(JointDescription(f"joint{k + 1}", KINDS[k % len(KINDS)], *ends, placement, rotation()[0]))
    return Description(name, tuple(links), tuple(joints), floating=floating)


def chain(joints: int) -> Description:
    return tree(f"chain of {joints} joints", range(joints))


def star(joints: int) -> Description:
    """All on one floating body."""
    return tree(f"star of {joints} joints", [0] * joints, floating=True)


CASES: tuple[tuple[Callable[[int], Description], int, str], ...] = (
    (chain, 500, "inverse_dynamics"),
    (chain, 500, "forward_dynamics"),
    (star, 120, "inertia_matrix"),
    (chain, 18, "regressor"),  # 2000 outputs
)


@contextmanager
def no_cache() -> Iterator[None]:
    before, os.environ["LINKWORK_CACHE"] = os.environ.get("LINKWORK_CACHE"), "off"
    try:
        yield
    finally:
        if before is None:
            del os.environ["LINKWORK_CACHE"]
        else:
            os.environ["LINKWORK_CACHE"] = before


def cold(description: Description, quantity: str) -> dict[str, Any]:
    """Seconds of every stage until the first result is there. IR is written twice: once to time it."""
    marks = [thread_time()]
    robot = linkwork.load(description)
    marks.append(thread_time())
    function = robot.compile(quantity)
    marks.append(thread_time())
    ir_text(function.program)
    marks.append(thread_time())
    rates = [np.zeros(port.shape) for port in function.program.inputs[1:]]
    result = function(robot.coordinates.neutral(), *rates)
    marks.append(thread_time())
    assert np.isfinite(result).all()
    load, program, text, rest = np.diff(marks).tolist()
    return {
        "robot": description.name,
        "quantity": quantity,
        "method": function.label.method,
        "instructions": len(function.program.instructions),
        "outputs": len(function.program.results),
        "seconds": dict(zip(STAGES, (load, program, text, rest - text), strict=True)),
        "total": load + program + rest,
    }


def large(lengths: Sequence[int] = LENGTHS) -> dict[str, Any]:
    """The cases, and how time grows with the length of chains: p of seconds ~ joints^p by least squares."""
    with no_cache():
        cold(chain(5), "inverse_dynamics")  # imports, and wakes LLVM
        cases = [cold(make(size), quantity) for make, size, quantity in CASES]
        quantities = "inverse_dynamics", "forward_dynamics"
        growth = {quantity: [cold(chain(length), quantity) for length in lengths] for quantity in quantities}
    exponents = {
        quantity: float(np.polyfit(np.log(lengths), np.log([row["total"] for row in rows]), 1)[0])
        for quantity, rows in growth.items()
    }
    return {"limit": LIMIT, "cases": cases, "lengths": lengths, "growth": growth, "exponents": exponents}


def main() -> None:
    found = large()
    for row in (*found["cases"], *(row for rows in found["growth"].values() for row in rows)):
        stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in row["seconds"].items())
        size = f"{row['instructions']} instructions, {row['outputs']} outputs"
        print(f"{row['robot']}, {row['quantity']} ({size}): {row['total']:.2f} s: {stages}")
    print("exponents:", {quantity: round(p, 2) for quantity, p in found["exponents"].items()})
    sys.exit(any(row["total"] > LIMIT for row in found["cases"]))


if __name__ == "__main__":
    main()
