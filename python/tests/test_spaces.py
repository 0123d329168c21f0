"""Design spaces: legal points, and what they are worth."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tilewright as tw

LAYER = tw.zoo.network("resnet18")["conv2_1"]
MACHINES = {name: tw.zoo.machine(name) for name in ("eyeriss", "eyeriss-dram")}


@pytest.fixture(params=[*MACHINES, "vta"])
def space(request):
    if request.param == "vta":
        return tw.codesign_spaces(LAYER)[0]
    return tw.space(LAYER, MACHINES[request.param])


def test_random_points_are_legal_and_a_function_of_the_seed(space):
    points = space.random(200, seed=3)
    assert points.shape == (200, len(space.parameters))
    assert points.dtype == np.int32
    assert space.is_legal(points).all()
    assert (space.random(200, seed=3) == points).all()
    assert (space.random(200, seed=4) != points).any()
    assert (space.repair(points) == points).all()


def test_choices_are_what_makes_a_point_legal(space):
    for point in space.random(5, seed=1):
        for parameter in range(len(space)):
            legal = space.choices(point, parameter)
            assert point[parameter] in legal
            for index in range(-1, space.parameters[parameter].value_count + 1):
                other = point.copy()
                other[parameter] = index
                if index not in legal:
                    assert not space.is_legal(other)
                    assert space.is_legal(space.repair(other))


def test_a_batch_is_the_same_on_any_number_of_threads(space):
    points = space.random(500, seed=2)
    one, all_of_them = space.evaluate_batch(points, threads=1), tw.evaluate_batch(space, points)
    assert one.dtype == tw.OUTCOME
    assert one.tobytes() == all_of_them.tobytes()
    assert one[::-1].tobytes() == space.evaluate_batch(points[::-1]).tobytes()
    feasible = one["feasible"]
    assert feasible.any()
    assert np.isfinite(one["objective"][feasible]).all()
    assert np.isinf(one["objective"][~feasible]).all()
    for row in one[~feasible]:
        assert space.reason_name(int(row["reason"]))


@pytest.mark.parametrize("name", MACHINES)
def test_a_row_is_the_cost_of_the_points_mapping(name):
    space = tw.space(LAYER, MACHINES[name], objective="latency")
    points = np.concatenate([space.known, space.random(50)])
    for point, row in zip(points, space.evaluate_batch(points), strict=True):
        mapping = space.mapping(point)
        if not row["feasible"]:
            with pytest.raises(tw.Infeasible) as raised:
                tw.evaluate(mapping, LAYER, MACHINES[name])
            assert space.reason_name(int(row["reason"])).startswith(raised.value.reason)
            continue
        cost = tw.evaluate(mapping, LAYER, MACHINES[name])
        assert (row["latency_cycles"], row["objective"]) == (cost.cycles, cost.cycles)
        assert row["energy_nj"] == pytest.approx(cost.energy_nj, rel=1e-12)
        back = space.point_of(mapping)
        assert back is not None
        assert space.mapping(back) == mapping


def test_known_points_are_the_classic_dataflows():
    space = tw.space(LAYER, MACHINES["eyeriss"])
    assert len(space.known) > 3
    assert len(tw.space(LAYER, MACHINES["eyeriss"], no_classics=True).known) == 0
    assert space.evaluate_batch(space.known)["feasible"].all()


def test_limits_of_the_objective_make_points_infeasible():
    plain = tw.space(LAYER, MACHINES["eyeriss"], levels=2)
    points = plain.random(300)
    latencies = plain.evaluate_batch(points)["latency_cycles"]
    limited = tw.space(LAYER, MACHINES["eyeriss"], levels=2, max_latency=float(np.nanmedian(latencies)))
    rows = limited.evaluate_batch(points)
    over = rows["feasible"] != plain.evaluate_batch(points)["feasible"]
    assert over.any()
    assert {limited.reason_name(int(reason)) for reason in rows["reason"][over]} == {"over-limit"}
    assert (rows["latency_cycles"][over] > np.nanmedian(latencies)).all()


def test_spaces_of_a_network_are_those_of_its_distinct_layers():
    network = tw.zoo.network("resnet18")
    spaces = tw.spaces(network, MACHINES["eyeriss"], levels=2)
    assert len(spaces) == 12
    assert spaces[0].name == "resnet18/conv1"


def test_whole_numbers_of_64_bits_are_taken_where_they_fit():
    space = tw.space(LAYER, MACHINES["eyeriss"])
    points = space.random(10)
    rows = space.evaluate_batch(points.astype(np.int64))
    assert rows.tobytes() == space.evaluate_batch(np.asfortranarray(points)).tobytes() == space.evaluate_batch(points).tobytes()


def test_what_python_gets_is_its_own():
    space = tw.space(LAYER, MACHINES["eyeriss"])
    known = space.known
    known[:] = 0
    assert (space.known != 0).any()
    points = space.random(3)
    copy = points.copy()
    del space
    assert (points == copy).all()


def test_a_batch_is_judged_at_a_rate():
    space = tw.space(LAYER, MACHINES["eyeriss"])
    points = space.random(20_000)
    start = time.perf_counter()
    space.evaluate_batch(points)
    assert len(points) / (time.perf_counter() - start) > 20_000  # script/bench python measures; this only notices disasters
