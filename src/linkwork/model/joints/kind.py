"""JointKind: what a kind of joint defines.

A joint places its body in the parent by constant screws (``Joint.placement``), then by its motion.
Positions ``q`` and velocities ``v`` are those of the joint alone. Motions are in the frame of its body.
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
    """The base of all kinds of joint. Its defaults fit kinds whose velocities are the rates of their positions.

    A subclass sets the class attributes that differ and defines ``transform`` and ``subspace``.

    Example:
        >>> kind = linkwork.model.JOINT_KINDS["spherical"]
        >>> kind.nq, kind.nv
        (4, 3)
    """

    name = ""
    position_parts: tuple[str, ...] = ("",)  # suffixes of the names of the entries of q; empty for one entry
    position_units: tuple[str, ...] = ()
    position_meaning = ""  # of several parts, in words
    velocity_meaning = ""
    velocity_parts: tuple[str, ...] = ("",)  # of v, a and tau
    turning: tuple[bool, ...] = ()  # for each velocity: is it a rotation, or a translation?
    directions = 0  # how many axes a description gives
    axial = False  # is the motion the same if the body's frame is rotated about its z axis and moved along it?
    pitched = False  # does it have a pitch?
    bounded = False  # may it have limits?
    unlimited = ""  # the kind for the same joint without limits, if it is another one
    has_spring = True  # may it have a spring?
    straight = True  # are the velocities the rates of the positions, one for one?
    free = False  # can the body move in all six ways, so that no motor can drive it?
    successive = False  # is each axis carried by those before it?
    modes: Any = None  # elastic modes, one for each velocity, of a kind that moves as its parent deforms
    material: Any = None  # from which the modes are computed
    deforms = ""  # what such a parent does, for messages, such as "bends"
    heading = ""  # of a table of all such parents
    leads_on = ""  # how it places its body, in words, if not by its placement and a screw
    tied = False  # does it follow its leader even with ``load(mimic=False)``?

    @property
    def nq(self) -> int:
        """Number of positions."""
        return len(self.position_parts)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.velocity_parts)

    @property
    def changes(self) -> bool:
        """Whether its unit motions, in the axes of the body, depend on the position."""
        return type(self).subspace_rates is not JointKind.subspace_rates

    @property
    def drivable(self) -> bool:
        """Whether a motor may drive it."""
        return not (self.free or self.modes)

    def __repr__(self) -> str:
        return f"<joint kind {self.name}>"

    def __reduce__(self) -> Any:
        from . import joint_kind  # the same object where it is unpickled

        return joint_kind, (self.name,)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a JointDescription that determine the kind."""
        return {"kind": self.name}

    # -- frames of a description: rotations in the axes of the child link at position zero ----------------------------

    def frames(self, axis: np.ndarray, second_axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the frame where the joint's motion begins and the body's frame where it ends.

        Args:
            axis: (3,), in the axes of the child link.
            second_axis: (3,), for kinds with two axes.

        Returns:
            Two rotations (3, 3), in the axes of the child link.
        """
        frame = frame_of_axis(axis) if self.directions else np.eye(3)
        return frame, frame

    def axes(self, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the axes for which the body's frame is a given one: the inverse of ``frames``.

        Args:
            frame: rotation of the body's frame (3, 3).

        Returns:
            Axis and second axis (3,).
        """
        return frame[:, 2].copy(), np.array([1.0, 0.0, 0.0])

    # -- kinematics, over any scalar -------------------------------------------------------------------------------

    def transform(self, joint: Joint, q: Scalars) -> tuple[Screw | Pose, ...]:
        """Return the joint's motion from the parent to the body, after the placement.

        Args:
            joint: with its placement, pitch and offsets.
            q: its positions (nq).

        Returns:
            Screws and poses, one after another.
        """
        raise NotImplementedError

    def subspace(self, joint: Joint, q: Scalars) -> list[Motion]:
        """Return the unit motions.

        Args:
            joint: with its placement, pitch and offsets.
            q: its positions (nq).

        Returns:
            One motion per velocity, in the frame of the body.
        """
        raise NotImplementedError

    def subspace_rates(self, joint: Joint, q: Scalars, v: Scalars) -> list[Motion]:
        """Return the rates of the unit motions, as the body sees them.

        Args:
            joint: with its placement, pitch and offsets.
            q: its positions (nq).
            v: its velocities (nv).

        Returns:
            One rate per velocity.
        """
        return [Motion()] * self.nv

    def drift(self, joint: Joint, q: Scalars, v: Scalars) -> Motion:
        """Return what the rates of the unit motions add to the acceleration.

        Args:
            joint: with its placement, pitch and offsets.
            q: its positions (nq).
            v: its velocities (nv).

        Returns:
            The acceleration Sdot v.
        """
        return sum((S * x for S, x in zip(self.subspace_rates(joint, q, v), v, strict=True)), Motion())

    def grouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """Split an inertia into a rest and a part that acts as if it were fixed to the parent.

        Joint forces are the same if the second part belongs to the parent.

        Args:
            inertia: of the body.

        Returns:
            The rest and the part to move; by default nothing is moved.
        """
        return inertia, Inertia()

    def stretch(self, q: Scalars, rest: Scalar) -> list[Scalar]:
        """Return how far a spring is from its rest along each velocity.

        The gradient of half its square is the force of the spring per stiffness.

        Args:
            q: its positions (nq).
            rest: position without force.

        Returns:
            One stretch per velocity.
        """
        return [x - rest for x in q]

    # -- for kinds with ``modes`` ------------------------------------------------------------------------------------

    def line(self, s: np.ndarray, q: Scalars) -> np.ndarray:
        """Return points of the parent's axis, to draw it.

        Args:
            s: places along the axis, from 0 to 1.
            q: its positions (nq).

        Returns:
            Points (n, 3) in the frame where the joint begins.
        """
        raise NotImplementedError

    def deflection(self, q: np.ndarray) -> np.ndarray:
        """Return the distance of the body from its place at rest.

        Args:
            q: positions (..., nq).

        Returns:
            Distances (...), relative to the parent's length.
        """
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """Return the properties of the modes as plain data.

        Returns:
            Lengths, frequencies, damping ratios and the given values.
        """
        raise NotImplementedError

    # -- forces of the material itself ---------------------------------------------------------------------------------

    def added_inertia(self, q: Scalars) -> Inertia:
        """Return what deformation adds to the inertia of the parent.

        Args:
            q: its positions (nq).

        Returns:
            Inertia in the frame where the joint begins.
        """
        return Inertia()

    def own_forces(self, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """Return the forces of the stiffness and of the damping of the material.

        Args:
            q: its positions (nq).
            v: its velocities (nv).

        Returns:
            Two lists with one force per velocity.
        """
        return [0] * self.nv, [0] * self.nv

    def own_stiffness(self) -> np.ndarray:
        """Return the stiffness matrix of the material.

        Returns:
            K (nv, nv).
        """
        return np.zeros((self.nv, self.nv))

    def own_energy(self, q: Scalars) -> Scalar:
        """Return the energy stored in the material.

        Args:
            q: its positions (nq).

        Returns:
            The energy, J.
        """
        return 0

    def undamped(self) -> JointKind:
        """Return the same kind without the damping of its material.

        Returns:
            The kind.
        """
        return self

    def limp(self) -> JointKind:
        """Return the same kind without the stiffness of its material.

        Returns:
            The kind.
        """
        return self

    # -- positions ---------------------------------------------------------------------------------------------------

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """Return the rates of the positions.

        Args:
            q: its positions (nq).
            v: its velocities (nv).

        Returns:
            dq/dt (nq).
        """
        return list(v)

    def velocities(self, q: Scalars, rates: Scalars) -> list[Scalar]:
        """Return the velocities at given rates of the positions.

        Args:
            q: its positions (nq).
            rates: dq/dt (nq).

        Returns:
            Velocities (nv).
        """
        return list(rates)

    def advanced(self, q: Scalars, v: Scalars, dt: Scalar) -> list[Scalar]:
        """Return the positions after a short time, exact to first order; quaternions keep their length.

        Args:
            q: its positions (nq).
            v: its velocities (nv).
            dt: time, s.

        Returns:
            Positions (nq).
        """
        return [x + dt * rate for x, rate in zip(q, self.rates(q, v), strict=True)]

    def step(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """Return the positions after unit time at constant velocity.

        Args:
            q: its positions (nq).
            v: its velocities (nv).

        Returns:
            Positions (nq).
        """
        return [x + y for x, y in zip(q, v, strict=True)]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        """Return the velocities with which ``step`` leads from one position to another, by the shortest rotation.

        Args:
            q0: first positions, numbers or arrays.
            q1: second positions.

        Returns:
            Velocities (nv).
        """
        return [y - x for x, y in zip(q0, q1, strict=True)]

    def normalised(self, q: Scalars) -> list[Scalar]:
        """Return positions with a quaternion of length one.

        Args:
            q: its positions (nq).

        Returns:
            Positions (nq).
        """
        return list(q)

    def neutral(self) -> list[float]:
        """Return the positions at which the body is where the joint's origin places it.

        Returns:
            Positions (nq).
        """
        return [0.0] * self.nq

    def random(self, rng: np.random.Generator, shape: tuple[int, ...], lower: float, upper: float) -> np.ndarray:
        """Return random positions, uniform within limits; without limits, all angles and up to a metre.

        Args:
            rng: the generator.
            shape: of the batch.
            lower: limit; -inf without one.
            upper: limit; inf without one.

        Returns:
            Positions (*shape, nq).
        """
        ends = [(-np.pi, np.pi) if unit == "rad" else (-WIDE, WIDE) for unit in self.position_units]
        if self.bounded and lower > -np.inf and upper < np.inf:
            ends = [(lower, upper)]
        elif self.bounded and (lower > -np.inf or upper < np.inf):
            ((least, most),) = ends
            ends = [(lower, lower + most - least) if lower > -np.inf else (upper - most + least, upper)]
        return np.stack([rng.uniform(least, most, shape) for least, most in ends], axis=-1)
