"""Tilewright decides how a deep neural network runs on an accelerator.

    >>> import tilewright as tw
    >>> network = tw.read_network("zoo:resnet18")
    >>> machine = tw.read_machine("zoo:eyeriss")

docs/python.md is the guide.
"""

from tilewright import errors, zoo
from tilewright._core import (
    Accelerator,
    Layer,
    LeveledMachine,
    MacArray,
    Network,
    NetworkLayer,
    StorageLevel,
    VtaMachine,
    leveled_machine,
    network_from_onnx,
    network_from_yaml,
    read_machine,
    read_network,
    version,
)
from tilewright.errors import Error, Infeasible, InvalidInput, NotFound, SystemFailure

__version__ = version

__all__ = [
    "Accelerator",
    "Error",
    "Infeasible",
    "InvalidInput",
    "Layer",
    "LeveledMachine",
    "MacArray",
    "Network",
    "NetworkLayer",
    "NotFound",
    "StorageLevel",
    "SystemFailure",
    "VtaMachine",
    "__version__",
    "errors",
    "leveled_machine",
    "network_from_onnx",
    "network_from_yaml",
    "read_machine",
    "read_network",
    "version",
    "zoo",
]
