"""IR of a program for one block: as many states as a vector has lanes.

Scalar number k of the inputs is vector number k of the input block. Sines, cosines, exponentials and the like are in
functions of their own, before the code that needs them: a call among other instructions would force all values out of
the registers. A loop is such a call, too: of the kernel of its body, with blocks of its own in the scratch block, until
all states of the block have finished. A finished state keeps its values, so its bits do not depend on the others. The
rest is split into functions of bounded length, because LLVM's time grows faster than the length of a
function. Values that are needed after a split are stored in a scratch block.

Results are stored in the output block. If they are few, result k is its vector number k. If they are many, each row is
reused as soon as its tile has been unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...program.program import REPEAT, Op, Program
from .elementary import FUNCTIONS, emit_choice, emit_comparison, emit_function
from .emit import Function, Module
from .layout import Tile, columns, tile_width
from .registers import Drop, Load, Run, Spill, Step, plan
from .sincos import emit_sincos

OF_PAIRS = 700  # instructions in a function that two blocks run in turn: its code must stay in the cache
FEW = 128  # results up to which the output block holds all at once

SINCOS = -1  # pseudo operation: sines and cosines of all its arguments together
STORE = -2  # pseudo operation: store its argument in rows of the output block
RUN = -3  # pseudo operation: run a loop
BLOCKS = "ptr noalias %in, ptr noalias %out, ptr noalias %scratch"


@dataclass(frozen=True)
class Kernel:
    """Emitted functions, which are called in order with the three blocks."""

    functions: tuple[str, ...]
    finished: tuple[dict[int, list[Tile]], ...]  # tiles of outputs to be unpacked after each function
    blocks: dict[str, int]  # arguments of the functions, and their sizes in bytes
    together: int = 1  # number of blocks that should run side by side, function by function


def emit_kernel(
    module: Module, program: Program, segment: int = 0, name: str = "kernel", whole: bool = False
) -> Kernel:
    """Add the functions ``@{name}0``, ``@{name}1``, ... that compute one block.

    ``segment`` is the number of instructions in each; 0 is the target's default. With ``whole`` all results are in the
    block at the end, however many they are.
    """
    choices = module.target.choices
    pairs = not whole and len(program.instructions) >= choices.pairs  # callers with ``whole`` run one block at a time
    length = segment or choices.segment
    segments = list(_segments(program, min(length, OF_PAIRS) if pairs else length))
    whole = whole or len(program.results) <= FEW
    segments, finished, out_rows = (_at_once if whole else _tile_by_tile)(module, program, segments)
    kept, kept_rows = _scratch(segments)
    scratch_rows = kept_rows
    names = tuple(f"{name}{k}" for k in range(len(segments)))
    for function, steps in zip(names, segments, strict=True):
        apart = any(step.op in (SINCOS, RUN, *FUNCTIONS) for step in steps)
        # Without "stackrealign" LLVM's spills are aligned to 16 bytes only, and cross cache lines.
        head = f'define internal void @{function}({BLOCKS}) noinline nounwind "stackrealign"'
        with Function(module, head, volatile=not apart) as f:
            body = Body(f, program, kept, kept_rows)
            if apart:
                body.run_functions(steps)
            else:
                body.run(steps)
            f.do("ret void")
        scratch_rows = max(scratch_rows, body.scratch_rows)
    rows = {"in": program.n_inputs, "out": out_rows, "scratch": scratch_rows}
    blocks = {block: count * module.row for block, count in rows.items()}
    return Kernel(names, tuple(finished), blocks, together=2 if pairs else 1)


# Cutting -------------------------------------------------------------------------------------------------------------


def _segments(program: Program, limit: int) -> Iterator[list[Step]]:
    """Yield the steps of each function; results are stored as soon as they are computed."""
    sines: dict[int, list[int]] = {}  # argument -> its sines and cosines
    for number, (op, *args) in program.numbered():
        if op in (Op.SIN, Op.COS):
            sines.setdefault(args[0], []).append(number)
    others = {n: Step(op, tuple(args), (n,)) for n, (op, *args) in program.numbered() if op in FUNCTIONS}
    others |= {min(final.values()): Step(RUN, run[1], tuple(final.values())) for run, final in program.runs.items()}
    results, done = set(program.results), set(range(program.first_instruction))

    def functions(angles: Sequence[int], more: Sequence[int], before: Sequence[Step] = ()) -> list[Step]:
        results_of_sines = tuple(value for a in angles for value in sines.pop(a))
        steps = [
            *before,
            *([Step(SINCOS, tuple(angles), results_of_sines)] if angles else ()),
            *(others.pop(n) for n in more),
        ]
        values = [value for step in steps for value in step.makes]
        done.update(values)
        part.extend(Step(STORE, (value,)) for value in values if value in results)
        return steps

    part: list[Step] = []
    early, before = _without_sines(program, sines)
    if early:
        yield functions(early, (), before)
    for number, (op, *args) in program.numbered():
        if number in done:
            continue
        if op in (Op.SIN, Op.COS) or op in FUNCTIONS or op >= REPEAT:
            if part:
                yield part
                part = []
            ready = [n for n, step in others.items() if n not in done and done.issuperset(step.args)]
            yield functions([a for a in sines if a in done], ready)
            continue
        part.append(Step(op, tuple(args), (number,)))
        done.add(number)
        if number in results:
            part.append(Step(STORE, (number,)))
        if len(part) >= limit:
            yield part
            part = []
    yield part  # it may be empty, but results that are inputs or constants are stored there


def _without_sines(program: Program, sines: dict[int, list[int]]) -> tuple[list[int], list[Step]]:
    """Return the arguments of sines and cosines that depend on no such function or loop, and the steps to them."""
    after: set[int] = set()
    code: dict[int, Step] = {}
    for number, (op, *args) in program.numbered():
        if op in (Op.SIN, Op.COS) or op >= REPEAT or not after.isdisjoint(args):
            after.add(number)
        else:
            code[number] = Step(op, tuple(args), (number,))
    early = [a for a in sines if a not in after]
    needed, todo = set(), [a for a in early if a in code]
    while todo:
        a = todo.pop()
        if a not in needed:
            needed.add(a)
            todo += [b for b in code[a].args if b in code]
    return early, [code[a] for a in sorted(needed)]


def _scratch(segments: list[list[Step]]) -> tuple[dict[int, int], int]:
    """Return rows of the scratch block for values used in later segments, and their number; rows are reused."""
    segment_of = {value: k for k, part in enumerate(segments) for step in part for value in step.makes}
    last = {a: k for k, part in enumerate(segments) for step in part for a in step.args if a in segment_of}
    rows: dict[int, int] = {}
    free: list[int] = []
    ends: dict[int, list[int]] = {}  # segment -> rows free after it
    count = 0
    for k, part in enumerate(segments):
        for value in (v for step in part for v in step.makes):
            if last.get(value, k) > k:
                if free:
                    rows[value] = free.pop()
                else:
                    rows[value], count = count, count + 1
                ends.setdefault(last[value], []).append(rows[value])
        free += ends.get(k, [])
    return rows, count


# Results -------------------------------------------------------------------------------------------------------------

Placed = tuple[list[list[Step]], list[dict[int, list[Tile]]], int]  # segments, finished after each, rows of the block


def _at_once(module: Module, program: Program, segments: list[list[Step]]) -> Placed:
    """Store result k in row k."""
    rows: dict[int, list[int]] = {}
    for row, value in enumerate(program.results):
        rows.setdefault(value, []).append(row)
    finished: list[dict[int, list[Tile]]] = [{} for _ in segments]
    for port, start, size in _ports(program):
        finished[-1][port] = [Tile(column, start + column) for column in columns(module, size)]
    copies = [Step(STORE, (value,)) for value in rows if value < program.first_instruction]
    segments = [*segments[:-1], [*copies, *segments[-1]]]
    stores = [[replace(s, rows=tuple(rows[s.args[0]])) if s.op == STORE else s for s in part] for part in segments]
    return stores, finished, len(program.results)


def _tile_by_tile(module: Module, program: Program, segments: list[list[Step]]) -> Placed:
    """Reuse the rows of a tile after it is unpacked; tiles of equal values, such as zeros, share rows."""
    stored = {step.args[0]: k for k, part in enumerate(segments) for step in part if step.op == STORE}
    tiles: dict[tuple[int, ...], list[tuple[int, int]]] = {}  # values -> (port, column)
    for port, start, size in _ports(program):
        for column in columns(module, size):
            first = start + column
            values = program.results[first : first + tile_width(module, size)]
            tiles.setdefault(values, []).append((port, column))
    begin: list[list[tuple[int, ...]]] = [[] for _ in segments]
    end: list[list[tuple[int, ...]]] = [[] for _ in segments]
    for values in tiles:
        times = [stored[value] for value in values if value in stored] or [len(segments) - 1]
        begin[min(times)].append(values)
        end[max(times)].append(values)
    free: dict[int, list[int]] = {}  # width -> first rows
    first_row: dict[tuple[int, ...], int] = {}
    rows: dict[int, list[int]] = {}  # of values that steps make
    copies: list[list[Step]] = [[] for _ in segments]
    finished: list[dict[int, list[Tile]]] = [{} for _ in segments]
    count = 0
    for k in range(len(segments)):
        for values in begin[k]:
            if room := free.get(len(values)):
                first_row[values] = room.pop()
            else:
                first_row[values], count = count, count + len(values)
            for row, value in enumerate(values, first_row[values]):
                rows.setdefault(value, []).append(row)
        for values in end[k]:
            row = first_row[values]
            copies[k] += [Step(STORE, (v,), rows=(r,)) for r, v in enumerate(values, row) if v not in stored]
            for port, column in tiles[values]:
                finished[k].setdefault(port, []).append(Tile(column, row))
            free.setdefault(len(values), []).append(row)
    placed = [
        [replace(step, rows=tuple(rows[step.args[0]])) if step.op == STORE else step for step in part] + more
        for part, more in zip(segments, copies, strict=True)
    ]
    return placed, finished, count


def _ports(program: Program) -> Iterator[tuple[int, int, int]]:
    """Yield number, first result and size of every output that is not empty."""
    start = 0
    for number, port in enumerate(program.outputs):
        if port.size:
            yield number, start, port.size
        start += port.size


# Emitting ------------------------------------------------------------------------------------------------------------


class Body:
    """One function of the kernel: its code, and the places of its values."""

    def __init__(self, f: Function, program: Program, kept: dict[int, int], kept_rows: int):
        self.f, self.program, self.kept = f, program, kept
        self.first_slot = self.scratch_rows = kept_rows
        self.names: dict[int, str] = {}  # of values in registers
        self.slots: dict[int, int] = {}  # rows of spilled values

    def load(self, value: int) -> str:
        """Load a value from memory."""
        n = self.program.n_inputs
        if value < n:
            return self.f.load_row("%in", value)
        if value < self.program.first_instruction:
            return self.f.constant(self.program.constants[value - n])
        return self.f.load_row("%scratch", self.slots[value] if value in self.slots else self.kept[value])

    def make(self, value: int, name: str):
        self.names[value] = name
        if value in self.kept:
            self.f.store_row(name, "%scratch", self.kept[value])

    def run(self, steps: Sequence[Step]):
        for action in plan(steps, self.kept, self.f.module.target.choices):
            match action:
                case Load(value):
                    self.names[value] = self.load(value)
                case Drop(value):
                    del self.names[value]
                case Spill(value, slot):
                    self.slots[value] = row = self.first_slot + slot
                    self.scratch_rows = max(self.scratch_rows, row + 1)
                    self.f.store_row(self.names[value], "%scratch", row)
                case Run(step, from_memory):
                    self.execute(step, [self.load(a) if a == from_memory else self.names[a] for a in step.args])

    def execute(self, step: Step, args: list[str]):
        if step.op == STORE:
            for row in step.rows:
                self.f.store_row(args[0], "%out", row)
        else:
            self.make(step.makes[0], _operate(self.f, Op(step.op), args))

    def run_functions(self, steps: Sequence[Step]):
        for step in steps:
            if step.op == SINCOS:
                self.run_sines(step)
            elif step.op == RUN:
                self.run_loop(step)
            else:
                self.execute(step, [self.get(a) for a in step.args])

    def run_sines(self, sines: Step):
        parts: dict[int, list[tuple[int, bool]]] = {a: [] for a in sines.args}
        for value in sines.makes:
            op, argument = self.program.instructions[value - self.program.first_instruction]
            parts[argument].append((value, op == Op.COS))
        together = self.f.module.target.choices.sines
        for k in range(0, len(sines.args), together):
            some = sines.args[k : k + together]

            def leave(number: int, sine: str, cosine: str, some: tuple[int, ...] = some):
                for value, is_cosine in parts[some[number]]:
                    if value in self.kept:
                        self.f.store_row(cosine if is_cosine else sine, "%scratch", self.kept[value])

            emit_sincos(self.f, f"sines{k}", [self.get(a) for a in some], leave)

    def run_loop(self, run: Step):
        f, m = self.f, self.f.module
        final = {value: self.program.final(self.program.instructions[value - self.program.first_instruction][0])
                 for value in run.makes}  # fmt: skip
        loop = final[run.makes[0]][0]
        kernel = _body_kernel(m, loop.body)
        blocks, rows = [], self.first_slot
        for size in kernel.blocks.values():
            blocks.append(f.at("%scratch", rows * m.row))
            rows += size // m.row
        self.scratch_rows = max(self.scratch_rows, rows)
        given, following, _ = blocks
        for row, value in enumerate(run.args):
            f.store_row(self.get(value), given, row)
        with f.counted("turn", loop.turns) as turn:
            going = ""
            if loop.guarded:
                going = f.let(f"fcmp une {m.vector} {f.load_row(given, 0)}, zeroinitializer")
                some = f.let(f"icmp ne i{m.lanes} {f.let(f'bitcast <{m.lanes} x i1> {going} to i{m.lanes}')}, 0")
                f.when(some, f"{turn[1:]}.going", f"{turn[1:]}.end")
            for function in kernel.functions:
                f.do(f"call void @{function}({', '.join(f'ptr {block}' for block in blocks)})")
            for row in range(loop.carried):
                value = f.load_row(following, row)
                if going:
                    old = f.load_row(given, row)
                    value = f.let(f"select <{m.lanes} x i1> {going}, {m.vector} {value}, {m.vector} {old}")
                f.store_row(value, given, row)
        for value, (_, k) in final.items():
            self.make(value, f.load_row(given, k))

    def get(self, value: int) -> str:
        if value not in self.names:
            self.names[value] = self.load(value)
        return self.names[value]


def _body_kernel(module: Module, body: Program) -> Kernel:
    """Return the kernel of the body of a loop, which is added once to a module."""
    if body.digest not in module.bodies:
        module.bodies[body.digest] = emit_kernel(module, body, name=f"body_{body.digest}_", whole=True)
    return module.bodies[body.digest]


def _operate(f: Function, op: Op, args: list[str]) -> str:
    match op:
        case Op.ADD | Op.SUB | Op.MUL | Op.DIV:
            return f.binary("f" + op.name.lower(), *args)
        case Op.NEG:
            return f.negative(*args)
        case Op.SQRT:
            return f.intrinsic("sqrt", *args)
        case Op.ABS:
            return f.intrinsic("fabs", *args)
        case Op.LESS | Op.LESS_EQUAL:
            return emit_comparison(f, op == Op.LESS_EQUAL, *args)
        case Op.SELECT:
            vector, mask = f.module.vector, f"<{f.module.lanes} x i1>"
            holds = f.let(f"fcmp une {vector} {args[0]}, zeroinitializer")
            return f.let(f"select {mask} {holds}, {vector} {args[1]}, {vector} {args[2]}")
        case Op.MIN | Op.MAX:
            return emit_choice(f, op == Op.MAX, *args)
        case Op.EXP | Op.LOG | Op.TANH | Op.ATAN2:
            return emit_function(f, op, args)
        case Op.FMA:
            return f.fma(*args)
        case Op.FMS:
            return f.fms(*args)
        case Op.FNMA:
            return f.fnma(*args)
        case Op.SIGN:
            # x + 0 is the result for zeros of either sign and NaN; neither comparison raises "invalid" for NaN.
            (x,), vector, mask = args, f.module.vector, f"<{f.module.lanes} x i1>"
            zero, nan = f.let(f"fcmp oeq {vector} {x}, zeroinitializer"), f.let(f"fcmp uno {vector} {x}, {x}")
            one, rest = f.intrinsic("copysign", f.constant(1.0), x), f.binary("fadd", x, "zeroinitializer")
            return f.let(f"select {mask} {f.let(f'or {mask} {zero}, {nan}')}, {vector} {rest}, {vector} {one}")
        case _:
            raise AssertionError(op)
