"""Optuna's TPE and CMA-ES and a random searcher in Python beside `agents`: optuna_samplers.py [LAYER [SAMPLES [SEEDS]]].

Without a layer, on all of ResNet-18.
"""

# script/check: conv2_1 20 2
from __future__ import annotations

import sys

import numpy as np
import optuna
from numpy.typing import NDArray

import tilewright as tw


class RandomSearcher:
    """Random legal points."""

    def __init__(self, space: tw.Space, samples: int, seed: int) -> None:
        self.space, self.seed = space, seed

    def ask(self, n: int) -> NDArray[np.int32]:
        self.seed += 1
        return self.space.random(min(n, 16), self.seed)

    def tell(self, points: NDArray[np.int32], verdicts: NDArray[np.void]) -> None:
        pass


def main(layer: str = "", samples: int = 200, seeds: int = 3) -> None:
    searches: list[tw.Search] = [
        "agents",
        ("tpe", tw.optuna.searcher(optuna.samplers.TPESampler)),
        ("cma-es", tw.optuna.searcher(optuna.samplers.CmaEsSampler, numeric=True)),
        ("random in Python", RandomSearcher),
    ]
    study = tw.compare("zoo:resnet18", "zoo:eyeriss", searches, layer=layer, samples=samples, seeds=seeds)
    print(study.text)


if __name__ == "__main__":
    main("".join(sys.argv[1:2]), *(int(number) for number in sys.argv[2:]))
