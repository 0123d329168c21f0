// What a question about design spaces begins with, whatever the kind of machine: the space of every distinct layer of a
// network, and what is known of it before a search.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/space/design_space.hpp"
#include "tilewright/study/mapping_options.hpp"
#include "tilewright/study/search_study.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

// One distinct layer.
struct DesignProblem {
  std::string name;
  std::int64_t count = 1;            // how often the network has it
  std::vector<std::string> members;  // printable names of the network's layers that have this shape
  std::unique_ptr<DesignSpace> space;
  std::vector<Point> known;  // those the search is told
};

struct DesignJob {
  MappingInputs inputs;                    // what it was read from; empty names where it was made of objects
  MappingOptions options;                  // with the limits in the objective
  std::string network_name, machine_name;  // printable
  Coverage coverage;                       // of the network by the problems

  DesignJob() = default;
  DesignJob(DesignJob&&) = default;
  DesignJob& operator=(DesignJob&&) = default;
  virtual ~DesignJob() = default;

  virtual std::vector<const DesignProblem*> design_problems() const = 0;
  std::vector<const DesignSpace*> spaces() const;
  std::vector<Proposal> known() const;  // of all problems
};

// A job whose problems are told in the words of a kind of machine.
template <typename Problem>
struct JobOf : DesignJob {
  std::vector<Problem> problems;

  std::vector<const DesignProblem*> design_problems() const override {
    std::vector<const DesignProblem*> all;
    for (const Problem& problem : problems) all.push_back(&problem);
    return all;
  }
};

// `tilewright explain` with what the layer was searched for: for those who find no mapping.
std::string explain_command(const DesignJob& job, const std::string& layer);

// The job outlives the task.
SearchTask task_of(const DesignJob& job);

}  // namespace tilewright
