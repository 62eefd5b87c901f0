"""Exported C, one state at a time, against CasADi's C of the same program and Pinocchio."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import casadi
import numpy as np
from peers import agree, pinocchio_batch, pinocchio_call
from robots import STATES, Case
from timing import Contender, race, ratio

from linkwork import Function

OPTIONS = ("-O3", "-march=native")
C, FROM_PYTHON = "linkwork, exported C, loop in C", "linkwork, exported C, one call by ctypes"
CASADI = "CasADi, generated C, loop in C"

LOOP = """\
#include <stddef.h>
{declaration}

void many(size_t n, size_t nq, size_t nv, const double *q, const double *v, const double *a, double *tau)
{{
    for (size_t k = 0; k < n; k++, q += nq, v += nv, a += nv, tau += nv) {{
        {call}
    }}
}}
"""
CASADI_DECLARATION = "int casadi_function(const double **, double **, long long *, double *, int);"
CASADI_CALL = """\
const double *arg[{sz_arg}] = {{q, v, a}};
        double *res[{sz_res}] = {{tau}};
        long long iw[{sz_iw}];
        double w[{sz_w}];
        casadi_function(arg, res, iw, w, 0);"""


def exported(case: Case, rounds: int, budget: float) -> dict[str, Any] | None:
    """Inverse dynamics; None where there is no gcc."""
    if not shutil.which("gcc"):
        return None
    function, inputs = case.robot.inverse_dynamics, case.inputs("inverse_dynamics")
    parallel, expected = pinocchio_batch(case, "inverse_dynamics")
    call = pinocchio_call(case, "inverse_dynamics")
    contenders, error = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in ((C, _linkwork), (CASADI, _casadi)):
            library, one = make(function, Path(folder, name.partition(",")[0]))
            out = np.empty_like(expected)
            n, nq, nv = (ctypes.c_size_t(size) for size in (STATES, case.robot.nq, case.robot.nv))
            args = (n, nq, nv, *map(_pointer, (*inputs, out)))
            library.many(*args)
            error[name] = agree(f"{case.source.name}, {name}", expected, out)
            contenders.append(Contender(name, library.many, args, STATES))
            if one is not None:
                contenders.append(Contender(FROM_PYTHON, one, tuple(map(_pointer, (*inputs, out)))))
        times = race([*contenders, call, parallel], rounds, budget)
    return {
        "robot": case.source.name,
        "method": function.label.method,
        "compiler": subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout.splitlines()[0],
        "options": " ".join(OPTIONS),
        "error": error[C],
        "call": call.name,
        "loop": parallel.name,
        "speedup_call": ratio(times[call.name], times[C]),
        "speedup_loop": ratio(times[parallel.name], times[C]),
        "speedup_casadi": ratio(times[CASADI], times[C]),
        "times": times,
    }


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)  # keeps the array alive


def _linkwork(function: Function, folder: Path) -> tuple[ctypes.CDLL, Any]:
    """The library with its loop, and the exported function itself."""
    header = function.to_c(folder)[0]
    call = f"{header.stem}(q, v, a, tau);"
    (folder / "loop.c").write_text(LOOP.format(declaration=f'#include "{header.name}"', call=call))
    library = _compiled(folder, f"{header.stem}.c")
    return library, getattr(library, header.stem)


def _casadi(function: Function, folder: Path) -> tuple[ctypes.CDLL, None]:
    """The same program, instruction by instruction, through CasADi's code generator."""
    translated = function.to_casadi(name="casadi_function")
    generator = casadi.CodeGenerator("generated.c")
    generator.add(translated)
    folder.mkdir()
    generator.generate(f"{folder}/")
    sizes = {name: max(1, getattr(translated, name)()) for name in ("sz_arg", "sz_res", "sz_iw", "sz_w")}
    call = CASADI_CALL.format(**sizes)
    (folder / "loop.c").write_text(LOOP.format(declaration=CASADI_DECLARATION, call=call))
    return _compiled(folder, "generated.c"), None


def _compiled(folder: Path, source: str) -> ctypes.CDLL:
    library = folder / "library.so"
    command = ["gcc", *OPTIONS, "-shared", "-fPIC", source, "loop.c", "-o", str(library), "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(library))
