"""Differentiable: the derivatives of a Function, each a Function again, and packed results."""

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
    """Base class of Function: its derivatives and packed results, each a Function again.

    ``program``, ``label`` and ``tangents`` are those of the Function.

    Derivatives with respect to q have one column for each independent velocity. They are taken along the step
    ``robot.coordinates.integrate(q, d)``: in the axes of the body for floating bodies and ball joints, and along closed
    loops. ``coordinates="ambient"`` differentiates with respect to the numbers of q instead.
    """

    program: Program
    label: Label
    tangents: Mapping[str, Program]
    __name__: str
    _derived: Callable[..., Function]

    def derivative(
        self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent", value: bool = False
    ) -> Function:
        """Return the function of the Jacobians ``dOUTPUT_dINPUT``, each of shape (..., *output, *input).

        Args:
            wrt: Inputs to differentiate with respect to, a name or several. Default: all that belong to the state.
            of: Outputs to differentiate, a name or several. Default: all.
            coordinates: "tangent" (default) takes derivatives with respect to q along the independent velocities,
                "ambient" with respect to the numbers of q.
            value: Return the outputs themselves first. Default: False.

        Returns:
            A Function of the same inputs, compiled at its first use and kept.

        Raises:
            UnknownNameError: There is no such input, output or choice of coordinates.

        Example:
            >>> slope = robot.inverse_dynamics.derivative("q")
            >>> slope(np.zeros(7), np.zeros(7), np.zeros(7)).shape
            (7, 7)
        """
        return self._made(jacobian, wrt, of, coordinates, value=value)

    def vjp(
        self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent", value: bool = False
    ) -> Function:
        """Return the function of weights times the Jacobian, without forming it (reverse mode).

        It takes further inputs ``OUTPUT_bar``, the weights, and returns ``INPUT_bar``: the gradient of the sum of all
        outputs times their weights. It has about twice as many operations as the function itself.

        Args:
            wrt: Inputs to differentiate with respect to, a name or several. Default: all that belong to the state.
            of: Outputs to differentiate, a name or several. Default: all.
            coordinates: "tangent" (default) takes derivatives with respect to q along the independent velocities,
                "ambient" with respect to the numbers of q.
            value: Return the outputs themselves first. Default: False.

        Returns:
            A Function, compiled at its first use and kept.

        Example:
            >>> back = robot.gravity.vjp("q")
            >>> back(np.zeros(7), np.ones(7)).shape
            (7,)
        """
        return self._made(vjp, wrt, of, coordinates, value=value)

    def jvp(
        self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent", value: bool = False
    ) -> Function:
        """Return the function of the Jacobian times a direction, without forming it (forward mode).

        It takes further inputs ``dINPUT``, the direction, and returns ``dOUTPUT``.

        Args:
            wrt: Inputs to differentiate with respect to, a name or several. Default: all that belong to the state.
            of: Outputs to differentiate, a name or several. Default: all.
            coordinates: "tangent" (default) takes derivatives with respect to q along the independent velocities,
                "ambient" with respect to the numbers of q.
            value: Return the outputs themselves first. Default: False.

        Returns:
            A Function, compiled at its first use and kept.

        Example:
            >>> ahead = robot.gravity.jvp("q")
            >>> ahead(np.zeros(7), np.ones(7)).shape
            (7,)
        """
        return self._made(jvp, wrt, of, coordinates, value=value)

    def hessian(self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent") -> Function:
        """Return the function of the Hessians ``d2OUTPUT_dINPUT_dINPUT``, of shape (..., *output, *first, *second).

        Pairs of inputs come in the order of ``wrt``. With respect to q it is the Hessian of the step
        ``integrate(q, d)`` at d = 0, which is symmetric.

        Args:
            wrt: Inputs to differentiate with respect to, a name or several. Default: all that belong to the state.
            of: Outputs to differentiate, a name or several. Default: all.
            coordinates: "tangent" (default) takes derivatives with respect to q along the independent velocities,
                "ambient" with respect to the numbers of q.

        Returns:
            A Function of the same inputs, compiled at its first use and kept.

        Example:
            >>> robot.potential_energy.hessian("q")(np.zeros(7)).shape
            (7, 7)
        """
        return self._made(hessian, wrt, of, coordinates)

    def hvp(self, wrt: Names = None, of: Names = None, *, coordinates: str = "tangent") -> Function:
        """Return the function of the Hessian times a direction, without forming it.

        It takes further inputs ``OUTPUT_bar``, the weights (1 for a single number), and ``dINPUT``, the direction; it
        returns ``INPUT_bar``.

        Args:
            wrt: Inputs to differentiate with respect to, a name or several. Default: all that belong to the state.
            of: Outputs to differentiate, a name or several. Default: all.
            coordinates: "tangent" (default) takes derivatives with respect to q along the independent velocities,
                "ambient" with respect to the numbers of q.

        Returns:
            A Function, compiled at its first use and kept.

        Example:
            >>> product = robot.potential_energy.hvp("q")
            >>> product(np.zeros(7), 1.0, np.ones(7)).shape
            (7,)
        """
        return self._made(hvp, wrt, of, coordinates)

    def _made(self, how: Callable[..., Program], wrt: Names, of: Names, coordinates: str, **options: Any) -> Function:
        program = self.program
        states = [port.name for port in program.inputs if port.stage == STATE]
        along = self._chosen(wrt, states, [port.name for port in program.inputs], "input", "wrt")
        outputs = [port.name for port in program.outputs]
        names = self._chosen(of, outputs, outputs, "output", "of")
        if coordinates not in COORDINATES:
            raise UnknownNameError("choice of coordinates", coordinates, COORDINATES, where=self.__name__)
        if not isinstance(value := options.get("value", False), bool):
            raise LinkworkError("value is True or False", where=self.__name__, got=repr(value))
        tangents = {} if coordinates == "ambient" else {k: x for k, x in self.tangents.items() if k in along}

        def make() -> tuple[Program, Label]:
            made = optimised(how(program, along, names, tangents, **options))
            return made, _label(self.label, program, made, _meanings(along, names, tangents))

        key = how.__name__, along, names, coordinates, *options.values()
        return self._derived(key, make, lambda other: other._made(how, along, names, coordinates, **options))

    def _chosen(
        self, names: Names, default: Sequence[str], known: Sequence[str], kind: str, where: str
    ) -> tuple[str, ...]:
        names, where = default if names is None else names, f"{self.__name__}, {where}"
        choice = tuple(names) if isinstance(names, Sequence) and not isinstance(names, str) else (names,)
        ports = {nominal.name: port for port, nominal in self.label.nominal.items()} if kind == "input" else {}
        choice = tuple(ports.get(name, name) if isinstance(name, str) else name for name in choice)
        for name in choice:
            if not isinstance(name, str):
                raise LinkworkError(
                    f"{kind}s are given by name",
                    where=where,
                    got=repr(name),
                    expected=f"names among: {', '.join(known)}",
                )
            if name not in known:
                raise UnknownNameError(kind, name, known, where=where)
        if not choice or len(set(choice)) < len(choice):
            raise LinkworkError(
                f"each {kind} is given once", where=where, got=repr(choice), expected="at least one name"
            )
        return choice

    # -- packed results --------------------------------------------------------------------------------------------

    def packed(self) -> Function:
        """Return the function with packed outputs: one vector per output, without constants and copies.

        Half of the derivatives of a branching robot are zeros or copies. ``patterns`` has the place of each entry, and
        ``dense`` puts all entries in their places. A packed function takes the wrenches it was compiled for.

        Returns:
            A Function whose outputs are vectors of the distinct entries.

        Example:
            >>> packed = robot.inertia_matrix.packed()
            >>> packed.dense(packed(np.zeros(7))).shape
            (7, 7)
        """
        if self.patterns:
            return cast("Function", self)

        def make() -> tuple[Program, Label]:
            program, patterns = packed(self.program)
            layouts = {name: x for name, x in self.label.layouts.items() if name not in patterns}
            return program, replace(self.label, patterns=patterns, layouts=layouts)

        return self._derived(("packed",), make)

    @property
    def patterns(self) -> Mapping[str, Pattern]:
        """The pattern of each packed output, by name; empty for a function that is not packed."""
        return self.label.patterns

    def dense(self, result: Any) -> Any:
        """Put the entries of packed results in their places.

        Args:
            result: What this packed function returned.

        Returns:
            An array (..., *shape), or a named tuple of several.

        Raises:
            LinkworkError: The function is not packed, or this is not its result.

        Example:
            >>> packed = robot.inertia_matrix.packed()
            >>> packed.dense(packed(np.zeros((5, 7)))).shape
            (5, 7, 7)
        """
        if not self.patterns:
            raise LinkworkError("these results are not packed", where=self.__name__, fix="function.packed() packs them")
        names = [port.name for port in self.program.outputs]
        parts = result if len(names) > 1 else (result,)
        if not isinstance(parts, Sequence) or len(parts) != len(names):
            raise LinkworkError(
                "this is not a result of the function", where=self.__name__, got=type(result).__name__,
                expected=f"{len(names)} arrays: {', '.join(names)}",
            )  # fmt: skip
        arrays = [self.patterns[name].dense(part, name) for name, part in zip(names, parts, strict=True)]
        return self._result(*arrays) if len(arrays) > 1 else arrays[0]

    _result: Any


def _label(label: Label, program: Program, derivative: Program, meanings: Mapping[str, str]) -> Label:
    """Return the metadata of a derivative: ports that it shares with the function keep theirs."""
    ports_before: set[Port] = {*program.inputs, *program.outputs}
    ports = (*derivative.inputs, *derivative.outputs)
    names = {port.name for port in ports if port in ports_before}
    texts = {name: text for name, text in label.meanings.items() if name in names}
    texts |= {port.name: meanings[port.name] for port in ports if port.name not in names}
    layouts = {name: layout for name, layout in label.layouts.items() if name in names}
    nominal = {name: each for name, each in label.nominal.items() if name in names}
    return replace(label, quantity=derivative.name, layouts=layouts, nominal=nominal, meanings=texts, patterns={})


def _meanings(wrt: Sequence[str], of: Sequence[str], tangents: Mapping[str, Program]) -> dict[str, str]:
    """Return the meaning of each name of a derivative's ports."""
    along = {name: f"{name}, along the independent velocities" if name in tangents else name for name in wrt}
    texts = {f"d{y}": f"change of {y}" for y in of} | {f"d{x}": f"direction of {text}" for x, text in along.items()}
    texts |= {f"{y}_bar": f"weights of {y}" for y in of}
    texts |= {f"{x}_bar": f"gradient of the weighted sum with respect to {text}" for x, text in along.items()}
    texts |= {f"d{y}_d{x}": f"derivative of {y} with respect to {text}" for y in of for x, text in along.items()}
    second = "second derivative of {} with respect to {} and {}"
    return texts | {f"d2{y}_d{x}_d{z}": second.format(y, x, along[z]) for y in of for x in wrt for z in wrt}
