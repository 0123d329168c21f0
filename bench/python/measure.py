"""measure.py PROGRAM [--quick]: the figures of bench/python/run.py as JSON; run by an interpreter that has the package."""

import json
import subprocess
import sys
import tempfile
import time

START = time.perf_counter()
import tilewright as tw  # noqa: E402

FIRST_IMPORT = time.perf_counter() - START
PROGRAM, QUICK = sys.argv[1], "--quick" in sys.argv


def seconds(act, rounds=3, clock=time.perf_counter):
    """The least of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = clock()
        act()
        best = min(best, clock() - start)
    return best


def cpu_seconds(act, rounds=3):
    """The same in processor time, which other work on the machine hardly changes."""
    return seconds(act, rounds, time.process_time)


def import_seconds():
    timed = "import time; t = time.perf_counter(); import tilewright; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True).stdout) for _ in range(5))


def main():
    layer = tw.zoo.network("resnet18")["conv2_1"]
    figures = {"`import tilewright`": f"{import_seconds() * 1e3:.0f} ms"}
    space = tw.space(layer, tw.zoo.machine("eyeriss"))
    count = 20_000 if QUICK else 200_000

    def calls():
        for _ in range(count):
            len(space)

    figures["a call that does nothing"] = f"{cpu_seconds(calls) / count * 1e6:.3f} us"
    for name in ("eyeriss", "eyeriss-dram"):
        machine = tw.zoo.machine(name)
        mapping = tw.dataflow("nvdla" if name == "eyeriss" else "weight-stationary", layer, machine)

        def evaluations(mapping=mapping, machine=machine):
            for _ in range(count // 100):
                tw.evaluate(mapping, layer, machine)

        figures[f"`evaluate`, {name}"] = f"{cpu_seconds(evaluations) / (count // 100) * 1e6:.1f} us"
        space = tw.space(layer, machine)
        points = space.random(count)
        batch = cpu_seconds(lambda space=space, points=points: space.evaluate_batch(points, threads=1))
        figures[f"`evaluate_batch`, {name}, by processor time"] = f"{count / batch:,.0f} points/s"
        batch = seconds(lambda space=space, points=points: space.evaluate_batch(points))
        figures[f"`evaluate_batch`, {name}, all processors, by the clock"] = f"{count / batch:,.0f} points/s"
    samples = 500 if QUICK else 4000
    command = [PROGRAM, "map", "zoo:resnet18", "--hardware", "zoo:eyeriss", "--search", "random", "--samples", str(samples)]
    by_program = seconds(lambda: subprocess.run(command, capture_output=True, check=True))
    by_python = seconds(lambda: tw.map("zoo:resnet18", "zoo:eyeriss", search="random", samples=samples))
    figures[f"`map` of ResNet-18, random, {samples:,} samples per layer: Python, program"] = f"{by_python:.2f} s, {by_program:.2f} s"
    with tempfile.TemporaryDirectory() as folder:
        tw.map("zoo:resnet18", "zoo:eyeriss", search="random", samples=samples, output=f"{folder}/run")
        run = tw.open_run(f"{folder}/run")
        rows = 0

        def read():
            nonlocal rows
            rows = sum(len(piece["number"]) for piece in run.points())

        figures["`points()` of all columns, by processor time"] = f"{1 / (cpu_seconds(read, 1) / rows):,.0f} rows/s"
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
