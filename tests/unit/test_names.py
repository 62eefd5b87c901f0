"""Names are data: whatever a robot, its links, joints, frames and motors are called, nothing takes it for more."""

import ast
import csv
import html
import io
import json
import shutil
import subprocess
import warnings
from dataclasses import replace

import numpy as np
import pytest
import yaml
from rich.console import Console

import linkwork
from linkwork import Function, quoting
from linkwork.cli.printing import plain_status
from linkwork.errors import LinkworkError, ModelError
from linkwork.html import page as document
from linkwork.identify import Log
from linkwork.io.parameter_file import write_parameters
from linkwork.metadata import Nominal
from linkwork.model import Description, Link, LinkInertia, describe
from linkwork.quoting import UNPRINTABLE
from linkwork.report import sections
from linkwork.report.motion import sample_motion
from linkwork.sim import Trajectory
from linkwork.sweep import compute, read_study
from support import odd_names
from support.html_page import Page
from support.odd_names import CALL, FRAMES, JOINTS, LINKS, MOTORS, ODD, ROBOT

UNSEEN = ("\n", "\r", "\t", "\x1b", "\x7f", "\x9b", "\u200b", "\u2028", "\u202e", "\u2066", "\ufeff", "\U000e0041")
EVIL = f"{ODD}{''.join(UNSEEN)}\0 end\\"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("odd") / "odd.yaml"
    file.write_text(odd_names.text())
    return file


@pytest.fixture(scope="module")
def robot(path):
    return linkwork.load(path)


@pytest.fixture(scope="module")
def recording(robot):
    rates, t = np.arange(1, 5), np.linspace(0, 3, 150)
    q, v, a = (0.5 * x for x in (np.sin(np.outer(t, rates)), rates * np.cos(np.outer(t, rates)), 0))
    a = -0.5 * rates**2 * np.sin(np.outer(t, rates))
    tau = robot.inverse_dynamics(q, v, a, commands=np.zeros((len(t), 1)))
    return Log(t, q, tau, v=v, a=a, joints=JOINTS)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to run in; afterwards nothing is there that a name has made."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not {"broken", "x"} & {path.name for path in tmp_path.rglob("*")}


# -- each kind of text ---------------------------------------------------------------------------------------------


def visible(text: str, keep: str = "") -> bool:
    return not [c for c in UNPRINTABLE.findall(text) if c not in keep]


class TestQuoting:
    @pytest.mark.parametrize("text", [EVIL, ODD, "", "a", '"', "\\", *UNSEEN])
    def test_each_target_reads_the_text_back(self, text):
        seen = quoting.printable(text)
        assert visible(seen)
        source = f'"""{quoting.in_python(text)}"""'
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ast.literal_eval(source) == text and visible(source)
        for loader in (yaml.SafeLoader, yaml.BaseLoader):
            assert yaml.load(f"{{a: {quoting.in_yaml(text)}}}", loader) == {"a": text}
        document = quoting.in_json(json.dumps({"a": [text]}, indent=1, ensure_ascii=False))
        assert json.loads(document) == {"a": [text]} and visible(document, keep="\n")
        page = Page(f'<p title="{quoting.in_html(text)}">{quoting.in_html(text)}</p>')
        assert [tag for tag, _ in page.tags] == ["p"] and page.text == html.unescape(quoting.in_html(text))
        comment = quoting.in_c_comment(text)
        assert visible(comment) and not [part for part in ("*/", "/*", "??") if part in comment]
        for quote in (quoting.in_latex, quoting.in_markdown, quoting.in_plot):
            assert visible(quote(text))

    def test_latex_and_markdown(self):
        assert quoting.in_latex(r"a_b\c{$}%--[") == r"a\_b\textbackslash{}c\{\$\}\%-{}-{[}"
        assert quoting.in_markdown("a_b|c*<d>_") == r"a_b\|c\*\<d\>\_"

    def test_words_of_yaml(self):
        assert yaml.safe_load(f"[{', '.join(map(quoting.in_yaml, ('null', 'no', 'a.b', 'é', '1', '~')))}]") == [
            "null", "no", "a.b", "é", "1", "~",
        ]  # fmt: skip

    def test_labels_of_pictures(self):
        mathtext = pytest.importorskip("matplotlib.text")
        label = quoting.in_plot("_$x^{2}$")
        assert not label.startswith("_") and mathtext.Text(0, 0, label)._preprocess_math(label)[1] is False
        assert len(quoting.in_plot("x" * 900)) <= 60

    @pytest.mark.parametrize("bad", UNSEEN)
    def test_what_no_name_may_hold(self, bad):
        assert quoting.unprintable(f"a{bad}") == f"U+{ord(bad):04X}"

    def test_what_names_may_hold(self):
        assert not any(map(quoting.unprintable, (ODD, "Gelenk ä", "关节", "محور", "צוואר", "🤖", "a\xa0b", "ｱ")))


