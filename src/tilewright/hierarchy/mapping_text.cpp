#include "tilewright/hierarchy/mapping_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"

namespace tilewright::hierarchy {
namespace {

enum class Axis { Time, X, Y };

// "M2", "N8": the outermost first.
std::vector<std::string> loops_of(const Block& block, Axis axis, const Problem& problem) {
  std::vector<std::string> loops;
  for (std::size_t at = problem.dims.size(); at-- > 0;) {
    const std::uint8_t dim = block.order[at];
    const bool along_x = at < block.split;
    if (block.factors[dim] == 1 || (axis == Axis::X && !along_x) || (axis == Axis::Y && along_x)) continue;
    loops.push_back(fmt::format("{}{}", problem.dims[dim], block.factors[dim]));
  }
  return loops;
}

std::vector<std::string> kept(const LevelMapping& level, const Problem& problem) {
  std::vector<std::string> names;
  for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
    if ((level.keeps >> tensor & 1) != 0) names.push_back(problem.tensors[tensor].name);
  }
  return names;
}

// Loops of `key`, the outermost first, become the next dimensions of the block's order.
Result<Done> take_loops(const Yaml& node, std::string_view key, const Problem& problem, Block& block,
                        std::vector<std::uint8_t>& order) {
  TW_TRY(const std::vector<Yaml> words, node.list(key));
  for (std::size_t at = words.size(); at-- > 0;) {
    TW_TRY(const std::string word, words[at].as_text(key));
    const auto dim = word.empty() ? std::nullopt : problem.dim_named(word[0]);
    const std::int64_t trips = word.empty() ? 0 : parse_integer(std::string_view(word).substr(1)).value_or(0);
    if (!dim || trips < 1 || trips > kMostCount)
      return words[at].error(fmt::format("{} has '{}', expected one of {} with its trips, such as {}4", key, word,
                                         problem.dims, problem.dims[0]));
    if (std::ranges::find(order, *dim) != order.end())
      return words[at].error(fmt::format("{} has '{}', but the block has {} already", key, word, word[0]));
    block.factors[*dim] = trips;
    order.push_back(*dim);
  }
  return Done{};
}

void set_order(Block& block, std::vector<std::uint8_t> order, std::size_t dim_count) {
  for (std::uint8_t dim = 0; dim < dim_count; ++dim) {
    if (std::ranges::find(order, dim) == order.end()) order.push_back(dim);
  }
  std::ranges::copy(order, block.order.begin());
}

Block canonical(const Block& block, std::size_t dim_count, bool spatial) {
  Block made;
  std::vector<std::uint8_t> order;
  std::size_t columns = 0;
  for (std::size_t at = 0; at < dim_count; ++at) {
    const std::uint8_t dim = block.order[at];
    if (block.factors[dim] == 1) continue;
    made.factors[dim] = block.factors[dim];
    order.push_back(dim);
    if (at < block.split) ++columns;
  }
  if (spatial) made.split = static_cast<std::uint8_t>(columns);
  set_order(made, std::move(order), dim_count);
  return made;
}

}  // namespace

std::string to_text(const Mapping& mapping, const Problem& problem, const Machine& machine) {
  std::string text;
  for (std::size_t index = mapping.levels.size(); index-- > 0;) {
    const LevelMapping& level = mapping.levels[index];
    text.append(2 * (mapping.levels.size() - 1 - index), ' ');
    const std::vector<std::string> loops = loops_of(level.temporal, Axis::Time, problem);
    text += fmt::format("{} [{}]:", machine.levels[index].name, join(kept(level, problem), " "));
    if (!loops.empty()) text += " " + join(loops, " ");
    const std::vector<std::string> rows = loops_of(level.spatial, Axis::Y, problem);
    const std::vector<std::string> columns = loops_of(level.spatial, Axis::X, problem);
    if (!rows.empty() || !columns.empty()) text += ", spread";
    if (!rows.empty()) text += fmt::format(" {} along Y", join(rows, " "));
    if (!columns.empty()) text += fmt::format("{} {} along X", rows.empty() ? "" : ",", join(columns, " "));
    text += '\n';
  }
  return text;
}

