"""``linkwork check`` and ``linkwork convert``: robot files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from .. import io
from ..constraints import closed
from ..errors import LinkworkError, ModelError
from ..files import write_text
from ..model import Description, Finding, build, describe
from ..model import check as find
from ..robot import Robot, load
from .common import Json, Source, print_json, say, show, takes_robot
from .measure import deviation
from .robots import JOINT_VALUES
from .states import random_states

MOST_ROWS = 100  # findings shown in a table
AGREEMENT = 1e-9  # largest relative deviation of inverse dynamics that a conversion may cause


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A URDF, MJCF or YAML file, or a bundled robot by name.")],
    structure: Annotated[
        str | None, typer.Option(metavar="FILE", help="YAML with loops and roles of joints beside it.")
    ] = None,
    outside: Annotated[bool, typer.Option("--outside", help="Let MJCF take files from outside its folder.")] = False,
    json: Json = False,
) -> None:
    """Say what is wrong or suspicious in a robot file. Exit code 1 if there are errors, 0 if only warnings.

    \b
    linkwork check my_robot.urdf
    """
    try:
        description = io.read(file, structure, outside=outside)
        findings = find(description)
        if description.loops and not any(finding.level == "error" for finding in findings):
            findings += closed(build(description), description).findings  # whether loops close is a matter of numbers
    except ModelError as error:
        findings = error.findings or (Finding.of(error),)
    errors = sum(finding.level == "error" for finding in findings)
    warnings = len(findings) - errors
    if json:
        listed = [asdict(finding) for finding in findings]
        print_json({"file": file, "errors": errors, "warnings": warnings, "findings": listed})
    elif findings:
        rows = [[f.level, f.where.removeprefix(f"{file}: "), f.message, f.fix or None] for f in findings[:MOST_ROWS]]
        show(file, ["level", "where", "what", "fix"], rows)
        if len(findings) > MOST_ROWS:
            say(f"and {len(findings) - MOST_ROWS} more: --json has all of them")
        say(f"{_some(errors, 'error')}, {_some(warnings, 'warning')}: it {'does not load' if errors else 'loads'}.")
    else:
        say(f"{file} is clean: no errors, no warnings.")
    if errors:
        raise typer.Exit(1)


def _some(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


@takes_robot
def convert(
    source: Source,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: .urdf, .yaml or .yml.")],
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    json: Json = False,
) -> None:
    """Write a robot as URDF or YAML, and confirm that the file has the same inverse dynamics.

    \b
    linkwork convert my_robot.urdf my_robot.yaml
    linkwork convert panda panda.urdf --lock panda_joint7=0
    """
    robot = source.load()
    texts = io.texts(describe(robot.model), out)
    for path in texts:
        if path.exists() and not force:
            fix = "choose another name, or replace it with --force"
            raise LinkworkError("the file exists", where=str(path), fix=fix)
    back = _read_back(texts, out)
    difference = _difference(robot, back)
    if not difference <= AGREEMENT:
        raise LinkworkError(
            "the file would not describe the same robot, so it was not written", where=str(out),
            got=f"relative deviation {difference:.1e}", expected=f"at most {AGREEMENT:g}",
        )  # fmt: skip
    for path, text in texts.items():
        write_text(path, text)
    described = io.read(source.name, source.options["structure"], outside=source.options["outside"])
    dropped, joints = list(_dropped(source, described, robot, back)), robot.coordinates.positions.joints
    if json:
        print_json({"file": str(out), "joints": joints, "deviation": difference, "dropped": dropped})
        return
    say(f"wrote {' and '.join(map(str, texts))}: {len(joints)} joints")
    say(f"read back: torques and poses agree at 100 random states, relative deviation {difference:.1e}")
    for what in dropped:
        say(f"not in the file: {what}")


def _read_back(texts: Mapping[Path, str], out: Path) -> Robot:
    """The robot that the texts describe, before they are written."""
    description = io.READERS[out.suffix.lower()](texts[out], str(out))
    for path, text in texts.items():
        if path != out:
            description = io.apply(description, io.read_structure(text, str(path)))
    return load(description)


def _difference(robot: Robot, back: Robot) -> float:
    one, two = robot.model, back.model
    here, there = one.coordinates, two.coordinates
    if here.positions != there.positions or here.velocities != there.velocities or one.mobility != two.mobility:
        return float("inf")
    states = random_states(one, 100)
    here, there = (
        each.compile("hybrid_dynamics", backend="interpreter")(
            *(states[name] for name in ("q", "v", "a_known", "tau_known"))
        )
        for each in (robot, back)
    )
    frame = robot.frame_names[-1]
    poses = (each.compile("pose", frame=frame, backend="interpreter")(states["q"]) for each in (robot, back))
    return max(deviation(here, there), deviation(*poses))


def _dropped(source: Source, given: Description, robot: Robot, back: Robot) -> Iterator[str]:
    """What the user's file says and the new one does not."""
    path = Path(source.name)
    if path.suffix.lower() in (".urdf", ".xml"):
        tags = Counter(re.findall(rb"<(visual|collision|sensor|gazebo|ros2_control)\b", path.read_bytes()))
        if tags:
            yield "what has no part in the dynamics: " + ", ".join(f"{n} <{tag.decode()}>" for tag, n in tags.items())
    yield from (f.message for f in given.findings if re.search("ignored|was not read", f.message))
    kept = {link.name for link in describe(back.model).links}
    if merged := [link.name for link in given.links if link.name not in kept and link.name in back.frame_names]:
        yield "links fixed to others, now merged with them and kept as frames: " + ", ".join(merged)
    names = [*(link.name for link in given.links), *given.frames]
    if frames := [name for name in names if name not in back.frame_names]:
        yield "frames: " + ", ".join(frames)
    for old, new in zip(robot.coordinates.joints, back.coordinates.joints, strict=True):
        for value in JOINT_VALUES:
            if getattr(old, value) != getattr(new, value):
                yield f"{value} of joint {old.name!r}: {getattr(old, value):g} became {getattr(new, value):g}"
    if (given.summary or given.sources) and not (back.model.summary or back.model.sources):
        yield "the description and the sources of the values"
