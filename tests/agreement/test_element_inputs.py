"""Numbers of wheels, gears, screws, mimic joints, transmissions and elastic drives as inputs, against reloading."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, UnknownNameError, UnsupportedError
from linkwork.io import read
from linkwork.io.mdh import read_mdh
from linkwork.model import number_input
from linkwork.program import interpret
from support.evaluate import assert_close

INERTIA = {"M": 1.0, "MX": 0.1, "MY": 0.05, "MZ": -0.1, "XX": 0.3, "YY": 0.4, "ZZ": 0.5, "XY": 0.01, "XZ": 0.02}
SCREWS = {  # a screw, a follower with an offset, and a follower of the follower
    "name": "screws",
    "joints": [
        {"name": "screw", "kind": "helical", "pitch": 0.1, "d": 0.2, **INERTIA},
        {"name": "hip", "alpha": "pi/2", "d": 0.3, "Ia": 0.2, **INERTIA},
        {"name": "knee", "d": 0.4, "alpha": 0.3, "mimic": {"joint": "hip", "multiplier": -2, "offset": 0.1}, **INERTIA},
        {"name": "toe", "d": 0.1, "mimic": {"joint": "knee", "multiplier": 0.5}, **INERTIA},
        {"name": "drill", "kind": "helical", "pitch": -0.02, "alpha": "-pi/2", **INERTIA},
    ],
}  # fmt: skip
WRIST = {  # two motors that move two joints together, one of them with a spring, and a passive coupling
    "name": "wrist",
    "joints": [
        {"name": name, "alpha": alpha, "d": 0.2, **INERTIA}
        for name, alpha in (("arm", 0.0), ("bend", "pi/2"), ("roll", "-pi/2"))
    ],
    "transmissions": [
        {
            "name": "wrist", "joints": ["bend", "roll"],
            "motors": [
                {"name": "upper", "ratios": [50, 50], "Ia": 1e-3, "Fv": 0.01, "Fs": 0.02, "width": 0.1},
                {"name": "lower", "ratios": [40, -45], "Ia": 2e-3, "Fv": 0.02, "K": 0.3},
            ],
        },
        {"name": "belt", "joints": ["arm", "bend"],
         "motors": [{"name": "strap", "ratios": [1, -1], "K": 2.0, "role": "passive"}]},
    ],
}  # fmt: skip
GEARS = {  # a rack that couples a slide with a wheel, within a tree
    "name": "gears",
    "joints": [
        {"name": "slide", "sigma": 1, "alpha": "pi/2", "role": "passive", **INERTIA},
        {"name": "wheel", "d": 0.2, **INERTIA},
        {"name": "arm", "alpha": 0.4, "d": 0.3, **INERTIA},
    ],
    "gears": [{"name": "rack", "joints": {"slide": 1.0, "wheel": -0.2}, "offset": 0.05}],
}  # fmt: skip


def other_constraints(description, number):
    return replace(
        description,
        constraints=tuple(
            replace(each, kind=each.kind.with_entries(iter([number(x.value) for x in each.kind.entries()])))
            for each in description.constraints
        ),
    )


def other_motions(description, number):
    def changed(joint):
        if joint.mimic is None:
            return replace(joint, pitch=number(joint.pitch)) if joint.pitch else joint
        of = joint.mimic
        return replace(joint, mimic=replace(of, multiplier=number(of.multiplier), offset=number(of.offset)))

    return replace(description, joints=tuple(map(changed, description.joints)))


def other_ratios(description, number):
    transmissions = tuple(
        replace(each, matrix=tuple(tuple(map(number, row)) for row in each.matrix))
        for each in description.transmissions
    )
    return replace(description, transmissions=transmissions)


CASES = {
    "screws": (read_mdh(SCREWS), "joints", other_motions),
    "floating screws": (
        read_mdh(SCREWS | {"base": {"kind": "floating", "link": "trunk", **INERTIA}}),
        "joints",
        other_motions,
    ),
    "wrist": (read_mdh(WRIST), "transmissions", other_ratios),
    "gears": (read_mdh(GEARS), "constraints", other_constraints),
    "car": (read("car"), "constraints", other_constraints),
    "rolling-disc": (read("rolling-disc"), "constraints", other_constraints),
    "segway": (read("segway"), "constraints", other_constraints),
    "mobile-manipulator": (read("mobile-manipulator"), "constraints", other_constraints),
}
ALIKE = ("car",)  # of which all numbers change by the same factor, so that it stands upright


def reloaded(name, seed):
    """The robot of a case with other numbers in its description, and these numbers."""
    description, kind, change = CASES[name]
    rng = np.random.default_rng(seed)
    factor = 1 + 0.1 * rng.uniform()
    other = linkwork.load(change(description, lambda x: x * (factor if name in ALIKE else 1 + 0.1 * rng.uniform())))
    return other, np.array(number_input(other.model, kind).nominal)


def states(robot, seed=0):
    """Positions near home that close the loops, velocities, and accelerations or torques."""
    rng = np.random.default_rng(seed)
    q, v, a = (0.3 * rng.normal(size=n) for n in (robot.nq, robot.nv, robot.nv))
    q = robot.coordinates.random(rng) if not robot.model.constrained else np.array(robot.home)
    return q, v, a


@pytest.mark.parametrize("name", CASES)
def test_functions(name):
    """Functions at other numbers are those of the reloaded robot; at the nominal numbers they are the robot's own."""
    description, kind, _ = CASES[name]
    robot = linkwork.load(description)
    other, values = reloaded(name, 1)
    assert other.model.mobility == robot.model.mobility
    for quantity in ("inverse_dynamics", "forward_dynamics", "inertia_matrix", "potential_energy", "frame_poses"):
        f = robot.compile(quantity, inputs=[kind], backend="interpreter")
        for model, numbers in ((other, {kind: values}), (robot, {})):
            q, v, a = states(model)
            g = model.compile(quantity, backend="interpreter")
            a = a if quantity != "forward_dynamics" else np.resize(a, g.program.inputs[-1].shape)
            motion = [q, v, a][: len(g.program.inputs)]
            expected = g(*motion)
            size = max(1e-9, np.abs(expected).max())
            assert_close(f(*motion, **numbers) / size + 1, expected / size + 1)


