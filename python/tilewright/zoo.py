"""The networks and machines that come with the package, by name.

>>> import tilewright as tw
>>> tw.zoo.network("resnet18")
<Network resnet18: 21 layers of 12 shapes, 1.814 G MACs>
"""

from __future__ import annotations

from tilewright._core import Accelerator, LeveledMachine, Network, VtaMachine, read_machine, read_network, zoo_names

__all__ = ["accelerators", "leveled_machines", "machine", "network", "networks"]


def networks() -> list[str]:
    """Names of the built-in networks, sorted."""
    return zoo_names("networks")


def accelerators() -> list[str]:
    """Names of the built-in arrays with L1 and L2, sorted."""
    return zoo_names("accelerators")


def leveled_machines() -> list[str]:
    """Names of the built-in machines with memory levels, sorted."""
    return zoo_names("machines")


def network(name: str) -> Network:
    """The built-in network of that name: the same as read_network('zoo:NAME')."""
    return read_network(f"zoo:{name}")


def machine(name: str) -> Accelerator | LeveledMachine | VtaMachine:
    """The built-in machine of that name, of any kind: the same as read_machine('zoo:NAME')."""
    return read_machine(f"zoo:{name}")
