"""The targets the project set itself, by lanes where they depend on them, and whether a run meets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from derivatives import QUANTITIES
from growth import RECURSION
from large import LIMIT as LARGE_SECONDS
from measure import ONE_STATE
from robots import STATES
from stepping import STEPPER

Row = tuple[str, str, str, bool]  # what, target, measured, met

INVERSE, FORWARD = "inverse_dynamics", "forward_dynamics"
BATCH = {  # by lanes: times faster than Pinocchio's batch call with one thread, inverse and forward dynamics
    8: {"panda": (62, 62), "ur5": (76, 85), "anymal": (40, 38), "talos": (33, 27)},
    4: {"panda": (44, 44), "ur5": (50, 62), "anymal": (34, 24), "talos": (29, 24)},
}
ROLLOUT = {  # by lanes: times the steps per second of mujoco.rollout with one thread
    8: {"panda": 65, "ur5": 25, "anymal": 34},
    4: {"panda": 25, "ur5": 25, "anymal": 10},
}
ONE_TRAJECTORY = {8: {"panda": 7.5, "ur5": 5, "anymal": 5}, 4: {"panda": 5, "ur5": 5, "anymal": 5}}
SHARE_OF_PEAK = {8: {INVERSE: 0.40, FORWARD: 0.42}, 4: {INVERSE: 0.50}}  # by lanes
SHARE_WITH_SINES = {8: {INVERSE: 0.55}}
INERTIA_SPEEDUP = 20
LOOP_SPEEDUP = 20  # than a Pinocchio call on the same robot with loops, wheels or feet
FLOATING_SPEEDUP = 20  # than an aba call on the same robot with a floating base, or of as many joints as one that bends
GROWTH = 1.1  # exponent of the operations of a recursion against the number of links
ONE_STATE_SPEEDUP = {INVERSE: 4, FORWARD: 1}  # than Pinocchio's call from Python
FLOAT32_SPEEDUP = 1.7  # than float64
CONTROLLED_ROLLOUT = 15  # with computed torque inside, than MuJoCo without control
ASSEMBLY = 5.0  # microseconds, one state
STEP = {1024: 60.0, 1: 2.5}  # microseconds for a step of so many Pandas
NOT_SLOWER = 0.97  # the resolution of the clock for "never slower"
DERIVATIVES = {  # by states of a batch, with any number of lanes: times faster than Pinocchio's calls; dID, dFD
    "256": {"panda": (28, 22), "ur5": (45, 40), "anymal": (18, 12), "talos": (13, 7)},
    "4096": {"panda": (20, 16), "ur5": (32, 30), "anymal": (12, 9), "talos": (11, 7)},
}
DERIVATIVE_INSTRUCTIONS = {
    "panda": (2000, 3010), "puma560": (840, 1400), "anymal": (3720, 10200), "talos": (16300, None),
}  # fmt: skip
STEP_BACK = 2.7  # times the instructions of a step
IDENTIFICATION = 10  # times faster than an iteration of mujoco.sysid
GRADIENT = 4  # rollouts, the one that it goes back through among them
DERIVATIVE_SECONDS = {("panda", QUANTITIES): 1.5, ("talos", QUANTITIES[1:]): 25.0}  # together
SECONDS = {
    "panda, load to first inverse dynamics, cold": 1.0,
    "panda, load to first inverse dynamics, cached": 0.4,
    "talos, load to first forward dynamics, cold": 15.0,
    "import linkwork": 0.4,
}


def words(quantity: str) -> str:
    return quantity.replace("_", " ")


def structure_target(peer: str) -> int | None:
    """Target of a row of the structures; None for peers that are shown for information."""
    return None if "Parallel" in peer else FLOATING_SPEEDUP if "aba" in peer else LOOP_SPEEDUP


def judge(results: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per target: what, target, measured, met."""
    parts = (_batches, _one_state, _structures, _rollouts, _stepping, _derivatives, _gradients, _identification)
    parts += (_threads, _programs, _seconds, _peak)
    names = "what", "target", "measured", "met"
    return [dict(zip(names, row, strict=True)) for part in parts for row in part(results)]


