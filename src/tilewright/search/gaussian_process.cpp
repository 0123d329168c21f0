#include "tilewright/search/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "tilewright/base/result.hpp"

namespace tilewright {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Rows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// Rounding may leave a pivot of nearly equal points at or below zero.
constexpr double kLeastPivot = 1e-10;
// Width of the prior of fitted(), in units of the parameters' logarithm.
constexpr double kPriorWidth = 1.5;

Vector to_vector(const std::vector<double>& numbers) {
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

// Points as columns, each coordinate divided by its length.
Matrix scaled(std::span<const double> points, const KernelParameters& parameters) {
  const auto dimension = static_cast<Eigen::Index>(parameters.lengths.size());
  const Rows rows(points.data(), static_cast<Eigen::Index>(points.size()) / dimension, dimension);
  return to_vector(parameters.lengths).cwiseInverse().asDiagonal() * rows.transpose();
}

// q of the header for every pair of columns.
Matrix distances(const Matrix& a, const Matrix& b) {
  Matrix squares = -2.0 * (a.transpose() * b);
  squares.colwise() += a.colwise().squaredNorm().transpose();
  squares.rowwise() += b.colwise().squaredNorm();
  return (5.0 * squares.array().max(0.0)).sqrt();
}

Matrix kernel(const Matrix& q, double variance) {
  return variance * (1.0 + q.array() + q.array().square() / 3.0) * (-q.array()).exp();
}

}  // namespace

struct GaussianProcess::State {
  KernelParameters parameters;
  Matrix points;   // scaled, as columns
  Matrix factor;   // L, lower triangle
  Vector targets;  // less their mean
  Vector weights;  // K⁻¹ targets
  double mean = 0;
};

struct GaussianProcess::Predictions::State {
  KernelParameters parameters;
  Matrix candidates;  // scaled, as columns
  Matrix half;        // L⁻¹ k(X, candidates), one more row per believed candidate
  Eigen::Index rows = 0;
};

GaussianProcess::GaussianProcess(KernelParameters parameters) : state_(std::make_unique<State>()) {
  state_->points.resize(static_cast<Eigen::Index>(parameters.lengths.size()), 0);
  state_->parameters = std::move(parameters);
}
GaussianProcess::~GaussianProcess() = default;
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;
GaussianProcess::Predictions::Predictions() : state_(std::make_shared<State>()) {}

std::size_t GaussianProcess::dimension() const { return state_->parameters.lengths.size(); }
std::size_t GaussianProcess::size() const { return static_cast<std::size_t>(state_->points.cols()); }
const KernelParameters& GaussianProcess::parameters() const { return state_->parameters; }

void GaussianProcess::add(std::span<const double> points) {
  State& s = *state_;
  const Matrix fresh = scaled(points, s.parameters);
  const Eigen::Index old = s.points.cols(), more = fresh.cols();
  if (more == 0) return;

  Matrix corner = kernel(distances(fresh, fresh), s.parameters.variance);
  corner.diagonal().array() = s.parameters.variance + s.parameters.noise;
  Matrix factor = Matrix::Zero(old + more, old + more);
  if (old > 0) {
    Matrix side = kernel(distances(s.points, fresh), s.parameters.variance);
    s.factor.triangularView<Eigen::Lower>().solveInPlace(side);
    factor.topLeftCorner(old, old) = s.factor;
    factor.bottomLeftCorner(more, old) = side.transpose();
    corner -= side.transpose() * side;
  }
  Eigen::LLT<Matrix> decomposed(corner);
  for (double lift = kLeastPivot; decomposed.info() != Eigen::Success; lift *= 10) {
    corner.diagonal().array() += lift;
    decomposed.compute(corner);
  }
  factor.bottomRightCorner(more, more) = decomposed.matrixL();
  s.factor = std::move(factor);
  s.points.conservativeResize(Eigen::NoChange, old + more);
  s.points.rightCols(more) = fresh;
}

void GaussianProcess::set_targets(std::span<const double> targets) {
  State& s = *state_;
  TW_ASSERT(targets.size() == size());
  s.targets = Eigen::Map<const Vector>(targets.data(), static_cast<Eigen::Index>(targets.size()));
  s.mean = s.targets.size() > 0 ? s.targets.mean() : 0;
  s.targets.array() -= s.mean;
  s.weights = s.factor.triangularView<Eigen::Lower>().solve(s.targets);
  s.factor.transpose().triangularView<Eigen::Upper>().solveInPlace(s.weights);
}

double GaussianProcess::log_likelihood() const {
  const State& s = *state_;
  return -0.5 * s.targets.dot(s.weights) - s.factor.diagonal().array().log().sum() -
         0.5 * static_cast<double>(s.targets.size()) * std::log(2 * std::numbers::pi);
}

std::vector<double> GaussianProcess::log_likelihood_gradient() const {
  const State& s = *state_;
  const Eigen::Index n = s.points.cols();
  // d/dθ = 1/2 trace((w w' - K⁻¹) dK/dθ)
  Matrix inverse = Matrix::Identity(n, n);
  s.factor.triangularView<Eigen::Lower>().solveInPlace(inverse);
  s.factor.transpose().triangularView<Eigen::Upper>().solveInPlace(inverse);
  const Matrix outer = s.weights * s.weights.transpose() - inverse;

  const Matrix q = distances(s.points, s.points);
  // dk/dlog(l_d) = v (1 + q) exp(-q) 5/3 u_d², u_d the scaled difference; the sum over pairs of a symmetric W with u_d² is
  // 2 (Σ_i x_i² Σ_j W_ij - x' W x), so that one product serves all dimensions.
  const Matrix pull = outer.array() * (s.parameters.variance * 5.0 / 3.0) * (1.0 + q.array()) * (-q.array()).exp();
  const Vector sums = pull.rowwise().sum();
  const Matrix product = s.points * pull;
  std::vector<double> gradient;
  for (Eigen::Index d = 0; d < s.points.rows(); ++d) {
    const auto x = s.points.row(d);
    gradient.push_back(x.cwiseAbs2().dot(sums.transpose()) - x.dot(product.row(d)));
  }
  gradient.push_back(0.5 * outer.cwiseProduct(kernel(q, s.parameters.variance)).sum());
  gradient.push_back(0.5 * s.parameters.noise * outer.trace());
  return gradient;
}

std::vector<double> GaussianProcess::means(std::span<const double> candidates) const {
  const State& s = *state_;
  const Matrix at = scaled(candidates, s.parameters);
  Vector mean = Vector::Constant(at.cols(), s.mean);
  if (s.points.cols() > 0) mean += kernel(distances(at, s.points), s.parameters.variance) * s.weights;
  return {mean.data(), mean.data() + mean.size()};
}

GaussianProcess::Predictions GaussianProcess::predict(std::span<const double> candidates) const {
  const State& s = *state_;
  Predictions predictions;
  Predictions::State& p = *predictions.state_;
  p.parameters = s.parameters;
  p.candidates = scaled(candidates, s.parameters);
  const Eigen::Index count = p.candidates.cols();
  Vector mean = Vector::Constant(count, s.mean);
  Vector variance = Vector::Constant(count, s.parameters.variance);
  if (s.points.cols() > 0) {
    p.half = kernel(distances(s.points, p.candidates), s.parameters.variance);
    mean += p.half.transpose() * s.weights;
    s.factor.triangularView<Eigen::Lower>().solveInPlace(p.half);
    variance -= p.half.colwise().squaredNorm().transpose();
  }
  p.rows = p.half.rows();
  predictions.mean_.assign(mean.data(), mean.data() + count);
  variance = variance.cwiseMax(0.0);
  predictions.variance_.assign(variance.data(), variance.data() + count);
  return predictions;
}

void GaussianProcess::Predictions::believe(std::size_t candidate) {
  State& s = *state_;
  const auto chosen = static_cast<Eigen::Index>(candidate);
  if (s.rows == s.half.rows()) s.half.conservativeResize(s.rows + 16, s.candidates.cols());
  Eigen::RowVectorXd row = kernel(distances(s.candidates.col(chosen), s.candidates), s.parameters.variance);
  if (s.rows > 0) row -= s.half.col(chosen).head(s.rows).transpose() * s.half.topRows(s.rows);
  row /= std::sqrt(std::max(kLeastPivot, variance_[candidate] + s.parameters.noise));
  s.half.row(s.rows++) = row;
  for (std::size_t c = 0; c < variance_.size(); ++c) {
    const double pulled = row[static_cast<Eigen::Index>(c)];
    variance_[c] = std::max(0.0, variance_[c] - pulled * pulled);
  }
}

KernelParameters fitted(const KernelParameters& parameters, const KernelParameters& centre, std::span<const double> points,
                        std::span<const double> targets, int steps) {
  const auto to_logs = [](const KernelParameters& p) {
    std::vector<double> logs;
    for (const double length : p.lengths) logs.push_back(std::log(length));
    logs.push_back(std::log(p.variance));
    logs.push_back(std::log(p.noise));
    return logs;
  };
  const std::vector<double> prior = to_logs(centre);
  std::vector<double> logs = to_logs(parameters), best = logs;
  std::vector<double> stride(logs.size(), 0.1), last(logs.size(), 0.0);
  const auto to_parameters = [&](const std::vector<double>& from) {
    KernelParameters p;
    for (std::size_t d = 0; d + 2 < from.size(); ++d) p.lengths.push_back(std::exp(from[d]));
    p.variance = std::exp(from[from.size() - 2]);
    p.noise = std::exp(from.back());
    return p;
  };

  double best_value = 0;
  for (int step = 0; step <= steps; ++step) {
    GaussianProcess process(to_parameters(logs));
    process.add(points);
    process.set_targets(targets);
    double value = process.log_likelihood();
    for (std::size_t n = 0; n < logs.size(); ++n) value -= 0.5 * std::pow((logs[n] - prior[n]) / kPriorWidth, 2);
    if (step == 0 || value > best_value) {
      best_value = value;
      best = logs;
    }
    if (step == steps) break;
    std::vector<double> gradient = process.log_likelihood_gradient();
    for (std::size_t n = 0; n < logs.size(); ++n) {
      gradient[n] -= (logs[n] - prior[n]) / (kPriorWidth * kPriorWidth);
      const double agreement = gradient[n] * last[n];
      if (agreement > 0) stride[n] = std::min(1.0, stride[n] * 1.3);
      if (agreement < 0) stride[n] *= 0.5;
      last[n] = gradient[n];
      if (gradient[n] != 0) logs[n] += gradient[n] > 0 ? stride[n] : -stride[n];
      logs[n] = std::clamp(logs[n], prior[n] - 6, prior[n] + 6);
    }
  }
  return to_parameters(best);
}

}  // namespace tilewright
