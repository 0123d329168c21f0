#include "tilewright/vta/timing.hpp"

#include <fmt/format.h>

#include "tilewright/vta/timing_engine.hpp"

namespace tilewright::vta {
namespace timing {
namespace {

constexpr std::array<const char*, 4> kTokenNames = {"load-to-compute", "compute-to-load", "compute-to-store",
                                                    "store-to-compute"};
constexpr std::array<const char*, 3> kLaneNames = {"load", "compute", "store"};

bool gives(const Instruction& instruction, Queue queue) {
  const Module module = module_of(instruction);
  if (queue == kLoadToCompute) return module == Module::Load && instruction.push_next;
  if (queue == kStoreToCompute) return module == Module::Store && instruction.push_prev;
  return module == Module::Compute && (queue == kComputeToLoad ? instruction.push_prev : instruction.push_next);
}

}  // namespace

// The hardware would go on and hang later, when somebody waits for the token that was lost.
void Engine::lose(Queue queue, std::size_t number) {
  if (timing.fault) return;
  std::int64_t culprit = -1;
  for (std::size_t i = 0, seen = 0; i < stream.size() && culprit < 0; ++i)
    if (gives(stream[i], queue) && seen++ == number) culprit = static_cast<std::int64_t>(i);
  Fault fault{FaultKind::Deadlock, -1, culprit, {}, {}};
  for (std::size_t q = 0; q < tokens.size(); ++q)
    fault.tokens[q] = static_cast<std::int64_t>(tokens[q].given.size() - tokens[q].taken_count);
  fault.sentence =
      fmt::format("instruction {} gives a {} token while {} wait, expected at most {}: the core's counter loses it", culprit,
                  kTokenNames[queue], kMostTokens, kMostTokens - 1);
  timing.fault = std::move(fault);
}

// Nothing moves any more, and FINISH was not reached.
void Engine::diagnose() {
  Fault fault{FaultKind::Deadlock, -1, -1, {}, {}};
  for (std::size_t q = 0; q < tokens.size(); ++q)
    fault.tokens[q] = static_cast<std::int64_t>(tokens[q].given.size() - tokens[q].taken_count);
  for (const Module module : {Module::Compute, Module::Load, Module::Store}) {
    const Lane& lane = lanes[static_cast<std::size_t>(module)];
    if (lane.done == lane.queued) continue;
    fault.instruction = lane.queue[lane.done];
    const Instruction& instruction = stream[static_cast<std::size_t>(fault.instruction)];
    Queue missing = module == Module::Load ? kComputeToLoad : kComputeToStore;
    if (module == Module::Compute)
      missing = instruction.pop_prev && !can_take(kLoadToCompute) ? kLoadToCompute : kStoreToCompute;
    fault.sentence = fmt::format("{} waits at instruction {} for a {} token that nobody gives",
                                 kLaneNames[static_cast<std::size_t>(module)], fault.instruction, kTokenNames[missing]);
    if (fetched < stream.size())
      fault.sentence += fmt::format(", and instruction {} finds its queue of {} full", fetched, kQueueDepth);
    timing.fault = std::move(fault);
    return;
  }
  fault.kind = FaultKind::FinishNotLast;
  fault.sentence = fmt::format("the stream of {} instructions has no FINISH, expected one at its end", stream.size());
  timing.fault = std::move(fault);
}

}  // namespace timing

Result<TimingOptions> check(TimingOptions options, const std::string& where) {
  const auto range = [&](std::int64_t value, const char* name) -> std::string {
    if (value >= 0 && value <= 1'000'000) return {};
    return fmt::format("{}: the {} latency is {} cycles, expected 0 to 1000000", where, name, value);
  };
  const auto power = [&](std::int64_t value, std::int64_t least, std::int64_t most, const char* name) -> std::string {
    if (value >= least && value <= most && std::has_single_bit(static_cast<std::uint64_t>(value))) return {};
    std::int64_t nearest = least;
    while (nearest < most && nearest * 2 <= value) nearest *= 2;
    return fmt::format("{}: the {} is {} bytes, expected a power of two from {} to {}, for example {}", where, name, value,
                       least, most, nearest);
  };
  for (const std::string& sentence :
       {range(options.read_latency, "read"), range(options.write_latency, "write"), power(options.bus_bytes, 4, 128, "bus"),
        power(options.burst_bytes, std::max<std::int64_t>(options.bus_bytes, 16), 1 << 20, "burst limit")})
    if (!sentence.empty()) return invalid(sentence);
  return options;
}

std::string to_text(const TimingOptions& options) {
  return fmt::format("{} core, {} memory, latencies {} and {}", name(options.core), name(options.memory),
                     options.read_latency, options.write_latency);
}

TimingSimulator::TimingSimulator(const Machine& machine, const TimingOptions& options)
    : engine_(std::make_unique<timing::Engine>()) {
  TW_ASSERT(check(options, ""));
  engine_->costs = timing::costs_of(machine, options);
}
TimingSimulator::~TimingSimulator() = default;
TimingSimulator::TimingSimulator(TimingSimulator&&) noexcept = default;
TimingSimulator& TimingSimulator::operator=(TimingSimulator&&) noexcept = default;

Timing TimingSimulator::run(std::span<const Instruction> stream, std::vector<Span>* spans) {
  engine_->begin(stream, spans);
  return engine_->run();
}

Timing time_stream(std::span<const Instruction> stream, const Machine& machine, const TimingOptions& options,
                   std::vector<Span>* spans) {
  return TimingSimulator(machine, options).run(stream, spans);
}

}  // namespace tilewright::vta
