"""Identification: from recordings to a physical model, by exciting motions, logs and fits."""

from .excitation.excitation import Excitation, Margin
from .excitation.excite import excite
from .excitation.fourier_from_rest import FourierFromRest
from .fit import Fit, Values
from .logs.filters import Band
from .logs.log import Log
from .output_error.simulation_fit import SimulationFit, fit_simulation
from .regression.drive_gains import Gains, drive_gains

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
