"""Would a wrong sign be noticed? Mutants of the formulations, each run against the reference.

    python tests/mutants.py                 a dozen mutants of every file
    python tests/mutants.py khalil silver   of these families (or files)
    python tests/mutants.py --each 0 aba    every mutant there is

A mutant is one file of ``linkwork.formulations``, or of what they share, with one thing changed: a sign, the order of
a cross product, a term or a factor 2 left out, an axis, an index, the direction of a transform. It is compiled from a
changed syntax tree and imported in the place of the file, with all that imports it, for the time of a run; no file is
touched. It is killed if a method that uses the file fails, or differs from what the unchanged reference method says of
a few random robots. Only lines are changed that some method of the catalog, or some quantity, reaches.
"""

import argparse
import ast
import copy
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import linkwork
import linkwork.formulations
from linkwork.errors import UnsupportedError
from linkwork.forces import AddedMass, Rotor
from linkwork.formulations import layouts, sizes
from linkwork.io.mdh import read_mdh
from linkwork.model import (
    CUT_JOINTS,
    ConstraintDescription,
    Description,
    JointDescription,
    Link,
    Model,
    Placement,
    foot_at,
)
from support.driven_robots import LAWS, coupled, rubbing
from support.evaluate import deviation
from support.flexible_robots import FOUR_BAR, bending_tree
from support.mixed_loops import closed_chain
from support.mixed_trees import MixedRecipe, mixed, shuffled
from support.parallel_robots import described, universals, with_a_plate, with_joints_for_balls
from support.random_loops import LoopRecipe, mechanism, spin
from support.random_robots import RELATIONS, Recipe, describe, half_driven, inertia, random_vectors
from support.rolling import rolling_mechanism
from support.substitute import EQUATIONS, PACKAGE, ROOT, SHARED, imports, in_place_of, module_of, path_of

PLUMBING = {  # no formulas in these
    "__init__", "catalog", "count_executed", "layout", "method", "problem", "quantity", "quantity_table", "trace_names",
}  # fmt: skip
# every quantity of a robot with loops needs these
LOOPS = {EQUATIONS, "../constraints/closed_loops.py", "../scalar/orthogonal.py"}
COMPOSED = LOOPS | {
    "quantities.py",
    "passive_forces.py",
    "drives.py",
    "total_inertia.py",
    "link_modes.py",
}  # every quantity of any robot
TOLERANCE = 1e-9
FEW = {"modes": {"y": 1, "z": 1, "twist": 1}, "stiffening": True}
UNIVERSAL = ("universal", "prismatic", "prismatic", "prismatic", "revolute")

