"""Files of an MJCF model: resolves includes and finds meshes. MuJoCo itself opens no other files.

As in MuJoCo, a name is searched from the folder of the main file (a mesh from its ``meshdir``), then from the folder of
the file that contains it. Files outside the folder of the model are refused unless the caller allows them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ModelError, at_door
from .xml import MAXIMUM_DEPTH, Element, parse_xml

# Appearance, measurement and bookkeeping do not affect the dynamics. They are removed, so that MuJoCo opens no file.
UNUSED = {"texture", "material", "layer", "skin", "sensor", "keyframe", "visual", "statistic", "custom", "size"}
UNUSED_ATTRIBUTES = {"texture", "material", "actdim", "delay", "interp", "nsample"}
MOST_BYTES, MOST_OF_ALL = 64 * 2**20, 256 * 2**20  # of a file, of all meshes
TETRAHEDRON = [0.0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]  # replaces a mesh that no inertia needs


class Files:
    """The files that a model may open. ``drawn``: with all meshes and colours, not only what forces depend on."""

    def __init__(
        self, root: Element, folder: str | Path | None, allow_external_files: bool = False, *, drawn: bool = False
    ):
        self.root, self.allow_external_files, self.drawn = root, allow_external_files, drawn
        colours = {"material"} if drawn else set()
        self.unused, self.unused_attributes = UNUSED - colours, UNUSED_ATTRIBUTES - colours
        self.folder = None if folder is None else Path(os.path.realpath(folder))
        self.included: set[Path] = set()
        self.mistakes = list(root.mistakes)  # in the XML of all files
        self.bytes_left = MOST_OF_ALL
        self.keys: list[Element] = []  # of keyframes
        self.mesh_folders: dict[str, Path] = {}  # mesh -> folder of the included file that contains it

    # -- includes ------------------------------------------------------------------------------------------------

    def include(self) -> None:
        """Replace each <include> by the content of its file, and remove what is not used."""
        self._include(self.root, None, 1)
        _drop_unused_plugins(self.root)

    def _include(self, element: Element, folder: Path | None, depth: int) -> None:
        if depth > MAXIMUM_DEPTH:
            message = f"with included files, elements nest deeper than {MAXIMUM_DEPTH} levels"
            element.fail(message, fix="check how the file was made")
        for name in self.unused_attributes & element.attributes.keys():
            del element.attributes[name]
        if element.tag == "actuator":
            _without_plugins(element)
        if element.tag == "mesh" and folder is not None and "file" in element.attributes:
            self.mesh_folders[mesh_name(element.attributes.get("name"), element.attributes["file"])] = folder
        children = []
        for child in element.children:
            if child.tag == "keyframe":
                self.keys += child.all("key")
            if child.tag == "include":
                children += self._included(child, folder, depth)
            elif child.tag not in self.unused:
                self._include(child, folder, depth + 1)
                children.append(child)
        for child in children:
            child.parent = element
        element.children = children

    def _included(self, element: Element, folder: Path | None, depth: int) -> list[Element]:
        """Return the elements of an included file, with its own includes resolved."""
        name = element.attribute("file")
        path = self.find(name, folder)
        reason = "it was included before" if path in self.included else self.reason_against(path)
        if path is None or reason:
            expected = "a file in the folder of the model or below, included once"
            element.fail(
                f"this file cannot be included: {reason}", name, expected, self.fix(path, "put the file there")
            )
        self.included.add(path)
        try:
            text = path.read_bytes()
        except OSError as error:
            element.fail(f"the file cannot be read: {error.strerror}", name)
        root = parse_xml(text, str(Path(element.source).parent / name))
        self.mistakes += root.mistakes
        self._include(root, path.parent, depth)
        return root.children

    # -- where files are -----------------------------------------------------------------------------------------

    def find(self, name: str, folder: Path | None, within: str = "") -> Path | None:
        """Return the file that MuJoCo would open."""
        name = name.replace("\\", "/")
        places = [] if self.folder is None else [self.folder / within / name]
        places += [] if folder is None else [folder / name]
        return next((Path(os.path.realpath(place)) for place in places if os.path.isfile(place)), None)

    def reason_against(self, path: Path | None) -> str:
        """Return why a file is not opened; empty if it is."""
        if path is None or self.folder is None:
            return "it does not exist" if self.folder else "a text has no folder with files"
        if not (self.allow_external_files or path.is_relative_to(self.folder)):
            return "it is outside the folder of the model"
        return f"it is larger than {MOST_BYTES >> 20} MB" if path.stat().st_size > MOST_BYTES else ""

    def too_many(self, path: Path | None) -> str:
        """Return why a further mesh is not opened; empty if it is."""
        self.bytes_left -= path.stat().st_size if path else 0
        return f"the meshes are larger than {MOST_OF_ALL >> 20} MB together" if self.bytes_left < 0 else ""

    def fix(self, path: Path | None, otherwise: str) -> str:
        if self.folder is None:
            return "give the path of the model, not its text"
        allow = at_door("load(FILE, allow_external_files=True)", "--allow-external-files")
        return f"{otherwise}, or allow it by {allow}" if path and not path.is_relative_to(self.folder) else otherwise

    # -- meshes --------------------------------------------------------------------------------------------------

    def resolve_meshes(self, mujoco: Any, spec: Any) -> list[str]:
        """Find the meshes that MuJoCo needs, and let it open no others.

        Returns the names of fixed bodies whose meshes are missing; they have no mass.
        """
        users, optional = _users(mujoco, spec)
        if self.drawn:
            users |= {mesh_name(mesh.name, mesh.file): "drawn" for mesh in spec.meshes}
        refusals: dict[str, list[str]] = {}
        fix, without_meshes = "", []
        for mesh in spec.meshes:
            name = mesh_name(mesh.name, mesh.file)
            if mesh.file and (name in users or name in optional):
                file = Path(mesh.file.replace("\\", "/")).name if spec.strippath else mesh.file
                path = self.find(file, self.mesh_folders.get(name), spec.meshdir)
                reason = self.reason_against(path) or self.too_many(path)
                if reason:
                    for body, geom in optional.pop(name, ()):
                        geom.mass = 0
                        without_meshes.append(body.name)
                    if name in users:
                        refusals.setdefault(reason, []).append(f"{mesh.file} (body {users[name]!r})")
                        fix = fix or self.fix(path, "add the files")
                mesh.file = str(path)
            if name not in users and name not in optional:
                mesh.name, mesh.file, mesh.content_type = name, "", ""
                mesh.uservert, mesh.scale = TETRAHEDRON, [1, 1, 1]
                mesh.userface, mesh.usernormal, mesh.usertexcoord = [], [], []
        spec.strippath = False
        for reason, meshes in refusals.items():
            more = f" and {len(meshes) - 5} more" if len(meshes) > 5 else ""
            raise ModelError(
                f"{'meshes' if self.drawn else 'meshes that inertias are computed from'} cannot be opened: {reason}",
                where=self.root.source,
                got=", ".join(meshes[:5]) + more,
                expected=f"files in {self.folder / spec.meshdir}" if self.folder else "a folder with the files",
                fix=f'{fix}; or give the bodies <inertial pos="..." mass="..." diaginertia="..."/>',
            )
        return list(dict.fromkeys(without_meshes))


def _without_plugins(actuators: Element) -> None:
    """Make actuators that use a plugin general ones that are no motors: only their joint and force limits are read."""
    for actuator in actuators.all("plugin"):
        removed = {"plugin", "instance", "gaintype", "biastype"}
        attributes = {name: text for name, text in actuator.attributes.items() if name not in removed}
        actuator.tag, actuator.attributes = "general", attributes | {"biastype": "affine"}
        actuator.children = []


def _drop_unused_plugins(root: Element) -> None:
    """Remove the plugins of actuators and sensors from <extension>: MuJoCo refuses instances that nothing uses."""
    users = [element for element in root.walk() if element.tag == "plugin" and element.parent not in root.children]
    kinds, instances = ({user.attributes.get(key) for user in users} for key in ("plugin", "instance"))
    for extension in root.all("extension"):
        for declared in extension.children:
            declared.children = [each for each in declared.children if each.attributes.get("name") in instances]
        used = (each for each in extension.children if each.children or each.attributes.get("plugin") in kinds)
        extension.children = list(used)


def mesh_name(name: str | None, file: str) -> str:
    """Return the name of a mesh; default: that of its file."""
    return name or Path(file.replace("\\", "/")).stem


def _users(mujoco: Any, spec: Any) -> tuple[dict[str, str], dict[str, list[tuple[Any, Any]]]]:
    """Return the meshes that MuJoCo needs, and those that only fixed bodies have.

    The needed ones, from which an inertia is computed or on which a site is, have the name of a body that needs them.
    The others have all their bodies and geoms.
    """
    compiler, rules = spec.compiler, mujoco.mjtInertiaFromGeom
    low, high = compiler.inertiagrouprange
    users = {site.meshname: site.parent.name for site in spec.sites if getattr(site, "meshname", "")}
    optional: dict[str, list[tuple[Any, Any]]] = {}
    for body, moves in _bodies(spec.worldbody, compiler.settotalmass > 0):  # which scales all masses by their sum
        explicit = compiler.inertiafromgeom == rules.mjINERTIAFROMGEOM_AUTO and body.explicitinertial
        if explicit or compiler.inertiafromgeom == rules.mjINERTIAFROMGEOM_FALSE:
            continue
        for geom in body.geoms:
            weight = geom.density if math.isnan(geom.mass) else geom.mass
            if geom.meshname and weight and low <= geom.group <= high:
                if moves:
                    users[geom.meshname] = body.name
                else:
                    optional.setdefault(geom.meshname, []).append((body, geom))
    return users, optional


def _bodies(body: Any, moves: bool) -> Iterator[tuple[Any, bool]]:
    """Yield all bodies below ``body``, and whether they move."""
    for child in body.bodies:
        child_moves = moves or bool(child.joints)
        yield child, child_moves
        yield from _bodies(child, child_moves)
