"""The guide's snippets, the examples and the reference, as they stand."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright

PACKAGE = Path(tilewright.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = {
    "own_model.py": [],
    "own_searcher.py": [],
    "optuna_samplers.py": ["conv2_1", "20", "2"],
    "read_points.py": ["200"],
    "codesign.py": ["16"],
    "maddpg_own_game.py": [],
    "masked_policy.py": [],
}


def blocks(path):
    """(info, text, line) of every fenced block."""
    text = path.read_text(encoding="utf-8")
    for match in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match.group(1), match.group(2), text[: match.start()].count("\n") + 2


def matches(shown, printed):
    """True when what is shown is what was printed, `…` standing for anything."""
    return re.fullmatch(".*".join(re.escape(part) for part in shown.split("…")), printed, re.DOTALL) is not None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("document", sorted(path.name for path in (ROOT / "docs").glob("python*.md")))
def test_every_snippet_runs_and_prints_what_is_shown(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__snippet__"}
    printed = None
    for info, text, line in blocks(ROOT / "docs" / document):
        if info == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile("\n" * (line - 1) + text, document, "exec"), names)
            printed = output.getvalue()
        elif info == "text printed":
            assert printed is not None, f"{document}:{line}: nothing was run"
            assert matches(text, printed), f"{document}:{line}: prints {printed!r}"
            printed = None


@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "python" / "examples").glob("*.py")))
def test_every_example_runs(example, tmp_path):
    if example not in EXAMPLES:
        pytest.skip("has a test of its own")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    command = [sys.executable, ROOT / "python" / "examples" / example, *EXAMPLES[example]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_everything_public_has_a_docstring():
    command = [sys.executable, "-P", ROOT / "python" / "generate_reference.py", PACKAGE, "--missing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_the_reference_is_made_of_the_docstrings():
    command = [sys.executable, "-P", ROOT / "python" / "generate_reference.py", PACKAGE]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert made == (ROOT / "docs" / "python_api.md").read_text(encoding="utf-8"), "make it again; its second line says how"


def test_what_all_names_is_there():
    for name in set(tilewright.__all__) - {"torch", "from_torch"}:
        assert getattr(tilewright, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'mapp'"):
        tilewright.mapp  # noqa: B018


def test_types_are_strict():
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        ROOT / "pyproject.toml",
        "--cache-dir",
        PACKAGE.parent / ".mypy_cache",
    ]
    done = subprocess.run(
        [*command, PACKAGE, *(ROOT / "python" / "examples").glob("*.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_ruff_is_content():
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", ROOT / "python"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


def test_modules_from_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed: it has 6 GB, and is left to who has it")
    module = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 16, 10)
    )
    network = tilewright.from_torch(module, torch.zeros(1, 3, 4, 4), name="small")
    assert network.name == "small"
    assert network.macs == 8 * 3 * 9 * 16 + 8 * 16 * 10
