"""Robot files: checking one, and converting it to another format."""

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
from ..io import parameter_file
from ..model import Description, Finding, build, describe
from ..model import check as find
from ..renamed import renamed_arguments
from ..robot import Robot, load
from .facts import JOINT_VALUES
from .measure import deviation
from .states import random_states

AGREEMENT = 1e-9  # largest relative deviation of dynamics and poses that a conversion may cause


@renamed_arguments(parameters="with_parameters", outside="allow_external_files")
def check(
    file: str | Path,
    structure: str | Path | None = None,
    *,
    with_parameters: Any = None,
    allow_external_files: bool = False,
) -> dict[str, Any]:
    """Report the errors and warnings in a robot file.

    Args:
        file: A URDF, MJCF or YAML file, or a bundled robot by name.
        structure: YAML file with loops and roles of joints, as for ``load``.
        with_parameters: Other values for the robot, as for ``load``; links then include all that is fixed to them.
        allow_external_files: True allows an MJCF file to include files from outside its folder.

    Returns:
        The file, the number of errors and warnings, and a list of findings: level, where, message, fix, and whether
        loading reports it.

    Example:
        >>> linkwork.inspection.check("panda")["errors"]
        0
    """
    try:
        description = io.read(file, structure, allow_external_files=allow_external_files)
        findings = find(description)
        sound = not any(finding.level == "error" for finding in findings)
        if sound and (description.permanent or with_parameters is not None):
            model = closed(build(description), description)
            if with_parameters is not None:
                changed_model = parameter_file.with_parameters(model, with_parameters)
                findings = (*description.findings, *find(describe(changed_model)))
            findings += tuple(each for each in model.findings if each not in findings)  # whether loops close
    except ModelError as error:
        findings = error.findings or (Finding.of(error),)
    errors = sum(finding.level == "error" for finding in findings)
    keys = ("level", "where", "message", "fix", "at_load")
    rows = [{key: getattr(finding, key) for key in keys} for finding in findings]
    return {"file": str(file), "errors": errors, "warnings": len(findings) - errors, "findings": rows}


@renamed_arguments(out="path")
def convert(
    robot: Robot,
    path: str | Path,
    *,
    overwrite: bool = False,
    file: str | Path | None = None,
    description: Description | None = None,
) -> dict[str, Any]:
    """Write a robot as URDF or YAML, after checking that the file has the same dynamics and poses.

    Args:
        robot: The robot.
        path: The file; its suffix (.urdf, .yaml or .yml) is the format.
        overwrite: True replaces a file that exists.
        file: The file that the robot comes from, to report what is dropped. Default: not reported.
        description: The contents of ``file``. Default: those of the robot.

    Returns:
        The files written, the joints, the largest relative deviation, and a list of what was dropped.

    Raises:
        LinkworkError: The file exists, or would not describe the same robot.

    Example:
        >>> linkwork.inspection.convert(robot, "panda.urdf")["files"]
        ['panda.urdf']
    """
    out = Path(path)
    texts = io.texts(describe(robot.model), out)
    for each in texts:
        if each.exists() and not overwrite:
            fix = f"choose another name, or replace it with {at_door('overwrite=True', '--overwrite')}"
            raise LinkworkError("the file exists", where=str(each), fix=fix)
    back = _read_back(texts, out)
    difference = _difference(robot, back)
    if not difference <= AGREEMENT:
        raise LinkworkError(
            "the file would not describe the same robot, so it was not written", where=str(out),
            got=f"relative deviation {difference:.1e}", expected=f"at most {AGREEMENT:g}",
        )  # fmt: skip
    for each, text in texts.items():
        write_text(each, text)
    return {
        "file": str(out),
        "files": [*map(str, texts)],
        "joints": robot.coordinates.positions.joints,
        "deviation": difference,
        "dropped": [*_dropped(Path(file or ""), description or describe(robot.model), robot, back)],
    }


def _read_back(texts: Mapping[Path, str], out: Path) -> Robot:
    """Return the robot that the texts describe, before they are written."""
    description = io.READERS[out.suffix.lower()](texts[out], str(out))
    for path, text in texts.items():
        if path != out:
            description = io.apply(description, io.read_structure(text, str(path)))
    return load(description)


def _difference(robot: Robot, back: Robot) -> float:
    """Return the largest relative deviation of dynamics and poses over random states."""
    shapes = [
        (model.coordinates.positions, model.coordinates.velocities, model.mobility, model.commands)
        for model in (robot.model, back.model)
    ]
    if shapes[0] != shapes[1]:
        return float("inf")
    states = random_states(robot, 100)
    functions = [each.compile("hybrid_dynamics", backend="interpreter") for each in (robot, back)]
    here, there = (function(*(states[port.name] for port in function.program.inputs)) for function in functions)
    frame = robot.frame_names[-1]
    poses = (each.compile("pose", frame=frame, backend="interpreter")(states["q"]) for each in (robot, back))
    return max(deviation(here, there), deviation(*poses))


def _dropped(path: Path, description: Description, robot: Robot, back: Robot) -> Iterator[str]:
    """Describe the contents of the user's file that the new file lacks."""
    if path.suffix.lower() in (".urdf", ".xml", ".mjcf"):
        tags = Counter(re.findall(rb"<(visual|collision|sensor|gazebo|ros2_control)\b", path.read_bytes()))
        if tags:
            yield "elements without effect on the dynamics: " + ", ".join(
                f"{n} <{tag.decode()}>" for tag, n in tags.items()
            )
    yield from (finding.message for finding in description.findings if finding.unread)
    names_kept = {link.name for link in describe(back.model).links}
    if merged := [
        link.name for link in description.links if link.name not in names_kept and link.name in back.frame_names
    ]:
        yield "links fixed to others, now merged with them and kept as frames: " + ", ".join(merged)
    names = [*(link.name for link in description.links), *description.frames]
    if frames := [name for name in names if name not in back.frame_names]:
        yield "frames: " + ", ".join(frames)
    for old, new in zip(robot.coordinates.joints, back.coordinates.joints, strict=True):
        for value in JOINT_VALUES:
            if getattr(old, value) != getattr(new, value):
                yield f"{value} of joint {old.name!r}: {getattr(old, value):g} became {getattr(new, value):g}"
    if (description.summary or description.sources) and not (back.model.summary or back.model.sources):
        yield "the description and the sources of the values"
