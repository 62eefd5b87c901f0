"""Sines and cosines: the sum of their squares, and those of sums of angles, as parallel axes have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, pairwise

from ..counts import count
from ..program import Op, Program
from .flat import Flat, while_it_helps, work

Monomial = tuple[int, ...]  # sorted factors, none of them a product
Angles = tuple[int, int, int]  # a, b and the sign of b in a + b
Place = tuple[int, int, int, Op, Monomial, int]  # a sum, two of its items that make +-r sin or cos, r, the sign
HIGHEST = 6  # factors that are looked at


@while_it_helps
def squares_of_sine_and_cosine(program: Program) -> Program:
    """``r sin^2 + r cos^2`` is ``r``, and ``r - r sin^2`` is ``r cos^2``, if the program computes it already."""
    waves = _Waves(program)
    flat = waves.flat
    for value, items in list(flat.sums.items()):
        for (s, x), (t, y) in combinations(items, 2):
            if (x in waves.squared or y in waves.squared) and (one := waves.squares(s, x, t, y)) is not None:
                left = list(items)
                left.remove((s, x))
                left.remove((t, y))
                flat.define(value, Op.ADD, [*left, one])
                break
    return flat.rewritten()


@while_it_helps
def angle_sums(program: Program) -> Program:
    """``r sin a cos b + r cos a sin b`` is ``r sin(a + b)``, and so on, for the pair of angles that saves most. Or the
    other way round: where sine and cosine of ``a``, ``b`` and ``a + b`` are all there, the last are made of the others.
    """
    waves = _Waves(program)
    made = [waves.joined(pair, places) for pair, places in waves.turns().items()]
    made += [waves.taken_apart(*found) for found in waves.sums_of_angles()]
    return min(made, key=lambda one: work(count(one)), default=program)


class _Waves:
    """A program with its products seen as monomials in sines and cosines."""

    def __init__(self, program: Program):
        self.program, self.flat = program, Flat(program)
        self.wave = {n: (op, a) for n, (op, a, *_) in program.numbered() if op in (Op.SIN, Op.COS)}
        self.number = {found: n for n, found in self.wave.items()}
        self.monomial: dict[int, Monomial] = {}
        for n, (op, *args) in program.numbered():
            if op == Op.MUL:
                factors = sorted(f for a in args for f in self.monomial.get(a, (a,)))
                if len(factors) <= HIGHEST:
                    self.monomial[n] = tuple(factors)
        self.turning = {x for x, m in self.monomial.items() if sum(f in self.wave for f in m) > 1}
        self.squared = {x for x in self.turning if any(a == b for a, b in pairwise(self.monomial[x]))}
        self.on_hand = {m: n for n, m in reversed(self.monomial.items())}

    def of(self, x: int) -> Monomial:
        return self.monomial.get(x, (x,))

    def known(self, factors: Monomial, flat: Flat) -> int | None:
        """The value of a monomial, if the program has it."""
        if not factors:
            return flat.number(1.0)
        return factors[0] if len(factors) == 1 else self.on_hand.get(factors)

    def squares(self, s: int, x: int, t: int, y: int) -> tuple[int, int] | None:
        """What ``s x + t y`` is, if it is one item."""
        for a, b in ((self.of(x), self.of(y)), (self.of(y), self.of(x))):
            less, more = _difference(a, b)
            if s == t and len(less) == 2 == len(more) and len(set(less)) == len(set(more)) == 1:
                if self._pair(less[0], more[0]):
                    rest = self.known(_without(a, less), self.flat)
                    return None if rest is None else (s, rest)
            elif s == -t and (not less or a == self.of(self.flat.number(1.0))) and len(more) == 2:
                op, angle = self.wave.get(more[0], (Op.ADD, 0))
                other = self.number.get((Op.COS if op == Op.SIN else Op.SIN, angle))
                if more[0] == more[1] and op != Op.ADD and other is not None:
                    rest = self.known(tuple(sorted((*_without(b, more), other, other))), self.flat)
                    sign = s if a == self.of(x) else t
                    return None if rest is None else (sign, rest)
        return None

    def _pair(self, sine: int, cosine: int) -> bool:
        (p, a), (r, b) = self.wave.get(sine, (Op.ADD, -1)), self.wave.get(cosine, (Op.ADD, -2))
        return a == b and p != r

    def turns(self) -> dict[Angles, list[Place]]:
        """For angles (a, b, sign): where ``r sin(a + sign b)`` or its cosine stands in two items of a sum."""
        found = defaultdict(list)
        for value, items in self.flat.sums.items():
            turning = [(k, item) for k, item in enumerate(items) if item[1] in self.turning]
            for (k, (s, x)), (m, (t, y)) in combinations(turning, 2):
                one, two = _difference(self.of(x), self.of(y))
                if len(one) == 2 == len(two) and all(f in self.wave for f in (*one, *two)):
                    rest = _without(self.of(x), one)
                    if self.known(rest, self.flat) is not None and (turn := self._turn(s, one, t, two)):
                        angles, op, sign = turn
                        found[angles].append((value, k, m, op, rest, sign))
        return found

    def _turn(self, s: int, one: Monomial, t: int, two: Monomial) -> tuple[Angles, Op, int] | None:
        """Return the angles of ``s one + t two``, whether it is the sine or cosine of their sum, and its sign."""
        (p, a), (r, b) = (self.wave[f] for f in one)
        (u, c), (w, d) = (self.wave[f] for f in two)
        if (c, d) != (a, b):
            (u, c), (w, d) = (w, d), (u, c)
        if (c, d) != (a, b) or a == b or p == u or r == w:
            return None
        if p == r:  # cos cos and sin sin
            cosines = s if p == Op.COS else t
            return (a, b, -1 if s == t else 1), Op.COS, cosines
        first = s if p == Op.SIN else t  # of sin a cos b
        return (a, b, 1 if s == t else -1), Op.SIN, first

    def joined(self, angles: Angles, places: list[Place]) -> Program:
        flat = self.flat.unchanged()
        a, b, sign = angles
        angle = flat.make(Op.ADD, [(1, a), (sign, b)])
        waves = {op: flat.make(op, [(1, angle)]) for op in (Op.SIN, Op.COS)}
        gone: dict[int, set[int]] = defaultdict(set)
        items = {value: list(flat.sums[value]) for value, *_ in places}
        for value, k, m, op, rest, s in places:
            if not gone[value] & {k, m}:
                gone[value] |= {k, m}
                items[value].append((s, flat.make(Op.MUL, [*((1, f) for f in rest), (1, waves[op])])))
        for value, terms in items.items():
            flat.define(value, Op.ADD, [term for k, term in enumerate(terms) if k not in gone[value]])
        return flat.rewritten()

    def sums_of_angles(self) -> Iterator[tuple[int, int, int, int]]:
        """Angles ``c = a +- b`` of which all have a sine or cosine: (c, a, sign, b)."""
        angles = {a for _, a in self.wave.values()}
        for c in sorted(angles):
            op, *args = self.flat.code.get(c, (Op.NEG, 0))
            if op in (Op.ADD, Op.SUB) and angles.issuperset(args):
                yield c, args[0], 1 if op == Op.ADD else -1, args[1]

    def taken_apart(self, c: int, a: int, sign: int, b: int) -> Program:
        flat = self.flat.unchanged()
        (sa, ca), (sb, cb) = (
            tuple(self.number.get((op, x)) or flat.make(op, [(1, x)]) for op in (Op.SIN, Op.COS)) for x in (a, b)
        )
        product = lambda x, y: flat.make(Op.MUL, [(1, x), (1, y)])  # noqa: E731
        if (sine := self.number.get((Op.SIN, c))) is not None:
            flat.define(sine, Op.ADD, [(1, product(sa, cb)), (sign, product(ca, sb))])
        if (cosine := self.number.get((Op.COS, c))) is not None:
            flat.define(cosine, Op.ADD, [(1, product(ca, cb)), (-sign, product(sa, sb))])
        return flat.rewritten()


def _difference(a: Monomial, b: Monomial) -> tuple[Monomial, Monomial]:
    """The factors that only one of them has."""
    one, two = list(a), []
    for f in b:
        if f in one:
            one.remove(f)
        else:
            two.append(f)
    return tuple(one), tuple(two)


def _without(a: Monomial, factors: Monomial) -> Monomial:
    return _difference(a, factors)[0]
