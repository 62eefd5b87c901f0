"""Sums: what cancels or folds across the sums they are made of, and what several of them contain."""

from __future__ import annotations

from collections import Counter, defaultdict
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
    times = _times(flat, items)
    change = {}  # what opening an item adds to the terms
    for k, (sign, x) in enumerate(items):
        if x in flat.sums:
            change[k] = _times(flat, [(-sign, x), *((sign * s, y) for s, y in flat.sums[x])])
    more = {k: _more(times, own) for k, own in change.items()}  # items, if it is opened alone
    for chosen in chain(((k,) for k in change if more[k] < 0), _pairs(change, more)):
        together: Counter[int | None] = Counter()
        for k in chosen:
            for x, n in change[k].items():
                together[x] += n
        if _more(times, together) < 0:
            return _merged(flat, [x for k, x in enumerate(items) if k not in chosen], [items[k] for k in chosen])
    return None


def _times(flat: Flat, items: Items) -> Counter[int | None]:
    """How often each term is added; under None, how many constants there are."""
    times: Counter[int | None] = Counter()
    for sign, x in items:
        if flat.constant(x) is None:
            times[x] += sign
        else:
            times[None] += 1
    return times


def _more(times: Counter[int | None], change: Counter[int | None]) -> int:
    """Items that a change of the terms adds; all constants are one item."""
    terms = sum([abs(times[x] + n) - abs(times[x]) for x, n in change.items() if x is not None])
    return terms + (change[None] > 0 == times[None])


def _pairs(change: dict[int, Counter[int | None]], more: dict[int, int]) -> list[tuple[int, int]]:
    """Those that may gain by being opened together: they have a term in common. A constant saves one item only."""
    having = defaultdict(list)
    for k, own in change.items():
        for x in own:
            if x is not None or not more[k]:
                having[x].append(k)
    return sorted({pair for found in having.values() for pair in combinations(found, 2)})


def _merged(flat: Flat, kept: Items, opened: Items) -> Items:
    terms = [*kept, *((sign * s, x) for sign, value in opened for s, x in flat.sums[value])]
    times: Counter[int] = Counter()
    for sign, x in terms:
        times[x] += sign
    numbers = [(sign, x) for sign, x in terms if flat.constant(x) is not None]
    others = [(1 if n > 0 else -1, x) for x, n in times.items() if flat.constant(x) is None for _ in range(abs(n))]
    return [*others, *([(1, flat.make(Op.ADD, numbers))] if numbers else [])]
