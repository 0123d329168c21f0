"""Small games in Python, whose best play is known."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class Naming(ParallelEnv):
    """Two agents see the same number below four, and both have to name it: 1 if they do. One step."""

    metadata: ClassVar = {"name": "naming"}

    def __init__(self, masked=False, start=0):
        self.possible_agents = ["left_0", "right_0"]
        self.agents = []
        self.masked = masked
        self.spaces = {
            agent: (spaces.Box(0, 1, (4,), np.float32), spaces.Discrete(4, start=start)) for agent in self.possible_agents
        }
        self.start = start
        self.seeds = []

    def observation_space(self, agent):
        return self.spaces[agent][0]

    def action_space(self, agent):
        return self.spaces[agent][1]

    def infos(self):
        # the number and the next one are allowed
        mask = np.zeros(4, np.int8)
        mask[[self.number, (self.number + 1) % 4]] = 1
        return {agent: {"action_mask": mask} if self.masked else {} for agent in self.possible_agents}

    def reset(self, seed=None, options=None):
        self.seeds.append(seed)
        self.number = int(np.random.default_rng(seed).integers(4))
        self.agents = self.possible_agents[:]
        return {agent: np.eye(4, dtype=np.float32)[self.number] for agent in self.agents}, self.infos()

    def step(self, actions):
        assert set(actions) == set(self.agents)
        if self.masked:
            assert all((action - self.start - self.number) % 4 < 2 for action in actions.values())
        reward = float(all(action - self.start == self.number for action in actions.values()))
        agents, self.agents = self.agents, []
        return (
            {agent: np.zeros(4, np.float32) for agent in agents},
            dict.fromkeys(agents, reward),
            dict.fromkeys(agents, True),
            dict.fromkeys(agents, False),
            self.infos(),
        )


class Leaving(ParallelEnv):
    """Agent i leaves after i + 1 steps, and is paid 1 a step. They see the number of the step; actions are of every kind."""

    metadata: ClassVar = {"name": "leaving"}

    def __init__(self, silent=False):
        self.possible_agents = ["a", "b", "c", "d"]
        self.agents = []
        self.silent = silent  # leave without a word
        self.received = []
        self.action_spaces = {
            "a": spaces.Discrete(3, start=-1),
            "b": spaces.MultiDiscrete([2, 3]),
            "c": spaces.MultiBinary(2),
            "d": spaces.Box(np.array([0, -np.inf], np.float32), np.array([4, np.inf], np.float32)),
        }
        self.observation_spaces = {
            "a": spaces.Box(0, 9, (2, 2), np.float32),
            "b": spaces.Discrete(5),
            "c": spaces.Dict({"x": spaces.Box(0, 9, (1,), np.float32), "y": spaces.Discrete(2)}),
            "d": spaces.MultiBinary(3),
        }

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def seen(self):
        t = self.t
        return {
            "a": np.full((2, 2), t, np.float32),
            "b": t,
            "c": {"x": np.array([t], np.float32), "y": t % 2},
            "d": np.array([1, 0, t % 2], np.int8),
        }

    def reset(self, seed=None, options=None):
        self.t = 0
        self.agents = self.possible_agents[:]
        return self.seen(), {agent: {} for agent in self.agents}

    def step(self, actions):
        assert list(actions) == self.agents
        for agent, action in actions.items():
            assert self.action_spaces[agent].contains(action), (agent, action)
        self.received.append(actions)
        self.t += 1
        present = self.agents
        self.agents = self.possible_agents[self.t :]
        left = {agent: agent not in self.agents for agent in present}
        if self.silent:
            present = self.agents
        seen = self.seen()
        return (
            {agent: seen[agent] for agent in present},
            dict.fromkeys(left, 1.0),
            {agent: left[agent] for agent in present},
            dict.fromkeys(present, False),
            {agent: {} for agent in present},
        )


class Matching(ParallelEnv):
    """Everybody sees a number in [-1, 1] and has to say it; pays minus the square of the difference. One step."""

    metadata: ClassVar = {"name": "matching"}
    possible_agents: ClassVar = ["one", "two"]

    def __init__(self):
        self.agents = []
        self.observed, self.acted = spaces.Box(-1, 1, (1,), np.float32), spaces.Box(-2, 2, (1,), np.float32)

    def observation_space(self, agent):
        return self.observed

    def action_space(self, agent):
        return self.acted

    def reset(self, seed=None, options=None):
        self.number = np.random.default_rng(seed).uniform(-1, 1)
        self.agents = self.possible_agents[:]
        return {agent: np.array([self.number], np.float32) for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(self, actions):
        agents, self.agents = self.agents, []
        rewards = {agent: -float((actions[agent][0] - self.number) ** 2) for agent in agents}
        return (
            {agent: np.zeros(1, np.float32) for agent in agents},
            rewards,
            dict.fromkeys(agents, True),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )
