"""The registry of targets: what each can do and needs, and the functions to run, write and express programs.

A new target is an entry in ``BUNDLED`` and the file it points to, or a call of :func:`register` anywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from ..codegen.backend import Backend
from ..errors import LinkworkError, UnknownNameError, UnsupportedError, missing_package
from ..program import Op
from ..quoting import printable
from .listing import Exported, name_of, refuse_existing, title, wrapped, write_all

ABILITIES = {"run": "backend", "write": "language", "express": "library of expressions"}


@dataclass(frozen=True)
class Target:
    """A machine, a language or a library that programs are made for.

    ``run``, ``write`` and ``express`` are what it can do; at least one is required. Each is the object itself, or its
    place, "package.module" or "package.module:name", which is imported when it is first used.

    Attributes:
        name: What users call it.
        summary: What it gives, in one line.
        run: An object with the two functions of ``linkwork.codegen.backend.Backend``.
        write: ``write(function, name, **options)`` returns the text or bytes of its file, or a dict of several by
            file name.
        write_memory: The same of a ``SampledFunction``, a function with memory, into the same files.
        express: ``express(function, name, **options)`` returns an object of another library.
        takes: "program" (default): the Function. "equations": its named equations, ``function.symbolic()``, in place
            of ``function, name``.
        files: Names of the files that ``write`` makes; ``{name}`` is the name of the function.
        comment: How a comment line begins, if the title of the function goes above the text.
        usage: What to do with the files, with ``{folder}``, ``{file}``, ``{stem}`` and ``{name}``.
        operations: Operations of a program that it knows; default: all.
        loops: Whether it knows loops inside programs; default: no.
        dtypes: Types of numbers that it knows; default: float64 and float32.
        requires: Optional dependency, the name of a module.
        install: Command that installs ``requires``.

    Example:
        >>> listing = linkwork.targets.Target("list", "One line.", write=lambda f, name: name, files=("{name}.txt",))
    """

    name: str
    summary: str
    run: Any = None
    write: Any = None
    write_memory: Any = None
    express: Any = None
    takes: str = "program"
    files: tuple[str, ...] = ()
    comment: str = ""
    usage: str = ""
    operations: frozenset[Op] = frozenset(Op)
    loops: bool = False
    dtypes: tuple[str, ...] = ("float64", "float32")
    requires: str = ""
    install: str = ""

    def load(self, ability: str) -> Any:
        """Return the object that runs, writes or expresses programs, imported at its first use.

        Args:
            ability: "run", "write" or "express".

        Returns:
            The object.

        Raises:
            UnsupportedError: The optional dependency is not installed.
        """
        if self.requires and find_spec(self.requires) is None:
            raise missing_package(self.requires, self.install, f"target {self.name}")
        place = getattr(self, ability)
        if not isinstance(place, str):
            return place
        module, _, name = place.partition(":")
        return getattr(import_module(module), name) if name else import_module(module)

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options of ``write`` or ``express`` with their defaults."""
        parameters = signature(self.load("write" if self.write else "express")).parameters.values()
        return {each.name: each.default for each in parameters if each.default is not Parameter.empty}

    def ask(self, ability: str, function: Exported, name: str, options: Mapping[str, Any]) -> Any:
        """Return what ``write`` or ``express`` makes of a function.

        Args:
            ability: "write" or "express".
            function: The Function.
            name: Its name in the source.
            options: Options of the target.

        Returns:
            Text, bytes, a dict of them by file name, or an object of another library.

        Raises:
            UnsupportedError: The target does not support the number type or an operation.
        """
        where = f"{function.label.quantity}, target {self.name}"
        if function.dtype not in self.dtypes:
            message = "this target does not know the dtype"
            raise UnsupportedError(message, where=where, got=function.dtype, expected=", ".join(self.dtypes))
        if function.program.loops and not self.loops:
            fix = "export it to c or numpy, or export one turn of the loop as a function of its own"
            raise UnsupportedError("this target does not know loops", where=where, fix=fix)
        if unknown := {Op(op) for op in function.program.operations} - self.operations:
            got, expected = (", ".join(sorted(op.name.lower() for op in ops)) for ops in (unknown, self.operations))
            raise UnsupportedError("this target does not know all operations", where=where, got=got, expected=expected)
        if getattr(function, "memory", None):
            ability = "write_memory" if ability == "write" else ability
            if not getattr(self, ability) or ability == "express":
                fix = "export step.function, whose inputs and outputs are the memory"
                raise UnsupportedError("this target does not know functions with memory", where=where, fix=fix)
        subject = (function, name) if self.takes == "program" else (function.symbolic(),)
        return self.load(ability)(*subject, **options)


