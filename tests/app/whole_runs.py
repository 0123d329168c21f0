"""What tests of bad luck have in common: small commands of every verb that keeps something, and what they leave behind."""

import contextlib
import json
import sqlite3

NETWORK = "format: tilewright-network-1\nname: tiny\nlayers:\n  - {name: conv1, op: conv, in: [16, 12, 12], out: 16, kernel: 3, pad: 1}\n"
PLAN = """format: tilewright-plan-1
studies:
  - map: {network: NET, hardware: zoo:eyeriss, samples: 20, search: random}
  - compare: {network: NET, hardware: zoo:gamma-edge, searches: [random], samples: 20, seeds: 2}
"""
TIMES = {"seconds", "cpu_seconds", "samples_per_second", "command", "digest", "continued_from", "episodes_per_second", "phases",
         "directory", "threads", "processor", "began", "tries", "host", "started", "retries"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMES}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def results_of(directory):
    """What a run has found: its files but for times, and its points."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if not path.is_file() or name.startswith(("checkpoint", "tasks", "runs", "work")):
            continue
        if path.suffix == ".json" and path.name not in ("run.json", "timing.json"):
            found[name] = without_times(json.loads(path.read_text()))
        elif path.suffix in (".csv", ".yaml", ".safetensors") and path.name != "profile.csv":
            found[name] = path.read_bytes()
        elif path.suffix == ".sqlite":
            with contextlib.closing(sqlite3.connect(path)) as store:
                found[name] = sorted(store.execute("SELECT design, reason, numbers FROM outcome").fetchall(), key=str)
    return found


def check_whole(test, directory):
    """Nothing is half there."""
    for path in directory.rglob("*"):
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".sqlite":
            with contextlib.closing(sqlite3.connect(path)) as store:
                test.assertEqual(store.execute("PRAGMA integrity_check").fetchone(), ("ok",), path)


def tiny_verbs(folder):
    """Commands of a moment each, without -o."""
    network, plan = folder / "net.yaml", folder / "plan.yaml"
    network.write_text(NETWORK)
    plan.write_text(PLAN.replace("NET", str(network)))
    return {
        "map": ["map", network, "--hardware", "zoo:eyeriss", "--samples", 30, "--search", "random"],
        "codesign": ["codesign", network, "--measurements", 12, "--search", "random"],
        "train": ["train", "toy:climbing", "--algorithm", "ippo", "--episodes", 60, "--checkpoint-every", 20],
        "compare": ["compare", "--network", network, "--hardware", "zoo:gamma-edge", "--searches", "random,gamma", "--samples", 20,
                    "--seeds", 2],
        "campaign": ["campaign", plan],
    }
