"""What the project says of itself is so: layers, versions of Python, what CI runs, what runs leave out."""

import ast
import re
import runpy
from pathlib import Path

import pytest
import yaml

import linkwork

PACKAGE = Path(linkwork.__file__).parent
ROOT = PACKAGE.parents[1]
OLDEST = (3, 10)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def layers() -> list[set[str]]:
    """The lines of CONTRIBUTING's drawing."""
    drawn = text("CONTRIBUTING.md").split("## How the code is laid out")[1].split("\n## ")[0]
    return [set(line[1].split(", ")) for line in re.finditer(r"^    (\w+(?:, \w+)*)", drawn, re.M)]


def test_the_drawing_is_the_tree():
    parts = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    drawn = [part for layer in layers() for part in layer]
    assert sorted(drawn) == sorted(part for part in parts if not part.startswith("__"))


def test_layers_import_from_those_above():
    allowed = runpy.run_path(str(ROOT / "tests" / "guards" / "test_imports.py"))["ALLOWED"]
    above = {"linkwork"}
    for layer in layers():
        above |= layer
        for part in layer:
            assert allowed[part] <= above, f"{part} imports {allowed[part] - above}, which stands below it"


def versions() -> list[str]:
    return re.findall(r"Python :: (3\.\d+)", text("pyproject.toml"))


def test_one_oldest_python():
    oldest = ".".join(map(str, OLDEST))
    assert versions()[0] == oldest
    assert f'requires-python = ">={oldest}"' in text("pyproject.toml")
    assert f'pythonVersion = "{oldest}"' in text("pyproject.toml")
    assert f"Python {oldest} or later" in text("README.md")


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "docs", "examples"])
def test_the_oldest_python_reads_every_file(folder):
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    for path in paths:
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=OLDEST)


def test_ci_runs_what_there_is_on_every_python():
    jobs = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]
    tested = [job["strategy"]["matrix"] for job in jobs.values() if "strategy" in job]
    assert all(matrix["python"] == versions() for matrix in tested)
    systems = {job["runs-on"] for job in jobs.values()}.union(*(matrix.get("system", ()) for matrix in tested))
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= systems
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.M))
    lines = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert {line.split()[1] for line in lines if line.startswith("make ")} <= targets
    assert "make test" in lines


def test_commits_are_checked_by_the_tools_of_make_lint():
    rule = re.search(r"^lint:.*\n((?:\t.*\n)+)", text("Makefile"), re.M)
    hooks = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    entries = "\n".join(hook["entry"] for hook in hooks)
    made, hooked = (set(re.findall(r"(?:RUN\)|bin)/(\w+(?: \w+)?)", each)) for each in (rule[1], entries))
    assert made == hooked == {"ruff check", "ruff format", "codespell", "basedpyright"}


def test_every_target_is_told():
    told = set(re.findall(r"`make ([\w-]+)", text("CONTRIBUTING.md") + text("README.md")))
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.M))
    assert targets - {"clean"} <= told


@pytest.mark.parametrize("which", ["FULL", "SOME", "SLOW"])
def test_what_runs_leave_out_exists(which):
    listed = runpy.run_path(str(ROOT / "tests" / "conftest.py"))[which]
    assert sorted(listed) == list(listed)
    for each in listed:
        path, *names = each.partition("[")[0].split("::")
        assert (ROOT / path).exists(), each
        assert all(re.search(rf"^ *(def|class) {name}", text(path), re.M) for name in names), each


def test_all_tests_run_every_night():
    nightly = yaml.safe_load(text(".github/workflows/nightly.yml"))
    assert nightly[True]["schedule"], "YAML reads `on` as true"
    assert "make full" in [step.get("run") for step in nightly["jobs"]["full"]["steps"]]
