"""Unknowns: what is to be identified, and how joint forces are linear in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compose import compile
from ...errors import LinkworkError, UnknownNameError, at_door
from ...formulations import drives_of
from ...formulations.drives import motors
from ...model import ELEMENTS, FrictionLaw, Joint, Model, Motor, changed_drives
from ...model.drive import Coulomb, Viscous, law_with
from ...options import IdentifyOptions
from ...parameters import base_parameters, parameter_vector
from ...spatial import Inertia, Pose
from ...workspace import Cache, Workspace

if TYPE_CHECKING:
    from ...robot import Robot

TEN = len(ELEMENTS)  # number of parameters of a body
FRICTION = IdentifyOptions.friction
BUILT_IN = (Coulomb, Viscous)  # laws that every drive has
POSITIVE = {"IA", "FS", "FV", "FSP", "FSN", "FVP", "FVN", "K"}  # a drive with negative ones would create energy

Friction = Sequence[str | FrictionLaw] | Mapping[str, Sequence[str | FrictionLaw]] | None


@dataclass(frozen=True, eq=False)
class Unknowns:
    """What is to be identified of a robot: forces are ``regressor(q, v, a)`` times base parameters, plus known forces.

    Attributes:
        robot: The robot, with the friction laws to identify.
        names: Names of the base parameters, ``matrix`` times the standard ones, which act on the joints each by itself.
        columns: Owner and element of the standard parameter whose column of the regressor each has.
        matrix: Base parameters per standard ones.
        standard: Names of the unknown standard parameters, in the links' frames as in ``Robot.parameter_names``.
        prior: Values of the standard parameters before the fit.
        bodies: Names of the bodies, and where their ten parameters begin.
        positive: Places of parameters that cannot be negative.
        regressor: Function of q, v, a, (N, forces, names).
        known_forces: Function of q, v, a and wrenches: forces of everything else; None if there is nothing else.
        frames: Frames with measured wrenches, as ``known_forces`` takes them.
        with_values: Function from values by standard names to the robot with them.
    """

    robot: Robot
    names: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    matrix: np.ndarray
    standard: tuple[str, ...]
    prior: np.ndarray
    bodies: tuple[tuple[str, int], ...]
    positive: tuple[int, ...]
    regressor: Callable[..., np.ndarray]
    known_forces: Callable[..., np.ndarray] | None
    frames: tuple[str, ...]
    with_values: Callable[[Mapping[str, float]], Robot]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the joint forces."""
        model = self.robot.model
        return model.coordinates.of_freedoms(model.mobility.forced).names

    @property
    def base_prior(self) -> np.ndarray:
        return self.matrix @ self.prior

    def robot_with(self, theta: np.ndarray) -> Robot:
        """Return the robot with these standard parameters."""
        return self.with_values(dict(zip(self.standard, theta.tolist(), strict=True)))


def unknowns_of(robot: Robot, friction: Friction = FRICTION, **options: Any) -> Unknowns:
    """Return the unknowns with these friction laws and the options of ``_unknowns_of``.

    They are cached by robot, since compiling takes longer than most fits.
    """
    key = repr(friction), *sorted(options.items())
    cache = robot.derived(_cache)
    if key not in cache:
        cache[key] = _unknowns_of(robot, friction, **options)
    return cache[key]


def _cache(_: Workspace) -> Cache[Any, Unknowns]:
    return Cache()


def _unknowns_of(
    robot: Robot,
    friction: Friction,
    *,
    inertias: bool = True,
    rotors: bool = True,
    springs: bool = False,
    width: float = 0.0,
    prior: Robot | None = None,
    frames: Sequence[str] = (),
) -> Unknowns:
    """Return the unknowns; what is not to be identified is known, with the robot's values.

    Args:
        robot: The robot.
        friction: Laws to identify, in place of those of the file, for every driven joint and motor, or by name.
        inertias, rotors, springs: Whether these are to be identified.
        width: Width of friction, where the robot has none.
        prior: A robot with the prior values. Default: ``robot``.
        frames: Frames with measured wrenches.
    """
    model, drives = _with_laws(robot.model, _laws(robot.model, friction), rotors, springs, width)
    if not (inertias or drives):
        fix = at_door(
            "choose inertias, rotors, friction or springs", "leave --known out, or add --friction or --springs"
        )
        raise LinkworkError("there is nothing to identify", where="identify", fix=fix)
    vector = parameter_vector(model, "standard", drives)
    count = TEN * model.n_bodies
    selection = slice(0 if inertias else count, None)
    standard = vector.names[selection]
    values = values_of(model if prior is None else prior.model, standard)
    if inertias:
        base = base_parameters(model, drives=drives)
        names, matrix = base.names, base.matrix @ _from_links(model, len(vector.names))
        places = {parameter: k for k, parameter in enumerate(base.standard)}
        columns = [standard[places[parameter]] for parameter in base.columns]
        regressor = compile(model, "regressor", parameters="minimal", drives=drives)
    else:
        names, columns, matrix = standard, standard, np.eye(len(standard))
        everything = compile(model, "regressor", parameters="standard", drives=drives)
        regressor = lambda q, v, a: everything(q, v, a)[..., selection]  # noqa: E731
    bodies = tuple((body.name, TEN * i) for i, body in enumerate(model.bodies)) if inertias else ()
    positive = tuple(k for k, name in enumerate(standard) if split(name)[1] in POSITIVE)
    known_forces = _known(model, standard, frames)
    with_values = lambda values: robot.with_model(with_standard(model, values))  # noqa: E731
    return Unknowns(
        robot.with_model(model), names, tuple(split(each) for each in columns), matrix, standard, values,
        bodies, positive, regressor, known_forces, tuple(frames), with_values,
    )  # fmt: skip


