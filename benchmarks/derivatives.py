"""Derivatives of the dynamics: linkwork beside Pinocchio's and beside C that CasADi generates."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import thread_time
from typing import Any

import casadi
import numpy as np
import pinocchio as pin
from counts import count_casadi
from export import OPTIONS
from large import no_cache
from measure import ONE_STATE
from peers import Kept, agree
from robots import STATES, Case, Source
from timing import Contender, race, ratio

import linkwork
from linkwork import Function

INVERSE, FORWARD = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"
QUANTITIES = (INVERSE, FORWARD)
CALLS = {INVERSE: pin.computeRNEADerivatives, FORWARD: pin.computeABADerivatives}
FEW = 256  # states that stay in the cache, with all their derivatives; as many as Pinocchio is called for
SIZES = (FEW, STATES)
PACKED = ("anymal", "talos")  # half of their derivatives are zeros or copies
CALL, LOOP = "Pinocchio, one call", "Pinocchio, loop of calls"
CASADI = "CasADi, generated C"


def batch(states: int, form: str) -> str:
    return f"linkwork, {form}, batches of {states}"


def derivatives(case: Case, quantity: str, rounds: int, budget: float, compiled: bool = True) -> dict[str, Any]:
    """linkwork in batches and one state per call, and every peer, agreed first, then timed in turn. ``compiled``: with
    CasADi's C, which takes the compiler half a minute for Talos."""
    name, function, inputs = case.source.name, getattr(case.robot, quantity), case.inputs(quantity)
    packed = function.packed()
    forms = {"packed": packed} if name in PACKED else {"dense": function, "packed": packed}
    form = next(iter(forms))
    loop, expected = pinocchio_loop(case, quantity)
    few, one = [array[:FEW].copy() for array in inputs], [array[0].copy() for array in inputs]
    error = check(f"{name}, {quantity}", expected, packed.dense(packed(*few)))
    for kind, each in forms.items():
        dense = each.dense if each is packed else list
        for size in SIZES:
            got = [x[:FEW] for x in dense(each(*(array[:size] for array in inputs)))]
            check(f"{name}, {quantity}, {batch(size, kind)}", expected, got)
        first = [x[None] for x in dense(each(*one))]
        check(f"{name}, {quantity}, {ONE_STATE}", [x[:1] for x in got], first)
    call = Contender(CALL, CALLS[quantity], (case.pinocchio, pin.Data(case.pinocchio), *case.rows(quantity, 1)[0]))
    contenders = [
        *(
            Contender(batch(size, kind), each, [array[:size].copy() for array in inputs], size)
            for kind, each in forms.items()
            for size in SIZES
        ),
        loop,
        Contender(ONE_STATE, forms[form], one),
        call,
    ]
    made = differentiated(getattr(case.robot, quantity.removesuffix("_derivatives")))
    with tempfile.TemporaryDirectory() as folder:
        if compiled and shutil.which("gcc"):
            contenders.append(casadi_c(made, f"{name}, {quantity}", few, expected, Path(folder)))
        times = race(contenders, rounds, budget)
    return {
        "robot": name,
        "quantity": quantity,
        "method": function.label.method,
        "form": form,
        "casadi_operations": sum(count_casadi(made)),
        "error": error,
        "speedup": {str(size): ratio(times[LOOP], times[batch(size, form)]) for size in SIZES},
        "speedup_one_state": ratio(times[CALL], times[ONE_STATE]),
        "times": times,
    }


def check(who: str, expected: Sequence[np.ndarray], got: Sequence[np.ndarray]) -> float:
    """The largest error of all outputs, row by row: a row belongs to a joint."""
    return max(agree(who, a, b, rows=True)["joint"] for a, b in zip(expected, got, strict=True))


