"""Optimised programs from the cache: the same as made anew, made once."""

import numpy as np
import pytest

import linkwork
from linkwork.codegen import optimised as module
from linkwork.codegen.optimised import SMALL, optimised
from linkwork.pipeline import traced
from linkwork.program import optimize

PROGRAM = traced(linkwork.load("scara"), "forward_dynamics")[1]
SHORT = traced(linkwork.load("planar2r"), "gravity")[1]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def made(monkeypatch):
    """Counts how often the passes run."""
    calls = []
    monkeypatch.setattr(module, "optimize", lambda program: calls.append(program) or optimize(program))
    return calls


def test_made_once(place, made):
    assert optimised(PROGRAM) == optimised(PROGRAM) == optimize(PROGRAM)
    assert len(made) == 1 and len(list(place.iterdir())) == 1


def test_short_programs_and_no_cache(place, made, monkeypatch):
    assert len(SHORT.instructions) < SMALL <= len(PROGRAM.instructions)
    assert optimised(SHORT) == optimize(SHORT) and not list(place.iterdir())
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    assert optimised(PROGRAM) == optimised(PROGRAM) == optimize(PROGRAM)
    assert len(made) == 3


def test_damaged_entries_and_other_passes_are_not_taken(place, made, monkeypatch):
    expected = optimised(PROGRAM)
    (entry,) = place.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert optimised(PROGRAM) == expected and len(made) == 2
    monkeypatch.setattr(module, "_passes", lambda: "other sources")
    assert optimised(PROGRAM) == expected and len(made) == 3


def test_a_second_robot_is_quick_and_gives_the_same_bits(place, made):
    q, v, a = np.random.default_rng(0).normal(size=(3, 20, 4))
    first, second = (linkwork.load("scara").compile("inverse_dynamics", backend="interpreter") for _ in range(2))
    assert first.program == second.program and np.array_equal(first(q, v, a), second(q, v, a))
    assert len({program.digest for program in made}) == len(made) > 0
