"""Keywords of Python as the options of the program's tables."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from typing import Any


def _text(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return ",".join(str(part) for part in value)
    if isinstance(value, bool | str | float) or value is None:
        return value
    try:
        return operator.index(value)
    except TypeError:
        return float(value) if hasattr(value, "__float__") else str(value)


def as_json(options: Mapping[str, Any]) -> str:
    """The options as C++ reads them; those that are None are left out."""
    return json.dumps({name.replace("_", "-"): _text(value) for name, value in options.items() if value is not None})
