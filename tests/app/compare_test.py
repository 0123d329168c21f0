"""`tilewright compare` as its user meets it: what it prints and writes, that it repeats itself, what it refuses.

compare_test.py PROGRAM DATA
"""

import csv
import html.parser
import json
import math
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
PROBLEM = ["--network", "zoo:resnet18", "--hardware", "zoo:gamma-edge"]
SMALL = [*PROBLEM, "--layer", "conv2_1"]
FILES = {"compare.json", "compare.csv", "layers.csv", "curves.csv", "best.csv", "report.html", "run.json"}  # and runs/


def run(*arguments):
    return subprocess.run([PROGRAM, "compare", *map(str, arguments)], capture_output=True, text=True, timeout=300)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class CompareTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def done(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def found(self, *arguments):
        return json.loads(self.done(*arguments, "--json"))

    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)


class Printed(CompareTest):
    def test_the_text_has_audit_standings_wins_targets_times_and_best(self):
        text = self.done(*SMALL, "--searches", "agents,random,gamma", "--budgets", "40,120", "--seeds", 2)
        self.assertIn("resnet18 on gamma-edge, edp: 1 layer, 3 contenders, seeds 1 to 2, 40 and 120 samples per layer", text)
        for name in ("agents", "random", "gamma"):
            # The audit, the factors at both budgets, and the time.
            self.assertRegex(text, rf"(?m)^{name} +[\d.]+ +120 +[\d.]+ % +[\d.]+ % +none$")
            factor = r"(?:[\d.]+|∞) \[(?:[\d.]+|∞), (?:[\d.]+|∞)\]"
            self.assertRegex(text, rf"(?m)^{name} +{factor} +{factor}$")
        self.assertIn("probability that agents is better", text)
        self.assertRegex(text, r"(?m)^ +1\.10× +1\.02× +1\.01×$")
        self.assertRegex(text, r"(?m)^conv2_1 +[\d.e+]+ +(agents|random|gamma) +[12] +\d+$")
        self.assertIn("Intervals of 2 seeds say little", text)
        self.assertIsNone(re.search(r"\b(nan|inf)\b", text))

    def test_all_searchers_are_compared_without_being_named(self):
        found = self.found(*SMALL, "--samples", 20, "--seeds", 1, "--set", "bayesian.candidates=50")
        labels = [contender["label"] for contender in found["contenders"]]
        self.assertEqual(labels[:2], ["agents", "rl"])
        self.assertTrue({"random", "genetic", "gamma", "ant-colony", "bayesian", "annealing"} <= set(labels))
        self.assertNotIn("exhaustive", labels)


