"""The meshes and solids that a URDF file gives its links to be seen by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LinkworkError
from ..io.xml import Element, parse_xml
from ..model import Model
from ..model.rotations import rotation_from_rpy
from .mesh_files import MeshFiles
from .meshes import Mesh, box, cylinder, sphere
from .primitives import LINKS
from .shapes import Shape, matrix


def read_visuals(model: Model, path: str | Path, *, outside: bool = False) -> tuple[list[Shape], list[str]]:
    """The shapes of the <visual> elements of a URDF file, and what could not be had. ``outside``: its meshes may be in
    any folder."""
    path = Path(path)
    files = MeshFiles(path, outside=outside)
    robot = parse_xml(path.read_bytes(), str(path))
    colors = {m.attributes.get("name", ""): c for m in robot.all("material") if (c := _rgba(m)) is not None}
    shapes, missing = [], []
    for link in robot.all("link"):
        name = link.attributes.get("name", "")
        if name not in model.frames:
            continue
        frame = model.frames[name]
        in_body = matrix(frame.pose)
        for visual in link.all("visual"):
            try:
                parts = list(_parts(visual, files, colors))
            except (LinkworkError, OSError, ValueError) as error:
                missing.append(str(error).partition("\n")[0].removeprefix(f"{path}: "))
                continue
            at = in_body @ _origin(visual)
            for mesh, color in parts:
                shapes.append(Shape(f"{name}_{len(shapes)}", frame.body, mesh.moved(at[:3, :3], at[:3, 3]), color))
    return shapes, missing


def _parts(visual: Element, files: MeshFiles, colors: dict[str, Any]) -> Iterator[tuple[Mesh, Any]]:
    """Meshes and colours of a <visual>, in its own frame."""
    material = visual.child("material")
    color = None
    if material is not None:
        color = _rgba(material) or colors.get(material.attributes.get("name", ""))
    geometry = visual.required("geometry", "<geometry>...</geometry>")
    for solid in geometry.children:
        if solid.tag == "box":
            yield box(*solid.numbers("size", 3)), color or LINKS[0]
        elif solid.tag == "cylinder":
            yield cylinder(solid.number("radius"), solid.number("length")), color or LINKS[0]
        elif solid.tag == "sphere":
            yield sphere(solid.number("radius")), color or LINKS[0]
        elif solid.tag == "mesh":
            scale = solid.numbers("scale", 3, (1.0, 1.0, 1.0))
            for mesh, own in files.read(solid.attribute("filename")):
                yield mesh.scaled(scale), own or color or LINKS[0]


def _rgba(material: Element) -> tuple[int, int, int] | None:
    color = material.child("color")
    if color is None:
        return None
    red, green, blue, _ = (round(255 * min(max(x, 0.0), 1.0)) for x in color.numbers("rgba", 4))
    return red, green, blue


def _origin(visual: Element) -> np.ndarray:
    result, origin = np.eye(4), visual.child("origin")
    if origin is not None:
        result[:3, :3] = rotation_from_rpy(*origin.numbers("rpy", 3, (0.0, 0.0, 0.0)))
        result[:3, 3] = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    return result
