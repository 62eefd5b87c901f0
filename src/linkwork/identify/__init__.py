"""From measurements to a physical model: recordings, motions that excite, fits."""

from .excitation import excite
from .excitation_answer import Excitation
from .fit import Fit, Values
from .gains import Gains, drive_gains
from .log import Log
from .simulation import SimulationFit, fit_simulation
from .solve import identify
from .treatment import Band

__all__ = [
    "Band",
    "Excitation",
    "Fit",
    "Gains",
    "Log",
    "SimulationFit",
    "Values",
    "drive_gains",
    "excite",
    "fit_simulation",
    "identify",
]


def __dir__() -> list[str]:
    return __all__
