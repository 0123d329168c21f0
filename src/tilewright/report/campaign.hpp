// A campaign for people: as text, and as the page that is renewed while it runs.
#pragma once

#include <string>

#include "tilewright/study/campaign.hpp"

namespace tilewright {

std::string to_text(const CampaignForecast& forecast, const std::string& name);
std::string to_json(const CampaignForecast& forecast, const std::string& name);

// Standings, what is missing, and where the time went.
std::string to_text(const CampaignStatus& status);
// The same as a page; while it runs, browsers read it again every few seconds.
std::string to_html(const CampaignStatus& status);

// DIR/report.html.
Result<Done> write_files(const CampaignStatus& status, const std::filesystem::path& directory);

}  // namespace tilewright
