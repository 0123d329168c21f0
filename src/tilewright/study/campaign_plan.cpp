#include "tilewright/study/campaign_plan.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"
#include "tilewright/study/common_options.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

// "max-latency" and "max_latency" are one option.
std::string plain_name(std::string_view name) {
  std::string plain(name);
  std::ranges::replace(plain, '-', '_');
  return plain;
}

const OptionField* find_option(const OptionTable& table, std::string_view name) {
  const auto found = std::ranges::find_if(table, [&](const OptionField& field) {
    return plain_name(field.name) == plain_name(name) || (!field.traits.flag.empty() && field.traits.flag == name);
  });
  return found == table.end() ? nullptr : &*found;
}

Result<const OptionField*> option_named(const OptionTable& table, const Yaml& where, const std::string& name,
                                        CampaignVerb verb) {
  if (const OptionField* field = find_option(table, name)) return field;
  std::vector<std::string> names;
  for (const OptionField& field : table) names.push_back(plain_name(field.name));
  return where.error(fmt::format("'{}' is no option of {} in a plan{}, expected one of {}", printable(name),
                                 tilewright::name(verb), did_you_mean(plain_name(name), names), join(names, ", ")));
}

// The texts of a value: one, or those of a list.
Result<std::vector<std::string>> words_of(const Yaml& value, const std::string& what) {
  std::vector<std::string> words;
  if (value.kind == Yaml::Kind::Scalar) return std::vector{value.scalar};
  if (value.kind != Yaml::Kind::List) return value.error(fmt::format("{} is no value, expected one", what));
  for (const Yaml& item : value.items) {
    TW_TRY(std::string word, item.as_text(what));
    words.push_back(std::move(word));
  }
  return words;
}

Result<Json> truth_of(const Yaml& value, const std::string& what) {
  if (value.kind == Yaml::Kind::Scalar && (value.scalar == "true" || value.scalar == "false")) {
    return Json(value.scalar == "true");
  }
  return value.error(fmt::format("{} is '{}', expected true or false", what, printable(value.scalar)));
}

// A value of a plan as run.json has it, by what the option holds.
Result<Json> json_of(const OptionField& field, const Yaml& value) {
  const std::string what(field.name);
  return std::visit(
      [&](const auto& target) -> Result<Json> {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, Worded>) {
          TW_TRY(const std::vector<std::string> words, words_of(value, what));
          return Json(join(words, ","));
        } else if constexpr (std::is_same_v<Target, std::vector<std::string>*>) {
          TW_TRY(std::vector<std::string> words, words_of(value, what));
          return Json(std::move(words));
        } else if constexpr (std::is_same_v<Target, bool*>) {
          return truth_of(value, what);
        } else if constexpr (std::is_same_v<Target, std::string*> || std::is_same_v<Target, std::optional<std::string>*>) {
          TW_TRY(std::string word, value.as_text(what));
          return Json(std::move(word));
        } else if constexpr (std::is_same_v<Target, double*> || std::is_same_v<Target, std::optional<double>*>) {
          TW_TRY(const double number, value.as_number(what));
          return Json(number);
        } else {
          TW_TRY(const std::int64_t number, value.as_integer(what));
          return number < 0 ? Json(number) : Json(static_cast<std::uint64_t>(number));
        }
      },
      field.target);
}

// Reads one value into the request that `table` is of.
Result<Json> set(const OptionField& field, const Yaml& value) {
  TW_TRY(Json json, json_of(field, value));
  TW_TRY([[maybe_unused]] const Done read, read_options({field}, {{std::string(field.name), json}}, value.position()));
  return json;
}

struct Axis {
  std::string option;
  std::vector<Yaml> values;
};

// "1..3" is 1, 2, 3.
Result<std::vector<Yaml>> values_of(const Yaml& node, const std::string& name) {
  if (node.kind == Yaml::Kind::List) {
    if (node.items.empty()) return node.error(fmt::format("{} has no values, expected at least one", name));
    return node.items;
  }
  const std::size_t dots = node.kind == Yaml::Kind::Scalar ? node.scalar.find("..") : std::string::npos;
  if (dots == std::string::npos) {
    return node.error(fmt::format("{} is '{}', expected a list of values, or a range like 1..20", name,
                                  printable(node.scalar.substr(0, 60))));
  }
  const auto first = parse_integer(std::string_view(node.scalar).substr(0, dots));
  const auto last = parse_integer(std::string_view(node.scalar).substr(dots + 2));
  if (!first || !last || *first < 0 || *last < *first || *last - *first >= static_cast<std::int64_t>(kMostStudies)) {
    return node.error(fmt::format("{} is '{}', expected a range like 1..20 of at most {} numbers", name,
                                  printable(node.scalar.substr(0, 60)), kMostStudies));
  }
  std::vector<Yaml> values;
  for (std::int64_t value = *first; value <= *last; ++value) {
    Yaml one = node;
    one.scalar = fmt::format("{}", value);
    values.push_back(std::move(one));
  }
  return values;
}

