"""`tilewright verify` on runs of every verb: it passes what a run has left, and notices every leaf of every JSON document and every
file that is not as it was. Also what every verb does with directories that are not its own.

    verify_test.py PROGRAM
"""

import copy
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

PROGRAM = sys.argv[1]

TINY = """format: tilewright-network-1
name: tiny
layers:
  - {name: conv1, op: conv, in: [16, 8, 8], out: 16, kernel: 3, pad: 1}
  - {name: "=conv2", op: conv, in: [16, 8, 8], out: 16, kernel: 1}
"""

VERBS = {
    "map": ["NETWORK", "--hardware", "zoo:gamma-edge", "--samples", "60", "--search", "genetic"],
    "codesign": ["NETWORK", "--measurements", "24"],
    "compile": ["NETWORK"],
    "compare": ["--network", "NETWORK", "--hardware", "zoo:gamma-edge", "--samples", "30", "--seeds", "2", "--searches", "random,genetic"],
    "agents": ["NETWORK", "--hardware", "zoo:gamma-edge", "--samples", "80", "--no-stability"],
    "train": ["toy:matrix", "--algorithm", "maddpg", "--episodes", "40"],
}
COMPUTED = ("map", "codesign")  # of which verify computes the numbers again


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def work(verb, directory, *more):
    """The verb's small run in a directory."""
    arguments = [str(RUNS / "tiny.yaml") if word == "NETWORK" else word for word in VERBS[verb]]
    return run(verb, *arguments, *more, "-o", directory)


def setUpModule():
    global RUNS
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    RUNS = pathlib.Path(folder.name)
    (RUNS / "tiny.yaml").write_text(TINY)
    for verb in VERBS:
        result = work(verb, RUNS / verb)
        assert result.returncode == 0, (verb, result.stderr)


