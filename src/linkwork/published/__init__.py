"""Operation counts that the papers print, and the counts of running code."""

from ..formulations import Method
from . import growth, hollerbach1980, lin1991, linfang1999
from .table import Polynomial, Row, Table

TABLES: tuple[Table, ...] = (*hollerbach1980.TABLES, *lin1991.TABLES, *linfang1999.TABLES)


def printed(method: Method) -> tuple[Row, ...]:
    """Return the rows in which a paper prints the operation counts of a method of the catalogue."""
    tables = (table for table in TABLES if table.quantity == method.quantity)
    return tuple(row for table in tables for row in table.rows if row.method == method.name)


__all__ = ["TABLES", "Polynomial", "Row", "Table", "growth", "printed"]
