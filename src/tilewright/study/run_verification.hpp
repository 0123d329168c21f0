// Whether the run.json beside a result of map asked for it, and whether the run's store has its answers, whatever the kind
// of machine.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tilewright/study/any_job.hpp"
#include "tilewright/study/mapping_record.hpp"
#include "tilewright/study/verification_parts.hpp"

namespace tilewright {

// What the run was asked, and what the result is of, as far as the two must agree.
struct RunFacts {
  nlohmann::json asked, found;
};
// Adds what the kind of machine knows besides, and gives the answers as the store would have them.
using CompareKind = std::function<std::vector<StoredAnswer>(const AnyJob& job, RunFacts& facts, Verdicts& verdicts)>;

// `model` is the one of the result. Without a run.json nothing is said.
void compare_with_run(const StudyRecord& study, const std::vector<const LayerRecord*>& layers, const std::string& model,
                      const std::filesystem::path& directory, const CompareKind& kind, Verdicts& verdicts);

}  // namespace tilewright
