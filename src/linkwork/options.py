"""Options of Robot.simulate, rollout, stepper and identify, and of ``linkwork.identify.excite``: one table with their
names, types, defaults and texts.

``takes_options`` gives these functions their signatures and docstrings, ``tests/robot_stub.py`` writes the stubs for
editors, and ``cli.options`` makes the options of the commands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from .errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, require_mapping
from .formulations.quantity import in_section
from .metadata import dtype_name
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
    """Declare a field of options.

    Args:
        text: Description, for docstrings and the help of commands.
        default: Default of all methods but those in ``others``.
        methods: Methods that take the option.
        others: {method: default} for methods with another default.
        **texts: Sentences added for a method, for "python" alone, or for a "command" alone.
    """
    return field(default=default, metadata={"text": text, "methods": methods, "defaults": others or {}, "texts": texts})


@dataclass(frozen=True)
class _Options:
    owner: ClassVar[str] = "Robot."

    @classmethod
    def taken_by(cls, method: str) -> dict[str, Field[Any]]:
        """Return the options that a method of Robot, or ``excite``, takes, by name."""
        return {each.name: each for each in fields(cls) if method in each.metadata["methods"]}

    @classmethod
    def from_arguments(cls: type[T], method: str, arguments: Mapping[str, Any]) -> T:
        """Return the options of a call, with the method's defaults for those that are missing."""
        known = cls.taken_by(method)
        if unknown := [name for name in arguments if name not in known]:
            raise TypeError(f"{cls.owner}{method}() got an unexpected keyword argument {unknown[0]!r}")
        return cls(**{name: default_of(each, method) for name, each in known.items()} | dict(arguments))


