"""What every Function can make of itself: its derivatives, each a Function again, and packed results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from .codegen.optimised import optimised
from .derive import hessian, hvp, jacobian, jvp, vjp
from .errors import LinkworkError, UnknownNameError
from .metadata import Label
from .program import STATE, Port, Program
from .sparsity import Pattern, packed

if TYPE_CHECKING:
    from .function import Function

COORDINATES = ("tangent", "ambient")
Names = str | Sequence[str] | None


class Differentiable:
    """Its ``program``, ``label`` and ``tangents`` are those of a Function.

    All methods take ``wrt``, the inputs by which is differentiated (nothing said: all that belong to the state), and
    ``of``, the outputs (nothing said: all). Derivatives by q have one column for each independent velocity: they are
    taken along the step ``robot.coordinates.integrate(q, d)``, in the own axes of floating bodies and ball joints, and
    along closed loops. ``coordinates="ambient"`` takes the numbers of q as they are.
    """

    program: Program
    label: Label
    tangents: Mapping[str, Program]
    __name__: str
    _derived: Callable[..., Function]

    def derivative(
        self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent", value: bool = False
    ) -> Function:
        """``dOUTPUT_dINPUT`` for each output and input, of shape (..., *output, *input); the same inputs.
        ``value=True``: the outputs themselves come first."""
        return self._made(jacobian, wrt, of, coordinates, value=value)

    def vjp(
        self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent", value: bool = False
    ) -> Function:
        """Weights times derivative, without making it: takes further inputs ``OUTPUT_bar``, gives ``INPUT_bar``, the
        slope of the sum of all outputs times their weights. About twice as many operations as the function itself."""
        return self._made(vjp, wrt, of, coordinates, value=value)

    def jvp(
        self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent", value: bool = False
    ) -> Function:
        """Derivative times a direction, without making it: takes further inputs ``dINPUT``, gives ``dOUTPUT``."""
        return self._made(jvp, wrt, of, coordinates, value=value)

    def hessian(self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent") -> Function:
        """``d2OUTPUT_dINPUT_dINPUT`` for each output and pair of inputs (the pair in the order of ``wrt``), of shape
        (..., *output, *first, *second). By q it is that of the step ``integrate(q, d)`` at d = 0, so symmetric."""
        return self._made(hessian, wrt, of, coordinates)

    def hvp(self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent") -> Function:
        """Hessian times a direction, without making it: takes further inputs ``OUTPUT_bar`` (1 for a single number) and
        ``dINPUT``, gives ``INPUT_bar``."""
        return self._made(hvp, wrt, of, coordinates)

    def _made(self, how: Callable[..., Program], wrt: Names, of: Names, coordinates: str, **options: Any) -> Function:
        program = self.program
        states = [port.name for port in program.inputs if port.stage == STATE]
        along = self._chosen(wrt, states, [port.name for port in program.inputs], "input", "wrt")
        outputs = [port.name for port in program.outputs]
        shown = self._chosen(of, outputs, outputs, "output", "of")
        if coordinates not in COORDINATES:
            raise UnknownNameError("choice of coordinates", coordinates, COORDINATES, where=self.__name__)
        if not isinstance(value := options.get("value", False), bool):
            raise LinkworkError("value is True or False", where=self.__name__, got=repr(value))
        tangents = {} if coordinates == "ambient" else {k: x for k, x in self.tangents.items() if k in along}

        def make() -> tuple[Program, Label]:
            made = optimised(how(program, along, shown, tangents, **options))
            return made, _label(self.label, program, made, _meanings(along, shown, tangents))

        key = how.__name__, along, shown, coordinates, *options.values()
        return self._derived(key, make, lambda other: other._made(how, along, shown, coordinates, **options))

    def _chosen(
        self, names: Names, default: Sequence[str], known: Sequence[str], kind: str, where: str
    ) -> tuple[str, ...]:
        names, where = default if names is None else names, f"{self.__name__}, {where}"
        chosen = tuple(names) if isinstance(names, Sequence) and not isinstance(names, str) else (names,)
        for name in chosen:
            if not isinstance(name, str):
                raise LinkworkError(
                    f"{kind}s are told by name",
                    where=where,
                    got=repr(name),
                    expected=f"names among: {', '.join(known)}",
                )
            if name not in known:
                raise UnknownNameError(kind, name, known, where=where)
        if not chosen or len(set(chosen)) < len(chosen):
            raise LinkworkError(
                f"each {kind} is told once", where=where, got=repr(chosen), expected="at least one name"
            )
        return chosen

    # -- packed results --------------------------------------------------------------------------------------------

    def packed(self) -> Function:
        """The same, but of each output only its distinct entries that are no constants, in one vector: half of the
        derivatives of a branching robot are zeros or copies. ``patterns`` tells which entry is where, ``dense`` puts
        all in their places. It takes the wrenches it was compiled for, as others would need other patterns."""
        if self.patterns:
            return cast("Function", self)

        def make() -> tuple[Program, Label]:
            program, patterns = packed(self.program)
            layouts = {name: x for name, x in self.label.layouts.items() if name not in patterns}
            return program, replace(self.label, patterns=patterns, layouts=layouts)

        return self._derived(("packed",), make)

    @property
    def patterns(self) -> Mapping[str, Pattern]:
        """Of packed outputs, by name."""
        return self.label.patterns

    def dense(self, result: Any) -> Any:
        """What this packed function gave, with every entry in its place: arrays (..., *shape), named if several."""
        if not self.patterns:
            raise LinkworkError("these results are not packed", where=self.__name__, fix="function.packed() packs them")
        names = [port.name for port in self.program.outputs]
        parts = result if len(names) > 1 else (result,)
        if not isinstance(parts, Sequence) or len(parts) != len(names):
            raise LinkworkError(
                "this is not what the function gave", where=self.__name__, got=type(result).__name__,
                expected=f"{len(names)} arrays: {', '.join(names)}",
            )  # fmt: skip
        arrays = [self.patterns[name].dense(part, name) for name, part in zip(names, parts, strict=True)]
        return self._result(*arrays) if len(arrays) > 1 else arrays[0]

    _result: Any


def _label(label: Label, program: Program, made: Program, meanings: Mapping[str, str]) -> Label:
    """Of a derivative."""
    known: set[Port] = {*program.inputs, *program.outputs}
    ports = (*made.inputs, *made.outputs)
    kept = {port.name for port in ports if port in known}
    told = {name: text for name, text in label.meanings.items() if name in kept}
    told |= {port.name: meanings[port.name] for port in ports if port.name not in kept}
    layouts = {name: layout for name, layout in label.layouts.items() if name in kept}
    return replace(label, quantity=made.name, layouts=layouts, meanings=told, patterns={})


def _meanings(wrt: Sequence[str], of: Sequence[str], tangents: Mapping[str, Program]) -> dict[str, str]:
    """What the names of derivatives stand for."""
    along = {name: f"{name}, along the independent velocities" if name in tangents else name for name in wrt}
    told = {f"d{y}": f"change of {y}" for y in of} | {f"d{x}": f"direction of {text}" for x, text in along.items()}
    told |= {f"{y}_bar": f"weights of {y}" for y in of}
    told |= {f"{x}_bar": f"slope of the weighted sum by {text}" for x, text in along.items()}
    told |= {f"d{y}_d{x}": f"slope of {y} by {text}" for y in of for x, text in along.items()}
    pairs = [(x, z) for x in wrt for z in wrt]
    return told | {f"d2{y}_d{x}_d{z}": f"second derivative of {y} by {x} and {along[z]}" for y in of for x, z in pairs}
