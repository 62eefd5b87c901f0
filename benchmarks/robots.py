"""The robots that are compared, as linkwork Robot and as Pinocchio model, with the same random states for both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import distribution

import numpy as np
import pinocchio as pin

import linkwork

STATES = 4096


@dataclass(frozen=True)
class Source:
    """Where a robot comes from: a file of the package example-robot-data, and how it is read."""

    name: str
    file: str
    floating: bool = False
    locked: tuple[str, ...] = ()  # the joints that Pinocchio fixes at 0
    lock: tuple[str, ...] = ()  # the same for linkwork, which locks a mimic joint with its leader

    @property
    def path(self) -> str:
        files = distribution("example-robot-data").files or []
        return str(next(file for file in files if file.as_posix().endswith(self.file)).locate())

    def load(self) -> linkwork.Robot:
        """Without friction and rotors, which Pinocchio's algorithms leave out."""
        base = "floating" if self.floating else "fixed"
        lock = dict.fromkeys(self.lock, 0.0)
        return linkwork.load(self.path, base=base, friction=False, rotors=False, lock=lock)

    def load_pinocchio(self) -> pin.Model:
        root = [pin.JointModelFreeFlyer()] if self.floating else []
        model = pin.buildModelFromUrdf(self.path, *root)
        numbers = [model.getJointId(name) for name in self.locked]
        model = pin.buildReducedModel(model, numbers, pin.neutral(model)) if numbers else model
        model.armature[:], model.damping[:] = 0, 0
        return model


FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
SOURCES = {
    source.name: source
    for source in (
        Source("panda", "panda_description/urdf/panda.urdf", locked=FINGERS, lock=FINGERS[:1]),
        Source("ur5", "ur_description/urdf/ur5_robot.urdf"),
        Source("anymal", "anymal_b_simple_description/robots/anymal.urdf", floating=True),
        Source("talos", "talos_data/robots/talos_reduced.urdf", floating=True),
    )
}


class Case:
    """A robot with random states: ``q, v, a, tau`` in linkwork's joint order, C-ordered ``(STATES, n)``."""

    def __init__(self, source: Source, seed: int = 1):
        self.source = source
        self.robot = source.load()
        random = np.random.default_rng(seed)
        nq, nv = self.robot.nq, self.robot.nv
        self.q = random.uniform(-np.pi, np.pi, (STATES, nq))
        if source.floating:
            self.q[:, 3:7] /= np.linalg.norm(self.q[:, 3:7], axis=1, keepdims=True)
        self.v, self.a, self.tau = (random.uniform(-2, 2, (STATES, nv)) for _ in range(3))

    def inputs(self, quantity: str) -> tuple[np.ndarray, ...]:
        last = {"inverse_dynamics": (self.v, self.a), "forward_dynamics": (self.v, self.tau), "inertia_matrix": ()}
        return (self.q, *last[quantity.removesuffix("_derivatives")])

    @cached_property
    def pinocchio(self) -> pin.Model:
        return self.source.load_pinocchio()

    @cached_property
    def order(self) -> np.ndarray:
        """For each of Pinocchio's velocities the index of the same one in linkwork, found by joint name."""
        model, names = self.pinocchio, self.robot.joint_names
        first = 6 if self.source.floating else 0
        order = np.full(model.nv, -1)
        order[:first] = range(first)
        for k, name in enumerate(names):
            order[model.joints[model.getJointId(name)].idx_v] = first + k
        if model.nv != self.robot.nv or sorted(order) != list(range(model.nv)):
            raise SystemExit(f"{self.source.name}: linkwork and Pinocchio do not have the same joints")
        return order

    @cached_property
    def order_q(self) -> np.ndarray:
        """The same for positions."""
        return np.concatenate([np.arange(7), self.order[6:] + 1]) if self.source.floating else self.order

    def for_pinocchio(self, array: np.ndarray) -> np.ndarray:
        """States in Pinocchio's joint order as it wants them: ``(n, STATES)``, column-major."""
        return np.asfortranarray(array[:, self.order_q if array is self.q else self.order].T)

    def rows(self, quantity: str, states: int) -> list[tuple[np.ndarray, ...]]:
        """The same, state by state."""
        return list(zip(*(np.ascontiguousarray(self.for_pinocchio(x).T)[:states] for x in self.inputs(quantity))))
