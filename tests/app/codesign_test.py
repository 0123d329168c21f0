"""`tilewright codesign` and its `resume` as their user meets them: what they print and write, that a run repeats itself whatever
happens to it, that limits are kept, what they refuse.

codesign_test.py PROGRAM
"""

import csv
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TINY = """format: tilewright-network-1
name: tiny
layers:
  - {name: conv1, op: conv, in: [8, 12, 12], out: 16, kernel: 3, pad: 1}
  - {name: conv2, op: conv, in: [16, 12, 12], out: 32, kernel: 3, pad: 1, stride: 2}
  - {name: conv3, op: conv, in: [32, 6, 6], out: 32, kernel: 1}
others:
  - {op: Relu, count: 3, operations: 4608}
"""
# Layers that do not follow from each other: no whole network can be made of them.
LOOSE = """format: tilewright-network-1
name: loose
layers:
  - {name: product, op: matmul, batch: 2, rows: 12, inner: 40, columns: 24}
  - {name: up, op: transposed-conv, in: [8, 4, 4], out: 8, kernel: 2, stride: 2, from: []}
  - {name: fc, op: fc, in: 40, out: 24, count: 3, from: []}
"""
QUICK = ["--set", "dcoc.hidden=16", "--set", "dcoc.worlds=8", "--set", "dcoc.steps=8", "--set", "dcoc.batch=16", "--set", "dcoc.trees=20"]
KNOBS = ("tile_b", "tile_h", "tile_w", "tile_ci", "tile_co", "h_threading", "oc_threading")


