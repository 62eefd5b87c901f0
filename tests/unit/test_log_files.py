"""Logs from files of every kind, and what is said of those that are no good."""

import gzip
import io
import time
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import parquet

import linkwork
from linkwork import Trajectory
from linkwork.control import Point
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.identify.logs.log import Log

SUFFIXES = (".csv", ".npz", ".parquet")
RNG = np.random.default_rng(0)
T = np.arange(20) / 50
Q, V, TAU = RNG.normal(size=(3, 20, 2))
ARRAYS = ("t", "q", "v", "a", "tau")


def same(one: Log, other: Log) -> None:
    for kind in ARRAYS:
        np.testing.assert_array_equal(getattr(one, kind), getattr(other, kind))
    assert (one.joints, one.rates, one.forces) == (other.joints, other.rates, other.forces)


def text_of(delimiter=",", header="t,q1,q2,v1,v2,tau1,tau2", decimal=".") -> str:
    rows = np.column_stack([T, Q, V, TAU])
    lines = [delimiter.join(repr(float(x)).replace(".", decimal) for x in row) for row in rows]
    return "\n".join([header.replace(",", delimiter)] * bool(header) + lines) + "\n"


def written(folder: Path, text: str, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# -- what linkwork wrote -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("robot", ["planar2r", "five-bar"])
def test_simulated_motions(tmp_path, robot, suffix):
    motion = linkwork.load(robot).simulate(duration=0.05, method="rk4")
    motion.save(tmp_path / f"motion{suffix}")
    log = Log.read(tmp_path / f"motion{suffix}")
    same(log, Log.from_trajectory(motion))
    assert log.joints == motion.entries["q"] and log.rates == motion.entries["v"]
    assert log.notes == (f"read from motion{suffix}",)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_is_given_back(tmp_path, suffix):
    keep, odd = T < 0.2, ("odd, 'name'", 'a "b"; c')
    reference = Point(Q + 1, None, V + 2)
    log = Log(T, Q, TAU, V, joints=odd, reference=reference, wrenches={"tool": RNG.normal(size=(20, 6))}, keep=keep)
    log = replace(log.banded(5, 3, 2), passed=7.0)
    log.save(tmp_path / f"log{suffix}")
    back = Log.read(tmp_path / f"log{suffix}")
    same(back, log)
    assert back.band == log.band and back.passed == 7 and back.notes == log.notes and len(back.notes) == 1
    np.testing.assert_array_equal(back.keep, keep)
    np.testing.assert_array_equal(back.wrenches["tool"], log.wrenches["tool"])
    np.testing.assert_array_equal(back.reference.q, Q + 1)
    np.testing.assert_array_equal(back.reference.a, V + 2)
    assert back.reference.v is None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_without_names(tmp_path, suffix):
    Log(T, Q, TAU).save(tmp_path / f"log{suffix}")
    back = Log.read(tmp_path / f"log{suffix}")
    assert back.joints == back.forces == () and back.v is None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_batches_are_refused(tmp_path, suffix):
    batch = linkwork.load("planar2r").rollout(np.zeros((2, 2)), np.zeros((2, 2)), steps=5, outputs=("q", "tau"))
    batch.save(tmp_path / f"batch{suffix}")
    with pytest.raises(UnsupportedError, match="a batch"):
        Log.read(tmp_path / f"batch{suffix}")
    with pytest.raises(ShapeError, match=r"trajectory\[0\]"):
        Log.from_trajectory(batch)
    assert len(Log.from_trajectory(batch[1])) == 6


def test_nothing_else_is_written(tmp_path):
    with pytest.raises(LinkworkError, match="suffix"):
        Log(T, Q, TAU).save(tmp_path / "log.mat")
    assert not [*tmp_path.iterdir()]


# -- text of others ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "delimiter, decimal",
    [*((each, ".") for each in (",", ";", "\t", "  ", ", ")), *((each, ",") for each in (";", "\t", " "))],
)
def test_delimiters_are_found_out(tmp_path, delimiter, decimal):
    log = Log.read(written(tmp_path, text_of(delimiter, decimal=decimal)))
    same(log, Log(T, Q, TAU, V))


