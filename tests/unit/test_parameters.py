"""Base parameters: as many as the regressor's rank, in symbols and in numbers; what is said of the standard ones."""

import math
import re
import time
from dataclasses import replace
from importlib.metadata import files
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork
from linkwork.errors import ShapeError, UnknownNameError, UnsupportedError
from linkwork.formulations.linfang import minimal_combinations
from linkwork.formulations.regressor import Parameter, standard_parameters
from linkwork.model import JointDescription, build
from linkwork.notation.geometry import with_named_geometry
from linkwork.notation.polynomials import LONGEST, Expression, Unwritten, cosine_and_sine, symbol
from linkwork.parameters import base_parameters, parameter_vector
from linkwork.parameters.body_motion import body_motions
from linkwork.parameters.closed_form import khalil_parameters, with_rotors_absorbed, with_values
from linkwork.parameters.rank import rank, stacked
from linkwork.spatial import Inertia
from support.evaluate import assert_close, evaluate
from support.random_robots import Recipe, describe, random_state

RELATIONS = ("skew", "coordinate", "parallel", "antiparallel", "coaxial", "right angle")
GRAVITIES = {"any": None, "along z": (0, 0, -9.81), "across z": (9.81, 0, 0), "none": (0, 0, 0)}
EVERY = {
    path.name: path
    for file in files("example-robot-data") or ()
    if (path := Path(str(file.locate()))).suffix == ".urdf"
}
# fixed and floating, with and without branches, near-parallel axes (so100, xarm7), mimic joints (baxter, panda)
SAMPLE = (
    "a1.urdf", "anymal.urdf", "baxter.urdf", "hyq_no_sensors.urdf", "iris_simple.urdf", "kinova.urdf", "panda.urdf",
    "solo12.urdf", "so100.urdf", "talos_left_arm.urdf", "ur5_robot.urdf", "ur10_robot.urdf", "xarm7.urdf", "z1.urdf",
)  # fmt: skip


def assert_minimal(base) -> None:
    """As many as the rank, and independent; the columns are those of the regressor that they stand for."""
    assert len(base) == base.rank == np.linalg.matrix_rank(base.matrix)
    assert len(set(base.names)) == len(base)
    assert set(np.flatnonzero(base.matrix.any(axis=0))) >= {base.standard.index(each) for each in base.columns}


# -- how many ---------------------------------------------------------------------------------------------------------


@st.composite
def robots(draw):
    return Recipe(
        seed=draw(st.integers(0, 1000)),
        joints=draw(st.integers(1, 5)),
        relations=tuple(draw(st.lists(st.sampled_from(RELATIONS), min_size=1, max_size=3))),
        kinds=tuple(draw(st.lists(st.sampled_from(("revolute", "prismatic")), min_size=1, max_size=3))),
        **{name: draw(st.booleans()) for name in ("branches", "fixed", "extras")},
        floating=draw(st.integers(0, 4)) == 0,
    )


@given(robots(), st.sampled_from(sorted(GRAVITIES)), st.sampled_from((None, True, False)))
def test_rank_of_random_trees(recipe, gravity, drives):
    assert_minimal(base_parameters(build(describe(recipe), gravity=GRAVITIES[gravity]), drives=drives))


def chain(pattern: str, seed: int, relations: tuple[str, ...], gravity):
    described = describe(Recipe(seed=seed, joints=len(pattern), relations=relations))
    kinds = ("prismatic" if kind == "P" else "revolute" for kind in pattern)
    joints: list[JointDescription] = [replace(joint, kind=kind) for joint, kind in zip(described.joints, kinds)]
    return build(replace(described, joints=tuple(joints)), gravity=gravity)


@pytest.mark.parametrize("pattern", ["".join(kinds) for n in (1, 2, 3) for kinds in product("RP", repeat=n)])
def test_first_joints(pattern: str):
    """All kinds of first joints, with rotor inertias, in every relation to each other and to gravity."""
    for relations, gravity in product(
        (("parallel",), ("coaxial",), ("right angle",), ("parallel", "right angle")),
        ((0, 0, -9.81), (9.81, 0, 0), (0, 0, 0)),
    ):
        model = chain(pattern, 1, relations, gravity)
        base, lin = (base_parameters(model, kind, drives=True) for kind in ("khalil", "lin"))
        assert_minimal(base)
        assert len(lin) == len(base) == np.linalg.matrix_rank(np.vstack([lin.matrix, base.matrix]), tol=1e-9)


@pytest.mark.parametrize("name", linkwork.bundled_robots())
def test_rank_of_bundled_robots(name: str):
    assert_minimal(base_parameters(linkwork.load(name).model))


@pytest.mark.parametrize("name", SAMPLE)
def test_rank_of_real_robots(name: str):
    for base in ("fixed", "floating"):
        model = linkwork.load(EVERY[name], base=base).model
        if model.n_bodies:
            assert_minimal(base_parameters(model))


def test_numbers_of_a_moving_base():
    """Ten of the base, seven of every revolute joint, four of every prismatic one, whatever the geometry."""
    for recipe in (Recipe(joints=4, floating=True), Recipe(seed=1, joints=4, relations=("coaxial",), floating=True)):
        model = build(describe(recipe), gravity=(0, 0, 0))
        sliding = sum(body.joint.prismatic for body in model.bodies)
        assert len(base_parameters(model)) == 10 + 7 * (4 - sliding) + 4 * sliding


def test_rank_sees_a_missing_parameter():
    model = linkwork.load("rx90", rotors=False, friction=False).model
    columns = base_parameters(model).columns
    assert rank(model, columns) == 36 == rank(model, standard_parameters(model))
    assert rank(model, columns[1:]) == 35


# -- what they are ----------------------------------------------------------------------------------------------------


def test_formulas():
    base = base_parameters(linkwork.load("stanford").model)
    assert base.formulas["ZZR1"] == "ZZ1 + IA1 + YY2 + ZZ3 + 2 r2 MZ2 + r2^2 M2"
    assert base.formulas["XXR2"] == "XX2 - YY2 + YY3 - ZZ3 + YY4"
    assert base.numeric_formulas["ZZR1"] == "ZZ1 + IA1 + YY2 + ZZ3 + 0.023716 M2 + 0.308 MZ2"
    assert base.combinations["ZZR1"] == pytest.approx(
        {"ZZ1": 1, "IA1": 1, "YY2": 1, "ZZ3": 1, "MZ2": 2 * 0.154, "M2": 0.154**2}, rel=1e-14
    )
    lin = base_parameters(linkwork.load("stanford").model, "lin")
    assert lin.formulas["k_2.y"] == "MY2 - MZ3 - MZ4"
    assert lin.formulas["m^_3"] == "M3 + M4 + M5 + M6"


@pytest.mark.parametrize("seed", range(4))
def test_symbols_and_numbers_tell_the_same(seed: int):
    """Formulas with named lengths and angles, evaluated, are the combinations made with numbers; and the text, too."""
    model = build(describe(Recipe(seed=seed, joints=4, branches=seed > 1, extras=True)))
    base, excited = base_parameters(model), body_motions(model)
    names = [str(each) for each in base.standard]
    values = zip(names, base.standard_values.tolist(), strict=True)
    named = dict(zip(base.standard, (symbol(name, value, parameter=True) for name, value in values), strict=True))
    symbolic = with_rotors_absorbed(with_values(with_named_geometry(model), named), excited)
    for parameter, expression in khalil_parameters(symbolic, excited).items():
        row = base.matrix[base.columns.index(parameter)]
        found = expression.coefficients()
        assert_close([found.get(name, 0.0) for name in names], row)
        assert_close(float(expression), row @ base.standard_values)
        values = {each.name: each.value for powers in expression.terms for each, _ in powers}
        assert_close(read(str(expression), values), float(expression), scale=1.0)


def read(text: str, values: dict[str, float]) -> float:
    """The number that a formula stands for."""
    for angle in {name[1:] for name in values if re.match(r"C(alpha|gamma|theta)", name)}:
        values.setdefault(f"S{angle}", (1 - values[f"C{angle}"] ** 2) ** 0.5)  # its square stands for 1 - C^2
    code = re.sub(r"(?<=[\w')]) (?=[\w(])", " * ", text.replace("^", "**"))
    names = {name: f"v{k}" for k, name in enumerate(sorted(values, key=len, reverse=True))}
    code = re.sub(r"[A-Za-z]\w*'*", lambda found: names[found[0]], code)
    return eval(code, {names[name]: value for name, value in values.items()})


def test_only_the_combinations_matter():
    """Parameters changed so that the base parameters are the same give the same forces."""
    robot = linkwork.load("scara")
    base = base_parameters(robot.model)
    state = random_state(robot.model, 1)
    idle = np.linalg.svd(base.matrix[:, :40])[2][np.linalg.matrix_rank(base.matrix[:, :40]) :]
    rows = base.standard_values[:40] + np.random.default_rng(0).normal(size=len(idle)) @ idle
    other = robot.model.with_inertias([Inertia.of(row) for row in rows.reshape(4, 10).tolist()])
    assert np.abs(rows - base.standard_values[:40]).max() > 0.1
    assert_close(evaluate(other, "inverse_dynamics", *state), evaluate(robot.model, "inverse_dynamics", *state))


def test_values_of_other_parameters():
    robot = linkwork.load("ur5e")
    base = base_parameters(robot.model)
    assert_close(base.values_for(robot.parameters), base.values)
    assert_close(base.values_for(2 * np.array(robot.parameters)), 2 * base.values)


