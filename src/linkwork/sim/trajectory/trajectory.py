"""A motion, or a batch of motions, as named arrays over time."""

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
ENTRIES = {  # of arrays that are the same for every robot
    "momentum": tuple(f"{kind}.{axis}" for kind in ("linear", "angular") for axis in _XYZ),
    "center_of_mass": _XYZ,
}


class Event(NamedTuple):
    """``what``: touchdown, lift-off, slip, glide (without friction) or stick, of a ``contact`` by name (or
    ``NAME.k``, a corner of a sole). ``lost``: energy in J that an impact took."""

    t: float
    what: str
    contact: str
    lost: float = 0.0

    def __str__(self) -> str:
        return f"{self.contact} {self.what} at t = {self.t:.6g} s" + (f", {self.lost:.3g} J lost" if self.lost else "")


class Trajectory:
    """Named arrays over time: ``trajectory.q`` or ``trajectory["q"]``, beside ``t``.

    ``arrays``: "t" of shape (T,); those named in ``entries`` are (..., T, n), the others (..., T), all with the same
    leading axes, ``batch``. ``entries``: the names along the last axis, {"q": ("shoulder", "elbow")}. ``units``: their
    units, {"q": ("rad", "rad")}, for the plots. ``notes``: what one must know to read the numbers,
    strings with ``code``, ``severity``, ``values`` and ``fix`` (of a file the strings alone).
    ``trajectory[i]`` is a sample of a batch, ``trajectory[2:5]`` some; ``len(trajectory)`` counts the samples along the
    first axis, 1 for a single motion. Iterating gives the arrays' names. ``events``: contacts that touch down, lift
    off, slip and stick in a simulation by events.
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
    ):
        self.arrays = {name: x if hasattr(x, "shape") else np.asarray(x) for name, x in arrays.items()}
        known = {**ENTRIES, **entries}
        self.entries = {name: tuple(known[name]) for name in self.arrays if name in known}
        self.units = {name: tuple(names) for name, names in (units or {}).items() if name in self.entries}
        self.robot, self.method, self.dt = robot, method, float(dt)
        known_notes = (each if isinstance(each, Note) else Note("", each, severity="") for each in notes)
        self.notes: tuple[Note, ...] = tuple(known_notes)
        self.batch = self._checked_batch()
        self.events = tuple(Event(*event) for event in events)
        self.tape: Any = None  # the way back, see ``pullback``

    def _checked_batch(self) -> tuple[int, ...]:
        if "t" not in self.arrays or len(self.arrays["t"].shape) != 1:
            got = self.arrays["t"].shape if "t" in self.arrays else f"only {', '.join(self.arrays) or 'nothing'}"
            raise ShapeError("a trajectory needs its times", where="t", got=got, expected="an array of shape (T,)")
        for name, array in self.arrays.items():
            if array.dtype.kind not in "biuf":
                raise ShapeError("these are not real numbers", where=name, got=f"dtype {array.dtype}")
        if len(self.arrays["t"]) and not np.isfinite(self.arrays["t"][[0, -1]]).all():
            raise ShapeError("the times must be finite", where="t", got="NaN or infinity")
        times, batch = len(self.arrays["t"]), None
        for name, array in self.arrays.items():
            if name == "t":
                continue
            ends = (times, len(self.entries[name])) if name in self.entries else (times,)
            lead = tuple(array.shape[: -len(ends)])
            if tuple(array.shape[-len(ends) :]) != ends or lead != (lead if batch is None else batch):
                expected = [*(["..."] if batch is None else batch), *ends]
                raise ShapeError(
                    "the shape does not fit the times, the names of the entries or the other arrays",
                    where=name,
                    got=tuple(array.shape),
                    expected=f"({', '.join(map(str, expected))})",
                    fix="" if name in self.entries else f"name the entries if there are any: entries[{name!r}]",
                )
            batch = lead
        for name, units in self.units.items():
            if len(units) != len(self.entries[name]):
                raise ShapeError(
                    "one unit per entry", where=name, got=units, expected=f"{len(self.entries[name])} units"
                )
        return batch or ()

    # -- the arrays ----------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        arrays = self.__dict__.get("arrays", {})  # not there yet while being unpickled
        if name in arrays:
            return arrays[name]
        raise AttributeError(f"a trajectory has no {name!r}; the arrays of this one: {', '.join(arrays)}")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.arrays:
                raise UnknownNameError("array", key, self.arrays, where="trajectory")
            return self.arrays[key]
        if not self.batch:
            raise ShapeError("a single motion has no samples to choose from", where="trajectory", got=f"[{key}]")
        if isinstance(key, tuple) and len(key) > len(self.batch):
            got, expected = f"{len(key)} indices", f"at most {len(self.batch)}, of samples"
            raise ShapeError("samples are chosen by the batch axes", where="trajectory", got=got, expected=expected)
        chosen = {name: array if name == "t" else array[key] for name, array in self.arrays.items()}
        return self._with(chosen)

    def _with(self, arrays: Mapping[str, Any]) -> Trajectory:
        about = {"robot": self.robot, "method": self.method, "dt": self.dt, "notes": self.notes, "units": self.units}
        return Trajectory(arrays, self.entries, **about)

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return self.batch[0] if self.batch else 1

    @property
    def n_samples(self) -> int:
        """Along all batch axes together."""
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
        """All there is of one joint, {"q": ..., "v": ...}, each (..., T); of several freedoms (..., T, n)."""
        found = {}
        for array, names in self.entries.items():
            if name in names:
                found[array] = self.arrays[array][..., names.index(name)]
            elif within := [k for k, entry in enumerate(names) if entry.startswith(f"{name}.")]:
                found[array] = self.arrays[array][..., within]
        if not found:
            raise UnknownNameError("joint", name, set().union(*self.entries.values()), where="trajectory")
        return found

    # -- what is kept, or should be ------------------------------------------------------------------------------

    @property
    def energy(self) -> np.ndarray:
        """Kinetic and potential energy together."""
        return self["kinetic_energy"] + self["potential_energy"]

    @property
    def drift(self) -> dict[str, float]:
        """The largest deviations from what the motion should keep, as far as the arrays tell: "energy" after the work
        done on the robot, "loop_residual", "loop_rates" (of slipping), "quaternion" of all there are from unit length;
        and "momentum_change", zero only where nothing outside acts."""
        found: dict[str, Any] = {}
        if {"kinetic_energy", "potential_energy", "work"} <= self.arrays.keys():
            balance = self.energy - self["work"]
            found["energy"] = balance - balance[..., :1]
        found |= {name: self[name] for name in ("loop_residual", "loop_rates") if name in self}
        for first in self._quaternions():
            lengths = np.linalg.norm(self["q"][..., first : first + 4], axis=-1)
            found["quaternion"] = np.append(found.get("quaternion", ()), lengths - 1)
        if "momentum" in self:
            found["momentum_change"] = self["momentum"] - self["momentum"][..., :1, :]
        return {name: float(np.max(np.abs(x), initial=0.0)) for name, x in found.items()}

    def _quaternions(self) -> list[int]:
        """Where in q the four entries of each unit quaternion begin."""
        names = self.entries.get("q", ())
        ends = ("qx", "qy", "qz", "qw")
        return [k for k in range(len(names) - 3) if tuple(name.rpartition(".")[2] for name in names[k : k + 4]) == ends]

    # -- derivatives ---------------------------------------------------------------------------------------------

    def pullback(self, **weights: Any) -> Gradient:
        """The gradient of a number L by all that this run was given: initial state, torques, reference, gains, memory,
        varied parameters, wrenches. ``weights``: dL/dq of the recorded q, and so on, in the shapes of the arrays.

        The run must have kept states: ``rollout(..., checkpoint_every=1)``.
        """
        return self._tape("pullback").pullback(weights)

    def linearised(self) -> LinearSystem:
        """How each step depends on the state before it: A (..., steps, n, n) and B (..., steps, n, len(tau)), where
        (dq, dv) after a step = A (dq, dv) + B u, and u is a change of tau during the step. dq is along the tangent, as
        ``coordinates.difference`` has it. The memory of a controller stands behind dv. A has what the controller does
        about it, and u acts beside its tau.

        The run must have kept states: ``rollout(..., checkpoint_every=1)``.
        """
        return self._tape("linearised").linearised()

    def _tape(self, where: str) -> Tape:
        if self.tape is None:
            raise UnsupportedError(
                "this trajectory does not know how it came about", where=where,
                got="no states kept, a run cut short, a part of one, or one read from a file",
                fix=f"rollout(..., checkpoint_every=1), and {where}() of what it gives",
            )  # fmt: skip
        return self.tape

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "tape": None}  # it holds machine code

    # -- out of here ---------------------------------------------------------------------------------------------

    def plot(
        self,
        what: str | Sequence[str] = "joints",
        *,
        joints: Sequence[str] | None = None,
        path: str | Path | None = None,
    ) -> Figure:
        """A matplotlib Figure of "joints" (positions and velocities), "torques", "commands", "contacts" (loads,
        and the friction they need), "energies", "phase" (velocity against position), or a list of
        these. ``joints``: only those. ``path``: also write it there (png, svg, pdf). Few samples of a batch are thin
        lines; many are their median with a band from the 5th to the 95th percentile."""
        return plots.plot(self, [what] if isinstance(what, str) else list(what), joints, path)

    def save(self, path: str | Path) -> None:
        """Write to ``path``, by its suffix: ``.npz``, ``.csv`` or ``.parquet``. ``Trajectory.load`` gives all back."""
        storage.save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """From a file that ``save`` wrote, or a folder that ``rollout(to=...)`` streamed into."""
        return storage.load(Path(path), cls)

    def to_pandas(self) -> DataFrame:
        """A pandas DataFrame: a row per time (and sample), columns such as ``q.elbow``."""
        return storage.to_pandas(self)

    def to_xarray(self) -> Dataset:
        """An xarray Dataset, with times and the names of the entries as coordinates."""
        return storage.to_xarray(self)
