"""Laws of interaction, one by one: against sums over many thin slices, by their symmetries, on every kind of scalar."""

import math
import re
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

import linkwork
from linkwork.errors import ModelError, UnknownNameError
from linkwork.forces import Contact, Drag, ForceLaw, Plate, Spring, Tyre
from linkwork.io.mdh import read_mdh
from linkwork.io.mdh_writer import write_mdh
from linkwork.io.structure_file import apply as structured
from linkwork.io.structure_file import read_structure, write_structure
from linkwork.io.urdf import read_urdf
from linkwork.io.urdf_writer import write_urdf
from linkwork.model import describe
from linkwork.program import Port, interpret, trace
from linkwork.scalar import Tally
from linkwork.spatial import Force, Matrix, Motion, Pose, Vector
from support.evaluate import assert_close
from support.random_robots import random_rotation

DRAG = Drag(0.7, c_axial=0.3, c_normal=1.1, k_axial=0.2, k_normal=2.3, current=(0.2, -0.4, 0.1))
GROUND = Contact(800, damping=30, friction=0.6, slip=0.1, height=0.2, normal=(1, -2, 3))
PLATE = Plate(0.3, lift=1.7, drag=0.2, wind=(0.2, -0.4, 0.1))
TYRE = Tyre(0.3, 800, damping=30, friction=0.6, height=0.2, normal=(1, -2, 3))
LAW = pytest.mark.parametrize("law", [DRAG, GROUND, PLATE, TYRE], ids=["drag", "contact", "plate", "tyre"])


def pose_of(rotation, origin) -> Pose:
    return Pose(Matrix(*(Vector(*row) for row in rotation)), Vector(*origin))


def apply(law, rotation, origin, velocity) -> np.ndarray:
    force = law(pose_of(rotation, origin), Motion(Vector(*velocity[:3]), Vector(*velocity[3:])))
    assert isinstance(force, Force)
    return np.array(list(force))


