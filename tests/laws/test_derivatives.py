"""Derivatives of every quantity on robots of all kinds against complex steps of the formulations, which know nothing of
programs, along tangents worked out here; along loops also against differences of mechanisms put together again."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError
from linkwork.forces import Contact, Drag
from linkwork.formulations import QUANTITIES
from linkwork.function import Function
from linkwork.model import Description, SoftLimits
from linkwork.program import interpret
from support.driven_robots import LAWS, coupled, rubbing
from support.evaluate import STEP, assert_close, evaluate
from support.mixed_loops import closed_chain
from support.mixed_trees import MixedRecipe, Places, joint_order, mixed
from support.random_loops import LoopRecipe, mechanism
from support.random_robots import Recipe, describe, half_driven, random_vectors
from support.through_time import independent

TREES: dict[str, Description] = {
    "floating, helical, planar": mixed(MixedRecipe(3, ("floating", "helical", "planar"), rotors=True)),
    "ball, universal, cylindrical": mixed(MixedRecipe(4, ("spherical", "universal", "cylindrical"), 2, extras=True)),
    "ball on a floating base": mixed(MixedRecipe(5, ("spherical",), floating=True, fixed=True)),
    "follows": describe(Recipe(seed=5, joints=4, branches=True, mimic=True, extras=True, floating=True)),
    "half driven": half_driven(describe(Recipe(seed=6, joints=4, branches=True)), 3),
    "friction": coupled(rubbing(Recipe(seed=2, joints=5), LAWS["all"], friction_width=0.1)),
    "surrounded": mixed(MixedRecipe(7, ("revolute", "prismatic", "spherical"), extras=True)),
}
BUNDLED = ("planar2r", "flexible-arm")
LOOPS: dict[str, Description] = {
    "two loops": mechanism(LoopRecipe(seed=2, closures=("revolute", "weld"), planar=True, motors="some")),
    "springs": mechanism(LoopRecipe(seed=1, closures=("spherical",), freedoms=2, elastic=True, mimic=True)),
    "floating": mechanism(LoopRecipe(seed=3, closures=("revolute",), planar=True, floating=True)),
    "balls": closed_chain(("revolute", "spherical", "planar", "helical"), "weld", 2),
}
PARALLEL = ("four-bar", "slider-crank")
ASSEMBLED = ("two loops", "springs", "floating", *PARALLEL, "delta", "gough-stewart")  # by their independent joints
SURROUNDINGS = {
    "link2": Drag(0.4, 0.3, 0.5, 0.7, 0.9, current=(0.3, -0.2, 0.1)),
    "tool": Contact(20, damping=3, friction=0.6, slip=0.1, height=30, normal=(1, -2, 3)),
}
STILL = ("v", "a", "tau", "v_joints", "a_known", "tau_known", "v_ref", "a_ref")


@cache
def robot(name: str) -> linkwork.Robot:
    own = linkwork.load((TREES | LOOPS).get(name, name))
    if name == "surrounded":
        own = own.with_forces(SURROUNDINGS)
        own = linkwork.Robot(replace(own.model, soft_limits=SoftLimits(50, 4), friction_width=0.1))
    return own


@cache
def state(name: str, at: str = "anywhere") -> dict[str, np.ndarray]:
    """Of a tree at random, quaternions of any length, or at rest in the middle; of a mechanism loops closed."""
    own = robot(name)
    vectors = random_vectors(own.model, 1)
    if own.model.permanent:
        vectors["q"] = np.array(own.home)
        if name in ASSEMBLED:
            vectors["q"] = own.assemble(independent(own, vectors["q"], 0.02 * vectors["v"])).require()
    if at == "rest":
        vectors |= {key: np.zeros_like(vectors[key]) for key in STILL}
        vectors["q"] = np.array(own.home) if own.model.permanent else own.coordinates.neutral()
    return vectors


def tangent(name: str, q: np.ndarray) -> np.ndarray:
    """dq (nq, nv) per independent velocity."""
    own, model = robot(name), robot(name).model
    if name in TREES and not model.has_mimic:
        places = Places(TREES[name], joint_order(own.coordinates.velocity_names))
        return np.array([places.rates(q, unit) for unit in np.eye(model.nv)]).T
    G = np.eye(model.nv)
    if model.permanent:  # the rates of the loops vanish
        J = np.array([evaluate(model, "loop_rates", q, unit) for unit in np.eye(model.coordinates.nv)]).T
        known = list(model.mobility.independent)
        others = [k for k in range(model.coordinates.nv) if k not in known]
        G = np.zeros((model.coordinates.nv, model.nv))
        G[known] = np.eye(model.nv)
        G[others] = -np.linalg.lstsq(J[:, others], J[:, known], rcond=None)[0]
    return own.coordinates.tangent(q) @ G


def options(name: str, quantity: str) -> dict[str, str]:
    frame = "tool" if name in TREES or name in LOOPS else list(robot(name).model.frames)[-1]
    return {"frame": frame} if QUANTITIES[quantity].of_frame else {}


@cache
def compiled(name: str, quantity: str) -> Function:
    return linkwork.compile(robot(name), quantity, backend="interpreter", **options(name, quantity))


def run(function: Function, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    results = interpret(function.program, [given[port.name] for port in function.program.inputs])
    return dict(zip([port.name for port in function.program.outputs], results, strict=True))


def plain(name: str, quantity: str, inputs: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The outputs by the formulation; of a regressor, whose columns are chosen elsewhere, by the program."""
    if quantity == "regressor":
        return tuple(interpret(compiled(name, quantity).program, inputs))
    found = evaluate(robot(name).model, quantity, *inputs, **options(name, quantity))
    return found if isinstance(found, tuple) else (found,)


