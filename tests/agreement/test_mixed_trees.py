"""Trees of every kind of joint against Pinocchio, built of its own joints, and against MuJoCo.

Neither shares more with linkwork than the Description; how their numbers come from ours stands in ``support``.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import linkwork
from linkwork.formulations import methods
from linkwork.model import Description
from support.evaluate import assert_close, deviation, evaluate
from support.mixed_trees import KINDS, TREES, joint_order, mixed, turned_off
from support.mujoco_tree import MujocoTree
from support.pinocchio_tree import PinocchioTree

TOLERANCE = 1e-12
# Methods that no kind of joint keeps away. Others may refuse, but where they do not they are right.
FOR_ALL = {
    "inverse_dynamics": {"rnea", "shared-axes"},
    "inertia_matrix": {"crba", "unit-accelerations"},
    "bias": {"newton-euler", "shared-axes"},
    "forward_dynamics": {"crba-ldl", "aba"},
    "hybrid_dynamics": {"khalil", "blocks"},
}

every_tree = pytest.mark.parametrize("tree", TREES)


class Case:
    """A robot, both references and a random state."""

    def __init__(self, description: Description, seed: int = 0):
        self.description, self.robot = description, linkwork.load(description)
        self.model = self.robot.model
        order = joint_order(self.robot.coordinates.names)
        self.pinocchio, self.mujoco = PinocchioTree(description, order), MujocoTree(description, order)
        self.places = self.pinocchio.places
        self.q, self.v, self.a = self.places.state(seed)
        self.references = (self.pinocchio, self.mujoco)

    def able(self, quantity: str) -> list[str]:
        """The methods that do not refuse."""
        able = [method.name for method in methods(quantity) if not method.refusal(self.model)]
        assert FOR_ALL[quantity] <= set(able)
        return able

    def agrees(self, quantity: str, *inputs: np.ndarray, method: str = "", tolerance: float = TOLERANCE) -> None:
        found = evaluate(self.model, quantity, *inputs, method=method)
        for reference in self.references:
            expected = getattr(reference, quantity)(*inputs)
            off = deviation(found, expected)
            assert off <= tolerance, f"{quantity} {method}: {off:.1e} from {type(reference).__name__}"


@cache
def case(tree: str) -> Case:
    return Case(mixed(TREES[tree]))


def forward_tolerance(M: np.ndarray) -> float:
    """Rounding of the forces, enlarged by the condition of the inertia matrix."""
    return TOLERANCE + 1e-15 * np.linalg.cond(M)


@every_tree
def test_the_references_agree(tree: str, deviations):
    """So a mistake in a map between coordinates shows before anything is said of linkwork."""
    here = case(tree)
    one, other, (q, v, a) = here.pinocchio, here.mujoco, (here.q, here.v, here.a)
    asked = {
        "inverse_dynamics": (q, v, a),
        "bias": (q, v),
        "gravity": (q,),
        "inertia_matrix": (q,),
        "kinetic_energy": (q, v),
        "potential_energy": (q,),
        "momentum": (q, v),
        "center_of_mass": (q,),
    }
    for quantity, inputs in asked.items():
        off = deviation(getattr(one, quantity)(*inputs), getattr(other, quantity)(*inputs))
        deviations(f"{quantity}, Pinocchio from MuJoCo", off)
        assert off <= TOLERANCE, quantity
    assert_close(one.places.same(one.ours(one.positions(q)), q), one.places.normalised(q), tolerance=1e-14)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "bias", "inertia_matrix", "forward_dynamics"])
@every_tree
def test_every_method(tree: str, quantity: str):
    here = case(tree)
    q, v, a = here.q, here.v, here.a
    tau = here.pinocchio.inverse_dynamics(q, v, a)
    inputs = {"inverse_dynamics": (q, v, a), "bias": (q, v), "inertia_matrix": (q,), "forward_dynamics": (q, v, tau)}
    forward = quantity == "forward_dynamics"
    tolerance = forward_tolerance(here.pinocchio.inertia_matrix(q)) if forward else TOLERANCE
    for method in here.able(quantity):
        here.agrees(quantity, *inputs[quantity], method=method, tolerance=tolerance)


@every_tree
def test_hybrid_dynamics(tree: str):
    """About half of the joints have no motor."""
    joints = case(tree).description.joints
    for seed in (0, 1):
        here = Case(replace(case(tree).description, joints=turned_off(joints, seed)), seed)
        q, v, a = here.q, here.v, here.a
        tau, M = here.pinocchio.inverse_dynamics(q, v, a), here.pinocchio.inertia_matrix(q)
        driven, free, motors = (list(getattr(here.model.mobility, name)) for name in ("driven", "free", "motors"))
        assert sorted(driven + free) == list(range(here.places.nv))
        for method in here.able("hybrid_dynamics"):
            forces, accelerations = evaluate(here.model, "hybrid_dynamics", q, v, a[driven], tau[free], method=method)
            assert_close(forces, tau[motors], scale=np.abs(tau).max(), tolerance=forward_tolerance(M))
            assert_close(accelerations, a[free], scale=np.abs(a).max(), tolerance=forward_tolerance(M))


@every_tree
def test_gravity_energies_and_momentum(tree: str):
    here = case(tree)
    for quantity in ("gravity", "potential_energy", "center_of_mass"):
        here.agrees(quantity, here.q)
    for quantity in ("kinetic_energy", "momentum"):
        here.agrees(quantity, here.q, here.v)


@every_tree
def test_coriolis_matrix(tree: str):
    """C v is bias less gravity, and C + C^T the rate of M, here by differences of Pinocchio's."""
    here = case(tree)
    q, v, peer = here.places.normalised(here.q), here.v, here.pinocchio
    C = evaluate(here.model, "coriolis_matrix", q, v)
    M = peer.inertia_matrix(q)
    assert_close(C @ v, peer.bias(q, v) - peer.gravity(q), scale=np.abs(M).max() * np.abs(v).max() ** 2)

    def slope(h: float) -> np.ndarray:
        return (peer.inertia_matrix(peer.integrate(q, h * v)) - peer.inertia_matrix(peer.integrate(q, -h * v))) / (
            2 * h
        )

    Mdot = (4 * slope(5e-4) - slope(1e-3)) / 3
    assert_close(C + C.T, Mdot, scale=np.abs(M).max(), tolerance=1e-9)  # what the differences leave


