"""The robot on a web page (extra ``view``)."""

from .app import Page, show
from .state import State

__all__ = ["Page", "State", "show"]


def __dir__() -> list[str]:
    return __all__
