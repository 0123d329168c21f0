#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/mapping/mapping.hpp"
#include "tilewright/mapping/mapping_maestro.hpp"

namespace tilewright {
namespace {

Result<Mapping> from_maestro(const std::string& text, const std::string& path, const std::string& layer_name) {
  // Whether part of a filter may be a tile is for the cost model to say, which knows which MAESTRO it follows.
  TW_TRY(const MaestroFile file, parse_maestro(text, path, FilterTiles::Any));
  std::vector<std::string> names;
  for (const MaestroLayer& layer : file.layers) {
    DimNames dims;
    if (layer.name == layer_name) return mapping_of(layer, dims);
    names.push_back(layer.name);
  }
  DimNames dims;
  if (file.layers.size() == 1) return mapping_of(file.layers[0], dims);
  if (names.empty()) return Error{ErrorCode::NotFound, fmt::format("{}: has no layers, expected '{}'", path, layer_name)};
  std::string hint = did_you_mean(layer_name, names);
  if (hint.empty()) hint = fmt::format(" (there are: {})", join(names, ", "));
  return Error{ErrorCode::NotFound,
               fmt::format("{}: has no layer '{}', expected one of its {} layers{}", path, layer_name, names.size(), hint)};
}

}  // namespace

Result<Mapping> read_mapping(const std::string& path, const std::string& layer_name) {
  const std::string ending = lower(std::filesystem::path(path).extension().string());
  const bool yaml = ending == ".yaml" || ending == ".yml";
  if (!yaml && ending != ".m")
    return invalid(fmt::format("{}: ends in '{}', expected a mapping in .yaml, .yml or .m", path, ending));
  TW_TRY(const std::string text, read_file(path));
  return yaml ? mapping_from_yaml(text, path) : from_maestro(text, path, layer_name);
}

}  // namespace tilewright
