"""Your ONNX model on your machine, plotted: own_model.py MODEL.onnx MACHINE.yaml [PLOT.png]."""

from __future__ import annotations

import sys
from pathlib import Path

import tilewright as tw

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def main(model: str = str(EXAMPLES / "model.onnx"), machine: str = str(EXAMPLES / "machine.yaml"), plot: str = "") -> None:
    network = tw.read_network(model)
    study = tw.map(network, machine, objective="edp", samples=200)
    print(study.text)
    print(study.to_pandas()[["layer", "operator", "shape"]])
    if plot:
        study.plot().figure.savefig(plot)  # type: ignore[union-attr]


if __name__ == "__main__":
    main(*sys.argv[1:])
