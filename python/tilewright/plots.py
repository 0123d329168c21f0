"""Plots of studies; needs matplotlib (`pip install tilewright[plot]`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tilewright.studies import Study

__all__ = ["draw"]


def _map(study: Study, ax: Axes) -> None:
    table = study.to_pandas("convergence")
    for layer, rows in table.groupby("layer", sort=False):
        ax.step(rows["sample"], rows["objective"], where="post", label=study["layers"][int(layer)]["name"])
    ax.set_xlabel("samples")
    ax.set_ylabel(study["objective"])
    ax.set_yscale("log")
    ax.legend(fontsize="small")


def _compare(study: Study, ax: Axes) -> None:
    samples = study["curve_samples"]
    for contender in study["contenders"]:
        middle, low, high = (
            [float("nan") if point[key] is None else point[key] for point in contender["curve"]]
            for key in ("value", "low", "high")
        )
        (line,) = ax.plot(samples, middle, label=contender["label"])
        ax.fill_between(samples, low, high, color=line.get_color(), alpha=0.2)
    ax.set_xlabel("samples of a layer")
    ax.set_ylabel("factor of the best known")
    ax.legend()


def _codesign(study: Study, ax: Axes) -> None:
    measured, cycles = zip(*study["curve"], strict=True) if study["curve"] else ((), ())
    ax.step(measured, cycles, where="post")
    ax.set_xlabel("measurements")
    ax.set_ylabel("cycles of the network")


def _train(study: Study, ax: Axes) -> None:
    curve = study.to_pandas("curve")
    ax.plot(curve["episodes"], curve["return"])
    ax.set_xlabel("episodes")
    ax.set_ylabel("return")


_DRAWINGS = {"map": _map, "compare": _compare, "codesign": _codesign, "train": _train}


def draw(study: Study, ax: Axes | None = None) -> Axes:
    """How the search or the training of a study went; into `ax`, where one is given."""
    if study.verb not in _DRAWINGS:
        raise InvalidInput(f"a study of {study.verb} has nothing to plot, expected one of {', '.join(_DRAWINGS)}")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots()
    _DRAWINGS[study.verb](study, ax)
    ax.set_title(study.text.splitlines()[0], fontsize="small", wrap=True)
    return ax
