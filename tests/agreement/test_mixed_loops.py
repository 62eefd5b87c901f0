"""Loops of every kind of joint against Pinocchio's trees with multipliers; parallel robots with balls in their legs."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.io.mjcf import read_mjcf
from linkwork.model import WELD, Description, JointDescription, Link, LinkInertia, Placement
from support.evaluate import assert_close, evaluate
from support.kkt import Reference
from support.mixed_loops import closed_chain
from support.parallel_robots import universals, with_joints_for_balls

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
        self.reference = Reference(description)
        assert self.reference.leading == model.coordinates.positions.joints
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
        forces = np.zeros(self.model.coordinates.nv)
        forces[list(freedoms)] = values
        return forces


def check(case: Case) -> None:
    model, reference, mobility, q = case.model, case.reference, case.mobility, case.q
    independent = list(mobility.independent)
    assert np.abs(evaluate(model, "loop_residual", q)).max() < 1e-11
    assert_close(evaluate(model, "velocity_map", q), case.G)
    assert_close(evaluate(model, "inertia_matrix", q), case.G.T @ reference.inertia_matrix(q) @ case.G)
    forces = case.all_forces(case.tau, mobility.forced)
    a, _ = reference.solve(q, case.rates, accelerations={}, forces=forces, unknown=())
    own, scale, tolerance = a[independent], np.abs(a).max(), 1e-11  # by condition
    assert_close(evaluate(model, "joint_accelerations", q, case.v, own), a, tolerance=tolerance)
    assert_close(evaluate(model, "forward_dynamics", q, case.v, case.tau), own, scale=scale, tolerance=tolerance)
    assert_close(evaluate(model, "constrained_dynamics", q, case.rates, case.tau)[0], a, tolerance=tolerance)
    known, pushed = case.a[: len(mobility.driven)], case.tau[: len(mobility.free)]
    a, forces = reference.solve(
        q,
        case.rates,
        accelerations=dict(zip(mobility.driven, known)),
        forces=case.all_forces(pushed, mobility.free),
        unknown=mobility.motors,
    )
    tau, free = evaluate(model, "hybrid_dynamics", q, case.v, known, pushed)
    assert_close(tau, forces[list(mobility.motors)], tolerance=1e-11)
    assert_close(free, a[list(mobility.free)], scale=np.abs(a).max(), tolerance=1e-11)


@pytest.mark.parametrize("back", (False, True), ids=("outward", "back"))
@pytest.mark.parametrize("name", CHAINS)
def test_every_kind_of_joint_in_a_loop(name: str, back: bool):
    for seed in (0, 2):
        check(Case(closed_chain(*CHAINS[name], seed, back=back), seed))


def test_a_loop_on_a_floating_base():
    case = Case(closed_chain(*CHAINS["three balls"], 3, floating=True), 3)
    assert set(range(6)) <= set(case.mobility.free)
    check(case)


BODY = '<geom type="ellipsoid" size=".1 .2 .15" pos=".1 .05 .02"/>'
HOLDING = f"""<mujoco><worldbody>
  <body name="upper"><joint name="yaw"/><joint name="pitch" axis="0 1 0"/>{BODY}
    <body name="fore" pos=".4 0 .1" euler="0 40 0"><joint name="elbow" axis="0 1 .3"/>{BODY}
      <body name="hand" pos=".3 0 0"><joint name="wrist" type="ball"/>{BODY}</body></body></body>
  <body name="held" pos=".8 .1 .2" euler="10 20 30"><freejoint/>{BODY}</body>
  <body name="loose" pos="-1 0 0"><freejoint/>{BODY}</body></worldbody>
  <equality>%s</equality>
  <actuator><motor joint="yaw"/><motor joint="pitch"/><motor joint="elbow"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    "hold", ['<connect body1="hand" body2="held" anchor=".2 0 0"/>', '<weld body1="held" body2="hand"/>']
)
def test_an_arm_that_holds_a_floating_body(hold: str):
    """Few motors stay independent, and drive the arm; what it holds follows as far as it must."""
    case = Case(read_mjcf(HOLDING % hold), 0)
    assert case.mobility.motors == case.mobility.driven == (0, 1, 2)
    check(case)


@pytest.mark.parametrize("name", CHAINS)
def test_assembly_beside_home(name: str):
    """What is known whole is where it was asked to be; what is known in part keeps that part of the guess."""
    case = Case(closed_chain(*CHAINS[name], 2), 2)
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
    for loop in description.constraints:
        link, tip = loop.first
        name = f"{loop.name}_ball"
        first, hold = (robot.pose(side[0], robot.home)[:3, :3] @ side[1].rotation for side in (loop.first, loop.second))
        links.append(Link(name, LinkInertia(0.3, np.array([0.02, -0.01, 0.03]), np.diag([4e-4, 5e-4, 6e-4]))))
        joints.append(JointDescription(name, "spherical", link, name, tip, role="passive"))
        home[name] = tuple(quaternion(first.T @ hold))
        loops.append(replace(loop, kind=WELD, first=(name, Placement())))
    found = replace(description, links=tuple(links), joints=tuple(joints), constraints=tuple(loops), home=home)
    return universals(found) if universal else found


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


def without_friction(description: Description) -> Description:
    return replace(description, joints=tuple(replace(j, coulomb=0.0, viscous=0.0) for j in description.joints))


@pytest.mark.parametrize("universal", (False, True), ids=("balls", "balls and universal joints"))
def test_a_hexapod_with_balls_in_its_legs(universal: bool):
    """By the platform's method, by the tree's, and by Pinocchio's tree with multipliers."""
    description = without_friction(with_balls(HEXAPOD, universal))
    case = Case(description, 0)
    assert case.model.coordinates.of_freedoms(case.mobility.independent).joints == ("platform_joint",)
    check(case)
    a = evaluate(case.model, "forward_dynamics", case.q, case.v, case.tau, method="crba-ldl")
    for quantity, given, expected in (("forward_dynamics", case.tau, a), ("inverse_dynamics", a, case.tau)):
        for method in ("khalil-parallel", "rnea" if quantity == "inverse_dynamics" else "crba-ldl"):
            found = evaluate(case.model, quantity, case.q, case.v, given, method=method)
            assert_close(found, expected, tolerance=1e-11)  # by condition


def as_cut(description: Description) -> Description:
    """Balls without bodies of their own."""
    links = (Link(link.name) if "_ball" in link.name else link for link in description.links)
    return replace(description, links=tuple(links))


def hinges_for_balls(description: Description) -> Description:
    """Three hinges whose axes meet."""
    apart = with_joints_for_balls(description, 3)
    joints = (
        replace(joint, origin=Placement()) if joint.name.endswith(("_ball1", "_ball2")) else joint
        for joint in apart.joints
    )
    loops = (replace(loop, first=(loop.first[0], Placement())) for loop in apart.constraints)
    return replace(apart, joints=tuple(joints), constraints=tuple(loops))


def test_balls_of_the_tree_do_what_cut_balls_and_three_hinges_do():
    """Of the same platform, motors and legs; balls and crosses have no mass."""
    links = tuple(Link(link.name) if link.name.endswith("_cross") else link for link in HEXAPOD.links)
    cut = without_friction(replace(HEXAPOD, links=links))
    others = as_cut(with_balls(cut)), as_cut(with_balls(cut, True)), without_friction(as_cut(hinges_for_balls(cut)))
    v, a, shift = np.random.default_rng(3).uniform(-1, 1, (3, 6))
    tau = None
    for description in (cut, *others):
        model = linkwork.load(description).model
        step = np.zeros(model.coordinates.nv)
        step[list(model.mobility.independent)] = 0.05 * shift
        reference = Reference(description)
        q = reference.closed(reference.moved(np.array(model.home), step), list(model.mobility.independent))
        tau = evaluate(model, "inverse_dynamics", q, v, a) if tau is None else tau
        assert_close(evaluate(model, "inverse_dynamics", q, v, a), tau)
        assert_close(evaluate(model, "forward_dynamics", q, v, tau), a, tolerance=1e-11)  # by condition


def on_two_legs(description: Description) -> Description:
    """Two of six legs are left, with springs; nothing weighs."""
    links = tuple(link for link in description.links if not link.name.startswith(("leg2", "leg3", "leg5", "leg6")))
    kept = {link.name for link in links}
    joints = tuple(
        replace(joint, role="elastic", stiffness=2e3, rest=1.1) if joint.kind == "prismatic" else joint
        for joint in description.joints
        if joint.child in kept
    )
    loops = tuple(loop for loop in description.constraints if loop.first[0] in kept)
    home = {joint.name: description.home[joint.name] for joint in joints if joint.name in description.home}
    return replace(description, links=links, joints=joints, constraints=loops, home=home, gravity=(0.0, 0.0, 0.0))


def test_a_platform_on_balls_keeps_its_energy():
    """Two seconds on springs: energy to the order of the integrator, loops closed, balls of unit quaternions."""
    robot = linkwork.load(on_two_legs(without_friction(with_balls(HEXAPOD, True))), friction=False)
    balls = [slice(own.start, own.stop) for own in robot.model.coordinates.position_ranges if len(own) == 4]
    assert len(balls) == 2 and robot.nv == 6
    v, drifts = [0.2, -0.1, 0.3, 0.4, -0.3, 0.6], []
    for dt in (4e-3, 2e-3):
        motion = robot.simulate(robot.home, v, duration=2.0, dt=dt, method="rk4", every=25)
        kinetic = motion["kinetic_energy"]
        drifts.append(np.ptp(kinetic + motion["potential_energy"]) / np.ptp(kinetic))
        assert np.ptp(kinetic) > 0.5 and np.abs(motion["loop_residual"]).max() < 1e-9
        for own in balls:
            np.testing.assert_allclose(np.linalg.norm(motion["q"][:, own], axis=-1), 1, rtol=1e-12)
    assert drifts[1] < 1e-9 and drifts[1] < drifts[0] / 8, drifts
