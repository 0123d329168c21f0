"""Networks out of PyTorch modules; needs torch and onnx (`pip install tilewright[torch]`)."""

from __future__ import annotations

import inspect
import io
from typing import TYPE_CHECKING, Any

from tilewright._core import Network, network_from_onnx
from tilewright.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["from_torch"]


def from_torch(
    module: Any,
    example: Any,
    *,
    name: str = "",
    dims: Mapping[str, int] | None = None,
    dynamic_axes: Mapping[str, Sequence[int]] | None = None,
) -> Network:
    """The layers of a PyTorch module: exported to ONNX in memory, with no file for anybody to manage.

    `example`: what the module is called with, a tensor or a tuple of them; shapes of the network are those it has. `name`: of
    the network, the module's class by default.
    """
    import torch

    if not isinstance(module, torch.nn.Module):
        raise InvalidInput(f"from_torch: module is {type(module).__name__}, expected a torch.nn.Module")
    inputs = example if isinstance(example, tuple) else (example,)
    buffer = io.BytesIO()
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            # The exporter that writes into memory; before PyTorch 2.1 it was the only one, and had no name.
            named = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
            torch.onnx.export(module, inputs, buffer, dynamic_axes=dict(dynamic_axes) if dynamic_axes else None, **named)
    finally:
        module.train(was_training)
    network = network_from_onnx(buffer.getvalue(), name or type(module).__name__, dims=dict(dims) if dims else None)
    return network.replace(name=name or type(module).__name__)
