"""Does our multi-agent learning learn as well as the published one? Usage: script/bench learning [OPTIONS]

Every setting trains with several seeds through `tilewright train`. Returns are means over the 1,000 episodes before a
milestone, in OpenAI's accounting: the sum over agents for simple_spread, per predator for simple_tag. On simple_spread with
3 agents random play has -698, a hand-written controller with optimal assignment -309, published results -430 to -380; on
simple_tag random predators have 3 and a straight chase 94.

The same seed gives the same curve for any number of threads, so a busy machine changes nothing but the time.
"""

import argparse
import concurrent.futures
import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import drivers
from drivers import progress, say

MILESTONES = [5_000, 10_000, 25_000, 60_000]
SPREAD = ["simple_spread", "--agents", 3]
TAG = ["simple_tag", "--agents", 3, "--prey", "random"]


class Setting:
    """What is trained; `least` return at milestones; `like` names the setting that it should be as good as."""

    def __init__(self, world, *arguments, episodes=60_000, least=None, like=None, agents=1):
        self.arguments = [*world, *arguments]
        self.episodes, self.least, self.like = episodes, least or {}, like
        self.agents = agents  # returns are divided by this


SETTINGS = {
    "spread": Setting(SPREAD, "--semantics", "openai", "--layout", "per-agent", least={25_000: -480, 60_000: -430}),
    "spread-shared": Setting(SPREAD, "--semantics", "shared", "--layout", "joint", like="spread"),
    "spread-neighbor": Setting(SPREAD, "--semantics", "openai", "--layout", "per-agent", "--sampler", "neighbor:3",
                               like="spread"),
    "spread-folded": Setting(SPREAD, "--semantics", "openai", "--layout", "state", like="spread"),
    "spread-default": Setting(SPREAD, like="spread"),
    "tag": Setting(TAG, "--semantics", "openai", "--layout", "per-agent", episodes=25_000, least={25_000: 30}, agents=3),
    "tag-default": Setting(TAG, episodes=25_000, least={25_000: 30}, agents=3),
    "spread-masac": Setting(SPREAD, "--algorithm", "masac", episodes=25_000),
    "spread-mappo": Setting(SPREAD, "--algorithm", "mappo", episodes=25_000),
}


def options():
    parser = argparse.ArgumentParser(prog="script/bench learning", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=drivers.numbers, default=[1, 2, 3], help="default 1,2,3")
    parser.add_argument("--only", type=drivers.chosen(SETTINGS), default=list(SETTINGS), help=f"of {' '.join(SETTINGS)}")
    parser.add_argument("--episodes", type=int, default=0, help="at most; default what each setting needs")
    parser.add_argument("--quick", action="store_true", help="2,000 episodes: a look, not a measurement")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at once; default all processors")
    parser.add_argument("-o", "--output", default=str(drivers.ROOT / "build" / "bench"), help="folder for JSON results")
    return drivers.parse(parser, ["tilewright"])


def run(name, seed, most):
    setting = SETTINGS[name]
    episodes = min(setting.episodes, most) if most else setting.episodes
    arguments = [*setting.arguments, "--episodes", episodes, "--seed", seed, "--threads", 1, "--curve-every", 1000]
    summary = drivers.train(*arguments)
    curve = {point["episodes"]: point["return"] / setting.agents for point in summary["curve"]}
    last = curve[max(curve)]
    progress(f"{name}, seed {seed}: {last:.1f} after {episodes:,} episodes, {summary['seconds']:.0f} s")
    return {"command": " ".join(["tilewright", "train", *map(str, arguments)]), "curve": curve, "seconds": summary["seconds"]}


def at(runs, milestone):
    """The returns of all seeds at a milestone, or nothing."""
    return [one["curve"][milestone] for one in runs.values() if milestone in one["curve"]]


def spread_of(values):
    return statistics.stdev(values) if len(values) > 1 else 0.0


def judge(name, runs, others):
    """Sentences about the targets of a setting, each with whether it holds."""
    setting, sentences = SETTINGS[name], []
    for milestone, least in setting.least.items():
        values = at(runs, milestone)
        if values:
            mean = statistics.mean(values)
            sentences.append((mean >= least, f"{mean:.1f} at {milestone:,}, at least {least} wanted"))
    for milestone in (25_000, 60_000):
        mine, theirs = at(runs, milestone), at(others.get(setting.like, {}), milestone)
        if len(mine) > 1 and len(theirs) > 1:
            # Two standard errors of the difference of means; learning better than the other is no fault.
            allowed = 2 * (spread_of(mine) ** 2 / len(mine) + spread_of(theirs) ** 2 / len(theirs)) ** 0.5
            gap = statistics.mean(mine) - statistics.mean(theirs)
            sentences.append((gap >= -allowed, f"{gap:+.1f} from {setting.like} at {milestone:,}, -{allowed:.1f} allowed"))
    return sentences


def show(results):
    say("\nMean return over the 1,000 episodes before each milestone: mean of the seeds ± standard deviation (each seed)")
    rows = []
    for name, runs in results.items():
        row = [name]
        for milestone in MILESTONES:
            values = at(runs, milestone)
            if not values:
                row.append("-")
                continue
            row.append(f"{statistics.mean(values):.1f} ± {spread_of(values):.1f} ({' '.join(f'{v:.0f}' for v in values)})")
        last = statistics.mean(one["curve"][max(one["curve"])] for one in runs.values())
        rows.append([*row, f"{last:.1f}", f"{statistics.mean(one['seconds'] for one in runs.values()):.0f}"])
    drivers.table(["", *(f"{milestone:,}" for milestone in MILESTONES), "at the end", "s a run"], rows)
    say()
    good = True
    for name, runs in results.items():
        for holds, sentence in judge(name, runs, results):
            say(f"{'pass' if holds else 'FAIL'}  {name}: {sentence}")
            good = good and holds
    return good


def main():
    choice = options()
    most = choice.episodes or (2_000 if choice.quick else 0)
    results = {name: {} for name in choice.only}
    with concurrent.futures.ThreadPoolExecutor(choice.jobs) as pool:
        waiting = {(name, seed): pool.submit(run, name, seed, most) for name in choice.only for seed in choice.seeds}
        for (name, seed), job in waiting.items():
            results[name][seed] = job.result()
    good = show(results)
    drivers.write_results(pathlib.Path(choice.output) / "learning.json",
                          {"processor": drivers.processor(), "settings": results})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
