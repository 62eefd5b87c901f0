"""The time loop in native code: a block of samples runs through all its steps while its state stays in the cache.

A block has as many samples as a vector has lanes. The rows of the input block of every kernel are those that
``codegen.timeloop`` lists.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..schemes import AdamsBashforth, Arithmetic, Combination, OwnStep, RungeKutta
from ..timeloop import Run, Sample, TimeLoop, Turns
from .blocks import LINE, emit_blocks, emit_free
from .emit import Function, Module
from .kernel import Kernel, emit_kernel
from .layout import ELEMENTS, TILES, Tile, call_mover, columns, flat_offsets, store_tile, tile_table, tile_width
from .lifetime import Recent, make_owner
from .machine_code import assemble, loaded
from .target import Target, host

WORDS = ("t0", "dt", "samples", "first", "steps", "every", "end", "last_held", "state", "constants", "constants_step",
         "records", "records_step", "record_step")  # fmt: skip
REALS = 2  # number of floats, which come first; the others are integers
CHAINS = 4  # independent partial sums, to reduce latency
HELD = 3  # words for each held port: pointer, bytes from sample to sample, bytes from step to step


def build_loop(loop: TimeLoop, samples: int) -> Run:
    """Compile a loop to native code, which releases Python's lock while it runs."""
    target = host()
    if samples <= target.half.lanes(loop.dtype):
        target = target.half

    def load() -> Run:
        engine = loaded((loop.digest,), lambda: assemble(ir_text(loop, target), target), target)
        native = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(engine.get_function_address("run"))
        native.owner = make_owner([engine])  # type: ignore
        return partial(_bound, native)

    return _loaded.get((loop.digest, target), load)


_loaded: Recent[Run] = Recent()


def ir_text(loop: TimeLoop, target: Target) -> str:
    return _Writer(loop, target).text()


def _bound(
    native: Any,
    turns: Turns,
    t0: float,
    dt: float,
    state: np.ndarray,
    held: Sequence[np.ndarray],
    constants: np.ndarray,
    records: np.ndarray,
) -> Callable[[], None]:
    """Bind native code to arrays: WORDS, then HELD words for each held port."""
    assert all(x.shape[-1] < 2 or x.strides[-1] == x.itemsize for x in (state, constants, records, *held))  # no gaps
    words = {
        "t0": t0, "dt": dt, "samples": len(state), "first": turns.first, "steps": turns.steps, "every": turns.every,
        "end": turns.end, "last_held": turns.last_held, "state": _address(state), "constants": _address(constants),
        "constants_step": _step(constants), "records": _address(records), "records_step": records.strides[0],
        "record_step": records.strides[1],
    }  # fmt: skip
    held_words = [word for x in held for word in (_address(x), _step(x), x.strides[1])]
    form = f"{REALS}d{len(WORDS) - REALS + len(held_words)}q"
    return partial(native, struct.pack(form, *(words[name] for name in WORDS), *held_words))


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]  # three times faster than array.ctypes


def _step(array: np.ndarray) -> int:
    """Return the bytes from sample to sample; 0 if all share one."""
    return array.strides[0] if len(array) > 1 else 0


