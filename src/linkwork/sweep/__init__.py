"""Studies of many simulations: Monte-Carlo and grids over states, parameters, gains and robots, on Dask."""

from .cluster import Summary, run
from .reader import read_study
from .rows import compute
from .study import Study

__all__ = ["Study", "Summary", "compute", "read_study", "run"]


def __dir__() -> list[str]:
    return __all__
