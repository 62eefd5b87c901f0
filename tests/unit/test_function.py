"""Function: how it is called, what it refuses and in which words, how it is kept."""

import json
import pickle
import pydoc
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import Function, LinkworkError, ShapeError, UnknownNameError
from support.random_robots import Recipe, describe

ARM = linkwork.load(describe(Recipe(seed=3, joints=3, extras=True)))
FLYER = linkwork.load(describe(Recipe(seed=4, joints=2, floating=True)))
Q, V, A = np.random.default_rng(0).uniform(-1, 1, (3, 5, 3))
BACKENDS = ["native", "interpreter"]
EVERY = {backend: linkwork.compile(ARM, "inverse_dynamics", backend=backend) for backend in BACKENDS}
INVERSE = EVERY["native"]
TAU = INVERSE(Q, V, A)


class Units(np.ndarray):
    """Numbers that mean more, as np.matrix and the arrays of astropy and pint do."""


class Labelled:
    """A column for each joint, in any order, as a table of pandas has."""

    def to_numpy(self):
        return Q

    def __array__(self, dtype=None, copy=None):
        return Q


@pytest.fixture(params=BACKENDS)
def inverse(request) -> Function:
    return EVERY[request.param]


# Calling


def test_what_it_says_of_itself():
    assert INVERSE.signature == "q(3), v(3), a(3) -> tau(3)"
    assert (
        repr(INVERSE)
        == f"<linkwork Function inverse_dynamics of random by {INVERSE.label.method}: {INVERSE.signature}>"
    )
    assert INVERSE.operations.sign == 3 and INVERSE.off_line_operations.instructions == 0
    assert INVERSE.dtype == "float64"
    assert {name: layout.names for name, layout in INVERSE.label.layouts.items()} == dict.fromkeys(
        ("q", "v", "a", "tau"), ARM.joint_names
    )
    assert FLYER.gravity.label.layouts["q"].joints[0] == "base"


def test_back_ends_agree_to_rounding():
    assert np.allclose(EVERY["interpreter"](Q, V, A), TAU, rtol=1e-13, atol=1e-13)


def test_batches_and_broadcasting(inverse):
    expected = inverse(Q, V, A)
    assert expected.shape == (5, 3)
    one = inverse(Q[0], V[0], A[0])
    assert one.shape == (3,) and one.tolist() == expected[0].tolist()
    grid = inverse(Q[:, None], V[None, :2], A[0])
    assert grid.shape == (5, 2, 3)
    assert np.array_equal(grid[3, 1], inverse(Q[3], V[1], A[0]))
    assert inverse(Q[:0], V[:0], A[:0]).shape == (0, 3)
    assert inverse(Q.reshape(5, 1, 1, 3), V[0], A[0]).shape == (5, 1, 1, 3)


def test_memory_order_and_kind_of_numbers_do_not_matter(inverse):
    expected = inverse(Q, V, A)
    wide = np.zeros((5, 6))
    wide[:, ::2] = Q
    assert np.array_equal(inverse(np.asfortranarray(Q), V[::1], A), expected)
    assert np.array_equal(inverse(wide[:, ::2], V.tolist(), A), expected)
    assert np.array_equal(inverse(Q[::-1], V[::-1], A[::-1]), expected[::-1])
    whole = [1, 2, 3]
    assert np.array_equal(
        inverse(whole, np.array(whole), np.array(whole, np.float32)), inverse([1.0, 2, 3], whole, whole)
    )


def test_inputs_by_name(inverse):
    expected = inverse(Q, V, A)
    assert np.array_equal(inverse(Q, a=A, v=V), expected)
    assert np.array_equal(inverse(q=Q, v=V, a=A), expected)


def test_results_are_new_unless_out_is_given(inverse):
    first = inverse(Q, V, A)
    assert inverse(Q, V, A) is not first
    out = np.empty((5, 3))
    assert inverse(Q, V, A, out=out) is out and np.array_equal(out, first)
    strided = np.zeros((5, 6))
    inverse(Q, V, A, out=strided[:, ::2])
    assert np.array_equal(strided[:, ::2], first) and not strided[:, 1::2].any()
    same = A.copy()
    inverse(Q, V, same, out=same)  # over its own input
    assert np.array_equal(same, first)
    assert np.array_equal(inverse(Q, v=V, a=A, out=out), first)


