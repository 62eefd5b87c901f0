"""Which values are in registers when: every plan is replayed on a machine that has no more than it was promised."""

from dataclasses import replace

import pytest
from straightline import random_program

from linkwork.codegen.native.registers import Drop, Load, Run, Spill, Step, allocate, plan, reordered
from linkwork.codegen.native.target import FEW, WIDE
from linkwork.program import Op

CHOICES = {
    "few": FEW,
    "wide": WIDE,
    "three": replace(FEW, registers=3, reach=0),
    "far reach": replace(WIDE, registers=5, reach=10**6),
}


def steps_of(program):
    return [Step(op, tuple(args), (number,)) for number, (op, *args) in program.numbered()]


def replay(actions, given, stored, registers):
    """What every step computed, as an expression; values are looked for where the plan says they are."""
    held, memory = {}, {value: value for value in given}
    slots, slot_of, made = {}, {}, {}
    needed = {a for action in actions if isinstance(action, Run) for a in action.step.args}

    def fetch(value):
        return slots[slot_of[value]] if value in slot_of else memory[value]

    for action in actions:
        match action:
            case Load(value):
                held[value] = fetch(value)
            case Spill(value, slot):
                slots[slot], slot_of[value] = held[value], slot
            case Drop(value):
                del held[value]
            case Run(step, from_memory):
                assert from_memory not in held
                (value,) = step.makes
                made[value] = (step.op, *(fetch(a) if a == from_memory else held[a] for a in step.args))
                if value in needed:
                    held[value] = made[value]
                if value in stored:
                    memory[value] = made[value]
        assert len(held) <= registers + 1  # one more while room is made for what a step made
    return made


def expected(program, steps):
    found = {k: k for k in range(program.first_instruction)}
    for step in steps:
        found[step.makes[0]] = (step.op, *(found[a] for a in step.args))
    return {step.makes[0]: found[step.makes[0]] for step in steps}


@pytest.mark.parametrize("choices", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("seed", range(8))
def test_values_are_where_the_plan_says(seed, choices):
    program = random_program(seed, 40 + 20 * seed, ((9,), (4, 3)), ((5,),))
    steps = steps_of(program)
    stored = {step.makes[0] for step in steps[:: seed + 2]}
    for order in (steps, reordered(steps)):
        actions = list(allocate(order, stored, choices))
        made = replay(actions, range(program.first_instruction), stored, choices.registers)
        assert made == expected(program, steps)
    assert [a.step for a in plan(steps, stored, choices) if isinstance(a, Run)] in (steps, reordered(steps))


def test_what_is_used_last_of_all_goes_first():
    """Three values, two registers: the one whose next use is farthest away is stored, once, and comes back once."""
    a, b, c, d, e, f = range(10, 16)
    steps = [
        Step(Op.MUL, (0, 1), (a,)),
        Step(Op.MUL, (1, 1), (b,)),
        Step(Op.ADD, (b, b), (c,)),
        Step(Op.ADD, (c, b), (d,)),
        Step(Op.MUL, (d, a), (e,)),
        Step(Op.ADD, (e, e), (f,)),
    ]
    actions = list(allocate(steps, (), replace(WIDE, registers=2, reach=10**6)))
    assert [action for action in actions if isinstance(action, Spill)] == [Spill(a, 0)]
    assert [action.from_memory for action in actions if isinstance(action, Run)] == [0, None, None, None, a, None]


def test_a_quotient_takes_only_its_divisor_from_memory():
    steps = [Step(Op.DIV, (0, 1), (2,)), Step(Op.SUB, (0, 2), (3,))]
    runs = [action for action in allocate(steps, (), replace(WIDE, reach=0)) if isinstance(action, Run)]
    assert [run.from_memory for run in runs] == [1, None]


def test_the_longest_way_begins_first():
    """A chain of dependent steps is not kept waiting behind others that nobody needs soon."""
    idle = [Step(Op.MUL, (0, 1), (10 + k,)) for k in range(3)]
    chain = [Step(Op.MUL, (0, 0), (20,)), *(Step(Op.ADD, (20 + k, 0), (21 + k,)) for k in range(5))]
    assert reordered([*idle, *chain])[0] is not idle[1]
    assert reordered([*idle, *chain]).index(chain[0]) < 3
    assert sorted(step.makes for step in reordered([*idle, *chain])) == sorted(s.makes for s in [*idle, *chain])
