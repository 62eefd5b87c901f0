"""Log: what was measured of a robot in motion, and what was done to it since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Point
from ...errors import LinkworkError, ShapeError, UnknownNameError
from ...notebook import facts_html
from ...quoting import unprintable
from . import filters, joint_order, read_log, write_log
from .filters import Band
from .sample_times import ROUNDED, require_increasing, spacing
from .signals import blocks, settling
from .table_files import from_frame, read_table

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...robot import Robot
    from ...sim import Trajectory

FEWEST = 2
HUGE = 1e100  # nobody measured so much


@dataclass(frozen=True, eq=False)
class Log:
    """Samples of a motion, in SI units: times ``t`` (N,), positions ``q`` (N, nq), joint forces ``tau`` (N, n), and if
    they were measured, velocities ``v`` and accelerations ``a``.

    ``joints``: names of the columns of q; ``rates``: of v and a, and ``forces``: of tau, where they are not the same.
    Without names the columns are in the robot's order. ``reference``: what was commanded, a Point of arrays (N, n).
    ``wrenches``: frame -> (N, 6), force and moment that act on it, in its axes. ``keep``: which samples count, all if
    not said; the others are there for the filters. ``band``: see ``banded``. ``passed``: the cutoff in Hz of the low
    pass that ``smoothed`` has put q through. ``noise``: {"q": , "v": , "a": }, standard deviations of the white noise
    of what was recorded, a number or one for each column; by default estimated from q and v. ``differentiated``: which
    of v and a were not measured, but made of q or v. ``notes``: what was done.
    """

    t: Any
    q: Any
    tau: Any
    v: Any = None
    a: Any = None
    joints: Sequence[str] = field(default=(), kw_only=True)
    rates: Sequence[str] = field(default=(), kw_only=True)
    forces: Sequence[str] = field(default=(), kw_only=True)
    reference: Point | None = field(default=None, kw_only=True)
    wrenches: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    keep: Any = field(default=None, kw_only=True)
    band: Band | None = field(default=None, kw_only=True)
    passed: float | None = field(default=None, kw_only=True)
    noise: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    differentiated: Sequence[str] = field(default=(), kw_only=True)
    notes: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self):
        times = _numbers(self.t, "t", 1)
        count = len(times)
        if count < FEWEST:
            raise ShapeError("too few samples", where="log", got=count, expected=f"at least {FEWEST}")
        require_increasing(times, lambda k: f"sample {k}")
        set_ = object.__setattr__
        set_(self, "t", times)
        for kind in ("q", "tau", "v", "a"):
            if (value := getattr(self, kind)) is not None or kind in ("q", "tau"):
                set_(self, kind, _numbers(value, kind, 2, count))
        self._set_names()
        if self.reference is not None:
            given = zip("qva", Point(*self.reference), strict=True)
            parts = [None if x is None else _numbers(x, f"reference.{kind}", 2, count) for kind, x in given]
            set_(self, "reference", Point(*parts))
        wrenches = {str(frame): _numbers(x, f"wrench on {frame!r}", 2, count) for frame, x in self.wrenches.items()}
        for frame, array in wrenches.items():
            if array.shape[1] != 6:
                expected = "(N, 6): force, moment"
                raise ShapeError("wrong shape", where=f"wrench on {frame!r}", got=array.shape, expected=expected)
        _require_printable(wrenches, "wrenches")
        set_(self, "wrenches", wrenches)
        if self.keep is not None:
            keep = np.asarray(self.keep)
            if keep.dtype != bool or keep.shape != (count,):
                got = f"{keep.dtype} {keep.shape}"
                raise ShapeError("wrong mask", where="keep", got=got, expected=f"bool ({count},)")
            set_(self, "keep", keep)
        if self.band is not None:
            settling(self.rate, self.band.cutoff, self.band.order)  # says what cannot be
        set_(self, "noise", {kind: self._deviations(kind, x) for kind, x in self.noise.items() if self._has(kind)})
        if wrong := {*self.differentiated} - {"v", "a"}:
            raise UnknownNameError("kind of column", str(min(wrong)), ("v", "a"), where="differentiated")
        set_(self, "notes", tuple(map(str, self.notes)))

    def _has(self, kind: str) -> bool:
        if kind not in ("q", "v", "a"):
            raise UnknownNameError("kind of column", str(kind), ("q", "v", "a"), where="noise")
        return getattr(self, kind) is not None

    def _deviations(self, kind: str, size: Any) -> np.ndarray:
        """One for each column."""
        columns = getattr(self, kind).shape[1:]
        try:
            sizes = np.broadcast_to(np.asarray(size, float), columns)
        except (TypeError, ValueError, OverflowError):
            sizes = None
        if sizes is None or not ((sizes >= 0) & (sizes < HUGE)).all():
            expected = f"a standard deviation, or {columns[0]} of them, none below zero"
            raise ShapeError("no standard deviation", where=f"noise, {kind}", got=repr(size)[:80], expected=expected)
        return sizes

    def _set_names(self) -> None:
        widths = {"joints": self.q.shape[1], "forces": self.tau.shape[1]}
        rates = self.v if self.v is not None else self.a
        if self.v is not None and self.a is not None and self.v.shape != self.a.shape:
            raise ShapeError("v and a differ", where="a", got=self.a.shape, expected=str(self.v.shape))
        if rates is not None:
            widths["rates"] = rates.shape[1]
        for kind in ("joints", "rates", "forces"):
            given = getattr(self, kind)
            names = (given,) if isinstance(given, str) else tuple(map(str, given))
            width = widths.get(kind, len(names))
            if not names and kind != "joints" and len(self.joints) == width:
                names = tuple(self.joints)
            _require_printable(names, kind)
            if names and (len(names) != width or len({*names}) != width):
                expected = f"{width} different names, one for each column"
                raise ShapeError("the names do not fit", where=kind, got=", ".join(names), expected=expected)
            object.__setattr__(self, kind, names)

    # -- where it comes from -----------------------------------------------------------------------------------------

    @classmethod
    def read(
        cls,
        path: str | Path | Mapping[str, str | Path],
        *,
        t: Any = "t",
        q: Any = None,
        v: Any = None,
        a: Any = None,
        tau: Any = None,
        reference: Mapping[str, Any] | None = None,
        wrenches: Mapping[str, Any] | None = None,
        units: Mapping[str, Any] | None = None,
        gains: Any = None,
        joints: Sequence[str] | None = None,
        rate: float | None = None,
        decimal: str | None = None,
    ) -> Log:
        """From a file: .csv (comma, semicolon, tab or spaces; also .csv.gz), .npz or .parquet. What linkwork wrote
        needs no options. ``path`` may also be one file for each of q, v, a, tau, {"q": ..., "tau": ...}.

        ``t``, ``q``, ``v``, ``a``, ``tau``: columns, by a list of names or of numbers from 0, a slice, or how the names
        begin: "q" for q1, q2 or q.elbow. Numbers in names are the order of the joints, whatever that of the file; they
        begin with 0 or 1, and each is there once. ``reference``: {"q": columns, ...}; ``wrenches``: {frame: six
        columns}. ``units``: {"q": "deg", "v": "deg/s", "tau": "mN m"}, SI by default; also one for each column.
        ``gains``: of each joint, from what was recorded to its force, such as N m/A. ``joints``: names of the columns
        of q. ``rate``: samples per second, where there is no column of times. ``decimal``: "," or ".", the mark before
        the decimals of numbers in text; by default it is found out, and 1,234 refused if nothing else says what it is.
        """
        options = {name: value for name, value in locals().items() if name not in ("cls", "path", "decimal")}
        paths = path if isinstance(path, Mapping) else {"": path}
        for kind in paths:
            if kind not in ("", "t", "q", "v", "a", "tau"):
                raise UnknownNameError("kind of column", str(kind), ("t", "q", "v", "a", "tau"), where="path")
        return cls._of_tables({kind: read_table(each, decimal) for kind, each in paths.items()}, options)

    @classmethod
    def from_frame(cls, frame: DataFrame, **options: Any) -> Log:
        """From a pandas DataFrame, with the options of ``read`` that are not for text; its index may hold the times, if
        it is called so."""
        known = {"t": "t"} | dict.fromkeys(("q", "v", "a", "tau", "reference", "wrenches"))
        known |= dict.fromkeys(("units", "gains", "joints", "rate"))
        if wrong := {*options} - {*known}:
            raise TypeError(f"from_frame has no option {sorted(wrong)[0]!r}")
        return cls._of_tables({"": from_frame(frame)}, {**known, **options})

    @classmethod
    def _of_tables(cls, tables: Mapping[str, Any], options: Mapping[str, Any]) -> Log:
        found = read_log.arguments(tables, options)
        try:
            return cls(**found)
        except LinkworkError as error:
            where = next(iter(tables.values())).where
            told = {"got": error.got, "expected": error.expected, "fix": error.fix}
            first = str(error).partition("\n")[0]
            raise type(error)(first, where=where, **told) from error

    @classmethod
    def from_trajectory(cls, trajectory: Trajectory) -> Log:
        """From a simulated motion, that has tau: one of ``simulate``, or a sample of a ``rollout``."""
        if trajectory.batch:
            got, fix = f"batch {trajectory.batch}", "take one of them: Log.from_trajectory(trajectory[0])"
            raise ShapeError("a log is of one motion", where="trajectory", got=got, fix=fix)
        if missing := [name for name in ("q", "tau") if name not in trajectory]:
            fix = 'rollout(..., outputs=("q", "v", "a", "tau"))'
            got = ", ".join(trajectory)
            raise LinkworkError(f"the trajectory has no {missing[0]}", where="trajectory", got=got, fix=fix)
        arrays = {name: np.asarray(trajectory[name], float) for name in ("q", "v", "a", "tau") if name in trajectory}
        entries = trajectory.entries
        names = {"joints": entries["q"], "rates": entries.get("v") or entries.get("a") or ()}
        note = f"simulated: {trajectory.robot}, {trajectory.method}, steps of {trajectory.dt:g} s"
        return cls(t=trajectory.t, **arrays, **names, forces=entries["tau"], notes=(note,))

    # -- what it is --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.t)

    @property
    def rate(self) -> float:
        """Samples per second, on average."""
        return (len(self) - 1) / self.duration

    @property
    def duration(self) -> float:
        """From the first to the last sample, in seconds."""
        return float(self.t[-1] - self.t[0])

    @property
    def measured(self) -> tuple[str, ...]:
        """Which of q, v, a, tau, reference and wrenches there are."""
        there = [kind for kind in ("q", "v", "a", "tau", "reference") if getattr(self, kind) is not None]
        return (*there, *(f"wrench on {frame}" for frame in self.wrenches))

    def __repr__(self) -> str:
        rows = self._rows()
        head = f"<Log of {rows['samples']}, {rows['rate']}, {rows['duration']}; {rows['has']}; {rows['joints']}>"
        return "\n".join([head, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return facts_html("Log", self._rows(), self.notes)

    def _rows(self) -> dict[str, str]:
        counted = "" if self.keep is None else f", of which {int(np.sum(self.keep))} count"
        even = spacing(self.t).jitter <= ROUNDED
        return {
            "samples": f"{len(self)} samples{counted}",
            "rate": f"{self.rate:.6g} Hz" + ("" if even else ", uneven"),
            "duration": f"{self.duration:.6g} s",
            "joints": ", ".join(self.joints) or f"{self.q.shape[1]} joints in the robot's order",
            "has": ", ".join(self.measured),
        }

    # -- parts of it -------------------------------------------------------------------------------------------------

    def __getitem__(self, rows: slice) -> Log:
        """Samples in a row: ``log[100:2000]``."""
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise ShapeError("a log gives slices", where="log", got=rows, fix="log[100:2000], log.decimated(n)")
        begin, end, _ = rows.indices(len(self))
        note = f"samples {begin} to {end - 1} of {len(self)} taken"
        keep = None if self.keep is None else self.keep[rows]
        return filters.mapped(self, lambda x: x[rows], note, t=self.t[rows], keep=keep)

    def between(self, start: float | None = None, end: float | None = None) -> Log:
        """Samples from a time to another one, both as in ``t``; from the first or to the last if not said."""
        low = 0 if start is None else int(np.searchsorted(self.t, start, "left"))
        high = len(self) if end is None else int(np.searchsorted(self.t, end, "right"))
        if high - low < FEWEST:
            got, expected = f"{start} to {end}", f"within {self.t[0]:g} to {self.t[-1]:g} s"
            raise LinkworkError("too few samples between these times", where="log", got=got, expected=expected)
        return self[low:high]

    def split(self, share: float = 0.75) -> tuple[Log, Log]:
        """The first ``share`` of the samples that count, to fit, and the others, to try the fit on."""
        if not 0 < share < 1:
            raise ShapeError("this is no share", where="share", got=share, expected="between 0 and 1")
        counting = np.arange(len(self)) if self.keep is None else np.flatnonzero(self.keep)
        at = round(share * len(counting))
        if not FEWEST <= at <= len(counting) - FEWEST:
            raise LinkworkError("too few samples to split", where="log", got=f"{len(counting)} that count")
        return self[: int(counting[at])], self[int(counting[at]) :]

    # -- what is done to it --------------------------------------------------------------------------------------------

    def resampled(self, rate: float | None = None) -> Log:
        """On an even grid of times, by cubic splines; what a lower rate cannot hold is filtered out before. ``rate``:
        samples per second, about as many as there were if not said. Samples in wide gaps do not count."""
        return filters.resampled(self, rate)

    def smoothed(self, cutoff: float | None = None, order: int = 4, derivatives: str = "central") -> Log:
        """q, v and a through a low pass without delay (Butterworth, forwards and backwards), and derivatives for what
        was not measured: "central" differences of what is filtered, or those of a "cubic" fitted around each sample.

        ``cutoff``: in Hz; if not said, where the spectrum of q sinks into its noise. Uneven times are resampled.
        tau and the reference stay: see ``banded``.
        """
        return filters.smoothed(self, cutoff, order, derivatives)

    def banded(self, cutoff: float | None = None, order: int = 4, decimate: int | None = None) -> Log:
        """Regressor and joint forces shall both go through this low pass, when equations are made of the log, and every
        ``decimate``-th sample of them is taken: as the cutoff allows, if not said. The log's arrays stay. ``cutoff``:
        in Hz; that of ``smoothed``, if not said, or chosen as it does."""
        return filters.banded(self, cutoff, order, decimate)

    def decimated(self, count: int) -> Log:
        """Every ``count``-th sample, after a low pass without delay at 0.8 of what the new rate can hold."""
        return filters.decimated(self, count)

    def without_standstill(self, share: float = filters.SHARE_AT_REST, duration: float = filters.DURATION) -> Log:
        """Samples do not count while all joints are slower than a ``share`` of their own highest velocity, for at least
        a ``duration`` in seconds."""
        return filters.without_standstill(self, share, duration)

    def noisy(
        self, rng: np.random.Generator | int | None = None, *, q: Any = 0.0, v: Any = 0.0, a: Any = 0.0, tau: Any = 0.0
    ) -> Log:
        """With independent normal noise of these standard deviations, a number or one for each column; for trials."""
        return filters.noisy(self, np.random.default_rng(rng), {"q": q, "v": v, "a": a, "tau": tau})

    # -- of a robot ----------------------------------------------------------------------------------------------------

    def from_drives(self, robot: Robot) -> Log:
        """Of the joints, from a log of the motors of transmissions: T q = q_motors, tau = T^T tau_motors, with T the
        ``robot.transmission``. Columns are by ``robot.drive_names``, or in their order if they have no names."""
        return joint_order.from_drives(self, robot)

    def for_robot(self, robot: Robot) -> Log:
        """Columns by name in the order of the robot: q of all joints, v and a of the independent ones, tau as
        ``inverse_dynamics`` gives it.

        Where loops are closed and not all joints were measured, the others are found by ``assemble``. Velocities and
        accelerations that were not measured are differentiated.
        """
        return joint_order.for_robot(self, robot)

    def save(self, path: str | Path) -> None:
        """Write to ``path``, by its suffix: .csv, .npz or .parquet. ``Log.read`` gives all back."""
        write_log.save(self, Path(path))


def _require_printable(names: Iterable[str], where: str) -> None:
    for name in names:
        if bad := unprintable(name):
            message, fix = f"a name holds the character {bad}, which cannot be printed", "rename the column"
            raise LinkworkError(message, where=f"log, {where}", got=repr(name), fix=fix)


def _numbers(value: Any, where: str, axes: int, count: int | None = None) -> np.ndarray:
    """Finite doubles; the array itself, if it is one of them."""
    try:
        array = value if isinstance(value, np.ndarray) else np.asarray(value)
    except ValueError as error:
        raise ShapeError("this is not a rectangular array", where=where, got=error) from error
    if array.dtype.kind not in "biuf":
        raise ShapeError("these are not real numbers", where=where, got=f"dtype {array.dtype}")
    if array.ndim != axes or (count is not None and len(array) != count):
        expected = "(N,)" if axes == 1 else f"({count}, columns): a row for each of the times"
        raise ShapeError("wrong shape", where=where, got=array.shape, expected=expected)
    array = array if array.dtype == np.float64 else array.astype(float)
    for begin, end in blocks(len(array), array.shape[1] if axes == 2 else 1):
        part = array[begin:end]
        if part.size and not (part.min() > -HUGE and part.max() < HUGE):  # NaN is neither
            row, *column = (int(k) for k in np.argwhere(~(np.abs(part) < HUGE))[0])
            at = f"sample {begin + row}" + "".join(f", column {k}" for k in column)
            raise LinkworkError(
                "a value is not finite", where=f"{where}, {at}", got=array[(begin + row, *column)],
                fix="cut such samples at the ends of the recording; inside of it, take the part without them",
            )  # fmt: skip
    return array
