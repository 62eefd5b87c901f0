"""Flexible links against what is independent of them: clouds of points that move, sympy, printed matrices and
frequencies, and beams of many rigid segments."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

from linkwork import io
from linkwork.formulations import methods
from linkwork.io.mdh import read_mdh
from linkwork.library import lumped_beam
from linkwork.model import JointDescription, Link, Model, build
from support.evaluate import assert_close, derivative, evaluate
from support.flexible_slices import Beam, Part, Slices, gauss

SOUTHWELL = {  # Omega -> flapping, both by sqrt(E I / rho A L^4); Wright, Smith, Thresher & Wang (1982), no hub
    0: 3.5160, 1: 3.6816, 3: 4.7973, 6: 7.3604, 12: 13.1702,
}  # fmt: skip
POLYNOMIALS: list = [("y", tuple([0.0] * k + [1.0])) for k in range(2, 9)]
CLAMPED = np.array([1.875104068711961, 4.694091132974174, 7.854757438237613]) ** 2
GRAVITY = np.array([1.0, -2.0, -9.0])


def built(parts: list[Part], gravity: Any = (0.0, 0.0, 0.0)) -> Model:
    """The robot of these parts, through a file."""
    return build(read_mdh(json.dumps(of_file(parts, gravity)), "random.yaml"))


def of_file(parts: list[Part], gravity: Any) -> dict[str, Any]:
    """Part k is joint ``j<k>`` that carries link ``l<k>``."""
    joints: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    base: Any = "fixed"
    for k, part in enumerate(parts):
        values: dict[str, Any] = {}
        if len(part.masses):
            mass, center, central = part.inertia()
            values = {"M": mass, "center": center.tolist(), "central": central[np.triu_indices(3)].tolist()}
        if part.motion == "free":
            base = {"kind": "floating", "link": f"l{k}", **values}
            continue
        row: dict[str, Any] = {
            "name": f"j{k}",
            "link": f"l{k}",
            "parent": f"l{part.parent}" if part.parent >= 0 else "base",
        }
        if isinstance(part.motion, tuple):
            row["flexible"] = {"along": f"j{part.motion[0]}", "at": part.motion[1]}
        else:
            row |= {"xyz": list(part.translation), "rpy": list(part.rpy)}
        if isinstance(part.motion, Beam):
            row["flexible"] = beam_of_file(part.motion)
        joints.append(row)
        if values:
            links.append({"link": f"l{k}", **values})
    return {"name": "random", "base": base, "gravity": list(gravity), "joints": joints, "links": links}


def beam_of_file(beam: Beam) -> dict[str, Any]:
    fields = {name: getattr(beam, name) for name in ("length", "density", "area", "youngs", "shear", "stiffening")}
    fields |= {name: getattr(beam, name) for name in ("polar", "torsion") if getattr(beam, name)}
    fields["moments"] = {axis: moment for axis, moment in zip("yz", beam.moments, strict=True) if moment}
    if all(isinstance(shape, int) for _, shape in beam.modes):
        ways = [way for way, _ in beam.modes]
        return fields | {"modes": {way: ways.count(way) for way in dict.fromkeys(ways)}}
    shapes: dict[str, list] = {}
    for way, shape in beam.modes:
        shapes.setdefault(way, []).append(list(shape))  # type: ignore[arg-type]
    return fields | {"shapes": shapes}


def cantilever(modes: list, **more: Any) -> Beam:
    """Of unit length, mass and stiffness, in y and z."""
    return Beam(1.0, 1.0, 1.0, 1.0, 0.0, (1.0, 1.0), modes, **more)


# -- clouds of points --------------------------------------------------------------------------------------------------


def random_part(rng: np.random.Generator, parent: int, motion: Any) -> Part:
    rpy = rng.uniform(-1.5, 1.5, 3)
    part = Part(parent, motion, Rotation.from_euler("xyz", rpy).as_matrix(), rng.normal(size=3), rpy)
    part.masses, part.cloud = rng.uniform(0.02, 0.1, 7), 0.2 * rng.normal(size=(7, 3))
    return part


def random_beam(rng: np.random.Generator, stiffening: bool, exact: bool = True) -> Beam:
    modes: list = [("y", 1), ("y", 2), ("y", 3), ("z", 1), ("z", 2), ("twist", 1), ("twist", 2), ("stretch", 1)]
    if not exact:
        modes = [("y", (0, 0, 1.0)), ("y", (0, 0, 0, 2.0, -1.0)), ("z", (0, 0, 1.5, -0.5)), ("twist", (0, 1.0))]
    length, area, moments = rng.uniform(0.5, 1.5), rng.uniform(1e-4, 4e-4), rng.uniform(1e-6, 2e-6, 2)
    youngs, shear = rng.uniform(1e6, 2e6, 2)  # so soft that forces of springs and of inertia are alike
    polar, torsion = float(moments.sum() * 1.1), float(moments.sum() * 0.7)
    return Beam(length, 2700.0, area, youngs, shear, (moments[0], moments[1]), modes, polar, torsion, stiffening)


def random_tree(seed: int) -> list[Part]:
    """On a floating base a beam, on whose tip another one turns; or on the ground, with two beams on one tip, or one in
    the middle of the other."""
    rng = np.random.default_rng(seed)
    stiffening = seed % 3 > 0
    beams = [random_beam(rng, stiffening, exact) for exact in (True, False)]
    if seed % 2:
        motions = [(-1, "turn"), (0, beams[0]), (1, "turn"), (2, beams[1])]
        motions += [(1, beams[1])] if seed == 3 else [(0, (1, 0.6)), (4, beams[1])]
    else:
        motions = [(-1, "free"), (0, beams[1]), (1, "turn"), (2, beams[0])]
    parts = [random_part(rng, *each) for each in motions]
    if not seed % 2:
        parts[0].rotation, parts[0].translation = np.eye(3), np.zeros(3)
    if seed == 3:
        parts[1].masses, parts[1].cloud = np.zeros(0), np.zeros((0, 3))  # a tip without a body
    return parts


@pytest.mark.parametrize("seed", range(4))
def test_points_that_move(seed):
    """Inertia matrix, forces of a motion and of velocities alone, energy and frames of random trees."""
    parts = random_tree(seed)
    slices, model, rng = Slices(parts, GRAVITY), built(parts, GRAVITY), np.random.default_rng(seed)
    q = np.concatenate([rng.normal(size=7)] * (model.nq > model.nv) + [rng.uniform(-0.1, 0.1, model.nv)])[: model.nq]
    v, a = rng.normal(size=(2, model.nv))
    M, tau = slices.inertia_matrix(q, model.nv), slices.inverse_dynamics(q, v, a)
    for method in able(model, "inertia_matrix"):
        assert_close(evaluate(model, "inertia_matrix", q, method=method), M)
    for method in able(model, "inverse_dynamics"):
        assert_close(evaluate(model, "inverse_dynamics", q, v, a, method=method), tau)
    for method in able(model, "forward_dynamics"):
        assert_close(
            evaluate(model, "forward_dynamics", q, v, tau, method=method), a, tolerance=1e-9
        )  # cond(M) is 1e5 to 1e7
    velocities = slices.inverse_dynamics(q, v, 0 * a) - slices.inverse_dynamics(q, 0 * v, 0 * a)
    assert_close(evaluate(model, "coriolis_matrix", q, v) @ v, velocities)
    assert_close(evaluate(model, "kinetic_energy", q, v), np.float64(slices.kinetic_energy(q, v)))
    masses, places, frames = slices.paths(q, v, a)
    center, flow = masses @ places[0] / masses.sum(), masses[:, None] * places[1]
    assert_close(evaluate(model, "center_of_mass", q), center)
    turning = np.cross(places[0] - center, flow).sum(axis=0)
    assert_close(evaluate(model, "momentum", q, v), np.concatenate([flow.sum(axis=0), turning]))
    bent = q[model.nq - model.nv :] * (np.arange(model.nv) >= 6 * (model.nq > model.nv))
    height, elastic = -masses @ places[0] @ GRAVITY, bent @ slices.elastic(model.nv) @ bent / 2
    assert_close(evaluate(model, "potential_energy", q), height + elastic)
    for k, (R, p) in enumerate(frames):
        pose = evaluate(model, "pose", q, frame=f"l{k}")
        assert_close(pose[:3], np.column_stack([R[0], p[0]]))


def able(model: Model, quantity: str) -> list[str]:
    """Methods that do not refuse."""
    names = [method.name for method in methods(quantity) if not method.refusal(model, False)]
    assert names
    return names


def test_modal_data():
    """Integrals of a beam's slices, as a finite-element program would give them; its straight inertia is the link's."""
    rng = np.random.default_rng(7)
    beam = replace(random_beam(rng, False), modes=[("y", 1), ("y", 2), ("z", 1), ("stretch", 1)])
    parts = [random_part(rng, -1, "turn"), random_part(rng, 0, beam), random_part(rng, 1, "turn")]
    s, weights, phi, *_ = beam.slices
    dm, at, slopes = (
        beam.density * beam.area * beam.length * weights,
        np.outer(s, [beam.length, 0, 0]),
        beam.ways(1.0, 1),
    )
    modal = {
        "tip": [beam.length, 0, 0],
        "shifts": beam.ways(1.0),
        "turns": np.stack([0 * slopes[:, 0], -slopes[:, 2], slopes[:, 1]], axis=1),
        "first": np.einsum("p,pja->ja", dm, phi),
        "second": np.einsum("p,pa,pjb->jab", dm, at, phi),
        "products": np.einsum("p,pja,pkb->jkab", dm, phi, phi),
        "stiffness": beam.stiffness(),
    }
    file = of_file(parts, GRAVITY)
    file["joints"][1]["flexible"] = {"modal": {name: np.asarray(value).tolist() for name, value in modal.items()}}
    masses, places = beam.points(np.zeros((3, 4)))
    cloud = np.concatenate([parts[0].cloud, places[0] @ parts[1].rotation.T + parts[1].translation])
    with_beam = replace(parts[0], masses=np.concatenate([parts[0].masses, masses]), cloud=cloud)
    file["links"][0] = of_file([with_beam, *parts[1:]], GRAVITY)["links"][0]
    model = build(read_mdh(json.dumps(file), "modal.yaml"))
    q, v, a = rng.uniform(-0.1, 0.1, 6), *rng.normal(size=(2, 6))
    assert_close(evaluate(model, "inverse_dynamics", q, v, a), Slices(parts, GRAVITY).inverse_dynamics(q, v, a))


# -- sympy -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffening", [False, True])
def test_lagrange_by_sympy(stiffening):
    """A beam with one polynomial shape in y and one in z on a revolute joint, a point and a disc on its tip, in gravity
    along y: every term of Lagrange's equations, with numbers as fractions until the end."""
    theta, u, w, x = sympy.symbols("theta u w x")
    length, mass, rigid, tip, disc = (sympy.Rational(*each) for each in ((4, 5), (3, 10), (7, 2), (1, 5), (1, 50)))
    q: Any = sympy.Matrix([theta, u, w])
    v: Any = sympy.Matrix(sympy.symbols("v:3"))
    phi, psi = (x / length) ** 2, (3 * (x / length) ** 2 - (x / length) ** 3) / 2

    def summed(density: Any, end: Any) -> Any:
        """The integral of a polynomial of x from the root on."""
        return sympy.Poly(density, x).integrate(x).as_expr().subs(x, end)

    short = summed(sympy.diff(phi * u, x) ** 2 + sympy.diff(psi * w, x) ** 2, x) / 2
    place = sympy.Matrix([x - (short if stiffening else 0), phi * u, psi * w])
    turn = sympy.rot_axis3(-theta)
    velocity = place.jacobian(q) * v + v[0] * sympy.Matrix([0, 0, 1]).cross(place)  # in the axes of the root
    square = sympy.expand((velocity.T * velocity)[0])
    kinetic = mass / length * summed(square, length) / 2 + tip * square.subs(x, length) / 2
    slopes: Any = [sympy.diff(each, x).subs(x, length) for each in (phi, psi)]
    bent = turn * sympy.rot_axis3(-slopes[0] * u) * sympy.rot_axis2(slopes[1] * w)
    turning = bent.T * sum((bent.diff(each) * rate for each, rate in zip(q, v, strict=True)), sympy.zeros(3))
    kinetic += disc * (turning[2, 1] ** 2 + turning[0, 2] ** 2 + turning[1, 0] ** 2) / 2  # a ball's moments
    weighed = mass / length * place.applyfunc(lambda each: summed(each, length)) + tip * place.subs(x, length)
    bending = sympy.diff(phi * u, x, 2) ** 2 + 2 * sympy.diff(psi * w, x, 2) ** 2
    potential = sympy.Rational(981, 100) * (turn * weighed)[1] + rigid * summed(bending, length) / 2
    M = sympy.hessian(kinetic, list(v))
    momentum = sympy.Matrix([kinetic.diff(rate) for rate in v])
    bias = momentum.jacobian(q) * v - sympy.Matrix([(kinetic - potential).diff(each) for each in q])

    modes: list = [("y", (0, 0, 1.0)), ("z", (0, 0, 1.5, -0.5))]
    beam = Beam(0.8, 3.0, 0.125, 2.0, 0.0, (3.5, 1.75), modes, polar=1e-9, stiffening=stiffening)
    cloud = np.sqrt(0.15) * np.vstack([np.eye(3), -np.eye(3)])
    hand = Part(0, beam, masses=np.full(6, 0.2 / 6), cloud=cloud)
    model = built([Part(-1, "turn"), hand], [0.0, -9.81, 0.0])
    rng = np.random.default_rng(1)
    at, rates = rng.uniform(-0.2, 0.2, 3), rng.normal(size=3)
    numbers = [np.array(sympy.lambdify([*q, *v], each, "mpmath")(*at, *rates).tolist(), float) for each in (M, bias)]
    assert_close(evaluate(model, "inertia_matrix", at), numbers[0])
    assert_close(evaluate(model, "inverse_dynamics", at, rates, np.zeros(3)), numbers[1][:, 0])


