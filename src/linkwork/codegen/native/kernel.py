"""Program -> IR that computes one block: as many states as a vector has lanes.

Scalar number k of the inputs is vector number k of the input block, likewise the outputs. The program is cut into
functions of bounded length, because LLVM's time grows faster than a function's length; values needed after a cut go
through a scratch block. Results that only repeat others, or that are inputs or constants, are copied in a loop if there
are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from ...program.program import Op, Program
from .emit import Function, Module
from .sincos import HUGE, declare_sincos

SEGMENT = 2000  # instructions per function
STORE_COST = 8  # instructions that take LLVM as long as a store in a long row of stores

SINCOS = -1  # pseudo operation: sine and cosine of its arguments at once
TOGETHER = 2  # arguments of one SINCOS: independent work fills the waits of one long chain of operations
STORE = -2  # pseudo operation: put its argument into rows of the output block
FEW = 100  # results for which a table of what to copy where is not worth it
BLOCKS = "ptr noalias %in, ptr noalias %out, ptr noalias %scratch"


@dataclass(frozen=True)
class Step:
    """One instruction and the values it makes: one, but SINCOS any number and STORE none."""

    op: int
    args: tuple[int, ...]
    makes: tuple[int, ...]
    parts: tuple[tuple[int, int], ...] = ()  # SINCOS: of which argument each made value is the sine (0) or cosine (1)
    rows: tuple[int, ...] = ()  # STORE: of the output block

    @property
    def cost(self) -> int:
        """Instructions that take LLVM as long."""
        return STORE_COST * len(self.rows) if self.op == STORE else 1


@dataclass(frozen=True)
class Kernel:
    """Names of the emitted functions, to be called in order, and the rows their scratch block must have."""

    functions: tuple[str, ...]
    scratch_rows: int
    blocks: dict[str, int]  # what the functions take, and how many bytes


def emit_kernel(module: Module, program: Program, segment: int = SEGMENT, name: str = "kernel") -> Kernel:
    """Add the functions ``@{name}0``, ``@{name}1``, ... that compute one block, and those that copy rows of it."""
    places, copies = _places(module, program)
    steps = list(_steps(program, places))
    widths = {len(step.args) for step in steps if step.op == SINCOS}
    if widths and module.once("huge"):
        module.functions.append(HUGE)
    for width in widths:
        if module.once(f"sincos{width}"):
            declare_sincos(module, width)
    segments = _segments(steps, segment)
    rows, scratch_rows = _scratch(segments)
    names = [f"{name}{k}" for k in range(len(segments))]
    for function, part in zip(names, segments, strict=True):
        with Function(module, f"define internal void @{function}({BLOCKS}) noinline nounwind") as f:
            body = Body(f, program, rows)
            for step in part:
                body.run(step)
            f.do("ret void")
    for source, moves in copies.items():
        if moves:
            names.append(f"{name}_from_{source[1:]}")
            _emit_copies(module, names[-1], source, moves)
    counts = {"in": program.n_inputs, "out": len(program.results), "scratch": scratch_rows}
    return Kernel(tuple(names), scratch_rows, {name: count * module.row for name, count in counts.items()})


def _segments(steps: list[Step], limit: int) -> list[list[Step]]:
    """The steps of each function."""
    ends = accumulate(step.cost for step in steps)
    whole = (group for _, group in groupby(zip(ends, steps, strict=True), lambda each: (each[0] - 1) // limit))
    return [[step for _, step in group] for group in whole] or [[]]


def _places(module: Module, program: Program) -> tuple[dict[int, list[int]], dict[str, list[tuple[int, int]]]]:
    """The rows of the output block that each value is stored in when it is made, and the rest: what to copy, once all
    is made, from which row of the inputs, the constants or the outputs to which of the outputs."""
    places: dict[int, list[int]] = {}
    for row, value in enumerate(program.results):
        places.setdefault(value, []).append(row)
    inputs, constants, repeated = [], [], []
    given = [value for value in places if value < program.first_instruction]
    if sum(len(places[value]) for value in given) > FEW:
        for value in given:
            if value < program.n_inputs:
                inputs += [(value, row) for row in places.pop(value)]
            else:
                source = module.constant_row(program.constants[value - program.n_inputs])
                constants += [(source, row) for row in places.pop(value)]
    for rows in places.values():
        repeated += [(rows[0], row) for row in rows[FEW:]]
        del rows[FEW:]
    return places, {"%in": inputs, "@table": constants, "%out": repeated}


def _emit_copies(module: Module, name: str, source: str, moves: list[tuple[int, int]]):
    """Add the function ``@{name}``, a loop that copies rows of ``source`` to rows of the output block."""
    m, words = module, ", ".join(f"i64 {row * module.row}" for move in moves for row in move)
    m.functions.append(f"@{name}_rows = internal constant [{2 * len(moves)} x i64] [{words}]")
    with Function(m, f"define internal void @{name}({BLOCKS}) noinline nounwind") as f:
        f.do("br label %body")
        f.label("body")
        f.do("%k = phi i64 [0, %0], [%next, %body]")
        move = f.at(f"@{name}_rows", f.let("mul i64 %k, 16"))
        place = f.at(source, f.let(f"load i64, ptr {move}"))
        target = f.at("%out", f.let(f"load i64, ptr {f.at(move, 8)}"))
        f.store_row(f.load_row(place, 0), target, 0)
        f.do("%next = add i64 %k, 1")
        f.do(f"br i1 {f.let(f'icmp ult i64 %next, {len(moves)}')}, label %body, label %end")
        f.label("end")
        f.do("ret void")


def _steps(program: Program, places: dict[int, list[int]]) -> Iterator[Step]:
    """The program's steps in order, results stored as soon as they are there: first those that no step makes."""

    def stores(value: int) -> Iterator[Step]:
        if value in places:
            yield Step(STORE, (value,), (), rows=tuple(places[value]))

    for value in sorted(v for v in places if v < program.first_instruction):
        yield from stores(value)
    for step in _computed(program):
        yield step
        for value in step.makes:
            yield from stores(value)


