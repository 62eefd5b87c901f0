"""One registry of targets: what runs programs, what writes them as source, what takes them as expressions.

``linkwork.compile``, ``Function`` and the command line ask it. docs/guides/new-target.md has a worked example.
"""

from .registry import Target, backend, export, express, find, names, register

__all__ = ["Target", "backend", "export", "express", "find", "names", "register"]


def __dir__() -> list[str]:
    return __all__
