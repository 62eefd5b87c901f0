"""Files that claim to be saved functions: each loads, or is refused in few words, soon and with little memory."""

import copy
import json
import os
import random
import tracemalloc
from typing import Any

import numpy as np
import pytest

import linkwork
from linkwork import Function, LinkworkError
from linkwork.program import Port, Program, trace

ARM = linkwork.load("planar2r")
BIAS = linkwork.compile(ARM, "bias", wrenches=[list(ARM.model.frames)[-1]], backend="interpreter")


@pytest.fixture
def document(tmp_path) -> dict[str, Any]:
    BIAS.save(tmp_path / "good.json")
    loaded = json.loads((tmp_path / "good.json").read_text())
    return loaded | {"program": json.loads(loaded["program"])}


def load(document: Any, tmp_path) -> Function:
    path = tmp_path / "function.json"
    if isinstance(document, dict) and isinstance(document.get("program"), dict):
        document = document | {"program": json.dumps(document["program"])}
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    try:
        return Function.load(path)
    except LinkworkError as error:
        assert len(str(error)) < 2200 and str(path) in str(error)
        raise


def layouts(**changes: Any):
    def segments(names: Any) -> Any:
        return [{"name": name, "parts": [""], "units": ["rad"]} for name in names]

    return lambda d: d["label"]["layouts"].update({name: {"segments": segments(x)} for name, x in changes.items()})


def layout(value: Any):
    return lambda d: d["label"]["layouts"].update(q=value)


def port(*values: Any, side: str = "inputs"):
    return lambda d: d["program"][side].append(list(values))


HOSTILE = {
    "huge unused input": (port("x", [10**9], "state"), "not a name, a shape and a stage"),
    "huge shape": (port("x", [10**6, 10**6], "state"), r"hold 1\d* numbers, more than"),
    "many axes": (port("x", [1] * 1000, "state"), "not a name, a shape and a stage"),
    "many ports": (lambda d: d["program"]["inputs"].extend([["x", [0], "state"]] * 2000), "more than 1000"),
    "negative shape": (port("x", [-1], "state"), "not a name, a shape and a stage"),
    "shape of numbers with a point": (port("x", [1.0], "state"), "not a name, a shape and a stage"),
    "true as a size": (port("x", [True], "state"), "not a name, a shape and a stage"),
    "stage": (port("x", [0], "never"), "not a name, a shape and a stage"),
    "same name twice": (port("q", [0], "state"), "the same name"),
    "name with code in it": (port("x; system(1)", [0], "state"), "cannot be the name"),
    "keyword": (port("lambda", [0], "state"), "cannot be the name"),
    "long name": (port("x" * 10_000, [0], "state"), "cannot be the name"),
    "empty instruction": (lambda d: d["program"]["instructions"].append([]), "not a list of whole numbers"),
    "instruction of texts": (lambda d: d["program"]["instructions"].append(["0", "0", "0"]), "whole numbers"),
    "instruction of NaN": (lambda d: d["program"]["instructions"].append([4, float("nan")]), "whole numbers"),
    "reference of many digits": (lambda d: d["program"]["instructions"].append([4, 10**4000]), "malformed"),
    "instruction that is long": (lambda d: d["program"]["instructions"].append([0] * 100_000), "malformed"),
    "result of a fraction": (lambda d: d["program"]["results"].__setitem__(0, 0.5), "not a whole number"),
    "constant too large": (lambda d: d["program"]["constants"].append("0x1p99999"), "not a hexadecimal number"),
    "constant that is a number": (lambda d: d["program"]["constants"].append(1.0), "not a hexadecimal number"),
    "half a character": (lambda d: d["program"].update(name="\ud800"), "holds the character U\\+D800"),
    "long robot": (lambda d: d["label"].update(robot="x" * 10**6), "not a name of at most"),
    "robot of no name": (lambda d: d["label"].update(robot=None), "'robot' is NoneType, not str"),
    "method": (lambda d: d["label"].pop("method"), "'method' is missing"),
    "dtype": (lambda d: d.update(dtype="float16"), "'dtype' is 'float16', not one of: float64"),
    "backend": (lambda d: d.update(backend=["native"]), "'backend' is list, not str"),
    "label": (lambda d: d.update(label=[]), "'label' is list, not dict"),
    "program": (lambda d: d.update(program=7), "'program' is int, not str"),
    "layouts": (lambda d: d["label"].update(layouts=[]), "not given by port"),
    "layout of nothing": (layouts(x=["a"]), "do not fit its input or output 'x'"),
    "too many entries": (layouts(q=["a", "b", "c"]), "3 entries do not fit"),
    "entries of the same name": (layouts(q=["a", "a"]), "the same name"),
    "entries that are numbers": (layouts(q=[1, 2]), "not a name"),
    "layout that is a text": (layout("ab"), "not a list of segments"),
    "segments that are texts": (layout({"segments": ["ab"]}), "not a list of segments"),
    "parts without units": (layout({"segments": [{"name": "a", "parts": ["", "b"], "units": ["m"]}]}), "do not fit"),
    "wrenches": (lambda d: d["label"].update(wrenches=["a", "b"]), "2 frames do not fit"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files(document, what: str, tmp_path):
    spoil, message = HOSTILE[what]
    assert load(document, tmp_path).label == BIAS.label
    spoil(document)
    with pytest.raises(LinkworkError, match=message):
        load(document, tmp_path)


@pytest.mark.parametrize("text", ["[" * 10**6, '{"format":' * 10**5, "1" * 10_000, "null", '"x"', "NaN"])
def test_hostile_texts(text: str, tmp_path):
    with pytest.raises(LinkworkError, match="not a saved function"):
        load(text, tmp_path)


def test_what_is_no_file(tmp_path):
    places: list[Any] = [tmp_path, "a\0b", "x" * 10_000]
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe")
        places += [tmp_path / "pipe", "/dev/zero"]
    for place in places:
        with pytest.raises(LinkworkError, match=r"this is no file|cannot be read"):
            Function.load(place)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(LinkworkError, match="not UTF-8 text"):
        Function.load(tmp_path / "bytes")


def places(value: Any, path: tuple = ()):
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*path, key))