@dataclass(frozen=True)
class Options(_Options):
    """What acts on the robot, how its motion is integrated, and what is recorded.

    Values are checked here if that needs no robot.
    """

    torque: Any = option(
        "joint forces tau in N m (N), constant (n,) or held over each step (steps, n); a controller of"
        " ``linkwork.control``; or any function (t, q, v, reference) -> tau in ordinary Python, which is compiled with"
        ' the robot, and may return {"tau": ..., "commands": ...}.',
        rollout="Arrays may have an axis of samples first.",
        stepper="Numbers are the initial ``stepper.tau``. Default: zero.",
    )
    observers: Any = option(
        "functions with memory and a sample time (``robot.function(..., period=)``) that run with the motion, one or a"
        " list. They receive t, q, v, tau, commands and the reference by name, and their other inputs as gains. Outputs"
        " are recorded as NAME_OUTPUT, memory as NAME_memory_MEMORY. Default: none.",
    )
    reference: Any = option(
        "reference of the controller, a function t -> Point or a constant Point.",
        stepper="Numbers are the initial ``stepper.reference``.",
    )
    gains: Mapping[str, Any] | None = option(
        "gains of the controller, by name.",
        simulate="Arrays may have an axis of steps first.",
        rollout="Arrays may have an axis of samples first, or axes of samples and steps, either of which may be 1.",
        stepper="Arrays may have an axis of samples first; ``stepper.gains`` may be changed between steps.",
    )
    memory: Mapping[str, Any] | None = option(
        "initial values of the controller's states, by name; the states are recorded under these names.",
        rollout="Arrays may have an axis of samples first.",
        stepper="Samples that are reset start from them, too; ``stepper.memory`` has the states.",
    )
    vary: Mapping[str, Any] | None = option(
        "parameters of each sample: mass (samples, bodies), with which moments and inertia scale; parameters (samples,"
        " bodies, 10); payload, {frame: (samples, 10)}; rotor_inertia, viscous, coulomb, offset, stribeck,"
        " stribeck_velocity, friction_width and stiffness (samples, joints); gravity (samples, 3); any other input that"
        " ``linkwork.compile`` knows, such as geometry. Controllers keep the robot's own parameters.",
        methods=BATCHES,
        stepper="``stepper.vary`` may be changed between steps.",
    )
    wrenches: Mapping[str, Any] | None = option(
        "{frame: force and moment on it} in N and N m, (6,), (steps, 6), or a function of t.",
        rollout="Arrays may have an axis of samples first.",
        stepper="Numbers, (6,) or (samples, 6), are the initial ``stepper.wrenches[frame]``.",
    )
    commands: Any = option(
        "command inputs of the force laws, in the order of ``command_names``: (n,), (steps, n), a dict by name, or a"
        " function of t. Default: zero. Those that a controller returns are added.",
        rollout="Arrays may have an axis of samples first.",
        stepper="Numbers are the initial ``stepper.commands``.",
    )
    contacts: Any = option(
        "contacts on the ground, (contacts,) or (steps, contacts) of 1 and 0, or a dict by name: each is held"
        " where it is when its contact begins. Default: none.",
        simulate='"events": they touch down, bounce and lift off but never slide, see ``trajectory.events``;'
        ' "coulomb": they also slide.',
        rollout="Arrays may have an axis of samples first.",
        stepper="Numbers, (contacts,) or (samples, contacts), are the initial ``stepper.contacts``.",
    )
    method: str | None = option(
        'integrator: "adams-bashforth-4" (its first three steps are Runge-Kutta steps), "rk4", "semi-implicit-euler",'
        ' "heun", "dormand-prince-5", for stiff robots "rosenbrock", or your own (``linkwork.add_integrator``).',
        others={"rollout": "semi-implicit-euler", "stepper": "semi-implicit-euler"},
        simulate='With SciPy also "dormand-prince" and "implicit", which choose their own steps. Default: without'
        " ``method`` or ``dt``, adams-bashforth-4 with 1 ms, or what is stable for the robot's fastest modes; a note"
        " names it.",
    )
    every: int = option("record every n-th step.", 1, RUNS)
    outputs: Any = option(
        "recorded outputs: q, v, a, tau, commands, contacts, contact_forces (fx, fy, fz, mx, my, mz for"
        " each contact), kinetic_energy, potential_energy, momentum, center_of_mass, loop_residual, work (done on the"
        " robot by all but weight and springs), states of the controller by name, or memory for all of these;"
        ' quantities such as "inertia_matrix" and "pose:hand"; and functions (robot, q, v, ...) -> array or dict of'
        " arrays, as ``robot.function`` takes them, of anything that the simulation knows.",
        others={"rollout": ("q", "v"), "stepper": ()},
        simulate="Default: all that the robot has; ``trajectory.drift`` sums up changes of conserved quantities.",
        stepper="They are computed after each step, for ``stepper.outputs``.",
    )
    limits: SoftLimits | None = option("``SoftLimits`` of the joints. Default: joint limits are off.")
    friction_width: float = option(
        "velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero.", 0.05
    )
    dynamics: str = option("method of forward dynamics; ``linkwork.methods`` lists them.", "auto")
    tolerance: float = option("error tolerance of integrators with a variable step.", 1e-9, ("simulate",))
    backend: str = option('"native", or "interpreter": slow, runs in NumPy without LLVM.', "native")
    dtype: Any = option(
        'number type of states, inputs and records: "float64", or "float32", which is faster and has seven digits.',
        "float64",
        BATCHES,
    )
    threads: int | str = option(
        'threads that share the samples, at most one per processor; "auto": as many as help.',
        1,
        BATCHES,
    )
    to: str | Path | None = option(
        "a new folder to stream records into, to save memory: .npy files or, if its name ends in .zarr, a Zarr group."
        " Default: records stay in memory.",
        methods=("rollout",),
    )
    out: Trajectory | None = option(
        "a trajectory of an earlier rollout with the same outputs, samples and times: it is filled again, notes"
        " included, and returned. After an error it has the records up to it. Default: a new trajectory.",
        methods=("rollout",),
    )
    checkpoint_every: int | None = option(
        "keep the state at every n-th step as a checkpoint, so that ``Trajectory.pullback`` gives gradients of any"
        " output; steps between checkpoints are computed again. 1 is the fastest: the records of q and v serve as"
        " checkpoints, and become read-only. For methods with a fixed step. Default: no gradients.",
        methods=RUNS,
    )
    progress: bool | Callable[[int, int], Any] | None = option(
        "True, False, or a function of (done, total) steps. Default: shown in a terminal, for long runs.", methods=RUNS
    )
    diverged: str = option(
        '"raise" a DivergedError, or "keep" diverged samples (NaN or infinite).', "raise", ("rollout",)
    )

    def __post_init__(self):
        one_of_names("treatment of diverged samples", self.diverged, DIVERGED)
        one_of_names("backend", self.backend, targets("run"))
        object.__setattr__(self, "dtype", dtype_name(self.dtype))
        if self.dtype != "float64" and self.checkpoint_every is not None:
            raise UnsupportedError(
                "gradients need float64", where="checkpoint_every", got=f"dtype={self.dtype!r}", fix="omit dtype"
            )
        if self.to is not None and self.out is not None:
            got, fix = "to= and out=", "leave one of them out"
            raise LinkworkError("records go into a folder or into a trajectory's memory", got=got, fix=fix)
        for name, check in (("every", whole), ("threads", _threads), ("tolerance", positive)):
            object.__setattr__(self, name, check(getattr(self, name), name))
        if self.checkpoint_every is not None:
            object.__setattr__(self, "checkpoint_every", whole(self.checkpoint_every, "checkpoint_every"))
        if (outputs := self.outputs) is not None:
            one = isinstance(outputs, str) or not isinstance(outputs, Sequence)
            object.__setattr__(self, "outputs", (outputs,) if one else tuple(outputs))
        for name in FORMS:
            require_dict(name, getattr(self, name))


