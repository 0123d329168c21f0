"""Particle worlds as PettingZoo environments: their contract, MPE2 and the recordings, seeds, arrays that are kept."""

from __future__ import annotations

import gc
import gzip
import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import tilewright as tw

with warnings.catch_warnings():  # about its own games, when it is imported
    warnings.simplefilter("ignore")
    from pettingzoo.test import parallel_api_test, parallel_seed_test

SCENARIOS = [
    "simple",
    "simple_spread",
    "simple_tag",
    "simple_adversary",
    "simple_speaker_listener",
    "simple_reference",
    "simple_push",
    "simple_crypto",
    "simple_world_comm",
]


def actions_of(env, seed=0):
    rng = np.random.default_rng(seed)
    while True:
        yield {agent: int(rng.integers(env.action_space(agent).n)) for agent in env.possible_agents}


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("name", SCENARIOS)
def test_they_keep_the_contract_of_pettingzoo(name, continuous, capsys):
    make = lambda: tw.pettingzoo.particle(name, continuous_actions=continuous)  # noqa: E731
    parallel_api_test(make(), num_cycles=60)
    parallel_seed_test(make, num_cycles=60)


@pytest.mark.parametrize("name", SCENARIOS)
def test_they_equal_mpe2_to_the_last_bit(name):
    wide = [feature for feature in np._core._multiarray_umath.__cpu_dispatch__ if "512" in feature or feature == "X86_V4"]
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(wide), "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
    program = Path(__file__).with_name("mpe2_equality.py")
    run = subprocess.run([sys.executable, program, name], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout.split()[0]) > 5000


RECORDINGS = sorted(path.name for path in (Path(__file__).resolve().parents[2] / "tests/data/particle").glob("*.json.gz"))


def numbers(places):
    return [float(x) for place in places for x in place]


@pytest.mark.parametrize("recording", RECORDINGS)
def test_they_equal_the_recordings_of_both_packages(recording, data):
    with gzip.open(data / "particle" / recording) as file:
        recorded = json.load(file)
    dialect = "openai" if recorded["variant"] == "openai" else "pettingzoo"
    soft = "soft" in recording
    counts = {
        "simple_spread": {"agents": recorded.get("N")},
        "simple_adversary": {"agents": recorded.get("N")},
        "simple_tag": {"agents": recorded.get("N"), "prey_count": recorded.get("M"), "obstacles": recorded.get("L")},
    }
    flat = "agents" not in recorded["init"]
    first = recorded["init"]
    places = first["pos"] if flat else [agent["pos"] for agent in first["agents"]]
    landmarks = [mark["pos"] if isinstance(mark, dict) else mark for mark in first["landmarks"]]
    options = counts.get(recorded["scenario"], {})
    if recorded["scenario"] == "simple_adversary" and options["agents"] is None:
        options = {"agents": len(places) - 1}
    if recorded["scenario"] == "simple_tag" and options["agents"] is None:
        pytest.skip("numbers of agents are not in the file; the C++ test has it")
    if not flat and any(np.any(agent["vel"]) or np.any(agent.get("c") or 0) for agent in first["agents"]):
        pytest.skip("begins in the middle of an episode, which only the C++ test can")
    env = tw.pettingzoo.particle(recorded["scenario"], dialect=dialect, continuous_actions=True, episode_length=1000, **options)
    start = np.array([numbers(places) + numbers(landmarks)])
    for goal in range(env._worlds.goal_count):  # it is not in the file: the one that shows what was shown
        env.reset()
        env._worlds.begin(start, [goal])
        seen = env._worlds.seen()
        shown = recorded.get("obs0") or recorded["init"].get("obs")
        if shown is None or all(np.array_equal(seen[a], np.float32(s)) for a, s in zip(env.agents, shown, strict=True)):
            break
    else:
        raise AssertionError("no goal shows what was shown")
    heads = {agent: choices for agent, _, _, choices in env._worlds.agents}
    compared = 0
    for moment, step in enumerate(recorded["steps"]):
        actions = {}
        for agent, action in zip(env.agents, step["action"], strict=True):
            if isinstance(action, list):
                row = np.float32(action)
                if not np.array_equal(row, np.asarray(action)):
                    pytest.skip("recorded from double-precision actions; the C++ test has it")
            else:
                row = np.zeros(sum(heads[agent]), np.float32)
                place = 0
                for head in heads[agent] if dialect == "pettingzoo" else [len(row)]:
                    row[place + action % head] = 1
                    action, place = action // head, place + head
            actions[agent] = row
        seen, rewards, *_ = env.step(actions)
        assert list(rewards.values()) == step["reward"], moment
        after = step["pos"] if flat else [agent["pos"] for agent in step["state"]["agents"]]
        assert [list(body[:2]) for body in env.bodies()[: len(after)]] == after, moment
        compared += len(rewards) + 2 * len(after)
        for agent, shown in zip(env.possible_agents, step.get("obs", []), strict=False):
            assert np.array_equal(seen[agent], np.float32(shown)), (moment, agent)
    assert compared > 50
    assert soft or compared


