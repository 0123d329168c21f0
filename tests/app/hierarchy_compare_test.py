"""`tilewright compare` and `tilewright agents` on machines with memory levels.

hierarchy_compare_test.py PROGRAM DATA
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TIMELOOP = pathlib.Path(sys.argv[2]).resolve() / "timeloop"
CONV3 = ["--network", "zoo:alexnet", "--layer", "conv3", "--hardware", "zoo:eyeriss-dram"]


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Base(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def done(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr)
        return result.stdout

    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout[-500:])
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)


class Compare(Base):
    def test_every_searcher_is_audited_and_measured(self):
        found = json.loads(self.done("compare", *CONV3, "--samples", 40, "--seeds", 1, "--json"))
        self.assertEqual((found["model"], found["space"], found["unit"]), ("hierarchy", "all mappings", "nJ·cycles"))
        labels = [contender["label"] for contender in found["contenders"]]
        self.assertGreater(len(labels), 5)
        self.assertIn("agents", labels)
        self.assertIn("annealing", labels)
        self.assertNotIn("gamma", labels)
        self.assertIn("gamma is left out", " ".join(found["remarks"]))
        self.refused("compare", *CONV3, "--searches", "gamma", saying="has no genome for it")
        best = found["layers"][0]["best"]
        self.assertIn("place.K#0=", best["design"])
        for contender in found["contenders"]:
            self.assertEqual(contender["audit"]["proposals"], 40)
            self.assertGreaterEqual(contender["standings"][0]["factor"]["value"], 1)
        self.assertIn(1, [contender["standings"][0]["factor"]["value"] for contender in found["contenders"]])

    def test_a_comparison_is_kept_checked_and_repeatable(self):
        asked = ("compare", *CONV3, "--searches", "annealing,random", "--samples", 60, "--seeds", 3)
        for name, threads in (("a", 1), ("b", 2)):
            self.done(*asked, "--threads", threads, "-o", self.folder / name)
        self.assertIn("files are as the run left them", self.done("verify", self.folder / "a"))
        for file in ("compare.csv", "layers.csv", "curves.csv", "best.csv"):
            self.assertEqual((self.folder / "a" / file).read_text(), (self.folder / "b" / file).read_text(), file)
        with open(self.folder / "a" / "compare.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 6)

    def test_classics_are_told_only_where_it_is_asked(self):
        def best(*arguments):
            found = json.loads(self.done("compare", *CONV3, "--searches", "random", "--samples", 1, "--seeds", 1, "--json", *arguments))
            return found["layers"][0]["best"]
        self.assertLess(best("--classics")["value"], best()["value"])
        self.assertEqual(best("--classics")["sample"], 0)

    def test_constraints_models_and_objectives_go_along(self):
        problem = self.folder / "gemm.yaml"
        problem.write_text("problem:\n  shape: cnn_layer\n  instance: {R: 3, S: 3, P: 13, Q: 13, C: 16, K: 32, N: 1}\n")
        asked = ("--hardware", TIMELOOP / "eyeriss_like.yaml", "--restrict", TIMELOOP / "eyeriss_like.constraints.yaml",
                 "--model", "timeloop", "--objective", "energy")
        found = json.loads(self.done("compare", "--network", problem, *asked, "--searches", "annealing,random", "--samples", 50,
                                     "--seeds", 2, "--json"))
        self.assertEqual((found["model"], found["space"], found["unit"]), ("timeloop", "restricted mappings", "nJ"))
        # The same samples of the same searcher find the same with map.
        energy = [json.loads(self.done("map", problem, *asked, "--no-classics", "--search", "annealing", "--samples", 50,
                                       "--seed", seed, "--json"))["totals"]["energy"] for seed in (1, 2)]
        self.assertLessEqual(found["layers"][0]["best"]["value"], min(energy))

    def test_agents_are_taken_over_from_another_network(self):
        found = json.loads(self.done("compare", *CONV3, "--ablate", "transfer", "--transfer-from", "zoo:vgg16", "--samples", 64,
                                     "--seeds", 1, "--set", "agents.hidden=8", "--json"))
        self.assertEqual([contender["label"] for contender in found["contenders"]],
                         ["own clusters", "of zoo:vgg16", "random, as many"])

    def test_what_does_not_go_with_memory_levels_is_said(self):
        self.refused("compare", *CONV3, "--searches", "random", "--levels", "3", saying="--levels does not go with")
        self.refused("compare", *CONV3, "--searches", "random", "--tiles", "any", saying="--tiles does not go with")


class Agents(Base):
    def test_every_parameter_has_an_agent_and_map_takes_the_assignment(self):
        text = self.done("agents", *CONV3[1:], "--samples", 400, "--resamples", 2, "--seeds", 1, "-o", self.folder / "agents")
        self.assertIn("(mappings all), hierarchy model", text)
        self.assertIn("place.K#0 the level and axis", text)
        found = json.loads((self.folder / "agents" / "agents.json").read_text())
        self.assertEqual((found["model"], found["mappings"]), ("hierarchy", "all"))
        self.assertNotIn("tiles", found)
        names = {parameter["name"] for parameter in found["parameters"]}
        agents = [set(agent) for agent in found["assignment"]["agents"]]
        self.assertEqual(set().union(*agents), names)
        self.assertEqual(sum(map(len, agents)), len(names))
        self.assertIn("Agents for alexnet on eyeriss-dram", (self.folder / "agents" / "report.html").read_text())
        mapped = json.loads(self.done("map", *CONV3[1:], "--assign", self.folder / "agents" / "assignment.yaml", "--samples",
                                      60, "--json"))
        self.assertEqual([set(agent) for agent in mapped["agents"]["assignment"]], agents)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
