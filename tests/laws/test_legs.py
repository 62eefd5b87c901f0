"""Robots on their feet: dynamics in every support against a solution of the KKT equations with Pinocchio's tree, impacts,
gaits and slides against closed forms and published numbers."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import io
from linkwork.model import Foot, Placement
from support.evaluate import rotation_of
from support.mixed_trees import MixedRecipe, mixed
from support.pinocchio_tree import PinocchioTree

REL = 1e-10  # of solutions of systems of up to forty unknowns


def with_feet(seed: int, *soles: bool):
    """A floating tree of mixed joints, with feet at frames askew on its last links: soles or points."""
    rng = np.random.default_rng(seed)
    description = mixed(MixedRecipe(seed, ("revolute", "universal", "prismatic", "spherical", "revolute"), 3, True))
    frames, feet = dict(description.frames), []
    for k, sole in enumerate(soles):
        frames[f"foot{k}"] = f"link{5 - k}", Placement(rotation_of(rng.normal(size=4)), rng.uniform(-0.3, 0.3, 3))
        feet.append(Foot(f"f{k}", f"foot{k}", (0.2, 0.1) if sole else ()))
    return replace(description, frames=frames, feet=tuple(feet))


class KKT:
    """M, bias and rows of the feet from Pinocchio; equations by least squares, which take what is the shortest."""

    def __init__(self, description, q, v):
        self.tree, self.feet = PinocchioTree(description), description.feet
        self.M, self.h = self.tree.inertia_matrix(q), self.tree.bias(q, v)
        friction = {joint.name: joint for joint in description.joints}
        for name, at in self.tree.places.v.items():
            if name in friction:
                self.h[at] += friction[name].coulomb * np.sign(v[at]) + friction[name].viscous * v[at]
        self.J = [self.tree.jacobian(q, foot.frame)[: 6 if foot.sole else 3] for foot in self.feet]
        self.gamma = [self.tree.jacobian_drift(q, v, foot.frame)[: len(J)] for foot, J in zip(self.feet, self.J)]
        self.scales = [
            np.array([2.0] * 3 + [np.sqrt(np.mean(np.square(foot.size)))] * 3) if foot.sole else np.ones(3)
            for foot in self.feet
        ]

    def rows(self, contacts):
        """Of the feet in contact, scaled so that short multipliers are least forces, and their drifts."""
        on = [k for k, c in enumerate(contacts) if c]
        scales = [contacts[k] * self.scales[k] for k in on]
        J = np.concatenate([s[:, None] * self.J[k] for k, s in zip(on, scales)] or [np.zeros((0, len(self.h)))])
        return on, J, np.concatenate([s * self.gamma[k] for k, s in zip(on, scales)] or [[]])

    def forces(self, on, contacts, x):
        forces, at = np.zeros((len(self.feet), 6)), 0
        for k in on:
            n = len(self.scales[k])
            forces[k, :n] = contacts[k] * self.scales[k] * x[at : at + n]
            at += n
        return forces

    def held(self, contacts, right, wanted):
        """x and forces with M x - J^T f = right and J x = wanted (of the feet that are on)."""
        on, J, _ = self.rows(contacts)
        L = np.linalg.cholesky(self.M)
        Z, y = np.linalg.solve(L, J.T).T, np.linalg.solve(L, right)
        f = np.linalg.pinv(Z.T, 1e-9) @ np.linalg.pinv(Z, 1e-9) @ (wanted - Z @ y)
        return np.linalg.solve(self.M, right + J.T @ f), self.forces(on, contacts, f)

    def forward(self, tau, contacts):
        return self.held(contacts, tau - self.h, -self.rows(contacts)[2])


def supports(feet):
    return np.array([*itertools.product((0.0, 1.0), repeat=len(feet))])


CASES = {
    "biped": lambda: io.read("biped"),
    "quadruped": lambda: io.read("quadruped"),
    "sole and points": lambda: with_feet(1, True, False, False),
    "soles": lambda: with_feet(2, True, True),
    "points": lambda: with_feet(3, False, False, False),
}


@pytest.mark.parametrize("case", CASES)
def test_every_support_as_the_kkt_equations_have_it(case):
    """Forward and inverse dynamics and impacts in all subsets of feet, weighted ones too; one compiled function each."""
    description = CASES[case]()
    robot, rng = linkwork.load(description), np.random.default_rng(0)
    q = robot.coordinates.random(rng, 1)[0]
    before, tau = rng.normal(size=(2, robot.nv))
    for contacts in [*supports(description.feet), rng.uniform(0.5, 2, len(description.feet))]:
        v = robot.impact(q, before, contacts, 0 * contacts).v_after
        kkt = KKT(description, q, v)
        found, expected = robot.contact_dynamics(q, v, tau, contacts), kkt.forward(tau, contacts)
        for x, y in zip(found, expected):
            np.testing.assert_allclose(x, y, rtol=REL, atol=REL * max(1, np.abs(y).max()))
        own = robot.contact_inverse_dynamics(q, v, found.a, contacts)
        again = robot.contact_dynamics(q, v, own.tau, contacts)
        np.testing.assert_allclose(again.a, found.a, rtol=REL, atol=REL * max(1, np.abs(found.a).max()))
        on, J, _ = kkt.rows(contacts)
        base = np.linalg.lstsq(J[:, :6].T, (kkt.M @ found.a + kkt.h)[:6], rcond=1e-9)[0]
        if np.linalg.matrix_rank(J[:, :6], 1e-9) == 6:  # the feet can bear the base, by the least forces
            np.testing.assert_allclose(own.tau[:6], 0, atol=REL * np.abs(own.tau).max())
            forces = kkt.forces(on, contacts, base)
            np.testing.assert_allclose(own.forces, forces, rtol=REL, atol=REL * np.abs(forces).max())
        dependent = np.linalg.matrix_rank(J, 1e-9) < len(J)  # then feet cannot bounce each as it likes
        e = rng.uniform(0, 1, len(description.feet)) * (not dependent)
        after, impulses = robot.impact(q, before, contacts, e)
        normal = np.concatenate([np.r_[0, 0, -e[k], np.zeros(len(kkt.J[k]) - 3)] for k in on] or [[]])
        expected = kkt.held(contacts, kkt.M @ before, normal * (J @ before))
        np.testing.assert_allclose(after, expected[0], rtol=REL, atol=REL * max(1, np.abs(expected[0]).max()))
        np.testing.assert_allclose(impulses, expected[1], rtol=REL, atol=REL * max(1, np.abs(expected[1]).max()))
