"""Designing as a game of several agents, each of which decides its own parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from tilewright import _core
from tilewright._design import Designs
from tilewright.errors import InvalidInput

if TYPE_CHECKING:
    from tilewright._core import Space

Assignment = str | Mapping[str, Sequence[str]]


def _agents_of(space: Space, assignment: Assignment) -> dict[str, list[str]]:
    roles = {parameter.name: parameter.role for parameter in space.parameters}
    if isinstance(assignment, Mapping):
        given = {str(agent): [str(name) for name in names] for agent, names in assignment.items()}
        spoken = [name for names in given.values() for name in names]
        for name in spoken:
            if name not in roles:
                raise InvalidInput(f"assignment: there is no parameter '{name}', expected some of {', '.join(roles)}")
            if spoken.count(name) > 1:
                raise InvalidInput(f"assignment: '{name}' is decided by {spoken.count(name)} agents, expected one")
        missing = [name for name in roles if name not in spoken]
        if missing:
            raise InvalidInput(f"assignment: nobody decides '{missing[0]}', expected every parameter to have an agent")
        empty = [agent for agent, names in given.items() if not names]
        if empty:
            raise InvalidInput(f"assignment: '{empty[0]}' decides nothing, expected at least one parameter")
        return given
    if not isinstance(assignment, str):
        raise TypeError(f"assignment is {assignment!r}, expected a str or the names of parameters by agent")
    teams = _core.assigned(space, assignment)
    if assignment == "by-role":
        return {roles[names[0]]: names for names in teams}
    if assignment == "per-parameter":
        return {names[0]: names for names in teams}
    return {"designer": teams[0]}


class DesignEnv(ParallelEnv[str, NDArray[np.float32], int]):
    """A design space as a PettingZoo parallel environment: agents decide the parameters of a point in turns.

    Step k chooses the value of parameter k, and counts for the agent that decides it; the others wait, for which action 0 is
    the only legal one. An agent sees a 1 where it is its turn, and then what tilewright.gym.DesignEnv shows. All are paid the
    same, at the end: the natural logarithm of reference / objective, or `infeasible`.

    `infos[agent]["action_mask"]` says what is legal; an action of the agent in turn that is not becomes the nearest legal
    one. At the end infos have "point" and "outcome". Arrays are new at every step. One thread at a time may use it.
    """

    def __init__(
        self, space: Space, assignment: Assignment = "by-role", *, reference: float | None = None, infeasible: float = -10.0
    ) -> None:
        """Of a space.

        assignment: "single", "per-parameter", "by-role", or the names of parameters by agent: every parameter once.
        reference: the objective that is paid with 0; None: the median of feasible ones among 256 random points.
        infeasible: what is paid for a point that does not fit the machine.
        """
        self.assignment = _agents_of(space, assignment)
        self._designs = Designs(space, 1, reference, infeasible)
        self.metadata: dict[str, Any] = {"name": f"design {space.name}", "render_modes": [], "is_parallelizable": True}
        self.render_mode: str | None = None
        self.possible_agents: list[str] = list(self.assignment)
        self.agents: list[str] = []
        owner = {name: agent for agent, names in self.assignment.items() for name in names}
        self._owners = [owner[parameter.name] for parameter in self._designs.parameters]
        counts = {parameter.name: parameter.value_count for parameter in self._designs.parameters}
        self.observation_spaces = {agent: self._designs.observation_space(1) for agent in self.possible_agents}
        self.action_spaces = {
            agent: spaces.Discrete(max(counts[name] for name in names)) for agent, names in self.assignment.items()
        }

    @property
    def space(self) -> Space:
        """The design space."""
        return self._designs.space

    @property
    def reference(self) -> float:
        """The objective that is paid with 0."""
        return self._designs.reference

    @property
    def turn(self) -> str | None:
        """The agent whose action counts in the next step; None at the end."""
        return None if self._designs.complete else self._owners[self._designs.decided]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Of an agent; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Of an agent; always the same object."""
        return self.action_spaces[agent]

    def _seen(self) -> dict[str, NDArray[np.float32]]:
        row = self._designs.observations()[0]
        return {agent: np.concatenate([[np.float32(agent == self.turn)], row]) for agent in self.agents}

    def _infos(self) -> dict[str, dict[str, Any]]:
        infos: dict[str, dict[str, Any]] = {}
        legal = self._designs.masks()[0]
        for agent in self.agents:
            size = int(self.action_spaces[agent].n)
            waiting = np.arange(size) == 0
            infos[agent] = {"action_mask": (legal[:size] if agent == self.turn else waiting).astype(np.int8)}
        return infos

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Begins a point. Nothing is drawn by chance, and there are no options."""
        self._designs.begin()
        self.agents = self.possible_agents[:]
        return self._seen(), self._infos()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Chooses the value of the next parameter."""
        if not self.agents or self.turn is None:
            return {}, {}, {}, {}, {}
        if self.turn not in actions:
            raise InvalidInput(f"the action of {self.turn} is missing, whose turn it is")
        chosen = np.array([actions[self.turn]])
        size = self.action_spaces[self.turn].n
        if chosen.dtype.kind not in "iu" or chosen.shape != (1,) or not 0 <= chosen[0] < size:
            raise InvalidInput(f"the action of {self.turn} is {actions[self.turn]!r}, expected 0 to {size - 1}")
        self._designs.choose(chosen)
        paid, ended = 0.0, self._designs.complete
        infos = self._infos()
        if ended:
            rewards, outcomes = self._designs.judge()
            paid = float(rewards[0])
            for info in infos.values():
                info |= {"point": self._designs.points[0].copy(), "outcome": outcomes[0]}
        agents, seen = self.agents, self._seen()
        if ended:
            self.agents = []
        return seen, dict.fromkeys(agents, paid), dict.fromkeys(agents, ended), dict.fromkeys(agents, False), infos

    def render(self) -> None:
        """There is no render mode; space.describe(info["point"]) says what a point means."""

    def close(self) -> None:
        """Nothing is open."""
