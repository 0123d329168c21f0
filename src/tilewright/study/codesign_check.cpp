// The programs of an answer, executed and compared.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign_parts.hpp"
#include "tilewright/study/file_name.hpp"
#include "tilewright/study/program_folder.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/vta/network_manifest.hpp"
#include "tilewright/vta/reference.hpp"
#include "tilewright/workload/quantised_build.hpp"

namespace tilewright {
namespace {

constexpr double kMostCheckedBytes = double{1 << 28};  // of all tensors together, which are there several times

Result<CodesignCheck> check_whole(const QuantisedNetwork& network, const vta::NetworkPlan& plan, const CodesignStudy& study,
                                  RunContext& context) {
  ProgramFolder folder(context.directory, "programs");
  vta::RunOptions options;
  options.timing = study.options.timing;
  options.on_program = [&](std::size_t step, const vta::Program& program, const vta::StepRun&) {
    folder.add(vta::program_file(network, step), program, plan.machine);
    if (context.stop.asked()) throw Stopped{};
  };
  const vta::NetworkRun run = vta::run_network(network, plan, random_input(network, study.seed), options, context.threads);
  CodesignCheck check{.executed = true, .equal = run.is_equal(), .whole = true, .sentence = {}, .cycles = run.cycles()};
  check.sentence =
      fmt::format("{}: {}; all programs together, pools and sums included, take {} cycles",
                  check.equal ? "verified" : "NOT EQUAL", vta::verification(network, run), with_thousands(run.cycles()));
  TW_TRY(check.programs,
         folder.close(vta::manifest_json(network, plan, run, {.seed = study.seed, .timing = study.options.timing})));
  return check;
}

// Random data for one layer, and a shift that brings its sums into the range of the result without clipping most of them.
struct LayerData {
  std::vector<std::int8_t> input, weight;
  std::vector<std::int32_t> bias;
  vta::Finishing finishing;

  LayerData(const Layer& layer, Rng rng, vta::Finishing wanted) : finishing(wanted) {
    const TensorSizes sizes = tensor_sizes(layer);
    const auto fill = [&rng](auto& values, std::int64_t count, std::int64_t least, std::int64_t most) {
      values.resize(static_cast<std::size_t>(count));
      for (auto& value : values) {
        value = static_cast<std::remove_reference_t<decltype(value)>>(rng.between(least, most));
      }
    };
    fill(input, sizes.input.value, -128, 127);
    fill(weight, sizes.weight.value, -128, 127);
    const double products = static_cast<double>(layer.kernel_height * layer.kernel_width * layer.in_channels) /
                            static_cast<double>(layer.groups);
    const double spread = 74.0 * 74.0 * std::sqrt(products);  // 74: standard deviation of uniform int8 numbers
    finishing.shift = std::max(0, static_cast<int>(std::lround(std::log2(spread / 48))));
    fill(bias, layer.out_channels, -std::int64_t{16} << finishing.shift, std::int64_t{16} << finishing.shift);
  }
  vta::PlainData plain() const { return {.input = input, .weight = weight, .bias = bias}; }
};

struct LayerOutcome {
  vta::LayerProgram built;
  std::int64_t elements = 0;
  std::string trouble;  // empty = every number is equal
};

LayerOutcome execute_layer(const CodesignStudy& study, std::size_t index) {
  const CodesignedLayer& layer = study.layers[index];
  LayerOutcome outcome;
  const LayerData data(layer.layer, Rng(study.seed, "codesign data").fork(layer.name, index), study.options.finishing);
  outcome.built = vta::layer_program(layer.layer, *study.machine, layer.found->schedule, data.finishing, data.plain());
  const vta::Execution execution = vta::execute(outcome.built.program, *study.machine);
  const std::vector<std::int8_t> expected = vta::reference(layer.layer, data.finishing, data.plain());
  outcome.elements = static_cast<std::int64_t>(expected.size());
  if (execution.fault || execution.dumps.size() != 1) {
    outcome.trouble = execution.fault ? vta::to_text(*execution.fault) : "the program has no single result";
    return outcome;
  }
  if (!vta::guards_intact(outcome.built, execution.dumps[0])) outcome.trouble = "bytes around the result were changed";
  const std::vector<std::int8_t> is = vta::plain_output(outcome.built, execution.dumps[0]);
  std::int64_t differences = 0;
  for (std::size_t e = 0; e < expected.size(); ++e) differences += is[e] == expected[e] ? 0 : 1;
  if (differences > 0) outcome.trouble = fmt::format("{} elements differ", with_thousands(differences));
  return outcome;
}

Result<CodesignCheck> check_layers_apart(const CodesignStudy& study, const std::string& why, RunContext& context) {
  std::vector<LayerOutcome> outcomes(study.layers.size());
  context.threads.for_each(outcomes.size(), [&](std::size_t i, std::size_t) { outcomes[i] = execute_layer(study, i); });
  ProgramFolder folder(context.directory, "programs");
  std::int64_t elements = 0;
  std::string trouble;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    elements += outcomes[i].elements;
    if (trouble.empty() && !outcomes[i].trouble.empty()) {
      trouble = fmt::format("layer '{}': {}", study.layers[i].name, outcomes[i].trouble);
    }
    folder.add(file_name_of(i, study.layers[i].name) + ".vtaprog", outcomes[i].built.program, *study.machine);
  }
  CodesignCheck check{.executed = true, .equal = trouble.empty(), .whole = false, .sentence = {}};
  check.sentence = trouble.empty()
                       ? fmt::format(
                             "verified: {} elements of {} {} on random data, each layer by itself ({}): all equal "
                             "to the reference arithmetic",
                             with_thousands(elements), outcomes.size(), outcomes.size() == 1 ? "layer" : "layers", why)
                       : "NOT EQUAL: " + trouble;
  TW_TRY(check.programs, folder.close());
  return check;
}

}  // namespace

Result<CodesignCheck> check_codesign(const CodesignOptions& options, const CodesignStudy& study, RunContext& context) {
  if (options.no_verify) {
    return CodesignCheck{.executed = false, .equal = false, .sentence = "not verified: the programs were not executed"};
  }
  double bytes = 0;
  for (const CodesignedLayer& layer : study.layers) bytes += tensor_total(layer.layer);
  if (bytes > kMostCheckedBytes) {
    return CodesignCheck{.executed = false,
                         .equal = false,
                         .sentence = fmt::format("not verified: the layers have tensors of {:.3g} bytes, more than {:.3g}",
                                                 bytes, kMostCheckedBytes)};
  }
  if (!options.layer.empty()) return check_layers_apart(study, "only this one was asked for", context);
  TW_TRY(const std::vector<NamedDim> dims, dims_from(options.dims));
  const Result<QuantisedNetwork> network =
      read_quantised(options.network, {.seed = options.seed, .dims = dims}, context.threads);
  if (!network) {
    return check_layers_apart(study, "the network is not built as a whole: " + network.error().message, context);
  }
  const vta::ScheduleChoice chosen = [&study](const Layer& layer) -> std::optional<vta::Schedule> {
    for (const CodesignedLayer& one : study.layers) {
      if (one.found && same_shape(one.layer, layer)) return one.found->schedule;
    }
    return std::nullopt;
  };
  TW_TRY(const vta::NetworkPlan plan, vta::plan_network(*network, *study.machine, chosen));
  return check_whole(*network, plan, study, context);
}

}  // namespace tilewright
