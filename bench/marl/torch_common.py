"""What the PyTorch contenders share: the sizes of predator-prey, the networks and rules of MADDPG, and the stopwatch.

A contender is a class with `update()` (update-all-trainers), `clock` (its phases) and `networks()` (for the check); it
asks `noise` for every uniform number and `draw_indices` for every mini-batch, so that a check can record both. The
rules are those of openai/maddpg: Xavier weights, zero biases, soft Gumbel actions, each tensor's gradient clipped to norm
0.5, Adam in TensorFlow's form, targets moved by 0.01.
"""

import argparse
import ctypes
import json
import os
import random
import statistics
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when the libraries are loaded

import numpy as np
import torch

torch.set_num_threads(1)
# Keeps freed memory in the process. By default large activations go back to the system and their pages are faulted in again
# at the next update, which costs PyTorch up to a tenth of its time.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
ctypes.CDLL(None).mallopt(M_MMAP_MAX, 0)
ctypes.CDLL(None).mallopt(M_TRIM_THRESHOLD, 2**31 - 1)

HIDDEN, ACTIONS = 64, 5
GAMMA, TAU, LEARNING_RATE, CLIP, LOGIT_PENALTY = 0.95, 0.01, 0.01, 0.5, 1e-3
ADAM_EPSILON = 1e-8
PHASES = ("sampling", "target_q", "q_loss", "p_loss", "target_update")


