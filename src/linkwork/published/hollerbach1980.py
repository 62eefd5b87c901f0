"""Hollerbach 1980, Tables I and II: operations of six formulations of inverse dynamics for n rotary joints."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from ..scalar import Tally
from . import hollerbach1980_runs as runs
from .table import Count, Polynomial, Row, Table

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


WITHOUT_INERTIA = partial(runs.uicker_kahn, inertia_products=False)

TABLE = Table(
    "Tables I and II: inverse dynamics",
    "hollerbach1980",
    CONVENTION,
    (
        Row(
            "Uicker/Kahn",
            "uicker-kahn",
            Polynomial.of("65/2", "1037/12", "685/4", "160/3", -128),
            Polynomial.of(25, "199/3", "259/2", "127/3", -96),
            partial(count, runs.uicker_kahn),
            n_from=1,
            n_to=7,
            why="print leaves out the products and traces of the inertial term (next row)",
            values={6: (66271, 51548)},
        ),
        Row(
            "Uicker/Kahn, without the products of the inertial term",
            "uicker-kahn",
            Polynomial.of("65/2", "1037/12", "685/4", "160/3", -128),
            Polynomial.of(25, "199/3", "259/2", "127/3", -96),
            partial(count, WITHOUT_INERTIA),
            n_from=1,
            n_to=7,
            why="print is no whole number for every n, so no count: M lacks n^2 (n + 1)/4, A has n/6 too much; its "
            "66,271 is not its own polynomial at n = 6 (67,143)",
            values={6: (66271, 51548)},
        ),
        Row(
            "Waters",
            "waters",
            Polynomial.of("213/2", "2481/4", -512),
            Polynomial.of(82, 514, -384),
            partial(count, runs.waters),
            n_from=1,
            why="print has 620 1/4 n, which is no whole number, for 620 1/2 n; its 7,051 is n more than that gives",
            values={6: (7051, 5652)},
        ),
        Row(
            "Hollerbach (4x4)",
            "hollerbach-4x4",
            Polynomial.of(830, -592),
            Polynomial.of(675, -464),
            partial(count, runs.recursive_4x4),
            n_from=1,
            why="print has 20n more multiplications, as many as g^T dW/dq c once more; additions have no such term",
            values={6: (4388, 3586)},
        ),
        Row(
            "Hollerbach (3x3), as printed, frames on the joints' axes",
            "hollerbach-3x3",
            Polynomial.of(412, -277),
            Polynomial.of(320, -201),
            partial(count, runs.recursive_3x3_as_printed),
            n_from=1,
            why="print charges 16M, as with 4x4 matrices, for two of the 3x3 products with c: 2 x 7n, of which 7 fall "
            "away for link n + 1; with them 412n - 277",
            values={6: (2195, 1719)},
        ),
        Row(
            "Hollerbach (3x3), corrected, distal frames",
            "hollerbach-3x3",
            Polynomial.of(412, -277),
            Polynomial.of(320, -201),
            partial(count, runs.recursive_3x3),
            n_from=1,
            why="as the row above; besides, ip_i* e_i is there for the last link too (+9M +9A), and n_i + M_i ip_i* is "
            "constant (-3n M)",
            values={6: (2195, 1719)},
        ),
        Row(
            "Newton-Euler",
            "newton-euler-link",
            Polynomial.of(150, -48),
            Polynomial.of(131, -48),
            partial(count, runs.newton_euler),
            n_from=1,
            why="no way of counting found gives the 15n multiplications more; vector sums start from zero, w_1 and "
            "wd_1 are given, p_n* x f_n+1 is executed",
            values={6: (852, 738)},
        ),
        Row(
            "Horn, Raibert",
            "configuration-space",
            Polynomial.of(2, 1, 0, 0),
            Polynomial.of(1, 1, 2, 0),
            partial(count, runs.horn_raibert),
            n_from=1,
            values={6: (468, 264)},
        ),
    ),
    quantity="inverse_dynamics",
)

TABLES = (TABLE,)
