"""``linkwork simulate``: one motion, its energy balance, its picture and its file."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..control import PD, PID, ComputedTorque, PDGravity, Quintic
from ..errors import LinkworkError, SimulationWarning, UnknownNameError
from ..model import Model, SoftLimits
from ..options import one_of_names
from ..robot import Robot
from ..sim import INTEGRATORS, STEP, STOPPED, ContactForces, Options, Trajectory, rest
from ..sim import simulate as simulated
from ..sim.contact.events import KINDS
from ..sim.simulate import all_outputs
from ..sim.trajectory.outputs import CONTACT_OUTPUTS, OUTPUTS
from ..table import Column, Table
from .common import PICTURES, Json, Plot, Source, option, quantity_option, require_suffix, takes_robot
from .options import help_of
from .printing import print_json, progress, say, show
from .states import parse

TRAJECTORIES = (".npz", ".csv", ".parquet")
DIGITS = 4  # significant digits of the tables
CONTROLLERS = {"pd": PD, "pid": PID, "pd-gravity": PDGravity, "computed-torque": ComputedTorque}


@takes_robot
def simulate(
    source: Source,
    q0: Annotated[str | None, option("VALUES", "Initial positions, rad (m). Default: home, or zero.")] = None,
    v0: Annotated[str | None, option("VALUES", "Initial velocities, rad/s (m/s). Default: zero.")] = None,
    torque: Annotated[str | None, option("VALUES", "Constant joint forces, N m (N). Default: zero.")] = None,
    commands: Annotated[
        str | None,
        option("VALUES", "Constant inputs of thrusters, propellers and other force laws with inputs. Default: zero."),
    ] = None,
    goal: Annotated[
        str | None,
        option("VALUES", "Final positions, rad (m). A controller follows a polynomial of degree five from q0 to them."),
    ] = None,
    control: Annotated[str, option("NAME", f"Controller for --goal: {', '.join(CONTROLLERS)}.")] = "computed-torque",
    kp: Annotated[float, option(None, "Position gain: 1/s^2 for computed-torque, else N m/rad (N/m).")] = 100.0,
    ki: Annotated[float | None, option(None, "Integral gain of pid, N m/(rad s). Default: kp.")] = None,
    kd: Annotated[float, option(None, "Velocity gain: 1/s for computed-torque, else N m s/rad (N s/m).")] = 20.0,
    period: Annotated[
        float | None, option("SECONDS", "Sample time of the controller, which holds its forces. Default: continuous.")
    ] = None,
    duration: Annotated[float, option("SECONDS", "Duration of the motion.")] = 1.0,
    dt: Annotated[
        float | None,
        option("SECONDS", f"Time step. Default: {STEP:g}, or less where the robot's fastest modes need it."),
    ] = None,
    method: Annotated[
        str | None,
        option(
            "METHOD",
            f"Integrator: {', '.join(INTEGRATORS)}. Default: the first that is stable for the robot's fastest modes.",
        ),
    ] = None,
    every: Annotated[int, option(None, help_of("simulate", "every"), min=1)] = 1,
    contacts: Annotated[
        str | None,
        option(
            "HOW",
            "Contacts with the ground. events: they touch down and lift off. coulomb: they also slide. all: all stay"
            " fixed to the ground. 1,0,...: those with 1 stay fixed. Default: no contacts.",
        ),
    ] = None,
    limits: Annotated[
        float | None,
        option(
            "STIFFNESS", "Stiffness of soft joint limits, N m/rad; damping is 0.02 s times it. Default: limits are off."
        ),
    ] = None,
    record: Annotated[
        list[str] | None,
        quantity_option("Record this quantity, too, such as inertia_matrix, or pose:hand. May be repeated."),
    ] = None,
    output: Annotated[
        Path | None, option("FILE", f"File for the trajectory: {', '.join(TRAJECTORIES)}.", "--output", "-o")
    ] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Simulate one motion from a state.

    VALUES are numbers in the order of the joints, 0,0.1,..., or by name, joint1=0.1,joint2=... base.ry=0.1 rotates a
    floating base about its own y axis, in rad. Without --torque and --goal no motor acts: the robot falls. With
    --contacts and without --q0, the lowest contact of a floating robot starts on the ground.

    \b
    linkwork simulate puma560
    linkwork simulate panda --goal 0.5,0.3,0,-1.5,0,1.8,0.7 --duration 2 -o motion.npz --plot motion.png
    linkwork simulate four-bar --q0 crank=0.5 --method rk4
    linkwork simulate panda --record pose:panda_link8 --record gravity -o motion.csv
    linkwork simulate quadrotor --commands 2.8,2.7,2.7,2.8
    linkwork simulate quadruped --contacts events --duration 0.5
    """
    if control not in CONTROLLERS:
        raise UnknownNameError("controller", control, CONTROLLERS)
    if ki is not None and control != "pid":
        raise LinkworkError("only pid has an integral gain", got=f"--ki and --control {control}", fix="--control pid")
    if period is not None and goal is None:
        raise LinkworkError("a sample time needs a controller", got="--period", fix="give --goal")
    if goal is not None and torque is not None:
        raise LinkworkError("give either --torque or --goal", got="--torque and --goal", fix="leave one of them out")
    require_suffix("--output", output, TRAJECTORIES)
    require_suffix("--plot", plot, PICTURES)
    robot = source.load()
    model = robot.model
    options = Options(method=method, every=every)
    q = rest(model) if q0 is None else parse(model, "q", q0, "--q0")
    if contacts is not None:
        if contacts.isalpha():
            one_of_names("choice of contacts", contacts, (*KINDS, "all"), where="--contacts")
        switches: Any = np.ones(len(model.switched)) if contacts == "all" else contacts
        options = replace(options, contacts=switches if contacts.isalpha() else parse(model, "contacts", contacts))
        q = robot.standing_position() if q0 is None and model.switched and model.moving_base else q
    if goal is not None:
        integral = {"ki": kp if ki is None else ki} if control == "pid" else {}
        controller = CONTROLLERS[control](kp=kp, kd=kd, **integral)
        acting = controller if period is None else robot.function(controller, period=period)
        options = replace(options, torque=acting, reference=_reference(model, q, goal, duration))
    elif torque is not None:
        options = replace(options, torque=parse(model, "tau", torque, "--torque"))
    if commands is not None:
        options = replace(options, commands=parse(model, "commands", commands))
    if limits is not None:
        options = replace(options, limits=SoftLimits(limits, 0.02 * limits))
    if record:
        memory = ["memory"] * (goal is not None and control == "pid")
        options = replace(options, outputs=(*all_outputs(model, contacts is not None), *memory, *record))
    with progress(f"simulating {robot.name}"), warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # the notes have the same texts
        start = time.perf_counter()
        v = None if v0 is None else parse(model, "v", v0, "--v0")
        trajectory = simulated(robot, q, v, duration, dt, options)
        seconds = time.perf_counter() - start
    recorded = [name for name in trajectory if record and name not in ("t", *OUTPUTS, *CONTACT_OUTPUTS)]
    if output is not None:
        trajectory.save(output)
    if plot is not None:
        more = ["commands"] if "commands" in trajectory else []
        trajectory.plot(["joints", "torques", *more, "contacts", "energies", *recorded], path=plot)
    if json:
        print_json(summary(trajectory, recorded))
    else:
        show_motion(robot, trajectory)
        for name in recorded:
            say(f"{name} at the end:\n{np.array2string(trajectory[name][-1], precision=DIGITS, suppress_small=True)}")
        for note in trajectory.notes:
            say(f"{note.severity.title()}: {note.message}.", "yellow" if note.severity == "warning" else "dim")
        say(f"{seconds:.2f} s, compilation included.", "dim")
        for path in (output, plot):
            if path is not None:
                say(f"wrote {path}")
    if any(note.code == STOPPED for note in trajectory.notes):
        raise typer.Exit(130)