# Mutants that compute the same: (file, line, before, after) -> why. Nothing else may survive.
GAUGE = "parallel_axes.py", "zz = -E.yy if is_zero(E.xx - E.yy) else 0"
SPARSE = "sparse = is_zero(self.U.rows[2].z) and entries(constant)"
ONE_SCREW = "one_screw = len(X.screws) == len(fixed.screws) + 1 and isinstance(X.screws[-1], Screw)"
ABOUT_Z = "return all(is_zero(e.angular.x) and is_zero(e.angular.y) for e in S) and not only_slides(S)"
SHOULDER = "return len(directions) == 1 and [is_zero(x) for x in placed(joint).inward(directions[0])] in XY"
SCREWS = "len(fixed.screws)"
LAST_ARM = "linfang/formulation4.py", "if i + 1 == n:"
PARALLEL = "return math.hypot(*axis.cross(v)) <= PARALLEL * max(1.0, math.hypot(*v))"
AXES = "u = {j: R[j].columns[2] for j in range(1, n + 1)}"
CARRIED = "l = chain.outward(i, Vector(c.x, c.y, l.z))"
LOCAL = "parts = (Vector(*drift[k : k + 3]) - w.cross(Vector(*velocity[k : k + 3])) for k in (0, 3))"
BACK = "../scalar/orthogonal.py", "for j in range(k + 1, len(x)):"
SINGULAR = "../scalar/staircase.py", "return [square - SINGULAR * total for square in squares]"
ALL_WELL = "return sqrt(2 * (sum(map(sign, pivots), start=0) - len(pivots)) + 1)"
WELL = "sum(map(sign, pivots), start=0) - len(pivots)"
LEG = (
    "khalil/platform.py",
    "vd = X.inward(vd + U @ X.origin) + (2 * carried + joint_v.angular).cross(joint_v.linear) + change.linear",
)
LED = "X.inward(vd + U @ X.origin) + (2 * carried + joint_v.angular).cross(joint_v.linear)"
NUMPY = "../scalar/dual.py"
SUM = '"add": lambda a, b: a + b if isinstance(a, Dual) else b + a,'
DIFFERENCE = '"subtract": lambda a, b: a - b if isinstance(a, Dual) else b.__rsub__(a),'
EQUIVALENT = {
    (NUMPY, SUM, "a + b", "a - b"): "a dual number on the left has operators of its own, and formulations no np.add",
    (NUMPY, SUM, "a + b", "a"): "likewise",
    (NUMPY, DIFFERENCE, "a - b", "a + b"): "likewise",
    (NUMPY, DIFFERENCE, "a - b", "a"): "likewise",
    (*LEG, f"{LED} + change.linear", f"{LED} - change.linear"): "no kind of joint of legs has shifts that change",
    (*LEG, f"{LED} + change.linear", LED): "likewise",
    (*GAUGE, "-E.yy", "E.yy"): "E_zz may have any value: what stays is not moved",
    (*GAUGE, "E.xx - E.yy", "E.xx + E.yy"): "likewise",
    (*GAUGE, "E.xx - E.yy", "E.xx"): "likewise",
    ("parallel_axes.py", SPARSE, "self.U.rows[2].z", "self.U.rows[2].x"): "chooses between two forms of one product",
    ("parallel_axes.py", ONE_SCREW, f"{SCREWS} + 1", f"{SCREWS} - 1"): "likewise",
    ("parallel_axes.py", ONE_SCREW, f"{SCREWS} + 1", SCREWS): "likewise",
    ("parallel_axes.py", ABOUT_Z, "e.angular.x", "e.angular.y"): "no joint turns about x and not about y",
    ("parallel_axes.py", ABOUT_Z, "e.angular.y", "e.angular.z"): "(5) does for (3) and (4) at a higher price",
    (
        "parallel_axes.py",
        SHOULDER,
        "placed(joint).inward(directions[0])",
        "placed(joint).outward(directions[0])",
    ): "axes that do not turn serve for any joint, at a higher price",
    ("lin1991/fijany_bejczy.py", AXES, "n + 1", "n"): "the axis of the last joint is not used",
    (*LAST_ARM, "i + 1", "i - 1"): "the general form gives the last arm too, at a higher price",
    (*LAST_ARM, "i + 1", "i"): "likewise",
    ("linfang/minimal.py", PARALLEL, "axis.cross(v)", "v.cross(axis)"): "only its length is used",
    ("linfang/moments.py", CARRIED, "l.z", "l.x"): "the component along u_r is never used: b and w are normal to it",
    (*BACK, "k + 1", "k"): "a diagonal entry of R stands for 1, and is stored as 0",
    (*SINGULAR, "square - SINGULAR * total", "square + SINGULAR * total"): "but where it is singular, which laws try",
    (*SINGULAR, "square - SINGULAR * total", "square"): "likewise",
    ("../scalar/staircase.py", ALL_WELL, f"2 * ({WELL})", WELL): "likewise",
    ("quantities.py", LOCAL, "k + 3", "k - 3"): "drops the angular velocity from w x (J v), where it is w x w",
}


