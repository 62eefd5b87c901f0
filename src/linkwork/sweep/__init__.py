"""Sweeps: Monte Carlo studies and grids over states, parameters, gains and robots, computed with Dask."""

from .cluster import Summary, run
from .reader import read_study
from .rows import compute
from .study import Study

__all__ = ["Study", "Summary", "compute", "read_study", "run"]


def __dir__() -> list[str]:
    return __all__
