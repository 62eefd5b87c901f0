"""The same robot with other numbers: inertias of its links, values of its drives, payloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ModelError, UnknownNameError, UnsupportedError, require_mapping
from ..spatial import Inertia, Symmetric, Vector
from .describe import describe
from .description import LinkInertia
from .drive import Drive, law_with
from .model import Joint, Model
from .pseudo_inertia import ELEMENTS, body_of, negative_mass, ten_of
from .structure_checks import check_spring, check_values
from .validate import raise_errors, require_valid


def carrying(model: Model, frame: str, payload: Sequence[Any]) -> Model:
    """Return the robot with a body fixed to a frame: mass, centre of mass, inertia about it."""
    carrier = model.frame(frame)
    if not carrier.body:
        raise UnsupportedError(
            "a payload needs a moving link", where=model.name, got=f"frame {frame!r}, which is fixed to the ground",
            fix="name a frame of a moving link",
        )  # fmt: skip
    body = carrier.pose.inertia_outward(Inertia.central_of(payload[0], Vector(*payload[1:4]), Symmetric(*payload[4:])))
    return model.with_inertias(
        [each.inertia + body if i == carrier.body else each.inertia for i, each in enumerate(model.bodies, 1)]
    )


def changed(
    model: Model,
    links: Mapping[str, Mapping[str, Any]] = {},
    drives: Mapping[str, Mapping[str, Any]] = {},
    payload: Mapping[str, LinkInertia] = {},
) -> Model:
    """Return the robot with other numbers; raises ModelError for those that ``check`` would refuse in a file.

    ``links``: moving link -> those of ELEMENTS that change, or of mass, center and inertia (see ``_ten``).
    ``drives``: see ``with_drives``. ``payload``: frame -> the body that it carries.
    """
    names = [body.name for body in model.bodies]
    with np.errstate(all="ignore"):  # the checks below find numbers that overflow
        rows = model.parameters()
        for name, values in links.items():
            rows[names.index(name)] = _ten(name, rows[names.index(name)], values)
        result = with_drives(model.with_parameters(rows) if links else model, drives)
        for frame, body in payload.items():
            if wrong := negative_mass(body.mass):
                raise ModelError(wrong, where=f"payload at {frame!r}", fix="write a positive mass")
            central = body.central[np.triu_indices(3)].tolist()
            result = carrying(result, frame, [body.mass, *body.center.tolist(), *central])
        carriers = {model.body(model.frame(frame).body).name for frame in payload}
        require_valid(describe(result), {*links, *carriers}, f"robot {model.name!r}")
    return result


def _ten(name: str, old: Sequence[Any], values: Mapping[str, Any]) -> list[float]:
    """Return the ten numbers of a link after some change. By default the centre stays, and the inertia about it grows
    with the mass, as if the density did."""
    if not {"mass", "center", "inertia"} & {*values}:
        ten = [float(values.get(element, x)) for element, x in zip(ELEMENTS, old, strict=True)]
        if not ten[0] and any(ten[1:4]):
            got, fix = f"MX, MY, MZ = {', '.join(f'{x:g}' for x in ten[1:4])}", "give a mass above zero"
            raise ModelError("first moments without a mass", where=f"link {name!r}", got=got, fix=fix)
        return ten
    body = body_of(old)
    mass, center = values.get("mass", body.mass), values.get("center", body.center)
    grown = body.central * (mass / body.mass) if body.mass else body.central
    return ten_of(LinkInertia(mass, np.asarray(center, float), np.asarray(values.get("inertia", grown), float)))


# -- drives ------------------------------------------------------------------------------------------------------------


def changed_drives(model: Model, change: Callable[[Any], Any]) -> Model:
    """Return the robot with ``change`` applied to each joint, and to each motor of a transmission."""
    bodies = [replace(body, joint=change(body.joint)) for body in model.bodies]
    transmissions = [replace(each, motors=tuple(map(change, each.motors))) for each in model.transmissions]
    return replace(model, bodies=tuple(bodies), transmissions=tuple(transmissions))


def with_drives(model: Model, values: Mapping[str, Mapping[str, Any]]) -> Model:
    """Return the robot with other drives: joint or motor -> new values of its fields."""
    where = f"robot {model.name!r}"
    require_mapping(values, where, "{joint or motor: {field: value}}")
    names = [body.joint.name for body in model.bodies]
    names += [motor.name for each in model.transmissions for motor in each.motors]
    for name in values:
        if name not in names:
            raise UnknownNameError("joint or motor", name, names, where=where)

    def change(drive: Any) -> Any:
        name: str = drive.name
        changes = values.get(name, {})
        require_mapping(changes, f"{where}, {name!r}", "{field: value}")
        allowed = [each.name for each in drive.declared().values()]
        for field in changes:
            if field not in allowed:
                raise UnknownNameError(f"value of drive {name!r}", field, allowed, where=where)
        try:
            new = replace(drive, **changes)
            raise_errors(check_values(name, new), where)
            if isinstance(new, Joint):
                raise_errors(check_spring(name, new, new.kind), where)
        except TypeError as error:
            raise ModelError("these are not values of a drive", where=f"{where}, {name!r}", got=error) from error
        return new

    return changed_drives(model, change)


def with_elements(drive: Drive, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a joint or motor after a change of parameters, as the regressor names them: "IA", "FV",
    "F0". A friction law that it does not have is added."""
    laws = list(drive.friction)
    for element in values:
        if element not in drive.elements and not any(element in law.elements for law in laws):
            laws.append(law_with(element))
    new = replace(drive, friction=tuple(laws)).with_parameters(values)
    return {field: getattr(new, field) for field in (*drive.elements.values(), "friction")}
