#include "tilewright/study/loop_network.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

Result<LoopNetwork> read_timeloop_problem(const std::string& source, const std::string& layer) {
  LoopNetwork loops;
  TW_TRY(loops.text, read_file(source));
  TW_TRY(hierarchy::Problem problem, hierarchy::problem_from_timeloop(loops.text, source));
  if (!layer.empty()) return invalid("--layer does not go with a problem of Timeloop's, expected it to be left out");
  loops.name = printable(fs::path(source).stem().string());
  loops.coverage.macs = {computes(problem)};
  loops.layers.push_back({.name = loops.name, .members = {loops.name}, .problem = std::move(problem)});
  return loops;
}

}  // namespace

Result<bool> has_top_key(const std::string& source, std::initializer_list<std::string_view> keys) {
  const std::string ending = fs::path(source).extension().string();
  std::error_code status;
  if (is_zoo_source(source) || (ending != ".yaml" && ending != ".yml") || !fs::exists(source, status)) return false;
  TW_TRY(const std::string text, read_file(source));
  TW_TRY(const Yaml root, parse_yaml(text, source));
  for (const std::string_view key : keys) {
    if (root.find(key) != nullptr) return true;
  }
  return false;
}

Result<LoopNetwork> loop_network(const Network& network, const std::string& layer, Alike alike, const std::string& where) {
  if (network.layers.empty()) {
    return invalid(fmt::format("{}: has no layer to map, only {}", where,
                               network.others.empty() ? "inputs" : names_of(network.others)));
  }
  const auto alone = [&](std::size_t index) { return LayerGroup{index, network.layers[index].count, {index}}; };
  std::vector<LayerGroup> groups;
  if (!layer.empty()) {
    TW_TRY(const std::size_t index, find_layer(network, layer));
    groups = {alone(index)};
  } else if (alike == Alike::Together) {
    groups = distinct_layers(network);
  } else {
    for (std::size_t index = 0; index < network.layers.size(); ++index) groups.push_back(alone(index));
  }
  LoopNetwork loops{
      .name = printable(network.name), .text = to_yaml(network), .layers = {}, .coverage = coverage_of(network, groups)};
  for (const LayerGroup& group : groups) {
    const Layer& first = network.layers[group.first].layer;
    LoopLayer one{.name = printable(first.name), .count = group.count, .members = {}, .problem = {}};
    for (const std::size_t member : group.members) one.members.push_back(printable(network.layers[member].layer.name));
    TW_TRY(one.problem, hierarchy::problem_of(first));
    loops.layers.push_back(std::move(one));
  }
  return loops;
}

Result<LoopNetwork> read_loop_network(const MappingInputs& inputs, const std::string& layer, Alike alike) {
  TW_TRY(const bool timeloop, has_top_key(inputs.network, {"problem"}));
  if (timeloop) return read_timeloop_problem(inputs.network, layer);
  TW_TRY(const ReadOptions read, read_options(inputs.batch, inputs.dims));
  TW_TRY(const Network network, read_network(inputs.network, read));
  return loop_network(network, layer, alike, inputs.network);
}

Result<hierarchy::Machine> with_bits(hierarchy::Machine machine, const std::string& bits, hierarchy::Judge judge,
                                     const std::string& where) {
  if (bits.empty()) return machine;
  if (judge == hierarchy::Judge::Timeloop) {
    return invalid("--bits does not go with --model timeloop, which counts words, expected --model hierarchy");
  }
  TW_TRY(machine.bits, hierarchy::element_bits(bits, machine.bits));
  return check(std::move(machine), where);
}

}  // namespace tilewright
