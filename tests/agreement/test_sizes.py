"""The smallest and the largest: robots without joints, and a chain of two hundred."""

import numpy as np
import pytest

import linkwork
from linkwork.model import Description, Link
from support.evaluate import assert_close, evaluate
from support.pinocchio_robot import PinocchioRobot
from support.random_robots import Recipe, describe, inertia, random_state

BODY = Description("stone", (Link("stone", inertia(np.random.default_rng(0))),), ())
SHAPES = {
    "inverse_dynamics": (0,),
    "forward_dynamics": (0,),
    "bias": (0,),
    "gravity": (0,),
    "inertia_matrix": (0, 0),
    "coriolis_matrix": (0, 0),
    "kinetic_energy": (),
    "potential_energy": (),
    "pose": (4, 4),
    "jacobian": (6, 0),
    "jacobian_drift": (6,),
}


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize("quantity", SHAPES)
def test_no_joints(quantity: str, backend: str):
    robot = linkwork.load(BODY)
    frame = {"frame": "stone"} if quantity.startswith(("pose", "jacobian")) else {}
    function = linkwork.compile(robot, quantity, backend=backend, **frame)
    for batch in ((), (3,), (2, 3)):
        result = function(*(np.zeros((*batch, 0)) for _ in function.program.inputs))
        assert result.shape == batch + SHAPES[quantity]
        expected = np.eye(4) if quantity == "pose" else 0
        assert (result == expected).all()


@pytest.mark.parametrize("quantity", ["center_of_mass", "momentum"])
def test_nothing_that_moves_has_no_center_of_mass(quantity: str):
    with pytest.raises(linkwork.LinkworkError, match="no moving body has a mass"):
        linkwork.compile(linkwork.load(BODY), quantity)


def test_a_stone_falls():
    robot = linkwork.load(BODY, base="floating", gravity=(0, 0, -9.81))
    q, v = np.array([0, 0, 5, 0, 0, 0, 1.0]), np.zeros(6)
    mass, center = BODY.links[0].inertia.mass, BODY.links[0].inertia.center
    assert_close(robot.forward_dynamics(q, v, v), np.array([0, 0, -9.81, 0, 0, 0]))
    weight = np.array([0, 0, 9.81 * mass])
    assert_close(robot.gravity(q), np.concatenate([weight, np.cross(center, weight)]))
    assert_close(robot.center_of_mass(q), center + np.array([0, 0, 5]))


def test_two_hundred_joints(tmp_path):
    robot = linkwork.load(describe(Recipe(seed=1, joints=200, relations=("skew", "right angle", "1e-6", "parallel"))))
    robot.write(tmp_path / "chain.urdf")
    model = robot.model
    peer = PinocchioRobot((tmp_path / "chain.urdf").read_text(), model)
    q, v, a = random_state(model)
    tau = peer.inverse_dynamics(q, v, a)
    assert_close(evaluate(model, "inverse_dynamics", q, v, a), tau, tolerance=1e-11)
    assert_close(evaluate(model, "inertia_matrix", q), peer.inertia_matrix(q))
    found = evaluate(model, "forward_dynamics", q, v, tau, method="aba")
    # Rounding is enlarged by the condition of M, which is about 1e8 for such a chain.
    assert_close(found, a, tolerance=1e-6)
    assert_close(robot.inverse_dynamics(q, v, a), tau, tolerance=1e-11)
