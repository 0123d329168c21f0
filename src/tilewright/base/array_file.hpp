// Arrays of numbers by name, as NumPy keeps them: a .npz file (a ZIP of .npy files, stored or deflated), one .npy file, or a
// folder of those.
//
//   .npy  "\x93NUMPY", version, length of the header, {'descr': '<f4', 'fortran_order': False, 'shape': (120, 1, 8, 8), },
//   numbers
//
// Only the arrays that are asked for are unpacked, and none becomes larger than the file says and deflate can make it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

// Row-major, the last axis fastest; what was another type of number or order in the file has become this.
struct NumberArray {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};
std::string shape_text(const std::vector<std::int64_t>& shape);  // "120x1x8x8"

Result<NumberArray> array_from_npy(std::string_view bytes, const std::string& where);
std::string to_npy(const NumberArray& array);

class ArrayFile {
 public:
  // A .npz, or a .npy, whose array is called X.
  static Result<ArrayFile> from_bytes(std::string bytes, std::string where);
  // A file of one of these kinds, or a folder of .npy files: NAME.npy is array NAME.
  static Result<ArrayFile> read(const std::filesystem::path& path);

  std::vector<std::string> names() const;  // in the order of the file; of a folder, sorted
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // An Error when there is no such array, or it is damaged or not of numbers.
  Result<NumberArray> array(std::string_view name) const;
  const std::string& where() const { return where_; }

 private:
  struct Entry {
    std::string name;
    std::size_t at = 0, packed = 0, size = 0;  // in bytes_
    bool is_deflated = false;
    std::uint32_t checksum = 0;
    std::filesystem::path path;  // of a folder's
  };
  const Entry* find(std::string_view name) const;
  Result<std::string> unpacked(const Entry& entry, const std::string& where) const;
  Result<Done> list_zip();

  std::string bytes_, where_;
  std::vector<Entry> entries_;
};

}  // namespace tilewright
