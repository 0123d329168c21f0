"""What the benchmarks that are Python drivers share: where our programs are, and how their results are shown and kept."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build" / "release"))
TILEWRIGHT = BUILD / "src" / "tilewright" / "tilewright"


def program(target):
    return TILEWRIGHT if target == "tilewright" else BUILD / "bench" / target


def parse(parser, targets):
    """The arguments of a driver, which needs the built `targets`. With --targets it only names them, and with
    TILEWRIGHT_DRY_RUN set it only looks at the arguments."""
    parser.error = lambda message: (progress(f"{parser.prog}: {message}"), sys.exit(2))
    parser.add_argument("--targets", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.targets:
        print(" ".join(targets))
        sys.exit(0)
    if os.environ.get("TILEWRIGHT_DRY_RUN"):
        sys.exit(0)
    for target in targets:
        if not program(target).exists():
            sys.exit(f"{program(target)} is not there, expected it to be built: script/build release {target}")
    return options


def numbers(text):
    """The type of arguments like 3,6,12."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of whole numbers like 3,6,12") from error


def chosen(options):
    """The type of arguments that name some of `options`, with commas."""

    def parse_names(text):
        names = text.split(",")
        for name in names:
            if name not in options:
                raise argparse.ArgumentTypeError(f"'{name}' is not known, expected some of: {' '.join(options)}")
        return names

    return parse_names


def say(text=""):
    print(text, flush=True)


def progress(text):
    print(text, file=sys.stderr, flush=True)


def run_json(command, codes=(0,)):
    """What a program prints, as JSON; one object per line makes a list. An exit code but these ends the benchmark."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                          check=False)
    if done.returncode not in codes:
        sys.exit(f"'{' '.join(str(word) for word in command)}' ended with exit code {done.returncode}: {done.stderr.strip()}")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return [json.loads(line) for line in done.stdout.splitlines()]


def train(*arguments):
    """The summary of a training run."""
    return run_json([TILEWRIGHT, "train", *arguments, "--json"])


def table(head, rows, left=1):
    """Aligned columns, the first `left` of them to the left."""
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = [cell.ljust(width) if column < left else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        say("  ".join(cells).rstrip())


def short(value):
    """Three significant digits."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def write_results(path, results):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    progress(f"results are in {path}")


def answer(name, questions, choice, about):
    """Asks the chosen questions {title: function of the choice that gives text and results}; shows and keeps what they say."""
    folder = pathlib.Path(choice.output)
    for question in choice.only:
        text, results = questions[question](choice)
        text = f"# {question}: {about}\n\n{text}"
        say(text)
        write_results(folder / f"{name}-{question}.json", {"processor": processor(), "results": results})
        (folder / f"{name}-{question}.md").write_text(text, encoding="utf-8")
    return 0
