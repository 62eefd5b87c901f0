"""Inverse kinematics against Pinocchio, Pink, mink, PlaCo and the Robotics Toolbox, on the same targets.

    python benchmarks/inverse_kinematics.py [--quick]

Every solution is put back into the pose of linkwork and of Pinocchio before it counts. Peers that are not installed are
left out: pip install pin pin-pink "qpsolvers[daqp]" mink placo roboticstoolbox-python. They solve one target at a time,
by steps of their own until the error is below TOLERANCE, all from the same guess.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import Contender, race, use_cores

import linkwork
from linkwork.codegen.native.target import host
from linkwork.kinematics import Pose, Position

HAND, TOLERANCE, STEPS = "panda_link8", 1e-9, 100
TARGETS, FEW = 4096, 50  # for linkwork, and for peers
NEAR = 0.2  # rad, from guess to solution
Solver = Callable[[np.ndarray, np.ndarray], np.ndarray]


def pinocchio_loop(urdf: str) -> Solver:
    """The damped loop of Pinocchio's documentation, with its error and Jacobian in the frame, clipped at the limits."""
    pin = import_module("pinocchio")
    model = pin.buildModelFromUrdf(urdf)
    data, frame = model.createData(), model.getFrameId(HAND)

    def solve(target: np.ndarray, q: np.ndarray) -> np.ndarray:
        goal = pin.SE3(target)
        for _ in range(STEPS):
            pin.framesForwardKinematics(model, data, q)
            motion = data.oMf[frame].actInv(goal)
            error = pin.log(motion).vector
            if np.linalg.norm(error) < TOLERANCE:
                break
            J = -pin.Jlog6(motion.inverse()) @ pin.computeFrameJacobian(model, data, q, frame)
            v = -J.T @ np.linalg.solve(J @ J.T + 1e-12 * np.eye(6), error)
            q = np.clip(pin.integrate(model, q, v), model.lowerPositionLimit, model.upperPositionLimit)
        return q

    return solve


def pink_steps(urdf: str) -> Solver:
    """Pink's steps with the solver DAQP."""
    pink, pin = import_module("pink"), import_module("pinocchio")
    model = pin.buildModelFromUrdf(urdf)
    configuration = pink.Configuration(model, model.createData(), pin.neutral(model))
    task = pink.FrameTask(HAND, position_cost=1.0, orientation_cost=1.0)
    limit = pink.limits.ConfigurationLimit(model, 1.0)  # the whole way to the limit in one step

    def solve(target: np.ndarray, q: np.ndarray) -> np.ndarray:
        task.set_target(pin.SE3(target))
        configuration.update(q)
        for _ in range(STEPS):
            if np.linalg.norm(task.compute_error(configuration)) < TOLERANCE:
                break
            try:
                v = pink.solve_ik(configuration, [task], 1.0, solver="daqp", limits=[limit])
            except pink.exceptions.NoSolutionFound:
                break
            configuration.integrate_inplace(v, 1.0)
        return np.array(configuration.q)

    return solve


def mink_steps(urdf: str) -> Solver:
    """The steps of mink with the solver DAQP."""
    mink, mujoco = import_module("mink"), import_module("mujoco")
    specification = mujoco.MjSpec.from_file(urdf)
    specification.compiler.fusestatic = False
    model = specification.compile()
    configuration = mink.Configuration(model)
    task = mink.FrameTask(HAND, "body", position_cost=1.0, orientation_cost=1.0)
    limits = [mink.ConfigurationLimit(model, gain=1.0)]

    def solve(target: np.ndarray, q: np.ndarray) -> np.ndarray:
        task.set_target(mink.SE3.from_matrix(target))
        configuration.update(q)
        for _ in range(STEPS):
            if np.linalg.norm(task.compute_error(configuration)) < TOLERANCE:
                break
            try:
                v = mink.solve_ik(configuration, [task], 1.0, "daqp", limits=limits)
            except mink.NoSolutionFound:
                break
            configuration.integrate_inplace(v, 1.0)
        return np.array(configuration.q)

    return solve


