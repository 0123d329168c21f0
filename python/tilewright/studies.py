"""The studies of the program `tilewright` as functions: map, compare, codesign, train and compile.

Each takes the options of its verb as keywords and gives a Study: a dictionary of everything that was found, which also makes
tables, plots and reports. `progress` is called now and then with a Progress. Ctrl-C ends a study with everything kept that is
there: the Study then has `interrupted`; where there is nothing yet, KeyboardInterrupt goes on.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tilewright import _core
from tilewright._core import Accelerator, LeveledMachine, Network, Space
from tilewright.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from typing import TypeAlias, Unpack

    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tilewright._options import CodesignOptions, CompareOptions, CompileOptions, MapOptions, TrainOptions

    PathLike: TypeAlias = str | os.PathLike[str]

__all__ = ["Asked", "Progress", "Search", "Study", "codesign", "compare", "compile", "map", "train"]


class Progress(NamedTuple):
    """How far a study is."""

    title: str
    """What is going on: 'resnet18 on eyeriss'; may be empty."""
    done: int
    """How many of `unit` are done."""
    total: int
    """How many there are."""
    unit: str
    """What is counted: 'samples'."""
    words: str
    """What there is to say besides, on one line."""


class Asked(Protocol):
    """A searcher written in Python: what compare() asks and tells."""

    def ask(self, n: int) -> NDArray[np.int32]:
        """At most n legal points, one row each; none when there is nothing left to try."""

    def tell(self, points: NDArray[np.int32], verdicts: NDArray[np.void]) -> None:
        """What the points of the last ask are worth: rows of tilewright.VERDICT."""


Search = str | tuple[str, Callable[[Space, int, int], Asked]]
"""An entry of compare()'s searches: a name of ours, or a name and what makes a searcher of yours of (space, samples, seed)."""


class Study(Mapping[str, Any]):
    """What a study has found: the dictionary that `tilewright VERB --json` prints, and what can be made of it.

    A value that does not change; any number of threads may read it.
    """

    def __init__(self, result: _core.StudyResult) -> None:
        self._result = result
        self._data: dict[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:
        """Everything as plain dictionaries, lists, numbers and texts."""
        if self._data is None:
            self._data = json.loads(self._result.json())
        return self._data

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def verb(self) -> str:
        """map, compare, codesign, train or compile."""
        return self._result.verb

    @property
    def interrupted(self) -> bool:
        """It was stopped before it was done, and has what there was by then."""
        return self._result.interrupted

    @property
    def mappings(self) -> dict[str, Any]:
        """The best mapping of every layer by its name, of map(); layers for which nothing fits are left out."""
        if self._result.mappings is None:
            raise InvalidInput(f"a study of {self.verb} has no mappings, expected one of map")
        return self._result.mappings

    @property
    def machine(self) -> Any:
        """The machine: of map() the one that was given, of codesign() the one that was found, None where there is none."""
        return self._result.machine

    @property
    def text(self) -> str:
        """What `tilewright VERB` prints."""
        return self._result.text()

    def report(self, path: PathLike | None = None) -> str:
        """The report as one page of HTML that opens from disk; written to `path`, where one is given."""
        page = self._result.html()
        if page is None:
            raise InvalidInput(f"a study of {self.verb} has no report, expected its text")
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    @property
    def tables(self) -> list[str]:
        """What to_pandas() takes."""
        return self._result.tables() or [next(key for key in ("curve", "steps") if key in self.data)]

    def to_pandas(self, table: str = "") -> pd.DataFrame:
        """One of `tables` as a data frame: of map, compare and codesign the layers, of train the curve, of compile the steps."""
        import pandas as pd

        name = table or ("layers" if "layers" in self.tables else self.tables[0])
        if name not in self.tables:
            raise NotFound(f"there is no table '{name}', expected one of {', '.join(self.tables)}")
        if name in self._result.tables():
            return pd.read_csv(io.StringIO(self._result.table(name)))
        return pd.DataFrame(self.data[name])

    def plot(self, ax: Axes | None = None) -> Axes:
        """How the search or the training went, drawn with matplotlib; into `ax`, where one is given."""
        from tilewright import plots

        return plots.draw(self, ax)

    def __repr__(self) -> str:
        return f"<Study of {self.verb}{', interrupted' if self.interrupted else ''}: {self.text.splitlines()[0]}>"

    def _repr_html_(self) -> str:
        """The text, for notebooks."""
        from html import escape

        return f"<pre>{escape(self.text)}</pre>"


@contextlib.contextmanager
def _as_file(network: PathLike | Network, output: PathLike | None, verb: str) -> Iterator[PathLike]:
    """A network by its name; one that was made in Python has a file for as long as the study reads it."""
    if not isinstance(network, Network):
        yield network
        return
    if output is not None:
        raise InvalidInput(
            f"{verb}: output: a run directory says what was read, expected the network by its file; save() writes it"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network.yaml"
        network.save(file)
        yield file


def map(
    network: PathLike | Network,
    machine: PathLike | Accelerator | LeveledMachine,
    *,
    output: PathLike | None = None,
    threads: int = 0,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[MapOptions],
) -> Study:
    """The best mapping of every layer of a network: `tilewright map`.

    `output`: a run directory; the same run in it is continued. `threads`: 0 = all; the result does not depend on them.
    """
    return Study(_core.map_network(network, machine, output, threads, progress, dict(options)))


def compare(
    network: PathLike | Network,
    machine: PathLike | Accelerator | LeveledMachine,
    searches: Sequence[Search] | None = None,
    *,
    output: PathLike | None = None,
    threads: int = 0,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[CompareOptions],
) -> Study:
    """Searchers side by side on the same spaces, with the same budgets and seeds, audited first: `tilewright compare`.

    `searches`: names of ours, and pairs of a name and a function of (space, samples, seed) that makes a searcher of yours for
    one layer: an object with ask(n) and tell(points, verdicts). The first is compared with every other. `threads`: runs at
    once, 0 = one per processor; searchers in Python take turns.
    """
    return Study(_core.compare_searchers(network, machine, searches, output, threads, progress, dict(options)))


def codesign(
    network: PathLike | Network,
    *,
    output: PathLike | None = None,
    threads: int = 0,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[CodesignOptions],
) -> Study:
    """One VTA-class machine for a network and a schedule for every layer, together: `tilewright codesign`."""
    with _as_file(network, output, "codesign") as file:
        return Study(_core.codesign_network(file, output, threads, progress, dict(options)))


def train(
    world: str | None = None,
    *,
    output: PathLike | None = None,
    threads: int = 0,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[TrainOptions],
) -> Study:
    """Teaches a team of agents in a particle world or a toy game: `tilewright train`.

    `world`: None with `resume=True`, which goes on with the run in `output`.
    """
    return Study(_core.train_world(world, output, threads, progress, dict(options)))


def compile(
    network: PathLike | Network,
    *,
    output: PathLike | None = None,
    threads: int = 0,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[CompileOptions],
) -> Study:
    """A whole network as programs of a VTA-class machine, executed and compared with the reference: `tilewright compile`."""
    with _as_file(network, output, "compile") as file:
        return Study(_core.compile_network(file, output, threads, progress, dict(options)))
