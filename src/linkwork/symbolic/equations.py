"""From the nodes of a graph to named equations: what has a name keeps it, what is used once is written where it is
used, the rest is called t1, t2, ..., or k1, k2, ... where it depends on constants alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

from ..errors import UnsupportedError
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
LONGEST = 12  # leaves of an expression; what would be longer is cut in two
NAMES: dict[int, str] = {  # of functions, as NumPy has them
    Op.SIN: "sin", Op.COS: "cos", Op.SQRT: "sqrt", Op.SIGN: "sign", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh",
    Op.ATAN2: "arctan2", Op.ABS: "abs", Op.MIN: "minimum", Op.MAX: "maximum", Op.LESS: "less",
    Op.LESS_EQUAL: "less_equal", Op.SELECT: "where",
}  # fmt: skip


class Given(NamedTuple):
    """A name for a node, or (``sign`` -1) for its negative; ``tag`` is the equation's number in the formulation."""

    name: str
    sign: int = 1
    tag: str = ""


class Trace(NamedTuple):
    """A traced quantity: outputs by name, names of the graph's inputs (of which the first ``n_states`` are of the
    state), the nodes that the outputs need in order of creation, and letters for some of them."""

    results: Mapping[str, Any]
    inputs: Sequence[str]
    n_states: int
    live: Sequence[Node]
    given: Mapping[Node, Given]


def needed(graph: Graph, results: Iterable[Any]) -> list[Node]:
    """The nodes that ``results`` need, in order of creation."""
    live = {value for value in results if isinstance(value, Node)}
    for node in reversed(graph.nodes):
        if node in live and node.op != INPUT:
            live.update(x for x in node.operands if isinstance(x, Node))
    return [node for node in graph.nodes if node in live]


def equations(
    trace: Trace, names: Names, taking: Container[str] = (), written_out: bool = False
) -> tuple[Equation, ...]:
    """The equations of a traced quantity, in order: off line, on line, outputs.

    The outputs ``taking`` give their names to nodes that have others. ``written_out``: no intermediate results but
    sines, cosines and constants that have letters.
    """
    scribe = _Scribe(trace, names, written_out)
    scribe.name_outputs(taking)
    for node in trace.live:
        if node.op not in (INPUT, NEG):
            scribe.write(node)
    return scribe.in_order()


class _Scribe:
    def __init__(self, trace: Trace, names: Names, written_out: bool):
        self.trace, self.names, self.written_out = trace, names, written_out
        self.on_line: dict[Any, bool] = {}
        for node in trace.live:
            known = node.a < trace.n_states if node.op == INPUT else any(map(self._is_on_line, node.operands))
            self.on_line[node] = known
        self.angles = _sums(node.a for node in trace.live if node.op in (SIN, COS))  # written in sines and cosines
        used: list[tuple[Node, Any]] = []
        for node in trace.live:
            if node.op in (SIN, COS):
                used += [(node, term) for _, term in signed_terms(node.a)]
            elif node.op not in (INPUT, NEG) and node not in self.angles:
                used += [(node, _stripped(x)) for x in node.operands]
        self.uses = Counter(x for _, x in used)
        outer = {x for node, x in used if self.on_line[node] and isinstance(x, Node)}
        self.constants = {x for x in outer if not self.on_line[x]}  # what the state meets
        self.called: dict[Node, Given] = {}
        self.outputs: set[Node] = set()
        self.plain: set[Node] = set()  # short constants without a letter of their own
        self.leaves: dict[Any, int] = {}
        self.expressions: dict[Node, Expression] = {}

    def _is_on_line(self, x: Any) -> bool:
        return self.on_line.get(x, False)

    def name_outputs(self, taking: Container[str]) -> None:
        """An output names its node, unless another output did, or it has letters and stands in other equations."""
        given = self.trace.given
        for name, value in self.trace.results.items():
            node = _stripped(value)
            if not isinstance(node, Node) or node.op in (INPUT, SIN, COS) or node in self.outputs:
                continue
            if node not in given or not self.uses[node] or name in taking:
                tag = given[node].tag if node in given else ""
                self.called[node] = Given(name, 1 if node is value else -1, tag)
                self.outputs.add(node)
        self.uses.update(_stripped(value) for value in self.trace.results.values())

    def write(self, node: Node) -> None:
        """Its expression; and a name, if it is not to be written where it is used."""
        on_line = self.on_line[node]
        self.expressions[node] = _expression(node, partial(self.of, in_constant=not on_line), on_line)
        operands = [*map(_stripped, node.operands)]
        long = self.leaves[node] = sum(1 if x in self.called else self.leaves.get(x, 1) for x in operands)
        if self.written_out and long > TOO_LONG:
            raise UnsupportedError(
                "the equations are too long to be written out",
                expected=f"at most {TOO_LONG} symbols in each",
                fix="leave written_out away: intermediate results keep them short",
            )
        if node in self.called:
            return
        turn = node.op in (SIN, COS)
        if turn or (node in self.trace.given and not (self.written_out and on_line)):
            name, sign, tag = self.trace.given.get(node) or Given(_angle_name(node, self.trace.inputs))
            self.called[node] = Given(self.names.new(name) if name else self.names.next("t"), sign, tag)
        elif self.written_out or (node in self.angles and not self.uses[node]):
            return
        elif on_line and (self.uses[node] > 1 or long > LONGEST):
            self.called[node] = Given(self.names.next("t"))
        elif node in self.constants or long > LONGEST:
            self.called[node] = Given(self.names.next("k"))
            if long <= LONGEST:
                self.plain.add(node)

    def of(self, operand: Any, in_constant: bool = False) -> Expression:
        """An operand where it is used: by its name, or written out, as constants without a letter are in constants."""
        if not isinstance(operand, Node):
            return Number(float(operand))
        if operand.op == INPUT:
            return Symbol(self.trace.inputs[int(operand.a)])
        if operand.op == NEG:
            return negative(self.of(operand.a, in_constant))
        if operand in self.called and not (in_constant and operand in self.plain):
            name, sign, _ = self.called[operand]
            return Symbol(name) if sign > 0 else Sum(((-1, Symbol(name)),))
        return self.expressions[operand]

    def in_order(self) -> tuple[Equation, ...]:
        made: dict[Node, Equation] = {}
        for node, (name, sign, tag) in self.called.items():
            expression = self.expressions[node] if sign > 0 else negative(self.expressions[node])
            made[node] = Equation(name, expression, self.on_line[node], tag)
        last = self._last()
        ending = {equation.name: equation for node, equation in made.items() if node in last}
        for name, value in self.trace.results.items():
            if name not in {self.called[node].name for node in self.outputs}:
                ending[name] = Equation(name, self.of(value), self._is_on_line(_stripped(value)))
        first = sorted((node for node in made if node not in last), key=lambda node: (self.on_line[node], node.number))
        return (*(made[node] for node in first), *_after_their_parts(self.trace.results, ending))

    def _last(self) -> set[Node]:
        """The outputs on which nothing but other such outputs depends: they can stand at the end."""
        before: set[Node] = set()  # nodes that equations further up need
        for node in reversed(self.trace.live):
            if node.op != INPUT and (node in before or (node in self.called and node not in self.outputs)):
                before.update(x for x in node.operands if isinstance(x, Node))
        return self.outputs - before


