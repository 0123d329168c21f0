"""The program as its user meets it: what it prints, what it refuses, and with which exit code.

cli_test.py PROGRAM DATA
"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
JOB = ["--network", "zoo:resnet18", "--layer", "conv2_1", "--hardware", "zoo:eyeriss", "--dataflow", "eyeriss"]


def run(*arguments, stdin=None):
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, text=True, timeout=120)


def replaced(option, value):
    arguments = list(JOB)
    arguments[arguments.index(option) + 1] = value
    return arguments


class Evaluate(unittest.TestCase):
    def test_prints_a_page_for_a_layer(self):
        result = run("evaluate", *JOB)
        self.assertEqual(result.returncode, 0, result.stderr)
        for word in ("latency", "utilisation", "energy", "MAC", "L1", "L2", "limit", "roofline", "115,605,504", "parallel"):
            self.assertIn(word, result.stdout)

    def test_the_letters_of_loops_are_explained(self):
        self.assertIn("(K output channels, C input channels, Y X input rows and columns", run("evaluate", *JOB).stdout)
        name = json.loads(run("zoo", "bert_base", "--json").stdout)["layers"][0]["name"]
        product = run("evaluate", "--network", "zoo:bert_base", "--layer", name, "--hardware", "zoo:gamma-cloud", "--dataflow", "tpu")
        self.assertRegex(product.stdout, r"\((M rows, N columns|K output channels)")

    def test_prints_a_table_for_a_network(self):
        result = run("evaluate", "--network", "zoo:resnet18", "--hardware", "zoo:eyeriss", "--dataflow", "nvdla")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1.814 G MACs", result.stdout.splitlines()[-2])

    def test_json_holds_every_column_and_the_version(self):
        result = json.loads(run("evaluate", *JOB, "--json").stdout)
        cost = result["layers"][0]["cost"]
        self.assertEqual(cost["num_macs"], 115605504)
        self.assertAlmostEqual(cost["energy_nj"], cost["energy_mac_nj"] + cost["energy_l1_nj"] + cost["energy_l2_nj"], delta=1)
        self.assertRegex(result["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("roofline", cost)

    def test_csv_has_maestros_52_columns(self):
        lines = run("evaluate", *JOB, "--csv").stdout.splitlines()
        self.assertEqual([len(line.split(",")) for line in lines], [52, 52])

    def test_a_maestro_file_brings_its_own_mapping(self):
        with tempfile.TemporaryDirectory() as folder:
            hardware = pathlib.Path(folder) / "hw.m"
            hardware.write_text("num_pes: 16\nnoc_bw_cstr: 8\noffchip_bw_cstr: 16\n")
            source = DATA / "traces" / "t01_gamma2.m"
            result = run("evaluate", "--network", str(source), "--hardware", str(hardware), "--model", "maestro", "--csv")
            self.assertEqual(result.stdout, (DATA / "traces" / "t01_gamma2.csv").read_text())

    def test_infeasible_is_an_answer_with_its_own_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder) / "tiny.yaml"
            machine.write_text("format: tilewright-accelerator-1\nname: tiny\npes: 4\nl1_bytes: 8\nl2_bytes: 16\n")
            result = run("evaluate", *replaced("--hardware", str(machine)))
            self.assertEqual(result.returncode, 3)
            self.assertIn("infeasible", result.stdout)
            explained = run("explain", *replaced("--hardware", str(machine)))
            self.assertEqual(explained.returncode, 3)
            self.assertIn("It fits a machine with", explained.stdout)

    def test_soft_limits_and_reports_go_on(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder) / "tight.yaml"
            machine.write_text("format: tilewright-accelerator-1\nname: tight\npes: 168\nl2_bytes: 16\n")
            for choice in ("soft", "report"):
                result = run("evaluate", *replaced("--hardware", str(machine)), "--constraints", choice)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("does not fit", result.stdout)


class Batch(unittest.TestCase):
    def test_the_same_bytes_for_any_number_of_threads(self):
        with gzip.open(DATA / "maestro_head.jsonl.gz", "rt") as file:
            cases = file.read()
        outputs = [run("evaluate", "--batch", "-", "--model", "maestro", "--threads", n, stdin=cases) for n in ("1", "2", "5")]
        self.assertEqual(len({output.stdout for output in outputs}), 1)
        self.assertEqual(outputs[0].stdout.count("\n"), cases.count("\n"))
        self.assertEqual(outputs[0].returncode, 3 if '"status":"error"' in outputs[0].stdout else 0)

    def test_a_malformed_line_is_an_error_line(self):
        result = run("evaluate", "--batch", "-", stdin="{}\nnonsense\n")
        self.assertEqual([json.loads(line)["status"] for line in result.stdout.splitlines()], ["error", "error"])
        self.assertEqual(result.returncode, 3)
        self.assertIn("2 of 2 cases gave no cost", result.stderr)


class Zoo(unittest.TestCase):
    def test_lists_and_shows(self):
        names = json.loads(run("zoo", "--json").stdout)
        self.assertGreaterEqual(len(names["networks"]), 24)
        self.assertGreaterEqual(len(names["accelerators"]), 8)
        self.assertIn("1.814 G MACs", run("zoo", "resnet18").stdout)
        self.assertIn("pes: 168", run("zoo", "eyeriss").stdout)
        self.assertIn("zoo:vta", run("zoo").stdout)
        self.assertEqual(json.loads(run("zoo", "vta").stdout)["LOG_BLOCK"], 4)


class Explain(unittest.TestCase):
    def test_feasible_shows_the_headroom(self):
        result = run("explain", *JOB)
        self.assertEqual(result.returncode, 0)
        self.assertIn("feasible", result.stdout)


    def test_a_mapping_of_another_layer_is_infeasible_not_fatal(self):
        with tempfile.TemporaryDirectory() as folder:
            mapping = pathlib.Path(folder) / "m.yaml"
            mapping.write_text("format: tilewright-mapping-1\nlevels:\n  - loops:\n      - {spatial: C, size: 1}\n")
            job = ["--network", "zoo:bert_base", "--hardware", "zoo:eyeriss", "--mapping", str(mapping)]
            for verb in ("evaluate", "explain"):
                self.assertEqual(run(verb, *job).returncode, 3)

    def test_raised_limits_are_enough_and_cost_what_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            slow = pathlib.Path(folder) / "slow.yaml"
            text = "format: tilewright-accelerator-1\nname: slow\npes: 168\nnoc: {{bandwidth: {}}}\noffchip_bandwidth: {}\n"
            slow.write_text(text.format(4, 2))
            mapping = pathlib.Path(folder) / "m.m"
            mapping.write_text("Network n { Layer conv2_1 { Type: CONV Dimensions { K: 1, C: 1, Y: 1, X: 1, R: 1, S: 1 } Dataflow { "
                               + json.loads(run("evaluate", *JOB, "--json").stdout)["layers"][0]["mapping"].replace("\n", " ") + " } } }")
            job = ["--network", "zoo:resnet18", "--layer", "conv2_1", "--mapping", str(mapping), "--hardware", str(slow)]
            raised = {e["reason"]: e["need"] for e in json.loads(run("explain", *job, "--json").stdout)["layers"][0]["raised_limits"]}
            slow.write_text(text.format(raised.get("noc-bandwidth", 4), raised.get("offchip-bandwidth", 2)))
            self.assertEqual(run("evaluate", *job).returncode, 0)


class WrongInput(unittest.TestCase):
    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)

    def test_one_sentence_and_the_nearest_choice(self):
        self.refused("evaluate", *replaced("--network", "zoo:resnet81"), saying="did you mean 'resnet18'")
        self.refused("evaluate", *replaced("--layer", "conv2_9"), saying="conv2_")
        self.refused("evaluate", *replaced("--hardware", "zoo:eyris"), saying="did you mean 'eyeriss'")
        self.refused("evaluate", *replaced("--dataflow", "eyerss"), saying="did you mean 'eyeriss'")
        self.refused("evaluate", *JOB, "--model", "maestor", saying="did you mean 'maestro'")
        self.refused("evaluate", *JOB, "--constraints", "hrad", saying="did you mean 'hard'")
        self.refused("evaluate", "--netwrk", "x", saying="did you mean '--network'")
        self.refused("evalute", saying="did you mean 'evaluate'")
        self.refused("evaluate", saying="--network is missing")
        self.refused("evaluate", *JOB[:6], saying="neither --mapping nor --dataflow")
        self.refused("evaluate", "--batch", "no/such/file", saying="no such file")
        self.refused("evaluate", *JOB, "--batch", "0", saying="at least 1")
        self.refused("evaluate", *JOB, "--batch", "8", saying=".onnx")
        self.refused("zoo", "resnet18", "vgg16", saying="vgg16")
        self.refused("evaluate", "--network", "zoo:resnet18", "--hardware", "zoo:eyeriss", "--mapping", "no.yaml", saying="no such file")

    def test_files_that_are_not_what_they_say(self):
        with tempfile.TemporaryDirectory() as folder:
            for ending in (".onnx", ".yaml", ".m", ".csv"):
                path = pathlib.Path(folder) / ("bad" + ending)
                path.write_bytes(b"\x08\xff{]:\n- what\x00")
                self.refused("evaluate", *replaced("--network", str(path)), saying="bad" + ending)
            empty = pathlib.Path(folder) / "empty.onnx"
            empty.write_bytes(b"")
            self.refused("zoo", str(empty), saying="empty.onnx")
            self.refused("zoo", str(pathlib.Path(folder) / "missing.onnx"), saying="no such file")


class Output(unittest.TestCase):
    def test_a_full_disk_is_reported(self):
        if not pathlib.Path("/dev/full").exists():
            return
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "zoo"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("could not be written", result.stderr)

    def test_a_case_is_answered_before_the_next_is_sent(self):
        with subprocess.Popen([PROGRAM, "evaluate", "--batch", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as service:
            for number in range(3):
                service.stdin.write('{"id": %d}\n' % number)
                service.stdin.flush()
                self.assertEqual(json.loads(service.stdout.readline())["id"], number)
            service.stdin.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