# -- De Luca and Siciliano ---------------------------------------------------------------------------------------------

ARM = {"rho": 0.2, "l": 0.5, "m": 0.1, "EI": 1.0, "mh2": 1.0, "Jh": 0.1, "mp": 0.1, "Jp": 0.0005}  # of both links
PRINTED = {"link 1": (0.48, 1.80), "link 2": (2.18, 15.91)}  # Hz, of the modes that the paper takes


def arm_beam(modes: list) -> Beam:
    return Beam(ARM["l"], ARM["rho"], 1.0, ARM["EI"], 0.0, (0.0, 1.0), modes, polar=1e-9)


def disc(mass: float, moment: float) -> dict[str, np.ndarray]:
    """Points in the plane with this mass and this moment about z."""
    r = np.sqrt(moment / mass)
    return {"masses": np.full(4, mass / 4), "cloud": r * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])}


def test_printed_frequencies_of_the_links():
    """Each clamped, with what hangs on its tip as a body: the modes of De Luca and Siciliano (1991)."""
    behind = ARM["Jh"] + ARM["m"] * ARM["l"] ** 2 / 3 + ARM["Jp"] + ARM["mp"] * ARM["l"] ** 2
    for link, tip in (("link 1", disc(1.2, behind)), ("link 2", disc(ARM["mp"], ARM["Jp"]))):
        model = built([Part(-1, arm_beam(POLYNOMIALS), **tip)])
        found = np.sqrt(squares(model)) / (2 * np.pi)
        assert tuple(np.round(found[:2], 2)) == PRINTED[link]