def _at_least(what: str, target: float, measured: float, digits: int = 1) -> Row:
    return what, f"≥ {target:g}×", f"{measured:.{digits}f}×", measured >= target


def _batches(results: dict[str, Any]) -> Iterator[Row]:
    own = results["machine"]["lanes"]
    for lanes in BATCH:
        for r in results["dynamics"]:
            speedup = r["speedup"] if lanes == own else r["speedup_narrower"].get(str(lanes))
            if speedup is not None:
                target = BATCH[lanes][r["robot"]][(INVERSE, FORWARD).index(r["quantity"])]
                what = f"{r['robot']}, batched {words(r['quantity'])} with {lanes} lanes against Pinocchio"
                yield _at_least(what, target, speedup)
    inertia = results["inertia_matrix"]
    what = f"{inertia['robot']}, batched inertia matrix against crba calls"
    yield _at_least(what, INERTIA_SPEEDUP, inertia["speedup"])


def _one_state(results: dict[str, Any]) -> Iterator[Row]:
    for r in results["dynamics"]:
        if r["robot"] == "panda":
            what = f"panda, {words(r['quantity'])}"
            target = ONE_STATE_SPEEDUP[r["quantity"]]
            yield _at_least(f"{what}, one state per call from Python", target, r["speedup_one_state"], digits=2)
            yield _at_least(f"{what}, float32 against float64", FLOAT32_SPEEDUP, r["speedup_float32"], digits=2)


def _structures(results: dict[str, Any]) -> Iterator[Row]:
    for r in results["structures"]:
        for peer, (speedup, _) in r["ratios"].items():
            if (target := structure_target(peer)) is not None:
                what = f"{r['robot']}, batched {r['what']} against {peer.removeprefix('Pinocchio, ')}"
                yield _at_least(what, target, speedup)
        if r["what"] == "assembly alone":
            microseconds = r["times"][ONE_STATE]["ns"] / 1e3
            yield _at_most(f"{r['robot']}, assembly of one state", ASSEMBLY, microseconds)


def _at_most(what: str, target: float, microseconds: float) -> Row:
    return what, f"≤ {target:g} us", f"{microseconds:.3g} us", microseconds <= target


def _rollouts(results: dict[str, Any]) -> Iterator[Row]:
    lanes = results["machine"]["lanes"]
    for r in results["rollouts"]["robots"]:
        robot = r["robot"]
        if lanes in ROLLOUT:
            what = f"{robot}, rollout against mujoco.rollout with one thread"
            yield _at_least(what, ROLLOUT[lanes][robot], r["speedup"])
            what = f"{robot}, one trajectory against mujoco.rollout of one"
            yield _at_least(what, ONE_TRAJECTORY[lanes][robot], r["speedup_alone"])
        if "speedup_controlled" in r:
            what = f"{robot}, rollout with computed torque against mujoco.rollout without control"
            yield _at_least(what, CONTROLLED_ROLLOUT, r["speedup_controlled"])


def _stepping(results: dict[str, Any]) -> Iterator[Row]:
    for r in results["stepping"]:
        what = f"{r['robot']}, a step of {r['samples']} with robot.stepper"
        yield _at_most(what, STEP[r["samples"]], r["times"][STEPPER]["ns"] / 1e3)


def _derivatives(results: dict[str, Any]) -> Iterator[Row]:
    for r in results.get("derivatives", ()):
        what, place = f"{r['robot']}, {words(r['quantity'])}", QUANTITIES.index(r["quantity"])
        for states, targets in DERIVATIVES.items():
            label = f"{what}, {r['form']}, batches of {states} against Pinocchio's calls"
            yield _at_least(label, targets[r["robot"]][place], r["speedup"][states])
        yield _at_least(f"{what}, one state per call", 1, r["speedup_one_state"], digits=2)
    for r in results.get("derivative_programs", ()):
        limits = DERIVATIVE_INSTRUCTIONS.get(r["robot"], (None, None))
        if (limit := limits[QUANTITIES.index(r["quantity"])]) is not None:
            what, number = f"instructions of {r['robot']}, {words(r['quantity'])}", r["instructions"]
            yield what, f"≤ {limit}", str(number), number <= limit
    if rows := results.get("derivative_compilation"):
        seconds = {(r["robot"], r["quantity"]): r["seconds"] for r in rows}
        for (robot, quantities), limit in DERIVATIVE_SECONDS.items():
            what = f"{robot}, load to first {' and '.join(map(words, quantities))}, cold"
            total = sum(seconds[robot, quantity] for quantity in quantities)
            yield what, f"< {limit:g} s", f"{total:.2f} s", total < limit


