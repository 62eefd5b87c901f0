"""Writing of LLVM IR as text: unique names, vector types, a table of constants."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .target import ITEM_SIZE, Target

LINE = 64  # bytes of a cache line


@dataclass
class Module:
    """IR text under construction, for one target and one dtype."""

    target: Target
    dtype: str
    functions: list[str] = field(default_factory=list)
    table: dict[str, int] = field(default_factory=dict)  # literal -> index in @table
    declared: set[str] = field(default_factory=set)
    words: dict[tuple[int, ...], str] = field(default_factory=dict)  # constant array -> its name
    bodies: dict[str, Any] = field(default_factory=dict)  # digest of the body of a loop -> its kernel

    def __post_init__(self):
        self.item = ITEM_SIZE[self.dtype]
        self.lanes = self.target.lanes(self.dtype)
        self.real = {8: "double", 4: "float"}[self.item]
        self.integer = f"i{8 * self.item}"
        self.vector = f"<{self.lanes} x {self.real}>"
        self.integers = f"<{self.lanes} x {self.integer}>"
        self.chunk = 16 // self.item  # scalars in 16 bytes
        self.row = self.lanes * self.item  # bytes of one vector

    def once(self, name: str) -> bool:
        """Return whether ``name`` is used for the first time, so that it must be declared."""
        first = name not in self.declared
        self.declared.add(name)
        return first

    def constant_words(self, words: Sequence[int]) -> str:
        """Return the name of a constant array of 64-bit integers; equal arrays share one."""
        name = self.words.get(tuple(words))
        if name is None:
            self.words[tuple(words)] = name = f"@words{len(self.words)}"
            listed = ", ".join(f"i64 {word}" for word in words)
            self.functions.append(f"{name} = internal constant [{len(words)} x i64] [{listed}]")
        return name

    def literal(self, number: float) -> str:
        """Return ``number``, rounded to the dtype, as an exact literal; LLVM writes a float32 with a double's bits."""
        return double_literal(float32(number) if self.item == 4 else number)

    def bits(self, number: float) -> int:
        """Return the bits of a number of the dtype as an integer."""
        kinds = ("<d", "<q") if self.item == 8 else ("<f", "<i")
        return struct.unpack(kinds[1], struct.pack(kinds[0], number))[0]

    @property
    def entry(self) -> str:
        """Type of an entry of @table.

        It is a number if instructions can broadcast it while they read it, else a whole vector, which becomes a memory
        operand like a row of a block. A literal would take a register.
        """
        return self.real if self.target.choices.broadcast else self.vector

    def text(self) -> str:
        numbers = [f"{self.real} {literal}" for literal in self.table]
        if self.entry == self.vector:
            numbers = [f"{self.vector} <{', '.join([number] * self.lanes)}>" for number in numbers]
        table = f"@table = dso_local global [{len(numbers)} x {self.entry}] [{', '.join(numbers)}], align {LINE}"
        return "\n".join([f'target triple = "{self.target.triple}"', table, *self.functions, "!0 = !{}", ""])


