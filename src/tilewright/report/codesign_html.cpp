#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/codesign_report.hpp"
#include "tilewright/report/simulate_result.hpp"
#include "tilewright/study/codesign_words.hpp"
#include "tilewright/vta/layouts.hpp"

namespace tilewright {
namespace {

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
