"""Every method of the catalog for trees, on chains of every pattern of joints and on the bundled arms.

What is particular to a paper's methods, and the identities it states, stand in the file of its name.
"""

import numpy as np
import pytest

import linkwork
from linkwork.formulations import METHODS, Method
from linkwork.formulations.crba import crba
from linkwork.formulations.rnea import rnea
from linkwork.io.urdf_writer import write_urdf
from linkwork.model import Model, build, grouped
from support.evaluate import assert_close, deviation, evaluate
from support.pinocchio_robot import PinocchioRobot
from support.random_robots import PATTERNS, RELATIONS, random_state, serial

INPUTS = {
    "inverse_dynamics": ("q", "v", "a"),
    "inertia_matrix": ("q",),
    "bias": ("q", "v"),
    "forward_dynamics": ("q", "v", "tau"),
}
MIXES = (  # relations that the joints take in turn
    ("skew",),
    ("parallel",),
    ("antiparallel", "coaxial"),
    ("parallel", "coaxial", "right angle"),
    ("coordinate", "antiparallel"),
    ("coaxial", "skew", "1e-6"),
    ("skew", "coaxial", "antiparallel", "skew", "parallel"),
    RELATIONS,
)
ARMS = ("planar2r", "scara", "puma560", "stanford", "rx90", "ur5e", "panda")
TOLERANCE = 1e-13


def able(model: Model, quantity: str) -> list[Method]:
    return [method for method in METHODS if method.quantity == quantity and not method.refusal(model)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern(pattern: str, deviations):
    """Against Newton-Euler and composite bodies, and these against Pinocchio; with grouped parameters too."""
    for seed, relations in enumerate(MIXES):
        description = serial(pattern, seed, relations, fixed=seed == 3)
        model = build(description)
        q, v, a = random_state(model, seed)
        peer = PinocchioRobot(write_urdf(description), model)
        at = {"q": q.tolist(), "v": v.tolist(), "a": a.tolist()}
        at["tau"] = rnea(model, at["q"], at["v"], at["a"])
        M, b = crba(model, at["q"]), rnea(model, at["q"], at["v"], [0] * model.nv)
        assert_close(peer.inverse_dynamics(q, v, a), at["tau"])
        assert_close(peer.inertia_matrix(q), M)
        assert_close(peer.bias(q, v), b)
        assert_close(peer.forward_dynamics(q, v, np.array(at["tau"])), a, tolerance=1e-12 + 1e-15 * np.linalg.cond(M))
        expected = {"inverse_dynamics": at["tau"], "inertia_matrix": M, "bias": b, "forward_dynamics": at["a"]}
        bodies = grouped(model)
        for quantity, inputs in INPUTS.items():
            allowed = 1e-12 + 1e-15 * np.linalg.cond(M) if quantity == "forward_dynamics" else TOLERANCE
            for method in able(model, quantity):
                for seen in (model, bodies) if method.grouped else (model,):
                    off = deviation(method.function(seen, *(at[name] for name in inputs)), expected[quantity])
                    deviations(f"{quantity}, {method.name}", off)
                    assert off <= allowed, f"{quantity}, {method.name}: {relations}"


@pytest.mark.parametrize("quantity", ("inverse_dynamics", "inertia_matrix", "bias"))
@pytest.mark.parametrize("name", ARMS)
def test_programs_of_bundled_arms(name: str, quantity: str):
    """Inertial parameters are grouped before compiling where the method allows."""
    robot = linkwork.load(name)
    state = np.random.default_rng(1).uniform(-2, 2, (3, 5, robot.nv))[: len(INPUTS[quantity])]
    expected = evaluate(robot.model, quantity, *state)
    for method in able(robot.model, quantity):
        for parameters in ("minimal", "standard"):
            function = robot.compile(quantity, method=method.name, parameters=parameters, backend="interpreter")
            assert deviation(function(*state), expected) <= 1e-12, f"{method.name}, {parameters}"


@pytest.mark.parametrize("quantity", ("inverse_dynamics", "inertia_matrix", "bias"))
def test_batches_and_complex_numbers(quantity: str):
    model = build(serial("RRPRR", 2, ("skew", "parallel")))
    state = np.random.default_rng(3).uniform(-2, 2, (3, 4, 5))[: len(INPUTS[quantity])]
    for x in (state, state + 0.3j):
        expected = evaluate(model, quantity, *x)
        for method in able(model, quantity):
            found = evaluate(model, quantity, *x, method=method.name)
            assert deviation(found, expected) <= 1e-12, method.name
            assert_close(found[2], evaluate(model, quantity, *x[:, 2], method=method.name))
