"""Mesh files from untrusted sources: which are opened, how large they may be, and what is read from them.

A URDF file may name any file of the machine, and mesh readers open archives and further files without asking. Therefore
a mesh must be of one of three formats and lie in the folder of the URDF file or in a package. The reader gets its bytes
only. The only further file that is read is the material file (.mtl) of an .obj file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from ..errors import LinkworkError, at_door, import_optional
from ..files import read_bytes
from .meshes import Color, Mesh

KINDS = (".stl", ".dae", ".obj")
MOST_BYTES, MOST_OF_ALL = 32 * 2**20, 256 * 2**20  # of a file, of all files; readers need up to 20 times this memory
MOST_COLORS = 2**20  # bytes of an .mtl file
MOST_CORNERS = 5_000_000  # of all meshes, because a file may show one of its solids many times
REFUSED = {b"<!DOCTYPE": "document types", b"<!ENTITY": "entities", b"instance_node": "nodes within nodes"}
PACKAGE = "package://"
Part = tuple[Mesh, Color | None]


class MeshFiles:
    """The mesh files that a URDF file may open: those of its folder or package, or any if external ones are allowed."""

    def __init__(self, urdf: Path, allow_external_files: bool = False):
        self.urdf, self.allow_external_files = urdf, allow_external_files
        self.bytes_left, self.corners_left = MOST_OF_ALL, MOST_CORNERS

    def read(self, name: str) -> list[Part]:
        """Return the parts of a mesh, each with its colour or None."""
        path = self.find(name)
        if path.suffix.lower() not in KINDS:
            got = path.suffix or "no suffix"
            raise LinkworkError(
                "this mesh format is not supported", where=str(path), got=got, expected=", ".join(KINDS)
            )
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
        """Return the path of a mesh.

        A relative path starts at the URDF file. ``package://NAME/...`` is looked up in folders NAME that contain the
        URDF file or lie next to such a folder, then on ROS's paths.
        """
        candidates = list(self._candidates(name))
        for folder, path, links in candidates:
            if path.is_file():
                real = Path(os.path.normpath(path)) if links else path.resolve()
                if self.allow_external_files or (folder and real.is_relative_to(folder)):
                    return real
                allow = at_door("show(..., allow_external_files=True)", "--allow-external-files")
                message = f"the mesh {name} is outside the folder of the file and of its package: {allow} opens it"
                raise LinkworkError(message, where=str(self.urdf), got=str(real))
        searched = ", ".join(dict.fromkeys(str(path) for _, path, _ in candidates[:3]))
        raise LinkworkError(f"the mesh {name} does not exist", where=str(self.urdf), got=f"searched {searched}, ...")

    def _candidates(self, name: str) -> Iterator[tuple[Path | None, Path, bool]]:
        """Yield the folder that must contain the mesh, its path, and whether links may lead out of the folder.

        Installed packages have such links.
        """
        above = list(self.urdf.resolve().parents)
        if not name.startswith(PACKAGE):
            package = next((folder for folder in above if _is_package(folder)), above[0])
            yield package, above[0] / name.removeprefix("file://"), False
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
    """Return whether a folder is a ROS package."""
    return (folder / "package.xml").is_file()


def _parsed(path: Path, data: bytes) -> Iterator[Part]:
    """Yield the parts of a mesh file, in the frame of the file."""
    trimesh = import_optional("trimesh", "view", "reading a mesh")
    kind, plain = path.suffix.lower()[1:], data.replace(b"\0", b"")
    contents = [content for word, content in REFUSED.items() if kind == "dae" and word in plain]
    if contents or is_zipfile(BytesIO(data)):
        raise LinkworkError(f"the mesh cannot be read: {[*contents, 'archives'][0]} are refused", where=str(path))
    colors: Any = _Colors(path.parent)
    try:
        scene = trimesh.load_scene(BytesIO(data), file_type=kind, resolver=colors)
    except Exception as error:  # trimesh's readers raise any kind of error on malformed files
        raise LinkworkError(f"the mesh cannot be read: {error!r}", where=str(path)) from error
    for node in scene.graph.nodes_geometry:
        transform, key = scene.graph[node]
        geometry: Any = scene.geometry[key]
        if isinstance(geometry, trimesh.Trimesh) and len(geometry.faces):
            faces = np.array(geometry.faces)
            mirrored = np.linalg.det(transform[:3, :3]) < 0
            mesh = Mesh(np.array(geometry.vertices, float), faces[:, ::-1] if mirrored else faces)
            yield mesh.placed(transform), _color(geometry)


class _Colors:
    """Resolver that mesh readers ask for further files: it opens .mtl files next to the mesh, and no others."""

    def __init__(self, folder: Path):
        self.folder = folder

    def get(self, name: str) -> bytes:
        path = self.folder / Path(str(name).strip().replace("\\", "/")).name
        if path.suffix.lower() != ".mtl" or path.is_symlink():
            raise KeyError(name)
        return read_bytes(path, longest=MOST_COLORS)

    __getitem__ = get


def _color(geometry: Any) -> Color | None:
    visual = geometry.visual
    if not visual.defined:
        return None
    red, green, blue, _ = visual.material.main_color if hasattr(visual, "material") else visual.main_color
    return int(red), int(green), int(blue)
