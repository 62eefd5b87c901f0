"""Processors that LLVM makes code for, beside this one."""

import pytest
from llvmlite import binding

from linkwork.codegen.native.target import Target


def need(target: Target) -> None:
    """Make LLVM ready for a target; the test that asks is skipped where LLVM was built without it."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    try:
        binding.Target.from_triple(target.triple)
    except RuntimeError:
        pytest.skip(f"this LLVM was built without {target.triple}")
