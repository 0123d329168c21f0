// A co-design as JSON, both ways, and its schedules for `compile`.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/options.hpp"
#include "tilewright/base/seal.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/network_json.hpp"
#include "tilewright/vta/column_folding.hpp"
#include "tilewright/vta/schedule_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Json machine_object(const vta::Machine& machine) { return Json::parse(vta::to_json(machine)); }

Json layer_object(const CodesignedLayer& layer, const CodesignStudy& study) {
  Json json{{"name", layer.name},
            {"count", layer.count},
            {"macs", macs(layer.layer).value},
            {"log10_space", layer.log10_size},
            {"status", layer.found ? "ok" : "failed"},
            {"measurements", layer.ledger.samples},
            {"valid", layer.ledger.valid},
            {"repeated", layer.ledger.repeated}};
  add_layer(json, layer.layer, {layer.name});
  if (layer.found) {
    const vta::Schedule& s = layer.found->schedule;
    json["cycles"] = static_cast<std::int64_t>(layer.found->metrics.latency);
    json["energy"] = layer.found->metrics.energy;
    json["power_mw"] = layer.found->metrics.power;
    json["gemm_steps"] = layer.found->timing.gemm_steps;
    json["ideal_share"] = ideal_share(*layer.found);
    json["mac_share"] = mac_share(*layer.found, *study.machine);
    json["schedule"] = {{"tile_b", s.tile_b},
                        {"tile_h", s.tile_h},
                        {"tile_w", s.tile_w},
                        {"tile_ci", s.tile_ci},
                        {"tile_co", s.tile_co},
                        {"h_threading", s.h_threading},
                        {"oc_threading", s.oc_threading}};
  }
  if (layer.default_cycles) json["default_cycles"] = *layer.default_cycles;
  if (layer.optimum_cycles) json["optimum_cycles"] = *layer.optimum_cycles;
  if (layer.joint_optimum_cycles) json["joint_optimum_cycles"] = *layer.joint_optimum_cycles;
  if (layer.ledger.best) json["own_best_cycles"] = static_cast<std::int64_t>(layer.ledger.best->outcome.metrics.latency);
  json["rejected"] = Json::object();
  for (const auto& [reason, count] : layer.rejected) json["rejected"][reason] = count;
  json["improvements"] = Json::array();
  for (const Improvement& one : layer.ledger.improvements) json["improvements"].push_back({one.sample, one.score[0]});
  json["calibration"] = Json::array();
  for (const Calibration& one : layer.calibrations) {
    json["calibration"].push_back({{"rank_correlation", one.rank_correlation}, {"top_recall", one.top_recall}});
  }
  return json;
}

Result<CodesignSpaceOptions> space_options_from(const Json& json) {
  CodesignSpaceOptions options;
  vta::TimingOptions timing;
  const auto take = [&json](const char* name, auto& value) {
    value = json.at(name).get<std::remove_reference_t<decltype(value)>>();
  };
  take("read_latency", timing.read_latency);
  take("write_latency", timing.write_latency);
  take("bus_bytes", timing.bus_bytes);
  take("burst_bytes", timing.burst_bytes);
  TW_TRY(timing.core, named<vta::Core>(json.at("core").get<std::string>()));
  if (!json.contains("memory")) {
    return invalid("is of a version that timed the pipelined core by other rules, expected a result of this one");
  }
  TW_TRY(timing.memory, named<vta::Memory>(json.at("memory").get<std::string>()));
  TW_TRY(options.timing, vta::check(timing, "memory"));
  take("clock_mhz", options.physical.clock_mhz);
  take("ambient_celsius", options.physical.ambient_celsius);
  take("kelvin_per_watt", options.physical.kelvin_per_watt);
  TW_TRY(options.physical, vta::check(options.physical));
  take("area_budget", options.area_budget);
  take("fixed_machine", options.fixed_machine);
  take("search_buffers", options.search_buffers);
  if (json.contains("max_power")) take("max_power", options.most_watts);
  if (json.contains("max_temperature")) take("max_temperature", options.most_celsius);
  TW_TRY(options.base, vta::machine_from_json(json.at("base_machine").dump(), "base_machine"));
  return options;
}

