"""Sums and products of many operands: a program with its nested sums and products laid flat, and written anew.

What the passes that lower the number of operations have in common. The items of a flat sum are pairs ``(sign, value)``,
those of a flat product the same with sign +1. Values that a pass makes are numbered on from those of the program.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import combinations
from typing import Any

from ..counts import Operations, count
from ..graph import Graph, Node
from ..program import Op, Program
from ..trace import linearize
from .dead import use_counts

Pass = Callable[[Program], Program]
Items = list[tuple[int, int]]

LONGEST = 40  # items of a sum in which pairs are looked for; they grow with the square

SINE_AND_COSINE, DIVISION = 20, 4  # what the dear ones weigh in native code, in multiplications
SIGNS = {Op.ADD: (1, 1), Op.SUB: (1, -1), Op.MUL: (1, 1)}
KIND = {Op.ADD: Op.ADD, Op.SUB: Op.ADD, Op.MUL: Op.MUL}


def work(done: Operations) -> int:
    """What a pass must lower: the number of operations, the dear ones by their weight."""
    return done.mul + done.add + done.neg + DIVISION * (done.div + done.sqrt) + SINE_AND_COSINE * done.sincos


def while_it_helps(rewrite: Pass) -> Pass:
    """The pass, repeated while it lowers the work on line. A program that is fused already is left alone."""

    @wraps(rewrite)
    def repeated(program: Program) -> Program:
        if any(op >= Op.FMA for op, *_ in program.instructions):
            return program
        least = work(count(program))
        while (now := work(count(made := rewrite(program)))) < least:
            program, least = made, now
        return program

    return repeated


class Flat:
    """A program whose nested sums and products lie flat: ``sums`` and ``products`` map a value to its items. A sum that
    is used once, and in a sum, belongs to that one; the same for products."""

    def __init__(self, program: Program):
        self.program, self.code, self.uses = program, dict(program.numbered()), use_counts(program)
        self.sums: dict[int, Items] = {}
        self.products: dict[int, Items] = {}
        self._within: dict[int, list[int]] = {}  # what a flat value swallowed
        self._new: dict[int, tuple[Op, Items]] = {}
        self._numbers: dict[int, float] = {}
        self._next = program.n_values
        for number, (op, *args) in program.numbered():
            if op in KIND:
                flat = self.sums if KIND[Op(op)] == Op.ADD else self.products
                items, within = [], []
                for sign, a in zip(SIGNS[Op(op)], args, strict=True):
                    if a in flat and self.uses[a] == 1:
                        items += [(sign * s, x) for s, x in flat.pop(a)]
                        within += [a, *self._within.pop(a)]
                    else:
                        items.append((sign, a))
                flat[number], self._within[number] = items, within

    def constant(self, value: int) -> float | None:
        """The number that ``value`` is known to be, if it is."""
        k = value - self.program.n_inputs
        return self.program.constants[k] if 0 <= k < len(self.program.constants) else self._numbers.get(value)

    def number(self, constant: float) -> int:
        """A value that is this constant."""
        if constant in self.program.constants:
            return self.program.n_inputs + self.program.constants.index(constant)
        self._numbers[self._next] = constant
        self._next += 1
        return self._next - 1

    def make(self, op: Op, items: Items) -> int:
        """A new value: the sum (Op.ADD) or product (Op.MUL) of the items, or a function of the only item."""
        self._next += 1
        self._new[self._next - 1] = op, items
        return self._next - 1

    def define(self, value: int, op: Op, items: Items) -> None:
        """Give ``value`` new items."""
        self._new[value] = op, items

    def rewritten(self) -> Program:
        """The program with what was defined and made."""
        program, graph = self.program, Graph()
        skipped = {x for value in self._new for x in self._within.get(value, ())}
        values: dict[int, Any] = {k: graph.input(k) for k in range(program.n_inputs)}
        values.update(enumerate(program.constants, program.n_inputs))
        values.update(self._numbers)

        def of(value: int) -> Any:
            if value not in values:
                if value in self._new:
                    op, items = self._new[value]
                    operands = [(sign, of(x)) for sign, x in items]
                    values[value] = COMBINED[op](operands) if op in COMBINED else apply(op, operands[0][1])
                else:
                    op, *args = self.code[value]
                    values[value] = apply(op, *(of(a) for a in args))
            return values[value]

        for number in self.code:
            if number not in skipped:
                of(number)
        return linearize(program.name, program.inputs, program.outputs, [of(r) for r in program.results])


def share(flat: Flat, op: Op, found: dict[int, Items]) -> None:
    """Define the pair of items that most of the sums (or products) contain once for all, then the next."""
    items = {value: list(pairs) for value, pairs in found.items() if len(pairs) <= LONGEST}
    where: dict[tuple[int, int, int], set[int]] = defaultdict(set)  # a pair and its relative sign -> who has it

    def pairs(value: int) -> Iterator[tuple[int, int, int]]:
        for (s, x), (t, y) in combinations(items[value], 2):
            if x != y or op == Op.MUL:
                yield min(x, y), max(x, y), s * t

    for value in items:
        for pair in pairs(value):
            where[pair].add(value)
    changed = set()
    while where:
        pair = max(where, key=lambda p: (len(where[p]), -p[1], -p[0]))
        x, y, relative = pair
        users = where.pop(pair)
        if len(users) < 2:
            break
        new = flat.make(op, [(1, x), (relative, y)])
        for value in sorted(users):
            for old in pairs(value):
                where[old].discard(value)
            sign = next(s for s, z in items[value] if z == x and (s * relative, y) in items[value])
            items[value].remove((sign, x))
            items[value].remove((sign * relative, y))
            items[value].append((sign, new))
            changed.add(value)
            for fresh in pairs(value):
                where[fresh].add(value)
    for value in changed:
        flat.define(value, op, items[value])


def product(operands: list[tuple[int, Any]]) -> Any:
    made: Any = 1
    for _, x in operands:
        made = made * x
    return made


def total(operands: list[tuple[int, Any]]) -> Any:
    """One after another, so that every product but one can be fused into the sum; what is not a product comes first."""
    known = sum(sign * x for sign, x in operands if not isinstance(x, Node))
    nodes = sorted((pair for pair in operands if isinstance(pair[1], Node)), key=lambda pair: pair[1].op == Op.MUL)
    made: Any = 0
    for sign, x in [*(p for p in nodes if p[0] > 0), *(p for p in nodes if p[0] < 0)]:
        made = made + x if sign > 0 else made - x
    return made + known


COMBINED = {Op.ADD: total, Op.MUL: product}


def apply(op: int, a: Any, b: Any = None) -> Any:
    """The operation on nodes and numbers, simplified as in tracing."""
    if op == Op.ADD:
        return a + b
    if op == Op.SUB:
        return a - b
    if op == Op.MUL:
        return a * b
    if op == Op.DIV:
        return a / b
    if op == Op.NEG:
        return -a
    return FUNCTIONS[Op(op)](a)


FUNCTIONS = {
    Op.SQRT: lambda x: x.sqrt() if isinstance(x, Node) else math.sqrt(x),
    Op.SIN: lambda x: x.sin() if isinstance(x, Node) else math.sin(x),
    Op.COS: lambda x: x.cos() if isinstance(x, Node) else math.cos(x),
    Op.SIGN: lambda x: x.sign() if isinstance(x, Node) else (x > 0) - (x < 0),
}
