// What `codesign` prints and writes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/codesign_result.hpp"
#include "tilewright/app/simulate_result.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/codesign_report.hpp"
#include "tilewright/vta/column_folding.hpp"
#include "tilewright/vta/layouts.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

std::string tile_words(const vta::Schedule& s) {
  return fmt::format("b{} h{} w{} ci{} co{}", s.tile_b, s.tile_h, s.tile_w, s.tile_ci, s.tile_co);
}

std::string thread_words(const vta::Schedule& s) { return fmt::format("{}x{}", s.h_threading, s.oc_threading); }

double ideal_share(const CodesignedLayer::Found& found) {
  return static_cast<double>(found.timing.gemm_steps) / found.metrics.latency;
}

double mac_share(const CodesignedLayer::Found& found, const vta::Machine& machine) {
  return found.metrics.macs / (found.metrics.latency * static_cast<double>(machine.macs_per_step()));
}

std::int64_t buffer_bytes(const vta::Machine& machine, vta::Buffer buffer) {
  return vta::depth(machine, buffer) * vta::element_bytes(machine, buffer);
}

std::string machine_words(const vta::Machine& machine) {
  std::string text = fmt::format("{} x {} x {}", machine.batch(), machine.block_in(), machine.block_out());
  const auto kib = [&](vta::Buffer buffer) {
    return fmt::format("{} {}", vta::name_of(buffer), buffer_bytes(machine, buffer) / 1024);
  };
  return fmt::format("{}, buffers of {}, {}, {}, {} KiB", text, kib(vta::Buffer::Uop), kib(vta::Buffer::Inp),
                     kib(vta::Buffer::Wgt), kib(vta::Buffer::Acc));
}

struct CodesignPower {
  double watts = 0, celsius = 0;
};
CodesignPower power_of(const CodesignResult& result, const CodesignTotals& totals) {
  vta::Energy energy;
  energy.macs = totals.energy;  // which part is which does not matter to power
  const double watts = vta::power_watts(energy, std::llround(totals.cycles), result.options.physical);
  return {watts, vta::temperature_celsius(watts, result.options.physical)};
}

// Means over layers, by round; layers that had fewer rounds are left out of the later ones.
std::vector<Calibration> mean_calibrations(const CodesignResult& result) {
  std::vector<Calibration> means;
  for (std::size_t round = 0;; ++round) {
    Calibration sum;
    double count = 0;
    for (const CodesignedLayer& layer : result.layers) {
      if (layer.calibrations.size() <= round) continue;
      sum.rank_correlation += layer.calibrations[round].rank_correlation;
      sum.top_recall += layer.calibrations[round].top_recall;
      ++count;
    }
    if (count == 0) return means;
    means.push_back({sum.rank_correlation / count, sum.top_recall / count});
  }
}

std::vector<std::string> missing_layers(const CodesignResult& result) {
  std::vector<std::string> sentences;
  for (const CodesignedLayer& layer : result.layers) {
    if (layer.ledger.best) continue;
    sentences.push_back(fmt::format("no schedule that fits was found for layer '{}': {}", layer.name,
                                    layer.rejected.empty()
                                        ? "nothing was measured"
                                        : fmt::format("{} of {} measurements were {}", layer.rejected[0].second,
                                                      layer.ledger.samples, layer.rejected[0].first)));
  }
  if (sentences.empty() && !result.machine) {
    sentences.push_back(
        fmt::format("no machine has been measured on every layer: {} machines have a schedule for some of the {} layers; "
                    "expected more --measurements, --search dcoc, or --machine",
                    result.machines, result.layers.size()));
  }
  return sentences;
}

// What a reader might take for granted.
std::vector<std::string> remarks_on(const CodesignResult& result) {
  std::vector<std::string> sentences = missing_layers(result);
  if (result.interrupted) sentences.push_back("stopped early, before the measurements were spent; the best so far is kept");
  if (result.left_out > 0) {
    sentences.push_back(fmt::format("layers of operators that were not asked for: {}; not counted here{}", result.left_out,
                                    result.check.whole ? ", compiled with default schedules" : ""));
  }
  if (result.search == "exhaustive" && !result.all_measured && !result.interrupted) {
    sentences.push_back(
        fmt::format("the space has more than {} points per layer: not all of it was measured, and better may be left",
                    with_thousands(result.measurements)));
  }
  if (!result.options.fixed_machine && result.machines_within_area == 1) {
    sentences.push_back(
        fmt::format("only one machine of the space is within the area, so only schedules were searched{}",
                    result.options.search_buffers ? "" : "; --search-buffers gives the area to choose from"));
  }
  return sentences;
}