EQUATIONS = partial(Target, takes="equations")
BUNDLED = (
    Target("native", "Machine code by LLVM, vectorised over the batch.", run="linkwork.codegen.native"),
    Target("interpreter", "NumPy, one operation after another; no LLVM.", run="linkwork.codegen.interpreter"),
    Target(
        "c", "C99 without allocation, with a test of its own and a CMake file.",
        write="linkwork.targets.c_project:c_project",
        write_memory="linkwork.targets.c_memory:c_memory",
        files=("{name}.h", "{name}.c", "{name}_test.c", "CMakeLists.txt"),
        loops=True,
        usage="build and test:\n  cmake -S {folder} -B {folder}/build\n  cmake --build {folder}/build\n"
        "  ctest --test-dir {folder}/build",
    ),
    Target(
        "numpy", "A Python file that needs NumPy alone and takes batches.",
        write="linkwork.targets.numpy_source:numpy_source",
        write_memory="linkwork.targets.numpy_source:numpy_memory", files=("{name}.py",), loops=True,
        usage="use it: from {stem} import {name}",
    ),
    Target(
        "casadi", "A CasADi function, which CasADi differentiates.",
        write="linkwork.targets.casadi_source:casadi_file", files=("{name}.casadi",),
        express="linkwork.targets.casadi_source:casadi_function",
        usage='use it: casadi.Function.load("{file}")',
        requires="casadi", install="pip install 'linkwork[casadi]'",
    ),
    EQUATIONS(
        "latex", "Equations as LaTeX.", write="linkwork.symbolic.latex:latex", files=("{name}.tex",), comment="% ",
        usage="use it: \\input{{{file}}}, with \\usepackage{{amsmath}}",
    ),
    EQUATIONS("text", "Equations as plain text.", write="linkwork.symbolic.text:text", files=("{name}.txt",)),
    EQUATIONS(
        "python", "Equations as a Python function of named scalars.",
        write="linkwork.symbolic.python:python", files=("{name}.py",), usage="use it: import {stem}",
    ),
    EQUATIONS(
        "sympy", "Outputs as sympy expressions, all steps put in; for small robots.",
        write="linkwork.symbolic.sympy_form:sympy_text", files=("{name}.txt",),
        express="linkwork.symbolic.sympy_form:sympy_form",
        requires="sympy", install="pip install 'linkwork[sympy]'",
    ),
)  # fmt: skip
TARGETS = {target.name: target for target in BUNDLED}


def register(target: Target) -> None:
    """Add a target of your own, or replace one of the same name, in this process.

    Args:
        target: The target.

    Raises:
        LinkworkError: It can neither run, write nor express programs, or it writes no file.

    Example:
        >>> linkwork.targets.register(
        ...     linkwork.targets.Target("names", "One line.", write=lambda f, name: name, files=("{name}.txt",))
        ... )
        >>> "names" in linkwork.targets.names("write")
        True
    """
    if not any(getattr(target, ability) for ability in ABILITIES):
        raise LinkworkError("this target can do nothing", where=target.name, expected="run, write or express")
    if target.write and not target.files:
        raise LinkworkError("this target has no file to write", where=target.name, fix='files=("{name}.txt",)')
    TARGETS[target.name] = target


