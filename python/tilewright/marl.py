"""Learners of multi-agent games: MADDPG, MASAC, IPPO and MAPPO, on any PettingZoo parallel environment.

    >>> import tilewright as tw
    >>> learner = tw.marl.Ippo("simple_spread", agents=2, dialect="pettingzoo", worlds=8, rollout=400)
    >>> curve = learner.train(episodes=80)
    >>> len(learner.act({"agent_0": [0] * 12, "agent_1": [0] * 12}))
    2

The environment is the name of a world (`tilewright train --list` has them; they run in C++ from end to end), or an object:
a parallel environment, a list of copies, or a function that makes one. Needs the package gymnasium.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

try:
    import gymnasium as _gymnasium  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"tilewright.marl needs the package {missing.name}, expected it installed: pip install 'tilewright[rl]'",
        name=missing.name,
    ) from missing

from tilewright import _core
from tilewright._keywords import as_json
from tilewright._parallel import ParallelWorlds, copies_of, is_maker, mask_of
from tilewright.errors import InvalidInput

if TYPE_CHECKING:
    import torch

__all__ = ["CurvePoint", "Ippo", "Maddpg", "Mappo", "Masac", "Perceptron", "TeamLearner", "load", "options", "read_policy"]

Progress = Callable[[int, int], Any]


class CurvePoint(NamedTuple):
    """Means over the episodes of one interval of training."""

    episodes: int
    """Finished when the interval ended."""
    steps: int
    """Of the environment until then."""
    updates: int
    """Of all agents until then."""
    mean_return: float
    """Sum over agents of what an episode paid."""
    agent_returns: dict[str, float]
    """What an episode paid each agent."""


@dataclass(frozen=True)
class Perceptron:
    """A multi-layer perceptron in NumPy: y = W2·f(W1·f(W0·x + b0) + b1) + b2."""

    weights: tuple[NDArray[np.float32], ...]
    """(outputs, inputs) of each layer, as torch.nn.Linear has them."""
    biases: tuple[NDArray[np.float32], ...]
    """Of each layer."""
    activation: str = "relu"
    """Of the hidden layers: "relu" or "tanh"."""

    def __call__(self, x: Any) -> NDArray[np.float32]:
        """Outputs for a row of inputs, or for each of several."""
        row = np.asarray(x, dtype=np.float32)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            row = row @ weight.T + bias
            row = np.maximum(row, 0) if self.activation == "relu" else np.tanh(row)
        out: NDArray[np.float32] = row @ self.weights[-1].T + self.biases[-1]
        return out

    def state_dict(self) -> dict[str, NDArray[np.float32]]:
        """As torch.nn.Sequential(Linear, ReLU, Linear, …) names its tensors: 0.weight, 0.bias, 2.weight, …"""
        state: dict[str, NDArray[np.float32]] = {}
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            state |= {f"{2 * i}.weight": weight, f"{2 * i}.bias": bias}
        return state

    def to_torch(self) -> torch.nn.Sequential:
        """The same as a torch.nn.Sequential of Linear layers and activations, with weights of its own."""
        import torch

        layers: list[torch.nn.Module] = []
        for i, weight in enumerate(self.weights):
            layers.append(torch.nn.Linear(weight.shape[1], weight.shape[0]))
            if i + 1 < len(self.weights):
                layers.append(torch.nn.ReLU() if self.activation == "relu" else torch.nn.Tanh())
        module = torch.nn.Sequential(*layers)
        module.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in self.state_dict().items()})
        return module

    @classmethod
    def from_torch(cls, module: Any, activation: str = "relu") -> Perceptron:
        """Of a module of Linear layers, or its state dict; the layers are in the order of the dict."""
        state = module.state_dict() if hasattr(module, "state_dict") else module
        arrays = {name: _array(value) for name, value in state.items()}
        weights = [value for name, value in arrays.items() if name.endswith("weight")]
        biases = [value for name, value in arrays.items() if name.endswith("bias")]
        if len(weights) != len(biases) or len(arrays) != 2 * len(weights) or not weights:
            raise InvalidInput(f"the tensors of the module are {', '.join(arrays)}, expected a weight and a bias for each layer")
        return cls(tuple(weights), tuple(biases), activation)


def _array(value: Any) -> NDArray[np.float32]:
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.array(value, dtype=np.float32, order="C")


def _networks(tensors: Mapping[str, NDArray[Any]], role: str, activation: str) -> dict[str, Perceptron]:
    found: dict[str, dict[str, NDArray[Any]]] = {}
    for name, value in tensors.items():
        match = re.fullmatch(rf"(.*)\.{role}\.((?:weight|bias)\d+)", name)
        if match:
            found.setdefault(match[1], {})[match[2]] = value
    return {
        agent: Perceptron(
            tuple(np.ascontiguousarray(parts[f"weight{i}"].T) for i in range(len(parts) // 2)),
            tuple(parts[f"bias{i}"].copy() for i in range(len(parts) // 2)),
            activation,
        )
        for agent, parts in found.items()
    }


def read_policy(path: str | os.PathLike[str]) -> dict[str, Perceptron]:
    """The actors of a policy file, as save_policy() and `tilewright train` write them, by agent."""
    tensors, metadata = _core.read_safetensors(path)
    actors = _networks(tensors, "actor", metadata.get("activation", "relu"))
    if not actors:
        raise InvalidInput(f"{os.fspath(path)}: has no actors, expected a policy file")
    return actors


def options(algorithm: str) -> dict[str, tuple[str, str]]:
    """Default and meaning of every option of a learner in worlds of one's own: "maddpg", "masac", "ippo" or "mappo"."""
    return {name.replace("-", "_"): (default, meaning) for name, default, meaning in _core.train_options(algorithm)}


