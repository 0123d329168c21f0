"""The program that comes with the package."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import tilewright as tw


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "tilewright", *arguments], capture_output=True, text=True, timeout=300)


def test_the_module_is_the_program():
    assert run("--version").stdout == f"tilewright {tw.__version__}\n"
    assert json.loads(run("zoo", "--json").stdout)["networks"][0]["name"] == tw.zoo.networks()[0]


def test_exit_codes_and_sentences_are_the_programs():
    wrong = run("map", "zoo:resnet19", "--hardware", "zoo:eyeriss")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    with pytest.raises(tw.NotFound) as raised:
        tw.read_network("zoo:resnet19")
    assert f"{raised.value}\n" == wrong.stderr


def test_importing_takes_less_than_a_third_of_a_second():
    timed = "import time; t = time.perf_counter(); import tilewright; print(time.perf_counter() - t)"
    seconds = min(
        float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout) for _ in range(3)
    )
    assert seconds < 0.3
