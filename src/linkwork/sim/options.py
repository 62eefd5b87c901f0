"""Options of simulations: what ``Robot.simulate``, ``rollout`` and ``stepper`` take beside the start and the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import LinkworkError, require_mapping
from ..model import SoftLimits
from ..targets import names as targets
from .plant.inputs import one_of_names, positive, whole

DIVERGED = ("raise", "keep")
FORMS = {
    "vary": "such as {'mass': (samples, bodies)}",
    "gains": "such as {'kp': (samples, n)}",
    "memory": "such as {'integral': (n,)}",
    "wrenches": "{frame: (6,)}, or more axes, or a function of t",
}


@dataclass(frozen=True)
class Options:
    """What acts on the robot, how it is integrated, and what becomes of it; the docstrings of these methods tell
    each. What needs no robot to be checked is checked here."""

    torque: Any = None
    reference: Any = None
    gains: Mapping[str, Any] | None = None
    memory: Mapping[str, Any] | None = None
    vary: Mapping[str, Any] | None = None
    wrenches: Mapping[str, Any] | None = None
    commands: Any = None
    contacts: Any = None
    limits: SoftLimits | None = None
    friction_width: float = 0.05
    method: str | None = None
    dynamics: str = "auto"
    backend: str = "native"
    tolerance: float = 1e-9
    every: int = 1
    checkpoint_every: int | None = None
    outputs: Sequence[str] | None = None  # all that simulate has; q and v of a rollout; nothing more of a stepper
    threads: int | str = 1
    to: str | Path | None = None
    out: Any = None
    progress: bool | Callable[[int, int], Any] | None = None
    diverged: str = "raise"

    def __post_init__(self):
        one_of_names("treatment of diverged samples", self.diverged, DIVERGED)
        one_of_names("backend", self.backend, targets("run"))
        if self.to is not None and self.out is not None:
            got, fix = "to= and out=", "leave one of them"
            raise LinkworkError("records go into a folder or into a trajectory's memory", got=got, fix=fix)
        for name, check in (("every", whole), ("threads", _threads), ("tolerance", positive)):
            object.__setattr__(self, name, check(getattr(self, name), name))
        if self.checkpoint_every is not None:
            object.__setattr__(self, "checkpoint_every", whole(self.checkpoint_every, "checkpoint_every"))
        if (outputs := self.outputs) is not None:
            several = isinstance(outputs, Sequence) and not isinstance(outputs, str)
            object.__setattr__(self, "outputs", tuple(outputs) if several else (outputs,))
        for name in FORMS:
            require_dict(name, getattr(self, name))

    @classmethod
    def among(cls, given: Mapping[str, Any]) -> Options:
        """Those of them that stand among ``given``, such as the arguments of a function; what else is there is left."""
        return cls(**{name: given[name] for name in cls.__match_args__ if name in given})


def _threads(value: Any, where: str) -> int | str:
    return value if isinstance(value, str) and value == "auto" else whole(value, where)


def require_dict(name: str, value: Any) -> None:
    """A dict, or None, for one of the options that go by name."""
    if value is not None:
        require_mapping(value, name, FORMS[name])
