"""Packing and unpacking between NumPy's arrays and blocks, in which a vector holds one scalar of all lanes.

NumPy passes, for every argument, a pointer, the step from state to state and the strides within one state. There are
three ways to copy. States with contiguous scalars are transposed in registers, tile by tile. Scalars with contiguous
states ("batch last") are copied as vectors. All others are copied element by element.

A tile is a group of scalars, contiguous in each state, of all lanes. The last tile of a state ends at its last scalar.
So it may overlap the tile before, and nothing is read or written past the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from .emit import Function, Module

TILES, VECTORS, ELEMENTS, NOT_AGAIN = range(4)  # ways to copy; the last is for inputs packed before the loop


@dataclass(frozen=True)
class Tile:
    """Scalars of a state from number ``column`` on, in the rows of a block from ``row`` on."""

    column: int
    row: int


def tile_width(m: Module, size: int) -> int:
    """Return the scalars in a tile: 32 bytes if a state and a register have as many, else 16 bytes, else one scalar.

    Wider tiles take more shuffles per scalar, narrower ones more loads.
    """
    if size < m.chunk:
        return 1
    return 2 * m.chunk if size >= 2 * m.chunk and m.row > 16 else m.chunk


def columns(m: Module, size: int) -> list[int]:
    """Return the first scalars of the tiles of a state."""
    width = tile_width(m, size)
    return [min(column, size - width) for column in range(0, size, width)]


# All ways, for blocks of any number of states ------------------------------------------------------------------------

HEAD = "(ptr %base, i64 %step, i64 %last, ptr %offsets, i64 %way, ptr %block, ptr %table, i64 %count) noinline nounwind"


def call_mover(f: Function, output: bool, size: int, arguments: str, far: int = 0):
    """Call the function that packs or unpacks tiles of a port of ``size`` scalars in all ways.

    ``far`` is the number of bytes from a tile to the same tile of the next block if that is to be prefetched, else 0.
    """
    m, width = f.module, tile_width(f.module, size)
    name = f"{'unpack' if output else 'pack'}{width}{f'_{far}' if far else ''}"
    if m.once(name):
        if output:
            _emit_unpack(m, name, width, far)
        else:
            _emit_pack(m, name, width)
    f.do(f"call void @{name}({arguments})")


def tile_table(m: Module, tiles: Sequence[Tile]) -> str:
    """Return the argument ``%table``: pairs (number of a scalar, number of a row)."""
    return m.constant_words([word for tile in tiles for word in (tile.column, tile.row)])


def flat_offsets(m: Module, size: int):
    """Add ``@flat``, an argument ``%offsets`` for ``size`` contiguous scalars."""
    offsets = ", ".join(f"i64 {k * m.item}" for k in range(size))
    m.functions.append(f"@flat = internal constant [{size} x i64] [{offsets}]")


def _emit_pack(m: Module, name: str, width: int):
    with Function(m, f"define internal void @{name}{HEAD}") as f:
        rows = ["%base"]
        for lane in range(1, m.lanes):  # lanes beyond the last state repeat it
            there = f.let(f"icmp sle i64 {lane}, %last")
            rows.append(f.at(rows[-1], f.let(f"select i1 {there}, i64 %step, i64 0")))
        _choose(f, width, f"or i1 {_full(f)}, {f.let(f'icmp eq i64 %way, {TILES}')}")
        if width > 1:
            with _each(f, "tiles", width) as (column, block):
                offset = f.let(f"mul i64 {column}, {m.item}")
                for k, value in enumerate(load_tile(f, width, [f.at(row, offset) for row in rows])):
                    f.store_row(value, block, k)
        with _each(f, "vectors", width) as (column, block):
            for k, offset in enumerate(_offsets(f, column, width)):
                value = f.let(f"load {m.vector}, ptr {f.at('%base', offset)}, align {m.item}")
                f.store_row(value, block, k)
        with _each(f, "elements", width, single=True) as (column, block):
            (offset,) = _offsets(f, column, 1)
            value = "poison"
            for lane, row in enumerate(rows):
                scalar = f.let(f"load {m.real}, ptr {f.at(row, offset)}, align {m.item}")
                value = f.let(f"insertelement {m.vector} {value}, {m.real} {scalar}, i32 {lane}")
            f.store_row(value, block, 0)
        f.label("end")
        f.do("ret void")


def _emit_unpack(m: Module, name: str, width: int, far: int):
    with Function(m, f"define internal void @{name}{HEAD}") as f:
        _choose(f, width, f"and i1 {_full(f)}, true")
        if width > 1:
            with _each(f, "tiles", width) as (column, block):
                rows = [f.at("%base", f.let(f"mul i64 {column}, {m.item}"))]
                for _ in range(1, m.lanes):
                    rows.append(f.at(rows[-1], "%step"))
                if far:
                    fetch(f, rows, str(far))
                store_tile(f, [f.load_row(block, k) for k in range(width)], rows)
        with _each(f, "vectors", width) as (column, block):
            for k, offset in enumerate(_offsets(f, column, width)):
                f.do(f"store {m.vector} {f.load_row(block, k)}, ptr {f.at('%base', offset)}, align {m.item}")
        with _each(f, "elements", width, single=True) as (column, block):
            (offset,) = _offsets(f, column, 1)
            target = f.at("%base", offset)
            for lane in range(m.lanes):
                value = f.let(f"load {m.real}, ptr {f.at(block, lane * m.item)}, align {m.item}")
                f.do(f"store {m.real} {value}, ptr {target}, align {m.item}")
                more = f.let(f"icmp slt i64 {lane}, %last")
                f.when(more, f"lane{lane + 1}", "elements.next")
                target = f.at(target, "%step")
        f.label("end")
        f.do("ret void")


def fetch(f: Function, rows: Sequence[str], far: str):
    """Prefetch the memory ``far`` bytes after these places into the second-level cache."""
    if f.module.once("fetch"):
        f.module.functions.append("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    for row in rows:
        f.do(f"call void @llvm.prefetch.p0(ptr {f.at(row, far)}, i32 0, i32 2, i32 1)")


def _full(f: Function) -> str:
    """Compute whether there is a state in every lane."""
    return f.let(f"icmp eq i64 %last, {f.module.lanes - 1}")


def _choose(f: Function, width: int, possible: str):
    """Jump to the code of ``%way`` if that is possible, else to that of single elements."""
    way = f.let(f"select i1 {f.let(possible)}, i64 %way, i64 {ELEMENTS}")
    tiles = f"i64 {TILES}, label %tiles" if width > 1 else ""
    f.do(f"switch i64 {way}, label %elements [{tiles} i64 {VECTORS}, label %vectors]")


@contextmanager
def _each(f: Function, name: str, width: int, single: bool = False) -> Iterator[tuple[str, str]]:
    """Write a loop from label ``name`` to label ``end`` over tiles, or over the ``single`` scalars of tiles.

    It yields the number of the first scalar and the place in the block.
    """
    f.label(name)
    f.do(f"%{name}.all = mul i64 %count, {width if single else 1}")
    f.start(f"{name}.body")
    f.do(f"%{name}.k = phi i64 [0, %{name}], [%{name}.after, %{name}.next]")
    number, rest = (f.let(f"{op} i64 %{name}.k, {width if single else 1}") for op in ("udiv", "urem"))
    tile = f.at("%table", f.let(f"mul i64 {number}, 16"))
    column, row = (f.let(f"add i64 {f.let(f'load i64, ptr {f.at(tile, 8 * k)}')}, {rest}") for k in range(2))
    yield column, f.at("%block", f.let(f"mul i64 {row}, {f.module.row}"))
    f.start(f"{name}.next")
    f.do(f"%{name}.after = add i64 %{name}.k, 1")
    f.do(f"br i1 {f.let(f'icmp slt i64 %{name}.after, %{name}.all')}, label %{name}.body, label %end")


def _offsets(f: Function, column: str, count: int) -> list[str]:
    """Load the offsets of scalars within a state, in bytes."""
    first = f.let(f"getelementptr i64, ptr %offsets, i64 {column}")
    return [f.let(f"load i64, ptr {f.at(first, 8 * k)}") for k in range(count)]


# Tiles ---------------------------------------------------------------------------------------------------------------
#
# A register consists of units of 16 bytes, within which shuffles are cheap. One state's part of a tile is one or two
# units. Several such parts are loaded into one register without a shuffle, in such an order that the transposition
# first exchanges scalars within units, and then whole units.


def load_tile(f: Function, width: int, rows: Sequence[str]) -> list[str]:
    """Load a tile and return the vectors of its scalars; ``rows`` points to the tile in every lane's state."""
    m = f.module
    piece = f"<{width} x {m.real}>"
    tile = []
    for states in _registers(m, width):
        pieces = [f.let(f"load {piece}, ptr {rows[state]}, align {m.item}") for state in states]
        tile.append(f.join(pieces, width))
    turned = _turn_units(f, tile)
    if width == m.chunk:
        return turned
    first, second = turned[: m.chunk], turned[m.chunk :]
    return [f.units(a, b, [(s, k) for s in range(2) for k in range(e, m.row // 16, 2)])
            for e in range(2) for a, b in zip(first, second, strict=True)]  # fmt: skip


def store_tile(f: Function, values: Sequence[str], rows: Sequence[str]):
    """Store the vectors of a tile's scalars in every lane's state."""
    m = f.module
    width, units = len(values), m.row // 16
    if width > m.chunk:
        first, second = values[: m.chunk], values[m.chunk :]
        values = [f.units(a, b, [(s, g * units // 2 + k) for k in range(units // 2) for s in range(2)])
                  for g in range(2) for a, b in zip(first, second, strict=True)]  # fmt: skip
    for value, states in zip(_turn_units(f, values), _registers(m, width), strict=True):
        for k, state in enumerate(states):
            piece = f.shuffle(value, "poison", range(k * width, (k + 1) * width))
            f.do(f"store <{width} x {m.real}> {piece}, ptr {rows[state]}, align {m.item}")


def _registers(m: Module, width: int) -> Iterator[list[int]]:
    """Yield, for each register, the states whose parts of a tile it holds."""
    together = m.lanes // width
    for group in range(width // m.chunk):
        for k in range(m.chunk):
            yield [m.chunk * (group * together + j) + k for j in range(together)]


def _turn_units(f: Function, tile: Sequence[str]) -> list[str]:
    """Transpose the scalars within units, for each group of as many registers as a unit has scalars.

    Repeated interleaving of the registers' units has this effect.
    """
    m = f.module
    turned = list(tile)
    for start in range(0, len(tile), m.chunk):
        group = turned[start : start + m.chunk]
        for _ in range(m.chunk.bit_length() - 1):
            pairs = zip(group[: m.chunk // 2], group[m.chunk // 2 :], strict=True)
            group = [f.riffle(a, b, upper) for a, b in pairs for upper in (False, True)]
        turned[start : start + m.chunk] = group
    return turned
