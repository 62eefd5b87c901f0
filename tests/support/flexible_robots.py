"""Random trees with links that bend, skew and with full inertias."""

import numpy as np

from linkwork.model import Beam, Description, JointDescription, Link, LinkInertia, Placement
from support.random_robots import inertia, random_rotation

MODES = {"y": 2, "z": 1, "twist": 1, "stretch": 1}
SOFT = {"youngs": 7e7, "shear": 2.7e7}  # so that forces of all kinds are of one size

FOUR_BAR = """
name: bending-four-bar
gravity: [1, -9, 0]
joints:
  - {name: crank, link: crank}
  - {name: pin, link: coupler, d: 0.2}
  - name: bend
    link: end
    flexible: {length: 0.5, density: 2710, area: 2e-4, youngs: 7e8, moments: {z: 4e-10}, modes: {y: 2, stretch: 1}}
  - {name: rocker, link: rocker, parent: base, d: 0.45}
links:
  - {link: crank, M: 0.4, center: [0.1, 0.01, 0], central: [1e-4, 1e-3, 1e-3]}
  - {link: coupler, M: 0.05, center: [0.05, 0, 0], central: [1e-4, 1e-4, 1e-4]}
  - {link: end, M: 0.05, center: [0.01, 0, 0], central: [1e-5, 1e-5, 1e-5]}
  - {link: rocker, M: 0.5, center: [0.15, 0, 0], central: [1e-4, 4e-3, 4e-3]}
drives: [{joint: pin, role: passive}, {joint: rocker, role: passive}]
loops: [{name: cut, kind: revolute, first: {link: end}, second: {link: rocker, d: 0.35}}]
home: {crank: 60 deg, pin: -40 deg, rocker: 80 deg}
"""


def beam(rng: np.random.Generator, **more) -> Beam:
    moments = {axis: float(rng.uniform(1e-9, 3e-9)) for axis in "yz"}
    given = {"moments": moments, "modes": MODES, "damping": 0.02, **SOFT, **more}
    return Beam(float(rng.uniform(0.4, 0.8)), 2700.0, float(rng.uniform(1e-4, 3e-4)), **given)


def tip(length: float) -> Placement:
    return Placement(np.eye(3), np.array([length, 0.0, 0.0]))


def bending_tree(seed: int, kinds: tuple[str, ...], floating: bool = False, **more) -> Description:
    """Joints of these kinds, each on one of the last two links; every second tip has a payload."""
    rng = np.random.default_rng(seed)
    links: dict[str, LinkInertia | None] = {"base": inertia(rng)}
    joints = []
    for k, kind in enumerate(kinds, 1):
        parent = [*links][max(0, len(links) - 1 - int(rng.integers(2)))]
        root, name = Placement(random_rotation(rng), rng.uniform(-0.5, 0.5, 3)), f"link{k}"
        if kind == "flexible":
            own = beam(rng, **more)
            carrier = links[parent]
            links[parent] = own.inertia.placed(root) if carrier is None else carrier + own.inertia.placed(root)
            origin = root @ tip(own.length)
            joints.append(JointDescription(f"j{k}", kind, parent, name, origin, flexible=own, role="elastic"))
            links[name] = inertia(rng) if k % 2 else None
        else:
            joints.append(JointDescription(f"j{k}", kind, parent, name, root, rng.normal(size=3)))
            links[name] = inertia(rng)
    g = tuple(rng.uniform(-10, 10, 3).tolist())
    listed = tuple(Link(name, own) for name, own in links.items())
    return Description("random", listed, tuple(joints), gravity=g, floating=floating)


def bent_state(model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q with deflections of some centimetres, v, a; closed where there are loops."""
    rng = np.random.default_rng(seed + 50021)
    q = model.coordinates.random(rng)
    for joint, at in zip(model.coordinates.joints, model.coordinates.position_ranges, strict=True):
        if joint.kind.modes:
            q[at.start : at.stop] = rng.uniform(-0.08, 0.08, len(at))
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)
