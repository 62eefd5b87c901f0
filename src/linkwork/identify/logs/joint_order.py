"""Columns of a log in the order of a robot: by names, through transmissions, and with loops closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Point
from ...errors import LOCK, LinkworkError, ShapeError, UnknownNameError, at_door, counted
from ...formulations import layouts
from ...model.coordinates import Coordinates
from .filters import changed, continuous, even
from .log_noise import noise_of
from .signals import blocks, derivative

if TYPE_CHECKING:
    from ...robot import Robot
    from .log import Log

CLOSED = 1e-9  # metres and radians: loops that are open by less count as closed
SINGULAR = 0.01  # conditioning below which a motion may have passed a singular position between samples
PASSES = 50  # passes over positions that are not assembled yet, each from its neighbour


def for_robot(log: Log, robot: Robot) -> Log:
    layout = layouts(robot.model)
    names = {"joints": layout["q"].names, "rates": layout["v"].names, "forces": layout["tau"].names}
    for frame in log.wrenches:
        if frame not in robot.frame_names:
            raise UnknownNameError("frame", frame, robot.frame_names, where=f"robot {robot.name!r}, wrenches")
    if all(getattr(log, kind) == each for kind, each in names.items()) and _closed(robot, log.q):
        return _differentiated(log, robot)
    positions = _position_names(log, robot)
    rates = _rate_names(log, robot, positions, log)
    q, assembly = _positions(robot, log.q, positions)
    v, a = _rates(robot, q, log.v, log.a, rates)
    tau, zero_forces = _forces(log, robot)
    reference = None
    if log.reference is not None:
        followed, _ = _positions(robot, log.reference.q, positions)
        names_of_rates = _rate_names(log, robot, positions, log.reference)
        reference = Point(followed, *_rates(robot, followed, log.reference.v, log.reference.a, names_of_rates))
    notes = [f"columns are those of {robot.name}"] if any(names[k] != getattr(log, k) for k in names) else []
    arrays: dict[str, Any] = {"q": q, "v": v, "a": a, "tau": tau, "reference": reference}
    arrays["noise"] = _noise(robot, q, log.noise, {"q": positions, "v": rates, "a": rates})
    return _differentiated(changed(log, *notes, *assembly, *zero_forces, **arrays, **names), robot)


# -- names ---------------------------------------------------------------------------------------------------------


def _position_names(log: Log, robot: Robot) -> tuple[str, ...]:
    """Return names of the robot's positions for the columns of q; "" for mimic joints."""
    coordinates, mobility = robot.coordinates, robot.model.mobility
    if log.joints:
        return _checked_names(log.joints, coordinates.names, robot)
    kinds = {
        "all": coordinates.names,
        "motors": coordinates.whole(mobility.motors).names,
        "independent": coordinates.whole(mobility.configuration).names,
    }
    return _by_count(log.q.shape[1], kinds, robot, "q")


def _checked_names(names: Sequence[str], names_of_robot: Sequence[str], robot: Robot) -> tuple[str, ...]:
    """Return the names, with "" for those of mimic joints; an unknown one is an error."""
    followers = {body.joint.name for body in robot.model.bodies} - {*robot.coordinates.positions.joints}
    for name in names:
        if name not in names_of_robot and name not in followers:
            raise UnknownNameError("joint", name, names_of_robot, where=f"log for robot {robot.name!r}")
    return tuple("" if name in followers else name for name in names)


def _by_count(count: int, kinds: dict[str, tuple[str, ...]], robot: Robot, kind: str) -> tuple[str, ...]:
    for names in kinds.values():
        if count == len(names):
            return names
    expected = " or ".join(dict.fromkeys(f"{len(names)} ({', '.join(names)})" for names in kinds.values() if names))
    raise ShapeError(
        "the columns do not fit the robot", where=f"log for robot {robot.name!r}, {kind}", got=counted(count, "column"),
        expected=expected, fix="name the columns: " + at_door("joints=...", "--joints a,b,..."),
    )  # fmt: skip


