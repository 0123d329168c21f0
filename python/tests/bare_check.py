"""bare_check.py: that an installed package works by itself; run by script/check, also where our libraries are hidden."""

from __future__ import annotations

import subprocess
import sys
import tempfile

import tilewright as tw

assert "/build/dev/" not in tw.__file__, tw.__file__
network, machine = tw.read_network("zoo:alexnet"), tw.read_machine("zoo:eyeriss")
space = tw.space(network["conv3"], machine)
assert space.evaluate_batch(space.random(1000))["feasible"].any()
with tempfile.TemporaryDirectory() as folder:
    study = tw.map("zoo:alexnet", "zoo:eyeriss", search="bayesian", samples=30, output=f"{folder}/run")  # SQLite, Eigen
    assert len(study.mappings) == 8
    assert len(tw.open_run(f"{folder}/run").points().read()["number"]) > 100
assert tw.codesign("zoo:alexnet", layer="conv5", search="autotvm", measurements=32)["totals"]["cycles"] > 0  # XGBoost
done = subprocess.run([sys.executable, "-m", "tilewright", "zoo", "resnet18"], capture_output=True, text=True, check=True)
assert "1.814 G MACs" in done.stdout
with open("/proc/self/maps", encoding="utf-8") as maps:
    libraries = {line.split("/")[-1].strip() for line in maps if ".so" in line and "tilewright.libs" in line}
print(f"works, with {', '.join(sorted(libraries)) or 'the libraries of the system'}")
