"""Draws the figures of docs/marl.md. Usage: python3 bench/marl/plots.py [FOLDER]

FOLDER (by default build/bench) holds what `script/bench marl`, `script/bench marl --phases` and `script/bench learning`
have written; a figure whose results are missing is left as it is.
"""

import json
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import drivers
from charts import BOTTOM, COLOURS, HEIGHT, LEFT, TOP, Chart

DOCS = drivers.ROOT / "docs"
PHASES = {"environment": "environment", "acting": "action selection", "other": "other", "sampling": "sampling",
          "target_q": "target Q", "q_loss": "Q loss", "p_loss": "P loss", "target_update": "targets"}


def update_chart(results):
    """Milliseconds of an update over the number of agents, everyone in one picture."""
    sizes = {int(agents): size for agents, size in results["sizes"].items()}
    names = [name for name in ("list", "numpy", "stacked", "ours, not folded", "ours")
             if any(name in size["contenders"] for size in sizes.values())]
    times = {name: {n: size["contenders"][name]["cpu_ms"] for n, size in sizes.items() if name in size["contenders"]}
             for name in names}
    floor = {n: min(size["floor_here_ms"].values()) for n, size in sizes.items() if size.get("floor_here_ms")}
    values = [ms for series in [*times.values(), floor] for ms in series.values()]
    chart = Chart("One update of all agents, one thread, batch 1024", "agents", "milliseconds of processor time")
    y = chart.y_axis(min(values) / 1.5, max(values) * 1.5, log=True)
    x = chart.x_axis(min(sizes) / 1.15, max(sizes) * 1.15, sorted(sizes), log=True)
    for name, colour in zip(names, COLOURS[1:4] + (COLOURS[4], COLOURS[0])):
        points = [(x(n), y(ms)) for n, ms in sorted(times[name].items())]
        chart.line(points, colour, 3 if name == "ours" else 2)
        for point in points:
            chart.dot(*point, colour)
        chart.name(name if name.startswith("ours") else f"PyTorch {name}", colour)
    if floor:
        chart.line([(x(n), y(ms)) for n, ms in sorted(floor.items())], COLOURS[5], dashed=True)
        chart.name("bare arithmetic", COLOURS[5], dashed=True)
    return chart.svg()


def shares_chart(results, semantics, layout):
    """Stacked bars: the share of every phase in a cycle of training."""
    cycles = {int(agents): by_sampler["uniform"] for agents, by_sampler in results["cycles_ms"][semantics][layout].items()}
    chart = Chart(f"Where a cycle of training goes: {layout} layout, {semantics} semantics", "agents", "percent")
    y = chart.y_axis(0, 100)
    step = (chart.right - LEFT) / len(cycles)
    for place, (agents, costs) in enumerate(sorted(cycles.items())):
        total, below = sum(costs[name] for name in PHASES), 0.0
        left = LEFT + step * (place + 0.2)
        for name, colour in zip(PHASES, COLOURS):
            share = 100 * costs[name] / total
            chart.bar(left, y(below + share), 0.6 * step, y(below) - y(below + share), colour)
            below += share
        chart.text(left + 0.3 * step, HEIGHT - BOTTOM + 18, agents, anchor="middle")
        chart.text(left + 0.3 * step, TOP - 6, f"{drivers.short(total)} ms", anchor="middle", size=11)
    for words, colour in reversed(list(zip(PHASES.values(), COLOURS))):
        chart.name(words, colour)
    return chart.svg()


def sampling_chart(results, agents):
    """The sampling phase in every layout, uniform beside neighbor sampling, on a logarithmic axis."""
    groups = {f"PyTorch {name}": sizes[agents] for name, sizes in results["python_ms"].items() if agents in sizes}
    for semantics, layouts in results["cycles_ms"].items():
        groups.update({f"{layout}, {semantics}": sizes[agents] for layout, sizes in layouts.items()})
    values = [group[sampler]["sampling"] for group in groups.values() for sampler in ("uniform", "neighbor:3")]
    chart = Chart(f"The sampling phase of one update, {agents} agents", "", "milliseconds of processor time", width=900)
    y = chart.y_axis(min(values) / 2, max(values) * 2, log=True)
    step = (chart.right - LEFT) / len(groups)
    for place, (name, group) in enumerate(groups.items()):
        for k, (sampler, colour) in enumerate((("uniform", COLOURS[0]), ("neighbor:3", COLOURS[2]))):
            ms = group[sampler]["sampling"]
            left = LEFT + step * (place + 0.14 + 0.36 * k)
            chart.bar(left, y(ms), 0.34 * step, HEIGHT - BOTTOM - y(ms), colour)
            chart.text(left + 0.17 * step, y(ms) - 4, f"{ms:.2g}" if ms < 100 else f"{ms:.0f}", size=10, anchor="middle")
        chart.text(LEFT + step * (place + 0.5), HEIGHT - BOTTOM + 18, name, size=10, anchor="middle")
    chart.name("uniform", COLOURS[0])
    chart.name("neighbor:3", COLOURS[2])
    return chart.svg()


def learning_chart(results, world, title, y_label, low, high, marks):
    """Mean curves of all settings of a world, with the range of their seeds."""
    settings = {name: runs for name, runs in results["settings"].items() if name.split("-")[0] == world}
    last = max(int(episode) for runs in settings.values() for one in runs.values() for episode in one["curve"])
    chart = Chart(title, "episodes", y_label)
    y, x = chart.y_axis(low, high), chart.x_axis(0, last)
    for value, words in marks.items():
        chart.line([(x(0), y(value)), (x(last), y(value))], "#999", 1, dashed=True)
        chart.text(x(last) - 4, y(value) - 4, words, size=10, anchor="end", colour="#666")
    for (name, runs), colour in zip(settings.items(), COLOURS):
        episodes = sorted({int(episode) for one in runs.values() for episode in one["curve"]})
        seeds = [[one["curve"][str(episode)] for one in runs.values()] for episode in episodes]
        clamp = lambda value: y(min(max(value, low), high))
        upper = [(x(e), clamp(max(values))) for e, values in zip(episodes, seeds)]
        lower = [(x(e), clamp(min(values))) for e, values in zip(episodes, seeds)]
        chart.band(upper + lower[::-1], colour)
        chart.line([(x(e), clamp(statistics.mean(values))) for e, values in zip(episodes, seeds)], colour)
        chart.name(name, colour)
    return chart.svg()


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else drivers.ROOT / "build" / "bench"

    def results(name):
        path = folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    figures = {}
    if update := results("marl_update.json"):
        figures["marl_update.svg"] = update_chart(update)
    if phases := results("marl_phases.json"):
        figures["marl_phases_published.svg"] = shares_chart(phases, "openai", "per-agent")
        figures["marl_phases_default.svg"] = shares_chart(phases, "shared", "state")
        sizes = list(phases["cycles_ms"]["openai"]["per-agent"])
        figures["marl_sampling.svg"] = sampling_chart(phases, "12" if "12" in sizes else sizes[-1])
    if learning := results("learning.json"):
        figures["marl_spread.svg"] = learning_chart(
            learning, "spread", "simple_spread, 3 agents", "mean return, sum over agents", -900, -300,
            {-698: "random play", -309: "hand-written controller", -430: "published", -380: "published"})
        figures["marl_tag.svg"] = learning_chart(learning, "tag", "simple_tag, 3 predators, random prey",
                                                 "mean return of a predator", 0, 100, {94: "straight chase"})
    for name, text in figures.items():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
