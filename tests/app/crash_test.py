"""kill -9 at random moments, full disks, few descriptors, signals, two processes in one place: nothing is lost or torn, and
what goes on ends with the bytes of a run that was left alone.

crash_test.py PROGRAM [MINUTES]             (without MINUTES a few kills of every verb)
"""

import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from whole_runs import check_whole, results_of, tiny_verbs

PROGRAM = sys.argv[1]
MINUTES = float(sys.argv[2]) if len(sys.argv) > 2 else 0
KILLS = {}


def larger(folder):
    """Commands that last long enough to be killed in the middle."""
    verbs = tiny_verbs(folder)
    plan = folder / "larger.yaml"
    plan.write_text((folder / "plan.yaml").read_text().replace("samples: 20", "samples: 300").replace("seeds: 2", "seeds: 5"))
    return {
        "map": [*verbs["map"][:-3], 4000, "--search", "gamma"],
        "codesign": ["codesign", verbs["codesign"][1], "--measurements", 200, "--search", "genetic"],
        "train": ["train", "toy:climbing", "--algorithm", "ippo", "--episodes", 6000, "--checkpoint-every", 300],
        "compare": [*verbs["compare"][:-3], 400, "--seeds", 6],
        "compile": ["compile", verbs["map"][1]],
        "campaign": ["campaign", plan],
    }


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_verb(self, verb, directory, **options):
        command = [PROGRAM, *map(str, verb), "-o", str(directory), "--threads", "2"]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)

    def one_sentence(self, result, *sayings):
        self.assertEqual(result.returncode, 2, (result.returncode, result.stdout[-300:], result.stderr[-300:]))
        lines = [line for line in result.stderr.splitlines() if " % of " not in line]  # progress is none
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(any(saying in lines[0] for saying in sayings), lines[0])


class Killed(InAFolder):
    def compile_works(self):
        return self.run_verb(self.verbs["compile"], self.folder / "try").returncode == 0

    def test_every_verb_goes_on(self):
        self.verbs = larger(self.folder)
        if not self.compile_works():
            del self.verbs["compile"]
        rng, end = random.Random(11), time.monotonic() + 60 * MINUTES
        lengths, references = {}, {}
        for name, verb in self.verbs.items():
            references[name] = self.folder / f"{name}-whole"
            started = time.monotonic()
            result = self.run_verb(verb, references[name])
            self.assertEqual(result.returncode, 0, (name, result.stderr))
            lengths[name] = time.monotonic() - started
        cycles = 0
        while cycles == 0 or time.monotonic() < end:
            cycles += 1
            for name, verb in self.verbs.items():
                with self.subTest(name, cycle=cycles):
                    self.kill_and_go_on(name, verb, references[name], lengths[name], rng)
        print("kills:", ", ".join(f"{name} {count}" for name, count in KILLS.items()), file=sys.stderr)

    def kill_and_go_on(self, name, verb, reference, length, rng):
        directory = self.folder / "killed"
        shutil.rmtree(directory, ignore_errors=True)
        command = [PROGRAM, *map(str, verb), "-o", str(directory), "--threads", "2"]
        for _ in range(4):
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                child.wait(timeout=rng.uniform(0.01, max(0.05, 0.9 * length)))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                KILLS[name] = KILLS.get(name, 0) + 1
            if directory.exists():
                check_whole(self, directory)
        result = self.run_verb(verb, directory)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(results_of(directory), results_of(reference))
        verified = subprocess.run([PROGRAM, "verify", str(directory)], capture_output=True, text=True)
        if name != "compile":
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)


