#include "tilewright/study/level_cases.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/json_place.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/problem_json.hpp"
#include "tilewright/study/hierarchy_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMostLineBytes = std::size_t{64} << 20;

// A misspelt key never turns into a default.
Result<Done> only_keys(const JsonPlace& place, std::initializer_list<std::string_view> known) {
  if (!place.json->is_object()) return place.wrong("an object");
  const std::vector<std::string> names(known.begin(), known.end());
  const bool root = place.path.ends_with(": ");
  for (const auto& [key, value] : place.json->items()) {
    if (std::ranges::find(names, key) != names.end()) continue;
    std::string hint = did_you_mean(key, names);
    if (hint.empty()) hint = fmt::format(", expected one of {}", join(names, ", "));
    return invalid(fmt::format("{}'{}' is not a key of it{}", root ? place.path : place.path + ": ", printable(key), hint));
  }
  return Done{};
}

// JSON is YAML: the readers of files read it, once they are told the format.
std::string as_file(std::string_view format, const nlohmann::json& json) {
  nlohmann::json whole = json.is_array() ? nlohmann::json{{"levels", json}} : json;
  whole.emplace("format", format);
  return whole.dump();
}

struct CaseError {
  Error error;
  std::string reason = "malformed";
  std::optional<hierarchy::Infeasible> misfit = {};
};

}  // namespace

struct LevelCases::Workspace {
  hierarchy::Judge judge;
  // Of the case before, which often come again.
  nlohmann::json hw, problem;
  std::optional<hierarchy::Machine> machine;
  std::optional<hierarchy::Evaluator> evaluator;

  Result<Done> set_machine(const JsonPlace& place);
  Result<Done> set_problem(const JsonPlace& place);
  std::optional<CaseError> add_layer(const JsonPlace& place, Json& costs);
  std::optional<CaseError> answer(const JsonPlace& root, Json& costs);
};

Result<Done> LevelCases::Workspace::set_machine(const JsonPlace& place) {
  if (machine && hw == *place.json) return Done{};
  machine.reset();
  evaluator.reset();
  if (!place.json->is_string() && !place.json->is_object()) return place.wrong("the source of a machine, or an object");
  if (place.json->is_string()) {
    TW_TRY(machine, hierarchy::read_machine(place.json->get<std::string>()));
  } else {
    TW_TRY(machine, hierarchy::machine_from_yaml(as_file("tilewright-accelerator-2", *place.json), "hw"));
  }
  hw = *place.json;
  return Done{};
}

Result<Done> LevelCases::Workspace::set_problem(const JsonPlace& place) {
  if (evaluator && problem == *place.json) return Done{};
  evaluator.reset();
  TW_TRY([[maybe_unused]] const Done known, only_keys(place, {"shape", "dims", "coefficients"}));
  TW_TRY(hierarchy::Problem loops, hierarchy::problem_at(place));
  if (const auto refused = hierarchy::refusal(judge, loops)) return invalid(*refused);
  evaluator.emplace(std::move(loops), *machine,
                    hierarchy::EvaluateOptions{.judge = judge, .detail = hierarchy::EvaluateOptions::Detail::All});
  problem = *place.json;
  return Done{};
}

std::optional<CaseError> LevelCases::Workspace::add_layer(const JsonPlace& place, Json& costs) {
  const auto read = [&]() -> Result<hierarchy::Mapping> {
    TW_TRY([[maybe_unused]] const Done known, only_keys(place, {"name", "problem", "mapping"}));
    TW_TRY(const JsonPlace loops, place.member("problem"));
    TW_TRY([[maybe_unused]] const Done set, set_problem(loops));
    TW_TRY(const JsonPlace given, place.member("mapping"));
    if (!given.json->is_array() && !given.json->is_object()) return given.wrong("the levels of a mapping");
    TW_TRY(hierarchy::Mapping mapping, hierarchy::mapping_from_yaml(as_file("tilewright-mapping-2", *given.json), given.path,
                                                                    evaluator->problem(), *machine));
    if (judge == hierarchy::Judge::Hierarchy) return mapping;
    return check(std::move(mapping), evaluator->problem(), *machine, hierarchy::Factors::Exact, given.path);
  };
  const Result<hierarchy::Mapping> mapping = read();
  if (!mapping) return CaseError{mapping.error()};
  const hierarchy::Evaluation evaluation = evaluator->evaluate(*mapping);
  if (const auto* misfit = std::get_if<hierarchy::Infeasible>(&evaluation)) {
    return CaseError{invalid(to_sentence(*misfit, *machine)), std::string(name_of(misfit->reason)), *misfit};
  }
  hierarchy::Analysis analysis = evaluator->analysis();
  analysis.cost = std::get<hierarchy::Cost>(evaluation);
  costs.push_back(cost_json(analysis, evaluator->problem(), *machine));
  return std::nullopt;
}

