"""Sums: what cancels or folds across the sums they are made of, and what several of them contain."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

from ..program import Op, Program
from .flat import Flat, Items, share, while_it_helps


@while_it_helps
def collect_terms(program: Program) -> Program:
    """A sum that others use too is opened where its terms then cancel or its constant meets another:
    ``(a + x) + (b - x)`` is ``a + b``, and ``(x + 2) + 3`` is ``x + 5``."""
    flat = Flat(program)
    for value, items in flat.sums.items():
        opened = _merged(flat, items, [])
        while (better := _opened(flat, opened)) is not None:
            opened = better
        if len(opened) < len(items):
            flat.define(value, Op.ADD, opened)
    return flat.rewritten()


@while_it_helps
def share_sums(program: Program) -> Program:
    """``a + b`` is computed once for ``a + b + c`` and ``d - a - b``: the pair of terms that most sums contain, then
    the next."""
    flat = Flat(program)
    share(flat, Op.ADD, flat.sums)
    return flat.rewritten()


def _opened(flat: Flat, items: Items) -> Items | None:
    """The items with one or two of them opened, if there are fewer of them then."""
    inside = {k: _distinct(flat, flat.sums[x]) for k, (_, x) in enumerate(items) if x in flat.sums}
    for chosen in chain(combinations(inside, 1), combinations(inside, 2)):
        kept = [item for k, item in enumerate(items) if k not in chosen]
        parts = [_distinct(flat, kept), *(inside[k] for k in chosen)]
        if len(set().union(*parts)) < sum(map(len, parts)):  # else nothing meets
            made = _merged(flat, kept, [items[k] for k in chosen])
            if len(made) < len(items):
                return made
    return None


def _distinct(flat: Flat, items: Items) -> set[int | None]:
    """The terms, and None for all constants."""
    return {None if flat.constant(x) is not None else x for _, x in items}


def _merged(flat: Flat, kept: Items, opened: Items) -> Items:
    terms = [*kept, *((sign * s, x) for sign, value in opened for s, x in flat.sums[value])]
    times: Counter[int] = Counter()
    for sign, x in terms:
        times[x] += sign
    numbers = [(sign, x) for sign, x in terms if flat.constant(x) is not None]
    others = [(1 if n > 0 else -1, x) for x, n in times.items() if flat.constant(x) is None for _ in range(abs(n))]
    return [*others, *([(1, flat.make(Op.ADD, numbers))] if numbers else [])]