@pytest.mark.parametrize("name", CASES)
def test_rollouts(name):
    """Rollouts with other numbers in each sample are those of the reloaded robots."""
    robot, kind = linkwork.load(CASES[name][0]), CASES[name][1]
    others, values = zip(*(reloaded(name, seed) for seed in (2, 3)), strict=True)
    q, v, _ = map(np.array, zip(*map(states, others), strict=True))
    outputs = ("q", "v", "kinetic_energy", *["loop_residual"] * robot.model.constrained)
    for method in ("rk4", "semi-implicit-euler"):
        options = {"dt": 1e-3, "steps": 5, "method": method, "outputs": outputs}
        run = robot.rollout(q, v, vary={kind: np.array(values)}, **options)
        for k, other in enumerate(others):
            alone = other.rollout(q[k], v[k], **options)
            for output in outputs:
                size = max(1.0, np.abs(alone[output]).max())
                assert_close(run[output][k] / size + 1, alone[output] / size + 1)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    """Derivatives with respect to the numbers, against complex steps."""
    robot, kind = linkwork.load(CASES[name][0]), CASES[name][1]
    _, x = reloaded(name, 4)
    q, v, a = states(robot)
    f = robot.compile("inverse_dynamics", inputs=[kind])
    found = f.derivative(kind)(q, v, a, x)
    for k in range(len(x)):
        step = x.astype(complex)
        step[k] += 1e-30j
        (ahead,) = interpret(f.program, [q, v, a, step])
        size = max(1.0, np.abs(ahead).max())
        assert_close(found[:, k] / size + 1, ahead.imag / 1e-30 / size + 1)


@pytest.mark.parametrize("name", ["wrist", "gears"])
def test_gradients(name):
    """Gradients of rollouts by the numbers, against differences of reloaded robots.

    Differences of fourth order with steps of 1e-3 have errors of 1e-9.
    """
    description, kind, change = CASES[name]
    robot = linkwork.load(description)
    values = np.array(number_input(robot.model, kind).nominal)
    q, v, _ = states(robot)
    weights = np.random.default_rng(1).normal(size=(4, robot.nq))
    run = robot.rollout(q, v, dt=1e-2, steps=3, method="rk4", vary={kind: values}, checkpoint_every=1)
    found = run.pullback(q=weights).vary[kind]

    def weighted(x):
        numbers = iter(x)
        other = linkwork.load(change(description, lambda _: next(numbers)))
        at = other.assemble(q[list(robot.model.mobility.configuration)]).q if robot.model.constrained else q
        return (weights * other.rollout(at, v, dt=1e-2, steps=3, method="rk4").q).sum()

    for k, step in enumerate(1e-3 * np.eye(len(values))):
        back2, back, ahead, ahead2 = (weighted(values + n * step) for n in (-2, -1, 1, 2))
        difference = (back2 - 8 * back + 8 * ahead - ahead2) / 12e-3
        assert abs(found[k] - difference) < 1e-8 * max(1.0, np.abs(found).max())


