"""Contact with compliant ground: a point with friction, and a tyre with slip."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.element import Mark, number, positive
from ..scalar import atan2, positive_part, sign, sin, sqrt
from ..spatial import Force, Motion, Pose, Vector
from .law import TINY, ForceLaw, direction, length_of, nonnegative


@dataclass(frozen=True)
class Contact(ForceLaw, name="contact"):
    """Contact of the frame's origin with compliant ground, the half-space n . p < ``height`` below a plane.

    At depth d > 0 the ground pushes along n with N = max(0, k d - c n . v), and friction is -mu N v_t / sqrt(v_t^2 +
    s^2), where v_t is the velocity along the plane. The ground never pulls, and at d <= 0 there is no force.

    Args:
        stiffness: k, N/m.
        damping: c, N s/m. It acts at full strength from the first touch on.
        friction: coefficient mu.
        slip: s, m/s. Friction grows from zero to 0.7 mu N at this speed, so on a slope the point creeps.
        height: of the plane above the world's origin, measured along n, m.
        normal: n, out of the ground, in the world; of any length except zero.

    Example:
        >>> linkwork.forces.Contact(stiffness=1e4, damping=100, friction=0.8).ground
        (0.0, (0.0, 0.0, 1.0))
    """

    stiffness: float = positive(unit="N/m")
    damping: float = nonnegative(0.0, "N s/m")
    friction: float = nonnegative(0.0)
    slip: float = positive(1e-3, unit="m/s")
    height: float = number(0.0, unit="m")
    normal: tuple[float, float, float] = direction()

    @property
    def ground(self) -> tuple[float, tuple[float, ...]]:
        """The height and the normal of the plane."""
        return self.height, self.normal

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        normal = Vector(*self.normal) * (1 / length_of(self.normal))
        depth = self.height - normal.dot(pose.origin)
        n, v = pose.inward(normal), velocity.linear
        rising = n.dot(v)
        sliding = v - n * rising
        touching = positive_part(sign(depth))
        push = touching * positive_part(self.stiffness * depth - self.damping * rising)
        rubbing = self.friction * push / sqrt(sliding.dot(sliding) + self.slip**2)
        return Force(n * push - sliding * rubbing)


@dataclass(frozen=True)
class Tyre(ForceLaw, name="tyre"):
    """A tyre with slip, of a wheel that turns about z of its frame and whose centre is the frame's origin.

    It rolls on the plane n . p = ``height``. The contact is at r = -radius m from the centre, where m is the part of n
    across the axle a, of length one. At depth d > 0 below the plane its normal force is N = max(0, k d - c n . v).
    Along the plane the wheel travels at v_x forward, along x = a x n, and v_y sideways, along y = n x x. Its slip
    velocity is that of its lowest point, s = v + w x r:

      (1)  sigma = s / sqrt(v_x^2 + least^2)             (s_x and s_y; of a free wheel s_y / v_x is the slip angle)
      (2)  F = -friction N sin(C atan(B |sigma|)) sigma / |sigma|

    (2) is the magic formula without its curvature, the same along and across, so braking reduces the lateral force. Its
    slope at zero slip, B C friction N, is the slip stiffness. The force acts at r, so it also turns the wheel.

    Args:
        radius: of the tyre without load, m.
        stiffness: k, N/m.
        damping: c, N s/m.
        friction: largest force per load.
        slope: B, per unit of slip.
        shape: C. At 1 the force rises towards the friction limit; above 1 it falls again beyond a certain slip.
        least: speed below which slip is measured as a velocity and not as a ratio, m/s.
        height: of the plane above the world's origin, measured along n, m.
        normal: n, out of the ground, in the world; of any length except zero.

    Example:
        >>> linkwork.forces.Tyre(radius=0.3, stiffness=2e5).mark.shape
        'rim'
    """

    radius: float = positive(unit="m")
    stiffness: float = positive(unit="N/m")
    damping: float = nonnegative(0.0, "N s/m")
    friction: float = nonnegative(1.0)
    slope: float = positive(10.0)
    shape: float = positive(1.4)
    least: float = positive(0.1, unit="m/s")
    height: float = number(0.0, unit="m")
    normal: tuple[float, float, float] = direction()

    ground = Contact.ground

    @property
    def mark(self) -> Mark:
        """A rim of its radius."""
        return Mark("rim", (self.radius,))

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        normal = Vector(*self.normal) * (1 / length_of(self.normal))
        n, v = pose.inward(normal), velocity.linear
        level = 1 / sqrt(n.x * n.x + n.y * n.y + TINY)  # normalises x and m; a wheel that lies flat has neither
        x, r = Vector(-n.y, n.x) * level, Vector(n.x, n.y) * (-self.radius * level)
        y = n.cross(x)
        depth = self.height - normal.dot(pose.origin) - n.dot(r)
        touching = positive_part(sign(depth))
        N = touching * positive_part(self.stiffness * depth - self.damping * n.dot(v))
        s = v + velocity.angular.cross(r)
        forward = x.dot(v)
        per = 1 / sqrt(forward * forward + self.least**2)
        ahead, aside = x.dot(s) * per, y.dot(s) * per  # (1)
        slip = sqrt(ahead * ahead + aside * aside + TINY)
        grip = -self.friction * N * sin(self.shape * atan2(self.slope * slip, 1)) / slip  # (2)
        push = n * N + (x * ahead + y * aside) * grip
        return Force(push, r.cross(push))
