"""What does Python cost? Usage: script/bench python [--quick]

Import, a call, one evaluation, a batch of points on all processors, a study beside the same study by the program, and reading the
points of a run. The package is installed into build/bench-venv as `pip install .` does it.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import drivers
from drivers import ROOT, progress, say

VENV = ROOT / "build" / "bench-venv"


def options():
    parser = argparse.ArgumentParser(prog="script/bench python", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a look, not a measurement")
    return drivers.parse(parser, ["tilewright"])


def install():
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([ROOT / "build" / "venv" / "bin" / "python", "-m", "venv", VENV], check=True)
    progress("Installing the package into build/bench-venv")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{ROOT}[rl]", "mpe2==1.1.1"], check=True)
    return python


def main():
    arguments = options()
    python = install()
    command = [python, "-P", HERE / "measure.py", drivers.TILEWRIGHT] + (["--quick"] if arguments.quick else [])
    figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    say("| | |\n|---|---:|")
    for name, value in figures.items():
        say(f"| {name} | {value} |")
    for wheel in (ROOT / "build" / "wheel").glob("*.whl"):
        say(f"| wheel with its libraries | {wheel.stat().st_size / 1e6:.1f} MB |")
    say("")
    say(subprocess.run([python, "-P", HERE / "rl.py"], check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