def test_mecanum_wheels():
    """Radius and angle of rollers, of one wheel or of all."""
    robot = linkwork.load(mecanum(0.1, 0.7))
    other = linkwork.load(mecanum(0.11, 0.72))
    rows = number_input(robot.model, "constraints").rows
    assert rows[:2] == ("front.radius", "front.roller_angle")
    q, v = np.array(other.home), np.ones(robot.nv)
    f = robot.compile("joint_velocities", inputs=["constraints"])
    assert_close(f(q, v, [0.11, 0.72, 0.11, 0.72]), other.joint_velocities(q, v))
    g = robot.compile("joint_velocities", inputs=["constraints:back", "constraints:front"])
    assert_close(g(q, v, constraints_front=[0.11, 0.72], constraints_back=[0.11, 0.72]), other.joint_velocities(q, v))


def mecanum(radius, angle):
    """A cart on two mecanum wheels, one behind the other, in a plane."""
    return {
        "name": "cart",
        "joints": [
            {"name": "base", "kind": "planar", "role": "passive", "xyz": [0, 0, radius], "rpy": [0, 0, 0], **INERTIA},
            *({"name": f"{name}_axle", "parent": 1, "xyz": [x, 0, 0], "rpy": ["pi/2", 0, 0], **INERTIA}
              for name, x in (("front", 0.3), ("back", -0.3))),
        ],
        "rolling": [
            {"name": name, "kind": "mecanum", "radius": radius, "roller_angle": sign * angle,
             "wheel": {"link": f"link{k}"}}
            for name, k, sign in (("front", 2, 1), ("back", 3, 1))
        ],
    }  # fmt: skip


def test_elastic_drives():
    """Spring, damping and motor inertia of an elastic drive are numbers of the two joints that it consists of."""
    names = ["panda_joint2", "panda_joint4"]

    def made(stiffness, damping, inertia):
        drive = linkwork.ElasticDrive(stiffness=stiffness, damping=damping, motor_inertia=inertia)
        return linkwork.load("panda", elastic=dict.fromkeys(names, drive))

    robot, other = made(5000.0, 3.0, 0.5), made(4000.0, 2.0, 0.6)
    values = {f"stiffness:{name}": 4000.0 for name in names} | {f"viscous:{name}": 2.0 for name in names}
    values |= {f"rotor_inertia:{name}_motor": 0.6 for name in names}
    rng = np.random.default_rng(0)
    q, v, last = (rng.normal(size=robot.nv) for _ in range(3))
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        f, g = robot.compile(quantity, inputs=[*values]), other.compile(quantity)
        x = last[: g.program.inputs[-1].shape[0]]
        assert_close(f(q, v, x, **values), g(q, v, x))
    vary = {name: np.array([x]) for name, x in values.items()}
    run = robot.rollout(q[None], v[None], dt=1e-4, steps=5, vary=vary)
    assert_close(run.q[0], other.rollout(q, v, dt=1e-4, steps=5).q)


def test_mistakes():
    car = linkwork.load("car")
    with pytest.raises(UnknownNameError, match="there is no constraint 'wheel'"):
        car.compile("bias", inputs=["constraints:wheel"])
    with pytest.raises(UnsupportedError, match=r"no such numbers(?s:.*)no gear ratios of transmissions"):
        car.compile("bias", inputs=["transmissions"])
    with pytest.raises(UnsupportedError, match="no numbers of wheels and gears of 'left'"):
        linkwork.load("biped").compile("bias", inputs=["constraints:left"])
    with pytest.raises(LinkworkError, match="set the same numbers"):
        car.compile("bias", inputs=["constraints", "constraints:differential"])
    with pytest.raises(UnsupportedError, match="which parameters act together depends on the geometry"):
        car.compile("regressor", parameters="minimal", inputs=["constraints"])
    values = np.array(number_input(car.model, "constraints").nominal)
    for k, message in ((0, "rear_left_tyre.radius is 0 m"), (4, "differential.joints.engine is 0")):
        wrong = values.copy()
        wrong[k] = 0.0
        with pytest.raises(LinkworkError, match=message):
            car.rollout(car.home, np.zeros(car.nv), steps=1, vary={"constraints": wrong})
    beam = linkwork.load("flexible-beam")
    with pytest.raises(UnsupportedError, match="the material of flexible links cannot be an input"):
        beam.compile("bias", inputs=["material"])
