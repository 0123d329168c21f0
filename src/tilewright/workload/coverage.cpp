#include "tilewright/workload/coverage.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kMostNames = 6;  // in a sentence; the lists in files have all

double left_out_macs(const Coverage& coverage) {
  double sum = 0;
  for (const OtherOperator& other : coverage.left_out) sum += static_cast<double>(other.macs.value_or(0));
  return sum;
}

// Never rounded to the whole or to nothing when it is neither.
std::string percent(double share) {
  if (share >= 1) return "100 %";
  if (share > 0 && share < 0.0001) return fmt::format("{:.1g} %", 100 * share);
  return fmt::format("{:.2f} %", std::min(100 * share, 99.99));
}

std::string macs_text(const Coverage& coverage) {
  const auto covered = static_cast<double>(coverage.macs.value), left = left_out_macs(coverage);
  std::vector<OtherOperator> unknown, counted;
  for (const OtherOperator& other : coverage.left_out) {
    if (!other.macs) unknown.push_back(other);
    if (other.macs.value_or(0) > 0) counted.push_back(other);
  }
  std::string text;
  if (left > 0) {
    text = fmt::format("Covers {}{} of the multiply-accumulates ({} of {}); left out: {}", unknown.empty() ? "" : "at most ",
                       percent(share_of(coverage)), with_prefix(covered), with_prefix(covered + left), names_of(counted));
  } else {
    text = fmt::format("Covers all {} multiply-accumulates{}", with_prefix(covered),
                       unknown.empty() ? "" : " that can be counted");
  }
  if (!unknown.empty()) text += fmt::format("; left out, and nobody knows how much work they are: {}", names_of(unknown));
  return text;
}

std::string others_text(const Coverage& coverage) {
  double operations = 2 * (static_cast<double>(coverage.macs.value) + left_out_macs(coverage)), theirs = 0;
  bool all_known = true;
  std::vector<OtherOperator> others;
  for (const OtherOperator& other : coverage.left_out) {
    if (other.macs != 0) continue;
    others.push_back(other);
    theirs += static_cast<double>(other.operations);
    all_known = all_known && other.operations_known;
  }
  if (others.empty()) return "";
  std::ranges::stable_sort(others, std::ranges::greater{}, &OtherOperator::operations);
  operations += theirs;
  return fmt::format("; not mapped, because they have none: {} ({}{} of the operations)", names_of(others),
                     all_known ? "" : "at least ", operations > 0 ? percent(theirs / operations) : "0 %");
}

}  // namespace

Coverage coverage_of(const Network& network, const std::vector<LayerGroup>& groups) {
  Coverage coverage;
  coverage.left_out = network.others;
  std::int64_t asked = 0, all = 0;
  for (const LayerGroup& group : groups) {
    coverage.macs += macs(network.layers[group.first].layer) * group.count;
    asked += group.count;
  }
  for (const NetworkLayer& entry : network.layers) all += entry.count;
  if (asked == all) return coverage;
  OtherOperator rest{.name = "layers not asked for", .count = all - asked};
  rest.macs = macs(network).value - coverage.macs.value;
  rest.operations_known = !__builtin_mul_overflow(*rest.macs, 2, &rest.operations);
  if (!rest.operations_known) rest.operations = 0;
  coverage.left_out.push_back(std::move(rest));
  return coverage;
}

double share_of(const Coverage& coverage) {
  const auto covered = static_cast<double>(coverage.macs.value);
  const double all = covered + left_out_macs(coverage);
  return all > 0 ? covered / all : 0;
}

bool is_complete(const Coverage& coverage) {
  return std::ranges::all_of(coverage.left_out, [](const OtherOperator& other) { return other.macs.has_value(); });
}

std::string to_text(const Coverage& coverage) { return macs_text(coverage) + others_text(coverage) + "."; }

std::string names_of(const std::vector<OtherOperator>& operators) {
  std::vector<std::string> names;
  for (const OtherOperator& other : operators) {
    if (names.size() == kMostNames) break;
    const std::string work =
        other.macs.value_or(0) > 0 ? fmt::format(" ({})", with_prefix(static_cast<double>(*other.macs))) : "";
    names.push_back(fmt::format("{} {}{}", other.count, printable(other.name), work));
  }
  const std::string more =
      operators.size() > names.size() ? fmt::format(" and {} more kinds", operators.size() - names.size()) : "";
  return join(names, ", ") + more;
}

}  // namespace tilewright
