"""From measurements to a physical model: recordings, motions that excite, fits."""

from .fit import Fit, Values
from .log import Log
from .solve import identify

__all__ = ["Fit", "Log", "Values", "identify"]


def __dir__() -> list[str]:
    return __all__
