"""`tilewright map`, `resume` and `verify` as their user meets them: what they print and write, that a run repeats itself whatever
happens to it, what they refuse.

map_test.py PROGRAM DATA
"""

import csv
import json
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, DATA = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
TINY = """format: tilewright-network-1
name: tiny
layers:
  - {name: conv1, op: conv, in: [8, 12, 12], out: 16, kernel: 3, stride: 2}
  - {name: conv2, op: depthwise, in: [16, 10, 10], kernel: 3, count: 2}
  - {name: fc, op: fc, in: 64, out: 40}
"""
FLAT = """format: tilewright-network-1
name: flat
layers:
  - {name: point, op: conv, in: [3, 1, 1], out: 4, kernel: 1}
"""
QUICK = ["--set", "agents.hidden=16", "--set", "rl.hidden=16"]
CLASSICAL = ("random", "genetic", "gamma", "ant-colony", "bayesian", "annealing")


def run(verb, *arguments, cwd=None):
    return subprocess.run([PROGRAM, verb, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=cwd)


def files_of(directory):
    """Every file of a run that must be the same bytes whatever happened on the way. The store's are not: points are in it in the
    order they came, so that its checksum in run.json is not the same either."""
    files = {str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.rglob("*"))
            if path.is_file() and not path.name.startswith("store.sqlite") and path.name != "lock"}
    if "outputs" in (record := json.loads(files.get("run.json", b"{}"))):
        for checksum in ("store.sqlite", "report.html"):
            record["outputs"].pop(checksum, None)
        files["run.json"] = json.dumps({**record, "digest": ""}).encode()
    return files


class MapTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "tiny.yaml").write_text(TINY)
        (self.folder / "flat.yaml").write_text(FLAT)
        self.tiny = [self.folder / "tiny.yaml", "--hardware", "zoo:gamma-edge", *QUICK]

    def done(self, *arguments, verb="map", code=0, cwd=None):
        result = run(verb, *arguments, cwd=cwd)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def found(self, *arguments, code=0):
        return json.loads(self.done(*self.tiny, *arguments, "--json", code=code).stdout)

    def refused(self, *arguments, saying, verb="map", code=2):
        result = run(verb, *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)

    def assertSameFiles(self, one, other):
        one, other = files_of(one), files_of(other)
        self.assertEqual(sorted(one), sorted(other))
        for name in one:
            self.assertTrue(one[name] == other[name], f"{name} differs")


class Classics(MapTest):
    """No answer is worse than a dataflow we know."""

    def test_no_searcher_ends_worse_than_a_classic_dataflow(self):
        for search in ("agents", "rl", "dcoc", "chameleon", "autotvm", "exhaustive", *CLASSICAL):
            # exhaustive needs a space it can walk; four samples are not enough for anybody to find something good
            space = ["--levels", "1", "--set", "exhaustive.largest=18"] if search == "exhaustive" else []
            for objective in ("edp", "latency", "energy"):
                result = self.found("--samples", 4, "--search", search, "--objective", objective, *space)
                for layer in result["layers"]:
                    self.assertGreaterEqual(layer["dataflow_factor"], 1, f"{search} {objective} {layer['name']}")

    def test_explicit_spaces_are_no_worse_either(self):
        for space in (["--levels", "1"], ["--levels", "3"], ["--tiles", "any"], ["--space", "archgym"], ["--model", "exact"]):
            for layer in self.found("--samples", 3, "--search", "random", *space)["layers"]:
                self.assertGreaterEqual(layer["dataflow_factor"], 1, f"{space} {layer['name']}")

    def test_networks_and_machines_nobody_tuned_on(self):
        for network, hardware in (("resnet18", "tpu-v1-like"), ("squeezenet", "gamma-cloud"), ("dlrm", "nvdla-large"),
                                  ("mobilenet_v2", "simba-chiplet")):
            text = self.done(f"zoo:{network}", "--hardware", f"zoo:{hardware}", "--samples", 5, "--search", "random",
                             "--json").stdout
            for layer in json.loads(text)["layers"]:
                if layer["status"] != "ok":
                    self.assertEqual(layer["dataflows"], {}, f"{network} on {hardware}: {layer['name']}")
                    continue
                self.assertGreaterEqual(layer["dataflow_factor"], 1, f"{network} on {hardware}: {layer['name']}")

    def test_classics_are_counted_apart_from_samples(self):
        told, alone = self.found("--samples", 20), self.found("--samples", 20, "--no-classics")
        for layer in told["layers"]:
            self.assertEqual(layer["samples"], 20)
            self.assertGreater(layer["classics"], 7)
            self.assertEqual(min(layer["dataflows"].values()), list(layer["dataflows"].values())[0])
        self.assertEqual(told["totals"]["classics"], sum(layer["classics"] for layer in told["layers"]))
        self.assertEqual(alone["totals"]["classics"], 0)
        self.assertLess(min(layer["dataflow_factor"] for layer in alone["layers"]), 1)

    def test_what_the_exact_model_refuses_is_not_the_answer(self):
        # Ragged tiles: the sound model accepts what the exact one does not.
        for seed in range(1, 6):
            for layer in self.found("--samples", 200, "--tiles", "any", "--search", "random", "--seed", seed)["layers"]:
                self.assertNotIn("exact_refusal", layer)
                self.assertGreater(layer["exact_factor"], 0)


