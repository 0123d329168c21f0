"""`tilewright agents` as its user meets it: what it prints and writes, that it repeats itself, what it refuses.

agents_test.py PROGRAM DATA
"""

import csv
import html.parser
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
SMALL = ["zoo:resnet18", "--hardware", "zoo:gamma-edge", "--samples", "600", "--resamples", "5", "--seeds", "1"]


def run(*arguments):
    return subprocess.run([PROGRAM, "agents", *map(str, arguments)], capture_output=True, text=True, timeout=300)


class AgentsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def done(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)

    def found(self, *arguments):
        return json.loads(self.done(*SMALL, *arguments, "--json"))


def partition(found):
    return {frozenset(agent) for agent in found["assignment"]["agents"]}


class Printed(AgentsTest):
    def test_the_text_has_matrix_dendrogram_agents_and_stability(self):
        text = self.done(*SMALL, "--seed", "3")
        self.assertRegex(text, r"resnet18 on gamma-edge, edp: \d+ layers, \d+ parameters")
        self.assertRegex(text, r"\d+ samples \(random, seed 3, [\d.]+ % feasible\)")
        for name in ("tile.K@0", "parallel@1", "order.C@0"):
            self.assertGreaterEqual(len(re.findall(rf"{re.escape(name)}\b", text)), 3)  # matrix, dendrogram, assignment
        self.assertRegex(text, r"(?m)^tile\.K@0 +\d+ ╶─")
        self.assertRegex(text, r"(?m)^\d+ agents, clusters \(pearson, quantile 0.1, average linkage, silhouette\)")
        for changed in ("bootstrap", "samples", "seed", "layer", "objective", "exploration", "measure", "contrast", "linkage", "quantile"):
            self.assertRegex(text, rf"(?m)^{changed} .* -?\d\.\d\d ")
        self.assertNotIn("nan", text)

    def test_without_stability_there_is_none(self):
        self.assertNotIn("stability", self.done(*SMALL, "--no-stability"))

    def test_json_is_consistent(self):
        found = self.found()
        names = [parameter["name"] for parameter in found["parameters"]]
        self.assertEqual(sorted(name for agent in found["assignment"]["agents"] for name in agent), sorted(names))
        self.assertEqual(len(found["matrix"]), len(names))
        for a, line in enumerate(found["matrix"]):
            self.assertEqual(line[a], 1)
            for b, value in enumerate(line):
                self.assertTrue(0 <= value <= 1)
                self.assertEqual(value, found["matrix"][b][a])
        merges = found["dendrogram"]["merges"]
        self.assertEqual(len(merges), len(names) - 1)
        self.assertEqual(merges[-1]["size"], len(names))
        self.assertEqual([merge["height"] for merge in merges], sorted(merge["height"] for merge in merges))
        self.assertEqual(found["samples"], found["samples_per_layer"] * len(found["layers"]))
        self.assertLessEqual(found["samples"], 600)
        self.assertGreater(found["feasible"], 0)
        # One other seed and two other policies.
        self.assertEqual(found["stability_samples"], 3 * found["samples"])

    def test_what_is_already_so_is_not_a_change(self):
        rows = {(row["changed"], row["to"]) for row in self.found("--objective", "latency", "--explore", "sobol")["stability"]}
        self.assertIn(("objective", "edp"), rows)
        self.assertIn(("exploration", "random"), rows)
        self.assertNotIn(("objective", "latency"), rows)
        self.assertNotIn(("exploration", "sobol"), rows)


class Choices(AgentsTest):
    def test_the_number_of_agents(self):
        for count in (1, 4):
            self.assertEqual(len(partition(self.found("--agents", count, "--no-stability"))), count)

    def test_the_threshold(self):
        alone = self.found("--threshold", 0, "--no-stability")
        groups = partition(alone)  # a pair that always moves together is at distance 0
        self.assertEqual(sum(map(len, groups)), len(alone["parameters"]))
        self.assertGreater(len(groups), 0.9 * len(alone["parameters"]))
        self.assertEqual(len(partition(self.found("--threshold", 1.01, "--no-stability"))), 1)

    def test_every_measure_linkage_and_policy_runs(self):
        for measure in ("pearson", "spearman", "distance", "mutual-information"):
            self.found("--correlation", measure, "--no-stability")
        for linkage in ("average", "complete", "ward"):
            self.found("--linkage", linkage, "--no-stability")
        for policy in ("random", "sobol", "genetic"):
            self.assertEqual(self.found("--explore", policy, "--no-stability")["explore"], policy)

    def test_contrast_changes_the_matrix(self):
        plain, contrast = self.found("--no-stability"), self.found("--contrast", "--no-stability")
        self.assertTrue(contrast["contrast"])
        self.assertIn("pearson contrast", contrast["assignment"]["origin"])
        self.assertNotEqual(plain["matrix"], contrast["matrix"])

    def test_one_layer_has_no_other_layers_to_compare(self):
        rows = {row["changed"] for row in self.found("--layer", "conv2_1")["stability"]}
        self.assertIn("bootstrap", rows)
        self.assertNotIn("layer", rows)

    def test_tiles_and_levels(self):
        few = self.found("--tiles", "divisors", "--levels", "1", "--no-stability")
        self.assertFalse([parameter for parameter in few["parameters"] if parameter["name"].endswith("@1")])
        many = self.found("--levels", "1-3", "--no-stability")
        self.assertIn("levels", [parameter["name"] for parameter in many["parameters"]])


