// Any bytes read as a mapping, ours or the dataflow of a MAESTRO file, give a sentence or a mapping that is read back as the
// same from both forms and can be printed as loops.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/mapping/mapping.hpp"
#include "tilewright/mapping/mapping_maestro.hpp"

namespace {

using namespace tilewright;

void check_mapping(const Mapping& mapping, const Nest& nest) {
  const Result<Mapping> from_yaml = mapping_from_yaml(to_yaml(mapping), "again.yaml");
  if (!from_yaml || !(*from_yaml == mapping)) std::abort();
  const std::string layer = "Network n {\nLayer l {\nType: CONV\nDataflow {\n" + to_maestro(mapping) + "}\n}\n}\n";
  const Result<MaestroFile> file = parse_maestro(layer, "again.m", FilterTiles::Any);
  if (!file) std::abort();
  DimNames names;
  const Result<Mapping> from_maestro = mapping_of(file->layers[0], names);
  // A layer without any directive reads as one without a Dataflow.
  const bool nothing = mapping.levels.size() == 1 && mapping.levels[0].directives.empty();
  if (!nothing && (!from_maestro || !(*from_maestro == mapping))) std::abort();
  if (to_loop_nest(mapping, nest, 64).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Nest nest;
  for (const Dim dim : {Dim::K, Dim::C, Dim::R, Dim::S}) nest[dim] = 3;
  nest[Dim::Y] = nest[Dim::X] = 9;
  nest[Dim::OutY] = nest[Dim::OutX] = 7;
  nest.stride[static_cast<std::size_t>(Dim::Y)] = 2;

  const Result<Mapping> mapping = mapping_from_yaml(text, "fuzz.yaml");
  if (mapping) check_mapping(*mapping, nest);
  if (!mapping && mapping.error().message.empty()) std::abort();

  const Result<MaestroFile> file = parse_maestro(text, "fuzz.m", FilterTiles::Any);
  if (!file) return 0;
  for (std::size_t index = 0; index < file->layers.size(); ++index) {
    DimNames names;
    const Result<Nest> own_nest = nest_of(*file, index, names);
    const Result<Mapping> own = mapping_of(file->layers[index], names);
    if (!own && own.error().message.empty()) std::abort();
    if (own && own_nest && to_loop_nest(*own, *own_nest, 64).empty()) std::abort();
    if (!own || own_nest) continue;
    DimNames fresh;
    const Result<Mapping> alone = mapping_of(file->layers[index], fresh);
    if (alone) check_mapping(*alone, nest);
  }
  return 0;
}