_identify = partial(option, methods=("identify",))


@dataclass(frozen=True)
class IdentifyOptions(_Options):
    """Which parameters are identified, and what is known about them."""

    friction: Any = _identify(
        "friction laws to identify. They replace those of the file; without any, the file's friction is kept.",
        ("coulomb", "viscous", "offset"),
        python="By name or as objects, for all driven joints and motors or as {joint: laws}.",
        command="Some of coulomb, viscous, offset, asymmetric, stribeck=VELOCITY; or none.",
    )
    inertias: bool = _identify("identify the inertial parameters; False: keep the robot's values.", True)
    rotors: bool = _identify("identify the rotor inertias; False: keep the robot's values.", True)
    springs: bool = _identify("identify the stiffnesses of springs; otherwise they keep the robot's values.", False)
    width: float | None = _identify(
        "velocity in rad/s (m/s) below which friction is smoothed. Default: chosen on held-out data."
    )
    payload: str | None = _identify("a frame; identify only a body fixed to it. Default: the whole robot.")
    prior: Robot | None = _identify("a robot with parameters near the true ones. Default: this robot.")
    gamma: float | None = _identify("weight of the prior, the robot's parameters. Default: chosen on held-out data.")
    held_out: Log | Sequence[Log] = _identify(
        "recordings for validation. Default: cross-validation over spans of the recordings.",
        (),
        command="May be repeated.",
    )
    controller: Any = _identify(
        'controller whose closed loop gives the instruments of "iv", or runs in "simulation". Default: none.'
    )
    gains: Mapping[str, Any] | None = _identify("gains of the controller, by name. Default: its own.")
    simulation: Mapping[str, Any] | None = _identify(
        'options of ``linkwork.identify.fit_simulation``, such as {"unknowns": ("stiffness", "friction_width",'
        ' "delay"), "horizon": 0.5}.'
    )
    progress: Any = _identify("True, False, or a function of (done, total). Default: shown in a terminal.")

    def __post_init__(self):
        for name, least in (("gamma", np.finfo(float).tiny), ("width", 0.0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (int, float, np.number)) and least <= value < np.inf):
                expected = f"a number, {'zero or more' if least == 0 else 'positive'}, or None to choose it"
                raise LinkworkError("out of range", where=name, got=repr(value)[:80], expected=expected)


_excite = partial(option, methods=("excite",))
BY_JOINT: dict[str, Any] = {
    "python": "A number for all joints, or a dict by joint.",
    "command": "One number, or JOINT=NUMBER,...",
}


