"""Lin and Fang (1999): Tables VI and VIII, operation counts of the inertia matrix.

Type 1 has n rotational joints; Type 2 has a translational joint 3 among rotational ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from ..formulations.linfang.chain import Chain, Entries, composite_bodies
from ..formulations.linfang.formulation1 import formulation_1, formulation_1_minimal
from ..formulations.linfang.formulation2 import formulation_2, formulation_2_minimal
from ..formulations.linfang.formulation3 import formulation_3
from ..formulations.linfang.formulation4 import formulation_4
from ..formulations.linfang.formulation5 import formulation_5, moments_before
from ..formulations.linfang.minimal import minimal_combinations
from ..formulations.linfang.moments import composite_moments
from ..model import Model
from ..scalar import Counted, Tally
from ..spatial import AXES, Inertia, Matrix, Screw, Transform, Vector
from .chains import generic_chain
from .table import Polynomial, Row, Table

Values = dict[int, tuple[int, int]]  # printed, n -> (mul, add)
TYPE_1: tuple[int, ...] = ()
TYPE_2 = (3,)  # its translational joints

CONVENTION = (
    "Off-line computations, structural 0 and +-1 and sign changes are free. The entries of R are given, R v is 8M 4A "
    "by its two factors. A component of a vector is structurally zero or counted as general, even if constant."
)


class CountedChain(Chain):
    """A chain that counts as the paper does: sines, cosines and the rows and columns of R are given.

    With ``general``, components that happen to be constant or zero are counted like all others, in rows and columns of
    R and in the last frame. The arm between two origins is always counted so.
    """

    def __init__(self, model: Model, tally: Tally, general: bool = False):
        super().__init__(model, configuration(model))
        self.tally, self.general = tally, general
        for i, transform in self.X.items():
            *fixed, joint = transform.screws
            t = tally.wrap(joint.t) if self.prismatic[i] else joint.t
            self.X[i] = Transform(*fixed, Screw("z", tally.wrap(joint.c), tally.wrap(joint.s), t))

    def outward(self, i: int, v: Vector) -> Vector:
        return self._rotated(super().outward, i, v) if self.general else super().outward(i, v)

    def inward(self, i: int, v: Vector) -> Vector:
        return self._rotated(super().inward, i, v)

    def reach(self, i: int, s: Vector) -> Vector:
        return self._lifted(super().reach(i, s))

    def turned(self, A: Matrix, v: Vector) -> Vector:
        return self._lifted(super().turned(A, v))

    def _rotated(self, turn: Callable[[int, Vector], Vector], i: int, v: Vector) -> Vector:
        """Return a rotated vector; a rotated axis is a row or column of R and not counted."""
        is_axis = [*v] in [[*axis] for axis in AXES]
        with free(self.tally) if is_axis else nullcontext():
            turned = turn(i, v)
        return self._lifted(turned) if self.general else turned

    def _lifted(self, v: Vector) -> Vector:
        """Return a vector with all components as on-line numbers."""
        return Vector(*(x if isinstance(x, Counted) else self.tally.wrap(float(x)) for x in v))


@contextmanager
def free(tally: Tally) -> Iterator[None]:
    """Do not count the operations inside."""
    before = Counter(tally)
    yield
    tally.clear()
    tally.update(before)


def configuration(model: Model) -> list[float]:
    return [0.3 + 0.1 * k for k in range(model.n_tree)]


def given_bodies(model: Model, tally: Tally) -> dict[int, Inertia]:
    """Return composite bodies, with first moments and inertias as on-line numbers, masses as constants."""
    bodies = composite_bodies(model, Chain(model, configuration(model)))
    return {i: on_line(body, tally) for i, body in bodies.items()}


def on_line(body: Inertia, tally: Tally) -> Inertia:
    mass, *rest = body
    return Inertia.of([mass, *(tally.wrap(x) if isinstance(x, float) and x else x for x in rest)])


def run_formulation(number: int, model: Model, tally: Tally) -> Entries:
    """Run Formulation 1 to 5 with given composite bodies, as in Table VI."""
    bodies = given_bodies(model, tally)
    if number == 5:
        plain = Chain(model, configuration(model))
        h = moments_before(plain, composite_bodies(model, plain))
        moments = {i: Vector(*map(tally.wrap, v)) for i, v in h.items()}
        return formulation_5(CountedChain(model, tally), bodies, moments)
    formulation = {1: formulation_1, 2: formulation_2, 3: formulation_3, 4: formulation_4}[number]
    return formulation(CountedChain(model, tally, general=number > 1), bodies)


def run_minimal(number: int, model: Model, tally: Tally) -> Entries:
    """Run Table VII, then Formulation 1 or 2, from the minimal linear combinations."""
    moments = composite_moments(CountedChain(model, tally), minimal_combinations(model))
    moments = replace(moments, body={i: on_line(body, tally) for i, body in moments.body.items()})
    formulation = {1: formulation_1_minimal, 2: formulation_2_minimal}[number]
    return formulation(CountedChain(model, tally, general=number > 1), moments)


def run_moments(model: Model, tally: Tally) -> None:
    """Run Table VII alone."""
    composite_moments(CountedChain(model, tally), minimal_combinations(model))


def counting(run: Callable[..., object], *arguments: int, prismatic: Collection[int]) -> Callable[[int], Tally]:
    """Return a function that counts the operations of ``run`` for n joints."""

    def count(n: int) -> Tally:
        tally = Tally()
        run(*arguments, generic_chain(n, prismatic), tally)
        return tally

    return count


def _row(
    number: int,
    prismatic: tuple[int, ...],
    mul: Polynomial,
    add: Polynomial,
    values: Values,
    why: str = "",
    minimal: bool = False,
) -> Row:
    kind, n_from = ("Type 2", 4) if prismatic else ("Type 1", 3)
    count = counting(run_minimal if minimal else run_formulation, number, prismatic=prismatic)
    method = f"lin-fang-{number}{'-minimal' if minimal else ''}"
    return Row(f"Formulation {number}, {kind}", method, mul, add, count, n_from, 9, why, values)


P = Polynomial.of
ZEROS = "t_23 costs 6M 4A (printed 8M 6A), t_13 12M 8A (printed 14M 10A), as f_33 and f_23 have zero components"
ARMS = "the printed count omits b cos and b sin of the arms between neighbours, 2M each"
PAIRS = f"{ARMS}; the pairs (1,3) and (2,3) are both cheaper by 3M 3A, the printed count has one"
COLUMN = (
    "u_i in E_n, printed as 8M 4A (n - 2), is a column of R and free; the printed lines add up to 4M more than printed"
)
FIRST_ARM = (
    "b cos and b sin of s_2, 2M, are printed for Formulation 1 only; the printed polynomial gives 1026 for n = 11"
)
MOMENTS = (
    "h x u costs 4M 1A (printed 8M 5A), t_13 12M 8A (printed 14M 10A); b cos and b sin of s_2, 2M, are not printed"
)

# fmt: off
TABLES = (
    Table("Table VI: first moments and inertias of composite bodies given", "linfang1999", CONVENTION, (
        _row(1, TYPE_1, P(10, -18, 10), P(6, -10, 4), {4: (98, 60), 6: (262, 160), 11: (1022, 620)}),
        _row(1, TYPE_2, P(10, -18, 0), P(6, -10, 0), {6: (252, 156), 8: (496, 304), 9: (648, 396)}, ZEROS),
        _row(2, TYPE_1, P("23/2", "-55/2", 16), P(8, -18, 10), {4: (90, 66), 6: (265, 190), 11: (1105, 780)}, ARMS),
        _row(2, TYPE_2, P("23/2", "-81/2", 60), P(8, -29, 46), {6: (231, 160), 8: (472, 326), 9: (627, 433)}, PAIRS),
        _row(3, TYPE_1, P("25/2", "-57/2", 16), P(8, -18, 10), {4: (102, 66), 6: (295, 190), 11: (1215, 780)}),
        _row(3, TYPE_2, P("25/2", "-87/2", 65), P(8, -29, 45), {6: (254, 159), 8: (517, 325), 9: (686, 432)}),
        _row(4, TYPE_1, P("9/2", "97/2", -108), P(4, 24, -56), {4: (158, 104), 6: (345, 232), 11: (970, 692)}, COLUMN),
        _row(4, TYPE_2, P("9/2", "97/2", -114), P(4, 24, -62), {6: (339, 226), 8: (562, 386), 9: (687, 478)}, COLUMN),
        _row(5, TYPE_1, P(10, -18, 14), P(6, -6, 2), {4: (102, 74), 6: (266, 182), 11: (1016, 662)}, FIRST_ARM),
        _row(5, TYPE_2, P(10, -18, 4), P(6, -6, -7), {6: (256, 173), 8: (500, 329), 9: (652, 425)}, MOMENTS),
    )),
    Table(
        "Table VII: first moments and inertias of composite bodies from minimal linear combinations", "linfang1999",
        "As Table VI, but constant components of vectors are exploited. Twice a varying number is a multiplication.",
        (
            Row("Type 1", "lin-fang-1-minimal", P(32, -47), P(33, -57), counting(run_moments, prismatic=TYPE_1), 3),
            Row("Type 2", "lin-fang-1-minimal", P(32, -45), P(33, -59), counting(run_moments, prismatic=TYPE_2), 4),
        ),
    ),
    Table(
        "Table VIII: all from minimal linear combinations", "linfang1999",
        "The recursion of Table VII as counted there, then the formulation as in Table VI. The paper lists two "
        "algorithms of Kawasaki et al. too, but does not give them.",
        tuple(
            _row(number, prismatic, mul, add, {4: four, 6: six, 8: eight}, why, minimal=True)
            for number, prismatic, mul, add, four, six, eight, why in (
                (1, TYPE_1, P(10, 14, -37), P(6, 23, -53), (179, 135), (407, 301), (715, 515), ""),
                (1, TYPE_2, P(10, 14, -45), P(6, 23, -59), (171, 129), (399, 295), (707, 509), ZEROS),
                (2, TYPE_1, P("23/2", "9/2", -31), P(8, 15, -47), (171, 141), (410, 331), (741, 585), ARMS),
                (2, TYPE_2, P("23/2", "-17/2", 15), P(8, 4, -13), (165, 131), (378, 299), (683, 531), PAIRS),
            )
        ),
    ),
)
# fmt: on
