"""MJCF -> Description: MuJoCo compiles the model, and ``mjcf_tree`` takes the dynamics of the tree from the result.

MuJoCo sees only what ``parse_xml`` has read, with includes put in their places and appearance taken out; a mesh is
opened only where an inertia comes from it.
"""

from __future__ import annotations

import math
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import LinkworkError, ModelError
from ..model.description import Description
from .mjcf_tree import TreeReader
from .xml import Element, parse_xml

# Appearance, measurement and bookkeeping: taken out before MuJoCo compiles, so that no file of theirs is opened.
UNUSED = {"texture", "material", "skin", "sensor", "keyframe", "visual", "statistic", "custom", "size"}
WRITE_OUT = "write it out: mujoco.MjSpec.from_file(FILE), then compile(), then to_xml()"
DEFORMABLE = "deformable bodies are no tree of rigid ones: leave them out"
REFUSED = {
    "attach": WRITE_OUT,
    "model": WRITE_OUT,
    "composite": DEFORMABLE,
    "flexcomp": DEFORMABLE,
    "flex": DEFORMABLE,
}
MOST_COPIES = 10_000  # that a <replicate> may make
TETRAHEDRON = [0.0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]  # stands for a mesh that no inertia needs


def read_mjcf(text: str | bytes, source: str = "", folder: str | Path | None = None) -> Description:
    """The robot in an MJCF text. ``source`` names the file in messages; ``folder`` is where included files and meshes
    are looked for. Needs the package ``mujoco``."""
    root = parse_xml(text, source)
    if root.tag != "mujoco":
        raise ModelError("this is not an MJCF file", where=root.where, got=f"<{root.tag}>", expected="<mujoco>")
    folder = None if folder is None else Path(folder).resolve()
    _include(root, folder, set())
    _refuse(root)
    try:
        mujoco: Any = import_module("mujoco")
    except ImportError as error:
        message = "MJCF is read by the package mujoco, which is not installed"
        raise LinkworkError(message, where=source, fix="pip install 'mujoco>=3.2'") from error
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(_text(root))
            _settle_files(mujoco, spec, folder, source)
            model = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        message = " ".join(str(error).split())
        raise ModelError(f"MuJoCo cannot compile this model: {message}", where=source, fix="correct the file") from None
    name = root.attributes.get("model") or (Path(source).stem if source else "robot")
    reader = TreeReader(mujoco, model, source)
    for warning in heard:
        reader.tell("warning", "<mujoco>", "", f"MuJoCo says: {warning.message}")
    return reader.description(name)


def _include(element: Element, folder: Path | None, seen: set[Path]) -> None:
    """Put the content of included files in the place of each <include>, and drop what is not used."""
    element.attributes = {
        name: text for name, text in element.attributes.items() if name not in ("material", "texture")
    }
    children = []
    for child in element.children:
        if child.tag == "include":
            children += _included(child, folder, seen).children
        elif child.tag not in UNUSED:
            _include(child, folder, seen)
            children.append(child)
    for child in children:
        child.parent = element
    element.children = children


def _included(element: Element, folder: Path | None, seen: set[Path]) -> Element:
    """The root of the included file, its own includes resolved. Names are relative to the folder of the main file."""
    name = element.attribute("file")
    path = None if folder is None else (folder / name).resolve()
    if folder is None or path is None or path in seen or not path.is_relative_to(folder) or not path.is_file():
        raise ModelError(
            "this file cannot be included",
            where=element.where,
            got=name,
            expected="a file in the folder of the model or below, included once",
            fix="give the path of the model, not its text" if folder is None else "copy the file there",
        )
    seen.add(path)
    root = parse_xml(path.read_bytes(), str(Path(element.source).parent / name))
    _include(root, folder, seen)
    return root


def _refuse(root: Element) -> None:
    for element in root.walk():
        if element.tag in REFUSED:
            message = f"<{element.tag}> is not supported"
            raise ModelError(message, where=element.where, fix=REFUSED[element.tag])
        copies, outer = 1.0, element
        while element.tag == "replicate" and outer is not None:
            copies, outer = copies * (outer.number("count") if outer.tag == "replicate" else 1), outer.parent
        if copies > MOST_COPIES:
            message = f"<replicate> would make {copies:.0f} copies"
            raise ModelError(message, where=element.where, expected=f"at most {MOST_COPIES}", fix="lower its count")


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


def _settle_files(mujoco: Any, spec: Any, folder: Path | None, source: str) -> None:
    """Find the meshes from which MuJoCo will infer an inertia, and let it open no others."""
    compiler, rules = spec.compiler, mujoco.mjtInertiaFromGeom
    low, high = compiler.inertiagrouprange
    users = {}
    for body in spec.bodies[1:]:  # what belongs to the world has no inertia
        given = compiler.inertiafromgeom == rules.mjINERTIAFROMGEOM_AUTO and body.explicitinertial
        if given or compiler.inertiafromgeom == rules.mjINERTIAFROMGEOM_FALSE:
            continue
        for geom in body.geoms:
            weight = geom.density if math.isnan(geom.mass) else geom.mass
            if geom.meshname and weight and low <= geom.group <= high:
                users[geom.meshname] = body.name
    missing = []
    for mesh in spec.meshes:
        name = mesh.name or Path(mesh.file).stem
        if not mesh.file:
            continue
        if name not in users:
            mesh.name, mesh.file, mesh.content_type = name, "", ""
            mesh.uservert, mesh.scale = TETRAHEDRON, [1, 1, 1]
            continue
        path = (folder or Path()) / spec.meshdir / (Path(mesh.file).name if spec.strippath else mesh.file)
        if folder is None or not path.is_file():
            missing.append(f"{mesh.file} (body {users[name]!r})")
        mesh.file = str(path.absolute())
    spec.strippath = False
    for field in spec.hfields:
        field.file, field.nrow, field.ncol, field.userdata = "", 2, 2, [0.0] * 4
    if missing:
        raise ModelError(
            "inertias come from meshes that are not there",
            where=source,
            got=", ".join(missing),
            expected=f"files in {(folder or Path()) / spec.meshdir}" if folder else "a folder to look for them",
            fix="add the files, or give these bodies an <inertial>",
        )
