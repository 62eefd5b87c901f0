"""Docstrings of public names: the first line stands alone, sections agree with the signature, examples run."""

import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import linkwork
from guards.test_public import PARTS, RETURNED
from linkwork.formulations import QUANTITIES
from linkwork.sim import INTEGRATORS
from linkwork.targets.registry import TARGETS

SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Example|Note|References):$", re.M)
SHOWN = ("Robot", "Function", "Trajectory", "Stepper", "SymbolicModel", "Tables", "identify.Fit", "identify.Log")
# classes whose methods each have an example; those of others may be shown by the example of their class
ENTRY = re.compile(r"^    (\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \([^)]*\))?: ", re.M)


def _resolve(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(__import__(f"linkwork.{module}", fromlist=[name]), name)


def _members(prefix: str, cls: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties that linkwork defines and documents; one that overrides another without a docstring
    has that of the other. Quantities of a robot have tests of their own."""
    seen: set[str] = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("linkwork") or (issubclass(base, BaseException) and base is not cls):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") or name in seen or (cls is linkwork.Robot and name in QUANTITIES):
                continue
            seen.add(name)
            inherited = any(name in vars(above) for above in base.__mro__[1:])
            if inherited and not getattr(getattr(member, "func", member), "__doc__", None):
                continue
            if isinstance(member, (property, cached_property, staticmethod, classmethod)) or inspect.isfunction(member):
                yield f"{prefix}.{name}", member


def _public() -> dict[str, object]:
    names = {f"linkwork.{name}": getattr(linkwork, name) for name in linkwork.__all__}
    names |= {f"linkwork.{part}.{name}": getattr(getattr(linkwork, part), name) for part in PARTS
              for name in getattr(linkwork, part).__all__}  # fmt: skip
    names |= {f"linkwork.{path}": _resolve(path) for path in sorted(RETURNED)}
    known: dict[int, str] = {}
    found: dict[str, object] = {}
    for name, value in names.items():
        if isinstance(value, ModuleType) or not callable(value) or value is Any or id(value) in known:
            continue
        known[id(value)] = name
        found[name] = value
        if inspect.isclass(value) and not issubclass(value, Enum):
            found.update((path, member) for path, member in _members(name, value) if id(member) not in known)
            known.update((id(member), path) for path, member in _members(name, value))
    return found


PUBLIC = _public()


def _function(value: object) -> Callable | None:
    """What is called: None for properties, which take nothing."""
    if isinstance(value, (property, cached_property)):
        return None
    return getattr(value, "__func__", value)  # type: ignore[return-value]


def _documentation(value: object) -> str:
    return inspect.getdoc(getattr(value, "func", value) if isinstance(value, cached_property) else value) or ""


def _sections(text: str) -> dict[str, str]:
    parts = SECTION.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _parameters(function: Callable) -> list[str]:
    skipped = {"self", "cls"}
    try:
        every = inspect.signature(function).parameters.values()
    except ValueError:
        return []
    return [p.name for p in every if p.name not in skipped and not p.name.startswith("_")]


@pytest.mark.parametrize("name", PUBLIC)
def test_first_line_stands_alone(name):
    first = _documentation(PUBLIC[name]).partition("\n")[0]
    assert first, "no docstring"
    assert re.match(r"[A-Z`\"(\d]", first) and first.endswith("."), first
    assert not first.startswith("Of "), first


@pytest.mark.parametrize("name", PUBLIC)
def test_sections_and_signature_agree(name):
    value = PUBLIC[name]
    function = _function(value)
    if function is None or (inspect.isclass(value) and issubclass(value, BaseException)):
        return
    sections = _sections(_documentation(value))
    documented = [each.strip("*") for group in ENTRY.findall(sections.get("Args", "")) for each in group.split(", ")]
    documented += [each for group in ENTRY.findall(sections.get("Attributes", "")) for each in group.split(", ")
                   if inspect.isclass(value) and each in _parameters(function)]  # fmt: skip
    wanted = _parameters(function)
    assert sorted({*documented}) == sorted({*wanted}), f"Args {documented}, signature {wanted}"
    if not inspect.isclass(value):
        returned = inspect.signature(function).return_annotation
        assert ("Returns" in sections or "Yields" in sections) == (returned not in (None, "None")), "Returns"


def _needs_example(name: str, value: object) -> bool:
    if _function(value) is None or (inspect.isclass(value) and issubclass(value, BaseException)):
        return False
    owner = name.removeprefix("linkwork.").rpartition(".")[0]
    return owner in SHOWN or owner == "" or inspect.isclass(value) or owner in PARTS


@pytest.fixture
def nothing_added():
    """What an example adds, other tests do not see."""
    before = [(table, dict(table)) for table in (INTEGRATORS, TARGETS)]
    yield
    for table, entries in before:
        table.clear()
        table.update(entries)


@pytest.mark.usefixtures("nothing_added")
@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name, tmp_path, monkeypatch):
    """Examples know ``np``, ``linkwork`` and ``robot``, which is the Panda, and run in an empty folder."""
    text = _documentation(PUBLIC[name])
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    if not test.examples:
        assert not _needs_example(name, PUBLIC[name]), "no Example section with lines that begin with >>>"
        return
    assert "Example" in _sections(text), "the example does not stand in a section Example"
    monkeypatch.chdir(tmp_path)
    test.globs.update({"np": np, "linkwork": linkwork, "robot": linkwork.load("panda")})
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=report.append)
    assert not report, "".join(report)
