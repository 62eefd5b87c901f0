"""What every test shares: helpers in ``support``, a cache of their own, hypothesis profiles, worst deviations.

``pytest --hypothesis-profile=explore`` tries many more random robots, and other ones each time. ``pytest --quick`` runs
a part of the tests that finds most mistakes: not the slow ones, and of like cases one, of random robots five.
"""

import gc
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from linkwork import cli

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", settings.get_profile("repeatable"), derandomize=False, max_examples=500)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=5)
settings.load_profile("repeatable")

SLOW = (  # what --quick leaves out
    "tests/fuzz",
    "tests/agreement/test_ball_legs.py",
    "tests/agreement/test_consistent.py",
    "tests/agreement/test_joint_mutants.py",
    "tests/agreement/test_mixed_loops.py",
    "tests/agreement/test_multipliers.py",
    "tests/agreement/test_mutants.py",
    "tests/agreement/test_parallel.py",
    "tests/agreement/test_sizes.py",
    "tests/compiled/test_export_c.py",
    "tests/compiled/test_large.py",
    "tests/guards/test_bundled_motion.py",
    "tests/guards/test_site.py",
    "tests/guards/test_snippets.py",
    "tests/laws/test_closed_motion.py",
    "tests/laws/test_gradients.py",
    "tests/laws/test_identify_noise.py",
    "tests/laws/test_interaction.py",
    "tests/laws/test_simulation.py",
    "tests/laws/test_simulation_fit.py",
    "tests/laws/test_tops.py",
    "tests/unit/test_cli.py::TestCount",
    "tests/unit/test_cli.py::TestDemo",
    "tests/unit/test_cli_excite.py",
    "tests/unit/test_cli_papers.py",
    "tests/unit/test_excitation.py",
    "tests/unit/test_findings.py",
    "tests/unit/test_growth.py",
    "tests/unit/test_report.py",
    "tests/unit/test_sweep.py",
    "tests/view/test_page.py",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking")


@pytest.fixture
def run_linkwork(capsys, monkeypatch):
    """Runs the command line; gives exit code, stdout and stderr."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["linkwork", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 0
        return code, *capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    with playwright.sync_playwright() as driver:
        own = driver.chromium.executable_path
        found = next(filter(None, map(shutil.which, BROWSERS)), own if Path(own).exists() else None)
        if found is None:
            pytest.skip("no Chromium: apt-get install chromium, or playwright install chromium")
        browser = driver.chromium.launch(executable_path=found, args=list(SOFTWARE))
        yield browser
        browser.close()


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="no slow tests, and of like cases one")


def pytest_ignore_collect(collection_path):
    """Pinocchio has no wheels for Windows."""
    if sys.platform == "win32" and collection_path.suffix == ".py":
        text = collection_path.read_text(encoding="utf-8")
        return re.search(r"pinocchio|support\.kkt|joint_mutants", text) is not None or None


def pytest_runtest_setup(item):
    if sys.version_info < (3, 11) and "zarr" in item.nodeid:
        pytest.skip("Zarr 3 needs Python 3.11")


def pytest_collection_modifyitems(config, items):
    if config.getoption("quick"):
        kept = one_of_each(item for item in items if not item.nodeid.startswith(SLOW))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def one_of_each(items):
    """Of the cases of each test the one in the middle."""
    tests: dict[str, list] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return {cases[len(cases) // 2] for cases in tests.values()}


def pytest_collection_finish():
    """Traced programs are many small objects that all live: looking for cycles among them took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def pytest_configure(config):
    if config.getoption("quick"):
        settings.load_profile("quick")
    if not hasattr(config, "workerinput"):  # workers of pytest-xdist inherit the directory
        config.linkwork_cache = os.environ["LINKWORK_CACHE"] = tempfile.mkdtemp(prefix="linkwork-test-cache-")


def pytest_unconfigure(config):
    if hasattr(config, "linkwork_cache"):
        shutil.rmtree(config.linkwork_cache)


@pytest.fixture
def deviations(record_property):
    """``deviations(what, value)`` enters a relative deviation into the summary at the end of the run."""
    return lambda what, value: record_property(f"deviation: {what}", float(value))


def pytest_terminal_summary(terminalreporter):
    worst = {}
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for key, value in report.user_properties:
            if key.startswith("deviation: "):
                worst[key[11:]] = max(worst.get(key[11:], (0.0, "")), (value, report.nodeid.rpartition("::")[2]))
    if worst:
        terminalreporter.section("worst relative deviations")
        for what, (value, where) in sorted(worst.items()):
            terminalreporter.line(f"{value:.1e}  {what}  ({where})")
