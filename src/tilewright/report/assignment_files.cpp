#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/report/assignment.hpp"

namespace tilewright {

std::string correlation_csv(const AssignmentStudy& result) {
  const CorrelationMatrix& matrix = result.found.matrix;
  std::string text = "parameter,agent";
  for (const std::string& name : matrix.names) text += "," + csv_cell(name);
  text += "\n";
  for (std::size_t a = 0; a < matrix.names.size(); ++a) {
    text += fmt::format("{},{}", csv_cell(matrix.names[a]), result.found.clusters[a] + 1);
    for (std::size_t b = 0; b < matrix.names.size(); ++b) text += fmt::format(",{}", matrix(a, b));
    text += "\n";
  }
  return text;
}

std::string stability_csv(const AssignmentStudy& result) {
  std::string text = "changed,to,mean,low,high,n,agents\n";
  for (const StabilityRow& row : result.stability) {
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_cell(row.varied), csv_cell(row.to), row.mean, row.low, row.high,
                        row.count, row.agents);
  }
  return text;
}

Result<Done> write_files(const AssignmentStudy& result, const std::filesystem::path& directory) {
  TW_TRY([[maybe_unused]] const Done a, write_file(directory / "assignment.yaml", to_yaml(result.found.assignment)));
  TW_TRY([[maybe_unused]] const Done b, write_file(directory / "correlation.csv", correlation_csv(result)));
  std::error_code ignored;
  std::filesystem::remove(directory / "stability.csv", ignored);  // of an earlier run that asked for it
  if (!result.stability.empty()) {
    TW_TRY([[maybe_unused]] const Done c, write_file(directory / "stability.csv", stability_csv(result)));
  }
  TW_TRY([[maybe_unused]] const Done d, write_file(directory / "agents.json", to_json(result)));
  return write_file(directory / "report.html", to_html(result));
}

}  // namespace tilewright
