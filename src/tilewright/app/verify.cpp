#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/commands.hpp"
#include "tilewright/app/map_command.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/verdicts.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/space/mapping_outcome.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct Claim {
  Accelerator machine;
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
  bool gamma_rules = false;
  Objective objective;
};

Nest nest_from(const Json& json) {
  Nest nest;
  nest.kind = static_cast<NestKind>(json.at("kind").get<int>());
  nest.batched = json.at("batched");
  for (const char* part : {"size", "stride"}) {
    if (!json.contains(part)) continue;
    for (const auto& [name, value] : json.at(part).items()) {
      const auto dim = dim_named(name);
      if (!dim) continue;
      auto& numbers = std::string_view(part) == "size" ? nest.size : nest.stride;
      numbers[static_cast<std::size_t>(*dim)] = value.get<std::int32_t>();
    }
  }
  return nest;
}

// The first thing a layer claims that is not so, or nothing.
std::optional<std::string> fault_of(const Json& layer, const Claim& claim) {
  const Nest nest = nest_from(layer.at("nest"));
  const Result<Mapping> mapping = mapping_from_yaml(layer.at("mapping").get<std::string>(), "mapping");
  if (!mapping) return mapping.error().message;
  Accelerator machine = claim.machine;
  machine.pes = layer.at("pes").get<std::int64_t>();
  if (machine.pes > claim.machine.pes) {
    return fmt::format("uses {} processing elements, the machine has {}", machine.pes, claim.machine.pes);
  }
  const Evaluation evaluation = evaluate(*mapping, nest, machine, claim.model, claim.constraints);
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
    return fmt::format("is infeasible ({}): {}", name_of(infeasible->reason), to_sentence(*infeasible));
  }
  const Outcome outcome = outcome_of(evaluation, macs(nest), machine, claim.gamma_rules);
  if (!outcome.feasible) return fmt::format("breaks a limit: {}", name_of(static_cast<Infeasible::Reason>(outcome.reason)));
  const Metrics& found = outcome.metrics;
  const Json& metrics = layer.at("metrics");
  if (metrics.at("area") != (found.area ? Json(*found.area) : Json())) {
    return fmt::format("area is {}, the file says {}", found.area ? fmt::format("{:.17g}", *found.area) : "unknown",
                       metrics.at("area").dump());
  }
  for (const auto& [name, value] : {std::pair("latency", found.latency),
                                    {"energy", found.energy},
                                    {"edp", found.edp()},
                                    {"power", found.power},
                                    {"macs", found.macs},
                                    {"l1", found.l1},
                                    {"l2", found.l2},
                                    {"pes", found.pes}}) {
    const double claimed = metrics.at(name).get<double>();
    if (claimed == value) continue;
    return fmt::format("{} is {:.17g}, the file says {:.17g}", name, value, claimed);
  }
  const Score score = score_of(claim.objective, found);
  if (layer.at("score").get<std::vector<double>>() != std::vector<double>(score.begin(), score.end())) {
    return fmt::format("the objective is {:.17g}, the file says {}", score[0], layer.at("score").dump());
  }
  if (const auto limit = broken_limit(claim.objective.limits, found)) return fmt::format("breaks the limit on {}", *limit);
  return std::nullopt;
}

Result<Claim> read_claim(const Json& json, const std::string& where) {
  Claim claim;
  TW_TRY(claim.machine, accelerator_from_yaml(json.at("machine").get<std::string>(), where + " (machine)"));
  TW_TRY(claim.model, model_named(json.at("model").get<std::string>()));
  claim.constraints = static_cast<Constraints>(json.at("constraints").get<int>());
  claim.gamma_rules = json.at("gamma_rules");
  TW_TRY(claim.objective, objective_named(json.at("objective").get<std::string>()));
  const Json& limits = json.at("limits");
  const auto limit = [&](const char* name) {
    return limits.contains(name) ? std::optional<double>(limits.at(name).get<double>()) : std::nullopt;
  };
  claim.objective.limits = {limit("latency"), limit("energy"), limit("area"), limit("power")};
  return claim;
}

// A result of map has everything that its numbers follow from.
Result<Verdicts> verify_map(const std::string& text, const std::string& where) {
  Verdicts verdicts;
  try {
    const Json json = Json::parse(text);
    TW_TRY(const Claim claim, read_claim(json, where));
    double latency = 0, energy = 0, macs = 0;
    for (const Json& layer : json.at("layers")) {
      ++verdicts.layers;
      if (layer.at("status") != "ok") {
        ++verdicts.without;
        continue;
      }
      const auto name = layer.at("name").get<std::string>();
      if (const auto fault = fault_of(layer, claim)) verdicts.faults.push_back(fmt::format("layer {}: {}", name, *fault));
      const auto count = static_cast<double>(layer.at("count").get<std::int64_t>());
      latency += count * layer.at("metrics").at("latency").get<double>();
      energy += count * layer.at("metrics").at("energy").get<double>();
      macs += count * layer.at("metrics").at("macs").get<double>();
    }
    for (const auto& [name, value] : {std::pair("latency", latency), {"energy", energy}, {"macs", macs}}) {
      const double claimed = json.at("totals").at(name).get<double>();
      if (claimed != value) {
        verdicts.faults.push_back(fmt::format("total {} is {:.17g}, the file says {:.17g}", name, value, claimed));
      }
    }
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("{}: is no result of map ({})", where, failure.what()));
  }
  return verdicts;
}

Result<Verdicts> verify(const std::string& text, const std::filesystem::path& path) {
  const Json json = Json::parse(text, nullptr, false);
  const Json format = json.is_object() ? json.value("format", Json()) : Json();
  if (format == "tilewright-map-1") return verify_map(text, path.string());
  if (format == "tilewright-codesign-1") return verify_codesign(text, path);
  return invalid(fmt::format(
      "{}: is no result of map or codesign, expected format tilewright-map-1 or tilewright-codesign-1", path.string()));
}

}  // namespace

int run_verify(const VerifyArguments& arguments) {
  if (arguments.result.empty())
    return report(invalid("the result is missing, expected a result.json or the directory of a run"));
  std::filesystem::path path = arguments.result;
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) path /= "result.json";
  const Result<std::string> text = read_file(path);
  if (!text) return report(text.error());
  const Result<Verdicts> verdicts = verify(*text, path);
  if (!verdicts) return report(verdicts.error());
  const bool equal = verdicts->faults.empty();
  if (arguments.json) {
    const Json json{{"equal", equal}, {"layers", verdicts->layers}, {"faults", verdicts->faults}};
    print(fmt::format("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace)));
  } else {
    for (const std::string& fault : verdicts->faults) print(fmt::format("{}: {}\n", path.string(), printable(fault)));
    if (equal) {
      print(fmt::format("{}: {} of {} layers evaluated again, every number equal\n", path.string(),
                        verdicts->layers - verdicts->without, verdicts->layers));
    }
  }
  return equal ? kExitDone : kExitDiffers;
}

}  // namespace tilewright
