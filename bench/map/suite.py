"""What is compared: networks, machines, objectives and budgets, and how `tilewright compare` is asked about each."""

import json
import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import drivers
from drivers import progress

SEARCHERS = ["agents", "rl", "random", "genetic", "gamma", "ant-colony", "bayesian", "annealing"]
NETWORKS = ["resnet18", "resnet50", "mobilenet_v2", "vgg16", "densenet121", "bert_base", "vit_b16", "gpt2_decode",
            "efficientnet_b0", "shufflenet_v2"]
MACHINES = ["gamma-edge", "gamma-cloud", "eyeriss"]
OBJECTIVES = ["edp", "latency"]

PLAIN = ["--levels", "2", "--no-classics"]  # what compare does unless it is asked otherwise

QUICK = {"networks": ["resnet18", "bert_base"], "machines": ["gamma-edge"], "objectives": ["edp"], "budgets": [500],
         "seeds": 3, "target": 10_000, "teachers": 2}
FULL = {"networks": NETWORKS, "machines": MACHINES, "objectives": OBJECTIVES, "budgets": [500, 2_000, 10_000], "seeds": 5,
        "target": 100_000, "teachers": 9}


class Case:
    """A network on a machine with an objective."""

    def __init__(self, network, machine, objective):
        self.network, self.machine, self.objective = network, machine, objective
        self.name = f"{network}-{machine}-{objective}"
        self.title = f"{network}, {machine}, {objective}"
        self.arguments = ["--network", f"zoo:{network}", "--hardware", f"zoo:{machine}", "--objective", objective]


def cases(choice):
    return [Case(network, machine, objective) for objective in choice.objectives for machine in choice.machines
            for network in choice.networks]


def few_cases(choice):
    return [Case(network, choice.machines[0], choice.objectives[0]) for network in choice.networks[:2]]


def shell(arguments):
    return " ".join(["tilewright", *map(str, arguments)])


def compare(choice, question, name, arguments):
    """What `tilewright compare` has found, in a folder of its own. With --reuse, what the same command has found before."""
    folder = pathlib.Path(choice.output) / "map" / question / name
    arguments = ["compare", *map(str, arguments), *(["--threads", str(choice.threads)] if choice.threads else [])]
    note = folder / "command.json"
    if choice.reuse and note.exists() and (folder / "compare.json").exists():
        if json.loads(note.read_text(encoding="utf-8")) == arguments:
            progress(f"{question}, {name}: as found before")
            return json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    shutil.rmtree(folder, ignore_errors=True)  # an earlier best.csv would change what is best known
    start = time.monotonic()
    found = drivers.run_json([drivers.TILEWRIGHT, *arguments, "--json", "-o", folder])
    note.write_text(json.dumps(arguments) + "\n", encoding="utf-8")
    progress(f"{question}, {name}: {time.monotonic() - start:.0f} s")
    return found


def train_team(choice, case, samples):
    """The folder of a team that was trained on other networks, all at once, and their names."""
    teachers = [network for network in choice.networks if network != case.network][:choice.teachers]
    if not teachers:
        return None, []
    output = pathlib.Path(choice.output) / "map" / "teams" / f"{'-'.join(teachers)}-{case.machine}-{case.objective}-{samples}"
    if not (output / "team" / "team.json").exists() or (not choice.reuse and output not in train_team.fresh):
        shutil.rmtree(output, ignore_errors=True)
        drivers.run_json([drivers.TILEWRIGHT, "map", "+".join(f"zoo:{teacher}" for teacher in teachers), "--hardware",
                          f"zoo:{case.machine}", "--objective", case.objective, *PLAIN, "--search", "agents", "--samples", samples,
                          "-o", output, "--json"])
        progress(f"team, {output.name}: trained")
    train_team.fresh.add(output)
    return output / "team", teachers


train_team.fresh = set()