std::vector<Calibration> calibrations_of(const Json& json) {
  std::vector<Calibration> calibrations;
  for (const Json& one : json) {
    calibrations.push_back({one.at("rank_correlation").get<double>(), one.at("top_recall").get<double>()});
  }
  return calibrations;
}

// What a search has met and found, without anything that follows from it.
Result<CodesignedLayer> layer_of(const Json& json) {
  CodesignedLayer layer;
  layer.name = json.at("name").get<std::string>();
  layer.count = json.at("count").get<std::int64_t>();
  TW_TRY(layer.layer, layer_from(json, layer.name));
  layer.ledger.samples = json.at("measurements").get<std::int64_t>();
  layer.ledger.valid = json.at("valid").get<std::int64_t>();
  layer.ledger.repeated = json.at("repeated").get<std::int64_t>();
  if (json.contains("own_best_cycles")) {
    layer.ledger.best.emplace();
    layer.ledger.best->outcome.metrics.latency = json.at("own_best_cycles").get<double>();
  }
  for (const Json& one : json.at("improvements")) {
    layer.ledger.improvements.push_back({one.at(0).get<std::int64_t>(), {one.at(1).get<double>()}});
  }
  for (const auto& [reason, count] : json.at("rejected").items()) {
    layer.rejected.emplace_back(reason, count.get<std::int64_t>());
  }
  layer.calibrations = calibrations_of(json.at("calibration"));
  for (const auto& [name, value] :
       {std::pair("optimum_cycles", &layer.optimum_cycles), {"joint_optimum_cycles", &layer.joint_optimum_cycles}}) {
    if (json.contains(name)) *value = json.at(name).get<double>();
  }
  if (!json.contains("schedule")) return layer;
  layer.found.emplace();
  TW_TRY(layer.found->schedule, vta::schedule_from_json(json.at("schedule"), "schedule"));
  return layer;
}

Result<CodesignStudy> study_from(const Json& json) {
  CodesignStudy study;
  study.network = json.at("network").get<std::string>();
  study.interrupted = json.at("status") == "interrupted";
  study.search = json.at("search").get<std::string>();
  study.measurements = json.at("measurements").get<std::int64_t>();
  study.seed = json.at("seed").get<std::uint64_t>();
  TW_TRY(study.options, space_options_from(json));
  if (json.contains("settings")) {
    for (const auto& [name, value] : json.at("settings").items()) {
      study.settings.push_back({name, value.get<std::string>(), ""});
    }
  }
  if (json.contains("machine")) {
    TW_TRY(study.machine, vta::machine_from_json(json.at("machine").dump(), "machine"));
    const Json& check = json.at("verification");
    study.check.executed = check.at("executed").get<bool>();
    study.check.equal = check.at("equal").get<bool>();
    study.check.whole = check.at("whole_network").get<bool>();
    study.check.programs = check.at("programs").get<std::size_t>();
    study.check.sentence = check.at("sentence").get<std::string>();
    if (study.check.whole) study.check.cycles = check.at("cycles").get<std::int64_t>();
  }
  study.machines = json.at("measured").at("machines").get<std::size_t>();
  study.complete_machines = json.at("measured").at("complete_machines").get<std::size_t>();
  study.curve = json.at("curve").get<std::vector<std::pair<std::int64_t, double>>>();
  for (const Json& entry : json.at("layers")) {
    TW_TRY(CodesignedLayer layer, layer_of(entry));
    study.layers.push_back(std::move(layer));
  }
  study.left_out = json.at("left_out").get<std::int64_t>();
  for (const Json& entry : json.at("host")) {
    study.host.push_back(
        {entry.at("name").get<std::string>(), entry.at("count").get<std::int64_t>(), entry.at("reason").get<std::string>()});
  }
  return study;
}

}  // namespace

