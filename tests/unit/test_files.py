"""Files are written as a whole or not at all."""

import os

import pytest

from linkwork.errors import LinkworkError
from linkwork.files import write_bytes, write_text


def test_written_and_replaced(tmp_path):
    path = tmp_path / "file.txt"
    write_text(path, "één\n")
    assert path.read_bytes() == "één\n".encode()
    write_bytes(str(path), b"two")
    assert path.read_bytes() == b"two" and os.listdir(tmp_path) == ["file.txt"]


def test_no_such_folder(tmp_path):
    with pytest.raises(LinkworkError) as caught:
        write_text(tmp_path / "nowhere" / "file.txt", "x")
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "nowhere" / "file.txt")) and "No such file or directory" in message
    assert "fix: choose a folder that exists and is writable" in message


def test_a_failure_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(LinkworkError, match="cannot be written"):
        write_text(tmp_path / "taken", "x")
    assert os.listdir(tmp_path) == ["taken"] and os.listdir(tmp_path / "taken") == []


def test_a_failure_keeps_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write_text(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(LinkworkError, match="No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file.txt"]
