"""Derivatives as Functions: called in every way, kept, exported, packed, and what is said to bad input."""

import copy
import json
import pickle
import re

import casadi
import numpy as np
import pytest

import linkwork
from linkwork import Function, LinkworkError
from linkwork.program import Port, Program
from support.evaluate import assert_close
from support.mixed_trees import MixedRecipe, mixed

ARM = linkwork.load("planar2r")
BALL = linkwork.load(mixed(MixedRecipe(1, ("spherical", "revolute"))))
FORCES = linkwork.compile(ARM, "inverse_dynamics")
HOWS = ("derivative", "vjp", "jvp", "hessian", "hvp")
RNG = np.random.default_rng(0)


def states(function: Function, batch: tuple[int, ...] = ()) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.uniform(-1, 1, (*batch, *port.shape)) for port in function.program.inputs]


def arrays(result) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)


def made(how: str) -> Function:
    return getattr(linkwork.compile(BALL, "bias"), how)()


# -- calling -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOWS)
def test_batches_out_and_threads(how: str):
    function = made(how)
    inputs = states(function, (3, 5))
    whole = arrays(function(*inputs))
    for value, port in zip(whole, function.program.outputs, strict=True):
        assert value.shape == (3, 5, *port.shape)
    for _ in range(2):  # the second call of one state is direct
        one = arrays(function(*(x[1, 2].copy() for x in inputs)))
        assert all(np.array_equal(a, b[1, 2]) for a, b in zip(one, whole, strict=True))
    out = tuple(np.full_like(value, np.nan) for value in whole)
    function(*inputs, out=out if len(out) > 1 else out[0])
    assert all(np.array_equal(a, b) for a, b in zip(out, whole, strict=True))
    named = dict(zip([port.name for port in function.program.inputs], inputs, strict=True))
    shared = arrays(function(**named, threads="auto"))
    assert all(np.array_equal(a, b) for a, b in zip(shared, whole, strict=True))


@pytest.mark.parametrize("how", HOWS)
def test_float32(how: str):
    wide, narrow = made(how), getattr(linkwork.compile(BALL, "bias", dtype="float32"), how)()
    assert narrow.dtype == "float32" and narrow.signature == wide.signature
    inputs = states(wide, (4,))
    for a, b in zip(arrays(narrow(*inputs)), arrays(wide(*inputs)), strict=True):
        assert a.dtype == np.float32
        assert_close(a, b, tolerance=1e-4)


def test_vectors_by_name():
    """Joint vectors may be dicts, and those among the results are then dicts, too."""
    q, v, a = RNG.normal(size=(3, 2))
    by_name = [dict(zip(ARM.joint_names, x, strict=True)) for x in (q, v, a)]
    function = FORCES.derivative("q", value=True)
    found, expected = function(*by_name), function(q, v, a)
    assert list(found.tau) == list(ARM.joint_names)
    assert np.array_equal(list(found.tau.values()), expected.tau)
    assert np.array_equal(found.dtau_dq, expected.dtau_dq)


@pytest.mark.parametrize("how", ("derivative", "vjp", "jvp"))
@pytest.mark.parametrize("given", (None, "q", ("v", "q")))
def test_wrenches_by_name(how: str, given):
    """The results stay those that were asked for; their values are with the wrench."""
    frame = list(ARM.model.frames)[-1]
    function = getattr(FORCES, how)(given)
    loaded = linkwork.compile(ARM, "inverse_dynamics", wrenches=[frame])
    told = ("q", "v", "a") if given is None else given
    inputs, wrench = states(function), RNG.normal(size=6)
    other = getattr(loaded, how)(told)
    more = dict(zip([port.name for port in function.program.inputs], inputs, strict=True))
    for _ in range(2):
        found = function(*inputs, wrenches={frame: wrench})
        expected = other(**more, wrenches={frame: wrench})
        assert all(np.array_equal(a, b) for a, b in zip(arrays(found), arrays(expected), strict=True))
    assert not all(np.allclose(a, b) for a, b in zip(arrays(found), arrays(function(*inputs)), strict=True))


def test_derivatives_are_made_once():
    assert FORCES.derivative() is FORCES.derivative(("q", "v", "a"), "tau")
    assert FORCES.derivative("q") is not FORCES.derivative("q", value=True)
    assert linkwork.compile(BALL, "gravity").derivative().signature == "q(5) -> dg_dq(4,4)"
    assert linkwork.compile(BALL, "gravity").derivative(coordinates="ambient").signature == "q(5) -> dg_dq(4,5)"
    assert FORCES.vjp().operations.instructions < 4 * FORCES.operations.instructions


# -- keeping -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOWS)
def test_saved_and_pickled(how: str, tmp_path):
    function = made(how)
    function.save(tmp_path / "function.json")
    inputs = states(function, (3,))
    for again in (Function.load(tmp_path / "function.json"), pickle.loads(pickle.dumps(function)), copy.copy(function)):
        assert (again.program, again.label, again.tangents) == (function.program, function.label, function.tangents)
        results = zip(arrays(again(*inputs)), arrays(function(*inputs)), strict=True)
        assert all(np.array_equal(a, b) for a, b in results)
        further = again.derivative("q")  # along the same tangent
        assert further.program == function.derivative("q").program


def test_what_was_saved_is_differentiated_alike(tmp_path):
    function = linkwork.compile(BALL, "bias")
    function.save(tmp_path / "function.json")
    assert Function.load(tmp_path / "function.json").hessian().program == function.hessian().program


SPOILT = {
    "tangents are a list": (lambda d: d.update(tangents=[]), "'tangents' is list, not dict"),
    "tangent of nothing": (lambda d: d["tangents"].update(x=d["tangents"]["q"]), "the tangent of 'x' is not one"),
    "tangent that is no text": (lambda d: d["tangents"].update(q=7), "the tangent of 'q' is not one"),
    "tangent that is no program": (lambda d: d["tangents"].update(q="{}"), "not a linkwork program"),
    "tangent of another input": (lambda d: d["tangents"].update(v=d["tangents"]["q"]), "'v' does not fit"),
    "tangent of other inputs": (lambda d: tangent(d, inputs=[["q", [7], "state"]]), "does not fit"),
    "tangent with one axis": (lambda d: tangent(d, outputs=[["tangent", [20], "state"]]), "'q' does not fit"),
    "tangent with two outputs": (
        lambda d: tangent(d, outputs=[["tangent", [5, 3], "state"], ["more", [5], "state"]]), "'q' does not fit"),
    "patterns are a list": (lambda d: d["label"].update(patterns=[]), "the patterns of its label"),
    "pattern of nothing": (lambda d: d["label"]["patterns"].update(x={}), "the patterns of its label"),
    "pattern that is a text": (lambda d: d["label"]["patterns"].update(b="x"), "the pattern of 'b' does not fit"),
    "pattern of another size": (lambda d: pattern(d, size=1), "the pattern of 'b' does not fit"),
    "size that is true": (lambda d: pattern(d, size=True), "the pattern of 'b' does not fit"),
    "shape that is too large": (lambda d: pattern(d, shape=[4, 2]), "the pattern of 'b' does not fit"),
    "shape of many zeros": (lambda d: pattern(d, shape=[0] * 100, places=[]), "the pattern of 'b' does not fit"),
    "shape beyond all": (lambda d: pattern(d, shape=[0, 10**30], places=[]), "the pattern of 'b' does not fit"),
    "place that is not there": (lambda d: pattern(d, places=[0, 1, 2, 99]), "the pattern of 'b' does not fit"),
    "place below zero": (lambda d: pattern(d, places=[0, 1, 2, -1]), "the pattern of 'b' does not fit"),
    "place that is a fraction": (lambda d: pattern(d, places=[0, 1, 2, 0.5]), "the pattern of 'b' does not fit"),
    "constant that is a text": (lambda d: pattern(d, constants=["0"]), "the pattern of 'b' does not fit"),
}  # fmt: skip


def tangent(document, **changes) -> None:
    document["tangents"]["q"] = json.dumps(json.loads(document["tangents"]["q"]) | changes)


def pattern(document, **changes) -> None:
    document["label"]["patterns"]["b"].update(changes)


@pytest.mark.parametrize("what", SPOILT)
def test_spoilt_files(what: str, tmp_path):
    path = tmp_path / "function.json"
    linkwork.compile(BALL, "bias", backend="interpreter").packed().save(path)
    assert Function.load(path).patterns
    document = json.loads(path.read_text())
    spoil, message = SPOILT[what]
    spoil(document)
    path.write_text(json.dumps(document))
    with pytest.raises(LinkworkError, match=message):
        Function.load(path)


def test_patterns_of_some_outputs(tmp_path):
    """Results are packed, or they are not."""
    path = tmp_path / "function.json"
    linkwork.compile(BALL, "bias", backend="interpreter").derivative(["q", "v"]).packed().save(path)
    document = json.loads(path.read_text())
    assert len(document["label"]["patterns"]) == 2
    del document["label"]["patterns"]["db_dq"]
    path.write_text(json.dumps(document))
    with pytest.raises(LinkworkError, match="patterns of its label are not those of its outputs"):
        Function.load(path)


# -- exported ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOWS)
def test_numpy_and_latex(how: str):
    function = made(how)
    space: dict = {}
    exec(function.to_numpy(name="exported"), space)
    inputs = states(function)
    for a, b in zip(arrays(space["exported"](*inputs)), arrays(function(*inputs)), strict=True):
        assert_close(a, b, scale=1)
    text = function.to_latex()
    for port in function.program.outputs:  # an underscore of a name is no index
        assert r"\mathit{" + port.name.replace("_", r"\_") + "}" in text
        assert not re.search(r"[A-Za-z0-9]_[A-Za-z0-9]", text.partition("begin")[2])


def test_casadi():
    """The derivative exported equals CasADi's derivative of the function exported."""
    function = linkwork.compile(BALL, "bias")
    primal, own = function.to_casadi(), function.derivative(coordinates="ambient").to_casadi()
    q, v = (casadi.SX.sym(port.name, port.size) for port in function.program.inputs)
    theirs = casadi.Function("theirs", [q, v], [casadi.jacobian(primal(q, v), q), casadi.jacobian(primal(q, v), v)])
    inputs = states(function)
    for a, b in zip(own(*inputs), theirs(*inputs), strict=True):
        assert_close(np.array(a), np.array(b), scale=1)
    for how in HOWS:
        exported, native = made(how).to_casadi(), made(how)
        inputs = states(native)
        found = exported(*inputs)
        for a, b in zip(found if isinstance(found, tuple) else (found,), arrays(native(*inputs)), strict=True):
            assert_close(np.array(a).reshape(b.shape), b, scale=1)


# -- packed ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ("float64", "float32"))
def test_packed(dtype: str, tmp_path):
    robot = linkwork.load("quadruped")
    function = linkwork.compile(robot, "inverse_dynamics", dtype=dtype, backend="interpreter").derivative(("q", "a"))
    packed = function.packed()
    inputs = states(function, (2, 3))
    expected, result = function(*inputs), packed(*inputs)
    dense = packed.dense(result)
    assert type(dense)._fields == ("dtau_dq", "dtau_da")
    for name in dense._fields:
        short, whole, pattern = getattr(result, name), getattr(expected, name), packed.patterns[name]
        assert short.shape == (2, 3, pattern.size) and pattern.size < 0.7 * 18 * 18
        assert np.array_equal(getattr(dense, name), whole) and getattr(dense, name).dtype == dtype
        sparse = pattern.sparse(short[1, 2])
        assert np.array_equal(sparse.toarray(), whole[1, 2]) and sparse.dtype == dtype
        assert (pattern.index >= 0).sum() <= sparse.nnz < 18 * 18
        held = pattern.index >= 0
        assert np.array_equal(short[1, 2][pattern.index[held]], whole[1, 2][held])
    packed.save(tmp_path / "packed.json")
    for again in (Function.load(tmp_path / "packed.json"), pickle.loads(pickle.dumps(packed))):
        assert again.patterns == packed.patterns
        assert np.array_equal(again.dense(again(*inputs)).dtau_dq, expected.dtau_dq)
    assert packed.packed() is packed
    symmetric = linkwork.compile(robot, "inertia_matrix", backend="interpreter").packed().patterns["M"]
    assert np.array_equal(symmetric.index, symmetric.index.T) and symmetric.size < 18 * 19 / 2


def test_packed_constants_scalars_and_vectors():
    ones = linkwork.compile(ARM, "velocity_map").packed()
    assert ones.signature == "q(2) -> G(0)"
    assert np.array_equal(ones.dense(ones(np.zeros((3, 2)))), np.broadcast_to(np.eye(2), (3, 2, 2)))
    energy = linkwork.compile(ARM, "kinetic_energy")
    q, v = RNG.normal(size=(2, 4, 2))
    packed = energy.packed()
    assert np.array_equal(packed.dense(packed(q, v)), energy(q, v))
    assert packed.dense(packed(q[0], v[0])).shape == ()
    names = dict(zip(ARM.joint_names, q[0], strict=True))  # packed entries have no names of joints
    assert isinstance(FORCES.packed()(names, v[0], v[0]), np.ndarray)


def test_packed_with_wrenches():
    """Other wrenches, other patterns: so they are told before."""
    frame = list(ARM.model.frames)[-1]
    q, v, a = RNG.normal(size=(3, 2))
    wrench = {frame: RNG.normal(size=6)}
    with pytest.raises(LinkworkError, match="takes no wrenches"):
        FORCES.derivative().packed()(q, v, a, wrenches=wrench)
    loaded = linkwork.compile(ARM, "inverse_dynamics", wrenches=[frame]).derivative(("q", "wrenches"))
    packed = loaded.packed()
    found, expected = packed.dense(packed(q, v, a, wrenches=wrench)), loaded(q, v, a, wrenches=wrench)
    assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("value", "message"),
    (
        (np.zeros(5), "expected: 2 arrays: dtau_dq, dtau_dv"),
        (None, "this is not a result of the function"),
        ((np.zeros(4),), "this is not a result of the function"),
        ((np.zeros(3), np.zeros(3)), r"wrong shape\n  got: \(3,\)\n  expected: \(..., 4\), packed"),
        ((1.0, 2.0), "wrong shape"),
        ((["a"] * 4, np.zeros(3)), "not packed numbers"),
        (([[1.0], [1.0, 2.0]], np.zeros(3)), "not a rectangular array"),
        ((np.zeros(4, complex), np.zeros(3)), "not packed numbers"),
    ),
)
def test_wrong_packed_results(value, message: str):
    packed = FORCES.derivative(("q", "v")).packed()
    with pytest.raises(LinkworkError, match=message):
        packed.dense(value)


def test_packed_misused():
    with pytest.raises(LinkworkError, match="these results are not packed"):
        FORCES.dense(np.zeros(2))
    pattern = FORCES.derivative("q").packed().patterns["dtau_dq"]
    with pytest.raises(LinkworkError, match="a sparse matrix is of one state"):
        pattern.sparse(np.zeros((3, 4)))
    with pytest.raises(LinkworkError, match="a sparse matrix is of one state"):
        FORCES.packed().patterns["tau"].sparse(np.zeros(2))


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("wrt", "of", "message"),
    (
        ("tau", None, "inverse_dynamics, wrt: there is no input 'tau'"),
        ("wrenches", None, "there is no input 'wrenches'"),
        (0, None, r"wrt: inputs are given by name\n  got: 0\n  expected: names among: q, v, a"),
        (np.arange(2), None, "inputs are given by name"),
        ([0, 1], None, "inputs are given by name"),
        ((), None, "each input is given once"),
        (("q", "v", "q"), None, "each input is given once"),
        ({"q"}, None, "inputs are given by name"),
        ("q", "a", "inverse_dynamics, of: there is no output 'a'"),
        ("q", 0, "of: outputs are given by name"),
        ("q", ["tau", "tau"], "each output is given once"),
    ),
)
def test_unknown_inputs_and_outputs(how: str, wrt, of, message: str):
    with pytest.raises(LinkworkError, match=message):
        getattr(FORCES, how)(wrt, of)


@pytest.mark.parametrize("coordinates", ("world", None, ["tangent"]))
def test_unknown_coordinates(coordinates):
    with pytest.raises(LinkworkError, match="choice of coordinates"):
        FORCES.derivative("q", coordinates=coordinates)


def test_names_that_would_come_twice():
    with pytest.raises(LinkworkError, match=r"would be called 'dq'\n"):
        FORCES.jvp("q").jvp("q")
    with pytest.raises(LinkworkError, match=r"would be called 'dtau_dq'\n"):
        FORCES.derivative("q", value=True).derivative("q", value=True)


def test_a_function_without_inputs():
    program = Program("pi", (), (Port("y", ()),), (3.14,), (), (0,))
    function = Function(program, FORCES.label)
    with pytest.raises(LinkworkError, match="each input is given once"):
        function.derivative()
    with pytest.raises(LinkworkError, match="there is no input 'q'"):
        function.derivative("q")
