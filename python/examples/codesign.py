"""A machine and schedules for a network in ten lines: codesign.py [MEASUREMENTS of every layer]."""

# script/check: 16
from __future__ import annotations

import sys

import tilewright as tw

if __name__ == "__main__":
    measurements = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    study = tw.codesign("zoo:alexnet", operators="conv", measurements=measurements)
    print(study.machine)
    print(study.to_pandas())
    print(study["totals"]["cycles"], "cycles on it;", study["totals"]["default_cycles"], "on the default machine")
    print(study["verification"]["sentence"])
