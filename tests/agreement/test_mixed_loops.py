"""Loops of joints of every kind against Pinocchio's trees with multipliers; balls as joints of a parallel robot's legs."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement
from support.evaluate import assert_close
from support.kkt_mixed import MixedReference, closed_chain
from support.parallel_robots import with_joints_for_balls

CHAINS = {
    "a universal and a cylindrical joint": (("revolute", "universal", "cylindrical"), "universal"),
    "three cylindrical joints": (("revolute", "cylindrical", "cylindrical", "cylindrical"), "weld"),
    "a ball that is independent in part": (("revolute", "universal", "cylindrical", "spherical"), "weld"),
    "three balls": (("spherical", "spherical"), "spherical"),
    "a plane and a screw": (("universal", "planar", "helical", "revolute"), "revolute"),
    "a floating body in part": (("floating", "revolute"), "revolute"),
    "a floating body in the middle": (("prismatic", "floating", "universal"), "prismatic"),
}


class Case:
    """A mechanism at a closed position beside its home, moving."""

    def __init__(self, description: Description, seed: int):
        self.robot = linkwork.load(description)
        model = self.model = self.robot.model
        self.mobility = model.mobility
        self.reference = MixedReference(description, model.coordinates.positions.joints)
        rng = np.random.default_rng(seed)
        independent = list(self.mobility.independent)
        step = self.G_at(model.home) @ rng.normal(size=len(independent))
        beside = self.reference.moved(np.array(model.home), 0.05 * step / np.abs(step).max())
        self.q = self.reference.closed(beside, independent)
        assert np.isfinite(self.q).all()
        self.G = self.G_at(self.q)
        self.v, self.a = rng.uniform(-1, 1, (2, model.nv))
        self.rates = self.G @ self.v
        self.tau = rng.uniform(-5, 5, len(self.mobility.forced))

    def G_at(self, q) -> np.ndarray:
        return self.reference.velocity_map(np.array(q), self.mobility.independent)

    def all_forces(self, values, freedoms) -> np.ndarray:
        forces = np.zeros(self.model.n_leading)
        forces[list(freedoms)] = values
        return forces


def check(case: Case) -> None:
    robot, reference, mobility, q = case.robot, case.reference, case.mobility, case.q
    independent = list(mobility.independent)
    assert np.abs(robot.loop_residual(q)).max() < 1e-11
    assert_close(robot.velocity_map(q), case.G)
    assert_close(robot.inertia_matrix(q), case.G.T @ reference.inertia_matrix(q) @ case.G)
    forces = case.all_forces(case.tau, mobility.forced)
    a, _ = reference.solve(q, case.rates, accelerations={}, forces=forces, unknown=())
    assert_close(robot.joint_accelerations(q, case.v, a[independent]), a, tolerance=1e-11)  # by condition
    assert_close(robot.forward_dynamics(q, case.v, case.tau), a[independent], scale=np.abs(a).max(), tolerance=1e-11)
    assert_close(robot.constrained_dynamics(q, case.rates, case.tau)[0], a, tolerance=1e-11)
    known, pushed = case.a[: len(mobility.driven)], case.tau[: len(mobility.free)]
    a, forces = reference.solve(
        q,
        case.rates,
        accelerations=dict(zip(mobility.driven, known)),
        forces=case.all_forces(pushed, mobility.free),
        unknown=mobility.motors,
    )
    tau, free = robot.hybrid_dynamics(q, case.v, known, pushed)
    assert_close(tau, forces[list(mobility.motors)], tolerance=1e-11)
    assert_close(free, a[list(mobility.free)], scale=np.abs(a).max(), tolerance=1e-11)


@pytest.mark.parametrize("back", (False, True), ids=("outward", "back"))
@pytest.mark.parametrize("name", CHAINS)
def test_every_kind_of_joint_in_a_loop(name: str, back: bool):
    for seed in range(2):
        check(Case(closed_chain(*CHAINS[name], seed, back=back), seed))


def test_a_loop_on_a_floating_base():
    case = Case(closed_chain(*CHAINS["three balls"], 3, floating=True), 3)
    assert set(range(6)) <= set(case.mobility.free)
    check(case)


@pytest.mark.parametrize("name", CHAINS)
def test_assembly_beside_home(name: str):
    """What is known whole is where it was asked to be; what is known in part keeps that part of the guess."""
    case = Case(closed_chain(*CHAINS[name], 1), 1)
    assembler = linkwork.assembly.Assembler(case.model)
    found = case.robot.assemble(case.q[assembler.places], guess=case.q).require()
    assert_close(found, case.q, tolerance=1e-11)
    from_home = case.robot.assemble(case.q[assembler.places]).require()
    assert np.abs(case.robot.loop_residual(from_home)).max() < 1e-11
    assert_close(from_home[assembler.places], case.q[assembler.places])


def test_description_of_a_partly_independent_ball():
    """What was chosen is written down, part by part, and read again."""
    robot = linkwork.load(closed_chain(*CHAINS["a ball that is independent in part"], 0))
    again = linkwork.model.describe(robot.model)
    assert again.independent == ("joint1", "joint4.rx")
    assert linkwork.load(again).model.mobility.independent == robot.model.mobility.independent


# -- a parallel robot with balls in its legs ---------------------------------------------------------------------------


def with_balls(description: Description, universal: bool = False) -> Description:
    """Each leg ends in a ball joint of the tree, with a body of its own, that is welded to the platform; it begins with
    a universal joint, if asked."""
    robot = linkwork.load(description)
    links, joints, loops, home = [*description.links], [*description.joints], [], dict(description.home)
    for loop in description.loops:
        link, tip = loop.first
        name = f"{loop.name}_ball"
        first, hold = (robot.pose(side[0], robot.home)[:3, :3] @ side[1].rotation for side in (loop.first, loop.second))
        links.append(Link(name, LinkInertia(0.3, np.array([0.02, -0.01, 0.03]), np.diag([4e-4, 5e-4, 6e-4]))))
        joints.append(JointDescription(name, "spherical", link, name, tip, role="passive"))
        home[name] = tuple(quaternion(first.T @ hold))
        loops.append(replace(loop, kind="weld", first=(name, Placement())))
    found = replace(description, links=tuple(links), joints=tuple(joints), loops=tuple(loops), home=home)
    return universals(found) if universal else found


def universals(description: Description) -> Description:
    """The first two joints of each leg, which meet at right angles, as one."""
    inner = {joint.child: joint for joint in description.joints}
    joints, links, home = [], [*description.links], dict(description.home)
    for joint in description.joints:
        before = inner.get(joint.parent)
        if before and before.kind == joint.kind == "revolute" and before.parent == description.root:
            axis = joint.origin.rotation.T @ before.axis
            assert not joint.origin.translation.any() and abs(axis @ joint.axis) < 1e-15
            origin = before.origin @ Placement(joint.origin.rotation)
            merged = replace(joint, kind="universal", parent=before.parent, origin=origin, axis=axis)
            joints = [each for each in joints if each is not before]
            joints.append(replace(merged, second_axis=joint.axis))
            links = [link for link in links if link.name != before.child]
            home[joint.name] = (home.pop(before.name, 0.0), home.get(joint.name, 0.0))
        else:
            joints.append(joint)
    return replace(description, links=tuple(links), joints=tuple(joints), home=home)


def quaternion(R: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(
        np.array(
            [
                [R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
                [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
                [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
                [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], R[0, 0] + R[1, 1] + R[2, 2]],
            ]
        )
    )
    return vectors[:, np.argmax(values)]


HEXAPOD = linkwork.io.read("gough-stewart")
MASSLESS = {"balls": False, "balls and universal joints": True}


def without_friction(description: Description) -> Description:
    return replace(description, joints=tuple(replace(j, coulomb=0.0, viscous=0.0) for j in description.joints))


@pytest.mark.parametrize("universal", (False, True), ids=("balls", "balls and universal joints"))
def test_a_hexapod_with_balls_in_its_legs(universal: bool):
    """By the platform's method, by the tree's, and by Pinocchio's tree with multipliers."""
    description = without_friction(with_balls(HEXAPOD, universal))
    robot = linkwork.load(description)
    assert robot.joint_names == () and robot.nv == 6 and len(robot.model.mobility.driven) == 6
    case = Case(description, 0)
    check(case)
    a = case.robot.forward_dynamics(case.q, case.v, case.tau)
    for quantity, given, expected in (("forward_dynamics", case.tau, a), ("inverse_dynamics", a, case.tau)):
        for method in ("khalil-parallel", "rnea" if quantity == "inverse_dynamics" else "crba-ldl"):
            found = linkwork.compile(robot, quantity, method=method, backend="interpreter")(case.q, case.v, given)
            assert_close(found, expected, tolerance=1e-11)  # by condition


