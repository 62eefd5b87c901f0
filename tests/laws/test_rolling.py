"""What rolls, slides and is geared: against Pinocchio's tree and least squares, textbooks, and laws of motion."""

import numpy as np
import pytest

from linkwork.constraints import LoopEquations
from support.evaluate import assert_close, evaluate
from support.random_loops import closed_model
from support.rolling import Rolling, rolling_mechanism


@pytest.mark.parametrize(
    "kinds, contacts, geared",
    [
        (("revolute", "spherical"), ("wheel",), False),
        (("universal", "revolute", "revolute"), ("blade", "wheel"), False),
        (("planar", "revolute", "prismatic", "helical"), ("omni", "blade"), True),
        (("floating", "revolute", "revolute"), ("wheel", "wheel", "glide"), False),
        (("revolute", "prismatic", "revolute", "cylindrical"), ("wheel", "blade", "omni"), True),
    ],
)
def test_against_pinocchio(kinds, contacts, geared):
    """Leaning wheels on planes that other links carry; equations, their drift, accelerations, forces, motors."""
    description = rolling_mechanism(len(kinds) + len(contacts), kinds, contacts, geared)
    model, reference = closed_model(description), Rolling(description)
    rng = np.random.default_rng(1)
    q = np.array(model.home)
    anyhow = rng.uniform(-1, 1, model.n_leading)  # that slips
    equations = LoopEquations.at(model, q.tolist())
    values, J, drift = reference.rows(q, anyhow)
    assert_close(np.array(equations.residual, float), values, tolerance=1e-12, scale=1)
    assert_close(np.array(equations.J, float), J, tolerance=1e-12, scale=1)
    assert_close(
        np.array(equations.drift(anyhow.tolist()), float), drift, tolerance=1e-11, scale=1 + np.abs(drift).max()
    )
    v, a, tau = (rng.uniform(-1, 1, n) for n in (model.nv, model.nv, len(model.mobility.forced)))
    rates = evaluate(model, "joint_velocities", q, v)
    assert_close(J @ rates, 0 * drift, tolerance=1e-12, scale=np.abs(rates).max())
    forces = np.zeros(model.n_leading)
    forces[list(model.mobility.forced)] = tau
    expected, _ = reference.solve(q, rates, accelerations={}, forces=forces, unknown=[])
    found, held = evaluate(model, "constrained_dynamics", q, rates, tau)
    assert_close(found, expected, tolerance=1e-9, scale=1 + np.abs(expected).max())
    left = reference.inertia_matrix(q) @ expected + reference.nonlinear(q, rates) - forces
    assert_close(J.T @ held, left, tolerance=1e-9, scale=1 + np.abs(left).max())
    own = list(model.mobility.independent)
    assert_close(
        evaluate(model, "forward_dynamics", q, v, tau), expected[own], tolerance=1e-9, scale=1 + np.abs(expected).max()
    )
