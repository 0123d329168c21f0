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


def open_conv(batch="batch", height="height", width=8):
    return model([node("Conv", ["x", "w"], ["y"], name="conv1")], inputs={"x": [batch, 3, height, width]},
                 weights={"w": [4, 3, 3, 3]}, outputs=[("y", [])])


class Dimensions(Models):
    VERBS = (["map", "SOURCE", *QUICK], ["agents", "SOURCE", "--hardware", "zoo:eyeriss", "--samples", "200", "--no-stability"],
             ["evaluate", "--network", "SOURCE", "--hardware", "zoo:eyeriss", "--dataflow", "nvdla"],
             ["explain", "--network", "SOURCE", "--hardware", "zoo:eyeriss", "--dataflow", "nvdla"],
             ["compare", "--network", "SOURCE", "--hardware", "zoo:eyeriss", "--searches", "random", "--samples", "20", "--seeds", "2"],
             ["codesign", "SOURCE", "--machine", "zoo:vta", "--search", "random", "--measurements", "8"], ["compile", "SOURCE"],
             ["zoo", "SOURCE"])

    def test_every_verb_takes_them_and_says_which_is_missing(self):
        source = self.write(open_conv())
        for verb in self.VERBS:
            words = [source if word == "SOURCE" else word for word in verb]
            self.refused("input 'x': dimension 2 is 'height', expected a number", *words)
            self.refused("give --dim height=N", *words)
            self.refused("has no open dimension 'heigth' (did you mean 'height'?)", *words, "--dim", "heigth=8")
            result = run(words[0], "--dim", "height=8", "--dim", "batch=1", *words[1:])
            self.assertEqual(result.returncode, 0, result.stderr)
        self.refused("expected a .onnx network", "map", "zoo:alexnet", *QUICK, "--dim", "height=8")
        self.refused("--dim is 'height', expected NAME=NUMBER", "zoo", source, "--dim", "height")

    def test_a_run_remembers_them(self):
        source, out = self.write(open_conv()), self.path / "run"
        result = run("map", source, *QUICK, "--dim", "height=8", "-o", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads((out / "run.json").read_text())["arguments"]["dims"], ["height=8"])
        before = (out / "result.json").read_bytes()
        self.assertEqual(run("resume", out).returncode, 0)
        self.assertEqual((out / "result.json").read_bytes(), before)
        self.refused("dims of the run there", "map", source, *QUICK, "--dim", "height=9", "-o", out)
        out = self.path / "machine"
        words = ["codesign", source, "--machine", "zoo:vta", "--search", "random", "--measurements", "8", "-o", out]
        self.assertEqual(run(*words, "--dim", "height=8").returncode, 0)
        self.assertEqual(run("resume", out).returncode, 0)


class ExternalData(Models):
    def model(self, location="net.onnx.data", offset=4):
        where = {"location": location, "offset": offset, "length": 4 * 108}
        return model([node("Conv", ["x", "w"], ["y"], name="conv1")], inputs={"x": [1, 3, 8, 8]},
                     tensors=[tensor("w", [4, 3, 3, 3], external=where)], outputs=[("y", [])])

    def test_weights_beside_the_model_are_compiled(self):
        values = [((7 * i) % 19 - 9) / 10 for i in range(108)]
        inside = self.write(model([node("Conv", ["x", "w"], ["y"], name="conv1")], inputs={"x": [1, 3, 8, 8]},
                                  tensors=[tensor("w", [4, 3, 3, 3], values)], outputs=[("y", [])]))
        expected = run("compile", inside, "-o", self.path / "inside")
        self.assertEqual(expected.returncode, 0, expected.stderr)
        source = self.write(self.model())
        self.refused("weight 'w' lies in 'net.onnx.data', expected that file beside the model", "compile", source)
        self.assertEqual(run("map", source, *QUICK).returncode, 0)  # which needs no weights
        (self.path / "net.onnx.data").write_bytes(b"head" + struct.pack("<50f", *values[:50]))
        self.refused("begins at byte 4 of 'net.onnx.data' and takes 432, but the file has 204", "compile", source)
        (self.path / "net.onnx.data").write_bytes(b"head" + struct.pack("<108f", *values))
        for words in (["compile", source, "-o", self.path / "outside"], ["compile", "net.onnx"]):
            result = run(*words, cwd=self.path)
            self.assertEqual(result.returncode, 0, result.stderr)
        programs = [sorted(path.read_bytes() for path in (self.path / name).glob("*.vtaprog")) for name in ("inside", "outside")]
        self.assertTrue(programs[0])
        self.assertEqual(*programs)

    def test_data_outside_the_folder_is_never_read(self):
        for location in ("../secret", "/etc/hostname", "a/../../b"):
            source = self.write(self.model(location))
            for verb in (["compile", source], ["map", source, *QUICK], ["zoo", source]):
                self.refused(f"weight 'w' lies in '{location}', expected a file beside the model", *verb)


class Zoo(Models):
    def test_yaml_reads_back_to_the_same_network(self):
        source = self.write(two_lstms())
        result = run("zoo", source, "--yaml")
        self.assertEqual(result.returncode, 0, result.stderr)
        written = self.write(result.stdout.encode(), "net.yaml")
        self.assertEqual(run("zoo", written, "--yaml").stdout, result.stdout)
        self.assertEqual(run("zoo", written, "--json").stdout, run("zoo", source, "--json").stdout)
        answers = [run("map", one, *QUICK, "--json").stdout for one in (source, written)]
        self.assertEqual(*answers)
        self.assertEqual(run("zoo", "resnet18", "--yaml").returncode, 0)
        self.refused("--yaml writes one network", "zoo", "--yaml")

    def test_a_machine_file_is_shown_or_refused_as_a_machine(self):
        good = self.write(run("zoo", "zoo:eyeriss").stdout.encode(), "machine.yaml")
        self.assertEqual(run("zoo", good).stdout, run("zoo", "zoo:eyeriss").stdout)
        for text, sentence in (("format: tilewright-accelerator-1\npes: 0\n", "pes is 0"), ("pes: 4\n", "format"),
                               ("format: tilewright-accelerator-1\npes: 4\nl1: 3\n", "'l1' is not a known field"),
                               ("format: tilewright-acelerator-1\npes: 4\n", "format")):
            result = run("zoo", self.write(text.encode(), "bad.yaml"))
            self.assertEqual(result.returncode, 2)
            self.assertIn(sentence, result.stderr)
            self.assertNotIn("layers", result.stderr)
            self.assertNotIn("tilewright-network-1", result.stderr)
        self.assertIn("bad.json", run("zoo", self.write(b'{"LOG_BLOCK": 99}', "bad.json")).stderr)

    def test_names_of_the_zoo_without_zoo_are_suggested(self):
        for word in ("resnet18", "ResNet-18"):
            self.refused("did you mean 'zoo:resnet18'?", "map", word, *QUICK)
        self.refused("did you mean 'zoo:resnet18'?", "compile", "resnet18")
        self.refused("did you mean 'zoo:eyeriss'?", "map", "zoo:resnet18", "--hardware", "eyeriss")
        self.refused("did you mean 'zoo:tpu-v1-like'?", "evaluate", "--network", "zoo:resnet18", "--hardware", "tpu_v1_like",
                     "--dataflow", "nvdla")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
