"""Register allocation of straight-line code.

LLVM's allocator spills a third more, and its scheduler moves instructions to avoid that. Here the value whose next use
is farthest away leaves its register (Belady). Values that are in memory anyway (inputs, constants, values of earlier
functions) are not stored again, and may be memory operands. The code has volatile loads and stores, which LLVM neither
merges nor moves, but still folds into the arithmetic. So the registers are sufficient, and LLVM spills nothing.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from ...program.program import Op
from .target import Choices

FOLDING = frozenset((Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.FMA, Op.FMS, Op.FNMA))  # may take an operand from memory
NOT_THE_FIRST = (Op.SUB, Op.DIV)  # operations whose first operand must be in a register
NEVER = 1 << 60

LATENCY = {Op.DIV: 24, Op.SQRT: 24}  # cycles
USUAL_LATENCY = 4
WINDOW = 4  # instructions among which the next one is chosen
CROWDED = 24  # live values from which on instructions that end some are preferred


@dataclass(frozen=True)
class Step:
    """One instruction (or pseudo operation of the kernel) and the values that it computes."""

    op: int
    args: tuple[int, ...]
    makes: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()  # of the output block, in which it stores its argument


class Load(NamedTuple):
    """Load a value from memory into a register."""

    value: int


class Spill(NamedTuple):
    """Store a value in a slot until its last use."""

    value: int
    slot: int


class Drop(NamedTuple):
    """Free the register of a value."""

    value: int


class Run(NamedTuple):
    """Execute a step; the operand ``from_memory`` is not in a register."""

    step: Step
    from_memory: int | None


Action = Load | Spill | Drop | Run


def plan(steps: Sequence[Step], stored: Collection[int], choices: Choices) -> list[Action]:
    """Plan the execution of ``steps``. Values of ``stored`` are written to memory when they are computed.

    The steps are reordered to wait less if that fits the registers: one memory access for two instructions is hidden
    behind the arithmetic, but more accesses cost more than waiting.
    """
    if choices.reorder:
        actions = list(allocate(reordered(steps), stored, choices))
        if sum(map(_accesses, actions)) <= len(steps) / 2:
            return actions
    return list(allocate(steps, stored, choices))


def _accesses(action: Action) -> bool:
    return isinstance(action, (Load, Spill)) or (isinstance(action, Run) and action.from_memory is not None)


def allocate(steps: Sequence[Step], stored: Collection[int], choices: Choices) -> Iterator[Action]:
    computed = {value for step in steps for value in step.makes}
    uses: dict[int, list[int]] = {}
    for i, step in enumerate(steps):
        for a in dict.fromkeys(step.args):
            uses.setdefault(a, []).append(i)
    in_registers: set[int] = set()
    slots: dict[int, int] = {}
    free: list[int] = []
    new_slot = count()

    def next_use(value: int, i: int) -> int:
        """Return the first step after step i that uses a value."""
        places = uses.get(value, ())
        k = bisect_right(places, i)
        return places[k] if k < len(places) else NEVER

    def make_room(i: int, needed: Collection[int]) -> Iterator[Action]:
        while len(in_registers) >= choices.registers:
            victim = max((v for v in in_registers if v not in needed), key=lambda v: next_use(v, i))
            if victim in computed and victim not in stored and victim not in slots:
                slots[victim] = free.pop() if free else next(new_slot)
                yield Spill(victim, slots[victim])
            in_registers.discard(victim)
            yield Drop(victim)

    def to_take_from_memory(i: int, step: Step, away: Sequence[int]) -> int | None:
        """Return the operand whose next use is so far away that a register would be wasted on it, or None."""
        if step.op not in FOLDING:
            return None
        first = step.args[0] if step.op in NOT_THE_FIRST else None
        may = [a for a in away if a != first and step.args.count(a) == 1]
        farthest = max(may, key=lambda a: next_use(a, i), default=None)
        return farthest if farthest is not None and next_use(farthest, i) > i + choices.reach else None

    for i, step in enumerate(steps):
        operands = dict.fromkeys(step.args)
        away = [a for a in operands if a not in in_registers]
        from_memory = to_take_from_memory(i, step, away)
        for a in away:
            if a != from_memory:
                yield from make_room(i - 1, operands)
                in_registers.add(a)
                yield Load(a)
        yield Run(step, from_memory)
        for a in operands:
            if next_use(a, i) == NEVER:
                if a in in_registers:
                    in_registers.discard(a)
                    yield Drop(a)
                if a in slots:
                    free.append(slots[a])
        for value in step.makes:
            if next_use(value, i) < NEVER:
                yield from make_room(i, ())
                in_registers.add(value)


def reordered(steps: Sequence[Step]) -> list[Step]:
    """Return the steps in a good order for a processor that starts two instructions per cycle.

    Of the first few steps whose operands are available, the next is the one with the longest path to the end, less a
    penalty for the live values that it adds.
    """
    maker = {value: i for i, step in enumerate(steps) for value in step.makes}
    needs = [{maker[a] for a in step.args if a in maker} for step in steps]
    users: list[list[int]] = [[] for _ in steps]
    for i, needed in enumerate(needs):
        for k in needed:
            users[k].append(i)
    latency = [LATENCY.get(Op(step.op), USUAL_LATENCY) if step.makes else 0 for step in steps]
    to_the_end = [0] * len(steps)
    for i in reversed(range(len(steps))):
        to_the_end[i] = latency[i] + max((to_the_end[u] for u in users[i]), default=0)
    users_left, operands_left = [len(u) for u in users], [len(needed) for needed in needs]
    ready = [i for i, left in enumerate(operands_left) if not left]
    starts = [0.0] * len(steps)  # cycle in which all operands are available
    coming: list[tuple[float, int]] = []
    cycle, alive, order = 0.0, 0, []

    def growth(i: int) -> int:
        """Return the increase in the number of live values."""
        return bool(users[i]) - sum(users_left[k] == 1 for k in needs[i])

    while ready or coming:
        while coming and coming[0][0] <= cycle:
            insort(ready, heappop(coming)[1])
        if not ready:
            cycle = coming[0][0]
            continue
        if alive >= CROWDED:
            best = min(ready[:WINDOW], key=lambda i: (growth(i), -to_the_end[i]))
        else:
            first = ready[0]
            best = max(ready[:WINDOW], key=lambda i: (to_the_end[i] - (i - first) / 2 - 4 * growth(i), -i))
        ready.remove(best)
        alive += growth(best)
        order.append(steps[best])
        for k in needs[best]:
            users_left[k] -= 1
        for u in users[best]:
            starts[u] = max(starts[u], cycle + latency[best])
            operands_left[u] -= 1
            if not operands_left[u]:
                heappush(coming, (starts[u], u))
        cycle += 0.5
    return order
