"""Common parts of all exports: names, descriptions in comments, statements, and writing of files."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, Protocol

from .. import __version__
from ..errors import LinkworkError, at_door
from ..files import write_bytes
from ..program import PARAMETER, Op, Port, Program, count
from ..program.program import Loop
from ..quoting import identifier


class Exported(Protocol):
    """What an export needs of a Function."""

    program: Program
    label: Any  # a ``metadata.Label``
    dtype: str

    def symbolic(self) -> Any: ...


AXES = {"": "", "world": ", in axes of the world", "local": ", in the frame's own axes"}
OPERATIONS = {
    Op.ADD: "{} + {}", Op.SUB: "{} - {}", Op.MUL: "{} * {}", Op.DIV: "{} / {}", Op.NEG: "-{}",
    Op.SQRT: "sqrt({})", Op.SIN: "sin({})", Op.COS: "cos({})", Op.SIGN: "sign({})",
    Op.FMA: "{} * {} + {}", Op.FMS: "{} * {} - {}", Op.FNMA: "{2} - {0} * {1}",
    Op.EXP: "exp({})", Op.LOG: "log({})", Op.TANH: "tanh({})", Op.ATAN2: "atan2({}, {})", Op.ABS: "fabs({})",
    Op.MIN: "minimum({}, {})", Op.MAX: "maximum({}, {})",
    Op.LESS: "less({}, {})", Op.LESS_EQUAL: "less_equal({}, {})", Op.SELECT: "select({}, {}, {})",
}  # fmt: skip
WIDTH = 116
NO_BREAK = "\xa0"  # a blank at which no line ends
LONGEST_PART = 60  # characters of a robot's, a quantity's and a frame's name in that of a function, and of its file
MADE = f"Made by linkwork {__version__}"
WORDS_OF_C = """
auto bool break case catch char class const default delete do double enum explicit extern float for friend goto if
inline int long mutable namespace new operator private protected public register restrict short signed sizeof static
struct switch template this throw typedef typename union unsigned using virtual void volatile wchar_t while true false
main check failures row sign sine_cosine sin cos sqrt sinf cosf sqrtf fabs fmax printf EOF NULL NAN INFINITY TOLERANCE
isnan workspace exp log tanh atan2 expf logf tanhf atan2f fabsf minimum maximum less less_equal select
"""  # of C and C++, and those that the files use themselves
WORDS_OF_NUMPY = """
np batch float atan2 cos exp fabs log maximum minimum sign sin sqrt tanh
"""  # that the files use themselves
WORDS = {*WORDS_OF_C.split(), *WORDS_OF_NUMPY.split(), *keyword.kwlist}
WORDS |= {"all", "clean", "help", "install", "test", "math", "stdio"}  # of CMake and C: all these name no function

# Names that value_names and the C code make
LOCAL = re.compile(r"\b(?:t\d+|(?:sin|cos)_\w+|copy\d+|(?:run|loop|body)_\d+)\b")


# -- names -------------------------------------------------------------------------------------------------------


def name_of(function: Exported, name: str | None = None) -> str:
    """Return the given name, checked, or one made of robot, quantity and frame."""
    label = function.label
    taken = WORDS | {port.name for port in (*function.program.inputs, *function.program.outputs)}
    if name is None:
        made = identifier("_".join(part[:LONGEST_PART] for part in (label.robot, label.quantity, label.frame) if part))
        return f"robot_{made}" if made in taken else made
    if name != identifier(name) or name in taken:
        better = f"robot_{name}" if name in taken else identifier(name)
        raise LinkworkError(
            "this cannot be the name of a function",
            got=repr(name),
            fix=at_door("name={!r}", "--name {}").format(better),
        )
    return name


def check_names(function: Exported, words: Sequence[str], others: Iterable[str] = ()) -> None:
    """Raise an error for inputs, outputs and ``others`` with names that the files need, such as ``words``."""
    ports = [port.name for port in (*function.program.inputs, *function.program.outputs)]
    for name in (*ports, *others):
        if name in words or (words and LOCAL.fullmatch(name)) or ports.count(name) > 1:
            raise LinkworkError(
                "an input, output or memory of this name cannot be exported", where=function.label.quantity, got=name,
                expected="a name that the files do not need themselves: no word of the language, no t1, sin_x, run_1",
                fix='rename the argument or memory, or return the output by another name: {"my_name": array}',
            )  # fmt: skip


def value_names(program: Program, literal: Callable[[float], str]) -> list[str]:
    """Return how each value is written: ``q[1]``, a number, ``sin_q1`` or ``t12``."""
    names = [f"{port.name}[{k}]" for port in program.inputs for k in range(port.size)]
    names += map(literal, program.constants)
    made: dict[str, tuple[int, ...]] = {}
    for k, (op, *args) in enumerate(program.instructions, 1):
        own = op in (Op.SIN, Op.COS)
        names.append(f"{Op(op).name.lower()}_{re.sub(r'[^0-9A-Za-z_]', '', names[args[0]])}" if own else f"t{k}")
        if made.setdefault(names[-1], (op, *args)) != (op, *args):  # of ``q1[2]`` and ``q[12]``, say
            raise LinkworkError("two values would have the same name", where=program.name, got=names[-1])
    return names


def numbered_loops(programs: Sequence[Program]) -> dict[Loop, int]:
    """Return the loops of the programs of a file with their numbers, those inside others before them."""
    return {loop: k for k, loop in enumerate(dict.fromkeys(each for program in programs for each in program.all_loops))}


def expression(op: int, *operands: str) -> str:
    return OPERATIONS[Op(op)].format(*operands)


# -- what it says of itself --------------------------------------------------------------------------------------


def title(function: Exported) -> str:
    label = function.label
    frame = f" of {label.frame}" if label.frame else ""
    axes = AXES.get(label.axes, "")
    method = f", by the method {label.method}" if label.method else ""
    return f"{label.quantity.replace('_', ' ').capitalize()}{frame} of {label.robot}{axes}{method}."


def nominal_tables(function: Exported) -> Iterator[tuple[Port, list[tuple[str, list[float]]]]]:
    """The inputs that hold numbers of the robot, each with its rows: a name, and the robot's own values."""
    ports = {port.name: port for port in function.program.inputs}
    for name, nominal in function.label.nominal.items():
        values = nominal.array(ports[name]).reshape(max(len(nominal.rows), 1), -1).tolist()
        yield ports[name], list(zip(nominal.rows or (nominal.name,), values, strict=True))


