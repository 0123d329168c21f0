#include "tilewright/mapping/mapping_maestro.hpp"

#include <fmt/format.h>

namespace tilewright {
namespace {

Error layer_error(const MaestroLayer& layer, int line, const std::string& sentence) {
  return invalid(fmt::format("{}:{}: layer '{}' {}", layer.where, line, layer.name, sentence));
}

std::string_view word_of(Directive::Kind kind) { return kind == Directive::Kind::Spatial ? "SpatialMap" : "TemporalMap"; }

}  // namespace

Result<Mapping> mapping_of(const MaestroLayer& layer, DimNames& names) {
  if (layer.dataflow.empty()) return layer_error(layer, layer.line, "has no Dataflow of its own, expected one");
  Mapping mapping;
  mapping.levels.push_back({});
  for (const MaestroDirective& directive : layer.dataflow) {
    if (directive.kind == MaestroDirective::Kind::Cluster) {
      if (mapping.levels.full())
        return layer_error(layer, directive.line,
                           fmt::format("has too many levels, expected at most {} Clusters", kMaxLevels - 1));
      MappingLevel level;
      level.cluster_size = directive.size;
      level.cluster_kind = directive.dim == "L" ? ClusterKind::Logical : ClusterKind::Physical;
      mapping.levels.push_back(level);
      continue;
    }
    auto& directives = mapping.levels.back().directives;
    if (directives.full())
      return layer_error(layer, directive.line,
                         fmt::format("has too long a level, expected at most {} directives", kMaxDirectives));
    const auto dim = names.intern(directive.dim);
    if (!dim) return layer_error(layer, directive.line, "maps too many unknown dimensions, expected at most four");
    const auto kind =
        directive.kind == MaestroDirective::Kind::Spatial ? Directive::Kind::Spatial : Directive::Kind::Temporal;
    directives.push_back({kind, *dim, directive.size, directive.offset});
  }
  return mapping;
}

std::string to_maestro(const Mapping& mapping) {
  std::string text;
  for (std::size_t index = 0; index < mapping.levels.size(); ++index) {
    const MappingLevel& level = mapping.levels[index];
    if (index > 0)
      text += fmt::format("Cluster({}, {});\n", level.cluster_size, level.cluster_kind == ClusterKind::Logical ? 'L' : 'P');
    for (const Directive& directive : level.directives)
      text +=
          fmt::format("{}({},{}) {};\n", word_of(directive.kind), directive.size, directive.offset, name_of(directive.dim));
  }
  return text;
}

}  // namespace tilewright
