#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign_result.hpp"
#include "tilewright/study/map_result.hpp"
#include "tilewright/study/stop_signal.hpp"
#include "tilewright/vta/disassembly.hpp"
#include "tilewright/vta/network_manifest.hpp"
#include "tilewright/vta/reference.hpp"
#include "tilewright/workload/quantised_build.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr double kMostCheckedBytes = double{1 << 28};  // of all tensors together, which are there several times

// Programs and their listing, one at a time. An empty directory writes nothing.
class ProgramFolder {
 public:
  explicit ProgramFolder(const fs::path& directory) : directory_(directory) {
    std::error_code ignored;
    if (!directory_.empty()) fs::remove_all(directory_ / "programs", ignored);  // of an interrupted run
    if (!directory_.empty()) fs::create_directories(directory_ / "programs", ignored);
  }

  void add(const std::string& name, const vta::Program& program, const vta::Machine& machine) {
    ++count_;
    if (directory_.empty()) return;
    const std::vector<std::uint8_t> bytes = vta::to_file(program);
    write(fs::path("programs") / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    listing_ += fmt::format("{}\n{}\n", name, vta::listing(program, machine));
  }
  void write(const fs::path& name, std::string_view content) {
    if (directory_.empty() || error_) return;
    const Result<Done> written = write_file(directory_ / name, content);
    if (!written) error_ = written.error();
  }
  Result<std::size_t> close() {
    write("listing.txt", listing_);
    if (error_) return *error_;
    return count_;
  }

 private:
  fs::path directory_;
  std::string listing_;
  std::size_t count_ = 0;
  std::optional<Error> error_;  // the first; nothing is written after it
};

CodesignCheck check_whole(const QuantisedNetwork& network, const vta::NetworkPlan& plan, const CodesignResult& result,
                          ThreadPool& threads, ProgramFolder& folder) {
  vta::RunOptions options;
  options.timing = result.options.timing;
  options.on_program = [&](std::size_t step, const vta::Program& program, const vta::StepRun&) {
    folder.add(vta::program_file(network, step), program, plan.machine);
    if (stop_asked()) throw Stopped{};
  };
  const vta::NetworkRun run = vta::run_network(network, plan, random_input(network, result.seed), options, threads);
  folder.write("programs/manifest.json",
               vta::manifest_json(network, plan, run, {.seed = result.seed, .timing = result.options.timing}));
  CodesignCheck check{.executed = true, .equal = run.is_equal(), .whole = true, .sentence = {}, .cycles = run.cycles()};
  check.sentence =
      fmt::format("{}: {}; all programs together, pools and sums included, take {} cycles",
                  check.equal ? "verified" : "NOT EQUAL", vta::verification(network, run), with_thousands(run.cycles()));
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

CodesignCheck check_layers_apart(const CodesignResult& result, const std::string& why, ThreadPool& threads,
                                 ProgramFolder& folder) {
  struct Outcome {
    vta::LayerProgram built;
    std::int64_t elements = 0, differences = 0;
    std::string trouble;
  };
  std::vector<Outcome> outcomes(result.layers.size());
  threads.for_each(result.layers.size(), [&](std::size_t i, std::size_t) {
    const CodesignedLayer& layer = result.layers[i];
    Outcome& outcome = outcomes[i];
    const LayerData data(layer.layer, Rng(result.seed, "codesign data").fork(layer.name, i), result.options.finishing);
    outcome.built = vta::layer_program(layer.layer, *result.machine, layer.found->schedule, data.finishing, data.plain());
    const vta::Execution execution = vta::execute(outcome.built.program, *result.machine);
    const std::vector<std::int8_t> expected = vta::reference(layer.layer, data.finishing, data.plain());
    outcome.elements = static_cast<std::int64_t>(expected.size());
    if (execution.fault || execution.dumps.size() != 1) {
      outcome.trouble = execution.fault ? vta::to_text(*execution.fault) : "the program has no single result";
      return;
    }
    if (!vta::guards_intact(outcome.built, execution.dumps[0])) outcome.trouble = "bytes around the result were changed";
    const std::vector<std::int8_t> is = vta::plain_output(outcome.built, execution.dumps[0]);
    for (std::size_t e = 0; e < expected.size(); ++e) outcome.differences += is[e] == expected[e] ? 0 : 1;
    if (outcome.differences > 0) outcome.trouble = fmt::format("{} elements differ", with_thousands(outcome.differences));
  });
  std::int64_t elements = 0;
  std::string trouble;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    elements += outcomes[i].elements;
    if (trouble.empty() && !outcomes[i].trouble.empty()) {
      trouble = fmt::format("layer '{}': {}", result.layers[i].name, outcomes[i].trouble);
    }
    folder.add(file_name_of(i, result.layers[i].name) + ".vtaprog", outcomes[i].built.program, *result.machine);
  }
  CodesignCheck check{.executed = true, .equal = trouble.empty(), .whole = false, .sentence = {}};
  check.sentence = trouble.empty()
                       ? fmt::format(
                             "verified: {} elements of {} {} on random data, each layer by itself ({}): all equal "
                             "to the reference arithmetic",
                             with_thousands(elements), outcomes.size(), outcomes.size() == 1 ? "layer" : "layers", why)
                       : "NOT EQUAL: " + trouble;
  return check;
}

}  // namespace

Result<CodesignCheck> check_codesign(const CodesignArguments& arguments, const CodesignResult& result, ThreadPool& threads,
                                     const fs::path& directory) {
  if (arguments.no_verify) {
    return CodesignCheck{.executed = false, .equal = false, .sentence = "not verified: the programs were not executed"};
  }
  double bytes = 0;
  for (const CodesignedLayer& layer : result.layers) bytes += tensor_total(layer.layer);
  if (bytes > kMostCheckedBytes) {
    return CodesignCheck{.executed = false,
                         .equal = false,
                         .sentence = fmt::format("not verified: the layers have tensors of {:.3g} bytes, more than {:.3g}",
                                                 bytes, kMostCheckedBytes)};
  }
  ProgramFolder folder(directory);
  const vta::ScheduleChoice chosen = [&result](const Layer& layer) -> std::optional<vta::Schedule> {
    for (const CodesignedLayer& one : result.layers) {
      if (one.found && same_shape(one.layer, layer)) return one.found->schedule;
    }
    return std::nullopt;
  };
  CodesignCheck check;
  std::string why = "only this one was asked for";
  std::optional<QuantisedNetwork> network;
  if (arguments.layer.empty()) {
    TW_TRY(const std::vector<NamedDim> dims, dims_from(arguments.dims));
    Result<QuantisedNetwork> built = read_quantised(arguments.network, {.seed = arguments.seed, .dims = dims}, threads);
    if (built) network = std::move(built).value();
    if (!network) why = "the network is not built as a whole: " + built.error().message;
  }
  if (network) {
    TW_TRY(const vta::NetworkPlan plan, vta::plan_network(*network, *result.machine, chosen));
    check = check_whole(*network, plan, result, threads, folder);
  } else {
    check = check_layers_apart(result, why, threads, folder);
  }
  TW_TRY(check.programs, folder.close());
  return check;
}

}  // namespace tilewright