std::string to_yaml(const Mapping& mapping, const Problem& problem, const Machine& machine) {
  std::string text = "format: tilewright-mapping-2\nlevels:\n";
  for (std::size_t index = mapping.levels.size(); index-- > 0;) {
    const LevelMapping& level = mapping.levels[index];
    std::vector<std::string> names = kept(level, problem);
    for (std::string& name : names) name = yaml_scalar(name);
    text += fmt::format("- {{level: {}, keep: [{}]", yaml_scalar(machine.levels[index].name), join(names, ", "));
    const auto list = [&](std::string_view key, const Block& block, Axis axis) {
      const std::vector<std::string> loops = loops_of(block, axis, problem);
      if (!loops.empty()) text += fmt::format(", {}: [{}]", key, join(loops, ", "));
    };
    list("time", level.temporal, Axis::Time);
    list("y", level.spatial, Axis::Y);
    list("x", level.spatial, Axis::X);
    text += "}\n";
  }
  return text;
}

Result<Mapping> mapping_from_yaml(const std::string& text, const std::string& where, const Problem& problem,
                                  const Machine& machine) {
  TW_TRY(const Yaml root, parse_yaml_document(text, where, "tilewright-mapping-2"));
  TW_TRY(const Done known, root.only_keys({"format", "levels"}));
  TW_TRY(const std::vector<Yaml> levels, root.list("levels"));
  Mapping mapping;
  for (std::size_t index = 0; index < machine.levels.size(); ++index) mapping.levels.push_back({});
  std::vector<bool> seen(machine.levels.size());
  for (const Yaml& node : levels) {
    TW_TRY(const Done fields, node.only_keys({"level", "keep", "time", "x", "y"}));
    TW_TRY(const std::string name, node.text("level"));
    const auto index = machine.level_named(name);
    if (!index) {
      std::vector<std::string> names;
      for (const StorageLevel& level : machine.levels) names.push_back(level.name);
      return node.error(
          fmt::format("level is '{}'{}, expected one of {}", name, did_you_mean(name, names), join(names, ", ")));
    }
    if (seen[*index]) return node.error(fmt::format("level '{}' stands twice, expected each level at most once", name));
    seen[*index] = true;
    LevelMapping& level = mapping.levels[*index];
    if (node.find("keep") != nullptr) {
      TW_TRY(const std::vector<Yaml> names, node.list("keep"));
      level.keeps = 0;
      for (const Yaml& given : names) {
        TW_TRY(const std::string tensor_name, given.as_text("keep"));
        const auto tensor = problem.tensor_named(tensor_name);
        if (!tensor) return given.error(fmt::format("keep has '{}', expected tensors of the problem", tensor_name));
        level.keeps |= static_cast<TensorMask>(1u << *tensor);
      }
    }
    std::vector<std::uint8_t> time, space;
    TW_TRY(const Done timed, take_loops(node, "time", problem, level.temporal, time));
    set_order(level.temporal, std::move(time), problem.dims.size());
    TW_TRY(const Done columns, take_loops(node, "x", problem, level.spatial, space));
    level.spatial.split = static_cast<std::uint8_t>(space.size());
    TW_TRY(const Done rows, take_loops(node, "y", problem, level.spatial, space));
    set_order(level.spatial, std::move(space), problem.dims.size());
  }
  return check(std::move(mapping), problem, machine, Factors::Ragged, root.position());
}

Mapping canonical(const Mapping& mapping, const Problem& problem) {
  Mapping made = mapping;
  const TensorMask tensors = static_cast<TensorMask>((1u << problem.tensors.size()) - 1);
  for (LevelMapping& level : made.levels) {
    level.spatial = canonical(level.spatial, problem.dims.size(), true);
    level.temporal = canonical(level.temporal, problem.dims.size(), false);
    level.keeps &= tensors;
    level.without_links &= tensors;
    level.without_multicast &= tensors;
  }
  return made;
}

}  // namespace tilewright::hierarchy
