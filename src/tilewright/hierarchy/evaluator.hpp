// The judges: what mappings of one problem cost on one machine.
//
//   Evaluator evaluator(problem, machine, {.judge = Judge::Timeloop});
//   const Evaluation evaluation = evaluator.evaluate(mapping);
//
// `Timeloop` counts as NVlabs/timeloop 4cf6d4c does, number for number; `Hierarchy` as hardware would (docs/hierarchy.md).
// An evaluator owns its workspace: evaluate() is a pure function of the mapping and, once its vectors have grown, allocates
// nothing. One evaluator belongs to one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tilewright/hierarchy/analysis.hpp"
#include "tilewright/hierarchy/mapping.hpp"

namespace tilewright::hierarchy {

enum class Judge : std::uint8_t { Timeloop, Hierarchy };

// A sentence when the judge does not count such a problem; Timeloop counts all.
std::optional<std::string> refusal(Judge judge, const Problem& problem);

struct EvaluateOptions {
  Judge judge = Judge::Timeloop;
  enum class Detail : std::uint8_t { Cost, All } detail = Detail::Cost;  // Cost leaves out hops that cost nothing
};

class Evaluator {
 public:
  // Both have passed check(), the judge does not refuse the problem; they are copied.
  Evaluator(Problem problem, Machine machine, const EvaluateOptions& options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;

  // `mapping` has passed check() for this problem and machine, with exact factors for Timeloop.
  Evaluation evaluate(const Mapping& mapping);

  // Of the last mapping, when it was feasible.
  const Analysis& analysis() const;

  const Problem& problem() const;
  const Machine& machine() const;

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace tilewright::hierarchy

template <>
struct tilewright::Names<tilewright::hierarchy::Judge> {
  static constexpr std::string_view kWhat = "model";
  static constexpr NameTable<hierarchy::Judge, 2> kTable = {
      {{hierarchy::Judge::Timeloop, "timeloop"}, {hierarchy::Judge::Hierarchy, "hierarchy"}}};
};
