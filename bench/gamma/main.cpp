// Does our `gamma` search as the real GAMMA does? Usage: bench_gamma [--seeds N] [--data FOLDER]
//
// gamma_seeds.csv holds twenty runs of GAMMA's own search code for each case, priced by our MAESTRO; runs of the same seed
// that were recorded on the real MAESTRO are compared with them first, number for number. Then ours run under the same model
// and the same test of what is valid, and are looked at after as many samples. "audited" counts only mappings whose
// multiplications are all there; the rest are holes of MAESTRO, which both programs find.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "search/gamma_runs.hpp"
#include "tilewright/base/parallel.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright::bench {
namespace {

using Curve = std::vector<GammaState>;
using Field = double (*)(const GammaState&);

double accepted_of(const GammaState& state) { return state.best_accepted; }
double mac_exact_of(const GammaState& state) { return state.best_mac_exact; }
double audited_of(const GammaState& state) { return state.best_audited; }
double accepted_share(const GammaState& state) {
  return static_cast<double>(state.accepted) / static_cast<double>(state.samples);
}
double audited_share(const GammaState& state) {
  return static_cast<double>(state.audited) / static_cast<double>(state.samples);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string cell(double number) { return std::isinf(number) ? "-" : fmt::format("{:.4g}", number); }

std::string range(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return fmt::format("{} ({} … {})", cell(median(values)), cell(least), cell(most));
}

// What is compared, and how the comparisons came out.
struct Question {
  std::string_view name;
  Field field;
  std::int64_t rows = 0, within = 0;  // within: as far from 0.5 as equal programs are 95 % of the time
  double sum = 0;
  std::int64_t values = 0, covered = 0;  // covered: real values between our least and our largest

  void add(const std::vector<double>& real, const std::vector<double>& ours, double chance) {
    const auto n = static_cast<double>(real.size());
    const auto m = static_cast<double>(ours.size());
    ++rows;
    within += std::abs(chance - 0.5) <= 1.96 * std::sqrt((n + m + 1) / (12 * n * m)) ? 1 : 0;
    sum += chance;
    const auto [least, most] = std::ranges::minmax(ours);
    for (const double value : real) {
      const double rounding = 1e-5 * std::abs(value);  // recorded with six digits
      ++values;
      covered += value + rounding >= least && value - rounding <= most ? 1 : 0;
    }
  }
};

constexpr std::array<std::int64_t, 8> kShown = {0, 1, 2, 5, 10, 20, 50, 100};  // generations

struct Case {
  std::vector<RecordedRun> runs;  // of GAMMA's search code
  std::vector<Curve> ours;
};

void compare(const GammaCase& one, const Case& both, std::vector<Question>& questions) {
  fmt::print("\n{}: {} real, {} of ours; chance = how often ours is smaller\n", name_of(one), both.runs.size(),
             both.ours.size());
  fmt::print("  {:>7}  {:<36} {:<36} {:>6}   {:<36} {:<36} {:>6}   {}\n", "samples", "accepted: real median (min … max)",
             "ours", "chance", "audited: real", "ours", "chance", "share accepted, audited: real; ours");
  const bool counts_for_the_sum = both.runs.size() > 1;
  for (std::size_t row = 0; row < both.runs[0].states.size(); ++row) {
    if (std::ranges::find(kShown, both.runs[0].states[row].generation) == kShown.end()) continue;
    std::vector<double> counts;
    for (const RecordedRun& run : both.runs) counts.push_back(static_cast<double>(run.states[row].samples));
    const auto samples = static_cast<std::size_t>(median(counts));
    std::vector<std::vector<double>> real(questions.size()), ours(questions.size());
    std::vector<double> chances;
    for (std::size_t q = 0; q < questions.size(); ++q) {
      for (const RecordedRun& run : both.runs) real[q].push_back(questions[q].field(run.states[row]));
      for (const Curve& curve : both.ours) ours[q].push_back(questions[q].field(curve[samples - 1]));
      chances.push_back(chance_of_less(ours[q], real[q]));
      if (counts_for_the_sum) questions[q].add(real[q], ours[q], chances[q]);
    }
    fmt::print("  {:>7}  {:<36} {:<36} {:>6.2f}   {:<36} {:<36} {:>6.2f}   {:.2f}, {:.2f}; {:.2f}, {:.2f}\n", samples,
               range(real[0]), range(ours[0]), chances[0], range(real[2]), range(ours[2]), chances[2], median(real[3]),
               median(real[4]), median(ours[3]), median(ours[4]));
  }
}

bool same(const GammaState& one, const GammaState& other) {
  const auto near = [](double left, double right) { return left == right || std::abs(left - right) <= 1e-5 * right; };
  return one.samples == other.samples && one.accepted == other.accepted && one.mac_exact == other.mac_exact &&
         one.audited == other.audited && near(one.best_accepted, other.best_accepted) &&
         near(one.best_mac_exact, other.best_mac_exact) && near(one.best_audited, other.best_audited);
}

// How many generations recorded on the real MAESTRO are repeated by the same seed on ours.
void print_agreement(const std::vector<RecordedRun>& recorded, const std::map<GammaCase, Case>& cases) {
  std::int64_t generations = 0, equal = 0;
  for (const RecordedRun& run : recorded) {
    const auto found = cases.find(run.run_of);
    if (found == cases.end()) continue;
    for (const RecordedRun& again : found->second.runs) {
      if (again.seed != run.seed) continue;
      for (const GammaState& state : again.states) {
        const auto other = std::ranges::find(run.states, state.generation, &GammaState::generation);
        if (other == run.states.end()) continue;
        ++generations;
        equal += same(state, *other) ? 1 : 0;
      }
    }
  }
  fmt::print("GAMMA's search code on our MAESTRO and on the real one: {} of {} generations are equal in every number\n",
             equal, generations);
}

Result<std::vector<RecordedRun>> read_recorded(const std::string& folder) {
  std::vector<RecordedRun> all;
  for (const char* name :
       {"gamma_pop20_gen10", "gamma_pop100_gen20", "gamma_archgymhw_pop100_gen20", "gamma_pop100_gen100"}) {
    TW_TRY(const std::vector<RecordedRun> runs, read_gamma_runs(fmt::format("{}/{}.csv", folder, name)));
    all.insert(all.end(), runs.begin(), runs.end());
  }
  return all;
}

int run(int argc, char** argv) {
  std::int64_t seeds = 20;
  std::string data = TILEWRIGHT_TEST_DATA "/gamma";
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--seeds") {
      seeds = parse_integer(value).value_or(0);
    } else if (name == "--data") {
      data = value;
    } else {
      seeds = 0;
    }
  }
  if (seeds < 2) {
    fmt::print(stderr, "usage: bench_gamma [--seeds N] [--data FOLDER], N at least 2\n");
    return 2;
  }

