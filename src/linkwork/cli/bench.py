"""``linkwork bench``: how fast the native code of a robot is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .. import inspection
from ..errors import UnsupportedError
from ..inspection.speed import describe_host
from ..inspection.tables import speed
from ..table import Column, Table
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
    show(speed(f"{robot.name}: native speed, batches of {batch}", rows))
    if pinocchio is not None:
        show(_peers_table(pinocchio.version, rows, found["pinocchio"]))
    say(describe_host(), "dim")


def _peers_table(version: str, rows: list[dict[str, Any]], peers: list[dict[str, Any]]) -> Table:
    shown = [
        [
            row["quantity"], row["batch_ns_per_state"], peer["batch_ns_per_state"],
            peer["batch_ns_per_state"] / row["batch_ns_per_state"], row["one_call_us"], peer["one_call_us"],
            peer["deviation"],
        ]
        for row, peer in zip(rows, peers, strict=True)
    ]  # fmt: skip
    names = ("state", "ns"), ("Pinocchio", "ns"), ("ratio", ""), ("call", "us"), ("Pinocchio", "us")
    columns = ["quantity", *(Column(*name, 3) for name in names), Column("relative", "deviation", 1)]
    note = (
        "Pinocchio: rneaInParallel and abaInParallel with one thread for batches, crba call by call. Results were"
        " compared without friction and rotor inertias, of which linkwork's times include those in the file."
    )
    return Table(f"Beside Pinocchio {version}", columns, shown, [note])
