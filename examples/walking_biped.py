"""A biped takes two steps and is pushed: feet make and break contact automatically.

python examples/walking_biped.py [PICTURE.png] [FILM.gif]
"""

import sys
import warnings

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import linkwork
from linkwork.control import PD, Point, Sampled
from linkwork.drawing import STYLE

robot = linkwork.load("biped")
feet = ("left_sole", "right_sole")
dt, every = 0.002, 0.02  # of the simulation, and of the plan

# -- the plan: where the soles and the centre of mass are

STEP, LIFT = 0.2, 0.04
PHASES = [  # seconds, feet on the ground, over which one the mass goes (0.5: between them), how far each foot goes
    (1.4, (1, 1), 0.0, (0, 0)),
    (0.8, (1, 0), 0.0, (0, STEP)),
    (1.8, (1, 1), 1.0, (0, 0)),
    (0.8, (0, 1), 1.0, (STEP, 0)),
    (1.2, (1, 1), 0.5, (0, 0)),
    (0.4, (1, 1), 0.5, (0, 0)),
]


def smooth(s):
    """From 0 to 1, at rest at both ends."""
    return s**3 * (10 - 15 * s + 6 * s**2)


def plan():
    """Times, soles (2, 3) and the point on the ground that the centre of mass is above, and the feet on the ground."""
    soles = np.array([robot.pose(foot, start)[:3, 3] for foot in feet])
    share, t = 0.5, 0.0
    for seconds, on, towards, ahead in PHASES:
        for s in np.arange(0, 1, every / seconds):
            u, here = smooth(min(s, 1)), soles.copy()
            here[:, 0] += u * np.array(ahead)
            here[:, 2] += LIFT * np.array(on == np.zeros(2)) * 64 * (s * (1 - s)) ** 3
            mass = share + u * (towards - share)
            yield t + s * seconds, here, here[0, :2] + mass * (here[1, :2] - here[0, :2]), on
        share, t = towards, t + seconds
        soles[:, 0] += ahead


def stand(robot, soles, above):
    """Positions with flat soles and the centre of mass where they should be, the torso upright."""

    def whole(x):
        return np.concatenate([x[:2], start[2:7], x[2:]])

    def error(x):
        away = [robot.center_of_mass(whole(x))[:2] - above]
        for foot, place in zip(feet, soles, strict=True):
            T = robot.pose(foot, whole(x))
            away += [T[:3, 3] - place, T[[2, 0, 1], [1, 2, 0]]]
        return np.concatenate(away)

    root = linkwork.find_root(error, np.concatenate([start[:2], start[7:]]))
    return {"q": whole(root.x), "solved": root.solved}


crouch = {"hip_pitch": -0.45, "knee": 0.9, "ankle_pitch": -0.45}
low = robot.coordinates.positions.to_dict(np.array(robot.home))
start = robot.standing_position(low | {f"{side}_{name}": x for side in ("left", "right") for name, x in crouch.items()})
times, soles, above, support = (np.array(part) for part in zip(*plan(), strict=True))
planned, solved = robot.function(stand, soles=(2, 3), above=2)(soles, above)
still = np.zeros(robot.nv)
tau, forces = robot.contact_inverse_dynamics(planned, still, still, support)
print(robot.contact_forces(planned[0], forces=forces[0]))

# -- the walk: springs and dampers at the joints pull towards the plan, and beyond it by what bears the weight

kp, kd = np.tile([1500.0, 4000, 4000, 4000, 2500, 2500], 2), np.tile([20.0, 80, 80, 80, 16, 12], 2)
towards, steps = Sampled(times, planned[:, 7:] + tau[:, 6:] / kp), round(times[-1] / dt)
warnings.simplefilter("ignore", linkwork.SimulationWarning)  # of friction: they are in the notes, too
walk = robot.simulate(planned[0], None, dt * steps, dt, torque=PD(kp, kd), reference=towards, contacts="events")
loads = robot.contact_forces(walk.q, forces=walk.contact_forces)
walked = walk.q[-1, 0] - walk.q[0, 0]
print(*walk.notes, sep="\n")
print(f"the torso went {walked:.2f} m, the energy balance is off by {walk.drift['energy']:.2f} J")
assert solved.all() and walked > 0.7 * STEP and walk.q[-1, 2] > 0.85  # it stands

