"""The page and the pictures of a fit: their numbers are the fit's, nothing of a long recording is hidden, and names of
strangers are text."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError
from linkwork.html import DOTS, Series, chart, deviation_bar, triangle_map
from linkwork.identify import Log
from linkwork.identify.plots.curves import SPANS, curves_of, friction_curves
from linkwork.model.pseudo_inertia import body_of
from support.html_page import Page

TITLES = [
    "Errors", "Measured and predicted", "Base parameters", "Bodies", "Drives and friction",
    "What the data do not identify", "Correlation", "What was done",
]  # fmt: skip


def motion(robot, samples=1500, seed=0):
    """All joints along sums of sines: t, q, v, a."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 10, samples)
    w = 2 * np.pi * np.array([0.1, 0.3, 0.7])
    A, phase = rng.uniform(0.2, 0.6, (2, robot.nv, 3))
    angle = w * t[:, None, None] + 6 * phase
    return t, (A * np.sin(angle)).sum(-1), (A * w * np.cos(angle)).sum(-1), (-A * w**2 * np.sin(angle)).sum(-1)


def recording(robot, noise=0.02, **how):
    t, q, v, a = motion(robot, **how)
    tau = robot.inverse_dynamics(q, v, a)
    return Log(t=t, q=q, v=v, a=a, tau=tau).noisy(1, tau=noise * np.abs(tau).max(axis=0))


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("planar2r").with_friction({"shoulder": {"coulomb": 8, "viscous": 3}, "elbow": {"coulomb": 2}})


@pytest.fixture(scope="module")
def fit(robot):
    return robot.identify(recording(robot), width=0.0)


@pytest.fixture(scope="module")
def page(fit):
    return fit.report()


def cells(text, row):
    """Of the first row of a table that begins with a word."""
    found = re.search(rf"<tr><td>(?:<span[^>]*>)?{re.escape(row)}(?:</span>)?</td>(.*?)</tr>", text)
    return [re.sub("<[^>]*>", "", cell).replace("−", "-") for cell in re.findall("<td.*?>(.*?)</td>", found[1])]


def section(text, title):
    return re.search(rf"<h2>{title}</h2>(.*?)</section>", text, re.S)[1]


def test_the_page_is_whole_and_safe(page):
    read = Page(page)
    assert re.findall("<h2>(.*?)</h2>", page) == TITLES
    assert not {tag for tag, _ in read.tags} & {"script", "link", "img", "iframe", "object", "form"}
    assert all(each.get("href", "#").startswith("#") for _, each in read.tags)
    assert not re.search(r"https?:|url\(|@import|\son\w+=|\bnan\b", page)
    assert len(page) < 300_000


def test_errors(fit, page):
    text = section(page, "Errors")
    for k, name in enumerate(fit.forces):
        deviation, fitted, held, *_ = cells(text, name)
        assert deviation == f"{fit.sigma[k]:.3g} N m"
        shown = [float(x.removesuffix(" %")) / 100 for x in (fitted, held)]
        assert shown == pytest.approx([fit.errors["fitted"][k], fit.errors["held out"][k]], rel=0.05)
    head = page.partition("<nav>")[0]
    assert f"<dd>{fit.condition:.4g}</dd>" in head and f"<dd>{fit.gamma:g}</dd>" in head and "all are physical" in head
    assert "<dd>1,500</dd>" in head


def test_parameters(fit, page):
    text = section(page, "Base parameters")
    for k, name in enumerate(fit.base):
        value, deviation, before, _ = cells(text, name)
        shown = [float(x) for x in (value, deviation, before)]
        expected = [fit.base.values[k], fit.base.deviations[k], fit.base.prior[k]]
        assert shown == pytest.approx(expected, rel=0.06, abs=1e-12)
    text = section(page, "Bodies")
    for name, at in fit.unknowns.bodies:
        body = body_of(fit.standard.values[at : at + 10])
        mass, _, *center = (float(x) for x in cells(text, name)[:5])
        assert mass == pytest.approx(body.mass, rel=1e-4) and center == pytest.approx([*body.center], abs=1e-5)
        assert float(cells(text, name)[-2]) == pytest.approx(fit.divergence[name], rel=0.06)
        assert cells(text, name)[-1] == "yes"
    text = section(page, "Drives and friction")
    assert "IA rotor inertia, FS coulomb, FV viscous, F0 offset" in text
    assert [float(x) for x in cells(text, "FS")[:1]] == pytest.approx([fit.standard["shoulder.FS"]], rel=1e-3)


