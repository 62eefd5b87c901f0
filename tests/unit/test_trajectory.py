"""Trajectories: named arrays, what they keep, plots, files."""

import json
import pickle
import sys

import numpy as np
import pytest

from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.sim.trajectory import Trajectory

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
    with pytest.raises(AttributeError, match=r"no 'qq'.*t, q, v"):
        motion.qq  # noqa: B018
    with pytest.raises(UnknownNameError, match="kinetic_energy"):
        motion["kinetic"]
    assert repr(motion).startswith("<Trajectory of arm: 7 times from 0 to 0.6 s, rk4, dt 0.1 s; t, q")
    assert repr(motion).endswith("note: friction is smoothed")


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
        ({"work": np.zeros((7, 2))}, r"expected: \(7\)\n.*name the entries"),
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


def test_npz_is_read_without_pickle(tmp_path):
    motion, path = make(), tmp_path / "motion.npz"
    motion.save(path)
    with np.load(path) as file:
        held = dict(file)
    np.savez(path, **{**held, "q": np.array([{}], object)})
    with pytest.raises(LinkworkError, match=r"motion.npz: not a trajectory(.|\n)*allow_pickle"):
        Trajectory.load(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npz", b"hello", "no zip file"),
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
