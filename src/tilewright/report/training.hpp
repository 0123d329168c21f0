// A training as people read it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/study/train_world.hpp"
#include "tilewright/study/training.hpp"

namespace tilewright {

std::string to_text(const TrainingStudy& study);
// One page that opens from disk: no scripts, no network, light and dark.
std::string to_html(const TrainingStudy& study);
std::string to_text(const std::vector<TrainChoices>& choices);

// All but what the study itself has written: checkpoints, curves and the policy.
Result<Done> write_files(const TrainingStudy& study, const std::filesystem::path& directory);

}  // namespace tilewright
