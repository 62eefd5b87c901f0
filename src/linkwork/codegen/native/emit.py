"""Writing LLVM IR as text: fresh names, vector types, a table of constants."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from .target import ITEM_SIZE, Target


@dataclass
class Module:
    """IR text in the making, for one target and one dtype."""

    target: Target
    dtype: str
    functions: list[str] = field(default_factory=list)
    table: dict[str, int] = field(default_factory=dict)  # literal -> its row of @table
    copies: int = 1  # registers that one vector takes
    declared: set[str] = field(default_factory=set)

    def __post_init__(self):
        self.item = ITEM_SIZE[self.dtype]
        self.lanes = self.target.lanes(self.dtype) * self.copies
        self.real = {8: "double", 4: "float"}[self.item]
        self.integer = f"i{8 * self.item}"
        self.vector = f"<{self.lanes} x {self.real}>"
        self.integers = f"<{self.lanes} x {self.integer}>"
        self.chunk = 16 // self.item  # scalars in 16 bytes
        self.row = self.lanes * self.item  # bytes of one vector

    def once(self, name: str) -> bool:
        """Is this the first time ``name`` is asked for, so that it must be declared?"""
        first = name not in self.declared
        self.declared.add(name)
        return first

    def literal(self, number: float) -> str:
        """``number`` rounded to the dtype, spelt exactly; LLVM writes float32 with the bits of a double too."""
        return double_literal(float32(number) if self.item == 4 else number)

    def constant_row(self, number: float) -> int:
        """The row of @table that holds a number."""
        return self.table.setdefault(self.literal(number), len(self.table))

    def text(self) -> str:
        rows = (f"{self.vector} <{', '.join([f'{self.real} {literal}'] * self.lanes)}>" for literal in self.table)
        # Whole vectors in memory fold into the arithmetic; a splat literal would be a broadcast and a register.
        table = f"@table = dso_local global [{len(self.table)} x {self.vector}] [{', '.join(rows)}], align {self.row}"
        return "\n".join([f'target triple = "{self.target.triple}"', table, *self.functions, "!0 = !{}", ""])


def double_literal(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def float32(number: float) -> float:
    """The nearest float32, overflow giving infinity."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


class Function:
    """One function of a module, written line by line. Use as ``with Function(...) as f``."""

    def __init__(self, module: Module, head: str):
        self.module, self.count = module, 0
        self.lines = [head + " {"]

    def __enter__(self) -> Function:
        return self

    def __exit__(self, *_):
        self.module.functions.append("\n".join(self.lines) + "\n}\n")

    def do(self, text: str):
        self.lines.append("  " + text)

    def let(self, text: str) -> str:
        """Name the value of ``text``."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def label(self, name: str):
        self.lines.append(f"{name}:")

    # Memory

    def at(self, base: str, offset: str | int) -> str:
        """``base`` moved by ``offset`` bytes."""
        return self.let(f"getelementptr i8, ptr {base}, i64 {offset}")

    def load_row(self, base: str, row: int) -> str:
        """Vector number ``row`` of the block at ``base``."""
        m = self.module
        return self.let(f"load {m.vector}, ptr {self.at(base, row * m.row)}, align {m.row}")

    def store_row(self, value: str, base: str, row: int):
        m = self.module
        self.do(f"store {m.vector} {value}, ptr {self.at(base, row * m.row)}, align {m.row}")

    def constant(self, number: float) -> str:
        """A vector of equal numbers, loaded from the table."""
        m = self.module
        row = m.constant_row(number)
        lanes, bytes_ = m.lanes // m.copies, m.row // m.copies
        place = f"getelementptr (i8, ptr @table, i64 {row * bytes_})"
        value = self.let(f"load <{lanes} x {m.real}>, ptr {place}, align {bytes_}, !invariant.load !0")
        return value if m.copies == 1 else self.shuffle(value, value, [k % lanes for k in range(m.lanes)], lanes)

    # Arithmetic on vectors

    def shuffle(self, a: str, b: str, mask: Sequence[int], lanes: int = 0) -> str:
        """Elements ``mask`` of ``a`` followed by ``b``, vectors of ``lanes`` lanes (the module's if not said)."""
        kind = f"<{lanes or self.module.lanes} x {self.module.real}>"
        places = ", ".join(f"i32 {k}" for k in mask)
        return self.let(f"shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{places}>")

    def join(self, parts: Sequence[str], lanes: int) -> str:
        """One vector from a power of two of vectors of ``lanes`` lanes, joined in pairs."""
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts, lanes = [self.shuffle(a, b, range(2 * lanes), lanes) for a, b in pairs], 2 * lanes
        return parts[0]

    def binary(self, operation: str, a: str, b: str) -> str:
        return self.let(f"{operation} {self.module.vector} {a}, {b}")

    def negative(self, a: str) -> str:
        return self.let(f"fneg {self.module.vector} {a}")

    def intrinsic(self, name: str, *args: str) -> str:
        m = self.module
        suffix = f"v{m.lanes}f{8 * m.item}"
        return self.let(f"call {m.vector} @llvm.{name}.{suffix}({', '.join(f'{m.vector} {a}' for a in args)})")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once where the processor can."""
        if self.module.target.fused:
            return self.intrinsic("fma", a, b, c)
        return self.binary("fadd", self.binary("fmul", a, b), c)

    def fms(self, a: str, b: str, c: str) -> str:
        """a b - c."""
        if self.module.target.fused:
            return self.intrinsic("fma", a, b, self.negative(c))
        return self.binary("fsub", self.binary("fmul", a, b), c)

    def fnma(self, a: str, b: str, c: str) -> str:
        """c - a b."""
        if self.module.target.fused:
            return self.intrinsic("fma", self.negative(a), b, c)
        return self.binary("fsub", c, self.binary("fmul", a, b))
