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
constexpr std::array<std::string_view, 3> kForms = {"weighted", "lexicographic",
                                                    "pareto"};  // as Objective::Form, but Single

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
      fmt::format("objective '{}' is not known{}, expected one of {}, weighted:METRIC=WEIGHT,…, "
                  "lexicographic:METRIC,… or pareto:METRIC,METRIC",
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
  const std::vector<std::string> forms(kForms.begin(), kForms.end());
  const auto known = std::ranges::find(forms, form);
  if (known == forms.end()) {
    return invalid(fmt::format("objective form '{}' is not known{}, expected weighted, lexicographic or pareto", form,
                               did_you_mean(form, forms)));
  }
  objective.form = static_cast<Objective::Form>(1 + (known - forms.begin()));
  objective.terms.clear();
  for (const std::string_view part : split(text.substr(colon + 1), ',')) {
    Objective::Term term;
    const std::size_t equals = part.find('=');
    TW_TRY(term.metric, metric_named(trim(part.substr(0, equals))));
    if (equals != std::string_view::npos) {
      if (objective.form != Objective::Form::Weighted) {
        return invalid(fmt::format("objective: '{}' has a weight, expected metrics only after {}:", part, form));
      }
      TW_TRY(term.weight, weight_from(trim(part.substr(equals + 1)), part));
    }
    objective.terms.push_back(term);
  }
  const std::size_t count = objective.terms.size();
  double weights = 0;
  for (const Objective::Term& term : objective.terms) weights += term.weight;
  if (objective.form == Objective::Form::Weighted && weights > kMostWeight) {
    return invalid(
        fmt::format("objective '{}' has weights of {} together, expected at most {}", text, weights, kMostWeight));
  }
  if (objective.form != Objective::Form::Weighted && count > kMostObjectives) {
    return invalid(fmt::format("objective '{}' has {} metrics, expected at most {}", text, count, kMostObjectives));
  }
  if (objective.form == Objective::Form::Pareto) {
    if (count < 2) return invalid(fmt::format("objective '{}' has one metric, expected two or three after pareto:", text));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (objective.terms[i] == objective.terms[j])
          return invalid(fmt::format("objective '{}' has {} twice, expected different metrics", text,
                                     name_of(objective.terms[i].metric)));
      }
    }
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
  return fmt::format("{}:{}", kForms[static_cast<std::size_t>(objective.form) - 1], join(terms, ","));
}

Score terms_of(const Objective& objective, const Metrics& metrics) {
  Score terms{};
  for (std::size_t i = 0; i < objective.terms.size(); ++i) {
    terms[i] = smaller_is_better(objective.terms[i].metric, metrics);
  }
  return terms;
}

Score score_of(const Objective& objective, const Metrics& metrics) {
  if (objective.form == Objective::Form::Weighted) {
    double sum = 0;
    for (const Objective::Term& term : objective.terms) {
      sum += term.weight * std::log(smaller_is_better(term.metric, metrics));
    }
    return {std::exp(sum)};
  }
  if (objective.form == Objective::Form::Pareto) {
    double product = 1;
    for (const Objective::Term& term : objective.terms) product *= smaller_is_better(term.metric, metrics);
    return {product};
  }
  return terms_of(objective, metrics);
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

std::vector<std::pair<Metric, double>> limits_of(const Limits& limits) {
  std::vector<std::pair<Metric, double>> all;
  for (const auto& [metric, limit] : {std::pair(Metric::Latency, limits.latency),
                                      {Metric::Energy, limits.energy},
                                      {Metric::Area, limits.area},
                                      {Metric::Power, limits.power}}) {
    if (limit) all.emplace_back(metric, *limit);
  }
  return all;
}

double excess_of(const Limits& limits, const Metrics& metrics) {
  double excess = 0;
  for (const auto& [metric, limit] : limits_of(limits)) excess = std::max(excess, value_of(metric, metrics) / limit);
  return excess;
}

}  // namespace tilewright
