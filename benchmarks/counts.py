"""Operations per state, compared with Pinocchio's, which are recorded by running it on CasADi symbols."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import casadi
import pinocchio as pin
from robots import Case

import linkwork

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "inertia_matrix")

# (mul, add, div) of rnea, aba and crba of Pinocchio 4.1, traced with CasADi SX, after common-subexpression elimination,
# standard parameters, frames of the URDF. Taken once with a Pinocchio built with CasADi; the wheel on PyPI is built
# without. Divisions were listed for aba only.
TRACED = {
    "puma560": ((331, 245, 0), (674, 519, 23), (184, 157, 0)),
    "ur5": ((323, 233, 0), (716, 532, 21), (146, 132, 0)),
    "panda": ((556, 451, 0), (1050, 865, 31), (362, 315, 0)),
    "anymal": ((1343, 1148, 0), (3007, 2640, 116), (645, 617, 0)),
    "talos": ((3269, 2752, 0), (7090, 6056, 234), (2725, 2232, 0)),
}


def operations(cases: dict[str, Case]) -> list[dict[str, Any]]:
    """For every robot and quantity the operations of linkwork's program, those of the trace, and which is fewer."""
    rows = []
    for name, table in TRACED.items():
        robot = cases[name].robot if name in cases else linkwork.load(name, friction=False, rotors=False)
        live = trace(cases[name].pinocchio) if name in cases else None
        for quantity, reference in zip(QUANTITIES, live or table, strict=True):
            function = getattr(robot, quantity)
            count = function.operations
            below = count.mul < reference[0] and count.add < reference[1]
            rows.append(
                {
                    "robot": name,
                    "quantity": quantity,
                    "method": function.label.method,
                    "linkwork": asdict(count),
                    "traced": dict(zip(("mul", "add", "div"), reference, strict=True)),
                    "live": live is not None,
                    "below": below and (not reference[2] or count.div <= reference[2]),
                }
            )
    return rows


def trace(model: pin.Model) -> list[tuple[int, int, int]] | None:
    """(mul, add, div) of rnea, aba and crba, counted now; None where Pinocchio is built without CasADi."""
    try:
        import pinocchio.casadi as symbolic
    except ImportError:
        return None
    copy = symbolic.Model(model)
    q, v, x = casadi.SX.sym("q", model.nq), casadi.SX.sym("v", model.nv), casadi.SX.sym("x", model.nv)
    results = (
        symbolic.rnea(copy, copy.createData(), q, v, x),
        symbolic.aba(copy, copy.createData(), q, v, x),
        casadi.triu(symbolic.crba(copy, copy.createData(), q)),
    )
    return [count_casadi(casadi.Function("traced", [q, v, x], [casadi.cse(result)])) for result in results]


def count_casadi(function: casadi.Function) -> tuple[int, int, int]:
    """(mul, add, div) of the instructions of an SX function."""
    number = Counter(function.instruction_id(k) for k in range(function.n_instructions()))
    return (
        number[casadi.OP_MUL] + number[casadi.OP_SQ],
        number[casadi.OP_ADD] + number[casadi.OP_SUB] + number[casadi.OP_TWICE],
        number[casadi.OP_DIV] + number[casadi.OP_INV],
    )
