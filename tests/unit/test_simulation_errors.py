"""Bad input to simulate and rollout: what is said, and that nothing is written."""

import resource
import sys

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, ModelError, ShapeError, SoftLimits, UnknownNameError, UnsupportedError
from linkwork.control import PD, ComputedTorque, Point, Quintic
from support.random_loops import four_bar

B, STEPS = 3, 4


@pytest.fixture(scope="module")
def arm():
    return linkwork.load("planar2r")


def roll(robot, q0=((0.0, 0.0),) * B, v0=((0.0, 0.0),) * B, torque=None, dt=1e-3, steps=STEPS, **options):
    return robot.rollout(q0, v0, torque, dt, steps, **options)


WAY = Quintic([0.0, 0.0], [1.0, 1.0], 1.0)
BAD = [
    (ShapeError, r"vary: this is not a dict\n  got: \[1\]\n  expected: such as \{'mass'", {"vary": [1]}),
    (ShapeError, r"gains: this is not a dict", {"gains": "kp"}),
    (ShapeError, r"wrenches: this is not a dict", {"wrenches": np.zeros(6)}),
    (ShapeError, r"dt: out of range\n  got: 0\n  expected: a positive number", {"dt": 0}),
    (ShapeError, r"dt: out of range\n  got: -0.001", {"dt": -1e-3}),
    (ShapeError, r"dt: out of range\n  got: nan", {"dt": np.nan}),
    (ShapeError, r"dt: out of range\n  got: inf", {"dt": np.inf}),
    (ShapeError, r"dt: out of range\n  got: fast", {"dt": "fast"}),
    (ShapeError, r"dt: out of range\n  got: 1e-320\n  expected: a positive number, 1e-100 to 1e\+100", {"dt": 1e-320}),
    (ShapeError, r"dt: out of range\n  got: 1e\+300", {"dt": 1e300}),
    (ShapeError, r"dt: out of range\n  got: 1000", {"dt": 10**400}),
    (ShapeError, r"dt: out of range\n  got: True", {"dt": True}),
    (ShapeError, r"dt: out of range\n  got: \(1\+0j\)", {"dt": np.complex128(1)}),
    (ShapeError, r"steps: out of range\n  got: 18446744073709551616", {"steps": 2**64}),
    (ShapeError, r"every: out of range\n  got: 18446744073709551616", {"every": 2**64}),
    (UnknownNameError, r"there is no method of rollouts .*rk4", {"method": ["rk4"]}),
    (UnknownNameError, r"there is no output '5'\n", {"outputs": 5}),
    (UnknownNameError, r"there is no output .*q.*\n", {"outputs": [["q"]]}),
    (UnknownNameError, r"there is no method of forward_dynamics '5'\n", {"dynamics": 5}),
    (UnknownNameError, r"there is no treatment of diverged samples 'None'", {"diverged": None}),
    (ShapeError, r"progress: .*\n  got: x", {"progress": "x"}),
    (ShapeError, r"steps: out of range\n  got: 0\n  expected: a whole number, 1 or more", {"steps": 0}),
    (ShapeError, r"steps: out of range\n  got: 2.5", {"steps": 2.5}),
    (ShapeError, r"every: out of range\n  got: 0", {"every": 0}),
    (ShapeError, r"threads: out of range\n  got: -1", {"threads": -1}),
    (ShapeError, r"friction_width: out of range", {"friction_width": 0.0, "vary": {"coulomb": [1.0, 1.0]}}),
    (ShapeError, r"q0: wrong shape\n  got: \(3,\)\n  expected: \(2,\) or \(samples, 2\): shoulder, elbow",
     {"q0": [0, 0, 0]}),
    (ShapeError, r"q0: wrong shape\n  got: \(2, 2, 2\)", {"q0": np.zeros((2, 2, 2))}),
    (ShapeError, r"q0: these are not real numbers", {"q0": ["a", "b"]}),
    (ShapeError, r"q0: the numbers must be finite", {"q0": [0.0, np.nan]}),
    (ShapeError, r"v0: the numbers must be finite", {"v0": [0.0, np.inf]}),
    (ShapeError, r"q0: this is not a rectangular array", {"q0": [[0.0, 0.0], [0.0]]}),
    (ShapeError, r"different numbers of samples\n  got: \(2, 2\) and \(3, 2\)", {"q0": np.zeros((2, 2))}),
    (ShapeError, r"q0: there are no samples", {"q0": np.zeros((0, 2)), "v0": np.zeros((0, 2))}),
    (UnknownNameError, r"q0: there is no joint 'elbo'.*\n.*\n  fix: did you mean 'elbow'", {"q0": {"elbo": 0.0}}),
    (ShapeError, r"q0: joints are missing\n  got: elbow\n  expected: also shoulder", {"q0": {"elbow": 0.0}}),
    (ShapeError, r"torque: wrong shape\n  got: \(5, 2\)\n  expected: \(2,\) or \(3, 2\) or \(4, 2\)",
     {"torque": np.zeros((5, 2))}),
    (ShapeError, r"torque: wrong shape\n  got: \(3, 5, 2\)", {"torque": np.zeros((3, 5, 2))}),
    (ShapeError, r"torque: wrong shape\n  got: \(\)", {"torque": 1.0}),
    (ShapeError, r"torque: the numbers must be finite", {"torque": [np.nan, 0.0]}),
    (UnknownNameError, r"there is no method of rollouts 'rk5'.*\n.*\n  fix: did you mean 'rk4'", {"method": "rk5"}),
    (UnknownNameError, r"there is no method of rollouts 'dormand-prince'", {"method": "dormand-prince"}),
    (UnknownNameError, r"there is no method of forward_dynamics 'abba'", {"dynamics": "abba"}),
    (UnknownNameError, r"there is no treatment of diverged samples 'ignore'", {"diverged": "ignore"}),
    (UnknownNameError, r"robot 'planar2r': there is no output 'power'", {"outputs": ("q", "power")}),
    (UnknownNameError, r"there is no output 'loop_residual'", {"outputs": ("loop_residual",)}),
    (UnknownNameError, r"vary: there is no parameter to vary 'masses'.*\n.*\n  fix: did you mean 'mass'",
     {"vary": {"masses": np.ones((3, 2))}}),
    (ShapeError, r"vary\['mass'\]: wrong shape\n  got: \(3, 3\)\n  expected: \(2,\) or \(3, 2\)",
     {"vary": {"mass": np.ones((3, 3))}}),
    (ShapeError, r"vary\['friction_width'\]: out of range\n  got: 0", {"vary": {"friction_width": [0.1, 0.0]}}),
    (ShapeError, r"vary\['stribeck'\]: no joint has the friction law 'stribeck'", {"vary": {"stribeck": [0.1, 0.2]}}),
    (ShapeError, r"vary\['gravity'\]: wrong shape", {"vary": {"gravity": 9.81}}),
    (ShapeError, r"vary: a payload is carried by one frame", {"vary": {"payload": np.zeros((3, 10))}}),
    (UnknownNameError, r"there is no frame 'hand'", {"vary": {"payload": {"hand": np.zeros(10)}}}),
    (ShapeError, r"vary: a payload is carried by a moving link", {"vary": {"payload": {"base": np.zeros(10)}}}),
    (UnknownNameError, r"gains: there is no gain 'kp'\n  expected: there are no gains here", {"gains": {"kp": 1.0}}),
    (UnknownNameError, r"gains: there is no gain 'ki'\n  expected: one of: kd, kp",
     {"gains": {"ki": 1.0}, "torque": PD(1, 1), "reference": WAY}),
    (LinkworkError, r"reference: a reference needs a controller\n  fix: give a controller", {"reference": WAY}),
    (LinkworkError, r"PD needs a reference", {"torque": PD(1, 1)}),
    (ShapeError, r"reference: this is not a reference\n  got: array(.|\n)*Sampled\(times, q\)",
     {"torque": PD(1, 1), "reference": np.zeros((STEPS, 2))}),
    (LinkworkError, r"the controller is a class\n  fix: .*PD\(\.\.\.\)", {"torque": PD}),
    (UnknownNameError, r"there is no frame 'hand'", {"wrenches": {"hand": np.zeros(6)}}),
    (ShapeError, r"wrench on 'tip': wrong shape\n  got: \(5,\)\n  expected: \(6,\)",
     {"wrenches": {"tip": np.zeros(5)}}),
    (ShapeError, r"wrench on 'tip': wrong shape\n  got: \(2,\)", {"wrenches": {"tip": lambda t: [t, 1.0]}}),
    (UnsupportedError, r"wrench on 'tip': this function cannot be traced",
     {"wrenches": {"tip": lambda t: 6 * [1.0 if t > 1 else 0.0]}}),
    (UnsupportedError, r"wrench on 'tip': the result changes from call to call",
     {"wrenches": {"tip": lambda t: np.random.normal(size=6)}}),
    (UnsupportedError, r"reference: the result changes from call to call",
     {"torque": PD(1, 1), "reference": lambda t: Point(np.random.normal(size=2), 0.0, 0.0)}),
    (UnsupportedError, r"reference: this function cannot be traced",
     {"torque": PD(1, 1), "reference": lambda t: Point(*3 * [[1.0 if t > 1 else 0.0, 0.0]])}),
    (ShapeError, r"limits: these are not limits\n  got: 100", {"limits": 100}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "words", "options"), BAD, ids=lambda x: "-".join(x) if isinstance(x, dict) else "")
