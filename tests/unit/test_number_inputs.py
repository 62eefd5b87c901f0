"""Numbers of a robot as inputs, against robots that have other numbers built in."""

import shutil
import subprocess
from functools import cache

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.forces import AddedMass, Buoyancy, Contact, Drag, Plate, Rotor, Spring, Thruster, Tyre
from linkwork.model import Asymmetric, Offset, Stribeck
from linkwork.program import interpret
from support.driven_robots import LAWS, coupled, rubbing
from support.evaluate import assert_close
from support.mixed_trees import MixedRecipe, mixed
from support.random_robots import Recipe

DYNAMICS = ("inverse_dynamics", "forward_dynamics", "inertia_matrix", "kinetic_energy", "potential_energy")


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.coordinates.random(rng), *rng.normal(size=(2, robot.nv))


def compiled(robot, quantity, **options):
    return robot.compile(quantity, backend="interpreter", **options)


def agree(robot, other, inputs, values, quantities=DYNAMICS, tolerance=1e-12):
    """Functions of ``robot`` with these inputs agree with those of ``other``, and by default with its own."""
    q, v, a = state(robot)
    for quantity in quantities:
        f = compiled(robot, quantity, inputs=inputs)
        motion = [x for x, port in zip((q, v, a), f.program.inputs, strict=False) if port.stage == "state"]
        assert_close(f(*motion, **values), compiled(other, quantity)(*motion), tolerance=tolerance)
        assert_close(f(*motion), compiled(robot, quantity)(*motion), tolerance=tolerance)


@cache
def arm(laws="all", seed=3):
    return linkwork.load(rubbing(Recipe(seed, 5), LAWS[laws], friction_width=0.1, rotor_inertia=0.2, viscous=0.3))


@cache
def tree():
    return linkwork.load(mixed(MixedRecipe(5, fixed=True, rotors=True, extras=True, reach=3)))


def test_gravity():
    for robot, again in ((tree(), mixed(MixedRecipe(5, fixed=True, rotors=True, extras=True, reach=3))),):
        g = (1.0, -2.0, 3.0)
        agree(robot, linkwork.load(again, gravity=g), ["gravity"], {"gravity": g})
    for name in ("four-bar", "quadruped", "panda-elastic", "quadrotor-with-arm", "car"):
        robot, other = linkwork.load(name), linkwork.load(name, gravity=(0.5, 1.0, -3.0))
        q, v, _ = state(robot)
        q = np.array(robot.home) if robot.home else q
        f = compiled(robot, "bias", inputs=["gravity"])
        assert_close(f(q, v, gravity=(0.5, 1.0, -3.0)), compiled(other, "bias")(q, v))


def test_inertia():
    robot = tree()
    rng = np.random.default_rng(1)
    names = [body.name for body in robot.model.bodies]
    second = rng.uniform(0.5, 1.5) * np.array(robot.parameters[1])
    other = robot.with_parameters({names[1]: second})
    agree(robot, other, [f"parameters:{names[1]}"], {f"parameters:{names[1]}": second})
    loads = {name: np.abs(rng.normal(size=10)) * 0.1 for name in (names[2], "tool")}
    bodies = {
        name: {"mass": x[0], "center": x[1:4], "inertia": [[x[4], x[5], x[6]], [x[5], x[7], x[8]], [x[6], x[8], x[9]]]}
        for name, x in loads.items()
    }
    for x in loads.values():
        x[[4, 7, 9]] += 1.0
    for name, body in bodies.items():
        body["inertia"] = np.array(body["inertia"]) + np.eye(3)
        assert_close(body["inertia"][0, 0], loads[name][4])
    inputs = [f"payload:{name}" for name in loads] + [f"parameters:{names[1]}"]
    values = {f"payload:{name}": x for name, x in loads.items()} | {f"parameters:{names[1]}": second}
    agree(robot, other.with_payload(bodies), inputs, values)
    masses = rng.uniform(0.5, 2, len(names))
    scaled = [np.array(row) * (m / row[0]) for row, m in zip(robot.parameters, masses, strict=True)]
    agree(robot, robot.with_parameters(dict(zip(names, scaled, strict=True))), ["mass"], {"mass": masses})


