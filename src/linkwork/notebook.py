"""HTML for notebooks: compact tables of a robot, a function and other facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from .model import Joint, Model, in_words
from .table import Column, Table, notebook

MOST = 60  # joints that are listed


def robot_html(model: Model) -> str:
    """Return a table of the joints of a robot."""
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
    columns = [Column(name, align="left") for name in ("joint", "kind", "role", "lower", "upper", "moves", "on")]
    return notebook(Table(f"Robot {model.name}: {', '.join(facts)}", columns, rows))


def function_html(function: Any) -> str:
    """Return a table of facts about a ``Function``."""
    label = function.label
    rows = {
        "signature": function.signature,
        "method": label.method,
        "frame": label.frame,
        "operations": function.operations,
        "off line": function.off_line_operations if label.nominal else "",
        "instructions": len(function.program.instructions),
        "numbers": f"{function.dtype}, {function.backend}",
    }
    return facts_html(f"Function {label.quantity} of {label.robot}", rows)


def facts_html(title: str, facts: Mapping[str, object], notes: Iterable[str] = ()) -> str:
    """Return a table of names and values, without empty ones, then ``notes``."""
    rows = [*((name, value) for name, value in facts.items() if value != ""), *(("note", note) for note in notes)]
    return notebook(Table(title, [Column("", align="left")] * 2, rows))


def _limits(joint: Joint) -> tuple[str, str]:
    low, high = (f"{x:.6g}" if isfinite(x) else "" for x in (joint.lower, joint.upper))
    return low, high


def _parent(model: Model, number: int) -> str:
    return model.body(number).name if number else "ground" if model.moving_base else model.root
