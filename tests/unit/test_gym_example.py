"""The environment of examples/reaching_gym.py keeps to Gymnasium's conventions."""

import runpy
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "reaching_gym.py"))
EPISODE = EXAMPLE["EPISODE"]


@pytest.fixture
def envs():
    return EXAMPLE["PandaReach"](5)


def played(envs, seed, steps):
    """Observations, rewards, terminations and truncations under the actions of a seed."""
    envs.action_space.seed(seed)
    found = [(envs.reset(seed=seed)[0], np.zeros(5), np.zeros(5, bool), np.zeros(5, bool))]
    found += [envs.step(envs.action_space.sample())[:4] for _ in range(steps)]
    return [np.stack(part) for part in zip(*found)]


def test_spaces_and_types(envs):
    assert isinstance(envs, gym.vector.VectorEnv) and envs.num_envs == 5
    seen, infos = envs.reset(seed=0)
    assert envs.observation_space.contains(seen) and infos == {}
    seen, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
    assert envs.observation_space.contains(seen) and infos == {}
    assert rewards.shape == (5,) and rewards.dtype == float and (rewards < 0).all()
    assert terminated.shape == truncated.shape == (5,) and terminated.dtype == truncated.dtype == bool
    before = seen.copy()
    envs.step(envs.action_space.sample())
    assert np.array_equal(seen, before)  # what was given is not written again


def test_a_seed_tells_all(envs):
    one, same, other = (played(envs, seed, 3) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, same))
    assert not np.array_equal(one[0][0], other[0][0])
    assert len({tuple(row) for row in one[0][0]}) == 5  # no two environments are alike


def test_episodes_begin_at_the_step_after_the_last(envs):
    assert envs.metadata["autoreset_mode"] == gym.vector.AutoresetMode.NEXT_STEP
    seen, rewards, terminated, truncated = played(envs, 3, 2 * EPISODE + 1)
    assert not terminated.any()
    for each in truncated.T:
        assert np.flatnonzero(each).tolist() == [EPISODE, 2 * EPISODE + 1]
    begins = seen[EPISODE + 1]
    assert not begins[:, 7:21].any() and np.abs(begins[:, :7]).max() <= 0.1 and not rewards[EPISODE + 1].any()
    assert (rewards[1 : EPISODE + 1] < 0).all() and (rewards[EPISODE + 2 :] < 0).all()


def test_one_that_diverges_begins_again_alone(envs):
    envs.reset(seed=0)
    envs.step(np.zeros((5, 7)))
    envs.stepper.v[2] = 1e200
    _, rewards, terminated, truncated, _ = envs.step(np.zeros((5, 7)))
    assert np.array_equal(terminated, np.arange(5) == 2) and np.isfinite(rewards).all() and not truncated.any()
    seen, _, terminated, _, _ = envs.step(np.zeros((5, 7)))
    assert np.isfinite(seen).all() and not terminated.any()
    assert np.array_equal(envs.stepper.steps // envs.stepper.substeps, [3, 3, 0, 3, 3])


def test_the_reward_is_the_distance_of_the_hand(envs):
    seen, rewards, _, _ = played(envs, 4, 2)
    hands = envs.robot.pose(EXAMPLE["HAND"], EXAMPLE["READY"] + seen[-1][:, :7])[:, :3, 3]
    assert np.allclose(rewards[-1], -np.linalg.norm(envs.goals - hands, axis=1), rtol=1e-12)


def test_wrappers(envs):
    """Gymnasium's own count of what an episode is."""
    counted = gym.wrappers.vector.RecordEpisodeStatistics(envs)
    counted.reset(seed=0)
    total = np.zeros(5)
    for _ in range(EPISODE):
        _, rewards, _, truncated, infos = counted.step(counted.action_space.sample())
        total += rewards
    assert truncated.all() and (infos["episode"]["l"] == EPISODE).all()
    assert np.allclose(infos["episode"]["r"], total, rtol=1e-12)
