// The options of co-design: their table, and the run.json that they make.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/codesign_parts.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/machine_options.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kOperators{Operator::Convolution, Operator::Depthwise, Operator::TransposedConvolution,
                                Operator::FullyConnected, Operator::MatrixMultiply};

Result<std::vector<Operator>> operators_of(const std::string& text) {
  std::vector<std::string> known;
  for (const Operator op : kOperators) known.emplace_back(name_of(op));
  std::vector<Operator> wanted;
  if (text.empty()) return wanted;
  for (const std::string_view word : split(text, ',')) {
    const auto found = std::ranges::find(known, trim(word));
    if (found == known.end()) {
      return invalid(fmt::format("--operators has '{}', expected some of {}{}", printable(trim(word)), join(known, ", "),
                                 did_you_mean(trim(word), known)));
    }
    wanted.push_back(kOperators[static_cast<std::size_t>(found - known.begin())]);
  }
  return wanted;
}

Worded worded_operators(std::vector<Operator>& operators) {
  return {[&operators] { return operator_words(operators); },
          [&operators](const std::string& text) -> Result<Done> {
            TW_TRY(operators, operators_of(text));
            return Done{};
          },
          {}};
}

template <typename Table>
void append(OptionTable& table, const Table& more) {
  table.insert(table.end(), more.begin(), more.end());
}

}  // namespace

std::string operator_words(const std::vector<Operator>& operators) {
  std::vector<std::string> names;
  for (const Operator op : operators) names.emplace_back(name_of(op));
  return join(names, ",");
}

OptionTable options_of(CodesignOptions& options) {
  OptionTable table = {
      {"network", &options.network, "zoo:NAME, or a file: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA)", {.positional = true}},
      {"layer", &options.layer, "name of one layer; without it, all layers"},
      dim_field(options.dims),
      {"operators",
       worded_operators(options.operators),
       "only layers of these, with commas: conv, depthwise, fc, matmul",
       {.default_is_said = true}}};

  const OptionTraits machine{.group = "Machine"};
  append(table,
         OptionTable{
             {"machine", &options.machine, "search schedules only: zoo:vta, or a JSON file with VTA's LOG_* keys", machine},
             {"fixed_buffers", &options.fixed_buffers, "keep the default machine's buffers, search the core only", machine},
             {"area_budget", &options.area_budget, "most area, in areas of the default machine; default 1", machine},
             {"max_power", &options.max_power, "W of any layer", machine},
             {"max_temperature", &options.max_temperature, "degrees Celsius while any layer runs", machine}});
  append(table, options_of(options.physical, machine.group));
  append(table, options_of(options.timing));

  const OptionTraits search{.group = "Search"}, run{.group = "Run and results"};
  append(table,
         OptionTable{
             {"search", &options.search,
              "dcoc (dcoc-network where one machine is searched for several layers), autotvm, chameleon, random, genetic, "
              "exhaustive, …",
              search},
             {"measurements",
              &options.measurements,
              fmt::format("per distinct layer, invalid and repeated ones too; default {}, with exhaustive all",
                          kDefaultMeasurements),
              {.group = search.group, .least = 1, .most = static_cast<double>(kMostSamples)}},
             {"seed", &options.seed, "the same seed gives the same bytes for any number of threads", search},
             {"settings",
              &options.settings,
              "a hyper-parameter: dcoc.batch=32 (see --settings)",
              {.flag = "set", .group = search.group}},
             {"store", &options.store, "file of measured points, shared between runs; default: in the run directory", run},
             {"optimum", &options.optimum, "also prove the fewest cycles of any schedule of the space", run},
             {"no_verify", &options.no_verify, "do not make and execute the programs", run}});
  return table;
}

std::string codesign_record(const CodesignOptions& options, const CodesignJob& job) {
  CodesignOptions recorded = options;
  const auto hash = [](const std::string& content) { return checksum_text(checksum(content)); };
  const Json json{{"format", kRunFormat},
                  {"verb", "codesign"},
                  {"version", TILEWRIGHT_VERSION},
                  {"command", options.command},
                  {"arguments", to_json(options_of(recorded))},
                  {"inputs", {{"network", hash(to_yaml(job.network))}, {"machine", hash(vta::to_json(job.options.base))}}}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CodesignOptions> read_codesign_run(const std::filesystem::path& directory) {
  const std::string path = (directory / kRunFile).string();
  TW_TRY(const std::string text, read_file(path));
  const Json json = Json::parse(text, nullptr, false);
  try {
    if (!json.at("arguments").contains("memory")) {
      return invalid(fmt::format(
          "{}: the run is of a version that timed the pipelined core by other rules, expected another -o DIR", path));
    }
    CodesignOptions options;
    TW_TRY([[maybe_unused]] const Done read, read_options(options_of(options), json.at("arguments"), path));
    options.command = json.at("command").get<std::vector<std::string>>();
    return options;
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("{}: is damaged ({})", path, failure.what()));
  }
}

Result<Done> check_same_codesign(const std::filesystem::path& directory, const CodesignOptions& options,
                                 const CodesignJob& job) {
  return check_same_run(directory, codesign_record(options, job));
}

}  // namespace tilewright