def assert_derivatives(name: str, quantity: str, coordinates: str = "tangent", at: str = "anywhere") -> None:
    function, given = compiled(name, quantity), state(name, at)
    found = run(function.derivative(coordinates=coordinates), given)
    assert len(found) == len(function.program.inputs) * len(function.program.outputs)
    for k, port in enumerate(function.program.inputs):
        straight = port.name != "q" or coordinates == "ambient"
        directions = np.eye(port.size) if straight else tangent(name, given["q"])
        inputs = [np.broadcast_to(given[p.name], (directions.shape[1], *p.shape)) for p in function.program.inputs]
        inputs[k] = inputs[k] + 1j * STEP * directions.T.reshape(directions.shape[1], *port.shape)
        for output, value in zip(function.program.outputs, plain(name, quantity, inputs), strict=True):
            exact = np.moveaxis(np.imag(value), 0, -1) / STEP
            exact = exact if port.shape else exact[..., 0]
            assert_close(found[f"d{output.name}_d{port.name}"], exact, scale=1, tolerance=1e-10)


@pytest.mark.parametrize("name", (*list(TREES)[:2], "follows", *BUNDLED, *PARALLEL, "two loops"))
def test_every_quantity(name: str):
    asked = []
    for quantity in QUANTITIES:
        if quantity.endswith("_derivatives") or quantity == "assemble":  # tested where they are
            continue
        try:
            compiled(name, quantity)
        except LinkworkError:  # a robot does not have them all
            continue
        assert_derivatives(name, quantity)
        asked.append(quantity)
    assert {"forward_dynamics", "kinetic_energy", "jacobian", "bias"} <= {*asked}


@pytest.mark.parametrize("name", ("half driven", "friction", "surrounded", "springs", "floating", "balls"))
@pytest.mark.parametrize("quantity", ("forward_dynamics", "hybrid_dynamics", "potential_energy", "jacobian_drift"))
def test_what_joints_and_surroundings_do(name: str, quantity: str):
    assert_derivatives(name, quantity)


@pytest.mark.parametrize("name", ("floating, helical, planar", "ball, universal, cylindrical", "two loops"))
def test_along_the_numbers_themselves(name: str):
    for quantity in ("forward_dynamics", "pose"):
        assert_derivatives(name, quantity, "ambient")


@pytest.mark.parametrize("name", (*TREES, "two loops"))
def test_at_rest_in_the_middle(name: str):
    """Where speeds, turns and stretches are zero, whose roots have no slope."""
    for quantity in ("forward_dynamics", "kinetic_energy", "potential_energy", "momentum"):
        assert_derivatives(name, quantity, at="rest")


