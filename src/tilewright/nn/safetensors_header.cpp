#include "tilewright/nn/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

struct TypeName {
  TensorType type;
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<TypeName, 4> kTypes = {
    {{TensorType::F32, "F32", 4}, {TensorType::F64, "F64", 8}, {TensorType::I64, "I64", 8}, {TensorType::U8, "U8", 1}}};

// Follows the JSON word by word and builds no tree of it, so a hostile header costs no more than its own size.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;
  std::string problem;  // what is, what was expected

  bool start_object(std::size_t) override {
    if (place_ == Place::Start) return enter(Place::Top);
    if (place_ == Place::TopValue) return enter(name_ == kMetadataKey ? Place::Metadata : Place::Tensor);
    return unexpected("an object");
  }
  bool end_object() override {
    if (place_ == Place::Top) return enter(Place::End);
    if (place_ == Place::Tensor) {
      if (!has_type_ || !has_shape_ || !has_offsets_) {
        return fail(fmt::format("tensor '{}' lacks one of dtype, shape and data_offsets, expected all three", shown()));
      }
      header.tensors.emplace(name_, std::move(tensor_));
    }
    return enter(Place::Top);
  }
  bool key(std::string& text) override {
    field_ = text;
    if (place_ == Place::Top) {
      name_ = text;
      tensor_ = {};
      has_type_ = has_shape_ = has_offsets_ = false;
      const bool again = name_ == kMetadataKey ? std::exchange(has_metadata_, true) : header.tensors.contains(name_);
      if (again) return fail(fmt::format("the name '{}' comes twice, expected once", shown()));
      return enter(Place::TopValue);
    }
    if (place_ == Place::Metadata) {
      if (header.metadata.contains(field_)) {
        return fail(fmt::format("the metadata '{}' comes twice, expected once", printable(field_)));
      }
      return enter(Place::MetadataValue);
    }
    bool* has = field_ == "dtype" ? &has_type_ : field_ == "shape" ? &has_shape_ : &has_offsets_;
    if (has == &has_offsets_ && field_ != "data_offsets") {
      return fail(
          fmt::format("tensor '{}' has a field '{}', expected dtype, shape and data_offsets", shown(), printable(field_)));
    }
    if (std::exchange(*has, true)) {
      return fail(fmt::format("tensor '{}' has {} twice, expected it once", shown(), field_));
    }
    return enter(has == &has_type_ ? Place::TypeValue : has == &has_shape_ ? Place::ShapeValue : Place::OffsetsValue);
  }
  bool start_array(std::size_t) override {
    numbers_.clear();
    if (place_ == Place::ShapeValue) return enter(Place::Shape);
    if (place_ == Place::OffsetsValue) return enter(Place::Offsets);
    return unexpected("an array");
  }
  bool end_array() override {
    if (place_ == Place::Shape) {
      tensor_.shape.assign(numbers_.begin(), numbers_.end());
      return enter(Place::Tensor);
    }
    if (numbers_.size() != 2) {
      return fail(fmt::format("tensor '{}' has {} data_offsets, expected 2", shown(), numbers_.size()));
    }
    tensor_.begin = numbers_[0];
    tensor_.end = numbers_[1];
    return enter(Place::Tensor);
  }
  bool number_unsigned(std::uint64_t number) override {
    if (place_ != Place::Shape && place_ != Place::Offsets) return unexpected("a number");
    numbers_.push_back(number);
    return true;
  }
  bool string(std::string& text) override {
    if (place_ == Place::MetadataValue) {
      header.metadata.emplace(field_, text);
      return enter(Place::Metadata);
    }
    if (place_ != Place::TypeValue) return unexpected("text");
    const auto* type = std::ranges::find(kTypes, std::string_view(text), &TypeName::name);
    if (type == kTypes.end()) {
      return fail(fmt::format("tensor '{}' has dtype '{}', expected F32, F64, I64 or U8", shown(), printable(text)));
    }
    tensor_.type = type->type;
    return enter(Place::Tensor);
  }
  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool number_integer(std::int64_t) override { return unexpected("a negative number"); }
  bool number_float(double, const std::string&) override { return unexpected("a fraction or too large a number"); }
  bool binary(std::string&) { return unexpected("binary"); }
  bool binary(std::vector<std::uint8_t>&) { return unexpected("binary"); }
  bool binary(nlohmann::json::binary_t&) override { return unexpected("binary"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return fail(fmt::format("the header is not JSON at its byte {}, expected that of a safetensors file", position));
  }

 private:
  enum class Place {
    Start,
    Top,
    TopValue,
    Metadata,
    MetadataValue,
    Tensor,
    TypeValue,
    ShapeValue,
    OffsetsValue,
    Shape,
    Offsets,
    End
  };

  bool enter(Place place) {
    place_ = place;
    return true;
  }
  bool fail(std::string sentence) {
    problem = std::move(sentence);
    return false;
  }
  bool unexpected(std::string_view what) {
    switch (place_) {
      case Place::TopValue:
        return fail(fmt::format("'{}' is {}, expected an object", shown(), what));
      case Place::MetadataValue:
        return fail(fmt::format("the metadata '{}' is {}, expected text", printable(field_), what));
      case Place::TypeValue:
        return fail(fmt::format("tensor '{}': dtype is {}, expected text", shown(), what));
      case Place::ShapeValue:
      case Place::OffsetsValue:
        return fail(fmt::format("tensor '{}': {} is {}, expected an array", shown(), field_, what));
      case Place::Shape:
      case Place::Offsets:
        return fail(fmt::format("tensor '{}': {} holds {}, expected whole numbers from 0 on", shown(), field_, what));
      default:
        return fail(fmt::format("the header is {}, expected an object", what));
    }
  }
  std::string shown() const { return printable(name_.substr(0, 100)); }

  Place place_ = Place::Start;
  std::string name_, field_;
  HeaderTensor tensor_;
  bool has_type_ = false, has_shape_ = false, has_offsets_ = false, has_metadata_ = false;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace

std::string_view to_string(TensorType type) { return kTypes[static_cast<std::size_t>(type)].name; }

std::optional<std::uint64_t> tensor_bytes(TensorType type, const std::vector<std::size_t>& shape) {
  std::uint64_t bytes = kTypes[static_cast<std::size_t>(type)].bytes;
  for (const std::size_t size : shape) {
    if (__builtin_mul_overflow(bytes, std::uint64_t{size}, &bytes)) return std::nullopt;
  }
  return bytes;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, const std::string& where) {
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(json, &reader)) return invalid(where + ": " + reader.problem);
  return std::move(reader.header);
}

Result<Done> check_places(const SafetensorsHeader& header, std::uint64_t data_bytes, const std::string& where) {
  using Entry = std::pair<const std::string, HeaderTensor>;
  std::vector<const Entry*> entries;
  for (const Entry& entry : header.tensors) entries.push_back(&entry);
  std::ranges::stable_sort(entries, {}, [](const Entry* e) { return std::tuple(e->second.begin, e->second.end); });
  std::uint64_t filled = 0;
  for (const Entry* entry : entries) {
    const auto& [name, place] = *entry;
    const auto complain = [&, shown = printable(name.substr(0, 100))](const std::string& problem) {
      return invalid(fmt::format("{}: tensor '{}' {}", where, shown, problem));
    };
    if (place.end < place.begin || place.end > data_bytes) {
      return complain(
          fmt::format("lies at the bytes {} to {}, expected a place within {}", place.begin, place.end, data_bytes));
    }
    const auto needed = tensor_bytes(place.type, place.shape);
    if (needed != place.end - place.begin) {
      return complain(fmt::format("has {} bytes, expected {} by its dtype and shape", place.end - place.begin,
                                  needed ? fmt::format("{}", *needed) : "more than there can be"));
    }
    if (place.begin != filled) {
      return complain(fmt::format("begins at byte {}, expected {}, where the one before it ends", place.begin, filled));
    }
    filled = place.end;
  }
  if (filled != data_bytes) {
    return invalid(
        fmt::format("{}: the tensors end at byte {}, expected {}, the end of the file", where, filled, data_bytes));
  }
  return Done{};
}

}  // namespace tilewright
