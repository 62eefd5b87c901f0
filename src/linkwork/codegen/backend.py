"""What runs programs and time loops: a back end compiles both.

A back end is a module (or any object) with the two functions of :class:`Backend`; those of linkwork are :mod:`.native`
and :mod:`.interpreter`. One that ``linkwork.targets.register`` adds is a ``backend=`` of ``linkwork.compile``,
``Robot.simulate``, ``Robot.rollout`` and ``Robot.stepper`` like these.
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

    ``call(*arrays, out=(arrays))`` takes batches, broadcast together; it may be a NumPy generalised ufunc.
    ``direct(otherwise)``: a callable with less overhead for one state in plain arrays, which leaves all other calls to
    ``otherwise``. Where there is none, ``obstacle`` tells why. ``shared(threads)``: as ``call``, by several threads.
    ``address()``: of the NumPy inner loop, if there is one; from then on it stays there until the process ends.
    """

    call: Callable[..., Any]
    direct: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    obstacle: str = ""
    shared: Callable[[int], Callable[..., Any]] | None = None
    address: Callable[[], int] | None = None


class Backend(Protocol):
    def compile(self, program: Program, dtype: str) -> Compiled:
        """A program, for arrays of ``dtype``: float64 or float32."""
        ...

    def compile_loop(self, loop: TimeLoop, samples: int) -> Run:
        """A time loop, in float64; it takes any number of samples, and is made for about so many."""
        ...