# -- the mutants of a file ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    file: str  # as "khalil/inverse.py", relative to formulations
    line: int
    number: int  # of the node, in the order of ast.walk
    old: ast.expr
    new: ast.expr

    @property
    def text(self) -> str:
        """The line, without its tag."""
        return path_of(self.file).read_text().splitlines()[self.line - 1].split("  #")[0].strip()

    @property
    def before(self) -> str:
        return ast.unparse(self.old)

    @property
    def after(self) -> str:
        return ast.unparse(self.new)

    @property
    def tree(self) -> ast.Module:
        tree = ast.parse(path_of(self.file).read_text())
        Swap(list(ast.walk(tree))[self.number], self.new).visit(tree)
        return ast.fix_missing_locations(tree)

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.file, self.text, self.before, self.after

    @property
    def reason(self) -> str:
        """Why it computes the same; empty if it should not."""
        return EQUIVALENT.get(self.key, "")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}"


def files() -> list[str]:
    """The files with formulas, those of the families too."""
    return [*SHARED, *(str(p.relative_to(ROOT)) for p in sorted(ROOT.rglob("*.py")) if p.stem not in PLUMBING)]


def mutants(file: str, each: int = 0) -> list[Mutant]:
    """Of the lines that are reached; ``each`` of them, spread evenly over the file, or all."""
    tree = ast.parse(path_of(file).read_text())
    lines = reached().get(file, set())
    found = [
        Mutant(file, node.lineno, number, node, changed)
        for number, node in enumerate(ast.walk(tree))
        if isinstance(node, ast.expr) and not lines.isdisjoint(range(node.lineno, (node.end_lineno or 0) + 1))
        for changed in changes(node)
    ]
    found.sort(key=lambda mutant: mutant.line)
    if each and each < len(found):
        found = [found[int((k + 0.5) * len(found) / each)] for k in range(each)]
    return found


def changes(node: ast.expr) -> Iterator[ast.expr]:
    """What could stand wrongly in the place of an expression."""
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right) if not any(map(is_collection, (left, right))):
            yield ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right)
            yield left
        case ast.BinOp(ast.Constant(2), ast.Mult(), right):
            yield right
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.Call(ast.Attribute(a, "cross"), [b]):
            yield ast.Call(ast.Attribute(b, "cross", ast.Load()), [a], [])
        case ast.Call(ast.Attribute(a, "outward" | "inward" as way), [b]):
            yield ast.Call(ast.Attribute(a, "inward" if way == "outward" else "outward", ast.Load()), [b], [])
        case ast.Attribute(a, "x" | "y" | "z" as axis, ast.Load()):
            yield ast.Attribute(a, {"x": "y", "y": "z", "z": "x"}[axis], ast.Load())
        case ast.Subscript(a, ast.Name("i", ast.Load()), ast.Load()):
            yield ast.Subscript(a, ast.BinOp(ast.Name("i", ast.Load()), ast.Add(), ast.Constant(1)), ast.Load())


def is_collection(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.ListComp, ast.Tuple, ast.Dict, ast.JoinedStr)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


class Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.expr):
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return copy.deepcopy(self.new) if node is self.old else self.generic_visit(node)


# -- what depends on what ----------------------------------------------------------------------------------------------


def function_module(function: Any) -> set[str]:
    """Where a method's function and the functions it was made of are defined."""
    if isinstance(function, partial):
        inner = (function.func, *(x for x in function.args if callable(x)))
        return set().union(*(function_module(f) for f in inner))
    return {function.__module__}


def users(formulations: Any, file: str) -> list[tuple[str, Any]]:
    """(quantity, method) for all methods that use the file; (quantity, None) for quantities without methods."""
    name, found = module_of(file), []
    for quantity in formulations.QUANTITIES:
        for method in formulations.methods(quantity) or (None,):
            modules = function_module(formulations.QUANTITIES[quantity].function)
            if method:
                modules = function_module(method.function) | (modules - {f"{PACKAGE}.quantities"})
            if any(name == module or name in imports()[module] for module in modules) or file in COMPOSED:
                found.append((quantity, method))
    return found


