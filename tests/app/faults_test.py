"""Calls of the system that fail, one at a time: no verb is ended by a signal, no file is torn, a sentence says what it was,
and the same command again ends with the bytes of a run without bad luck.

faults_test.py PROGRAM SHIM [--every]       (without --every a sample of the calls)
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

from whole_runs import check_whole, results_of, tiny_verbs

PROGRAM, SHIM = sys.argv[1], sys.argv[2]
EVERY = "--every" in sys.argv
SAMPLE = {"write": 6, "fsync": 5, "rename": 5, "open": 6, "thread": 2, "alloc": 8, "clock": 1}
class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.verbs = tiny_verbs(cls.folder)

    def run_verb(self, verb, directory, fault=None, count=None, threads=2):
        environment = {**os.environ, "LD_PRELOAD": SHIM}
        if fault:
            environment["TILEWRIGHT_FAULT"] = fault
        if count:
            environment["TILEWRIGHT_FAULT_COUNT"] = str(count)
        command = [PROGRAM, *map(str, verb), "-o", str(directory), "--threads", str(threads)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)

    def counts(self, verb):
        count = self.folder / "count"
        result = self.run_verb(verb, self.folder / "counted", count=count)
        self.assertEqual(result.returncode, 0, result.stderr)
        shutil.rmtree(self.folder / "counted")
        return {kind: int(number) for kind, number in (line.split() for line in count.read_text().splitlines())}

    def calls(self, kind, most):
        """The calls to fail: every one, or the first and last and some between."""
        if EVERY or most <= SAMPLE[kind]:
            return range(1, most + 1)
        return sorted({1, most, *random.Random(most).sample(range(1, most + 1), max(0, SAMPLE[kind] - 2))})

    def survives(self, name, stays=""):
        verb = self.verbs[name]
        reference = self.folder / f"{name}-reference"
        if not reference.exists():
            self.assertEqual(self.run_verb(verb, reference).returncode, 0)
        expected = results_of(reference)
        self.assertGreater(len(expected), 1)
        counts, failed = self.counts(verb), 0
        for kind in SAMPLE:
            if kind != "thread" and kind != "clock":
                self.assertGreater(counts[kind], 0, kind)
            for call in self.calls(kind, counts[kind]):
                with self.subTest(verb=name, fault=f"{kind}:{call}{stays}"):
                    directory = self.folder / "unlucky"
                    shutil.rmtree(directory, ignore_errors=True)
                    result = self.run_verb(verb, directory, fault=f"{kind}:{call}{stays}")
                    self.assertIn(result.returncode, (0, 2), f"{result.returncode} {result.stdout[-200:]} {result.stderr[-500:]}")
                    if result.returncode == 2:
                        failed += 1
                        self.assertGreater(len(result.stderr.strip()), 10)
                    if directory.exists():
                        check_whole(self, directory)
                    again = self.run_verb(verb, directory)
                    self.assertEqual(again.returncode, 0, again.stderr)
                    self.assertEqual(results_of(directory), expected)
        self.assertGreater(failed, 3)  # the shim is there, and failures are noticed

    def test_map(self):
        self.survives("map")

    def test_codesign(self):
        self.survives("codesign")

    def test_train(self):
        self.survives("train")

    def test_compare(self):
        self.survives("compare")

    def test_campaign(self):
        self.survives("campaign")

    def test_verify(self):
        directory = self.folder / "verified"
        self.assertEqual(self.run_verb(self.verbs["map"], directory).returncode, 0)
        before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
        count = self.folder / "count"
        command = [PROGRAM, "verify", str(directory)]
        environment = {**os.environ, "LD_PRELOAD": SHIM, "TILEWRIGHT_FAULT_COUNT": str(count)}
        self.assertEqual(subprocess.run(command, capture_output=True, env=environment).returncode, 0)
        counts = {kind: int(number) for kind, number in (line.split() for line in count.read_text().splitlines())}
        for kind in ("open", "alloc", "thread"):
            for call in self.calls(kind, counts[kind]):
                with self.subTest(fault=f"{kind}:{call}"):
                    result = subprocess.run(command, capture_output=True, text=True, timeout=120,
                                            env={**os.environ, "LD_PRELOAD": SHIM, "TILEWRIGHT_FAULT": f"{kind}:{call}"})
                    self.assertIn(result.returncode, (0, 2, 3), result.stderr)
        self.assertEqual({path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}, before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], failfast=EVERY)  # a long run may be ended before it tells of failures
