#include "tilewright/study/mapping_options.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/common_options.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kPesSearched = ", processing elements searched";
constexpr std::string_view kLimits = "Limits", kSpace = "Space";

// The limits of an objective are options of their own.
Worded worded(Objective& objective) {
  return {[&objective] { return name_of(objective); },
          [&objective](const std::string& text) -> Result<Done> {
            TW_TRY(Objective read, objective_named(text));
            read.limits = objective.limits;
            objective = std::move(read);
            return Done{};
          },
          {}};
}

Worded worded(Levels& levels) {
  return {[&levels] { return text_of(levels); },
          [&levels](const std::string& text) -> Result<Done> {
            TW_TRY(levels, levels_named(text));
            return Done{};
          },
          {}};
}

}  // namespace

OptionTable options_of(LimitOptions& limits) {
  return {{"max_pes", &limits.max_pes, "processing elements", {.group = kLimits, .least = 1}},
          {"max_l1", &limits.max_l1, "bytes of L1 per processing element", {.group = kLimits, .least = 1}},
          {"max_l2", &limits.max_l2, "bytes of L2", {.group = kLimits, .least = 1}},
          {"max_latency", &limits.max_latency, "cycles of a layer", {.group = kLimits}},
          {"max_energy", &limits.max_energy, "nJ of a layer", {.group = kLimits}},
          {"max_area", &limits.max_area, "um² a layer's mapping needs", {.group = kLimits}},
          {"max_power", &limits.max_power, "mW a layer's mapping needs", {.group = kLimits}}};
}

Result<Limits> limits_from(const LimitOptions& options) {
  for (const auto& [flag, limit] : {std::pair("--max-latency", options.max_latency),
                                    {"--max-energy", options.max_energy},
                                    {"--max-area", options.max_area},
                                    {"--max-power", options.max_power}}) {
    if (limit && !(*limit > 0)) return invalid(fmt::format("{} is {}, expected more than 0", flag, *limit));
  }
  return Limits{options.max_latency, options.max_energy, options.max_area, options.max_power};
}

std::string text_of(const Levels& levels) {
  if (!levels) return "auto";
  return levels->least == levels->most ? fmt::format("{}", levels->least)
                                       : fmt::format("{}-{}", levels->least, levels->most);
}

Result<Levels> levels_named(const std::string& text) {
  if (text == "auto") return Levels{};
  const std::vector<std::string_view> parts = split(text, '-');
  const auto least = parse_integer(parts.front()), most = parse_integer(parts.back());
  if (parts.size() > 2 || !least || !most || *least < 1 || *most > 3 || *least > *most) {
    return invalid(fmt::format("--levels is '{}', expected auto, 1, 2, 3, or a range like 1-3", printable(text)));
  }
  return Levels{LevelRange{static_cast<std::size_t>(*least), static_cast<std::size_t>(*most)}};
}

std::string model_text(Model model, const LevelOptions& levels) {
  return std::string(levels.judge ? name(*levels.judge) : name_of(model));
}

OptionTable options_of(LevelOptions& levels, std::string_view group) {
  return {{"restrict_to",
           &levels.restrict_to,
           "a Timeloop file of constraints: only such mappings of a machine with memory levels",
           {.flag = "restrict", .group = group}},
          {"energies",
           &levels.energies,
           "Accelergy's tables (ERT, ART) of energies and areas for a machine with memory levels",
           {.group = group}},
          {"bits",
           &levels.bits,
           "weights=4,inputs=8,outputs=16,partial_sums=32: widths of elements on a machine with memory levels",
           {.group = group}}};
}

std::vector<std::pair<std::string, std::string>> space_facts(const MappingOptions& options) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (!options.judge) return {{"tiles", std::string(name(options.tiles))}, {"levels", text_of(options.levels)}};
  facts.emplace_back("mappings", options.restrict_to.empty() ? "all" : "restricted");
  if (!options.bits.empty()) facts.emplace_back("bits", options.bits);
  return facts;
}

