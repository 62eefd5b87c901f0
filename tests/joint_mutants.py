"""Would a wrong sign in a joint be noticed? Mutants of ``model/joints`` and of the quaternions, each held to Pinocchio.

    python tests/joint_mutants.py              every mutant there is
    python tests/joint_mutants.py universal    of these files

A mutant is one file with one thing changed: what ``mutants.py`` changes, and sine and cosine, an index, the order of
two entries, a factor, a number, an axis, a yes or no. Its functions and class attributes are put in the place of those
of the file for the time of a run. It is killed if ``faults`` finds one: small robots with the kind at the root, in the
middle and at the tip against Pinocchio, steps and differences, and what a kind says of itself.
"""

import argparse
import ast
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pinocchio as pin

from linkwork.model import build, describe
from linkwork.model.description import Description
from linkwork.model.grouping import grouped
from linkwork.model.joints import JOINT_KINDS
from linkwork.spatial import Inertia
from mutants import Mutant, changes
from support.bending_kind import bending_faults
from support.evaluate import deviation, evaluate
from support.mixed_trees import PARTS, SIZES, MixedRecipe, mixed
from support.pinocchio_tree import PinocchioTree
from support.substitute import module_of, path_of

JOINTS = "../model/joints/"
BENDING = "flexible"
QUATERNIONS = "../spatial/quaternions.py"
TOLERANCE = 1e-9

# Mutants that compute the same: (file, line, before, after) -> why. Nothing else may survive.
FLAT = "only x and y are used"
SIGN = "without a zero's sign"
FRAMES = "return np.stack([normal, -second, first], axis=1) + 0.0, np.stack([normal, first, second], axis=1) + 0.0"
BEGIN, END = (f"np.stack([{axes}], axis=1)" for axes in ("normal, -second, first", "normal, first, second"))
BETWEEN = "share = np.where(still, 2.0, 2 * np.arctan2(length, c) / np.where(still, 1.0, length))"
SERIES = "p = t * (1 - tt * (1 / 3 - tt * (1 / 5 - tt * (1 / 7 - tt / 9))))"
MADE = "def __init__(self, material: Beam | Modal | Station, stiff: bool = True):"
SHIFTS = "for shift, x in zip(self.modes.shifts, self.modes.amplitudes(q), strict=True):"
TURNS = "return sum((turn * x for turn, x in zip(self.modes.turns, q, strict=True)), Vector())"
ALONG = 'return (Screw("x", 1, 0, at.x), *aside, *self._turned(q).screws)'
ENERGY = "return 0.5 * sum((x * y for x, y in zip(q, self.own_forces(q, q)[0], strict=True)), start=0)"
ROWS = "return [sum((entry * y for entry, y in zip(row, x, strict=True)), start=0) for row in matrix]"
EQUIVALENT = {
    ("flexible", MADE, "True", "False"): "what is there is not made again",
    ("flexible", SHIFTS, "(shift, x)", "(x, shift)"): "a product",
    ("flexible", TURNS, "(turn, x)", "(x, turn)"): "a product",
    ("flexible", ENERGY, "(x, y)", "(y, x)"): "a product",
    ("flexible", ROWS, "(entry, y)", "(y, entry)"): "a product",
    (
        "flexible",
        ALONG,
        "(Screw('x', 1, 0, at.x), *aside, *self._turned(q).screws)",
        "(*aside, Screw('x', 1, 0, at.x), *self._turned(q).screws)",
    ): "shifts in any order",
    ("flexible", "straight = is_zero(at.y) and is_zero(at.z)", "at.z", "at.x"): "one more shift, by nothing",
    ("kind", "return [x + y for x, y in zip(q, v, strict=True)]", "(x, y)", "(y, x)"): "a sum",
    ("planar", 'shift = turn("z", cos(q[2]), sin(q[2]), Vector(v[0], v[1], 0))', "0", "1"): FLAT,
    ("planar", 'shift = turn_back("z", cos(q[2]), sin(q[2]), Vector(rates[0], rates[1], 0))', "0", "1"): FLAT,
    ("planar", "arc = screw_shift(Vector(0, 0, v[2]), Vector(v[0], v[1], 0))", "0", "1"): FLAT,
    (
        "planar",
        'shift = turn_back("z", np.cos(q0[2]), np.sin(q0[2]), Vector(q1[0] - q0[0], q1[1] - q0[1], 0))',
        "0",
        "1",
    ): FLAT,
    ("revolute", "if c * s == 0:", "c * s", "c"): "both forms give the same, one costs less",
    ("revolute", "if c * s == 0:", "0", "1"): "likewise",
    ("universal", FRAMES, f"{BEGIN} + 0.0", f"{BEGIN} - 0.0"): SIGN,
    ("universal", FRAMES, f"{BEGIN} + 0.0", BEGIN): SIGN,
    ("universal", FRAMES, f"{END} + 0.0", f"{END} - 0.0"): SIGN,
    ("universal", FRAMES, f"{END} + 0.0", END): SIGN,
    ("universal", FRAMES, "-second", "second"): "x and z tell where the motion begins",
    ("quaternions", BETWEEN, "2.0", "3.0"): "times zero",
    ("quaternions", BETWEEN, "1.0", "2.0"): "only not zero",
    ("quaternions", "safe = np.where(still, 1.0, half)", "1.0", "2.0"): "likewise",
    ("quaternions", SERIES, "9", "10"): "the step after it makes good for that",
}

