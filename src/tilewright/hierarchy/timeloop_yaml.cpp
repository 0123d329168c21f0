#include "tilewright/hierarchy/timeloop_yaml.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/timeloop_keys.hpp"

namespace tilewright::hierarchy {
namespace {

// "M", "=", "2" are one word: Timeloop takes spaces around the sign.
std::vector<std::string> without_gaps(const std::vector<std::string>& words) {
  std::vector<std::string> whole;
  for (const std::string& word : words) {
    const bool goes_on = !whole.empty() && (word[0] == '=' || word[0] == '<' || whole.back().ends_with('='));
    if (goes_on) {
      whole.back() += word;
    } else {
      whole.push_back(word);
    }
  }
  return whole;
}

struct Reader {
  const Problem& problem;
  const Machine& machine;

  Result<std::size_t> level_of(const Yaml& entry) const {
    const Yaml* target = find_key(entry, {"target"});
    if (target == nullptr) return entry.error("target is missing, expected a level of the machine");
    TW_TRY(const std::string name, target->as_text("target"));
    if (const auto level = machine.level_named(name)) return *level;
    std::vector<std::string> known;
    for (const StorageLevel& level : machine.levels) known.push_back(level.name);
    return target->error(
        fmt::format("target is '{}'{}, expected one of {}", name, did_you_mean(name, known), join(known, ", ")));
  }

  Result<std::string> type_of(const Yaml& entry) const {
    const Yaml* type = find_key(entry, {"type"});
    if (type == nullptr) return entry.error("type is missing, expected temporal, spatial or datatype");
    TW_TRY(const std::string word, type->as_text("type"));
    for (const std::string_view known : {"temporal", "spatial", "datatype", "bypass", "utilization", "parallelism"}) {
      if (word == known) return word == "bypass" ? "datatype" : word == "parallelism" ? "utilization" : word;
    }
    return type->error(fmt::format("type is '{}', expected temporal, spatial, datatype or utilization", word));
  }

  Result<TensorMask> tensors(const Yaml& entry, std::string_view key) const {
    TensorMask mask = 0;
    const Yaml* list = find_key(entry, {key});
    if (list == nullptr) return mask;
    TW_TRY(const std::vector<std::string> names, words_of(*list, key));
    for (const std::string& name : names) {
      const auto tensor = problem.tensor_named(name);
      if (!tensor) {
        std::vector<std::string> known;
        for (const Tensor& one : problem.tensors) known.push_back(one.name);
        return list->error(
            fmt::format("{} has '{}'{}, expected some of {}", key, name, did_you_mean(name, known), join(known, ", ")));
      }
      mask |= static_cast<TensorMask>(1u << *tensor);
    }
    return mask;
  }

  // "K=4" and "K4" -> (K, 4, exactly), "K<=4" -> (K, 4, at most); K=0 is the whole dimension.
  struct Factor {
    std::uint8_t dim = 0;
    std::int64_t value = 1;
    bool at_most = false;
  };
  Result<std::vector<Factor>> factors(const Yaml& entry, bool may_limit) const {
    std::vector<Factor> factors;
    const Yaml* node = find_key(entry, {"factors"});
    if (node == nullptr) return factors;
    TW_TRY(const std::vector<std::string> words, words_of(*node, "factors"));
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (const std::string& word : without_gaps(words)) {
      Factor factor;
      const auto dim = problem.dim_named(word[0]);
      std::string_view rest = std::string_view(word).substr(1);
      factor.at_most = rest.starts_with("<=");
      const bool exactly = rest.starts_with("=") || (!rest.empty() && is_digit(rest[0]));
      if (!dim || !(exactly || factor.at_most) || (factor.at_most && !may_limit)) {
        const bool residue = std::ranges::all_of(word, is_digit);
        return node->error(
            residue ? fmt::format("factors has a remainder {}, which is not supported", word)
                    : fmt::format("factors has '{}', expected DIMENSION=NUMBER with one of {}", word, problem.dims));
      }
      rest.remove_prefix(factor.at_most ? 2 : rest.starts_with("=") ? 1 : 0);
      const auto value = parse_integer(rest);
      if (!value || *value < 0 || *value > kMostCount)
        return node->error(fmt::format("factors has '{}', expected a whole number after the dimension", word));
      factor.dim = *dim;
      factor.value = *value == 0 ? problem.bounds[*dim] : *value;
      for (const Factor& other : factors) {
        if (other.dim == factor.dim) return node->error(fmt::format("factors has {} twice, expected once", word[0]));
      }
      factors.push_back(factor);
    }
    return factors;
  }

