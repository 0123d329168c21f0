// Worlds that are written in Python, as an Environment: one call for a step of all of them.
//
// The object has the methods reset(first_episode) -> (observations, masks) and
// step(actions) -> (observations, rewards, terminated, truncated, masks): arrays with a row for each world, masks None where
// there are none. tilewright.marl makes one out of PettingZoo's parallel environments.
#pragma once

#include <span>

#include "convert.hpp"

#include "tilewright/marl/environment.hpp"

namespace tilewright::python {

class PythonWorlds : public Environment {
 public:
  PythonWorlds(EnvironmentSpec spec, std::size_t worlds, nb::object game);
  ~PythonWorlds() override;
  PythonWorlds(const PythonWorlds&) = delete;
  PythonWorlds& operator=(const PythonWorlds&) = delete;

  const EnvironmentSpec& spec() const override { return spec_; }
  std::size_t world_count() const override { return worlds_; }
  const WorldArrays& arrays() const override { return arrays_; }

  // They take the interpreter's lock, and throw what Python throws.
  void reset(std::uint64_t first_episode) override;
  void step(std::span<const float> actions) override;

 private:
  template <typename Number>
  void read(nb::handle value, const char* what, std::size_t columns, std::vector<Number>& into) const;

  EnvironmentSpec spec_;
  std::size_t worlds_;
  nb::object game_;
  WorldArrays arrays_;
};

// Name, team, numbers observed, choices of each head, continuous components: of every agent.
EnvironmentSpec python_spec(const std::string& name, nb::handle agents, bool masks);

}  // namespace tilewright::python
