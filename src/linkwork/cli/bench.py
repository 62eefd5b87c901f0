"""``linkwork bench``: how fast the native code of a robot is."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import typer

from ..robot import Robot
from .common import Json, Source, print_json, progress, say, show, takes_robot
from .measure import seconds
from .states import random_states

TIMED = ("inverse_dynamics", "forward_dynamics", "inertia_matrix")


@takes_robot
def bench(
    source: Source,
    batch: Annotated[int, typer.Option(min=1, help="States in a batch.")] = 4096,
    peers: Annotated[bool, typer.Option("--peers", help="Time Pinocchio too, if installed; for URDF files.")] = False,
    json: Json = False,
) -> None:
    """Measure the native code of a robot: medians on one core, in float64.

    Compilation is from the robot to machine code, past the cache. Batches are C-ordered arrays through the Python API.

    \b
    linkwork bench panda
    linkwork bench my_robot.urdf --batch 65536 --peers
    """
    if peers:
        from .peers import Pinocchio

        pinocchio = Pinocchio(source)
    robot = source.load()
    rows = []
    for quantity in TIMED:
        with progress(f"timing {quantity}"):
            rows.append(measure(robot, quantity, batch))
    report: dict[str, Any] = {"robot": robot.name, "batch": batch, "host": host_facts(), "functions": rows}
    if peers:
        with progress("timing Pinocchio"):
            report["pinocchio"] = [pinocchio.measure(row["quantity"], batch) for row in rows]
    if json:
        print_json(report)
        return
    show_speed(f"{robot.name}: native speed, batches of {batch}", rows)
    if peers:
        _show_peers(pinocchio.version, rows, report["pinocchio"])
    say(describe_host(), "dim")


def measure(robot: Robot, quantity: str, batch: int, repeats: int = 9) -> dict[str, Any]:
    """Compile a quantity without the cache, and time it."""
    from ..codegen.native import object_code
    from ..codegen.target import host

    start = time.perf_counter()
    function = robot.compile(quantity)
    object_code(function.program, function.dtype, host())
    compiled = time.perf_counter() - start
    states = random_states(robot.model, batch)
    many = [states[port.name] for port in function.program.inputs]
    one = [np.ascontiguousarray(x[0]) for x in many]
    per_state = seconds(lambda: function(*many), repeats=repeats) / batch
    per_call = seconds(lambda: function(*one), repeats=repeats)
    return {
        "quantity": quantity,
        "method": function.label.method,
        "compile_s": compiled,
        "batch_ns_per_state": per_state * 1e9,
        "states_per_second": 1 / per_state,
        "one_call_us": per_call * 1e6,
        "operations": asdict(function.operations),
    }


def show_speed(title: str, rows: list[dict[str, Any]]) -> None:
    show(
        title,
        ["quantity", "method", "compile\ns", "state\nns", "one call\nus", "mul", "add", "div"],
        [
            [
                row["quantity"], row["method"], round(row["compile_s"], 2), _rounded(row["batch_ns_per_state"]),
                _rounded(row["one_call_us"]),
                *(row["operations"][name] for name in ("mul", "add", "div")),
            ]
            for row in rows
        ],
    )  # fmt: skip


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _show_peers(version: str, rows: list[dict[str, Any]], peers: list[dict[str, Any]]) -> None:
    shown = [
        [
            row["quantity"], _rounded(row["batch_ns_per_state"]), _rounded(peer["batch_ns_per_state"]),
            _rounded(peer["batch_ns_per_state"] / row["batch_ns_per_state"]),
            _rounded(row["one_call_us"]), _rounded(peer["one_call_us"]), float(f"{peer['deviation']:.0e}"),
        ]
        for row, peer in zip(rows, peers, strict=True)
    ]  # fmt: skip
    headers = ["quantity", "state\nns", "Pinocchio\nns", "ratio", "call\nus", "Pinocchio\nus", "relative\ndeviation"]
    show(f"Beside Pinocchio {version}", headers, shown)
    say(
        "Pinocchio: rneaInParallel and abaInParallel with one thread for batches, crba call by call. Results were"
        " compared without friction and rotor inertias, of which linkwork's times include those in the file.",
        "dim",
    )


def host_facts() -> dict[str, Any]:
    from ..codegen.target import host

    target = host()
    lanes = target.lanes("float64")
    return {"cpu": target.cpu, "vector_bits": 8 * target.vector_bytes, "lanes": lanes, "fma": target.fused}


def describe_host() -> str:
    facts = host_facts()
    fused = "with" if facts["fma"] else "without"
    lanes = f"{facts['vector_bits']}-bit vectors ({facts['lanes']} float64 lanes)"
    return f"{facts['cpu']}, {lanes} {fused} fused multiply-add, one core"