@pytest.mark.parametrize(
    "header",
    [
        "time,q_1,q_2,dq_1,dq_2,tau_1,tau_2",
        "Time,q[0],q[1],qd[0],qd[1],torque[0],torque[1]",
        '"t","pos 1","pos 2","vel 1","vel 2","effort 1","effort 2"',
        "# t,q1,q2,v1,v2,tau1,tau2",
        "\ufefft,q1,q2,v1,v2,tau1,tau2",
    ],
)
def test_usual_headers(tmp_path, header):
    same(Log.read(written(tmp_path, text_of(header=header))), Log(T, Q, TAU, V))


NUMBERED = ["t,q2,q1,v1,v2,tau2,tau1", "t,q_1,q_0,v(0),v(1),tau[1],tau[0]", "t,pos 02,pos 1,dq1,dq2,effort/2,effort/1"]


@pytest.mark.parametrize("header", NUMBERED)
@pytest.mark.parametrize("door", ["csv", "npz", "parquet", "frame"])
def test_numbers_in_names_are_the_order(tmp_path, header, door):
    path = written(tmp_path, text_of(header=header))
    if door != "csv":
        frame = pandas.read_csv(path)
        np.savez(tmp_path / "log.npz", **{name: frame[name] for name in frame})
        frame.to_parquet(tmp_path / "log.parquet")
        path = tmp_path / f"log.{door}"
    log = Log.from_frame(frame) if door == "frame" else Log.read(path)
    np.testing.assert_allclose(log.q, Q[:, ::-1], rtol=1e-15)
    np.testing.assert_allclose(log.v, V, rtol=1e-15)
    np.testing.assert_allclose(log.tau, TAU[:, ::-1], rtol=1e-15)


def test_ten_follows_nine(tmp_path):
    numbers = sorted(range(1, 13), key=str)
    rows = np.column_stack([T, np.tile(numbers, (20, 2))])
    header = ",".join(["t", *(f"q{k}" for k in numbers), *(f"tau{k}" for k in numbers)])
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header=header, comments="")
    log = Log.read(tmp_path / "log.csv")
    np.testing.assert_array_equal(log.q[0], np.arange(1, 13))
    np.testing.assert_array_equal(Log.read(tmp_path / "log.csv", q="q", tau="tau").tau[0], np.arange(1, 13))
    np.testing.assert_array_equal(Log.read(tmp_path / "log.csv", q=range(1, 13)).q[0], numbers)  # as they are chosen


def test_columns_of_linkwork_that_are_there_twice(tmp_path):
    Log(T, Q, TAU, joints=("hip", "knee")).save(tmp_path / "log.csv")
    text = (tmp_path / "log.csv").read_text()
    written(tmp_path, text.replace("q.hip,q.knee,tau.hip,tau.knee", "q.hip,q.knee,q.hip,tau.knee"))
    with pytest.raises(LinkworkError, match=r"several columns have this name(.|\n)*q\.hip"):
        Log.read(tmp_path / "log.csv", tau=[3, 4])


@pytest.mark.parametrize(
    "rows, decimal, expected",
    [
        (("1;1,234;3", "2;2,345;3"), ",", (1.234, 2.345)),
        (("1;1,234;3", "2;2,345;3"), ".", (1234, 2345)),
        (("1;1,234;3", "2;0,345;3"), None, (1.234, 0.345)),
        (("1;1;3", "2;1,5;3"), None, (1, 1.5)),
        (("1;-1,234;3", "2;1,234.5;3"), None, (-1234, 1234.5)),
        (("1;1,234;3", "2;1,234,567;3"), None, (1234, 1234567)),
        (("1,0 1,234 3", "2,0 2,345 3"), ",", (1.234, 2.345)),
        (("1\t1,234\t3", "2\t1,234e2\t0,5"), None, (1.234, 123.4)),
    ],
)
def test_decimal_marks(tmp_path, rows, decimal, expected):
    path = written(tmp_path, "\n".join(rows))
    np.testing.assert_allclose(Log.read(path, t=0, q=1, tau=2, decimal=decimal).q[:, 0], expected, rtol=1e-15)


def test_decimal_marks_are_two(tmp_path):
    with pytest.raises(ShapeError, match="decimal mark"):
        Log.read(written(tmp_path, text_of()), decimal="'")


