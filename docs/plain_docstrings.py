"""Prepare docstrings for the parser of the site, which knows only ``Examples:`` and one parameter per entry."""

import re

import griffe

SHARED = re.compile(r"^    (\w+(?:, \w+)+)(:.*(?:\n {8}.*)*)$", re.M)  # "a, b: text", with its further lines
ARGUMENTS = re.compile(r"^Args:\n(?:(?: +.*)?\n?)*", re.M)


class PlainDocstrings(griffe.Extension):
    def on_package(self, *, pkg: griffe.Module, **kwargs: object) -> None:
        """Change the docstrings of a whole package, after its stubs have been merged."""
        self._change(pkg)

    def _change(self, module: griffe.Object) -> None:
        if module.docstring:
            module.docstring.value = prepared(module.docstring.value)
        for member in module.members.values():
            if isinstance(member, griffe.Object):  # an alias is met where it is defined
                self._change(member)


def prepared(text: str) -> str:
    """Rename ``Example:`` to ``Examples:``, and give each parameter its own entry."""
    text = re.sub(r"^Example:$", "Examples:", text, flags=re.M)
    return ARGUMENTS.sub(lambda section: SHARED.sub(_apart, section[0]), text)


def _apart(entry: re.Match[str]) -> str:
    return "\n".join(f"    {name}{entry[2]}" for name in entry[1].split(", "))
