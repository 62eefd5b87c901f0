"""Where the columns meet: compile(robot, quantity) -> Function; Robot, a Model with its Functions; load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from . import io
from .errors import LinkworkError, UnknownNameError, UnsupportedError
from .formulations import QUANTITIES, Method, Request, find, methods
from .function import Function, Label
from .model import Description, Model, build, chain, describe, grouped
from .program import PARAMETER, Port, Program, count, optimize, trace
from .timing import least_seconds

DTYPES = ("float64", "float32")
BACKENDS = ("native", "interpreter")
AXES = ("world", "local")
PARAMETERS = ("minimal", "standard", "input")
LARGE = 36  # freedoms; beyond, factoring the inertia matrix takes more operations, and long to trace
CHOOSING = ("auto", "fastest")  # instead of a method's name


def compile(
    robot: Robot | Model,
    quantity: str,
    *,
    method: str = "auto",
    frame: str | None = None,
    axes: str = "world",
    wrenches: Sequence[str] = (),
    parameters: str = "minimal",
    dtype: Any = "float64",
    backend: str = "native",
) -> Function:
    """Compile a quantity of a robot.

    ``method``: a name from the catalog. "auto" takes the one with the fewest instructions for this robot among those
    worth trying (``Method.candidate``), "fastest" the one of them that takes the least time here.
    ``frame``, ``axes``: for pose, jacobian, jacobian_drift. ``wrenches``: names of frames; adds the input ``wrenches``
    of shape (len(wrenches), 6): force, then moment about the frame's origin, in its axes, applied to the robot.
    ``parameters``: "minimal" groups the inertial parameters into the fewest that act on the joints (where the quantity
    is a matter of the joints alone), "standard" leaves them as they are (some methods group them themselves), "input"
    adds the input ``parameters`` of shape (bodies, 10), those of each moving body in the order of ``Robot.parameters``.
    ``backend``: "interpreter" runs in NumPy, without LLVM.
    """
    model = robot.model if isinstance(robot, Robot) else robot
    if not isinstance(model, Model):
        raise UnsupportedError("this is not a robot", got=repr(robot), fix=f"linkwork.load({robot!r})")
    if isinstance(wrenches, str):
        raise UnsupportedError("wrenches is a list of frames", got=repr(wrenches), fix=f"wrenches=[{wrenches!r}]")
    with suppress(TypeError):  # what NumPy does not know either is told below
        dtype = np.dtype(dtype).name
    for value, allowed, what in (
        (dtype, DTYPES, "dtype"),
        (backend, BACKENDS, "backend"),
        (axes, AXES, "choice of axes"),
        (parameters, PARAMETERS, "treatment of parameters"),
    ):
        if value not in allowed:
            raise UnknownNameError(what, str(value), allowed)
    traced = _trace_candidates(
        model, quantity, method, frame=frame, axes=axes, wrenches=tuple(wrenches), parameters=parameters
    )

    def with_wrenches(names: tuple[str, ...]) -> Function:
        return compile(
            model, quantity, method=method, wrenches=names, parameters=parameters, dtype=dtype, backend=backend
        )

    takes_more = QUANTITIES[quantity].takes_wrenches and not wrenches
    functions = []
    for name, program in traced:
        label = Label(model.name, quantity, name, frame or "", model.joint_names, model.floating, tuple(wrenches))
        functions.append(Function(program, label, dtype, backend, with_wrenches if takes_more else None))
    if method == "fastest" and len(functions) > 1:
        return min(functions, key=_seconds)
    return min(functions, key=lambda function: function.operations.instructions)


def _fewest(traced: list[tuple[str, Program]]) -> str:
    return min(traced, key=lambda pair: count(pair[1]).instructions)[0]


def _seconds(function: Function) -> float:
    """Of a batch of random states, once it is compiled."""
    random = np.random.default_rng(0)
    states = [random.normal(size=(1024, *port.shape)).astype(function.dtype) for port in function.program.inputs]
    return least_seconds(lambda: function(*states), runs=10)


def _trace_candidates(model: Model, quantity: str, method: str, **options: Any) -> list[tuple[str, Program]]:
    """Names and programs of the method asked for, or of those among which "auto" and "fastest" choose."""
    available = methods(quantity)
    if not available:
        if method not in CHOOSING:
            raise UnknownNameError(f"method of {quantity}", method, CHOOSING)
        return [("", _trace(model, quantity, None, **options))]
    needs = {"wrenches": bool(options["wrenches"]), "as_input": options["parameters"] == "input"}
    if method in CHOOSING:
        candidates = [m for m in available if m.candidate and not m.refusal(model, **needs)]
        if quantity == "forward_dynamics" and model.nv > LARGE and any(m.name == "aba" for m in candidates):
            candidates = [m for m in candidates if m.name == "aba"]
        elif quantity == "forward_dynamics":  # also by the best inertia matrix and the best bias
            parts = ("inertia_matrix", options | {"wrenches": ()}), ("bias", options)
            names = [_fewest(_trace_candidates(model, part, "auto", **how)) for part, how in parts]
            candidates.append(find(quantity, "+".join(names), model, **needs))
    else:
        candidates = [find(quantity, method, model, **needs)]
    return [(candidate.name, _trace(model, quantity, candidate, **options)) for candidate in candidates]


def _trace(
    model: Model,
    quantity: str,
    method: Method | None,
    *,
    frame: str | None,
    axes: str,
    wrenches: Sequence[str],
    parameters: str,
) -> Program:
    asked = QUANTITIES[quantity]
    if asked.of_frame and frame is None:
        raise LinkworkError(f"{quantity} needs a frame", where=model.name, expected="frame=" + _some(model.frames))
    if frame is not None and not asked.of_frame:
        raise LinkworkError(f"{quantity} has no frame", where=model.name, got=f"frame={frame!r}")
    if axes != "world" and not asked.has_axes:
        raise LinkworkError(f"{quantity} has no choice of axes", where=model.name, got=f"axes={axes!r}")
    if wrenches and not asked.takes_wrenches:
        raise LinkworkError(f"{quantity} takes no wrenches", where=model.name, got=", ".join(wrenches))
    request = Request(
        method=method.function if method else None,
        frame=model.frame(frame) if frame is not None else None,
        axes=axes,
        loaded=tuple(model.frame(name) for name in wrenches),
    )
    ports = [Port(name, (model.nq if name == "q" else model.nv,)) for name in asked.inputs]
    if wrenches:
        ports.append(Port("wrenches", (len(wrenches), 6)))
    if parameters == "input":
        ports.append(Port("parameters", (model.n_bodies, 10), PARAMETER))

    shape = tuple(model.nv if size == "nv" else size for size in asked.shape)

    def run(*values: Any) -> Mapping[str, Any]:
        seen = model
        if parameters == "input":
            seen = model.with_parameters(values[-1])
            values = values[:-1]
        if parameters != "standard" and asked.of_joints and (method is None or method.grouped):
            seen = grouped(seen)
        value = np.array(asked.function(seen, request, *values), dtype=object)
        return {asked.output: value.reshape(shape)}

    return optimize(trace(quantity, run, ports))


def _some(names: Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in list(names)[:8]) + (", ..." if len(names) > 8 else "")


class Robot:
    """A Model with its Functions, each compiled when first used.

    ``robot.inverse_dynamics(q, v, a)`` and the others take arrays with any leading batch axes. ``robot.model`` is the
    immutable Model behind it.
    """

    def __init__(self, model: Model):
        self.model = model
        self._of_frames: dict[tuple[str, str, str], Function] = {}

    # -- what it is ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of positions: one per independent joint; first 7 (position, quaternion x y z w) of a floating base."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of velocities: one per independent joint; first 6 (linear, angular) of a floating base."""
        return self.model.nv

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self.model.joint_names

    @property
    def link_names(self) -> tuple[str, ...]:
        return self.model.link_names

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Links and extra frames: what pose, jacobian and wrenches know."""
        return tuple(self.model.frames)

    @property
    def parameters(self) -> list[list[float]]:
        """Inertial parameters of each moving link with all that is fixed to it: mass, first moments (3), inertia about
        the origin of the link's frame (xx, xy, xz, yy, yz, zz), in its axes; the input of functions compiled with
        ``parameters="input"``."""
        model = self.model
        bodies = range(1, model.n_bodies + 1)
        return [list(model.link_pose(i).inverse().inertia_outward(model.inertia(i))) for i in bodies]

    def __repr__(self) -> str:
        base = "floating" if self.model.floating else "fixed"
        return f"<linkwork Robot {self.name}: {len(self.joint_names)} joints, {base} base>"

    def __reduce__(self):
        return Robot, (self.model,)

    def write(self, path: str | Path) -> None:
        """Write the robot as URDF or YAML, by the suffix of ``path``. Reading it back gives the same dynamics."""
        io.write(describe(self.model), path)

    def chain(self, tip: str) -> Robot:
        """The path from the base to a link or frame, as a robot of its own; other branches are left out."""
        return Robot(chain(self.model, tip))

    # -- functions of the joints -----------------------------------------------------------------------------------

    def compile(self, quantity: str, **options: Any) -> Function:
        """``linkwork.compile`` of this robot."""
        return compile(self, quantity, **options)

    @cached_property
    def inverse_dynamics(self) -> Function:
        """tau = inverse_dynamics(q, v, a): joint forces for a motion."""
        return compile(self, "inverse_dynamics")

    @cached_property
    def forward_dynamics(self) -> Function:
        """a = forward_dynamics(q, v, tau): joint accelerations under joint forces."""
        return compile(self, "forward_dynamics")

    @cached_property
    def inertia_matrix(self) -> Function:
        """M = inertia_matrix(q), complete and symmetric."""
        return compile(self, "inertia_matrix")

    @cached_property
    def bias(self) -> Function:
        """b = bias(q, v): joint forces at zero acceleration, M a + b = tau."""
        return compile(self, "bias")

    @cached_property
    def gravity(self) -> Function:
        """g = gravity(q): joint forces that hold the robot against gravity."""
        return compile(self, "gravity")

    @cached_property
    def coriolis_matrix(self) -> Function:
        """C = coriolis_matrix(q, v) with Mdot - 2 C skew-symmetric."""
        return compile(self, "coriolis_matrix")

    @cached_property
    def kinetic_energy(self) -> Function:
        """T = kinetic_energy(q, v), of bodies and rotors."""
        return compile(self, "kinetic_energy")

    @cached_property
    def potential_energy(self) -> Function:
        """V = potential_energy(q), of gravity and springs."""
        return compile(self, "potential_energy")

    @cached_property
    def momentum(self) -> Function:
        """momentum(q, v): linear, and angular about the centre of mass, in world axes."""
        return compile(self, "momentum")

    @cached_property
    def center_of_mass(self) -> Function:
        """c = center_of_mass(q), of the moving bodies, in the world."""
        return compile(self, "center_of_mass")

    # -- functions of a named frame ----------------------------------------------------------------------------------

    def _of_frame(self, quantity: str, frame: str, axes: str = "world") -> Function:
        key = (quantity, frame, axes)
        if key not in self._of_frames:
            self._of_frames[key] = compile(self, quantity, frame=frame, axes=axes)
        return self._of_frames[key]

    def pose(self, frame: str, q: Any, **how: Any) -> Any:
        """4 x 4 pose of a link or named frame in the world."""
        return self._of_frame("pose", frame)(q, **how)

    def jacobian(self, frame: str, q: Any, axes: str = "world", **how: Any) -> Any:
        """6 x nv: velocity of the frame's origin, then angular velocity, per joint velocity; in world or local axes."""
        return self._of_frame("jacobian", frame, axes)(q, **how)

    def jacobian_drift(self, frame: str, q: Any, v: Any, axes: str = "world", **how: Any) -> Any:
        """Jdot v: the frame's acceleration when the joints do not accelerate; in world or local axes."""
        return self._of_frame("jacobian_drift", frame, axes)(q, v, **how)


def load(
    robot: str | Path | Description,
    *,
    base: str | None = None,
    gravity: Sequence[float] | None = None,
    friction: bool = True,
    rotors: bool = True,
    mimic: bool = True,
    lock: Mapping[str, float] | None = None,
) -> Robot:
    """A robot from a URDF or YAML file, a bundled robot by name, or a Description.

    ``base``: "fixed" or "floating" (default: what the file says). ``gravity``: acceleration vector in the base frame of
    the file. ``friction=False``, ``rotors=False`` leave damping, friction and rotor inertia out. ``mimic=False`` keeps
    mimic joints as joints of their own. ``lock``: joint name -> position at which it is fixed.
    """
    description = robot if isinstance(robot, Description) else io.read(robot)
    return Robot(
        build(description, base=base, gravity=gravity, friction=friction, rotors=rotors, mimic=mimic, lock=lock)
    )
