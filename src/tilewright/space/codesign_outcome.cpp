// What a point of the co-design space costs: its program, timed.
#include <limits>
#include <map>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <nlohmann/json.hpp>

#include "tilewright/space/codesign_space.hpp"
#include "tilewright/space/design_bytes.hpp"
#include "tilewright/vta/generator_loops.hpp"
#include "tilewright/vta/layouts.hpp"
#include "tilewright/vta/timing_transfer.hpp"

namespace tilewright {
namespace {

// Changes when generator, timing or cost proxies give other numbers.
constexpr std::int64_t kCodesignVersion = 2;

// Fetch, micro-ops, bias, the first tiles and the last one; and what each adds to its latency.
constexpr std::int64_t kStartUpBursts = 16, kBurstRest = 20;

Outcome infeasible(CodesignReason reason) { return {false, static_cast<std::uint8_t>(reason), {}}; }

static_assert(static_cast<int>(CodesignReason::Unsupported) == static_cast<int>(vta::MisfitKind::Unsupported));
CodesignReason reason_of(vta::MisfitKind kind) {
  return kind == vta::MisfitKind::Length ? CodesignReason::GivenUp : static_cast<CodesignReason>(kind);
}

}  // namespace

std::string_view name_of(CodesignReason reason) {
  constexpr std::string_view kNames[] = {"tile-range",   "threads",          "inp-overflow", "wgt-overflow",  "acc-overflow",
                                         "uop-overflow", "field-overflow",   "unsupported",  "not-encodable", "over-area",
                                         "over-power",   "over-temperature", "given-up",     "fault"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::string CodesignSpace::reason_name(std::uint8_t reason) const {
  return std::string(tilewright::name_of(static_cast<CodesignReason>(reason)));
}

class CodesignEvaluator final : public PointEvaluator {
 public:
  explicit CodesignEvaluator(const CodesignSpace& space)
      : space_(space), macs_(static_cast<double>(macs(space.layer()).value)) {}

  Outcome evaluate(PointView point) override {
    const std::size_t index = space_.site_index(point);
    const CodesignSpace::Site& site = space_.sites_[index];
    const CodesignSpaceOptions& options = space_.options_;
    if (!site.encodable) return infeasible(CodesignReason::NotEncodable);
    if (site.area > options.area_budget) return infeasible(CodesignReason::OverArea);
    const vta::Schedule schedule = space_.schedule(point);
    if (const auto misfit = vta::misfit(space_.layer_, site.machine, schedule)) {
      return infeasible(reason_of(misfit->kind));
    }

    const double most = options.give_up > 0 ? options.give_up * site.serial : std::numeric_limits<double>::infinity();
    if (space_.least_cycles(point) > most) return infeasible(CodesignReason::GivenUp);

    Bench& bench = bench_of(index, site.machine);
    thread_local vta::Code code;  // a stream can have millions of instructions, so layers share the memory of the longest
    vta::generate(space_.layer_, site.machine, schedule, options.finishing, bench.addresses, code);
    if (!code.is_whole) return infeasible(CodesignReason::GivenUp);
    const vta::Timing timing = bench.simulator.run(code.instructions);
    if (timing.fault) return infeasible(CodesignReason::Fault);
    if (static_cast<double>(timing.cycles) > most) return infeasible(CodesignReason::GivenUp);
    const vta::Energy energy = vta::energy_of(timing, site.machine, options.physical);
    const double watts = vta::power_watts(energy, timing.cycles, options.physical);
    if (options.most_watts > 0 && watts > options.most_watts) return infeasible(CodesignReason::OverPower);
    if (options.most_celsius > 0 && vta::temperature_celsius(watts, options.physical) > options.most_celsius) {
      return infeasible(CodesignReason::OverTemperature);
    }
    return {true,
            0,
            {.latency = static_cast<double>(timing.cycles),
             .energy = energy.total(),
             .area = site.area,
             .power = 1e3 * watts,
             .macs = macs_,
             .l1 = 0,
             .l2 = bench.bytes,
             .pes = static_cast<double>(site.machine.macs_per_step())}};
  }

 private:
  // What is kept per machine, so that a measurement needs no new memory.
  struct Bench {
    vta::TimingSimulator simulator;
    vta::Addresses addresses;
    double bytes = 0;  // of all buffers
  };

  Bench& bench_of(std::size_t site, const vta::Machine& machine) {
    const auto found = benches_.find(site);
    if (found != benches_.end()) return found->second;
    double bytes = 0;
    for (const vta::Buffer buffer :
         {vta::Buffer::Uop, vta::Buffer::Inp, vta::Buffer::Wgt, vta::Buffer::Acc, vta::Buffer::Out}) {
      bytes += static_cast<double>(vta::depth(machine, buffer) * vta::element_bytes(machine, buffer));
    }
    return benches_
        .emplace(site, Bench{vta::TimingSimulator(machine, space_.options_.timing),
                             vta::addresses_of(space_.layer_, machine), bytes})
        .first->second;
  }

  const CodesignSpace& space_;
  double macs_;
  std::map<std::size_t, Bench> benches_;  // by site
};

std::unique_ptr<PointEvaluator> CodesignSpace::evaluator() const { return std::make_unique<CodesignEvaluator>(*this); }

double serial_cycles(const Layer& layer, const vta::Machine& machine, const CodesignSpaceOptions& options) {
  const vta::ElementLoops loops = vta::element_loops(layer, machine);
  const vta::timing::Costs costs = vta::timing::costs_of(machine, options.timing);
  const vta::timing::CoreConstants& core = costs.core;
  const std::int64_t results = loops.groups * loops.batch * loops.out_height * loops.out_width * loops.out_blocks;
  const std::int64_t steps = results * loops.in_blocks * loops.kernel_height * loops.kernel_width;
  const std::int64_t out_beats = costs.element_beats[static_cast<std::size_t>(vta::Buffer::Out)];
  // A reset, the bias, and shift and clip of every result.
  const std::int64_t per_result = core.gemm_step + core.alu_step_tensor + 4 * core.alu_step_immediate + out_beats + 1;
  const std::int64_t weights = loops.groups * loops.in_blocks * loops.out_blocks * loops.kernel_weights();
  const std::int64_t inputs = loops.groups * loops.batch * loops.in_blocks * loops.in_height * loops.in_width;
  const std::int64_t bytes = inputs * vta::element_bytes(machine, vta::Buffer::Inp) +
                             weights * vta::element_bytes(machine, vta::Buffer::Wgt) +
                             results * (options.finishing.residual ? vta::element_bytes(machine, vta::Buffer::Acc) : 0);
  const std::int64_t latency = options.timing.read_latency + options.timing.write_latency;
  const std::int64_t written = results * vta::element_bytes(machine, vta::Buffer::Out);
  const std::int64_t bursts = kStartUpBursts + (bytes + written) / options.timing.burst_bytes;
  return static_cast<double>(core.gemm_step * steps + results * per_result + bytes / options.timing.bus_bytes +
                             bursts * (latency + kBurstRest));
}

double CodesignSpace::least_cycles(PointView point) const {
  const vta::Machine& machine = site(point).machine;
  const vta::ElementLoops loops = vta::element_loops(layer_, machine);
  const vta::Tiling t = vta::tiling(loops, machine, schedule(point));
  const vta::timing::Costs costs = vta::timing::costs_of(machine, options_.timing);
  const vta::timing::CoreConstants& core = costs.core;
  const vta::Finishing& finishing = options_.finishing;

  const std::int64_t tiles = loops.groups * t.batch_tiles * t.row_tiles * t.column_tiles * t.co_tiles;
  const std::int64_t results = loops.groups * loops.batch * loops.out_height * loops.out_width * loops.out_blocks;
  const std::int64_t steps = results * loops.in_blocks * loops.kernel_height * loops.kernel_width;
  const std::int64_t gemms = tiles * t.ci_steps * t.kernel_steps;
  const std::int64_t immediates = finishing.shift == 0 ? 2 : 3, tensors = finishing.bias ? 1 : 0;
  const std::int64_t compute = core.gemm_step * (steps + (finishing.residual ? 0 : results)) + core.gemm_rest * gemms +
                               results * (core.alu_step_immediate * immediates + core.alu_step_tensor * tensors) +
                               core.alu_rest * tiles * (immediates + tensors);
  const std::int64_t store = vta::timing::least_store_cycles(results, costs) +
                             tiles * (core.store_rest + core.store_per_burst + costs.write_latency);
  const std::int64_t weights = loops.groups * loops.in_blocks * loops.out_blocks * loops.kernel_weights();
  const std::int64_t read_bytes =
      weights * vta::element_bytes(machine, vta::Buffer::Wgt) + 16 * (gemms + tiles * (immediates + tensors + 1));
  return static_cast<double>(std::max({compute, store, read_bytes / options_.timing.bus_bytes}));
}

CodesignSpace::Excess CodesignSpace::excess(PointView point) const {
  const Site& one = site(point);
  Excess excess;
  excess.encodable = one.encodable;
  excess.area = std::max(0.0, one.area / options_.area_budget - 1);
  if (!one.encodable) return excess;
  const vta::ElementLoops loops = vta::element_loops(layer_, one.machine);
  const vta::Schedule wanted = schedule(point);
  const vta::Tiling t = vta::tiling(loops, one.machine, wanted);
  const auto add = [&](std::int64_t need, vta::Buffer buffer) {
    const double share = static_cast<double>(need) / static_cast<double>(vta::depth(one.machine, buffer));
    excess.buffers += std::max(0.0, share - 1);
  };
  add(t.inp_slots * t.inp_elements, vta::Buffer::Inp);
  add(t.wgt_slots * t.wgt_elements, vta::Buffer::Wgt);
  add(t.acc_slots * (t.acc_elements + wanted.tile_co), vta::Buffer::Acc);
  return excess;
}

void CodesignSpace::append_design(PointView point, std::string& bytes) const {
  const auto append = [&](std::int64_t number) { append_varint(static_cast<std::uint64_t>(number), bytes); };
  const vta::Machine m = machine(point);
  const vta::Schedule s = schedule(point);
  for (const int log : {m.log_inp_width, m.log_wgt_width, m.log_acc_width, m.log_batch, m.log_block_in, m.log_block_out,
                        m.log_uop_buffer, m.log_inp_buffer, m.log_wgt_buffer, m.log_acc_buffer}) {
    append(log);
  }
  for (const std::int64_t number :
       {s.tile_b, s.tile_h, s.tile_w, s.tile_ci, s.tile_co, std::int64_t{s.h_threading}, std::int64_t{s.oc_threading}}) {
    append(number);
  }
}

std::uint64_t codesign_problem_key(const Layer& layer, const CodesignSpaceOptions& options) {
  const vta::TimingOptions& timing = options.timing;
  const vta::Finishing& finishing = options.finishing;
  const std::int64_t numbers[] = {kCodesignVersion,
                                  static_cast<std::int64_t>(layer.op),
                                  layer.batch,
                                  layer.groups,
                                  layer.out_channels,
                                  layer.in_channels,
                                  layer.in_height,
                                  layer.in_width,
                                  layer.kernel_height,
                                  layer.kernel_width,
                                  layer.stride_height,
                                  layer.stride_width,
                                  layer.dilation_height,
                                  layer.dilation_width,
                                  layer.pad_top,
                                  layer.pad_bottom,
                                  layer.pad_left,
                                  layer.pad_right,
                                  layer.output_pad_height,
                                  layer.output_pad_width,
                                  static_cast<std::int64_t>(timing.core),
                                  static_cast<std::int64_t>(timing.memory),
                                  timing.read_latency,
                                  timing.write_latency,
                                  timing.bus_bytes,
                                  timing.burst_bytes,
                                  finishing.bias ? 1 : 0,
                                  finishing.residual ? 1 : 0,
                                  finishing.shift,
                                  finishing.low,
                                  finishing.high};
  const double limits[] = {options.physical.clock_mhz,
                           options.physical.ambient_celsius,
                           options.physical.kelvin_per_watt,
                           options.area_budget,
                           options.most_watts,
                           options.most_celsius,
                           options.give_up};
  return XXH3_64bits_withSeed(limits, sizeof limits, XXH3_64bits(numbers, sizeof numbers));
}

std::string CodesignSpace::problem_text() const {
  nlohmann::ordered_json json;
  json["layer"] = name_;
  json["operator"] = tilewright::name_of(layer_.op);
  json["sizes"] = {{"N", layer_.batch},          {"G", layer_.groups},        {"CI", layer_.in_channels},
                   {"CO", layer_.out_channels},  {"H", layer_.in_height},     {"W", layer_.in_width},
                   {"KH", layer_.kernel_height}, {"KW", layer_.kernel_width}, {"S", layer_.stride_height},
                   {"P", layer_.pad_top}};
  json["core"] = vta::name_of(options_.timing.core);
  json["memory"] = vta::name_of(options_.timing.memory);
  json["read_latency"] = options_.timing.read_latency;
  json["write_latency"] = options_.timing.write_latency;
  json["bus_bytes"] = options_.timing.bus_bytes;
  json["area_budget"] = options_.area_budget;
  json["model_version"] = kCodesignVersion;
  return json.dump();
}

}  // namespace tilewright
