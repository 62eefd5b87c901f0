"""Batches of motions, a step at a time, in memory that the caller sees."""

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
from .plant.initial_state import given_memory, initial, rest, velocities
from .plant.inputs import is_law, vector
from .plant.instant import MEMORY, REFERENCE
from .plant.randomisation import VARIED
from .plant.setup import prepare
from .run import Run
from .schemes.integrators import schemes
from .schemes.runner import Runner, shares
from .trajectory.outputs import checked_outputs

T = TypeVar("T")
NOW = Turns(0, 0, 1, end=True, last_held=0)  # no step, and what is recorded of the state as it is


class Stepper:
    """Motions of ``samples`` robots, which it keeps: what ``robot.stepper`` makes.

    ``q`` (samples, nq), ``v`` and ``tau`` are views of what native code works on: read them after ``step()``, write
    ``tau`` before it, with ``stepper.tau[:] = ...`` or ``stepper.tau = ...``. q and v may be written, too, unchecked,
    but not of a robot with loops, where only ``reset`` knows what fits together. ``reset(mask)`` starts samples anew,
    each at its own time. One that is ``diverged`` stays so until then, and disturbs no other.

    ``wrenches``, ``vary``, ``gains``: views by name of what was given, to be written between steps in the same ways;
    ``contacts``: those on the ground, likewise; ``reference``: a Point of such views; ``memory``: views of the
    controller's own states. ``outputs``: what else was asked for, as it is after the step with what acted in it.
    ``notes``: what one must know to read the numbers.
    """

    def __init__(
        self, workspace: Workspace, samples: int, dt: float, substeps: int, q0: Any, v0: Any, options: Options
    ):
        self.samples, self.substeps = whole(samples, "samples"), whole(substeps, "substeps")
        self.dt = positive(dt, "dt")
        self.method = one_of_names("method of steppers", options.method, schemes())
        self.workspace, self._model = workspace, workspace.model
        require_memory(2 * self.samples * (self._model.nq + self._model.nv))  # where they start, and where they are
        layout = layouts(self._model)["tau"]
        if options.torque is None and layout.size:
            options = replace(options, torque=np.zeros(layout.size))
        if options.commands is None and self._model.commands.size and not is_law(options.torque):
            options = replace(options, commands=np.zeros(self._model.commands.size))
        together, outputs = self._model.constrained or options.contacts is not None, options.outputs or ()
        recorded = ("q", "v", *outputs) if together else outputs
        q0 = self._rows("q0", rest(self._model) if q0 is None else vector(self._model, "q", q0, "q0"))
        v0 = self._rows("v0", np.zeros(self._model.nv) if v0 is None else velocities(self._model, v0, "v0"))
        setup = prepare(workspace, q0, v0, None, self.dt, options, recorded)
        self._setup, self._plant = setup, setup.plant
        self._runner = runner = Runner(setup, self.method, self.dt, options.backend)
        self._state = runner.start(slice(0, self.samples))
        self._records = np.empty((self.samples, 1, len(runner.loop.record.results)))
        self._calls, self._since = 0, np.zeros(self.samples, int)
        self._threads = runner.threads(options.threads, self.substeps)
        # Of the turns from 1 on only the end is a multiple of their number.
        end = bool(self._records.size)
        self._advance = self._bound(Turns(1, self.substeps, self.substeps + 1, end=end, last_held=0))
        self._look = self._bound(NOW) if end else lambda: None
        extra = checked_outputs(self._model, setup.plant.memory, outputs, setup.plant.stands)
        self._name_parts(is_law(options.torque), extra)
        run = Run(setup, self.method, self.dt, options)
        run.begin()
        self.notes = tuple(run.notes)
        self._look()

    # -- what is seen ----------------------------------------------------------------------------------------------

    def _name_parts(self, law: bool, extra: tuple[str, ...]) -> None:
        shapes = self._plant.held
        held = {name: x[:, 0] for name, x in zip(shapes, self._runner.held, strict=True)}
        constants = self._by_name(self._runner.constants, self._plant.constants)
        self._tau = None if law else held.get("tau", np.zeros((self.samples, 0)))
        self._commands = held.get("commands")
        pushes = {name.removeprefix("wrench "): x for name, x in held.items() if name.startswith("wrench ")}
        gains = {name.removeprefix("gain "): x for name, x in constants.items() if name.startswith("gain ")}
        self.wrenches, self.gains = Views("wrenches", pushes), Views("gains", gains)
        self.vary = Views("vary", {name: x for name, x in constants.items() if name in VARIED})
        self._reference = None
        if REFERENCE in held:
            rows = held[REFERENCE].reshape(self.samples, *shapes[REFERENCE])
            self._reference = Point(*(rows[:, k] for k in range(3)))
        found = self._by_name(self._records[:, 0], self._runner.shapes)
        self.outputs = Views("outputs", {name: found[name] for name in extra})
        for view in found.values():
            view.flags.writeable = False
        parts = self._plant.parts(self._state[:, : self._plant.x])
        self.memory = Views("memory", {name: parts[MEMORY + name] for name in self._plant.memory})
        seen = found if self._plant.held_together else parts
        self._contacts = held.get(CONTACTS)
        self._q, self._v = seen["q"], seen["v"]

    def _by_name(self, array: np.ndarray, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
        """Views of the columns of an array (samples, numbers)."""
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes.values())]).tolist()
        places = zip(shapes.items(), ends[:-1], ends[1:], strict=True)
        return {name: array[:, a:b].reshape(len(array), *shape) for (name, shape), a, b in places}

    @property
    def q(self) -> np.ndarray:
        """Positions (samples, nq)."""
        return self._q

    @q.setter
    def q(self, value: Any) -> None:
        self._move(self._q, value, "q")

    @property
    def v(self) -> np.ndarray:
        """Velocities (samples, nv)."""
        return self._v

    @v.setter
    def v(self, value: Any) -> None:
        self._move(self._v, value, "v")

    @property
    def tau(self) -> np.ndarray:
        """Joint forces (samples, n) of the steps to come."""
        return _present(self._tau, "a controller gives the torques", "tau", "outputs=('tau',) shows them")

    @tau.setter
    def tau(self, value: Any) -> None:
        _write(self.tau, value, "tau")

    @property
    def commands(self) -> np.ndarray:
        """Commands (samples, n) of force laws in the steps to come."""
        fix = "robot.stepper(..., commands=numbers) has some, if force laws take any, beside those of a controller"
        return _present(self._commands, "there are no commands to write", "commands", fix)

    @commands.setter
    def commands(self, value: Any) -> None:
        _write(self.commands, value, "commands")

    @property
    def contacts(self) -> np.ndarray:
        """Which contacts are on the ground (samples, contacts) in the steps to come: 1 or 0."""
        fix = "robot.stepper(..., contacts=[1, 0, ...])"
        return _present(self._contacts, "no contacts are held by the ground", CONTACTS, fix)

    @contacts.setter
    def contacts(self, value: Any) -> None:
        _write(self.contacts, value, CONTACTS)

    @property
    def reference(self) -> Point:
        """What the controller follows in the steps to come, each of q, v and a (samples, motors)."""
        fix = "robot.stepper(..., torque=a controller, reference=Point(q, v, a))"
        return _present(self._reference, "there is no reference to write", "reference", fix)

    @property
    def steps(self) -> np.ndarray:
        """How many steps of ``dt`` each sample was taken through since it started."""
        return (self._calls - self._since) * self.substeps

    @property
    def time(self) -> np.ndarray:
        """Seconds since each sample started."""
        return self.dt * self.steps

    @property
    def diverged(self) -> np.ndarray:
        """Which samples left the numbers since they started (samples,)."""
        return self._state[:, -1] < self.steps

    def __repr__(self) -> str:
        steps = f"{self.substeps} steps of {self.dt:g} s" if self.substeps > 1 else f"steps of {self.dt:g} s"
        return f"<Stepper of {self._model.name}: {self.samples} samples, {steps}, {self.method}>"

    # -- what is done ----------------------------------------------------------------------------------------------

    def step(self) -> None:
        """All samples by ``substeps`` steps of ``dt``, under what stands in ``tau`` and the other inputs."""
        self._calls += 1  # before Ctrl-C, which comes when the native call is over, can keep it from being counted
        self._advance()

    def reset(self, mask: Any = None, q: Any = None, v: Any = None, *, memory: Mapping[str, Any] | None = None) -> None:
        """Start samples anew, at time zero: those where ``mask`` (samples,) is true, or all.

        ``q``, ``v``: where, (n,), or (samples, n) of which the rows of the mask are taken, or only these; q0 and v0 of
        the stepper if not said. They are checked as those of ``rollout`` are. ``memory``: likewise, by name.
        """
        require_dict("memory", memory)
        chosen = self._chosen(mask)
        if not chosen.any():
            return
        start = self._setup.x0[chosen]
        own = self._plant.parts(start)
        if q is not None or v is not None:
            q = own["q"] if q is None else self._rows("q", vector(self._model, "q", q, "q"), chosen)
            v = own["v"] if v is None else self._rows("v", velocities(self._model, v, "v"), chosen)
            own["q"][:], own["v"][:] = initial(self.workspace, q, v)[:2]
            self._plant.stand(own)
        for name, values in given_memory(self._plant.memory, memory or {}, (self.samples, len(start))).items():
            shared = values.ndim < own[MEMORY + name].ndim or len(values) == len(start)
            own[MEMORY + name][:] = values if shared else values[chosen]
        self._state[chosen] = 0.0
        self._state[chosen, : self._plant.x] = start
        self._since[chosen] = self._calls
        self._look()

    def save(self) -> np.ndarray:
        """Where all samples stand, as an array for ``restore``: also the times, and what the method looks back on."""
        return np.column_stack([np.full(self.samples, self._mark), self._state, self.steps])

    def restore(self, saved: Any, mask: Any = None) -> None:
        """Put samples where they stood, all or those of a mask."""
        saved, expected = real_numbers(saved, "restore"), (self.samples, self._state.shape[1] + 2)
        if saved.shape != expected:
            raise ShapeError("this is not what save() gave", where="restore", got=saved.shape, expected=str(expected))
        chosen = self._chosen(mask)
        self._require_saved(saved, chosen)
        self._state[chosen] = saved[chosen, 1:-1]
        self._since[chosen] = self._calls - saved[chosen, -1].astype(int) // self.substeps
        self._look()

    def _require_saved(self, saved: np.ndarray, chosen: np.ndarray) -> None:
        """Every row begins with the mark, and ends with the steps for which it stayed finite and all its steps; it is
        finite if these agree."""
        own, finite, steps = saved[:, 0] == self._mark, saved[:, -2], saved[:, -1]
        with np.errstate(invalid="ignore"):
            counted = (finite >= 0) & (finite <= steps) & (steps < 2**53) & (finite % 1 == 0) & (steps % 1 == 0)
            fits = own & counted & (np.isfinite(saved[:, :-2]).all(axis=1) | (finite < steps))
        if not fits[chosen].all():
            sample = np.flatnonzero(chosen & ~fits)[0]
            got = f"sample {sample}: numbers that are not finite, without a step at which it diverged"
            if not own[sample]:
                got = f"sample {sample}: a state of another robot, method or memory"
            elif not counted[sample]:
                got = f"sample {sample}: {finite[sample]:g} finite steps of {steps[sample]:g}"
            raise ShapeError("this is not what save() gave", where="restore", got=got, fix="restore(stepper.save())")

    @cached_property
    def _mark(self) -> float:
        """A number that tells apart states of other robots and methods, also where they are equally long."""
        names = (self._model.name, self._model.coordinates.positions.names, self.method, self._plant.memory)
        return float(crc32(repr(names).encode()))

    def __reduce__(self):
        """A copy would work on the memory of this one, and in another process there is none."""
        fix = "another robot.stepper(...), there .restore(saved) of what .save() gave here"
        raise UnsupportedError("a stepper cannot be copied or pickled", where=repr(self), fix=fix)

    # -- how -------------------------------------------------------------------------------------------------------

    def _bound(self, turns: Turns) -> Callable[[], Any]:
        """A call that makes these turns of all samples, by all threads."""
        parts = shares(self.samples, self._threads)
        calls = [self._runner.bound(turns, part, self._state[part], self._records[part]) for part in parts]
        return calls[0] if len(calls) == 1 else partial(_all, calls)

    def _move(self, view: np.ndarray, value: Any, name: str) -> None:
        if self._plant.held_together:
            raise UnsupportedError(
                "a robot with loops, or with contacts on the ground, cannot be moved so",
                where=f"stepper.{name}",
                fix="stepper.reset(mask, q, v)",
            )
        _write(view, value, name)

    def _rows(self, where: str, array: np.ndarray, chosen: Any = ...) -> np.ndarray:
        """Of the chosen samples: from (n,), (samples, n), or already only these."""
        count, n = self.samples if chosen is ... else int(chosen.sum()), array.shape[-1]
        if array.ndim == 2 and len(array) not in (count, self.samples):
            forms = dict.fromkeys([f"({n},)", f"({self.samples}, {n})", f"({count}, {n})"])
            raise ShapeError("wrong number of samples", where=where, got=array.shape, expected=" or ".join(forms))
        return np.broadcast_to(array if array.ndim == 1 or len(array) == count else array[chosen], (count, n))

    def _chosen(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.ones(self.samples, bool)
        mask = np.asarray(mask)
        if mask.dtype != bool or mask.shape != (self.samples,):
            raise ShapeError(
                "this is not a mask",
                where="mask",
                got=f"{mask.dtype} {mask.shape}",
                expected=f"bool ({self.samples},)",
                fix="mask = np.zeros(samples, bool); mask[numbers] = True",
            )
        return mask


class Views(Mapping[str, np.ndarray]):
    """Views by name, (samples, ...) each. What is assigned to one is written into it."""

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
    """The view of an input that the stepper was given."""
    if view is None:
        raise UnsupportedError(message, where=f"stepper.{name}", fix=fix)
    return view


def _write(view: np.ndarray, value: Any, name: str) -> None:
    """Into all rows of a view, or the same into each."""
    array = real_numbers(value, f"stepper.{name}")
    if array.shape not in (view.shape, view.shape[1:], ()):
        raise ShapeError("wrong shape", where=f"stepper.{name}", got=array.shape, expected=str(view.shape))
    view[:] = array


def _all(calls: list[Callable[[], None]]) -> None:
    """Each by a thread of its own; also after Ctrl-C none of them writes any more when this is over."""
    pool = _pool(os.getpid(), len(calls))
    begun = [pool.submit(call) for call in calls]
    try:
        for each in begun:
            each.result()
    finally:
        wait(begun)


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """For all steppers; a copy of the process has none of its threads, and makes its own."""
    return ThreadPoolExecutor(threads, f"steppers of {process}")
