"""ONNX models as people export them: what every verb that reads one says and refuses.

onnx_test.py PROGRAM
"""

import csv
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from onnx_model import INT64, model, node, tensor

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
QUICK = ["--hardware", "zoo:eyeriss", "--samples", "20", "--search", "random"]


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=cwd)


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write(self, content, name="net.onnx"):
        (self.path / name).write_bytes(content)
        return self.path / name

    def refused(self, sentence, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(sentence, result.stderr)


def two_lstms(steps=20):
    return model([node("LSTM", ["x", "w1", "r1"], ["y1", "h1"], name="first", hidden_size=32),
                  node("Squeeze", ["y1", "axes"], ["s1"]),
                  node("LSTM", ["s1", "w2", "r2"], ["y2", "h2"], name="second", hidden_size=32),
                  node("MatMul", ["h2", "fc"], ["p"], name="fc"), node("Softmax", ["p"], ["y"])],
                 inputs={"x": [steps, 1, 16]},
                 weights={"w1": [1, 128, 16], "r1": [1, 128, 32], "w2": [1, 128, 32], "r2": [1, 128, 32], "fc": [32, 10]},
                 tensors=[tensor("axes", [1], [1], INT64)])


LSTM_MACS = 20 * 128 * (16 + 32) + 20 * 128 * (32 + 32) + 32 * 10


class Coverage(Models):
    def test_two_lstms_are_mapped_and_nothing_is_silent(self):
        source = self.write(two_lstms())
        out = self.path / "run"
        result = run("map", source, *QUICK, "-o", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Covers all 287 k multiply-accumulates; not mapped, because they have none: 1 Softmax, 1 Squeeze",
                      result.stdout)
        found = json.loads((out / "result.json").read_text())
        self.assertEqual((found["coverage"]["share"], found["coverage"]["complete"], found["coverage"]["macs"]), (1, True, LSTM_MACS))
        self.assertEqual([entry["op"] for entry in found["coverage"]["left_out"]], ["Squeeze", "Softmax"])
        self.assertEqual(found["totals"]["macs"], LSTM_MACS)
        page = (out / "report.html").read_text()
        self.assertIn("Covers all 287 k", page)
        self.assertIn("Left out", page)
        for verb in (["evaluate", "--network", source, "--hardware", "zoo:eyeriss", "--dataflow", "nvdla", "--json"],
                     ["agents", source, "--hardware", "zoo:eyeriss", "--samples", "200", "--no-stability", "--json"],
                     ["compare", "--network", source, "--hardware", "zoo:eyeriss", "--searches", "random", "--samples", "20",
                      "--seeds", "2", "--json"]):
            result = run(*verb)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["coverage"], found["coverage"], verb)
            words = [word for word in verb if word != "--json"]
            self.assertIn("Covers all 287 k", run(*words).stdout, verb)

    def test_what_is_left_out_is_named_with_its_work(self):
        source = self.write(model([node("MatMul", ["x", "w"], ["p"], name="fc"),
                                   node("DeformConv", ["image", "v", "offsets"], ["d"]),
                                   node("Magic", ["p"], ["m"], domain="some.where")],
                                  inputs={"x": [1, 10], "image": [1, 3, 8, 8], "offsets": [1, 18, 6, 6]},
                                  weights={"w": [10, 100], "v": [4, 3, 3, 3]}))
        found = json.loads(run("map", source, *QUICK, "--json").stdout)["coverage"]
        self.assertAlmostEqual(found["share"], 1000 / (1000 + 4 * 36 * 27))
        self.assertFalse(found["complete"])
        self.assertEqual([(entry["op"], entry["macs"]) for entry in found["left_out"]],
                         [("DeformConv", 4 * 36 * 27), ("some.where::Magic", None)])
        self.assertIn("Covers at most 20.46 % of the multiply-accumulates (1 k of 4.888 k); left out: 1 DeformConv (3.888 k); left "
                      "out, and nobody knows how much work they are: 1 some.where::Magic.", run("map", source, *QUICK).stdout)

    def test_a_model_without_layers_says_what_it_has(self):
        source = self.write(model([node("Relu", ["x"], ["y"])], inputs={"x": [1, 3]}))
        self.refused("has no layer to map, only 1 Relu", "map", source, *QUICK)
        self.refused("has no layer to evaluate, only 1 Relu", "evaluate", "--network", source, "--hardware", "zoo:eyeriss",
                     "--dataflow", "nvdla")

    def test_one_layer_of_a_network_is_not_the_network(self):
        found = json.loads(run("evaluate", "--network", "zoo:resnet18", "--layer", "fc", "--hardware", "zoo:eyeriss", "--dataflow",
                               "nvdla", "--json").stdout)["coverage"]
        self.assertLess(found["share"], 0.001)
        self.assertEqual((found["left_out"][-1]["op"], found["left_out"][-1]["count"]), ("layers not asked for", 20))


class Joins(Models):
    def test_equal_layers_name_their_members_and_shapes(self):
        nodes = [node("Conv", ["x", "w0"], ["a"], name="/stem/Conv", strides=[2, 1], pads=[1, 1, 1, 1]),
                 node("Conv", ["a", "w"], ["b"], name="/block.0/Conv", pads=[1, 1, 1, 1]),
                 node("Conv", ["b", "w"], ["c"], name="/block.1/Conv", pads=[1, 1, 1, 1])]
        source = self.write(model(nodes, inputs={"x": [1, 3, 8, 8]}, weights={"w0": [4, 3, 3, 3], "w": [4, 4, 3, 3]}))
        out = self.path / "run"
        self.assertEqual(run("map", source, *QUICK, "-o", out).returncode, 0)
        layers = json.loads((out / "result.json").read_text())["layers"]
        self.assertEqual([layer["members"] for layer in layers], [["/stem/Conv"], ["/block.0/Conv", "/block.1/Conv"]])
        self.assertEqual((layers[0]["operator"], layers[0]["stride"]), ("conv", [2, 1]))
        self.assertEqual((layers[0]["shape"]["in"], layers[0]["shape"]["out"], layers[0]["shape"]["kernel"]),
                         ([3, 8, 8], [4, 4, 8], [3, 3]))
        with open(out / "layers.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["operator"], row["shape"], row["stride"], row["members"]) for row in rows],
                         [("conv", "3x8x8 -> 4x4x8, 3x3/2x1", "2x1", "/stem/Conv"),
                          ("conv", "4x4x8 -> 4x4x8, 3x3", "1", "/block.0/Conv;/block.1/Conv")])
        found = json.loads(run("evaluate", "--network", source, "--hardware", "zoo:eyeriss", "--dataflow", "nvdla", "--json").stdout)
        self.assertEqual([layer["members"] for layer in found["layers"]], [layer["members"] for layer in layers])
        self.assertEqual(found["layers"][0]["shape"], layers[0]["shape"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
