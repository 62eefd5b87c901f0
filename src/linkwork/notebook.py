"""What a notebook shows of a robot and of a function: compact tables, every name escaped."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from .model import Joint, Model, in_words
from .quoting import in_html

MOST = 60  # joints that are listed


def robot_html(model: Model) -> str:
    mass = sum(body.inertia.mass for body in model.bodies)
    facts = [f"{model.base} base", f"nq {model.nq}, nv {model.nv}", f"moving mass {mass:.6g} kg"]
    if model.constrained:
        facts.append(in_words(loop.kind for loop in model.permanent))
    rows: list[tuple[str, ...]] = [
        (
            body.joint.name,
            body.joint.kind.name,
            "" if body.joint.kind.free else body.joint.role,
            *_limits(body.joint),
            body.name,
            _parent(model, body.parent),
        )
        for body in model.bodies[:MOST]
    ]
    if model.n_bodies > MOST:
        rows.append((f"and {model.n_bodies - MOST} more", *[""] * 6))
    headers = ("joint", "kind", "role", "lower", "upper", "moves", "on")
    return _table(f"Robot {model.name}: {', '.join(facts)}", headers, rows)


def function_html(function: Any) -> str:
    """Of a ``Function``."""
    label = function.label
    rows = {
        "signature": function.signature,
        "method": label.method,
        "frame": label.frame,
        "operations": function.operations,
        "off line": function.off_line_operations if label.nominal or label.payload else "",
        "instructions": len(function.program.instructions),
        "numbers": f"{function.dtype}, {function.backend}",
    }
    shown = [(name, value) for name, value in rows.items() if value != ""]
    return _table(f"Function {label.quantity} of {label.robot}", (), shown)


def _limits(joint: Joint) -> tuple[str, str]:
    low, high = (f"{x:.6g}" if isfinite(x) else "" for x in (joint.lower, joint.upper))
    return low, high


def _parent(model: Model, number: int) -> str:
    return model.body(number).name if number else "ground" if model.moving_base else model.root


def _table(title: str, headers: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    def row(cells: Iterable[object], tag: str = "td") -> str:
        made = (f'<{tag} style="text-align:left">{in_html(str(cell))}</{tag}>' for cell in cells)
        return f"<tr>{''.join(made)}</tr>"

    head = row(headers, "th") if headers else ""
    return f"<table><caption><b>{in_html(title)}</b></caption>{head}{''.join(map(row, rows))}</table>"