class Printed(MapTest):
    def test_the_table_has_a_line_per_layer_and_one_for_all(self):
        text = self.done(*self.tiny, "--samples", "100").stdout
        self.assertIn("tiny on gamma-edge, edp minimised by agents (100 samples per layer, seed 1, model sound)", text)
        for layer, count in (("conv1", 1), ("conv2", 2), ("fc", 1)):
            self.assertRegex(text, rf"(?m)^{layer} +{count} +[\d,]+ +[\d.e+]+ +[\d.e+]+ +[\d.]+% +[\d.]+x \w+")
        self.assertRegex(text, r"(?m)^all +[\d,]+ ")
        self.assertRegex(text, r"(?m)^300 samples: [\d.]+ % valid")
        self.assertNotIn("nan", text)

    def test_json_has_the_documented_fields(self):
        found = self.found("--samples", "80", "--seed", "4")
        self.assertEqual(found["format"], "tilewright-map-1")
        for name in ("network", "machine", "model", "objective", "limits", "search", "samples", "seed", "settings", "totals", "layers"):
            self.assertIn(name, found)
        self.assertEqual((found["samples"], found["seed"], found["search"]), (80, 4, "agents"))
        self.assertEqual([(layer["name"], layer["count"]) for layer in found["layers"]], [("conv1", 1), ("conv2", 2), ("fc", 1)])
        for layer in found["layers"]:
            for name in ("nest", "status", "metrics", "score", "utilisation", "mapping", "dataflow", "dataflow_factor"):
                self.assertIn(name, layer)
            for name in ("latency", "energy", "edp", "power", "l1", "l2", "macs", "pes"):
                self.assertGreater(layer["metrics"][name], 0, name)
            self.assertIsNone(layer["metrics"]["area"])  # gamma-edge gives no figures
            self.assertNotIn("area_parts", layer)
            self.assertEqual(layer["samples"], 80)
            self.assertEqual(layer["valid"] + sum(layer["rejected"].values()), 80)
            self.assertTrue(0 < layer["utilisation"] <= 1)
        for name in ("latency", "energy"):
            total = sum(layer["count"] * layer["metrics"][name] for layer in found["layers"])
            self.assertAlmostEqual(found["totals"][name], total, places=6)

    def test_small_spaces_show_how_far_the_optimum_is(self):
        every = json.loads(self.done(self.folder / "flat.yaml", "--hardware", "zoo:gamma-edge", "--max-pes", "4", "--search", "exhaustive",
                                     "--samples", "100000", "--json").stdout)
        self.assertEqual(every["layers"][0]["optimum_factor"], 1)
        few = json.loads(self.done(self.folder / "flat.yaml", "--hardware", "zoo:gamma-edge", "--max-pes", "4", "--search", "random",
                                   "--samples", "5", "--json").stdout)
        self.assertGreaterEqual(few["layers"][0]["optimum_factor"], 1)
        self.assertAlmostEqual(few["layers"][0]["optimum_factor"], few["layers"][0]["score"][0] / every["layers"][0]["score"][0])
        part = self.done(self.folder / "flat.yaml", "--hardware", "zoo:gamma-edge", "--max-pes", "4", "--search", "exhaustive", "--samples", "5")
        self.assertIn("5 samples per layer were spent before every mapping was evaluated", part.stdout)

    def test_units_people_read_and_losses_that_stand_out(self):
        arguments = [*self.tiny, "--samples", "40", "--search", "random", "--no-classics", "-o", self.folder / "units"]
        text = self.done(*arguments).stdout
        found = json.loads((self.folder / "units" / "result.json").read_text())
        clock = float(re.search(r"clock_ghz: (\S+)", found["machine"])[1])
        told = re.search(r"(?m)^(\S+) us and (\S+) nJ per inference: (\S+) inferences/s, (\S+) mW, at (\S+) GHz$", text)
        self.assertAlmostEqual(float(told[1]), found["totals"]["latency"] / clock / 1e3, delta=2e-3 * float(told[1]))
        self.assertAlmostEqual(float(told[2]), found["totals"]["energy"], delta=2e-3 * float(told[2]))
        self.assertAlmostEqual(float(told[3]) * float(told[1]), 1e6, delta=3e3)
        lost = {layer["name"] for layer in found["layers"] if layer["dataflow_factor"] < 0.9999}
        self.assertEqual({line.split()[0] for line in text.splitlines() if line.endswith("  LOSS")}, lost)
        self.assertEqual("A classic dataflow is better than what was found" in text, bool(lost))
        report = (self.folder / "units" / "report.html").read_text()
        for words in ("The machine", "network on chip", "Energy and roofs", "held down by", "inferences/s", "K output channels, C input"):
            self.assertIn(words, report)
        self.assertEqual(report.count('class="loss"'), len(lost))

    def test_limits_that_nothing_keeps_say_what_to_relax(self):
        free = {layer["name"]: layer["metrics"] for layer in self.found("--samples", "80", "--search", "random")["layers"]}
        tight = ["--max-latency", free["fc"]["latency"] / 100, "--max-energy", free["fc"]["energy"] * 50]
        one = [*self.tiny, "--layer", "fc", "--samples", "80", "--search", "random", "--no-classics", *tight]
        text = self.done(*one, code=3).stdout
        found = json.loads(self.done(*one, "--json", code=3).stdout)["layers"][0]
        limits, nearest = found["limits"], found["nearest"]
        self.assertEqual(limits["latency"]["limit"], tight[1])
        self.assertGreater(limits["latency"]["factor"], 1)
        self.assertLessEqual(limits["energy"]["least"], nearest["metrics"]["energy"])
        self.assertAlmostEqual(nearest["factor"], nearest["metrics"]["latency"] / tight[1])
        self.assertIn("none of 80 samples keeps the limits. The least seen: latency ", text)
        # What it says is enough, and a hair less is not.
        advice = re.search(r"There is an answer with --max-latency (\S+); `tilewright (explain .*)` tells more", text)
        for limit, code in ((float(advice[1]), 0), (float(advice[1]) * 0.9999 - 1, 3)):
            self.done(*self.tiny, "--layer", "fc", "--samples", "80", "--search", "random", "--no-classics", "--max-latency", limit, *tight[2:],
                      code=code)
        # The command works as printed and knows the limits.
        told = self.done(*shlex.split(advice[2])[1:], verb="explain", code=3).stdout
        self.assertIn("fits the machine, but not the limits", told)
        relaxed = re.search(r"It keeps the limits with --max-latency (\S+)", told)
        again = shlex.split(advice[2])[1:]
        again[again.index("--max-latency") + 1] = relaxed[1]
        self.assertIn("feasible", self.done(*again, verb="explain").stdout)

    def test_a_layer_that_fits_no_machine_names_a_command_that_works(self):
        (self.folder / "a small one.yaml").write_text("format: tilewright-accelerator-1\nname: small\npes: 4\nl1_bytes: 1\nl2_bytes: 1\n")
        text = self.done(self.folder / "tiny.yaml", "--hardware", self.folder / "a small one.yaml", "--samples", "20", "--search", "random",
                         "--layer", "fc", code=3).stdout
        command = re.search(r"`tilewright (explain .*)` tells more", text)
        self.assertIn("It fits a machine with", self.done(*shlex.split(command[1])[1:], verb="explain", code=3).stdout)

    def test_settings_are_listed_with_what_is_set(self):
        text = self.done("--search", "genetic", "--settings", "--set", "genetic.population=17").stdout
        self.assertRegex(text, r"(?m)^genetic\.population +17 +\w")
        self.assertRegex(self.done("--settings").stdout, r"(?m)^agents\.learner +ippo +ippo, mappo, maddpg or masac")

    def test_a_layer_with_nothing_to_choose(self):
        (self.folder / "one.yaml").write_text(FLAT.replace("in: [3, 1, 1], out: 4", "in: [1, 1, 1], out: 1"))
        for search in ("agents", "rl", "random"):
            found = self.done(self.folder / "one.yaml", "--hardware", "zoo:gamma-edge", "--max-pes", "1", "--samples", "20", "--search", search,
                              "-o", self.folder / search)
            self.assertIn("point", found.stdout)


