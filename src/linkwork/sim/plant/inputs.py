"""Inputs of a simulation, checked and sorted: held over each step, or constant for a sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...assembly import finite_array
from ...errors import ShapeError
from ...formulations import layouts
from ...model import Model
from ...model.coordinates import Layout, kind_of
from ...options import whole
from .instant import GAIN

Shape = tuple[int, ...]


@dataclass
class Inputs:
    """Arrays by name: ``held`` (samples or 1, steps, size) and ``constants`` (samples or 1, size).

    Without ``steps``, for a stepper, the arrays are copies with a row for each sample, and an input that may change
    over time is held: one row, which can be written between steps.

    Attributes:
        batch: Number of samples; None for a single motion.
        steps: Number of steps; None for a stepper.
        shapes: Shape of each input without axes of samples and steps.
        full_shapes: Shape of each input as the user passed it.
        reference_shapes: Of each part of a reference, its shape as passed and with axes (samples, steps, entries).
        motors_only: Whether the user passed tau of the motors alone.
    """

    batch: int | None
    steps: int | None
    held: dict[str, np.ndarray] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    full_shapes: dict[str, Shape] = field(default_factory=dict)
    reference_shapes: tuple[tuple[Shape, Shape], ...] = ()
    motors_only: bool = False

    def __post_init__(self):
        if self.steps is not None:
            whole(self.steps, "steps")

    def add(self, name: str, value: Any, shape: Shape, where: str, over_time: bool = False, **how: Any) -> None:
        """Add an input of a ``shape``, which axes of samples, steps or both (in this order) may precede."""
        array = finite_array(value, where)
        samples, steps = self.axes(array.shape, shape, where, over_time, **how)
        self.full_shapes[name] = array.shape
        self.put(name, array.reshape(samples, steps, *shape), shape, over_time)

    def put(self, name: str, array: np.ndarray, shape: Shape, over_time: bool) -> None:
        """Add an array (samples or 1, steps or 1, *shape)."""
        samples, steps, *_ = array.shape
        self.shapes[name] = shape
        array = np.ascontiguousarray(array, float).reshape(samples, steps, math.prod(shape))
        if self.steps is None:
            array = array.repeat((self.batch or 1) // samples, axis=0)
        if steps == 1 and not (over_time and self.steps is None):
            self.constants[name] = array[:, 0]
        else:
            self.held[name] = array

    def axes(
        self, full: Shape, shape: Shape, where: str, over_time: bool, fix: str = "", steps_alone: bool = True
    ) -> tuple[int, int]:
        """Return the numbers of samples and steps of an array of shape ``full``; 1 where all share the values.

        The place of an axis before ``shape`` decides what it means, never its length alone. Without ``steps_alone``,
        one axis of a batch is that of samples.
        """
        lead = full[: max(len(full) - len(shape), 0)]
        allowed: dict[Shape, tuple[int, int]] = {(): (1, 1)}  # leading axes -> samples, steps
        if self.batch is not None:
            allowed[(self.batch,)] = (self.batch, 1)
        if over_time and self.steps is not None:
            alone = self.batch is None or steps_alone
            if alone and self.batch == self.steps > 1:
                if lead == (self.steps,):
                    raise ShapeError(
                        "the numbers of samples and steps are equal, so this axis is ambiguous",
                        where=where,
                        got=full,
                        fix=f"({', '.join(map(str, ('samples', 'steps', *shape)))}), where samples or steps may be 1",
                    )
                del allowed[(self.steps,)]
            elif alone:
                allowed[(self.steps,)] = (1, self.steps)
            allowed |= {(a, b): (a, b) for a in (1, self.batch or 1) for b in (1, self.steps)}
        if full[len(lead) :] != shape or lead not in allowed:
            forms = dict.fromkeys(str((*axes, *shape)) for axes in sorted(allowed, key=len))
            raise ShapeError("wrong shape", where=where, got=full, expected=" or ".join(forms), fix=fix)
        return allowed[lead]

    @property
    def constant_arrays(self) -> dict[str, np.ndarray]:
        """The constants in their shapes, (samples or 1, ...), by name."""
        return {name: rows.reshape(-1, *self.shapes[name]) for name, rows in self.constants.items()}

    def add_gain(self, name: str, value: Any, shapes: Sequence[Shape], where: str) -> None:
        """Add a gain that has one of these ``shapes``, or any shape if there are none.

        An axis of samples may precede in a batch, an axis of steps in one motion, both in a batch. If several shapes
        are possible, such arrays need an axis of entries (or 1, for a single number): a vector could mean either,
        whatever its length. If any shape is possible, there is no axis of steps, which could be one of the gain.
        """
        rows = array = finite_array(value, where)
        over_time, fix = bool(shapes) and self.steps is not None, ""
        if len(shapes) == 1:
            shape, fix = shapes[0], f"give {name} a default of another shape in the controller, {name}=..."
        elif not array.ndim or (self.batch is None and not (over_time and array.ndim == 2)):
            shape = array.shape
        elif self.batch is not None and (array.ndim == 1 or len(array) not in (1, self.batch)):
            raise ShapeError(
                "the first axis may mean samples or entries of the gain",
                where=where,
                got=array.shape,
                expected=f"({self.batch}, 1) for one number per sample, (1, n) for one vector that all samples share, "
                f"({self.batch}, n) for a vector per sample",
            )
        else:
            axes = 2 if over_time and array.ndim == 3 else 1
            lead, shape = array.shape[:axes], array.shape[axes:]
            shape = () if shape == (1,) else shape
            rows = array.reshape((*(() if lead == (1,) else lead), *shape))
            fix = "the last axis is that of entries, 1 for one number: (steps, 1); (samples, steps, n) in a batch"
        self.add(GAIN + name, rows, shape, where, over_time, fix=fix, steps_alone=False)
        self.full_shapes[GAIN + name] = array.shape


def vector(model: Model, kind: str, value: Any, where: str) -> np.ndarray:
    """Return a joint vector (n,) or (samples, n) from an array or a dict by joint."""
    layout = layouts(model)[kind]
    size = layout.size
    if isinstance(value, Mapping):
        value = layout.to_array(value, where, finite_array)
    array = finite_array(value, where)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        expected = f"({size},) or (samples, {size}): {layout}"
        raise ShapeError("wrong shape", where=where, got=array.shape, expected=expected)
    return array


def by_name(layout: Layout, values: Mapping[str, Any], where: str, kind: str) -> np.ndarray:
    """Return a vector (..., n) from values by name, which share axes of samples and steps or have none."""
    axes = {name: finite_array(value, f"{where}, {name!r}").ndim for name, value in values.items()}
    if len({*axes.values()} - {0}) > 1:
        got = ", ".join(f"{name} {count} axes" for name, count in axes.items())
        fix = "(samples, steps) of each that changes, where samples or steps may be 1"
        raise ShapeError("an axis may mean samples or steps", where=where, got=got, fix=fix)
    return layout.to_array(values, where, finite_array, kind)


def torques(model: Model, value: Any, where: str) -> np.ndarray:
    """Return tau (..., n) of all joints on which forces can act.

    Joints without a motor (a floating base, springs, free joints) may be left out; zeros are filled in.
    """
    layout = layouts(model)["tau"]
    if isinstance(value, Mapping):
        driven = set(layouts(model)["motors"].names)
        filled = layout.filled(value, [name for name in layout.names if name not in driven])
        return by_name(layout, filled, where, kind_of("tau"))
    array = finite_array(value, where)
    if array.ndim == 0 or array.shape[-1] != len(model.mobility.motors) or array.shape[-1] == layout.size:
        return array
    full = np.zeros((*array.shape[:-1], layout.size))
    full[..., motor_indices(model)] = array
    return full


def motor_indices(model: Model) -> list[int]:
    """Return the indices of the motors in tau."""
    return [model.mobility.forced.index(k) for k in model.mobility.motors]


def is_law(value: Any) -> bool:
    """Return whether a value is a function or a controller, not numbers."""
    return callable(value) or hasattr(value, "for_model")
