"""Products and powers: ``a b`` computed once for ``a b c`` and ``a b d``, ``x^4`` as the square of ``x^2``."""

from __future__ import annotations

from collections import Counter

from ..program import Op, Program
from .flat import Flat, share, while_it_helps


@while_it_helps
def share_products(program: Program) -> Program:
    """The pair of factors that most products contain is multiplied once, then the next. A product that is only ever
    added to itself, as in ``x y + (x y + z)``, is one with the factor 2."""
    flat = Flat(program)
    two = flat.number(2.0)
    for value, items in list(flat.sums.items()):
        for (sign, x), times in Counter(items).items():
            if times == 2 == flat.uses[x] and x in flat.products:
                doubled = flat.make(Op.MUL, [(1, two), (1, x)])
                flat.products[doubled] = [(1, two), *flat.products.pop(x)]
                flat.sums[value] = [item for item in flat.sums[value] if item != (sign, x)] + [(sign, doubled)]
                flat.define(value, Op.ADD, flat.sums[value])
    share(flat, Op.MUL, flat.products)
    return flat.rewritten()
