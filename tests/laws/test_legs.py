"""Robots on their feet: dynamics in every support against a solution of the KKT equations with Pinocchio's tree;
impacts, gaits and slides against closed forms and published numbers."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import io
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement, foot_at
from support.evaluate import rotation_of
from support.mixed_trees import MixedRecipe, mixed
from support.pinocchio_tree import PinocchioTree

REL = 1e-11  # of solutions of systems of up to forty unknowns


KINDS = ("revolute", "universal", "prismatic", "spherical", "revolute")


def with_feet(seed: int, *soles: bool, kinds: tuple[str, ...] = KINDS):
    """A floating tree of mixed joints, with feet at frames askew on its last links: soles or points."""
    rng = np.random.default_rng(seed)
    description = mixed(MixedRecipe(seed, kinds, 3, True))
    frames, feet = dict(description.frames), []
    for k, sole in enumerate(soles):
        frames[f"foot{k}"] = (
            f"link{len(kinds) - k}",
            Placement(rotation_of(rng.normal(size=4)), rng.uniform(-0.3, 0.3, 3)),
        )
        feet.append(foot_at(f"f{k}", f"foot{k}", size=(0.2, 0.1) if sole else ()))
    return replace(description, frames=frames, constraints=tuple(feet))


class KKT:
    """M, bias and rows of the feet from Pinocchio; equations by least squares, which take what is the shortest."""

    def __init__(self, description, q, v):
        self.tree, self.feet = PinocchioTree(description), description.constraints
        self.M, self.h = self.tree.inertia_matrix(q), self.tree.bias(q, v)
        friction = {joint.name: joint for joint in description.joints}
        for name, at in self.tree.places.v.items():
            if name in friction:
                self.h[at] += friction[name].coulomb * np.sign(v[at]) + friction[name].viscous * v[at]
        self.J = [self.tree.jacobian(q, foot.second)[: 6 if foot.kind.size else 3] for foot in self.feet]
        self.gamma = [self.tree.jacobian_drift(q, v, foot.second)[: len(J)] for foot, J in zip(self.feet, self.J)]
        self.scales = [
            np.array([2.0] * 3 + [np.sqrt(np.mean(np.square(foot.kind.size)))] * 3) if foot.kind.size else np.ones(3)
            for foot in self.feet
        ]

    def rows(self, contacts):
        """Of the feet in contact, scaled so that short multipliers are least forces, and their drifts."""
        on = [k for k, c in enumerate(contacts) if c]
        scales = [contacts[k] * self.scales[k] for k in on]
        J = np.concatenate([s[:, None] * self.J[k] for k, s in zip(on, scales)] or [np.zeros((0, len(self.h)))])
        return on, J, np.concatenate([s * self.gamma[k] for k, s in zip(on, scales)] or [[]])

    def forces(self, on, contacts, x):
        forces, at = np.zeros((len(self.feet), 6)), 0
        for k in on:
            n = len(self.scales[k])
            forces[k, :n] = contacts[k] * self.scales[k] * x[at : at + n]
            at += n
        return forces

    def held(self, contacts, right, wanted):
        """x and forces with M x - J^T f = right and J x = wanted (of the feet that are on)."""
        on, J, _ = self.rows(contacts)
        L = np.linalg.cholesky(self.M)
        Z, y = np.linalg.solve(L, J.T).T, np.linalg.solve(L, right)
        f = np.linalg.pinv(Z.T, 1e-9) @ np.linalg.pinv(Z, 1e-9) @ (wanted - Z @ y)
        return np.linalg.solve(self.M, right + J.T @ f), self.forces(on, contacts, f)

    def forward(self, tau, contacts):
        return self.held(contacts, tau - self.h, -self.rows(contacts)[2])


CORNERS = [(0.4, 0.1, 0.05), (0.4, -0.1, 0.05), (0.4, 0.1, -0.05), (0.4, -0.1, -0.05)]


def supports(feet):
    return np.array([*itertools.product((0.0, 1.0), repeat=len(feet))])


CASES = {
    "biped": lambda: io.read("biped"),
    "quadruped": lambda: io.read("quadruped"),
    "sole and points": lambda: with_feet(1, True, False, False),
    "soles": lambda: with_feet(2, True, True),
    "points": lambda: with_feet(3, False, False, False),
}


@pytest.mark.parametrize("case", CASES)
def test_every_support_as_the_kkt_equations_have_it(case):
    """Forward and inverse dynamics and impacts in all subsets of feet, weighted ones too; one function each."""
    description = CASES[case]()
    robot, rng = linkwork.load(description), np.random.default_rng(0)
    names = ("contact_dynamics", "contact_inverse_dynamics", "impact")
    forward, inverse, impact = (linkwork.compile(robot, name, backend="interpreter") for name in names)
    q = robot.coordinates.random(rng, 1)[0]
    before, tau = rng.normal(size=(2, robot.nv))
    for contacts in [*supports(description.constraints), rng.uniform(0.5, 2, len(description.constraints))]:
        v = impact(q, before, contacts, 0 * contacts).v_after
        kkt = KKT(description, q, v)
        found, expected = forward(q, v, tau, contacts), kkt.forward(tau, contacts)
        for x, y in zip(found, expected):
            np.testing.assert_allclose(x, y, rtol=REL, atol=REL * max(1, np.abs(y).max()))
        own = inverse(q, v, found.a, contacts)
        again = forward(q, v, own.tau, contacts)
        np.testing.assert_allclose(again.a, found.a, rtol=REL, atol=REL * max(1, np.abs(found.a).max()))
        on, J, _ = kkt.rows(contacts)
        base = np.linalg.lstsq(J[:, :6].T, (kkt.M @ found.a + kkt.h)[:6], rcond=1e-9)[0]
        if np.linalg.matrix_rank(J[:, :6], 1e-9) == 6:  # the feet can bear the base, by the least forces
            np.testing.assert_allclose(own.tau[:6], 0, atol=REL * np.abs(own.tau).max())
            forces = kkt.forces(on, contacts, base)
            np.testing.assert_allclose(own.forces, forces, rtol=REL, atol=REL * np.abs(forces).max())
        dependent = np.linalg.matrix_rank(J, 1e-9) < len(J)  # then feet cannot bounce each as it likes
        e = rng.uniform(0, 1, len(description.constraints)) * (not dependent)
        after, impulses = impact(q, before, contacts, e)
        normal = np.concatenate([np.r_[0, 0, -e[k], np.zeros(len(kkt.J[k]) - 3)] for k in on] or [[]])
        expected = kkt.held(contacts, kkt.M @ before, normal * (J @ before))
        np.testing.assert_allclose(after, expected[0], rtol=REL, atol=REL * max(1, np.abs(expected[0]).max()))
        np.testing.assert_allclose(impulses, expected[1], rtol=REL, atol=REL * max(1, np.abs(expected[1]).max()))


def test_feet_on_one_link_share_the_least_forces():
    """Twelve equations of which six follow from others: forces as the pseudo-inverse has them, in 500 states; and with
    weights of any size nothing is left to the base."""
    description = with_feet(6, kinds=("revolute", "universal"))
    frames = {f"p{k}": ("link2", Placement(np.eye(3), np.array(p))) for k, p in enumerate(CORNERS)}
    feet = tuple(foot_at(name, name) for name in frames)
    robot = linkwork.load(replace(description, frames=dict(description.frames) | frames, constraints=feet))
    rng, n = np.random.default_rng(0), 500
    q, v = robot.coordinates.random(rng, n), np.zeros((n, robot.nv))
    tau = rng.normal(size=(n, robot.nv))
    a, found = robot.contact_dynamics(q, v, tau, np.ones((n, 4)))
    J = np.concatenate([robot.jacobian(foot.second, q)[:, :3] for foot in feet], axis=1)
    L = np.linalg.cholesky(robot.inertia_matrix(q))
    Z, y = np.linalg.solve(L, J.swapaxes(1, 2)), np.linalg.solve(L, (tau - robot.bias(q, v))[..., None])
    back = np.linalg.pinv(Z, 1e-9)  # of Z^T
    f = -(back @ back.swapaxes(1, 2) @ Z.swapaxes(1, 2) @ y)
    expected = np.linalg.solve(L.swapaxes(1, 2), y + Z @ f)[..., 0]
    np.testing.assert_allclose(found[:, :, :3].reshape(f.shape), f, rtol=0, atol=1e-9 * np.abs(f).max())
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    for weights in ([1, 1e-6, 1e-6, 1], [1e-6, 1, 0, 1e-3]):
        own = robot.contact_inverse_dynamics(q, v, a, np.tile(weights, (n, 1))).tau
        np.testing.assert_allclose(own[:, :6], 0, atol=1e-11 * np.abs(f).max())


def test_what_is_said_of_feet():
    biped = linkwork.load("biped")
    q, v = biped.standing_position(), np.zeros(biped.nv)
    for call, words in (
        (lambda: biped.compile("contact_dynamics", dtype="float32"), "float64"),
        (lambda: biped.contact_dynamics(q, v, v, {"left": 1}), "contacts are missing"),
        (lambda: biped.simulate(q, v, 0.01, contacts={"lft": 1, "right": 1}), "there is no contact 'lft'"),
        (lambda: biped.rollout(q, v, None, 1e-3, 2, contacts="events"), "only simulate"),
        (lambda: biped.stepper(2, 1e-3, contacts=lambda t: [1, 1]), "cannot be a function"),
    ):
        with pytest.raises(linkwork.LinkworkError, match=words):
            call()
    raised = q + 0.5 * (np.arange(len(q)) == 2)
    for start, contacts, said in ((q, [1, 1], False), (raised, [1, 0], True), (raised, [0, 0], False)):
        run = biped.rollout(start, v, None, 1e-3, 1, contacts=contacts, outputs=("q",))
        assert any("left 0.5 m above" in note for note in run.notes) == said
    forces = np.array([[1e-9, 0, 400, 0, 0, 0], [0, 120 + 1e-9, 300, 0, 0, 0.0]])
    ice = linkwork.load(
        replace(
            io.read("biped"),
            constraints=tuple(
                replace(f, kind=replace(f.kind, friction=m)) for f, m in zip(io.read("biped").constraints, (0, 0.4))
            ),
        )
    )
    assert not ice.contact_forces(q, forces=forces).slips.any()  # rounding, and one that slides


def body(mass, inertia=0.0, centre=(0, 0, 0)):
    return LinkInertia(mass, np.array(centre, float), inertia * np.eye(3))


def tilted(slope: float, g: float = 9.81) -> tuple[float, float, float]:
    """Gravity on ground that falls towards x."""
    return g * np.sin(slope), 0.0, -g * np.cos(slope)


def in_the_plane(links, joints, **more):
    """Bodies that move in the plane of x and z: the first one by a planar joint."""
    plane = JointDescription("plane", "planar", "ground", links[0].name, axis=np.array([0.0, 1, 0]), role="passive")
    return linkwork.load(Description("walker", (Link("ground"), *links), (plane, *joints), **more))


# -- a schedule


def stool():
    """A floating body askew with a sole on one link and a point on another, high above the ground."""
    kinds = ("revolute", "universal")
    return linkwork.load(with_feet(4, True, False, kinds=kinds), gravity=(0.5, 1, -9.81))


@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
def test_feet_stay_where_they_stand(method):
    """On one foot and on two, of three samples with schedules of their own; and energy is accounted for. Semi-implicit
    Euler follows feet that are off beside the manifold of those that are on, which its records are put on: where a foot
    lands it is recorded beside where it then stays, by the error of a step."""
    robot = stool()
    q, feet = robot.coordinates.neutral(), [foot.second.name for foot in robot.model.switched]
    contacts = np.ones((3, 200, 2))
    contacts[1, 40:120, 1] = contacts[2, 80:, 0] = 0
    names = ("q", "v", "contacts", "contact_forces", "kinetic_energy", "potential_energy", "work")
    start = np.tile(q, (3, 1)), np.zeros((3, robot.nv))
    with pytest.warns(linkwork.SimulationWarning, match="foot f. would"):
        run = robot.rollout(*start, None, 1e-3, 200, contacts=contacts, method=method, outputs=names)
    for k, foot in enumerate(feet):
        n = 3 + 3 * (k == 0)  # a point turns
        for sample, held in enumerate(contacts[..., k]):
            pose, twist = (
                robot.pose(foot, run.q[sample]),
                robot.jacobian(foot, run.q[sample]) @ run.v[sample, :, :, None],
            )
            pose = pose if n == 6 else pose[:, :, 3]
            for part in np.split(np.arange(200), np.flatnonzero(np.diff(held)) + 1):
                if held[part[0]]:
                    assert np.abs(pose[part + 1] - pose[part[0] + 1]).max() < 1e-14
                    landed = part[0] and method == "semi-implicit-euler"
                    assert np.abs(pose[part[0] + 1] - pose[part[0]]).max() < (1e-7 if landed else 1e-14)
                    assert np.abs(twist[part + 1, :n]).max() < 1e-13
                else:
                    assert np.abs(pose[part[-1]] - pose[part[0]]).max() > 1e-4
    balance = run.kinetic_energy + run.potential_energy - run.work
    off, exchanged = np.abs(balance - balance[:, :1]).max(), np.ptp(run.potential_energy)
    assert off < (2e-2 if method == "semi-implicit-euler" else 1e-5) * exchanged  # of first order, and of fourth
    assert (
        run.work[1].min() < -1e-4 and np.abs(run.work[0]).max() < 1e-9
    )  # an impact took some; ground at rest takes none


def on_two_points(planar=False):
    frames = {name: ("rod", Placement(np.eye(3), np.array([x, 0, 0]))) for name, x in (("a", 0.3), ("b", -0.4))}
    feet = tuple(foot_at(name, name) for name in frames)
    rod = Link("rod", LinkInertia(1.0, np.array([0.1, 0, 0.2]), np.diag([0.1, 0.2, 0.2])))
    if planar:
        return in_the_plane([rod], [], frames=frames, constraints=feet)
    return linkwork.load(Description("rod", (rod,), (), floating=True, frames=frames, constraints=feet))


def test_a_stepper_is_told_before_each_step():
    robot = on_two_points()
    q, schedule = robot.coordinates.neutral(), np.ones((30, 2))
    schedule[5:15, 1] = 0
    expected = robot.rollout(q, np.zeros(6), None, 1e-2, 30, contacts=schedule)
    stepper = robot.stepper(2, 1e-2, q0=q, contacts=[1, 1])
    for row in schedule:
        stepper.contacts[0] = 0.5 * row  # what is not 0 is on
        stepper.step()
    np.testing.assert_allclose(stepper.q[0], expected.q[-1], rtol=0, atol=1e-13)
    assert np.abs(stepper.q[1] - expected.q[-1]).max() > 1e-3
    assert np.abs(robot.pose("a", stepper.q)[:, :3, 3] - [0.3, 0, 0]).max() < 1e-14


@pytest.mark.parametrize("method", ["heun", "semi-implicit-euler"])
def test_gradients_of_a_schedule(method):
    """Through contacts that begin and end, against differences; and by the linear systems of the steps, of a robot in
    the plane, which is sooner done, and by a method whose states are those that are recorded."""
    robot, rng, h = on_two_points(planar=method == "heun"), np.random.default_rng(0), 1e-5
    n = robot.nv
    q, v, torque = robot.coordinates.random(rng, 1)[0], np.zeros(n), rng.normal(size=(5, n))
    contacts = np.array([[1, 1], [1, 0], [0, 0], [0, 1], [1, 0]])
    how = {"method": method, "contacts": contacts, "outputs": ("v", "contact_forces"), "backend": "interpreter"}

    def run(q, v, torque, **more):
        return robot.rollout(q, v, torque, 1e-2, 5, **how, **more)

    taped = run(q, v, torque, checkpoint_every=1)
    weights = {name: rng.normal(size=taped[name].shape) for name in how["outputs"]}
    found = taped.pullback(**weights)
    dq, dv, du = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(5, n))
    two = [run(robot.coordinates.integrate(q, s * dq), v + s * dv, torque + s * du) for s in (h, -h)]
    slope = sum((weights[name] * (two[0][name] - two[1][name])).sum() for name in weights) / (2 * h)
    np.testing.assert_allclose(found.q0 @ dq + found.v0 @ dv + (found.torque * du).sum(), slope, rtol=1e-7)
    if method == "heun":
        found = taped.pullback(v=(np.arange(6)[:, None] == 5) * weights["v"][-1])
        A, B = taped.linearised()
        of_start, of_torque = weights["v"][-1] @ np.linalg.multi_dot(A[::-1])[n:], weights["v"][-1] @ (A[4] @ B[3])[n:]
        np.testing.assert_allclose([*found.q0, *found.v0], of_start, rtol=0, atol=1e-9 * np.abs(of_start).max())
        np.testing.assert_allclose(found.torque[3], of_torque, rtol=0, atol=1e-9 * np.abs(of_torque).max())


# -- events


def test_a_ball_bounces_as_it_should():
    """Impacts at t1 (1 + 2 e + ... + 2 e^k), in any step of the integrator; all is over at t1 (1 + e) / (1 - e)."""
    foot = foot_at("ball", "ball", restitution=0.5)
    ball = linkwork.load(Description("ball", (Link("ball", body(0.3, 1.0)),), (), floating=True, constraints=(foot,)))
    run = ball.simulate([0, 0, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0.4], 1.6, 0.02, contacts="events")
    first = np.sqrt(2 / 9.81)
    expected = [first * (1 + 2 * sum(0.5**j for j in range(1, k + 1))) for k in range(9)]
    found = [event.t for event in run.events if event.what == "touchdown"]
    np.testing.assert_allclose(found[:9], expected, rtol=1e-12)
    lost = 0.3 * 9.81 * 0.25 ** np.arange(9) * (1 - 0.25)
    np.testing.assert_allclose([event.lost for event in run.events][:9], lost, rtol=1e-9)
    assert abs(found[-1] - first * 1.5 / 0.5) < 1e-4  # slower bounces than 1e-4 m/s are none
    assert np.abs(run.q[-1, :3]).max() < 1e-12 and run.drift["energy"] < 1e-12


@pytest.mark.parametrize(("slope", "start"), [(0.28, 0.0), (0.45, 0.0), (0.2, 0.5)], ids=["sticks", "slides", "stops"])
def test_a_block_on_a_slope(slope, start):
    """It slides if tan(slope) > mu, with g (sin - mu cos), and comes to rest where that is negative."""
    mu, g = 0.3, 9.81
    box = Link("box", LinkInertia(2.0, np.array([0, 0, 0.1]), np.diag([0.02, 0.03, 0.04])))
    foot = foot_at("sole", "box", size=(0.6, 0.4), friction=mu)
    block = linkwork.load(Description("block", (box,), (), gravity=tilted(slope), floating=True, constraints=(foot,)))
    run = block.simulate([0, 0, 0, 0, 0, 0, 1], [start, 0, 0, 0, 0, 0], 0.8, 0.02, contacts="coulomb")
    a = g * (np.sin(slope) - mu * np.cos(slope))
    t = run.t if a > 0 else np.minimum(run.t, start / -a)
    expected = (start * t + a * t**2 / 2) if start or a > 0 else 0 * t
    np.testing.assert_allclose(run.q[:, 0], expected, atol=1e-12)
    assert np.abs(run.q[:, 1:6]).max() < 1e-12 and run.drift["energy"] < 1e-12
    stopped = [event.t for event in run.events if event.what == "stick"]
    np.testing.assert_allclose(stopped, [start / -a] * 4 if start else [], rtol=1e-9)
    loads = block.contact_forces(run.q, forces=run.contact_forces)
    np.testing.assert_allclose(loads.normal, 2 * g * np.cos(slope), rtol=1e-12)
    np.testing.assert_allclose(loads.needed[0, 0], mu if a > 0 or start else np.tan(slope), rtol=1e-9)
    np.testing.assert_allclose(loads.centre[0, 0, 0], 0.1 * loads.needed[0, 0], rtol=1e-9)  # below what bears it


@pytest.mark.parametrize("inertia", [0.1, 0.0])
def test_rimless_wheel(inertia):
    """McGeer (1990): each impact leaves the share (cos 2 alpha + r^2) / (1 + r^2) of the speed, r the radius of
    gyration over the spoke, and down a slope the speed settles where the loss is what a step falls. A hub without
    inertia, too."""
    spokes, m, L, slope, g = 8, 2.0, 0.5, 0.1, 9.81
    alpha, r2 = np.pi / spokes, inertia / (m * L**2)
    turns = [2 * alpha * k for k in range(spokes)]
    frames = {
        f"s{k}": ("wheel", Placement(np.eye(3), L * np.array([np.sin(x), 0, -np.cos(x)]))) for k, x in enumerate(turns)
    }
    feet = tuple(foot_at(name, name) for name in frames)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the hub has no inertia
        wheel = in_the_plane(
            [Link("wheel", body(m, inertia))], [], gravity=tilted(slope), frames=frames, constraints=feet
        )
    share = (np.cos(2 * alpha) + r2) / (1 + r2)
    cycle = np.sqrt(4 * g * np.sin(alpha) * np.sin(slope) / (L * (1 + r2) * (1 - share**2)))  # before an impact
    for speed in (cycle * share, 1.1 * cycle):
        q = np.array([0, -L * np.cos(alpha), -alpha])
        J = wheel.jacobian("s0", q)[[0, 2]]
        v = np.array([*np.linalg.solve(J[:, :2], -J[:, 2] * speed), speed])
        run = wheel.simulate(q, v, 1.2, 4e-3, contacts="events")
        lost = [event.lost for event in run.events if event.what == "touchdown"]
        assert [event.what for event in run.events] == ["lift-off", "touchdown"] * len(lost) and len(lost) >= 2
        square, fall = speed**2, 4 * g * np.sin(alpha) * np.sin(slope) / (L * (1 + r2))
        for found in lost:
            square += fall  # on the way
            np.testing.assert_allclose(found, 0.5 * m * L**2 * (1 + r2) * square * (1 - share**2), rtol=1e-8)
            square *= share**2
        if speed == cycle * share:
            np.testing.assert_allclose(lost, m * g * 2 * L * np.sin(alpha) * np.sin(slope), rtol=1e-8)


# -- gaits


class Compass:
    """Two legs of length one with a joint at the hip; masses at the hip and ``b`` below it on each leg."""

    def __init__(self, slope, leg, hip, b, g, dt, steps):
        both = leg + hip
        c, I = -leg * b / both, leg * hip / both * b**2
        links = [
            Link("leg1", LinkInertia(both, np.array([0, 0, c]), np.diag([I, I, 0]))),
            Link("leg2", LinkInertia(leg, np.array([0, 0, -b]), np.zeros((3, 3)))),
        ]
        hip = JointDescription("hip", "continuous", "leg1", "leg2", axis=np.array([0.0, 1, 0]), role="passive")
        end = Placement(np.eye(3), np.array([0, 0, -1.0]))
        frames, feet = {"end1": ("leg1", end), "end2": ("leg2", end)}, (foot_at("one", "end1"), foot_at("two", "end2"))
        self.robot = in_the_plane(links, [hip], gravity=tilted(slope, g), frames=frames, constraints=feet)
        self.dt, self.steps, self.stance = dt, steps, 0

    def start(self, stance, swing, w_stance, w_swing):
        """From angles of the legs and their rates; a leg is ahead of the hip where its angle is negative."""
        self.q = np.array([0, -np.cos(stance), stance, swing - stance])
        J, self.v = self.robot.jacobian("end1", self.q)[[0, 2]], np.array([0, 0, w_stance, w_swing - w_stance])
        self.v[:2] = -np.linalg.solve(J[:, :2], J[:, 2:] @ self.v[2:])

    def step(self):
        """On until the other foot is ahead and comes down, which then is the one that stands: the legs exchange their
        roles. Its height is also zero as the legs pass. The time, the length and the energy lost."""
        robot, h = self.robot, self.dt
        on = np.eye(2)[self.stance]
        run = robot.rollout(self.q, self.v, None, h, self.steps, method="rk4", contacts=on, outputs=("q", "v", "a"))
        ends = [robot.pose(f"end{1 + k}", run.q)[:, :3, 3] for k in (self.stance, 1 - self.stance)]
        height, ahead = ends[1][:, 2], ends[1][:, 0] - ends[0][:, 0]
        k = next(k for k in range(len(height) - 1) if height[k] > 0 >= height[k + 1] and ahead[k] > 0.1)
        rates = [np.array(robot.coordinates.rates(run.q[j], run.v[j])) for j in (k, k + 1)]

        def at(u):
            one, two = 2 * u**3 - 3 * u**2 + 1, u**3 - 2 * u**2 + u
            three, four = 3 * u**2 - 2 * u**3, u**3 - u**2
            q = one * run.q[k] + two * h * rates[0] + three * run.q[k + 1] + four * h * rates[1]
            return q, one * run.v[k] + two * h * run.a[k] + three * run.v[k + 1] + four * h * run.a[k + 1]

        low, high = 0.0, 1.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            up = robot.pose(f"end{2 - self.stance}", at(middle)[0])[2, 3] > 0
            low, high = (middle, high) if up else (low, middle)
        self.q, before = at(low)
        self.v = robot.impact(self.q, before, 1 - on, [0, 0]).v_after
        self.stance = 1 - self.stance
        lost = robot.kinetic_energy(self.q, before) - robot.kinetic_energy(self.q, self.v)
        return (k + low) * h, ahead[k], lost

    @property
    def legs(self):
        """Angles and rates, of the leg that stands first."""
        angles, rates = [self.q[2], self.q[2] + self.q[3]], [self.v[2], self.v[2] + self.v[3]]
        return np.array([*angles, *rates] if not self.stance else [*angles[::-1], *rates[::-1]])


def test_compass_walker():
    """Goswami, Thuilot and Espiau (1998), "A study of the passive gait of a compass-like biped robot", with m = 5 kg,
    m_H = 10 kg, a = b = 0.5 m, on 3 degrees: the cycle that the literature quotes for it, with g = 9.8 m/s^2,
    legs from the vertical (0.2187, -0.3234), rates (-1.0918, -0.3772)."""
    slope = np.radians(3)
    walker = Compass(slope, 5.0, 10.0, 0.5, 9.8, 1e-3, 900)
    walker.start(-0.2187 - slope, 0.3234 - slope, 1.0918, 0.3772)
    for _ in range(25):
        *_, lost = walker.step()
    printed = np.array([-0.2187, 0.3234, 1.0918, 0.3772])
    np.testing.assert_allclose(walker.legs + np.array([slope, slope, 0, 0]), printed, atol=5.1e-5)
    length = 2 * np.sin(walker.legs[1])
    np.testing.assert_allclose(lost, 20 * 9.8 * length * np.sin(slope), rtol=1e-4)  # what a step falls; not quite there


def test_simplest_walker():
    """Garcia, Chatterjee, Ruina and Coleman (1998), "The simplest walking model", on 0.009 rad: feet of next to no mass
    (1e-9 of the hip's, where the paper has none) and its long gait to the digits that are known of it."""
    walker = Compass(0.009, 1e-9, 1.0, 1.0, 1.0, 5e-3, 850)
    theta, rate = 0.200310900544287, 0.199832473004977
    walker.start(-theta, theta, rate, rate * np.cos(2 * theta))
    time, _, lost = walker.step()
    np.testing.assert_allclose(walker.legs, [-theta, theta, rate, rate * np.cos(2 * theta)], atol=2e-9)
    assert abs(time - 3.8825) < 5e-5
    np.testing.assert_allclose(lost, 2 * np.sin(theta) * np.sin(0.009), rtol=1e-7)


def test_a_sole_tips_where_its_centre_of_pressure_leaves_it():
    """A tall box pushed at its top: it turns about the edge from F h > m g l / 2 on."""
    box = Link("box", LinkInertia(5.0, np.array([0, 0, 0.5]), np.diag([0.4, 0.4, 0.1])))
    frames, foot = (
        {"top": ("box", Placement(np.eye(3), np.array([0, 0, 1.0])))},
        foot_at("sole", "box", size=(0.2, 0.2)),
    )
    tall = linkwork.load(Description("tall", (box,), (), floating=True, frames=frames, constraints=(foot,)))
    limit = 5 * 9.81 * 0.1
    for force in (0.98 * limit, 1.02 * limit):
        run = tall.simulate(
            [0, 0, 0, 0, 0, 0, 1], None, 0.2, 0.01, contacts="events", wrenches={"top": [force, 0, 0, 0, 0, 0]}
        )
        assert (np.abs(run.q[-1, 4]) > 1e-4) == (force > limit)
        assert {event.what for event in run.events} <= {"lift-off"}
        assert run.drift["energy"] < 1e-9
    forces = tall.contact_dynamics(run.q[0], np.zeros(6), [force, 0, 0, 0, force, 0], [1]).forces
    loads = tall.contact_forces(run.q[0], forces=forces)
    assert loads.tips[0] and not loads.slips[0] and not loads.lifts[0]


def test_limits_that_act_are_not_missed():
    """By a leg that begins beyond its limit."""
    leg = JointDescription("hip", "revolute", "trunk", "leg", axis=np.array([0.0, 1, 0]), lower=-0.1, upper=0.1)
    robot = in_the_plane(
        [Link("trunk", body(1.0, 0.1)), Link("leg", body(0.1, 0.1))], [leg], constraints=(foot_at("toe", "leg"),)
    )
    for limits in (None, linkwork.SoftLimits(10.0, 0.1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = robot.simulate([0, -0.1, 0, 0.3], None, 2e-3, 1e-3, contacts="events", limits=limits)
        assert any("joint limits are off" in note for note in run.notes) == (limits is None)
