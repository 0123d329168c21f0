"""Do the contenders compute MADDPG? Usage: check_contenders.py

Each contender makes three small updates while its draws are recorded; autograd_update.py repeats them in double precision
from the same weights, transitions and noise. Losses and all weights afterwards must agree. Adam's first steps have the size
of the learning rate however small the gradient, even one that is all rounding; a larger epsilon keeps those out of the
comparison.
"""

import sys

import torch_common as common  # first: it sets the number of threads before numpy and torch load
import numpy as np
import torch

import autograd_update
import torch_list
import torch_numpy
import torch_stacked

AGENTS, TRANSITIONS, BATCH, UPDATES, TOLERANCE, EPSILON = 3, 500, 256, 3, 1e-4, 1e-5


class Recorder:
    """Stands before a contender's two sources of chance and keeps what they gave."""

    def __init__(self, contender):
        self.noise, self.indices = [], []
        draw_noise, draw_indices = contender.noise, contender.draw_indices
        contender.noise = lambda *shape: self.keep(self.noise, draw_noise(*shape))
        contender.draw_indices = lambda: self.keep(self.indices, draw_indices())

    @staticmethod
    def keep(where, what):
        where.append(what)
        return what

    def take(self):
        """Indices of each agent's batch, and Gumbel noise in the order of drawing."""
        indices, noise = self.indices, [-torch.log(-torch.log(u.double())) for u in self.noise]
        self.indices, self.noise = [], []
        return indices, noise


def columns_of(contender):
    """All transitions as lists over agents: observations, actions, next observations, rewards."""
    if isinstance(contender, torch_list.ListMaddpg):
        fields = [[np.array(column) for column in zip(*memory.transitions)] for memory in contender.memories]
        return [[agent[k] for agent in fields] for k in (0, 1, 3, 2)]
    if isinstance(contender, torch_numpy.NumpyMaddpg):
        return [contender.observations, contender.actions, contender.next_observations, contender.rewards]
    ends, parts = [0, *contender.ends], []
    for first, last in zip(ends, ends[1:]):
        parts.append(np.split(contender.rows[:, first:last], contender.agents, 1))
    return parts[:3] + [[reward[:, 0] for reward in parts[3]]]


def copy_of(networks):
    return [{role: [t.double().clone() for t in network] for role, network in agent.items()} for agent in networks]


def batch_of(columns, indices, i):
    observations, actions, next_observations, rewards = columns
    rows = lambda arrays: [torch.tensor(np.asarray(a)[indices], dtype=torch.float32).double() for a in arrays]
    return {"observations": rows(observations), "actions": rows(actions), "next_observations": rows(next_observations),
            "rewards": rows([rewards[i]])[0], "terminated": torch.tensor(0.0), "weights": torch.tensor(1.0)}


def difference(mine, theirs, rules):
    """The largest relative difference of a tensor, over all networks of all agents."""
    return max(autograd_update.weight_difference(a.double(), b.detach(), rules)
               for mine_agent, their_agent in zip(mine, theirs) for role in their_agent
               for a, b in zip(mine_agent[role], their_agent[role]))


def check(name, contender):
    """Whether three updates agree; says so."""
    recorder, columns = Recorder(contender), columns_of(contender)
    shared = isinstance(contender, torch_stacked.StackedMaddpg)
    reference = copy_of(contender.networks())
    moments = [{role: autograd_update.fresh_moments(agent[role]) for role in ("actor", "critic")} for agent in reference]
    rules = autograd_update.Rules(targets_at_once=not shared, epsilon=EPSILON)
    worst_loss = 0.0
    for _ in range(UPDATES):
        contender.update()
        indices, noise = recorder.take()
        if shared:
            indices, noises = indices * AGENTS, [{"target": list(noise[0]), "own": noise[1][i]} for i in range(AGENTS)]
        else:
            turns = [noise[k:k + AGENTS + 1] for k in range(0, len(noise), AGENTS + 1)]
            noises = [{"target": turn[:AGENTS], "own": turn[AGENTS]} for turn in turns]
        batches = [batch_of(columns, indices[i], i) for i in range(AGENTS)]
        losses = autograd_update.update_all(reference, moments, batches, noises, rules)
        for mine, theirs in zip(contender.losses, losses):
            worst_loss = max(worst_loss, autograd_update.loss_difference(*mine, theirs))
    worst_weight = difference(contender.networks(), reference, rules)
    good = worst_loss < TOLERANCE and worst_weight < TOLERANCE
    print(f"{name:18} after {UPDATES} updates: losses differ by {worst_loss:.1e}, weights by {worst_weight:.1e} "
          f"({'equal' if good else 'DIFFERENT'} within {TOLERANCE:.0e})")
    return good


def main():
    common.ADAM_EPSILON = EPSILON
    common.seed(1)
    makers = {"list": torch_list.ListMaddpg, "numpy": torch_numpy.NumpyMaddpg, "stacked": torch_stacked.StackedMaddpg}
    results = [check(name + " " + sampler, make(AGENTS, TRANSITIONS, BATCH, common.neighbors_of(sampler)))
               for name, make in makers.items() for sampler in ("uniform", "neighbor:3")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
