"""The target processor: name, features, width of vectors, fused operations.

Every choice that depends on it is here, with the measurement behind it.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, replace
from functools import cache, cached_property
from threading import RLock

ITEM_SIZE = {"float64": 8, "float32": 4}
OPTIMISATION = (
    1  # level of LLVM's code generator; levels 2 and 3 gave the same speed, as programs are already optimised
)

LOCK = RLock()  # held during every use of LLVM
if hasattr(os, "register_at_fork"):
    # Fork only while LLVM is not in use: the threads that use it do not exist in the child.
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


@dataclass(frozen=True)
class Choices:
    """Settings of code generation that depend on the processor."""

    registers: int  # for values of a program; two more are left for temporaries of an instruction
    reach: int  # a value in memory is loaded to a register if its next use is at most this many instructions away
    reorder: bool  # whether to change the order of instructions to reduce waits
    sines: int  # number of sines computed together, as registers allow
    broadcast: bool  # whether constants are single numbers in memory, which instructions broadcast while they read them
    segment: int  # instructions in a function
    pairs: int  # programs with at least this many instructions run two blocks side by side, function by function


@dataclass(frozen=True)
class Target:
    """A processor in LLVM's terms. ``vector_bytes`` is the width of its vector registers."""

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    fused: bool  # whether it has fused multiply-add; otherwise FMA becomes a product and a sum
    registers: int = 16  # for vectors

    @cached_property
    def half(self) -> Target:
        """The same processor with half the lanes if vectors have 64 bytes; results have the same bits.

        Few states take less time so: with 32 bytes the processor has a higher clock rate and divides faster.
        """
        return replace(self, vector_bytes=32) if self.vector_bytes == 64 else self

    @property
    def choices(self) -> Choices:
        if self.vector_bytes == 64:
            return WIDE
        if self.registers == 16:
            return FEW
        return ARM if self.triple.startswith(("aarch64", "arm64")) else MANY

    def lanes(self, dtype: str) -> int:
        return self.vector_bytes // ITEM_SIZE[dtype]

    @property
    def identity(self) -> str:
        """Everything about processor and compiler that determines object code."""
        import llvmlite
        from llvmlite import binding

        compiler = f"llvmlite {llvmlite.__version__}, LLVM {binding.llvm_version_info}"
        vectors = f"{self.registers} of {self.vector_bytes}"
        return f"{self.triple}, {self.cpu}, {self.features}, {vectors}, {self.fused}, {compiler}"

    def machine(self):
        """Return LLVM's TargetMachine."""
        from llvmlite import binding

        # Small code model: tables and code of an object are close together, so constants can be memory operands.
        return binding.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, opt=OPTIMISATION, reloc="pic", codemodel="small", jit=True
        )


# Measured on an Emerald Rapids Xeon, in batches of 4096 states; for few registers with its 256-bit instructions.
# - registers: 28 to 31 and 13 to 15 are within 3 %, but 31 costs Talos' inverse dynamics 15 %.
# - reach: 30 to 120 are within 1 %; with few registers 40 saves 3 % of Talos' inverse dynamics against 20.
# - reorder: Panda's forward dynamics 28.4 -> 26.0 ns with wide vectors; with few registers it spills twice as much.
# - sines: with wide vectors 6 save 5 % against 3 (UR5); with few registers 3 save 3 % against 1 or 2.
# - broadcast: a constant takes 8 bytes of the cache instead of 64. Older instructions need a register for it: +5 %.
# - segment: every split costs time, one split of Talos' inverse dynamics 129 -> 154 ns; LLVM's time per instruction
#   grows by a tenth from 2000 to 4000, and by a quarter to 8000. For ARM it is three times as long in functions of 8000
#   as of 500, and they take 21 kB of the stack against 3.
# - ARM: no instruction takes an operand from memory, so LLVM needs two registers more; by llvm-mca's model of the Apple
#   M1, Panda's inverse dynamics 447 -> 427 cycles per block, a quadruped's forward dynamics 2071 -> 1830.
# - pairs: the code of such a long program does not stay in the first-level cache. With 32 bytes Talos' forward dynamics
#   (6.5 thousand instructions) takes 502 -> 410 ns, with few registers 532 -> 437; its inverse dynamics (2.4 thousand)
#   149 -> 188. With 64 bytes two blocks do not fit into the first-level data cache: 302 -> 306.
NO_PAIRS = 1 << 60
WIDE = Choices(registers=30, reach=60, reorder=True, sines=6, broadcast=True, segment=4000, pairs=NO_PAIRS)
MANY = Choices(registers=30, reach=60, reorder=True, sines=4, broadcast=True, segment=4000, pairs=4000)
FEW = Choices(registers=14, reach=40, reorder=False, sines=3, broadcast=False, segment=4000, pairs=4000)
ARM = Choices(registers=28, reach=60, reorder=True, sines=4, broadcast=False, segment=1000, pairs=4000)


@cache
def host() -> Target:
    """Return the machine that runs this Python."""
    from llvmlite import binding

    with LOCK:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        features = binding.get_host_cpu_features()
        triple, cpu = binding.get_process_triple(), binding.get_host_cpu_name()
    arm = platform.machine().lower() in ("arm64", "aarch64")
    wide = bool(features.get("avx512f") and features.get("avx512vl") and features.get("avx512dq"))
    return Target(
        triple=triple,
        cpu=cpu,
        features=features.flatten(),
        vector_bytes=64 if wide else 32 if features.get("avx") else 16,
        fused=arm or bool(features.get("fma")),
        registers=32 if arm or wide else 16,
    )
