"""Small ONNX models for tests, written without the onnx package: the protobuf fields that onnx.proto gives them.

    model([node("Conv", ["x", "w"], ["y"], name="conv1", pads=[1, 1, 1, 1])],
          inputs={"x": ["N", 3, 8, 8]}, weights={"w": [4, 3, 3, 3]})
"""

import struct

FLOAT, INT64 = 1, 7


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while True:
        out.append(number & 0x7F | (0x80 if number > 0x7F else 0))
        number >>= 7
        if not number:
            return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def attribute(name, value):
    if isinstance(value, bytes):  # a tensor
        return block(1, name) + block(5, value) + number(20, 4)
    if isinstance(value, str):
        return block(1, name) + block(4, value) + number(20, 3)
    if isinstance(value, int):
        return block(1, name) + number(3, value) + number(20, 2)
    return block(1, name) + b"".join(number(8, entry) for entry in value) + number(20, 7)


def node(op, inputs, outputs, name="", domain="", **attributes):
    text = b"".join(block(1, one) for one in inputs) + b"".join(block(2, one) for one in outputs)
    text += block(3, name) + block(4, op) + block(7, domain)
    return text + b"".join(block(5, attribute(key, value)) for key, value in attributes.items())


def tensor(name, dims, values=None, kind=FLOAT, external=None):
    """Without values: zeros. `external` is {"location": …, "offset": …, "length": …}: the values lie in that file."""
    count = 1
    for dim in dims:
        count *= dim
    text = b"".join(number(1, dim) for dim in dims) + number(2, kind) + block(8, name)
    if external is not None:
        return text + b"".join(block(13, block(1, key) + block(2, str(value))) for key, value in external.items()) + number(14, 1)
    return text + block(9, struct.pack(f"<{count}{'f' if kind == FLOAT else 'q'}", *(values or [0] * count)))


def value(name, dims):
    shape = b""
    for dim in dims:
        shape += block(1, b"" if dim is None else block(2, dim) if isinstance(dim, str) else number(1, dim))
    return block(1, name) + block(2, block(1, number(1, FLOAT) + block(2, shape)))


def model(nodes, inputs, weights=None, outputs=(), tensors=()):
    """weights: shapes of zeros by name; tensors: as `tensor` makes them."""
    graph = b"".join(block(1, one) for one in nodes) + block(2, "graph")
    graph += b"".join(block(5, tensor(name, dims)) for name, dims in (weights or {}).items())
    graph += b"".join(block(5, one) for one in tensors)
    graph += b"".join(block(11, value(name, dims)) for name, dims in inputs.items())
    graph += b"".join(block(12, value(name, dims)) for name, dims in outputs)
    return number(1, 8) + block(8, number(2, 17)) + block(7, graph)
