"""Figures of trajectories, drawn without a display."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...drawing import name_lines, styled, write_figure
from ...errors import LinkworkError, UnknownNameError
from ...quoting import in_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .trajectory import Trajectory

LINES = 8  # largest number of joints in a panel
SAMPLES = 20  # largest number of samples that are drawn one by one
EVENTS = 40  # largest number of events that are marked
LEAST = 1e-9  # smallest range of an axis: less would be rounding
BAND = (5, 95)  # percentiles of the band of a larger batch
WORDS = {"q": "position", "v": "velocity", "tau": "torque or force", "commands": "command"}
UNITS = {"q": "rad or m", "v": "rad/s or m/s", "tau": "N m or N", "commands": "SI"}

Panel = Callable[["Axes"], None]


def plot(trajectory: Trajectory, what: list[str], joints: Sequence[str] | None, path: str | Path | None) -> Figure:
    """Draw a figure; see ``Trajectory.plot``."""
    with styled():
        figure = _figure(trajectory, what, joints)
        if path is not None:
            write_figure(figure, Path(path))
    return figure


def _figure(trajectory: Trajectory, what: list[str], joints: Sequence[str] | None) -> Figure:
    from matplotlib.figure import Figure

    kinds = {
        "joints": _joints, "torques": _torques, "commands": _commands, "contacts": _contacts, "energies": _energies,
        "phase": _phase,
    }  # fmt: skip
    arrays = [name for name in trajectory if name != "t"]
    for kind in what:
        if kind not in kinds and kind not in arrays:
            raise UnknownNameError("plot", kind, [*kinds, *arrays], where="plot")
    names = None if joints is None else [joints] if isinstance(joints, str) else list(joints)
    for name in names or ():
        trajectory.joint(name)  # raises if there is no such joint
    rows = [
        row for kind in what for row in (kinds[kind](trajectory, names) if kind in kinds else _array(trajectory, kind))
    ]
    if not rows:
        got = (
            f"plot {', '.join(what) or 'of nothing'}, joints: {'all' if names is None else ', '.join(names) or 'none'}"
        )
        raise LinkworkError("there is nothing to draw", where="plot", got=got)
    figure = Figure(figsize=(11, 3 * len(rows) + 0.5))
    grid = figure.add_gridspec(len(rows), 2)
    for k, row in enumerate(rows):
        for j, panel in enumerate(row):
            axes = figure.add_subplot(grid[k, j] if len(row) == 2 else grid[k, :])
            panel(axes)
    figure.suptitle(_title(trajectory, what))
    return figure


def _title(trajectory: Trajectory, what: list[str]) -> str:
    title = f"{in_plot(trajectory.robot)}, {trajectory.method}, dt {trajectory.dt:g} s"
    if trajectory.n_samples == 1:
        return title
    bands = f"median and {BAND[0]} to {BAND[1]} % band" if what != ["phase"] else ""
    phase = f"phase of {SAMPLES} of them" if "phase" in what else ""
    how = ", ".join(filter(None, (bands, phase))) if trajectory.n_samples > SAMPLES else ""
    return f"{title}; {trajectory.n_samples} samples{how and ': '}{how}"


# -- kinds of plots: rows of one or two panels -------------------------------------------------------------------------


def _joints(trajectory: Trajectory, joints: list[str] | None) -> list[list[Panel]]:
    sides = [_groups(trajectory, array, joints) for array in ("q", "v")]
    return [[panel for panel in row if panel is not None] for row in zip_longest(*sides)]


def _torques(trajectory: Trajectory, joints: list[str] | None) -> list[list[Panel]]:
    """Torques, without those of joints of several dofs that are always zero, such as a floating base."""
    names = _names(trajectory, "tau")
    nonzero = [n for n in names if "." not in n or np.any(_entry(trajectory, "tau", n))] if joints is None else names
    return [[partial(_draw_entries, trajectory, "tau", part)] for part in _parts(_chosen(nonzero or names, joints))]


def _commands(trajectory: Trajectory, joints: list[str] | None) -> list[list[Panel]]:
    return [[panel] for panel in _groups(trajectory, "commands", None)]


def _contacts(trajectory: Trajectory, joints: list[str] | None) -> list[list[Panel]]:
    """Loads of contacts, as far as they are determined, and the friction coefficients that they need."""
    loads, needed = {}, {}
    for array, normal, others in (("constraint_forces", "normal", None), ("contact_forces", "fz", ("fx", "fy"))):
        entries = trajectory.entries.get(array, ())
        for name in (entry.rpartition(".")[0] for entry in entries if entry.endswith(f".{normal}")):
            load = _entry(trajectory, array, f"{name}.{normal}")
            if not np.abs(load).max(initial=0.0) > LEAST:
                continue
            rows = [entry for entry in entries if entry.rpartition(".")[0] == name and entry != f"{name}.{normal}"]
            sides = (_entry(trajectory, array, row) for row in rows if not others or row.endswith(others))
            loads[name] = load
            needed[name] = np.sqrt(sum(side**2 for side in sides)) / np.where(load > LEAST, load, np.nan)
    rows = [[{n: series[n] for n in part} for series in (loads, needed)] for part in _parts(list(loads))]
    labels = "load [N]", "friction needed"
    return [[partial(_draw_named, trajectory, *each) for each in zip(row, labels, strict=True)] for row in rows]


def _array(trajectory: Trajectory, name: str) -> list[list[Panel]]:
    """All entries of an array."""
    if name not in trajectory.entries:
        return [[partial(_draw_named, trajectory, {name: trajectory[name]}, name)]]
    panels = [partial(_draw_entries, trajectory, name, part) for part in _parts(list(trajectory.entries[name]))]
    return [panels[k : k + 2] for k in range(0, len(panels), 2)]


def _energies(trajectory: Trajectory, joints: list[str] | None) -> list[list[Panel]]:
    return [[partial(_draw_energies, trajectory, trajectory["kinetic_energy"], trajectory["potential_energy"])]]


def _phase(trajectory: Trajectory, joints: list[str] | None) -> list[list[Panel]]:
    both = [name for name in _names(trajectory, "q") if name in _names(trajectory, "v")]
    panels = [partial(_draw_phase, trajectory, group) for group in _parts(_chosen(both, joints))]
    return [panels[k : k + 2] for k in range(0, len(panels), 2)]


def _groups(trajectory: Trajectory, array: str, joints: list[str] | None) -> list[Panel]:
    names = _chosen(_names(trajectory, array), joints)
    return [partial(_draw_entries, trajectory, array, group) for group in _parts(names)]


def _names(trajectory: Trajectory, array: str) -> tuple[str, ...]:
    if array not in trajectory:
        raise UnknownNameError("array", array, trajectory, where="trajectory")
    return trajectory.entries[array]


def _chosen(names: Sequence[str], joints: list[str] | None) -> list[str]:
    return [name for name in names if joints is None or any(name == j or name.startswith(f"{j}.") for j in joints)]


def _parts(names: list[str]) -> list[list[str]]:
    """Groups of at most LINES names, of about equal length."""
    count = -(-len(names) // LINES)
    return [list(part) for part in np.array_split(np.array(names, object), count)] if names else []


# -- panels --------------------------------------------------------------------------------------------------------


def _draw_entries(trajectory: Trajectory, array: str, names: list[str], axes: Axes) -> None:
    series = {_label(trajectory, array, name): _entry(trajectory, array, name) for name in names}
    unit = _unit(trajectory, array, names)
    _draw_named(trajectory, series, WORDS.get(array, in_plot(array)) + (f" [{unit}]" if unit else ""), axes)


def _draw_named(trajectory: Trajectory, series: Mapping[str, Any], what: str, axes: Axes) -> None:
    for k, (label, values) in enumerate(series.items()):
        _draw_series(axes, trajectory, values, f"C{k}", in_plot(label))
    low, high = axes.get_ylim()
    if high - low < LEAST:
        axes.set_ylim((low + high - LEAST) / 2, (low + high + LEAST) / 2)
    axes.set_xlabel("t [s]")
    axes.set_ylabel(what)
    name_lines(axes)
    for event in trajectory.events if len(trajectory.events) <= EVENTS else ():
        axes.axvline(event.t, color="0.8", linewidth=0.6, zorder=0)


def _draw_energies(trajectory: Trajectory, kinetic: Any, potential: Any, axes: Axes) -> None:
    work = trajectory["work"] if "work" in trajectory else np.zeros(())
    balance = kinetic + potential - work
    total = "total - work" if "work" in trajectory else "total"
    for k, (label, series) in enumerate({"kinetic": kinetic, "potential": potential, total: balance}.items()):
        _draw_series(axes, trajectory, series, f"C{k}", label)
    axes.set_xlabel("t [s]")
    axes.set_ylabel("energy [J]")
    drift = axes.twinx()
    drift.grid(False)
    drift.spines["right"].set_visible(True)
    _draw_series(drift, trajectory, balance - balance[..., :1], "0.45", f"change of {total}", linestyle=":")
    drift.set_ylabel(f"change of {total} [J]", color="0.45")
    drift.tick_params(axis="y", colors="0.45")
    drift.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    lines = [*axes.get_legend_handles_labels()[0], *drift.get_legend_handles_labels()[0]]
    axes.legend(handles=lines, ncols=4, loc="lower left", bbox_to_anchor=(0, 1))


def _draw_phase(trajectory: Trajectory, names: list[str], axes: Axes) -> None:
    for k, name in enumerate(names):
        q, v = (_rows(trajectory, _entry(trajectory, array, name)) for array in ("q", "v"))
        shown = np.unique(np.linspace(0, len(q) - 1, min(len(q), SAMPLES)).astype(int))
        for j, i in enumerate(shown):
            label = in_plot(_label(trajectory, "q", name)) if j == 0 else None
            (line,) = axes.plot(q[i], v[i], color=f"C{k}", linewidth=_width(len(shown)), label=label)
            axes.plot(q[i, :1], v[i, :1], "o", color=line.get_color(), markersize=3)  # the start
    axes.set_xlabel(f"position [{_unit(trajectory, 'q', names)}], from the dot")
    axes.set_ylabel(f"velocity [{_unit(trajectory, 'v', names)}]")
    _legend(axes)


def _draw_series(axes: Axes, trajectory: Trajectory, series: Any, color: str, label: str, **style: Any) -> None:
    """Draw one line or, of a batch, a thin line per sample or the median with a band."""
    rows, t = _rows(trajectory, series), trajectory.t
    if len(rows) <= SAMPLES:
        for i, row in enumerate(rows):
            width = _width(len(rows))
            axes.plot(t, row, color=color, linewidth=width, label=label if i == 0 else None, **style)
        return
    with warnings.catch_warnings():  # times at which all samples are NaN become gaps
        warnings.simplefilter("ignore", RuntimeWarning)
        low, middle, high = np.nanpercentile(rows, [BAND[0], 50, BAND[1]], axis=0)
    axes.plot(t, middle, color=color, label=label, **style)
    axes.fill_between(t, low, high, color=color, alpha=0.2, linewidth=0)


def _width(lines: int) -> float:
    return 1.7 if lines == 1 else 0.6


def _rows(trajectory: Trajectory, series: Any) -> np.ndarray:
    return np.asarray(series).reshape(-1, len(trajectory.t))


def _entry(trajectory: Trajectory, array: str, name: str) -> Any:
    names, values = trajectory.entries[array], trajectory[array]
    if array in trajectory.shapes:
        values = np.asarray(values).reshape(*trajectory.batch, len(trajectory.t), len(names))
    return values[..., names.index(name)]


def _units(trajectory: Trajectory, array: str, names: Sequence[str]) -> list[str]:
    units = dict(zip(trajectory.entries[array], trajectory.units[array], strict=True))
    return list(dict.fromkeys(units[name] for name in names if units[name]))


def _unit(trajectory: Trajectory, array: str, names: Sequence[str]) -> str:
    return ", ".join(_units(trajectory, array, names)) if array in trajectory.units else UNITS.get(array, "")


def _label(trajectory: Trajectory, array: str, name: str) -> str:
    """The joint's name, with its unit where units differ."""
    unit = _unit(trajectory, array, [name])
    several = array in trajectory.units and len(set(trajectory.units[array])) > 1
    return f"{name} [{unit}]" if several and unit else name


def _legend(axes: Axes) -> None:
    """Legend to the right of the panel."""
    legend = axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    for line in legend.get_lines():
        line.set_linewidth(1.7)
