"""optimum_test.py TILEWRIGHT DATA: what the command line says about optima and bounds."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLES = DATA.parents[1] / "docs" / "examples"


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


class Optimum(unittest.TestCase):
    timeloop = (
        "map", EXAMPLES / "conv_problem.yaml", "--hardware", DATA / "timeloop" / "eyeriss_like.yaml",
        "--restrict", DATA / "timeloop" / "eyeriss_like.constraints.yaml", "--model", "timeloop", "--objective", "edp")

    def test_timeloops_files_are_mapped_optimally(self):
        layer = json.loads(run(*self.timeloop, "--search", "optimal", "--json"))["layers"][0]
        self.assertAlmostEqual(layer["edp"], 504.633579778768, delta=1e-6)  # tests/data/timeloop/best_known_edp.json
        self.assertTrue(layer["proven"])
        self.assertLessEqual(layer["gap"], 1e-6)
        self.assertAlmostEqual(layer["edp"] / layer["lower_bound"] - 1, layer["gap"], delta=1e-12)
        self.assertEqual(layer["certificate"]["closed_by"], "exhausted")
        self.assertEqual((layer["cycles"], round(layer["energy_pj"])), (688128, 733342605))

    def test_a_proof_is_the_same_with_any_number_of_threads(self):
        words = ("map", "zoo:alexnet", "--hardware", "zoo:simple3", "--layer", "fc8", "--search", "optimal", "--samples", 20,
                 "--nodes", 3000, "--json")
        self.assertEqual(run(*words, "--threads", 1), run(*words, "--threads", 2))

    def test_any_search_tells_how_far_it_may_be_and_a_proof_how_far_it_is(self):
        found = {}
        for flags in ((), ("--prove",)):
            study = json.loads(run(*self.timeloop, "--search", "random", "--samples", 300, "--json", *flags))
            found[flags] = study["layers"][0]
            self.assertIn("gap", study["totals"])
            self.assertLessEqual(study["layers"][0]["lower_bound"], study["layers"][0]["edp"])
        plain, proven = found[()], found[("--prove",)]
        self.assertEqual(plain["edp"], proven["edp"])
        self.assertLess(plain["lower_bound"], proven["lower_bound"])
        self.assertLessEqual(proven["lower_bound"], 504.633579778769)
        self.assertNotIn("certificate", plain)

    def test_every_objective_has_an_optimum_that_verify_makes_again(self):
        for objective, key in (("latency", "cycles"), ("energy", "energy_pj")):
            with tempfile.TemporaryDirectory() as folder:
                run("map", "zoo:alexnet", "--layer", "fc8", "--hardware", "zoo:eyeriss-dram", "--objective", objective,
                    "--search", "annealing", "--samples", 200, "--prove", "--nodes", 2000, "-o", folder)
                result = pathlib.Path(folder) / "result.json"
                layer = json.loads(result.read_text())["layers"][0]
                self.assertAlmostEqual(layer[key] / layer["lower_bound"] - 1, layer["gap"], delta=1e-12)
                self.assertRegex((pathlib.Path(folder) / "report.html").read_text(), "<th[^>]*>gap<")
                self.assertIn("lower_bound,gap,proven", (pathlib.Path(folder) / "layers.csv").read_text())
                run("verify", folder)

    def test_a_bound_is_below_every_mapping(self):
        bounds = json.loads(run("bound", "zoo:alexnet", "--hardware", "zoo:nvdla-dram", "--json"))["layers"]
        mapped = json.loads(run("map", "zoo:alexnet", "--hardware", "zoo:nvdla-dram", "--search", "annealing", "--samples", 200,
                                "--json"))["layers"]
        for bound, layer in zip(bounds, mapped):
            self.assertEqual(bound["name"], layer["name"])
            self.assertLessEqual(bound["cycles"], layer["cycles"])
            self.assertLessEqual(bound["energy_pj"], layer["energy_pj"])
            self.assertAlmostEqual(bound["edp"], layer["lower_bound"], delta=1e-9 * bound["edp"])

    def test_what_has_no_proof_is_refused_in_a_sentence(self):
        self.assertIn("memory levels", run("map", "zoo:alexnet", "--hardware", "zoo:eyeriss", "--search", "optimal", code=2))
        self.assertIn("latency, energy or edp", run("map", "zoo:alexnet", "--hardware", "zoo:simple3", "--objective", "power",
                                                    "--search", "optimal", code=2))


unittest.main(argv=sys.argv[:1])
