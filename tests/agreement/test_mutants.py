"""Changed signs, factors and axes in the formulations are noticed; ``python tests/mutants.py`` tries more of them."""

import ast

import pytest

import linkwork.formulations
import mutants

EACH = 3  # mutants of a file


@pytest.mark.parametrize("file", mutants.files())
def test_mutants_are_killed(file: str):
    for mutant in mutants.mutants(file, EACH):
        assert mutants.killed(file, mutant.tree) or mutant.reason, f"survived: {mutant}"


def test_the_unchanged_file_survives():
    """So mutants are killed for what they compute, and not by the way they are run."""
    usual = linkwork.formulations
    for file in ("parallel_axes.py", "khalil/loops.py", mutants.EQUATIONS):
        tree = ast.parse(mutants.path_of(file).read_text())
        assert not mutants.killed(file, tree)
    assert linkwork.formulations is usual


def test_equivalent_mutants_exist():
    every = {mutant.key for file, *_ in mutants.EQUIVALENT for mutant in mutants.mutants(file)}
    assert mutants.EQUIVALENT.keys() <= every
