#include <gtest/gtest.h>

#include "golden.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/vta/packing.hpp"

namespace tilewright::vta {
namespace {

std::string reason(const Machine& machine) {
  const auto checked = check(machine, "m.json");
  return checked ? "" : checked.error().message;
}

std::string reason(const std::string& json) {
  const auto machine = machine_from_json(json, "m.json");
  return machine ? "" : machine.error().message;
}

TEST(Machine, DefaultHasTheBuffersOfTheReference) {
  const Machine machine = read_machine("zoo:vta").value();
  EXPECT_EQ(machine, Machine{});
  EXPECT_EQ(machine, machine_from_json("{}", "empty").value());
  EXPECT_EQ(machine.macs_per_step(), 256);
  EXPECT_EQ(depth(machine, Buffer::Uop), 8192);
  EXPECT_EQ(depth(machine, Buffer::Wgt), 1024);
  EXPECT_EQ(depth(machine, Buffer::Inp), 2048);
  EXPECT_EQ(depth(machine, Buffer::Acc), 2048);
  EXPECT_EQ(depth(machine, Buffer::Out), 2048);
  EXPECT_EQ(element_bytes(machine, Buffer::Uop), 4);
  EXPECT_EQ(element_bytes(machine, Buffer::Wgt), 256);
  EXPECT_EQ(element_bytes(machine, Buffer::Inp), 16);
  EXPECT_EQ(element_bytes(machine, Buffer::Acc), 64);
  EXPECT_EQ(element_bytes(machine, Buffer::Out), 16);
  EXPECT_EQ(element_bytes(machine, Buffer::Acc8), 16);
}

TEST(Machine, PackingIsThatOfTheReferenceHeadersForElevenMachines) {
  ASSERT_EQ(golden_layouts().size(), 11u);
  const std::map<std::string, Format> formats = {
      {"mem", Format::Memory}, {"gemm", Format::Gemm}, {"alu", Format::Alu}, {"uop", Format::MicroOp}};
  for (const GoldenLayout& layout : golden_layouts()) {
    SCOPED_TRACE(layout.config_name);
    for (const Buffer buffer : {Buffer::Uop, Buffer::Inp, Buffer::Wgt, Buffer::Acc}) {
      EXPECT_EQ(log_depth(layout.machine, buffer), layout.log_depths.at(std::string(name_of(buffer))));
    }
    for (const auto& [name, expected] : layout.formats) {
      const Packing packing = packing_of(formats.at(name), layout.machine);
      ASSERT_EQ(packing.count, expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const Field& field = packing.places[i];
        EXPECT_EQ(std::tuple(std::string(field.name), field.lowest, field.width), expected[i]);
      }
    }
  }
}

int encodable(int most_log_batch, int least_log_block, int most_log_block) {
  int count = 0;
  for (int batch = 0; batch <= most_log_batch; ++batch) {
    for (int in = least_log_block; in <= most_log_block; ++in) {
      for (int out = least_log_block; out <= most_log_block; ++out) {
        count += check({.log_batch = batch, .log_block_in = in, .log_block_out = out}, "grid") ? 1 : 0;
      }
    }
  }
  return count;
}

TEST(Machine, AsManyAsPublishedCanBeEncodedWithTheDefaultBuffers) {
  EXPECT_EQ(encodable(3, 2, 7), 112);  // of 144
  EXPECT_EQ(encodable(2, 3, 6), 41);   // of 48
}

TEST(Machine, RefusalsSayWhyAndWhatWouldDo) {
  EXPECT_EQ(reason(Machine{.log_acc_buffer = 18}),
            "m.json: the ALU instruction needs 132 bits, expected at most 128: make LOG_ACC_BUFF_SIZE at most 17");
  EXPECT_EQ(reason(Machine{.log_block_in = 3}),
            "m.json: the GEMM instruction needs 132 bits, expected at most 128: make LOG_INP_BUFF_SIZE at most 13");
  EXPECT_EQ(reason(Machine{.log_wgt_buffer = 19}),
            "m.json: the GEMM instruction needs 130 bits, expected at most 128: make LOG_INP_BUFF_SIZE at most 14");
  EXPECT_EQ(reason(Machine{.log_uop_buffer = 18}),
            "m.json: LOG_UOP_BUFF_SIZE is 18, expected 3 to 17 with elements of 4 bytes");
  EXPECT_EQ(reason(Machine{.log_inp_buffer = 4}),
            "m.json: LOG_INP_BUFF_SIZE is 4, expected 5 to 20 with elements of 16 bytes");
  EXPECT_EQ(reason(Machine{.log_acc_width = 6}), "m.json: LOG_ACC_WIDTH is 6, expected 0 to 5, nearest 5");
  EXPECT_EQ(reason(Machine{.log_block_in = 9, .log_block_out = 8}),
            "m.json: an element of wgt has 131072 bytes, expected at most 32768: make the blocks or the batch smaller");
  EXPECT_EQ(reason(Machine{.log_inp_width = 0, .log_block_in = 2}),
            "m.json: an element of inp has 4 bits, expected at least 8");
}

TEST(Machine, JsonKeysOverrideEachOtherAsDocumented) {
  const Machine machine =
      machine_from_json(R"({"LOG_BLOCK_OUT": 5, "LOG_BLOCK": 3, "TARGET": "sim", "HW_VER": "0.0.2", "LOG_INP_BUFF_SIZE": 13,
                            "LOG_WGT_BUFF_SIZE": 16, "LOG_ACC_BUFF_SIZE": 16})",
                        "m.json")
          .value();
  EXPECT_EQ(machine.log_block_in, 3);
  EXPECT_EQ(machine.log_block_out, 5);
  EXPECT_EQ(reason(R"({"LOG_BLOK": 4})"),
            "m.json:1: 'LOG_BLOK' is no key of a machine, expected one like LOG_BLOCK (did you mean 'LOG_BLOCK'?)");
  EXPECT_EQ(reason(R"({"LOG_BATCH": 1.5})"), "m.json:1: LOG_BATCH is 1.5, expected a small whole number");
  EXPECT_EQ(reason(R"({"LOG_BATCH": 18446744073709551615})"),
            "m.json:1: LOG_BATCH is 18446744073709551615, expected a small whole number");
  EXPECT_EQ(reason(R"({"LOG_BATCH": 1, "LOG_BATCH": 2})"), "m.json: 'LOG_BATCH' stands twice, expected once");
  EXPECT_EQ(reason("[4]"), "m.json: is not a JSON object, expected the LOG_* keys of a machine");
  EXPECT_EQ(reason("{\n  \"LOG_BATCH\": true\n}"), "m.json:2: LOG_BATCH is true, expected a small whole number");
  EXPECT_EQ(reason("{\n  \"LOG_BATCH\": 1,\n}"), "m.json:3: is not JSON: unexpected '}'; expected string literal");
  EXPECT_EQ(read_machine("zoo:vtb").error().message, "zoo:vtb: no such machine, expected zoo:vta or a JSON file");
}

TEST(Machine, JsonOfEveryMachineReadsBackEqual) {
  Rng rng(1, "machines");
  int legal = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto around = [&](int value) { return value + static_cast<int>(rng.between(-3, 3)); };
    Machine machine{.log_inp_width = static_cast<int>(rng.between(0, 5)),
                    .log_wgt_width = static_cast<int>(rng.between(0, 5)),
                    .log_acc_width = static_cast<int>(rng.between(3, 5)),
                    .log_batch = static_cast<int>(rng.between(0, 3)),
                    .log_block_in = around(4),
                    .log_block_out = around(4),
                    .log_uop_buffer = around(14),
                    .log_inp_buffer = around(15),
                    .log_wgt_buffer = around(17),
                    .log_acc_buffer = around(16)};
    if (!check(machine, "random")) continue;
    ++legal;
    EXPECT_EQ(machine_from_json(to_json(machine), "again").value(), machine);
  }
  EXPECT_GT(legal, 500);
}

}  // namespace
}  // namespace tilewright::vta