def test_joints_from_the_header(tmp_path):
    path = written(tmp_path, text_of(header="t,q.hip,q.knee,v.hip,v.knee,tau.knee,tau.hip"))
    log = Log.read(path)
    assert log.joints == log.rates == ("hip", "knee") and log.forces == ("knee", "hip")
    assert Log.read(path, joints=("a", "b")).forces == ("a", "b")


def test_columns_by_name_and_number(tmp_path):
    path = written(tmp_path, text_of(header="clock,A,B,C,D,E,F"))
    expected = Log(T, Q, TAU, V)
    same(Log.read(path, t="clock", q=["A", "B"], v=["C", "D"], tau=["E", "F"]), expected)
    bare = written(tmp_path, text_of(header=""), "bare.txt")
    same(Log.read(bare, t=0, q=range(1, 3), v=slice(3, 5), tau=[-2, -1]), expected)
    prefixed = written(tmp_path, text_of(header="clock,arm_1,arm_2,w1,w2,I1,I2"), "prefixed.csv")
    same(Log.read(prefixed, t="clock", q="arm", v="w", tau="I"), expected)


def test_reference_and_wrenches_by_columns(tmp_path):
    log = Log.read(written(tmp_path, text_of()), reference={"q": "v"}, wrenches={"tip": [1, 2, 3, 4, 5, 6]})
    np.testing.assert_array_equal(log.reference.q, V)
    np.testing.assert_array_equal(log.wrenches["tip"], np.column_stack([Q, V, TAU]))


def test_packed_text(tmp_path):
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(text_of().encode()))
    same(Log.read(tmp_path / "log.csv.gz"), Log(T, Q, TAU, V))


def test_comments_and_blank_lines(tmp_path):
    lines = text_of().splitlines()
    text = "\n".join(["% made by hand", "", *lines[:3], "", "# a pause", *lines[3:], ""])
    same(Log.read(written(tmp_path, text)), Log(T, Q, TAU, V))


def test_text_beside_the_numbers(tmp_path):
    """What is not asked for need not be numbers."""
    lines = [f"{line},{'state' if k == 0 else 'run'},nan" for k, line in enumerate(text_of().splitlines())]
    same(Log.read(written(tmp_path, "\n".join(lines))), Log(T, Q, TAU, V))


def test_a_file_for_each_kind(tmp_path):
    np.savetxt(tmp_path / "q.csv", Q, delimiter=",", header="Joint_1,Joint_2", comments="", fmt="%.17g")
    np.savetxt(tmp_path / "tau.csv", TAU, delimiter=",", header="Joint_1,Joint_2", comments="", fmt="%.17g")
    log = Log.read({"q": tmp_path / "q.csv", "tau": tmp_path / "tau.csv"}, rate=50)
    np.testing.assert_array_equal(log.tau, TAU)
    assert log.joints == ("Joint_1", "Joint_2") and log.notes[0] == "read from q.csv, tau.csv"
    with pytest.raises(LinkworkError, match="no column 't' of times"):
        Log.read({"q": tmp_path / "q.csv", "tau": tmp_path / "tau.csv"})
    with pytest.raises(UnknownNameError, match="'Q'"):
        Log.read({"Q": tmp_path / "q.csv"})


def test_quick(tmp_path):
    rows = np.random.default_rng(0).normal(size=(3000, 31))
    rows[:, 0] = np.arange(3000)
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",")
    begin = time.perf_counter()
    log = Log.read(tmp_path / "log.csv", t=0, q=range(1, 7), v=range(7, 13), tau=range(13, 19))
    assert time.perf_counter() - begin < 0.5  # 0.05 on a quiet machine
    np.testing.assert_array_equal(log.v, rows[:, 7:13])


# -- units and gains -----------------------------------------------------------------------------------------------


def test_units(tmp_path):
    path = written(tmp_path, text_of())
    units = {"t": "ms", "q": "deg", "v": ["rpm", "mm/s"], "tau": "mN m"}
    log = Log.read(path, units=units)
    np.testing.assert_allclose(log.t, T / 1000)
    np.testing.assert_allclose(log.q, np.radians(Q))
    np.testing.assert_allclose(log.v, V * [2 * np.pi / 60, 1e-3])
    np.testing.assert_allclose(log.tau, TAU / 1000)
    assert "q was in deg" in log.notes
    with pytest.raises(UnknownNameError, match="'degree'"):
        Log.read(path, units={"q": "degree"})
    with pytest.raises(UnknownNameError, match="'x'"):
        Log.read(path, units={"x": "deg"})
    with pytest.raises(ShapeError, match="one for each of 2"):
        Log.read(path, units={"q": ["deg"] * 3})


