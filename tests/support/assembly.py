"""What LLVM emits for x86-64 (in AT&T's spelling) and AArch64, read: what an instruction is there for."""

import re
from dataclasses import dataclass
from itertools import takewhile

from llvmlite import binding

from linkwork.codegen.native.target import Target
from support.aarch64 import NEON
from support.targets import need

LINUX = "x86_64-unknown-linux-gnu"
TARGETS = {
    "AVX-512": Target(LINUX, "skylake-avx512", "", 64, True, 32),
    "AVX2": Target(LINUX, "haswell", "", 32, True),
    "AVX": Target(LINUX, "sandybridge", "", 32, False),
    "SSE2": Target(LINUX, "x86-64", "", 16, False),
    "NEON": NEON,
}
REGISTERS = {64: r"%zmm", 32: r"%ymm", 16: r"%xmm|\b[vq]\d"}  # vectors, by their bytes
ARITHMETIC = {  # kind of operation: mnemonics; on x86-64 without v, the order of the operands and the type
    "add": "f?add|f?sub",
    "multiply": "f?mul",
    "divide": "f?div",
    "root": "f?sqrt",
    "fused": "fn?m(?:add|sub)|fmla|fmls",
}
KINDS = "|".join(f"(?P<{kind}>{names})" for kind, names in ARITHMETIC.items())
MNEMONIC = re.compile(rf"v?(?:{KINDS})(?:132|213|231)?(?P<one>s[sd])?(?:p[sd])?")
PLACE = re.compile(r"(?P<x86>-?\d*)\(%(?!rip)\w+\)|\[(?:x\d+|sp)(?:, #(?P<arm>-?\d+))?\]")


@dataclass(frozen=True)
class Instruction:
    name: str
    operands: str

    def on_vectors(self, target: Target) -> bool:
        """Whether it works on whole registers."""
        return bool(re.search(REGISTERS[target.vector_bytes], self.operands)) and not self._parts["one"]

    @property
    def arithmetic(self) -> str:
        """The kind of floating point operation, if it is one."""
        parts = self._parts if re.search(r"%[xyz]mm|\b[vds]\d", self.operands) else {}
        return next((kind for kind in ARITHMETIC if parts.get(kind)), "")

    @property
    def _parts(self) -> dict[str, str | None]:
        match = MNEMONIC.fullmatch(self.name)
        return match.groupdict() if match else {"one": None}

    @property
    def calls(self) -> bool:
        return self.name.startswith("call") or self.name in ("bl", "blr")

    @property
    def returns(self) -> bool:
        return self.name.startswith("ret")

    @property
    def offset(self) -> int | None:
        """Bytes from the register that tells where in memory, if one does; tables of constants have none."""
        found = PLACE.search(self.operands)
        return found and int(found["x86"] or found["arm"] or 0)

    @property
    def in_memory(self) -> bool:
        return bool(re.search(r"[([]", re.sub(r"\.[ds]\[\d\]", "", self.operands)))

    @property
    def on_stack(self) -> bool:
        return bool(re.search(r"\(%r[sb]p|\[(?:sp|x29)", self.operands))

    @property
    def bears_any_address(self) -> bool:
        """A move that would do its work across cache lines, too: what LLVM takes where it cannot tell."""
        return bool(re.fullmatch(r"v?mov(?:up[sd]|dqu\d*)", self.name))


@dataclass(frozen=True)
class Code:
    """A module of IR compiled for a target: the instructions of its functions by name."""

    target: Target
    functions: dict[str, list[Instruction]]

    @property
    def kernel(self) -> dict[str, list[Instruction]]:
        return {name: body for name, body in self.functions.items() if name.startswith("kernel")}


def compiled(text: str, target: Target) -> Code:
    need(target)
    emitted = target.machine().emit_assembly(binding.parse_assembly(text, binding.create_context()))
    functions = {}
    for name, body in re.findall(r"^(\w+):[^\n]*\n(.*?)^\.Lfunc_end", emitted, re.M | re.S):
        functions[name] = [Instruction(*line) for line in re.findall(r"^\t([a-z][\w.]*)[ \t]*([^\n]*)", body, re.M)]
    return Code(target, functions)


def straight_on(body: list[Instruction]) -> list[Instruction]:
    """What runs if no branch is taken: rare cases stand after the end."""
    return list(takewhile(lambda each: not each.returns, body))


def frame(body: list[Instruction]) -> int:
    """Bytes of the stack that a function takes."""
    taken = 0
    for each in body:
        if each.name.startswith("push"):
            taken += 8
        elif each.name in ("sub", "subq"):
            if found := re.fullmatch(r"\$(\d+), %rsp|(?:sp|x9), (?:sp|x9), #(\d+)(?:, lsl #(\d+))?", each.operands):
                taken += int(found[1] or found[2]) << int(found[3] or 0)
        elif found := re.search(r"\[sp, #-(\d+)\]!", each.operands):
            taken += int(found[1])
    return taken
