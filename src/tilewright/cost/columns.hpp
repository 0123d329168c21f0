// A cost as the columns MAESTRO writes: the 52 of its CSV file and the six buffer needs of its printed report.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {

struct Column {
  std::string_view key;     // "runtime": the key in JSON results
  std::string_view header;  // as in the CSV's first line; empty for the six needs, which the CSV does not have
};
inline constexpr std::size_t kColumnCount = 56;  // without the two names that start a CSV row
const std::array<Column, kColumnCount>& columns();

// A number as MAESTRO prints it: integers in full, reals with six significant digits.
struct ColumnValue {
  enum class Kind : std::uint8_t { Integer, Real, LongReal, Unknown };
  Kind kind = Kind::Integer;
  std::int64_t integer = 0;
  double real = 0;
  long double long_real = 0;
};
using Row = std::array<ColumnValue, kColumnCount>;

// `cost` must have been evaluated with all columns.
Row row_of(const Cost& cost, const Nest& nest, const Accelerator& accelerator, Model model);

// Appends the number's text, nothing for an unknown one. In JSON, "nan", "-nan" and "inf" are strings, unknown is null.
void append_text(std::string& out, const ColumnValue& value);
void append_json(std::string& out, const ColumnValue& value);

// The CSV's first line and one line of it, without line ends, as MAESTRO writes them.
std::string csv_header();
std::string csv_row(const std::string& network, const std::string& layer, const Row& row);

}  // namespace tilewright
