"""Hash-consed expression graph: formulations run on its nodes and leave the graph of what they computed.

Equal expressions are one node, so common subexpressions never exist twice. Constants stay plain Python numbers, and
what can be known while tracing is simplified exactly:

- structural zero and one (``0 * x``, ``1 * x``, ``x + 0``), constants folded, ``c1 * (c2 * x)`` made ``(c1 c2) * x``;
- signs are pulled outward, so ``a - b`` and ``b - a`` are one node and products have positive constants; a negation is
  left only where it meets an output;
- ``x - x``, ``(a + x) - a``, ``a - (a - x)`` and ``a + (x - a)`` cancel;
- of a choice that is none, such as ``max(x, x)`` or ``min(x, inf)``, nothing is left.

Rounding may differ from the expression as written by the last bit where a constant was folded or a term cancelled.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..scalar import atan2, maximum, minimum, sign
from .program import REPEAT, Op

INPUT = -1
ADD, SUB, MUL, DIV, NEG, SQRT, SIN, COS, SIGN = (
    int(op) for op in (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.SQRT, Op.SIN, Op.COS, Op.SIGN)
)
EXP, LOG, TANH, ATAN2, ABS, MIN, MAX = (int(op) for op in (Op.EXP, Op.LOG, Op.TANH, Op.ATAN2, Op.ABS, Op.MIN, Op.MAX))
LESS, LESS_EQUAL, SELECT = int(Op.LESS), int(Op.LESS_EQUAL), int(Op.SELECT)


LEVEL = 1 << 40  # more nodes than a graph has
NORMAL = sys.float_info.min  # smaller constants have fewer digits


class Graph:
    """The nodes made so far, numbered in order of creation.

    The body of a loop is a graph of its own, of level 1, or of a higher one inside other bodies. Its numbers are larger
    than those of lower levels. A node of operands of several levels belongs to the highest of them.
    """

    node_type: type[Node]

    def __init__(self, level: int = 0):
        self.level, self.first = level, level * LEVEL
        self.nodes: list[Node] = []
        self._known: dict[tuple, Node] = {}

    def input(self, index: int) -> Node:
        """The node of input scalar ``index``."""
        return self.make(INPUT, index)

    def make(self, op: int, a: Any, b: Any = None, c: Any = None) -> Node:
        if isinstance(b, Node) and b.graph.level > self.level:
            return b.graph.make(op, a, b, c)
        if isinstance(c, Node) and c.graph.level > self.level:
            return c.graph.make(op, a, b, c)
        key = (op, a, b) if c is None else (op, a, b, c)
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = self.node_type(self, op, a, b, self.first + len(self.nodes), c)
            self.nodes.append(node)
        return node

    def known(self, op: int, a: Any, b: Any) -> Node | None:
        return self._known.get((op, a, b))


def _add(a: Any, b: Any) -> Any:
    if not (isinstance(a, Operand) and isinstance(b, Operand)):
        return NotImplemented  # a vector, say, whose own operator takes over
    if not isinstance(a, Node):
        a, b = b, a
    if not isinstance(a, Node):
        return a + b
    if not isinstance(b, Node):
        if b == 0:
            return a
        if b != b:
            return a.graph.make(ADD, a, math.nan)
        if a.op == NEG:
            return _sub(b, a.a)
        return a.graph.make(ADD, a, float(b)) if b > 0 else a.graph.make(SUB, a, -float(b))
    if a.op == NEG:
        return -_add(a.a, b.a) if b.op == NEG else _sub(b, a.a)
    if b.op == NEG:
        return _sub(a, b.a)
    if a is b:
        return _mul(a, 2.0)
    if b.op == SUB and b.b is a:
        return b.a
    if a.op == SUB and a.b is b:
        return a.a
    if a.number > b.number:
        a, b = b, a
    return a.graph.make(ADD, a, b)


def _sub(a: Any, b: Any) -> Any:
    if not (isinstance(a, Operand) and isinstance(b, Operand)):
        return NotImplemented  # a vector, say, whose own operator takes over
    if not isinstance(b, Node):
        return _add(a, -b)
    if b.op == NEG:
        return _add(a, b.a)
    if not isinstance(a, Node):
        return -b if a == 0 else b.graph.make(SUB, float(a), b)
    if a is b:
        return 0
    if a.op == NEG:
        return -_add(a.a, b)
    if b.op == SUB and b.a is a:
        return b.b
    if a.op == ADD:
        if a.a is b:
            return a.b
        if a.b is b:
            return a.a
    graph = a.graph
    if graph.known(SUB, b, a) is not None:
        return -graph.make(SUB, b, a)
    return graph.make(SUB, a, b)


def _mul(a: Any, b: Any) -> Any:
    if not (isinstance(a, Operand) and isinstance(b, Operand)):
        return NotImplemented  # a vector, say, whose own operator takes over
    if not isinstance(a, Node):
        a, b = b, a
    if not isinstance(a, Node):
        return a * b
    if a.op == NEG:
        return -_mul(a.a, b)
    if not isinstance(b, Node):
        if b == 0:
            return 0
        if b == 1:
            return a
        if b != b:
            return a.graph.make(MUL, a, math.nan)
        if b < 0:
            return -_mul(a, -b)
        if a.op == MUL and not isinstance(a.b, Node) and abs(a.b * b) < math.inf:
            return _mul(a.a, a.b * b)
        return a.graph.make(MUL, a, float(b))
    if b.op == NEG:
        return -_mul(a, b.a)
    if a.number > b.number:
        a, b = b, a
    return a.graph.make(MUL, a, b)


def _div(a: Any, b: Any) -> Any:
    if not (isinstance(a, Operand) and isinstance(b, Operand)):
        return NotImplemented  # a vector, say, whose own operator takes over
    if not isinstance(b, Node):
        if not isinstance(a, Node):
            return a / b
        if b == 0 or 0 < abs(1.0 / b) < NORMAL or abs(1.0 / b) == math.inf:
            return a.graph.make(DIV, a, float(b))
        return _mul(a, 1.0 / b)
    if b.op == NEG:
        return -_div(a, b.a)
    if not isinstance(a, Node):
        if a == 0:
            return 0
        return b.graph.make(DIV, float(a), b) if a > 0 else -b.graph.make(DIV, -float(a), b)
    if a is b:
        return 1
    if a.op == NEG:
        return -_div(a.a, b)
    return a.graph.make(DIV, a, b)


def operand(x: Any) -> Any:
    """Return an operand of a function: a node or a number, zero without a sign."""
    if isinstance(x, Node):
        return x
    if not isinstance(x, (int, float, np.integer, np.floating)):
        raise TypeError(f"a function of a traced number and {type(x).__name__}")
    return float(x) + 0.0 if x == x else math.nan  # one object, because NaN is not equal to itself


def _choose(op: int, a: Node, b: Any) -> Any:
    """The smaller or the larger of two."""
    b, other = operand(b), MAX if op == MIN else MIN
    if a is b:
        return a
    if not isinstance(b, Node):
        if a.op == NEG:
            return -_choose(other, a.a, -b)
        if b == (math.inf if op == MIN else -math.inf):
            return a
        if a.op == op and not isinstance(a.b, Node):
            return _choose(op, a.a, min(a.b, b) if op == MIN else max(a.b, b))
        return a.graph.make(op, a, b)
    if a.op == b.op == NEG:
        return -_choose(other, a.a, b.a)
    if a.number > b.number:
        a, b = b, a
    return a.graph.make(op, a, b)


def _compare(op: int, a: Any, b: Any) -> Any:
    """1 where a < b, or a <= b, else 0; one of them is a node."""
    return (a if isinstance(a, Node) else b).graph.make(op, a, b)


class Node:
    """A scalar whose value is not known yet. ``a``, ``b`` and ``c`` are nodes or numbers (the input's index for an
    input); a constant operand of a sum or product stands second, and only a choice has a third operand. Of a final
    value of a loop, ``a`` has all operands, and ``b`` the loop and the number of the carried value."""

    __slots__ = ("a", "b", "c", "graph", "number", "op")

    def __init__(self, graph: Graph, op: int, a: Any, b: Any, number: int, c: Any = None):
        self.graph, self.op, self.a, self.b, self.number, self.c = graph, op, a, b, number, c

    @property
    def operands(self) -> tuple[Any, ...]:
        """Its operands, nodes or numbers; none for an input."""
        if self.op == INPUT:
            return ()
        if self.op == REPEAT:
            return self.a
        if self.c is not None:
            return self.a, self.b, self.c
        return (self.a,) if self.b is None else (self.a, self.b)

    def __array_ufunc__(self, ufunc, method, *operands, **options):
        """To NumPy's functions a node is an array of one object. Some of them compare objects, which nodes do not."""
        if method == "__call__":
            ufunc = WITHOUT_COMPARING.get(ufunc, ufunc)
        arrays = (np.array(x, object) if isinstance(x, Node) else x for x in operands)
        return getattr(ufunc, method)(*arrays, **options)

    __add__ = __radd__ = _add
    __mul__ = __rmul__ = _mul
    __sub__ = _sub
    __truediv__ = _div

    def __rsub__(self, other):
        return _sub(other, self)

    def __rtruediv__(self, other):
        return _div(other, self)

    def __neg__(self):
        return self.a if self.op == NEG else self.graph.make(NEG, self)

    def __abs__(self):
        if self.op == NEG:
            return abs(self.a)
        return self if self.op in (ABS, EXP) else self.graph.make(ABS, self)

    def __pow__(self, exponent):
        if exponent == 0.5:
            return self.sqrt()
        if not isinstance(exponent, (int, float)) or exponent % 1:
            return NotImplemented
        power: Any = 1
        square, rest = self, abs(int(exponent))
        while rest:
            power, rest = power * square if rest % 2 else power, rest // 2
            square = square * square if rest else square
        return power if exponent >= 0 else 1 / power

    def sin(self):
        return -self.a.sin() if self.op == NEG else self.graph.make(SIN, self)

    def cos(self):
        return self.a.cos() if self.op == NEG else self.graph.make(COS, self)

    def sqrt(self):
        return self.graph.make(SQRT, self)

    def sign(self):
        return -self.a.sign() if self.op == NEG else self.graph.make(SIGN, self)

    def exp(self):
        return self.graph.make(EXP, self)

    def log(self):
        return self.graph.make(LOG, self)

    def tanh(self):
        return -self.a.tanh() if self.op == NEG else self.graph.make(TANH, self)

    def minimum(self, other):
        return _choose(MIN, self, other)

    def maximum(self, other):
        return _choose(MAX, self, other)

    def arctan2(self, other):
        """The angle of the point (other, self)."""
        return -self.a.arctan2(other) if self.op == NEG else self.graph.make(ATAN2, self, operand(other))

    def rarctan2(self, other):
        """The angle of the point (self, other), of a number."""
        other = operand(other)
        return -self.rarctan2(-other) if other < 0 else self.graph.make(ATAN2, other, self)

    def __lt__(self, other):
        return _compare(LESS, self, operand(other))

    def __gt__(self, other):
        return _compare(LESS, operand(other), self)

    def __le__(self, other):
        return _compare(LESS_EQUAL, self, operand(other))

    def __ge__(self, other):
        return _compare(LESS_EQUAL, operand(other), self)

    def select(self, if_true, if_false):
        """``if_true`` where this is not zero, else ``if_false``."""
        if_true, if_false = operand(if_true), operand(if_false)
        same = if_true is if_false
        if not (isinstance(if_true, Node) or isinstance(if_false, Node)):
            same = if_true == if_false
        return if_true if same else self.graph.make(SELECT, self, if_true, if_false)

    def __bool__(self):
        raise TypeError("the value of a traced number is not known while tracing, so it cannot decide a branch")

    def __float__(self):
        raise TypeError("the value of a traced number is not known while tracing")

    def __repr__(self):
        if self.op == INPUT:
            return f"<input {self.a}>"
        operands = " ".join(f"%{x.number}" if isinstance(x, Node) else repr(x) for x in self.operands)
        name = f"REPEAT {self.b[1]} of" if self.op == REPEAT else Op(self.op).name
        return f"<%{self.number} = {name} {operands}>"


class StrictNode(Node):
    """A node of a user's function, which may compare it to others: nodes are equal only to themselves, so the answer
    would be False for every number."""

    __slots__ = ()

    def __eq__(self, other):
        if isinstance(other, (int, float, Node)) and self is not other:
            raise TypeError("the value of a traced number is not known while tracing: compare arrays with np.equal")
        return self is other

    __hash__ = object.__hash__


class StrictGraph(Graph):
    """A graph of strict nodes."""

    node_type = StrictNode


Graph.node_type = Node
Operand = (Node, int, float)
WITHOUT_COMPARING = {
    np.minimum: np.frompyfunc(minimum, 2, 1),
    np.maximum: np.frompyfunc(maximum, 2, 1),
    np.arctan2: np.frompyfunc(atan2, 2, 1),
    np.sign: np.frompyfunc(sign, 1, 1),
}
