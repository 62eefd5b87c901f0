"""Batches of motions, one step at a time, in arrays that the caller reads and writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from ..codegen.timeloop import Turns
from ..control import Point
from ..errors import ShapeError, UnknownNameError, UnsupportedError, require_memory
from ..formulations import layouts
from ..model.coordinates import real_numbers
from ..options import Options, one_of_names, positive, require_dict, whole
from ..workspace import Workspace
from .plant.constrained import CONTACTS
from .plant.initial_state import initial, initial_memory, joint_velocities, rest, velocities
from .plant.inputs import is_law, vector
from .plant.instant import GAIN, REFERENCE, WRENCH
from .plant.randomisation import is_varied, varied_geometry
from .plant.sampled import flat_memory
from .plant.setup import prepare
from .run import Run
from .schemes.integrators import schemes
from .schemes.runner import Runner, shares

T = TypeVar("T")
RECORD = Turns(0, 0, 1, end=True, last_held=0)  # no step, only a record of the current state


class Stepper:
    """Simulation of a batch of motions, one step at a time; ``robot.stepper`` makes one.

    The arrays are views of the memory that native code works on. Read ``q`` and ``v`` after ``step()``; write ``tau``
    before it, by ``stepper.tau[:] = ...`` or ``stepper.tau = ...``. q and v may be written as well, without checks,
    unless the robot has loops or contacts: then ``reset`` finds positions that fit together. A sample that diverged
    (``diverged``) stays so until it is reset, and does not disturb the others.

    Args:
        workspace: The robot with its compiled functions.
        samples: Number of motions.
        dt: Step of the integrator in s.
        substeps: Steps of ``dt`` in each call of ``step``.
        q0: Initial positions, (nq,) or (samples, nq); None for home or zero.
        v0: Initial velocities, (nv,) or (samples, nv); None for zero.
        options: Options of ``Robot.stepper``.

    Attributes:
        wrenches: Views of the wrenches by frame, (samples, 6), to be written between steps.
        vary: Views of the varied parameters by name, likewise.
        gains: Views of the controller's gains by name, likewise.
        memory: Views of the controller's states by name.
        outputs: Views of the recorded outputs by name, as they are after the step under the inputs of the step.
        notes: What the user must know to read the numbers.

    Example:
        >>> stepper = robot.stepper(3, dt=1e-3)
        >>> stepper.tau = 1.0
        >>> stepper.step()
        >>> stepper.q.shape
        (3, 7)
    """

    def __init__(
        self, workspace: Workspace, samples: int, dt: float, substeps: int, q0: Any, v0: Any, options: Options
    ):
        self.samples, self.substeps = whole(samples, "samples"), whole(substeps, "substeps")
        self.dt = positive(dt, "dt")
        self.method = one_of_names("method of steppers", options.method, schemes())
        self.workspace, self._model = workspace, workspace.model
        require_memory(2 * self.samples * (self._model.nq + self._model.nv))  # the initial and the current state
        layout = layouts(self._model)["tau"]
        if options.torque is None and layout.size:
            options = replace(options, torque=np.zeros(layout.size))
        if options.commands is None and self._model.commands.size and not is_law(options.torque):
            options = replace(options, commands=np.zeros(self._model.commands.size))
        outputs = options.outputs or ()
        constrained = self._model.constrained or options.contacts is not None
        recorded = ("q", "v", *outputs) if constrained else outputs  # the state itself is not projected
        q0 = self._rows("q0", rest(self._model) if q0 is None else vector(self._model, "q", q0, "q0"))
        v0 = self._rows("v0", np.zeros(self._model.nv) if v0 is None else velocities(self._model, v0, "v0"))
        setup = prepare(workspace, q0, v0, None, self.dt, options, recorded)
        self._setup, self._plant = setup, setup.plant
        self._runner = runner = Runner(setup, self.method, self.dt, options.backend, options.dtype)
        self._state = runner.start(slice(0, self.samples))
        self._records = np.empty((self.samples, 1, len(runner.loop.record.results)), runner.dtype)
        self._calls, self._first_call = 0, np.zeros(self.samples, int)  # calls of step: in total, and at the last reset
        self._threads = runner.threads(options.threads, self.substeps)
        # Turns count from 1, so that only the last one is a multiple of their number and recorded.
        end = bool(self._records.size)
        self._advance = self._bound(Turns(1, self.substeps, self.substeps + 1, end=end, last_held=0))
        self._record = self._bound(RECORD) if end else lambda: None
        names = tuple(name for name in setup.outputs if not constrained or name not in "qv" or name in outputs)
        self._make_views(is_law(options.torque), names)
        run = Run(setup, self.method, self.dt, options)
        run.begin()
        self.notes = tuple(run.notes)
        self._record()

    # -- views -----------------------------------------------------------------------------------------------------

    def _make_views(self, law: bool, names: tuple[str, ...]) -> None:
        shapes = self._plant.held
        held = {name: x[:, 0] for name, x in zip(shapes, self._runner.held, strict=True)}
        constants = self._by_name(self._runner.constants, self._plant.constants)
        self._tau = None if law else held.get("tau", np.zeros((self.samples, 0)))
        self._commands = held.get("commands")
        wrenches = {name.removeprefix(WRENCH): x for name, x in held.items() if name.startswith(WRENCH)}
        gains = {name.removeprefix(GAIN): x for name, x in constants.items() if name.startswith(GAIN)}
        self.wrenches, self.gains = Views("wrenches", wrenches), Views("gains", gains)
        self.vary = Views("vary", {name: x for name, x in constants.items() if is_varied(name)})
        self._reference = None
        if REFERENCE in held:
            rows = held[REFERENCE].reshape(self.samples, *shapes[REFERENCE])
            self._reference = Point(*(rows[:, k] for k in range(3)))
        records = self._by_name(self._records[:, 0], self._runner.shapes)
        self.outputs = Views("outputs", {name: records[name] for name in names})
        for view in records.values():
            view.flags.writeable = False
        parts = self._plant.parts(self._state[:, : self._plant.state_size])
        self.memory = Views("memory", {name: parts[self._plant.part_of(name)] for name in self._setup.settable})
        source = records if self._plant.has_constraints else parts
        self._contacts = held.get(CONTACTS)
        self._q, self._v = source["q"], source["v"]

    def _by_name(self, array: np.ndarray, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
        """Views of the columns of an array (samples, numbers), by name."""
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes.values())]).tolist()
        columns = zip(shapes.items(), ends[:-1], ends[1:], strict=True)
        return {name: array[:, a:b].reshape(len(array), *shape) for (name, shape), a, b in columns}

    @property
    def q(self) -> np.ndarray:
        """Positions (samples, nq)."""
        return self._q

    @q.setter
    def q(self, value: Any) -> None:
        self._set_state(self._q, value, "q")

    @property
    def v(self) -> np.ndarray:
        """Velocities (samples, nv)."""
        return self._v

    @v.setter
    def v(self, value: Any) -> None:
        self._set_state(self._v, value, "v")

    @property
    def tau(self) -> np.ndarray:
        """Joint forces (samples, n) of the next steps."""
        fix = "read them from stepper.outputs['tau'], with outputs=('tau',)"
        return _present(self._tau, "a controller computes the torques", "tau", fix)

    @tau.setter
    def tau(self, value: Any) -> None:
        _write(self.tau, value, "tau")

    @property
    def commands(self) -> np.ndarray:
        """Commands (samples, n) of the force laws in the next steps."""
        fix = "robot.stepper(..., commands=numbers), if the robot has force laws that take commands"
        return _present(self._commands, "there are no commands to write", "commands", fix)

    @commands.setter
    def commands(self, value: Any) -> None:
        _write(self.commands, value, "commands")

    @property
    def contacts(self) -> np.ndarray:
        """Contacts on the ground (samples, contacts) in the next steps: 1 or 0."""
        fix = "robot.stepper(..., contacts=[1, 0, ...])"
        return _present(self._contacts, "this stepper has no contacts", CONTACTS, fix)

    @contacts.setter
    def contacts(self, value: Any) -> None:
        _write(self.contacts, value, CONTACTS)

    @property
    def reference(self) -> Point:
        """Reference of the controller in the next steps; q, v and a are views (samples, motors)."""
        fix = "robot.stepper(..., torque=a controller, reference=Point(q, v, a))"
        return _present(self._reference, "there is no reference to write", "reference", fix)

    @property
    def steps(self) -> np.ndarray:
        """Number of steps of ``dt`` since the start or the last reset of each sample (samples,)."""
        return (self._calls - self._first_call) * self.substeps

    @property
    def time(self) -> np.ndarray:
        """Time in s since the start or the last reset of each sample (samples,)."""
        return self.dt * self.steps

    @property
    def diverged(self) -> np.ndarray:
        """Which samples diverged (NaN or infinite) since their start or last reset (samples,)."""
        return self._state[:, -1] < np.minimum(self.steps, self._runner.countable)

    def __repr__(self) -> str:
        steps = f"{self.substeps} steps of {self.dt:g} s" if self.substeps > 1 else f"steps of {self.dt:g} s"
        return f"<Stepper of {self._model.name}: {self.samples} samples, {steps}, {self.method}>"

    # -- steps -----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Advance all samples by ``substeps`` steps of ``dt``, under ``tau`` and the other inputs.

        Example:
            >>> stepper = robot.stepper(3, dt=1e-3)
            >>> stepper.step()
            >>> stepper.time
            array([0.001, 0.001, 0.001])
        """
        self._calls += 1  # first, since Ctrl-C is raised when the native call is over, and the step was made
        self._advance()

    def reset(self, mask: Any = None, q: Any = None, v: Any = None, *, memory: Mapping[str, Any] | None = None) -> None:
        """Set samples back to an initial state, at time zero.

        Args:
            mask: Samples to reset, bool (samples,). Default: all.
            q: Positions: (nq,), (samples, nq), or only the rows of the mask. They are checked as those of ``rollout``.
                Default: q0 of the stepper.
            v: Velocities, in the same forms. Default: v0 of the stepper.
            memory: Initial values of the controller's states by name, in the same forms. Default: as at the start.

        Raises:
            ShapeError: An argument has a wrong shape.
            LinkworkError: The loops are not closed at q, or v would open them.

        Example:
            >>> stepper = robot.stepper(3, dt=1e-3)
            >>> stepper.step()
            >>> stepper.reset(np.array([True, False, False]))
            >>> stepper.steps
            array([0, 1, 1])
        """
        require_dict("memory", memory)
        chosen = self._mask(mask)
        if not chosen.any():
            return
        start = self._setup.x0[chosen]
        parts = self._plant.parts(start)
        geometry = {name: x[chosen] for name, x in varied_geometry(self._model, self.vary).items()}
        elsewhere = q is not None or v is not None
        if elsewhere or geometry:
            q = parts["q"] if q is None else self._rows("q", vector(self._model, "q", q, "q"), chosen)
            v = parts["v"] if v is None else self._rows("v", velocities(self._model, v, "v"), chosen)
            parts["q"][:], v, _ = initial(self._model, q, v)
            parts["v"][:] = joint_velocities(self.workspace, parts["q"], v, geometry)
            self._plant.place_contacts(parts, geometry)
        if elsewhere:
            for name, values in self._plant.sampled_start(parts["q"], parts["v"]).items():
                parts[self._plant.part_of(name)][:] = values
        flat = flat_memory(self._plant.sampled, memory or {})
        for name, values in initial_memory(self._setup.settable, flat, (self.samples, len(start))).items():
            part = parts[self._plant.part_of(name)]
            part[:] = values if values.ndim < part.ndim or len(values) == len(start) else values[chosen]
        self._state[chosen] = 0.0
        self._state[chosen, : self._plant.state_size] = start
        self._first_call[chosen] = self._calls
        self._record()

    def save(self) -> np.ndarray:
        """Return the states of all samples with their times and, of a multistep method, the earlier rates.

        Returns:
            Array (samples, n) for ``restore``.

        Example:
            >>> stepper = robot.stepper(3, dt=1e-3)
            >>> stepper.save().shape
            (3, 17)
        """
        return np.column_stack([np.full(self.samples, self._fingerprint), self._state, self.steps])

    def restore(self, saved: Any, mask: Any = None) -> None:
        """Set samples to the states that ``save`` returned.

        Args:
            saved: Array that ``save`` of this stepper, or of one made in the same way, returned.
            mask: Samples to restore, bool (samples,). Default: all.

        Raises:
            ShapeError: ``saved`` does not fit this stepper.

        Example:
            >>> stepper = robot.stepper(3, dt=1e-3)
            >>> saved = stepper.save()
            >>> stepper.step()
            >>> stepper.restore(saved)
            >>> stepper.steps
            array([0, 0, 0])
        """
        saved, expected = real_numbers(saved, "restore"), (self.samples, self._state.shape[1] + 2)
        if saved.shape != expected:
            raise ShapeError(
                "not an array that save() returned", where="restore", got=saved.shape, expected=str(expected)
            )
        chosen = self._mask(mask)
        self._check_saved(saved, chosen)
        self._state[chosen] = saved[chosen, 1:-1]
        self._first_call[chosen] = self._calls - saved[chosen, -1].astype(int) // self.substeps
        self._record()

    def _check_saved(self, saved: np.ndarray, chosen: np.ndarray) -> None:
        """Raise an error for rows that ``save`` cannot have returned.

        A row begins with the fingerprint. It ends with the number of finite steps and the number of steps; if these
        are equal, the state must be finite.
        """
        same, finite, steps = saved[:, 0] == self._fingerprint, saved[:, -2], saved[:, -1]
        with np.errstate(invalid="ignore"):
            counted = (finite >= 0) & (finite <= steps) & (steps < 2**53) & (finite % 1 == 0) & (steps % 1 == 0)
            fits = same & counted & (np.isfinite(saved[:, :-2]).all(axis=1) | (finite < steps))
        if not fits[chosen].all():
            sample = np.flatnonzero(chosen & ~fits)[0]
            got = f"sample {sample}: a state that is not finite, without a step at which it diverged"
            if not same[sample]:
                got = f"sample {sample}: a state of another robot, method or memory"
            elif not counted[sample]:
                got = f"sample {sample}: {finite[sample]:g} finite steps of {steps[sample]:g}"
            fix = "restore(stepper.save())"
            raise ShapeError("not an array that save() returned", where="restore", got=got, fix=fix)

    @cached_property
    def _fingerprint(self) -> float:
        """A number that differs for states of other robots and methods, even if these are equally long."""
        names = (self._model.name, self._model.coordinates.positions.names, self.method, self._plant.memory)
        return float(crc32(repr(names).encode()))

    def __reduce__(self):
        """Refuse: a copy would work on the memory of this stepper, which another process does not have."""
        fix = "make another robot.stepper(...), and restore there what save() returned here"
        raise UnsupportedError("a stepper cannot be copied or pickled", where=repr(self), fix=fix)

    # -- details ---------------------------------------------------------------------------------------------------

    def _bound(self, turns: Turns) -> Callable[[], Any]:
        """Return a function without arguments that makes these turns of all samples, on all threads."""
        parts = shares(self.samples, self._threads)
        calls = [self._runner.bound(turns, part, self._state[part], self._records[part]) for part in parts]
        return calls[0] if len(calls) == 1 else partial(_run_all, calls)

    def _set_state(self, view: np.ndarray, value: Any, name: str) -> None:
        if self._plant.has_constraints:
            message = f"{name} of a robot with loops or contacts cannot be written"
            raise UnsupportedError(message, where=f"stepper.{name}", fix="stepper.reset(mask, q, v)")
        _write(view, value, name)

    def _rows(self, where: str, array: np.ndarray, chosen: Any = ...) -> np.ndarray:
        """Rows of the chosen samples, from (n,), (samples, n), or these rows alone."""
        count, n = self.samples if chosen is ... else int(chosen.sum()), array.shape[-1]
        if array.ndim == 2 and len(array) not in (count, self.samples):
            forms = dict.fromkeys([f"({n},)", f"({self.samples}, {n})", f"({count}, {n})"])
            raise ShapeError("wrong number of samples", where=where, got=array.shape, expected=" or ".join(forms))
        return np.broadcast_to(array if array.ndim == 1 or len(array) == count else array[chosen], (count, n))

    def _mask(self, mask: Any) -> np.ndarray:
        """Check a mask; None is all samples."""
        if mask is None:
            return np.ones(self.samples, bool)
        mask = np.asarray(mask)
        if mask.dtype != bool or mask.shape != (self.samples,):
            raise ShapeError(
                "not a mask of the samples",
                where="mask",
                got=f"{mask.dtype} {mask.shape}",
                expected=f"bool ({self.samples},)",
                fix="mask = np.zeros(samples, bool); mask[indices] = True",
            )
        return mask


