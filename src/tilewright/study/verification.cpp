#include "tilewright/study/verification.hpp"

#include <map>

#include "tilewright/base/file.hpp"
#include "tilewright/base/json.hpp"
#include "tilewright/base/json_difference.hpp"
#include "tilewright/base/seal.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/search/stored_memory.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/verification_parts.hpp"

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
  using Verify = Result<Verdicts> (*)(const Json&, const fs::path&);
  const std::map<std::string_view, Verify> known = {{"tilewright-map-1", verify_map},
                                                    {"tilewright-map-2", verify_hierarchy_map},
                                                    {"tilewright-codesign-1", verify_codesign}};
  const auto computed = format.is_string() ? known.find(format.get_ref<const std::string&>()) : known.end();
  const bool has_digest = json.is_object() && json.contains("digest");
  if (computed == known.end() && !has_digest) {
    return invalid(fmt::format(
        "{}: is no result of map or codesign, expected format tilewright-map-1 or tilewright-codesign-1", path.string()));
  }
  Verdicts verdicts;
  const auto broken = broken_seal(plain);
  if (computed != known.end()) {
    const Result<Verdicts> found = computed->second(json, path.parent_path());
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

// Why an answer is not what the store has of it; empty when it is.
std::string difference_of(const StoredAnswer& answer, const std::optional<Outcome>& stored) {
  if (!stored) return answer.in_space ? "its answer is no point of the store" : "";
  if (!stored->feasible) return "its answer is infeasible in the store";
  for (const auto& [name, metric] :
       {std::pair("latency", &Metrics::latency), {"energy", &Metrics::energy}, {"power", &Metrics::power}}) {
    const double there = stored->metrics.*metric, here = answer.metrics.*metric;
    if (there != here) return fmt::format("the {} of its answer is {}, the store says {}", name, here, there);
  }
  return "";
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

void compare_facts(const nlohmann::json& asked, const nlohmann::json& found, Verdicts& verdicts) {
  const std::vector<std::string> faults = differences(asked, found);
  for (const std::string& fault : faults) verdicts.faults.push_back("as run.json asked, " + fault);
  if (faults.empty()) verdicts.checked.push_back("network, machine and search are those of run.json");
}

void compare_with_store(const fs::path& path, const std::vector<StoredAnswer>& answers, Verdicts& verdicts) {
  std::error_code status;
  if (!fs::exists(path, status)) {
    verdicts.checked.push_back(fmt::format("the store {} is not there to compare with", path.string()));
    return;
  }
  Result<Store> store = Store::open_to_read(path);
  if (!store) {
    verdicts.faults.push_back(store.error().message);
    return;
  }
  std::size_t equal = 0;
  for (const StoredAnswer& answer : answers) {
    std::optional<Outcome> stored;
    const Result<Done> read = store.value().each(answer.problem, [&](std::string_view design, const StoredOutcome& outcome) {
      if (design == answer.design) stored = outcome_of(outcome);
      return !stored;
    });
    const std::string fault = read ? difference_of(answer, stored) : read.error().message;
    if (!fault.empty()) verdicts.faults.push_back(fmt::format("layer {}: {}", printable(answer.layer), fault));
    if (fault.empty() && stored) ++equal;
  }
  if (equal > 0) verdicts.checked.push_back(fmt::format("{} answers are points of the store, with the same numbers", equal));
}

Result<Verdicts> verify(const fs::path& path) {
  std::error_code status;
  return fs::is_directory(path, status) ? verify_directory(path) : verify_document(path);
}

std::string to_json(const Verdicts& verdicts) {
  const Json json{{"equal", verdicts.is_equal()},
                  {"layers", verdicts.layers},
                  {"faults", verdicts.faults},
                  {"checked", verdicts.checked}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilewright
