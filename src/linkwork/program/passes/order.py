"""Order: put each instruction near its uses, so that few values are alive at a time."""

from __future__ import annotations

from ..program import Op, Program
from .dead import rebuild


def order_for_registers(program: Program) -> Program:
    """Sines and cosines first (they are calls), then depth first from the results, the deeper operand first."""
    first = program.first_instruction
    code = dict(program.numbered())
    height = [0] * program.n_values
    for number, (_, *args) in program.numbered():
        height[number] = 1 + max(height[a] for a in args)

    order: list[int] = []
    done: set[int] = set()

    def emit(root: int) -> None:
        stack = [root]
        while stack:
            number = stack[-1]
            if number < first or number in done:
                stack.pop()
                continue
            waiting = [a for a in code[number][1:] if a >= first and a not in done]
            if waiting:
                stack.extend(sorted(waiting, key=height.__getitem__))
            else:
                stack.pop()
                done.add(number)
                order.append(number)

    for number, (op, *_) in program.numbered():
        if op in (Op.SIN, Op.COS):
            emit(number)
    for result in program.results:
        emit(result)
    return rebuild(program, ((number, code[number]) for number in order), program.results)
