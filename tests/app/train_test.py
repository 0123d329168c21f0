"""`tilewright train` as its user meets it: what it prints and writes, how it is interrupted and continued, what it refuses.

train_test.py PROGRAM DATA
"""

import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
SMALL = ["--hidden", "8", "--batch", "16", "--warm-up", "32", "--update-every", "8", "--capacity", "500"]
TOY = ["toy:line", "--episodes", "60", "--curve-every", "10", "--seed", "3", *SMALL]
SPREAD = ["simple_spread", "--episodes", "8", "--curve-every", "2", *SMALL]


def run(*arguments):
    return subprocess.run([PROGRAM, "train", *map(str, arguments)], capture_output=True, text=True, timeout=300)


def replaced(arguments, option, value):
    place = arguments.index(option) + 1
    return [*arguments[:place], value, *arguments[place + 1:]]


def identical_part(directory):
    """The files of a run that must be the same bytes whatever happened on the way."""
    names = ["curve.csv", "policy.safetensors"]
    names += sorted(f"checkpoint/{path.name}" for path in (directory / "checkpoint").glob("*.safetensors"))
    return {name: (directory / name).read_bytes() for name in names}


class TrainTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def done(self, *arguments, code=0):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)


class Printed(TrainTest):
    def test_the_list_has_every_world_and_algorithm(self):
        text = self.done("--list").stdout
        for name in ("simple_spread", "simple_tag", "simple_crypto", "toy:climbing", "maddpg", "masac", "ippo", "mappo", "neighbor:N"):
            self.assertIn(f"  {name} ", text)
        listed = json.loads(self.done("--list", "--json").stdout)
        self.assertEqual(len([world for world in listed["worlds"] if not world["name"].startswith("toy:")]), 9)

    def test_the_text_has_the_answer_and_the_phases(self):
        text = self.done(*TOY).stdout
        self.assertIn("toy:line, maddpg, 2 agents, seed 3", text)
        self.assertRegex(text, r"return +-\d.*mean over the last 10 of 60 episodes; first 10: -")
        self.assertRegex(text, r"time .* episodes/s, \d+ steps, \d+ updates")

    def test_json_is_the_whole_summary(self):
        summary = json.loads(self.done(*TOY, "--eval", "5", "--json").stdout)
        self.assertEqual(summary["episodes"], 60)
        self.assertEqual(len(summary["curve"]), 6)
        self.assertEqual(len(summary["phases"]), 8)
        self.assertGreater(summary["updates"], 10)
        self.assertEqual(summary["greedy_return"]["episodes"], 5)
        self.assertAlmostEqual(sum(summary["return"]["agents"].values()), summary["return"]["total"])
        self.assertEqual(summary["settings"]["layout"], "state")  # toy:line has a table
        self.assertEqual(summary["directory"], "")

    def test_too_few_steps_to_learn_are_pointed_out(self):
        self.assertIn("--warm-up", self.done("toy:matrix", "--episodes", "3").stdout)

    def test_a_terminal_sees_one_line_that_is_rewritten(self):
        leader, follower = pty.openpty()
        with subprocess.Popen([PROGRAM, "train", "toy:line", "--episodes", "100000000"], stdout=subprocess.PIPE, stderr=follower,
                              text=True) as process:
            os.close(follower)
            shown = b""
            while shown.count(b"\r") < 2:
                shown += os.read(leader, 4096)
            process.send_signal(signal.SIGINT)
            while process.poll() is None:
                try:
                    shown += os.read(leader, 4096)
                except OSError:  # the other side is closed
                    break
            process.communicate()
        os.close(leader)
        self.assertEqual(process.returncode, 130)
        self.assertRegex(shown.decode(), r"\r\d+ % of 100,000,000 episodes, .*/s, .* left, return -\d")
        self.assertIn("nothing was saved", shown.decode())


