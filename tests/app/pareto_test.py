"""`tilewright map --objective pareto:…`: the front of an exhausted space is the true one, every searcher finds one, and it is written
where it is said to be.

pareto_test.py PROGRAM
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
  - {name: wide, op: fc, in: 4, out: 4, from: []}
"""
MACHINE = "format: tilewright-accelerator-1\nname: few\npes: 4\nnoc: {bandwidth: 4}\narea: {pe_um2: 300, buffer_byte_um2: 5}\n"


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

    def done(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def searched(self, *arguments):
        runs = self.folder / "_".join(map(str, arguments)).replace(":", "-")
        self.done("map", *self.job, *arguments, "-o", runs)
        return runs, json.loads((runs / "result.json").read_text())

    def test_an_exhausted_space_gives_the_true_front(self):
        for terms in (("latency", "energy"), ("latency", "area"), ("latency", "energy", "area")):
            runs, result = self.searched("--objective", "pareto:" + ",".join(terms), "--search", "exhaustive", "--samples", 100000)
            columns = {"latency": "latency_cycles", "energy": "energy_nj", "area": "area_um2"}
            fronts = []
            for layer in result["layers"]:
                self.assertLess(layer["samples"], 100000, "all of it was walked")
                rows = csv.DictReader(self.done("points", runs, "--layer", layer["name"]).splitlines())
                true = front_of(tuple(float(row[columns[term]]) for term in terms) for row in rows if row["status"] == "ok")
                found = [tuple(member["metrics"][term] for term in terms) for member in layer["pareto"]]
                self.assertEqual(sorted(true), found)
                fronts.append([(layer["count"], member) for member in found])
            sums = set()
            for choice in itertools.product(*fronts):
                total = [sum(count * member[i] for count, member in choice) for i in range(len(terms))]
                if "area" in terms:
                    total[terms.index("area")] = max(member[terms.index("area")] for _, member in choice)
                sums.add(tuple(total))
            network = [tuple(member["metrics"][term] for term in terms) for member in result["pareto"]["network"]]
            self.assertEqual(result["pareto"]["bound"], 1)
            for member, expected in zip(network, sorted(front_of(sums)), strict=True):
                for a, b in zip(member, expected):
                    self.assertAlmostEqual(a, b, delta=1e-9 * b)

    def test_a_weighted_sum_would_miss_some(self):
        _, result = self.searched("--objective", "pareto:latency,energy", "--search", "exhaustive", "--samples", 100000)
        hollow = 0
        for front in [layer["pareto"] for layer in result["layers"]] + [result["pareto"]["network"]]:
            points = [(member["metrics"]["latency"], member["metrics"]["energy"]) for member in front]
            for a, b, c in itertools.combinations(points, 3):  # b above the line from a to c is the least of no weighted sum
                hollow += b[1] > a[1] + (c[1] - a[1]) * (b[0] - a[0]) / (c[0] - a[0]) + 1e-9
        self.assertGreater(hollow, 0)

    def test_every_searcher_finds_a_front_that_repeats(self):
        for search in ("agents", "rl", "random", "genetic", "gamma", "ant-colony", "bayesian", "annealing"):
            with self.subTest(search):
                arguments = ["--objective", "pareto:latency,energy,power", "--search", search, "--samples", 60, "--json"]
                quick = ["--set", "agents.hidden=16", "--set", "rl.hidden=16"]
                one = self.done("map", *self.job, *arguments, *quick, "--threads", 1)
                self.assertEqual(one, self.done("map", *self.job, *arguments, *quick, "--threads", 3))
                result = json.loads(one)
                for layer in result["layers"]:
                    self.assertLessEqual(layer["samples"], 60)
                    points = [tuple(member["metrics"][term] for term in ("latency", "energy", "power")) for member in layer["pareto"]]
                    self.assertEqual(sorted(front_of(points)), points)
                    best = min(a * b * c for a, b, c in points)
                    self.assertGreaterEqual(layer["score"][0], best * (1 - 1e-9))

    def test_where_it_is_written(self):
        runs, result = self.searched("--objective", "pareto:latency,energy", "--samples", 100)
        rows = list(csv.DictReader((runs / "pareto.csv").read_text().splitlines()))
        self.assertEqual(len(rows), len(result["pareto"]["network"]) + sum(len(layer["pareto"]) for layer in result["layers"]))
        self.assertEqual(rows[0]["layer"], "(network)")
        self.assertEqual(float(rows[0]["latency_cycles"]), result["pareto"]["network"][0]["metrics"]["latency"])
        report = (runs / "report.html").read_text()
        self.assertIn("What there is to choose from", report)
        self.assertIn("latency, cycles", report)
        self.done("verify", runs)
        self.assertIn("Front of the network:", self.done("map", *self.job, "--objective", "pareto:latency,energy", "--samples", 100))

    def test_wrong_fronts(self):
        for objective, saying in (("pareto:latency", "expected two or three"), ("pareto:latency,latency", "twice"),
                                  ("pareto:latency,enrgy", "did you mean 'energy'?"), ("paretto:latency,energy", "did you mean 'pareto'?")):
            result = run("map", *self.job, "--objective", objective)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(saying, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