def payload_of(robot: Robot, frame: str, frames: Sequence[str] = ()) -> Unknowns:
    """Return the ten parameters of a body fixed at a frame as unknowns; everything else is known."""
    model = robot.model
    carrier = model.frame(frame)
    if not carrier.body:
        raise LinkworkError("this frame does not move", where=f"payload {frame!r}", fix="name a frame of a moving link")
    i = carrier.body
    into_link = model.link_pose(i).inverse()
    pose = Pose(into_link.rotation @ carrier.pose.rotation, into_link.rotation @ carrier.pose.origin + into_link.origin)
    mixing = _carried(pose)
    everything = compile(model, "regressor", parameters="standard", drives=False)
    ten = slice(TEN * (i - 1), TEN * i)

    def with_values(values: Mapping[str, float]) -> Robot:
        body = carrier.pose.inertia_outward(Inertia.of(values[name] for name in names))
        inertias = [each.inertia + body if k == i else each.inertia for k, each in enumerate(model.bodies, 1)]
        return robot.with_model(model.with_inertias(inertias))

    names = tuple(f"{frame}.{element}" for element in ELEMENTS)
    return Unknowns(
        robot, names, tuple((frame, element) for element in ELEMENTS), np.eye(TEN), names, np.zeros(TEN),
        ((frame, 0),), (),
        lambda q, v, a: everything(q, v, a)[..., ten] @ mixing,
        compile(robot, "inverse_dynamics", wrenches=tuple(frames)), tuple(frames), with_values,
    )  # fmt: skip


def with_standard(model: Model, values: Mapping[str, float]) -> Model:
    """Return the robot with standard parameters by name: "link.XX" in the link's frame, "joint.FV", "motor.IA"."""
    rows = [
        [values.get(f"{body.name}.{element}", value) for element, value in zip(ELEMENTS, row, strict=True)]
        for body, row in zip(model.bodies, model.parameters(), strict=True)
    ]
    changed_bodies = {i for i, body in enumerate(model.bodies) if any(f"{body.name}.{e}" in values for e in ELEMENTS)}
    changed_model = model.with_parameters(rows)
    inertias = [(changed_model if i in changed_bodies else model).bodies[i].inertia for i in range(model.n_bodies)]

    def change(drive: Any) -> Any:
        start = f"{drive.name}."
        return drive.with_parameters({e: values[start + e] for e in drive.parameters if start + e in values})

    return changed_drives(model.with_inertias(inertias), change)


# -- which laws ------------------------------------------------------------------------------------------------------


def _laws(model: Model, friction: Friction) -> dict[str, list[FrictionLaw]]:
    """Return the friction laws to identify, by joint or motor.

    Friction of a joint that one motor turns alone cannot be separated from that of the motor, which has it by default.
    """
    drives = {drive.name: drive for drive in drives_of(model)}
    alone = {
        model.coordinates.joint_of(shares[0][0]).name
        for motor, shares in motors(model)
        if motor.driven and len(shares) == 1
    }
    if friction is None or friction in ((), []):
        return {}
    if not isinstance(friction, (str, Mapping, Sequence)):
        expected = "names of laws, laws, or a dict of them by joint"
        raise LinkworkError("these are not friction laws", where="friction", got=repr(friction), expected=expected)
    motor_names = [name for name, drive in drives.items() if drive.driven and name not in alone]
    if not isinstance(friction, Mapping):
        friction = dict.fromkeys(motor_names, friction)
    for name in friction:
        if name not in drives:
            raise UnknownNameError("joint or motor", name, drives, where="friction")
    return {name: list({law.name: law for law in map(_law, listed(laws))}.values()) for name, laws in friction.items()}


