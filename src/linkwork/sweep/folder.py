"""The folder of a study: its description, a Parquet table for each chunk of rows, and their checksums.

A table that is found there is read only if its checksum is right: readers of Parquet do not survive every flipped bit,
and do not notice each.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import LinkworkError
from ..files import read_text, write_bytes, write_text
from .rows import Columns, columns_of
from .study import Study

ROWS = "rows"  # the folder of the tables within that of the study
ABOUT = "study.json"
CHECKSUMS = "rows.sha256"  # as of `sha256sum rows/*`, which can check them

Chunk = tuple[int, int]


class Folder:
    """Rows of ``study`` at ``path``, which is new, or belongs to this study and is gone on with if ``resume``."""

    def __init__(self, study: Study, path: Path, resume: bool):
        self.study, self.path = study, path
        self.left, self.damaged, self.checksums = list(study.chunks()), [], {}
        if (path / ABOUT).exists():
            self._check(resume)
            self._look()
        elif path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise LinkworkError("this is not an empty folder, and no study's", where=str(path), fix="choose another")

    def _check(self, resume: bool) -> None:
        """Does it belong to this study?"""
        where = self.path / ABOUT
        try:
            found = json.loads(where.read_text())
            others = _differences(found, _about(self.study))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise LinkworkError("this does not describe a study", where=str(where), got=error) from error
        if others:
            version = found["linkwork"]
            raise LinkworkError(
                "the folder holds rows of another study, or of another linkwork",
                where=str(self.path),
                got="; ".join(others),
                expected="the study as it is in study.yaml there, the same robot files and the same linkwork",
                fix="choose another folder" + (f", or use linkwork {version}" if version != __version__ else ""),
            )
        if not resume:
            fix = "go on with it by --resume, or choose another folder"
            raise LinkworkError("the folder holds rows of this study", where=str(self.path), fix=fix)

    def _look(self) -> None:
        """Which chunks are there, and whole?"""
        files = {self._file(chunk): chunk for chunk in self.left}
        there = set((self.path / ROWS).glob("*.parquet"))
        if strangers := sorted(path.name for path in there - set(files)):
            names = ", ".join(strangers[:3]) + (", ..." if len(strangers) > 3 else "")
            fix = "move them elsewhere"
            raise LinkworkError("these are no rows of this study", where=str(self.path / ROWS), got=names, fix=fix)
        self.checksums = self._read_checksums()
        self.damaged = [chunk for file, chunk in files.items() if file in there and not self._whole(file)]
        self.left = [chunk for file, chunk in files.items() if file not in there or chunk in self.damaged]

    def _file(self, chunk: Chunk) -> Path:
        return self.path / ROWS / f"{chunk[0]:09d}-{chunk[1]:09d}.parquet"

    def _read_checksums(self) -> dict[str, str]:
        """By file name; none for lines that a crash or a flipped bit has spoilt."""
        try:
            text = read_text(self.path / CHECKSUMS)
        except LinkworkError:
            return {}
        lines = re.findall(rf"^([0-9a-f]{{64}})  {ROWS}/(\d+-\d+\.parquet)$", text, re.MULTILINE)
        return {name: digest for digest, name in lines}

    def _whole(self, file: Path) -> bool:
        """Is it to the last bit what was written?"""
        digest = hashlib.sha256()
        try:
            with open(file, "rb") as opened:
                while block := opened.read(2**20):
                    digest.update(block)
        except OSError:
            return False
        return digest.hexdigest() == self.checksums.get(file.name)

    def make(self) -> None:
        """Before the first chunk is written."""
        try:
            (self.path / ROWS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            fix = "choose a folder that can be made and written"
            message = f"the folder cannot be made: {error.strerror}"
            raise LinkworkError(message, where=str(self.path), fix=fix) from error
        if not (self.path / ABOUT).exists():
            write_text(self.path / "study.yaml", self.study.text)
            write_text(self.path / ABOUT, json.dumps(_about(self.study), indent=2) + "\n")
        left = {self._file(chunk).name for chunk in self.left}
        lines = [_line(digest, name) for name, digest in self.checksums.items() if name not in left]
        write_text(self.path / CHECKSUMS, "".join(lines))

    def write(self, chunk: Chunk, table: bytes) -> None:
        file, place = self._file(chunk), self.path / CHECKSUMS
        write_bytes(file, table)
        try:
            with open(place, "a") as opened:
                opened.write(_line(hashlib.sha256(table).hexdigest(), file.name))
        except OSError as error:
            fix = "make room and give access, then go on with --resume"
            message = f"the file cannot be written: {error.strerror}"
            raise LinkworkError(message, where=str(place), fix=fix) from error


def _line(digest: str, name: str) -> str:
    return f"{digest}  {ROWS}/{name}\n"


def _about(study: Study) -> dict[str, Any]:
    digest = hashlib.sha256(study.text.encode()).hexdigest()
    about = {"name": study.name, "rows": study.rows, "seed": study.seed, "study": digest}
    return {**about, "robots": dict(study.robots), "linkwork": __version__}


def _differences(found: Any, here: dict[str, Any]) -> list[str]:
    """What a folder was made with, where it is not the same here."""
    others = []
    if found["linkwork"] != here["linkwork"]:
        others.append(f"rows of linkwork {found['linkwork']}, and this is {here['linkwork']}")
    if found["study"] != here["study"]:
        others.append("another text in study.yaml")
    changed = [name for name, digest in here["robots"].items() if found["robots"].get(name) != digest]
    others += [f"the robot file {name} was another" for name in changed]
    if not others and found != here:
        others += [f"{key} {found.get(key)}, not {value}" for key, value in here.items() if found.get(key) != value]
    return others


def _schema(study: Study) -> Any:
    import pyarrow

    kinds = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    return pyarrow.schema([(name, kinds[kind]) for name, kind in columns_of(study).items()])


def to_parquet(study: Study, columns: Columns) -> bytes:
    """All chunks have the columns of all cases, so that the files make one table; checksums tell damage."""
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