@every_tree
def test_frames(tree: str):
    here = case(tree)
    (q, v), (one, other) = (here.q, here.v), here.references
    links = here.model.link_names
    for frame in {"tool", "base", *links[:: len(links) // 8 + 1], links[-1]}:
        size = max(1.0, np.abs(one.pose(q, frame)).max())
        assert_close(evaluate(here.model, "pose", q, frame=frame), one.pose(q, frame), scale=size)
        for axes in ("world", "local"):
            J = one.jacobian(q, frame, axes)
            assert_close(evaluate(here.model, "jacobian", q, frame=frame, axes=axes), J, scale=size)
            drift = evaluate(here.model, "jacobian_drift", q, v, frame=frame, axes=axes)
            assert_close(drift, one.jacobian_drift(q, v, frame, axes), scale=np.abs(J).max() * np.abs(v).max() ** 2)
        if frame != "tool":
            assert_close(evaluate(here.model, "pose", q, frame=frame), other.pose(q, frame), scale=size)
            J = other.jacobian(q, frame)
            assert_close(evaluate(here.model, "jacobian", q, frame=frame), J, scale=size)
            drift = evaluate(here.model, "jacobian_drift", q, v, frame=frame)
            assert_close(drift, other.jacobian_drift(q, v, frame), scale=np.abs(J).max() * np.abs(v).max() ** 2)


@every_tree
def test_regressor(tree: str):
    """Times the robot's own parameters, and times those of another robot that differs in nothing but inertias."""
    here = case(tree)
    q, v, a = here.q, here.v, here.a
    Y = evaluate(here.model, "regressor", q, v, a)
    tau = here.pinocchio.inverse_dynamics(q, v, a)
    assert_close(Y @ here.robot.parameter_values(), tau)
    other = heavier(here.description)
    expected = PinocchioTree(other, here.places.order).inverse_dynamics(q, v, a)
    assert deviation(expected, tau) > 0.1
    assert_close(Y @ linkwork.load(other).parameter_values(), expected)


@pytest.mark.parametrize("tree", [*KINDS, "bushy", "floating base"])
def test_minimal_regressor(tree: str):
    here = case(tree)
    expected = here.pinocchio.inverse_dynamics(here.q, here.v, here.a)
    compiled = here.robot.compile("regressor", parameters="minimal", backend="interpreter")
    Y = compiled(here.q, here.v, here.a)
    assert Y.shape[1] < len(here.robot.parameter_values())
    assert_close(Y @ here.robot.parameter_values("minimal"), expected)


def heavier(description: Description) -> Description:
    """The same joints with the links' inertias moved on by one link, and scaled."""
    inertias = [link.inertia for link in description.links if link.inertia is not None]
    inertias = [inertias[-1], *inertias[:-1]]
    links = []
    for link in description.links:
        if link.inertia is not None:
            own = inertias.pop(0)
            link = replace(link, inertia=replace(own, mass=1.7 * own.mass, central=2.3 * own.central))
        links.append(link)
    return replace(description, links=tuple(links))


@pytest.mark.parametrize("tree", ["helical", "universal", "cylindrical", "planar"])
def test_the_same_tree_in_mjcf(tree: str, tmp_path):
    """Read by linkwork: several hinges and slides in one body, at the positions and rates they have there."""
    here = case(tree)
    (tmp_path / "tree.xml").write_text(here.mujoco.text)
    robot = linkwork.load(tmp_path / "tree.xml")
    T, _ = here.mujoco.moved(here.q, here.v, here.a)
    theirs, data = here.mujoco.model, here.mujoco.data
    order = [theirs.joint(name).dofadr[0] for name in robot.coordinates.names]
    assert sorted(order) == list(range(theirs.nv))
    tau = np.zeros(theirs.nv)
    tau[order] = evaluate(robot.model, "inverse_dynamics", data.qpos[order], data.qvel[order], data.qacc[order])
    assert_close(T.T @ tau, here.pinocchio.inverse_dynamics(here.q, here.v, here.a))


COMPILED = ["branched", "floating base", "robot and objects"]


@pytest.mark.parametrize("backend", ["interpreter", "native"])
@pytest.mark.parametrize("tree", COMPILED)
def test_compiled(tree: str, backend: str):
    """Programs after all passes, with grouped parameters, on a batch of states."""
    here = case(tree)
    peer, states = here.pinocchio, [here.places.state(seed) for seed in range(5)]
    q, v, a = (np.array(column) for column in zip(*states))
    tau = np.array([peer.inverse_dynamics(*state) for state in states])
    compiled = {name: here.robot.compile(name, backend=backend) for name in FOR_ALL if name != "hybrid_dynamics"}
    assert_close(compiled["inverse_dynamics"](q, v, a), tau)
    assert_close(compiled["bias"](q, v), [peer.bias(*state[:2]) for state in states])
    M = np.array([peer.inertia_matrix(state[0]) for state in states])
    assert_close(compiled["inertia_matrix"](q), M)
    assert_close(compiled["forward_dynamics"](q, v, tau), a, tolerance=max(map(forward_tolerance, M)))