# -- what is asked -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A robot in a state, loaded at every link."""

    model: Model
    values: dict[str, list[float]]
    wrenches: list[list[float]]


@cache
def cases() -> list[Case]:
    """Small robots that excite every term: skew axes and coincidences, all kinds of joint, branches, a free base,
    joints without motors, loops of every kind, platforms on legs."""
    both, turning = ("revolute", "prismatic"), ("revolute",)
    recipes = [
        Recipe(seed=1, joints=4, kinds=turning, extras=True),
        Recipe(seed=2, joints=4, kinds=both, extras=True),
        Recipe(seed=5, joints=5, kinds=both, relations=("right angle", "parallel", "skew"), extras=True),
        Recipe(seed=3, joints=5, kinds=turning, relations=("parallel", "right angle", "right angle")),
        Recipe(seed=6, joints=5, kinds=both, relations=RELATIONS[::-1], fixed=True),
        Recipe(seed=4, joints=5, kinds=both, branches=True, relations=("skew", "right angle"), extras=True),
        Recipe(seed=9, joints=4, kinds=both, branches=True, floating=True, extras=True, relations=("right angle",)),
    ]
    loops = [
        LoopRecipe(seed=1, closures=("revolute", "universal"), motors="all", fixed=True),
        LoopRecipe(seed=2, closures=("weld", "prismatic"), freedoms=2, elastic=True),
        LoopRecipe(seed=3, closures=("spherical",), freedoms=3, motors="some", mimic=True),
        LoopRecipe(seed=4, closures=("revolute",), freedoms=2, planar=True, floating=True),
    ]
    trees = (*map(describe, recipes), *(half_driven(describe(recipes[k]), seed=0) for k in (1, 5, 6)))
    skew = on_skew_joints(2), on_skew_joints(3, UNIVERSAL), universals(linkwork.io.read("gough-stewart"))
    bundled = [*map(described, ("delta", "gough-stewart", "3rpr"))]
    parallel = (*bundled, *skew, on_swivels(), with_a_plate(bundled[2]))
    kinds = [MixedRecipe(1, shuffled(1), reach=2, coordinate=True), MixedRecipe(2, shuffled(2), reach=3, floating=True)]
    arms = (upright(), sliding(), shoulder(), "scara", "stanford", beside_an_arm())
    loop = closed_chain(("revolute", "universal", "cylindrical"), "universal", back=True)
    rolls = rolling_mechanism(8, ("planar", "revolute", "prismatic", "helical"), ("omni", "blade"), geared=True)
    others = (on_springs(mixed(kinds[0])), mixed(kinds[1]), *arms, *map(mechanism, loops), *parallel, loop, rolls)
    others += (read_mdh(FOUR_BAR), bending_tree(4, ("revolute", "flexible"), floating=True, **FEW))
    others += (in_water(describe(recipes[5])), in_water(describe(recipes[6])), on_feet(describe(recipes[6])))
    others += (coupled(rubbing(Recipe(seed=7, joints=5, extras=True), LAWS["all"])), coupled(mechanism(loops[1])))
    found = []
    for number, robot in enumerate((*trees, *others)):
        robot, rng = linkwork.load(robot), np.random.default_rng(number)
        model = robot.model
        values = random_vectors(model, number) | {"tau": rng.normal(size=sizes(model)["tau"]) * 10}
        if model.permanent:
            values["q"] = near_home(robot, rng)
        places = model.coordinates.places(layouts(model)["positions"].joints)
        values |= {"guess": values["q"], "positions": values["q"][places] + rng.uniform(-0.01, 0.01, len(places))}
        loads = rng.normal(size=(len(model.link_names), 6))
        found.append(Case(model, {name: x.tolist() for name, x in values.items()}, loads.tolist()))
    return found


