"""Learning to reach in a Gymnasium environment: many Pandas, and a policy found by evolution strategies.

pip install 'linkwork[gym]'
python examples/reaching_gym.py [PICTURE.png]
"""

import sys
import time

import gymnasium as gym
import matplotlib.style
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from matplotlib.figure import Figure

import linkwork
from linkwork.control import ComputedTorque, Point
from linkwork.drawing import STYLE

READY = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.8])
HAND = "panda_link8"
EPISODE = 40  # steps of 20 ms
STRIDE = 0.1  # rad, by which an action moves what the joints aim at
GENERATIONS = 40


class PandaReach(VectorEnv):
    """Bring the hand to a point. Actions, -1 to 1, move the aims of the joints' controllers; observations are
    positions, velocities, targets, and the way from the hand to the point, whose length, with a
    minus, is the reward."""

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int = 1):
        robot = linkwork.load("panda")
        self.num_envs, self.robot = num_envs, robot
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, (robot.nv,), np.float64)
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (3 * robot.nv + 3,), np.float64)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        law, aims = ComputedTorque(400.0, 40.0), Point(READY, 0, 0)
        self.stepper = robot.stepper(num_envs, 1e-3, substeps=20, torque=law, reference=aims, outputs=[f"pose:{HAND}"])
        self.goals, self.over = np.zeros((num_envs, 3)), np.zeros(num_envs, bool)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._start(np.ones(self.num_envs, bool))
        return self._observed(), {}

    def step(self, actions):
        aims = self.stepper.reference.q
        aims += STRIDE * np.clip(actions, -1, 1)
        np.clip(aims, self.robot.coordinates.lower, self.robot.coordinates.upper, out=aims)
        self.stepper.step()
        begins = self.over  # those whose last step ended an episode: this one begins the next, whatever they do
        self._start(begins)
        terminated = self.stepper.diverged
        truncated = self.stepper.steps >= EPISODE * self.stepper.substeps
        seen = self._observed()
        rewards = np.where(begins | terminated, 0.0, -np.linalg.norm(seen[:, -3:], axis=1))
        self.over = terminated | truncated
        return seen, rewards, terminated, truncated, {}

    def _start(self, chosen):
        count, n = int(chosen.sum()), self.robot.nv
        starts = READY + self.np_random.uniform(-0.1, 0.1, (count, n))
        self.stepper.reset(chosen, starts, np.zeros(n))
        self.stepper.reference.q[chosen] = starts
        there = READY + self.np_random.uniform(-0.4, 0.4, (count, n))
        self.goals[chosen] = self.robot.pose(HAND, there)[:, :3, 3]
        self.over = self.over & ~chosen

    def _observed(self):
        q, v = self.stepper.q, self.stepper.v
        way = self.goals - self.stepper.outputs["pose"][:, :3, 3]
        return np.concatenate([q - READY, v, self.stepper.reference.q - q, way], axis=1)


def evaluated(envs, policies, seed):
    """Returns of an episode of each environment with its own linear policy, and the distances at its end."""
    seen, _ = envs.reset(seed=seed)
    total = np.zeros(envs.num_envs)
    for _ in range(EPISODE):
        seen, rewards, _, truncated, _ = envs.step(np.clip(np.einsum("eij,ej->ei", policies, seen), -1, 1))
        total += rewards
    assert truncated.all()
    return total, -rewards


if __name__ == "__main__":
    gym.register("linkwork/PandaReach-v0", vector_entry_point=PandaReach)
    envs, rng = gym.make_vec("linkwork/PandaReach-v0", num_envs=512), np.random.default_rng(0)
    pairs, spread, rate = envs.num_envs // 2, 0.05, 0.5
    policy = np.zeros((envs.single_action_space.shape[0], envs.single_observation_space.shape[0]))
    curve, began = [], time.perf_counter()
    for generation in range(GENERATIONS):
        noise = rng.normal(size=(pairs, *policy.shape))
        tried = policy + spread * np.concatenate([noise, -noise])
        returns, distances = evaluated(envs, tried, generation)
        curve.append(distances.mean())
        better = returns[:pairs] - returns[pairs:]
        policy += rate * np.einsum("e,eij->ij", better / better.std(), noise) / pairs
    steps = len(curve) * EPISODE * envs.num_envs * envs.unwrapped.stepper.substeps
    seconds = time.perf_counter() - began
    print(f"{steps:,} steps of a Panda and {GENERATIONS} generations in {seconds:.1f} s")
    _, before = evaluated(envs, np.zeros((envs.num_envs, *policy.shape)), 1000)
    _, after = evaluated(envs, np.broadcast_to(policy, (envs.num_envs, *policy.shape)), 1000)
    print(f"from the goal after {EPISODE * 0.02:g} s: {before.mean():.3f} m at first, {after.mean():.3f} m learned")
    assert after.mean() < 0.5 * before.mean()
    with matplotlib.style.context(STYLE):
        figure = Figure(figsize=(6, 3.4))
        axes = figure.subplots()
        axes.plot(curve)
        axes.set(xlabel="generation", ylabel="distance at the end (m)", ylim=(0, None))
        figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "reaching.png")