def test_closed_form_of_the_two_link_arm():
    """The closed form of the inertia matrix, as others have it from the paper, keeps first orders of the deflections.
    It leaves out what the turn of the first tip adds to the rows of the first link's modes, which is told apart."""
    beam, l, behind = arm_beam(POLYNOMIALS[:2]), ARM["l"], ARM["mh2"] + ARM["m"] + ARM["mp"]
    at, weights = gauss(0.0, 1.0, 40)
    phi, e, t = (np.array([beam.shape(j, s, order) for j in range(2)]) for s, order in ((at, 0), (1.0, 0), (1.0, 1)))
    own = ARM["m"] * np.einsum("p,ip,jp->ij", weights, phi, phi)
    v1, w1 = ARM["m"] * phi @ weights, ARM["m"] * l * phi @ (weights * at)  # of one link: int phi dm, int x phi dm
    v, w = v1 + ARM["mp"] * e, w1 + ARM["mp"] * l * e + ARM["Jp"] * t  # of the second, with the payload
    rod, MD = ARM["m"] * l**2 / 3, ARM["m"] * l / 2 + ARM["mp"] * l
    J = ARM["Jh"] + rod + ARM["Jp"] + ARM["mp"] * l**2
    ee, tt, et = np.outer(e, e), np.outer(t, t), np.outer(e, t)

    def printed(theta: float, d1: np.ndarray, d2: np.ndarray) -> np.ndarray:
        c, s, t1, t2, t3 = np.cos(theta), np.sin(theta), (e - l * t) @ d1, v @ d2, t @ d1
        B = np.zeros((6, 6))  # theta1, theta2, delta1, delta2
        B[0, 0] = ARM["Jh"] + rod + J + behind * l**2 + 2 * MD * l * c + 2 * (MD * t1 - l * t2) * s
        B[0, 1] = J + MD * l * c + (MD * t1 - l * t2) * s
        B[1, 1] = J
        B[0, 2:4] = w1 + J * t + behind * l * e + MD * (e + l * t) * c - ((e + l * t) * t2 + MD * (et - et.T) @ d1) * s
        B[1, 2:4] = J * t + MD * e * c - e * (t2 + MD * t3) * s
        B[0, 4:] = w + v * l * c + v * t1 * s
        B[1, 4:] = w
        B[2:4, 2:4] = own + behind * ee + J * tt + (et + et.T) * (MD * c - t2 * s)
        B[2:4, 4:] = np.outer(t, w) + np.outer(e, v) * (c - t3 * s)
        B[4:, 4:] = own + ARM["mp"] * ee + ARM["Jp"] * tt
        return np.triu(B) + np.triu(B, 1).T

    def left_out(theta: float, d1: np.ndarray) -> np.ndarray:
        B, turn = np.zeros((6, 6)), -MD * np.sin(theta) * (t @ d1)
        B[0, 2:4] = B[2:4, 0] = l * t * turn
        B[2:4, 2:4] = (et + et.T) * turn
        return B

    model, rng, order = build(io.read("flexible-two-link")), np.random.default_rng(2), [0, 3, 1, 2, 4, 5]
    (first, theta), deflections = rng.uniform(-2, 2, 2), rng.uniform(-0.1, 0.1, 4)

    def inertia(d: np.ndarray) -> np.ndarray:
        return evaluate(model, "inertia_matrix", np.array([first, *d[:2], theta, *d[2:]]))[np.ix_(order, order)]

    straight, (d1, d2) = inertia(np.zeros(4)), deflections.reshape(2, 2)
    assert_close(straight, printed(theta, np.zeros(2), np.zeros(2)))
    slope = derivative(inertia, np.zeros(4), deflections)
    assert_close(straight + slope, printed(theta, d1, d2) + left_out(theta, d1))


