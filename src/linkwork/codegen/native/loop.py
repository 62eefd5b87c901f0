"""The loop that NumPy calls: pack a block of states, run the kernel, unpack, continue with the next block.

Batches of contiguous arrays go through special code with constant distances. Remaining states, and all other batches,
go through functions for every layout. The last block repeats its last state in the unused lanes, and only real states
are written back. So each state goes through the same instructions at every place in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from ...program.program import Port, Program
from .blocks import emit_blocks, emit_free
from .emit import Function, Module
from .kernel import FEW, Kernel
from .layout import (
    ELEMENTS,
    NOT_AGAIN,
    TILES,
    VECTORS,
    Tile,
    call_mover,
    columns,
    fetch,
    flat_offsets,
    load_tile,
    store_tile,
    tile_table,
    tile_width,
)

INLINE = 16  # tiles of a port up to which the code is unrolled


@dataclass(frozen=True)
class Argument:
    """A port with NumPy's arguments (names in the IR): pointer, step from state to state, offsets within a state."""

    port: Port
    label: str
    number: int  # among the program's inputs or outputs
    output: bool
    row: int  # first row in the input block
    base: str
    step: str
    offsets: str
    way: str


def emit_loop(module: Module, program: Program, kernel: Kernel):
    """Add ``@loop``, with the signature of a NumPy inner loop, to ``module``.

    Ports of size zero are not arguments. ``%data`` is null or points to a word for :func:`.emit_blocks`.
    """
    m = module
    flat_offsets(m, max((port.size for port in (*program.inputs, *program.outputs)), default=0))
    m.functions.append("declare i64 @llvm.smin.i64(i64, i64)")
    with Function(m, "define dso_local void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) nounwind") as f:
        _Writer(f, program, kernel).write()


