"""Files of version 0.1, kept in tests/data: each is read, or refused in one sentence that names the version.

formats_test.py PROGRAM DATA
"""

import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

PROGRAM, DATA = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with tarfile.open(DATA / "runs_0.1.tar.gz") as archive:
            archive.extractall(self.folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(self.folder)

    def run_it(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=self.folder)

    def read_or_refused(self, *arguments, codes=(0,)):
        result = self.run_it(*arguments)
        if result.returncode == 2:
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn("version", result.stderr)
        else:
            self.assertIn(result.returncode, codes, result.stderr)
        return result

    def test_results_are_verified(self):
        for name in ("map", "compare", "train", "campaign"):
            with self.subTest(name):
                result = self.run_it("verify", name)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        result = self.run_it("verify", "codesign")  # the pipelined core is timed by other rules since
        self.assertEqual(result.returncode, 3)
        self.assertIn("is of a version that timed the pipelined core by other rules", result.stdout + result.stderr)
        result = self.run_it("verify", "campaign/studies/0001.json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_runs_go_on(self):
        for name, codes in (("map", (0,)), ("codesign", (0, 3)), ("compare", (0,)), ("train", (0,))):
            with self.subTest(name):
                self.read_or_refused("resume", name, codes=codes)

    def test_points_are_read(self):
        result = self.read_or_refused("points", "map")
        if result.returncode == 0:
            self.assertEqual(len(result.stdout.splitlines()), 1 + 37)  # samples and classics

    def test_a_campaign_goes_on(self):
        self.read_or_refused("campaign", "plan.yaml", "-o", "campaign")
        found = json.loads((self.folder / "campaign" / "result.json").read_text())
        self.assertEqual(found["missing"], 0)

    def test_a_newer_one_is_refused(self):
        for name, saying in (("map/run.json", "tilewright-run-"), ("plan.yaml", "tilewright-plan-")):
            path = self.folder / name
            path.write_text(path.read_text().replace(saying + "1", saying + "2"))
            verb = ["campaign", "plan.yaml", "-o", "new"] if name == "plan.yaml" else ["resume", "map"]
            result = self.run_it(*verb)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
            self.assertIn(saying + "1", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
