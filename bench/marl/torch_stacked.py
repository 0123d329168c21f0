"""Contender: the fastest conventional PyTorch form we know.

One row per joint transition and one mini-batch for all agents, so that target actions are made once. The networks of all
agents are stacked: the first layers of all critics are one wide matrix product over the joint input x, the other layers
batched products. In the actor step only agent i's own action changes, so its first critic layer is

    z_i = x W_i + (a_i' - a_i) W_i[rows of a_i],

and nothing is propagated back to the other inputs. All agents learn from the same weights and targets move at the end.
"""

import torch_common as common  # first: it sets the number of threads before numpy and torch load
import numpy as np
import torch
from torch_common import ACTIONS, HIDDEN


class Stack:
    """The networks of all agents: weights (agents, inputs, outputs) and biases (agents, 1, outputs). A wide stack keeps its
    first layer as (inputs, agents * HIDDEN) and (agents * HIDDEN), because all agents read the same input."""

    def __init__(self, agents, inputs, outputs, wide):
        self.agents, self.wide = agents, wide
        sizes = (inputs, HIDDEN, HIDDEN, outputs)
        self.tensors = []
        for fan_in, fan_out in zip(sizes, sizes[1:]):
            bound = (6 / (fan_in + fan_out)) ** 0.5
            self.tensors += [torch.empty(agents, fan_in, fan_out).uniform_(-bound, bound), torch.zeros(agents, 1, fan_out)]
        if wide:
            self.tensors[0] = self.tensors[0].transpose(0, 1).reshape(inputs, -1).contiguous()
            self.tensors[1] = self.tensors[1].reshape(-1)

    def by_agent(self, tensor):
        """A view of a parameter or gradient with the agents in front."""
        if tensor.dim() == 3:
            return tensor
        return tensor.view(-1, self.agents, HIDDEN).transpose(0, 1)

    def forward(self, x, extra=None):
        """Outputs (agents, rows, outputs) of x, (agents, rows, inputs) or for a wide stack (rows, inputs); `extra`
        (agents, rows, HIDDEN) is added to the first layer."""
        weight0, bias0, weight1, bias1, weight2, bias2 = self.tensors
        if self.wide:
            z = torch.addmm(bias0, x, weight0).view(-1, self.agents, HIDDEN).transpose(0, 1)
        else:
            z = torch.baddbmm(bias0, x, weight0)
        hidden = torch.relu(z if extra is None else z + extra)
        hidden = torch.relu_(torch.baddbmm(bias1, hidden, weight1))
        return torch.baddbmm(bias2, hidden, weight2)

    @torch.no_grad()
    def clip_each(self):
        for tensor in self.tensors:
            gradient = self.by_agent(tensor.grad)
            norms = gradient.square().sum((1, 2), keepdim=True).sqrt_()
            gradient.mul_(common.CLIP / norms.clamp_(min=common.CLIP))

    def requires_grad_(self, value):
        for tensor in self.tensors:
            tensor.requires_grad_(value)

    def of_agent(self, i):
        return [(view[i] if view.shape[1] > 1 else view[i, 0])
                for view in (self.by_agent(tensor.detach()) for tensor in self.tensors)]


class StackedMaddpg:
    def __init__(self, agents, transitions, batch, n):
        size = common.observation_size(agents)
        self.agents, self.noise, self.clock, self.losses = agents, common.uniform_noise, common.PhaseClock(), []
        self.transitions, self.batch, self.n, self.size = transitions, batch, n, size
        shapes = {"actor": (size, ACTIONS, False), "critic": (agents * (size + ACTIONS), 1, True)}
        self.online = {kind: Stack(agents, *shape) for kind, shape in shapes.items()}
        self.target = {kind: Stack(agents, *shape) for kind, shape in shapes.items()}
        for stack in self.online.values():
            stack.requires_grad_(True)
        self.optimisers = {kind: common.Adam(stack.tensors) for kind, stack in self.online.items()}
        # The columns of a row: all observations, all actions, all next observations, all rewards.
        self.ends = np.cumsum([agents * size, agents * ACTIONS, agents * size, agents]).tolist()
        rng = np.random.default_rng(2)
        self.rows = np.empty((transitions, self.ends[-1]), np.float32)
        for first in range(0, transitions, 4096):  # a block at a time, not a second copy of the memory
            block = self.rows[first:first + 4096]
            rng.standard_normal(out=block, dtype=np.float32)
            actions = block[:, self.ends[0]:self.ends[1]].reshape(-1, agents, ACTIONS)
            actions = np.exp(actions - actions.max(2, keepdims=True))
            block[:, self.ends[0]:self.ends[1]] = (actions / actions.sum(2, keepdims=True)).reshape(len(block), -1)

    def networks(self):
        return [{prefix + kind: group[kind].of_agent(i)
                 for group, prefix in ((self.online, ""), (self.target, "target_")) for kind in group}
                for i in range(self.agents)]

    def draw_indices(self):
        return common.draw_indices(self.transitions, self.batch, self.n)

    def step(self, kind, loss):
        self.optimisers[kind].zero_grad(set_to_none=True)
        loss.backward()
        self.online[kind].clip_each()
        self.optimisers[kind].step()

    def by_agent(self, columns, width):
        return columns.reshape(len(columns), self.agents, width).transpose(0, 1)

    def update(self):
        agents, critic, (end_o, end_a, end_next, _) = self.agents, self.online["critic"], self.ends
        rows = torch.from_numpy(self.rows.take(self.draw_indices(), 0))
        joint, rewards = rows[:, :end_a], rows[:, end_next:].t()
        observations = self.by_agent(rows[:, :end_o], self.size)
        next_observations = self.by_agent(rows[:, end_a:end_next], self.size)
        self.clock.lap("sampling")

        with torch.no_grad():
            logits = self.target["actor"].forward(next_observations)
            next_actions = common.gumbel_softmax(logits, self.noise(*logits.shape)).transpose(0, 1).reshape(len(rows), -1)
            next_joint = torch.cat((rows[:, end_a:end_next], next_actions), 1)
            goals = rewards + common.GAMMA * self.target["critic"].forward(next_joint)[..., 0]
        self.clock.lap("target_q")

        critic_losses = (critic.forward(joint)[..., 0] - goals).square().mean(1)
        self.step("critic", critic_losses.sum())
        self.clock.lap("q_loss")

        critic.requires_grad_(False)
        logits = self.online["actor"].forward(observations)
        change = common.gumbel_softmax(logits, self.noise(*logits.shape)) - self.by_agent(joint[:, end_o:], ACTIONS)
        every = torch.arange(agents)
        own_rows = critic.tensors[0][end_o:].view(agents, ACTIONS, agents, HIDDEN)[every, :, every]
        values = critic.forward(joint, torch.bmm(change, own_rows))
        actor_losses = -values.mean((1, 2)) + common.LOGIT_PENALTY * logits.square().mean((1, 2))
        self.step("actor", actor_losses.sum())
        critic.requires_grad_(True)
        self.clock.lap("p_loss")

        for kind in self.online:
            common.move_targets(self.target[kind].tensors, self.online[kind].tensors)
        self.clock.lap("target_update")
        self.losses = list(zip(critic_losses.tolist(), actor_losses.tolist()))


if __name__ == "__main__":
    common.measure("stacked", StackedMaddpg)
