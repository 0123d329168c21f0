#include "tilewright/study/campaign_command.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Result<Done> check(const CampaignOptions& options) {
  if (options.engine == Engine::Ray) {
    return invalid(
        "--engine ray needs the Python program, expected pip install 'tilewright[ray]' and its tilewright campaign, or "
        "--engine local");
  }
  if (!options.address.empty()) return invalid("--address is for --engine ray, expected none with --engine local");
  if (options.words.empty()) {
    return invalid("the plan is missing, expected tilewright campaign plan.yaml -o DIR (or task N, or fold)");
  }
  if (options.output.empty() && !options.dry_run) return invalid("the directory is missing, expected -o DIR");
  return Done{};
}

Result<Campaign> read_campaign(const std::string& plan, const CampaignPlaces& places, bool keep) {
  TW_TRY(const std::string text, read_file(plan));
  return open_campaign(text, plan, places, keep);
}

// `task` is one of many on many machines: nobody else may be kept out.
Result<Campaign> campaign_of_task(const CampaignOptions& options, const CampaignPlaces& places) {
  if (options.words.size() < 3) return open_campaign(places);
  TW_TRY(Campaign campaign, read_campaign(options.words[2], places, true));
  std::error_code status;
  const fs::path kept = campaign.directory / kPlanFile;
  if (!fs::exists(kept, status)) {
    TW_TRY([[maybe_unused]] const Done written, write_file(kept, campaign.plan_text));
  }
  return campaign;
}

Result<CampaignOrder> task_order(const CampaignOptions& options, const CampaignPlaces& places) {
  if (options.words.size() < 2 || options.words.size() > 3) {
    return invalid("expected tilewright campaign task N -o DIR, with the plan behind N where DIR is new");
  }
  const auto number = parse_integer(options.words[1]);
  if (!number || *number < 1) {
    return invalid(fmt::format("the task is '{}', expected a number from 1", printable(options.words[1])));
  }
  TW_TRY(Campaign campaign, campaign_of_task(options, places));
  if (*number > std::ssize(campaign.tasks)) {
    return invalid(fmt::format("the task is {}, expected 1 to {}, as many as the plan has", *number, campaign.tasks.size()));
  }
  return CampaignOrder{
      CampaignOrder::What::Task, std::move(campaign), static_cast<std::size_t>(*number - 1), {}, options.command};
}

std::string record_of(const CampaignOrder& order) {
  return Json{{"format", kRunFormat},
              {"verb", "campaign"},
              {"version", TILEWRIGHT_VERSION},
              {"command", order.command},
              {"arguments", {{"name", order.campaign.plan.name}}},
              {"inputs", {{"plan", checksum_text(checksum(order.campaign.plan_text))}}}}
      .dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

OptionTable options_of(CampaignOptions& options) {
  return {{"words", &options.words, "the plan; or: task N [plan]; or: fold [other directories]", {.positional = true}},
          {"output", &options.output, "directory of the campaign", {.letter = "o"}},
          {"dry_run", &options.dry_run, "how many tasks, how long by measured rates, how much disk; nothing is done"},
          {"store", &options.store, "folder of finished tasks, shared by campaigns; default: tasks/ of the directory"},
          {"scratch", &options.scratch, "folder for tasks under way, a local disk, say; default: work/ of the directory"},
          {"engine", worded(options.engine), "who does the tasks: local; ray with the Python program"},
          {"address", &options.address, "of a Ray cluster: auto, or HOST:PORT"}};
}

Result<CampaignOrder> campaign_order(const CampaignOptions& options) {
  TW_TRY([[maybe_unused]] const Done fine, check(options));
  const CampaignPlaces places{options.output, options.store, options.scratch};
  const std::string& first = options.words.front();
  if (first == "task") return task_order(options, places);
  if (first == "fold") {
    TW_TRY(Campaign campaign, open_campaign(places));
    return CampaignOrder{CampaignOrder::What::Fold,
                         std::move(campaign),
                         0,
                         {options.words.begin() + 1, options.words.end()},
                         options.command};
  }
  if (first == "resume" && options.words.size() == 1) {
    TW_TRY(Campaign campaign, open_campaign(places));
    return CampaignOrder{CampaignOrder::What::Run, std::move(campaign), 0, {}, options.command};
  }
  if (options.words.size() > 1) {
    return invalid(fmt::format("'{}' is one word too many, expected one plan", printable(options.words[1])));
  }
  if (options.dry_run) {
    TW_TRY(Campaign campaign, read_campaign(first, places, false));
    return CampaignOrder{CampaignOrder::What::Forecast, std::move(campaign), 0, {}, options.command};
  }
  std::error_code status;
  if (!fs::exists(first, status)) {
    return Error{ErrorCode::NotFound, fmt::format("{}: no such file{}, expected a plan, or one of task and fold", first,
                                                  did_you_mean(first, std::vector<std::string>{"task", "fold"}))};
  }
  {  // before anything is written into it
    constexpr std::string_view kMayHold[] = {kPlanFile, kTasksFolder, kWorkFolder, "tasks.json"};  // of single tasks
    TW_TRY([[maybe_unused]] const RunDirectory directory, RunDirectory::open(options.output, kMayHold));
  }
  TW_TRY(Campaign campaign, read_campaign(first, places, true));
  return CampaignOrder{CampaignOrder::What::Run, std::move(campaign), 0, {}, options.command};
}

Result<CampaignStatus> carry_out(const CampaignOrder& order, RunContext& context, const CampaignWatch& watch) {
  constexpr std::string_view kMayHold[] = {kPlanFile, kTasksFolder, kWorkFolder, "tasks.json"};
  TW_TRY(RunDirectory directory, RunDirectory::open(order.campaign.directory, kMayHold));
  TW_TRY([[maybe_unused]] const Done begun, directory.begin_or_replace(record_of(order)));
  for (const std::string& other : order.others) {
    TW_TRY([[maybe_unused]] const std::size_t taken, take_tasks(order.campaign, other));
  }
  CampaignStatus status;
  if (order.what == CampaignOrder::What::Fold) {
    TW_TRY(status, fold_campaign(order.campaign, context.threads));
    status.ended = true;
    if (watch) {
      TW_TRY([[maybe_unused]] const Done shown, watch(status));
    }
  } else {
    TW_TRY(status, run_campaign(order.campaign, local_engine, context, watch));
  }
  TW_TRY([[maybe_unused]] const Done ended, directory.end());
  return status;
}

std::string read_result(const Campaign& campaign) {
  const Result<std::string> text = read_file(campaign.directory / kResultFile, std::int64_t{1} << 30);
  return text ? *text : "";
}

}  // namespace tilewright
