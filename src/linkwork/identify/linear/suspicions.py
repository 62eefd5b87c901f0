"""What in a recording looks like a wrong unit or sign, before anyone trusts a fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...model import Model
from ..recordings.log import Log
from ..recordings.signals import fastest_of
from .equations import applied
from .unknowns import Unknowns

FACTORS = {1000.0: "N mm", 0.001: "kN m"}
ALIKE = 0.7  # correlation with the forces before the fit from which on they are compared
WITHIN = 4.0  # a factor is recognised within this factor
MOST = 20_000  # samples that are looked at
FAST = 40 * math.pi  # rad/s: no joint of a robot turns so fast


def suspicions(unknowns: Unknowns, logs: Sequence[Log]) -> Iterator[str]:
    """Forces against those that the robot has before the fit; velocities against what joints can do."""
    robot = unknowns.robot
    for number, log in enumerate(logs, 1):
        where = f"recording {number}: " if len(logs) > 1 else ""
        yield from (where + text for text in _velocities(robot.model, log))
        step = -(-len(log) // MOST)
        q, v, a, tau = (np.asarray(x[::step]) for x in (log.q, log.v, log.a, log.tau))
        wrenches = applied(unknowns.frames, log, slice(None, None, step))
        thought = robot.compile("inverse_dynamics", wrenches=unknowns.frames)(q, v, a, *wrenches)
        motors = robot.model.mobility.motors
        driven = [k for k, freedom in enumerate(robot.model.mobility.forced) if freedom in motors]
        names = [unknowns.forces[k] for k in driven]
        yield from (where + text for text in _forces(names, thought[:, driven], tau[:, driven]))


def _forces(names: Sequence[str], thought: np.ndarray, measured: np.ndarray) -> Iterator[str]:
    for k, name in enumerate(names):
        if thought[:, k].any() and not measured[:, k].any():
            yield f"forces of {name} are always zero: were they recorded?"
            continue
        sizes = np.linalg.norm(thought[:, k]), np.linalg.norm(measured[:, k])
        alike = float(thought[:, k] @ measured[:, k]) / float(max(sizes[0] * sizes[1], np.finfo(float).tiny))
        if abs(alike) < ALIKE:
            continue
        if alike < 0:
            yield f"forces of {name} have the other sign than expected: is their sign wrong, or that of q?"
        ratio = float(sizes[1] / sizes[0])
        for factor, unit in FACTORS.items():
            if 1 / WITHIN < ratio / factor < WITHIN:
                yield f"forces of {name} are {ratio:.3g} times those expected: are they in {unit}?"


def _velocities(model: Model, log: Log) -> Iterator[str]:
    for freedom, fastest in zip(model.mobility.independent, fastest_of(log.v), strict=True):
        joint = model.coordinates.joint_of(freedom)
        if joint.revolute and fastest > FAST:
            yield f"{joint.name} turns at {fastest:.3g} rad/s: is it in degrees?"
