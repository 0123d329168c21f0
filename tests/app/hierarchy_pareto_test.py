"""`tilewright map --objective pareto:…` on machines with memory levels: the front of an exhausted space is the true one, and verify
checks it.

hierarchy_pareto_test.py PROGRAM
"""

import csv
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SMALL = """format: tilewright-network-1
name: small
layers:
  - {name: point, op: conv, in: [3, 1, 1], out: 4, kernel: 1, count: 2}
  - {name: fc, op: fc, in: 6, out: 2, from: []}
"""
MACHINE = """format: tilewright-accelerator-2
name: few
mac: {instances: 4, mesh_x: 4, area_um2: 300}
levels:
- {name: registers, technology: registers, instances: 4, mesh_x: 4, capacity: 4, area_um2: 20}
- {name: dram, technology: dram, bandwidth: {shared: 2}, network: {hop_pj: 200}}
"""


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def front_of(points):
    """Those that no other is as good as in everything and better in something, each once."""
    points = set(points)
    return {one for one in points
            if not any(other != one and all(a <= b for a, b in zip(other, one)) for other in points)}


class Pareto(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "small.yaml").write_text(SMALL)
        (self.folder / "few.yaml").write_text(MACHINE)
        self.job = [self.folder / "small.yaml", "--hardware", self.folder / "few.yaml"]

    def done(self, *arguments, code=0):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def searched(self, *arguments):
        runs = self.folder / "_".join(map(str, arguments)).replace(":", "-")
        self.done("map", *self.job, *arguments, "-o", runs)
        return runs, json.loads((runs / "result.json").read_text())

    def test_an_exhausted_space_gives_the_true_front(self):
        columns = {"latency": "latency_cycles", "energy": "energy_nj", "power": "power_mw"}
        for terms in (("latency", "energy"), ("latency", "energy", "power")):
            runs, result = self.searched("--objective", "pareto:" + ",".join(terms), "--search", "exhaustive", "--samples", 100000)
            fronts = []
            for layer in result["layers"]:
                self.assertLess(layer["samples"], 100000, "all of it was walked")
                rows = csv.DictReader(self.done("points", runs, "--layer", layer["name"]).splitlines())
                true = front_of(tuple(float(row[columns[term]]) for term in terms) for row in rows if row["status"] == "ok")
                found = [tuple(member["metrics"][term] for term in terms) for member in layer["pareto"]]
                self.assertEqual(sorted(true), found)
                fronts.append([(layer["count"], member) for member in found])
            if "power" in terms:
                continue
            sums = {tuple(sum(count * member[i] for count, member in choice) for i in range(2))
                    for choice in itertools.product(*fronts)}
            network = [tuple(member["metrics"][term] for term in terms) for member in result["pareto"]["network"]]
            self.assertGreater(len(network), 1)
            self.assertEqual(result["pareto"]["bound"], 1)
            for member, expected in zip(network, sorted(front_of(sums)), strict=True):
                for a, b in zip(member, expected):
                    self.assertAlmostEqual(a, b, delta=1e-9 * b)

    def test_every_searcher_finds_a_front_that_repeats(self):
        for search in ("agents", "random", "genetic", "annealing"):
            with self.subTest(search):
                arguments = ["--objective", "pareto:latency,energy", "--search", search, "--samples", 60, "--json"]
                quick = ["--set", "agents.hidden=16"]
                one = self.done("map", *self.job, *arguments, *quick, "--threads", 1)
                self.assertEqual(one, self.done("map", *self.job, *arguments, *quick, "--threads", 3))
                for layer in json.loads(one)["layers"]:
                    points = [tuple(member["metrics"][term] for term in ("latency", "energy")) for member in layer["pareto"]]
                    self.assertEqual(sorted(front_of(points)), points)

    def test_it_is_written_and_checked(self):
        runs, result = self.searched("--objective", "pareto:latency,energy", "--search", "random", "--samples", 200)
        rows = list(csv.DictReader((runs / "pareto.csv").read_text().splitlines()))
        self.assertEqual(len(rows), len(result["pareto"]["network"]) + sum(len(layer["pareto"]) for layer in result["layers"]))
        self.assertEqual(rows[0]["layer"], "(network)")
        self.assertIn("dram [Weights Inputs Outputs]", next(row["mapping"] for row in rows if row["layer"] == "point"))
        self.assertIn("What there is to choose from", (runs / "report.html").read_text())
        self.assertIn("Front of the network:", self.done("map", *self.job, "--objective", "pareto:latency,energy", "--search",
                                                         "random", "--samples", 100))
        self.assertIn("every number equal", self.done("verify", runs))
        # A member costs what evaluate says of its mapping.
        member = result["layers"][0]["pareto"][0]
        mapping = self.folder / "member.yaml"
        mapping.write_text(member["mapping"])
        [layer] = json.loads(self.done("evaluate", "--network", self.job[0], "--layer", "point", *self.job[1:], "--mapping", mapping,
                                       "--json"))["layers"]
        self.assertEqual(layer["cost"]["cycles"], member["metrics"]["latency"])

        def spoilt(change):
            changed = json.loads(json.dumps(result))
            changed.pop("digest")
            change(changed)
            path = self.folder / "changed.json"
            path.write_text(json.dumps(changed))
            return self.done("verify", path, code=3)

        def set_energy(changed):
            changed["layers"][0]["pareto"][0]["metrics"]["energy"] *= 2
        self.assertIn("/layers/0/pareto/0/metrics/energy", spoilt(set_energy))
        self.assertIn("/pareto/network", spoilt(lambda changed: changed["pareto"]["network"].pop()))
        self.assertIn("no better than another", spoilt(lambda changed: changed["layers"][0]["pareto"].append(member)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
