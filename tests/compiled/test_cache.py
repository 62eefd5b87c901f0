"""Object code on disk: found again, never trusted when damaged or foreign, never in the way."""

import hashlib
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from straightline import random_program

from linkwork.codegen import cache, native
from linkwork.codegen.native import machine_code
from linkwork.codegen.native.lifetime import Recent

POSIX = pytest.mark.skipif(os.name != "posix", reason="owners, permissions and links of POSIX")


@pytest.fixture
def directory(monkeypatch, tmp_path):
    place = tmp_path / "elsewhere" / "cache"
    monkeypatch.setenv("LINKWORK_CACHE", str(place))
    monkeypatch.setattr(native, "_loaded", Recent())
    return place


@pytest.fixture
def compilations(monkeypatch):
    """Counts how often LLVM is asked."""
    calls, original = [], native.object_code
    monkeypatch.setattr(native, "object_code", lambda *args: calls.append(1) or original(*args))
    return calls


def fresh_build(program):
    native._loaded = Recent()
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
    assert machine_code.emitter() != hashlib.sha256(b"").hexdigest()


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


@POSIX
def test_entry_others_can_write_is_refused(directory):
    cache.put("a" * 64, b"code")
    assert cache.get("a" * 64) == b"code"
    (directory / ("a" * 64)).chmod(0o666)
    assert cache.get("a" * 64) is None


@POSIX
@pytest.mark.parametrize("what", [".", "a" * 64], ids=["directory", "entry"])
def test_what_another_user_owns_is_refused(directory, what, monkeypatch):
    cache.put("a" * 64, b"code")
    if os.geteuid() == 0:  # whose files are trusted, but who may give them away
        os.chown(directory / what, 12345, -1)
    else:
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert cache.get("a" * 64) is None


@POSIX
@pytest.mark.parametrize(
    ("owner", "mode", "safe"),
    [(1000, 0o600, True), (0, 0o644, True), (1001, 0o644, False), (1000, 0o620, False), (0, 0o602, False)],
)
def test_whom_to_trust(monkeypatch, owner, mode, safe):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cache._safe(os.stat_result((stat.S_IFREG | mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))) == safe


@POSIX
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_directory_others_can_write_is_left_alone(directory, mode):
    cache.put("a" * 64, b"code")
    directory.chmod(mode)
    assert cache.get("a" * 64) is None
    cache.put("b" * 64, b"code")
    assert [entry.name for entry in directory.iterdir()] == ["a" * 64]


@POSIX
def test_links_are_not_followed(directory, tmp_path):
    cache.put("a" * 64, b"code")
    (directory / ("a" * 64)).rename(tmp_path / "elsewhere" / "planted")
    (directory / ("a" * 64)).symlink_to(tmp_path / "elsewhere" / "planted")
    assert cache.get("a" * 64) is None
    cache.put("a" * 64, b"other")
    assert cache.get("a" * 64) == b"other" and not (directory / ("a" * 64)).is_symlink()
    assert (tmp_path / "elsewhere" / "planted").read_bytes()[cache.CHECKSUM :] == b"code"


@POSIX
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir] if os.name == "posix" else [])
def test_what_is_no_file_is_not_opened(directory, make):
    """A pipe nobody writes to would be waited for."""
    directory.mkdir(0o700, parents=True)
    make(directory / ("a" * 64))
    assert cache.get("a" * 64) is None


def test_cache_that_cannot_be_written_serves(directory, monkeypatch):
    """As in an image of a container; root may write anywhere, so the failure is made."""
    cache.put("a" * 64, b"code")
    os.utime(directory / ("a" * 64), (0, 0))

    def read_only(*_, **__):
        raise OSError("read-only file system")

    monkeypatch.setattr(os, "utime", read_only)
    monkeypatch.setattr(tempfile, "mkstemp", read_only)
    assert cache.get("a" * 64) == b"code"
    cache.put("b" * 64, b"code")
    assert cache.get("b" * 64) is None


def test_use_is_noted(directory):
    """What is used stays longest."""
    cache.put("a" * 64, b"code")
    os.utime(directory / ("a" * 64), (0, 0))
    cache.get("a" * 64)
    assert time.time() - (directory / ("a" * 64)).stat().st_mtime < 60


def test_killed_writers_are_cleaned_up_after(directory):
    cache.put("a" * 64, b"code")
    for name in ("new-old", "new-young"):
        (directory / name).write_bytes(b"half")
    os.utime(directory / "new-old", (0, 0))
    cache.put("0" * 64, b"code")
    assert {entry.name for entry in directory.iterdir()} == {"a" * 64, "0" * 64, "new-young"}


def test_few_new_entries_look_through_all(directory, monkeypatch):
    looked = []
    monkeypatch.setattr(cache, "_sweep", looked.append)
    for k in range(512):
        cache.put(hashlib.sha256(bytes([k % 256, k // 256])).hexdigest(), b"")
    assert 1 <= len(looked) <= 24


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
    monkeypatch.setattr(cache, "SWEEP", 1)
    for k in range(10):
        cache.put(f"{k:064}", bytes(3000))
        os.utime(directory / f"{k:064}", (k, k))
    foreign = directory / "thesis.tex"
    foreign.write_bytes(bytes(20_000))
    os.utime(foreign, (0, 0))
    newest = "f0" * 32
    cache.put(newest, bytes(3000))
    assert foreign.exists()
    left = {entry.name for entry in directory.iterdir()} - {foreign.name}
    assert len(left) == 3 and newest in left and f"{9:064}" in left


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


FORK = """
import os, signal, sys, threading, time
from straightline import random_program
from linkwork.codegen import native
from linkwork.program import Program
asked = threading.Event()
where, name = {"llvm": (native, "ir_text"), "digest": (Program, "to_json")}[sys.argv[1]]
original = getattr(where, name)
def told(*args):
    asked.set()
    time.sleep(0.05 * (name == "to_json"))
    return original(*args)
setattr(where, name, told)
thread = threading.Thread(target=native.build, args=(random_program(1, 4000),))
thread.start()
asked.wait()
if name == "ir_text":
    time.sleep(0.1)  # LLVM is at it
child = os.fork()
if not child:
    signal.alarm(10)
    native.build(random_program(2, 50))
    os._exit(0)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX copies processes")
@pytest.mark.parametrize("at", ["llvm", "digest"])
def test_fork_while_another_thread_compiles(directory, at):
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-c", FORK, at]
    subprocess.run(command, check=True, timeout=60, env=os.environ | {"PYTHONPATH": path})
