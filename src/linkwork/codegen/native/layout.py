"""Packing and unpacking: arrays as NumPy hands them over <-> blocks, where one vector holds one scalar of all lanes.

NumPy gives, for every argument, a pointer, the step from state to state and the strides within one state. There are
three ways: states whose scalars lie side by side are transposed in registers, tile by tile; scalars whose states lie
side by side ("batch last") are copied as vectors; anything else goes element by element.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .emit import Function, Module

TILES, VECTORS, ELEMENTS, NOT_AGAIN = range(4)  # ways to pack; the last is for inputs packed before the loop
GROUP = 8  # vectors copied in one turn of the loop
UNROLLED = 64  # scalars of a state packed without a loop

HEAD = "(ptr %base, i64 %step, i64 %last, ptr %offsets, i64 %way, ptr %block) noinline nounwind"


def emit_pack(m: Module, size: int):
    """Packing in every way, for blocks of any number of states."""
    with Function(m, f"define internal void @pack{size}{HEAD}") as f:
        full = f.let(f"icmp eq i64 %last, {m.lanes - 1}")
        vectors = f.let(f"select i1 {full}, i64 {VECTORS}, i64 {ELEMENTS}")
        narrow = f.let(f"icmp eq i64 %way, {VECTORS}")
        rows = ["%base"]
        for lane in range(1, m.lanes):  # lanes beyond the last state repeat it
            there = f.let(f"icmp sle i64 {lane}, %last")
            rows.append(f.at(rows[-1], f.let(f"select i1 {there}, i64 %step, i64 0")))
        _choose(f, f.let(f"select i1 {narrow}, i64 {vectors}, i64 %way"), size)
        if size >= m.chunk:
            f.label("tiles")
            tiles_in(f, "tiles", size, rows, "%block", "end")
        with _loop(f, "vectors", size, GROUP) as (offsets, block):
            for k, offset in enumerate(offsets):
                value = f.let(f"load {m.vector}, ptr {f.at('%base', offset)}, align {m.item}")
                f.store_row(value, block, k)
        with _loop(f, "elements", size) as ((offset,), block):
            value = "poison"
            for lane, row in enumerate(rows):
                scalar = f.let(f"load {m.real}, ptr {f.at(row, offset)}, align {m.item}")
                value = f.let(f"insertelement {m.vector} {value}, {m.real} {scalar}, i32 {lane}")
            f.store_row(value, block, 0)
        f.label("end")
        f.do("ret void")


def emit_unpack(m: Module, size: int):
    """Unpacking in every way but tiles, for blocks of any number of states."""
    with Function(m, f"define internal void @unpack{size}{HEAD}") as f:
        full = f.let(f"icmp eq i64 %last, {m.lanes - 1}")
        _choose(f, f.let(f"select i1 {full}, i64 %way, i64 {ELEMENTS}"), 0)
        with _loop(f, "vectors", size, GROUP) as (offsets, block):
            for k, offset in enumerate(offsets):
                value = f.load_row(block, k)
                f.do(f"store {m.vector} {value}, ptr {f.at('%base', offset)}, align {m.item}")
        with _loop(f, "elements", size) as ((offset,), block):
            target = f.at("%base", offset)
            for lane in range(m.lanes):
                value = f.let(f"load {m.real}, ptr {f.at(block, lane * m.item)}, align {m.item}")
                f.do(f"store {m.real} {value}, ptr {target}, align {m.item}")
                more = f.let(f"icmp slt i64 {lane}, %last")
                f.do(f"br i1 {more}, label %lane{lane + 1}, label %elements.next")
                f.label(f"lane{lane + 1}")
                target = f.at(target, "%step")
        f.label("end")
        f.do("ret void")


def _choose(f: Function, way: str, size: int):
    tiles = f"i64 {TILES}, label %tiles" if size >= f.module.chunk else ""
    f.do(f"switch i64 {way}, label %elements [{tiles} i64 {VECTORS}, label %vectors]")


@contextmanager
def _loop(f: Function, name: str, size: int, group: int = 1) -> Iterator[tuple[list[str], str]]:
    """Loop over the scalars of a state in groups: (their offsets, the place of the first in the block)."""
    group = min(group, size)
    f.label(name)
    with _steps(f, name, size, group, "%block", "end") as (k, block):
        first = f.let(f"getelementptr i64, ptr %offsets, i64 {k}")
        yield [f.let(f"load i64, ptr {f.at(first, 8 * j)}") for j in range(group)], block


@contextmanager
def _steps(f: Function, name: str, size: int, step: int, block: str, end: str) -> Iterator[tuple[str, str]]:
    """From label ``name``, step through the scalars of a state: (number of the first, its place in the block).

    The last group ends at the last scalar, so it may overlap the one before and never reads past the end.
    """
    f.do(f"br label %{name}.body")
    f.label(f"{name}.body")
    f.do(f"%{name}.k = phi i64 [0, %{name}], [%{name}.after, %{name}.next]")
    k = _minimum(f, f"%{name}.k", size - step)
    yield k, f.at(block, f.let(f"mul i64 {k}, {f.module.row}"))
    f.do(f"br label %{name}.next")
    f.label(f"{name}.next")
    f.do(f"%{name}.after = add i64 %{name}.k, {step}")
    f.do(f"br i1 {f.let(f'icmp slt i64 %{name}.after, {size}')}, label %{name}.body, label %{end}")


# A tile is ``width`` scalars of all lanes. Where a state has as many scalars as there are lanes, tiles are square and
# move whole registers; narrower states go in pieces of 16 bytes, which still spare single elements.


def _tile_width(f: Function, size: int) -> int:
    return f.module.lanes if size >= f.module.lanes else f.module.chunk


def tiles_in(f: Function, name: str, size: int, rows: list[str], block: str, end: str):
    """Pack by tiles, from label ``name`` to label ``end``; ``rows`` are pointers to the states."""
    m, width = f.module, _tile_width(f, size)
    for column, place in _tiles(f, name, size, block, end):
        piece = f"<{width} x {m.real}>"
        pieces = [f.let(f"load {piece}, ptr {f.at(row, column)}, align {m.item}") for row in rows]
        tile = [f.join(pieces[k::width], width) for k in range(width)]
        for k, value in enumerate(_transpose(f, tile)):
            f.store_row(value, place, k)


def tiles_out(f: Function, name: str, size: int, rows: list[str], block: str, end: str):
    """Unpack by tiles."""
    m, width = f.module, _tile_width(f, size)
    for column, place in _tiles(f, name, size, block, end):
        tile = _transpose(f, [f.load_row(place, k) for k in range(width)])
        for lane, row in enumerate(rows):
            first = lane - lane % width
            piece = f.shuffle(tile[lane % width], "poison", range(first, first + width))
            f.do(f"store <{width} x {m.real}> {piece}, ptr {f.at(row, column)}, align {m.item}")


def _tiles(f: Function, name: str, size: int, block: str, end: str) -> Iterator[tuple[str | int, str]]:
    """The tiles of a state: (offset within the state, place in the block). Few are written out, many are a loop."""
    m, tile = f.module, _tile_width(f, size)
    turns = -(-size // UNROLLED)
    panel = min(size, -(-size // (turns * tile)) * tile)  # scalars in one turn of the loop
    columns = [min(c, panel - tile) for c in range(0, panel, tile)]
    if turns == 1:
        yield from ((c * m.item, f.at(block, c * m.row)) for c in columns)
        f.do(f"br label %{end}")
        return
    with _steps(f, name, size, panel, block, end) as (k, place):
        start = f.let(f"mul i64 {k}, {m.item}")
        yield from ((f.let(f"add i64 {start}, {c * m.item}"), f.at(place, c * m.row)) for c in columns)


def _transpose(f: Function, tile: list[str]) -> list[str]:
    """Transpose every square of a tile: swap off-diagonal blocks of size 1, 2, ..."""
    lanes = range(f.module.lanes)
    size = 1
    while size < len(tile):
        upper = [k if not k & size else k - size + len(lanes) for k in lanes]
        lower = [k + size if not k & size else k + len(lanes) for k in lanes]
        turned = list(tile)
        for i in (i for i in range(len(tile)) if not i & size):
            turned[i] = f.shuffle(tile[i], tile[i + size], upper)
            turned[i + size] = f.shuffle(tile[i], tile[i + size], lower)
        tile, size = turned, 2 * size
    return tile


def _minimum(f: Function, a: str, b: str | int) -> str:
    return f.let(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")
