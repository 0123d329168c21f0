"""What shells, man and docs/options.md are told: every verb and every option of the help, and bash completes them.

completion_test.py PROGRAM
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "options.md"


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=True).stdout


def verbs():
    return re.findall(r"(?m)^  (\w+) ", run("help").split("Subcommands:\n")[1].split("\n\n")[0])


def flags(verb):
    return set(re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", run(verb, "--help").split("\nExamples:\n")[0])) - {"--help"}


def completed(*words):
    """What bash offers for the last of the words."""
    script = run("completion", "bash") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tilewright; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", "tilewright", *words], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.split()


class Completion(unittest.TestCase):
    def test_verbs(self):
        self.assertEqual(set(completed("")), set(verbs()))
        self.assertEqual(completed("comp"), ["compare", "compile", "completion"])
        self.assertEqual(set(completed("help", "")), set(verbs()))

    def test_options_are_those_of_the_help(self):
        for verb in verbs():
            if verb not in ("help", "completion", "man"):
                self.assertEqual(set(completed(verb, "--")) - {"--help"}, flags(verb), verb)

    def test_words_of_a_choice(self):
        self.assertEqual(set(completed("map", "--constraints", "")), {"hard", "soft", "report"})

    def test_files_where_nothing_else_is_known(self):
        folder = str(PROGRAM.parent) + "/"
        self.assertIn(str(PROGRAM), completed("verify", folder))

    def test_zsh_names_everything(self):
        script = run("completion", "zsh")
        for verb in verbs():
            self.assertIn(f"'{verb}:", script)
            for flag in flags(verb):
                self.assertIn(f"'{flag}[", script)
        if shutil.which("zsh"):
            subprocess.run(["zsh", "-n"], input=script, text=True, check=True, timeout=60)

    def test_the_manual_names_everything(self):
        for verb in verbs():
            if verb == "help":
                continue
            page = run("man", verb).replace("\\-", "-")
            for flag in flags(verb):
                self.assertIn(f"\\fB{flag}\\fR", page)
        self.assertIn(run("man", "map").split(".SH map")[1].split(".SH")[0], run("man"))
        refused = subprocess.run([PROGRAM, "man", "mapp"], capture_output=True, text=True, timeout=60)
        self.assertEqual((refused.returncode, refused.stderr), (2, "tilewright: 'mapp' is not a verb (did you mean 'map'?)\n"))
        if shutil.which("groff"):
            shown = subprocess.run(["groff", "-k", "-man", "-Tutf8", "-ww"], input=run("man"), capture_output=True, text=True, timeout=60)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_the_reference_is_what_the_program_says(self):
        self.maxDiff = None
        self.assertEqual(REFERENCE.read_text(encoding="utf-8"), run("man", "--markdown"),
                         "docs/options.md is of another version: script/run man --markdown > docs/options.md")

    def test_the_reference_names_everything(self):
        sections = re.split(r"(?m)^## ", run("man", "--markdown"))[1:]
        self.assertEqual([section.split("\n")[0] for section in sections], [verb for verb in verbs() if verb != "help"])
        for section in sections:
            verb = section.split("\n")[0]
            self.assertEqual(set(re.findall(r"(?m)^\| `(--[\w-]+)", section)), flags(verb), verb)
            self.assertTrue(all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in re.findall(r"(?m)^\|.*$", section)), verb)
            self.assertIn(section.rstrip(), run("man", verb, "--markdown"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
