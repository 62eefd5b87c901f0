"""A rotation about z without limits. Its position is one number that counts all turns."""

from __future__ import annotations

from .revolute import Revolute


class Continuous(Revolute):
    name = "continuous"
