"""Public names of earlier versions: using one raises an error with the new name. Remove an entry after one release."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn, TypeVar

from .errors import LinkworkError, at_door

Function = TypeVar("Function", bound=Callable[..., Any])

RENAMED: dict[str, dict[str, str]] = {  # owner (module or class) -> old name -> what replaces it
    "linkwork.control": {"Equations": "linkwork.TracedRobot"},
    "linkwork": {"about": "linkwork.inspection", "LettersWarning": "linkwork.SymbolsWarning"},
    "AddedMass": {"matrix": "added_inertia"},
    "Model": {"n_leading": "model.coordinates.nv", "n_located": "model.n_configuration"},
    "Robot": {
        "standing": "robot.standing_position()",
        "grip": "robot.contact_forces(...)",
        "foot_loads": "robot.contact_forces(...)",
    },
    "Fit": {
        "doubts": "fit.warnings",
        "unseen": "fit.unidentifiable",
        "pull": "fit.divergence",
        "fastest": "fit.max_velocities",
    },
    "Values": {"told": "values.status"},
    "BaseParameters": {"of": "base.values_for(...)"},
    "Summary": {"found": "summary.existing", "lost": "summary.overhead"},
}
OPTIONS: dict[str, dict[str, str]] = {  # command, or "" for all of them -> old option -> what replaces it
    "": {"--values": "--with-parameters", "--outside": "--allow-external-files", "--force": "--overwrite"},
    "bench": {"--peers": "--pinocchio"},
    "equations": {"--written-out": "--expand"},
    "excite": {"--frame": "--frames"},
    "export": {"--by": "--wrt", "--payload": "--inputs payload:FRAME"},
    "identify": {"--standstill": "--keep-standstill"},
    "report": {"--out": "--output"},
    "simulate": {"--q": "--q0", "--v": "--v0", "--tau": "--torque"},
    "view": {"--trajectory": "--trajectories"},
}

VALUES: dict[tuple[str, str], tuple[str, str]] = {  # argument, old value -> what replaces it, and as an option
    ("parameters", "input"): ('inputs=["parameters"]', "--inputs parameters"),
}


def refuse_value(argument: str, value: str) -> None:
    """Raise the error for an old value of an argument, with the new spelling."""
    if new := VALUES.get((argument, value)):
        raise LinkworkError(f"{argument} has no value {value!r}; it was renamed", fix=f"use {at_door(*new)}")


def refuse(owner: str, name: str) -> NoReturn:
    """Raise the AttributeError for a name that ``owner`` does not have, with the new name if it had it once."""
    message = f"{owner!r} has no attribute {name!r}"
    if new := RENAMED.get(owner, {}).get(name):
        message += f"; it was renamed: use {new}"
    raise AttributeError(message, name=name)


def refusing(owner: str) -> Callable[..., Any]:
    """Return a ``__getattr__`` for a module (named ``owner``) that refuses unknown names."""

    def __getattr__(name: str) -> Any:
        refuse(owner, name)

    return __getattr__


def renamed_arguments(**new_names: str) -> Callable[[Function], Function]:
    """Return a decorator for a function that refuses the old names of its keyword arguments (old=new)."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def checked(*arguments: Any, **options: Any) -> Any:
            for old in new_names.keys() & options.keys():
                new = new_names[old]
                raise TypeError(f"{function.__name__}() has no argument {old!r}; it was renamed: use {new!r}")
            return function(*arguments, **options)

        return checked  # type: ignore[return-value]

    return decorate
