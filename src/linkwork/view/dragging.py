"""Dragging: the ball on a chosen frame that a user pulls, and the motion of the robot that follows."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..kinematics import Pose
from ..kinematics.steps import position_limits
from ..model.rotations import quaternion_from_rotation
from ..rotations import exp, make_pose, pose_error
from . import html
from .meshes import sphere
from .state import MOTORS, State

BALL, LINE = "/world/drag", "/world/missed"  # nodes: the ball, a line to where it should be
TURN = "shift"  # key that turns the frame instead of shifting it
MODIFIERS = None, TURN
RADIUS, AXIS, SWING = 0.045, 0.13, 0.2  # of the robot's size: ball, axes on it, way of the pointer that turns by 1 rad
USUAL, SINGULAR, MISSED = (0, 121, 140), (209, 73, 91), (232, 90, 40)  # colours
NEAR_SINGULAR = 0.03  # conditioning below which the ball changes its colour
FARTHEST = 1e6  # m: coordinate of the pointer
RANK = 1e-6  # singular values below this share of the largest count as zero
SAMPLES = 3  # states that show which motions are possible

# weights of errors, lengths relative to the robot's size and angles in rad: small ones decide what others leave open
HELD, WANTED, KEPT, TURNED = 100.0, 1.0, 0.1, 0.01
CLOSE = 1e-3  # error, relative to the size or in rad, that counts as reached
STEPS, ALL_STEPS = 40, 800  # between two frames of the page, and of a motion to its end
STRIDE = 0.1  # rad or m: longest step of a joint
DAMPING, GROWTH, DECAY, END = 1e-6, 8.0, 0.3, 1e-8
CORRECTIONS = 4  # of a step after which a joint in a loop is beyond its limit
RESTARTS = 30  # of a search for a pose that is typed


@dataclass(frozen=True, eq=False)
class Goal:
    """A pose that a frame should have, with the weights of its translation and rotation."""

    frame: str
    pose: np.ndarray
    weights: np.ndarray  # (6,)


class Tip:
    """The chosen frame: its pose, how the robot moves to put it elsewhere, and how near singular positions are.

    Feet on the ground stay where they are. A floating base stays as far as it can while another frame is moved. The
    steps are shorter than those of ``inverse_kinematics``, which may end on another branch: the user sees the way.
    """

    def __init__(self, state: State):
        self.state, self.robot = state, state.original
        self.frame = state.frame
        self._missed, self._left = None, state.q
        self._usual: dict[Any, list[np.ndarray]] = {}

    @property
    def pose(self) -> np.ndarray:
        """Pose of the frame in the world, (4, 4)."""
        return self.robot.pose(self.frame, self.state.q)

    @property
    def missed(self) -> np.ndarray | None:
        """Where the frame should be, as long as the robot stays at the nearest place."""
        return self._missed if np.array_equal(self.state.q, self._left) else None

    # -- moving --------------------------------------------------------------------------------------------------

    def goals(self, target: np.ndarray) -> list[Goal]:
        """Return the goal of the frame, then those of what stays where it is: feet on the ground, a floating base."""
        model, weights = self.robot.model, {}
        for contact, on in zip(model.switched, self.state.contacts, strict=True):
            if on and contact.second.name != self.frame:
                weights[contact.second.name] = np.repeat([HELD, HELD if any(contact.kind.turning) else 0.0], 3)
        if model.moving_base and model.frame(self.frame).body != model.frame(model.root).body:
            weights[model.root] = np.full(6, KEPT)
        others = [Goal(name, self.robot.pose(name, self.state.q), each) for name, each in weights.items()]
        return [Goal(self.frame, target, np.repeat([WANTED, TURNED], 3)), *others]

    def pull(self, goals: list[Goal], steps: int = ALL_STEPS) -> bool:
        """Move the robot towards goals on a way without jumps, and return whether it is at the nearest place.

        Levenberg-Marquardt method on the weighted errors, within the limits of the joints. A step that does not
        decrease them, or after which loops are open, is tried again with more damping.
        """
        state, damping = self.state, DAMPING
        lower, upper = position_limits(self.robot.model)
        limits = np.minimum(lower, state.q), np.maximum(upper, state.q)
        error, J = self._errors(goals)
        for _ in range(steps):
            x = self._step(error, J, damping, *limits)
            before, state.q = state.q, self._moved(x, *limits)
            less, slopes = self._errors(goals)
            if less @ less < error @ error:
                error, J, damping = less, slopes, damping * DECAY
            else:
                state.q, damping = before, max(damping, DAMPING) * GROWTH
            if np.abs(x).max(initial=0.0) < END:
                return True
        return False

    def search(self, goals: list[Goal]) -> None:
        """Move the robot to goals: as ``pull`` does, or if this does not reach them, to positions elsewhere that do."""
        self.pull(goals)
        rolls = self.robot.model.n_configuration > self.robot.nv
        if self.report(goals[0], turned=True) and self._stiff.all() and not rolls:
            required = [goal for goal in goals if goal.weights.max() > KEPT]
            tasks = [Pose(goal.frame, goal.pose, weight=goal.weights > 0) for goal in required]
            with suppress(UnsupportedError):  # a robot with too many loops
                result = self.robot.inverse_kinematics(tasks, guess=self.state.q, restarts=RESTARTS)
                if result.solved:
                    self.state.q = result.q
                    self.report(goals[0], turned=True)

    def report(self, goal: Goal, turned: bool) -> str:
        """Return what is wrong with the place that was reached; empty if it is the goal.

        Without ``turned``, the orientation does not matter.
        """
        error = pose_error(goal.pose, self.pose)
        distance, angle = (float(np.linalg.norm(part)) for part in (error[:3], error[3:]))
        out_of_reach = distance > CLOSE * self.state.size
        self._missed, self._left = (goal.pose[:3, 3] if out_of_reach else None), self.state.q
        if out_of_reach:
            far = html.quantity(distance, "m", distance)
            return f"Out of reach: {self.frame} is at the nearest place, {far} away."
        if turned and angle > CLOSE:
            return f"{self.frame} is in its place, but turns no further: {math.degrees(angle):.3g}° are missing."
        return ""

    def _errors(self, goals: list[Goal]) -> tuple[np.ndarray, np.ndarray]:
        """Return weighted errors, and their Jacobian by the independent velocities."""
        q, weights = self.state.q, np.concatenate([goal.weights * self._scale for goal in goals])
        error = np.concatenate([pose_error(goal.pose, self.robot.pose(goal.frame, q)) for goal in goals])
        J = np.concatenate([self._jacobian(goal.frame) for goal in goals])
        return weights * error, weights[:, None] * J

    @cached_property
    def _scale(self) -> np.ndarray:
        """Factors that make a pose error a pure number."""
        return np.repeat([1 / self.state.size, 1.0], 3)

    def _step(
        self, error: np.ndarray, J: np.ndarray, damping: float, lower: np.ndarray, upper: np.ndarray
    ) -> np.ndarray:
        """Return a damped least-squares step of the independent velocities that stops at joint limits."""
        n, (rows, at) = J.shape[1], self._limited
        q, lower, upper = self.state.q[at], lower[at], upper[at]
        A, b, x = J.T @ J + damping * np.eye(n), J.T @ error, np.zeros(n)
        stopped: dict[int, float] = {}
        for _ in range(len(at) + 1):
            R = rows[[*stopped]]
            K = np.block([[A, R.T], [R, np.zeros((len(R), len(R)))]])
            x = np.linalg.lstsq(K, np.array([*b, *stopped.values()]), rcond=None)[0][:n]
            x *= min(1.0, STRIDE / max(np.abs(x).max(initial=0.0), END))
            ahead = q + rows @ x
            stop = np.clip(ahead, lower, upper)
            beyond = {*np.flatnonzero(np.abs(ahead - stop) > END).tolist()} - stopped.keys()
            if not beyond:
                break
            stopped |= {k: float(stop[k] - q[k]) for k in beyond}
        return x

    def _jacobian(self, frame: str) -> np.ndarray:
        """Return the Jacobian of a frame by the independent velocities, zero for springs and flexible links."""
        return self.robot.jacobian(frame, self.state.q) * self._stiff

    @cached_property
    def _stiff(self) -> np.ndarray:
        """1 for each independent velocity of a joint that is not elastic."""
        joints = map(self.robot.coordinates.joint_of, self.robot.model.mobility.independent)
        return np.array([float(joint.role != "elastic" and not joint.kind.modes) for joint in joints])

    def _all_joints(self) -> np.ndarray:
        """Return the velocities of all joints per independent velocity."""
        return self.robot.velocity_map(self.state.q) if self.robot.model.constrained else np.eye(self.robot.nv)

    @property
    def _limited(self) -> tuple[np.ndarray, list[int]]:
        """Velocities per independent velocity of the joints that have one position each, and the indices of these."""
        coordinates = self.robot.coordinates
        joints = {k: at for k in range(coordinates.nv) if (at := coordinates.position_of(k)) is not None}
        return self._all_joints()[[*joints]], [*joints.values()]

    def _moved(self, x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the positions after a step; those of now if loops cannot be closed there within the limits."""
        if not self.robot.model.constrained:
            return np.clip(self.robot.coordinates.integrate(self.state.q, x), lower, upper)
        rows, at = self._limited
        for _ in range(CORRECTIONS):
            assembly = self.state.assembled_after(x)
            over = assembly.q[at] - np.clip(assembly.q, lower, upper)[at]
            if not assembly.solved:
                break
            if np.abs(over).max(initial=0.0) < END:
                return assembly.q
            x = x - np.linalg.pinv(rows[over != 0]) @ over[over != 0]
        return self.state.q

    # -- what is possible ----------------------------------------------------------------------------------------

    def conditioning(self) -> float:
        """Return the smallest over the largest singular value of the Jacobian: 0 at singular positions.

        Smaller of two: of the position alone, and of position and orientation. Lengths are relative to the size of
        the robot. Directions in which the frame never moves do not count.
        """
        J, usual = self._motions(0.0), self._usual_motions(0.0)
        if not np.isfinite(J).all():
            return 0.0
        ratios = [1.0]
        for part in (slice(3), slice(6)):
            rank = max(_rank(np.linalg.svd(each[part], compute_uv=False)) for each in usual)
            values = np.linalg.svd(J[part], compute_uv=False)
            ratios += [float(values[rank - 1] / max(values[0], RANK))] if rank else []
        return min(ratios)

    def directions(self) -> np.ndarray:
        """Return unit vectors, as columns, that span the directions in which the frame can be shifted at some place."""
        usual = self._usual_motions(KEPT)
        U, values, _ = np.linalg.svd(np.concatenate([J[:3] for J in usual], axis=1))
        return U[:, : _rank(values)]

    def _usual_motions(self, kept: float) -> list[np.ndarray]:
        """Return ``_motions`` at some ordinary positions."""
        key = self.frame, kept, *self.state.contacts.tolist()
        if key not in self._usual:
            rng, other = np.random.default_rng(1), Tip(State(self.robot))
            other.frame, other.state.contacts = self.frame, self.state.contacts
            self._usual[key] = []
            for _ in range(SAMPLES):
                x = rng.uniform(-STRIDE, STRIDE, self.robot.nv)
                other.state.q = other._moved(x, *position_limits(self.robot.model))
                self._usual[key].append(other._motions(kept))
        return self._usual[key]

    def _motions(self, kept: float) -> np.ndarray:
        """Return the Jacobian of the frame, lengths relative to the size, by velocities that keep what stays.

        That is, goals of weights above ``kept``. The velocities are those of motors where these determine the others.
        """
        J = self._scale[:, None] * self._jacobian(self.frame)
        if others := self.goals(self.pose)[1:]:
            rows = np.concatenate([self._jacobian(each.frame)[each.weights > kept] for each in others])
            _, values, V = np.linalg.svd(rows)
            return J @ V[_rank(values) :].T
        if MOTORS in self.state.ways_to_move:
            return J @ np.linalg.pinv(self._all_joints()[[*self.robot.model.mobility.motors]])
        return J


