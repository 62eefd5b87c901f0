"""Values in the file of a study: numbers, random numbers and axes of the grid, alone or as vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import yaml

from ..io.yaml_nodes import Nodes
from .sampling import OPERATIONS, RANDOM, Change, Variable, Vector

KINDS = (*RANDOM, "grid", *OPERATIONS)
MOST = 10**9  # rows, steps, samples


class Values(Nodes):
    """Converts the nodes of a study to values."""

    def integer(self, node: yaml.Node, least: int = 1, most: int = MOST) -> int:
        try:
            value = int(self.text(node).replace("_", ""))
        except ValueError:
            self.fail(node, "not an integer", got=self.text(node))
        if not least <= value <= most:
            self.fail(node, "out of range", got=value, expected=f"{least} to {most:,}")
        return value

    def vector(self, node: yaml.Node | None, where: str, names: Sequence[str], base: Sequence[float]) -> Vector:
        """Return numbers by name, from one value for all, a list, or values by name."""
        self.label = where
        numbers, changes = list(base), []
        if isinstance(node, yaml.MappingNode) and not self.is_value(node):
            row = self.mapping(node, names)
            values = [((names.index(name),), value, f"{where}.{name}") for name, value in row.items()]
        elif isinstance(node, yaml.SequenceNode):
            if len(node.value) != len(names):
                got, expected = f"{len(node.value)} values", f"{len(names)}: {', '.join(names)}"
                self.fail(node, "wrong length", got, expected)
            values = [((k,), value, f"{where}.{names[k]}") for k, value in enumerate(node.value)]
        elif node is not None and self.is_shared(node):
            values = [(tuple(range(len(names))), node, where)]
        else:
            values = [((k,), node, f"{where}.{name}") for k, name in enumerate(names)] if node is not None else []
        for entries, value, name in values:
            self.label = name
            operation, number = self.value(value, name)
            if isinstance(number, Variable):
                changes.append(Change(entries, number, operation))
                continue
            for k in entries:
                results = {"times": numbers[k] * number, "plus": numbers[k] + number}
                numbers[k] = results.get(operation, number)
        self.label = ""
        return Vector(tuple(names), tuple(numbers), tuple(changes))

    def is_value(self, node: yaml.MappingNode) -> bool:
        return len(node.value) == 1 and getattr(node.value[0][0], "value", None) in KINDS

    def is_shared(self, node: yaml.Node) -> bool:
        """Return whether a value is the same for all entries of a vector. Random values are drawn for each entry."""
        while isinstance(node, yaml.MappingNode) and self.is_value(node):
            key, node = node.value[0]
            if key.value in RANDOM:
                return False
        return True

    def value(self, node: yaml.Node, name: str) -> tuple[str, float | Variable]:
        """Return the operation, empty if there is none, and a number or a variable."""
        if not isinstance(node, yaml.MappingNode):
            return "", self.number(node)
        row = self.mapping(node, KINDS)
        if len(row) != 1:
            self.fail(node, "this is not one value", ", ".join(row) or "nothing", f"one of: {', '.join(KINDS)}")
        ((kind, inner),) = row.items()
        if kind in OPERATIONS:
            operation, value = self.value(inner, f"{name}.{kind}")
            if operation:
                self.fail(inner, "operations cannot be nested", got=f"{kind} {operation}")
            return kind, value
        if kind == "grid" and isinstance(inner, yaml.MappingNode):
            numbers = self.spaced(inner)
        else:
            numbers = tuple(self.number(item) for item in self.sequence(inner))
        self.check(inner, kind, numbers)
        return "", Variable(name, kind, numbers)

    def spaced(self, node: yaml.Node) -> tuple[float, ...]:
        """Return equally spaced numbers."""
        row = self.mapping(node, ("from", "to", "count"))
        for key in ("from", "to", "count"):
            self.require(node, row, key, "a number")
        low, high = self.number(row["from"]), self.number(row["to"])
        return tuple(np.linspace(low, high, self.integer(row["count"], most=10**6)).tolist())

    def check(self, node: yaml.Node, kind: str, numbers: tuple[float, ...]) -> None:
        """Refuse numbers that do not fit the kind of a variable."""
        expected = {"uniform": "[low, high]", "log_uniform": "[low, high], above zero", "normal": "[mean, deviation]"}
        if kind in ("grid", "choice"):
            fits = len(numbers) > 0 and len(set(numbers)) == len(numbers)
        elif len(numbers) != 2:
            fits = False
        elif kind == "normal":
            fits = numbers[1] >= 0
        else:
            fits = numbers[0] <= numbers[1] and (kind == "uniform" or numbers[0] > 0)
        if not fits:
            self.fail(node, f"wrong values of {kind}", list(numbers), expected.get(kind, "different values"))
