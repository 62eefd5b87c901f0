"""What every test shares: helpers in ``support``, a cache of their own, hypothesis profiles, worst deviations.

``pytest`` runs what finds nearly every mistake in ten minutes, ``pytest --full`` all tests, and ``pytest --quick`` what
finds most mistakes in one: not the slow tests, of like cases one, of random robots five. The lists below tell which.
``pytest --hypothesis-profile=explore`` tries many more random robots, and other ones each time.
"""

import gc
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from linkwork import cli

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=10, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("full", settings.get_profile("repeatable"), max_examples=30)
settings.register_profile("explore", settings.get_profile("repeatable"), derandomize=False, max_examples=500)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=5)
settings.load_profile("repeatable")

FULL = (  # what only `make full` runs: whatever takes long and finds little that the rest does not
    "tests/agreement/test_derivatives.py::test_slopes_of_robots_of_all_kinds",
    "tests/agreement/test_joint_mutants.py",
    "tests/agreement/test_mutants.py",
    "tests/agreement/test_sizes.py::test_two_hundred_joints",
    "tests/compiled/test_any_program.py::test_any_program_on_neon",
    "tests/compiled/test_neon.py",
    "tests/compiled/test_targets.py::test_as_many_lanes_as_you_like",
    "tests/fuzz",
    "tests/guards/test_site.py",
    "tests/guards/test_snippets.py::test_examples",
    "tests/guards/test_snippets.py::test_notebook",
    "tests/guards/test_snippets.py::test_snippets[api/report.md]",
    "tests/guards/test_snippets.py::test_snippets[derivatives.md]",
    "tests/guards/test_snippets.py::test_snippets[identification.md]",
    "tests/guards/test_snippets.py::test_snippets[legs.md]",
    "tests/guards/test_snippets.py::test_snippets[rolling.md]",
    "tests/guards/test_snippets.py::test_tables_in_the_docs_are_up_to_date",
    "tests/laws/test_simulation_fit.py::test_all_inertias_of_a_panda_from_closed_loop_data",
    "tests/unit/test_cli.py::TestCount::test_loops",
    "tests/unit/test_cli.py::TestDemo::test_json",
    "tests/unit/test_cli.py::TestDemo::test_many_joints",
    "tests/unit/test_cli_papers.py::TestCompare::test_all_methods_agree",
    "tests/unit/test_cli_papers.py::TestCompare::test_loops",
    "tests/unit/test_cli_papers.py::TestTables::test_plot",
    "tests/unit/test_growth.py",
    "tests/unit/test_pipeline.py::test_minimal_parameters_never_cost_operations",
    "tests/unit/test_sweep.py::test_missing_packages",
    "tests/unit/test_trajectory.py::test_damaged_files_load_or_are_refused",
    "tests/view/test_page.py",
)
EVERY = 4
SOME = (  # of whose like cases `make test` runs one in ``EVERY``
    "tests/agreement/test_closed_form.py::test_every_structure",
    "tests/agreement/test_derivatives.py",
    "tests/agreement/test_element_inputs.py",
    "tests/agreement/test_flexible_oracles.py",
    "tests/agreement/test_geometry_inputs.py",
    "tests/agreement/test_lin1991.py",
    "tests/agreement/test_loops.py",
    "tests/agreement/test_methods.py",
    "tests/agreement/test_mixed_trees.py",
    "tests/agreement/test_operational_space.py::test_against_numpy",
    "tests/agreement/test_parallel.py",
    "tests/agreement/test_pinocchio.py::test_every_quantity",
    "tests/agreement/test_shared_axes.py",
    "tests/compiled/test_any_program.py",
    "tests/compiled/test_backends.py",
    "tests/compiled/test_direct.py",
    "tests/compiled/test_elementary.py",
    "tests/compiled/test_export_c.py",
    "tests/compiled/test_export_memory.py::test_c_steps_as_python_does",
    "tests/compiled/test_export_others.py",
    "tests/compiled/test_large.py",
    "tests/compiled/test_loops.py",
    "tests/compiled/test_sincos.py::test_error",
    "tests/compiled/test_targets.py",
    "tests/guards/test_bundled_motion.py",
    "tests/laws/test_derivatives.py",
    "tests/laws/test_drives.py",
    "tests/laws/test_elsewhere.py",
    "tests/laws/test_gradients.py",
    "tests/laws/test_identify_exact.py",
    "tests/laws/test_linear_steps.py",
    "tests/laws/test_observers.py::test_no_false_alarm",
    "tests/laws/test_rates_and_frames.py",
    "tests/laws/test_regressor.py::test_bundled_robots",
    "tests/laws/test_scalars.py",
    "tests/laws/test_simulation.py",
    "tests/laws/test_stiff.py",
    "tests/published/test_linfang1999.py::test_theorem_1_random",
    "tests/unit/test_assembly_loop.py",
    "tests/unit/test_cli.py::TestConvert::test_every_structure",
    "tests/unit/test_cli.py::TestInspect::test_placements_are_complete",
    "tests/unit/test_cli_derivatives.py::TestForms",
    "tests/unit/test_cli_eval.py::TestOneState::test_every_quantity",
    "tests/unit/test_cli_terminal.py::test_tables_fit_a_terminal_of_80_columns",
    "tests/unit/test_cli_terminal.py::test_words_are_never_broken",
    "tests/unit/test_compose.py::test_several_quantities_are_those_alone",
    "tests/unit/test_float32_motion.py",
    "tests/unit/test_grouping.py::test_number_of_base_parameters",
    "tests/unit/test_memory.py",
    "tests/unit/test_own_outputs.py",
    "tests/unit/test_parameters.py::test_rank_of_bundled_robots",
    "tests/unit/test_payload.py",
    "tests/unit/test_pipeline.py::test_every_method_with_every_treatment_of_parameters",
    "tests/unit/test_report.py::test_motion",
    "tests/unit/test_robots.py::TestEach::test_accelerations_are_defined_at_home",
    "tests/unit/test_rollout.py",
    "tests/unit/test_rollout_runs.py",
    "tests/unit/test_sampled_motion.py::test_loops_floating_bases_and_contacts_as_by_hand",
    "tests/unit/test_stepper.py::test_the_bits_of_rollouts",
    "tests/unit/test_symbolic.py",
    "tests/unit/test_wrong_recordings.py",
    "tests/view/test_shapes.py::test_every_robot_is_drawn_with_its_joints_in_their_places",
)
SLOW = (  # what --quick leaves out as well
    "tests/agreement/test_ball_legs.py",
    "tests/agreement/test_consistent.py",
    "tests/agreement/test_derivatives.py",
    "tests/agreement/test_flexible_oracles.py",
    "tests/agreement/test_inverse_kinematics.py",
    "tests/agreement/test_khalil_structures.py",
    "tests/agreement/test_lin1991.py",
    "tests/agreement/test_loops.py",
    "tests/agreement/test_mixed_loops.py",
    "tests/agreement/test_multipliers.py",
    "tests/agreement/test_operational_space.py::test_derivatives",
    "tests/agreement/test_operational_space.py::test_numbers_as_inputs_and_c",
    "tests/agreement/test_parallel.py",
    "tests/agreement/test_pinocchio.py::test_compiled",
    "tests/agreement/test_pinocchio.py::test_every_robot_with_mimic_joints_is_tested",
    "tests/agreement/test_simulation_peers.py",
    "tests/compiled/test_cache.py::test_fork_while_another_thread_compiles",
    "tests/compiled/test_direct.py::test_split_programs",
    "tests/compiled/test_export_c.py",
    "tests/compiled/test_export_memory.py",
    "tests/compiled/test_export_others.py",
    "tests/compiled/test_large.py",
    "tests/compiled/test_lifetime.py",
    "tests/compiled/test_native.py::test_split_programs_give_the_same_bits",
    "tests/compiled/test_targets.py",
    "tests/compiled/test_threads.py",
    "tests/guards/test_benchmarks.py",
    "tests/guards/test_bundled_motion.py",
    "tests/guards/test_faq.py",
    "tests/guards/test_snippets.py",
    "tests/guards/test_used.py",
    "tests/laws/test_closed_motion.py",
    "tests/laws/test_derivatives.py",
    "tests/laws/test_drives.py",
    "tests/laws/test_flexible.py",
    "tests/laws/test_flying.py",
    "tests/laws/test_foot_events.py",
    "tests/laws/test_gradients.py",
    "tests/laws/test_identify_exact.py",
    "tests/laws/test_identify_noise.py",
    "tests/laws/test_interaction.py",
    "tests/laws/test_legs.py",
    "tests/laws/test_linear_steps.py",
    "tests/laws/test_loops.py",
    "tests/laws/test_mixed_trees.py",
    "tests/laws/test_observers.py::test_no_false_alarm",
    "tests/laws/test_parallel.py",
    "tests/laws/test_rolling.py",
    "tests/laws/test_simulation.py",
    "tests/laws/test_simulation_fit.py",
    "tests/laws/test_springs.py",
    "tests/laws/test_stiff.py",
    "tests/laws/test_tops.py",
    "tests/unit/test_assembly.py::test_a_platform_without_closed_form_is_followed",
    "tests/unit/test_cli.py::TestCommandLine::test_broken_pipe",
    "tests/unit/test_cli.py::TestCount",
    "tests/unit/test_cli.py::TestDemo",
    "tests/unit/test_cli.py::TestRobots",
    "tests/unit/test_cli_derivatives.py",
    "tests/unit/test_cli_excite.py",
    "tests/unit/test_cli_identify.py",
    "tests/unit/test_cli_papers.py",
    "tests/unit/test_cli_simulate.py",
    "tests/unit/test_cli_terminal.py",
    "tests/unit/test_commands.py",
    "tests/unit/test_customisation.py",
    "tests/unit/test_derivative_functions.py",
    "tests/unit/test_equations_complete.py",
    "tests/unit/test_excitation.py",
    "tests/unit/test_feet_input.py",
    "tests/unit/test_findings.py",
    "tests/unit/test_fit_at_rest.py",
    "tests/unit/test_fit_page.py",
    "tests/unit/test_gradient_runs.py",
    "tests/unit/test_gym_example.py",
    "tests/unit/test_hostile_files.py",
    "tests/unit/test_identify_simulation.py",
    "tests/unit/test_log_files.py",
    "tests/unit/test_memory.py",
    "tests/unit/test_names.py",
    "tests/unit/test_pipeline.py::test_robots_have_every_quantity",
    "tests/unit/test_rank.py",
    "tests/unit/test_report.py",
    "tests/unit/test_rolling_input.py",
    "tests/unit/test_rollout.py::test_all_outputs",
    "tests/unit/test_rollout.py::test_varied",
    "tests/unit/test_rollout.py::test_wrenches",
    "tests/unit/test_rollout_runs.py",
    "tests/unit/test_sampled_motion.py::test_loops_floating_bases_and_contacts_as_by_hand",
    "tests/unit/test_schedules.py",
    "tests/unit/test_sweep.py",
    "tests/unit/test_symbolic.py::TestLatex",
    "tests/unit/test_symbolic.py::TestSameAsTheFormulations::test_random_trees",
    "tests/unit/test_tabulate.py",
    "tests/unit/test_trajectory.py::test_plot",
    "tests/unit/test_urdf.py::test_planar_and_floating_joints_anywhere_move_as_in_pinocchio",
    "tests/unit/test_wrong_recordings.py",
    "tests/view/test_dragging.py",
    "tests/view/test_shapes.py",
    "tests/view/test_state.py",
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
    parser.addoption("--full", action="store_true", help="all tests, with all their cases")


def left_out(config) -> tuple[str, ...]:
    if config.getoption("full"):
        return ()
    return FULL + SLOW if config.getoption("quick") else FULL


def pytest_ignore_collect(collection_path, config):
    """Files that are left out are not even imported. Pinocchio has no wheels for Windows."""
    root = config.rootpath
    if collection_path.is_relative_to(root) and collection_path.relative_to(root).as_posix() in left_out(config):
        return True
    if sys.platform == "win32" and collection_path.suffix == ".py":
        text = collection_path.read_text(encoding="utf-8")
        return re.search(r"pinocchio|support\.kkt|joint_mutants", text) is not None or None
    return None


def pytest_runtest_setup(item):
    if sys.version_info < (3, 11) and "zarr" in item.nodeid:
        pytest.skip("Zarr 3 needs Python 3.11")


def pytest_collection_modifyitems(config, items):
    if config.getoption("full"):
        return
    tests: dict[str, list] = {}
    for item in items:
        if not item.nodeid.startswith(left_out(config)):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    some = one_of_many if config.getoption("quick") else some_of_many
    kept = {item for name, cases in tests.items() for item in some(name, cases)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def one_of_many(_name, cases):
    """The one in the middle."""
    return [cases[len(cases) // 2]]


def some_of_many(name, cases):
    """One in ``EVERY``, in steps that fall together with those of no parameter."""
    return [case for k, case in enumerate(cases) if k * 0.618 % 1 < 1 / EVERY or not name.startswith(SOME)]


def pytest_collection_finish():
    """Traced programs are many small objects that all live: looking for cycles among them took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def pytest_configure(config):
    for profile in ("quick", "full"):
        if config.getoption(profile):
            settings.load_profile(profile)
    # Kept between runs and shared by workers: what is in it is found by its sources.
    os.environ["LINKWORK_CACHE"] = str(Path(__file__).parents[1] / "build" / "test-cache")


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