std::optional<CaseError> LevelCases::Workspace::answer(const JsonPlace& root, Json& costs) {
  const auto read = [&]() -> Result<std::vector<JsonPlace>> {
    // The answers of a recorded case may stand beside it, so that a record can be asked again.
    TW_TRY([[maybe_unused]] const Done known,
           only_keys(root, {"id", "hw", "layers", "status", "model", "out", "reason", "level", "need", "limit", "msg"}));
    TW_TRY(const JsonPlace given, root.member("hw"));
    TW_TRY([[maybe_unused]] const Done set, set_machine(given));
    TW_TRY(const JsonPlace layers, root.member("layers"));
    TW_TRY(std::vector<JsonPlace> listed, layers.elements());
    if (listed.empty()) return layers.wrong("at least one");
    return listed;
  };
  const Result<std::vector<JsonPlace>> layers = read();
  if (!layers) return CaseError{layers.error()};
  for (const JsonPlace& layer : *layers) {
    std::optional<CaseError> error = add_layer(layer, costs);
    if (!error) continue;
    if (layers->size() > 1 && error->misfit) error->error.message = fmt::format("{}: {}", layer.path, error->error.message);
    return error;
  }
  return std::nullopt;
}

LevelCases::LevelCases(hierarchy::Judge judge) : workspace_(std::make_unique<Workspace>()) { workspace_->judge = judge; }
LevelCases::~LevelCases() = default;

bool LevelCases::has_levels(std::string_view line) {
  // Cases of other machines have neither key, so that they are not parsed twice.
  if (line.size() > kMostLineBytes) return false;
  if (line.find("\"mapping\"") == std::string_view::npos && line.find("\"levels\"") == std::string_view::npos) return false;
  const Result<nlohmann::json> json = parse_json(std::string(line), "case");
  if (!json || !json->is_object()) return false;
  const auto hw = json->find("hw");
  if (hw != json->end() && (hw->is_string() || (hw->is_object() && hw->contains("levels")))) return true;
  const auto layers = json->find("layers");
  return layers != json->end() && layers->is_array() &&
         std::ranges::any_of(*layers, [](const nlohmann::json& layer) { return layer.contains("mapping"); });
}

void LevelCases::answer(std::string_view line, std::string& out) {
  Json answer = Json::object(), costs = Json::array();
  std::optional<CaseError> error;
  const Result<nlohmann::json> parsed = parse_json(std::string(line), "case");
  if (!parsed) {
    error = CaseError{parsed.error()};
  } else {
    if (parsed->is_object() && parsed->contains("id")) answer["id"] = parsed->at("id");
    error = workspace_->answer(JsonPlace::root(*parsed, "case"), costs);
  }
  if (error) {
    answer["status"] = "error";
    answer["reason"] = error->reason;
    if (error->misfit) answer.update(misfit_json(*error->misfit, *workspace_->machine));
    answer["msg"] = error->error.message;
  } else {
    answer["status"] = "ok";
    answer["model"] = name(workspace_->judge);
    answer["out"] = std::move(costs);
  }
  out += answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

BatchCounts evaluate_cases(std::istream& in, std::ostream& out, const BatchOptions& options, const LevelOptions& levels,
                           std::size_t threads, const std::function<void(const BatchCounts&)>& progress) {
  const auto make = [&]() -> LineEvaluator {
    const auto leveled = std::make_shared<LevelCases>(levels.judge.value_or(hierarchy::Judge::Hierarchy));
    const auto others = std::make_shared<BatchEvaluator>(options);
    return [leveled, others, only_levels = levels.judge.has_value()](std::string_view line, std::string& answer) {
      if (only_levels || LevelCases::has_levels(line)) {
        leveled->answer(line, answer);
      } else {
        others->evaluate_line(line, answer);
      }
    };
  };
  return evaluate_lines(in, out, make, threads, progress);
}

}  // namespace tilewright
