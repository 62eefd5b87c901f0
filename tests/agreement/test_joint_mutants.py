"""Every changed sign, axis, index, factor or number in a joint's file is noticed; see ``joint_mutants``."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import joint_mutants
from linkwork.model.joints import JOINT_KINDS


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_kinds_are_right(kind: str):
    """So mutants are killed for what they compute, also where an unchanged file is put in the place of itself."""
    assert not [*joint_mutants.faults(kind)]
    file = f"{joint_mutants.JOINTS}{kind}.py"
    with joint_mutants.in_place(file, ast.parse(joint_mutants.path_of(file).read_text())):
        assert not [*joint_mutants.faults(kind)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of mutants that divide by zero
@pytest.mark.parametrize("file", joint_mutants.files(), ids=lambda file: Path(file).stem)
def test_mutants_are_killed(file: str):
    """All of them but those that compute the same, of which there is one where several look alike."""
    excused = defaultdict(list)
    for mutant in joint_mutants.mutants(file):
        if joint_mutants.reason(mutant):
            excused[joint_mutants.key(mutant)].append(mutant)
        else:
            assert joint_mutants.killed(mutant), f"survived: {mutant}"
    for alike in excused.values():
        assert len(alike) == 1 or sum(not joint_mutants.killed(mutant) for mutant in alike) == 1


def test_equivalent_mutants_exist():
    every = {joint_mutants.key(mutant) for file in joint_mutants.files() for mutant in joint_mutants.mutants(file)}
    assert joint_mutants.EQUIVALENT.keys() <= every
