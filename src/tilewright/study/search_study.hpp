// The search beneath a study: design spaces in, ledgers out. It knows nothing of networks or machines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/options.hpp"
#include "tilewright/search/search_loop.hpp"
#include "tilewright/search/settings.hpp"
#include "tilewright/study/run_context.hpp"

namespace tilewright::optimum {
struct Effort;
}

namespace tilewright {

struct SearchOptions {
  std::string search = "agents";           // a searcher by name: their list is open
  std::int64_t samples = 2'000;            // per problem; valid, invalid and repeated ones all count
  std::uint64_t seed = 1;                  // the same seed gives the same bytes for any number of threads
  std::vector<std::string> settings = {};  // hyper-parameters: "gamma.population=100"
  std::string from = {};                   // a trained team that `agents` begin with: its folder, or the directory of a run
  bool prove = false;                  // how far from the optimum the best mapping is, as far as `seconds` and `nodes` go
  std::optional<double> seconds = {};  // of a proof, per problem; nothing = as long as it takes
  std::optional<std::int64_t> nodes = {};  // likewise; nothing = as optimum::Effort has it
  std::string store = {};  // a file of evaluated points, shared between runs; empty = that of the run directory
};
OptionTable options_of(SearchOptions& options);

// The searcher that proves (optimum/optimal_searcher.hpp), which only machines with memory levels have.
inline constexpr std::string_view kOptimal = "optimal";
optimum::Effort effort_of(const SearchOptions& options, const RunContext& context);

struct SearchTask {
  std::string title = {};                       // "resnet18 on eyeriss"
  std::vector<std::string> names = {};          // of the problems
  std::vector<const DesignSpace*> spaces = {};  // outlive the search
  Objective objective = {};
  std::vector<double> counts = {};   // how often there is each problem, for searchers of a whole network
  std::vector<Proposal> known = {};  // judged first, told to the searcher, not charged
  // Both as SearchLoop has them; may be empty.
  std::function<std::optional<Score>(std::size_t problem, PointView point)> referee = {};
  std::function<void(const Proposal&, const Outcome&, const Verdict&)> on_sample = {};
  // Of the progress: what samples are called, and what there is to say; empty = a line for each problem.
  std::string_view unit = "samples";
  std::function<std::string()> words = {};
};

struct SearchStudy {
  std::vector<Ledger> ledgers;         // one per problem
  std::vector<SettingValue> settings;  // in force
  std::shared_ptr<const Story> story;  // what the searcher has to tell besides; may be null
  std::int64_t known_before = 0;       // points that the store had
  bool interrupted = false;
};

// Until the samples are spent, or the context stops it: then with what there is. Evaluated points are kept in `store`, or in
// the context's directory.
Result<SearchStudy> search(const SearchTask& task, const SearchOptions& options, RunContext& context);

}  // namespace tilewright
