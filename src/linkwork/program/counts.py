"""Operations of a program, counted exactly and split into off line and on line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from .program import FUSED, PARAMETER, REPEAT, Op, Program

_MULTIPLIES = (Op.MUL, *FUSED)
_SIN, _COS = int(Op.SIN), int(Op.COS)
_ADDS = (Op.ADD, Op.SUB, *FUSED)


@dataclass(frozen=True)
class Operations:
    """Number of operations of a program, by kind.

    A fused multiply-add is one mul and one add; sincos counts the angles whose sine or cosine is taken (a pair is one);
    neg is a sign change that no other operation absorbed; fused counts the pairs of mul and add that run as one
    instruction.

    Attributes:
        mul: Multiplications.
        add: Additions and subtractions.
        div: Divisions.
        sqrt: Square roots.
        sincos: Angles whose sine or cosine is taken.
        exp, log, tanh, atan2: Calls of these functions.
        sign, abs, min, max: The same.
        compare: Comparisons.
        select: Choices by a condition, ``np.where``.
        neg: Sign changes.
        fused: Pairs of mul and add that are one instruction.
        instructions: All instructions; those of a loop as often as its largest number of turns.
        loops: For each loop its largest number of turns, and the operations of one turn; only ``instructions`` counts
            them, too.

    Example:
        >>> robot.gravity.operations.sincos
        6
    """

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    sincos: int = 0
    exp: int = 0
    log: int = 0
    tanh: int = 0
    atan2: int = 0
    sign: int = 0
    abs: int = 0
    min: int = 0
    max: int = 0
    compare: int = 0
    select: int = 0
    neg: int = 0
    fused: int = 0
    instructions: int = 0
    loops: tuple[tuple[int, Operations], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, with ``loops`` only if there are some.

        Returns:
            A dict that JSON can hold.
        """
        numbers = dict(vars(self))
        loops = [{"turns": turns, "each": each.to_dict()} for turns, each in numbers.pop("loops")]
        return numbers | ({"loops": loops} if loops else {})

    def __str__(self) -> str:
        apart = ("instructions", "loops")
        shown = [f"{value} {name}" for name, value in vars(self).items() if value and name not in apart]
        turns = [f"up to {turns} turns of ({each})" for turns, each in self.loops]
        return "; ".join([*([", ".join(shown)] if shown or not turns else []), *turns]) or "nothing"


def count(program: Program, *, off_line: bool = False) -> Operations:
    """Count the operations that depend on the state (on line), or those on parameters alone (off line)."""
    on_line = depends_on_state(program)[program.first_instruction :]
    chosen = [code for code, on in zip(program.instructions, on_line, strict=True) if on != off_line]
    times = Counter(code[0] for code in chosen)
    runs = {(program.final(op)[0], tuple(args)) for op, *args in chosen if op >= REPEAT}
    loops = tuple((loop.turns, count(loop.body)) for loop, args in program.runs if (loop, args) in runs)
    single = sum(op < REPEAT for op, *_ in chosen)
    number = lambda *ops: sum(times[op] for op in ops)  # noqa: E731
    return Operations(
        mul=number(*_MULTIPLIES),
        add=number(*_ADDS),
        div=number(Op.DIV),
        sqrt=number(Op.SQRT),
        sincos=len({code[1] for code in chosen if code[0] in (_SIN, _COS)}),
        exp=number(Op.EXP),
        log=number(Op.LOG),
        tanh=number(Op.TANH),
        atan2=number(Op.ATAN2),
        sign=number(Op.SIGN),
        abs=number(Op.ABS),
        min=number(Op.MIN),
        max=number(Op.MAX),
        compare=number(Op.LESS, Op.LESS_EQUAL),
        select=number(Op.SELECT),
        neg=number(Op.NEG),
        fused=number(*FUSED),
        instructions=single + sum(turns * each.instructions for turns, each in loops),
        loops=loops,
    )


def depends_on_state(program: Program) -> list[bool]:
    flags = [port.stage != PARAMETER for port in program.inputs for _ in range(port.size)]
    flags += [False] * len(program.constants)
    for _, a, *others in program.instructions:
        flags.append(flags[a] or any([flags[b] for b in others]))
    return flags
