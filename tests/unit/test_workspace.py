"""A workspace compiles each function once, keeps what others derive from its model, and shares nothing with another."""

import inspect
import pickle

import pytest

import linkwork
from linkwork import workspace as module
from linkwork.formulations import QUANTITIES
from linkwork.options import Options
from linkwork.robot import Robot
from linkwork.workspace import Cache, Workspace

MODEL = linkwork.load("planar2r").model


def test_functions_are_compiled_once():
    workspace = Workspace(MODEL)
    assert workspace.compiled("gravity") is workspace.compiled("gravity")
    assert workspace.compiled("jacobian", frame="tip") is not workspace.compiled("jacobian", frame="tip", axes="local")
    columns = workspace.compiled("regressor", parameters="standard", drives=["IA"])
    assert columns is workspace.compiled("regressor", parameters="standard", drives=("IA",))
    closed = Workspace(linkwork.load("four-bar").model)
    assert closed.assembler() is closed.assembler()


def test_a_robot_has_the_functions_of_its_workspace():
    robot = Robot(MODEL)
    assert robot.gravity is robot.compiled("gravity")
    assert type(robot.with_model(MODEL)) is Robot and type(pickle.loads(pickle.dumps(robot))) is Robot


def test_what_is_derived_is_kept_and_not_shared():
    workspace = Workspace(MODEL)

    def made(own: Workspace) -> list[Workspace]:
        return [own]

    assert workspace.derived(made) is workspace.derived(made) == [workspace]
    other = workspace.with_model(MODEL)
    assert other.derived(made) == [other] and other.compiled("bias") is not workspace.compiled("bias")


def test_a_cache_forgets_the_oldest(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    cache = Cache()
    for key in ("a", "b", "a", "c"):
        cache[key] = key
    assert [*cache] == ["b", "c"]


@pytest.mark.parametrize("name", [name for name, quantity in QUANTITIES.items() if quantity.takes_wrenches])
def test_quantities_say_what_goes_in_and_comes_out(name):
    text, quantity = inspect.getdoc(getattr(Robot, name)), QUANTITIES[name]
    assert (
        text.startswith(f"{quantity.summary[0].upper()}{quantity.summary[1:]}.\n")
        and "wrenches (dict): optional" in text
    )
    for each in quantity.outputs:
        assert f"\n    {each.name} (" in text and each.unit_text.split(" (")[0] in text


def test_options_have_the_defaults_of_their_method():
    assert Options.from_arguments("simulate", {}) == Options()
    assert Options.from_arguments("rollout", {"every": 2}) == Options(
        method="semi-implicit-euler", outputs=("q", "v"), every=2
    )
    with pytest.raises(TypeError, match=r"Robot.stepper\(\) got an unexpected keyword argument 'every'"):
        Robot(MODEL).stepper(1, every=2)
