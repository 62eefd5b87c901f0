"""Links that bend in files and descriptions: what is read, refused, written again; modal data; locked and pickled."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError, ModelError
from linkwork.io.mdh import read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.model import Beam, Modal, build, check, describe
from linkwork.model.flexible.shapes import bending, root
from support.evaluate import assert_close, derivative, evaluate
from support.flexible_robots import bending_tree, bent_state

BEAM = "length: 0.5, density: 2710, area: 1e-4, youngs: 7.1e10, shear: 2.7e10, moments: {y: 2e-10, z: 8e-10}"
ROBOT = """
name: arm
joints:
  - {{name: hub, link: hub}}
  - {{name: bend, link: tip, d: 0.1, alpha: pi/2, flexible: {{{}}}}}
  - {{name: wrist, link: hand}}
links:
  - {{link: hub, M: 1, central: [1e-3, 1e-3, 1e-3]}}
  - {{link: hand, M: 0.2, center: [0.1, 0.01, 0], central: [1e-3, 1e-3, 1e-3]}}
{}
"""


def arm(flexible: str, more: str = ""):
    return read_mdh(ROBOT.format(flexible, more), "arm.yaml")


def test_keys():
    description = arm(f"{BEAM}, modes: {{y: 2, z: 1, twist: 1, stretch: 1}}, damping: 0.02, stiffening: true")
    model = build(description)
    assert model.coordinates.names == ("hub", "bend.y1", "bend.y2", "bend.z1", "bend.twist1", "bend.stretch1", "wrist")
    assert model.coordinates.positions.units == ("rad", "m", "m", "m", "rad", "m", "rad")
    assert model.mobility.free == (1, 2, 3, 4, 5)  # hybrid dynamics finds their accelerations
    joint = description.joints[1]
    assert (joint.kind, joint.role) == ("flexible", "elastic")
    assert np.allclose(joint.origin.translation, [0.6, 0, 0])  # the straight tip
    assert np.allclose(description.links[1].inertia.mass, 1 + 0.1355)  # with the beam
    assert arm(f"{BEAM}, modes: 2").joints[1].flexible.modes == {"y": 2, "z": 2}
    assert arm(f"{BEAM.replace('{y: 2e-10, z: 8e-10}', '[2e-10, 8e-10]')}, modes: 1").joints[1].flexible.moments == {
        "y": 2e-10, "z": 8e-10,
    }  # fmt: skip
    assert joint.flexible.elastic.clamped[1] == pytest.approx([0.02] * 5)


@pytest.mark.parametrize(
    ("flexible", "told"),
    [
        (
            BEAM.replace("youngs: 7.1e10, ", "") + ", modes: 2",
            "modes without stiffness: the beam bends, but its modulus",
        ),
        (BEAM.replace("y: 2e-10, ", "") + ", modes: {z: 1}", "expected: moments: {y: ...}"),
        (BEAM.replace("shear: 2.7e10, ", "") + ", modes: {twist: 1}", "shear: a modulus in Pa"),
        (BEAM, "the beam has no modes"),
        (BEAM + ", modes: 2.5", "a whole number from zero to 30"),
        (BEAM + ", modes: 31", "a whole number from zero to 30"),
        (BEAM + ", modes: {x: 1}", "got: {'x': 1}"),
        (BEAM + ", modes: 1, shapes: {y: [[0, 0, 1]]}", "keep one of them"),
        (BEAM + ", shapes: {y: [[0, 1, 1]]}", "not clamped at the root"),
        (BEAM + ", shapes: {y: [[0, 0, 1, -1]]}", "does not move the tip"),
        (BEAM + ", shapes: {y: [[0, 0, 1], [0, 0, 2]]}", "not independent"),
        (BEAM + ", modes: 1, damping: [0.1, 0.1, 0.1]", "or 2: one for each mode"),
        (BEAM + ", modes: 1, damping: [0.1]", "or 2: one for each mode"),
        (BEAM.replace("z: 8e-10", "z: 1e300") + ", modes: 1", "y, z to a finite number above zero"),
        ("along: beam, at: 0.5", "there is no flexible link that it could be along"),
        (BEAM + ", modes: 1, damping: -0.1", "a ratio that is not negative"),
        (BEAM.replace("length: 0.5, ", "") + ", modes: 1", "'length' is missing"),
        (BEAM.replace("area: 1e-4", "area: 0") + ", modes: 1", "expected: a finite number above zero"),
        (BEAM + ", modes: 1, stiffening: perhaps", "there is no value 'perhaps'"),
        ("modal: {tip: [1, 0, 0]}", "'shifts' is missing"),
        (BEAM + ", modal: {}", "`modal` replaces 'length'"),
    ],
)
def test_mistakes(flexible, told):
    with pytest.raises(ModelError) as caught:
        arm(flexible)
    assert told in str(caught.value) and "line 5" in str(caught.value) and "joint 'bend'" in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"length": "1"}, "a finite number above zero"),
        ({"youngs": None}, "a finite number, zero or more"),
        ({"moments": 1e-9}, "a mapping of y, z to a finite number above zero"),
        ({"moments": {"z": "big"}}, "number above zero"),
        ({"modes": 2.5}, "a whole number from zero to 30"),
        ({"modes": {"y": 1.5}}, "a whole number from zero to 30"),
        ({"modes": {}, "shapes": [[0, 0, 1]]}, "y, z, twist, stretch to lists of numbers"),
        ({"stiffening": "no"}, "true or false"),
    ],
)
def test_mistakes_of_programs(wrong, told):
    good = {"length": 1.0, "density": 1.0, "area": 1.0, "youngs": 1.0, "moments": {"z": 1.0}, "modes": np.int64(2)}
    assert Beam(**good).modes == {"y": 2}
    with pytest.raises(ModelError) as caught:
        Beam(**good | wrong)
    assert told in str(caught.value)


def test_more_mistakes():
    rest = f"{BEAM}, modes: 1"
    with pytest.raises(ModelError, match="a flexible link has no drive"):
        arm(rest, "drives: [{joint: bend, K: 5}]")
    with pytest.raises(ModelError, match="the origin and the axes of the tip"):
        arm(rest, "frames: [{name: tip, link: tip, d: 0.1}]")
    with pytest.raises(ModelError, match="given twice, by 'flexible' and by 'kind'"):
        read_mdh(ROBOT.format(rest, "").replace("d: 0.1,", "kind: revolute,"), "")
    description = arm(rest)
    joints = [replace(joint, role="active") if joint.flexible else joint for joint in description.joints]
    with pytest.raises(ModelError, match="no motor moves the modes of a link"):
        build(replace(description, joints=tuple(joints)))
    stout = arm(rest.replace("8e-10", "8e-7"))
    (finding,) = (each for each in check(stout) if each.level == "warning")
    assert "0.31 m deep and 0.5 m long" in finding.message
    assert "at home its modes are deflected by 0.2" in check(arm(rest, "home: {bend: [0.2, 0]}"))[0].message


def test_home_of_one_number_may_be_a_list():
    flexible = f"{BEAM}, modes: {{y: 1}}"
    listed, plain = (build(arm(flexible, f"home: {{bend: {home}, hub: [0.5]}}")) for home in ("[0.02]", "0.02"))
    assert listed.home == plain.home == (0.5, 0.02, 0)
    with pytest.raises(ModelError, match=r"(?s)home.*wrong length.*got: 2 numbers.*expected: 1 number"):
        arm(flexible, "home: {bend: [0.02, 0]}")


@pytest.mark.parametrize("seed", range(3))
def test_written_and_read(seed, tmp_path):
    """YAML, URDF with its side file, a pickle, and the description of the model: the same robot."""
    kinds = ("revolute", "flexible", "prismatic", "flexible")
    robot = linkwork.load(bending_tree(seed, kinds, floating=seed == 1, stiffening=seed == 2))
    q, v, a = bent_state(robot.model, seed)
    tau = evaluate(robot.model, "inverse_dynamics", q, v, a)
    robot.write(tmp_path / "robot.yaml")
    robot.write(tmp_path / "robot.urdf")
    copies = [
        linkwork.load(tmp_path / "robot.yaml").model,
        linkwork.load(tmp_path / "robot.urdf", structure=tmp_path / "robot.loops.yaml").model,
        pickle.loads(pickle.dumps(robot.model)),
        build(describe(robot.model)),
    ]
    for copy in copies:
        assert copy.coordinates.names == robot.model.coordinates.names
        assert_close(evaluate(copy, "inverse_dynamics", q, v, a), tau)


def test_a_beam_as_modal_data():
    """The integrals of a beam, as a finite-element program would give them, make the same robot; again when written."""
    description = arm(f"{BEAM}, modes: {{y: 2, z: 2}}, damping: 0.02")
    beam = description.joints[1].flexible
    own = beam.elastic
    rows = lambda vectors: [list(each) for each in vectors]  # noqa: E731
    blocks = lambda matrices: [rows(each.rows) for each in matrices]  # noqa: E731
    modal = Modal(
        tip=list(own.tip), shifts=rows(own.shifts), turns=rows(own.turns), first=rows(own.S), second=blocks(own.B),
        products=[blocks(each) for each in own.C], frequencies=own.clamped[0].tolist(), damping=0.02,
    )  # fmt: skip
    joints = [replace(joint, flexible=modal) if joint.flexible else joint for joint in description.joints]
    other = replace(description, joints=tuple(joints))
    model = build(description)
    q, v, a = bent_state(model)
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    for copy in (build(other), build(read_mdh(write_mdh(other), "written"))):
        assert copy.coordinates.names[1:3] == ("bend.mode1", "bend.mode2")
        assert_close(evaluate(copy, "inverse_dynamics", q, v, a), tau)
    for wrong, told in (
        ({"frequencies": ()}, "modes without stiffness"),
        ({"frequencies": (1.0, 2.0, 3.0, 0.0)}, "frequencies above zero"),
        ({"turns": [[0, 0, 0]]}, "these numbers do not fit the modes"),
        ({"first": [["x", 0, 0]] * 4}, "these numbers do not fit the modes"),
        ({"stiffness": np.eye(4)}, "one of them"),
        ({"damping": (0.1, 0.2)}, "one number, or 4"),
    ):
        with pytest.raises(ModelError, match=told):
            replace(modal, **wrong)
    assert not [each for each in check(other) if "move more" in each.message]
    light = [replace(link, inertia=other.links[3].inertia) if link.name == "hub" else link for link in other.links]
    (finding,) = (each for each in check(replace(other, links=tuple(light))) if "move more" in each.message)
    assert finding.where == "arm.yaml: joint 'bend'" and "link 'hub' has, 0.2 kg at" in finding.message
    printed = np.diag((2 * np.pi * own.clamped[0]) ** 2 * np.diag(own.masses)) + np.triu(np.full((4, 4), 1e-6), 1)
    K = np.array(replace(modal, frequencies=(), stiffness=printed).elastic.stiffness)
    assert (K == K.T).all() and K[0, 1] == 5e-7


def test_locked_where_it_is_bent():
    """As the tree with all its joints, held still at that position: the rows and columns of the modes left out."""
    description = bending_tree(1, ("revolute", "flexible", "revolute"))
    assert description.joints[1].parent == "link1"
    model = build(description)
    q, v, a = bent_state(model)
    modes = [k for k in range(model.nv) if model.coordinates.joint_of(k).kind.modes]
    locked = build(description, lock={"j2": q[modes].tolist()})
    v[modes] = a[modes] = 0.0
    tau = np.delete(evaluate(model, "inverse_dynamics", q, v, a), modes)
    rest = [np.delete(x, modes) for x in (q, v, a)]
    assert_close(evaluate(locked, "inverse_dynamics", *rest), tau)
    assert_close(evaluate(locked, "potential_energy", rest[0]), evaluate(without_springs(model), "potential_energy", q))


def without_springs(model):
    bodies = (replace(body, joint=replace(body.joint, kind=body.joint.kind.limp())) for body in model.bodies)
    return replace(model, bodies=tuple(bodies))


STATIONS = """
  - {name: middle, link: middle, flexible: {along: bend, at: 0.5}}
  - {name: camera, link: camera, parent: middle, d: 0.1}
