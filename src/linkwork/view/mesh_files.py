"""Mesh files of strangers: which are opened, how large they may be, and what is read of them.

A URDF file may name any file of the machine, and readers of meshes open archives and further files at will. So a mesh
is one of three kinds, lies in the folder of the URDF or in a package, and is handed to its reader as bytes; of other
files only the colours beside an .obj are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from ..errors import LinkworkError, UnsupportedError, at_door
from ..files import read_bytes
from .meshes import Mesh

KINDS = (".stl", ".dae", ".obj")
MOST_BYTES, MOST_OF_ALL = 32 * 2**20, 256 * 2**20  # of a file, of all files: readers take up to twenty times as much
MOST_COLORS = 2**20  # bytes of an .mtl file
MOST_CORNERS = 5_000_000  # of all meshes: a file may show one of its solids many times
REFUSED = {b"<!DOCTYPE": "document types", b"<!ENTITY": "entities", b"instance_node": "nodes within nodes"}
PACKAGE = "package://"
Part = tuple[Mesh, tuple[int, int, int] | None]


class MeshFiles:
    """The meshes that a URDF file may open. ``outside``: from any folder."""

    def __init__(self, urdf: Path, *, outside: bool):
        self.urdf, self.outside = urdf, outside
        self.bytes_left, self.corners_left = MOST_OF_ALL, MOST_CORNERS

    def read(self, name: str) -> list[Part]:
        """The parts of a mesh with their colours, if it gives any."""
        path = self.find(name)
        if path.suffix.lower() not in KINDS:
            got = path.suffix or "no suffix"
            raise LinkworkError("this kind of mesh is not read", where=str(path), got=got, expected=", ".join(KINDS))
        self.bytes_left -= path.stat().st_size
        if self.bytes_left < 0:
            raise LinkworkError(f"the meshes are larger than {MOST_OF_ALL >> 20} MB together", where=str(path))
        data = read_bytes(path, longest=MOST_BYTES)
        parts = []
        for mesh, color in _parsed(path, data):
            self.corners_left -= len(mesh.vertices)
            if self.corners_left < 0:
                raise LinkworkError(f"the meshes have more than {MOST_CORNERS:,} corners", where=str(path))
            parts.append((mesh, color))
        return parts

    def find(self, name: str) -> Path:
        """Where a mesh is: beside the URDF; of ``package://NAME/...`` in the folder NAME, which is one above the URDF,
        beside one of these, or on ROS's paths."""
        places = list(self._places(name))
        for folder, place, links in places:
            if place.is_file():
                real = Path(os.path.normpath(place)) if links else place.resolve()
                if self.outside or (folder and real.is_relative_to(folder)):
                    return real
                allow = at_door("show(..., outside=True)", "--allow-external-files")
                message = f"the mesh {name} is outside the folder of the file and of its package: {allow} opens it"
                raise LinkworkError(message, where=str(self.urdf), got=str(real))
        looked = ", ".join(dict.fromkeys(str(place) for _, place, _ in places[:3]))
        raise LinkworkError(f"the mesh {name} is not there", where=str(self.urdf), got=f"looked for {looked}, ...")

    def _places(self, name: str) -> Iterator[tuple[Path | None, Path, bool]]:
        """The folder in which it has to be, the place, and whether links may lead out of the folder, as those of
        installed packages do."""
        above = list(self.urdf.resolve().parents)
        if not name.startswith(PACKAGE):
            inside = next((folder for folder in above if _is_package(folder)), above[0])
            yield inside, above[0] / name.removeprefix("file://"), False
            return
        package, _, rest = name.removeprefix(PACKAGE).lstrip("/").partition("/")
        for folder in above:
            if folder.name == package:
                yield folder, folder / rest, False
        for folder in (each / package for each in above):
            yield folder if _is_package(folder) else None, folder / rest, False
        for variable, below in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")):
            for each in os.environ.get(variable, "").split(os.pathsep):
                for folder in (Path(each), Path(each) / below / package) if each else ():
                    if folder.name == package:
                        yield folder, folder / rest, True


def _is_package(folder: Path) -> bool:
    """Whether a folder is a ROS package."""
    return (folder / "package.xml").is_file()


def _parsed(path: Path, data: bytes) -> Iterator[Part]:
    try:
        import trimesh
    except ImportError as error:
        raise UnsupportedError("meshes need trimesh", fix="pip install 'linkwork[view]'") from error
    kind, plain = path.suffix.lower()[1:], data.replace(b"\0", b"")
    wrong = [what for word, what in REFUSED.items() if kind == "dae" and word in plain]
    if wrong or is_zipfile(BytesIO(data)):
        raise LinkworkError(f"the mesh cannot be read: {[*wrong, 'archives'][0]} are refused", where=str(path))
    colors: Any = _Colors(path.parent)
    try:
        scene = trimesh.load_scene(BytesIO(data), file_type=kind, resolver=colors)
    except Exception as error:  # trimesh's readers fail in any way on files that are not theirs
        raise LinkworkError(f"the mesh cannot be read: {error!r}", where=str(path)) from error
    for node in scene.graph.nodes_geometry:
        transform, key = scene.graph[node]
        geometry: Any = scene.geometry[key]
        if isinstance(geometry, trimesh.Trimesh) and len(geometry.faces):
            rotation, origin = transform[:3, :3], transform[:3, 3]
            faces = np.array(geometry.faces)
            mirrored = np.linalg.det(rotation) < 0
            vertices = np.array(geometry.vertices, float) @ rotation.T + origin
            yield Mesh(vertices, faces[:, ::-1] if mirrored else faces), _color(geometry)


class _Colors:
    """What readers of meshes ask for further files: of those beside an .obj file the colours, and nothing else."""

    def __init__(self, folder: Path):
        self.folder = folder

    def get(self, name: str) -> bytes:
        path = self.folder / Path(str(name).strip().replace("\\", "/")).name
        if path.suffix.lower() != ".mtl" or path.is_symlink():
            raise KeyError(name)
        return read_bytes(path, longest=MOST_COLORS)

    __getitem__ = get


def _color(geometry: Any) -> tuple[int, int, int] | None:
    visual = geometry.visual
    if not visual.defined:
        return None
    red, green, blue, _ = visual.material.main_color if hasattr(visual, "material") else visual.main_color
    return int(red), int(green), int(blue)
