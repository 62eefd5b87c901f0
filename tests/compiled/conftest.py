import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # straightline.py; pytest's importlib mode leaves the path alone


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    """Every test compiles for itself."""
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))
