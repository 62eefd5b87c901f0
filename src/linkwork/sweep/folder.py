"""The folder of a study: its description, a Parquet table for each chunk of rows, and their checksums.

An existing table is kept only if its checksum is right: readers of Parquet may crash on a flipped bit, or miss it.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import LinkworkError, at_door
from ..files import read_text, write_bytes, write_text
from .rows import Columns, columns_of
from .study import Study

ROWS = "rows"  # the folder of the tables within that of the study
ABOUT = "study.json"
CHECKSUMS = "rows.sha256"  # in the format of `sha256sum rows/*`, which can check them

Chunk = tuple[int, int]


def resume_fix() -> str:
    """Return how the user continues a study."""
    return at_door("continue with run(..., resume=True)", "continue with --resume")


class Folder:
    """Rows of ``study`` at ``path``, which is new, or has rows of this study already if ``resume``."""

    def __init__(self, study: Study, path: Path, resume: bool):
        self.study, self.path = study, path
        self.missing, self.damaged, self.checksums = list(study.chunks()), [], {}
        if (path / ABOUT).exists():
            self._check(resume)
            self._find_missing()
        elif path.exists() and (not path.is_dir() or any(path.iterdir())):
            message = "this is neither an empty folder nor one of a study"
            raise LinkworkError(message, where=str(path), fix="choose another folder")

    def _check(self, resume: bool) -> None:
        """Refuse a folder that belongs to another study, or that exists without ``resume``."""
        where = self.path / ABOUT
        try:
            stored = json.loads(where.read_text())
            differences = _differences(stored, _about(self.study))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise LinkworkError("this does not describe a study", where=str(where), got=error) from error
        if differences:
            version = stored["linkwork"]
            raise LinkworkError(
                "the folder has rows of another study, or of another version of linkwork",
                where=str(self.path),
                got="; ".join(differences),
                expected="the study in study.yaml there, the same robot files and the same version of linkwork",
                fix="choose another folder" + (f", or use linkwork {version}" if version != __version__ else ""),
            )
        if not resume:
            fix = f"{resume_fix()}, or choose another folder"
            raise LinkworkError("the folder has rows of this study already", where=str(self.path), fix=fix)

    def _find_missing(self) -> None:
        """Find the chunks that are missing or damaged."""
        files = {self._file(chunk): chunk for chunk in self.missing}
        existing = set((self.path / ROWS).glob("*.parquet"))
        if unknown := sorted(path.name for path in existing - set(files)):
            names = ", ".join(unknown[:3]) + (", ..." if len(unknown) > 3 else "")
            fix = "move them to another folder"
            raise LinkworkError("these are not rows of this study", where=str(self.path / ROWS), got=names, fix=fix)
        self.checksums = self._read_checksums()
        self.damaged = [chunk for file, chunk in files.items() if file in existing and not self._intact(file)]
        self.missing = [chunk for file, chunk in files.items() if file not in existing or chunk in self.damaged]

    def _file(self, chunk: Chunk) -> Path:
        return self.path / ROWS / f"{chunk[0]:09d}-{chunk[1]:09d}.parquet"

    def _read_checksums(self) -> dict[str, str]:
        """Return the checksums by file name, without lines that a crash or a flipped bit has damaged."""
        try:
            text = read_text(self.path / CHECKSUMS)
        except LinkworkError:
            return {}
        lines = re.findall(rf"^([0-9a-f]{{64}})  {ROWS}/(\d+-\d+\.parquet)$", text, re.MULTILINE)
        return {name: digest for digest, name in lines}

    def _intact(self, file: Path) -> bool:
        """Return whether the checksum of the file is right."""
        digest = hashlib.sha256()
        try:
            with open(file, "rb") as opened:
                while block := opened.read(2**20):
                    digest.update(block)
        except OSError:
            return False
        return digest.hexdigest() == self.checksums.get(file.name)

    def create(self) -> None:
        """Create the folder, before the first chunk is written."""
        try:
            (self.path / ROWS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            fix = "choose a folder that can be created and written"
            message = f"the folder cannot be created: {error.strerror}"
            raise LinkworkError(message, where=str(self.path), fix=fix) from error
        if not (self.path / ABOUT).exists():
            write_text(self.path / "study.yaml", self.study.text)
            write_text(self.path / ABOUT, json.dumps(_about(self.study), indent=2) + "\n")
        missing = {self._file(chunk).name for chunk in self.missing}
        lines = [_line(digest, name) for name, digest in self.checksums.items() if name not in missing]
        write_text(self.path / CHECKSUMS, "".join(lines))

    def write(self, chunk: Chunk, table: bytes) -> None:
        file, place = self._file(chunk), self.path / CHECKSUMS
        write_bytes(file, table)
        try:
            with open(place, "a") as opened:
                opened.write(_line(hashlib.sha256(table).hexdigest(), file.name))
        except OSError as error:
            fix = f"free disk space and allow writing, then {resume_fix()}"
            message = f"the file cannot be written: {error.strerror}"
            raise LinkworkError(message, where=str(place), fix=fix) from error


def _line(digest: str, name: str) -> str:
    return f"{digest}  {ROWS}/{name}\n"


def _about(study: Study) -> dict[str, Any]:
    digest = hashlib.sha256(study.text.encode()).hexdigest()
    about = {"name": study.name, "rows": study.rows, "seed": study.seed, "study": digest}
    return {**about, "robots": dict(study.robots), "linkwork": __version__}


def _differences(stored: Any, here: dict[str, Any]) -> list[str]:
    """Return how the study of a folder differs from this one."""
    differences = []
    if stored["linkwork"] != here["linkwork"]:
        differences.append(f"rows of linkwork {stored['linkwork']}, and this is {here['linkwork']}")
    if stored["study"] != here["study"]:
        differences.append("another text in study.yaml")
    names = [name for name, digest in here["robots"].items() if stored["robots"].get(name) != digest]
    differences += [f"the robot file {name} has changed" for name in names]
    if not differences and stored != here:
        differences = [f"{key} {stored.get(key)}, not {x}" for key, x in here.items() if stored.get(key) != x]
    return differences


def _schema(study: Study) -> Any:
    import pyarrow

    kinds = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    return pyarrow.schema([(name, kinds[kind]) for name, kind in columns_of(study).items()])


def to_parquet(study: Study, columns: Columns) -> bytes:
    """Return a chunk as a Parquet file. All have the columns of all cases, so that the files are one table."""
    import pyarrow
    from pyarrow import parquet

    schema, count = _schema(study), len(columns["row"])
    arrays = [
        pyarrow.array(columns[field.name], field.type) if field.name in columns else pyarrow.nulls(count, field.type)
        for field in schema
    ]
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays, schema=schema), file, write_page_checksum=True)
    return file.getvalue()
