// Uses the installed library the way another program would: a layer of the zoo, a machine of the zoo, a dataflow by name.
#include <cstdio>
#include <string>

#include "tilewright/cost/evaluator.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/workload/network.hpp"

namespace {

using namespace tilewright;

Result<std::string> mapped_layer() {
  TW_TRY(const Network network, read_network("zoo:resnet18"));
  TW_TRY(const std::size_t index, find_layer(network, "conv2_1"));
  const Layer& layer = network.layers[index].layer;
  if (macs(layer) != Macs{64 * 64 * 3 * 3 * 56 * 56}) return invalid("conv2_1 has other MACs than ResNet-18's");

  TW_TRY(const Accelerator accelerator, read_accelerator("zoo:eyeriss"));
  TW_TRY(const Nest nest, nest_of(layer));
  TW_TRY(const Mapping mapping, dataflow("eyeriss", nest, accelerator));
  const Evaluation evaluation = evaluate(mapping, nest, accelerator);
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) return invalid(to_sentence(*infeasible));
  return std::to_string(std::get<Cost>(evaluation).runtime.value) + " cycles\n" + to_loop_nest(mapping, nest);
}

}  // namespace

int main() {
  const Result<std::string> text = mapped_layer();
  if (!text) {
    std::fprintf(stderr, "%s\n", text.error().message.c_str());
    return 1;
  }
  std::puts(text->c_str());
  return text->empty() ? 1 : 0;
}
