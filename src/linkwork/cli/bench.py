"""``linkwork bench``: the speed of a robot's native code."""

from __future__ import annotations

from typing import Annotated, Any

from .. import inspection
from ..errors import UnsupportedError
from ..inspection.speed import describe_host
from ..inspection.tables import speed
from ..table import Column, Table
from .common import Inputs, Json, Source, flag, option, quantity_option, takes_robot
from .printing import print_json, progress, say, show


@takes_robot
def bench(
    source: Source,
    quantity: Annotated[
        list[str] | None,
        quantity_option(
            "Only this quantity. Default: the dynamics. Repeated: each alone, and all in one program; pose:hand is the"
            " pose of the frame hand."
        ),
    ] = None,
    batch: Annotated[int, option(None, "Number of states in a batch.", min=1)] = 4096,
    pinocchio: Annotated[bool, flag("--pinocchio", "Time Pinocchio, too, if it is installed; for URDF files.")] = False,
    inputs: Inputs = None,
    json: Json = False,
) -> None:
    """Measure the speed of a robot's native code: medians on one core, in float64.

    Compilation times are from the robot to machine code, without the cache. Batch times are for calls from Python with
    C-ordered arrays.

    \b
    linkwork bench panda
    linkwork bench my_robot.urdf --batch 65536 --pinocchio
    linkwork bench panda --quantity inertia_matrix --quantity bias
    """
    peer = None
    if pinocchio:
        from ..inspection.peers import Pinocchio

        if source.options["lock"]:
            raise UnsupportedError("locked joints are not compared", where="--pinocchio", fix="leave --lock out")
        peer = Pinocchio(source.name, source.load(friction=False, rotors=False))
    robot = source.load()
    if peer is not None and quantity:
        raise UnsupportedError("Pinocchio is timed with the dynamics", where="--pinocchio", fix="leave --quantity out")
    if peer is not None and inputs:
        raise UnsupportedError("Pinocchio is timed without inputs", where="--pinocchio", fix="leave --inputs out")
    facts = inspection.bench(robot, batch, quantity=quantity, inputs=inputs or (), pinocchio=peer, progress=progress)
    if json:
        print_json(facts)
        return
    rows = facts["functions"]
    show(speed(f"{robot.name}: native speed, batches of {batch}", rows))
    if peer is not None:
        show(_pinocchio_table(peer.version, rows, facts["pinocchio"]))
    say(describe_host(), "dim")


def _pinocchio_table(version: str, rows: list[dict[str, Any]], peers: list[dict[str, Any]]) -> Table:
    columns_shown = [
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
        " compared without friction and rotor inertias; linkwork's times include those of the file."
    )
    return Table(f"Compared with Pinocchio {version}", columns, columns_shown, [note])
