"""A fit by simulation against mujoco.sysid: the seventy inertial parameters of a Panda from a recording in closed loop."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import mujoco
import mujoco.minimize
import mujoco.rollout
import numpy as np
from mujoco import sysid
from robots import Case
from timing import Contender, race, ratio

from linkwork.control import PD, Fourier, Point
from linkwork.identify.output_error import OutputError
from linkwork.identify.pseudo_inertia import parameters_of, pseudo_inertia
from linkwork.identify.searched import searched
from linkwork.identify.segments import cut
from linkwork.identify.simulation import fit_simulation, starts_of

DT, STEPS, HORIZON = 1e-3, 4000, 500  # seconds; steps of the recording and of a segment
READY = np.array([0, -0.3, 0, -1.8, 0, 1.8, 0.8])
KP, KD = np.array([600.0, 600, 600, 600, 250, 150, 50]), np.array([15.0, 15, 15, 15, 9, 7.5, 4.5])
AWAY = 0.1  # of the start from the truth, relative
LINKWORK, SYSID, ROLLOUTS = "linkwork, one iteration", "mujoco.sysid, one iteration", "mujoco.rollout alone"
MOTION, SLOPES = 1e-8, 1e-4  # by which they may differ, relative; differences are no better
ITERATIONS = 30  # of mujoco.sysid at most


class Problem:
    """A recording of the robot in closed loop, and a robot that is off, from which the search begins."""

    def __init__(self, case: Case):
        self.robot, random = case.robot, np.random.default_rng(4)
        path = Fourier(READY, *0.12 * random.normal(size=(2, 7, 5)), frequency=0.25)
        self.t = DT * np.arange(STEPS + 1)
        points = path.sample(self.t)
        self.reference = Point(*(np.asarray(part, float) for part in points))
        held = Point(*(part[:-1] for part in self.reference))
        self.law = PD(KP, KD)
        run = self.robot.rollout(held.q[0], held.v[0], self.law, DT, STEPS, reference=held)
        self.log = SimpleNamespace(t=self.t, q=run.q, v=run.v, tau=None, reference=self.reference, keep=None)
        P = pseudo_inertia(np.array(self.robot.parameters))
        off = np.eye(4) + AWAY * random.normal(size=(7, 4, 4)) * [[1, 1, 1, 0.05]] * 3 + [[0, 0, 0, 1]]
        self.start = self.robot
        del P, off
