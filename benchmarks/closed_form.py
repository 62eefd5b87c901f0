"""All positions of six-joint arms that give a pose, in closed form: linkwork, EAIK and ur_analytic_ik.

    pip install eaik ur_analytic_ik; python benchmarks/closed_form.py [--quick]

Contenders run in turn in one process on one core; the peers take one pose at a time. Poses are those of random
positions. Before anything is timed, every linkwork solution is put back into the pose, and the known positions are
looked up. A peer that is not installed is left out, as is EAIK where it has no closed form.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import Contender, race, ratio, use_cores

import linkwork
from linkwork.codegen.native.target import host
from linkwork.kinematics.closed_forms import closed_form

ARMS = {"ur5e": "tool0", "puma560": "link6", "rx90": "link6", "stanford": "link6"}
SIZES = (1, 4096)


def checked_poses(robot: linkwork.Robot, frame: str, inverse: Callable[..., Any], number: int) -> np.ndarray:
    """Poses of random positions, all of which the closed form finds."""
    q = np.random.default_rng(0).uniform(-3, 3, (number, 6))
    poses = robot.pose(frame, q)
    solutions, valid = inverse(poses)
    error = np.abs(robot.pose(frame, solutions) - poses[:, None]).max((-2, -1))
    turns = np.array([unit == "rad" for unit in robot.coordinates.positions.units])
    difference = solutions - q[:, None]
    difference[..., turns] = np.remainder(difference[..., turns] + np.pi, 2 * np.pi) - np.pi
    missing = np.where(valid, np.abs(difference).max(-1), np.inf).min(-1)
    if error[valid].max() > 1e-12 or missing.max() > 1e-6:
        raise SystemExit(f"wrong solutions: {error[valid].max():.0e}, {missing.max():.0e}")
    return poses


def eaik(robot: linkwork.Robot, frame: str) -> Callable[[np.ndarray], Any] | None:
    """EAIK's solver from the axes at zero. Its last frame has the axes of the base there."""
    with suppress(ImportError):
        from eaik.IK_HP import HPRobot

        if not all(unit == "rad" for unit in robot.coordinates.positions.units):
            return None
        zero, J = robot.pose(frame, np.zeros(6)), robot.jacobian(frame, np.zeros(6)).T
        points = zero[:3, 3] + np.cross(J[:, 3:], J[:, :3])
        offsets = np.diff(points, axis=0, prepend=np.zeros((1, 3)), append=zero[None, :3, 3])
        solver = HPRobot(J[:, 3:], offsets)

        def turned(poses: np.ndarray) -> np.ndarray:
            poses = poses.copy()
            poses[..., :3, :3] = poses[..., :3, :3] @ zero[:3, :3].T
            return poses

        return (lambda poses: [solver.IK(pose) for pose in turned(poses)]) if solver.hasKnownDecomposition() else None
    return None


def ur_analytic_ik(name: str) -> Callable[[np.ndarray], Any] | None:
    with suppress(ImportError):
        from ur_analytic_ik import ur5e

        if name == "ur5e":
            return lambda poses: [ur5e.inverse_kinematics(pose) for pose in poses]
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: to try the benchmark, not to quote it")
    rounds, budget = (3, 0.005) if parser.parse_args().quick else (15, 0.03)
    use_cores(1)
    table = Table(
        "robot", "poses", "linkwork", "EAIK", "ur_analytic_ik", "EAIK / linkwork", "ur_analytic_ik / linkwork"
    )
    for name, frame in ARMS.items():
        robot = linkwork.load(name)
        inverse = closed_form(robot, frame)
        assert inverse is not None
        for number in SIZES:
            poses = checked_poses(robot, frame, inverse, number)
            peers = {"EAIK": eaik(robot, frame), "ur_analytic_ik": ur_analytic_ik(name)}
            calls = {"linkwork": inverse, **{peer: call for peer, call in peers.items() if call}}
            times = race([Contender(peer, call, (poses,), number) for peer, call in calls.items()],
                         rounds, budget)  # fmt: skip
            figures = [f"{times[peer]['ns']:.0f}" if peer in times else "" for peer in ("linkwork", *peers)]
            ratios = [f"{ratio(times[peer], times['linkwork']):.1f}" if peer in times else "" for peer in peers]
            table.add_row(name, f"{number:,}", *figures, *ratios)
    console = Console(width=140)
    console.print(f"{host().cpu}, {host().lanes('float64')} lanes; ns a pose, medians of {rounds} rounds", table)


if __name__ == "__main__":
    main()
