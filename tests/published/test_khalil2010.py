"""Khalil 2010: its six-vector equations as matrices, beside the code; what print has wrong; what counts others reach.

``SixVectors`` holds (9)-(17) and (34)-(43) in NumPy, 6x6 matrices and all, so that a reading of the text can be tried.
"""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.formulations import executed_operations, find_method
from linkwork.formulations.crba import crba
from linkwork.formulations.khalil import khalil, khalil_direct
from linkwork.formulations.rnea import rnea
from linkwork.published.chains import generic_chain
from linkwork.published.table import Polynomial, fit
from linkwork.spatial import Force, Vector
from support.evaluate import assert_close, cross_matrix, deviation
from support.random_robots import Recipe, describe, random_state

SEEDS = range(4)


def hat(v) -> np.ndarray:
    return cross_matrix(v)  # (24)


class SixVectors:
    """The state of a tree in the paper's matrices, link 0 the base."""

    def __init__(self, model, q, v):
        self.model, self.v = model, v
        self.T, self.aa, self.gamma, self.JJ, self.V = {}, {}, {}, {}, {0: np.zeros(6)}
        self.R, self.P, self.w_i = {}, {}, {}
        for j, i in model.outward():
            placed = model.transform(j, list(q))
            R = np.array([list(placed.outward(Vector(*e))) for e in np.eye(3)])  # jR_i: its rows are the axes of j in i
            P = np.array(list(placed.origin))
            sigma = float(model.joint(j).prismatic)
            a_j, qd = np.array([0, 0, 1.0]), v[j - 1]
            self.R[j], self.P[j] = R, P
            self.aa[j] = np.array([0, 0, sigma, 0, 0, 1 - sigma])  # (16)
            self.T[j] = np.block([[R, -R @ hat(P)], [np.zeros((3, 3)), R]])  # (17)
            w = self.V[i][3:]
            self.w_i[j] = R @ w  # (18)
            linear = R @ hat(w) @ hat(w) @ P + 2 * sigma * hat(self.w_i[j]) @ a_j * qd
            self.gamma[j] = np.array([*linear, *((1 - sigma) * hat(self.w_i[j]) @ a_j * qd)])  # (15), (34)
            self.V[j] = self.T[j] @ self.V[i] + qd * self.aa[j]  # (13)
            inertia = model.inertia(j)
            MS, J = np.array(list(inertia.h)), np.array([list(row) for row in inertia.J.rows])
            self.JJ[j] = np.block([[inertia.mass * np.eye(3), -hat(MS)], [hat(MS), J]])  # (11)

    def spin(self, j) -> np.ndarray:
        """[w x (w x MS); w x (J w)]"""
        w, MS = self.V[j][3:], np.array(list(self.model.inertia(j).h))
        J = np.array([list(row) for row in self.model.inertia(j).J.rows])
        return np.array([*(hat(w) @ hat(w) @ MS), *(hat(w) @ J @ w)])

    def inverse(self, qdd, f_e, *, turn_gamma=False, transpose=True):
        """Gamma, joint wrenches and accelerations by (9), (14), (25). ``turn_gamma`` takes iw_i for jw_i in the second
        row of (15), ``transpose=False`` kTj for kTj^T in (25): as the text at hand has them."""
        Vd, f = {0: np.array([*-np.array(list(self.model.gravity)), 0, 0, 0])}, {}
        for j, i in self.model.outward():
            gamma = self.gamma[j].copy()
            if turn_gamma:
                gamma[3:] = (self.aa[j][5] * self.v[j - 1]) * hat(self.V[i][3:]) @ np.array([0, 0, 1.0])
            Vd[j] = self.T[j] @ Vd[i] + gamma + qdd[j - 1] * self.aa[j]  # (14)
        for j, _ in self.model.inward():
            f[j] = self.JJ[j] @ Vd[j] + self.spin(j) + f_e[j]  # (9), (25)
            for k, i in self.model.outward():
                if i == j:
                    f[j] = f[j] + (self.T[k].T if transpose else self.T[k]) @ f[k]
        Ia = [body.joint.rotor_inertia for body in self.model.bodies]
        return np.array([f[j] @ self.aa[j] + Ia[j - 1] * qdd[j - 1] for j in f])[::-1], f, Vd

    def direct(self, Gamma, f_e, *, transposed=False):
        """qdd and the joint wrenches by (35)-(43); ``transposed`` takes jTi^T for jTi in (41)-(43), as in the text."""
        JJ = dict(self.JJ)
        beta = {j: -f_e[j] - self.spin(j) for j in JJ}  # (35)
        H, K, alpha = {}, {}, {}
        for j, i in self.model.inward():
            a = self.aa[j]
            H[j] = a @ JJ[j] @ a + self.model.joint(j).rotor_inertia  # (36)
            K[j] = JJ[j] - np.outer(JJ[j] @ a, a @ JJ[j]) / H[j]  # (37)
            alpha[j] = K[j] @ self.gamma[j] + JJ[j] @ a / H[j] * (Gamma[j - 1] + a @ beta[j]) - beta[j]  # (38)
            if i:
                beta[i] = beta[i] - self.T[j].T @ alpha[j]  # (39)
                JJ[i] = JJ[i] + self.T[j].T @ K[j] @ self.T[j]  # (40)
        qdd, f = np.zeros(len(JJ)), {}
        Vd = {0: np.array([*-np.array(list(self.model.gravity)), 0, 0, 0])}
        for j, i in self.model.outward():
            a, carried = self.aa[j], (self.T[j].T if transposed else self.T[j]) @ Vd[i]
            force = Gamma[j - 1] + a @ beta[j] - a @ JJ[j] @ (carried + self.gamma[j])
            qdd[j - 1] = force / H[j]  # (41)
            f[j] = K[j] @ carried + alpha[j]  # (42)
            Vd[j] = carried + a * qdd[j - 1] + self.gamma[j]  # (43)
        return qdd, f, Vd


