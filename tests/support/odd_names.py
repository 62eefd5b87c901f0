"""A robot whose names would be code, markup, formats or paths if anybody took them for more than names."""

import json

# quotes, ends of comments, trigraphs, formats, markup of terminals, pages and LaTeX, separators, letters of others
ODD = (
    "\"\"\"''' */ /* ??/ \\\\ $x^2$ {} {0} %s %n [red]a[/red] :smile: <script>alert(1)</script> <b a='\"> &amp;"
    " `touch x` $(touch x) \\input{x} ,;#=|~^_ ../é关🤖\u0301"
)
CALL = '__import__("os").system("touch broken")'
ROBOT = f'""" + {CALL} + """ {ODD} \\'
JOINTS = (f"1 {ODD}\\", f"-rf {ODD}", f"../../{ODD}", "_" + "x" * 499)
LINKS = (f'2 {ODD}"', f"{ODD}*", "#include <x>", "null")
FRAMES = (f"[bold]{ODD}", "=1+1", ": -", CALL, "a/b", "a_b")
MOTORS = ("x = 1; import os", f"{ODD} 7")
TRANSMISSION, FOOT = f"t {ODD}", f"f {ODD}"


def text() -> str:
    """The robot as YAML; strings of JSON are strings of YAML."""
    q = lambda name: json.dumps(name, ensure_ascii=False)  # noqa: E731
    inertia = "M: 2, center: [0.1, 0.02, 0.01], central: [0.1, 0, 0, 0.1, 0, 0.1]"
    drive = "limits: [-2, 2], velocity: 3, effort: 90"
    motors = ", ".join(
        f"{{name: {q(name)}, Ia: 0.1, Fv: 0.2, ratios: {ratios}}}"
        for name, ratios in zip(MOTORS, ([9, 0], [-9, 9]), strict=True)
    )
    pair = f"{q(JOINTS[2])}, {q(JOINTS[3])}"
    lines = [
        f"name: {q(ROBOT)}",
        f"description: {q(ODD)}",
        "joints:",
        *(f"  - {{name: {q(j)}, link: {q(k)}, d: 0.3, alpha: 0.5}}" for j, k in zip(JOINTS, LINKS, strict=True)),
        "links:",
        *(f"  - {{link: {q(link)}, {inertia}}}" for link in LINKS),
        "drives:",
        *(f"  - {{joint: {q(joint)}, Fv: 1, {drive}}}" for joint in JOINTS[:2]),
        *(f"  - {{joint: {q(joint)}, {drive}}}" for joint in JOINTS[2:]),
        "frames:",
        *(f"  - {{name: {q(frame)}, link: {q(LINKS[3])}, xyz: [0.1, 0, 0]}}" for frame in FRAMES),
        "forces:",
        f"  - {{frame: {q(FRAMES[0])}, law: rotor, drag: 0.01, spin: 1}}",
        "feet:",
        f"  - {{name: {q(FOOT)}, frame: {q(FRAMES[1])}, friction: 0.7}}",
        "transmissions:",
        f"  - {{name: {q(TRANSMISSION)}, joints: [{pair}], motors: [{motors}]}}",
    ]
    return "\n".join(lines) + "\n"
