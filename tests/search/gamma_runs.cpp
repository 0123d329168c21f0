#include "gamma_runs.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/search/gamma.hpp"
#include "tilewright/search/search_loop.hpp"

namespace tilewright {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

struct TableRow {
  std::string_view network;
  std::int64_t layer;
  bool depthwise;
  ConvolutionShape shape;
};

// Rows of GAMMA's tables that runs were recorded of. Its layers have no padding: sizes are those of the input.
const std::vector<TableRow>& table() {
  const auto shape = [](std::int64_t k, std::int64_t c, std::int64_t side, std::int64_t kernel, std::int64_t groups = 1) {
    return ConvolutionShape{.out_channels = k,
                            .in_channels = c,
                            .in_height = side,
                            .in_width = side,
                            .kernel_height = kernel,
                            .kernel_width = kernel,
                            .groups = groups};
  };
  static const std::vector<TableRow> rows = {{"resnet18", 2, false, shape(64, 64, 56, 3)},
                                             {"resnet18", 20, false, shape(512, 512, 7, 3)},
                                             {"mobilenet_v2", 2, true, shape(32, 32, 112, 3, 32)},
                                             {"mobilenet_v2", 4, false, shape(96, 16, 112, 1)},
                                             {"vgg16", 2, false, shape(64, 64, 224, 3)}};
  return rows;
}

const TableRow* row_of(const GammaCase& one) {
  for (const TableRow& row : table()) {
    if (row.network == one.network && row.layer == one.layer) return &row;
  }
  return nullptr;
}

// The second metric breaks ties, as in the recorded runs.
Objective objective_of(const GammaCase& one) {
  const auto lexicographic = [](Metric first, Metric second) {
    return Objective{.form = Objective::Form::Lexicographic, .terms = {{first}, {second}}, .limits = {}};
  };
  if (one.objective == "latency") return lexicographic(Metric::Latency, Metric::Power);
  if (one.objective == "energy") return lexicographic(Metric::Energy, Metric::Latency);
  return lexicographic(Metric::Edp, Metric::Energy);
}

void count(GammaState& state, const MappingSpace& space, Evaluator& evaluator, const Point& point, double objective) {
  ++state.accepted;
  state.best_accepted = std::min(state.best_accepted, objective);
  const Cost cost = std::get<Cost>(evaluator.evaluate(space.mapping(point)));
  const Macs true_macs = macs(space.nest());
  if (cost.macs != true_macs) return;
  ++state.mac_exact;
  state.best_mac_exact = std::min(state.best_mac_exact, objective);
  if (cost.leaf_macs < true_macs) return;
  ++state.audited;
  state.best_audited = std::min(state.best_audited, objective);
}

}  // namespace

std::string name_of(const GammaCase& one) {
  return fmt::format("{} #{} {}, population {}, {} PEs", one.network, one.layer, one.objective, one.population, one.pes);
}

Result<std::vector<RecordedRun>> read_gamma_runs(const std::string& path) {
  TW_TRY(const std::string text, read_file(path));
  std::vector<RecordedRun> runs;
  std::int64_t line_number = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (++line_number == 1 || trim(line).empty()) continue;
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() < 18)
      return invalid(fmt::format("{}:{}: {} cells, expected at least 18", path, line_number, cells.size()));
    const auto integer = [&](std::size_t n) { return parse_integer(cells[n]).value_or(-1); };
    const auto number = [&](std::size_t n) { return std::strtod(std::string(cells[n]).c_str(), nullptr); };
    const GammaCase one{std::string(cells[0]),
                        integer(1),
                        std::string(cells[2]),
                        integer(3),
                        integer(4),
                        integer(6),
                        integer(7),
                        integer(8)};
    if (row_of(one) == nullptr) return invalid(fmt::format("{}:{}: no such layer is known", path, line_number));
    if (integer(9) == 0) runs.push_back({one, integer(5), {}});
    if (runs.empty())
      return invalid(fmt::format("{}:{}: begins with generation {}, expected 0", path, line_number, cells[9]));
    runs.back().states.push_back(
        {integer(9), integer(10), integer(11), integer(12), integer(13), number(15), number(16), number(17)});
  }
  return runs;
}

MappingSpace gamma_space(const GammaCase& one) {
  Accelerator machine;
  machine.pes = one.pes;
  const bool unlimited = one.l1 < 0;
  if (!unlimited) machine.l1 = Bytes{one.l1};
  if (!unlimited) machine.l2 = Bytes{one.l2};
  machine.noc.bandwidth = unlimited ? std::int64_t{1} << 30 : 81'920'000;
  MappingSpaceOptions options;
  options.tiles = Tiles::Gamma;
  options.evaluate.model = Model::Maestro;
  options.gamma_rules = true;
  const Result<Nest> nest = nest_of(convolution(one.network, row_of(one)->shape));
  return MappingSpace(name_of(one), *nest, machine, options);
}

std::vector<GammaState> run_gamma(const GammaCase& one, std::int64_t samples, std::uint64_t seed) {
  const MappingSpace space = gamma_space(one);
  const Objective objective = objective_of(one);
  GammaOptions options;
  options.population = one.population;
  const Result<std::unique_ptr<PointSearcher>> made = make_gamma(space, options, samples, seed);
  PointSearcher& searcher = **made;
  const auto evaluator = space.evaluator();
  Evaluator auditor(space.nest(), space.accelerator(), space.options().evaluate);

  std::vector<GammaState> states;
  GammaState state{0, 0, 0, 0, 0, kNone, kNone, kNone};
  std::vector<Point> points;
  std::vector<Verdict> verdicts;
  while (state.samples < samples) {
    points.clear();
    verdicts.clear();
    searcher.ask(static_cast<std::size_t>(samples - state.samples), points);
    for (const Point& point : points) {
      const Verdict& verdict = verdicts.emplace_back(verdict_of(objective, evaluator->evaluate(point)));
      ++state.samples;
      if (verdict.feasible) count(state, space, auditor, point, verdict.score[0]);
      states.push_back(state);
    }
    searcher.tell(points, verdicts);
  }
  return states;
}

double chance_of_less(const std::vector<double>& left, const std::vector<double>& right) {
  double pairs = 0;
  for (const double one : left) {
    for (const double other : right) {
      const bool equal = std::abs(one - other) <= 1e-5 * std::abs(other) || one == other;  // recorded with six digits
      pairs += equal ? 0.5 : one < other ? 1.0 : 0.0;
    }
  }
  return pairs / static_cast<double>(left.size() * right.size());
}

}  // namespace tilewright