def tree(seed: int):
    """A random tree with rotors, its state, and f_e: what every link exerts on its environment."""
    recipe = Recipe(seed=seed, joints=6, branches=True, kinds=("revolute", "prismatic"), extras=True)
    model = linkwork.load(describe(recipe), friction=False).model
    q, v, a = (x.tolist() for x in random_state(model, seed))
    rng = np.random.default_rng(seed)
    f_e = {j: rng.normal(size=6) for j in range(1, model.n_bodies + 1)}
    applied = {j: -Force(Vector(*f[:3]), Vector(*f[3:])) for j, f in f_e.items()}
    return model, q, v, a, f_e, applied


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_model(seed: int):
    model, q, v, a, f_e, applied = tree(seed)
    six = SixVectors(model, q, v)
    Gamma, _, _ = six.inverse(a, f_e)
    assert_close(khalil(model, q, v, a, applied), Gamma)
    assert_close(rnea(model, q, v, a, applied), Gamma)


@pytest.mark.parametrize("seed", SEEDS)
def test_direct_model_and_joint_wrenches(seed: int):
    """(42) gives the wrenches of the inverse recursion, (43) its accelerations."""
    model, q, v, a, f_e, applied = tree(seed)
    six = SixVectors(model, q, v)
    Gamma, f, Vd = six.inverse(a, f_e)
    qdd, same_f, same_Vd = six.direct(Gamma, f_e)
    assert_close(qdd, a, tolerance=1e-11)
    assert_close(khalil_direct(model, q, v, Gamma.tolist(), applied), a, tolerance=1e-11)
    for j in f:
        assert_close(same_f[j], f[j], tolerance=1e-11)
        assert_close(same_Vd[j], Vd[j], tolerance=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_inertia_matrix_and_bias_by_the_inverse_model(seed: int):
    """Section 3.3.1, (7), and (8) without its minus sign."""
    model, q, v, a, _, _ = tree(seed)
    n = len(a)
    still, weightless = [0.0] * n, replace(model, gravity=Vector())
    A = np.array([khalil(weightless, q, still, u.tolist()) for u in np.eye(n)]).T
    H = np.array(khalil(model, q, v, still))
    Gamma = np.array(khalil(model, q, v, a))
    assert_close(A, crba(model, q))
    assert_close(A @ a + H, Gamma)  # (7)
    assert_close(np.linalg.solve(A, Gamma - H), a, tolerance=1e-11)  # (8)
    assert deviation(-np.linalg.solve(A, Gamma - H), a) > 1


def test_what_the_text_has_wrong():
    """Each slip shows on some of the trees (not on all: most need a joint behind another)."""
    off = {"(15)": 0.0, "(25)": 0.0, "f_e": 0.0, "(41)": 0.0}
    for seed in SEEDS:
        model, q, v, a, f_e, _ = tree(seed)
        six = SixVectors(model, q, v)
        Gamma, _, _ = six.inverse(a, f_e)
        opposite = {j: -f for j, f in f_e.items()}
        for name, found in (
            ("(15)", six.inverse(a, f_e, turn_gamma=True)[0]),
            ("(25)", six.inverse(a, f_e, transpose=False)[0]),
            ("f_e", six.inverse(a, opposite)[0]),
        ):
            off[name] = max(off[name], deviation(found, Gamma))
        off["(41)"] = max(off["(41)"], deviation(six.direct(Gamma, f_e, transposed=True)[0], np.array(a)))
    assert min(off.values()) > 1e-2, off


# executed (mul, add) on the generic chain of n revolute joints: no angle or length is special
EXECUTED = {
    "khalil": (Polynomial.of(115, -84), Polynomial.of(87, -72)),
    "khalil-kleinfinger": (Polynomial.of(92, -90), Polynomial.of(73, -75)),
    "shared-axes": (Polynomial.of(81, -76), Polynomial.of(70, -69)),
}


@pytest.mark.parametrize("name", EXECUTED)
def test_executed_operations_grow_linearly(name: str):
    """The paper prints no counts, only that the cost is linear in n."""
    chains = {n: generic_chain(n) for n in range(3, 8)}
    counts = {
        n: executed_operations(find_method("inverse_dynamics", name, chain), chain) for n, chain in chains.items()
    }
    measured = tuple(fit({n: c[key] for n, c in counts.items()}, name) for key in ("mul", "add"))
    assert measured == EXECUTED[name]


def test_fewer_operations_than_opensymoro():
    """OpenSYMORO's RX-90 with base parameters, no friction, rotors or wrenches: 273 multiplications, 226 additions."""
    robot = linkwork.load("rx90", friction=False, rotors=False)
    counted = robot.compile("inverse_dynamics", method="shared-axes", backend="interpreter").operations
    assert (counted.mul, counted.add) == (213, 191)
