"""Networks and machines: read, built, changed, compared, written and shown."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path

import pytest

import tilewright as tw

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "app"))
from onnx_model import model, node


@pytest.mark.parametrize("name", tw.zoo.networks())
def test_every_network_of_the_zoo_is_written_and_read_back_equal(name):
    network = tw.zoo.network(name)
    assert tw.network_from_yaml(network.to_yaml()) == network
    assert network.macs == sum(entry.count * entry.layer.macs for entry in network.layers)
    assert [layer.name for layer in network] == [entry.layer.name for entry in network.layers]


@pytest.mark.parametrize("name", tw.zoo.accelerators() + tw.zoo.leveled_machines() + ["vta"])
def test_every_machine_of_the_zoo_is_written_and_read_back_equal(name, tmp_path):
    machine = tw.zoo.machine(name)
    file = tmp_path / ("machine.json" if isinstance(machine, tw.VtaMachine) else "machine.yaml")
    machine.save(file)
    assert tw.read_machine(file) == machine
    assert pickle.loads(pickle.dumps(machine)) == machine
    assert copy.copy(machine) == machine
    assert hash(tw.read_machine(file)) == hash(machine)


def test_a_layer_is_what_can_be_computed_by_hand():
    layer = tw.Layer(
        name="a",
        out_channels=64,
        in_channels=3,
        in_height=224,
        in_width=224,
        kernel_height=7,
        kernel_width=7,
        stride_height=2,
        stride_width=2,
        pad_top=3,
        pad_bottom=3,
        pad_left=3,
        pad_right=3,
    )
    assert (layer.out_height, layer.out_width) == (112, 112)
    assert layer.macs == 64 * 3 * 7 * 7 * 112 * 112
    assert layer.shape == "3x224x224 -> 64x112x112, 7x7/2"
    assert layer.replace(name="conv1") == tw.zoo.network("resnet18")["conv1"]
    assert layer != layer.replace(out_channels=65)
    assert len({layer, layer.replace(out_channels=64)}) == 1


def test_a_network_is_built_of_layers():
    first = tw.Layer(name="first", out_channels=8, in_channels=3, in_height=8, in_width=8)
    second = first.replace(name="second", in_channels=8)
    network = tw.Network("two", [first, tw.NetworkLayer(second, count=3, inputs=[0])])
    assert network.macs == first.macs + 3 * second.macs
    assert network["second"] == network[1] == network[-1] == second
    assert network.replace(name="other").name == "other"
    assert network.replace(layers=network.layers) == network
    assert len(network) == 2
    assert tw.network_from_yaml(network.to_yaml()) == network


def test_a_machine_is_changed_by_its_fields():
    machine = tw.zoo.machine("eyeriss")
    half = machine.replace(pes=84, clusters=[])
    assert (machine.pes, half.pes, half.clusters) == (168, 84, [])
    assert half.to_dict() == {**machine.to_dict(), "pes": 84, "clusters": []}
    assert eval(repr(half), {"Accelerator": tw.Accelerator}) == half


def test_a_machine_with_levels_is_changed_by_its_levels():
    machine = tw.zoo.machine("eyeriss-dram")
    narrow = machine.replace(levels=[level.replace(word_bits=8) for level in machine.levels])
    assert {level.word_bits for level in narrow.levels} == {8}
    assert narrow != machine
    assert tw.leveled_machine(tw.zoo.machine("eyeriss")).mac.instances == 168


@pytest.mark.parametrize("name", ["resnet18", "alexnet"])
def test_notebooks_get_tables(name):
    network = tw.zoo.network(name)
    assert network._repr_html_().count("<tr>") == len(network) + 1
    assert "<script" not in tw.Network("<script>", list(network))._repr_html_()
    for machine in ("eyeriss", "eyeriss-dram", "vta"):
        assert tw.zoo.machine(machine)._repr_html_().startswith("<table>")


def test_a_model_in_memory_is_the_model_of_its_file(root):
    file = root / "docs" / "examples" / "model.onnx"
    assert tw.network_from_onnx(file.read_bytes()).layers == tw.read_network(file).layers


def test_open_dimensions_of_a_model_are_given_by_name(tmp_path):
    file = tmp_path / "net.onnx"
    file.write_bytes(model([node("MatMul", ["x", "w"], ["y"], name="fc")], inputs={"x": ["seq", 16]}, weights={"w": [16, 8]}))
    assert tw.read_network(file, dims={"seq": 128}).macs == 128 * 16 * 8
    with pytest.raises(tw.InvalidInput, match="seq"):
        tw.read_network(file, dims={"sequence": 128})
