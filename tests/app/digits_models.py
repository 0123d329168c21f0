"""The networks of tests/data/digits as ONNX models: what train.py made of them, with inputs of another scale where asked for.

digits_models.py NAME RANGE FOLDER      writes one with its data: cnn, centred, below, depthwise, residual or transformer, with pixels of 0 to RANGE
"""

import pathlib
import sys

import numpy_files
from onnx_model import INT64, model, node, tensor

OFFSETS = {"cnn": 0, "centred": 10, "below": 16, "depthwise": 0, "residual": 0, "transformer": 0}


class Builder:
    """Layers one behind the other; `at` is the tensor they have reached."""
    def __init__(self, weights, name):
        self.weights = {key.removeprefix(name + "/"): value for key, value in weights.items() if key.startswith(name + "/")}
        self.nodes, self.tensors, self.at, self.count = [], [], "image", 0

    def add(self, op, *others, name=None, **attributes):
        self.count += 1
        output = f"t{self.count}"
        self.nodes.append(node(op, [self.at, *others], [output], name=name or f"{op.lower()}{self.count}", **attributes))
        self.at = output

    def layer_tensors(self, layer, factor=1):
        weight, bias = self.weights[layer + "/weight"], self.weights[layer + "/bias"]
        self.tensors.append(tensor(layer + "_w", weight.shape, [value * factor for value in weight.values]))
        self.tensors.append(tensor(layer + "_b", bias.shape, bias.values))
        return layer + "_w", layer + "_b"

    def conv(self, layer, factor=1, groups=1, stride=1):
        kernel = self.weights[layer + "/weight"].shape[2]
        self.add("Conv", *self.layer_tensors(layer, factor), name=layer, pads=[kernel // 2] * 4, strides=[stride] * 2, group=groups)
        return self

    def relu(self):
        self.add("Relu")
        return self

    def six(self):
        if not any(b"six" in one for one in self.tensors):
            self.tensors += [tensor("zero", [], [0.0]), tensor("six", [], [6.0])]
        self.add("Clip", "zero", "six")
        return self

    def pool(self):
        self.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
        return self

    def add_from(self, other):
        self.add("Add", other)
        return self

    def end(self, average):
        if average:
            self.add("GlobalAveragePool")
        self.add("Flatten")
        self.add("Gemm", *self.layer_tensors("fc"), name="fc", transB=1)
        return model(self.nodes, {"image": ["N", 1, 8, 8]}, outputs=[(self.at, ["N", 10])], tensors=self.tensors)


class Transformer(Builder):
    """The nodes that PyTorch exports: Erf for GELU, one product for query, key and value."""
    SIZE, HEADS, TOKENS = 24, 3, 16

    def constant(self, shape, values, kind=1):
        name = f"c{len(self.tensors)}"
        self.tensors.append(tensor(name, shape, values, kind))
        return name

    def shape(self, *sizes):
        self.add("Reshape", self.constant([len(sizes)], sizes, INT64))

    def linear(self, layer):
        weight, bias = self.weights[layer + "/weight"], self.weights[layer + "/bias"]
        outer, inner = weight.shape
        turned = [weight.values[o * inner + i] for i in range(inner) for o in range(outer)]
        self.add("MatMul", self.constant([inner, outer], turned), name=layer)
        self.add("Add", self.constant([outer], bias.values))

    def norm(self, layer):
        self.add("LayerNormalization", *self.layer_tensors(layer), axis=-1)

    def scalar(self, op, value):
        self.add(op, self.constant([], [value]))

    def gelu(self):
        before = self.at
        self.scalar("Div", 2 ** 0.5)
        self.add("Erf")
        self.scalar("Add", 1.0)
        self.add("Mul", before)
        self.scalar("Mul", 0.5)

    def attention(self, block):
        self.linear(block + "/qkv")
        self.shape(0, 0, 3, self.HEADS, self.SIZE // self.HEADS)
        self.add("Transpose", perm=[2, 0, 3, 1, 4])
        stacked, parts = self.at, []
        for index in range(3):
            self.at = stacked
            self.add("Gather", self.constant([], [index], INT64), axis=0)
            parts.append(self.at)
        query, self.at, value = parts
        self.add("Transpose", perm=[0, 1, 3, 2])
        key, self.at = self.at, query
        self.add("MatMul", key)
        self.scalar("Mul", (self.SIZE // self.HEADS) ** -0.5)
        self.add("Softmax", axis=-1)
        self.add("MatMul", value)
        self.add("Transpose", perm=[0, 2, 1, 3])
        self.shape(0, 0, self.SIZE)
        self.linear(block + "/proj")

    def build(self, factor):
        weight, bias = self.layer_tensors("embed", factor)
        self.add("Conv", weight, bias, name="embed", strides=[2, 2])
        self.shape(0, self.SIZE, self.TOKENS)
        self.add("Transpose", perm=[0, 2, 1])
        place = self.weights["place/weight"]
        self.add("Add", self.constant(place.shape, place.values))
        for block in ("block0", "block1"):
            before = self.at
            self.norm(block + "/norm1")
            self.attention(block)
            self.add("Add", before)
            before = self.at
            self.norm(block + "/norm2")
            self.linear(block + "/up")
            self.gelu()
            self.linear(block + "/down")
            self.add("Add", before)
        self.norm("norm")
        self.add("ReduceMean", axes=[1], keepdims=0)
        self.add("Gemm", *self.layer_tensors("fc"), name="fc", transB=1)
        return model(self.nodes, {"image": ["N", 1, 8, 8]}, outputs=[(self.at, ["N", 10])], tensors=self.tensors)


def build(weights, name, scale=1 / 16):
    """Of images (x - OFFSET) * scale, where x has the 0 to 16 of the data."""
    factor = 1 / (16 * scale)
    if name == "transformer":
        return Transformer(weights, name).build(factor)
    b = Builder(weights, name)
    if name in ("cnn", "centred", "below"):
        return b.conv("conv1", factor).relu().pool().conv("conv2").relu().pool().end(average=False)
    if name == "depthwise":
        b.conv("conv1", factor).six()
        b.conv("expand1").six().conv("depth1", groups=24, stride=2).six().conv("project1")
        before = b.at
        b.conv("expand2").six().conv("depth2", groups=36).six().conv("project2").add_from(before)
        return b.conv("last").six().end(average=True)
    b.conv("conv1", factor).relu()
    before = b.at
    b.conv("a1").relu().conv("a2").add_from(before).relu()
    before = b.at
    b.conv("skip", stride=2)
    skip, b.at = b.at, before
    b.conv("b1", stride=2).relu().conv("b2").add_from(skip).relu()
    before = b.at
    return b.conv("c1").relu().add_from(before).end(average=True)


def write(data, name, range_, folder):
    """model.onnx, calibration.npz and labels.npz in `folder`, with pixels of 0 to `range_`, or as far around zero."""
    scale = range_ / 16
    folder.mkdir(parents=True, exist_ok=True)
    weights, digits = numpy_files.from_npz(data / "networks.npz"), numpy_files.from_npz(data / "digits.npz")
    (folder / "model.onnx").write_bytes(build(weights, name, scale))

    def scaled(value):
        return (value - OFFSETS[name]) * scale
    numpy_files.to_npz(folder / "calibration.npz", {"X": digits["calibration"].map(scaled)})
    numpy_files.to_npz(folder / "labels.npz", {"X": digits["X"].map(scaled), "y": (digits["y"], "i8")})


if __name__ == "__main__":
    write(pathlib.Path(__file__).parent.parent / "data" / "digits", sys.argv[1], float(sys.argv[2]), pathlib.Path(sys.argv[3]))
