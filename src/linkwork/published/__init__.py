"""What the papers print about operation counts, beside what running code counts."""

from . import growth, hollerbach1980, lin1991, linfang1999
from .table import Polynomial, Row, Table

TABLES: tuple[Table, ...] = (*hollerbach1980.TABLES, *lin1991.TABLES, *linfang1999.TABLES)

__all__ = ["TABLES", "Polynomial", "Row", "Table", "growth"]
