// Operators of the host, by hand.
#include "tilewright/workload/host_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewright {
namespace {

using Sizes = std::vector<std::int64_t>;
using Floats = std::vector<float>;

HostNode input(Sizes shape) { return {.op = HostOp::Input, .shape = std::move(shape)}; }

Floats apply(HostNode node, std::vector<HostNode> inputs, const std::vector<Floats>& values) {
  HostGraph graph{std::move(inputs), values.size()};
  for (std::size_t i = 0; i < values.size(); ++i) node.inputs.push_back(i);
  graph.nodes.push_back(std::move(node));
  std::vector<const Floats*> given;
  for (const Floats& one : values) given.push_back(&one);
  return evaluate(graph, given);
}

TEST(HostGraph, Products) {
  // Two matrices of one row times one matrix for both.
  EXPECT_EQ(apply({.op = HostOp::Product, .shape = {2, 1, 2}}, {input({2, 1, 3}), input({3, 2})},
                  {{1, 2, 3, 4, 5, 6}, {1, 10, 2, 20, 3, 30}}),
            (Floats{14, 140, 32, 320}));
  // A matrix for each.
  EXPECT_EQ(
      apply({.op = HostOp::Product, .shape = {2, 1, 1}}, {input({2, 1, 2}), input({2, 2, 1})}, {{1, 2, 3, 4}, {1, 1, 2, 2}}),
      (Floats{3, 14}));
}

TEST(HostGraph, CombinesStretchedAxes) {
  HostNode sum{.op = HostOp::Combine, .shape = {2, 3}};
  sum.combine = [](double a, double b) { return a + b; };
  EXPECT_EQ(apply(sum, {input({2, 1}), input({3})}, {{10, 20}, {1, 2, 3}}), (Floats{11, 12, 13, 21, 22, 23}));
}

TEST(HostGraph, MeansAndNormalisation) {
  EXPECT_EQ(apply({.op = HostOp::Mean, .shape = {2, 2}, .numbers = {1}}, {input({2, 3, 2})},
                  {{1, 2, 3, 4, 5, 9, 0, 0, 0, 3, 0, 0}}),
            (Floats{3, 5, 0, 1}));
  const Floats normal = apply({.op = HostOp::Normalise, .shape = {2, 2}, .numbers = {1}}, {input({2, 2})}, {{1, 3, -5, 5}});
  EXPECT_EQ(normal, (Floats{-1, 1, -1, 1}));
}

TEST(HostGraph, SoftmaxOfLargeNumbers) {
  const Floats shares = apply({.op = HostOp::Softmax, .shape = {1, 3}, .numbers = {1}}, {input({1, 3})},
                              {{1000, 1000, 1000 - std::log(2.0f)}});
  EXPECT_NEAR(shares[0], 0.4, 1e-4);
  EXPECT_NEAR(shares[2], 0.2, 1e-4);
  const Floats columns = apply({.op = HostOp::Softmax, .shape = {2, 2}, .numbers = {0}}, {input({2, 2})}, {{0, 5, 0, 5}});
  EXPECT_EQ(columns, (Floats{0.5, 0.5, 0.5, 0.5}));
}

TEST(HostGraph, MovesAndCounts) {
  EXPECT_EQ(
      apply({.op = HostOp::Take, .shape = {3, 2}, .numbers = {0, 3, 1, 4, 2, 5}}, {input({2, 3})}, {{1, 2, 3, 4, 5, 6}}),
      (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(apply({.op = HostOp::Take, .shape = {6}}, {input({2, 3})}, {{1, 2, 3, 4, 5, 6}}), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(
      apply({.op = HostOp::Join, .shape = {2, 3}, .numbers = {1}}, {input({2, 1}), input({2, 2})}, {{1, 4}, {2, 3, 5, 6}}),
      (Floats{1, 2, 3, 4, 5, 6}));
  HostGraph graph{{input({4, 8}),
                   input({8, 5}),
                   {.op = HostOp::Product, .name = "MatMul", .inputs = {0, 1}, .shape = {4, 5}},
                   {.op = HostOp::Softmax, .name = "Softmax", .inputs = {2}, .shape = {4, 5}, .numbers = {1}}},
                  2};
  EXPECT_EQ(graph.operations(), 2 * 4 * 8 * 5 + 5 * 20);
  EXPECT_EQ(graph.operators(), "MatMul, Softmax");
}

}  // namespace
}  // namespace tilewright
