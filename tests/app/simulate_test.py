"""`tilewright simulate` as its user meets it: every golden program gives the bytes and cycles of the real machine, illegal ones
their verdict, and what it prints, draws and refuses.

simulate_test.py PROGRAM DATA
"""

import hashlib
import json
import pathlib
import random
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM, DATA = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
FOLDER = tempfile.TemporaryDirectory()
GOLDEN = pathlib.Path(FOLDER.name) / "vta_public"
PIPELINED = pathlib.Path(FOLDER.name) / "pipelined"
SVG = "{http://www.w3.org/2000/svg}"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def run(*arguments):
    return subprocess.run([PROGRAM, "simulate", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def program_of(instructions):
    """A container with one stream of 64-bit words that the upper halves of the instructions leave zero."""
    stream = b"".join(struct.pack("<QQ", word, 0) for word in instructions)
    return b"VTAPROG1" + struct.pack("<IIIIQQ", 1, 0, 3, 0, 0x1000, len(stream)) + stream


class SimulateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def done(self, *arguments, code=0):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def refused(self, *arguments, saying, code=2):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(saying, result.stderr)


class Golden(SimulateTest):
    def test_every_dump_byte_and_every_cycle_of_the_real_machine(self):
        timed = 0
        for index, case in enumerate(lines_of(GOLDEN / "cases.jsonl")):
            machine, dump = self.folder / "machine.json", self.folder / "dump.vtaprog"
            machine.write_text(json.dumps(case["config"]))
            runs = case["rtl"] if case["rtl"] and case["rtl_cycles_comparable"] else []
            setting = runs[index % len(runs)] if runs else {"rd_latency": 16, "wr_latency": 16}
            text = self.done(GOLDEN / f"{case['name']}.vtaprog", "--machine", machine, "--core", "sequential", "--read-latency",
                             setting["rd_latency"], "--write-latency", setting["wr_latency"], "--dump", dump, "--json").stdout
            with self.subTest(case["name"]):
                self.assertEqual(dump.read_bytes(), (GOLDEN / f"{case['name']}.expect.vtaprog").read_bytes())
                result, profile = json.loads(text), case["fsim_profile"]
                buffers = result["buffers"]
                for name in ("inp", "wgt", "acc", "uop"):
                    self.assertEqual(buffers[name]["bytes"], profile[f"{name}_load_nbytes"])
                self.assertEqual(buffers["out"]["bytes"], profile["out_store_nbytes"])
                self.assertEqual(result["executed"]["gemm_steps"], profile["gemm_counter"])
                self.assertEqual(result["executed"]["instructions"], case["insn_count"])
                if not runs:
                    continue
                timed += 1
                self.assertEqual(result["cycles"], setting["cycles"])
                self.assertEqual(result["streams"], [stream["cycles"] for stream in setting["streams"]])
                self.assertEqual(result["memory"]["read_beats"], sum(stream["rd_beats"] for stream in setting["streams"]))
                self.assertEqual(result["memory"]["write_bursts"], sum(stream["wr_cmds"] for stream in setting["streams"]))
                self.assertEqual(sum(module["instructions"] for module in result["modules"].values()), case["insn_count"])
                for module in result["modules"].values():
                    self.assertEqual(module["busy"] + module["token_stall"] + module["idle"], result["cycles"])
        self.assertGreater(timed, 40)

    def test_the_pipelined_core_takes_the_cycles_of_its_rtl(self):
        machine = PIPELINED / "machine.json"
        for index, case in enumerate(lines_of(PIPELINED / "cases.jsonl")[::7]):
            setting, dump = case["runs"][index % 3], self.folder / "dump.vtaprog"
            text = self.done(PIPELINED / case["file"], "--machine", machine, "--read-latency", setting["read_latency"],
                             "--write-latency", setting["write_latency"], "--dump", dump, "--json").stdout
            with self.subTest(case["name"]):
                result = json.loads(text)
                self.assertEqual(result["timing"]["memory"], "direct")
                self.assertEqual(result["cycles"], setting["cycles"])
                for count in ("read_bursts", "read_beats", "write_bursts", "write_beats"):
                    self.assertEqual(result["memory"][count], setting[count])
                self.assertEqual(hashlib.sha256(dump.read_bytes()).hexdigest(), case["dump_sha256"])

    def test_illegal_programs_have_their_verdict_and_leave_nothing_behind(self):
        for case in lines_of(GOLDEN / "negative" / "negative.jsonl"):
            dump, timeline = self.folder / "dump.vtaprog", self.folder / "time.svg"
            result = run(GOLDEN / "negative" / case["file"], "--json", "--dump", dump, "--timeline", timeline)
            with self.subTest(case["name"]):
                self.assertEqual(result.returncode, case["code"], result.stderr)
                fault = json.loads(result.stdout)["fault"]
                self.assertEqual(dump.exists(), case["code"] == 0)
                self.assertEqual(timeline.exists(), case["code"] == 0)
                if case["code"] == 0:
                    self.assertIsNone(fault)
                    dump.unlink()
                    timeline.unlink()
                    continue
                self.assertIn(fault["verdict"], [case["verdict"], *case["also_accepted"]])
                self.assertEqual((fault["code"], fault["stream"]), (case["code"], case["stream"]))
                if case["insn"] is not None:
                    self.assertEqual(fault["insn"], case["insn"])
                    self.assertIn(f"stream {case['stream']}, instruction {case['insn']}: ", result.stderr)
                self.assertEqual(fault["tokens"], case["tokens"])
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_time_alone_finds_what_needs_no_data(self):
        for case in lines_of(GOLDEN / "negative" / "negative.jsonl"):
            result = run(GOLDEN / "negative" / case["file"], "--timing-only", "--json")
            with self.subTest(case["name"]):
                if case["name"] == "sram_range_gemm":  # what micro-ops reach is in the data
                    self.assertEqual(result.returncode, 0)
                else:
                    self.assertEqual(result.returncode, case["code"], result.stderr)
                    self.assertEqual(json.loads(result.stdout)["fault"] is None, case["code"] == 0)


class Printed(SimulateTest):
    def test_text_has_cycles_by_module_bytes_by_buffer_and_proxies(self):
        text = self.done(GOLDEN / "hand_02_conv3x3_s1.vtaprog", "--core", "sequential", "--clock-mhz", "200").stdout
        self.assertIn("11,138 (55.69 us at 200 MHz)", text)
        for word in ("load ", "compute ", "store ", "token waits", "uop ", "wgt ", "energy ", "power ", "executed   88 instructions"):
            self.assertIn(word, text)

    def test_parts_of_area_and_energy_add_up(self):
        result = json.loads(self.done(GOLDEN / "gen_gemm_a.vtaprog", "--json", "--ambient-celsius", "40", "--kelvin-per-watt", "10").stdout)
        area, energy = result["area"], result["energy_nj"]
        self.assertEqual(area["relative"], 1)
        for whole in (area, energy):
            parts = sum(value for name, value in whole.items() if name not in ("relative", "total"))
            self.assertAlmostEqual(whole["total"], parts, delta=1e-9 * parts)
        self.assertAlmostEqual(result["power_watts"], 1e-3 * energy["total"] / result["microseconds"])
        self.assertAlmostEqual(result["temperature_celsius"], 40 + 10 * result["power_watts"])

    def test_one_half_can_be_left_out(self):
        program = GOLDEN / "gen_carry_streams.vtaprog"
        whole = json.loads(self.done(program, "--json").stdout)
        time = json.loads(self.done(program, "--json", "--timing-only").stdout)
        result = json.loads(self.done(program, "--json", "--functional-only").stdout)
        self.assertEqual((time["cycles"], time["streams"]), (whole["cycles"], whole["streams"]))
        self.assertEqual(len(time["streams"]), 3)
        self.assertNotIn("executed", time)
        self.assertEqual(result["executed"], whole["executed"])
        self.assertNotIn("cycles", result)
        self.assertIn("GEMM", self.done(program, "--functional-only").stdout)

    def test_memory_and_core_change_the_cycles(self):
        program = GOLDEN / "gen_conv3x3_b_oc2.vtaprog"

        def cycles(*arguments):
            return json.loads(self.done(program, "--timing-only", "--json", *arguments).stdout)["cycles"]

        usual = cycles()
        self.assertLess(usual, cycles("--core", "sequential"))
        self.assertLess(usual, cycles("--read-latency", "500"))
        self.assertLess(usual, cycles("--memory", "registered"))
        self.assertEqual(usual, cycles("--memory", "direct"))
        self.assertGreater(usual, cycles("--bus-bytes", "32"))
        self.assertLess(usual, cycles("--burst-bytes", "64"))

    def test_the_listing_has_every_instruction(self):
        text = self.done(GOLDEN / "hand_01_gemm_bias_shift_clip.vtaprog", "--listing").stdout
        self.assertEqual(sum(line[:7].strip().isdigit() for line in text.splitlines()), 14)
        self.assertIn("finish", text)

    def test_tokens_beyond_the_counter_are_a_remark_because_results_are_known(self):
        give, take = 0 | 1 << 6 | 2 << 7, 0 | 1 << 3  # a load of no inputs, one of no micro-ops
        hanging = self.folder / "hanging.vtaprog"
        hanging.write_bytes(program_of([give] * 300 + [take] * 300 + [3]))
        result = json.loads(self.done(hanging, "--json").stdout)
        self.assertIsNone(result["fault"])
        self.assertIsNone(result["cycles"])
        self.assertEqual(result["timing_remark"]["verdict"], "deadlock")
        self.assertIn("remark     no cycles are known: deadlock: stream 0, instruction", self.done(hanging).stdout)
        self.refused(hanging, "--timing-only", saying="deadlock: stream 0, instruction", code=4)
        hanging.write_bytes(program_of([give] * 255 + [take] * 255 + [3]))
        self.assertGreater(json.loads(self.done(hanging, "--json").stdout)["cycles"], 510)


class Drawn(SimulateTest):
    def bars(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        return [rect for rect in root.iter(SVG + "rect") if rect.get("class") == "cell"]

    def test_a_bar_for_every_instruction_but_finish(self):
        path = self.folder / "time.svg"
        self.done(GOLDEN / "gen_dense_a.vtaprog", "--timeline", path)
        self.assertEqual(len(self.bars(path)), 44)
        text = path.read_text()
        self.assertIn("load and compute work at the same time in", text)
        self.assertIn("gen_dense_a.vtaprog", text)

    def test_work_at_the_same_time_is_seen(self):
        shares = {}
        for name in ("gen_conv3x3_a", "gen_conv3x3_d_4ctx"):  # one context, four contexts
            self.done(GOLDEN / f"{name}.vtaprog", "--timeline", self.folder / "time.svg")
            result = json.loads(self.done(GOLDEN / f"{name}.vtaprog", "--json", "--timing-only").stdout)
            busy = [result["modules"][module]["busy"] for module in ("load", "compute")]
            self.assertLessEqual(sum(busy) - result["cycles"], result["load_compute_overlap"])
            self.assertLessEqual(result["load_compute_overlap"], min(busy))
            shares[name] = int((self.folder / "time.svg").read_text().split("at the same time in ")[1].split(" %")[0])
        self.assertLess(shares["gen_conv3x3_a"] + 10, shares["gen_conv3x3_d_4ctx"])

    def test_large_programs_have_an_overview_and_a_piece(self):
        path = self.folder / "time.html"
        self.done(GOLDEN / "micro_queue_full.vtaprog", "--timeline", path)
        text = path.read_text()
        self.assertTrue(text.startswith("<!doctype html>"))
        self.assertIn("the framed piece", text)
        self.assertIn("cycles     ", text)


class Refused(SimulateTest):
    def test_wrong_flags_and_files(self):
        program = GOLDEN / "gen_gemm_a.vtaprog"
        self.refused(saying="the program is missing")
        self.refused(self.folder / "none.vtaprog", saying="none.vtaprog: no such file")
        self.refused(program, "--core", "pipelned", saying="'pipelned' is not known (did you mean 'pipelined'?)")
        self.refused(program, "--memory", "register", saying="memory 'register' is not known (did you mean 'registered'?)")
        self.refused(program, "--cor", "sequential", saying="'--cor' is not an option of simulate (did you mean '--core'?)")
        self.refused(program, "--machine", "zoo:vtb", saying="zoo:vta")
        self.refused(program, "--machine", DATA / "leaf_macs.csv", saying="leaf_macs.csv:1: is not JSON: ")
        self.refused(program, "--bus-bytes", "12", saying="the bus is 12 bytes, expected a power of two from 4 to 128, for example 8")
        self.refused(program, "--read-latency", "-1", saying="the read latency is -1 cycles, expected 0 to 1000000")
        self.refused(program, "--read-latency", "fast", saying="--read-latency")
        self.refused(program, "--clock-mhz", "0", saying="--clock-mhz is 0, expected above 0")
        self.refused(program, "--timeline", "time.png", saying="expected a file that ends with .svg or .html")
        self.refused(program, "--timing-only", "--functional-only", saying="expected one of them")
        self.refused(program, "--timing-only", "--dump", "x", saying="--dump needs the results")
        self.refused(program, "--functional-only", "--timeline", "x.svg", saying="--timeline needs cycles")
        self.refused(program, "--listing", "--json", saying="expected one of them")
        self.refused(program, "--dump", self.folder / "no" / "such" / "folder" / "x", saying="x")
        self.refused(program, "--ambient-celsius", "inf", saying="--ambient-celsius is 'inf', expected a number")
        self.refused(program, "--dump", GOLDEN / "." / "gen_gemm_a.vtaprog", saying="the program itself, expected another file")
        self.refused(program, "--dump", self.folder / "d", "--timeline", self.folder / "no" / "t.svg", saying="there is no directory")
        self.assertEqual(list(self.folder.iterdir()), [])
        self.refused(DATA / "leaf_macs.csv", saying="leaf_macs.csv: bad_magic: ")

    def test_damaged_programs_end_in_a_sentence(self):
        random_of = random.Random(5)
        for case in ("gen_gemm_a", "gen_mix_b", "gen_carry_streams"):
            whole = (GOLDEN / f"{case}.vtaprog").read_bytes()
            for _ in range(12):
                data = bytearray(whole)
                for _ in range(random_of.randint(1, 4)):  # in the table of sections, or among the instructions at the end
                    at = random_of.randrange(200) if random_of.random() < 0.5 else len(data) - 1 - random_of.randrange(600)
                    data[at] = random_of.randrange(256)
                path = self.folder / "damaged.vtaprog"
                path.write_bytes(data)
                result = run(path, "--timeline", self.folder / "time.svg")
                self.assertIn(result.returncode, (0, 2, 4, 5), result.stderr)
                self.assertEqual(result.stderr.count("\n"), 0 if result.returncode == 0 else 1, result.stderr)

    def test_a_program_for_another_machine_is_diagnosed_or_runs(self):
        machine = self.folder / "small.json"
        machine.write_text('{"LOG_BLOCK": 3, "LOG_INP_BUFF_SIZE": 10}')
        for case in ("gen_gemm_a", "gen_conv3x3_a", "gen_mix_c", "hand_01_gemm_bias_shift_clip"):
            result = run(GOLDEN / f"{case}.vtaprog", "--machine", machine)
            self.assertIn(result.returncode, (0, 2, 4, 5), case)
            self.assertEqual(result.stderr.count("\n"), 0 if result.returncode == 0 else 1)


if __name__ == "__main__":
    with FOLDER:
        for name in ("programs.tar.gz", "pipelined.tar.gz"):
            with tarfile.open(DATA / "vta" / name) as archive:
                archive.extractall(FOLDER.name)
        unittest.main(argv=sys.argv[:1])
