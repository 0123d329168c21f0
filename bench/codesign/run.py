"""How good is choosing machine and schedules together? Usage: script/bench codesign [OPTIONS]

A question each, all answered by `tilewright codesign`:
  regret      every searcher on the joint space of single layers: cycles beyond the proven optimum, by measurements
  networks    dcoc with the area of the default machine against AutoTVM and CHAMELEON on the default machine and on the
              machine that dcoc found: throughput, its split into machine and schedules, measurements to equal quality
  published   ResNet-18 without its first convolution on the default machine: tuned, proven optimum, published numbers
  area        ResNet-18 with twelve times the area and a bus of 64 bytes
  time        wall time of a network with 1,024 measurements per layer
  ablations   what each part of dcoc is worth, on the layers of `regret` and on the first network

By default a quick suite: a look, not a measurement. --full is all networks with ten seeds. The same seed gives the same
results for any number of threads; times want an idle machine. Each question writes a JSON and a Markdown file.
"""

import argparse
import math
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import drivers
import suite
from suite import median, percent

# ResNet-18 without its first convolution and its classifier on the pipelined default machine, M cycles.
PUBLISHED_MCYCLES, IDEAL_MCYCLES, WANTED_MCYCLES = 7.73, 6.62, 7.30


def names(text):
    return text.split(",")


def options():
    parser = argparse.ArgumentParser(prog="script/bench codesign", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the whole suite: hours")
    parser.add_argument("--only", type=drivers.chosen(QUESTIONS), default=list(QUESTIONS), help=f"of {' '.join(QUESTIONS)}")
    parser.add_argument("--networks", type=names, help="of the zoo, with commas")
    parser.add_argument("--layers", type=names, help="NETWORK:LAYER of the zoo, with commas")
    parser.add_argument("--searches", type=names, default=suite.SEARCHERS, help="of regret, with commas")
    parser.add_argument("--budgets", type=drivers.numbers, help="measurements per layer, with commas; the largest is run")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--why-seeds", type=int,
                        help="of networks: seeds of the runs that explain the gain (the machine found, dcoc on the default "
                        "machine, dcoc with a random beginning); default all")
    parser.add_argument("--all-layers", action="store_true", help="fully connected layers of image networks too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at once; default one per processor")
    parser.add_argument("--reuse", action="store_true", help="take what the same command has found before in -o")
    parser.add_argument("-o", "--output", default=str(drivers.ROOT / "build" / "bench"), help="folder for results")
    choice = drivers.parse(parser, ["tilewright"])
    for name, value in (suite.FULL if choice.full else suite.QUICK).items():
        if getattr(choice, name) is None:
            setattr(choice, name, value)
    choice.why_seeds = range(1, min(choice.why_seeds or choice.seeds, choice.seeds) + 1)
    choice.seeds = range(1, choice.seeds + 1)
    choice.most = max(choice.budgets)
    return choice


def layer_arguments(layer):
    network, _, name = layer.partition(":")
    return [f"zoo:{network}", "--layer", name]


def spent(choice, seed):
    return ["--measurements", choice.most, "--seed", seed]


def optima(choice):
    """The fewest cycles of every layer on any machine of the space, proven."""
    least = [*suite.SPACE, "--search", "random", "--measurements", 1, "--optimum"]
    found = suite.all_of(choice, "optimum", {layer: [*layer_arguments(layer), *least] for layer in choice.layers})
    return {layer: one["layers"][0]["joint_optimum_cycles"] for layer, one in found.items()}


def regrets(choice, question, contenders):
    """{contender: {budget: {layer: [regret of each seed]}}}; contenders are {name: arguments}."""
    best = optima(choice)
    runs = suite.all_of(choice, question, {
        (name, layer, seed): [*layer_arguments(layer), *suite.SPACE, *spent(choice, seed), *arguments]
        for name, arguments in contenders.items() for layer in choice.layers for seed in choice.seeds})
    results = {name: {budget: {layer: [] for layer in choice.layers} for budget in choice.budgets} for name in contenders}
    for (name, layer, _), found in runs.items():
        for budget in choice.budgets:
            cycles = suite.best_at(found["layers"][0]["improvements"], budget)
            results[name][budget][layer].append(math.inf if cycles is None else cycles / best[layer] - 1)
    return results


def regret_table(choice, results):
    rows = []
    for name, budgets in results.items():
        row = [name]
        for budget in choice.budgets:
            medians = sorted(median(values) for values in budgets[budget].values())
            row.append(f"{percent(median(medians))} (worst layer {percent(medians[-1])})")
        rows.append(row)
    text = suite.markdown(["", *(f"{budget} measurements" for budget in choice.budgets)], rows)
    text += f"\nBy layer, {choice.most} measurements, median over seeds:\n\n"
    return text + suite.markdown(["layer", *results], [
        [layer, *(percent(median(budgets[choice.most][layer])) for budgets in results.values())] for layer in choice.layers])