std::string space_words(const CodesignResult& result) {
  const CodesignOptions& options = result.options;
  std::string text = options.fixed_machine
                         ? fmt::format("the machine is {}", printable(result.machine_name))
                         : fmt::format("area at most {:.4g} of the default machine's", options.area_budget);
  if (options.search_buffers) text += ", buffers searched";
  if (options.most_watts > 0) text += fmt::format(", at most {:.6g} W", options.most_watts);
  if (options.most_celsius > 0) text += fmt::format(", at most {:.6g} °C", options.most_celsius);
  const vta::TimingOptions& timing = options.timing;
  return fmt::format("{}; {} core, latencies {} and {}, bus of {} bytes", text, vta::name_of(timing.core),
                     timing.read_latency, timing.write_latency, timing.bus_bytes);
}

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

std::vector<CodesignReportPart> parts_of(const vta::Machine& machine) {
  const vta::Machine usual;
  const vta::Area area = vta::area_of(machine), usual_area = vta::area_of(usual);
  const double unit = usual_area.total();
  const auto core = [](const vta::Machine& m) {
    return fmt::format("{} x {} x {} = {} MACs", m.batch(), m.block_in(), m.block_out(), m.macs_per_step());
  };
  const auto lanes = [](const vta::Machine& m) { return fmt::format("{} lanes", m.batch() * m.block_out()); };
  std::vector<CodesignReportPart> parts = {
      {"GEMM core", core(machine), core(usual), area.macs / unit, usual_area.macs / unit},
      {"ALU", lanes(machine), lanes(usual), area.alu / unit, usual_area.alu / unit}};
  struct Part {
    vta::Buffer buffer;
    double vta::Area::*area;
  };
  for (const Part& part : {Part{vta::Buffer::Uop, &vta::Area::uop}, Part{vta::Buffer::Inp, &vta::Area::inp},
                           Part{vta::Buffer::Wgt, &vta::Area::wgt}, Part{vta::Buffer::Acc, &vta::Area::acc},
                           Part{vta::Buffer::Out, &vta::Area::out}}) {
    const auto size = [&](const vta::Machine& m) {
      return fmt::format("{} KiB: {} elements of {} bytes", buffer_bytes(m, part.buffer) / 1024,
                         with_thousands(vta::depth(m, part.buffer)), vta::element_bytes(m, part.buffer));
    };
    parts.push_back({fmt::format("{} buffer", vta::name_of(part.buffer)), size(machine), size(usual), area.*part.area / unit,
                     usual_area.*part.area / unit});
  }
  return parts;
}

void add_timeline(const CodesignResult& result, CodesignReport& report) {
  const CodesignedLayer* slowest = nullptr;
  const auto cycles = [](const CodesignedLayer& layer) {
    return static_cast<double>(layer.count) * layer.found->metrics.latency;
  };
  for (const CodesignedLayer& layer : result.layers) {
    if (slowest == nullptr || cycles(layer) > cycles(*slowest)) slowest = &layer;
  }
  vta::Code code;
  vta::generate(slowest->layer, *result.machine, slowest->found->schedule, result.options.finishing,
                vta::addresses_of(slowest->layer, *result.machine), code);
  std::vector<StreamResult> streams(1);
  streams[0].timing = vta::time_stream(code.instructions, *result.machine, result.options.timing, &streams[0].spans);
  streams[0].instructions = std::move(code.instructions);
  report.slowest = slowest->name;
  report.timeline = timeline_of(streams);
  report.overlap = overlap_sentence(*report.timeline);
}

}  // namespace