"""


@pytest.mark.parametrize("stiffening", ["true", "false"])
def test_places_along_a_beam(stiffening, tmp_path):
    """A body in the middle of a beam is moved by its modes; one at its end as the tip is."""
    flexible = f"{BEAM}, modes: {{y: 2, z: 1, twist: 1}}, stiffening: {stiffening}"
    text = ROBOT.format(flexible, "  - {link: camera, M: 0.3, center: [0.1, 0, 0.02], central: [1e-3, 1e-3, 1e-3]}")
    robot = linkwork.load(read_mdh(text.replace("links:", STATIONS.strip("\n") + "\nlinks:"), "arm.yaml"))
    model = robot.model
    assert model.coordinates.names == ("hub", "bend.y1", "bend.y2", "bend.z1", "bend.twist1", "wrist", "camera")
    q, v, a = bent_state(model)
    beam = model.joint(2).kind.material
    at = evaluate(model, "pose", q, frame="middle")[:3, 3]
    hub = evaluate(model, "pose", q, frame="hub")
    root = hub[:3, :3] @ np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    point = beam.line(np.array([0.5]), q[1:5])[0]
    assert_close(at, hub[:3, 3] + hub[:3, 0] * 0.1 + root @ point)
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    for method in ("crba-ldl", "crba+newton-euler"):
        assert_close(evaluate(model, "forward_dynamics", q, v, tau, method=method), a, tolerance=1e-11)
    with pytest.raises(LinkworkError, match="it does not work with mimic joints"):
        evaluate(model, "forward_dynamics", q, v, tau, method="aba")
    power = derivative(lambda x: evaluate(model, "kinetic_energy", x[:7], x[7:]), np.append(q, v), np.append(v, a))
    power = power + derivative(lambda x: evaluate(model, "potential_energy", x), q, v)
    assert_close(power, tau @ v, scale=np.abs(tau * v).max())
    robot.write(tmp_path / "robot.yaml")
    robot.write(tmp_path / "robot.urdf")
    copies = [
        linkwork.load(tmp_path / "robot.yaml"),
        linkwork.load(tmp_path / "robot.yaml", mimic=False),  # it is a part of its beam all the same
        linkwork.load(tmp_path / "robot.urdf", structure=tmp_path / "robot.loops.yaml"),
        pickle.loads(pickle.dumps(robot)),
        linkwork.load(tmp_path / "robot.yaml", lock={"bend": q[1:5].tolist()}),
    ]
    for copy in copies[:4]:
        assert_close(evaluate(copy.model, "inverse_dynamics", q, v, a), tau)
    assert_close(evaluate(copies[4].model, "pose", np.delete(q, range(1, 5)), frame="middle")[:3, 3], at)
    for tied in (
        lambda: robot.chain("camera"),
        lambda: linkwork.load(tmp_path / "robot.yaml", lock={"middle": [0] * 4}),
    ):
        with pytest.raises(ModelError, match=r"follows 'bend'(?s:.*)fix: lock 'bend'$"):
            tied()
    (tmp_path / "robot.urdf").write_text((tmp_path / "robot.urdf").read_text().replace('xyz="0.35 ', 'xyz="0.3 '))
    with pytest.raises(ModelError, match=r"at \[0.3, 0.0, 0.0\], but its place along 'bend' is \[0.35, 0.0, 0.0\]"):
        linkwork.load(tmp_path / "robot.urdf", structure=tmp_path / "robot.loops.yaml")
    same = text.replace("links:", STATIONS.strip("\n").replace("0.5", "1") + "\nlinks:")
    end = build(read_mdh(same, "arm.yaml"))
    assert_close(evaluate(end, "jacobian", q, frame="middle"), evaluate(end, "jacobian", q, frame="tip"))
    for wrong, told in (
        ("along: wrist", "there is no joint of a flexible link 'wrist'"),
        ("along: bend, at: 2", "not a place on the beam"),
        ("along: bend, at: 0.5, tip: [0, 0, 0]", "given by `at` alone"),
        ("along: bend, at: 0.5}, parent: tip, source: {", "its place along .bend. is given by `flexible`"),
    ):
        with pytest.raises(ModelError, match=told):
            read_mdh(text.replace("links:", STATIONS.strip("\n").replace("along: bend, at: 0.5", wrong) + "\nlinks:"))


def test_damping_goes_with_friction():
    damped, bare = (linkwork.load(arm(f"{BEAM}, modes: 1, damping: 0.1"), friction=each) for each in (True, False))
    q, v = damped.coordinates.neutral(), np.ones(4)
    lost = damped.bias(q, v) - bare.bias(q, v)
    assert lost[0] == lost[3] == 0.0 and (lost[1:3] > 0.01).all()


def test_high_modes_are_exact():
    """No digit is lost in shapes of high modes, where cosh would be 1e40; frequencies are those of the roots."""
    beam = Beam(2.0, 1.0, 1.0, 1.0, moments={"z": 1.0}, modes={"y": 30})
    exact = np.array([root(j + 1) for j in range(30)])
    assert np.abs(np.cos(exact) + 1 / np.cosh(exact)).max() < 1e-13
    assert_close(2 * np.pi * beam.elastic.clamped[0], (exact / 2.0) ** 2)
    assert_close(beam.elastic.masses, 0.25 * 2.0 * np.eye(30))
    s = np.linspace(0, 1, 101)
    value, _, curvature = bending(30)(s)
    assert np.abs(curvature[-1]) < 1e-9 * np.abs(curvature).max() and value[-1] == 1.0


def test_polynomials():
    """The static deflection under a force at the tip is itself a shape, and has its stiffness, 3 E I / L^3."""
    beam = Beam(2.0, 1.0, 1.0, 5.0, moments={"z": 3.0}, shapes={"y": [[0, 0, 1.5, -0.5], [0, 0, 0, 1]]}, damping=0.1)
    K = np.array(beam.elastic.stiffness)
    assert K[0, 0] == pytest.approx(3 * 15 / 8)
    assert np.allclose(K, K.T) and K[0, 1] != 0
    M, D = beam.elastic.masses, np.array(beam.elastic.damping)
    poles = np.linalg.eigvals(
        np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    )
    assert -poles.real / np.abs(poles) == pytest.approx([0.1] * 4)


def test_less_than_its_beam():
    """Of a link that bends, the beam itself cannot be taken away: M would be indefinite."""
    robot = linkwork.load("flexible-beam")
    mass = robot.parameters[0][0]
    for values in ({"hub": {"mass": 0.2}}, {"hub": {"inertia": [1e-6] * 3}}, {"hub.MX": 5.0}):
        with pytest.raises(
            ModelError, match=r"^link 'hub': it is less than its own beam.*\n  got: .*\n  expected: .*\n  fix"
        ):
            robot.with_parameters(values)
    with pytest.raises(ModelError, match="less than its own beam"):
        linkwork.load("flexible-beam", with_parameters={"hub": {"mass": 0.2}})
    for values in ({"hub": {"mass": 2 * mass}}, {"hub": robot.parameters[0]}):
        assert np.linalg.eigvalsh(robot.with_parameters(values).inertia_matrix(np.zeros(robot.nq)))[0] > 0
