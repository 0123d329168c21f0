// Our own form of a mapping, one loop per line:
//
//   format: tilewright-mapping-1
//   levels:
//     - loops:
//         - {spatial: K, size: 1, offset: 1}
//         - {temporal: "Y'", size: 3, offset: 1}     # offset may be left out: then it is the size
//     - cluster: 14
//       cluster_kind: physical                       # or logical
//       loops: …
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kFormat = "tilewright-mapping-1";

std::vector<std::string> dim_names() {
  std::vector<std::string> names;
  for (std::size_t index = 0; index < kDimCount; ++index) names.emplace_back(name_of(static_cast<Dim>(index)));
  return names;
}

Result<Dim> dim_of(const Yaml& node, std::string_view what) {
  TW_TRY(const std::string name, node.as_text(what));
  const std::vector<std::string> names = dim_names();
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == name) return static_cast<Dim>(index);
  }
  return node.error(
      fmt::format("{} is '{}', expected one of {}{}", what, name, join(names, ", "), did_you_mean(name, names)));
}

Result<std::int32_t> size_of(const Yaml& node, std::string_view key, std::int64_t otherwise) {
  TW_TRY(const std::int64_t size, node.integer(key, otherwise));
  if (size >= 1 && size <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(size);
  return node.error(fmt::format("{} is {}, expected 1 to {}", key, size, std::numeric_limits<std::int32_t>::max()));
}

Result<Directive> directive_of(const Yaml& node) {
  TW_TRY(const Done known, node.only_keys({"spatial", "temporal", "size", "offset"}));
  const Yaml* spatial = node.find("spatial");
  const Yaml* temporal = node.find("temporal");
  if (spatial != nullptr && temporal != nullptr)
    return node.error("the loop has both 'spatial' and 'temporal', expected one of them");
  if (spatial == nullptr && temporal == nullptr)
    return node.error("the loop has neither 'spatial' nor 'temporal', expected one of them");
  const auto kind = spatial != nullptr ? Directive::Kind::Spatial : Directive::Kind::Temporal;
  TW_TRY(const Dim dim, spatial != nullptr ? dim_of(*spatial, "'spatial'") : dim_of(*temporal, "'temporal'"));
  TW_TRY(const std::int64_t given, node.integer("size"));
  TW_TRY(const std::int32_t size, size_of(node, "size", given));
  TW_TRY(const std::int32_t offset, size_of(node, "offset", size));
  return Directive{kind, dim, size, offset};
}

Result<MappingLevel> level_of(const Yaml& node, bool outermost) {
  TW_TRY(const Done known, node.only_keys({"cluster", "cluster_kind", "loops"}));
  MappingLevel level;
  if (outermost) {
    for (const char* key : {"cluster", "cluster_kind"}) {
      if (const Yaml* field = node.find(key))
        return field->error(fmt::format("the first level has '{}', expected it from the second level on", key));
    }
  } else {
    TW_TRY(const std::int64_t given, node.integer("cluster"));
    TW_TRY(const std::int32_t cluster_size, size_of(node, "cluster", given));
    TW_TRY(const std::string kind, node.text("cluster_kind", "physical"));
    if (kind != "physical" && kind != "logical")
      return node.find("cluster_kind")->error(fmt::format("cluster_kind is '{}', expected 'physical' or 'logical'", kind));
    level.cluster_size = cluster_size;
    level.cluster_kind = kind == "logical" ? ClusterKind::Logical : ClusterKind::Physical;
  }
  TW_TRY(const std::vector<Yaml> loops, node.list("loops"));
  if (loops.size() > kMaxDirectives)
    return node.error(fmt::format("the level has {} loops, expected at most {}", loops.size(), kMaxDirectives));
  for (const Yaml& loop : loops) {
    TW_TRY(const Directive directive, directive_of(loop));
    level.directives.push_back(directive);
  }
  return level;
}

// Quoted where another YAML reader might see a boolean or an open quote.
std::string scalar_of(Dim dim) {
  const bool plain = dim != Dim::Y && dim != Dim::N && dim != Dim::OutX && dim != Dim::OutY;
  return plain ? std::string(name_of(dim)) : fmt::format("\"{}\"", name_of(dim));
}

}  // namespace

Result<Mapping> mapping_from_yaml(const std::string& text, const std::string& where) {
  TW_TRY(const Yaml root, parse_yaml_document(text, where, kFormat));
  TW_TRY(const Done known, root.only_keys({"format", "levels"}));
  TW_TRY(const std::vector<Yaml> levels, root.list("levels"));
  if (levels.empty() || levels.size() > kMaxLevels)
    return root.error(fmt::format("the mapping has {} levels, expected 1 to {}", levels.size(), kMaxLevels));
  Mapping mapping;
  for (const Yaml& node : levels) {
    TW_TRY(const MappingLevel level, level_of(node, mapping.levels.empty()));
    mapping.levels.push_back(level);
  }
  return mapping;
}

std::string to_yaml(const Mapping& mapping) {
  std::string text = fmt::format("format: {}\nlevels:\n", kFormat);
  for (std::size_t index = 0; index < mapping.levels.size(); ++index) {
    const MappingLevel& level = mapping.levels[index];
    if (index > 0) {
      text += fmt::format("  - cluster: {}\n", level.cluster_size);
      if (level.cluster_kind == ClusterKind::Logical) text += "    cluster_kind: logical\n";
    }
    text += index == 0 ? "  - loops:" : "    loops:";
    text += level.directives.empty() ? " []\n" : "\n";
    for (const Directive& directive : level.directives)
      text += fmt::format("      - {{{}: {}, size: {}, offset: {}}}\n",
                          directive.kind == Directive::Kind::Spatial ? "spatial" : "temporal", scalar_of(directive.dim),
                          directive.size, directive.offset);
  }
  return text;
}

}  // namespace tilewright
