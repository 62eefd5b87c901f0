"""Work grows as programs do, from the description to the program: calls are counted, so that no clock decides."""

from collections.abc import Callable
from cProfile import Profile
from dataclasses import replace
from pstats import Stats
from typing import Any

import pytest

import linkwork
from linkwork.model import Description
from linkwork.program import passes
from support.random_robots import Recipe, describe


def chain(joints: int) -> Description:
    return describe(Recipe(seed=1, joints=joints))


def star(joints: int) -> Description:
    """All on one floating body."""
    description = describe(Recipe(seed=1, joints=joints, floating=True))
    return replace(description, joints=tuple(replace(joint, parent="base") for joint in description.joints))


def calls(function: Callable[[], Any]) -> tuple[int, Any]:
    """Calls of functions, those in C among them, and what came out."""
    profile = Profile()
    result = profile.runcall(function)
    return Stats(profile).total_calls, result  # type: ignore[attr-defined]


CASES = [
    (chain, "inverse_dynamics", "shared-axes", 15, 60),
    (chain, "forward_dynamics", "aba", 6, 24),
    (star, "inverse_dynamics", "rnea", 10, 40),
    (star, "inertia_matrix", "crba", 15, 60),
    (chain, "inertia_matrix", "crba", 12, 24),
]


@pytest.mark.parametrize("customised", [True, False], ids=["customised", "as traced"])
@pytest.mark.parametrize("make, quantity, method, small, large", CASES, ids=lambda x: getattr(x, "__name__", x))
def test_calls_for_each_value_stay_the_same(make, quantity, method, small, large, customised, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", "off")
    monkeypatch.setattr(passes, "LARGE", 10**9 if customised else 0)

    def work(joints: int) -> float:
        robot = linkwork.load(make(joints))
        counted, function = calls(lambda: robot.compile(quantity, method=method, backend="interpreter"))
        return counted / (len(function.program.instructions) + len(function.program.results))

    work(2)  # imports, and what is kept for later
    assert work(large) < 1.1 * work(small)


@pytest.mark.parametrize("make", [chain, star])
def test_calls_for_each_link_stay_the_same(make):
    def work(joints: int) -> float:
        description = make(joints)
        return calls(lambda: linkwork.load(description))[0] / joints

    work(2)
    assert work(120) < 1.1 * work(15)