OptionField network_field(std::string& network, NetworkIs is) {
  return {"network",
          &network,
          "zoo:NAME, or a file: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA)",
          {.positional = is == NetworkIs::Place}};
}

OptionField hardware_field(std::string& hardware) {
  return {"hardware", &hardware, "zoo:NAME, or a file: .yaml (ours, Timeloop's), .m (MAESTRO)"};
}

OptionField layer_field(std::string& layer) { return {"layer", &layer, "name of one layer; without it, all layers"}; }

OptionField model_field(Model& model, LevelOptions& levels) {
  std::vector<std::string> words = names<Model>();
  for (std::string& word : names<hierarchy::Judge>()) words.push_back(std::move(word));
  const auto read = [&model, &levels, words](const std::string& text) -> Result<Done> {
    const auto judge = named<hierarchy::Judge>(text);
    const auto known = named<Model>(text);
    if (!judge && !known) return unknown_name(Names<Model>::kWhat, text, words);
    levels.judge = judge ? std::optional(*judge) : std::nullopt;
    levels.model_of_arrays = !judge;
    if (known) model = *known;
    return Done{};
  };
  return {"model", Worded{[&model, &levels] { return model_text(model, levels); }, read, words},
          "sound, exact, maestro, maestro@e1d8efd; of machines with memory levels: hierarchy (their default), timeloop"};
}

OptionField constraints_field(Constraints& constraints, std::string_view group) {
  return {"constraints", worded(constraints), "limits of the machine: hard, soft, report", {.group = group}};
}

OptionTable options_of(MappingInputs& inputs, MappingOptions& options, NetworkIs network) {
  OptionTable table = {
      network_field(inputs.network, network),
      hardware_field(inputs.hardware),
      layer_field(options.layer),
      {"objective", worded(options.objective),
       "latency, energy, edp, throughput, area, power, weighted:A=2,B=1, lexicographic:A,B, pareto:A,B"},
      model_field(options.model, options),
      batch_field(inputs.batch),
      dim_field(inputs.dims),
      {"space", worded(options.space), "mapping, or archgym: the 17 parameters of MaestroGym", {.group = kSpace}},
      {"tiles", worded(options.tiles), "divisors, any, gamma", {.group = kSpace}},
      {"levels",
       worded(options.levels),
       "cluster levels: auto (by array and layer), 1, 2, 3, or a range like 1-3",
       {.group = kSpace}},
      {"search_pes", &options.search_pes, "the number of processing elements is searched too", {.group = kSpace}},
      constraints_field(options.constraints, kLimits)};
  OptionTable levels = options_of(static_cast<LevelOptions&>(options), kSpace);
  table.insert(table.end() - 2, levels.begin(), levels.end());
  for (OptionField& field : options_of(static_cast<LimitOptions&>(options))) table.push_back(std::move(field));
  return table;
}

std::string space_text(const MappingOptions& options) {
  if (options.space == SpaceKind::Archgym) return "archgym";
  return fmt::format("{} with tiles {}, levels {}{}", name(options.space), name(options.tiles), text_of(options.levels),
                     options.search_pes ? kPesSearched : "");
}

Result<MappingOptions> space_options(const std::string& text) {
  MappingOptions options;
  const auto word = [&text](std::string_view before) {  // what follows `before`, up to the next comma or space
    const std::size_t begin = text.find(before);
    if (begin == std::string::npos) return std::string();
    const std::string after = text.substr(begin + before.size());
    return after.substr(0, after.find_first_of(", "));
  };
  TW_TRY(options.space, named<SpaceKind>(word("")));
  if (options.space == SpaceKind::Archgym) return options;
  TW_TRY(options.tiles, named<Tiles>(word(" with tiles ")));
  TW_TRY(options.levels, levels_named(word(", levels ")));
  options.search_pes = text.ends_with(kPesSearched);
  return options;
}

}  // namespace tilewright
