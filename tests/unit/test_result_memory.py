"""Memory of large results: used again once nobody holds an array in it, and never before."""

import threading

import numpy as np
import pytest

import linkwork
from linkwork import result_memory

STATES = 4000  # 1.6 MB of inertia matrices


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Begin without memory, and leave that of other tests alone."""
    monkeypatch.setattr(result_memory, "_kept", result_memory.deque(maxlen=32))
    return result_memory._kept


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("panda")


@pytest.fixture(scope="module")
def states():
    return np.random.default_rng(0).normal(size=(2, STATES, 7))


def address(array):
    return array.__array_interface__["data"][0]


def test_dropped_results_give_their_memory_to_the_next(robot, states):
    """Check the address of the results of call after call."""
    function = robot.compile(["inertia_matrix", "pose:panda_link8"])
    first = function(states[0])
    before = [address(x) for x in first]
    del first
    assert {address(x) for x in function(states[1])} == {*before}


@pytest.mark.parametrize(
    "keep",
    [lambda x: x, lambda x: x[3:5], lambda x: x.T[2], lambda x: memoryview(x), lambda x: x.reshape(-1).view(np.uint8)],
    ids=["array", "slice", "view of a view", "buffer", "bytes"],
)
def test_whoever_holds_any_view_of_a_result_keeps_it(robot, states, keep):
    """Check that a later call does not write into what is held."""
    held = keep(robot.inertia_matrix(states[0]))
    before = np.array(held)
    for _ in range(40):
        robot.inertia_matrix(states[1])
    np.testing.assert_array_equal(np.array(held), before)


def test_results_are_those_that_numpy_makes_room_for(robot, states):
    """Check the bits, shapes and order against calls of few states, and with a first axis that only one input has."""
    q, v = states
    whole = robot.bias(np.tile(q, (6, 1)), np.tile(v, (6, 1)))
    parts = np.concatenate([robot.bias(q[i : i + 100], v[i : i + 100]) for i in range(0, STATES, 100)])
    assert whole.flags.c_contiguous and whole.flags.writeable
    np.testing.assert_array_equal(whole, np.tile(parts, (6, 1)))
    one = robot.bias(np.tile(q, (6, 1)), v[0])
    np.testing.assert_array_equal(one, np.tile(robot.bias(q, np.tile(v[0], (STATES, 1))), (6, 1)))
    two_axes = robot.bias(q[:, None], v[:20])
    assert two_axes.shape == (STATES, 20, 7)
    np.testing.assert_array_equal(two_axes[7, 3], robot.bias(q[7], v[3]))


def test_axes_of_length_one_stay(robot, states):
    """NumPy takes an ``out`` that lacks them."""
    q, v = states
    assert robot.bias(np.tile(q, (9, 1)), v[:1, None]).shape == (1, 9 * STATES, 7)
    assert robot.bias(q[:3], v[:1, None]).shape == (1, 3, 7)
    for inputs, out in (((q[:3], v[:1, None]), np.empty((3, 7))), ((q[:1], v[:1]), np.empty(7))):
        with pytest.raises(linkwork.ShapeError, match="out does not fit"):
            robot.bias(*inputs, out=out)


def test_what_is_kept_is_bounded():
    """Check bytes and number of memories, while all results are held and after they are dropped."""
    held = [result_memory.empty((k, 1000, 7), np.dtype(float)) for k in range(2, 200)]
    assert sum(x.size for x in result_memory._kept) <= result_memory.KEPT and len(result_memory._kept) <= 32
    del held
    assert len(result_memory._kept) <= 32
    assert result_memory.empty((result_memory.KEPT,), np.dtype(float)).base is None


def test_threads_never_share_memory(robot, states):
    """Check results of many threads that call at once, each of which holds its last one."""
    q, _ = states
    batches = [q + 0.01 * k for k in range(4)]
    right, wrong = [robot.inertia_matrix(x) for x in batches], []

    def calls(k):
        for _ in range(60):
            result = robot.inertia_matrix(batches[k])
            if not np.array_equal(result, right[k]):
                wrong.append(k)

    threads = [threading.Thread(target=calls, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
