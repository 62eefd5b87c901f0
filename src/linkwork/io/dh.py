"""Standard (distal) Denavit-Hartenberg tables to modified ones.

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
    """The rows of a table as a YAML file has them; four bare numbers get their letters."""
    if convention not in ORDER:
        raise UnknownNameError("convention", convention, ORDER)
    letters = ORDER[convention]
    if isinstance(table, np.ndarray):
        table = table.tolist()
    if not isinstance(table, (list, tuple)) or not table:
        expected = f"a list of rows, each [{', '.join(letters)}] or a dict"
        raise ModelError("this is no table of joints", where="from_dh", got=short(repr(table)), expected=expected)
    rows = []
    for k, row in enumerate(table, 1):
        if not isinstance(row, Mapping):
            numbers = row.tolist() if isinstance(row, np.ndarray) else row
            if not isinstance(numbers, (list, tuple)) or len(numbers) != len(letters):
                expected = f"[{', '.join(letters)}], or a dict with keys such as {letters[0]!r} and 'kind'"
                raise ModelError("not a row", where=f"from_dh, row {k}", got=short(repr(row)), expected=expected)
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
    """A standard (distal) table as modified parameters, and each distal frame placed in its modified frame.

    ``theta`` or ``d`` of a moving joint is its value at position zero. ``parent[i]`` is the row before row ``i``, -1
    for the base; a serial chain by default. Modified frame i stands where theta_i and d_i have taken frame i-1, so

        alpha_i' = alpha_{i-1},  d_i' = a_{i-1},  theta_i' = theta_i,  r_i' = d_i

    and the distal frame is left at Trans(x, a_i) Rot(x, alpha_i): it carries distal inertias and poses over.
    """
    before = range(-1, len(theta) - 1) if parent is None else parent
    rows = [
        ModifiedParameters(alpha=alpha[k] if k >= 0 else 0.0, d=a[k] if k >= 0 else 0.0, theta=theta[i], r=d[i])
        for i, k in enumerate(before)
    ]
    return rows, [ModifiedParameters(alpha=alpha[i], d=a[i]).placement() for i in range(len(rows))]