def as_cut(description: Description) -> Description:
    """Balls without bodies of their own."""
    links = (Link(link.name) if link.name.endswith("_ball") else link for link in description.links)
    return replace(description, links=tuple(links))


def test_balls_of_the_tree_do_what_cut_balls_and_three_hinges_do():
    """Of the same platform, motors and legs; the balls have no mass."""
    cut = without_friction(HEXAPOD)
    hinges = with_joints_for_balls(cut, 3)
    flat = {joint.name: Placement(translation=joint.origin.translation) for joint in hinges.joints}
    assert flat  # three hinges one after the other, whose axes meet
    robots = [linkwork.load(each) for each in (cut, as_cut(with_balls(cut)), as_cut(with_balls(cut, True)))]
    rng, first = np.random.default_rng(3), robots[0]
    pose = np.array(first.home[:7]) + np.append(rng.uniform(-0.05, 0.05, (4, 3)), rng.uniform(-0.1, 0.1, (4, 4)), axis=1)
    v, a = rng.uniform(-1, 1, (2, 4, 6))
    tau = first.inverse_dynamics(first.assemble(pose).require(), v, a)
    for robot in robots[1:]:
        q = robot.assemble(pose).require()
        assert_close(robot.inverse_dynamics(q, v, a), tau)
        assert_close(robot.forward_dynamics(q, v, tau), a, tolerance=1e-11)  # by condition


def test_a_platform_on_balls_keeps_its_energy():
    """Two seconds on springs in place of motors: energy to the order of the integrator, balls of unit quaternions."""
    springs = tuple(
        replace(joint, stiffness=4e3, rest=1.2) if joint.kind == "prismatic" else joint
        for joint in without_friction(with_balls(HEXAPOD, True)).joints
    )
    robot = linkwork.load(replace(with_balls(HEXAPOD, True), joints=springs))
    v = np.array([0.3, -0.2, 0.1, 0.5, -0.4, 0.8])
    drifts = []
    for dt in (2e-3, 1e-3):
        motion = robot.simulate(robot.home, v, duration=2.0, dt=dt, method="rk4", every=20)
        energy = motion["kinetic_energy"] + motion["potential_energy"]
        assert np.ptp(motion["kinetic_energy"]) > 1.0
        assert np.abs(motion["loop_residual"]).max() < 1e-10
        drifts.append(np.ptp(energy) / np.ptp(motion["kinetic_energy"]))
    print(drifts)
    assert drifts[1] < 1e-8 and drifts[1] < drifts[0] / 8
