"""A store of a million points, a piece at a time and then in pandas: read_points.py [SAMPLES per layer]."""

# script/check: 200
from __future__ import annotations

import sys
import tempfile
import time

import tilewright as tw


def main(samples: int = 130_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tw.map("zoo:alexnet", "zoo:eyeriss", search="random", samples=samples, output=f"{folder}/run")
        run = tw.open_run(f"{folder}/run")
        start, rows, valid = time.perf_counter(), 0, 0
        for piece in run.points(columns=["status", "energy_nj"]):
            rows += len(piece["status"])
            valid += int((piece["status"] == "ok").sum())
        print(f"{rows:,} points, {valid / rows:.1%} of them valid, read in {time.perf_counter() - start:.1f} s")
        frame = run.points("conv3").to_pandas()
        print(frame[frame["status"] == "ok"].nsmallest(3, "objective")[["number", "objective", "latency_cycles", "energy_nj"]])


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
