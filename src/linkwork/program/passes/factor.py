"""Common factors: ``x a + x b`` is ``x (a + b)``."""

from __future__ import annotations

from collections import defaultdict

from ..program import Op, Program
from .flat import Flat, Items, while_it_helps


@while_it_helps
def factor(program: Program) -> Program:
    """In every sum of products, the factor that most of them have is taken out, then the next. Constants are factors
    like all others, so ``2 x + 3 x`` becomes ``5 x``, and ``x + 3 x`` becomes ``4 x``."""
    flat = Flat(program)
    for value, items in list(flat.sums.items()):
        _factor(flat, value, items)
    return flat.rewritten()


def _factor(flat: Flat, value: int, items: Items) -> None:
    terms = [(sign, _factors(flat, x)) for sign, x in items]
    changed = False
    while (common := _most_common(flat, terms)) is not None:
        rest, inside = [], []
        for sign, factors in terms:
            if common in factors:
                left = list(factors)
                left.remove(common)
                inside.append((sign, flat.make(Op.MUL, [(1, x) for x in left])))
            else:
                rest.append((sign, factors))
        terms = [*rest, (1, (common, flat.make(Op.ADD, inside)))]
        changed = True
    if changed:
        flat.define(value, Op.ADD, [(s, flat.make(Op.MUL, [(1, x) for x in factors])) for s, factors in terms])


def _factors(flat: Flat, x: int) -> tuple[int, ...]:
    return tuple(f for _, f in flat.products[x]) if x in flat.products and flat.uses[x] == 1 else (x,)


def _most_common(flat: Flat, terms: list[tuple[int, tuple[int, ...]]]) -> int | None:
    """The factor whose taking out saves most."""
    among = defaultdict(list)
    for _, factors in terms:
        for x in dict.fromkeys(factors):
            among[x].append(factors)

    def saved(x: int) -> int:
        multiplied = sum(len(factors) > 1 for factors in among[x]) - 1
        numbers = sum(_is_number(flat, x, factors) for factors in among[x])
        return multiplied + max(numbers - 1, 0)

    several = [x for x in among if len(among[x]) > 1]
    best = max(several, key=lambda x: (saved(x), len(among[x]), -x), default=None)
    return best if best is not None and saved(best) > 0 else None


def _is_number(flat: Flat, x: int, factors: tuple[int, ...]) -> bool:
    """Does taking out ``x`` leave a constant?"""
    left = list(factors)
    left.remove(x)
    return not left or (len(left) == 1 and flat.constant(left[0]) is not None)
