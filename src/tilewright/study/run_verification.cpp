#include "tilewright/study/run_verification.hpp"

#include <fmt/format.h>

#include "tilewright/base/json_difference.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

template <typename Layer>
nlohmann::json layer_facts(const Layer& layer) {
  return {{"name", layer.name}, {"count", layer.count}, {"members", layer.members}};
}

void add_facts(const DesignJob& job, const StudyRecord& study, const std::vector<const LayerRecord*>& layers,
               const std::string& model, RunFacts& facts) {
  facts.asked["network"] = job.network_name;
  facts.found["network"] = study.network;
  facts.asked["objective"] = name_of(job.options.objective);
  facts.found["objective"] = name_of(study.objective);
  facts.asked["model"] = model_text(job.options.model, job.options);
  facts.found["model"] = model;
  for (const DesignProblem* problem : job.design_problems()) facts.asked["layers"].push_back(layer_facts(*problem));
  for (const LayerRecord* layer : layers) facts.found["layers"].push_back(layer_facts(*layer));
}

}  // namespace

void compare_with_run(const StudyRecord& study, const std::vector<const LayerRecord*>& layers, const std::string& model,
                      const std::filesystem::path& directory, const CompareKind& kind, Verdicts& verdicts) {
  std::error_code status;
  if (!std::filesystem::exists(directory / kRunFile, status)) return;
  const Result<MapRequest> request = read_map_run(directory);
  if (!request) {
    verdicts.faults.push_back(request.error().message);
    return;
  }
  const SearchOptions& search = request->search;
  RunFacts facts{{{"search", search.search}, {"samples", search.samples}, {"seed", search.seed}, {"from", search.from}},
                 {{"search", study.search}, {"samples", study.samples}, {"seed", study.seed}, {"from", study.from}}};
  ThreadPool threads(1);
  const Result<AnyJob> job = read_any_job(request->inputs, request->mapping, threads);
  if (!job) {
    verdicts.checked.push_back(fmt::format("the network could not be read again ({})", job.error().message));
    for (const std::string& fault : differences(facts.asked, facts.found)) {
      verdicts.faults.push_back("as run.json asked, " + fault);
    }
    return;
  }
  add_facts(common(*job), study, layers, model, facts);
  const std::vector<StoredAnswer> answers = kind(*job, facts, verdicts);
  compare_facts(facts.asked, facts.found, verdicts);
  compare_with_store(search.store.empty() ? directory / kStoreFile : std::filesystem::path(search.store), answers, verdicts);
}

}  // namespace tilewright
