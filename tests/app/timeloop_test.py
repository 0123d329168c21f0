"""tilewright evaluate --timeloop-records: the answers have the form of the records, and their values."""
import gzip
import json
import pathlib
import subprocess
import sys
import unittest

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2]) / "timeloop"
MACHINES = ("--machines", str(DATA / "archs.json"))


def run(*arguments, stdin=""):
    return subprocess.run([PROGRAM, "evaluate", *arguments], input=stdin, capture_output=True, text=True, timeout=120)


def records(count):
    with gzip.open(DATA / "public.jsonl.gz", "rt") as lines:
        return [line for line, _ in zip(lines, range(count))]


class TimeloopRecords(unittest.TestCase):
    def test_every_record_is_answered_in_its_own_form(self):
        lines = records(200)
        result = run("--timeloop-records", "-", *MACHINES, stdin="".join(lines))
        self.assertEqual(result.returncode, 0, result.stderr)
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(answers), len(lines))
        seen = set()
        for answer, record in zip(answers, map(json.loads, lines)):
            self.assertEqual((answer["id"], answer["valid"]), (record["id"], record["valid"]))
            seen.add(answer["valid"])
            if record["valid"]:
                self.assertEqual(answer["out"]["cycles"], record["out"]["cycles"])
                self.assertAlmostEqual(answer["out"]["energy"] / record["out"]["energy"], 1, delta=1e-12)
                self.assertEqual(list(answer["out"]), list(record["out"]))
            else:
                self.assertEqual(answer["fail"], record["fail"])
        self.assertEqual(seen, {True, False})

    def test_a_malformed_record_is_exit_code_2_and_the_others_are_judged(self):
        good = records(1)[0]
        bad = json.loads(good)
        bad["mapping"]["levels"][0]["factors"]["N"] = 7
        result = run("--timeloop-records", "-", *MACHINES, stdin=good + json.dumps(bad) + "\n" + good)
        self.assertEqual(result.returncode, 2)
        self.assertIn("stdin:2: ", result.stderr)
        self.assertIn("the factors of N multiply to 280, expected 1000", result.stderr)
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([sorted(answer) for answer in answers], [["id", "out", "valid"], ["error"], ["id", "out", "valid"]])

    def test_what_is_missing_is_said(self):
        for arguments, sentence in (
            (("--timeloop-records", "-"), "--machines is missing"),
            (MACHINES, "--machines goes with --timeloop-records"),
            (("--timeloop-records", "nowhere.jsonl", *MACHINES), "nowhere.jsonl: no such file"),
        ):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(sentence, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