@pytest.mark.parametrize("laws", LAWS)
def test_friction(laws):
    """The numbers of every law, named as in files."""
    robot = arm(laws)
    f = compiled(robot, "bias", inputs=["friction"])
    rows = f.label.nominal["friction"].rows
    values = np.random.default_rng(2).uniform(0.2, 1.5, len(rows))
    drives: dict = {}
    for row, x in zip(rows, values, strict=True):
        joint, *path = row.split(".")
        drives.setdefault(joint, {}).setdefault(path[0] if path[1:] else "", {})[path[-1]] = x
    kinds = {"offset": Offset, "asymmetric": Asymmetric, "stribeck": Stribeck}
    fields = {"Fs": "coulomb", "Fv": "viscous", "width": "friction_width"}
    changes = {}
    for joint, by_law in drives.items():
        changes[joint] = {fields[key]: x for key, x in by_law.pop("").items()}
        changes[joint]["friction"] = tuple(kinds[name](**numbers) for name, numbers in by_law.items())
    q, v, a = state(robot)
    other = robot.with_drives(changes)
    assert_close(f(q, v, values), compiled(other, "bias")(q, v))
    one = rows[0].partition(".")[0]
    g = compiled(robot, "forward_dynamics", inputs=[f"friction:{one}"])
    count = len(g.label.nominal[g.program.inputs[-1].name].rows)
    other = robot.with_drives({one: changes[one]})
    assert_close(g(q, v, a, values[:count]), compiled(other, "forward_dynamics")(q, v, a))
    smooth = compiled(robot.with_drives({one: {"friction_width": 0.5}}), "bias")(q, v)
    assert_close(compiled(robot, "bias", inputs=[f"friction_width:{one}"])(q, v, 0.5), smooth)


def test_drives():
    robot = arm("offset")
    names = robot.position_names
    q, v, a = state(robot)
    for kind in ("rotor_inertia", "viscous", "coulomb", "stiffness", "rest"):
        values = np.random.default_rng(3).uniform(0.2, 1, len(names))
        start = robot.with_drives({name: {"stiffness": 2.0} for name in names}) if kind == "rest" else robot
        other = start.with_drives({name: {kind: x} for name, x in zip(names, values, strict=True)})
        agree(start, other, [kind], {kind: values})
        agree(start, start.with_drives({names[2]: {kind: 0.7}}), [f"{kind}:{names[2]}"], {f"{kind}:{names[2]}": 0.7})
    f = compiled(robot, "inverse_dynamics", inputs=["offset"])
    offsets = np.arange(5.0)
    laws = {name: {"friction": (Offset(x),)} for name, x in zip(names, offsets, strict=True)}
    assert_close(f(q, v, a, offsets), compiled(robot.with_drives(laws), "inverse_dynamics")(q, v, a))


def test_motors_of_transmissions():
    robot = linkwork.load(coupled(rubbing(Recipe(3, 6), ())))
    drives = {"motor0": {"rotor_inertia": 0.9, "viscous": 2.0}, "motor3": {"rotor_inertia": 0.4}}
    values = {f"{field}:{motor}": x for motor, fields in drives.items() for field, x in fields.items()}
    agree(robot, robot.with_drives(drives), list(values), values)
    f = compiled(robot, "bias", inputs=["friction"])
    rows = f.label.nominal["friction"].rows
    assert {"motor0.Fs", "motor2.asymmetric.coulomb_forward", "motor3.stribeck.excess"} <= {*rows}


