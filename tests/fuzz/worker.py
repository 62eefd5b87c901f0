"""Opens hostile files one after another, each within limits of time and memory, in a process of its own.

    python tests/fuzz/worker.py FOLDER SECONDS FIRST END KIND ...

Prints a line as each case begins and one for each failure; the files of failed cases stay in FOLDER. A case that takes
too long, or crashes, ends the process: the last line tells which.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

from kinds import KINDS, case

from linkwork.errors import LONGEST, LinkworkError

PROCESSOR_TIME = 5  # seconds of one case
PATIENCE = 60  # seconds, if it waits for something
MEMORY = 2**29  # bytes more than at the start


def main(folder: Path, seconds: float, first: int, end: int, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)  # MuJoCo writes a log
    examples = {}
    for name in names:
        made = folder / f"{name} examples"
        made.mkdir(exist_ok=True)
        examples[name] = KINDS[name].examples(made)
    for name in names:
        for files in examples[name]:  # so that all that is imported late is there, and the examples are good
            KINDS[name].open(_laid_out(folder / name / "good", files))
    limit_memory()
    until = time.monotonic() + seconds
    for number in range(first, end):
        for name in names:
            if time.monotonic() > until:
                return
            at = folder / name / str(number)
            print("case", name, number, flush=True)
            fault = opened(name, _laid_out(at, case(name, examples[name], number)))
            if fault:
                print("fault", name, number, repr(fault), flush=True)
            else:
                shutil.rmtree(at)


def _laid_out(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def opened(name: str, folder: Path) -> str:
    """What is wrong with how the files were opened; nothing if they load or are refused well."""
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_TIME)  # the signals end the process
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        KINDS[name].open(folder)
    except LinkworkError as error:
        length = len(str(error))
        return f"a message of {length} characters: {str(error)[:200]}" if length > LONGEST else ""
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:300]} ({Path(place.filename).name}: {place.lineno})"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def limit_memory() -> None:
    """Where the system tells how much there is already."""
    status = Path("/proc/self/status")
    if status.exists():
        used = next(
            int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmData")
        )
        resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, used + MEMORY))


if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)  # numbers that left their range unnoticed
    warnings.simplefilter("ignore", UserWarning)
    folder, seconds, first, end, *names = sys.argv[1:]
    main(Path(folder).resolve(), float(seconds), int(first), int(end), names)
