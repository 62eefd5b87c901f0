"""Log: a recording of a robot in motion, and what was done to it since."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Point
from ...errors import LinkworkError, ShapeError, UnknownNameError
from ...notebook import facts_html
from ...quoting import unprintable
from . import filters, joint_order, log_files
from .filters import Band
from .sample_times import ROUNDED, require_increasing, spacing
from .signals import blocks, settling
from .table_files import from_frame, read_table

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...robot import Robot
    from ...sim import Trajectory

FEWEST = 2
HUGE = 1e100  # larger than any measurement


@dataclass(frozen=True, eq=False)
class Log:
    """A recording of a robot in motion, in SI units.

    Columns without names are in the robot's order. Methods return new logs, and add a note of what they did.

    Attributes:
        t: Times in s, increasing, (N,).
        q: Positions in rad (m), (N, nq).
        tau: Joint forces in N m (N), (N, n).
        v: Velocities in rad/s (m/s), (N, nv). Default: differentiated when needed.
        a: Accelerations in rad/s^2 (m/s^2), (N, nv). Default: differentiated when needed.
        joints: Names of the columns of q. Default: the robot's order.
        rates: Names of the columns of v and a. Default: ``joints``, if there are as many.
        forces: Names of the columns of tau. Default: ``joints``, if there are as many.
        reference: Commanded motion, a ``linkwork.control.Point`` of arrays (N, n). Default: none.
        wrenches: Force and moment (N, 6) on frames, by frame and in its axes, in N and N m. Default: none.
        keep: Mask (N,) of the samples that count; the others only serve the filters. Default: all.
        band: Low pass for regressor and forces, see ``banded``. Default: none.
        passed: Cutoff in Hz of the low pass that ``smoothed`` has put q through. Default: none.
        noise: Standard deviations {"q": , "v": , "a": } of the recorded white noise, a number or one for each column.
            Default: estimated from q and v.
        differentiated: Which of v and a were computed by differentiation, not measured. Default: none.
        notes: What was done to the recording, as text. Default: none.

    Raises:
        ShapeError: If shapes or names do not fit.
        LinkworkError: If values are not finite or times do not increase.

    Example:
        >>> t = np.linspace(0, 1, 101)
        >>> log = linkwork.identify.Log(t, np.sin(t)[:, None], np.cos(t)[:, None], joints=["elbow"])
        >>> log.rate, log.measured
        (100.0, ('q', 'tau'))
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
            vectors = zip("qva", Point(*self.reference), strict=True)
            parts = [None if x is None else _numbers(x, f"reference.{kind}", 2, count) for kind, x in vectors]
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
            settling(self.rate, self.band.cutoff, self.band.order)  # raises where the band is impossible
        set_(self, "noise", {kind: self._deviations(kind, x) for kind, x in self.noise.items() if self._has(kind)})
        if wrong := {*self.differentiated} - {"v", "a"}:
            raise UnknownNameError("kind of column", str(min(wrong)), ("v", "a"), where="differentiated")
        set_(self, "notes", tuple(map(str, self.notes)))

    def _has(self, kind: str) -> bool:
        if kind not in ("q", "v", "a"):
            raise UnknownNameError("kind of column", str(kind), ("q", "v", "a"), where="noise")
        return getattr(self, kind) is not None

    def _deviations(self, kind: str, size: Any) -> np.ndarray:
        """Return one standard deviation for each column."""
        columns = getattr(self, kind).shape[1:]
        try:
            sizes = np.broadcast_to(np.asarray(size, float), columns)
        except (TypeError, ValueError, OverflowError):
            sizes = None
        if sizes is None or not ((sizes >= 0) & (sizes < HUGE)).all():
            expected = f"a standard deviation, or {columns[0]} of them, none below zero"
            raise ShapeError(
                "this is not a standard deviation", where=f"noise, {kind}", got=repr(size)[:80], expected=expected
            )
        return sizes

    def _set_names(self) -> None:
        widths = {"joints": self.q.shape[1], "forces": self.tau.shape[1]}
        rates = self.v if self.v is not None else self.a
        if self.v is not None and self.a is not None and self.v.shape != self.a.shape:
            raise ShapeError("v and a have different shapes", where="a", got=self.a.shape, expected=str(self.v.shape))
        if rates is not None:
            widths["rates"] = rates.shape[1]
        for kind in ("joints", "rates", "forces"):
            value = getattr(self, kind)
            names = (value,) if isinstance(value, str) else tuple(map(str, value))
            width = widths.get(kind, len(names))
            if not names and kind != "joints" and len(self.joints) == width:
                names = tuple(self.joints)
            _require_printable(names, kind)
            if names and (len(names) != width or len({*names}) != width):
                expected = f"{width} different names, one for each column"
                raise ShapeError("the names do not fit", where=kind, got=", ".join(names), expected=expected)
            object.__setattr__(self, kind, names)

    # -- sources -----------------------------------------------------------------------------------------------------

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
        """Read a log from a file: .csv (comma, semicolon, tab or spaces; also .csv.gz), .npz or .parquet.

        Files that linkwork wrote need no options. Columns are a list of names or of numbers from 0, a slice, or a
        prefix of names: "q" for q1, q2 or q.elbow. Numbers in names give the order of the joints, whatever the order in
        the file; they begin with 0 or 1, each occurs once.

        Args:
            path: The file; or one file for each of t, q, v, a and tau, {"q": ..., "tau": ...}.
            t: Column of times. Default: "t", or another common name.
            q: Columns of positions. Default: those with common names, such as q1 or position.
            v: Columns of velocities. Default: as for q.
            a: Columns of accelerations. Default: as for q.
            tau: Columns of joint forces. Default: as for q.
            reference: Columns of the commanded motion, {"q": columns, ...}. Default: none.
            wrenches: Six columns for each frame, {frame: columns}. Default: none.
            units: Units {"q": "deg", "v": "deg/s", "tau": "mN m"}; also one for each column. Default: SI.
            gains: Factor from what was recorded to the force of each joint, such as N m/A. Default: 1.
            joints: Names of the columns of q. Default: as in the file.
            rate: Samples per second, if there is no column of times. Default: none.
            decimal: Decimal mark in text, "," or ".". Default: detected; 1,234 alone is an error.

        Returns:
            The log.

        Raises:
            LinkworkError: If the file cannot be read, or columns are missing or ambiguous.

        Example:
            >>> rows = np.column_stack([np.arange(100) / 100, np.zeros(100), np.ones(100)])
            >>> np.savetxt("log.csv", rows, delimiter=",", header="t,q1,tau1", comments="")
            >>> linkwork.identify.Log.read("log.csv").rate
            100.0
        """
        options = {name: value for name, value in locals().items() if name not in ("cls", "path", "decimal")}
        paths = path if isinstance(path, Mapping) else {"": path}
        for kind in paths:
            if kind not in ("", "t", "q", "v", "a", "tau"):
                raise UnknownNameError("kind of column", str(kind), ("t", "q", "v", "a", "tau"), where="path")
        return cls._of_tables({kind: read_table(each, decimal) for kind, each in paths.items()}, options)

    @classmethod
    def from_frame(cls, frame: DataFrame, **options: Any) -> Log:
        """Return a log from a pandas DataFrame.

        Args:
            frame: The data; its index may hold the times, if its name says so.
            options: The options of ``read``, except ``decimal``.

        Returns:
            The log.

        Raises:
            LinkworkError: If columns are missing or ambiguous.

        Example:
            >>> import pandas
            >>> frame = pandas.DataFrame({"t": [0.0, 0.1, 0.2], "q1": [0.0, 0.1, 0.3], "tau1": [1.0, 1.0, 1.0]})
            >>> len(linkwork.identify.Log.from_frame(frame))
            3
        """
        defaults = {name: each.default for name, each in inspect.signature(cls.read).parameters.items()}
        del defaults["path"], defaults["decimal"]
        if wrong := {*options} - {*defaults}:
            raise TypeError(f"from_frame has no option {min(wrong)!r}")
        return cls._of_tables({"": from_frame(frame)}, {**defaults, **options})

    @classmethod
    def _of_tables(cls, tables: Mapping[str, Any], options: Mapping[str, Any]) -> Log:
        arguments = log_files.arguments(tables, options)
        try:
            return cls(**arguments)
        except LinkworkError as error:
            where = next(iter(tables.values())).where
            rest = {"got": error.got, "expected": error.expected, "fix": error.fix}
            message = str(error).partition("\n")[0]
            raise type(error)(message, where=where, **rest) from error

    @classmethod
    def from_trajectory(cls, trajectory: Trajectory) -> Log:
        """Return a log of a simulated motion.

        Args:
            trajectory: A result of ``simulate`` or a sample of a ``rollout`` that has q and tau.

        Returns:
            The log.

        Raises:
            LinkworkError: If the trajectory is a batch, or has no q or tau.

        Example:
            >>> trajectory = linkwork.load("planar2r").simulate(duration=0.1)
            >>> len(linkwork.identify.Log.from_trajectory(trajectory))
            101
        """
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

    # -- properties --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.t)

    @property
    def rate(self) -> float:
        """Samples per second, on average."""
        return (len(self) - 1) / self.duration

    @property
    def duration(self) -> float:
        """Time from the first to the last sample in s."""
        return float(self.t[-1] - self.t[0])

    @property
    def measured(self) -> tuple[str, ...]:
        """Which of q, v, a, tau, reference and wrenches there are."""
        kinds = [kind for kind in ("q", "v", "a", "tau", "reference") if getattr(self, kind) is not None]
        return (*kinds, *(f"wrench on {frame}" for frame in self.wrenches))

    def __repr__(self) -> str:
        rows = self._rows()
        head = f"<Log of {rows['samples']}, {rows['rate']}, {rows['duration']}; {rows['has']}; {rows['joints']}>"
        return "\n".join([head, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return facts_html("Log", self._rows(), self.notes)

    def _rows(self) -> dict[str, str]:
        kept_text = "" if self.keep is None else f", of which {int(np.sum(self.keep))} count"
        even = spacing(self.t).jitter <= ROUNDED
        return {
            "samples": f"{len(self)} samples{kept_text}",
            "rate": f"{self.rate:.6g} Hz" + ("" if even else ", uneven"),
            "duration": f"{self.duration:.6g} s",
            "joints": ", ".join(self.joints) or f"{self.q.shape[1]} joints in the robot's order",
            "has": ", ".join(self.measured),
        }

    # -- parts -------------------------------------------------------------------------------------------------------

    def __getitem__(self, rows: slice) -> Log:
        """Return samples in a row: ``log[100:2000]``."""
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise ShapeError("a log gives slices", where="log", got=rows, fix="log[100:2000], log.decimated(n)")
        begin, end, _ = rows.indices(len(self))
        note = f"samples {begin} to {end - 1} of {len(self)} taken"
        keep = None if self.keep is None else self.keep[rows]
        return filters.mapped(self, lambda x: x[rows], note, t=self.t[rows], keep=keep)

    def between(self, start: float | None = None, end: float | None = None) -> Log:
        """Return the samples between two times.

        Args:
            start: First time, as in ``t``. Default: the first sample.
            end: Last time, as in ``t``. Default: the last sample.

        Returns:
            The samples from ``start`` to ``end``.

        Raises:
            LinkworkError: If fewer than two samples are left.

        Example:
            >>> log = linkwork.identify.Log(np.arange(100) / 10, np.zeros((100, 1)), np.ones((100, 1)))
            >>> log.between(2.0, 4.0).duration
            2.0
        """
        low = 0 if start is None else int(np.searchsorted(self.t, start, "left"))
        high = len(self) if end is None else int(np.searchsorted(self.t, end, "right"))
        if high - low < FEWEST:
            got, expected = f"{start} to {end}", f"within {self.t[0]:g} to {self.t[-1]:g} s"
            raise LinkworkError("too few samples between these times", where="log", got=got, expected=expected)
        return self[low:high]

    def split(self, share: float = 0.75) -> tuple[Log, Log]:
        """Return the first samples, to fit, and the others, to test the fit.

        Args:
            share: Share of the counting samples in the first part. Default: 0.75.

        Returns:
            The two parts.

        Raises:
            LinkworkError: If a part has fewer than two samples.

        Example:
            >>> log = linkwork.identify.Log(np.arange(100) / 10, np.zeros((100, 1)), np.ones((100, 1)))
            >>> [len(part) for part in log.split(0.8)]
            [80, 20]
        """
        if not 0 < share < 1:
            raise ShapeError("this is not a share", where="share", got=share, expected="between 0 and 1")
        counting = np.arange(len(self)) if self.keep is None else np.flatnonzero(self.keep)
        at = round(share * len(counting))
        if not FEWEST <= at <= len(counting) - FEWEST:
            raise LinkworkError("too few samples to split", where="log", got=f"{len(counting)} that count")
        return self[: int(counting[at])], self[int(counting[at]) :]

    # -- processing ----------------------------------------------------------------------------------------------------

    def resampled(self, rate: float | None = None) -> Log:
        """Return the log on an even grid of times, by cubic splines.

        Frequencies that a lower rate cannot hold are filtered out before. Samples in wide gaps do not count.

        Args:
            rate: Samples per second. Default: about as many as there were.

        Returns:
            The resampled log.

        Raises:
            LinkworkError: If gaps are so wide that the grid would have far more samples than there were.

        Example:
            >>> log = linkwork.identify.Log(np.arange(100) / 10, np.zeros((100, 1)), np.ones((100, 1)))
            >>> len(log.resampled(20.0))
            199
        """
        return filters.resampled(self, rate)

    def smoothed(self, cutoff: float | None = None, order: int = 4, derivatives: str = "central") -> Log:
        """Return the log with q, v and a filtered without delay, and differentiated where they were not measured.

        The filter is a Butterworth filter, run forwards and backwards. Uneven times are resampled. tau and the
        reference stay as they are: see ``banded``.

        Args:
            cutoff: Cutoff frequency in Hz. Default: where the spectrum of q sinks into its noise.
            order: Order of the filter. Default: 4.
            derivatives: "central" differences of the filtered signals (default), or the derivatives of a "cubic" fitted
                around each sample.

        Returns:
            The smoothed log, with v and a.

        Raises:
            LinkworkError: If the cutoff does not fit the sampling rate.

        Example:
            >>> t = np.arange(200) / 100
            >>> log = linkwork.identify.Log(t, np.sin(t)[:, None], np.ones((200, 1)))
            >>> log.smoothed(10.0).a.shape
            (200, 1)
        """
        return filters.smoothed(self, cutoff, order, derivatives)

    def banded(self, cutoff: float | None = None, order: int = 4, decimate: int | None = None) -> Log:
        """Return the log with a low pass that regressor and joint forces go through when equations are formed.

        The arrays of the log stay as they are. Afterwards every ``decimate``-th sample is used.

        Args:
            cutoff: Cutoff frequency in Hz. Default: that of ``smoothed``, or chosen in the same way.
            order: Order of the filter. Default: 4.
            decimate: Decimation. Default: as much as the cutoff allows.

        Returns:
            The log with its ``band``.

        Raises:
            LinkworkError: If the cutoff does not fit the sampling rate.

        Example:
            >>> log = linkwork.identify.Log(np.arange(200) / 100, np.zeros((200, 1)), np.ones((200, 1)))
            >>> log.banded(5.0).band
            Band(cutoff=5.0, order=4, decimate=8)
        """
        return filters.banded(self, cutoff, order, decimate)

    def decimated(self, count: int) -> Log:
        """Return every ``count``-th sample, after a low pass without delay at 0.8 of half the new rate.

        Args:
            count: The decimation, 1 or more.

        Returns:
            The shorter log.

        Raises:
            LinkworkError: If too few samples are left, or a band does not fit the new rate.

        Example:
            >>> log = linkwork.identify.Log(np.arange(200) / 100, np.zeros((200, 1)), np.ones((200, 1)))
            >>> len(log.decimated(4))
            50
        """
        return filters.decimated(self, count)

    def without_standstill(self, share: float = filters.SHARE_AT_REST, duration: float = filters.DURATION) -> Log:
        """Return the log with samples that do not count while all joints stand still.

        Args:
            share: A joint stands still below this share of its highest velocity. Default: 0.01.
            duration: Shortest standstill in s. Default: 0.1.

        Returns:
            The log with its ``keep``.

        Raises:
            LinkworkError: If the robot stands still all the time.

        Example:
            >>> t = np.arange(200) / 100
            >>> log = linkwork.identify.Log(t, np.maximum(t - 1, 0)[:, None], np.ones((200, 1)))
            >>> int(log.without_standstill().keep.sum())
            100
        """
        return filters.without_standstill(self, share, duration)

    def noisy(
        self, rng: np.random.Generator | int | None = None, *, q: Any = 0.0, v: Any = 0.0, a: Any = 0.0, tau: Any = 0.0
    ) -> Log:
        """Return the log with independent normal noise, for tests of a method.

        Args:
            rng: Random generator, or its seed. Default: a new one.
            q: Standard deviation of the noise of positions, a number or one for each column. Default: 0.
            v: The same for velocities. Default: 0.
            a: The same for accelerations. Default: 0.
            tau: The same for joint forces. Default: 0.

        Returns:
            The noisy log.

        Raises:
            LinkworkError: If there are no such columns.

        Example:
            >>> log = linkwork.identify.Log(np.arange(200) / 100, np.zeros((200, 1)), np.ones((200, 1)))
            >>> noisy = log.noisy(0, tau=0.1)
        """
        return filters.noisy(self, np.random.default_rng(rng), {"q": q, "v": v, "a": a, "tau": tau})

    # -- order of a robot ----------------------------------------------------------------------------------------------

    def from_drives(self, robot: Robot) -> Log:
        """Return the log of the joints from a log of the motors of transmissions.

        With T the ``robot.transmission``: T q = q_motors and tau = T^T tau_motors. Columns are those of
        ``robot.drive_names``, by name or in this order.

        Args:
            robot: The robot.

        Returns:
            The log of the joints.

        Raises:
            LinkworkError: If the motors do not determine the joints.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> log = linkwork.identify.Log(np.arange(9) / 10, np.zeros((9, 2)), np.ones((9, 2)))
            >>> log.from_drives(arm).joints == arm.drive_names
            True
        """
        return joint_order.from_drives(self, robot)

    def for_robot(self, robot: Robot) -> Log:
        """Return the log with columns in the order of a robot.

        These are q of all joints, v and a of the independent ones, and tau as ``inverse_dynamics`` returns it. Where
        loops are closed and not all joints were measured, the others are computed by ``assemble``. Velocities and
        accelerations that were not measured are differentiated.

        Args:
            robot: The robot.

        Returns:
            The log with v and a, in the robot's order.

        Raises:
            LinkworkError: If joints are missing, or loops cannot be closed.

        Example:
            >>> arm = linkwork.load("planar2r")
            >>> log = linkwork.identify.Log(np.arange(9) / 10, np.zeros((9, 2)), np.ones((9, 2)))
            >>> log.for_robot(arm).a.shape
            (9, 2)
        """
        return joint_order.for_robot(self, robot)

    def save(self, path: str | Path) -> None:
        """Write the log to a file; ``Log.read`` reads it without options.

        Args:
            path: File name with the suffix .csv, .npz or .parquet.

        Raises:
            LinkworkError: If the suffix is another one.

        Example:
            >>> log = linkwork.identify.Log(np.arange(9) / 10, np.zeros((9, 2)), np.ones((9, 2)))
            >>> log.save("log.npz")
        """
        log_files.save(self, Path(path))


def _require_printable(names: Iterable[str], where: str) -> None:
    for name in names:
        if bad := unprintable(name):
            message, fix = f"a name holds the character {bad}, which cannot be printed", "rename the column"
            raise LinkworkError(message, where=f"log, {where}", got=repr(name), fix=fix)


def _numbers(value: Any, where: str, axes: int, count: int | None = None) -> np.ndarray:
    """Return finite doubles; the array itself, if it has them."""
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
