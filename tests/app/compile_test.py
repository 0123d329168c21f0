"""`tilewright compile` as its user meets it: the programs, manifest and listing it writes, that the programs compute what a plain
loop computes and take the cycles it says, and what it refuses.

compile_test.py PROGRAM DATA
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TINY = """format: tilewright-network-1
name: tiny
layers:
  - {name: conv1, op: conv, in: [3, 12, 12], out: 24, kernel: 3, pad: 1}
  - {name: conv2, op: depthwise, in: [24, 12, 12], kernel: 3, pad: 1, stride: 2}
  - {name: conv3, op: conv, in: [24, 6, 6], out: 40, kernel: 1}
others:
  - {op: Relu, count: 2, operations: 4320}
"""
KNOBS = {"tile_b": 1, "tile_h": 5, "tile_w": 7, "tile_ci": 1, "tile_co": 2, "h_threading": 1, "oc_threading": 1}
SMALL = '{"LOG_BLOCK_IN": 3, "LOG_BLOCK_OUT": 5, "LOG_BATCH": 1}'


def run(verb, *arguments):
    return subprocess.run([PROGRAM, verb, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def files_of(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def sections_of(data):
    """(kind, tag, address, size, bytes) of every section of a container."""
    assert data[:8] == b"VTAPROG1"
    count, at, sections = struct.unpack_from("<I", data, 8)[0], 0, []
    at = 16 + 24 * count
    for index in range(count):
        kind, tag, address, size = struct.unpack_from("<IIQQ", data, 16 + 24 * index)
        has_bytes = kind <= 3
        sections.append((kind, tag, address, size, data[at:at + size] if has_bytes else b""))
        at += size if has_bytes else 0
    return sections


def proto(field, value):
    """One field of a protocol buffer: an integer, or bytes (text, message)."""
    def varint(number):
        digits = []
        while number > 127:
            digits.append(number & 127 | 128)
            number >>= 7
        return bytes([*digits, number])
    if isinstance(value, int):
        return varint(field << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def onnx_model():
    """A 3x3 convolution of 4 to 5 channels and its Relu, with weights of its own."""
    def value(name, dims):
        shape = b"".join(proto(1, proto(1, dim)) for dim in dims)
        return proto(1, name) + proto(2, proto(1, proto(1, 1) + proto(2, shape)))
    numbers = [((i * 37) % 19 - 9) / 16 for i in range(5 * 4 * 9)]
    weight = b"".join(proto(1, dim) for dim in (5, 4, 3, 3)) + proto(2, 1) + proto(8, "w") + proto(9, struct.pack("<180f", *numbers))
    pads = proto(1, "pads") + b"".join(proto(8, 1) for _ in range(4)) + proto(20, 7)
    convolution = proto(1, "x") + proto(1, "w") + proto(2, "y") + proto(3, "first") + proto(4, "Conv") + proto(5, pads)
    relu = proto(1, "y") + proto(2, "z") + proto(3, "second") + proto(4, "Relu")
    graph = (proto(1, convolution) + proto(1, relu) + proto(2, "little") + proto(5, weight) + proto(11, value("x", (1, 4, 9, 9))) +
             proto(12, value("z", (1, 5, 9, 9))))
    return proto(1, 8) + proto(7, graph) + proto(8, proto(1, "") + proto(2, 13))


class CompileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tiny = self.folder / "tiny.yaml"
        self.tiny.write_text(TINY)
        self.out = self.folder / "out"

    def done(self, *arguments, verb="compile", code=0):
        result = run(verb, *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def assertSameBut(self, one, other, but="run.json"):  # which has the command
        one, other = files_of(one), files_of(other)
        self.assertEqual({**one, but: b""}, {**other, but: b""})

    def manifest(self, directory=None):
        return json.loads(((directory or self.out) / "manifest.json").read_text())

    def refused(self, *arguments, saying):
        result = run("compile", *arguments)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)

    def schedules(self, layers):
        path = self.folder / "schedules.json"
        path.write_text(json.dumps({"format": "tilewright-schedules-1", "layers": layers}))
        return path


class Compiled(CompileTest):
    def test_files_table_and_verification(self):
        text = self.done(self.tiny, "-o", self.out).stdout
        self.assertIn("tiny on zoo:vta (1 x 16 x 16), pipelined core, direct memory, latencies 16 and 16, seed 1: 3 programs", text)
        self.assertTrue(text.endswith("verified: 5,760 elements of 3 steps equal\n"), text)
        self.assertEqual(sorted(files_of(self.out)), ["1_conv1.vtaprog", "2_conv2.vtaprog", "3_conv3.vtaprog", "listing.txt",
                                                      "machine.json", "manifest.json", "run.json"])
        manifest = self.manifest()
        self.assertEqual(manifest["verification"]["elements"], 24 * 144 + 24 * 36 + 40 * 36)
        self.assertTrue(manifest["verification"]["equal"])
        for step in manifest["steps"][1:]:
            self.assertIn(f"{step['cycles']:,}", text)
            simulated = json.loads(self.done(self.out / step["program"]["file"], "--machine", self.out / "machine.json", "--json",
                                             verb="simulate").stdout)
            self.assertEqual(simulated["cycles"], step["cycles"])
            self.assertEqual(simulated["gemm"]["steps"], step["gemm_steps"])
            self.assertEqual(simulated["executed"]["instructions"], step["program"]["instructions"])
        self.assertEqual(json.loads(self.done(self.tiny, "--json").stdout), manifest)
        listing = (self.out / "listing.txt").read_text()
        self.assertIn("on the host, before conv1: inputs under each column of the kernel side by side, as 9 channels", text)
        self.assertEqual(listing.count(".vtaprog\n"), 3)
        self.assertEqual(listing.count("finish"), 3)

    def test_a_program_computes_what_a_plain_loop_does(self):
        self.done(self.tiny, "-o", self.out)
        step = self.manifest()["steps"][1]
        dump = self.folder / "dump.vtaprog"
        self.done(self.out / "1_conv1.vtaprog", "--dump", dump, verb="simulate")
        sections = sections_of((self.out / "1_conv1.vtaprog").read_bytes())
        inputs, weights, biases = (next(s[4] for s in sections if s[0] == 1 and s[1] == tag) for tag in (1, 2, 3))
        inputs, weights = struct.unpack(f"{len(inputs)}b", inputs), struct.unpack(f"{len(weights)}b", weights)
        biases = struct.unpack(f"<{len(biases) // 4}i", biases)
        (_, _, _, size, result), = sections_of(dump.read_bytes())
        guard = (size - 2 * 16 * 144) // 2
        result = struct.unpack(f"{2 * 16 * 144}b", result[guard:size - guard])
        low, high = step["clip"]

        def image(channel, y, x):  # of the middle column of the kernel
            return inputs[(y * 12 + x) * 16 + 3 * channel + 1] if 0 <= x < 12 else 0

        self.assertIn("side by side", step["host"][0]["does"])
        for y in range(12):
            for x in range(12):
                for s in range(3):
                    self.assertEqual([inputs[(y * 12 + x) * 16 + 3 * c + s] for c in range(3)],
                                     [image(c, y, x + s - 1) for c in range(3)], (y, x, s))
        for channel in range(24):
            block, lane = divmod(channel, 16)
            for y in range(12):
                for x in range(12):
                    total = biases[channel]
                    for r in range(3):
                        for s in range(3):
                            if not 0 <= y + r - 1 < 12:
                                continue
                            weight = ((block * 3 + r) * 16 + lane) * 16 + s
                            total += sum(image(c, y + r - 1, x + s - 1) * weights[weight + 3 * c] for c in range(3))
                    expected = min(max(total >> step["shift"], low), high)
                    self.assertEqual(result[(block * 144 + y * 12 + x) * 16 + lane], expected, (channel, y, x))
        self.assertGreater(len(set(result)), 20)

    def test_the_same_seed_gives_the_same_bytes_for_any_number_of_threads(self):
        other = self.folder / "other"
        self.done("zoo:squeezenet", "--input-size", "40", "--threads", "1", "-o", self.out)
        self.done("zoo:squeezenet", "--input-size", "40", "--threads", "3", "-o", other)
        self.assertSameBut(self.out, other)
        seeded = self.folder / "seeded"
        self.done("zoo:squeezenet", "--input-size", "40", "--seed", "2", "-o", seeded)
        self.assertNotEqual(files_of(other)["01_conv1.vtaprog"], files_of(seeded)["01_conv1.vtaprog"])

    def test_host_steps_have_reasons(self):
        text = self.done("zoo:squeezenet", "--input-size", "40").stdout
        self.assertIn("on the host: fire3_squeeze_concat, fire4_squeeze_concat, … (8 steps): nothing is computed but", text)
        self.assertRegex(text, r"verified: [\d,]+ elements of 30 steps equal")

    def test_other_machines_batches_cores_and_models(self):
        machine = self.folder / "small.json"
        machine.write_text(SMALL)
        text = self.done(self.tiny, "--machine", machine, "--batch", "3").stdout
        self.assertIn("(2 x 8 x 32)", text)
        self.assertIn("verified: 17,280 elements of 3 steps equal", text)
        cycles = [json.loads(self.done(self.tiny, "--core", core, "--json").stdout)["cycles"] for core in ("sequential", "pipelined")]
        self.assertGreater(cycles[0], cycles[1])
        model = self.folder / "little.onnx"
        model.write_bytes(onnx_model())
        self.assertIn("verified: 405 elements of 1 step equal", self.done(model).stdout)

    def test_an_unknown_accuracy_is_said(self):
        text = self.done(self.tiny, "-o", self.out).stdout
        self.assertIn("input: real numbers from -1 to 1, which is assumed (--input-range LO,HI tells); scales were chosen with noise, "
                      "so the accuracy is unknown\n", text)
        manifest = self.manifest()
        self.assertEqual(manifest["input_range"], {"low": -1, "high": 1, "assumed": True})
        self.assertEqual((manifest["calibration"], manifest["accuracy"]), ("noise", None))

    def test_the_inputs_range_decides_its_scale(self):
        for given, exponent in (("-1,1", 7), ("0,1", 7), ("0,255", -1), ("-128,127", 0), ("-4,4", 5), ("0,0.25", 9)):
            out = self.folder / f"out{exponent}{given[:2]}"
            text = self.done(self.tiny, f"--input-range={given}", "-o", out).stdout
            manifest = self.manifest(out)
            low, high = map(float, given.split(","))
            self.assertEqual(manifest["input_range"], {"low": low, "high": high, "assumed": False})
            self.assertEqual(manifest["steps"][0]["exponent"], exponent)
            self.assertLessEqual(max(-low, high) * 2 ** exponent, 128)
            self.assertIn("; scales were chosen with noise, so the accuracy is unknown\n", text)
            self.assertNotIn("assumed", text)
            self.assertIn("verified: ", text)

    def test_one_step_and_nothing_executed(self):
        self.done(self.tiny, "-o", self.out)
        whole = files_of(self.out)
        one, blind = self.folder / "one", self.folder / "blind"
        self.assertIn("verified: 864 elements of 1 step equal", self.done(self.tiny, "--layer", "conv2", "-o", one).stdout)
        self.assertEqual(sorted(files_of(one)), ["2_conv2.vtaprog", "listing.txt", "machine.json", "manifest.json", "run.json"])
        self.assertEqual(files_of(one)["2_conv2.vtaprog"], whole["2_conv2.vtaprog"])
        self.assertEqual(self.manifest(one)["verification"]["elements"], 864)
        self.assertIn("not verified", self.done(self.tiny, "--no-verify", "-o", blind).stdout)
        self.assertIsNone(self.manifest(blind)["verification"])
        for name in ("1_conv1.vtaprog", "2_conv2.vtaprog", "3_conv3.vtaprog", "listing.txt"):
            self.assertEqual(files_of(blind)[name], whole[name])
        for step, other in zip(self.manifest()["steps"][1:], self.manifest(blind)["steps"][1:]):
            self.assertEqual((step["cycles"], step["program"]), (other["cycles"], other["program"]))


class Schedules(CompileTest):
    def test_chosen_schedules_are_used_and_computed_with(self):
        text = self.done(self.tiny, "--schedules", self.schedules({"conv1": KNOBS}), "-o", self.out).stdout
        self.assertRegex(text, r"conv1 .* b1 h5 w7 ci1 co2 +1x1 ")
        self.assertIn("verified: 5,760 elements of 3 steps equal", text)
        steps = self.manifest()["steps"]
        self.assertEqual(steps[1]["schedule"], KNOBS)
        other = self.folder / "other"
        self.done(self.tiny, "--schedules", self.out / "manifest.json", "-o", other)
        self.assertSameBut(other, self.out)
        plain = self.folder / "plain"
        self.done(self.tiny, "-o", plain)
        self.assertNotEqual(self.manifest(plain)["steps"][1]["schedule"], KNOBS)
        self.assertEqual(self.manifest(plain)["steps"][2:], steps[2:])

    def test_schedules_that_cannot_be(self):
        def refused(layers, saying):
            self.refused(self.tiny, "--schedules", self.schedules(layers), saying=saying)

        refused({"conv4": KNOBS}, "layer 'conv4' is none of tiny, expected one of its 3 layers (did you mean")
        refused({"conv1": {"tile_x": 1}}, "'tile_x' is no knob of a schedule")
        refused({"conv1": {"tile_h": 0}}, "tile_h is 0, expected a whole number from 1")
        refused({"conv1": {"tile_h": 2.5}}, "tile_h is 2.5, expected")
        refused({"conv1": 7}, "is 7, expected an object of knobs")
        refused({"conv1": {"tile_h": 12, "tile_w": 12, "tile_co": 900}}, "layer 'conv1': schedule")
        path = self.folder / "schedules.json"
        path.write_text('{"format": "tilewright-schedules-1",\n "layers": {"conv1": {}')
        self.refused(self.tiny, "--schedules", path, saying="schedules.json:2: is not JSON: ")
        path.write_text('{"format": "tilewright-schedules-1", "layers": {"conv1": {}, "conv1": {}}}')
        self.refused(self.tiny, "--schedules", path, saying="'conv1' stands twice, expected once")
        path.write_text('{"format": "tilewright-network-1"}')
        self.refused(self.tiny, "--schedules", path, saying="expected tilewright-schedules-1")
        self.refused(self.tiny, "--schedules", self.folder / "none.json", saying="none.json: no such file")


class Refused(CompileTest):
    def test_ranges_that_are_none(self):
        for wrong in ("0", "1,0", "1,1", "nan,1", "0,inf", "0,1,2", "a,b", "0,1e300", "0,1e-300", ","):
            self.refused(self.tiny, f"--input-range={wrong}", saying=f"--input-range is '{wrong}', expected LO,HI with LO below HI, like 0,255")

    def test_wrong_flags_and_files(self):
        self.refused(saying="the network is missing")
        self.refused("zoo:resnet19", saying="did you mean 'resnet18'?")
        self.refused("zoo:vit_b16", saying="LayerNormalization")
        self.refused(self.tiny, "--layer", "conv9", saying="'conv9' is no step of tiny, expected one of its 3 (did you mean 'conv")
        self.refused("zoo:squeezenet", "--input-size", "40", "--layer", "conv10_concat", saying="is the host's")
        self.refused(self.tiny, "--core", "fast", saying="core 'fast' is not known, expected one of sequential, pipelined")
        self.refused(self.tiny, "--machne", "zoo:vta", saying="'--machne' is not an option of compile (did you mean '--machine'?)")
        self.refused(self.tiny, "--batch", "0", saying="--batch")
        narrow = self.folder / "narrow.json"
        narrow.write_text('{"LOG_ACC_WIDTH": 4, "LOG_ACC_BUFF_SIZE": 16}')
        self.refused(self.tiny, "--machine", narrow, saying="have 8, 8 and 16 bits, expected 8, 8 and 32")
        wide = self.folder / "wide.yaml"
        wide.write_text("format: tilewright-network-1\nname: wide\nlayers:\n"
                        "  - {name: a, op: conv, in: [1000000000, 1, 1], out: 16, kernel: 1}\n")
        self.refused(wide, saying="step 'a': has 16000000000 weights, expected at most 2^31")

    def test_directories_that_hold_other_programs_stay_as_they_are(self):
        self.done(self.tiny, "-o", self.out)
        before = files_of(self.out)
        self.refused("zoo:squeezenet", "--input-size", "40", "-o", self.out, saying="network of the run there is")
        self.refused(self.tiny, "--layer", "conv2", "-o", self.out, saying='layer of the run there is "", but now it is "conv2"')
        self.assertEqual(files_of(self.out), before)
        (self.out / "manifest.json").unlink()  # as a run leaves it that was killed
        self.done(self.tiny, "-o", self.out)
        self.assertEqual(files_of(self.out), before)
        for name, saying in (("run.json", "run.json: does not describe a run"), ("machine.json", "holds 'machine.json' and no run"),
                             ("thesis.tex", "holds 'thesis.tex' and no run")):
            other = self.folder / f"with_{name}"
            other.mkdir()
            (other / name).write_text("{}")
            self.refused(self.tiny, "-o", other, saying=saying)
            self.assertEqual(files_of(other), {name: b"{}"})
        blocked = self.folder / "file"
        blocked.write_text("")
        self.refused(self.tiny, "-o", blocked, saying="file: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
