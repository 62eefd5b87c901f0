"""What the papers print about operation counts, beside what running code counts."""

from ..formulations import Method
from . import growth, hollerbach1980, lin1991, linfang1999
from .table import Polynomial, Row, Table

TABLES: tuple[Table, ...] = (*hollerbach1980.TABLES, *lin1991.TABLES, *linfang1999.TABLES)


def printed(method: Method) -> tuple[Row, ...]:
    """The rows in which a paper prints how many operations a method of the catalog takes."""
    tables = (table for table in TABLES if table.quantity == method.quantity)
    return tuple(row for table in tables for row in table.rows if row.method == method.name)


__all__ = ["TABLES", "Polynomial", "Row", "Table", "growth", "printed"]
