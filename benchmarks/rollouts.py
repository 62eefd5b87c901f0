"""Simulated steps per second against mujoco.rollout: batches, one trajectory, control inside; growth and memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from peers import BaseFrame, mujoco_model, mujoco_places
from robots import Case
from timing import Contender, race, ratio

from linkwork.control import ComputedTorque, Quintic
from linkwork.sweep import read_study, run

DT = 1e-3
SAMPLES, STEPS = 1024, 100  # of linkwork's batch
FEW = 32  # of MuJoCo's, whose time per step does not depend on it
LONG = 1000  # steps of one trajectory alone
LINKWORK, CONTROLLED, ALONE = "linkwork", "linkwork, computed torque inside", "linkwork, one trajectory"
REUSED = "linkwork, into memory of an earlier one"
MUJOCO, MUJOCO_ALONE = "mujoco.rollout, 1 thread", "mujoco.rollout, one trajectory"
TOLERANCE = 1e-9  # of positions after STEPS steps, relative to the largest; fixed bases do the same arithmetic
STREAMED = 10_000_000  # steps of the run whose memory is watched


def rollouts(case: Case, rounds: int, budget: float) -> dict[str, Any]:
    """Semi-implicit Euler, no contacts and constraints, every step recorded by both; trajectories agreed first."""
    robot, model = case.robot, mujoco_model(case)
    model.opt.timestep = DT
    data = mujoco.MjData(model)
    q, v = starts(case)
    start = _mujoco_states(case, model, q[:FEW], v[:FEW])
    apart = _agree(case, model, data, q[:FEW], v[:FEW])
    kept = robot.rollout(q, v, None, DT, STEPS)
    contenders = [
        Contender(LINKWORK, lambda: robot.rollout(q, v, None, DT, STEPS), (), SAMPLES * STEPS),
        Contender(REUSED, lambda: robot.rollout(q, v, None, DT, STEPS, out=kept), (), SAMPLES * STEPS),
        Contender(MUJOCO, lambda: mujoco.rollout.rollout(model, data, start, nstep=STEPS), (), FEW * STEPS),
        Contender(ALONE, lambda: robot.rollout(q[0], v[0], None, DT, LONG), (), LONG),
        Contender(MUJOCO_ALONE, lambda: mujoco.rollout.rollout(model, data, start[:1], nstep=LONG), (), LONG),
    ]
    if not case.source.floating:
        law, way = ComputedTorque(100.0, 20.0), Quintic(q[0], q[1], STEPS * DT)
        controlled = lambda: robot.rollout(q, v, law, DT, STEPS, reference=way)  # noqa: E731
        contenders.append(Contender(CONTROLLED, controlled, (), SAMPLES * STEPS))
    times = race(contenders, rounds, budget)
    result = {
        "robot": case.source.name, "apart": apart, "times": times,
        "speedup": ratio(times[MUJOCO], times[LINKWORK]),
        "speedup_alone": ratio(times[MUJOCO_ALONE], times[ALONE]),
    }  # fmt: skip
    if CONTROLLED in times:
        result["speedup_controlled"] = ratio(times[MUJOCO], times[CONTROLLED])
    return result


def starts(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Slow states, which stay tame for as long as they are simulated."""
    q, v = case.q[:SAMPLES].copy(), 0.1 * case.v[:SAMPLES]
    return q, v