def near_home(robot: linkwork.Robot, rng: np.random.Generator) -> np.ndarray:
    """Other positions, at which no entry is zero by chance."""
    places = linkwork.assembly.Assembler(robot.model).places
    return robot.assemble(np.array(robot.home)[places] + rng.uniform(-0.05, 0.05, len(places))).require()


def upright() -> Description:
    """Three upright axes, two on opposite sides of the base and one above it, and a last one that is not upright."""
    z, skew = (0.0, 0.0, 1.0), (1.0, 0.5, 0.0)
    shifts = ((0.2, 0.0, 0.1), (-0.4, 0.0, 0.2), (0.2, 0.0, 0.1), (0.1, 0.3, 0.2))
    return chain([("revolute", axis, shift) for axis, shift in zip((z, z, z, skew), shifts)])


def shoulder() -> Description:
    """An upright axis, three level ones that stand off each other along and across, and one across them."""
    x, y, z = np.eye(3)
    shifts = ((0.0, 0.0, 0.3), (0.1, 0.2, 0.1), (0.3, 0.1, 0.2), (0.2, 0.15, -0.3), (0.2, 0.1, 0.1))
    return chain([("revolute", axis, shift) for axis, shift in zip((z, y, y, y, x), shifts)])


def sliding() -> Description:
    """Two parallel revolute axes with prismatic ones of any direction before, between and behind them."""
    rng, z = np.random.default_rng(1), (0.0, 0.0, 1.0)
    kinds = ("prismatic", "revolute") * 3
    axes = [z if k in (1, 3) else rng.normal(size=3) for k in range(6)]
    return chain([(kind, axis, rng.normal(size=3)) for kind, axis in zip(kinds, axes)], gravity=(1.0, 2.0, -9.0))


def beside_an_arm() -> Description:
    """A floating body with a joint, which stands behind an arm in all vectors."""
    rng, kinds = np.random.default_rng(3), ("revolute", "prismatic", "floating", "revolute")
    links = (Link("ground", None), *(Link(f"link{k}", inertia(rng)) for k in range(4)))
    parents = ("ground", "link0", "ground", "link2")
    joints = (
        JointDescription(f"joint{k}", kind, parent, f"link{k}", shifted(rng.normal(size=3)), rng.normal(size=3))
        for k, (kind, parent) in enumerate(zip(kinds, parents))
    )
    return Description("beside", links, tuple(joints))


def on_skew_joints(count: int, kinds: tuple[str, ...] = ("revolute", "prismatic") * 3) -> Description:
    """A platform on six legs and on a chain of joints with skew axes, all of them passive, in place of none; its balls
    are made of ``count`` joints and what closes the loop."""
    robot, rng = with_joints_for_balls(described("gough-stewart"), count), np.random.default_rng(1)
    floating = next(joint for joint in robot.joints if joint.kind == "floating")
    shifts, axes = rng.uniform(-0.2, 0.2, (len(kinds), 3)), rng.normal(size=(len(kinds), 3))
    home = dict(robot.home)
    shifts[-1] += np.array(home.pop(floating.name)[:3]) - shifts.sum(axis=0)
    names = [*(f"carrier{k}" for k in range(len(kinds) - 1)), floating.child]
    own = tuple(
        JointDescription(
            f"skew{k}", kind, names[k - 1] if k else floating.parent, name, Placement(np.eye(3), shift), axis,
            second_axis=np.cross(axis, shift), role="passive",
        )
        for k, (kind, name, shift, axis) in enumerate(zip(kinds, names, shifts, axes))
    )  # fmt: skip
    links = (*robot.links, *(Link(name, inertia(rng)) for name in names[:-1]))
    joints = (*own, *(joint for joint in robot.joints if joint is not floating))
    return replace(robot, links=links, joints=joints, home=home, independent=tuple(joint.name for joint in own))


