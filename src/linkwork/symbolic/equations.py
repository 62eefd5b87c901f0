"""Named equations from the nodes of a graph.

A node with a name keeps it, and a node that is used once is written where it is used. Others are called t1, t2, ..., or
k1, k2, ... if they depend on constants alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

from ..errors import UnsupportedError, at_door
from ..notation.names import Names
from ..program import Op
from ..program.graph import ADD, COS, DIV, INPUT, MUL, NEG, SIN, SUB, Graph, Node
from .angles import signed_terms
from .expressions import (
    Call,
    Equation,
    Expression,
    Number,
    Quotient,
    Sum,
    Symbol,
    add,
    distribute,
    multiply,
    negative,
    symbols_of,
)

TOO_LONG = 2000
LONGEST = 12  # leaves of an expression; a longer one is split
NAMES: dict[int, str] = {  # NumPy's names of functions
    Op.SIN: "sin", Op.COS: "cos", Op.SQRT: "sqrt", Op.SIGN: "sign", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh",
    Op.ATAN2: "arctan2", Op.ABS: "abs", Op.MIN: "minimum", Op.MAX: "maximum", Op.LESS: "less",
    Op.LESS_EQUAL: "less_equal", Op.SELECT: "where",
}  # fmt: skip


class NodeName(NamedTuple):
    """Name of a node, or (``sign`` -1) of its negative; ``tag`` is the equation's number in the formulation."""

    name: str
    sign: int = 1
    tag: str = ""


class Trace(NamedTuple):
    """A traced quantity.

    It has the outputs by name, the names of the graph's inputs (the first ``n_states`` belong to the state), the nodes
    that the outputs need in order of creation, and symbols of the paper for some of them.
    """

    results: Mapping[str, Any]
    inputs: Sequence[str]
    n_states: int
    live: Sequence[Node]
    node_names: Mapping[Node, NodeName]


def needed(graph: Graph, results: Iterable[Any]) -> list[Node]:
    """Return the nodes that ``results`` need, in order of creation."""
    live = {value for value in results if isinstance(value, Node)}
    for node in reversed(graph.nodes):
        if node in live and node.op != INPUT:
            live.update(x for x in node.operands if isinstance(x, Node))
    return [node for node in graph.nodes if node in live]


def equations(trace: Trace, names: Names, preferred: Container[str] = (), expand: bool = False) -> tuple[Equation, ...]:
    """Return the equations of a traced quantity, in order: off line, on line, outputs.

    The names of ``preferred`` outputs replace other names of their nodes. With ``expand`` there are no intermediate
    results except sines, cosines and constants with symbols.
    """
    writer = _Writer(trace, names, expand)
    writer.name_outputs(preferred)
    for node in trace.live:
        if node.op not in (INPUT, NEG):
            writer.write(node)
    return writer.in_order()


class _Writer:
    """Writes equations node by node, in order of creation."""

    def __init__(self, trace: Trace, names: Names, expand: bool):
        self.trace, self.names, self.expand = trace, names, expand
        self.on_line: dict[Any, bool] = {}
        for node in trace.live:
            depends = node.a < trace.n_states if node.op == INPUT else any(map(self._is_on_line, node.operands))
            self.on_line[node] = depends
        self.angles = _sums(node.a for node in trace.live if node.op in (SIN, COS))  # appear inside sines and cosines
        uses: list[tuple[Node, Any]] = []
        for node in trace.live:
            if node.op in (SIN, COS):
                uses += [(node, term) for _, term in signed_terms(node.a)]
            elif node.op not in (INPUT, NEG) and node not in self.angles:
                uses += [(node, _stripped(x)) for x in node.operands]
        self.uses = Counter(x for _, x in uses)
        outer = {x for node, x in uses if self.on_line[node] and isinstance(x, Node)}
        self.constants = {x for x in outer if not self.on_line[x]}  # constants that on-line equations use
        self.called: dict[Node, NodeName] = {}
        self.outputs: set[Node] = set()
        self.plain: set[Node] = set()  # short constants without a symbol of the paper
        self.leaves: dict[Any, int] = {}
        self.expressions: dict[Node, Expression] = {}

    def _is_on_line(self, x: Any) -> bool:
        return self.on_line.get(x, False)

    def name_outputs(self, preferred: Container[str]) -> None:
        """Name the nodes of outputs, except those with an output's name, or with a symbol that other equations use."""
        symbols = self.trace.node_names
        for name, value in self.trace.results.items():
            node = _stripped(value)
            if not isinstance(node, Node) or node.op in (INPUT, SIN, COS) or node in self.outputs:
                continue
            if node not in symbols or not self.uses[node] or name in preferred:
                tag = symbols[node].tag if node in symbols else ""
                self.called[node] = NodeName(name, 1 if node is value else -1, tag)
                self.outputs.add(node)
        self.uses.update(_stripped(value) for value in self.trace.results.values())

    def write(self, node: Node) -> None:
        """Write the expression of a node, and name it unless it is written where it is used."""
        on_line = self.on_line[node]
        self.expressions[node] = _expression(node, partial(self.operand, in_constant=not on_line), on_line)
        operands = [*map(_stripped, node.operands)]
        long = self.leaves[node] = sum(1 if x in self.called else self.leaves.get(x, 1) for x in operands)
        if self.expand and long > TOO_LONG:
            raise UnsupportedError(
                "the expanded equations are too long",
                expected=f"at most {TOO_LONG} symbols in each",
                fix=f"omit {at_door('expand=True', '--expand')}: intermediate results keep equations short",
            )
        if node in self.called:
            return
        turn = node.op in (SIN, COS)
        if turn or (node in self.trace.node_names and not (self.expand and on_line)):
            name, sign, tag = self.trace.node_names.get(node) or NodeName(_angle_name(node, self.trace.inputs))
            self.called[node] = NodeName(self.names.new(name) if name else self.names.next("t"), sign, tag)
        elif self.expand or (node in self.angles and not self.uses[node]):
            return
        elif on_line and (self.uses[node] > 1 or long > LONGEST):
            self.called[node] = NodeName(self.names.next("t"))
        elif node in self.constants or long > LONGEST:
            self.called[node] = NodeName(self.names.next("k"))
            if long <= LONGEST:
                self.plain.add(node)

    def operand(self, operand: Any, in_constant: bool = False) -> Expression:
        """Return an operand by its name, or expanded, as constants without a symbol are within constants."""
        if not isinstance(operand, Node):
            return Number(float(operand))
        if operand.op == INPUT:
            return Symbol(self.trace.inputs[int(operand.a)])
        if operand.op == NEG:
            return negative(self.operand(operand.a, in_constant))
        if operand in self.called and not (in_constant and operand in self.plain):
            name, sign, _ = self.called[operand]
            return Symbol(name) if sign > 0 else Sum(((-1, Symbol(name)),))
        return self.expressions[operand]

    def in_order(self) -> tuple[Equation, ...]:
        by_node: dict[Node, Equation] = {}
        for node, (name, sign, tag) in self.called.items():
            expression = self.expressions[node] if sign > 0 else negative(self.expressions[node])
            by_node[node] = Equation(name, expression, self.on_line[node], tag)
        last = self._last()
        ending = {equation.name: equation for node, equation in by_node.items() if node in last}
        for name, value in self.trace.results.items():
            if name not in {self.called[node].name for node in self.outputs}:
                ending[name] = Equation(name, self.operand(value), self._is_on_line(_stripped(value)))
        first = sorted(by_node.keys() - last, key=lambda node: (self.on_line[node], node.number))
        return (*(by_node[node] for node in first), *_after_their_parts(self.trace.results, ending))

    def _last(self) -> set[Node]:
        """Return the outputs that can stand at the end: nothing but other such outputs depends on them."""
        before: set[Node] = set()  # nodes that earlier equations need
        for node in reversed(self.trace.live):
            if node.op != INPUT and (node in before or (node in self.called and node not in self.outputs)):
                before.update(x for x in node.operands if isinstance(x, Node))
        return self.outputs - before