# -- frequencies -------------------------------------------------------------------------------------------------------


def squares(model: Model, turning: float = 0.0, held: int = 0) -> np.ndarray:
    """Of the angular frequencies of small motions while the first ``held`` joints turn at a constant rate."""
    n = model.nv

    def forces(q: np.ndarray) -> np.ndarray:
        return evaluate(model, "inverse_dynamics", q, np.array([turning] * held + [0.0] * (n - held)), np.zeros(n))

    K = derivative(forces, np.zeros(n), np.eye(n)[held:])[:, held:]
    return eigh(K, evaluate(model, "inertia_matrix", np.zeros(n))[held:, held:], eigvals_only=True)


def test_clamped_beam():
    """Exact modes have the exact frequencies, also with three of each plane at once."""
    L, rho, A, E, G, Iy, Iz, polar, torsion = 0.7, 7800.0, 3e-4, 2.1e11, 8e10, 2e-9, 3e-9, 5e-9, 4e-9
    modes: list = [("y", 1), ("y", 2), ("y", 3), ("z", 1), ("z", 2), ("z", 3), ("twist", 1), ("stretch", 1)]
    model = built([Part(-1, Beam(L, rho, A, E, G, (Iy, Iz), modes, polar, torsion), np.eye(3))])
    bending = [CLAMPED * np.sqrt(E * moment / (rho * A * L**4)) for moment in (Iz, Iy)]
    waves = np.pi / 2 / L * np.sqrt([G * torsion / (rho * polar), E / rho])
    np.testing.assert_allclose(np.sqrt(squares(model)), np.sort([*np.concatenate(bending), *waves]), rtol=1e-10)
    few = built([Part(-1, cantilever(POLYNOMIALS))])
    np.testing.assert_allclose(np.sqrt(squares(few)[:3]), CLAMPED, rtol=5e-3)


