"""Notes on one motion that cast no doubt on it: motors beyond their efforts, a missed goal, nothing that moves."""

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
    """``arrays`` of one motion, with an axis of one sample first."""
    every = -(-len(arrays["t"]) // MOST)
    if "q" in arrays:
        yield from _goal(model, arrays["t"], arrays["q"][0], options)
    if "tau" in arrays:
        yield from _efforts(model, np.asarray(arrays["tau"][0, ::every]))
    if "v" in arrays and len(arrays["t"]) > 1:
        yield from _still(model, np.asarray(arrays["v"][0, ::every]))


def _goal(model: Model, t: np.ndarray, q: Any, options: Options) -> Iterator[Note]:
    """Laws of linkwork take the reference for positions of the motors; what others make of it is not known."""
    way, law = options.reference, options.torque
    if not isinstance(way, (Quintic, Trapezoidal)) or not isinstance(law, (PD, PID)):
        return
    if not len(t) or t[-1] < (1 - 1e-9) * (way.begin + way.duration):  # it is still on its way
        return
    motors = model.motor_places()
    errors = np.abs(np.asarray(q[-1])[motors] - way.goal)
    off = float(errors.max())
    if off > MISSED:
        name = model.coordinates.names[motors[int(errors.argmax())]]
        fixes = "take larger kp and kd", "take larger --kp and --kd"
        if options.contacts is not None and isinstance(law, ComputedTorque):
            why = "computed torque knows no contact forces, so take"
            fixes = f"{why} linkwork.control.PD, with large kp and kd", f"{why} --control pd, with large --kp and --kd"
        yield Note("goal-missed", f"{name} misses its goal by {off:.2g};", *fixes, values={"off": off})


def _efforts(model: Model, tau: np.ndarray) -> Iterator[Note]:
    most = {joint.name: joint.effort_limit for joint in model.coordinates.joints}
    largest = dict(zip(layouts(model)["tau"].names, np.abs(tau).max(axis=0, initial=0.0).tolist(), strict=True))
    beyond = {name: effort for name, effort in largest.items() if effort > most.get(name, np.inf)}
    if beyond:
        uses = ", ".join(f"{name} uses {effort:.4g} of {most[name]:g}" for name, effort in beyond.items())
        yield Note("efforts-exceeded", f"forces beyond the efforts of motors: {uses} N m or N", values=beyond)


def _still(model: Model, v: np.ndarray) -> Iterator[Note]:
    if not np.abs(v).max(initial=0.0) <= STILL:  # not a number: it moved
        return
    motors, commands = bool(model.mobility.motors), bool(model.commands.size)
    names = ["q0", "v0", *["torque"] * motors, *["commands"] * commands]
    ways = ["--q0", "--v0", *["--torque", "--goal"] * motors, *["--commands"] * commands]
    fixes = (f"give {', '.join(each[:-1])} or {each[-1]}" for each in (names, ways))
    yield Note("nothing-moves", "nothing moves:", *fixes)
