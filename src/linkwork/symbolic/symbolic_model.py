"""SymbolicModel: named equations of a quantity, and the languages they can be read in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..function import Label
from ..program import Operations
from ..quoting import printable
from ..targets import find
from .expressions import Equation


@dataclass(frozen=True, eq=False)
class SymbolicModel:
    """``inputs``, ``outputs``: names of the entries of each, in its shape. ``values``: the number behind every symbol
    that is no input. ``equations`` can be computed from top to bottom; those that are not ``on_line`` depend on the
    symbols of ``values`` alone."""

    label: Label
    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]
    values: Mapping[str, float]
    equations: tuple[Equation, ...]
    operations: Operations
    off_line_operations: Operations

    @property
    def title(self) -> str:
        """What it is, in a line."""
        label = self.label
        return " ".join(
            part
            for part in (
                f"{label.robot}: {label.quantity}",
                f"of {label.frame}" if label.frame else "",
                f"in {label.axes} axes" if label.axes else "",
                f"by {label.method}" if label.method else "",
            )
            if part
        )

    def __repr__(self) -> str:
        return f"<linkwork SymbolicModel {printable(self.title)}: {len(self.equations)} equations>"

    def __str__(self) -> str:
        return self.text()

    def _repr_latex_(self) -> str:
        return self.latex()

    def text(self) -> str:
        """Lines ``name = expression``, what depends on constants alone first, outputs last."""
        from .text import text

        return text(self)

    def latex(self) -> str:
        """An ``align*`` of all equations."""
        from .latex import latex

        return latex(self)

    def python(self) -> str:
        """Source of a Python function of the inputs and a dict of the constants; it needs NumPy alone."""
        from .python import python

        return python(self)

    def sympy(self, *, numbers: bool = False) -> dict[str, Any]:
        """Return each output in the symbols of inputs and constants, all steps put in: ``{"M": Matrix([[...], ...])}``.

        A vector is a Matrix of one column, a scalar an expression, what has more axes an Array. ``numbers`` puts the
        values of the constants in, too. Needs the extra ``sympy``.
        """
        return find("sympy", "express").load("express")(self, numbers)
