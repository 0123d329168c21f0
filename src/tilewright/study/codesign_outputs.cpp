// The files of `codesign` that programs read: JSON and CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/seal.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign_words.hpp"
#include "tilewright/study/network_json.hpp"
#include "tilewright/vta/column_folding.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Json machine_object(const vta::Machine& machine) { return Json::parse(vta::to_json(machine)); }

Json layer_object(const CodesignedLayer& layer, const CodesignResult& result) {
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
    json["mac_share"] = mac_share(*layer.found, *result.machine);
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

}  // namespace

std::string to_json(const CodesignResult& result) {
  const CodesignTotals totals = totals_of(result);
  const CodesignSpaceOptions& options = result.options;
  Json json{{"format", "tilewright-codesign-1"},
            {"version", TILEWRIGHT_VERSION},
            {"network", result.network},
            {"status", result.interrupted ? "interrupted"
                       : result.machine   ? "ok"
                                          : "failed"},
            {"search", result.search},
            {"measurements", result.measurements},
            {"seed", result.seed},
            {"core", vta::name_of(options.timing.core)},
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
  for (const SettingValue& setting : result.settings) json["settings"][setting.name] = setting.value;
  if (result.machine) {
    const CodesignPower power = power_of(result, totals);
    json["machine"] = machine_object(*result.machine);
    json["area"] = vta::relative_area(*result.machine);
    json["totals"] = {{"cycles", totals.cycles},
                      {"energy", totals.energy},
                      {"gemm_steps", totals.gemm_steps},
                      {"macs", totals.macs},
                      {"ideal_share", totals.gemm_steps / totals.cycles},
                      {"watts", power.watts},
                      {"celsius", power.celsius}};
    if (totals.optimum_cycles) json["totals"]["optimum_cycles"] = *totals.optimum_cycles;
    if (totals.default_cycles) json["totals"]["default_cycles"] = *totals.default_cycles;
    json["verification"] = {{"executed", result.check.executed},
                            {"equal", result.check.equal},
                            {"whole_network", result.check.whole},
                            {"programs", result.check.programs},
                            {"sentence", result.check.sentence}};
    if (result.check.whole) json["verification"]["cycles"] = result.check.cycles;
  }
  json["measured"] = {{"points", totals.measurements}, {"valid", totals.valid},
                      {"repeated", totals.repeated},   {"machines_within_area", result.machines_within_area},
                      {"machines", result.machines},   {"complete_machines", result.complete_machines}};
  json["curve"] = result.curve;
  json["calibration"] = Json::array();
  for (const Calibration& one : mean_calibrations(result)) {
    json["calibration"].push_back({{"rank_correlation", one.rank_correlation}, {"top_recall", one.top_recall}});
  }
  json["layers"] = Json::array();
  for (const CodesignedLayer& layer : result.layers) json["layers"].push_back(layer_object(layer, result));
  json["left_out"] = result.left_out;
  json["host"] = Json::array();
  for (const HostLayer& layer : result.host) {
    json["host"].push_back({{"name", layer.name}, {"count", layer.count}, {"reason", layer.reason}});
  }
  return sealed(std::move(json), 1);
}

std::string schedules_json(const CodesignResult& result, const Network& network) {
  Json json{{"format", "tilewright-schedules-1"}, {"layers", Json::object()}};
  for (const NetworkLayer& entry : network.layers) {
    for (const CodesignedLayer& layer : result.layers) {
      if (!layer.found || !same_shape(layer.layer, vta::machine_layer(entry.layer))) continue;
      json["layers"][entry.layer.name] = layer_object(layer, result)["schedule"];
      break;
    }
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string layers_csv(const CodesignResult& result) {
  std::string csv =
      "layer,count,macs,cycles,ideal_share,mac_share,energy,tile_b,tile_h,tile_w,tile_ci,tile_co,h_threading,oc_threading,"
      "default_cycles,measurements,valid\n";
  for (const CodesignedLayer& layer : result.layers) {
    csv += fmt::format("{},{},{},", csv_cell(layer.name), layer.count, macs(layer.layer).value);
    if (layer.found) {
      const vta::Schedule& s = layer.found->schedule;
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},", layer.found->timing.cycles, ideal_share(*layer.found),
                         mac_share(*layer.found, *result.machine), layer.found->metrics.energy, s.tile_b, s.tile_h, s.tile_w,
                         s.tile_ci, s.tile_co, s.h_threading, s.oc_threading);
    } else {
      csv += std::string(11, ',');
    }
    csv += fmt::format("{},{},{}\n", layer.default_cycles ? fmt::format("{}", *layer.default_cycles) : "",
                       layer.ledger.samples, layer.ledger.valid);
  }
  return csv;
}

std::string convergence_csv(const CodesignResult& result) {
  std::string csv = "measurement,cycles\n";
  for (const auto& [measurement, cycles] : result.curve) csv += fmt::format("{},{}\n", measurement, cycles);
  return csv;
}

std::string calibration_csv(const CodesignResult& result) {
  std::string csv = "layer,round,rank_correlation,top_recall\n";
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    for (std::size_t round = 0; round < result.layers[i].calibrations.size(); ++round) {
      const Calibration& one = result.layers[i].calibrations[round];
      csv += fmt::format("{},{},{},{}\n", i, round + 2, one.rank_correlation, one.top_recall);
    }
  }
  return csv;
}

}  // namespace tilewright