def test_threads_give_the_same_bits(inverse):
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, 101, 3))
    expected = inverse(q, v, a)
    for threads in (2, 3, 200, "auto"):
        assert np.array_equal(inverse(q, v, a, threads=threads), expected)
    assert np.array_equal(inverse(q, V[0], a, threads=2), inverse(q, V[0], a))
    assert np.array_equal(inverse(q[None], v, a, threads=2), expected[None])
    assert np.array_equal(inverse(Q[0], V[0], A[0], threads=4), inverse(Q[0], V[0], A[0]))


def test_float32_function_and_an_out_of_more_digits(inverse):
    single = linkwork.compile(ARM, "inverse_dynamics", dtype="float32", backend=inverse.backend)
    for _ in range(2):
        with pytest.raises(ShapeError, match=r"got: float64 \(3,\)\n  expected: float32 \(3,\)"):
            single(Q[0], V[0], A[0], out=np.empty(3))


def test_whole_numbers_and_mapped_files_are_numbers(inverse, tmp_path):
    np.save(tmp_path / "q.npy", Q)
    assert np.array_equal(inverse(np.load(tmp_path / "q.npy", mmap_mode="r"), V, A), inverse(Q, V, A))
    assert np.array_equal(inverse(np.ones(3, int), [1, 1, 1], (1, 1, 1)), inverse(*np.ones((3, 3))))


def test_dicts_in_and_out(inverse):
    names = ARM.joint_names
    tau = inverse(dict(zip(names, Q.T, strict=True)), V, A)
    assert tuple(tau) == names
    assert np.array_equal(np.stack(list(tau.values()), axis=-1), inverse(Q, V, A))
    single = inverse({name: x for name, x in zip(names, Q[0], strict=True)}, V[0], A[0])
    assert [single[name] for name in names] == inverse(Q[0], V[0], A[0]).tolist()
    shuffled = {name: Q[0, names.index(name)] for name in reversed(names)}
    assert inverse(shuffled, V[0], A[0]) == single
    mixed = {names[0]: Q[:, 0], names[1]: 0.5, names[2]: 0}  # entries broadcast
    assert inverse(mixed, V[0], A[0])[names[0]].shape == (5,)


def test_dicts_of_a_floating_robot():
    q, v = np.random.default_rng(2).uniform(-1, 1, (2, 9))[:, :9]
    joints = FLYER.joint_names
    positions = {"base": q[:7]} | dict(zip(joints, q[7:], strict=True))
    velocities = {"base": v[:6]} | dict(zip(joints, v[6:8], strict=True))
    expected = FLYER.bias(q, v[:8])
    found = FLYER.bias(positions, velocities)
    assert found["base"].tolist() == expected[:6].tolist()
    assert [found[name] for name in joints] == expected[6:].tolist()
    assert isinstance(FLYER.inertia_matrix(positions), np.ndarray)  # a matrix stays a matrix
    with pytest.raises(ShapeError, match=r"'base': wrong shape\n  got: \(6,\)\n  expected: \(..., 7\)"):
        FLYER.gravity(positions | {"base": q[:6]})


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_nan_and_inf_propagate_and_stay_in_their_row(inverse, wrong: float):
    q = Q.copy()
    q[2, 0] = wrong
    good = [0, 1, 3, 4]
    with np.errstate(invalid="ignore"):  # NumPy warns of the sine of infinity, as it does for its own functions
        tau = inverse(q, V, A)
        assert np.isnan(tau[2]).any() and np.array_equal(tau[good], inverse(Q, V, A)[good])
        a = A.copy()
        a[2, 0] = wrong
        assert not np.isfinite(inverse(Q, V, a)[2]).all()


