#include "tilewright/study/comparison_options.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/search/search_loop.hpp"

namespace tilewright {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) parts.emplace_back(trim(part));
  return parts;
}

Worded list_of_words(std::vector<std::string>& list) {
  return {[&list] { return join(list, ","); },
          [&list](const std::string& text) -> Result<Done> {
            list = words(text);
            return Done{};
          },
          {}};
}

Worded list_of_budgets(std::vector<std::int64_t>& budgets) {
  return {[&budgets] { return fmt::format("{}", fmt::join(budgets, ",")); },
          [&budgets](const std::string& text) -> Result<Done> {
            budgets.clear();
            for (const std::string& word : words(text)) {
              const auto budget = parse_integer(word);
              if (!budget || *budget < 1 || *budget > kMostSamples) {
                return invalid(fmt::format("--budgets has '{}', expected numbers of samples like 500,2000, at most {}",
                                           printable(word), kMostSamples));
              }
              budgets.push_back(*budget);
            }
            return Done{};
          },
          {}};
}

Worded worded(std::optional<ComparisonTarget>& target) {
  return {
      [&target] { return target ? text_of(*target) : std::string(); },
      [&target](const std::string& text) -> Result<Done> {
        const std::size_t colon = text.rfind(':');
        const auto samples =
            parse_integer(std::string_view(text).substr(colon == std::string::npos ? text.size() : colon + 1));
        if (!samples || *samples < 1 || *samples > kMostSamples) {
          return invalid(fmt::format("--targets is '{}', expected SEARCHER:SAMPLES like random:100000, at most {} samples",
                                     printable(text), kMostSamples));
        }
        target = ComparisonTarget{text.substr(0, colon), *samples};
        return Done{};
      },
      {}};
}

Worded worded(std::optional<Ablation>& ablation) {
  return {[&ablation] { return ablation ? std::string(name(*ablation)) : std::string(); },
          [&ablation](const std::string& text) -> Result<Done> {
            TW_TRY(ablation, named<Ablation>(text));
            return Done{};
          },
          names<Ablation>()};
}

}  // namespace

std::string text_of(const ComparisonTarget& target) { return fmt::format("{}:{}", target.searcher, target.samples); }

OptionTable options_of(ComparisonOptions& options) {
  constexpr std::string_view kWho = "Who is compared", kHow = "Budgets and seeds";
  return {
      {"searches",
       list_of_words(options.searches),
       "names with commas, the first against every other; default all but exhaustive; agents+team is the team of --from",
       {.group = kWho, .default_is_said = true}},
      {"ablate",
       worded(options.ablate),
       "variants of agents instead: assignment, learner, critic, explore, transfer",
       {.group = kWho, .default_is_said = true}},
      {"transfer_from", &options.transfer_from, "network whose clusters --ablate transfer takes over", {.group = kWho}},
      {"from",
       &options.from,
       "a trained team: its folder, or the directory of a run of map; joins as agents+team",
       {.group = kWho}},
      {"settings",
       &options.settings,
       "hyper-parameter, e.g. gamma.population=100; may be repeated",
       {.flag = "set", .group = kWho}},
      {"samples", &options.samples, "per layer, all charged; default the largest of --budgets, or 2000", {.group = kHow}},
      {"budgets",
       list_of_budgets(options.budgets),
       "budgets to compare at, e.g. 500,2000: each has runs of its own",
       {.group = kHow, .default_is_said = true}},
      {"seeds", &options.seeds, "runs of each searcher", {.group = kHow}},
      {"seed",
       &options.seed,
       "the first seed; the same seed gives the same bits for any number of threads",
       {.group = kHow}},
      {"targets",
       worded(options.target),
       "SEARCHER:SAMPLES gives each layer a target T1: random:100000",
       {.group = kHow, .default_is_said = true}}};
}

}  // namespace tilewright
