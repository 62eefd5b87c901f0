"""The files of an MJCF model: included ones put in their places, meshes found; MuJoCo itself opens no others.

As in MuJoCo, a name is looked for from the folder of the main file (that of a mesh from its ``meshdir``), then beside
the file in which it stands. Files outside the folder of the model are opened on request alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ModelError, at_door
from .xml import MAXIMUM_DEPTH, Element, parse_xml

# Appearance, measurement and bookkeeping, and what only costs memory: taken out, so that no file of theirs is opened.
UNUSED = {"texture", "material", "layer", "skin", "sensor", "keyframe", "visual", "statistic", "custom", "size"}
UNUSED_ATTRIBUTES = {"texture", "material", "actdim", "delay", "interp", "nsample"}
MOST_BYTES, MOST_OF_ALL = 64 * 2**20, 256 * 2**20  # of a file, of all meshes
TETRAHEDRON = [0.0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]  # stands for a mesh that no inertia needs


class Files:
    """What a model may open."""

    def __init__(self, root: Element, folder: str | Path | None, *, outside: bool, drawn: bool = False):
        """``drawn``: with all meshes and colours, not only what forces depend on."""
        self.root, self.outside, self.drawn = root, outside, drawn
        colours = {"material"} if drawn else set()
        self.unused, self.unused_attributes = UNUSED - colours, UNUSED_ATTRIBUTES - colours
        self.folder = None if folder is None else Path(os.path.realpath(folder))
        self.included: set[Path] = set()
        self.mistakes = list(root.mistakes)  # in the XML of all files
        self.bytes_left = MOST_OF_ALL
        self.keys: list[Element] = []  # of keyframes
        self.beside: dict[str, Path] = {}  # mesh -> folder of the included file in which it stands

    # -- includes ------------------------------------------------------------------------------------------------

    def include(self) -> None:
        """Put the content of included files in the place of each <include>, and drop what is not used."""
        self._include(self.root, None, 1)
        _drop_unused_plugins(self.root)

    def _include(self, element: Element, beside: Path | None, depth: int) -> None:
        if depth > MAXIMUM_DEPTH:
            message = f"with what is included, elements nest deeper than {MAXIMUM_DEPTH} levels"
            raise ModelError(message, where=element.where, fix="check how the file was made")
        for name in self.unused_attributes & element.attributes.keys():
            del element.attributes[name]
        if element.tag == "actuator":
            _without_plugins(element)
        if element.tag == "mesh" and beside is not None and "file" in element.attributes:
            self.beside[mesh_name(element.attributes.get("name"), element.attributes["file"])] = beside
        children = []
        for child in element.children:
            if child.tag == "keyframe":
                self.keys += child.all("key")
            if child.tag == "include":
                children += self._included(child, beside, depth)
            elif child.tag not in self.unused:
                self._include(child, beside, depth + 1)
                children.append(child)
        for child in children:
            child.parent = element
        element.children = children

    def _included(self, element: Element, beside: Path | None, depth: int) -> list[Element]:
        """What the included file holds, its own includes resolved."""
        name = element.attribute("file")
        path = self.find(name, beside)
        reason = "it was included before" if path in self.included else self.reason_against(path)
        if path is None or reason:
            raise ModelError(
                f"this file cannot be included: {reason}",
                where=element.where,
                got=name,
                expected="a file in the folder of the model or below, included once",
                fix=self.remedy(path, "put the file there"),
            )
        self.included.add(path)
        try:
            text = path.read_bytes()
        except OSError as error:
            raise ModelError(f"the file cannot be read: {error.strerror}", where=element.where, got=name) from None
        root = parse_xml(text, str(Path(element.source).parent / name))
        self.mistakes += root.mistakes
        self._include(root, path.parent, depth)
        return root.children

    # -- where files are -----------------------------------------------------------------------------------------

    def find(self, name: str, beside: Path | None, within: str = "") -> Path | None:
        """The file that MuJoCo would open."""
        name = name.replace("\\", "/")
        places = [] if self.folder is None else [self.folder / within / name]
        places += [] if beside is None else [beside / name]
        return next((Path(os.path.realpath(place)) for place in places if os.path.isfile(place)), None)

    def reason_against(self, path: Path | None) -> str:
        """Why a file is not opened; empty if it is."""
        if path is None or self.folder is None:
            return "it is not there" if self.folder else "without a folder there are no files"
        if not (self.outside or path.is_relative_to(self.folder)):
            return "it is outside the folder of the model"
        return f"it is larger than {MOST_BYTES >> 20} MB" if path.stat().st_size > MOST_BYTES else ""

    def too_many(self, path: Path | None) -> str:
        """Why a further mesh is not opened."""
        self.bytes_left -= path.stat().st_size if path else 0
        return f"the meshes are larger than {MOST_OF_ALL >> 20} MB together" if self.bytes_left < 0 else ""

    def remedy(self, path: Path | None, otherwise: str) -> str:
        if self.folder is None:
            return "give the path of the model, not its text"
        allow = at_door("load(FILE, allow_external_files=True)", "--allow-external-files")
        return f"{otherwise}, or allow it by {allow}" if path and not path.is_relative_to(self.folder) else otherwise

    # -- meshes --------------------------------------------------------------------------------------------------

    def settle_meshes(self, mujoco: Any, spec: Any) -> list[str]:
        """Find the meshes that MuJoCo needs, and let it open no others. The names of bodies that stand still and lack
        theirs, which count without them."""
        needed, wished = _users(mujoco, spec)
        if self.drawn:
            needed |= {mesh_name(mesh.name, mesh.file): "drawn" for mesh in spec.meshes}
        refused: dict[str, list[str]] = {}
        remedy, lacking = "", []
        for mesh in spec.meshes:
            name = mesh_name(mesh.name, mesh.file)
            if mesh.file and (name in needed or name in wished):
                file = Path(mesh.file.replace("\\", "/")).name if spec.strippath else mesh.file
                path = self.find(file, self.beside.get(name), spec.meshdir)
                reason = self.reason_against(path) or self.too_many(path)
                if reason:
                    for body, geom in wished.pop(name, ()):
                        geom.mass = 0
                        lacking.append(body.name)
                    if name in needed:
                        refused.setdefault(reason, []).append(f"{mesh.file} (body {needed[name]!r})")
                        remedy = remedy or self.remedy(path, "add the files")
                mesh.file = str(path)
            if name not in needed and name not in wished:
                mesh.name, mesh.file, mesh.content_type = name, "", ""
                mesh.uservert, mesh.scale = TETRAHEDRON, [1, 1, 1]
                mesh.userface, mesh.usernormal, mesh.usertexcoord = [], [], []
        spec.strippath = False
        for reason, meshes in refused.items():
            more = f" and {len(meshes) - 5} more" if len(meshes) > 5 else ""
            raise ModelError(
                f"{'meshes' if self.drawn else 'meshes from which inertias come'} cannot be had: {reason}",
                where=self.root.source,
                got=", ".join(meshes[:5]) + more,
                expected=f"files in {self.folder / spec.meshdir}" if self.folder else "a folder to look for them",
                fix=f'{remedy}; or give the bodies <inertial pos="..." mass="..." diaginertia="..."/>',
            )
        return list(dict.fromkeys(lacking))


def _without_plugins(actuators: Element) -> None:
    """Make actuators whose law is a plugin general ones, with a law of their own that is not a motor's: only which
    joint they drive and with how much force is read."""
    for actuator in actuators.all("plugin"):
        law = {"plugin", "instance", "gaintype", "biastype"}
        kept = {name: text for name, text in actuator.attributes.items() if name not in law}
        actuator.tag, actuator.attributes = "general", kept | {"biastype": "affine"}
        actuator.children = []


def _drop_unused_plugins(root: Element) -> None:
    """Take out of <extension> what actuators and sensors had asked for: MuJoCo refuses instances that nothing uses."""
    users = [element for element in root.walk() if element.tag == "plugin" and element.parent not in root.children]
    kinds, instances = ({user.attributes.get(key) for user in users} for key in ("plugin", "instance"))
    for extension in root.all("extension"):
        for declared in extension.children:
            declared.children = [each for each in declared.children if each.attributes.get("name") in instances]
        used = (each for each in extension.children if each.children or each.attributes.get("plugin") in kinds)
        extension.children = list(used)


def mesh_name(name: str | None, file: str) -> str:
    """By which a mesh is called for: its file's, if it has none of its own."""
    return name or Path(file.replace("\\", "/")).stem


