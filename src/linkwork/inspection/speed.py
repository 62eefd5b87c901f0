"""Speed of a robot's native code."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..robot import Robot
from .measure import Progress, seconds
from .peers import Pinocchio
from .states import random_states

TIMED = ("inverse_dynamics", "forward_dynamics", "inertia_matrix")


def bench(
    robot: Robot,
    batch: int = 4096,
    *,
    quantity: str | Sequence[str] | None = None,
    inputs: Sequence[str] = (),
    pinocchio: Pinocchio | None = None,
    progress: Progress = nullcontext,
) -> dict[str, Any]:
    """Measure the speed of a robot's native code: medians on one core, in float64.

    Args:
        robot: The robot.
        batch: Number of states in a batch.
        quantity: What to measure. Default: inverse dynamics, forward dynamics and inertia matrix. Several: each alone,
            and all in one program; "pose:hand" is the pose of the frame "hand".
        inputs: Numbers of the robot that are inputs, as for ``compile``; calls pass the robot's own.
        pinocchio: ``linkwork.inspection.peers.Pinocchio`` to time on the same states. Default: none.
        progress: Context manager called with a text for each measurement. Default: none.

    Returns:
        The robot, the batch size, the processor, and for each quantity the compile time without the cache, ns per state
        in a batch, and us per single call.

    Example:
        >>> rows = linkwork.inspection.bench(linkwork.load("planar2r"), batch=16)["functions"]  # doctest: +SKIP
    """
    rows = []
    names = list(TIMED) if not quantity else [quantity] if isinstance(quantity, str) else list(quantity)
    for name in names:
        with progress(f"timing {name}"):
            rows.append(measure(robot, name, batch, inputs=inputs))
    if quantity and len(names) > 1:
        with progress("timing all in one program"):
            rows.append(measure(robot, names, batch, inputs=inputs) | {"quantity": "together", "method": ""})
    facts: dict[str, Any] = {"robot": robot.name, "batch": batch, "host": host_facts(), "functions": rows}
    if pinocchio is not None:
        with progress("timing Pinocchio"):
            facts["pinocchio"] = [pinocchio.measure(name, batch) for name in TIMED]
    return facts


def measure(
    robot: Robot, quantity: str | Sequence[str], batch: int, repeats: int = 9, inputs: Sequence[str] = ()
) -> dict[str, Any]:
    """Compile a quantity, or several, without the cache, and measure it with outputs that are allocated once."""
    from ..codegen.native import object_code
    from ..codegen.native.target import host

    start = time.perf_counter()
    function = robot.compile(quantity, inputs=inputs)
    object_code(function.program, function.dtype, host())
    compiled = time.perf_counter() - start
    states = random_states(robot, batch)
    nominal = {port.name: each.array(port) for port in function.program.inputs
               if (each := function.label.nominal.get(port.name))}  # fmt: skip
    many = [nominal[port.name] if port.name in nominal else states[port.name] for port in function.program.inputs]
    one = [nominal[port.name] if port.name in nominal else np.ascontiguousarray(x[0])
           for port, x in zip(function.program.inputs, many, strict=True)]  # fmt: skip
    per_state = seconds(lambda: function(*many), repeats=repeats) / batch
    per_call = seconds(lambda: function(*one), repeats=repeats)
    return {
        "quantity": quantity,
        "method": function.label.method,
        "compile_s": compiled,
        "batch_ns_per_state": per_state * 1e9,
        "states_per_second": 1 / per_state,
        "one_call_us": per_call * 1e6,
        "operations": function.operations.to_dict(),
    }


def host_facts() -> dict[str, Any]:
    from ..codegen.native.target import host

    target = host()
    lanes = target.lanes("float64")
    return {"cpu": target.cpu, "vector_bits": 8 * target.vector_bytes, "lanes": lanes, "fma": target.fused}


def describe_host() -> str:
    facts = host_facts()
    fused = "with" if facts["fma"] else "without"
    lanes = f"{facts['vector_bits']}-bit vectors ({facts['lanes']} float64 lanes)"
    return f"{facts['cpu']}, {lanes} {fused} fused multiply-add, one core"
