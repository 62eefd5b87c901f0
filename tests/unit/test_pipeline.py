"""compile and Robot: every option, against the formulations themselves; what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings

import linkwork
from linkwork import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.formulations import METHODS, QUANTITIES
from linkwork.io.urdf import read_urdf
from support.evaluate import assert_close, evaluate, is_refused
from support.random_robots import Recipe, describe, half_driven, random_state, random_vectors, recipes

ARM = linkwork.load(describe(Recipe(seed=8, joints=3, extras=True, fixed=True)))
MIMIC = linkwork.load(describe(Recipe(seed=1, joints=5, mimic=True)))
METHOD = [(m.quantity, m.name) for m in METHODS]


def inputs(robot, quantity: str, seed: int = 0) -> list[np.ndarray]:
    vectors = random_vectors(robot.model, seed)
    return [vectors[name] for name in QUANTITIES[quantity].inputs]


def assert_same(found, expected, **how) -> None:
    """One output, or several."""
    several = isinstance(expected, tuple)
    assert isinstance(found, tuple) == several
    for x, y in zip(found, expected, strict=True) if several else [(found, expected)]:
        assert_close(x, y, **how)


@pytest.mark.parametrize("quantity, method", METHOD)
@settings(max_examples=settings().max_examples // 3)
@given(recipe=recipes(joints=4, mimic=False))
def test_every_method_with_every_treatment_of_parameters(quantity: str, method: str, recipe: Recipe):
    hybrid = quantity == "hybrid_dynamics"
    robot = linkwork.load(half_driven(describe(recipe), recipe.seed) if hybrid else describe(recipe))
    if is_refused(robot.model, quantity, method):
        return
    given = inputs(robot, quantity)
    expected = evaluate(robot.model, quantity, *given, method=method)
    condition = np.linalg.cond(evaluate(robot.model, "inertia_matrix", given[0]))
    tolerance = 1e-15 * condition + 1e-12 if hybrid or quantity == "forward_dynamics" else 1e-12
    grouped = next(m.grouped for m in METHODS if (m.quantity, m.name) == (quantity, method))
    for how in ({}, {"parameters": "standard"}, {"inputs": ["parameters"]}):
        if "inputs" in how and not grouped:
            with pytest.raises(linkwork.UnsupportedError, match="it divides by masses"):
                linkwork.compile(robot, quantity, method=method, **how)
            continue
        function = linkwork.compile(robot, quantity, method=method, **how, backend="interpreter")
        more = [robot.parameters] if "inputs" in how else []
        assert_same(function(*given, *more), expected, scale=100.0, tolerance=tolerance)


def test_robots_have_every_quantity():
    q = random_state(ARM.model)[0]
    for quantity in QUANTITIES.values():
        if quantity.name == "assemble":  # of robots with loops; Robot.assemble is another function
            continue
        given = inputs(ARM, quantity.name)
        if not quantity.of_frame:
            assert_same(getattr(ARM, quantity.name)(*given), evaluate(ARM.model, quantity.name, *given), scale=1.0)
            continue
        for axes in ("world", "local") if quantity.has_axes else ("world",):
            how = {"axes": axes} if quantity.has_axes else {}
            found = getattr(ARM, quantity.name)("tool", *given, **how)
            assert_close(found, evaluate(ARM.model, quantity.name, *given, frame="tool", axes=axes), scale=1.0)
    assert ARM.inverse_dynamics is ARM.inverse_dynamics  # compiled once
    out = np.empty((4, 4))
    assert ARM.pose("tool", q, out=out) is out


def test_what_a_robot_says_of_itself():
    assert repr(ARM) == "<linkwork Robot random: 3 joints, fixed base>"
    hexapod = linkwork.load("gough-stewart")  # none of its legs' joints is independent
    assert repr(hexapod) == "<linkwork Robot gough-stewart: 18 joints with 6 freedoms, fixed base>"
    assert ARM.frame_names[-1] == "tool" and ARM.link_names[0] == "base" and ARM.name == "random"
    assert np.shape(ARM.parameters) == (3, 10) and (ARM.nq, ARM.nv) == (3, 3)


def test_auto_takes_the_method_with_the_fewest_instructions():
    for robot in (ARM, linkwork.load("panda"), linkwork.load("quadruped")):
        tried = ("aba", "crba-ldl", "crba+shared-axes")
        each = {m: robot.compile("forward_dynamics", method=m).operations.instructions for m in tried}
        chosen = robot.compile("forward_dynamics")
        assert chosen.operations.instructions <= min(each.values())
        assert chosen.operations.instructions == min(each.values())


def test_parameters_as_an_input_split_the_work():
    """On line nothing is done that depends on parameters alone, and a payload changes the forces as it should."""
    function = ARM.compile("inverse_dynamics", inputs=["parameters"], backend="interpreter")
    assert function.signature == "q(3), v(3), a(3), parameters(3,10) -> tau(3)"
    assert function.off_line_operations.instructions > 0
    q, v, a = random_state(ARM.model)
    heavier = np.array(ARM.parameters)
    heavier[2, 0] += 1.5  # a point mass at the origin of the last link
    loaded = ARM.model.with_parameters(heavier.tolist())
    assert_close(function(q, v, a, heavier), evaluate(loaded, "inverse_dynamics", q, v, a))
    batch = function(q, v, a, np.stack([ARM.parameters, heavier]))
    assert batch.shape == (2, 3) and np.array_equal(batch[1], function(q, v, a, heavier))


def test_minimal_parameters_never_cost_operations():
    for name in linkwork.bundled_robots():
        robot = linkwork.load(name)
        for method in ("rnea", "auto"):
            few, all_of_them = (
                robot.compile("inverse_dynamics", method=method, parameters=how).operations
                for how in ("minimal", "standard")
            )
            assert few.mul + few.add <= all_of_them.mul + all_of_them.add, (name, method)
            if method == "auto":  # how many of them fuse is a matter of luck, so others are tried
                assert few.instructions <= all_of_them.instructions, name


def test_load_takes_descriptions_names_and_paths(tmp_path):
    assert linkwork.load("panda").name == "panda"
    ARM.write(tmp_path / "arm.urdf")
    for path in (tmp_path / "arm.urdf", str(tmp_path / "arm.urdf")):
        assert linkwork.load(path).joint_names == ARM.joint_names


def test_load_options():
    description = describe(Recipe(seed=1, joints=5, mimic=True, extras=True))
    assert linkwork.load(description, mimic=False).nv == 5 > linkwork.load(description).nv
    assert linkwork.load(description, base="floating").nv == linkwork.load(description).nv + 6
    assert linkwork.load(description, gravity=(0, 0, 0)).gravity(np.zeros(MIMIC.nq)).tolist() == [0] * MIMIC.nv
    assert linkwork.load(description, lock={"to_link1": 0.3}).nv == linkwork.load(description).nv - 1
    bare = linkwork.load(description, friction=False, rotors=False).model
    assert all(j.viscous == j.coulomb == j.rotor_inertia == 0 < j.stiffness for j in (b.joint for b in bare.bodies))


REFUSED = {
    "quantity": (
        lambda: ARM.compile("inverse_dynamic"),
        UnknownNameError,
        "no quantity 'inverse_dynamic'(.|\n)*'inverse_dynamics'",
    ),
    "method": (
        lambda: ARM.compile("inverse_dynamics", method="rnae"),
        UnknownNameError,
        "no method of inverse_dynamics 'rnae'(.|\n)*mean 'rnea'",
    ),
    "method of none": (lambda: ARM.compile("pose", method="x", frame="tool"), UnknownNameError, "method of pose 'x'"),
    "mimic": (
        lambda: MIMIC.compile("forward_dynamics", method="aba"),
        UnsupportedError,
        "mimic joints\n  fix: use one of: crba-ldl",
    ),
    "no frame": (lambda: ARM.compile("pose"), LinkworkError, "pose needs a frame\n  expected: frame=, one of: base, "),
    "frame": (lambda: ARM.compile("pose", frame="tol"), UnknownNameError, "no frame 'tol'(.|\n)*did you mean 'tool'"),
    "frame of none": (
        lambda: ARM.compile("bias", frame="tool"),
        LinkworkError,
        "bias has no frame\n  got: frame='tool'",
    ),
    "axes": (lambda: ARM.compile("jacobian", frame="tool", axes="body"), UnknownNameError, "no choice of axes 'body'"),
    "axes of none": (
        lambda: ARM.compile("pose", frame="tool", axes="local"),
        LinkworkError,
        "pose has no choice of axes",
    ),
    "wrenches": (
        lambda: ARM.compile("gravity", wrenches=["tool"]),
        LinkworkError,
        "gravity takes no wrenches\n  got: tool",
    ),
    "wrench frame": (lambda: ARM.compile("bias", wrenches=["tol"]), UnknownNameError, "no frame 'tol'"),
    "dtype": (
        lambda: ARM.compile("bias", dtype="float16"),
        UnknownNameError,
        "no dtype 'float16'(.|\n)*float32, float64",
    ),
    "backend": (lambda: ARM.compile("bias", backend="nativ"), UnknownNameError, "did you mean 'native'"),
    "parameters": (lambda: ARM.compile("bias", parameters="standart"), UnknownNameError, "did you mean 'standard'"),
    "robot": (
        lambda: linkwork.load("pandaa"),
        UnknownNameError,
        "no bundled robot 'pandaa'(.|\n)*did you mean 'panda'",
    ),
    "suffix": (
        lambda: linkwork.load("robot.step"),
        linkwork.ModelError,
        "this format is not supported\n  got: .step",
    ),
    "missing": (lambda: linkwork.load("no/robot.urdf"), linkwork.ModelError, "cannot be read: No such file"),
    "write": (lambda: ARM.write("arm.step"), linkwork.ModelError, "does not write this format\n  got: .step"),
    "unwritable": (
        lambda: ARM.write("no/folder/arm.urdf"),
        LinkworkError,
        "cannot be written(.|\n)*fix: choose a folder",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str):
    call, error, message = REFUSED[what]
    with pytest.raises(error, match=message):
        call()


def two_links(mass: float, center: str) -> str:
    inertial = '<inertial><origin xyz="{}"/><mass value="{}"/>{}</inertial>'
    inertia = '<inertia ixx=".1" iyy=".2" izz=".15" ixy="0.01" ixz="0" iyz="0.02"/>'
    return f"""<robot name="p"><link name="b"/><link name="l1">{inertial.format("0.1 0 0.2", 2, inertia)}</link>
      <link name="l2">{inertial.format(center, mass, inertia)}</link>
      <joint name="j1" type="continuous"><parent link="b"/><child link="l1"/><axis xyz="0 0 1"/></joint>
      <joint name="j2" type="continuous"><parent link="l1"/><child link="l2"/><axis xyz="0 1 1"/>
        <origin xyz="0.3 0 0.1" rpy="1.57079632679 0 0.2"/></joint></robot>"""


def test_parameters_of_another_robot_of_the_same_shape():
    one, other = (linkwork.load(read_urdf(two_links(*given))) for given in ((1, "0.3 0 0"), (1.7, "0.1 0.25 0.05")))
    function = one.compile("inverse_dynamics", inputs=["parameters"], backend="interpreter")
    q, v, a = random_state(one.model)
    assert_close(function(q, v, a, np.array(other.parameters)), other.inverse_dynamics(q, v, a))
    assert_close(np.array(other.parameters)[1, :4], [1.7, 0.17, 0.425, 0.085])


def test_the_root_need_not_come_first(tmp_path):
    text = two_links(1, "0.3 0 0").replace(
        '<link name="b"/>',
        '<link name="b"/><link name="world"/><joint name="f" type="fixed"><parent link="world"/><child link="b"/>'
        '<origin xyz="1 0 0" rpy="1.2 0 0"/></joint>',
    )
    robot = linkwork.load(read_urdf(text))
    q = [0.3, -0.4]
    for name in ("robot.urdf", "robot.yaml"):
        robot.write(tmp_path / name)
        again = linkwork.load(tmp_path / name)
        assert_close(again.gravity(q), robot.gravity(q))
        assert_close(again.pose("l2", q), robot.pose("l2", q))


def test_wrenches_by_frame_whatever_the_function_was_compiled_for():
    q, v, a = random_state(ARM.model)
    names, pushes = list(ARM.frame_names)[-2:], np.arange(12.0).reshape(2, 6)
    given = dict(zip(names[::-1], pushes[::-1], strict=True))
    expected = ARM.inverse_dynamics(q, v, a, wrenches=given)
    compiled = ARM.compile("inverse_dynamics", wrenches=names)
    assert (compiled(q, v, a, wrenches=given) == expected).all() and (compiled(q, v, a, pushes) == expected).all()
    with pytest.raises(ShapeError, match="expected: wrenches on"):
        compiled(q, v, a, wrenches={names[0]: pushes[0]})
    with_input = ARM.compile("inverse_dynamics", inputs=["parameters"])
    assert_close(with_input(q, v, a, ARM.parameters, wrenches=given), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.dtype("f4"), "float32", "f4"])
def test_every_name_of_a_dtype(dtype, tmp_path):
    function = ARM.compile("gravity", dtype=dtype)
    function.save(tmp_path / "f.json")
    assert linkwork.Function.load(tmp_path / "f.json").dtype == "float32"


def test_large_robots_are_left_to_articulated_bodies():
    chain = linkwork.load(describe(Recipe(seed=2, joints=40)))
    assert chain.compile("forward_dynamics", backend="interpreter").label.method == "aba"


MISTAKES = {
    "not a robot": (lambda: linkwork.compile("panda", "gravity"), r"fix: linkwork.load\('panda'\)"),
    "one frame": (lambda: ARM.compile("bias", wrenches="tool"), r"fix: wrenches=\['tool'\]"),
    "no frames": (lambda: ARM.compile("bias", wrenches=None), "wrenches is a list of frames\n  got: None"),
    "values": (lambda: ARM.compile("bias", wrenches={"tool": 0}), "fix: give their names; values go into the call"),
    "list in a list": (lambda: ARM.compile("bias", wrenches=[["tool"]]), "wrenches is a list of frames"),
    "one input": (lambda: ARM.compile("bias", inputs="gravity"), r"fix: inputs=\['gravity'\]"),
    "an earlier value": (lambda: ARM.compile("bias", parameters="input"), r'use inputs=\["parameters"\]'),
    "list as frame": (lambda: ARM.compile("pose", frame=["tool"]), "frame is a name"),
    "list as method": (lambda: ARM.compile("bias", method=["auto"]), "one quantity has one method"),
    "number as quantity": (lambda: ARM.compile(3), "a name, a list of names, or a dict"),
    "part": (lambda: ARM.compile("forward_dynamics", method="auto+newton-euler"), "no method of inertia_matrix 'auto'"),
    "locked": (lambda: linkwork.load("panda", lock="panda_joint1"), "expected: {joint: position}"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_with_a_remedy(what):
    wrong, message = MISTAKES[what]
    with pytest.raises(linkwork.LinkworkError, match=message):
        wrong()
    assert linkwork.compile(ARM, "forward_dynamics", method="crba + newton-euler", backend="interpreter")
