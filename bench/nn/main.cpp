// How close do the networks come to the processor's peak? Usage: bench_nn [--batch N] [--rounds N] [--vectors AVX2]
//
// One core, processor time of the thread, best of many blocks. The peak is measured in between by multiply-adds on registers
// alone. Operations are those of the matrix products; loss, activations and Adam are not counted. Outputs are compared with
// the plain reference before any time is printed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nn/peak.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/nn/heads.hpp"
#include "tilewright/nn/mlp.hpp"
#include "tilewright/nn/optimiser.hpp"
#include "tilewright/nn/reference.hpp"

namespace tilewright::bench {
namespace {

struct Options {
  std::size_t batch = 1024;
  int rounds = 5;
};

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Seconds of one call: the best of `rounds` · 25 blocks of calls that take about a millisecond together.
template <typename Work>
double best_seconds(int rounds, const Work& work) {
  work();
  double start = thread_seconds();
  work();
  const auto calls = static_cast<int>(std::clamp(1e-3 / std::max(thread_seconds() - start, 1e-9), 1.0, 1e6));
  double best = 1e9;
  for (int block = 0; block < 25 * rounds; ++block) {
    start = thread_seconds();
    for (int call = 0; call < calls; ++call) work();
    best = std::min(best, (thread_seconds() - start) / calls);
  }
  return best;
}

double peak_gflops() {
  constexpr std::size_t kRounds = 20'000;
  double operations = 0;
  const double seconds = best_seconds(2, [&] { operations = multiply_add_rounds(kRounds); });
  return operations / seconds * 1e-9;
}

Matrix uniform_matrix(std::size_t rows, std::size_t columns, const Rng& rng) {
  Matrix matrix(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    fill_uniform({matrix.row(r), columns}, rng, r * columns);
    for (std::size_t c = 0; c < columns; ++c) matrix.row(r)[c] = 2 * matrix.row(r)[c] - 1;
  }
  return matrix;
}

struct Times {
  double forward = 0, training = 0;
  bool is_right = true;  // the first outputs agree with the plain reference
};

// As the learners do: tile by tile forward, loss gradient and backward, then one step.
Times network_times(std::size_t inputs, std::size_t outputs, const Options& options) {
  const MlpShape shape{.inputs = inputs, .hidden = {64, 64}, .outputs = outputs};
  Mlp mlp(shape), gradient(shape);
  initialise_xavier(mlp, Rng(1, "bench"));
  MlpWorkspace workspace(shape);
  Adam adam(mlp.values().size());
  const Matrix x = uniform_matrix(options.batch, inputs, Rng(1, "x"));
  const Matrix target = uniform_matrix(options.batch, outputs, Rng(1, "target"));
  Matrix y(options.batch, outputs), dy(kTileRows, outputs);

  Times times;
  times.forward = best_seconds(options.rounds, [&] {
    for (std::size_t first = 0; first < options.batch; first += kTileRows) {
      const std::size_t rows = std::min(kTileRows, options.batch - first);
      forward(mlp, x.view().row_range(first, rows), y.row_range(first, rows), workspace);
    }
  });
  const auto network = reference::network_of<double>(mlp);
  for (std::size_t r = 0; r < std::min<std::size_t>(options.batch, 50); ++r) {
    const auto expected = reference::forward(network, shape.activation, {x.row(r), x.row(r) + inputs}).back();
    for (std::size_t c = 0; c < outputs; ++c) times.is_right = times.is_right && std::abs(y.row(r)[c] - expected[c]) < 1e-4;
  }
  const float scale = 2.0f / static_cast<float>(options.batch * outputs);
  times.training = best_seconds(options.rounds, [&] {
    workspace.load_transposed(mlp);
    std::ranges::fill(gradient.values(), 0.0f);
    for (std::size_t first = 0; first < options.batch; first += kTileRows) {
      const std::size_t rows = std::min(kTileRows, options.batch - first);
      const ConstView tile = x.view().row_range(first, rows);
      forward(mlp, tile, y.row_range(first, rows), workspace);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < outputs; ++c) dy.row(r)[c] = scale * (y.row(first + r)[c] - target.row(first + r)[c]);
      backward(mlp, tile, dy.view().row_range(0, rows), workspace, &gradient);
    }
    step_clipped_by_tensor(mlp, gradient, adam, 0.5, {});
  });
  return times;
}

bool print_networks(const Options& options) {
  fmt::print("in -> 64 -> 64 -> out, batch {}: microseconds, GFLOP/s, share of peak\n\n", options.batch);
  bool all_right = true;
  fmt::print("{:>5} {:>4} {:>26} {:>30} {:>10}\n", "in", "out", "forward", "forward, backward, Adam", "peak");
  const std::vector<std::pair<std::size_t, std::size_t>> shapes = {{16, 1},  {16, 5},   {128, 1},  {128, 5}, {512, 1},
                                                                   {512, 5}, {1400, 1}, {1400, 5}, {35, 1},  {68, 1},
                                                                   {132, 1}, {264, 1},  {528, 1}};
  for (const auto& [inputs, outputs] : shapes) {
    const double peak = peak_gflops();
    const Times times = network_times(inputs, outputs, options);
    const auto in = static_cast<double>(inputs), out = static_cast<double>(outputs),
               batch = static_cast<double>(options.batch);
    const double forward_flops = 2 * batch * (in * 64 + 64 * 64 + 64 * out);
    const double training_flops = 2 * batch * (2 * in * 64 + 3 * 64 * 64 + 3 * 64 * out);
    const double forward_rate = forward_flops / times.forward * 1e-9, training_rate = training_flops / times.training * 1e-9;
    all_right = all_right && times.is_right;
    fmt::print("{:>5} {:>4} {:>10.1f} {:>8.1f} {:>5.1f} % {:>14.1f} {:>8.1f} {:>5.1f} % {:>10.1f}{}\n", inputs, outputs,
               times.forward * 1e6, forward_rate, 100 * forward_rate / peak, times.training * 1e6, training_rate,
               100 * training_rate / peak, peak, times.is_right ? "" : "  WRONG");
    std::fflush(stdout);
  }
  return all_right;
}

void print_acting(const Options& options) {
  fmt::print("\none sample, in -> 64 -> 64 -> 5: microseconds\n");
  for (const std::size_t inputs : {16u, 128u, 512u, 1400u}) {
    const MlpShape shape{.inputs = inputs, .hidden = {64, 64}, .outputs = 5};
    Mlp mlp(shape);
    initialise_xavier(mlp, Rng(1, "bench"));
    const Matrix x = uniform_matrix(1, inputs, Rng(1, "x"));
    Matrix y(1, 5);
    fmt::print("{:>5} {:>8.3f}\n", inputs,
               1e6 * best_seconds(options.rounds, [&] { forward_one(mlp, x.row(0), y.row(0)); }));
  }
}

void print_vectors(const Options& options) {
  const std::size_t rows = options.batch;
  const ActionSpace space{.categorical = {5}};
  const Rng rng(1, "noise");
  const Matrix outputs = uniform_matrix(rows, space.output_size(), Rng(1, "outputs"));
  const Matrix dactions = uniform_matrix(rows, space.action_size(), Rng(1, "dactions"));
  Matrix noise(rows, space.action_size()), actions(rows, space.action_size()), doutputs(rows, space.output_size());
  std::vector<float> uniform(rows * 5), result(rows), ones(rows, 1.0f);
  sample_noise(space, noise.view(), rng);
  soft_actions(space, outputs.view(), noise.view(), actions.view());

  fmt::print("\nheads of 5 choices, {} rows: microseconds, nanoseconds per choice\n", rows);
  const auto line = [&](const char* name, const auto& work) {
    const double seconds = best_seconds(options.rounds, work);
    fmt::print("{:<24} {:>8.2f} {:>8.2f}\n", name, seconds * 1e6, seconds * 1e9 / static_cast<double>(5 * rows));
  };
  line("fill_uniform", [&] { fill_uniform(uniform, rng); });
  line("sample_noise", [&] { sample_noise(space, noise.view(), rng); });
  line("soft_actions", [&] { soft_actions(space, outputs.view(), noise.view(), actions.view()); });
  line("soft_actions_backward", [&] {
    soft_actions_backward(space, outputs.view(), noise.view(), actions.view(), dactions.view(), doutputs.view());
  });
  line("hard_actions", [&] { hard_actions(space, outputs.view(), noise.view(), actions.view()); });
  line("greedy_actions", [&] { greedy_actions(space, outputs.view(), actions.view()); });
  line("log_probabilities", [&] { log_probabilities(space, outputs.view(), actions.view(), result); });
  line("entropies", [&] { entropies(space, outputs.view(), result); });
  line("policy_backward", [&] { policy_backward(space, outputs.view(), actions.view(), ones, ones, doutputs.view()); });

  fmt::print("\nloops over 94,000 parameters: microseconds, nanoseconds per parameter\n");
  const std::size_t size = 94'000;
  std::vector<float> values(size), gradient(size), target(size);
  fill_uniform(gradient, rng);
  Adam adam(size);
  const auto loop = [&](const char* name, const auto& work) {
    const double seconds = best_seconds(options.rounds, work);
    fmt::print("{:<24} {:>8.2f} {:>8.3f}\n", name, seconds * 1e6, seconds * 1e9 / static_cast<double>(size));
  };
  loop("adam_update", [&] { adam_update(values, adam.first, adam.second, gradient, 1.0f, 0.01f, {}); });
  loop("squared_norm", [&] { static_cast<void>(squared_norm(gradient)); });
  loop("polyak", [&] { polyak(target, values, 0.01f); });
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const std::int64_t value = i + 1 < argc ? parse_integer(argv[i + 1]).value_or(0) : 0;
    if (name == "--batch" && value > 0) {
      options.batch = static_cast<std::size_t>(value);
    } else if (name == "--rounds" && value > 0) {
      options.rounds = static_cast<int>(value);
    } else if (name == "--vectors" && i + 1 < argc && use_vector_target(argv[i + 1])) {
      continue;
    } else {
      fmt::print(
          stderr,
          "bench_nn: '{}' is not known or not followed by what it needs, expected --batch N, --rounds N or --vectors NAME\n",
          name);
      return 2;
    }
  }
  fmt::print("vectors: {}\n", vector_target());
  const bool all_right = print_networks(options);
  print_acting(options);
  print_vectors(options);
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::run(argc, argv); }