# -- a robot that is called odd things -----------------------------------------------------------------------------


def test_names_are_kept(robot):
    model = robot.model
    assert (robot.name, robot.joint_names, tuple(body.name for body in model.bodies)) == (ROBOT, JOINTS, LINKS)
    assert {*FRAMES} <= {*robot.frame_names} and robot.model.commands.names == FRAMES[:1]
    assert tuple(motor.name for each in model.transmissions for motor in each.motors) == MOTORS


COMMANDS = [
    ("inspect", "{robot}"),
    ("inspect", "{robot}", "--json"),
    ("check", "{robot}"),
    ("params", "{robot}"),
    ("mdh", "{robot}"),
    ("mdh", "{robot}", "--format", "latex"),
    ("mdh", "{robot}", "--format", "markdown"),
    ("mdh", "{robot}", "--format", "yaml"),
    ("count", "{robot}", "--quantity", "gravity"),
    ("eval", "{robot}", "gravity"),
    ("eval", "{robot}", "jacobian", "--frame", CALL, "--json"),
    ("eval", "{robot}", "inertia_matrix"),
    ("simulate", "{robot}", "--duration", "0.01", "-o", "motion.csv"),
    ("convert", "{robot}", "other.yaml"),
    ("convert", "{robot}", "other.urdf"),
    ("export", "{robot}", "--quantity", "gravity", "--language", "c"),
    ("export", "{robot}", "--quantity", "pose", "--frame", CALL, "--language", "numpy"),
    ("export", "{robot}", "--quantity", "gravity", "--language", "latex"),
    ("equations", "{robot}", "--quantity", "gravity"),
    ("equations", "{robot}", "--format", "latex"),
    ("equations", "{robot}", "--format", "python"),
    ("identify", "{robot}", "{log}", "-o", "found.yaml", "--report", "fit.html"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands(words, path, recording, here, run_linkwork, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    log = path.parent / "log.csv"
    if "{log}" in words and not log.exists():
        recording.save(log)
    code, out, err = run_linkwork(*(word.format(robot=path, log=log) if "{" in word[:1] else word for word in words))
    assert code == 0, err
    assert visible(out + err, keep="\n")
    for file in here.rglob("*"):
        assert file.name == quoting.printable(file.name) and here in file.resolve().parents
        if file.is_file() and file.suffix in (".py", ".tex", ".c", ".h", ".yaml", ".urdf", ".csv", ".html"):
            assert visible(file.read_text(), keep="\n\t")
        if file.suffix == ".html":
            page = Page(file.read_text())
            assert "[red]a[/red] :smile: <script>alert(1)</script> <b a='\">" in page.text
            assert not {"script", "b"} & {tag for tag, _ in page.tags}
            assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]


def test_markup_is_shown_as_it_is(path, here, run_linkwork, monkeypatch):
    monkeypatch.setenv("COLUMNS", "2000")
    _, out, _ = run_linkwork("inspect", path)
    for name in (*JOINTS, *LINKS, *FRAMES, *MOTORS):
        assert name in out


CALLED = {"_entries", "isinstance", "len", "map", "int", "type", "str", "TypeError", "ValueError"}  # by exported Python
CALLED |= {
    "sin",
    "cos",
    "sqrt",
    "sign",
    "exp",
    "log",
    "tanh",
    "arctan2",
    "abs",
    "minimum",
    "maximum",
    "join",
    "reshape",
}
CALLED |= {"asanyarray", "asarray", "moveaxis", "prod", "broadcast_shapes", "empty"}


def assert_only_computes(source: str) -> None:
    """Python that does nothing but arithmetic, and warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = ast.parse(source)
    calls = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert {call.id if isinstance(call, ast.Name) else call.attr for call in calls} <= CALLED
    kinds = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)
    assert all(isinstance(statement, kinds) for statement in tree.body)
    modules = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    modules += [each.name for node in tree.body if isinstance(node, ast.Import) for each in node.names]
    assert {*modules} <= {"numpy"}
    assert len([node for node in tree.body if isinstance(node, ast.Expr)]) == 1  # the docstring


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "pose"])
def test_exported_python(robot, quantity, here):
    how = {"frame": CALL} if quantity == "pose" else {}
    function = robot.compile(quantity, backend="interpreter", **how)
    sources = [robot.symbolic(quantity, **how).python(), function.to_numpy()]
    for source in sources:
        assert_only_computes(source)
        exec(compile(source, "exported", "exec"), {})
    assert ROBOT in ast.get_docstring(ast.parse(sources[0]))
    assert not (here / "broken").exists()


def test_a_motor_is_no_statement(robot):
    """Symbols of motors are named after them."""
    source = robot.symbolic("inverse_dynamics").python()
    assert "IA_x_1_import_os" in source and "import os" not in source.replace(ROBOT, "")


def test_docstrings_of_anything():
    """The label of a function made by hand may say anything."""
    function = linkwork.load("planar2r").compile("gravity", inputs=["parameters"], backend="interpreter")
    nominal = {"parameters": Nominal(EVIL, (EVIL, EVIL), (0.0,) * 20)}
    label = replace(function.label, robot=EVIL, frame=EVIL, nominal=nominal, assumed=(EVIL,))
    odd = Function(function.program, label, "float64", "interpreter")
    assert_only_computes(odd.to_numpy())
    assert visible(odd.to_numpy() + odd.to_latex() + repr(odd), keep="\n")


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
@pytest.mark.parametrize("name", [EVIL, ROBOT, "??/", "*" * 300 + "/", "\\"])
def test_exported_c(name, tmp_path):
    function = linkwork.load("planar2r").compile("gravity", inputs=["parameters"], backend="interpreter")
    own = function.label.nominal["parameters"]
    nominal = {"parameters": replace(own, rows=tuple(f"{name}{k}" for k in range(len(own.rows))))}
    layouts = {
        port: replace(layout, segments=tuple(replace(s, name=f"{name}{s.name}") for s in layout.segments))
        for port, layout in function.label.layouts.items()
    }
    label = replace(function.label, robot=name, frame=name, nominal=nominal, layouts=layouts)
    Function(function.program, label, "float64", "interpreter").to_c(tmp_path, name="arm")
    strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-trigraphs", "-Wno-unused-parameter"]
    command = [*strict, "arm.c", "arm_test.c", "-lm", "-o", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert subprocess.run(["./run"], cwd=tmp_path, capture_output=True).returncode == 0


def test_notebooks(robot, recording):
    for shown in (robot, robot.gravity, robot.simulate(duration=0.002, dt=1e-3), robot.base_parameters(), recording):
        page = Page(f"<div>{shown._repr_html_()}</div>")
        assert not {"script"} & {tag for tag, _ in page.tags}
        assert visible(repr(shown) + shown._repr_html_(), keep="\n")


def test_report(robot):
    """Its quick sections."""
    motion = sample_motion(robot)
    made = {"Frames": sections.frames(robot), "Parameters": sections.parameters(robot)}
    made |= {"Picture": sections.picture(robot, motion), "Torques": sections.torques(robot, motion)}
    page = Page(document(robot.name, robot.model.summary, {"commands": FRAMES[0]}, made, ODD))
    assert not {"script", "b"} & {tag for tag, _ in page.tags} and ROBOT in page.text and visible(page.text, keep="\n")


def test_a_study(path, tmp_path):
    q = lambda name: json.dumps(name, ensure_ascii=False)  # noqa: E731
    study = tmp_path / "study.yaml"
    study.write_text(
        f"name: {q(ROBOT)}\nsamples: 2\nseed: 1\nrobot: {{load: {path}}}\nsimulation: {{dt: 0.001, duration: 0.005}}\n"
        f"initial: {{q: {{{q(JOINTS[0])}: {{uniform: [0, 1]}}}}}}\noutputs: [final.q]\n"
    )
    asked = read_study(study)
    columns = compute(asked, 0, 2)
    assert f"final.q.{JOINTS[3]}" in columns and f"initial.q.{JOINTS[0]}" in columns


def test_status_lines_and_bars():
    console = Console(width=400, force_terminal=False, file=io.StringIO())
    with console.status(plain_status(f"simulating {EVIL}")) as status:
        console.print(status.renderable)
    assert "[red]a[/red]" in console.file.getvalue() and visible(console.file.getvalue(), keep="\n")


def test_pictures(robot, here):
    pytest.importorskip("matplotlib")
    trajectory = robot.simulate(duration=0.002, dt=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # glyphs that the font has not, no room
        trajectory.plot(["joints", "phase"], path=here / "motion.svg")
    assert (here / "motion.svg").stat().st_size


# -- there and back ------------------------------------------------------------------------------------------------


def names_of(robot) -> tuple:
    model = robot.model
    motors = [motor.name for each in model.transmissions for motor in each.motors]
    return robot.name, robot.joint_names, {*robot.frame_names}, motors, [foot.name for foot in model.switched]


def test_yaml_and_urdf(robot, tmp_path):
    linkwork.io.write(describe(robot.model), tmp_path / "a.yaml")
    assert names_of(linkwork.load(tmp_path / "a.yaml")) == names_of(robot)
    linkwork.io.write(describe(robot.model), tmp_path / "a.urdf")
    again = linkwork.load(tmp_path / "a.urdf", structure=tmp_path / "a.loops.yaml")
    assert names_of(again) == names_of(robot)


def test_blanks_around_a_name(tmp_path):
    text = 'name: a\njoints:\n  - {name: " a ", link: "b "}\nlinks:\n  - {link: "b ", M: 1, ZZ: 1}\n'
    (tmp_path / "a.yaml").write_text(text)
    robot = linkwork.load(tmp_path / "a.yaml")
    linkwork.io.write(describe(robot.model), tmp_path / "b.yaml")
    assert robot.joint_names == linkwork.load(tmp_path / "b.yaml").joint_names == (" a ",)


def test_a_long_name_is_a_key(tmp_path):
    name = '"' * 500
    text = f"name: a\njoints: [{{name: '{name}', link: b}}]\nlinks: [{{link: b, M: 1, ZZ: 1}}]\n"
    (tmp_path / "a.yaml").write_text(f"{text}home: {{'{name}': 1}}\n")
    robot = linkwork.load(tmp_path / "a.yaml")
    linkwork.io.write(describe(robot.model), tmp_path / "b.yaml")
    linkwork.io.write(describe(robot.model), tmp_path / "b.urdf")
    (tmp_path / "values.yaml").write_text(write_parameters(robot.model))
    side = {"structure": tmp_path / "b.loops.yaml", "with_parameters": tmp_path / "values.yaml"}
    for again in (linkwork.load(tmp_path / "b.yaml"), linkwork.load(tmp_path / "b.urdf", **side)):
        assert (again.joint_names, again.model.home) == ((name,), (1.0,))


def test_parameters(robot, path, tmp_path):
    (tmp_path / "values.yaml").write_text(write_parameters(robot.model))
    again = linkwork.load(path, with_parameters=tmp_path / "values.yaml")
    assert names_of(again) == names_of(robot)
    q = np.full(4, 0.3)
    np.testing.assert_allclose(again.gravity(q), robot.gravity(q), rtol=1e-12)


def test_functions(robot, tmp_path):
    function = robot.compile("pose", frame=CALL, backend="interpreter")
    function.save(tmp_path / "f.json")
    assert Function.load(tmp_path / "f.json").label == function.label


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_trajectories_and_logs(suffix, robot, recording, tmp_path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    trajectory = robot.simulate(duration=0.002, dt=1e-3)
    trajectory.save(tmp_path / f"t{suffix}")
    again = Trajectory.load(tmp_path / f"t{suffix}")
    assert (again.robot, again.entries) == (trajectory.robot, trajectory.entries)
    recording.save(tmp_path / f"l{suffix}")
    assert Log.read(tmp_path / f"l{suffix}").joints == JOINTS
    if suffix == ".csv":
        rows = csv.reader((tmp_path / "t.csv").read_text().splitlines()[1:])
        assert f"q.{JOINTS[0]}" in next(rows)


# -- what is refused -----------------------------------------------------------------------------------------------

ROUND = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = f"""<robot name="{{robot}}"><link name="base"/><link name="{{link}}">{ROUND}</link>
<joint name="{{joint}}" type="continuous"><parent link="base"/><child link="{{link}}"/><axis xyz="0 0 1"/></joint>
</robot>"""
MJCF = """<mujoco model="{robot}"><worldbody><body name="{link}"><joint name="{joint}" axis="0 0 1"/>
<geom size="0.1" mass="1"/></body></worldbody></mujoco>"""
YAML = """name: "{robot}"
joints: [{{name: "{joint}", link: "{link}"}}]
links: [{{link: "{link}", M: 1, ZZ: 1}}]
frames: [{{name: "{frame}", link: "{link}"}}]
feet: [{{name: "{foot}", frame: "{frame}"}}]
transmissions: [{{name: "{transmission}", joints: ["{joint}"], motors: [{{name: "{motor}", ratios: [2]}}]}}]
"""
KINDS = ("robot", "link", "joint", "frame", "foot", "transmission", "motor")


@pytest.mark.parametrize("bad", ["&#10;", "&#9;", "&#13;", "&#x9b;", "&#x202e;", "&#x200b;", "&#x2028;", "\u2066"])
@pytest.mark.parametrize(("text", "suffix"), [(URDF, ".urdf"), (MJCF, ".xml")], ids=["urdf", "mjcf"])
@pytest.mark.parametrize("kind", KINDS[:3])
def test_refused_in_xml(text, suffix, kind, bad, tmp_path):
    names = {name: f"the {name}" for name in KINDS} | {kind: f"a{bad}b"}
    (tmp_path / f"a{suffix}").write_text(text.format(**names))
    with pytest.raises(ModelError) as caught:
        linkwork.load(tmp_path / f"a{suffix}")
    said = str(caught.value)
    assert f"the name of this {kind} holds the character U+" in said and visible(said, keep="\n")


@pytest.mark.parametrize("bad", [r"\n", r"\0", r"\e", r"\x9b", r"\u202e", r"\L", r"\N", r"\U000E0041"])
@pytest.mark.parametrize("kind", KINDS)
def test_refused_in_yaml(kind, bad, tmp_path):
    names = {name: f"the {name}" for name in KINDS} | {kind: f"a{bad}b"}
    (tmp_path / "a.yaml").write_text(YAML.format(**names))
    with pytest.raises(ModelError) as caught:
        linkwork.load(tmp_path / "a.yaml")
    said = str(caught.value)
    assert f"the name of this {kind} holds the character U+" in said and visible(said, keep="\n")


def test_what_is_refused_loads_otherwise(tmp_path):
    names = {name: f"the {name}" for name in KINDS}
    for suffix, text in ((".urdf", URDF), (".xml", MJCF), (".yaml", YAML)):
        (tmp_path / f"a{suffix}").write_text(text.format(**names))
        assert linkwork.load(tmp_path / f"a{suffix}").joint_names == ("the joint",)


def test_refused_in_a_side_file(tmp_path):
    (tmp_path / "a.urdf").write_text(URDF.format(robot="r", link="l", joint="j"))
    (tmp_path / "s.yaml").write_text('feet: [{name: "a\\e", frame: l}]\n')
    with pytest.raises(ModelError, match=r"foot 'a\\x1b': the name of this foot holds the character U\+001B"):
        linkwork.load(tmp_path / "a.urdf", structure=tmp_path / "s.yaml")


def test_refused_without_a_file():
    description = Description("a\x1b[31m", (Link("b", LinkInertia(1.0, np.zeros(3), np.eye(3))),), ())
    with pytest.raises(ModelError, match=r"robot 'a\\x1b\[31m': the name of this robot holds the character U\+001B"):
        linkwork.load(description)


@pytest.mark.parametrize(
    ("entry", "value"),
    [("robot", "a\x1b"), ("frame", "a\u202e"), ("assumed", ["a\nb"]), ("part", "\\input{x}"), ("part", "a\u2028")],
)
def test_refused_in_a_function(entry, value, tmp_path):
    linkwork.load("planar2r").compile("gravity", backend="interpreter").save(tmp_path / "f.json")
    document = json.loads((tmp_path / "f.json").read_text())
    if entry == "part":
        document["label"]["layouts"]["q"]["segments"][0]["parts"] = [value]
    else:
        document["label"][entry] = value
    (tmp_path / "f.json").write_text(json.dumps(document))
    with pytest.raises(LinkworkError, match="this is not a saved function") as caught:
        Function.load(tmp_path / "f.json")
    assert visible(str(caught.value), keep="\n")


def test_refused_in_a_trajectory(tmp_path):
    linkwork.load("planar2r").simulate(duration=0.002, dt=1e-3).save(tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text()
    (tmp_path / "t.csv").write_text(text.replace('"robot": "planar2r"', '"robot": "\\u001b[31m"'))
    with pytest.raises(LinkworkError, match="U\\+001B"):
        Trajectory.load(tmp_path / "t.csv")


@pytest.mark.parametrize("bad", ["\x1b[31m", "\u202e", "\x00"])
def test_refused_in_a_log(bad, tmp_path):
    rows = "".join(f"{k / 10},{k},{k}\n" for k in range(30))
    (tmp_path / "log.csv").write_text(f"t,q.a{bad},tau.a{bad}\n{rows}")
    with pytest.raises(LinkworkError, match=r"holds the character U\+") as caught:
        Log.read(tmp_path / "log.csv")
    assert visible(str(caught.value), keep="\n")
