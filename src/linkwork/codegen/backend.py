"""Interface of back ends, which compile programs and time loops.

A back end is a module (or any object) with the two functions of :class:`Backend`; linkwork has :mod:`.native` and
:mod:`.interpreter`. ``linkwork.targets.register`` adds others, as a ``backend=`` of ``linkwork.compile``,
``Robot.simulate``, ``Robot.rollout`` and ``Robot.stepper``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..program.program import Program

if TYPE_CHECKING:
    from .timeloop import Run, TimeLoop


@dataclass(frozen=True)
class Compiled:
    """A program as a function of arrays.

    Args:
        call: ``call(*arrays, out=(arrays))`` takes batches, broadcast together; it may be a NumPy generalised ufunc.
        direct: ``direct(otherwise)`` returns a callable with less overhead for one state in plain arrays, which passes
            all other calls to ``otherwise``; optional.
        obstacle: Why there is no ``direct``.
        shared: ``shared(threads)`` returns ``call`` by several threads; optional.
        address: ``address()`` returns the address of a NumPy inner loop, which then stays until the process ends;
            optional.
    """

    call: Callable[..., Any]
    direct: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    obstacle: str = ""
    shared: Callable[[int], Callable[..., Any]] | None = None
    address: Callable[[], int] | None = None


class Backend(Protocol):
    """The two functions of a back end."""

    def compile(self, program: Program, dtype: str) -> Compiled:
        """Compile a program for arrays of ``dtype``: float64 or float32."""
        ...

    def compile_loop(self, loop: TimeLoop, samples: int) -> Run:
        """Compile a time loop in ``loop.dtype``, for any number of samples, optimised for about ``samples``."""
        ...
