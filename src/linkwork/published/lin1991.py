"""Tables I and II of Lin (1991): operations of the inertia matrix and of the bias vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..formulations import find_method
from ..formulations.count_executed import executed_operations
from ..scalar import Tally
from .chains import generic_chain
from .lin1991_figures import figure_3, figure_a1, rotations
from .table import Count, Polynomial, Row, Table

CONVENTION = (
    "n rotational joints in modified Denavit-Hartenberg frames. Free: constants known off line, sign changes, "
    "structural zeros, sines and cosines; for the inertia matrix alone also the entries of R. A component "
    "is either zero or general. R v takes 8M 4A, R J R^T 37M 19A, its entry (3, 3) 12M 8A."
)


def count_figures(n: int, algorithm: Callable[..., object], with_bias: bool = False) -> Count:
    tally, model = Tally(), generic_chain(n)
    R = rotations(model, [tally.wrap(0.3 + k) for k in range(n)])
    if with_bias:
        algorithm(model, R, [tally.wrap(0.7 - k) for k in range(n)])
    else:
        tally.clear()  # the rotations are on hand
        algorithm(model, R)
    return tally


def count_bias(n: int) -> Count:
    """What the bias takes beyond the inertia matrix."""
    both, alone = count_figures(n, figure_3, with_bias=True), count_figures(n, figure_3)
    return {key: both[key] - alone[key] for key in ("mul", "add")}


def count_method(n: int, quantity: str, name: str) -> Count:
    """As the formulation is written."""
    model = generic_chain(n)
    return executed_operations(find_method(quantity, name, model), model)


LOST = (
    "the start of zeta stands on a page lost in the scan; the lines that are left, and 7M 1A for it, make 2M 3A less "
    "than print"
)
LIN_1988 = (
    "the 1988 paper is not at hand: counted is the formulation as written in linkwork, from the description given here"
)
WALKER = (
    "print goes back to the 1988 paper, where R v takes 8M 5A: hence 8n^2 for 7n^2 additions; counted is the "
    "formulation as written in linkwork, which turns tensors by two elementary rotations and treats all links alike"
)
FIJANY = (
    "print is Fijany and Bejczy's own estimate, whose lines are not given; n^2 agrees (9M 8A per pair of joints); "
    "counted is the formulation as written in linkwork, which turns tensors by two elementary rotations"
)
NEWTON_EULER = (
    "print is the estimate of that paper, with first-link savings of its own; counted is the formulation as written in "
    "linkwork at zero acceleration"
)


def count_newton_euler(n: int, name: str) -> Count:
    tally, model = Tally(), generic_chain(n)
    q, v = [tally.wrap(0.3 + k) for k in range(n)], [tally.wrap(0.7 - k) for k in range(n)]
    find_method("inverse_dynamics", name, model).function(model, q, v, [0] * n, {})
    return tally


def printed(mul: Sequence[int], add: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Columns n = 2, 3, ... of a table."""
    return dict(enumerate(zip(mul, add, strict=True), 2))


TABLE_I = Table(
    "Table I: inertia matrix",
    "lin1991",
    CONVENTION,
    (
        Row(
            "Walker and Orin",
            "walker-orin",
            Polynomial.of(11, 53, -74),
            Polynomial.of(8, 52, -62),
            partial(count_method, quantity="inertia_matrix", name="walker-orin"),
            why=WALKER,
            values=printed((76, 184, 314, 466, 640, 836, 1054), (74, 166, 274, 398, 538, 694, 866)),
        ),
        Row(
            "Renaud",
            "renaud",
            Polynomial.of("27/2", "45/2", -68),
            Polynomial.of(9, 26, -64),
            partial(count_figures, algorithm=figure_a1),
            values=printed((31, 121, 238, 382, 553, 751, 976), (24, 95, 184, 291, 416, 559, 720)),
        ),
        Row(
            "Lin 1988",
            "lin-1988",
            Polynomial.of("7/6", "99/6", "-214/6", 19),
            Polynomial.of(1, "27/2", "-57/2", 14),
            partial(count_method, quantity="inertia_matrix", name="lin-1988"),
            why=LIN_1988,
            values=printed((23, 92, 215, 399, 651, 978, 1387), (19, 77, 180, 334, 545, 819, 1162)),
        ),
        Row(
            "Fijany and Bejczy, frame 2",
            "fijany-bejczy",
            Polynomial.of("9/2", "231/2", -175),
            Polynomial.of(4, 88, -134),
            partial(count_method, quantity="inertia_matrix", name="fijany-bejczy"),
            n_from=4,
            why=FIJANY,
            values=printed((74, 212, 359, 515, 680, 854, 1037), (58, 166, 282, 406, 538, 678, 826)),
        ),
        Row(
            "Lin 1991",
            "lin-1991",
            Polynomial.of("21/2", "77/2", -85),
            Polynomial.of(6, 39, -70),
            partial(count_figures, algorithm=figure_3),
            values=printed((34, 125, 237, 370, 524, 699, 895), (32, 101, 182, 275, 380, 497, 626)),
        ),
    ),
    quantity="inertia_matrix",
)

TABLE_II = Table(
    "Table II: bias vector",
    "lin1991",
    CONVENTION + " For Lin 1991: what the bias takes beyond the inertia matrix, the entries of R included.",
    (
        Row(
            "Khalil and Kleinfinger",
            "khalil-kleinfinger",
            Polynomial.of(101, -129),
            Polynomial.of(90, -118),
            partial(count_newton_euler, name="khalil-kleinfinger"),
            n_from=3,
            why=NEWTON_EULER,
            values=printed((73, 174, 275, 376, 477, 578, 679), (62, 152, 242, 332, 422, 512, 602)),
        ),
        Row(
            "Balafoutis et al.",
            "balafoutis",
            Polynomial.of(93, -69),
            Polynomial.of(81, -66),
            partial(count_newton_euler, name="balafoutis"),
            n_from=3,
            why=NEWTON_EULER,
            values=printed((117, 210, 303, 396, 489, 582, 675), (96, 177, 258, 339, 420, 501, 582)),
        ),
        Row(
            "Lin 1991",
            "lin-1991",
            Polynomial.of("25/2", "11/2", 3),
            Polynomial.of(9, 1, 0),
            count_bias,
            why=LOST,
            values=printed((64, 132, 225, 343, 486, 654, 847), (38, 84, 148, 230, 330, 448, 584)),
        ),
    ),
    quantity="bias",
)

TOGETHER = Table(
    "Text: inertia matrix and bias vector together",
    "lin1991",
    CONVENTION,
    (
        Row(
            "Lin 1991",
            "lin-1991+lin-1991",
            Polynomial.of(23, 44, -82),
            Polynomial.of(15, 40, -70),
            partial(count_figures, algorithm=figure_3, with_bias=True),
            why=LOST,
        ),
    ),
)

TABLES = (TABLE_I, TABLE_II, TOGETHER)
