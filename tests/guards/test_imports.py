"""The architecture: which part may import which."""

import ast
from pathlib import Path

import pytest

import linkwork

ROOT = Path(linkwork.__file__).parent

# A part may import those listed, and errors. ``function`` stands in the column of programs, ``pipeline`` joins both.
ALLOWED = {
    "errors": set(),
    "files": set(),
    "scalar": set(),
    "spatial": {"scalar"},
    "model": {"scalar", "spatial"},
    "io": {"files", "model", "spatial", "scalar"},
    "formulations": {"model", "spatial", "scalar"},
    "published": {"formulations", "model", "spatial", "scalar"},
    "program": {"scalar"},
    "codegen": {"program", "scalar", "files"},
    "function": {"program", "codegen", "files"},
    "pipeline": {"io", "formulations", "function", "model", "program", "spatial"},
    "tabulate": {"formulations", "function", "pipeline", "program", "model", "spatial", "scalar"},
    "cli": {"published", "tabulate", "io", "formulations", "function", "model", "pipeline", "program", "codegen"}
    | {"scalar", "files", "linkwork"},
}


def imported_parts(path: Path) -> set[str]:
    """Top-level parts of linkwork that a module imports ("linkwork" for the package itself)."""
    package = ("linkwork", *path.relative_to(ROOT).with_suffix("").parts)
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level]) if node.level else []
            names = [*base, *(node.module or "").split(".")] if node.module else base
            found = [names, *([*names, alias.name] for alias in node.names)]
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
    extra = imported_parts(path) - ALLOWED[part] - {part, "errors"}
    if part != "cli":
        extra.discard("linkwork")  # named again only as the package of a relative import
    assert not extra, f"{relative} imports {extra}"


def test_rule_catches_a_forbidden_import(tmp_path, monkeypatch):
    path = ROOT / "scalar" / "__init__.py"
    assert "model" not in imported_parts(path)
    bad = ROOT / "program" / "program.py"
    monkeypatch.setattr(Path, "read_text", lambda self: "from ..model import Model\nimport linkwork.io.urdf\n")
    assert {"model", "io"} <= imported_parts(bad)
