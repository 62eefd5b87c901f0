"""``linkwork bench``: how fast the native code of a robot is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .. import inspection
from ..errors import UnsupportedError
from ..inspection.speed import describe_host
from .common import Json, Source, print_json, progress, say, show, takes_robot


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
    pinocchio = None
    if peers:
        from ..inspection.peers import Pinocchio

        if source.options["lock"]:
            raise UnsupportedError("locked joints are not compared", where="--peers", fix="leave --lock out")
        pinocchio = Pinocchio(source.name, source.load(friction=False, rotors=False))
    robot = source.load()
    found = inspection.bench(robot, batch, pinocchio=pinocchio, progress=progress)
    if json:
        print_json(found)
        return
    rows = found["functions"]
    show_speed(f"{robot.name}: native speed, batches of {batch}", rows)
    if pinocchio is not None:
        _show_peers(pinocchio.version, rows, found["pinocchio"])
    say(describe_host(), "dim")


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
