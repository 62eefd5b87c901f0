"""Digests of programs, to see that a change of the code changes no program it should not change.

    python benchmarks/freeze.py record before.json
    python benchmarks/freeze.py compare before.json

Every bundled robot with every quantity by every method that takes it, and robots of example-robot-data on fixed and
floating bases. Digests hold for one machine: constants of programs are rounded by its linear algebra.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path

import linkwork
from linkwork.formulations import QUANTITIES, methods

STRANGERS = (
    "double_pendulum", "kinova", "iris", "finger_edu", "solo12", "hyq_no_sensors", "tiago_no_hand", "talos_left_arm",
    "xarm7", "baxter",
)  # fmt: skip
LARGE = 24  # freedoms; above it by the automatic method alone


def robots() -> Iterator[tuple[str, linkwork.Robot]]:
    for name in linkwork.bundled_robots():
        yield name, linkwork.load(name)
    found = (Path(str(file.locate())) for file in files("example-robot-data") or () if file.suffix == ".urdf")
    paths = {path.stem: path for path in found}
    for name in STRANGERS:
        for base in ("fixed", "floating"):
            yield f"{name}-{base}", linkwork.load(paths[name], base=base)


def programs(robot: linkwork.Robot) -> Iterator[tuple[str, str]]:
    """Name and digest, or the reason why there is none."""
    frame = list(robot.model.frames)[-1]
    for quantity, asked in QUANTITIES.items():
        frames = {"frame": frame} if asked.of_frame else {}
        every = ["auto"] if robot.model.nv > LARGE else ["auto", *(method.name for method in methods(quantity))]
        for method in every:
            key = f"{quantity}/{method}"
            try:
                function = linkwork.compile(robot, quantity, method=method, backend="interpreter", **frames)
                yield key, f"{function.label.method} {function.program.digest}"
            except linkwork.LinkworkError as error:
                yield key, f"refused: {str(error).splitlines()[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--robot", help="only robots whose names contain this")
    asked = parser.parse_args()
    found = {}
    for name, robot in robots():
        if asked.robot is None or asked.robot in name:
            print(name, file=sys.stderr, flush=True)
            found |= {f"{name}/{key}": value for key, value in programs(robot)}
    if asked.command == "record":
        asked.file.write_text(json.dumps(found, indent=0))
        print(len(found), "programs")
        return
    before = json.loads(asked.file.read_text())
    changed = [key for key, value in found.items() if before.get(key) != value]
    for key in changed:
        print(f"{key}: {before.get(key, 'new')} -> {found[key]}")
    print(f"{len(changed)} of {len(found)} programs changed")
    sys.exit(bool(changed))


if __name__ == "__main__":
    main()
