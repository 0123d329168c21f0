// A comparison as people and tables take it.
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/study/comparison.hpp"

namespace tilewright {

std::string to_text(const ComparisonStudy& study);
std::string to_html(const ComparisonStudy& study);
std::string compare_csv(const ComparisonStudy& study);  // per contender, budget, seed and layer
std::string layers_csv(const ComparisonStudy& study);   // medians per contender, budget and layer
std::string curves_csv(const ComparisonStudy& study);

// compare.json, compare.csv, layers.csv, curves.csv, best.csv, report.html.
Result<Done> write_files(const ComparisonStudy& study, const std::filesystem::path& directory);

// Medians as tables have them: "1.034", "∞".
std::string factor_text(double factor);
std::string samples_text(double samples);  // "1,250", "not reached"
std::string share_text(double share);      // "0.4 %"

}  // namespace tilewright
