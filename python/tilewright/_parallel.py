"""PettingZoo's parallel environments as rows of numbers: what a learner in C++ calls, once for a step of all copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tilewright.errors import InvalidInput

Rows = NDArray[np.float32]
Flags = NDArray[np.uint8]


class Coder(Protocol):
    """Between an agent's actions and their row of numbers: one entry for each choice, continuous ones in [-1, 1]."""

    heads: list[int]
    continuous: int

    def action(self, row: Rows) -> Any:
        """What the environment takes."""
        ...


class Choices:
    """Of Discrete, MultiDiscrete and MultiBinary spaces: of each head the largest entry is the choice."""

    continuous = 0

    def __init__(self, space: spaces.Discrete[Any] | spaces.MultiDiscrete | spaces.MultiBinary) -> None:
        """Of a space."""
        self.single = isinstance(space, spaces.Discrete)
        if isinstance(space, spaces.Discrete):
            self.heads = [int(space.n)]
            self.start: Any = int(space.start)
        elif isinstance(space, spaces.MultiDiscrete):
            self.heads = [int(n) for n in space.nvec.ravel()]
            self.start = space.start.ravel()
        else:
            self.heads = [2] * int(np.prod(space.shape))
            self.start = 0
        self.shape, self.dtype = space.shape, space.dtype
        self.ends = np.cumsum(self.heads)

    def action(self, row: Rows) -> Any:
        """The largest entry of each head, the first of equal ones."""
        taken = np.array([part.argmax() for part in np.split(row, self.ends[:-1])])
        if self.single:
            return int(taken[0]) + self.start
        return (taken + self.start).reshape(self.shape).astype(self.dtype)


class Numbers:
    """Of Box spaces: [-1, 1] is stretched to the box; where it has no end, actions stay as they are."""

    def __init__(self, space: spaces.Box) -> None:
        """Of a space."""
        self.heads: list[int] = []
        self.continuous = int(np.prod(space.shape))
        low, high = space.low.ravel().astype(float), space.high.ravel().astype(float)
        bounded = np.isfinite(low) & np.isfinite(high)
        self.middle = np.where(bounded, (np.where(bounded, low, 0) + np.where(bounded, high, 0)) / 2, 0)
        self.half = np.where(bounded, (np.where(bounded, high, 0) - np.where(bounded, low, 0)) / 2, 1)
        self.space, self.low, self.high = space, low, high

    def action(self, row: Rows) -> Any:
        """In the box."""
        values = np.clip(self.middle + self.half * row, self.low, self.high)
        return values.reshape(self.space.shape).astype(self.space.dtype)


def coder_of(agent: str, space: Any) -> Coder:
    """For the actions of an agent."""
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        return Choices(space)
    if isinstance(space, spaces.Box):
        return Numbers(space)
    raise InvalidInput(f"the actions of {agent} are {space}, expected a Discrete, MultiDiscrete, MultiBinary or Box space")


class Seer:
    """Flattens what an agent sees; of dictionaries with an action_mask, the entry 'observation'."""

    def __init__(self, agent: str, space: Any) -> None:
        """Of a space."""
        self.agent = agent
        self.masked = isinstance(space, spaces.Dict) and "action_mask" in space.spaces and "observation" in space.spaces
        self.space = space["observation"] if self.masked else space
        if not self.space.is_np_flattenable:
            raise InvalidInput(f"the observations of {agent} are {space}, expected a space of fixed size")
        self.size = int(spaces.flatdim(self.space))

    def row(self, seen: Any) -> Rows:
        """Of an observation."""
        if self.masked:
            seen = seen["observation"]
        try:
            row = seen if isinstance(self.space, spaces.Box) else spaces.flatten(self.space, seen)
            numbers = np.asarray(row, dtype=np.float32).ravel()
        except (TypeError, ValueError, KeyError, IndexError) as wrong:
            raise InvalidInput(f"the observation of {self.agent} is {seen!r}, expected one of {self.space}") from wrong
        if numbers.size != self.size:
            raise InvalidInput(f"the observation of {self.agent} has {numbers.size} numbers, expected {self.size}")
        return numbers


def mask_of(seen: Any, info: Mapping[str, Any]) -> Any:
    """Where PettingZoo's environments say what is allowed: in the observation, or in the info; None where they do not."""
    if isinstance(seen, Mapping) and "action_mask" in seen:
        return seen["action_mask"]
    return info.get("action_mask")


