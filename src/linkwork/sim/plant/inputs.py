"""What a user gives to a simulation, checked and sorted: held over each step, or constant for a sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...assembly import numbers
from ...errors import ShapeError
from ...formulations import layouts
from ...model import Model
from ...model.coordinates import Layout, kind_of
from ...options import whole
from .instant import GAIN

Shape = tuple[int, ...]


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
    point: tuple[tuple[Shape, Shape], ...] = ()  # of each part of a reference: as given, and (samples, steps, entries)
    of_motors: bool = False  # is tau given of the motors alone?

    def __post_init__(self):
        if self.steps is not None:
            whole(self.steps, "steps")

    def add(self, name: str, value: Any, shape: Shape, where: str, over_time: bool = False, fix: str = "") -> None:
        """An input with its own ``shape``, with an axis of samples or steps (or both, in this order) before it."""
        array = numbers(value, where)
        samples, steps = self.axes(array.shape, shape, where, over_time, fix)
        self.given[name] = array.shape
        self.put(name, array.reshape(samples, steps, *shape), shape, over_time)

    def put(self, name: str, array: np.ndarray, shape: Shape, over_time: bool) -> None:
        """An input with axes of samples and steps before its own ``shape``, each of which may be 1."""
        samples, steps, *_ = array.shape
        self.shapes[name] = shape
        array = np.ascontiguousarray(array, float).reshape(samples, steps, math.prod(shape))
        if self.steps is None:
            array = array.repeat((self.batch or 1) // samples, axis=0)
        if steps == 1 and not (over_time and self.steps is None):
            self.constants[name] = array[:, 0]
        else:
            self.held[name] = array

    def axes(self, whole: Shape, shape: Shape, where: str, over_time: bool, fix: str = "") -> tuple[int, int]:
        """For how many samples and steps an array of shape ``whole`` has numbers of their own; 1: all share them. An
        axis is known by its place before the own ``shape``, never by its length alone."""
        lead = whole[: max(len(whole) - len(shape), 0)]
        allowed: dict[Shape, tuple[int, int]] = {(): (1, 1)}  # leading axes -> samples, steps
        if self.batch is not None:
            allowed[(self.batch,)] = (self.batch, 1)
        if over_time and self.steps is not None:
            samples = 1 if self.batch is None else self.batch
            allowed[(self.steps,)] = (1, self.steps)
            if self.batch == self.steps > 1:
                del allowed[(self.steps,)]
                if lead == (self.steps,):
                    raise ShapeError(
                        "there are as many samples as steps, so this axis may mean either",
                        where=where,
                        got=whole,
                        fix=f"({', '.join(map(str, ('samples', 'steps', *shape)))}), where samples or steps may be 1",
                    )
            allowed |= {(a, b): (a, b) for a in (1, samples) for b in (1, self.steps)}
        if whole[len(lead) :] != shape or lead not in allowed:
            forms = dict.fromkeys(str((*axes, *shape)) for axes in sorted(allowed, key=len))
            raise ShapeError("wrong shape", where=where, got=whole, expected=" or ".join(forms), fix=fix)
        return allowed[lead]

    def add_gain(self, name: str, value: Any, shapes: Sequence[Shape], where: str) -> None:
        """A gain that has one of these own ``shapes``, or any if there are none.

        Where it may have several, arrays for a batch must have an axis of samples (or 1, for all of them) and one of
        its entries (or 1, for a single number): a vector could mean either, whatever its length.
        """
        array, single = numbers(value, where), len(shapes) == 1
        if single or self.batch is None or not array.ndim:
            own, fix = (
                shapes[0] if single else array.shape,
                f"a default of another shape, {name}=..., in the controller",
            )
            return self.add(GAIN + name, array, own, where, fix=fix)
        if array.ndim == 1 or len(array) not in (1, self.batch):
            raise ShapeError(
                "samples, or entries of the gain? This axis may mean either",
                where=where,
                got=array.shape,
                expected=f"({self.batch}, 1) for one number per sample, (1, n) for one vector that all samples share, "
                f"({self.batch}, n) for a vector per sample",
            )
        own = () if array.shape[1:] == (1,) else array.shape[1:]
        self.add(GAIN + name, array.reshape(own if len(array) == 1 else (len(array), *own)), own, where)
        self.given[GAIN + name] = array.shape


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


def by_name(layout: Layout, values: Mapping[str, Any], where: str, kind: str) -> np.ndarray:
    """A vector (..., n) over samples and steps from values by name, which have these axes in common or none."""
    axes = {name: numbers(value, f"{where}, {name!r}").ndim for name, value in values.items()}
    if len({*axes.values()} - {0}) > 1:
        got = ", ".join(f"{name} {axes} axes" for name, axes in axes.items())
        fix = "(samples, steps) of each that changes, where samples or steps may be 1"
        raise ShapeError("samples, or steps? An axis may mean either", where=where, got=got, fix=fix)
    return layout.to_array(values, where, numbers, kind)


def torques(model: Model, value: Any, where: str) -> np.ndarray:
    """tau (..., n) of all forced joints. Those that no motor drives (a floating base, springs, free joints) may be left
    out, as controllers do."""
    mobility, layout = model.mobility, layouts(model)["tau"]
    size = layout.size
    if isinstance(value, Mapping):
        driven = set(layouts(model)["motors"].names)
        filled = layout.filled(value, [name for name in layout.names if name not in driven])
        return by_name(layout, filled, where, kind_of("tau"))
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
