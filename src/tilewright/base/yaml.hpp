// YAML as a plain tree that remembers its lines, so that every reader can say `vgg.yaml:12: …`.
//
//   TW_TRY(const Yaml root, parse_yaml(text, "vgg.yaml"));
//   TW_TRY(const auto known, root.only_keys({"format", "name", "layers"}));
//   TW_TRY(const std::int64_t stride, node.integer("stride", 1));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

struct Yaml {
  struct Field;
  enum class Kind { Null, Scalar, List, Map };
  Kind kind = Kind::Null;
  std::string scalar;
  std::vector<Yaml> items;    // of a List
  std::vector<Field> fields;  // of a Map, in the order written
  int line = 1;
  std::shared_ptr<const std::string> where;  // what error sentences call the file

  // "vgg.yaml:12", and an Error that starts with it.
  std::string position() const;
  Error error(const std::string& sentence) const;

  const Yaml* find(std::string_view key) const;  // nullptr when absent or not a Map

  // Readers of a field. The form without a default is an Error when the field is missing.
  Result<std::int64_t> integer(std::string_view key) const;
  Result<std::int64_t> integer(std::string_view key, std::int64_t otherwise) const;
  Result<double> number(std::string_view key, double otherwise) const;
  Result<std::string> text(std::string_view key) const;
  Result<std::string> text(std::string_view key, const std::string& otherwise) const;
  Result<std::vector<Yaml>> list(std::string_view key) const;  // missing = empty

  // This node itself read as a number or as text.
  Result<std::int64_t> as_integer(std::string_view what) const;
  Result<double> as_number(std::string_view what) const;
  Result<std::string> as_text(std::string_view what) const;

  // An Error that names the first field not in `keys` and the nearest that is; also when this is not a Map.
  Result<Done> only_keys(std::initializer_list<std::string_view> keys) const;
};

// Not a std::pair: clang 14 does not accept a vector of pairs of an incomplete type.
struct Yaml::Field {
  std::string first;
  Yaml second;
};

// Bad YAML, more than a million nodes, or nesting deeper than 64 is an Error.
Result<Yaml> parse_yaml(const std::string& text, const std::string& where);

// The root of a document whose field `format` must be `format`, e.g. "tilewright-network-1".
Result<Yaml> parse_yaml_document(const std::string& text, const std::string& where, std::string_view format);

// `text` as a YAML scalar: quoted when it would otherwise read as something else.
std::string yaml_scalar(std::string_view text);

}  // namespace tilewright
