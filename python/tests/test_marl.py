"""Learners on games that are written in Python and on worlds of a name: they learn, go on, and change hands with other tools."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw

sys.path.append(str(Path(__file__).parent))
from games import Leaving, Matching, Naming

ON_POLICY = {"rollout": 200, "learning_rate": 0.01, "hidden": 32}
OFF_POLICY = {"batch": 64, "warm_up": 200, "update_every": 16, "hidden": 32, "capacity": 20_000}
LEARNERS = [
    (tw.marl.Maddpg, OFF_POLICY),
    (tw.marl.Masac, OFF_POLICY | {"entropy": 0.1, "tau": 0.02}),
    (tw.marl.Ippo, ON_POLICY),
    (tw.marl.Mappo, ON_POLICY),
]
by_name = pytest.mark.parametrize(("kind", "options"), LEARNERS, ids=[kind.algorithm for kind, _ in LEARNERS])


@by_name
def test_they_learn_and_their_twins_that_may_not_do_not(kind, options):
    earned = {}
    for rate in (options.get("learning_rate", 0.01), 0.0):
        learner = kind(Naming, worlds=8, **options | {"learning_rate": rate})
        learner.train(6000)
        assert learner.updates > 0
        earned[rate > 0] = learner.evaluate(200)["left_0"]
    assert earned[True] > 0.95
    assert earned[False] < 0.6  # naming by chance pays 1/16, a fixed policy at most a quarter for each pair that agrees


@pytest.mark.parametrize("kind", [tw.marl.Ippo, tw.marl.Mappo])
def test_they_learn_to_say_numbers(kind):
    earned = {}
    for rate in (0.005, 0.0):
        learner = kind(Matching, worlds=16, rollout=400, hidden=32, learning_rate=rate, entropy=0.0)
        learner.train(24_000)
        earned[rate] = sum(learner.evaluate(200).values())
    assert earned[0.005] > -0.25
    assert earned[0.0] < -0.3  # always the same number: -1/3 each at best


def test_off_policy_learners_say_numbers_too():
    learner = tw.marl.Maddpg(Matching, worlds=16, **OFF_POLICY)
    untaught = sum(learner.evaluate(200).values())
    learner.train(24_000)
    assert sum(learner.evaluate(200).values()) > untaught / 3


@pytest.mark.parametrize("kind", [tw.marl.Ippo, tw.marl.Mappo])
def test_masks_are_kept_to(kind):
    learner = kind(lambda: Naming(masked=True), worlds=4, **ON_POLICY)  # the game asserts it
    learner.train(2000)
    assert learner.evaluate(100)["left_0"] > 0.9
    game = Naming(masked=True)
    for seed in range(20):
        seen, infos = game.reset(seed=seed)
        game.step(learner.act(seen, infos, explore=True))
    with pytest.raises(tw.InvalidInput, match=r"^the mask of left_0 has 3 entries, expected 4$"):
        learner.act(seen, {"left_0": {"action_mask": [1, 1, 1]}})
    with pytest.raises(tw.InvalidInput, match="allows nothing"):
        learner.act(seen, {"left_0": {"action_mask": [0, 0, 0, 0]}})


@pytest.mark.parametrize("kind", [tw.marl.Maddpg, tw.marl.Masac])
def test_off_policy_learners_refuse_masks(kind):
    with pytest.raises(tw.InvalidInput, match="mask"):
        kind(lambda: Naming(masked=True))


def test_actions_begin_where_the_space_does():
    learner = tw.marl.Ippo(lambda: Naming(start=3), worlds=8, **ON_POLICY)
    learner.train(3000)
    game = Naming(start=3)
    for seed in range(10):
        seen, _ = game.reset(seed=seed)
        assert learner.act(seen) == {"left_0": game.number + 3, "right_0": game.number + 3}


@pytest.mark.parametrize("silent", [False, True])
@by_name
def test_agents_may_leave_and_see_and_do_things_of_every_kind(kind, options, silent):
    game = Leaving(silent)
    learner = kind(game, **options | {"curve_every": 10})
    curve = learner.train(100)
    assert len(game.received) >= 400
    assert learner.steps == 400
    assert learner.episodes == 100
    assert curve[-1].agent_returns == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert curve[-1].mean_return == 10
    seen, _ = game.reset()
    taken = learner.act(seen, explore=True)
    assert {agent: game.action_space(agent).contains(action) for agent, action in taken.items()} == dict.fromkeys("abcd", True)
    assert list(learner.act({"c": seen["c"]})) == ["c"]


def test_every_kind_of_observation_is_flattened_as_gymnasium_does():
    from gymnasium import spaces

    from tilewright._parallel import Seer

    game = Leaving()
    game.reset()
    game.t = 3
    for agent, seen in game.seen().items():
        expected = spaces.flatten(game.observation_space(agent), seen)
        assert np.array_equal(Seer(agent, game.observation_space(agent)).row(seen), np.float32(expected).ravel()), agent


@by_name
def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads(kind, options):
    def tensors(threads, seed):
        learner = kind(Naming, worlds=3, threads=threads, seed=seed, **options)
        learner.train(600)
        return learner._core.tensors()

    one, two, other = tensors(1, 5), tensors(2, 5), tensors(1, 6)
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert not all(np.array_equal(one[name], other[name]) for name in one)


def test_episodes_get_seeds_of_their_own_that_depend_on_the_seed():
    def seeds(**options):
        game = Naming()
        learner = tw.marl.Ippo(game, **options)
        game.seeds.clear()
        learner.train(50)
        return game.seeds

    assert seeds() == seeds(seed=1)
    assert len(set(seeds())) == 50
    assert not set(seeds()) & set(seeds(seed=2))


@by_name
def test_a_saved_learner_goes_on_bit_by_bit(kind, options, tmp_path):
    whole = kind(Naming, worlds=3, **options)
    whole.train(900)
    first = kind(Naming, worlds=3, **options)
    first.train(450)
    first.save(tmp_path / "run")
    second = tw.marl.load(tmp_path / "run", Naming)
    assert type(second) is kind
    assert (second.episodes, second.steps, second.updates) == (first.episodes, first.steps, first.updates)
    assert second.options | {"curve_every": ""} == first.options | {"curve_every": ""}
    second.train(450)
    again = kind(Naming, worlds=3, **options)
    again.train(3)
    again.load(tmp_path / "run").train(450)
    first.train(450)
    for learner in (first, second, again):
        mine, expected = learner._core.tensors(), whole._core.tensors()
        assert mine.keys() == expected.keys()
        assert all(np.array_equal(mine[name], expected[name]) for name in mine)


@by_name
def test_worlds_of_a_name_learn_without_python(kind, options, tmp_path):
    learner = kind("toy:climbing" if kind.algorithm != "x" else "", worlds=4, **options)
    learner.train(400)
    learner.save(tmp_path / "toy")
    assert tw.marl.load(tmp_path / "toy").episodes == 400


def test_a_named_world_and_its_environment_speak_the_same_language():
    learner = tw.marl.Maddpg("simple_tag", agents=3, prey="learning", dialect="pettingzoo", layout="joint", **OFF_POLICY)
    env = tw.pettingzoo.particle("simple_tag", agents=3, seed=1)
    assert learner.agents == env.possible_agents
    seen, _ = env.reset()
    while env.agents:
        seen, *_ = env.step(learner.act(seen, explore=True))
    reference = tw.marl.Maddpg("simple_reference", **OFF_POLICY)
    env = tw.pettingzoo.particle("simple_reference")
    seen, _ = env.reset()
    choices = [action for _ in range(40) for action in reference.act(seen, explore=True).values()]
    assert max(choices) > 4  # words, too
    assert all(env.action_space("agent_0").contains(choice) for choice in choices)


def test_particle_worlds_through_pettingzoo_are_an_environment_like_any_other():
    learner = tw.marl.Masac(tw.pettingzoo.particle("simple_spread", agents=2), **OFF_POLICY)
    curve = learner.train(40)
    assert learner.steps == 1000
    assert learner.updates > 0
    assert curve[-1].mean_return < 0


def plain_forward(tensors, name, x, activation):
    layer = 0
    while f"{name}.weight{layer}" in tensors:
        x = x @ tensors[f"{name}.weight{layer}"].astype(np.float64) + tensors[f"{name}.bias{layer}"]
        layer += 1
        if f"{name}.weight{layer}" in tensors:
            x = np.maximum(x, 0) if activation == "relu" else np.tanh(x)
    return x


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_networks_in_numpy_act_as_the_learner_does(activation):
    learner = tw.marl.Ippo(Naming, worlds=8, activation=activation, **ON_POLICY)
    learner.train(400)
    tensors = learner._core.tensors()
    for agent, network in learner.networks().items():
        seen = np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32)
        outputs = network(seen)
        assert outputs.dtype == np.float32
        assert np.allclose(outputs, plain_forward(tensors, f"{agent}.actor", seen, activation), atol=1e-5)
        for row, output in zip(seen, outputs, strict=True):
            if np.sort(output)[-1] - np.sort(output)[-2] > 1e-4:
                assert learner.act({agent: row})[agent] == output.argmax()


@by_name
def test_networks_go_out_and_come_back(kind, options):
    learner = kind(Naming, worlds=4, **options)
    learner.train(400)
    other = kind(Naming, worlds=4, **options | {"seed": 9})
    game = Naming()
    other.from_torch({agent: network.state_dict() for agent, network in learner.networks().items()})
    for agent, network in other.networks().items():
        assert all(np.array_equal(a, b) for a, b in zip(network.weights, learner.networks()[agent].weights, strict=True))
    for seed in range(8):
        seen, _ = game.reset(seed=seed)
        if kind is not tw.marl.Masac:  # which acts with the slow copy, and that is now as the fast one
            assert other.act(seen) == learner.act(seen)
        outputs = {agent: network(seen[agent]) for agent, network in learner.networks().items()}
        assert other.act(seen) == {agent: int(output.argmax()) for agent, output in outputs.items()}
    critics = learner.networks("critic")
    inputs = {"ippo": 4, "mappo": 8, "maddpg": 16, "masac": 16}[kind.algorithm]
    assert critics["left_0"].weights[0].shape == (32, inputs)
    other.set_networks(critics, "critic")
    assert np.array_equal(other.networks("critic")["right_0"].weights[1], critics["right_0"].weights[1])
    other.train(200)


def test_networks_are_copies():
    learner = tw.marl.Ippo(Naming, **ON_POLICY)
    network = learner.networks()["left_0"]
    before = learner.networks()["left_0"].weights[0].copy()
    network.weights[0][:] = 7
    network.biases[0][:] = 7
    assert np.array_equal(learner.networks()["left_0"].weights[0], before)
    tensors = learner._core.tensors()
    learner.train(300)
    assert not np.array_equal(learner.networks()["left_0"].weights[0], before)
    assert np.array_equal(tensors["left_0.actor.weight0"].T, before)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed: pip install 'tilewright[torch]'")
@by_name
def test_networks_become_torch_modules_and_come_back(kind, options):
    import torch

    learner = kind(Naming, worlds=4, **options)
    learner.train(400)
    modules = learner.to_torch()
    seen = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    for agent, network in learner.networks().items():
        with torch.no_grad():
            assert np.allclose(modules[agent](torch.from_numpy(seen)).numpy(), network(seen), atol=1e-5)
    other = kind(Naming, worlds=4, **options | {"seed": 9})
    other.from_torch(modules)
    expected = learner.networks()["left_0"].weights
    assert all(np.array_equal(a, b) for a, b in zip(other.networks()["left_0"].weights, expected, strict=True))


class FakeTensor:
    """As much of a torch tensor as from_torch() uses."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


