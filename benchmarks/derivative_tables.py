"""Tables of derivatives: of the dynamics, their programs, and through time."""

from __future__ import annotations

from derivatives import CALL, CASADI, FEW, LOOP, SIZES, batch
from export import OPTIONS
from gradients import GRADIENT, GRADIENT_ALONE, ROLLOUT, ROLLOUT_ALONE
from kinds import Results
from measure import ONE_STATE
from robots import STATES
from table import Table, time_cell
from targets import DERIVATIVE_INSTRUCTIONS, QUANTITIES, words


def dynamics_table(results: Results) -> Table:
    rows = []
    for r in results["derivatives"]:
        times, form = r["times"], r["form"]
        shown = [times[batch(size, form)] for size in SIZES] + [times[LOOP]]
        generated = time_cell(times[CASADI]) if CASADI in times else "-"
        ratios = [f"**{r['speedup'][str(size)]:.1f}×**" for size in SIZES]
        one = time_cell(times[ONE_STATE]), time_cell(times[CALL]), f"{r['speedup_one_state']:.1f}×"
        what = r["robot"], words(r["quantity"]).removesuffix(" derivatives"), form
        rows.append([*what, *map(time_cell, shown), generated, *ratios, *one, f"{r['error']:.0e}"])
    text = f"""Nanoseconds per state. The ratios are Pinocchio's loop to batches of {FEW} and of {STATES}, and its
single call to linkwork's. Errors are relative to Pinocchio, row by row; a row belongs to a joint.

- **linkwork**: `robot.inverse_dynamics_derivatives(q, v, a)` returns tau, dtau_dq, dtau_dv and M.
  `robot.forward_dynamics_derivatives(q, v, tau)` returns a, da_dq, da_dv and da_dtau. The arrays are new. "Packed" is
  `function.packed()`: the distinct entries that are not constant.
- **Pinocchio** has no batched form. Python calls `computeRNEADerivatives` and `computeABADerivatives` in a loop over
  {FEW} prepared states. The dense matrices stay in its data.
- **CasADi** differentiates linkwork's own program, because Pinocchio's wheel cannot be traced. It generates C with a
  loop over {FEW} states (`map`), which writes the entries that are not structurally zero. The C is compiled by gcc with
  {" ".join(OPTIONS)} and called through `buffer()`."""
    header = ["robot", "derivatives of", "form", *(f"linkwork,<br>{size}" for size in SIZES), "Pinocchio,<br>loop"]
    header += ["CasADi,<br>C", *(f"ratio,<br>{size}" for size in SIZES), "linkwork,<br>one call"]
    header += ["Pinocchio,<br>one call", "ratio", "error"]
    return Table("Derivatives", header, rows, text, texts=3)


def forms_table(results: Results) -> Table:
    rows = []
    for r in results["derivatives"]:
        if r["form"] == "dense":
            cells = [time_cell(r["times"][batch(size, form)]) for size in SIZES for form in ("dense", "packed")]
            rows.append([r["robot"], words(r["quantity"]).removesuffix(" derivatives"), *cells])
    header = ["robot", "derivatives of", *(f"{form},<br>{size}" for size in SIZES for form in ("dense", "packed"))]
    text = "Nanoseconds per state in batches, for robots with measurements of both forms."
    return Table("Dense and packed derivatives", header, rows, text, texts=2)


def programs_table(results: Results) -> Table:
    traced = {(r["robot"], r["quantity"]): r["casadi_operations"] for r in results["derivatives"]}
    seconds = {(r["robot"], r["quantity"]): f"{r['seconds']:.2f}" for r in results["derivative_compilation"]}
    rows = []
    for r in results["derivative_programs"]:
        key = r["robot"], r["quantity"]
        limit = DERIVATIVE_INSTRUCTIONS.get(r["robot"], (None, None))[QUANTITIES.index(r["quantity"])]
        sizes = f"{r['instructions']:,}", f"{limit:,}" if limit else "-", str(r["outputs"]), str(r["packed"])
        theirs = f"{traced[key]:,}" if key in traced else "-"
        what = r["robot"], words(r["quantity"]).removesuffix(" derivatives"), f"`{r['method']}`"
        rows.append([*what, *sizes, theirs, seconds.get(key, "-")])
    text = """Instructions per state of the default method, without friction and rotors; a fused multiply-add counts as
one. "Limit" is the target. "Outputs" and "packed" are the numbers of results, dense and packed. "CasADi" counts the
multiplications, additions and divisions of its own derivatives of linkwork's dynamics, after `cse`. "Cold" is the
processor time from the file to the first dense result, with an empty cache."""
    header = ["robot", "derivatives of", "method", "instructions", "limit", "outputs", "packed", "CasADi", "cold, s"]
    return Table("Programs of derivatives", header, rows, text, texts=3)


def gradients_table(results: Results) -> Table:
    steps = {r["robot"]: r for r in results["steps_back"]}
    rows = []
    for r in results["gradients"]:
        times, step = r["times"], steps[r["robot"]]
        cells = [time_cell(times[name]) for name in (ROLLOUT, GRADIENT, ROLLOUT_ALONE, GRADIENT_ALONE)]
        counts = f"{step['step']:,}", f"{step['back']:,}", f"{step['factor']:.2f}×"
        ratios = [f"**{1 / r[name]:.2f}×**" for name in ("speedup", "speedup_alone")]
        rows.append([r["robot"], *counts, *cells[:2], ratios[0], *cells[2:], ratios[1], f"{r['error']:.0e}"])
    first = results["gradients"][0]
    text = f"""The gradient of a weighted sum of all records with respect to initial states and all torques:
`rollout(..., checkpoint_every=1)` and `pullback(q=..., v=...)`, compared with `rollout(...)` alone.

- The first columns are instructions of a step (semi-implicit Euler, constant torques) and of the step back. The step
  back multiplies weights by the derivative of the step with respect to state and torques.
- The next columns are nanoseconds per step, for {first["samples"]} samples of {first["steps"]} steps and for one
  trajectory.
- The last column is the largest relative difference from central differences in a random direction."""
    header = ["robot", "step", "step back", "factor", "rollout", "and gradient", "ratio"]
    header += ["rollout,<br>one", "and gradient,<br>one", "ratio", "error"]
    return Table("Gradients through time", header, rows, text)
