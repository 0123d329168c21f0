// Gaussian process regression: what is known of a function from some of its values, as a mean and a variance everywhere.
//
//   k(a, b) = v (1 + q + q²/3) exp(-q),   q = sqrt(5 Σ_d ((a_d - b_d)/l_d)²)        (Matérn 5/2)
//   K = k(X, X) + noise I = L L',   mean(x) = m + k(x, X) K⁻¹ (y - m),   variance(x) = v - |L⁻¹ k(X, x)|²
//
// m is the mean of the targets. Points are added by extending L; targets may be exchanged at any time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace tilewright {

struct KernelParameters {
  std::vector<double> lengths;  // l, one per dimension: how far one must go for the function to change
  double variance = 1;          // v
  double noise = 1e-4;          // variance of a target around the function
};

class GaussianProcess {
 public:
  explicit GaussianProcess(KernelParameters parameters);
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  std::size_t dimension() const;
  std::size_t size() const;  // points
  const KernelParameters& parameters() const;

  // Row after row, `dimension()` numbers each.
  void add(std::span<const double> points);
  // One per point, in their order.
  void set_targets(std::span<const double> targets);

  // Log marginal likelihood of the targets, and its derivative by the logarithms of lengths, variance and noise, in this
  // order.
  double log_likelihood() const;
  std::vector<double> log_likelihood_gradient() const;

  // Only the means of some other points: much cheaper than predict().
  std::vector<double> means(std::span<const double> candidates) const;

  // What the process says about some other points.
  class Predictions {
   public:
    double mean(std::size_t candidate) const { return mean_[candidate]; }
    double variance(std::size_t candidate) const { return variance_[candidate]; }  // of the function, at least 0
    // As if the candidate had been added with a target equal to its mean: means stay, variances shrink ("kriging believer").
    void believe(std::size_t candidate);

   private:
    friend class GaussianProcess;
    struct State;
    Predictions();
    std::vector<double> mean_, variance_;
    std::shared_ptr<State> state_;
  };
  Predictions predict(std::span<const double> candidates) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The parameters that explain the targets best, found from `parameters` by `steps` steps of gradient ascent (Rprop) on the
// log marginal likelihood plus a broad log-normal prior around `centre`, which keeps dimensions that do not matter from
// running away.
KernelParameters fitted(const KernelParameters& parameters, const KernelParameters& centre, std::span<const double> points,
                        std::span<const double> targets, int steps);

}  // namespace tilewright