  // "KMN", "K M N" and [K, M, N]: innermost first. "K_M": K innermost, M outermost, the others between.
  struct Order {
    std::vector<std::uint8_t> innermost, outermost;
  };
  Result<Order> order(const Yaml& entry) const {
    Order order;
    const Yaml* node = find_key(entry, {"permutation"});
    if (node == nullptr) return order;
    TW_TRY(const std::vector<std::string> words, words_of(*node, "permutation"));
    bool after_gap = false;
    std::uint32_t seen = 0;
    for (const std::string& word : words) {
      for (const char letter : word) {
        if (letter == '_' && !after_gap) {
          after_gap = true;
          continue;
        }
        const auto dim = problem.dim_named(letter);
        if (!dim || (seen >> *dim & 1) != 0) {
          return node->error(fmt::format("permutation has '{}' {}, expected each of {} at most once", letter,
                                         dim ? "twice" : "in it", problem.dims));
        }
        seen |= std::uint32_t{1} << *dim;
        (after_gap ? order.outermost : order.innermost).push_back(*dim);
      }
    }
    return order;
  }

  Result<std::optional<std::uint8_t>> split(const Yaml& entry) const {
    const Yaml* node = find_key(entry, {"split"});
    if (node == nullptr) return std::optional<std::uint8_t>{};
    TW_TRY(const std::int64_t columns, node->as_integer("split"));
    if (columns < 0) return node->error(fmt::format("split is {}, expected at least 0", columns));
    return std::optional<std::uint8_t>{static_cast<std::uint8_t>(std::min<std::int64_t>(columns, kMostDims))};
  }