class _Writer:
    """Writer of the function."""

    def __init__(self, f: Function, program: Program, kernel: Kernel):
        self.f, self.m, self.kernel = f, f.module, kernel
        self.many = len(program.results) > FEW  # then the results do not stay in the first-level cache
        sides = ((program.inputs, False), (program.outputs, True))
        self.ports = [(port, k, output) for ports, output in sides for k, port in enumerate(ports) if port.size]

    def write(self):
        f, m = self.f, self.m
        blocks = {name: self.kernel.together * size for name, size in self.kernel.blocks.items()}
        blocks |= {f"offsets{k}": 8 * port.size for k, (port, *_) in enumerate(self.ports)}
        emit_blocks(f, blocks, "%data")
        count = f.word("%dimensions", 0)
        f.when(f.let(f"icmp sgt i64 {count}, 0"), "some", "end")
        arguments = list(self._arguments())
        self.inputs, self.outputs = ([a for a in arguments if a.output == side] for side in (False, True))
        full = f.let(f"and i64 {count}, {-m.lanes * self.kernel.together}")
        plain = f.let(f"icmp sgt i64 {full}, 0")
        for a in arguments:
            dense = f.let(f"icmp eq i64 {a.step}, {a.port.size * m.item}")
            flat = f.let(f"icmp eq ptr {a.offsets}, @flat")
            plain = f.let(f"and i1 {plain}, {f.let(f'and i1 {flat}, {dense}')}")
        f.start("choose")
        f.when(plain, "plain", "rest")
        self._plain(full)
        f.label("rest")
        f.do(f"%first = phi i64 [0, %choose], [{full}, %plain.end]")
        f.when(f.let(f"icmp slt i64 %first, {count}"), "block", "end")
        f.do("%start = phi i64 [%first, %rest], [%next, %done]")
        states = f.let(f"call i64 @llvm.smin.i64(i64 {f.let(f'sub i64 {count}, %start')}, i64 {m.lanes})")
        self._block("%start", f.let(f"sub i64 {states}, 1"))
        f.start("done")
        f.do(f"%next = add i64 %start, {m.lanes}")
        f.unless(f.let(f"icmp slt i64 %next, {count}"), "end", "block")
        emit_free(f, blocks)
        f.do("ret void")

    # NumPy's arguments

    def _arguments(self) -> Iterator[Argument]:
        """Yield the arguments, and pack the inputs that are the same for all states."""
        f, stride, row = self.f, len(self.ports), 0
        for k, (port, number, output) in enumerate(self.ports):
            base = f.word("%args", k, "ptr")
            step = f.word("%steps", k)
            strides = [f.word("%steps", stride + d) for d in range(len(port.shape))]
            stride += len(port.shape)
            label = f"argument{k}"
            plan = _plan(f, port, step, strides, f"%offsets{k}", label)
            argument = Argument(port, label, number, output, row, base, step, *plan)
            yield argument if output else self._pack_once(argument)
            row += port.size

    def _pack_once(self, argument: Argument) -> Argument:
        f, label = self.f, f"{argument.label}.once"
        same = f.let(f"icmp eq i64 {argument.step}, 0")
        f.do(f"br i1 {same}, label %{label}, label %{label}.end")
        f.label(label)
        self._move(argument, argument.base, self.m.lanes - 1, _tiles(self.m, argument))
        f.start(f"{label}.end")
        return replace(argument, way=f.let(f"select i1 {same}, i64 {NOT_AGAIN}, i64 {argument.way}"))

    # One block of any arrays

    def _block(self, start: str, last: str):
        f = self.f
        for a in self.inputs:
            label = f"block.{a.label}"
            f.do(f"br i1 {f.let(f'icmp eq i64 {a.way}, {NOT_AGAIN}')}, label %{label}.end, label %{label}")
            f.label(label)
            self._move(a, self._at(a, start), last, _tiles(self.m, a))
            f.start(f"{label}.end")
        for function, finished in zip(self.kernel.functions, self.kernel.finished, strict=True):
            f.do(f"call void @{function}(ptr %in, ptr %out, ptr %scratch)")
            for a in self.outputs:
                if tiles := finished.get(a.number):
                    self._move(a, self._at(a, start), last, tiles)

    def _at(self, argument: Argument, state: str) -> str:
        return self.f.at(argument.base, self.f.let(f"mul i64 {state}, {argument.step}"))

    def _move(self, a: Argument, base: str, last: str | int, tiles: Sequence[Tile]):
        where = f"ptr {base}, i64 {a.step}, i64 {last}, ptr {a.offsets}, i64 {a.way}"
        block = "%out" if a.output else "%in"
        table = tile_table(self.m, tiles)
        call_mover(self.f, a.output, a.port.size, f"{where}, ptr {block}, ptr {table}, i64 {len(tiles)}")

    # Contiguous arrays, as many blocks together as the kernel wants

    def _plain(self, full: str):
        """Write the code from label ``plain`` to ``plain.end``, which continues at ``rest``.

        The next blocks are packed before the current ones are unpacked, because a load waits for a recent store whose
        address differs by a multiple of 4096 bytes.
        """
        f, together = self.f, range(self.kernel.together)
        self._pack("0")
        f.start("plain.enter")
        f.start("plain.body")
        f.do("%here = phi i64 [0, %plain.enter], [%ahead, %plain.next]")
        f.do(f"%ahead = add i64 %here, {len(together) * self.m.lanes}")
        for function, finished in zip(self.kernel.functions, self.kernel.finished, strict=True):
            for number in together:
                places = ", ".join(f"ptr {self._place(name, number)}" for name in self.kernel.blocks)
                f.do(f"call void @{function}({places})")
            if function == self.kernel.functions[-1]:
                f.when(f.let(f"icmp slt i64 %ahead, {full}"), "more", "packed")
                self._pack("%ahead")
                f.start("packed")
            for a in self.outputs:
                if tiles := finished.get(a.number):
                    for number in together:
                        self._move_plain(a, "%here", number, tiles)
        f.start("plain.next")
        f.unless(f.let(f"icmp slt i64 %ahead, {full}"), "plain.end", "plain.body")
        f.do("br label %rest")

    def _pack(self, state: str):
        for number in range(self.kernel.together):
            for a in self.inputs:
                self._move_plain(a, state, number, _tiles(self.m, a))

    def _place(self, name: str, number: int) -> str:
        """Return the place of block ``number`` of those that run together."""
        return self.f.at(f"%{name}", number * self.kernel.blocks[name]) if number else f"%{name}"

    def _move_plain(self, a: Argument, first: str, number: int, tiles: Sequence[Tile]):
        """Pack or unpack tiles of block ``number`` after state ``first``; a few tiles are unrolled."""
        f, m, size = self.f, self.m, a.port.size
        block = self._place("out" if a.output else "in", number)
        width, bytes_ = tile_width(m, size), size * m.item
        base = f.at(f.at(a.base, f.let(f"mul i64 {first}, {bytes_}")), number * m.lanes * bytes_)
        far = self.kernel.together * m.lanes * bytes_
        if width == 1 or len(tiles) > INLINE:
            way = TILES if width > 1 else VECTORS if size == 1 else ELEMENTS
            where = f"ptr {base}, i64 {bytes_}, i64 {m.lanes - 1}, ptr @flat, i64 {way}, ptr {block}"
            table = f"ptr {tile_table(m, tiles)}, i64 {len(tiles)}"
            call_mover(f, a.output, size, f"{where}, {table}", far if a.output and self.many else 0)
            return
        for tile in tiles:
            rows = [f.at(base, lane * bytes_ + tile.column * m.item) for lane in range(m.lanes)]
            if a.output:
                if self.many:
                    fetch(f, rows, str(far))
                store_tile(f, [f.load_row(block, tile.row + k) for k in range(width)], rows)
            else:
                for k, value in enumerate(load_tile(f, width, rows)):
                    f.store_row(value, block, tile.row + k)


