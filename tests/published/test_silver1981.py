"""Silver 1981 (AIM-622): every equation that states an equality, checked by numbers. Derivatives are complex steps."""

import numpy as np
import pytest

import linkwork
from linkwork.formulations import executed_operations, methods
from linkwork.formulations.kinematics import body_poses
from linkwork.formulations.silver import equalities as eq
from linkwork.formulations.silver import silver
from linkwork.formulations.silver.silver import link_motions
from linkwork.model import Model
from linkwork.program import Port, count, trace
from linkwork.published.chains import generic_chain
from linkwork.published.table import Polynomial, fit
from linkwork.spatial import Matrix, Symmetric, Vector
from support.evaluate import assert_close, cross_matrix, derivative
from support.random_robots import Recipe, describe, random_rotation, random_state

RNG = np.random.default_rng(0)
INDEX = range(3)
CHAINS = [(seed, n) for seed, n in enumerate((1, 2, 3, 4, 5, 6))]


def vector(values) -> Vector:
    return Vector(*values)


def matrix(values) -> Matrix:
    return Matrix(*(Vector(*row) for row in values))


def array(value) -> np.ndarray:
    """Of a Vector, Matrix or Symmetric."""
    return np.array([list(row) for row in value.rows]) if hasattr(value, "rows") else np.array(list(value))


def cloud(shift=0.0) -> list:
    """Point masses that make up a body, about an origin shifted against theirs."""
    rng = np.random.default_rng(3)
    return [(m, Vector(*(r + shift))) for m, r in zip(rng.uniform(0.1, 1, 7), rng.normal(size=(7, 3)), strict=True)]


def turned(W: np.ndarray, w: np.ndarray, t: complex) -> np.ndarray:
    """W of a body that turns with w, a short time t later."""
    return W + t * cross_matrix(w) @ W


# -- section 2 --------------------------------------------------------------------------------------------------


def test_components_of_the_cross_product():
    P = np.array([[[eq.permutation(i, j, k) for k in INDEX] for j in INDEX] for i in INDEX])
    delta = np.eye(3, dtype=int)
    a, b = RNG.normal(size=(2, 3))
    assert_close(np.einsum("ijk,j,k", P, a, b), np.cross(a, b))
    assert (np.einsum("ijk,ijl", P, P) == 2 * delta).all()  # (2.3)
    right = np.einsum("jl,km->jklm", delta, delta) - np.einsum("jm,kl->jklm", delta, delta)
    assert (np.einsum("ijk,ilm->jklm", P, P) == right).all()  # (2.4)


def test_angular_velocity_and_rate_of_rotation():
    W, w, wd = random_rotation(RNG), *RNG.normal(size=(2, 3))
    Wd = eq.rotation_rate(vector(w), matrix(W))
    now, unit = np.array(0.0), np.array(1.0)
    assert_close(array(Wd), derivative(lambda t: turned(W, w, t), now, unit))  # (2.5)
    assert_close(array(eq.angular_velocity(matrix(W), Wd)), w)  # (2.6)
    P = np.array([[[eq.permutation(i, j, k) for k in INDEX] for j in INDEX] for i in INDEX])
    assert_close(0.5 * np.einsum("ijk,jl,kl", P, W, array(Wd)), w)  # (2.6) as printed
    rate = lambda t: array(eq.rotation_rate(vector(w + t * wd), matrix(turned(W, w, t))))  # noqa: E731
    Wdd = eq.rotation_acceleration(vector(w), vector(wd), matrix(W))
    assert_close(array(Wdd), derivative(rate, now, unit))


@pytest.mark.parametrize("shift", [0.0, np.array([0.4, -2.0, 1.1])])
def test_inertia_tensor_and_pseudo_inertia_about_any_point(shift):
    J, tensor = eq.second_moments(cloud(shift)), eq.moments_of_inertia(cloud(shift))  # (2.7), (2.9)
    assert_close(array(eq.inertia_tensor(J)), array(tensor))  # (2.11)
    assert_close(array(eq.pseudo_inertia(tensor)), array(J))  # (2.11)
    W = matrix(random_rotation(RNG))
    turned = eq.in_fixed_axes(W, tensor)
    assert_close(array(eq.pseudo_inertia(turned)), array(eq.in_fixed_axes(W, J)))