def test_force_laws():
    """Every force law of the package, with all its numbers changed."""
    bare = linkwork.load("panda")
    frames = [f"panda_link{k}" for k in range(1, 8)]
    laws = {
        "panda_link1": (Drag(0.4, 1.0, 2.0, 3.0, 4.0, (0.1, 0.2, 0.3)), Drag(0.3, 0.5, 0.8, 1.3, 1.4, (0.2, 0.3, 0.1))),
        "panda_link2": (AddedMass((1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (0.1, 0.0, 0.2)),) * 2,
        "panda_link3": (Plate(0.2, 1.3, 1.9, 0.1, (1.0, 0.0, 0.2)), Plate(0.3, 1.1, 1.8, 0.3, (0.1, 0.7, 0.2))),
        "panda_link4": (Buoyancy(0.01, 900.0, (0.1, 0.2, 0.0)), Buoyancy(0.02, 800.0, (0.2, 0.1, 0.3))),
        "panda_link5": (Contact(1e3, 10.0, 0.7, 0.1, 5.0, (0.1, 0.0, 1.0)),
                        Contact(2e3, 20.0, 0.5, 0.2, 6.0, (0.0, 0.1, 2.0))),
        "panda_link6": (Tyre(0.3, 1e3, 10.0, 0.9, 8.0, 1.3, 0.2, 5.0, (0.0, 0.1, 1.0)),
                        Tyre(0.2, 2e3, 5.0, 0.8, 9.0, 1.2, 0.1, 4.0)),
        "panda_link7": (Spring(("panda_link2", (1.0, 0.0, 1.0)), 10.0, 1.0, 0.3, 0.1, (1.0, 0.5)),
                        Spring(("panda_link2", (1.0, 0.0, 1.0)), 20.0, 2.0, 0.5, 0.2, (0.7, 0.2))),
    }  # fmt: skip
    laws["panda_link2"] = laws["panda_link2"][0], AddedMass((2.0, 1.0, 0.5), (0.3, 0.1, 0.2), (0.0, 0.1, 0.2))
    robot = bare.with_forces({frame: pair[0] for frame, pair in laws.items()})
    other = bare.with_forces({frame: pair[1] for frame, pair in laws.items()})
    q, v, a = state(robot)
    f = compiled(robot, ["inverse_dynamics", "inertia_matrix", "potential_energy"], inputs=["force_laws"])
    every = compiled(other, "inverse_dynamics", inputs=["force_laws"]).label.nominal["force_laws"]
    assert every.rows == f.label.nominal["force_laws"].rows and "panda_link4.buoyancy.center.z" in every.rows
    results = f(q, v, a, every.values)
    assert_close(results.inverse_dynamics, compiled(other, "inverse_dynamics")(q, v, a))
    assert_close(results.inertia_matrix, compiled(other, "inertia_matrix")(q))
    assert_close(results.potential_energy, compiled(other, "potential_energy")(q))
    for frame in frames:
        g = compiled(robot, "bias", inputs=[f"force_laws:{frame}"])
        values = [x for row, x in zip(every.rows, every.values, strict=True) if row.startswith(frame)]
        changed = bare.with_forces({name: pair[name == frame] for name, pair in laws.items()})
        assert_close(g(q, v, values), compiled(changed, "bias")(q, v))


def test_commanded_force_laws():
    bare = linkwork.load("panda")
    robot = bare.with_forces({"panda_link7": Thruster((1, 0, 2)), "panda_link5": Rotor(0.1, 1.0, 0.3)})
    other = bare.with_forces({"panda_link7": Thruster((0, 1, 1)), "panda_link5": Rotor(0.2, 1.0, 0.4)})
    q, v, a = state(robot)
    f = compiled(robot, "inverse_dynamics", inputs=["force_laws"])
    nominal = f.label.nominal["force_laws"]
    assert nominal.rows[-2:] == ("panda_link5.rotor.drag", "panda_link5.rotor.thrust")
    expected = compiled(other, "inverse_dynamics")(q, v, a, [1.5, -2.0])
    assert_close(f(q, v, a, [1.5, -2.0], [0, 1, 1, 0.2, 0.4]), expected)
    plain = compiled(bare.with_forces({"panda_link5": Rotor(0.1)}), "bias", inputs=["force_laws"])
    assert plain.label.nominal["force_laws"].rows == ("panda_link5.rotor.drag",)  # a speed is another command


# -- as other functions are --------------------------------------------------------------------------------------------


def test_several_quantities_and_own_functions():
    robot = linkwork.load("panda")
    q, v, a = state(robot)
    moon, load = (0.0, 0.0, -1.62), np.array([2.0, 0.02, 0, 0.05, 0.1, 0, 0, 0.1, 0, 0.1])
    inputs = ["payload:panda_link8", "gravity"]
    f = compiled(robot, ["bias", "inertia_matrix", "pose:panda_link8"], inputs=inputs)
    assert f.signature.startswith("q(7), v(7), payload_panda_link8(10), gravity(3) ->")
    body = {"mass": 2.0, "center": load[1:4], "inertia": np.diag([0.1, 0.1, 0.1])}
    other = linkwork.load("panda", gravity=moon).with_payload({"panda_link8": body})
    results = f(q, v, load, moon)
    for result, quantity in zip(results[:2], ("bias", "inertia_matrix"), strict=True):
        assert_close(result, compiled(other, quantity)(*(q, v)[: 1 + (quantity == "bias")]))

    def torque(robot, q, v, a):
        return robot.inertia_matrix(q) @ a + robot.bias(q, v)

    g = robot.function(torque, inputs=inputs, backend="interpreter")
    assert g.signature == "q(7), v(7), a(7), payload_panda_link8(10), gravity(3) -> torque(7)"
    assert_close(g(q, v, a, load, moon), compiled(other, "inverse_dynamics")(q, v, a))
    assert_close(g(q, v, a, gravity=moon, **{"payload:panda_link8": load}), g(q, v, a, load, moon))
    by_hand = torque(linkwork.TracedRobot(robot, inputs={"gravity": moon, "payload:panda_link8": load}), q, v, a)
    assert_close(by_hand, g(q, v, a, load, moon))


def test_regressor_with_gravity():
    robot, other = linkwork.load("panda"), linkwork.load("panda", gravity=(1, 2, 3))
    q, v, a = state(robot)
    f = compiled(robot, ["regressor", "bias"], inputs=["gravity", "payload:panda_link8"])
    expected = compiled(other, "regressor", parameters="standard")(q, v, a)
    assert_close(compiled(robot, "regressor", parameters="standard", inputs=["gravity"])(q, v, a, (1, 2, 3)), expected)
    assert {port.name for port in f.program.inputs} == {"q", "v", "a", "gravity", "payload_panda_link8"}


DERIVATIVES = ("gravity", "friction", "rotor_inertia", "stiffness", "mass", "parameters:{link}", "payload:{link}")


@pytest.mark.parametrize("name", [*DERIVATIVES, "force_laws"])
def test_derivatives(name):
    """By complex steps through the same program, and by the regressor."""
    robot = arm("all").with_forces({arm("all").model.bodies[2].name: Drag(0.3, 1.0, 2.0, 0.5, 0.7)})
    name = name.format(link=robot.model.bodies[-1].name)
    f = robot.compile("inverse_dynamics", inputs=[name])
    port = f.program.inputs[-1]
    q, v, a = state(robot)
    x = f.label.nominal[port.name].array(port) + 0.1
    found = f.derivative(name)(q, v, a, x)
    assert found.shape == (5, *port.shape)
    for k in range(port.size):
        step = x.astype(complex)
        step.flat[k] += 1e-30j
        (ahead,) = interpret(f.program, [q, v, a, step])
        assert np.abs(found.reshape(5, -1)[:, k] - ahead.imag / 1e-30).max() < 1e-12 * (1 + np.abs(ahead).max())
    if name == "gravity":
        return
    if name.startswith("parameters"):
        Y = compiled(robot, "regressor", parameters="standard", drives=False)(q, v, a)
        assert_close(found, Y[:, -10:])
    back = f.vjp(name)(q, v, a, x, np.ones(5))
    assert_close(back, found.sum(axis=0))


def test_batches_types_and_files(tmp_path):
    robot = linkwork.load("planar2r")
    rng = np.random.default_rng(4)
    f = robot.compile("forward_dynamics", inputs=["gravity", "friction", "rotor_inertia:elbow"])
    q, v, tau = rng.normal(size=(3, 7, 2))
    g, rotor = rng.normal(size=(7, 3)), rng.uniform(1, 2, 7)
    many = f(q, v, tau, gravity=g, rotor_inertia_elbow=rotor)
    for k in range(7):
        assert (many[k] == f(q[k], v[k], tau[k], gravity=g[k], rotor_inertia_elbow=rotor[k])).all()
    for count in (0, 1):
        assert f(q[:count], v[:count], tau[:count], gravity=g[:count]).shape == (count, 2)
    assert f(q, v, tau).shape == (7, 2) and (f(q, v, tau) == f(q, v, tau, [*robot.model.gravity])).all()
    f.save(tmp_path / "f.json")
    again = linkwork.Function.load(tmp_path / "f.json")
    assert again.label.nominal == f.label.nominal and (again(q, v, tau) == f(q, v, tau)).all()
    assert again.derivative("gravity").label.nominal.keys() == {"gravity", "friction", "rotor_inertia_elbow"}
    small = robot.compile("forward_dynamics", inputs=["gravity"], dtype="float32")
    assert small(q[0], v[0], tau[0]).dtype == np.float32
    assert_close(small(q[0], v[0], tau[0]), f(q[0], v[0], tau[0]), tolerance=1e-4)
    assert "Entries of friction: 0 shoulder.Fs, 1 shoulder.Fv" in f.__doc__.replace("\n  ", " ")
    assert f.off_line_operations.add or f.off_line_operations.mul


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_export_to_c(tmp_path):
    robot = linkwork.load("planar2r")
    f = robot.compile("inverse_dynamics", inputs=["gravity", "friction", "payload:forearm"])
    f.to_c(tmp_path, name="arm")
    header = (tmp_path / "arm.h").read_text()
    assert "extern const double arm_nominal_gravity[3];" in header and "arm_nominal_payload_forearm[10]" in header
    command = ["gcc", "-std=c99", "-Wall", "-Werror", "arm.c", "arm_test.c", "-lm", "-o", "run"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert "0 wrong" in subprocess.run(["./run"], cwd=tmp_path, capture_output=True, text=True).stdout


# -- what is refused ---------------------------------------------------------------------------------------------------

REFUSED = (
    (UnknownNameError, "there is no input 'weight'", ["weight"]),
    (UnknownNameError, "there is no moving link 'link9'", ["parameters:link9"]),
    (UnknownNameError, "there is no joint or motor 'link1'", ["friction:link1"]),
    (UnknownNameError, "there is no frame 'hand'", ["payload:hand"]),
    (UnsupportedError, "a payload is carried by a frame", ["payload"]),
    (UnsupportedError, "a payload needs a moving link", ["payload:base"]),
    (UnsupportedError, "gravity is one input", ["gravity:z"]),
    (UnsupportedError, "the robot has no such numbers", ["force_laws"]),
    (UnsupportedError, "no joint has the friction law 'stribeck'", ["stribeck"]),
    (UnsupportedError, "its width cannot be an input", ["friction_width"]),
    (LinkworkError, "got: 'parameters' and 'parameters:upper_arm'", ["parameters", "parameters:upper_arm"]),
    (LinkworkError, "set the same numbers", ["parameters:upper_arm", "parameters:upper_arm"]),
    (LinkworkError, "set the same numbers", ["mass", "parameters:forearm"]),
    (LinkworkError, "set the same numbers", ["friction", "coulomb"]),
    (LinkworkError, "set the same numbers", ["friction:elbow", "viscous:elbow"]),
    (LinkworkError, "set the same numbers", ["gravity", "gravity"]),
    (UnsupportedError, "inputs is a list of names\n.*\n  fix: inputs=\\['gravity'\\]", "gravity"),
    (UnsupportedError, "inputs is a list of names", [3]),
    (UnsupportedError, "inputs is a list of names", {"gravity": (0, 0, 1)}),
)


@pytest.mark.parametrize("error, message, inputs", REFUSED, ids=[str(each[2]) for each in REFUSED])
def test_refused(error, message, inputs):
    robot = linkwork.load("planar2r")
    for quantity in ("bias", ["bias", "inertia_matrix"]):
        with pytest.raises(error, match=message):
            robot.compile(quantity, inputs=inputs)
    with pytest.raises(error, match=message):
        robot.function(lambda robot, q: robot.gravity(q), inputs=inputs)


def test_refused_together():
    robot = linkwork.load("planar2r")
    with pytest.raises(LinkworkError, match="set the same numbers"):
        robot.compile("bias", inputs=["parameters", "mass"])
    with pytest.raises(LinkworkError, match="an output has the name of an input"):
        robot.compile(["gravity", "bias"], inputs=["gravity"])
    with pytest.raises(LinkworkError, match="an argument has the name of an input"):
        robot.function(lambda robot, q, gravity: q, inputs=["gravity"], gravity=(3,))
    f = robot.compile("bias", inputs=["gravity"])
    with pytest.raises(ShapeError, match=r"input 'gravity'.*\n.*\n  expected: \(..., 3\)"):
        f(np.zeros(2), np.zeros(2), 9.81)
    both = robot.compile("bias", inputs=["parameters", "payload:forearm", "gravity"], backend="interpreter")
    assert both.signature == "q(2), v(2), parameters(2,10), payload_forearm(10), gravity(3) -> b(2)"
    assert_close(both([0.1, 0.2], [1, 2]), robot.bias([0.1, 0.2], [1, 2]))
    with pytest.raises(UnknownNameError, match="there is no input 'payload:upper_arm'"):
        both([0.1, 0.2], [1, 2], **{"payload:upper_arm": np.zeros(10)})


def test_earlier_arguments():
    """The errors name the new spelling."""
    robot = linkwork.load("planar2r")
    with pytest.raises(TypeError, match=r'no argument .payload.; it was renamed: use .inputs=\["payload:FRAME"\]'):
        robot.compile("bias", payload="forearm")
    for quantity in ("bias", ["bias", "gravity"]):
        with pytest.raises(LinkworkError, match=r'renamed\n  fix: use inputs=\["parameters"\]'):
            robot.compile(quantity, parameters="input")


def test_robots_without_such_numbers():
    quadrotor = linkwork.load("quadrotor")
    for name in ("friction", "coulomb", "rotor_inertia"):
        with pytest.raises(UnsupportedError, match="the robot has no such numbers"):
            quadrotor.compile("bias", inputs=[name])
    assert quadrotor.compile("bias", inputs=["mass", "force_laws", "geometry"]).prepare() is not None


def test_the_same_law_twice():
    robot = linkwork.load("panda")
    robot = robot.with_forces({"panda_link7": Drag(0.3, 1.0)}).with_forces({"panda_link7": Drag(0.2, 2.0)})
    rows = compiled(robot, "bias", inputs=["force_laws:panda_link7"]).label.nominal["force_laws_panda_link7"].rows
    assert rows[0] == "drag1.length" and "drag2.length" in rows and len({*rows}) == len(rows)


# -- simulations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "friction",
        "friction:{joint}",
        "rotor_inertia:{joint}",
        "payload:{link}",
        "parameters:{link}",
        "rest",
        "force_laws",
    ],
)
def test_vary(name):
    robot = arm("all").with_forces({arm("all").model.bodies[2].name: Drag(0.3, 1.0, 2.0, 0.5, 0.7)})
    robot = robot.with_drives({joint: {"stiffness": 3.0} for joint in robot.position_names})
    name = name.format(joint=robot.position_names[1], link=robot.model.bodies[-1].name)
    f = compiled(robot, "forward_dynamics", inputs=[name])
    port = f.program.inputs[-1]
    nominal = f.label.nominal[port.name].array(port)
    values = np.stack([nominal, nominal + 0.1, nominal + 0.2])
    q, v = (np.tile(x, (3, 1)) for x in state(robot)[:2])
    run = robot.rollout(q, v, None, 1e-3, 3, method="heun", vary={name: values}, outputs=("q", "v", "a"))
    for k in range(3):
        expected = [f(x, y, np.zeros(5), values[k]) for x, y in zip(run.q[k], run.v[k], strict=True)]
        assert_close(run.a[k], expected)
    stepper = robot.stepper(3, 1e-3, q0=q, v0=v, method="heun", vary={name: values})
    assert stepper.vary[name].shape == values.shape


