"""Arms of six joints from their axes at zero, with the structures that have closed forms of inverse kinematics."""

from collections.abc import Sequence

import numpy as np

import linkwork
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement

Axes = list[tuple[np.ndarray, np.ndarray, bool]]  # direction, a point, whether the joint turns


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def direction(rng: np.random.Generator) -> np.ndarray:
    return unit(rng.normal(size=3))


def rotation(rng: np.random.Generator) -> np.ndarray:
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def described(axes: Axes, base: Placement, tool: Placement) -> Description:
    """An arm on a base, with a frame "tool" on its last link. All links have the axes of the base at zero."""
    names = ["base", *(f"link{k}" for k in range(1, len(axes) + 1))]
    links = [Link(names[0]), *(Link(name, LinkInertia(1.0, np.zeros(3), np.eye(3))) for name in names[1:])]
    joints, last = [], np.zeros(3)
    for k, (w, p, turns) in enumerate(axes):
        kind, origin = "continuous" if turns else "prismatic", Placement(np.eye(3), p - last)
        origin, last = base @ origin if k == 0 else origin, p
        joints.append(JointDescription(f"joint{k + 1}", kind, names[k], names[k + 1], origin=origin, axis=w))
    return Description("arm", tuple(links), tuple(joints), frames={"tool": (names[-1], tool)})


def random_arm(axes: Axes, seed: int = 0) -> Description:
    """With any base and any tool."""
    rng = np.random.default_rng(seed)
    return described(axes, Placement(rotation(rng), rng.normal(size=3)), Placement(rotation(rng), rng.normal(size=3)))


def first_three(pattern: str, relation: str, rng: np.random.Generator) -> Axes:
    """Three joints that turn (R) or slide (P), with one relation between two of their axes."""
    w = [direction(rng) for _ in range(3)]
    p = [rng.normal(size=3) for _ in range(3)]
    if relation != "skew":
        kind, i, j = relation.split()[0], int(relation[-2]) - 1, int(relation[-1]) - 1
        if kind == "parallel":
            w[j] = w[i]
        elif kind == "opposite":
            w[j] = -w[i]
        elif kind == "meeting":
            p[j] = p[i] + 0.3 * w[i] - 0.2 * w[j]
        elif kind == "perpendicular":
            w[j] = unit(np.cross(w[i], w[j]))
    return [(w[k], p[k], pattern[k] == "R") for k in range(3)]


def wrist(rng: np.random.Generator, right_angles: bool) -> Axes:
    """Three axes that meet, each given by another of its points."""
    center, w = rng.normal(size=3), [direction(rng) for _ in range(3)]
    if right_angles:
        w[1] = unit(np.cross(w[0], w[1]))
        w[2] = w[0]
    return [(each, center + rng.normal() * each, True) for each in w]


def parallel_arm(last: str, rng: np.random.Generator) -> Axes:
    """Axes 2, 3 and 4 parallel or opposite; axes 5 and 6 at "right angles", "meeting" or "skew"."""
    w, w5, w6 = (direction(rng) for _ in range(3))
    p5, p6 = rng.normal(size=(2, 3))
    if last == "right angles":
        w5 = unit(np.cross(w, w5))
        w6 = unit(np.cross(w5, w6))
    if last != "skew":
        p6 = p5 + 0.2 * w5 - 0.3 * w6
    middle = [(sign * w, rng.normal(size=3), True) for sign in (1, -1, 1)]
    return [(direction(rng), rng.normal(size=3), True), *middle, (w5, p5, True), (w6, p6, True)]


def structure(name: str, seed: int = 0) -> Axes:
    """The axes that a name stands for: "RRP meeting 12", "flipped RRR skew", "parallel axes, skew"."""
    rng = np.random.default_rng(seed)
    flipped, name = name.startswith("flipped"), name.removeprefix("flipped ")
    if name.startswith("parallel axes"):
        axes = parallel_arm(name.split(", ")[1], rng)
    else:
        axes = first_three(name[:3], name[4:], rng) + wrist(rng, right_angles=seed % 2 == 0)
    return axes[::-1] if flipped else axes


def angle_distance(a: np.ndarray, b: np.ndarray, turns: Sequence[bool]) -> np.ndarray:
    """The largest difference of two positions over the joints, whole turns left out."""
    d = np.abs(a - b)
    return np.where(turns, np.abs(np.remainder(d + np.pi, 2 * np.pi) - np.pi), d).max(-1)


def searched(robot: linkwork.Robot, frame: str, pose: np.ndarray, starts: np.ndarray, turns: Sequence[bool]):
    """All positions that give a pose, as damped Newton steps from many starts find them."""
    q = starts.copy()

    def error(q: np.ndarray) -> np.ndarray:
        T = robot.pose(frame, q)
        w = np.cross(T[:, :3, :3].swapaxes(1, 2), pose[:3, :3].T).sum(1) / 2
        far = np.einsum("nij,ij->n", T[:, :3, :3], pose[:3, :3]) < 1  # beyond a right angle the sine decreases
        w = np.where(far[:, None], w / np.maximum(np.linalg.norm(w, axis=-1, keepdims=True), 1e-9), w)
        return np.concatenate([pose[:3, 3] - T[:, :3, 3], w], axis=-1)

    for _ in range(80):
        e, J = error(q), robot.jacobian(frame, q)
        damping = np.minimum(1e-2 * (e * e).sum(-1), 1e-2)[:, None, None] + 1e-14
        step = (J.swapaxes(1, 2) @ np.linalg.solve(J @ J.swapaxes(1, 2) + damping * np.eye(6), e[..., None]))[..., 0]
        q = q + step * np.minimum(1, 0.7 / np.maximum(np.abs(step).max(-1, keepdims=True), 1e-9))
    distinct: list[np.ndarray] = []
    for each in q[np.abs(robot.pose(frame, q) - pose).max((1, 2)) < 1e-9]:
        if all(angle_distance(each, other, turns) > 1e-4 for other in distinct):
            distinct.append(each)
    return np.array(distinct)
