"""Tilewright decides how a deep neural network runs on an accelerator.

    >>> import tilewright as tw
    >>> network = tw.read_network("zoo:resnet18")
    >>> machine = tw.read_machine("zoo:eyeriss")

docs/python.md is the guide.
"""

import atexit
from typing import TYPE_CHECKING, Any

from tilewright import errors, zoo
from tilewright._core import (
    Accelerator,
    Cost,
    Layer,
    LeveledCost,
    LeveledMachine,
    LeveledMapping,
    MacArray,
    Mapping,
    Network,
    NetworkLayer,
    Parameter,
    Searcher,
    Space,
    StorageLevel,
    VtaMachine,
    dataflow,
    evaluate,
    leveled_machine,
    network_from_onnx,
    network_from_yaml,
    read_machine,
    read_mapping,
    read_network,
    searchers,
    stop_everything,
    version,
)
from tilewright.design import codesign_spaces, evaluate_batch, space, spaces
from tilewright.errors import Error, Infeasible, InvalidInput, NotFound, SystemFailure
from tilewright.runs import Points, Run, open_run
from tilewright.studies import Asked, Progress, Search, Study, codesign, compare, compile, map, train

if TYPE_CHECKING:
    from tilewright import gym, marl, optuna, pettingzoo, points, torch
    from tilewright.points import OUTCOME, VERDICT
    from tilewright.torch import from_torch

__version__ = version

__all__ = [
    "OUTCOME",
    "VERDICT",
    "Accelerator",
    "Asked",
    "Cost",
    "Error",
    "Infeasible",
    "InvalidInput",
    "Layer",
    "LeveledCost",
    "LeveledMachine",
    "LeveledMapping",
    "MacArray",
    "Mapping",
    "Network",
    "NetworkLayer",
    "NotFound",
    "Parameter",
    "Points",
    "Progress",
    "Run",
    "Search",
    "Searcher",
    "Space",
    "StorageLevel",
    "Study",
    "SystemFailure",
    "VtaMachine",
    "__version__",
    "codesign",
    "codesign_spaces",
    "compare",
    "compile",
    "dataflow",
    "errors",
    "evaluate",
    "evaluate_batch",
    "from_torch",
    "gym",
    "leveled_machine",
    "map",
    "marl",
    "network_from_onnx",
    "network_from_yaml",
    "open_run",
    "optuna",
    "pettingzoo",
    "points",
    "read_machine",
    "read_mapping",
    "read_network",
    "searchers",
    "space",
    "spaces",
    "torch",
    "train",
    "version",
    "zoo",
]

atexit.register(stop_everything)  # a study that a thread left running ends before the interpreter does


_LATER = {"OUTCOME": "points", "VERDICT": "points", "from_torch": "torch"}


def __getattr__(name: str) -> Any:
    """What takes time to import, or needs packages that not everybody has, is imported when it is asked for."""
    import importlib

    if name in _LATER:
        return getattr(importlib.import_module(f"tilewright.{_LATER[name]}"), name)
    if name in ("gym", "marl", "optuna", "pettingzoo", "points", "torch"):
        return importlib.import_module(f"tilewright.{name}")
    raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
