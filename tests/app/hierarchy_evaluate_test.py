"""`tilewright evaluate` and `tilewright explain` on machines with memory levels: costs, splits, what does not fit and why, what is refused.

hierarchy_evaluate_test.py PROGRAM DATA
"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TIMELOOP = pathlib.Path(sys.argv[2]).resolve() / "timeloop"
CONV3 = ["--network", "zoo:alexnet", "--layer", "conv3", "--hardware", "zoo:eyeriss-dram"]
OUTERMOST = """format: tilewright-mapping-2
levels:
- {level: dram, keep: [Weights, Inputs, Outputs], time: [K384, C192, P13, Q13, R3, S3]}
- {level: buffer, keep: [Inputs, Outputs]}
- {level: column, keep: []}
- {level: inputs, keep: [Inputs]}
- {level: weights, keep: [Weights]}
- {level: psums, keep: [Outputs]}
"""


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Base(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def done(self, *arguments, code=0):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stdout[-2000:] + result.stderr)
        return result.stdout

    def refused(self, *arguments, saying):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout[-500:])
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)


class Evaluate(Base):
    def test_what_map_found_costs_what_map_said(self):
        for model in ("hierarchy", "timeloop"):
            out = self.folder / model
            asked = ("--hardware", "zoo:simba-like", "--model", model)
            found = json.loads(self.done("map", "zoo:alexnet", "--layer", "conv3", *asked, "--search", "random", "--samples", 30, "-o",
                                         out, "--json"))["layers"][0]
            best = out / "best" / "000_conv3.yaml"
            again = json.loads(self.done("evaluate", "--network", "zoo:alexnet", "--layer", "conv3", *asked, "--mapping", best,
                                         "--json"))["layers"][0]
            self.assertEqual(again["problem"], found["problem"])
            self.assertEqual(again["mapping"], found["mapping"])
            for key in ("cycles", "energy_pj", "edp", "utilisation", "bottleneck", "mac_energy_pj", "levels"):
                self.assertEqual(again["cost"][key], found[key], key)
            with open(out / "energy.csv", newline="") as file:
                parts = list(csv.DictReader(file))
            self.assertAlmostEqual(sum(float(part["part_energy_pj"]) for part in parts) / found["energy_pj"], 1, places=12)

    def test_energy_is_split_by_level_and_tensor_everywhere(self):
        asked = ("evaluate", "--network", "zoo:alexnet", "--hardware", "zoo:nvdla-dram", "--dataflow", "nvdla-like")
        layers = json.loads(self.done(*asked, "--json"))["layers"]
        rows = list(csv.DictReader(io.StringIO(self.done(*asked, "--csv"))))
        self.assertGreater(len(layers), 5)
        for layer in layers:
            cost = layer["cost"]
            split = cost["mac_energy_pj"] + sum(level["energy_pj"] + level["network_energy_pj"] for level in cost["levels"])
            self.assertAlmostEqual(split / cost["energy_pj"], 1, places=12)
            mine = [row for row in rows if row["layer"] == layer["name"]]
            self.assertAlmostEqual(sum(float(row["part_energy_pj"]) for row in mine) / cost["energy_pj"], 1, places=12)
            for level in cost["levels"]:
                for tensor, counts in level["tensors"].items():
                    [row] = [row for row in mine if (row["level"], row["part"]) == (level["name"], tensor)]
                    self.assertEqual(int(row["reads"]), counts["reads"])
        text = self.done(*asked)
        self.assertRegex(text, r"(?m)^    dram +[\d.]+ mJ  [#.]{20} +[\d.]+ %  weights [\d.]+ %")
        page = self.done(*asked, "--layer", "conv3", "--svg", self.folder / "energy.svg")
        for words in ("limited by", "accesses of all copies", "words held", "spread"):
            self.assertIn(words, page)
        drawn = xml.etree.ElementTree.parse(self.folder / "energy.svg").getroot()
        labels = {element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({level["name"] for level in layers[0]["cost"]["levels"]}, labels)

    def test_a_mapping_that_does_not_fit_is_told_with_need_and_limit(self):
        mapping = self.folder / "mapping.yaml"
        mapping.write_text(OUTERMOST)
        self.assertIn("limited by psums", self.done("evaluate", *CONV3, "--mapping", mapping))
        mapping.write_text(OUTERMOST.replace("K384, ", "").replace("keep: [Weights]}", "keep: [Weights], time: [K384]}"))
        text = self.done("evaluate", *CONV3, "--mapping", mapping, code=3)
        self.assertIn("does not fit (capacity): level 'weights' holds 384 words, expected at most 224", text)
        layer = json.loads(self.done("evaluate", *CONV3, "--mapping", mapping, "--json", code=3))["layers"][0]
        self.assertEqual((layer["status"], layer["reason"], layer["level"], layer["need"], layer["limit"]),
                         ("error", "capacity", "weights", 384, 224))
        mapping.write_text(OUTERMOST.replace("K384, ", "").replace("keep: []}", "keep: [], x: [K384]}"))
        layer = json.loads(self.done("evaluate", *CONV3, "--mapping", mapping, "--json", code=3))["layers"][0]
        self.assertEqual(layer["reason"], "fanout")
        self.assertEqual(self.done("evaluate", *CONV3, "--mapping", mapping, "--csv", code=3).count("\n"), 1)

    def test_timeloops_files_are_taken_as_they_are(self):
        problem = self.folder / "problem.yaml"
        problem.write_text("problem:\n  shape: cnn_layer\n  instance: {R: 3, S: 3, P: 8, Q: 8, C: 16, K: 32, N: 1}\n")
        machine = TIMELOOP / "simple3.yaml"
        ours = json.loads(self.done("evaluate", "--network", problem, "--hardware", machine, "--dataflow", "output-stationary",
                                    "--model", "timeloop", "--json"))["layers"][0]
        mapping = self.folder / "mapping.yaml"
        mapping.write_text(ours["mapping"])
        again = json.loads(self.done("evaluate", "--network", problem, "--hardware", machine, "--mapping", mapping, "--model",
                                     "timeloop", "--json"))["layers"][0]
        self.assertEqual(again["cost"], ours["cost"])

    def test_a_mapping_is_of_one_shape_and_says_so_of_others(self):
        mapping = self.folder / "mapping.yaml"
        mapping.write_text(OUTERMOST)
        layers = json.loads(self.done("evaluate", "--network", "zoo:alexnet", "--hardware", "zoo:eyeriss-dram", "--mapping", mapping,
                                      "--json", code=3))["layers"]
        self.assertEqual([layer["name"] for layer in layers if layer["status"] == "ok"], ["conv3"])
        conv1 = next(layer for layer in layers if layer["name"] == "conv1")
        self.assertIn("the factors of", conv1["msg"])

    def test_narrow_elements_cost_less(self):
        def energy(*arguments):
            return json.loads(self.done("evaluate", *CONV3, "--dataflow", "nvdla-like", "--json", *arguments))["layers"][0]["cost"]["energy_pj"]
        self.assertLess(energy("--bits", "weights=4,inputs=4,outputs=4,partial_sums=16"), energy())

    def test_what_does_not_go_together_is_said(self):
        self.refused("evaluate", *CONV3, "--dataflow", "eyeriss", saying="expected one of weight-stationary")
        self.refused("evaluate", *CONV3, "--dataflow", "nvdla-like", "--model", "exact", saying="--model exact does not go")
        self.refused("evaluate", *CONV3, "--dataflow", "nvdla-like", "--constraints", "soft", saying="--constraints does not go")
        self.refused("evaluate", *CONV3, "--dataflow", "nvdla-like", "--model", "timeloop", "--bits", "weights=4", saying="--bits")
        mapping = self.folder / "mapping.yaml"
        mapping.write_text(OUTERMOST.replace("level: dram", "level: drum"))
        self.refused("evaluate", *CONV3, "--mapping", mapping, saying="did you mean 'dram'?")

class Cases(Base):
    EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "level_cases.jsonl"

    def test_every_line_is_answered_as_the_verb_answers_it(self):
        lines = [json.loads(line) for line in self.EXAMPLES.read_text().splitlines()]
        answers = [json.loads(line) for line in self.done("evaluate", "--cases", self.EXAMPLES, code=3).splitlines()]
        self.assertEqual([answer["id"] for answer in answers], [line["id"] for line in lines])
        for line, answer in zip(lines, answers):
            machine, problem, mapping = (self.folder / f"{name}.yaml" for name in ("machine", "problem", "mapping"))
            [layer] = line["layers"]
            if isinstance(line["hw"], dict):
                machine.write_text(json.dumps({"format": "tilewright-accelerator-2", **line["hw"]}))
            shape = {"gemm": "{dimensions: [M, N, K], data_spaces: [{name: A, projection: [[[M]], [[K]]]}, "
                             "{name: B, projection: [[[K]], [[N]]]}, {name: Z, projection: [[[M]], [[N]]], read_write: true}]}",
                     "conv": "cnn_layer"}[layer["problem"]["shape"]]
            problem.write_text(f"problem:\n  shape: {shape}\n  instance: {json.dumps(layer['problem']['dims'])}\n")
            mapping.write_text(json.dumps({"format": "tilewright-mapping-2", "levels": layer["mapping"]}))
            hardware = machine if isinstance(line["hw"], dict) else line["hw"]
            code = 0 if answer["status"] == "ok" else 3
            [alone] = json.loads(self.done("evaluate", "--network", problem, "--hardware", hardware, "--mapping", mapping, "--json",
                                           code=code))["layers"]
            if code == 0:
                self.assertEqual(answer["out"], [alone["cost"]])
            else:
                for key in ("reason", "level", "need", "limit", "msg"):
                    self.assertEqual(answer[key], alone[key])

    def test_bytes_are_the_same_for_any_number_of_threads(self):
        many = self.folder / "many.jsonl"
        many.write_text(self.EXAMPLES.read_text() * 300)
        self.assertEqual(self.done("evaluate", "--cases", many, "--threads", 1, code=3),
                         self.done("evaluate", "--cases", many, "--threads", 2, code=3))


class Explain(Base):
    def too_large(self):
        mapping = self.folder / "mapping.yaml"
        mapping.write_text(OUTERMOST.replace("K384, ", "").replace("keep: [Weights]}", "keep: [Weights], time: [K384]}"))
        return mapping

    def test_the_change_that_is_told_makes_it_fit(self):
        text = self.done("explain", *CONV3, "--mapping", self.too_large(), code=3)
        self.assertIn("does not fit (capacity): level 'weights' holds 384 words, expected at most 224", text)
        self.assertIn("384 words in a copy of weights instead of 224", text)
        [layer] = json.loads(self.done("explain", *CONV3, "--mapping", self.too_large(), "--json", code=3))["layers"]
        self.assertEqual(layer["machine"], [{"what": "capacity", "level": "weights", "from": 224, "to": 384}])
        # A machine with it takes the mapping; one word less does not.
        machine = json.loads(self.done("map", "zoo:alexnet", "--layer", "conv3", "--hardware", "zoo:eyeriss-dram", "--samples", 1,
                                       "--search", "random", "--json"))["machine"]
        self.assertEqual(machine.count("capacity: 224"), 1)
        for capacity, code in ((384, 0), (383, 3)):
            changed = self.folder / "machine.yaml"
            changed.write_text(machine.replace("capacity: 224", f"capacity: {capacity}"))
            self.done("evaluate", *CONV3[:4], "--hardware", changed, "--mapping", self.too_large(), code=code)
        # The mapping with its loops moved fits the machine that there is.
        self.assertTrue(layer["moves"])
        moved = self.folder / "moved.yaml"
        moved.write_text(layer["mapping"])
        self.done("evaluate", *CONV3, "--mapping", moved)
        self.assertIn("feasible", self.done("explain", *CONV3, "--mapping", moved))

    def test_without_a_mapping_the_nearest_is_told(self):
        self.assertIn("the nearest classic dataflow", self.done("explain", *CONV3))
        text = self.done("explain", *CONV3, "--max-latency", 1000, code=3)
        self.assertIn("fits the machine, but not the limits", text)
        wanted = text.rsplit("--max-latency ", 1)[1].strip()
        self.done("explain", *CONV3, "--max-latency", wanted)

    def test_map_says_how_to_ask_when_nothing_fits(self):
        machine = self.folder / "machine.yaml"
        machine.write_text("format: tilewright-accelerator-2\nmac: {instances: 4}\nlevels:\n- {name: registers, instances: 4, capacity: "
                           "2, keep: [weights, inputs, outputs]}\n- {name: dram, technology: dram}\n")
        text = self.done("map", "zoo:alexnet", "--layer", "conv3", "--hardware", machine, "--search", "random", "--samples", 10,
                         "-o", self.folder / "run", code=3)
        command = text.split("`")[1]
        self.assertTrue(command.startswith("tilewright explain "), text)
        told = self.done(*command.split()[1:], code=3)
        self.assertIn("3 words in a copy of registers instead of 2", told)
        self.assertIn("No move of loops was found", told)
        self.assertIn("0 of 1 layers evaluated again", self.done("verify", self.folder / "run"))

    def test_map_says_how_near_the_limits_it_came(self):
        run = self.folder / "run"
        text = self.done("map", "zoo:alexnet", "--layer", "conv3", "--hardware", "zoo:eyeriss-dram", "--search", "random", "--samples",
                         50, "--max-latency", 1000, "--max-energy", 1e9, "-o", run, code=3)
        result = json.loads((run / "result.json").read_text())
        [layer] = result["layers"]
        self.assertNotIn("mapping", layer)
        least, nearest = layer["limits"]["latency"]["least"], layer["nearest"]
        self.assertEqual(layer["limits"]["latency"]["factor"], least / 1000)
        self.assertGreaterEqual(nearest["metrics"]["latency"], least)
        self.assertEqual(nearest["excess"], nearest["metrics"]["latency"] / 1000)
        self.assertIn(f"There is an answer with --max-latency {nearest['metrics']['latency']:.0f}", text)
        self.assertIn("every number equal", self.done("verify", run))
        # It costs what evaluate says, and with that limit it is an answer.
        mapping = self.folder / "nearest.yaml"
        mapping.write_text(nearest["mapping"])
        [cost] = json.loads(self.done("evaluate", *CONV3, "--mapping", mapping, "--json"))["layers"]
        self.assertEqual(cost["cost"]["cycles"], nearest["metrics"]["latency"])
        result.pop("digest")
        nearest["metrics"]["latency"] += 1
        changed = self.folder / "changed.json"
        changed.write_text(json.dumps(result))
        self.assertIn("/nearest/metrics/latency", self.done("verify", changed, code=3))

    def test_what_does_not_go_together_is_said(self):
        self.refused("explain", *CONV3, "--max-l1", 5, saying="does not go with machines of memory levels")
        self.refused("explain", *CONV3, "--dataflow", "nvdla", saying="is not known")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
