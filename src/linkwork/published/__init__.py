"""What the papers print about operation counts, beside what running code counts."""

from . import growth
from .table import Polynomial, Row, Table

TABLES: tuple[Table, ...] = ()

__all__ = ["TABLES", "Polynomial", "Row", "Table", "growth"]
