"""A value that no robot has is refused at every door, with the same words."""

from dataclasses import fields

import numpy as np
import pytest

import linkwork
from linkwork.control import PD, PID, ComputedTorque, Point
from linkwork.identify import Log
from linkwork.model import Asymmetric, Coulomb, Stribeck

ARM = """
name: arm
joints: [{name: shoulder, link: upper}, {name: elbow, link: fore, d: 1}]
links: [{link: upper, M: 2, central: [0.1, 0.1, 0.1]}, {link: fore, M: 1, central: [0.1, 0.1, 0.1]}]
frames: [{name: tip, link: fore, xyz: [0.5, 0, 0]}]
"""
URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><mass value="{mass}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<dynamics friction="{coulomb}" damping="{viscous}"/><linkwork stiffness="{stiffness}"/>
<rotor_inertia>{rotor_inertia}</rotor_inertia></joint></robot>"""
KEYS = {"rotor_inertia": "Ia", "coulomb": "Fs", "viscous": "Fv", "stiffness": "K"}  # of YAML files
ELEMENTS = {"rotor_inertia": "IA", "coulomb": "FS", "viscous": "FV", "stiffness": "K"}  # standard parameters


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.yaml"
    path.write_text(ARM)
    return linkwork.load(path)


def refuses(message):
    return pytest.raises(linkwork.LinkworkError, match=f"(?s){message}")


def rollout(arm, vary):
    return arm.rollout(np.zeros((3, 2)), np.zeros((3, 2)), dt=1e-3, steps=2, vary=vary)


@pytest.mark.parametrize("field", KEYS)
def test_drives(arm, tmp_path, field):
    files = {
        "arm.yaml": f"{ARM}drives: [{{joint: elbow, {KEYS[field]}: -1}}]",
        "arm.urdf": URDF.format(**(dict.fromkeys(KEYS, 0) | {"mass": 1, field: -1})),
        "values.yaml": f"joints: {{elbow: {{{KEYS[field]}: -1}}}}",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    message = f"elbow.*{field.replace('_', ' ').replace('coulomb', 'Coulomb')}.* negative: -1"
    for door in (
        lambda: linkwork.load(tmp_path / "arm.yaml"),
        lambda: linkwork.load(tmp_path / "arm.urdf"),
        lambda: arm.with_parameters(tmp_path / "values.yaml"),
        lambda: arm.with_parameters({f"elbow.{ELEMENTS[field]}": -1}),
        lambda: arm.with_drives({"elbow": {field: -1}}),
        lambda: rollout(arm, {field: [[0, 0], [0, -1], [0, 0]]}),
        lambda: arm.stepper(3, dt=1e-3, vary={field: [[0, 0], [0, -1], [0, 0]]}),
    ):
        with refuses(message):
            door()
    rollout(arm, {field: [[0, 0], [0, 1], [0, 0]]})  # the same values with the right sign


def test_friction_that_feeds_energy_in(arm):
    for laws in ({"coulomb": -1}, {"viscous": -1}, [Coulomb(-1)], Asymmetric(1, -1, 0, 0), Stribeck(-1, 0.1)):
        with refuses("elbow.*feed energy in"):
            arm.with_friction({"elbow": laws})
    rough = arm.with_friction({"elbow": [Coulomb(1), Stribeck(0.5, 0.1)]})
    rollout(rough, {"stribeck": [[0, -0.9]] * 3})  # less friction at rest, still some
    with refuses("elbow.*feed energy in"):
        rollout(rough, {"stribeck": [[0, 0], [0, -1.1], [0, 0]]})


def test_masses(arm, tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF.format(**(dict.fromkeys(KEYS, 0) | {"mass": -1})))
    parameters, payload = np.array([arm.parameters] * 3), np.zeros((3, 10))
    parameters[1, 1, 0], payload[2, 0] = -1, -1
    for door in (
        lambda: linkwork.load(tmp_path / "arm.urdf"),
        lambda: arm.with_parameters({"fore": {"mass": -1}}),
        lambda: arm.with_payload("tip", -1),
        lambda: rollout(arm, {"mass": [[1, 1], [1, -1], [1, 1]]}),
        lambda: rollout(arm, {"parameters": parameters}),
        lambda: rollout(arm, {"payload": {"tip": payload}}),
    ):
        with refuses("mass is negative: -1 kg"):
            door()


def test_a_fit_says_what_robot_files_refuse(arm):
    t = np.arange(0, 3, 0.01)[:, None] * [2.0, 3.0]
    q, v, a = np.sin(t), np.cos(t) * [2, 3], -np.sin(t) * [4, 9]
    log = Log(t=t[:, 0] / 2, q=q, v=v, a=a, tau=arm.inverse_dynamics(q, v, a) - 0.5 * np.sign(v))
    fit = arm.identify(log, "ols", friction="coulomb", rotors=False, width=0.0)
    assert any("elbow: its Coulomb friction is negative: -0.5" in note for note in fit.notes)
    with refuses("Coulomb friction is negative: -0.5"):
        arm.with_parameters(fit)


@pytest.mark.parametrize(
    ("law", "name"), [(PD, "kp"), (PD, "limit"), (ComputedTorque, "kd"), (PID, "ki"), (PID, "integral_limit")]
)
def test_gains(arm, law, name):
    values = dict.fromkeys([each.name for each in fields(law)], 1.0)
    start, options = np.zeros((3, 2)), {"reference": Point(*np.zeros((3, 2))), "dt": 1e-3}
    for door in (
        lambda: law(**(values | {name: -1.0})),
        lambda: arm.rollout(start, start, law(**values), steps=2, gains={name: [[1.0], [1.0], [-1.0]]}, **options),
        lambda: arm.stepper(3, torque=law(**values), gains={name: -1.0}, **options),
        lambda: arm.simulate(duration=0.01, torque=law(**values), gains={name: -1.0}, **options),
    ):
        with refuses("out of range.*got: -1"):
            door()
    arm.stepper(3, torque=law(**values), gains={name: 2.0}, **options)


def test_weights_and_springs_of_drives_are_judged_as_in_files(arm):
    with refuses("elbow.*weight is negative: -1"):
        arm.with_drives({"elbow": {"weight": -1}})
    with refuses("elbow.*it is elastic, but its stiffness is 0"):
        arm.with_drives({"elbow": {"role": "elastic"}})


MOMENT = [0, 1.0] + [0.0] * 8  # without a mass


def test_varied_moments_need_a_mass(arm):
    """As in files and ``with_parameters``; the message names the link."""
    with refuses("link 'fore': first moments without a mass\n  got: MX, MY, MZ = 1, 0, 0"):
        arm.rollout(None, None, steps=1, vary={"parameters": [[1.0] + [0.0] * 9, MOMENT]})
    with refuses("link 'fore': its mass is negative"):
        arm.rollout(None, None, steps=1, vary={"mass": [1.0, -1.0]})


def test_a_load_of_no_mass_may_have_its_centre_anywhere(arm):
    start, options = np.ones((2, 2)), {"dt": 1e-3, "steps": 5}
    none = arm.rollout(start, start, **options, vary={"payload": {"tip": np.zeros((2, 10))}})
    moved = arm.rollout(start, start, **options, vary={"payload": {"tip": [MOMENT, MOMENT]}})
    np.testing.assert_array_equal(moved.q, none.q)


@pytest.mark.parametrize("wrong", [-1.0, 0.0, "wide"])
def test_the_width_of_friction_is_judged_without_friction(arm, wrong):
    with pytest.raises(linkwork.ShapeError, match="friction_width: out of range"):
        arm.simulate(duration=0.01, friction_width=wrong)
