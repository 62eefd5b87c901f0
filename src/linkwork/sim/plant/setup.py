"""From what a user says to a Plant with its inputs and initial states."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...assembly import SINGULAR, numbers
from ...control import Law, Point
from ...errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, at_door
from ...formulations import drives_of, layouts
from ...model import Model, SoftLimits
from ...model.coordinates import kind_of
from ...options import Options, positive
from ...pipeline import choose
from ...workspace import Cache, Workspace
from ..supported import CONTACTS, off_the_ground
from ..trajectory.outputs import checked_outputs
from . import user_functions
from .inputs import Inputs, Shape, by_name, is_law, torques, vector
from .instant import GAIN, REFERENCE
from .plant import Plant
from .randomisation import INERTIAL, OF_JOINTS, VARIED, check_varied

OPEN = 1e-6  # metres and radians: loops further open than this are not those of an assembled robot


@dataclass(frozen=True)
class Setup:
    plant: Plant
    inputs: Inputs
    x0: np.ndarray  # (samples, x)
    batched: bool
    outputs: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What one must know to read the numbers."""
        plant, layout = self.plant, self.plant.model.commands
        given = "commands" in self.inputs.shapes or plant.commands is not None or plant.commanding
        zero = [f"no commands are given, so these are zero: {', '.join(layout.names)}"]
        return (*self.said, *zero) if layout.size and not given else self.said

    @property
    def samples(self) -> int:
        return len(self.x0)

    @property
    def stiffness(self) -> tuple[bytes, ...]:
        """Constants of the first sample that make its motions fast or slow, for comparison."""
        own = self.inputs.constants.items()
        return tuple(x[0].tobytes() for name, x in own if name in VARIED or name.startswith(GAIN))


def prepare(
    workspace: Workspace, q0: Any, v0: Any, steps: int | None, dt: float, options: Options, outputs: Iterable[str]
) -> Setup:
    """``steps``: none for a stepper, which makes as many as it is asked for."""
    model: Model = workspace.model
    torque, gains, vary, wrenches = options.torque, options.gains or {}, options.vary or {}, options.wrenches or {}
    q, v, batch = initial(workspace, q0, v0)
    inputs = Inputs(batch, steps)
    law = None
    if is_law(torque):
        # A controller that compensates friction does so as it is simulated; of the stops it knows nothing.
        seen, _ = _surroundings(model, None, options.friction_width, "coulomb" in vary)
        law = Law(torque, replace(seen, soft_limits=None))
    elif torque is not None:
        tau = torques(model, torque, "torque")
        inputs.add("tau", tau, (layouts(model)["tau"].size,), "torque", over_time=True)
        inputs.of_motors = not isinstance(torque, Mapping) and np.shape(torque) != tau.shape
    memory = law.memory if law else {}
    if stands := options.contacts is not None:
        inputs.add(CONTACTS, _contacts(model, options), (len(model.feet),), CONTACTS, over_time=True)
    outputs = checked_outputs(model, memory, outputs, stands)
    shapes = {name: values.shape for name, values in memory.items()}
    started = {**memory, **given_memory(shapes, options.memory or {}, () if batch is None else (batch,))}
    reference = _reference(inputs, model, options.reference, law, dt)
    payload = _vary(inputs, model, vary) if vary else ""
    for name, value in gains.items():
        if law is None or name not in law.gains:
            raise UnknownNameError("gain", name, law.gains if law else (), where="gains")
        law.check_gain(name, numbers(value, f"gains[{name!r}]"), f"gains[{name!r}]")
        inputs.add_gain(name, value, law.shapes[name], f"gains[{name!r}]")
    pushes: dict[str, user_functions.Acting | None] = {}
    for frame, value in wrenches.items():
        model.frame(frame)
        pushes[frame] = user_functions.pushed(value, frame) if is_law(value) else None
        if pushes[frame] is None:
            inputs.add(f"wrench {frame}", value, (6,), f"wrench on {frame!r}", over_time=True)
    commands = _commands(inputs, model, options.commands)
    control = user_functions.controlled(torque, law, reference, inputs.shapes) if law else None
    held = {name: inputs.shapes[name] for name in inputs.held}
    constants = {name: inputs.shapes[name] for name in inputs.constants}
    works = "work" in outputs
    functions = (control, commands, *pushes.values())
    said = user_functions.content((options.friction_width, options.limits, options.dynamics))
    keys = tuple(function and function.key for function in functions)
    key = said and (tuple(held.items()), tuple(constants.items()), payload, works, tuple(pushes), keys, said)
    known = workspace.derived(plants)
    found = known.get(key)
    if found is None:
        seen, notes = _surroundings(model, options.limits, options.friction_width, "coulomb" in vary)
        varied = any(name in inputs.shapes for name in INERTIAL)
        quantity = "constrained_dynamics" if seen.loops or stands else "forward_dynamics"
        method = choose(seen, quantity, options.dynamics, wrenches=tuple(pushes), varied=varied)
        controller, over_time, *rows = (function and function.program for function in functions)
        by_frame = dict(zip(pushes, rows, strict=True))
        found = Plant(seen, method, held, constants, controller, by_frame, over_time, payload, works), tuple(notes)
        if key is not None:
            known[key] = found
    plant, notes = found
    if model.feet and not stands and not model.forces:
        notes = (
            *notes,
            f"no foot touches the ground: {at_door('contacts=', '--contacts')} says which of {_listed(model)} do",
        )
    x = plant.start(q, v, started)
    if stands:
        first = inputs.constants[CONTACTS] if CONTACTS in inputs.constants else inputs.held[CONTACTS][:, 0]
        notes = (*notes, *off_the_ground(model, plant.parts(x)["stand"], first))
    return Setup(plant, inputs, x, batch is not None, outputs, notes)