def test_a_seed_says_which_episodes():
    def episodes(env, **first):
        starts = [env.reset(**first)[0]["agent_0"].tobytes()] + [env.reset()[0]["agent_0"].tobytes() for _ in range(3)]
        assert len(set(starts)) == 4
        return starts

    assert episodes(tw.pettingzoo.particle("simple_spread", seed=5)) == episodes(tw.pettingzoo.particle("simple_spread"), seed=5)
    env = tw.pettingzoo.particle("simple_spread", seed=5)
    assert episodes(env, seed=6) == episodes(tw.pettingzoo.particle("simple_spread"), seed=6)
    assert episodes(env, seed=5) == episodes(tw.pettingzoo.particle("simple_spread", seed=5))
    assert episodes(tw.pettingzoo.particle("simple_spread")) != episodes(tw.pettingzoo.particle("simple_spread"))


def test_prey_that_move_by_chance_follow_the_seed():
    def play(env, **first):
        env.reset(**first)
        return b"".join(env.step(dict.fromkeys(env.agents, 0))[0]["adversary_0"].tobytes() for _ in range(5))

    env = tw.pettingzoo.particle("simple_tag", prey="random")
    assert env.possible_agents == ["adversary_0", "adversary_1", "adversary_2"]
    once = play(env, seed=4)
    assert play(env, seed=4) == once
    assert play(tw.pettingzoo.particle("simple_tag", prey="random", seed=4)) == once
    assert play(env, seed=5) != once


def test_what_an_agent_saw_stays_as_it_was():
    env = tw.pettingzoo.particle("simple_tag", seed=1)
    seen, _ = env.reset()
    kept, copied = dict(seen), {agent: row.copy() for agent, row in seen.items()}
    for actions, _ in zip(actions_of(env), range(20), strict=False):
        seen = env.step(actions)[0]
        for row in seen.values():
            row[:] = 7  # ours to write
    assert all(np.array_equal(kept[agent], copied[agent]) for agent in kept)
    twin = tw.pettingzoo.particle("simple_tag", seed=1)
    twin.reset()
    for actions, _ in zip(actions_of(env), range(20), strict=False):
        twin.step(actions)
    assert np.array_equal(env.state(), twin.state())  # nobody wrote into the world
    del env
    gc.collect()
    assert all(np.array_equal(kept[agent], copied[agent]) for agent in kept)


