#include "python_worlds.hpp"

#include "interpreter_lock.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nanobind/ndarray.h>

namespace tilewright::python {

PythonWorlds::PythonWorlds(EnvironmentSpec spec, std::size_t worlds, nb::object game)
    : spec_(std::move(spec)), worlds_(worlds), game_(std::move(game)) {
  arrays_.observations.resize(worlds * spec_.observation_size());
  arrays_.rewards.resize(worlds * spec_.agent_count());
  arrays_.masks.resize(spec_.masks ? worlds * spec_.action_size() : 0);
  arrays_.terminated.resize(worlds * spec_.agent_count());
  arrays_.truncated.resize(worlds * spec_.agent_count());
}

PythonWorlds::~PythonWorlds() {
  const Held held;
  game_.reset();
}

template <typename Number>
void PythonWorlds::read(nb::handle value, const char* what, std::size_t columns, std::vector<Number>& into) const {
  nb::ndarray<const Number, nb::ndim<2>, nb::c_contig, nb::device::cpu> rows;
  if (!nb::try_cast(value, rows, true)) {
    raise_type(fmt::format("{}: {} of a step", spec_.name, what), value, "an array of numbers");
  }
  if (rows.shape(0) != worlds_ || rows.shape(1) != columns) {
    raise(fmt::format("{}: {} of a step have the shape ({}, {}), expected ({}, {})", spec_.name, what, rows.shape(0),
                      rows.shape(1), worlds_, columns));
  }
  std::copy_n(rows.data(), into.size(), into.begin());
  if constexpr (std::is_floating_point_v<Number>) {
    const auto wrong = std::ranges::find_if(into, [](Number number) { return !std::isfinite(number); });
    if (wrong != into.end()) {
      raise(fmt::format("{}: {} of a step hold {}, expected finite numbers", spec_.name, what, *wrong));
    }
  }
}

void PythonWorlds::reset(std::uint64_t first_episode) {
  const Held held;
  const nb::object shown = until_the_end([&] { return game_.attr("reset")(first_episode); });
  read(shown[0], "observations", spec_.observation_size(), arrays_.observations);
  if (spec_.masks) read(shown[1], "masks", spec_.action_size(), arrays_.masks);
  std::ranges::fill(arrays_.rewards, 0.0F);
  std::ranges::fill(arrays_.terminated, std::uint8_t{0});
  std::ranges::fill(arrays_.truncated, std::uint8_t{0});
}

void PythonWorlds::step(std::span<const float> actions) {
  const Held held;
  auto copy = std::make_unique<float[]>(std::max<std::size_t>(1, actions.size()));
  std::ranges::copy(actions, copy.get());
  float* data = copy.release();
  const nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<float*>(memory); });
  const nb::object taken = nb::cast(nb::ndarray<nb::numpy, float, nb::ndim<2>>(data, {worlds_, spec_.action_size()}, owner));
  const nb::object shown = until_the_end([&] { return game_.attr("step")(taken); });
  read(shown[0], "observations", spec_.observation_size(), arrays_.observations);
  read(shown[1], "rewards", spec_.agent_count(), arrays_.rewards);
  read(shown[2], "terminations", spec_.agent_count(), arrays_.terminated);
  read(shown[3], "truncations", spec_.agent_count(), arrays_.truncated);
  if (spec_.masks) read(shown[4], "masks", spec_.action_size(), arrays_.masks);
}

EnvironmentSpec python_spec(const std::string& name, nb::handle agents, bool masks) {
  EnvironmentSpec spec;
  spec.name = name;
  spec.terminates = true;  // nobody knows before
  spec.masks = masks;
  for (const nb::handle agent : nb::iter(agents)) {
    spec.agents.push_back({nb::cast<std::string>(agent[0]),
                           nb::cast<std::string>(agent[1]),
                           nb::cast<std::size_t>(agent[2]),
                           {nb::cast<std::vector<std::size_t>>(agent[3]), nb::cast<std::size_t>(agent[4])}});
  }
  return spec;
}

}  // namespace tilewright::python
