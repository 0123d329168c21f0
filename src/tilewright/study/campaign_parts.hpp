// Between the files of a campaign.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/study/any_job.hpp"
#include "tilewright/study/campaign.hpp"
#include "tilewright/study/comparison_record.hpp"

namespace tilewright {

// A comparison ready to run any of its parts.
struct OpenComparison {
  AnyJob job;
  std::optional<ComparisonPlan> plan;  // of the job
  ComparisonRuns runs;
  nlohmann::ordered_json facts;
};
Result<std::unique_ptr<OpenComparison>> open_comparison(const CompareRequest& request);

// What a task depends on: one that is a whole study, and a part of a comparison.
nlohmann::ordered_json plain_asked(const PlannedStudy& study, bool points);
nlohmann::ordered_json comparison_asked(const OpenComparison& comparison, std::size_t part);

// Whether a task leaves points behind besides its document.
bool has_points(const Campaign& campaign, const CampaignTask& task);
// What a task has found, where it is there with everything that belongs to it.
std::optional<FinishedWork> finished(const Campaign& campaign, std::size_t task);

// Does a task and keeps nothing: for those who measure. False when it was stopped.
Result<bool> try_task(const Campaign& campaign, std::size_t task, RunContext& context);

// Whole or not at all, also after a power cut.
Result<Done> copy_whole(const std::filesystem::path& source, const std::filesystem::path& target);

// A checksum of the keys of a study's tasks; and what result.json says of studies with such keys.
std::string keys_of(const Campaign& campaign, std::size_t study);
std::map<std::string, nlohmann::ordered_json> earlier_studies(const Campaign& campaign);

// The document of a study whose tasks are all done, as its verb writes it, and what a table says of it.
Result<std::string> document_of(const Campaign& campaign, std::size_t study);
nlohmann::ordered_json summary_of(const PlannedStudy& study, const nlohmann::ordered_json& document);

}  // namespace tilewright
