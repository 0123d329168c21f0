// Cost of mappings of one nest on one machine.
//
//   Evaluator evaluator(nest, accelerator, {.model = Model::Sound});
//   const Evaluation evaluation = evaluator.evaluate(mapping);
//
// An evaluator owns its workspace: evaluate() is a pure function of the mapping and allocates nothing, unless a level
// spreads two dimensions or maps one twice (then every stance is walked). One evaluator belongs to one thread.
#pragma once

#include <memory>

#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {

struct EvaluateOptions {
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
  enum class Columns : std::uint8_t { Search, All } columns = Columns::Search;  // Search leaves Cost::detail empty
};

class Evaluator {
 public:
  Evaluator(const Nest& nest, const Accelerator& accelerator, const EvaluateOptions& options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;

  // Another nest or machine, same workspace.
  void reset(const Nest& nest, const Accelerator& accelerator, const EvaluateOptions& options);

  // `previous`: the cost of the layer before this one in a MAESTRO file, whose L1 energy MAESTRO adds here.
  Evaluation evaluate(const Mapping& mapping, const Cost* previous = nullptr);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

// For a single mapping: all columns.
Evaluation evaluate(const Mapping& mapping, const Nest& nest, const Accelerator& accelerator, Model model = Model::Sound,
                    Constraints constraints = Constraints::Hard);

}  // namespace tilewright