def test_gains(tmp_path):
    path = written(tmp_path, text_of(header="t,q.hip,q.knee,v.hip,v.knee,tau.hip,tau.knee"))
    log = Log.read(path, units={"tau": "mA"}, gains=[10, -20])
    np.testing.assert_allclose(log.tau, TAU * [0.01, -0.02])
    assert "tau is the column times 10, -20" in log.notes
    np.testing.assert_allclose(Log.read(path, gains={"knee": -3}).tau, TAU * [1, -3])
    np.testing.assert_allclose(Log.read(path, gains=2.0).tau, TAU * 2)
    with pytest.raises(LinkworkError, match="currents need gains"):
        Log.read(path, units={"tau": "A"})
    with pytest.raises(UnknownNameError, match="did you mean 'knee'"):
        Log.read(path, gains={"kneee": 2})
    for gains in ([1, 2, 3], [1, 0], [1, np.nan]):
        with pytest.raises(ShapeError, match="none of them zero"):
            Log.read(path, gains=gains)


def test_rate(tmp_path):
    path = written(tmp_path, text_of())
    log = Log.read(path, rate=200)
    np.testing.assert_allclose(log.t, np.arange(20) / 200)
    with pytest.raises(ShapeError, match="sampling rate"):
        Log.read(path, rate=0)


# -- npz, parquet, pandas ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_others(tmp_path, save):
    save(tmp_path / "log.npz", time=T, pos=Q.astype(np.float32), torque=TAU, label="a text", empty=np.zeros((0, 3)))
    log = Log.read(tmp_path / "log.npz")
    np.testing.assert_array_equal(log.q, Q.astype(np.float32))
    twice = Log.read(tmp_path / "log.npz", q="torque", tau="torque", joints=("a", "b"))
    same(twice, Log(T, TAU, TAU, joints=("a", "b")))


def test_tables_of_others(tmp_path):
    frame = pandas.DataFrame({"t": T, "name": "x", "q1": Q[:, 0], "q2": Q[:, 1], "tau1": TAU[:, 0], "tau2": TAU[:, 1]})
    frame.to_parquet(tmp_path / "log.parquet")
    same(Log.read(tmp_path / "log.parquet"), Log(T, Q, TAU))
    same(Log.from_frame(frame), Log(T, Q, TAU))
    same(Log.from_frame(frame.set_index("t")), Log(T, Q, TAU))
    with pytest.raises(LinkworkError, match="not numbers"):
        Log.from_frame(frame, q=["name"])
    with pytest.raises(TypeError, match="'Q'"):
        Log.from_frame(frame, Q=1)
    motion = linkwork.load("planar2r").simulate(duration=0.01)
    same(Log.from_frame(motion.to_pandas()), Log.from_trajectory(motion))


