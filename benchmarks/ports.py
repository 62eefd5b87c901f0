"""Predicted cycles of a kernel on other processors: llvm-mca (Debian's llvm) evaluates its instructions.

    python benchmarks/ports.py [ROBOT [QUANTITY]]

llvm-mca knows the ports of a processor and how long each instruction takes. It knows nothing of caches, of branches and
of reloads that wait for their spill. So its figures are what the kernel, sines included, cannot beat; packing and
unpacking of states come on top.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from llvmlite import binding

import linkwork
from linkwork.codegen.native import ir_text
from linkwork.codegen.native.target import Target
from linkwork.program import Program

BLOCKS = 50  # one after another: what they overlap is counted once
X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
PROCESSORS = {
    target.cpu: target
    for target in (
        Target(X86, "skylake-avx512", "", 64, True, 32),
        Target(X86, "icelake-server", "", 64, True, 32),
        Target(X86, "haswell", "", 32, True),
        Target(X86, "znver3", "", 32, True),
        Target(X86, "nehalem", "", 16, False),
        # LLVM 14 counts with the ports of the Cortex-A57 for all of Arm's own processors, the Neoverse too.
        Target(ARM, "cortex-a72", "", 16, True, 32),
        Target(ARM, "apple-m1", "", 16, True, 32),
    )
}


def ports(program: Program, processor: str, dtype: str = "float64") -> dict[str, Any]:
    """What one block of states (as many as there are lanes) takes on a processor of ``PROCESSORS``.

    ``cycles`` of a block among others, ``cycles_alone`` from its first load to its last store, ``cycles_per_state``;
    ``instructions`` of a block; ``busy``: the share of the cycles in which each port works, the busiest first;
    ``bound``: that port, or "latency" if it rests for more than a tenth.
    """
    target = PROCESSORS[processor]
    block = list(kernel(program, target, dtype))
    many, alone = (_analysed(block, target, count) for count in (BLOCKS, 1))
    view = many["CodeRegions"][0]
    cycles = view["SummaryView"]["TotalCycles"] / BLOCKS
    used: Counter[str] = Counter()
    for row in view["ResourcePressureView"]["ResourcePressureInfo"]:
        if row["InstructionIndex"] == len(block):  # the sum of all
            used[_readable(many["TargetInfo"]["Resources"][row["ResourceIndex"]])] += row["ResourceUsage"]
    busy = {port: count / cycles for port, count in used.most_common()}
    port, share = next(iter(busy.items()))
    lanes = target.lanes(dtype)
    return {
        "processor": processor, "lanes": lanes, "instructions": len(block), "cycles": cycles,
        "cycles_per_state": cycles / lanes, "cycles_alone": alone["CodeRegions"][0]["SummaryView"]["TotalCycles"],
        "busy": busy, "bound": port if share > 0.9 else "latency",
    }  # fmt: skip


def kernel(program: Program, target: Target, dtype: str = "float64") -> Iterator[str]:
    """The instructions that compute one block, as long as no angle is huge."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    text = ir_text(program, dtype, target)
    emitted = target.machine().emit_assembly(binding.parse_assembly(text, binding.create_context()))
    for body in re.findall(r"^kernel\d+:[^\n]*\n(.*?)^\.Lfunc_end", emitted, re.M | re.S):
        for mnemonic, operands in re.findall(r"^\t([a-z][\w.]*)[ \t]*([^\n]*)", body, re.M):
            if mnemonic.startswith("ret"):
                break  # what comes after is for huge angles
            if not re.match(r"j|b$|b\.|cb|tb", mnemonic):
                yield f"{mnemonic} {operands}"


def _analysed(block: list[str], target: Target, count: int) -> dict[str, Any]:
    # LLVM's tables have plain loads of 512 bits share a port with the arithmetic, but for this one. They do not.
    lines = [re.sub(r"^vmov[au]p[sd] (?=[^%]*\(.*%zmm)", "vmovntdqa ", line) for line in block]
    command = ["llvm-mca", f"-mtriple={target.triple}", f"-mcpu={target.cpu}", f"-iterations={count}", "-json"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _readable(port: str) -> str:
    """llvm-mca 14 writes the numbers of like ports as characters of these numbers."""
    return "".join(str(ord(letter)) if letter < " " else letter for letter in port)


def main(robot: str = "panda", quantity: str = "inverse_dynamics") -> None:
    if not shutil.which("llvm-mca"):
        sys.exit("llvm-mca is missing: apt-get install llvm")
    program = linkwork.load(robot).compile(quantity).program
    print(f"{robot}, {quantity}: cycles\n{'':16}lanes  a state  a block  alone  bound by, and how busy the ports are")
    for processor in PROCESSORS:
        it = ports(program, processor)
        busy = ", ".join(f"{port} {share:.0%}" for port, share in list(it["busy"].items())[:4])
        numbers = f"{it['lanes']:5}{it['cycles_per_state']:9.1f}{it['cycles']:9.0f}{it['cycles_alone']:7}"
        print(f"{processor:16}{numbers}  {it['bound']} ({busy})")


if __name__ == "__main__":
    main(*sys.argv[1:])