def _gradients(results: dict[str, Any]) -> Iterator[Row]:
    for r in results.get("steps_back", ()):
        what = f"instructions of {r['robot']}, a step back against a step"
        yield what, f"≤ {STEP_BACK:g}×", f"{r['factor']:.2f}×", r["factor"] <= STEP_BACK
    for r in results.get("gradients", ()):
        for number, speedup in ((f"{r['samples']} samples", "speedup"), ("one trajectory", "speedup_alone")):
            what, rollouts = f"{r['robot']}, gradient of a rollout of {number}", 1 / r[speedup]
            yield what, f"≤ {GRADIENT} rollouts", f"{rollouts:.2f} rollouts", rollouts <= GRADIENT


def _identification(results: dict[str, Any]) -> Iterator[Row]:
    if r := results.get("identification"):
        what = (
            f"{r['robot']}, fit of {r['unknowns']} inertial parameters by simulation, an iteration against mujoco.sysid"
        )
        yield _at_least(what, IDENTIFICATION, r["speedup"])


def _threads(results: dict[str, Any]) -> Iterator[Row]:
    for r in results["threads"]:
        if r["states"] == STATES:
            what = f"{r['robot']}, {words(r['quantity'])}, {STATES} states, two threads against one"
            yield what, "> 1×", f"{r['gains']['2']:.2f}×", r["gains"]["2"] > 1
    for quantity in dict.fromkeys(r["quantity"] for r in results["threads"]):
        worst = min((r for r in results["threads"] if r["quantity"] == quantity), key=lambda r: r["gains"]["auto"])
        gain = worst["gains"]["auto"]
        what = f'{worst["robot"]}, {words(quantity)}, threads="auto" against one thread, at worst'
        yield what, f"≥ {NOT_SLOWER:g}×", f"{gain:.2f}× ({worst['states']} states)", gain >= NOT_SLOWER


def _programs(results: dict[str, Any]) -> Iterator[Row]:
    power = results["growth"]["exponents"]["operations"][RECURSION]
    yield "eel, forward dynamics, exponent of the operations by links", f"< {GROWTH}", f"{power:.2f}", power < GROWTH
    if export := results["export"]:
        what = "panda, inverse dynamics, exported C, one state at a time"
        yield _at_least(f"{what}, against Pinocchio's call from Python", 5, export["speedup_call"])
        yield _at_least(f"{what}, against rneaInParallel with one thread", 3, export["speedup_loop"])
        yield _at_least(f"{what}, against CasADi's C", 1, export["speedup_casadi"])
    below, of = sum(count["below"] for count in results["operations"]), len(results["operations"])
    yield "operations below those of Pinocchio's CasADi trace", f"{of} of {of}", f"{below} of {of}", below == of


def _seconds(results: dict[str, Any]) -> Iterator[Row]:
    limits = {what: (results["startup"][what]["seconds"], limit) for what, limit in SECONDS.items()}
    for r in results["large"]["cases"]:
        limits[f"{r['robot']}, load to first {words(r['quantity'])}, cold"] = r["total"], LARGE_SECONDS
    for what, (seconds, limit) in limits.items():
        yield what, f"< {limit:g} s", f"{seconds:.2f} s", seconds < limit


def _peak(results: dict[str, Any]) -> Iterator[Row]:
    lanes = results["machine"]["lanes"]
    for r in results["peak"]:
        what = f"{r['robot']}, {words(r['quantity'])}, share of the FMA peak"
        for label, name, table in (
            (what, "share", SHARE_OF_PEAK),
            (f"{what}, sines counted", "share_with_sines", SHARE_WITH_SINES),
        ):
            if (target := table.get(lanes, {}).get(r["quantity"])) is not None:
                yield label, f"≥ {target:.0%}", f"{r[name]:.0%}", r[name] >= target
