"""``linkwork simulate``: a motion, where it ends, what it kept, and its pictures and files."""

from __future__ import annotations

import time
import warnings
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
from ..table import Column, Table
from .common import Json, Source, print_json, progress, say, show, takes_robot
from .states import parse

FORMATS = {"trajectories": (".npz", ".csv", ".parquet"), "pictures": (".png", ".svg", ".pdf")}
DIGITS = 4  # of what is shown
CONTROLLERS = {"pd": PD, "pid": PID, "pd-gravity": PDGravity, "computed-torque": ComputedTorque}


@takes_robot
def simulate(
    source: Source,
    q: Annotated[str | None, typer.Option("--q", metavar="VALUES", help="Where it starts; else home or zero.")] = None,
    v: Annotated[str | None, typer.Option("--v", metavar="VALUES", help="Its velocities at the start.")] = None,
    tau: Annotated[str | None, typer.Option("--tau", metavar="VALUES", help="Constant joint forces.")] = None,
    commands: Annotated[
        str | None, typer.Option("--commands", metavar="VALUES", help="Constant commands of thrusters, rotors, ...")
    ] = None,
    goal: Annotated[
        str | None, typer.Option(metavar="VALUES", help="Where a controller takes it, along a quintic.")
    ] = None,
    control: Annotated[
        str, typer.Option(metavar="NAME", help=f"With --goal: {', '.join(CONTROLLERS)}.")
    ] = "computed-torque",
    kp: Annotated[float, typer.Option(help="Gain of the controller on positions.")] = 100.0,
    ki: Annotated[float | None, typer.Option(help="Gain of pid on the integral of the error; else kp.")] = None,
    kd: Annotated[float, typer.Option(help="Gain of the controller on velocities.")] = 20.0,
    duration: Annotated[float, typer.Option(metavar="SECONDS", help="How long.")] = 1.0,
    dt: Annotated[
        float | None, typer.Option(metavar="SECONDS", help=f"Step; else {STEP:g}, or what the robot's modes ask for.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help=f"One of {', '.join(INTEGRATORS)}; else the first that bears the modes."),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Record each so many steps.")] = 1,
    contacts: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="Contacts on the ground: events, coulomb (they may slide), all, or 1,0,... by contact."
        ),
    ] = None,
    limits: Annotated[
        float | None, typer.Option(metavar="STIFFNESS", help="Soft stops at the joint limits, N m/rad.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help=f"Trajectory: {', '.join(FORMATS['trajectories'])}."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"Picture: {', '.join(FORMATS['pictures'])}.")
    ] = None,
    json: Json = False,
) -> None:
    """Simulate one motion from a state.

    VALUES are numbers in the order of the joints, 0,0.1,..., or by name, joint1=0.1,joint2=...; what is not given is
    zero, or at home where the file tells it. A floating base is turned about its own axes, in rad, by base.ry=0.1.
    Without --tau and --goal nothing drives the robot: it falls. With --contacts it stands on the ground, with its
    lowest contact there if no --q is given.

    \b
    linkwork simulate puma560
    linkwork simulate panda --goal 0.5,0.3,0,-1.5,0,1.8,0.7 --duration 2 -o motion.npz --plot motion.png
    linkwork simulate four-bar --q crank=0.5 --method rk4
    linkwork simulate quadrotor --commands 2.8,2.7,2.7,2.8
    linkwork simulate quadruped --contacts events --duration 0.5
    """
    if control not in CONTROLLERS:
        raise UnknownNameError("controller", control, CONTROLLERS)
    if ki is not None and control != "pid":
        raise LinkworkError("only pid has an integral", got=f"--ki and --control {control}", fix="--control pid")
    if goal is not None and tau is not None:
        raise LinkworkError("either joint forces or a goal", got="--tau and --goal")
    for path, what in ((output, "trajectories"), (plot, "pictures")):
        if path is not None and path.suffix not in FORMATS[what]:
            expected = ", ".join(FORMATS[what])
            raise LinkworkError(f"the suffix tells no format of {what}", where=str(path), expected=expected)
    robot = source.load()
    model = robot.model
    options = Options(method=method, every=every)
    q0 = rest(model) if q is None else parse(model, "q", q)
    if contacts is not None:
        if contacts.isalpha():
            one_of_names("choice of contacts", contacts, (*KINDS, "all"), where="--contacts")
        told = contacts if contacts in KINDS else np.ones(len(model.switched)) if contacts == "all" else None
        options = replace(options, contacts=parse(model, "contacts", contacts) if told is None else told)
        q0 = robot.standing_position() if q is None and model.switched and model.moving_base else q0
    if goal is not None:
        integral = {"ki": kp if ki is None else ki} if control == "pid" else {}
        law = CONTROLLERS[control](kp=kp, kd=kd, **integral)
        options = replace(options, torque=law, reference=_way(model, q0, goal, duration))
    elif tau is not None:
        options = replace(options, torque=parse(model, "tau", tau))
    if commands is not None:
        options = replace(options, commands=parse(model, "commands", commands))
    if limits is not None:
        options = replace(options, limits=SoftLimits(limits, 0.02 * limits))
    with progress(f"simulating {robot.name}"), warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # the notes say it, too
        began = time.perf_counter()
        trajectory = simulated(robot, q0, None if v is None else parse(model, "v", v), duration, dt, options)
        took = time.perf_counter() - began
    if output is not None:
        trajectory.save(output)
    if plot is not None:
        more = ["commands"] if "commands" in trajectory else []
        trajectory.plot(["joints", "torques", *more, "contacts", "energies"], path=plot)
    if json:
        print_json(summary(trajectory))
    else:
        show_motion(robot, trajectory)
        for note in trajectory.notes:
            say(f"{note.severity.title()}: {note.message}.", "yellow" if note.severity == "warning" else "dim")
        say(f"{took:.2f} s, compilation included.", "dim")
        for path in (output, plot):
            if path is not None:
                say(f"wrote {path}")
    if any(note.code == STOPPED for note in trajectory.notes):
        raise typer.Exit(130)