def test_kinetic_energies_and_generalized_forces():
    """The rows of the summary table, and the energy of the point masses themselves."""
    W, (w, wd, z) = random_rotation(RNG), RNG.normal(size=(3, 3))
    J, tensor = eq.second_moments(cloud()), eq.moments_of_inertia(cloud())
    fixed = eq.in_fixed_axes(matrix(W), tensor)
    Wd, dW = eq.rotation_rate(vector(w), matrix(W)), eq.rotation_rate(vector(z), matrix(W))
    Wdd = eq.rotation_acceleration(vector(w), vector(wd), matrix(W))
    energy = sum(m * np.sum((array(Wd) @ array(r)) ** 2) / 2 for m, r in cloud())
    assert_close(eq.kinetic_energy_of_rotation(Wd, J), energy)  # (2.8)
    assert_close(eq.kinetic_energy_of_spin(vector(w), fixed), energy)  # (2.10)
    force = sum(m * (array(Wdd) @ array(r)) @ (array(dW) @ array(r)) for m, r in cloud())
    assert_close(eq.generalized_force_of_rotation(dW, J, Wdd), force)
    assert_close(eq.generalized_force_of_spin(vector(z), fixed, vector(w), vector(wd)), force)


# -- section 3: a chain, its links' velocities at the centres of mass, everything in fixed axes ---------------------


class Chain:
    """A random chain at a random state; x stands for (q, qd), and ``dt`` differentiates by time along the motion."""

    def __init__(self, seed: int, n: int):
        self.model = linkwork.load(describe(Recipe(seed=seed, joints=n, relations=("skew", "parallel")))).model
        self.n, (self.q, self.v, self.a) = n, random_state(self.model, seed)
        self.x, self.links = np.concatenate([self.q, self.v]), range(1, n + 1)

    def point(self, i: int) -> Vector:
        return self.model.inertia(i).h * (1 / self.model.inertia(i).mass)

    def partial(self, x, i: int) -> tuple[np.ndarray, np.ndarray]:
        """dv_i/dqd_j and dw_i/dqd_j, one row for each j."""
        columns = eq.partial_velocities(self.model, x[: self.n].tolist(), i, self.point(i))
        return np.array([list(c.linear) for c in columns]), np.array([list(c.angular) for c in columns])

    def velocity(self, x, i: int) -> tuple[np.ndarray, np.ndarray]:
        motion = eq.link_velocity(self.model, x[: self.n].tolist(), x[self.n :].tolist(), i, self.point(i))
        return array(motion.linear), array(motion.angular)

    def tensor(self, x, i: int) -> np.ndarray:
        """I_i about the centre of mass, in fixed axes."""
        body, c = self.model.inertia(i), array(self.point(i))
        W = body_poses(self.model, x[: self.n].tolist())[i].rotation
        central = array(body.J) - body.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return array(W) @ central @ array(W).T

    def energy(self, x) -> np.ndarray:
        """K (3.1)"""
        total = 0
        for i in self.links:
            (v, w), m = self.velocity(x, i), self.model.inertia(i).mass
            total = total + m * v @ v / 2 + w @ self.tensor(x, i) @ w / 2
        return np.asarray(total)

    def dt(self, function) -> np.ndarray:
        return derivative(function, self.x, np.concatenate([self.v, self.a]))

    def dq(self, function) -> np.ndarray:
        return np.array([derivative(function, self.x, e) for e in np.eye(2 * self.n)[: self.n]])

    def dqd(self, function) -> np.ndarray:
        return np.array([derivative(function, self.x, e) for e in np.eye(2 * self.n)[self.n :]])


@pytest.fixture(params=CHAINS, ids=lambda p: f"{p[1]} joints")
def chain(request) -> Chain:
    return Chain(*request.param)