def test_scalar_results(inverse):
    energy = linkwork.compile(ARM, "kinetic_energy", backend=inverse.backend)
    assert energy(Q, V).shape == (5,) and np.ndim(energy(Q[0], V[0])) == 0
    assert energy(Q[0], V[0]) == energy(Q, V)[0] == energy(q=Q[0], v=V[0])


def test_scalars_among_several_results():
    """They are numbers however the function is called, as those of a single result."""
    robot = linkwork.load("planar2r")
    f = robot.compile(["kinetic_energy", "potential_energy", "gravity"])
    q, v = np.ones(2), np.zeros(2)
    for made in (f(q, v), f(q, v), f(q=q, v=v), f([1, 1], v), f(q, v, threads=2)):
        assert [type(x) for x in made] == [np.float64, np.float64, np.ndarray]


def test_float32(inverse):
    single = linkwork.compile(ARM, "inverse_dynamics", dtype="float32", backend=inverse.backend)
    for inputs in ((Q, V, A), [x.astype(np.float32) for x in (Q, V, A)]):
        tau = single(*inputs)
        assert tau.dtype == np.float32
        assert np.allclose(tau, TAU, rtol=1e-5, atol=1e-5 * np.abs(TAU).max())


def test_wrenches_by_frame(inverse):
    wrench = np.arange(6.0)
    pushed = inverse(Q, V, A, wrenches={"tool": wrench, "link1": np.stack([wrench] * 5)})
    arms = [linkwork.compile(ARM, "jacobian", frame=frame, axes="local")(Q) for frame in ("tool", "link1")]
    assert np.allclose(
        inverse(Q, V, A) - pushed, sum(np.swapaxes(J, -1, -2) @ wrench for J in arms), rtol=1e-12, atol=1e-12
    )
    fixed = linkwork.compile(ARM, "inverse_dynamics", wrenches=["tool"])
    assert fixed.signature == "q(3), v(3), a(3), wrenches(1,6) -> tau(3)"
    assert np.allclose(fixed(Q, V, A, [wrench]), INVERSE(Q, V, A, wrenches={"tool": wrench}), rtol=1e-13, atol=1e-13)
    assert np.array_equal(fixed(Q, V, A, wrenches=[wrench]), fixed(Q, V, A, [wrench]))


# Refusing, each in its own words

JOINTS = ", ".join(ARM.joint_names)
REFUSED = {
    "wrong length": (
        lambda f: f(Q[:, :2], V, A),
        ShapeError,
        r"'q': wrong shape\n  got: \(5, 2\)\n  expected: \(..., 3\)",
    ),
    "names of entries": (lambda f: f(Q, V, A[:, :1]), ShapeError, rf"\(entries: {JOINTS}\)"),
    "a bare number": (lambda f: f(1.0, V, A), ShapeError, r"'q': wrong shape\n  got: \(\)"),
    "ragged": (lambda f: f([[1, 2], [3]], V, A), ShapeError, "not a rectangular array"),
    "strings": (lambda f: f(["a", "b", "c"], V, A), ShapeError, r"not an array of real numbers\n  got: dtype <U1"),
    "complex": (lambda f: f(Q + 0j, V, A), ShapeError, "got: dtype complex128\n  expected: float64"),
    "None": (lambda f: f(None, V, A), ShapeError, "got: dtype object"),
    "batches": (lambda f: f(Q, V[:2], A), ShapeError, r"batch axes do not fit together\n  got: q \(5,\), v \(2,\)"),
    "too few": (lambda f: f(Q, V), ShapeError, r"needs a\n  got: q, v\n  expected: q\(3\), v\(3\), a\(3\) -> tau\(3\)"),
    "none": (lambda f: f(), ShapeError, "needs q, v, a\n  got: nothing"),
    "too many": (lambda f: f(Q, V, A, A.copy()), ShapeError, "takes 3 inputs\n  got: 4 arguments"),
    "twice": (lambda f: f(Q, V, A, q=Q), ShapeError, "input 'q' is given twice"),
    "unknown input": (lambda f: f(Q, V, acc=A), UnknownNameError, "there is no input 'acc'"),
    "out shape": (lambda f: f(Q, V, A, out=np.empty((4, 3))), ShapeError, r"out does not fit\n  got: float64 \(4, 3\)"),
    "out dtype": (lambda f: f(Q, V, A, out=np.empty((5, 3), int)), ShapeError, r"expected: float64 \(5, 3\)"),
    "out of fewer digits": (
        lambda f: f(Q, V, A, out=np.empty((5, 3), "f4")),
        ShapeError,
        r"out does not fit\n  got: float32 \(5, 3\)\n  expected: float64 \(5, 3\)",
    ),
    "out of one state and fewer digits": (
        lambda f: f(Q[0], V[0], A[0], out=np.empty(3, "f4")),
        ShapeError,
        "out does not fit\n  got: float32",
    ),
    "out larger than the result": (
        lambda f: f(Q[0], V[0], A[0], out=np.empty((3, 3))),
        ShapeError,
        r"got: float64 \(3, 3\)\n  expected: float64 \(3,\)",
    ),
    "masked out": (lambda f: f(Q, V, A, out=np.ma.zeros((5, 3))), ShapeError, "out does not fit\n  got: MaskedArray"),
    "masked": (lambda f: f(np.ma.masked_less(Q, 0), V, A), ShapeError, r"more than an array(.|\n)*fix: .*x\.filled\("),
    "one masked": (lambda f: f(Q[0], V[0], np.ma.masked_less(A[0], 0)), ShapeError, "'a': .*\n  got: MaskedArray"),
    "masked in a list": (lambda f: f([*np.ma.masked_less(Q, 0)], V, A), ShapeError, r"fix: .*x\.filled\("),
    "masked in a dict": (
        lambda f: f(dict.fromkeys(JOINTS.split(", "), np.ma.masked_less(Q[:, 0], 0)), V, A),
        ShapeError,
        r"fix: .*x\.filled\(",
    ),
    "labelled": (lambda f: f(Labelled(), V, A), ShapeError, r"got: Labelled(.|\n)*fix: give x\.to_numpy\(\)"),
    "subclass": (lambda f: f(Q.view(Units), V, A), ShapeError, r"got: Units(.|\n)*fix: np\.asarray\(x\)"),
    "objects": (lambda f: f(Q.astype(object), V, A), ShapeError, "got: dtype object"),
    "name of nothing": (lambda f: f(Q, V, A, args=A), UnknownNameError, "there is no input 'args'"),
    "out kind": (lambda f: f(Q, V, A, out=[0]), ShapeError, "out does not fit\n  got: list"),
    "unknown joint": (
        lambda f: f({"to_lin1": 0.0}, V, A),
        UnknownNameError,
        "there is no joint 'to_lin1'.*\n.*\n  fix: did you mean 'to_link1'?",
    ),
    "missing joint": (
        lambda f: f({"to_link1": 0.0}, V, A),
        ShapeError,
        "joints are missing\n  got: to_link1\n.*also to_link2",
    ),
    "wrench on no frame": (
        lambda f: f(Q, V, A, wrenches={"tol": np.zeros(6)}),
        UnknownNameError,
        "no frame 'tol'(.|\n)*did you mean 'tool'",
    ),
    "short wrench": (
        lambda f: f(Q, V, A, wrenches={"tool": np.zeros(3)}),
        ShapeError,
        r"wrench on 'tool': wrong shape",
    ),
    "bare wrench": (
        lambda f: f(Q, V, A, wrenches=np.zeros(6)),
        ShapeError,
        "wrenches are given by frame\n  got: ndarray",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str, inverse):
    call, error, message = REFUSED[what]
    with pytest.raises(error, match=message):
        call(inverse)


def test_only_joint_vectors_are_dicts_and_only_forces_take_wrenches():
    loaded = linkwork.compile(ARM, "bias", wrenches=["tool"], backend="interpreter")
    with pytest.raises(ShapeError, match="only joint vectors can be given as dicts"):
        loaded(Q, V, {"tool": np.zeros(6)})
    with pytest.raises(ShapeError, match="gravity takes no wrenches"):
        linkwork.compile(ARM, "gravity", backend="interpreter")(Q, wrenches={"tool": np.zeros(6)})


# Keeping


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_saved_and_loaded(inverse, dtype: str, tmp_path):
    function = linkwork.compile(ARM, "inverse_dynamics", backend=inverse.backend, dtype=dtype)
    function.save(tmp_path / "inverse.json")
    for again in (Function.load(tmp_path / "inverse.json"), pickle.loads(pickle.dumps(function))):
        assert (again.label, again.dtype, again.backend) == (function.label, dtype, inverse.backend)
        assert again.program == function.program and np.array_equal(again(Q, V, A), function(Q, V, A))
        assert again(dict(zip(ARM.joint_names, Q[0], strict=True)), V[0], A[0]).keys() == set(ARM.joint_names)


def test_labels_tell_axes_and_payload_and_older_files_load(tmp_path):
    local = ARM.compile("jacobian", frame="tool", axes="local", backend="interpreter")
    assert local.label.axes == "local"
    path = tmp_path / "local.json"
    local.save(path)
    assert Function.load(path).label == local.label
    document = json.loads(path.read_text())
    older = {key: value for key, value in document["label"].items() if key != "axes"}
    path.write_text(json.dumps(document | {"label": older}))
    assert Function.load(path).label == replace(local.label, axes="")
    assert INVERSE.label.axes == ""


def test_a_robot_pickles():
    again = pickle.loads(pickle.dumps(ARM))
    assert repr(again) == repr(ARM) and np.array_equal(again.inverse_dynamics(Q, V, A), TAU)


def test_files_that_are_no_functions(tmp_path):
    path = tmp_path / "f.json"
    with pytest.raises(LinkworkError, match="cannot be read: No such file"):
        Function.load(path)
    INVERSE.save(path)
    document = json.loads(path.read_text())
    for text, message in (
        ("", "not a saved function"),
        ("[]", "not a saved function"),
        (json.dumps(document | {"format": "other"}), "unknown format 'other'"),
        (json.dumps({k: v for k, v in document.items() if k != "label"}), "not a saved function: 'label'"),
        (json.dumps(document | {"program": "{}"}), "not a linkwork program"),
        (json.dumps(document | {"label": document["label"] | {"color": "red"}}), "not a saved function"),
    ):
        path.write_text(text)
        with pytest.raises(LinkworkError, match=message):
            Function.load(path)
    with pytest.raises(LinkworkError, match="cannot be written"):
        INVERSE.save(tmp_path / "nowhere" / "f.json")


def test_more_mistakes_get_words():
    with pytest.raises(ShapeError, match="expected: one array: tau"):
        INVERSE(Q, V, A, out=(TAU.copy(), TAU.copy()))
    assert (INVERSE(Q, V, A, wrenches={}) == TAU).all()
    names = INVERSE.label.layouts["q"].names
    with pytest.raises(ShapeError, match="batch axes do not fit together"):
        INVERSE({names[0]: np.zeros(2), names[1]: np.zeros(3), names[2]: 0.0}, V[0], A[0])
    with pytest.raises(ShapeError, match="not an array of real numbers"):
        INVERSE(dict.fromkeys(names, "x"), V[0], A[0])
    with pytest.raises(ShapeError, match="before it is packed, saved or pickled"):
        pickle.loads(pickle.dumps(INVERSE))(Q, V, A, wrenches={"tool": np.zeros(6)})


def test_output_must_be_writable():
    frozen = np.zeros_like(TAU)
    frozen.flags.writeable = False
    with pytest.raises(ShapeError, match="cannot be written to"):
        INVERSE(Q, V, A, out=frozen)


# Several results

HYBRID = {backend: linkwork.compile(FLYER, "hybrid_dynamics", backend=backend) for backend in BACKENDS}
STATES = [np.random.default_rng(k).uniform(-1, 1, (5, size)) for k, size in enumerate((9, 8, 2, 6))]


@pytest.fixture(params=BACKENDS)
def hybrid(request) -> Function:
    return HYBRID[request.param]


def assert_bits(found, expected) -> None:
    assert found._fields == ("tau", "a") and all(map(np.array_equal, found, expected))


def test_several_results_have_names(hybrid):
    assert hybrid.signature == "q(9), v(8), a_known(2), tau_known(6) -> tau(2), a(6)"
    assert hybrid.label.layouts["a"].joints == ("base",) and hybrid.label.layouts["tau"].names == FLYER.joint_names
    q, v, a, tau = STATES
    found = hybrid(*STATES)
    assert found._fields == ("tau", "a") and (found.tau.shape, found.a.shape) == ((5, 2), (5, 6))
    force = FLYER.inverse_dynamics(q, v, np.hstack([found.a, a]))
    assert np.allclose(force, np.hstack([tau, found.tau]), rtol=1e-12, atol=1e-12 * np.abs(force).max())


def test_several_results_of_one_state_and_of_many(hybrid):
    expected = hybrid(*STATES)
    for _ in range(3):  # from the second call on past NumPy
        assert_bits(hybrid(*(x[0] for x in STATES)), (expected.tau[0], expected.a[0]))
    q, v, a, tau = STATES
    assert_bits(hybrid(q, v, tau_known=tau, a_known=a), expected)
    assert_bits(hybrid(*STATES, threads=2), expected)
    grid = hybrid(q[:, None], v[0], a, tau[0])
    assert grid.tau.shape == (5, 5, 2) and np.array_equal(grid.a[3, 1], hybrid(q[3], v[0], a[1], tau[0]).a)
    assert hybrid(q[:0], v[:0], a[:0], tau[:0]).a.shape == (0, 6)


def test_several_results_into_arrays_of_the_user(hybrid):
    expected = hybrid(*STATES)
    for some in (slice(None), 2):
        given = [x[some] for x in STATES]
        for _ in range(3):
            outs = (np.empty_like(expected.tau[some]), np.empty_like(expected.a[some]))
            found = hybrid(*given, out=outs)
            assert_bits(found, (expected.tau[some], expected.a[some]))
            assert found.tau is outs[0] and found.a is outs[1]
    with pytest.raises(ShapeError, match="expected: a tuple of 2 arrays: tau, a"):
        hybrid(*STATES, out=np.empty((5, 2)))
    with pytest.raises(ShapeError, match=r"got: float64 \(5, 6\)\n  expected: float64 \(5, 2\)"):
        hybrid(*STATES, out=(np.empty((5, 6)), np.empty((5, 2))))


def test_several_results_as_dicts(hybrid):
    q, v, a, tau = STATES
    expected = hybrid(*STATES)
    found = hybrid(q, v, dict(zip(FLYER.joint_names, a.T, strict=True)), {"base": tau})
    assert found.tau.keys() == set(FLYER.joint_names) and found.a.keys() == {"base"}
    assert np.array_equal(found.a["base"], expected.a)
    assert np.array_equal(np.stack(list(found.tau.values()), axis=-1), expected.tau)
    with pytest.raises(UnknownNameError, match="no joint 'base'"):
        hybrid(q, v, {"base": 0.0}, tau)


def test_forces_on_what_no_motor_drives_may_be_left_out(hybrid):
    q, v, a, tau = STATES
    assert_bits(hybrid(q, v, a), hybrid(q, v, a, 0 * tau))
    assert_bits(hybrid(q, v, a, None), hybrid(q, v, a, 0 * tau))
    with pytest.raises(ShapeError, match="needs a_known"):
        hybrid(q, v)


def test_several_results_are_kept(hybrid, tmp_path):
    hybrid.save(tmp_path / "hybrid.json")
    for again in (Function.load(tmp_path / "hybrid.json"), pickle.loads(pickle.dumps(hybrid))):
        assert again.label == hybrid.label
        assert_bits(again(*STATES), hybrid(*STATES))


def test_several_results_with_wrenches(hybrid):
    """On a floating base, in its own frame, a wrench acts as the force on it does."""
    q, v, a, _ = STATES
    push = np.arange(6.0)
    for x, y in zip(hybrid(q, v, a, wrenches={"base": push}), hybrid(q, v, a, push)):
        assert np.allclose(x, y, rtol=1e-12, atol=1e-12 * np.abs(y).max())


def test_a_robot_with_loops_says_what_its_vectors_hold():
    bar = linkwork.load("four-bar")
    label = bar.inverse_dynamics.label
    assert label.layouts["q"].names == bar.position_names and label.layouts["q"].size == 3
    assert {label.layouts[name].names for name in ("v", "a", "tau")} == {("crank",)} == {bar.motor_names}
    q = dict(zip(bar.position_names, bar.home, strict=True))
    assert bar.joint_velocities(q, {"crank": 2.0}).keys() == set(bar.position_names)
    assert bar.inverse_dynamics(q, {"crank": 1.0}, {"crank": 0.0}).keys() == {"crank"}
    with pytest.raises(UnknownNameError, match="input 'v': there is no joint 'rocker'"):
        bar.bias(q, {"rocker": 1.0})
    stage = linkwork.load("gough-stewart")
    assert stage.gravity.label.layouts["q"].joints[0] == "platform_joint"
    legs = dict(zip(stage.position_names, stage.home[7:], strict=True))
    held = stage.gravity({"platform_joint": stage.home[:7]} | legs)
    assert isinstance(held, dict) and held.keys() == {"platform_joint"} and held["platform_joint"].shape == (6,)


def test_help_is_about_the_quantity():
    robot = linkwork.load("planar2r")
    shown = pydoc.plain(pydoc.render_doc(robot.gravity))
    for words in (
        "Gravity of planar2r.",
        "q (2): positions, rad",
        "joint forces that hold the robot against gravity, N m",
    ):
        assert words in shown and words in robot.gravity.__doc__
    assert "Entries of q, g: 0 shoulder, 1 elbow" in shown
    assert robot.gravity.__doc__ != robot.bias.__doc__
    assert "any leading batch axes" in linkwork.Function.__doc__


def test_more_states_than_any_memory(inverse):
    """How much the results would take is said before any of it is taken, whichever way the call goes."""
    many, one = np.broadcast_to(np.zeros(3), (10**12, 3)), np.zeros(3)
    for call in (
        lambda: inverse(many, one, one),
        lambda: inverse(many, one, one, threads=2),
        lambda: inverse(q=many, v=one, a=one),
    ):
        with pytest.raises(LinkworkError, match=r"these states do not fit into memory\n  got: 2.4e\+04 GB at least"):
            call()
    with pytest.raises(LinkworkError, match="these states do not fit into memory"):
        inverse(np.broadcast_to(np.zeros(3, int), (10**12, 3)), one, one)
    arm, loop = linkwork.load("planar2r"), linkwork.load("four-bar")
    with pytest.raises(LinkworkError, match="these samples do not fit into memory"):
        arm.rollout(np.broadcast_to(np.zeros(2), (10**13, 2)), np.zeros(2), steps=1)
    with pytest.raises(LinkworkError, match="these positions do not fit into memory"):
        loop.assemble(np.broadcast_to(np.zeros(1), (10**13, 1)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_outputs_in_the_same_memory_are_refused(backend):
    """Two results in one array would leave the last one in both; columns of one array are apart."""
    function = linkwork.load("planar2r").compile("inverse_dynamics_derivatives", backend=backend)
    q = np.array([0.1, 0.2])
    expected = function(q, q, q)
    for states, lead in ((q, ()), (np.tile(q, (3, 1)), (3,))):
        tau, one, other = np.empty((*lead, 2)), np.empty((*lead, 2, 2)), np.empty((*lead, 2, 2))
        for _ in range(3):
            with pytest.raises(ShapeError, match="in the same memory"):
                function(states, states, states, out=(tau, one, other, one))
        interleaved = np.empty((*lead, 2, 2, 3))
        found = function(states, states, states, out=(tau, *np.moveaxis(interleaved, -1, 0)))
        assert all((x == y).all() for x, y in zip(found, expected, strict=True))
    with pytest.raises(ShapeError, match="got: list\n  expected: a tuple of 4 arrays"):
        function(q, q, q, out=[np.empty(2)])
