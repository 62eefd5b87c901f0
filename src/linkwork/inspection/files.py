"""Robot files: what is wrong with one, and another that says the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import io
from ..constraints import closed
from ..errors import LinkworkError, ModelError, at_door
from ..files import write_text
from ..io.parameter_file import with_parameters
from ..model import Description, Finding, build, describe
from ..model import check as find
from ..robot import Robot, load
from .facts import JOINT_VALUES
from .measure import deviation
from .states import random_states

AGREEMENT = 1e-9  # largest relative deviation of dynamics and poses that a conversion may cause


def check(
    file: str | Path, structure: str | Path | None = None, *, parameters: Any = None, outside: bool = False
) -> dict[str, Any]:
    """What is wrong or suspicious in a robot file, a finding each. ``structure``, ``parameters`` (then links are told
    with all that is fixed to them), ``outside``: as of ``load``."""
    try:
        description = io.read(file, structure, allow_external_files=outside)
        findings = find(description)
        sound = not any(finding.level == "error" for finding in findings)
        if sound and (description.permanent or parameters is not None):
            model = closed(build(description), description)
            if parameters is not None:
                findings = (*description.findings, *find(describe(with_parameters(model, parameters))))
            findings += tuple(each for each in model.findings if each not in findings)  # whether loops close
    except ModelError as error:
        findings = error.findings or (Finding.of(error),)
    errors = sum(finding.level == "error" for finding in findings)
    told = ("level", "where", "message", "fix", "at_load")
    listed = [{name: getattr(finding, name) for name in told} for finding in findings]
    return {"file": str(file), "errors": errors, "warnings": len(findings) - errors, "findings": listed}


def convert(
    robot: Robot,
    out: str | Path,
    *,
    overwrite: bool = False,
    file: str | Path | None = None,
    description: Description | None = None,
) -> dict[str, Any]:
    """Write a robot as URDF or YAML, read it back before, and refuse if its dynamics or poses would not be the same.

    ``file`` and what was read from it, ``description``: where the robot is from, to tell what is dropped.
    """
    out = Path(out)
    texts = io.texts(describe(robot.model), out)
    for path in texts:
        if path.exists() and not overwrite:
            fix = f"choose another name, or replace it with {at_door('overwrite=True', '--force')}"
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
    given = description or describe(robot.model)
    dropped = list(_dropped(Path(file or ""), given, robot, back))
    joints = robot.coordinates.positions.joints
    return {
        "file": str(out),
        "files": [*map(str, texts)],
        "joints": joints,
        "deviation": difference,
        "dropped": dropped,
    }


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
    states = random_states(robot, 100)
    if one.commands != two.commands:
        return float("inf")
    functions = [each.compile("hybrid_dynamics", backend="interpreter") for each in (robot, back)]
    here, there = (run(*(states[port.name] for port in run.program.inputs)) for run in functions)
    frame = robot.frame_names[-1]
    poses = (each.compile("pose", frame=frame, backend="interpreter")(states["q"]) for each in (robot, back))
    return max(deviation(here, there), deviation(*poses))


def _dropped(path: Path, given: Description, robot: Robot, back: Robot) -> Iterator[str]:
    """What the user's file says and the new one does not."""
    if path.suffix.lower() in (".urdf", ".xml", ".mjcf"):
        tags = Counter(re.findall(rb"<(visual|collision|sensor|gazebo|ros2_control)\b", path.read_bytes()))
        if tags:
            yield "what has no part in the dynamics: " + ", ".join(f"{n} <{tag.decode()}>" for tag, n in tags.items())
    yield from (finding.message for finding in given.findings if finding.unread)
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
