// The classic dataflows under every model: their MACs are exact on any layer and machine.
#include "tilewright/mapping/dataflows.hpp"

#include "tilewright/base/rng.hpp"
#include "tilewright/cost/evaluator.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

Nest random_nest(Rng& rng) {
  for (;;) {
    Layer layer = matrix_multiply("product", {.batch = rng.between(1, 3),
                                              .rows = rng.between(1, 60),
                                              .inner = rng.between(1, 60),
                                              .columns = rng.between(1, 60)});
    if (rng.below(4) != 0) {
      const std::int64_t groups = rng.below(3) == 0 ? rng.between(2, 6) : 1;
      layer = convolution("convolution", {.batch = rng.below(3) == 0 ? rng.between(2, 3) : 1,
                                          .out_channels = groups * (rng.below(3) == 0 ? 1 : rng.between(1, 40)),
                                          .in_channels = groups * (rng.below(3) == 0 ? 1 : rng.between(1, 40)),
                                          .in_height = rng.between(1, 60),
                                          .in_width = rng.between(1, 60),
                                          .kernel_height = rng.between(1, 7),
                                          .kernel_width = rng.between(1, 7),
                                          .stride = rng.between(1, 3),
                                          .pad = rng.between(0, 2),
                                          .groups = groups});
    }
    if (check(layer)) return nest_of(layer).value();
  }
}

Accelerator random_machine(Rng& rng) {
  Accelerator machine;
  machine.pes = rng.between(1, 400);
  const auto maybe = [&](std::int64_t least, std::int64_t most) {
    return rng.below(2) == 0 ? kUnlimited : rng.between(least, most);
  };
  machine.l1 = {maybe(100, 1000)};
  machine.l2 = {maybe(5000, 100000)};
  machine.noc.bandwidth = maybe(1, 200);
  machine.offchip_bandwidth = maybe(1, 200);
  if (rng.below(4) == 0) machine.simd_lanes = rng.between(2, 8);
  return machine;
}

TEST(Dataflow, IsCountedRightByEveryModel) {
  Rng rng(17, "dataflow");
  for (int round = 0; round < 300; ++round) {
    const Nest nest = random_nest(rng);
    const Accelerator machine = random_machine(rng);
    for (const Dataflow& known : dataflows()) {
      for (const Model model : {Model::Sound, Model::Exact, Model::Maestro}) {
        // MAESTRO never sums the channels of a group, so its counts of grouped layers are its own.
        if (is_maestro(model) && nest.kind == NestKind::Grouped) continue;
        const StridedTiles strided = is_maestro(model) ? StridedTiles::Single : StridedTiles::Several;
        const Result<Mapping> mapping = dataflow(known.name, nest, machine, strided);
        ASSERT_TRUE(mapping) << mapping.error().message;
        SCOPED_TRACE(std::string(known.name) + " under " + std::string(name_of(model)) + "\n" +
                     to_loop_nest(*mapping, nest, machine.pes));
        const Evaluation evaluation = evaluate(*mapping, nest, machine, model, Constraints::Report);
        const auto* cost = std::get_if<Cost>(&evaluation);
        ASSERT_NE(cost, nullptr) << to_sentence(std::get<Infeasible>(evaluation));
        ASSERT_EQ(cost->macs, macs(nest));
      }
    }
  }
}

TEST(Dataflow, FitsTheZoosMachinesOnTheZoosNetworks) {
  std::int64_t feasible = 0, tried = 0;
  for (const char* source : {"zoo:resnet18", "zoo:mobilenet_v2", "zoo:alexnet", "zoo:bert_base"}) {
    const Network network = read_network(source).value();
    for (const LayerGroup& group : distinct_layers(network)) {
      const Nest nest = nest_of(network.layers[group.first].layer).value();
      for (const char* name : {"zoo:eyeriss", "zoo:nvdla-large", "zoo:shidiannao", "zoo:gamma-edge"}) {
        const Accelerator machine = read_accelerator(name).value();
        for (const char* flow : {"nvdla", "eyeriss", "shidiannao", "tpu"}) {
          const Mapping mapping = dataflow(flow, nest, machine, StridedTiles::Several).value();
          ++tried;
          feasible += std::holds_alternative<Cost>(evaluate(mapping, nest, machine)) ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(feasible, tried * 99 / 100) << feasible << " of " << tried;
}

}  // namespace
}  // namespace tilewright