def _stripped(x: Any) -> Any:
    return x.a if isinstance(x, Node) and x.op == NEG else x


def _sums(angles: Iterable[Any]) -> set[Node]:
    """The sums among angles, and those they are made of."""
    found, stack = set(), list(angles)
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and node.op in (ADD, SUB, NEG) and node not in found:
            found.add(node)
            stack += node.operands
    return found


def _expression(node: Node, of: Callable[[Any], Expression], on_line: bool) -> Expression:
    if node.op in (ADD, SUB):
        return add(1 if node.op == ADD else -1, of(node.a), of(node.b))
    if node.op == MUL:
        return (multiply if on_line else distribute)(of(node.a), of(node.b))
    if node.op == DIV:
        return Quotient(of(node.a), of(node.b))
    if node.op in (SIN, COS):
        terms = sorted(signed_terms(node.a), key=lambda term: term[1].number if isinstance(term[1], Node) else -1)
        return Call(NAMES[node.op], reduce(lambda total, term: add(term[0], total, of(term[1])), terms, Sum(())))
    return Call(NAMES[node.op], *map(of, node.operands))


def _angle_name(node: Node, inputs: Sequence[str]) -> str:
    """C23 of cos(q2 + q3), SA2 of sin(alpha2); empty if the angle is not a sum of such symbols."""
    parts = signed_terms(node.a)
    if not all(isinstance(x, Node) and x.op == INPUT for _, x in parts):
        return ""
    return turn_name("S" if node.op == SIN else "C", [(sign, inputs[int(x.a)]) for sign, x in parts], inputs)


def turn_name(letter: str, terms: Sequence[tuple[int, str]], inputs: Iterable[str]) -> str:
    """Of the sine or cosine of a sum of symbols, with their signs."""
    turning = [(sign, name[1:]) for sign, name in terms if re.fullmatch(r"q\d+", name)]
    if not turning:
        (_, name), *more = terms
        return "" if more else letter + name[0].upper() + name.lstrip("abcdefghijklmnopqrstuvwxyz")
    turning.sort(key=lambda term: (-term[0], int(term[1])))
    far = any(re.fullmatch(r"q\d\d+", name) for name in inputs)  # C12 is of q12 there, and C1_2 of q1 + q2
    text = "".join(("m" if sign < 0 else "_" if far and k else "") + number for k, (sign, number) in enumerate(turning))
    return letter + text


def _after_their_parts(names: Iterable[str], outputs: Mapping[str, Equation]) -> list[Equation]:
    """The outputs in the order of ``names``, but each after those it is made of."""
    placed: dict[str, Equation] = {}

    def place(name: str) -> None:
        if name in outputs and name not in placed:
            for symbol in sorted(symbols_of(outputs[name].expression)):
                place(symbol)
            placed[name] = outputs[name]

    for name in names:
        place(name)
    return list(placed.values())
