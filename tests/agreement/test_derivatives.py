"""Slopes of the dynamics against Pinocchio's, against complex steps of the dynamics themselves, and against differences
along loops that are put together anew."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwork
import mutants
from agreement.test_pinocchio import EVERY, REPRESENTATIVE, SINGULAR, exact_quarter_turns, load, text_of
from linkwork.constraints import ClosedLoops
from linkwork.errors import LinkworkError
from linkwork.forces import Contact, Drag
from linkwork.formulations import METHODS, methods, sizes
from linkwork.formulations.method import beyond_rigid
from linkwork.library import eel
from linkwork.model import Model, SoftLimits, build
from linkwork.program import count
from linkwork.scalar import sqrt
from linkwork.spatial import Force, Vector
from support.driven_robots import LAWS, coupled, rubbing
from support.evaluate import derivative, deviation, evaluate
from support.mixed_trees import MixedRecipe, mixed, shuffled
from support.pinocchio_robot import PinocchioRobot
from support.random_robots import Recipe, describe

INVERSE, FORWARD = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"
BOTH = pytest.mark.parametrize("quantity", [INVERSE, FORWARD])
NONE: Mapping = {}
OTHERS = ("solo_description/robots/solo12.urdf", "kinova_description/robots/kinova.urdf")


def state(model: Model, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    size = sizes(model)
    q = np.array(model.coordinates.normalised(1.5 * model.coordinates.random(rng)))  # some joints beyond their limits
    return {"q": q} | {name: rng.normal(size=size[name]) for name in ("v", "a", "tau")}


def inputs(quantity: str, at: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [at["q"], at["v"], at["a" if quantity == INVERSE else "tau"]]


def able(model: Model, quantity: str) -> list[str]:
    return [method.name for method in methods(quantity) if not method.refusal(model)]


# -- Pinocchio -------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("name", [*REPRESENTATIVE, *(name for name in OTHERS if name in EVERY)])
def test_slopes_are_pinocchios(name: str, quantity: str):
    """Compiled, in batches, and by every method."""
    assert name not in SINGULAR
    base = REPRESENTATIVE.get(name, "floating")
    robot = load(name, base)
    peer, model = PinocchioRobot(exact_quarter_turns(text_of(name)), robot.model), robot.model
    states = [state(model, seed) for seed in range(3)]
    batch = getattr(robot, quantity)(*map(np.array, zip(*(inputs(quantity, at) for at in states))))
    for k, at in enumerate(states):
        expected = getattr(peer, quantity)(*inputs(quantity, at))
        condition = np.linalg.cond(peer.inertia_matrix(at["q"])) if quantity == FORWARD else 1.0
        tolerance = 1e-11 + 1e-15 * condition  # which enlarges rounding
        found = {"compiled": [part[k] for part in batch]}
        if k == 0:
            found |= {
                how: evaluate(model, quantity, *inputs(quantity, at), method=how) for how in able(model, quantity)
            }
        for how, parts in found.items():
            off = [deviation(x, y) for x, y in zip(parts, expected, strict=True)]
            assert max(off) <= tolerance, f"{how}: {off}"


# -- complex steps ---------------------------------------------------------------------------------------------------


def along(model: Model, q: np.ndarray) -> np.ndarray:
    """Rates of q, a row for each direction in which positions can change."""
    G = np.array(ClosedLoops.of_configuration(model, model.expand(q.tolist())).G, float)
    return (model.coordinates.tangent(q) @ G.reshape(model.coordinates.nv, -1)).T


def stepped(model: Model, quantity: str, at: dict[str, np.ndarray], wrenches: Mapping) -> list[np.ndarray]:
    """What ``quantity`` should be, by steps of the dynamics themselves."""
    base = quantity.removesuffix("_derivatives")
    q, v, last = inputs(quantity, at)

    def f(q, v, x):
        return evaluate(model, base, q, v, x, wrenches=wrenches)

    unit = np.eye(model.nv)
    of_q = derivative(lambda x: f(x, v, last), q, along(model, q)).T
    of_v = derivative(lambda x: f(q, x, last), v, unit).T
    if quantity == INVERSE:
        return [f(q, v, last), of_q, of_v, evaluate(model, "inertia_matrix", q)]
    return [f(q, v, last), of_q, of_v, derivative(lambda x: f(q, v, x), last, np.eye(len(last))).T]


def agrees(
    model: Model,
    quantity: str,
    at: dict[str, np.ndarray],
    wrenches: Mapping = NONE,
    tolerance: float = 1e-11,
    of: str = "",
) -> list[str]:
    """By every method, and how many those are."""
    expected = stepped(model, quantity, at, wrenches)
    condition = np.linalg.cond(evaluate(model, "inertia_matrix", at["q"])) if quantity == FORWARD else 1.0
    names = able(model, quantity)
    for name in names:
        found = evaluate(model, quantity, *inputs(quantity, at), method=name, wrenches=wrenches)
        off = [deviation(x, y, 1e-3) for x, y in zip(found, expected, strict=not model.commands.size)]
        assert max(off) <= tolerance + 1e-14 * condition, f"{of} {name}: {off}"
    return names


def test_slopes_of_robots_of_all_kinds():
    """Loaded at every link: all kinds of joint, branches, mimic and elastic joints, transmissions, loops, platforms.

    One test, because making the robots takes longer than asking them."""
    for number, case in enumerate(mutants.cases()):
        model, at = case.model, {name: np.array(x, float) for name, x in case.values.items()}
        at["q"] = np.array(model.coordinates.normalised(at["q"]))
        loads = dict(zip(model.link_names, np.array(case.wrenches)))
        rigid_tree = not (model.permanent or beyond_rigid(model))
        changing = any(joint.kind.changes for joint in model.tree.joints)
        for quantity in (INVERSE, FORWARD):
            where = f"case {number}, {model.name!r}, {quantity}"
            try:
                names = agrees(model, quantity, at, loads, of=where)
            except LinkworkError:
                assert quantity == INVERSE and len(model.mobility.motors) < model.nv, where
                continue
            assert "automatic" in names and ("singh-russell-wensing" in names) == rigid_tree, where
            assert ("carpentier-mansard" in names) == (rigid_tree and not changing), where


GROUND = Contact(20, damping=3, friction=0.6, slip=0.1, height=3, normal=(1, -2, 3))
FLOW = Drag(0.7, c_axial=0.3, c_normal=1.1, k_axial=0.2, k_normal=2.3, current=(0.5, -1.0, 0.3))


def surrounded(floating: bool) -> Model:
    recipe = Recipe(seed=3, joints=4, branches=True, fixed=True, floating=floating, extras=True)
    robot = describe(recipe)
    joints = tuple(replace(j, lower=-0.2, upper=0.2) if j.motion.bounded else j for j in robot.joints)
    model = build(replace(robot, joints=joints, forces=(("tool", FLOW), ("link1", GROUND))))
    return replace(model, friction_width=0.2, soft_limits=SoftLimits(300.0, 7.0))


def springy(seed: int) -> Model:
    description = mixed(MixedRecipe(seed, shuffled(seed), reach=3, floating=seed == 2))
    joints = [replace(j, stiffness=3.0, viscous=0.3) if j.motion.has_spring else j for j in description.joints]
    return build(replace(description, joints=tuple(joints)))


SUPERPOSED = {
    "drag, contact, stops, smooth friction": lambda: surrounded(False),
    "on a floating base": lambda: surrounded(True),
    "eel": lambda: build(eel(4)),
    "springs": lambda: springy(1),
    "springs of balls on a floating base": lambda: springy(2),
    "all laws of friction, transmissions": lambda: (
        linkwork.load(coupled(rubbing(Recipe(seed=7, joints=5, extras=True), LAWS["all"]))).model
    ),
    "elastic": lambda: linkwork.load("flexible-arm").model,
}


@BOTH
@pytest.mark.parametrize("name", SUPERPOSED)
def test_slopes_of_what_no_form_knows(name: str, quantity: str):
    model = SUPERPOSED[name]()
    for seed in range(2):
        assert "singh-russell-wensing" in agrees(model, quantity, state(model, seed))


@BOTH
@pytest.mark.parametrize("size", (lambda v: sqrt(v.dot(v)), lambda v: v.dot(v) ** 0.5), ids=("sqrt", "power"))
def test_a_law_of_ones_own_at_rest(size: Callable[[Vector], Any], quantity: str):
    """v |v| has a slope there, though |v| has none."""
    robot = linkwork.load("planar2r", friction=False)
    robot = robot.with_forces({"tip": lambda pose, velocity: Force(velocity.linear * -size(velocity.linear))})
    for method in able(robot.model, quantity):
        function = linkwork.compile(robot, quantity, method=method, backend="interpreter")
        found = function(np.full(2, 0.5), np.zeros(2), np.ones(2))
        assert not found[2].any(), method


def test_the_surroundings_act_in_these_states():
    """So what is tested above is not zero."""
    model = surrounded(True)
    at = state(model)
    alone = replace(model, forces=(), soft_limits=None)
    for each in (alone, replace(model, soft_limits=None)):
        found, bare = (evaluate(m, INVERSE, *inputs(INVERSE, at)) for m in (model, each))
        assert all(deviation(x, y) > 1e-3 for x, y in zip(found[:3], bare[:3]))


# -- special states --------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("name", ["eel", "springs of balls on a floating base", "on a floating base"])
def test_at_rest_and_at_zero(name: str, quantity: str):
    model = SUPERPOSED[name]()
    at = state(model)
    neutral = {"q": model.coordinates.neutral()} | {name: np.zeros_like(at[name]) for name in ("v", "a", "tau")}
    for each in (neutral, at | {"v": neutral["v"]}, at | {"q": neutral["q"]}):
        step = np.full(model.nv, 1e-9)
        near = each | {"v": each["v"] + step, "q": np.array(model.coordinates.integrate(each["q"], step))}
        for how in able(model, quantity):
            found = evaluate(model, quantity, *inputs(quantity, each), method=how)
            beside = evaluate(model, quantity, *inputs(quantity, near), method=how)
            for x, y in zip(found, beside, strict=True):
                assert deviation(x, y, 1.0) < 1e-6, how


@BOTH
def test_quaternions_of_the_other_sign(quantity: str):
    model = springy(2)
    at = state(model)
    other = at["q"].copy()
    for place in model.coordinates.quaternions:
        other[place] *= -1
    assert len(model.coordinates.quaternions) > 1
    for how in able(model, quantity):
        found = evaluate(model, quantity, *inputs(quantity, at | {"q": other}), method=how)
        expected = evaluate(model, quantity, *inputs(quantity, at), method=how)
        assert all(deviation(x, y) < 1e-13 for x, y in zip(found, expected, strict=True))


# -- loops -----------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("name", ["four-bar", "five-bar", "parallelogram", "3rrr", "delta", "gough-stewart"])
def test_differences_along_loops_put_together_anew(name: str, quantity: str):
    """Compiled. The step of the independent joints is made, then all others are looked for."""
    robot = linkwork.load(name)
    model, rng = robot.model, np.random.default_rng(4)
    size, base = sizes(model), getattr(robot, quantity.removesuffix("_derivatives"))
    joints = [robot.coordinates.joint_of(k).name for k in model.mobility.independent]
    places = robot.coordinates.places(dict.fromkeys(joints))
    v = 0.3 * rng.normal(size=model.nv)

    def moved(q: np.ndarray, step: np.ndarray) -> np.ndarray:
        near = robot.coordinates.integrate(q, robot.velocity_map(q) @ step)
        found = robot.assemble(near[places], guess=near, tolerance=1e-13)
        return found.require()

    q = moved(np.array(robot.home), 0.1 * rng.normal(size=model.nv))
    last = rng.normal(size=size["a" if quantity == INVERSE else "tau"])
    found, h = getattr(robot, quantity)(q, v, last), 1e-4

    def slope(f):
        """Of the fourth order."""
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    for k, e in enumerate(np.eye(model.nv)):
        of_q = slope(lambda h, e=e: base(moved(q, h * e), v, last))
        of_v = slope(lambda h, e=e: base(q, v + h * e, last))
        assert deviation(found[1][:, k], of_q, np.abs(found[1]).max()) < 1e-7
        assert deviation(found[2][:, k], of_v, np.abs(found[2]).max()) < 1e-8


# -- what they cost --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, inverse, forward",
    [
        ("panda", 1811, 2806),
        ("puma560", 834, 1371),
        ("anymal_b_simple_description/robots/anymal.urdf", 3442, 9450),
        ("talos_data/robots/talos_reduced.urdf", 14709, None),
    ],
)
def test_instructions(name: str, inverse: int, forward: int | None):
    """No more than these, by the closed form."""
    robot = load(name, REPRESENTATIVE[name]) if name in REPRESENTATIVE else linkwork.load(name)
    for quantity, most in ((INVERSE, inverse), (FORWARD, forward)):
        if most is not None:
            function = getattr(robot, quantity)
            assert function.label.method == "singh-russell-wensing"
            assert count(function.program).instructions <= most


def test_every_method_is_of_both():
    assert {m.name for m in METHODS if m.quantity == INVERSE} == {m.name for m in METHODS if m.quantity == FORWARD}
