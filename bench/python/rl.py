"""What a step of our environments takes in Python, beside MPE2: microseconds of one core's time, best of five rounds.

    build/venv/bin/python bench/python/rl.py [--json]

Needs the package tilewright (build/venv has that of the preset dev), and mpe2 for its column.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tilewright as tw

GAMES = {"simple_spread": "simple_spread_v3", "simple_tag": "simple_tag_v3", "simple_world_comm": "simple_world_comm_v3"}
ROUNDS = 5


def best_of(play: Callable[[int], None], steps: int) -> float:
    """Microseconds a step."""
    play(min(steps, 50))
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        play(steps)
        times.append(time.process_time() - begin)
    return min(times) / steps * 1e6


def single(env: Any, steps: int) -> float:
    """Of a parallel environment, resets included."""
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    actions = [
        {agent: int(rng.integers(env.action_space(agent).n)) for agent in env.possible_agents} for _ in range(64)
    ]

    def play(count: int) -> None:
        for i in range(count):
            env.step(actions[i % 64])
            if not env.agents:
                env.reset()

    return best_of(play, steps)


def vector(name: str, worlds: int) -> float:
    """Of one world among many."""
    env = tw.pettingzoo.particle_vector(name, worlds)
    env.reset()
    env.action_space.seed(1)
    actions = env.action_space.sample()

    def play(count: int) -> None:
        for _ in range(count):
            env.step(actions)

    return best_of(play, max(26, 200_000 // worlds)) / worlds


def design() -> dict[str, float]:
    """Of designing a layer, alone and among many."""
    machine = tw.zoo.machine("eyeriss")
    assert isinstance(machine, tw.Accelerator)
    space = tw.space(tw.zoo.network("resnet18")["conv2_1"], machine)
    rng = np.random.default_rng(1)
    one = tw.gym.DesignEnv(space)
    one.reset()

    def alone(count: int) -> None:
        for _ in range(count):
            if one.step(int(rng.choice(np.flatnonzero(one.action_masks()))))[2]:
                one.reset()

    worlds = 1024
    many = tw.gym.DesignVectorEnv(space, worlds, threads=1)
    many.reset()

    def together(count: int) -> None:
        for _ in range(count):
            many.step(many.action_masks().argmax(axis=1))

    return {"one": best_of(alone, 2000), "many": best_of(together, 40) / worlds}


def measure() -> dict[str, dict[str, float | None]]:
    """Every row by its name."""
    rows: dict[str, dict[str, float | None]] = {}
    for name, module in GAMES.items():
        try:
            theirs: float | None = single(importlib.import_module(f"mpe2.{module}").parallel_env(), 400)
        except ModuleNotFoundError:
            theirs = None
        rows[name] = {"mpe2": theirs, "ours": single(tw.pettingzoo.particle(name), 10_000), "vector": vector(name, 256)}
    designs = design()
    rows["DesignEnv"] = {"mpe2": None, "ours": designs["one"], "vector": designs["many"]}
    return rows


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="as JSON")
    arguments = parser.parse_args()
    rows = measure()
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    print("| environment | MPE2 | ours | MPE2 / ours | ours, of many |\n|---|---|---|---|---|")
    for name, row in rows.items():
        theirs, ours, many = row["mpe2"], row["ours"], row["vector"]
        told = "" if theirs is None else f"{theirs:.0f}"
        ratio = "" if theirs is None or ours is None else f"{theirs / ours:.0f}"
        print(f"| {name} | {told} | {ours:.1f} | {ratio} | {many:.2f} |")


if __name__ == "__main__":
    main()