def run(verb, *arguments):
    return subprocess.run([PROGRAM, verb, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def files_of(directory):
    """Every file of a run that must be the same bytes whatever happened on the way."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.rglob("*"))
            if path.is_file() and not path.name.startswith("store.sqlite") and path.name != "lock"}


class CodesignTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "tiny.yaml").write_text(TINY)
        (self.folder / "loose.yaml").write_text(LOOSE)
        self.tiny = [self.folder / "tiny.yaml", *QUICK]

    def done(self, *arguments, verb="codesign", code=0):
        result = run(verb, *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def found(self, *arguments, code=0):
        return json.loads(self.done(*self.tiny, *arguments, "--json", code=code).stdout)

    def refused(self, *arguments, saying, verb="codesign"):
        result = run(verb, *arguments)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)

    def assertSameFiles(self, one, other, but=()):
        one, other = files_of(one), files_of(other)
        self.assertEqual(sorted(one), sorted(other))
        for name in one:
            if name not in but:
                self.assertTrue(one[name] == other[name], f"{name} differs")


class Answer(CodesignTest):
    def test_a_network_from_end_to_end(self):
        runs = self.folder / "runs"
        text = self.done(*self.tiny, "--measurements", 48, "-o", runs).stdout
        self.assertRegex(text, r"(?m)^verified: [\d,]+ elements of \d+ steps .*all equal")
        self.assertRegex(text, r"(?m)^  conv2 +1 b1 h\d+ w\d+ ci\d+ co\d+ +\dx\d +[\d,]+ +[\d.]+% +[\d.]+% +[\d.]+x$")
        self.assertRegex(text, r"(?m)^surrogate: rank correlation")
        self.assertIn((runs / "machine.json").read_text(), text)
        self.assertEqual([name for name in files_of(runs) if not name.startswith("programs/")],
                         ["calibration.csv", "convergence.csv", "layers.csv", "listing.txt", "machine.json", "report.html",
                          "result.json", "run.json", "schedules.json"])
        programs = sorted(path.name for path in (runs / "programs").iterdir())
        self.assertEqual(programs[-1], "manifest.json")
        for name in ("conv1", "conv2", "conv3"):
            self.assertTrue(any(name in program for program in programs), programs)

        result = json.loads((runs / "result.json").read_text())
        self.assertEqual(result["totals"]["cycles"], sum(layer["count"] * layer["cycles"] for layer in result["layers"]))
        self.assertEqual(result["curve"][-1][1], result["totals"]["cycles"])
        self.assertLessEqual(result["area"], 1)
        for layer in result["layers"]:
            self.assertEqual(layer["measurements"], 48)
            self.assertEqual(layer["valid"] + sum(layer["rejected"].values()), 48)
            self.assertLessEqual(layer["own_best_cycles"], layer["cycles"])
        rows = list(csv.DictReader((runs / "layers.csv").read_text().splitlines()))
        for row, layer in zip(rows, result["layers"], strict=True):
            self.assertEqual((row["layer"], int(row["cycles"])), (layer["name"], layer["cycles"]))
            self.assertEqual({knob: int(row[knob]) for knob in KNOBS}, layer["schedule"])
        report = (runs / "report.html").read_text()
        for word in ("conv2", "GEMM core", "Convergence", "Who worked when", "The surrogate"):
            self.assertIn(word, report)
        self.assertNotIn("http://", report.replace("http://www.w3.org", ""))

        # `compile` with the machine and the schedules makes the same programs.
        again = self.folder / "again"
        self.done(self.folder / "tiny.yaml", "--machine", runs / "machine.json", "--schedules", runs / "schedules.json", "-o", again,
                  verb="compile")
        for program in programs[:-1]:
            self.assertTrue((again / program).read_bytes() == (runs / "programs" / program).read_bytes(), program)

    def test_layers_of_no_whole_network_are_checked_one_by_one(self):
        runs = self.folder / "loose"
        text = self.done(self.folder / "loose.yaml", *QUICK, "--measurements", 32, "-o", runs).stdout
        self.assertRegex(text, r"(?m)^on the host: up: the instruction set has no form")
        self.assertRegex(text, r"(?m)^verified: 600 elements of 2 layers on random data.*: all equal")
        self.assertEqual(sorted(path.name for path in (runs / "programs").iterdir()), ["000_product.vtaprog", "001_fc.vtaprog"])
        for program in (runs / "programs").iterdir():
            self.done(program, "--machine", runs / "machine.json", verb="simulate")

    def test_operators_that_are_not_asked_for_are_left_out(self):
        found = json.loads(self.done(self.folder / "loose.yaml", "--operators", "fc", *QUICK, "--measurements", 8, "--json").stdout)
        self.assertEqual(([layer["name"] for layer in found["layers"]], found["host"], found["left_out"]), (["fc"], [], 2))

    def test_a_search_of_everything_is_never_worse(self):
        layer = ["--layer", "conv3", "--no-verify"]
        every = self.found(*layer, "--search", "exhaustive", "--measurements", 1_000_000)
        points = every["layers"][0]["measurements"]
        self.assertLess(points, 1_000_000)
        self.assertAlmostEqual(points, 10 ** every["layers"][0]["log10_space"], delta=0.5)
        for search in ("dcoc", "autotvm", "chameleon", "random", "genetic", "annealing"):
            found = self.found(*layer, "--search", search, "--measurements", 64)
            self.assertGreaterEqual(found["totals"]["cycles"], every["totals"]["cycles"], search)
            self.assertEqual(found["layers"][0]["measurements"], 64)
        self.assertEqual(self.found(*layer, "--search", "dcoc", "--measurements", 256)["totals"]["cycles"], every["totals"]["cycles"])

    def test_everything_is_measured_unless_less_is_asked_for(self):
        layer = [*self.tiny, "--layer", "conv3", "--no-verify", "--search", "exhaustive", "--machine", "zoo:vta"]
        every = self.done(*layer).stdout
        self.assertIn("(every point of the space, seed 1)", every)
        part = self.done(*layer, "--measurements", 20).stdout
        self.assertIn("(20 measurements per layer, seed 1)", part)
        self.assertIn("more than 20 points per layer: not all of it was measured", part)

    def test_what_was_found_is_verified(self):
        runs = self.folder / "runs"
        self.done(*self.tiny, "--measurements", 16, "-o", runs)
        self.assertIn("3 of 3 layers evaluated again, every number equal", self.done(runs, verb="verify").stdout)
        path = runs / "result.json"
        good = path.read_text()
        for change in (lambda r: r["layers"][1].update(cycles=r["layers"][1]["cycles"] - 1),
                       lambda r: r["layers"][0].update(energy=r["layers"][0]["energy"] * 1.001),
                       lambda r: r["layers"][2]["schedule"].update(h_threading=3 - r["layers"][2]["schedule"]["h_threading"]),
                       lambda r: r["layers"][2]["schedule"].update(tile_co=10_000),
                       lambda r: r["totals"].update(cycles=r["totals"]["cycles"] + 1),
                       lambda r: r["layers"].pop(), lambda r: r["machine"].update(LOG_WGT_BUFF_SIZE=17),
                       lambda r: r["layers"][0].update(name="conv9")):
            result = json.loads(good)
            change(result)
            path.write_text(json.dumps(result))
            self.assertIn("result.json: ", self.done(runs, verb="verify", code=3).stdout)
        path.write_text(good)
        (runs / "run.json").unlink()
        self.refused(runs, verb="verify", saying="run.json: no such file")

    def test_the_machine_is_the_best_one_for_the_sum(self):
        """The whole network, exhausted, agrees with exhausting each machine by itself."""
        joint = self.found("--search", "exhaustive", "--measurements", 1_000_000, "--no-verify", "--fixed-buffers", "--area-budget", 3)
        self.assertGreater(joint["measured"]["complete_machines"], 5)
        (self.folder / "machine.json").write_text(json.dumps(joint["machine"]))
        fixed = self.found("--search", "exhaustive", "--measurements", 1_000_000, "--no-verify", "--machine", self.folder / "machine.json")
        self.assertEqual(fixed["totals"]["cycles"], joint["totals"]["cycles"])
        self.assertEqual(fixed["machine"], joint["machine"])
        default = self.found("--search", "exhaustive", "--measurements", 1_000_000, "--no-verify", "--machine", "zoo:vta")
        self.assertLessEqual(joint["totals"]["cycles"], default["totals"]["cycles"])
        self.assertLessEqual(joint["totals"]["cycles"], self.found("--measurements", 48, "--no-verify", "--fixed-buffers", "--area-budget", 3)["totals"]["cycles"])
        self.assertEqual(default["measured"]["machines"], 1)

    def test_machines_are_searched_unless_buffers_are_fixed(self):
        searched = self.found("--measurements", 48, "--no-verify")["measured"]
        self.assertGreater(searched["machines_within_area"], 100)
        self.assertGreater(searched["machines"], 1)
        fixed = ["--measurements", 48, "--no-verify", "--fixed-buffers"]
        self.assertEqual(self.found(*fixed)["measured"]["machines_within_area"], 1)
        self.assertIn("without --fixed-buffers there are more", self.done(*self.tiny, *fixed).stdout)

    def test_budgets_are_hard(self):
        small = self.found("--measurements", 48, "--area-budget", 0.9, "--no-verify")
        self.assertLessEqual(small["area"], 0.9)
        self.assertGreater(small["measured"]["machines_within_area"], 1)
        cool = self.found("--measurements", 48, "--max-power", 0.5, "--area-budget", 4, "--no-verify")
        for layer in cool["layers"]:
            self.assertLessEqual(layer["power_mw"], 500)
        impossible = self.done(*self.tiny, "--measurements", 16, "--max-temperature", 25.001, code=3).stdout
        self.assertIn("for layer 'conv2': 16 of 16 measurements were over-temperature", impossible)

    def test_settings_are_listed(self):
        self.assertRegex(self.done("--settings", "--set", "dcoc.batch=17").stdout, r"(?m)^dcoc\.batch +17 +\w")


class Repeated(CodesignTest):
    def test_any_number_of_threads_gives_the_same_bytes(self):
        for threads in (1, 2):
            self.done(*self.tiny, "--measurements", 40, "--threads", threads, "-o", self.folder / str(threads))
        self.assertSameFiles(self.folder / "1", self.folder / "2", but=("run.json", "report.html"))  # which have the command

    def test_a_killed_run_goes_on_to_the_same_bytes(self):
        arguments = [*self.tiny, "--measurements", 600]
        whole, killed = self.folder / "whole", self.folder / "killed"
        self.done(*arguments, "-o", whole)
        for stop, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):  # once run.json is there, SIGINT is awaited
            process = subprocess.Popen([PROGRAM, "codesign", *map(str, arguments), "-o", str(killed)], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            while not (killed / "run.json").exists():
                time.sleep(0.01)
            time.sleep(0.2)
            process.send_signal(stop)
            self.assertEqual(process.wait(timeout=60), code)
        self.assertEqual(json.loads((killed / "result.json").read_text())["status"], "interrupted")
        self.done(killed, verb="resume")
        self.assertSameFiles(whole, killed, but=("run.json", "report.html"))  # which have the command
        before = files_of(killed)
        self.assertIn("points known before", self.done(killed, verb="resume").stderr)
        self.assertEqual(before, files_of(killed))
        self.refused(*self.tiny, "--measurements", 601, "-o", killed, saying="measurements of the run there is 600")


class Refused(CodesignTest):
    def test_one_sentence(self):
        tiny = self.folder / "tiny.yaml"
        self.refused(saying="the network is missing")
        self.refused("zoo:resnet8", saying="resnet18")
        self.refused(tiny, "--search", "dcok", saying="did you mean 'dcoc'?")
        self.refused(tiny, "--set", "dcoc.bach=3", saying="batch")
        self.refused(tiny, "--measurements", 0, saying="--measurements is 0, expected at least 1")
        self.refused(tiny, "--max-temperature", 30, "--ambient-celsius", "nan", saying="--ambient-celsius is 'nan', expected a number")
        self.refused(tiny, "--max-temperature", 30, "--kelvin-per-watt", -3, saying="--kelvin-per-watt is -3, expected 0")
        self.refused(tiny, "--operators", "depthwise", saying="none is of --operators depthwise")
        self.refused(tiny, "--area-budget", -1, saying="--area-budget is -1, expected a number above 0")
        self.refused(tiny, "--fixed-buffers", "--area-budget", 0.5, saying="--area-budget is 0.5, but the smallest machine has")
        self.refused(tiny, "--operators", "conv,cf", saying="expected some of conv, depthwise")
        self.refused(tiny, "--core", "fast", saying="expected one of sequential, pipelined")
        self.refused(tiny, "--bus-bytes", 3, saying="expected a power of two")
        self.refused(tiny, "--layer", "conv9", saying="did you mean")
        self.refused(tiny, "--machine", self.folder / "none.json", saying="none.json")
        self.refused(tiny, "--machine", "zoo:vta", "--fixed-buffers", saying="expected one of them")
        self.refused(tiny, "--machine", "zoo:vta", "--area-budget", 0.5, saying="expected at most --area-budget 0.5")
        self.refused(tiny, "--hardware", "zoo:eyeriss", saying="did you mean '--machine'?")
        self.refused(tiny, "--samples=8", saying="did you mean '--measurements'?")
        self.refused(tiny, "--measurement", 5, saying="did you mean '--measurements'?")
        self.refused(self.folder / "loose.yaml", "--layer", "up", saying="has no layer for the machine")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
