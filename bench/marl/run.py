"""How fast is our multi-agent learning? Usage: script/bench marl [OPTIONS]

By default: one update of all agents, ours beside the PyTorch contenders, in turn and on the same sizes, after both were
checked against PyTorch's autograd; then stepping of the worlds. --phases shows where the time goes (phases.py), --full-run
trains a whole predator-prey team.

All figures are processor time of one thread. Contenders (a file each):
  list      openai/maddpg's replay memory of Python lists, own mini-batch per agent
  numpy     pre-allocated arrays per agent, own mini-batch per agent: what most PyTorch repositories do
  stacked   one mini-batch for all agents, all networks in stacked tensors: the fastest conventional form we know
"""

import argparse
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import drivers
import peers
import phases
from drivers import progress, say, short

TARGETS = ["tilewright", "bench_marl_dump", "bench_marl_update", "bench_nn"]
SIZES = [3, 6, 12, 24, 48]
# Transitions in every replay memory: far more than caches hold, at most 2.5 GB as Python lists.
TRANSITIONS = {3: 500_000, 6: 250_000, 12: 100_000, 24: 50_000, 48: 25_600}
OURS = {
    "ours": ["--layout", "state", "--semantics", "shared"],
    "ours, not folded": ["--layout", "joint", "--semantics", "shared"],
    "ours, as numpy": ["--layout", "per-agent", "--semantics", "openai"],
}
PHASES = {"mini-batch sampling": "sampling", "target Q": "target_q", "Q loss": "q_loss", "P loss": "p_loss",
          "target update": "target_update"}
# What we hold ourselves to: times faster than numpy, and milliseconds of bare arithmetic (folded, 88 GFLOP/s, Adam added).
LEAST_RATIO = {3: 6, 6: 8, 12: 11, 24: 19, 48: 40}
FLOOR_MS = {3: 3.8, 6: 9.2, 12: 24, 24: 77, 48: 279}
MOST_OVER_FLOOR = 1.6
FLOOR_GFLOPS = 88


def options():
    parser = argparse.ArgumentParser(prog="script/bench marl", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=drivers.numbers, default=SIZES, help="default 3,6,12,24,48")
    parser.add_argument("--quick", action="store_true", help="small memories, few repetitions: a look, not a measurement")
    parser.add_argument("--rounds", type=int, default=3, help="times everyone takes a turn; default 3")
    parser.add_argument("--repetitions", type=int, default=0, help="updates per turn; default by the number of agents")
    parser.add_argument("--contenders", type=drivers.chosen(peers.CONTENDERS), default=list(peers.CONTENDERS))
    parser.add_argument("--phases", action="store_true", help="shares of the phases, and what neighbor sampling saves")
    parser.add_argument("--full-run", action="store_true", help="60,000 episodes of predator-prey with 12 predators")
    parser.add_argument("-o", "--output", default=str(drivers.ROOT / "build" / "bench"), help="folder for JSON results")
    return drivers.parse(parser, TARGETS)


def measure_ours(arguments, agents, transitions, updates):
    line = drivers.run_json([drivers.program("bench_marl_update"), "--agents", agents, "--transitions", transitions,
                             "--updates", updates, "--json", *arguments])
    return {"cpu_ms": line["median_ms"], "best_ms": line["best_ms"], "gflop": line["gflop"], "floor_ms": line["floor_ms"],
            "phases_ms": {PHASES[name]: ms for name, ms in line["phase_ms"].items()}}


def measure_peer(name, agents, transitions, repetitions):
    result = peers.measure(name, agents, transitions, repetitions)
    return {"cpu_ms": result["cpu_ms"], "best_ms": min(result["cpu_ms_all"]), "phases_ms": result["phases_ms"]}


def middle(turns):
    """One result out of several turns: medians, and the best of all."""
    result = dict(turns[0], cpu_ms=statistics.median(turn["cpu_ms"] for turn in turns),
                  best_ms=min(turn["best_ms"] for turn in turns), turns_ms=[turn["cpu_ms"] for turn in turns])
    result["phases_ms"] = {phase: statistics.median(turn["phases_ms"][phase] for turn in turns)
                           for phase in turns[0]["phases_ms"]}
    return result


