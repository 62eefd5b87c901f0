"""Public names of earlier versions: using one raises an error that gives the new name. Entries go after one release."""

from collections.abc import Callable
from typing import Any, NoReturn

RENAMED: dict[str, dict[str, str]] = {  # owner (module or class) -> old name -> what replaces it
    "linkwork": {"about": "linkwork.inspection", "LettersWarning": "linkwork.SymbolsWarning"},
    "AddedMass": {"matrix": "added_inertia"},
    "Model": {"n_leading": "model.coordinates.nv", "n_located": "model.n_configuration"},
    "Robot": {
        "standing": "robot.standing_position()",
        "grip": "robot.contact_forces(...)",
        "foot_loads": "robot.contact_forces(...)",
    },
}


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