# What a kind says of itself: units of q, is a freedom a turn, axes it is given, may its frame slide along z, may it
# have limits, a spring, does nothing hold it.
FACTS = {
    "revolute": (("rad",), (True,), 1, True, True, True, False),
    "continuous": (("rad",), (True,), 1, True, True, True, False),
    "prismatic": (("m",), (False,), 1, True, True, True, False),
    "helical": (("rad",), (True,), 1, True, True, True, False),
    "universal": (("rad", "rad"), (True, True), 2, False, False, True, False),
    "cylindrical": (("m", "rad"), (False, True), 1, True, False, True, False),
    "planar": (("m", "m", "rad"), (False, False, True), 1, False, False, False, False),
    "spherical": (("",) * 4, (True,) * 3, 0, False, False, True, False),
    "floating": (("m",) * 3 + ("",) * 4, (False,) * 3 + (True,) * 3, 0, False, False, False, True),
    "fixed": ((), (), 0, False, False, True, False),
}


# -- the mutants of a file -------------------------------------------------------------------------------------------


def files() -> list[str]:
    names = sorted(path.name for path in path_of(JOINTS).glob("*.py") if path.stem != "__init__")
    return [*(JOINTS + name for name in names), QUATERNIONS]


def mutants(file: str) -> list[Mutant]:
    tree = ast.parse(path_of(file).read_text())
    skipped = {id(node) for told in not_computed(tree) for node in ast.walk(told)}
    return [
        Mutant(file, node.lineno, number, node, changed)
        for number, node in enumerate(ast.walk(tree))
        if isinstance(node, ast.expr) and id(node) not in skipped
        for changed in (*changes(node), *further_changes(node))
        if ast.unparse(changed) != ast.unparse(node)
    ]


