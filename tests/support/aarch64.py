"""Code for AArch64 run on this processor: cross-compiled, linked by Zig, emulated by QEMU.

Functions are called on the arrays of this process: their memory goes to the emulator and comes back changed.
"""

import ctypes
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest

from linkwork.codegen.native.blocks import PYTHON_FUNCTIONS
from linkwork.codegen.native.machine_code import assemble
from linkwork.codegen.native.target import Target
from support.targets import need

NEON = Target("aarch64-unknown-linux-gnu", "neoverse-n1", "", 16, True, 32)
DRIVER = Path(__file__).with_suffix(".c")
LINK = (sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-freestanding", "-ffreestanding", "-nostdlib",
        "-static", "-O2")  # fmt: skip
FLAGS = ("invalid", "divide", "overflow")  # the first bits of FPSR
LINE = 64
GAP = b"\xa5" * LINE  # between arrays; nobody may write there


def qemu() -> str:
    """The emulator; the test that asks is skipped where it cannot run."""
    need(NEON)
    found = shutil.which("qemu-aarch64")
    if found is None:
        pytest.skip("no emulator of AArch64: apt-get install qemu-user")
    return found


@dataclass(frozen=True)
class Call:
    """One call of ``function``. Its arguments are tables of words, which may be addresses within ``arrays``."""

    function: str
    tables: tuple[np.ndarray, ...]
    arrays: Sequence[np.ndarray]


def inner_loop(module: str, arrays: Sequence[np.ndarray]) -> Call:
    """What NumPy would call for inputs and outputs (states, ...)."""
    steps = [x.strides[0] for x in arrays] + [stride for x in arrays for stride in x.strides[1:]]
    tables = ([x.ctypes.data for x in arrays], [len(arrays[0])], steps)
    return Call(f"loop_{module}", tuple(np.array(table, np.int64) for table in tables), arrays)


class Emulator:
    """One program made of ``modules``, IR by name; their function f is called f_name."""

    def __init__(self, folder: Path, modules: Mapping[str, str], target: Target = NEON):
        self.qemu, self.program, self.functions = qemu(), folder / "program", []
        memories = []
        for name, text in modules.items():
            own, renamed = apart(text, name)
            self.functions += [f"{each}_{name}" for each in own if f"@{each}(" in text]
            memories += [f"memory_{name}"] * ("memory" in own)
            (folder / f"{name}.o").write_bytes(assemble(renamed, target))
        (folder / "tables.c").write_text("\n".join(self._tables(memories)))
        objects = (f"{name}.o" for name in modules)
        subprocess.run([*LINK, DRIVER, "tables.c", *objects, "-o", self.program.name], cwd=folder, check=True)

    def _tables(self, memories: Sequence[str]) -> Iterator[str]:
        for kind, names in (("void {}(void)", [*self.functions, *PYTHON_FUNCTIONS]), ("void *{}[]", memories)):
            yield from (f"extern {kind.format(name)};" for name in names)
        for kind, names in (
            ("void (*const functions[])(void)", self.functions),
            ("void **const memories[]", [*memories, "0"]),
            ("void (*const python[])(void)", PYTHON_FUNCTIONS),
        ):
            yield f"{kind} = {{{', '.join(names)}}};"
        yield f"const long python_functions = {len(PYTHON_FUNCTIONS)};\n"

    def run(self, calls: Iterable[Call]) -> list[set[str]]:
        """Make the calls, one after another: the floating point flags that each of them raised."""
        images = [Image(call) for call in calls]
        question = b"".join(image.question(self.functions) for image in images)
        answer = BytesIO(subprocess.run([self.qemu, self.program], input=question, stdout=PIPE, check=True).stdout)
        flags = []
        for image in images:
            (raised,) = struct.unpack("<q", answer.read(8))
            image.bring_back(answer.read(len(image.memory)))
            flags.append({name for k, name in enumerate(FLAGS) if raised >> k & 1})
        assert not answer.read()
        return flags


def apart(text: str, name: str) -> tuple[list[str], str]:
    """The names that a module shows to others, and the module with ``_name`` after each, so that many can be linked."""
    own = re.findall(r"^(?:define dso_local [^@]*)?@(\w+)(?= = dso_local|\()", text, re.M)
    return own, re.sub(rf"@({'|'.join(own)})\b", rf"@\1_{name}", text)


class Image:
    """The memory of one call: arrays lie on their cache lines as they do here, those that overlap overlap there."""

    def __init__(self, call: Call):
        self.call, self.memory, self.links = call, bytearray(), []
        self.blocks: list[tuple[int, int, int]] = []  # from, to, where in the image
        for low, high in joined(extent(x) for x in (*call.arrays, *call.tables) if x.size):
            self.memory += GAP + bytes((low - len(self.memory)) % LINE)
            self.blocks.append((low, high, len(self.memory)))
            self.memory += ctypes.string_at(low, high - low)
        self.memory += GAP
        for table in call.tables:
            start = self._place(table.ctypes.data)
            for k, word in enumerate(table.tolist()):
                if (place := self._place(word)) is not None:
                    self.links.append(start + 8 * k)
                    struct.pack_into("<q", self.memory, self.links[-1], place)

    def _place(self, address: int) -> int | None:
        return next((at + address - low for low, high, at in self.blocks if low <= address < high), None)

    def question(self, functions: Sequence[str]) -> bytes:
        """What the driver reads: struct call, links, memory."""
        places = [self._place(table.ctypes.data) for table in self.call.tables]
        places += [0] * (4 - len(places))
        head = (functions.index(self.call.function), len(self.memory), len(self.links), *places)
        return struct.pack("<7q", *head) + struct.pack(f"<{len(self.links)}q", *self.links) + self.memory

    def bring_back(self, memory: bytes) -> None:
        """What the call made of the arrays; it must have left alone what lies between them, and its tables."""
        tables = {table.ctypes.data for table in self.call.tables}
        before = 0
        for low, high, at in self.blocks:
            assert memory[before:at] == self.memory[before:at], "written beside an array"
            before = at + high - low
            if low not in tables:
                ctypes.memmove(low, memory[at:before], high - low)
        assert memory[before:] == self.memory[before:], "written beside an array"


def extent(array: np.ndarray) -> tuple[int, int]:
    """The addresses from the first to after the last byte of an array of any strides."""
    reach = [(size - 1) * stride for size, stride in zip(array.shape, array.strides)]
    return array.ctypes.data + sum(min(r, 0) for r in reach), array.ctypes.data + sum(
        max(r, 0) for r in reach
    ) + array.itemsize


def joined(extents: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping ones made one, in their order."""
    together: list[tuple[int, int]] = []
    for low, high in sorted(extents):
        if together and low < together[-1][1]:
            together[-1] = together[-1][0], max(high, together[-1][1])
        else:
            together.append((low, high))
    return together
