#include "tilewright/base/array_file.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kMostFile = std::int64_t{1} << 31;
constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMostGrowth = 1032;  // of deflate

// The end of a ZIP file lists its entries; both have a fixed part.
constexpr std::string_view kEntryMagic = "PK\x01\x02", kEndMagic = "PK\x05\x06", kLocalMagic = "PK\x03\x04";
constexpr std::size_t kEntrySize = 46, kEndSize = 22, kLocalSize = 30;

std::uint32_t little(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t number = 0;
  for (std::size_t i = count; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

bool stands(std::string_view bytes, std::size_t at, std::string_view magic, std::size_t size) {
  return at <= bytes.size() && bytes.size() - at >= size && bytes.substr(at, magic.size()) == magic;
}

Result<std::string> inflated(std::string_view packed, std::size_t size, const std::string& where) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Error{ErrorCode::Io, where + ": zlib could not be started"};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  std::string bytes(size, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int status = inflate(&stream, Z_FINISH);
  if (status == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0) return bytes;
  return invalid(fmt::format("{}: does not unpack to the {} bytes that the file says, expected a whole .npz", where, size));
}

}  // namespace

const ArrayFile::Entry* ArrayFile::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::string> ArrayFile::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

Result<Done> ArrayFile::list_zip() {
  const std::string_view bytes = bytes_;
  const auto damaged = [&](const std::string& what) { return invalid(fmt::format("{}: {}", where_, what)); };
  // Behind the end there may be a comment of at most 64 KiB.
  const std::size_t last = bytes.rfind(kEndMagic);
  if (last == std::string_view::npos || !stands(bytes, last, kEndMagic, kEndSize)) {
    return damaged("has no list of its arrays at the end, expected a whole .npz");
  }
  const std::size_t count = little(bytes, last + 10, 2);
  std::size_t at = little(bytes, last + 16, 4);
  for (std::size_t index = 0; index < count; ++index) {
    const std::string cut = fmt::format("entry {} of its list is not whole, expected {} entries", index, count);
    if (!stands(bytes, at, kEntryMagic, kEntrySize)) return damaged(cut);
    const std::size_t name = little(bytes, at + 28, 2), extra = little(bytes, at + 30, 2),
                      comment = little(bytes, at + 32, 2);
    if (bytes.size() - at - kEntrySize < name) return damaged(cut);
    Entry entry;
    entry.name = bytes.substr(at + kEntrySize, name);
    const std::string called = printable(entry.name.substr(0, 60));
    const std::uint32_t method = little(bytes, at + 10, 2);
    entry.checksum = little(bytes, at + 16, 4);
    entry.packed = little(bytes, at + 20, 4);
    entry.size = little(bytes, at + 24, 4);
    const std::size_t local = little(bytes, at + 42, 4);
    at += kEntrySize + name + extra + comment;
    if ((method != 0 && method != 8) || (little(bytes, at - extra - comment - name - kEntrySize + 8, 2) & 1) != 0) {
      return damaged(fmt::format("'{}' is packed by method {} or encrypted, expected stored or deflated", called, method));
    }
    entry.is_deflated = method == 8;
    if (!stands(bytes, local, kLocalMagic, kLocalSize))
      return damaged(fmt::format("'{}' is not where the list says", called));
    entry.at = local + kLocalSize + little(bytes, local + 26, 2) + little(bytes, local + 28, 2);
    const bool fits = entry.at <= bytes.size() && bytes.size() - entry.at >= entry.packed;
    if (!fits || entry.size > (entry.is_deflated ? entry.packed * kMostGrowth : entry.packed)) {
      return damaged(fmt::format("'{}' is {} bytes in {}, more than the file holds", called, entry.size, entry.packed));
    }
    if (entry.name.ends_with(".npy")) entry.name.resize(entry.name.size() - 4);
    if (entry.name.ends_with('/')) continue;
    if (find(entry.name) != nullptr) return damaged(fmt::format("'{}' is there twice, expected every array once", called));
    entries_.push_back(std::move(entry));
    if (at > bytes.size()) return damaged(cut);
  }
  if (entries_.empty()) return damaged("has no arrays, expected at least one");
  return Done{};
}

Result<ArrayFile> ArrayFile::from_bytes(std::string bytes, std::string where) {
  ArrayFile file;
  file.bytes_ = std::move(bytes);
  file.where_ = std::move(where);
  if (file.bytes_.starts_with(kNpyMagic)) {
    file.entries_.push_back({.name = "X", .at = 0, .packed = file.bytes_.size(), .size = file.bytes_.size(), .path = {}});
    return file;
  }
  if (!file.bytes_.starts_with(kLocalMagic) && !file.bytes_.starts_with(kEndMagic)) {
    return invalid(file.where_ + ": is neither .npz nor .npy, expected arrays that numpy.savez or numpy.save wrote");
  }
  TW_TRY([[maybe_unused]] const Done listed, file.list_zip());
  return file;
}

Result<ArrayFile> ArrayFile::read(const std::filesystem::path& path) {
  std::error_code status;
  if (!std::filesystem::is_directory(path, status)) {
    TW_TRY(std::string bytes, read_file(path, kMostFile));
    return from_bytes(std::move(bytes), path.string());
  }
  ArrayFile file;
  file.where_ = path.string();
  for (const auto& entry : std::filesystem::directory_iterator(path, status)) {
    if (entry.path().extension() != ".npy") continue;
    file.entries_.push_back({.name = entry.path().stem().string(), .path = entry.path()});
  }
  if (file.entries_.empty()) return invalid(file.where_ + ": has no .npy file, expected one per array");
  std::ranges::sort(file.entries_, {}, &Entry::name);
  return file;
}

Result<std::string> ArrayFile::unpacked(const Entry& entry, const std::string& where) const {
  if (!entry.path.empty()) return read_file(entry.path, kMostFile);
  const std::string_view packed = std::string_view(bytes_).substr(entry.at, entry.packed);
  if (bytes_.starts_with(kNpyMagic)) return std::string(packed);
  std::string bytes;
  if (entry.is_deflated) {
    TW_TRY(bytes, inflated(packed, entry.size, where));
  } else {
    bytes = packed;
  }
  const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (checksum != entry.checksum) return invalid(where + ": its checksum is not that of the file's list, so it is damaged");
  return bytes;
}

Result<NumberArray> ArrayFile::array(std::string_view name) const {
  const Entry* const entry = find(name);
  if (entry == nullptr) {
    const std::vector<std::string> all = names();
    return Error{
        ErrorCode::NotFound,
        fmt::format("{}: has no array '{}', expected one of its {}: {}{}", where_, printable(name), all.size(),
                    printable(fmt::format(
                        "{}", fmt::join(all.begin(), all.begin() + std::min<std::ptrdiff_t>(std::ssize(all), 8), ", "))),
                    did_you_mean(name, all))};
  }
  const std::string where = where_ + ": array '" + printable(name) + "'";
  TW_TRY(const std::string bytes, unpacked(*entry, where));
  return array_from_npy(bytes, where);
}

}  // namespace tilewright
