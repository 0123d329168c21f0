#include "tilewright/base/yaml.hpp"

#include <set>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr int kMostNodes = 1'000'000;  // an alias that repeats an alias can stand for more than memory holds
constexpr int kMostDepth = 64;

struct Converter {
  std::shared_ptr<const std::string> where;
  int nodes = 0;

  Result<Yaml> convert(const YAML::Node& node, int depth) {
    Yaml result;
    result.where = where;
    result.line = node.Mark().line + 1;
    if (++nodes > kMostNodes) return result.error(fmt::format("has more than {} nodes, expected at most that", kMostNodes));
    if (depth > kMostDepth) return result.error(fmt::format("is nested deeper than {}, expected at most that", kMostDepth));
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        result.kind = Yaml::Kind::Scalar;
        result.scalar = node.Scalar();
        if (!is_text(result.scalar)) return result.error("has bytes that are not UTF-8 text, expected only such");
        break;
      case YAML::NodeType::Sequence:
        result.kind = Yaml::Kind::List;
        for (const YAML::Node& item : node) {
          TW_TRY(Yaml converted, convert(item, depth + 1));
          result.items.push_back(std::move(converted));
        }
        break;
      case YAML::NodeType::Map: {
        result.kind = Yaml::Kind::Map;
        std::set<std::string> keys;
        for (const auto& field : node) {
          if (!field.first.IsScalar()) return result.error("has a key that is not text, expected a name");
          const std::string key = field.first.Scalar();
          if (!is_text(key)) return result.error("has a key that is not UTF-8 text, expected a name");
          if (!keys.insert(key).second) return result.error(fmt::format("has '{}' twice, expected it once", key));
          TW_TRY(Yaml converted, convert(field.second, depth + 1));
          if (converted.kind == Yaml::Kind::Null) converted.line = field.first.Mark().line + 1;
          result.fields.push_back({key, std::move(converted)});
        }
        break;
      }
      default:
        break;
    }
    return result;
  }
};

const char* describe(Yaml::Kind kind) {
  switch (kind) {
    case Yaml::Kind::Null:
      return "empty";
    case Yaml::Kind::List:
      return "a list";
    case Yaml::Kind::Map:
      return "a map";
    default:
      return "text";
  }
}

Error missing(const Yaml& node, std::string_view key) {
  return node.error(fmt::format("'{}' is missing, expected it here", key));
}

}  // namespace

std::string Yaml::position() const { return fmt::format("{}:{}", where ? *where : "yaml", line); }

Error Yaml::error(const std::string& sentence) const { return invalid(fmt::format("{}: {}", position(), sentence)); }

const Yaml* Yaml::find(std::string_view key) const {
  for (const auto& [name, value] : fields) {
    if (name == key) return &value;
  }
  return nullptr;
}

Result<std::int64_t> Yaml::as_integer(std::string_view what) const {
  if (kind != Kind::Scalar) return error(fmt::format("{} is {}, expected a whole number", what, describe(kind)));
  const auto number = parse_integer(scalar);
  if (!number) return error(fmt::format("{} is '{}', expected a whole number", what, scalar));
  return *number;
}

Result<double> Yaml::as_number(std::string_view what) const {
  if (kind != Kind::Scalar) return error(fmt::format("{} is {}, expected a number", what, describe(kind)));
  if (const auto number = parse_real(scalar)) return *number;
  return error(fmt::format("{} is '{}', expected a number", what, scalar));
}

Result<std::string> Yaml::as_text(std::string_view what) const {
  if (kind != Kind::Scalar) return error(fmt::format("{} is {}, expected text", what, describe(kind)));
  return scalar;
}

Result<std::int64_t> Yaml::integer(std::string_view key) const {
  const Yaml* field = find(key);
  if (field == nullptr) return missing(*this, key);
  return field->as_integer(fmt::format("'{}'", key));
}

Result<std::int64_t> Yaml::integer(std::string_view key, std::int64_t otherwise) const {
  return find(key) == nullptr ? Result<std::int64_t>(otherwise) : integer(key);
}

Result<double> Yaml::number(std::string_view key, double otherwise) const {
  const Yaml* field = find(key);
  return field == nullptr ? Result<double>(otherwise) : field->as_number(fmt::format("'{}'", key));
}

Result<std::string> Yaml::text(std::string_view key) const {
  const Yaml* field = find(key);
  if (field == nullptr) return missing(*this, key);
  return field->as_text(fmt::format("'{}'", key));
}

Result<std::string> Yaml::text(std::string_view key, const std::string& otherwise) const {
  return find(key) == nullptr ? Result<std::string>(otherwise) : text(key);
}

Result<std::vector<Yaml>> Yaml::list(std::string_view key) const {
  const Yaml* field = find(key);
  if (field == nullptr) return std::vector<Yaml>{};
  if (field->kind != Kind::List) return field->error(fmt::format("'{}' is {}, expected a list", key, describe(field->kind)));
  return field->items;
}

Result<Done> Yaml::only_keys(std::initializer_list<std::string_view> keys) const {
  if (kind != Kind::Map) return error(fmt::format("is {}, expected a map", describe(kind)));
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const auto& [name, value] : fields) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = fmt::format(", expected one of {}", join(known, ", "));
    return value.error(fmt::format("'{}' is not a known field{}", name, hint));
  }
  return Done{};
}

Result<Yaml> parse_yaml(const std::string& text, const std::string& where) {
  try {
    Converter converter{std::make_shared<const std::string>(where)};
    return converter.convert(YAML::Load(text), 0);
  } catch (const YAML::Exception& failure) {
    return invalid(fmt::format("{}:{}: is not YAML: {}", where, failure.mark.line + 1, failure.msg));
  } catch (const std::exception& failure) {
    return invalid(fmt::format("{}: is not YAML: {}", where, failure.what()));
  }
}

Result<Yaml> parse_yaml_document(const std::string& text, const std::string& where, std::string_view format) {
  TW_TRY(Yaml root, parse_yaml(text, where));
  if (root.kind != Yaml::Kind::Map) return root.error(fmt::format("is {}, expected a map", describe(root.kind)));
  TW_TRY(const std::string found, root.text("format"));
  if (found != format) {
    return root.find("format")->error(fmt::format("format is '{}', expected '{}'", found, format));
  }
  return root;
}

std::string yaml_scalar(std::string_view text) {
  YAML::Emitter emitter;
  emitter << YAML::Flow << YAML::BeginSeq << std::string(text) << YAML::EndSeq;  // in a list a comma needs quotes, too
  const std::string list = emitter.c_str();
  return list.substr(1, list.size() - 2);
}

}  // namespace tilewright
