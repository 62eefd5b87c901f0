"""Plant, inputs and initial states of a simulation, from its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...assembly import finite_array
from ...control import Law, Point
from ...errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, at_door
from ...formulations import drives_of, layouts
from ...model import ConstraintKind, Model, SoftLimits
from ...model.coordinates import kind_of
from ...notes import Note
from ...options import Options, positive
from ...pipeline import choose
from ...program import Port
from ...workspace import Cache, Workspace
from ..trajectory.outputs import checked_outputs, is_own
from .constrained import CONTACTS, off_the_ground
from .initial_state import initial, initial_memory, joint_velocities
from .inputs import Inputs, by_name, is_law, torques
from .instant import GAIN, MEMORY, REFERENCE, SAMPLED, WRENCH
from .own_outputs import OwnOutputs
from .plant import Plant
from .randomisation import add_varied, is_varied, varied, varied_geometry, varied_numbers
from .sampled import Sampled, checked, flat_memory, gain_shapes, reference_function
from .user_functions import UserFunction, command_function, content_key, controller_function, wrench_function


@dataclass(frozen=True)
class Setup:
    """What a simulation starts from.

    Attributes:
        plant: The robot and everything that acts on it.
        inputs: Values of the plant's inputs.
        x0: Initial states (samples, state_size).
        batched: Whether the caller passed a batch, perhaps of one sample.
        outputs: Names of what is recorded.
        notes: What the user must know to read the numbers.
        from_state: Names of the memory that starts from the initial state.
    """

    plant: Plant
    inputs: Inputs
    x0: np.ndarray
    batched: bool
    outputs: tuple[str, ...]
    notes: tuple[Note, ...]
    from_state: frozenset[str] = frozenset()

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.x0)

    def model_of(self, sample: int) -> Model:
        """Return the robot with the parameters of a sample."""
        values = {name: x[min(sample, len(x) - 1)].tolist() for name, x in self.inputs.constant_arrays.items()}
        return varied(self.plant.model, values, self.plant.payload)

    @property
    def geometry(self) -> dict[str, np.ndarray]:
        """Numbers that vary on which closed loops and places of contacts depend, (samples or 1, ...), by name."""
        return varied_geometry(self.plant.model, self.inputs.constant_arrays)

    @property
    def settable(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the memory, which has initial values, by name."""
        held = {name for each in self.plant.sampled for name in each.outputs}
        return {name: shape for name, shape in self.plant.memory.items() if name not in held}

    @property
    def stiffness_key(self) -> tuple[bytes, ...]:
        """Gains and varied parameters of the first sample and step, on which the fastest modes depend."""
        first = [(name, x[0, 0]) for name, x in self.inputs.held.items()]
        first += [(name, x[0]) for name, x in self.inputs.constants.items()]
        return tuple(x.tobytes() for name, x in first if is_varied(name) or name.startswith(GAIN))

    @cached_property
    def _first_sample(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Held inputs (steps, ...) and constants of the first sample."""
        held, constants = self.inputs.held, self.inputs.constants
        return (
            [held[name][0].reshape(-1, *shape) for name, shape in self.plant.held.items()],
            [constants[name][0].reshape(shape) for name, shape in self.plant.constants.items()],
        )

    def arguments(self, x: np.ndarray, t: float, dt: float, step: int = 0) -> list[np.ndarray]:
        """Return the arguments of the plant's programs for the first sample, with the inputs held over a step."""
        held, constants = self._first_sample
        rows = (rows[min(step, len(rows) - 1)] for rows in held)
        return [*self.plant.parts(x).values(), np.array(t), np.array(dt), *rows, *constants]


def prepare(
    workspace: Workspace, q0: Any, v0: Any, steps: int | None, dt: float, options: Options, outputs: Iterable[Any]
) -> Setup:
    """Return the setup of a simulation; a stepper, whose number of steps is open, passes None for ``steps``."""
    model: Model = workspace.model
    q, v, batch = initial(model, q0, v0)
    inputs = Inputs(batch, steps)
    sampled = checked(model, options.torque, options.observers)
    law = None if sampled and sampled[0].acts else _add_torque(inputs, model, options)
    has_contacts = options.contacts is not None
    if has_contacts:
        inputs.add(CONTACTS, _contacts(model, options.contacts), (len(model.switched),), CONTACTS, over_time=True)
    states, memory = _memory(law, sampled, options.memory or {}, () if batch is None else (batch,))
    recorded = checked_outputs(model, states, outputs, has_contacts)
    led = any(REFERENCE in each.function.arguments for each in sampled)
    reference = _add_reference(inputs, model, options.reference, bool(law) or led, dt)
    if led and options.reference is None:
        message, fix = "a function with a sample time needs a reference", "add reference="
        raise LinkworkError(message, where="reference", fix=fix)
    payload = add_varied(inputs, model, options.vary) if options.vary else ""
    geometry = varied_geometry(model, inputs.constant_arrays)
    v = joint_velocities(workspace, q, v, geometry)
    _add_gains(inputs, law, sampled, options.gains or {})
    wrenches = {frame: _add_wrench(inputs, model, frame, value) for frame, value in (options.wrenches or {}).items()}
    functions = {
        "commands": _add_commands(inputs, model, options.commands),
        "controller": controller_function(options.torque, law, reference, inputs.shapes) if law else None,
        "reference": reference_function(reference, len(model.mobility.motors)) if led and reference else None,
    }
    acting = functions, wrenches, payload, sampled
    own = [output for output in recorded if is_own(output, states)]
    if own:
        known = inputs.shapes, states, tuple(wrenches), reference, payload, has_contacts
        program = _own_outputs(workspace, options, own, *known)
        names = iter(program.names)
        outputs = tuple(name for each in recorded for name in (next(names) if is_own(each, states) else [each]))
        plant, notes = _plant(workspace, inputs, options, *acting, "work" in outputs or program.takes_work)
        plant = plant.cached(("own outputs", program.key), partial(_with_outputs, plant, program))
    else:
        outputs = recorded
        plant, notes = _plant(workspace, inputs, options, *acting, "work" in outputs)
    from_state = frozenset(name for each in sampled for name in each.memory) - {*memory}
    x0 = plant.initial_state(q, v, plant.sampled_start(q, v) | memory if from_state else memory, geometry)
    notes = (*notes, *_of_contacts(model, inputs, plant.parts(x0)))
    return Setup(plant, inputs, x0, batch is not None, outputs, notes, from_state)


def _memory(
    law: Law | None, sampled: Sequence[Sampled], given: Mapping[str, Any], lead: tuple[int, ...]
) -> tuple[dict[str, Port], dict[str, np.ndarray]]:
    """Parts of the state that controllers and observers have, by name; initial values of those that have some."""
    memory = law.memory if law else {}
    shapes = {name: values.shape for name, values in memory.items()}
    if twice := sorted(shapes.keys() & {name for each in sampled for name in each.shapes}):
        raise LinkworkError("two states of controllers have the same name", where="observers", got=twice[0])
    states = {name: Port(MEMORY + name, shape) for name, shape in shapes.items()}
    states |= {name: Port(SAMPLED + name, shape) for each in sampled for name, shape in each.shapes.items()}
    shapes |= {name: each.shapes[name] for each in sampled for name in each.memory}
    return states, memory | initial_memory(shapes, flat_memory(sampled, given), lead)


def _of_contacts(model: Model, inputs: Inputs, start: Mapping[str, np.ndarray]) -> list[Note]:
    """Notes on contacts that do not touch the ground, or that are all off."""
    if "stand" in start:
        first = inputs.constants[CONTACTS] if CONTACTS in inputs.constants else inputs.held[CONTACTS][:, 0]
        return off_the_ground(model, start["stand"], first)
    if not model.switched or model.forces:
        return []
    switches = f"to choose among {', '.join(contact.name for contact in model.switched)}"
    return [Note("no-contact", "no contact is on:", f"give contacts= {switches}", f"give --contacts {switches}")]


def plants(_: Workspace) -> Cache[Any, tuple[Plant, tuple[Note, ...]]]:
    """Return the cache of traced plants and their notes, by everything that they depend on."""
    return Cache()


def _with_outputs(plant: Plant, own: OwnOutputs) -> Plant:
    """The same plant, which shares its programs, with outputs of the user's own."""
    return replace(plant, own_outputs=own.program, own_entries=own.entries)


def own_outputs(_: Workspace) -> Cache[Any, OwnOutputs]:
    """Return the cache of own outputs that are quantities, by everything that they depend on."""
    return Cache()


def _own_outputs(
    workspace: Workspace,
    options: Options,
    outputs: Sequence[Any],
    inputs: Mapping[str, tuple[int, ...]],
    memory: Mapping[str, Port],
    frames: tuple[str, ...],
    reference: Any,
    payload: str,
    has_contacts: bool,
) -> OwnOutputs:
    """Outputs of the user's own; quantities are kept, functions are traced again for each simulation."""
    settings = content_key((*outputs, options.friction_width, options.limits))
    key = settings and (settings, tuple(inputs.items()), tuple(memory.items()), frames, payload, has_contacts)
    cache = workspace.derived(own_outputs)
    if key in cache:
        return cache[key]
    model, _ = _simulated_model(workspace.model, options.limits, options)
    made = OwnOutputs(model, outputs, inputs, memory, frames, reference, payload, has_contacts)
    if key is not None:
        cache[key] = made
    return made


def _plant(
    workspace: Workspace,
    inputs: Inputs,
    options: Options,
    functions: Mapping[str, UserFunction | None],
    wrenches: Mapping[str, UserFunction | None],
    payload: str,
    sampled: tuple[Sampled, ...],
    records_work: bool,
) -> tuple[Plant, tuple[Note, ...]]:
    """Plant and its notes, from the cache if the same was simulated before."""
    held = {name: inputs.shapes[name] for name in inputs.held}
    constants = {name: inputs.shapes[name] for name in inputs.constants}
    settings = content_key((options.friction_width, options.limits, options.dynamics))
    functions_and_wrenches = (*functions.values(), *wrenches.values())
    keys = (*(each and each.key for each in functions_and_wrenches), *(each.key for each in sampled))
    shapes = tuple(held.items()), tuple(constants.items())
    key = settings and (*shapes, payload, records_work, tuple(wrenches), keys, settings)
    cache = workspace.derived(plants)
    if key in cache:
        return cache[key]
    model, notes = _simulated_model(workspace.model, options.limits, options)
    numbers = varied_numbers(model, inputs.shapes, payload).values()
    varied, placed = any(each.inertial for each in numbers), any(each.placed for each in numbers)
    constrained = model.constrained or options.contacts is not None
    quantity = "constrained_dynamics" if constrained else "forward_dynamics"
    method = choose(model, quantity, options.dynamics, wrenches=tuple(wrenches), varied=varied, placed=placed)
    controller, commands, reference = (
        each and each.program for each in (functions[name] for name in ("controller", "commands", "reference"))
    )
    by_frame = {frame: each and each.program for frame, each in wrenches.items()}
    plant = Plant(
        model, method, held, constants, controller, by_frame, commands, payload, records_work, sampled=sampled,
        reference=reference,
    )  # fmt: skip
    if key is not None:
        cache[key] = plant, notes
    return plant, notes


def _simulated_model(model: Model, limits: Any, options: Options) -> tuple[Model, tuple[Note, ...]]:
    """The robot with smooth friction and soft limits, and notes about them."""
    notes, width = [], positive(options.friction_width, "friction_width")
    jumping = (drive for drive in drives_of(model) if any(law.jumps for law in drive.acting))
    vary = {name.partition(":")[0] for name in options.vary or {}}
    if vary & {"coulomb", "friction"} or any(not drive.friction_width for drive in jumping):
        model = replace(model, friction_width=width)
        text = f"Coulomb friction is smooth: Fs v / sqrt(v^2 + w^2), w = {width:g} rad/s (m/s)"
        notes.append(Note("smooth-friction", text, values={"width": width}))
    if limits is not None:
        if not isinstance(limits, SoftLimits):
            expected = "linkwork.SoftLimits(stiffness, damping)"
            raise ShapeError("these are not limits", where="limits", got=repr(limits), expected=expected)
        model = replace(model, soft_limits=limits)
        text = f"joint limits are soft: {limits.stiffness:g} N m/rad (N/m), damping {limits.damping:g}"
        notes.append(Note("soft-limits", text, values={"stiffness": limits.stiffness, "damping": limits.damping}))
    return model, tuple(notes)


# -- each option to the inputs, or to a function ---------------------------------------------------------------------


def _add_torque(inputs: Inputs, model: Model, options: Options) -> Law | None:
    """Add torques to the inputs, or return the law of a controller."""
    torque = options.torque
    if is_law(torque):
        # A controller that compensates friction uses the smooth friction of the simulation; it ignores joint limits.
        seen, _ = _simulated_model(model, None, options)
        return Law(torque, replace(seen, soft_limits=None))
    if torque is not None:
        tau = torques(model, torque, "torque")
        inputs.add("tau", tau, (layouts(model)["tau"].size,), "torque", over_time=True)
        inputs.motors_only = not isinstance(torque, Mapping) and np.shape(torque) != tau.shape
    return None


def _contacts(model: Model, value: Any) -> np.ndarray:
    """Return 1 or 0 for each contact (..., contacts), from numbers or a dict by name."""
    if not model.switched:
        kinds = [kind for kind in ConstraintKind.known.values() if kind.switched]
        rows = " or ".join(f"{kind.section}: [{{{kind.second.key}: ...}}]" for kind in kinds)
        fix = f"describe contacts in its file: {rows}, or in a side file"
        where = f"robot {model.name!r}"
        raise LinkworkError("the robot has no contacts to switch on", where=where, got="contacts=...", fix=fix)
    if isinstance(value, str) or callable(value):
        message = "contacts cannot be a function" if callable(value) else "only simulate finds contact events"
        fix = "give 1 or 0 for each contact, or (steps, contacts); or use robot.simulate(contacts='events')"
        raise UnsupportedError(message, where=CONTACTS, got=repr(value), fix=fix)
    if isinstance(value, Mapping):
        value = by_name(layouts(model)[CONTACTS], value, CONTACTS, kind_of(CONTACTS))
    array = finite_array(value, CONTACTS)
    if not np.isin(array, (0, 1)).all():
        got = array[~np.isin(array, (0, 1))][0]
        raise ShapeError("a contact is on or off", where=CONTACTS, got=got, expected="0 or 1 for each contact")
    return array


def _add_reference(inputs: Inputs, model: Model, reference: Any, controlled: bool, dt: float) -> Any:
    """Return a reference that can be traced; add samples of another one, or a Point of numbers, to the inputs."""
    if reference is None:
        return None
    if not controlled:
        raise LinkworkError("a reference needs a controller", where="reference", fix="give a controller as torque")
    if isinstance(reference, Point):
        return _add_point(inputs, reference, len(model.mobility.motors))
    if not callable(reference):
        expected = "a Point(q, v, a) of numbers, or a function t -> Point, such as linkwork.control.Sampled(times, q)"
        raise ShapeError("this is not a reference", where="reference", got=repr(reference)[:80], expected=expected)
    if getattr(reference, "traceable", True):
        return reference
    if inputs.steps is None:
        fix = "give a Point of numbers and change it before each step, or a formula in t, such as Quintic"
        raise UnsupportedError("a stepper does not know when to sample this reference", where="reference", fix=fix)
    points = reference.sample(dt * np.arange(inputs.steps))
    rows = np.stack([np.asarray(part, float) for part in points], axis=1)
    inputs.add(REFERENCE, rows[None], rows.shape[1:], "reference", over_time=True)
    return None


def _add_point(inputs: Inputs, point: Point, motors: int) -> None:
    """Add a reference of numbers to the inputs; each part has its own axes, and a single number serves all motors."""
    parts = []
    for name, value in zip(Point._fields, point, strict=True):
        where = f"reference.{name}"
        array = finite_array(value, where)
        shape = (motors,) if array.ndim else ()
        axes = inputs.axes(array.shape, shape, where, over_time=True)
        parts.append(array.reshape(*axes, *(shape or (1,))))
        inputs.reference_shapes += ((array.shape, parts[-1].shape),)
    lead = np.broadcast_shapes(*(part.shape[:2] for part in parts))
    rows = np.stack([np.broadcast_to(part, (*lead, motors)) for part in parts], axis=-2)
    inputs.put(REFERENCE, rows, (3, motors), over_time=True)
    inputs.full_shapes[REFERENCE] = rows.shape


def _add_gains(inputs: Inputs, law: Law | None, sampled: Sequence[Sampled], gains: Mapping[str, Any]) -> None:
    shapes = gain_shapes(sampled)
    if twice := sorted(shapes.keys() & {*(law.gains if law else ())}):
        raise LinkworkError("two functions have a gain of the same name", where="gains", got=twice[0], fix="rename it")
    required = (name for each in sampled for name in each.gains if name not in each.function.label.nominal)
    if missing := [name for name in dict.fromkeys(required) if name not in gains]:
        fix = f"gains={{{', '.join(f'{name!r}: ...' for name in missing)}}}"
        raise LinkworkError("inputs of functions with a sample time are missing", got=", ".join(missing), fix=fix)
    for name, value in gains.items():
        where = f"gains[{name!r}]"
        if name in shapes:
            inputs.add_gain(name, value, (shapes[name],), where)
            continue
        if law is None or name not in law.gains:
            raise UnknownNameError("gain", name, [*(law.gains if law else ()), *shapes], where="gains")
        law.check_gain(name, finite_array(value, where), where)
        inputs.add_gain(name, value, law.shapes[name], where)


def _add_wrench(inputs: Inputs, model: Model, frame: str, value: Any) -> UserFunction | None:
    """Add a wrench to the inputs, or return it as a function of time."""
    model.frame(frame)  # raises if there is no such frame
    if is_law(value):
        return wrench_function(value, frame)
    inputs.add(WRENCH + frame, value, (6,), f"wrench on {frame!r}", over_time=True)
    return None


def _add_commands(inputs: Inputs, model: Model, commands: Any) -> UserFunction | None:
    """Add commands to the inputs, or return them as a function of time."""
    layout = model.commands
    if commands is None:
        return None
    if not layout.size:
        where = f"robot {model.name!r}, commands"
        fix = at_door("robot.with_forces({frame: linkwork.forces.Thruster()}) has one", "omit --commands")
        raise LinkworkError("this robot takes no commands", where=where, got=repr(commands)[:80], fix=fix)
    if callable(commands):
        return command_function(commands, model)
    if isinstance(commands, Mapping):
        commands = by_name(layout, commands, "commands", "command")
    inputs.add("commands", commands, (layout.size,), "commands", over_time=True)
    return None
