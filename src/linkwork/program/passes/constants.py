"""Units: choose units of values such that as few as possible have to be multiplied by constants.

A constant factor can be pulled through products, quotients and sums: ``2 (3 x y + 5 z)`` is ``6 x y + 10 z``, and a
robot whose unit of length is its forearm has a forearm of length one. Every value gets a scale of its own, sums ask
their terms for equal scales, inputs and outputs keep theirs; what freedom is left makes constants one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import isfinite
from typing import Any

from ..graph import Graph
from ..program import Op, Program
from ..trace import linearize
from .flat import apply, if_it_helps

# Beyond, or below one by as much, a constant is not made the unit, and no value is scaled so far: constants, or values
# of the robot at hand, would leave the range of floats.
MOST, FARTHEST = 2.0**20, Fraction(2) ** 400


class Scale:
    """``factor`` times unknown numbers to their ``powers``."""

    __slots__ = ("factor", "powers")

    def __init__(self, factor: Fraction | int = 1, powers: dict[int, int] | None = None):
        self.factor, self.powers = factor, powers or {}

    def times(self, other: Scale, exponent: int = 1) -> Scale:
        """Times ``other ** exponent``."""
        if other is ONE:
            return self
        if self is ONE and exponent == 1:
            return other
        powers = dict(self.powers)
        for k, p in other.powers.items():
            powers[k] = powers.get(k, 0) + exponent * p
            if not powers[k]:
                del powers[k]
        factor = self.factor if other.factor == 1 else self.factor * Fraction(other.factor) ** exponent
        return Scale(factor, powers) if powers or factor != 1 else ONE


ONE = Scale()


class Unknowns:
    """Numbers that scales are made of, settled one after the other."""

    def __init__(self):
        self.settled: dict[int, Scale] = {}
        self.made = 0

    def new(self) -> Scale:
        self.made += 1
        return Scale(powers={self.made: 1})

    def now(self, scale: Scale) -> Scale:
        """The scale with what has been settled put in."""
        if self._final(scale):
            return scale
        waiting = [k for k in scale.powers if k in self.settled]
        while waiting:  # each may lead to others, thousands deep
            own = self.settled[waiting[-1]]
            if deeper := [k for k in own.powers if k in self.settled and not self._final(self.settled[k])]:
                waiting += deeper
            else:
                self.settled[waiting.pop()] = self._put_in(own)
        return self._put_in(scale)

    def _final(self, scale: Scale) -> bool:
        return self.settled.keys().isdisjoint(scale.powers)

    def _put_in(self, scale: Scale) -> Scale:
        """With what has been settled, once it is final."""
        made = Scale(scale.factor, {k: p for k, p in scale.powers.items() if k not in self.settled})
        for k, p in scale.powers.items():
            if k in self.settled:
                made = made.times(self.settled[k], p)
        return made

    def make_one(self, scale: Scale) -> int | None:
        """Settle an unknown so that the scale is one, if that takes no roots; which one."""
        scale = self.now(scale)
        k = max((k for k, p in scale.powers.items() if abs(p) == 1), default=None)
        if k is not None:
            rest = Scale(scale.factor, {n: p for n, p in scale.powers.items() if n != k})
            self.settled[k] = ONE.times(rest, -scale.powers[k])
        return k

    def make_equal(self, a: Scale, b: Scale) -> None:
        if a is not b:
            difference = self.now(a.times(b, -1))
            if self.make_one(difference) is None:
                self.settled.update(dict.fromkeys(difference.powers, ONE))


@if_it_helps
def rescale(program: Program) -> Program:
    """Choose units: of the constants that values are multiplied by, as many as possible become one."""
    if not all(map(isfinite, program.constants)):
        return program
    n_inputs, first = program.n_inputs, program.first_instruction
    constants = {n_inputs + k: c for k, c in enumerate(program.constants)}
    unknowns, of, multiplied = Unknowns(), [ONE] * first, []
    for number, (op, *args) in program.numbered():
        free = [a for a in args if a not in constants]
        if op == Op.NEG:
            made = of[args[0]]
        elif op in (Op.ADD, Op.SUB) and free:
            made = of[free[0]]
            unknowns.make_equal(made, of[free[-1]])
        elif op == Op.MUL and len(free) == 2:
            made = of[free[0]].times(of[free[1]])
        elif op == Op.DIV and len(free) == 2:
            made = of[free[0]].times(of[free[1]], -1)
        elif op in (Op.MUL, Op.DIV) and free:
            made = unknowns.new()
            if op == Op.MUL:
                constant = next(constants[a] for a in args if a in constants)
                multiplied.append((number, free[0], abs(constant)))
        else:
            for a in free:
                unknowns.make_equal(of[a], ONE)
            made = ONE
        of.append(unknowns.now(made))
    for r in program.results:
        unknowns.make_equal(of[r], ONE)

    factors = [of[y].times(of[x], -1).times(Scale(Fraction(c))) for y, x, c in multiplied if 1 / MOST <= c <= MOST]
    _make_ones(unknowns, factors)
    settled = {id(scale): scale for scale in of}  # few, and shared by many values
    final = {key: Fraction(unknowns.now(scale).factor) for key, scale in settled.items()}
    if not all(1 / FARTHEST < abs(factor) < FARTHEST for factor in final.values()):
        return program
    return _scaled(program, [final[id(scale)] for scale in of])


def _make_ones(unknowns: Unknowns, scales: Sequence[Scale]) -> None:
    """Settle unknowns until nothing is left to be made one, each time for the most scales at once."""
    now = dict(enumerate(scales))
    having: dict[int, list[int]] = defaultdict(list)  # an unknown -> scales it is in
    kind: dict[int, Any] = {}  # scales of one kind become one together
    alike: dict[Any, set[int]] = defaultdict(set)
    queue: list[tuple[int, int, Any]] = []  # the kinds with most scales first, as they were when they last changed
    changed: Iterable[int] = list(now)
    while True:
        touched = {kind[n] for n in changed if n in kind}
        for n in changed:
            if n in kind:
                alike[kind.pop(n)].remove(n)
            now[n] = scale = unknowns.now(now[n])
            for k in scale.powers:
                having[k].append(n)
            if any(abs(p) == 1 for p in scale.powers.values()):
                kind[n] = _same(scale)
                alike[kind[n]].add(n)
                touched.add(kind[n])
        for key in touched:
            if alike[key]:
                heappush(queue, (-len(alike[key]), min(alike[key]), key))
        while queue and (-len(alike[queue[0][2]]), kind.get(queue[0][1])) != (queue[0][0], queue[0][2]):
            heappop(queue)
        if not queue:
            return
        k = unknowns.make_one(now[queue[0][1]])
        changed = dict.fromkeys(having.pop(k)) if k is not None else ()


def _same(scale: Scale) -> tuple:
    """Equal for scales that become one together."""
    key, ratio = tuple(sorted(scale.powers.items())), scale.factor.as_integer_ratio()
    return (key, ratio) if key[0][1] > 0 else (tuple((k, -p) for k, p in key), ratio[::-1])


def _scaled(program: Program, scale: list[Fraction]) -> Program:
    """With every value times its scale."""
    graph = Graph()
    values: list[Any] = [graph.input(k) for k in range(program.n_inputs)]
    constants = {program.n_inputs + k: Fraction(c) for k, c in enumerate(program.constants)}
    values.extend(program.constants)
    for number, (op, *args) in program.numbered():
        free = [a for a in args if a not in constants]
        operands = [values[a] for a in args]
        if len(free) < len(args) and free and op in (Op.ADD, Op.SUB, Op.MUL, Op.DIV):  # functions keep theirs
            (k,) = (k for k, a in enumerate(args) if a in constants)
            wanted, other = scale[number], scale[free[0]]
            if op == Op.MUL:
                wanted /= other
            elif op == Op.DIV:
                wanted = wanted * other if k == 0 else other / wanted
            operands[k] = float(constants[args[k]] * wanted)
        values.append(apply(program, op, *operands))
    return linearize(program.name, program.inputs, program.outputs, [values[r] for r in program.results])
