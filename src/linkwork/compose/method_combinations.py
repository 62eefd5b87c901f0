"""The combination of methods that gives a program of several quantities the fewest instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import prod
from typing import Any

from ..errors import LinkworkError, UnknownNameError
from ..formulations import Problem, layouts, methods
from ..function import Function
from ..metadata import Label
from ..model import Model, NumberInput
from ..pipeline import CHOOSING, choose, close_methods, fewest, nominal_of, tangents
from ..program import Port, Program, trace
from ..program.graph import StrictGraph

COMBINATIONS = 24  # of methods that are tried; beyond, one quantity after the other
# From methods by quantity, and inputs by name: the results by name, and the quantities that they took.
Run = Callable[[Mapping[str, str], Mapping[str, Any]], tuple[dict[str, Any], list[Problem]]]


def compiled(
    model: Model,
    name: str,
    ports: Sequence[Port],
    run: Run,
    asked: Mapping[str, str],
    meanings: Mapping[str, str],
    dtype: str,
    backend: str,
    wrenches: tuple[str, ...] = (),
    numbers: Mapping[str, NumberInput] = {},
) -> Function:
    """Trace with the combination of methods that gives the fewest instructions, and compile."""
    problems, _, program = fewest(candidate_programs(name, ports, run, asked))
    if twice := [port.name for port in program.outputs if port.name in numbers]:
        fix = f'give the output another name: {{"my_name": "{twice[0]}", ...}}'
        raise LinkworkError("an output has the name of an input", where=name, got=twice[0], fix=fix)
    known = dict(layouts(model))
    for problem in problems:  # which joints are known differs
        known |= {name: layout for name, layout in problem.layouts.items() if name in problem.inputs}
    vectors = {port.name: known[port.name] for port in (*program.inputs, *program.outputs)
               if port.name in known and port.shape == (known[port.name].size,)}  # fmt: skip
    chosen = {problem.quantity: problem.method.name for problem in problems if problem.method is not None}
    label = Label(
        model.name,
        name,
        ", ".join(f"{quantity}: {method}" for quantity, method in chosen.items()),
        layouts=vectors,
        wrenches=wrenches,
        assumed=tuple(dict.fromkeys(sentence for problem in problems for sentence in problem.assumed)),
        nominal=nominal_of(numbers),
        meanings=meanings,
    )
    along = partial(tangents, model, numbers) if Port("q", (model.nq,)) in ports else None
    return Function(program, label, dtype, backend, None, along)


def candidate_programs(
    name: str, ports: Sequence[Port], run: Run, asked: Mapping[str, str]
) -> list[tuple[list[Problem], Program]]:
    """Return the quantities and their traced program by each combination of methods that may be the shortest."""

    def traced(methods: Mapping[str, str]) -> tuple[list[Problem], Program]:
        problems: list[Problem] = []

        def call(*values: Any) -> Mapping[str, Any]:
            results, used = run(methods, dict(zip((port.name for port in ports), values, strict=True)))
            problems.extend(used)
            return results

        return problems, trace(name, call, ports, StrictGraph())

    problems, program = traced(asked)
    open_to: dict[str, list[str]] = {}
    for problem in problems:
        if problem.method is not None and problem.quantity not in asked:
            open_to.setdefault(problem.quantity, close_methods(problem))
    return [(problems, program), *(traced({**asked, **choice}) for choice in _combinations(open_to, problems))]


def _combinations(open_to: Mapping[str, list[str]], problems: Sequence[Problem]) -> Iterator[dict[str, str]]:
    """Other choices of methods: all of them if they are few, else those that change one quantity's."""
    first = {problem.quantity: problem.method.name for problem in problems if problem.method is not None}
    if prod(map(len, open_to.values())) <= COMBINATIONS:
        every = (dict(zip(open_to, names, strict=True)) for names in product(*open_to.values()))
        yield from (choice for choice in every if any(first[q] != name for q, name in choice.items()))
        return
    for quantity, names in open_to.items():
        yield from ({quantity: name} for name in names if name != first[quantity])


def with_method(problem: Problem, asked: Mapping[str, str]) -> Problem:
    """Return the problem with its method: the one asked for, or the one of fewest instructions."""
    asked_one, needs = asked.get(problem.quantity, "auto"), problem.needs
    if not methods(problem.quantity):
        if asked_one not in CHOOSING:
            raise UnknownNameError(f"method of {problem.quantity}", asked_one, CHOOSING)
        return problem
    varied, placed = needs["as_input"], needs["placed"]
    method = choose(problem.model, problem.quantity, asked_one, wrenches=problem.wrenches, varied=varied, placed=placed)
    return replace(problem, method=method)
