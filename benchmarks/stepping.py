"""One step at a time, as learning and hardware in the loop ask for it: ``robot.stepper``."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from peers import mujoco_model
from robots import Case
from rollouts import DT, SAMPLES, starts
from timing import Contender, race

NUMBERS = (SAMPLES, 1)
STEPPER, ROLLOUT, MUJOCO = "stepper", "rollout of one step", "mj_step"
CHECKED = 20  # steps


def stepping(case: Case, rounds: int, budget: float) -> list[dict[str, Any]]:
    """Nanoseconds per step of so many robots at once; the stepper's states have been held to those of a rollout."""
    if not hasattr(case.robot, "stepper"):  # TODO: goes when it is there
        return []
    return [_stepping(case, number, rounds, budget) for number in NUMBERS]


def _stepping(case: Case, number: int, rounds: int, budget: float) -> dict[str, Any]:
    robot = case.robot
    q, v = (array[:number] for array in starts(case))
    stepper = robot.stepper(number, DT)
    stepper.q[...], stepper.v[...] = q, v
    for _ in range(CHECKED):
        stepper.step()
    expected = robot.rollout(q, v, None, DT, CHECKED)
    for mine, theirs in ((stepper.q, expected.q), (stepper.v, expected.v)):
        if not np.array_equal(np.reshape(mine, theirs[:, -1].shape), theirs[:, -1]):
            raise SystemExit(f"{case.source.name}: the stepper gives other bits than a rollout")
    contenders = [
        Contender(STEPPER, stepper.step, ()),
        Contender(ROLLOUT, lambda: robot.rollout(q, v, None, DT, 1), ()),
    ]
    if number == 1:
        model = mujoco_model(case)
        model.opt.timestep = DT
        contenders.append(Contender(MUJOCO, mujoco.mj_step, (model, mujoco.MjData(model))))
    times = race(contenders, rounds, budget)
    return {"robot": case.source.name, "samples": number, "times": times}
