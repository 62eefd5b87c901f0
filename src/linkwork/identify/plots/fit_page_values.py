"""Sections of a fit's page: base parameters, bodies, drives, and what the data do not identify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...formulations.drives import friction_laws
from ...html import DOTS, Series, chart, deviation_bar, heading, legend, paragraph, table
from ...model import FrictionLaw
from ...model.drive import JointValues
from ...quoting import Safe, in_html
from ...table import Column, Table
from ..regression.unknowns import TEN, split
from . import fit_tables
from .curves import Curves, FrictionCurve, friction_curves

if TYPE_CHECKING:
    from ..fit import Fit, Values

COLUMNS = 3  # columns of the base parameters
STYLES = {"alone": "alone", "grouped": "", "unidentifiable": "none"}  # CSS classes
FOUND, BEFORE = 9, 3  # styles of curves
STATES = (
    " Bold: it acts on the forces by itself. Pale: the data do not identify it. The others act in combinations: their"
    " deviations hold together with the prior."
)
PULLED = (
    " Moved from the prior: a divergence, 0 where the data contain no information and the prior alone decides; about 1"
    " where a mass, a length or an inertia has changed by its own size."
)
UNPULLED = (
    " Where the data leave numbers open, those nearest to the prior are used, which may be physically impossible; the"
    " method consistent returns physical bodies."
)
WORDS = {
    element: field.replace("_", " ")
    for fields in (JointValues.elements, *(law.elements for law in FrictionLaw.known.values()))
    for element, field in fields.items()
}


def base(fit: Fit) -> Safe:
    """Return the base parameters as short columns side by side, to be read downwards."""
    names = fit.base.names
    parts = [part.tolist() for part in np.array_split(np.arange(len(names)), min(COLUMNS, len(names)))]
    return Safe(
        paragraph(
            f"{len(names)} combinations that act on the forces each by itself, SI units: all that forces determine of"
            f" {len(fit.standard)} standard parameters; linkwork params prints the combinations. Each row has its own"
            " scale: the bar is the value, from zero in the middle; the whisker two standard deviations to either side;"
            " the orange mark the prior value. Pale: the data do not identify it."
        )
        + _cards(fit.base, {f"{names[part[0]]} to {names[part[-1]]}": part for part in parts}, STYLES | {"alone": ""})
    )


def bodies(fit: Fit) -> Safe:
    """Return each body's ten numbers, and whether they are physically possible."""
    if not fit.unknowns.bodies:
        return Safe("")
    verdicts = {"yes": Safe('<span class="good">yes</span>'), "no": Safe('<span class="bad">no: see above</span>')}
    plain = fit_tables.bodies(fit)
    with_verdicts = replace(plain, rows=[[*row, verdicts[verdict]] for *row, verdict in plain.rows])
    return Safe(
        paragraph(
            "Mass with its standard deviation, centre of mass in the link's frame, principal moments about it. Margin:"
            f" 1 is a ball, 0 a plate or a rod, below zero is impossible.{PULLED if fit.divergence else UNPULLED}"
        )
        + table(with_verdicts)
        + paragraph(f"About the link's origin, SI units: mass, first moments, inertias.{STATES}")
        + _cards(fit.standard, {name: range(at, at + TEN) for name, at in fit.unknowns.bodies})
    )


def drives(fit: Fit, data: Sequence[Curves]) -> Safe:
    links = {name for name, _ in fit.unknowns.bodies}
    owned: dict[str, list[int]] = {}
    elements: dict[str, str] = {}
    for k, name in enumerate(fit.standard):
        owner, element = split(name)
        if owner not in links:
            owned.setdefault(owner, []).append(k)
            elements[element] = WORDS.get(element, "")
    if not owned:
        return Safe("")
    laws = "; ".join(friction_laws(fit.robot.model))
    meanings = ", ".join(f"{element} {word}".strip() for element, word in elements.items())
    text = paragraph(f"Joints and motors, SI units: {meanings}.{f' Friction: {laws}.' if laws else ''}{STATES}")
    text += _cards(fit.standard, owned)
    if curves := friction_curves(fit, data):
        kinds = {"found": FOUND, "before": BEFORE, "data": DOTS}
        text += heading("Friction over velocity")
        text += paragraph(
            "Dots: the measured force less all other predicted forces, averaged by velocity. Shaded: velocities of the"
            " data; outside, the curve is an extrapolation."
        )
        text += legend([Series(label, np.empty(0), style) for label, style in kinds.items()])
        text += f'<div class="charts">{"".join(_friction(fit, each) for each in curves)}</div>\n'
    return Safe(text)


def _friction(fit: Fit, curve: FrictionCurve) -> Safe:
    """Return lines and dots over one axis."""
    v = np.concatenate([curve.v, curve.seen_v])
    order = np.argsort(v, kind="stable")
    dots = np.concatenate([np.full(len(curve.v), np.nan), curve.seen])[order]
    after, before = (np.interp(v[order], curve.v, line) for line in (curve.force, curve.before))
    series = [Series("", dots, DOTS), Series("", before, BEFORE), Series("", after, FOUND)]
    slides = any(body.joint.name == curve.name and not body.joint.revolute for body in fit.robot.model.bodies)
    units = ("N", "velocity (m/s)") if slides else ("N m", "velocity (rad/s)")
    return chart(curve.name, v[order], series, *units, (-curve.fastest, curve.fastest))


def unidentifiable(fit: Fit) -> Safe:
    pairs = zip(fit.standard.names, fit.standard.status, strict=True)
    never = [name for name, status in pairs if status == "unidentifiable"]
    text = ""
    if fit.unidentifiable:
        text += paragraph("This motion leaves combinations open; they keep their prior values:")
        text += listed(fit.unidentifiable)
    if never:
        text += paragraph(
            f"{len(never)} standard parameters do not show in these data, by themselves or with others. They keep"
            " their prior values, as far as bodies stay physical:"
        )
        text += paragraph(", ".join(never) + ".", "note")
    return Safe(text)


def _cards(values: Values, owned: Mapping[str, Sequence[int]], states: Mapping[str, str] = STYLES) -> Safe:
    """Return small tables of parameters, by owner."""
    tables = ""
    for owner, places in owned.items():
        rows = []
        for k in places:
            _, element = split(values.names[k])
            label = Safe(f'<span class="{states[values.status[k]]}">{in_html(element)}</span>')
            x, deviation, before = (float(each[k]) for each in (values.values, values.deviations, values.prior))
            bar = deviation_bar(x, deviation, before)
            rows.append([label, x, deviation, before, bar])
        columns = ["", Column("value", digits=4), Column("±", digits=2), Column("before", digits=4), ""]
        tables += table(Table(owner, columns, rows), "card")
    return Safe(f'<div class="charts">{tables}</div>\n')


def listed(texts: Sequence[str], kind: str = "") -> Safe:
    """Return an HTML list, empty if there is nothing."""
    items = "".join(
        f'<li class="{kind}">{in_html(text)}</li>' if kind else f"<li>{in_html(text)}</li>" for text in texts
    )
    return Safe(f'<ul class="notes">{items}</ul>\n' if items else "")
