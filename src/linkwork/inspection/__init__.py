"""Facts about robots as plain data: parts, operation counts, agreement of methods, speed, files.

``linkwork COMMAND --json`` prints what the function of that name returns.
"""

from .agreement import checks
from .comparison import cite, compare
from .counts import count, derivatives, passes
from .facts import inspect, robots
from .files import check, convert
from .frames import mdh
from .minimal import params
from .published_counts import complexity_tables
from .speed import bench
from .states import random_states

__all__ = [
    "bench",
    "check",
    "checks",
    "cite",
    "compare",
    "complexity_tables",
    "convert",
    "count",
    "derivatives",
    "inspect",
    "mdh",
    "params",
    "passes",
    "random_states",
    "robots",
]


def __dir__() -> list[str]:
    return __all__
