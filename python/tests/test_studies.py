"""The studies: the program's answers as dictionaries, tables, plots and reports; and stopping them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import tilewright as tw

NETWORK = tw.zoo.network("alexnet")
ARRAY = tw.zoo.machine("eyeriss")


def program(*arguments):
    done = subprocess.run([sys.executable, "-m", "tilewright", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    return done.stdout


def without_time(found):
    """What does not depend on when and how it was done."""
    gone = (
        "seconds",
        "digest",
        "command",
        "cpu_seconds",
        "samples_per_second",
        "threads",
        "episodes_per_second",
        "phases",
        "contenders",
    )
    return {key: value for key, value in found.items() if key not in gone}


@pytest.mark.parametrize("machine", ["eyeriss", "eyeriss-dram"])
def test_map_is_the_programs_map(machine):
    options = {"layer": "conv3", "samples": 60, "objective": "latency", "seed": 3}
    study = tw.map("zoo:alexnet", f"zoo:{machine}", **options)
    said = program(
        "map",
        "zoo:alexnet",
        "--hardware",
        f"zoo:{machine}",
        "--layer",
        "conv3",
        "--samples",
        60,
        "--objective",
        "latency",
        "--seed",
        3,
        "--json",
    )
    assert without_time(json.loads(said)) == without_time(study.data)
    of_objects = tw.map(NETWORK, tw.zoo.machine(machine), threads=1, **options)
    assert of_objects["layers"] == study["layers"]
    mapping = study.mappings["conv3"]
    assert tw.evaluate(mapping, NETWORK["conv3"], study.machine).cycles == study["layers"][0]["metrics"]["latency"]


def test_a_study_is_a_dictionary_a_table_a_plot_and_a_report(tmp_path):
    study = tw.map(NETWORK, ARRAY, samples=20, search="random")
    assert len(study) == len(study.data)
    assert set(study) == set(study.data)
    assert list(study.to_pandas()["layer"]) == [layer["name"] for layer in study["layers"]]
    assert set(study.to_pandas("convergence")["layer"]) == set(range(8))
    page = study.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page
    assert page.lower().startswith("<!doctype html>")
    assert study.text.splitlines()[0] in repr(study)
    assert "<pre>" in study._repr_html_()
    axes = study.plot()
    assert len(axes.lines) == 8
    with pytest.raises(tw.NotFound, match="expected one of"):
        study.to_pandas("layer")


def test_compare_is_the_programs_compare():
    study = tw.compare("zoo:alexnet", "zoo:eyeriss", ["genetic", "random"], layer="conv3", samples=40, seeds=2)
    said = json.loads(
        program(
            "compare",
            "--network",
            "zoo:alexnet",
            "--hardware",
            "zoo:eyeriss",
            "--searches",
            "genetic,random",
            "--layer",
            "conv3",
            "--samples",
            40,
            "--seeds",
            2,
            "--json",
        )
    )
    assert without_time(said) == without_time(study.data)
    assert [one["standings"] for one in said["contenders"]] == [one["standings"] for one in study["contenders"]]
    assert len(study.plot().lines) == 2
    leveled = tw.compare(NETWORK, tw.zoo.machine("eyeriss-dram"), ["random"], layer="conv3", samples=20, seeds=1)
    assert leveled["model"] == "hierarchy"


def test_codesign_is_the_programs_codesign(tmp_path):
    study = tw.codesign("zoo:alexnet", layer="conv5", measurements=16, output=tmp_path / "run")
    said = json.loads(program("codesign", "zoo:alexnet", "--layer", "conv5", "--measurements", 16, "--json"))
    assert without_time(said) == without_time(study.data)
    assert isinstance(study.machine, tw.VtaMachine)
    assert len(study.plot().lines) == 1
    assert tw.open_run(tmp_path / "run").result["totals"] == study["totals"]
    one_layer = tw.Network("one", [NETWORK["conv5"]])
    assert tw.codesign(one_layer, measurements=16)["totals"]["cycles"] > 0


def test_train_is_the_programs_train(tmp_path):
    study = tw.train("toy:climbing", algorithm="mappo", episodes=200, learning_rate=1e-3)
    said = json.loads(
        program("train", "toy:climbing", "--algorithm", "mappo", "--episodes", 200, "--learning-rate", 1e-3, "--json")
    )
    assert said["curve"] == study["curve"]
    assert len(study.to_pandas()) == len(study["curve"])
    assert len(study.plot().lines) == 1
    first = tw.train("toy:climbing", algorithm="mappo", episodes=100, output=tmp_path / "run")
    more = tw.train(episodes=200, resume=True, output=tmp_path / "run")
    assert (first["episodes"], more["episodes"], more["continued_from"]) == (100, 200, 100)


def test_compile_is_the_programs_compile(tmp_path):
    study = tw.compile("zoo:alexnet", layer="conv5", output=tmp_path / "run")
    said = json.loads(program("compile", "zoo:alexnet", "--layer", "conv5", "--json"))
    assert without_time(said) == without_time(study.data)
    assert study["verification"]["equal"]
    assert list(study.to_pandas()["name"]) == [step["name"] for step in study["steps"]]
    with pytest.raises(tw.InvalidInput, match="has no report"):
        study.report()
    with pytest.raises(tw.InvalidInput, match="nothing to plot"):
        study.plot()


def test_progress_is_told_on_the_calling_thread():
    told = []
    tw.map(
        "zoo:resnet18",
        "zoo:eyeriss",
        samples=4000,
        search="random",
        progress=lambda state: told.append((state, threading.get_ident())),
    )
    assert told
    assert {thread for _, thread in told} == {threading.get_ident()}
    state = told[-1][0]
    assert 0 < state.done <= state.total == 48_000
    assert state.unit == "samples"


def test_an_exception_of_progress_ends_the_study():
    def fail(state):
        raise ZeroDivisionError("enough")

    start = time.perf_counter()
    with pytest.raises(ZeroDivisionError, match="enough"):
        tw.map("zoo:resnet18", "zoo:eyeriss", samples=10_000_000, search="random", progress=fail)
    assert time.perf_counter() - start < 60


def test_ctrl_c_stops_and_keeps_what_is_known(tmp_path):
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    study = tw.map("zoo:resnet18", "zoo:eyeriss", samples=50_000_000, search="random", output=tmp_path / "run")
    assert study.interrupted
    assert study["interrupted"] is True
    assert len(study.mappings) == 12
    assert "interrupted" in repr(study)
    assert tw.open_run(tmp_path / "run").result["interrupted"] is True


def test_ctrl_c_before_there_is_anything_is_keyboard_interrupt():
    timer = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        tw.compile("zoo:resnet50")
    timer.join()


def test_an_interpreter_that_ends_stops_what_is_under_way():
    script = """
        import threading, time
        import tilewright as tw
        def search():
            tw.map("zoo:resnet18", "zoo:eyeriss", samples=100_000_000, search="random")
        for _ in range(2):
            threading.Thread(target=search, daemon=True).start()
        time.sleep(1)
        print("end")
    """
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
    assert time.perf_counter() - start < 60


def test_two_studies_at_once_are_two_studies():
    found = [None, None]

    def search(place):
        found[place] = tw.map(NETWORK, ARRAY, layer="conv3", samples=300, threads=1)["layers"]

    threads = [threading.Thread(target=search, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == tw.map(NETWORK, ARRAY, layer="conv3", samples=300)["layers"]


def test_options_are_those_of_the_tables():
    from tilewright import _core

    tables = _core.option_tables()
    assert {"MapOptions", "CompareOptions", "CodesignOptions", "TrainOptions", "CompileOptions", "SpaceOptions"} == set(tables)
    for fields in tables.values():
        for field in fields:
            assert field["meaning"]
            assert field["name"].isidentifier()
    with pytest.raises(TypeError, match="did you mean 'samples'"):
        tw.map(NETWORK, ARRAY, sample=3)
    with pytest.raises(tw.InvalidInput, match="--samples is 0"):
        tw.map(NETWORK, ARRAY, samples=0)
    assert (
        tw.map(NETWORK, ARRAY, layer="conv3", samples=10, settings={"random.batch": 5}, search="random")["settings"]["batch"]
        == "5"
    )