class _Writer:
    """Writer of the IR of one loop."""

    def __init__(self, loop: TimeLoop, target: Target):
        self.loop = loop
        # x is copied to %state after the last turn, if no step reads it and no sample precedes a last record
        self.lazy = isinstance(loop.scheme, OwnStep) and not loop.samples
        self.records = len(loop.record.results)
        self.recorded_row = _side_by_side(loop.record.results, loop.n_inputs)
        self.m = m = Module(target, loop.dtype)
        needed = {name: p for name, p in loop.programs.items() if name != "record" or self.recorded_row is None}
        self.kernels = {name: emit_kernel(m, p, name=name, whole=True) for name, p in needed.items()}
        flat_offsets(m, max(loop.state, loop.constants, self.records, *loop.held, 1))
        m.functions.append("declare i64 @llvm.smin.i64(i64, i64)")
        m.functions.append("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        if self.records:
            self._emit_save()

    def text(self) -> str:
        with Function(self.m, "define dso_local void @run(ptr %words) nounwind") as f:
            self.f = f
            self._emit_run()
        return self.m.text()

    def _emit_save(self) -> None:
        """Add ``@save``, which copies the records of one block to the array; ``%ahead``: bytes to the next records."""
        m, size = self.m, self.records
        head = "define internal void @save(ptr %base, i64 %step, i64 %last, ptr %block, i64 %ahead) noinline nounwind"
        with Function(m, head) as f:
            if size >= m.chunk:
                f.do(f"switch i64 %last, label %elements [i64 0, label %alone i64 {m.lanes - 1}, label %tiles]")
                f.label("alone")
                for row in range(size):
                    value = f.let(f"load {m.real}, ptr {f.at('%block', row * m.row)}, align {m.row}")
                    f.do(f"store {m.real} {value}, ptr {f.at('%base', m.item * row)}, align {m.item}")
                f.do("br label %end")
                f.label("tiles")
                rows = ["%base"]
                for _ in range(1, m.lanes):
                    rows.append(f.at(rows[-1], "%step"))
                # Prefetch the lines of the next records while the kernels run: missing stores fill the store buffer.
                for row in rows:
                    there = f.at(row, "%ahead")
                    for k in range(0, m.item * size, LINE):
                        f.do(f"call void @llvm.prefetch.p0(ptr {f.at(there, k)}, i32 1, i32 3, i32 1)")
                width = tile_width(m, size)
                for column in columns(m, size):
                    values = [f.load_row("%block", column + k) for k in range(width)]
                    store_tile(f, values, [f.at(row, column * m.item) for row in rows])
                f.do("br label %end")
                f.label("elements")
            self._unpack(f, size, "%base", "%step", "%last", "%block")
            f.start("end")
            f.do("ret void")

    def _emit_run(self) -> None:
        f, m, loop = self.f, self.m, self.loop
        scratch = max(kernel.blocks["scratch"] for kernel in self.kernels.values()) // m.row
        out = max(loop.x, self.records)  # more than a sample computes
        rows = {"state": loop.state, "in": loop.n_inputs, "out": out, "scratch": scratch}
        rows |= {f"k{stage}": loop.x for stage in range(loop.scheme.rates)}
        blocks = {name: count * m.row for name, count in rows.items()}
        emit_blocks(f, blocks)
        self.words = words = {name: self._word(k) for k, name in enumerate(WORDS)}
        self.pointers = {k: f.let(f"inttoptr i64 {words[k]} to ptr") for k in ("state", "constants", "records")}
        first = len(WORDS)
        self.held = []
        for k in range(len(loop.held)):
            at, *steps = (self._word(first + HELD * k + j) for j in range(HELD))
            self.held.append((f.let(f"inttoptr i64 {at} to ptr"), *steps))
        self.t0, self.dt = f.splat(words["t0"]), f.splat(words["dt"])
        f.store_row(self.dt, "%in", loop.x + 1)
        heads = f.let(f"add i64 {words['steps']}, {words['end']}")  # turns of the inner loop
        less = f.let(f"sub i64 {words['every']}, 1")
        before = f.let(f"add i64 {words['first']}, {less}")
        self.first_row = f.let(f"sdiv i64 {before}, {words['every']}")  # number of the first record of this run
        with f.counted("block", words["samples"], m.lanes) as block:
            rest = f.let(f"sub i64 {words['samples']}, {block}")
            last = f.let(f"call i64 @llvm.smin.i64(i64 {f.let(f'sub i64 {rest}, 1')}, i64 {m.lanes - 1})")
            state = f.at(self.pointers["state"], f.let(f"mul i64 {block}, {m.item * loop.state}"))
            self._pack(loop.state, state, m.item * loop.state, last, "%state")
            if loop.constants:
                step = words["constants_step"]
                base = f.at(self.pointers["constants"], f.let(f"mul i64 {block}, {step}"))
                self._pack(loop.constants, base, step, last, f.at("%in", self._row_of_constants() * m.row))
            self._copy_x("%state", "%in")
            with f.counted("turn", heads) as turn:
                self._turn(turn, block, last)
            if self.lazy:
                self._copy_x("%in", "%state")
            self._unpack(f, loop.state, state, m.item * loop.state, last, "%state")
        emit_free(f, blocks)
        f.do("ret void")

    def _turn(self, turn: str, block: str, last: str) -> None:
        f, loop, words = self.f, self.loop, self.words
        step = f.let(f"add i64 {words['first']}, {turn}")
        step_count = f.load_row("%state", loop.state - 1)  # number of steps of each sample so far
        time = f.binary("fadd", self.t0, f.binary("fmul", step_count, self.dt))
        f.store_row(time, "%in", loop.x)
        self._hold(step, block, last)
        for number, sample in enumerate(loop.samples):
            self._sample(number, sample)
        if self.records:
            over = f.let(f"srem i64 {step}, {words['every']}")
            due = f.let(f"icmp eq i64 {over}, 0")
            f.when(due, "record", "recorded")
            self._record(step, block, last)
            f.start("recorded")
        more = f.let(f"icmp slt i64 {turn}, {words['steps']}")
        f.when(more, "advance", "advanced")
        if loop.samples:
            self._copy_x("%in", "%state")
        match loop.scheme:
            case OwnStep():
                self._call("advance", "%out")
            case RungeKutta() as scheme:
                self._stages(scheme, time)
                self._combine(scheme.step, "%out", self._rates_of_stage)
            case AdamsBashforth() as scheme:
                self._look_back(scheme, time, step_count)
        if loop.finish is not None:  # it reads the result of the scheme
            self._copy_x("%out", "%in")
            self._call("finish", "%out")
        self._accept(step_count)
        f.start("advanced")

    def _sample(self, number: int, sample: Sample) -> None:
        """Compute what is due in any lane of the block; the program keeps the values of the others."""
        f, m, name = self.f, self.m, f"sample{number}"
        below = f.let(f"fcmp olt {m.vector} {f.load_row('%in', sample.due)}, {f.constant(0.5)}")
        lanes = f.let(f"bitcast <{m.lanes} x i1> {below} to i{m.lanes}")
        f.when(f.let(f"icmp ne i{m.lanes} {lanes}, 0"), name, f"{name}done")
        self._call(name, "%out")
        for row in range(len(sample.program.results)):
            f.store_row(f.load_row("%out", row), "%in", sample.first + row)
        f.start(f"{name}done")

    def _record(self, step: str, block: str, last: str) -> None:
        f, words = self.f, self.words
        if self.recorded_row is None:
            self._call("record", "%out")
            source = "%out"
        else:
            source = f.at("%in", self.recorded_row * self.m.row)
        number = f.let(f"sdiv i64 {step}, {words['every']}")
        row = f.let(f"sub i64 {number}, {self.first_row}")
        base = f.at(self.pointers["records"], f.let(f"mul i64 {block}, {words['records_step']}"))
        base = f.at(base, f.let(f"mul i64 {row}, {words['record_step']}"))
        where = f"ptr {base}, i64 {words['records_step']}, i64 {last}"
        f.do(f"call void @save({where}, ptr {source}, i64 {words['record_step']})")

    def _accept(self, step_count: str) -> None:
        """Accept x from %out, and count the step if all entries are finite."""
        f, m = self.f, self.m
        sums: list[str] = []
        for row in range(self.loop.x):
            value = f.load_row("%out", row)
            f.store_row(value, "%in", row)
            if not self.lazy:
                f.store_row(value, "%state", row)
            sums.append(value if row < CHAINS else f.binary("fadd", sums[-CHAINS], value))
        sums = sums[-CHAINS:]
        while len(sums) > 1:
            sums.append(f.binary("fadd", sums.pop(0), sums.pop(0)))
        one = f.constant(1.0)
        for total in sums:  # a robot without joints has no x
            nothing = f.binary("fsub", total, total)  # NaN unless the sum is finite
            finite = f.let(f"fcmp ord {m.vector} {nothing}, zeroinitializer")
            one = f.let(f"select <{m.lanes} x i1> {finite}, {m.vector} {one}, {m.vector} zeroinitializer")
        f.store_row(f.binary("fadd", step_count, one), "%state", self.loop.state - 1)

    def _stages(self, scheme: RungeKutta, time: str) -> None:
        """Compute all rates of a step."""
        f, x = self.f, self.loop.x
        self._call("advance", "%k0")
        for stage, (node, place) in enumerate(scheme.stages, 1):
            f.store_row(f.binary("fadd", time, self._share(node)), "%in", x)
            self._combine(place, "%in", self._rates_of_stage)
            self._call("advance", f"%k{stage}")
        f.store_row(time, "%in", x)

    def _look_back(self, scheme: AdamsBashforth, time: str, step_count: str) -> None:
        """Make a multistep; samples with too few earlier steps use the starting scheme."""
        f, m = self.f, self.m
        early = f.let(f"fcmp olt {m.vector} {step_count}, {f.constant(float(scheme.history))}")
        some = f.let(f"icmp ne i{m.lanes} {f.let(f'bitcast <{m.lanes} x i1> {early} to i{m.lanes}')}, 0")
        f.when(some, "early", "later")
        self._stages(scheme.start, time)
        self._combine(scheme.start.step, "%out", self._rates_of_stage)
        self._combine(scheme.step, "%in", self._rates_of_step)
        for row in range(self.loop.x):
            both = f"{m.vector} {f.load_row('%out', row)}, {m.vector} {f.load_row('%in', row)}"
            f.store_row(f.let(f"select <{m.lanes} x i1> {early}, {both}"), "%out", row)
        f.do("br label %combined")
        f.label("later")
        self._call("advance", "%k0")
        self._combine(scheme.step, "%out", self._rates_of_step)
        f.start("combined")
        self._remember(scheme.history)

    def _combine(self, combination: Combination, out: str, rates: Callable[[int, int], str]) -> None:
        f, share = self.f, self._share(combination.share)
        numbers = Arithmetic(f.constant, partial(f.binary, "fadd"), partial(f.binary, "fmul"), f.fma)
        for row in range(self.loop.x):
            f.store_row(combination(f.load_row("%state", row), partial(rates, row), share, numbers), out, row)

    def _rates_of_stage(self, row: int, stage: int) -> str:
        return self.f.load_row(f"%k{stage}", row)

    def _rates_of_step(self, row: int, age: int) -> str:
        """Load the rates of this step (age 0) or of an earlier one."""
        return self.f.load_row("%state", age * self.loop.x + row) if age else self.f.load_row("%k0", row)

    def _share(self, share: Fraction | float) -> str:
        return self.dt if share == 1 else self.f.binary("fmul", self.dt, self.f.constant(float(share)))

    def _remember(self, history: int) -> None:
        """Put the rates of this step first in the history."""
        f, x = self.f, self.loop.x
        for age in range(history, 1, -1):
            for row in range(x):
                f.store_row(f.load_row("%state", (age - 1) * x + row), "%state", age * x + row)
        for row in range(x):
            f.store_row(f.load_row("%k0", row), "%state", x + row)

    def _copy_x(self, source: str, target: str) -> None:
        for row in range(self.loop.x):
            self.f.store_row(self.f.load_row(source, row), target, row)

    def _call(self, name: str, out: str) -> None:
        kernel: Kernel = self.kernels[name]
        for function in kernel.functions:
            self.f.do(f"call void @{function}(ptr %in, ptr {out}, ptr %scratch)")

    def _row_of_constants(self) -> int:
        return self.loop.x + 2 + sum(self.loop.held)

    def _hold(self, step: str, block: str, last: str) -> None:
        f = self.f
        row = self.loop.x + 2
        at = f.let(f"call i64 @llvm.smin.i64(i64 {step}, i64 {self.words['last_held']})")
        for size, (base, sample_step, time_step) in zip(self.loop.held, self.held, strict=True):
            base = f.at(base, f.let(f"mul i64 {block}, {sample_step}"))
            base = f.at(base, f.let(f"mul i64 {at}, {time_step}"))
            self._pack(size, base, sample_step, last, f.at("%in", row * f.module.row))
            row += size

    def _pack(self, size: int, base: str, step: str | int, last: str, block: str) -> None:
        way = TILES if tile_width(self.m, size) > 1 else ELEMENTS
        where = f"ptr {base}, i64 {step}, i64 {last}, ptr @flat, i64 {way}, ptr {block}"
        call_mover(self.f, False, size, f"{where}, {self._tiles(size)}")

    def _unpack(self, f: Function, size: int, base: str, step: str | int, last: str, block: str) -> None:
        where = f"ptr {base}, i64 {step}, i64 {last}, ptr @flat, i64 {ELEMENTS}, ptr {block}"
        call_mover(f, True, size, f"{where}, {self._tiles(size)}")

    def _tiles(self, size: int) -> str:
        tiles = [Tile(column, column) for column in columns(self.m, size)]
        return f"ptr {tile_table(self.m, tiles)}, i64 {len(tiles)}"

    def _word(self, number: int) -> str:
        if number >= REALS:
            return self.f.word("%words", number)
        real = self.f.word("%words", number, "double")
        return real if self.m.item == 8 else self.f.let(f"fptrunc double {real} to {self.m.real}")


def _side_by_side(results: Sequence[int], n_inputs: int) -> int | None:
    """Return the first input if the results are contiguous inputs, else None."""
    first = results[0] if results else n_inputs
    rows = range(first, first + len(results))
    return first if list(results) == list(rows) and rows.stop <= n_inputs else None
