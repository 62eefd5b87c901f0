"""Silver's omega-Lagrangian and the augmented links of Balafoutis et al. against Newton-Euler and Pinocchio."""

from dataclasses import replace
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwork
from linkwork.formulations.rnea import rnea
from linkwork.formulations.silver import augmented_links, balafoutis, silver, silver_potential, silver_sums
from linkwork.formulations.silver.silver import link_forces, link_motions
from linkwork.model import grouped
from linkwork.spatial import Force, Inertia, Symmetric, Vector
from support.evaluate import assert_close, deviation, evaluate
from support.pinocchio_robot import PinocchioRobot
from support.random_robots import PATTERNS, RELATIONS, Recipe, describe, random_state, serial

FORMS = (silver, silver_potential, silver_sums, balafoutis)
METHODS = ("silver", "balafoutis")
TOLERANCE = 1e-13


def load(pattern: str, *how, **more) -> linkwork.Robot:
    return linkwork.load(serial(pattern, *how, **more))


def random_wrenches(n: int, seed: int = 0) -> dict[int, Force]:
    rng = np.random.default_rng(seed)
    return {i: Force(Vector(*rng.normal(size=3)), Vector(*rng.normal(size=3))) for i in range(1, n + 1)}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern(pattern: str, deviations):
    """By the forms that the catalog does not have; those it has are in test_methods.py."""
    for seed, relations in enumerate((("skew",), ("parallel", "coaxial", "right angle"), RELATIONS)):
        model = load(pattern, seed, relations, fixed=seed == 1).model
        state = list(map(list, random_state(model, seed)))
        tau = rnea(model, *state)
        for form in (silver_potential, silver_sums):
            for seen in (model, grouped(model)):
                off = deviation(form(seen, *state), tau)
                deviations(form.__name__, off)
                assert off <= TOLERANCE, f"{form.__name__}: {relations}"


@pytest.mark.parametrize("pattern", ["R", "P", "RPR", "PRRP", "RRRRRR"])
def test_joint_terms_and_wrenches_on_every_body(pattern: str):
    model = load(pattern, 5, ("skew", "parallel"), extras=True).model
    state = list(map(list, random_state(model)))
    wrenches = random_wrenches(model.n_bodies)
    for form in FORMS:
        assert_close(form(model, *state, wrenches), rnea(model, *state, wrenches), tolerance=TOLERANCE)
    for method in METHODS:
        assert_close(
            evaluate(model, "inverse_dynamics", *state, method=method), evaluate(model, "inverse_dynamics", *state)
        )


