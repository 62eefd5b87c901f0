"""Another module in the place of one of ``linkwork.formulations``, with all that imports it, and no file touched.

So, too, for what they share with others: the equations of loops, and linear algebra.
"""

import ast
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType

import linkwork.formulations

PACKAGE = "linkwork.formulations"
ROOT = Path(linkwork.formulations.__file__).parent
EQUATIONS = "../constraints/equations.py"
SHARED = (
    EQUATIONS,
    *(f"../constraints/{name}.py" for name in ("closed_loops", "saddle")),
    *(f"../scalar/{name}.py" for name in ("dual", "ldl", "orthogonal", "staircase")),
)


def path_of(file: str) -> Path:
    """Of a file named relative to the formulations."""
    return (ROOT / file).resolve()


def module_of(file: str) -> str:
    return ".".join(path_of(file).relative_to(ROOT.parent.parent).with_suffix("").parts)


@cache
def imports() -> dict[str, set[str]]:
    """Module -> all modules of the package that it imports, directly or not."""
    direct = {}
    for path in (*ROOT.rglob("*.py"), *path_of(EQUATIONS).parent.rglob("*.py"), *map(path_of, SHARED)):
        parts = path.relative_to(ROOT.parent.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if path.stem == "__init__" else parts)
        direct[name] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                start = parts[: len(parts) - node.level] if node.level else ()
                base = ".".join((*start, *([node.module] if node.module else [])))
                direct[name] |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    known = {name: found & direct.keys() for name, found in direct.items()}
    while True:
        more = {name: found.union(*(known[other] for other in found)) for name, found in known.items()}
        if more == known:
            return known
        known = more


class Substitute(MetaPathFinder, Loader):
    """Gives ``code`` for the module ``name``."""

    def __init__(self, name: str, code: CodeType):
        self.name, self.code = name, code

    def find_spec(self, fullname, path, target=None):
        return spec_from_loader(fullname, self) if fullname == self.name else None

    def create_module(self, spec):
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


@contextmanager
def in_place_of(name: str, tree: ast.Module) -> Iterator[ModuleType]:
    """The package of formulations with another module ``name``; the usual one again afterwards."""
    stale = {other for other, found in imports().items() if name in found} | {name, PACKAGE}
    usual = {other: sys.modules.pop(other) for other in stale if other in sys.modules}
    attributes = []  # a package may show a function of the same name where its module would stand
    for other in usual:
        package, _, attribute = other.rpartition(".")
        parent = sys.modules.get(package) or usual[package]
        attributes.append((parent, attribute, getattr(parent, attribute)))
        if package not in stale:
            delattr(parent, attribute)  # so that it is imported anew
    substitute = Substitute(name, compile(tree, name, "exec"))
    sys.meta_path.insert(0, substitute)
    try:
        yield importlib.import_module(PACKAGE)
    finally:
        sys.meta_path.remove(substitute)
        for other in stale:
            sys.modules.pop(other, None)
        sys.modules.update(usual)
        for parent, attribute, value in attributes:
            setattr(parent, attribute, value)
