"""MADDPG on a game of your own: two scouts have to meet, and see only how far the other one is.

Usage: maddpg_own_game.py [EPISODES]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

import tilewright as tw

MOVES = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)


class Meeting(ParallelEnv[str, NDArray[np.float32], int]):  # type: ignore[misc]
    """Two scouts on a plane; every step costs both of them their distance."""

    def __init__(self) -> None:
        self.metadata = {"name": "meeting"}
        self.possible_agents = ["scout_0", "scout_1"]
        self.agents: list[str] = []
        self.seen = {agent: spaces.Box(-np.inf, np.inf, (2,), np.float32) for agent in self.possible_agents}
        self.moves = {agent: spaces.Discrete(len(MOVES)) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The way to the other scout."""
        return self.seen[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Stay, or half a step along an axis."""
        return self.moves[agent]

    def observe(self) -> dict[str, NDArray[np.float32]]:
        """What both see."""
        first, second = self.places
        return {"scout_0": (second - first).astype(np.float32), "scout_1": (first - second).astype(np.float32)}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both at random places."""
        self.places = np.random.default_rng(seed).uniform(-3, 3, (2, 2))
        self.steps, self.agents = 0, self.possible_agents[:]
        return self.observe(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]) -> tuple[dict[str, Any], ...]:
        """Both move."""
        self.places += 0.5 * MOVES[[actions["scout_0"], actions["scout_1"]]]
        self.steps += 1
        agents, ended = self.agents, self.steps == 10
        if ended:
            self.agents = []
        cost = -float(np.abs(self.places[0] - self.places[1]).sum())
        infos: dict[str, Any] = {agent: {} for agent in agents}
        return self.observe(), dict.fromkeys(agents, cost), dict.fromkeys(agents, False), dict.fromkeys(agents, ended), infos


def main(episodes: int = 2000) -> None:
    learner = tw.marl.Maddpg(Meeting, worlds=4, batch=256, warm_up=1000, update_every=40, capacity=50_000)
    before = learner.evaluate(200)["scout_0"]
    learner.train(episodes)
    after = learner.evaluate(200)["scout_0"]
    print(f"{learner}: {before:.1f} before, {after:.1f} after")

    game = Meeting()
    observations, _ = game.reset(seed=7)
    while game.agents:
        observations, *_ = game.step(learner.act(observations))
    print(f"distance at the end: {np.abs(game.places[0] - game.places[1]).sum():.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
