#include "tilewright/study/map_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

template <typename T>
void take(const Json& json, const char* name, T& value) {
  if (json.contains(name)) value = json.at(name).get<T>();
}

template <typename T>
void take(const Json& json, const char* name, std::optional<T>& value) {
  if (json.contains(name)) value = json.at(name).get<T>();
}

Json to_json(const MapArguments& arguments) {
  const MappingArguments& m = arguments.mapping;
  Json json{{"network", m.network},
            {"hardware", m.hardware},
            {"layer", m.layer},
            {"batch", m.batch},
            {"objective", m.objective},
            {"model", m.model},
            {"constraints", m.constraints},
            {"space", m.space},
            {"tiles", m.tiles},
            {"levels", m.levels},
            {"no_classics", m.no_classics},
            {"search_pes", m.search_pes},
            {"search", arguments.search},
            {"samples", arguments.samples},
            {"seed", arguments.seed},
            {"settings", arguments.settings},
            {"from", arguments.from},
            {"store", arguments.store}};
  if (!m.dims.empty()) json["dims"] = m.dims;
  put(json, "max_pes", m.max_pes);
  put(json, "max_l1", m.max_l1);
  put(json, "max_l2", m.max_l2);
  put(json, "max_latency", m.max_latency);
  put(json, "max_energy", m.max_energy);
  put(json, "max_area", m.max_area);
  put(json, "max_power", m.max_power);
  return json;
}

MapArguments from_json(const Json& json) {
  MapArguments arguments;
  MappingArguments& m = arguments.mapping;
  take(json, "network", m.network);
  take(json, "hardware", m.hardware);
  take(json, "layer", m.layer);
  take(json, "batch", m.batch);
  take(json, "dims", m.dims);
  take(json, "objective", m.objective);
  take(json, "model", m.model);
  take(json, "constraints", m.constraints);
  take(json, "space", m.space);
  take(json, "tiles", m.tiles);
  take(json, "levels", m.levels);
  take(json, "no_classics", m.no_classics);
  take(json, "search_pes", m.search_pes);
  take(json, "max_pes", m.max_pes);
  take(json, "max_l1", m.max_l1);
  take(json, "max_l2", m.max_l2);
  take(json, "max_latency", m.max_latency);
  take(json, "max_energy", m.max_energy);
  take(json, "max_area", m.max_area);
  take(json, "max_power", m.max_power);
  take(json, "search", arguments.search);
  take(json, "samples", arguments.samples);
  take(json, "seed", arguments.seed);
  take(json, "settings", arguments.settings);
  take(json, "from", arguments.from);
  take(json, "store", arguments.store);
  return arguments;
}

}  // namespace

std::string run_json(const MapArguments& arguments, const MappingJob& job) {
  const Json json{{"format", kRunFormat},
                  {"verb", "map"},
                  {"version", TILEWRIGHT_VERSION},
                  {"command", arguments.command},
                  {"arguments", to_json(arguments)},
                  {"inputs",
                   {{"network", checksum_text(checksum(to_yaml(job.network)))},
                    {"hardware", checksum_text(checksum(to_yaml(job.accelerator)))}}}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<MapArguments> read_map_run(const std::filesystem::path& directory) {
  const std::string where = (directory / kRunFile).string();
  TW_TRY(const std::string text, read_file(where));
  try {
    const Json json = Json::parse(text);
    if (json.at("verb") != "map")
      return invalid(fmt::format("{}: is a run of {}, expected one of map", where, json.at("verb").dump()));
    MapArguments arguments = from_json(json.at("arguments"));
    arguments.command = json.at("command").get<std::vector<std::string>>();
    arguments.output = directory.string();
    return arguments;
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("{}: is damaged ({})", where, failure.what()));
  }
}

Result<Done> write_results(const MapSearch& search, const std::filesystem::path& directory) {
  const MapResult& result = search.result;
  std::error_code status;
  std::filesystem::create_directories(directory / "best", status);
  if (status) return Error{ErrorCode::Io, fmt::format("{}: {}", directory.string(), status.message())};
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    const MappedLayer& layer = result.layers[i];
    if (!layer.found) continue;
    const std::string name = file_name_of(i, layer.name);
    TW_TRY([[maybe_unused]] const Done a, write_file(directory / "best" / (name + ".yaml"), to_yaml(layer.found->mapping)));
  }
  if (search.team) {
    TW_TRY([[maybe_unused]] const Done b, write_team(*search.team, directory / "team"));
  }
  TW_TRY([[maybe_unused]] const Done c, write_file(directory / "layers.csv", layers_csv(result)));
  TW_TRY([[maybe_unused]] const Done d, write_file(directory / "convergence.csv", convergence_csv(result)));
  if (has_front(result)) {
    TW_TRY([[maybe_unused]] const Done f, write_file(directory / "pareto.csv", pareto_csv(result)));
  }
  TW_TRY([[maybe_unused]] const Done e, write_file(directory / "report.html", to_html(result)));
  return write_file(directory / "result.json", to_json(result));
}

}  // namespace tilewright