def test_table():
    base = base_parameters(linkwork.load("scara").model)
    told = {name: (status, found) for name, status, found in base.table}
    assert len(told) == len(base.standard) == 52
    assert told["MX4"] == ("alone", ("MX4",))
    assert told["M2"] == ("grouped", ("ZZR1",))
    assert told["ZZ3"] == ("grouped", ("ZZR2",))
    assert told["XX1"] == told["MZ3"] == ("no effect", ())
    alone = [name for name, (status, _) in told.items() if status == "alone"]
    assert sorted(alone) == sorted(name for name in base.names if "R" not in name)
    assert repr(base).startswith("<19 base parameters of scara (khalil): ZZR1, MXR2,")


def test_loops_keep_formulas_that_they_leave_alone():
    base = base_parameters(linkwork.load("parallelogram").model)
    assert 0 < len(base.formulas) < len(base)
    assert set(base.numeric_formulas) == set(base.names)


def test_shown_in_notebooks():
    robot = linkwork.load("planar2r", friction=False)
    base = base_parameters(replace(robot.model, name="<two & a half>"))
    html = base._repr_html_()
    assert "<caption>7 base parameters of &lt;two &amp; a half&gt; (khalil)</caption>" in html
    assert "<tr><th>parameter</th><th>value (SI)</th><th>combination</th></tr>" in html
    value = base.values[base.names.index("MXR1")]
    assert f"<tr><th>MXR1</th><td>{value:.6g}</td><td>MX1 + d2 M2</td></tr>" in html
    assert html.count("<tr>") == 1 + len(base)
    doubted = replace(base, ambiguity="a < b is assumed")._repr_html_()
    assert "(khalil). Ambiguous: a &lt; b is assumed</caption>" in doubted


def test_names_of_standard_parameters():
    vector = parameter_vector(linkwork.load("puma560").model)
    assert vector.names[:3] == ("link1.M", "link1.MX", "link1.MY")
    assert vector.names[60:63] == ("waist.IA", "waist.FS", "waist.FV")
    with pytest.raises(UnknownNameError, match="kind of parameters 'least'"):
        parameter_vector(linkwork.load("puma560").model, "least")


# -- Lin --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["RRR", "RPR", "PRPR", "RPRR", "PP"])
def test_lin_in_numbers(pattern: str):
    """The named combinations are those that the recursion of Table VII is fed with, and it needs nothing else."""
    for relations in (("skew",), ("parallel",), ("coaxial", "parallel", "skew")):
        model = chain(pattern, 2, relations, None)
        base = base_parameters(model, "lin")
        assert_close(np.sort(base.values), np.sort(np.array(minimal_combinations(model).values(), float)))
        idle = np.linalg.svd(base.matrix)[2][len(base) :]
        rows = base.standard_values + np.random.default_rng(0).normal(size=len(idle)) @ idle
        other = model.with_inertias([Inertia.of(row) for row in rows.reshape(-1, 10).tolist()])
        q, *_ = random_state(model, 3)
        for method in ("lin-fang-1-minimal", "lin-fang-2-minimal"):
            M = evaluate(model, "inertia_matrix", q, method=method)
            assert_close(evaluate(other, "inertia_matrix", q, method=method), M)
            assert_close(evaluate(model, "inertia_matrix", q, method="crba"), M)


@pytest.mark.parametrize("pattern", ["RRR", "RPR", "PRPR", "PP"])
def test_regressor_of_lin(pattern: str):
    for relations in (("skew",), ("parallel",), ("coaxial", "parallel", "skew")):
        for gravity in ((0, 0, -9.81), (9.81, 0, 1)):
            model = chain(pattern, 5, relations, gravity)
            state, vector = random_state(model, 4), parameter_vector(model, "lin")
            Y = linkwork.compile(model, "regressor", parameters="lin", backend="interpreter")(*state)
            assert Y.shape == (model.nv, len(vector.names))
            assert_close(Y @ vector.values, evaluate(model, "inverse_dynamics", *state))
            others = vector.values + np.random.default_rng(0).normal(size=len(vector.values))
            standard = np.linalg.pinv(base_parameters(model, "lin").matrix) @ others
            moved = model.with_inertias([Inertia.of(row) for row in standard[: 10 * model.n_bodies].reshape(-1, 10)])
            assert_close(Y @ others, evaluate(moved, "inverse_dynamics", *state))


