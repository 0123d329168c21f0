#include "own_searcher.hpp"

#include <cstring>

#include <fmt/format.h>

#include "convert.hpp"

namespace tilewright::python {
namespace {

// Calls the Python object with the interpreter's lock; the loop runs on threads of ours.
class PythonSearcher final : public PointSearcher {
 public:
  PythonSearcher(std::string name, nb::object searcher, const DesignSpace& space)
      : name_(std::move(name)), searcher_(std::move(searcher)), space_(space) {}
  ~PythonSearcher() override {
    const nb::gil_scoped_acquire held;
    searcher_.reset();
  }

  void ask(std::size_t most, std::vector<Point>& points) override {
    const nb::gil_scoped_acquire held;
    const std::string place = fmt::format("searcher '{}': ask({})", name_, most);
    const nb::object asked = searcher_.attr("ask")(most);
    const PointRows rows(asked, space_.parameters().size(), place);
    if (rows.size() > most) raise(fmt::format("{} has given {} points, expected at most {}", place, rows.size(), most));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      points.push_back(rows[row]);
      if (const auto fault = illegality(space_, points.back())) raise(fmt::format("{}: point {}: {}", place, row, *fault));
      space_.canonicalise(points.back());
    }
  }

  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override { say("tell", points, verdicts); }

  // Optional: a searcher without it begins from nothing.
  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    const nb::gil_scoped_acquire held;
    if (nb::hasattr(searcher_, "notice")) say("notice", points, verdicts);
  }

 private:
  void say(const char* method, std::span<const Point> points, std::span<const Verdict> verdicts) {
    const nb::gil_scoped_acquire held;
    searcher_.attr(method)(points_array({points.begin(), points.end()}, space_.parameters().size()),
                           verdict_array(verdicts));
  }

  std::string name_;
  nb::object searcher_;
  const DesignSpace& space_;
};

}  // namespace

nb::object verdict_array(std::span<const Verdict> verdicts) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("empty")(verdicts.size(), nb::module_::import_("tilewright.points").attr("VERDICT"));
  if (nb::cast<std::size_t>(array.attr("itemsize")) != sizeof(VerdictRow))
    raise("tilewright.VERDICT is not that of this version");
  const auto bytes = nb::cast<nb::ndarray<std::uint8_t, nb::device::cpu>>(array.attr("view")(numpy.attr("uint8")));
  auto* rows = reinterpret_cast<VerdictRow*>(bytes.data());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const Verdict& verdict = verdicts[i];
    rows[i] = {verdict.feasible,
               verdict.reason,
               verdict.feasible ? verdict.score[0] : std::numeric_limits<double>::infinity(),
               {},
               {}};
    std::copy(verdict.score.begin(), verdict.score.end(), rows[i].score);
    std::copy(verdict.terms.begin(), verdict.terms.end(), rows[i].terms);
  }
  return array;
}

std::vector<Verdict> verdicts_from(nb::handle array, const Objective& objective, const std::string& place) {
  const nb::module_ points = nb::module_::import_("tilewright.points");
  std::vector<Verdict> verdicts;
  if (!nb::hasattr(array, "dtype") || !array.attr("dtype").equal(points.attr("VERDICT"))) {
    for (const OutcomeRow& row : outcome_rows(array, place)) verdicts.push_back(verdict_of(objective, outcome_of(row)));
    return verdicts;
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object rows = numpy.attr("ascontiguousarray")(array).attr("ravel")();
  std::vector<VerdictRow> copied(nb::len(rows));
  if (!copied.empty()) {
    const auto bytes = nb::cast<nb::ndarray<nb::ro, nb::device::cpu>>(rows.attr("view")(numpy.attr("uint8")));
    std::memcpy(static_cast<void*>(copied.data()), bytes.data(), copied.size() * sizeof(VerdictRow));
  }
  for (const VerdictRow& row : copied) {
    Verdict& verdict = verdicts.emplace_back();
    verdict.feasible = row.feasible != 0;
    verdict.reason = row.reason;
    std::copy(std::begin(row.score), std::end(row.score), verdict.score.begin());
    std::copy(std::begin(row.terms), std::end(row.terms), verdict.terms.begin());
    for (const double entry : verdict.score) {
      if (verdict.feasible && !(entry == entry))
        raise(fmt::format("{}: the score of a feasible point is nan, expected a number", place));
    }
  }
  return verdicts;
}

OwnSearcher own_searcher(const std::string& name, const nb::object& factory, std::shared_ptr<const AnyDesign> design) {
  // The last copy may go away on a thread without the lock.
  const std::shared_ptr<const nb::object> held(new nb::object(factory), [](const nb::object* object) {
    const nb::gil_scoped_acquire lock;
    delete object;
  });
  const auto make = [name, held, design](const SearchRequest& request, ThreadPool&) -> Result<std::unique_ptr<Searcher>> {
    const nb::gil_scoped_acquire lock;
    std::vector<std::unique_ptr<PointSearcher>> all;
    for (std::size_t problem = 0; problem < request.spaces.size(); ++problem) {
      const std::uint64_t seed = Rng(request.seed, "problem").fork("", problem).key() >> 1;  // of the sign
      const nb::object made = (*held)(std::make_shared<Space>(design, problem), request.samples, seed);
      for (const char* method : {"ask", "tell"}) {
        if (!nb::hasattr(made, method))
          raise(fmt::format("searcher '{}' has no method {}(), expected ask(n) and tell(points, verdicts)", name, method));
      }
      all.push_back(std::make_unique<PythonSearcher>(name, made, *request.spaces[problem]));
    }
    return each_alone(std::move(all));
  };
  return {name, make};
}

}  // namespace tilewright::python