def on_swivels() -> Description:
    """A platform that does not turn, on three legs. Each is an arm that swivels beside its own axis, so that one
    equation has the swivel alone and the others have it too."""
    rng, (_, y, z), angles = np.random.default_rng(2), np.eye(3), (0.2, -0.6, 0.9)
    links, joints, loops, center = [Link("ground", None)], [], [], np.array([0.0, 0.0, 0.4])
    for k, name in enumerate(("x", "y", "platform")):
        links.append(Link(name, inertia(rng)))
        at = Placement(translation=center if k == 0 else np.zeros(3))
        joints.append(
            JointDescription(f"along{k}", "prismatic", links[-2].name, name, at, np.eye(3)[k], role="passive")
        )
    for leg in range(3):
        at, parent = Placement(), "ground"
        places = (turned(z, 2.1 * leg) @ shifted((0.5, 0, 0)), shifted((0.1, 0.05, 0)), shifted((0.4, 0, 0)))
        for k, (place, axis) in enumerate(zip(places, (z, y, y))):
            name = f"leg{leg}{k}"
            links.append(Link(name, inertia(rng)))
            role = "active" if k == 1 else "passive"
            joints.append(JointDescription(name, "revolute", parent, name, place, axis, role=role))
            at, parent = at @ place @ turned(axis, angles[k]), name
        tip = shifted((0.4, 0, 0))
        hold = shifted((at @ tip).translation - center)
        loops.append(ConstraintDescription(f"tip{leg}", CUT_JOINTS["spherical"], (parent, tip), ("platform", hold)))
    home = {f"leg{leg}{k}": angle for leg in range(3) for k, angle in enumerate(angles)}
    own = tuple(joint.name for joint in joints[:3])
    return Description("swivels", tuple(links), tuple(joints), constraints=tuple(loops), home=home, independent=own)


def on_springs(robot: Description) -> Description:
    """With a spring in every joint that may have one, balls among them."""
    joints = (
        joint if joint.kind in ("floating", "planar") else replace(joint, stiffness=3.0) for joint in robot.joints
    )
    return replace(robot, joints=tuple(joints))


def in_water(robot: Description) -> Description:
    """With fluid that its last two links carry along, and a propeller."""
    rng, wet = np.random.default_rng(0), [link.name for link in robot.links[-2:]]
    laws = [AddedMass(*(tuple(part) for part in rng.uniform(0.2, 2.0, (3, 3)))) for _ in wet]
    return replace(robot, forces=(*zip(wet, laws), ("tool", Rotor(0.3, -1, 0.4))))


def on_feet(robot: Description) -> Description:
    """With a point and a sole on its last links."""
    first, second = (link.name for link in robot.links[-2:])
    return replace(robot, constraints=(foot_at("point", first), foot_at("sole", second, size=(0.2, 0.1))))


def shifted(by) -> Placement:
    return Placement(translation=np.array(by, float))


def turned(axis: np.ndarray, angle: float) -> Placement:
    return Placement(spin(axis, angle))


def chain(joints: list, gravity=(0.0, 0.0, -9.81)) -> Description:
    """Of (kind, axis, shift)."""
    rng = np.random.default_rng(0)
    links = (Link("link0", None), *(Link(f"link{k}", inertia(rng)) for k in range(1, len(joints) + 1)))
    described = tuple(
        JointDescription(
            f"joint{k}", kind, f"link{k - 1}", f"link{k}", Placement(np.eye(3), np.array(shift)), np.array(axis)
        )
        for k, (kind, axis, shift) in enumerate(joints, 1)
    )
    return Description("chain", links, described, gravity=gravity)


def ask(formulations: Any, quantity: str, method: Any, case: Case, loaded: bool) -> list[np.ndarray]:
    """The answers to a quantity; of a frame in both axes."""
    asked = formulations.quantity_of(case.model, quantity)
    inputs: list = [case.values[name] for name in asked.inputs]
    if loaded:
        inputs.append(case.wrenches)
    answers = []
    for axes in ("world", "local") if asked.has_axes else ("world",):
        frame = list(case.model.frames)[-1] if asked.of_frame else None
        loads = case.model.link_names if loaded else ()
        problem = formulations.Problem(case.model, quantity, method, frame, axes, loads, parameters="standard")
        answers += [np.array(part, dtype=float) for part in problem.evaluate(*inputs).values()]
    return answers