CodesignTotals totals_of(const CodesignResult& result) {
  CodesignTotals totals;
  totals.default_cycles = 0;
  totals.optimum_cycles = 0;
  for (const CodesignedLayer& layer : result.layers) {
    const auto count = static_cast<double>(layer.count);
    totals.measurements += layer.ledger.samples;
    totals.valid += layer.ledger.valid;
    totals.repeated += layer.ledger.repeated;
    totals.macs += count * static_cast<double>(macs(layer.layer).value);
    if (!layer.default_cycles) totals.default_cycles.reset();
    if (totals.default_cycles) *totals.default_cycles += count * static_cast<double>(*layer.default_cycles);
    if (!layer.optimum_cycles) totals.optimum_cycles.reset();
    if (totals.optimum_cycles) *totals.optimum_cycles += count * *layer.optimum_cycles;
    if (!layer.found) continue;
    totals.cycles += count * layer.found->metrics.latency;
    totals.energy += count * layer.found->metrics.energy;
    totals.gemm_steps += count * static_cast<double>(layer.found->timing.gemm_steps);
  }
  return totals;
}

std::string to_text(const CodesignResult& result) {
  const CodesignTotals totals = totals_of(result);
  const std::string measured = result.all_measured
                                   ? "every point of the space"
                                   : fmt::format("{} measurements per layer", with_thousands(result.measurements));
  std::string text = fmt::format("{}: fewest cycles by {} ({}, seed {})\n{}\n\n", result.network, result.search, measured,
                                 result.seed, space_words(result));
  const auto line = [&text](const auto&... cells) {
    text += fmt::format("  {:<24} {:>5} {:<24} {:>7} {:>12} {:>9} {:>9} {:>9}\n", cells...);
  };
  const auto percent_words = [](double share) { return fmt::format("{:.1f}%", 100 * share); };
  line("layer", "times", "tiles", "threads", "cycles", "of ideal", "MACs used", "default");
  for (const CodesignedLayer& layer : result.layers) {
    if (!layer.found) {
      line(layer.name, layer.count, "–", "–", "–", "–", "–", "–");
      continue;
    }
    const CodesignedLayer::Found& found = *layer.found;
    line(layer.name, layer.count, tile_words(found.schedule), thread_words(found.schedule),
         with_thousands(found.timing.cycles), percent_words(ideal_share(found)),
         percent_words(mac_share(found, *result.machine)),
         layer.default_cycles ? fmt::format("{:.2f}x", static_cast<double>(*layer.default_cycles) / found.metrics.latency)
                              : "–");
  }
  if (result.machine) {
    const double lanes = static_cast<double>(result.machine->macs_per_step());
    line("all", "", "", "", with_thousands(std::llround(totals.cycles)), percent_words(totals.gemm_steps / totals.cycles),
         percent_words(totals.macs / (totals.cycles * lanes)),
         totals.default_cycles ? fmt::format("{:.2f}x", *totals.default_cycles / totals.cycles) : "–");
  }
  text += "\nof ideal: GEMM steps per cycle; default: cycles of the default machine at its default schedule, by these\n";
  if (result.machine) {
    const CodesignPower power = power_of(result, totals);
    text += fmt::format("machine: {}; area {:.3f} of the default's, {:.2f} W, {:.0f} °C\n", machine_words(*result.machine),
                        vta::relative_area(*result.machine), power.watts, power.celsius);
    if (totals.default_cycles) {
      text += fmt::format("network: {} cycles; the default machine at default schedules takes {}, {:.2f} times as many\n",
                          with_thousands(std::llround(totals.cycles)), with_thousands(std::llround(*totals.default_cycles)),
                          *totals.default_cycles / totals.cycles);
    }
  }
  if (totals.optimum_cycles) {
    text += fmt::format("optimum: these schedules take {:.2f} % more cycles than the best of the space on this machine\n",
                        100 * (totals.cycles / *totals.optimum_cycles - 1));
  }
  if (result.layers[0].joint_optimum_cycles && result.layers[0].found) {
    text += fmt::format(
        "optimum: {:.2f} % more cycles than the best of the space on any machine\n",
        100 * (totals.cycles / (*result.layers[0].joint_optimum_cycles * static_cast<double>(result.layers[0].count)) - 1));
  }
  text += fmt::format("measured: {} points, {} of them valid", with_thousands(totals.measurements),
                      with_thousands(totals.valid));
  if (!result.options.fixed_machine) {
    text += fmt::format(", on {} of the {} machines within the area, {} of them on every layer", result.machines,
                        result.machines_within_area, result.complete_machines);
  }
  text += "\n";
  const std::vector<Calibration> rounds = mean_calibrations(result);
  if (!rounds.empty()) {
    text += fmt::format(
        "surrogate: rank correlation {:.2f} and recall of the best tenth {:.2f} in round 2, {:.2f} and {:.2f} in "
        "round {}\n",
        rounds.front().rank_correlation, rounds.front().top_recall, rounds.back().rank_correlation, rounds.back().top_recall,
        rounds.size() + 1);
  }
  for (const HostLayer& layer : result.host) text += fmt::format("on the host: {}: {}\n", layer.name, layer.reason);
  for (const std::string& sentence : remarks_on(result)) text += sentence + "\n";
  if (result.machine) text += result.check.sentence + "\n" + vta::to_json(*result.machine);
  return text;
}