def test_what_is_not_told(fit, page):
    text = Page(page).text
    for name, told in zip(fit.standard.names, fit.standard.status, strict=True):
        assert (f"{name}," in text or f"{name}." in text) == (told == "unidentifiable")
    for note in fit.notes:
        assert note in text


def test_correlation(fit, page):
    R = fit.correlation
    rows = re.findall(r"<tr><td>(\w+)</td><td>(\w+)</td><td.*?>(.*?)</td></tr>", section(page, "Correlation"))
    assert rows
    for one, other, value in rows:
        entry = R[fit.base.names.index(one), fit.base.names.index(other)]
        assert float(value.replace("−", "-")) == pytest.approx(entry, rel=0.01) and abs(entry) > 0.8


def test_warnings_stand_first(robot):
    """A motion of one joint alone, and bodies that least squares makes impossible."""
    t, q, v, a = motion(robot)
    still = np.array([1.0, 0.0])
    moved = q * still, v * still, a * still
    log = Log(t=t, q=moved[0], v=moved[1], a=moved[2], tau=robot.inverse_dynamics(*moved)).noisy(1, tau=5.0)
    with pytest.warns(linkwork.errors.IdentificationWarning):
        fit = robot.identify(log, "ols", width=0.0)
    text = fit.report()
    assert re.findall("<h2>(.*?)</h2>", text)[0] == "Warnings"
    told = Page(section(text, "Warnings")).text
    assert fit.warnings and all(note.message in told for note in fit.warnings)
    assert all(f"{name} is physically impossible: {why}" in told for name, why in fit.physical.items() if why)
    assert all(words in text for words in fit.unidentifiable)
    assert "infinite" in text or np.isfinite(fit.condition)
    short = fit._repr_html_()
    assert "Warning: " in short and all(name in short for name in fit.forces)


def test_no_peak_of_a_long_recording_is_lost(robot, fit):
    log = recording(robot, samples=40_000)
    tau = log.tau.copy()
    tau[[12_345, 31_234], 1] = 6000.0, -4000.0
    keep = np.ones(len(log), bool)
    keep[20_000:24_000] = False
    found = curves_of(fit, replace(log, tau=tau, keep=keep))
    curve = found.curves[1]
    assert len(curve.t) <= 6 * SPANS + 20 and found.count == 36_000
    assert curve.measured[np.nanargmax(curve.measured)] == 6000 and np.nanmin(curve.measured) == -4000
    assert curve.t[np.nanargmax(curve.measured)] == log.t[12_345]
    gap = np.flatnonzero(np.isnan(curve.measured))
    assert len(gap) == 1 and log.t[19_999] <= curve.t[gap[0]] < log.t[24_000]
    assert found.histogram.sum() == 2 * found.count
    assert found.errors == pytest.approx(fit.error(replace(log, tau=tau, keep=keep)), rel=1e-12)
    drawn = ElementTree.fromstring(chart("x", curve.t, [Series("", curve.measured, 1)], "N m"))[0]
    path = next(each for each in drawn if each.get("class") == "curve s1").get("d")
    heights = [float(pair.split()[1]) for pair in re.split("[ML]", path)[1:]]
    ticks = {float(e.text.replace("−", "-")): float(e.get("y")) - 4 for e in drawn if e.get("x") == "45"}
    ends = np.interp([6000, -4000], sorted(ticks), [ticks[value] for value in sorted(ticks)])
    assert [min(heights), max(heights)] == pytest.approx(ends, abs=0.1)
    assert path.count("M") == 2


def test_friction_curves(robot, fit):
    data = [curves_of(fit, log) for log in fit.logs]
    curves = {curve.name: curve for curve in friction_curves(fit, data)}
    assert set(curves) == {"shoulder", "elbow"}
    one = curves["shoulder"]
    values = fit.standard.as_dict
    line = values["shoulder.FS"] * np.sign(one.v) + values["shoulder.FV"] * one.v + values["shoulder.F0"]
    assert one.force == pytest.approx(line, rel=1e-9)
    assert one.before == pytest.approx(8 * np.sign(one.v) + 3 * one.v, rel=1e-9)
    assert one.fastest == fit.max_velocities[0]
    noise = fit.sigma[0] / np.sqrt(20)  # of averages
    assert np.abs(one.seen - np.interp(one.seen_v, one.v, one.before)).max() < 6 * noise


