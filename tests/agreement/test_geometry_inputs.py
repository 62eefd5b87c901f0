"""Geometry as an input, against the same file with other numbers in it."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError, UnknownNameError, UnsupportedError
from linkwork.constraints import ConstraintEquations
from linkwork.constraints.equations import closing_rows
from linkwork.formulations import methods
from linkwork.io import read
from linkwork.model import Placement
from linkwork.model.description import foot_at
from linkwork.model.geometry import written
from linkwork.model.placement import ModifiedParameters
from linkwork.model.rotations import rotation_from_rpy
from linkwork.program import interpret
from support.evaluate import assert_close
from support.mixed_loops import closed_chain
from support.mixed_trees import MixedRecipe, mixed
from support.random_robots import Recipe, describe

OF_STATES = (
    "inverse_dynamics", "forward_dynamics", "inertia_matrix", "bias", "gravity", "kinetic_energy", "potential_energy",
    "momentum", "center_of_mass", "frame_poses", "frame_jacobians", "frame_accelerations",
)  # fmt: skip
FEW = ("inverse_dynamics", "forward_dynamics", "inertia_matrix", "potential_energy", "frame_poses")
SIX = ("gamma", "b", "alpha", "d", "theta", "r")
ARM = {  # axes that are parallel, intersect or are at right angles; fixed links with mass, frames of both kinds
    "name": "arm",
    "joints": [
        {"name": "waist", "r": 0.3, "M": 3, "MX": 0.2, "YY": 0.4, "ZZ": 0.5, "Ia": 0.1},
        {"name": "shoulder", "alpha": "pi/2", "M": 2, "MX": 0.3, "MY": 0.1, "ZZ": 0.2, "XX": 0.3, "YY": 0.3},
        {"name": "elbow", "d": 0.4, "M": 1, "MX": 0.1, "MZ": 0.2, "XX": 0.2, "ZZ": 0.2, "XY": 0.01, "YY": 0.4},
        {"name": "plate", "sigma": 2, "d": 0.1, "theta": "pi/2", "M": 0.5, "MX": 0.05, "XX": 0.1, "YY": 0.1, "ZZ": 0.1},
        {"name": "slide", "sigma": 1, "alpha": "-pi/2", "r": 0.2, "M": 0.4, "MX": 0.02, "XX": 0.1, "YY": 0.1,
         "ZZ": 0.1},
        {"name": "camera", "parent": 4, "sigma": 2, "xyz": [0, 0, 0.1], "rpy": [0, "pi/2", 0], "M": 0.2, "MX": 0.01,
         "XX": 0.01, "YY": 0.01, "ZZ": 0.01},
        {"name": "pan", "kind": "helical", "pitch": 0.1, "axis": [0, 1, 0], "theta": 0.3, "M": 0.3, "XX": 0.1,
         "YY": 0.1, "ZZ": 0.1, "MZ": 0.02},
    ],
    "frames": [
        {"name": "tool", "link": "link5", "d": 0.25},
        {"name": "eye", "link": "link6", "xyz": [0.1, 0, 0], "rpy": [0, 0, "pi"]},
    ],
}  # fmt: skip


def changed_table(data: dict, change) -> dict:
    """The same table with other numbers in the rows that place something: ``change(row)`` gives six."""
    data = copy.deepcopy(data)
    for row in (*data["joints"], *data["frames"]):
        values = change(row)
        if "xyz" in row:
            row |= {"xyz": values[:3].tolist(), "rpy": values[3:].tolist()}
        else:
            row |= dict(zip(SIX, values.tolist(), strict=True))
    return data


def agree(robot, other, values, names=OF_STATES, q=None, tolerance=1e-12, inputs=("geometry",), seed=0):
    """The functions of ``robot`` at these values are those of ``other``, and by default its own."""
    rng = np.random.default_rng(seed)
    q = robot.coordinates.random(rng) if q is None else q
    v, a = rng.normal(size=(2, robot.nv))
    for name in names:
        f = robot.compile(name, inputs=inputs, backend="interpreter")
        own, expected = (each.compile(name, backend="interpreter") for each in (robot, other))
        last = rng.normal(size=own.program.inputs[-1].shape) if "dynamics" in name else a
        motion = [q, v, last][: len(own.program.inputs)]
        found, wanted = f(*motion, **values), expected(*motion)
        if np.abs(wanted).max() > 1e-12:
            assert_close(found, wanted, tolerance=tolerance)
        else:
            assert np.abs(found).max() < 1e-12
        if robot.home == other.home:
            assert_close(f(*motion), own(*motion), tolerance=tolerance)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_table(base):
    rng = np.random.default_rng(1)
    table = ARM | {"base": base}
    rows: list = []

    def change(row):
        def number(x):
            return {"pi/2": np.pi / 2, "-pi/2": -np.pi / 2, "pi": np.pi}.get(x, x)

        six = [*row.get("xyz", [0] * 3), *row.get("rpy", [0] * 3)] if "xyz" in row else [row.get(key, 0) for key in SIX]
        rows.append(np.array([number(x) for x in six], float) + rng.choice([0.01, 0.3, -0.2], 6))
        return rows[-1]

    other = linkwork.load(changed_table(table, change))
    robot = linkwork.load(table)
    nominal = robot.compile("gravity", inputs=["geometry"], backend="interpreter").label.nominal["geometry"]
    assert nominal.rows[0] == "waist (gamma b alpha d theta r)" and nominal.rows[5] == "camera (x y z roll pitch yaw)"
    assert nominal.rows[-1] == "eye (x y z roll pitch yaw)" and nominal.values[:6] == (0, 0, 0, 0, 0, 0.3)
    agree(robot, other, {"geometry": np.array(rows)})


URDF = """<robot name="cart">
  <link name="base">{I}</link><link name="cart">{I}</link><link name="plate">{I}</link><link name="arm">{I}</link>
  <link name="hand">{I}</link>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
    <origin xyz="{0} {1} {2}" rpy="{3} {4} {5}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="bolt" type="fixed"><parent link="cart"/><child link="plate"/>
    <origin xyz="{6} {7} {8}" rpy="{9} {10} {11}"/></joint>
  <joint name="hinge" type="continuous"><parent link="plate"/><child link="arm"/><axis xyz="0 1 0"/>
    <origin xyz="{12} {13} {14}" rpy="{15} {16} {17}"/></joint>
  <joint name="grip" type="continuous"><parent link="arm"/><child link="hand"/><axis xyz="0 0.6 0.8"/>
    <origin xyz="{18} {19} {20}" rpy="{21} {22} {23}"/></joint>
