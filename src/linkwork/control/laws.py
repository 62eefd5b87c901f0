"""Controllers that are ready: PD, PD with gravity compensation, computed torque.

They act on the motors. A reference has one entry for each of them, in the order of ``Robot.motor_names``: all joints
of a robot without passive or elastic ones; a moving base has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..constraints import ClosedLoops
from ..errors import LinkworkError, ShapeError, UnsupportedError
from ..model import Model
from ..scalar.entrywise import clip
from ..scalar.orthogonal import Orthogonal
from .equations import Equations
from .references import Point


@dataclass(frozen=True, eq=False)
class PD:
    """tau = kp (q_ref - q) + kd (v_ref - v), within +- ``limit`` if one is given.

    Gains and limit are one number, or one for each motor.
    """

    kp: Any
    kd: Any
    limit: Any = None

    def __post_init__(self):
        for each in fields(self):
            name, value = each.name, getattr(self, each.name)
            if value is None and each.default is None:
                continue
            where = f"{type(self).__name__}.{name}"
            try:
                array = np.array(value, float)
            except (TypeError, ValueError) as error:
                raise ShapeError("not a number", where=where, got=repr(value)) from error
            if array.ndim > 1:
                raise ShapeError("wrong shape", where=where, got=array.shape, expected="one number or one per motor")
            if not (array >= 0).all() or (name != "limit" and np.isinf(array).any()):
                raise LinkworkError("out of range", where=where, got=value, expected="numbers, zero or more")
            object.__setattr__(self, name, array)

    def for_model(self, model: Model) -> Callable[..., Any]:
        """The law as a function (t, q, v, reference) of one robot; its gains are keywords."""
        robot, motors = Equations(model), model.names_of(model.mobility.motors)
        name = type(self).__name__
        if not motors:
            raise UnsupportedError(f"{name} needs motors", where=f"robot {model.name!r}", fix="mark joints active")

        def fitting(what: str, value: Any) -> Any:
            if np.shape(value) not in ((), (len(motors),)) or (np.shape(value) == () and what.startswith("reference")):
                raise ShapeError(
                    f"{what} has one entry per motor",
                    where=f"{name} of robot {model.name!r}",
                    got=np.shape(value),
                    expected=f"({len(motors)},): {', '.join(motors)}",
                )
            return value

        for each in fields(self):
            fitting(each.name, getattr(self, each.name))

        def law(t: Any, q: Any, v: Any, reference: Point | None, *, kp=self.kp, kd=self.kd, limit=self.limit) -> Any:
            if reference is None:
                raise LinkworkError(
                    f"{name} needs a reference",
                    where=f"robot {model.name!r}",
                    fix="reference=linkwork.control.Quintic(start, goal, duration), or another",
                )
            wanted = Point(*(fitting(f"reference.{x}", part) for x, part in zip("qva", reference, strict=True)))
            kp, kd = fitting("kp", kp), fitting("kd", kd)
            push = kp * (wanted.q - robot.motor_positions(q)) + kd * (wanted.v - robot.motor_velocities(q, v))
            tau = self._forces(robot, q, v, wanted, push)
            return tau if limit is None else clip(tau, -fitting("limit", limit), limit)

        law.__name__ = name
        return law

    def _forces(self, robot: Equations, q: Any, v: Any, wanted: Point, push: Any) -> Any:
        """Forces of the motors from what the gains make of the errors."""
        return push


@dataclass(frozen=True, eq=False)
class PDGravity(PD):
    """tau = kp (q_ref - q) + kd (v_ref - v) + g(q): PD, and what holds the robot against gravity.

    Of a robot with a moving base or with passive joints: the motors' part of it, as if the others were held.
    """

    def _forces(self, robot: Equations, q: Any, v: Any, wanted: Point, push: Any) -> Any:
        model = robot.model
        forced = ClosedLoops(model, model.expand(q)).to_motors(robot.gravity(q).tolist())
        where = model.mobility.forced
        return push + np.array([forced[where.index(k)] for k in model.mobility.motors])


@dataclass(frozen=True, eq=False)
class ComputedTorque(PD):
    """The forces that accelerate the motors by a_ref + kd (v_ref - v) + kp (q_ref - q), by inverse dynamics.

    The errors e of an exact model then decay as e'' + kd e' + kp e = 0. What no motor drives (a moving base, elastic
    and passive joints) moves as it must: hybrid dynamics. Motors of loops that are not the independent joints tell
    the accelerations of these, by least squares if there are more of them.
    """

    def _forces(self, robot: Equations, q: Any, v: Any, wanted: Point, push: Any) -> Any:
        model, mobility, a = robot.model, robot.model.mobility, wanted.a + push
        if mobility.motors != mobility.driven:
            if loose := model.names_of(mobility.free):  # a moving base is none: joints do not move by it
                raise UnsupportedError(
                    "computed torque needs motors at independent joints where others are left free",
                    where=f"robot {model.name!r}",
                    got=f"motors {', '.join(model.names_of(mobility.motors))}; free: {', '.join(loose)}",
                    fix="let `independent` name the active joints; or use PDGravity",
                )
            columns = robot.motor_jacobian(q).T[[mobility.independent.index(k) for k in mobility.driven]]
            a = Orthogonal(columns.tolist()).solve((a - robot.motor_drift(q, v)).tolist())
        return robot.hybrid_dynamics(q, v, a)[0] if mobility.free else robot.inverse_dynamics(q, v, a)
