"""The command line in a terminal: quick help, completion by the shell, tables that fit or stay whole."""

import subprocess
import sys

import pytest

import linkwork
from linkwork.cli import COMMANDS
from linkwork.inspection import comparison

QUIET = """
import sys
from linkwork.cli import main
sys.argv = ["linkwork", {word!r}]
try:
    main()
finally:
    print(sorted({{"numpy", "llvmlite", "yaml"}} & set(sys.modules)), file=sys.stderr)
"""


@pytest.fixture
def run(run_linkwork, monkeypatch):
    """Runs the command line in a terminal of so many columns; what it prints."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def call(columns: int, *words: str) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        code, out, err = run_linkwork(*words)
        assert (code, err) == (0, "")
        return out

    return call


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_imports_no_numbers(word):
    done = subprocess.run([sys.executable, "-c", QUIET.format(word=word)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_help_lists_each_command_on_one_line(run):
    lines = run(80, "--help").splitlines()
    for command, (_, summary) in COMMANDS.items():
        assert any(command in line.split()[:2] and summary in line for line in lines), command


def test_as_a_module():
    for module in ("linkwork", "linkwork.cli"):
        done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"linkwork {linkwork.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_all_formats(run, command):
    text = run(200, command, "--help")
    assert "URDF, MJCF or YAML" in text or command in ("robots", "sweep", "tables", "cite")


# -- completion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("co", ["convert", "count", "compare"]),
        ("inspect pan", ["panda", "panda-elastic"]),
        ("inspect my_robot.u", []),  # so the shell completes files
        ("eval panda gra", ["gravity"]),
        ("count panda --quantity iner", ["inertia_matrix", "inertia_matrix_rate"]),
        ("count panda --method lin-19", ["lin-1991", "lin-1988"]),
        ("export panda --method aut", ["auto", "automatic"]),
        ("export panda --lang", ["--language"]),
        ("export panda --language ca", ["casadi"]),
        ("compare panda --quantity grav", []),  # has no methods
        ("cite crb", ["crba", "crba-ldl"]),
        ("equations panda --format la", ["latex"]),
        ("mdh panda --format y", ["yaml"]),
    ],
)
def test_completion(run, monkeypatch, words, offered):
    monkeypatch.setenv("_LINKWORK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"linkwork {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    assert run(80).split() == offered


def test_completion_for_a_shell(run, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # no shell may be among the parents
    assert "_LINKWORK_COMPLETE=complete_bash" in run(80, "--show-completion", "bash")


# -- widths ------------------------------------------------------------------------------------------------------------

PRINTED = {
    "inspect": ["inspect", "quadruped"],
    "inspect loops": ["inspect", "four-bar"],
    "count": ["count", "puma560"],
    "passes": ["count", "planar2r", "--passes", "--quantity", "inverse_dynamics"],
    "derivatives": ["count", "panda", "--derivatives", "--quantity", "forward_dynamics"],
    "robots": ["robots"],
    "mdh": ["mdh", "ur5e"],
    "params": ["params", "scara"],
    "eval": ["eval", "quadruped", "gravity"],
    "eval a matrix": ["eval", "panda", "inertia_matrix"],
    "simulate": ["simulate", "planar2r", "--duration", "0.01"],
    "check": ["check", "panda"],
}
GUIDES = "─│└├"


def _words(text: str) -> list[str]:
    return sorted(word for word in text.split() if word[0] not in GUIDES)


@pytest.mark.parametrize("what", PRINTED)
def test_words_are_never_broken(run, what):
    words = PRINTED[what]
    narrow, wide = (run(columns, *words) for columns in (40, 1000))
    if what == "simulate":  # its last line but the files is a time
        narrow, wide = (text[: text.index("compilation") - 10] for text in (narrow, wide))
    if what == "eval a matrix":  # the names of rows again and again
        assert set(_words(narrow)) == set(_words(wide))
    else:
        assert _words(narrow) == _words(wide)


@pytest.mark.parametrize("what", PRINTED)
def test_tables_fit_a_terminal_of_80_columns(run, what):
    assert max(map(len, run(80, *PRINTED[what]).splitlines())) <= 80


def test_comparison_in_80_columns(run, monkeypatch):
    """References give way; names of methods stay whole."""
    monkeypatch.setattr(comparison, "seconds", lambda call, **_: 1.23456e-4)
    narrow, wide = (run(columns, "compare", "puma560", "--quantity", "inertia_matrix") for columns in (80, 200))
    assert "lin-fang-1-minimal" in narrow and "linfang1999" not in narrow and "linfang1999" in wide
    assert max(map(len, narrow.splitlines())) <= 80
    assert set(_words(narrow)) < set(_words(wide))


@pytest.mark.parametrize("variable", ["NO_COLOR", "TERM"])
def test_plain_terminals(run, monkeypatch, variable):
    monkeypatch.setenv(variable, {"NO_COLOR": "1", "TERM": "dumb"}[variable])
    assert "\x1b" not in run(80, "robots")
