"""Object code on disk: found again, never trusted when damaged or foreign, never in the way."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from straightline import random_program

from linkwork.codegen import cache, native


@pytest.fixture
def directory(monkeypatch, tmp_path):
    place = tmp_path / "elsewhere" / "cache"
    monkeypatch.setenv("LINKWORK_CACHE", str(place))
    monkeypatch.setattr(native, "_loaded", {})
    return place


@pytest.fixture
def compilations(monkeypatch):
    """Counts how often LLVM is asked."""
    calls, original = [], native.object_code
    monkeypatch.setattr(native, "object_code", lambda *args: calls.append(1) or original(*args))
    return calls


KEEP = []  # what was loaded stays loaded, as in the package


def fresh_build(program):
    KEEP.append(dict(native._loaded))
    native._loaded.clear()
    return native.build(program)


def answer(function):
    return function(np.ones((3, 7)), np.ones((3, 7)), np.ones((3, 3)))[0].tobytes()


def test_found_again(directory, compilations):
    program = random_program(1, 50)
    first = answer(fresh_build(program))
    assert answer(fresh_build(program)) == first
    assert len(compilations) == 1
    assert native.build(program) is native.build(program)
    (entry,) = directory.iterdir()
    if os.name == "posix":
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert stat.S_IMODE(entry.stat().st_mode) == 0o600


def test_other_programs_types_and_segments_are_other_entries(directory):
    native.build(random_program(1, 50))
    native.build(random_program(2, 50))
    native.build(random_program(1, 50), "float32")
    native.build(random_program(1, 50), segment=20)
    assert len(list(directory.iterdir())) == 4


def test_key_covers_the_emitters_sources():
    assert native.emitter() != native.hashlib.sha256(b"").hexdigest()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:10],
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data + b"more",
    ],
    ids=["empty", "half", "less than a checksum", "checksum", "code", "longer"],
)
def test_damaged_entry_is_replaced(directory, compilations, damage):
    program = random_program(1, 50)
    expected = answer(fresh_build(program))
    (entry,) = directory.iterdir()
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    assert answer(fresh_build(program)) == expected
    assert len(compilations) == 2
    assert entry.read_bytes()[: cache.CHECKSUM] == good[: cache.CHECKSUM]
    fresh_build(program)
    assert len(compilations) == 2


def test_entry_under_another_key_is_refused(directory):
    cache.put("a" * 64, b"code")
    (directory / ("a" * 64)).rename(directory / ("b" * 64))
    assert cache.get("b" * 64) is None


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_entry_others_can_write_is_refused(directory):
    cache.put("a" * 64, b"code")
    assert cache.get("a" * 64) == b"code"
    (directory / ("a" * 64)).chmod(0o666)
    assert cache.get("a" * 64) is None


@pytest.mark.skipif(os.name != "posix", reason="owners of POSIX")
def test_entry_of_another_user_is_refused(directory, monkeypatch):
    cache.put("a" * 64, b"code")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert cache.get("a" * 64) is None


@pytest.mark.parametrize("value", ["off", ""])
def test_off(monkeypatch, compilations, tmp_path, value):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINKWORK_CACHE", value)
    fresh_build(random_program(1, 50))
    fresh_build(random_program(1, 50))
    assert len(compilations) == 2 and not list(tmp_path.iterdir())


def test_directory_that_cannot_be(monkeypatch, tmp_path):
    """A file where the directory should be stands for every disk that cannot be written, root or not."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "file" / "cache"))
    assert len(answer(fresh_build(random_program(1, 50)))) == 3 * 7 * 8


def test_full_disk_leaves_nothing_behind(directory, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    cache.put("a" * 64, b"code")
    assert list(directory.iterdir()) == []


def test_default_directories(monkeypatch, tmp_path):
    monkeypatch.delenv("LINKWORK_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.directory() == tmp_path / "linkwork"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache.directory() == tmp_path / ".cache" / "linkwork"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache.directory() == tmp_path / "Library" / "Caches" / "linkwork"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert cache.directory() == tmp_path / "linkwork"

    def homeless():
        raise RuntimeError("could not determine home directory")

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "home", homeless)
    assert cache.directory() is None
    assert cache.get("a" * 64) is None


def test_size_is_bounded(directory, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 10_000)
    for k in range(10):
        cache.put(f"{k:064}", bytes(3000))
        os.utime(directory / f"{k:064}", (k, k))
    foreign = directory / "thesis.tex"
    foreign.write_bytes(bytes(20_000))
    os.utime(foreign, (0, 0))
    cache.put("f" * 64, bytes(3000))
    assert foreign.exists()
    left = {entry.name for entry in directory.iterdir()} - {foreign.name}
    assert len(left) == 3 and "f" * 64 in left and f"{9:064}" in left


def test_many_writers_at_once(directory):
    code = os.urandom(200_000)

    def work():
        for _ in range(20):
            cache.put("a" * 64, code)
            assert cache.get("a" * 64) in (code, None)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert cache.get("a" * 64) == code and len(list(directory.iterdir())) == 1


def test_other_process_finds_it_and_import_is_light(directory):
    """A second process loads what the first compiled; llvmlite is imported only when something is built."""
    script = (
        "import sys; from straightline import random_program; from linkwork.codegen import native;"
        "assert 'llvmlite' not in sys.modules;"
        "native.object_code = None if sys.argv[1] == 'again' else native.object_code;"
        "native.build(random_program(1, 50))"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    for word in ("first", "again"):
        subprocess.run([sys.executable, "-c", script, word], check=True, env={**os.environ, "PYTHONPATH": path})
