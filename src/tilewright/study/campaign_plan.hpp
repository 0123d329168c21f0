// A plan of many studies, as people write it: a list of entries, each a verb with its options and, under `each`, lists of
// values of which every combination is a study of its own.
//
//   format: tilewright-plan-1
//   name: small
//   studies:
//     - name: alexnet
//       map: {network: zoo:alexnet, samples: 200}
//       each:
//         hardware: [zoo:eyeriss, zoo:nvdla-small]
//         seed: 1..3
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "tilewright/study/codesign.hpp"
#include "tilewright/study/comparison_request.hpp"
#include "tilewright/study/evaluation.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/training.hpp"

namespace tilewright {

enum class CampaignVerb : std::uint8_t { Map, Compare, Codesign, Train, Evaluate };
template <>
struct Names<CampaignVerb> {
  static constexpr std::string_view kWhat = "verb";
  static constexpr NameTable<CampaignVerb, 5> kTable = {{{CampaignVerb::Map, "map"},
                                                         {CampaignVerb::Compare, "compare"},
                                                         {CampaignVerb::Codesign, "codesign"},
                                                         {CampaignVerb::Train, "train"},
                                                         {CampaignVerb::Evaluate, "evaluate"}}};
};

using StudyRequest = std::variant<MapRequest, CompareRequest, CodesignOptions, TrainOptions, EvaluationOptions>;
StudyRequest request_of(CampaignVerb verb);
// Those that decide what comes out: how and where a study is done is the campaign's.
OptionTable options_of(StudyRequest& request);

struct PlannedStudy {
  std::string entry;                                        // "alexnet"
  std::vector<std::pair<std::string, std::string>> varied;  // by `each`: hardware, zoo:eyeriss; seed, 1
  CampaignVerb verb = CampaignVerb::Map;
  nlohmann::ordered_json arguments =
      nlohmann::ordered_json::object();  // as run.json has them; what is left out is as by default
  std::string where;                     // "plan.yaml:5"
};
std::string title_of(const PlannedStudy& study);  // "alexnet: zoo:eyeriss, 1"
// The request that the arguments are of.
Result<StudyRequest> request_of(const PlannedStudy& study);

inline constexpr std::string_view kPlanFormat = "tilewright-plan-1";
inline constexpr std::size_t kMostStudies = 1'000'000;

struct CampaignPlan {
  std::string name;
  bool points = true;  // every evaluated point of map and codesign is kept
  std::vector<PlannedStudy> studies;
};

// A pure function of the text. Whether networks and machines are there shows when tasks are made of the plan.
Result<CampaignPlan> campaign_plan_from(const std::string& text, const std::string& where);

}  // namespace tilewright
