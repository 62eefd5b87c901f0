"""One step at a time, as learning and hardware in the loop ask for it: ``robot.stepper``."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from peers import mujoco_model
from robots import Case
from rollouts import SAMPLES, starts
from timing import Contender, race

NUMBERS = (SAMPLES, 1)
STEPPER, ROLLOUT, MUJOCO = "stepper", "rollout of one step", "mj_step"
CHECKED = 20  # steps
DT = 1e-6  # so short that even many thousand steps are a tame motion


def stepping(case: Case, rounds: int, budget: float) -> list[dict[str, Any]]:
    """Nanoseconds per step of so many robots at once; the stepper's states have been held to those of a rollout."""
    return [_stepping(case, number, rounds, budget) for number in NUMBERS]


def _stepping(case: Case, number: int, rounds: int, budget: float) -> dict[str, Any]:
    robot, none = case.robot, np.zeros(case.robot.nv)
    q, v = (array[:number] for array in starts(case))
    stepper = robot.stepper(number, DT, q0=q, v0=v)
    for _ in range(CHECKED):
        stepper.step()
    expected = robot.rollout(q, v, none, DT, CHECKED)
    if not (np.array_equal(stepper.q, expected.q[:, -1]) and np.array_equal(stepper.v, expected.v[:, -1])):
        raise SystemExit(f"{case.source.name}: the stepper gives other bits than a rollout")
    contenders = [
        Contender(STEPPER, stepper.step, ()),
        Contender(ROLLOUT, lambda: robot.rollout(q, v, none, DT, 1), ()),
    ]
    if number == 1:
        model = mujoco_model(case)
        model.opt.timestep = DT
        contenders.append(Contender(MUJOCO, mujoco.mj_step, (model, mujoco.MjData(model))))
    times = race(contenders, rounds, budget)
    if stepper.diverged.any():
        raise SystemExit(f"{case.source.name}: samples diverged while they were timed")
    return {"robot": case.source.name, "samples": number, "times": times}
