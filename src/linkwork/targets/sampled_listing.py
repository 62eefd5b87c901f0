"""Common parts of the exports of functions with memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ..program import Port
from .listing import Exported, description

MEMORY, NEXT = "memory_", "next_"  # begin names of inputs and outputs of a step
FUNCTIONS = "initial_values", "next_values"  # of a program each


class Sampled(Exported, Protocol):
    """What an export needs of a ``SampledFunction``."""

    function: Exported
    initial: Any
    period: float

    @property
    def memory(self) -> Mapping[str, tuple[int, ...]]: ...


def inputs_of(sampled: Sampled) -> list[Port]:
    """Inputs of a step but its memory."""
    return [port for port in sampled.program.inputs if port.name not in {MEMORY + name for name in sampled.memory}]


def outputs_of(sampled: Sampled) -> list[Port]:
    """Outputs of a step but the next memory."""
    return [port for port in sampled.program.outputs if port.name not in {NEXT + name for name in sampled.memory}]


def paragraphs_of(sampled: Sampled, name: str) -> Iterator[str]:
    """What the files say of the function."""
    yield f"Call {name}_reset once, then {name}_step every {sampled.period!r} s."
    yield ""
    yield from description(sampled.function)
    yield ""
