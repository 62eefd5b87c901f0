"""MJCF -> Description: MuJoCo compiles the model, and ``mjcf_tree`` takes the dynamics of the tree from the result.

MuJoCo sees only what ``parse_xml`` has read, with includes put in their places, appearance taken out and sizes bounded;
a mesh is opened only where an inertia comes from it.
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
from .xml import Element, mended, parse_xml

WRITE_OUT = "write it out: mujoco.MjSpec.from_file(FILE), then compile(), then to_xml()"
DEFORMABLE = "deformable bodies are no tree of rigid ones: leave them out"
REFUSED = {
    "attach": WRITE_OUT,
    "model": WRITE_OUT,
    "composite": DEFORMABLE,
    "flexcomp": DEFORMABLE,
    "flex": DEFORMABLE,
}
# MuJoCo's time grows with the squares of these: some seconds for so many, copies of <replicate> counted each.
MOST = {"bodies": 2_000, "elements": 20_000}
FINEST = 200  # subdivisions of a built-in mesh


def read_mjcf(
    text: str | bytes, source: str = "", folder: str | Path | None = None, *, outside: bool = False
) -> Description:
    """The robot in an MJCF text. ``source`` names the file in messages; ``folder`` is where included files and meshes
    are looked for, and ``outside`` allows those outside of it. Needs the package ``mujoco``."""
    root = parse_xml(text, source)
    if root.tag != "mujoco":
        raise ModelError("this is not an MJCF file", where=root.where, got=f"<{root.tag}>", expected="<mujoco>")
    files = Files(root, folder, outside=outside)
    done = _compile(files)
    name = root.attributes.get("model") or (Path(source).stem if source else "robot")
    reader = TreeReader(done.mujoco, done.model, source)
    for words in done.heard:
        reader.report("warning", "<mujoco>", "", f"MuJoCo says: {words[:500]}")
    for body in done.lacking:
        reader.report("warning", "body", body, "meshes of its inertia are not there: left out, since it stands still")
    description = reader.description(name)
    keyframes = reader.keyframes(files.keys) if description.constraints else {}
    return replace(description, keyframes=keyframes, findings=(*description.findings, *mended(files.mistakes)))


def compile_to_draw(path: Path, *, outside: bool) -> tuple[Any, Any]:
    """The package ``mujoco`` and its model of a file that was read before, with all meshes and colours."""
    done = _compile(Files(parse_xml(path.read_bytes(), str(path)), path.parent, outside=outside, drawn=True))
    return done.mujoco, done.model


class _Compiled(NamedTuple):
    mujoco: Any  # the package
    model: Any
    lacking: list[str]  # bodies that stand still and whose meshes are not there
    heard: list[str]  # what MuJoCo warns of


def _compile(files: Files) -> _Compiled:
    root = files.root
    files.include()
    _refuse(root)
    _bound(root, 1, dict.fromkeys(MOST, 0))
    mujoco = import_optional("mujoco", "mjcf", "reading MJCF", where=root.source)
    heard: list[str] = []
    listener = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(heard.append)  # it would write a file MUJOCO_LOG.TXT
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(_text(root))
            lacking = files.settle_meshes(mujoco, spec)
            spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE  # lengths of muscles, found by simulation
            model = spec.compile()
        return _Compiled(mujoco, model, lacking, heard + [str(warning.message) for warning in caught])
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        message = f"MuJoCo cannot compile this model: {' '.join(str(error).split())[:500]}"
        fix = "remove the plugin from the file" if "plugin" in message else "correct the file"
        raise ModelError(message, where=root.source, fix=fix) from None
    finally:
        mujoco.set_mju_user_warning(listener)


def _refuse(root: Element) -> None:
    for element in root.walk():
        if element.tag in REFUSED:
            message = f"<{element.tag}> is not supported"
            raise ModelError(message, where=element.where, fix=REFUSED[element.tag])
        if element.tag == "body" and element.parent is root:
            message = "this body is outside <worldbody>, where MuJoCo overlooks it"
            raise ModelError(message, where=element.where, fix="load the model that includes this file")


def _bound(element: Element, copies: float, seen: dict[str, float]) -> None:
    """Refuse what would cost MuJoCo much time or memory; height fields are made small instead, since no forces come
    from them."""
    if element.attributes.get("name"):
        element.attribute("name")  # refuses those without end
    if element.tag == "replicate":
        copies *= max(element.number("count"), 0)
    seen["elements"] += copies
    seen["bodies"] += copies if element.tag == "body" else 0
    for kind, most in MOST.items():
        if seen[kind] > most:
            message = f"this model has more than {most} {kind}, each copy that <replicate> makes counted"
            raise ModelError(message, where=element.where, fix="leave out what is no part of the robot")
    if element.tag == "hfield":
        name = mesh_name(element.attributes.get("name"), element.attributes.get("file", ""))
        size = {key: text for key, text in element.attributes.items() if key == "size"}
        element.attributes = {"name": name, "nrow": "2", "ncol": "2", **size}
    if "builtin" in element.attributes and "params" in element.attributes:
        numbers = [element.parsed(word, "attribute 'params'") for word in element.attribute("params").split()]
        if max(numbers, default=0) > FINEST:
            message = "this mesh has too many parts"
            raise ModelError(message, where=element.where, expected=f"params of at most {FINEST}", fix="lower them")
    for child in element.children:
        _bound(child, copies, seen)


def _text(root: Element) -> str:
    """XML of the elements, each on its line in the main file, so that MuJoCo's messages name that line."""
    from xml.sax.saxutils import quoteattr  # brings half of the network library with it

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
