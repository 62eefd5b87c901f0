"""The architecture: which part may import which."""

import ast
from pathlib import Path

import pytest

import linkwork

ROOT = Path(linkwork.__file__).parent

# A part may import those listed, errors, notes, quoting, renamed and table. ``function`` stands in the column of
# programs, ``pipeline`` joins both.
ALLOWED = {
    "quoting": set(),
    "errors": set(),
    "renamed": set(),
    "notes": set(),
    "table": set(),
    "files": set(),
    "timing": set(),
    "progress": set(),
    "drawing": {"files"},
    "html": set(),
    "rotations": set(),
    "linalg": {"program", "scalar"},
    "scalar": set(),
    "spatial": {"scalar"},
    "forces": {"model", "scalar", "spatial"},
    "model": {"scalar", "spatial"},
    "constraints": {"iteration", "model", "scalar", "spatial"},
    "io": {"files", "forces", "model"},
    "formulations": {"constraints", "model", "spatial", "scalar"},
    "notation": {"formulations", "model", "program", "scalar", "spatial"},
    "parameters": {"constraints", "formulations", "model", "scalar", "spatial", "notation"},
    "published": {"drawing", "formulations", "model", "spatial", "scalar"},
    "program": {"files", "scalar"},
    "derive": {"program", "scalar"},
    "sparsity": {"program"},
    "differentiable": {"codegen", "derive", "metadata", "sparsity", "program"},
    "codegen": {"program"},
    "targets": {"codegen", "files", "linkwork", "program"},  # the version
    "metadata": {"model", "program", "sparsity", "targets"},
    "result_memory": set(),
    "function": {"differentiable", "files", "metadata", "model", "notebook", "program", "result_memory", "symbolic"}
    | {"targets"},
    "notebook": {"model"},
    "pipeline": {
        "codegen",
        "formulations",
        "function",
        "metadata",
        "model",
        "parameters",
        "program",
        "targets",
        "timing",
    },
    "iteration": {"derive", "program", "scalar"},
    "compose": {"formulations", "function", "metadata", "model", "pipeline", "program"},
    "sampled": {"compose", "files", "function", "model", "pipeline", "program", "targets"},
    "assembly": {"constraints", "function", "iteration", "model", "program", "scalar"},
    "workspace": {"assembly", "compose", "function", "model"},
    "options": {"formulations", "metadata", "model", "targets"},
    "control": {"compose", "constraints", "formulations", "model", "program", "rotations", "sampled", "scalar"},
    "sim": {
        "assembly",
        "codegen",
        "compose",
        "constraints",
        "control",
        "formulations",
        "function",
        "model",
        "pipeline",
        "program",
    }
    | {
        "derive",
        "drawing",
        "files",
        "metadata",
        "options",
        "progress",
        "sampled",
        "scalar",
        "spatial",
        "targets",
        "workspace",
    },
    "identify": {"control", "drawing", "files", "formulations", "function", "linkwork", "model", "html"}
    | {"compose", "notebook", "options", "parameters", "progress", "sim", "spatial", "workspace"},  # and the version
    "robot_functions": {"formulations", "function", "identify", "options", "pipeline", "sim", "workspace"},
    "kinematics": {
        "compose",
        "constraints",
        "control",
        "drawing",
        "files",
        "formulations",
        "function",
        "iteration",
        "linalg",
    }
    | {"model", "pipeline", "program", "progress", "rotations", "scalar", "sim", "workspace"},
    "robot": {"assembly", "compose", "constraints", "function", "io", "model", "notebook", "parameters"}
    | {"kinematics", "robot_functions", "sampled", "sim", "symbolic"},
    "library": {"forces", "model"},
    "inspection": {
        "assembly",
        "codegen",
        "compose",
        "constraints",
        "files",
        "formulations",
        "function",
        "io",
        "model",
        "pipeline",
    }
    | {"program", "published", "robot", "sim"},
    "report": {
        "compose",
        "inspection",
        "constraints",
        "control",
        "files",
        "formulations",
        "linkwork",
        "model",
        "html",
        "parameters",
    }
    | {"robot", "spatial", "view"},  # and the version
    "view": {
        "assembly",
        "constraints",
        "files",
        "formulations",
        "function",
        "io",
        "kinematics",
        "model",
        "robot",
        "rotations",
        "sim",
        "spatial",
    }
    | {"timing"},
    "sweep": {"control", "files", "io", "linkwork", "model", "progress", "robot", "sim"},
    "symbolic": {
        "compose",
        "formulations",
        "function",
        "model",
        "pipeline",
        "program",
        "scalar",
        "spatial",
        "notation",
        "targets",
    },
    "coefficient_tables": {"formulations", "function", "robot", "program", "model", "timing"},
    "cli": {
        "kinematics",
        "rotations",
        "inspection",
        "assembly",
        "compose",
        "constraints",
        "published",
        "io",
        "formulations",
        "function",
        "model",
    }
    | {"robot", "control", "files", "parameters", "report", "sim", "sweep", "symbolic", "view"}
    | {"drawing", "identify", "kinematics", "linkwork", "options", "targets"},  # the version
    "__main__": {"cli"},
}


