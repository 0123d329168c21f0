"""Designing as a game: the contracts of Gymnasium and PettingZoo, masks, rewards, and that learning helps."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import tilewright as tw

with warnings.catch_warnings():  # about its own games, when it is imported
    warnings.simplefilter("ignore")
    from pettingzoo.test import parallel_api_test, parallel_seed_test


def spaces():
    layer = tw.zoo.network("resnet18").layers[0].layer
    yield "two-level", tw.space(layer, tw.zoo.machine("eyeriss"))
    yield "levels", tw.space(layer, tw.zoo.machine(tw.zoo.leveled_machines()[0]))
    yield "codesign", tw.codesign_spaces(tw.zoo.network("resnet18"))[0]


SPACES = dict(spaces())
every_space = pytest.mark.parametrize("kind", SPACES)


@every_space
def test_it_keeps_the_contract_of_gymnasium(kind):
    env = tw.gym.DesignEnv(SPACES[kind])
    check_env(env, skip_render_check=True)


@pytest.mark.parametrize("assignment", ["single", "per-parameter", "by-role"])
@every_space
def test_it_keeps_the_contract_of_pettingzoo(kind, assignment, capsys):
    make = lambda: tw.pettingzoo.DesignEnv(SPACES[kind], assignment)  # noqa: E731
    parallel_api_test(make(), num_cycles=60)
    parallel_seed_test(make, num_cycles=60)


@every_space
def test_masks_are_the_choices_of_the_space_and_the_reward_is_what_the_point_is_worth(kind):
    space = SPACES[kind]
    env = tw.gym.DesignEnv(space)
    rng = np.random.default_rng(1)
    feasible = 0
    for episode in range(12):
        observation, info = env.reset(seed=episode)
        point = np.zeros(len(space), np.int32)
        for k in range(len(space)):
            assert observation[: len(space)].tolist() == [float(i == k) for i in range(len(space))]
            legal = np.flatnonzero(env.action_masks())
            assert np.array_equal(legal, space.choices(point, k))
            assert np.array_equal(np.flatnonzero(info["action_mask"]), legal)
            point[k] = rng.choice(legal)
            observation, reward, terminated, truncated, info = env.step(int(point[k]))
            assert env.observation_space.contains(observation)
            assert "repaired" not in info
            assert terminated == (k + 1 == len(space))
            assert not truncated
            assert reward == 0 or terminated
        assert np.array_equal(info["point"], point)
        expected = space.evaluate_batch(point[None])[0]
        assert info["outcome"].tobytes() == expected.tobytes()
        feasible += bool(expected["feasible"])
        assert reward == (np.log(env.reference / expected["objective"]) if expected["feasible"] else -10)
    assert feasible > 0


def test_an_illegal_action_becomes_the_nearest_legal_one():
    space = SPACES["two-level"]
    env = tw.gym.DesignEnv(space)
    repaired = 0
    rng = np.random.default_rng(2)
    for _ in range(20):
        env.reset()
        ended = False
        while not ended:
            legal = np.flatnonzero(env.action_masks())
            action = int(rng.integers(env.action_space.n))
            k = env._designs.decided
            _, _, ended, _, info = env.step(action)
            taken = env._designs.points[0, k]
            assert abs(taken - action) == np.abs(legal - action).min()
            assert info.get("repaired", False) == (action not in legal)
            repaired += action not in legal
    assert repaired > 10


def test_what_was_seen_stays_as_it_was():
    env = tw.gym.DesignEnv(SPACES["two-level"])
    observation, info = env.reset()
    copies = observation.copy(), info["action_mask"].copy()
    _, _, _, _, later = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
    later["action_mask"][:] = 0
    env.action_masks()[:] = False
    assert np.array_equal(observation, copies[0])
    assert np.array_equal(info["action_mask"], copies[1])
    assert env.action_masks().any()


def test_many_copies_are_what_each_is_alone():
    space = SPACES["two-level"]
    many, one = tw.gym.DesignVectorEnv(space, 5), tw.gym.DesignEnv(space)
    assert many.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert many.reference == one.reference
    rng = np.random.default_rng(3)
    for _ in range(2):
        observations, info = many.reset() if _ == 0 else many.step(np.zeros(5, np.int64))[::4]
        taken = []
        shown = [observations]
        ended = np.zeros(5, bool)
        while not ended.any():
            masks = many.action_masks()
            assert np.array_equal(info["action_mask"], masks)
            actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
            observations, rewards, ended, truncated, info = many.step(actions)
            assert many.observation_space.contains(observations)
            assert not truncated.any()
            taken.append(actions)
            shown.append(observations)
        assert ended.all()
        for world in range(5):
            seen, _ = one.reset()
            for actions, before in zip(taken, shown, strict=False):
                assert np.array_equal(seen, before[world])
                seen, reward, _, _, last = one.step(int(actions[world]))
            assert reward == rewards[world]
            assert np.array_equal(last["point"], info["point"][world])


def test_agents_decide_their_own_parameters_in_turns():
    space = SPACES["two-level"]
    names = [parameter.name for parameter in space.parameters]
    env = tw.pettingzoo.DesignEnv(space, {"first": names[::2], "second": names[1::2]})
    seen, infos = env.reset()
    rng = np.random.default_rng(4)
    while env.agents:
        turn = env.turn
        assert turn == ("first" if env._designs.decided % 2 == 0 else "second")
        assert {agent: row[0] for agent, row in seen.items()} == {agent: float(agent == turn) for agent in env.agents}
        other = "second" if turn == "first" else "first"
        assert np.flatnonzero(infos[other]["action_mask"]).tolist() == [0]
        action = int(rng.choice(np.flatnonzero(infos[turn]["action_mask"])))
        seen, rewards, terminated, _, infos = env.step({turn: action, other: 0})
    assert all(terminated.values())
    assert rewards["first"] == rewards["second"]
    assert np.array_equal(env.step({}), ({}, {}, {}, {}, {}))
    outcome = space.evaluate_batch(infos["first"]["point"][None])[0]
    assert rewards["first"] == (np.log(env.reference / outcome["objective"]) if outcome["feasible"] else -10)


def test_assignments_are_those_of_the_program():
    space = SPACES["two-level"]
    by_role = tw.pettingzoo.DesignEnv(space, "by-role")
    roles = {parameter.name: parameter.role for parameter in space.parameters}
    assert sorted(by_role.possible_agents) == sorted(set(roles.values()))
    assert all(roles[name] == agent for agent, names in by_role.assignment.items() for name in names)
    assert tw.pettingzoo.DesignEnv(space, "single").possible_agents == ["designer"]
    assert sorted(tw.pettingzoo.DesignEnv(space, "per-parameter").possible_agents) == sorted(roles)


def test_teams_learn_to_design_and_their_twins_that_may_not_do_not():
    space = SPACES["two-level"]
    earned = {}
    for rate in (0.003, 0.0):
        learner = tw.marl.Mappo(lambda: tw.pettingzoo.DesignEnv(space), worlds=4, rollout=400, hidden=32, learning_rate=rate)
        learner.train(1200)
        earned[rate] = [point.mean_return / len(learner.agents) for point in learner.curve]
    assert np.mean(earned[0.003][-3:]) > np.mean(earned[0.003][:3]) + 1
    assert np.mean(earned[0.003][-3:]) > np.mean(earned[0.0][-3:]) + 1


@pytest.mark.parametrize(
    ("make", "exception", "sentence"),
    [
        (
            lambda space: tw.gym.DesignEnv(space, reference=-1.0),
            tw.InvalidInput,
            "reference is -1.0, expected a positive objective",
        ),
        (lambda space: tw.gym.DesignEnv(space, infeasible=float("nan")), tw.InvalidInput, "infeasible is nan"),
        (lambda space: tw.gym.DesignVectorEnv(space, 0), tw.InvalidInput, "worlds is 0, expected at least 1"),
        (
            lambda space: tw.gym.DesignVectorEnv(space, 3).step(np.zeros(2, np.int64)),
            tw.InvalidInput,
            "a whole number for each of 3",
        ),
        (lambda space: tw.gym.DesignVectorEnv(space, 3).step(np.zeros(3)), tw.InvalidInput, "a whole number for each of 3"),
        (lambda space: tw.gym.DesignEnv(space).step(10**6), tw.InvalidInput, "an action is 1000000, expected 0 to"),
        (lambda space: tw.gym.DesignEnv(space).step(-1), tw.InvalidInput, "an action is -1, expected 0 to"),
        (
            lambda space: tw.pettingzoo.DesignEnv(space, "by-rule"),
            tw.InvalidInput,
            "assignment is 'by-rule'.*did you mean 'by-role'",
        ),
        (lambda space: tw.pettingzoo.DesignEnv(space, 7), TypeError, "assignment is 7"),
        (lambda space: tw.pettingzoo.DesignEnv(space, {"a": ["nothing"]}), tw.InvalidInput, "there is no parameter 'nothing'"),
        (lambda space: tw.pettingzoo.DesignEnv(space, {"a": []}), tw.InvalidInput, "nobody decides"),
        (
            lambda space: tw.pettingzoo.DesignEnv(space, {"a": [p.name for p in space.parameters], "b": []}),
            tw.InvalidInput,
            "'b' decides nothing",
        ),
        (
            lambda space: tw.pettingzoo.DesignEnv(
                space, {"a": [p.name for p in space.parameters], "b": [space.parameters[0].name]}
            ),
            tw.InvalidInput,
            "is decided by 2 agents, expected one",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(make, exception, sentence):
    with pytest.raises(exception, match=sentence):
        make(SPACES["two-level"])


def test_a_step_after_the_end_is_refused():
    env = tw.gym.DesignEnv(SPACES["two-level"])
    env.reset()
    while not env.step(0)[2]:
        pass
    assert np.flatnonzero(env.action_masks()).tolist() == [0]
    with pytest.raises(tw.InvalidInput, match=r"expected reset\(\) before another step"):
        env.step(0)


@pytest.mark.parametrize("module", ["gym", "marl", "pettingzoo"])
def test_packages_that_are_missing_are_named_and_not_needed_before(module):
    program = f"""
import sys
import tilewright as tw
assert not {{"gymnasium", "pettingzoo"}} & set(sys.modules)
sys.modules["gymnasium"] = None
try:
    tw.{module}
except ModuleNotFoundError as missing:
    print(missing)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    sentence = f"tilewright.{module} needs the package gymnasium, expected it installed: pip install 'tilewright[rl]'"
    assert run.stdout.strip() == sentence, run.stderr