def _contacts(model: Model, options: Options) -> np.ndarray:
    """Which feet are on the ground: (..., feet), from numbers or a dict by foot."""
    if not model.feet:
        fix = "name some in its file: feet: [{frame: ...}], or in a side file"
        raise LinkworkError("the robot has no feet", where=f"robot {model.name!r}", got="contacts=...", fix=fix)
    value = options.contacts
    if isinstance(value, str) or callable(value):
        what = "contacts are no function" if callable(value) else "only simulate knows feet that come and go"
        fix = "tell which are on, 1 or 0 for each foot, or (steps, feet); or robot.simulate(contacts='events')"
        raise UnsupportedError(what, where=CONTACTS, got=repr(value), fix=fix)
    if isinstance(value, Mapping):
        value = by_name(layouts(model)[CONTACTS], value, CONTACTS, kind_of(CONTACTS))
    array = numbers(value, CONTACTS)
    if not np.isin(array, (0, 1)).all():
        got = array[~np.isin(array, (0, 1))][0]
        raise ShapeError("a foot is on the ground or not", where=CONTACTS, got=got, expected="0 or 1 for each foot")
    return array


def _listed(model: Model) -> str:
    return ", ".join(foot.name for foot in model.feet)


def plants(_: Workspace) -> Cache[Any, tuple[Plant, tuple[str, ...]]]:
    """What was traced for simulations, with its notes, by its contents."""
    return Cache()


def given_memory(
    memory: Mapping[str, Shape], values: Mapping[str, Any], counts: Collection[int]
) -> dict[str, np.ndarray]:
    """Where states of a controller shall begin: in the shapes of its ``memory``, perhaps with an axis of samples first,
    of which there may be so many."""
    found = {}
    for name, value in values.items():
        if name not in memory:
            raise UnknownNameError("memory", name, memory, where="memory")
        found[name], shape = numbers(value, f"memory[{name!r}]"), memory[name]
        forms = dict.fromkeys([shape, *((count, *shape) for count in counts)])
        if found[name].shape not in forms:
            expected = " or ".join(map(str, forms))
            raise ShapeError("wrong shape", where=f"memory[{name!r}]", got=found[name].shape, expected=expected)
    return found


