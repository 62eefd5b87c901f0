# Written by tests/robot_stub.py from linkwork/options.py; do not edit.
from collections.abc import Mapping, Sequence
from typing import Any

from ...robot import Robot
from .excitation import Excitation

def excite(
    robot: Robot,
    *,
    objective: str = 'condition',
    period: float = 10.0,
    periods: int = 1,
    harmonics: int = 5,
    ramp: float | None = None,
    rate: float = 100.0,
    position: Any = None,
    velocity: Any = None,
    acceleration: Any = None,
    torque: Any = None,
    share: float = 0.9,
    still: Sequence[str] | Mapping[str, float] = (),
    frames: str | Sequence[str] = (),
    height: float | None = None,
    box: Any = None,
    drives: bool | Sequence[str] | None = ('IA', 'FS', 'FV', 'F0'),
    friction_width: float = 0.05,
    starts: int = 5,
    seed: int = 0,
    progress: Any = None,
) -> Excitation:
    """Search for a motion within limits that excites the base parameters of a robot.

    Each joint follows a finite Fourier series (Swevers), which begins and ends at rest by polynomials of degree five.
    Columns of the regressor are those of ``regressor(..., "minimal", drives)``, each scaled by its root mean square
    over random motions within the same limits. Robots with loops move by their motors, if these determine all joints,
    else by their independent joints, and stay away from singular positions. Collisions of links are not checked.

    Args:
        robot: The robot, with approximate parameters.
        objective: "condition": minimise the condition number of the regressor over a period. "logdet": maximise the
            determinant of the information matrix. Default: 'condition'.
        period: Period of the lowest harmonic, in s. Default: 10.0.
        periods: Number of periods. Default: 1.
        harmonics: Number of harmonics in the series of each joint. Default: 5.
        ramp: Time of the transitions from rest and back, in s. Default: a fifth of the period.
        rate: Sampling rate of the result, in Hz. Default: 100.0.
        position: Position limits, rad (m), to each side of home or zero, where tighter than those of the file.
            Default: those of the file, or pi (0.5 m). A number for all joints, or a dict by joint, which may have
            (lower, upper).
        velocity: Velocity limits, rad/s (m/s), where tighter than those of the file. Default: those of the file, or
            3 rad/s (1 m/s). A number for all joints, or a dict by joint.
        acceleration: Acceleration limits, rad/s^2 (m/s^2). Default: the velocity limit in 0.25 s. A number for all
            joints, or a dict by joint.
        torque: Limits of joint forces, N m (N), where tighter than those of the file. Default: those of the file,
            or none. A number for all joints, or a dict by joint.
        share: Fraction of each limit that the motion may use. Default: 0.9.
        still: Joints that do not move. Names, or a dict of positions. Default: ().
        frames: Frames whose origins must stay above the height and outside the box. Default: ().
        height: Smallest height of the frames in m, along z of the world. Default: none.
        box: Lower and upper corner, in m, of a box that the frames stay out of. Default: none.
        drives: Parameters of drives that the motion is to excite, as ``regressor`` takes them. Default: ('IA',
            'FS', 'FV', 'F0').
        friction_width: Velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero, so that
            slopes exist. Default: 0.05.
        starts: Number of optimisations from random initial motions; the best is taken. Default: 5.
        seed: Seed of the random initial motions. Default: 0.
        progress: True, False, or a function of (done, total). Default: shown in a terminal.

    Returns:
        The motion with its figures of merit and margins.

    Raises:
        LinkworkError: If no motion stays within the limits.
        UnsupportedError: If the base floats, joints have no motors, or the robot rolls on wheels.

    Example:
        >>> motion = linkwork.identify.excite(linkwork.load("planar2r"), starts=1, harmonics=2, period=2)
        >>> motion.q.shape
        (281, 2)
    """