def random_place(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotation, origin, velocity."""
    rng = np.random.default_rng(seed)
    return random_rotation(rng), rng.uniform(-0.5, 0.5, 3), rng.uniform(-2, 2, 6)


def in_ground(seed: int = 0, depth: float = 0.05) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random place ``depth`` under the plane."""
    rotation, origin, velocity = random_place(seed)
    n = np.array(GROUND.normal) / np.linalg.norm(GROUND.normal)
    return rotation, origin - (n @ origin - GROUND.height + depth) * n, velocity


def sliced(law: Drag, rotation, velocity, slices: int = 200_000) -> np.ndarray:
    """The integral by the midpoint rule, with all cross products written out by NumPy."""
    x = np.zeros((slices, 3))
    x[:, 0] = (np.arange(slices) + 0.5) * law.length / slices
    u = velocity[:3] + np.cross(velocity[3:], x) - rotation.T @ law.current
    across = u * [0, 1, 1]
    speed = np.linalg.norm(across, axis=1, keepdims=True)
    f = -(law.c_normal + law.k_normal * speed) * across
    f[:, 0] = -(law.c_axial + law.k_axial * np.abs(u[:, 0])) * u[:, 0]
    return np.concatenate([f.sum(0), np.cross(x, f).sum(0)]) * law.length / slices


class TestDrag:
    def test_is_the_sum_over_slices(self):
        fine = replace(DRAG, points=16)
        for seed in range(5):
            rotation, origin, velocity = random_place(seed)
            # the midpoint rule is off by about 1 / slices^2
            assert_close(apply(fine, rotation, origin, velocity), sliced(DRAG, rotation, velocity), tolerance=1e-10)

    @pytest.mark.parametrize("points", [2, 3, 7])
    def test_linear_drag_is_exact(self, points):
        law = Drag(0.7, c_axial=0.3, c_normal=1.1, points=points)
        rotation, origin, (vx, vy, vz, wx, wy, wz) = random_place()
        L, L2, L3 = 0.7, 0.7**2 / 2, 0.7**3 / 3
        force = [-0.3 * vx * L, -1.1 * (vy * L + wz * L2), -1.1 * (vz * L - wy * L2)]
        moment = [0, 1.1 * (vz * L2 - wy * L3), -1.1 * (vy * L2 + wz * L3)]
        assert_close(apply(law, rotation, origin, [vx, vy, vz, wx, wy, wz]), np.array(force + moment))

    def test_quadratic_drag_is_exact_where_the_flow_comes_from_one_side(self):
        """u_y = v + w x > 0, so the force is -k times the integral of u_y^2, the moment that of x u_y^2."""
        k, L, v, w = 2.3, 0.7, 0.4, 1.9
        force = -k * (v * v * L + v * w * L**2 + w * w * L**3 / 3)
        moment = -k * (v * v * L**2 / 2 + 2 * v * w * L**3 / 3 + w * w * L**4 / 4)
        for points in (2, 3):
            found = apply(Drag(L, k_normal=k, points=points), np.eye(3), np.zeros(3), [0, v, 0, 0, 0, w])
            assert_close(found, np.array([0, force, 0, 0, 0, moment]))

    def test_three_points_where_the_flow_changes_sides(self):
        """As the class says."""
        worst = {3: 0.0, 16: 0.0}
        for zero in np.linspace(0, 1, 41):  # the section that stands still
            velocity = np.array([0, -zero, 0, 0, 0, 1.0])
            exact = sliced(Drag(1.0, k_normal=1), np.eye(3), velocity, 20_000)
            for points in worst:
                error = apply(Drag(1.0, k_normal=1, points=points), np.eye(3), np.zeros(3), velocity) - exact
                worst[points] = max(worst[points], np.abs(error[1] * 3), np.abs(error[5] * 4))  # 1/3 and 1/4: one side
        assert worst[3] < 0.01 and worst[16] < 1e-4

    def test_current_is_a_moving_frame_of_reference(self):
        rotation, origin, velocity = random_place()
        still = replace(DRAG, current=(0, 0, 0))
        relative = velocity - np.concatenate([rotation.T @ DRAG.current, np.zeros(3)])
        assert_close(apply(DRAG, rotation, origin, velocity), apply(still, rotation, origin, relative))

    def test_takes_energy_out(self):
        still = replace(DRAG, current=(0, 0, 0))
        for seed in range(100):
            rotation, origin, velocity = random_place(seed)
            assert apply(still, rotation, origin, velocity) @ velocity < 0

    def test_at_rest_there_is_no_force_and_its_slope_is_the_linear_part(self):
        law = replace(DRAG, current=(0, 0, 0))
        assert not apply(law, np.eye(3), np.zeros(3), np.zeros(6)).any()
        slow = replace(law, k_axial=0, k_normal=0)
        for direction in np.eye(6):
            velocity = [Dual(0.0, slope) for slope in direction]
            force = law(Pose.identity(), Motion(Vector(*velocity[:3]), Vector(*velocity[3:])))
            slopes = np.array([getattr(x, "slope", 0.0) for x in force])
            assert_close(slopes, apply(slow, np.eye(3), np.zeros(3), direction), scale=1.0)


class Dual:
    """A number with its slope, carried along by the rules of differentiation as a derivative pass does."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        if isinstance(other, Vector):
            return NotImplemented
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def sqrt(self):
        root = math.sqrt(self.value)
        return Dual(root, self.slope / (2 * root))

    def sign(self):
        return float(np.sign(self.value))


class TestContact:
    def test_nothing_above_the_ground(self):
        for depth in (-0.3, -1e-12):
            rotation, origin, velocity = in_ground(depth=depth)
            assert not apply(GROUND, rotation, origin, velocity).any()
        law = Contact(1000, damping=10)
        assert not apply(law, np.eye(3), np.zeros(3), [0, 0, -1, 0, 0, 0]).any()  # exactly on the plane

    def test_push_and_friction(self):
        n = np.array(GROUND.normal) / np.linalg.norm(GROUND.normal)
        for seed in range(20):
            rotation, origin, velocity = in_ground(seed)
            force = apply(GROUND, rotation, origin, velocity)
            assert not force[3:].any()
            force, v = rotation @ force[:3], rotation @ velocity[:3]
            N = max(0, 800 * 0.05 - 30 * n @ v)
            sliding = v - n * (n @ v)
            expected = N * n - 0.6 * N * sliding / math.sqrt(sliding @ sliding + 0.01)
            assert_close(force, expected, scale=40.0)
            assert np.linalg.norm(force - n * (n @ force)) <= 0.6 * N * (1 + 1e-12)

    def test_never_pulls(self):
        law = Contact(1000, damping=100, friction=1)
        assert not apply(
            law, np.eye(3), [0, 0, -0.01], [3, 0, 1, 0, 0, 0]
        ).any()  # leaves faster than the spring pushes

    def test_work_along_a_closed_path(self):
        """In and out again: the spring gives back what it took, damper and friction do not."""
        t = np.linspace(0, 2 * np.pi, 4001)[:-1]
        origin = Vector(np.sin(2 * t), np.cos(t), 0.02 * np.cos(t))
        velocity = Vector(2 * np.cos(2 * t), -np.sin(t), -0.02 * np.sin(t))

        def mean_power(law):
            return float(law(Pose(Matrix.identity(), origin), Motion(velocity)).linear.dot(velocity).mean())

        assert abs(mean_power(Contact(1000))) < 1e-12
        assert mean_power(Contact(1000, damping=5)) == pytest.approx(-5 * 0.02**2 / 4, rel=0.01)  # half the time inside
        assert mean_power(Contact(1000, friction=0.5)) < -1


@LAW
class TestEveryLaw:
    def test_does_not_depend_on_the_choice_of_world(self, law):
        """The world turned (and, for the ground, moved up along with it): the force in the frame's axes is the same."""
        for seed in range(5):
            rotation, origin, velocity = in_ground(seed)
            rng = np.random.default_rng(seed + 1)
            turn = random_rotation(rng)
            if isinstance(law, Drag):
                turned, shift = replace(law, current=tuple(turn @ law.current)), rng.uniform(-1, 1, 3)
            elif isinstance(law, Plate):
                turned, shift = replace(law, wind=tuple(turn @ law.wind)), rng.uniform(-1, 1, 3)
            else:
                normal = turn @ law.normal
                turned = replace(law, normal=tuple(normal), height=law.height + 0.3)
                shift = 0.3 * normal / np.linalg.norm(normal) + np.cross(normal, [1, 2, 3])
            before = apply(law, rotation, origin, velocity)
            after = apply(turned, turn @ rotation, turn @ origin + shift, velocity)
            assert_close(after, before, scale=40.0)

    def test_every_scalar_gives_the_same(self, law):
        rotation, origin, velocity = in_ground()
        expected = apply(law, rotation.tolist(), origin.tolist(), velocity.tolist())
        assert np.abs(expected[:3]).min() > 0
        flat = [*rotation.ravel(), *origin, *velocity]

        def run(wrapped):
            at = [wrapped[0:3], wrapped[3:6], wrapped[6:9]]
            return list(law(pose_of(at, wrapped[9:12]), Motion(Vector(*wrapped[12:15]), Vector(*wrapped[15:18]))))

        tally = Tally()
        counted = run([tally.wrap(float(x)) for x in flat])
        assert_close(np.array([getattr(x, "value", x) for x in counted], float), expected)
        assert tally["sqrt"] >= 1 and tally["mul"] < 100
        program = trace("law", lambda x: {"f": run(x)}, [Port("x", (18,))])
        (traced,) = interpret(program, [np.array(flat)])
        assert_close(traced, expected)
        batch = np.array(flat) * np.ones((3, 1))
        assert_close(np.array([np.broadcast_to(x, 3) for x in run(list(batch.T))]).T, expected * np.ones((3, 1)))

    def test_is_a_value(self, law):
        assert replace(law) == law and hash(replace(law)) == hash(law)
        with pytest.raises(FrozenInstanceError):
            law.friction = 2

    def test_fields_are_documented(self, law):
        for field in fields(law):
            assert f"\n        {field.name}: " in type(law).__doc__


def test_laws_by_name():
    laws = ForceLaw.known
    assert [re.sub("(?<!^)(?=[A-Z])", "_", law.__name__).lower() for law in laws.values()] == [*laws]


def test_fields_may_be_given_as_a_file_gives_them():
    assert Drag(1, current=[1, 0, 0], points=3.0) == Drag(1.0, current=(1.0, 0.0, 0.0))  # pyright: ignore
    assert isinstance(Drag(1, points=3.0).points, int)  # pyright: ignore


@pytest.mark.parametrize(
    ("make", "where", "expected"),
    [
        (lambda: Drag(0), "Drag.length", "a finite number above zero"),
        (lambda: Drag(1, c_axial=-1), "Drag.c_axial", "a finite number, zero or more"),
        (lambda: Drag(1, k_normal=math.nan), "Drag.k_normal", "a finite number, zero or more"),
        (lambda: Drag(1, k_axial="thick"), "Drag.k_axial", "a finite number, zero or more"),
        (lambda: Drag(1, current=(1, 2)), "Drag.current", "3 finite numbers"),
        (lambda: Drag(1, current=0.5), "Drag.current", "3 finite numbers"),
        (lambda: Drag(1, points=1), "Drag.points", "a whole number from 2 to 16"),
        (lambda: Drag(1, points=2.5), "Drag.points", "a whole number from 2 to 16"),
        (lambda: Contact(0), "Contact.stiffness", "a finite number above zero"),
        (lambda: Contact(1, slip=0), "Contact.slip", "a finite number above zero"),
        (lambda: Contact(1, friction=-0.1), "Contact.friction", "a finite number, zero or more"),
        (lambda: Contact(1, height=math.inf), "Contact.height", "a finite number"),
        (lambda: Contact(1, normal=(0, 0, 0)), "Contact.normal", "3 finite numbers, not all zero"),
        (lambda: Contact(1, normal=(0, math.inf, 0)), "Contact.normal", "3 finite numbers, not all zero"),
        (lambda: Spring("hand"), "Spring.to", "names of frames, and points (x, y, z) of the world"),  # pyright: ignore
        (lambda: Spring(()), "Spring.to", "names of frames, and points (x, y, z) of the world"),
        (lambda: Spring(3), "Spring.to", "names of frames, and points (x, y, z) of the world"),  # pyright: ignore
        (lambda: Spring(((0, 1),)), "Spring.to", "names of frames, and points (x, y, z) of the world"),  # pyright: ignore
        (lambda: Spring(((0, 1, math.nan),)), "Spring.to", "names of frames, and points (x, y, z) of the world"),
        (lambda: Spring(("hand", "")), "Spring.to", "names of frames, and points (x, y, z) of the world"),
        (lambda: Spring(("hand",), stiffness=-1), "Spring.stiffness", "a finite number, zero or more"),
        (lambda: Spring(("hand",), rest=-0.1), "Spring.rest", "a finite number, zero or more"),
        (lambda: Spring(("hand",), slack=-0.1), "Spring.slack", "a finite number, zero or more"),
        (lambda: Spring(("hand",), shares=(1, 2)), "Spring.shares", "1 number, one for each place of `to`"),
        (
            lambda: Spring(("hand", "foot"), shares=(1, -2)),
            "Spring.shares",
            "finite numbers, zero or more, not all zero",
        ),
        (lambda: Spring(("hand",), shares=(0,)), "Spring.shares", "finite numbers, zero or more, not all zero"),
        (lambda: Spring(("hand",), shares=0.5), "Spring.shares", "finite numbers, zero or more, not all zero"),  # pyright: ignore
    ],
)
def test_bad_fields(make, where, expected):
    with pytest.raises(ModelError) as caught:
        make()
    error = caught.value
    assert (error.where, error.expected) == (where, expected)
    assert error.got is not None


def test_ground_may_lie_below_the_origin():
    assert Contact(1, height=-2).height == -2


# -- springs in files ------------------------------------------------------------------------------------------------

SPRING = Spring(("link1", (0, 0.5, -1)), stiffness=200, damping=3, rest=0.2, slack=0.1, shares=(1, 0.5))
ARM = """
name: arm
joints: [{name: a}, {name: b, alpha: pi/2, d: 0.3}]
links: [{link: link1, M: 1, ZZ: 1}, {link: link2, M: 1, ZZ: 1, XX: 1}]
frames: [{name: tip, link: link2, d: 0.2}]
"""


def test_springs_are_read_and_written():
    text = """forces:
  - {frame: tip, law: spring, to: [link1, [0, 1/2, -1]], stiffness: 200, damping: 3, rest: 0.2, slack: 0.1,
     shares: [1, .5]}
"""
    description = read_mdh(ARM + text)
    assert description.forces == (("tip", SPRING),)
    assert read_mdh(write_mdh(description)).forces == description.forces
    again = structured(read_urdf(write_urdf(description)), read_structure(write_structure(description)))
    assert again.forces == description.forces
    model = linkwork.load(description).model
    assert describe(model).forces == description.forces


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{frame: tip, law: spring, stiffness: 2}", "'to' is missing"),
        ("{frame: tip, law: spring, to: link1}", "expected: a list"),
        ("{frame: tip, law: spring, to: [lnk1]}", "there is no link or frame 'lnk1'.*link1"),
        ("{frame: tip, law: spring, to: [[0, 1]]}", "expected: 3 numbers"),
        ("{frame: tip, law: spring, to: []}", "to: out of range"),
        ("{frame: tip, law: spring, to: [link1], shares: [1, 2]}", "shares: out of range.*1 number"),
        ("{frame: tip, law: spring, to: [link1], rest: -1}", "rest: out of range"),
        ("{frame: tip, law: drag, to: [link1], length: 1}", "there is no key 'to'"),
    ],
)
def test_mistakes_about_springs(row, message):
    with pytest.raises(ModelError, match=f"(?s)line 6.*{message}"):
        read_mdh(f"{ARM}forces: [{row}]\n")


