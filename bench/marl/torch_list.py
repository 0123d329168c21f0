"""Contender: PyTorch with the replay memory of openai/maddpg.

One Python list of tuples per agent. A mini-batch is put together transition by transition, for every agent's list, once
for each agent that learns; the learning agent's own list is read a second time for its rewards.
"""

import random

import torch_common as common  # first: it sets the number of threads before numpy and torch load
import numpy as np
import torch


class AgentMemory:
    """One agent's transitions (observation, action, reward, next observation, done) in arrays of their own."""

    def __init__(self):
        self.transitions = []

    def gather(self, indices):
        observations, actions, rewards, next_observations, dones = [], [], [], [], []
        for index in indices:
            observation, action, reward, next_observation, done = self.transitions[index]
            observations.append(np.array(observation, copy=False))
            actions.append(np.array(action, copy=False))
            rewards.append(reward)
            next_observations.append(np.array(next_observation, copy=False))
            dones.append(done)
        return [torch.as_tensor(np.array(column), dtype=torch.float32)
                for column in (observations, actions, rewards, next_observations, dones)]


def fill(agents, transitions, rng):
    """Random transitions, allocated in the order in which a run would have stored them; the next observation of a step is
    the same object as the observation of the step after it."""
    memories, size = [AgentMemory() for _ in range(agents)], common.observation_size(agents)
    before = rng.standard_normal((agents, size))
    before = [row.copy() for row in before]
    for _ in range(transitions):
        after = rng.standard_normal((agents, size))
        actions = rng.dirichlet(np.ones(common.ACTIONS), agents).astype(np.float32)
        rewards = rng.standard_normal(agents)
        for i, memory in enumerate(memories):
            next_observation = after[i].copy()
            memory.transitions.append((before[i], actions[i].copy(), float(rewards[i]), next_observation, 0.0))
            before[i] = next_observation
    return memories


class ListMaddpg(common.AgentByAgent):
    def __init__(self, agents, transitions, batch, n):
        super().__init__(agents)
        self.memories = fill(agents, transitions, np.random.default_rng(2))
        self.batch, self.n = batch, n

    def draw_indices(self):
        count = len(self.memories[0].transitions)
        if self.n == 0:
            return [random.randint(0, count - 1) for _ in range(self.batch)]
        indices = []
        while len(indices) < self.batch:
            reference = random.randint(0, count - 1)
            window = range(max(0, reference - self.n), min(count, reference + self.n + 1))
            indices.extend(index for index in window if index != reference)
        return indices[:self.batch]

    def gather(self, agent):
        indices = self.draw_indices()
        observations, actions, next_observations = [], [], []
        for memory in self.memories:
            observation, action, _, next_observation, _ = memory.gather(indices)
            observations.append(observation)
            actions.append(action)
            next_observations.append(next_observation)
        _, _, rewards, _, dones = self.memories[agent].gather(indices)
        return observations, actions, next_observations, rewards, dones


if __name__ == "__main__":
    common.measure("list", ListMaddpg)
