#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/report/campaign.hpp"
#include "tilewright/study/campaign_command.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

Result<int> campaign_and_tell(const CampaignArguments& arguments) {
  TW_TRY(const CampaignOrder order, campaign_order(arguments.options));
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  ProgressLine line;
  RunContext context{.threads = threads, .progress = line.progress(), .stop = listen_for_stop()};
  if (order.what == CampaignOrder::What::Forecast) {
    TW_TRY(const CampaignForecast found, forecast(order.campaign, context));
    print(arguments.json ? to_json(found, order.campaign.plan.name) : to_text(found, order.campaign.plan.name));
    return context.stop.asked() ? kExitInterrupted : kExitDone;
  }
  if (order.what == CampaignOrder::What::Task) {
    TW_TRY(const bool done, do_task(order.campaign, order.task, context));
    if (done) print(order.campaign.store.path_of(order.campaign.tasks[order.task].key).string() + "\n");
    return done ? kExitDone : kExitInterrupted;
  }
  const CampaignWatch watch = [&](const CampaignStatus& status) { return write_files(status, order.campaign.directory); };
  TW_TRY(const CampaignStatus status, carry_out(order, context, watch));
  line.end();
  print(arguments.json ? read_result(order.campaign) : to_text(status));
  for (const TaskFailure& failure : status.failures) report(invalid(failure.sentence));
  if (!arguments.json) {
    print(fmt::format("\n{}: result.json, studies/, timing.json, report.html\n", order.campaign.directory.string()));
  }
  if (!status.failures.empty()) return kExitWrongInput;
  if (context.stop.asked()) return kExitInterrupted;
  return kExitDone;
}

}  // namespace

int run_campaign_verb(const CampaignArguments& arguments) {
  const Result<int> code = campaign_and_tell(arguments);
  return code ? *code : report(code.error());
}

Verb campaign_verb(const Command& command) {
  const auto arguments = std::make_shared<CampaignArguments>();
  arguments->options.command = command;
  OptionTable table = options_of(arguments->options);
  table.push_back(threads_field(arguments->threads, "tasks at once; 0 = one per processor"));
  table.push_back({"json", &arguments->json, "everything as JSON"});
  return {.name = "campaign",
          .summary = "many studies by a plan: resumed, shared by machines, never done twice",
          .options = std::move(table),
          .footer =
              "Forms:\n"
              "  tilewright campaign plan.yaml -o DIR       does what is missing; the same command again goes on\n"
              "  tilewright campaign task N plan.yaml -o DIR   one task, for a Slurm array; without the plan, that of DIR\n"
              "  tilewright campaign fold -o DIR [OTHER…]   joins what arrays, or copies of the directory, have done\n"
              "Exit codes: 0 done; 2 wrong input, or a task failed; 130 stopped by Ctrl-C, with everything so far kept.\n" +
              examples_text({{"tilewright campaign plan.yaml --dry-run", "how many tasks, how long, how much disk"},
                             {"tilewright campaign plan.yaml -o runs/campaign", "all of them, with a report"}}),
          .run = [arguments] { return run_campaign_verb(*arguments); }};
}

}  // namespace tilewright
