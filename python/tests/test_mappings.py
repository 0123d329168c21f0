"""Mappings of both kinds, and what one of them costs."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest

import tilewright as tw

NETWORK = tw.zoo.network("resnet18")
LAYER = NETWORK["conv2_1"]
ARRAY = tw.zoo.machine("eyeriss")
LEVELED = tw.zoo.machine("eyeriss-dram")


def program(*arguments):
    done = subprocess.run([sys.executable, "-m", "tilewright", *map(str, arguments)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["nvdla", "eyeriss", "shidiannao"])
def test_a_dataflow_is_written_and_read_back(name, tmp_path):
    mapping = tw.dataflow(name, LAYER, ARRAY)
    assert tw.Mapping(mapping.levels) == mapping == tw.Mapping.from_yaml(mapping.to_yaml())
    assert pickle.loads(pickle.dumps(mapping)) == mapping
    mapping.save(tmp_path / "mapping.yaml")
    assert tw.read_mapping(tmp_path / "mapping.yaml", LAYER, ARRAY) == mapping
    assert eval(repr(mapping), {"Mapping": tw.Mapping}) == mapping
    assert mapping.loop_nest(LAYER, ARRAY.pes)
    assert "TemporalMap" in mapping.to_maestro()


def test_a_mapping_of_levels_is_written_and_read_back(tmp_path):
    mapping = tw.dataflow("row-stationary", LAYER, LEVELED)
    assert tw.LeveledMapping(mapping.levels, LAYER, LEVELED) == mapping
    assert tw.LeveledMapping.from_yaml(mapping.to_yaml(), LAYER, LEVELED) == mapping
    for text in (mapping.to_yaml(), mapping.to_timeloop()):
        (tmp_path / "mapping.yaml").write_text(text)
        assert tw.read_mapping(tmp_path / "mapping.yaml", LAYER, LEVELED) == mapping
    assert hash(mapping) == hash(tw.LeveledMapping(mapping.levels, LAYER, LEVELED))


def test_a_mapping_is_changed_by_its_levels():
    mapping = tw.dataflow("nvdla", LAYER, ARRAY)
    levels = mapping.levels
    levels[0]["loops"].reverse()
    changed = tw.Mapping(levels)
    assert changed != mapping
    levels[0]["loops"].reverse()
    assert tw.Mapping(levels) == mapping


def test_a_cost_is_what_the_program_says(tmp_path):
    for machine, name in ((ARRAY, "nvdla"), (LEVELED, "weight-stationary")):
        mapping = tw.dataflow(name, LAYER, machine, "lexicographic:latency,energy")
        mapping.save(tmp_path / "mapping.yaml")
        machine.save(tmp_path / "machine.yaml")
        said = program(
            "evaluate",
            "--network",
            "zoo:resnet18",
            "--layer",
            LAYER.name,
            "--hardware",
            tmp_path / "machine.yaml",
            "--mapping",
            tmp_path / "mapping.yaml",
            "--json",
        )["layers"][0]
        cost = tw.evaluate(mapping, LAYER, machine)
        if machine is ARRAY:
            assert cost.to_dict() == said["cost"]
            assert (cost.cycles, cost.l1_bytes) == (said["cost"]["runtime"], said["cost"]["l1_size"])
            assert cost.edp == said["cost"]["edp_nj_cycles"] == cost.energy_nj * cost.cycles
        else:
            found = cost.to_dict()
            assert {key: said["cost"][key] for key in found} == found
        assert f"{cost.cycles:,}" in repr(cost)
        assert cost._repr_html_().startswith("<table>")


def test_the_models_are_those_of_the_program():
    mapping = tw.dataflow("nvdla", LAYER, ARRAY)
    costs = {model: tw.evaluate(mapping, LAYER, ARRAY, model=model) for model in ("sound", "exact", "maestro")}
    assert costs["sound"].macs == costs["exact"].macs == LAYER.macs
    leveled = tw.dataflow("weight-stationary", LAYER, LEVELED)
    assert tw.evaluate(leveled, LAYER, LEVELED, model="timeloop").cycles > 0


def test_infeasible_has_reason_need_and_limit():
    mapping = tw.dataflow("nvdla", LAYER, ARRAY)
    with pytest.raises(tw.Infeasible, match="bytes of L1") as raised:
        tw.evaluate(mapping, LAYER, ARRAY.replace(l1_bytes=2))
    assert (raised.value.reason, raised.value.limit) == ("l1-overflow", 2)
    assert raised.value.need == tw.evaluate(mapping, LAYER, ARRAY).l1_bytes
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.need) == (str(raised.value), raised.value.need)
    outermost = tw.LeveledMapping([{"level": "psums", "time": ["K64", "C64", "P56", "Q56", "R3", "S3"]}], LAYER, LEVELED)
    with pytest.raises(tw.Infeasible) as raised:
        tw.evaluate(outermost, LAYER, LEVELED)
    assert (raised.value.reason, raised.value.level) == ("capacity", "psums")
    assert raised.value.need > raised.value.limit


def test_a_mapping_of_levels_belongs_to_its_layer_and_machine():
    mapping = tw.dataflow("weight-stationary", LAYER, LEVELED)
    same = LAYER.replace(name="another name")
    assert tw.evaluate(mapping, same, LEVELED).cycles == tw.evaluate(mapping, LAYER, LEVELED).cycles
    with pytest.raises(tw.InvalidInput, match="another shape"):
        tw.evaluate(mapping, NETWORK["conv1"], LEVELED)
    with pytest.raises(tw.InvalidInput, match="another machine"):
        tw.evaluate(mapping, LAYER, LEVELED.replace(clock_ghz=1.0))