def pinocchio_loop(case: Case, quantity: str) -> tuple[Contender, list[np.ndarray]]:
    """A Python loop of calls, whose dense matrices stay where Pinocchio leaves them; and all of them in linkwork's
    order."""
    call, model, data = CALLS[quantity], case.pinocchio, pin.Data(case.pinocchio)
    states = case.rows(quantity, FEW)

    def loop():
        for state in states:
            call(model, data, *state)

    nv, square = model.nv, np.ix_(case.order, case.order)
    results = [np.empty((FEW, nv)), *(np.empty((FEW, nv, nv)) for _ in range(3))]
    for k, state in enumerate(states):
        matrices = call(model, data, *state)
        results[0][k, case.order] = data.tau if quantity == INVERSE else data.ddq
        for result, matrix in zip(results[1:], matrices, strict=True):
            result[k][square] = matrix
    return Contender(LOOP, loop, (), FEW), results


def instructions(cases: Mapping[str, Case]) -> list[dict[str, Any]]:
    """Per state, of the programs that linkwork takes by itself."""
    robots = {name: case.robot for name, case in cases.items()}
    robots["puma560"] = linkwork.load("puma560", friction=False, rotors=False)
    rows = []
    for name, robot in robots.items():
        for quantity in QUANTITIES:
            function = getattr(robot, quantity)
            outputs = [len(each.program.results) for each in (function, function.packed())]
            counts = {"instructions": function.operations.instructions, "outputs": outputs[0], "packed": outputs[1]}
            rows.append({"robot": name, "quantity": quantity, "method": function.label.method, **counts})
    return rows


def cold(sources: Mapping[str, Source]) -> list[dict[str, Any]]:
    """Seconds of processor time from a file to the first result, with nothing in a cache."""
    rows = []
    with no_cache():
        for name, quantity in (("panda", INVERSE), ("panda", FORWARD), ("talos", INVERSE), ("talos", FORWARD)):
            start = thread_time()
            robot = sources[name].load()
            rest = np.zeros(robot.nv)
            results = getattr(robot, quantity)(robot.coordinates.neutral(), rest, rest)
            seconds = thread_time() - start
            assert all(np.isfinite(each).all() for each in results)
            rows.append({"robot": name, "quantity": quantity, "seconds": seconds})
    return rows


# -- CasADi ------------------------------------------------------------------------------------------------------------


def differentiated(function: Function) -> casadi.Function:
    """linkwork's program of the dynamics, with CasADi's derivatives by q (along its tangent), v and a or tau."""
    inputs = [casadi.SX.sym(port.name, port.size) for port in function.program.inputs]
    result = function.to_casadi()(*inputs)
    by_q, *others = (casadi.jacobian(result, each) for each in inputs)
    if function.tangents:
        tangent = Function(function.tangents["q"], function.label).to_casadi(name="tangent_of_q")
        by_q = by_q @ casadi.sparsify(tangent(inputs[0]))
    return casadi.Function("differentiated", inputs, casadi.cse([result, by_q, *others]))


def casadi_c(
    made: casadi.Function, who: str, inputs: Sequence[np.ndarray], expected: Sequence[np.ndarray], folder: Path
) -> Contender:
    """Generated C, with a loop over a batch that CasADi's ``map`` puts around it, called through ``buffer()``. It
    writes the entries that are not zero by structure."""
    mapped = made.map(FEW)
    generator = casadi.CodeGenerator("made.c")
    generator.add(mapped)
    generator.generate(f"{folder}/")
    command = ["gcc", *OPTIONS, "-shared", "-fPIC", "made.c", "-o", "made.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    buffer, run = casadi.external(mapped.name(), str(folder / "made.so")).buffer()
    for k, array in enumerate(inputs):
        buffer.set_arg(k, memoryview(array))
    outputs = [np.empty((FEW, made.nnz_out(k))) for k in range(made.n_out())]
    for k, array in enumerate(outputs):
        buffer.set_res(k, memoryview(array))
    run()
    for k, (array, right) in enumerate(zip(outputs, expected, strict=True)):
        pattern, dense = made.sparsity_out(k), np.zeros((FEW, *made.size_out(k)))
        dense[:, pattern.row(), pattern.get_col()] = array
        agree(f"{who}, {CASADI}", right, dense.reshape(right.shape), rows=True)
    return Contender(CASADI, Kept(run, buffer, inputs, outputs), (), FEW)