def names(ability: str = "", takes: str = "") -> list[str]:
    """Return the names of the targets.

    Args:
        ability: Only those that "run", "write" or "express" programs. Default: all.
        takes: Only those that take a "program" or "equations". Default: all.

    Returns:
        A list of names.

    Example:
        >>> linkwork.targets.names("run")
        ['native', 'interpreter']
    """
    return [
        name
        for name, target in TARGETS.items()
        if (not ability or getattr(target, ability)) and takes in ("", target.takes)
    ]


def find(name: str, ability: str = "", *, takes: str = "", where: str = "") -> Target:
    """Return the target of this name.

    Args:
        name: Its name.
        ability: "run", "write" or "express", which it must have. Default: any.
        takes: "program" or "equations", which it must take. Default: any.
        where: What error messages begin with.

    Returns:
        The target.

    Raises:
        UnknownNameError: There is no such target; the message lists those there are.

    Example:
        >>> linkwork.targets.find("c").files[0]
        '{name}.h'
    """
    if name not in (known := names(ability, takes)):
        raise UnknownNameError(ABILITIES.get(ability, "target"), name, known, where=where)
    return TARGETS[name]


def backend(name: str) -> Backend:
    """Return the back end that compiles programs and time loops, imported at its first use.

    Args:
        name: "native" or "interpreter", or one of your own.

    Returns:
        The module or object.

    Example:
        >>> linkwork.targets.backend("interpreter").__name__
        'linkwork.codegen.interpreter'
    """
    return find(name, "run").load("run")


def sources(function: Exported, target: str, name: str | None = None, **options: Any) -> dict[str, str | bytes]:
    """Return the texts of a function in a language, by file name."""
    found, name = find(target, "write"), name_of(function, name)
    made = found.ask("write", function, name, options)
    if isinstance(made, Mapping):
        return dict(made)
    heading = f"{wrapped([title(function)], found.comment, printable)}\n" if found.comment else ""
    return {found.files[0].format(name=name): heading + made if heading else made}


def export(
    function: Exported,
    target: str,
    path: str | Path | None = None,
    *,
    name: str | None = None,
    overwrite: bool = False,
    **options: Any,
) -> list[Path]:
    """Write a function in a language of the registry.

    Args:
        function: A ``linkwork.Function``.
        target: Name of the target, one of ``names("write")``.
        path: Folder for a target of several files, else a file or a folder. Default: named after the function.
        name: Name of the function in the source. Default: made of robot, quantity and frame.
        overwrite: Replace files that exist. Default: False.
        **options: Options of the target, ``find(target).options``.

    Returns:
        Paths of the files.

    Raises:
        LinkworkError: A file exists and ``overwrite`` is not set, or the name cannot be used.

    Example:
        >>> [path.name for path in linkwork.targets.export(robot.gravity, "numpy", "gravity.py")]
        ['gravity.py']
    """
    files, name = find(target, "write").files, name_of(function, name)
    folder = Path(path or (name if len(files) > 1 else ""))
    single = path is not None and len(files) == 1 and not folder.is_dir()
    paths = {file.format(name=name): folder if single else folder / file.format(name=name) for file in files}
    refuse_existing(paths.values(), overwrite)
    texts = sources(function, target, name, **options)
    return write_all({paths[file]: text for file, text in texts.items()}, overwrite)


def express(function: Exported, target: str, name: str | None = None, **options: Any) -> Any:
    """Return a function as an object of another library: a ``casadi.Function``, a dict of sympy expressions.

    Args:
        function: A ``linkwork.Function``.
        target: Name of the target, one of ``names("express")``.
        name: Name of the function there. Default: made of robot, quantity and frame.
        **options: Options of the target.

    Returns:
        The object.

    Example:
        >>> linkwork.targets.express(linkwork.load("planar2r").potential_energy, "sympy").keys()
        dict_keys(['V'])
    """
    return find(target, "express").ask("express", function, name_of(function, name), options)
