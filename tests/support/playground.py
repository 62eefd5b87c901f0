"""A robot with joints of every kind and two bodies that nothing holds: what views and reports must be able to show."""

import numpy as np

from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement


def playground() -> Description:
    """An arm on a cart that slides on the floor, a crane with a screw beside it, and two boxes: one on the ground, one
    that floats from the crane's hook."""

    def link(name: str, mass: float, center=(0.0, 0.0, 0.0), sides=(0.1, 0.1, 0.1)) -> Link:
        x, y, z = np.square(sides)
        return Link(name, LinkInertia(mass, np.array(center), mass / 12 * np.diag([y + z, x + z, x + y])))

    def joint(name: str, kind: str, parent: str, child: str, at=(0.0, 0.0, 0.0), **more) -> JointDescription:
        return JointDescription(name, kind, parent, child, Placement(np.eye(3), np.array(at)), **more)

    x, y, z = np.eye(3)
    return Description(
        "playground",
        links=(
            Link("world"),
            link("cart", 8.0, (0, 0, 0.1), (0.5, 0.4, 0.2)),
            link("upper", 2.0, (0, 0, 0.2), (0.08, 0.08, 0.4)),
            link("fore", 1.0, (0, 0, 0.15), (0.06, 0.06, 0.3)),
            link("hand", 0.5, (0, 0, 0.05)),
            link("mast", 4.0, (0, 0, 0.4), (0.1, 0.1, 0.8)),
            link("boom", 2.0, (0.3, 0, 0), (0.6, 0.08, 0.08)),
            link("nut", 0.4, (0, 0, -0.05)),
            link("hook", 0.3, (0, 0, -0.1), (0.05, 0.05, 0.2)),
            link("load", 3.0, (0, 0, 0), (0.3, 0.2, 0.15)),
            link("crate", 5.0, (0, 0, 0), (0.25, 0.25, 0.25)),
        ),
        joints=(
            joint("drive", "planar", "world", "cart"),
            joint("shoulder", "spherical", "cart", "upper", (0, 0, 0.25)),
            joint("elbow", "universal", "upper", "fore", (0, 0, 0.4), axis=x, second_axis=y),
            joint("wrist", "cylindrical", "fore", "hand", (0, 0, 0.3), axis=z),
            joint("slew", "continuous", "world", "mast", (0.9, 0, 0), axis=z),
            joint("luff", "revolute", "mast", "boom", (0, 0, 0.8), axis=y, lower=-0.8, upper=0.2),
            joint("feed", "helical", "boom", "nut", (0.6, 0, 0), axis=z, pitch=0.02, lower=-3.0, upper=3.0),
            joint("hoist", "prismatic", "nut", "hook", (0, 0, -0.1), axis=-z, lower=0.0, upper=0.5),
            joint("swing", "floating", "hook", "load"),
            joint("drop", "floating", "world", "crate", (0.4, -0.8, 0.125)),
        ),
        home={"swing": (0, 0, -0.4, 0, 0, 0, 1)},
    )
