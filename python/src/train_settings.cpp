#include "train_settings.hpp"

#include <nlohmann/json.hpp>

#include "tilewright/base/json.hpp"

namespace tilewright::python {
namespace {

using Json = nlohmann::ordered_json;

// Words are texts in the tables, but people write hidden=64.
void write_words(const OptionTable& table, Json& json) {
  if (!json.is_object()) return;
  for (const OptionField& field : table) {
    const std::string name(field.name);
    if (std::holds_alternative<Worded>(field.target) && json.contains(name) && json.at(name).is_number()) {
      json[name] = json.at(name).dump();
    }
  }
}

}  // namespace

void read_settings(TrainSettings& settings, const std::string& options, const std::string& where) {
  const OptionTable table = options_of(settings);
  Json json = take(parse_json(options, where));
  write_words(table, json);
  take(read_options(table, json, where));
}

}  // namespace tilewright::python
