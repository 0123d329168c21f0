#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/json.hpp"
#include "tilewright/base/json_difference.hpp"
#include "tilewright/base/seal.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/verdicts.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// One document. Where it has a digest it is ours, and whatever is wrong with it is a fault; otherwise it may be anything.
Result<Verdicts> verify_document(const fs::path& path) {
  TW_TRY(const std::string text, read_file(path));
  TW_TRY(const nlohmann::json plain, parse_json(text, path.string()));
  const Json json = Json::parse(text);
  const Json format = json.is_object() ? json.value("format", Json()) : Json();
  const bool is_map = format == "tilewright-map-1", is_codesign = format == "tilewright-codesign-1";
  const bool has_digest = json.is_object() && json.contains("digest");
  if (!is_map && !is_codesign && !has_digest) {
    return invalid(fmt::format(
        "{}: is no result of map or codesign, expected format tilewright-map-1 or tilewright-codesign-1", path.string()));
  }
  Verdicts verdicts;
  const auto broken = broken_seal(plain);
  if (is_map || is_codesign) {
    const Result<Verdicts> found = is_map ? verify_map(json, path.parent_path()) : verify_codesign(json, path.parent_path());
    if (found) {
      verdicts = *found;
    } else if (has_digest) {
      verdicts.faults.push_back(found.error().message);
    } else {
      return invalid(fmt::format("{}: {}", path.string(), found.error().message));
    }
  } else if (!broken) {
    verdicts.checked.push_back(
        fmt::format("nothing was edited; the numbers of {} are not computed again", printable(format.dump())));
  }
  if (broken) verdicts.faults.insert(verdicts.faults.begin(), *broken);
  return verdicts;
}

// Everything a run has left: its files against their checksums, and its result by itself.
Result<Verdicts> verify_directory(const fs::path& directory) {
  TW_TRY(const RunCheck check, check_run(directory));
  Verdicts verdicts;
  verdicts.faults = check.faults;
  const bool computed = check.verb == "map" || check.verb == "codesign";
  std::error_code status;
  if (computed && fs::exists(directory / "result.json", status)) {
    const Result<Verdicts> result = verify_document(directory / "result.json");
    if (result) {
      verdicts.layers = result->layers;
      verdicts.without = result->without;
      for (const std::string& fault : result->faults) verdicts.faults.push_back("result.json: " + fault);
      verdicts.checked = result->checked;
    } else {
      verdicts.faults.push_back(result.error().message);
    }
  }
  verdicts.checked.insert(verdicts.checked.end(), check.checked.begin(), check.checked.end());
  if (!computed && !check.verb.empty()) {
    verdicts.checked.push_back(fmt::format("the numbers of {} are not computed again", printable(check.verb)));
  }
  return verdicts;
}

}  // namespace

std::vector<std::string> differences_of(const std::string& computed, const Json& says) {
  nlohmann::json is = nlohmann::json::parse(computed), claimed = says;
  for (const char* part : {"version", "digest"}) {
    is.erase(part);
    claimed.erase(part);
  }
  std::vector<std::string> found = differences(is, claimed);
  for (std::size_t i = 0; i < is["layers"].size(); ++i) {
    const std::string head = fmt::format("/layers/{}/", i);
    for (std::string& one : found) {
      if (one.starts_with(head)) one += fmt::format(" (layer {})", printable(is["layers"][i]["name"].get<std::string>()));
    }
  }
  return found;
}

int run_verify(const VerifyArguments& arguments) {
  if (arguments.result.empty())
    return report(invalid("the result is missing, expected a result.json or the directory of a run"));
  const fs::path path = arguments.result;
  std::error_code status;
  const Result<Verdicts> verdicts = fs::is_directory(path, status) ? verify_directory(path) : verify_document(path);
  if (!verdicts) return report(verdicts.error());
  const bool equal = verdicts->faults.empty();
  if (arguments.json) {
    const Json json{
        {"equal", equal}, {"layers", verdicts->layers}, {"faults", verdicts->faults}, {"checked", verdicts->checked}};
    print(fmt::format("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace)));
    return equal ? kExitDone : kExitDiffers;
  }
  for (const std::string& fault : verdicts->faults) print(fmt::format("{}: {}\n", path.string(), printable(fault)));
  const std::string found = equal ? "" : fmt::format("{} differences", verdicts->faults.size());
  print(fmt::format("{}: {}{}{}\n", path.string(), found, equal || verdicts->checked.empty() ? "" : "; ",
                    printable(join(verdicts->checked, "; "))));
  return equal ? kExitDone : kExitDiffers;
}

Verb verify_verb() {
  const auto arguments = std::make_shared<VerifyArguments>();
  return {.name = "verify",
          .summary = "compute a result again, compare every number, and check every file of a run",
          .options = {{"result", &arguments->result, "a result.json, or the directory of a run", {.positional = true}},
                      {"json", &arguments->json, "everything as JSON"}},
          .footer = examples_text({{"tilewright verify runs/alexnet", "the run in a directory"},
                                   {"tilewright verify runs/alexnet/result.json", "a result file alone"}}),
          .run = [arguments] { return run_verify(*arguments); }};
}

}  // namespace tilewright
