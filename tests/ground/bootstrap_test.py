"""bootstrap_test.py SCRIPT: what script/bootstrap installs and how, with stand-ins for the system's tools."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()

# dpkg-query knows every package but those in $MISSING; it answers for a purged one as the real tool does.
DPKG_QUERY = """#!/bin/sh
shift 3
code=0
for name in "$@"; do
  case " $MISSING " in
    *" $name "*) code=1 ;;
    *" purged:$name "*) printf 'config-files:%s ' "$name" ;;
    *" pending:$name "*) printf 'triggers-pending:%s ' "$name" ;;
    *" awaited:$name "*) printf 'triggers-awaited:%s ' "$name" ;;
    *" half:$name "*) printf 'half-configured:%s ' "$name" ;;
    *) printf 'installed:%s ' "$name" ;;
  esac
done
exit $code
"""
RECORD = '#!/bin/sh\necho "{name} $* [$DEBIAN_FRONTEND]" >>"$RECORD"\n'
SUDO = '#!/bin/sh\necho sudo >>"$RECORD"\nexec "$@"\n'
APT_CACHE = '#!/bin/sh\ncase " $UNKNOWN " in *" $2 "*) exit 100 ;; esac\n'


def bootstrap(*arguments, missing="", unknown="", user=0, sudo=True):
    """(exit code, output, calls of apt-get and sudo) of one run."""
    with tempfile.TemporaryDirectory() as work:
        tools = {"dpkg-query": DPKG_QUERY, "apt-get": RECORD.format(name="apt-get"), "apt-cache": APT_CACHE,
                 "id": f"#!/bin/sh\necho {user}\n"}
        if sudo:
            tools["sudo"] = SUDO
        for name, text in tools.items():
            pathlib.Path(work, name).write_text(text)
            pathlib.Path(work, name).chmod(0o755)
        for name in ("bash", "env", "sh"):  # nothing else of the system is in reach
            os.symlink(f"/bin/{name}" if name != "env" else "/usr/bin/env", pathlib.Path(work, name))
        record = pathlib.Path(work, "record")
        record.touch()
        done = subprocess.run(["bash", SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              encoding="utf-8", env={"PATH": work, "MISSING": missing, "UNKNOWN": unknown, "RECORD": str(record)})
        return done.returncode, done.stdout, record.read_text().splitlines()


class Bootstrap(unittest.TestCase):
    def test_nothing_is_done_when_all_is_there(self):
        self.assertEqual(bootstrap(), (0, "Everything is installed.\n", []))
        self.assertEqual(bootstrap("--quiet"), (0, "", []))

    def test_only_what_is_missing_is_installed(self):
        code, output, calls = bootstrap(missing="libfmt-dev purged:ccache")
        self.assertEqual(code, 0, output)
        self.assertEqual(calls, ["apt-get -qq -o DPkg::Lock::Timeout=300 update [noninteractive]",
                                 "apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends ccache libfmt-dev "
                                 "[noninteractive]"])
        self.assertIn("Missing: ccache libfmt-dev", output)

    def test_a_package_that_waits_for_triggers_is_there(self):
        self.assertEqual(bootstrap(missing="pending:libfmt-dev awaited:ccache pending:g++"), (0, "Everything is installed.\n", []))
        self.assertIn("Missing: ccache", bootstrap(missing="half:ccache")[1])

    def test_sudo_only_for_others_than_root(self):
        _, _, calls = bootstrap(missing="ccache", user=1000)
        self.assertEqual([call.split()[0] for call in calls], ["sudo", "apt-get", "sudo", "apt-get"])
        self.assertEqual(bootstrap(user=1000)[2], [])
        code, output, calls = bootstrap(missing="ccache", user=1000, sudo=False)
        self.assertEqual((code, calls), (1, []))
        self.assertIn("missing ccache; run script/bootstrap as root", output)

    def test_one_of_two_clang_formats_is_enough(self):
        self.assertEqual(bootstrap(missing="clang-format")[2], [])
        self.assertEqual(bootstrap(missing="clang-format-14")[2], [])
        both = "clang-format-14 clang-format"
        self.assertIn("--no-install-recommends clang-format-14 ", bootstrap(missing=both)[2][1])
        self.assertIn("--no-install-recommends clang-format ", bootstrap(missing=both, unknown="clang-format-14")[2][1])

    def test_develop_asks_for_more(self):
        self.assertEqual(bootstrap(missing="valgrind")[2], [])
        self.assertIn("valgrind", bootstrap("--develop", missing="valgrind")[2][1])

    def test_unknown_options_are_refused(self):
        code, output, calls = bootstrap("--all")
        self.assertEqual((code, calls), (2, []))
        self.assertIn("'--all' is not an option", output)


if __name__ == "__main__":
    unittest.main()