def summary(trajectory: Trajectory, recorded: Sequence[str] = ()) -> dict[str, Any]:
    """Return the data that ``--json`` prints; ``recorded`` are arrays by --record."""
    names = ("t", "q", "v", "tau", "commands", *recorded)
    last = {name: trajectory[name][-1] for name in names if name in trajectory}
    return {"robot": trajectory.robot, "method": trajectory.method, "dt": trajectory.dt, "end": last,
            "entries": trajectory.entries, "drift": trajectory.drift, "notes": trajectory.notes}  # fmt: skip


def show_motion(robot: Robot, trajectory: Trajectory) -> None:
    """Show the range of each joint, the energies and their balance."""
    names = trajectory.entries

    def largest(vector: str, name: str) -> float | None:
        return _clean(np.abs(trajectory[vector][:, names[vector].index(name)]).max()) if name in names[vector] else None

    rows: list[list[Any]] = []
    for name, q in zip(names["q"], trajectory.q.T, strict=True):
        rows.append([name, *map(_clean, (q[0], q[-1], q.min(), q.max())), largest("v", name), largest("tau", name)])
    for name in names["v"]:
        if name not in names["q"]:  # a rotation, for which q has a quaternion
            rows.append([name, *[None] * 4, largest("v", name), largest("tau", name)])
    kinds = " or ".join(sorted({unit for unit in trajectory.units["q"] if unit}, reverse=True))
    title = f"{robot.name}: {trajectory.t[-1]:g} s of motion by {trajectory.method}, {kinds}"
    columns = ("start", ""), ("end", ""), ("least", ""), ("most", ""), ("fastest", "per s"), ("largest", "force")
    show(Table(title, ["", *(Column(*name, DIGITS) for name in columns)], rows))
    kinetic, potential, work = (trajectory[name] for name in ("kinetic_energy", "potential_energy", "work"))
    energies = [
        ["kinetic", float(kinetic[0]), _clean(kinetic[-1])],
        ["potential", float(potential[0]), float(potential[-1])],
        ["work done on it", 0.0, _clean(work[-1])],
    ]
    show(Table("Energy, J", ["", "start", "end"], energies))
    if "constraint_forces" in trajectory:
        forces = {name: trajectory[name] for name in ("constraint_forces", "contact_forces") if name in trajectory}
        _show_contacts(ContactForces.of(robot.model, trajectory.q, **forces))
    others = {"loop_residual": "loops open by at most", "quaternion": "quaternion off unit length by at most"}
    others |= {"loop_rates": "slipping at most"}
    parts = [f"Energy balance off by at most {abs(trajectory.drift['energy']):.1e} J"]
    parts += [f"{text} {trajectory.drift[name]:.1e}" for name, text in others.items() if name in trajectory.drift]
    say("; ".join(parts) + ".")