def regret(choice):
    results = regrets(choice, "regret", {name: ["--search", name] for name in choice.searches})
    head = "Cycles beyond the proven optimum of the layer's joint space: median over layers of the median over seeds.\n\n"
    return head + regret_table(choice, results), results


def network_runs(choice, network):
    """What every contender has found on a network, by contender and seed."""
    def arguments(search, seed, *more):
        return [*suite.network_arguments(choice, network), "--search", search, *spent(choice, seed), *more]

    own = suite.all_of(choice, f"networks, {network}", {
        **{("dcoc", seed): arguments("dcoc", seed, *suite.SPACE) for seed in choice.seeds},
        **{("dcoc, random beginning", seed): arguments("dcoc", seed, *suite.SPACE, "--set", "dcoc.begin=random")
           for seed in choice.why_seeds},
        **{("dcoc, default machine", seed): arguments("dcoc", seed, "--machine", "zoo:vta") for seed in choice.why_seeds},
        **{(f"{search}, default machine", seed): arguments(search, seed, "--machine", "zoo:vta")
           for search in suite.BASELINES for seed in choice.seeds}})
    best = min((found for (name, _), found in own.items() if name == "dcoc"), key=suite.cycles_of)
    machine = suite.machine_file(choice, best)
    own.update(suite.all_of(choice, f"networks, {network} on the machine found", {
        (f"{search}, machine found", seed): arguments(search, seed, "--machine", machine)
        for search in suite.BASELINES for seed in choice.why_seeds}))
    return own, best


def measurements_needed(choice, runs, contender, baseline):
    """Those of every layer that a contender needs to be within 1 % of what a baseline ends with, and the baseline needs."""
    own, theirs = [], []
    for seed in (seed for seed in choice.seeds if (contender, seed) in runs):
        target = 1.01 * suite.cycles_of(runs[(baseline, seed)])
        own.append(suite.reaches(suite.by_round(runs[(contender, seed)]), target) or math.inf)
        theirs.append(suite.reaches(suite.by_layer(runs[(baseline, seed)]), target))
    return [median(own), median(theirs)]


def compare_network(choice, network):
    runs, best = network_runs(choice, network)
    cycles = {}
    for (name, _), found in runs.items():
        cycles.setdefault(name, []).append(suite.cycles_of(found))
    entry = {"machine": best["machine"], "area": best["area"], "cycles": cycles,
             "default_cycles": best["totals"]["default_cycles"], "against": {}}
    ours = median(cycles["dcoc"])
    for search in suite.BASELINES:
        baseline = f"{search}, default machine"
        default, found = median(cycles[baseline]), median(cycles[f"{search}, machine found"])
        entry["against"][search] = {
            "throughput": default / ours, "machine": default / found, "schedules": found / ours,
            "measurements": measurements_needed(choice, runs, "dcoc", baseline),
            "random throughput": default / median(cycles["dcoc, random beginning"]),
            "random measurements": measurements_needed(choice, runs, "dcoc, random beginning", baseline)}
    return entry


def networks(choice):
    results = {network: compare_network(choice, network) for network in choice.networks}
    layers = "All layers" if choice.all_layers else "Convolutions of image networks, all layers of transformers"
    text = (f"{layers}; medians over seeds. Throughput: cycles of the baseline on the default machine by those of dcoc; it "
            "is the product of machine (baseline on the default machine by baseline on the machine found) and schedules "
            "(the latter by dcoc). Measurements: those of every layer that dcoc needs to be within 1 % of the baseline's "
            "final cycles, and those the baseline needs.\n\n")
    rows, mean = [], {}
    for network, entry in results.items():
        machine = entry["machine"]
        blocks = [machine[key] if key in machine else machine["LOG_BLOCK"] for key in ("LOG_BLOCK_IN", "LOG_BLOCK_OUT")]
        size = "x".join(str(2 ** log) for log in (machine["LOG_BATCH"], *blocks))
        row = [network, size, f"{entry['area']:.3f}", f"{median(entry['cycles']['dcoc']):,.0f}",
               f"{entry['default_cycles'] / median(entry['cycles']['dcoc']):.3f}x"]
        for search in suite.BASELINES:
            one = entry["against"][search]
            for key, value in one.items():
                mean.setdefault((search, key), []).append(value)
            row += [f"{one[key]:.3f}x" for key in ("throughput", "machine", "schedules")]
            row.append(" / ".join(f"{value:.0f}" for value in one["measurements"]))
        rows.append(row)
    head = ["network", "machine", "area", "cycles", "vs. default schedules"]
    for search in suite.BASELINES:
        head += [f"throughput vs. {search}", "by the machine", "by schedules", "measurements"]
    text += suite.markdown(head, rows) + "\n"
    for search in suite.BASELINES:
        for name, kind in (("dcoc", ""), ("dcoc with a random beginning", "random ")):
            gains = mean[(search, f"{kind}throughput")]
            text += (f"- {name} against {search}: {sum(gains) / len(gains):.3f}x on average, {max(gains):.3f}x at best; "
                     f"{100 * median(own / their for own, their in mean[(search, f'{kind}measurements')]):.1f} % of the "
                     "measurements to equal quality (median network)\n")
    return text, results


