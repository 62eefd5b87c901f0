"""The look of pictures: colours, and names at the ends of lines that do not hide each other."""

import sys
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from linkwork.drawing import STYLE, name_lines, styled
from linkwork.errors import UnsupportedError


def colours() -> list[str]:
    return matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]


def test_style_is_for_what_is_drawn_within():
    before = dict(matplotlib.rcParams)
    with styled():
        assert len(set(colours())) == 8 and not matplotlib.rcParams["axes.spines.top"]
        inside = colours()
    assert dict(matplotlib.rcParams) == before
    with matplotlib.style.context(STYLE):  # what readers write
        assert colours() == inside


def named(ends: list[float], **limits) -> tuple:
    """Axes with a line to each end, and their names."""
    with styled():
        axes = Figure((5, 3)).subplots()
        for k, end in enumerate(ends):
            axes.plot([0, 1, 2], [0, end, np.nan], label=f"line {k}")
        axes.plot([0, 1], [0.5, 0.5])  # without a name
        axes.set(**limits)
        name_lines(axes)
        axes.figure.draw_without_rendering()
        return axes, {text.get_text(): text for text in axes.texts}


def test_names_are_in_order_and_apart():
    """Also where all lines end in the same place; each in the colour of its line, beside it."""
    for ends in ([0.0, 1.0], [1.0, 0.99, 0.98, 0.2], [0.5] * 6, [0.0, 1e-3, 1.0, 1 - 1e-3]):
        axes, names = named(ends)
        assert list(names) == [f"line {k}" for k in range(len(ends))]
        boxes = sorted(Text.get_window_extent(name).get_points()[:, 1].tolist() for name in names.values())
        assert all(lower[1] <= upper[0] for lower, upper in pairwise(boxes))
        places = [names[f"line {k}"].xyann[1] for k in np.argsort(ends, kind="stable")]
        assert places == sorted(places)
        for line, name in zip(axes.lines, names.values()):
            assert name.get_color() == line.get_color() and name.xyann[0] > name.xy[0]


def test_lines_that_leave_have_no_name():
    assert list(named([0.5, 5.0], ylim=(0, 1))[1]) == ["line 0"]


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'linkwork\[plot\]'"):
        styled()
