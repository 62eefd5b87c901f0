"""Operations of a program, counted exactly and split into off line and on line."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from .program import PARAMETER, Op, Program

_MULTIPLIES = (Op.MUL, Op.FMA, Op.FMS, Op.FNMA)
_ADDS = (Op.ADD, Op.SUB, Op.FMA, Op.FMS, Op.FNMA)


@dataclass(frozen=True)
class Operations:
    """Convention: a fused multiply-add is one mul and one add; ``sincos`` counts the angles whose sine or cosine is
    taken (a pair is one); ``neg`` is a sign change that no other operation absorbed; ``fused`` tells how many of the
    mul and add run as one instruction, ``instructions`` how many there are in all."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    sincos: int = 0
    sign: int = 0
    neg: int = 0
    fused: int = 0
    instructions: int = 0

    def __str__(self) -> str:
        shown = [f"{value} {name}" for name, value in asdict(self).items() if value and name != "instructions"]
        return ", ".join(shown) or "nothing"


def count(program: Program, *, off_line: bool = False) -> Operations:
    """Operations that depend on a state input (on line), or those that depend on parameters alone (off line)."""
    on_line = _depends_on_state(program)
    chosen = [(op, args) for k, (op, *args) in program.numbered() if on_line[k] != off_line]
    number = lambda *ops: sum(op in ops for op, _ in chosen)  # noqa: E731
    return Operations(
        mul=number(*_MULTIPLIES),
        add=number(*_ADDS),
        div=number(Op.DIV),
        sqrt=number(Op.SQRT),
        sincos=len({args[0] for op, args in chosen if op in (Op.SIN, Op.COS)}),
        sign=number(Op.SIGN),
        neg=number(Op.NEG),
        fused=number(Op.FMA, Op.FMS, Op.FNMA),
        instructions=len(chosen),
    )


def _depends_on_state(program: Program) -> list[bool]:
    flags = [port.stage != PARAMETER for port in program.inputs for _ in range(port.size)]
    flags += [False] * len(program.constants)
    for _, *args in program.instructions:
        flags.append(any(flags[a] for a in args))
    return flags
