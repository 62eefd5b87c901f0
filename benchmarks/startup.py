"""Time to the first result, each in a fresh process, with an empty cache of compiled code and with a filled one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from statistics import median
from typing import Any

from robots import SOURCES

BYTECODE = tempfile.TemporaryDirectory()
FIRST_RESULT = """
import json, sys, time
start = time.perf_counter()
import linkwork
linkwork.load  # imports what it takes
imported = time.perf_counter()
import numpy
robot, quantity, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
loading = time.perf_counter()
robot = linkwork.load(robot, **options)
q = numpy.zeros(robot.nq)
if robot.nq > robot.nv:
    q[6] = 1
rates = numpy.zeros(robot.nv)
result = getattr(robot, quantity)(q, rates, rates)
end = time.perf_counter()
assert numpy.isfinite(result).all()
print(json.dumps({"import": imported - start, "first": end - loading}))
"""


def _fresh_process(cache: str, robot: str, quantity: str, options: dict[str, Any]) -> dict[str, float]:
    """With Python's own bytecode kept from one process to the next, as an installed package has it."""
    environment = {**os.environ, "LINKWORK_CACHE": cache, "PYTHONPYCACHEPREFIX": BYTECODE.name}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", FIRST_RESULT, robot, quantity, json.dumps(options)]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def startup(processes: int) -> dict[str, dict[str, Any]]:
    """Median seconds over ``processes`` fresh processes each (wall time; talos takes fewer)."""
    panda, talos = ("panda", "inverse_dynamics", {}), (SOURCES["talos"].path, "forward_dynamics", {"base": "floating"})
    cold, cached, slow = [], [], []
    with tempfile.TemporaryDirectory() as cache:
        _fresh_process(cache, *panda)  # writes the bytecode
    for k in range(processes):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_fresh_process(cache, *panda))
            cached.append(_fresh_process(cache, *panda))
        if k < 3:
            with tempfile.TemporaryDirectory() as cache:
                slow.append(_fresh_process(cache, *talos))
    return {
        "panda, load to first inverse dynamics, cold": _median([run["first"] for run in cold]),
        "panda, load to first inverse dynamics, cached": _median([run["first"] for run in cached]),
        "talos, load to first forward dynamics, cold": _median([run["first"] for run in slow]),
        "import linkwork": _median([run["import"] for run in (*cold, *cached)]),
    }


def _median(runs: list[float]) -> dict[str, Any]:
    return {"seconds": median(runs), "lowest": min(runs), "highest": max(runs), "runs": runs}
