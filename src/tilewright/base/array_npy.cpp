// One array: NumPy's .npy, versions 1 to 3.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/base/array_file.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

struct Header {
  std::string type;  // "<f4"
  bool is_fortran = false;
  std::vector<std::int64_t> shape;
};

// What stands behind 'key': in a header, up to the comma or the bracket that ends it.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = trim(header.substr(at + key.size() + 3));
  const std::size_t end = rest.starts_with('(') ? rest.find(')') : rest.find_first_of(",}");
  if (end == std::string_view::npos) return std::nullopt;
  return trim(rest.substr(0, rest.starts_with('(') ? end + 1 : end));
}

std::optional<Header> header_of(std::string_view text) {
  const auto type = value_of(text, "descr"), order = value_of(text, "fortran_order"), shape = value_of(text, "shape");
  if (!type || !order || !shape || type->size() < 5 || !shape->starts_with('(')) return std::nullopt;
  Header header{std::string(type->substr(1, type->size() - 2)), *order == "True", {}};
  for (const std::string_view part : split(shape->substr(1, shape->size() - 2), ',')) {
    if (trim(part).empty()) continue;
    const std::optional<std::int64_t> size = parse_integer(trim(part));
    if (!size || *size < 0 || header.shape.size() == 8) return std::nullopt;
    header.shape.push_back(*size);
  }
  return header;
}

template <typename Number>
float number_at(const char* at, bool is_swapped) {
  std::array<char, sizeof(Number)> bytes{};
  std::memcpy(bytes.data(), at, sizeof(Number));
  if (is_swapped) std::ranges::reverse(bytes);
  return static_cast<float>(std::bit_cast<Number>(bytes));
}

using Reader = float (*)(const char*, bool);
Reader reader_of(std::string_view type) {  // without the order of bytes
  static constexpr std::pair<std::string_view, Reader> kReaders[] = {
      {"f4", number_at<float>},         {"f8", number_at<double>},        {"u1", number_at<std::uint8_t>},
      {"i1", number_at<std::int8_t>},   {"b1", number_at<std::uint8_t>},  {"u2", number_at<std::uint16_t>},
      {"i2", number_at<std::int16_t>},  {"u4", number_at<std::uint32_t>}, {"i4", number_at<std::int32_t>},
      {"u8", number_at<std::uint64_t>}, {"i8", number_at<std::int64_t>}};
  for (const auto& [name, reader] : kReaders) {
    if (name == type) return reader;
  }
  return nullptr;
}

// Where the elements of a row-major walk lie when the first axis is the fastest.
std::vector<float> turned(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  std::vector<float> result(values.size());
  std::vector<std::int64_t> at(shape.size(), 0);
  for (float& value : result) {
    std::int64_t from = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) from = from * shape[axis] + at[axis];
    value = values[static_cast<std::size_t>(from)];
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
  return result;
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

Result<NumberArray> array_from_npy(std::string_view bytes, const std::string& where) {
  const auto complain = [&](const std::string& what) { return invalid(where + ": " + what); };
  const bool is_long = bytes.size() > 6 && bytes[6] != 1;  // versions 2 and 3 count the header with four bytes
  const std::size_t before = is_long ? 12 : 10;
  if (!bytes.starts_with(kMagic) || bytes.size() < before) return complain("is no .npy, expected what numpy.save writes");
  std::size_t length = 0;
  for (std::size_t i = before; i-- > 8;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > bytes.size() - before) return complain("ends within its header, expected a whole .npy");
  const std::optional<Header> header = header_of(bytes.substr(before, length));
  if (!header) return complain("has a header that is not NumPy's, expected descr, fortran_order and shape");
  const Reader reader = reader_of(std::string_view(header->type).substr(1));
  if (reader == nullptr || std::string_view("<>|=").find(header->type[0]) == std::string_view::npos) {
    return complain(
        fmt::format("has numbers of type '{}', expected floats of 4 or 8 bytes or integers: use astype('float32')",
                    printable(header->type.substr(0, 20))));
  }
  const auto size = static_cast<std::int64_t>(header->type[2] - '0');
  std::int64_t count = 1;
  for (const std::int64_t axis : header->shape) {
    if (__builtin_mul_overflow(count, axis, &count) || count > kMostElements) return complain("has more than 2^31 numbers");
  }
  const std::string_view data = bytes.substr(before + length);
  if (static_cast<std::int64_t>(data.size()) != count * size) {
    return complain(fmt::format("has {} bytes of numbers, expected {} for the shape {}", data.size(), count * size,
                                shape_text(header->shape)));
  }
  NumberArray array{header->shape, std::vector<float>(static_cast<std::size_t>(count))};
  const bool is_swapped = header->type[0] == '>';
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    array.values[i] = reader(data.data() + i * static_cast<std::size_t>(size), is_swapped);
  }
  if (header->is_fortran && array.shape.size() > 1) array.values = turned(array.values, array.shape);
  return array;
}

std::string to_npy(const NumberArray& array) {
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{}), }}",
                                   fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  constexpr std::size_t kAlignment = 64, kBefore = 10;
  header.resize((kBefore + header.size() + kAlignment) / kAlignment * kAlignment - kBefore - 1, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  const std::size_t first = bytes.size();
  bytes.resize(first + array.values.size() * sizeof(float));
  if (!array.values.empty()) std::memcpy(bytes.data() + first, array.values.data(), bytes.size() - first);
  return bytes;
}

}  // namespace tilewright