class Directory(TrainTest):
    def test_describes_itself(self):
        directory = self.folder / "run"
        self.done(*TOY, "-o", directory)
        self.assertEqual({path.name for path in directory.iterdir()},
                         {"run.json", "checkpoint", "curve.csv", "profile.csv", "summary.json", "policy.safetensors", "report.html"})
        record = json.loads((directory / "run.json").read_text())
        self.assertEqual(record["settings"]["seed"], 3)
        self.assertEqual([agent["name"] for agent in record["world"]["agents"]], ["agent_0", "agent_1"])
        self.assertIn("--seed", record["command"])
        curve = [line.split(",") for line in (directory / "curve.csv").read_text().splitlines()]
        self.assertEqual(curve[0], ["episodes", "steps", "updates", "return", "agent_0", "agent_1"])
        self.assertEqual([row[0] for row in curve[1:]], ["10", "20", "30", "40", "50", "60"])
        for row in curve[1:]:
            self.assertAlmostEqual(float(row[3]), float(row[4]) + float(row[5]))
        phases = [line.split(",") for line in (directory / "profile.csv").read_text().splitlines()]
        self.assertEqual({len(row) for row in phases}, {9})
        self.assertEqual(len(phases), 1 + 6 * 9)
        self.assertEqual(json.loads((directory / "summary.json").read_text())["episodes"], 60)

    def test_the_report_needs_nothing_else(self):
        directory = self.folder / "run"
        self.done(*SPREAD, "-o", directory)
        page = (directory / "report.html").read_text()
        self.assertNotIn("<script", page)
        self.assertNotRegex(page, r'(src|href)="(?!data:)')
        for plot in re.findall(r"<svg class=\"plot\".*?</svg>", page, re.DOTALL):
            xml.etree.ElementTree.fromstring(plot)
        self.assertEqual(page.count('<svg class="plot"'), 2)
        self.assertIn("data:image/svg+xml,", page)

    def test_an_episode_is_drawn(self):
        picture = self.folder / "episode.svg"
        self.done(*SPREAD, "--render", picture)
        root = xml.etree.ElementTree.fromstring(picture.read_text())
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertTrue([element for element in root.iter() if element.tag.rpartition("}")[2].startswith("animate")])

    def test_a_policy_can_drive_the_prey_of_another_run(self):
        job = ["simple_tag", "--episodes", "4", "--curve-every", "2"]
        for algorithm, activation, options in (("maddpg", "relu", []), ("ippo", "tanh", ["--activation", "tanh"])):
            self.done(*job, "--prey", "learning", "--algorithm", algorithm, *options, "-o", self.folder / algorithm)
            policy = self.folder / algorithm / "policy.safetensors"
            size = int.from_bytes(policy.read_bytes()[:8], "little")
            header = json.loads(policy.read_bytes()[8 : 8 + size])
            self.assertEqual(header.pop("__metadata__")["activation"], activation)
            names = {name for name in header if name.startswith("agent_0")}
            self.assertEqual(names, {f"agent_0.actor.{kind}{layer}" for kind in ("weight", "bias") for layer in range(3)})
            chase = [*job, "--prey", policy, "-o", self.folder / f"chase_{algorithm}"]
            self.done(*chase)
            policy.write_bytes(policy.read_bytes()[:-1] + b"\x01")
            self.refused(*chase, saying="is not the file that the run in")

    def test_the_same_bytes_for_any_number_of_threads(self):
        for name, job in {"toy": TOY, "spread": SPREAD, "mappo": [*TOY[:7], "--algorithm", "mappo", "--rollout", "40"]}.items():
            results = []
            for threads in (1, 2, 4):
                directory = self.folder / f"{name}{threads}"
                self.done(*job, "--threads", threads, "-o", directory)
                results.append(identical_part(directory))
            self.assertEqual(results[0], results[1])
            self.assertEqual(results[0], results[2])

    def test_another_process_is_kept_out(self):
        handle = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, handle)
        fcntl.flock(handle, fcntl.LOCK_EX)
        self.refused(*TOY, "-o", self.folder, saying="another process is at work in it")


