// Timeloop's problem: a shape, its dimensions and data spaces, and an instance with the numbers.
#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/timeloop_keys.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"

namespace tilewright::hierarchy {
namespace {

Result<char> dim_letter(const Yaml& node) {
  TW_TRY(const std::string name, node.as_text("dimension"));
  if (name.size() != 1 || name[0] <= ' ' || name[0] > '~' || name[0] == ',' || name[0] == '=')
    return node.error(fmt::format("dimension is '{}', expected a single letter", name));
  return name[0];
}

// [[R, Wdilation], [P, Wstride]]: one list per term, a dimension and maybe its coefficient.
Result<std::vector<Shape::Rank>> rank_of(const Yaml& node) {
  std::vector<Shape::Rank> rank;
  if (node.kind != Yaml::Kind::List)
    return node.error("a rank of a projection is no list, expected terms like [P, Wstride]");
  for (const Yaml& given : node.items) {
    if (given.kind != Yaml::Kind::List || given.items.empty() || given.items.size() > 2)
      return given.error(
          "a term of a projection is not a dimension with at most one coefficient, expected [P] or [P, Wstride]");
    Shape::Rank term;
    TW_TRY(term.dim, dim_letter(given.items[0]));
    if (given.items.size() == 2) {
      TW_TRY(term.coefficient, given.items[1].as_text("coefficient"));
    }
    rank.push_back(std::move(term));
  }
  return rank;
}

// Weights by their name, as everybody calls them; only element widths depend on it.
TensorKind kind_named(const std::string& name) {
  const std::string word = lower(name);
  return word == "b" || word.starts_with("w") || word.starts_with("filter") || word.starts_with("kernel")
             ? TensorKind::Weight
             : TensorKind::Input;
}

Result<Shape::Space> space_of(const Yaml& node) {
  Shape::Space space;
  const Yaml* name = find_key(node, {"name"});
  if (name == nullptr) return node.error("name of a data space is missing");
  TW_TRY(space.name, name->as_text("name"));
  space.kind = kind_named(space.name);
  if (const Yaml* written = find_key(node, {"read_write"})) {
    TW_TRY(const std::string word, written->as_text("read_write"));
    if (lower(word) == "true" || lower(word) == "yes") space.kind = TensorKind::Output;
  }
  const Yaml* projection = find_key(node, {"projection"});
  if (projection == nullptr || projection->kind != Yaml::Kind::List)
    return node.error(fmt::format("projection of '{}' is missing, expected one list per rank", space.name));
  for (const Yaml& given : projection->items) {
    TW_TRY(std::vector<Shape::Rank> rank, rank_of(given));
    space.ranks.push_back(std::move(rank));
  }
  return space;
}

Result<Shape> shape_of(const Yaml& node) {
  Shape shape;
  if (const Yaml* name = find_key(node, {"name"})) {
    TW_TRY(shape.name, name->as_text("name"));
  }
  const Yaml* dimensions = find_key(node, {"dimensions"});
  if (dimensions == nullptr) return node.error("dimensions is missing, expected a list of single letters");
  if (dimensions->kind != Yaml::Kind::List) return dimensions->error("dimensions is no list, expected single letters");
  for (const Yaml& given : dimensions->items) {
    TW_TRY(const char letter, dim_letter(given));
    shape.dims += letter;
  }
  if (const Yaml* coefficients = find_key(node, {"coefficients"})) {
    for (const Yaml& given : coefficients->items) {
      const Yaml* name = find_key(given, {"name"});
      const Yaml* value = find_key(given, {"default"});
      if (name == nullptr) return given.error("name of a coefficient is missing");
      TW_TRY(const std::string word, name->as_text("name"));
      TW_TRY(const std::int64_t otherwise, value == nullptr ? Result<std::int64_t>(1) : value->as_integer("default"));
      shape.coefficients.emplace_back(word, otherwise);
    }
  }
  const Yaml* spaces = find_key(node, {"data_spaces"});
  if (spaces == nullptr || spaces->kind != Yaml::Kind::List) return node.error("data_spaces is missing, expected a list");
  for (const Yaml& given : spaces->items) {
    TW_TRY(Shape::Space space, space_of(given));
    shape.spaces.push_back(std::move(space));
  }
  return shape;
}

// What the front end of Timeloop writes besides: the size of the inputs and their padding, which count as data here as
// there.
constexpr std::string_view kDescriptions[] = {"shape", "name", "type", "version", "H", "W", "Hpad", "Wpad"};

Result<Done> refuse_densities(const Yaml* densities) {
  const bool none = densities == nullptr || (densities->fields.empty() && densities->kind != Yaml::Kind::Scalar);
  if (none) return Done{};
  return densities->error("densities are not supported, expected a dense problem");
}

}  // namespace

Result<Problem> problem_from_timeloop(const std::string& text, const std::string& where) {
  TW_TRY(const Yaml root, parse_yaml(text, where));
  const Yaml* problem = find_key(root, {"problem"});
  if (problem == nullptr) return root.error("problem is missing");
  Shape shape = *shape_named("conv");
  const Yaml* given = find_key(*problem, {"shape"});
  if (given != nullptr && given->kind == Yaml::Kind::Map) {
    TW_TRY(shape, shape_of(*given));
  } else if (given != nullptr) {
    TW_TRY(const std::string name, given->as_text("shape"));
    if (name != "cnn_layer" && name != "cnn-layer")
      return given->error(fmt::format("shape is '{}', expected cnn_layer or the shape itself", name));
  }
  TW_TRY([[maybe_unused]] const Done dense, refuse_densities(find_key(*problem, {"densities"})));
  const Yaml* instance = find_key(*problem, {"instance"});
  const Yaml& numbers = instance != nullptr ? *instance : *problem;
  NamedNumbers bounds, coefficients;
  for (const Yaml::Field& field : numbers.fields) {
    if (field.first == "densities") {
      TW_TRY([[maybe_unused]] const Done none, refuse_densities(&field.second));
      continue;
    }
    const bool is_dim = field.first.size() == 1 && shape.dims.find(field.first[0]) != std::string::npos;
    bool is_coefficient = false;
    for (const auto& [name, otherwise] : shape.coefficients) is_coefficient = is_coefficient || name == field.first;
    if (!is_dim && !is_coefficient) {
      if (std::ranges::find(kDescriptions, field.first) != std::end(kDescriptions)) continue;
      std::vector<std::string> known;
      for (const char dim : shape.dims) known.emplace_back(1, dim);
      for (const auto& [name, otherwise] : shape.coefficients) known.push_back(name);
      return field.second.error(fmt::format("'{}' is neither a dimension nor a coefficient{}, expected one of {}",
                                            field.first, did_you_mean(field.first, known), join(known, ", ")));
    }
    TW_TRY(const std::int64_t number, field.second.as_integer(field.first));
    (is_dim ? bounds : coefficients).emplace_back(field.first, number);
  }
  return problem_of(shape, bounds, coefficients, numbers.position());
}

}  // namespace tilewright::hierarchy
