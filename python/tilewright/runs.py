"""Run directories: what a study with `output=` has left, and every point that it evaluated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright import _core
from tilewright.errors import NotFound

if TYPE_CHECKING:
    import os

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Points", "Run", "open_run"]


class Points:
    """The evaluated points of a run, in the order they became known; every iteration reads the store anew.

    Iterating gives pieces: dictionaries of arrays, one for each column. The columns are those of `tilewright points`: layer,
    number, the parameters of the space by name, status (ok, or the reason), objective, numbers with their units, design.
    Columns of numbers are float64, nan where a cell is empty. No more than two pieces are in memory.
    """

    def __init__(self, directory: str, layer: str, columns: Sequence[str], rows: int) -> None:
        self._what = (directory, layer, list(columns), rows)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return _core.PointStream(*self._what).columns()

    def __iter__(self) -> Iterator[dict[str, NDArray[Any]]]:
        stream = _core.PointStream(*self._what)
        while (piece := stream.next()) is not None:
            yield piece

    def read(self) -> dict[str, NDArray[np.float64] | NDArray[np.object_]]:
        """All points at once, as a dictionary of arrays."""
        import numpy as np

        pieces = list(self)
        return {name: np.concatenate([piece[name] for piece in pieces]) if pieces else np.empty(0) for name in self.columns}

    def to_pandas(self) -> pd.DataFrame:
        """All points at once, as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.read())


class Run:
    """The directory of a run. Reads the files when it is asked; any number of threads may use it."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory: Path = Path(directory)
        self.verb: str = _core.verb_of(directory)

    def _json(self, name: str) -> dict[str, Any]:
        file = self.directory / name
        if not file.is_file():
            raise NotFound(f"{file}: no such file, expected that of a finished run")
        content = json.loads(file.read_text(encoding="utf-8"))
        assert isinstance(content, dict)
        return content

    @property
    def record(self) -> dict[str, Any]:
        """What was asked for, and the checksums of everything else: run.json."""
        return self._json("run.json")

    @property
    def result(self) -> dict[str, Any]:
        """What was found: the dictionary that the study gave."""
        files = {"compare": "compare.json", "train": "summary.json", "compile": "manifest.json"}
        return self._json(files.get(self.verb, "result.json"))

    def points(self, layer: str = "", *, columns: Sequence[str] = (), rows: int = 65_536) -> Points:
        """Every evaluated point of a run of map or codesign, of one layer or of all; `rows` in a piece."""
        return Points(str(self.directory), layer, columns, rows)

    def __repr__(self) -> str:
        return f"<Run of {self.verb} in {self.directory}>"


def open_run(directory: str | os.PathLike[str]) -> Run:
    """The run in a directory, whatever its verb; NotFound or InvalidInput where there is none."""
    return Run(directory)
