"""A report about a robot on one HTML page, and its parts: picture, sample motion, parts of the torque."""

from .motion import Motion, sample_motion
from .parts import torque_parts
from .skeleton import picture
from .whole import html, write

__all__ = ["Motion", "html", "picture", "sample_motion", "torque_parts", "write"]


def __dir__() -> list[str]:
    return __all__
