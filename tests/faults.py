"""How many mistakes does ``make test`` find? Faults are seeded in a copy of the tree, one at a time.

    python tests/faults.py                 twenty faults
    python tests/faults.py 50 --seed 3     others
    python tests/faults.py --quick         by ``make quick``

A fault is one thing changed in one file of ``src``: a comparison, a sign, a number, and for or, a negation. Unlike the
mutants, it may stand anywhere, on lines too that no test reaches.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SKIPPED = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "build", "dist", "site", "demo"
)
NOTHING = 5  # what pytest ends with if no test was chosen
PATIENCE = 1800  # seconds; a run that takes longer has noticed
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    path: Path  # relative to the tree
    node: ast.expr
    after: str

    def seeded(self, text: str) -> str:
        lines = text.encode().splitlines(keepends=True)
        line = lines[self.node.lineno - 1]
        lines[self.node.lineno - 1] = (
            line[: self.node.col_offset] + f"({self.after})".encode() + line[self.node.end_col_offset :]
        )
        return b"".join(lines).decode()

    def __str__(self) -> str:
        return f"{self.path}:{self.node.lineno}: {ast.unparse(self.node)}  ->  {self.after}"


def faults(path: Path) -> Iterator[Fault]:
    """All of a file, but for those in annotations and in what stands on several lines."""
    for node in ast.walk(without_annotations(ast.parse((ROOT / path).read_text(encoding="utf-8")))):
        if isinstance(node, ast.expr) and node.lineno == node.end_lineno and (changed := change(node)):
            yield Fault(path, node, ast.unparse(changed))


def without_annotations(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if hasattr(node, field):
                setattr(node, field, None)
    return tree


def change(node: ast.expr) -> ast.expr | None:
    match node:
        case ast.Compare(left, [op], [right]):
            return ast.Compare(left, [OTHER[type(op)]()], [right])
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            return ast.BinOp(left, OTHER[type(op)](), right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(OTHER[type(op)](), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            return operand
        case ast.Constant(int(value)) if not isinstance(value, bool):
            return ast.Constant(value + 1)
    return None


def found(fault: Fault, tree: Path, options: list[str]) -> str:
    """How the tests notice the fault; empty if they do not. Those that know its file are asked first."""
    file = tree / fault.path
    text = file.read_text(encoding="utf-8")
    file.write_text(fault.seeded(text), encoding="utf-8")
    try:
        near = [*map(str, likely(fault))]
        return (run(tree, [*options, *near]) if near else "") or run(tree, [*options, "-n", "auto", "tests"])
    finally:
        file.write_text(text, encoding="utf-8")


def likely(fault: Fault) -> list[Path]:
    module = ".".join(fault.path.relative_to("src").with_suffix("").parts)
    return [
        path.relative_to(ROOT)
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if fault.path.stem in path.stem or module in path.read_text(encoding="utf-8")
    ]


def run(tree: Path, options: list[str]) -> str:
    """The first failure."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
    how: dict = {"cwd": tree, "env": environment, "capture_output": True, "text": True, "timeout": PATIENCE}
    try:
        done = subprocess.run(command, **how)
    except subprocess.TimeoutExpired:
        return "it hangs"
    if done.returncode in (0, NOTHING):
        return ""
    return next((line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "it cannot start")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("number", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    paths = sorted(path.relative_to(ROOT) for path in (ROOT / "src").rglob("*.py"))
    every = [fault for path in paths for fault in faults(path)]
    chosen = np.random.default_rng(asked.seed).choice(len(every), asked.number, replace=False)
    noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(shutil.copytree(ROOT, Path(folder) / "tree", ignore=SKIPPED))
        for place in chosen:
            how = found(every[place], tree, ["--quick"] if asked.quick else [])
            noticed += bool(how)
            print(f"{every[place]}\n    {how or 'NOT NOTICED'}", flush=True)
    print(f"{noticed} of {asked.number} faults noticed, of {len(every)} that could be seeded")


if __name__ == "__main__":
    main()
