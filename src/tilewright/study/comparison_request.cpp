#include "tilewright/study/comparison_request.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.hpp"
#include "tilewright/study/input_facts.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {

using Json = nlohmann::ordered_json;

OptionTable options_of(CompareRequest& request) {
  OptionTable table = options_of(request.inputs, request.mapping, NetworkIs::Flag);
  for (OptionField& field : options_of(request.options)) table.push_back(std::move(field));
  table.push_back({"classics",
                   &request.classics,
                   "tell the searchers the classic dataflows, as map does (with --levels auto, all of them)",
                   {.group = "Who is compared"}});
  return table;
}

MappingOptions mapping_of(const CompareRequest& request) {
  MappingOptions mapping = request.mapping;
  mapping.no_classics = !request.classics;
  return mapping;
}

std::string run_json(const CompareRequest& request) {
  CompareRequest asked = request;
  const Json arguments = to_json(options_of(asked));
  const Json json{{"format", kRunFormat},       {"verb", "compare"},      {"version", TILEWRIGHT_VERSION},
                  {"command", request.command}, {"arguments", arguments}, {"inputs", input_facts(arguments)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CompareRequest> read_compare_run(const std::filesystem::path& directory) {
  const std::string where = (directory / kRunFile).string();
  TW_TRY(const std::string text, read_file(where));
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("verb", Json()) != "compare") {
    return invalid(fmt::format("{}: is no run of compare, expected one", where));
  }
  if (!json.contains("arguments")) {
    return invalid(
        fmt::format("{}: the run is of a version that did not keep its arguments, expected the command that it "
                    "began with, again with -o {}",
                    where, directory.string()));
  }
  CompareRequest request;
  TW_TRY([[maybe_unused]] const Done read, read_options(options_of(request), json["arguments"], where));
  const Json command = json.value("command", Json::array());
  if (!command.is_array()) return invalid(fmt::format("{}: is damaged: command is no list", where));
  for (const Json& word : command) {
    if (!word.is_string()) return invalid(fmt::format("{}: is damaged: a word of the command is no text", where));
    request.command.push_back(word.get<std::string>());
  }
  return request;
}

}  // namespace tilewright
