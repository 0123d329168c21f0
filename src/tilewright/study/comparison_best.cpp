#include "tilewright/study/comparison_best.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kHead = "problem,objective,layer,value,searcher,seed,budget,sample,design";
constexpr std::size_t kFields = 9;

template <typename Number>
bool parse(const std::string& text, Number& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string best_csv(const std::vector<KnownBest>& best) {
  std::string text = fmt::format("{}\n", kHead);
  for (const KnownBest& entry : best) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{}\n", entry.problem, csv_cell(entry.objective), csv_cell(entry.layer),
                    entry.value, csv_cell(entry.searcher), entry.seed, entry.budget, entry.sample, csv_cell(entry.design));
  }
  return text;
}

Result<std::vector<KnownBest>> read_best_csv(const std::string& text, const std::string& where) {
  std::vector<KnownBest> best;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (number == 1) {
      if (line != kHead) {
        return invalid(
            fmt::format("{}:1: the first line is '{}', expected '{}'", where, printable(line.substr(0, 80)), kHead));
      }
      continue;
    }
    if (line.empty()) continue;
    const auto fields = csv_names(line);
    if (!fields || fields->size() != kFields) {
      return invalid(fmt::format("{}:{}: {}, expected {} fields", where, number,
                                 fields ? fmt::format("has {} fields", fields->size()) : "a quote is left open", kFields));
    }
    const std::vector<std::string>& f = *fields;
    KnownBest entry{f[0], f[1], f[2], 0, f[4], 0, 0, 0, f[8]};
    if (!parse(f[3], entry.value) || !std::isfinite(entry.value) || entry.value <= 0) {
      return invalid(fmt::format("{}:{}: value is '{}', expected a number above 0", where, number, printable(f[3])));
    }
    if (!parse(f[5], entry.seed) || !parse(f[6], entry.budget) || !parse(f[7], entry.sample)) {
      return invalid(fmt::format("{}:{}: seed, budget and sample are '{}', '{}' and '{}', expected whole numbers", where,
                                 number, printable(f[5]), printable(f[6]), printable(f[7])));
    }
    best.push_back(std::move(entry));
  }
  if (number < 2) return invalid(fmt::format("{}: is empty, expected '{}'", where, kHead));
  return best;
}

Result<std::vector<KnownBest>> read_best_file(const std::filesystem::path& path) {
  std::error_code status;
  if (!std::filesystem::exists(path, status)) return std::vector<KnownBest>{};
  TW_TRY(const std::string text, read_file(path));
  return read_best_csv(text, path.string());
}

void keep_better(std::vector<KnownBest>& best, const KnownBest& entry) {
  const auto same = std::ranges::find_if(
      best, [&](const KnownBest& other) { return other.problem == entry.problem && other.objective == entry.objective; });
  if (same == best.end()) {
    best.push_back(entry);
  } else if (entry.value < same->value) {
    *same = entry;
  }
}

const KnownBest* find_best(const std::vector<KnownBest>& best, const std::string& problem, const std::string& objective) {
  for (const KnownBest& entry : best) {
    if (entry.problem == problem && entry.objective == objective) return &entry;
  }
  return nullptr;
}

}  // namespace tilewright
