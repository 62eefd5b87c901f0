"""What every test shares: helpers in ``support``, a cache of their own, hypothesis profiles, worst deviations.

``pytest --hypothesis-profile=explore`` tries many more random robots, and other ones each time. ``pytest --quick`` runs
a part of the tests that finds most mistakes: not the slow ones, and of many like cases a few.
"""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from linkwork import cli

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", settings.get_profile("repeatable"), derandomize=False, max_examples=500)
settings.load_profile("repeatable")

CASES = 3  # of each test, that --quick takes
SLOW = ("fuzz", "agreement/test_mutants.py", "guards/test_site.py")  # what it leaves out
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
    parser.addoption("--quick", action="store_true", help="no slow tests, and of many like cases a few")


def pytest_ignore_collect(collection_path):
    """Pinocchio has no wheels for Windows."""
    if sys.platform == "win32" and collection_path.suffix == ".py" and "pinocchio" in collection_path.read_text():
        return True


def pytest_runtest_setup(item):
    if sys.version_info < (3, 11) and "zarr" in item.nodeid:
        pytest.skip("Zarr 3 needs Python 3.11")


def pytest_collection_modifyitems(config, items):
    if config.getoption("quick"):
        slow = [config.rootpath / "tests" / path for path in SLOW]
        kept = set(few(item for item in items if not {item.path, *item.path.parents}.intersection(slow)))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def few(items):
    """Of the cases of each test ``CASES`` at most, spread evenly."""
    tests: dict[str, list] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        yield from cases if len(cases) <= CASES else (cases[k * len(cases) // CASES] for k in range(CASES))


def pytest_collection_finish():
    """Traced programs are many small objects that all live: looking for cycles among them took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def pytest_configure(config):
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
