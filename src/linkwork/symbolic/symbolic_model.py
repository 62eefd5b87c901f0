"""SymbolicModel: the named equations of a quantity, and the languages in which they can be written."""

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
    """Equations of a quantity with symbols for the robot's constants; ``Robot.symbolic`` makes it.

    Args:
        label: Robot, quantity, method and frame.
        inputs: Names of the entries of each input, in its shape.
        outputs: Names of the entries of each output, in its shape.
        values: Value of each symbol that is not an input.
        equations: Equations in an order of evaluation; those not ``on_line`` depend on ``values`` alone.
        operations: Operations that depend on the state, every term computed once.
        off_line_operations: Operations that depend on constants alone.

    Example:
        >>> model = linkwork.load("planar2r").symbolic("gravity")
        >>> model
        <linkwork SymbolicModel planar2r: gravity...: ... equations>
        >>> model.values["G2"]
        -9.81
    """

    label: Label
    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]
    values: Mapping[str, float]
    equations: tuple[Equation, ...]
    operations: Operations
    off_line_operations: Operations

    @property
    def title(self) -> str:
        """Robot, quantity, frame and method in one line."""
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
        """Write the equations as plain text.

        Returns:
            Lines ``name = expression``: first those that depend on constants alone, outputs last.

        Example:
            >>> print(linkwork.load("planar2r").symbolic("gravity", expand=True).text())
            # planar2r: gravity...
        """
        from .text import text

        return text(self)

    def latex(self) -> str:
        r"""Write the equations as LaTeX.

        Returns:
            An ``align*`` environment with all equations.

        Example:
            >>> linkwork.load("planar2r").symbolic("gravity").latex().splitlines()[0]
            '\\begin{align*}'
        """
        from .latex import latex

        return latex(self)

    def python(self) -> str:
        """Write the equations as a Python function of the inputs and a dict of the constants.

        Returns:
            Source code, which needs NumPy only.

        Example:
            >>> source = linkwork.load("planar2r").symbolic("gravity").python()
            >>> "def gravity(q, constants=CONSTANTS):" in source
            True
        """
        from .python import python

        return python(self)

    def sympy(self, *, numbers: bool = False) -> dict[str, Any]:
        """Write each output as a sympy expression of the inputs and constants; needs ``pip install 'linkwork[sympy]'``.

        Args:
            numbers: Whether to substitute the values of the constants; default False.

        Returns:
            Outputs by name: an expression for a scalar, a Matrix for a matrix or (as a column) a vector, else an Array.

        Raises:
            UnsupportedError: sympy is not installed.

        Example:
            >>> expressions = linkwork.load("planar2r").symbolic("inertia_matrix").sympy()
            >>> expressions["M"].shape
            (2, 2)
        """
        return find("sympy", "express").load("express")(self, numbers)