@pytest.mark.parametrize("name", ("floating, helical, planar", "ball on a floating base"))
def test_a_quaternion_and_its_negative_are_the_same_turn(name: str):
    given, coordinates = state(name), robot(name).coordinates
    other = given["q"].copy()
    for at in coordinates.quaternions:
        other[at] *= -1.7
    assert coordinates.quaternions
    for quantity in ("forward_dynamics", "potential_energy"):
        made = compiled(name, quantity).derivative()
        found, expected = run(made, given | {"q": other}), run(made, given)
        for key, value in expected.items():
            assert_close(found[key], value, tolerance=1e-10)


@pytest.mark.parametrize("name", ASSEMBLED)
def test_along_mechanisms_put_together_again(name: str):
    """Central differences of fourth order: every position is assembled anew from its independent joints."""
    own, given, h = robot(name), state(name), 1e-3
    steps = h * np.eye(own.nv)
    steps = np.concatenate([2 * steps, steps, -steps, -2 * steps])
    q = own.assemble(independent(own, given["q"], steps), np.broadcast_to(given["q"], (len(steps), own.nq))).require()
    for quantity in ("forward_dynamics", "pose"):
        function = compiled(name, quantity)
        found = run(function.derivative("q"), given)
        for output, values in run(function, given | {"q": q}).items():
            twice, once, less, least = values.reshape(4, own.nv, *values.shape[1:])
            slope = np.moveaxis((8 * (once - less) - (twice - least)) / (12 * h), 0, -1)
            assert_close(found[f"d{output}_dq"], slope, scale=1, tolerance=1e-7)


# -- other inputs ------------------------------------------------------------------------------------------------------

LOADED = {
    "tree": ("ball, universal, cylindrical", "tool"),
    "floating": ("floating, helical, planar", "tool"),
    "loop": ("four-bar", "coupler_link"),
}


@pytest.mark.parametrize("case", LOADED)
@pytest.mark.parametrize("quantity", ("forward_dynamics", "bias"))
def test_by_wrenches_parameters_and_payload(case: str, quantity: str):
    """Complex steps of the program; forces are linear in all three but where accelerations are asked for."""
    name, frame = LOADED[case]
    own, rng = robot(name), np.random.default_rng(4)
    numbers = ["parameters", f"payload:{frame}"]
    function = linkwork.compile(own, quantity, backend="interpreter", wrenches=[frame], inputs=numbers)
    payload = function.program.inputs[-1].name
    given = state(name) | {
        "wrenches": rng.normal(size=(1, 6)),
        "parameters": np.array(own.model.parameters(), float),
        payload: np.array([0.7, 0.1, -0.2, 0.05, 0.02, 0.001, 0.002, 0.03, -0.001, 0.04]),
    }
    wrt = ("wrenches", "parameters", payload, "q")
    found = run(function.derivative(wrt), given)
    (output,) = function.program.outputs
    assert list(found) == [f"d{output.name}_d{x}" for x in wrt]
    for port in function.program.inputs:
        if port.name not in wrt:
            continue
        moves = tangent(name, given["q"]).T if port.name == "q" else np.eye(port.size).reshape(port.size, *port.shape)
        batch = {key: np.broadcast_to(value, (len(moves), *value.shape)) for key, value in given.items()}
        batch[port.name] = batch[port.name] + 1j * STEP * moves
        (value,) = run(function, batch).values()
        slope = np.moveaxis(value.imag / STEP, 0, -1)
        slope = slope if port.name == "q" else slope.reshape((*output.shape, *port.shape))
        assert_close(found[f"d{output.name}_d{port.name}"], slope, scale=1, tolerance=1e-10)
    if quantity == "bias":  # the regressor, and the Jacobian of the frame
        J = evaluate(own.model, "jacobian", given["q"], frame=frame, axes="local")
        assert_close(found["db_dwrenches"][:, 0], -J.T, scale=1)


# -- second derivatives ------------------------------------------------------------------------------------------------


