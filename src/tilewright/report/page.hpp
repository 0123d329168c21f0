// What all reports share: one HTML page that opens from disk, without scripts or network, light and dark, and its parts.
//
// Plots take their colours from the page's CSS variables --ink, --muted, --grid, --card and --c0 … --c11.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

inline constexpr std::size_t kColourCount = 12;
inline constexpr std::size_t kGrey = 7;  // the colour for everything else

std::string html_escaped(std::string_view text);

// The whole document around `body`, which is HTML.
std::string page(std::string_view title, std::string_view body);

// Tiles with a large number each: the answer on the first screen. Plain text.
struct Figure {
  std::string value, name, detail;
};
std::string figures(const std::vector<Figure>& figures);

// A sentence that must not be missed. Plain text.
std::string note(std::string_view text);

// A table that scrolls sideways where the screen is narrow.
struct TableColumn {
  std::string name;     // plain text
  bool number = true;   // aligned to the right
  std::string title{};  // shown on hovering
};
// Cells are HTML; each row has one per column.
std::string table(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows);

// Names and values in two columns of tables. Plain text.
std::string properties(const std::vector<std::pair<std::string, std::string>>& properties);

// A bar of `share` (0 … 1) of its table cell.
std::string bar(double share, std::size_t colour);

// A square of a plot's colour, as legends have it.
std::string chip(std::size_t colour);

// Four significant digits, without an exponent.
std::string short_number(double value);
// Digits after the point by size only, so that numbers of a column line up: 0.950, 1.000, 12.30, 1,234.
std::string even_number(double value);
// As short_number, with k, M, G, … from 10,000 on.
std::string prefixed_number(double value);

}  // namespace tilewright