def observation_size(agents):
    """Of one predator when there are `agents` of them, with the prey and obstacles that go with that number."""
    prey, obstacles = {3: (1, 2), 6: (2, 3)}.get(agents, (max(1, agents // 3), max(2, agents // 3)))
    return 4 + 2 * obstacles + 2 * (agents + prey - 1) + 2 * prey


class PhaseClock:
    """Processor time by phase: `lap(phase)` gives it what has passed since the lap before."""

    def __init__(self):
        self.restart()

    def restart(self):
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.last = time.process_time()

    def lap(self, phase):
        now = time.process_time()
        self.seconds[phase] += now - self.last
        self.last = now


def gumbel_softmax(logits, uniform):
    return torch.softmax(logits - torch.log(-torch.log(uniform)), -1)


def uniform_noise(*shape):
    return torch.rand(*shape).clamp_(min=1e-20)


class Mlp(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = torch.nn.Linear(inputs, HIDDEN)
        self.second = torch.nn.Linear(HIDDEN, HIDDEN)
        self.third = torch.nn.Linear(HIDDEN, outputs)
        for layer in (self.first, self.second, self.third):
            torch.nn.init.xavier_uniform_(layer.weight)
            torch.nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.third(torch.relu_(self.second(torch.relu_(self.first(x)))))

    def tensors(self):
        """Weights (inputs x outputs) and biases in order."""
        return [t.detach().t() if t.dim() == 2 else t.detach() for t in self.parameters()]


class Adam(torch.optim.Adam):
    """TensorFlow's form: epsilon stands beside the root of the uncorrected second moment. PyTorch adds its own to the
    corrected one, so dividing ours by the same correction makes the two equal."""

    def __init__(self, parameters):
        super().__init__(parameters, lr=LEARNING_RATE)
        self.count = 0

    def step(self, closure=None):
        self.count += 1
        self.param_groups[0]["eps"] = ADAM_EPSILON / (1 - 0.999**self.count) ** 0.5
        super().step(closure)


def clip_each(parameters):
    """Every tensor's gradient by itself down to norm CLIP."""
    gradients = [parameter.grad for parameter in parameters]
    norms = torch.stack(torch._foreach_norm(gradients))
    torch._foreach_mul_(gradients, (CLIP / norms.clamp(min=CLIP)).tolist())


@torch.no_grad()
def move_targets(targets, online):
    torch._foreach_mul_(targets, 1 - TAU)
    torch._foreach_add_(targets, online, alpha=TAU)


class AgentByAgent:
    """Steps 3 to 7 of openai/maddpg for one agent after the other, each with its own mini-batch. The replay memory is the
    subclass's: gather(agent) returns the lists of all observations, actions and next observations, and the agent's
    rewards and dones."""

    def __init__(self, agents):
        size = observation_size(agents)
        joint = agents * (size + ACTIONS)
        self.agents, self.noise, self.clock, self.losses = agents, uniform_noise, PhaseClock(), []
        make = {"actor": lambda: Mlp(size, ACTIONS), "critic": lambda: Mlp(joint, 1)}
        self.online = {kind: [make[kind]() for _ in range(agents)] for kind in make}
        self.target = {kind: [make[kind]().requires_grad_(False) for _ in range(agents)] for kind in make}
        self.optimisers = {kind: [Adam(network.parameters()) for network in self.online[kind]] for kind in make}

    def networks(self):
        return [{prefix + kind: group[kind][i].tensors()
                 for group, prefix in ((self.online, ""), (self.target, "target_")) for kind in group}
                for i in range(self.agents)]

    def step(self, kind, i, loss):
        parameters, optimiser = list(self.online[kind][i].parameters()), self.optimisers[kind][i]
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        clip_each(parameters)
        optimiser.step()

    def update_agent(self, i, batch):
        observations, actions, next_observations, rewards, dones = batch
        actor, critic = self.online["actor"][i], self.online["critic"][i]
        with torch.no_grad():
            next_actions = []
            for policy, observation in zip(self.target["actor"], next_observations):
                logits = policy(observation)
                next_actions.append(gumbel_softmax(logits, self.noise(*logits.shape)))
            value = self.target["critic"][i](torch.cat(next_observations + next_actions, 1))[:, 0]
            goal = rewards + GAMMA * (1 - dones) * value
        self.clock.lap("target_q")

        critic_loss = torch.nn.functional.mse_loss(critic(torch.cat(observations + actions, 1))[:, 0], goal)
        self.step("critic", i, critic_loss)
        self.clock.lap("q_loss")

        critic.requires_grad_(False)
        logits = actor(observations[i])
        own = gumbel_softmax(logits, self.noise(*logits.shape))
        joint = torch.cat(observations + actions[:i] + [own] + actions[i + 1:], 1)
        actor_loss = -critic(joint).mean() + LOGIT_PENALTY * logits.square().mean()
        self.step("actor", i, actor_loss)
        critic.requires_grad_(True)
        self.clock.lap("p_loss")

        for kind in self.online:
            move_targets(list(self.target[kind][i].parameters()), list(self.online[kind][i].parameters()))
        self.clock.lap("target_update")
        self.losses.append((critic_loss.item(), actor_loss.item()))

    def update(self):
        self.losses = []
        for i in range(self.agents):
            batch = self.gather(i)
            self.clock.lap("sampling")
            self.update_agent(i, batch)


def draw_indices(count, batch, n):
    """`batch` of `count` transitions: independent ones when n is 0, else Algorithm 1 of arXiv 2305.13411: all neighbours at
    most n steps from each reference, the reference itself left out."""
    if n == 0:
        return np.random.randint(0, count, batch)
    offsets = np.concatenate((np.arange(-n, 0), np.arange(1, n + 1)))
    chosen = np.empty(0, np.int64)
    while len(chosen) < batch:
        references = np.random.randint(0, count, -(-batch // (2 * n)))
        window = (references[:, None] + offsets).reshape(-1)
        chosen = np.concatenate((chosen, window[(window >= 0) & (window < count)]))
    return chosen[:batch]


def neighbors_of(sampler):
    """How far a window of the sampler reaches: 0 for uniform, N for neighbor:N."""
    if sampler == "uniform":
        return 0
    kind, _, n = sampler.partition(":")
    if kind != "neighbor" or not n.isdigit() or int(n) == 0:
        sys.exit(f"sampler '{sampler}' is not known here, expected uniform or neighbor:3")
    return int(n)


def seed(value):
    random.seed(value)
    np.random.seed(value)
    torch.manual_seed(value)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=3)
    parser.add_argument("--transitions", type=int, default=100_000, help="in the replay memory")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--sampler", default="uniform", help="uniform or neighbor:N")
    return parser.parse_args()


def measure(name, make_contender):
    """Times updates of make_contender(agents, transitions, batch, n) and prints medians as one JSON object."""
    options = arguments()
    seed(1)
    contender = make_contender(options.agents, options.transitions, options.batch, neighbors_of(options.sampler))
    rounds = []
    for _ in range(options.warm_up + options.repetitions):
        contender.clock.restart()
        contender.update()
        rounds.append({phase: seconds * 1e3 for phase, seconds in contender.clock.seconds.items()})
    rounds = rounds[options.warm_up:]
    totals = [sum(phases.values()) for phases in rounds]
    print(json.dumps({
        "contender": name, "agents": options.agents, "transitions": options.transitions, "batch": options.batch,
        "sampler": options.sampler, "repetitions": options.repetitions,
        "cpu_ms": statistics.median(totals), "cpu_ms_all": totals,
        "phases_ms": {phase: statistics.median(phases[phase] for phases in rounds) for phase in PHASES}}))
