"""Trajectories: named arrays, what they keep, plots, files."""

import contextlib
import errno
import importlib
import io
import json
import math
import os
import pickle
import shutil
import sys
import tracemalloc
from xml.etree import ElementTree
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from pyarrow import parquet

import linkwork
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.sim.trajectory import records
from linkwork.sim.trajectory.trajectory import Event, Trajectory

NAMES = ("shoulder", 'odd, "name"')
NASTY = (0.1, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, np.nan, np.inf)


def make(batch=(), times=7, names=NAMES, **changes):
    """Oscillators x'' = -w^2 x, so that energies are known."""
    rng = np.random.default_rng(1)
    t = np.arange(times) * 0.1
    w = rng.uniform(1, 3, (*batch, 1, len(names)))
    q, v = np.sin(w * t[:, None]), w * np.cos(w * t[:, None])
    kinetic, potential = 0.5 * np.sum(v**2, -1), 0.5 * np.sum((w * q) ** 2, -1)
    arrays = {"t": t, "q": q, "v": v, "tau": -w * w * q, "kinetic_energy": kinetic, "potential_energy": potential}
    entries = dict.fromkeys(("q", "v", "tau"), names)
    about = {"robot": "arm", "method": "rk4", "dt": 0.1, "notes": ("friction is smoothed",)}
    return Trajectory({**arrays, "work": 0 * kinetic}, entries, **{**about, **changes})


# -- arrays --------------------------------------------------------------------------------------------------------


def test_arrays_by_name():
    motion = make()
    assert motion.q is motion["q"] and "q" in motion and "a" not in motion
    assert list(motion)[:3] == ["t", "q", "v"] and "kinetic_energy" in dir(motion)
    assert motion.batch == () and len(motion) == 1
    with pytest.raises(AttributeError, match=r"no array 'qq'.*t, q, v"):
        motion.qq  # noqa: B018
    with pytest.raises(UnknownNameError, match="kinetic_energy"):
        motion["kinetic"]
    assert repr(motion).startswith("<Trajectory of arm: 7 times from 0 to 0.6 s, rk4, dt 0.1 s; t, q")
    assert repr(motion).endswith("note: friction is smoothed")


def test_in_a_notebook():
    page = make(robot="<b>arm</b>", notes=("a < b",), units={"q": ("rad", "m")})._repr_html_()
    root = ElementTree.fromstring(page)  # well formed, so nothing of others gets in
    rows = {row[0].text: "".join(row[1].itertext()) for row in root.iter("tr")}
    assert root.find("caption/b").text == "Trajectory of <b>arm</b>" and rows["note"] == "a < b"
    assert rows["method"] == "rk4, dt 0.1 s" and rows["times"] == "7 times, 0 to 0.6 s"
    assert "q (7, 2)" in rows["arrays"] and float(rows["energy drift [J]"]) < 1e-12
    assert rows["q shoulder"].endswith("rad") and 'q odd, "name"' in rows
    assert len(root.findall(".//polyline")) == 2


def test_in_a_notebook_whatever_it_holds():
    bad = make((3,))
    bad.q[0, 2:, 0] = np.inf
    bad.q[0, :, 1] = np.nan
    empty = [make(times=0), make((0,)), make((2, 3)), make(names=()), make(names=tuple("abcdefghijkl"))]
    for motion in (bad, floating(), *empty):
        page = motion._repr_html_()
        ElementTree.fromstring(page)
        assert len(page) < 20_000
    assert "not finite" in bad._repr_html_() and "3" in bad._repr_html_()
    long = Trajectory({"t": np.arange(1e6), "q": np.zeros((10**6, 7))}, {"q": "abcdefg"}, robot="r", method="m", dt=1)
    assert len(long._repr_html_()) < 20_000


def test_samples_of_a_batch():
    motions = make((4, 3))
    assert motions.batch == (4, 3) and len(motions) == 4 and "4 x 3 samples" in repr(motions)
    assert motions[1].batch == (3,) and motions[1:3].batch == (2, 3) and motions[1, 2].batch == ()
    np.testing.assert_array_equal(motions[1, 2].q, motions.q[1, 2])
    np.testing.assert_array_equal(motions[[0, 3]].work, motions.work[[0, 3]])
    assert motions[1].t is motions.t and motions[1].notes == motions.notes
    with pytest.raises(ShapeError, match="at most 2"):
        motions[0, 0, 0]
    with pytest.raises(ShapeError, match="no samples"):
        make()[0]
    with pytest.raises(IndexError):
        motions[4]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": None}, "needs its times"),
        ({"t": np.zeros((7, 1))}, "needs its times"),
        ({"q": np.zeros((8, 2))}, r"q: .*\n.*got: \(8, 2\)\n.*expected: \(..., 7, 2\)"),
        ({"q": np.zeros((7, 3))}, r"expected: \(..., 7, 2\)"),
        ({"v": np.zeros((5, 7, 2))}, r"expected: \(7, 2\)"),
        ({"work": np.zeros((7, 2))}, r"expected: \(7\)\n.*name them in entries"),
        ({"work": np.zeros(())}, r"got: \(\)"),
    ],
)
def test_shapes_are_checked(changes, message):
    motion = make()
    arrays = {name: x for name, x in {**motion.arrays, **changes}.items() if x is not None}
    with pytest.raises(ShapeError, match=message):
        Trajectory(arrays, motion.entries, robot="arm", method="rk4", dt=0.1)


def test_units_are_as_many_as_entries():
    with pytest.raises(ShapeError, match="2 units"):
        make(units={"q": ("rad",)})


def test_one_joint():
    motions = make((3,))
    found = motions.joint("shoulder")
    assert list(found) == ["q", "v", "tau"]
    np.testing.assert_array_equal(found["v"], motions.v[..., 0])
    with pytest.raises(UnknownNameError, match="did you mean 'shoulder'"):
        motions.joint("sholder")


def floating():
    names = tuple(f"base.{x}" for x in ("x", "y", "z", "qx", "qy", "qz", "qw"))
    q = np.tile([1.0, 2, 3, 0, 0.6, 0, 0.8], (5, 1))
    q[3, 6] = 0.9
    momentum = np.zeros((5, 6))
    momentum[:, 2] = -9.81 * 0.1 * np.arange(5)
    arrays = {"t": 0.1 * np.arange(5), "q": q, "momentum": momentum, "loop_residual": -0.25 * np.ones((5, 1))}
    return Trajectory(arrays, {"q": names, "loop_residual": ("cut",)}, robot="r", method="rk4", dt=0.1)


def test_floating_base_is_one_joint():
    assert floating().joint("base")["q"].shape == (5, 7)


def test_drift():
    drift = make((3,)).drift
    assert drift == {"energy": pytest.approx(0, abs=1e-14)}
    motions = make((3,))
    motions.work[1, 4] = -0.5
    motions.kinetic_energy[2, 6] -= 0.2
    assert motions.drift == {"energy": pytest.approx(0.5)}
    assert floating().drift == {
        "loop_residual": 0.25,
        "quaternion": pytest.approx(np.hypot(0.6, 0.9) - 1),
        "momentum_change": pytest.approx(9.81 * 0.4),
    }
    with pytest.raises(UnknownNameError, match="kinetic_energy"):
        floating().energy  # noqa: B018


def test_pickles():
    again = pickle.loads(pickle.dumps(make((2,))))
    assert_same(again, make((2,)))


# -- files ---------------------------------------------------------------------------------------------------------


def assert_same(one, other):
    assert list(one) == list(other)
    for name in one:
        assert one[name].shape == other[name].shape, name
        assert np.asarray(one[name], float).tobytes() == np.asarray(other[name], float).tobytes(), name
    for name in ("robot", "method", "dt", "notes", "entries", "units", "batch"):
        assert getattr(one, name) == getattr(other, name), name


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 3)])
def test_round_trip_is_exact(tmp_path, suffix, batch):
    motion = make(batch, units={"q": ("rad", "m")})
    motion.q[..., 0] = NASTY
    path = tmp_path / f"motion{suffix}"
    motion.save(path)
    assert_same(Trajectory.load(path), motion)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_round_trip_without_entries_or_times(tmp_path, suffix):
    for motion in (make(names=()), make(times=0), make((3,), times=0)):
        motion.save(tmp_path / f"motion{suffix}")
        assert_same(Trajectory.load(tmp_path / f"motion{suffix}"), motion)