def _users(mujoco: Any, spec: Any) -> tuple[dict[str, str], dict[str, list[tuple[Any, Any]]]]:
    """The meshes from which MuJoCo will infer an inertia, or where a site is: each with the name of a body that needs
    it; and those that only bodies that stand still have: with all such bodies and geoms."""
    compiler, rules = spec.compiler, mujoco.mjtInertiaFromGeom
    low, high = compiler.inertiagrouprange
    needed = {site.meshname: site.parent.name for site in spec.sites if getattr(site, "meshname", "")}
    wished: dict[str, list[tuple[Any, Any]]] = {}
    for body, moves in _bodies(spec.worldbody, compiler.settotalmass > 0):  # then every mass counts for the others
        given = compiler.inertiafromgeom == rules.mjINERTIAFROMGEOM_AUTO and body.explicitinertial
        if given or compiler.inertiafromgeom == rules.mjINERTIAFROMGEOM_FALSE:
            continue
        for geom in body.geoms:
            weight = geom.density if math.isnan(geom.mass) else geom.mass
            if geom.meshname and weight and low <= geom.group <= high:
                if moves:
                    needed[geom.meshname] = body.name
                else:
                    wished.setdefault(geom.meshname, []).append((body, geom))
    return needed, wished


def _bodies(body: Any, moves: bool) -> Iterator[tuple[Any, bool]]:
    """All below ``body``, and whether they move."""
    for child in body.bodies:
        child_moves = moves or bool(child.joints)
        yield child, child_moves
        yield from _bodies(child, child_moves)
