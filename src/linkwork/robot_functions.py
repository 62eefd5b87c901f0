"""RobotFunctions: the quantities of a robot as attributes, from the quantity table, and its motions.

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
from .pipeline import checked_frame
from .workspace import Workspace

if TYPE_CHECKING:
    from .identify import Fit, Log
    from .robot import Robot
    from .sim import Stepper, Trajectory


class RobotFunctions(Workspace):
    """The functions of a robot: an attribute for each quantity, functions of a frame, and motions."""


def compiled(name: str) -> cached_property[Function]:
    """Return a cached property: the Function of a quantity, compiled when it is first used."""

    def function(workspace: Workspace) -> Function:
        return workspace.compiled(name)

    function.__doc__ = QUANTITIES[name].documentation
    return cached_property(function)


def of_frame(name: str) -> Callable[..., Any]:
    """Return a method that computes a quantity of a frame; its first argument is the frame."""
    quantity = QUANTITIES[name]

    def method(self: Robot, frame: str, *values: Any, axes: str = "world", **how: Any) -> Any:
        return self.compiled(name, frame=checked_frame(name, frame), axes=axes)(*values, **how)

    method.__name__, method.__doc__ = name, quantity.documentation
    arguments = inspect.signature(method).parameters
    inputs = [arguments["self"].replace(name=each, annotation="Any") for each in quantity.inputs]
    names = ("self", "frame", *inputs, *["axes"] * quantity.has_axes, "how")
    parameters = [arguments[each] if isinstance(each, str) else each for each in names]
    vars(method)["__signature__"] = inspect.Signature(parameters, return_annotation="Any")
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


# sim and identify are imported when they are used: most programs start sooner without them


def simulate(
    self: Robot, q0: Any = None, v0: Any = None, duration: float = 1.0, dt: float | None = None, **options: Any
) -> Trajectory:
    """Simulate one motion from a state and return a Trajectory.

    A SimulationWarning, and a note, report when energy does not balance, joints leave limits that do not act, or
    loops come close to a singular position.

    Args:
        q0: Initial positions (nq,). Default: home, or zero.
        v0: Initial velocities (nv,), or those of all joints. Default: zero.
        duration: Duration of the motion in s.
        dt: Time step in s. Default: see ``method``.

    Returns:
        A Trajectory with an array (times, ...) for each output, and notes.

    Raises:
        DivergedError: The motion diverged: a value is NaN or infinite.
        ShapeError: The shapes do not fit.

    Example:
        >>> trajectory = robot.simulate(duration=0.01)
        >>> trajectory.q.shape
        (11, 7)
    """
    from .sim import simulate

    return simulate(self, q0, v0, duration, dt, Options.from_arguments("simulate", options))


def rollout(
    self: Robot, q0: Any, v0: Any, torque: Any = None, dt: float = 1e-3, steps: int = 1000, **options: Any
) -> Trajectory:
    """Simulate a batch of motions with a compiled time loop.

    Ctrl-C ends a run early and keeps the steps that are done.

    Args:
        q0: Initial positions (samples, nq) or (nq,).
        v0: Initial velocities (samples, nv) or (nv,), or those of all joints.
        torque: As in ``simulate``; arrays may have an axis of samples first.
        dt: Time step in s.
        steps: Number of time steps.

    Returns:
        A Trajectory with an array (samples, times, ...) for each output.

    Raises:
        DivergedError: A sample diverged and ``diverged`` is "raise".
        ShapeError: The shapes do not fit.

    Example:
        >>> robot.rollout(np.zeros((100, 7)), np.zeros((100, 7)), steps=10).q.shape
        (100, 11, 7)
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
    """Return a Stepper: a batch of motions, one step at a time, for learning and for hardware in the loop.

    A step is one native call and gives the same bits as ``rollout``.

    Args:
        samples: Number of motions.
        dt: Time step in s.
        substeps: Number of time steps in each call of ``step``.
        q0: Positions (nq,) or (samples, nq) at the start and after a reset. Default: home, or zero.
        v0: Velocities (nv,) or (samples, nv) at the start and after a reset. Default: zero.

    Returns:
        A Stepper with the states of all samples.

    Raises:
        ShapeError: The shapes do not fit.

    Example:
        >>> stepper = robot.stepper(samples=100)
        >>> stepper.step()
        >>> stepper.q.shape
        (100, 7)
    """
    from .sim import Stepper

    settings = Options.from_arguments("stepper", options)
    with memory_reported("these samples", where="stepper", fix="step fewer samples at a time"):
        return Stepper(self, samples, dt, substeps, q0, v0, settings)


def identify(self: Robot, logs: Log | Sequence[Log], method: str = "consistent", **options: Any) -> Fit:
    """Identify dynamic parameters from recordings of a motion.

    Args:
        logs: A ``linkwork.identify.Log``, or several.
        method: "consistent" (all bodies physically consistent, near the prior where the data leave a choice), least
            squares "ols", "wls" (each joint weighted by its residual), "irls" (robust), "iv" (instrumental variables
            from the commanded motion, or from the closed loop with ``controller``), "simulation" (output error).

    Returns:
        A Fit: the parameters with their uncertainty, the prediction error, and ``robot`` with these parameters.

    Raises:
        LinkworkError: The recordings do not fit the robot, or nothing is to be identified.

    Example:
        >>> arm = linkwork.load("planar2r")
        >>> reference = linkwork.control.Quintic([0, 0], [1, -1], duration=1.0)
        >>> motion = arm.simulate(duration=1.0, torque=linkwork.control.PD(50, 5), reference=reference)
        >>> log = linkwork.identify.Log.from_trajectory(motion)
        >>> arm.identify(log, "ols").robot.nv
        2
    """
    from .identify.identification import identify

    return identify(self, logs, method, IdentifyOptions.from_arguments("identify", options))


def _members() -> dict[str, Any]:
    members: dict[str, Any] = {name: compiled(name) for name in QUANTITIES}
    members |= {name: of_frame(name) for name, quantity in QUANTITIES.items() if quantity.of_frame}
    regressor.__doc__ = members["regressor"].__doc__
    members["regressor"] = regressor
    del members["assemble"]  # Robot has a method of this name, which follows the path from home
    return members | {method.__name__: takes_options(method) for method in (simulate, rollout, stepper, identify)}


for _name, _member in _members().items():
    setattr(RobotFunctions, _name, _member)
    if isinstance(_member, cached_property):
        _member.__set_name__(RobotFunctions, _name)
    else:
        _member.__qualname__ = f"Robot.{_name}"
