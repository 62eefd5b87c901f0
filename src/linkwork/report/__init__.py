"""What a report about a robot is made of: its picture, and a sample motion with its torque in parts.

``linkwork report`` puts them on a page.
"""

from .motion import Motion, sample_motion
from .parts import torque_parts
from .skeleton import picture

__all__ = ["Motion", "picture", "sample_motion", "torque_parts"]


def __dir__() -> list[str]:
    return __all__
