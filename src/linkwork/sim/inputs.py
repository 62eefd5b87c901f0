"""What a user gives to a simulation, checked and sorted: held over each step, or constant for a sample."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..assembly import numbers
from ..errors import ShapeError, UnknownNameError
from ..formulations import layouts
from ..model import Model

Shape = tuple[int, ...]
SMALLEST = 1e-100
MOST = 2**62  # native code counts in 64 bits


@dataclass
class Inputs:
    """Arrays by name: ``held`` (samples or 1, steps, size), ``constants`` (samples or 1, size).

    Without ``steps``, for a stepper, they are not the caller's, each sample has its own, and what may change over time
    is held, as one row that can be written between steps.
    """

    batch: int | None  # samples, None: a single motion
    steps: int | None
    held: dict[str, np.ndarray] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    given: dict[str, Shape] = field(default_factory=dict)  # with the leading axes, as they were given
    point: tuple[Shape, ...] = ()  # of the parts of a reference, if it was given as one
    of_motors: bool = False  # is tau given of the motors alone?

    def __post_init__(self):
        if self.steps is not None:
            whole(self.steps, "steps")

    def add(self, name: str, value: Any, shape: Shape, where: str, over_time: bool = False) -> None:
        """An input with its own ``shape``, with an axis of samples or steps (or both, in this order) before it."""
        array = numbers(value, where)
        lead = array.shape[: array.ndim - len(shape)]
        core = ", ".join(map(str, shape))
        allowed: dict[Shape, Shape] = {(): (1, 1)}  # leading axes -> samples, steps
        if self.batch is not None:
            allowed[(self.batch,)] = (self.batch, 1)
        if over_time and self.steps is not None:
            samples = 1 if self.batch is None else self.batch
            if self.batch == self.steps > 1 and lead == (self.steps,):
                raise ShapeError(
                    "there are as many samples as steps, so this axis may mean either",
                    where=where,
                    got=array.shape,
                    fix=f"(samples, steps, {core}), where samples or steps may be 1",
                )
            allowed[(self.steps,)] = (1, self.steps)
            allowed |= {(a, b): (a, b) for a in (1, samples) for b in (1, self.steps)}
        if array.shape[array.ndim - len(shape) :] != shape or lead not in allowed:
            forms = [str((*axes, *shape)) for axes in sorted(allowed, key=len)]
            raise ShapeError("wrong shape", where=where, got=array.shape, expected=" or ".join(dict.fromkeys(forms)))
        samples, steps = allowed[lead]
        array = np.ascontiguousarray(array, float).reshape(samples, steps, math.prod(shape))
        self.shapes[name], self.given[name] = shape, (*lead, *shape)
        if self.steps is None:
            array = array.repeat((self.batch or 1) // samples, axis=0)
        if steps == 1 and not (over_time and self.steps is None):
            self.constants[name] = array[:, 0]
        else:
            self.held[name] = array


def vector(model: Model, kind: str, value: Any, where: str) -> np.ndarray:
    """A joint vector (..., n), given as an array or as a dict by joint."""
    layout = layouts(model)[kind]
    size = layout.size
    if isinstance(value, Mapping):
        value = layout.to_array(value, where, numbers)
    array = numbers(value, where)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise ShapeError(
            "wrong shape",
            where=where,
            got=array.shape,
            expected=f"({size},) or (samples, {size}): {layout}",
        )
    return array


def torques(model: Model, value: Any, where: str) -> np.ndarray:
    """tau (..., n) of all forced joints. Those that no motor drives (a floating base, springs, free joints) may be left
    out, as controllers do."""
    mobility, layout = model.mobility, layouts(model)["tau"]
    size = layout.size
    if isinstance(value, Mapping):
        driven = set(layouts(model)["motors"].names)
        return vector(model, "tau", layout.filled(value, [name for name in layout.names if name not in driven]), where)
    array = numbers(value, where)
    if array.ndim == 0 or array.shape[-1] != len(mobility.motors) or array.shape[-1] == size:
        return array
    full = np.zeros((*array.shape[:-1], size))
    full[..., of_motors(model)] = array
    return full


def of_motors(model: Model) -> list[int]:
    """Where they stand in tau."""
    return [model.mobility.forced.index(k) for k in model.mobility.motors]


def is_law(value: Any) -> bool:
    """Is it a function or a controller, not numbers?"""
    return callable(value) or hasattr(value, "for_model")


def one_of_names(kind: str, name: Any, known: Collection[str], where: str = "") -> str:
    """The name; what is none, or none of these, is refused."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(kind, name, known, where=where)
    return name


def positive(value: Any, where: str) -> float:
    """A number of which also the square and the reciprocal are numbers."""
    if _is_number(value, int | float | np.integer | np.floating) and SMALLEST <= value <= 1 / SMALLEST:
        return float(value)
    expected = f"a positive number, {SMALLEST:g} to {1 / SMALLEST:g}"
    raise ShapeError("out of range", where=where, got=value, expected=expected)


def whole(value: Any, where: str, least: int = 1) -> int:
    if _is_number(value, int | np.integer) and least <= value <= MOST:
        return int(value)
    raise ShapeError(
        "out of range", where=where, got=value, expected=f"a whole number, {least} or more, up to {MOST:,}"
    )


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)
