"""The program with bad luck: streams that are full or closed, few threads, hostile inputs, Ctrl-C.

stress_test.py PROGRAM DATA
"""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
JOB = ["--network", "zoo:resnet18", "--layer", "conv2_1", "--hardware", "zoo:eyeriss", "--dataflow", "eyeriss"]
MEGABYTE = 1 << 20
SANITIZED = b"__asan_init" in pathlib.Path(PROGRAM).read_bytes()  # it takes address space and memory of its own


def run(*arguments, timeout=120, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([PROGRAM, *map(str, arguments)], text=True, timeout=timeout, check=False, **options)


def shell(command):
    return subprocess.run(["sh", "-c", command.replace("PROGRAM", PROGRAM)], capture_output=True, text=True, timeout=120,
                          check=False)


def measured(*arguments, seconds=100):
    """(exit code, stderr, most bytes of memory) of one run that may take `seconds` of processor time and 8 GB."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (8192 * MEGABYTE, 8192 * MEGABYTE))
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=output, stderr=errors, preexec_fn=limits)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return child.returncode, errors.read().decode(), usage.ru_maxrss * 1024


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


class Streams(InAFolder):
    def test_results_survive_a_standard_error_that_is_full_or_closed(self):
        map_tiny = "PROGRAM map zoo:resnet18 --layer fc --hardware zoo:eyeriss --samples 50"
        for verb in ("PROGRAM evaluate " + " ".join(JOB), map_tiny, "PROGRAM zoo --json",
                     "PROGRAM train simple --episodes 20 --warm-up 100"):
            expected = shell(verb)
            self.assertEqual(expected.returncode, 0, expected.stderr)
            for stream in ("2>/dev/full", "2>&-"):
                result = shell(f"{verb} {stream}")
                self.assertEqual(result.returncode, 0, (verb, stream))
                self.assertEqual(len(result.stdout.splitlines()), len(expected.stdout.splitlines()), (verb, stream))
        result = shell(f"{map_tiny} -o {self.folder}/run 2>&-")
        self.assertEqual(result.returncode, 0)
        json.loads((self.folder / "run" / "result.json").read_text())

    def test_a_sentence_for_nobody_is_no_abort(self):
        for stream in ("2>/dev/full", "2>&-"):
            self.assertEqual(shell(f"PROGRAM evaluate --network zoo:resnet {stream}").returncode, 2)
            self.assertEqual(shell(f"PROGRAM {stream}").returncode, 2)

    def test_lost_results_are_an_error(self):
        for verb in ("evaluate " + " ".join(JOB), "zoo", "zoo --json", "train --list", "--help", "map --help",
                     "map zoo:resnet18 --layer fc --hardware zoo:eyeriss --samples 50"):
            for stream in (">/dev/full", ">&-"):
                result = shell(f"PROGRAM {verb} {stream}")
                self.assertEqual(result.returncode, 2, (verb, stream, result.stderr))
                self.assertIn("standard output: could not be written", result.stderr)

    def test_all_streams_closed(self):
        self.assertEqual(shell("PROGRAM zoo >&- 2>&- <&-").returncode, 2)

    def test_a_reader_that_has_enough_is_no_error(self):
        for verb in ("map --help", "zoo --json", "evaluate --network zoo:resnet50 --hardware zoo:eyeriss --dataflow nvdla --json"):
            result = shell(f"PROGRAM {verb} | head -1")
            self.assertEqual(len(result.stdout.splitlines()), 1)
            self.assertEqual(result.stderr, "", verb)

    def test_a_reader_that_goes_away_ends_the_cases(self):
        started = time.monotonic()
        result = shell("yes '{}' | PROGRAM evaluate --batch - | head -1")
        self.assertIn("error", result.stdout)
        self.assertLess(time.monotonic() - started, 60)


class Threads(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "the sanitizer does not start in so little address space")
    def test_fewer_threads_give_the_same_answer(self):
        def tight():
            resource.setrlimit(resource.RLIMIT_AS, (1200 * MEGABYTE, 1200 * MEGABYTE))
        verb = ["map", "zoo:resnet18", "--layer", "fc", "--hardware", "zoo:eyeriss", "--samples", "200", "--json"]
        expected = run(*verb, "--threads", 1)
        result = run(*verb, "--threads", 1024, preexec_fn=tight)
        self.assertEqual(result.returncode, 0, result.stderr)
        without_command = [{**json.loads(text.stdout), "command": None} for text in (expected, result)]
        self.assertEqual(without_command[0], without_command[1])


class JsonFiles(InAFolder):
    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, (arguments, result.stdout, result.stderr))
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(saying, result.stderr)

    def test_numbers_that_nothing_holds(self):
        machine = self.file("m.json", '{"LOG_BLOCK": 4,\n "LOG_BATCH": 1e999}')
        saying = "m.json:2: 1e999 is too large a number"
        tiny = self.file("tiny.yaml", network("op: conv, in: [3, 8, 8], out: 8, kernel: 3"))
        self.refused("compile", tiny, "--machine", machine, saying=saying)
        self.refused("codesign", tiny, "--machine", machine, saying=saying)
        schedules = self.file("s.json", '{"format": "tilewright-schedules-1", "layers": {"conv1": {"tile_h": -1e999}}}')
        self.refused("compile", tiny, "--schedules", schedules, saying="s.json:1: -1e999 is too large a number")
        trajectory = self.file("t.json", '{"scenario": 1e999}')
        self.refused("train", "--replay", trajectory, saying="t.json:1: 1e999 is too large a number")
        self.file("team.json", '{"hidden": 1e999}')
        self.refused("map", "zoo:resnet18", "--hardware", "zoo:eyeriss", "--from", self.folder, "--samples", 10,
                     saying="team.json:1: 1e999 is too large a number")

    def test_runs_and_results(self):
        for text in ('{"format": 1e999}', "[" * 100_000, '{"format": "tilewright-run-1", "verb": ' + "[" * 100_000, "\xff", "",
                     '{"format": "tilewright-run-1", "verb": "map", "arguments": {"samples": "x"}, "command": []}',
                     '{"format": "tilewright-run-1", "verb": "train", "settings": {"seed": {}}, "episodes": 1}',
                     '{"format": "tilewright-run-1", "verb": "codesign", "arguments": 3, "command": 4}'):
            self.file("run.json", text)
            self.refused("resume", self.folder, saying="run.json")
        for text in ('{"format": 1e999}', "[" * 100_000, '{"format": "tilewright-map-1", "layers": 1e999}',
                     '{"format": "tilewright-map-1", "layers": ' + "[" * 100_000, '{"format": "tilewright-codesign-1"}'):
            self.refused("verify", self.file("result.json", text), saying=".json")


HUGE = ["op: fc, in: 200000000, out: 10",
        "op: fc, in: 2147483647, out: 2147483647",
        "op: conv, in: [1, 2147483647, 1], out: 1, kernel: 1",
        "op: conv, in: [2147483647, 1, 1], out: 3, kernel: 1",
        "op: conv, in: [1000000, 1000, 1000], out: 1000000, kernel: [3, 3], pad: 1",
        "op: matmul, rows: 1000000000, inner: 1000000, columns: 1000",
        "op: depthwise, in: [100000000, 9, 9], kernel: 3"]


def network(*layers):
    return "format: tilewright-network-1\nname: n\nlayers:\n" + "".join(
        f"  - {{name: l{i}, {layer}}}\n" for i, layer in enumerate(layers))


class Hostile(InAFolder):
    """A kilobyte never needs a gigabyte, and never takes for ever."""

    def within_a_gigabyte(self, *arguments, codes=(0, 2, 3)):
        code, errors, memory = measured(*arguments)
        self.assertIn(code, codes, (arguments, errors))
        self.assertNotIn("out of memory", errors, arguments)
        if not SANITIZED:
            self.assertLess(memory, 1024 * MEGABYTE, arguments)
        return errors

    def test_huge_layers(self):
        for i, layer in enumerate(HUGE):
            path = self.file(f"n{i}.yaml", network(layer))
            self.within_a_gigabyte("codesign", path, "--measurements", 4, "--threads", 2)
            self.within_a_gigabyte("compile", path)
        path = self.file("all.yaml", network(*HUGE))
        self.within_a_gigabyte("zoo", path)
        self.within_a_gigabyte("evaluate", "--network", path, "--hardware", "zoo:eyeriss", "--dataflow", "nvdla")
        for tiles, search in (("any", "random"), ("any", "agents"), ("any", "ant-colony"), ("divisors", "agents")):
            self.within_a_gigabyte("map", path, "--hardware", "zoo:eyeriss", "--tiles", tiles, "--search", search, "--levels",
                                   "1-3", "--samples", 4)
        self.within_a_gigabyte("agents", path, "--hardware", "zoo:eyeriss", "--samples", 4, "--no-stability")

    def test_programs_that_nobody_would_run(self):
        path = self.file("long.yaml", network("op: fc, in: 60000000, out: 4"))
        self.within_a_gigabyte("codesign", path, "--measurements", 4, "--threads", 2, "--search", "random")

    def test_huge_machines(self):
        machine = self.file("m.yaml", "format: tilewright-accelerator-1\nname: m\npes: 2147483647\nl1_bytes: 512\n"
                                      "l2_bytes: 108000\n")
        clusters = self.file("c.yaml", machine.read_text().replace("2147483647", "2147483646\nclusters: [2]"))
        for path in (machine, clusters):
            self.within_a_gigabyte("map", "zoo:resnet18", "--layer", "fc", "--hardware", path, "--levels", "1-3", "--samples",
                                   40, "--tiles", "any", "--search-pes")

    def test_many_keys_and_deep_nesting(self):
        many = "format: tilewright-network-1\nname: n\nlayers: []\n" + "".join(f"k{i}: 1\n" for i in range(60_000))
        self.assertIn("not a known field", self.within_a_gigabyte("zoo", self.file("many.yaml", many)))
        self.within_a_gigabyte("zoo", self.file("deep.yaml", "a: " + "[" * 100_000))
        bomb = "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(24))
        self.within_a_gigabyte("zoo", self.file("bomb.yaml", bomb))

    def test_huge_counts(self):
        self.within_a_gigabyte("train", "simple_spread", "--agents", 100_000, "--episodes", 1)
        self.within_a_gigabyte("train", "simple_tag", "--agents", 1_000_000_000, "--episodes", 1)
        self.within_a_gigabyte("train", "simple", "--worlds", 1_000_000_000, "--episodes", 1)


class Interrupted(InAFolder):
    def interrupted(self, *arguments, after, since=None, most=6.0, codes=(130, -signal.SIGINT)):
        """Ctrl-C after some seconds, counted from when the file `since` is there if one is named; the answer is there soon (a
        loaded machine is given time), with exit code 130."""
        with subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            while since and child.poll() is None and not since.exists():
                time.sleep(0.01)
            time.sleep(after)
            asked = time.monotonic()
            child.send_signal(signal.SIGINT)
            output, errors = child.communicate(timeout=120)
            self.assertLess(time.monotonic() - asked, most, arguments)
            self.assertIn(child.returncode, codes, (arguments, output, errors))
            return output, errors

    def test_codesign_ends_at_once_and_goes_on_later(self):
        whole, part = self.folder / "whole", self.folder / "part"
        layers = [f"op: conv, in: [{16 * i}, 14, 14], out: 64, kernel: 3, pad: 1" for i in range(1, 9)]
        verb = ["codesign", self.file("eight.yaml", network(*layers)), "--measurements", 512, "--no-verify"]
        self.assertEqual(run(*verb, "-o", whole, timeout=600).returncode, 0)
        self.interrupted(*verb, "-o", part, after=0.1, since=part / "run.json")
        self.interrupted(*verb, "-o", part, after=0.6, codes=(130, -signal.SIGINT, 0))  # by then it may be done
        self.assertEqual(run("resume", part, timeout=600).returncode, 0)
        for name in ("layers.csv", "convergence.csv", "schedules.json", "machine.json"):
            self.assertEqual((whole / name).read_text(), (part / name).read_text(), name)

    def test_compile_leaves_no_program_behind(self):
        output = self.folder / "compiled"
        with subprocess.Popen([PROGRAM, "compile", "zoo:resnet18", "-o", output], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as child:
            while child.poll() is None and not list(output.glob("*.vtaprog")):
                time.sleep(0.01)
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.communicate(timeout=120)[0], "")
            self.assertEqual(child.returncode, 130)
        self.assertEqual([path.name for path in output.iterdir()], ["run.json"])

    def test_all_verbs_end_at_once(self):
        self.interrupted("codesign", "zoo:resnet18", after=3)
        self.interrupted("codesign", "zoo:vgg16", "--search", "random", "--measurements", 100_000, after=2)
        self.interrupted("compile", "zoo:vgg16", after=2)
        self.interrupted("map", "zoo:resnet50", "--hardware", "zoo:eyeriss", "--samples", 10_000_000, after=2)
        self.interrupted("compare", "--network", "zoo:resnet18", "--hardware", "zoo:eyeriss", "--samples", 1_000_000, after=2)
        self.interrupted("train", "simple_tag", "--episodes", 10_000_000, after=2)
        self.interrupted("agents", "zoo:resnet50", "--hardware", "zoo:eyeriss", "--samples", 1_000_000, after=1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