def test_bad_input(arm, kind, words, options, tmp_path):
    with pytest.raises(kind, match=words):
        roll(arm, **options, to=tmp_path / "new" / "run")
    assert not list(tmp_path.iterdir())


def test_bad_input_of_simulate(arm):
    with pytest.raises(UnknownNameError, match=r"there is no method of simulation 'euler'"):
        arm.simulate(method="euler")
    words = r"not a whole number of steps\n  got: .*\n  fix: duration=0.99, or dt=0.3333"
    with pytest.raises(LinkworkError, match=words):
        arm.simulate(duration=1.0, dt=0.33)
    with pytest.raises(LinkworkError, match=r"not a whole number of steps.*\n.*\n  fix: duration=1, or dt=0.1"):
        arm.simulate(duration=0.1, dt=1.0)
    with pytest.raises(LinkworkError, match="not a whole number of steps") as error:
        arm.simulate(duration=0.01, dt=3e-3)
    arm.simulate(duration=0.01, dt=float(error.value.fix.partition("dt=")[2]))
    with pytest.raises(ShapeError, match="duration: out of range"):
        arm.simulate(duration=-1.0)
    with pytest.raises(ShapeError, match="steps: out of range"):
        arm.simulate(duration=1.0, dt=1e-90)
    with pytest.raises(LinkworkError, match=r"q0: simulate makes one motion\n  got: 2 samples\n  fix: robot.rollout"):
        arm.simulate(np.zeros((2, 2)))
    with pytest.raises(ShapeError, match="tolerance: out of range"):
        arm.simulate(method="implicit", tolerance=0.0)
    assert arm.simulate(duration=0.3, dt=0.1).t[-1] == pytest.approx(0.3)  # 0.3 / 0.1 is not 3 but nearly


