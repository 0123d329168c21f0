// What a run directory of `compile` has beside programs, where there were images: the steps as CSV, and a page.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/compilation.hpp"
#include "tilewright/report/page.hpp"

namespace tilewright {
namespace {

constexpr double kBestRatio = 60;  // decibels that fill a bar: ten bits

std::string ratio_text(double decibels) { return std::isfinite(decibels) ? fmt::format("{:.2f}", decibels) : ""; }

std::string place_of(const CompilationStudy& study, std::size_t step) {
  return step == 0 ? "input" : study.plan.steps[step].schedule ? "machine" : "host";
}

std::string steps_table(const CompilationStudy& study) {
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t index : worst_steps(study)) {
    const QuantisedStep& step = study.network.steps[index];
    const double ratio = study.accuracy->noise_ratio[index];
    rows.push_back({html_escaped(printable(step.name)), std::string(name_of(step.kind)), place_of(study, index),
                    ratio_text(ratio), bar(std::isfinite(ratio) ? ratio / kBestRatio : 1, 0)});
  }
  return table({{"step", false}, {"kind", false}, {"on", false}, {"signal over noise, dB"}, {"", false}}, rows);
}

}  // namespace

std::string accuracy_csv(const CompilationStudy& study) {
  std::string text = "step,name,kind,on,snr_db\n";
  for (std::size_t index = 0; study.accuracy && index < study.network.steps.size(); ++index) {
    const QuantisedStep& step = study.network.steps[index];
    text += fmt::format("{},{},{},{},{}\n", index, csv_cell(step.name), name_of(step.kind), place_of(study, index),
                        ratio_text(study.accuracy->noise_ratio[index]));
  }
  return text;
}

std::string accuracy_page(const CompilationStudy& study) {
  const Accuracy& known = *study.accuracy;
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  std::vector<Figure> shown;
  if (known.correct) {
    shown.push_back({percent(*known.correct), "right in integers", fmt::format("{} images", with_thousands(known.images))});
    shown.push_back({percent(*known.real_correct), "right in real numbers", "the same images"});
  }
  shown.push_back({percent(known.agreement), "the same best class", "integers and real numbers"});
  shown.push_back({fmt::format("{:.5f}", known.correlation), "correlation", "of all results"});
  const std::string name = printable(study.network.name);
  std::string body = fmt::format("<h1>{}: how good its integers are</h1>\n", html_escaped(name)) + figures(shown);
  if (study.calibration.by == "noise") body += note("The scales were chosen with noise, not with data.");
  const Calibrated& by = study.calibration;
  body += properties({{"scales", by.calibrated_on > 0 ? fmt::format("{} images, {}", by.calibrated_on, by.by) : by.by},
                      {"input", fmt::format("real numbers from {} to {}{}", by.input.low, by.input.high,
                                            by.range_is_assumed ? ", assumed" : "")},
                      {"programs", verification_line(study)}});
  return page(name + " in integers", body + "<h2>Steps, the worst first</h2>\n" + steps_table(study));
}

Result<Done> write_files(const CompilationStudy& study, const std::filesystem::path& folder) {
  if (!study.accuracy) return Done{};
  TW_TRY([[maybe_unused]] const Done rows, write_file(folder / "accuracy.csv", accuracy_csv(study)));
  return write_file(folder / "accuracy.html", accuracy_page(study));
}

}  // namespace tilewright