class Views(Mapping[str, np.ndarray]):
    """Views (samples, ...) by name. Assigning to a name writes into its view."""

    def __init__(self, what: str, views: Mapping[str, np.ndarray]):
        self._what, self._views = what, views

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._views:
            raise UnknownNameError("view", name, self._views, where=f"stepper.{self._what}")
        return self._views[name]

    def __setitem__(self, name: str, value: Any) -> None:
        _write(self[name], value, f"{self._what}[{name!r}]")

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    def __repr__(self) -> str:
        return repr(self._views)


def _present(view: T | None, message: str, name: str, fix: str) -> T:
    """Return the view of an input, or raise an error if the stepper does not have it."""
    if view is None:
        raise UnsupportedError(message, where=f"stepper.{name}", fix=fix)
    return view


def _write(view: np.ndarray, value: Any, name: str) -> None:
    """Write values for all rows of a view, or the same values into each."""
    array = real_numbers(value, f"stepper.{name}")
    if array.shape not in (view.shape, view.shape[1:], ()):
        raise ShapeError("wrong shape", where=f"stepper.{name}", got=array.shape, expected=str(view.shape))
    view[:] = array


def _run_all(calls: list[Callable[[], None]]) -> None:
    """Run each on a thread; when this returns none of them writes any more, even after Ctrl-C."""
    pool = _pool(os.getpid(), len(calls))
    futures = [pool.submit(call) for call in calls]
    try:
        for future in futures:
            future.result()
    finally:
        wait(futures)


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Thread pool of all steppers of a process; a forked process does not inherit threads, and gets its own pool."""
    return ThreadPoolExecutor(threads, f"steppers of {process}")
