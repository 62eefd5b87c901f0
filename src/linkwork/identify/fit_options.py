"""FitOptions: what ``Robot.identify`` takes, with defaults and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LinkworkError, UnknownNameError
from ..workspace import Workspace
from .logs.log import Log
from .regression.stacked_regressor import Progress
from .regression.unknowns import FRICTION, Friction

if TYPE_CHECKING:
    from ..robot import Robot

METHODS: dict[str, tuple[str, ...]] = {  # name -> options that not all methods use
    "consistent": (),
    "wls": (),
    "ols": (),
    "irls": (),
    "iv": ("controller",),
    "simulation": ("controller", "simulation"),
}


@dataclass(frozen=True, eq=False)
class FitOptions:
    """Recordings, a method, and what is unknown; the docstring of ``Robot.identify`` explains each option. Values that
    can be checked without a robot are checked here."""

    logs: Sequence[Log]
    method: str = "consistent"
    friction: Friction = FRICTION
    inertias: bool = True
    rotors: bool = True
    springs: bool = False
    width: float | None = None
    payload: str | None = None
    prior: Robot | None = None
    gamma: float | None = None
    held_out: Sequence[Log] = ()
    controller: Any = None
    gains: Mapping[str, Any] | None = None
    simulation: Mapping[str, Any] | None = None
    progress: Progress = None

    def __post_init__(self):
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise UnknownNameError("method of identification", self.method, METHODS)
        for name in ("logs", "held_out"):
            object.__setattr__(self, name, _listed(getattr(self, name), name))
        if not self.logs:
            raise LinkworkError("there are no recordings", where="identify", fix="give a Log, or a list of them")
        if self.prior is not None and not isinstance(self.prior, Workspace):
            got = repr(self.prior)[:80]
            raise LinkworkError("the prior is a robot", where="prior", got=got, fix="linkwork.load(...)")
        for name, least in (("gamma", np.finfo(float).tiny), ("width", 0.0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (int, float, np.number)) and least <= value < np.inf):
                expected = f"a number, {'zero or more' if least == 0 else 'positive'}, or None: it is chosen"
                raise LinkworkError("out of range", where=name, got=repr(value)[:80], expected=expected)
        for name in ("controller", "simulation"):
            if getattr(self, name) is not None and name not in METHODS[self.method]:
                fix = f"method={' or '.join(repr(method) for method, own in METHODS.items() if name in own)}"
                got = f"method={self.method!r}"
                raise LinkworkError("this method does not use it", where=name, got=got, fix=fix)

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> FitOptions:
        """Return the options among the arguments of a function; others are ignored."""
        return cls(**{name: arguments[name] for name in cls.__match_args__ if name in arguments})

    @property
    def bears_noise(self) -> bool:
        """Whether noise of accelerations leaves the fit unbiased."""
        return self.method in ("iv", "simulation")


def _listed(logs: Log | Sequence[Log], where: str) -> list[Log]:
    found: list[Any] = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if wrong := [each for each in found if not isinstance(each, Log)]:
        fix = "linkwork.identify.Log.read(path), Log(t=, q=, tau=)"
        raise LinkworkError("this is no recording", where=where, got=repr(wrong[0])[:80], expected="a Log", fix=fix)
    return found