class ParallelWorlds:
    """Copies of a parallel environment, stepped together."""

    def __init__(self, envs: Sequence[Any], seed: int) -> None:
        """Of copies that nobody else uses. Episodes get seeds made of `seed` and their numbers."""
        self.envs, self.seed = list(envs), seed
        first = self.envs[0]
        for env in self.envs:
            for part in ("possible_agents", "observation_space", "action_space", "reset", "step"):
                if not hasattr(env, part):
                    raise InvalidInput(f"{env!r} has no {part}, expected a parallel environment of PettingZoo")
        self.agents: list[str] = [str(agent) for agent in first.possible_agents]
        if not self.agents:
            raise InvalidInput(f"{first!r} has no possible_agents, expected at least one")
        self.seers = [Seer(agent, first.observation_space(agent)) for agent in first.possible_agents]
        self.coders = [coder_of(agent, first.action_space(agent)) for agent in first.possible_agents]
        self.sizes = [sum(coder.heads) + coder.continuous for coder in self.coders]
        self.ends = np.cumsum(self.sizes)
        self.names = list(first.possible_agents)
        shape = (len(self.envs), len(self.agents))
        self.seen: Rows = np.zeros((shape[0], sum(seer.size for seer in self.seers)), np.float32)
        self.masks: Rows = np.ones((shape[0], int(self.ends[-1])), np.float32)
        self.seen_ends = np.cumsum([seer.size for seer in self.seers])
        self.terminated: Flags = np.zeros(shape, np.uint8)
        self.truncated: Flags = np.zeros(shape, np.uint8)
        seen, infos = first.reset(seed=self._seed_of(0))
        self.masked = any(mask_of(seen[name], infos.get(name, {})) is not None for name in self.names if name in seen)

    @property
    def name(self) -> str:
        """Of the environment."""
        metadata = getattr(self.envs[0], "metadata", None) or {}
        return str(metadata.get("name", type(self.envs[0]).__name__))

    def specs(self) -> list[tuple[str, str, int, list[int], int]]:
        """Name, team, numbers observed, choices of each head and continuous components, of every agent."""
        return [
            (agent, agent.rstrip("0123456789").rstrip("_") or agent, seer.size, coder.heads, coder.continuous)
            for agent, seer, coder in zip(self.agents, self.seers, self.coders, strict=True)
        ]

    def _seed_of(self, episode: int) -> int:
        return int(np.random.SeedSequence((self.seed, episode)).generate_state(1)[0])

    def _show(self, world: int, seen: Mapping[Any, Any], infos: Mapping[Any, Any]) -> None:
        for i, name in enumerate(self.names):
            if name not in seen:
                continue
            end, last = self.seen_ends[i], self.ends[i]
            self.seen[world, end - self.seers[i].size : end] = self.seers[i].row(seen[name])
            if not self.masked:
                continue
            mask = mask_of(seen[name], infos.get(name, {}))
            self.masks[world, last - self.sizes[i] : last] = self._mask(i, mask)

    def _mask(self, agent: int, mask: Any) -> Rows:
        if mask is None:
            return np.ones(self.sizes[agent], np.float32)
        row = np.asarray(mask, dtype=np.float32).ravel()
        if row.size != self.sizes[agent]:
            raise InvalidInput(f"the mask of {self.agents[agent]} has {row.size} entries, expected {self.sizes[agent]}")
        for part in np.split(row, np.cumsum(self.coders[agent].heads)[:-1]):
            if not part.any():
                raise InvalidInput(f"the mask of {self.agents[agent]} allows nothing, expected at least one choice")
        return row

    def reset(self, first_episode: int) -> tuple[Rows, Rows]:
        """Copy w begins episode first_episode + w."""
        self.terminated[:] = 0
        self.truncated[:] = 0
        self.seen[:] = 0
        self.masks[:] = 1
        for world, env in enumerate(self.envs):
            self._show(world, *env.reset(seed=self._seed_of(first_episode + world)))
        return self.seen, self.masks

    def step(self, actions: Rows) -> tuple[Rows, Rows, Flags, Flags, Rows]:
        """Every copy that has not ended."""
        rewards = np.zeros(self.terminated.shape, np.float32)
        for world, env in enumerate(self.envs):
            over = self.terminated[world] | self.truncated[world]
            if over.all():
                continue
            rows = np.split(actions[world], self.ends[:-1])
            taken = {
                name: self.coders[i].action(rows[i]) for i, name in enumerate(self.names) if not over[i] and name in env.agents
            }
            seen, paid, terminated, truncated, infos = env.step(taken)
            self._show(world, seen, infos)
            for i, name in enumerate(self.names):
                if over[i]:
                    continue
                rewards[world, i] = paid.get(name, 0)
                self.terminated[world, i] = bool(terminated.get(name, False))
                # An agent that is gone without a word, though the episode may go on, has been taken out.
                self.truncated[world, i] = bool(truncated.get(name, False)) or (
                    name not in env.agents and not self.terminated[world, i]
                )
        return self.seen, rewards, self.terminated, self.truncated, self.masks


def is_maker(env: Any) -> bool:
    """Whether it is a function, or a class, that makes an environment."""
    return callable(env) and (isinstance(env, type) or not hasattr(env, "possible_agents"))


def copies_of(env: Any, worlds: int | None) -> list[Any]:
    """What a user gives as the environment: one, several of them, or a function that makes one."""
    if isinstance(env, Sequence) and not isinstance(env, str):
        if not env:
            raise InvalidInput("env is an empty list, expected parallel environments")
        if worlds is not None and worlds != len(env):
            raise InvalidInput(f"worlds is {worlds}, but there are {len(env)} environments")
        return list(env)
    if is_maker(env):
        if worlds is not None and not 1 <= worlds <= 65536:
            raise InvalidInput(f"worlds is {worlds}, expected 1 to 65536")
        return [env() for _ in range(worlds or 1)]
    if worlds not in (None, 1):
        raise InvalidInput(f"worlds is {worlds}, but there is one environment: expected a function that makes one")
    return [env]
