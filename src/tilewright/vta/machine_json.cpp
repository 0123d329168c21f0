#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/json.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/vta/machine.hpp"

namespace tilewright::vta {
namespace {

struct Key {
  const char* name;
  int Machine::*value;
};
constexpr Key kKeys[] = {
    {"LOG_INP_WIDTH", &Machine::log_inp_width},      {"LOG_WGT_WIDTH", &Machine::log_wgt_width},
    {"LOG_ACC_WIDTH", &Machine::log_acc_width},      {"LOG_BATCH", &Machine::log_batch},
    {"LOG_BLOCK_IN", &Machine::log_block_in},        {"LOG_BLOCK_OUT", &Machine::log_block_out},
    {"LOG_UOP_BUFF_SIZE", &Machine::log_uop_buffer}, {"LOG_INP_BUFF_SIZE", &Machine::log_inp_buffer},
    {"LOG_WGT_BUFF_SIZE", &Machine::log_wgt_buffer}, {"LOG_ACC_BUFF_SIZE", &Machine::log_acc_buffer},
};

Result<int> small_integer(const nlohmann::json& value, const std::string& where, const std::string& key) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > 1000) ||
      value.get<std::int64_t>() < -1000 || value.get<std::int64_t>() > 1000) {
    const std::string is = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 40);
    return invalid(fmt::format("{}: {} is {}, expected a small whole number", where, key, is));
  }
  return value.get<int>();
}

Error unknown_key(const std::string& key, const std::string& where) {
  std::vector<std::string> names{"LOG_BLOCK", "TARGET", "HW_VER"};
  for (const Key& known : kKeys) names.emplace_back(known.name);
  return invalid(fmt::format("{}: '{}' is no key of a machine, expected one like LOG_BLOCK{}", where,
                             printable(key.substr(0, 60)), did_you_mean(key, names)));
}

}  // namespace

Result<Machine> machine_from_json(const std::string& text, const std::string& where) {
  TW_TRY(const nlohmann::json json, parse_json(text, where));
  if (!json.is_object()) return invalid(where + ": is not a JSON object, expected the LOG_* keys of a machine");
  Machine machine;
  if (json.contains("LOG_BLOCK")) {
    TW_TRY(machine.log_block_in, small_integer(json["LOG_BLOCK"], key_position(text, where, "LOG_BLOCK"), "LOG_BLOCK"));
    machine.log_block_out = machine.log_block_in;
  }
  for (auto item = json.begin(); item != json.end(); ++item) {
    const std::string& key = item.key();
    if (key == "TARGET" || key == "HW_VER" || key == "LOG_BLOCK") continue;
    const auto known = std::ranges::find_if(kKeys, [&](const Key& candidate) { return key == candidate.name; });
    const std::string position = key_position(text, where, key);
    if (known == std::end(kKeys)) return unknown_key(key, position);
    TW_TRY(machine.*known->value, small_integer(item.value(), position, key));
  }
  return check(machine, where);
}

std::string to_json(const Machine& machine) {
  std::string text = "{\n  \"TARGET\": \"sim\",\n  \"HW_VER\": \"0.0.2\"";
  if (machine.log_block_in == machine.log_block_out) text += fmt::format(",\n  \"LOG_BLOCK\": {}", machine.log_block_in);
  for (const Key& key : kKeys) {
    const bool is_block = key.value == &Machine::log_block_in || key.value == &Machine::log_block_out;
    // The real VTA's reader knows LOG_BLOCK only, so equal blocks are written that way.
    if (is_block && machine.log_block_in == machine.log_block_out) continue;
    text += fmt::format(",\n  \"{}\": {}", key.name, machine.*key.value);
  }
  return text + "\n}\n";
}

Result<Machine> read_machine(const std::string& source) {
  if (source.starts_with("zoo:")) {
    if (lower(source) == "zoo:vta") return Machine{};
    return Error{ErrorCode::NotFound, printable(source) + ": no such machine, expected zoo:vta or a JSON file"};
  }
  TW_TRY(const std::string text, read_file(source, 1 << 20));
  return machine_from_json(text, source);
}

}  // namespace tilewright::vta
