#include "tilewright/app/settings_text.hpp"

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"

namespace tilewright {

Result<int> show_settings(const std::string& search, const std::vector<std::string>& settings) {
  Settings given;
  for (const std::string& setting : settings) {
    TW_TRY([[maybe_unused]] const Done added, add_setting(given, setting));
  }
  TW_TRY(const auto fields, settings_in_force(search, given));
  for (const SettingValue& field : fields) {
    print(fmt::format("{:<28} {:<12} {}\n", fmt::format("{}.{}", search, field.name), field.value, field.meaning));
  }
  return kExitDone;
}

}  // namespace tilewright
