#include "tilewright/hierarchy/problem.hpp"

#include <gmock/gmock.h>

#include "tilewright/workload/network.hpp"

namespace tilewright::hierarchy {
namespace {

TEST(Problem, OfAConvolution) {
  Layer layer = convolution("conv", {.batch = 2,
                                     .out_channels = 8,
                                     .in_channels = 3,
                                     .in_height = 9,
                                     .in_width = 11,
                                     .kernel_height = 3,
                                     .kernel_width = 5,
                                     .stride = 2,
                                     .pad = 1});
  const Result<Problem> problem = problem_of(layer);
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->dims, "RSPQCKN");
  EXPECT_EQ(problem->bounds, (std::vector<std::int64_t>{5, 3, out_width(layer), out_height(layer), 3, 8, 2}));
  EXPECT_EQ(computes(*problem), macs(layer).value);
  // Rows of the input that the outputs reach: (5 - 1) * 2 + 3.
  const Tensor& inputs = problem->tensors[1];
  EXPECT_EQ(footprint(inputs, problem->bounds.data()),
            2 * 3 * ((out_width(layer) - 1) * 2 + 5) * ((out_height(layer) - 1) * 2 + 3));
}

TEST(Problem, OfAProductAndOfManyProducts) {
  const Result<Problem> one = problem_of(matrix_multiply("mm", {.batch = 1, .rows = 5, .inner = 7, .columns = 3}));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->dims, "MNK");
  EXPECT_EQ(one->bounds, (std::vector<std::int64_t>{5, 3, 7}));
  const Result<Problem> many = problem_of(matrix_multiply("mm", {.batch = 4, .rows = 5, .inner = 7, .columns = 3}));
  ASSERT_TRUE(many);
  EXPECT_EQ(many->dims, "MNKG");
  EXPECT_EQ(footprint(many->tensors[1], many->bounds.data()), 4 * 7 * 3);
}

TEST(Problem, EveryLayerOfTheZooHasItsMultiplications) {
  int layers = 0;
  for (const char* name : {"zoo:alexnet", "zoo:mobilenet_v2", "zoo:shufflenet_v2", "zoo:bert_base", "zoo:unet"}) {
    const Result<Network> network = read_network(name);
    if (!network) continue;
    for (const NetworkLayer& entry : network->layers) {
      const Layer& layer = entry.layer;
      const Result<Problem> problem = problem_of(layer);
      ASSERT_TRUE(problem) << problem.error().message;
      EXPECT_EQ(computes(*problem), macs(layer).value) << layer.name;
      ++layers;
    }
  }
  EXPECT_GT(layers, 50);
}

TEST(Problem, RefusesWhatCannotBe) {
  const Shape shape = *shape_named("gemm");
  const auto message = [&](const NamedNumbers& bounds) {
    const Result<Problem> problem = problem_of(shape, bounds, {}, "p.yaml");
    return problem ? std::string() : problem.error().message;
  };
  EXPECT_EQ(message({{"M", 1}, {"N", 2}}), "p.yaml: dimension 'K' has no bound, expected at least 1");
  EXPECT_EQ(message({{"M", 0}, {"N", 2}, {"K", 2}}), "p.yaml: dimension 'M' is 0, expected at least 1");
  EXPECT_EQ(message({{"M", 1 << 20}, {"N", 1 << 20}, {"K", 1 << 20}}),
            "p.yaml: there are more than 2^53 multiplications, expected at most that");
}

}  // namespace
}  // namespace tilewright::hierarchy
