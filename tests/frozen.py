"""What must not change when code is moved: programs, bits of motions, answers of commands.

    python tests/frozen.py write before.json              everything, before a change
    python tests/frozen.py compare before.json            the same again, with a line for each difference
    python tests/frozen.py compare before.json panda      of these robots alone

Programs are compared by their digests: every quantity by every method, of all bundled robots and of ten URDF files of
the package example-robot-data, on a fixed and on a floating base. Motions are compared by the bits of rollouts,
steppers and gradients on this machine, commands by what they print and write. ``LINKWORK_CACHE`` keeps the programs of
one run for the next.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import files
from pathlib import Path
from unittest.mock import patch

import numpy as np

import linkwork
from linkwork.errors import LinkworkError
from linkwork.formulations import QUANTITIES

URDFS = (
    "anymal_b_simple_description/robots/anymal.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "icub_description/robots/icub_reduced.urdf",
    "kinova_description/robots/kinova.urdf",
    "panda_description/urdf/panda.urdf",
    "romeo_description/urdf/romeo_small.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
    "ur_description/urdf/ur10_robot.urdf",
    "solo_description/robots/solo12.urdf",
)
COMMANDS = (
    ("inspect", "{robot}"),
    ("check", "{robot}"),
    ("count", "{robot}", "--quantity", "inverse_dynamics"),
    ("eval", "{robot}", "potential_energy"),
    ("params", "{robot}"),
    ("mdh", "{robot}"),
    ("simulate", "{robot}", "--duration", "0.02"),
    ("equations", "{robot}", "--quantity", "potential_energy"),
    ("export", "{robot}", "--quantity", "potential_energy", "-o", "exported"),
    ("convert", "{robot}", "converted.yaml"),
)
ALONE = (
    ("robots",),
    ("cite", "rnea"),
    ("tables",),
    ("excite", "planar2r", "-o", "excitation.csv", "--seed", "1"),
    ("export", "panda", "--language", "numpy", "-o", "panda.py"),
    ("export", "panda", "--language", "latex", "-o", "panda.tex"),
)
CHANGING = re.compile(r'"(\w*seconds\w*|\w*_ns|\w*time\w*|host|version|ns|rate|speed)": ("[^"]*"|[-\d.e+]+)')
SECONDS = re.compile(r"[\d.]+ s, comp")
TEXTS = (".c", ".h", ".yaml", ".csv", ".py", ".tex")  # files whose contents are compared
OUTPUTS = ("q", "v", "tau", "kinetic_energy", "potential_energy", "work")


def urdf_files() -> dict[str, Path]:
    paths = [Path(str(file.locate())) for file in files("example-robot-data") or () if file.suffix == ".urdf"]
    return {"/".join(path.parts[-3:]): path for path in paths}


def robots() -> dict[str, tuple[str, dict[str, str]]]:
    """Name -> what is loaded, and how."""
    every = {name: (name, {}) for name in linkwork.bundled_robots()}
    paths = urdf_files()
    for path in URDFS:
        for base in ("fixed", "floating"):
            every[f"{Path(path).stem} {base}"] = str(paths[path]), {"base": base}
    return every


def answer(ask: Callable[[], str]) -> str:
    """What it gives, or the error it raises."""
    try:
        return ask()
    except LinkworkError as error:
        return f"{type(error).__name__}: {error}"


def programs(robot: linkwork.Robot, name: str) -> Iterator[tuple[str, str]]:
    large = robot.nv > 20  # of large robots one method of each quantity
    for quantity, about in QUANTITIES.items():
        options = {"frame": robot.link_names[-1]} if about.of_frame else {}
        methods = [] if large else [method.name for method in linkwork.methods(quantity)]
        for method in ["auto", *methods]:
            if large and quantity.endswith("derivatives"):
                continue

            def digest(quantity=quantity, method=method, options=options) -> str:
                made = linkwork.compile(robot, quantity, method=method, backend="interpreter", **options)
                return f"{made.label.method} {made.program.digest}"

            yield f"{name} | program | {quantity} | {method}", answer(digest)


def bits(values: dict[str, object]) -> str:
    arrays = {key: np.ascontiguousarray(value) for key, value in sorted(values.items()) if value is not None}
    text = hashlib.sha256()
    for key, array in arrays.items():
        text.update(f"{key} {array.shape} {array.dtype}".encode() + array.tobytes())
    return text.hexdigest()


def motions(robot: linkwork.Robot, name: str) -> Iterator[tuple[str, str]]:
    """From home, or near it, at some velocity."""
    rng = np.random.default_rng(0)
    q, v = np.array(robot.home), 0.1 * rng.normal(size=(3, robot.nv))
    start = {"q0": np.tile(q, (3, 1)), "v0": v, "dt": 1e-3, "steps": 6}
    for method in ("semi-implicit-euler", "rk4"):

        def rollout(method=method) -> str:
            run = robot.rollout(**start, method=method, outputs=OUTPUTS)
            return bits({output: run[output] for output in OUTPUTS})

        def gradient(method=method) -> str:
            run = robot.rollout(**start, method=method, checkpoint_every=2)
            found = run.pullback(q=np.ones_like(run["q"]), v=np.ones_like(run["v"]))
            return bits({"q0": found.q0, "v0": found.v0})

        yield f"{name} | rollout | {method}", answer(rollout)
        yield f"{name} | gradient | {method}", answer(gradient)

    def stepper() -> str:
        made = robot.stepper(3, 1e-3)
        made.reset(q=start["q0"], v=v)
        for _ in range(4):
            made.step()
        return bits({"q": made.q, "v": made.v})

    def simulate() -> str:
        motion = robot.simulate(q, v[0], duration=0.02)
        return bits({output: motion[output] for output in ("q", "v")}) + " " + "; ".join(motion.notes)

    def linearise() -> str:
        system = robot.linearise(q, v[0], np.zeros(len(robot.model.mobility.forced)), 1e-3)
        return bits({"A": system.A, "B": system.B})

    yield f"{name} | stepper", answer(stepper)
    yield f"{name} | simulate", answer(simulate)
    yield f"{name} | linearise", answer(linearise)
    if robot.model.switched:
        yield (
            f"{name} | events",
            answer(lambda: bits({"q": robot.simulate(robot.standing_position(), duration=0.02, contacts="coulomb").q})),
        )


def printed(words: tuple[str, ...]) -> str:
    from linkwork import cli

    out, err = io.StringIO(), io.StringIO()
    typed = patch.object(sys, "argv", ["linkwork", *words])
    code: object = 0
    with typed, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as leave:
            code = leave.code
    text = SECONDS.sub("- s, comp", CHANGING.sub(r'"\1": "-"', out.getvalue())).replace(os.getcwd(), ".")
    return json.dumps([code, text, err.getvalue().replace(os.getcwd(), ".")])


def commands(words: tuple[tuple[str, ...], ...], robot: str = "") -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # of this worker process
        for each in words:
            filled = tuple(word.format(robot=robot) for word in each)
            for json_too in ((), ("--json",)):
                if json_too and each[0] in ("equations", "mdh"):
                    continue
                text = printed((*filled, *json_too))
                for path in sorted(path for path in Path().rglob("*") if path.suffix in TEXTS):
                    text += f"\n{path}\n{path.read_text(encoding='utf-8')}"
                for path in Path().iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                digest = hashlib.sha256(text.encode()).hexdigest()
                yield f"{robot} | command | {' '.join((*each, *json_too))}", f"{digest} {text[:2000]}"


def of_robot(name: str) -> dict[str, str]:
    warnings.simplefilter("ignore")
    found: dict[str, str] = {}
    if not name:
        return dict(commands(ALONE))
    path, how = robots()[name]
    robot = linkwork.load(path, **how)
    found |= dict(programs(robot, name))
    if not how:
        found |= dict(motions(robot, name))
        found |= dict(commands(COMMANDS, name))
    return found


def frozen(names: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for name, part in zip(names, pool.map(of_robot, names), strict=True):
            print(f"{name or 'commands without a robot'}: {len(part)}", file=sys.stderr, flush=True)
            found |= part
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("robots", nargs="*")
    asked = parser.parse_args()
    names = asked.robots or [*robots(), ""]
    now = frozen(names)
    if asked.action == "write":
        asked.file.write_text(json.dumps(now, indent=1), encoding="utf-8")
        return
    before = json.loads(asked.file.read_text(encoding="utf-8"))
    before = {key: value for key, value in before.items() if key.partition(" | ")[0] in names}
    different = [key for key in sorted({*now, *before}) if now.get(key) != before.get(key)]
    for key in different:
        print(f"{key}\n    before: {before.get(key, 'nothing')[:1500]}\n    now:    {now.get(key, 'nothing')[:1500]}")
    print(f"{len(different)} of {len({*now, *before})} differ")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
