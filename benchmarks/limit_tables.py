"""Tables of a run compared with the limits of the processor: lanes, parts, the peak, threads."""

from __future__ import annotations

from kinds import Results
from measure import LINKWORK, with_lanes
from parts import PARTS
from robots import STATES
from table import Table, time_cell
from targets import words
from threads import THREADS


def peak_table(results: Results) -> Table:
    runs = results["peak"]
    rows = [
        ["measured peak of one core, fused multiply-adds, GFLOP/s", *(f"{r['gflops_peak']:.1f}" for r in runs)],
        ["this function, GFLOP/s", *(f"{r['gflops']:.1f}" for r in runs)],
        ["share of the peak", *(f"**{r['share']:.0%}**" for r in runs)],
        ["the same, operations of sine and cosine counted too", *(f"{r['share_with_sines']:.0%}" for r in runs)],
        ["share possible with its mix of fused and plain operations", *(f"{r['possible_share']:.0%}" for r in runs)],
        ["share of the arithmetic instructions the core can start", *(f"{r['issue_share']:.0%}" for r in runs)],
        ["nanoseconds per state", *(f"{r['ns']['function']:.1f}" for r in runs)],
        ["its instructions alone, if every one started at the peak's rate", *(f"{r['possible_ns']:.1f}" for r in runs)],
    ]
    counted = "; ".join(
        f"{words(r['quantity'])} {o['mul']} mul and {o['add']} add per state, {o['fused']} of each fused"
        for r in runs
        for o in (r["operations"],)
    )
    text = f"""Counted operations: {counted}. The {runs[0]["sincos"]} pairs of sine and cosine, with
{runs[0]["sincos_operations"]} operations each, take time but count in one row only. The peak is that of independent
chains of multiply-adds, compiled and called in the same way."""
    header = ["what", *(f"{r['robot']},<br>{words(r['quantity'])}" for r in runs)]
    return Table("Share of the peak", header, rows, text)


def lanes_table(results: Results) -> Table:
    widths = results["parts"][0]["widths"]
    of_pair = sum(results["parts"][0]["sine_instructions"])
    counts = {(r["robot"], r["quantity"]): r["linkwork"] for r in results["operations"]}
    rows = []
    for r in results["dynamics"]:
        count = counts[r["robot"], r["quantity"]]
        issued = count["mul"] + count["add"] - count["fused"] + count["div"] + count["sqrt"] + count["sincos"] * of_pair
        cells, gains = [], []
        for width in widths:
            own = width is widths[0]
            time = r["times"][LINKWORK if own else with_lanes(width["lanes"])]
            cells += [time_cell(time), f"{issued / (width['gflops_peak'] / 2) / time['ns']:.0%}"]
            gains.append(f"{r['speedup'] if own else r['speedup_narrower'][str(width['lanes'])]:.1f}×")
        rows.append([r["robot"], words(r["quantity"]), str(issued), *cells, *gains])
    text = f"""Nanoseconds per state in batches of {STATES}, for the same program built for vectors of different widths.
Eight lanes use AVX-512; four and two lanes run as on a processor without it (sixteen registers). Results have the same
bits. The last columns are ratios to Pinocchio's batch call in the same rounds.

"Arithmetic" is the share of the time that the arithmetic instructions alone would take, at the measured rate of fused
multiply-adds. It includes {of_pair} instructions for each pair of sine and cosine, but no moves, comparisons and
shifts."""
    lanes = [width["lanes"] for width in widths]
    header = ["robot", "quantity", "instructions"]
    header += [name for n in lanes for name in (f"{n} lanes", "arithmetic")]
    return Table("Lanes", [*header, *(f"ratio,<br>{n} lanes" for n in lanes)], rows, text, texts=2)


def parts_table(results: Results) -> Table:
    rows = []
    for r in results["parts"]:
        for width in r["widths"]:
            limit = width["limit"] + width["limit_sines"]
            numbers = *(width["parts"][part] for part in PARTS), width["ns"], limit, width["gflops_peak"]
            what = f"{r['robot']}, {words(r['quantity'])}"
            rows.append([what, str(width["lanes"]), *(f"{number:.1f}" for number in numbers)])
    text = f"""![Time per state against lanes](lanes.png)

Nanoseconds per state in batches of {STATES}. Four programs are timed, each of which adds one step to the one before:

1. read and pack the inputs;
2. write as many numbers as the function does;
3. compute as many sines and cosines as the function does;
4. compute everything.

A column is the time that a step adds. "Python" is the time of a call without states, divided by the number of states.
The last columns are the time of the arithmetic instructions at the peak rate, and this rate."""
    header = ["", "lanes", *PARTS, "whole", "arithmetic<br>alone", "peak,<br>GFLOP/s"]
    return Table("Where the time goes", header, rows, text)


def one_call_table(results: Results) -> Table:
    rows = []
    for r in results["parts"]:
        times = r["one_call"]
        rows.append(
            [f"{r['robot']}, {words(r['quantity'])}", *(f"{ns:.0f}" for ns in (*times.values(), sum(times.values())))]
        )
    text = "Nanoseconds of a call with one state, for the same programs. Native code computes a whole vector of states."
    return Table("Where the time of one call goes", ["", *results["parts"][0]["one_call"], "whole"], rows, text)


def threads_table(results: Results) -> Table:
    rows = []
    for r in results["threads"]:
        times = [time_cell(r["times"][str(number)]) for number in THREADS]
        gains = [f"{gain:.2f}×" for gain in r["gains"].values()]
        rows.append([f"{r['robot']}, {words(r['quantity'])}", f"{r['states']:,}", *times, *gains])
    text = f"""Nanoseconds per state of wall time on {results["machine"]["cores"]} cores. Other work on the machine
affects them. Results go to an existing array and have the same bits with every number of threads. Gains are over one
thread."""
    names = [f"{number} thread{'s' if number != 1 else ''}" if number != "auto" else '"auto"' for number in THREADS]
    return Table("Threads", ["", "states", *names, *(f"gain,<br>{name}" for name in names[1:])], rows, text)


def ports_table(results: Results) -> Table:
    rows = []
    for r in results["ports"]:
        busy = ", ".join(f"{port} {share:.0%}" for port, share in list(r["busy"].items())[:3])
        numbers = f"{r['cycles_per_state']:.1f}", f"{r['cycles']:.0f}", str(r["cycles_alone"])
        rows.append([f"panda, {words(r['quantity'])}", r["processor"], str(r["lanes"]), *numbers, busy])
    text = """Cycles that the kernels, including sines, would take on other processors, predicted by `llvm-mca`. It
knows the execution ports of a processor and the latency of each instruction, but ignores caches, packing and
unpacking. A block has as many states as there are lanes. "A block" is its time in a sequence of blocks, "a block alone"
its time without others. The last column is the busiest ports and their share of the cycles."""
    header = ["", "processor", "lanes", "cycles,<br>a state", "a block", "a block<br>alone", "busiest ports"]
    return Table("Other processors, predicted", header, rows, text, texts=2)
