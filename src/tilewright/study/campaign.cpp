#include "tilewright/study/campaign.hpp"

#include <map>

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/seal.hpp"
#include "tilewright/study/campaign_parts.hpp"
#include "tilewright/study/hierarchy_evaluation.hpp"
#include "tilewright/study/input_facts.hpp"
#include "tilewright/study/loop_network.hpp"
#include "tilewright/study/training_parts.hpp"
#include "tilewright/workload/read_options.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kTasksFormat = "tilewright-tasks-1";
constexpr const char* kTasksFile = "tasks.json";

// What reading the same network or machine for every study of a product would do again and again.
class Expansion {
 public:
  // Tasks of a study: the units of each; keys of those whose documents say more than the arguments.
  struct Part {
    std::int64_t units = 0;
    std::string key;
  };
  Result<std::vector<Part>> parts_of(const PlannedStudy& study, bool points) {
    TW_TRY(const StudyRequest request, request_of(study));
    const auto placed = [&](Result<std::vector<Part>> parts) -> Result<std::vector<Part>> {
      if (!parts) return Error{parts.error().code, fmt::format("{}: {}", study.where, parts.error().message)};
      return parts;
    };
    if (const auto* compare = std::get_if<CompareRequest>(&request)) return placed(comparison(*compare));
    const Result<std::int64_t> units = std::visit([&](const auto& one) { return units_of(one); }, request);
    if (!units) return placed(units.error());
    return std::vector{Part{*units, Documents::key_of(plain_asked(study, points))}};
  }

 private:
  static Result<std::vector<Part>> comparison(const CompareRequest& request) {
    TW_TRY(const std::unique_ptr<OpenComparison> open, open_comparison(request));
    std::vector<Part> parts;
    for (std::size_t part = 0; part < task_count(open->runs); ++part) {
      parts.push_back({samples_of_task(*open->plan, open->runs, part), Documents::key_of(comparison_asked(*open, part))});
    }
    return parts;
  }

  Result<std::int64_t> layers_of(const MappingInputs& inputs, const std::string& layer, bool levels) {
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}", inputs.network, inputs.batch, fmt::join(inputs.dims, "\n"), layer, levels);
    if (const auto known = layers_.find(key); known != layers_.end()) return known->second;
    std::int64_t layers = 1;
    if (levels) {
      TW_TRY(const LoopNetwork network, read_loop_network(inputs, layer, Alike::Together));
      layers = std::ssize(network.layers);
    } else {
      TW_TRY(const ReadOptions read, read_options(inputs.batch, inputs.dims));
      TW_TRY(const Network network, read_network(inputs.network, read));
      if (layer.empty()) {
        layers = std::ssize(distinct_layers(network));
      } else {
        TW_TRY([[maybe_unused]] const std::size_t index, find_layer(network, layer));
      }
    }
    return layers_[key] = layers;
  }

  Result<bool> levels_of(const std::string& hardware, const LevelOptions& options) {
    const std::string key = fmt::format("{}\n{}\n{}", hardware, model_text(Model::Sound, options), options.restrict_to);
    if (const auto known = levels_.find(key); known != levels_.end()) return known->second;
    TW_TRY(const bool levels, has_memory_levels(hardware, options));
    if (!levels) {
      TW_TRY([[maybe_unused]] const Accelerator machine, read_accelerator(hardware));
    }
    return levels_[key] = levels;
  }

  static Result<Done> check_search(const std::string& search, const std::vector<std::string>& settings) {
    Settings given;
    for (const std::string& setting : settings) {
      TW_TRY([[maybe_unused]] const Done added, add_setting(given, setting));
    }
    TW_TRY([[maybe_unused]] const auto fields, settings_in_force(search, given));
    return Done{};
  }

  Result<std::int64_t> units_of(const MapRequest& request) {
    if (request.inputs.network.empty()) return invalid("the network is missing, expected network: zoo:NAME or a file");
    if (request.inputs.hardware.empty()) return invalid("the hardware is missing, expected hardware: zoo:NAME or a file");
    if (request.search.samples < 1)
      return invalid(fmt::format("samples is {}, expected at least 1", request.search.samples));
    TW_TRY([[maybe_unused]] const Done known, check_search(request.search.search, request.search.settings));
    TW_TRY(const bool levels, levels_of(request.inputs.hardware, request.mapping));
    TW_TRY(const std::int64_t layers, layers_of(request.inputs, request.mapping.layer, levels));
    return layers * request.search.samples;
  }
  Result<std::int64_t> units_of(const CompareRequest&) { return 0; }
  Result<std::int64_t> units_of(const CodesignOptions& options) {
    TW_TRY([[maybe_unused]] const Done known, check_search(options.search, options.settings));
    TW_TRY(const CodesignJob job, read_codesign_job(options));
    return measurements_of(options, job) * std::ssize(job.layers);
  }
  Result<std::int64_t> units_of(const TrainOptions& options) {
    if (!options.settings.world) return invalid("the world is missing, expected its name (tilewright train --list)");
    const std::int64_t episodes = options.episodes.value_or(kDefaultEpisodes);
    const TrainSettings settings = resolve(options.settings, episodes);
    TW_TRY([[maybe_unused]] const Done fine, check(settings));
    TW_TRY([[maybe_unused]] const World world, make_world(settings));
    return episodes;
  }
  Result<std::int64_t> units_of(const EvaluationOptions& options) {
    TW_TRY([[maybe_unused]] const AnyEvaluationJob job, read_any_evaluation_job(options));
    return 1;
  }

  std::map<std::string, std::int64_t> layers_;
  std::map<std::string, bool> levels_;
};