def _show_contacts(loads: ContactForces) -> None:
    """Show the least load of each contact and the friction it needs; blank where a value is not known."""
    finite = lambda value: _clean(value) if np.isfinite(value) else None  # noqa: E731
    columns = loads.normal.min(axis=0), loads.needed.max(axis=0), loads.friction
    rows = [
        [name, *map(finite, row), verdict]
        for name, verdict, *row in zip(loads.names, loads.verdicts, *columns, strict=True)
    ]
    names = ("least load", "N"), ("friction", "needed"), ("friction", "available")
    show(Table("Contacts", ["", *(Column(*name, DIGITS) for name in names), "it"], rows))


def _clean(value: float) -> float:
    """Return zero for rounding errors."""
    return float(value) if abs(value) > 1e-12 else 0.0


def _reference(model: Model, q0: np.ndarray, goal: str, duration: float) -> Quintic:
    """Return the reference of the joints with motors, a quintic from q0 to the goal."""
    motors = model.motor_places()
    if not motors:
        fix = "--commands drives it" if model.commands.size else "--v0 sets it in motion"
        raise LinkworkError("a goal needs motors, and this robot has none", where="--goal", got=goal, fix=fix)
    motor_names = model.names_of(model.mobility.motors)
    bases = tuple(f"{joint.name}." for joint in model.coordinates.joints if joint.kind.free)
    for name in (part.partition("=")[0].strip() for part in goal.split(",")):
        if bases and name.startswith(bases) and name not in motor_names:
            expected = f"joints with motors: {', '.join(motor_names)}"
            raise LinkworkError("no motor moves this directly", where="--goal", got=name, expected=expected)
    end = parse(model, "q", goal, "--goal")
    return Quintic(q0[motors], end[motors], duration)
