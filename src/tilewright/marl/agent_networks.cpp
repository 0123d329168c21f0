#include "tilewright/marl/agent_networks.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace tilewright {
namespace {

void copy_values(ConstView from, View to) {
  for (std::size_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.columns, to.row(r));
}

// Everything but the first weight, which both have in different sizes.
void copy_other_tensors(const Mlp& from, Mlp& to) {
  for (std::size_t t = 1; t < from.tensors().size(); ++t)
    copy_values(from.view(from.tensors()[t]), to.view(to.tensors()[t]));
}

MlpShape full_shape(const TrainedNetwork& network) {
  MlpShape shape = network.online.shape();
  if (network.fold) shape.inputs = network.fold->weight.rows();
  return shape;
}

// online <- full, through the folded layer if there is one.
void assign_online(TrainedNetwork& network, const Mlp& full) {
  if (!network.fold) {
    network.online = full;
    return;
  }
  set_weight(*network.fold, full.weight(0));
  copy_other_tensors(full, network.online);
  fold(*network.fold, network.online.weight(0));
}

Mlp full_online(const TrainedNetwork& network) {
  if (!network.fold) return network.online;
  Mlp full(full_shape(network));
  get_weight(*network.fold, full.weight(0));
  copy_other_tensors(network.online, full);
  return full;
}

std::span<float> all_values(Matrix& matrix) { return {matrix.row(0), matrix.rows() * matrix.view().stride}; }
std::span<const float> all_values(const Matrix& matrix) { return {matrix.row(0), matrix.rows() * matrix.view().stride}; }

}  // namespace

MlpShape NetworkForm::computing_shape() const {
  MlpShape computing = shape;
  computing.inputs = inputs;
  return computing;
}

TrainedNetwork make_network(const NetworkForm& form, TargetStart start, const Rng& rng) {
  TrainedNetwork network{
      .online = Mlp(form.computing_shape()), .target = Mlp(form.computing_shape()), .adam = {}, .fold = std::nullopt};
  network.adam = Adam(network.online.values().size());
  if (form.fold) network.fold.emplace(form.fold, network.online.weight(0).columns);
  Mlp full(form.shape);
  if (start == TargetStart::Independent) {
    initialise_xavier(full, rng.fork("target"));
    assign_online(network, full);
    network.target = network.online;
  }
  initialise_xavier(full, rng.fork("online"));
  assign_online(network, full);
  if (start == TargetStart::Copy) network.target = network.online;
  return network;
}

void step(TrainedNetwork& network, const Mlp& gradient, double clip, const AdamOptions& options) {
  if (!network.fold) {
    step_clipped_by_tensor(network.online, gradient, network.adam, clip, options);
    return;
  }
  Adam& adam = network.adam;
  const float rate = adam_rate(options, adam.steps++);
  const auto scale_of = [&](double squared_norm) { return clip > 0 ? clip_scale(squared_norm, clip) : 1.0f; };
  const ConstView folded = gradient.weight(0);
  step_and_fold(*network.fold, folded, scale_of(unfolded_squared_norm(*network.fold, folded)), rate, options,
                network.online.weight(0));
  for (std::size_t t = 1; t < gradient.tensors().size(); ++t) {
    const TensorPlace& place = gradient.tensors()[t];
    const auto part = [&](auto values) { return std::span(values).subspan(place.offset, place.size()); };
    const std::span<const float> tensor_gradient = part(gradient.values());
    adam_update(part(network.online.values()), part(std::span(adam.first)), part(std::span(adam.second)), tensor_gradient,
                scale_of(squared_norm(tensor_gradient)), rate, options);
  }
}

void move_target(TrainedNetwork& network, double tau) {
  polyak(network.target.values(), network.online.values(), static_cast<float>(tau));
}

void save(const TrainedNetwork& network, const std::string& agent, const std::string& role, TensorFile& file) {
  const std::string name = agent + '.' + role;
  file.put(name, full_online(network));
  file.put(agent + ".target_" + role, network.target);
  file.put(name + ".adam.steps", network.adam.steps);
  file.put(name + ".adam.first", std::span<const float>(network.adam.first));
  file.put(name + ".adam.second", std::span<const float>(network.adam.second));
  if (!network.fold) return;
  file.put(name + ".weight0.adam.first", all_values(network.fold->first));
  file.put(name + ".weight0.adam.second", all_values(network.fold->second));
}

Result<Done> load(TrainedNetwork& network, const std::string& agent, const std::string& role, const TensorFile& file) {
  const std::string name = agent + '.' + role;
  Mlp full(full_shape(network));
  TW_TRY(const Done online, file.get(name, full));
  assign_online(network, full);
  TW_TRY(const Done target, file.get(agent + ".target_" + role, network.target));
  TW_TRY(network.adam.steps, file.get(name + ".adam.steps"));
  std::vector<std::pair<std::string, std::span<float>>> moments = {{".adam.first", network.adam.first},
                                                                   {".adam.second", network.adam.second}};
  if (network.fold) {
    moments.emplace_back(".weight0.adam.first", all_values(network.fold->first));
    moments.emplace_back(".weight0.adam.second", all_values(network.fold->second));
  }
  for (const auto& [suffix, values] : moments) {
    TW_TRY(const Done done, file.get(name + suffix, values));
  }
  return Done{};
}

}  // namespace tilewright
