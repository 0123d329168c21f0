#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/report/comparison.hpp"

namespace tilewright {
namespace {

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

}  // namespace

std::string compare_csv(const ComparisonStudy& result) {
  std::string text = "contender,budget,seed,layer,samples,valid,repeated,best,factor\n";
  for (const ComparisonRow& row : result.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_cell(result.contenders[row.contender].label),
                        result.budgets[row.budget], row.seed, csv_cell(result.layers[row.layer].name), row.samples,
                        row.valid, row.repeated, csv_number(row.value), csv_number(row.factor));
  }
  return text;
}

std::string layers_csv(const ComparisonStudy& result) {
  std::string text = "contender,budget,layer,runs,factor,low,high,best_known,target\n";
  for (const ComparedContender& contender : result.contenders) {
    for (std::size_t budget = 0; budget < contender.standings.size(); ++budget) {
      const Standing& standing = contender.standings[budget];
      for (std::size_t layer = 0; layer < standing.layers.size(); ++layer) {
        const ComparedLayer& compared = result.layers[layer];
        const Interval& factor = standing.layers[layer];
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{}\n", csv_cell(contender.label), result.budgets[budget], csv_cell(compared.name),
            standing.factors.size(), csv_number(factor.value), csv_number(factor.low), csv_number(factor.high),
            compared.best ? csv_number(compared.best->value) : "", compared.target ? csv_number(*compared.target) : "");
      }
    }
  }
  return text;
}

std::string curves_csv(const ComparisonStudy& result) {
  std::string text = "contender,samples,factor,low,high\n";
  for (const ComparedContender& contender : result.contenders) {
    for (std::size_t i = 0; i < contender.curve.size(); ++i) {
      const Interval& point = contender.curve[i];
      text += fmt::format("{},{},{},{},{}\n", csv_cell(contender.label), result.curve_samples[i], csv_number(point.value),
                          csv_number(point.low), csv_number(point.high));
    }
  }
  return text;
}

Result<Done> write_files(const ComparisonStudy& study, const std::filesystem::path& directory) {
  TW_TRY(const Done a, write_file(directory / "best.csv", best_csv(study.best)));
  TW_TRY(const Done b, write_file(directory / "compare.csv", compare_csv(study)));
  TW_TRY(const Done c, write_file(directory / "layers.csv", layers_csv(study)));
  TW_TRY(const Done d, write_file(directory / "curves.csv", curves_csv(study)));
  TW_TRY(const Done e, write_file(directory / "compare.json", to_json(study)));
  return write_file(directory / "report.html", to_html(study));
}

}  // namespace tilewright