class Written(MapTest):
    def test_the_run_directory(self):
        runs = self.folder / "runs"
        self.done(*self.tiny, "--samples", "60", "-o", runs)
        self.assertEqual(sorted(name for name in files_of(runs)),
                         ["best/000_conv1.yaml", "best/001_conv2.yaml", "best/002_fc.yaml", "convergence.csv", "layers.csv", "report.html",
                          "result.json", "run.json", "team/assignment.yaml", "team/policies.safetensors", "team/team.json"])
        self.assertTrue((runs / "store.sqlite").exists())
        result = json.loads((runs / "result.json").read_text())
        rows = list(csv.DictReader((runs / "layers.csv").read_text().splitlines()))
        for row, layer in zip(rows, result["layers"], strict=True):
            self.assertEqual(row["layer"], layer["name"])
            self.assertEqual(float(row["latency"]), layer["metrics"]["latency"])
            self.assertEqual(float(row["objective"]), layer["score"][0])
        curve = list(csv.DictReader((runs / "convergence.csv").read_text().splitlines()))
        for number, layer in enumerate(result["layers"]):
            own = [(int(line["sample"]), float(line["objective"])) for line in curve if int(line["layer"]) == number]
            self.assertEqual(own, sorted(own))
            self.assertEqual([o for _, o in own], sorted((o for _, o in own), reverse=True))
            self.assertEqual(own[-1][1], layer["score"][0])
        report = (runs / "report.html").read_text()
        self.assertIn("conv2", report)
        self.assertNotIn("http://", report.replace("http://www.w3.org", ""))

    def test_a_mapping_file_costs_what_the_result_says(self):
        runs = self.folder / "runs"
        self.done(*self.tiny, "--samples", "60", "-o", runs)
        result = json.loads((runs / "result.json").read_text())
        evaluated = json.loads(self.done("--network", self.folder / "tiny.yaml", "--hardware", "zoo:gamma-edge", "--layer", "conv1", "--mapping",
                                         runs / "best/000_conv1.yaml", "--json", verb="evaluate").stdout)
        self.assertIn(f'{result["layers"][0]["metrics"]["latency"]:.0f}', json.dumps(evaluated))

    def test_any_number_of_threads_writes_the_same(self):
        for threads in ("1", "2"):
            parent = self.folder / threads
            parent.mkdir()
            (parent / "tiny.yaml").write_text(TINY)
            self.done("tiny.yaml", "--hardware", "zoo:gamma-edge", *QUICK, "--samples", "250", "--threads", threads, "-o", "runs", cwd=parent)
        one, two = files_of(self.folder / "1/runs"), files_of(self.folder / "2/runs")
        self.assertEqual(sorted(one), sorted(two))
        for name in one:
            # The command line is part of these; how many threads it asked for is all that may differ.
            same = one[name] if name not in ("run.json", "report.html") else re.sub(rb'(--threads"?,?\s*"?)1', rb"\g<1>2", one[name])
            self.assertTrue(same == two[name], f"{name} differs")

    def test_a_shared_store_knows_what_another_run_found(self):
        store = self.folder / "points.sqlite"
        first = self.done(*self.tiny, "--samples", "60", "--search", "random", "--store", store)
        self.assertNotIn("known before", first.stderr)
        second = self.done(*self.tiny, "--samples", "60", "--search", "random", "--store", store)
        self.assertRegex(second.stderr, r"\d\d\d points known before")
        self.assertEqual(first.stdout, second.stdout)


