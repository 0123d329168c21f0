"""`tilewright campaign` as its user meets it: the same bytes whoever does the tasks and however often they die.

campaign_test.py PROGRAM
"""

import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv[1]
PLAN = """format: tilewright-plan-1
name: small
studies:
  - name: machines
    map: {network: zoo:alexnet, layer: conv3, samples: 60, search: random}
    each:
      hardware: [zoo:eyeriss, zoo:eyeriss-dram]
      seed: 1..3
  - name: searchers
    compare: {network: zoo:alexnet, layer: conv3, hardware: zoo:gamma-edge, searches: [gamma, random], budgets: [30, 60], seeds: 2}
  - name: codesign
    codesign: {network: zoo:alexnet, layer: conv5, measurements: 32}
  - name: learning
    train: {world: "toy:climbing", algorithm: ippo, episodes: 300}
  - name: given
    evaluate: {network: zoo:alexnet, layer: conv3, hardware: zoo:eyeriss}
    each: {dataflow: [nvdla, eyeriss]}
"""
TASKS = 6 + 8 + 1 + 1 + 2
RESULTS = ("result.json", "points.sqlite")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, "campaign", *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def bytes_of(directory):
    files = [directory / name for name in RESULTS] + sorted((directory / "studies").iterdir())
    return {str(file.relative_to(directory)): file.read_bytes() for file in files}


def points_of(directory):
    with contextlib.closing(sqlite3.connect(directory / "points.sqlite")) as store:
        return store.execute("SELECT place, design, reason, numbers FROM outcome ORDER BY place").fetchall()


class CampaignTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.plan = self.file("plan.yaml", PLAN)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def done(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)