def leaves_of(value, path=()):
    """The paths of all leaves of a JSON document; an empty list or object is one."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves_of(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves_of(item, (*path, index))
    else:
        yield path


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.001 + 1e-9
    if isinstance(value, str):
        return value + "x"
    return "was empty" if value is None or not value else None


def with_leaf(document, path, new):
    document = copy.deepcopy(document)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = new(place[path[-1]])
    return document


class VerifyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def verify(self, path, code):
        result = run("verify", path)
        self.assertEqual(result.returncode, code, f"{path}: {result.stdout}{result.stderr}")
        return result.stdout

    def misses(self, cases):
        """Of (name, path to verify, file, bytes) those whose exit code is not 3. Each is tried in a folder of its own."""
        def miss(case):
            name, directory, file, content = case
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder) / directory.name
                subprocess.run(["cp", "-r", directory, folder], check=True)
                if content is None:
                    (folder / file).unlink()
                else:
                    (folder / file).write_bytes(content)
                result = run("verify", folder)
            return None if result.returncode == 3 else f"{name}: {result.returncode} {result.stdout}{result.stderr}"

        with ThreadPoolExecutor(4) as pool:
            return [miss for miss in pool.map(miss, cases) if miss]


class Whole(VerifyTest):
    def test_what_every_verb_leaves_passes_and_the_last_line_says_what_was_checked(self):
        for verb in VERBS:
            text = self.verify(RUNS / verb, 0)
            self.assertRegex(text.splitlines()[-1], r"\d+ files are as the run left them")
            computed = verb in COMPUTED
            self.assertIn("2 of 2 layers evaluated again, every number equal" if computed else f"the numbers of {verb} are not computed again", text)
            self.assertEqual("points of the store are whole" in text, computed)
        for verb in COMPUTED:
            self.assertIn("2 of 2 layers evaluated again", self.verify(RUNS / verb / "result.json", 0))
            alone = self.folder / f"{verb}-alone.json"
            alone.write_bytes((RUNS / verb / "result.json").read_bytes())
            self.assertIn("2 of 2 layers evaluated again", self.verify(alone, 0))
        self.assertIn("not computed again", self.verify(RUNS / "compare" / "compare.json", 0))

    def test_what_is_no_result_is_wrong_input(self):
        for content in ("{}", "[]", "nonsense", '{"format": "tilewright-map-9"}'):
            other = self.folder / "other.json"
            other.write_text(content)
            self.verify(other, 2)
        self.verify(self.folder, 2)


class Leaves(VerifyTest):
    def noticed(self, verb, name, alone):
        document = json.loads((RUNS / verb / name).read_text())
        missed, count = [], 0

        def check(path):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / name
                file.write_text(json.dumps(with_leaf(document, path, changed)))
                result = run("verify", file if alone else folder)
            return (path, result)

        with ThreadPoolExecutor(4) as pool:
            for path, result in pool.map(check, list(leaves_of(document))):
                count += 1
                if result.returncode != 3:
                    missed.append((path, result.returncode, result.stdout, result.stderr))
        self.assertEqual(missed, [])
        self.assertGreater(count, 10)

    def test_every_leaf_of_a_result_by_itself(self):
        self.noticed("map", "result.json", alone=True)
        self.noticed("codesign", "result.json", alone=True)

    def test_every_leaf_of_run_json(self):
        for verb in VERBS:
            self.noticed(verb, "run.json", alone=False)

    def test_a_digest_that_was_computed_anew_hides_no_number(self):
        """Numbers that follow from others are computed again, whatever the digest says."""
        for verb, paths in {"map": [("totals", "latency"), ("totals", "energy"), ("totals", "edp"), ("totals", "power"), ("totals", "macs"),
                                    ("totals", "l2"), ("totals", "dataflow_factor"), ("layers", 0, "metrics", "power"),
                                    ("layers", 0, "utilisation"), ("layers", 0, "log10_space"), ("layers", 1, "exact_factor"),
                                    ("layers", 1, "dataflow_factor"), ("coverage", "share")],
                            "codesign": [("totals", "cycles"), ("totals", "watts"), ("area",), ("layers", 0, "cycles"),
                                         ("layers", 0, "default_cycles"), ("layers", 1, "mac_share"), ("measured", "points")]}.items():
            document = json.loads((RUNS / verb / "result.json").read_text())
            for path in paths:
                file = self.folder / "forged.json"
                file.write_text(json.dumps(with_leaf(document, path, changed)))
                digest = json.loads(run("verify", file, "--json").stdout)["faults"][0].split()[2].strip(",")
                file.write_text(json.dumps({**json.loads(file.read_text()), "digest": digest}))
                faults = json.loads(run("verify", file, "--json").stdout)["faults"]
                self.assertIn("/" + "/".join(map(str, path)) + " is ", " ".join(faults), (verb, path))
                self.assertNotIn("digest", " ".join(faults))

    def test_a_removed_machine_a_removed_layer_and_no_layers(self):
        for verb in COMPUTED:
            document = json.loads((RUNS / verb / "result.json").read_text())
            for name, other in (("machine", {key: value for key, value in document.items() if key != "machine"}),
                                ("layer", {**document, "layers": document["layers"][:1]}), ("layers", {**document, "layers": []})):
                file = self.folder / f"without-{name}.json"
                file.write_text(json.dumps(other))
                self.verify(file, 3)


class Files(VerifyTest):
    def test_every_file_flipped_cut_and_removed(self):
        cases = []
        for verb in VERBS:
            directory = RUNS / verb
            for path in sorted(directory.rglob("*")):
                if not path.is_file():
                    continue
                name, content = path.relative_to(directory), path.read_bytes()
                middle = len(content) // 2
                cases.append((f"{verb}/{name} flipped", directory, name, content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:] if content else b"x"))
                if str(name) != "run.json":  # whose digest is of what it says, not of spaces
                    cases.append((f"{verb}/{name} longer", directory, name, content + b"\n"))
                    cases.append((f"{verb}/{name} removed", directory, name, None))
        self.assertGreater(len(cases), 90)
        self.assertEqual(self.misses(cases), [])

    def test_simulate_checks_the_checksum_of_a_program(self):
        program = next((RUNS / "compile").glob("*.vtaprog"))
        self.assertEqual(run("simulate", program, "--timing-only").returncode, 0)
        content = bytearray(program.read_bytes())
        content[len(content) - 40] ^= 1
        other = self.folder / "flipped.vtaprog"
        other.write_bytes(content)
        result = run("simulate", other)
        self.assertEqual(result.returncode, 2)
        self.assertIn("bad_checksum", result.stderr)

    def test_names_in_csv_files_are_no_formulas(self):
        for verb in ("map", "codesign", "compare"):
            text = (RUNS / verb / "layers.csv").read_text()
            self.assertIn("'=conv2", text)
            self.assertNotRegex(text, r"(?m)(^|,)=conv2")


class Directories(VerifyTest):
    def every_verb(self, directory):
        for verb in VERBS:
            yield verb, work(verb, directory)

    def refused(self, result, saying, verb):
        self.assertEqual(result.returncode, 2, f"{verb}: {result.stdout}{result.stderr}")
        self.assertEqual((result.stdout, result.stderr.count("\n")), ("", 1), verb)
        self.assertIn(saying, result.stderr, verb)

    def test_files_of_others_are_left_alone(self):
        foreign = self.folder / "foreign"
        foreign.mkdir()
        (foreign / "thesis.tex").write_text("mine")
        for verb, result in self.every_verb(foreign):
            self.refused(result, "holds 'thesis.tex' and no run", verb)
        self.assertEqual([path.name for path in foreign.iterdir()], ["thesis.tex"])

    def test_links_are_not_followed_out(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        for verb in VERBS:
            directory = self.folder / f"linked-{verb}"
            subprocess.run(["cp", "-r", RUNS / verb, directory], check=True)
            (directory / "zz").symlink_to(elsewhere)
            self.refused(work(verb, directory), "is a link", verb)
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_one_process_at_a_time(self):
        directory = self.folder / "busy"
        directory.mkdir()
        handle = os.open(directory, os.O_RDONLY)
        self.addCleanup(os.close, handle)
        fcntl.flock(handle, fcntl.LOCK_EX)
        for verb, result in self.every_verb(directory):
            self.refused(result, "another process is at work in it", verb)

    def test_a_resumed_run_has_its_checksums_renewed(self):
        directory = self.folder / "again"
        self.assertEqual(work("map", directory).returncode, 0)
        (directory / "layers.csv").write_text("edited")
        self.verify(directory, 3)
        self.assertEqual(run("resume", directory).returncode, 0)
        self.verify(directory, 0)

    def test_resume_of_train_keeps_checkpoint_every_and_eval(self):
        directory = self.folder / "kept"
        self.assertEqual(work("train", directory, "--checkpoint-every", "7", "--eval", "3").returncode, 0)
        self.assertEqual(run("train", "--resume", "-o", directory, "--episodes", "60").returncode, 0)
        record = json.loads((directory / "run.json").read_text())
        self.assertEqual((record["checkpoint_every"], record["eval"], record["episodes"]), (7, 3, 60))
        self.assertIn("greedy_return", json.loads((directory / "summary.json").read_text()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