# -- mistakes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        ("# nothing\n", "no samples"),
        ("t,q1,tau1\n", "a header and no samples"),
        ("t,q1,tau1\n0,1,2\n1,2\n", r"line 3 \(the last.*cut short.*\n  got: 2 columns\n  expected: 3"),
        ("t,q1,tau1\n0,1,2\n1,2,3,4\n2,3,4\n", "line 3: a row has another number of columns"),
        ("t,q1,tau1\n0,1,2,3\n", "4 columns, and a header of 3"),
        ("t,q1,tau1\n0,1,2\n1,error,3\n", r"line 3, column 1 'q1': this is not a number\n  got: 'error'"),
        ("t,q1,tau1\n0,1,2\n1,,3\n", r"line 3, column 1 'q1': this is not a number\n  got: nothing"),
        ("t,q1,tau1\n0,1,2\n\n1,nan,3\n2,nan,3\n", r"line 4, column 1 'q1'.*\n  got: nan \(2 of 3 rows"),
        ("t,q1,tau1\n0,1,2\n1,inf,3\n", "got: inf"),
        ("t,q1,tau1\n0,1,2\n1,1e200,3\n", "not finite"),
        ("t,q1,tau1\n0,1,2\n0,2,3\n", "line 2 and line 3: two samples have the same time"),
        ("t,q1,tau1\n1,1,2\n2,2,3\n0,2,3\n", "line 3 and line 4: the times are not in order"),
        ("t,q1,tau1\n0,1,2\n", "too few samples"),
        ("t,q1,current\n0,1,2\n1,2,3\n", r"no columns of joint forces\n  got: t, q1, current\n  fix: .*tau=range"),
        ("t,tau1\n0,1\n1,2\n", "no columns of positions"),
        ("q1,tau1\n0,1\n1,2\n", r"no column 't' of times\n  got: q1, tau1\n  fix: .*rate=1000"),
        ("0,1,2\n1,2,3\n", r"no columns of positions\n  got: 3 columns without names"),
        ("t,q1,q1,tau1,tau2\n0,1,2,3,4\n1,2,3,4,5\n", r"q: two columns have the same number\n  got: q1, q1"),
        ("t,q1,q_01,tau1,tau2\n0,1,2,3,4\n1,2,3,4,5\n", r"same number\n  got: q1, q_01"),
        ("t,q3,q1,tau1,tau2\n0,1,2,3,4\n1,2,3,4,5\n", r"q: the numbers of the columns have gaps\n  got: q1, q3"),
        ("t,q1,q2,tau[2],tau[3]\n0,1,2,3,4\n1,2,3,4,5\n", r"tau: the numbers of the columns have gaps"),
        ("t,q1,q2,v1,v2,v2,tau1,tau2\n0,1,2,3,4,5,6,7\n1,2,3,4,5,6,7,8\n", "v: two columns have the same number"),
        (
            "t;q1;tau1\n1;1,234;3\n2;2,345;3\n",
            r"line 2: .*thousands\n  got: 1,234\n(.|\n)*decimal=\",\" if it is 1.234, ",
        ),
        ("t q1 tau1\n1 -1,234 3\n2 2,345 3\n", r"decimal=\".\" if it is -1234"),
        ("t;q1;tau1\n1;0,5;3\n2;1.234,5;3\n", r"not a number\n  got: '1.234,5'"),
        ("t;q1;tau1\n1;0,5;3\n2;1.234;3\n", r"not a number\n  got: '1.234'"),
        ("t;q1;tau1\n1;1,234.5;3\n2;0,5;3\n", r"not a number\n  got: '0,5'"),
        ("# {]\nt,q1,tau1\n0,1,2\n", "the first line cannot be read"),
    ],
)
def test_bad_text(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(LinkworkError, match=message) as caught:
        Log.read(path)
    assert "log.csv" in str(caught.value)


def test_wrong_columns(tmp_path):
    path = written(tmp_path, text_of(header="t,q1,q2,v1,v2,cur1,cur1"))
    for options, message in (
        ({"tau": "curr"}, "no column 'curr'"),
        ({"tau": ["v1", "qq1"]}, "did you mean 'q1'"),
        ({"tau": [5, 7]}, "expected: 0 to 6"),
        ({"tau": ["cur1"]}, "several columns have this name"),
        ({"tau": []}, "no columns are chosen"),
        ({"tau": [5, 6], "joints": ("a",)}, "2 names, one for each column of q"),
        ({"tau": [5, 6], "t": "clock"}, "no column 'clock'"),
        ({"tau": [5, 6], "reference": {"x": 1}}, "not chosen by name"),
        ({"tau": [5, 6], "wrenches": {"tip": [1, 2]}}, r"\(N, 6\)"),
    ):
        with pytest.raises(LinkworkError, match=message):
            Log.read(path, **options)
    bare = written(tmp_path, text_of(header=""), "bare.csv")
    with pytest.raises(LinkworkError, match=r"have no names\n.*\n  fix: choose by number"):
        Log.read(bare, t=0, q="q", tau=[1, 2])


def test_files_that_are_none(tmp_path):
    (tmp_path / "log.mat").write_text("x")
    (tmp_path / "log.npz").write_text("x")
    (tmp_path / "log.parquet").write_text("x")
    (tmp_path / "log.csv.gz").write_text("no gzip")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(text_of().encode())[:-20])
    (tmp_path / "log.csv").write_bytes(b"\xff\xfe\x00")
    for name, message in (
        ("none.csv", "cannot be read"),
        ("log.mat", "suffix"),
        ("log.npz", "cannot be read"),
        ("log.parquet", "cannot be read"),
        ("log.csv.gz", "not packed by gzip"),
        ("cut.csv.gz", "not complete"),
        ("log.csv", "not UTF-8"),
    ):
        with pytest.raises(LinkworkError, match=message):
            Log.read(tmp_path / name)