def test_a_spring_to_nowhere():
    robot = linkwork.load(read_mdh(ARM))
    with pytest.raises(UnknownNameError, match="no frame 'hand'"):
        robot.with_forces({"tip": Spring(("hand",))})
    with pytest.raises(UnknownNameError, match="no frame 'hand'"):
        linkwork.load(replace(read_mdh(ARM), forces=(("tip", Spring(("hand",))),)))


def test_a_spring_pulls_both_ends_alike():
    """Along their line, by hand; and what is left out of the length does not pull."""
    law = Spring(("b", "c"), stiffness=100, damping=7, rest=0.5, shares=(1, 0))
    rng = np.random.default_rng(3)
    poses, velocities = [], []
    for _ in range(3):
        poses.append(pose_of(random_rotation(rng), rng.normal(size=3)))
        velocities.append(Motion(Vector(*rng.normal(size=3)), Vector(*rng.normal(size=3))))
    forces = law(poses, velocities)
    way = np.array([*poses[1].origin]) - np.array([*poses[0].origin])
    L = np.linalg.norm(way)
    rates = [np.array([*pose.outward(velocity.linear)]) for pose, velocity in zip(poses, velocities)]
    tension = 100 * (L - 0.5) + 7 * way @ (rates[1] - rates[0]) / L
    pulls = [np.array([*pose.outward(force.linear)]) for pose, force in zip(poses, forces)]
    assert_close(np.array(pulls), np.array([tension * way / L, -tension * way / L, 0 * way]))
    assert_close(law.energy(poses), 50 * (L - 0.5) ** 2)
    for field in fields(law):
        assert f"\n        {field.name}: " in type(law).__doc__
    assert replace(law) == law and hash(replace(law)) == hash(law)