@cache
def expected(quantity: str, number: int, loaded: bool) -> list[np.ndarray] | None:
    """What the first method of the catalog says that works for the robot; None if the quantity does not."""
    case = cases()[number]
    able = (method for method in linkwork.formulations.methods(quantity) if not method.refusal(case.model))
    try:
        return ask(linkwork.formulations, quantity, next(able, None), case, loaded)
    except UnsupportedError:
        return None


@cache
def usual_refusal(quantity: str, method: str, number: int) -> str:
    chosen = next(m for m in linkwork.formulations.methods(quantity) if m.name == method)
    return chosen.refusal(cases()[number].model)


def differs(formulations: Any, quantity: str, method: Any, number: int) -> bool:
    """Does the answer on that case differ from the reference, or fail?"""
    case = cases()[number]
    takes = formulations.QUANTITIES[quantity].takes_wrenches and (method is None or method.wrenches)
    refusal = method.refusal(case.model) if method else ""
    if refusal or (method and usual_refusal(quantity, method.name, number)):
        return refusal != usual_refusal(quantity, method.name, number)
    right = expected(quantity, number, takes)
    if right is None:
        return False
    try:
        found = ask(formulations, quantity, method, case, takes)
    except Exception:
        return True
    return any(x.shape != y.shape or not deviation(x, y) <= TOLERANCE for x, y in zip(found, right))


# -- running a mutant --------------------------------------------------------------------------------------------------


def killed(file: str, tree: ast.Module) -> bool:
    """Is it noticed that ``tree`` stands in place of the file?"""
    try:
        with in_place_of(module_of(file), tree) as formulations:
            asked, numbers = users(formulations, file), range(len(cases()))
            likely = sorted(numbers, key=lambda k: bool(cases()[k].model.permanent) != (file in LOOPS))
            return any(differs(formulations, *who, number) for number in likely for who in asked)
    except Exception:  # it cannot even be imported
        return True


@cache
def reached() -> dict[str, set[int]]:
    """The lines of every file that run when the unchanged methods and quantities are asked."""
    lines: dict[str, set[int]] = {}

    def local(frame, event, argument):
        lines[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.startswith(ours):
            return None
        lines.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
        return local

    package, before, ours = linkwork.formulations, sys.gettrace(), (str(ROOT), *(str(path_of(file)) for file in SHARED))
    cases()  # made before anything is traced
    sys.settrace(trace)
    try:
        for quantity in package.QUANTITIES:
            for method in package.methods(quantity) or (None,):
                for number in range(len(cases())):
                    assert not differs(package, quantity, method, number), f"{quantity} by {method} is wrong"
    finally:
        sys.settrace(before)
    return {file: lines.get(str(path_of(file)), set()) for file in files()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutants of the formulations against the reference.")
    parser.add_argument("names", nargs="*", help="families or files, as khalil or rnea.py; default: all")
    parser.add_argument("--each", type=int, default=12, help="mutants of each file; 0: all")
    options = parser.parse_args()
    chosen = [
        f for f in files() if not options.names or any(n in (*Path(f).parts, Path(f).stem) for n in options.names)
    ]
    survivors = 0
    for file in chosen:
        made = mutants(file, options.each)
        alive = [mutant for mutant in made if not killed(file, mutant.tree)]
        unexplained = [mutant for mutant in alive if not mutant.reason]
        survivors += len(unexplained)
        print(f"{file}: {len(made)} mutants, {len(made) - len(alive)} killed")
        for mutant in alive:
            print(f"    {'equivalent' if mutant.reason else 'SURVIVED'}  {mutant}  {mutant.reason}")
        sys.stdout.flush()
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
