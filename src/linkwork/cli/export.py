"""``linkwork export``: a quantity as source code that runs without linkwork."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..errors import LinkworkError, UnknownNameError
from ..inspection.states import BEYOND, random_states
from ..targets import find, names
from ..targets.listing import name_of
from .common import Inputs, Json, Overwrite, Source, among, flag, method_option, option, quantity_option, takes_robot
from .printing import print_json, progress, say

DERIVATIVES = ("derivative", "vjp", "jvp", "hessian", "hvp")
CANDIDATES = 50  # states for the test of the C code, of which it takes a few


LANGUAGES = names("write")


@takes_robot
def export(
    source: Source,
    quantity: Annotated[
        list[str] | None,
        quantity_option(
            "The quantity to export; `linkwork eval --help` lists them. Default: inverse_dynamics. Repeated: all in one"
            " function; pose:hand is the pose of the frame hand."
        ),
    ] = None,
    language: Annotated[
        str,
        option(
            "LANGUAGE", " ".join(f"{name}: {find(name).summary}" for name in LANGUAGES), autocompletion=among(LANGUAGES)
        ),
    ] = "c",
    output: Annotated[
        Path | None,
        option(
            "PATH",
            "A folder for C, otherwise a file or folder. Default: here, named after robot and quantity.",
            "--output",
            "-o",
        ),
    ] = None,
    method: Annotated[str, method_option()] = "auto",
    frame: Annotated[str | None, option("FRAME", "Frame for poses and Jacobians; required for them.")] = None,
    axes: Annotated[str, option("AXES", "Axes of Jacobians: world or local.")] = "world",
    parameters: Annotated[
        str,
        option(
            "HOW",
            "Inertial parameters, compiled in as constants. minimal: grouped. standard: not grouped.",
        ),
    ] = "minimal",
    wrenches: Annotated[
        list[str] | None, option("FRAME", "Add an input: force and moment on this frame, N and N m; may be repeated.")
    ] = None,
    inputs: Inputs = None,
    known: Annotated[
        list[str] | None,
        option(
            "JOINT",
            "Joint whose position assemble takes; may be repeated. Default: the motors if they determine all joints, "
            "else the independent joints.",
        ),
    ] = None,
    derivative: Annotated[
        str | None,
        option("KIND", f"Export a derivative instead: {', '.join(DERIVATIVES)}.", autocompletion=among(DERIVATIVES)),
    ] = None,
    wrt: Annotated[
        str | None, option("NAMES", "Inputs to differentiate with respect to, e.g. q,v. Default: the state.")
    ] = None,
    packed: Annotated[
        bool, flag("--packed", "Return each output as one vector of its distinct, non-constant entries (sparse).")
    ] = False,
    dtype: Annotated[str, option("TYPE", "Number type: float64 or float32.")] = "float64",
    name: Annotated[
        str | None, option("NAME", "Name of the function. Default: made of robot, quantity and frame.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Write a quantity of this robot as source code that runs without linkwork.

    \b
    linkwork export panda --language c
    linkwork export quadruped --quantity forward_dynamics --language numpy --output quadruped.py
    linkwork export ur5e --quantity pose --frame tool0 --dtype float32 --output ur5e_pose
    linkwork export ur5e --inputs payload:tool0 --inputs parameters --wrenches tool0
    linkwork export ur5e --inputs gravity --inputs friction
    linkwork export five-bar --quantity assemble --known left --known left_elbow
    linkwork export panda --quantity forward_dynamics --derivative vjp --wrt q,v
    linkwork export quadruped --quantity forward_dynamics_derivatives --packed
    linkwork export panda --quantity inertia_matrix --quantity bias --quantity pose:panda_link8 --name controller
    """
    target = find(language, "write", where="--language")
    if derivative is not None and derivative not in DERIVATIVES:
        raise UnknownNameError("derivative", derivative, DERIVATIVES, where="--derivative")
    if wrt is not None and derivative is None:
        got, fix = f"--wrt {wrt}", f"add --derivative, one of: {', '.join(DERIVATIVES)}"
        raise LinkworkError("--wrt needs --derivative", got=got, fix=fix)
    robot = source.load()
    with progress("tracing and writing"):
        names = quantity or ["inverse_dynamics"]
        function = robot.compile(
            names if len(names) > 1 else names[0], method=method, frame=frame, axes=axes, parameters=parameters,
            wrenches=wrenches or (), inputs=inputs or (), known=known, dtype=dtype,
        )  # fmt: skip
        if derivative is not None:
            function = getattr(function, derivative)(wrt and tuple(wrt.split(",")))
        if packed:
            function = function.packed()
        name = name_of(function, name)
        options = {}
        if "states" in target.options:  # for the test program written along with it
            ports = {port.name for port in function.program.inputs}
            states = random_states(robot, CANDIDATES)
            if known:
                given = robot.coordinates.places(function.label.layouts["positions"].joints)
                states["positions"] = states["guess"][:, given] + BEYOND
            options["states"] = {each: array for each, array in states.items() if each in ports}
        files = function.export(language, output, name=name, overwrite=overwrite, **options)
    if json:
        print_json(
            {"function": name, "files": [str(file) for file in files], "signature": function.signature,
             "method": function.label.method, "operations": function.operations.to_dict()}
        )  # fmt: skip
        return
    say(f"wrote {', '.join(map(str, files))}")
    say(f"{name}: {function.signature}; {function.operations}")
    if target.usage:
        first = files[0]
        say(target.usage.format(folder=first.parent, file=first, stem=first.stem, name=name))
