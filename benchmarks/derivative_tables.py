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
    text = f"""Nanoseconds per state. `robot.inverse_dynamics_derivatives(q, v, a)` gives tau, dtau_dq, dtau_dv and M,
`robot.forward_dynamics_derivatives(q, v, tau)` gives a, da_dq, da_dv and da_dtau, in new arrays; packed:
`function.packed()`, the distinct entries that are no constants. Pinocchio has no batched form, so it is called from
Python in a loop over {FEW} states made ready before, `computeRNEADerivatives` and `computeABADerivatives`; its dense
matrices stay in its data. CasADi differentiates linkwork's own program of the dynamics (Pinocchio's wheel cannot be
traced), by q along its tangent, and generates C with a loop over {FEW} states (`map`), which writes the entries that
are not zero by structure; gcc {" ".join(OPTIONS)}, called through `buffer()`. The ratios are of Pinocchio's loop to
batches of {FEW} and of {STATES}, and of its single call to linkwork's. Errors are relative, row by row (a row belongs
to a joint), against Pinocchio."""
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
    text = "Nanoseconds per state in batches, where both forms are measured."
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
    text = """Instructions per state of the method that linkwork takes by itself (a fused multiply-add is one), the
limit set, and the numbers that come out, dense and packed. CasADi: multiplications, additions and divisions of its own
derivatives of linkwork's dynamics, after `cse`. Cold: seconds of processor time from the file to the first dense
result, with nothing in a cache. No friction, no rotors."""
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
    text = f"""Instructions of a step (semi-implicit Euler, torques held) and of the step back, a product of weights
with its derivative by state and torques. Then nanoseconds per step of {first["samples"]} samples of {first["steps"]}
steps, and of one trajectory: `rollout(...)`, and `rollout(..., checkpoint_every=1)` with `pullback(q=..., v=...)`,
which gives the gradient of a sum of all records times weights by initial states and all torques. Held first to central
differences in a random direction; the last column is the largest difference, relative."""
    header = ["robot", "step", "step back", "factor", "rollout", "and gradient", "ratio"]
    header += ["rollout,<br>one", "and gradient,<br>one", "ratio", "error"]
    return Table("Gradients through time", header, rows, text)