def batch(env, seed):
    rng = np.random.default_rng(seed)
    return {
        agent: rng.integers(space.nvec[0] if hasattr(space, "nvec") else space.n, size=env.num_envs)
        for agent, space in env.action_space.spaces.items()
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_world_is_the_same_among_others(name):
    many = tw.pettingzoo.particle_vector(name, 3, seed=9, episode_length=4)
    alone = [tw.pettingzoo.particle_vector(name, 1, seed=9, episode_length=4) for _ in range(3)]
    seen, _ = many.reset()
    assert many.observation_space.contains(seen)
    first = [one.reset() for one in alone]
    for _ in range(2):
        first[2] = alone[2].reset()
    first[1] = alone[1].reset()
    for w in range(3):
        assert all(np.array_equal(seen[agent][w], first[w][0][agent][0]) for agent in seen)
    for t in range(4):
        actions = batch(many, t)
        seen, rewards, terminations, truncations, _ = many.step(actions)
        assert not terminations.any()
        assert truncations.tolist() == [t == 3] * 3
        assert rewards.shape == (3, len(many.agents))
        for w in range(3):
            one = alone[w].step({agent: action[w : w + 1] for agent, action in actions.items()})
            assert np.array_equal(one[1][0], rewards[w])
            assert all(np.array_equal(seen[agent][w], one[0][agent][0]) for agent in seen)


def test_a_step_after_the_end_begins_the_next_episodes():
    env = tw.pettingzoo.particle_vector("simple_spread", 2, seed=3, episode_length=2)
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    first, _ = env.reset()
    env.step(batch(env, 1))
    assert env.step(batch(env, 2))[3].all()
    seen, rewards, _, truncations, _ = env.step(batch(env, 3))
    assert not rewards.any()
    assert not truncations.any()
    again, _ = env.reset(seed=3)
    assert all(np.array_equal(again[agent], first[agent]) for agent in first)
    following, _ = env.reset()
    assert all(np.array_equal(following[agent], seen[agent]) for agent in seen)
    assert not np.array_equal(first["agent_0"], seen["agent_0"])


def test_vector_and_single_worlds_play_the_same_game():
    single = tw.pettingzoo.particle("simple_tag", seed=1)
    vector = tw.pettingzoo.particle_vector("simple_tag", 2)
    single.reset()
    vector.reset()
    places = np.array([[x for body in single.bodies() for x in body[:2]]])
    vector._worlds.begin(np.vstack([places, places]), [0, 0])
    for actions, _ in zip(actions_of(single), range(25), strict=False):
        seen, rewards, *_ = single.step(actions)
        rows, paid, *_ = vector.step({agent: np.array([action, action]) for agent, action in actions.items()})
        assert paid.tolist() == [list(rewards.values())] * 2
        assert all(np.array_equal(rows[agent][1], seen[agent]) for agent in seen)


def test_views_are_overwritten_and_keep_the_worlds_alive():
    env = tw.pettingzoo.particle_vector("simple_spread", 2, copy=False)
    view = env.reset()[0]["agent_0"]
    before = view.copy()
    with pytest.raises(ValueError, match="read-only"):
        view[:] = 1
    env.step(batch(env, 1))
    after = view.copy()
    assert not np.array_equal(before, after)
    del env
    gc.collect()
    garbage = [np.full(1000, 3.0, np.float32) for _ in range(100)]
    assert np.array_equal(view, after)
    assert len(garbage) == 100
    env = tw.pettingzoo.particle_vector("simple_spread", 2)
    kept = env.reset()[0]["agent_0"]
    before = kept.copy()
    env.step(batch(env, 1))
    assert np.array_equal(kept, before)


def test_a_second_thread_is_refused_and_others_run_meanwhile():
    env = tw.pettingzoo.particle_vector("simple_tag", 3000, agents=24)
    env.reset()
    actions = batch(env, 1)
    refusals = []
    done = threading.Event()

    def work():
        while not done.is_set():
            try:
                env._worlds.step(actions)
            except tw.InvalidInput as refusal:
                refusals.append(str(refusal))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(500):
        if refusals:
            break
        done.wait(0.01)
    done.set()
    for thread in threads:
        thread.join()
    assert refusals[0] == "simple_tag is in use by another thread or by its own callback, expected one user at a time"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tw.pettingzoo.particle("simple_tagg"), "there is no scenario 'simple_tagg'.*did you mean 'simple_tag'"),
        (lambda: tw.pettingzoo.particle("simple_push", agents=5), "simple_push has 2 agents, expected no other"),
        (lambda: tw.pettingzoo.particle("simple_spread", agents=0), "agents is 0, expected at least 1"),
        (lambda: tw.pettingzoo.particle("simple_spread", agnets=4), "'agnets' is no option.*did you mean 'agents'"),
        (lambda: tw.pettingzoo.particle("simple_spread", prey="random"), "prey belongs to simple_tag"),
        (lambda: tw.pettingzoo.particle("simple_spread", dialect="mpe2"), "dialect 'mpe2' is not known"),
        (lambda: tw.pettingzoo.particle_vector("simple_spread", 0), "worlds is 0"),
        (lambda: tw.pettingzoo.particle_vector("simple_spread", -3), "worlds is -3"),
        (lambda: tw.pettingzoo.particle("toy:climbing"), "toy:climbing"),
        (
            lambda: tw.pettingzoo.particle("simple_spread", episode_length="long"),
            'episode-length is "long", expected a whole number',
        ),
    ],
)
def test_worlds_that_cannot_be_are_refused_in_a_sentence(make, sentence):
    with pytest.raises(tw.Error, match=sentence):
        make()