def _rank(values: np.ndarray) -> int:
    return int(np.sum(values > RANK * values.max(initial=0.0)))


def is_pull(message: Any) -> bool:
    """Return whether a message of a browser about a node of the scene is a pull of the ball, with usable numbers."""
    points = (message.start_position, message.end_position)
    return (
        message.name == BALL
        and message.owner == ""
        and message.phase in ("start", "update", "end")
        and message.button == "left"
        and message.modifier in MODIFIERS
        and all(isinstance(point, (list, tuple)) and len(point) == 3 for point in points)
        and all(type(x) in (int, float) and abs(x) <= FARTHEST for point in points for x in point)
    )


class Ball:
    """The ball that a user pulls: in the plane of the view, or around while the key TURN is held.

    Messages of a browser are noted when they arrive; the clock of the page calls ``follow``.
    """

    def __init__(self, scene: Any, world: Any, tip: Tip):
        self.scene, self.world, self.tip = scene, world, tip
        size, mesh = tip.state.size, sphere(RADIUS * tip.state.size)
        self.ball = scene.add_mesh_simple(BALL, mesh.vertices, mesh.faces, color=USUAL, opacity=0.75, cast_shadow=False)
        axes = scene.add_frame(f"{BALL}/axes", axes_length=AXIS * size, axes_radius=0.06 * AXIS * size)
        self.nodes = [self.ball, axes]
        self.first: Any = None  # first and last message of the drag of now, or of the last one
        self.last: Any = None
        self.begun: Any = None  # first message of the drag that the goals belong to
        self.ended: Any = None  # last message of a drag that has ended
        self.arrived: Any = None  # message that the robot has followed to the nearest place
        self.goals: list[Goal] = []
        for modifier in MODIFIERS:
            self.ball.on_drag("left", modifier=modifier)(self._note)

    async def _note(self, event: Any) -> None:
        """Note a message; while one browser pulls, those of others are ignored."""
        if self.pulled and event.client_id != self.last.client_id:
            return
        if event.phase == "start":
            self.first = self.last = event
        elif self.pulled:
            self.last = event

    @property
    def pulled(self) -> bool:
        """Whether a user pulls the ball."""
        return self.last is not self.ended

    @property
    def due(self) -> bool:
        """Whether the robot is to move."""
        return self.pulled and self.last is not self.arrived

    def follow(self) -> str:
        """Move the robot after the pointer; return what is wrong where it arrived."""
        tip, first, last = self.tip, self.first, self.last
        if self.begun is not first:
            self.begun, self.goals = first, tip.goals(tip.pose)
        begin, (goal, *others) = self.goals[0].pose, self.goals
        way = np.subtract(last.end_position, first.end_position)
        if last.modifier == TURN:  # about an axis across the arm to the point that is pulled, and across the way
            arm = np.subtract(first.start_position, self.world.position) - begin[:3, 3]
            turn = np.cross(arm / (np.linalg.norm(arm) or 1.0), way) / (SWING * tip.state.size)
            target = make_pose(exp(turn) @ begin[:3, :3], begin[:3, 3])
        else:
            U = tip.directions()
            target = make_pose(begin[:3, :3], begin[:3, 3] + U @ (U.T @ way))
        goal = replace(goal, pose=target)
        if last.phase == "end":
            self.ended = last
        if tip.pull([goal, *others], ALL_STEPS if last.phase == "end" else STEPS):
            self.arrived = last
        return tip.report(goal, turned=last.modifier == TURN)

    def update(self) -> None:
        """Place the ball at its frame; its colour shows singular positions, and a line what is out of reach."""
        tip, pose = self.tip, self.tip.pose
        x, y, z, w = quaternion_from_rotation(pose[:3, :3])
        self.ball.wxyz, self.ball.position = (w, x, y, z), tuple(pose[:3, 3])
        self.ball.color = SINGULAR if tip.conditioning() < NEAR_SINGULAR else USUAL
        if tip.missed is None:
            self.scene.remove_by_name(LINE)
        else:
            points = np.array([[pose[:3, 3], tip.missed]])
            self.scene.add_line_segments(LINE, points, MISSED, thickness=0.01 * tip.state.size)
