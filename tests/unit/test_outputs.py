"""What ``simulate`` records: all, or what is asked for, with the same bits."""

import numpy as np
import pytest

import linkwork
from linkwork.control import PID, Point

ARM = linkwork.load("planar2r")
HELD = {"torque": PID(3, 2, 1), "reference": Point([0.3, 0.2], 0, 0)}


@pytest.mark.parametrize("method", ["rk4", "adams-bashforth-4", "dormand-prince"])
@pytest.mark.parametrize("outputs", [("tau", "q"), ("work",), "q", ("v", "memory"), ()])
def test_outputs_that_are_asked_for(outputs, method):
    every = ARM.simulate([0.1, 0.2], duration=0.01, method=method, **HELD)
    found = ARM.simulate([0.1, 0.2], duration=0.01, method=method, outputs=outputs, **HELD)
    names = [outputs] if isinstance(outputs, str) else outputs
    assert list(found) == ["t", *("integral" if name == "memory" else name for name in names)]
    for name in found:
        assert np.abs(found[name] - every[name]).max() < 1e-15


@pytest.mark.parametrize("outputs", [("contact_forces", "q"), ("contacts",), ("work",), ()])
def test_outputs_of_motions_by_events(outputs):
    ball = linkwork.model.Description(
        "ball",
        (linkwork.model.Link("ball", linkwork.model.LinkInertia(1.0, np.zeros(3), 0.01 * np.eye(3))),),
        (),
        floating=True,
        constraints=(linkwork.model.foot_at("ball", "ball", restitution=0.5),),
    )
    robot, start = linkwork.load(ball), [0, 0, 0.01, 0, 0, 0, 1]
    every = robot.simulate(start, duration=0.1, dt=0.01, contacts="events")
    found = robot.simulate(start, duration=0.1, dt=0.01, contacts="events", outputs=outputs)
    assert list(found) == ["t", *outputs] and len(found.events) == len(every.events) > 0
    for name in found:
        assert np.array_equal(found[name], every[name])


def test_an_unknown_output_is_refused():
    with pytest.raises(linkwork.UnknownNameError, match="there is no output 'torque'"):
        ARM.simulate(duration=0.01, outputs=("torque",))