class Continued(TrainTest):
    def test_the_same_command_again_changes_nothing(self):
        self.done(*TOY, "-o", self.folder)
        before = identical_part(self.folder)
        again = self.done(*TOY, "-o", self.folder)
        self.assertIn("goes on after 60 episodes", again.stderr)
        self.assertEqual(identical_part(self.folder), before)

    def test_more_episodes_extend_a_run(self):
        self.done(*TOY, "-o", self.folder / "whole")
        self.done(*replaced(TOY, "--episodes", "25"), "-o", self.folder / "parts")
        self.done("--resume", "--episodes", "60", "-o", self.folder / "parts")
        self.assertEqual(identical_part(self.folder / "parts"), identical_part(self.folder / "whole"))
        tag = ["simple_tag", "--worlds", "3", "--prey", "heuristic", "--episodes", "12", "--sampler", "reuse:4", *SMALL]
        self.done(*tag, "-o", self.folder / "whole_tag")
        self.done(*replaced(tag, "--episodes", "5"), "-o", self.folder / "parts_tag")
        self.done("--resume", "--episodes", "12", "-o", self.folder / "parts_tag")
        self.assertEqual(identical_part(self.folder / "parts_tag"), identical_part(self.folder / "whole_tag"))
        self.assertEqual(json.loads((self.folder / "parts" / "run.json").read_text())["episodes"], 60)
        rows = [line.split(",") for line in (self.folder / "parts" / "profile.csv").read_text().splitlines()[1:]]
        intervals = [(int(row[0]), int(row[1])) for row in rows if row[2] == "all"]
        self.assertEqual(intervals, [(0, 10), (10, 20), (20, 25), (25, 30), (30, 40), (40, 50), (50, 60)])
        self.refused(*replaced(TOY, "--episodes", "30"), "-o", self.folder / "parts", saying="has 60 episodes already")

    def test_other_settings_are_refused_with_what_differs(self):
        self.done(*TOY, "-o", self.folder)
        self.refused(*TOY, "--gamma", "0.9", "-o", self.folder, saying="--gamma is 0.9, but")
        self.refused(*TOY, "--agents", "3", "-o", self.folder, saying="--agents is 3, but")
        self.refused("toy:matrix", *TOY[1:], "-o", self.folder, saying="says \"toy:line\"")
        self.refused("--resume", "--seed", "4", "-o", self.folder, saying="--seed is 4, but")
        self.done("--resume", "--seed", "3", "-o", self.folder)

    def test_a_killed_run_goes_on_bit_by_bit(self):
        job = ["toy:line", "--episodes", "4000", "--curve-every", "50", "--checkpoint-every", "100", *SMALL]
        self.done(*job, "-o", self.folder / "whole")
        killed = self.folder / "killed"
        for kills in range(2):
            with subprocess.Popen([PROGRAM, "train", *job, "-o", killed], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                latest = killed / "checkpoint" / "latest.json"
                before = latest.read_bytes() if kills > 0 else None
                while process.poll() is None and (not latest.exists() or latest.read_bytes() == before):
                    time.sleep(0.002)
                process.kill()
                process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
        rest = self.done(*job, "-o", killed)
        self.assertRegex(rest.stderr, r"goes on after [\d,]+ episodes")
        self.assertEqual(identical_part(killed), identical_part(self.folder / "whole"))

    def test_an_interrupted_run_says_how_to_continue(self):
        job = ["toy:line", "--episodes", "3000", "--curve-every", "50", "--checkpoint-every", "500", *SMALL]
        self.done(*job, "-o", self.folder / "whole")
        stopped = self.folder / "stopped"
        with subprocess.Popen([PROGRAM, "train", *job, "-o", stopped], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None and not (stopped / "checkpoint" / "latest.json").exists():
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate()
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn(f"continue with: tilewright train --resume -o {stopped}", stderr)
        self.assertTrue(json.loads((stopped / "summary.json").read_text())["interrupted"])
        self.done("--resume", "-o", stopped)
        self.assertEqual(identical_part(stopped), identical_part(self.folder / "whole"))

    def test_a_damaged_directory_is_one_sentence(self):
        good = self.folder / "good"
        self.done(*TOY, "-o", good)
        piece = next((good / "checkpoint").glob("replay-*.bin")).name
        for name, saying in {"run.json": "does not describe a run", "checkpoint/latest.json": "latest.json",
                             f"checkpoint/{piece}": piece, "checkpoint/learner-60.safetensors": "learner-60.safetensors"}.items():
            bad = self.folder / "bad"
            shutil.rmtree(bad, ignore_errors=True)
            shutil.copytree(good, bad)
            (bad / name).write_bytes((bad / name).read_bytes()[:-20])
            self.refused(*TOY, "-o", bad, saying=saying)


class Replayed(TrainTest):
    def test_every_recorded_number_is_equal(self):
        recordings = sorted((DATA / "particle").glob("*.json.gz"))
        self.assertGreaterEqual(len(recordings), 10)
        for recording in recordings:
            self.assertIn("all equal to the last bit", self.done("--replay", recording).stdout, recording)

    def test_the_first_number_that_differs_is_named(self):
        recording = next((DATA / "particle").glob("simple_spread_*openai*.json.gz"))
        trajectory = json.loads(gzip.decompress(recording.read_bytes()))
        position = trajectory["steps"][3]["pos"][1]
        position[0] += abs(position[0]) * 2**-52
        changed = self.folder / "changed.json"
        changed.write_text(json.dumps(trajectory))
        result = self.done("--replay", changed, code=3)
        self.assertIn("the first that differs: step", result.stdout)
        verdict = json.loads(self.done("--replay", changed, "--json", code=3).stdout)
        self.assertFalse(verdict["equal"])
        self.assertIn("step", verdict["first_difference"])

    def test_other_files_are_refused(self):
        other = self.folder / "other.json"
        other.write_text("{}")
        self.refused("--replay", other, saying="other.json")
        self.refused("--replay", self.folder / "missing.json", saying="no such file")


class WrongInput(TrainTest):
    def test_one_sentence_and_the_nearest_choice(self):
        self.refused(saying="the world is missing")
        self.refused("simple_spraed", saying="did you mean 'simple_spread'")
        self.refused("toy:climing", saying="did you mean 'toy:climbing'")
        self.refused("toy:line", "--algorithm", "madppg", saying="did you mean 'maddpg'")
        self.refused("toy:line", "--sampler", "unifrom", saying="did you mean 'uniform'")
        self.refused("toy:line", "--layout", "jiont", saying="did you mean 'joint'")
        self.refused("toy:line", "--semantics", "opnai", saying="did you mean 'openai'")
        self.refused("simple_spread", "--dialect", "opnai", saying="did you mean 'openai'")
        self.refused("simple_spread", "--contacts", "exat", saying="did you mean 'exact'")
        self.refused("toy:line", "--algorithm", "masac", "--entropy-form", "batch", saying="batch-mean")
        self.refused("toy:line", "--episods", "3", saying="did you mean '--episodes'")
        self.refused("toy:line", "--hidden", "64,x", saying="--hidden is '64,x', expected layer sizes")
        self.refused("simple_tag", "--prey", "no/such.safetensors", saying="no/such.safetensors")

    def test_settings_out_of_range_or_place(self):
        self.refused("toy:line", "--episodes", "0", saying="--episodes is 0, expected at least 1")
        self.refused("toy:line", "--batch", "0", saying="--batch is 0, expected at least 1")
        self.refused("toy:line", "--gamma", "1.5", saying="--gamma is 1.5, expected at most 1")
        self.refused("toy:line", "--gamma", "nan", saying="--gamma is 'nan', expected a number")
        self.refused("toy:line", "--epochs", "3", saying="--epochs belongs to ippo and mappo, but the algorithm is maddpg")
        self.refused("toy:line", "--algorithm", "ippo", "--tau", "0.1", saying="--tau belongs to maddpg and masac")
        self.refused("toy:line", "--dialect", "openai", saying="--dialect belongs to particle worlds")
        self.refused("simple_spread", "--prey", "random", saying="--prey belongs to simple_tag, but the world is simple_spread")
        self.refused("toy:line", "--warm-up", "100", "--capacity", "50", saying="--warm-up is 100, expected at most --capacity")
        self.refused("toy:reach", "--layout", "state", saying="joint or per-agent")
        self.refused("toy:line", "--render", "x.svg", saying="--render draws particle worlds")
        self.refused("simple_spread", "--render", "no/such/x.svg", saying="no such folder")
        self.refused("toy:line", "--agents", "12", "--layout", "per-agent", "--capacity", "4000000000", "--episodes", "1000000000",
                     saying="expected a smaller --capacity, or --layout state")
        self.refused("--resume", saying="expected -o DIR")
        self.refused("--resume", "-o", self.folder, saying="holds no run to resume")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
