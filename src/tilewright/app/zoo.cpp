#include <algorithm>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/hierarchy_mapping.hpp"
#include "tilewright/vta/machine.hpp"
#include "tilewright/workload/network.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct ZooArguments {
  std::string source;  // empty = list everything
  std::int64_t batch = 1;
  std::vector<std::string> dims;  // "sequence=128": open dimensions of an ONNX model
  bool yaml = false;              // a network as a file of ours
  bool json = false;
};

constexpr const char* kVta = "vta";  // not a file of the zoo: the machine that vta/ has as its default

int list_everything(bool as_json) {
  Json json{{"networks", Json::array()},
            {"accelerators", Json::array()},
            {"machines", Json::array()},
            {"vta_machines", Json::array()}};
  std::string text = "networks                 layers      MACs\n";
  for (const std::string& name : zoo_names("networks")) {
    const Result<Network> network = read_network("zoo:" + name);
    if (!network) return report(network.error());
    std::int64_t count = 0;
    for (const NetworkLayer& entry : network->layers) count += entry.count;
    text += fmt::format("  zoo:{:<18} {:>6} {:>9}\n", name, count, with_prefix(static_cast<double>(macs(*network).value)));
    json["networks"].push_back({{"name", name}, {"layers", count}, {"macs", macs(*network).value}});
  }
  text += "\naccelerators                PEs        L1        L2\n";
  for (const std::string& name : zoo_names("accelerators")) {
    const Result<Accelerator> machine = read_accelerator("zoo:" + name);
    if (!machine) return report(machine.error());
    text += fmt::format("  zoo:{:<18} {:>8} {:>9} {:>9}\n", name, machine->pes,
                        with_prefix(static_cast<double>(machine->l1.value)),
                        with_prefix(static_cast<double>(machine->l2.value)));
    json["accelerators"].push_back(
        {{"name", name}, {"pes", machine->pes}, {"l1", machine->l1.value}, {"l2", machine->l2.value}});
  }
  text += "\nmachines with memory levels     MACs  levels\n";
  for (const std::string& name : zoo_names("machines")) {
    const Result<hierarchy::Machine> machine = hierarchy::read_machine("zoo:" + name);
    if (!machine) return report(machine.error());
    std::string levels;
    for (const hierarchy::StorageLevel& level : machine->levels) levels += fmt::format(" {}", level.name);
    text += fmt::format("  zoo:{:<18} {:>12} {}\n", name, machine->mac.instances, levels);
    json["machines"].push_back({{"name", name}, {"macs", machine->mac.instances}, {"levels", machine->levels.size()}});
  }
  const vta::Machine machine;
  text += fmt::format("\nVTA-class machines, for codesign, compile and simulate\n  zoo:{:<18} a core of {} x {} x {}\n",
                      kVta, machine.batch(), machine.block_in(), machine.block_out());
  json["vta_machines"].push_back({{"name", kVta}});
  print(as_json ? (json.dump(2) + "\n") : text);
  return kExitDone;
}

// Of nothing, every share is nothing.
double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

void show_network(const Network& network, bool as_json) {
  const double total = static_cast<double>(macs(network).value);
  double other_operations = 0;
  for (const OtherOperator& other : network.others) other_operations += static_cast<double>(other.operations);
  Json json{{"name", network.name}, {"macs", macs(network).value}, {"layers", Json::array()}, {"others", Json::array()}};
  std::size_t width = 5;
  for (const NetworkLayer& entry : network.layers) width = std::max(width, entry.layer.name.size());
  std::string text = fmt::format("{}: {} layers of {} shapes, {} MACs\n\n", printable(network.name), network.layers.size(),
                                 distinct_layers(network).size(), with_prefix(total));
  text +=
      fmt::format("{:<{}} {:>5}  {:<16} {:>9} {:>6}  {}\n", "layer", width, "count", "operator", "MACs", "share", "shape");
  for (const NetworkLayer& entry : network.layers) {
    const double work = static_cast<double>(macs(entry.layer).value) * static_cast<double>(entry.count);
    text += fmt::format("{:<{}} {:>5}  {:<16} {:>9} {:>5.1f}%  {}\n", printable(entry.layer.name), width, entry.count,
                        name_of(entry.layer.op), with_prefix(static_cast<double>(macs(entry.layer).value)),
                        percent(work, total), shape_text(entry.layer));
    const TensorSizes sizes = tensor_sizes(entry.layer);
    Json inputs = Json::array();
    for (const std::size_t input : entry.inputs) inputs.push_back(network.layers[input].layer.name);
    json["layers"].push_back({{"name", entry.layer.name},
                              {"op", name_of(entry.layer.op)},
                              {"count", entry.count},
                              {"macs", macs(entry.layer).value},
                              {"input_elements", sizes.input.value},
                              {"weight_elements", sizes.weight.value},
                              {"output_elements", sizes.output.value},
                              {"from", inputs}});
  }
  if (!network.others.empty()) {
    text += "\nother operators, not mapped (a MAC is two operations)\n";
    for (const OtherOperator& other : network.others) {
      const std::string share =
          other.operations_known ? fmt::format("{:>5.2f}% of all operations",
                                               percent(static_cast<double>(other.operations), 2 * total + other_operations))
                                 : "work unknown";
      text += fmt::format("  {:<28} {:>5}  {}\n", other.name, other.count, share);
      Json entry{{"op", other.name}, {"count", other.count}};
      if (other.operations_known) entry["operations"] = other.operations;
      json["others"].push_back(std::move(entry));
    }
  }
  print(as_json ? (json.dump(2) + "\n") : text);
}

