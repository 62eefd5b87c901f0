"""Commands of force laws: what they are called, where they go in, what is said of those that are missing or wrong."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import linkwork
from linkwork import TracedRobot, inspection, io
from linkwork.errors import DivergedError, LinkworkError, ModelError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.forces import Buoyancy, Plate, Rotor, Thruster, Tyre
from linkwork.io.mdh import read_mdh
from linkwork.model import Description, Link, LinkInertia, Placement, describe
from linkwork.spatial import Force, Vector

ROTORS = ("front_left", "back_left", "back_right", "front_right")


@pytest.fixture(scope="module")
def quadrotor():
    return linkwork.load("quadrotor")


@pytest.fixture(scope="module")
def state(quadrotor):
    rng = np.random.default_rng(0)
    return quadrotor.coordinates.random(rng), rng.normal(size=6), np.zeros(6), rng.uniform(1, 4, 4)


@dataclass(frozen=True)
class Gimbal:
    """A law of one's own, with two commands."""

    commands = {"force": "N", "lean": "rad"}  # noqa: RUF012

    def __call__(self, pose, velocity, commands):
        force, lean = commands
        return Force(Vector(force * lean, 0, force))


class Listed(Gimbal):
    commands = ("force", "lean")  # pyright: ignore[reportAssignmentType]


def test_names_and_order(quadrotor):
    assert quadrotor.command_names == ROTORS
    assert quadrotor.forward_dynamics.signature == "q(7), v(6), tau(6), commands(4) -> a(6)"
    pushed = quadrotor.compile("forward_dynamics", wrenches=["body"])
    assert [port.name for port in pushed.program.inputs] == ["q", "v", "tau", "commands", "wrenches"]
    assert "commands" not in [port.name for port in quadrotor.inertia_matrix.program.inputs]
    assert [port.name for port in quadrotor.inverse_dynamics_derivatives.program.outputs][-1] == "dtau_dcommands"
    several = quadrotor.with_forces({"body": Gimbal()})
    assert several.command_names == (*ROTORS, "body.force", "body.lean")
    assert several.model.commands.units == ("N",) * 4 + ("N", "rad")
    assert not linkwork.load("puma560").command_names


def test_dicts_batches_and_none(quadrotor, state):
    q, v, tau, u = state
    a = quadrotor.forward_dynamics(q, v, tau, u)
    named = quadrotor.forward_dynamics(q, v, tau, dict(zip(ROTORS, u, strict=True)))
    assert np.array_equal(named["base"], a)
    rows = quadrotor.forward_dynamics(q, v, tau, np.stack([u, 0 * u]))
    assert np.array_equal(rows, [a, quadrotor.forward_dynamics(q, v, tau)])
    few, only = {"back_left": 3.0}, np.array([0, 3.0, 0, 0])  # what is left out is zero
    some = quadrotor.forward_dynamics(q, v, tau, only)
    assert np.array_equal(quadrotor.forward_dynamics(q, v, tau, few)["base"], some)
    assert np.array_equal(
        quadrotor.linearise(q, v, tau, commands=few).A, quadrotor.linearise(q, v, tau, commands=only).A
    )
    pushed = quadrotor.forward_dynamics(q, v, tau, u, wrenches={"body": np.eye(6)[2]})
    assert np.allclose(quadrotor.forward_dynamics(q, v, np.eye(6)[2], u), pushed)
    own = TracedRobot(quadrotor)
    assert np.allclose(own.inverse_dynamics(q, v, a, commands=u), 0, atol=1e-13)
    assert np.allclose(own.inverse_dynamics(q, v, some, commands=few), 0, atol=1e-13)
    assert np.allclose(
        own.bias(q, v, commands=u) - own.bias(q, v), quadrotor.inverse_dynamics.derivative("commands")(q, v, a) @ u
    )