def _tiles(m: Module, a: Argument) -> list[Tile]:
    """Return the tiles of an input."""
    return [Tile(column, a.row + column) for column in columns(m, a.port.size)]


def _plan(f: Function, port: Port, step: str, strides: list[str], table: str, label: str) -> tuple[str, str]:
    """Return a pointer to the byte offsets of the scalars of one state, and the way to pack them."""
    m = f.module
    contiguous = "true"
    for d, size in enumerate(port.shape):
        if size > 1:  # the stride of a dimension of size 1 means nothing
            fits = f.let(f"icmp eq i64 {strides[d]}, {prod(port.shape[d + 1 :]) * m.item}")
            contiguous = f.let(f"and i1 {contiguous}, {fits}")
    f.start(f"{label}.enter")
    f.unless(contiguous, f"{label}.fill", f"{label}.end")
    f.do(f"%{label}.k = phi i64 [0, %{label}.enter], [%{label}.next, %{label}.fill]")
    offset = "0"
    for d, size in enumerate(port.shape):
        outer = f.let(f"udiv i64 %{label}.k, {prod(port.shape[d + 1 :])}")
        index = f.let(f"urem i64 {outer}, {size}")
        offset = f.let(f"add i64 {offset}, {f.let(f'mul i64 {index}, {strides[d]}')}")
    f.do(f"store i64 {offset}, ptr {f.let(f'getelementptr i64, ptr {table}, i64 %{label}.k')}")
    f.do(f"%{label}.next = add i64 %{label}.k, 1")
    f.unless(f.let(f"icmp ult i64 %{label}.next, {port.size}"), f"{label}.end", f"{label}.fill")
    offsets = f.let(f"phi ptr [@flat, %{label}.enter], [{table}, %{label}.fill]")
    side_by_side = f.let(f"icmp eq i64 {step}, {m.item}")
    way = f.let(f"select i1 {side_by_side}, i64 {VECTORS}, i64 {ELEMENTS}")
    if tile_width(m, port.size) > 1:
        way = f.let(f"select i1 {contiguous}, i64 {TILES}, i64 {way}")
    return offsets, way