def measure_size(agents, choice, contenders):
    transitions = TRANSITIONS.get(agents, max(25_600, 1_200_000 // agents)) // (10 if choice.quick else 1)
    repetitions = choice.repetitions or max(2, min(30, 100 // agents)) // (2 if choice.quick else 1)
    turns = {}
    for turn in range(1 if choice.quick else choice.rounds):
        for name in contenders:
            progress(f"{agents} agents, turn {turn + 1}: {name}")
            turns.setdefault(name, []).append(measure_peer(name, agents, transitions, repetitions))
        for name, arguments in OURS.items():
            updates = max(3, repetitions * (5 if name == "ours" else 1))
            turns.setdefault(name, []).append(measure_ours(arguments, agents, transitions, updates))
    return {"transitions": transitions, "repetitions": repetitions,
            "contenders": {name: middle(results) for name, results in turns.items()}}


def show_size(agents, size):
    ours = size["contenders"]["ours"]["cpu_ms"]
    say(f"\n{agents} agents, batch 1024, {size['transitions']:,} transitions; milliseconds of processor time")
    rows = []
    for name, result in size["contenders"].items():
        rows.append([name, short(result["cpu_ms"]), short(result["best_ms"]),
                     *(short(result["phases_ms"][phase]) for phase in PHASES.values()), f"{result['cpu_ms'] / ours:.1f}"])
    drivers.table(["", "median", "best", "sampling", "target Q", "Q loss", "P loss", "targets", "/ ours"], rows)


def verdict(good):
    return "yes" if good else "NO"


def show_summary(results, peaks):
    """Against the targets, and against the arithmetic floor as it was written down and as this machine has it."""
    say("\nOurs (state layout, folded, one mini-batch for all) against the rest")
    rows = []
    for agents, size in results.items():
        found = size["contenders"]
        ours = found["ours"]
        numpy, stacked = found.get("numpy"), found.get("stacked")
        adam_ms = ours["floor_ms"] - ours["gflop"] / FLOOR_GFLOPS * 1e3
        here = {name: ours["gflop"] / gflops * 1e3 + adam_ms for name, gflops in peaks.items() if gflops}
        floor = FLOOR_MS.get(agents, ours["floor_ms"])
        over = ours["cpu_ms"] / floor
        row = [agents, short(ours["cpu_ms"])]
        if numpy:
            ratio, least = numpy["cpu_ms"] / ours["cpu_ms"], LEAST_RATIO.get(agents)
            row += [f"{ratio:.1f}", f"{least} {verdict(ratio >= least)}" if least else "-"]
        else:
            row += ["-", "-"]
        row += [f"{stacked['cpu_ms'] / ours['cpu_ms']:.1f}" if stacked else "-", short(floor), f"{over:.2f}",
                verdict(over <= MOST_OVER_FLOOR)]
        row += [f"{short(here[name])} ({ours['cpu_ms'] / here[name]:.2f})" if name in here else "-"
                for name in ("sgemm", "fma")]
        rows.append(row)
        size["floor_here_ms"] = here
    drivers.table(["N", "ours ms", "numpy/ours", "at least", "stacked/ours", "floor ms", "ours/floor",
                   f"<= {MOST_OVER_FLOOR}", "floor at sgemm here", "floor at FMA peak here"], rows)


def fma_peak():
    """GFLOP/s of multiply-adds on registers alone, as bench_nn measures it beside its networks."""
    text = subprocess.run([drivers.program("bench_nn"), "--rounds", "1"], stdout=subprocess.PIPE, encoding="utf-8",
                          check=False).stdout
    peaks = [float(line.split()[-1]) for line in text.splitlines() if line.count("%") == 2]
    return max(peaks, default=None)


def measure_stepping(quick):
    """Worlds alone: no update comes before the end of the run."""
    say("\nStepping simple_tag with random prey, one core")
    rows, results = [], {}
    for agents in SIZES:
        episodes = (2_000 if quick else 40_000) // agents
        more_than_all = 25 * episodes + 1
        summary = drivers.train("simple_tag", "--agents", agents, "--episodes", episodes, "--threads", 1, "--warm-up",
                                more_than_all, "--capacity", more_than_all)
        seconds = {part["phase"]: part["cpu_seconds"] for part in summary["phases"]}
        steps = summary["steps"]
        results[agents] = {"steps": steps, "environment_s": seconds["environment"], "acting_s": seconds["action selection"]}
        rows.append([agents, f"{steps / seconds['environment']:,.0f}", short(1e6 * seconds["environment"] / steps),
                     short(1e6 * seconds["action selection"] / steps)])
    drivers.table(["N", "steps/s", "us a step", "us choosing actions"], rows)
    return results


def full_run(quick):
    episodes = 1_500 if quick else 60_000
    say(f"\nPredator-prey, 12 predators, {episodes:,} episodes")
    results = {}
    for threads in (1, 2):
        summary = drivers.train("simple_tag", "--agents", 12, "--episodes", episodes, "--threads", threads)
        results[threads] = {key: summary[key] for key in ("seconds", "steps", "updates", "return", "phases")}
        say(f"  {threads} thread{'s' * (threads > 1)}: {summary['seconds'] / 60:.1f} min, {summary['updates']:,} updates, "
            f"return at the end {summary['return']['total'] / 12:.1f} per predator")
    return results


def check(contenders):
    """Nothing is timed that is not right."""
    say("\nChecks against PyTorch's autograd")
    scripts = ["parity.py"] + (["check_contenders.py"] if contenders else [])
    if any([peers.script(name) for name in scripts]):
        sys.exit("script/bench marl: a check failed, so nothing is timed")


def compare(choice):
    complaint = peers.complaint()
    contenders = [] if complaint else choice.contenders
    _, facts = peers.find()
    if complaint:
        say(complaint)
    else:
        say(f"PyTorch {facts['torch']}, NumPy {facts['numpy']}, {', '.join(facts['blas'])}")
    if facts:
        check(contenders)
    peaks = {"sgemm": facts["sgemm_gflops"] if contenders else None, "fma": fma_peak()}
    say(f"\n{drivers.processor()}; " + ", ".join(f"{name} {gflops:.1f} GFLOP/s" for name, gflops in peaks.items() if gflops))
    results = {}
    for agents in choice.agents:
        results[agents] = measure_size(agents, choice, contenders)
        show_size(agents, results[agents])
    show_summary(results, peaks)
    return {"processor": drivers.processor(), "torch": facts, "peaks_gflops": peaks, "sizes": results,
            "stepping": measure_stepping(choice.quick)}


def main():
    choice = options()
    folder = pathlib.Path(choice.output)
    if choice.phases:
        drivers.write_results(folder / "marl_phases.json", phases.measure(choice.agents, choice.rounds, choice.quick))
    elif choice.full_run:
        drivers.write_results(folder / "marl_full_run.json", full_run(choice.quick))
    else:
        drivers.write_results(folder / "marl_update.json", compare(choice))
    return 0


if __name__ == "__main__":
    sys.exit(main())
