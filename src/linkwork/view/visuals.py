"""Shapes of robot files: the <visual> elements of a URDF file, the geoms of an MJCF file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LinkworkError, ModelError
from ..io.mjcf import compile_to_draw
from ..io.rpy import rotation_from_quaternion
from ..io.xml import Element, parse_xml
from ..model import Model
from ..model.rotations import rotation_from_rpy
from .mesh_files import MeshFiles
from .meshes import Color, Mesh, box, cylinder, sphere, tube
from .primitives import LINKS
from .shapes import Shape, matrix

GROUPS = 3  # MuJoCo shows the geoms of the first three groups


def read_visuals(model: Model, path: str | Path, allow_external_files: bool = False) -> tuple[list[Shape], list[str]]:
    """Return the shapes of a URDF or MJCF file, and a message for each that is missing; nothing of other files."""
    path = Path(path)
    if path.suffix.lower() == ".urdf":
        return _read_urdf(model, path, allow_external_files)
    return _read_mjcf(model, path, allow_external_files) if path.suffix.lower() in (".xml", ".mjcf") else ([], [])


# -- URDF ------------------------------------------------------------------------------------------------------------


def _read_urdf(model: Model, path: Path, allow_external_files: bool) -> tuple[list[Shape], list[str]]:
    files = MeshFiles(path, allow_external_files)
    robot = parse_xml(path.read_bytes(), str(path))
    colors = {m.attributes.get("name", ""): c for m in robot.all("material") if (c := _rgba(m)) is not None}
    shapes, missing = [], []
    for link in robot.all("link"):
        name = link.attributes.get("name", "")
        if name not in model.frames:
            continue
        frame = model.frames[name]
        for visual in link.all("visual"):
            try:
                parts = list(_parts(visual, files, colors))
            except (LinkworkError, OSError, ValueError) as error:
                missing.append(str(error).partition("\n")[0].removeprefix(f"{path}: "))
                continue
            pose = matrix(frame.pose) @ _origin(visual)
            shapes += [
                Shape(f"{name}_{k}", frame.body, mesh.placed(pose), color)
                for k, (mesh, color) in enumerate(parts, len(shapes))
            ]
    return shapes, missing


def _parts(visual: Element, files: MeshFiles, colors: dict[str, Any]) -> Iterator[tuple[Mesh, Color]]:
    """Yield the meshes of a <visual>, in its own frame, with their colours."""
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
            for mesh, mesh_color in files.read(solid.attribute("filename")):
                yield mesh.scaled(scale), mesh_color or color or LINKS[0]


def _rgba(material: Element) -> Color | None:
    color = material.child("color")
    return None if color is None else _color([min(max(x, 0.0), 1.0) for x in color.numbers("rgba", 4)])


def _color(rgba: Any) -> Color:
    """Return a colour of numbers from 0 to 1 as integers from 0 to 255, without its opacity."""
    red, green, blue, _ = (round(255 * float(x)) for x in rgba)
    return red, green, blue


def _origin(visual: Element) -> np.ndarray:
    result, origin = np.eye(4), visual.child("origin")
    if origin is not None:
        result[:3, :3] = rotation_from_rpy(*origin.numbers("rpy", 3, (0.0, 0.0, 0.0)))
        result[:3, 3] = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    return result


# -- MJCF ------------------------------------------------------------------------------------------------------------


def _read_mjcf(model: Model, path: Path, allow_external_files: bool) -> tuple[list[Shape], list[str]]:
    try:
        mujoco, compiled = compile_to_draw(path, outside=allow_external_files)
    except ModelError as error:  # MuJoCo compiles no model with missing meshes
        return [], [str(error)]
    shapes = []
    for g in range(compiled.ngeom):
        name = compiled.body(compiled.geom_bodyid[g]).name
        mesh = _geom(mujoco, compiled, g) if compiled.geom_group[g] < GROUPS else None
        if mesh is None or name not in model.frames:
            continue
        w, x, y, z = compiled.geom_quat[g]
        solid = mesh.moved(rotation_from_quaternion(x, y, z, w), compiled.geom_pos[g])
        material = compiled.geom_matid[g]
        color = _color(compiled.mat_rgba[material] if material >= 0 else compiled.geom_rgba[g])
        frame = model.frames[name]
        shapes.append(Shape(f"{name}_{g}", frame.body, solid.placed(matrix(frame.pose)), color))
    return shapes, []


def _geom(mujoco: Any, compiled: Any, g: int) -> Mesh | None:
    """Return the mesh of a geom in its own frame; None for planes and height fields."""
    kinds, kind, (a, b, c) = mujoco.mjtGeom, compiled.geom_type[g], compiled.geom_size[g]
    if kind == kinds.mjGEOM_SPHERE:
        return sphere(a)
    if kind == kinds.mjGEOM_CAPSULE:
        return tube(np.array([0, 0, -b]), np.array([0, 0, b]), a, a)
    if kind == kinds.mjGEOM_ELLIPSOID:
        return sphere(1.0).scaled([a, b, c])
    if kind == kinds.mjGEOM_CYLINDER:
        return cylinder(a, 2 * b)
    if kind == kinds.mjGEOM_BOX:
        return box(2 * a, 2 * b, 2 * c)
    if kind == kinds.mjGEOM_MESH:
        m = compiled.geom_dataid[g]
        first, start = compiled.mesh_vertadr[m], compiled.mesh_faceadr[m]
        vertices = compiled.mesh_vert[first : first + compiled.mesh_vertnum[m]]
        return Mesh(np.array(vertices, float), np.array(compiled.mesh_face[start : start + compiled.mesh_facenum[m]]))
    return None
