"""Progress of a long run: share done, speed and time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from .errors import ShapeError

AFTER = 1.0  # seconds after which the bar appears


class Progress:
    """A progress bar. ``show``: True, False, None (in a terminal, if it takes long), or a function of (done, total)."""

    def __init__(self, show: bool | Callable[[int, int], Any] | None, total: int, unit: str = "steps"):
        if not (show is None or isinstance(show, bool) or callable(show)):
            expected = "True, False, None, or a function of (done, total)"
            raise ShapeError("wrong type", where="progress", got=show, expected=expected)
        self.total, self.done, self.unit = total, 0, unit
        self.call = show if callable(show) else None
        self.has_bar = sys.stderr.isatty() if show is None else bool(show) and self.call is None
        self.bar, self.began = None, time.perf_counter()

    def __enter__(self) -> Progress:
        return self

    def advance(self, count: int) -> None:
        self.done += count
        if self.call is not None:
            self.call(self.done, self.total)
        if self.bar is None and self.has_bar and time.perf_counter() - self.began > AFTER:
            self._open()
        if self.bar is not None:
            rate = self.done / (time.perf_counter() - self.began)
            self.bar.update(self.task, completed=self.done, rate=f"{rate:,.0f} {self.unit}/s")

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task("", total=self.total, rate="")
        self.bar.start()

    def __exit__(self, *_: Any) -> None:
        if self.bar is not None:
            self.bar.stop()
