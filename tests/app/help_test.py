"""Help: every verb has it, in both spellings, with examples; and every example works as it stands.

help_test.py PROGRAM
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
PLAN = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "plan.yaml"


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, cwd=cwd)


def verbs():
    listed = run("help").stdout.split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"(?m)^  (\w+) ", listed)


def examples(text):
    return re.findall(r"(?m)^  tilewright (.*)$", text.split("\nExamples:\n")[1])


class Help(unittest.TestCase):
    def test_both_spellings_say_the_same(self):
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertGreaterEqual(len(verbs()), 14)
        for verb in verbs():
            long = run(verb, "--help")
            self.assertEqual((long.returncode, long.stderr), (0, ""), verb)
            self.assertEqual(run("help", verb).stdout, long.stdout)
            self.assertGreaterEqual(len(examples(long.stdout)), 2, verb)
            self.assertLessEqual(max(map(len, long.stdout.splitlines())), 160, verb)

    def test_what_is_no_verb(self):
        result = run("help", "mapp")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("'mapp' is not a verb (did you mean 'map'?)", result.stderr)

    def test_every_example_works(self):
        first = ["map", "compile"]  # they make what others read
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(PLAN, folder)
            for verb in [*first, *(verb for verb in verbs() if verb not in first)]:
                for example in examples(run(verb, "--help").stdout):
                    with self.subTest(example):
                        result = run(*shlex.split(example), cwd=folder)
                        self.assertEqual(result.returncode, 0, result.stderr)
                        self.assertTrue(result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
