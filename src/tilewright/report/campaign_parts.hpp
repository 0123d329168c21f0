// Between the text and the page of a campaign.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tilewright/study/campaign.hpp"

namespace tilewright {

std::string number_text(const nlohmann::ordered_json& value);  // "–" for what is none
// Of the comparisons that are done, with their names.
std::vector<nlohmann::ordered_json> comparison_summaries(const CampaignStatus& status);

}  // namespace tilewright