class Numbers(CompareTest):
    """Everything that is said about the runs is computed again from compare.csv."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.output = pathlib.Path(folder.name)
        result = run(*PROBLEM, "--searches", "agents,random,annealing", "--budgets", "30,90", "--seeds", 4, "--seed", 11,
                     "--targets", "random:300", "-o", cls.output)
        assert result.returncode == 0, result.stderr
        cls.found = json.loads((cls.output / "compare.json").read_text())
        cls.rows = rows_of(cls.output / "compare.csv")
        cls.best = {row["layer"]: float(row["value"]) for row in rows_of(cls.output / "best.csv")}

    def test_every_run_is_there_with_its_whole_budget(self):
        layers = [layer["name"] for layer in self.found["layers"]]
        keys = {(row["contender"], row["budget"], row["seed"], row["layer"]) for row in self.rows}
        self.assertEqual(len(keys), 3 * 2 * 4 * len(layers))
        self.assertEqual({row["seed"] for row in self.rows}, {"11", "12", "13", "14"})
        for row in self.rows:
            self.assertEqual(row["samples"], row["budget"])
            self.assertLessEqual(int(row["valid"]), int(row["samples"]))

    def test_factors_are_by_the_best_known(self):
        for row in self.rows:
            if row["best"]:
                self.assertAlmostEqual(float(row["factor"]), float(row["best"]) / self.best[row["layer"]], places=12)
                self.assertGreaterEqual(float(row["factor"]), 1)

    def factors(self, contender, budget):
        """Seed -> layer -> factor."""
        factors = {}
        for row in self.rows:
            if row["contender"] == contender and row["budget"] == str(budget):
                factors.setdefault(row["seed"], {})[row["layer"]] = float(row["factor"] or "inf")
        return factors

    def test_geometric_means_and_medians(self):
        for contender in self.found["contenders"]:
            for standing in contender["standings"]:
                means = [math.exp(statistics.mean(math.log(value) for value in layers.values()))
                         for layers in self.factors(contender["label"], standing["budget"]).values()]
                self.assertTrue(math.isfinite(max(means)))
                for mine, theirs in zip(means, standing["factors"], strict=True):
                    self.assertAlmostEqual(mine, theirs, places=9)
                factor = standing["factor"]
                self.assertAlmostEqual(factor["value"], statistics.median(means), places=9)
                self.assertTrue(min(means) - 1e-9 <= factor["low"] <= factor["value"] <= factor["high"] <= max(means) + 1e-9)

    def test_medians_of_layers(self):
        rows = {(row["contender"], row["budget"], row["layer"]): float(row["factor"])
                for row in rows_of(self.output / "layers.csv") if row["factor"]}
        for (contender, budget, layer), value in rows.items():
            values = [layers[layer] for layers in self.factors(contender, budget).values()]
            self.assertAlmostEqual(value, statistics.median(values), places=9)
        self.assertGreaterEqual(len(rows), 2 * len(self.best))

    def test_probability_of_improvement(self):
        for contender in self.found["contenders"][1:]:
            for standing in contender["standings"]:
                mine = self.factors("agents", standing["budget"]).values()
                theirs = self.factors(contender["label"], standing["budget"]).values()
                pairs = [0.5 if math.isclose(a[layer], b[layer], rel_tol=1e-9) else float(a[layer] < b[layer])
                         for a in mine for b in theirs for layer in self.best]
                wins = standing["first_wins"]
                self.assertAlmostEqual(wins["value"], statistics.mean(pairs), places=9)
                self.assertTrue(0 <= wins["low"] <= wins["value"] <= wins["high"] <= 1)
        self.assertNotIn("first_wins", self.found["contenders"][0]["standings"][0])

    def test_targets_are_reached_by_those_who_end_below(self):
        self.assertEqual(self.found["targets"], ["1.10×", "1.02×", "1.01×", "T1"])
        t1 = {layer["name"]: layer["target"] / layer["best"]["value"] for layer in self.found["layers"]}
        for contender in self.found["contenders"]:
            factors = self.factors(contender["label"], 90).values()
            for reach, factor in zip(contender["reaches"], (1.10, 1.02, 1.01, None), strict=True):
                there = [layers[layer] <= (factor or t1[layer]) * (1 + 1e-9) for layers in factors for layer in self.best]
                self.assertAlmostEqual(reach["share"], statistics.mean(there), places=9)
                if reach["share"] < 0.5:
                    self.assertIsNone(reach["samples"]["value"])
                elif reach["share"] > 0.5:
                    self.assertTrue(1 <= reach["samples"]["value"] <= 90)

    def test_curves_never_rise_and_end_at_the_factor(self):
        for contender in self.found["contenders"]:
            curve = [point["value"] for point in contender["curve"] if point["value"] is not None]
            self.assertEqual(curve, sorted(curve, reverse=True))
            self.assertAlmostEqual(curve[-1], contender["standings"][-1]["factor"]["value"], places=9)
        self.assertEqual(self.found["curve_samples"][-1], 90)

    def test_shares_are_of_all_samples(self):
        for contender in self.found["contenders"]:
            rows = [row for row in self.rows if row["contender"] == contender["label"]]
            samples = sum(int(row["samples"]) for row in rows)
            self.assertAlmostEqual(contender["invalid"], 1 - sum(int(row["valid"]) for row in rows) / samples, places=9)
            self.assertAlmostEqual(contender["repeated"], sum(int(row["repeated"]) for row in rows) / samples, places=9)

    def test_the_directory_has_all_files_and_a_report_that_stands_alone(self):
        self.assertEqual({path.name for path in self.output.iterdir()}, FILES | {"runs"})
        text = (self.output / "report.html").read_text()
        html.parser.HTMLParser().feed(text)
        for heading in ("How good", "Convergence", "Who is better", "Samples to a target", "Audit", "Layers", "Provenance"):
            self.assertIn(heading, text)
        self.assertFalse(re.findall(r"(?:src|href)=\"(?:https?:)?//", text))
        self.assertIsNone(re.search(r"\b(nan|inf)\b", text))


class Repeated(CompareTest):
    def test_same_bytes_for_any_number_of_threads(self):
        outputs = []
        for threads in (1, 2, 3):
            directory = self.folder / str(threads)
            self.done(*SMALL, "--searches", "agents,rl,random,genetic,gamma,ant-colony,annealing", "--budgets", "30,60",
                      "--seeds", 3, "--targets", "random:200", "--threads", threads, "-o", directory)
            outputs.append([(directory / name).read_bytes() for name in sorted(FILES - {"compare.json", "report.html", "run.json"})])
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])

    def test_a_run_does_not_depend_on_who_else_is_compared(self):
        values = []
        for names in ("random,gamma", "agents,gamma"):
            self.done(*SMALL, "--searches", names, "--samples", 50, "--seeds", 2, "-o", self.folder / names)
            rows = rows_of(self.folder / names / "compare.csv")
            values.append([row["best"] for row in rows if row["contender"] == "gamma"])
        self.assertEqual(values[0], values[1])

    def test_another_first_seed_continues_the_seeds(self):
        both = self.found(*SMALL, "--searches", "random", "--samples", 50, "--seeds", 2)
        second = self.found(*SMALL, "--searches", "random", "--samples", 50, "--seeds", 1, "--seed", 2)
        best = min(one["layers"][0]["best"]["value"] for one in (both, second))
        absolute = [[factor * one["layers"][0]["best"]["value"] / best
                     for factor in one["contenders"][0]["standings"][0]["factors"]] for one in (both, second)]
        self.assertAlmostEqual(absolute[0][1], absolute[1][0], places=12)


class BestKnown(CompareTest):
    def test_it_is_remembered_and_only_gets_better(self):
        self.done(*SMALL, "--searches", "random", "--samples", 400, "--seeds", 2, "-o", self.folder)
        before = rows_of(self.folder / "best.csv")
        found = self.found(*SMALL, "--searches", "random", "--samples", 5, "--seeds", 1, "--seed", 9, "-o", self.folder)
        self.assertEqual(rows_of(self.folder / "best.csv"), before)
        self.assertTrue(found["layers"][0]["best"]["earlier"])
        self.assertGreater(found["contenders"][0]["standings"][0]["factor"]["value"] or math.inf, 1)
        self.done(*SMALL, "--searches", "random", "--samples", 5, "--seeds", 1, "--objective", "latency", "-o", self.folder)
        after = rows_of(self.folder / "best.csv")
        self.assertEqual(after[:1], before)
        self.assertEqual([row["objective"] for row in after], ["edp", "latency"])

    def test_a_wrong_file_is_named_with_its_line(self):
        best = self.folder / "best.csv"
        self.done(*SMALL, "--searches", "random", "--samples", 50, "--seeds", 1, "-o", self.folder)
        good = best.read_text()
        best.write_text(good.replace(",random,", ",random,x", 1))
        self.refused(*SMALL, "--searches", "random", "--samples", 5, "-o", self.folder, saying="best.csv:2: ")
        best.write_text("a,b\n")
        self.refused(*SMALL, "--searches", "random", "--samples", 5, "-o", self.folder, saying="best.csv:1: ")

    def test_exhaustive_targets_are_the_optimum(self):
        found = self.found(*PROBLEM, "--layer", "fc", "--levels", 1, "--searches", "random,annealing", "--samples", 300,
                           "--seeds", 2, "--targets", "exhaustive:1000000")
        layer = found["layers"][0]
        self.assertEqual(layer["best"]["value"], layer["target"])
        self.assertLess(10 ** layer["log10_size"], 1e6)


class Audit(CompareTest):
    def test_repetition_is_counted_and_said(self):
        # GAMMA keeps its elites and proposes them again.
        found = self.found(*SMALL, "--searches", "random,gamma", "--samples", 300, "--seeds", 1)
        random, gamma = found["contenders"]
        self.assertEqual(random["audit"]["distinct"], 300)
        self.assertEqual(random["repeated"], 0)
        self.assertAlmostEqual(gamma["audit"]["distinct"], 300 * (1 - gamma["repeated"]), places=6)
        for contender in (random, gamma):
            self.assertEqual(contender["audit"]["never_moved"], [])
            self.assertGreater(contender["audit"]["movable"], 10)

    def test_what_never_moves_is_named(self):
        # One proposal moves nothing.
        found = self.found(*SMALL, "--searches", "random", "--samples", 1, "--seeds", 1)
        audit = found["contenders"][0]["audit"]
        self.assertEqual(audit["stuck"], audit["movable"])
        self.assertEqual(len(audit["never_moved"]), audit["movable"])
        self.assertTrue(any("never moves" in remark for remark in found["remarks"]))


class Ablations(CompareTest):
    def labels(self, *arguments):
        found = self.found(*SMALL, "--samples", 40, "--seeds", 1, *arguments)
        return {contender["label"]: contender for contender in found["contenders"]}

    def test_each_has_its_variants(self):
        self.assertEqual(list(self.labels("--ablate", "learner")), ["ippo", "mappo", "maddpg", "masac", "off"])
        self.assertEqual(list(self.labels("--ablate", "critic")), ["own", "none", "central"])
        self.assertEqual(list(self.labels("--ablate", "explore")), ["random", "sobol", "genetic"])

    def test_assignments_have_their_number_of_agents(self):
        found = self.labels("--ablate", "assignment")
        self.assertEqual(list(found), ["clusters", "single", "per-parameter", "by-role", "random, as many"])
        self.assertEqual(found["single"]["agents"], 1)
        self.assertEqual(found["by-role"]["agents"], 3)
        self.assertGreater(found["per-parameter"]["agents"], 10)
        self.assertEqual(found["random, as many"]["agents"], found["clusters"]["agents"])

    def test_transfer_takes_the_agents_of_another_network(self):
        found = self.labels("--ablate", "transfer", "--transfer-from", "zoo:alexnet")
        self.assertEqual(list(found), ["own clusters", "of zoo:alexnet", "random, as many"])
        for contender in found.values():
            self.assertGreaterEqual(contender["agents"], 1)


class Team(CompareTest):
    def test_a_trained_team_joins_as_the_first(self):
        team = self.folder / "alexnet"
        trained = [PROGRAM, "map", "zoo:alexnet", "--hardware", "zoo:gamma-edge", "--search", "agents", "--samples", "60",
                   "-o", str(team)]
        subprocess.run(trained, check=True, capture_output=True, timeout=300)
        arguments = [*PROBLEM, "--samples", 60, "--seeds", 2, "--searches", "random,agents", "--from", team]
        found = self.found(*arguments)
        self.assertEqual([contender["label"] for contender in found["contenders"]], ["agents+team", "random", "agents"])
        with_team, _, scratch = (contender["standings"][0]["factors"] for contender in found["contenders"])
        self.assertNotEqual(with_team, scratch)
        listed = self.found(*arguments[:-3], "random,agents+team", *arguments[-2:])
        self.assertEqual([contender["label"] for contender in listed["contenders"]], ["random", "agents+team"])


class Stopped(CompareTest):
    def test_the_results_so_far_are_kept(self):
        command = [PROGRAM, "compare", *SMALL, "--searches", "random,annealing", "--samples", "2000", "--seeds", "10000",
                   "--threads", "1", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        process.stderr.readline()  # the first line of progress, when runs are finished
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        found = json.loads(output)
        self.assertTrue(found["partial"])
        counts = [contender["standings"][0]["runs"] for contender in found["contenders"]]
        self.assertGreater(min(counts), 0)
        self.assertLess(max(counts), 10000)
        self.assertLessEqual(max(counts) - min(counts), 1)  # seed by seed
        self.assertTrue(any("stopped" in remark for remark in found["remarks"]))


def without_times(text):
    found = json.loads(text)
    for part in [found, *found["contenders"]]:
        for name in ("command", "digest", "seconds", "cpu_seconds", "samples_per_second"):
            part.pop(name, None)
    return found


class Killed(CompareTest):
    COMPARED = [*SMALL, "--searches", "agents,random,gamma", "--budgets", "40,150", "--seeds", "4", "--targets", "random:400"]

    def outputs(self, directory):
        self.assertFalse(list(directory.rglob("*.draft")))
        bytes_of = {name: (directory / name).read_bytes() for name in FILES - {"compare.json", "report.html", "run.json"}}
        return {**bytes_of, "compare.json": without_times((directory / "compare.json").read_text())}

    def kill_after(self, runs, directory):
        """Ends the comparison once so many of its runs are there; how many there are then."""
        process = subprocess.Popen([PROGRAM, "compare", *self.COMPARED, "-o", str(directory), "--threads", "2"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list(directory.glob("runs/*/*.json"))) < runs:
            pass
        process.kill()
        process.wait()
        return len(list(directory.glob("runs/*/*.json")))

    def test_it_goes_on_after_a_kill_and_ends_with_the_same_bytes(self):
        self.done(*self.COMPARED, "-o", self.folder / "whole")
        whole = len(list((self.folder / "whole").glob("runs/*/*.json")))
        self.assertEqual(whole, 3 * 2 * 4 + 1)
        killed = self.folder / "killed"
        for runs in (1, 9, 17):
            there = self.kill_after(runs, killed)
            self.assertLess(there, whole)
            kept = {path: path.stat().st_mtime_ns for path in killed.glob("runs/*/*.json")}
        result = subprocess.run([PROGRAM, "resume", str(killed), "--threads", "1"], capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.outputs(self.folder / "whole"), self.outputs(killed))
        for path, time in kept.items():
            self.assertEqual(path.stat().st_mtime_ns, time)  # not done again
        self.assertEqual(subprocess.run([PROGRAM, "verify", str(killed)], capture_output=True).returncode, 0)

    def test_asked_again_it_is_told_again(self):
        first = self.folder / "first"
        self.done(*self.COMPARED, "-o", first)
        before = self.outputs(first)
        times = {path: path.stat().st_mtime_ns for path in first.glob("runs/*/*.json")}
        self.done(*self.COMPARED, "-o", first)
        self.assertEqual(self.outputs(first), before)
        self.assertEqual({path: path.stat().st_mtime_ns for path in first.glob("runs/*/*.json")}, times)

    def test_a_damaged_run_is_done_again(self):
        directory = self.folder / "damaged"
        self.done(*self.COMPARED, "-o", directory)
        before = self.outputs(directory)
        victim = sorted(directory.glob("runs/*/*.json"))[5]
        for damage in (victim.read_text()[:100], victim.read_text().replace('"valid":', '"valid":1', 1), ""):
            victim.write_text(damage)
            self.done(*self.COMPARED, "-o", directory)
            self.assertEqual(self.outputs(directory), before)
            self.assertGreater(victim.stat().st_size, 200)

    def test_more_seeds_do_only_what_is_missing(self):
        directory = self.folder / "grown"
        self.done(*SMALL, "--searches", "random,gamma", "--samples", 60, "--seeds", 2, "-o", directory)
        before = {path.name: path.stat().st_mtime_ns for path in directory.glob("runs/*/*.json")}
        self.done(*SMALL, "--searches", "random,gamma", "--samples", 60, "--seeds", 3, "-o", directory)
        after = {path.name: path.stat().st_mtime_ns for path in directory.glob("runs/*/*.json")}
        self.assertEqual(len(after), len(before) + 2)
        self.assertEqual({name: after[name] for name in before}, before)

    def test_a_run_of_an_older_version_is_refused_in_a_sentence(self):
        (self.folder / "run.json").write_text(json.dumps(
            {"format": "tilewright-run-1", "verb": "compare", "version": "0.1.0", "command": []}))
        result = subprocess.run([PROGRAM, "resume", str(self.folder)], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("did not keep its arguments", result.stderr)


class Refused(CompareTest):
    def test_wrong_words_name_the_nearest(self):
        self.refused(*SMALL, "--searches", "agents,genetics", saying="did you mean 'genetic'?")
        self.refused(*SMALL, "--ablate", "learners", saying="did you mean 'learner'?")
        self.refused(*SMALL, "--targets", "randm:100", saying="did you mean 'random'?")
        self.refused(*SMALL, "--searches", "random", "--set", "gama.population=5", saying="did you mean 'gamma'?")
        self.refused(*SMALL, "--objective", "latancy", saying="latency")
        self.refused("--network", "zoo:resnet19", "--hardware", "zoo:gamma-edge", saying="resnet18")

    def test_wrong_numbers_say_what_is_expected(self):
        self.refused(*SMALL, "--seeds", 0, saying="--seeds is 0, expected 1 to")
        self.refused(*SMALL, "--samples", 0, saying="--samples is 0, expected 1 to 1000000000")
        self.refused(*SMALL, "--budgets", "500,x", saying="--budgets has 'x'")
        self.refused(*SMALL, "--budgets", "500", "--samples", 100, saying="expected at most the 100 of --samples")
        self.refused(*SMALL, "--targets", "random", saying="expected SEARCHER:SAMPLES")
        self.refused(*SMALL, "--searches", "gamma", "--set", "gamma.population=-1", saying="population")

    def test_what_does_not_go_together(self):
        self.refused(*SMALL, "--searches", "agents", "--ablate", "critic", saying="expected one of them")
        self.refused(*SMALL, "--searches", "agents,agents", saying="expected every searcher once")
        self.refused(*SMALL, "--searches", "agents+team", saying="--from DIR")
        self.refused(*SMALL, "--ablate", "transfer", saying="--transfer-from NETWORK")
        self.refused(*SMALL, "--transfer-from", "zoo:alexnet", saying="--ablate transfer")
        self.refused(*SMALL, "--searches", "agents", "--from", self.folder / "none", saying="none")
        self.refused(*PROBLEM, "--searches", "exhaustive", "--samples", 10, saying="exhaustive")

    def test_a_file_in_the_way(self):
        (self.folder / "file").write_text("")
        self.refused(*SMALL, "--searches", "random", "--samples", 5, "-o", self.folder / "file" / "x",
                     saying="could not be made")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
