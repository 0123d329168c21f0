"""Several Python threads at once: values and spaces may be shared, searchers and streams refuse a second thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tilewright as tw

LAYER = tw.zoo.network("alexnet")["conv3"]
MACHINES = [tw.zoo.machine("eyeriss"), tw.zoo.machine("eyeriss-dram")]


@pytest.mark.parametrize("machine", MACHINES)
def test_one_space_on_many_threads_is_one_space(machine):
    space = tw.space(LAYER, machine)
    batches = [space.random(300, seed) for seed in range(12)]
    alone = [space.evaluate_batch(points, threads=1).tobytes() for points in batches]
    with ThreadPoolExecutor(6) as pool:
        for threads in (1, 2):
            together = list(
                pool.map(lambda points, threads=threads: space.evaluate_batch(points, threads).tobytes(), batches * 3)
            )
            assert together == alone * 3


def test_values_are_shared():
    network, machine = tw.zoo.network("resnet18"), MACHINES[0]
    mappings = {layer: tw.dataflow("nvdla", layer, machine) for layer in network}

    def work(layer):
        cost = tw.evaluate(mappings[layer], layer, machine)
        return cost.cycles, cost.energy_nj, hash(layer), repr(machine)

    alone = [work(layer) for layer in network]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, list(network) * 5)) == alone * 5


def test_a_searcher_is_used_by_one_thread_at_a_time():
    space = tw.space(LAYER, MACHINES[0], levels=2)
    searcher = tw.Searcher("chameleon", space, samples=1000)
    points = searcher.ask(64)
    outcomes = space.evaluate_batch(points)
    refused, done = [], threading.Event()

    def disturb():
        while not done.is_set():
            try:
                searcher.ask(1)
                return  # it was our turn after all
            except tw.InvalidInput as failure:
                refused.append(str(failure))

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        searcher.tell(points, outcomes)
        searcher.ask(64)
    except tw.InvalidInput as failure:
        refused.append(str(failure))
    done.set()
    thread.join()
    assert refused
    assert all("another thread" in sentence or "were not told" in sentence for sentence in refused)


def test_the_lock_of_the_interpreter_is_released():
    space = tw.space(LAYER, MACHINES[1])
    points = space.random(20_000)
    counted, done = 0, threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    space.evaluate_batch(points, threads=1)
    during = counted - before
    done.set()
    thread.join()
    assert during > 1000


def test_arrays_outlive_what_made_them():
    space = tw.space(LAYER, MACHINES[0])
    points, outcomes = space.known, space.evaluate_batch(space.known)
    copies = points.copy(), outcomes.copy()
    held = points[1:], outcomes["objective"]
    del space, points, outcomes
    assert np.array_equal(held[0], copies[0][1:])
    assert np.array_equal(held[1], copies[1]["objective"])
