"""Narrower vectors on the same processor: how time depends on lanes, and what processors without AVX-512 would run."""

from __future__ import annotations

from dataclasses import replace

from linkwork.codegen.native.target import Target, host


def targets() -> dict[int, Target]:
    """By lanes of float64: the processor itself, then as one whose registers are half as wide, and so on down to two
    lanes. Only the widest have the instructions of AVX-512 and its 32 registers."""
    here = host()
    if "+avx512" not in here.features:
        plain = here
    else:
        features = ",".join(each.replace("+", "-") if "avx512" in each else each for each in here.features.split(","))
        plain = replace(here, features=features, registers=16)
    narrower = [replace(plain, vector_bytes=width) for width in (32, 16) if width < here.vector_bytes]
    return {target.lanes("float64"): target for target in (here, *narrower)}
