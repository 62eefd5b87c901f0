"""Names of intermediate results in printed equations, read from the local variables of a formulation while it runs.

A formulation only has to keep these conventions:

- a function is read if its first argument is called ``model``;
- the entries of a local variable that is a dict by body have its name and the number of the body, ``w[2]`` is w2x, w2y
  and w2z; any other variable has the number of the body that ``model.outward()`` or ``model.inward()`` has reached;
- the tag at the end of the line that computes it, ``# (12)``, is the number of its equation.

``symbolic.watch`` does the reading.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import CodeType

LETTERS = {"jw_i": "wi", "if_j": "fi", "velocity": "V", "body": "Ic"}  # variable -> letters in print, where they differ
GROUPED = "inertia"  # the variable whose entries are grouped parameters: XXR2, MXR2, ...
TAG = re.compile(r"#\s*(\([\w.', ]+\)(?:[ ,]*\([\w.', ]+\))*)\s*$")

_FOLDER = Path(__file__).parent
_COMPOSING = str(_FOLDER / "quantities.py")  # its variables are those of the methods it composes


def is_read(code: CodeType) -> bool:
    """Return whether the local variables of a function are names of results."""
    here = code.co_filename.startswith(str(_FOLDER)) and code.co_filename != _COMPOSING
    return here and code.co_varnames[:1] == ("model",)
