"""Sums of angles: cos a cos b - sin a sin b is cos(a + b), as it is written for joints with parallel axes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..program.graph import ADD, COS, INPUT, MUL, NEG, SIN, SUB, Graph, Node
from ..scalar import cos, sin


class AngleGraph(Graph):
    """A graph that applies the angle addition theorems, also to terms with common factors:

    (cos a cos b -+ sin a sin b) x = cos(a +- b) x,  (sin a cos b +- cos a sin b) x = sin(a +- b) x.

    A sum of angles is one node, whatever the order of its terms. The first ``n_states`` inputs are joint variables, the
    others are constants. Joint variables stand first in a sum.
    """

    def __init__(self, n_states: int):
        super().__init__()
        self.n_states = n_states

    def make(self, op: int, a: Any, b: Any = None, c: Any = None) -> Any:
        if op in (ADD, SUB) and all(isinstance(x, Node) and x.op == MUL for x in (a, b)):
            combined = self._combined(1 if op == ADD else -1, a, b)
            if combined is not None:
                return combined
        return super().make(op, a, b, c)

    def _combined(self, sign: int, a: Node, b: Node) -> Any:
        """Return a + sign b by an addition theorem, or None if none applies."""
        left, right, common = _factors(a), _factors(b), []
        for factor in tuple(left):
            if factor in right:
                left.remove(factor)
                right.remove(factor)
                common.append(factor)
        if not left and not right:
            return a + a if sign > 0 else 0  # the same factors in another order
        if len(left) != 2 or len(right) != 2 or not all(isinstance(x, Node) for x in left + right):
            return None
        kinds = sorted(x.op for x in left), sorted(x.op for x in right)
        if kinds == ([COS, COS], [SIN, SIN]) and {x.a for x in left} == {x.a for x in right}:
            value = cos(self._sum(left[0].a, -sign, left[1].a))
        elif kinds == ([SIN, SIN], [COS, COS]) and {x.a for x in left} == {x.a for x in right}:
            value = sign * cos(self._sum(left[0].a, -sign, left[1].a))
        elif kinds == (sorted((SIN, COS)),) * 2:
            (x,), (y,) = ([n.a for n in left if n.op == op] for op in (SIN, COS))
            if {n.op: n.a for n in right} != {COS: x, SIN: y}:
                return None
            value = sin(self._sum(x, sign, y))
        else:
            return None
        for factor in common:
            value = value * factor
        return value

    def _sum(self, a: Any, sign: int, b: Any) -> Any:
        """Return a + sign b without opposite terms: variables in order of their creation, then constants."""
        times: Counter[Any] = Counter()
        for term_sign, term in (*signed_terms(a), *signed_terms(b, sign)):
            times[term] += term_sign
        terms = sorted((x for x in times if times[x]), key=lambda x: x.number if isinstance(x, Node) else -1)
        constant = [x for x in terms if not isinstance(x, Node) or (x.op == INPUT and x.a >= self.n_states)]
        parts = ([x for x in terms if x not in constant], constant)
        variable, fixed = (sum((times[x] * x for x in part), start=0) for part in parts)
        return variable + fixed


def signed_terms(x: Any, sign: int = 1) -> list[tuple[int, Any]]:
    """Return the terms of a sum of nodes and numbers, each with its sign."""
    if isinstance(x, Node) and x.op in (ADD, SUB):
        return signed_terms(x.a, sign) + signed_terms(x.b, sign if x.op == ADD else -sign)
    return signed_terms(x.a, -sign) if isinstance(x, Node) and x.op == NEG else [(sign, x)]


def _factors(node: Any) -> list:
    return _factors(node.a) + _factors(node.b) if isinstance(node, Node) and node.op == MUL else [node]
