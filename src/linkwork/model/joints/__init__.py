"""Kinds of joints, one file each. A new kind is a file like these, and its name in the list below."""

from typing import Any

from ...errors import UnknownNameError
from .continuous import Continuous
from .cylindrical import Cylindrical
from .fixed import Fixed
from .flexible import Flexible
from .floating import Floating
from .helical import Helical
from .kind import JointKind
from .planar import Planar
from .prismatic import Prismatic
from .revolute import Revolute
from .spherical import Spherical
from .universal import Universal

__all__ = [
    "FIXED", "FLOATING", "JOINT_KINDS", "REVOLUTE", "Flexible", "JointKind", "Prismatic", "Revolute", "joint_kind",
]  # fmt: skip

REVOLUTE, FLOATING, FIXED = Revolute(), Floating(), Fixed()
JOINT_KINDS: dict[str, JointKind] = {
    kind.name: kind
    for kind in (
        REVOLUTE,
        Continuous(),
        Prismatic(),
        Helical(),
        Universal(),
        Cylindrical(),
        Planar(),
        Spherical(),
        FLOATING,
        FIXED,
    )
}


def joint_kind(name: str, flexible: Any = None) -> JointKind:
    """Return the kind with a name, or that of a flexible link, which has its own numbers."""
    if flexible is not None:
        return Flexible(flexible)
    if name not in JOINT_KINDS:
        raise UnknownNameError("kind of joint", name, JOINT_KINDS)
    return JOINT_KINDS[name]
