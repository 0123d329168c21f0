#include <memory>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/report/hierarchy_mapping.hpp"
#include "tilewright/study/common_options.hpp"

namespace tilewright {
namespace {

struct BoundArguments {
  MappingInputs inputs;
  MappingOptions options;
  bool json = false;
};

int run_bound(const BoundArguments& arguments) {
  ThreadPool threads(1);
  MappingOptions options = arguments.options;
  options.no_classics = true;
  const Result<HierarchyJob> job = read_hierarchy_job(arguments.inputs, options, threads);
  if (!job) return report(job.error());
  const BoundStudy study = bounds_of(*job);
  print(arguments.json ? to_json(study) : to_text(study));
  return kExitDone;
}

}  // namespace

Verb bound_verb() {
  const auto arguments = std::make_shared<BoundArguments>();
  OptionTable options = {network_field(arguments->inputs.network, NetworkIs::Place),
                         hardware_field(arguments->inputs.hardware),
                         layer_field(arguments->options.layer),
                         model_field(arguments->options.model, arguments->options),
                         batch_field(arguments->inputs.batch),
                         dim_field(arguments->inputs.dims)};
  for (OptionField& field : options_of(static_cast<LevelOptions&>(arguments->options))) options.push_back(std::move(field));
  options.push_back({"json", &arguments->json, "everything as JSON"});
  return {.name = "bound",
          .summary = "what every mapping of a layer costs at least on a machine with memory levels",
          .options = std::move(options),
          .footer =
              examples_text({{"tilewright bound zoo:resnet18 --hardware zoo:eyeriss-dram",
                              "cycles, energy and EDP that no mapping is below, without a search"},
                             {"tilewright bound zoo:alexnet --layer conv3 --hardware zoo:simba-like --model timeloop --json",
                              "one layer, as Timeloop counts"}}),
          .run = [arguments] { return run_bound(*arguments); }};
}

}  // namespace tilewright
