#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/report/simulate_result.hpp"

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

std::string buffer_table(const Simulation& simulation, const vta::Timing* timing) {
  const vta::Profile* profile = simulation.execution ? &simulation.execution->profile : nullptr;
  std::string text = fmt::format("  {:<9}{:>13}{:>16}{:>18}\n", "buffer", "on chip", timing ? "bytes on bus" : "",
                                 profile ? "of the program" : "");
  for (const vta::Buffer buffer : kTransferred) {
    const std::int64_t on_bus = timing ? bytes_of(*timing, buffer) : 0, moved = profile ? bytes_of(*profile, buffer) : 0;
    if (buffer == vta::Buffer::Acc8 && on_bus == 0) continue;
    text +=
        fmt::format("  {:<9}{:>13}{:>16}{:>18}{}\n", vta::name_of(buffer),
                    with_thousands(vta::depth(simulation.machine, buffer) * vta::element_bytes(simulation.machine, buffer)),
                    timing ? with_thousands(on_bus) : "", profile ? with_thousands(moved) : "",
                    buffer == vta::Buffer::Out ? "  written" : "");
  }
  if (timing) text += fmt::format("  {:<9}{:>13}{:>16}\n", "fetch", "", with_thousands(timing->fetch_bytes));
  return text;
}

std::string cycles_text(const Simulation& simulation, const vta::Timing& t) {
  const double microseconds = static_cast<double>(t.cycles) / simulation.physical.clock_mhz;
  std::string text = fmt::format("  cycles     {} ({} at {:g} MHz)\n", with_thousands(t.cycles), duration(microseconds),
                                 simulation.physical.clock_mhz);
  if (simulation.streams.size() > 1) {
    std::vector<std::string> cycles;
    for (const StreamResult& stream : simulation.streams) cycles.push_back(with_thousands(stream.timing.cycles));
    text += fmt::format("  streams    {}: {}\n", cycles.size(), join(cycles, " + "));
  }
  text +=
      fmt::format("  GEMM       {} steps of {} multiply-adds: {:.1f} % of one per cycle; busy in {:.1f} % of the cycles\n",
                  with_thousands(t.gemm_steps), with_thousands(simulation.machine.macs_per_step()),
                  share(t.gemm_steps, t.cycles), share(t.gemm_cycles, t.cycles));
  text += fmt::format("  ALU        {} steps; busy in {:.1f} % of the cycles\n", with_thousands(t.alu_steps),
                      share(t.alu_cycles, t.cycles));
  text += fmt::format("  overlap    {}\n", overlap_sentence(timeline_of(simulation.streams)));
  text += "\n" + module_table(t) + "\n" + buffer_table(simulation, &t);
  text += fmt::format("\n  reads      {} bursts, {} beats; a read is under way in {:.1f} % of the cycles\n",
                      with_thousands(t.read_bursts), with_thousands(t.read_beats), share(t.read_busy, t.cycles));
  text += fmt::format("  writes     {} bursts, {} beats; a write in {:.1f} %\n", with_thousands(t.write_bursts),
                      with_thousands(t.write_beats), share(t.write_busy, t.cycles));
  const vta::Energy energy = vta::energy_of(t, simulation.machine, simulation.physical);
  const double watts = vta::power_watts(energy, t.cycles, simulation.physical);
  text +=
      fmt::format("  energy     {}: MACs {}, ALU {}, SRAM {}, DRAM {}, idle {}\n", joules(energy.total()),
                  joules(energy.macs), joules(energy.alu), joules(energy.sram), joules(energy.dram), joules(energy.idle));
  text += fmt::format("  power      {:.4g} W, {:.1f} degrees Celsius at {:g} K/W; area {:.3f} of the default machine\n",
                      watts, vta::temperature_celsius(watts, simulation.physical), simulation.physical.kelvin_per_watt,
                      vta::relative_area(simulation.machine));
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

void add_timing(const Simulation& simulation, SimulationJson& json) {
  const vta::Timing t = total_of(simulation.streams);
  json["cycles"] = t.cycles;
  json["streams"] = SimulationJson::array();
  for (const StreamResult& stream : simulation.streams) json["streams"].push_back(stream.timing.cycles);
  json["microseconds"] = static_cast<double>(t.cycles) / simulation.physical.clock_mhz;
  json["modules"] = modules_json(t);
  json["load_compute_overlap"] = overlap(timeline_of(simulation.streams), 0, 1);
  json["gemm"] = {{"steps", t.gemm_steps},
                  {"reset_steps", t.reset_steps},
                  {"cycles", t.gemm_cycles},
                  {"utilisation", share(t.gemm_steps, t.cycles) / 100}};
  json["alu"] = {{"steps", t.alu_steps}, {"tensor_steps", t.alu_tensor_steps}, {"cycles", t.alu_cycles}};
  json["memory"] = {{"read_bursts", t.read_bursts},   {"read_beats", t.read_beats},   {"read_busy", t.read_busy},
                    {"write_bursts", t.write_bursts}, {"write_beats", t.write_beats}, {"write_busy", t.write_busy},
                    {"fetch_bytes", t.fetch_bytes}};
  const vta::Energy energy = vta::energy_of(t, simulation.machine, simulation.physical);
  const double watts = vta::power_watts(energy, t.cycles, simulation.physical);
  json["energy_nj"] = {{"total", energy.total()}, {"macs", energy.macs}, {"alu", energy.alu},
                       {"sram", energy.sram},     {"dram", energy.dram}, {"idle", energy.idle}};
  json["power_watts"] = watts;
  json["temperature_celsius"] = vta::temperature_celsius(watts, simulation.physical);
}

SimulationJson buffers_json(const Simulation& simulation) {
  SimulationJson json;
  const vta::Timing t = total_of(simulation.streams);
  for (const vta::Buffer buffer : kTransferred) {
    SimulationJson& entry = json[std::string(vta::name_of(buffer))];
    entry["depth"] = vta::depth(simulation.machine, buffer);
    entry["element_bytes"] = vta::element_bytes(simulation.machine, buffer);
    if (simulation.has_cycles()) entry["bus_bytes"] = bytes_of(t, buffer);
    if (simulation.execution && buffer != vta::Buffer::Acc8) {
      entry["bytes"] = bytes_of(simulation.execution->profile, buffer);
    }
  }
  return json;
}

}  // namespace

