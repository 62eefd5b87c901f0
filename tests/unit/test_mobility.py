"""Freedoms of robots with loops: how many, which joints tell the others, who drives them; what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.constraints import mobility
from linkwork.errors import ModelError, UnsupportedError
from linkwork.model import CUT_JOINTS, ConstraintDescription, Description, JointDescription, Link, Placement
from support.random_loops import LoopRecipe, along_x, closed_model, four_bar, mechanism, spin
from support.random_robots import inertia

CUT = four_bar().constraints[0]
TILTED = Placement(spin(np.array([1.0, 0.0, 0.0]), 0.3), np.array([0.306, 0.0, 0.0]))
TURNED = Placement(spin(np.array([1.0, 0.0, 0.0]), np.pi), np.array([0.306, 0.0, 0.0]))
ROUNDED = Placement(spin(np.array([1.0, 0.0, 0.0]), 3.7e-6), np.array([0.306, 0.0, 0.0]))
FLAT = dict.fromkeys(("crank", "coupler", "rocker"), 0.0)
PARALLELOGRAM = {"ground": 0.4, "crank": 0.2, "coupler": 0.4, "rocker": 0.2}


@pytest.mark.parametrize(
    ("roles", "independent", "motors", "driven", "free"),
    (
        (("active", "passive", "passive"), (0,), (0,), (0,), ()),
        (("passive", "passive", "active"), (2,), (2,), (2,), ()),
        (("active", "elastic", "passive"), (0,), (0,), (0,), ()),
        (("passive", "elastic", "passive"), (1,), (), (), (1,)),
    ),
)
def test_active_joints_are_independent(roles, independent, motors, driven, free):
    joints = four_bar(roles=roles).joints
    springs = tuple(replace(joint, stiffness=5.0) if joint.role == "elastic" else joint for joint in joints)
    found = closed_model(replace(four_bar(), joints=springs)).mobility
    assert (found.independent, found.motors, found.driven, found.free) == (independent, motors, driven, free)


@pytest.mark.parametrize("roles", (("passive",) * 3, ("active", "passive", "active")))
def test_last_bits_do_not_choose_the_independent_joint(roles, monkeypatch):
    """Crank and rocker of a parallelogram tell the other joints equally well."""
    home = {"crank": 1.0, "coupler": -1.0, "rocker": 1.0}
    described = replace(four_bar(**PARALLELOGRAM, home=home, roles=roles), redundant=True)
    chosen, jacobian, rng = closed_model(described).mobility, mobility.constraint_jacobian, np.random.default_rng(0)

    def noisy(model, q):
        J = jacobian(model, q)
        return J * (1 + rng.integers(-8, 9, J.shape) * 2.0**-52)

    monkeypatch.setattr(mobility, "constraint_jacobian", noisy)
    assert [closed_model(described).mobility for _ in range(10)] == [chosen] * 10


def test_named_independent_joint_need_not_have_the_motor():
    robot = linkwork.load(four_bar(independent=("rocker",)))
    assert robot.joint_names == ("rocker",) and robot.motor_names == ("crank",)
    assert robot.inverse_dynamics.signature == "q(3), v(1), a(1) -> tau(1)"


@pytest.mark.parametrize(
    ("closures", "freedoms"), ((("revolute",), 1), (("weld", "spherical"), 3), (("universal",), 2))
)
def test_numbers_in_space(closures, freedoms):
    model = closed_model(mechanism(LoopRecipe(seed=1, closures=closures, freedoms=freedoms)))
    assert model.nv == freedoms and model.nq == model.coordinates.nv > freedoms


@pytest.mark.parametrize("kind", ("revolute", "spherical", "prismatic", "weld"))
def test_redundant_equations_of_planar_loops_are_counted_once(kind):
    model = closed_model(mechanism(LoopRecipe(seed=2, closures=(kind, kind), freedoms=3, planar=True)))
    assert model.nv == 3


def test_base_of_a_floating_mechanism_stays_whole():
    model = closed_model(mechanism(LoopRecipe(seed=3, closures=("revolute",), floating=True)))
    assert model.mobility.independent[:6] == model.mobility.free[:6] == tuple(range(6))
    assert model.nv == 7 and model.moving_base


def test_home_is_closed_on_load():
    near = {name: value + 0.05 for name, value in four_bar().home.items()}
    robot = linkwork.load(four_bar(home=near))
    assert np.abs(robot.loop_residual(robot.home)).max() < 1e-11
    assert np.abs(np.array(robot.home) - list(near.values())).max() < 0.2


def rigid(**roles) -> Description:
    """A triangle of two links and the ground."""
    bar = four_bar()
    crank, _, rocker = bar.joints
    return replace(
        bar,
        joints=(replace(crank, role="passive", **roles), replace(rocker, role="passive")),
        links=(bar.links[0], bar.links[1], bar.links[3]),
        home={"crank": 1.0, "rocker": 2.0},
        constraints=(
            ConstraintDescription(
                "tip", CUT_JOINTS["spherical"], ("crank_link", along_x(0.4)), ("rocker_link", along_x(0.306))
            ),
        ),
    )


def test_a_frame_that_cannot_move():
    robot = linkwork.load(rigid())
    assert (robot.nv, robot.joint_names, robot.nq) == (0, (), 2)
    assert robot.inverse_dynamics(robot.home, [], []).shape == (0,)
    assert robot.inertia_matrix(robot.home).shape == (0, 0)
    assert robot.assemble([]).solved
    assert len(robot.base_parameters()) == robot.base_parameters().rank == 0


def chain(lengths, kind="weld", at=None, home=None) -> Description:
    """Links end to end along x, hinged about z, the tip held at ``at`` or where it is."""
    rng, links, joints, shift = np.random.default_rng(0), [Link("base")], [], 0.0
    for k, length in enumerate(lengths):
        joints.append(JointDescription(f"j{k}", "revolute", links[-1].name, f"l{k}", along_x(shift), role="passive"))
        links.append(Link(f"l{k}", inertia(rng)))
        shift = length
    hold = ("base", along_x(sum(lengths) if at is None else at)), (links[-1].name, along_x(shift))
    cut = ConstraintDescription("tip", CUT_JOINTS[kind], *hold)
    return Description("chain", tuple(links), tuple(joints), constraints=(cut,), home=home or {})


@pytest.mark.parametrize("kind", ("weld", "revolute", "spherical", "universal"))
@pytest.mark.parametrize("off", (0.0, 1e-6, 1e-3, 0.2))
def test_a_chain_pulled_straight_cannot_move(kind, off):
    """Its velocities across are allowed to first order only; so it is from however near home was given."""
    taut = chain((0.4, 0.4, 0.2), kind, home={"j0": off, "j1": -off, "j2": off})
    with pytest.raises(ModelError, match=r"the loops are rigid at home(.|\n)*like a chain(.|\n)*fix: change lengths"):
        closed_model(taut)
    assert closed_model(chain((0.4, 0.4, 0.2), "spherical", at=0.9, home={"j0": 0.5, "j1": -1.0})).nv == 1


def test_a_rigid_part_is_no_freedom_beside_others():
    """The same chain on a turntable that can turn: velocities of two kinds, of which one leads nowhere."""
    taut = chain((0.4, 0.4, 0.2))
    table = JointDescription("table", "revolute", "floor", "base", role="passive")
    turning = replace(taut, links=(Link("floor"), *taut.links), joints=(table, *taut.joints))
    with pytest.raises(ModelError, match=r"singular position of the loops(.|\n)*2 degrees of freedom there, not all"):
        closed_model(turning)


def bennett(a=0.3, b=0.5, alpha=0.4) -> Description:
    """Four hinges in space, skew to each other, that move although counting says they cannot: the first and third
    link are as long, and as twisted, as each other, and so are the second and fourth; a / sin alpha = b / sin beta."""
    beta = np.arcsin(b * np.sin(alpha) / a)
    theta = 1.0
    phi = 2 * np.arctan(np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta / 2))
    rng, links, joints, at = np.random.default_rng(0), [Link("base")], [], Placement()
    for k, (length, twist) in enumerate(((a, alpha), (b, beta), (a, alpha))):
        name = f"l{k}"
        joints.append(JointDescription(f"j{k}", "revolute", links[-1].name, name, at, role="passive"))
        links.append(Link(name, inertia(rng)))
        at = Placement(spin(np.array([1.0, 0.0, 0.0]), twist), np.array([length, 0.0, 0.0]))
    # the fourth link is the base: its far hinge is b behind, twisted back
    back = Placement(spin(np.array([1.0, 0.0, 0.0]), -beta), np.zeros(3)) @ along_x(-b)
    home = {"j0": theta, "j1": phi, "j2": theta}
    cut = ConstraintDescription("cut", CUT_JOINTS["revolute"], ("l2", at), ("base", back))
    return Description("bennett", tuple(links), tuple(joints), constraints=(cut,), home=home)


def test_more_equations_than_joints_and_yet_it_moves():
    robot = linkwork.load(bennett())
    assert robot.nv == 1 and robot.nq == 3 and np.abs(robot.home).min() > 0.3
    name = robot.joint_names[0]
    here = robot.home[robot.position_names.index(name)]
    assert robot.assemble({name: here + np.linspace(-0.5, 0.5, 5)}).solved.all()


@pytest.mark.parametrize(
    ("description", "words"),
    (
        (
            replace(four_bar(), constraints=(replace(CUT, second=("rocker_link", along_x(5.0))),)),
            ("the loops cannot be closed", "loop 'cut' stays open by", "fix: give `home` positions near a closed one"),
        ),
        (
            replace(four_bar(), constraints=(replace(CUT, second=("rocker_link", TILTED)),)),
            ("the loops cannot be closed", "check the frames of the loops"),
        ),
        (
            replace(four_bar(), constraints=(replace(CUT, second=("rocker_link", TURNED)),)),
            ("frames of loop 'cut' point in opposite directions", "fix: rotate one of the two frames by half a turn"),
        ),
        (
            replace(four_bar(), constraints=(replace(CUT, second=("rocker_link", ROUNDED)),)),
            ("loop 'cut' stays open by 3.7e-06 at best", "such as pi/2 and not 1.5708"),
        ),
        (
            replace(four_bar(), constraints=(CUT, replace(CUT, name="other", second=("rocker_link", along_x(0.31))))),
            ("the loops cannot be closed", "loop 'other' stays open by"),
        ),
        (
            four_bar(roles=("active", "passive", "active")),
            ("more motors than degrees of freedom", "crank, rocker", "`role: passive`", "`actuation: redundant`"),
        ),
        (
            four_bar(independent=("crank", "rocker")),
            ("cannot be the independent ones", "crank, rocker", "for example: crank"),
        ),
        (four_bar(independent=("krank",)), ("'krank', which does not exist", "did you mean 'crank'?")),
        (
            four_bar(**PARALLELOGRAM, home=FLAT),
            ("home is a singular position", "2 degrees of freedom there, 1 near it", "another home"),
        ),
    ),
    ids=("too long", "tilted", "upside down", "rounded", "inconsistent", "motors", "too many", "misspelt", "flat"),
)
def test_refused(description, words):
    with pytest.raises(ModelError) as error:
        closed_model(description)
    for word in words:
        assert word in str(error.value)


def test_a_floating_body_is_independent_as_a_whole_if_it_can():
    """Held by a hinge at the tip of two links, it shares its six freedoms with them: one turn is its own."""
    bar = four_bar()
    free = JointDescription("free", "floating", "base", "body", along_x(0.51))
    hinge = ConstraintDescription(
        "hinge", CUT_JOINTS["revolute"], ("coupler_link", along_x(0.39)), ("body", Placement())
    )
    held = replace(
        bar,
        links=(*bar.links[:3], Link("body", inertia(np.random.default_rng(2)))),
        joints=(free, *(replace(joint, role="active") for joint in bar.joints[:2])),
        constraints=(hinge,),
        home={},
    )
    model = closed_model(held)
    assert model.coordinates.of_freedoms(model.mobility.independent).names == ("free.rz", "crank", "coupler")
    assert model.coordinates.of_freedoms(model.mobility.free).names == ("free.rz",)
    model = closed_model(replace(held, constraints=(replace(hinge, kind=CUT_JOINTS["weld"]),)))
    assert model.joint_names == ("crank", "coupler") and model.nv == 2


def test_a_body_that_is_in_no_loop_is_free():
    """A box beside a hexapod, whose `independent` names the platform alone."""
    hexapod = linkwork.io.read("gough-stewart")
    box = JointDescription("lies", "floating", hexapod.root, "box")
    links = (*hexapod.links, Link("box", inertia(np.random.default_rng(0))))
    for joints in ((*hexapod.joints, box), (box, *hexapod.joints)):
        model = closed_model(replace(hexapod, links=links, joints=joints))
        told = model.coordinates.of_freedoms
        assert told(model.mobility.driven).joints == ("platform_joint",) and len(model.mobility.driven) == 6
        assert told(model.mobility.free).joints == ("lies",) and model.nv == 12


def test_motors_are_missing():
    robot = linkwork.load(four_bar(roles=("passive",) * 3))
    with pytest.raises(
        UnsupportedError, match=r"passive joints that are free to move: coupler\n  fix: hybrid_dynamics"
    ):
        robot.inverse_dynamics(robot.home, [0.0], [0.0])
    tau, a = robot.hybrid_dynamics(robot.home, [0.0], [])
    assert tau.shape == (0,)
    np.testing.assert_allclose(a, robot.forward_dynamics(robot.home, [0.0], [0.0]), rtol=1e-12)


def test_motors_of_one_loop_do_not_drive_another_joint():
    """Two motors in a four-bar beside a free pendulum: redundant in the loop, and none for the pendulum."""
    bar = four_bar(roles=("active", "active", "passive"))
    swing = JointDescription("swing", "revolute", "base", "bob", role="passive")
    both = replace(bar, links=(*bar.links, Link("bob", inertia(np.random.default_rng(1)))), joints=(*bar.joints, swing))
    with pytest.raises(
        ModelError,
        match=r"depend on each other(.|\n)*2 degrees of freedom; their velocities have rank 1, coupled by loop 'cut'",
    ):
        closed_model(both)
    robot = linkwork.load(replace(both, redundant=True))
    assert robot.model.names_of(robot.model.mobility.free) == ("swing",)
    tau, a = robot.hybrid_dynamics(robot.home, [0.3, 0.4], [1.0])
    assert tau.shape == (2,) and a.shape == (1,)
    alone = linkwork.load(replace(bar, redundant=True))
    expected, _ = alone.hybrid_dynamics(alone.home, [0.3], [1.0])
    np.testing.assert_allclose(tau, expected, rtol=1e-11)


def test_equations_that_count_stay_apart_all_round():
    """Those of Bennett's linkage are chosen over its whole turn, so no motion meets a place where they are singular."""
    robot = linkwork.load(bennett(), friction=False)
    name = robot.joint_names[0]
    there = robot.assemble({name: robot.home[robot.position_names.index(name)] + np.linspace(-3, 3, 61)})
    rows = list(robot.model.mobility.rows)
    for q in there.q[there.solved]:
        J = np.array([robot.loop_rates(q, e) for e in np.eye(robot.nq)]).T
        least, whole = (np.linalg.svd(part, compute_uv=False)[1] for part in (J[rows], J))
        assert least > 0.1 * whole
