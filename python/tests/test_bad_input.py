"""What is wrong is an exception with one sentence, or a clean end; never a crash."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tilewright as tw

LAYER = tw.zoo.network("alexnet")["conv3"]
ARRAY = tw.zoo.machine("eyeriss")
LEVELED = tw.zoo.machine("eyeriss-dram")
SPACE = tw.space(LAYER, ARRAY)
POINTS = SPACE.random(4)
MAPPING = tw.dataflow("nvdla", LAYER, ARRAY)
LEVELED_MAPPING = tw.dataflow("weight-stationary", LAYER, LEVELED)


def told(searcher, change):
    points = searcher.ask(4)
    searcher.tell(*change(points, SPACE.evaluate_batch(points)))


CASES = {
    "points of floats": (TypeError, "float64", lambda: SPACE.evaluate_batch(POINTS.astype(float))),
    "points of too few columns": (tw.InvalidInput, "expected rows of", lambda: SPACE.evaluate_batch(POINTS[:, 1:])),
    "points of three dimensions": (tw.InvalidInput, "shape", lambda: SPACE.evaluate_batch(POINTS[None])),
    "a number for points": (TypeError, "NumPy array", lambda: SPACE.evaluate_batch(3)),
    "a list for points": (TypeError, "NumPy array", lambda: SPACE.evaluate_batch(POINTS.tolist())),
    "points that are objects": (TypeError, "NumPy array|object", lambda: SPACE.evaluate_batch(POINTS.astype(object))),
    "points of unsigned numbers": (TypeError, "uint32", lambda: SPACE.evaluate_batch(POINTS.astype(np.uint32))),
    "points of the other byte order": ((TypeError, tw.InvalidInput), "", lambda: SPACE.evaluate_batch(POINTS.astype(">i4"))),
    "a point below 0": (tw.InvalidInput, "row 0", lambda: SPACE.evaluate_batch(-1 - POINTS)),
    "a point above all": (tw.InvalidInput, "row 0", lambda: SPACE.evaluate_batch(POINTS + 10_000)),
    "a point beyond 32 bits": (
        tw.InvalidInput,
        "expected an index",
        lambda: SPACE.evaluate_batch(POINTS.astype(np.int64) + 2**40),
    ),
    "a stale point, of another layer's space": (
        (tw.InvalidInput),
        "",
        lambda: tw.space(tw.zoo.network("alexnet")["fc8"], ARRAY).evaluate_batch(POINTS),
    ),
    "threads below 0": (tw.InvalidInput, "threads is -1", lambda: SPACE.evaluate_batch(POINTS, threads=-1)),
    "a million threads": (tw.InvalidInput, "threads is 1000000", lambda: SPACE.evaluate_batch(POINTS, threads=1_000_000)),
    "choices of a parameter that is not there": (IndexError, "parameter 99", lambda: SPACE.choices(POINTS[0], 99)),
    "choices after an illegal entry": (tw.InvalidInput, "not legal", lambda: SPACE.choices(POINTS[0] + 1000, 5)),
    "random points below 0": (tw.InvalidInput, "count is -1", lambda: SPACE.random(-1)),
    "the mapping of an illegal point": (tw.InvalidInput, "expected one of", lambda: SPACE.mapping(POINTS[0] + 1000)),
    "a mapping for another kind of machine": (TypeError, "an Accelerator", lambda: tw.evaluate(MAPPING, LAYER, LEVELED)),
    "levels for an array": (TypeError, "a LeveledMachine", lambda: tw.evaluate(LEVELED_MAPPING, LAYER, ARRAY)),
    "a mapping of levels for another layer": (
        tw.InvalidInput,
        "another shape",
        lambda: tw.evaluate(LEVELED_MAPPING, tw.zoo.network("alexnet")["conv1"], LEVELED),
    ),
    "a mapping of a dimension that no file may name": (
        tw.InvalidInput,
        "expected one of",
        lambda: tw.Mapping([{"loops": [{"spatial": "Q", "size": 1}]}]),
    ),
    "a mapping of 40 loops": (
        tw.InvalidInput,
        "expected at most",
        lambda: tw.Mapping([{"loops": [{"temporal": "K", "size": 1}] * 40}]),
    ),
    "a mapping of no level": (tw.InvalidInput, "expected 1 to 4", lambda: tw.Mapping([])),
    "a mapping of what JSON has not": (tw.InvalidInput, "", lambda: tw.Mapping([{"loops": {1, 2}}])),
    "a tile of size 0": (tw.InvalidInput, "size is 0", lambda: tw.Mapping([{"loops": [{"spatial": "K", "size": 0}]}])),
    "a layer of a negative size": (tw.InvalidInput, "is -3, expected at least 1", lambda: LAYER.replace(in_channels=-3)),
    "a layer beyond 63 bits": (tw.InvalidInput, "", lambda: LAYER.replace(in_channels=2**62, out_channels=2**62)),
    "a machine of nan GHz": (tw.InvalidInput, "nan", lambda: ARRAY.replace(clock_ghz=float("nan"))),
    "a machine of infinite GHz": (tw.InvalidInput, "clock", lambda: ARRAY.replace(clock_ghz=float("inf"))),
    "a machine of half a processing element": (TypeError, "a whole number", lambda: ARRAY.replace(pes=0.5)),
    "a machine of True processing elements": (TypeError, "a whole number", lambda: ARRAY.replace(pes=True)),
    "a machine without levels": (tw.InvalidInput, "", lambda: LEVELED.replace(levels=[])),
    "a level that is a word": (TypeError, "a StorageLevel", lambda: LEVELED.replace(levels=["dram"])),
    "a network of words": (TypeError, "a Layer or a NetworkLayer", lambda: tw.Network("net", ["conv"])),
    "a network that feeds itself": (tw.InvalidInput, "", lambda: tw.Network("net", [tw.NetworkLayer(LAYER, inputs=[5])])),
    "a layer minus one times": (tw.InvalidInput, "", lambda: tw.Network("net", [tw.NetworkLayer(LAYER, count=-1)])),
    "a file that is not there": (tw.NotFound, "no such file", lambda: tw.read_network("nowhere.onnx")),
    "a model of random bytes": (tw.InvalidInput, "", lambda: tw.network_from_onnx(bytes(range(256)) * 4)),
    "a path that is a number": (TypeError, "a str or a path", lambda: tw.read_network(3)),
    "dims that are a list": (TypeError, "open dimensions", lambda: tw.read_network("zoo:alexnet", dims=["seq"])),
    "a batch of 0": (tw.InvalidInput, "batch is 0", lambda: tw.read_network("zoo:alexnet", batch=0)),
    "an objective that is none": (
        tw.InvalidInput,
        "did you mean 'latency'",
        lambda: tw.space(LAYER, ARRAY, objective="latencyy"),
    ),
    "a limit of nan": (tw.InvalidInput, "nan", lambda: tw.space(LAYER, ARRAY, max_latency=float("nan"))),
    "samples that are text": (TypeError, "a whole number", lambda: tw.map("zoo:alexnet", "zoo:eyeriss", samples="many")),
    "samples beyond all": (tw.InvalidInput, "samples", lambda: tw.map("zoo:alexnet", "zoo:eyeriss", samples=10**15)),
    "a searcher that is none": (tw.NotFound, "did you mean", lambda: tw.map("zoo:alexnet", "zoo:eyeriss", search="gamm")),
    "a progress that is no function": (TypeError, "a function", lambda: tw.map("zoo:alexnet", "zoo:eyeriss", progress=3)),
    "a run directory for objects": (tw.InvalidInput, "save", lambda: tw.map(tw.zoo.network("alexnet"), ARRAY, output="run")),
    "a run directory inside a file": (tw.Error, "", lambda: tw.map("zoo:alexnet", "zoo:eyeriss", samples=1, output=__file__)),
    "ask for nothing": (tw.InvalidInput, "n is 0", lambda: tw.Searcher("random", SPACE).ask(0)),
    "a seed below 0": (tw.InvalidInput, "seed is -1", lambda: tw.Searcher("random", SPACE, seed=-1)),
    "tell of other points": (
        tw.InvalidInput,
        "last ask",
        lambda: told(tw.Searcher("random", SPACE), lambda p, v: (SPACE.random(4, 9), v)),
    ),
    "tell of too few": (tw.InvalidInput, "", lambda: told(tw.Searcher("random", SPACE), lambda p, v: (p[:1], v[:1]))),
    "tell of too many": (
        tw.InvalidInput,
        "more points",
        lambda: told(tw.Searcher("random", SPACE), lambda p, v: (np.concatenate([p, p]), np.concatenate([v, v]))),
    ),
    "tell of verdicts that are numbers": (
        TypeError,
        "tilewright.OUTCOME",
        lambda: told(tw.Searcher("random", SPACE), lambda p, v: (p, v["objective"])),
    ),
    "tell of another number of verdicts": (
        tw.InvalidInput,
        "verdicts on",
        lambda: told(tw.Searcher("random", SPACE), lambda p, v: (p, v[1:])),
    ),
    "a searcher of no space": (tw.InvalidInput, "no space", lambda: tw.Searcher("random", [])),
    "a searcher of spaces with two objectives": (
        tw.InvalidInput,
        "different objectives",
        lambda: tw.Searcher("random", [SPACE, tw.space(LAYER, ARRAY, objective="latency")]),
    ),
    "a run that is none": (tw.Error, "", lambda: tw.open_run("nowhere")),
    "an object without its constructor": ((TypeError, RuntimeError), "", lambda: tw.Network.__new__(tw.Network).name),
    "a pickle of another version": (
        tw.InvalidInput,
        "",
        lambda: tw.Mapping.__new__(tw.Mapping).__setstate__("format: tilewright-mapping-99\nlevels: []\n"),
    ),
    "a pickle of other fields": (TypeError, "no field", lambda: tw.Layer.__new__(tw.Layer).__setstate__({"colour": 3})),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_an_exception_with_one_sentence(case):
    exception, words, act = CASES[case]
    with pytest.raises(exception, match=words) as raised:
        act()
    assert str(raised.value)
    assert "\n" not in str(raised.value) or isinstance(raised.value, (TypeError, RuntimeError))


def test_a_verdict_of_nan_is_refused():
    searcher = tw.Searcher("genetic", SPACE)
    points = searcher.ask(4)
    verdicts = np.zeros(len(points), tw.VERDICT)
    verdicts["feasible"] = True
    verdicts["score"] = np.nan
    with pytest.raises(tw.InvalidInput, match="nan"):
        searcher.tell(points, verdicts)


def test_what_failed_changed_nothing():
    searcher = tw.Searcher("random", SPACE, seed=2)
    points = searcher.ask(4)
    with pytest.raises(tw.InvalidInput):
        searcher.ask(4)
    with pytest.raises(tw.InvalidInput):
        searcher.tell(points[:1], SPACE.evaluate_batch(points[:1]))
    searcher.tell(points, SPACE.evaluate_batch(points))
    assert len(searcher.ask(4)) == 4


def test_a_run_of_another_version_is_refused(tmp_path):
    tw.map("zoo:alexnet", "zoo:eyeriss", layer="conv3", samples=5, search="random", output=tmp_path / "run")
    record = tmp_path / "run" / "run.json"
    record.write_text(record.read_text().replace('"samples": 5', '"sampels": 5'))
    with pytest.raises(tw.Error):
        list(tw.open_run(tmp_path / "run").points())
    store = tmp_path / "run" / "store.sqlite"
    store.write_bytes(b"no store" * 100)
    with pytest.raises(tw.Error):
        list(tw.open_run(tmp_path / "run").points())


def test_a_killed_worker_leaves_a_run_that_goes_on(tmp_path):
    """The process is gone in the middle of a search; the same call goes on and ends with the same bytes."""
    options = f'"zoo:alexnet", "zoo:eyeriss", layer="conv3", search="genetic", samples=3000, output={str(tmp_path / "killed")!r}'
    script = f"""
        import os, threading
        import tilewright as tw
        tw.map({options}, progress=lambda state: os.kill(os.getpid(), 9))
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, timeout=120)
    assert killed.returncode == -9
    options = {"layer": "conv3", "search": "genetic", "samples": 3000}
    again = tw.map("zoo:alexnet", "zoo:eyeriss", output=tmp_path / "killed", **options)
    whole = tw.map("zoo:alexnet", "zoo:eyeriss", output=tmp_path / "whole", **options)
    assert again.data == whole.data
    assert (tmp_path / "killed" / "result.json").read_bytes() == (tmp_path / "whole" / "result.json").read_bytes()


def test_a_forked_process_evaluates():
    script = """
        import multiprocessing
        import tilewright as tw
        space = tw.space(tw.zoo.network("alexnet")["conv3"], tw.zoo.machine("eyeriss"))
        def work(seed):
            return space.evaluate_batch(space.random(500, seed))["feasible"].sum()
        if __name__ == "__main__":
            alone = [work(seed) for seed in range(4)]
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(work, range(4)) == alone
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=120)


def test_copies_are_equal():
    for value in (LAYER, ARRAY, LEVELED, MAPPING, tw.zoo.network("alexnet"), tw.VtaMachine()):
        assert copy.deepcopy(value) == value == pickle.loads(pickle.dumps(value))
