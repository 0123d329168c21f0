#include <memory>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/report/evaluation.hpp"
#include "tilewright/report/hierarchy_evaluation.hpp"
#include "tilewright/study/common_options.hpp"

namespace tilewright {
namespace {

struct ExplainArguments {
  EvaluationOptions options;
  LimitOptions limits;
  bool json = false;
};

int run_explain(const ExplainArguments& arguments) {
  const Result<AnyExplanation> any = explain_any(arguments.options, arguments.limits);
  if (!any) return report(any.error());
  return std::visit(
      [&](const auto& study) {
        print(arguments.json ? to_json(study) : to_text(study));
        return is_feasible(study) ? kExitDone : kExitInfeasible;
      },
      *any);
}

}  // namespace

Verb explain_verb() {
  const auto arguments = std::make_shared<ExplainArguments>();
  OptionTable options = options_of(arguments->options);
  options.push_back(batch_field(arguments->options.batch));
  options.push_back({"json", &arguments->json, "everything as JSON"});
  for (OptionField& field : options_of(arguments->limits)) options.push_back(std::move(field));
  return {
      .name = "explain",
      .summary = "why a mapping does not fit, and the smallest change that makes it fit",
      .options = std::move(options),
      .footer = dataflow_help() +
                examples_text(
                    {{"tilewright explain --network zoo:resnet18 --layer conv2_1 --hardware zoo:eyeriss --dataflow eyeriss",
                      "what it needs of what there is"},
                     {"tilewright explain --network zoo:alexnet --layer conv3 --hardware zoo:eyeriss",
                      "without a mapping: the classic dataflow that is nearest to fitting"},
                     {"tilewright explain --network zoo:alexnet --layer conv3 --hardware zoo:eyeriss-dram",
                      "likewise on a machine with memory levels"}}),
      .run = [arguments] { return run_explain(*arguments); }};
}

}  // namespace tilewright