def listed(values: Any) -> Sequence[Any]:
    """Return a sequence, also for a single value."""
    return values if isinstance(values, (list, tuple)) else (values,)


def _law(law: str | FrictionLaw) -> FrictionLaw:
    if isinstance(law, FrictionLaw):
        return law
    if law not in FrictionLaw.known:
        raise UnknownNameError("friction law", str(law), FrictionLaw.known, where="friction")
    return law_with(next(iter(FrictionLaw.known[law].elements)))


def _with_laws(
    model: Model, laws: Mapping[str, Sequence[FrictionLaw]], rotors: bool, springs: bool, width: float
) -> tuple[Model, tuple[str, ...]]:
    """Return the robot with these laws in place of its own, and names of the drives' unknown parameters."""
    names: list[str] = []
    ratios = {motor.name: max(abs(ratio) for _, ratio in shares) for motor, shares in motors(model)}

    def change(drive: Any) -> Any:
        elements = ["IA"] * (rotors and drive.driven)
        elements += ["K"] * (springs and bool(drive.stiffness))
        if drive.name in laws:
            new = laws[drive.name]
            elements += [element for law in new for element in law.elements]
            old = {law.name: law for law in drive.laws}
            values = {type(law): getattr(old.get(law.name), law.name, 0.0) for law in new if isinstance(law, BUILT_IN)}
            drive = replace(
                drive,
                friction_width=drive.friction_width
                or (0.0 if model.friction_width else width * ratios.get(drive.name, 1.0)),
                coulomb=values.get(Coulomb, 0.0),
                viscous=values.get(Viscous, 0.0),
                friction=tuple(
                    law.with_parameters(old[law.name].parameters) if law.name in old else law
                    for law in new
                    if not isinstance(law, BUILT_IN)
                ),
            )
        names.extend(f"{drive.name}.{element}" for element in elements)
        return drive

    return changed_drives(model, change), tuple(names)


def drives_with_shares(model: Model) -> list[tuple[Joint | Motor, list[tuple[int, float]]]]:
    """Return drives with the forces they act on; none if loops or mimic joints share forces."""
    if model.constrained or model.has_mimic:
        return []
    joints = [(model.joint(i), [(k, 1.0)]) for i, _ in model.outward() for k in model.freedoms(i)]
    return [*joints, *motors(model)]


def split(name: str) -> tuple[str, str]:
    """Return the owner (link, joint or motor) and the element of a standard parameter."""
    owner, _, element = name.rpartition(".")
    return owner, element


# -- frames, and known forces ----------------------------------------------------------------------------------------


def _carried(pose: Pose) -> np.ndarray:
    """Return the matrix of ten parameters in an outer frame per ten in an inner one."""
    return np.array([list(pose.inertia_outward(Inertia.of(unit))) for unit in np.eye(TEN).tolist()], float).T


def _from_links(model: Model, count: int) -> np.ndarray:
    """Return the matrix of standard parameters in the bodies' frames per those in the links' frames."""
    matrix = np.eye(count)
    for i, _ in model.outward():
        ten = slice(TEN * (i - 1), TEN * i)
        matrix[ten, ten] = _carried(model.link_pose(i))
    return matrix


def values_of(model: Model, standard: Sequence[str]) -> np.ndarray:
    """Return the model's values of standard parameters; zero for laws it does not have."""
    vector = parameter_vector(model, "standard", True)
    values = dict(zip(vector.names, vector.values.tolist(), strict=True))
    if missing := {split(name)[0] for name in standard} - {split(name)[0] for name in values}:
        raise LinkworkError(
            "the prior is another robot",
            where="prior",
            got=f"no {', '.join(sorted(missing))}",
            fix="use a variant of the same robot",
        )
    return np.array([values.get(name, 0.0) for name in standard])


def _known(model: Model, unknown: Sequence[str], frames: Sequence[str]) -> Callable[..., np.ndarray] | None:
    """Return the function of forces that are known, None if there are none."""
    rest = with_standard(model, dict.fromkeys(unknown, 0.0))
    acting = any(any(body.inertia) for body in rest.bodies) or rest.forces or frames or rest.has_modes
    acting = acting or any(d.rotor_inertia or d.acting or d.stiffness for d in drives_of(rest))
    return compile(rest, "inverse_dynamics", parameters="standard", wrenches=tuple(frames)) if acting else None
