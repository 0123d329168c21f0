"""Design spaces of layers, and what their points are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright import _core
from tilewright._core import Accelerator, Layer, LeveledMachine, Network, Space, codesign_spaces

if TYPE_CHECKING:
    from typing import Unpack

    import numpy as np
    from numpy.typing import NDArray

    from tilewright._options import SpaceOptions

__all__ = ["codesign_spaces", "evaluate_batch", "space", "spaces"]


def space(layer: Layer, machine: Accelerator | LeveledMachine, **options: Unpack[SpaceOptions]) -> Space:
    """The mappings of a layer on a machine as a design space.

    The options are those of `tilewright map`: `objective`, `model`, `tiles`, `levels`, limits such as `max_l1`.
    """
    return _core.space(layer, machine, **options)


def spaces(network: Network, machine: Accelerator | LeveledMachine, **options: Unpack[SpaceOptions]) -> list[Space]:
    """The spaces of every distinct layer of a network, in order of first appearance; options as of space()."""
    return _core.spaces(network, machine, **options)


def evaluate_batch(space: Space, points: NDArray[np.signedinteger[Any]], threads: int = 0) -> NDArray[np.void]:
    """What each row of points is worth: the same as space.evaluate_batch(points, threads)."""
    return space.evaluate_batch(points, threads)
