// Design spaces as games: what is legal for many points at once, and which agent decides which parameters.
#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include "bind.hpp"
#include "convert.hpp"
#include "space.hpp"

#include "tilewright/agents/assignment.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"

namespace tilewright::python {
namespace {

nb::object legal_choices(const Space& self, nb::handle value, std::size_t parameter) {
  const std::vector<Parameter>& parameters = self.space->parameters();
  if (parameter >= parameters.size()) {
    raise(fmt::format("legal_choices: there is no parameter {}, expected 0 to {}", parameter, parameters.size() - 1));
  }
  const PointRows rows(value, parameters.size(), "legal_choices: points");
  const auto values = static_cast<std::size_t>(parameters[parameter].value_count);
  auto legal = std::make_unique<bool[]>(std::max<std::size_t>(1, rows.size() * values));
  Point point(parameters.size());
  Choices choices;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows.copy(row, point);
    for (std::size_t i = 0; i <= parameter; ++i) {
      self.space->choices(point, i, choices);
      if (i < parameter && !choices.contains(point[i])) {
        raise(fmt::format("legal_choices: {} is {} in row {}, which is not legal", parameters[i].name, point[i], row));
      }
    }
    for (std::int32_t i = 0; i < choices.count(); ++i) legal[row * values + static_cast<std::size_t>(choices[i])] = true;
  }
  bool* data = legal.release();
  const nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<bool*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, bool, nb::ndim<2>>(data, {rows.size(), values}, owner));
}

std::vector<std::vector<std::string>> assigned(const Space& self, const std::string& how) {
  const std::vector<Parameter> parameters = all_parameters({self.space});
  if (how == "single") return assign_single(parameters).agents;
  if (how == "per-parameter") return assign_per_parameter(parameters).agents;
  if (how == "by-role") return assign_by_role(parameters).agents;
  const std::vector<std::string> words = {"single", "per-parameter", "by-role"};
  raise(fmt::format("assignment is {}{}, expected one of {}, or the names of parameters by agent", in_quotes(how),
                    did_you_mean(how, words), join(words, ", ")));
}

}  // namespace

void bind_design(nb::module_& module) {
  module.def(
      "legal_choices", &legal_choices, "space"_a, "points"_a, "parameter"_a,
      nb::sig("def legal_choices(space: Space, points: numpy.typing.NDArray[numpy.signedinteger[typing.Any]], parameter: "
              "int) -> numpy.typing.NDArray[numpy.bool_]"),
      "Which values of a parameter are legal after the entries before it: a row for each point, an entry for each value.");
  module.def("assigned", &assigned, "space"_a, "how"_a, "The parameters of each agent, by an assignment's name.");
}

}  // namespace tilewright::python