def summary(trajectory: Trajectory) -> dict[str, Any]:
    last = {name: trajectory[name][-1] for name in ("t", "q", "v", "tau", "commands") if name in trajectory}
    return {"robot": trajectory.robot, "method": trajectory.method, "dt": trajectory.dt, "end": last,
            "entries": trajectory.entries, "drift": trajectory.drift, "notes": trajectory.notes}  # fmt: skip


def show_motion(robot: Robot, trajectory: Trajectory) -> None:
    """Where it was and is, and the balance of energy."""
    names = trajectory.entries
    rows = []
    for k, name in enumerate(names["q"]):
        q, speed = trajectory.q[:, k], trajectory.v[:, names["v"].index(name)] if name in names["v"] else None
        tau = trajectory.tau[:, names["tau"].index(name)] if name in names["tau"] else None
        rows.append([name, *map(_clean, (q[0], q[-1], q.min(), q.max())), _largest(speed), _largest(tau)])
    for k, name in enumerate(names["v"]):
        if name not in names["q"]:  # turns, of which q tells a quaternion
            tau = trajectory.tau[:, names["tau"].index(name)] if name in names["tau"] else None
            rows.append([name, *[None] * 4, _largest(trajectory.v[:, k]), _largest(tau)])
    unit = dict(zip(names["q"], trajectory.units["q"], strict=True))
    kinds = " or ".join(sorted({u for u in unit.values() if u}, reverse=True))
    title = f"{robot.name}: {trajectory.t[-1]:g} s of motion by {trajectory.method}, {kinds}"
    columns = ("start", ""), ("end", ""), ("least", ""), ("most", ""), ("fastest", "per s"), ("largest", "force")
    show(Table(title, ["", *(Column(*name, DIGITS) for name in columns)], rows))
    kinetic, potential, work = (trajectory[name] for name in ("kinetic_energy", "potential_energy", "work"))
    lost = float(np.abs(trajectory.drift["energy"]))
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
    said = [f"{text} {trajectory.drift[name]:.1e}" for name, text in others.items() if name in trajectory.drift]
    say("; ".join([f"Energy balance off by at most {lost:.1e} J", *said]) + ".")


def _show_contacts(loads: ContactForces) -> None:
    """What they bore and needed at most; nothing where that is not known, or not given."""
    finite = lambda value: _clean(value) if np.isfinite(value) else None  # noqa: E731
    columns = loads.normal.min(axis=0), loads.needed.max(axis=0), loads.friction
    rows = [
        [name, *map(finite, row), verdict]
        for name, verdict, *row in zip(loads.names, loads.verdicts, *columns, strict=True)
    ]
    names = ("least load", "N"), ("friction", "needed"), ("friction", "given")
    show(Table("Contacts", ["", *(Column(*name, DIGITS) for name in names), "it"], rows))


def _largest(values: np.ndarray | None) -> float | None:
    return None if values is None else _clean(np.abs(values).max())


def _clean(value: float) -> float:
    """What is rounding alone is zero."""
    return float(value) if abs(value) > 1e-12 else 0.0


def _way(model: Model, q0: np.ndarray, goal: str, duration: float) -> Quintic:
    """The reference is of the motors' joints."""
    motors = model.motor_places()
    if not motors:
        fix = "--commands drives it" if model.commands.size else "--v sets it going"
        raise LinkworkError("this robot has no motors that a controller could use", where="--goal", got=goal, fix=fix)
    driven = model.names_of(model.mobility.motors)
    bases = tuple(f"{joint.name}." for joint in model.coordinates.joints if joint.kind.free)
    for name in (part.partition("=")[0].strip() for part in goal.split(",")):
        if bases and name.startswith(bases) and name not in driven:
            expected = f"joints with motors: {', '.join(driven)}"
            raise LinkworkError("no motor moves this directly", where="--goal", got=name, expected=expected)
    end = parse(model, "q", goal, "--goal")
    return Quintic(q0[motors], end[motors], duration)
