"""From measurements to a physical model: recordings, motions that excite, fits."""

from .fit import Fit, Values
from .gains import Gains, drive_gains
from .log import Log
from .solve import identify
from .treatment import Band

__all__ = ["Band", "Fit", "Gains", "Log", "Values", "drive_gains", "identify"]


def __dir__() -> list[str]:
    return __all__
