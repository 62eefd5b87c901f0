"""The sections of a report, each made from the robot and its sample motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..compose import TracedRobot
from ..control import ComputedTorque, Point, Sampled
from ..errors import LinkworkError
from ..formulations import VARIABLES, layouts
from ..html import Series, chart, heading, legend, paragraph, share_bar, table
from ..inspection import inspect
from ..inspection.comparison import BATCH, compare
from ..inspection.frames import mdh_tables
from ..inspection.measure import Progress
from ..inspection.states import entries, unit
from ..inspection.tables import comparison, element_tables, joint_tables
from ..model import Model
from ..parameters import base_parameters
from ..quoting import Safe, in_html
from ..robot import Robot
from ..table import Column, Table
from . import skeleton
from .motion import Motion
from .parts import torque_parts

STYLES = {"inertia": 1, "Coriolis and centrifugal": 2, "gravity": 3, "friction": 4, "springs": 5, "surroundings": 6}
AGREEMENT = 1e-9  # relative to the largest part
ROUNDING = 1e-14  # SI: smaller values are rounding errors of sums
KP, KD = 400, 40  # gains of computed torque: errors decay within a tenth of a second
RECORDED = 400  # approximate number of samples of the simulated motion


def picture(robot: Robot, motion: Motion) -> Safe:
    model = robot.model
    roles = dict.fromkeys(joint.role for joint in model.coordinates.joints if not joint.kind.free)
    colors = {"active": "motors blue", "passive": "passive joints grey", "elastic": "springs orange"}
    words = [
        "Drawn from the frames: links as tubes, joints along their axes and numbered as in the table below",
        ", ".join(text for role, text in colors.items() if role in roles),
        "rings where loops are cut" if any(loop.kind.mark.shape == "ring" for loop in model.permanent) else "",
        "dashed where the sample motion ends"
        + (" (floating bodies are kept in place)" if skeleton.unheld(model) else ""),
    ]
    caption = "; ".join(word for word in words if word) + ". The quartered circle is the centre of mass."
    image = skeleton.picture(model, motion.q[0], [motion.q[-1]])
    return Safe(f"<figure>{image}<figcaption>{in_html(caption)}</figcaption></figure>\n")


def frames(robot: Robot) -> Safe:
    model = robot.model
    mdh, seats = mdh_tables(model)
    return Safe(
        paragraph(
            "Modified Denavit-Hartenberg frames of Khalil and Kleinfinger, in which the dynamics is computed: each"
            " body's frame is reached from its parent's by Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r). Lengths in"
            " m, angles in rad; sigma is 0 for a revolute and 1 for a prismatic joint, otherwise the kind of joint;"
            " parent 0 is the ground."
        )
        + table(replace(mdh, title=""))
        + table(replace(seats, notes=()))
        + "".join(map(table, (*joint_tables(model, inspect(robot)["joints"]), *element_tables(model))))
    )


def parameters(robot: Robot) -> Safe:
    model, base = robot.model, base_parameters(robot.model)
    elements = list(dict.fromkeys(parameter.element for parameter in base.standard))
    classes = {"alone": "alone", "grouped": "", "no effect": "none"}
    cells: dict[tuple[int, str], Safe] = {}
    for parameter, (_, status, _), value in zip(base.standard, base.table, base.standard_values, strict=True):
        number = f"{value + 0.0:.5g}".replace("-", "−")
        cells[parameter.body, parameter.element] = Safe(f'<span class="{classes[status]}">{number}</span>')
    rows = [
        [str(i), body.name, *(cells.get((i, element)) for element in elements)]
        for i, body in enumerate(model.bodies, 1)
    ]
    every = base.as_table()
    combined = [
        [name, value if abs(value) > ROUNDING else 0.0, written]
        for name, value, written in every.rows
        if written != name
    ]
    alone = [name for name, _, written in every.rows if written == name]
    agrees = "the same" if base.rank == len(base) else f"NOT the same: {base.rank}"
    return Safe(
        paragraph(
            "Standard parameters in the frames above, in SI units: mass M, first moments MX, MY, MZ, inertias about the"
            " frame's origin, and for each joint rotor inertia IA, Coulomb friction FS and viscous friction FV. Bold:"
            " identifiable alone. Pale: no effect on joint forces. The others act in combinations."
        )
        + table(Table("Standard parameters", ["j", "body", *elements], rows), "numbers")
        + paragraph(
            f"{len(base)} base parameters determine the same joint forces as the {len(base.standard)} standard"
            f" parameters, by the rules of Gautier and Khalil. The rank of the regressor at random states is {agrees}."
        )
        + table(Table("Combinations", every.columns, combined), "formulas")
        + (paragraph("Alone: " + ", ".join(alone) + ".") if alone else "")
    )


def methods(robot: Robot, progress: Progress) -> Safe:
    text = paragraph(
        f"Every published method that works for this robot, on the same {BATCH} random states. Printed: operations in"
        " the paper's table for as many revolute joints. Written: operations that the published algorithm executes,"
        " with constants computed beforehand. Compiled: operations of the final program, with their sum as a bar."
        " State: time per state in a batch on one core. Apart: the largest relative deviation from any other method."
    )
    for quantity, every in compare(robot, progress=progress)["quantities"].items():
        compared = comparison("", every)
        if not compared.rows:
            continue
        total = [row["operations"]["mul"] + row["operations"]["add"] for row in every if not row["refusal"]]
        bars = [[*row, share_bar(count / max(*total, 1))] for row, count in zip(compared.rows, total, strict=True)]
        text += heading(quantity.replace("_", " ")) + table(Table("", [*compared.columns, ""], bars))
    return Safe(text)


def torques(robot: Robot, motion: Motion) -> Safe:
    model = robot.model
    if not model.mobility.motors:
        return paragraph("This robot has no motors.")
    total, parts = torque_parts(robot, motion)
    largest_part = max(np.abs(each).max() for each in parts.values()) or 1.0
    difference = float(np.abs(sum(parts.values()) - total).max() / largest_part)
    names = entries(model, "tau")
    indices = [names.index(name) for name in model.names_of(model.mobility.motors)]
    series = [Series("total", total, 0), *(Series(name, part, STYLES[name]) for name, part in parts.items())]
    least = 1e-9 * np.abs(total).max()
    largest = {s.label: np.abs(s.values).max(axis=0) for s in series}
    peaks = [[names[k], *(float(x[k]) if x[k] > least else 0.0 for x in largest.values())] for k in indices]
    columns = ["joint", *(Column(s.label, digits=3) for s in series)]
    free = "; a floating base, elastic and passive joints move by the dynamics" if model.mobility.free else ""
    effort = unit(model, VARIABLES["tau"].unit, base=False)
    verdict = "agree" if difference <= AGREEMENT else "DO NOT AGREE"
    return Safe(
        paragraph(
            f"In {motion.t[-1]:g} s the motors follow polynomials of degree five from rest to rest, within the limits"
            f" of the joints{free}. The joint forces from inverse dynamics, and their parts:"
        )
        + _charts(model, "tau", motion.t, series, indices)
        + table(Table(f"Largest values ({effort})", columns, peaks))
        + paragraph(
            f"The sum of the parts and the inverse dynamics {verdict}: relative deviation {difference:.0e}.", "note"
        )
    )


def _charts(model: Model, vector: str, t: np.ndarray, series: list[Series], indices: list[int]) -> Safe:
    """Return a chart for each of these entries of a vector."""
    layout = layouts(model)[vector]
    charts = ""
    for k in indices:
        curves = [Series(each.label, each.values[:, k], each.style) for each in series]
        charts += chart(layout.names[k], t, curves, layout.units[k])
    return Safe(f'{legend(series)}<div class="charts">{charts}</div>\n' if indices else "")


def simulation(robot: Robot, motion: Motion) -> Safe:
    """Return the same motion under control, or the reason why it cannot be simulated."""
    try:
        return _simulated(robot, motion)
    except LinkworkError as error:
        return paragraph(f"This robot could not be simulated. {error}")


def _simulated(robot: Robot, motion: Motion) -> Safe:
    model = robot.model
    control, options = _controlled(robot, motion) if robot.motor_names else ("moves without control", {})
    every = max(1, (len(motion.t) - 1) // RECORDED)
    trajectory = robot.simulate(motion.q[0], motion.v[0], float(motion.t[-1]), motion.dt, every=every, **options)
    arrays = trajectory.arrays
    t, kinetic, work = arrays["t"], arrays["kinetic_energy"], arrays["work"]
    potential = arrays["potential_energy"] - arrays["potential_energy"][0]
    balance = kinetic + potential - kinetic[0] - work
    planned = np.stack([np.interp(t, motion.t, x) for x in motion.q.T], axis=-1)
    exchanged = max(np.ptp(kinetic), np.ptp(potential), np.ptp(work)) or 1.0
    energies = [
        Series("total", kinetic + potential, 0), Series("kinetic", kinetic, 1), Series("potential", potential, 3),
        Series("work done on it", work, 2),
    ]  # fmt: skip
    charts = chart("Energies", t, energies, "J")
    charts += chart("Total less work: the error", t, [Series("", balance, 0)], "J")
    ways = [Series("planned", planned, 7), Series("simulated", arrays["q"], 1)]
    coordinates = robot.coordinates
    joints = coordinates.places(model.joint_names or coordinates.of_freedoms(model.mobility.motors).joints)
    notes = "".join(paragraph(note if note.endswith(".") else note + ".", "note") for note in trajectory.notes)
    residual = arrays.get("loop_residual")
    closed = "" if residual is None else f" The loops stay closed to {np.abs(residual).max():.0e}."
    return Safe(
        paragraph(
            f"The robot {control}, simulated by {trajectory.method} with steps of {1e3 * motion.dt:.3g} ms. It stays"
            f" within {np.abs(arrays['q'] - planned).max():.1e} rad or m of the planned motion.{closed}"
        )
        + paragraph(
            f"Kinetic and potential energy change by the work of motors, friction and surroundings. The error of the"
            f" integrator is {np.abs(balance).max():.1e} J; {exchanged:.3g} J are exchanged."
        )
        + legend(energies)
        + f'<div class="charts">{charts}</div>\n'
        + _charts(model, "q", t, ways, joints)
        + notes
    )


def _controlled(robot: Robot, motion: Motion) -> tuple[str, dict[str, Any]]:
    """Return the control along the motion, in words and as options of ``simulate``: computed torque, with velocities
    alone if the position of a motor is not one number."""
    mobility, coordinates = robot.model.mobility, robot.coordinates
    motors = list(mobility.motors)
    v, a = robot.joint_velocities(motion.q, motion.v), robot.joint_accelerations(motion.q, motion.v, motion.a)
    if mobility.motors != mobility.driven or all(coordinates.position_of(k) is not None for k in motors):
        reference = Sampled(motion.t, motion.q[:, robot.model.motor_places()], v[:, motors], a[:, motors])
        text = f"follows the same motion by computed torque (kp {KP}, kd {KD})"
        return text, {"torque": ComputedTorque(KP, KD), "reference": reference}
    equations = TracedRobot(robot.model)

    def by_velocities(t: Any, q: Any, v: Any, reference: Point) -> Any:
        a = reference.a + KD * (reference.v - equations.motor_velocities(q, v))
        return equations.hybrid_dynamics(q, v, a)[0]

    reference = Sampled(motion.t, np.zeros_like(v[:, motors]), v[:, motors], a[:, motors])
    text = f"follows the velocities of the same motion by computed torque (kd {KD})"
    return text, {"torque": by_velocities, "reference": reference}
