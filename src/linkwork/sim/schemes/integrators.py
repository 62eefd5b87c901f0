"""Integrators, each a table of coefficients that every back end runs.

To add one, put it into INTEGRATORS or call :func:`add_integrator`; docs/guides/new-integrator.md has an example.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...codegen.schemes import AdamsBashforth, OwnStep, Rosenbrock, RungeKutta, Scheme
from ...errors import LinkworkError


@dataclass(frozen=True)
class Adaptive:
    """A solver of SciPy, which chooses its own step lengths; an implicit one needs the Jacobian of the rates."""

    solver: str
    implicit: bool = False


@dataclass(frozen=True)
class Integrator:
    """A method of simulation.

    Attributes:
        name: Value of ``method=`` that selects it.
        order: Order of accuracy: the error at the end of a motion is proportional to this power of the step.
        scheme: Table of coefficients, such as ``RungeKutta``.
        remark: What it is good for, for tables. Default: empty.

    Example:
        >>> midpoint = linkwork.RungeKutta("0 | \\n 1/2 | 1/2 \\n | 0 1")
        >>> linkwork.Integrator("midpoint", 2, midpoint).order
        2
    """

    name: str
    order: int
    scheme: Scheme | Adaptive
    remark: str = ""


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
# RODAS of Hairer & Wanner (1996), "Solving Ordinary Differential Equations II", section VI.4, as in their code.
RODAS = Rosenbrock(
    "1/4",
    """
    0     |
    0.386 | 1.544
    0.21  | 0.9466785280815826  0.2557011698983284
    0.63  | 3.314825187068521   2.896124015972201   0.9986419139977817
    1     | 1.221224509226641   6.019134481288629  12.53708332932087   -0.6878860361058950
    1     | 1.221224509226641   6.019134481288629  12.53708332932087   -0.6878860361058950   1
          | 1.221224509226641   6.019134481288629  12.53708332932087   -0.6878860361058950   1   1
    """,
    """
    -5.6688
    -2.430093356833875   -0.2063599157091915
    -0.1073529058151375  -9.594562251023355  -20.47028614809616
     7.496443313967647  -10.24680431464352   -33.99990352819905  11.70890893206160
     8.083246795921522   -7.981132988064893  -31.52159432874371  16.31930543123136  -6.058818238834054
    """,
)

INTEGRATORS = {
    each.name: each
    for each in (
        Integrator(
            "adams-bashforth-4", 4, AB4,
            "the default of `simulate` if stable; recommended by Lin (1991); starts with three steps of `rk4`",
        ),
        Integrator("rk4", 4, RK4, "stable for larger steps than `adams-bashforth-4`"),
        Integrator(
            "semi-implicit-euler", 1, OwnStep(),
            "cheap and robust, stable with any friction; equals MuJoCo's Euler except for free joints",
        ),
        Integrator("heun", 2, HEUN, "between `rk4` and Euler, in cost and in error"),
        Integrator("dormand-prince-5", 5, DORMAND_PRINCE_5, "most digits at a fixed step; Dormand and Prince (1980)"),
        Integrator("rosenbrock", 4, RODAS, "stiff springs, friction, gains; RODAS of Hairer and Wanner (1996)"),
        Integrator("dormand-prince", 8, Adaptive("DOP853"), "SciPy's DOP853, within `tolerance`"),
        Integrator("implicit", 5, Adaptive("Radau", implicit=True), "SciPy's Radau, for stiff springs"),
    )
}  # fmt: skip


def add_integrator(integrator: Integrator) -> None:
    """Make an integrator available as ``method=`` of ``simulate``, ``rollout``, steppers, sweeps and commands.

    Args:
        integrator: The integrator. Adding an equal one again has no effect.

    Raises:
        LinkworkError: Another integrator has this name.

    Example:
        >>> midpoint = linkwork.RungeKutta("0 | \\n 1/2 | 1/2 \\n | 0 1")
        >>> linkwork.add_integrator(linkwork.Integrator("midpoint", 2, midpoint))
        >>> robot.simulate(duration=0.01, method="midpoint").method
        'midpoint'
    """
    if INTEGRATORS.setdefault(integrator.name, integrator) != integrator:
        raise LinkworkError(
            f"another integrator has the name {integrator.name!r}", where="add_integrator", fix="choose another name"
        )


def schemes() -> dict[str, Scheme]:
    """Return the schemes of the methods with a fixed step, by name."""
    return {name: each.scheme for name, each in INTEGRATORS.items() if not isinstance(each.scheme, Adaptive)}
