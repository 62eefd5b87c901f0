"""Values of a study's file: numbers, random numbers, axes of the grid; alone or as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import yaml

from ..io.yaml_nodes import Nodes
from .sampling import OPERATIONS, RANDOM, Change, Variable, Vector

KINDS = (*RANDOM, "grid", *OPERATIONS)
MOST = 10**9  # rows, steps, samples


class Values(Nodes):
    def whole(self, node: yaml.Node, least: int = 1, most: int = MOST) -> int:
        try:
            value = int(self.text(node).replace("_", ""))
        except ValueError:
            self.fail(node, "not a whole number", got=self.text(node))
        if not least <= value <= most:
            self.fail(node, "out of range", got=value, expected=f"{least} to {most:,}")
        return value

    def table(self, node: yaml.Node) -> Any:
        """A number, or lists of numbers."""
        if isinstance(node, yaml.SequenceNode):
            return [self.table(item) for item in node.value]
        return self.number(node)

    def vector(self, node: yaml.Node | None, where: str, names: Sequence[str], base: Sequence[float]) -> Vector:
        """Numbers by name, from one value for all, a list, or values by name."""
        self.label = where
        numbers, changes = list(base), []
        if isinstance(node, yaml.MappingNode) and not self.is_value(node):
            row = self.mapping(node, names)
            given = [((names.index(name),), value, f"{where}.{name}") for name, value in row.items()]
        elif isinstance(node, yaml.SequenceNode):
            if len(node.value) != len(names):
                self.fail(
                    node, "wrong length", got=f"{len(node.value)} values", expected=f"{len(names)}: {', '.join(names)}"
                )
            given = [((k,), value, f"{where}.{names[k]}") for k, value in enumerate(node.value)]
        elif node is not None and self.is_shared(node):
            given = [(tuple(range(len(names))), node, where)]
        else:
            given = [((k,), node, f"{where}.{name}") for k, name in enumerate(names)] if node is not None else []
        for at, value, name in given:
            self.label = name
            operation, number = self.value(value, name)
            if isinstance(number, Variable):
                changes.append(Change(at, number, operation))
                continue
            for k in at:
                own = {"times": numbers[k] * number, "plus": numbers[k] + number}
                numbers[k] = own.get(operation, number)
        self.label = ""
        return Vector(tuple(names), tuple(numbers), tuple(changes))

    def is_value(self, node: yaml.MappingNode) -> bool:
        return len(node.value) == 1 and getattr(node.value[0][0], "value", None) in KINDS

    def is_shared(self, node: yaml.Node) -> bool:
        """A number or an axis of the grid is the same for all entries of a vector; random ones are drawn for each."""
        while isinstance(node, yaml.MappingNode) and self.is_value(node):
            key, node = node.value[0]
            if key.value in RANDOM:
                return False
        return True

    def value(self, node: yaml.Node, name: str) -> tuple[str, float | Variable]:
        """An operation, if any, and a number or a variable."""
        if not isinstance(node, yaml.MappingNode):
            return "", self.number(node)
        row = self.mapping(node, KINDS)
        if len(row) != 1:
            self.fail(
                node, "this is not one value", got=", ".join(row) or "nothing", expected=f"one of: {', '.join(KINDS)}"
            )
        ((kind, inner),) = row.items()
        if kind in OPERATIONS:
            operation, value = self.value(inner, f"{name}.{kind}")
            if operation:
                self.fail(inner, "one operation is enough", got=f"{kind} {operation}")
            return kind, value
        if kind == "grid" and isinstance(inner, yaml.MappingNode):
            numbers = self.spaced(inner)
        else:
            numbers = tuple(self.number(item) for item in self.sequence(inner))
        self.check(inner, kind, numbers)
        return "", Variable(name, kind, numbers)

    def spaced(self, node: yaml.Node) -> tuple[float, ...]:
        row = self.mapping(node, ("from", "to", "count"))
        if len(row) != 3:
            self.fail(node, "keys are missing", got=", ".join(row) or "nothing", expected="from, to, count")
        low, high = self.number(row["from"]), self.number(row["to"])
        return tuple(np.linspace(low, high, self.whole(row["count"], most=10**6)).tolist())

    def check(self, node: yaml.Node, kind: str, numbers: tuple[float, ...]) -> None:
        expected = {"uniform": "[low, high]", "log_uniform": "[low, high], above zero", "normal": "[mean, deviation]"}
        if kind in ("grid", "choice"):
            fine = len(numbers) > 0 and len(set(numbers)) == len(numbers)
        elif len(numbers) != 2:
            fine = False
        elif kind == "normal":
            fine = numbers[1] >= 0
        else:
            fine = numbers[0] <= numbers[1] and (kind == "uniform" or numbers[0] > 0)
        if not fine:
            self.fail(
                node, f"not the values of {kind}", got=list(numbers), expected=expected.get(kind, "different values")
            )