std::string to_json(const CodesignResult& result) {
  const CodesignTotals totals = totals_of(result);
  const CodesignOptions& options = result.options;
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
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
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
    std::string name = layer.name;
    std::ranges::replace(name, ',', ';');
    csv += fmt::format("{},{},{},", name, layer.count, macs(layer.layer).value);
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

std::string to_html(const CodesignResult& result) {
  const CodesignTotals totals = totals_of(result);
  CodesignReport report;
  report.network = result.network;
  report.searcher = result.search;
  report.version = TILEWRIGHT_VERSION;
  report.command = join(result.command, " ");
  report.measurements_per_layer = result.measurements;
  report.seed = result.seed;
  report.settings = {{"space", space_words(result)}};
  for (const SettingValue& setting : result.settings) {
    report.settings.emplace_back(result.search + "." + setting.name, setting.value);
  }
  if (result.interrupted) report.notes.push_back("The run was stopped before its measurements were spent.");
  for (const std::string& sentence : remarks_on(result)) report.notes.push_back(sentence);
  for (const HostLayer& layer : result.host) {
    report.notes.push_back(fmt::format("Layer {} runs on the host: {}.", layer.name, layer.reason));
  }
  for (const CodesignedLayer& layer : result.layers) {
    CodesignReportLayer& shown = report.layers.emplace_back();
    shown.name = layer.name;
    shown.count = layer.count;
    shown.macs = static_cast<double>(macs(layer.layer).value);
    shown.measurements = layer.ledger.samples;
    shown.valid = layer.ledger.valid;
    if (layer.default_cycles) shown.default_cycles = static_cast<double>(*layer.default_cycles);
    for (const Improvement& one : layer.ledger.improvements) shown.curve.emplace_back(one.sample, one.score[0]);
    if (!layer.found) continue;
    shown.found = CodesignReportLayer::Found{.cycles = layer.found->metrics.latency,
                                             .ideal_share = ideal_share(*layer.found),
                                             .mac_share = mac_share(*layer.found, *result.machine),
                                             .energy = layer.found->metrics.energy,
                                             .tiles = tile_words(layer.found->schedule),
                                             .threads = thread_words(layer.found->schedule)};
  }
  if (!result.machine) return to_html(report);
  const CodesignPower power = power_of(result, totals);
  report.machine = machine_words(*result.machine);
  report.verification = result.check.sentence;
  report.equal = result.check.equal;
  report.cycles = totals.cycles;
  report.energy = totals.energy;
  report.macs = totals.macs;
  report.ideal_share = totals.gemm_steps / totals.cycles;
  report.area = vta::relative_area(*result.machine);
  report.area_budget = result.options.area_budget;
  report.watts = power.watts;
  report.celsius = power.celsius;
  report.clock_mhz = result.options.physical.clock_mhz;
  report.default_cycles = totals.default_cycles;
  report.curve = result.curve;
  report.parts = parts_of(*result.machine);
  for (const Calibration& one : mean_calibrations(result)) report.rounds.push_back({one.rank_correlation, one.top_recall});
  add_timeline(result, report);
  return to_html(report);
}

}  // namespace tilewright