def _stripped(x: Any) -> Any:
    return x.a if isinstance(x, Node) and x.op == NEG else x


def _sums(angles: Iterable[Any]) -> set[Node]:
    """Return the sums among angles, and the sums they consist of."""
    sums, stack = set(), list(angles)
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and node.op in (ADD, SUB, NEG) and node not in sums:
            sums.add(node)
            stack += node.operands
    return sums


def _expression(node: Node, operand: Callable[[Any], Expression], on_line: bool) -> Expression:
    if node.op in (SIN, COS):
        terms = sorted(signed_terms(node.a), key=lambda term: term[1].number if isinstance(term[1], Node) else -1)
        return Call(NAMES[node.op], reduce(lambda total, term: add(term[0], total, operand(term[1])), terms, Sum(())))
    operands = [*map(operand, node.operands)]
    if node.op in (ADD, SUB):
        return add(1 if node.op == ADD else -1, *operands)
    if node.op == MUL:
        return (multiply if on_line else distribute)(*operands)
    return Quotient(*operands) if node.op == DIV else Call(NAMES[node.op], *operands)


def _angle_name(node: Node, inputs: Sequence[str]) -> str:
    """Return the name C23 for cos(q2 + q3), SA2 for sin(alpha2); empty if the angle is not a sum of such symbols."""
    parts = signed_terms(node.a)
    if not all(isinstance(x, Node) and x.op == INPUT for _, x in parts):
        return ""
    return turn_name("S" if node.op == SIN else "C", [(sign, inputs[int(x.a)]) for sign, x in parts], inputs)


def turn_name(letter: str, terms: Sequence[tuple[int, str]], inputs: Iterable[str]) -> str:
    """Return the name of the sine (S) or cosine (C) of a sum of symbols with signs; empty if there is none."""
    turning = [(sign, name[1:]) for sign, name in terms if re.fullmatch(r"q\d+", name)]
    if not turning:
        (_, name), *more = terms
        return "" if more else letter + name[0].upper() + name.lstrip("abcdefghijklmnopqrstuvwxyz")
    turning.sort(key=lambda term: (-term[0], int(term[1])))
    many = any(re.fullmatch(r"q\d\d+", name) for name in inputs)  # then C12 is cos(q12), and C1_2 is cos(q1 + q2)
    return letter + "".join(
        ("m" if sign < 0 else "_" if many and k else "") + number for k, (sign, number) in enumerate(turning)
    )


def _after_their_parts(names: Iterable[str], outputs: Mapping[str, Equation]) -> list[Equation]:
    """Return the outputs in the order of ``names``, but each after those that it uses."""
    result: dict[str, Equation] = {}

    def place(name: str) -> None:
        if name in outputs and name not in result:
            for symbol in sorted(symbols_of(outputs[name].expression)):
                place(symbol)
            result[name] = outputs[name]

    for name in names:
        place(name)
    return list(result.values())
