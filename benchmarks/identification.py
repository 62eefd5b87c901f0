"""A fit by simulation against mujoco.sysid: seventy inertial parameters of a Panda from a recording in closed loop.

Both simulate the same segments by semi-implicit Euler from the same recorded states, and have the same weights.
MuJoCo uses finite differences of rollouts, linkwork the derivatives of the steps. MuJoCo gets models that are copied
and changed in memory, which is faster than compiling each model again, its default.
"""

from __future__ import annotations

import copy
import io
import tempfile
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import mujoco
import mujoco.minimize
import mujoco.rollout
import numpy as np
from mujoco import sysid
from robots import Case
from table import Table
from timing import Contender, race, ratio

from linkwork.control import PD, Fourier, Point
from linkwork.identify.convex.entropic import pseudo_inertia
from linkwork.identify.logs.log import Log
from linkwork.identify.output_error.damped_search import Search
from linkwork.identify.output_error.rollout_error import OutputError
from linkwork.identify.output_error.search_variables import searched
from linkwork.identify.output_error.segments import cut

DT, STEPS, SEGMENT = 1e-3, 4000, 500
READY = np.array([0, -0.3, 0, -1.8, 0, 1.8, 0.8])
KP, KD = np.array([600.0, 600, 600, 600, 250, 150, 50]), np.array([15.0, 15, 15, 15, 9, 7.5, 4.5])
AWAY = np.array([0.1] * 4 + [0.01] * 6)  # of the start from the truth: logarithms of mass and widths; shears, centres
LINKWORK, SYSID, ROLLOUTS = "linkwork, an iteration", "mujoco.sysid, an iteration", "mujoco.rollout, 71 times"
PRECISE = 1e4  # times that measurements are better than what changes
MOTION, SLOPES = 1e-9, 1e-4  # by which they may differ, relative; differences of rollouts are no better
FITTED = 1e-6  # of the cost at the start: until then both search
MOST = 60  # iterations of mujoco.sysid
EPS = np.finfo(float).eps ** 0.5  # step of its differences


def available() -> bool:
    """mujoco.sysid wants more packages than MuJoCo: pip install 'mujoco[sysid]'."""
    return hasattr(sysid, "optimize")


def identification(case: Case, rounds: int, budget: float, whole: bool) -> dict[str, Any]:
    """``whole``: also how long a search takes, which is a minute with MuJoCo."""
    problem = Problem(case)
    theirs = Theirs(problem)
    apart = _agree(problem, theirs)
    x = theirs.start[:, None]
    r = theirs.residual(x)

    def difference() -> None:
        mujoco.minimize.jacobian_fd(theirs.residual, x, r, np.float64(EPS), 0, None)
        theirs.residual(x)

    contenders = [
        Contender(LINKWORK, problem.iteration, ()),
        Contender(SYSID, difference, ()),
        Contender(ROLLOUTS, theirs.rollouts, ()),
    ]
    times = race(contenders, min(rounds, 5), budget)
    result = {
        "robot": case.source.name, "unknowns": theirs.start.size, "steps": STEPS, "segments": STEPS // SEGMENT,
        "apart": apart, "times": times, "speedup": ratio(times[SYSID], times[LINKWORK]),
        "speedup_rollouts": ratio(times[ROLLOUTS], times[LINKWORK]),
    }  # fmt: skip
    if whole:
        result["search"] = {"linkwork": problem.search(), "mujoco.sysid": theirs.search()}
    return result