def double_literal(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def float32(number: float) -> float:
    """Return the nearest float32; infinity on overflow."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


class Function:
    """One function of a module, written line by line. Use as ``with Function(...) as f``."""

    def __init__(self, module: Module, head: str, volatile: bool = False):
        self.module, self.count = module, 0
        self.volatile = "volatile " if volatile else ""  # LLVM neither merges nor moves volatile accesses
        self.lines = [head + " {"]

    def __enter__(self) -> Function:
        return self

    def __exit__(self, *_):
        self.module.functions.append("\n".join(self.lines) + "\n}\n")

    def do(self, text: str):
        self.lines.append("  " + text)

    def let(self, text: str) -> str:
        """Add an instruction, and return the name of its value."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def label(self, name: str):
        self.lines.append(f"{name}:")

    def start(self, name: str):
        """Continue at a new label."""
        self.do(f"br label %{name}")
        self.label(name)

    def when(self, condition: str, name: str, otherwise: str):
        """Continue at a new label if a condition holds, else jump to another."""
        self.do(f"br i1 {condition}, label %{name}, label %{otherwise}")
        self.label(name)

    def unless(self, condition: str, name: str, otherwise: str):
        """Continue at a new label if a condition does not hold, else jump to another."""
        self.do(f"br i1 {condition}, label %{otherwise}, label %{name}")
        self.label(name)

    @contextmanager
    def counted(self, name: str, count: str | int, step: int = 1) -> Iterator[str]:
        """Write ``for name in range(0, count, step)``, with labels that begin with ``name`` and a number."""
        self.count += 1
        name = f"{name}{self.count}"
        for line in (f"br label %{name}.enter", f"br label %{name}.head"):
            self.do(line)
            self.label(line.split("%")[1])
        self.do(f"%{name} = phi i64 [0, %{name}.enter], [%{name}.after, %{name}.next]")
        self.when(self.let(f"icmp slt i64 %{name}, {count}"), f"{name}.body", f"{name}.end")
        yield f"%{name}"
        self.start(f"{name}.next")
        self.do(f"%{name}.after = add i64 %{name}, {step}")
        self.do(f"br label %{name}.head")
        self.label(f"{name}.end")

    # Memory

    def at(self, base: str, offset: str | int) -> str:
        """Return the address ``base`` plus ``offset`` bytes."""
        return self.let(f"getelementptr i8, ptr {base}, i64 {offset}")

    def load(self, kind: str, base: str, offset: int) -> str:
        """Load a scalar ``offset`` bytes after ``base``."""
        return self.let(f"load {kind}, ptr {self.at(base, offset)}")

    def word(self, base: str, number: int, kind: str = "i64") -> str:
        """Load word ``number`` of 8 bytes after ``base``."""
        return self.load(kind, base, 8 * number)

    def load_row(self, base: str, row: int) -> str:
        """Load vector number ``row`` of the block at ``base``."""
        m = self.module
        return self.let(f"load {self.volatile}{m.vector}, ptr {self.at(base, row * m.row)}, align {m.row}")

    def store_row(self, value: str, base: str, row: int):
        m = self.module
        self.do(f"store {self.volatile}{m.vector} {value}, ptr {self.at(base, row * m.row)}, align {m.row}")

    def constant(self, number: float) -> str:
        """Load a vector of equal numbers from the table."""
        m = self.module
        place = m.table.setdefault(m.literal(number), len(m.table))
        entry = m.item if m.entry == m.real else m.row
        address = f"getelementptr (i8, ptr @table, i64 {place * entry})"
        same = "" if self.volatile else ", !invariant.load !0"
        value = self.let(f"load {self.volatile}{m.entry}, ptr {address}, align {entry}{same}")
        return value if m.entry == m.vector else self.splat(value)

    def splat(self, scalar: str) -> str:
        """Return a scalar in all lanes."""
        m = self.module
        one = self.let(f"insertelement {m.vector} poison, {m.real} {scalar}, i32 0")
        return self.shuffle(one, "poison", [0] * m.lanes)

    # Arithmetic on vectors

    def shuffle(self, a: str, b: str, mask: Sequence[int], lanes: int = 0) -> str:
        """Return elements ``mask`` of ``a`` followed by ``b``, vectors of ``lanes`` lanes (default: the module's)."""
        kind = f"<{lanes or self.module.lanes} x {self.module.real}>"
        places = ", ".join(f"i32 {k}" for k in mask)
        return self.let(f"shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{places}>")

    def riffle(self, a: str, b: str, upper: bool) -> str:
        """Interleave, in every 16 bytes, the scalars of the lower (upper) halves of ``a`` and ``b``."""
        m = self.module
        half = m.chunk // 2
        starts = range(half if upper else 0, m.lanes, m.chunk)
        return self.shuffle(a, b, [s + k + other for s in starts for k in range(half) for other in (0, m.lanes)])

    def units(self, a: str, b: str, chosen: Sequence[tuple[int, int]]) -> str:
        """Return the chosen units of 16 bytes: (0, k) is unit k of ``a``, (1, k) of ``b``."""
        m = self.module
        starts = [which * m.lanes + k * m.chunk for which, k in chosen]
        return self.shuffle(a, b, [s + k for s in starts for k in range(m.chunk)])

    def join(self, parts: Sequence[str], lanes: int) -> str:
        """Concatenate vectors of ``lanes`` lanes, in pairs; their number is a power of two."""
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
        """Return a b + c, rounded once if the processor has fused operations."""
        if self.module.target.fused:
            return self.intrinsic("fma", a, b, c)
        return self.binary("fadd", self.binary("fmul", a, b), c)

    def fms(self, a: str, b: str, c: str) -> str:
        """Return a b - c."""
        if self.module.target.fused:
            return self.intrinsic("fma", a, b, self.negative(c))
        return self.binary("fsub", self.binary("fmul", a, b), c)

    def fnma(self, a: str, b: str, c: str) -> str:
        """Return c - a b."""
        if self.module.target.fused:
            return self.intrinsic("fma", self.negative(a), b, c)
        return self.binary("fsub", c, self.binary("fmul", a, b))