def test_floating_base():
    robot = linkwork.load("space-arm")
    q = np.zeros(robot.nq)
    with pytest.raises(ShapeError, match=r"q0: a quaternion has not unit length\n  got: length 0"):
        robot.rollout(q, np.zeros(robot.nv), steps=1)
    q[6] = 1 + 1e-7  # nearly is as good
    assert robot.rollout(q, np.zeros(robot.nv), steps=1).q[0, 6] == 1.0
    with pytest.raises(ShapeError, match=r"expected: .*base \(7\)"):
        robot.rollout(q[1:], np.zeros(robot.nv), steps=1)


def test_open_loops():
    robot = linkwork.load(four_bar())
    q = np.array(robot.home)
    q[1] += 1e-3
    words = r"'four-bar': the loops are not closed at q0\n  got: open by .*\n  fix: .*assemble"
    with pytest.raises(LinkworkError, match=words):
        robot.rollout(q, [0.0], steps=1)
    closed = robot.assemble({"crank": 1.0}).q
    assert robot.rollout(closed, [0.0], steps=1, outputs=("loop_residual",)).drift["loop_residual"] < 1e-12


def test_output_that_cannot_be_written(arm, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(LinkworkError, match=r"file/run: the folder cannot be written: Not a directory\n  fix: choose"):
        roll(arm, to=tmp_path / "file" / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    for name in ("full", "file"):
        with pytest.raises(LinkworkError, match=r"this folder is not empty|cannot be written: File exists"):
            roll(arm, to=tmp_path / name)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "mine"]
    (tmp_path / "empty").mkdir()
    roll(arm, to=tmp_path / "empty")  # an empty one will do


@pytest.mark.parametrize("steps", [10**13, 10**18])
def test_records_beyond_memory(arm, steps):
    with pytest.raises(LinkworkError, match=r"the records do not fit into memory\n  got: \S+ GB (.|\n)*fix: .*every"):
        roll(arm, steps=steps)
    with pytest.raises(LinkworkError, match="do not fit into memory"):
        arm.simulate(duration=steps * 1e-3)


@pytest.mark.parametrize("name", ["run", "run.zarr"])
def test_no_room_for_records(arm, tmp_path, name):
    """What is there before the disk is full can be read."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
    try:
        with pytest.raises(LinkworkError, match=rf"{name}: the records cannot be written: File too large\n(.|\n)*fix:"):
            roll(arm, q0=np.zeros((1, 2)), v0=np.zeros((1, 2)), steps=200_000, to=tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    if name == "run":
        assert np.isfinite(np.load(tmp_path / name / "q.npy")).all()


def test_missing_packages(arm, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(
        UnsupportedError, match=r"needs zarr, which is not installed\n  fix: pip install 'linkwork\[zarr\]'"
    ):
        roll(arm, to=tmp_path / "run.zarr")
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(
        UnsupportedError, match=r"implicit needs scipy, which is not installed\n  fix: pip install 'linkwork\[scipy\]'"
    ):
        arm.simulate(method="implicit", duration=0.01)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("stiffness", "damping"), [(0.0, 0.0), (-1.0, 0.0), (1.0, -1.0), (np.nan, 0.0), (1.0, np.inf)])
def test_soft_limits(stiffness, damping):
    with pytest.raises(ModelError, match=r"SoftLimits\.(stiffness|damping): out of range"):
        SoftLimits(stiffness, damping)


def test_controllers_that_do_not_fit(arm):
    with pytest.raises(ShapeError, match=r"kp needs one entry per motor"):
        roll(arm, torque=ComputedTorque([1.0, 1.0, 1.0], 1.0), reference=WAY)
    with pytest.raises(ShapeError, match=r"tau has the wrong number of entries"):
        roll(arm, torque=lambda t, q, v, reference: [0.0, 0.0, 0.0])
    with pytest.raises(UnsupportedError, match=r"cannot be traced"):
        roll(arm, torque=lambda t, q, v, reference: [1.0, 0.0] if q[0] > 0 else [0.0, 0.0])