  const auto recorded = read_recorded(data);
  const auto runs = read_gamma_runs(data + "/gamma_seeds.csv");
  if (!recorded || !runs) {
    fmt::print(stderr, "{}\n", !recorded ? recorded.error().message : runs.error().message);
    return 1;
  }
  std::map<GammaCase, Case> cases;
  for (const RecordedRun& run : *runs) cases[run.run_of].runs.push_back(run);
  print_agreement(*recorded, cases);
  for (const RecordedRun& run : *recorded) {
    if (!cases.contains(run.run_of)) cases[run.run_of].runs.push_back(run);
  }

  std::vector<Question> questions = {{"best accepted objective", accepted_of},
                                     {"best objective with exact MACs", mac_exact_of},
                                     {"best audited objective", audited_of},
                                     {"share of samples accepted", accepted_share},
                                     {"share of samples audited", audited_share}};
  ThreadPool threads;
  for (auto& entry : cases) {
    const GammaCase& one = entry.first;
    Case& both = entry.second;
    std::int64_t samples = 0;
    for (const RecordedRun& run : both.runs) samples = std::max(samples, run.states.back().samples);
    both.ours.resize(static_cast<std::size_t>(seeds));
    threads.for_each(both.ours.size(),
                     [&](std::size_t seed, std::size_t) { both.ours[seed] = run_gamma(one, samples, seed + 1); });
    compare(one, both, questions);
  }

  fmt::print(
      "\nSamples of the same program give a mean chance of 0.50, with 95 % of rows close enough to it; {:.1f} % of the "
      "real\n",
      100.0 * static_cast<double>(seeds - 1) / static_cast<double>(seeds + 1));
  fmt::print("values lie between the least and the largest of our {} seeds.\n", seeds);
  for (const Question& question : questions) {
    const auto rows = static_cast<double>(question.rows);
    fmt::print("  {:<32} {:>4} rows: mean chance {:.3f}, {:5.1f} % close; {:>5} real values: {:.1f} % between\n",
               question.name, question.rows, question.sum / rows, 100.0 * static_cast<double>(question.within) / rows,
               question.values, 100.0 * static_cast<double>(question.covered) / static_cast<double>(question.values));
  }
  return 0;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::run(argc, argv); }
