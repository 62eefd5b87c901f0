"""TracedArray: a NumPy array of graph nodes, so that ordinary NumPy code can be traced.

Operators, indexing, ``@``, stacking, reductions and the functions of ``ELEMENTWISE`` and ``LINEAR_ALGEBRA`` work as on
arrays of numbers. Comparisons give masks of 1 and 0, for ``np.where``. A single entry is a TracedArray of shape ().
What would need the value of an entry (a branch, a conversion to float, sorting) raises TypeError with the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import pi
from typing import Any

import numpy as np

from .. import scalar
from ..scalar import less_equal, linear_algebra, maximum, minimum, where
from .graph import Node

BRANCH = (
    "the value of a traced number is not known while tracing, so it cannot decide a branch: use "
    "np.where(condition, a, b), np.minimum, np.maximum or np.clip"
)


class TracedArray(np.ndarray):
    """An array of graph nodes and plain numbers."""

    def __new__(cls, entries: Any) -> TracedArray:
        array = np.array(entries, dtype=object)
        return np.array(_bare(array), dtype=object).reshape(array.shape).view(cls)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, out: Any = None, **options: Any) -> Any:
        if (
            options.pop("dtype", None) not in (None, object, bool, np.dtype(bool))
            or options.pop("where", True) is not True
        ):
            raise TypeError(f"np.{ufunc.__name__} of traced numbers takes no dtype= or where=")
        name = ufunc.__name__
        if name in ELEMENTWISE:
            ufunc = np.frompyfunc(ELEMENTWISE[name], ufunc.nin, 1)
            if name in IDENTITIES and method == "reduce":
                options.setdefault("initial", IDENTITIES[name])
            if method == "reduce" and not isinstance(options.get("axis", 0), int):
                return _wrapped(_reduced(ufunc, _plain(operands[0]), **options))
        elif name not in ARITHMETIC:
            raise TypeError(f"np.{name} cannot be traced; the functions that can: {', '.join(sorted(ELEMENTWISE))}")
        plain = [_plain(x) for x in operands]
        if out is not None:
            options["out"] = tuple(_plain(x) for x in out)
        with np.errstate(all="ignore"):  # of constants, which may be NaN or infinite
            result = getattr(ufunc, method)(*plain, **options)
        return out[0] if out is not None else _wrapped(result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        handler = FUNCTIONS.get(function)
        if handler is not None:
            return _wrapped(handler(*args, **kwargs))
        if getattr(function, "__module__", "").startswith("numpy.linalg"):
            known = ", ".join(sorted(each.__name__ for each in LINEAR_ALGEBRA))
            raise TypeError(f"np.linalg.{function.__name__} cannot be traced; those that can: {known}")
        return _wrapped(super().__array_function__(function, types, args, kwargs))

    def tolist(self) -> Any:
        """Return nested lists of entries that behave as the array does."""
        return [each.tolist() for each in self] if self.ndim else self

    def item(self, *place: Any) -> Any:
        """Return one entry."""
        flat = self.ravel()
        return flat[place[0]] if len(place) == 1 else self[place] if place else flat[0]

    def nodes(self) -> Any:
        """Return nested lists of graph nodes and plain numbers, or one of them."""
        return _bare(self.view(np.ndarray)).tolist() if self.ndim else self.view(np.ndarray)[()]

    @property
    def flat(self) -> Any:  # type: ignore[override]
        """The entries one after another."""
        return iter(self.ravel())

    def __getitem__(self, place: Any) -> TracedArray:
        if isinstance(place, TracedArray) or (
            isinstance(place, tuple) and any(isinstance(x, TracedArray) for x in place)
        ):
            raise TypeError("a traced number cannot be an index: its value is not known while tracing; use np.where")
        return _wrapped(super().__getitem__(place))

    def __iter__(self) -> Iterator[TracedArray]:
        return (self[k] for k in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        raise TypeError(BRANCH)

    def __bool__(self) -> bool:
        if self.size == 1 and not isinstance(entry := self.ravel()[0].nodes(), Node):
            return bool(entry)
        raise TypeError(BRANCH)

    def __float__(self) -> float:
        if self.size == 1 and not isinstance(entry := self.ravel()[0].nodes(), Node):
            return float(entry)
        raise TypeError(
            "the value of a traced number is not known while tracing: use NumPy's functions instead of math's, and "
            "build arrays with np.stack instead of filling an array of floats"
        )

    __int__ = __index__ = __float__  # type: ignore[assignment]

    # NumPy's single numbers are immutable: += on one rebinds the name. Arrays change in place, as NumPy's do.

    def __iadd__(self, other: Any) -> Any:
        return super().__iadd__(other) if self.ndim else self + other

    def __isub__(self, other: Any) -> Any:
        return super().__isub__(other) if self.ndim else self - other

    def __imul__(self, other: Any) -> Any:
        return super().__imul__(other) if self.ndim else self * other

    def __itruediv__(self, other: Any) -> Any:
        return super().__itruediv__(other) if self.ndim else self / other

    def __ipow__(self, other: Any) -> Any:
        return super().__ipow__(other) if self.ndim else self**other

    def sum(self, *args: Any, **options: Any) -> Any:
        return np.add.reduce(self, *(args or (options.pop("axis", None),)), **options)

    def max(self, axis: Any = None, **options: Any) -> Any:
        return np.maximum.reduce(self, axis=axis, **options)

    def min(self, axis: Any = None, **options: Any) -> Any:
        return np.minimum.reduce(self, axis=axis, **options)

    def var(self, *args: Any, **options: Any) -> Any:
        return np.var(self, *args, **options)

    def std(self, *args: Any, **options: Any) -> Any:
        return np.std(self, *args, **options)

    def clip(self, *limits: Any, **named: Any) -> TracedArray:
        return _wrapped(_clip(self, *limits, **named))

    def __repr__(self) -> str:
        return f"<TracedArray of shape {self.shape}>"

    __str__ = __repr__


def _entry(x: Any) -> Any:
    return x.view(np.ndarray)[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


_bare = np.frompyfunc(_entry, 1, 1)  # what arrays of one entry hold


def nested_nodes(x: Any) -> Any:
    """Return nested lists of graph nodes and numbers from an array of either kind."""
    return x.nodes() if isinstance(x, TracedArray) else np.asarray(x).tolist()


def _plain(x: Any) -> Any:
    if isinstance(x, TracedArray):
        return x.view(np.ndarray)
    if isinstance(x, (list, tuple, Node)) or (isinstance(x, np.ndarray) and x.dtype == object):
        return _bare(np.array(x, dtype=object))
    return x


def _wrapped(result: Any) -> Any:
    if isinstance(result, TracedArray):
        return result
    if isinstance(result, Node) or (isinstance(result, np.ndarray) and result.dtype == object):
        return TracedArray(result)
    if isinstance(result, (tuple, list)):
        return type(result)(map(_wrapped, result)) if type(result) in (tuple, list) else tuple(map(_wrapped, result))
    return result


# -- entry by entry ----------------------------------------------------------------------------------------------------

ARITHMETIC = {"add", "subtract", "multiply", "divide", "negative", "matmul"}
LOG_2 = float(np.log(2))


def _power(x: Any, exponent: Any) -> Any:
    if isinstance(exponent, Node) or exponent % 1:
        if not isinstance(exponent, Node) and exponent % 0.5 == 0:
            return scalar.sqrt(x) ** int(2 * exponent)
        return scalar.exp(exponent * scalar.log(x))
    return x ** int(exponent)


def _equal(a: Any, b: Any) -> Any:
    return less_equal(a, b) * less_equal(b, a)


def _complement(x: Any) -> Any:
    """The sine from the cosine, or the other way round."""
    return scalar.sqrt((1 - x) * (1 + x))


def _cosh(x: Any) -> Any:
    power = scalar.exp(x)
    return 0.5 * (power + 1 / power)


def _log1p(x: Any) -> Any:
    """log(1 + x) to full precision near 0, and its derivatives of all orders: what 1 + x lost by rounding is added.

    The choice, which is always the first but for NaN, keeps sums from being written in another order.
    """
    total, near = 1 + x, scalar.less(scalar.absolute(x), 1)
    lost = x - where(less_equal(total, total), total - 1, 0)
    return where(near, scalar.log(total) + lost / where(near, total, 1), scalar.log(total))


def _arctanh(x: Any) -> Any:
    return 0.5 * (_log1p(x) - _log1p(-x))


def _arcsinh(x: Any) -> Any:
    """By the inverse hyperbolic tangent near 0, where it is smooth, else by the logarithm, which does not overflow."""
    size = scalar.absolute(x)
    small, large = scalar.less(size, 1), scalar.less(1e8, size)
    near = where(small, x, 0)
    far = where(large, 1, size)
    logarithm = where(large, scalar.log(size) + LOG_2, scalar.log(far + scalar.sqrt(1 + far * far)))
    return where(small, _arctanh(near / scalar.sqrt(1 + near * near)), scalar.sign(x) * logarithm)


def _not(x: Any) -> Any:
    return 1 - _truth(x)


def _truth(x: Any) -> Any:
    """1 where x is not zero, else 0."""
    return x if isinstance(x, (bool, int)) and x in (0, 1) else where(x, 1, 0)


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "absolute": scalar.absolute,
    "arccos": lambda x: scalar.atan2(_complement(x), x),
    "arccosh": lambda x: _log1p(x - 1 + scalar.sqrt(x - 1) * scalar.sqrt(x + 1)),
    "arcsin": lambda x: scalar.atan2(x, _complement(x)),
    "arcsinh": _arcsinh,
    "arctan": lambda x: scalar.atan2(x, 1.0),
    "arctan2": scalar.atan2,
    "arctanh": _arctanh,
    "bitwise_and": lambda a, b: _truth(a) * _truth(b),
    "bitwise_or": lambda a, b: maximum(_truth(a), _truth(b)),
    "cos": scalar.cos,
    "cosh": _cosh,
    "deg2rad": lambda x: x * (pi / 180),
    "degrees": lambda x: x * (180 / pi),
    "equal": _equal,
    "exp": scalar.exp,
    "exp2": lambda x: scalar.exp(x * float(np.log(2))),
    "expm1": lambda x: scalar.tanh(0.5 * x) * (scalar.exp(x) + 1),
    "fabs": scalar.absolute,
    "float_power": _power,
    "greater": lambda a, b: scalar.less(b, a),
    "greater_equal": lambda a, b: less_equal(b, a),
    "heaviside": lambda x, at_zero: where(scalar.less(x, 0), 0, where(_equal(x, 0), at_zero, scalar.sign(x))),
    "isfinite": lambda x: scalar.less(scalar.absolute(x), np.inf),
    "hypot": lambda a, b: scalar.sqrt(a * a + b * b),
    "invert": _not,
    "isnan": lambda x: 1 - less_equal(x, x),
    "less": scalar.less,
    "less_equal": less_equal,
    "log": scalar.log,
    "positive": lambda x: x,
    "log10": lambda x: scalar.log(x) * (1 / float(np.log(10))),
    "log1p": _log1p,
    "log2": lambda x: scalar.log(x) * (1 / float(np.log(2))),
    "logical_and": lambda a, b: _truth(a) * _truth(b),
    "logical_not": _not,
    "logical_or": lambda a, b: maximum(_truth(a), _truth(b)),
    "maximum": maximum,
    "minimum": minimum,
    "not_equal": lambda a, b: 1 - _equal(a, b),
    "power": _power,
    "rad2deg": lambda x: x * (180 / pi),
    "radians": lambda x: x * (pi / 180),
    "reciprocal": lambda x: 1 / x,
    "sign": scalar.sign,
    "sin": scalar.sin,
    "sinh": lambda x: scalar.tanh(x) * _cosh(x),
    "sqrt": scalar.sqrt,
    "square": lambda x: x * x,
    "tan": lambda x: scalar.sin(x) / scalar.cos(x),
    "tanh": scalar.tanh,
}
IDENTITIES = {"logical_and": 1, "logical_or": 0, "bitwise_and": 1, "bitwise_or": 0}  # of reductions


# -- functions of whole arrays -----------------------------------------------------------------------------------------


def _reduced(ufunc: np.ufunc, array: Any, axis: Any, keepdims: bool = False, **options: Any) -> Any:
    """Reduce along several axes, one after the other: NumPy does not know that any order is right."""
    axes = tuple(range(array.ndim)) if axis is None else axis
    for each in axes:
        array = ufunc.reduce(array, axis=each, keepdims=True, **options)
    return array if keepdims else array.squeeze(axes)


def _variance(x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    squares = (x - np.mean(x, axis=axis, keepdims=True)) ** 2
    total = np.sum(squares, axis=axis, keepdims=keepdims)
    return total / (np.size(x) / np.size(total) - ddof)


def _where(condition: Any, *choices: Any) -> Any:
    if len(choices) != 2:
        raise TypeError("np.where of traced numbers takes a condition and two choices: np.where(condition, a, b)")
    with np.errstate(all="ignore"):
        return np.frompyfunc(where, 3, 1)(*map(_plain, (condition, *choices)))


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is not None:
        x = np.maximum(x, low)
    return np.minimum(x, high) if high is not None else x


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is None or (ord == 2 and (np.ndim(x) == 1 or isinstance(axis, int))) or ord == "fro":
        return np.sqrt(np.sum(np.asanyarray(x) ** 2, axis=axis, keepdims=keepdims))
    if ord in (1, np.inf) and (np.ndim(x) == 1 or isinstance(axis, int)):
        return (np.sum if ord == 1 else np.max)(np.abs(x), axis=axis, keepdims=keepdims)
    raise TypeError(f"np.linalg.norm of traced numbers has no ord={ord!r}; use the default, 1, 2 or np.inf of vectors")


def _of_matrix(function: Callable[..., Any], square: bool = True) -> Callable[..., Any]:
    """A function of a matrix as nested lists, made one of an array."""

    def applied(A: Any, *others: Any) -> Any:
        shape = np.shape(A)
        if len(shape) != 2 or 0 in shape or (square and shape[0] != shape[1]):
            kind = "one square matrix" if square else "one matrix"
            raise TypeError(f"this function of traced numbers takes {kind}, not an array of shape {shape}")
        result = function(*(TracedArray(x).nodes() for x in (A, *others)))
        return tuple(map(TracedArray, result)) if isinstance(result, tuple) else TracedArray(result)

    return applied


def _solve(A: Any, b: Any) -> Any:
    if np.ndim(b) not in (1, 2) or np.shape(b)[0] != len(A):
        raise TypeError(f"np.linalg.solve: shapes {np.shape(A)} and {np.shape(b)} do not fit together")
    solve = _of_matrix(linear_algebra.solve)
    return solve(A, b) if np.ndim(b) == 1 else np.stack([solve(A, column) for column in TracedArray(b).T], axis=1)


def _qr(A: Any) -> Any:
    if np.ndim(A) == 2 and np.shape(A)[0] < np.shape(A)[1]:
        raise TypeError(f"np.linalg.qr of traced numbers takes no more columns than rows, not shape {np.shape(A)}")
    return _of_matrix(linear_algebra.qr, square=False)(A)


def _refused(function: Any) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise TypeError(f"np.{function.__name__} cannot be traced: {BRANCH}")

    return refuse


LINEAR_ALGEBRA = {
    np.linalg.norm: _norm,
    np.linalg.solve: _solve,
    np.linalg.inv: _of_matrix(linear_algebra.inverse),
    np.linalg.pinv: lambda A: _of_matrix(linear_algebra.pseudo_inverse, square=False)(A),
    np.linalg.qr: _qr,
    np.linalg.cholesky: _of_matrix(linear_algebra.cholesky),
    np.linalg.det: _of_matrix(linear_algebra.determinant),
}
LINEAR_ALGEBRA |= {  # from NumPy 2 on
    getattr(np.linalg, name): getattr(np, name) for name in ("cross", "outer", "trace") if hasattr(np.linalg, name)
}
REFUSED = (  # they would compare nodes, not numbers
    np.array_equal, np.array_equiv, np.isin, np.nan_to_num, np.trim_zeros, np.unique, np.count_nonzero, np.nonzero,
    np.polymul, np.polyadd, np.polydiv, np.roots, np.intersect1d, np.union1d, np.setdiff1d, np.argwhere, np.flatnonzero,
)  # fmt: skip
FUNCTIONS: dict[Any, Callable[..., Any]] = {np.where: _where, np.clip: _clip, **LINEAR_ALGEBRA}
FUNCTIONS |= {np.var: _variance, np.std: lambda *args, **named: np.sqrt(_variance(*args, **named))}
FUNCTIONS |= {np.vdot: lambda a, b: np.dot(np.ravel(a), np.ravel(b))}
FUNCTIONS |= {function: _refused(function) for function in REFUSED}
