"""A report about a robot, ``html`` on one page, and what it is made of: its picture, a sample motion, its torque in
parts.
"""

from .motion import Motion, sample_motion
from .parts import torque_parts
from .skeleton import picture
from .whole import html, write

__all__ = ["Motion", "html", "picture", "sample_motion", "torque_parts", "write"]


def __dir__() -> list[str]:
    return __all__
