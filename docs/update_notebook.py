"""Run examples/tour.ipynb and keep what it shows. ``make docs-tables`` runs this; a test looks for changes."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "examples" / "tour.ipynb"


def executed() -> nbformat.NotebookNode:
    """The notebook with the outputs of a run of now, without what differs from run to run."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, record_timing=False, coalesce_streams=True).execute()
    notebook.metadata.language_info = {"name": "python"}  # not the version that happened to run it
    return notebook


def words(notebook: nbformat.NotebookNode) -> list[str]:
    """What its cells show, cell by cell: printed lines, objects, equations; pictures by their size."""
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    kinds = ("text/plain", "text/html", "text/latex")
    return [output.get("text") or "\n".join(output.data.get(kind, "") for kind in kinds) for output in shown]


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