def for_types_alone(tree: ast.AST) -> set[ast.AST]:
    """What stands under ``if TYPE_CHECKING``, and never runs."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {inner for node in found for each in node.body for inner in ast.walk(each)}


def imported_parts(path: Path) -> set[str]:
    """Top-level parts of linkwork that a module imports when it runs ("linkwork" for the package itself)."""
    package = ("linkwork", *path.relative_to(ROOT).with_suffix("").parts)
    parts, tree = set(), ast.parse(path.read_text())
    unseen = for_types_alone(tree)
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level]) if node.level else []
            names = [*base, *(node.module or "").split(".")] if node.module else base
            found = [[*names, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            found = [alias.name.split(".") for alias in node.names]
        else:
            continue
        for name in found:
            if name[:1] == ["linkwork"]:
                known = len(name) > 1 and ((ROOT / name[1]).is_dir() or (ROOT / f"{name[1]}.py").exists())
                parts.add(name[1] if known else "linkwork")
    return parts


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_import_direction(path):
    relative = path.relative_to(ROOT)
    part = relative.parts[0].removesuffix(".py")
    if part == "__init__":
        return
    extra = imported_parts(path) - ALLOWED[part] - {part, "errors", "notes", "quoting", "renamed", "table"}
    assert not extra, f"{relative} imports {extra}"


@pytest.mark.parametrize("part", sorted(ALLOWED))
def test_nothing_is_allowed_that_is_not_used(part):
    paths = (ROOT / part).rglob("*.py") if (ROOT / part).is_dir() else [ROOT / f"{part}.py"]
    assert ALLOWED[part] <= set().union(*map(imported_parts, paths))


def test_rule_catches_a_forbidden_import(tmp_path, monkeypatch):
    path = ROOT / "scalar" / "__init__.py"
    assert "model" not in imported_parts(path)
    bad = ROOT / "program" / "program.py"
    monkeypatch.setattr(Path, "read_text", lambda self: "from ..model import Model\nimport linkwork.io.urdf\n")
    assert imported_parts(bad) == {"model", "io"}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("import linkwork", {"linkwork"}),
        ("from linkwork import load", {"linkwork"}),
        ("from .. import __version__", {"linkwork"}),
        ("from .. import io", {"io"}),
        ("from linkwork import io", {"io"}),
        ("from ..io.urdf import read_urdf", {"io"}),
        ("from . import graph", {"program"}),
        ("import numpy.linalg", set()),
        ("if TYPE_CHECKING:\n    from ..robot import Robot\nfrom ..io import read", {"io"}),
    ],
)
def test_what_counts_as_an_import(monkeypatch, line, parts):
    monkeypatch.setattr(Path, "read_text", lambda self: line)
    assert imported_parts(ROOT / "program" / "program.py") == parts


# -- circles -----------------------------------------------------------------------------------------------------------


def imported_modules(path: Path) -> set[str]:
    """Modules of linkwork that a module imports, in functions too, as paths from ROOT."""
    tree = ast.parse(path.read_text())
    unseen, found = for_types_alone(tree), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and node not in unseen:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for target in (*(folder / alias.name for alias in node.names), folder):
                if (file := target.with_suffix(".py")).exists() or (file := target / "__init__.py").exists():
                    found.add(str(file.relative_to(ROOT)))
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules in a circle of imports, or that import one: those left when modules without imports are removed, again
    and again."""
    left = {name: set(imported) & set(graph) - {name} for name, imported in graph.items()}
    while free := {name for name, imported in left.items() if not imported}:
        left = {name: imported - free for name, imported in left.items() if name not in free}
    return sorted(left)


def test_no_module_of_identify_imports_in_a_circle():
    paths = (ROOT / "identify").rglob("*.py")
    graph = {str(path.relative_to(ROOT)): imported_modules(path) for path in paths}
    graph = {name: imported for name, imported in graph.items() if not name.endswith("__init__.py")}
    assert len(graph) > 40 and not circle(graph)
    rooms: dict[str, set[str]] = {}
    for name, imported in graph.items():
        rooms.setdefault(name.split("/")[1], set()).update(each.split("/")[1] for each in imported if each in graph)
    assert {"logs", "regression", "convex", "output_error"} < set(rooms) and not circle(rooms)


def test_circles_are_noticed():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["a", "b", "c", "d"]
    assert not circle({"a": {"b", "c"}, "b": {"c"}, "c": {"numpy"}})
