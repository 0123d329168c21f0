"""docs_test.py SCRIPT: script/docs runs what documents show and notices what is not true, with a stand-in for the program."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()
PROGRAM = '#!/bin/sh\n[ "$1" = fail ] && exit 2\necho "first $*"\necho last\n'


class Docs(unittest.TestCase):
    def docs(self, text):
        """Exit code and output of script/docs on one document."""
        with tempfile.TemporaryDirectory() as work:
            program = pathlib.Path(work, "src", "tilewright", "tilewright")
            program.parent.mkdir(parents=True)
            program.write_text(PROGRAM)
            program.chmod(0o755)
            document = pathlib.Path(work, "page.md")
            document.write_text(text, encoding="utf-8")
            done = subprocess.run([SCRIPT, document], env=dict(os.environ, TILEWRIGHT_BUILD_DIR=work), stdout=subprocess.PIPE,
                                  encoding="utf-8", check=False)
            return done.returncode, done.stdout

    def passes(self, text, ran):
        code, output = self.docs(text)
        self.assertEqual(code, 0, output)
        self.assertIn(f"{ran} commands of 1 documents ran", output)

    def complains(self, sentence, text):
        code, output = self.docs(text)
        self.assertEqual(code, 1, output)
        self.assertIn(sentence, output)

    def test_commands_run(self):
        self.passes("```sh\ntilewright a\n\n# why\nbuild/release/src/tilewright/tilewright \\\n  b  # because\n```\n", ran=2)

    def test_other_blocks_do_not(self):
        self.passes("```text\ntilewright fail\n```\n```cpp\ntilewright fail\n```\n", ran=0)

    def test_exit_codes(self):
        self.complains("page.md:2: `tilewright fail` ends with exit code 2, expected 0", "```sh\ntilewright fail\n```\n")
        self.passes("```sh\ntilewright fail  # exit code 2\n```\n", ran=1)
        self.complains("ends with exit code 0, expected 2", "```sh\ntilewright a  # exit code 2\n```\n")

    def test_shown_output(self):
        command = "```sh\ntilewright a\n```\n"
        self.passes(command + "\n```text output\nfirst a\nlast\n```\n", ran=1)
        self.passes(command + "```text output\n…\nlast\n```\n", ran=1)
        self.complains("does not print what is shown", command + "```text output\nfirst b\nlast\n```\n")
        self.complains("does not print what is shown", command + "```text output\nfirst a\n```\n")
        self.complains("right after the command", command + "It says:\n```text output\nfirst a\nlast\n```\n")

    def test_a_failure_inside_a_pipeline(self):
        self.complains("ends with exit code 2", "```sh\ntilewright fail | cat\n```\n")

    def test_scripts_that_would_recurse_are_only_asked_about_their_arguments(self):
        self.passes("```sh\nscript/test\nscript/bootstrap --develop\nscript/build asan\nscript/format --check\n```\n", ran=0)
        self.complains("no preset 'fast-and-loose'", "```sh\nscript/build fast-and-loose\n```\n")
        self.complains("'--everything' is not an option", "```sh\nscript/bootstrap --everything\n```\n")
        self.complains("script/nothing` does not exist", "```sh\nscript/nothing\n```\n")

    def test_presets(self):
        self.passes("```sh\ncmake --preset dev && ctest --preset fast\nctest --preset fast\n```\n", ran=0)
        self.complains("configure preset 'fast', which does not exist", "```sh\ncmake --preset fast\n```\n")
        self.complains("test preset 'tidy', which does not exist", "```sh\nctest --preset tidy\n```\n")

    def test_foreign_commands_are_not_skipped_in_silence(self):
        self.complains("is none of ours", "```sh\nmaestro --help\n```\n")

    def test_links(self):
        heading = "## `Part --one`, two\n"
        self.passes(heading + "[here](page.md#part---one-two), [there](https://example.org/x), [below](#part---one-two)\n", ran=0)
        self.complains("page.md:2: links to gone.md", "\n[here](gone.md)\n")
        self.complains("page.md:2: links to page.md#part, which has no such heading", heading + "[here](page.md#part)\n")


if __name__ == "__main__":
    unittest.main()
