#include "tilewright/base/names.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {

Error unknown_name(std::string_view what, std::string_view word, const std::vector<std::string>& names) {
  return invalid(fmt::format("{} '{}' is not known{}, expected one of {}", what, printable(word), did_you_mean(word, names),
                             join(names, ", ")));
}

}  // namespace tilewright
