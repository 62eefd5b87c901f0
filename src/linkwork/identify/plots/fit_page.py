"""A fit as one page of HTML, without script and network: what was found, how surely, and how well it tells the data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from ...formulations import layouts
from ...page import Safe, Series, chart, heading, html, legend, page, paragraph, share_bar, table, triangle_map
from ..regression.friction_at_rest import PARTS, limits_of
from .fit_page_values import base, bodies, drives, listed, rounded, unseen
from .force_curves import BINS, FAR, Curves, curves_of

if TYPE_CHECKING:
    from ..fit import Fit

RECORDINGS = 4  # whose curves are drawn
MAPPED = 120  # parameters whose correlation is drawn
STRONG, PAIRS = 0.8, 20  # correlations that are told, and how many of them
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
        "What the data do not tell": unseen(fit),
        "Correlation": _correlation(fit),
        "What was done": listed([note for note in fit.notes if note not in fit.doubts]),
    }
    shown = {title: content for title, content in sections.items() if content}
    many = "one recording" if len(fit.logs) == 1 else f"{len(fit.logs)} recordings"
    summary = f"Dynamic parameters of {fit.robot.name} from {many}, by {METHODS[fit.method]}."
    foot = f"linkwork {__version__}, {date.today().isoformat()}."
    return page(f"{fit.robot.name}: fit", summary, _facts(fit, data), shown, foot)


def short(fit: Fit) -> str:
    """For notebooks."""
    kinds, units = list(fit.errors), _units(fit)
    head = "".join(f"<th>{html(name)}</th>" for name in ("force", "deviation", *kinds))
    rows = "".join(
        f'<tr><td style="text-align:left">{html(name)}</td><td>{fit.sigma[k]:.3g} {html(units[k])}</td>'
        + "".join(f"<td>{_percent(fit.errors[kind][k])}</td>" for kind in kinds)
        + "</tr>"
        for k, name in enumerate(fit.forces)
    )
    wrong = [name for name, why in fit.physical.items() if why]
    facts = [f"Fit of {fit.robot.name} by {fit.method}", f"{len(fit.base)} base parameters"]
    facts += [f"condition number {fit.condition:.3g}"]
    facts += [f"not physical: {', '.join(wrong)}" if wrong else "every body physical"] if fit.physical else []
    doubts = "".join(f"<p>Warning: {html(doubt)}</p>" for doubt in fit.doubts)
    return f"<table><caption><b>{html('; '.join(facts))}</b></caption><tr>{head}</tr>{rows}</table>{doubts}"


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
    for kind, errors in _whole(fit).items():
        worst = int(np.argmax(errors))
        facts[f"largest error, {kind}"] = f"{_percent(errors[worst])} ({fit.forces[worst]})"
    if fit.gamma is not None:
        facts["weight of the prior"] = f"{fit.gamma:g}"
    return facts


def _warnings(fit: Fit) -> Safe:
    wrong = [f"{name} cannot be a body: {why}" for name, why in fit.physical.items() if why]
    return listed([*fit.doubts, *wrong], "warning")


def _simulation(fit: Fit) -> Safe:
    """What was searched for, and what is left of the outputs."""
    found = fit.simulation
    if found is None:
        return Safe("")
    rows = zip(found.names, found.values.tolist(), found.deviations.tolist(), strict=True)
    left = [[name, ", ".join(f"{x:.3g}" for x in rms)] for name, rms in found.rms.items()]
    return Safe(
        table(["unknown", "value (SI)", "deviation"], [[name, x, rounded(d)] for name, x, d in rows])
        + table(["output", "what is left of it (rms), entry by entry"], left)
    )


def _errors(fit: Fit, data: Sequence[Curves]) -> Safe:
    if not fit.errors:
        return Safe("")
    units, kinds = _units(fit), list(_whole(fit))
    largest = max(*(float(fit.errors[kind].max()) for kind in kinds), np.finfo(float).tiny)
    recordings = data if len(data) > 1 else []
    rows = []
    for k, name in enumerate(fit.forces):
        own = [fit.errors[kind][k] for kind in kinds]
        of_each = [_percent(each.errors[k]) for each in recordings]
        bar = share_bar(float(max(own)) / largest)
        rows.append([name, f"{fit.sigma[k]:.3g} {units[k]}", *map(_percent, own), bar, *of_each])
    headers = ["force", "deviation", *kinds, "", *(f"recording {k}" for k, _ in enumerate(recordings, 1))]
    return Safe(
        paragraph(
            "Of each joint's force: the standard deviation of what is left, and |measured − predicted| / |measured|."
            " Held out: each fifth of a recording predicted from the others, or recordings given for that; if it is"
            " much larger than on fitted data, the fit has learnt noise."
        )
        + table(headers, rows, kind="numbers")
        + _at_rest(fit, units)
    )


def _at_rest(fit: Fit, units: Sequence[str]) -> Safe:
    """Errors of moving and of standing samples, if joints with Coulomb friction stand still."""
    if PARTS[0] not in fit.errors:
        return Safe("")
    limits = limits_of(fit.robot.model)
    rows = [
        [name, *(_percent(fit.errors[part][k]) for part in PARTS), f"±{limits[k]:.3g} {units[k]}"]
        for k, name in enumerate(fit.forces)
    ]
    return Safe(
        heading("Moving and standing still")
        + paragraph(
            "Errors on the fitted data, of samples in which the joint moves and in which it stands still. At rest a"
            " joint holds any force within ± Coulomb friction, and the motion does not determine which: only what is"
            " left beyond it is an error of the model. Last motion: predicted with Coulomb friction in the direction in"
            " which the joint moved last."
        )
        + table(["force", *PARTS, "Coulomb"], rows, kind="numbers")
    )


def _whole(fit: Fit) -> dict[str, np.ndarray]:
    """Errors over all samples."""
    return {kind: errors for kind, errors in fit.errors.items() if kind not in PARTS}


def _forces(fit: Fit, data: Sequence[Curves]) -> Safe:
    if not data:
        return Safe("")
    kinds = {"measured": MEASURED, "predicted": PREDICTED, "residual": LEFT, "normal distribution": NORMAL}
    text = paragraph(
        "Forces over time, what is left of them, and how often each size of it occurred, in standard deviations, beside"
        " a normal distribution. Friction that is modelled badly shows as steps where a velocity changes its sign; a"
        " wrong gain as a residual that looks like the force."
    )
    text += legend([Series(label, np.empty(0), style) for label, style in kinds.items()])
    units = _units(fit)
    for number, (log, found) in enumerate(zip(fit.logs[:RECORDINGS], data, strict=False), 1):
        if len(data) > 1:
            text += heading(f"Recording {number}: {log.duration:.4g} s at {log.rate:.4g} Hz")
        for k, name in enumerate(fit.forces):
            curve, unit = found.curves[k], units[k]
            both = [Series("", curve.measured, MEASURED), Series("", curve.predicted, PREDICTED)]
            left = [Series("", curve.residual, LEFT)]
            drawn = chart(name, curve.t, both, unit)
            drawn += chart(f"{name}: residual, {_percent(found.errors[k])}", curve.t, left, unit)
            drawn += _histogram(name, found.histogram[k])
            text += f'<div class="charts">{drawn}</div>\n'
    if len(data) > RECORDINGS:
        more = f"{len(data) - RECORDINGS} further recordings are not drawn; their errors stand above."
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
    rows, columns = np.nonzero(np.tril(np.abs(R) > STRONG, -1))
    order = np.argsort(-np.abs(R[rows, columns]))[:PAIRS]
    pairs = [[names[rows[k]], names[columns[k]], rounded(float(R[rows[k], columns[k]]), 3)] for k in order]
    text = paragraph(
        "Of the errors of the base parameters. Of two that are strongly correlated the data tell the sum or the"
        " difference better than each: another motion would part them."
    )
    if len(names) <= MAPPED:
        text += triangle_map("correlation of the base parameters", names, R)
        text += paragraph("Blue: positive, orange: negative; from 0.2 on, the fuller the colour, the stronger.", "note")
    if not pairs:
        return Safe(text + paragraph(f"No two are correlated by more than {STRONG:g}."))
    caption = f"{len(rows)} pairs correlated by more than {STRONG:g}"
    caption += f"; the {PAIRS} strongest" if len(rows) > PAIRS else ""
    return Safe(text + table(["parameter", "and", "correlation"], pairs, caption))


def _units(fit: Fit) -> Sequence[str]:
    return layouts(fit.robot.model)["tau"].units


def _percent(share: float) -> str:
    if np.isnan(share):
        return "–"
    percent = 100 * float(share)
    digits = 2 if 0.1 <= percent < 10 else 1
    return f"{percent:.{digits}f} %" if percent >= 0.1 else f"{percent:.2g} %"