def test_every_way_to_give_them_over_time(quadrotor, state):
    """Constant, over time, of each sample, by name, by a function, by a controller, by a stepper: the same bits."""
    q, v, _, u = state

    def roll(steps=3, **more):
        return quadrotor.rollout(q, v, dt=0.01, steps=steps, outputs=("q", "v", "commands"), **more)

    once = roll(commands=u)
    assert np.array_equal(once.commands, np.tile(u, (4, 1))) and not once.notes
    assert once.entries["commands"] == ROTORS and once.units["commands"] == ("N",) * 4
    own = [roll(commands=np.tile(u, (3, 1))), roll(commands=dict(zip(ROTORS, u, strict=True)))]
    own += [roll(commands=lambda t: u + 0 * t), roll(commands=lambda t: dict(zip(ROTORS, u + 0 * t, strict=True)))]
    own += [roll(torque=lambda t, q, v, r: {"commands": u})]
    own += [roll(torque=lambda t, q, v, r: {"commands": {name: x for name, x in zip(ROTORS, u - 1, strict=True)}},
                 commands=np.ones(4))]  # fmt: skip
    for other in own:
        assert np.allclose(other.q, once.q, rtol=0, atol=1e-15)
    two = quadrotor.rollout(np.stack([q, q]), v, dt=0.01, steps=3, commands=np.stack([u, 0 * u]))
    none = roll()
    assert np.array_equal(two.q, [once.q, none.q])
    assert none.notes == (f"no commands are given, so these are zero: {', '.join(ROTORS)}",)
    assert roll(torque=lambda t, q, v, r: np.zeros(6)).notes == none.notes
    stepper = quadrotor.stepper(2, 0.01, q0=q, v0=v)
    stepper.commands[0] = u
    for _ in range(3):
        stepper.step()
    assert np.array_equal(stepper.q, two.q[:, -1])
    fallen = quadrotor.simulate(q, v, 0.1, commands=np.zeros(4))
    assert fallen.commands.shape == (101, 4) and not fallen.notes


def test_files_keep_them(quadrotor, tmp_path):
    robot = linkwork.load("space-arm").with_forces({"gripper": Gimbal()})
    with pytest.raises(ModelError, match="cannot be written"):
        robot.write(tmp_path / "gimbal.yaml")
    laws = (("body", Buoyancy(1e-3, center=(0, 0, 1))), ("body", Plate(0.1, wind=(1, 0, 0))), ("body", Tyre(0.3, 1e5)))
    own = describe(quadrotor.model)
    rich = linkwork.load(replace(own, forces=(*own.forces, *laws)))
    for name in ("rich.yaml", "rich.urdf"):
        rich.write(tmp_path / name)
        beside = io.side_file(tmp_path / name) if name.endswith("urdf") else None
        back = linkwork.load(tmp_path / name, structure=beside)
        assert back.model.commands == rich.model.commands
        assert [law for _, law in back.model.forces] == [law for _, law in rich.model.forces]
    function = quadrotor.forward_dynamics
    function.save(tmp_path / "f.json")
    again = linkwork.Function.load(tmp_path / "f.json")
    assert again.label.layouts["commands"] == quadrotor.model.commands
    text = "".join(path.read_text() for path in function.to_c(tmp_path / "c"))
    assert "const double commands[4]" in text and "Commands: front_left (N), back_left (N)" in " ".join(
        text.replace("\n *", "").split()
    )


def test_command_line(quadrotor, run_linkwork, tmp_path):
    code, out, _ = run_linkwork("eval", "quadrotor", "forward_dynamics", "--commands", "front_left=4", "--json")
    found = json.loads(out)
    assert code == 0 and found["inputs"]["commands"] == [4, 0, 0, 0]
    q, still = quadrotor.coordinates.neutral(), np.zeros(6)
    assert np.allclose(found["output"]["a"], quadrotor.forward_dynamics(q, still, still, [4.0, 0, 0, 0]))
    fly = ("simulate", "quadrotor", "--duration", 0.1)
    drawn = ("--plot", tmp_path / "fly.png")
    assert "Note" not in run_linkwork(*fly, "--commands", "2.7,2.7,2.7,2.7", *drawn)[1] and drawn[1].exists()
    assert "no commands are given, so these are zero" in " ".join(run_linkwork(*fly)[1].split())
    out = run_linkwork("inspect", "quadrotor")[1]
    assert "Forces of the surroundings" in out and "front_left, N" in out
    for words, told in ((("eval", "quadrotor", "inertia_matrix", "--commands", "1,1,1,1"), "does not depend on this"),
                        ((*fly, "--commands", "left=1"), "there is no command 'left'"),
                        (("simulate", "puma560", "--commands", "1"), "this robot takes no commands")):  # fmt: skip
        code, _, err = run_linkwork(*words)
        assert code == 1 and told in err


