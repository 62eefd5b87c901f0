"""Time loops of all back ends against loops in NumPy, on small programs with every kind of input."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import RK45

from linkwork.codegen.native import time_loop
from linkwork.codegen.native.target import host
from linkwork.codegen.schemes import OwnStep
from linkwork.codegen.timeloop import TimeLoop, Turns
from linkwork.program import Port, optimize, trace
from linkwork.scalar import cos, sin, sqrt
from linkwork.sim.schemes.integrators import AB4, DORMAND_PRINCE_5, HEUN, RK4
from linkwork.targets import backend, names

SCHEMES = {"step": OwnStep(), "rk4": RK4, "ab4": AB4, "heun": HEUN, "dp5": DORMAND_PRINCE_5}
BUTCHER = {  # as others have them: A, b, c
    "heun": (np.array([[0, 0], [1, 0]]), np.array([0.5, 0.5]), np.array([0, 1])),
    "dp5": (RK45.A, RK45.B, RK45.C),
}
DT, T0 = 0.02, 0.3
HELD, CONSTANTS = (1, 9), 3  # sizes of two held ports, and of the constants
PORTS = [Port("x", (3,)), Port("t", ()), Port("dt", ()), Port("u", (1,)), Port("w", (9,)), Port("c", (3,))]


def slope(x, t, u, w, c, sin=sin, cos=cos):
    """Of any numbers; arrays have the samples last."""
    return [x[1], u[0] - c[0] * sin(x[0]) + w[3] * t, c[1] * x[0] - c[2] * x[2] + w[8] * cos(t)]


def moved(x, rates, dt):
    return [a + dt * b for a, b in zip(x, rates, strict=True)]


def projected(x, sqrt=sqrt):
    """Something that changes x after each step, as a projection does."""
    share = 1 / sqrt(1 + x[0] * x[0] * 0.01)
    return [share * x[0], share * x[1], x[2]]


def recorded(x, t, u, w, c, size):
    """``size`` numbers of all that there is."""
    every = [x[0], t, u[0], x[1], x[2], w[0], c[2], w[8]]
    return [every[k % 8] * (1 + k // 8) for k in range(size)]


def program(name, function):
    return optimize(trace(name, function, PORTS))


def loop(scheme, finish=False, records=5):
    if scheme == "step":
        advance = program("advance", lambda x, t, dt, u, w, c: {"x": moved(x, slope(x, t, u, w, c), dt)})
    else:
        advance = program("advance", lambda x, t, dt, u, w, c: {"x": slope(x, t, u, w, c)})
    ends = program("finish", lambda x, t, dt, u, w, c: {"x": projected(x)}) if finish else None
    record = program("record", lambda x, t, dt, u, w, c: {"r": recorded(x, t, u, w, c, records)})
    return TimeLoop(SCHEMES[scheme], advance, ends, record, 3, HELD, CONSTANTS)


class Inputs:
    """Random ones; ``own`` tells which of u, w, c each sample has for itself."""

    def __init__(self, samples, steps, own=(True, True, True), seed=0):
        rng = np.random.default_rng(seed)
        self.samples, self.steps = samples, steps
        self.x0 = rng.normal(size=(samples, 3))
        several = [samples if mine else 1 for mine in own]
        self.u, self.w = (rng.normal(size=(n, steps, size)) for n, size in zip(several, HELD, strict=False))
        self.c = rng.uniform(1, 2, (several[2], CONSTANTS))

    def only(self, sample):
        """The same sample alone."""
        one = Inputs(1, self.steps)
        one.x0 = self.x0[sample : sample + 1]
        for name in "uwc":
            array = getattr(self, name)
            setattr(one, name, array[sample : sample + 1] if len(array) > 1 else array)
        return one


def ran(what, inputs, every=1, cuts=None, by="native"):
    """Records (samples, times, size) and the last states."""
    n, steps, size = inputs.samples, inputs.steps, len(what.record.results)
    state = np.zeros((n, what.state))
    state[:, :3] = inputs.x0
    records = np.full((n, steps // every + 1, size), np.nan)
    run, first = backend(by).compile_loop(what, n), 0
    for more in cuts or [steps]:
        end = first + more == steps and steps % every == 0
        turns = Turns(first, more, every, end, steps - 1)
        run(turns, T0, DT, state, [inputs.u, inputs.w], inputs.c, records[:, first // every :])()
        first += more
    assert first == steps
    return records, state


def by_numpy(scheme, inputs, every=1, finish=False, size=5):
    x, out, before = list(inputs.x0.T), [], []
    for k in range(inputs.steps + 1):
        t, at = T0 + k * DT, min(k, inputs.steps - 1)
        u, w, c = inputs.u[:, at].T, inputs.w[:, at].T, inputs.c.T

        def f(x, t, u=u, w=w, c=c):
            return slope(x, t, u, w, c, np.sin, np.cos)

        if k % every == 0:
            parts = recorded(x, t, u, w, c, size)
            out.append(np.stack([np.broadcast_to(part, inputs.samples) for part in parts], -1))
        if k == inputs.steps:
            break
        rates = f(x, t)
        before.append(rates)
        if scheme == "step":
            x = moved(x, rates, DT)
        elif scheme == "ab4" and k >= 3:
            weights = zip((55, -59, 37, -9), before[::-1], strict=False)
            x = moved(x, sum(weight * np.array(np.broadcast_arrays(*r)) for weight, r in weights) / 24, DT)
        elif scheme in BUTCHER:
            A, b, nodes = BUTCHER[scheme]
            k = [np.array(np.broadcast_arrays(*rates))]
            for row, node in zip(A[1:], nodes[1:], strict=True):
                between = moved(x, sum(a * r for a, r in zip(row, k, strict=False)), DT)
                k.append(np.array(np.broadcast_arrays(*f(between, t + node * DT))))
            x = moved(x, np.tensordot(b, k, 1), DT)
        else:
            k2 = f(moved(x, rates, DT / 2), t + DT / 2)
            k3 = f(moved(x, k2, DT / 2), t + DT / 2)
            k4 = f(moved(x, k3, DT), t + DT)
            x = moved(x, [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(rates, k2, k3, k4, strict=True)], DT)
        if finish:
            x = projected(x, np.sqrt)
    return np.stack(out, 1)


@pytest.mark.parametrize("finish", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("by", names("run"))
def test_schemes(scheme, finish, by):
    for samples in range(1, 10) if by == "native" else (1, 4):
        inputs = Inputs(samples, 20, seed=samples)
        records, state = ran(loop(scheme, finish), inputs, by=by)
        expected = by_numpy(scheme, inputs, finish=finish)
        assert np.abs(records - expected).max() < 1e-13 * np.abs(expected).max()
        assert np.array_equal(state[:, :3], records[:, -1, [0, 3, 4]])
        assert (state[:, -1] == 20).all()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("by", names("run"))
def test_cut_anywhere_and_alone(scheme, by):
    what, inputs = loop(scheme, finish=True), Inputs(9, 12)
    whole, end = ran(what, inputs, by=by)
    for cuts in ([1] * 12, [2, 1, 9], [5, 7], [11, 1]):
        records, state = ran(what, inputs, cuts=cuts, by=by)
        assert np.array_equal(records, whole) and np.array_equal(state, end)
    for sample in range(9):
        records, state = ran(what, inputs.only(sample), by=by)
        assert np.array_equal(records[0], whole[sample]) and np.array_equal(state[0], end[sample])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lanes_change_no_bit(scheme, monkeypatch):
    """Code for vectors of any width, half of which does for few samples."""
    what, inputs = loop(scheme, finish=True), Inputs(13, 9)
    whole, end = ran(what, inputs)
    own = host()
    for bytes_ in [width for width in (16, 32) if width < own.vector_bytes]:
        monkeypatch.setattr(time_loop, "host", lambda bytes_=bytes_: replace(own, vector_bytes=bytes_))
        records, state = ran(what, inputs)
        assert np.array_equal(records, whole) and np.array_equal(state, end)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("by", names("run"))
def test_samples_that_start_anew(scheme, by):
    """Beside others that go on: they have their own time and, where the scheme looks back, nothing to look back on."""
    what, inputs = loop(scheme), Inputs(9, 4)
    inputs.u[:], inputs.w[:] = inputs.u[:, :1], inputs.w[:, :1]  # of all steps
    run, records = backend(by).compile_loop(what, 9), np.empty((9, 5, 5))

    def more(state):
        run(Turns(0, 4, 1, True, 3), T0, DT, state, [inputs.u, inputs.w], inputs.c, records)()
        return records.copy(), state

    start = np.zeros((9, what.state))
    start[:, :3] = inputs.x0
    first, after = more(start.copy())
    new = np.arange(9) % 3 == 1
    mixed, end = more(np.where(new[:, None], start, after))
    second = more(after)
    assert np.array_equal(mixed[new], first[new]) and np.array_equal(mixed[~new], second[0][~new])
    assert np.array_equal(end[~new], second[1][~new]) and np.array_equal(end[:, -1], np.where(new, 4, 8))


@pytest.mark.parametrize("own", [(a, b, c) for a in (False, True) for b in (False, True) for c in (False, True)])
@pytest.mark.parametrize("by", names("run"))
def test_inputs_of_their_own_or_shared(own, by):
    inputs = Inputs(7, 10, own)
    records, _ = ran(loop("rk4"), inputs, by=by)
    expected = by_numpy("rk4", inputs)
    assert np.abs(records - expected).max() < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 31])
def test_sizes_of_records(size):
    """Whole blocks are written in tiles, the others number by number; nothing else is touched."""
    for samples in (1, 8, 9, 13):
        inputs = Inputs(samples, 5)
        records, _ = ran(loop("step", records=size), inputs)
        expected = by_numpy("step", inputs, size=size)
        assert records.shape == (samples, 6, size)
        assert np.abs(records - expected).max() < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize(("every", "steps"), [(2, 10), (3, 10), (4, 11), (10, 10), (11, 10), (7, 20)])
@pytest.mark.parametrize("by", names("run"))
def test_every(every, steps, by):
    """Also with steps that are left over; pieces are whole numbers of records, but for the last."""
    what, inputs = loop("ab4"), Inputs(9, steps)
    expected = by_numpy("ab4", inputs, every=every)
    cut = [every] * (steps // every) + ([steps % every] if steps % every else [])
    for cuts in (None, cut):
        records, state = ran(what, inputs, every, cuts, by)
        assert records.shape[1] == steps // every + 1
        assert np.abs(records - expected).max() < 1e-13 * np.abs(expected).max()
        assert np.array_equal(state, ran(what, inputs, by=by)[1])


@pytest.mark.parametrize("by", names("run"))
def test_nothing_but_its_records_is_written(by):
    what, inputs = loop("step", records=3), Inputs(5, 4)
    room = np.full((7, 9, 5), -1.0)  # samples, times and entries to spare
    inner = room[1:6, 2:7, 1:4]
    state = np.zeros((5, what.state))
    state[:, :3] = inputs.x0
    run = backend(by).compile_loop(what, 5)
    run(Turns(0, 4, 1, True, 3), T0, DT, state, [inputs.u, inputs.w], inputs.c, inner)()
    expected = by_numpy("step", inputs, size=3)
    assert np.abs(inner - expected).max() < 1e-13 * np.abs(expected).max()
    inner[:] = -1
    assert (room == -1).all()


@pytest.mark.parametrize("finish", [False, True])
@pytest.mark.parametrize("by", names("run"))
def test_finite_steps(finish, by):
    """x' = c x^2 has a pole at t = 1 / (c x0); square roots of negative numbers are no numbers at once."""
    ports = [Port("x", (2,)), Port("t", ()), Port("dt", ()), Port("c", (1,))]
    run = {
        "advance": lambda x, t, dt, c: {"x": [x[0] * x[0] * c[0], x[1] - sqrt(x[1])]},
        "finish": lambda x, t, dt, c: {"x": [x[0], x[1]]},
        "record": lambda x, t, dt, c: {"x": x},
    }
    made = {name: optimize(trace(name, function, ports)) for name, function in run.items()}
    what = TimeLoop(OwnStep(), made["advance"], made["finish"] if finish else None, made["record"], 2, (), 1)
    x = np.array([[1.5, 4.0], [0.9, 4.0], [3.0, 0.25], [-2.0, 9.0], [1.01, 1.5], [0.5, 100.0], [1e200, 4.0]])
    c, steps = np.ones((7, 1)), 30
    state = np.zeros((7, what.state))
    state[:, :2] = x
    records = np.empty((7, steps + 1, 2))
    backend(by).compile_loop(what, 7)(Turns(0, steps, 1, True, steps - 1), 0.0, 1.0, state, [], c, records)()
    finite = np.isfinite(records).all(axis=2).sum(axis=1) - 1
    assert len(set(finite)) > 3 and finite.max() < steps
    assert np.array_equal(state[:, -1], finite)
    with np.errstate(all="ignore"):
        for k in range(steps):
            x = np.stack([x[:, 0] ** 2, x[:, 1] - np.sqrt(x[:, 1])], axis=1)
            assert np.array_equal(np.isfinite(x), np.isfinite(records[:, k + 1]))
