"""How good is mapping by many agents? Usage: script/bench map [OPTIONS]

A question each, all answered by `tilewright compare`, whose reports are kept in the output folder:
  standings   every searcher at every budget: factor of the best known, and samples to T1, the best of a long random search
  team        a team that was trained on other networks, beside agents from scratch: samples to T1
  optimum     small spaces (one level) that can be searched exhaustively: the gap to the optimum
  ablations   who decides what, which learner, critic and exploration, and agents taken over from another network; on the
              first two networks, the first machine and the first objective, since maddpg and masac learn slowly
  speed       samples per second, and the time of a whole ResNet-50
  classics    every network of the zoo on every machine for latency, energy and edp: `map` beside the best classic dataflow

By default a quick suite: a look, not a measurement. --full is ten networks on three machines. The same seed gives the same
results for any number of threads; times want an idle machine. Each question writes a JSON and a Markdown file.
"""

import argparse
import math
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import drivers
import suite
import tables
from drivers import progress
from suite import SEARCHERS

ABLATIONS = ["assignment", "learner", "critic", "explore", "transfer"]


def names(text):
    return text.split(",")


def commas(values):
    return ",".join(map(str, values))


def options():
    parser = argparse.ArgumentParser(prog="script/bench map", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the whole suite: hours")
    parser.add_argument("--only", type=drivers.chosen(QUESTIONS), default=[question for question in QUESTIONS if question != "classics"],
                        help=f"of {' '.join(QUESTIONS)}; the last takes a quarter of an hour and is not asked otherwise")
    parser.add_argument("--networks", type=names, help="of the zoo, with commas")
    parser.add_argument("--machines", type=names, help="of the zoo, with commas")
    parser.add_argument("--objectives", type=names, help="with commas")
    parser.add_argument("--searches", type=names, default=SEARCHERS, help="the first is compared with every other")
    parser.add_argument("--budgets", type=drivers.numbers, help="samples per layer, with commas")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--target", type=int, help="samples of the random search that gives T1")
    parser.add_argument("--teachers", type=int, help="networks that a team is trained on")
    parser.add_argument("--threads", type=int, default=0, help="default all processors")
    parser.add_argument("--reuse", action="store_true", help="take what the same command has found before in -o")
    parser.add_argument("-o", "--output", default=str(drivers.ROOT / "build" / "bench"), help="folder for results")
    choice = drivers.parse(parser, ["tilewright"])
    for name, value in (suite.FULL if choice.full else suite.QUICK).items():
        if getattr(choice, name) is None:
            setattr(choice, name, value)
    return choice


def standings(choice):
    results = {}
    for case in suite.cases(choice):
        arguments = [*case.arguments, "--searches", commas(choice.searches), "--budgets", commas(choice.budgets), "--seeds",
                     choice.seeds, "--targets", f"random:{choice.target}"]
        results[case.title] = suite.compare(choice, "standings", case.name, arguments)
    text = ""
    for budget in choice.budgets:
        means = tables.overall(results, choice.searches, budget)
        wins = tables.against_first(results, choice.searches, budget)
        rows = [[label, f"{mean:.4f}" if math.isfinite(mean) else "∞",
                 f"{wins[label]['better']} of {wins[label]['cases']}" if label in wins else "",
                 f"{wins[label]['probability']:.3f}" if label in wins and wins[label]["probability"] is not None else ""]
                for label, mean in means.items()]
        first = choice.searches[0]
        text += f"## {budget:,} samples per layer\n\n" + tables.markdown(
            ["", "factor of the best known, geometric mean over cases", f"cases where {first} has the smaller factor",
             f"probability that {first} is better, mean"], rows)
        worse = tables.shortfalls(results, choice.searches, budget)
        text += f"\n{first} is behind in {len({case for case, *_ in worse})} of {len(results)} cases"
        text += "".join(f"\n- {case}: {label} is better by {100 * (by - 1):.2f} %" for case, label, by in worse[:20])
        text += "\n\n"
    text += "## Samples to T1, median over layers and seeds (share that gets there)\n\n"
    text += tables.markdown(["case", *choice.searches], [
        [title, *(tables.samples(tables.reach(found, label, "T1")) for label in choice.searches)]
        for title, found in results.items()])
    text += "\n" + times_fewer(choice, results) if "rl" in choice.searches else ""
    text += "\n## Factor of the best known by case\n\n"
    text += tables.markdown(["case", "samples", *choice.searches], [
        [title, f"{budget:,}", *(f"{tables.factor(tables.standing(found, label, budget)) or math.nan:.4f}"
                                 for label in choice.searches)]
        for title, found in results.items() for budget in choice.budgets])
    return text, results


def times_fewer(choice, results):
    """How many times fewer samples to T1 than single-agent RL; a bound where that does not get there."""
    rows, most = [], max(choice.budgets)
    for title, found in results.items():
        mine, theirs = (tables.reach(found, label, "T1") for label in (choice.searches[0], "rl"))
        if mine is None or theirs is None or mine["samples"]["value"] is None:
            rows.append([title, "–"])
            continue
        needed = theirs["samples"]["value"]
        rows.append([title, f"{'more than ' if needed is None else ''}{(needed or most) / mine['samples']['value']:.1f}"])
    return f"## Times fewer samples to T1 than rl\n\n{tables.markdown(['case', choice.searches[0]], rows)}"


def team(choice):
    results, rows = {}, []
    budget = choice.budgets[min(1, len(choice.budgets) - 1)]
    for case in suite.cases(choice):
        folder, teachers = suite.train_team(choice, case, budget)
        if folder is None:
            continue
        found = suite.compare(choice, "team", case.name, [
            *case.arguments, "--searches", "agents+team,agents,random", "--from", folder, "--samples", budget, "--seeds",
            choice.seeds, "--targets", f"random:{choice.target}"])
        results[case.title] = found
        rows.append([case.title, ", ".join(teachers)])
        for label in ("agents+team", "agents", "random"):
            rows[-1] += [tables.samples(tables.reach(found, label, "T1")),
                         tables.interval(tables.standing(found, label, budget)["factor"])]
    head = ["case", "trained on"]
    for label in ("trained team", "from scratch", "random"):
        head += [f"samples to T1, {label}", f"factor, {label}"]
    return f"Budget {budget:,} samples per layer.\n\n" + tables.markdown(head, rows), results


def optimum(choice):
    results, rows = {}, []
    budgets = choice.budgets
    for case in suite.cases(choice):
        found = suite.compare(choice, "optimum", case.name, [
            *case.arguments, "--levels", 1, "--searches", commas(choice.searches), "--budgets", commas(budgets),
            "--seeds", choice.seeds, "--targets", "exhaustive:100000000"])
        results[case.title] = found
        for budget in budgets:
            row = [case.title, f"{budget:,}"]
            for label in choice.searches:
                medians = tables.standing(found, label, budget)["layers"]
                gaps = sorted(math.inf if median["value"] is None else median["value"]
                              for median, layer in zip(medians, found["layers"]) if layer["best"])  # else nothing is valid
                row.append(f"{gaps[(len(gaps) - 1) // 2]:.4f} (worst {gaps[-1]:.3f})")
            rows.append(row)
    return ("Objective by the true optimum: median layer (lower one of two), and the worst.\n\n" +
            tables.markdown(["case", "samples", *choice.searches], rows), results)


def ablations(choice):
    results, text = {}, ""
    budget = choice.budgets[min(1, len(choice.budgets) - 1)]
    for ablation in ABLATIONS:
        rows, labels = [], []
        for case in suite.few_cases(choice):
            arguments = [*case.arguments, "--ablate", ablation, "--samples", budget, "--seeds", choice.seeds]
            if ablation == "transfer":
                others = [network for network in choice.networks if network != case.network]
                if not others:
                    continue
                arguments += ["--transfer-from", f"zoo:{others[0]}"]
            found = suite.compare(choice, f"ablations-{ablation}", case.name, arguments)
            results[f"{ablation}: {case.title}"] = found
            labels = [one["label"] for one in found["contenders"]]
            cells = [tables.interval(one["standings"][0]["factor"], 4) + f" of {one['agents']:.1f} agents"
                     for one in found["contenders"]]
            rows.append([case.title, *cells])
        if ablation == "transfer":
            labels = ["own clusters", "of another network", "random, as many"]
        text += f"## {ablation}, {budget:,} samples per layer\n\n{tables.markdown(['case', *labels], rows)}\n"
    return text, results


def speed(choice):
    """Wall time of whole commands, so that reading, writing and starting are in it."""
    measured = {}
    for searcher, samples_each in {"random": 20_000, "agents": 2_000}.items():
        title = f"{searcher}, resnet50"
        arguments = ["map", "zoo:resnet50", "--hardware", "zoo:gamma-edge", "--search", searcher, "--samples", samples_each]
        start = time.monotonic()
        found = drivers.run_json([drivers.TILEWRIGHT, *arguments, "--json"])
        seconds = time.monotonic() - start
        samples = samples_each * len(found["layers"])
        measured[title] = {"command": suite.shell(arguments), "seconds": seconds, "samples": samples}
        progress(f"speed, {title}: {seconds:.1f} s")
    rows = [[title, f"{one['samples']:,}", f"{one['seconds']:.1f}", f"{one['samples'] / one['seconds']:,.0f}"]
            for title, one in measured.items()]
    return tables.markdown(["", "samples", "s", "samples/s"], rows), measured


def classics(choice):
    """Every layer of every network on every machine: the best classic dataflow by what `map` finds."""
    zoo = drivers.ROOT / "zoo"
    networks = sorted(path.stem for path in (zoo / "networks").glob("*.yaml"))
    machines = sorted(path.stem for path in (zoo / "accelerators").glob("*.yaml"))
    samples = choice.budgets[0]
    rows, results = [], {}
    for objective in ("edp", "latency", "energy"):
        for machine in machines:
            factors, whole, without, refused, worst = [], [], 0, 0, (math.inf, "")
            for network in networks:
                found = drivers.run_json([drivers.TILEWRIGHT, "map", f"zoo:{network}", "--hardware", f"zoo:{machine}",
                                          "--objective", objective, "--samples", samples, "--json"], codes=(0, 3))
                results[f"{network}, {machine}, {objective}"] = found["totals"]
                without += sum(layer["status"] != "ok" for layer in found["layers"])
                refused += sum("exact_refusal" in layer for layer in found["layers"])
                mine = [(layer["dataflow_factor"], f"{network}/{layer['name']}") for layer in found["layers"]
                        if "dataflow_factor" in layer]
                factors += [factor for factor, _ in mine]
                worst = min([worst, *mine])
                if "dataflow_factor" in found["totals"]:
                    whole.append(found["totals"]["dataflow_factor"])
            rows.append([machine, objective, f"{len(factors):,}", sum(factor < 1 for factor in factors),
                         f"{worst[0]:.4f} ({worst[1]})", f"{min(whole):.2f} to {max(whole):.2f}" if whole else "–", without,
                         refused])
            progress(f"classics, {machine}, {objective}: worst {worst[0]:.4f}")
    head = ["machine", "objective", "layers", "worse than a classic", "smallest factor", "whole networks",
            "without a mapping", "refused by exact"]
    return f"{samples:,} samples per layer, {len(networks)} networks.\n\n{tables.markdown(head, rows)}", results


QUESTIONS = {"standings": standings, "team": team, "optimum": optimum, "ablations": ablations, "speed": speed,
             "classics": classics}


def main():
    choice = options()
    about = f"{choice.seeds} seeds, {', '.join(choice.networks)} on {', '.join(choice.machines)}"
    return drivers.answer("map", QUESTIONS, choice, about)


if __name__ == "__main__":
    sys.exit(main())
