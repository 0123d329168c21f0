// The content of a gzip file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tilewright/base/result.hpp"

namespace tilewright {

// Bytes that are not gzip, are cut short or grow beyond `most_bytes` are an Error that begins with `where`.
Result<std::string> gunzip(std::string_view bytes, const std::string& where, std::size_t most_bytes);

}  // namespace tilewright
