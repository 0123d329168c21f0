// Any bytes read as a problem, mapping, restriction or record give a sentence, or something that is read back as the same
// and that the judge answers.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/timeloop_records.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"

namespace {

using namespace tilewright;
using namespace tilewright::hierarchy;

// 16 PEs with registers, a shared buffer, DRAM.
Machine small_machine() {
  Machine machine;
  machine.name = "simple3";
  machine.mac.instances = 16;
  machine.mac.mesh_x = 4;
  StorageLevel registers, buffer, dram;
  registers.name = "Local";
  registers.instances = 16;
  registers.mesh_x = 4;
  registers.capacity = 32;
  buffer.name = "Shared";
  buffer.capacity = 32768;
  buffer.block_size = 4;
  dram.name = "Main";
  dram.technology = Technology::Dram;
  machine.levels = {registers, buffer, dram};
  return *check(machine, "fuzz");
}

void check_mapping(const Result<Mapping>& mapping, const Problem& problem, const Machine& machine) {
  if (!mapping) {
    if (mapping.error().message.empty()) std::abort();
    return;
  }
  const Mapping said = canonical(*mapping, problem);
  const Result<Mapping> again =
      mapping_from_timeloop(to_timeloop_yaml(said, problem, machine), "again.yaml", problem, machine);
  if (!again || !(canonical(*again, problem) == said)) std::abort();
  if (!check(*mapping, problem, machine, Factors::Exact, "fuzz")) return;
  Evaluator evaluator(problem, machine);
  const Evaluation evaluation = evaluator.evaluate(*mapping);
  if (const auto* cost = std::get_if<Cost>(&evaluation)) {
    if (!(cost->energy.value >= 0) || cost->cycles.value < 1) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Machine machine = small_machine();
  const Result<Problem> read = problem_from_timeloop(text, "fuzz.yaml");
  const Problem problem = read ? *read : *problem_of(*shape_named("gemm"), {{"M", 64}, {"N", 64}, {"K", 32}}, {}, "fuzz");
  check_mapping(mapping_from_timeloop(text, "fuzz.yaml", problem, machine), problem, machine);
  check_mapping(mapping_from_yaml(text, "fuzz.yaml", problem, machine), problem, machine);
  if (const auto restriction = restriction_from_timeloop(text, "fuzz.yaml", problem, machine))
    (void)violation(*restriction, outermost_mapping(problem, machine), problem, machine);
  RecordJudge judge({{"simple3", machine}});
  const Result<std::string> answer = judge.judge(text, "fuzz.jsonl");
  if (!answer && answer.error().message.empty()) std::abort();
  return 0;
}
