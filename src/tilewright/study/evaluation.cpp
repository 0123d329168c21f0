#include "tilewright/study/evaluation.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tilewright/cost/columns.hpp"
#include "tilewright/study/network_json.hpp"
#include "tilewright/study/roofline.hpp"

namespace tilewright {
namespace {

nlohmann::ordered_json cost_json(const EvaluationStudy& study, const EvaluatedLayer& result) {
  const Cost& cost = *result.cost;
  nlohmann::ordered_json json;
  const Row row = row_of(cost, result.layer.nest, study.accelerator, study.model);
  for (std::size_t i = 0; i < kColumnCount; ++i) {
    const ColumnValue& value = row[i];
    std::string text;
    append_json(text, value);
    json[std::string(columns()[i].key)] = nlohmann::ordered_json::parse(text);
  }
  json["leaf_macs"] = cost.leaf_macs.value;
  if (!is_maestro(study.model)) json["idle_macs"] = cost.idle_macs.value;
  json["milliseconds"] = milliseconds(cost, study.accelerator);
  json["utilisation"] = utilisation(cost, study.accelerator);
  json["edp_nj_cycles"] = cost.energy_delay();
  if (!is_maestro(study.model)) {
    json["energy_mac_nj"] = cost.energy_parts.mac.value / 1000;
    json["energy_l1_nj"] = cost.energy_parts.l1.value / 1000;
    json["energy_l2_nj"] = cost.energy_parts.l2.value / 1000;
    if (cost.area) {
      json["area_pe_um2"] = cost.area_parts.pe.value;
      json["area_l1_um2"] = cost.area_parts.l1.value;
      json["area_l2_um2"] = cost.area_parts.l2.value;
    }
    json["leakage_mw"] = cost.power_parts.leakage.value;
    json["violation"] = cost.violation;
  }
  const Roofline roof = roofline(cost, study.accelerator);
  json["roofline"] = {{"bound", roof.bound},
                      {"achieved", roof.achieved},
                      {"compute_roof", roof.compute_roof},
                      {"noc_roof", roof.noc_roof},
                      {"offchip_roof", roof.offchip_roof}};
  return json;
}

}  // namespace

double milliseconds(const Cost& cost, const Accelerator& accelerator) {
  return static_cast<double>(cost.runtime.value) / (accelerator.clock_ghz * 1e6);
}

double utilisation(const Cost& cost, const Accelerator& accelerator) {
  return static_cast<double>(cost.macs.value) / static_cast<double>(cost.runtime.value) /
         static_cast<double>(accelerator.pes * accelerator.simd_lanes);
}

EvaluationStudy evaluate(const EvaluationJob& job) {
  EvaluationStudy study{job.network, job.accelerator, job.model, job.coverage, {}};
  study.layers.reserve(job.layers.size());  // `previous` points into it
  const Cost* previous = nullptr;
  for (const LayerJob& layer : job.layers) {
    EvaluatedLayer& result = study.layers.emplace_back(EvaluatedLayer{layer, std::nullopt, "", std::nullopt});
    if (!layer.mapping) {
      result.failure = layer.mapping.error().message;
    } else {
      Evaluator evaluator(layer.nest, job.accelerator, {job.model, job.constraints, EvaluateOptions::Columns::All});
      const Evaluation evaluation = evaluator.evaluate(*layer.mapping, previous);
      if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
        result.infeasible = *infeasible;
        result.failure = to_sentence(*infeasible);
      } else {
        result.cost = std::get<Cost>(evaluation);
      }
    }
    previous = result.cost ? &*result.cost : nullptr;
  }
  return study;
}

bool is_feasible(const EvaluationStudy& study) {
  return std::ranges::all_of(study.layers, [](const EvaluatedLayer& layer) { return layer.cost.has_value(); });
}

std::string to_json(const EvaluationStudy& study) {
  nlohmann::ordered_json json;
  json["version"] = TILEWRIGHT_VERSION;
  json["network"] = study.network;
  json["hardware"] = study.accelerator.name;
  json["model"] = name_of(study.model);
  json["coverage"] = to_json(study.coverage);
  json["layers"] = nlohmann::ordered_json::array();
  for (const EvaluatedLayer& result : study.layers) {
    nlohmann::ordered_json entry;
    entry["name"] = result.layer.name;
    entry["count"] = result.layer.count;
    if (result.layer.layer) {
      add_layer(entry, *result.layer.layer, result.layer.members);
    } else {
      entry["members"] = result.layer.members;
    }
    if (result.cost) {
      entry["status"] = "ok";
      entry["cost"] = cost_json(study, result);
    } else {
      entry["status"] = "error";
      entry["reason"] = result.infeasible ? name_of(result.infeasible->reason) : "no-mapping";
      entry["msg"] = result.failure;
    }
    if (result.layer.mapping) entry["mapping"] = to_maestro(*result.layer.mapping);
    json["layers"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

}  // namespace tilewright