def _rate_names(log: Log, robot: Robot, positions: Sequence[str], of: Log | Point) -> tuple[str, ...]:
    """Return names for the columns of v and a, of the log itself or of its reference."""
    rates = of.v if of.v is not None else of.a
    velocity_names = robot.coordinates.velocity_names
    if rates is None:
        return ()
    if log.rates:
        return _checked_names(log.rates, velocity_names, robot)
    layout = layouts(robot.model)
    if rates.shape[1] == len(positions) and {*positions} <= {"", *velocity_names}:
        return tuple(positions)
    kinds = {"independent": layout["v"].names, "all": velocity_names, "motors": layout["motors"].names}
    return _by_count(rates.shape[1], kinds, robot, "v")


def _chosen(array: np.ndarray, names: Sequence[str], choice: Sequence[str]) -> np.ndarray:
    """Return columns by name; the array itself where it has them in this order."""
    places = [names.index(name) for name in choice]
    return array if places == list(range(array.shape[1])) else array[:, places]


# -- positions -----------------------------------------------------------------------------------------------------


def _positions(robot: Robot, q: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Return positions of all joints, and notes on how they were computed if they were not measured."""
    coordinates, mobility = robot.coordinates, robot.model.mobility
    if {*coordinates.names} <= {*names}:
        q = _chosen(q, names, coordinates.names)
        if _closed(robot, q):
            return q, []
        source = coordinates.whole(mobility.configuration)
        assembled, near = _assembled(robot, q[:, coordinates.places(source.positions.joints)], None, q)
        return assembled, [
            f"loops closed again from {source.positions}, as the measured positions leave them open",
            *near,
        ]
    if not robot.model.constrained:
        missing = [name for name in coordinates.names if name not in names]
        raise LinkworkError(
            f"the log has no positions of {', '.join(missing)}", where=f"log for robot {robot.name!r}",
            got=", ".join(names), fix=f"measure them, or lock these joints: {at_door(*LOCK)}",
        )  # fmt: skip
    for source, kind in (
        (coordinates.whole(mobility.configuration), None),
        (coordinates.whole(mobility.motors), "motors"),
    ):
        if source.names and {*source.names} <= {*names}:
            joints = None if kind is None else source.positions.joints
            break
    else:
        source = Coordinates(tuple(joint for joint in coordinates.joints if joint.name in names))
        joints = source.positions.joints
    assembled, near = _assembled(robot, _chosen(q, names, source.names), joints, None)
    return assembled, [f"positions of the other joints found from {source.positions} by closing the loops", *near]


def _closed(robot: Robot, q: np.ndarray) -> bool:
    if not robot.model.constrained:
        return True
    rows = blocks(len(q), 16 * q.shape[1])
    return all(np.abs(robot.loop_residual(np.asarray(q[begin:end]))).max() <= CLOSED for begin, end in rows)


def _assembled(
    robot: Robot, positions: np.ndarray, joints: Sequence[str] | None, guess: np.ndarray | None
) -> tuple[np.ndarray, list[str]]:
    """Return positions of all joints, from the neighbour in time where home is too far away, with a note if needed."""
    first_try = robot.assemble(positions, guess, known=joints)
    q, solved, conditioning = np.array(first_try.q), np.array(first_try.solved), np.array(first_try.conditioning)
    for _ in range(PASSES):
        if solved.all() or not solved.any():
            break
        rows = np.arange(len(q))
        before = np.maximum.accumulate(np.where(solved, rows, -1))
        behind = np.minimum.accumulate(np.where(solved, rows, len(q))[::-1])[::-1]
        nearest = np.where((before < 0) | ((behind < len(q)) & (behind - rows < rows - before)), behind, before)
        open_ = np.flatnonzero(~solved)
        again = robot.assemble(positions[open_], q[nearest[open_]], known=joints)
        q[open_], solved[open_], conditioning[open_] = again.q, again.solved, again.conditioning
        if not again.solved.any():
            break
    if solved.all():
        worst = int(np.argmin(conditioning))
        near = f"loops come close to a singular position at sample {worst}: after it, joints that were not measured"
        return q, [f"{near} may be in another assembly mode"] if conditioning[worst] < SINGULAR else []
    place = int(np.argmin(solved))
    raise LinkworkError(
        f"{int((~solved).sum())} of {len(q)} positions of the log cannot be assembled",
        where=f"log for robot {robot.name!r}, sample {place}",
        got=", ".join(f"{x:.6g}" for x in positions[place]),
        fix="check the signs, offsets and units of the positions: loops must close with those of the robot's file",
    )


# -- velocities, accelerations, forces -----------------------------------------------------------------------------


def _rates(robot: Robot, q: np.ndarray, v: Any, a: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """Return v and a of the independent joints, from those that were measured; None where nothing was."""
    independent = layouts(robot.model)["v"].names
    if {*independent} <= {*names}:
        return None if v is None else _chosen(v, names, independent), None if a is None else _chosen(
            a, names, independent
        )
    if v is None:
        return None, None
    velocity_names = robot.coordinates.velocity_names
    measured = [name for name in names if name]
    if not robot.model.constrained or len(measured) < len(independent):
        missing = [name for name in independent if name not in names]
        raise LinkworkError(
            f"the log has no velocities of {', '.join(missing)}", where=f"log for robot {robot.name!r}",
            got=", ".join(measured), fix="leave v and a out, to differentiate the positions",
        )  # fmt: skip
    places = [velocity_names.index(name) for name in measured]
    v, a = (None if x is None else _chosen(x, names, measured) for x in (v, a))
    result_v, result_a = (
        np.empty((len(q), len(independent))),
        None if a is None else np.empty((len(q), len(independent))),
    )
    for begin, end in blocks(len(q), 8 * robot.coordinates.nv * len(independent)):
        part = np.asarray(q[begin:end])
        to_all = np.linalg.pinv(robot.velocity_map(part)[:, places])
        result_v[begin:end] = np.einsum("kij,kj->ki", to_all, v[begin:end])
        if a is not None and result_a is not None:
            resting = robot.joint_accelerations(part, result_v[begin:end], np.zeros_like(result_v[begin:end]))
            result_a[begin:end] = np.einsum("kij,kj->ki", to_all, a[begin:end] - resting[:, places])
    return result_v, result_a


def _noise(
    robot: Robot, q: np.ndarray, noise: Mapping[str, np.ndarray], names: Mapping[str, Sequence[str]]
) -> dict[str, np.ndarray]:
    """Return standard deviations in the robot's order.

    Where loops are closed, those of joints that were not measured follow from the others halfway through the recording.
    """
    layout, velocity_names = layouts(robot.model), robot.coordinates.velocity_names
    deviations = {}
    for kind, sizes in noise.items():
        columns, columns_with_names = layout[kind if kind == "q" else "v"].names, [name for name in names[kind] if name]
        if {*columns} <= {*columns_with_names}:
            deviations[kind] = sizes[[names[kind].index(name) for name in columns]]
        elif {*columns_with_names} <= {*velocity_names} and (kind != "q" or columns == velocity_names):
            V = robot.velocity_map(q[len(q) // 2])
            back = np.linalg.pinv(V[[velocity_names.index(name) for name in columns_with_names]])
            variances = sizes[[names[kind].index(name) for name in columns_with_names]] ** 2
            deviations[kind] = np.sqrt((V @ back if kind == "q" else back) ** 2 @ variances)
    return deviations


def _forces(log: Log, robot: Robot) -> tuple[np.ndarray, list[str]]:
    """Return the joint forces, zero where no motor acts, and a note on these."""
    layout, velocity_names = layouts(robot.model), robot.coordinates.velocity_names
    forces = layout["tau"].names
    if log.forces:
        _checked_names(log.forces, velocity_names, robot)
        names = tuple(log.forces)
    else:
        kinds = {"tau": forces, "motors": layout["motors"].names, "all": velocity_names}
        names = _by_count(log.tau.shape[1], kinds, robot, "tau")
    missing = [name for name in forces if name not in names]
    if not missing:
        return _chosen(log.tau, names, forces), []
    if motors := [name for name in missing if name in layout["motors"].names]:
        raise LinkworkError(
            f"the log has no forces of {', '.join(motors)}", where=f"log for robot {robot.name!r}",
            got=", ".join(names), expected=", ".join(forces),
        )  # fmt: skip
    tau = np.zeros((len(log), len(forces)))
    for k, name in enumerate(forces):
        if name in names:
            tau[:, k] = log.tau[:, names.index(name)]
    return tau, [f"no motor drives {', '.join(missing)}: their forces are zero"]


def _differentiated(log: Log, robot: Robot) -> Log:
    """Return the log with v and a, where missing by central differences along the tangent of the coordinates."""
    if log.v is not None and log.a is not None:
        return log
    log = continuous(even(log))
    computed = tuple(kind for kind in "va" if getattr(log, kind) is None or kind in log.differentiated)
    log = changed(log, noise=noise_of(log), differentiated=computed)
    coordinates, independent = robot.coordinates, list(robot.model.mobility.independent)
    v, a, rate = log.v, log.a, log.rate
    straight = all(joint.kind.straight for joint in coordinates.joints)
    if v is None and straight:
        places = [place for k in independent if (place := coordinates.position_of(k)) is not None]
        v = derivative(log.q[:, places], rate)
        note = "v is differentiated from q by central differences"
        if a is None:
            a, note = derivative(log.q[:, places], rate, 2), note.replace("v is", "v and a are")
        return changed(log, note, v=v, a=a)
    note = "a is differentiated from v by central differences"
    if v is None:
        v = along(coordinates, np.asarray(log.q), rate)[:, independent]
        note = "v is differentiated from q by central differences along its coordinates" + ("; " + note) * (a is None)
    return changed(log, note, v=v, a=derivative(v, rate) if a is None else a)


def along(coordinates: Coordinates, q: np.ndarray, rate: float) -> np.ndarray:
    """Return velocities of all joints: central differences of the steps from each position to its neighbours."""
    count = len(q)
    if count < 5:
        raise LinkworkError("too few samples for a derivative", where="log", got=counted(count, "sample"), expected="5")
    first = np.clip(np.arange(count) - 2, 0, count - 5)
    result = np.zeros((count, coordinates.nv))
    for begin, end in blocks(count, 8 * q.shape[1]):
        rows = np.arange(begin, end)
        steps = np.stack([coordinates.difference(q[rows], q[first[rows] + k]) for k in range(5)], axis=1)
        for place in range(5):
            at = rows - first[rows] == place
            ways = steps[at].transpose(1, 0, 2)
            if ways.shape[1]:
                result[rows[at]] = derivative(ways, rate)[place]
    return result


# -- transmissions -------------------------------------------------------------------------------------------------


def from_drives(log: Log, robot: Robot) -> Log:
    T, drives, joints = robot.transmission, robot.drive_names, robot.coordinates.velocity_names
    where = f"log of the drives of robot {robot.name!r}"
    for kind, names in (("q", log.joints), ("tau", log.forces), ("v", log.rates)):
        for name in names:
            if name not in drives:
                raise UnknownNameError("drive", name, drives, where=f"{where}, {kind}")

    def rows(names: Sequence[str], count: int, kind: str) -> list[int]:
        if not names and count != len(drives):
            expected = f"{len(drives)}: {', '.join(drives)}"
            raise ShapeError(
                "the columns do not fit the drives", where=f"{where}, {kind}", got=count, expected=expected
            )
        return [drives.index(name) for name in names] if names else list(range(len(drives)))

    measured = rows(log.joints, log.q.shape[1], "q")
    moved_joints = np.flatnonzero(np.any(T[measured] != 0, axis=0))
    ratios = T[measured][:, moved_joints]
    if np.linalg.matrix_rank(ratios) < len(moved_joints):
        got = ", ".join(drives[k] for k in measured)
        fix = "measure all motors of each transmission"
        raise LinkworkError(
            "these drives do not determine the positions of their joints", where=where, got=got, fix=fix
        )
    back = np.linalg.pinv(ratios).T
    forces = rows(log.forces, log.tau.shape[1], "tau")
    names = tuple(joints[k] for k in moved_joints)
    forced_joints = np.flatnonzero(np.any(T[forces] != 0, axis=0))

    def to_joints(x: Any) -> Any:
        if x is None:
            return None
        if x.shape[1] != len(measured):
            raise ShapeError("columns of v, a and q must be of the same drives", where=where, got=x.shape)
        return x @ back

    return changed(log, 
        f"motors to joints by the transmissions of {robot.name}",
        q=to_joints(log.q), v=to_joints(log.v), a=to_joints(log.a), tau=log.tau @ T[forces][:, forced_joints],
        reference=None if log.reference is None else Point(*map(to_joints, log.reference)),
        noise={kind: np.sqrt(sizes**2 @ back**2) for kind, sizes in log.noise.items()},
        joints=names, rates=names, forces=tuple(joints[k] for k in forced_joints),
    )  # fmt: skip
