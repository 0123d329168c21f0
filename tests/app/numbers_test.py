"""Numbers out of range, wherever a user can write one: one sentence, exit code 2, and nothing that is not finite in any answer.

numbers_test.py PROGRAM
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
VERBS = ("evaluate", "explain", "train", "map", "agents", "compare", "codesign", "compile", "simulate", "resume", "zoo")
WHOLE = ("99999999999999999999", "-99999999999999999999", "1e3", "0x10", "12abc", "nan", " ")
REAL = ("nan", "inf", "-inf", "1e999", "12abc", "0x1p3", " ")
LAYER = "layers: [{name: a, op: conv, in: [8, 12, 12], out: 16, kernel: 3}]\n"
NOT_FINITE = re.compile(r"(?<![a-z])-?(nan|inf)(?![a-z])", re.IGNORECASE)


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def numeric_options(verb):
    """(--name, WHOLE or REAL) of every option whose help says that it takes a number."""
    for line in run(verb, "--help").stdout.splitlines():
        option = re.match(r"\s+(?:-\w,)?(--[\w-]+) (INT|UINT|FLOAT)\b", line)
        if option:
            yield option[1], REAL if option[2] == "FLOAT" else WHOLE + (("-1",) if option[2] == "UINT" else ())


class Numbers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def machine(self, text):
        return self.file("machine.yaml", "format: tilewright-accelerator-1\npes: 16\n" + text)

    def network(self, text=LAYER):
        return self.file("network.yaml", "format: tilewright-network-1\nname: n\n" + text)

    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, (arguments, result.stdout, result.stderr))
        self.assertEqual(result.stdout, "", arguments)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)
        self.assertIn("expected", result.stderr)

    def test_every_numeric_option_of_every_verb(self):
        seen = 0
        for verb in VERBS:
            for option, values in numeric_options(verb):
                for value in values:
                    with self.subTest(verb=verb, option=option, value=value):
                        self.refused(verb, f"{option}={value}", saying=f"{option} is '{value}', expected a")
                        seen += 1
        self.assertGreater(seen, 300)

    def test_a_leading_zero_is_decimal(self):
        result = json.loads(run("map", self.network(), "--hardware", "zoo:eyeriss", "--samples", "010", "--search", "random", "--json").stdout)
        self.assertEqual(result["samples"], 10)

    def test_numbers_that_fit_but_mean_nothing(self):
        network, machine = self.network(), "zoo:eyeriss"
        most = "9223372036854775807"
        for arguments, saying in (
                (["map", network, "--hardware", machine, "--samples", most], f"--samples is {most}, expected 1 to"),
                (["agents", network, "--hardware", machine, "--samples", most], f"--samples is {most}, expected at most"),
                (["compare", "--network", network, "--hardware", machine, "--samples", most], f"--samples is {most}, expected 1 to"),
                (["compare", "--network", network, "--hardware", machine, "--budgets", f"5,{most}"], f"--budgets has '{most}', expected"),
                (["compare", "--network", network, "--hardware", machine, "--targets", f"random:{most}"], f"--targets is 'random:{most}', expected"),
                (["codesign", network, "--measurements", most], f"--measurements is {most}, expected at most"),
                (["map", network, "--hardware", machine, "--set", "genetic.mutation=nan", "--search", "genetic"], "expected"),
                (["map", network, "--hardware", machine, "--objective", "weighted:edp=1e300"], "expected at most 10"),
                (["map", network, "--hardware", machine, "--max-energy", "-1"], "--max-energy is -1, expected more than 0"),
                (["zoo", "resnet18", "--batch", "99999999999999999999"], "--batch is '99999999999999999999', expected a whole number"),
                (["train", "simple_spread", "--agents", "0"], "--agents is 0, expected at least 1"),
                (["train", "simple_tag", "--prey-count", "0"], "--prey-count is 0, expected at least 1"),
                (["train", "simple_tag", "--obstacles", "0"], "--obstacles is 0, expected at least 1"),
                (["train", "simple_spread", "--episodes", most], f"--episodes is {most}, expected at most"),
                (["train", "simple_spread", "--eval", most], f"--eval is {most}, expected at most"),
                (["train", "simple_spread", "--seed", "-1"], "--seed is -1, expected at least 0"),
                (["train", "simple_spread", "--learning-rate", "1e300"], "expected at most 1000000")):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, saying=saying)

    def test_machines_that_nobody_can_build(self):
        network = self.network()
        for line in ("energy_pj: {mac: 1e300}", "energy_pj: {l2_access: -1}", "energy_pj: {mac: 0, l1_access: 0, l2_access: 0}",
                     "clock_ghz: 1e-300", "leakage_mw: 1e300", "area: {pe_um2: 1e300, buffer_byte_um2: 1}",
                     "area: {pe_um2: 0, buffer_byte_um2: 0}", "noc: {bandwidth: 99999999999999999999}", "simd_lanes: 1e5",
                     "l1_bytes: -1", "offchip_bandwidth: .inf"):
            for verb, *words in (("map",), ("evaluate", "--dataflow", "nvdla", "--network")):
                with self.subTest(line=line, verb=verb):
                    machine = self.machine(line + "\n")
                    self.refused(verb, *words, network, "--hardware", machine, saying="machine.yaml:3: ")

    def test_networks_that_nobody_can_count(self):
        for text in ("layers: [{name: a, op: fc, in: 2147483647, out: 2147483647}, {name: b, op: fc, in: 2147483647, out: 2147483647}]\n",
                     "layers: [{name: a, op: fc, in: 2147483647, out: 2147483647, count: 4000000000}]\n",
                     "layers: [{name: a, op: conv, in: [2147483647, 2147483647, 2147483647], out: 2147483647, kernel: 3}]\n",
                     "layers: [{name: a, op: fc, in: 99999999999999999999, out: 1}]\n"):
            for arguments in (["zoo", self.network(text)], ["evaluate", "--network", self.network(text), "--hardware", "zoo:eyeriss", "--dataflow",
                                                           "nvdla"]):
                with self.subTest(text=text, verb=arguments[0]):
                    result = run(*arguments)
                    self.assertIn(result.returncode, (0, 2, 3), result.stderr)
                    self.assertIsNone(NOT_FINITE.search(result.stdout), result.stdout)
                    self.assertNotRegex(result.stdout, r"(?<![\w.e])-\d", "a count that wrapped")

    def test_a_network_without_work(self):
        result = run("zoo", self.network("layers: []\nothers: [{name: Relu, count: 1, operations: 0}]\n"))
        self.assertIsNone(NOT_FINITE.search(result.stdout), result.stdout)

    def test_the_widest_machine_gives_finite_numbers(self):
        machine = self.machine("energy_pj: {mac: 1e9, l1_access: 1e9, l2_access: 1e9}\nclock_ghz: 1000\nleakage_mw: 1e9\n"
                               "area: {pe_um2: 1e12, buffer_byte_um2: 1e12}\n")
        for arguments in (["evaluate", "--dataflow", "nvdla", "--network"], ["map", "--search", "random", "--samples", "20"]):
            for form in ([], ["--json"]):
                result = run(*arguments, self.network(), "--hardware", machine, *form)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIsNone(NOT_FINITE.search(result.stdout), result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
