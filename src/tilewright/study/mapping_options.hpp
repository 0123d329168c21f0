// What may be asked about the mapping of a network, as types: each struct has its table of options beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/base/options.hpp"
#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/space/mapping_space.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {

// Where a network and a machine come from, as people name them: "zoo:resnet18", "net.onnx".
struct MappingInputs {
  std::string network = {};
  std::string hardware = {};
  std::int64_t batch = 1;              // images, of a dynamic ONNX model
  std::vector<std::string> dims = {};  // "sequence=128": its other open dimensions
};

struct LimitOptions {
  std::optional<std::int64_t> max_pes, max_l1, max_l2;                 // of the machine
  std::optional<double> max_latency, max_energy, max_area, max_power;  // of a layer
};
OptionTable options_of(LimitOptions& limits);
// An Error when one is not above 0.
Result<Limits> limits_from(const LimitOptions& options);

enum class SpaceKind : std::uint8_t { Mapping, Archgym };
template <>
struct Names<SpaceKind> {
  static constexpr std::string_view kWhat = "space";
  static constexpr NameTable<SpaceKind, 2> kTable = {{{SpaceKind::Mapping, "mapping"}, {SpaceKind::Archgym, "archgym"}}};
};

// Cluster levels of a mapping, 1 to 3; nothing = by array and layer ("auto").
struct LevelRange {
  std::size_t least = 2, most = 2;
  bool operator==(const LevelRange&) const = default;
};
using Levels = std::optional<LevelRange>;
std::string text_of(const Levels& levels);             // "auto", "2", "1-3"
Result<Levels> levels_named(const std::string& text);  // its way back

// Of machines with memory levels; any of them makes another machine one.
struct LevelOptions {
  std::optional<hierarchy::Judge> judge = {};  // takes the model's place
  bool model_of_arrays = false;                // sound, exact or a maestro was asked for by name
  std::string restrict_to = {};                // a Timeloop file of constraints; empty = every mapping
  std::string energies = {};                   // a file of Accelergy's tables; empty = the machine's own
  std::string bits = {};                       // "weights=4,inputs=8": widths of elements instead of the machine's
};
// All but the judge, which model_field has.
OptionTable options_of(LevelOptions& levels, std::string_view group = "");

// What is searched of every layer, and what is best.
struct MappingOptions : LimitOptions, LevelOptions {
  std::string layer = {};    // one layer only; empty = all
  Objective objective = {};  // its limits are those above
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
  SpaceKind space = SpaceKind::Mapping;
  Tiles tiles = Tiles::Divisors;
  Levels levels = {};
  bool search_pes = false;   // the number of processing elements is searched too
  bool no_classics = false;  // the search is not told the classic dataflows
};

std::string model_text(Model model, const LevelOptions& levels);
// What the space is made of, by name: (tiles, divisors), (levels, auto); of memory levels (mappings, all).
std::vector<std::pair<std::string, std::string>> space_facts(const MappingOptions& options);

enum class NetworkIs { Place, Flag };  // how it is named on the command line
// All of them but `no_classics`, for which verbs have different words.
OptionTable options_of(MappingInputs& inputs, MappingOptions& options, NetworkIs network);
OptionField model_field(Model& model, LevelOptions& levels);  // of both kinds of machine
OptionField constraints_field(Constraints& constraints, std::string_view group = "");
OptionField network_field(std::string& network, NetworkIs is);
OptionField hardware_field(std::string& hardware);
OptionField layer_field(std::string& layer);

// "mapping with tiles divisors, levels 2", and the options that it says.
std::string space_text(const MappingOptions& options);
Result<MappingOptions> space_options(const std::string& text);

}  // namespace tilewright
