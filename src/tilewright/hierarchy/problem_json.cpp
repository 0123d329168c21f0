#include "tilewright/hierarchy/problem_json.hpp"

#include <fmt/format.h>

namespace tilewright::hierarchy {

using Json = nlohmann::ordered_json;

namespace {

Result<NamedNumbers> numbers_of(const JsonPlace& place, std::int64_t least) {
  if (!place.json->is_object()) return place.wrong("an object of whole numbers");
  NamedNumbers numbers;
  for (const auto& [name, value] : place.json->items()) {
    TW_TRY(const std::int64_t number, JsonPlace({&value, place.path + "." + name}).integer(least, kMostCount));
    numbers.emplace_back(name, number);
  }
  return numbers;
}

}  // namespace

Result<Problem> problem_at(const JsonPlace& place) {
  TW_TRY(const JsonPlace shape_place, place.member("shape"));
  TW_TRY(const std::string shape_name, shape_place.text());
  const auto shape = shape_named(shape_name);
  if (!shape) return shape_place.wrong("conv, dwconv, gconv, gemm or bgemm");
  TW_TRY(const JsonPlace dims, place.member("dims"));
  TW_TRY(const NamedNumbers bounds, numbers_of(dims, 1));
  NamedNumbers coefficients;
  if (const auto given = place.find("coefficients")) {
    TW_TRY(coefficients, numbers_of(*given, -kMostCount));
  }
  return problem_of(*shape, bounds, coefficients, place.path);
}

Json to_json(const Problem& problem) {
  Json json{{"dims", problem.dims}, {"bounds", problem.bounds}, {"tensors", Json::array()}};
  for (const Tensor& tensor : problem.tensors) {
    Json ranks = Json::array();
    for (const auto& rank : tensor.ranks) {
      Json terms = Json::array();
      for (const Term& term : rank) terms.push_back(Json::array({std::string(1, problem.dims[term.dim]), term.coefficient}));
      ranks.push_back(std::move(terms));
    }
    json["tensors"].push_back({{"name", tensor.name}, {"kind", static_cast<int>(tensor.kind)}, {"ranks", std::move(ranks)}});
  }
  return json;
}

Result<Problem> problem_from(const Json& json) {
  try {
    Problem problem;
    problem.dims = json.at("dims").get<std::string>();
    problem.bounds = json.at("bounds").get<std::vector<std::int64_t>>();
    for (const Json& entry : json.at("tensors")) {
      Tensor& tensor = problem.tensors.emplace_back();
      tensor.name = entry.at("name").get<std::string>();
      const int kind = entry.at("kind").get<int>();
      if (kind < 0 || kind > static_cast<int>(TensorKind::Output))
        return invalid(fmt::format("kind is {}, expected 0 to 2", kind));
      tensor.kind = static_cast<TensorKind>(kind);
      for (const Json& rank : entry.at("ranks")) {
        auto& terms = tensor.ranks.emplace_back();
        for (const Json& term : rank) {
          const std::string letter = term.at(0).get<std::string>();
          const auto dim = letter.size() == 1 ? problem.dim_named(letter[0]) : std::nullopt;
          if (!dim) return invalid(fmt::format("a rank has '{}', expected one of {}", letter, problem.dims));
          terms.push_back({*dim, term.at(1).get<std::int64_t>()});
        }
      }
    }
    return check(std::move(problem), "problem");
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("problem cannot be read ({})", failure.what()));
  }
}

}  // namespace tilewright::hierarchy
