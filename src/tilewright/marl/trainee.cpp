#include "tilewright/marl/trainee.hpp"

#include <cstring>
#include <numbers>
#include <utility>

namespace tilewright {

Trainee::Trainee(const MlpShape& shape, double output_gain, const Rng& rng)
    : mlp(shape),
      gradient(shape),
      adam(mlp.values().size()),
      workspace(shape),
      outputs(kTileRows, shape.outputs),
      doutputs(kTileRows, shape.outputs) {
  initialise_orthogonal(mlp, std::numbers::sqrt2, output_gain, rng);
}

void Trainee::save(const std::string& name, TensorFile& file) const {
  file.put(name, mlp);
  file.put(name + ".adam.first", std::span<const float>(adam.first));
  file.put(name + ".adam.second", std::span<const float>(adam.second));
  file.put(name + ".adam.steps", adam.steps);
}

Result<Done> Trainee::load(const std::string& name, const TensorFile& file) {
  TW_TRY(const Done weights, file.get(name, mlp));
  TW_TRY(const Done first, file.get(name + ".adam.first", std::span<float>(adam.first)));
  TW_TRY(const Done second, file.get(name + ".adam.second", std::span<float>(adam.second)));
  TW_TRY(adam.steps, file.get(name + ".adam.steps"));
  return Done{};
}

void gather(ConstView from, std::span<const std::uint32_t> rows, Matrix& to) {
  if (to.rows() < rows.size() || to.columns() != from.columns) to = Matrix(rows.size(), from.columns);
  for (std::size_t i = 0; i < rows.size(); ++i) std::memcpy(to.row(i), from.row(rows[i]), from.columns * sizeof(float));
}

void shuffle(std::span<std::uint32_t> values, Rng rng) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(i)))]);
  }
}

}  // namespace tilewright