std::string shown(const Yaml& value) {
  if (value.kind == Yaml::Kind::Scalar) return printable(value.scalar);
  std::vector<std::string> parts;
  for (const Yaml& item : value.items) parts.push_back(printable(item.scalar));
  return join(parts, ",");
}

// A value that is there twice would be the same study twice, under one title.
Result<Done> check_different(CampaignVerb verb, const std::string& option, const std::vector<Yaml>& values) {
  StudyRequest request = request_of(verb);
  const OptionTable table = options_of(request);
  std::set<std::string> seen;
  for (const Yaml& value : values) {
    TW_TRY(const OptionField* field, option_named(table, value, option, verb));
    TW_TRY(const Json json, json_of(*field, value));
    if (!seen.insert(json.dump(-1, ' ', false, Json::error_handler_t::replace)).second) {
      return value.error(fmt::format("{} has {} twice, expected every value once", field->name, shown(value)));
    }
  }
  return Done{};
}

struct Entry {
  std::string name;
  CampaignVerb verb = CampaignVerb::Map;
  const Yaml* options = nullptr;
  std::vector<Axis> axes;
  const Yaml* node = nullptr;
};

Result<Entry> read_entry(const Yaml& node) {
  Entry entry;
  entry.node = &node;
  if (node.kind != Yaml::Kind::Map)
    return node.error("a study is no map of options, expected name, a verb and, perhaps, each");
  for (const auto& [key, value] : node.fields) {
    if (key == "name" || key == "each") continue;
    const Result<CampaignVerb> verb = named<CampaignVerb>(key);
    if (!verb) {
      std::vector<std::string> known = names<CampaignVerb>();
      known.insert(known.end(), {"name", "each"});
      return value.error(fmt::format("'{}' is no verb of a plan{}, expected name, each and one of {}", printable(key),
                                     did_you_mean(key, known), join(names<CampaignVerb>(), ", ")));
    }
    if (entry.options != nullptr) {
      return value.error(fmt::format("a study has two verbs, {} and {}, expected one", name(entry.verb), key));
    }
    entry.verb = *verb;
    entry.options = &value;
  }
  if (entry.options == nullptr) {
    return node.error(fmt::format("a study has no verb, expected one of {}", join(names<CampaignVerb>(), ", ")));
  }
  if (entry.options->kind != Yaml::Kind::Map && entry.options->kind != Yaml::Kind::Null) {
    return entry.options->error(fmt::format("{} is no map of options, expected one", name(entry.verb)));
  }
  TW_TRY(entry.name, node.text("name", std::string(name(entry.verb))));
  entry.name = printable(entry.name);
  const Yaml* each = node.find("each");
  if (each == nullptr || each->kind == Yaml::Kind::Null) return entry;
  if (each->kind != Yaml::Kind::Map) return each->error("each is no map, expected options with lists of their values");
  for (const auto& [key, value] : each->fields) {
    TW_TRY(std::vector<Yaml> values, values_of(value, key));
    if (value.kind == Yaml::Kind::List) {
      TW_TRY([[maybe_unused]] const Done different, check_different(entry.verb, key, values));
    }
    entry.axes.push_back({key, std::move(values)});
  }
  return entry;
}

