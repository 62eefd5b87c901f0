"""Denavit-Hartenberg tables: rows as in YAML files, and conversion of standard (distal) to modified parameters.

The standard convention puts frame i at the far end of link i, on the axis of joint i + 1:

    frame i in frame i-1 = Rot(z, theta) Trans(z, d) Trans(x, a) Rot(x, alpha)

Modified frame j sits on the axis of joint j itself (see ``model.placement``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, UnknownNameError, short
from ..model.description import Placement
from ..model.placement import ModifiedParameters

ORDER = {"modified": ("alpha", "d", "theta", "r"), "standard": ("theta", "d", "a", "alpha")}  # of four bare numbers


def dh_rows(table: Any, convention: str) -> list[Mapping[str, Any]]:
    """Return the rows of a Denavit-Hartenberg table as in a YAML file.

    Args:
        table: A row per joint, base to tip, in m and rad: four numbers (modified: alpha, d, theta, r; standard: theta,
            d, a, alpha) or a dict with keys of a joint row.
        convention: "modified" or "standard".

    Returns:
        A dict per row.

    Raises:
        ModelError: The table has another form.
        UnknownNameError: There is no such convention.

    Example:
        >>> linkwork.io.dh_rows([[0.0, 0.3, 0.0, 0.1]], "modified")
        [{'alpha': 0.0, 'd': 0.3, 'theta': 0.0, 'r': 0.1}]
    """
    if convention not in ORDER:
        raise UnknownNameError("convention", convention, ORDER)
    letters = ORDER[convention]
    if isinstance(table, np.ndarray):
        table = table.tolist()
    if not isinstance(table, (list, tuple)) or not table:
        expected = f"a list of rows, each [{', '.join(letters)}] or a dict"
        raise ModelError("this is not a table of joints", where="from_dh", got=short(repr(table)), expected=expected)
    rows = []
    for k, row in enumerate(table, 1):
        if not isinstance(row, Mapping):
            numbers = row.tolist() if isinstance(row, np.ndarray) else row
            if not isinstance(numbers, (list, tuple)) or len(numbers) != len(letters):
                expected = f"[{', '.join(letters)}], or a dict with keys such as {letters[0]!r} and 'kind'"
                raise ModelError(
                    "this is not a row", where=f"from_dh, row {k}", got=short(repr(row)), expected=expected
                )
            row = dict(zip(letters, numbers, strict=True))
        rows.append(row)
    return rows


def from_standard_dh(
    theta: Sequence[float],
    d: Sequence[float],
    a: Sequence[float],
    alpha: Sequence[float],
    parent: Sequence[int] | None = None,
) -> tuple[list[ModifiedParameters], list[Placement]]:
    """Return the modified parameters of a standard (distal) table, and each distal frame in its modified frame.

    ``theta`` or ``d`` of a moving joint is its value at position zero. ``parent[i]`` is the row before row ``i``, -1
    for the base; default: a serial chain. Modified frame i is frame i-1 after theta_i and d_i, so

        alpha_i' = alpha_{i-1},  d_i' = a_{i-1},  theta_i' = theta_i,  r_i' = d_i

    and the distal frame is at Trans(x, a_i) Rot(x, alpha_i) in it, which converts distal inertias and poses.
    """
    before = range(-1, len(theta) - 1) if parent is None else parent
    rows = [
        ModifiedParameters(alpha=alpha[k] if k >= 0 else 0.0, d=a[k] if k >= 0 else 0.0, theta=theta[i], r=d[i])
        for i, k in enumerate(before)
    ]
    return rows, [ModifiedParameters(alpha=alpha[i], d=a[i]).placement() for i in range(len(rows))]
