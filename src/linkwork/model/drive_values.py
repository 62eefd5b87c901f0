"""Drives of a Model with other values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import ModelError, UnknownNameError, require_mapping
from .drive import Drive, law_with
from .drive_checks import check_spring, check_values
from .model import Joint, Model
from .validate import raise_errors


def changed_drives(model: Model, change: Callable[[Any], Any]) -> Model:
    """``change`` gets each joint, and each motor of a transmission."""
    bodies = [replace(body, joint=change(body.joint)) for body in model.bodies]
    transmissions = [replace(each, motors=tuple(map(change, each.motors))) for each in model.transmissions]
    return replace(model, bodies=tuple(bodies), transmissions=tuple(transmissions))


def with_drives(model: Model, values: Mapping[str, Mapping[str, Any]]) -> Model:
    """Joint or motor -> new values of its fields."""
    where = f"robot {model.name!r}"
    require_mapping(values, where, "{joint or motor: {field: value}}")
    known = [body.joint.name for body in model.bodies]
    known += [motor.name for each in model.transmissions for motor in each.motors]
    for name in values:
        if name not in known:
            raise UnknownNameError("joint or motor", name, known, where=where)

    def change(drive: Any) -> Any:
        name: str = drive.name
        own = values.get(name, {})
        require_mapping(own, f"{where}, {name!r}", "{field: value}")
        allowed = [each.name for each in drive.declared().values()]
        for field in own:
            if field not in allowed:
                raise UnknownNameError(f"value of drive {name!r}", field, allowed, where=where)
        try:
            changed = replace(drive, **own)
            raise_errors(check_values(name, changed), where)
            if isinstance(changed, Joint):
                raise_errors(check_spring(name, changed, changed.kind), where)
        except TypeError as error:
            raise ModelError("these are not values of a drive", where=f"{where}, {name!r}", got=error) from error
        return changed

    return changed_drives(model, change)


def with_elements(drive: Drive, values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a joint or motor when these parameters change, as the regressor names them: "IA", "FV", "F0". A law of
    friction that it has not is added."""
    laws = list(drive.friction)
    for element in values:
        if element not in drive.elements and not any(element in law.elements for law in laws):
            laws.append(law_with(element))
    changed = replace(drive, friction=tuple(laws)).with_parameters(values)
    return {field: getattr(changed, field) for field in (*drive.elements.values(), "friction")}