@pytest.mark.parametrize("pattern", ["RRR", "RPRPR"])
def test_tip_wrench_is_what_the_link_exerts_on_its_environment(pattern: str, tmp_path):
    """Pinocchio's ``fext`` acts on the link: opposite to Silver's, the same as linkwork's."""
    robot = load(pattern, 2)
    robot.write(tmp_path / "chain.urdf")
    peer = PinocchioRobot((tmp_path / "chain.urdf").read_text(), robot.model)
    q, v, a = random_state(robot.model)
    exerted = np.random.default_rng(1).normal(size=6)
    forces = [pin.Force.Zero() for _ in range(peer.model.njoints)]
    forces[-1] = pin.Force(-exerted)
    expected = pin.rnea(peer.model, peer.data, peer.q(q), peer.v(v), peer.v(a), forces)[peer.order]
    for method in METHODS:
        wrenches = {f"link{len(pattern)}": -exerted}
        assert_close(evaluate(robot.model, "inverse_dynamics", q, v, a, method=method, wrenches=wrenches), expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", [1, 3, 4])
def test_a_wrench_is_an_extra_link(form, where: int):
    """A further link fixed to a link exerts the opposite of the force that its own motion needs."""
    model = load("RPRR", 4).model
    state = list(map(list, random_state(model)))
    extra = Inertia(1.5, Vector(0.2, -0.1, 0.4), Symmetric(0.9, 0.1, -0.2, 1.1, 0.3, 0.8))
    bodies = [model.inertia(i) for i in range(1, 5)]
    alone = model.with_inertias([extra if i == where else Inertia() for i in range(1, 5)])
    needed = link_forces(alone, link_motions(alone, *state, -model.gravity))[where]
    heavier = model.with_inertias([b + extra if i == where else b for i, b in enumerate(bodies, 1)])
    assert_close(form(model, *state, {where: -needed}), form(heavier, *state), tolerance=TOLERANCE)


def test_silver_is_newton_euler_to_the_last_bit():
    for seed, pattern in enumerate(PATTERNS):
        model = load(pattern, seed, RELATIONS, extras=True).model
        state, wrenches = list(map(list, random_state(model, seed))), random_wrenches(model.n_bodies, seed)
        assert silver(model, *state, wrenches) == rnea(model, *state, wrenches)


@pytest.mark.parametrize("pattern", ["RRRR", "PPPP", "RPRPR", "PRRPR"])
def test_augmented_links_move_as_the_links_do(pattern: str):
    """Their constants are those of Renaud (Lin 1991, A5 and A6), and they give the same joint forces."""
    model = load(pattern, 3).model
    links = augmented_links(model)
    state = list(map(list, random_state(model)))
    for method in (rnea, silver):
        augmented = model.with_inertias([links[i] for i in range(1, model.n_bodies + 1)])
        assert_close(method(augmented, *state), method(model, *state), tolerance=TOLERANCE)
    outer, n = 0.0, model.n_bodies
    for i in range(n, 0, -1):
        beyond = 0.0 if i == n or model.joint(i + 1).prismatic else outer
        s = np.array(list(model.transform(i + 1, [0.0] * n).origin)) if i < n else np.zeros(3)
        m, h, J = model.inertia(i).mass, np.array(list(model.inertia(i).h)), as_array(model.inertia(i).J)
        outer = m + beyond
        assert_close(np.array(list(links[i].h)), h + beyond * s)
        assert_close(as_array(links[i].J), J + beyond * (s @ s * np.eye(3) - np.outer(s, s)))
        assert_close(np.array(links[i].mass), np.array(outer if model.joint(i).prismatic else 0.0))


def as_array(J: Symmetric) -> np.ndarray:
    return np.array([list(row) for row in J.rows])


@pytest.mark.parametrize("form", FORMS)
def test_links_of_zero_mass_and_length(form):
    """What Silver proposes for joints with several freedoms: three axes through one point."""
    model = load("RRRR", 6, ("right angle",)).model
    bodies = [Inertia(), Inertia(), model.inertia(3), model.inertia(4)]
    placed = [replace(b, joint=replace(b.joint, length=0.0)) for b in model.bodies]
    wrist = replace(model, bodies=tuple(placed)).with_inertias(bodies)
    state = list(map(list, random_state(wrist)))
    assert_close(form(wrist, *state), rnea(wrist, *state), tolerance=TOLERANCE)


@pytest.mark.filterwarnings("ignore:.*so <mimic> is ignored:linkwork.ModelWarning")  # fingers of alex_psyonic_hands
def test_arms_of_example_robot_data(deviations):
    """Every URDF there that is a serial chain."""
    found = 0
    for file in files("example-robot-data") or ():
        if file.suffix != ".urdf" or file.name == "ur3.urdf":  # the latter is empty
            continue
        model = linkwork.load(Path(str(file.locate())), friction=False, rotors=False, mimic=False).model
        if model.serial and not model.moving_base and model.nv:
            found += 1
            state = random_state(model)
            expected = PinocchioRobot(Path(str(file.locate())).read_text(), model).inverse_dynamics(*state)
            for method in METHODS:
                off = deviation(evaluate(model, "inverse_dynamics", *state, method=method), expected)
                deviations(f"{method}, arms", off)
                assert off <= 1e-10, file.name  # their angles are rounded to what is written in the file
    assert found >= 10


@pytest.mark.parametrize("method", METHODS)
def test_a_tree_is_refused(method: str):
    tree = linkwork.load(describe(Recipe(seed=1, joints=5, branches=True)))
    assert not tree.model.serial
    with pytest.raises(linkwork.LinkworkError, match="serial chains"):
        linkwork.compile(tree, "inverse_dynamics", method=method)
