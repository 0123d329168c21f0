"""Plays the same episodes in MPE2 and in ours, and compares every number to the last bit.

Run as a program by test_particle.py: NumPy's exp differs from the C library's in the last bits on processors with AVX-512,
so that it has to be told before it starts.
"""

from __future__ import annotations

import importlib
import sys

import numpy as np

import tilewright as tw

GAMES = {
    "simple": ("simple_v3", {}, {}),
    "simple_spread": ("simple_spread_v3", {"N": 5}, {"agents": 5}),
    "simple_adversary": ("simple_adversary_v3", {"N": 3}, {"agents": 3}),
    "simple_push": ("simple_push_v3", {}, {}),
    "simple_speaker_listener": ("simple_speaker_listener_v4", {}, {}),
    "simple_reference": ("simple_reference_v3", {}, {}),
    "simple_crypto": ("simple_crypto_v3", {}, {}),
    "simple_world_comm": ("simple_world_comm_v3", {}, {}),
    "simple_tag": (
        "simple_tag_v3",
        {"num_adversaries": 6, "num_good": 2, "num_obstacles": 3},
        {"agents": 6, "prey_count": 2, "obstacles": 3},
    ),
}


def same(theirs, ours, what):
    assert list(theirs) == list(ours), what
    for agent, value in theirs.items():
        a, b = np.asarray(value), np.asarray(ours[agent])
        assert a.dtype == b.dtype, (what, agent, a.dtype, b.dtype)
        assert a.tobytes() == b.tobytes(), (what, agent, a, b)


def play(name, continuous, episodes, length):
    module, theirs_options, ours_options = GAMES[name]
    theirs = importlib.import_module(f"mpe2.{module}").parallel_env(
        continuous_actions=continuous, max_cycles=length, **theirs_options
    )
    ours = tw.pettingzoo.particle(name, continuous_actions=continuous, episode_length=length, **ours_options)
    assert ours.possible_agents == theirs.possible_agents
    for agent in ours.possible_agents:
        assert ours.observation_space(agent) == theirs.observation_space(agent), agent
        assert ours.action_space(agent) == theirs.action_space(agent), agent
        theirs.action_space(agent).seed(len(agent))
    numbers = 0
    for episode in range(episodes):
        seed = episode if episode % 3 == 0 else None  # the others go on in the stream
        a, b = theirs.reset(seed=seed), ours.reset(seed=seed)
        same(a[0], b[0], (name, episode, "start"))
        while theirs.agents:
            actions = {agent: theirs.action_space(agent).sample() for agent in theirs.agents}
            if not continuous and episode % 2 == 1:  # everybody in the same direction, so that some leave the arena
                movers = [agent for agent in actions if theirs.action_space(agent).n % 5 == 0]
                actions |= {agent: actions[agent] - actions[agent] % 5 + 2 for agent in movers}
            a, b = theirs.step(actions), ours.step(actions)
            for i, what in enumerate(("observation", "reward", "terminated", "truncated")):
                same(a[i], b[i], (name, episode, what))
            assert theirs.agents == ours.agents
            assert theirs.state().tobytes() == ours.state().tobytes()
            numbers += sum(len(part) for part in a[0].values()) + len(a[1])
        assert ours.agents == []
        assert ours.step({}) == ({}, {}, {}, {}, {})
    return numbers


if __name__ == "__main__":
    total = sum(play(name, continuous, 7, length) for name in sys.argv[1:] for continuous in (False, True) for length in (25, 60))
    print(f"{total} numbers equal")
