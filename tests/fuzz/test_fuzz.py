"""Hostile files of every kind load or are refused: by a LinkworkError of bounded length, in bounded time and memory.

Cases are numbered and always the same. ``LINKWORK_FUZZ_SECONDS=600 pytest tests/fuzz`` goes on from them for so long.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs limits of processes")

SECONDS = float(os.environ.get("LINKWORK_FUZZ_SECONDS", 0))
WORKER = Path(__file__).parent / "worker.py"
CASES = 110  # of each kind
GROUPS = {
    "robots": ("urdf", "mjcf", "tree", "kinds of joints", "standard", "links that bend"),
    "loops": ("structure", "loops", "parallel"),
    "others": ("study", "parameters", "function"),
    "logs": ("log npz", "log csv", "log parquet", "log txt"),
    "trajectories": ("npz", "csv", "parquet", "npy folder", *(["zarr"] if sys.version_info >= (3, 11) else [])),
}


@pytest.mark.parametrize("group", GROUPS)
def test_hostile_files(group, tmp_path):
    faults, first = [], 0
    end, seconds = (10**9, SECONDS / len(GROUPS)) if SECONDS else (CASES, 10**6)
    while first < end and len(faults) < 100:
        words = [str(tmp_path), str(seconds), str(first), str(end), *GROUPS[group]]
        done = subprocess.run([sys.executable, str(WORKER), *words], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        faults += [line for line in lines if line.startswith("fault")]
        if done.returncode == 0:
            break
        assert lines, done.stderr  # not even the good files
        ended = signal.Signals(-done.returncode).name if done.returncode < 0 else done.stderr[-500:]
        faults.append(f"{lines[-1]} ended the process: {ended}")
        first = int(lines[-1].split()[-1]) + 1
    assert not faults, f"files are in {tmp_path}:\n" + "\n".join(faults)
