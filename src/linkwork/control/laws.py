"""Controllers: PD, PID, PD with gravity compensation, computed torque.

They act on the motors. A reference has one entry per motor, in the order of ``Robot.motor_names``. In a robot without
passive or elastic joints, all joints but a moving base have a motor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..compose import TracedRobot
from ..constraints import ClosedLoops
from ..errors import LinkworkError, ShapeError, UnsupportedError, at_door
from ..model import Model
from ..program.traced_array import nested_nodes
from ..scalar.entrywise import absolute, clip
from ..scalar.orthogonal import Orthogonal
from .law import with_memory
from .references import Point, unit_step


@dataclass(frozen=True, eq=False)
class _Feedback:
    """A controller whose fields are gains and limits: one number, or one per motor."""

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
    """Raise an error for negative gains and limits, and for infinite gains."""
    if not (values >= 0).all() or (not name.endswith("limit") and np.isinf(values).any()):
        raise LinkworkError("out of range", where=where, got=values.min(), expected="zero or more; gains finite")


class _Motors:
    """Motors of a robot, and their errors."""

    def __init__(self, law: _Feedback, model: Model):
        self.robot, self.names = TracedRobot(model), model.names_of(model.mobility.motors)
        self.law = type(law).__name__
        if not self.names:
            fix = "give joints `role: active` in the robot file or side file"
            raise UnsupportedError(f"{self.law} needs motors", where=f"robot {model.name!r}", fix=fix)
        for each in fields(law):
            self.fitting(each.name, getattr(law, each.name))

    def marked(self, law: Any) -> Any:
        """Add the attributes with which ``Law`` checks gains."""
        law.check_gain = check_gain
        law.gain_shapes = dict.fromkeys(law.__kwdefaults__, ((), (len(self.names),)))
        return law

    def fitting(self, what: str, value: Any) -> Any:
        """Check the shape of a gain, limit or part of a reference."""
        each = np.shape(value) == (len(self.names),)
        if not each and (np.shape(value) != () or what.startswith("reference")):
            raise ShapeError(
                f"{what} needs one entry per motor",
                where=f"{self.law} of robot {self.robot.model.name!r}",
                got=np.shape(value),
                expected=f"({len(self.names)},): {', '.join(self.names)}",
            )
        return value

    def target(self, reference: Point | None) -> Point:
        """Check a reference."""
        if reference is None:
            raise LinkworkError(
                f"{self.law} needs a reference",
                where=f"robot {self.robot.model.name!r}",
                fix="add reference=, for example linkwork.control.Quintic(start, goal, duration)",
            )
        return Point(*(self.fitting(f"reference.{x}", part) for x, part in zip("qva", reference, strict=True)))

    def errors(self, q: Any, v: Any, target: Point) -> tuple[Any, Any]:
        """Errors of positions and velocities."""
        return target.q - self.robot.motor_positions(q), target.v - self.robot.motor_velocities(q, v)

    def limited(self, tau: Any, limit: Any) -> Any:
        """Forces within +- limit."""
        return tau if limit is None else clip(tau, -self.fitting("limit", limit), limit)


@dataclass(frozen=True, eq=False)
class PD(_Feedback):
    """PD controller: tau = kp (q_ref - q) + kd (v_ref - v).

    Args:
        kp: Proportional gains, one number or one per motor (motors,).
        kd: Derivative gains, in the same form.
        limit: Largest absolute force in N m (N), in the same form. Default: none.

    Raises:
        LinkworkError: A gain or limit is negative or not finite.

    Example:
        >>> start = np.array([0, 0, 0, -1.5, 0, 1.5, 0])
        >>> reference = linkwork.control.Quintic(start, start + 0.1, 0.01)
        >>> controller = linkwork.control.PD(100, 20)
        >>> robot.simulate(start, duration=0.01, torque=controller, reference=reference).tau.shape
        (11, 7)
    """

    kp: Any
    kd: Any
    limit: Any = None

    def for_model(self, model: Model) -> Callable[..., Any]:
        """Return the controller of one robot.

        Args:
            model: The robot.

        Returns:
            Function (t, q, v, reference) -> tau; gains are keyword arguments.
        """
        motors = _Motors(self, model)

        def law(t: Any, q: Any, v: Any, reference: Point | None, *, kp=self.kp, kd=self.kd, limit=self.limit) -> Any:
            target = motors.target(reference)
            e, rate = motors.errors(q, v, target)
            feedback = motors.fitting("kp", kp) * e + motors.fitting("kd", kd) * rate
            return motors.limited(self._forces(motors.robot, q, v, target, feedback), limit)

        return motors.marked(law)

    def __call__(self, robot: TracedRobot, q: Any, v: Any, reference: Any) -> dict[str, Any]:
        """Return tau, for ``robot.function(..., period=)``: a controller that is evaluated at sample times.

        Args:
            robot: The robot.
            q: Positions (nq,).
            v: Velocities (nv,).
            reference: Rows q, v, a of the reference (3, motors).

        Returns:
            The output.
        """
        return {"tau": self.for_model(robot.model)(None, q, v, Point(*reference))}

    def _forces(self, robot: TracedRobot, q: Any, v: Any, target: Point, feedback: Any) -> Any:
        """Forces of the motors from the feedback of errors."""
        return feedback


@dataclass(frozen=True, eq=False)
class PDGravity(PD):
    """PD controller with gravity compensation: tau = kp (q_ref - q) + kd (v_ref - v) + g(q).

    In a robot with a moving base or passive joints, g(q) is the motors' part, as if the other joints were held.

    Args:
        kp: Proportional gains, one number or one per motor (motors,).
        kd: Derivative gains, in the same form.
        limit: Largest absolute force in N m (N), in the same form. Default: none.

    Example:
        >>> start = np.array([0, 0, 0, -1.5, 0, 1.5, 0])
        >>> hold = linkwork.control.Point(start, np.zeros(7), np.zeros(7))
        >>> controller = linkwork.control.PDGravity(100, 20)
        >>> motion = robot.simulate(start, duration=0.01, torque=controller, reference=hold)
        >>> bool(np.abs(motion.q - start).max() < 1e-9)
        True
    """

    def _forces(self, robot: TracedRobot, q: Any, v: Any, target: Point, feedback: Any) -> Any:
        model = robot.model
        forced = ClosedLoops(model, model.expand(nested_nodes(q))).to_motors(nested_nodes(robot.gravity(q)))
        where = model.mobility.forced
        return feedback + np.array([forced[where.index(k)] for k in model.mobility.motors])


@dataclass(frozen=True, eq=False)
class ComputedTorque(PD):
    """Computed-torque controller: inverse dynamics at the accelerations a_ref + kd (v_ref - v) + kp (q_ref - q).

    With an exact model, the errors e decay as e'' + kd e' + kp e = 0. Joints without a motor (a moving base, elastic
    and passive joints) move freely, by hybrid dynamics. In a robot with loops whose motors are not the independent
    joints, the motors determine the independent accelerations, by least squares if there are more motors.

    Args:
        kp: Proportional gains in 1/s^2, one number or one per motor (motors,).
        kd: Derivative gains in 1/s, in the same form.
        limit: Largest absolute force in N m (N), in the same form. Default: none.

    Example:
        >>> start = np.array([0, 0, 0, -1.5, 0, 1.5, 0])
        >>> reference = linkwork.control.Quintic(start, start + 0.1, 0.01)
        >>> controller = linkwork.control.ComputedTorque(100, 20)
        >>> robot.simulate(start, duration=0.01, torque=controller, reference=reference).q.shape
        (11, 7)
    """

    def _forces(self, robot: TracedRobot, q: Any, v: Any, target: Point, feedback: Any) -> Any:
        model, mobility, a = robot.model, robot.model.mobility, target.a + feedback
        if mobility.motors != mobility.driven:
            if free := model.names_of(mobility.free):  # names of free joints, without a moving base
                raise UnsupportedError(
                    "with passive joints, computed torque needs its motors at the independent joints",
                    where=f"robot {model.name!r}",
                    got=f"motors {', '.join(model.names_of(mobility.motors))}; free: {', '.join(free)}",
                    fix="name the active joints in `independent`, or use PDGravity",
                )
            columns = robot.motor_jacobian(q).T[[mobility.independent.index(k) for k in mobility.driven]]
            a = Orthogonal(nested_nodes(columns)).solve(nested_nodes(a - robot.motor_drift(q, v)))
        return robot.hybrid_dynamics(q, v, a)[0] if mobility.free else robot.inverse_dynamics(q, v, a)


@dataclass(frozen=True, eq=False)
class PID(_Feedback):
    """PID controller: tau = kp e + ki z + kd e', where e = q_ref - q and z' = e.

    The integral z is a state of the controller, recorded as "integral". It stops growing at +- ``integral_limit``,
    and tau uses it clipped to this range. The torque ``limit`` does not stop it.

    Args:
        kp: Proportional gains, one number or one per motor (motors,).
        ki: Integral gains, in the same form.
        kd: Derivative gains, in the same form.
        limit: Largest absolute force in N m (N), in the same form. Default: none.
        integral_limit: Largest absolute integral in rad s (m s), in the same form. Default: none.

    Example:
        >>> start = np.array([0, 0, 0, -1.5, 0, 1.5, 0])
        >>> reference = linkwork.control.Quintic(start, start + 0.1, 0.01)
        >>> controller = linkwork.control.PID(100, 10, 20)
        >>> robot.simulate(start, duration=0.01, torque=controller, reference=reference).integral.shape
        (11, 7)
    """

    kp: Any
    ki: Any
    kd: Any
    limit: Any = None
    integral_limit: Any = None

    def for_model(self, model: Model) -> Callable[..., Any]:
        """Return the controller of one robot.

        Args:
            model: The robot.

        Returns:
            Function (t, q, v, reference, memory) -> tau, rates; gains are keyword arguments.
        """
        motors = _Motors(self, model)

        @with_memory(integral=np.zeros(len(motors.names)))
        def law(
            t: Any, q: Any, v: Any, reference: Point | None, memory: Any,
            *, kp=self.kp, ki=self.ki, kd=self.kd, limit=self.limit, integral_limit=self.integral_limit,
        ) -> Any:  # fmt: skip
            e, rate = motors.errors(q, v, motors.target(reference))
            z, growth = memory["integral"], e
            if integral_limit is not None:
                bound = motors.fitting("integral_limit", integral_limit)
                growth = e * (
                    1 - unit_step(absolute(z) - bound) * unit_step(z * e)
                )  # beyond the limit it may only shrink
                z = clip(z, -bound, bound)
            tau = motors.fitting("kp", kp) * e + motors.fitting("ki", ki) * z + motors.fitting("kd", kd) * rate
            return motors.limited(tau, limit), {"integral": growth}

        return motors.marked(law)

    def start(self, robot: TracedRobot) -> dict[str, Any]:
        """Return the initial memory at sample times: no integral.

        Args:
            robot: The robot.

        Returns:
            The memory.
        """
        return {"integral": np.zeros(len(robot.model.mobility.motors))}

    def __call__(
        self, robot: TracedRobot, q: Any, v: Any, reference: Any, memory: Any, period: float
    ) -> tuple[Any, Any]:
        """Return tau and the integral at the next sample time.

        Args:
            robot: The robot.
            q: Positions (nq,).
            v: Velocities (nv,).
            reference: Rows q, v, a of the reference (3, motors).
            memory: The memory.
            period: Sample time in s.

        Returns:
            Output and next memory.
        """
        tau, growth = self.for_model(robot.model)(None, q, v, Point(*reference), memory)
        return {"tau": tau}, {"integral": memory["integral"] + period * growth["integral"]}
