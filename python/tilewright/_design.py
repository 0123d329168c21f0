"""Points that are decided parameter by parameter, many side by side: what the design environments are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tilewright import _core
from tilewright.errors import InvalidInput

if TYPE_CHECKING:
    from tilewright._core import Space

_SAMPLE = 256  # random points that a reference is the median of


class Designs:
    """Points under way, all at the same parameter."""

    def __init__(self, space: Space, worlds: int, reference: float | None, infeasible: float, threads: int = 1) -> None:
        """Of a space."""
        if worlds < 1:
            raise InvalidInput(f"worlds is {worlds}, expected at least 1")
        self.space, self.worlds, self.infeasible, self.threads = space, worlds, float(infeasible), threads
        self.parameters = list(space.parameters)
        self.count = len(self.parameters)
        self.value_counts = np.array([parameter.value_count for parameter in self.parameters])
        self.most_values = int(self.value_counts.max())
        self.features = np.asarray(space.features, dtype=np.float32)
        if not np.isfinite(self.infeasible):
            raise InvalidInput(f"infeasible is {infeasible}, expected a finite reward")
        if reference is not None and not (np.isfinite(reference) and reference > 0):
            raise InvalidInput(f"reference is {reference}, expected a positive objective")
        self.reference = self._median() if reference is None else float(reference)
        self.begin()

    def _median(self) -> float:
        rows = self.space.evaluate_batch(self.space.random(_SAMPLE, 1), self.threads)
        objectives = rows["objective"][rows["feasible"]]
        objectives = objectives[objectives > 0]
        return float(np.median(objectives)) if len(objectives) else 1.0

    def observation_space(self, extra: int = 0) -> spaces.Box:
        """Of observations(), with so many numbers in [0, 1] before them."""
        end = np.maximum(np.abs(self.features), 1)
        low = np.concatenate([np.zeros(extra + 2 * self.count), -end]).astype(np.float32)
        high = np.concatenate([np.ones(extra + 2 * self.count), end]).astype(np.float32)
        return spaces.Box(low, high, dtype=np.float32)

    def begin(self) -> None:
        """New points, of which nothing is decided."""
        self.points: NDArray[np.int32] = np.zeros((self.worlds, self.count), np.int32)
        self.decided = 0
        self._masks: NDArray[np.bool_] | None = None

    @property
    def complete(self) -> bool:
        """Whether every parameter is decided."""
        return self.decided == self.count

    def masks(self) -> NDArray[np.bool_]:
        """What is legal for the next parameter, a row for each point; the first action only where there is none."""
        if self._masks is None:
            self._masks = np.zeros((self.worlds, self.most_values), dtype=bool)
            if self.complete:
                self._masks[:, 0] = True
            else:
                legal = _core.legal_choices(self.space, self.points, self.decided)
                self._masks[:, : legal.shape[1]] = legal
        return self._masks.copy()

    def choose(self, actions: Any) -> NDArray[np.bool_]:
        """Decides the next parameter of every point; returns where the nearest legal value was taken instead."""
        if self.complete:
            raise InvalidInput("the points are complete, expected reset() before another step")
        chosen = np.asarray(actions)
        if chosen.dtype.kind not in "iu" or chosen.shape != (self.worlds,):
            raise InvalidInput(f"actions are {actions!r}, expected a whole number for each of {self.worlds}")
        if chosen.min() < 0 or chosen.max() >= self.most_values:
            wrong = chosen.min() if chosen.min() < 0 else chosen.max()
            raise InvalidInput(f"an action is {wrong}, expected 0 to {self.most_values - 1}")
        masks = self.masks()
        far = np.where(masks, np.abs(np.arange(self.most_values) - chosen[:, None].astype(np.int64)), self.most_values)
        nearest = far.argmin(axis=1)
        self.points[:, self.decided] = nearest
        self.decided += 1
        self._masks = None
        return np.asarray(nearest != chosen)

    def judge(self) -> tuple[NDArray[np.float64], NDArray[np.void]]:
        """What complete points are paid, and their outcomes."""
        outcomes = self.space.evaluate_batch(self.points, self.threads)
        good = outcomes["feasible"] & (outcomes["objective"] > 0)
        objective = np.where(good, outcomes["objective"], 1.0)
        return np.where(good, np.log(self.reference / objective), self.infeasible), outcomes

    def observations(self) -> NDArray[np.float32]:
        """A new array: which parameter is next, what is decided, and the features of the space."""
        rows = np.zeros((self.worlds, 2 * self.count + len(self.features)), np.float32)
        if not self.complete:
            rows[:, self.decided] = 1
        done = slice(self.count, self.count + self.decided)
        rows[:, done] = (self.points[:, : self.decided] + 1) / self.value_counts[: self.decided]
        rows[:, 2 * self.count :] = self.features
        return rows
