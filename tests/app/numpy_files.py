"""Arrays of NumPy for tests without NumPy: lists of numbers with a shape, read from and written to .npz and .npy files."""

import ast
import struct
import zipfile

FORMATS = {"f2": "e", "f4": "f", "f8": "d", "u1": "B", "i1": "b", "i8": "q", "i4": "i", "u2": "H"}


class Array:
    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), list(values)

    def map(self, function):
        return Array(self.shape, [function(value) for value in self.values])


def from_npy(data):
    assert data[:8] == b"\x93NUMPY\1\0", data[:8]
    length, = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    assert not header["fortran_order"]
    kind = FORMATS[header["descr"][1:]]
    count = (len(data) - 10 - length) // struct.calcsize(kind)
    return Array(header["shape"], struct.unpack_from(f"<{count}{kind}", data, 10 + length))


def to_npy(array, kind="f4", fortran=False):
    order = "|" if kind[1:] == "1" else "<"
    header = repr({"descr": order + kind, "fortran_order": fortran, "shape": array.shape})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(array.values)}{FORMATS[kind]}", *array.values))


def from_npz(path):
    with zipfile.ZipFile(path) as file:
        return {name.removesuffix(".npy"): from_npy(file.read(name)) for name in file.namelist()}


def to_npz(path, arrays, packed=True):
    """arrays: name -> Array, or (Array, kind)"""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            array, kind = array if isinstance(array, tuple) else (array, "f4")
            entry = zipfile.ZipInfo(name + ".npy")  # without the time of day: the same arrays are the same bytes
            entry.compress_type = file.compression
            file.writestr(entry, to_npy(array, kind))
