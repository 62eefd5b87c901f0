"""From measurements to a physical model: recordings, motions that excite, fits."""

from .excitation.answer import Excitation, Margin
from .excitation.excite import excite
from .excitation.series import FourierFromRest
from .fit import Fit, Values
from .linear.gains import Gains, drive_gains
from .recordings.log import Log
from .recordings.treatment import Band
from .simulation.fit import SimulationFit, fit_simulation

__all__ = [
    "Band",
    "Excitation",
    "Fit",
    "FourierFromRest",
    "Gains",
    "Log",
    "Margin",
    "SimulationFit",
    "Values",
    "drive_gains",
    "excite",
    "fit_simulation",
]


def __dir__() -> list[str]:
    return __all__