vta::Timing total_of(const std::vector<StreamResult>& streams) {
  vta::Timing total;
  for (const StreamResult& stream : streams) {
    const vta::Timing& t = stream.timing;
    for (std::size_t module = 0; module < t.modules.size(); ++module) {
      total.modules[module].busy += t.modules[module].busy;
      total.modules[module].token_stall += t.modules[module].token_stall;
      total.modules[module].bus_stall += t.modules[module].bus_stall;
      total.modules[module].instructions += t.modules[module].instructions;
    }
    for (std::size_t buffer = 0; buffer < t.bytes.size(); ++buffer) total.bytes[buffer] += t.bytes[buffer];
    for (const auto member :
         {&vta::Timing::cycles, &vta::Timing::gemm_cycles, &vta::Timing::alu_cycles, &vta::Timing::gemm_steps,
          &vta::Timing::alu_steps, &vta::Timing::reset_steps, &vta::Timing::alu_tensor_steps, &vta::Timing::fetch_bytes,
          &vta::Timing::read_bursts, &vta::Timing::read_beats, &vta::Timing::write_bursts, &vta::Timing::write_beats,
          &vta::Timing::read_busy, &vta::Timing::write_busy}) {
      total.*member += t.*member;
    }
  }
  return total;
}

std::string to_text(const Simulation& simulation) {
  const vta::Machine& machine = simulation.machine;
  const vta::TimingOptions& timing = simulation.timing;
  std::string text = fmt::format("{} on {} ({} x {} x {}), {} core, latencies {} and {}, bus of {} bytes, bursts of {}\n\n",
                                 printable(simulation.program), printable(simulation.machine_name), machine.batch(),
                                 machine.block_in(), machine.block_out(), vta::name_of(timing.core), timing.read_latency,
                                 timing.write_latency, timing.bus_bytes, with_thousands(timing.burst_bytes));
  if (simulation.has_cycles()) {
    text += cycles_text(simulation, total_of(simulation.streams));
  } else {
    const vta::Profile& profile = simulation.execution->profile;
    text += fmt::format("  GEMM       {} steps\n  ALU        {} steps\n\n", with_thousands(profile.gemm_steps),
                        with_thousands(profile.alu_steps)) +
            buffer_table(simulation, nullptr);
  }
  if (simulation.execution) {
    std::size_t bytes = 0;
    for (const vta::Section& dump : simulation.execution->dumps) bytes += dump.bytes.size();
    text +=
        fmt::format("\n  executed   {} instructions; {} dump region{} of {} bytes\n",
                    with_thousands(simulation.execution->profile.instructions), simulation.execution->dumps.size(),
                    simulation.execution->dumps.size() == 1 ? "" : "s", with_thousands(static_cast<std::int64_t>(bytes)));
  }
  if (simulation.timing_remark) {
    text += fmt::format("  remark     no cycles are known: {}\n", printable(vta::to_text(*simulation.timing_remark)));
  }
  return text;
}

std::string to_json(const Simulation& simulation) {
  SimulationJson json{{"program", simulation.program}, {"machine", SimulationJson::parse(vta::to_json(simulation.machine))}};
  json["timing"] = {{"core", vta::name_of(simulation.timing.core)},     {"read_latency", simulation.timing.read_latency},
                    {"write_latency", simulation.timing.write_latency}, {"bus_bytes", simulation.timing.bus_bytes},
                    {"burst_bytes", simulation.timing.burst_bytes},     {"clock_mhz", simulation.physical.clock_mhz}};
  json["fault"] = simulation.fault ? fault_json(*simulation.fault) : SimulationJson(nullptr);
  if (!simulation.fault) {
    json["area"] = area_json(simulation.machine);
    if (simulation.has_cycles()) add_timing(simulation, json);
    if (simulation.timing_remark) {
      json["cycles"] = nullptr;
      json["timing_remark"] = fault_json(*simulation.timing_remark);
    }
    json["buffers"] = buffers_json(simulation);
    if (simulation.execution) {
      const vta::Profile& profile = simulation.execution->profile;
      json["executed"] = {
          {"instructions", profile.instructions}, {"gemm_steps", profile.gemm_steps}, {"alu_steps", profile.alu_steps}};
      json["dumps"] = SimulationJson::array();
      for (const vta::Section& dump : simulation.execution->dumps) {
        json["dumps"].push_back({{"tag", dump.tag}, {"address", dump.address}, {"bytes", dump.size}});
      }
    }
  }
  // File names may be any bytes.
  return json.dump(2, ' ', false, SimulationJson::error_handler_t::replace) + "\n";
}

}  // namespace tilewright
