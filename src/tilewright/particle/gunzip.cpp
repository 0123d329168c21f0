#include "tilewright/particle/gunzip.hpp"

#include <array>
#include <memory>

#include <fmt/format.h>
#include <zlib.h>

namespace tilewright {

Result<std::string> gunzip(std::string_view bytes, const std::string& where, std::size_t most_bytes) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return Error{ErrorCode::Io, where + ": zlib could not be started"};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);

  std::string text;
  std::array<char, 1 << 16> room;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(room.data(), room.size() - stream.avail_out);
    if (text.size() > most_bytes) {
      return invalid(fmt::format("{}: unpacks to more than {} bytes, expected at most that", where, most_bytes));
    }
  }
  if (status == Z_STREAM_END) return text;
  return invalid(where + ": is not a whole gzip file, expected one because of its name");
}

}  // namespace tilewright
