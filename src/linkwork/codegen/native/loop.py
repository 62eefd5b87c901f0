"""The loop NumPy calls: pack a block of states, run the kernel, unpack, next block.

The last block of a batch repeats its last state in the lanes that are left over and writes back the states there are,
so each state goes through the very same instructions wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from ...program.program import Port, Program
from .blocks import emit_blocks, emit_free
from .emit import Function, Module
from .kernel import Kernel
from .layout import ELEMENTS, NOT_AGAIN, TILES, VECTORS, emit_pack, emit_unpack, tiles_in, tiles_out


@dataclass(frozen=True)
class Argument:
    """A port with what NumPy said about it (IR names): pointer, step from state to state, offsets within a state."""

    port: Port
    label: str
    output: bool
    row: int  # first row in the input or output block
    base: str
    step: str
    offsets: str
    way: str

    def call(self, f: Function, base: str, last: str | int, way: str):
        """Call the function that can pack (unpack) this argument in every way."""
        name = f"@{'unpack' if self.output else 'pack'}{self.port.size}"
        arguments = f"ptr {base}, i64 {self.step}, i64 {last}, ptr {self.offsets}, i64 {way}, ptr {self.block(f)}"
        f.do(f"call void {name}({arguments})")

    def block(self, f: Function) -> str:
        return f.at("%out" if self.output else "%in", self.row * f.module.row)


def emit_loop(module: Module, program: Program, kernel: Kernel):
    """Add ``@loop``, with the signature of a NumPy inner loop, to ``module``. Ports of size zero are no arguments."""
    m = module
    inputs, outputs = ([port for port in side if port.size] for side in (program.inputs, program.outputs))
    ports = (*inputs, *outputs)
    largest = max((port.size for port in ports), default=0)
    flat = ", ".join(f"i64 {k * m.item}" for k in range(largest))
    m.functions.append(f"@flat = internal constant [{largest} x i64] [{flat}]")
    m.functions.append("declare i64 @llvm.smin.i64(i64, i64)")
    for size in sorted({port.size for port in inputs}):
        emit_pack(m, size)
    for size in sorted({port.size for port in outputs}):
        emit_unpack(m, size)
    with Function(m, "define dso_local void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) nounwind") as f:
        blocks = kernel.blocks | {f"offsets{k}": 8 * port.size for k, port in enumerate(ports)}
        emit_blocks(f, blocks)
        count = _word(f, "%dimensions", 0)
        f.do(f"br i1 {f.let(f'icmp sgt i64 {count}, 0')}, label %some, label %end")
        f.label("some")
        arguments = list(_arguments(f, ports, len(inputs)))
        full = f.let(f"and i64 {count}, {-m.lanes}")
        f.do("br label %enter")
        f.label("enter")
        f.do(f"br i1 {f.let(f'icmp sgt i64 {full}, 0')}, label %body, label %tail")
        f.label("body")
        f.do("%start = phi i64 [0, %enter], [%next, %done]")
        _block(f, kernel, arguments, "%start", m.lanes - 1, "full")
        f.do("br label %done")
        f.label("done")
        f.do(f"%next = add i64 %start, {m.lanes}")
        f.do(f"br i1 {f.let(f'icmp slt i64 %next, {full}')}, label %body, label %tail")
        f.label("tail")
        rest = f.let(f"sub i64 {count}, {full}")
        f.do(f"br i1 {f.let(f'icmp sgt i64 {rest}, 0')}, label %partial, label %end")
        f.label("partial")
        _block(f, kernel, arguments, full, f.let(f"sub i64 {rest}, 1"), "partial")
        f.do("br label %end")
        f.label("end")
        emit_free(f, blocks)
        f.do("ret void")


def _arguments(f: Function, ports: Sequence[Port], n_inputs: int) -> Iterator[Argument]:
    """Read what NumPy says; pack the inputs that are the same for all states."""
    stride, row = len(ports), 0
    for k, port in enumerate(ports):
        base = f.let(f"load ptr, ptr {f.at('%args', 8 * k)}")
        step = _word(f, "%steps", k)
        strides = [_word(f, "%steps", stride + d) for d in range(len(port.shape))]
        stride += len(port.shape)
        if k == n_inputs:
            row = 0
        label, output = f"argument{k}", k >= n_inputs
        plan = _plan(f, port, step, strides, f"%offsets{k}", label)
        argument = Argument(port, label, output, row, base, step, *plan)
        yield argument if output else _pack_once(f, argument)
        row += port.size


def _pack_once(f: Function, argument: Argument) -> Argument:
    label = f"{argument.label}.once"
    same = f.let(f"icmp eq i64 {argument.step}, 0")
    f.do(f"br i1 {same}, label %{label}, label %{label}.end")
    f.label(label)
    argument.call(f, argument.base, f.module.lanes - 1, argument.way)
    f.do(f"br label %{label}.end")
    f.label(f"{label}.end")
    return replace(argument, way=f.let(f"select i1 {same}, i64 {NOT_AGAIN}, i64 {argument.way}"))


def _block(f: Function, kernel: Kernel, arguments: list[Argument], start: str, last: str | int, label: str):
    """Pack the inputs of the block of states from ``start`` on, compute, unpack the outputs."""

    def move(outputs: bool):
        for argument in arguments:
            if argument.output == outputs:
                base = f.at(argument.base, f.let(f"mul i64 {start}, {argument.step}"))
                _move(f, argument, base, last, f"{label}.{argument.label}")

    move(outputs=False)
    for name in kernel.functions:
        f.do(f"call void @{name}(ptr %in, ptr %out, ptr %scratch)")
    move(outputs=True)


def _move(f: Function, argument: Argument, base: str, last: str | int, label: str):
    """Pack or unpack one argument; tiles of full blocks, the common case, on the spot, the rest by a call."""
    size = argument.port.size
    tiled = last == f.module.lanes - 1 and size >= f.module.chunk
    ways = f"i64 {NOT_AGAIN}, label %{label}.end" + (f" i64 {TILES}, label %{label}.tiles" if tiled else "")
    f.do(f"switch i64 {argument.way}, label %{label} [{ways}]")
    if tiled:
        rows = [base]
        f.label(f"{label}.tiles")
        for _ in range(1, f.module.lanes):
            rows.append(f.at(rows[-1], argument.step))
        move = tiles_out if argument.output else tiles_in
        move(f, f"{label}.tiles", size, rows, argument.block(f), f"{label}.end")
    f.label(label)
    argument.call(f, base, last, argument.way)
    f.do(f"br label %{label}.end")
    f.label(f"{label}.end")


def _word(f: Function, base: str, index: int) -> str:
    return f.let(f"load i64, ptr {f.at(base, 8 * index)}")


def _plan(f: Function, port: Port, step: str, strides: list[str], table: str, label: str) -> tuple[str, str]:
    """The byte offsets of the scalars of one state (a pointer) and the way to pack them."""
    m = f.module
    contiguous = "true"
    for d, size in enumerate(port.shape):
        if size > 1:  # the stride of a dimension of size 1 means nothing
            fits = f.let(f"icmp eq i64 {strides[d]}, {prod(port.shape[d + 1 :]) * m.item}")
            contiguous = f.let(f"and i1 {contiguous}, {fits}")
    f.do(f"br label %{label}.enter")
    f.label(f"{label}.enter")
    f.do(f"br i1 {contiguous}, label %{label}.end, label %{label}.fill")
    f.label(f"{label}.fill")
    f.do(f"%{label}.k = phi i64 [0, %{label}.enter], [%{label}.next, %{label}.fill]")
    offset = "0"
    for d, size in enumerate(port.shape):
        outer = f.let(f"udiv i64 %{label}.k, {prod(port.shape[d + 1 :])}")
        index = f.let(f"urem i64 {outer}, {size}")
        offset = f.let(f"add i64 {offset}, {f.let(f'mul i64 {index}, {strides[d]}')}")
    f.do(f"store i64 {offset}, ptr {f.let(f'getelementptr i64, ptr {table}, i64 %{label}.k')}")
    f.do(f"%{label}.next = add i64 %{label}.k, 1")
    f.do(f"br i1 {f.let(f'icmp ult i64 %{label}.next, {port.size}')}, label %{label}.fill, label %{label}.end")
    f.label(f"{label}.end")
    offsets = f.let(f"phi ptr [@flat, %{label}.enter], [{table}, %{label}.fill]")
    side_by_side = f.let(f"icmp eq i64 {step}, {m.item}")
    way = f.let(f"select i1 {side_by_side}, i64 {VECTORS}, i64 {ELEMENTS}")
    if port.size >= m.chunk:
        way = f.let(f"select i1 {contiguous}, i64 {TILES}, i64 {way}")
    return offsets, way
