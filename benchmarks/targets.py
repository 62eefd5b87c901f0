"""The targets the project set itself, and whether this run meets them."""

from __future__ import annotations

from typing import Any

from growth import RECURSION

SPEEDUP = {  # times faster than Pinocchio's batch call with one thread
    ("panda", "inverse_dynamics"): 35,
    ("ur5", "inverse_dynamics"): 35,
    ("anymal", "inverse_dynamics"): 20,
    ("talos", "inverse_dynamics"): 20,
    ("panda", "forward_dynamics"): 28,
    ("ur5", "forward_dynamics"): 28,
    ("anymal", "forward_dynamics"): 15,
    ("talos", "forward_dynamics"): 15,
}
INERTIA_SPEEDUP = 20
LOOP_SPEEDUP = 20  # than a Pinocchio call on the same robot with loops
FLOATING_SPEEDUP = 20  # than an aba call on the same robot with a floating base
GROWTH = 1.1  # exponent of the operations of a recursion against the number of links
ONE_STATE_SPEEDUP = 1
ROLLOUT = {"panda": 25, "ur5": 25, "anymal": 10}  # times the steps per second of mujoco.rollout with one thread
CONTROLLED_ROLLOUT = 15  # with computed torque inside, than MuJoCo without control
ONE_TRAJECTORY = 5
SHARE_OF_PEAK = 0.5
SECONDS = {
    "panda, load to first inverse dynamics, cold": 1.0,
    "panda, load to first inverse dynamics, cached": 0.4,
    "talos, load to first forward dynamics, cold": 15.0,
    "import linkwork": 0.4,
}


def words(quantity: str) -> str:
    return quantity.replace("_", " ")


def structure_target(peer: str) -> int | None:
    """Of the table of structures; None where a peer stands for information."""
    return None if "Parallel" in peer else FLOATING_SPEEDUP if "aba" in peer else LOOP_SPEEDUP


def judge(results: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per target: what, target, measured, met."""
    rows = []

    def row(what: str, target: str, measured: str, met: bool):
        rows.append({"what": what, "target": target, "measured": measured, "met": bool(met)})

    for result in results["dynamics"]:
        target = SPEEDUP[result["robot"], result["quantity"]]
        what = f"{result['robot']}, batched {words(result['quantity'])} against Pinocchio"
        row(what, f"≥ {target}×", f"{result['speedup']:.1f}×", result["speedup"] >= target)
    inertia = results["inertia_matrix"]
    what = f"{inertia['robot']}, batched inertia matrix against crba calls"
    row(what, f"≥ {INERTIA_SPEEDUP}×", f"{inertia['speedup']:.1f}×", inertia["speedup"] >= INERTIA_SPEEDUP)
    for result in results["dynamics"]:
        if result["robot"] == "panda":
            what = f"panda, {words(result['quantity'])}, one state per call from Python"
            speedup = result["speedup_one_state"]
            row(what, f"> {ONE_STATE_SPEEDUP}×", f"{speedup:.2f}×", speedup > ONE_STATE_SPEEDUP)
    for result in results["structures"]:
        for peer, (speedup, _) in result["ratios"].items():
            if (target := structure_target(peer)) is not None:
                what = f"{result['robot']}, batched {result['what']} against {peer.removeprefix('Pinocchio, ')}"
                row(what, f"≥ {target}×", f"{speedup:.1f}×", speedup >= target)
    for result in results["rollouts"]["robots"]:
        what = f"{result['robot']}, rollout against mujoco.rollout with one thread"
        row(
            what,
            f"≥ {ROLLOUT[result['robot']]}×",
            f"{result['speedup']:.1f}×",
            result["speedup"] >= ROLLOUT[result["robot"]],
        )
        if "speedup_controlled" in result:
            what = f"{result['robot']}, rollout with computed torque against mujoco.rollout without control"
            speedup = result["speedup_controlled"]
            row(what, f"≥ {CONTROLLED_ROLLOUT}×", f"{speedup:.1f}×", speedup >= CONTROLLED_ROLLOUT)
        what, speedup = f"{result['robot']}, one trajectory against mujoco.rollout of one", result["speedup_alone"]
        row(what, f"≥ {ONE_TRAJECTORY}×", f"{speedup:.1f}×", speedup >= ONE_TRAJECTORY)
    power = results["growth"]["exponents"]["operations"][RECURSION]
    row("eel, forward dynamics, exponent of the operations by links", f"< {GROWTH}", f"{power:.2f}", power < GROWTH)
    if export := results["export"]:
        what = "panda, inverse dynamics, exported C, one state at a time"
        for against, name, target in (
            ("Pinocchio's call from Python", "speedup_call", 5.0),
            ("rneaInParallel with one thread", "speedup_loop", 3.0),
            ("CasADi's C", "speedup_casadi", 1.0),
        ):
            row(f"{what}, against {against}", f"≥ {target:g}×", f"{export[name]:.1f}×", export[name] >= target)
    below, of = sum(count["below"] for count in results["operations"]), len(results["operations"])
    row("operations below those of Pinocchio's CasADi trace", f"{of} of {of}", f"{below} of {of}", below == of)
    for what, limit in SECONDS.items():
        seconds = results["startup"][what]["seconds"]
        row(what, f"< {limit:g} s", f"{seconds:.2f} s", seconds < limit)
    share = results["peak"]["share"]
    what = "panda, inverse dynamics, share of the FMA peak"
    row(what, f"≥ {SHARE_OF_PEAK:.0%}", f"{share:.0%}", share >= SHARE_OF_PEAK)
    return rows
