"""Notes on one motion that are no warnings: motors beyond their effort limits, a missed goal, no motion at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...control import PD, PID, ComputedTorque, Quintic, Trapezoidal
from ...formulations import layouts
from ...model import Model
from ...notes import Note
from ...options import Options
from .diagnostics import MOST

STILL = 1e-9  # rad/s and m/s: less is rounding
MISSED = 0.01  # rad or m: less is close enough to a goal


def observations(model: Model, arrays: Mapping[str, Any], options: Options) -> Iterator[Note]:
    """Yield notes on the ``arrays`` of one motion, which have an axis of one sample first."""
    every = -(-len(arrays["t"]) // MOST)
    if "q" in arrays:
        yield from _goal(model, arrays["t"], arrays["q"][0], options)
    if "tau" in arrays:
        yield from _efforts(model, np.asarray(arrays["tau"][0, ::every]))
    if "v" in arrays and len(arrays["t"]) > 1:
        yield from _still(model, np.asarray(arrays["v"][0, ::every]))


def _goal(model: Model, t: np.ndarray, q: Any, options: Options) -> Iterator[Note]:
    """Yield a note if the motion missed its goal.

    Only controllers of linkwork are known to take the reference as positions of the motors.
    """
    reference, law = options.reference, options.torque
    if not isinstance(reference, (Quintic, Trapezoidal)) or not isinstance(law, (PD, PID)):
        return
    if not len(t) or t[-1] < (1 - 1e-9) * (reference.begin + reference.duration):  # the reference still moves
        return
    motors = model.motor_places()
    errors = np.abs(np.asarray(q[-1])[motors] - reference.goal)
    off = float(errors.max())
    if off > MISSED:
        name = model.coordinates.names[motors[int(errors.argmax())]]
        fixes = "use larger kp and kd", "use larger --kp and --kd"
        if options.contacts is not None and isinstance(law, ComputedTorque):
            reason = "computed torque ignores contact forces, so use"
            pd = "linkwork.control.PD, with large kp and kd", "--control pd, with large --kp and --kd"
            fixes = f"{reason} {pd[0]}", f"{reason} {pd[1]}"
        yield Note("goal-missed", f"{name} misses its goal by {off:.2g};", *fixes, values={"off": off})


def _efforts(model: Model, tau: np.ndarray) -> Iterator[Note]:
    limits = {joint.name: joint.effort_limit for joint in model.coordinates.joints}
    largest = dict(zip(layouts(model)["tau"].names, np.abs(tau).max(axis=0, initial=0.0).tolist(), strict=True))
    beyond = {name: effort for name, effort in largest.items() if effort > limits.get(name, np.inf)}
    if beyond:
        uses = ", ".join(f"{name} uses {effort:.4g} of {limits[name]:g}" for name, effort in beyond.items())
        yield Note("efforts-exceeded", f"forces beyond the effort limits of motors: {uses} N m or N", values=beyond)


def _still(model: Model, v: np.ndarray) -> Iterator[Note]:
    if not np.abs(v).max(initial=0.0) <= STILL:  # NaN also counts as motion
        return
    motors, commands = bool(model.mobility.motors), bool(model.commands.size)
    names = ["q0", "v0", *["torque"] * motors, *["commands"] * commands]
    flags = ["--q0", "--v0", *["--torque", "--goal"] * motors, *["--commands"] * commands]
    fix, command_fix = (f"give {', '.join(each[:-1])} or {each[-1]}" for each in (names, flags))
    yield Note("nothing-moves", "nothing moves:", fix, command_fix)