def test_csv_is_plain(tmp_path):
    motion = make((2,), times=2)
    motion.save(tmp_path / "motion.csv")
    first, header, *rows = (tmp_path / "motion.csv").read_text().splitlines()
    assert json.loads(first.removeprefix("# "))["robot"] == "arm"
    assert header.startswith('sample,t,q.shoulder,"q.odd, ""name""",v.shoulder')
    assert [row.split(",")[:2] for row in rows] == [["0", "0.0"], ["0", "0.1"], ["1", "0.0"], ["1", "0.1"]]
    assert float(rows[3].split(",")[2]) == motion.q[1, 1, 0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npz", b"hello", "not a zip file"),
        ("a.npz", b"PK\x03\x04rest", "not a trajectory"),
        ("a.csv", b"t,q\n0,1\n", "first line 't,q'"),
        ("a.csv", b"# {\n", "not a trajectory"),
        ("a.csv", b"# {}\nt\n0\n", "not a trajectory"),
        ("a.csv", b'# {"format": "other", "arrays": []}\nt\n0\n', "other"),
        ("a.csv", b"\xff\xfe", "not a trajectory"),
        ("a.parquet", b"PAR1", "not a trajectory"),
        ("a.txt", b"", r"got: .txt\n.*expected: .npz, .csv, .parquet"),
        ("a", b"", "no suffix"),
    ],
)
def test_strange_files(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LinkworkError, match=message):
        Trajectory.load(tmp_path / name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [*lines[:3], "1,2", *lines[3:]], "line 4 has 2 columns"),
        (lambda lines: [*lines[:2], "1,2", *lines[3:]], "line 3 has 2 columns"),
        (lambda lines: lines[:-1], "13 rows for 2 samples"),
        (lambda lines: [*lines[:-1], lines[-1].replace(",", ",x", 1)], "could not convert"),
        (lambda lines: [lines[0], lines[1].replace("v.", "w."), *lines[2:]], "v.shoulder"),
        (
            lambda lines: [lines[0], lines[1].replace("v.shoulder", "q.shoulder"), *lines[2:]],
            "two columns 'q.shoulder'",
        ),
    ],
)
def test_damaged_csv(tmp_path, change, message):
    path = tmp_path / "motion.csv"
    make((2,)).save(path)
    path.write_text("\n".join(change(path.read_text().splitlines())))
    with pytest.raises(LinkworkError, match=message):
        Trajectory.load(path)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(LinkworkError, match="cannot be read: No such file"):
        Trajectory.load(tmp_path / "none.npz")
    with pytest.raises(LinkworkError, match="cannot be written"):
        make().save(tmp_path / "no" / "motion.npz")
    with pytest.raises(LinkworkError, match="suffix"):
        make().save(tmp_path / "motion.mat")
    with pytest.raises(UnsupportedError, match=r"save it as \.npz"):
        make((0,)).save(tmp_path / "motion.csv")
    assert not list(tmp_path.iterdir())


# -- files of others -----------------------------------------------------------------------------------------------


