"""Games of several agents as PettingZoo has them: the particle worlds of MPE2, and designing in teams.

    >>> import tilewright as tw
    >>> env = tw.pettingzoo.particle("simple_tag", agents=6, seed=1)
    >>> observations, infos = env.reset()

Needs the packages gymnasium and pettingzoo: `pip install tilewright[rl]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"tilewright.pettingzoo needs the package {missing.name}, expected it installed: pip install 'tilewright[rl]'",
        name=missing.name,
    ) from missing

from tilewright._core import ParticleWorlds
from tilewright._design_parallel import DesignEnv
from tilewright._keywords import as_json

__all__ = ["DesignEnv", "ParticleEnv", "ParticleVectorEnv", "particle", "particle_vector"]

Observations = dict[str, NDArray[np.float32]]
Infos = dict[str, dict[str, Any]]

_REDRAWN = {"simple_world_comm": 1}  # MPE2 draws the places of landmarks from this one on twice, and the second counts


def particle(name: str, *, seed: int | None = None, continuous_actions: bool = False, **options: Any) -> ParticleEnv:
    """A particle world: simple_spread, simple_tag, … (`tilewright train --list` names all).

    name: the scenario.
    seed: of the first episode, as reset(seed=) takes it; None: of the system.
    continuous_actions: numbers in [0, 1] instead of choices, as MPE2 has them.
    options: those of `tilewright train` for worlds: agents (those that learn, or predators), dialect ("pettingzoo" by
        default, the numbers of MPE2 to the last bit, or "openai"), contacts ("exact" by default, or "fast"),
        episode_length (25), and of simple_tag prey ("learning" by default: they are agents, too), prey_count, obstacles.
    """
    return ParticleEnv(name, seed=seed, continuous_actions=continuous_actions, **options)


def particle_vector(
    name: str, worlds: int, *, seed: int = 1, continuous_actions: bool = False, copy: bool = True, **options: Any
) -> ParticleVectorEnv:
    """Many copies of a particle world that are stepped in one call, in the style of gymnasium.vector.

    worlds: how many.
    seed: of all episodes; world w of the n-th reset plays episode n·worlds + w of the seed, for any number of worlds.
    copy: False hands out views of the observations that the next step overwrites, instead of new arrays.
    The other arguments are those of particle().
    """
    return ParticleVectorEnv(name, worlds, seed=seed, continuous_actions=continuous_actions, copy=copy, **options)


def _worlds(name: str, continuous: bool, options: dict[str, Any]) -> ParticleWorlds:
    given = {"dialect": "pettingzoo", "contacts": "exact"} | ({"prey": "learning"} if name == "simple_tag" else {})
    return ParticleWorlds(name, as_json(given | options), continuous)


def _observation_space(size: int) -> spaces.Box:
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)


def _action_space(heads: list[int], continuous: bool) -> spaces.Space[Any]:
    if continuous:
        return spaces.Box(0, 1, (sum(heads),), np.float32)
    return spaces.Discrete(int(np.prod(heads)))


class ParticleEnv(ParallelEnv[str, NDArray[np.float32], Any]):
    """A particle world as a PettingZoo parallel environment; particle() makes one.

    In the dialect "pettingzoo" it is MPE2's environment: after reset(seed=) the same starts, and after the same actions the
    same observations and rewards, bit for bit. Arrays that it hands out are new and never written to again; what the agents
    see at one moment lies in one of them. One thread at a time may use it: a second one gets an InvalidInput.
    """

    def __init__(self, name: str, *, seed: int | None = None, continuous_actions: bool = False, **options: Any) -> None:
        """See particle()."""
        self._worlds = _worlds(name, continuous_actions, options | {"worlds": None})
        self.metadata: dict[str, Any] = {"name": name, "render_modes": [], "is_parallelizable": True}
        self.render_mode: str | None = None
        self.possible_agents: list[str] = [agent for agent, _, _, _ in self._worlds.agents]
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for agent, _, size, heads in self._worlds.agents:
            self.observation_spaces[agent] = _observation_space(size)
            self.action_spaces[agent] = _action_space(heads, continuous_actions)
        self.state_space = _observation_space(sum(size for _, _, size, _ in self._worlds.agents))
        every = np.asarray(self._worlds.spawns)
        self._bodies = len(every)
        self._landmarks = self._bodies - sum(kind not in ("landmark", "obstacle") for *_, kind in self._worlds.bodies())
        self._spawns = np.repeat(every, 2)
        self._redrawn = 2 * (self._landmarks - _REDRAWN[name]) if name in _REDRAWN else 0
        self._draws = 0  # of goals
        while self._landmarks > 1 and self._landmarks**self._draws < self._worlds.goal_count:
            self._draws += 1
        self._seed(seed)

    def _seed(self, seed: int | None) -> None:
        self.np_random, used = seeding.np_random(seed)
        self._worlds.reseed(used % 2**64)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Of an agent; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Of an agent; always the same object. A choice is movement + 5 · word, where the agent has both."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Begins an episode: the first of the seed, or the next one. There are no options."""
        if seed is not None:
            self._seed(seed)
        goal = 0
        for digit in range(self._draws):  # in the order of MPE2
            goal += int(self.np_random.integers(self._landmarks)) * self._landmarks**digit
        places = self.np_random.uniform(-self._spawns, self._spawns)
        if self._redrawn:
            spawns = self._spawns[-self._redrawn :]
            places[-self._redrawn :] = self.np_random.uniform(-spawns, spawns)
        self._worlds.begin(places[None], [goal])
        self.agents = self.possible_agents[:]
        return self._worlds.seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Everybody acts; observations, rewards, terminations, truncations and infos by agent."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        result = self._worlds.step_one(actions)
        if self._worlds.ended:
            self.agents = []
        return result

    def state(self) -> NDArray[np.float32]:
        """What all agents see, one after another: a new array."""
        row: NDArray[np.float32] = self._worlds.observations()[0]
        return row

    def bodies(self) -> list[tuple[float, float, float, str]]:
        """Place, radius and kind of every body, for drawing."""
        return self._worlds.bodies()

    def render(self) -> None:
        """There is no render mode; bodies() says what there is to draw."""

    def close(self) -> None:
        """Nothing is open."""