class SameBytes(CampaignTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.whole = pathlib.Path(folder.name) / "whole"
        plan = pathlib.Path(folder.name) / "plan.yaml"
        plan.write_text(PLAN)
        result = run(plan, "-o", cls.whole, "--threads", 1)
        assert result.returncode == 0, result.stderr
        cls.expected = bytes_of(cls.whole)

    def assert_same(self, directory):
        there = bytes_of(directory)
        self.assertEqual(there.keys(), self.expected.keys())
        for name, expected in self.expected.items():
            self.assertEqual(there[name], expected, name)
        self.assertFalse([path for path in directory.rglob("*") if ".draft" in path.name])
        verified = subprocess.run([PROGRAM, "verify", str(directory)], capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_everything_is_there(self):
        result = json.loads((self.whole / "result.json").read_text())
        self.assertEqual((result["tasks"], result["missing"], len(result["studies"])), (TASKS, 0, 11))
        self.assertTrue(all("summary" in study for study in result["studies"]))
        first = json.loads((self.whole / "studies" / "0001.json").read_text())
        self.assertEqual(result["studies"][0]["summary"]["value"], first["totals"]["edp"])
        standings = {one["name"]: one for one in result["standings"]}
        values = sorted(study["summary"]["value"] for study in result["studies"][:3])
        self.assertEqual(standings["machines: zoo:eyeriss"]["median"], values[1])
        self.assertEqual(standings["machines: zoo:eyeriss"]["studies"], 3)
        timing = json.loads((self.whole / "timing.json").read_text())
        self.assertEqual([task["task"] for task in timing["tasks"]], list(range(1, TASKS + 1)))
        self.assertEqual(timing["retries"], 0)
        self.assertEqual(list((self.whole / "work").iterdir()), [])

    def test_a_task_is_what_its_verb_gives(self):
        verb = [PROGRAM, "map", "zoo:alexnet", "--layer", "conv3", "--samples", "60", "--search", "random", "--hardware",
                "zoo:eyeriss", "--seed", "2", "-o", str(self.folder / "map"), "--threads", "1"]
        subprocess.run(verb, check=True, capture_output=True)
        alone = json.loads((self.folder / "map" / "result.json").read_text())
        ours = json.loads((self.whole / "studies" / "0002.json").read_text())
        alone.pop("command", None), alone.pop("digest"), ours.pop("command", None), ours.pop("digest")
        self.assertEqual(alone, ours)
        with contextlib.closing(sqlite3.connect(self.folder / "map" / "store.sqlite")) as store:
            designs = store.execute("SELECT design, numbers FROM outcome").fetchall()
        self.assertLessEqual(set(designs), {(design, numbers) for _, design, _, numbers in points_of(self.whole)})

    def test_the_comparison_is_the_verbs(self):
        verb = [PROGRAM, "compare", "--network", "zoo:alexnet", "--layer", "conv3", "--hardware", "zoo:gamma-edge", "--searches",
                "gamma,random", "--budgets", "30,60", "--seeds", "2", "--json"]
        alone = json.loads(subprocess.run(verb, check=True, capture_output=True, text=True).stdout)
        ours = json.loads((self.whole / "studies" / "0007.json").read_text())
        for mine, theirs in zip(ours["contenders"], alone["contenders"], strict=True):
            self.assertEqual(mine["standings"], theirs["standings"])
            self.assertEqual(mine["audit"], theirs["audit"])
        self.assertEqual(ours["layers"], alone["layers"])

    def test_two_threads(self):
        self.done(self.plan, "-o", self.folder / "two", "--threads", 2)
        self.assert_same(self.folder / "two")

    def test_single_tasks_in_any_order_and_copies_that_are_joined(self):
        numbers = list(range(1, TASKS + 1))
        random.Random(7).shuffle(numbers)
        for index, number in enumerate(numbers):  # two machines, with a task that both have done
            machine = self.folder / f"machine{index % 2}"
            self.done("task", number, self.plan, "-o", machine)
            if index == 4:
                self.done("task", number, self.plan, "-o", self.folder / "machine1")
        self.done("fold", "-o", self.folder / "machine0", self.folder / "machine1")
        self.assert_same(self.folder / "machine0")
        before = bytes_of(self.folder / "machine0")
        self.done("fold", "-o", self.folder / "machine0", self.folder / "machine1")  # once more changes nothing
        self.assertEqual(bytes_of(self.folder / "machine0"), before)

    def test_many_processes_at_once(self):
        directory = self.folder / "array"
        waiting, running = list(range(1, TASKS + 1)), []
        while waiting or running:
            while waiting and len(running) < 3:
                command = [PROGRAM, "campaign", "task", str(waiting.pop(0)), str(self.plan), "-o", str(directory)]
                running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
            child = running.pop(0)
            self.assertEqual(child.wait(timeout=120), 0, child.stderr.read())
            child.stderr.close()
        self.done("fold", "-o", directory)
        self.assert_same(directory)

    def test_kills_at_random_moments(self):
        directory, rng, kills = self.folder / "killed", random.Random(3), 0
        for _ in range(40):
            child = subprocess.Popen([PROGRAM, "campaign", str(self.plan), "-o", str(directory), "--threads", "2"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                child.wait(timeout=rng.uniform(0.02, 0.35))
                break
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                kills += 1
            for name in ("result.json", "timing.json", "tasks.json"):  # whole or not there
                if (directory / name).exists():
                    json.loads((directory / name).read_text())
        self.assertGreater(kills, 1)
        resumed = subprocess.run([PROGRAM, "resume", str(directory)] if (directory / "run.json").exists() and
                                 (directory / "plan.yaml").exists() else [PROGRAM, "campaign", str(self.plan), "-o", str(directory)],
                                 capture_output=True, text=True)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assert_same(directory)
        self.assertGreater(json.loads((directory / "timing.json").read_text())["retries"], 0)

    def test_ctrl_c_keeps_what_is_done(self):
        for name in ("INT", "TERM", "HUP"):
            directory = self.folder / name
            child = subprocess.Popen([PROGRAM, "campaign", str(self.plan), "-o", str(directory), "--threads", "1"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while not list(directory.glob("tasks/*/*.json")):
                time.sleep(0.005)
            child.send_signal(getattr(signal, f"SIG{name}"))
            _, errors = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 130, errors)
            found = json.loads((directory / "result.json").read_text())
            self.assertGreater(found["missing"], 0)
        self.done(self.plan, "-o", directory)
        self.assert_same(directory)


class DoneOnce(CampaignTest):
    def times(self, folder):
        return {path.name: path.stat().st_mtime_ns for path in folder.glob("*/*.json")}

    def test_a_changed_plan_redoes_only_what_changed(self):
        directory = self.folder / "run"
        self.done(self.plan, "-o", directory)
        before = self.times(directory / "tasks")
        changed = self.file("changed.yaml", PLAN.replace("seed: 1..3", "seed: 1..4").replace("seeds: 2", "seeds: 3"))
        self.done(changed, "-o", directory)
        after = self.times(directory / "tasks")
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertEqual(len(after), len(before) + 2 + 4)
        self.done(self.plan, "-o", directory)
        self.assertEqual(self.times(directory / "tasks"), after)
        self.assertEqual(len(list((directory / "studies").iterdir())), 11)

    def test_campaigns_share_a_store(self):
        store = self.folder / "store"
        self.done(self.plan, "-o", self.folder / "first", "--store", store)
        before = self.times(store)
        self.done(self.plan, "-o", self.folder / "second", "--store", store)
        self.assertEqual(self.times(store), before)
        self.assertEqual(bytes_of(self.folder / "first"), bytes_of(self.folder / "second"))

    def test_the_same_study_asked_twice(self):
        study = "    map: {network: zoo:alexnet, layer: conv3, samples: 20}\n    each: {hardware: [zoo:eyeriss, zoo:nvdla-small], seed: 1..3}\n"
        plan = self.file("twice.yaml", f"format: tilewright-plan-1\nstudies:\n  - name: a\n{study}  - name: b\n{study}")
        for threads in (1, 4):
            self.assertIn("12 of 12 tasks done", self.done(plan, "-o", self.folder / str(threads), "--threads", threads))
        self.assertEqual(bytes_of(self.folder / "1"), bytes_of(self.folder / "4"))
        self.assertEqual(len(self.times(self.folder / "4" / "tasks")), 6)

    def test_a_changed_file_is_another_input(self):
        network = self.file("net.yaml", "format: tilewright-network-1\nname: n\nlayers:\n  - {name: fc, op: fc, in: 64, out: 40}\n")
        plan = self.file("own.yaml", f"format: tilewright-plan-1\nstudies:\n  - map: {{network: {network}, hardware: zoo:eyeriss, samples: 20}}\n")
        self.done(plan, "-o", self.folder / "own")
        first = (self.folder / "own" / "studies" / "0001.json").read_text()
        network.write_text(network.read_text().replace("out: 40", "out: 44"))
        self.done(plan, "-o", self.folder / "own")
        self.assertNotEqual((self.folder / "own" / "studies" / "0001.json").read_text(), first)

    def test_a_damaged_document_is_done_again(self):
        directory = self.folder / "run"
        self.done(self.plan, "-o", directory)
        before = bytes_of(directory)
        victim = sorted((directory / "tasks").glob("*/*.json"))[3]
        victim.write_text(victim.read_text()[:200])
        self.done(self.plan, "-o", directory)
        self.assertEqual(bytes_of(directory), before)

    def test_a_task_that_cannot_be_done_does_not_keep_others_from_it(self):
        plan = self.file("one_bad.yaml", PLAN.replace("search: random}\n    each", "search: exhaustive}\n    each", 1).replace(
            "layer: conv3, samples: 60", "samples: 60", 1))
        result = run(plan, "-o", self.folder / "bad")
        if result.returncode == 0:
            self.skipTest("exhaustive takes this space")
        self.assertEqual(result.returncode, 2)
        self.assertIn("task 1 (machines: zoo:eyeriss, 1):", result.stderr)
        found = json.loads((self.folder / "bad" / "result.json").read_text())
        self.assertGreater(sum("summary" in study for study in found["studies"]), 3)
        self.assertIn("task 1 (machines", (self.folder / "bad" / "report.html").read_text())


class Forecast(CampaignTest):
    def test_a_dry_run_counts_and_writes_nothing(self):
        text = self.done(self.plan, "--dry-run")
        self.assertIn(f"small: 11 studies, {TASKS} tasks, 0 of them done", text)
        self.assertRegex(text, r"time  about \d+:\d\d on \d+ threads? of this machine, by the rates of \d+ kinds of task tried")
        self.assertRegex(text, r"disk  about [\d.]+ [kM]B, 392 points at most")
        found = json.loads(self.done(self.plan, "--dry-run", "-o", self.folder / "none", "--json"))
        self.assertEqual((found["tasks"], found["done"]), (TASKS, 0))
        self.assertFalse((self.folder / "none").exists())

    def test_what_is_done_is_known(self):
        self.done(self.plan, "-o", self.folder / "run")
        found = json.loads(self.done(self.plan, "--dry-run", "-o", self.folder / "run", "--json"))
        self.assertEqual((found["tasks"], found["done"], found["seconds"], found["tried"]), (TASKS, TASKS, 0, 0))

    def test_it_is_about_right(self):
        plan = self.file("longer.yaml", "format: tilewright-plan-1\nstudies:\n  - map: {network: zoo:alexnet, hardware: zoo:eyeriss, "
                                        "search: random, samples: 4000}\n    each: {seed: 1..4}\n")
        expected = json.loads(self.done(plan, "--dry-run", "--threads", 1, "--json"))
        started = time.monotonic()
        self.done(plan, "-o", self.folder / "run", "--threads", 1)
        took = time.monotonic() - started
        self.assertLess(took / 5, expected["seconds"])
        self.assertLess(expected["seconds"], took * 5)
        size = sum(path.stat().st_size for path in (self.folder / "run").rglob("*") if path.is_file())
        self.assertLess(size / 4, expected["bytes"])
        self.assertLess(expected["bytes"], size * 4)


class Page(CampaignTest):
    def test_it_is_renewed_while_it_runs_and_not_after(self):
        directory = self.folder / "run"
        child = subprocess.Popen([PROGRAM, "campaign", str(self.plan), "-o", str(directory), "--threads", "1"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (directory / "report.html").exists() and child.poll() is None:
            time.sleep(0.002)
        running = (directory / "report.html").read_text()
        self.assertIn("http-equiv=\"refresh\"", running)
        child.wait()
        page = (directory / "report.html").read_text()
        self.assertNotIn("http-equiv=\"refresh\"", page)
        for words in ("Standings", "Searchers side by side", "Studies", "machines: zoo:eyeriss", "100 %", "per task"):
            self.assertIn(words, page)


class Refused(CampaignTest):
    def plan_refused(self, text, saying):
        self.refused(self.file("bad.yaml", text), "-o", self.folder / "bad", saying=saying)
        self.assertFalse((self.folder / "bad" / "tasks").exists() and any((self.folder / "bad" / "tasks").iterdir()))

    def test_plans_say_the_line_and_the_nearest_choice(self):
        head = "format: tilewright-plan-1\nstudies:\n"
        self.plan_refused(head + "  - mapp: {network: zoo:alexnet}\n", "bad.yaml:3: 'mapp' is no verb of a plan (did you mean 'map'?)")
        self.plan_refused(head + "  - map: {netwrok: zoo:alexnet}\n", "bad.yaml:3: 'netwrok' is no option of map in a plan (did you mean 'network'?)")
        self.plan_refused(head + "  - map:\n      network: zoo:alexnet\n      samples: many\n", "bad.yaml:5: samples is 'many', expected")
        self.plan_refused(head + "  - map: {network: zoo:alexnett, hardware: zoo:eyeriss}\n", "did you mean 'alexnet'?")
        self.plan_refused(head + "  - map: {network: zoo:alexnet, hardware: zoo:eyeris}\n", "did you mean 'eyeriss'?")
        self.plan_refused(head + "  - map: {network: zoo:alexnet, hardware: zoo:eyeriss, search: agent}\n", "did you mean 'agents'?")
        self.plan_refused(head + "  - map: {}\n    compare: {}\n", "bad.yaml:4: a study has two verbs, map and compare")
        self.plan_refused(head + "  - name: x\n", "has no verb, expected one of map, compare")
        self.plan_refused(head + "  - map: {seed: 1}\n    each: {seed: 1..3}\n", "seed is given under map and under each")
        self.plan_refused(head + "  - map: {}\n    each: {seed: 3..1}\n", "seed is '3..1', expected a range like 1..20")
        self.plan_refused(head + "  - map: {}\n    each: {seed: []}\n", "seed has no values")
        self.plan_refused(head + "  - map: {}\n    each: {hardware: [zoo:eyeriss, zoo:eyeriss]}\n",
                          "bad.yaml:4: hardware has zoo:eyeriss twice, expected every value once")
        self.plan_refused(head + "  - map: {}\n    each: {seed: 0..999999, samples: 1..99}\n", "more than 1000000 studies")
        self.plan_refused(head + "  - map: {}\n  - map: {}\n", "a study is called 'map', as another one is")
        self.plan_refused(head + "  - map: {store: x}\n", "'store' is no option of map in a plan")
        self.plan_refused("format: tilewright-plan-2\nstudies: []\n", "tilewright-plan-1")
        self.plan_refused("format: tilewright-plan-1\nstudies: []\n", "the plan has no studies")
        self.plan_refused(head + "  - train: {world: simple_sprad}\n", "simple_spread")

    def test_words(self):
        self.refused("-o", self.folder / "x", saying="the plan is missing")
        self.refused(self.plan, saying="the directory is missing, expected -o DIR")
        self.refused("tsk", "3", "-o", self.folder / "x", saying="'3' is one word too many")
        self.refused("tsk", "-o", self.folder / "x", saying="did you mean 'task'?")
        self.refused("task", "0", self.plan, "-o", self.folder / "x", saying="the task is '0', expected a number from 1")
        self.refused("task", "99", self.plan, "-o", self.folder / "x", saying=f"the task is 99, expected 1 to {TASKS}")
        self.refused("task", "1", "-o", self.folder / "y", saying="holds no campaign")
        self.refused("fold", "-o", self.folder / "y", saying="holds no campaign")

    def test_ray_says_what_to_install(self):
        self.refused(self.plan, "-o", self.folder / "x", "--engine", "ray", "--address", "auto", saying="pip install 'tilewright[ray]'")
        self.refused(self.plan, "-o", self.folder / "x", "--engine", "rey", saying="did you mean 'ray'?")
        self.refused(self.plan, "-o", self.folder / "x", "--address", "auto", saying="--address is for --engine ray")

    def test_a_folder_of_somebody_else(self):
        self.file("letter.txt", "dear")
        self.refused(self.plan, "-o", self.folder, saying="holds 'letter.txt' and no run")

    def test_two_drivers(self):
        directory = self.folder / "run"
        child = subprocess.Popen([PROGRAM, "campaign", str(self.plan), "-o", str(directory), "--threads", "1"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not list(directory.glob("tasks/*/*.json")):
            time.sleep(0.005)
        os.kill(child.pid, signal.SIGSTOP)
        try:
            self.refused(self.plan, "-o", directory, saying="another process is at work in it")
        finally:
            os.kill(child.pid, signal.SIGCONT)
        self.assertEqual(child.wait(timeout=120), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
