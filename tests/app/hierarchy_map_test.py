"""`tilewright map` on machines with memory levels: answers, files, and what is refused.

hierarchy_map_test.py PROGRAM DATA
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TIMELOOP = pathlib.Path(sys.argv[2]).resolve() / "timeloop"
KNOWN = {(e["arch"], e["layer"]): e for e in json.loads((TIMELOOP / "best_known_edp.json").read_text())}
NETWORK = """format: tilewright-network-1
name: tiny
layers:
  - {name: conv1, op: conv, in: [8, 12, 12], out: 16, kernel: 3, stride: 2, pad: 1}
  - {name: fc, op: fc, in: 64, out: 40, from: []}
"""


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Base(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.network = self.folder / "tiny.yaml"
        self.network.write_text(NETWORK)

    def done(self, *arguments, code=0):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stdout[-2000:] + result.stderr)
        return result.stdout

    def refused(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout[-500:] + result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        return result.stderr


ENERGIES = """ERT:
  version: '0.4'
  tables:
  - name: system.chip.dram[1..1]
    actions: [{name: read, energy: 1000}, {name: write, energy: 1000}]
"""


class Energies(Base):
    def test_tables_of_accelergy_price_the_machine(self):
        table = self.folder / "ert.yaml"
        table.write_text(ENERGIES)
        arguments = ["map", self.network, "--hardware", "zoo:eyeriss-dram", "--layer", "fc", "--samples", 20, "--json"]
        plain = json.loads(self.done(*arguments))["layers"][0]
        priced = json.loads(self.done(*arguments, "--energies", table))
        self.assertIn("ert.yaml of Accelergy for dram", priced["machine"])
        dram = priced["layers"][0]["levels"][-1]
        words = sum(t["reads"] + t["updates"] for t in dram["tensors"].values())
        self.assertGreaterEqual(dram["energy_pj"], words * 1000 / 64)  # 64 words an access at most
        self.assertNotEqual(dram["energy_pj"], plain["levels"][-1]["energy_pj"])

    def test_tables_of_another_machine_are_refused(self):
        table = self.folder / "ert.yaml"
        table.write_text(ENERGIES.replace("dram", "hbm"))
        said = self.refused("map", self.network, "--hardware", "zoo:eyeriss-dram", "--energies", table)
        self.assertIn("ert.yaml: has no component of the machine eyeriss-dram, expected some of mac, ", said)
        said = self.refused("map", self.network, "--hardware", "zoo:eyeriss", "--energies", table)
        self.assertIn("zoo:eyeriss gives its own, expected a machine with memory levels", said)


class TimeloopFiles(Base):
    def best(self, arch, layer, *arguments):
        """The EDP found, by the best that is known."""
        known = KNOWN[arch, layer]
        numbers = {**known["dims"], **known["coefficients"]}
        problem = self.folder / f"{layer}.yaml"
        problem.write_text("problem:\n  shape: cnn_layer\n  instance: "
                           + "{" + ", ".join(f"{name}: {value}" for name, value in numbers.items()) + "}\n")
        result = json.loads(self.done("map", problem, "--hardware", TIMELOOP / f"{arch}.yaml", "--restrict",
                                      TIMELOOP / f"{arch}.constraints.yaml", "--model", "timeloop", "--objective", "edp",
                                      "--json", *arguments))
        found = result["layers"][0]
        self.assertEqual(found["edp"], found["energy_pj"] * found["cycles"] * 1e-12)
        self.assertAlmostEqual(found["metrics"]["latency"], found["cycles"])
        split = sum(level["energy_pj"] + level["network_energy_pj"] for level in found["levels"]) + found["mac_energy_pj"]
        self.assertAlmostEqual(split / found["energy_pj"], 1, places=12)
        return found["edp"] / known["edp_J_cycles"]

    def test_answers_come_near_the_proven_optimum_and_never_below(self):
        for arch, layer in [("eyeriss_like", "rn18_l1"), ("eyeriss_like", "alexnet_c3"), ("simple3", "rn50_4b"),
                            ("simple3", "rn50_2c_1x1")]:
            blind, found = [], []
            for seed in (1, 2, 3):
                budget = ("--samples", 10000, "--seed", seed, "--no-classics", "--search")
                blind.append(self.best(arch, layer, *budget, "random"))
                found.append(self.best(arch, layer, *budget, "annealing"))
            self.assertGreater(min(blind + found), 1 - 1e-9, "below the proven optimum")
            self.assertLess(sorted(found)[1], 1.03, (layer, found))
            if arch == "simple3":  # the other spaces are small enough for random search
                self.assertGreater(sorted(blind)[1], 1.02 * sorted(found)[1], "random search does as well")

    def test_agents_know_these_spaces(self):
        self.assertLess(self.best("eyeriss_like", "rn18_l1", "--samples", 1500), 1.2)


class Runs(Base):
    def test_a_run_is_whole_repeatable_and_checked(self):
        for name, threads in (("a", 1), ("b", 2)):
            self.done("map", self.network, "--hardware", "zoo:eyeriss-dram", "--samples", 60, "--threads", threads, "-o",
                      self.folder / name)
        results = [(self.folder / name / "result.json").read_text() for name in "ab"]
        self.assertEqual(results[0], results[1])
        self.assertIn("every number equal", self.done("verify", self.folder / "a"))
        for line in ("conv1", "fc"):
            self.assertIn(line, (self.folder / "a" / "layers.csv").read_text())
        page = (self.folder / "a" / "report.html").read_text()
        for section in ("Where the energy goes", "Convergence", "Where the samples went", "Who decides what"):
            self.assertIn(section, page)
        rows = self.done("points", self.folder / "a", "--layer", "fc").splitlines()
        self.assertIn("place.", rows[0])
        self.assertGreater(len(rows), 50)
        self.done("resume", self.folder / "a")
        self.assertEqual((self.folder / "a" / "result.json").read_text(), results[0])

    def test_verify_notices_every_changed_number(self):
        text = self.done("map", self.network, "--hardware", "zoo:simba-like", "--samples", 40, "--json")
        path = self.folder / "result.json"
        whole = json.loads(text)
        whole.pop("digest")  # so that the numbers have to tell
        path.write_text(json.dumps(whole))
        self.assertIn("1 differences", self.done("verify", path, code=3))  # the digest

        def leaves(node, trail=()):
            for key, value in node.items() if isinstance(node, dict) else enumerate(node):
                if isinstance(value, (dict, list)):
                    yield from leaves(value, (*trail, key))
                elif isinstance(value, (int, float)) and not isinstance(value, bool):
                    yield (*trail, key)

        # What the search met cannot be computed again: seed, budgets and counts of samples.
        met = {"seed", "samples", "valid", "repeated", "explored", "revisions", "count", "macs", "share", "operations"}
        checked = 0
        for trail in leaves({"totals": whole["totals"], "layers": whole["layers"]}):
            if trail[-1] in met or "rejected" in trail or "problem" in trail:
                continue
            changed = json.loads(json.dumps(whole))
            node = changed
            for key in trail[:-1]:
                node = node[key]
            node[trail[-1]] = node[trail[-1]] * 2 + 1
            path.write_text(json.dumps(changed))
            self.assertNotIn(": 1 differences", self.done("verify", path, code=3), trail)
            checked += 1
        self.assertGreater(checked, 80)

    def test_any_machine_can_be_read_with_memory_levels(self):
        result = json.loads(self.done("map", self.network, "--hardware", "zoo:eyeriss", "--model", "hierarchy", "--samples",
                                      40, "--json"))
        self.assertEqual(result["format"], "tilewright-map-2")
        self.assertGreater(result["totals"]["level_energy_pj"]["DRAM"], 0)

    def test_a_classic_that_is_better_is_said(self):
        blind = ("map", self.network, "--layer", "conv1", "--hardware", "zoo:eyeriss-dram", "--search", "random", "--samples", 1)
        text = self.done(*blind, "--no-classics")
        self.assertIn("  LOSS", text)
        self.assertIn("A classic dataflow is better than what was found: conv1 (", text)
        self.assertNotIn("LOSS", self.done(*blind))

    def test_narrow_weights_cost_less(self):
        def energy(*arguments):
            text = self.done("map", self.network, "--hardware", "zoo:eyeriss-dram", "--samples", 60, "--json", *arguments)
            return json.loads(text)["totals"]["energy_pj"]
        self.assertLess(energy("--bits", "weights=4,inputs=4,outputs=4,partial_sums=16"), energy())


class Refusals(Base):
    def test_what_does_not_go_together_is_said(self):
        leveled = ("map", self.network, "--hardware", "zoo:eyeriss-dram")
        for model in "exact", "sound":  # the model of arrays that is the default is one too, when it is spelt out
            self.assertIn(f"--model {model}", self.refused(*leveled, "--model", model))
            for verb in ("compare", "--network"), ("agents",), ("explain", "--network"), ("evaluate", "--dataflow", "os", "--network"):
                self.assertIn(f"--model {model}", self.refused(*verb, *leveled[1:], "--model", model))
        self.assertIn("did you mean 'timeloop'", self.refused(*leveled, "--model", "timelop"))
        # Machines of both kinds are offered.
        for misspelt, near in (("zoo:eyeriss-dramm", "eyeriss-dram"), ("zoo:eyeris", "eyeriss")):
            self.assertIn(f"did you mean '{near}'", self.refused("map", self.network, "--hardware", misspelt))
        self.assertIn("--bits", self.refused(*leveled, "--model", "timeloop", "--bits", "weights=4"))
        self.assertIn("--bits has 'wights=4'", self.refused(*leveled, "--bits", "wights=4"))
        self.assertIn("weights is '0'", self.refused(*leveled, "--bits", "weights=0"))
        self.assertIn("--tiles", self.refused(*leveled, "--tiles", "any"))
        self.assertIn("nothing.yaml", self.refused(*leveled, "--restrict", self.folder / "nothing.yaml"))

    def test_impossible_constraints_are_said(self):
        constraints = self.folder / "constraints.yaml"
        constraints.write_text("mapspace_constraints:\n  targets:\n  - {target: weights, type: temporal, factors: K=7}\n")
        self.assertIn("into 7", self.refused("map", self.network, "--layer", "conv1", "--hardware", "zoo:eyeriss-dram", "--restrict", constraints))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