def test_arrays_that_do_not_fit(tmp_path):
    np.savez(tmp_path / "log.npz", t=T, q=Q, tau=TAU[:-1])
    with pytest.raises(LinkworkError, match=r"tau.*\n.*got: \(19, 2\)"):
        Log.read(tmp_path / "log.npz")
    np.savez(tmp_path / "log.npz", t=T, q1=Q[:, 0], q2=Q[1:, 1], tau=TAU)
    with pytest.raises(LinkworkError, match="q1 20, q2 19"):
        Log.read(tmp_path / "log.npz")


def test_nothing_is_unpickled_or_blown_up(tmp_path):
    np.savez(tmp_path / "log.npz", t=T, q=np.array([{}], dtype=object), tau=TAU)
    with pytest.raises(LinkworkError, match="cannot be read"):
        Log.read(tmp_path / "log.npz")
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(b"0" * 2**25))
    with pytest.raises(LinkworkError, match="unpacks to too much"):
        Log.read(tmp_path / "log.csv.gz")
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(2**22))
    with ZipFile(tmp_path / "log.npz", "w", ZIP_DEFLATED) as file:
        file.writestr("q.npy", buffer.getvalue())
    with pytest.raises(LinkworkError, match="larger than the file"):
        Log.read(tmp_path / "log.npz")
    parquet.write_table(pyarrow.table({"t": np.zeros(2**22), "q1": np.zeros(2**22)}), tmp_path / "log.parquet")
    with pytest.raises(LinkworkError, match="rows of 2 columns"):
        Log.read(tmp_path / "log.parquet")
    parquet.write_table(pyarrow.table({"t": T, "q1": T, "tau1": T}), tmp_path / "log.parquet", compression="zstd")
    with pytest.raises(UnsupportedError, match="snappy"):
        Log.read(tmp_path / "log.parquet")


def test_parquet_that_ends_the_process(tmp_path):
    """pyarrow aborts on levels of a column that says that it has none: in the child process alone."""
    path = tmp_path / "log.parquet"
    parquet.write_table(pyarrow.table({"t": T, "q1": T, "tau1": T}), path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"%\x02\x18\x01t", b"%\x00\x18\x01t"))
    assert path.read_bytes() != data
    with pytest.raises(LinkworkError, match=r"log.parquet: the file cannot be read"):
        Log.read(path)
    with pytest.raises(LinkworkError, match=r"log.parquet: not a trajectory"):
        Trajectory.load(path)


def test_parquet_that_takes_too_long(tmp_path, monkeypatch):
    parquet.write_table(pyarrow.table({"t": T, "q1": T, "tau1": T}), tmp_path / "log.parquet")
    monkeypatch.setattr("linkwork.sim.trajectory.parquet.PATIENCE", 0.0)
    with pytest.raises(LinkworkError, match="longer than 0 s"):
        Log.read(tmp_path / "log.parquet")


def test_dates_are_seconds_from_the_first(tmp_path):
    """Not the nanoseconds since 1970 that they are stored as."""
    frame = pandas.DataFrame({"t": pandas.to_datetime("2026-03-01 12:00") + pandas.to_timedelta(T, unit="s")})
    frame = frame.assign(
        **{f"{kind}{k + 1}": x[:, k] for kind, x in (("q", Q), ("tau", TAU)) for k in range(x.shape[1])}
    )
    frame.to_parquet(tmp_path / "log.parquet")
    for log in (Log.read(tmp_path / "log.parquet"), Log.from_frame(frame), Log.from_frame(frame.set_index("t"))):
        np.testing.assert_allclose(log.t, T - T[0], atol=1e-9)
