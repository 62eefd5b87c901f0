"""A fit as one HTML page without scripts and network: parameters, uncertainty and prediction errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from ...html import Series, chart, heading, legend, page, paragraph, share_bar, table, triangle_map
from ...quoting import Safe
from ...table import Column, Table, notebook
from .curves import BINS, FAR, Curves, curves_of
from .fit_page_values import base, bodies, drives, listed, unidentifiable
from .fit_tables import all_samples, errors, errors_at_rest, force_units, percent

if TYPE_CHECKING:
    from ..fit import Fit

RECORDINGS = 4  # largest number of recordings whose curves are drawn
MAPPED = 120  # largest number of parameters whose correlation is drawn
STRONG, PAIRS = 0.8, 20  # correlation from which on pairs are listed, and their largest number
MEASURED, PREDICTED, LEFT, NORMAL = 1, 9, 10, 3  # styles of curves
METHODS = {
    "consistent": "least squares in which every body is physical and near the prior",
    "ols": "ordinary least squares",
    "wls": "least squares, each force by its own residual",
    "irls": "robust least squares",
    "iv": "instrumental variables",
    "simulation": "output errors through simulation",
}


def report(fit: Fit) -> str:
    data = [curves_of(fit, log) for log in fit.logs] if fit.errors else []
    sections = {
        "Warnings": _warnings(fit),
        "Errors": _errors(fit, data),
        "Measured and predicted": _forces(fit, data),
        "Base parameters": base(fit),
        "Bodies": bodies(fit),
        "Drives and friction": drives(fit, data),
        "By simulation": _simulation(fit),
        "What the data do not identify": unidentifiable(fit),
        "Correlation": _correlation(fit),
        "What was done": listed([note.message for note in fit.notes if note.severity != "warning"]),
    }
    filled_sections = {title: content for title, content in sections.items() if content}
    many = "one recording" if len(fit.logs) == 1 else f"{len(fit.logs)} recordings"
    summary = f"Dynamic parameters of {fit.robot.name} from {many}, by {METHODS[fit.method]}."
    footer = f"linkwork {__version__}, {date.today().isoformat()}."
    return page(f"{fit.robot.name}: fit", summary, _facts(fit, data), filled_sections, footer)


def short(fit: Fit) -> str:
    """Return the fit for notebooks."""
    wrong = [name for name, why in fit.physical.items() if why]
    facts = [f"Fit of {fit.robot.name} by {fit.method}", f"{len(fit.base)} base parameters"]
    facts += [f"condition number {fit.condition:.3g}"]
    facts += [f"not physical: {', '.join(wrong)}" if wrong else "every body physical"] if fit.physical else []
    warnings = [f"Warning: {note.message}" for note in fit.warnings]
    return notebook(replace(errors(fit, every=True), title="; ".join(facts), notes=warnings))


def _facts(fit: Fit, data: Sequence[Curves]) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "method": fit.method,
        "recordings": f"{len(fit.logs)}, {sum(log.duration for log in fit.logs):.4g} s",
        "samples used": f"{sum(each.count for each in data):,}",
        "base parameters": len(fit.base),
        "condition number": f"{fit.condition:.4g}" if np.isfinite(fit.condition) else "infinite",
    }
    if fit.physical:
        wrong = sum(map(bool, fit.physical.values()))
        kind, verdict = ("bad", f"{wrong} of {len(fit.physical)} impossible") if wrong else ("good", "all are physical")
        facts["bodies"] = Safe(f'<span class="{kind}">{verdict}</span>')
    for kind, each in all_samples(fit).items():
        worst = int(np.argmax(each))
        facts[f"largest error, {kind}"] = f"{percent(each[worst])} ({fit.forces[worst]})"
    if fit.gamma is not None:
        facts["weight of the prior"] = f"{fit.gamma:g}"
    return facts


def _warnings(fit: Fit) -> Safe:
    wrong = [f"{name} is physically impossible: {why}" for name, why in fit.physical.items() if why]
    return listed([*(note.message for note in fit.warnings), *wrong], "warning")


def _simulation(fit: Fit) -> Safe:
    """Return the section on a fit by simulation: its unknowns, and residuals of the outputs."""
    result = fit.simulation
    if result is None:
        return Safe("")
    rows = zip(result.names, result.values.tolist(), result.deviations.tolist(), strict=True)
    error_rows = [[name, ", ".join(f"{x:.3g}" for x in rms)] for name, rms in result.rms.items()]
    return Safe(
        table(Table("", ["unknown", "value (SI)", Column("deviation", digits=5)], list(rows)))
        + table(Table("", ["output", "residual (rms), entry by entry"], error_rows))
    )


def _errors(fit: Fit, data: Sequence[Curves]) -> Safe:
    if not fit.errors:
        return Safe("")
    units, whole = force_units(fit), all_samples(fit)
    recordings = data if len(data) > 1 else []
    largest = np.max([*whole.values()], axis=0)
    rows = []
    for k, name in enumerate(fit.forces):
        parts = [percent(x[k]) for x in whole.values()], [percent(each.errors[k]) for each in recordings]
        bar = share_bar(float(largest[k] / max(largest.max(), np.finfo(float).tiny)))
        rows.append([name, f"{fit.sigma[k]:.3g} {units[k]}", *parts[0], bar, *parts[1]])
    columns = ["force", "deviation", *whole, "", *(f"recording {k}" for k, _ in enumerate(recordings, 1))]
    return Safe(
        paragraph(
            "For each joint force: the standard deviation of the residual, and |measured − predicted| / |measured|."
            " Held out: each fifth of a recording predicted from the others, or separate recordings; if it is much"
            " larger than on fitted data, the fit has learnt noise."
        )
        + table(Table("", columns, rows), "numbers")
        + _at_rest(fit)
    )


def _at_rest(fit: Fit) -> Safe:
    at_rest = errors_at_rest(fit)
    if not at_rest.rows:
        return Safe("")
    return Safe(
        heading("Moving and standing still")
        + paragraph(
            "Errors on the fitted data, for samples in which the joint moves and in which it stands still. At rest a"
            " joint holds any force within ± Coulomb friction, and the motion does not determine which: only the"
            " residual beyond it is an error of the model. Last motion: predicted with Coulomb friction in the"
            " direction in which the joint moved last."
        )
        + table(replace(at_rest, notes=()), "numbers")
    )


def _forces(fit: Fit, data: Sequence[Curves]) -> Safe:
    if not data:
        return Safe("")
    kinds = {"measured": MEASURED, "predicted": PREDICTED, "residual": LEFT, "normal distribution": NORMAL}
    text = paragraph(
        "Forces over time, their residuals, and the distribution of these in standard deviations, with a normal"
        " distribution for comparison. Badly modelled friction shows as steps where a velocity changes its sign, a"
        " wrong gain as a residual that looks like the force."
    )
    text += legend([Series(label, np.empty(0), style) for label, style in kinds.items()])
    units = force_units(fit)
    for number, (log, curves) in enumerate(zip(fit.logs[:RECORDINGS], data, strict=False), 1):
        if len(data) > 1:
            text += heading(f"Recording {number}: {log.duration:.4g} s at {log.rate:.4g} Hz")
        for k, name in enumerate(fit.forces):
            curve, unit = curves.curves[k], units[k]
            both = [Series("", curve.measured, MEASURED), Series("", curve.predicted, PREDICTED)]
            residual = [Series("", curve.residual, LEFT)]
            charts = chart(name, curve.t, both, unit)
            charts += chart(f"{name}: residual, {percent(curves.errors[k])}", curve.t, residual, unit)
            charts += _histogram(name, curves.histogram[k])
            text += f'<div class="charts">{charts}</div>\n'
    if len(data) > RECORDINGS:
        more = f"{len(data) - RECORDINGS} further recordings are not drawn; their errors are in the table above."
        text += paragraph(more, "note")
    return Safe(text)


def _histogram(name: str, counts: np.ndarray) -> Safe:
    x = np.repeat(np.linspace(-FAR, FAR, BINS + 1), 2)
    density = counts / max(counts.sum(), 1) * BINS / (2 * FAR)
    steps = np.concatenate([[0.0], np.repeat(density, 2), [0.0]])
    normal = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    series = [Series("", normal, NORMAL), Series("", steps, LEFT)]
    return chart(f"{name}: distribution", x, series, "density", "deviations")


def _correlation(fit: Fit) -> Safe:
    R, names = fit.correlation, fit.base.names
    first, second = np.nonzero(np.tril(np.abs(R) > STRONG, -1))
    order = np.argsort(-np.abs(R[first, second]))[:PAIRS]
    pairs = [[names[first[k]], names[second[k]], float(R[first[k], second[k]])] for k in order]
    text = paragraph(
        "Correlation of the errors of the base parameters. The data determine the sum or the difference of two strongly"
        " correlated ones better than each: another motion would separate them."
    )
    if len(names) <= MAPPED:
        text += triangle_map("correlation of the base parameters", names, R)
        text += paragraph("Blue: positive, orange: negative; from 0.2 on, the fuller the colour, the stronger.", "note")
    if not pairs:
        return Safe(text + paragraph(f"No two are correlated by more than {STRONG:g}."))
    caption = f"{len(first)} pairs correlated by more than {STRONG:g}"
    caption += f"; the {PAIRS} strongest" if len(first) > PAIRS else ""
    columns = ["parameter", "and", Column("correlation", digits=3)]
    return Safe(text + table(Table(caption, columns, pairs)))