def placo_steps(urdf: str) -> Solver:
    """PlaCo's steps, with its own solver."""
    placo = import_module("placo")
    robot = placo.RobotWrapper(str(Path(urdf).parent), placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    task = solver.add_frame_task(HAND, np.eye(4))
    task.configure(HAND, "soft", 1.0, 1.0)

    def solve(target: np.ndarray, q: np.ndarray) -> np.ndarray:
        task.T_world_frame = target
        robot.state.q = np.concatenate([robot.state.q[:7], q])
        for _ in range(STEPS):
            robot.update_kinematics()
            if np.linalg.norm(linkwork.pose_error(target, robot.get_T_world_frame(HAND))) < TOLERANCE:
                break
            solver.solve(True)
        return np.array(robot.state.q[7:])

    return solve


def toolbox(urdf: str) -> Solver:
    """The compiled Levenberg-Marquardt method of the Robotics Toolbox, without restarts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the other way is to make a class for each robot
        arm = import_module("roboticstoolbox").Robot.URDF(urdf).ets(end=HAND)

    def solve(target: np.ndarray, q: np.ndarray) -> np.ndarray:
        return arm.ik_LM(target, q0=q, ilimit=STEPS, slimit=1, tol=0.5 * TOLERANCE**2, joint_limits=False)[0]

    return solve


PEERS = {"Pinocchio, loop": pinocchio_loop, "Pink": pink_steps, "mink": mink_steps, "PlaCo": placo_steps,
         "Robotics Toolbox": toolbox}  # fmt: skip


def reached(robot: Any, q: np.ndarray, targets: np.ndarray) -> float:
    """Share of targets that are reached within the limits."""
    error = np.linalg.norm(linkwork.pose_error(targets, robot.pose(HAND, q)), axis=-1)
    inside = ((q >= robot.coordinates.lower - 1e-9) & (q <= robot.coordinates.upper + 1e-9)).all(axis=-1)
    return float(np.mean((error < 2 * TOLERANCE) & inside))


def panda(times: Callable[..., Any], console: Console) -> Table:
    """Poses of the Panda's flange: us a target, and the share of targets that were reached."""
    robot, rng = linkwork.load("panda"), np.random.default_rng(0)
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    answers = rng.uniform(lower, upper, (TARGETS, 7))
    targets = robot.pose(HAND, answers)
    table = Table("guess", "solver", "us a target", "reached, %", "ratio")

    def one(target: np.ndarray, guess: np.ndarray) -> np.ndarray:
        return robot.inverse_kinematics(HAND, target, guess).q

    with tempfile.TemporaryDirectory() as folder:
        urdf = str(Path(folder) / "robot.urdf")
        robot.write(urdf)
        solvers: dict[str, Solver] = {}
        for name, make in PEERS.items():
            try:
                solvers[name] = make(urdf)
            except ImportError as error:
                console.print(f"left out: {name} ({error})")
        for what, guesses in {
            f"within {NEAR} rad": np.clip(answers + rng.uniform(-NEAR, NEAR, answers.shape), lower, upper),
            "anywhere": rng.uniform(lower, upper, answers.shape),
        }.items():

            def several(solve: Solver, guesses: np.ndarray = guesses) -> np.ndarray:
                return np.array([solve(T, q) for T, q in zip(targets[:FEW], guesses[:FEW], strict=True)])

            calls: dict[str, tuple[Callable[[], np.ndarray], int]] = {
                "linkwork, batch": (
                    lambda guesses=guesses: robot.inverse_kinematics(HAND, targets, guesses).q,
                    TARGETS,
                ),
                "linkwork, one at a time": (lambda several=several: several(one), FEW),
                **{name: (lambda solve=solve, several=several: several(solve), FEW) for name, solve in solvers.items()},
            }
            shares = {name: reached(robot, call(), targets[:number]) for name, (call, number) in calls.items()}
            found = times(calls)
            for name, share in shares.items():
                table.add_row(what, name, f"{found[name]['ns'] / 1e3:,.2f}", f"{100 * share:.2f}",
                              f"{found[name]['ns'] / found['linkwork, one at a time']['ns']:.3g}")  # fmt: skip
    return table


def legs(times: Callable[..., Any], console: Console) -> Table:
    """Four feet and the base of a quadruped, at targets from positions near the guess: us a target."""
    table = Table("robot", "us a target", "targets a second")
    try:
        anymal = linkwork.load(import_module("robots").SOURCES["anymal"].path, base="floating")
        robots = [(anymal, [*anymal.home[:7], *[0.0, 0.7, -1.0] * 4])]
    except (ImportError, StopIteration) as error:
        console.print(f"left out: ANYmal ({error})")
        robots = []
    quadruped = linkwork.load("quadruped")
    for robot, stand in [*robots, (quadruped, quadruped.home)]:
        rng, base = np.random.default_rng(0), robot.link_names[0]
        answers = robot.coordinates.integrate(np.tile(stand, (TARGETS, 1)), 0.1 * rng.normal(size=(TARGETS, robot.nv)))
        feet = [name for name in robot.frame_names if name.lower().endswith("foot")]
        tasks = [Pose(base, robot.pose(base, answers))]
        tasks += [Position(foot, robot.pose(foot, answers)[:, :3, 3]) for foot in feet]
        solution = robot.inverse_kinematics(tasks, guess=stand)
        if len(feet) != 4 or not solution.solved.all():
            raise SystemExit("a position of the legs was not found")
        call = lambda robot=robot, tasks=tasks, stand=stand: robot.inverse_kinematics(tasks, guess=stand)  # noqa: E731
        found = times({"linkwork": (call, TARGETS)})
        table.add_row(robot.name, f"{found['linkwork']['ns'] / 1e3:.2f}", f"{1e9 / found['linkwork']['ns']:,.0f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: to try the benchmark, not to quote it")
    rounds, budget = (3, 0.005) if parser.parse_args().quick else (11, 0.05)
    use_cores(1)

    def times(calls: dict[str, tuple[Callable[[], Any], int]]) -> dict[str, Any]:
        return race([Contender(name, call, (), number) for name, (call, number) in calls.items()], rounds, budget)

    console = Console(width=140)
    console.print(f"{host().cpu}, {host().lanes('float64')} lanes; medians of {rounds} rounds")
    for measure in (panda, legs):
        console.print(f"\n{measure.__doc__}", measure(times, console))


if __name__ == "__main__":
    main()
