// Prey that the environment moves itself.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "tilewright/base/result.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/particle/scenario.hpp"

namespace tilewright {

class PreyDriver {
 public:
  virtual ~PreyDriver() = default;
  virtual void begin_episode(std::size_t, const Rng&) {}

  // Writes the thrust of every prey, two numbers for each, where the prey's part of all agents' thrusts begins.
  virtual void drive(std::size_t world_index, const double* world, double* thrust) = 0;
};

struct PreyOptions {
  PreyController controller = PreyController::Random;
  std::string network = {};  // a file
  Dialect dialect = Dialect::OpenAi;
  std::size_t first = 0;  // prey are the agents from this one on
  std::size_t worlds = 1;
};

// `scenario` must outlive the driver. A network file that does not suit the prey is an Error.
Result<std::unique_ptr<PreyDriver>> make_prey_driver(const Scenario& scenario, const PreyOptions& options);

}  // namespace tilewright