def not_computed(tree: ast.Module) -> Iterator[ast.AST]:
    """Annotations, docstrings, what makes sure of equal lengths, and what stands outside of classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "strict":
            yield node
        if isinstance(node, (ast.FunctionDef, ast.AnnAssign, ast.arg)):
            note = node.returns if isinstance(node, ast.FunctionDef) else node.annotation
            yield from [note] if note else []
        if isinstance(node, ast.Expr):
            yield node
    yield from (node for node in tree.body if not isinstance(node, (ast.ClassDef, ast.FunctionDef)))


def further_changes(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Subscript(a, ast.Constant(int(k)), ast.Load()):
            yield ast.Subscript(a, ast.Constant(k - 1 if k else 1), ast.Load())
        case ast.Name("sin" | "cos" as name, ast.Load()):
            yield ast.Name("cos" if name == "sin" else "sin", ast.Load())
        case ast.Attribute(a, "sin" | "cos" as name, ast.Load()):
            yield ast.Attribute(a, "cos" if name == "sin" else "sin", ast.Load())
        case ast.Name("X" | "Y" | "Z" as axis, ast.Load()):
            yield ast.Name({"X": "Y", "Y": "Z", "Z": "X"}[axis], ast.Load())
        case ast.Constant(bool(yes)):
            yield ast.Constant(not yes)
        case ast.Constant(int(x) | float(x)):
            yield ast.Constant(x + 1)
        case ast.Constant("x" | "y" | "z" as axis):
            yield ast.Constant({"x": "y", "y": "z", "z": "x"}[axis])
        case ast.BinOp(left, ast.Mult() | ast.Div(), _):
            yield left
        case ast.Tuple([first, second, *rest], context) if not isinstance(first, ast.Starred):
            yield ast.Tuple([second, first, *rest], context)
        case ast.List([first, second, *rest], context) if not isinstance(first, ast.Starred):
            yield ast.List([second, first, *rest], context)
        case ast.Call(function, given, [ast.keyword("linear" | "angular" as name, value)]):
            yield ast.Call(function, given, [ast.keyword("angular" if name == "linear" else "linear", value)])
        case ast.Compare(left, [ast.Lt() | ast.Gt() as way], [right]):
            yield ast.Compare(left, [ast.Gt() if isinstance(way, ast.Lt) else ast.Lt()], [right])
        case ast.BoolOp(way, values):
            yield ast.BoolOp(ast.Or() if isinstance(way, ast.And) else ast.And(), values)


@contextmanager
def in_place(file: str, tree: ast.Module) -> Iterator[None]:
    """Functions, methods and class attributes of ``tree`` in the place of those of the file, and back again."""
    module = import_module(module_of(file))
    namespace = {"__name__": module.__name__, "__package__": module.__package__}
    exec(compile(tree, file, "exec"), namespace)
    undo: list[tuple[Any, str, Any]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def replace(owner: Any, name: str, old: Any, new: Any) -> None:
        if isinstance(old, FunctionType):
            put(old, "__code__", new.__code__)
        elif isinstance(old, property):
            put(old.fget, "__code__", new.fget.__code__)
        elif isinstance(old, type) and old.__module__ == module.__name__:
            for key, value in [*vars(old).items()]:
                if key == "__reduce__" or key == "__repr__" or not key.startswith("__"):
                    replace(old, key, value, vars(new)[key])
        elif isinstance(owner, type):
            put(owner, name, new)

    try:
        for name, old in [*vars(module).items()]:
            if name in namespace and not name.startswith("__"):
                replace(module, name, old, namespace[name])
        yield
    finally:
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)


# -- what is asked ---------------------------------------------------------------------------------------------------


@dataclass
class Case:
    """A robot with a kind at the root, in the middle and at the tip, and what Pinocchio says of it."""

    description: Description
    peer: PinocchioTree
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    expected: dict[str, Any]


@cache
def case(kind: str, coordinate: bool) -> Case:
    recipe = MixedRecipe(5, (kind, "revolute", kind, "prismatic", kind), coordinate=coordinate, rotors=True)
    peer = PinocchioTree(mixed(recipe))
    q, v, a = peer.places.state(3, unit=True)
    expected = {
        "inverse_dynamics": peer.inverse_dynamics(q, v, a),
        "inertia_matrix": peer.inertia_matrix(q),
        "pose": peer.pose(q, "tool"),
        "coriolis": peer.bias(q, v) - peer.gravity(q),
        "gravity": peer.gravity(q),
        "Mdot": (peer.inertia_matrix(peer.integrate(q, 1e-4 * v)) - peer.inertia_matrix(peer.integrate(q, -1e-4 * v)))
        / 2e-4,
    }
    return Case(mixed(recipe), peer, q, v, a, expected)


def faults(kind: str) -> Iterator[str]:
    """What is wrong of a kind, if anything."""
    if kind == BENDING:
        yield from bending_faults(wrong)
        return
    yield from wrong_answers(kind)
    for coordinate in (False, True) if kind != "fixed" else ():
        yield from wrong_dynamics(case(kind, coordinate))


def wrong_answers(kind: str) -> Iterator[str]:
    """Of what it says by itself, which is asked in no time."""
    own = JOINT_KINDS[kind]
    facts = own.position_units, own.turning, own.directions, own.axial, own.bounded, own.has_spring, own.free
    yield from ["facts"] if facts != FACTS[kind] else []
    yield from ["pitched"] if own.pitched != (kind == "helical") else []
    yield from ["straight"] if own.straight != (kind not in ("planar", "spherical", "floating")) else []
    yield from ["successive"] if (own.successive, own.changes) != (kind == "universal",) * 2 else []
    yield from ["sizes"] if (own.nq, own.nv) != SIZES.get(kind, (0, 0)) else []
    material = own.own_energy(own.neutral()), *own.own_forces(own.neutral(), [1.0] * own.nv), own.own_stiffness()
    yield from ["material"] if any(map(np.any, material)) or own.modes or own.tied else []
    yield from ["drivable"] if own.drivable != (kind != "floating") else []
    yield from ["kept"] if own.undamped() is not own or own.limp() is not own else []
    if kind == "fixed":
        kept, moved = own.grouped(Inertia(2.0))
        yield from ["fixed"] if any(kept) or moved.mass != 2.0 or own.subspace(None, ()) else []
    else:
        parts = tuple(tuple(each.split(" ")) for each in PARTS.get(kind, ("", "")))
        yield from ["names"] if (own.position_parts, own.velocity_parts) != parts else []
    yield from ["pickle"] if pickle.loads(pickle.dumps(own)) is not own or kind not in repr(own) else []
    if kind != "fixed":
        yield from wrong_positions(kind)
        yield from wrong_springs(kind)
        yield from wrong_random(kind)


def wrong(what: str, actual: Any, expected: Any, scale: float = 1.0, tolerance: float = TOLERANCE) -> list[str]:
    actual, expected = np.asarray(actual, float), np.asarray(expected, float)
    same = actual.shape == expected.shape and deviation(actual, expected, scale) <= tolerance
    return [] if same else [what]


def wrong_dynamics(one: Case) -> Iterator[str]:
    q, v, a, expected = one.q, one.v, one.a, one.expected
    model = build(one.description)
    size = float(np.abs(expected["inertia_matrix"]).max())
    again = describe(model)
    for joint, written in zip(one.description.joints, again.joints):
        axes = [(joint.axis, written.axis)] if joint.motion.directions else []
        for axis, found in (*axes, (joint.second_axis, written.second_axis)):
            yield from wrong("axes", found, axis / np.linalg.norm(axis))
    for each in (model, build(again), grouped(model)):
        yield from wrong("forces", evaluate(each, "inverse_dynamics", q, v, a), expected["inverse_dynamics"], size)
    yield from wrong("pose", evaluate(model, "pose", q, frame="tool"), expected["pose"])
    C = evaluate(model, "coriolis_matrix", q, v)
    yield from wrong("C v", C @ v, expected["coriolis"], size)
    yield from wrong("Mdot", C + C.T, expected["Mdot"], size, 1e-6)  # by differences


@cache
def alone(kind: str) -> PinocchioTree:
    return PinocchioTree(mixed(MixedRecipe(5, (kind,))))


def wrong_positions(kind: str) -> Iterator[str]:
    peer, places = alone(kind), alone(kind).places
    coordinates = build(peer.description).coordinates
    step, difference, neutral = coordinates.integrate, coordinates.difference, coordinates.neutral()
    q, v, _ = places.state(3, unit=True)
    v = 0.4 * v
    found = step(q, v)
    yield from wrong("step", found, places.same(peer.integrate(q, v), found))
    yield from wrong("difference", difference(q, found), v)
    rates = places.rates(q, v)
    yield from wrong("rates", coordinates.rates(q, v), rates)
    yield from wrong("velocities", coordinates.velocities_of(q, rates), v)
    close = coordinates.advanced(q, v, 1e-5)
    yield from wrong("advanced", close, step(q, 1e-5 * v), tolerance=1e-8)
    yield from wrong("unit", places.normalised(close), close, tolerance=1e-15)
    longer, *_ = places.state(3)
    yield from wrong("normalised", coordinates.normalised(longer), places.normalised(longer))
    yield from wrong("neutral", neutral, peer.ours(pin.neutral(peer.model)))

    small = np.where(FACTS[kind][1], 1e-4, 1.0) * v  # a series takes over there
    for each in (small, 0 * v):
        yield from wrong("small", difference(neutral, step(neutral, each)), each, tolerance=1e-14)
    yield from wrong("tiny", difference(neutral, step(neutral, 1e-160 * v)) / 1e-160, v)
    for more in (2.0, 4.0, -7.0):  # the end of a longer way, or a quaternion of the other sign
        far = q.copy()
        if kind == "planar":
            far[2] += more
        elif kind in ("spherical", "floating"):
            far[-4:] *= -1
        far = step(far, v)
        yield from wrong("shorter way", difference(q, far), peer.difference(q, far))


def wrong_springs(kind: str) -> Iterator[str]:
    """How far a spring is from rest: along each number, or by the shortest turn."""
    own, peer = JOINT_KINDS[kind], alone(kind)
    neutral = peer.ours(pin.neutral(peer.model))
    v = peer.places.state(4)[1]
    for turn in (0.0, 1e-160, 1e-3, 1.0, 3.0, np.pi, 4.0) if kind == "spherical" else (1.0,):
        q = peer.integrate(neutral, turn * v / np.linalg.norm(v))
        expected = peer.difference(neutral, q) if kind == "spherical" else own.has_spring * (q[: own.nv] - 0.3)
        size = np.abs(expected).max() or 1.0
        yield from wrong("spring", own.stretch(q.tolist(), 0.3), expected, size, tolerance=4e-15)


def wrong_random(kind: str) -> Iterator[str]:
    own, inf = JOINT_KINDS[kind], np.inf
    for lower, upper in ((-inf, inf), (0.2, 0.7), (0.2, inf), (-inf, 0.7)):
        found = own.random(np.random.default_rng(1), (500,), lower, upper)
        if found.shape != (500, own.nq):
            yield "shape"
            return
        if own.bounded:
            width = 2 * np.pi if FACTS[kind][0] == ("rad",) else 2.0
            least = lower if lower > -inf else upper - width if upper < inf else -width / 2
            most = upper if upper < inf else least + width
            yield from wrong("limits", [found.min(), found.max()], [least, most], tolerance=0.02 * (most - least))
            yield from ["outside"] if found.min() < least or found.max() > most else []
        for unit, column in zip(FACTS[kind][0], found.T):
            if not own.bounded and unit:
                half = np.pi if unit == "rad" else 1.0
                yield from wrong("range", [column.min(), column.max()], [-half, half], tolerance=0.02 * half)
                yield from ["outside"] if np.abs(column).max() > half else []
        if kind in ("spherical", "floating"):
            x = found[:, -4:]
            yield from wrong("length", np.linalg.norm(x, axis=1), np.ones(500))
            yield from wrong("evenly", x.T @ x / 500, np.eye(4) / 4, tolerance=0.05)


def killed(mutant: Mutant) -> bool:
    """Is it noticed? The kind of the file is asked first, then all of what they say quickly, then all of everything."""
    own = [kind for kind in (*JOINT_KINDS, BENDING) if kind == Path(mutant.file).stem]
    rounds = (faults, own), (wrong_answers, [*JOINT_KINDS][::-1]), (faults, JOINT_KINDS)
    try:
        with in_place(mutant.file, mutant.tree):
            return any(next(ask(kind), "") for ask, kinds in rounds for kind in kinds)
    except Exception:  # it does not even run
        return True


def key(mutant: Mutant) -> tuple[str, str, str, str]:
    return Path(mutant.file).stem, mutant.text, mutant.before, mutant.after


def reason(mutant: Mutant) -> str:
    """Why it computes the same; empty if it should not."""
    return EQUIVALENT.get(key(mutant), "")


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutants of the joints against Pinocchio.")
    parser.add_argument("names", nargs="*", help="files, as universal; default: all")
    chosen, survivors = parser.parse_args().names, 0
    assert not [fault for kind in JOINT_KINDS for fault in faults(kind)]
    for file in files():
        if not chosen or Path(file).stem in chosen:
            made = mutants(file)
            alive = [mutant for mutant in made if not killed(mutant)]
            print(f"{Path(file).stem}: {len(made)} mutants, {len(made) - len(alive)} killed", flush=True)
            for mutant in alive:
                print(f"    {'equivalent' if reason(mutant) else 'SURVIVED'}  {mutant}  {reason(mutant)}")
            survivors += sum(not reason(mutant) for mutant in alive)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