// A study of its own for every combination; the last axis turns fastest.
Result<Done> expand(const Entry& entry, CampaignPlan& plan) {
  std::size_t count = 1;
  for (const Axis& axis : entry.axes) {
    if (count > kMostStudies / axis.values.size())
      count = kMostStudies + 1;
    else
      count *= axis.values.size();
  }
  if (plan.studies.size() + count > kMostStudies) {
    return entry.node->error(fmt::format("the plan has more than {} studies, expected at most that", kMostStudies));
  }
  for (std::size_t index = 0; index < count; ++index) {
    StudyRequest request = request_of(entry.verb);
    const OptionTable table = options_of(request);
    PlannedStudy study{.entry = entry.name, .varied = {}, .verb = entry.verb, .where = entry.options->position()};
    std::set<std::string, std::less<>> given;
    for (const auto& [key, value] : entry.options->fields) {
      TW_TRY(const OptionField* field, option_named(table, value, key, entry.verb));
      TW_TRY([[maybe_unused]] const Json json, set(*field, value));
      if (!given.emplace(field->name).second)
        return value.error(fmt::format("{} is given twice, expected once", field->name));
    }
    std::size_t rest = index;
    std::vector<std::size_t> chosen(entry.axes.size());
    for (std::size_t a = entry.axes.size(); a-- > 0;) {
      chosen[a] = rest % entry.axes[a].values.size();
      rest /= entry.axes[a].values.size();
    }
    for (std::size_t a = 0; a < entry.axes.size(); ++a) {
      const Yaml& value = entry.axes[a].values[chosen[a]];
      TW_TRY(const OptionField* field, option_named(table, value, entry.axes[a].option, entry.verb));
      if (!given.emplace(field->name).second) {
        return value.error(
            fmt::format("{} is given under {} and under each, expected one of them", field->name, name(entry.verb)));
      }
      TW_TRY([[maybe_unused]] const Json json, set(*field, value));
      study.varied.emplace_back(plain_name(field->name), shown(value));
    }
    const Json all = to_json(table);
    for (const auto& [option, value] : all.items()) {
      if (given.contains(option)) study.arguments[option] = value;
    }
    plan.studies.push_back(std::move(study));
  }
  return Done{};
}

}  // namespace

StudyRequest request_of(CampaignVerb verb) {
  switch (verb) {
    case CampaignVerb::Map:
      return MapRequest{};
    case CampaignVerb::Compare:
      return CompareRequest{};
    case CampaignVerb::Codesign:
      return CodesignOptions{};
    case CampaignVerb::Train:
      return TrainOptions{};
    case CampaignVerb::Evaluate:
      return EvaluationOptions{};
  }
  return MapRequest{};
}

OptionTable options_of(StudyRequest& request) {
  OptionTable table = std::visit([](auto& one) { return options_of(one); }, request);
  if (auto* evaluation = std::get_if<EvaluationOptions>(&request)) table.push_back(batch_field(evaluation->batch));
  constexpr std::string_view kTheCampaigns[] = {"store", "resume", "counters", "checkpoint-every"};
  std::erase_if(table, [&](const OptionField& field) {
    return !field.traits.recorded || std::ranges::find(kTheCampaigns, field.name) != std::end(kTheCampaigns);
  });
  return table;
}

std::string title_of(const PlannedStudy& study) {
  std::vector<std::string> values;
  for (const auto& [option, value] : study.varied) values.push_back(value);
  return values.empty() ? study.entry : fmt::format("{}: {}", study.entry, join(values, ", "));
}

Result<StudyRequest> request_of(const PlannedStudy& study) {
  StudyRequest request = request_of(study.verb);
  TW_TRY([[maybe_unused]] const Done read, read_options(options_of(request), study.arguments, study.where));
  return request;
}

Result<CampaignPlan> campaign_plan_from(const std::string& text, const std::string& where) {
  TW_TRY(const Yaml root, parse_yaml_document(text, where, kPlanFormat));
  TW_TRY([[maybe_unused]] const Done known, root.only_keys({"format", "name", "points", "studies"}));
  CampaignPlan plan;
  TW_TRY(plan.name, root.text("name", std::string("campaign")));
  plan.name = printable(plan.name);
  if (const Yaml* points = root.find("points")) {
    TW_TRY(const Json kept, truth_of(*points, "points"));
    plan.points = kept.get<bool>();
  }
  TW_TRY(const std::vector<Yaml> studies, root.list("studies"));
  if (studies.empty()) return root.error("the plan has no studies, expected at least one");
  std::set<std::string> names;
  for (const Yaml& node : studies) {
    TW_TRY(const Entry entry, read_entry(node));
    if (!names.insert(entry.name).second) {
      return node.error(fmt::format("a study is called '{}', as another one is, expected a name of its own", entry.name));
    }
    TW_TRY([[maybe_unused]] const Done expanded, expand(entry, plan));
  }
  return plan;
}

}  // namespace tilewright