// What tasks.json was made of: when none of it has changed, neither have the tasks.
std::string origin_of(const Campaign& campaign) {
  Json origin{{"version", TILEWRIGHT_VERSION}, {"plan", campaign.plan_text}};
  std::map<std::string, Json> facts;
  for (const PlannedStudy& study : campaign.plan.studies) {
    const Json found = input_facts(study.arguments);
    for (const auto& [file, is] : found.items()) facts.emplace(file, is);
  }
  for (const auto& [file, is] : facts) origin["inputs"][file] = is;
  return checksum_text(checksum(origin.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

bool read_tasks(Campaign& campaign, const std::string& text, const std::string& origin) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kTasksFormat || json.value("of", Json()) != origin) return false;
  if (broken_seal(nlohmann::json::parse(text)) || !json.value("studies", Json()).is_array()) return false;
  if (json["studies"].size() != campaign.plan.studies.size()) return false;
  for (std::size_t study = 0; study < campaign.plan.studies.size(); ++study) {
    campaign.first.push_back(campaign.tasks.size());
    std::size_t part = 0;
    for (const Json& task : json["studies"][study]) {
      campaign.tasks.push_back({study, part++, task.at(1).get<std::int64_t>(), task.at(0).get<std::string>()});
    }
  }
  campaign.first.push_back(campaign.tasks.size());
  return true;
}

Result<Done> make_tasks(Campaign& campaign) {
  Expansion expansion;
  for (std::size_t study = 0; study < campaign.plan.studies.size(); ++study) {
    campaign.first.push_back(campaign.tasks.size());
    TW_TRY(const auto parts, expansion.parts_of(campaign.plan.studies[study], campaign.plan.points));
    std::size_t part = 0;
    for (const auto& one : parts) campaign.tasks.push_back({study, part++, one.units, one.key});
  }
  campaign.first.push_back(campaign.tasks.size());
  return Done{};
}

std::string tasks_json(const Campaign& campaign, const std::string& origin) {
  Json json{{"format", kTasksFormat}, {"of", origin}, {"tasks", campaign.tasks.size()}, {"studies", Json::array()}};
  for (std::size_t study = 0; study < campaign.plan.studies.size(); ++study) {
    Json tasks = Json::array();
    for (std::size_t task = campaign.first[study]; task < campaign.first[study + 1]; ++task) {
      tasks.push_back({campaign.tasks[task].key, campaign.tasks[task].units});
    }
    json["studies"].push_back(std::move(tasks));
  }
  return sealed(std::move(json), -1);
}

}  // namespace

fs::path Campaign::points_path(const std::string& key) const { return store.path_of(key).replace_extension(".sqlite"); }

Result<std::unique_ptr<OpenComparison>> open_comparison(const CompareRequest& request) {
  ThreadPool alone(1);
  TW_TRY(AnyJob job, read_any_job(request.inputs, mapping_of(request), alone, plain_comparison()));
  auto open = std::make_unique<OpenComparison>(OpenComparison{std::move(job), {}, {}, {}});
  TW_TRY(ComparisonPlan plan, plan_comparison(common(open->job), request.options, alone));
  open->plan.emplace(std::move(plan));
  open->runs = planned_runs(*open->plan);
  open->facts = common_facts(*open->plan);
  return open;
}

Json plain_asked(const PlannedStudy& study, bool points) {
  Json asked{{"verb", name(study.verb)},
             {"version", TILEWRIGHT_VERSION},
             {"arguments", study.arguments},
             {"inputs", input_facts(study.arguments)}};
  if (points && (study.verb == CampaignVerb::Map || study.verb == CampaignVerb::Codesign)) asked["points"] = true;
  return asked;
}

Json comparison_asked(const OpenComparison& comparison, std::size_t part) {
  return asked_of(*comparison.plan, comparison.runs, part, comparison.facts);
}

Result<Campaign> open_campaign(const std::string& plan_text, const std::string& where, const CampaignPlaces& places,
                               bool keep) {
  TW_TRY(CampaignPlan plan, campaign_plan_from(plan_text, where));
  const fs::path folder = places.store.empty() ? places.directory / kTasksFolder : fs::path(places.store);
  if (keep) {
    std::error_code made;
    fs::create_directories(places.directory, made);
    if (made)
      return Error{ErrorCode::Io, fmt::format("{}: could not be made: {}", places.directory.string(), made.message())};
  }
  TW_TRY(Documents store, keep ? Documents::open(folder) : Result<Documents>(Documents::at(folder)));
  Campaign campaign{.plan = std::move(plan),
                    .plan_text = plan_text,
                    .directory = places.directory,
                    .scratch = places.scratch.empty() ? places.directory / kWorkFolder : fs::path(places.scratch),
                    .store = std::move(store),
                    .tasks = {},
                    .first = {}};
  const std::string origin = origin_of(campaign);
  const fs::path file = places.directory / kTasksFile;
  std::error_code status;
  if (fs::exists(file, status)) {
    const Result<std::string> text = read_file(file, std::int64_t{1} << 30);
    if (text && read_tasks(campaign, *text, origin)) return campaign;
    campaign.tasks.clear();
    campaign.first.clear();
  }
  TW_TRY([[maybe_unused]] const Done made, make_tasks(campaign));
  if (keep) {
    TW_TRY([[maybe_unused]] const Done written, write_file(file, tasks_json(campaign, origin)));
  }
  return campaign;
}

Result<Campaign> open_campaign(const CampaignPlaces& places) {
  const fs::path file = places.directory / kPlanFile;
  std::error_code status;
  if (!fs::exists(file, status)) {
    return Error{ErrorCode::NotFound,
                 fmt::format("{}: holds no campaign, expected {} in it", places.directory.string(), kPlanFile)};
  }
  TW_TRY(const std::string text, read_file(file));
  return open_campaign(text, file.string(), places);
}

}  // namespace tilewright
