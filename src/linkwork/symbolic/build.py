"""symbolic(robot, quantity) -> SymbolicModel: trace a formulation on symbols, and name what it computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import UnknownNameError, UnsupportedError, at_door
from ..formulations import QUANTITIES, VARIABLES, Method, Problem, Variable, find_method, layouts, methods
from ..formulations.regressor import Columns
from ..function import Label
from ..model import ELEMENTS, Layout, Model, grouped
from ..notation.names import WRENCH, Names, entries, vector
from ..notation.robots import SymbolicRobot, Symbols, with_plain_tips, with_symbolic_origin, with_symbols
from ..pipeline import CHOOSING, LARGE, HasModel, bound, compile, model_of
from ..program import FUNCTIONS, PARAMETER, Op, Port, Program, count
from ..program.graph import COS, INPUT, NEG, SIN, Graph, Node
from ..program.passes import absorb_signs
from ..program.replay import replay
from ..program.trace import linearize
from .angles import AngleGraph
from .equations import NAMES, Given, Trace, equations, needed
from .expressions import evaluate, symbols_of
from .polynomials import shortened
from .symbolic_model import SymbolicModel
from .watch import Watch

PARAMETERS = ("minimal", "standard")


def symbolic(
    robot: Model | HasModel,
    quantity: str = "inverse_dynamics",
    *,
    method: str = "auto",
    frame: str | None = None,
    axes: str = "world",
    wrenches: Sequence[str] = (),
    parameters: str = "minimal",
    geometry: bool = True,
    inertias: bool = True,
    friction: bool = True,
    gravity: bool = True,
    zeros: bool = False,
    written_out: bool = False,
) -> SymbolicModel:
    """The equations of a quantity of a Robot (or of its Model), with symbols for its constants.

    ``quantity``, ``method``, ``frame``, ``axes``, ``wrenches``: as of ``compile``. ``parameters``: "minimal" groups the
    inertial parameters into the fewest that act, in equations of their own (XXR2, ...); "standard" leaves them. A
    regressor has the columns of either, as that of ``compile`` has.
    ``geometry`` (lengths and angles), ``inertias`` (rotors too), ``friction`` (springs too) and ``gravity``: True for
    symbols, False for numbers. Constants that are zero and angles of whole quarter turns are left out of the equations;
    ``zeros`` gives inertial parameters that are zero their symbols, too. ``written_out``: no intermediate results but
    sines, cosines and grouped parameters; for small robots.
    """
    if parameters not in PARAMETERS:
        raise UnknownNameError("treatment of parameters", parameters, PARAMETERS)
    how = {"frame": frame, "axes": axes, "wrenches": wrenches, "parameters": parameters}
    label = compile(robot, quantity, method=method, backend="interpreter", **how).label  # checked, the method chosen
    model = model_of(robot)
    columns = bound(model, quantity, parameters=parameters).columns if quantity == "regressor" else None
    if columns is None:  # base parameters are those of the compiler's frames
        model = with_plain_tips(model)
    switches = {"geometry": geometry, "inertias": inertias, "gravity": gravity, "friction": friction, "zeros": zeros}
    names, made = [label.method], []
    if method in CHOOSING and model.nv <= LARGE:  # in symbols another method may be the shortest
        able = (m for m in methods(quantity) if m.candidate and not m.refusal(model, bool(wrenches)))
        names = list(dict.fromkeys([label.method, *(m.name for m in able)]))
    for name in names:
        chosen = find_method(quantity, name, model, wrenches=bool(wrenches)) if name else None
        # a method that groups the parameters itself does it in fewer steps alone
        groups = parameters == "minimal" and QUANTITIES[quantity].of_joints and (chosen is None or chosen.grouped)
        with suppress(UnsupportedError) if name != names[-1] or made else nullcontext():
            for group in (False, True) if groups else (False,):
                own = replace(label, method=name)
                made.append(_traced(model, own, chosen, axes, columns, switches, group, written_out))
    best = min(made, key=lambda each: (each.operations.mul + each.operations.add, len(each.equations)))
    return _short(best) if written_out else best


def _traced(
    model: Model,
    label: Label,
    method: Method | None,
    axes: str,
    columns: Columns | None,
    switches: Mapping[str, bool],
    group: bool,
    written_out: bool,
) -> SymbolicModel:
    options: dict[str, Any] = {"frame": label.frame or None, "axes": axes, "wrenches": label.wrenches}
    options["columns"] = columns
    problem, names = Problem(model, label.quantity, method, parameters="standard", **options), Names()
    number = {contact.name: j for j, contact in enumerate(model.switched, 1)}
    number |= {body.joint.name: j for j, body in enumerate(model.bodies, 1)}
    joints = layouts(model)

    def named(variable: Variable, shape: tuple[int, ...]) -> np.ndarray:
        kind = variable.shape[0] if len(shape) == 1 else ""
        at = number if kind != "commands" else {name: k for k, name in enumerate(model.commands.joints, 1)}
        return vector(variable, joints[str(kind)], at) if kind in joints else entries(variable, shape, names)

    inputs = {name: named(VARIABLES[name], shape) for name, shape in problem.inputs.items()}
    if label.wrenches:
        at = [model.frame(name).body for name in label.wrenches]
        inputs["wrenches"] = np.array([[f"{letter}{body}" for letter in WRENCH] for body in at], dtype=object)
    tracing = _Tracing(names, inputs)

    seen = with_symbols(model, tracing.symbols, **switches)
    if switches["geometry"]:
        placed = (seen.frame(name) for name in dict.fromkeys((label.frame, *label.wrenches)) if name)
        moved = {each.name: with_symbolic_origin(each, tracing.symbols) for each in placed}
        seen = replace(seen, frames={**seen.frames, **moved})
    if group:
        seen = tracing.grouped(seen)
    with Watch(seen.visit, tracing.name), _OfNumbers(label):
        results = replace(problem, model=seen).evaluate(*(nodes.tolist() for nodes in tracing.arguments.values()))
    for variable, value in zip(problem.definition.outputs, results.values(), strict=True):
        tracing.output(variable.name, named(variable, problem.outputs[variable.name]), value)
    return tracing.finish(label, written_out)


def from_program(program: Program, label: Label) -> SymbolicModel:
    """The equations of a compiled program: its constants are numbers, its intermediate results have no letters."""

    asked = QUANTITIES.get(label.quantity)
    known = VARIABLES | {variable.name: variable for variable in (asked.outputs if asked else ())}

    def named(port: Port) -> np.ndarray:
        layout = label.layouts.get(port.name, Layout())
        number = {name: k for k, name in enumerate(layout.joints, 1)}
        variable = known.get(port.name, Variable(port.name, port.shape, ""))
        return vector(variable, layout, number) if layout.size else entries(variable, port.shape)

    tracing = _Tracing(Names(), {port.name: named(port) for port in program.inputs})
    values = replay(program, [node for nodes in tracing.arguments.values() for node in nodes.flat])
    start = 0
    for port in program.outputs:
        tracing.output(port.name, named(port), [values[k] for k in program.results[start : start + port.size]])
        start += port.size
    return tracing.finish(label)


class _OfNumbers:
    """Turns a method's need for a number into words."""

    def __init__(self, label: Label):
        self.label = label

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, error: object, *_: Any) -> None:
        if kind is TypeError and "while tracing" in str(error):
            fix = at_door("geometry=False, gravity=False, or another method", "another --method, or --numbers")
            raise UnsupportedError(
                f"method {self.label.method!r} decides by the values of constants, so they cannot all be symbols",
                where=f"robot {self.label.robot!r}", fix=fix,
            ) from None  # fmt: skip


