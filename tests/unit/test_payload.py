"""A payload as an input: the same as a link fixed to the frame."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import UnknownNameError, UnsupportedError
from linkwork.io import read
from linkwork.model import JointDescription, Link, LinkInertia, Placement
from support.evaluate import assert_close

CENTRAL = np.array([[0.02, 0.003, -0.001], [0.003, 0.03, 0.002], [-0.001, 0.002, 0.04]])
BODY = LinkInertia(1.7, np.array([0.05, 0.02, 0.1]), CENTRAL)
TEN = [BODY.mass, *BODY.center, *CENTRAL[np.triu_indices(3)]]


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "inertia_matrix", "kinetic_energy"])
@pytest.mark.parametrize("name, frame", [("panda", "panda_link8"), ("quadruped", "trunk"), ("delta", "platform")])
def test_payload_is_a_fixed_link(name: str, frame: str, quantity: str):
    said = read(name)
    link, placement = said.frames[frame] if frame in said.frames else (frame, Placement())
    fixed = JointDescription("hold", "fixed", link, "load", placement)
    loaded = linkwork.load(replace(said, links=(*said.links, Link("load", BODY)), joints=(*said.joints, fixed)))
    robot = linkwork.load(name)
    loaded, bare = (each.compile(quantity, backend="interpreter") for each in (loaded, robot))
    rng = np.random.default_rng(0)
    q = np.array(robot.home) if robot.home else rng.normal(size=robot.nq)
    given = [q, *rng.normal(size=(len(bare.program.inputs) - 1, robot.nv))]
    for parameters, others in (("minimal", []), ("standard", []), ("minimal", ["parameters"])):
        inputs = [*others, f"payload:{frame}"]
        function = robot.compile(quantity, inputs=inputs, parameters=parameters, backend="interpreter")
        more = [robot.parameters] if others else []
        assert_close(function(*given, *more, TEN), loaded(*given), tolerance=1e-11)
        assert_close(function(*given, *more, np.zeros(10)), bare(*given), tolerance=1e-11)


def test_refused():
    robot = linkwork.load("panda")
    with pytest.raises(UnsupportedError, match=r"a payload needs a moving link\n  got: frame '.*'"):
        robot.compile("gravity", inputs=[f"payload:{robot.model.root}"])
    with pytest.raises(UnknownNameError, match="there is no frame 'panda_link9'"):
        robot.compile("gravity", inputs=["payload:panda_link9"])
