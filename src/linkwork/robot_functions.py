"""RobotFunctions: the quantities of a robot as attributes, made from the quantity table, and its motions.

Editors and type checkers read ``robot_functions.pyi``, which ``python tests/robot_stub.py`` writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .errors import memory_reported
from .formulations import QUANTITIES
from .function import Function
from .options import IdentifyOptions, Options, takes_options
from .workspace import Workspace

if TYPE_CHECKING:
    from .identify import Fit, Log
    from .robot import Robot
    from .sim import Stepper, Trajectory


class RobotFunctions(Workspace):
    """The functions of a robot: an attribute for each quantity, functions of a frame, and motions; see below."""


def compiled(name: str) -> cached_property[Function]:
    """An attribute: the function of a quantity, compiled at its first use."""

    def function(workspace: Workspace) -> Function:
        return workspace.compiled(name)

    function.__doc__ = QUANTITIES[name].documentation
    return cached_property(function)


def of_frame(name: str) -> Callable[..., Any]:
    """A method: the function of a quantity of a frame, called with the frame first."""
    quantity = QUANTITIES[name]

    if quantity.has_axes:

        def method(self: Robot, frame: str, *values: Any, axes: str = "world", **how: Any) -> Any:
            return self.compiled(name, frame=frame, axes=axes)(*values, **how)

    else:

        def method(self: Robot, frame: str, *values: Any, **how: Any) -> Any:
            return self.compiled(name, frame=frame)(*values, **how)

    method.__name__, method.__doc__ = name, quantity.documentation
    own = inspect.signature(method).parameters
    inputs = [own["self"].replace(name=each, annotation=Any) for each in quantity.inputs]
    kept = [each for each in own.values() if each.kind is not each.VAR_POSITIONAL]
    vars(method)["__signature__"] = inspect.Signature([*kept[:2], *inputs, *kept[2:]])
    return method


def regressor(
    self: Robot,
    q: Any,
    v: Any,
    a: Any,
    parameters: str = "standard",
    drives: bool | Sequence[str] | None = None,
    **how: Any,
) -> Any:
    return self.compiled("regressor", parameters=parameters, drives=drives)(q, v, a, **how)


# sim and identify are not imported before they are used: most programs start sooner without


def simulate(
    self: Robot, q0: Any = None, v0: Any = None, duration: float = 1.0, dt: float | None = None, **options: Any
) -> Trajectory:
    """Simulate one motion from a state and return a Trajectory.

    A SimulationWarning, and a note, report when energy does not balance, joints leave limits that do not act, or
    loops come close to a singular position.

    Args:
        q0: Positions (nq,) at the start. Default: home, or zero.
        v0: Velocities (nv,) at the start, or those of all joints. Default: at rest.
        duration: Of the motion, in s.
        dt: Time step in s. Default: see ``method``.
    """
    from .sim import simulate

    return simulate(self, q0, v0, duration, dt, Options.from_arguments("simulate", options))


def rollout(
    self: Robot, q0: Any, v0: Any, torque: Any = None, dt: float = 1e-3, steps: int = 1000, **options: Any
) -> Trajectory:
    """Simulate many motions at once, with a compiled time loop; the Trajectory has arrays (samples, times, ...).

    Ctrl-C ends a run early and keeps what is done.

    Args:
        q0: Positions (samples, nq) or (nq,) at the start.
        v0: Velocities (samples, nv) or (nv,) at the start, or those of all joints.
        torque: As in ``simulate``; arrays may have an axis of samples first.
        dt: Time step in s.
        steps: Number of time steps.
    """
    from .sim import rollout

    return rollout(self, q0, v0, dt, steps, Options.from_arguments("rollout", {"torque": torque, **options}))


def stepper(
    self: Robot,
    samples: int,
    dt: float = 1e-3,
    *,
    substeps: int = 1,
    q0: Any = None,
    v0: Any = None,
    **options: Any,
) -> Stepper:
    """Return a Stepper: many motions at once, a step at a time, for learning and for hardware in the loop.

    A step is one native call and gives the bits of ``rollout``.

    Args:
        samples: Number of motions.
        dt: Time step in s.
        substeps: Time steps in a step.
        q0: Positions (nq,) or (samples, nq) where samples start, and start anew. Default: home, or zero.
        v0: Velocities there, (nv,) or (samples, nv). Default: at rest.
    """
    from .sim import Stepper

    taken = Options.from_arguments("stepper", options)
    with memory_reported("these samples", where="stepper", fix="step fewer samples at a time"):
        return Stepper(self, samples, dt, substeps, q0, v0, taken)


def identify(self: Robot, logs: Log | Sequence[Log], method: str = "consistent", **options: Any) -> Fit:
    """Find dynamic parameters from recordings and return a Fit, whose ``robot`` has them.

    Args:
        logs: A ``linkwork.identify.Log``, or several.
        method: "consistent" (every body physical, near the prior as far as the data leave it open), least squares
            "ols", "wls" (each joint by its own residual), "irls" (robust), "iv" (instruments from the commanded
            motion, or from what ``controller`` makes of it), "simulation" (output error).
    """
    from .identify.identification import identify

    return identify(self, logs, method, IdentifyOptions.from_arguments("identify", options))


def _members() -> dict[str, Any]:
    members: dict[str, Any] = {name: compiled(name) for name in QUANTITIES}
    members |= {name: of_frame(name) for name, quantity in QUANTITIES.items() if quantity.of_frame}
    regressor.__doc__ = members["regressor"].__doc__
    members["regressor"] = regressor
    return members | {method.__name__: takes_options(method) for method in (simulate, rollout, stepper, identify)}


for _name, _member in _members().items():
    setattr(RobotFunctions, _name, _member)
    if isinstance(_member, cached_property):
        _member.__set_name__(RobotFunctions, _name)
    else:
        _member.__qualname__ = f"Robot.{_name}"
