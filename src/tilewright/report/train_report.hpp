// A training run as one HTML page that opens from disk: no scripts, no network, light and dark.
#pragma once

#include <string>

#include "tilewright/study/train_summary.hpp"

namespace tilewright {

std::string report_as_html(const TrainSummary& summary);

}  // namespace tilewright