class Problem:
    """A recording of the robot in closed loop, and one whose links are other ones, from which the search begins."""

    def __init__(self, case: Case):
        self.robot, random = case.robot, np.random.default_rng(4)
        sines, cosines = 0.12 * random.normal(size=(2, 7, 5))
        path = Fourier(READY, sines, cosines, frequency=0.25)
        self.reference = Point(*(np.asarray(part) for part in path.sample(DT * np.arange(STEPS + 1))))
        held = Point(*(part[:-1] for part in self.reference))
        law = PD(KP, KD)
        run = self.robot.rollout(held.q[0], held.v[0], law, DT, STEPS, reference=held, outputs=("q", "v", "tau"))
        self.states = np.concatenate([run.q, run.v], axis=1)
        self.weights = 1 / self.states.std(axis=0)
        true = [_theta(P) for P in pseudo_inertia(np.array(self.robot.parameters))]
        self.theta = np.concatenate(true) + np.tile(AWAY, 7) * random.normal(size=70)
        rows = np.array([_ten(theta) for theta in self.theta.reshape(7, 10)])
        start = type(self.robot)(self.robot.model.with_parameters(rows.tolist()))
        log = Log(t=run.t, q=run.q, v=run.v, tau=run.tau, reference=self.reference)
        segments = cut(start, [log], True, SEGMENT * DT, None, ("q", "v"))
        how = {"method": "semi-implicit-euler", "friction_width": 0.05}
        self.error = OutputError(searched(start, ["inertial"]), segments, law, how, initial=False)
        self.begun = self.fresh()

    def fresh(self) -> Search:
        return Search(self.error, gamma=1.0, weights=PRECISE * self.weights)

    def iteration(self) -> None:
        """From the start: slopes, the step, the simulation after it."""
        search = copy.copy(self.begun)
        search.iterate(search.cost(search.z, search.now), 0.0)

    def slopes(self) -> np.ndarray:
        """Weighted, by MuJoCo's unknowns, (segments, rows, 14, 70)."""
        search = self.begun
        found = np.empty((*search.now.differences.shape, 70))
        for group, rows, block in self.error.forward(search.z, search.now.run).blocks(("q", "v")):
            found[group, rows] = block
        chain = np.zeros((70, 70))
        for i, theta in enumerate(self.theta.reshape(7, 10)):
            own = slice(10 * i, 10 * i + 10)
            ways = 1e-5 * np.eye(10)
            chain[own, own] = np.array([(_ten(theta + way) - _ten(theta - way)) / 2e-5 for way in ways]).T
        return self.weights[:, None] * found @ chain

    def search(self) -> dict[str, float]:
        search = self.fresh()
        cost = search.cost(search.z, search.now)
        first = left = self.misfit(search)
        began, count = perf_counter(), 0
        while left > FITTED * first and (found := search.iterate(cost)) is not None:
            cost, left, count = found, self.misfit(search), count + 1
        return {"iterations": count, "seconds": perf_counter() - began, "left": left / first}

    def misfit(self, search: Search) -> float:
        return 0.5 * float(((self.weights * search.now.differences) ** 2).sum())


