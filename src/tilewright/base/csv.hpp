// Cells of CSV files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// A name as a cell: in quotes where it needs them, its line ends as spaces. One that a spreadsheet would take for a formula
// (it begins with = + - @ or a tab) gets a ' in front, which spreadsheets do not show. Numbers need none of this.
std::string csv_cell(std::string_view name);

// The names in a line of such cells; nothing when a quote is left open.
std::optional<std::vector<std::string>> csv_names(std::string_view line);

}  // namespace tilewright
