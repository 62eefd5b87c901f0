"""The methods, and error against cost on two arms: tables and the picture of the page "Simulation".

``make docs-tables`` runs this. Errors are against Dormand and Prince's method at a tolerance of 1e-13; the cost is the
number of evaluations of forward dynamics, the same on every machine.
"""

import re
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.drawing import styled
from linkwork.sim.schemes.integrators import INTEGRATORS, schemes
from linkwork.table import Column, Table, markdown

DOCS = Path(__file__).parent
PAGE, PICTURE = DOCS / "simulation.md", DOCS / "pictures" / "integrators.png"
MARKED = r"<!-- {name} -->\n(?:(?:(?!<!-- ).)*<!-- end of {name} -->\n)?"
STARTS = {  # raised and at rest, then falling freely; without friction, which would blur the orders
    "puma560": (0.3, -0.8, 0.6, 0.4, 0.5, -0.3),
    "stanford": (0.3, -0.8, 0.5, 0.4, 0.5, -0.3),
}
DURATION = 1.0
STEPS = (0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)
TABLE = (0.01, 0.001, 0.0001)
COST = {name: scheme.evaluations for name, scheme in schemes().items()}  # per step
TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)


def errors(name: str) -> dict[str, list[tuple[float, int, float]]]:
    """Method -> (dt or tolerance, evaluations, largest error of a joint's position at the end)."""
    robot = linkwork.load(name, friction=False)
    run = lambda dt, **how: robot.simulate(STARTS[name], None, DURATION, dt, **how)  # noqa: E731
    exact = run(DURATION, method="dormand-prince", tolerance=1e-13).q[-1]
    found: dict[str, list[tuple[float, int, float]]] = {method: [] for method in COST}
    for method, cost in COST.items():
        for dt in STEPS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a step is too long is the point here
                try:
                    end = run(dt, method=method, every=round(DURATION / dt)).q[-1]
                except linkwork.DivergedError:
                    end = np.full_like(exact, np.nan)
            found[method].append((dt, round(DURATION / dt) * cost, float(np.abs(end - exact).max())))
    for method in ("dormand-prince", "implicit"):
        found[method] = []
        for tolerance in TOLERANCES:
            motion = run(DURATION, method=method, tolerance=tolerance)
            (evaluations,) = (note.values["evaluations"] for note in motion.notes if note.code == "adaptive-steps")
            found[method].append((tolerance, evaluations, float(np.abs(motion.q[-1] - exact).max())))
    return found


def methods() -> str:
    """The table of all methods."""
    numbers = [Column(name, align="right") for name in ("order", "evaluations per step")]
    rows = [
        [f"`{name}`", each.order, COST.get(name, "chooses its steps"), each.remark]
        for name, each in INTEGRATORS.items()
    ]
    return markdown(Table("", ["method", *numbers, ""], rows))


def with_block(page: str, name: str, text: str) -> str:
    """The page with a new block between the marks of this name."""
    block = f"<!-- {name} -->\n\n{text}\n\n<!-- end of {name} -->\n"
    return re.sub(MARKED.format(name=name), lambda _: block, page, flags=re.S)


def table(results: dict[str, dict[str, list[tuple[float, int, float]]]]) -> str:
    titles = [f"{name}, dt = {dt:g} s" for name in results for dt in TABLE]
    rows = []
    for method, cost in COST.items():
        cells = [f"{error:.0e}" for found in results.values() for dt, _, error in found[method] if dt in TABLE]
        rows.append([f"`{method}`", cost, *cells])
    columns = [Column(title, align="right") for title in ("evaluations per step", *titles)]
    return markdown(Table("", ["method", *columns], rows))


def draw(results: dict[str, dict[str, list[tuple[float, int, float]]]]) -> None:
    with styled():
        figure = Figure((10, 4))
        for axes, (name, found) in zip(figure.subplots(1, 2, sharey=True), results.items(), strict=True):
            for method, points in found.items():
                _, cost, error = np.array(points).T
                axes.loglog(cost, error, "o-", markersize=3, label=method)
            axes.set(title=f"{name}, {DURATION:g} s of free fall", xlabel="evaluations of forward dynamics")
            axes.set(ylim=(1e-14, 3), xlim=(40, 6e4))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), labelcolor="linecolor", fontsize="medium")
        figure.axes[0].set_ylabel("error of the positions at the end, rad or m")
        figure.savefig(PICTURE)


if __name__ == "__main__":
    warnings.simplefilter("ignore", linkwork.SimulationWarning)  # they fall beyond their limits
    results = {name: errors(name) for name in STARTS}
    draw(results)
    page = with_block(PAGE.read_text(), "methods", methods())
    PAGE.write_text(with_block(page, "integrators", table(results)))