class Theirs:
    """The same for mujoco.sysid."""

    def __init__(self, problem: Problem):
        self.problem, self.start = problem, problem.theta
        spec = _specification(problem.robot)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        series = sysid.TimeSeries
        sensors = series.compute_all_sensor_mapping(self.model)
        controls = series.compute_all_state_mappings(self.model)[3]
        self.states, self.control = [], []
        measured = []
        times = DT * np.arange(SEGMENT + 1)
        command = KP * problem.reference.q + KD * problem.reference.v
        for first in range(0, STEPS, SEGMENT):
            self.states.append(np.concatenate([[0.0], problem.states[first]]))
            self.control.append(command[first : first + SEGMENT])
            measured.append(series(times, problem.states[first : first + SEGMENT + 1], sensors))
        control = [series(times, np.vstack([own, own[-1:]]), controls) for own in self.control]  # the last is dropped
        names = [f"segment {k}" for k in range(len(control))]
        sequences = sysid.ModelSequences("panda", spec, names, self.states, control, measured)
        self.parameters = sysid.ParameterDict()
        for i, theta in enumerate(self.start.reshape(7, 10)):
            self.parameters.add(sysid.Parameter(f"link {i + 1}", theta, theta - 2, theta + 2))
        self.function = sysid.build_residual_fn(
            models_sequences=[sequences], build_model=lambda own, spec: self.build(own.as_vector()), n_threads=1,
            resample_true=False, modify_residual=self.difference,
        )  # fmt: skip

    def build(self, theta: np.ndarray) -> mujoco.MjModel:
        model = copy.copy(self.model)
        for i, own in enumerate(theta.reshape(7, 10), 1):
            m, *h, xx, xy, xz, yy, yz, zz = _ten(own)
            at = np.array(h) / m
            about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (at @ at * np.eye(3) - np.outer(at, at))
            values, axes = np.linalg.eigh(about)
            axes[:, 2] *= np.linalg.det(axes)
            model.body_mass[i], model.body_ipos[i], model.body_inertia[i] = m, at, values
            mujoco.mju_mat2Quat(model.body_iquat[i], axes.ravel())
        mujoco.mj_setConst(model, self.data)
        return model

    def difference(
        self, _parameters: Any, _predicted: Any, measured: Any, _model: Any, _all: Any, state: Any, **_: Any
    ):
        return self.problem.weights * (state[:, 1:] - measured.data[1:]), measured, measured

    def residual(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate(self.function(x, self.parameters)[0])

    def rollouts(self) -> None:
        """What differences cannot do without: as many simulations as there are unknowns, and one."""
        for _ in range(self.start.size + 1):
            mujoco.rollout.rollout(self.model, self.data, np.array(self.states), np.array(self.control))

    def search(self) -> dict[str, float]:
        first = 0.5 * float((self.residual(self.start[:, None]) ** 2).sum())
        began, seen = perf_counter(), []

        def watch(trace: Any) -> None:
            seen.append(trace[-1].objective - trace[-1].reduction)
            if seen[-1] < FITTED * first:
                raise _FittedError

        with suppress(_FittedError):
            sysid.optimize(
                self.parameters, self.function, optimizer="mujoco", verbose=False, max_iters=MOST, iter_callback=watch,
                output=io.StringIO(),
            )  # fmt: skip
        return {"iterations": len(seen), "seconds": perf_counter() - began, "left": float(min(seen)) / first}


class _FittedError(Exception):
    pass


def _agree(problem: Problem, theirs: Theirs) -> dict[str, float]:
    """Errors of motions from the start and of slopes, relative to the largest; stop if they are too large."""
    mine = problem.weights * problem.begun.now.differences[:, 1:]
    other = theirs.residual(theirs.start[:, None]).reshape(mine.shape)
    r = theirs.residual(theirs.start[:, None])
    jacobian = mujoco.minimize.jacobian_fd(theirs.residual, theirs.start[:, None], r, np.float64(1e-6), 0, None)[0]
    slopes = problem.slopes()[:, 1:]
    apart = {
        "motion": float(abs(mine - other).max() / abs(mine).max()),
        "slopes": float(abs(jacobian.reshape(slopes.shape) - slopes).max() / abs(slopes).max()),
    }
    if not (apart["motion"] < MOTION and apart["slopes"] < SLOPES):
        raise SystemExit(f"identification: linkwork and mujoco.sysid differ, {apart}; nothing was timed")
    return apart


def _specification(robot: Any) -> mujoco.MjSpec:
    """As linkwork writes it, with motors under a PD law: their control is kp q + kd v of the reference."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "robot.urdf")
        robot.write(file)
        spec = mujoco.MjSpec.from_file(str(file))
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    spec.option.timestep = DT
    for name, kp, kd in zip(robot.joint_names, KP, KD, strict=True):
        spec.joint(name).actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gaintype, motor.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        motor.gainprm[0], motor.biasprm[1], motor.biasprm[2] = 1.0, -kp, -kd
    for kind in (mujoco.mjtSensor.mjSENS_JOINTPOS, mujoco.mjtSensor.mjSENS_JOINTVEL):
        for name in robot.joint_names:
            spec.add_sensor(name=f"{kind.name} {name}", type=kind, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=name)
    return spec


def _theta(P: np.ndarray) -> np.ndarray:
    """MuJoCo's unknowns of a body."""
    return sysid.model_modifier.theta_from_pseudoinertia(P)


def _ten(theta: np.ndarray) -> np.ndarray:
    """linkwork's parameters of MuJoCo's."""
    pi = sysid.model_modifier.pi_from_theta(theta)
    return np.array([*pi[:4], *pi[4:].reshape(3, 3)[np.triu_indices(3)]])


def identification_table(results: dict[str, Any]) -> Table:
    r = results["identification"]
    seconds = {name: r["times"][name]["ns"] / 1e9 for name in (LINKWORK, SYSID, ROLLOUTS)}
    cells = [f"{seconds[name]:.3f}" for name in seconds]
    row = [r["robot"], str(r["unknowns"]), f"{r['steps']:,}", *cells, f"**{r['speedup']:.1f}×**"]
    row += [f"{r['speedup_rollouts']:.1f}×"]
    row += (
        [f"{own['seconds']:.1f} ({own['iterations']})" for own in r["search"].values()] if "search" in r else ["-"] * 2
    )
    text = f"""Inertial parameters of all links are fitted to a simulated recording under PD control. It has positions
and velocities at each step of {DT * 1e3:g} ms, in {r["segments"]} segments that start from the recorded states.

- The first times are seconds per iteration. linkwork simulates, propagates exact derivatives and solves for the step.
  `mujoco.sysid` uses finite differences, with models changed in memory instead of compiled again. "Rollouts alone" are
  the {r["unknowns"] + 1} rollouts that finite differences need at least.
- "Search" is seconds and iterations until a millionth of the misfit is left.
- Motions agree to {r["apart"]["motion"]:.0e}, derivatives to {r["apart"]["slopes"]:.0e}, the accuracy of finite
  differences."""
    header = ["robot", "unknowns", "steps", "linkwork", "sysid", "rollouts<br>alone", "ratio to<br>sysid"]
    header += ["ratio to<br>rollouts", "search,<br>linkwork", "search,<br>sysid"]
    return Table("Fits by simulation", header, [row], text)
