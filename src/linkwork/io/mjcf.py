"""Reader of MJCF: MuJoCo compiles the model, and ``mjcf_tree`` reads the dynamics of the tree from the result.

MuJoCo gets only the elements that ``parse_xml`` has read, with includes resolved, without appearance, and with limited
sizes. A mesh is opened only if an inertia is computed from it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ModelError, import_optional
from ..model.description import Description
from .mjcf_files import Files, mesh_name
from .mjcf_tree import TreeReader
from .xml import Element, parse_xml, repair_warnings

EXPAND = "expand it: mujoco.MjSpec.from_file(FILE), then compile(), then to_xml()"
DEFORMABLE = "remove it: deformable bodies are not supported"
REFUSED = {"attach": EXPAND, "model": EXPAND, "composite": DEFORMABLE, "flexcomp": DEFORMABLE, "flex": DEFORMABLE}
# The time that MuJoCo takes grows with the squares of these numbers, copies by <replicate> included.
MOST = {"bodies": 2_000, "elements": 20_000}
FINEST = 200  # subdivisions of a built-in mesh


def read_mjcf(
    text: str | bytes, source: str = "", folder: str | Path | None = None, *, allow_external_files: bool = False
) -> Description:
    """Return the robot in an MJCF text. Needs the package ``mujoco``.

    ``source`` is the name of the file in messages. Included files and meshes are searched in ``folder``; those outside
    of it are refused unless ``allow_external_files``.
    """
    root = parse_xml(text, source)
    if root.tag != "mujoco":
        root.fail("this is not an MJCF file", f"<{root.tag}>", "<mujoco>")
    files = Files(root, folder, allow_external_files)
    compiled = _compile(files)
    name = root.attributes.get("model") or (Path(source).stem if source else "robot")
    reader = TreeReader(compiled.mujoco, compiled.model, source)
    for message in compiled.warnings:
        reader.report("warning", "<mujoco>", "", f"MuJoCo warns: {message[:500]}")
    for body in compiled.without_meshes:
        message = "meshes of its inertia are missing: its inertia is left out, since the body does not move"
        reader.report("warning", "body", body, message)
    description = reader.description(name)
    keyframes = reader.keyframes(files.keys) if description.constraints else {}
    return replace(description, keyframes=keyframes, findings=(*description.findings, *repair_warnings(files.mistakes)))


def compile_to_draw(path: Path, *, allow_external_files: bool) -> tuple[Any, Any]:
    """Return the package ``mujoco`` and its model of a file that was read before, with all meshes and colours."""
    files = Files(parse_xml(path.read_bytes(), str(path)), path.parent, allow_external_files, drawn=True)
    compiled = _compile(files)
    return compiled.mujoco, compiled.model


class _Compiled(NamedTuple):
    mujoco: Any  # the package
    model: Any
    without_meshes: list[str]  # fixed bodies whose meshes are missing
    warnings: list[str]  # of MuJoCo


def _compile(files: Files) -> _Compiled:
    root = files.root
    files.include()
    _refuse_unsupported(root)
    _limit_size(root, 1, dict.fromkeys(MOST, 0))
    mujoco = import_optional("mujoco", "mjcf", "reading MJCF", where=root.source)
    messages: list[str] = []
    listener = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)  # MuJoCo would write a file MUJOCO_LOG.TXT
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(_text(root))
            without_meshes = files.resolve_meshes(mujoco, spec)
            spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE  # do not simulate to find lengths of muscles
            model = spec.compile()
        return _Compiled(mujoco, model, without_meshes, messages + [str(warning.message) for warning in caught])
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        message = f"MuJoCo cannot compile this model: {' '.join(str(error).split())[:500]}"
        fix = "remove the plugin from the file" if "plugin" in message else "correct the file"
        raise ModelError(message, where=root.source, fix=fix) from None
    finally:
        mujoco.set_mju_user_warning(listener)


def _refuse_unsupported(root: Element) -> None:
    for element in root.walk():
        if element.tag in REFUSED:
            element.fail(f"<{element.tag}> is not supported", fix=REFUSED[element.tag])
        if element.tag == "body" and element.parent is root:
            message = "this body is outside <worldbody>, where MuJoCo ignores it"
            element.fail(message, fix="load the model that includes this file")


def _limit_size(element: Element, copies: float, counts: dict[str, float]) -> None:
    """Refuse elements that would cost MuJoCo much time or memory. Height fields, which cause no forces, are shrunk."""
    if element.attributes.get("name"):
        element.attribute("name")  # refuses a name that is too long
    if element.tag == "replicate":
        copies *= max(element.number("count"), 0)
    counts["elements"] += copies
    counts["bodies"] += copies if element.tag == "body" else 0
    for kind, most in MOST.items():
        if counts[kind] > most:
            message = f"this model has more than {most} {kind}, copies made by <replicate> included"
            element.fail(message, fix="remove what is not part of the robot")
    if element.tag == "hfield":
        name = mesh_name(element.attributes.get("name"), element.attributes.get("file", ""))
        size = {key: text for key, text in element.attributes.items() if key == "size"}
        element.attributes = {"name": name, "nrow": "2", "ncol": "2", **size}
    if "builtin" in element.attributes and "params" in element.attributes:
        numbers = [element.parsed(word, "attribute 'params'") for word in element.attribute("params").split()]
        if max(numbers, default=0) > FINEST:
            element.fail("this mesh has too many parts", expected=f"params of at most {FINEST}", fix="lower them")
    for child in element.children:
        _limit_size(child, copies, counts)


def _text(root: Element) -> str:
    """Return the XML of the elements, each on its line of the main file, so that messages of MuJoCo name that line."""
    from xml.sax.saxutils import quoteattr  # imports much of the network library

    parts, line = [], 1

    def write(element: Element) -> None:
        nonlocal line
        if element.source == root.source and element.line > line:
            parts.append("\n" * (element.line - line))
            line = element.line
        attributes = "".join(f" {name}={quoteattr(text)}" for name, text in element.attributes.items())
        parts.append(f"<{element.tag}{attributes}>")
        for child in element.children:
            write(child)
        parts.append(f"</{element.tag}>")

    write(root)
    return "".join(parts)
