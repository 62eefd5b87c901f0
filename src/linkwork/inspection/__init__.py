"""What there is to say about a robot, as plain data: what ``linkwork VERB --json`` prints is what the function of that
name returns, and the tables of the command line are made of it.
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
