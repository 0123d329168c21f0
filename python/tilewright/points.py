"""What evaluating points gives, as NumPy rows."""

from __future__ import annotations

import numpy as np

__all__ = ["OUTCOME", "VERDICT"]

OUTCOME = np.dtype(
    [
        ("feasible", np.bool_),
        ("reason", np.uint8),
        ("objective", np.float64),
        ("latency_cycles", np.float64),
        ("energy_nj", np.float64),
        ("area_um2", np.float64),
        ("power_mw", np.float64),
        ("macs", np.float64),
        ("l1_bytes", np.float64),
        ("l2_bytes", np.float64),
        ("pes", np.float64),
    ],
    align=True,
)
"""One row for each point.

`feasible`: it fits the machine and keeps the limits of the objective; `reason`: why not, as Space.reason_name tells it;
`objective`: what is minimised, infinite where there is no answer. Numbers that are not known, and all of them where the point
does not fit the machine, are nan.
"""

VERDICT = np.dtype(
    [
        ("feasible", np.bool_),
        ("reason", np.uint8),
        ("objective", np.float64),
        ("score", np.float64, (3,)),
        ("terms", np.float64, (3,)),
    ],
    align=True,
)
"""What a searcher is told about a point.

`objective`: what is minimised, infinite where there is no answer; `score`: the same with what breaks ties after it; `terms`:
each metric by itself, where a front is searched.
"""
