"""Where the columns meet: compile(model, quantity) -> Function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .codegen.backend import BACKENDS
from .codegen.optimised import optimised
from .errors import LinkworkError, UnknownNameError, UnsupportedError, one_of
from .formulations import QUANTITIES, Method, Request, by_inertia_and_bias, entries, find, methods, sizes
from .function import Function
from .label import DTYPES, Label
from .model import Model, grouped
from .parameters import parameter_vector
from .program import PARAMETER, Port, Program, count, trace
from .program.passes import absorb_signs, fuse_multiply_add
from .spatial import Inertia, Symmetric, Vector
from .timing import least_seconds

AXES = ("world", "local")
PARAMETERS = ("minimal", "standard", "input")
COLUMNS = ("minimal", "standard", "lin")  # of a regressor, which does not depend on their values
LARGE = 36  # freedoms; beyond, factoring the inertia matrix takes more operations, and long to trace
CLOSE = 1.01  # how many times the fewest instructions as traced a method may have and yet be tried
CHOOSING = ("auto", "fastest")  # instead of a method's name


def compile(
    robot: Any,
    quantity: str,
    *,
    method: str = "auto",
    frame: str | None = None,
    axes: str = "world",
    wrenches: Sequence[str] = (),
    parameters: str = "minimal",
    payload: str | None = None,
    dtype: Any = "float64",
    backend: str = "native",
) -> Function:
    """Compile a quantity of a Robot (or of its Model).

    ``method``: a name from the catalog. "auto" takes the one with the fewest instructions for this robot among those
    worth trying (``Method.candidate``), "fastest" the one of them that takes the least time here.
    ``frame``, ``axes``: for pose, jacobian, jacobian_drift. ``wrenches``: names of frames; adds the input ``wrenches``
    of shape (len(wrenches), 6): force, then moment about the frame's origin, in its axes, applied to the robot.
    ``parameters``: "minimal" groups the inertial parameters into the fewest that act on the joints (where the quantity
    is a matter of the joints alone), "standard" leaves them as they are (some methods group them themselves), "input"
    adds the input ``parameters`` of shape (bodies, 10), those of each moving body in the order of ``Robot.parameters``.
    ``payload``: name of a frame; adds the input ``payload`` of shape (10,): mass, centre of mass (3) in that frame, and
    inertia about the centre of mass (xx, xy, xz, yy, yz, zz) in its axes.
    ``backend``: "interpreter" runs in NumPy, without LLVM.
    """
    model = getattr(robot, "model", robot)
    if not isinstance(model, Model):
        raise UnsupportedError("this is not a robot", got=repr(robot), fix=f"linkwork.load({robot!r})")
    if isinstance(wrenches, str) or not isinstance(wrenches, Sequence):
        fix = f"wrenches=[{wrenches!r}]" if isinstance(wrenches, str) else "give their names; values go into the call"
        raise UnsupportedError("wrenches is a list of frames", got=repr(wrenches), fix=fix)
    wrenches = tuple(wrenches)
    if not all(isinstance(name, str) for name in wrenches):
        raise UnsupportedError("wrenches is a list of frames", got=repr(wrenches), expected="names of frames")
    try:
        dtype = np.dtype(dtype).name
    except (TypeError, ValueError):
        dtype = repr(dtype)  # told below
    names = {"quantity": quantity, "method": method, "axes": axes, "parameters": parameters, "backend": backend}
    names |= {name: value for name, value in (("frame", frame), ("payload", payload)) if value is not None}
    for name, value in names.items():
        if not isinstance(value, str):
            raise UnsupportedError(
                f"{name} is a name", where=f"compile({name}=...)", got=repr(value), expected="a text"
            )
    for value, allowed, what in (
        (dtype, DTYPES, "dtype"),
        (backend, BACKENDS, "backend"),
        (axes, AXES, "choice of axes"),
        (parameters, COLUMNS if quantity == "regressor" else PARAMETERS, "treatment of parameters"),
    ):
        if value not in allowed:
            raise UnknownNameError(what, str(value), allowed)
    options: dict[str, Any] = {"frame": frame, "axes": axes, "parameters": parameters, "payload": payload}
    candidates = _trace_candidates(model, quantity, method, wrenches=wrenches, **options)

    def with_wrenches(names: tuple[str, ...]) -> Function:
        return compile(model, quantity, method=method, dtype=dtype, backend=backend, wrenches=names, **options)

    takes_more = QUANTITIES[quantity].takes_wrenches and not wrenches
    own_axes = axes if QUANTITIES[quantity].has_axes else ""
    if method == "fastest":
        chosen = [(name, optimised(program)) for name, program in candidates]
    else:
        name, _, program = _fewest(candidates)
        chosen = [(name, program)]
    functions = []
    for name, program in chosen:
        joints = entries(model, quantity)
        carried = wrenches, own_axes, payload or "", tuple(_assumed(model, quantity))
        nominal = _nominal(model) if parameters == "input" else {}
        label = Label(model.name, quantity, name, frame or "", *joints, *carried, nominal)
        functions.append(Function(program, label, dtype, backend, with_wrenches if takes_more else None))
    return min(functions, key=_seconds) if len(functions) > 1 else functions[0]


def _assumed(model: Model, quantity: str) -> Iterator[str]:
    """Sentences on what a function of this robot has built in, beside its links."""
    moves = QUANTITIES[quantity].takes_wrenches
    joints = [body.joint for body in model.bodies if not body.joint.floating]
    if moves or quantity in ("gravity", "potential_energy", "regressor"):
        yield f"Gravity: {' '.join(f'{g:g}' for g in model.gravity)} m/s^2, in axes of the world."
    if moves:
        width = model.friction_width
        smooth = f"Fs v / sqrt(v^2 + w^2), w = {width:g} rad/s (m/s)" if width else "Fs sign(v)"
        laws = {"viscous": "viscous, Fv v", "coulomb": f"Coulomb, {smooth}"}
        friction = [law for name, law in laws.items() if any(getattr(joint, name) for joint in joints)]
        yield f"Friction of the joints: {'; '.join(friction) or 'none'}."
    if moves or quantity in ("inertia_matrix", "kinetic_energy"):
        yield f"Rotor inertias: {'included' if any(joint.rotor_inertia for joint in joints) else 'none'}."
    if (moves or quantity == "potential_energy") and any(joint.stiffness for joint in joints):
        yield "Springs at joints: included."
    if moves and model.forces:
        yield f"Forces of the surroundings on: {', '.join(frame.name for frame, _ in model.forces)}."


def _nominal(model: Model) -> dict[str, tuple[float, ...]]:
    rows = zip(model.bodies, model.parameters(), strict=True)
    return {body.name: tuple(map(float, row)) for body, row in rows}


def traced(
    robot: Any, quantity: str, *, method: str = "auto", frame: str | None = None, parameters: str = "minimal"
) -> tuple[str, Program]:
    """The method that ``compile`` would take and its program as it is traced, before the passes."""
    model = getattr(robot, "model", robot)
    options = {"frame": frame, "axes": "world", "wrenches": (), "parameters": parameters, "payload": None}
    name, program, _ = _fewest(_trace_candidates(model, quantity, method, **options))
    return name, program


def _fewest(candidates: list[tuple[str, Program]]) -> tuple[str, Program, Program]:
    """The method with the fewest instructions, its program as traced and optimised. Only where others come close as
    traced are they optimised, too."""
    if len(candidates) > 1:
        counts = [_instructions(program) for _, program in candidates]
        candidates = [pair for pair, n in zip(candidates, counts, strict=True) if n <= CLOSE * min(counts)]
    made = [(name, program, optimised(program)) for name, program in candidates]
    return min(made, key=lambda each: count(each[2]).instructions)


def _instructions(program: Program) -> int:
    """As traced."""
    return count(fuse_multiply_add(absorb_signs(program))).instructions


def _seconds(function: Function) -> float:
    """Of a batch of random states, once it is compiled."""
    random = np.random.default_rng(0)
    states = [random.normal(size=(1024, *port.shape)).astype(function.dtype) for port in function.program.inputs]
    return least_seconds(lambda: function(*states), runs=10)


def _trace_candidates(model: Model, quantity: str, method: str, **options: Any) -> list[tuple[str, Program]]:
    """Names and programs of the method asked for, or of those among which "auto" and "fastest" choose."""
    available = methods(quantity)
    if not available:
        if method not in CHOOSING:
            raise UnknownNameError(f"method of {quantity}", method, CHOOSING)
        return [("", _trace(model, quantity, None, **options))]
    needs = {"wrenches": bool(options["wrenches"])}
    needs["as_input"] = options["parameters"] == "input" or options["payload"] is not None
    if method in CHOOSING:
        candidates = [m for m in available if m.candidate and not m.refusal(model, **needs)]
        linear = [m for m in candidates if m.linear]
        if model.nv > LARGE and linear:
            candidates = linear
        elif quantity == "forward_dynamics":  # also by the best inertia matrix and the best bias
            parts = ("inertia_matrix", options | {"wrenches": ()}), ("bias", options)
            found = [_trace_candidates(model, part, "auto", **how) for part, how in parts]
            names = [min(each, key=lambda pair: _instructions(pair[1]))[0] for each in found]
            candidates.append(find(quantity, "+".join(names), model, **needs))
    else:
        candidates = [find(quantity, method, model, **needs)]
    return [(candidate.name, _trace(model, quantity, candidate, **options)) for candidate in candidates]


def _trace(
    model: Model,
    quantity: str,
    method: Method | None,
    *,
    frame: str | None,
    axes: str,
    wrenches: Sequence[str],
    parameters: str,
    payload: str | None,
) -> Program:
    asked = QUANTITIES[quantity]
    if asked.of_frame and frame is None:
        expected = "frame=, " + one_of("", list(model.frames))
        raise LinkworkError(f"{quantity} needs a frame", where=model.name, expected=expected)
    if frame is not None and not asked.of_frame:
        raise LinkworkError(f"{quantity} has no frame", where=model.name, got=f"frame={frame!r}")
    if axes != "world" and not asked.has_axes:
        raise LinkworkError(f"{quantity} has no choice of axes", where=model.name, got=f"axes={axes!r}")
    if wrenches and not asked.takes_wrenches:
        raise LinkworkError(f"{quantity} takes no wrenches", where=model.name, got=", ".join(wrenches))
    request = Request(
        method=method.function if method else None,
        frame=model.frame(frame) if frame is not None else None,
        axes=axes,
        loaded=tuple(model.frame(name) for name in wrenches),
        closed=method is not None and method.closed,
    )
    size, mixing = sizes(model), None
    if quantity == "regressor" and parameters != "standard":
        vector = parameter_vector(model, parameters)
        request, mixing = replace(request, columns=vector.columns), vector.mixing
        size |= {"parameters": len(vector.columns)}
    ports = [Port(name, (size[name],)) for name in asked.inputs]
    if wrenches:
        ports.append(Port("wrenches", (len(wrenches), 6)))
    if parameters == "input":
        ports.append(Port("parameters", (model.n_bodies, 10), PARAMETER))
    if payload is not None:
        ports.append(Port("payload", (10,), PARAMETER))
        if not model.frame(payload).body:
            raise UnsupportedError("a payload is carried by a moving link", where=model.name, got=f"frame {payload!r}")

    def run(*values: Any) -> Mapping[str, Any]:
        seen, given = model, list(values)
        carried = given.pop() if payload is not None else None
        if parameters == "input":
            seen = model.with_parameters(given.pop())
        if carried is not None and payload is not None:
            seen = carrying(seen, payload, carried)
        if parameters != "standard" and asked.of_joints and (method is None or method.grouped):
            seen = grouped(seen)
        result = asked.function(seen, request, *given)
        if mixing is not None:
            result = np.array(result, object) @ mixing
        results = (result,) if isinstance(asked.output, str) else result
        shapes = asked.outputs
        return {name: shaped(value, shapes[name]) for name, value in zip(shapes, results, strict=True)}

    def shaped(value: Any, shape: Sequence[int | str]) -> np.ndarray:
        return np.array(value, dtype=object).reshape([size[n] if isinstance(n, str) else n for n in shape])

    return trace(quantity, run, ports)


def choose(
    model: Model, quantity: str, method: str = "auto", *, wrenches: Sequence[str] = (), varied: bool = False
) -> Method:
    """The method to take where a quantity is a part of a larger program; ``varied``: inertias are inputs. Constrained
    dynamics is by the sum "A+B" of a method of the inertia matrix and one of the bias."""
    if not isinstance(method, str):
        raise UnknownNameError(f"method of {quantity}", method, (*CHOOSING, *(each.name for each in methods(quantity))))
    if quantity == "constrained_dynamics":
        if method not in CHOOSING and "+" not in method:
            raise UnknownNameError("method for a robot with loops", method, CHOOSING, where="inertia matrix + bias")
        parts = method.split("+", 1) if "+" in method else (method, method)
        inertia = choose(model, "inertia_matrix", parts[0].strip(), varied=varied)
        bias = choose(model, "bias", parts[1].strip(), wrenches=wrenches, varied=varied)
        return by_inertia_and_bias(inertia, bias, quantity)
    if method in CHOOSING:
        options = {"frame": None, "axes": "world", "parameters": "input" if varied else "minimal", "payload": None}
        candidates = _trace_candidates(model, quantity, "auto", wrenches=tuple(wrenches), **options)
        method = min(candidates, key=lambda pair: _instructions(pair[1]))[0]
    return find(quantity, method, model, wrenches=bool(wrenches), as_input=varied)


def carrying(model: Model, frame: str, payload: Sequence[Any]) -> Model:
    """The robot with a body fixed to a frame: mass, centre of mass, inertia about it."""
    carrier = model.frame(frame)
    body = carrier.pose.inertia_outward(Inertia.central_of(payload[0], Vector(*payload[1:4]), Symmetric(*payload[4:])))
    return model.with_inertias(
        [own.inertia + body if i == carrier.body else own.inertia for i, own in enumerate(model.bodies, 1)]
    )