class Continued(MapTest):
    LONG = ["--samples", "3000", "-o", "runs"]

    def start(self, parent):
        return subprocess.Popen([PROGRAM, "map", *self.long], cwd=parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def setUp(self):
        super().setUp()
        self.long = ["../tiny.yaml", "--hardware", "zoo:gamma-edge", *QUICK, *self.LONG]
        self.whole = self.folder / "whole"
        self.whole.mkdir()
        began = time.monotonic()
        self.done(*self.long, cwd=self.whole)
        self.seconds = time.monotonic() - began

    def parent(self, name):
        parent = self.folder / name
        parent.mkdir()
        return parent

    def go_on(self, parent):
        """The run is continued by its directory, or by its command when it was killed before there was one."""
        if (parent / "runs/run.json").exists():
            return run("resume", "runs", cwd=parent)
        return run("map", *self.long, cwd=parent)

    def test_killed_at_any_moment_it_ends_with_the_same_bytes(self):
        moments = random.Random(1)
        parent = self.parent("killed")
        for turn in range(5):
            continued = turn > 0 and (parent / "runs/run.json").exists()
            command = ["resume", "runs"] if continued else ["map", *self.long]
            process = subprocess.Popen([PROGRAM, *command], cwd=parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.seconds * moments.uniform(0.02, 0.9))
            process.kill()
            process.wait()
        self.assertEqual(self.go_on(parent).returncode, 0)
        self.assertSameFiles(self.whole / "runs", parent / "runs")

    def test_interrupted_it_keeps_the_best_and_goes_on(self):
        parent = self.parent("interrupted")
        process = self.start(parent)
        while process.poll() is None and not (parent / "runs/run.json").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        result = json.loads((parent / "runs/result.json").read_text())
        self.assertTrue(result["interrupted"])
        self.assertLess(result["totals"]["samples"], 3 * 3000)
        again = self.go_on(parent)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertSameFiles(self.whole / "runs", parent / "runs")

    def test_the_same_command_again_changes_nothing(self):
        before = files_of(self.whole / "runs")
        self.done(*self.long, cwd=self.whole)
        self.done("runs", verb="resume", cwd=self.whole)
        self.assertEqual(files_of(self.whole / "runs"), before)

    def test_another_setting_is_refused(self):
        runs = self.whole / "runs"
        before = files_of(runs)
        for change, saying in ((["--seed", "2"], "seed of the run there is 1, but now it is 2"),
                               (["--samples", "9"], "samples of the run there is 3000, but now it is 9"),
                               (["--objective", "latency"], "objective of the run there is"),
                               (["--set", "agents.batch=3"], "settings of the run there is"),
                               (["--max-l1", "99"], "max_l1 of the run there is null")):
            kept = list(self.long)
            if change[0] == "--samples":
                kept = kept[:kept.index("--samples")] + kept[kept.index("--samples") + 2:]
            result = run("map", *kept, *change, cwd=self.whole)
            self.assertEqual(result.returncode, 2, change)
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertIn(saying, result.stderr)
        (self.folder / "tiny.yaml").write_text(TINY.replace("out: 40", "out: 41"))
        result = run("map", *self.long, cwd=self.whole)
        self.assertEqual(result.returncode, 2)
        self.assertIn("network of the run there is", result.stderr)
        self.assertEqual(files_of(runs), before)


class Verified(MapTest):
    def setUp(self):
        super().setUp()
        self.runs = self.folder / "runs"
        self.done(*self.tiny, "--samples", "60", "--search", "random", "-o", self.runs)

    def test_what_was_found_is_verified(self):
        for place in (self.runs, self.runs / "result.json"):
            self.assertIn("3 of 3 layers evaluated again, every number equal", self.done(place, verb="verify").stdout)
        verdict = json.loads(self.done(self.runs, "--json", verb="verify").stdout)
        self.assertEqual((verdict["equal"], verdict["layers"], verdict["faults"]), (True, 3, []))
        self.assertTrue(verdict["checked"])

    def test_a_changed_digit_is_found(self):
        path = self.runs / "result.json"
        good = path.read_text()
        for name in ("latency", "energy", "area", "power", "macs", "l1", "l2", "pes"):
            result = json.loads(good)
            result["layers"][1]["metrics"][name] = (result["layers"][1]["metrics"][name] or 0) + 1
            path.write_text(json.dumps(result))
            text = self.done(self.runs, verb="verify", code=3).stdout
            self.assertRegex(text, rf"/layers/1/metrics/{name} is .*, the file says .* \(layer conv2\)")
        for place, name in ((["totals", "energy"], "/totals/energy is "), (["layers", 0, "score", 0], "/layers/0/score/0 is "),
                            (["layers", 2, "metrics", "edp"], "(layer fc)")):
            result = json.loads(good)
            inner = result
            for step in place[:-1]:
                inner = inner[step]
            inner[place[-1]] *= 1.0000001
            path.write_text(json.dumps(result))
            self.assertIn(name, self.done(self.runs, verb="verify", code=3).stdout)

    def test_a_changed_mapping_is_found(self):
        path = self.runs / "result.json"
        result = json.loads(path.read_text())
        result["layers"][0]["mapping"], result["layers"][2]["mapping"] = result["layers"][2]["mapping"], result["layers"][0]["mapping"]
        path.write_text(json.dumps(result))
        self.assertIn("layer conv1: ", self.done(self.runs, verb="verify", code=3).stdout)

    def test_what_is_no_result_is_refused(self):
        other = self.folder / "other.json"
        for text in ("", "{}", "[]", '{"format": "tilewright-map-1"}', "no json", '{"format": 3}'):
            other.write_text(text)
            self.refused(other, verb="verify", saying="other.json:")
        self.refused(self.folder / "nowhere.json", verb="verify", saying="nowhere.json")


class Asked(MapTest):
    def test_objectives(self):
        best = {}
        for objective in ("latency", "energy", "weighted:latency=2,energy=1", "lexicographic:latency,energy"):
            found = self.found("--objective", objective, "--samples", "60", "--search", "random")
            self.assertEqual(found["objective"], objective)
            best[objective] = found["layers"][0]
        metrics = best["latency"]["metrics"]
        self.assertEqual(best["latency"]["score"], [metrics["latency"], 0, 0])
        self.assertLessEqual(metrics["latency"], best["energy"]["metrics"]["latency"])
        self.assertEqual(best["lexicographic:latency,energy"]["score"][0], metrics["latency"])
        weighted = best["weighted:latency=2,energy=1"]
        self.assertAlmostEqual(weighted["score"][0] / (weighted["metrics"]["latency"] ** 2 * weighted["metrics"]["energy"]), 1)

    def test_area_and_power_are_those_of_the_machine(self):
        for hardware, known in (("zoo:shidiannao", True), ("zoo:gamma-cloud", False)):
            for model in ("sound", "exact"):
                found = json.loads(self.done(self.folder / "tiny.yaml", "--hardware", hardware, "--samples", "60", "--search", "random",
                                             "--model", model, "--json", "-o", self.folder / f"{hardware[4:]}-{model}").stdout)
                self.assertEqual("pe_um2" in found["machine"], known)
                for layer in [*found["layers"], {"metrics": found["totals"]}]:
                    metrics = layer["metrics"]
                    seconds = metrics["latency"] / 1e9  # both run at 1 GHz
                    self.assertAlmostEqual(metrics["power"] / 1e3 / (metrics["energy"] / 1e9 / seconds), 1, places=9)
                    if not known:
                        self.assertIsNone(metrics["area"])
                    elif "area_parts" in layer:
                        parts = layer["area_parts"]
                        self.assertAlmostEqual(sum(parts.values()), metrics["area"], places=3)
                        self.assertAlmostEqual(parts["pe"], 64 * 10312, places=3)
                        self.assertAlmostEqual(parts["l2"], metrics["l2"] * 14.84, places=3)
                        self.assertLess(metrics["area"], 4.86e6)
                with open(self.folder / f"{hardware[4:]}-{model}" / "layers.csv") as file:
                    areas = [row["area_um2"] for row in csv.DictReader(file)]
                self.assertEqual([area != "" for area in areas], [known] * 3)
                self.done(self.folder / f"{hardware[4:]}-{model}", verb="verify")

    def test_an_unknown_area_is_no_objective_and_no_limit(self):
        for asked in (["--objective", "area"], ["--objective", "weighted:latency=2,area=1"], ["--objective", "lexicographic:latency,area"],
                      ["--max-area", "1e18"]):
            for verb, *network in (("map",), ("agents",), ("compare", "--network")):
                self.refused(*network, self.folder / "tiny.yaml", "--hardware", "zoo:gamma-cloud", *asked, verb=verb,
                             saying="zoo:gamma-cloud gives no figures for one, expected area: {pe_um2: …, buffer_byte_um2: …} in the machine file")
            self.found("--samples", "20", "--search", "random", "--model", "maestro", *asked)  # MAESTRO has its own
        found = json.loads(self.done(self.folder / "tiny.yaml", "--hardware", "zoo:shidiannao", "--samples", "60", "--search", "random",
                                     "--objective", "area", "--json").stdout)
        self.assertEqual(found["layers"][0]["score"][0], found["layers"][0]["metrics"]["area"])

    def test_limits_that_nothing_keeps_are_told(self):
        result = self.done(*self.tiny, "--samples", "40", "--max-l1", "1", code=3)
        self.assertIn("l1-overflow", result.stdout)
        found = self.found("--samples", "40", "--max-power", "1e-6", code=3)
        self.assertEqual({layer["status"] for layer in found["layers"]} & {"ok"}, set())
        self.assertEqual(found["limits"], {"power": 1e-6})
        self.assertTrue(all(layer["valid"] == 0 for layer in found["layers"]))

    def test_limits_that_some_keep(self):
        free = self.found("--samples", "60", "--search", "random", "--objective", "latency")
        limit = 1.5 * free["layers"][0]["metrics"]["latency"]
        kept = self.found("--samples", "60", "--search", "random", "--layer", "conv1", "--max-latency", limit, "--objective", "energy")
        self.assertLessEqual(kept["layers"][0]["metrics"]["latency"], limit)
        self.assertIn("latency", kept["limits"])

    def test_every_searcher(self):
        quick = ["--set", "bayesian.points=30", "--set", "bayesian.candidates=30", "--set", "gamma.population=10"]
        for search in (*CLASSICAL, "rl"):
            found = self.found("--search", search, "--samples", "30", *quick)
            self.assertEqual(found["search"], search)
            self.assertEqual(found["totals"]["samples"], 90)
            self.assertNotIn("agents", {key for key, value in found.items() if value})

    def test_every_kind_of_space_is_verified(self):
        for number, space in enumerate((["--space", "archgym"], ["--tiles", "any"], ["--tiles", "gamma"], ["--levels", "1"], ["--levels", "1-3"],
                                        ["--search-pes"], ["--model", "exact"], ["--model", "maestro"], ["--model", "maestro@e1d8efd"],
                                        ["--constraints", "report"], ["--max-pes", "50"], ["--max-l2", "2000"])):
            runs = self.folder / str(number)
            self.done(*self.tiny, "--samples", "30", *space, "-o", runs)
            self.assertIn("every number equal", self.done(runs, verb="verify").stdout, space)

    def test_a_machine_in_clusters_is_cut_into_whole_ones(self):
        machine = [self.folder / "tiny.yaml", "--hardware", "zoo:eyeriss", *QUICK, "--samples", "30"]
        runs = self.folder / "runs"
        self.done(*machine, "--max-pes", "84", "-o", runs)
        self.assertLessEqual(json.loads((runs / "result.json").read_text())["layers"][0]["metrics"]["pes"], 84)
        self.done(runs, verb="verify")
        self.refused(*machine, "--max-pes", "50", saying="clusters of 12 do not divide 50 units")

    def test_the_team_of_a_run_begins_another(self):
        runs = self.folder / "runs"
        self.done(*self.tiny, "--samples", "120", "-o", runs)
        alone = self.found("--samples", "40")
        taught = self.found("--samples", "40", "--from", runs)
        self.assertGreater(alone["agents"]["explored"], 0)
        self.assertEqual(taught["agents"]["explored"], 0)
        self.assertEqual(taught["agents"]["assignment"], json.loads((runs / "result.json").read_text())["agents"]["assignment"])
        self.refused(*self.tiny, "--samples", "40", "--from", self.folder / "nowhere", saying="team.json")
        self.refused(*self.tiny, "--samples", "40", "--from", runs, "--search", "random", saying="--from gives a trained team to agents")
        self.refused(*self.tiny, "--samples", "40", "--from", runs, "--space", "archgym", saying="is a parameter of the design space")

    def test_agents_are_assigned_as_asked(self):
        self.assertEqual(len(self.found("--samples", "30", "--assign", "by-role")["agents"]["assignment"]), 3)
        self.assertEqual(len(self.found("--samples", "30", "--assign", "random:5")["agents"]["assignment"]), 5)
        assignment = self.folder / "assignment.yaml"
        assignment.write_text("format: tilewright-assignment-1\norigin: by hand\nagents:\n  - [tile.K@0, tile.K@1]\n  - [order.K@0]\n")
        self.assertEqual(len(self.found("--samples", "30", "--assign", assignment)["agents"]["assignment"]), 2)
        self.assertEqual(self.found("--samples", "30", "--explore", "sobol")["settings"]["explore"], "sobol")
        apart = self.found("--samples", "30", "--per-layer")
        self.assertEqual(apart["settings"]["joint"], "false")
        self.assertEqual(apart["totals"]["samples"], 90)


class Refused(MapTest):
    def test_mistakes_get_a_sentence(self):
        for arguments, saying in (
                (["--search", "agent"], "did you mean 'agents'?"),
                (["--objective", "latancy"], "did you mean 'latency'?"),
                (["--set", "agents.bacth=3"], "did you mean 'batch'?"),
                (["--set", "agents.batch=many"], "agents.batch is 'many', expected a whole number"),
                (["--set", "agents.batch"], "expected searcher.name=value"),
                (["--set", "genetics.population=3"], "did you mean 'genetic'?"),
                (["--search", "random", "--set", "genetic.popluation=3"], "did you mean 'population'?"),
                (["--levels", "4"], "--levels is '4', expected auto, 1, 2, 3, or a range like 1-3"),
                (["--tiles", "divisor"], "did you mean 'divisors'?"),
                (["--space", "archgim"], "did you mean 'archgym'?"),
                (["--model", "sounds"], "sound"),
                (["--layer", "conv3"], "conv3"),
                (["--max-power", "0"], "--max-power is 0, expected more than 0"),
                (["--max-l1", "0"], "--max-l1 is 0, expected at least 1"),
                (["--assign", "by-rule"], "did you mean 'by-role'?"),
                (["--explore", "sobel"], "did you mean 'sobol'?"),
                (["--search", "exhaustive"], "exhaustive")):
            self.refused(*self.tiny, "--samples", "20", *arguments, saying=saying)
        self.refused(self.folder / "tiny.yaml", saying="--hardware is missing")
        self.refused("--hardware", "zoo:eyeriss", saying="the network is missing")

    def test_a_directory_that_is_no_run(self):
        self.refused(self.folder, verb="resume", saying="run.json")
        (self.folder / "run.json").write_text("{}")
        self.refused(self.folder, verb="resume", saying="does not describe a run")

    def test_two_at_once_do_not_share_a_directory(self):
        runs = self.folder / "runs"
        process = subprocess.Popen([PROGRAM, "map", *map(str, self.tiny), "--samples", "100000000", "-o", runs], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            while process.poll() is None and not (runs / "run.json").exists():
                time.sleep(0.01)
            result = run("resume", runs)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
