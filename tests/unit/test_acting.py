"""Functions act as they are when a simulation begins: nothing of an earlier one is left, whatever they read."""

from dataclasses import dataclass

import numpy as np
import pytest

import linkwork
from linkwork import TracedRobot
from linkwork.control import PD, Point, Quintic, with_memory
from linkwork.forces import Thruster
from linkwork.sim.plant.setup import plants
from support.random_robots import Recipe, describe

DT, STEPS = 2e-3, 5
ARM = linkwork.load(describe(Recipe(seed=3, joints=2, kinds=("revolute",))))
TIP = ARM.model.bodies[-1].name
Q, V = np.array([0.4, -0.7]), np.array([0.2, 0.1])
GOAL = Point(np.zeros(2), np.zeros(2), np.zeros(2))

STIFFNESS = 1.0
TABLE = np.array([1.0, 2.0])


def helper(q):
    return STIFFNESS * q


HELPERS = {1.0: helper, 9.0: lambda q: 3 * np.sin(q)}


@dataclass(frozen=True)
class Softly:
    """As in the docs: fields, and what its method reads beside them."""

    share: float

    def __call__(self, t, q, v, reference):
        return -self.share * STIFFNESS * q - TABLE * v


@dataclass
class Noted:
    share: float = 1.0

    def __post_init__(self):
        self.hidden = 1.0

    def __call__(self, t, q, v, reference):
        return -self.share * self.hidden * q


class Plain:
    stiffness = 1.0

    def __call__(self, t, q, v, reference):
        return -self.stiffness * q


@dataclass(frozen=True)
class Prepared:
    """An object with ``for_model``."""

    share: float = 1.0

    def for_model(self, model):
        k = self.share * STIFFNESS
        return lambda t, q, v, reference: -k * q - helper(v)


class Harder(PD):
    """One of ours, with a method of its own."""

    def _forces(self, robot, q, v, wanted, push):
        return STIFFNESS * push


@dataclass(frozen=True)
class Remembering:
    @property
    def memory(self):
        return {"z": STIFFNESS * np.ones(2)}

    def __call__(self, t, q, v, reference, memory):
        return -memory["z"], {"z": q}


def closure():
    factor = 1.0

    def law(t, q, v, reference, *, gain=TABLE):
        return -factor * q - gain * v

    def change(value):
        nonlocal factor
        factor = value

    return law, change


def default(t, q, v, reference, *, gain=TABLE):
    return -gain * q


def calling(t, q, v, reference):
    return -helper(q)


CLOSURE, CHANGE = closure()
NOTED, PLAIN = Noted(), Plain()


def of_global(value, monkeypatch):
    monkeypatch.setitem(globals(), "STIFFNESS", value)


def of_hidden(value, monkeypatch):
    NOTED.hidden = value


def of_class(value, monkeypatch):
    monkeypatch.setattr(Plain, "stiffness", value)


def of_code(value, monkeypatch):
    monkeypatch.setitem(globals(), "helper", HELPERS[value])


def of_array(value, monkeypatch):
    TABLE[:] = [value, 2.0]


def of_closure(value, monkeypatch):
    CHANGE(value)


CASES = {
    "a global of a dataclass": ({"torque": Softly(0.5)}, of_global),
    "an array of a dataclass, in place": ({"torque": Softly(0.5)}, of_array),
    "an attribute that is no field": ({"torque": NOTED}, of_hidden),
    "an attribute of the class": ({"torque": PLAIN}, of_class),
    "a closure": ({"torque": CLOSURE}, of_closure),
    "a default, in place": ({"torque": default}, of_array),
    "a function that is called": ({"torque": calling}, of_code),
    "for_model": ({"torque": Prepared()}, of_global),
    "a method of a PD": ({"torque": Harder(3, 1), "reference": GOAL}, of_global),
    "a memory": ({"torque": Remembering()}, of_global),
    "a reference": (
        {"torque": PD(3, 1), "reference": lambda t: Point(STIFFNESS * TABLE, 0 * TABLE, 0 * TABLE)},
        of_global,
    ),
    "a wrench": ({"torque": None, "wrenches": {TIP: lambda t: [STIFFNESS, 0, t, 0, 0, 0]}}, of_global),
}


