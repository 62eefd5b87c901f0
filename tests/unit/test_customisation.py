"""Programs of robots after the passes that lower the number of operations: fewer of them, the same values."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import linkwork
from linkwork import io
from linkwork.cli import app
from linkwork.formulations.parallel_axes import shared_axes
from linkwork.formulations.rnea import rnea
from linkwork.model import Body, Joint, Model
from linkwork.model.description import Link, LinkInertia
from linkwork.model.joints import REVOLUTE
from linkwork.model.model import FixedScrew
from linkwork.pipeline import traced
from linkwork.program import Program, count, interpret
from linkwork.program.passes import CUSTOMISING, customise
from linkwork.published.chains import generic_chain
from linkwork.spatial import Force, Inertia, Symmetric, Vector

ROBOTS = ("rx90", "puma560", "stanford", "ur5e", "panda", "scara", "quadruped")
QUANTITIES = ("inverse_dynamics", "inertia_matrix", "forward_dynamics", "bias", "gravity")

OPENSYMORO = {  # multiplications and additions with base parameters, full link inertias
    ("rx90", "inverse_dynamics"): (273, 226),
    ("rx90", "forward_dynamics"): (850, 622),
    ("rx90", "inertia_matrix"): (221, 154),
    ("puma560", "inverse_dynamics"): (286, 240),
    ("puma560", "forward_dynamics"): (940, 701),
    ("puma560", "inertia_matrix"): (273, 187),
    ("stanford", "inverse_dynamics"): (249, 211),
    ("stanford", "forward_dynamics"): (723, 536),
    ("stanford", "inertia_matrix"): (166, 119),
}


def with_full_inertias(name: str) -> linkwork.Robot:
    """A bundled robot whose links have no structural zero in their inertia; no friction, no rotors."""
    random, links, description = np.random.default_rng(3), [], io.read(name)
    for link in description.links:
        root = random.normal(size=(3, 3))
        inertia = LinkInertia(random.uniform(1, 3), random.normal(size=3) * 0.1, root @ root.T)
        links.append(Link(link.name, inertia) if link.inertia else link)
    return linkwork.load(replace(description, links=tuple(links)), friction=False, rotors=False)


def states(program: Program, number: int = 20) -> list[np.ndarray]:
    random = np.random.default_rng(5)
    return [random.uniform(-3, 3, size=(number, *port.shape)) for port in program.inputs]


def deviation(before: Program, after: Program) -> float:
    """The largest over the states, relative to the largest entry of the result at that state."""
    x = states(before)
    worst = 0.0
    for y, z in zip(interpret(before, x), interpret(after, x), strict=True):
        y, z = y.reshape(len(y), -1), z.reshape(len(z), -1)
        worst = max(worst, (np.abs(y - z).max(axis=1) / np.abs(y).max(axis=1).clip(1e-300)).max())
    return worst


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", ROBOTS)
def test_same_values_with_fewer_operations(name: str, quantity: str):
    """A matrix to invert conditions forward dynamics: 1e-12 times what that amplifies."""
    _, program = traced(linkwork.load(name), quantity)
    made = customise(program).check()
    before, after = count(program), count(made)
    assert after.mul + after.add + 20 * after.sincos <= before.mul + before.add + 20 * before.sincos
    assert after.sincos <= before.sincos and after.div <= before.div and after.neg <= before.neg
    assert deviation(program, made) < (1e-10 if quantity == "forward_dynamics" else 1e-12)


@pytest.mark.parametrize("lower", CUSTOMISING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_each_pass_alone(name: str, lower):
    _, program = traced(with_full_inertias(name), "inverse_dynamics")
    made = lower(program).check()
    before, after = count(program), count(made)
    assert made is program or after.mul + after.add < before.mul + before.add
    assert deviation(program, made) < 1e-13


@pytest.mark.parametrize("name, quantity", OPENSYMORO)
def test_below_opensymoro(name: str, quantity: str):
    """Fewer multiplications, and at least 15 % fewer operations."""
    done = with_full_inertias(name).compile(quantity, backend="interpreter").operations
    mul, add = OPENSYMORO[name, quantity]
    assert done.mul < mul and done.mul + done.add <= 0.85 * (mul + add)


@pytest.mark.parametrize("prismatic, mul, add", [((), 407, 301), ((3,), 378, 299)], ids=["type 1", "type 2"])
def test_below_lin_and_fang_on_generic_geometry(prismatic, mul: int, add: int):
    """Six joints, no angle or length special: the polynomials of Lin and Fang (1999) for the inertia matrix."""
    done = linkwork.compile(generic_chain(6, prismatic), "inertia_matrix", backend="interpreter").operations
    assert done.mul < mul and done.add < add


@pytest.mark.parametrize(
    "name, quantity, mul, add",
    [
        ("puma560", "inverse_dynamics", 331, 245),
        ("puma560", "inertia_matrix", 184, 157),
        ("panda", "inverse_dynamics", 556, 451),
        ("panda", "inertia_matrix", 362, 315),
    ],
)
def test_a_quarter_below_the_trace_of_pinocchio(name: str, quantity: str, mul: int, add: int):
    robot = linkwork.load(name, friction=False, rotors=False)
    done = robot.compile(quantity, backend="interpreter").operations
    assert done.mul + done.add <= 0.75 * (mul + add)


def test_units_of_a_robot():
    """The lengths of the Puma's upper arm and forearm are equal; in that unit nothing is multiplied by them."""
    robot = with_full_inertias("puma560")
    _, program = traced(robot, "inverse_dynamics")
    assert 0.4318 in program.constants
    assert 0.4318 not in customise(program).constants