class Trap:
    """Makes a folder when unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    """The same rollout in every form."""
    folder, arm = tmp_path_factory.mktemp("streams"), linkwork.load("planar2r")
    q = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    for name in ("run", "run.zarr") if sys.version_info >= (3, 11) else ("run",):  # Zarr 3 needs it
        arm.rollout(q, q, None, 1e-3, 20, outputs=("q", "v"), to=folder / name)
    for suffix in ("npz", "csv", "parquet"):
        arm.rollout(q, q, None, 1e-3, 20, outputs=("q", "v")).save(folder / f"run.{suffix}")
    return folder


@pytest.fixture
def copied(streams, tmp_path):
    def copy(name):
        source = streams / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
        return tmp_path / name

    return copy


def refused(path, message):
    tracemalloc.start()
    try:
        with pytest.raises(LinkworkError, match=message):
            Trajectory.load(path)
        assert tracemalloc.get_traced_memory()[1] < 5e7
    finally:
        tracemalloc.stop()


def changed(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def npy(shape, descr="<f8", data=b"\0" * 16):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def zipped(path, **members):
    """The file with other members."""
    with ZipFile(path) as file:
        held = {name: file.read(name) for name in file.namelist()}
    with ZipFile(path, "w") as file:
        for name, data in {**held, **{f"{name}.npy": data for name, data in members.items()}}.items():
            file.writestr(name, data)


def test_nothing_is_unpickled(copied, tmp_path):
    path, trap = copied("run.npz"), tmp_path / "sprung"
    array = np.array([Trap(trap)], object)
    with np.load(path) as file:
        held = dict(file)
    np.savez(path, **{**held, "q": array})
    refused(path, "type object")
    np.save(copied("run") / "q.npy", array)
    refused(tmp_path / "run", "type object")
    (tmp_path / "run" / "q.npy").write_bytes(pickle.dumps(Trap(trap)))
    refused(tmp_path / "run", "magic")
    (tmp_path / "run.npz").write_bytes(pickle.dumps(Trap(trap)))
    refused(tmp_path / "run.npz", "not a zip file")
    assert not trap.exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codecs": [{"name": "numcodecs.pickle", "configuration": {}}]}, "codec 'numcodecs.pickle'"),
        ({"codecs": [{"name": "bytes"}, {"name": "pickle"}]}, "codec 'pickle'"),
        ({"data_type": "object"}, "data_type 'object'"),
        ({"data_type": "string"}, "data_type"),
        ({"data_type": {"name": "numcodecs.pickle"}}, "data_type"),
        ({"zarr_format": 2, "filters": [{"id": "pickle"}], "dtype": "|O"}, "zarr_format 2"),
        ({"storage_transformers": [{"name": "x"}]}, "storage transformers"),
        ({"shape": [10**12, 21, 2]}, "most chunks are missing"),
        ({"shape": [3, 21, -2]}, "shape"),
        ({"shape": [3, 10**12, 2]}, r"\(3, 1000000000000, 2\)"),
        ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10**6, 10**6, 2]}}}, "chunks of"),
        ({"chunk_grid": 7}, "not a trajectory"),
    ],
)
def test_metadata_of_zarr_are_read_before_zarr_does(copied, changes, message):
    folder = copied("run.zarr")
    changed(folder / "q" / "zarr.json", **changes)
    refused(folder, message)


def test_zarr_of_another_format_beside(copied, tmp_path):
    """Metadata of version 2 would be found if those of version 3 were not there."""
    folder, trap = copied("run.zarr"), tmp_path / "sprung"
    (folder / "q" / "zarr.json").unlink()
    old = {"zarr_format": 2, "shape": [3, 21, 2], "chunks": [3, 21, 2], "dtype": "|O", "fill_value": None, "order": "C",
           "compressor": None, "filters": [{"id": "pickle"}]}  # fmt: skip
    (folder / "q" / ".zarray").write_text(json.dumps(old))
    (folder / "q" / "0.0.0").write_bytes(pickle.dumps(Trap(trap)))
    (folder / ".zgroup").write_text('{"zarr_format": 2}')
    refused(folder, "not a trajectory")
    (folder / "zarr.json").unlink()
    refused(folder, "not a trajectory")
    assert not trap.exists()


def test_times_of_zarr_that_unpack_to_too_much(copied):
    zarr = pytest.importorskip("zarr")
    folder = copied("run.zarr")
    shutil.rmtree(folder / "t")
    zarr.create_array(str(folder / "t"), shape=(10**8,), chunks=(10**8,), dtype="f8", fill_value=1.0)
    (folder / "t" / "c").mkdir()
    (folder / "t" / "c" / "0").write_bytes(bytes(100))
    refused(folder, r"shape \(100000000,\) in 100 bytes")


@pytest.mark.parametrize("name", ["run", "run.zarr"])
def test_links_and_pipes_in_folders(copied, name):
    folder = copied(name)
    os.mkfifo(folder / "more")
    refused(folder, "more is not a file")
    (folder / "more").unlink()
    (folder / "more").symlink_to("/dev/zero")
    refused(folder, "more is not a file")


def test_pipes_and_devices(tmp_path):
    os.mkfifo(tmp_path / "run.npz")
    refused(tmp_path / "run.npz", "not a regular file")
    (tmp_path / "run.csv").symlink_to("/dev/zero")
    refused(tmp_path / "run.csv", "not a regular file")


@pytest.mark.parametrize("shape", [(10**12, 22, 2), (3, 21, 10**12), (2**62, 2**62, 2), (3, -21, 2), (), (3, 20, 2)])
def test_heads_that_claim_other_shapes(copied, shape):
    for name, put in (("run", lambda path, data: (path / "q.npy").write_bytes(data)), ("run.npz", lambda path, data:
                      zipped(path, q=data))):  # fmt: skip
        path = copied(name)
        put(path, npy(shape, data=bytes(8 * 126)))
        refused(path, "not a trajectory")


def test_archives_with_an_array_twice(copied):
    path = copied("run.npz")
    with ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr("q.npy", file.read("v.npy"))
    refused(path, "two members of the same name")


def test_archives_that_unpack_to_more_than_they_are(copied):
    path = copied("run.npz")
    with ZipFile(path, "a", ZIP_DEFLATED) as file:
        file.writestr("a.npy", bytes(10**8))
    refused(path, "compressed members")
    path = copied("run.npz")
    data, member = path.read_bytes(), b"v.npy"
    whole = len(np.load(path)["q"].tobytes())
    assert whole > 500
    zipped(path, **{f"v{k}": npy((whole // 8,), data=bytes(whole)) for k in range(4)})
    claimed = bytearray(path.read_bytes())
    at = claimed.rfind(b"PK\1\2")
    claimed[at + 20 : at + 28] = (2**31).to_bytes(4, "little") * 2  # sizes of the last member
    path.write_bytes(claimed)
    refused(path, "larger than the file")
    assert member in data


def test_parquet_that_unpacks_to_more_than_it_is(copied):
    pyarrow = pytest.importorskip("pyarrow")
    path = copied("run.parquet")
    kept = parquet.read_schema(path).metadata
    for table, message, options in (
        ({"t": np.zeros(2 * 10**7)}, "20000000 rows", {}),
        ({"t": np.zeros(10)}, "GZIP", {"compression": "gzip"}),
        ({"t": [["a"]] * 3}, "BYTE_ARRAY", {}),
    ):
        parquet.write_table(pyarrow.table(table).replace_schema_metadata(kept), path, **options)
        refused(path, message)


@pytest.mark.parametrize(
    "changes",
    [
        {"robot": ["r"]},
        {"notes": "energy"},
        {"notes": [1]},
        {"dt": "0.1"},
        {"dt": None},
        {"batch": [-3]},
        {"batch": ["3"]},
        {"batch": [3, 1]},
        {"batch": [10**30]},
        {"arrays": ["../q"]},
        {"arrays": "tq"},
        {"arrays": []},
        {"entries": {"q": "ab"}},
        {"entries": []},
        {"units": {"q": [1, 2]}},
        {"shapes": [2, 1]},
        {"shapes": {"q": "ab"}},
        {"shapes": {"q": [-1, -2]}},
        {"shapes": {"q": [1, 3]}},
        {"shapes": {"q": [1, 2]}},
        {"shapes": {"q": [10**30, 2]}},
        {"format": "other"},
    ],
)
def test_metadata_that_are_not_as_written(copied, changes):
    folder = copied("run")
    changed(folder / "trajectory.json", **changes)
    refused(folder, "not a trajectory")


@pytest.mark.parametrize("text", ["[" * 100_000, "{}", "[]", "7", "", '{"format": "linkwork trajectory 1"}', "\ud800"])
def test_metadata_that_are_none(copied, text):
    folder = copied("run")
    (folder / "trajectory.json").write_text(text, errors="surrogatepass")
    refused(folder, "not a trajectory")


@pytest.mark.parametrize("name", ["run.npz", "run.csv", "run.parquet", "run/q.npy", "run/t.npy", "run/trajectory.json",
                                  "run.zarr/q/zarr.json", "run.zarr/t/zarr.json", "run.zarr/t/c/0"])  # fmt: skip
def test_damaged_files_load_or_are_refused(copied, tmp_path, name):
    """Whatever is damaged, there is no other error."""
    copied(name.partition("/")[0])
    path, whole = tmp_path / name.partition("/")[0], (tmp_path / name).read_bytes()
    rng = np.random.default_rng(3)
    for _ in range(40):
        data = bytearray(whole)
        for at in rng.integers(0, min(len(data), 400), 3):
            data[at] = rng.integers(0, 256)
        (tmp_path / name).write_bytes(bytes(data[: rng.integers(1, len(data) + 1)] if rng.random() < 0.3 else data))
        with contextlib.suppress(LinkworkError):
            Trajectory.load(path)


# -- a full disk ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["run", "run.zarr"])
@pytest.mark.parametrize("batch", [(), (1,), (7,)])
def test_a_stream_that_ends_on_a_full_disk_opens_again(tmp_path, monkeypatch, name, batch):
    arm, outputs = linkwork.load("planar2r"), ("q", "v", "work")
    q = np.zeros((*batch, 2)) + 0.1 * np.arange(math.prod(batch)).reshape(*batch, 1)
    left = [2]

    def full(original):
        def flush(self, block, sample, row):
            if not left[0]:
                half = block[: len(block) // 2]
                original(self, half, sample, row)  # as far as it goes
                self.full = True
                raise OSError(errno.ENOSPC, "No space left on device")
            left[0] -= 1
            original(self, block, sample, row)

        return flush

    for kind in (records.Files, records.Zarr):
        monkeypatch.setattr(kind, "flush", full(kind.flush))
    monkeypatch.setattr(importlib.import_module("linkwork.sim.schemes.fixed_steps"), "FIRST", 10**6)
    with pytest.raises(LinkworkError, match="No space left"):
        arm.rollout(q, q, None, 1e-4, 100_000, outputs=outputs, to=tmp_path / name)
    monkeypatch.undo()
    kept = Trajectory.load(tmp_path / name)
    rows = len(kept.t)
    assert 0 < rows < 100_000 and kept.batch == batch and "No space left" in kept.notes[-1]
    whole = arm.rollout(q, q, None, 1e-4, rows - 1, outputs=outputs)
    for array in ("t", *outputs):
        np.testing.assert_array_equal(np.asarray(kept[array]), whole[array], err_msg=array)
    assert not (tmp_path / name / ".room").exists()
    if name == "run" and batch == (7,):  # its gaps are told, and not read as zeros
        with pytest.raises(ValueError, match="mmap length"):
            np.load(tmp_path / name / "q.npy", mmap_mode="r")


def test_room_is_kept_for_what_is_written_last(tmp_path):
    files = records.Files(tmp_path, 1, 1000, {"q": (2,)})
    assert (tmp_path / ".room").stat().st_size == records.RESERVE
    files.flush(np.zeros((1, 600, 2)), 0, 0)
    assert (tmp_path / ".room").stat().st_size == records.RESERVE + 8 * 600
    files.finish(1, 600, 0.1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["q.npy", "t.npy"]


# -- other libraries -----------------------------------------------------------------------------------------------


def test_pandas():
    motions = make((3,))
    frame = motions.to_pandas()
    assert frame.index.names == ["sample", "t"] and make().to_pandas().index.name == "t"
    np.testing.assert_array_equal(frame["q.shoulder"].loc[2], motions.q[2, :, 0])


def test_xarray():
    motions = make((3,))
    data = motions.to_xarray()
    assert data.q.dims == ("sample", "t", "joint") and data.work.dims == ("sample", "t")
    np.testing.assert_array_equal(data.tau.sel(joint="shoulder", sample=1), motions.tau[1, :, 0])
    assert data.attrs["robot"] == "arm"
    free = floating().to_xarray()
    assert free.momentum.sel(momentum_entry="linear.z").shape == (5,)


@pytest.mark.parametrize(
    ("module", "extra", "use"),
    [
        ("pyarrow", "parquet", lambda motion, path: motion.save(path / "motion.parquet")),
        ("pandas", "pandas", lambda motion, path: motion.to_pandas()),
        ("xarray", "xarray", lambda motion, path: motion.to_xarray()),
        ("matplotlib.figure", "plot", lambda motion, path: motion.plot()),
    ],
)
def test_missing_packages(tmp_path, monkeypatch, module, extra, use):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnsupportedError, match=rf"pip install 'linkwork\[{extra}\]'"):
        use(make(), tmp_path)


# -- plots ---------------------------------------------------------------------------------------------------------


def test_plot_of_one_motion(tmp_path):
    motion = make(units={"q": ("rad", "m")})
    figure = motion.plot(["joints", "torques", "energies", "phase"], path=tmp_path / "motion.png")
    assert (tmp_path / "motion.png").read_bytes().startswith(b"\x89PNG")
    q, v, tau, energies, drift, phase = figure.axes
    np.testing.assert_array_equal(q.lines[1].get_ydata(), motion.q[:, 1])
    assert q.get_ylabel() == "position [rad, m]" and v.get_ylabel() == "velocity [rad/s or m/s]"
    assert [text.get_text() for text in q.texts] == ["shoulder [rad]", 'odd, "name" [m]']
    np.testing.assert_array_equal(tau.lines[0].get_ydata(), motion.tau[:, 0])
    labels = [text.get_text() for text in energies.get_legend().get_texts()]
    assert labels == ["kinetic", "potential", "total - work", "change of total - work"]
    np.testing.assert_allclose(drift.lines[0].get_ydata(), 0, atol=1e-14)
    np.testing.assert_array_equal(phase.lines[0].get_xdata(), motion.q[:, 0])
    np.testing.assert_array_equal(phase.lines[0].get_ydata(), motion.v[:, 0])


def test_plot_of_batches():
    assert len(make((5, 2)).plot().axes[0].lines) == 10 * len(NAMES)
    many = make((30,))
    many.q[3, 4:] = np.nan  # one that diverged
    many.q[:, 6] = np.nan
    axes = many.plot().axes[0]
    np.testing.assert_allclose(axes.lines[0].get_ydata()[:6], np.nanmedian(many.q[:, :6, 0], axis=0))
    assert len(axes.collections) == len(NAMES)
    assert len(many.plot("phase").axes[0].lines) == 2 * 20 * len(NAMES)  # with their dots


def test_plot_of_many_joints():
    names = tuple(f"joint{k}" for k in range(20))
    motion = make(names=names)
    panels = motion.plot().axes
    assert len(panels) == 6 and all(len(axes.lines) <= 8 for axes in panels)
    assert sum(len(axes.lines) for axes in panels) == 40
    assert len(motion.plot(joints=["joint3", "joint7"]).axes[0].lines) == 2


def test_plot_of_contacts_and_of_rest():
    t, one = np.linspace(0, 1, 5), np.ones((5, 1))
    forces = np.hstack([4 * one, 3 * one, -one, 0 * one, 0 * one])  # the load of the skate is not known
    entries = {"q": ["a"], "v": ["a"], "tau": ["base.x", "a"]}
    entries["constraint_forces"] = ["rim.normal", "rim.along", "rim.across", "skate.normal", "skate.across"]
    arrays = {
        "t": t,
        "q": 0 * one,
        "v": 1e-15 * t[:, None],
        "tau": np.zeros((5, 2)),
        "constraint_forces": forces,
    }
    motion = Trajectory(arrays, entries, robot="disc", method="rk4", dt=0.25)
    motion.events = (Event(0.5, "touchdown", "toe"),)
    _, v, tau, load, friction = motion.plot(["joints", "torques", "contacts"]).axes
    assert np.ptp(v.get_ylim()) >= 1e-9 and len(tau.lines) == len(load.lines) == 2  # a line and the event
    np.testing.assert_allclose(friction.lines[0].get_ydata(), np.sqrt(10) / 4)


def test_plots_that_cannot_be(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'energies'"):
        make().plot("energy")
    with pytest.raises(UnknownNameError, match="did you mean 'shoulder'"):
        make().plot(joints=["shoulde"])
    with pytest.raises(UnknownNameError, match="no array 'v'"):
        floating().plot()
    with pytest.raises(LinkworkError, match=r"\.png"):
        make().plot(path=tmp_path / "motion.xyz")
    for what, joints in (([], None), ("joints", [])):
        with pytest.raises(LinkworkError, match="there is nothing to draw"):
            make().plot(what, joints=joints)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [complex, str])
def test_arrays_that_are_no_real_numbers(tmp_path, kind):
    q = np.zeros((3, 2)).astype(kind)
    with pytest.raises(ShapeError, match="q: not real numbers"):
        Trajectory({"t": np.arange(3.0), "q": q}, {"q": ("a", "b")}, robot="r", method="rk4", dt=1.0)
    with pytest.raises(ShapeError, match="t: the times must be finite"):
        Trajectory({"t": np.array([0.0, np.nan])}, {}, robot="r", method="rk4", dt=1.0)