class Repeated(AgentsTest):
    def test_same_seed_same_bytes_for_any_number_of_threads(self):
        outputs = []
        for threads in (1, 2, 3):
            directory = self.folder / str(threads)
            self.done(*SMALL, "--threads", threads, "-o", directory)
            names = ("assignment.yaml", "correlation.csv", "stability.csv")
            outputs.append([(directory / name).read_bytes() for name in names])
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])

    def test_another_seed_gives_other_numbers(self):
        self.assertNotEqual(self.found("--no-stability")["matrix"], self.found("--seed", "4", "--no-stability")["matrix"])


class Directory(AgentsTest):
    def test_has_all_files_and_they_agree(self):
        directory = self.folder / "new" / "agents"
        text = self.done(*SMALL, "-o", directory)
        self.assertEqual({path.name for path in directory.iterdir()},
                         {"assignment.yaml", "correlation.csv", "stability.csv", "agents.json", "report.html", "run.json"})
        self.assertIn("assignment.yaml", text.splitlines()[-1])
        found = json.loads((directory / "agents.json").read_text())
        with open(directory / "correlation.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([[float(row[other["parameter"]]) for other in rows] for row in rows], found["matrix"])
        agents = {}
        for row in rows:
            agents.setdefault(row["agent"], set()).add(row["parameter"])
        self.assertEqual({frozenset(agent) for agent in agents.values()}, partition(found))
        yaml = (directory / "assignment.yaml").read_text()
        self.assertTrue(yaml.startswith("format: tilewright-assignment-1\n"))
        lists = re.findall(r"(?m)^  - \[(.*)\]$", yaml)
        self.assertEqual({frozenset(names.split(", ")) for names in lists}, partition(found))
        with open(directory / "stability.csv", newline="") as file:
            self.assertEqual([float(row["mean"]) for row in csv.DictReader(file)], [row["mean"] for row in found["stability"]])

    def test_the_report_stands_alone(self):
        self.done(*SMALL, "-o", self.folder)
        text = (self.folder / "report.html").read_text()
        html.parser.HTMLParser().feed(text)
        self.assertIn("<svg", text)
        self.assertIn("Agents for resnet18 on gamma-edge, edp", text)
        self.assertFalse(re.findall(r"(?:src|href)=\"(?:https?:)?//", text))


class Stopped(AgentsTest):
    def test_ctrl_c_leaves_nothing_half_done(self):
        place = self.folder / "run"
        process = subprocess.Popen([PROGRAM, "agents", "zoo:resnet50", "--hardware", "zoo:eyeriss", "--samples", "2000000", "-o", str(place)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not place.exists():
            time.sleep(0.01)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        self.assertEqual((process.returncode, said), (130, "stopped before there was anything to keep\n"))
        self.assertFalse(place.exists())


class Refused(AgentsTest):
    def test_wrong_words_name_the_nearest(self):
        self.refused(*SMALL, "--correlation", "peerson", saying="did you mean 'pearson'?")
        self.refused(*SMALL, "--linkage", "wards", saying="did you mean 'ward'?")
        self.refused(*SMALL, "--explore", "sobel", saying="did you mean 'sobol'?")
        self.refused(*SMALL, "--objective", "latancy", saying="latency")
        self.refused(*SMALL, "--layer", "conv2_7", saying="did you mean")

    def test_wrong_numbers_say_what_is_expected(self):
        self.refused(*SMALL, "--quantile", "0", saying="expected more than 0 and at most 1")
        self.refused(*SMALL, "--agents", "0", saying="expected 1 to")
        self.refused(*SMALL, "--agents", "1000", saying="the number of parameters")
        self.refused(*SMALL, "--levels", "4", saying="--levels is '4'")
        self.refused(*SMALL, "--agents", "3", "--threshold", "0.5", saying="expected one of them")
        self.refused("zoo:resnet18", "--hardware", "zoo:gamma-edge", "--samples", "5", saying="--samples is 5")

    def test_a_file_in_the_way(self):
        (self.folder / "file").write_text("")
        self.refused(*SMALL, "-o", self.folder / "file" / "agents", saying="could not be made")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
