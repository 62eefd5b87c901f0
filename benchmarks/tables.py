"""The tables of one run, built from its results."""

from __future__ import annotations

from typing import Any

import numpy as np
from customised import AUTO, BOTH, MINIMAL, PASSES, PLAIN
from derivative_tables import dynamics_table, forms_table, gradients_table, programs_table
from export import CASADI, FROM_PYTHON, C
from growth import ABA, BLOCK, LONG, RECURSION, polynomial
from identification import identification_table
from kinds import Results
from large import STAGES
from limit_tables import lanes_table, one_call_table, parts_table, peak_table, ports_table, threads_table
from measure import FLOAT32, LARGE, LARGE_ONE, LARGE_TWO, LINKWORK, ONE_STATE, TWO_THREADS
from mechanisms import NEAR
from robots import STATES
from rollouts import ALONE, CONTROLLED, FEW, REUSED, SAMPLES, STEPS
from rollouts import LINKWORK as MOTION
from rollouts import LONG as LONG_STEPS
from rollouts import MUJOCO as PEER
from rollouts import MUJOCO_ALONE as PEER_ALONE
from stepping import MUJOCO, ROLLOUT, STEPPER
from table import Table, time_cell
from targets import structure_target, words
from timing import ratio


def tables(results: Results) -> list[Table]:
    """Tables of the sections that the run has; older runs lack some sections."""
    sections = {
        "targets": [_targets],
        "dynamics": [_batches, _calls, _variants],
        "threads": [threads_table],
        "parts": [lanes_table, parts_table, one_call_table],
        "peak": [peak_table],
        "ports": [ports_table],
        "structures": [_structures],
        "growth": [_growth],
        "rollouts": [_rollouts, _long_runs],
        "stepping": [_stepping],
        "derivatives": [dynamics_table, forms_table],
        "derivative_programs": [programs_table],
        "gradients": [gradients_table],
        "identification": [identification_table],
        "operations": [_operations],
        "customised": [_customised],
        "export": [_export],
        "startup": [_startup],
        "large": [_large],
    }
    return [make(results) for section, makers in sections.items() if results.get(section) for make in makers]


def _find(times: dict[str, Any], *parts: str) -> dict[str, Any]:
    return next(result for name, result in times.items() if all(part in name for part in parts))


def _targets(results: Results) -> Table:
    rows = sorted(results["targets"], key=lambda row: not row["met"])  # the missed ones last
    shown = [[r["what"], r["target"], r["measured"], "met" if r["met"] else "**missed**"] for r in rows]
    return Table("Targets", ["what", "target", "measured", ""], shown)


def _batches(results: Results) -> Table:
    rows = []
    for r in (*results["dynamics"], results["inertia_matrix"]):
        error = f"{r['error']['joint']:.0e}", f"{r['error']['state']:.0e}"
        times = time_cell(r["times"][LINKWORK]), time_cell(r["times"][r["reference"]])
        rows.append([r["robot"], words(r["quantity"]), *times, f"**{r['speedup']:.1f}×**", *error])
    text = f"""Nanoseconds per state, without friction and rotors.

- **linkwork** gets C-ordered float64 arrays of shape `({STATES}, n)`. Each call allocates its result and includes all
  conversions of the layout.
- **Pinocchio** runs `rneaInParallel` and `abaInParallel` with one thread, on column-major arrays of shape
  `(n, {STATES})`. Its result array is allocated before. The inertia matrix is a loop of `crba` calls.
- **Errors** are relative: per joint to its largest value in the batch, and per state to the largest entry of the state.
  The error per state is larger where terms cancel: linkwork reads the angle 1.57079632679 as π/2, 5e-12 away from what
  Pinocchio reads."""
    header = ["robot", "quantity", "linkwork", "Pinocchio", "ratio", "error,<br>joint", "error,<br>state"]
    return Table("Batches on one core", header, rows, text, texts=2)


def _calls(results: Results) -> Table:
    rows = []
    for r in results["dynamics"]:
        t = r["times"]
        shown = (t[ONE_STATE], _find(t, "Pinocchio", "call"), _find(t, "buffer"), _find(t, "MuJoCo"), _find(t, "map("))
        rows.append([r["robot"], words(r["quantity"]), *map(time_cell, shown), f"{r['speedup_one_state']:.2f}×"])
    text = f"""Nanoseconds per state. The ratio is the time of Pinocchio's call to that of linkwork's.

- **CasADi** runs linkwork's own program as SX, because Pinocchio's PyPI wheel is built without CasADi. This program has
  fewer operations than a trace of Pinocchio. `buffer()` computes one state per call; `map({STATES})` computes the
  batch.
- **MuJoCo** runs `mj_inverse` and `mj_forward` with constraints off, on the URDF that linkwork writes. The state is set
  before timing. Both functions compute more than joint forces or accelerations."""
    header = ["robot", "quantity", "linkwork", "Pinocchio", "CasADi<br>buffer()", "MuJoCo", "CasADi<br>map", "ratio"]
    return Table("One state per call from Python", header, rows, text, texts=2)