def _computed(program: Program) -> Iterator[Step]:
    """The program's instructions in order, sine and cosine of one argument joined.

    Those of input scalars come first, where no register holds anything that the call would spill.
    """
    wanted: dict[int, list[tuple[int, int]]] = {}  # argument -> (value, part)
    for number, (op, *args) in program.numbered():
        if op in (Op.SIN, Op.COS):
            wanted.setdefault(args[0], []).append((number, int(op == Op.COS)))

    def sincos(*arguments: int) -> Step:
        made = [(value, (k, part)) for k, a in enumerate(arguments) for value, part in wanted.pop(a)]
        return Step(SINCOS, arguments, *zip(*made, strict=True))

    ready = [a for a in wanted if a < program.first_instruction]
    for k in range(0, len(ready), TOGETHER):
        yield sincos(*ready[k : k + TOGETHER])
    for number, (op, *args) in program.numbered():
        if op not in (Op.SIN, Op.COS):
            yield Step(op, tuple(args), (number,))
        elif args[0] in wanted:
            yield sincos(args[0])


def _scratch(segments: list[list[Step]]) -> tuple[dict[int, int], int]:
    """Rows of the scratch block for values used after the segment that makes them; rows are used again."""
    made = {value: k for k, part in enumerate(segments) for step in part for value in step.makes}
    last = {a: k for k, part in enumerate(segments) for step in part for a in step.args if a in made}
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


class Body:
    """One function of the kernel: where its values are and the code so far."""

    def __init__(self, f: Function, program: Program, rows: dict[int, int]):
        self.f, self.program, self.rows = f, program, rows
        self.names: dict[int, str] = {}

    def get(self, value: int) -> str:
        """The IR name of a value, loaded if this function has not made it."""
        name = self.names.get(value)
        if name is None:
            n = self.program.n_inputs
            if value < n:
                name = self.f.load_row("%in", value)
            elif value < self.program.first_instruction:
                name = self.f.constant(self.program.constants[value - n])
            else:
                name = self.f.load_row("%scratch", self.rows[value])
            self.names[value] = name
        return name

    def put(self, value: int, name: str):
        self.names[value] = name
        if value in self.rows:
            self.f.store_row(name, "%scratch", self.rows[value])

    def run(self, step: Step):
        args = [self.get(a) for a in step.args]
        if step.op == STORE:
            for row in step.rows:
                self.f.store_row(args[0], "%out", row)
        elif step.op == SINCOS:
            for value, name in zip(step.makes, _sincos(self.f, args, step.parts), strict=True):
                self.put(value, name)
        else:
            self.put(step.makes[0], _operate(self.f, Op(step.op), args))


def _sincos(f: Function, args: list[str], parts: Sequence[tuple[int, int]]) -> Iterator[str]:
    lanes = f.module.lanes
    wide = f"<{len(args) * lanes} x {f.module.real}>"
    joined = f.join(args, lanes)
    answer = f.let(f"call {{{wide}, {wide}}} @sincos{len(args)}({wide} {joined})")
    both = [f.let(f"extractvalue {{{wide}, {wide}}} {answer}, {k}") for k in range(2)]
    for argument, part in parts:
        first = argument * lanes
        yield f.shuffle(both[part], "poison", range(first, first + lanes), len(args) * lanes)


def _operate(f: Function, op: Op, args: list[str]) -> str:
    match op:
        case Op.ADD | Op.SUB | Op.MUL | Op.DIV:
            return f.binary("f" + op.name.lower(), *args)
        case Op.NEG:
            return f.negative(*args)
        case Op.SQRT:
            return f.intrinsic("sqrt", *args)
        case Op.FMA:
            return f.fma(*args)
        case Op.FMS:
            return f.fms(*args)
        case Op.FNMA:
            return f.fnma(*args)
        case Op.SIGN:
            # x + 0 is what is left for zeros of either sign and NaN; "one" does not flag a NaN as invalid.
            vector, lanes = f.module.vector, f.module.lanes
            nonzero = f.let(f"fcmp one {vector} {args[0]}, zeroinitializer")
            one = f.intrinsic("copysign", f.constant(1.0), args[0])
            rest = f.binary("fadd", args[0], "zeroinitializer")
            return f.let(f"select <{lanes} x i1> {nonzero}, {vector} {one}, {vector} {rest}")
        case _:
            raise AssertionError(op)
