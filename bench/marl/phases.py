"""Where does the time of training go, and what does neighbor sampling save? Part of script/bench marl --phases

Real runs of `tilewright train simple_tag` with random prey, one thread, and the profile that every run keeps. A cycle of
training is 100 environment steps and one update of all agents, so its cost is

    100 (environment + action selection + other per step) + (sampling + target Q + Q loss + P loss + targets per update).

Updates begin when the memory holds far more than caches do. Runs with and without neighbor sampling take turns, and medians
are compared. The Python contenders show the same saving in the layouts that the published implementations have.
"""

import statistics

import drivers
import peers
from drivers import progress, say, short

STEPS_PER_UPDATE = 100
STEP_PHASES = {"environment": "environment", "action selection": "acting", "other": "other"}
UPDATE_PHASES = {"mini-batch sampling": "sampling", "target Q": "target_q", "Q loss": "q_loss", "P loss": "p_loss",
                 "target update": "target_update"}
# The published algorithm in all layouts, and our default.
CASES = [("openai", "per-agent"), ("openai", "joint"), ("openai", "state"), ("shared", "state")]
SAMPLERS = ("uniform", "neighbor:3")
WARM_UP = {3: 500_000, 6: 250_000, 12: 100_000, 24: 50_000, 48: 25_600}
UPDATES = {3: 300, 6: 150, 12: 60, 24: 25, 48: 8}
# arXiv 2305.13411: percent of the sampling phase at 3 and 12 agents, percent of the whole at 12.
PUBLISHED = "published: 26.66 % of the sampling phase at 3 agents, 27.39 % at 12; 10.2 % end to end at 12"


