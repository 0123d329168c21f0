// Every searcher of ours as an object that is asked and told.
#include "bind.hpp"
#include "convert.hpp"
#include "own_searcher.hpp"

#include <mutex>

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"

namespace tilewright::python {
namespace {

class AskedSearcher {
 public:
  AskedSearcher(std::string name, std::vector<std::shared_ptr<Space>> spaces, bool single, std::int64_t samples,
                std::uint64_t seed, Settings settings)
      : spaces_(std::move(spaces)), single_(single) {
    if (spaces_.empty()) raise("Searcher: there is no space, expected one or more");
    if (samples < 1 || samples > kMostSamples)
      raise(fmt::format("Searcher: samples is {}, expected 1 to {}", samples, kMostSamples));
    request_ = {.name = std::move(name), .spaces = {}, .samples = samples, .seed = seed, .settings = std::move(settings)};
    for (const auto& space : spaces_) {
      request_.spaces.push_back(space->space);
      if (name_of(space->objective) != name_of(spaces_.front()->objective))
        raise("Searcher: the spaces have different objectives, expected one");
    }
    request_.counts.assign(spaces_.size(), 1);
    searcher_ = take(make_searcher(request_, threads_));
  }

  nb::object ask(std::int64_t most) {
    if (most < 1 || most > kMostSamples) raise(fmt::format("ask: n is {}, expected 1 to {}", most, kMostSamples));
    const std::unique_lock lock = alone("ask");
    if (!asked_.empty()) raise("ask: the points of the last ask() were not told, expected tell() first");
    {
      const nb::gil_scoped_release released;
      searcher_->ask(std::vector<std::int64_t>(spaces_.size(), most), asked_);
    }
    nb::list all;
    for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
      std::vector<Point> points;
      for (const Proposal& proposal : asked_) {
        if (proposal.problem == problem) points.push_back(proposal.point);
      }
      all.append(points_array(points, spaces_[problem]->space->parameters().size()));
    }
    return single_ ? nb::object(all[0]) : nb::object(all);
  }

  void tell(const nb::object& points, const nb::object& verdicts) {
    const std::unique_lock lock = alone("tell");
    const std::vector<std::vector<Verdict>> judged = verdicts_of(points, verdicts, "tell");
    std::vector<std::size_t> next(spaces_.size());
    std::vector<Verdict> in_order;
    for (const Proposal& proposal : asked_) {
      std::size_t& at = next[proposal.problem];
      const PointRows rows(of_problem(points, proposal.problem, "tell: points"), proposal.point.size(), "tell: points");
      if (at >= rows.size() || rows[at] != proposal.point)
        raise("tell: the points are not those of the last ask(), in its order");
      in_order.push_back(judged[proposal.problem][at++]);
    }
    for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
      if (next[problem] != judged[problem].size()) raise("tell: there are more points than the last ask() gave");
    }
    const nb::gil_scoped_release released;
    searcher_->tell(asked_, in_order);
    asked_.clear();
  }

  void notice(const nb::object& points, const nb::object& verdicts) {
    const std::unique_lock lock = alone("notice");
    const std::vector<std::vector<Verdict>> judged = verdicts_of(points, verdicts, "notice");
    std::vector<Proposal> proposals;
    std::vector<Verdict> in_order;
    for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
      const DesignSpace& space = *spaces_[problem]->space;
      const PointRows rows(of_problem(points, problem, "notice: points"), space.parameters().size(), "notice: points");
      for (std::size_t row = 0; row < rows.size(); ++row) {
        proposals.push_back({problem, rows[row]});
        if (const auto fault = illegality(space, proposals.back().point))
          raise(fmt::format("notice: points: row {}: {}", row, *fault));
        in_order.push_back(judged[problem][row]);
      }
    }
    const nb::gil_scoped_release released;
    searcher_->notice(proposals, in_order);
  }

  const std::string& name() const { return request_.name; }
  nb::dict settings() const {
    nb::dict all;
    for (const SettingValue& value : take(settings_in_force(request_.name, completed_settings(request_))))
      all[value.name.c_str()] = value.value;
    return all;
  }

 private:
  // Two threads at once are refused, not queued: what the second asks would depend on the first.
  std::unique_lock<std::mutex> alone(const char* method) {
    std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock) raise(fmt::format("{}: another thread is using this searcher, expected one thread at a time", method));
    return lock;
  }

  nb::object of_problem(const nb::object& given, std::size_t problem, const char* place) const {
    if (single_) return given;
    if (!nb::isinstance<nb::list>(given) || nb::len(given) != spaces_.size())
      raise_type(place, given, "a list with an entry for each space");
    return given[problem];
  }

  std::vector<std::vector<Verdict>> verdicts_of(const nb::object& points, const nb::object& given,
                                                const std::string& method) const {
    std::vector<std::vector<Verdict>> all;
    for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
      all.push_back(
          verdicts_from(of_problem(given, problem, "verdicts"), spaces_[problem]->objective, method + ": verdicts"));
      const PointRows rows(of_problem(points, problem, "points"), spaces_[problem]->space->parameters().size(),
                           method + ": points");
      if (rows.size() != all.back().size())
        raise(fmt::format("{}: there are {} verdicts on {} points", method, all.back().size(), rows.size()));
    }
    return all;
  }

  std::vector<std::shared_ptr<Space>> spaces_;
  bool single_;
  ThreadPool threads_{1};
  SearchRequest request_;
  std::unique_ptr<Searcher> searcher_;
  std::vector<Proposal> asked_;
  std::mutex busy_;
};

