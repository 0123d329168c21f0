"""Designing as a game: design spaces as Gymnasium environments, with action masks.

    >>> import tilewright as tw
    >>> space = tw.space(tw.zoo.network("resnet18").layers[0].layer, tw.zoo.machine("eyeriss"))
    >>> env = tw.gym.DesignEnv(space)
    >>> observation, info = env.reset()

An episode decides the parameters of a point, one after another; what is legal depends on those before. Needs the package
gymnasium: `pip install tilewright[rl]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"tilewright.gym needs the package {missing.name}, expected it installed: pip install 'tilewright[rl]'", name=missing.name
    ) from missing

from tilewright._design import Designs

if TYPE_CHECKING:
    from tilewright._core import Space

__all__ = ["DesignEnv", "DesignVectorEnv"]


class DesignEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A design space as an environment of one agent.

    Step k chooses the value of parameter k by its index. The observation has three parts: which parameter is next (one entry
    for each, 1 for the next), the values chosen so far (the index + 1 over the number of values, 0 before), and the space's
    features. Rewards are 0 but for the last: the natural logarithm of reference / objective, or `infeasible`.

    `info["action_mask"]` and action_masks() say what is legal, as sb3-contrib's MaskablePPO expects; an action that is not
    becomes the nearest legal one, and `info["repaired"]` is True. At the end `info["point"]` is the point and
    `info["outcome"]` its row of tilewright.OUTCOME. Arrays are new at every step. One thread at a time may use it.
    """

    def __init__(self, space: Space, *, reference: float | None = None, infeasible: float = -10.0) -> None:
        """Of a space.

        reference: the objective that is paid with 0; None: the median of feasible ones among 256 random points.
        infeasible: what is paid for a point that does not fit the machine.
        """
        self._designs = Designs(space, 1, reference, infeasible)
        self.metadata = {"render_modes": []}
        self.render_mode = None
        self.observation_space: spaces.Space[Any] = self._designs.observation_space()
        self.action_space = spaces.Discrete(self._designs.most_values)

    @property
    def space(self) -> Space:
        """The design space."""
        return self._designs.space

    @property
    def reference(self) -> float:
        """The objective that is paid with 0."""
        return self._designs.reference

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now."""
        legal: NDArray[np.bool_] = self._designs.masks()[0]
        return legal

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a point. Nothing is drawn by chance, and there are no options."""
        super().reset(seed=seed)
        self._designs.begin()
        return self._designs.observations()[0], {"action_mask": self._mask()}

    def _mask(self) -> NDArray[np.int8]:
        return self.action_masks().astype(np.int8)

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Chooses the value of the next parameter."""
        repaired = self._designs.choose(np.array([action]))
        info: dict[str, Any] = {"action_mask": self._mask()}
        if repaired[0]:
            info["repaired"] = True
        if not self._designs.complete:
            return self._designs.observations()[0], 0.0, False, False, info
        rewards, outcomes = self._designs.judge()
        info |= {"point": self._designs.points[0].copy(), "outcome": outcomes[0]}
        return self._designs.observations()[0], float(rewards[0]), True, False, info


class DesignVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """Many copies of a DesignEnv that are stepped in one call, and judged together on all threads.

    As in gymnasium.vector: actions, rewards, terminations and truncations have an entry for each copy, observations a row.
    All copies end in the same step, and the step after begins the next points (AutoresetMode.NEXT_STEP). `info` has
    "action_mask" with a row for each copy, and at the end "point" and "outcome".
    """

    def __init__(
        self, space: Space, worlds: int, *, reference: float | None = None, infeasible: float = -10.0, threads: int = 0
    ) -> None:
        """Of a space.

        worlds: how many copies.
        threads: that judge points; 0 = all.
        The other arguments are those of DesignEnv.
        """
        self._designs = Designs(space, worlds, reference, infeasible, threads)
        self.num_envs = worlds
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.render_mode = None
        self.single_observation_space = self._designs.observation_space()
        self.single_action_space = spaces.Discrete(self._designs.most_values)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, worlds)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, worlds)

    @property
    def reference(self) -> float:
        """The objective that is paid with 0."""
        return self._designs.reference

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now, a row for each copy."""
        return self._designs.masks()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a point in every copy. Nothing is drawn by chance, and there are no options."""
        super().reset(seed=seed)
        self._designs.begin()
        return self._designs.observations(), {"action_mask": self.action_masks()}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Chooses the value of the next parameter in every copy."""
        rewards, ended = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        if self._designs.complete:
            self._designs.begin()
            return self._designs.observations(), rewards, ended, ended.copy(), {"action_mask": self.action_masks()}
        repaired = self._designs.choose(actions)
        info: dict[str, Any] = {"action_mask": self.action_masks()}
        if repaired.any():
            info["repaired"] = repaired
        if self._designs.complete:
            rewards, outcomes = self._designs.judge()
            info |= {"point": self._designs.points.copy(), "outcome": outcomes}
            ended[:] = True
        return self._designs.observations(), rewards, ended, np.zeros(self.num_envs, dtype=bool), info