def test_rotating_beam():
    """Flapping as printed, swinging in the plane of rotation with Omega^2 less; nothing of it without stiffening, when
    the beam gets softer in that plane and gives way at last."""
    shapes: list = [*POLYNOMIALS, *(("z", shape) for _, shape in POLYNOMIALS)]
    stiff = built([Part(-1, "turn"), Part(0, cantilever(shapes, stiffening=True))])
    soft = built([Part(-1, "turn"), Part(0, cantilever([(way, k) for way in "yz" for k in (1, 2, 3)]))])
    for speed, flap in SOUTHWELL.items():
        swing, found = squares(stiff, speed, 1)[:2]
        np.testing.assert_allclose(np.sqrt(found), flap, atol=6e-5)  # as printed
        np.testing.assert_allclose(swing, found - speed**2, rtol=1e-9)
        linear = np.sort([*(CLAMPED**2), *(CLAMPED**2 - speed**2)])
        np.testing.assert_allclose(squares(soft, speed, 1), linear, rtol=1e-9, atol=1e-9)


def test_beams_of_segments_converge():
    """The frequencies of 8, 16, 32 and 64 elastic joints go to those of the modes with the second order; so do those of
    a beam that turns, for segments need no stiffening: they are pulled outward as they are."""
    ground = Link("ground")
    for speed in (0.0, 6.0):
        beam = cantilever(POLYNOMIALS, stiffening=True)
        modal = squares(built([Part(-1, "turn"), Part(0, beam)]), speed, 1)[:2]
        errors = []
        for joints in (8, 16, 32, 64):
            chain = lumped_beam(joints, density=1, area=1, youngs=1, moment=1)
            axis = JointDescription(name="axis", kind="revolute", parent="ground", child="root")
            chain = replace(chain, links=(ground, *chain.links), joints=(axis, *chain.joints), gravity=(0.0, 0.0, 0.0))
            errors.append(np.sqrt(squares(build(chain), speed, 1)[:2] / modal) - 1)
        order = np.log2(np.array(errors)[:-1] / errors[1:])
        np.testing.assert_allclose(order[-1], 2, atol=0.03)
        assert np.abs(errors[-1]).max() < 4e-4