def nominal_rows(function: Exported) -> Iterator[str]:
    """The robot's own values of inputs that hold numbers of it, a line each."""
    for port, rows in nominal_tables(function):
        yield f"Nominal {port.name}:"
        yield from (f"  {name}: {', '.join(map(repr, row))}" for name, row in rows)


def description(function: Exported) -> Iterator[str]:
    """Lines on inputs and outputs, the order of their entries, conventions and operations; each a paragraph."""
    program, label = function.program, function.label
    quantity = label.quantity.replace("_", " ")
    for kind, ports, unnamed in (("Inputs", program.inputs, ""), ("Outputs", program.outputs, quantity)):
        yield f"{kind}:"
        for port in ports:
            shape, meaning = " x ".join(map(str, port.shape)) or "1", label.meanings.get(port.name, unnamed)
            yield f"  {port.name} ({shape})" + f": {meaning}" * bool(meaning)
    yield from _packed(function)
    for names, entries in _entries(function).items():
        yield f"Entries of {names}: " + ", ".join(f"{k}{NO_BREAK}{entry}" for k, entry in enumerate(entries))
    for (joint, meaning), ports in _meanings(function).items():
        yield f"Those of {joint} in {', '.join(ports)}: {meaning}."
    if label.wrenches:
        yield f"Rows of wrenches: {', '.join(label.wrenches)}"
    for port, rows in nominal_tables(function):
        names = ", ".join(f"{k}{NO_BREAK}{name}" for k, (name, _) in enumerate(rows))
        yield f"{'Rows' if len(port.shape) > 1 else 'Entries'} of {port.name}: {names}"
    yield from label.assumed
    yield f"Operations per state: {count(program)}. A fused multiply-add is one mul and one add, an angle one sincos."
    if any(port.stage == PARAMETER for port in program.inputs):
        yield f"Further operations, on the parameters alone: {count(program, off_line=True)}."


def _packed(function: Exported) -> Iterator[str]:
    """Yield lines on the place of each packed entry in the array of its output."""
    for name, pattern in function.label.patterns.items():
        known = [*map(str, range(pattern.size)), *(f"={x!r}" for x in pattern.constants)]
        shape, places = " x ".join(map(str, pattern.shape)) or "1", " ".join(known[k] for k in pattern.places)
        yield f"Packed {name}, of {shape}; row by row the number of the entry, or = and a constant: {places}"


def _layouts(function: Exported) -> Iterator[tuple[str, Any]]:
    """Yield the layouts of the joint vectors, by name."""
    ports = (*function.program.inputs, *function.program.outputs)
    layouts = function.label.layouts
    return ((port.name, layouts[port.name]) for port in ports if port.name in layouts and port.size)


def _entries(function: Exported) -> dict[str, tuple[str, ...]]:
    """Return names of vectors -> names of their entries, once for all vectors with the same entries."""
    vectors: dict[tuple[str, ...], list[str]] = {}
    for name, layout in _layouts(function):
        vectors.setdefault(layout.names, []).append(name)
    return {", ".join(ports): entries for entries, ports in vectors.items()}


def _meanings(function: Exported) -> dict[tuple[str, str], list[str]]:
    """What the entries of joints with several freedoms mean -> in which vectors."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, layout in _layouts(function):
        for segment in layout.segments:
            if segment.meaning:
                found.setdefault((segment.name, segment.meaning), []).append(name)
    return found


def wrapped(paragraphs: Iterable[str], prefix: str, quote: Callable[[str], str]) -> str:
    """Lines of a comment, each quoted for its language: what stands at the end of a line matters there."""
    lines = []
    for paragraph in paragraphs:
        indent = " " * (len(paragraph) - len(paragraph.lstrip()) + 2)
        lines += wrap(paragraph, WIDTH - len(prefix), subsequent_indent=indent, break_on_hyphens=False) or [""]
    return "\n".join(f"{prefix}{quote(line.replace(NO_BREAK, ' '))}".rstrip() for line in lines)


# -- to the disk -------------------------------------------------------------------------------------------------


def write_all(texts: Mapping[Path, str | bytes], overwrite: bool) -> list[Path]:
    """Write files, making their folder; all of them or, if one exists that may not be replaced, none."""
    refuse_existing(texts, overwrite)
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"the folder cannot be made: {error.strerror}"
            raise LinkworkError(message, where=str(path.parent), fix="choose another place") from error
        write_bytes(path, text.encode() if isinstance(text, str) else text)
    return list(texts)


def refuse_existing(paths: Iterable[Path], overwrite: bool) -> None:
    for path in paths:
        if path.exists() and not overwrite:
            fix = f"choose another place, or replace it with {at_door('overwrite=True', '--overwrite')}"
            raise LinkworkError("the file exists", where=str(path), fix=fix)
