"""Workspace: a Model with its compiled functions and caches, which sim, identify and control use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .assembly import Assembler
from .compose import compile
from .errors import names_of
from .function import Function
from .model import Model

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
W = TypeVar("W", bound="Workspace")
MOST = 64  # entries of a cache


class Cache(dict[K, V]):
    """A dict that removes its oldest entry when it has MOST entries and gets another."""

    def __setitem__(self, key: K, value: V) -> None:
        if key not in self and len(self) >= MOST:
            del self[next(iter(self))]
        super().__setitem__(key, value)


class Workspace:
    """A Model with its compiled Functions, and a cache for what is derived from the model."""

    def __init__(self, model: Model):
        self.model = model
        self._functions: dict[tuple[Any, ...], Function] = {}
        self._assemblers: dict[tuple[str, ...] | None, Assembler] = {}
        self._derived: dict[Callable[..., Any], Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model,)

    def with_model(self: W, model: Model) -> W:
        """Return an object of the same class for another model; it shares nothing with this one.

        Args:
            model: The other Model.

        Returns:
            A Robot, or Workspace, of that model.

        Example:
            >>> robot.with_model(linkwork.load("planar2r").model).nv
            2
        """
        return type(self)(model)

    def compiled(
        self,
        quantity: str,
        *,
        frame: str | None = None,
        axes: str = "world",
        parameters: str = "minimal",
        drives: bool | Sequence[str] | None = None,
        inputs: Sequence[str] = (),
    ) -> Function:
        """Return the compiled function of a quantity, from a cache.

        Args:
            quantity: Name of the quantity.
            frame: Frame of poses and Jacobians; required there.
            axes: Axes of Jacobians: "world" or "local".
            parameters: Inertial parameters: "minimal" or "standard", as for ``compile``.
            drives: Drive parameters of the regressor, as for ``compile``.
            inputs: Names of numbers of the robot that are inputs, as for ``compile``.

        Returns:
            The Function; the same object for the same options.

        Raises:
            UnknownNameError: There is no such quantity or frame.

        Example:
            >>> robot.compiled("pose", frame="panda_link8")(np.zeros(7)).shape
            (4, 4)
        """
        drives = drives if drives is None or isinstance(drives, (bool, str)) else tuple(drives)
        key = quantity, frame, axes, parameters, drives, tuple(inputs)
        if key not in self._functions:
            options: dict[str, Any] = {"frame": frame, "axes": axes, "parameters": parameters, "drives": drives}
            self._functions[key] = compile(self.model, quantity, inputs=inputs, **options)
        return self._functions[key]

    def assembler(self, known: str | Sequence[str] | None = None) -> Assembler:
        """Return the solver that ``assemble`` uses for the positions of all joints, from a cache.

        Args:
            known: Names of the joints whose positions are given. Default: the independent ones.

        Returns:
            The Assembler.

        Raises:
            UnknownNameError: There is no such joint.

        Example:
            >>> linkwork.load("four-bar").assembler()([0.5]).q.shape
            (3,)
        """
        key = None if known is None else names_of(known, "assemble, known")
        if key not in self._assemblers:
            self._assemblers[key] = Assembler(self.model, key)
        return self._assemblers[key]

    def derived(self, make: Callable[[Workspace], T]) -> T:
        """Return ``make(self)``, computed at the first call and cached.

        A module that needs a cache of its own passes a function that makes an empty ``Cache``.

        Args:
            make: Function of this robot; it is the key of the cache.

        Returns:
            The cached result.

        Example:
            >>> robot.derived(lambda robot: robot.model.nv)
            7
        """
        if make not in self._derived:
            self._derived[make] = make(self)
        return self._derived[make]
