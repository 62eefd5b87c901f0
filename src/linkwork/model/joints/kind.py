"""What a kind of joint answers for itself.

A joint places its body in the parent: constant screws (``Joint.placement``), then its own motion, which is told here.
Positions ``q`` and velocities ``v`` are the joint's own numbers. Motions are in the frame of the body that it carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...scalar import Scalar
from ...spatial import Inertia, Motion, Pose, Screw
from ..rotations import frame_of_axis

if TYPE_CHECKING:
    from ..model import Joint

Scalars = Sequence[Scalar]
WIDE = 1.0  # metres: random positions without limits are within this distance of zero


class JointKind:
    """The base of all kinds. Here stands what is true of those whose velocities are the rates of their positions."""

    name = ""
    position_parts: tuple[str, ...] = ("",)  # names of the entries of q beside the joint's; one alone needs none
    position_units: tuple[str, ...] = ()
    position_meaning = ""  # of several parts, in words
    velocity_meaning = ""
    velocity_parts: tuple[str, ...] = ("",)  # of v, a and tau
    turning: tuple[bool, ...] = ()  # is the freedom a turn, or a shift?
    directions = 0  # how many axes a description gives
    axial = False  # may the body's frame be turned about and shifted along its z axis, and all stays the same?
    pitched = False  # does its pitch act?
    bounded = False  # may it have limits?
    unlimited = ""  # the kind that it is without limits, if not itself
    has_spring = True  # may it have one?
    straight = True  # are the velocities the rates of the positions, one for one?
    free = False  # does nothing hold the body, so that no motor can drive it?
    successive = False  # do its freedoms turn one after another, each carried by those before it?
    modes: Any = None  # ElasticModes, one for each freedom, of a kind that moves as its parent deforms
    material: Any = None  # from which the modes come
    deforms = ""  # what such a parent does, in a word
    heading = ""  # of all such parents together
    leads_on = ""  # by what, in words, if not by its placement and a screw
    tied = False  # is it a part of the joint that it follows, whatever the user says of mimic joints?

    @property
    def nq(self) -> int:
        return len(self.position_parts)

    @property
    def nv(self) -> int:
        return len(self.velocity_parts)

    @property
    def changes(self) -> bool:
        """Do its unit motions, as the body sees them, depend on the position?"""
        return type(self).subspace_rates is not JointKind.subspace_rates

    @property
    def drivable(self) -> bool:
        """May a motor drive it?"""
        return not (self.free or self.modes)

    def __repr__(self) -> str:
        return f"<joint kind {self.name}>"

    def __reduce__(self) -> Any:
        from . import joint_kind  # the same object where it is unpickled

        return joint_kind, (self.name,)

    @property
    def fields(self) -> dict[str, Any]:
        """Those of a JointDescription that tell the kind."""
        return {"kind": self.name}

    # -- frames of a description: rotations in the axes of the child link at position zero ----------------------------

    def frames(self, axis: np.ndarray, second_axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the joint's own motion begins, and the body's frame where it ends."""
        frame = frame_of_axis(axis) if self.directions else np.eye(3)
        return frame, frame

    def axes(self, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The axes for which the body's frame is this."""
        return frame[:, 2].copy(), np.array([1.0, 0.0, 0.0])

    # -- kinematics, over any scalar -------------------------------------------------------------------------------

    def transform(self, joint: Joint, q: Scalars) -> tuple[Screw | Pose, ...]:
        """The joint's own part of the way from the parent to the body, after the placement."""
        raise NotImplementedError

    def subspace(self, joint: Joint, q: Scalars) -> list[Motion]:
        """Unit motions, one per freedom."""
        raise NotImplementedError

    def subspace_rates(self, joint: Joint, q: Scalars, v: Scalars) -> list[Motion]:
        """Sdot: how the unit motions change, as the body sees them."""
        return [Motion()] * self.nv

    def drift(self, joint: Joint, q: Scalars, v: Scalars) -> Motion:
        """Sdot v: what the subspace's own change adds to the acceleration."""
        return sum((S * x for S, x in zip(self.subspace_rates(joint, q, v), v, strict=True)), Motion())

    def grouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """An inertia in two parts: the rest, and what moves as if it were fixed to the parent. The joint forces do not
        tell the second from a part of the parent."""
        return inertia, Inertia()

    def stretch(self, q: Scalars, rest: Scalar) -> list[Scalar]:
        """How far from its rest a spring is turned or shifted, along each freedom: the slope of half its square is the
        spring's force per stiffness."""
        return [x - rest for x in q]

    # -- of a kind with ``modes`` ------------------------------------------------------------------------------------

    def line(self, s: np.ndarray, q: Scalars) -> np.ndarray:
        """Where the points s = 0 to 1 of the parent's axis are in the frame where the joint begins."""
        raise NotImplementedError

    def deflection(self, q: np.ndarray) -> np.ndarray:
        """How far the body is from where it stands at rest, at positions (..., nq): a share of the parent's length."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """What is to be known of the modes, as plain data."""
        raise NotImplementedError

    # -- what its own material does ----------------------------------------------------------------------------------

    def added_inertia(self, q: Scalars) -> Inertia:
        """What the positions add to the inertia of the parent, in the frame where the joint begins."""
        return Inertia()

    def own_forces(self, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """What its own material takes by its stiffness and by its damping."""
        return [0] * self.nv, [0] * self.nv

    def own_stiffness(self) -> np.ndarray:
        """K of its own material."""
        return np.zeros((self.nv, self.nv))

    def own_energy(self, q: Scalars) -> Scalar:
        """Stored in its own material."""
        return 0

    def undamped(self) -> JointKind:
        """The same without the damping of its own material."""
        return self

    def limp(self) -> JointKind:
        """The same without the stiffness of its own material."""
        return self

    # -- positions ---------------------------------------------------------------------------------------------------

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """dq/dt."""
        return list(v)

    def velocities(self, q: Scalars, rates: Scalars) -> list[Scalar]:
        """v at which the positions change so."""
        return list(rates)

    def advanced(self, q: Scalars, v: Scalars, dt: Scalar) -> list[Scalar]:
        """q after a short time, exact to first order; a turn stays a turn."""
        return [x + dt * rate for x, rate in zip(q, self.rates(q, v), strict=True)]

    def step(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """q after unit time at constant velocity."""
        return [x + y for x, y in zip(q, v, strict=True)]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        """v with which ``step`` leads from q0 to q1, the shortest way; of numbers and arrays only."""
        return [y - x for x, y in zip(q0, q1, strict=True)]

    def normalised(self, q: Scalars) -> list[Scalar]:
        """q with a quaternion of length one."""
        return list(q)

    def neutral(self) -> list[float]:
        """Where the body stands as the joint's origin says."""
        return [0.0] * self.nq

    def random(self, rng: np.random.Generator, shape: tuple[int, ...], lower: float, upper: float) -> np.ndarray:
        """Positions (..., nq), evenly within limits; without them, turns all around and shifts of up to a metre."""
        ends = [(-np.pi, np.pi) if unit == "rad" else (-WIDE, WIDE) for unit in self.position_units]
        if self.bounded and lower > -np.inf and upper < np.inf:
            ends = [(lower, upper)]
        elif self.bounded and (lower > -np.inf or upper < np.inf):
            ((least, most),) = ends
            ends = [(lower, lower + most - least) if lower > -np.inf else (upper - most + least, upper)]
        return np.stack([rng.uniform(least, most, shape) for least, most in ends], axis=-1)