def test_mistakes(quadrotor, state):
    q, v, tau, u = state
    with pytest.raises(ModelError, match="two force laws have commands at one frame") as error:
        quadrotor.with_forces({"front_left": Thruster()})
    assert "another frame" in str(error.value)
    link = Link("a", LinkInertia(1, np.zeros(3), np.eye(3)))
    with pytest.raises(ModelError, match="two force laws"):
        linkwork.load(Description("a", (link,), (), floating=True, forces=(("a", Thruster()), ("a", Rotor()))))
    for law, words in (
        (Thruster, r"not a force law[^$]*Thruster\(\.\.\.\)"),
        (3, "not a force law"),
        (Listed(), "wrong commands of a force law"),
    ):
        with pytest.raises(ModelError, match=words):
            quadrotor.with_forces({"body": law})
    with pytest.raises(ModelError, match="not a force"):
        _ = quadrotor.with_forces({"body": lambda pose, velocity: velocity}).bias
    forces = ("a", Gimbal()), ("a.lean", Thruster())
    with pytest.raises(ModelError, match=r"two commands have the same name\n  got: a.lean"):
        linkwork.load(
            Description("a", (link,), (), floating=True, frames={"a.lean": ("a", Placement())}, forces=forces)
        )
    with pytest.raises(ShapeError, match=r"\(\.\.\., 4\)"):
        quadrotor.forward_dynamics(q, v, tau, u[:3])
    with pytest.raises(UnknownNameError, match="there is no command 'front'"):
        quadrotor.rollout(q, v, steps=2, commands={"front": 1.0})
    with pytest.raises(ShapeError, match="commands"):
        quadrotor.rollout(q, v, steps=2, commands=np.zeros((3, 4)))
    for value, words in (([1, 2, 3], r"got: shape \(3,\)"), ({"front": 1}, "no command 'front'"),
                         ([[1], 2, 3, 4], "is not a number"), ([np.nan, 2, 3, 4], "is not finite")):  # fmt: skip
        with pytest.raises(LinkworkError, match=words):
            quadrotor.rollout(q, v, steps=2, commands=lambda t, value=value: value)
    with pytest.raises(LinkworkError, match="a force is not finite"):
        quadrotor.rollout(q, v, steps=2, wrenches={"body": lambda t: [np.nan] * 6})
    with pytest.raises(DivergedError):
        quadrotor.rollout(q, v, steps=2, method="semi-implicit-euler", commands=lambda t: [1 / t] * 4)
    with pytest.raises(ShapeError, match="expected: 6 forces, with those of joints without a motor"):
        quadrotor.rollout(q, v, lambda t, q, v, r: [1, 2], steps=2)
    with pytest.raises(LinkworkError, match="takes no commands"):
        linkwork.load("puma560").rollout(np.zeros(6), np.zeros(6), steps=2, commands=np.zeros(4))
    with pytest.raises(UnsupportedError, match="no commands to write"):
        _ = linkwork.load("planar2r").stepper(2).commands
    for result, words in (({"thrust": u}, "no result of a controller 'thrust'"),
                          ({"commands": u[:2]}, "commands do not fit the robot"),
                          ({"commands": [[1], [1, 2], 3, 4]}, "a command is not a number"),
                          ({"commands": {"front": 1}}, "no command 'front'"),
                          ({"commands": [1, 1, 1, np.nan]}, "a command is not finite")):  # fmt: skip
        with pytest.raises(LinkworkError, match=words):
            quadrotor.rollout(q, v, lambda t, q, v, r, result=result: result, steps=2)
    for make, where in (
        (lambda: Rotor(spin=0.5), "Rotor.spin"),
        (lambda: Rotor(drag=-1), "Rotor.drag"),
        (lambda: Thruster((0, 0, 0)), "Thruster.axis"),
        (lambda: Plate(0), "Plate.area"),
        (lambda: Buoyancy(-1), "Buoyancy.volume"),
        (lambda: Tyre(0.3, 0), "Tyre.stiffness"),
        (lambda: Tyre(0.3, 1, normal=(0, 0, 0)), "Tyre.normal"),
    ):
        with pytest.raises(ModelError, match=where):
            make()
    with pytest.raises(ModelError, match="spin: out of range"):
        read_mdh("name: a\nbase: {link: b}\njoints: []\nforces: [{frame: b, law: rotor, spin: 3}]\n", "a.yaml")


def test_methods_side_by_side(quadrotor):
    rows = inspection.compare(quadrotor, "inverse_dynamics")["quantities"]["inverse_dynamics"]
    assert any(not row["refusal"] for row in rows)