def test_bars_and_maps():
    bar = ElementTree.fromstring(deviation_bar(2.0, 0.5, 4.0))
    by_class = {each.get("class"): each for each in bar}
    assert float(by_class["before"].get("x1")) == 98  # the largest is at the end
    assert (float(by_class["value"].get("x")), float(by_class["value"].get("width"))) == (50, 24)
    low, high = re.match(r"M([\d.]+) 6H([\d.]+)", by_class["deviation"].get("d")).groups()
    assert (float(low), float(high)) == (62, 86)
    assert deviation_bar(0.0, 0.0, 0.0) == "" and deviation_bar(1.0, np.inf) == ""
    R = np.array([[1, 0.5, 0], [0.5, 1, -0.97], [0, -0.97, 1]])
    drawn = ElementTree.fromstring(triangle_map("<r>", ["a<b", "c", "d"], R))[0]
    cells = {each.get("class"): each.get("d") for each in drawn if each.tag == "path"}
    assert cells["positive"].startswith("M0 10") and cells["negative"].startswith("M10 20")
    assert [each.text for each in drawn if each.tag == "text"] == ["a<b", "c", "d"]
    dots = chart("", np.arange(3.0), [Series("", np.ones(3), DOTS)], "N", "v", (0.5, 1.5))
    assert dots.count("h0") == 3 and 'class="shaded"' in dots and ">v</text>" in dots


def test_names_of_strangers(tmp_path):
    bad = "<img src=x onerror=alert(1)>"
    inertia = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    name = bad.replace("<", "&lt;").replace(">", "&gt;")
    link = f'<link name="{{}}"><inertial>{inertia}</inertial></link>'
    file = tmp_path / "bad.urdf"
    file.write_text(
        f'<robot name="{name}">{link.format("base")}{link.format("arm" + name)}<joint name="j{name}" type="revolute">'
        f'<parent link="base"/><child link="arm{name}"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="9"'
        ' effort="9"/></joint></robot>'
    )
    robot = linkwork.load(str(file))
    fit = robot.identify(replace(recording(robot), notes=[f"read from {bad}"]), width=0.0)
    for text in (fit.report(), fit._repr_html_()):
        assert "<img" not in text and name in text
    assert Page(fit.report()).text.count(bad) > 10


def test_several_recordings_and_less_to_find(robot, tmp_path):
    logs = [recording(robot, seed=seed) for seed in range(6)]
    fit = robot.identify(logs, "wls", inertias=False, rotors=False, friction=("viscous",), width=0.0)
    text = fit.report(tmp_path / "fit.html")
    assert (tmp_path / "fit.html").read_text() == text
    assert "Bodies" not in re.findall("<h2>(.*?)</h2>", text) and "2 further recordings are not drawn" in text
    shown = [float(x.removesuffix(" %")) for x in cells(section(text, "Errors"), "shoulder")[4:]]
    assert shown == pytest.approx([100 * fit.error(log)[0] for log in logs], rel=0.01)


def test_pictures(fit, tmp_path):
    figure = fit.plot(path=tmp_path / "fit.png")
    panels = figure.axes
    assert (tmp_path / "fit.png").read_bytes()[:4] == b"\x89PNG"
    assert len(panels) == 2 * 2 + 1 + 2
    measured, predicted = panels[0].get_lines()
    assert measured.get_ydata() - predicted.get_ydata() == pytest.approx(panels[1].get_lines()[0].get_ydata())
    names = [label.get_text() for label in panels[4].get_yticklabels()]
    assert names == list(fit.base.names)
    assert [axes.get_title("left") for axes in fit.plot("friction").axes] == ["shoulder", "elbow"]
    with pytest.raises(LinkworkError, match="there is no plot 'torqes'"):
        fit.plot("torqes")
    with pytest.raises(LinkworkError, match="suffix"):
        fit.plot(path=tmp_path / "fit.xyz")
    with pytest.raises(LinkworkError, match="nothing to draw"):
        fit.plot([])