def _variants(results: Results) -> Table:
    rows = []
    for r in results["dynamics"]:
        t, threads = r["times"], ["-"] * 5
        if TWO_THREADS in t:
            gain = ratio(t[LARGE_ONE], t[LARGE_TWO])
            two = t[TWO_THREADS], _find(t, "Pinocchio", "2 threads"), t[LARGE_ONE], t[LARGE_TWO]
            threads = [*map(time_cell, two), f"{gain:.2f}×"]
        rows.append([r["robot"], words(r["quantity"]), time_cell(t[FLOAT32]), f"{r['error_float32']:.0e}", *threads])
    text = f"""Nanoseconds per state, for information. The float32 columns are batches of {STATES} on one core. Their
error is the median over the states, relative to the largest entry of the state. Two threads give the same bits as one.
Two threads and large batches are timed by wall time, so other work on the machine affects them."""
    header = ["robot", "quantity", "float32", "error", f"{STATES},<br>2 threads", "Pinocchio,<br>2 threads"]
    header += [f"{LARGE},<br>1 thread", f"{LARGE},<br>2 threads", "gain"]
    return Table("Single precision, and two threads", header, rows, text, texts=2)


def _structures(results: Results) -> Table:
    rows = []
    for r in results["structures"]:
        times, error = r["times"], f"{r['error']['joint']:.0e}"
        what = [r["robot"], r["what"], r["method"], time_cell(times[LINKWORK]), time_cell(times[ONE_STATE])]
        if not r["ratios"]:
            rows.append([*what, "-", "-", "-", "-", "-", error])
        for peer, (batched, one) in r["ratios"].items():
            target = structure_target(peer)
            shown = f"{batched:.1f}×", f"{one:.1f}×", f"{target}×" if target else "-"
            rows.append([*what, peer.removeprefix("Pinocchio, "), time_cell(times[peer]), *shown, error])
            what, error = [""] * len(what), ""
    text = f"""Nanoseconds per state, in batches of {STATES} and for one state per call from Python. The first ratio is
to the batch, the second to the single call.

- **Assembly** is `robot.assemble(crank, guess=near)` at random positions of the whole turn. The guesses of all joints
  are off by up to {NEAR} rad. Inverse dynamics with assembly adds `robot.inverse_dynamics(q, v, a)`.
- **Friction and rotors** are left out in loops and floating trees. The elastic Panda has rotors, springs and damping.
  Its hybrid dynamics compute motor torques and spring accelerations from motor accelerations.
- **Pinocchio** gets the same robot as URDF. Its constraint dynamics has no batched form, so it is called in a loop with
  prepared states. `constraintDynamics` closes the loops by point contacts. `forwardDynamics` takes the Jacobian and the
  drift of the loops, which are computed before and not timed. Both return accelerations of all joints, linkwork those
  of the independent joints.
- **Errors** are per joint, against Pinocchio: loops against `rnea` projected on the Jacobian of the loops, the elastic
  Panda against `rnea`, drag against `aba` with the forces of the same laws.
- **The last four robots** have flexible links, wheels, rotors and feet. Pinocchio has no flexible links: its `aba` gets
  a rigid arm with as many joints, and the error is against another formulation of linkwork. The car's Jacobian and
  drift and the rotor forces are not timed. The biped has both soles on the ground, each a contact with six rows."""
    header = ["robot", "what", "method", "linkwork<br>batch", "linkwork<br>one call", "Pinocchio", "Pinocchio<br>ns"]
    return Table("Structures", [*header, "ratio", "ratio,<br>one call", "target", "error"], rows, text, texts=3)


