"""The geoms of an MJCF file, as MuJoCo shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError
from ..io.mjcf import compile_to_draw
from ..io.rpy import rotation_from_quaternion
from ..model import Model
from .meshes import Mesh, box, cylinder, sphere, tube
from .shapes import Shape, matrix

SHOWN = 3  # MuJoCo shows the geoms of the first three groups


def read_geoms(model: Model, path: str | Path, *, outside: bool = False) -> tuple[list[Shape], list[str]]:
    """The shapes of the bodies of an MJCF file, and what could not be had. ``outside``: its files may be in any
    folder."""
    try:
        mujoco, compiled = compile_to_draw(Path(path), allow_external_files=outside)
    except ModelError as error:  # the meshes are elsewhere
        return [], [str(error)]
    shapes = []
    for g in range(compiled.ngeom):
        name = compiled.body(compiled.geom_bodyid[g]).name
        mesh = _mesh(mujoco, compiled, g) if compiled.geom_group[g] < SHOWN else None
        if mesh is None or name not in model.frames:
            continue
        frame = model.frames[name]
        w, x, y, z = compiled.geom_quat[g]
        at = matrix(frame.pose)
        solid = mesh.moved(rotation_from_quaternion(x, y, z, w), compiled.geom_pos[g]).moved(at[:3, :3], at[:3, 3])
        material = compiled.geom_matid[g]
        red, green, blue, _ = compiled.mat_rgba[material] if material >= 0 else compiled.geom_rgba[g]
        color = round(255 * float(red)), round(255 * float(green)), round(255 * float(blue))
        shapes.append(Shape(f"{name}_{g}", frame.body, solid, color))
    return shapes, []


def _mesh(mujoco: Any, compiled: Any, g: int) -> Mesh | None:
    """Of a geom, in its own frame; none of planes and height fields."""
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
