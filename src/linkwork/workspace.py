"""Workspace: a Model with its compiled functions and caches, on which sim, identify and control work."""

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
    """A dict that forgets its oldest entry when it has MOST entries and gets another."""

    def __setitem__(self, key: K, value: V) -> None:
        if key not in self and len(self) >= MOST:
            del self[next(iter(self))]
        super().__setitem__(key, value)


class Workspace:
    """A Model with its Functions, each compiled at its first use, and values that other modules derive from it."""

    def __init__(self, model: Model):
        self.model = model
        self._functions: dict[tuple[Any, ...], Function] = {}
        self._assemblers: dict[tuple[str, ...] | None, Assembler] = {}
        self._derived: dict[Callable[..., Any], Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model,)

    def with_model(self: W, model: Model) -> W:
        """Return a workspace of the same class for another model; it shares nothing with this one.

        Args:
            model: The other model.

        Returns:
            The workspace.

        Example:
            >>> robot.with_model(robot.model).nv
            7
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
    ) -> Function:
        """Return the compiled function of a quantity, compiled at the first call and kept.

        Args:
            quantity: Its name.
            frame: Frame of a quantity that has one. Default: none.
            axes: "world" (default) or "local".
            parameters: As in ``linkwork.compile``. Default: "minimal".
            drives: As in ``linkwork.compile``, for a regressor. Default: None.

        Returns:
            The Function.

        Example:
            >>> robot.compiled("gravity") is robot.gravity
            True
        """
        drives = drives if drives is None or isinstance(drives, (bool, str)) else tuple(drives)
        key = quantity, frame, axes, parameters, drives
        if key not in self._functions:
            options: dict[str, Any] = {"frame": frame, "axes": axes, "parameters": parameters, "drives": drives}
            self._functions[key] = compile(self.model, quantity, **options)
        return self._functions[key]

    def assembler(self, known: str | Sequence[str] | None = None) -> Assembler:
        """Return the solver that closes the loops from the positions of some joints.

        Args:
            known: Names of these joints. Default: the independent ones.

        Returns:
            The Assembler.

        Example:
            >>> solver = linkwork.load("four-bar").assembler()
        """
        key = None if known is None else names_of(known, "assemble, known")
        if key not in self._assemblers:
            self._assemblers[key] = Assembler(self.model, key)
        return self._assemblers[key]

    def derived(self, make: Callable[[Workspace], T]) -> T:
        """Return ``make(self)``, computed at the first call with this function and kept.

        A module that needs a cache has a function that makes an empty ``Cache``.

        Args:
            make: Function of the workspace.

        Returns:
            Its result.

        Example:
            >>> robot.derived(lambda workspace: workspace.model.nv)
            7
        """
        if make not in self._derived:
            self._derived[make] = make(self)
        return self._derived[make]