def test_partial_velocities(chain: Chain):
    for i in chain.links:
        dv, dw = chain.partial(chain.x, i)
        assert_close(dv, chain.dqd(lambda x, i=i: chain.velocity(x, i)[0]))  # (3.15)
        assert_close(dw, chain.dqd(lambda x, i=i: chain.velocity(x, i)[1]), scale=1.0)  # (3.16)
        w, W = chain.velocity(chain.x, i)[1], lambda x, i=i: rotation(chain, x, i)
        assert_close(w, array(eq.angular_velocity(matrix(W(chain.x)), matrix(chain.dt(W)))), scale=1.0)  # (3.14)
        position = lambda x, i=i: center(chain, x, i)  # noqa: E731
        assert_close(chain.velocity(chain.x, i)[0], chain.dt(position))  # (3.13)
        assert_close(dv, chain.dq(position))  # (A.1)


def rotation(chain: Chain, x, i: int) -> np.ndarray:
    return array(body_poses(chain.model, x[: chain.n].tolist())[i].rotation)


def center(chain: Chain, x, i: int) -> np.ndarray:
    pose = body_poses(chain.model, x[: chain.n].tolist())[i]
    return array(pose.origin + pose.outward(chain.point(i)))


def test_identities_of_the_derivation(chain: Chain):
    for i in chain.links:
        (_, w), (_, dw), tensor = chain.velocity(chain.x, i), chain.partial(chain.x, i), chain.tensor(chain.x, i)
        dv_dq, dw_dq = (chain.dq(lambda x, i=i, k=k: chain.velocity(x, i)[k]) for k in (0, 1))
        dv_rate, dw_rate = (chain.dt(lambda x, i=i, k=k: chain.partial(x, i)[k]) for k in (0, 1))
        tensor_rate = chain.dt(lambda x, i=i: chain.tensor(x, i))
        tensor_dq = chain.dq(lambda x, i=i: chain.tensor(x, i))
        spin = np.cross(w, tensor @ w)
        assert_close(dv_rate, dv_dq, scale=1.0)  # (3.4)
        assert_close(dw @ tensor_rate @ w, dw @ spin, scale=1.0)  # (3.5)
        assert_close(dw_rate, dw_dq + np.cross(w, dw), scale=1.0)  # (3.6)
        assert_close(np.cross(w, dw) @ tensor @ w, -dw @ spin, scale=1.0)  # (3.7)
        assert_close(np.array([w @ dI @ w / 2 for dI in tensor_dq]), -dw @ spin, scale=1.0)  # (3.10)
        assert_close(array(eq.inertia_rate(vector(w), symmetric(tensor))), tensor_rate, scale=1.0)
        found = np.array([array(eq.inertia_rate(vector(z), symmetric(tensor))) for z in dw])
        assert_close(found, tensor_dq, scale=1.0)


def symmetric(A: np.ndarray) -> Symmetric:
    return Symmetric(A[0, 0], A[0, 1], A[0, 2], A[1, 1], A[1, 2], A[2, 2])


def test_lagrange_becomes_newton_and_euler(chain: Chain):
    """(3.2), (3.8), (3.9) for the derivatives of K, and (3.11) for the joint forces without gravity."""

    def momenta(x):
        total = np.zeros(chain.n)
        for i in chain.links:
            (v, w), (dv, dw) = chain.velocity(x, i), chain.partial(x, i)
            total = total + chain.model.inertia(i).mass * dv @ v + dw @ chain.tensor(x, i) @ w
        return total

    assert_close(momenta(chain.x), chain.dqd(chain.energy))  # (3.2)
    rate, slope, force = np.zeros((3, chain.n))
    for i in chain.links:
        (v, w), (dv, dw), tensor = chain.velocity(chain.x, i), chain.partial(chain.x, i), chain.tensor(chain.x, i)
        m = chain.model.inertia(i).mass
        vd, wd = (chain.dt(lambda x, i=i, k=k: chain.velocity(x, i)[k]) for k in (0, 1))
        dv_dq, dw_dq = (chain.dq(lambda x, i=i, k=k: chain.velocity(x, i)[k]) for k in (0, 1))
        tensor_dq = chain.dq(lambda x, i=i: chain.tensor(x, i))
        rate += m * dv @ vd + m * dv_dq @ v + dw @ tensor @ wd + dw_dq @ tensor @ w
        slope += m * dv_dq @ v + dw_dq @ tensor @ w + np.array([w @ dI @ w / 2 for dI in tensor_dq])
        force += m * dv @ vd + dw @ (tensor @ wd + np.cross(w, tensor @ w))
    scale = np.abs(rate).max()
    assert_close(rate, chain.dt(momenta))  # (3.8)
    assert_close(slope, chain.dq(chain.energy), scale=scale)  # (3.9)
    assert_close(force, rate - slope, scale=scale)  # (3.11)
    weightless = Model("", chain.model.bodies, {}, (), Vector())
    assert_close(force, silver(weightless, chain.q.tolist(), chain.v.tolist(), chain.a.tolist()), scale=scale)