Settings settings_from(const nb::object& given) {
  Settings settings;
  if (given.is_none()) return settings;
  if (!nb::isinstance<nb::dict>(given)) raise_type("Searcher: settings", given, "a dictionary: {'gamma.population': 100}");
  for (auto [key, value] : nb::cast<nb::dict>(given)) {
    const std::string text = nb::isinstance<nb::bool_>(value) ? (nb::cast<bool>(value) ? "true" : "false") : str_of(value);
    take(add_setting(settings, fmt::format("{}={}", str_of(key), text)));
  }
  return settings;
}

std::uint64_t seed_from(std::int64_t seed) {
  if (seed < 0) raise(fmt::format("seed is {}, expected at least 0", seed));
  return static_cast<std::uint64_t>(seed);
}

}  // namespace

void bind_search(nb::module_& module) {
  nb::class_<AskedSearcher> cls(module, "Searcher",
                                "A searcher of ours, asked and told by the caller, who judges the points.\n\n"
                                "    searcher = tw.Searcher('genetic', space, samples=1000, seed=1)\n"
                                "    points = searcher.ask(50)\n"
                                "    searcher.tell(points, space.evaluate_batch(points))\n\n"
                                "One thread at a time: a second one is refused with InvalidInput.");
  cls.def(
      "__init__",
      [](AskedSearcher* self, const std::string& name, const nb::object& space, std::int64_t samples, std::int64_t seed,
         const nb::object& settings) {
        const bool single = nb::isinstance<Space>(space);
        std::vector<std::shared_ptr<Space>> spaces;
        if (single) {
          spaces.push_back(nb::cast<std::shared_ptr<Space>>(space));
        } else {
          if (!nb::isinstance<nb::list>(space)) raise_type("Searcher: space", space, "a Space or a list of them");
          for (const nb::handle one : nb::iter(space)) {
            if (!nb::isinstance<Space>(one)) raise_type("Searcher: space", one, "a Space");
            spaces.push_back(nb::cast<std::shared_ptr<Space>>(one));
          }
        }
        new (self) AskedSearcher(name, std::move(spaces), single, samples, seed_from(seed), settings_from(settings));
      },
      "name"_a, "space"_a, nb::kw_only(), "samples"_a = 1000, "seed"_a = 1, "settings"_a = nb::none(),
      nb::sig("def __init__(self, name: str, space: Space | list[Space], *, samples: int = 1000, seed: int = 1, "
              "settings: dict[str, str | int | float | bool] | None = None) -> None"),
      "A searcher by name, see searchers(). `samples` is the budget it plans for; `settings` are hyper-parameters: "
      "{'gamma.population': 100}. "
      "With a list of spaces, what it learns in one can help it in another, and points and verdicts are lists, too.");
  cls.def_prop_ro(
      "name", [](const AskedSearcher& self) { return self.name(); }, "As it was asked for.");
  cls.def_prop_ro("settings", &AskedSearcher::settings, nb::sig("def settings(self) -> dict[str, str]"),
                  "Its hyper-parameters in force.");
  cls.def("ask", &AskedSearcher::ask, "n"_a, nb::sig("def ask(self, n: int) -> typing.Any"),
          "At most n points, legal ones, one row each, of every space; none when there is nothing left to try.");
  cls.def("tell", &AskedSearcher::tell, "points"_a, "verdicts"_a,
          nb::sig("def tell(self, points: typing.Any, verdicts: typing.Any) -> None"),
          "What the points of the last ask are worth: rows of tilewright.OUTCOME, as evaluate_batch gives, or of "
          "tilewright.VERDICT.");
  cls.def("notice", &AskedSearcher::notice, "points"_a, "verdicts"_a,
          nb::sig("def notice(self, points: typing.Any, verdicts: typing.Any) -> None"),
          "Points that are known before the first ask, such as space.known; searchers that cannot use them leave them.");
  cls.def("__repr__", [](const AskedSearcher& self) { return fmt::format("<Searcher {}>", self.name()); });
  module.def(
      "searchers",
      [] {
        nb::dict all;
        for (const SearcherInfo& info : codesign_searchers())
          all[std::string(info.name).c_str()] = std::string(info.summary);
        return all;
      },
      nb::sig("def searchers() -> dict[str, str]"), "Every searcher by name, and what it is in a line.");
}

}  // namespace tilewright::python
