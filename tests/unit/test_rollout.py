"""Rollouts: forms of inputs, parameters and gains of each sample, outputs; against runs that do it another way."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.control import PD, ComputedTorque, PDGravity, Point, Quintic, Sampled
from linkwork.errors import ShapeError
from linkwork.model import JointDescription, Link, LinkInertia, Offset, Stribeck
from linkwork.sim import OUTPUTS
from linkwork.sim.schemes.integrators import schemes
from linkwork.sim.trajectory.outputs import LOOP_OUTPUTS
from support.random_loops import four_bar
from support.random_robots import Recipe, describe, random_rotation, random_state

ARM = describe(Recipe(seed=3, joints=2, relations=("skew", "right angle"), extras=True))
FREE = describe(Recipe(seed=5, joints=1, floating=True))
STEPS, B, DT = 12, 3, 5e-3


@pytest.fixture(scope="module")
def arm():
    return linkwork.load(ARM)


def starts(robot, samples=B):
    states = [random_state(robot.model, seed)[:2] for seed in range(samples)]
    q, v = (0.3 * np.array(part) for part in zip(*states, strict=True))
    if robot.model.moving_base:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q, v


def same(one, other, tolerance=0.0):
    for name in ("q", "v"):
        assert one[name].shape == other[name].shape
        assert np.abs(one[name] - other[name]).max() <= tolerance * np.abs(other[name]).max()


def alone(robot, q, v, samples=range(B), **options):
    """Each sample in a run of its own; options that are lists have an entry for each."""
    own = [{name: x[k] if isinstance(x, list) else x for name, x in options.items()} for k in samples]
    runs = [robot.rollout(q[k], v[k], dt=DT, steps=STEPS, **more) for k, more in zip(samples, own, strict=True)]
    return {name: np.stack([run[name] for run in runs]) for name in ("q", "v")}


def stepped(robot, q, v, tau, width=0.05):
    """One step of semi-implicit Euler in NumPy; friction acts at the new velocity: (M + dt D) a = M a_explicit."""
    smooth = linkwork.Robot(replace(robot.model, friction_width=width))
    joints = [body.joint for body in robot.model.bodies]
    viscous, coulomb = (np.array([getattr(joint, name) for joint in joints]) for name in ("viscous", "coulomb"))
    slope = viscous + coulomb * width**2 / (v * v + width**2) ** 1.5
    M, a = smooth.inertia_matrix(q), smooth.forward_dynamics(q, v, tau)
    a = np.linalg.solve(M + DT * slope[:, None] * np.eye(len(joints)), np.einsum("bij,bj->bi", M, a)[..., None])[..., 0]
    v = v + DT * a
    return q + DT * v, v


# -- shapes and inputs ---------------------------------------------------------------------------------------------


def test_shapes_and_names(arm):
    q, v = starts(arm)
    many = arm.rollout(q, v, dt=DT, steps=STEPS)
    assert many.q.shape == many.v.shape == (B, STEPS + 1, 2)
    assert np.array_equal(many.t, DT * np.arange(STEPS + 1))
    assert np.array_equal(many.q[:, 0], q) and np.array_equal(many.v[:, 0], v)
    assert many.entries["q"] == ("to_link1", "to_link2")
    assert (many.robot, many.method, many.dt) == ("random", "semi-implicit-euler", DT)
    one = arm.rollout(q[0], v[0], dt=DT, steps=STEPS)
    assert one.q.shape == (STEPS + 1, 2) and np.array_equal(one.q, many.q[0])
    mixed = arm.rollout(q[0], v, dt=DT, steps=STEPS)
    assert mixed.batch == (B,) and np.array_equal(mixed.q[:, 0], np.stack([q[0]] * B))
    rest = arm.rollout(None, None, dt=DT, steps=1)
    assert not rest.q[0].any() and not rest.v[0].any()


def test_semi_implicit_euler_by_hand(arm):
    q, v = starts(arm)
    found = arm.rollout(q, v, np.array([1.0, -2.0]), DT, STEPS, friction_width=0.2)
    for k in range(STEPS):
        q, v = stepped(arm, q, v, np.array([1.0, -2.0]), 0.2)
        assert np.abs(found.q[:, k + 1] - q).max() < 1e-13 and np.abs(found.v[:, k + 1] - v).max() < 1e-13


def test_vectors_by_name(arm):
    q, v = starts(arm)
    expected = arm.rollout(q, v, [0.5, -1.0], DT, STEPS)
    by_name = arm.rollout({"to_link2": q[:, 1], "to_link1": q[:, 0]}, v, {"to_link1": 0.5, "to_link2": -1.0}, DT, STEPS)
    same(by_name, expected)
    free = linkwork.load(FREE)
    q, v = starts(free)
    given = {"base": q[:, :7], "to_link1": q[:, 7]}
    same(free.rollout(given, {"base": v[0, :6], "to_link1": v[0, 6]}, dt=DT, steps=3),
         free.rollout(q, v[0], dt=DT, steps=3))  # fmt: skip


@pytest.mark.parametrize("method", schemes())
def test_forms_of_torque(arm, method):
    """(n,), (B, n), (steps, n), (B, steps, n): each as the widest form says, and as samples alone."""
    q, v = starts(arm)
    tau = np.random.default_rng(0).uniform(-2, 2, (B, STEPS, 2))
    whole = arm.rollout(q, v, tau, DT, STEPS, method=method)
    same(whole, alone(arm, q, v, torque=list(tau), method=method))
    for form in (tau[0, 0], tau[:, 0], tau[0], tau[:1], tau[:, :1], tau[:1, :1]):
        wide = form[:, None] if form.shape == (B, 2) else form
        wide = np.array(np.broadcast_to(wide, (B, STEPS, 2)))
        one, other = (arm.rollout(q, v, x, DT, STEPS, method=method) for x in (form, wide))
        same(one, other, 1e-14)
    assert np.abs(whole.q - arm.rollout(q, v, tau[0], DT, STEPS, method=method).q).max() > 1e-4


def test_as_many_samples_as_steps(arm):
    q, v = starts(arm, STEPS)
    tau = np.random.default_rng(0).uniform(-2, 2, (STEPS, 2))
    with pytest.raises(ShapeError, match=r"numbers of samples and steps are equal.*\n.*\n.*\(samples, steps, 2\)"):
        arm.rollout(q, v, tau, DT, STEPS)
    own = arm.rollout(q, v, tau[:, None], DT, STEPS)
    over_time = arm.rollout(q, v, tau[None], DT, STEPS)
    assert np.array_equal(own.q[1], arm.rollout(q[1], v[1], tau[1], DT, STEPS).q)
    assert np.array_equal(over_time.q[1], arm.rollout(q[1], v[1], tau, DT, STEPS).q)
    way = Sampled(np.linspace(0, 1, 5), 0.1 * np.arange(10).reshape(5, 2))  # has an axis of steps, and none of samples
    sampled = arm.rollout(q, v, PD(5, 1), DT, STEPS, reference=way)
    assert np.abs(sampled.q[1] - arm.rollout(q[1], v[1], PD(5, 1), DT, STEPS, reference=way).q).max() < 1e-15
    one = arm.rollout(q[:1], v[:1], tau[:1], DT, 1)  # either way it is the same
    assert np.array_equal(one.q[0], arm.rollout(q[0], v[0], tau[0], DT, 1).q)


@pytest.mark.parametrize(("every", "steps"), [(1, 12), (3, 12), (5, 12), (12, 12), (13, 12)])
def test_every(arm, every, steps):
    q, v = starts(arm)
    full = arm.rollout(q, v, dt=DT, steps=steps, outputs=("q", "v", "a", "work"))
    some = arm.rollout(q, v, dt=DT, steps=steps, every=every, outputs=("q", "v", "a", "work"))
    assert len(some.t) == steps // every + 1
    for name in full:
        assert np.allclose(some[name], full[name][..., ::every] if name in ("t", "work") else full[name][:, ::every],
                           rtol=1e-15, atol=0)  # fmt: skip


# -- parameters of each sample -------------------------------------------------------------------------------------


def changed(description, link, inertia):
    links = tuple(Link(one.name, inertia) if one.name == link else one for one in description.links)
    return replace(description, links=links)


def with_masses(description, masses):
    """Bodies of the same shapes and other densities."""
    for name, mass in masses.items():
        old = next(link.inertia for link in description.links if link.name == name)
        description = changed(description, name, LinkInertia(mass, old.center, old.central * (mass / old.mass)))
    return description


def loaded(description, mass, center, inertia):
    """With a body fixed to the frame ``tool``."""
    link, placement = description.frames["tool"]
    body = Link("payload", LinkInertia(mass, center, inertia))
    joint = JointDescription("hand", "fixed", link, "payload", placement)
    return replace(description, links=(*description.links, body), joints=(*description.joints, joint))


def with_friction(description, **values):
    joints = [
        replace(joint, **{name: float(x[k]) for name, x in values.items()})
        for k, joint in enumerate(description.joints)
    ]
    return replace(description, joints=tuple(joints))


def symmetric(matrix):
    return [matrix[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]


def random_bodies(rng, n):
    """mass, centre, inertia about it."""
    bodies = []
    for _ in range(n):
        R = random_rotation(rng)
        bodies.append((rng.uniform(0.5, 2), rng.uniform(-0.2, 0.2, 3), R @ np.diag(rng.uniform(0.1, 0.15, 3)) @ R.T))
    return bodies


def variations(description):
    """What to vary, and for each sample the robot that has it built in."""
    rng = np.random.default_rng(4)
    robot = linkwork.load(description)
    names = [body.name for body in robot.model.bodies]
    joints = len(robot.position_names)
    mass = rng.uniform(0.5, 4, (B, len(names)))
    bodies = [random_bodies(rng, len(names)) for _ in range(B)]
    other = []
    for sample in bodies:
        built = description
        for name, (m, center, inertia) in zip(names, sample, strict=True):
            built = changed(built, name, LinkInertia(m, center, inertia))
        other.append(built)
    carried = random_bodies(rng, B)
    friction = rng.uniform(0.5, 2, (B, joints))
    gravity = rng.uniform(-10, 10, (B, 3))
    payload = np.array([[m, *center, *symmetric(inertia)] for m, center, inertia in carried])
    return {
        "mass": (mass, [with_masses(description, dict(zip(names, row, strict=True))) for row in mass]),
        "parameters": (np.array([linkwork.load(built).parameters for built in other]), other),
        "payload": ({"tool": payload}, [loaded(description, *body) for body in carried]),
        "viscous": (friction, [with_friction(description, viscous=row) for row in friction]),
        "coulomb": (friction, [with_friction(description, coulomb=row) for row in friction]),
        "gravity": (gravity, [replace(description, gravity=tuple(row)) for row in gravity]),
    }


@pytest.mark.parametrize("name", ["mass", "parameters", "payload", "viscous", "coulomb", "gravity"])
@pytest.mark.parametrize("description", [ARM, FREE], ids=["arm", "free"])
def test_varied_parameters(description, name, deviations):
    robot = linkwork.load(description)
    q, v = starts(robot)
    value, built = variations(description)[name]
    many = robot.rollout(q, v, None, DT, STEPS, method="rk4", vary={name: value}, outputs=("q", "v", "a"))
    plain = robot.rollout(q, v, None, DT, STEPS, method="rk4")
    assert np.abs(many.v - plain.v).max() > 1e-3
    for k in range(B):
        one = linkwork.load(built[k]).rollout(q[k], v[k], None, DT, STEPS, method="rk4", outputs=("q", "v", "a"))
        for array in ("q", "v", "a"):
            error = np.abs(many[array][k] - one[array]).max() / np.abs(one[array]).max()
            deviations(f"varied {name}", error)
            assert error < 1e-12


DRIVES = {
    "rotor_inertia": lambda joint, x: replace(joint, rotor_inertia=x),
    "stiffness": lambda joint, x: replace(joint, stiffness=x),
    "friction_width": lambda joint, x: replace(joint, friction_width=x),
    "offset": lambda joint, x: replace(joint, friction=(*joint.friction, Offset(x))),
    "stribeck": lambda joint, x: replace(joint, friction=(Stribeck(x, 0.3),)),
    "stribeck_velocity": lambda joint, x: replace(joint, friction=(Stribeck(0.5, x),)),
}


@pytest.mark.parametrize("name", DRIVES)
@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
def test_varied_drives(name, method, deviations):
    """Of joints with friction of all kinds; where the width is that of the robot, and where it is their own."""
    joints = tuple(replace(joint, coulomb=0.8, friction=(Stribeck(0.5, 0.3),)) for joint in ARM.joints)
    description = replace(ARM, joints=joints)
    robot = linkwork.load(description)
    q, v = starts(robot)
    values = np.random.default_rng(6).uniform(0.3, 2, (B, len(joints)))
    many = robot.rollout(q, v, None, DT, STEPS, method=method, vary={name: values})
    assert np.abs(many.v - robot.rollout(q, v, None, DT, STEPS, method=method).v).max() > 1e-3
    for k in range(B):
        own = [DRIVES[name](joint, float(x)) for joint, x in zip(joints, values[k], strict=True)]
        one = linkwork.load(replace(description, joints=tuple(own))).rollout(q[k], v[k], None, DT, STEPS, method=method)
        error = np.abs(many.q[k] - one.q).max() / np.abs(one.q).max()
        deviations(f"varied {name}", error)
        assert error < 1e-12


def test_varied_together_and_shared(arm):
    """All at once; a value without an axis of samples is for all of them; energies are of the varied robot."""
    q, v = starts(arm)
    values = variations(ARM)
    vary = {name: values[name][0] for name in ("viscous", "coulomb", "gravity")} | {"mass": values["mass"][0][1]}
    outputs = ("q", "v", "kinetic_energy", "potential_energy", "momentum", "center_of_mass", "work")
    many = arm.rollout(q, v, [1.0, 2.0], 1e-3, STEPS, method="rk4", vary=vary, outputs=outputs)
    for k in range(B):
        built = replace(values["mass"][1][1], gravity=tuple(vary["gravity"][k]))
        built = with_friction(built, viscous=vary["viscous"][k], coulomb=vary["coulomb"][k])
        one = linkwork.load(built).rollout(q[k], v[k], [1.0, 2.0], 1e-3, STEPS, method="rk4", outputs=outputs)
        for name in outputs:
            assert np.abs(many[name][k] - one[name]).max() < 1e-12 * (1 + np.abs(one[name]).max())
    assert many.drift["energy"] < 1e-8


def test_bodies_without_mass():
    light = linkwork.load(describe(Recipe(seed=1, joints=2, light=True)))
    q, v = starts(light)
    with pytest.raises(ShapeError, match=r"a massless body has no inertia to scale\n  got: body 'link2'"):
        light.rollout(q, v, steps=STEPS, vary={"mass": np.ones((B, 2))})
    own = np.array([[body.inertia.mass for body in light.model.bodies]] * B)
    same(light.rollout(q, v, steps=STEPS, vary={"mass": own}), light.rollout(q, v, steps=STEPS), 1e-12)


def test_varied_loops():
    robot = linkwork.load(four_bar())
    q, v = np.array([robot.home] * B), np.ones((B, 1))
    mass = np.random.default_rng(0).uniform(0.5, 3, (B, 3))
    many = robot.rollout(q, v, None, DT, STEPS, vary={"mass": mass})
    for k in range(B):
        built = with_masses(four_bar(), dict(zip(("crank_link", "coupler_link", "rocker_link"), mass[k], strict=True)))
        one = linkwork.load(built).rollout(q[k], v[k], None, DT, STEPS)
        assert np.abs(many.q[k] - one.q).max() < 1e-12


# -- controllers, gains, references, wrenches ----------------------------------------------------------------------


@pytest.mark.parametrize("controller", [PD, PDGravity, ComputedTorque])
def test_gains_of_each_sample(arm, controller):
    q, v = starts(arm)
    way = Quintic([0.0, 0.0], [0.5, -0.5], 0.05)
    kp, kd = np.array([[5.0, 8.0], [10.0, 2.0], [1.0, 1.0]]), np.array([1.0, 2.0, 3.0])
    options = {"reference": way, "method": "rk4", "outputs": ("q", "v", "tau")}
    many = arm.rollout(q, v, controller(1.0, 1.0), DT, STEPS, gains={"kp": kp, "kd": kd[:, None]}, **options)
    for k in range(B):
        one = arm.rollout(q[k], v[k], controller(kp[k], kd[k]), DT, STEPS, **options)
        for name in ("q", "v", "tau"):
            assert np.abs(many[name][k] - one[name]).max() < 1e-12 * (1 + np.abs(one[name]).max())
    shared = arm.rollout(q, v, controller(1.0, 1.0), DT, STEPS, gains={"kp": kp[:1], "kd": 1.0}, **options)
    assert np.abs(shared.q[0] - arm.rollout(q[0], v[0], controller(kp[0], 1.0), DT, STEPS, **options).q).max() < 1e-13


def test_functions_as_controllers(arm):
    q, v = starts(arm)

    def law(t, q, v, reference, *, push=2.0):
        return push * np.sin(3 * t) * np.ones(2) - v

    for push in (2.0, 0.5):
        found = arm.rollout(q, v, law, DT, STEPS, outputs=("q", "v", "tau"), gains={"push": push})
        for k, t in enumerate(found.t):
            assert np.abs(found.tau[:, k] - (push * np.sin(3 * t) - found.v[:, k])).max() < 1e-14
    q1, v1 = q.copy(), v.copy()
    for k in range(STEPS):
        q1, v1 = stepped(arm, q1, v1, 0.5 * np.sin(3 * k * DT) - v1)
    assert np.abs(found.q[:, -1] - q1).max() < 1e-13


def test_a_function_may_change_between_runs(arm):
    """What was traced before is used again for equal contents alone."""
    q, v = starts(arm)
    push = [1.0]
    law = lambda t, q, v, reference: push[0] + 0 * v  # noqa: E731
    first = arm.rollout(q, v, law, DT, STEPS)
    push[0] = -1.0
    assert np.abs(arm.rollout(q, v, law, DT, STEPS).q - first.q).max() > 1e-4
    soft, hard = (arm.rollout(q, v, PD(kp, 1.0), DT, STEPS, reference=Quintic([0, 0], [1, 1], 1.0)) for kp in (1, 50))
    assert np.abs(soft.q - hard.q).max() > 1e-4


def test_references_traced_and_sampled(arm):
    """A table that is looked up at each step, held over it: as the formula for a method that looks at steps only."""
    q, v = starts(arm)
    formula = Quintic([0.0, 0.0], [0.5, -0.5], DT * STEPS)
    times = DT * np.arange(STEPS + 1)
    table = Sampled(times, *formula.sample(times))
    law = ComputedTorque(80.0, 12.0)
    traced, sampled = (arm.rollout(q, v, law, DT, STEPS, reference=way) for way in (formula, table))
    assert np.abs(traced.q - sampled.q).max() < 1e-12

    def spelled_out(t):
        return Point(*(np.array(part) for part in formula(t)))

    same(arm.rollout(q, v, law, DT, STEPS, reference=spelled_out), traced, 1e-14)


def test_wrenches(arm):
    """Constant, of each sample, over time, a function of time: as torques through the Jacobian in local axes."""
    q, v = starts(arm)
    rng = np.random.default_rng(0)
    w = rng.uniform(-3, 3, (B, STEPS, 6))

    def expected(of_step):
        q1, v1, out = q.copy(), v.copy(), [q]
        for k in range(STEPS):
            J = arm.jacobian("tool", q1, axes="local")
            tau = np.einsum("bij,bi->bj", J, np.broadcast_to(of_step(k), (B, 6)))
            q1, v1 = stepped(arm, q1, v1, tau)
            out.append(q1)
        return np.stack(out, axis=1)

    cases = [
        (w[0, 0], lambda k: w[0, 0]),
        (w[:, 0], lambda k: w[:, 0]),
        (w[0], lambda k: w[0, k]),
        (w, lambda k: w[:, k]),
        (lambda t: [t, 1, 2, 0, t * t, 3], lambda k: [k * DT, 1, 2, 0, (k * DT) ** 2, 3]),
    ]
    for given, of_step in cases:
        found = arm.rollout(q, v, None, DT, STEPS, wrenches={"tool": given})
        assert np.abs(found.q - expected(of_step)).max() < 1e-12


# -- outputs and threads -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the energy balance")  # of a dozen long steps of first order
@pytest.mark.parametrize("robot", ["four-bar", "free"])
def test_all_outputs(robot):
    robot = linkwork.load(four_bar() if robot == "four-bar" else FREE, friction=False)
    q, v = (np.array([robot.home] * B), np.ones((B, 1))) if robot.model.permanent else starts(robot)
    absent = ("commands", *LOOP_OUTPUTS * (not robot.model.permanent))
    names = tuple(name for name in OUTPUTS if name not in absent)
    size = 1 if robot.model.permanent else robot.nv
    tau = np.linspace(-1, 1, size)
    found = robot.rollout(q, v, tau, DT, STEPS, outputs=names)
    assert tuple(found) == ("t", *names)
    q, v = found.q, found.v
    assert np.array_equal(found.tau, np.broadcast_to(tau, (B, STEPS + 1, size)))
    assert np.abs(found.a - robot.forward_dynamics(q, v, tau)).max() < 1e-10 * np.abs(found.a).max()
    for name in names:
        if name in ("kinetic_energy", "momentum"):
            assert np.abs(found[name] - getattr(robot, name)(q, v)).max() < 1e-12 * np.abs(found[name]).max()
        elif name in ("potential_energy", "center_of_mass", "loop_residual"):
            assert np.abs(found[name] - getattr(robot, name)(q)).max() < 1e-12 * (1 + np.abs(found[name]).max())
    power = (tau * v).sum(axis=-1)  # of Euler's sum, from the left
    close = 1e-4 if robot.home else 1e-12  # with loops, velocities of the sum are those before they are corrected
    assert np.abs(found.work[:, 1:] - DT * np.cumsum(power[:, :-1], axis=1)).max() < close
    one = robot.rollout(q[:, 0], v[:, 0], tau, DT, STEPS, outputs="center_of_mass")
    assert tuple(one) == ("t", "center_of_mass") and one.center_of_mass.shape == (B, STEPS + 1, 3)


def test_threads_give_the_same_bits(arm, monkeypatch):
    monkeypatch.setattr(sys.modules["linkwork.sim.schemes.runner"], "PROCESSORS", 8)
    q, v = starts(arm, 37)
    tau = np.random.default_rng(0).uniform(-2, 2, (37, STEPS, 2))
    vary = {"viscous": np.random.default_rng(1).uniform(0, 1, (37, 2))}
    one, *others = (arm.rollout(q, v, tau, DT, STEPS, vary=vary, threads=n) for n in (1, 2, 3, 8))
    for other in others:
        same(other, one)
    same(alone(arm, q, v, range(33, 37), torque=list(tau),
               vary=[{"viscous": x} for x in vary["viscous"]]),
         {name: one[name][33:] for name in "qv"})  # fmt: skip


def test_torques_by_name_over_samples_and_steps():
    """As arrays with both axes are; axes of different meaning are refused."""
    arm, tau = linkwork.load("planar2r"), np.random.default_rng(0).normal(size=(3, 3, 2))
    q = np.zeros((3, 2))
    expected = arm.rollout(q, None, tau, steps=3).q
    assert np.array_equal(
        arm.rollout(q, None, dict(zip(arm.joint_names, tau.T.swapaxes(1, 2), strict=True)), steps=3).q, expected
    )
    with pytest.raises(ShapeError, match="may mean samples or steps"):
        arm.rollout(q, None, {"shoulder": np.ones(3), "elbow": np.ones((3, 3))}, steps=3)
    with pytest.raises(ShapeError, match=r"expected: \(2,\) or \(1, 1, 2\)"):  # (3, 2) would be refused, too
        arm.rollout(q, None, np.ones((1, 2)), steps=3)