def second_differences(name: str, quantity: str, wrt: tuple[str, ...]) -> np.ndarray:
    """Of the first output at integrate(q, d), v + e, ... by all steps d, e, ...: in one direction by complex steps, in
    the other by differences of fourth order; two last axes."""
    own, given, h = robot(name), state(name), 1e-3
    ports = compiled(name, quantity).program.inputs
    sizes = [own.nv if x == "q" else given[x].size for x in wrt]
    n = sum(sizes)
    steps = h * np.array([2, 1, -1, -2])[:, None, None, None] * np.eye(n)[:, None] + 1j * STEP * np.eye(n)
    flat = steps.reshape(-1, n)
    parts = dict(zip(wrt, np.split(flat, np.cumsum(sizes)[:-1], axis=1), strict=True))
    inputs = []
    for port in ports:
        x = np.broadcast_to(given[port.name], (len(flat), port.size))
        if port.name == "q" and "q" in wrt:
            x = np.stack(np.broadcast_arrays(*own.coordinates.integrate([*x.T], [*parts["q"].T])), axis=-1)
        elif port.name in wrt:
            x = x + parts[port.name]
        inputs.append(x)
    slopes = plain(name, quantity, inputs)[0].imag / STEP
    twice, once, less, least = slopes.reshape(4, n, n, *slopes.shape[1:])
    return np.moveaxis((8 * (once - less) - (twice - least)) / (12 * h), (0, 1), (-2, -1))


SECOND = [
    (name, quantity)
    for name in ("floating, helical, planar", "ball, universal, cylindrical", "follows", "flexible-arm")
    for quantity in ("kinetic_energy", "potential_energy", "center_of_mass")
]
SECOND += [(name, "forward_dynamics") for name in ("half driven", "flexible-arm", "planar2r")]
SECOND += [("ball on a floating base", "bias")]


@pytest.mark.parametrize(("name", "quantity"), SECOND, ids=lambda text: text)
def test_hessians(name: str, quantity: str):
    function, given = compiled(name, quantity), state(name)
    wrt = tuple(port.name for port in function.program.inputs)
    found = run(function.hessian(), given)
    expected = second_differences(name, quantity, wrt)
    output = function.program.outputs[0]
    starts = np.cumsum([0, *(robot(name).nv if x == "q" else given[x].size for x in wrt)])
    rng = np.random.default_rng(5)
    steps = [rng.normal(size=end - start) for start, end in pairwise(starts)]
    bar = rng.normal(size=output.shape)
    more = {f"d{x}": step for x, step in zip(wrt, steps, strict=True)} | {f"{output.name}_bar": bar}
    product = run(function.hvp(), given | more)
    for i, a in enumerate(wrt):
        whole = expected[..., starts[i] : starts[i + 1], :]
        direct = np.tensordot(bar, whole, bar.ndim) @ np.concatenate(steps)
        assert_close(product[f"{a}_bar"], direct, scale=10, tolerance=1e-9)
        for j, b in enumerate(wrt[i:], i):
            block = found[f"d2{output.name}_d{a}_d{b}"]
            assert_close(block, whole[..., starts[j] : starts[j + 1]], scale=10, tolerance=1e-9)
            if a == b:
                assert np.array_equal(block, block.swapaxes(-1, -2))


@pytest.mark.parametrize("name", ("half driven", "four-bar", "two loops"))
def test_hessians_are_derivatives_of_gradients(name: str):
    """Where independent velocities are rates of positions, loops closed or not, steps commute."""
    for quantity in ("potential_energy", "kinetic_energy"):
        function = compiled(name, quantity)
        wrt = [port.name for port in function.program.inputs]
        gradient, found = function.derivative(), run(function.hessian(), state(name))
        (T,) = [port.name for port in function.program.outputs]
        nested = run(gradient.derivative(), state(name))
        for k, a in enumerate(wrt):
            for b in wrt[k:]:
                assert_close(found[f"d2{T}_d{a}_d{b}"], nested[f"dd{T}_d{a}_d{b}"], scale=1, tolerance=1e-10)


def test_springs_of_balls_at_rest():
    """The energy of a ball joint's spring is smooth where its turn is zero: its Hessian there is the stiffness."""
    link = linkwork.model.Link("arm", describe(Recipe()).links[1].inertia)
    joint = linkwork.model.JointDescription("ball", "spherical", "base", "arm", stiffness=3.0)
    ball = Description("ball", (linkwork.model.Link("base"), link), (joint,), gravity=(0, 0, 0))
    for sign in (1, -1):
        for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-6)):
            V = linkwork.compile(linkwork.load(ball), "potential_energy", dtype=dtype)
            q = np.array([0, 0, 0, sign], dtype)
            assert V(q) == 0 and not V.derivative()(q).any()
            assert_close(V.hessian()(q), 3 * np.eye(3), tolerance=tolerance)