@pytest.mark.parametrize(
    ("action", "exception", "sentence"),
    [
        ({"agent_0": 5}, tw.InvalidInput, "the action of agent_0 is 5, expected 0 to 4"),
        ({"agent_0": -1}, tw.InvalidInput, "the action of agent_0 is -1, expected 0 to 4"),
        ({"agent_0": 10**30}, tw.InvalidInput, "expected 0 to 4"),
        ({"agent_0": 1.5}, TypeError, "the action of agent_0 is 1.5, expected a whole number"),
        ({"agent_0": True}, TypeError, "expected a whole number"),
        ({}, tw.InvalidInput, "the action of agent_0 is missing"),
        ({"agent_0": 1, "agent_9": 2}, tw.InvalidInput, "there is no agent 'agent_9'"),
    ],
)
def test_actions_that_cannot_be_are_refused_in_a_sentence(action, exception, sentence):
    env = tw.pettingzoo.particle("simple", seed=1)
    start = env.reset()[0]["agent_0"]
    with pytest.raises(exception, match=sentence):
        env.step(action)
    assert np.array_equal(env.state(), start)
    env.step({"agent_0": np.int64(3)})


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (np.full(5, np.nan, np.float32), "holds nan, expected finite numbers"),
        (np.zeros(4, np.float32), r"has the shape \(4,\), expected 5 numbers"),
        (np.zeros((2, 5), np.float32), "expected 5 numbers"),
    ],
)
def test_continuous_actions_that_cannot_be_are_refused(action, sentence):
    env = tw.pettingzoo.particle("simple", continuous_actions=True)
    env.reset()
    with pytest.raises(tw.InvalidInput, match=sentence):
        env.step({"agent_0": action})


def test_rows_of_actions_that_cannot_be_are_refused():
    env = tw.pettingzoo.particle_vector("simple", 2)
    env.reset()
    for rows, exception, sentence in [
        (np.array([1]), tw.InvalidInput, "has 1 rows, expected 2 worlds"),
        (np.array([1, 7]), tw.InvalidInput, "is 7, expected 0 to 4"),
        (np.array([1.0, 2.0]), TypeError, "an array of a whole number for each world"),
        (3, TypeError, "an array of a whole number"),
    ]:
        with pytest.raises(exception, match=sentence):
            env.step({"agent_0": rows})
    env.step({"agent_0": np.array([1, 2], np.int32)})


def test_starts_that_cannot_be_are_refused():
    worlds = tw.pettingzoo.particle("simple_adversary")._worlds
    size = 2 * len(worlds.spawns)
    for places, goals, sentence in [
        (np.zeros((1, 3)), [0], "expected"),
        (np.zeros((1, size)), [2], "goal 2 of a start, expected 0 to 1"),
        (np.full((1, size), np.inf), [0], "not finite"),
        (np.zeros((1, size)), [], "0 goals"),
    ]:
        with pytest.raises(tw.InvalidInput, match=sentence):
            worlds.begin(places, goals)