std::string to_json(const CodesignStudy& study) {
  const CodesignTotals totals = totals_of(study);
  const CodesignSpaceOptions& options = study.options;
  Json json{{"format", "tilewright-codesign-1"},
            {"version", TILEWRIGHT_VERSION},
            {"network", study.network},
            {"status", study.interrupted ? "interrupted"
                       : study.machine   ? "ok"
                                         : "failed"},
            {"search", study.search},
            {"measurements", study.measurements},
            {"seed", study.seed},
            {"core", vta::name_of(options.timing.core)},
            {"memory", vta::name_of(options.timing.memory)},
            {"read_latency", options.timing.read_latency},
            {"write_latency", options.timing.write_latency},
            {"bus_bytes", options.timing.bus_bytes},
            {"burst_bytes", options.timing.burst_bytes},
            {"clock_mhz", options.physical.clock_mhz},
            {"ambient_celsius", options.physical.ambient_celsius},
            {"kelvin_per_watt", options.physical.kelvin_per_watt},
            {"base_machine", machine_object(options.base)},
            {"area_budget", options.area_budget},
            {"fixed_machine", options.fixed_machine},
            {"search_buffers", options.search_buffers}};
  if (options.most_watts > 0) json["max_power"] = options.most_watts;
  if (options.most_celsius > 0) json["max_temperature"] = options.most_celsius;
  for (const SettingValue& setting : study.settings) json["settings"][setting.name] = setting.value;
  if (study.machine) {
    const CodesignPower power = power_of(study, totals);
    json["machine"] = machine_object(*study.machine);
    json["area"] = vta::relative_area(*study.machine);
    json["totals"] = {{"cycles", totals.cycles},
                      {"energy", totals.energy},
                      {"gemm_steps", totals.gemm_steps},
                      {"macs", totals.macs},
                      {"ideal_share", totals.gemm_steps / totals.cycles},
                      {"watts", power.watts},
                      {"celsius", power.celsius}};
    if (totals.optimum_cycles) json["totals"]["optimum_cycles"] = *totals.optimum_cycles;
    if (totals.default_cycles) json["totals"]["default_cycles"] = *totals.default_cycles;
    json["verification"] = {{"executed", study.check.executed},
                            {"equal", study.check.equal},
                            {"whole_network", study.check.whole},
                            {"programs", study.check.programs},
                            {"sentence", study.check.sentence}};
    if (study.check.whole) json["verification"]["cycles"] = study.check.cycles;
  }
  json["measured"] = {{"points", totals.measurements}, {"valid", totals.valid},
                      {"repeated", totals.repeated},   {"machines_within_area", study.machines_within_area},
                      {"machines", study.machines},    {"complete_machines", study.complete_machines}};
  json["curve"] = study.curve;
  json["calibration"] = Json::array();
  for (const Calibration& one : mean_calibrations(study)) {
    json["calibration"].push_back({{"rank_correlation", one.rank_correlation}, {"top_recall", one.top_recall}});
  }
  json["layers"] = Json::array();
  for (const CodesignedLayer& layer : study.layers) json["layers"].push_back(layer_object(layer, study));
  json["left_out"] = study.left_out;
  json["host"] = Json::array();
  for (const HostLayer& layer : study.host) {
    json["host"].push_back({{"name", layer.name}, {"count", layer.count}, {"reason", layer.reason}});
  }
  return sealed(std::move(json), 1);
}

Result<CodesignStudy> codesign_study_from(const Json& json) {
  try {
    return study_from(json);
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("is no result of codesign ({})", failure.what()));
  }
}

std::string schedules_json(const CodesignStudy& study, const Network& network) {
  Json json{{"format", "tilewright-schedules-1"}, {"layers", Json::object()}};
  for (const NetworkLayer& entry : network.layers) {
    for (const CodesignedLayer& layer : study.layers) {
      if (!layer.found || !same_shape(layer.layer, vta::machine_layer(entry.layer))) continue;
      json["layers"][entry.layer.name] = layer_object(layer, study)["schedule"];
      break;
    }
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilewright
