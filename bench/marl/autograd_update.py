"""One update-all-trainers of MADDPG or MASAC written as the equations stand, gradients by PyTorch's autograd.

Nothing here is fast. It is the second opinion: for the contenders (check_contenders.py) and for our engine (parity.py).

An agent is a dict of networks by role (`actor`, `critic`, `target_actor`, … and `critic2`, `target_critic2` for MASAC); a
network is a list of tensors [weight0, bias0, weight1, …], weights (inputs x outputs). A batch is a dict of `observations`,
`actions` and `next_observations` (lists over agents of (rows x size)), `rewards`, `terminated` and `weights` (rows) of the
agent that learns. Noise is Gumbel noise: `target` (a list over agents) and `own`, each (rows x choices).
"""

from dataclasses import dataclass

import torch


@dataclass
class Rules:
    algorithm: str = "maddpg"
    gamma: float = 0.95
    tau: float = 0.01
    learning_rate: float = 0.01
    clip: float = 0.5  # most norm of each tensor's gradient
    logit_penalty: float = 1e-3  # maddpg
    entropy: float = 0.05  # masac
    entropy_batch_mean: bool = False  # masac
    epsilon: float = 1e-8  # of Adam
    targets_at_once: bool = True  # each agent's targets move before the next agent learns


def value(network, x):
    for layer in range(0, len(network), 2):
        x = x @ network[layer] + network[layer + 1]
        if layer + 2 < len(network):
            x = torch.relu(x)
    return x


def sample(logits, noise):
    return torch.softmax(logits + noise, -1)


def entropy(logits):
    p = torch.softmax(logits, -1)
    return -(p * torch.log(p + 1e-6)).sum(-1)


def descend(network, loss, moments, rules):
    """One Adam step, TensorFlow's form, each tensor's gradient clipped by itself. `moments` is {step, first, second}."""
    gradients = torch.autograd.grad(loss, network)
    moments["step"] += 1
    correction = (1 - 0.999 ** moments["step"]) ** 0.5 / (1 - 0.9 ** moments["step"])
    with torch.no_grad():
        for tensor, gradient, first, second in zip(network, gradients, moments["first"], moments["second"]):
            if rules.clip > 0:
                gradient = gradient * rules.clip / max(gradient.norm().item(), rules.clip)
            first.copy_(0.9 * first + 0.1 * gradient)
            second.copy_(0.999 * second + 0.001 * gradient * gradient)
            tensor -= rules.learning_rate * correction * first / (second.sqrt() + rules.epsilon)


def fresh_moments(network):
    return {"step": 0, "first": [torch.zeros_like(t) for t in network], "second": [torch.zeros_like(t) for t in network]}


def target_values(agents, i, batch, noise, rules):
    """y = r + gamma (1 - terminated) (min of the target critics [+ alpha H of the online policy at o'])"""
    next_actions = [sample(value(agent["target_actor"], o), n)
                    for agent, o, n in zip(agents, batch["next_observations"], noise["target"])]
    joint = torch.cat(batch["next_observations"] + next_actions, 1)
    future = value(agents[i]["target_critic"], joint)[:, 0]
    if rules.algorithm == "masac":
        future = torch.minimum(future, value(agents[i]["target_critic2"], joint)[:, 0])
        bonus = entropy(value(agents[i]["actor"], batch["next_observations"][i]))
        future = future + rules.entropy * (bonus.mean() if rules.entropy_batch_mean else bonus)
    return batch["rewards"] + rules.gamma * (1 - batch["terminated"]) * future


def update_agent(agents, moments, i, batch, noise, rules, stepped):
    """Targets, critics and actor of agent i. `stepped(i, role)` is called when a network has made its step. Returns the
    critic's loss, the actor's loss, and the mean size of the values that the latter is a mean of."""
    agent = agents[i]
    goal = target_values(agents, i, batch, noise, rules).detach()
    joint = torch.cat(batch["observations"] + batch["actions"], 1)
    critics = [role for role in ("critic", "critic2") if role in agent]
    critic_loss = 0.0
    for role in critics:
        loss = (batch["weights"] * (value(agent[role], joint)[:, 0] - goal) ** 2).mean()
        descend(agent[role], loss, moments[i][role], rules)
        stepped(i, role)
        critic_loss += loss.item() / len(critics)

    logits = value(agent["actor"], batch["observations"][i])
    own = list(batch["actions"])
    own[i] = sample(logits, noise["own"])
    values = value(agent["critic"], torch.cat(batch["observations"] + own, 1))
    actor_loss = -values.mean()
    if rules.algorithm == "masac":
        actor_loss = actor_loss - rules.entropy * entropy(logits).mean()
    else:
        actor_loss = actor_loss + rules.logit_penalty * (logits ** 2).mean()
    descend(agent["actor"], actor_loss, moments[i]["actor"], rules)
    stepped(i, "actor")
    return critic_loss, actor_loss.item(), values.abs().mean().item()


@torch.no_grad()
def move_targets(agent, rules):
    for role in [role for role in agent if not role.startswith("target_")]:
        for slow, fast in zip(agent["target_" + role], agent[role]):
            slow.copy_((1 - rules.tau) * slow + rules.tau * fast)


def prepare(agents):
    """Makes the online networks learn, in place."""
    for agent in agents:
        for role, network in agent.items():
            for tensor in network:
                tensor.requires_grad_(not role.startswith("target_"))


def update_all(agents, moments, batches, noises, rules, stepped=lambda i, role: None):
    """Every agent with its own (or the same) batch and noise; changes `agents`. Returns the losses."""
    prepare(agents)
    losses = []
    for i, (batch, noise) in enumerate(zip(batches, noises)):
        losses.append(update_agent(agents, moments, i, batch, noise, rules, stepped))
        if rules.targets_at_once:
            move_targets(agents[i], rules)
    if not rules.targets_at_once:
        for agent in agents:
            move_targets(agent, rules)
    return losses


def loss_difference(critic_loss, actor_loss, reference):
    """The larger relative difference of an agent's losses from what update_agent returned. Values of both signs may add up to
    an actor's loss near zero, whose rounding is that of the values."""
    actor_size = max(abs(reference[1]), reference[2])
    return max(abs(critic_loss - reference[0]) / reference[0], abs(actor_loss - reference[1]) / actor_size)


def weight_difference(mine, reference, rules):
    """The norm of a tensor's difference over its norm, or over that of one step where it is nearer to zero, as biases are."""
    step = rules.learning_rate * reference.numel() ** 0.5
    return ((mine - reference).norm() / max(reference.norm().item(), step)).item()