def _mujoco_states(case: Case, model: mujoco.MjModel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    places, first = mujoco_places(case, model), 6 if case.source.floating else 0
    states = np.zeros((len(q), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    shift = 1 if first else 0
    for state, position, velocity in zip(states, q, v):
        frame = BaseFrame(position, velocity) if first else None
        qpos, qvel = state[1 : 1 + model.nq], state[1 + model.nq : 1 + model.nq + model.nv]
        qvel[places] = frame.velocity(velocity) if frame else velocity
        qpos[[place + shift for place in places[first:]]] = position[first + shift :]
        if frame:
            qpos[:7] = frame.position
    return states


def _agree(case: Case, model: mujoco.MjModel, data: mujoco.MjData, q: np.ndarray, v: np.ndarray) -> float:
    """The largest difference at the end: of joint positions, or of a floating base's, whose linear velocity MuJoCo
    integrates in other axes, so that half the step must give half the difference."""
    if not case.source.floating:
        apart = _apart(case, model, data, q, v, DT, STEPS)
        if not apart < TOLERANCE:
            raise SystemExit(f"{case.source.name}: MuJoCo's trajectories differ by {apart:.1e}; nothing was timed")
        return apart
    apart, half = (_apart(case, model, data, q, v, DT / k, k * STEPS) for k in (1, 2))
    if not (apart < 1e-2 and 1.5 < apart / half < 2.5):
        raise SystemExit(
            f"{case.source.name}: MuJoCo's trajectories differ by {apart:.1e}, with half the step {half:.1e}"
        )
    return apart


def _apart(case: Case, model: mujoco.MjModel, data: mujoco.MjData, q, v, dt: float, steps: int) -> float:
    model.opt.timestep = dt
    states = mujoco.rollout.rollout(model, data, _mujoco_states(case, model, q, v), nstep=steps)[0][:, -1]
    model.opt.timestep = DT
    mine = case.robot.rollout(q, v, None, dt, steps, every=steps).q[:, -1]
    columns = [1, 2, 3] if case.source.floating else [1 + place for place in mujoco_places(case, model)]
    mine = mine[:, : len(columns)]
    return float(np.max(np.abs(states[:, columns] - mine)) / np.max(np.abs(mine)))


def growth_of_time(case: Case, budget: float) -> dict[str, float]:
    """Exponents of the time against the number of steps and of samples."""
    q, v = starts(case)
    by_steps = {n: lambda n=n: case.robot.rollout(q[:64], v[:64], None, DT, n, every=n) for n in (250, 500, 1000, 2000)}
    by_samples = {
        n: lambda n=n: case.robot.rollout(q[:n], v[:n], None, DT, 250, every=250) for n in (128, 256, 512, 1024)
    }
    exponents = {}
    for name, calls in (("steps", by_steps), ("samples", by_samples)):
        times = race([Contender(str(n), call, ()) for n, call in calls.items()], 5, budget)
        exponents[name] = float(np.polyfit(np.log(list(calls)), np.log([times[str(n)]["ns"] for n in calls]), 1)[0])
    return exponents


def memory(steps: int = STREAMED) -> dict[str, float]:
    """Peak megabytes of a streamed run of many steps and of one of a tenth, each in a process of its own (Linux)."""
    peaks = [_peak(steps // 10), _peak(steps)]
    return {"steps": steps, "MB_tenth": peaks[0], "MB": peaks[1]}


def _peak(steps: int) -> float:
    program = f"""
import re, tempfile, linkwork
robot = linkwork.load("planar2r")
with tempfile.TemporaryDirectory() as folder:
    robot.rollout([[0.1, 0.2]], [[0.0, 0.0]], None, 1e-4, {steps}, outputs=("q",), to=folder + "/run", progress=False)
    # Not ru_maxrss, which begins with that of the process this one was forked from.
    print(int(re.search("VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)


def sweep(samples: int, workers: int) -> dict[str, Any]:
    """A Monte-Carlo study of the Panda, 1 s at 1 ms with computed torque and a random load, on Dask."""
    study = f"""
seed: 1
samples: {samples}
robot: panda
simulation: {{dt: 0.001, duration: 1, every: 50}}
initial: {{v: {{normal: [0, 0.05]}}}}
controller: {{kind: ComputedTorque, kp: 100, kd: 20}}
reference: {{kind: Quintic, goal: {{panda_joint1: 0.5, panda_joint4: -60 deg}}, duration: 0.8}}
vary:
  payload: {{frame: panda_link8, mass: {{uniform: [0, 3]}}, center: [0, 0, 0.1]}}
outputs: [final.q, rms.error]
chunk: {max(250, samples // 50)}
"""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "study.yaml")
        file.write_text(study)
        summary = run(read_study(file), Path(folder, "results"), workers=workers)
    return {"samples": samples, "workers": workers, "seconds": summary.seconds, "lost": summary.overhead}
