"""Contender: PyTorch with pre-allocated float32 arrays per agent, as most PyTorch repositories have them.

A mini-batch is one indexing operation per array. Indices are drawn with replacement, anew for each agent that learns.
"""

import torch_common as common  # first: it sets the number of threads before numpy and torch load
import numpy as np
import torch


class NumpyMaddpg(common.AgentByAgent):
    def __init__(self, agents, transitions, batch, n):
        super().__init__(agents)
        rng, size = np.random.default_rng(2), common.observation_size(agents)

        def normal(*shape):
            return rng.standard_normal(shape, dtype=np.float32)

        self.observations = [normal(transitions, size) for _ in range(agents)]
        self.actions = [rng.random((transitions, common.ACTIONS), dtype=np.float32) for _ in range(agents)]
        self.next_observations = [normal(transitions, size) for _ in range(agents)]
        self.rewards = [normal(transitions) for _ in range(agents)]
        self.dones = [np.zeros(transitions, np.float32) for _ in range(agents)]
        for action in self.actions:
            action /= action.sum(1, keepdims=True)
        self.transitions, self.batch, self.n = transitions, batch, n

    def draw_indices(self):
        return common.draw_indices(self.transitions, self.batch, self.n)

    def gather(self, agent):
        indices = self.draw_indices()

        def rows(arrays):
            return [torch.from_numpy(array.take(indices, 0)) for array in arrays]

        rewards, dones = rows((self.rewards[agent], self.dones[agent]))
        return rows(self.observations), rows(self.actions), rows(self.next_observations), rewards, dones


if __name__ == "__main__":
    common.measure("numpy", NumpyMaddpg)
