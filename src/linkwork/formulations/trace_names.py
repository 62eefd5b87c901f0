"""What printed equations may read off a formulation while it runs: the letters of its intermediate results.

A formulation does nothing for it but be written as the others are:

- a function is read whose first argument is called ``model``;
- the entries of a local variable that is a dict by body have its name and the number of the body, ``w[2]`` is w2x, w2y
  and w2z; any other variable has the number of the body at which ``model.outward()`` or ``model.inward()`` stands;
- the tag at the end of the line that made it, ``# (12)``, is the number of its equation.

``symbolic.watch`` does the reading.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import CodeType

LETTERS = {"jw_i": "wi", "if_j": "fi", "velocity": "V", "body": "Ic"}  # variable -> its letters, where others are meant
GROUPED = "inertia"  # the variable whose entries are grouped parameters: XXR2, MXR2, ...
TAG = re.compile(r"#\s*(\([\w.', ]+\)(?:[ ,]*\([\w.', ]+\))*)\s*$")

_FOLDER = Path(__file__).parent
_COMPOSING = str(_FOLDER / "quantities.py")  # its variables are those of its parts


def is_read(code: CodeType) -> bool:
    """Do the local variables of a function tell letters?"""
    here = code.co_filename.startswith(str(_FOLDER)) and code.co_filename != _COMPOSING
    return here and code.co_varnames[:1] == ("model",)