@dataclass(frozen=True)
class ExciteOptions(_Options):
    """Which motion is optimised, and its limits."""

    owner: ClassVar[str] = ""

    objective: str = _excite(
        '"condition": minimise the condition number of the regressor over a period. "logdet": maximise the determinant'
        " of the information matrix.",
        "condition",
    )
    period: float = _excite("period of the lowest harmonic, in s.", 10.0)
    periods: int = _excite("number of periods.", 1)
    harmonics: int = _excite("number of harmonics in the series of each joint.", 5)
    ramp: float | None = _excite("time of the transitions from rest and back, in s. Default: a fifth of the period.")
    rate: float = _excite("sampling rate of the result, in Hz.", 100.0)
    position: Any = _excite(
        "position limits, rad (m), to each side of home or zero, where tighter than those of the file. Default: those"
        " of the file, or pi (0.5 m).",
        python="A number for all joints, or a dict by joint, which may have (lower, upper).",
        command="One number, or JOINT=NUMBER,..., or JOINT=LOWER:UPPER,...",
    )
    velocity: Any = _excite(
        "velocity limits, rad/s (m/s), where tighter than those of the file. Default: those of the file, or 3 rad/s"
        " (1 m/s).",
        **BY_JOINT,
    )
    acceleration: Any = _excite(
        "acceleration limits, rad/s^2 (m/s^2). Default: the velocity limit in 0.25 s.", **BY_JOINT
    )
    torque: Any = _excite(
        "limits of joint forces, N m (N), where tighter than those of the file. Default: those of the file, or none.",
        **BY_JOINT,
    )
    share: float = _excite("fraction of each limit that the motion may use.", 0.9)
    still: Sequence[str] | Mapping[str, float] = _excite(
        "joints that do not move.", (), python="Names, or a dict of positions.", command="May be repeated."
    )
    frames: str | Sequence[str] = _excite(
        "frames whose origins must stay above the height and outside the box.", (), command="May be repeated."
    )
    height: float | None = _excite("smallest height of the frames in m, along z of the world. Default: none.")
    box: Any = _excite("lower and upper corner, in m, of a box that the frames stay out of. Default: none.")
    drives: bool | Sequence[str] | None = _excite(
        "parameters of drives that the motion is to excite, as ``regressor`` takes them.", ("IA", "FS", "FV", "F0")
    )
    friction_width: float = _excite(
        "velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero, so that slopes exist.", 0.05
    )
    starts: int = _excite("number of optimisations from random initial motions; the best is taken.", 5)
    seed: int = _excite("seed of the random initial motions.", 0)
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
    """Return the default of an option of a method."""
    default = each.metadata["defaults"].get(method, each.default)
    return None if default is MISSING else default


def takes_options(function: F) -> F:
    """Give a function with ``**options`` the signature and the docstring of its options, which follow the last entry
    of its section ``Args``."""
    name, signature = function.__name__, inspect.signature(function)
    options = {key: each for key, each in OPTIONS[name].taken_by(name).items() if key not in signature.parameters}
    parameters = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    parameters += [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default_of(each, name), annotation=each.type)
        for key, each in options.items()
    ]
    vars(function)["__signature__"] = signature.replace(parameters=parameters)
    lines = "\n".join(_line(key, each, name) for key, each in options.items())
    head, returns, rest = inspect.cleandoc(function.__doc__ or "").partition("\n\nReturns:")
    function.__doc__ = f"{head}\n{lines}{returns}{rest}\n"
    return function


def _line(name: str, each: Field[Any], method: str) -> str:
    default, text = default_of(each, method), text_of(each, method, "python")
    ending = "" if default is None or "Default:" in text else f" Default: {default!r}."
    return in_section(f"{name}: {text}{ending}")


def text_of(each: Field[Any], *readers: str) -> str:
    """Return the text of an option, with the sentences for these readers: a method, "python" or "command"."""
    texts = each.metadata["texts"]
    text = " ".join([each.metadata["text"], *(texts[reader] for reader in readers if reader in texts)])
    return f"{text[0].upper()}{text[1:]}"


def _threads(value: Any, where: str) -> int | str:
    return value if isinstance(value, str) and value == "auto" else whole(value, where)


def require_dict(name: str, value: Any) -> None:
    """Raise an error unless the value of an option that goes by name is a dict or None."""
    if value is not None:
        require_mapping(value, name, FORMS[name])


def one_of_names(kind: str, name: Any, known: Collection[str], where: str = "") -> str:
    """Return the name; raise an error if it is not one of these."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(kind, name, known, where=where)
    return name


def positive(value: Any, where: str) -> float:
    """Return a positive number whose square and reciprocal are finite; raise an error otherwise."""
    if _is_number(value, int | float | np.integer | np.floating) and SMALLEST <= value <= 1 / SMALLEST:
        return float(value)
    expected = f"a positive number, {SMALLEST:g} to {1 / SMALLEST:g}"
    raise ShapeError("out of range", where=where, got=value, expected=expected)


def whole(value: Any, where: str, least: int = 1, most: int = MOST) -> int:
    """Return an integer from ``least`` to ``most``; raise an error otherwise."""
    if _is_number(value, int | np.integer) and least <= value <= most:
        return int(value)
    raise ShapeError(
        "out of range", where=where, got=value, expected=f"a whole number, {least} or more, up to {most:,}"
    )


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)
