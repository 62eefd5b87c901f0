"""The same robot with other numbers: inertias of its links, values of its drives, what it carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, UnsupportedError
from ..spatial import Inertia, Symmetric, Vector
from .describe import describe
from .description import LinkInertia
from .drive_values import with_drives
from .flexible.checks import require_beams
from .model import Model
from .pseudo_inertia import ELEMENTS, body_of, negative_mass, ten_of
from .validate import check, raise_errors


def carrying(model: Model, frame: str, payload: Sequence[Any]) -> Model:
    """The robot with a body fixed to a frame: mass, centre of mass, inertia about it."""
    carrier = model.frame(frame)
    if not carrier.body:
        raise UnsupportedError("a payload is carried by a moving link", where=model.name, got=f"frame {frame!r}")
    body = carrier.pose.inertia_outward(Inertia.central_of(payload[0], Vector(*payload[1:4]), Symmetric(*payload[4:])))
    return model.with_inertias(
        [own.inertia + body if i == carrier.body else own.inertia for i, own in enumerate(model.bodies, 1)]
    )


def changed(
    model: Model,
    links: Mapping[str, Mapping[str, Any]] = {},
    drives: Mapping[str, Mapping[str, Any]] = {},
    payload: Mapping[str, LinkInertia] = {},
) -> Model:
    """``links``: moving link -> those of ELEMENTS that change, or of mass, center and inertia (see ``_ten``).
    ``drives``: as of ``with_drives``. ``payload``: frame -> what it carries. Refuses what a file may not say either."""
    names = [body.name for body in model.bodies]
    with np.errstate(all="ignore"):  # numbers that leave their range are found below
        rows = model.parameters()
        for name, given in links.items():
            rows[names.index(name)] = _ten(name, rows[names.index(name)], given)
        result = with_drives(model.with_parameters(rows) if links else model, drives)
        for frame, body in payload.items():
            if wrong := negative_mass(body.mass):
                raise ModelError(wrong, where=f"payload at {frame!r}", fix="write the mass, which is positive")
            central = body.central[np.triu_indices(3)].tolist()
            result = carrying(result, frame, [body.mass, *body.center.tolist(), *central])
        description = describe(result)
        raise_errors(check(description), f"robot {model.name!r}")
        require_beams(description, {*links, *(model.body(model.frame(frame).body).name for frame in payload)})
    return result


def _ten(name: str, old: Sequence[Any], given: Mapping[str, Any]) -> list[float]:
    """The numbers of a link after a change of some. A centre that is not given stays where it is, and the inertia about
    it, if it is not given, grows with the mass, as if the density did."""
    if not {"mass", "center", "inertia"} & {*given}:
        ten = [float(given.get(element, x)) for element, x in zip(ELEMENTS, old, strict=True)]
        if not ten[0] and any(ten[1:4]):
            got, fix = f"MX, MY, MZ = {', '.join(f'{x:g}' for x in ten[1:4])}", "give a mass above zero"
            raise ModelError("first moments without a mass", where=f"link {name!r}", got=got, fix=fix)
        return ten
    body = body_of(old)
    mass, center = given.get("mass", body.mass), given.get("center", body.center)
    grown = body.central * (mass / body.mass) if body.mass else body.central
    return ten_of(LinkInertia(mass, np.asarray(center, float), np.asarray(given.get("inertia", grown), float)))