def _growth(results: Results) -> Table:
    rows, powers = results["growth"]["rows"], results["growth"]["exponents"]
    shown = []
    for r in rows:
        times, counts = r["times"], r["operations"]
        faster = f"{ratio(times[BLOCK], times[RECURSION]):.1f}×", f"{ratio(times[ABA], times[RECURSION]):.1f}×"
        numbers = str(counts[RECURSION]), str(counts[BLOCK]), *(time_cell(times[k]) for k in (RECURSION, BLOCK, ABA))
        shown.append([str(r["links"]), str(r["freedoms"]), *numbers, *faster])
    fitted = [powers["operations"][k] for k in (RECURSION, BLOCK)]
    fitted += [powers["times"][k] for k in (RECURSION, BLOCK, ABA)]
    shown.append(["exponent", "", *(f"**{power:.2f}**" for power in fitted), "", ""])
    straight, cubic = (polynomial(rows, method) for method in (RECURSION, BLOCK))
    leading = cubic[0] * rows[-1]["links"] ** 3 / np.polyval(cubic, rows[-1]["links"])
    text = f"""![Operations and time against the number of links](growth.png)

Forward dynamics of `linkwork.library.eel(n)` without drag. The robot has n links and n + 5 degrees of freedom,
including those of the base. Three methods are compared:

- recursion: Khalil's method for moving bases (`{RECURSION}`), which `"auto"` selects;
- matrix: the inertia matrix and its LDLᵀ factors (`{BLOCK}`; Khalil's equation (88) with a cheaper inertia matrix);
- `aba` of Pinocchio, one call per state.

Operations are the multiplications and additions of the compiled program. Times are nanoseconds per state in batches of
{STATES}. All agree with `aba` to {max(max(r["error"].values()) for r in rows):.0e}.

The recursion takes {straight[2]:.0f} n - {-straight[3]:.0f} operations: it grows linearly. The matrix form takes
{cubic[0]:.3f} n³ + {cubic[1]:.1f} n² + {cubic[2]:.1f} n - {-cubic[3]:.0f}. Its cubic term is {leading:.0%} of the
total at n = {rows[-1]["links"]}. The exponent, fitted from n = {LONG} on, is therefore still between 2 and 3. Times
grow faster than operations because more intermediate values must be stored in memory."""
    header = ["links", "dof", "operations,<br>recursion", "operations,<br>matrix", "ns,<br>recursion"]
    header += ["ns,<br>matrix", "ns,<br>aba", "matrix /<br>recursion", "aba /<br>recursion"]
    return Table("Growth with the number of links", header, shown, text)


def _rollouts(results: Results) -> Table:
    names = (MOTION, REUSED, CONTROLLED, PEER, ALONE, PEER_ALONE)
    rows = []
    for r in results["rollouts"]["robots"]:
        cells = [f"{1e3 / r['times'][name]['ns']:.2f}" if name in r["times"] else "" for name in names]
        gains = [f"{r[name]:.1f}×" if name in r else "" for name in ("speedup", "speedup_controlled", "speedup_alone")]
        rows.append([r["robot"], *cells, *gains, f"{r['apart']:.0e}"])
    text = f"""Millions of steps per second on one core, with semi-implicit Euler at 1 ms. Contacts and constraints are
off, and both libraries record every step.

- linkwork runs {SAMPLES} samples of {STEPS} steps. `mujoco.rollout` with one thread runs {FEW} samples; its time per
  step does not depend on their number.
- One trajectory has {LONG_STEPS} steps and includes the call from Python.
- `out=` reuses the memory of an earlier trajectory.
- There are three ratios: linkwork to MuJoCo; linkwork with computed torque ("controlled") to MuJoCo without control;
  and one trajectory of each ("one").
- "Apart" is the largest relative difference of the final joint positions. For a floating base it is the difference of
  its position. MuJoCo integrates the linear velocity of the base in other axes, so the difference halves with the
  step."""
    header = ["robot", "linkwork", "linkwork,<br>`out=`", "computed torque<br>inside", "mujoco.rollout"]
    header += ["linkwork,<br>one", "mujoco.rollout,<br>one", "ratio", "controlled", "one", "apart"]
    return Table("Rollouts", header, rows, text)


def _long_runs(results: Results) -> Table:
    growth, memory, study = (results["rollouts"][part] for part in ("growth", "memory", "sweep"))
    rows = [
        ["exponent of the time by steps (250 to 2000)", f"{growth['steps']:.2f}"],
        ["exponent of the time by samples (128 to 1024)", f"{growth['samples']:.2f}"],
        [f"peak memory, {memory['steps'] // 10:,} steps streamed to disk", f"{memory['MB_tenth']:.0f} MB"],
        [f"peak memory, {memory['steps']:,} steps streamed to disk", f"{memory['MB']:.0f} MB"],
        [
            f"sweep of {study['samples']:,} samples of 1 s at 1 ms on {study['workers']} cores",
            f"{study['seconds']:.0f} s",
        ],
        ["share of that lost to Dask and to starting it", f"{study['lost']:.0%}"],
    ]
    text = "The sweep simulates Pandas with computed torque, random loads and velocities, and stores Parquet files."
    return Table("Long runs", ["", "measured"], rows, text)


