#include "tilewright/study/mapping_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

std::string run_text(const MapRequest& request, const Json& inputs) {
  MapRequest asked = request;
  const Json json{{"format", kRunFormat},
                  {"verb", "map"},
                  {"version", TILEWRIGHT_VERSION},
                  {"command", request.command},
                  {"arguments", to_json(options_of(asked))},
                  {"inputs", inputs}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

OptionTable options_of(MapRequest& request) {
  OptionTable table = options_of(request.inputs, request.mapping, NetworkIs::Place);
  table.push_back({"no_classics",
                   &request.mapping.no_classics,
                   "for studies: the search is not told the classic dataflows",
                   {.group = "Search"}});
  for (OptionField& field : options_of(request.search)) table.push_back(std::move(field));
  return table;
}

std::string run_json(const MapRequest& request, const MappingJob& job) {
  return run_text(request, {{"network", checksum_text(checksum(to_yaml(job.network)))},
                            {"hardware", checksum_text(checksum(to_yaml(job.accelerator)))}});
}

std::string run_json(const MapRequest& request, const HierarchyJob& job) {
  Json inputs{{"network", checksum_text(checksum(job.network_text))},
              {"hardware", checksum_text(checksum(to_yaml(job.machine)))}};
  if (!job.restriction.empty()) inputs["restriction"] = checksum_text(checksum(job.restriction));
  MapRequest decided = request;
  decided.mapping.judge = job.options.judge;  // which machine it is decides who judges when nobody is named
  return run_text(decided, inputs);
}

Result<MapRequest> read_map_run(const std::filesystem::path& directory) {
  const std::string where = (directory / kRunFile).string();
  TW_TRY(const std::string text, read_file(where));
  try {
    const Json json = Json::parse(text);
    if (json.at("verb") != "map")
      return invalid(fmt::format("{}: is a run of {}, expected one of map", where, json.at("verb").dump()));
    MapRequest request;
    TW_TRY([[maybe_unused]] const Done read, read_options(options_of(request), json.at("arguments"), where));
    request.command = json.at("command").get<std::vector<std::string>>();
    return request;
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("{}: is damaged ({})", where, failure.what()));
  }
}

}  // namespace tilewright