</robot>"""
INERTIA = (
    '<inertial><origin xyz="0.1 0.02 0.3" rpy="0.1 0.2 0.3"/><mass value="1.3"/>'
    '<inertia ixx="0.2" ixy="0.01" ixz="0.02" iyy="0.3" iyz="0.03" izz="0.25"/></inertial>'
)


def urdf(values):
    numbers = [f"{x!r}" for x in np.ravel(values).tolist()]
    return URDF.replace("{I}", INERTIA).format(*numbers)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_urdf(base):
    nominal = np.array(
        [
            [0, 0, 0, 0, 0, 0],
            [0, 0, 0.1, np.pi / 2, 0, 0],
            [0.2, 0, 0, 0, 0.3, np.pi / 2],
            [0, 0.5, 0, 0.3, np.pi / 2, 0],
        ]
    )  # the last at gimbal lock: angles stay as they are written
    robot = linkwork.load(text=urdf(nominal), base=base)
    f = robot.compile("gravity", inputs=["geometry"], backend="interpreter")
    assert_close(np.reshape(f.label.nominal["geometry"].values, (4, 6)), nominal)
    values = nominal + np.random.default_rng(2).choice([0.01, -0.3, 0.2], (4, 6))
    agree(robot, linkwork.load(text=urdf(values), base=base), {"geometry": values}, FEW)
    by_name = dict(zip(("rail", "bolt", "hinge", "grip"), values, strict=True))
    apart = {f"geometry_{name}": row for name, row in by_name.items()}
    names = [f"geometry:{name}" for name in reversed(by_name)]
    agree(robot, linkwork.load(text=urdf(values), base=base), apart, FEW[:2], inputs=names)
    one = np.array([row if k == 1 else old for k, (row, old) in enumerate(zip(values, nominal, strict=True))])
    agree(
        robot, linkwork.load(text=urdf(one), base=base), {"geometry_bolt": values[1]}, FEW[:2], inputs=["geometry:bolt"]
    )


def reloaded(description, values):
    """The description with other numbers: six for each joint, frame and side of a constraint among ``values``."""

    def new(name, placement):
        if name not in values:
            return placement
        way, x = written(placement), np.asarray(values[name])
        if way.convention.entries == SIX:
            return way.before @ ModifiedParameters(*x).placement() @ way.after
        return way.before @ Placement(rotation_from_rpy(*x[3:], exact=0.0), x[:3]) @ way.after

    sides = [{key: (link, new(f"{each.name}.{key}", at)) for key, (link, at) in each.sides.items()}
             for each in description.constraints]  # fmt: skip
    return replace(
        description,
        joints=tuple(replace(joint, origin=new(joint.name, joint.origin)) for joint in description.joints),
        frames={name: (link, new(name, at)) for name, (link, at) in description.frames.items()},
        constraints=tuple(replace(each, **ends) for each, ends in zip(description.constraints, sides, strict=True)),
    )


def changed(robot, scale, seed=0, nonzero=()):
    """Other numbers by name; of ``nonzero`` entries alone, those that are not zero."""
    rng, values = np.random.default_rng(seed), {}
    for name, placement in robot.model.geometry.placements.items():
        way = written(placement)
        old, step = np.array(way.values), scale * rng.normal(size=6)
        kept = [bool(x) and entry in nonzero for entry, x in zip(way.convention.entries, old, strict=True)]
        values[name] = old + (step * kept if nonzero else step)
    return values


TREES = {
    "arm": describe(Recipe(3, 5, ("parallel", "right angle", "skew", "coaxial"), fixed=True)),
    "branches": describe(Recipe(4, 6, branches=True, fixed=True, mimic=True, extras=True)),
    "every kind": mixed(MixedRecipe(5, fixed=True, rotors=True, extras=True, reach=3)),
    "floating": mixed(
        MixedRecipe(6, ("revolute", "planar", "helical", "universal"), floating=True, fixed=True, reach=2)
    ),
    "ur5e": read("ur5e"),
    "quadruped": read("quadruped"),
    "flexible-crane": read("flexible-crane"),
    "biped": read("biped"),
}


@pytest.mark.parametrize("name", TREES)
def test_trees(name):
    robot = linkwork.load(TREES[name])
    values = changed(robot, 0.2)
    names = OF_STATES if name in ("arm", "flexible-crane") else FEW
    agree(robot, linkwork.load(reloaded(TREES[name], values)), {"geometry": np.array([*values.values()])}, names)


LOOPS = {  # numbers that keep their loops planar, or any
    "four-bar": (read("four-bar"), 0.02, ("d",)),
    "3rpr": (read("3rpr"), 0.02, ("d",)),
    "delta": (read("delta"), 1e-3, ()),
    "gough-stewart": (read("gough-stewart"), 1e-3, ()),
    "one loop": (closed_chain(("revolute",) * 7, "weld", 3), 0.01, ()),
    "on a floating base": (
        closed_chain(("revolute", "spherical", "prismatic", "universal"), "revolute", 3, floating=True), 0.01, ()
    ),
    "car": (read("car"), 0.0, ()),
}  # fmt: skip


def standing(description):
    """The robot with a foot on each of two of its links."""
    links = [joint.child for joint in description.joints if joint.motion.nv][-2:]
    feet = [foot_at(f"foot{k}", link, size=(0.2, 0.1)) if k else foot_at("foot0", link) for k, link in enumerate(links)]
    return replace(description, constraints=(*description.constraints, *feet))


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    """At positions that close the loops with the other numbers; the choice of independent joints is the same."""
    description, scale, nonzero = LOOPS[name]
    robot = linkwork.load(description)
    values = changed(robot, scale, nonzero=nonzero)
    other = linkwork.load(reloaded(description, values))
    assert other.model.mobility == robot.model.mobility
    names = [each for each in FEW if name != "on a floating base" or each != "inverse_dynamics"]
    q, geometry = np.array(other.home), np.array([*values.values()])
    anywhere = robot.coordinates.random(np.random.default_rng(7))
    residual = robot.compile("loop_residual", inputs=["geometry"], backend="interpreter")
    assert_close(residual(anywhere, geometry), other.compile("loop_residual", backend="interpreter")(anywhere))
    assert np.abs(residual(q, geometry)).max() < 1e-12
    agree(robot, other, {"geometry": np.array([*values.values()])}, names, q=q, tolerance=1e-11)


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize("name", LOOPS)
def test_assembly(name, backend):
    """The loops close as those of the same file with other numbers. Derivatives by these numbers are those of positions
    on which the residual does not change, and differences."""
    description, scale, nonzero = LOOPS[name]
    robot = linkwork.load(description)
    values = changed(robot, scale, nonzero=nonzero)
    other = linkwork.load(reloaded(description, values))
    model, geometry, rng = robot.model, np.array([*values.values()]), np.random.default_rng(8)
    f = robot.compile("assemble", inputs=["geometry"], backend=backend)
    joints = f.label.layouts["positions"].joints
    step = rng.uniform(-0.02, 0.02, (3, model.coordinates.nv)).tolist()
    guess = np.array([model.moved(list(robot.home), each) for each in step])
    positions = guess[:, model.coordinates.places(joints)]
    found = f(positions, guess, geometry)
    expected = other.compile("assemble", backend=backend)(positions, guess)
    assert found.solved.all() and expected.solved.all()
    assert_close(found.q, expected.q, tolerance=1e-11)

    slopes = f.derivative("geometry", of="q")(positions, guess, geometry)
    known = [k for each in joints for k in model.joint_freedoms(each)]
    free = [k for k in range(model.coordinates.nv) if k not in known]
    residual = robot.compile("loop_residual", inputs=["geometry"], backend="interpreter")
    opened = residual.derivative("geometry")(found.q, geometry).reshape(3, -1, geometry.size)
    for q, slope, dr in zip(found.q, slopes, opened, strict=True):
        equations = ConstraintEquations.closing(other.model, q.tolist())
        v = np.zeros((geometry.size, model.coordinates.nv))
        v[:, free] = -np.linalg.lstsq(np.array(equations.J, float)[:, free], dr[closing_rows(model) or ...])[0].T
        rates = np.array([robot.coordinates.rates(q, each) for each in v])
        assert_close(slope.reshape(model.nq, -1).T, rates, tolerance=1e-11)

    step = 1e-4 * (geometry != np.reshape(f.label.nominal["geometry"].values, geometry.shape))  # keeps loops planar
    ahead, behind = (f(positions, guess, geometry + np.multiply.outer([k, 2 * k], step)[:, None]).q for k in (1, -1))
    near, far = ahead - behind
    along = np.einsum("sqij,ij->sq", slopes, step)
    np.testing.assert_allclose((8 * near - far) / 12, along, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics", "inertia_matrix", "forward_dynamics", "forward_dynamics_derivatives"]
)
def test_methods(quantity):
    """By every method; two of them depend on which axes are parallel, and are refused."""
    description = describe(Recipe(3, 4, kinds=("revolute",)))
    robot = linkwork.load(description)
    values = changed(robot, 0.3)
    expected = linkwork.load(reloaded(description, values)).compile(quantity, backend="interpreter")
    x = np.random.default_rng(0).normal(size=(3, 4))[: len(expected.program.inputs)]
    expected = expected(*x)
    refused = []
    for method in methods(quantity):
        if method.refusal(robot.model):
            continue
        if method.refusal(robot.model, placed=True):
            refused.append(method.name)
            with pytest.raises(UnsupportedError, match="geometry is an input"):
                robot.compile(quantity, method=method.name, inputs=["geometry"])
            continue
        f = robot.compile(quantity, method=method.name, inputs=["geometry"], backend="interpreter")
        found = f(*x, np.array([*values.values()]))
        for one, other in zip(
            *((each if isinstance(each, tuple) else (each,)) for each in (found, expected)), strict=True
        ):
            assert_close(one, other, tolerance=1e-11)
    assert refused == (["lin-fang-1-minimal", "lin-fang-2-minimal"] if quantity == "inertia_matrix" else [])


def test_together_with_inertia():
    """A payload moves with its frame, parameters replace those of a body with all that is fixed to it."""
    robot = linkwork.load(ARM)
    description = read_table()
    values = {"plate": np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), "tool": np.array([0.3, 0.1, 0.2, 0.1, 0.0, 0.1])}
    other = linkwork.load(reloaded(description, values))
    load = {"mass": 2.0, "center": [0.1, 0.2, 0.3], "inertia": np.diag([0.5, 0.6, 0.7])}
    ten = [2.0, 0.1, 0.2, 0.3, 0.5, 0, 0, 0.6, 0, 0.7]
    inputs = ["payload:tool", "geometry:tool", "geometry:plate"]
    given = {"payload_tool": ten} | {f"geometry_{name}": x for name, x in values.items()}
    f = robot.compile("bias", inputs=inputs, backend="interpreter")
    q, v = np.random.default_rng(0).normal(size=(2, robot.nv))
    assert_close(f(q, v, **given), other.with_payload({"tool": load}).bias(q, v))
    row = np.array(robot.parameters[2]) * 1.5
    g = robot.compile("bias", inputs=["parameters:link3", "geometry:plate"], backend="interpreter")
    expected = other.with_parameters({"link3": row}).bias(q, v)
    assert_close(g(q, v, row, values["plate"]), expected)
    heavier = robot.with_parameters({"link5": {"mass": 3.0}})
    moved = linkwork.load(reloaded(description, values)).with_parameters({"link5": {"mass": 3.0}})
    h = heavier.compile("bias", inputs=["geometry:plate", "geometry:tool"], backend="interpreter")
    assert_close(h(q, v, values["plate"], values["tool"]), moved.bias(q, v))


def read_table():
    from linkwork.io.mdh import read_mdh

    return read_mdh(ARM)


def test_locked_joints_and_chains():
    description = read_table()
    values = changed(linkwork.load(ARM), 0.3)
    rows = np.array([*values.values()])
    moved = reloaded(description, values)
    for options in ({"lock": {"elbow": 0.4}}, {"lock": {"shoulder": -0.3, "slide": 0.2}}):
        agree(linkwork.load(ARM, **options), linkwork.load(moved, **options), {"geometry": rows})
    robot, other = linkwork.load(ARM).chain("link3"), linkwork.load(moved).chain("link3")
    names = [*robot.model.geometry.placements]
    agree(robot, other, {"geometry": np.array([values[name] for name in names])}, OF_STATES[:4])


def test_derivatives():
    robot = linkwork.load(ARM)
    f = robot.compile("inverse_dynamics", inputs=["geometry", "gravity"])
    q, v, a = np.random.default_rng(3).normal(size=(3, robot.nv))
    x = np.reshape(f.label.nominal["geometry"].values, (-1, 6)) + 0.1
    found = f.derivative("geometry")(q, v, a, x)
    gravity = np.array([0, 0, -9.81])
    for row in range(len(x)):
        for k in range(6):
            step = x.astype(complex)
            step[row, k] += 1e-30j
            (ahead,) = interpret(f.program, [q, v, a, step, gravity])
            assert_close(found[:, row, k] + 1.0, ahead.imag / 1e-30 + 1.0)
    assert_close(f.vjp("geometry")(q, v, a, x, tau_bar=np.ones(robot.nv)), found.sum(axis=0))
    many = np.random.default_rng(4).normal(size=(5, *x.shape)) * 0.1 + x
    assert all((f(q, v, a, many)[k] == f(q, v, a, many[k])).all() for k in range(5))


def test_own_function_of_geometry():
    """Errors of kinematic calibration: the pose of the tool, and its derivatives by all numbers of the file."""
    robot = linkwork.load(ARM)

    def place(robot, q):
        return robot.pose("tool", q)[:3, 3]

    f = robot.function(place, inputs=["geometry"], backend="interpreter")
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert_close(f(q), robot.pose("tool", q)[:3, 3])
    assert f.derivative("geometry")(q).shape == (3, 9, 6)


def test_rollouts():
    robot = linkwork.load(ARM)
    f = robot.compile("forward_dynamics", inputs=["geometry"], backend="interpreter")
    nominal = np.reshape(f.label.nominal["geometry"].values, (-1, 6))
    x = nominal + np.random.default_rng(5).normal(size=(3, *nominal.shape)) * 0.1
    q, v = np.random.default_rng(6).normal(size=(2, 3, robot.nv))
    run = robot.rollout(q, v, None, 1e-3, 3, method="heun", vary={"geometry": x}, outputs=("q", "v", "a"))
    for k in range(3):
        assert_close(run.a[k], [f(*at, np.zeros(robot.nv), x[k]) for at in zip(run.q[k], run.v[k], strict=True)])
    one = robot.rollout(q, v, None, 1e-3, 3, method="semi-implicit-euler", vary={"geometry:elbow": x[:, 2]})
    same = x.copy()
    same[:] = nominal
    same[:, 2] = x[:, 2]
    all_of_them = robot.rollout(q, v, None, 1e-3, 3, method="semi-implicit-euler", vary={"geometry": same})
    assert_close(one.q, all_of_them.q)


MOVING = {  # robots with loops, with contacts, with both
    "four-bar": (*LOOPS["four-bar"], ("rk4", "semi-implicit-euler", "rosenbrock")),
    "3rpr": (*LOOPS["3rpr"], ("adams-bashforth-4", "semi-implicit-euler")),
    "gough-stewart": (*LOOPS["gough-stewart"], ("rk4",)),
    "on a floating base": (*LOOPS["on a floating base"], ("heun", "semi-implicit-euler")),
    "biped": (read("biped"), 0.02, (), ("rk4",)),
    "walking loop": (standing(LOOPS["on a floating base"][0]), 0.01, (), ("semi-implicit-euler",)),
}


@pytest.mark.parametrize("name", MOVING)
def test_rollouts_of_loops_and_contacts(name):
    """Rollouts with other placements in each sample are those of the files with these numbers."""
    description, scale, nonzero, methods = MOVING[name]
    robot = linkwork.load(description)
    values = [changed(robot, scale, seed, nonzero) for seed in (1, 2, 3)]
    others = [linkwork.load(reloaded(description, each)) for each in values]
    q, v = np.array([other.home for other in others]), 0.3 * np.random.default_rng(0).normal(size=(3, robot.nv))
    outputs, options = ["q", "v", "a", "kinetic_energy"], {}
    if robot.model.switched:
        options, outputs = {"contacts": np.ones(len(robot.model.switched))}, [*outputs, "contact_forces"]
    if robot.model.constrained:
        outputs += ["loop_residual", "constraint_forces"]
    options |= {"dt": 1e-3, "steps": 5, "outputs": outputs}
    geometry = np.array([[*each.values()] for each in values])
    for method in methods:
        run = robot.rollout(q, v, method=method, vary={"geometry": geometry}, **options)
        stepper = robot.stepper(3, dt=1e-3, substeps=5, q0=q, v0=v, method=method, vary={"geometry": geometry},
                                contacts=options.get("contacts"))  # fmt: skip
        stepper.step()
        for k, other in enumerate(others):
            alone = other.rollout(q[k], v[k], method=method, **options)
            for output in outputs:
                size = max(1.0, np.abs(alone[output]).max())
                assert_close(run[output][k] / size + 1.0, alone[output] / size + 1.0, tolerance=1e-11)
            assert_close(stepper.q[k], alone.q[-1], tolerance=1e-11)
        reset = robot.stepper(3, dt=1e-3, q0=q, v0=v, method=method, vary={"geometry": geometry},
                              contacts=options.get("contacts"))  # fmt: skip
        reset.step()
        reset.vary["geometry"] = geometry[0]
        reset.reset(np.array([False, True, False]), q[0], v[0])
        for _ in range(5):
            reset.step()
        assert_close(reset.q[1], stepper.q[0], tolerance=1e-11)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("four-bar", "rk4"),
        ("four-bar", "semi-implicit-euler"),
        ("3rpr", "adams-bashforth-4"),
        ("walking loop", "rk4"),
        ("biped", "semi-implicit-euler"),
    ],
)
def test_gradients_of_loops_and_contacts(name, method):
    """Gradients by placements, where the dependent joints start elsewhere, against differences of reloaded robots.

    Differences of fourth order with steps of 1e-3 have errors of 1e-9.
    """
    description, scale, nonzero, _ = MOVING[name]
    robot = linkwork.load(description)
    values, ahead = (changed(robot, scale, seed, nonzero) for seed in (1, 2))
    way = {key: ahead[key] - values[key] for key in values}
    base = linkwork.load(reloaded(description, values))
    options = {"dt": 1e-3, "steps": 3, "method": method}
    if robot.model.switched:
        options["contacts"] = np.ones(len(robot.model.switched))
    places = robot.model.coordinates.places(
        robot.model.coordinates.whole(robot.model.mobility.configuration).positions.joints
    )
    q0, v0 = np.array(base.home), 0.3 * np.random.default_rng(0).normal(size=robot.nv)

    def moved(step):
        """The motion of a reloaded robot from the same independent positions and velocities."""
        other = linkwork.load(reloaded(description, {key: values[key] + step * way[key] for key in values}))
        q = other.assemble(q0[places]).q if robot.model.constrained else q0
        return other.rollout(q, v0, **options)

    h = 1e-3 / max(np.abs(x).max() for x in way.values())
    runs = [moved(k * h) for k in (-2, -1, 1, 2)]
    geometry = np.array([*values.values()])
    run = robot.rollout(q0, v0, vary={"geometry": geometry}, checkpoint_every=1, **options)
    weights = {name: np.random.default_rng(5).normal(size=run[name].shape) for name in ("q", "v")}
    sums = [sum((weights[name] * each[name]).sum() for name in weights) for each in runs]
    expected = (sums[0] - 8 * sums[1] + 8 * sums[2] - sums[3]) / (12 * h)
    found = run.pullback(**weights)
    size = np.abs(found.vary["geometry"]).sum() * max(np.abs(x).max() for x in way.values())
    along = (found.vary["geometry"] * np.array([*way.values()])).sum()
    assert abs(along - expected) < 1e-8 * size, (along, expected)
    own = base.rollout(q0, v0, checkpoint_every=1, **options).pullback(**weights)
    assert_close(found.q0, own.q0, tolerance=1e-10)
    assert_close(found.v0, own.v0, tolerance=1e-10)


def test_linearised_loops():
    """Jacobians of steps with other placements are those of the reloaded robot."""
    description, scale, nonzero = LOOPS["four-bar"]
    robot = linkwork.load(description)
    values = changed(robot, scale, nonzero=nonzero)
    other = linkwork.load(reloaded(description, values))
    options = {"dt": 1e-3, "steps": 3, "method": "rk4", "checkpoint_every": 1}
    vary = {"geometry": np.array([*values.values()])}
    found = robot.rollout(other.home, [1.0], vary=vary, **options).linearised()
    expected = other.rollout(other.home, [1.0], **options).linearised()
    assert_close(found.A, expected.A, tolerance=1e-11)
    assert_close(found.B, expected.B, tolerance=1e-11)


def test_start_of_loops():
    """Positions that close the nominal loops are refused where the numbers of a sample open them."""
    bar = linkwork.load("four-bar")
    nominal = np.array([written(each).values for each in bar.model.geometry.placements.values()])
    longer = nominal.copy()
    longer[nominal[:, 3] != 0, 3] += 0.01
    with pytest.raises(LinkworkError, match=r"with vary=\{'geometry'\}: the loops are not closed at q0"):
        bar.rollout(bar.home, [0.0], steps=2, vary={"geometry": longer})
    rows = {f"geometry:{name}": row for name, row in zip(bar.model.geometry.placements, nominal, strict=True)}
    one = dict([*rows.items()][:1])
    runs = [bar.rollout(bar.home, [1.0], dt=1e-3, steps=5, vary=vary) for vary in (one, rows, {})]
    assert_close(runs[0].q, runs[2].q)
    assert_close(runs[1].q, runs[2].q)
    stepper = bar.stepper(2, q0=bar.home, vary={"geometry": nominal})
    stepper.vary["geometry"] = longer
    with pytest.raises(LinkworkError, match="the loops are not closed at q0"):
        stepper.reset()


def test_warnings_about_rolling_with_other_geometry():
    """Warnings about a motion know the placements of each sample."""
    car = linkwork.load("car")
    vary = {"geometry": [[*written(each).values] for each in car.model.geometry.placements.values()]}
    expected = car.rollout(car.home, np.ones(car.nv), dt=1e-3, steps=3).notes
    assert car.rollout(car.home, np.ones(car.nv), dt=1e-3, steps=3, vary=vary).notes == expected


def test_refused():
    robot = linkwork.load(ARM)
    with pytest.raises(UnknownNameError, match="there is no joint, frame or cut joint 'wrist'"):
        robot.compile("gravity", inputs=["geometry:wrist"])
    with pytest.raises(LinkworkError, match="set the same numbers"):
        robot.compile("gravity", inputs=["geometry:elbow", "geometry"])
    with pytest.raises(UnsupportedError, match="which parameters act together depends on the geometry"):
        robot.compile("regressor", parameters="minimal", inputs=["geometry"])
    beam = linkwork.load("flexible-beam")
    flexible = next(body.joint.name for body in beam.model.bodies if body.joint.kind.modes)
    with pytest.raises(UnknownNameError, match="there is no joint, frame or cut joint"):
        beam.compile("gravity", inputs=[f"geometry:{flexible}"])
