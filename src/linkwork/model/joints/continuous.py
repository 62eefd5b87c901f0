"""A turn about z without end. Its position is one number that counts all turns."""

from __future__ import annotations

from .revolute import Revolute


class Continuous(Revolute):
    name = "continuous"