class Adversity(InAFolder):
    def setUp(self):
        super().setUp()
        self.verbs = tiny_verbs(self.folder)

    def test_a_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(disk)], capture_output=True).returncode != 0:
            self.skipTest("mounting takes rights that are not here")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        for name, verb in larger(self.folder).items():
            if name == "compile":
                continue
            with self.subTest(name):
                for size in (24, 64):
                    shutil.rmtree(disk / "run", ignore_errors=True)
                    filler = disk / "filler"
                    filler.write_bytes(b"x" * ((128 - size) << 10))
                    result = self.run_verb(verb, disk / "run")
                    self.assertIn(result.returncode, (0, 2), result.stderr)
                    if result.returncode == 2:
                        self.assertTrue("No space left" in result.stderr or "disk is full" in result.stderr
                                        or "cannot be used" in result.stderr, result.stderr)
                    filler.unlink()
                    check_whole(self, disk / "run")

    def test_a_directory_that_nobody_may_write(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "none", str(disk)], capture_output=True).returncode != 0:
            self.skipTest("mounting takes rights that are not here")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        for name, verb in self.verbs.items():
            self.assertEqual(self.run_verb(verb, disk / name).returncode, 0)
        before = {name: results_of(disk / name) for name in self.verbs}
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for name, verb in self.verbs.items():
            with self.subTest(name):
                self.one_sentence(self.run_verb(verb, disk / "new"), "Read-only", "read-only")
                result = self.run_verb(verb, disk / name)
                self.assertIn(result.returncode, (0, 2), result.stderr)
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        self.assertEqual({name: results_of(disk / name) for name in self.verbs}, before)

    def test_few_descriptors(self):
        for name, verb in self.verbs.items():
            reference = self.folder / f"{name}-whole"
            self.assertEqual(self.run_verb(verb, reference).returncode, 0)
            for most in (4, 5, 6, 8, 12):
                with self.subTest(name, most=most):
                    directory = self.folder / f"{name}-{most}"
                    result = self.run_verb(verb, directory, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
                    self.assertIn(result.returncode, (0, 2), result.stderr)
                    if result.returncode == 2:
                        self.assertEqual(self.run_verb(verb, directory).returncode, 0)
                    self.assertEqual(results_of(directory), results_of(reference))

    def test_signals_end_in_order(self):
        verbs = larger(self.folder)
        for name in ("map", "train", "compare", "campaign"):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(name, signal=number.name):
                    directory = self.folder / f"{name}-{number.name}"
                    command = [PROGRAM, *map(str, verbs[name]), "-o", str(directory), "--threads", "1"]
                    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                    while not (directory / "run.json").exists() and child.poll() is None:
                        time.sleep(0.002)
                    time.sleep(0.05)
                    child.send_signal(number)
                    _, errors = child.communicate(timeout=60)
                    self.assertIn(child.returncode, (0, 130), errors)
                    check_whole(self, directory)

    def test_a_reader_that_goes_away(self):
        for name, verb in self.verbs.items():
            with self.subTest(name):
                words = " ".join(map(str, verb))
                result = subprocess.run(["sh", "-c", f"{PROGRAM} {words} -o {self.folder / name} --json | true"], capture_output=True, text=True)
                self.assertNotIn("terminate", result.stderr)
                check_whole(self, self.folder / name)
                self.assertEqual(self.run_verb(verb, self.folder / name).returncode, 0)

    def test_two_processes_in_one_directory(self):
        verb, directory = larger(self.folder)["map"], self.folder / "run"
        child = subprocess.Popen([PROGRAM, *map(str, verb), "-o", str(directory)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (directory / "run.json").exists():
            time.sleep(0.001)
        child.send_signal(signal.SIGSTOP)
        try:
            for other in self.verbs.values():
                self.one_sentence(self.run_verb(other, directory), "another process is at work in it")
        finally:
            child.send_signal(signal.SIGCONT)
        self.assertEqual(child.wait(timeout=120), 0)

    def test_a_store_of_a_newer_schema(self):
        for name in ("map", "codesign"):
            directory = self.folder / name
            self.assertEqual(self.run_verb(self.verbs[name], directory).returncode, 0)
            with sqlite3.connect(directory / "store.sqlite") as store:
                store.execute("PRAGMA user_version = 99")
            store.close()
            before = (directory / "store.sqlite").read_bytes()
            self.one_sentence(self.run_verb(self.verbs[name], directory), "the store has version 99, expected at most 1")
            self.assertEqual((directory / "store.sqlite").read_bytes(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
