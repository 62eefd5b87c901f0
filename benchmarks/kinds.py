"""Results by kind of processor: one file for each kind, which only a run on that kind replaces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Results = dict[str, Any]


def kind(results: Results) -> str:
    """What LLVM calls the processor, and how many doubles fill a vector."""
    return f"{results['machine']['llvm_name']}, {results['machine']['lanes']} lanes"


def keep(results: Results, folder: Path):
    """Write ``results`` in the place of those of the same kind."""
    folder.mkdir(parents=True, exist_ok=True)
    name = kind(results).replace(", ", "-").replace(" ", "-")
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def kept(folder: Path) -> list[Results]:
    """Results of all kinds, the newest first."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    return sorted(runs, key=lambda results: results["date"], reverse=True)
