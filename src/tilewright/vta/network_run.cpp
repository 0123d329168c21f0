#include "tilewright/vta/network_run.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright::vta {
namespace {

std::uint64_t fnv1a(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

void compare(const std::vector<std::int8_t>& is, const std::vector<std::int8_t>& expected, StepRun& run) {
  run.elements = static_cast<std::int64_t>(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i < is.size() && is[i] == expected[i]) continue;
    ++run.differences;
    if (!run.first) run.first = Difference{i, i < is.size() ? is[i] : std::int8_t{0}, expected[i]};
  }
}

std::vector<std::int8_t> run_program(const LayerProgram& built, const Machine& machine, const RunOptions& options,
                                     StepRun& run) {
  run.on_machine = true;
  const std::vector<std::uint8_t> file = to_file(built.program);
  run.program_bytes = file.size();
  run.program_hash = fnv1a(file);
  for (const Section& section : built.program.sections) {
    if (section.kind == SectionKind::MicroOps) run.uops += static_cast<std::int64_t>(section.size / sizeof(std::uint32_t));
  }
  TimingSimulator simulator(machine, options.timing);
  for (const std::vector<Instruction>& stream : streams_of(built.program, machine)) {
    run.instructions += static_cast<std::int64_t>(stream.size());
    run.timing = simulator.run(stream);
  }
  Execution execution = execute(built.program, machine, options.execution);
  run.profile = execution.profile;
  run.fault = execution.fault ? execution.fault : run.timing.fault;
  if (run.fault || execution.dumps.size() != 1) return {};
  run.guards_intact = guards_intact(built, execution.dumps[0]);
  return plain_output(built, execution.dumps[0]);
}

}  // namespace

std::vector<std::vector<Instruction>> streams_of(const Program& program, const Machine& machine) {
  const Encoding encoding(machine);
  std::vector<std::vector<Instruction>> streams;
  for (const Section& section : program.sections) {
    if (section.kind != SectionKind::Stream) continue;
    streams.emplace_back();
    for (std::size_t at = 0; at + sizeof(Word) <= section.bytes.size(); at += sizeof(Word)) {
      Word word{};
      std::memcpy(word.data(), section.bytes.data() + at, sizeof(Word));
      encoding.decode(word, streams.back().emplace_back());
    }
  }
  return streams;
}

std::int64_t NetworkRun::cycles() const {
  std::int64_t sum = 0;
  for (const StepRun& step : steps) sum += step.timing.cycles;
  return sum;
}

std::int64_t NetworkRun::elements() const {
  std::int64_t sum = 0;
  for (const StepRun& step : steps) sum += step.on_machine ? step.elements : 0;
  return sum;
}

std::int64_t NetworkRun::compared() const {
  return std::ranges::count_if(steps, [](const StepRun& step) { return step.on_machine && step.elements > 0; });
}

std::int64_t NetworkRun::differences() const {
  std::int64_t sum = 0;
  for (const StepRun& step : steps) sum += step.differences;
  return sum;
}

bool NetworkRun::is_equal() const {
  return std::ranges::all_of(steps,
                             [](const StepRun& step) { return step.differences == 0 && !step.fault && step.guards_intact; });
}

NetworkRun run_network(const QuantisedNetwork& network, const NetworkPlan& plan, std::span<const std::int8_t> input,
                       const RunOptions& options, ThreadPool& pool) {
  const QuantisedTensors computed = options.expected != nullptr ? QuantisedTensors{} : run(network, input, pool);
  const QuantisedTensors& expected = options.expected != nullptr ? *options.expected : computed;
  NetworkRun result;
  result.steps.resize(network.steps.size());
  result.tensors.resize(network.steps.size());
  result.tensors[0].assign(input.begin(), input.end());
  for (std::size_t index = 1; index < network.steps.size(); ++index) {
    StepRun& step = result.steps[index];
    if (plan.steps[index].schedule) {
      const LayerProgram built = step_program(network, plan, index, result.tensors);
      result.tensors[index] = run_program(built, plan.machine, options, step);
      compare(result.tensors[index], expected[index], step);
      if (options.on_program) options.on_program(index, built.program, step);
      result.tensors[index].resize(expected[index].size());  // a fault leaves none, and the next step needs some
    } else {
      result.tensors[index] = run_step(network, index, result.tensors, pool);
      compare(result.tensors[index], expected[index], step);
    }
  }
  return result;
}

std::string verification(const QuantisedNetwork& network, const NetworkRun& run) {
  if (run.compared() == 0) return "nothing was compared, because no step runs on the machine";
  const std::string compared =
      fmt::format("{} elements of {} {} compared with the reference arithmetic: ", with_thousands(run.elements()),
                  run.compared(), run.compared() == 1 ? "step" : "steps");
  if (run.is_equal()) return compared + "all equal";
  for (std::size_t index = 0; index < run.steps.size(); ++index) {
    const StepRun& step = run.steps[index];
    const std::string where = fmt::format("{}{} differ, first in step '{}'", compared, with_thousands(run.differences()),
                                          network.steps[index].name);
    if (step.fault) return fmt::format("{}, which stops: {}", where, step.fault->sentence);
    if (!step.guards_intact) return where + ", which writes outside its result";
    if (step.first) {
      return fmt::format("{}: element {} is {}, expected {}", where, step.first->element, step.first->is,
                         step.first->expected);
    }
  }
  return compared + "not equal";
}

}  // namespace tilewright::vta