int show_vta_machine(const std::string& source) {
  const Result<vta::Machine> machine = vta::read_machine(source);
  if (!machine) return report(machine.error());
  print(vta::to_json(*machine));
  return kExitDone;
}

int show_leveled_machine(const std::string& source) {
  const Result<hierarchy::Machine> machine = hierarchy::read_machine(source);
  if (!machine) return report(machine.error());
  print(to_yaml(*machine));
  return kExitDone;
}

int show_machine(const std::string& source, bool as_json) {
  const Result<Accelerator> machine = read_accelerator(source);
  if (!machine) return report(machine.error());
  if (as_json) {
    const Json json{{"name", machine->name},
                    {"pes", machine->pes},
                    {"l1", machine->l1.value},
                    {"l2", machine->l2.value},
                    {"noc_bandwidth", machine->noc.bandwidth},
                    {"noc_latency", machine->noc.latency()},
                    {"offchip_bandwidth", machine->offchip_bandwidth},
                    {"simd_lanes", machine->simd_lanes},
                    {"clock_ghz", machine->clock_ghz}};
    print(json.dump(2) + "\n");
    return kExitDone;
  }
  print(to_yaml(*machine));
  return kExitDone;
}

int run_zoo(const ZooArguments& arguments) {
  if (arguments.yaml && (arguments.json || arguments.source.empty())) {
    return report(invalid("--yaml writes one network, expected its name or file, and not --json"));
  }
  if (arguments.source.empty()) return list_everything(arguments.json);
  const bool bare = arguments.source.find_first_of(":./") == std::string::npos;
  const std::string source = bare ? "zoo:" + arguments.source : arguments.source;
  if (lower(source).ends_with(".json") || lower(source) == fmt::format("zoo:{}", kVta)) return show_vta_machine(source);
  const Result<bool> leveled = has_memory_levels(source, {});
  if (leveled && *leveled) return show_leveled_machine(source);
  if (is_meant_as_accelerator(source)) return show_machine(source, arguments.json);
  const Result<ReadOptions> options = read_options(arguments.batch, arguments.dims);
  if (!options) return report(options.error());
  const Result<Network> network = read_network(source, *options);
  if (!network) return report(network.error());
  if (!arguments.yaml) {
    show_network(*network, arguments.json);
    return kExitDone;
  }
  if (network->layers.empty()) return report(invalid(fmt::format("{}: has no layer to write", source)));
  print(to_yaml(*network));
  return kExitDone;
}

}  // namespace

Verb zoo_verb() {
  const auto arguments = std::make_shared<ZooArguments>();
  return {
      .name = "zoo",
      .summary = "list the built-in networks and machines, or show one",
      .options = {{"source", &arguments->source, "a name of the zoo, or any network or machine file", {.positional = true}},
                  batch_field(arguments->batch),
                  dim_field(arguments->dims),
                  {"yaml", &arguments->yaml, "a network as a YAML file of ours, which every verb reads"},
                  {"json", &arguments->json, "everything as JSON"}},
      .footer = examples_text({{"tilewright zoo", "everything there is"},
                               {"tilewright zoo resnet18", "the layers of a network"},
                               {"tilewright zoo zoo:eyeriss", "a machine as its file has it"}}),
      .run = [arguments] { return run_zoo(*arguments); }};
}

}  // namespace tilewright
