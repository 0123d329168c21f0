"""`tilewright points`: a row per evaluated point, with the numbers that the result has.

points_test.py PROGRAM
"""

import csv
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
NETWORK = """format: tilewright-network-1
name: tiny
layers:
  - {name: "conv,1", op: conv, in: [8, 12, 12], out: 16, kernel: 3, stride: 2, pad: 1}
  - {name: =fc, op: fc, in: 64, out: 40, from: []}
"""


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Points(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.network = self.folder / "tiny.yaml"
        self.network.write_text(NETWORK)
        self.runs = self.folder / "runs"

    def done(self, *arguments, code=0):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stdout[-2000:] + result.stderr)
        return result.stdout

    def rows(self, *arguments):
        return list(csv.DictReader(self.done("points", self.runs, *arguments).splitlines()))

    def stored(self):
        with sqlite3.connect(self.runs / "store.sqlite") as store:
            return store.execute("SELECT count(*) FROM outcome").fetchone()[0]

    def test_of_a_mapping_run(self):
        for space in ("mapping", "archgym"):
            with self.subTest(space):
                self.runs = self.folder / space
                self.done("map", self.network, "--hardware", "zoo:gamma-edge", "--search", "random", "--samples", 120, "--space", space,
                          "--search-pes", "--no-classics", "--model", "exact", "-o", self.runs)
                result = json.loads((self.runs / "result.json").read_text())
                rows = self.rows()
                self.assertEqual(len(rows), self.stored())
                self.assertEqual({row["layer"] for row in rows}, {"conv,1", "'=fc"})
                self.assertTrue(any(row["status"] not in ("ok", "over-limit") for row in rows) or space == "mapping")
                for layer, name in zip(result["layers"], ("conv,1", "'=fc"), strict=True):
                    mine = [row for row in rows if row["layer"] == name]
                    self.assertEqual([int(row["number"]) for row in mine], list(range(1, len(mine) + 1)))
                    best = min((row for row in mine if row["status"] == "ok"), key=lambda row: float(row["objective"]))
                    for column, metric in (("latency_cycles", "latency"), ("energy_nj", "energy"), ("edp", "edp"), ("area_um2", "area"),
                                           ("power_mw", "power"), ("l1_bytes", "l1"), ("l2_bytes", "l2"), ("pes", "pes")):
                        if layer["metrics"].get(metric) is not None:
                            self.assertEqual(float(best[column]), layer["metrics"][metric], column)
                    self.assertEqual(float(best["objective"]), layer["score"][0])
                    self.assertIn("PEs: ", best["design"])
                    outer = "tile.K@0" if space == "mapping" else "k_l2"
                    self.assertTrue(all(row[outer].isdigit() for row in mine), "every point has its parameters")
                    self.assertEqual(len({row["design"] for row in mine}), len(mine), "points are distinct")

    def test_of_a_codesign_run(self):
        self.done("codesign", self.network, "--measurements", 32, "--set", "dcoc.batch=16", "--no-verify", "-o", self.runs)
        result = json.loads((self.runs / "result.json").read_text())
        rows = self.rows()
        self.assertEqual(len(rows), self.stored())
        for layer, name in zip(result["layers"], ("conv,1", "'=fc"), strict=True):
            mine = [row for row in rows if row["layer"] == name and int(row["block_in"]) == 1 << result["machine"]["LOG_BLOCK_IN"]
                    and all(int(row[knob]) == value for knob, value in layer["schedule"].items())
                    and row["latency_cycles"] and float(row["latency_cycles"]) == layer["cycles"]]
            self.assertTrue(mine, "the answer is among the points")
        self.assertTrue(all(row["inp_buffer"] for row in rows))

    def test_limits_and_lines_and_one_layer(self):
        self.done("map", self.network, "--hardware", "zoo:gamma-edge", "--search", "random", "--samples", 60, "--max-latency", 2000, "-o",
                  self.runs)
        rows = self.rows("--layer", "conv,1")
        self.assertEqual({row["layer"] for row in rows}, {"conv,1"})
        over = [row for row in rows if row["status"] == "over-limit"]
        self.assertTrue(over)
        self.assertTrue(all(float(row["latency_cycles"]) > 2000 and row["objective"] == "" for row in over))
        lines = [json.loads(line) for line in self.done("points", self.runs, "--layer", "conv,1", "--json").splitlines()]
        self.assertEqual(len(lines), len(rows))
        for line, row in zip(lines, rows, strict=True):
            self.assertEqual({name: str(value) if isinstance(value, str) else value for name, value in line.items()},
                             {name: line[name].__class__(value) if not isinstance(line[name], str) else value
                              for name, value in row.items() if value != ""})

    def test_what_has_no_points(self):
        for arguments, saying in (((), "the directory of a run is missing"), ((self.folder,), "run.json: no such file"),
                                  ((self.runs, "--layer", "conv"), "expected one of conv,1, =fc")):
            if arguments and arguments[0] == self.runs:
                self.done("map", self.network, "--hardware", "zoo:gamma-edge", "--search", "random", "--samples", 5, "-o", self.runs)
            result = run("points", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(saying, result.stderr)
        (self.runs / "store.sqlite").unlink()
        self.assertIn("store.sqlite: no such file", run("points", self.runs).stderr)
        self.network.write_text(NETWORK.replace("out: 40", "out: 41"))
        self.assertIn("network of the run there is", run("points", self.runs).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
