"""Tables of a fit, for the terminal, its page and notebooks: errors, bodies, drives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...formulations import layouts
from ...model.pseudo_inertia import body_of, margin
from ...table import Column, Table
from ..regression.friction_at_rest import PARTS, limits_of
from ..regression.unknowns import TEN, split

if TYPE_CHECKING:
    from ..fit import Fit


def errors(fit: Fit, every: bool = False) -> Table:
    """Return standard deviations of the residuals, and relative errors over all samples, or of every kind."""
    kinds = fit.errors if every else all_samples(fit)
    rows = [
        [name, float(fit.sigma[k]), *(None if np.isnan(x[k]) else 100 * float(x[k]) for x in kinds.values())]
        for k, name in enumerate(fit.forces)
    ]
    columns = [Column("deviation", "N m or N", 3), *(Column("error, %", kind, 3) for kind in kinds)]
    return Table("", ["force", *columns], rows)


def errors_at_rest(fit: Fit) -> Table:
    """Return errors of moving and of standing samples, if joints with Coulomb friction stand still."""
    rows, notes = [], []
    if PARTS[0] in fit.errors:
        friction = "A joint that stands still holds any force within ± Coulomb friction (FS)"
        notes = [f"{friction}: only what is beyond is model error."]
        limits, units = limits_of(fit.robot.model), force_units(fit)
        rows = [
            [name, *(percent(fit.errors[part][k]) for part in PARTS), f"±{limits[k]:.3g} {units[k]}"]
            for k, name in enumerate(fit.forces)
        ]
    return Table("", ["force", *(Column(name, align="right") for name in (*PARTS, "Coulomb"))], rows, notes)


def bodies(fit: Fit) -> Table:
    """Return mass with its standard deviation, centre, principal moments, and whether the body is physical."""
    rows = []
    for name, at in fit.unknowns.bodies:
        ten = fit.standard.values[at : at + TEN]
        body = body_of(ten)
        center = [round(float(x), 5) + 0.0 for x in body.center]
        moments = np.linalg.eigvalsh(body.central).tolist()
        row = [float(body.mass), float(fit.standard.deviations[at]), *center, *moments, float(margin(ten))]
        rows.append([name, *row, fit.divergence.get(name), "no" if fit.physical[name] else "yes"])
    columns = [
        "body", Column("mass", "kg", 5), Column("±", "", 2), ("centre", "x, m"), ("", "y"), ("", "z"),
        Column("moments", "kg m²", 4, spare=True), Column("", "", 4, spare=True), Column("", "", 4, spare=True),
        Column("margin", "", 3, spare=True), Column("moved from", "the prior", 2), "physical",
    ]  # fmt: skip
    return Table("", columns, rows)


def drives(fit: Fit) -> Table:
    """Return rotor inertias and friction of joints and motors, each with its standard deviation."""
    links, places = {name for name, _ in fit.unknowns.bodies}, {}
    for k, name in enumerate(fit.standard):
        owner, element = split(name)
        if owner not in links:
            places[owner, element] = k
    owners, elements = (list(dict.fromkeys(names)) for names in (zip(*places, strict=True) if places else ((), ())))
    values, deviations = fit.standard.values.tolist(), fit.standard.deviations.tolist()
    rows = [
        [
            owner,
            *(None if (k := places.get((owner, e))) is None else x[k] for e in elements for x in (values, deviations)),
        ]
        for owner in owners
    ]
    columns = [column for e in elements for column in (Column(e, "", 4), Column("±", "", 2))]
    return Table("", [("joint or", "motor"), *columns], rows)


def all_samples(fit: Fit) -> dict[str, np.ndarray]:
    """Return errors over all samples, by the data they belong to."""
    return {kind: errors for kind, errors in fit.errors.items() if kind not in PARTS}


def force_units(fit: Fit) -> Sequence[str]:
    return layouts(fit.robot.model)["tau"].units


def percent(share: float) -> str:
    if np.isnan(share):
        return "–"
    value = 100 * float(share)
    digits = 2 if 0.1 <= value < 10 else 1
    return f"{value:.{digits}f} %" if value >= 0.1 else f"{value:.2g} %"