def test_any_entry_replaced_by_anything(document, tmp_path):
    """A small file takes little memory whether it loads or not, and what loads can be called."""
    choose, every = random.Random(0), [path for path in places(document) if path]
    values = (None, True, -1, 0, 1, 2, 10**9, 1.5, float("inf"), "", "x", "\ud800", [], [[]], {}, {"x": []}, [0, 0, 0])
    loaded = 0
    tracemalloc.start()
    for _ in range(200):
        spoilt = copy.deepcopy(document)
        *path, last = choose.choice(every)
        inner = spoilt
        for key in path:
            inner = inner[key]
        inner[last] = choose.choice(values)
        try:
            function = load(spoilt, tmp_path)
        except LinkworkError:
            continue
        loaded += 1
        assert repr(function) and function.operations
        if function.backend == "interpreter":
            function(*(np.zeros(port.shape) for port in function.program.inputs))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 5 < loaded < 100 and peak < 50e6


@pytest.mark.parametrize("name", ["np", "batch", "t5", "sin_q", "y"])
def test_names_that_exported_code_needs_itself(name: str):
    program = trace("f", lambda x: {"y": [x[0] * 2]}, [Port(name, (1,))])
    with pytest.raises(LinkworkError, match="cannot be exported"):
        Function(program, linkwork.function.Label("r", "f", "")).to_numpy()


def test_values_of_the_same_exported_name():
    """The sines of q[12] and of q1[2]."""
    program = trace("f", lambda q, q1: {"y": q[12].sin() + q1[2].sin()}, [Port("q", (13,)), Port("q1", (3,))])
    assert isinstance(program, Program)
    with pytest.raises(LinkworkError, match="the same name\n  got: sin_q12"):
        Function(program, linkwork.function.Label("r", "f", "")).to_numpy()
