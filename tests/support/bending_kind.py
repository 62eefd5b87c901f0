"""What is wrong of the joint to the tip of a link that bends, if anything: asked of it by itself.

Poses are held to exponentials of turns, unit motions and their changes to differences of these, material to matrices.
"""

import pickle
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import expm

from linkwork.model import Beam, ElasticModes, Modal
from linkwork.model.joints import Flexible
from linkwork.spatial import Pose, Transform
from support.evaluate import cross_matrix
from support.flexible_robots import beam

STEP, ROUGH = 1e-4, 1e-6  # of differences, and what they are good for
WAYS = ({"y": 2, "z": 1, "twist": 1, "stretch": 1}, {"y": 2}, {"z": 2}, {"twist": 2}, {"stretch": 2})

Wrong = Callable[..., list[str]]  # (what, actual, expected, scale, tolerance)


@cache
def materials() -> list[Beam | Modal]:
    """Beams that bend in all ways and in each alone, and modal data."""
    rng = np.random.default_rng(4)
    some = [beam(rng, modes=modes, stiffening=True) for modes in WAYS]
    tips = {name: rng.normal(size=(2, 3)).tolist() for name in ("shifts", "turns", "first")}
    products = np.einsum("jk,cd->jkcd", np.diag([1.0, 2.0]), np.eye(3)).tolist()
    tips |= {"second": rng.normal(size=(2, 3, 3)).tolist(), "products": products}
    return [*some, Modal((0.3, 0.2, -0.4), **tips, frequencies=(1.0, 3.0), damping=0.1)]


def bending_faults(wrong: Wrong) -> Iterator[str]:
    for number, material in enumerate(materials()):
        own, modes = Flexible(material), material.elastic
        q, v = np.random.default_rng(number).uniform(-0.3, 0.3, (2, modes.size))
        facts = own.turning, own.directions, own.axial, own.bounded, own.has_spring, own.free, own.modes is modes
        yield from ["facts"] if facts != (modes.turning, 0, False, False, False, False, True) else []
        yield from ["units"] if own.position_units != tuple("rad" if x else "m" for x in modes.turning) else []
        yield from ["names"] if own.position_parts != modes.parts or own.velocity_parts != modes.parts else []
        yield from wrong_material(wrong, own, q, v)
        yield from wrong_motion(wrong, own, q, v)
        most = 0.03 * np.where(modes.turning, 1.0, material.length) / np.arange(1, modes.size + 1)
        drawn = own.random(np.random.default_rng(1), (500,), -np.inf, np.inf) / most
        yield from wrong("range", [drawn.min(axis=0), drawn.max(axis=0)], [-(most**0), most**0], tolerance=0.02)
        yield from ["outside"] if (np.abs(drawn) > 1).any() else []
        shifts = np.array([[*shift] for shift in modes.shifts[: modes.size]], float)
        shares = [float(np.linalg.norm(each @ shifts)) / material.length for each in (q, v)]
        yield from wrong("deflection", own.deflection(np.stack([q, v])), shares)
        if isinstance(material, Modal):
            answers = own.facts()
            yield from wrong("frequencies", answers["frequencies"], [1.0, 3.0])
            yield from wrong("damping ratios", answers["damping"], [0.1, 0.1])


def wrong_material(wrong: Wrong, own: Flexible, q: np.ndarray, v: np.ndarray) -> Iterator[str]:
    K, D = (np.array(each) for each in (own.modes.stiffness, own.modes.damping))
    size, limp = float(np.abs(K).max()), own.limp()
    for each, stiff, damped in ((own, 1, 1), (limp, 0, 1), (own.undamped(), 1, 0), (limp.undamped(), 0, 0)):
        for kind in (each, pickle.loads(pickle.dumps(each))):
            elastic, damping = kind.own_forces(q.tolist(), v.tolist())
            yield from wrong("stiffness", elastic, stiff * K @ q, size)
            yield from wrong("damping", damping, damped * D @ v, float(np.abs(D).max()))
            yield from wrong("K", kind.own_stiffness(), stiff * K, size)
            yield from wrong("energy", kind.own_energy(q.tolist()), stiff * 0.5 * q @ K @ q, size)


def wrong_motion(wrong: Wrong, own: Flexible, q: np.ndarray, v: np.ndarray) -> Iterator[str]:
    found = Pose.identity().then(Transform(*own.transform(None, q.tolist())))
    turn, origin = np.array([[*row] for row in found.rotation.rows], float), np.array([*found.origin], float)
    expected = pose(own.modes, q)
    yield from wrong("pose", np.column_stack([turn, origin]), expected[:3])
    yield from wrong("line", own.line(np.array([0.0, 1.0]), q), [np.zeros(3), origin])
    motions = []
    for e in np.eye(len(q)):
        change = (pose(own.modes, q + STEP * e) - pose(own.modes, q - STEP * e)) / (2 * STEP)
        change = np.linalg.solve(expected, change)
        motions.append([*change[:3, 3], change[2, 1], change[0, 2], change[1, 0]])
    yield from wrong("subspace", subspace(own, q), motions, tolerance=ROUGH)
    rates = [[*S] for S in own.subspace_rates(None, q.tolist(), v.tolist())]
    change = (subspace(own, q + STEP * v) - subspace(own, q - STEP * v)) / (2 * STEP)
    yield from wrong("rates", rates, change, tolerance=ROUGH)


def subspace(own: Flexible, q: np.ndarray) -> np.ndarray:
    return np.array([[*S] for S in own.subspace(None, q.tolist())], float)


def pose(modes: ElasticModes, d: np.ndarray) -> np.ndarray:
    """4 x 4: Rz Ry Rx of the sums of turns, and the sum of shifts."""
    rows: Callable[[Any], np.ndarray] = lambda vectors: np.array([[*each] for each in vectors], float)  # noqa: E731
    x, y, z = (expm(angle * cross_matrix(axis)) for angle, axis in zip(d @ rows(modes.turns), np.eye(3)))
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = z @ y @ x, rows([modes.tip])[0] + modes.amplitudes(d) @ rows(modes.shifts)
    return X
