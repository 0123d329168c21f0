"""How right are integers? Usage: script/bench accuracy [OPTIONS]

The networks of tests/data/digits at three input ranges, in per cent of the 360 images that nobody was trained or calibrated on:
real numbers, integers whose scales come from noise in the assumed range -1,1, integers whose scales come from 120 images by each
method; and, where a Python with onnxruntime is found (--python), ONNX Runtime in real numbers and in its own integers (static
quantisation with the same images, a scale per channel).
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests" / "app")]

import digits_models
import drivers

METHODS = ["min-max", "percentile", "mse"]
THEIRS = """
import logging, sys
import numpy, onnxruntime
from onnxruntime import quantization
logging.disable(logging.WARNING)
folder = sys.argv[1]
seen, labels = numpy.load(folder + "/calibration.npz")["X"].astype("float32"), numpy.load(folder + "/labels.npz")
rows = iter([{"image": row[None]} for row in seen])
class Reader(quantization.CalibrationDataReader):
    def get_next(self):
        return next(rows, None)
quantization.quantize_static(folder + "/model.onnx", folder + "/integers.onnx", Reader(), per_channel=True)
for name in ("model", "integers"):
    session = onnxruntime.InferenceSession(f"{folder}/{name}.onnx", providers=["CPUExecutionProvider"])
    answers = session.run(None, {"image": labels["X"].astype("float32")})[0]
    print((answers.argmax(1) == labels["y"]).mean())
"""


def ours(folder, *arguments):
    result = subprocess.run([drivers.TILEWRIGHT, "compile", folder / "model.onnx", "--labels", folder / "labels.npz", "--json", *arguments],
                            capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def main():
    parser = argparse.ArgumentParser(prog="script/bench accuracy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranges", type=drivers.numbers, default=[1, 16, 255], help="of the pixels, with commas")
    parser.add_argument("--python", default=str(drivers.ROOT / "build" / "venv" / "bin" / "python"), help="one that has onnxruntime")
    options = drivers.parse(parser, ["tilewright"])
    columns = ["network", "pixels", "real", "noise", *METHODS, "ORT real", "ORT integers"]
    drivers.say("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for name, offset in digits_models.OFFSETS.items():
        for range_ in options.ranges:
            with tempfile.TemporaryDirectory() as path:
                folder = pathlib.Path(path)
                digits_models.write(drivers.ROOT / "tests" / "data" / "digits", name, range_, folder)
                noise = ours(folder, "--no-verify")
                shares = [noise["float_accuracy"], noise["accuracy"]]
                shares += [ours(folder, "--calibration", folder / "calibration.npz", "--calibration-method", method)["accuracy"] for method in METHODS]
                try:
                    theirs = subprocess.run([options.python, "-c", THEIRS, path], capture_output=True, text=True, check=True).stdout.split()
                    shares += map(float, theirs)
                except (OSError, subprocess.CalledProcessError):
                    shares += [None, None]
                low, high = (f"{(end - offset) * range_ / 16:g}" for end in (0, 16))
                drivers.say("| " + " | ".join([name, f"{low} to {high}", *("–" if share is None else f"{100 * share:.1f}" for share in shares)]) + " |")


if __name__ == "__main__":
    main()
