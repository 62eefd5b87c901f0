"""Controllers that are ready: PD, PID, PD with gravity compensation, computed torque.

They act on the motors. A reference has one entry for each of them, in the order of ``Robot.motor_names``: all joints
of a robot without passive or elastic ones; a moving base has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..constraints import ClosedLoops
from ..errors import LinkworkError, ShapeError, UnsupportedError, at_door
from ..model import Model
from ..scalar.entrywise import absolute, clip
from ..scalar.orthogonal import Orthogonal
from .equations import Equations
from .law import with_memory
from .references import Point, since


@dataclass(frozen=True, eq=False)
class _Feedback:
    """Its fields are gains and limits: one number, or one for each motor."""

    def __post_init__(self):
        for each in fields(self):
            name, value = each.name, getattr(self, each.name)
            if value is None and each.default is None:
                continue
            where = at_door(f"{type(self).__name__}.{name}", f"--{name}")
            try:
                array = np.array(value, float)
            except (TypeError, ValueError) as error:
                raise ShapeError("not a number", where=where, got=repr(value)) from error
            if array.ndim > 1:
                raise ShapeError("wrong shape", where=where, got=array.shape, expected="one number or one per motor")
            check_gain(name, array, where)
            object.__setattr__(self, name, array)


def check_gain(name: str, values: np.ndarray, where: str) -> None:
    """Refuse negative gains and limits, and infinite gains, in a controller's fields and in ``gains=``."""
    if not (values >= 0).all() or (not name.endswith("limit") and np.isinf(values).any()):
        raise LinkworkError("out of range", where=where, got=values.min(), expected="numbers, zero or more")


class _Motors:
    """What a law acts on: the motors of a robot, and their errors."""

    def __init__(self, law: _Feedback, model: Model):
        self.robot, self.names = Equations(model), model.names_of(model.mobility.motors)
        self.law = type(law).__name__
        if not self.names:
            fix = "mark joints active"
            raise UnsupportedError(f"{self.law} needs motors", where=f"robot {model.name!r}", fix=fix)
        for each in fields(law):
            self.fitting(each.name, getattr(law, each.name))

    def marked(self, law: Any) -> Any:
        """With the shapes and values that its gains may have, for ``Law``."""
        law.check_gain = check_gain
        law.gain_shapes = dict.fromkeys(law.__kwdefaults__, ((), (len(self.names),)))
        return law

    def fitting(self, what: str, value: Any) -> Any:
        each = np.shape(value) == (len(self.names),)
        if not each and (np.shape(value) != () or what.startswith("reference")):
            raise ShapeError(
                f"{what} has one entry per motor",
                where=f"{self.law} of robot {self.robot.model.name!r}",
                got=np.shape(value),
                expected=f"({len(self.names)},): {', '.join(self.names)}",
            )
        return value

    def wanted(self, reference: Point | None) -> Point:
        if reference is None:
            raise LinkworkError(
                f"{self.law} needs a reference",
                where=f"robot {self.robot.model.name!r}",
                fix="reference=linkwork.control.Quintic(start, goal, duration), or another",
            )
        return Point(*(self.fitting(f"reference.{x}", part) for x, part in zip("qva", reference, strict=True)))

    def errors(self, q: Any, v: Any, wanted: Point) -> tuple[Any, Any]:
        """Of positions and velocities."""
        return wanted.q - self.robot.motor_positions(q), wanted.v - self.robot.motor_velocities(q, v)

    def within(self, tau: Any, limit: Any) -> Any:
        return tau if limit is None else clip(tau, -self.fitting("limit", limit), limit)


@dataclass(frozen=True, eq=False)
class PD(_Feedback):
    """tau = kp (q_ref - q) + kd (v_ref - v), within +- ``limit`` if one is given.

    Gains and limit are one number, or one for each motor.
    """

    kp: Any
    kd: Any
    limit: Any = None

    def for_model(self, model: Model) -> Callable[..., Any]:
        """The law as a function (t, q, v, reference) of one robot; its gains are keywords."""
        motors = _Motors(self, model)

        def law(t: Any, q: Any, v: Any, reference: Point | None, *, kp=self.kp, kd=self.kd, limit=self.limit) -> Any:
            wanted = motors.wanted(reference)
            e, rate = motors.errors(q, v, wanted)
            push = motors.fitting("kp", kp) * e + motors.fitting("kd", kd) * rate
            return motors.within(self._forces(motors.robot, q, v, wanted, push), limit)

        return motors.marked(law)

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


@dataclass(frozen=True, eq=False)
class PID(_Feedback):
    """tau = kp e + ki z + kd e', where e = q_ref - q and z' = e, within +- ``limit`` if one is given.

    The integral z, a memory called "integral", stops growing beyond +- ``integral_limit``, and tau takes it as no
    larger. Gains and limits are one number, or one for each motor.
    """

    kp: Any
    ki: Any
    kd: Any
    limit: Any = None
    integral_limit: Any = None

    def for_model(self, model: Model) -> Callable[..., Any]:
        """The law as a function (t, q, v, reference, memory) of one robot; its gains are keywords."""
        motors = _Motors(self, model)

        @with_memory(integral=np.zeros(len(motors.names)))
        def law(
            t: Any, q: Any, v: Any, reference: Point | None, memory: Any,
            *, kp=self.kp, ki=self.ki, kd=self.kd, limit=self.limit, integral_limit=self.integral_limit,
        ) -> Any:  # fmt: skip
            e, rate = motors.errors(q, v, motors.wanted(reference))
            z, growth = memory["integral"], e
            if integral_limit is not None:
                most = motors.fitting("integral_limit", integral_limit)
                growth = e * (1 - since(absolute(z) - most) * since(z * e))  # from there on only back
                z = clip(z, -most, most)
            tau = motors.fitting("kp", kp) * e + motors.fitting("ki", ki) * z + motors.fitting("kd", kd) * rate
            return motors.within(tau, limit), {"integral": growth}

        return motors.marked(law)