def published(choice):
    searches = ["dcoc", *suite.BASELINES]
    runs = suite.all_of(choice, "published", {
        (search, seed): ["zoo:resnet18", "--search", search, "--machine", "zoo:vta", *spent(choice, seed), "--optimum"]
        for search in searches for seed in choice.seeds})

    def total(found, key):
        return sum(layer["count"] * layer[key] for layer in found["layers"] if layer["name"] not in ("conv1", "fc")) / 1e6

    results = {search: [total(runs[(search, seed)], "cycles") for seed in choice.seeds] for search in searches}
    any_run = runs[("dcoc", 1)]
    results |= {"default schedules": [total(any_run, "default_cycles")],
                "proven optimum": [total(any_run, "optimum_cycles")],
                "GEMM steps": [total(any_run, "gemm_steps")], "published schedule": [PUBLISHED_MCYCLES],
                "published ideal": [IDEAL_MCYCLES], "wanted, at most": [WANTED_MCYCLES]}
    return suite.markdown(["", "M cycles, median", "worst seed"], [
        [name, f"{median(values):.3f}", f"{max(values):.3f}"] for name, values in results.items()]), results


def area(choice):
    wide = ["--bus-bytes", 64]
    commands = {"default machine": ["--machine", "zoo:vta"],
                "default machine, bus of 64 bytes": ["--machine", "zoo:vta", *wide],
                "12 times the area, bus of 64 bytes": ["--area-budget", 12, *wide]}
    runs = suite.all_of(choice, "area", {
        (name, seed): [*suite.network_arguments(choice, "resnet18"), *spent(choice, seed), *arguments]
        for name, arguments in commands.items() for seed in choice.seeds})
    ours, results = "12 times the area, bus of 64 bytes", {}
    for name in commands:
        found = [runs[(name, seed)] for seed in choice.seeds]
        results[name] = {"all": [suite.cycles_of(one) for one in found], "without conv1": [
            sum(layer["count"] * layer["cycles"] for layer in one["layers"] if layer["name"] != "conv1") for one in found]}
    rows = []
    for name, parts in results.items():
        rows.append([name])
        for part, values in parts.items():
            rows[-1] += [f"{median(values):,.0f}", f"{median(values) / median(results[ours][part]):.2f}"]
    text = suite.markdown(["", "cycles, median", "times as many", "cycles without conv1", "times as many"], rows)
    best = min((runs[(ours, seed)] for seed in choice.seeds), key=suite.cycles_of)
    return text + f"\nThe machine, {best['area']:.2f} times the default's area: `{best['machine']}`\n", results


def time_of(choice):
    """Wall time of whole commands on all processors, one after the other."""
    measured = {}
    measurements = 1024 if choice.full else choice.most
    for search in ("dcoc", "autotvm", "chameleon"):
        machine = suite.SPACE if search == "dcoc" else ["--machine", "zoo:vta"]
        network = "resnet18"
        arguments = [f"zoo:{network}", "--search", search, "--measurements", measurements, *machine]
        found = suite.codesign(choice, arguments, threads=0)
        measured[f"{search}, {network}"] = {"command": found["command"], "seconds": found["seconds"],
                                            "points": found["measured"]["points"]}
    return suite.markdown(["", "measurements", "s", "per second"], [
        [name, f"{one['points']:,}", f"{one['seconds']:.1f}", f"{one['points'] / one['seconds']:,.0f}"]
        for name, one in measured.items()]), measured


def ablations(choice):
    contenders = {name: [word for setting in settings for word in ("--set", f"dcoc.{setting}")]
                  for name, settings in suite.ABLATIONS.items()}
    layers = regrets(choice, "ablations", contenders)
    network = choice.networks[0]
    runs = suite.all_of(choice, f"ablations, {network}", {
        (name, seed): [*suite.network_arguments(choice, network), *suite.SPACE, *spent(choice, seed), *arguments]
        for name, arguments in contenders.items() for seed in choice.seeds})
    whole = {name: [suite.cycles_of(runs[(name, seed)]) for seed in choice.seeds] for name in contenders}
    text = regret_table(choice, layers) + f"\n{network} as a whole, {choice.most} measurements per layer:\n\n"
    text += suite.markdown(["", "cycles, median", "by the first"], [
        [name, f"{median(values):,.0f}", f"{median(values) / median(whole['as it is']):.4f}"]
        for name, values in whole.items()])
    return text, {"layers": layers, network: whole}


QUESTIONS = {"regret": regret, "networks": networks, "published": published, "area": area, "time": time_of,
             "ablations": ablations}


def main():
    choice = options()
    return drivers.answer("codesign", QUESTIONS, choice, f"{len(choice.seeds)} seeds, {choice.most} measurements per layer")


if __name__ == "__main__":
    sys.exit(main())