def initial(workspace: Workspace, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray, int | None]:
    """q and the velocities of all joints, (samples, n), and the number of samples, None for a single motion."""
    model: Model = workspace.model
    q = rest(model) if q0 is None else vector(model, "q", q0, "q0")
    v = np.zeros(model.nv) if v0 is None else velocities(model, v0, "v0")
    batches = {len(x) for x in (q, v) if x.ndim == 2}
    if len(batches) > 1:
        raise ShapeError("q0 and v0 have different numbers of samples", got=f"{q.shape} and {v.shape}")
    batch = batches.pop() if batches else None
    if batch == 0:
        raise ShapeError("there are no samples", where="q0", got=q.shape)
    q, v = (x if x.ndim == 2 else x[None].repeat(batch or 1, axis=0) for x in (q, v))
    if model.coordinates.quaternions:
        q = q.copy()
    for at in model.coordinates.quaternions:
        length = np.linalg.norm(q[:, at], axis=1)
        if not (np.abs(length - 1) < 1e-6).all():
            got = f"length {length[np.abs(length - 1).argmax()]:g}"
            fix = "divide it by its length; a turn by w (rad, about an axis u) is u sin(w/2), cos(w/2)"
            raise ShapeError("a quaternion is not of length one", where="q0", got=got, fix=fix)
        q[:, at] /= length[:, None]
    if model.loops:
        residual = np.abs(workspace.function("loop_residual")(q)).max()
        if not residual < OPEN:
            raise LinkworkError(
                "the loops are not closed at q0",
                where=f"robot {model.name!r}",
                got=f"open by {residual:g} (m or rad)",
                fix=at_door(
                    "q0 = robot.assemble(positions of the independent joints).q, or robot.home",
                    "give --q of the independent joints alone, or leave it out to start at home",
                ),
            )
        v = _of_all_joints(workspace, q, v)
    return q, v, batch


def velocities(model: Model, v: Any, where: str) -> np.ndarray:
    """Of the independent joints, or of all where loops are closed."""
    if not model.loops:
        return vector(model, "v", v, where)
    if isinstance(v, Mapping):
        return vector(model, "v_joints" if set(model.coordinates.velocities.joints) <= set(v) else "v", v, where)
    array = numbers(v, where)
    return vector(model, "v_joints" if array.shape[-1:] == (model.n_leading,) else "v", array, where)


def _of_all_joints(workspace: Workspace, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities of all joints that keep the loops closed."""
    model = workspace.model
    if not v.any():
        return np.zeros((len(q), model.n_leading))
    if v.shape[-1] == model.nv:
        if not (conditioning := workspace.function("conditioning")(q)).min() >= SINGULAR:
            raise LinkworkError(
                "the velocities of the independent joints do not tell those of the others at q0",
                where=f"robot {model.name!r}",
                got=f"conditioning {conditioning.min():.1e}",
                fix=f"give v0 of all {model.n_leading} joints: {model.coordinates.velocities}",
            )
        return workspace.function("joint_velocities")(q, v)
    rates = np.abs(workspace.function("loop_rates")(q, v)).max()
    if not rates < OPEN * max(1.0, np.abs(v).max()):
        raise LinkworkError(
            "these velocities of all joints would open the loops",
            where="v0",
            got=f"at a rate of {rates:g} (m/s or rad/s)",
            fix=f"give those of the independent joints alone: {', '.join(model.joint_names)}",
        )
    return v


def zero(model: Model) -> np.ndarray:
    """Home of a robot with loops, else zero, and no rotation."""
    if model.home:
        return np.array(model.home)
    return model.coordinates.neutral()


def rest(model: Model) -> np.ndarray:
    """Where a motion starts if nothing is said: home; or zero, and the middle of its range for a joint that cannot be
    there."""
    q, lower, upper = zero(model), model.coordinates.lower, model.coordinates.upper
    for k in () if model.home else np.flatnonzero((q < lower) | (q > upper)):
        middle = 0.5 * (lower[k] + upper[k])
        q[k] = middle if np.isfinite(middle) else np.clip(0.0, lower[k], upper[k])
    return q


def _reference(inputs: Inputs, model: Model, reference: Any, law: Law | None, dt: float) -> Any:
    """The reference if it can be traced; samples of it, or a Point of numbers, go to the inputs."""
    if reference is None:
        return None
    if law is None:
        raise LinkworkError("a reference is for a controller", where="reference", fix="give a controller as torque")
    if isinstance(reference, Point):
        return _point(inputs, reference, len(model.mobility.motors))
    if not callable(reference):
        expected = "a Point(q, v, a) of numbers, or a function t -> Point, such as linkwork.control.Sampled(times, q)"
        raise ShapeError("this is not a reference", where="reference", got=repr(reference)[:80], expected=expected)
    if getattr(reference, "traceable", True):
        return reference
    if inputs.steps is None:
        fix = "a Point of numbers, changed before each step, or a reference that is a formula in t, such as Quintic"
        raise UnsupportedError("this reference is sampled, and no step is the last", where="reference", fix=fix)
    points = reference.sample(dt * np.arange(inputs.steps))
    rows = np.stack([np.asarray(part, float) for part in points], axis=1)
    inputs.add(REFERENCE, rows[None], rows.shape[1:], "reference", over_time=True)
    return None


def _point(inputs: Inputs, point: Point, motors: int) -> None:
    """Numbers of a reference go to the inputs, each part in a shape of its own; one number is the same for all."""
    parts = []
    for name, value in zip(Point._fields, point, strict=True):
        where = f"reference.{name}"
        array = numbers(value, where)
        own = (motors,) if array.ndim else ()
        axes = inputs.axes(array.shape, own, where, over_time=True)
        parts.append(array.reshape(*axes, *(own or (1,))))
        inputs.point += ((array.shape, parts[-1].shape),)
    lead = np.broadcast_shapes(*(part.shape[:2] for part in parts))
    rows = np.stack([np.broadcast_to(part, (*lead, motors)) for part in parts], axis=-2)
    inputs.put(REFERENCE, rows, (3, motors), over_time=True)
    inputs.given[REFERENCE] = rows.shape


def _commands(inputs: Inputs, model: Model, commands: Any) -> user_functions.Acting | None:
    """A function of time; arrays go to the inputs."""
    layout = model.commands
    if commands is None:
        return None
    if not layout.size:
        raise LinkworkError(
            "this robot takes no commands", where=f"robot {model.name!r}, commands", got=repr(commands)[:80],
            fix=at_door("robot.with_forces({frame: linkwork.forces.Thruster()}) has one", "leave --commands out"),
        )  # fmt: skip
    if callable(commands):
        return user_functions.commanded(commands, model)
    if isinstance(commands, Mapping):
        commands = by_name(layout, commands, "commands", "command")
    inputs.add("commands", commands, (layout.size,), "commands", over_time=True)
    return None


def _vary(inputs: Inputs, model: Model, vary: Mapping[str, Any]) -> str:
    """Parameters of each sample go to the inputs; the frame of a payload."""
    shapes = {"mass": (model.n_bodies,), "parameters": (model.n_bodies, 10), "gravity": (3,), "payload": (10,)}
    shapes |= dict.fromkeys(OF_JOINTS, (len(model.position_names),))
    frame = ""
    for name, value in vary.items():
        if name not in VARIED:
            raise UnknownNameError("parameter to vary", name, VARIED, where="vary")
        if name == "payload":
            if not isinstance(value, Mapping) or len(value) != 1:
                raise ShapeError("a payload is carried by one frame", where="vary", got=repr(value)[:80],
                                 expected='{"payload": {frame: (samples, 10)}}')  # fmt: skip
            ((frame, value),) = value.items()
            if not model.frame(frame).body:
                raise ShapeError("a payload is carried by a moving link", where="vary", got=f"frame {frame!r}")
        where = f"vary[{name!r}]"
        inputs.add(name, value, shapes[name], where)
        check_varied(model, name, inputs.constants[name], where)
    if "mass" in vary and "parameters" not in vary:
        for body, masses in zip(model.bodies, inputs.constants["mass"].T, strict=True):
            if not body.inertia.mass and masses.any():
                raise ShapeError(
                    "a body without mass has no shape to scale",
                    where="vary['mass']",
                    got=f"body {body.name!r}",
                    fix="0 for this body, or vary its parameters",
                )
    return frame


def _surroundings(model: Model, limits: SoftLimits | None, width: float, varied: bool) -> tuple[Model, list[str]]:
    """The robot as it is simulated, and what to say about it."""
    notes, width = [], positive(width, "friction_width")
    jumping = (drive for drive in drives_of(model) if any(law.jumps for law in drive.acting))
    if varied or any(not drive.friction_width for drive in jumping):
        model = replace(model, friction_width=width)
        notes.append(f"Coulomb friction is smooth: Fs v / sqrt(v^2 + w^2), w = {width:g} rad/s (m/s)")
    if limits is not None:
        if not isinstance(limits, SoftLimits):
            raise ShapeError(
                "these are not limits",
                where="limits",
                got=repr(limits),
                expected="linkwork.SoftLimits(stiffness, damping)",
            )
        model = replace(model, soft_limits=limits)
        notes.append(f"joint limits are soft: {limits.stiffness:g} N m/rad (N/m), damping {limits.damping:g}")
    return model, notes