class ParticleVectorEnv(VectorEnv[Any, Any, Any]):
    """Many copies of a particle world; particle_vector() makes one.

    Actions and observations are dictionaries by agent, of arrays with a row for each world. Rewards have a row for each
    world and a column for each agent, in the order of `agents`; terminations and truncations an entry for each world. All
    worlds end in the same step, and the step after begins the next episodes, as gymnasium's AutoresetMode.NEXT_STEP says.

    A step of all worlds gives up the interpreter's lock. One thread at a time may use it. Arrays are new at every step,
    unless `copy` is False: then observations are read-only views that the next step overwrites; they keep the worlds alive.
    """

    def __init__(
        self, name: str, worlds: int, *, seed: int = 1, continuous_actions: bool = False, copy: bool = True, **options: Any
    ) -> None:
        """See particle_vector()."""
        self._worlds = _worlds(name, continuous_actions, options | {"worlds": worlds})
        self.metadata: dict[str, Any] = {"name": name, "render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.render_mode: str | None = None
        self.num_envs: int = self._worlds.world_count
        agents = self._worlds.agents
        self.agents: list[str] = [agent for agent, _, _, _ in agents]
        self.single_observation_space = spaces.Dict({agent: _observation_space(size) for agent, _, size, _ in agents})
        self.single_action_space = spaces.Dict({agent: _action_space(heads, continuous_actions) for agent, _, _, heads in agents})
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        ends = np.cumsum([0] + [size for _, _, size, _ in agents])
        self._parts = {agent: slice(int(ends[i]), int(ends[i + 1])) for i, agent in enumerate(self.agents)}
        self._copy = copy
        self._seed(seed)

    def _seed(self, seed: int) -> None:
        self._worlds.reseed(seed % 2**64)
        self._episode = 0
        self._ended = True

    def _observations(self) -> Observations:
        rows = self._worlds.observations() if self._copy else self._worlds.observation_view()
        return {agent: rows[:, part] for agent, part in self._parts.items()}

    def _begin(self) -> None:
        self._worlds.reset(self._episode)
        self._episode += self.num_envs
        self._ended = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in every world: the first ones of the seed, or the next ones. There are no options."""
        if seed is not None:
            self._seed(seed)
        self._begin()
        return self._observations(), {}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Everybody acts in every world; after the end of an episode, the next ones begin instead."""
        if self._ended:
            self._begin()
        else:
            self._worlds.step(actions)
            self._ended = self._worlds.ended
        never = np.zeros(self.num_envs, dtype=bool)
        return self._observations(), self._worlds.rewards(), never, np.full(self.num_envs, self._ended), {}
