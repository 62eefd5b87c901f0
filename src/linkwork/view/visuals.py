"""The meshes and solids that a URDF file gives its links to be seen by."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LinkworkError, UnsupportedError
from ..io.xml import Element, parse_xml
from ..model import Model
from ..model.rotations import rotation_from_rpy
from .meshes import Mesh, box, cylinder, sphere
from .primitives import LINKS
from .shapes import Shape, matrix

PACKAGE = "package://"


def read_visuals(model: Model, path: str | Path) -> tuple[list[Shape], list[str]]:
    """The shapes of the <visual> elements of a URDF file, and what could not be had."""
    path = Path(path)
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
                parts = list(_parts(visual, path, colors))
            except (LinkworkError, OSError, ValueError) as error:
                missing.append(str(error).partition("\n")[0].removeprefix(f"{path}: "))
                continue
            at = in_body @ _origin(visual)
            for mesh, color in parts:
                shapes.append(Shape(f"{name}_{len(shapes)}", frame.body, mesh.moved(at[:3, :3], at[:3, 3]), color))
    return shapes, missing


def _parts(visual: Element, urdf: Path, colors: dict[str, Any]) -> Iterator[tuple[Mesh, Any]]:
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
            for mesh, own in load_mesh(find_file(solid.attribute("filename"), urdf)):
                yield mesh.scaled(scale), own or color or LINKS[0]


def find_file(name: str, urdf: Path) -> Path:
    """Where a mesh lies: beside the URDF; of ``package://NAME/...`` in the folder NAME, which is one above the URDF,
    beside one of these, or on ROS's paths."""
    folders = [folder for folder in urdf.resolve().parents]
    if name.startswith(PACKAGE):
        package, _, rest = name.removeprefix(PACKAGE).partition("/")
        for variable, below in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")):
            folders += [Path(folder) / below for folder in os.environ.get(variable, "").split(os.pathsep) if folder]
        places = [folder / rest for folder in folders if folder.name == package]
        places += [folder / package / rest for folder in folders]
    else:
        places = [urdf.resolve().parent / name.removeprefix("file://")]
    for place in places:
        if place.is_file():
            return place
    looked = ", ".join(dict.fromkeys(str(place) for place in places[:3]))
    raise LinkworkError(f"the mesh {name} is not there", where=str(urdf), got=f"looked for {looked}, ...")


def load_mesh(path: Path) -> list[tuple[Mesh, tuple[int, int, int] | None]]:
    """The parts of an .stl, .dae or .obj file with their colours, if it tells any."""
    try:
        import trimesh
    except ImportError as error:
        raise UnsupportedError("meshes need trimesh", fix="pip install 'linkwork[view]'") from error
    try:
        scene = trimesh.load_scene(path)
    except Exception as error:  # trimesh's readers fail in any way on files that are not theirs
        raise LinkworkError(f"the mesh cannot be read: {error!r}", where=str(path)) from error
    parts = []
    for node in scene.graph.nodes_geometry:
        transform, key = scene.graph[node]
        geometry: Any = scene.geometry[key]
        if isinstance(geometry, trimesh.Trimesh) and len(geometry.faces):
            mesh = Mesh(np.array(geometry.vertices, float), np.array(geometry.faces))
            rotation, origin = transform[:3, :3], transform[:3, 3]
            mirrored = np.linalg.det(rotation) < 0
            mesh = Mesh(mesh.vertices @ rotation.T + origin, mesh.faces[:, ::-1] if mirrored else mesh.faces)
            parts.append((mesh, _color(geometry)))
    return parts


def _color(geometry: Any) -> tuple[int, int, int] | None:
    visual = geometry.visual
    if not visual.defined:
        return None
    red, green, blue, _ = visual.material.main_color if hasattr(visual, "material") else visual.main_color
    return int(red), int(green), int(blue)


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
