"""Trajectory: a motion, or a batch of motions, as named arrays over time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import ShapeError, UnknownNameError, UnsupportedError
from ...notes import Note
from ...quoting import printable
from . import plots, storage, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

    from ..derivatives.gradient import Gradient, Tape
    from ..derivatives.linear_system import LinearSystem

_XYZ = ("x", "y", "z")
ENTRIES = {  # names of entries that are the same for every robot
    "momentum": tuple(f"{kind}.{axis}" for kind in ("linear", "angular") for axis in _XYZ),
    "center_of_mass": _XYZ,
}


class Event(NamedTuple):
    """A change of contact in a simulation by events.

    Attributes:
        t: Time in s.
        what: "touchdown", "lift-off", "slip", "glide" (slide without friction) or "stick".
        contact: Name of the contact; ``NAME.k`` is a corner of a sole.
        lost: Energy in J lost by an impact.
    """

    t: float
    what: str
    contact: str
    lost: float = 0.0

    def __str__(self) -> str:
        return f"{self.contact} {self.what} at t = {self.t:.6g} s" + (f", {self.lost:.3g} J lost" if self.lost else "")


class Trajectory:
    """A motion, or a batch of motions, as named arrays over time: ``trajectory.q`` or ``trajectory["q"]``.

    ``trajectory[i]`` is a sample of a batch, ``trajectory[2:5]`` is several. ``len(trajectory)`` is the number of
    samples along the first axis, 1 for a single motion. Iterating yields the names of the arrays.

    Args:
        arrays: Arrays by name. "t" has shape (T,); arrays named in ``entries`` have shape (..., T, n), or as in
            ``shapes``; others (..., T). All have the same leading axes, the attribute ``batch``.
        entries: Names along the last axis, such as {"q": ("shoulder", "elbow")}; of matrices in C order.
        robot: Name of the robot.
        method: Name of the integrator.
        dt: Step of the integrator in s.
        notes: What the user must know to read the numbers: strings with ``code``, ``severity``, ``values`` and ``fix``.
            From a file they are plain strings. Default: none.
        units: Units along the last axis, such as {"q": ("rad", "rad")}, for plots. Default: none.
        events: Changes of contacts in a simulation by events: (t, what, contact, energy lost). Default: none.
        shapes: Shape at one time of arrays with several axes, such as {"pose": (4, 4)}. Default: none.

    Raises:
        ShapeError: The shapes of the arrays do not fit each other.

    Example:
        >>> motion = robot.simulate(duration=0.01)
        >>> motion.q.shape
        (11, 7)
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        entries: Mapping[str, Sequence[str]],
        *,
        robot: str,
        method: str,
        dt: float,
        notes: Sequence[str] = (),
        units: Mapping[str, Sequence[str]] | None = None,
        events: Sequence[Sequence[Any]] = (),
        shapes: Mapping[str, Sequence[int]] | None = None,
    ):
        self.arrays = {name: x if hasattr(x, "shape") else np.asarray(x) for name, x in arrays.items()}
        names = {**ENTRIES, **entries}
        self.entries = {name: tuple(names[name]) for name in self.arrays if name in names}
        several = {name: tuple(shape) for name, shape in (shapes or {}).items() if len(shape) > 1}
        self.shapes = {name: shape for name, shape in several.items() if name in self.entries}
        self.units = {name: tuple(each) for name, each in (units or {}).items() if name in self.entries}
        self.robot, self.method, self.dt = robot, method, float(dt)
        self.notes = tuple(each if isinstance(each, Note) else Note("", each, severity="") for each in notes)
        self.batch = self._checked_batch()
        self.events = tuple(Event(*event) for event in events)
        self.tape: Any = None  # the states that ``pullback`` needs

    def _checked_batch(self) -> tuple[int, ...]:
        if "t" not in self.arrays or len(self.arrays["t"].shape) != 1:
            got = self.arrays["t"].shape if "t" in self.arrays else f"only {', '.join(self.arrays) or 'nothing'}"
            raise ShapeError("a trajectory needs its times", where="t", got=got, expected="an array of shape (T,)")
        for name, array in self.arrays.items():
            if array.dtype.kind not in "biuf":
                raise ShapeError("not real numbers", where=name, got=f"dtype {array.dtype}")
        if len(self.arrays["t"]) and not np.isfinite(self.arrays["t"][[0, -1]]).all():
            raise ShapeError("the times must be finite", where="t", got="NaN or infinity")
        for name, shape in self.shapes.items():
            if math.prod(shape) != len(self.entries[name]):
                expected = f"{math.prod(shape)} names, for shape {shape}"
                raise ShapeError("wrong number of entries", where=name, got=len(self.entries[name]), expected=expected)
        times, batch = len(self.arrays["t"]), None
        for name, array in self.arrays.items():
            if name == "t":
                continue
            ends = (times, *self.shapes.get(name, (len(self.entries[name]),))) if name in self.entries else (times,)
            lead = tuple(array.shape[: -len(ends)])
            if tuple(array.shape[-len(ends) :]) != ends or lead != (lead if batch is None else batch):
                expected = [*(["..."] if batch is None else batch), *ends]
                raise ShapeError(
                    "the shape does not fit the times, the names of the entries or the other arrays",
                    where=name,
                    got=tuple(array.shape),
                    expected=f"({', '.join(map(str, expected))})",
                    fix="" if name in self.entries else f"if it has entries, name them in entries[{name!r}]",
                )
            batch = lead
        for name, units in self.units.items():
            if len(units) != len(self.entries[name]):
                expected = f"{len(self.entries[name])} units, one per entry"
                raise ShapeError("wrong number of units", where=name, got=units, expected=expected)
        return batch or ()

    # -- the arrays ----------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        arrays = self.__dict__.get("arrays", {})  # missing while the object is unpickled
        if name in arrays:
            return arrays[name]
        raise AttributeError(f"the trajectory has no array {name!r}; it has: {', '.join(arrays)}")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.arrays:
                raise UnknownNameError("array", key, self.arrays, where="trajectory")
            return self.arrays[key]
        if not self.batch:
            raise ShapeError("a single motion has no samples to index", where="trajectory", got=f"[{key}]")
        if isinstance(key, tuple) and len(key) > len(self.batch):
            got, expected = f"{len(key)} indices", f"at most {len(self.batch)}: indices of samples"
            raise ShapeError("only batch axes can be indexed", where="trajectory", got=got, expected=expected)
        chosen = {name: array if name == "t" else array[key] for name, array in self.arrays.items()}
        return self._with(chosen)

    def _with(self, arrays: Mapping[str, Any]) -> Trajectory:
        about = {
            "robot": self.robot,
            "method": self.method,
            "dt": self.dt,
            "notes": self.notes,
            "units": self.units,
            "shapes": self.shapes,
        }
        return Trajectory(arrays, self.entries, **about)

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return self.batch[0] if self.batch else 1

    @property
    def n_samples(self) -> int:
        """Number of samples, over all batch axes."""
        return math.prod(self.batch)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.arrays]

    def __repr__(self) -> str:
        t = self.arrays["t"]
        span = f"{len(t)} times from {t[0]:g} to {t[-1]:g} s" if len(t) else "no times"
        samples = f"{' x '.join(map(str, self.batch))} samples, " if self.batch else ""
        line = f"<Trajectory of {self.robot}: {samples}{span}, {self.method}, dt {self.dt:g} s; {', '.join(self)}>"
        return "\n".join(map(printable, [line, *(f"  note: {note}" for note in self.notes)]))

    def _repr_html_(self) -> str:
        return summary.to_html(self)

    def joint(self, name: str) -> dict[str, np.ndarray]:
        """Return all arrays of one joint.

        Args:
            name: Name of the joint.

        Returns:
            {"q": ..., "v": ...}: arrays (..., T), or (..., T, n) for a joint with n dofs.

        Raises:
            UnknownNameError: No array has entries of this joint.

        Example:
            >>> motion = robot.simulate(duration=0.01)
            >>> motion.joint("panda_joint1")["q"].shape
            (11,)
        """
        arrays = {}
        for array, names in self.entries.items():
            if array in self.shapes:
                continue
            if name in names:
                arrays[array] = self.arrays[array][..., names.index(name)]
            elif within := [k for k, entry in enumerate(names) if entry.startswith(f"{name}.")]:
                arrays[array] = self.arrays[array][..., within]
        if not arrays:
            raise UnknownNameError("joint", name, set().union(*self.entries.values()), where="trajectory")
        return arrays

    # -- energy and drift ---------------------------------------------------------------------------------------

    @property
    def energy(self) -> np.ndarray:
        """Sum of kinetic and potential energy in J, (..., T)."""
        return self["kinetic_energy"] + self["potential_energy"]

    @property
    def drift(self) -> dict[str, float]:
        """Largest deviations from conserved quantities, as far as the arrays allow.

        "energy" is the change of energy less the work done on the robot in J. "loop_residual" and "loop_rates" (slip)
        are zero for satisfied constraints, "quaternion" for unit quaternions. "momentum_change" is zero only if no
        external force acts.
        """
        deviations: dict[str, Any] = {}
        if {"kinetic_energy", "potential_energy", "work"} <= self.arrays.keys():
            balance = self.energy - self["work"]
            deviations["energy"] = balance - balance[..., :1]
        deviations |= {name: self[name] for name in ("loop_residual", "loop_rates") if name in self}
        for first in self._quaternions():
            lengths = np.linalg.norm(self["q"][..., first : first + 4], axis=-1)
            deviations["quaternion"] = np.append(deviations.get("quaternion", ()), lengths - 1)
        if "momentum" in self:
            deviations["momentum_change"] = self["momentum"] - self["momentum"][..., :1, :]
        return {name: float(np.max(np.abs(x), initial=0.0)) for name, x in deviations.items()}

    def _quaternions(self) -> list[int]:
        """Indices in q at which unit quaternions begin."""
        names = self.entries.get("q", ())
        ends = ("qx", "qy", "qz", "qw")
        return [k for k in range(len(names) - 3) if tuple(name.rpartition(".")[2] for name in names[k : k + 4]) == ends]

    # -- derivatives ---------------------------------------------------------------------------------------------

    def pullback(self, **weights: Any) -> Gradient:
        """Return the gradient of a number L with respect to the initial state and all inputs of this run.

        Args:
            **weights: dL/dq of the recorded q, and so on, in the shapes of the arrays.

        Returns:
            Gradient with respect to initial state, torques, reference, gains, memory, varied parameters, wrenches and
            commands.

        Raises:
            UnsupportedError: The run kept no states; it needs ``rollout(..., checkpoint_every=1)``.
            ShapeError: Weights do not have the shape of their array.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> run = arm.rollout(np.zeros((3, 2)), np.zeros(2), dt=1e-3, steps=5, checkpoint_every=1)
            >>> run.pullback(q=np.ones_like(run.q)).v0.shape
            (3, 2)
        """
        return self._tape("pullback").pullback(weights)

    def linearised(self) -> LinearSystem:
        """Return the Jacobians of all steps, as a linear system from step to step.

        (dq, dv) after a step = A (dq, dv) + B u, where u is a change of tau during the step. dq is along the tangent
        (``coordinates.difference``). The memory of a controller follows dv. A includes the response of the controller,
        and u is added to its tau.

        Returns:
            LinearSystem with A (..., steps, n, n) and B (..., steps, n, len(tau)).

        Raises:
            UnsupportedError: The run kept no states; it needs ``rollout(..., checkpoint_every=1)``.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> run = arm.rollout(np.zeros((3, 2)), np.zeros(2), dt=1e-3, steps=5, checkpoint_every=1)
            >>> run.linearised().A.shape
            (3, 5, 4, 4)
        """
        return self._tape("linearised").linearised()

    def _tape(self, where: str) -> Tape:
        if self.tape is None:
            raise UnsupportedError(
                "this trajectory has no states from which to differentiate", where=where,
                got="a run without checkpoints, one that was stopped, a part of one, or one from a file",
                fix=f"call {where}() of the trajectory that rollout(..., checkpoint_every=1) returns",
            )  # fmt: skip
        return self.tape

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "tape": None}  # machine code cannot be pickled

    # -- output --------------------------------------------------------------------------------------------------

    def plot(
        self,
        what: str | Sequence[str] = "joints",
        *,
        joints: Sequence[str] | None = None,
        path: str | Path | None = None,
    ) -> Figure:
        """Draw the motion with Matplotlib.

        Up to 20 samples of a batch are thin lines; more are their median and a band from the 5th to the 95th
        percentile.

        Args:
            what: "joints" (positions and velocities), "torques", "commands", "contacts" (loads, and the friction they
                need), "energies", "phase" (velocity against position), the name of an array, or a list of these.
            joints: Names of the joints to draw. Default: all.
            path: File to write the figure to, as well: .png, .svg or .pdf. Default: none.

        Returns:
            The figure.

        Raises:
            UnknownNameError: ``what`` or a joint is unknown, or the array was not recorded.
            LinkworkError: There is nothing to draw, or the suffix of ``path`` is unknown.

        Example:
            >>> figure = robot.simulate(duration=0.01).plot("energies", path="energies.png")
        """
        return plots.plot(self, [what] if isinstance(what, str) else list(what), joints, path)

    def save(self, path: str | Path) -> None:
        """Write the trajectory to a file, which ``Trajectory.load`` reads.

        Args:
            path: File name; its suffix is the format: ``.npz``, ``.csv`` or ``.parquet``.

        Raises:
            LinkworkError: The suffix is unknown, or the file cannot be written.

        Example:
            >>> robot.simulate(duration=0.01).save("motion.npz")
        """
        storage.save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """Read a trajectory from a file or a folder.

        Args:
            path: File that ``save`` wrote, or folder that ``rollout(to=...)`` streamed into.

        Returns:
            The trajectory; arrays of a folder stay on disk.

        Raises:
            LinkworkError: The file cannot be read, or is no trajectory.

        Example:
            >>> robot.simulate(duration=0.01).save("motion.npz")
            >>> linkwork.Trajectory.load("motion.npz").q.shape
            (11, 7)
        """
        return storage.load(Path(path), cls)

    def to_pandas(self) -> DataFrame:
        """Convert to a pandas DataFrame.

        Returns:
            A row for each time (and sample), columns such as ``q.elbow``.

        Example:
            >>> robot.simulate(duration=0.01).to_pandas()["q.panda_joint1"].shape
            (11,)
        """
        return storage.to_pandas(self)

    def to_xarray(self) -> Dataset:
        """Convert to an xarray Dataset.

        Returns:
            A variable for each array, with times and names of the entries as coordinates.

        Example:
            >>> dict(robot.simulate(duration=0.01).to_xarray().q.sizes)
            {'t': 11, 'joint': 7}
        """
        return storage.to_xarray(self)
