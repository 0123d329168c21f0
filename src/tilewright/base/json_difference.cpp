#include "tilewright/base/json_difference.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::json;

std::string shown(const Json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMost) text.replace(kMost, std::string::npos, "…");
  return printable(text);
}

void compare(const Json& is, const Json& says, const std::string& path, std::vector<std::string>& found) {
  if (is.is_object() && says.is_object()) {
    for (const auto& [key, value] : is.items()) {
      const auto other = says.find(key);
      if (other == says.end()) {
        found.push_back(fmt::format("{}/{} is {}, the file has nothing there", path, printable(key), shown(value)));
      } else {
        compare(value, *other, path + '/' + printable(key), found);
      }
    }
    for (const auto& [key, value] : says.items()) {
      if (is.contains(key)) continue;
      found.push_back(fmt::format("{}/{} should not be there, the file says {}", path, printable(key), shown(value)));
    }
    return;
  }
  if (is.is_array() && says.is_array() && is.size() == says.size()) {
    for (std::size_t i = 0; i < is.size(); ++i) compare(is[i], says[i], fmt::format("{}/{}", path, i), found);
    return;
  }
  if (is != says) found.push_back(fmt::format("{} is {}, the file says {}", path, shown(is), shown(says)));
}

}  // namespace

std::vector<std::string> differences(const Json& is, const Json& says) {
  std::vector<std::string> found;
  compare(is, says, "", found);
  return found;
}

}  // namespace tilewright