# -- the push, on the torso

end = planned[-1]
bent, rest = Point(towards.q[-1], np.zeros(12), np.zeros(12)), {}
for force in (60, 300):
    push = np.zeros((400, 6))
    push[50:100, 0] = force
    rest[force] = robot.simulate(
        end, None, 0.8, dt, torque=PD(kp, kd), reference=bent, contacts="events", wrenches={"torso": push}
    )
    print(f"{force} N for 0.1 s: {rest[force].notes[-1]}")
assert not rest[60].events and rest[300].events  # it stays, and tips over its toes


def lines(q):
    """The torso and a leg, and the ankle with its sole, from the side."""
    for side in ("left", "right"):
        names = ("torso", f"{side}_hip_yaw_link", f"{side}_shank", f"{side}_ankle_link")
        joints = [robot.pose(name, q)[:3, 3] for name in names]
        T = robot.pose(f"{side}_sole", q)
        heel, toe = (T[:3, 3] + T[:3, 0] * x for x in (-0.11, 0.11))
        yield side, np.array([joints[0] + [0, 0, 0.45], *joints]), np.array([joints[-1], heel, toe, joints[-1]])


def draw(axes, q, alpha=1.0, along=0.0):
    for side, leg, sole in lines(q):
        leg, sole = leg + np.array([along, 0, 0]), sole + np.array([along, 0, 0])
        colour, width = {"left": ("C0", 4), "right": ("C1", 2)}[side]  # of legs one behind the other both are seen
        axes.plot(leg[:, 0], leg[:, 2], color=colour, alpha=alpha, linewidth=width)
        axes.plot(sole[:, 0], sole[:, 2], color=colour, alpha=alpha, linewidth=width / 2)


if len(sys.argv) > 1:
    with matplotlib.style.context(STYLE):
        figure = Figure(figsize=(8, 6), layout="constrained")
        side, below = figure.subplots(2, 1, height_ratios=(3, 2))
        for k in np.linspace(0, steps, 9).astype(int):
            draw(side, walk.q[k], along=0.5 * walk.t[k])
        side.set(aspect="equal", xlabel="x (m), and 0.5 m for each second", ylabel="z (m)", title="two steps")
        side.margins(x=0.03)
        for k, foot in enumerate(robot.model.switched):
            below.plot(walk.t, loads.normal[:, k], label=foot.name, color=f"C{k}")
        below.set(xlabel="t (s)", ylabel="normal force (N)")
        below.legend()
        figure.savefig(sys.argv[1])
if len(sys.argv) > 2:
    from matplotlib.animation import FuncAnimation, PillowWriter

    film = [(f"steps, t = {walk.t[k]:.1f} s", walk.q[k]) for k in range(0, steps, 50)]
    for force, motion in rest.items():
        film += [(f"{force} N for 0.1 s, t = {motion.t[k]:.2f} s", motion.q[k]) for k in range(0, 401, 20)]
    with matplotlib.style.context(STYLE):
        figure = Figure(figsize=(4.8, 4), layout="constrained")
        axes = figure.subplots()

        def frame(k):
            axes.clear()
            axes.axhline(0, color="0.5", linewidth=1)
            draw(axes, film[k][1])
            axes.set(xlim=(-0.5, 1.0), ylim=(-0.05, 1.5), aspect="equal", title=film[k][0])
            axes.set(xlabel="x (m)", ylabel="z (m)")

        FuncAnimation(figure, frame, frames=len(film)).save(sys.argv[2], PillowWriter(fps=12), dpi=80)
