"""Options of Robot.simulate, rollout, stepper and identify, and of ``linkwork.identify.excite``: names, types, defaults
and texts, stated once.

``takes_options`` gives these functions their signatures and docstrings, ``tests/robot_stub.py`` writes them for
editors, and ``cli.options`` makes options of commands of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from .errors import LinkworkError, ShapeError, UnknownNameError, require_mapping
from .formulations.quantity import in_section
from .model import SoftLimits
from .targets import names as targets

if TYPE_CHECKING:
    from .identify import Log
    from .robot import Robot
    from .sim import Trajectory

T = TypeVar("T", bound="_Options")
F = TypeVar("F", bound=Callable[..., Any])
MOTION = ("simulate", "rollout", "stepper")
RUNS = ("simulate", "rollout")
BATCHES = ("rollout", "stepper")
DIVERGED = ("raise", "keep")
FORMS = {
    "vary": "such as {'mass': (samples, bodies)}",
    "gains": "such as {'kp': (samples, n)}",
    "memory": "such as {'integral': (n,)}",
    "wrenches": "{frame: (6,)}, or more axes, or a function of t",
}
SMALLEST = 1e-100
MOST = 2**62  # native code counts in 64 bits


def option(
    text: str,
    default: Any = None,
    methods: Sequence[str] = MOTION,
    others: Mapping[str, Any] | None = None,
    **texts: str,
) -> Any:
    """A field of options: which ``methods`` take it; ``others``: defaults by method that differ; ``texts``: what is
    added to the text by method, in "python" alone, or for a "command" alone."""
    return field(default=default, metadata={"text": text, "methods": methods, "defaults": others or {}, "texts": texts})


@dataclass(frozen=True)
class _Options:
    owner: ClassVar[str] = "Robot."

    @classmethod
    def taken_by(cls, method: str) -> dict[str, Field[Any]]:
        """The options that a method of Robot, or ``excite``, takes, by name."""
        return {each.name: each for each in fields(cls) if method in each.metadata["methods"]}

    @classmethod
    def from_arguments(cls: type[T], method: str, arguments: Mapping[str, Any]) -> T:
        """Return the options that a method was called with, and its defaults for the others."""
        known = cls.taken_by(method)
        if unknown := [name for name in arguments if name not in known]:
            raise TypeError(f"{cls.owner}{method}() got an unexpected keyword argument {unknown[0]!r}")
        return cls(**{name: default_of(each, method) for name, each in known.items()} | dict(arguments))


@dataclass(frozen=True)
class Options(_Options):
    """What acts on the robot, how its motion is integrated, and what is recorded. Values whose check needs no robot
    are checked here."""

    torque: Any = option(
        "joint forces tau in N m (N), constant (n,) or held over each step (steps, n); a controller of"
        " ``linkwork.control``; or any function (t, q, v, reference) -> tau in ordinary Python, which is compiled with"
        ' the robot, and may return {"tau": ..., "commands": ...}.',
        rollout="Arrays may have an axis of samples first.",
        stepper="Numbers are what ``stepper.tau`` begins with; default: zero.",
    )
    reference: Any = option(
        "what the controller follows, a function t -> Point or a Point of numbers.",
        stepper="Numbers are what ``stepper.reference`` begins with.",
    )
    gains: Mapping[str, Any] | None = option(
        "gains of the controller, by name.",
        rollout="Arrays may have an axis of samples first.",
        stepper="Arrays may have an axis of samples first; ``stepper.gains`` may be changed between steps.",
    )
    memory: Mapping[str, Any] | None = option(
        "where the controller's own states begin, by name; they are recorded by their names.",
        rollout="Arrays may have an axis of samples first.",
        stepper="Reset samples begin there, too; ``stepper.memory`` has the states.",
    )
    vary: Mapping[str, Any] | None = option(
        "parameters of each sample: mass (samples, bodies), with which moments and inertia scale; parameters (samples,"
        " bodies, 10); payload, {frame: (samples, 10)}; rotor_inertia, viscous, coulomb, offset, stribeck,"
        " stribeck_velocity, friction_width and stiffness (samples, joints); gravity (samples, 3). Controllers know"
        " nothing of these.",
        methods=BATCHES,
        stepper="``stepper.vary`` may be changed between steps.",
    )
    wrenches: Mapping[str, Any] | None = option(
        "frame -> force and moment on it in N and N m, (6,), (steps, 6), or a function of t.",
        rollout="Arrays may have an axis of samples first.",
        stepper="Numbers, (6,) or (samples, 6), are what ``stepper.wrenches[frame]`` begins with.",
    )
    commands: Any = option(
        "command inputs of the force laws, in the order of ``command_names``: (n,), (steps, n), a dict by name, or a"
        " function of t. Default: zero. Those that a controller returns are added.",
        rollout="Arrays may have an axis of samples first.",
        stepper="Numbers are what ``stepper.commands`` begins with.",
    )
    contacts: Any = option(
        "contacts on the ground, (contacts,) or (steps, contacts) of 1 and 0, or a dict by name: each is held"
        " where it is when it begins. Default: none.",
        simulate='"events": they touch down, bounce and lift off by themselves but never slide, see'
        ' ``trajectory.events``; "coulomb": they slide, too.',
        rollout="Arrays may have an axis of samples first.",
        stepper="Numbers, (contacts,) or (samples, contacts), are what ``stepper.contacts`` begins with.",
    )
    method: str | None = option(
        'integrator: "adams-bashforth-4" (its first three steps are Runge-Kutta steps), "rk4", "semi-implicit-euler",'
        ' "heun", "dormand-prince-5", for stiff robots "rosenbrock", or your own (``linkwork.add_integrator``).',
        others={"rollout": "semi-implicit-euler", "stepper": "semi-implicit-euler"},
        simulate='With SciPy also "dormand-prince" and "implicit", which choose their own steps. Default: where'
        " ``method`` or ``dt`` is not given, adams-bashforth-4 with 1 ms, or what is stable for the robot's fastest"
        " modes; notes name it.",
    )
    every: int = option("record every n-th step.", 1, RUNS)
    outputs: Sequence[str] | None = option(
        "names of what is recorded: q, v, a, tau, commands, contacts, contact_forces (of each contact: fx, fy, fz, mx,"
        " my, mz each), kinetic_energy, potential_energy, momentum, center_of_mass, loop_residual, work (done on the"
        " robot by all but weight and springs), states of the controller by name, or memory for all of these.",
        others={"rollout": ("q", "v"), "stepper": ()},
        simulate="Default: all that the robot has; ``trajectory.drift`` sums up what should not have changed.",
        stepper="They are computed after each step, for ``stepper.outputs``.",
    )
    limits: SoftLimits | None = option("``SoftLimits`` of the joints. Default: joint limits are off.")
    friction_width: float = option(
        "velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero.", 0.05
    )
    dynamics: str = option("method of forward dynamics.", "auto")
    tolerance: float = option("of methods that choose their own steps.", 1e-9, ("simulate",))
    backend: str = option('"native", or "interpreter", which runs in NumPy, without LLVM, slowly.', "native")
    threads: int | str = option(
        'threads that share the samples, at most one for each processor; "auto" for as many as gain something.',
        1,
        BATCHES,
    )
    to: str | Path | None = option(
        "a new folder to stream records into, as .npy files or, if its name ends in .zarr, as a Zarr group, so that"
        " memory holds little.",
        methods=("rollout",),
    )
    out: Trajectory | None = option(
        "a trajectory of an earlier rollout with the same outputs, samples and times: it is filled anew, notes"
        " included, and returned; after an error it has what was recorded until then.",
        methods=("rollout",),
    )
    checkpoint_every: int | None = option(
        "keep the state at every n-th step, so that ``Trajectory.pullback`` gives gradients of anything recorded; what"
        " lies between is computed again. 1 is the fastest: records of q and v at every step serve as they are, and"
        " cannot be written to then. For methods with a fixed step.",
        methods=RUNS,
    )
    progress: bool | Callable[[int, int], Any] | None = option(
        "True, False, or a function of (done, total) steps. Default: long runs show it in a terminal.", methods=RUNS
    )
    diverged: str = option(
        '"raise" a DivergedError, or "keep" diverged samples (NaN or infinite).', "raise", ("rollout",)
    )

    def __post_init__(self):
        one_of_names("treatment of diverged samples", self.diverged, DIVERGED)
        one_of_names("backend", self.backend, targets("run"))
        if self.to is not None and self.out is not None:
            got, fix = "to= and out=", "leave one of them"
            raise LinkworkError("records go into a folder or into a trajectory's memory", got=got, fix=fix)
        for name, check in (("every", whole), ("threads", _threads), ("tolerance", positive)):
            object.__setattr__(self, name, check(getattr(self, name), name))
        if self.checkpoint_every is not None:
            object.__setattr__(self, "checkpoint_every", whole(self.checkpoint_every, "checkpoint_every"))
        if (outputs := self.outputs) is not None:
            several = isinstance(outputs, Sequence) and not isinstance(outputs, str)
            object.__setattr__(self, "outputs", tuple(outputs) if several else (outputs,))
        for name in FORMS:
            require_dict(name, getattr(self, name))


def _identify(text: str, default: Any = None, **texts: str) -> Any:
    return option(text, default, ("identify",), **texts)


@dataclass(frozen=True)
class IdentifyOptions(_Options):
    """Which parameters are to be found, and what is known of them."""

    friction: Any = _identify(
        "friction laws to identify. They replace those of the file, which are taken as known if there are none here.",
        ("coulomb", "viscous", "offset"),
        python="By name or as objects, for all driven joints and motors or as {joint: laws}.",
        command="Of coulomb, viscous, offset, asymmetric, stribeck=VELOCITY; or none.",
    )
    inertias: bool = _identify("find the inertial parameters; if False, they are known, with the robot's values.", True)
    rotors: bool = _identify("find the rotor inertias; if False, they are known, with the robot's values.", True)
    springs: bool = _identify("find the stiffnesses of springs; otherwise they are known.", False)
    width: float | None = _identify(
        "velocity in rad/s (m/s) within which friction goes smoothly through zero. Default: chosen on held-out data."
    )
    payload: str | None = _identify("a frame; only a body fixed there is to be found.")
    prior: Robot | None = _identify("a variant of the robot that is thought to be near. Default: this robot.")
    gamma: float | None = _identify("weight of the prior. Default: chosen on held-out data.")
    held_out: Log | Sequence[Log] = _identify(
        "recordings to choose and judge on. Default: spans of the recordings in turn.", (), command="May be repeated."
    )
    controller: Any = _identify('controller whose closed loop gives the instruments of "iv", or runs in "simulation".')
    gains: Mapping[str, Any] | None = _identify("gains of the controller, by name.")
    simulation: Mapping[str, Any] | None = _identify(
        'options of ``linkwork.identify.fit_simulation``, such as {"unknowns": ("stiffness", "friction_width",'
        ' "delay"), "horizon": 0.5}.'
    )
    progress: Any = _identify("True, False, or a function of (done, total).")

    def __post_init__(self):
        for name, least in (("gamma", np.finfo(float).tiny), ("width", 0.0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (int, float, np.number)) and least <= value < np.inf):
                expected = f"a number, {'zero or more' if least == 0 else 'positive'}, or None: it is chosen"
                raise LinkworkError("out of range", where=name, got=repr(value)[:80], expected=expected)


def _excite(text: str, default: Any = None, **texts: str) -> Any:
    return option(text, default, ("excite",), **texts)


BY_JOINT = {"python": "A number for all joints, or a dict by joint.", "command": "One number, or JOINT=NUMBER,..."}


@dataclass(frozen=True)
class ExciteOptions(_Options):
    """Which motion is looked for, and what bounds it."""

    owner: ClassVar[str] = ""

    objective: str = _excite(
        '"condition": the least condition number of the regressor over a period, or "logdet": the largest determinant'
        " of its information.",
        "condition",
    )
    period: float = _excite("period of the lowest harmonic, in s.", 10.0)
    periods: int = _excite("number of periods.", 1)
    harmonics: int = _excite("harmonics in the series of each joint.", 5)
    ramp: float | None = _excite("time from rest to the series, and back, in s. Default: a fifth of the period.")
    rate: float = _excite("samples per second of the result.", 100.0)
    position: Any = _excite(
        "limits of positions, rad (m), to each side of home or zero, where they are tighter than those of the file."
        " Default: those of the file, or half a turn (0.5 m).",
        python="A number for all joints, or a dict by joint, which may have (lower, upper).",
        command="One number, or JOINT=NUMBER,..., or JOINT=LOWER:UPPER,...",
    )
    velocity: Any = _excite(
        "limits of velocities, rad/s (m/s), where they are tighter than those of the file. Default: those of the file,"
        " or 3 rad/s (1 m/s).",
        **BY_JOINT,
    )
    acceleration: Any = _excite(
        "limits of accelerations, rad/s^2 (m/s^2). Default: what reaches the largest velocity in 0.25 s.", **BY_JOINT
    )
    torque: Any = _excite(
        "limits of joint forces, N m (N), where they are tighter than those of the file. Default: those of the file, or"
        " none.",
        **BY_JOINT,
    )
    share: float = _excite("share of all limits that may be used.", 0.9)
    still: Sequence[str] | Mapping[str, float] = _excite(
        "joints that do not move.", (), python="Names, or a dict of positions.", command="May be repeated."
    )
    frames: str | Sequence[str] = _excite(
        "frames whose origins keep clear of the height and the box.", (), command="May be repeated."
    )
    height: float | None = _excite("height in m, along z of the world, that frames stay above.")
    box: Any = _excite("lower and upper corner, in m, of a box that frames stay out of.")
    drives: bool | Sequence[str] | None = _excite(
        "parameters of drives that the motion is to excite, as ``regressor`` takes them.", ("IA", "FS", "FV", "F0")
    )
    friction_width: float = _excite(
        "velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero, so that slopes exist.", 0.05
    )
    starts: int = _excite("number of descents from random motions; the best is taken.", 5)
    seed: int = _excite("seed of these random motions.", 0)
    progress: Any = _excite("True, False, or a function of (done, total). Default: shown in a terminal.")

    def __post_init__(self):
        if self.ramp is None:
            object.__setattr__(self, "ramp", positive(self.period, "period") / 5)
        for name in ("period", "rate", "friction_width", "ramp"):
            positive(getattr(self, name), name)
        for name in ("periods", "harmonics", "starts"):
            whole(getattr(self, name), name, most=1000)
        whole(self.seed, "seed", 0)
        if not 0 < positive(self.share, "share") <= 1:
            raise ShapeError("out of range", where="share", got=self.share, expected="above 0, at most 1")


OPTIONS: Mapping[str, type[_Options]] = {
    **dict.fromkeys(MOTION, Options),
    "identify": IdentifyOptions,
    "excite": ExciteOptions,
}


def default_of(each: Field[Any], method: str) -> Any:
    """The default of an option of a method."""
    default = each.metadata["defaults"].get(method, each.default)
    return None if default is MISSING else default


def takes_options(function: F) -> F:
    """Give a function with ``**options`` the signature and the docstring of all that it takes. Its own docstring ends
    with the section ``Args``."""
    name, own = function.__name__, inspect.signature(function)
    taken = {key: each for key, each in OPTIONS[name].taken_by(name).items() if key not in own.parameters}
    kinds = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
    more = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default_of(each, name), annotation=each.type)
        for key, each in taken.items()
    ]
    vars(function)["__signature__"] = own.replace(parameters=[*kinds, *more])
    lines = [_line(key, each, name) for key, each in taken.items()]
    function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), *lines, ""])
    return function


def _line(name: str, each: Field[Any], method: str) -> str:
    default, text = default_of(each, method), text_of(each, method, "python")
    told = "" if default is None or "Default:" in text else f" Default: {default!r}."
    return in_section(f"{name}: {text}{told}")


def text_of(each: Field[Any], *readers: str) -> str:
    """What an option is, with what is added for these readers: a method, "python" or "command"."""
    texts = each.metadata["texts"]
    text = " ".join([each.metadata["text"], *(texts[reader] for reader in readers if reader in texts)])
    return f"{text[0].upper()}{text[1:]}"


def _threads(value: Any, where: str) -> int | str:
    return value if isinstance(value, str) and value == "auto" else whole(value, where)


def require_dict(name: str, value: Any) -> None:
    """A dict, or None, for one of the options that go by name."""
    if value is not None:
        require_mapping(value, name, FORMS[name])


def one_of_names(kind: str, name: Any, known: Collection[str], where: str = "") -> str:
    """The name; what is none, or none of these, is refused."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(kind, name, known, where=where)
    return name


def positive(value: Any, where: str) -> float:
    """A number of which also the square and the reciprocal are numbers."""
    if _is_number(value, int | float | np.integer | np.floating) and SMALLEST <= value <= 1 / SMALLEST:
        return float(value)
    expected = f"a positive number, {SMALLEST:g} to {1 / SMALLEST:g}"
    raise ShapeError("out of range", where=where, got=value, expected=expected)


def whole(value: Any, where: str, least: int = 1, most: int = MOST) -> int:
    """A whole number, from ``least`` to ``most``."""
    if _is_number(value, int | np.integer) and least <= value <= most:
        return int(value)
    raise ShapeError(
        "out of range", where=where, got=value, expected=f"a whole number, {least} or more, up to {most:,}"
    )


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)
