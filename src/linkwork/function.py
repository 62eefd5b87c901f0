"""Function: a compiled program with named inputs and outputs around a NumPy generalised ufunc."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, cached_property, partial
from inspect import signature
from itertools import combinations
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import result_memory
from .differentiable import Differentiable
from .errors import (
    LinkworkError,
    ShapeError,
    UnknownNameError,
    UnsupportedError,
    counted,
    memory_reported,
    require_memory,
)
from .files import parse_json, read_text, write_text
from .metadata import FORMAT, Label, Nominal, read_document
from .model.coordinates import Layout, kind_of
from .program import PARAMETER, PREPARED, Operations, Port, Program, count, split_stages, with_known
from .program.program import result_type
from .program.traced_array import TracedArray
from .quoting import printable
from .targets.listing import description, title, wrapped, write_all
from .targets.registry import backend, export, express, sources

if TYPE_CHECKING:
    from .symbolic import SymbolicModel

PLAIN, NUMBERS = (np.ndarray, np.memmap), {float, int}
# that this process may use; more threads gain nothing
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Function(Differentiable):
    """A compiled function with named inputs and outputs, called with arrays of any leading batch axes.

    ``robot.inverse_dynamics`` and ``linkwork.compile`` are the usual ways to get one. ``program``, ``label``, ``dtype``
    and ``backend`` are its parts.

    Example:
        >>> f = robot.inverse_dynamics
        >>> f(np.zeros((100, 7)), np.zeros(7), np.zeros(7)).shape
        (100, 7)
    """

    _has_own_type = False

    def __new__(cls, *_args: Any, **_named: Any) -> Function:
        # Python looks for ``__call__`` on the type alone, so every function has a type of its own. On this type the
        # direct call of the back end, if there is one, replaces the method below once it is compiled (``_build``).
        attributes = {"__doc__": property(_help), "__module__": cls.__module__, "__slots__": (), "_has_own_type": True}
        return object.__new__(type(cls.__name__, (cls,), attributes) if cls is Function else cls)

    def __init__(
        self,
        program: Program,
        label: Label,
        dtype: str = "float64",
        backend: str = "native",
        with_wrenches: Callable[[tuple[str, ...]], Function] | None = None,
        tangents: Callable[[], Mapping[str, Program]] | Mapping[str, Program] | None = None,
    ):
        self.program, self.label, self.dtype, self.backend = program, label, dtype, backend
        self._tangents = tangents or {}
        self._known: dict[tuple[Any, ...], Function] = {}  # what was derived from it
        self._stages: tuple[Function, Function] | None = None
        self.__name__ = program.name
        self._with_wrenches = cache(with_wrenches) if with_wrenches else None
        self._ufunc: Callable[..., Any] | None = None
        self._obstacle = ""
        self._several: Callable[[int], Callable[..., Any]] | None = None  # ufuncs that share a batch
        self._address: Callable[[], int] | None = None
        self._dtype = np.dtype(dtype)
        self._state_bytes = sum(port.size for port in program.outputs) * self._dtype.itemsize  # of results
        # numbers in the first input from which on results are large
        self._many = result_memory.LARGE / max(self._state_bytes, 1) * program.inputs[0].size if program.inputs else 0

    # -- what it is ----------------------------------------------------------------------------------------------

    @property
    def ufunc(self) -> Callable[..., Any]:
        """The NumPy generalised ufunc, compiled or taken from the cache at its first use.

        Back ends other than "native" have a function called ``(*arrays, out=arrays)`` instead.
        """
        if self._ufunc is None:  # no cached_property: before Python 3.12 it has a lock, and a fork might copy it locked
            self._ufunc = self._build()
        return self._ufunc

    def _build(self) -> Callable[..., Any]:
        compiled = backend(self.backend).compile(self.program, self.dtype)
        self._obstacle, self._several, self._address = compiled.obstacle, compiled.shared, compiled.address
        if not self._has_own_type:
            self._obstacle = "a subclass of Function may be called in its own way"
        elif compiled.direct is not None:
            direct = compiled.direct(partial(Function.__call__, self))
            self.__signature__ = signature(Function.__call__.__get__(self))
            type(self).__call__ = direct
        return compiled.call

    @property
    def calls(self) -> str:
        """How one state in plain arrays is called: "direct", or the reason why it goes through NumPy as batches do."""
        _ = self.ufunc
        return f"through NumPy: {self._obstacle}" if self._obstacle else "direct"

    @property
    def address(self) -> int:
        """Address of the machine code, to be called from other compiled code.

        It is a NumPy inner loop, ``void loop(char **args, intptr_t *dimensions, intptr_t *steps, void *data)``.
        ``args`` points to the data of each of ``ports``, ``dimensions`` to the number of states, ``steps`` to numbers
        such as those of the property ``steps``; ``data`` is NULL. The code needs no interpreter lock, keeps nothing
        between calls and may run in any number of threads. The address is valid until the process ends.
        """
        _ = self.ufunc
        if self._address is None:
            raise UnsupportedError(
                "there is no machine code to point to", where=self.__name__, got=f"backend {self.backend!r}",
                fix='compile it with backend="native"',
            )  # fmt: skip
        return self._address()

    @property
    def ports(self) -> tuple[Port, ...]:
        """Ports of the code at ``address``: inputs, then outputs, without empty ones."""
        return tuple(port for port in (*self.program.inputs, *self.program.outputs) if port.size)

    @property
    def steps(self) -> tuple[int, ...]:
        """Strides in bytes for arrays in C order: from state to state for each of ``ports``, then along the axes.

        The code at ``address`` takes any strides, 0 included.
        """
        arrays = [np.empty((1, *port.shape), self.dtype).strides for port in self.ports]
        return (*(each[0] for each in arrays), *(step for each in arrays for step in each[1:]))

    @cached_property
    def operations(self) -> Operations:
        """Exact number of operations per state that depend on the state."""
        return count(self.program)

    @cached_property
    def off_line_operations(self) -> Operations:
        """Exact number of operations that depend on parameters alone."""
        return count(self.program, off_line=True)

    @property
    def signature(self) -> str:
        """Inputs and outputs with their shapes, e.g. ``q(7), v(7), a(7) -> tau(7)``."""
        show = lambda ports: ", ".join(f"{p.name}({','.join(map(str, p.shape))})" for p in ports)  # noqa: E731
        return f"{show(self.program.inputs)} -> {show(self.program.outputs)}"

    @property
    def tangents(self) -> Mapping[str, Program]:
        """Programs of the tangents of inputs that cannot change along their own numbers.

        These are positions with quaternions, or in loops. A program has a row for each number and a column for each
        independent velocity.
        """
        if callable(self._tangents):
            self._tangents = self._tangents()
        return self._tangents

    def _derived(
        self,
        key: tuple[Any, ...],
        make: Callable[[], tuple[Program, Label]],
        again: Callable[[Function], Function] | None = None,
    ) -> Function:
        """Return a function derived from this one, made once; ``again`` derives it from this one with wrenches."""
        if key not in self._known:
            loaded = self._with_wrenches
            more = (lambda names: again(loaded(names))) if loaded and again else None
            self._known[key] = Function(*make(), self.dtype, self.backend, more, self.tangents)
        return self._known[key]

    def __repr__(self) -> str:
        method = f" by {self.label.method}" if self.label.method else ""
        return f"<linkwork Function {self.__name__} of {printable(self.label.robot)}{method}: {self.signature}>"

    def _repr_html_(self) -> str:
        from .notebook import function_html

        return function_html(self)

    # -- calling -------------------------------------------------------------------------------------------------

    def __call__(self, /, *args: Any, threads: int | str = 1, **options: Any) -> Any:
        """Evaluate: ``f(q, v, ..., out=None, threads=1, wrenches=None)``, inputs by position or name.

        From the second call on, one state in plain arrays bypasses this method and NumPy if ``calls`` is "direct": the
        same bits in less time, but no floating-point warnings.

        Args:
            *args: Inputs in order, arrays (..., *shape) with any leading batch axes, broadcast together. A joint vector
                may be a dict by joint name; joint vectors are then returned as dicts.
            threads: Largest number of threads that share a batch. Default: 1. "auto": all processors. Results have the
                same bits for every number.
            **options: Inputs by name; ``out``, an array (or a tuple of several) that takes the result; ``wrenches``, a
                dict frame -> (..., 6) of applied force and moment at the frame's origin, in its axes.

        Returns:
            The output (..., *shape), or a named tuple of several outputs.

        Raises:
            ShapeError: An input is missing, has the wrong shape, or is not an array of real numbers.
        """
        if self._suits_ufunc(args, options):
            given = options
            try:
                if not options and args and getattr(args[0], "size", 0) >= self._many:
                    batch = args[0].shape[: args[0].ndim - len(self.program.inputs[0].shape)]
                    if self._most_axes(args) == len(batch):  # else NumPy leaves out axes of length 1
                        given = {"out": tuple(self._new_results(batch))}  # not the batch: NumPy raises an error
                result = self._shared(threads)(*args, **given)
                return self._result(*result) if len(self.program.outputs) > 1 else result
            except (ValueError, TypeError, MemoryError):
                pass  # ``_call`` broadcasts, takes dicts, and raises an error that says what is wrong
        with memory_reported("these states", where=self.__name__, fix="call it with fewer at a time"):
            return self._call(args, threads=threads, **options)

    def _suits_ufunc(self, args: Sequence[Any], options: Mapping[str, Any]) -> bool:
        """Return whether the ufunc would give what ``_call`` gives: for plain arrays and an ``out`` of the right size.
        NumPy would take an argument too many for an ``out``, and accept an ``out`` of lower precision."""
        if len(args) != len(self.program.inputs):
            return False
        for x in args:
            if type(x) is not np.ndarray and not (type(x) is list and {*map(type, x)} <= NUMBERS):
                return False
        if not isinstance(self.ufunc, np.ufunc):
            return False
        if not options:
            return True
        out, ports = options.get("out"), self.program.outputs
        outs: tuple[Any, ...] = out if isinstance(out, tuple) else (out,)
        if len(options) > 1 or not outs or len(outs) != len(ports):
            return False
        for x in outs:
            if type(x) is not np.ndarray or x.dtype != self._dtype:
                return False
        if any(np.may_share_memory(a, b) for a, b in combinations(outs, 2)):
            return False
        batch = outs[0].shape[: outs[0].ndim - len(ports[0].shape)]  # NumPy sees to it that the others are as large
        if self._most_axes(args) != len(batch):
            return False
        return not batch or np.shape(args[0]) == batch + self.program.inputs[0].shape

    def _most_axes(self, args: Sequence[Any]) -> int:
        """Largest number of batch axes of an input."""
        return max((np.ndim(x) - len(port.shape) for x, port in zip(args, self.program.inputs, strict=True)), default=0)

    def _new_results(self, batch: tuple[int, ...]) -> list[np.ndarray]:
        return [result_memory.empty(batch + port.shape, self._dtype) for port in self.program.outputs]

    def _call(
        self, args: Sequence[Any], /, out: Any = None, threads: int | str = 1, wrenches: Any = None, **named: Any
    ):
        if isinstance(wrenches, Mapping) and not wrenches:
            wrenches = None
        if wrenches is not None and self.label.wrenches:
            named["wrenches"] = self._rows(wrenches) if isinstance(wrenches, Mapping) else wrenches
        elif wrenches is not None:
            return self._call_with_wrenches(args, named, wrenches, out, threads)
        values = self._bind(args, named)
        as_dict = any(isinstance(value, Mapping) for value in values)
        arrays = [self._array(port, value) for port, value in zip(self.program.inputs, values, strict=True)]
        result = self._evaluate(arrays, out, threads)
        return self._named(result) if as_dict else result

    def _bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        names = [port.name for port in self.program.inputs]
        if len(args) > len(names):
            raise ShapeError(
                f"{self.__name__} takes {counted(len(names), 'input')}",
                got=counted(len(args), "argument"),
                expected=self.signature,
            )
        values = dict(zip(names, args, strict=False))
        asked = {nominal.name: name for name, nominal in self.label.nominal.items()}
        for name, value in named.items():
            name = asked.get(name, name)
            if name not in names:
                raise UnknownNameError("input", name, names, where=self.__name__)
            if name in values:
                raise ShapeError(f"input {name!r} is given twice", where=self.__name__)
            values[name] = value
        for name in {"tau_known", "commands"}.intersection(names, self.label.layouts):  # zero by default
            if values.get(name) is None:
                values[name] = np.zeros(self.program.inputs[names.index(name)].shape)
        for name, nominal in self.label.nominal.items():  # the robot's own by default
            if values.get(name) is None:
                values[name] = nominal.array(self.program.inputs[names.index(name)])
        if missing := [name for name in names if name not in values]:
            raise ShapeError(
                f"{self.__name__} needs {', '.join(missing)}",
                got=", ".join(values) or "nothing",
                expected=self.signature,
            )
        return [values[name] for name in names]

    def _array(self, port: Port, value: Any) -> np.ndarray:
        where = f"{self.__name__}, input {port.name!r}"
        array = self._from_dict(port, value, where) if isinstance(value, Mapping) else self._numbers(value, where)
        if array.shape[array.ndim - len(port.shape) :] != port.shape or array.ndim < len(port.shape):
            layout = self.label.layouts.get(port.name, Layout())
            names = f" (entries: {layout})" if layout.size else ""
            raise ShapeError(
                "wrong shape", where=where, got=array.shape, expected=f"(..., {', '.join(map(str, port.shape))}){names}"
            )
        return array

    def _numbers(self, value: Any, where: str) -> np.ndarray:
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise ShapeError("this is not a rectangular array", where=where, got=error) from error
        if fix := _fix_of_more_than_numbers(value):
            kind = type(value).__name__
            raise ShapeError("this is more than an array of numbers", where=where, got=kind, expected="array", fix=fix)
        if array.dtype.kind not in "fiub":
            raise ShapeError(
                "this is not an array of real numbers", where=where, got=f"dtype {array.dtype}", expected=self.dtype
            )
        return array.astype(self.dtype, copy=False)

    def _from_dict(self, port: Port, value: Mapping[str, Any], where: str) -> np.ndarray:
        if port.name not in self.label.layouts:
            raise ShapeError("only joint vectors can be given as dicts", where=where)
        return self.label.layouts[port.name].to_array(value, where, self._numbers, kind_of(port.name))

    def _named(self, result: Any) -> Any:
        """Return the results with joint vectors as dicts."""
        ports, layouts = self.program.outputs, self.label.layouts
        arrays = zip(ports, result if len(ports) > 1 else (result,), strict=True)
        outputs = [layouts[port.name].to_dict(array) if port.name in layouts else array for port, array in arrays]
        return self._result(*outputs) if len(ports) > 1 else outputs[0]

    @cached_property
    def _result(self) -> type:
        """Named tuple of several results."""
        return result_type(tuple(port.name for port in self.program.outputs))

    def _call_with_wrenches(self, args, named, wrenches: Any, out: Any, threads: int | str) -> Any:
        if self._with_wrenches is None:
            fix = 'compile it with wrenches=["frame", ...], before it is packed, saved or pickled'
            raise ShapeError(f"this {self.__name__} takes no wrenches", expected=self.signature, fix=fix)
        if not isinstance(wrenches, Mapping):
            raise ShapeError("wrenches are given by frame", got=type(wrenches).__name__, expected="{frame: (..., 6)}")
        function = self._with_wrenches(tuple(wrenches))
        inputs = dict(zip((port.name for port in self.program.inputs), args, strict=False)) | named
        return function(**inputs, wrenches=wrenches, out=out, threads=threads)

    def _rows(self, wrenches: Mapping[str, Any]) -> np.ndarray:
        """Return one row for each frame this function was compiled for."""
        if set(wrenches) != set(self.label.wrenches):
            expected = f"wrenches on {', '.join(self.label.wrenches)}"
            message, got = "wrenches on other frames than it was compiled for", ", ".join(wrenches) or "none"
            raise ShapeError(message, where=self.__name__, got=got, expected=expected)
        rows = {name: self._numbers(wrenches[name], f"wrench on {name!r}") for name in self.label.wrenches}
        for name, row in rows.items():
            if row.shape[-1:] != (6,):
                raise ShapeError("wrong shape", where=f"wrench on {name!r}", got=row.shape, expected="(..., 6)")
        batch = _batch({name: row.shape[:-1] for name, row in rows.items()}, "wrenches")
        return np.stack([np.broadcast_to(row, (*batch, 6)) for row in rows.values()], axis=-2)

    def _evaluate(self, arrays: list[np.ndarray], out: Any, threads: int | str) -> Any:
        ports = self.program.inputs
        call = self._shared(threads)
        batch = _batch(
            {p.name: x.shape[: x.ndim - len(p.shape)] for x, p in zip(arrays, ports, strict=True)}, self.__name__
        )
        outs = self._outputs(out, batch)
        call(*arrays, out=tuple(outs))
        results = outs if out is not None else [x if x.ndim else x[()] for x in outs]
        return self._result(*results) if len(outs) > 1 else results[0]

    def _shared(self, threads: int | str) -> Callable[..., Any]:
        """Return the ufunc that shares a batch among this number of threads."""
        one = self.ufunc
        if isinstance(threads, str) and threads == "auto":
            threads = PROCESSORS
        elif not isinstance(threads, (int, np.integer)) or threads < 1:
            expected = 'a positive whole number, or "auto"'
            raise ShapeError(
                "this is not a number of threads", where=self.__name__, got=repr(threads), expected=expected
            )
        elif threads > PROCESSORS:
            threads = PROCESSORS
        return one if threads == 1 or self._several is None else self._several(threads)

    def _outputs(self, out: Any, batch: tuple[int, ...]) -> list[np.ndarray]:
        ports = self.program.outputs
        if out is None:
            require_memory(prod(batch) * self._state_bytes // 8)
            return self._new_results(batch)
        outs = list(out) if isinstance(out, tuple) else [out]
        if len(outs) != len(ports):
            names = ", ".join(port.name for port in ports)
            expected = f"a tuple of {len(ports)} arrays: {names}" if len(ports) > 1 else f"one array: {names}"
            got = f"{len(outs)} arrays" if isinstance(out, tuple) else type(out).__name__
            raise ShapeError("out does not fit", where=self.__name__, got=got, expected=expected)
        for array, port in zip(outs, ports, strict=True):
            plain = type(array) in PLAIN
            if not plain or array.shape != batch + port.shape or array.dtype != self.dtype:
                got = f"{array.dtype} {array.shape}" if plain else type(array).__name__
                raise ShapeError(
                    "out does not fit", where=self.__name__, got=got, expected=f"{self.dtype} {batch + port.shape}"
                )
            if not array.flags.writeable:
                raise ShapeError("out cannot be written to", where=self.__name__, fix="give an array of your own")
        for (a, first), (b, second) in combinations(zip(outs, ports, strict=True), 2):
            if np.shares_memory(a, b):
                got = f"{first.name} and {second.name} in the same memory"
                raise ShapeError("out does not fit", where=self.__name__, got=got, fix="give each an array of its own")
        return outs

    # -- in stages -----------------------------------------------------------------------------------------------

    def stages(self) -> tuple[Function, Function]:
        """Split the function by when its inputs are known, for numbers that change now and then.

        The first function computes what depends on numbers of the robot alone, as one vector; the second takes this
        vector after the state, and computes the rest. Both together give the bits of the whole.

        Returns:
            The two Functions.

        Raises:
            LinkworkError: No input of the function is a number of the robot.

        Example:
            >>> f = robot.compile("gravity", inputs=["payload:panda_link8"])
            >>> before, after = f.stages()
            >>> load = [1.5, 0, 0, 0.1, 0, 0, 0, 0, 0, 0]
            >>> bool((after(np.ones(7), before(load)) == f(np.ones(7), load)).all())
            True
        """
        self._require_parameters()
        if self._stages is None:
            before, after, tangents = split_stages(self.program, self.tangents)
            parts = self._part(before, "preparation", nominal=self.label.nominal), self._part(after, PREPARED)
            first, second = (
                Function(*part, self.dtype, self.backend, tangents=t)
                for part, t in zip(parts, ({}, tangents), strict=True)
            )
            self._stages = first, second
        return self._stages

    def prepare(self, values: Mapping[str, Any] | None = None, **named: Any) -> Function:
        """Return the function with numbers of the robot fixed, for numbers that stay.

        What depends on them alone is computed now, and built in. A call costs about what it costs without such inputs.

        Args:
            values: Values by name of the input. Default: the robot's own, also for those left out.
            **named: Values by name, too.

        Returns:
            A Function of the other inputs, compiled at its first use.

        Raises:
            LinkworkError: No input of the function is a number of the robot.
            UnknownNameError: There is no such input.
            ShapeError: A value has the wrong shape, or is not finite. A batch of values is for ``stages``.

        Example:
            >>> f = robot.compile("gravity", inputs=["payload:panda_link8", "gravity"])
            >>> g = f.prepare({"payload:panda_link8": [1.5, 0, 0, 0.1, 0, 0, 0, 0, 0, 0]})
            >>> g.signature
            'q(7) -> g(7)'
        """
        self._require_parameters()
        before, after = self.stages()
        values, where = {} if values is None else values, f"{self.__name__}, prepare"
        if not isinstance(values, Mapping):
            fix = f"prepare({{{next(iter(self.label.nominal.values())).name!r}: values}})"
            raise ShapeError("numbers are given by name", where=where, got=type(values).__name__, fix=fix)
        if twice := sorted(named.keys() & values.keys()):
            raise ShapeError(f"input {twice[0]!r} is given twice", where=where)
        arrays = self._one_set({**values, **named}, before)
        numbers = np.asarray(before(*arrays.values()), float).ravel().tolist()
        known = {PREPARED: numbers}
        program = with_known(after.program, known)
        tangents = {name: with_known(each, known) for name, each in after.tangents.items()}
        program, label = self._part(replace(program, name=self.program.name), "")
        loaded = self._with_wrenches
        more = (lambda names: loaded(names).prepare(arrays)) if loaded else None
        return Function(program, label, self.dtype, self.backend, more, tangents)

    @property
    def _parameters(self) -> set[str]:
        """Names of the inputs that are known before the state."""
        return {port.name for port in self.program.inputs if port.stage == PARAMETER}

    def _require_parameters(self) -> None:
        if not self._parameters:
            fix = 'compile it with inputs, such as robot.compile(..., inputs=["gravity"])'
            raise LinkworkError("no input is a number of the robot", where=self.__name__, got=self.signature, fix=fix)

    def _one_set(self, values: Mapping[str, Any], before: Function) -> dict[str, np.ndarray]:
        """Return one array for each input of the first stage."""
        ports = before.program.inputs
        bound = before._bind((), values)
        arrays = {port.name: before._array(port, x) for port, x in zip(ports, bound, strict=True)}
        for port in ports:
            if arrays[port.name].shape != port.shape or not np.isfinite(arrays[port.name]).all():
                where, expected = f"{self.__name__}, prepare, {port.name!r}", f"finite numbers of shape {port.shape}"
                got = f"shape {arrays[port.name].shape}" if arrays[port.name].shape != port.shape else "not finite"
                fix = "for a batch of values use f.stages()"
                raise ShapeError("one set of numbers is prepared", where=where, got=got, expected=expected, fix=fix)
        return arrays

    def _part(self, program: Program, what: str, nominal: Mapping[str, Nominal] = {}) -> tuple[Program, Label]:
        """Return the program of a stage with its metadata."""
        names = {*_names(program.inputs), *_names(program.outputs)}
        label = self.label
        meanings = {name: text for name, text in label.meanings.items() if name in names}
        if PREPARED in names:
            meanings[PREPARED] = f"what depends on {', '.join(sorted(self._parameters))} alone"
        return program, replace(
            label,
            quantity=f"{label.quantity}_{what}" if what else label.quantity,
            layouts={name: layout for name, layout in label.layouts.items() if name in names},
            wrenches=label.wrenches if "wrenches" in names else (),
            nominal=nominal,
            meanings=meanings,
            patterns={name: pattern for name, pattern in label.patterns.items() if name in names},
        )

    # -- keeping -------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the function to a file; ``linkwork.Function.load`` reads it and compiles it for that machine.

        Wrenches on frames for which it was not compiled need the robot.

        Args:
            path: File to write, JSON.

        Example:
            >>> robot.gravity.save("gravity.json")
            >>> linkwork.Function.load("gravity.json")(np.zeros(7)).shape
            (7,)
        """
        write_text(path, json.dumps(document(self)))

    export = export

    def to_c(
        self,
        folder: str | Path,
        *,
        name: str | None = None,
        states: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> list[Path]:
        """Write the function as C99 without allocation, with a test and a CMake file.

        Args:
            folder: Folder to write to; it is created.
            name: Name of the C function. Default: made of robot, quantity and frame.
            states: Inputs of the test by name, (n, ...). Default: random states.
            overwrite: Replace existing files. Default: False.

        Returns:
            The paths of the files.

        Raises:
            LinkworkError: A file exists, or the name is not a name in C.

        Example:
            >>> [path.name for path in robot.gravity.to_c("out")][:2]
            ['panda_gravity.h', 'panda_gravity.c']
        """
        return self.export("c", folder, name=name, states=states, overwrite=overwrite)

    def to_numpy(self, path: str | Path | None = None, *, name: str | None = None, overwrite: bool = False) -> str:
        """Return the function as a Python file that needs only NumPy.

        Args:
            path: File to write. Default: none.
            name: Name of the Python function. Default: made of robot, quantity and frame.
            overwrite: Replace an existing file. Default: False.

        Returns:
            The text of the file.

        Example:
            >>> "def panda_gravity(q):" in robot.gravity.to_numpy()
            True
        """
        (text,) = sources(self, "numpy", name).values()
        if path is not None:
            write_all({Path(path): text}, overwrite)
        return str(text)

    def to_casadi(self, *, name: str | None = None) -> Any:
        """Return a ``casadi.Function`` with the same inputs and outputs by name.

        Args:
            name: Name of the CasADi function. Default: made of robot, quantity and frame.

        Returns:
            The ``casadi.Function``, of SX expressions.

        Raises:
            UnsupportedError: CasADi is not installed (``pip install 'linkwork[casadi]'``).

        Example:
            >>> robot.gravity.to_casadi().name_out()
            ['g']
        """
        return express(self, "casadi", name)

    def to_latex(self) -> str:
        """Return the equations as LaTeX, constants as numbers; ``Robot.symbolic`` has them as symbols.

        Returns:
            The text of an ``align*`` environment.

        Example:
            >>> r"\\begin{align*}" in linkwork.load("planar2r").gravity.to_latex()
            True
        """
        (text,) = sources(self, "latex").values()
        return str(text)

    def symbolic(self) -> SymbolicModel:
        """Return the equations, constants as numbers.

        Returns:
            The SymbolicModel, which prints them as text, LaTeX, Python and sympy.

        Example:
            >>> list(linkwork.load("planar2r").gravity.symbolic().outputs)
            ['g']
        """
        from .symbolic import from_program

        return from_program(self.program, self.label)

    @staticmethod
    def load(path: str | Path) -> Function:
        """Read a function that ``save`` wrote, and compile it for this machine.

        Args:
            path: File to read.

        Returns:
            The Function.

        Raises:
            LinkworkError: This is not a saved function.

        Example:
            >>> robot.gravity.save("gravity.json")
            >>> linkwork.Function.load("gravity.json")(np.zeros(7)).shape
            (7,)
        """
        text = read_text(path, fix="give a file that Function.save wrote")
        try:
            return from_document(parse_json(text))
        except (ValueError, LinkworkError) as error:
            raise LinkworkError(
                f"this is not a saved function: {error}", where=str(path), expected="a file written by Function.save"
            ) from error

    def __reduce__(self):
        return Function, (self.program, self.label, self.dtype, self.backend, None, self.tangents)


def _names(ports: Sequence[Port]) -> list[str]:
    return [port.name for port in ports]


def document(function: Function) -> dict[str, Any]:
    """Return what is saved of a function, as JSON objects; ``metadata.read_document`` reads it."""
    tangents = {name: program.to_json() for name, program in function.tangents.items()}
    parts = {"label": asdict(function.label), "dtype": function.dtype, "backend": function.backend}
    return {"format": FORMAT, **parts, "tangents": tangents, "program": function.program.to_json()}


def from_document(saved: Any) -> Function:
    """Return the function of a ``document``; raise ValueError or LinkworkError if it is anything else."""
    program, label, dtype, backend, tangents = read_document(saved)
    return Function(program, label, dtype, backend, tangents=tangents)


def _help(function: Function) -> str:
    """Return what ``help`` shows for one function: its quantity, inputs and outputs with their units."""
    paragraphs = (title(function), "", *description(function), "", "How to call it: help(linkwork.Function)")
    return wrapped(paragraphs, "", printable)


def _fix_of_more_than_numbers(value: Any) -> str:
    """Return how to convert a value that would lose its meaning as a plain array: masks, labels, units."""
    if isinstance(value, (list, tuple)):
        plain = {*map(type, value)} <= NUMBERS
        return "" if plain else next(filter(None, map(_fix_of_more_than_numbers, value)), "")
    if isinstance(value, TracedArray):
        return "call the quantities of the robot that is the first argument of your function"
    if isinstance(value, np.ma.MaskedArray):
        return "give numbers for what is masked: x.filled(0.0), or leave these states out"
    if hasattr(value, "to_numpy"):  # pandas, polars, xarray
        return "give x.to_numpy(), its columns in the order of the joints"
    return "np.asarray(x)" if isinstance(value, np.ndarray) and type(value) not in PLAIN else ""


def _batch(shapes: Mapping[str, tuple[int, ...]], where: str) -> tuple[int, ...]:
    """Return the common batch axes."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        got = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(
            "the batch axes do not fit together", where=where, got=got, fix="give each the same axes, or none"
        ) from error