def test_link_motions_are_those_of_the_sums(chain: Chain):
    """The recursion from base to tip gives the derivatives of (3.13) and (3.14)."""
    motion = link_motions(chain.model, chain.q.tolist(), chain.v.tolist(), chain.a.tolist(), Vector())
    for i in chain.links:
        W = rotation(chain, chain.x, i)
        assert_close(W @ array(motion[i].w), chain.velocity(chain.x, i)[1], scale=1.0)
        assert_close(W @ array(motion[i].wd), chain.dt(lambda x, i=i: chain.velocity(x, i)[1]), scale=1.0)
        vd = array(motion[i].vd) + array(motion[i].U) @ array(chain.point(i))
        assert_close(W @ vd, chain.dt(lambda x, i=i: chain.velocity(x, i)[0]), scale=1.0)


# -- counts -----------------------------------------------------------------------------------------------------


def test_ratios_that_silver_quotes():
    """Sections 1.2 and 1.4 speak of 6 links by Hollerbach's Table II (multiplications and additions)."""
    uicker, newton_euler = 66_271 + 51_548, 852 + 738
    full, small = 4_388 + 3_586, 2_195 + 1_719  # recursive Lagrangian, 4x4 and 3x3
    assert uicker > 100_000
    assert [round(r, 1) for r in (full / newton_euler, uicker / full, full / small, small / newton_euler)] == [
        5.0,
        14.8,
        2.0,
        2.5,
    ]


METHODS = {method.name: method for method in methods("inverse_dynamics")}


def counted(name: str, n: int) -> dict[str, int]:
    return executed_operations(METHODS[name], generic_chain(n))


def traced(name: str, n: int) -> dict[str, int]:
    run = lambda q, v, a: {"tau": METHODS[name].function(generic_chain(n), q, v, a)}  # noqa: E731
    operations = count(trace("", run, [Port(name, (n,)) for name in "qva"]))
    return {"mul": operations.mul, "add": operations.add}


def polynomials(counter, name: str) -> list[str]:
    counts = {n: counter(name, n) for n in range(3, 9)}
    return [str(fit({n: counts[n][key] for n in counts}, key)) for key in ("mul", "add")]


def test_operations_of_balafoutis():
    """Printed: 93n - 69 M, 81n - 66 A (Lin 1991, table II, of the 1988 article), 93n - 108 M, 81n - 100 A (Featherstone
    2008, table 10.1, of the 1991 book). The growth is the same; the constants are what is left out at base and tip."""
    assert polynomials(counted, "balafoutis") == ["93n - 88", "81n - 80"]
    assert polynomials(traced, "balafoutis") == ["93n - 109", "81n - 101"]
    for printed, values in ((Polynomial.of(93, -69), (117, 489)), (Polynomial.of(81, -66), (96, 420))):
        assert (printed(2), printed(6)) == values  # Lin's table is consistent


def test_operations_of_silver():
    assert polynomials(counted, "silver") == ["100n - 94", "82n - 79"]
    assert polynomials(traced, "silver") == polynomials(traced, "rnea") == ["94n - 109", "82n - 101"]
