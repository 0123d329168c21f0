#include "tilewright/space/objective.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::array kMetrics = {Metric::Latency,    Metric::Energy, Metric::Edp,
                                 Metric::Throughput, Metric::Area,   Metric::Power};

constexpr double kMostWeight = 10;  // of all terms: with more, the product may leave a double

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric metric : kMetrics) names.emplace_back(name_of(metric));
  return names;
}

Result<Metric> metric_named(std::string_view name) {
  for (const Metric metric : kMetrics) {
    if (name_of(metric) == name) return metric;
  }
  const std::vector<std::string> names = metric_names();
  return invalid(
      fmt::format("objective '{}' is not known{}, expected one of {}, weighted:METRIC=WEIGHT,… or "
                  "lexicographic:METRIC,…",
                  name, did_you_mean(name, names), join(names, ", ")));
}

double smaller_is_better(Metric metric, const Metrics& metrics) {
  return metric == Metric::Throughput ? metrics.latency / metrics.macs : value_of(metric, metrics);
}

Result<double> weight_from(std::string_view text, std::string_view term) {
  const auto weight = parse_real(text);
  if (!weight || *weight <= 0) {
    return invalid(fmt::format("objective: the weight of '{}' is no number above 0, expected METRIC=WEIGHT", term));
  }
  return *weight;
}

}  // namespace

std::string_view name_of(Metric metric) {
  constexpr std::string_view kNames[] = {"latency", "energy", "edp", "throughput", "area", "power"};
  return kNames[static_cast<std::size_t>(metric)];
}

std::string_view unit_of(Metric metric) {
  constexpr std::string_view kUnits[] = {"cycles", "nJ", "nJ·cycles", "MACs/cycle", "um²", "mW"};
  return kUnits[static_cast<std::size_t>(metric)];
}

double value_of(Metric metric, const Metrics& metrics) {
  switch (metric) {
    case Metric::Latency:
      return metrics.latency;
    case Metric::Energy:
      return metrics.energy;
    case Metric::Edp:
      return metrics.edp();
    case Metric::Throughput:
      return metrics.macs / metrics.latency;
    case Metric::Area:
      TW_ASSERT(metrics.area);  // read_mapping_job refuses what needs an unknown area
      return *metrics.area;
    case Metric::Power:
      return metrics.power;
  }
  return 0;
}

Result<Objective> objective_named(std::string_view text) {
  Objective objective;
  const std::size_t colon = text.find(':');
  const std::string_view form = text.substr(0, colon);
  if (colon == std::string_view::npos) {
    TW_TRY(objective.terms[0].metric, metric_named(form));
    return objective;
  }
  if (form != "weighted" && form != "lexicographic") {
    const std::vector<std::string> forms = {"weighted", "lexicographic"};
    return invalid(fmt::format("objective form '{}' is not known{}, expected weighted or lexicographic", form,
                               did_you_mean(form, forms)));
  }
  objective.form = form == "weighted" ? Objective::Form::Weighted : Objective::Form::Lexicographic;
  objective.terms.clear();
  for (const std::string_view part : split(text.substr(colon + 1), ',')) {
    Objective::Term term;
    const std::size_t equals = part.find('=');
    TW_TRY(term.metric, metric_named(trim(part.substr(0, equals))));
    if (equals != std::string_view::npos) {
      if (objective.form == Objective::Form::Lexicographic) {
        return invalid(fmt::format("objective: '{}' has a weight, expected metrics only after lexicographic:", part));
      }
      TW_TRY(term.weight, weight_from(trim(part.substr(equals + 1)), part));
    }
    objective.terms.push_back(term);
  }
  double weights = 0;
  for (const Objective::Term& term : objective.terms) weights += term.weight;
  if (objective.form == Objective::Form::Weighted && weights > kMostWeight) {
    return invalid(
        fmt::format("objective '{}' has weights of {} together, expected at most {}", text, weights, kMostWeight));
  }
  if (objective.form == Objective::Form::Lexicographic && objective.terms.size() > kMostObjectives) {
    return invalid(
        fmt::format("objective '{}' has {} metrics, expected at most {}", text, objective.terms.size(), kMostObjectives));
  }
  return objective;
}

std::string name_of(const Objective& objective) {
  if (objective.form == Objective::Form::Single) return std::string(name_of(objective.terms[0].metric));
  const bool weighted = objective.form == Objective::Form::Weighted;
  std::vector<std::string> terms;
  for (const Objective::Term& term : objective.terms) {
    terms.push_back(weighted ? fmt::format("{}={}", name_of(term.metric), term.weight) : std::string(name_of(term.metric)));
  }
  return fmt::format("{}:{}", weighted ? "weighted" : "lexicographic", join(terms, ","));
}

Score score_of(const Objective& objective, const Metrics& metrics) {
  Score score{};
  if (objective.form != Objective::Form::Weighted) {
    for (std::size_t i = 0; i < objective.terms.size(); ++i) {
      score[i] = smaller_is_better(objective.terms[i].metric, metrics);
    }
    return score;
  }
  double sum = 0;
  for (const Objective::Term& term : objective.terms) {
    sum += term.weight * std::log(smaller_is_better(term.metric, metrics));
  }
  score[0] = std::exp(sum);
  return score;
}

bool needs_area(const Objective& objective) {
  return objective.limits.area ||
         std::ranges::any_of(objective.terms, [](const Objective::Term& term) { return term.metric == Metric::Area; });
}

std::optional<std::string_view> broken_limit(const Limits& limits, const Metrics& metrics) {
  if (limits.latency && metrics.latency > *limits.latency) return "latency";
  if (limits.energy && metrics.energy > *limits.energy) return "energy";
  if (limits.area && metrics.area.value_or(0) > *limits.area) return "area";
  if (limits.power && metrics.power > *limits.power) return "power";
  return std::nullopt;
}

}  // namespace tilewright
