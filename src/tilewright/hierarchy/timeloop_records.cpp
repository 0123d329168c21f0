#include "tilewright/hierarchy/timeloop_records.hpp"

#include <cmath>
#include <istream>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "tilewright/base/json_place.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/problem_json.hpp"

namespace tilewright::hierarchy {
namespace {

using Json = nlohmann::ordered_json;

Result<Block> block_of(const JsonPlace& place, const Problem& problem, bool spatial) {
  Block block;
  TW_TRY(const JsonPlace factors, place.member("factors"));
  if (!factors.json->is_object()) return factors.wrong("an object of factors by dimension");
  for (const auto& [name, value] : factors.json->items()) {
    const auto dim = name.size() == 1 ? problem.dim_named(name[0]) : std::nullopt;
    if (!dim) return factors.wrong("only the dimensions " + problem.dims);
    TW_TRY(const std::int64_t factor, JsonPlace({&value, factors.path + "." + name}).integer(1, kMostCount));
    block.factors[*dim] = factor;
  }
  TW_TRY(const JsonPlace permutation, place.member("permutation"));
  TW_TRY(const std::string letters, permutation.text());
  if (letters.size() != problem.dims.size()) return permutation.wrong("each of the dimensions " + problem.dims + " once");
  for (std::size_t at = 0; at < letters.size(); ++at) {
    const auto dim = problem.dim_named(letters[at]);
    if (!dim || letters.find(letters[at]) != at)
      return permutation.wrong("each of the dimensions " + problem.dims + " once");
    block.order[at] = *dim;
  }
  if (spatial) {
    if (const auto split = place.find("split")) {
      TW_TRY(const std::int64_t columns, split->integer(0, static_cast<std::int64_t>(problem.dims.size())));
      block.split = static_cast<std::uint8_t>(columns);
    }
  }
  return block;
}

Result<Mapping> mapping_of(const JsonPlace& place, const Problem& problem, const Machine& machine) {
  Mapping mapping;
  for (std::size_t index = 0; index < machine.levels.size(); ++index) mapping.levels.push_back({});
  const auto level_of = [&](const JsonPlace& name) -> Result<std::size_t> {
    TW_TRY(const std::string target, name.text());
    const auto index = machine.level_named(target);
    if (!index) return name.wrong("a level of the machine");
    return *index;
  };
  TW_TRY(const JsonPlace levels, place.member("levels"));
  TW_TRY(const std::vector<JsonPlace> blocks, levels.elements());
  for (const JsonPlace& given : blocks) {
    TW_TRY(const JsonPlace target, given.member("target"));
    TW_TRY(const std::size_t index, level_of(target));
    TW_TRY(const JsonPlace type, given.member("type"));
    TW_TRY(const std::string kind, type.text());
    if (kind != "temporal" && kind != "spatial") return type.wrong("temporal or spatial");
    TW_TRY(const Block block, block_of(given, problem, kind == "spatial"));
    (kind == "spatial" ? mapping.levels[index].spatial : mapping.levels[index].temporal) = block;
  }
  TW_TRY(const JsonPlace keep, place.member("keep"));
  if (!keep.json->is_object()) return keep.wrong("an object of tensors by level");
  for (LevelMapping& level : mapping.levels) level.keeps = 0;
  for (const auto& [name, value] : keep.json->items()) {
    const JsonPlace list{&value, keep.path + "." + name};
    const auto index = machine.level_named(name);
    if (!index) return list.wrong("a level of the machine by that name");
    TW_TRY(const std::vector<JsonPlace> tensors, list.elements());
    for (const JsonPlace& tensor : tensors) {
      TW_TRY(const std::string tensor_name, tensor.text());
      const auto number = problem.tensor_named(tensor_name);
      if (!number) return tensor.wrong("a tensor of the problem");
      mapping.levels[*index].keeps |= static_cast<TensorMask>(1u << *number);
    }
  }
  return check(std::move(mapping), problem, machine, Factors::Exact, place.path);
}

Json network_json(const Machine& machine, const Problem& problem, const Analysis& analysis, std::size_t index) {
  const LevelAnalysis& level = analysis.levels[index];
  Json json;
  json["name"] = machine.levels[index].name + " <==> " + (index == 0 ? machine.mac.name : machine.levels[index - 1].name);
  Json& tensors = json["ds"] = Json::object();
  for (std::size_t number = 0; number < problem.tensors.size(); ++number) {
    const NetworkCounts& network = level.networks[number];
    double reductions = 0, hops = 0;
    Json records = Json::array();
    for (const Record& record : network.records) {
      records.push_back({record.multicast, record.scatter, record.accesses});
      reductions += record.accesses * static_cast<double>(record.multicast - 1);
      hops += record.hops;
    }
    const double words = network.words();
    const bool output = problem.tensors[number].kind == TensorKind::Output;
    tensors[problem.tensors[number].name] = {{"fanout", level.fanout},
                                             {"ingresses", words},
                                             {"records", std::move(records)},
                                             {"link_transfers", std::llround(network.links)},
                                             {"spatial_reductions", output ? std::llround(reductions) : 0},
                                             {"avg_hops", words > 0 ? hops / words : 0.0}};
  }
  json["energy"] = level.network_energy.value;
  return json;
}

Json level_json(const Machine& machine, const Problem& problem, const Analysis& analysis, std::size_t index) {
  const LevelAnalysis& level = analysis.levels[index];
  Json json = {{"name", machine.levels[index].name},
               {"cycles", level.cycles},
               {"slowdown", level.slowdown},
               {"energy", level.energy.value}};
  Json& tensors = json["ds"] = Json::object();
  for (std::size_t number = 0; number < problem.tensors.size(); ++number) {
    const TensorCounts& counts = level.tensors[number];
    Json tensor = {
        {"keep", counts.kept ? 1 : 0}, {"reads", counts.reads}, {"fills", counts.fills}, {"updates", counts.updates}};
    if (counts.kept) {
      tensor["tile_size"] = counts.tile;
      tensor["partition_size"] = counts.partition;
      tensor["instances"] = static_cast<double>(level.instances);
      tensor["clusters"] = level.clusters;
      tensor["energy"] = counts.energy.value;
      tensor["temporal_reductions"] = problem.tensors[number].kind == TensorKind::Output ? counts.reads : 0;
    }
    tensors[problem.tensors[number].name] = std::move(tensor);
  }
  return json;
}

Json analysis_json(const Machine& machine, const Problem& problem, const Analysis& analysis) {
  Json json = {{"computes", analysis.computes},
               {"mac_energy", analysis.mac_energy.value},
               {"mac_cycles", analysis.compute_cycles},
               {"mac_instances", analysis.macs}};
  Json& levels = json["levels"] = Json::array();
  Json& networks = json["networks"] = Json::array();
  for (std::size_t index = 0; index < machine.levels.size(); ++index) {
    levels.push_back(level_json(machine, problem, analysis, index));
    networks.push_back(network_json(machine, problem, analysis, index));
  }
  json["cycles"] = analysis.cost.cycles.value;
  json["utilization"] = analysis.cost.utilization;
  json["energy"] = analysis.cost.energy.value;
  return json;
}

}  // namespace

struct RecordJudge::Workspace {
  Machines machines;
  std::string last_arch;
  std::optional<Evaluator> evaluator;  // of the last record, whose machine and problem often come again
};

RecordJudge::RecordJudge(Machines machines) : workspace_(std::make_unique<Workspace>()) {
  workspace_->machines = std::move(machines);
}
RecordJudge::~RecordJudge() = default;

Result<std::string> RecordJudge::judge(const std::string& line, const std::string& where) {
  TW_TRY(const nlohmann::json record, parse_json(line, where));
  const JsonPlace root = JsonPlace::root(record, where);
  TW_TRY(const JsonPlace id, root.member("id"));
  if (!id.json->is_string() && !id.json->is_number_integer()) return id.wrong("a text");
  TW_TRY(const JsonPlace arch, root.member("arch"));
  TW_TRY(const std::string arch_name, arch.text());
  const auto found = workspace_->machines.find(arch_name);
  if (found == workspace_->machines.end()) return arch.wrong("a machine of the given file");
  TW_TRY(const JsonPlace problem_place, root.member("problem"));
  TW_TRY(Problem problem, problem_at(problem_place));
  TW_TRY(const JsonPlace mapping_place, root.member("mapping"));
  TW_TRY(const Mapping mapping, mapping_of(mapping_place, problem, found->second));

  std::optional<Evaluator>& evaluator = workspace_->evaluator;
  if (!evaluator || workspace_->last_arch != arch_name || evaluator->problem() != problem) {
    evaluator.emplace(std::move(problem), found->second, EvaluateOptions{.detail = EvaluateOptions::Detail::All});
    workspace_->last_arch = arch_name;
  }
  const Evaluation evaluation = evaluator->evaluate(mapping);
  const Machine& machine = evaluator->machine();
  Json answer = {{"id", *id.json}};
  const auto* infeasible = std::get_if<Infeasible>(&evaluation);
  answer["valid"] = infeasible == nullptr;
  if (infeasible != nullptr) {
    answer["fail"] = {{"level", infeasible->level == kMacLevel ? "mac" : machine.levels[infeasible->level].name},
                      {"kind", name_of(infeasible->reason)},
                      {"message_numbers", {infeasible->need, infeasible->limit}}};
  } else {
    answer["out"] = analysis_json(machine, evaluator->problem(), evaluator->analysis());
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RecordCounts judge_records(std::istream& in, std::ostream& out, Machines machines, const std::string& where) {
  RecordJudge judge(std::move(machines));
  RecordCounts counts;
  std::int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (trim(line).empty()) continue;
    ++counts.records;
    const Result<std::string> answer = judge.judge(line, fmt::format("{}:{}", where, number));
    if (answer) {
      out << *answer << '\n';
      continue;
    }
    if (++counts.malformed == 1) counts.first_error = answer.error().message;
    out << Json({{"error", answer.error().message}}).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }
  return counts;
}

}  // namespace tilewright::hierarchy