class _Tracing:
    """A graph whose inputs are named, and the names given to its nodes."""

    def __init__(self, names: Names, inputs: Mapping[str, np.ndarray]):
        self.graph, self.names = AngleGraph(sum(array.size for array in inputs.values())), names
        self.given: dict[Node, Given] = {}
        self.results: dict[str, Any] = {}
        self.inputs, self.outputs, self.arguments, self.n_states = {}, {}, {}, 0
        for port, array in inputs.items():
            self.inputs[port] = _array([names.new(name) for name in array.flat], array.shape)
            nodes = [self.graph.input(self.n_states + k) for k in range(array.size)]
            self.arguments[port] = _array(nodes, array.shape)
            self.n_states += array.size
        self.symbols = Symbols(self.graph, self.n_states, names)

    def name(self, scalar: Any, name: str, tag: str = "") -> None:
        """Name a node, if it has no name yet; a negative one by the node behind it."""
        node, way = (scalar.a, -1) if scalar.op == NEG else (scalar, 1)
        if node.op not in (INPUT, SIN, COS):
            self.given.setdefault(node, Given(name, way, tag))

    def grouped(self, model: SymbolicRobot) -> SymbolicRobot:
        """With grouped inertial parameters, named like the standard ones with an R behind the letters."""
        result = replace(model, bodies=grouped(model).bodies)
        for j, body in enumerate(result.bodies, 1):
            for letters, value in zip(ELEMENTS, body.inertia, strict=True):
                if isinstance(value, Node):
                    self.name(value, f"{letters}R{j}")
        return result

    def output(self, port: str, names: np.ndarray, value: Any) -> None:
        """Take an output: each of its entries has a name of its own."""
        self.outputs[port] = _array([self.names.new(name) for name in names.flat], names.shape)
        self.results |= zip(self.outputs[port].flat, _array(value, names.shape).flat, strict=True)

    def finish(self, label: Label, written_out: bool = False) -> SymbolicModel:
        results, values = self.results, self.symbols.values
        live = needed(self.graph, results.values())
        all_inputs = [name for array in self.inputs.values() for name in array.flat] + list(values)
        taking = {name for array in self.outputs.values() if array.ndim == 2 for name in array.flat}
        trace = Trace(results, all_inputs, self.n_states, live, self.given)
        steps = equations(trace, self.names, taking, written_out)
        ports = [Port("state", (self.n_states,)), Port("parameters", (len(values),), PARAMETER)]
        outputs = [Port("results", (len(results),))]
        program = absorb_signs(linearize(label.quantity, ports, outputs, list(results.values())))
        used = {all_inputs[node.a] for node in live if node.op == INPUT}
        return SymbolicModel(
            label,
            self.inputs,
            self.outputs,
            {name: value for name, value in values.items() if name in used},
            steps,
            count(program),
            count(program, off_line=True),
        )


def _short(model: SymbolicModel) -> SymbolicModel:
    """Its outputs each by itself, in the shortest form."""
    states = [name for array in model.inputs.values() for name in array.flat]
    outputs = [name for array in model.outputs.values() for name in array.flat]
    steps = shortened(model.equations, outputs, model.values, states)
    graph = Graph()
    names: dict[str, Any] = {name: graph.input(k) for k, name in enumerate([*states, *model.values])}
    for step in steps:
        names[step.name] = evaluate(step.expression, names, _NAMED, float)
    ports = [Port("state", (len(states),)), Port("parameters", (len(model.values),), PARAMETER)]
    results = [Port("results", (len(outputs),))]
    program = absorb_signs(linearize(model.label.quantity, ports, results, [names[name] for name in outputs]))
    used = set().union(*(symbols_of(step.expression) for step in steps))
    return replace(
        model,
        values={name: value for name, value in model.values.items() if name in used},
        equations=steps,
        operations=count(program),
        off_line_operations=count(program, off_line=True),
    )


_NAMED = {name: FUNCTIONS[Op(op)] for op, name in NAMES.items()}


def _array(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    return np.array(values, dtype=object).reshape(shape)