def cycle(agents, layout, semantics, sampler, quick):
    """Milliseconds of processor time of each phase in one cycle of training."""
    warm_up = WARM_UP.get(agents, 25_600) // (10 if quick else 1)
    warm_up = max(warm_up, 2_000)
    updates = max(3, UPDATES.get(agents, 50) // (5 if quick else 1))
    steps = warm_up + STEPS_PER_UPDATE * updates
    summary = drivers.train("simple_tag", "--agents", agents, "--layout", layout, "--semantics", semantics, "--sampler",
                            sampler, "--warm-up", warm_up, "--capacity", steps + 25, "--episodes", steps // 25 + 1,
                            "--threads", 1)
    phases = {part["phase"]: part for part in summary["phases"]}
    per_step = 1e3 * STEPS_PER_UPDATE / summary["steps"]
    per_update = 1e3 / summary["updates"]
    costs = {name: phases[phase]["cpu_seconds"] * per_step for phase, name in STEP_PHASES.items()}
    costs.update({name: phases[phase]["cpu_seconds"] * per_update for phase, name in UPDATE_PHASES.items()})
    costs["gathered_bytes"] = phases["mini-batch sampling"]["bytes"] / summary["updates"]
    return costs


def update_ms(costs):
    return sum(costs[name] for name in UPDATE_PHASES.values())


def total_ms(costs):
    return update_ms(costs) + sum(costs[name] for name in STEP_PHASES.values())


def medians(turns):
    return {name: statistics.median(turn[name] for turn in turns) for name in turns[0]}


def saved(before, after):
    return f"{100 * (before - after) / before:.1f} %"


def show_shares(semantics, layout, results):
    say(f"\n{semantics} semantics, {layout} layout, uniform sampling: share of each phase in a cycle of training")
    rows = []
    for agents, by_sampler in results.items():
        costs = by_sampler["uniform"]
        total = total_ms(costs)
        shares = [f"{100 * costs[name] / total:.1f}" for name in (*STEP_PHASES.values(), *UPDATE_PHASES.values())]
        rows.append([agents, short(total), *shares, f"{100 * update_ms(costs) / total:.1f}",
                     f"{100 * costs['sampling'] / update_ms(costs):.1f}"])
    drivers.table(["N", "cycle ms", "environment %", "acting", "other", "sampling", "target Q", "Q loss", "P loss",
                   "targets", "update", "sampling of update"], rows)


def show_growth(semantics, layout, results):
    sizes = list(results)
    if len(sizes) < 2:
        return
    rows = []
    for few, many in zip(sizes, sizes[1:]):
        a, b = results[few]["uniform"], results[many]["uniform"]
        names = ("environment", "acting", "sampling", "target_q", "q_loss", "p_loss")
        rows.append([f"{few} -> {many}", *(f"{b[name] / a[name]:.1f}" for name in names),
                     f"{update_ms(b) / update_ms(a):.1f}", f"{total_ms(b) / total_ms(a):.1f}"])
    say(f"\n{semantics} semantics, {layout} layout: growth, times")
    drivers.table(["N", "environment", "acting", "sampling", "target Q", "Q loss", "P loss", "update", "cycle"], rows)


def show_savings(everything):
    """End to end both ways: what sampling saves as a share of the whole, and the whole as it was measured, which also has the
    noise of the phases that no sampler touches."""
    say(f"\nWhat neighbor:3 saves ({PUBLISHED})")
    rows = []
    for semantics, layouts in everything.items():
        for layout, results in layouts.items():
            for agents, by_sampler in results.items():
                before, after = by_sampler["uniform"], by_sampler["neighbor:3"]
                rows.append([f"{semantics} {layout}", agents, short(before["sampling"]), short(after["sampling"]),
                             saved(before["sampling"], after["sampling"]),
                             f"{100 * (before['sampling'] - after['sampling']) / total_ms(before):.1f} %",
                             saved(total_ms(before), total_ms(after))])
    drivers.table(["", "N", "uniform ms", "neighbor ms", "of sampling", "end to end", "end to end, measured"], rows)


def measure_python(sizes, rounds, quick):
    """Savings of the Python contenders, updates only."""
    complaint = peers.complaint()
    if complaint:
        say("\n" + complaint)
        return {}
    say("\nWhat neighbor:3 saves in PyTorch: of the sampling phase, of the update")
    results, rows = {}, []
    for contender in ("list", "numpy"):
        for agents in [size for size in sizes if size <= 24]:
            transitions = min(100_000, WARM_UP.get(agents, 25_600)) // (10 if quick else 1)
            repetitions = max(2, 60 // agents) // (2 if quick else 1)
            turns = {sampler: [] for sampler in SAMPLERS}
            for _ in range(1 if quick else rounds):
                for sampler in SAMPLERS:
                    progress(f"{contender}, {agents} agents, {sampler}")
                    turns[sampler].append(peers.measure(contender, agents, transitions, repetitions, sampler)["phases_ms"])
            by_sampler = {sampler: medians(measured) for sampler, measured in turns.items()}
            before, after = by_sampler["uniform"], by_sampler["neighbor:3"]
            rows.append([contender, agents, short(before["sampling"]), short(after["sampling"]),
                         f"{100 * before['sampling'] / update_ms(before):.0f} %",
                         saved(before["sampling"], after["sampling"]), saved(update_ms(before), update_ms(after))])
            results.setdefault(contender, {})[agents] = by_sampler
    drivers.table(["", "N", "uniform ms", "neighbor ms", "share of update", "of sampling", "of update"], rows)
    return results


def measure(sizes, rounds, quick):
    everything = {}
    for semantics, layout in CASES:
        results = everything.setdefault(semantics, {}).setdefault(layout, {})
        for agents in sizes:
            progress(f"{semantics}, {layout}, {agents} agents")
            turns = {sampler: [] for sampler in SAMPLERS}
            for _ in range(1 if quick else rounds):
                for sampler in SAMPLERS:
                    turns[sampler].append(cycle(agents, layout, semantics, sampler, quick))
            results[agents] = {sampler: medians(measured) for sampler, measured in turns.items()}
        show_shares(semantics, layout, results)
        show_growth(semantics, layout, results)
    show_savings(everything)
    return {"processor": drivers.processor(), "cycles_ms": everything, "python_ms": measure_python(sizes, rounds, quick)}
