"""script/bench hierarchy: mapping on machines with memory levels.

bar     the 29 best known mappings of the recorded Timeloop machines (19 are proven optimal): how far every searcher ends
        from them, and how long it takes, both cores. A searcher with a setting is its twin: agents:agents.learn=false
speed   samples per second of random search, annealing and agents on one layer of simba_like
evaluate  microseconds per mapping, by machine and judge
"""

import argparse
import itertools
import json
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drivers  # noqa: E402

DATA = drivers.ROOT / "tests" / "data" / "timeloop"
PARTS = ("bar", "speed", "evaluate")
GEMM = """problem:
  shape:
    name: gemm
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
"""
CONV = "problem:\n  shape: cnn_layer\n"


def map_entry(entry, folder, search, options, seed):
    """The EDP found by the best known one, and the seconds it took. `search` is a searcher, or searcher:key=value."""
    search, *settings = search.split(":")
    numbers = {**entry["dims"], **entry["coefficients"]}
    problem = folder / f"{entry['arch']}_{entry['layer']}.yaml"
    problem.write_text((GEMM if entry["shape"] == "gemm" else CONV)
                       + "  instance: {" + ", ".join(f"{name}: {value}" for name, value in numbers.items()) + "}\n")
    constraints = (f"{entry['arch'].removesuffix('_like')}_gemm" if entry["shape"] == "gemm" else entry["arch"])
    begin = time.perf_counter()
    text = drivers.subprocess.run(
        [drivers.TILEWRIGHT, "map", problem, "--hardware", DATA / f"{entry['arch']}.yaml", "--restrict",
         DATA / f"{constraints}.constraints.yaml", "--model", "timeloop", "--objective", "edp", "--json", "--search", search,
         "--samples", str(options.samples), "--seed", str(seed), "--threads", str(options.threads),
         *(word for setting in settings for word in ("--set", setting))], check=True, stdout=drivers.subprocess.PIPE,
        stderr=drivers.subprocess.DEVNULL, text=True).stdout
    seconds = time.perf_counter() - begin
    return json.loads(text)["layers"][0]["edp"] / entry["edp_J_cycles"], seconds


def bar(options, entries, folder):
    drivers.say(f"{'search':<26} {'seed':>5} {'samples':>9} {'mean':>8} {'median':>8} {'worst':>8} {'in 1 %':>7} {'in 5 %':>7}"
                f" {'s, median':>10} {'s, most':>8}")
    for search, seed in itertools.product(options.searches, range(options.seed, options.seed + options.seeds)):
        factors, times = [], []
        for entry in entries:
            factor, seconds = map_entry(entry, folder, search, options, seed)
            drivers.progress(f"{search} {entry['arch']} {entry['layer']}: {factor:.4f} in {seconds:.1f} s")
            factors.append(factor)
            times.append(seconds)
        within = [sum(factor <= limit for factor in factors) for limit in (1.01, 1.05)]
        drivers.say(f"{search:<26} {seed:>5} {options.samples:>9} {statistics.geometric_mean(factors):>8.4f}"
                    f" {statistics.median(factors):>8.4f} {max(factors):>8.4f} {within[0]:>7}"
                    f" {within[1]:>7} {statistics.median(times):>10.1f} {max(times):>8.1f}")


def speed(options, entries, folder):
    entry = next(e for e in entries if (e["arch"], e["layer"]) == ("simba_like", "rn50_3b"))
    for search in ("random", "annealing", "agents"):
        seconds = [map_entry(entry, folder, search, options, seed)[1] for seed in (1, 2, 3)]
        drivers.say(f"{search:<12} {options.samples / statistics.median(seconds):>12,.0f} samples/s")


def evaluate(options, entries, folder):
    drivers.say(drivers.subprocess.run([drivers.program("bench_hierarchy_evaluate")], check=True,
                                       stdout=drivers.subprocess.PIPE, text=True).stdout.rstrip())


def main():
    parser = argparse.ArgumentParser(prog="script/bench hierarchy", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=drivers.chosen(PARTS), default=list(PARTS), help="parts, with commas")
    parser.add_argument("--searches", type=lambda text: text.split(","), default=["random", "annealing", "agents"])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--seeds", type=int, default=1, help="how many, of the bar")
    parser.add_argument("--threads", type=int, default=0, help="of one search; 0 = all")
    options = drivers.parse(parser, ["tilewright", "bench_hierarchy_evaluate"])
    entries = json.loads((DATA / "best_known_edp.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        for part in options.only:
            {"bar": bar, "speed": speed, "evaluate": evaluate}[part](options, entries, pathlib.Path(folder))


if __name__ == "__main__":
    main()
