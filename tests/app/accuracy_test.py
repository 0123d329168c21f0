"""How right the integers of `tilewright compile` are: networks trained on handwritten digits, at input ranges that no default knows,
against their own real numbers, labels, and ONNX Runtime where there is one.

accuracy_test.py PROGRAM DATA [PYTHON…]      PYTHON: interpreters that may have onnxruntime
"""

import csv
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import digits_models
import numpy_files
from onnx_model import model, node, tensor

PROGRAM, DATA = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "digits"
PYTHONS = [*sys.argv[3:], shutil.which("python3")]
WEIGHTS, DIGITS = numpy_files.from_npz(DATA / "networks.npz"), numpy_files.from_npz(DATA / "digits.npz")

# What another Python computes: `answers` of a model, or an integer form of it that ONNX Runtime makes.
ORACLE = """
import sys
import numpy, onnxruntime
what, model, images, output = sys.argv[1:]
x = numpy.load(images)["X"].astype(numpy.float32)
if what == "answers":
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    numpy.save(output, session.run(None, {session.get_inputs()[0].name: x})[0])
else:
    import logging
    from onnxruntime import quantization
    logging.disable(logging.WARNING)
    class Reader(quantization.CalibrationDataReader):
        rows = iter([{"image": row[None]} for row in x])
        def get_next(self):
            return next(self.rows, None)
    form = {"qdq": quantization.QuantFormat.QDQ, "qlinear": quantization.QuantFormat.QOperator}[what]
    quantization.quantize_static(model, output, Reader(), quant_format=form, per_channel=what == "qdq",
                                 weight_type=quantization.QuantType.QInt8)
"""


def oracle():
    """A Python that has ONNX Runtime, or None."""
    for python in PYTHONS:
        if python is not None and shutil.which(python) and subprocess.run([python, "-c", "import numpy, onnx, onnxruntime"], capture_output=True).returncode == 0:
            return python
    return None


def answers_right(logits, labels):
    """The share of rows of ten whose largest is that of the label."""
    rows = [logits.values[10 * i:10 * i + 10] for i in range(len(labels))]
    return sum(row.index(max(row)) == label for row, label in zip(rows, labels)) / len(labels)


class AccuracyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model, self.calibration, self.labels = (self.folder / name for name in ("m.onnx", "calibration.npz", "labels.npz"))

    def write(self, name, range_):
        scale = range_ / 16
        self.model.write_bytes(digits_models.build(WEIGHTS, name, scale))

        def scaled(value):
            return (value - digits_models.OFFSETS[name]) * scale
        numpy_files.to_npz(self.calibration, {"X": DIGITS["calibration"].map(scaled)})
        numpy_files.to_npz(self.labels, {"X": DIGITS["X"].map(scaled), "y": (DIGITS["y"], "i8")})

    def run_compile(self, *arguments):
        return subprocess.run([PROGRAM, "compile", *map(str, arguments)], capture_output=True, text=True, timeout=300)

    def compiled(self, *arguments):
        result = self.run_compile(self.model, "--json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def by_data(self, *arguments):
        return self.compiled("--calibration", self.calibration, "--labels", self.labels, *arguments)


class Digits(AccuracyTest):
    def check(self, name, range_, loses, right=0.97, correlated=0.999):
        self.write(name, range_)
        result = self.by_data()
        self.assertTrue(result["verification"]["equal"])
        self.assertGreater(result["float_accuracy"], right)
        self.assertGreaterEqual(result["accuracy"], result["float_accuracy"] - loses, (name, range_))
        self.assertGreater(result["agreement"], 0.985)
        self.assertGreater(result["correlation"], correlated)
        self.assertEqual(result["images"], 360)
        return result

    def test_a_network_is_as_right_at_every_input_range(self):
        for range_ in (1, 16, 255):
            with self.subTest(range=range_):
                self.check("cnn", range_, 0.01)

    def test_pixels_around_and_below_zero(self):
        for name in ("centred", "below"):
            for range_ in (1, 255):
                with self.subTest(name=name, range=range_):
                    result = self.check(name, range_, 0.01)
                    self.assertLess(result["input_range"]["low"], 0)

    def test_depthwise_separable(self):
        self.check("depthwise", 255, 0.02)

    def test_residual(self):
        result = self.check("residual", 16, 0.02)
        self.assertEqual([step["stands_for"] for step in result["steps"] if "stands_for" in step], ["add", "average pool"])

    def test_vision_transformer(self):
        result = self.check("transformer", 255, 0.02, right=0.95, correlated=0.995)
        on = {step["name"]: step.get("on") for step in result["steps"]}
        for layer in ("qkv", "proj", "up", "down"):  # products of tokens are the machine's
            self.assertEqual(on["block1/" + layer], "machine")
        host = [step for step in result["steps"] if step["kind"] == "host"]
        self.assertTrue(any("Softmax" in step["host"][0]["why"] for step in host))
        self.assertTrue(all(step["host_operations"] > 0 for step in host))
        noise = self.compiled("--no-verify")  # what is on the host needs no data
        self.assertEqual((noise["calibration"], noise["input_range"]["assumed"], noise["accuracy"]), ("noise", True, None))

    def test_methods(self):
        self.write("depthwise", 16)
        results = {}
        for method in ("min-max", "percentile", "mse"):
            result = self.by_data("--calibration-method", method, "--no-verify")
            self.assertGreaterEqual(result["accuracy"], result["float_accuracy"] - 0.02, method)
            self.assertEqual((result["calibration"], result["calibration_images"]), (method, 120))
            results[method] = [step.get("scale") for step in result["steps"]]
        cut = self.by_data("--calibration-method", "percentile", "--percentile", "80", "--no-verify")
        self.assertLess(cut["correlation"], 0.999)  # so it does something, and cutting a fifth off is seen

    def test_what_was_assumed_without_data(self):
        self.write("cnn", 255)
        result = self.compiled("--labels", self.labels, "--no-verify")
        self.assertLess(result["accuracy"], 0.3)  # all pixels are clipped to the assumed 1
        self.assertEqual((result["calibration"], result["input_range"]["assumed"]), ("noise", True))
        told = self.compiled("--labels", self.labels, "--input-range", "0,255", "--no-verify")
        self.assertGreater(told["accuracy"], 0.9)
        self.assertFalse(told["input_range"]["assumed"])
        unknown = self.run_compile(self.model, "--no-verify")
        self.assertIn("which is assumed (--input-range LO,HI tells); scales were chosen with noise, so the accuracy is unknown",
                      unknown.stdout)
        self.assertIsNone(self.compiled("--no-verify")["accuracy"])

    def test_without_labels(self):
        self.write("cnn", 16)
        result = self.compiled("--calibration", self.calibration, "--no-verify")
        self.assertIsNone(result["accuracy"])
        self.assertGreater(result["agreement"], 0.98)
        self.assertIn("so the accuracy is unknown (--labels tells)", self.run_compile(self.model, "--calibration", self.calibration).stdout)

    def test_threads_do_not_matter(self):
        self.write("residual", 255)
        one, two = (self.by_data("--no-verify", "--threads", threads) for threads in (1, 2))
        self.assertEqual(one, two)

    def test_files(self):
        self.write("cnn", 16)
        outputs, folder = self.folder / "answers.npy", self.folder / "out"
        result = self.by_data("--write-outputs", outputs, "-o", folder)
        answers = numpy_files.from_npy(outputs.read_bytes())
        self.assertEqual(answers.shape, (360, 10))
        self.assertAlmostEqual(answers_right(answers, DIGITS["y"].values), result["accuracy"])
        with (folder / "accuracy.csv").open() as file:
            rows = {row["name"]: row for row in csv.DictReader(file)}
        ratios = {step["name"]: step.get("snr_db") for step in result["steps"]}
        self.assertEqual(set(rows), set(ratios))
        self.assertEqual(rows["conv2"]["on"], "machine")
        self.assertAlmostEqual(float(rows["conv2"]["snr_db"]), ratios["conv2"], places=2)
        page = (folder / "accuracy.html").read_text()
        self.assertIn(f"{100 * result['accuracy']:.2f} %", page)
        self.assertEqual(subprocess.run([PROGRAM, "verify", folder], capture_output=True).returncode, 0)
        worst = result["worst_steps"]
        self.assertLess(page.index(f">{worst[0]}<"), page.index(f">{worst[1]}<"))
        self.assertEqual(sorted(worst, key=lambda name: ratios[name]), worst)
        text = self.run_compile(self.model, "--calibration", self.calibration, "--labels", self.labels).stdout
        self.assertIn(f"the worst steps first: {worst[0]} {ratios[worst[0]]:.1f} dB", text)
        self.assertIn("on 360 images with labels", text)

    def test_images_by_name_folder_and_plain_array(self):
        self.write("cnn", 16)
        expected = self.by_data("--no-verify")
        numpy_files.to_npz(self.calibration, {"image": DIGITS["calibration"], "X": DIGITS["X"]}, packed=False)
        self.assertEqual(self.by_data("--no-verify"), expected)  # by its name first
        folder = self.folder / "arrays"
        folder.mkdir()
        flat = numpy_files.Array((120, 8, 8), DIGITS["calibration"].values)
        (folder / "X.npy").write_bytes(numpy_files.to_npy(flat, "u1"))
        self.calibration = folder
        self.assertEqual(self.by_data("--no-verify"), expected)
        self.calibration = folder / "X.npy"
        self.assertEqual(self.by_data("--no-verify"), expected)

    def test_batches(self):
        self.write("cnn", 16)
        one, seven = self.by_data("--no-verify"), self.by_data("--batch", 7)
        self.assertTrue(seven["verification"]["equal"])
        self.assertAlmostEqual(one["float_accuracy"], seven["float_accuracy"])
        self.assertGreater(seven["accuracy"], one["accuracy"] - 0.01)


class Refused(AccuracyTest):
    def refused(self, saying, *arguments):
        result = self.run_compile(self.model, *arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)

    def test_arrays_that_do_not_fit(self):
        self.write("cnn", 16)
        bad = self.folder / "bad.npz"

        def arrays(**named):
            numpy_files.to_npz(bad, named)
            return bad
        images, classes = DIGITS["calibration"], numpy_files.Array((120,), [3] * 120)
        self.refused("array 'X' is 120x4x16, expected images of 1x8x8", "--calibration", arrays(X=numpy_files.Array((120, 4, 16), images.values)))
        self.refused("none is called X or 'image'", "--calibration", arrays(a=images, b=images))
        self.refused("has no images", "--calibration", arrays(X=numpy_files.Array((0, 1, 8, 8), [])))
        self.refused("not finite", "--calibration", arrays(X=numpy_files.Array((1, 64), [float("nan")] * 64)))
        self.refused("has no array 'y'", "--labels", arrays(X=images))
        self.refused("expected a class for each of 120 images", "--labels", arrays(X=images, y=numpy_files.Array((3,), [1, 2, 3])))
        self.refused("expected classes from 0 to 9", "--labels", arrays(X=images, y=classes.map(lambda value: value + 7)))
        self.refused("is neither .npz nor .npy", "--calibration", self.model)
        bad.write_bytes(arrays(X=images).read_bytes()[:-30])
        self.refused("bad.npz", "--calibration", bad)

    def test_options_that_contradict(self):
        self.write("cnn", 16)
        self.refused("expected one: data shows its own range", "--calibration", self.calibration, "--input-range", "0,1")
        self.refused("has no images to answer", "--write-outputs", self.folder / "a.npy")
        self.refused("expected a name that ends with .npy", "--labels", self.labels, "--write-outputs", self.folder / "a.txt")


class AgainstOnnxRuntime(AccuracyTest):
    @classmethod
    def setUpClass(cls):
        cls.python = oracle()
        if cls.python is None:
            raise unittest.SkipTest("no Python here has numpy, onnx and onnxruntime (build/venv/bin/python is looked at first)")

    def ask(self, what, output, images):
        result = subprocess.run([self.python, "-c", ORACLE, what, self.model, images, output], capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_real_numbers_and_integers(self):
        answers, ours = self.folder / "theirs.npy", self.folder / "ours.npy"
        for name, range_ in (("cnn", 255), ("below", 16), ("depthwise", 1), ("residual", 16), ("transformer", 16)):
            with self.subTest(name=name):
                self.write(name, range_)
                result = self.by_data("--no-verify", "--write-outputs", ours)
                self.ask("answers", answers, self.labels)
                expected, computed = (numpy_files.from_npy(path.read_bytes()) for path in (answers, ours))
                self.assertEqual(answers_right(expected, DIGITS["y"].values), result["float_accuracy"])
                noise = sum((a - b) ** 2 for a, b in zip(expected.values, computed.values))
                self.assertLess(noise / sum(a * a for a in expected.values), 0.001)  # 30 dB

    def test_blocks_of_newer_networks(self):
        """Squeeze and excite, hard swish, and a block of ConvNeXt, with seeded weights: what is on the host is what they compute."""
        draw = random.Random(5)
        nodes, tensors = [], []

        def weight(*shape):
            name = f"w{len(tensors)}"
            spread = (3 / max(1, math.prod(shape[1:]))) ** 0.5
            tensors.append(tensor(name, shape, [draw.uniform(-spread, spread) for _ in range(math.prod(shape))]))
            return name

        def add(op, *inputs, **attributes):
            nodes.append(node(op, inputs, [f"t{len(nodes)}"], name=f"{op.lower()}{len(nodes)}", **attributes))
            return f"t{len(nodes) - 1}"
        x = add("HardSwish", add("Conv", "image", weight(16, 1, 3, 3), pads=[1] * 4))
        squeezed = add("Relu", add("Conv", add("GlobalAveragePool", x), weight(8, 16, 1, 1)))
        x = add("Mul", x, add("Sigmoid", add("Conv", squeezed, weight(16, 8, 1, 1))))
        x = add("Conv", x, weight(24, 16, 3, 3), pads=[1] * 4)
        y = add("LayerNormalization", add("Transpose", x, perm=[0, 2, 3, 1]), weight(24), axis=-1)
        y = add("MatMul", add("Sigmoid", add("MatMul", y, weight(24, 32))), weight(32, 24))
        x = add("Add", x, add("Transpose", y, perm=[0, 3, 1, 2]))
        x = add("Gemm", add("Flatten", add("GlobalAveragePool", x)), weight(24, 10), weight(10))
        self.write("cnn", 16)
        self.model.write_bytes(model(nodes, {"image": ["N", 1, 8, 8]}, outputs=[(x, ["N", 10])], tensors=tensors))
        theirs, ours = self.folder / "theirs.npy", self.folder / "ours.npy"
        result = self.by_data("--write-outputs", ours)
        self.assertTrue(result["verification"]["equal"])
        self.ask("answers", theirs, self.labels)
        expected, computed = (numpy_files.from_npy(path.read_bytes()).values for path in (theirs, ours))
        mean = [sum(expected[k::10]) / 360 for k in range(10)]  # what all images have in common is no achievement
        signal = sum((value - mean[i % 10]) ** 2 for i, value in enumerate(expected))
        self.assertLess(sum((a - b) ** 2 for a, b in zip(expected, computed)) / signal, 0.01)

    def test_models_that_are_integers_already(self):
        integers, answers = self.folder / "integers.onnx", self.folder / "theirs.npy"
        for form in ("qdq", "qlinear"):
            for name in ("cnn", "residual"):
                with self.subTest(form=form, name=name):
                    self.write(name, 16)
                    self.ask(form, integers, self.calibration)
                    self.model.write_bytes(integers.read_bytes())
                    self.ask("answers", answers, self.labels)
                    theirs = answers_right(numpy_files.from_npy(answers.read_bytes()), DIGITS["y"].values)
                    result = self.compiled("--labels", self.labels)
                    self.assertEqual((result["calibration"], result["input_range"]["assumed"]), ("model", False))
                    self.assertGreater(result["accuracy"], theirs - 0.015)
                    self.assertAlmostEqual(result["input_range"]["high"], 16, delta=0.1)
                    self.assertTrue(result["verification"]["equal"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
