"""``linkwork equations``."""

import pytest
import typer
from typer.testing import CliRunner

import linkwork
from linkwork.cli.equations import equations
from linkwork.errors import LinkworkError, UnknownNameError
from linkwork.symbolic import symbolic
from linkwork.symbolic.expressions import Printer

app = typer.Typer()
app.command()(equations)


def run(*words: str) -> str:
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_text_is_that_of_the_model():
    assert run("rx90") == symbolic(linkwork.load("rx90")).text()


@pytest.mark.parametrize("language", ["latex", "python"])
def test_formats(language):
    model = symbolic(linkwork.load("scara"), "inertia_matrix", method="crba")
    assert (
        run("scara", "--quantity", "inertia_matrix", "--method", "crba", "--format", language)
        == getattr(model, language)()
    )


def test_sympy():
    text = run("planar2r", "--quantity", "inertia_matrix", "--format", "sympy")
    assert "M12 = MX2*d2*cos(q2) + ZZ2\n" in text


def test_numbers_and_expand():
    text = run("planar2r", "--quantity", "inertia_matrix", "--numbers", "--expand")
    assert "M12 = 25*C2 + 22.5\n" in text and "M22 = 122.5\n" in text
    assert [Printer().number(x) for x in (0.01999999999999999, 1 / 3, 0.1 + 0.2)] == ["0.02", repr(1 / 3), "0.3"]


def test_load_options():
    assert "FS2" in run("rx90") and "FS2" not in run("rx90", "--no-friction")


def test_last_frame_unless_told():
    assert run("rx90", "--quantity", "pose") == run("rx90", "--quantity", "pose", "--frame", "flange")
    assert run("rx90", "--quantity", "pose") != run("rx90", "--quantity", "pose", "--frame", "link3")


def test_to_a_file(tmp_path):
    path = tmp_path / "arm.tex"
    text = run("planar2r", "--format", "latex", "-o", str(path))
    assert path.read_text() == symbolic(linkwork.load("planar2r")).latex()
    assert "equations" in text and "align" not in text
    words = ["rx90", "--format", "latex", "-o", str(path)]
    with pytest.raises(LinkworkError, match="the file exists"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert path.read_text() == symbolic(linkwork.load("planar2r")).latex()
    run(*words, "--overwrite")
    assert path.read_text() == symbolic(linkwork.load("rx90")).latex()


@pytest.mark.parametrize(
    ("words", "error", "match"),
    [
        (["planar2r", "--format", "latx"], UnknownNameError, "did you mean 'latex'"),
        (["planar2r", "--quantity", "inertia"], UnknownNameError, "did you mean 'inertia_matrix'"),
        (["planar2r", "--method", "rne"], UnknownNameError, "did you mean 'rnea'"),
        (["planar2r", "--parameters", "input"], UnknownNameError, "one of: minimal, standard"),
        (["rx90", "--expand"], LinkworkError, "too long"),
    ],
)
def test_mistakes_write_nothing(words, error, match, tmp_path):
    path = tmp_path / "out.txt"
    with pytest.raises(error, match=match):
        CliRunner().invoke(app, [*words, "--output", str(path)], catch_exceptions=False)
    assert not list(tmp_path.iterdir())
