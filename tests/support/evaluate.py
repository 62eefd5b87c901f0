"""Quantities straight from the formulations, on floats, complex numbers or batches; complex-step derivatives."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from linkwork.errors import UnsupportedError
from linkwork.formulations import Problem, find_method, methods

STEP = 1e-30  # of a complex-step derivative: no differences are taken, so it can be as small as one likes


def evaluate(
    model, quantity: str, *inputs, method: str = "", frame: str = "", axes: str = "world", wrenches: Mapping = {}
) -> Any:
    """The quantity at inputs of shape (..., n), an array or, if it has several outputs, a tuple of them. ``method``
    defaults to the first in the catalog that works for the robot."""
    if not method and methods(quantity):
        method = next(m.name for m in methods(quantity) if not m.refusal(model, bool(wrenches)))
    chosen = find_method(quantity, method, model, wrenches=bool(wrenches)) if method else None
    problem = Problem(model, quantity, chosen, frame or None, axes, tuple(wrenches), parameters="standard")
    shapes = list(problem.inputs.values())[: len(inputs)]
    arguments: list[Any] = [scalars(x) if shape else np.asarray(x)[()] for x, shape in zip(inputs, shapes, strict=True)]
    if "commands" in problem.inputs and len(inputs) < len(problem.definition.inputs):
        arguments.append([0] * model.commands.size)
    if wrenches:
        arguments.append([scalars(w) for w in wrenches.values()])
    batch = np.broadcast_shapes(
        *(np.shape(x)[: np.ndim(x) - len(shape)] for x, shape in zip(inputs, shapes, strict=True))
    )
    found = {name: gathered(part, batch) for name, part in problem.evaluate(*arguments).items()}
    results: tuple[Any, ...] = tuple(
        part.reshape((*batch, *problem.outputs[name])) for name, part in found.items()
    )  # if without entries
    return results if len(results) > 1 else results[0]


def is_refused(model, quantity: str, method: str, wrenches: bool = False) -> bool:
    """Does the catalog say that the method does not work for this robot? Then asking for it must raise."""
    if not any(m.refusal(model, wrenches) for m in methods(quantity) if m.name == method):
        return False
    with pytest.raises(UnsupportedError, match=r"cannot be used for robot 'random': it .*\n  fix: use one of: \w"):
        find_method(quantity, method, model, wrenches=wrenches)
    return True


def scalars(x: Any) -> list:
    """The entries of a vector; arrays over the batch axes if there are any."""
    x = np.asarray(x)
    return x.tolist() if x.ndim == 1 else [x[..., k] for k in range(x.shape[-1])]


def gathered(result: Any, batch: tuple[int, ...] = ()) -> np.ndarray:
    """An array with batch axes first from nested lists of scalars, some of which may not depend on the batch."""
    shape, leaves = (), [result]
    while leaves and isinstance(leaves[0], (list, tuple)):
        shape += (len(leaves[0]),)
        leaves = [leaf for part in leaves for leaf in part]
    stacked = np.stack([np.broadcast_to(leaf, batch) for leaf in leaves], axis=-1) if leaves else np.zeros((*batch, 0))
    return stacked.reshape((*batch, *shape))


def derivative(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Of ``function`` at ``x`` along ``direction``, exact to rounding; several directions are rows."""
    return function(x + 1j * STEP * direction).imag / STEP


def rates(model, q: np.ndarray) -> np.ndarray:
    """The matrix (nq, nv) that takes v to the rate of q. The base's v is in its own axes, its q in the world's."""
    if model.nq == model.nv:
        return np.eye(model.nv)
    x, y, z, w = q[3:7]
    rate = np.zeros((model.nq, model.nv))
    rate[:3, :3] = rotation_of(q[3:7])
    rate[3:7, 3:6] = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
    rate[7:, 6:] = np.eye(model.nv - 6)
    return rate


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """Of a quaternion x, y, z, w of any length."""
    *u, w = quaternion / np.linalg.norm(quaternion)
    return np.eye(3) + 2 * w * cross_matrix(u) + 2 * cross_matrix(u) @ cross_matrix(u)


def cross_matrix(u) -> np.ndarray:
    x, y, z = u
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def deviation(actual, expected, scale: float = 0.0) -> float:
    """Largest difference, relative to the largest entry expected (or to ``scale``, if that is larger)."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape or not (actual.size or expected.size)
    if not actual.size:
        return 0.0
    difference = np.abs(actual - expected).max()
    return 0.0 if difference == 0 else float(difference / max(np.abs(expected).max(), scale))


def assert_close(actual, expected, *, scale: float = 0.0, tolerance: float = 1e-12) -> None:
    off = deviation(actual, expected, scale)
    assert off <= tolerance, f"relative deviation {off:.1e}\n{actual}\nexpected\n{expected}"
