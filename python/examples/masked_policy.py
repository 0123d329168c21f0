"""A loop like MaskablePPO's on one layer: sample under action masks, and follow the gradient; in NumPy alone.

With sb3-contrib installed, `MaskablePPO("MlpPolicy", tw.gym.DesignEnv(space)).learn(10_000)` does the like.
Usage: masked_policy.py [ROUNDS]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw


def main(rounds: int = 60, worlds: int = 64) -> None:
    layer = tw.zoo.network("resnet18")["conv2_1"]
    machine = tw.zoo.machine("eyeriss")
    assert isinstance(machine, tw.Accelerator)
    space = tw.space(layer, machine, objective="latency")
    env = tw.gym.DesignVectorEnv(space, worlds)
    rng = np.random.default_rng(1)
    logits = np.zeros(
        (len(space), max(parameter.value_count for parameter in space.parameters))
    )  # a policy that looks at nothing but the turn
    means, best = [], np.inf
    env.reset()
    for _ in range(rounds):
        taken, chances = [], []
        for parameter in range(len(space)):
            masks = env.action_masks()
            scores = np.where(masks, logits[parameter], -np.inf)
            chance = np.exp(scores - scores.max(axis=1, keepdims=True))
            chance /= chance.sum(axis=1, keepdims=True)
            actions = (chance.cumsum(axis=1) > rng.random((worlds, 1))).argmax(axis=1)
            _, rewards, _, _, info = env.step(actions)
            taken.append(actions)
            chances.append(chance)
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        for parameter, (actions, chance) in enumerate(zip(taken, chances, strict=True)):
            gradient = np.eye(logits.shape[1])[actions] - chance
            logits[parameter] += 0.3 * (advantages[:, None] * gradient).mean(axis=0)
        means.append(rewards.mean())
        best = min(best, info["outcome"]["objective"].min())
        env.step(np.zeros(worlds, np.int64))  # begins the next points
    print(f"mean reward {np.mean(means[:5]):.2f} in the first rounds, {np.mean(means[-5:]):.2f} in the last")
    print(f"best of {rounds * worlds} points: {best:,.0f} cycles")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
