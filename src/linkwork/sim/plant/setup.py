"""The plant, the inputs and the initial states of a simulation, from its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...assembly import numbers
from ...control import Law, Point
from ...errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, at_door
from ...formulations import drives_of, layouts
from ...model import ConstraintKind, Model, SoftLimits
from ...model.coordinates import kind_of
from ...notes import Note
from ...options import Options, positive
from ...pipeline import choose
from ...workspace import Cache, Workspace
from ..trajectory.outputs import checked_outputs
from . import user_functions
from .constrained import CONTACTS, off_the_ground
from .initial_state import given_memory, initial
from .inputs import Inputs, by_name, is_law, torques
from .instant import GAIN, REFERENCE
from .plant import Plant
from .randomisation import INERTIAL, VARIED, add_varied


@dataclass(frozen=True)
class Setup:
    plant: Plant
    inputs: Inputs
    x0: np.ndarray  # (samples, x)
    batched: bool
    outputs: tuple[str, ...]
    said: tuple[Note, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What one must know to read the numbers."""
        plant, layout = self.plant, self.plant.model.commands
        given = "commands" in self.inputs.shapes or plant.commands is not None or plant.commanding
        zero = [Note("no-commands", f"no commands are given, so these are zero: {', '.join(layout.names)}")]
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
        inputs.add(CONTACTS, _contacts(model, options), (len(model.switched),), CONTACTS, over_time=True)
    outputs = checked_outputs(model, memory, outputs, stands)
    shapes = {name: values.shape for name, values in memory.items()}
    started = {**memory, **given_memory(shapes, options.memory or {}, () if batch is None else (batch,))}
    reference = _reference(inputs, model, options.reference, law, dt)
    payload = add_varied(inputs, model, vary) if vary else ""
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
        quantity = "constrained_dynamics" if seen.constrained or stands else "forward_dynamics"
        method = choose(seen, quantity, options.dynamics, wrenches=tuple(pushes), varied=varied)
        controller, over_time, *rows = (function and function.program for function in functions)
        by_frame = dict(zip(pushes, rows, strict=True))
        found = Plant(seen, method, held, constants, controller, by_frame, over_time, payload, works), tuple(notes)
        if key is not None:
            known[key] = found
    plant, notes = found
    if model.switched and not stands and not model.forces:
        which = f"says which of {_listed(model)} are"
        fixes = f"contacts= {which}", f"--contacts {which}"
        notes = (*notes, Note("no-contact", "nothing is held by the ground:", *fixes))
    x = plant.start(q, v, started)
    if stands:
        first = inputs.constants[CONTACTS] if CONTACTS in inputs.constants else inputs.held[CONTACTS][:, 0]
        notes = (*notes, *off_the_ground(model, plant.parts(x)["stand"], first))
    return Setup(plant, inputs, x, batch is not None, outputs, notes)


def _contacts(model: Model, options: Options) -> np.ndarray:
    """Which contacts are on the ground: (..., contacts), from numbers or a dict by name."""
    if not model.switched:
        kinds = [kind for kind in ConstraintKind.known.values() if kind.switched]
        rows = " or ".join(f"{kind.section}: [{{{kind.second.key}: ...}}]" for kind in kinds)
        fix = f"name some in its file: {rows}, or in a side file"
        raise LinkworkError(
            "the robot has no contacts to hold", where=f"robot {model.name!r}", got="contacts=...", fix=fix
        )
    value = options.contacts
    if isinstance(value, str) or callable(value):
        what = "contacts are no function" if callable(value) else "only simulate knows contacts that come and go"
        fix = "tell which are on, 1 or 0 for each contact, or (steps, contacts); or robot.simulate(contacts='events')"
        raise UnsupportedError(what, where=CONTACTS, got=repr(value), fix=fix)
    if isinstance(value, Mapping):
        value = by_name(layouts(model)[CONTACTS], value, CONTACTS, kind_of(CONTACTS))
    array = numbers(value, CONTACTS)
    if not np.isin(array, (0, 1)).all():
        got = array[~np.isin(array, (0, 1))][0]
        raise ShapeError("a contact is on or off", where=CONTACTS, got=got, expected="0 or 1 for each contact")
    return array


def _listed(model: Model) -> str:
    return ", ".join(contact.name for contact in model.switched)


def plants(_: Workspace) -> Cache[Any, tuple[Plant, tuple[Note, ...]]]:
    """What was traced for simulations, with its notes, by its contents."""
    return Cache()


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


def _surroundings(model: Model, limits: SoftLimits | None, width: float, varied: bool) -> tuple[Model, list[Note]]:
    """The robot as it is simulated, and what to say about it."""
    notes, width = [], positive(width, "friction_width")
    jumping = (drive for drive in drives_of(model) if any(law.jumps for law in drive.acting))
    if varied or any(not drive.friction_width for drive in jumping):
        model = replace(model, friction_width=width)
        text = f"Coulomb friction is smooth: Fs v / sqrt(v^2 + w^2), w = {width:g} rad/s (m/s)"
        notes.append(Note("smooth-friction", text, values={"width": width}))
    if limits is not None:
        if not isinstance(limits, SoftLimits):
            raise ShapeError(
                "these are not limits",
                where="limits",
                got=repr(limits),
                expected="linkwork.SoftLimits(stiffness, damping)",
            )
        model = replace(model, soft_limits=limits)
        text = f"joint limits are soft: {limits.stiffness:g} N m/rad (N/m), damping {limits.damping:g}"
        notes.append(Note("soft-limits", text, values={"stiffness": limits.stiffness, "damping": limits.damping}))
    return model, notes
