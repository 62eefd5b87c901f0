"""Hollerbach 1980, Tables I and II: operations of six formulations of inverse dynamics for n rotary joints."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from ..scalar import Tally
from . import hollerbach1980_runs as runs
from .table import Count, Polynomial, Row, Table

P = Polynomial.of
CONVENTION = (
    "n rotary joints. Matrix products are dense, 64M 48A or 27M 18A, also inside traces; A_i, its derivatives and the "
    "constants of the links are given, m r is counted; nothing is shared between equations; sums of loops start from "
    "zero; for link 1 the products of (8)-(10) are given; terms with index n + 1 are absent. The paper states the "
    "dense products and that the A_i are given; the rest was found by matching its polynomials."
)


@cache
def count(run: Callable[..., object], n: int) -> Count:
    tally = Tally()
    run(n, tally)
    return tally


def _row(
    label: str, method: str, run: Callable[..., object], polynomials: tuple[Polynomial, Polynomial],
    at_6: tuple[int, int], why: str = "", n_to: int = 9,
) -> Row:  # fmt: skip
    """Return a row whose printed values are those for six joints."""
    return Row(label, method, *polynomials, partial(count, run), 1, n_to, why, {6: at_6})


# Printed polynomials of multiplications and additions
UICKER_KAHN = P("65/2", "1037/12", "685/4", "160/3", -128), P(25, "199/3", "259/2", "127/3", -96)
RECURSIVE_3X3 = P(412, -277), P(320, -201)
WITHOUT_INERTIA = partial(runs.uicker_kahn, inertia_products=False)

# fmt: off
TABLE = Table("Tables I and II: inverse dynamics", "hollerbach1980", CONVENTION, (
    _row("Uicker/Kahn", "uicker-kahn", runs.uicker_kahn, UICKER_KAHN, (66271, 51548),
         "the printed count omits the products and traces of the inertial term (next row)", n_to=7),
    _row("Uicker/Kahn, without the products of the inertial term", "uicker-kahn", WITHOUT_INERTIA, UICKER_KAHN,
         (66271, 51548),
         "the printed polynomial is not an integer for every n: M lacks n^2 (n + 1)/4, A has n/6 too much; the printed "
         "66,271 is not its value at n = 6 (67,143)", n_to=7),
    _row("Waters", "waters", runs.waters, (P("213/2", "2481/4", -512), P(82, 514, -384)), (7051, 5652),
         "the printed 620 1/4 n, which is not an integer for every n, should be 620 1/2 n; the printed 7,051 is n more "
         "than that gives"),
    _row("Hollerbach (4x4)", "hollerbach-4x4", runs.recursive_4x4, (P(830, -592), P(675, -464)), (4388, 3586),
         "the printed count has 20n more multiplications, as many as g^T dW/dq c once more; additions have no such "
         "term"),
    _row("Hollerbach (3x3), as printed, frames on the joints' axes", "hollerbach-3x3", runs.recursive_3x3_as_printed,
         RECURSIVE_3X3, (2195, 1719),
         "the printed count has 16M, as for 4x4 matrices, for two of the 3x3 products with c: 2 x 7n, less 7 for link "
         "n + 1; with them 412n - 277"),
    _row("Hollerbach (3x3), corrected, distal frames", "hollerbach-3x3", runs.recursive_3x3, RECURSIVE_3X3,
         (2195, 1719),
         "as in the row above; besides, the last link also has ip_i* e_i (+9M +9A), and n_i + M_i ip_i* is constant "
         "(-3n M)"),
    _row("Newton-Euler", "newton-euler-link", runs.newton_euler, (P(150, -48), P(131, -48)), (852, 738),
         "no convention was found that gives the 15n more multiplications; vector sums start from zero, w_1 and wd_1 "
         "are given, p_n* x f_n+1 is executed"),
    _row("Horn, Raibert", "configuration-space", runs.horn_raibert, (P(2, 1, 0, 0), P(1, 1, 2, 0)), (468, 264)),
), quantity="inverse_dynamics")
# fmt: on

TABLES = (TABLE,)