  // Dimensions that the file does not order stand between, as in the problem.
  void set_order(Block& block, const Order& order) const {
    std::uint32_t seen = 0;
    std::size_t at = 0;
    for (const std::uint8_t dim : order.innermost) block.order[at++] = dim, seen |= std::uint32_t{1} << dim;
    for (const std::uint8_t dim : order.outermost) seen |= std::uint32_t{1} << dim;
    for (std::uint8_t dim = 0; dim < problem.dims.size(); ++dim) {
      if ((seen >> dim & 1) == 0) block.order[at++] = dim;
    }
    for (const std::uint8_t dim : order.outermost) block.order[at++] = dim;
  }
};

Result<Done> restrict_level(const Reader& reader, const Yaml& entry, Restriction& restriction) {
  TW_TRY(const std::string type, reader.type_of(entry));
  if (type == "utilization") {
    const Yaml* least = find_key(entry, {"min"});
    if (least == nullptr) return entry.error("min is missing, expected a share of the MACs");
    TW_TRY(restriction.least_parallelism, least->as_number("min"));
    if (!(restriction.least_parallelism >= 0 && restriction.least_parallelism <= 1))
      return least->error(fmt::format("min is {}, expected 0 to 1", restriction.least_parallelism));
    return Done{};
  }
  TW_TRY(const std::size_t index, reader.level_of(entry));
  LevelRestriction& level = restriction.levels[index];
  if (type == "datatype") {
    TW_TRY(const TensorMask keeps, reader.tensors(entry, "keep"));
    TW_TRY(const TensorMask bypasses, reader.tensors(entry, "bypass"));
    if ((keeps & bypasses) != 0) return entry.error("a tensor is both kept and bypassed, expected one of them");
    level.keeps = static_cast<TensorMask>((level.keeps | keeps) & ~bypasses);
    level.bypasses = static_cast<TensorMask>((level.bypasses | bypasses) & ~keeps);
    return Done{};
  }
  BlockRestriction& block = type == "spatial" ? level.spatial : level.temporal;
  TW_TRY(const std::vector<Reader::Factor> factors, reader.factors(entry, true));
  for (const Reader::Factor& factor : factors) (factor.at_most ? block.at_most : block.exactly)[factor.dim] = factor.value;
  TW_TRY(Reader::Order order, reader.order(entry));
  if (!order.innermost.empty()) block.innermost = std::move(order.innermost);
  if (!order.outermost.empty()) block.outermost = std::move(order.outermost);
  TW_TRY(const std::optional<std::uint8_t> split, reader.split(entry));
  if (split) block.split = split;
  return Done{};
}

std::string block_text(const Block& block, const Problem& problem) {
  std::string factors, order;
  for (std::size_t dim = 0; dim < problem.dims.size(); ++dim)
    factors += fmt::format("{}{}={}", dim == 0 ? "" : " ", problem.dims[dim], block.factors[dim]);
  for (std::size_t at = 0; at < problem.dims.size(); ++at) order += problem.dims[block.order[at]];
  return fmt::format("factors: {}, permutation: {}", factors, order);
}

}  // namespace

Result<Mapping> mapping_from_timeloop(const std::string& text, const std::string& where, const Problem& problem,
                                      const Machine& machine) {
  TW_TRY(const Yaml root, parse_yaml(text, where));
  const Yaml* list = find_key(root, {"mapping"});
  if (list == nullptr || list->kind != Yaml::Kind::List) return root.error("mapping is missing, expected a list of blocks");
  const Reader reader{problem, machine};
  Mapping mapping;
  for (std::size_t index = 0; index < machine.levels.size(); ++index) mapping.levels.push_back({});
  for (const Yaml& entry : list->items) {
    TW_TRY(const std::string type, reader.type_of(entry));
    if (type == "utilization")
      return entry.error("type utilization belongs to constraints, expected temporal, spatial or datatype");
    TW_TRY(const std::size_t index, reader.level_of(entry));
    LevelMapping& level = mapping.levels[index];
    if (type == "datatype") {
      TW_TRY(const TensorMask bypasses, reader.tensors(entry, "bypass"));
      TW_TRY(const TensorMask keeps, reader.tensors(entry, "keep"));
      level.keeps = static_cast<TensorMask>((level.keeps & ~bypasses) | keeps);
      TW_TRY(level.without_links, reader.tensors(entry, "no_link_transfer"));
      TW_TRY(level.without_multicast, reader.tensors(entry, "no_multicast_no_reduction"));
      continue;
    }
    Block& block = type == "spatial" ? level.spatial : level.temporal;
    block = Block{};
    TW_TRY(const std::vector<Reader::Factor> factors, reader.factors(entry, false));
    for (const Reader::Factor& factor : factors) block.factors[factor.dim] = factor.value;
    TW_TRY(const Reader::Order order, reader.order(entry));
    reader.set_order(block, order);
    TW_TRY(const std::optional<std::uint8_t> split, reader.split(entry));
    if (split && type == "spatial") block.split = *split;
  }
  return check(std::move(mapping), problem, machine, Factors::Ragged, list->position());
}

std::string to_timeloop_yaml(const Mapping& mapping, const Problem& problem, const Machine& machine) {
  std::string text = "mapping:\n";
  const auto names = [&](TensorMask mask) {
    std::vector<std::string> parts;
    for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
      if ((mask >> tensor & 1) != 0) parts.push_back(yaml_scalar(problem.tensors[tensor].name));
    }
    return join(parts, ", ");
  };
  for (std::size_t index = 0; index < mapping.levels.size(); ++index) {
    const LevelMapping& level = mapping.levels[index];
    const std::string target = yaml_scalar(machine.levels[index].name);
    text += fmt::format("- {{target: {}, type: datatype, keep: [{}], bypass: [{}]", target, names(level.keeps),
                        names(static_cast<TensorMask>(~level.keeps)));
    if (level.without_links != 0) text += fmt::format(", no_link_transfer: [{}]", names(level.without_links));
    if (level.without_multicast != 0)
      text += fmt::format(", no_multicast_no_reduction: [{}]", names(level.without_multicast));
    text += "}\n";
    text += fmt::format("- {{target: {}, type: spatial, {}, split: {}}}\n", target, block_text(level.spatial, problem),
                        std::min<std::size_t>(level.spatial.split, problem.dims.size()));
    text += fmt::format("- {{target: {}, type: temporal, {}}}\n", target, block_text(level.temporal, problem));
  }
  return text;
}

Result<Restriction> restriction_from_timeloop(const std::string& text, const std::string& where, const Problem& problem,
                                              const Machine& machine) {
  TW_TRY(const Yaml root, parse_yaml(text, where));
  const Reader reader{problem, machine};
  Restriction restriction = restriction_of(machine, problem);
  bool found = false;
  for (const std::string_view key : {"architecture_constraints", "mapspace_constraints", "mapspace", "constraints"}) {
    const Yaml* section = find_key(root, {key});
    if (section == nullptr) continue;
    found = true;
    const Yaml* targets = section->kind == Yaml::Kind::List ? section : find_key(*section, {"targets"});
    if (targets == nullptr || targets->kind == Yaml::Kind::Null) continue;
    if (targets->kind != Yaml::Kind::List)
      return targets->error("targets is no list, expected entries with target and type");
    for (const Yaml& entry : targets->items) {
      TW_TRY(const Done read, restrict_level(reader, entry, restriction));
    }
  }
  if (!found) return root.error("mapspace_constraints is missing, expected {targets: […]}");
  return restriction;
}

}  // namespace tilewright::hierarchy
