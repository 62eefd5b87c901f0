"""Expression graph, tracing, straight-line programs, passes, counts; independent of robots."""

from .counts import Operations, count
from .interpret import ARITHMETIC, FUNCTIONS, interpret
from .passes import optimize
from .program import PARAMETER, STATE, Op, Port, Program
from .stages import PREPARED, split_stages, with_known
from .trace import trace

__all__ = [
    "ARITHMETIC",
    "FUNCTIONS",
    "PARAMETER",
    "PREPARED",
    "STATE",
    "Op",
    "Operations",
    "Port",
    "Program",
    "count",
    "interpret",
    "optimize",
    "split_stages",
    "trace",
    "with_known",
]
