"""Which parameters act by themselves, told by numbers: the same on every processor, and doubts are told, too."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError
from linkwork.model import Description, JointDescription, Link, Mimic, Placement
from linkwork.parameters import BaseParameters, base_parameters, states
from linkwork.parameters.double_double import DoubleDouble
from linkwork.parameters.precise import precise_rows
from linkwork.parameters.rank import independent, stacked
from support.evaluate import assert_close
from support.random_loops import LoopRecipe, closed_model, four_bar, mechanism, spin
from support.random_robots import inertia

# One freedom and about fifty parameters that doubles tell badly apart or not at all: lengths of what the last of them
# adds to the others go down to 1e-7, 1e-11, 1e-16.
HARD = {
    "719909": (LoopRecipe(seed=719909), 45),
    "262494": (LoopRecipe(seed=262494), 48),
    "two loops": (LoopRecipe(seed=145, closures=("revolute", "universal"), mimic=True), 85),
}


@cache
def hard(name: str) -> BaseParameters:
    return base_parameters(closed_model(mechanism(HARD[name][0])))


def assert_same_forces(base: BaseParameters) -> None:
    """At other states than those that decided; small coefficients count, too."""
    Y = stacked(base.model, base.standard, seed=9)
    chosen = [base.standard.index(each) for each in base.columns]
    assert_close(Y[:, chosen] @ base.matrix, Y)


@pytest.mark.parametrize("name", HARD)
def test_hard_loops(name: str):
    base = hard(name)
    assert len(base) == base.rank == HARD[name][1]
    assert_same_forces(base)


@pytest.mark.parametrize("name", ["719909", "262494"])
def test_last_bits_do_not_decide(name: str, monkeypatch):
    """What libraries compute, off by a few last digits: the same parameters, and the same combinations."""
    base, rng = hard(name), np.random.default_rng(1)

    def noisy(function):
        def run(*arguments, **options):
            found = function(*arguments, **options)
            return found * (1 + rng.integers(-8, 9, np.shape(found)) * 2.0**-52)

        return run

    for library, function in ((np.linalg, "pinv"), (np.linalg, "svd"), (np, "sin"), (np, "cos")):
        monkeypatch.setattr(library, function, noisy(getattr(library, function)))
    again = base_parameters(base.model)
    assert again.names == base.names and again.rank == HARD[name][1]
    assert_close(again.matrix, base.matrix)


def test_order_of_rows_does_not_decide():
    base, rng = hard("262494"), np.random.default_rng(0)
    Y, noise = precise_rows(base.model, base.standard)
    one = independent(Y, noise)
    for _ in range(3):
        other = independent(Y[rng.permutation(len(Y.high))] * rng.uniform(0.999, 1.001, (len(Y.high), 1)), noise)
        assert other.columns == one.columns and len(one.columns) == 48
        assert_close(other.matrix, one.matrix)


@pytest.mark.parametrize(
    ("recipe", "count"),
    [
        (LoopRecipe(seed=175, closures=("spherical",), motors="all", mimic=True), 37),
        (LoopRecipe(seed=504, closures=("spherical",), freedoms=2, motors="all"), 41),
    ],
)
def test_motors_that_share_a_freedom(recipe, count):
    """Forces of several motors tell no more than one; states enough for all parameters are taken all the same."""
    base = base_parameters(closed_model(mechanism(recipe)))
    assert len(base.model.mobility.forced) > base.model.nv
    assert len(base) == base.rank == count
    assert_same_forces(base)


def test_independent_columns():
    """Integers, so that products are exact, in columns of different lengths."""
    rng = np.random.default_rng(0)
    Y = rng.integers(-9, 9, (30, 3)) @ rng.integers(-9, 9, (3, 7)) * 2.0 ** rng.integers(-8, 8, 7)
    found = independent(DoubleDouble(Y), 1e-27)
    assert len(found.columns) == 3 and not found.ambiguity
    assert_close(Y[:, found.columns] @ found.matrix, Y)
    nothing = independent(DoubleDouble(0 * Y), 1e-27)
    assert nothing.columns == [] and nothing.matrix.shape == (0, 7)


def test_columns_that_tie_are_taken_in_their_order():
    column = np.random.default_rng(0).normal(size=20)
    for last_bits in (1 - 2**-50, 1, 1 + 2**-50):
        assert independent(DoubleDouble(np.stack([column, column * last_bits], axis=1)), 1e-12).columns == [0]


# -- doubts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "noise", "count", "doubt"),
    [
        (1e-8, 1e-27, 2, ""),
        (1e-18, 1e-27, 2, "1 of the base parameters add no more than 1e-18 to the effect of the others"),
        (1e-28, 1e-27, 1, ""),
        (1e-12, 1e-15, 2, "no more than 1e-12"),
        (1e-10, 1e-15, 2, ""),
        (1e-16, 1e-15, 1, ""),
    ],
)
def test_what_numbers_do_not_decide_is_told(size, noise, count, doubt):
    found = independent(DoubleDouble([[1.0, 1.0], [0.0, size]]), noise)
    assert len(found.columns) == count
    assert doubt in found.ambiguity and bool(doubt) == bool(found.ambiguity)


def tilted(angle: float) -> Description:
    """Three joints, the later ones tilted against those before, of which the last follows the first."""
    rng, x = np.random.default_rng(0), np.array([1.0, 0.0, 0.0])
    links = tuple(Link(f"link{k}", inertia(rng)) for k in range(4))
    joints = (
        JointDescription(f"joint{k}", "revolute", f"link{k}", f"link{k + 1}", Placement(spin(x, turn), x), mimic=mimic)
        for k, (turn, mimic) in enumerate(((0.0, None), (angle, None), (angle, Mimic("joint0", 0.7, 0.1))))
    )
    return Description("tilted", links, tuple(joints))


@pytest.mark.parametrize(
    ("angle", "count", "doubt"),
    [(0.0, 7, ""), (1e-13, 7, ""), (1e-9, 15, "8 of the base parameters add no more than 1e-15"), (1e-4, 15, "")],
)
def test_axes_that_are_hardly_parallel(angle, count, doubt):
    """Below 1e-12 they are; but a turn of 1e-9 is meant by nobody, and yet the numbers say so."""
    base = base_parameters(closed_model(tilted(angle)))
    assert len(base) == base.rank == count
    assert doubt in base.ambiguity and bool(doubt) == bool(base.ambiguity)


def test_loops_that_contradict_each_other():
    """A cut that is tilted in the last digits that pass: six equations for a planar loop, of which three are left over.
    They are not taken for motions."""
    upright = base_parameters(closed_model(four_bar()))
    loop = four_bar().constraints[0]
    link, frame = loop.second
    turned = Placement(frame.rotation @ spin(np.array([1.0, 0.0, 0.0]), 5e-11), frame.translation)
    base = base_parameters(closed_model(replace(four_bar(), constraints=(replace(loop, second=(link, turned)),))))
    assert base.names == upright.names and base.rank == len(base) and not base.ambiguity
    assert_close(base.matrix, upright.matrix, tolerance=1e-8)


def test_loops_that_do_not_close_beside_home(monkeypatch):
    monkeypatch.setattr(states, "CLOSED", 0.0)
    with pytest.raises(LinkworkError, match=r"too few positions with closed loops(.|\n)*got: 0 on .* walks from home"):
        linkwork.load("four-bar").base_parameters()


def test_signs_of_friction_are_assumed():
    """Rates of three turning joints of a planar loop that a sliding one closes add up to zero: Coulomb friction of one
    is that of the other two, where they turn as they do near home."""
    base = base_parameters(closed_model(mechanism(LoopRecipe(seed=7, closures=("prismatic",), planar=True))))
    assert re.fullmatch("Coulomb friction of to_.* is combined .* by the signs it has near home", base.ambiguity)
    assert base_parameters(linkwork.load("panda").model).ambiguity == ""
