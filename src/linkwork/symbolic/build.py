"""Trace a formulation with symbols in place of numbers, and name its intermediate results: a SymbolicModel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..compose import compile
from ..errors import UnknownNameError, UnsupportedError, at_door
from ..formulations import QUANTITIES, VARIABLES, Method, Problem, Variable, find_method, layouts, methods
from ..formulations.problem import PARAMETERS
from ..formulations.regressor import Columns
from ..function import Label
from ..model import ELEMENTS, Layout, Model, grouped
from ..notation.names import WRENCH, Names, entries, vector
from ..notation.robots import SymbolicRobot, Symbols, with_plain_tips, with_symbolic_origin, with_symbols
from ..pipeline import CHOOSING, LARGE, HasModel, bound, model_of
from ..program import FUNCTIONS, PARAMETER, Op, Operations, Port, Program, count
from ..program.graph import COS, INPUT, NEG, SIN, Graph, Node
from ..program.passes import absorb_signs
from ..program.replay import replay
from ..program.trace import linearize
from ..renamed import renamed_arguments
from .angles import AngleGraph
from .equations import NAMES, NodeName, Trace, equations, needed
from .expressions import evaluate, symbols_of
from .polynomials import shortened
from .symbolic_model import SymbolicModel
from .watch import Watch


@renamed_arguments(written_out="expand")
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
    expand: bool = False,
) -> SymbolicModel:
    """Return the equations of a quantity, with symbols for the robot's constants.

    Zero constants and angles that are multiples of a quarter turn do not appear in the equations.

    Args:
        robot: A Robot, or its Model.
        quantity: Name of the quantity; default "inverse_dynamics".
        method: Formulation; default "auto", the one with the fewest operations.
        frame: Frame of a quantity that has one; default None.
        axes: Axes of such a quantity, "world" or "local"; default "world".
        wrenches: Frames on which external wrenches act; default none.
        parameters: "minimal" (default) groups the inertial parameters into the fewest that matter, in equations of
            their own (XXR2, ...); "standard" keeps them. The columns of a regressor follow this choice.
        geometry: Symbols (True, default) or numbers (False) for lengths and angles.
        inertias: Symbols or numbers for the inertias of links and rotors; default True.
        friction: Symbols or numbers for friction and springs; default True.
        gravity: Symbols or numbers for gravity; default True.
        zeros: Whether inertial parameters that are zero get symbols, too; default False.
        expand: Whether to expand all intermediate results except sines, cosines and grouped parameters, for small
            robots; default False.

    Returns:
        The equations.

    Raises:
        UnknownNameError: There is no such quantity, method, frame or treatment of parameters.
        UnsupportedError: The method does not work with symbols, or expanded equations are too long.

    Example:
        >>> from linkwork.symbolic import symbolic
        >>> symbolic(linkwork.load("planar2r"), "gravity", expand=True).outputs["g"]
        array(['g1', 'g2'], dtype=object)
    """
    if parameters not in PARAMETERS:
        raise UnknownNameError("treatment of parameters", parameters, PARAMETERS)
    options = {"frame": frame, "axes": axes, "wrenches": wrenches, "parameters": parameters}
    function = compile(robot, quantity, method=method, backend="interpreter", **options)  # checks all, and chooses
    _require_no_loops(function.program)
    label = function.label
    model = model_of(robot)
    columns = bound(model, quantity, parameters=parameters).columns if quantity == "regressor" else None
    if columns is None:  # a regressor keeps the compiler's frames, to which its base parameters belong
        model = with_plain_tips(model)
    switches = {"geometry": geometry, "inertias": inertias, "gravity": gravity, "friction": friction, "zeros": zeros}
    names, candidates = [label.method], []
    if method in CHOOSING and model.nv <= LARGE:  # with symbols another method may be the shortest
        able = (m for m in methods(quantity) if m.candidate and not m.refusal(model, bool(wrenches)))
        names = list(dict.fromkeys([label.method, *(m.name for m in able)]))
    for name in names:
        entry = find_method(quantity, name, model, wrenches=bool(wrenches)) if name else None
        # A method that groups the parameters itself does so in fewer steps.
        groups = parameters == "minimal" and QUANTITIES[quantity].of_joints and (entry is None or entry.grouped)
        with suppress(UnsupportedError) if name != names[-1] or candidates else nullcontext():
            for group in (False, True) if groups else (False,):
                label_of_method = replace(label, method=name)
                candidates.append(_traced(model, label_of_method, entry, axes, columns, switches, group, expand))
    best = min(candidates, key=lambda each: (each.operations.mul + each.operations.add, len(each.equations)))
    return _short(best) if expand else best


def _traced(
    model: Model,
    label: Label,
    method: Method | None,
    axes: str,
    columns: Columns | None,
    switches: Mapping[str, bool],
    group: bool,
    expand: bool,
) -> SymbolicModel:
    """Return the equations of one method, with grouped parameters or not."""
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

    traced_model = with_symbols(model, tracing.symbols, **switches)
    if switches["geometry"]:
        frames = (traced_model.frame(name) for name in dict.fromkeys((label.frame, *label.wrenches)) if name)
        frames_with_symbols = {each.name: with_symbolic_origin(each, tracing.symbols) for each in frames}
        traced_model = replace(traced_model, frames={**traced_model.frames, **frames_with_symbols})
    if group:
        traced_model = tracing.grouped(traced_model)
    with Watch(traced_model.visit, tracing.name), _symbols_refused(label):
        results = replace(problem, model=traced_model).evaluate(
            *(nodes.tolist() for nodes in tracing.arguments.values())
        )
    for variable, value in zip(problem.definition.outputs, results.values(), strict=True):
        tracing.output(variable.name, named(variable, problem.outputs[variable.name]), value)
    return tracing.finish(label, expand)


def _require_no_loops(program: Program) -> None:
    if program.loops:
        fix = "print one turn of the loop as a function of its own, or see Function.program.loops"
        raise UnsupportedError("a program with loops has no list of equations", where=program.name, fix=fix)


def from_program(program: Program, label: Label) -> SymbolicModel:
    """Return the equations of a compiled program, with numbers for constants and no symbols of the paper."""
    _require_no_loops(program)
    quantity = QUANTITIES.get(label.quantity)
    variables = VARIABLES | {variable.name: variable for variable in (quantity.outputs if quantity else ())}

    def named(port: Port) -> np.ndarray:
        layout = label.layouts.get(port.name, Layout())
        number = {name: k for k, name in enumerate(layout.joints, 1)}
        variable = variables.get(port.name, Variable(port.name, port.shape, ""))
        return vector(variable, layout, number) if layout.size else entries(variable, port.shape)

    tracing = _Tracing(Names(), {port.name: named(port) for port in program.inputs})
    values = replay(program, [node for nodes in tracing.arguments.values() for node in nodes.flat])
    start = 0
    for port in program.outputs:
        tracing.output(port.name, named(port), [values[k] for k in program.results[start : start + port.size]])
        start += port.size
    return tracing.finish(label)


@contextmanager
def _symbols_refused(label: Label) -> Iterator[None]:
    """Explain the TypeError of a method that needs the value of a symbol."""
    try:
        yield
    except TypeError as error:
        if "while tracing" not in str(error):
            raise
        raise UnsupportedError(
            f"method {label.method!r} decides by the values of constants, so they cannot all be symbols",
            where=f"robot {label.robot!r}",
            fix=at_door("geometry=False, gravity=False, or another method", "another --method, or --numbers"),
        ) from None


class _Tracing:
    """A graph with named inputs, and the names of its nodes."""

    def __init__(self, names: Names, inputs: Mapping[str, np.ndarray]):
        self.graph, self.names = AngleGraph(sum(array.size for array in inputs.values())), names
        self.node_names: dict[Node, NodeName] = {}
        self.results: dict[str, Any] = {}
        self.inputs, self.outputs, self.arguments, self.n_states = {}, {}, {}, 0
        for port, array in inputs.items():
            self.inputs[port] = _array([names.new(name) for name in array.flat], array.shape)
            nodes = [self.graph.input(self.n_states + k) for k in range(array.size)]
            self.arguments[port] = _array(nodes, array.shape)
            self.n_states += array.size
        self.symbols = Symbols(self.graph, self.n_states, names)

    def name(self, scalar: Any, name: str, tag: str = "") -> None:
        """Name a node unless it has a name; a negation names its operand."""
        node, sign = (scalar.a, -1) if scalar.op == NEG else (scalar, 1)
        if node.op not in (INPUT, SIN, COS):
            self.node_names.setdefault(node, NodeName(name, sign, tag))

    def grouped(self, model: SymbolicRobot) -> SymbolicRobot:
        """Return the robot with grouped inertial parameters, named like the standard ones but with an R: XXR2."""
        result = replace(model, bodies=grouped(model).bodies)
        for j, body in enumerate(result.bodies, 1):
            for letters, value in zip(ELEMENTS, body.inertia, strict=True):
                if isinstance(value, Node):
                    self.name(value, f"{letters}R{j}")
        return result

    def output(self, port: str, names: np.ndarray, value: Any) -> None:
        """Add an output, with a name for each of its entries."""
        self.outputs[port] = _array([self.names.new(name) for name in names.flat], names.shape)
        self.results |= zip(self.outputs[port].flat, _array(value, names.shape).flat, strict=True)

    def finish(self, label: Label, expand: bool = False) -> SymbolicModel:
        results, values = self.results, self.symbols.values
        live = needed(self.graph, results.values())
        all_inputs = [name for array in self.inputs.values() for name in array.flat] + list(values)
        preferred = {name for array in self.outputs.values() if array.ndim == 2 for name in array.flat}
        trace = Trace(results, all_inputs, self.n_states, live, self.node_names)
        steps = equations(trace, self.names, preferred, expand)
        inputs = {all_inputs[node.a] for node in live if node.op == INPUT}
        constants = {name: value for name, value in values.items() if name in inputs}
        operations = _operations(label, self.n_states, len(values), list(results.values()))
        return SymbolicModel(label, self.inputs, self.outputs, constants, steps, *operations)


def _operations(label: Label, n_states: int, n_constants: int, results: list[Any]) -> tuple[Operations, Operations]:
    """Count the operations that depend on the state, and those that depend on constants alone."""
    ports = [Port("state", (n_states,)), Port("parameters", (n_constants,), PARAMETER)]
    program = absorb_signs(linearize(label.quantity, ports, [Port("results", (len(results),))], results))
    return count(program), count(program, off_line=True)


def _short(model: SymbolicModel) -> SymbolicModel:
    """Return the model with each output by itself, in its shortest form."""
    states = [name for array in model.inputs.values() for name in array.flat]
    outputs = [name for array in model.outputs.values() for name in array.flat]
    steps = shortened(model.equations, outputs, model.values, states)
    graph = Graph()
    names: dict[str, Any] = {name: graph.input(k) for k, name in enumerate([*states, *model.values])}
    functions = {name: FUNCTIONS[Op(op)] for op, name in NAMES.items()}
    for step in steps:
        names[step.name] = evaluate(step.expression, names, functions, float)
    operations = _operations(model.label, len(states), len(model.values), [names[name] for name in outputs])
    symbols = set().union(*(symbols_of(step.expression) for step in steps))
    values = {name: value for name, value in model.values.items() if name in symbols}
    return SymbolicModel(model.label, model.inputs, model.outputs, values, steps, *operations)


def _array(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    return np.array(values, dtype=object).reshape(shape)
