"""The PyTorch contenders as processes: finding an interpreter that has PyTorch, checking it, and running a contender."""

import functools
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CONTENDERS = ("list", "numpy", "stacked")

# One thread, processor time; the names of the BLAS libraries tell whether the matrix product is a serious one.
PROBE = """
import json, os, time
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"): os.environ[variable] = "1"
import numpy, torch
torch.set_num_threads(1)
a, b, best = torch.randn(1024, 1024), torch.randn(1024, 1024), 1e9
for _ in range(30):
    start = time.process_time()
    torch.mm(a, b)
    best = min(best, time.process_time() - start)
blas = sorted({os.path.basename(line.split()[-1]) for line in open("/proc/self/maps") if "blas" in line or "mkl" in line})
print(json.dumps({"torch": torch.__version__, "numpy": numpy.__version__, "blas": blas,
                  "sgemm_gflops": 2 * 1024**3 / best / 1e9}))
"""


@functools.lru_cache(maxsize=None)
def find():
    """(interpreter, what it has) of the first one that has PyTorch, or (None, None)."""
    for interpreter in (os.environ.get("TILEWRIGHT_TORCH_PYTHON"), sys.executable, "/usr/bin/python3"):
        if not interpreter:
            continue
        try:
            done = subprocess.run([interpreter, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  encoding="utf-8", check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return interpreter, json.loads(done.stdout)
    return None, None


def complaint():
    """One sentence when the contenders cannot run, or not fairly; None when all is well."""
    interpreter, facts = find()
    if interpreter is None:
        return ("PyTorch is not installed, so only ours is measured: script/bootstrap --develop installs python3-torch, "
                "TILEWRIGHT_TORCH_PYTHON names another interpreter.")
    if facts["sgemm_gflops"] < 25:
        return (f"PyTorch multiplies matrices at {facts['sgemm_gflops']:.1f} GFLOP/s with {', '.join(facts['blas'])}, which "
                "would make every ratio a lie: install libopenblas0-pthread.")
    return None


def script(name, *arguments):
    """Runs one of our scripts that needs PyTorch; its exit code."""
    interpreter, _ = find()
    return subprocess.run([interpreter, HERE / name, *arguments], check=False).returncode


def measure(contender, agents, transitions, repetitions, sampler="uniform"):
    interpreter, _ = find()
    done = subprocess.run([interpreter, HERE / f"torch_{contender}.py", "--agents", str(agents), "--transitions",
                           str(transitions), "--repetitions", str(repetitions), "--sampler", sampler],
                          stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"the contender {contender} failed with {agents} agents")
    return json.loads(done.stdout)
