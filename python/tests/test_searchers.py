"""Searchers: ours asked and told, Python's and Optuna's in a comparison."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw

LAYER = tw.zoo.network("alexnet")["conv3"]
MACHINE = tw.zoo.machine("eyeriss")
SPACE = tw.space(LAYER, MACHINE, levels=2)


def searched(searcher, space, rounds=8, n=16):
    asked = []
    for _ in range(rounds):
        points = searcher.ask(n)
        assert space.is_legal(points).all()
        searcher.tell(points, space.evaluate_batch(points))
        asked.append(points)
    return np.concatenate(asked)


@pytest.mark.parametrize("name", [name for name in tw.searchers() if name not in ("exhaustive", "dcoc-network")])
def test_every_searcher_is_a_function_of_its_seed(name):
    rounds = 2 if name in ("chameleon", "dcoc") else 8  # they learn a surrogate between two asks
    first, again = (searched(tw.Searcher(name, SPACE, samples=128, seed=5), SPACE, rounds) for _ in range(2))
    assert first.tobytes() == again.tobytes()
    assert len(np.unique(first, axis=0)) > 1


def test_a_searcher_finds_what_the_loop_of_ours_finds():
    """The same seeds and samples through ask and tell as through map: the same best."""
    studied = tw.map(tw.Network("alexnet", [LAYER]), MACHINE, search="random", samples=200, seed=7, levels=2, no_classics=True)
    searcher = tw.Searcher("random", SPACE, samples=200, seed=7)
    best, left = np.inf, 200
    while left > 0:
        points = searcher.ask(left)
        outcomes = SPACE.evaluate_batch(points)
        searcher.tell(points, outcomes)
        best, left = min(best, outcomes["objective"].min()), left - len(points)
    assert best == studied["layers"][0]["score"][0]


def test_one_searcher_of_several_spaces():
    spaces = tw.spaces(tw.zoo.network("alexnet"), MACHINE, levels=2)[:3]
    searcher = tw.Searcher("agents", spaces, samples=60)
    for _ in range(5):
        points = searcher.ask(6)
        assert [rows.shape[1] for rows in points] == [len(space) for space in spaces]
        searcher.tell(points, [space.evaluate_batch(rows) for space, rows in zip(spaces, points, strict=True)])


def test_what_is_known_may_be_said_before():
    space = tw.space(LAYER, MACHINE)
    searcher = tw.Searcher("genetic", space, samples=100)
    searcher.notice(space.known, space.evaluate_batch(space.known))
    assert len(searched(searcher, space, rounds=2)) > 0


def test_settings_are_those_of_the_command_line():
    searcher = tw.Searcher("gamma", SPACE, settings={"gamma.population": 30})
    assert searcher.settings["population"] == "30"
    with pytest.raises(tw.InvalidInput, match="did you mean 'population'"):
        tw.Searcher("gamma", SPACE, settings={"gamma.populaton": 30})
    with pytest.raises(tw.NotFound, match="did you mean 'gamma'"):
        tw.Searcher("gama", SPACE)


def test_exhaustive_ends():
    small = tw.space(tw.Layer(name="fc", op="fc", in_channels=4, out_channels=4), MACHINE, levels=1)
    searcher = tw.Searcher("exhaustive", small, samples=100_000)
    count = 0
    while len(points := searcher.ask(1000)):
        count += len(points)
        searcher.tell(points, small.evaluate_batch(points))
    assert count > 10


class Random:
    """A random searcher in Python."""

    def __init__(self, space, samples, seed):
        self.space, self.seed = space, seed

    def ask(self, n):
        self.seed += 1
        return self.space.random(min(n, 16), self.seed)

    def tell(self, points, verdicts):
        assert verdicts.dtype == tw.VERDICT
        assert len(points) == len(verdicts)
        assert (np.isfinite(verdicts["objective"]) == verdicts["feasible"]).all()


class Stubborn(Random):
    """Proposes one point for ever, as the audit must tell."""

    def ask(self, n):
        return self.space.random(1, 1)


def test_a_searcher_in_python_joins_under_the_same_ledger_and_audit():
    study = tw.compare(
        "zoo:alexnet", "zoo:eyeriss", ["random", ("mine", Random), ("stubborn", Stubborn)], layer="conv3", samples=60, seeds=2
    )
    audits = {contender["label"]: contender for contender in study["contenders"]}
    assert list(audits) == ["random", "mine", "stubborn"]
    assert audits["stubborn"]["repeated"] == pytest.approx(59 / 60)
    assert audits["mine"]["repeated"] < 0.1
    assert "stubborn never moves" in study.text
    rows = study.to_pandas("compare")
    assert set(rows[rows["contender"] == "mine"]["samples"]) == {60}


def test_a_comparison_with_python_is_the_same_on_any_number_of_threads():
    texts = []
    for threads in (1, 2):
        study = tw.compare(
            "zoo:alexnet", "zoo:eyeriss", ["random", ("mine", Random)], layer="conv3", samples=40, seeds=3, threads=threads
        )
        texts.append([contender["standings"] for contender in study["contenders"]])
    assert texts[0] == texts[1]


class Broken(Random):
    """Makes each of the mistakes that a searcher can make."""

    mistake = ""

    def ask(self, n):
        match self.mistake:
            case "raises":
                raise RuntimeError("no idea")
            case "illegal":
                return self.space.random(1) + 1000
            case "floats":
                return self.space.random(1).astype(float)
            case "too many":
                return self.space.random(n + 1)
            case "a list":
                return [1, 2, 3]
            case "None":
                return None
        return super().ask(n)

    def tell(self, points, verdicts):
        if self.mistake == "tell raises":
            raise KeyError("no idea")


@pytest.mark.parametrize(
    ("mistake", "exception", "words"),
    [
        ("raises", RuntimeError, "no idea"),
        ("tell raises", KeyError, "no idea"),
        ("illegal", tw.InvalidInput, "expected one of"),
        ("floats", TypeError, "float64"),
        ("too many", tw.InvalidInput, "expected at most"),
        ("a list", TypeError, "NumPy array"),
        ("None", TypeError, "NumPy array"),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_mistakes_of_a_searcher_come_back_as_exceptions(mistake, exception, words, threads):
    wrong = type("Wrong", (Broken,), {"mistake": mistake})
    with pytest.raises(exception, match=words):
        tw.compare(
            "zoo:alexnet", "zoo:eyeriss", [("wrong", wrong), "random"], layer="conv3", samples=20, seeds=2, threads=threads
        )


def test_a_searcher_without_tell_is_refused_before_the_first_sample():
    with pytest.raises(tw.InvalidInput, match="has no method tell"):
        tw.compare(
            "zoo:alexnet", "zoo:eyeriss", [("wrong", lambda *_: type("A", (), {"ask": None})())], layer="conv3", samples=20
        )
    with pytest.raises(tw.InvalidInput, match="there is a searcher 'random' already"):
        tw.compare("zoo:alexnet", "zoo:eyeriss", [("random", Random)], layer="conv3", samples=20)
    with pytest.raises(TypeError, match="an entry of searches"):
        tw.compare("zoo:alexnet", "zoo:eyeriss", [Random], layer="conv3", samples=20)


@pytest.mark.filterwarnings("ignore")
def test_optuna_and_python_stand_beside_ours_in_one_table():
    optuna = pytest.importorskip("optuna")
    searches = [
        "agents",
        ("tpe", tw.optuna.searcher(optuna.samplers.TPESampler)),
        ("cma-es", tw.optuna.searcher(optuna.samplers.CmaEsSampler, numeric=True)),
        ("mine", Random),
    ]
    study = tw.compare("zoo:resnet18", "zoo:eyeriss", searches, layer="conv2_1", samples=24, seeds=2)
    assert [contender["label"] for contender in study["contenders"]] == ["agents", "tpe", "cma-es", "mine"]
    for contender in study["contenders"]:
        assert contender["audit"]["distinct"] > 10
        assert contender["standings"][0]["factor"]["value"] >= 1


@pytest.mark.filterwarnings("ignore")
def test_optuna_learns_from_what_it_is_told():
    """On a space where latency is what counts, TPE with 80 trials does better than 80 random points of the same budget."""
    optuna = pytest.importorskip("optuna")
    space = tw.space(LAYER, MACHINE, levels=2, objective="latency")
    wins = 0
    for seed in range(3):
        found = []
        for sampler in (optuna.samplers.TPESampler(seed=seed), optuna.samplers.RandomSampler(seed=seed)):
            searcher = tw.optuna.OptunaSearcher(space, sampler)
            best = np.inf
            for _ in range(80):
                points = searcher.ask(1)
                outcomes = space.evaluate_batch(points)
                searcher.tell(points, outcomes)
                best = min(best, outcomes["objective"].min())
            found.append(best)
        wins += found[0] < found[1]
    assert wins >= 2