def _operations(results: Results) -> Table:
    rows = []
    for r in results["operations"]:
        ours, theirs = r["linkwork"], r["traced"]
        show = lambda c: f"{c['mul']} / {c['add']} / {c['div']}"  # noqa: E731
        relative = (ours["mul"] + ours["add"]) / (theirs["mul"] + theirs["add"])
        verdict = "below" if r["below"] else "**above**"
        what = r["robot"], words(r["quantity"]), r["method"]
        counted = show(ours), str(ours["fused"]), str(ours["sincos"])
        rows.append([*what, *counted, show(theirs) + " live" * r["live"], f"{relative:.0%}", verdict])
    text = """Multiplications / additions / divisions per state, without friction and rotors. A fused multiply-add
counts as one multiplication and one addition. Pairs of sine and cosine have their own column.

Pinocchio is traced with CasADi SX, after common-subexpression elimination. Rows without "live" are counts of
Pinocchio 4.1, taken once with a build that supports CasADi; the PyPI wheel does not. They list divisions for forward
dynamics only. `puma560` is linkwork's bundled robot, with its own frames."""
    header = ["robot", "quantity", "method", "linkwork", "fused", "sincos", "Pinocchio, traced", "mul + add", ""]
    return Table("Operations", header, rows, text, texts=3)


def _customised(results: Results) -> Table:
    rows = []
    for r in results["customised"]:
        times, counts, faster = r["times"], r["instructions"], r["speedup"]
        cells = [f"{time_cell(times[k])}<br>{counts[k]}" for k in (PLAIN, PASSES, MINIMAL, BOTH, AUTO)]
        gains = [f"{faster[k]:.2f}×" for k in (MINIMAL, BOTH, AUTO)]
        rows.append([r["robot"], words(r["quantity"]), f"`{r['method']}`", *cells, f"`{r['auto']}`", *gains])
    text = f"""Nanoseconds per state in native batches of {STATES}; the second line of a cell is instructions per
state. No friction, no rotors. The columns are one textbook method with standard or minimal parameters, without or with
the passes that customise a program. `auto` is the default: minimal parameters, all passes, and the method in the next
column. The ratios are to the textbook method with standard parameters and without passes. All results go to the same
array."""
    header = ["robot", "quantity", "method", "standard", "standard,<br>passes", "minimal", "minimal,<br>passes", "auto"]
    header += ["method<br>of auto", "minimal", "minimal,<br>passes", "auto"]
    return Table("Minimal parameters: native batch", header, rows, text, texts=3)


def _export(results: Results) -> Table:
    export = results["export"]
    times, names = export["times"], (C, FROM_PYTHON, CASADI, export["call"], export["loop"])
    rows = [
        [name, time_cell(times[name]), "" if name == C else f"{times[name]['ns'] / times[C]['ns']:.1f}×"]
        for name in names
    ]
    text = f"""Nanoseconds per state, with {export["compiler"]}, {export["options"]}. Both C files are called from a
loop in another file. CasADi generates its C from linkwork's own program, because Pinocchio's wheel cannot be traced.
`rneaInParallel` with one thread replaces a loop in C++."""
    return Table("Exported C, one state at a time", ["panda, inverse dynamics", "ns", "ratio"], rows, text)


def _startup(results: Results) -> Table:
    runs = results["startup"].items()
    rows = [[what, f"{r['seconds']:.3f}", f"{r['lowest']:.3f} to {r['highest']:.3f}"] for what, r in runs]
    text = """Seconds of wall time in new processes: median and range. Cold means an empty cache of compiled code. The
first three begin after `import linkwork`."""
    return Table("Time to the first result", ["what", "median", "range"], rows, text)


def _stepping(results: Results) -> Table:
    rows = []
    for r in results["stepping"]:
        times = [r["times"].get(name) for name in (STEPPER, ROLLOUT, MUJOCO)]
        shown = [f"{time['ns'] / 1e3:.2f} ± {time['spread'] / 2:.0%}" if time else "-" for time in times]
        rows.append([r["robot"], str(r["samples"]), *shown])
    text = """Microseconds per call from Python that makes one step of all samples, with semi-implicit Euler. The
states of the stepper have the same bits as those of a rollout; this is checked first."""
    header = ["robot", "samples", "`stepper.step()`", "`rollout` of one step", "`mj_step`"]
    return Table("Step by step", header, rows, text)


def _large(results: Results) -> Table:
    rows = []
    for r in results["large"]["cases"]:
        sizes = [f"{r[what]:,}" for what in ("instructions", "outputs")]
        seconds = [f"{s:.1f}" for s in (*r["seconds"].values(), r["total"])]
        method = f"`{r['method']}`" if r["method"] else "-"
        rows.append([r["robot"], words(r["quantity"]), method, *sizes, *seconds])
    lengths, powers = results["large"]["lengths"], results["large"]["exponents"].items()
    powers = " and ".join(f"{power:.2f} ({words(each)})" for each, power in powers)
    text = f"""Seconds of processor time of one thread, from a description to the first result, with an empty cache.
"IR" is the program in LLVM's intermediate representation. For chains of {lengths[0]} to {lengths[-1]} joints, the time
grows with this power of the number of joints: {powers}."""
    header = ["robot", "quantity", "method", "instructions", "outputs", *STAGES, "total"]
    return Table("Large programs", header, rows, text, texts=3)