def test_parameters_as_inputs_are_customised_too():
    """What is known off line is not put on line."""
    robot = linkwork.load("ur5e")
    function = robot.compile("inverse_dynamics", inputs=["parameters"], backend="interpreter")
    q, v, a = np.random.default_rng(1).normal(size=(3, 10, robot.nv))
    expected = robot.compile("inverse_dynamics", parameters="standard", method="rnea", backend="interpreter")(q, v, a)
    found = function(q, v, a, np.array(robot.parameters))
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()


def test_pass_by_pass_from_the_command_line():
    result = CliRunner().invoke(app, ["count", "rx90", "--passes", "--json"])
    tables = json.loads(result.stdout)["passes"]
    assert [table["quantity"] for table in tables] == ["inverse_dynamics", "forward_dynamics", "inertia_matrix"]
    for table in tables:
        first, *passes = table["passes"]
        last = passes[-1]
        assert len(passes) == len(CUSTOMISING)
        compiled = linkwork.load("rx90").compile(table["quantity"], backend="interpreter").operations
        assert (last["after"]["mul"], last["after"]["add"]) == (compiled.mul, compiled.add)
        assert last["saved"] == sum(first["after"][key] - last["after"][key] for key in ("mul", "add")) > 0


def test_table_of_one_quantity():
    result = CliRunner().invoke(app, ["count", "scara", "--passes", "--quantity", "bias", "--method", "newton-euler"])
    assert result.exit_code == 0
    assert "scara: bias by newton-euler" in result.stdout and "rescale" in result.stdout
    assert "inverse_dynamics" not in result.stdout


def test_tables_of_a_method_and_of_other_parameters():
    tables = {}
    for how in ("minimal", "standard"):
        words = ["count", "stanford", "--passes", "--method", "rnea", "--parameters", how, "--json"]
        (tables[how],) = json.loads(CliRunner().invoke(app, words).stdout)["passes"]
        assert (tables[how]["quantity"], tables[how]["method"]) == ("inverse_dynamics", "rnea")
    few, all_of_them = (table["passes"][0]["after"] for table in tables.values())
    assert few["mul"] < all_of_them["mul"] and few["add"] < all_of_them["add"]


@pytest.mark.parametrize("passes", [["--passes"], ["--derivatives"], []])
@pytest.mark.parametrize(
    "words, told",
    [
        (["--quantity", "gravty"], "did you mean 'gravity'"),
        (["--quantity", "gravty", "--method", "rnea"], "did you mean 'gravity'"),
        (["--method", "rne"], "did you mean 'rnea'"),
        (["--parameters", "minima"], "did you mean 'minimal'"),
    ],
)
def test_mistakes_are_told(words, told: str, passes):
    with pytest.raises(linkwork.UnknownNameError, match=told):
        CliRunner().invoke(app, ["count", "scara", *words, *passes], catch_exceptions=False)


def test_page_is_up_to_date():
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "fewer-operations.md").read_text()
    with_tables = runpy.run_path(str(docs / "update_passes.py"))["with_tables"]
    assert text == with_tables(text), "run `python docs/update_passes.py`"


def shoulder(seed: int) -> Model:
    """A first axis, others perpendicular to it and parallel to each other, some that are neither, and branches."""
    random, bodies = np.random.default_rng(seed), []
    quarter = random.choice([-1, 1]) * np.pi / 2
    for k, (parent, alpha) in enumerate(
        [(0, 0.7), (1, quarter), (2, 0.0), (3, 0.0), (4, quarter), (5, quarter), (3, 0.4), (2, 0.0), (1, np.pi / 2)], 1
    ):
        mass, h, A = random.uniform(1, 3), random.normal(size=3), random.normal(size=(3, 3))
        J = A @ A.T
        body = Inertia(mass, Vector(*h), Symmetric(J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]))
        angle = random.choice([0.0, np.pi / 2, -np.pi / 2, random.normal()])
        screw, length = FixedScrew("x", float(alpha), random.normal()), random.normal()
        joint = Joint(f"joint{k}", REVOLUTE, placement=(screw,), angle=float(angle), length=length, rotor_inertia=0.1)
        bodies.append(Body(f"link{k}", parent, joint, body))
    return Model("shoulder", tuple(bodies), {}, (), Vector(0.3, -0.5, -9.7))


@pytest.mark.parametrize("seed", range(12))
def test_axes_that_do_not_turn(seed: int):
    """``shared-axes`` behind a shoulder, with a wrench on every link, against ``rnea``."""
    model = shoulder(seed)
    random = np.random.default_rng(seed + 100)
    q, v, a = random.normal(size=(3, model.n_tree)).tolist()
    wrenches = {
        j: Force(Vector(*random.normal(size=3)), Vector(*random.normal(size=3))) for j, _ in model.outward() if j % 2
    }
    expected = np.array(rnea(model, q, v, a, wrenches))
    assert np.abs(np.array(shared_axes(model, q, v, a, wrenches)) - expected).max() < 1e-13 * abs(expected).max()