class _Interrupt:
    """Ctrl-C waits for the end of the episodes under way; a second one does not."""

    def __init__(self) -> None:
        self.heard = False
        self.before: Any = None
        self.replaced = False

    def note(self, signal_number: int, frame: FrameType | None) -> None:
        self.heard = True
        signal.signal(signal.SIGINT, self.before)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self.before = signal.getsignal(signal.SIGINT)
            if self.before is signal.default_int_handler:
                signal.signal(signal.SIGINT, self.note)
                self.replaced = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.replaced:
            signal.signal(signal.SIGINT, self.before)


class TeamLearner:
    """What Maddpg, Masac, Ippo and Mappo have in common.

    One thread at a time may use a learner; a second one, or a callback, gets an InvalidInput. Training gives up the
    interpreter's lock but for what is written in Python.
    """

    algorithm = ""
    """The learner's name on the command line."""

    def __init__(self, env: Any, *, worlds: int | None = None, threads: int = 1, **options: Any) -> None:
        """A learner that knows nothing yet, and its worlds.

        env: the name of a world, a PettingZoo parallel environment, a list of copies, or a function that makes one. Copies
            belong to the learner from now on.
        worlds: copies side by side; default 1, or as many as there are in the list.
        threads: 0 = all; the same numbers come out for any number.
        options: as `tilewright train` has them; options() lists them with their defaults. Of worlds by name also theirs.
        """
        if not self.algorithm:
            raise TypeError("TeamLearner is made by Maddpg, Masac, Ippo or Mappo")
        self._worlds: ParallelWorlds | None = None
        if isinstance(env, str):
            self._core = _core.named_world_learner(self.algorithm, env, as_json(options | {"worlds": worlds}), threads)
        else:
            copies = copies_of(env, worlds)
            seed = options.get("seed", 1)
            if not isinstance(seed, int | np.integer) or seed < 0:
                raise InvalidInput(f"{self.algorithm}: seed is {seed!r}, expected a whole number from 0")
            self._worlds = ParallelWorlds(copies, int(seed))
            self._core = _core.python_world_learner(
                self.algorithm, self._worlds.name, self._worlds, len(copies), self._worlds.specs(), self._worlds.masked,
                as_json(options), threads,
            )  # fmt: skip
        self.agents: list[str] = [agent for agent, *_ in self._core.agents]

    def __repr__(self) -> str:
        if not hasattr(self, "agents"):
            return object.__repr__(self)
        done = f"{self.episodes} episodes, {self.updates} updates"
        return f"<{type(self).__name__} of {len(self.agents)} agents in {self._core.name}: {done}>"

    @property
    def episodes(self) -> int:
        """Done so far."""
        return self._core.episodes

    @property
    def steps(self) -> int:
        """Of the worlds, so far."""
        return self._core.steps

    @property
    def updates(self) -> int:
        """Of all agents, so far."""
        return self._core.updates

    @property
    def options(self) -> dict[str, str]:
        """Every option with its value, as the command line writes them."""
        return {name.replace("-", "_"): value for name, value in self._core.settings.items()}

    @property
    def curve(self) -> list[CurvePoint]:
        """The learning curve so far; the last interval may be unfinished."""
        points = self._core.curve()
        return [CurvePoint(e, s, u, mean, dict(zip(self.agents, each, strict=True))) for e, s, u, mean, each in points]

    @property
    def losses(self) -> dict[str, dict[str, float]]:
        """Critics' and actors' losses of the latest update, by agent; empty before the first."""
        critic, actor = self._core.losses
        return {"critic": dict(zip(self.agents, critic, strict=False)), "actor": dict(zip(self.agents, actor, strict=False))}

    def train(self, episodes: int, progress: Progress | None = None) -> list[CurvePoint]:
        """Learns from that many more episodes, in whole rounds of one in every world, and returns the curve so far.

        progress(done, all) is told about ten times a second and at the end, done and all counting the episodes of this
        call; False stops. Ctrl-C stops after the episodes under way and raises KeyboardInterrupt: what was learned is kept,
        and train() goes on from there. A second Ctrl-C does not wait.
        """
        begun, told = self.episodes, 0.0
        with _Interrupt() as interrupt:

            def keep_going(done: int, steps: int, updates: int) -> bool:
                nonlocal told
                now = time.monotonic()
                if interrupt.heard:
                    return False
                if progress is None or (now - told < 0.1 and done - begun < episodes):
                    return True
                told = now
                return progress(done - begun, episodes) is not False

            self._core.train(episodes, keep_going)
        if interrupt.heard:
            raise KeyboardInterrupt
        return self.curve

    def evaluate(self, episodes: int, first_episode: int = 1 << 40) -> dict[str, float]:
        """Mean return of each agent over greedy episodes, which nothing learns from.

        first_episode: the number of the first one, far from those of training.
        """
        return dict(zip(self.agents, self._core.evaluate(episodes, first_episode), strict=True))

    def act(
        self, observations: Mapping[str, Any], infos: Mapping[str, Mapping[str, Any]] | None = None, *, explore: bool = False
    ) -> dict[str, Any]:
        """What every agent does, as the environment's step() takes it.

        observations: of every agent; those that are missing, because they are gone, get no action.
        infos: as the environment gave them, where masks are in them.
        explore: act by chance, as training does, instead of greedily.
        """
        rows, masks = self._rows(observations, infos or {})
        actions = self._core.act(rows, masks, explore)[0]
        taken, first = {}, 0
        for i, (agent, _, _, heads, continuous) in enumerate(self._core.agents):
            size = sum(heads) + continuous
            row = actions[first : first + size]
            first += size
            if agent in observations:
                taken[agent] = self._worlds.coders[i].action(row) if self._worlds else _choice(row, heads)
        return taken

    def _rows(
        self, observations: Mapping[str, Any], infos: Mapping[str, Mapping[str, Any]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        unknown = [agent for agent in observations if agent not in self.agents]
        if unknown:
            raise InvalidInput(f"there is no agent {unknown[0]!r}, expected some of {', '.join(self.agents)}")
        rows, masks = [], []
        for i, (agent, _, size, heads, continuous) in enumerate(self._core.agents):
            if agent not in observations:
                rows.append(np.zeros(size, np.float32))
                masks.append(np.ones(sum(heads) + continuous, np.float32))
                continue
            seen = observations[agent]
            row = self._worlds.seers[i].row(seen) if self._worlds else np.asarray(seen, dtype=np.float32).ravel()
            if row.size != size:
                raise InvalidInput(f"the observation of {agent} has {row.size} numbers, expected {size}")
            rows.append(row)
            if self._worlds and self._worlds.masked:
                masks.append(self._worlds._mask(i, mask_of(seen, infos.get(agent, {}))))
        return np.concatenate(rows)[None], np.concatenate(masks)[None] if self._core.masks else None

    def networks(self, role: str = "actor") -> dict[str, Perceptron]:
        """The networks of a role, by agent, as copies in NumPy.

        role: "actor" (from what the agent sees to logits, or to means and logarithms of standard deviations), "critic", and
            "critic2" of MASAC. Critics of Maddpg, Masac and Mappo read what all agents see, one after another, those of the
            first two then what all do; those of Ippo what the agent sees. Values of Ippo and Mappo are in units of the spread
            of returns.
        """
        return self._of_role(role)[0]

    def _of_role(self, role: str) -> tuple[dict[str, Perceptron], dict[str, NDArray[Any]]]:
        tensors = self._core.tensors()
        networks = _networks(tensors, re.escape(role), self.options.get("activation", "relu"))
        if not networks:
            roles = sorted({match[1] for name in tensors if (match := re.search(r"\.(actor|critic\d*)\.weight0$", name))})
            raise InvalidInput(f"role is '{role}', expected one of {', '.join(roles)}")
        return networks, tensors

    def set_networks(self, networks: Mapping[str, Perceptron], role: str = "actor") -> None:
        """Puts networks of the same sizes in the place of those of a role; slow copies get the same weights."""
        there, tensors = self._of_role(role)
        new: dict[str, NDArray[Any]] = {}
        for agent, network in networks.items():
            if agent not in there:
                raise InvalidInput(f"there is no agent {agent!r}, expected some of {', '.join(there)}")
            shapes = [weight.shape for weight in network.weights]
            expected = [weight.shape for weight in there[agent].weights]
            if shapes != expected:
                raise InvalidInput(f"the layers of {agent} are {shapes}, expected {expected}")
            for i, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
                if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
                    raise InvalidInput(f"layer {i} of {agent} holds a number that is not finite")
                for name in (f"{agent}.{role}", f"{agent}.target_{role}"):
                    if f"{name}.bias{i}" not in tensors:
                        continue  # ippo and mappo have no slow copies
                    if tensors[f"{name}.weight{i}"].shape != weight.T.shape:
                        raise InvalidInput(f"the slow {role} of {agent} is kept folded, expected a learner with layout='joint'")
                    new[f"{name}.weight{i}"] = np.ascontiguousarray(weight.T, np.float32)
                    new[f"{name}.bias{i}"] = np.ascontiguousarray(bias, np.float32)
        self._core.set_tensors(new)

    def to_torch(self, role: str = "actor") -> dict[str, torch.nn.Sequential]:
        """The networks of a role as plain torch modules, by agent. Needs the package torch."""
        return {agent: network.to_torch() for agent, network in self.networks(role).items()}

    def from_torch(self, modules: Mapping[str, Any], role: str = "actor") -> None:
        """Takes the weights of torch modules (or state dicts) of the same sizes, by agent: the way back of to_torch()."""
        activation = self.options.get("activation", "relu")
        self.set_networks({agent: Perceptron.from_torch(module, activation) for agent, module in modules.items()}, role)

    def save_policy(self, path: str | os.PathLike[str]) -> None:
        """The actors as a safetensors file: AGENT.actor.weight0 (inputs × outputs), AGENT.actor.bias0, …"""
        self._core.save_policy(path)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Everything, replay memory included, into a directory; load() then goes on bit by bit."""
        self._core.save(directory)

    def load(self, directory: str | os.PathLike[str]) -> Self:
        """Becomes what save() wrote; agents and options have to be the same. Returns itself."""
        self._core.load(directory)
        return self


def _choice(row: NDArray[np.float32], heads: list[int]) -> int:
    taken, stride, first = 0, 1, 0
    for head in heads:
        taken += stride * int(row[first : first + head].argmax())
        stride, first = stride * head, first + head
    return taken


class Maddpg(TeamLearner):
    """MADDPG: off-policy, soft Gumbel actions, one critic per agent on what all agents see and do.

    Environments with action masks are refused. options("maddpg") lists the options with their defaults.
    """

    algorithm = "maddpg"


class Masac(TeamLearner):
    """MASAC: off-policy, MADDPG with twin critics and an entropy bonus.

    Environments with action masks are refused. options("masac") lists the options with their defaults.
    """

    algorithm = "masac"


class Ippo(TeamLearner):
    """IPPO: on-policy, every agent learns by itself; its critic sees what the agent sees. Action masks are kept to.

    options("ippo") lists the options with their defaults.
    """

    algorithm = "ippo"


class Mappo(TeamLearner):
    """MAPPO: on-policy, the actors of IPPO with critics that see what all agents see. Action masks are kept to.

    options("mappo") lists the options with their defaults.
    """

    algorithm = "mappo"


def load(directory: str | os.PathLike[str], env: Any = None, *, threads: int = 1) -> TeamLearner:
    """The learner that save() wrote, in the same kind of environment.

    env: as the learner was made with; None: the world of a name that it was in.
    """
    path = Path(directory) / "learner.json"
    try:
        settings = dict(json.loads(path.read_text())["settings"])
        kind = {"maddpg": Maddpg, "masac": Masac, "ippo": Ippo, "mappo": Mappo}[settings.pop("algorithm")]
        world, worlds = settings.pop("world"), settings.pop("worlds")
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        raise InvalidInput(f"{path}: is no learner ({wrong}), expected what save() wrote") from wrong
    settings.pop("curve-every", None)
    if env is None:
        env = world
    several = isinstance(env, str) or is_maker(env)
    learner: TeamLearner = kind(env, worlds=worlds if several else None, threads=threads, **settings)
    return learner.load(directory)
