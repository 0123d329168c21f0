"""What is measured, how `tilewright codesign` is asked, and what its curves say."""

import concurrent.futures
import hashlib
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import drivers
from drivers import progress

PAPER = ["alexnet", "vgg11", "vgg13", "vgg16", "vgg19", "resnet18", "resnet34"]
NETWORKS = [*PAPER, "mobilenet_v2", "resnet50", "bert_base", "vit_b16"]
LAYERS = ["resnet18:conv2_1", "resnet18:conv3_1", "resnet18:conv3_2", "resnet18:conv4_2", "resnet18:conv4_1_proj",
          "resnet18:conv5_1", "resnet18:conv5_2", "vgg16:conv3_2", "vgg16:conv4_2", "vgg16:conv5_1", "alexnet:conv2",
          "mobilenet_v2:conv_last", "bert_base:qk"]
SEARCHERS = ["dcoc", "autotvm", "chameleon", "random", "genetic"]
BASELINES = ["autotvm", "chameleon"]
ABLATIONS = {"as it is": [], "one agent": ["assign=single"], "wrong agents": ["assign=wrong"], "own critics": ["critic=own"],
             "no critic": ["critic=none"], "uniform sampling": ["sampling=uniform"], "best only": ["sampling=top"],
             "k-means sampling": ["sampling=kmeans"], "knobs only": ["features=knobs"], "random beginning": ["begin=random"]}
# The joint space with the area of the default machine: with its buffers as they are, hardly another machine fits.
SPACE = ["--area-budget", 1]

TRANSFORMERS = ["bert_base", "vit_b16"]
NOTHING_FOUND = 3  # exit code: no machine has a schedule for every layer

QUICK = {"networks": ["alexnet"], "layers": ["resnet18:conv5_2", "resnet18:conv4_1_proj"], "budgets": [64, 128, 256],
         "seeds": 1}
FULL = {"networks": NETWORKS, "layers": LAYERS, "budgets": [64, 128, 256, 512], "seeds": 10}


def shell(arguments):
    return " ".join(["tilewright", *map(str, arguments)])


def codesign(choice, arguments, threads=1):
    """What a search has found, without executing programs; with --reuse, what the same command has found before."""
    arguments = ["codesign", *map(str, arguments), "--no-verify", "--json"]
    name = hashlib.sha256(shell(arguments).encode()).hexdigest()[:24]
    kept = pathlib.Path(choice.output) / "codesign" / f"{name}.json"
    if choice.reuse and kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    start = time.monotonic()
    command = [str(drivers.TILEWRIGHT), *arguments, *(["--threads", str(threads)] if threads else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    if done.returncode not in (0, NOTHING_FOUND):
        sys.exit(f"'{shell(arguments)}' ended with exit code {done.returncode}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    found["seconds"] = time.monotonic() - start
    found["command"] = shell(arguments)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found), encoding="utf-8")
    return found


def all_of(choice, question, commands):
    """{key: what was found} for {key: arguments}, as many at once as there are jobs."""
    found, start = {}, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(choice.jobs) as pool:
        running = {pool.submit(codesign, choice, arguments): key for key, arguments in commands.items()}
        for done in concurrent.futures.as_completed(running):
            found[running[done]] = done.result()
            progress(f"{question}: {len(found)} of {len(commands)} runs, {time.monotonic() - start:.0f} s")
    return {key: found[key] for key in commands}


def network_arguments(choice, network):
    """A network as it is compared: of image networks the convolutions, as published comparisons have them. Fully connected
    layers of one image read every weight once, so on every machine they take the time of the bus."""
    return [f"zoo:{network}", *([] if choice.all_layers or network in TRANSFORMERS else ["--operators", "conv,depthwise"])]


def machine_file(choice, found):
    """The machine of a result as a file for --machine."""
    text = json.dumps(found["machine"])
    path = pathlib.Path(choice.output) / "codesign" / f"machine-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def cycles_of(found):
    """Of the network; infinite when no machine has a schedule for every layer."""
    return found["totals"]["cycles"] if "totals" in found else math.inf


def best_at(curve, measurements):
    """The value of a curve of (measurement, value) after so many measurements; nothing before its first."""
    values = [value for at, value in curve if at <= measurements]
    return values[-1] if values else None


def by_layer(found):
    """(measurements of every layer, cycles of the network) of a search on one machine, whose layers do not wait for each
    other."""
    best, curve = {}, []
    for at, index, cycles in sorted((at, index, cycles) for index, layer in enumerate(found["layers"])
                                    for at, cycles in layer["improvements"]):
        best[index] = cycles
        if len(best) == len(found["layers"]):
            curve.append((at, sum(found["layers"][index]["count"] * cycles for index, cycles in best.items())))
    return curve


def by_round(found):
    """The same of a search that measures the layers in turn, by the measurements of all."""
    return [(math.ceil(at / len(found["layers"])), cycles) for at, cycles in found["curve"]]


def reaches(curve, target):
    """The first measurement at which the curve is at the target or below."""
    return next((at for at, value in curve if value <= target), None)


def median(values):
    values = list(values)
    return statistics.median(values) if values else None


def percent(value, digits=2):
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---" if i == 0 else "---:" for i in range(len(head))) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
