"""Integrators, each a table, which every back end runs.

A new one is an entry here, or a call of :func:`add_integrator` anywhere else: docs/guides/new-integrator.md shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..codegen.schemes import AdamsBashforth, OwnStep, Rosenbrock, RungeKutta, Scheme
from ..errors import LinkworkError


@dataclass(frozen=True)
class Adaptive:
    """One of SciPy's, which chooses its own steps; ``implicit``: with the slopes of the rates."""

    solver: str
    implicit: bool = False


@dataclass(frozen=True)
class Integrator:
    """A method of simulation. ``order``: errors at the end of a motion shrink with this power of the step."""

    name: str
    order: int
    scheme: Scheme | Adaptive
    remark: str = ""  # what it is good for, in the table of the docs


RK4 = RungeKutta(
    """
    0   |
    1/2 | 1/2
    1/2 | 0    1/2
    1   | 0    0    1
        | 1/6  1/3  1/3  1/6
    """
)
AB4 = AdamsBashforth("55/24 -59/24 37/24 -9/24", start=RK4)
HEUN = RungeKutta(
    """
    0 |
    1 | 1
      | 1/2  1/2
    """
)
DORMAND_PRINCE_5 = RungeKutta(
    """
    0    |
    1/5  | 1/5
    3/10 | 3/40        9/40
    4/5  | 44/45       -56/15       32/9
    8/9  | 19372/6561  -25360/2187  64448/6561  -212/729
    1    | 9017/3168   -355/33      46732/5247  49/176   -5103/18656
         | 35/384      0            500/1113    125/192  -2187/6784   11/84
    """
)
# Steinebach (1995), "Order-reduction of ROW-methods for DAEs and method of lines applications", in the digits
# of Hairer and Wanner's code RODAS.
RODASP = Rosenbrock(
    "1/4",
    """
    0    |
    0.75 |  3
    0.21 |  1.831036793486759   0.4955183967433795
    0.63 |  2.304376582692669  -0.05249275245743001   -1.176798761832782
    1    | -7.170454962423024  -4.741636671481785    -16.31002631330971   -1.062004044111401
    1    | -7.170454962423024  -4.741636671481785    -16.31002631330971   -1.062004044111401   1
         | -7.170454962423024  -4.741636671481785    -16.31002631330971   -1.062004044111401   1   1
    """,
    """
    -12
     -8.791795173947035  -2.207865586973518
     10.81793056857153    6.780270611428266  19.53485944642410
     34.19095006749676   15.49671153725963   54.74760875964130  14.16005392148534
     34.62605830930532   15.30084976114473   56.99955578662667  18.40807009793095  -5.714285714285717
    """,
)

INTEGRATORS = {
    each.name: each
    for each in (
        Integrator(
            "adams-bashforth-4", 4, AB4,
            "tried first; what Lin (1991) recommends, started by three steps of Runge and Kutta's",
        ),
        Integrator("rk4", 4, RK4, "the larger steps stay stable"),
        Integrator("semi-implicit-euler", 1, OwnStep(), "cheap, robust, bears any friction; what MuJoCo's Euler does"),
        Integrator("heun", 2, HEUN, "between `rk4` and Euler, in cost and in error"),
        Integrator("dormand-prince-5", 5, DORMAND_PRINCE_5, "most digits at a fixed step; Dormand and Prince (1980)"),
        Integrator("rosenbrock", 4, RODASP, "stiff springs, contact, gains: L-stable; Steinebach (1995)"),
        Integrator("dormand-prince", 8, Adaptive("DOP853"), "SciPy's DOP853, within `tolerance`"),
        Integrator("implicit", 5, Adaptive("Radau", implicit=True), "SciPy's Radau, for stiff springs"),
    )
}  # fmt: skip


def add_integrator(integrator: Integrator) -> None:
    """Make it a ``method=`` of ``simulate`` and, with a fixed step, of ``rollout``, sweeps and the command line."""
    if INTEGRATORS.setdefault(integrator.name, integrator) != integrator:
        raise LinkworkError(
            f"there is another integrator {integrator.name!r}", where="add_integrator", fix="give it a name of its own"
        )


def schemes() -> dict[str, Scheme]:
    """Those of the methods with a fixed step, by name."""
    return {name: each.scheme for name, each in INTEGRATORS.items() if not isinstance(each.scheme, Adaptive)}