@pytest.mark.parametrize(("pattern", "count"), [("RPPPRR", 26), ("RPPRPPRR", 38)])
def test_lin_of_many_prismatic_joints(pattern: str, count: int):
    """Formulas of general geometry would have thousands of terms: nothing waits for them, and they are left out."""
    model, start = chain(pattern, 2, ("skew",), None), time.process_time()
    base, state = base_parameters(model, "lin"), random_state(model, 1)
    Y = linkwork.compile(model, "regressor", parameters="lin", backend="interpreter")(*state)
    assert "formulas" not in vars(base) and len(base) == count
    assert_close(Y @ base.values, evaluate(model, "inverse_dynamics", *state))
    named = base.formulas
    assert time.process_time() - start < 10  # before, minutes to hours
    assert base.formulas is named and count > len(named) > count / 2
    assert max(map(len, base.written.values())) < 20_000 and set(base.written) == set(base.names)
    values = dict(zip(map(str, base.standard), base.standard_values.tolist(), strict=True))
    name = next(name for name in base.names if name not in named)  # in numbers of six digits
    assert math.isclose(read(base.written[name], values), base.values[base.names.index(name)], rel_tol=1e-4)


def test_columns_of_lin_are_for_regressors():
    robot = linkwork.load("stanford")
    state = random_state(robot.model, 1)
    Y = robot.regressor(*state, parameters="lin")
    assert robot.parameter_names("lin") == robot.base_parameters("lin").names
    assert_close(Y @ robot.parameter_values("lin"), robot.inverse_dynamics(*state))
    with pytest.raises(UnknownNameError, match="treatment of parameters 'lin'"):
        robot.compile("gravity", parameters="lin")
    with pytest.raises(UnknownNameError, match="treatment of parameters 'input'"):
        robot.compile("regressor", parameters="input")
    with pytest.raises(UnsupportedError, match="serial chains"):
        linkwork.load("four-bar").compile("regressor", parameters="lin")


def test_lin_is_for_chains():
    for name, reason in (("quadruped", "its base floats and it branches"), ("four-bar", "it has loops")):
        with pytest.raises(UnsupportedError, match=reason):
            base_parameters(linkwork.load(name).model, "lin")
    with pytest.raises(UnknownNameError, match="there is no kind of base parameters 'kahlil'"):
        base_parameters(linkwork.load("panda").model, "kahlil")


# -- symbols ----------------------------------------------------------------------------------------------------------


def test_expressions():
    C, S = cosine_and_sine("alpha3", 0.6, 0.8)
    d, M, N = symbol("d3", 0.5), symbol("M3", 2.0, parameter=True), symbol("M4", 3.0, parameter=True)
    assert C * C + S * S == 1
    assert M - M == 0 and isinstance(M - M, int)
    assert str(M - C * C * M) == "Salpha3^2 M3"
    assert str(d * d * (M + N) - 2 * d * C * M - N) == "d3^2 (M3 + M4) - 2 Calpha3 d3 M3 - M4"
    assert str(2 * d * (M - N) + 3) == "3 + 2 d3 (M3 - M4)"
    assert float(M / (d * C)) == pytest.approx(2 / 0.3, rel=1e-15)
    assert str(M / (d + C)) == "(Calpha3 + d3)^-1 M3" and float(M / (d + C)) == pytest.approx(2 / 1.1, rel=1e-15)
    cubed: Expression = S * S * S
    assert float(cubed) == pytest.approx(0.512, rel=1e-15)
    assert (d * M + 4 * N).coefficients() == {"M3": 0.5, "M4": 4.0}
    with pytest.raises(TypeError):
        M + "M"


def test_sums_too_long_to_be_read_are_numbers():
    parts = [symbol(f"d{k}", 0.5 + k) for k in range(LONGEST)]
    long = sum(parts, start=0)
    assert isinstance(long, Expression) and len(long.terms) == LONGEST
    for longer in (long + symbol("M1", 2.0), long * long, 3 - (long + 2.0) * (parts[0] + 1), 1 / (long + 1) + long):
        assert isinstance(longer, Unwritten)
    x = float(long)
    assert float(2 * (long + 1) - parts[0]) == pytest.approx(2 * (x + 1) - 0.5, rel=1e-14)
    assert abs(1 / (long * -long)) == pytest.approx(x**-2, rel=1e-14)
    assert (long + 1) * 0 == 0
    with pytest.raises(TypeError):
        (long + 1) + "M"


def test_parameters_have_khalils_names():
    assert str(Parameter(12, "XX")) == "XX12"
    assert stacked(linkwork.load("planar2r").model, [Parameter(1, "ZZ")]).shape[1] == 1


def test_what_cancels_is_left_out():
    """A mass that the crank's moment of inertia makes up for is not there with a coefficient of 1e-17."""
    assert linkwork.load("slider-crank").base_parameters().numeric_formulas["ZZR1"] == "- 0.05 MX1 + ZZ1 + IA1"


@pytest.mark.parametrize("parameters", [np.zeros(3), [["a"] * 10] * 2, None])
def test_values_of_what_are_no_parameters(parameters):
    with pytest.raises(ShapeError, match=r"not parameters of the links(.|\n)*expected: \(2, 10\)"):
        linkwork.load("planar2r").base_parameters().values_for(parameters)
