#include "tilewright/app/map_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/run_format.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/marl/checkpoint.hpp"

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

Result<Json> read_json(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "run.json";
  TW_TRY(const std::string text, read_file(path));
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kRunFormat || !json.value("verb", Json()).is_string()) {
    return invalid(fmt::format("{}: does not describe a run, expected format {}", path.string(), kRunFormat));
  }
  return json;
}

std::string hash_text(const std::string& content) { return fmt::format("{:016x}", checksum(content)); }

}  // namespace

std::string run_json(const MapArguments& arguments, const MappingJob& job) {
  const Json json{
      {"format", kRunFormat},
      {"verb", "map"},
      {"version", TILEWRIGHT_VERSION},
      {"command", arguments.command},
      {"arguments", to_json(arguments)},
      {"inputs", {{"network", hash_text(to_yaml(job.network))}, {"hardware", hash_text(to_yaml(job.accelerator))}}}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> verb_of(const std::filesystem::path& directory) {
  TW_TRY(const Json json, read_json(directory));
  return json["verb"].get<std::string>();
}

Result<MapArguments> read_map_run(const std::filesystem::path& directory) {
  TW_TRY(const Json json, read_json(directory));
  const std::string where = (directory / "run.json").string();
  if (json["verb"] != "map")
    return invalid(fmt::format("{}: is a run of {}, expected one of map", where, json["verb"].dump()));
  try {
    MapArguments arguments = from_json(json.at("arguments"));
    arguments.command = json.at("command").get<std::vector<std::string>>();
    arguments.output = directory.string();
    return arguments;
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("{}: is damaged ({})", where, failure.what()));
  }
}

Result<Done> check_same_run(const std::filesystem::path& directory, const MapArguments& arguments, const MappingJob& job) {
  return check_same_record(directory, run_json(arguments, job));
}

Result<Done> check_same_record(const std::filesystem::path& directory, const std::string& run_json) {
  std::error_code status;
  if (!std::filesystem::exists(directory / "run.json", status)) return Done{};
  TW_TRY(const Json there, read_json(directory));
  const Json here = Json::parse(run_json);
  const std::string where = (directory / "run.json").string();
  for (const char* part : {"verb", "version"}) {
    if (there.value(part, Json()) == here[part]) continue;
    return invalid(fmt::format("{}: {} is {}, but this is {}; expected another -o DIR", where, part,
                               there.value(part, Json()).dump(), here[part].dump()));
  }
  for (const char* part : {"arguments", "inputs"}) {
    const Json before = there.value(part, Json::object());
    for (const auto& [name, value] : here[part].items()) {
      if (before.value(name, Json()) == value) continue;
      return invalid(fmt::format("{}: {} of the run there is {}, but now it is {}; expected another -o DIR, or the same {}",
                                 where, name, before.value(name, Json()).dump(), value.dump(), name));
    }
    for (const auto& [name, value] : before.items()) {
      if (here[part].contains(name)) continue;
      return invalid(fmt::format("{}: {} of the run there is {}, but now there is none; expected another -o DIR", where,
                                 name, value.dump()));
    }
  }
  return Done{};
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
  TW_TRY([[maybe_unused]] const Done e, write_file(directory / "report.html", to_html(result)));
  return write_file(directory / "result.json", to_json(result));
}

}  // namespace tilewright