def test_modules_are_read_by_their_state_dicts():
    class FakeModule:
        def state_dict(self):
            return {name: FakeTensor(value) for name, value in learner.networks()["left_0"].state_dict().items()}

    learner = tw.marl.Ippo(Naming, **ON_POLICY)
    network = tw.marl.Perceptron.from_torch(FakeModule())
    assert list(network.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert np.array_equal(network.weights[1], learner.networks()["left_0"].weights[1])
    learner.from_torch({"right_0": FakeModule()})
    assert np.array_equal(learner.networks()["right_0"].weights[0], network.weights[0])


def test_a_policy_file_is_what_the_program_writes_and_reads(tmp_path):
    learner = tw.marl.Maddpg("simple_tag", agents=3, prey="learning", dialect="pettingzoo", **OFF_POLICY)
    learner.save_policy(tmp_path / "policy.safetensors")
    actors = tw.marl.read_policy(tmp_path / "policy.safetensors")
    assert list(actors) == sorted(learner.agents)
    assert np.array_equal(actors["agent_0"].weights[0], learner.networks()["agent_0"].weights[0])
    env = tw.pettingzoo.particle("simple_tag", prey=str(tmp_path / "policy.safetensors"), seed=1)
    everybody = tw.pettingzoo.particle("simple_tag", seed=1)
    assert env.possible_agents == everybody.possible_agents[:3]
    (env.reset(), everybody.reset())
    prey_seen = everybody._worlds.seen()
    env.step(dict.fromkeys(env.agents, 0))
    everybody.step(dict.fromkeys(env.agents, 0) | {"agent_0": int(actors["agent_0"](prey_seen["agent_0"]).argmax())})
    assert np.isfinite(env.state()).all()
    with pytest.raises(tw.NotFound):
        tw.marl.read_policy(tmp_path / "nothing.safetensors")


@pytest.mark.parametrize("algorithm", ["maddpg", "masac", "ippo", "mappo"])
def test_options_are_those_of_the_program(algorithm):
    told = tw.marl.options(algorithm)
    kind = getattr(tw.marl, algorithm.capitalize())
    made = kind(Naming).options
    assert {name: value for name, (value, _) in told.items()} == {name: made[name] for name in told}
    assert made["algorithm"] == algorithm
    given = {name: value for name, (value, _) in told.items() if name != "worlds"}
    for name, value in given.items():
        if value.replace(".", "", 1).isdigit():
            given[name] = float(value) if "." in value else int(value)
    again = kind(Naming, **given)
    assert again.options == made
    assert ("rollout" in told) == (algorithm in ("ippo", "mappo"))


def test_progress_is_told_and_may_stop():
    calls = []
    learner = tw.marl.Ippo(Naming, worlds=5, **ON_POLICY)
    learner.train(50, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (50, 50)
    learner.train(50, progress=lambda done, total: False)
    assert learner.episodes == 55
    with pytest.raises(ZeroDivisionError):
        learner.train(50, progress=lambda done, total: 1 / 0)
    learner.train(10)  # between episodes nothing is lost
    assert learner.episodes == 70


def test_what_a_game_throws_comes_out_and_the_learner_lives_on():
    class Failing(Naming):
        def step(self, actions):
            if len(self.seeds) == 30:
                raise RuntimeError("the game is broken")
            return super().step(actions)

    learner = tw.marl.Maddpg(Failing(), **OFF_POLICY)
    with pytest.raises(RuntimeError, match="the game is broken"):
        learner.train(100)
    assert learner.episodes == 28  # one reset was before training
    learner.act(Naming().reset()[0])
    learner.train(10)
    assert learner.episodes == 38
    learner = tw.marl.Ippo(Failing(), **ON_POLICY)
    with pytest.raises(RuntimeError, match="the game is broken"):
        learner.train(100)
    with pytest.raises(tw.InvalidInput, match="left in the middle by an exception"):
        learner.train(10)
    assert learner.evaluate(5)


def broken(**changes):
    class Broken(Naming):
        def step(self, actions):
            seen, rewards, terminated, truncated, infos = super().step(actions)
            return changes.get("seen", seen), changes.get("rewards", rewards), terminated, truncated, infos

    return Broken


@pytest.mark.parametrize(
    ("game", "exception", "sentence"),
    [
        (
            broken(seen={"left_0": np.zeros(3, np.float32)}),
            tw.InvalidInput,
            "the observation of left_0 has 3 numbers, expected 4",
        ),
        (
            broken(seen={"left_0": np.full(4, np.nan, np.float32)}),
            tw.InvalidInput,
            "observations of a step hold nan, expected finite",
        ),
        (broken(seen={"left_0": "words"}), tw.InvalidInput, "the observation of left_0 is 'words', expected one of Box"),
        (broken(rewards={"left_0": np.inf}), tw.InvalidInput, "rewards of a step hold inf"),
    ],
)
def test_games_that_break_the_contract_are_told_so(game, exception, sentence):
    with pytest.raises(exception, match=sentence):
        tw.marl.Maddpg(game, **OFF_POLICY).train(5)


@pytest.mark.parametrize(
    ("make", "exception", "sentence"),
    [
        (lambda: tw.marl.Maddpg("simple_spred"), tw.Error, "world 'simple_spred' is not known.*did you mean 'simple_spread'"),
        (lambda: tw.marl.Maddpg(Naming, batsch=3), tw.InvalidInput, "maddpg: 'batsch' is no option.*did you mean 'batch'"),
        (
            lambda: tw.marl.Maddpg(Naming, rollout=3),
            tw.InvalidInput,
            "rollout belongs to ippo and mappo, but the algorithm is maddpg",
        ),
        (lambda: tw.marl.Ippo(Naming, dialect="openai"), tw.InvalidInput, "dialect belongs to particle worlds"),
        (lambda: tw.marl.Ippo(Naming, agents=3), tw.InvalidInput, "agents is an option of worlds by name"),
        (lambda: tw.marl.Ippo(Naming, learning_rate=-1.0), tw.InvalidInput, "learning-rate is -1, expected at least 0"),
        (lambda: tw.marl.Ippo(Naming, hidden="wide"), tw.InvalidInput, "hidden is 'wide', expected layer sizes like 64,64"),
        (lambda: tw.marl.Ippo(Naming, seed=-1), tw.InvalidInput, "seed is -1"),
        (lambda: tw.marl.Ippo(Naming, threads=10**6), tw.InvalidInput, "threads is 1000000, expected 0 to 1024"),
        (lambda: tw.marl.Ippo(Naming, worlds=0), tw.InvalidInput, "worlds is 0"),
        (lambda: tw.marl.Ippo(Naming(), worlds=2), tw.InvalidInput, "expected a function that makes one"),
        (lambda: tw.marl.Ippo([]), tw.InvalidInput, "env is an empty list"),
        (lambda: tw.marl.Ippo([Naming(), Naming()], worlds=3), tw.InvalidInput, "worlds is 3, but there are 2 environments"),
        (lambda: tw.marl.Ippo(7), tw.InvalidInput, "7 has no possible_agents, expected a parallel environment of PettingZoo"),
        (lambda: tw.marl.TeamLearner(Naming), TypeError, "made by Maddpg, Masac, Ippo or Mappo"),
        (lambda: tw.marl.Maddpg(Naming, warm_up=30, capacity=20), tw.InvalidInput, "warm-up is 30, expected at most --capacity"),
        (lambda: tw.marl.options("ddpg"), tw.InvalidInput, "algorithm 'ddpg' is not known.*did you mean 'maddpg'"),
        (lambda: tw.marl.Ippo(Naming).train(0), tw.InvalidInput, "train: episodes is 0, expected 1 to"),
        (lambda: tw.marl.Ippo(Naming).evaluate(-1), tw.InvalidInput, "evaluate: episodes is -1"),
        (lambda: tw.marl.Ippo(Naming).networks("critic2"), tw.InvalidInput, "role is 'critic2', expected one of actor, critic"),
        (
            lambda: tw.marl.Ippo(Naming).act({"nobody": [1]}),
            tw.InvalidInput,
            "there is no agent 'nobody', expected some of left_0, right_0",
        ),
        (lambda: tw.marl.Ippo(Naming).act({"left_0": [np.nan] * 4}), tw.InvalidInput, "not finite"),
        (lambda: tw.marl.Ippo(Naming).act({"left_0": [1.0] * 5}), tw.InvalidInput, "has 5 numbers, expected 4"),
        (
            lambda: tw.marl.Ippo(Naming).from_torch({"left_0": {"x": np.ones(3)}}),
            tw.InvalidInput,
            "the tensors of the module are x",
        ),
        (
            lambda: tw.marl.Ippo(Naming).from_torch({"left_0": {"0.weight": np.ones((3, 4)), "0.bias": np.ones(3)}}),
            tw.InvalidInput,
            r"the layers of left_0 are \[\(3, 4\)\], expected",
        ),
        (lambda: tw.marl.load("/nowhere", Naming), tw.InvalidInput, "is no learner"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(make, exception, sentence):
    with pytest.raises(exception, match=sentence):
        make()


def test_weights_that_are_not_numbers_are_refused():
    learner = tw.marl.Ippo(Naming, **ON_POLICY)
    network = learner.networks()["left_0"]
    network.weights[0][0, 0] = np.nan
    with pytest.raises(tw.InvalidInput, match="layer 0 of left_0 holds a number that is not finite"):
        learner.set_networks({"left_0": network})
    with pytest.raises(tw.InvalidInput, match=r"tensor left_0.actor.bias0 is float64.*expected float32"):
        learner._core.set_tensors({"left_0.actor.bias0": np.zeros(32)})
    with pytest.raises(tw.InvalidInput, match=r"there is no tensor 'left_0.actor.bias9'.*did you mean"):
        learner._core.set_tensors({"left_0.actor.bias9": np.zeros(32, np.float32)})


def test_a_checkpoint_of_another_learner_is_refused(tmp_path):
    tw.marl.Ippo(Naming, **ON_POLICY).save(tmp_path)
    with pytest.raises(tw.InvalidInput, match="expected the same settings"):
        tw.marl.Ippo(Naming, **ON_POLICY | {"gamma": 0.5}).load(tmp_path)
    with pytest.raises(tw.InvalidInput, match="is of other agents"):
        tw.marl.Ippo(Leaving, **ON_POLICY).load(tmp_path)
    (tmp_path / "learner.json").write_text("[]")
    with pytest.raises(tw.InvalidInput, match="is no learner, expected format tilewright-learner-1"):
        tw.marl.Ippo(Naming, **ON_POLICY).load(tmp_path)


def test_a_learner_in_use_is_refused_to_others():
    entered, leave = threading.Event(), threading.Event()

    class Slow(Naming):
        def step(self, actions):
            entered.set()
            leave.wait(30)
            return super().step(actions)

    learner = tw.marl.Ippo(Slow())
    thread = threading.Thread(target=lambda: learner.train(3))
    thread.start()
    entered.wait(30)
    with pytest.raises(tw.InvalidInput, match="the learner is in use by another thread or by its own callback"):
        learner.act({})
    leave.set()
    thread.join()
    assert learner.episodes == 3
    refused, counted = [], []

    def ask(done, total):
        counted.append((learner.episodes, learner.steps))
        try:
            learner.act({})
        except tw.InvalidInput as sentence:
            refused.append(sentence)

    learner.train(1, progress=ask)
    assert len(refused) == 1
    assert counted == [(4, 4)]


INTERRUPTED = """
import os, signal, sys, threading
sys.path.append(sys.argv[1])
import tilewright as tw
from games import Naming

class Counting(Naming):
    def step(self, actions):
        if len(self.seeds) == 100:
            os.kill(os.getpid(), signal.SIGINT)
        return super().step(actions)

learner = tw.marl.Ippo(Counting(), rollout=200)
try:
    learner.train(10**9)
except KeyboardInterrupt:
    print("stopped after", learner.episodes)
learner.train(7)
print("went on to", learner.episodes)
"""


def test_ctrl_c_stops_between_episodes_and_training_goes_on():
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        env=os.environ,
    )
    assert run.stdout.split() == ["stopped", "after", "99", "went", "on", "to", "106"], run.stderr


def test_an_interpreter_may_end_while_something_is_trained():
    program = INTERRUPTED.split("class Counting")[0] + (
        "learner = tw.marl.Ippo(Naming())\nthreading.Thread(target=lambda: learner.train(10**9), daemon=True).start()\n"
        "import time; time.sleep(0.3); print(learner.agents)"
    )
    run = subprocess.run([sys.executable, "-c", program, str(Path(__file__).parent)], capture_output=True, text=True, timeout=120)
    assert run.stdout == "['left_0', 'right_0']\n"
    assert run.returncode == 0, run.stderr
