// What `format` in run.json says, whichever verb wrote it; another verb can so tell whose directory it was given.
#pragma once

#include <string_view>

namespace tilewright {

inline constexpr std::string_view kRunFormat = "tilewright-run-1";

}  // namespace tilewright
