// MAESTRO's `.m` language as it is written: networks of layers with dimensions, strides and dataflow directives.
// The reader accepts what the real program's parser accepts and rejects what it rejects, with a sentence and a line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/nest.hpp"

namespace tilewright {

struct MaestroDirective {
  enum class Kind { Temporal, Spatial, Cluster };
  Kind kind = Kind::Temporal;
  std::int32_t size = 1;
  std::int32_t offset = 1;  // unused by Cluster
  std::string dim;          // for Cluster "P" or "L"
  int line = 0;
};

struct MaestroLayer {
  std::string name;
  std::string type;  // CONV, DSCONV, NGCONV, TRCONV, GEMM
  std::vector<std::pair<std::string, std::int32_t>> strides;
  std::vector<std::pair<std::string, std::int32_t>> dims;  // as written; the first of a name counts
  std::vector<MaestroDirective> dataflow;                  // empty when the layer has no Dataflow block
  std::string where;                                       // the file, as error sentences call it
  int line = 0;
};

struct MaestroFile {
  std::string network;
  std::vector<MaestroLayer> layers;
};

// The R and S rule: HEAD refuses a temporal map on R or S that is not the whole filter, e1d8efd accepts it.
enum class FilterTiles { Whole, Any };

Result<MaestroFile> parse_maestro(const std::string& text, const std::string& where, FilterTiles rule = FilterTiles::Whole);

// Names in a layer and the Dim each stands for: known letters, then Other0… in order of appearance.
class DimNames {
 public:
  // The Dim of `name`; nothing once more than four unknown names have appeared.
  std::optional<Dim> intern(const std::string& name);

 private:
  std::array<std::string, 4> others_;
};

// The loops of layer `index` as MAESTRO sees them: missing output or input sizes derived, and N part of the tensors when the
// first layer of the same type in the file has N.
Result<Nest> nest_of(const MaestroFile& file, std::size_t index, DimNames& names);

}  // namespace tilewright
