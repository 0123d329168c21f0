"""Does our engine compute what PyTorch's autograd computes? Usage: parity.py [--agents N] [--algorithm maddpg,masac]

bench_marl_dump writes down everything that goes into one update of all agents and comes out of it. autograd_update.py makes
the same update from the same weights, transitions and noise, in double and in single precision, and losses and all weights
afterwards are compared.

Adam's first step has the size of the learning rate however small a gradient is, so a weight whose gradient is nothing but
rounding moves in a random direction in any program. Where a gradient is below 1e-5 of its tensor's largest, but not zero,
the second opinion therefore takes over our weight; these are counted.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import torch_common  # first: it sets the number of threads before torch loads
import torch

import autograd_update
import drivers

TOLERANCE = 1e-4
ROUNDING = 1e-5  # of a tensor's largest gradient
TYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64, "U8": torch.uint8}
CASES = [["--semantics", semantics, "--layout", layout] for semantics, layout in
         (("shared", "joint"), ("shared", "state"), ("openai", "per-agent"), ("openai", "state"))]
EXTRA_CASES = {"maddpg": [], "masac": [["--entropy-batch-mean"]]}


def read_safetensors(path):
    """(tensors by name, metadata): eight bytes of header length, a JSON header, raw little-endian numbers."""
    data = bytearray(pathlib.Path(path).read_bytes())
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata, tensors = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        values = torch.frombuffer(data, dtype=torch.uint8, count=last - first, offset=8 + length + first).clone()
        tensors[name] = values.view(TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata


def networks(tensors, metadata, when, dtype):
    """Agents as dicts of networks by role, `when` before or after the update."""
    roles = ["actor", "critic"] + (["critic2"] if metadata["algorithm"] == "masac" else [])
    agents = []
    for agent in metadata["agents"].split(","):
        networks_of_agent = {}
        for role in roles + ["target_" + role for role in roles]:
            name = f"{when}.{agent}.{role}"
            layers = sum(key.startswith(name + ".weight") for key in tensors)
            networks_of_agent[role] = [tensors[f"{name}.{kind}{layer}"].to(dtype, copy=True)
                                       for layer in range(layers) for kind in ("weight", "bias")]
        agents.append(networks_of_agent)
    return agents


def inputs(tensors, metadata, dtype):
    """The batch and the noise of every agent."""
    count = len(metadata["agents"].split(","))
    batches, noises = [], []
    for i in range(count):
        name = f"batch{i if metadata['semantics'] == 'openai' else 0}."
        part = lambda what: list(tensors[name + what].to(dtype).chunk(count, 1))
        batches.append({"observations": part("observations"), "actions": part("actions"),
                        "next_observations": part("next_observations"), "rewards": tensors[name + "rewards"][i].to(dtype),
                        "terminated": torch.tensor(0, dtype=dtype), "weights": torch.tensor(1, dtype=dtype)})
        noises.append({"target": part("target_noise"), "own": part("policy_noise")[i]})
    return batches, noises


def rules(metadata):
    number = lambda name: float(metadata[name])
    return autograd_update.Rules(
        algorithm=metadata["algorithm"], gamma=number("gamma"), tau=number("tau"), learning_rate=number("learning_rate"),
        clip=number("clip"), logit_penalty=number("logit_penalty"), entropy=number("entropy"),
        entropy_batch_mean=metadata["entropy_batch_mean"] == "true", epsilon=number("adam_epsilon"),
        targets_at_once=metadata["semantics"] == "openai")


def folded(weight, tensors):
    """A first weight on observations and actions as one on state and actions."""
    plus, minus = tensors["table.plus"], tensors["table.minus"]
    states, entries = int(max(plus.max(), minus.max())) + 1, len(plus)
    result = torch.zeros(states, weight.shape[1], dtype=weight.dtype)
    result.index_add_(0, plus.clamp(min=0), weight[:entries] * (plus >= 0)[:, None])
    result.index_add_(0, minus.clamp(min=0), -weight[:entries] * (minus >= 0)[:, None])
    return torch.cat((result, weight[entries:]))


class Follower:
    """Called when a network of the second opinion has made its step: takes over our weights where the gradient is nothing
    but rounding."""

    def __init__(self, ours, theirs, moments):
        self.ours, self.theirs, self.moments, self.count = ours, theirs, moments, 0

    @torch.no_grad()
    def __call__(self, i, role):
        for mine, other, first in zip(self.ours[i][role], self.theirs[i][role], self.moments[i][role]["first"]):
            gradient = first.abs()
            rounding = (gradient < ROUNDING * gradient.max()) & (gradient > 0)
            other[rounding] = mine[rounding]
            self.count += int(rounding.sum())


def compare(ours, theirs, tensors, rules_used):
    """The largest relative difference of a tensor, and how many weights there are."""
    worst, total = 0.0, 0
    for our_agent, their_agent in zip(ours, theirs):
        for role, network in their_agent.items():
            for mine, other in zip(our_agent[role], network):
                other = other.detach()
                if mine.shape != other.shape:
                    other = folded(other, tensors)
                worst = max(worst, autograd_update.weight_difference(mine, other, rules_used))
                total += other.numel()
    return worst, total


def check(path, dtype):
    tensors, metadata = read_safetensors(path)
    agents, ours = (networks(tensors, metadata, when, dtype) for when in ("before", "after"))
    moments = [{role: autograd_update.fresh_moments(network) for role, network in agent.items()
                if not role.startswith("target_")} for agent in agents]
    batches, noises = inputs(tensors, metadata, dtype)
    follower = Follower(ours, agents, moments)
    losses = autograd_update.update_all(agents, moments, batches, noises, rules(metadata), follower)
    ours_losses = (tensors[f"losses.{kind}"].tolist() for kind in ("critic", "actor"))
    worst_loss = max(autograd_update.loss_difference(*mine, theirs) for *mine, theirs in zip(*ours_losses, losses))
    worst_weight, total = compare(ours, agents, tensors, rules(metadata))
    good = worst_loss <= TOLERANCE and worst_weight <= TOLERANCE and follower.count < total / 1000
    mean = " batch-mean entropy" if rules(metadata).entropy_batch_mean else ""
    title = f"{metadata['algorithm']} {metadata['semantics']} {metadata['layout']}{mean} {str(dtype).split('.')[1]}"
    print(f"{title:45} losses differ by {worst_loss:.1e}, weights by {worst_weight:.1e}; {follower.count} of {total:,} "
          f"taken over ({'equal' if good else 'DIFFERENT'} within {TOLERANCE:.0e})", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=3)
    parser.add_argument("--algorithm", type=drivers.chosen(["maddpg", "masac"]), default=["maddpg", "masac"])
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "update.safetensors"
        for algorithm in options.algorithm:
            for case in CASES + EXTRA_CASES[algorithm]:
                subprocess.run([drivers.program("bench_marl_dump"), path, "--agents", str(options.agents), "--algorithm",
                                algorithm, *case], check=True)
                for dtype in (torch.float64, torch.float32):
                    good = check(path, dtype) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