def back_and_forth(run, change, monkeypatch):
    """The third run is the first again."""
    found = []
    for value in (1.0, 9.0, 1.0):
        change(value, monkeypatch)
        found.append(run())
    assert np.array_equal(found[0], found[2]) and np.abs(found[0] - found[1]).max() > 1e-6


@pytest.mark.parametrize("case", CASES)
def test_what_functions_read_is_read_anew(case, monkeypatch):
    options, change = CASES[case]
    back_and_forth(lambda: ARM.rollout(Q, V, dt=DT, steps=STEPS, **options).q, change, monkeypatch)


@pytest.mark.parametrize("case", ["a global of a dataclass", "for_model"])
def test_by_every_door(case, monkeypatch):
    options, change = CASES[case]

    def step():
        stepper = ARM.stepper(1, DT, substeps=STEPS, q0=Q, v0=V, **options)
        stepper.step()
        return stepper.q[0].copy()

    back_and_forth(step, change, monkeypatch)
    back_and_forth(lambda: ARM.simulate(Q, V, DT * STEPS, DT, **options).q, change, monkeypatch)
    assert np.array_equal(step(), ARM.rollout(Q, V, dt=DT, steps=STEPS, **options).q[-1])


def test_commands_are_read_anew(monkeypatch):
    robot = ARM.with_forces({TIP: Thruster()})
    run = lambda: robot.rollout(Q, V, None, DT, STEPS, commands=lambda t: [STIFFNESS + t]).q  # noqa: E731
    back_and_forth(run, of_global, monkeypatch)


def test_what_is_compiled_later_is_of_the_same_moment():
    """Gradients and outputs of a run are those of its own controller, although this has changed since."""
    law = Noted()
    robot = linkwork.load(describe(Recipe(seed=3, joints=2, kinds=("revolute",))))
    run = robot.rollout(Q, V, law, DT, STEPS, checkpoint_every=2)
    law.hidden = 50.0
    found = run.pullback(q=np.ones_like(run.q)).q0
    fresh = robot.rollout(Q, V, Noted(), DT, STEPS, checkpoint_every=2)
    assert np.array_equal(found, fresh.pullback(q=np.ones_like(run.q)).q0)
    tau = robot.rollout(Q, V, Noted(), DT, STEPS, outputs=("q", "tau"))
    assert np.abs(tau.tau + tau.q).max() < 1e-15


def test_functions_are_known_again_by_what_they_compute():
    robot, way = linkwork.load("planar2r"), Quintic([0, 0], [0.3, 0.2], 0.5)

    def law(factor):
        return lambda t, q, v, reference: factor * (reference.q - q)

    for factor in (2.0, 2.0, 3.0, 2.0):
        robot.rollout([0.1, 0.2], [0.0, 0.0], law(factor), DT, 1, reference=way)
    assert len(robot.derived(plants)) == 2


def test_controllers_of_the_package_are_known_without_being_traced(monkeypatch):
    robot = linkwork.load("planar2r")
    calls = []
    monkeypatch.setattr(TracedRobot, "motor_positions", lambda self, q: calls.append(q) or np.array(q))
    for _ in range(3):
        robot.rollout([0.1, 0.2], [0.0, 0.0], PD(2, 1), DT, 1, reference=Quintic([0, 0], [0.3, 0.2], 0.5))
    assert len(calls) == 2  # traced once, which asks twice


def test_randomness_is_still_refused():
    @with_memory(z=0.0)
    def law(t, q, v, reference, memory):
        return np.random.default_rng().normal(size=2), {"z": 0.0}

    with pytest.raises(linkwork.UnsupportedError, match="changes from call to call"):
        ARM.rollout(Q, V, law, DT, STEPS)
