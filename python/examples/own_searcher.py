"""Your own searcher against ours, under the same budget, ledger and audit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilewright as tw


class HillClimber:
    """Changes one parameter of the best point so far; any legal value of it is as good as another."""

    def __init__(self, space: tw.Space, samples: int, seed: int) -> None:
        self.space, self.random = space, np.random.default_rng(seed)
        self.best: NDArray[np.int32] = space.random(1, seed)[0]
        self.objective = np.inf

    def ask(self, n: int) -> NDArray[np.int32]:
        points = np.repeat(self.best[None], min(n, 8), axis=0)
        for point in points:
            parameter = int(self.random.integers(len(point)))
            point[parameter] = self.random.choice(self.space.choices(point, parameter))
        return self.space.repair(points)

    def tell(self, points: NDArray[np.int32], verdicts: NDArray[Any]) -> None:
        first = int(verdicts["objective"].argmin())
        if verdicts["objective"][first] < self.objective:
            self.best, self.objective = points[first], float(verdicts["objective"][first])


def main(samples: int = 200, seeds: int = 5) -> None:
    searches: list[tw.Search] = ["agents", "genetic", "random", ("climber", HillClimber)]
    study = tw.compare("zoo:resnet18", "zoo:eyeriss", searches, layer="conv2_1", samples=samples, seeds=seeds)
    print(study.text)


if __name__ == "__main__":
    main()
