#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/report/simulation.hpp"

namespace tilewright {
namespace {

using SimulationJson = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kModuleNames = {"load", "compute", "store"};
constexpr std::array kTransferred = {vta::Buffer::Uop, vta::Buffer::Inp,  vta::Buffer::Wgt,
                                     vta::Buffer::Acc, vta::Buffer::Acc8, vta::Buffer::Out};

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::int64_t idle_of(const vta::ModuleCycles& module, std::int64_t cycles) {
  return cycles - module.busy - module.token_stall;
}

std::int64_t bytes_of(const vta::Timing& timing, vta::Buffer buffer) {
  return timing.bytes[static_cast<std::size_t>(buffer)];
}

// What the program itself moved, pads and whole bus words not counted. Loads of 8-bit accumulators count as acc.
std::int64_t bytes_of(const vta::Profile& profile, vta::Buffer buffer) {
  switch (buffer) {
    case vta::Buffer::Uop:
      return profile.uop_bytes;
    case vta::Buffer::Wgt:
      return profile.wgt_bytes;
    case vta::Buffer::Inp:
      return profile.inp_bytes;
    case vta::Buffer::Acc:
      return profile.acc_bytes;
    case vta::Buffer::Out:
      return profile.out_bytes;
    case vta::Buffer::Acc8:
      break;
  }
  return 0;
}

std::string joules(double nanojoules) {
  if (nanojoules >= 1e6) return fmt::format("{:.4g} mJ", nanojoules / 1e6);
  if (nanojoules >= 1e3) return fmt::format("{:.4g} uJ", nanojoules / 1e3);
  return fmt::format("{:.4g} nJ", nanojoules);
}

std::string duration(double microseconds) {
  return microseconds >= 1e3 ? fmt::format("{:.4g} ms", microseconds / 1e3) : fmt::format("{:.4g} us", microseconds);
}

std::string module_table(const vta::Timing& t) {
  std::string text = fmt::format("  {:<9}{:>13}{:>13}{:>8}{:>13}{:>13}{:>15}\n", "module", "instructions", "busy", "share",
                                 "token waits", "idle", "waits for bus");
  for (std::size_t i = 0; i < t.modules.size(); ++i) {
    const vta::ModuleCycles& module = t.modules[i];
    text +=
        fmt::format("  {:<9}{:>13}{:>13}{:>7.1f}%{:>13}{:>13}{:>15}\n", kModuleNames[i], with_thousands(module.instructions),
                    with_thousands(module.busy), share(module.busy, t.cycles), with_thousands(module.token_stall),
                    with_thousands(idle_of(module, t.cycles)), with_thousands(module.bus_stall));
  }
  return text;
}

std::string buffer_table(const SimulationStudy& study, const vta::Timing* timing) {
  const vta::Profile* profile = study.execution ? &study.execution->profile : nullptr;
  std::string text = fmt::format("  {:<9}{:>13}{:>16}{:>18}\n", "buffer", "on chip", timing ? "bytes on bus" : "",
                                 profile ? "of the program" : "");
  for (const vta::Buffer buffer : kTransferred) {
    const std::int64_t on_bus = timing ? bytes_of(*timing, buffer) : 0, moved = profile ? bytes_of(*profile, buffer) : 0;
    if (buffer == vta::Buffer::Acc8 && on_bus == 0) continue;
    text += fmt::format("  {:<9}{:>13}{:>16}{:>18}{}\n", vta::name_of(buffer),
                        with_thousands(vta::depth(study.machine, buffer) * vta::element_bytes(study.machine, buffer)),
                        timing ? with_thousands(on_bus) : "", profile ? with_thousands(moved) : "",
                        buffer == vta::Buffer::Out ? "  written" : "");
  }
  if (timing) text += fmt::format("  {:<9}{:>13}{:>16}\n", "fetch", "", with_thousands(timing->fetch_bytes));
  return text;
}

std::string cycles_text(const SimulationStudy& study, const vta::Timing& t) {
  const double microseconds = static_cast<double>(t.cycles) / study.physical.clock_mhz;
  std::string text = fmt::format("  cycles     {} ({} at {:g} MHz)\n", with_thousands(t.cycles), duration(microseconds),
                                 study.physical.clock_mhz);
  if (study.streams.size() > 1) {
    std::vector<std::string> cycles;
    for (const StreamResult& stream : study.streams) cycles.push_back(with_thousands(stream.timing.cycles));
    text += fmt::format("  streams    {}: {}\n", cycles.size(), join(cycles, " + "));
  }
  text +=
      fmt::format("  GEMM       {} steps of {} multiply-adds: {:.1f} % of one per cycle; busy in {:.1f} % of the cycles\n",
                  with_thousands(t.gemm_steps), with_thousands(study.machine.macs_per_step()), share(t.gemm_steps, t.cycles),
                  share(t.gemm_cycles, t.cycles));
  text += fmt::format("  ALU        {} steps; busy in {:.1f} % of the cycles\n", with_thousands(t.alu_steps),
                      share(t.alu_cycles, t.cycles));
  text += fmt::format("  overlap    {}\n", overlap_sentence(timeline_of(study.streams)));
  text += "\n" + module_table(t) + "\n" + buffer_table(study, &t);
  text += fmt::format("\n  reads      {} bursts, {} beats; a read is under way in {:.1f} % of the cycles\n",
                      with_thousands(t.read_bursts), with_thousands(t.read_beats), share(t.read_busy, t.cycles));
  text += fmt::format("  writes     {} bursts, {} beats; a write in {:.1f} %\n", with_thousands(t.write_bursts),
                      with_thousands(t.write_beats), share(t.write_busy, t.cycles));
  const vta::Energy energy = vta::energy_of(t, study.machine, study.physical);
  const double watts = vta::power_watts(energy, t.cycles, study.physical);
  text +=
      fmt::format("  energy     {}: MACs {}, ALU {}, SRAM {}, DRAM {}, idle {}\n", joules(energy.total()),
                  joules(energy.macs), joules(energy.alu), joules(energy.sram), joules(energy.dram), joules(energy.idle));
  text += fmt::format("  power      {:.4g} W, {:.1f} degrees Celsius at {:g} K/W; area {:.3f} of the default machine\n",
                      watts, vta::temperature_celsius(watts, study.physical), study.physical.kelvin_per_watt,
                      vta::relative_area(study.machine));
  return text + "             (proxies for comparing machines, docs/vta_timing.md)\n";
}

SimulationJson fault_json(const vta::Fault& fault) {
  SimulationJson json{{"verdict", vta::name_of(fault.kind)}, {"code", vta::exit_code(fault.kind)}};
  json["stream"] = fault.stream >= 0 ? SimulationJson(fault.stream) : SimulationJson(nullptr);
  json["insn"] = fault.instruction >= 0 ? SimulationJson(fault.instruction) : SimulationJson(nullptr);
  const bool has_tokens = fault.kind == vta::FaultKind::Deadlock || fault.kind == vta::FaultKind::LeftoverToken;
  json["tokens"] = nullptr;
  if (has_tokens) {
    json["tokens"] = {
        {"l2g", fault.tokens[0]}, {"g2l", fault.tokens[1]}, {"g2s", fault.tokens[2]}, {"s2g", fault.tokens[3]}};
  }
  json["detail"] = fault.sentence;
  return json;
}

// In bits of SRAM, and against the default machine.
SimulationJson area_json(const vta::Machine& machine) {
  const vta::Area area = vta::area_of(machine);
  return {{"relative", vta::relative_area(machine)},
          {"total", area.total()},
          {"macs", area.macs},
          {"alu", area.alu},
          {"uop", area.uop},
          {"inp", area.inp},
          {"wgt", area.wgt},
          {"acc", area.acc},
          {"out", area.out}};
}

SimulationJson modules_json(const vta::Timing& t) {
  SimulationJson json;
  for (std::size_t i = 0; i < t.modules.size(); ++i) {
    const vta::ModuleCycles& module = t.modules[i];
    json[std::string(kModuleNames[i])] = {
        {"instructions", module.instructions}, {"busy", module.busy},
        {"token_stall", module.token_stall},   {"bus_stall", module.bus_stall},
        {"idle", idle_of(module, t.cycles)},   {"utilisation", share(module.busy, t.cycles) / 100}};
  }
  return json;
}

void add_timing(const SimulationStudy& study, SimulationJson& json) {
  const vta::Timing t = total_of(study.streams);
  json["cycles"] = t.cycles;
  json["streams"] = SimulationJson::array();
  for (const StreamResult& stream : study.streams) json["streams"].push_back(stream.timing.cycles);
  json["microseconds"] = static_cast<double>(t.cycles) / study.physical.clock_mhz;
  json["modules"] = modules_json(t);
  json["load_compute_overlap"] = overlap(timeline_of(study.streams), 0, 1);
  json["gemm"] = {{"steps", t.gemm_steps},
                  {"reset_steps", t.reset_steps},
                  {"cycles", t.gemm_cycles},
                  {"utilisation", share(t.gemm_steps, t.cycles) / 100}};
  json["alu"] = {{"steps", t.alu_steps}, {"tensor_steps", t.alu_tensor_steps}, {"cycles", t.alu_cycles}};
  json["memory"] = {{"read_bursts", t.read_bursts},   {"read_beats", t.read_beats},   {"read_busy", t.read_busy},
                    {"write_bursts", t.write_bursts}, {"write_beats", t.write_beats}, {"write_busy", t.write_busy},
                    {"fetch_bytes", t.fetch_bytes}};
  const vta::Energy energy = vta::energy_of(t, study.machine, study.physical);
  const double watts = vta::power_watts(energy, t.cycles, study.physical);
  json["energy_nj"] = {{"total", energy.total()}, {"macs", energy.macs}, {"alu", energy.alu},
                       {"sram", energy.sram},     {"dram", energy.dram}, {"idle", energy.idle}};
  json["power_watts"] = watts;
  json["temperature_celsius"] = vta::temperature_celsius(watts, study.physical);
}

SimulationJson buffers_json(const SimulationStudy& study) {
  SimulationJson json;
  const vta::Timing t = total_of(study.streams);
  for (const vta::Buffer buffer : kTransferred) {
    SimulationJson& entry = json[std::string(vta::name_of(buffer))];
    entry["depth"] = vta::depth(study.machine, buffer);
    entry["element_bytes"] = vta::element_bytes(study.machine, buffer);
    if (study.has_cycles()) entry["bus_bytes"] = bytes_of(t, buffer);
    if (study.execution && buffer != vta::Buffer::Acc8) {
      entry["bytes"] = bytes_of(study.execution->profile, buffer);
    }
  }
  return json;
}

}  // namespace

std::string to_text(const SimulationStudy& study) {
  const vta::Machine& machine = study.machine;
  const vta::TimingOptions& timing = study.timing;
  std::string text = fmt::format("{} on {} ({} x {} x {}), {}, bus of {} bytes, bursts of {}\n\n", printable(study.program),
                                 printable(study.machine_name), machine.batch(), machine.block_in(), machine.block_out(),
                                 vta::to_text(timing), timing.bus_bytes, with_thousands(timing.burst_bytes));
  if (study.has_cycles()) {
    text += cycles_text(study, total_of(study.streams));
  } else {
    const vta::Profile& profile = study.execution->profile;
    text += fmt::format("  GEMM       {} steps\n  ALU        {} steps\n\n", with_thousands(profile.gemm_steps),
                        with_thousands(profile.alu_steps)) +
            buffer_table(study, nullptr);
  }
  if (study.execution) {
    std::size_t bytes = 0;
    for (const vta::Section& dump : study.execution->dumps) bytes += dump.bytes.size();
    text += fmt::format("\n  executed   {} instructions; {} dump region{} of {} bytes\n",
                        with_thousands(study.execution->profile.instructions), study.execution->dumps.size(),
                        study.execution->dumps.size() == 1 ? "" : "s", with_thousands(static_cast<std::int64_t>(bytes)));
  }
  if (study.timing_remark) {
    text += fmt::format("  remark     no cycles are known: {}\n", printable(vta::to_text(*study.timing_remark)));
  }
  return text;
}

std::string to_json(const SimulationStudy& study) {
  SimulationJson json{{"program", study.program}, {"machine", SimulationJson::parse(vta::to_json(study.machine))}};
  json["timing"] = {{"core", vta::name_of(study.timing.core)},   {"memory", vta::name_of(study.timing.memory)},
                    {"read_latency", study.timing.read_latency}, {"write_latency", study.timing.write_latency},
                    {"bus_bytes", study.timing.bus_bytes},       {"burst_bytes", study.timing.burst_bytes},
                    {"clock_mhz", study.physical.clock_mhz}};
  json["fault"] = study.fault ? fault_json(*study.fault) : SimulationJson(nullptr);
  if (!study.fault) {
    json["area"] = area_json(study.machine);
    if (study.has_cycles()) add_timing(study, json);
    if (study.timing_remark) {
      json["cycles"] = nullptr;
      json["timing_remark"] = fault_json(*study.timing_remark);
    }
    json["buffers"] = buffers_json(study);
    if (study.execution) {
      const vta::Profile& profile = study.execution->profile;
      json["executed"] = {
          {"instructions", profile.instructions}, {"gemm_steps", profile.gemm_steps}, {"alu_steps", profile.alu_steps}};
      json["dumps"] = SimulationJson::array();
      for (const vta::Section& dump : study.execution->dumps) {
        json["dumps"].push_back({{"tag", dump.tag}, {"address", dump.address}, {"bytes", dump.size}});
      }
    }
  }
  // File names may be any bytes.
  return json.dump(2, ' ', false, SimulationJson::error_handler_t::replace) + "\n";
}

}  // namespace tilewright