def test_vary_refused():
    robot, zero, two = linkwork.load("planar2r"), np.zeros(2), np.zeros((2, 2))
    with pytest.raises(LinkworkError, match="is negative"):
        robot.rollout(two, two, steps=2, vary={"friction": -np.ones((2, 4))})
    with pytest.raises(LinkworkError, match="set the same numbers"):
        robot.rollout(zero, zero, steps=2, vary={"friction": np.zeros(4), "coulomb": zero})
    with pytest.raises(LinkworkError, match="negative"):
        robot.rollout(zero, zero, steps=2, vary={"payload:forearm": -np.ones(10)})
    with pytest.raises(ShapeError, match=r"vary\['friction'\]: wrong shape"):
        robot.rollout(zero, zero, steps=2, vary={"friction": zero})


def test_gradients_by_varied_numbers():
    robot = arm("plain")
    name = f"friction:{robot.position_names[1]}"
    values = np.array([0.4, 0.3, 0.1])
    q, v, _ = state(robot)

    def end(x):
        return robot.rollout(q, v, None, 1e-3, 20, method="rk4", vary={name: x}, checkpoint_every=5)

    found = end(values).pullback(q=np.eye(21)[-1][:, None] * np.ones(5)).vary[name]
    h = 1e-4
    for k in range(3):
        step = np.eye(3)[k] * h
        slope = (end(values + step).q[-1].sum() - end(values - step).q[-1].sum()) / (2 * h)
        assert abs(found[k] - slope) < 1e-9
