// What `tilewright campaign …` asks for.
#pragma once

#include <string>
#include <vector>

#include "tilewright/study/campaign.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {

enum class Engine : std::uint8_t { Local, Ray };
template <>
struct Names<Engine> {
  static constexpr std::string_view kWhat = "engine";
  static constexpr NameTable<Engine, 2> kTable = {{{Engine::Local, "local"}, {Engine::Ray, "ray"}}};
};

struct CampaignOptions {
  std::vector<std::string> words = {};  // PLAN | task N [PLAN] | fold [OTHER…] | resume
  std::string output = {};
  std::string store = {}, scratch = {};
  Engine engine = Engine::Local;
  std::string address = {};  // of an engine that runs elsewhere
  bool dry_run = false;
  std::vector<std::string> command = {};  // the command line
};
OptionTable options_of(CampaignOptions& options);

struct CampaignOrder {
  enum class What : std::uint8_t { Run, Forecast, Task, Fold };
  What what = What::Run;
  Campaign campaign;
  std::size_t task = 0;             // index
  std::vector<std::string> others;  // to fold
  std::vector<std::string> command;
};
// Reads the plan. An Error when the words make no sense, or the engine is none of this program.
Result<CampaignOrder> campaign_order(const CampaignOptions& options);

// What keeps a result: everything but a forecast and a task.
Result<CampaignStatus> carry_out(const CampaignOrder& order, RunContext& context, const CampaignWatch& watch);
std::string read_result(const Campaign& campaign);

}  // namespace tilewright
