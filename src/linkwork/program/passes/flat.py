"""Sums and products of many operands: flatten the nested sums and products of a program, and write the program again.

What the passes that lower the number of operations have in common. The items of a flat sum are pairs ``(sign, value)``,
those of a flat product the same with sign +1. Values that a pass makes are numbered on from those of the program.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterator
from copy import copy
from functools import lru_cache, wraps
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any

from ..counts import Operations, count
from ..graph import Graph, Node
from ..interpret import FUNCTIONS
from ..loops import final_of
from ..program import FUSED, REPEAT, Op, Program
from ..trace import linearize
from .dead import use_counts

Pass = Callable[[Program], Program]
Items = list[tuple[int, int]]
Pair = tuple[int, int, int]  # two items and their relative sign

LONGEST = 40  # items of a sum in which pairs are looked for; they grow with the square

FUNCTION, DIVISION = 20, 4  # cost of expensive operations in native code, in multiplications
SIGNS = {int(Op.ADD): 1, int(Op.SUB): -1, int(Op.MUL): 1}  # of the second operand
MUL = int(Op.MUL)


def work(done: Operations) -> int:
    """Return the cost that a pass must reduce: the number of operations, expensive ones weighted."""
    functions = done.sincos + done.exp + done.log + done.tanh + done.atan2
    choices = done.abs + done.min + done.max + done.compare + done.select
    return done.mul + done.add + done.neg + choices + DIVISION * (done.div + done.sqrt) + FUNCTION * functions


@lru_cache(maxsize=1)  # most passes find nothing, and the next one starts from the same program
def _work_of(program: Program) -> int:
    return work(count(program))


def if_it_helps(rewrite: Pass) -> Pass:
    """Return a pass that keeps its result only if it reduces the on-line work; fused programs stay as they are."""

    @wraps(rewrite)
    def kept(program: Program) -> Program:
        if any([code[0] in FUSED for code in program.instructions]):
            return program
        made = rewrite(program)
        return made if made is not program and work(count(made)) < _work_of(program) else program

    return kept


def while_it_helps(rewrite: Pass) -> Pass:
    """Return a pass that is repeated while it reduces the on-line work."""
    once = if_it_helps(rewrite)

    @wraps(rewrite)
    def repeated(program: Program) -> Program:
        while (made := once(program)) is not program:
            program = made
        return program

    return repeated


class Flat:
    """A program whose nested sums and products lie flat: ``sums`` and ``products`` map a value to its items. A sum that
    is used once, and in a sum, belongs to that one; the same for products."""

    def __init__(self, program: Program):
        self.program = program
        self.code, self.uses, sums, products, self._within = _laid_flat(program)  # values swallow those within them
        self.sums, self.products = dict(sums), dict(products)
        self._constants = dict(enumerate(program.constants, program.n_inputs))
        self._number_of = {constant: value for value, constant in self._constants.items()}
        self._new: dict[int, tuple[Op, Items]] = {}
        self._next = program.n_values

    def unchanged(self) -> Flat:
        """Return a copy for the same program without new definitions; ``sums`` and ``products`` are shared."""
        other = copy(self)
        other._new, other._constants = {}, dict(self._constants)
        return other

    def constant(self, value: int) -> float | None:
        """The number that ``value`` is known to be, if it is."""
        return self._constants.get(value)

    def number(self, constant: float) -> int:
        """A value that is this constant."""
        if constant in self._number_of:
            return self._number_of[constant]
        self._constants[self._next] = constant
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
        if self.code.keys().isdisjoint(self._new):
            return program
        skipped = {x for value in self._new for x in self._within.get(value, ())}
        values: dict[int, Any] = {k: graph.input(k) for k in range(program.n_inputs)}
        values.update(self._constants)

        def of(value: int) -> Any:
            if value not in values:
                if value in self._new:
                    op, items = self._new[value]
                    operands = [(sign, of(x)) for sign, x in items]
                    values[value] = COMBINED[op](operands) if op in COMBINED else apply(program, op, operands[0][1])
                else:
                    op, *args = self.code[value]
                    values[value] = apply(program, op, *[values[a] if a in values else of(a) for a in args])
            return values[value]

        for number in self.code:
            if number not in skipped:
                of(number)
        return linearize(program.name, program.inputs, program.outputs, [of(r) for r in program.results])


@lru_cache(maxsize=1)
def _laid_flat(program: Program) -> tuple[dict, list[int], dict[int, Items], dict[int, Items], dict[int, list[int]]]:
    """Instructions by value, their uses, the items of sums and of products, and what each of these swallowed. It is the
    same for all passes over a program: they copy what they change."""
    code, uses = dict(program.numbered()), use_counts(program)
    sums: dict[int, Items] = {}
    products: dict[int, Items] = {}
    swallowed: dict[int, list[int]] = {}
    for number, instruction in code.items():
        if instruction[0] in SIGNS:
            op, a, b = instruction
            flat = products if op == MUL else sums
            items, within = [], []
            for sign, x in ((1, a), (SIGNS[op], b)):
                if x in flat and uses[x] == 1:
                    items += flat.pop(x) if sign > 0 else [(-s, y) for s, y in flat.pop(x)]
                    within += [x, *swallowed.pop(x)]
                else:
                    items.append((sign, x))
            flat[number], swallowed[number] = items, within
    return code, uses, sums, products, swallowed


def share(flat: Flat, op: Op, found: dict[int, Items]) -> None:
    """Define the pair of items that most of the sums (or products) contain once for all, then the next."""
    items = {value: list(pairs) for value, pairs in found.items() if len(pairs) <= LONGEST}
    where: dict[Pair, set[int]] = defaultdict(set)  # who has it

    def pairs(value: int, *of: int) -> Iterator[Pair]:
        """Those that one of the items ``of`` has a part in; all if none is given."""
        for (s, x), (t, y) in combinations(items[value], 2):
            if (x != y or op == Op.MUL) and (not of or x in of or y in of):
                yield min(x, y), max(x, y), s * t

    def rank(pair: Pair) -> tuple[int, int, int, int]:
        return -len(where[pair]), pair[1], pair[0], -pair[2]

    for value in items:
        for pair in pairs(value):
            where[pair].add(value)
    queue = [(rank(pair), pair) for pair, users in where.items() if len(users) > 1]
    heapify(queue)
    changed = set()
    while queue:
        known, pair = heappop(queue)
        if known != rank(pair):  # it has lost users since; pairs that gained users were queued again
            if len(where[pair]) > 1:
                heappush(queue, (rank(pair), pair))
            continue
        x, y, relative = pair
        new = flat.make(op, [(1, x), (relative, y)])
        won = set()
        for value in sorted(where.pop(pair)):
            for old in pairs(value, x, y):
                where[old].discard(value)
            sign = next(s for s, z in items[value] if z == x and (s * relative, y) in items[value])
            items[value].remove((sign, x))
            items[value].remove((sign * relative, y))
            items[value].append((sign, new))
            changed.add(value)
            for fresh in pairs(value, x, y, new):
                where[fresh].add(value)
                won.add(fresh)
        for fresh in won:
            if len(where[fresh]) > 1:
                heappush(queue, (rank(fresh), fresh))
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


def apply(program: Program, op: int, *operands: Any) -> Any:
    """An operation of a program on nodes and numbers, simplified as in tracing."""
    return APPLIED[op](*operands) if op < REPEAT else final_of(program, op, operands)


APPLIED: dict[int, Callable[..., Any]] = {
    **FUNCTIONS,
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
    Op.DIV: operator.truediv,
    Op.NEG: operator.neg,
}
