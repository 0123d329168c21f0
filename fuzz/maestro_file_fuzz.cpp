// Any bytes read as a MAESTRO file give a sentence or layers; each layer then gives a nest and a network, or a sentence.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/workload/maestro_file.hpp"
#include "tilewright/workload/network.hpp"

namespace {

template <typename T>
bool is_value_or_sentence(const tilewright::Result<T>& result) {
  return static_cast<bool>(result) || !result.error().message.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<MaestroFile> strict = parse_maestro(text, "fuzz.m", FilterTiles::Whole);
  const Result<MaestroFile> file = parse_maestro(text, "fuzz.m", FilterTiles::Any);
  if (!is_value_or_sentence(strict) || !is_value_or_sentence(file)) std::abort();
  if (strict && !file) std::abort();  // the looser rule accepts all that the strict one does
  const Result<Network> network = network_from_maestro(text, "fuzz.m");
  if (!is_value_or_sentence(network) || (network && !file)) std::abort();
  if (!file) return 0;
  for (std::size_t index = 0; index < file->layers.size(); ++index) {
    DimNames names;
    const Result<Nest> nest = nest_of(*file, index, names);
    if (!is_value_or_sentence(nest)) std::abort();
    if (!nest || nest->kind == NestKind::MatrixMultiply) continue;
    if (outputs_along(*nest, Dim::Y) > nest->size[static_cast<std::size_t>(Dim::Y)]) std::abort();
  }
  return 0;
}
