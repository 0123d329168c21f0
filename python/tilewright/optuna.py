"""Optuna's samplers on our spaces; needs optuna (`pip install tilewright[optuna]`).

    tw.compare(network, machine, ["agents", ("tpe", tw.optuna.searcher(optuna.samplers.TPESampler))], samples=200)

A parameter of n values is an integer from 0 to n - 1, of categories a choice. Optuna knows no masks: what it suggests is
repaired to the nearest legal point, and the verdict on that point is what it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna

from tilewright._core import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OptunaSearcher", "distributions", "searcher"]


def distributions(space: Space, *, numeric: bool = False) -> dict[str, optuna.distributions.BaseDistribution]:
    """The parameters of a space as Optuna's distributions; with `numeric`, categories are integers too (CMA-ES needs that)."""
    made: dict[str, optuna.distributions.BaseDistribution] = {}
    for parameter in space.parameters:
        if parameter.value_count == 1:
            continue
        if parameter.kind == "ordinal" or numeric:
            made[parameter.name] = optuna.distributions.IntDistribution(0, parameter.value_count - 1)
        else:
            made[parameter.name] = optuna.distributions.CategoricalDistribution(list(range(parameter.value_count)))
    return made


class OptunaSearcher:
    """One of Optuna's samplers on one space, asked and told. One thread at a time."""

    def __init__(self, space: Space, sampler: optuna.samplers.BaseSampler, *, numeric: bool = False) -> None:
        verbosity = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # a line for every study and trial is too much
        self._space = space
        self._study = optuna.create_study(sampler=sampler)
        optuna.logging.set_verbosity(verbosity)
        self._distributions = distributions(space, numeric=numeric)
        self._places = [(i, parameter.name) for i, parameter in enumerate(space.parameters) if parameter.value_count > 1]
        self._trials: list[optuna.trial.Trial] = []

    def ask(self, n: int) -> NDArray[np.int32]:
        """One point, as Optuna learns from every trial."""
        trial = self._study.ask(self._distributions)
        self._trials = [trial]
        point = np.zeros((1, len(self._space)), np.int32)
        for place, name in self._places:
            point[0, place] = trial.params[name]
        return self._space.repair(point)

    def tell(self, points: NDArray[np.int32], verdicts: NDArray[np.void]) -> None:
        """What the points of the last ask are worth; those without an answer have failed."""
        for trial, verdict in zip(self._trials, verdicts, strict=True):
            if verdict["feasible"]:
                objective = float(verdict["objective"])
                self._study.tell(trial, np.log(objective).item() if objective > 0 else objective)
            else:
                self._study.tell(trial, state=optuna.trial.TrialState.FAIL)


def searcher(
    sampler: Callable[..., optuna.samplers.BaseSampler], *, numeric: bool = False, **arguments: Any
) -> Callable[[Space, int, int], OptunaSearcher]:
    """What compare() takes: makes sampler(seed=…, **arguments) anew for every layer and run."""

    def make(space: Space, samples: int, seed: int) -> OptunaSearcher:
        return OptunaSearcher(space, sampler(seed=seed % 2**32, **arguments), numeric=numeric)

    return make
