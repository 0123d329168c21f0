// Whole networks end to end: every number of every step equal to the plain integer arithmetic, on machines of every shape.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/rng.hpp"
#include "tilewright/vta/network_manifest.hpp"
#include "tilewright/workload/quantised_build.hpp"

namespace tilewright::vta {
namespace {

Machine machine(int batch, int block_in, int block_out) {
  Machine m;
  m.log_batch = batch;
  m.log_block_in = block_in;
  m.log_block_out = block_out;
  m.log_inp_buffer = 13;
  m.log_wgt_buffer = 16;
  m.log_acc_buffer = 15;
  return m;
}

// Every kind of step: strided, grouped, depthwise, dilated convolutions, residuals, pools, concatenation, table, sums that
// stay sums, clips that stay clips.
Draft all_kinds(std::int64_t batch) {
  Draft draft;
  draft.name = "all_kinds";
  draft.input = {batch, 3, 19, 17};
  const auto conv = [&](const char* name, std::size_t input, const TensorShape& in, std::int64_t out, std::int64_t kernel,
                        std::int64_t stride, std::int64_t pad, std::int64_t groups) {
    return add_product(draft,
                       convolution(name, {.batch = in.batch,
                                          .out_channels = out,
                                          .in_channels = in.channels,
                                          .in_height = in.height,
                                          .in_width = in.width,
                                          .kernel_height = kernel,
                                          .kernel_width = kernel,
                                          .stride = stride,
                                          .pad = pad,
                                          .groups = groups}),
                       {input});
  };
  const auto clip = [&](const char* name, std::size_t input, double high) {
    const std::size_t step = add_step(draft, StepKind::Clip, name, {input});
    draft.steps[step].low = 0;
    draft.steps[step].high = high;
    return step;
  };
  const std::size_t input = add_step(draft, StepKind::Input, "input", {});
  const std::size_t stem = clip("stem_relu", conv("stem", input, draft.input, 20, 5, 2, 2, 1), 1e9);
  const TensorShape wide{batch, 20, 10, 9};
  const std::size_t expand = conv("expand", stem, wide, 24, 1, 1, 0, 1);
  const TensorShape grown{batch, 24, 10, 9};
  const std::size_t depthwise = clip("depthwise_clip", conv("depthwise", expand, grown, 24, 3, 1, 1, 24), 6);
  const std::size_t grouped = conv("grouped", depthwise, grown, 24, 3, 1, 1, 3);
  const std::size_t residual = clip("residual_relu", add_step(draft, StepKind::Add, "residual", {grouped, expand}), 1e9);
  draft.steps[conv("dilated", residual, grown, 20, 3, 1, 2, 1)].step.layer.dilation_height = 2;
  const std::size_t dilated = draft.steps.size() - 1;
  draft.steps[dilated].step.layer.dilation_width = 2;
  const std::size_t sum = add_step(draft, StepKind::Add, "sum", {dilated, stem});
  const std::size_t sum_clip = add_step(draft, StepKind::Clip, "sum_clip", {sum});
  draft.steps[sum_clip].low = -0.5;
  const std::size_t plain_sum = add_step(draft, StepKind::Add, "plain_sum", {sum, sum_clip});  // `sum` has two readers
  const std::size_t pool = add_step(draft, StepKind::MaxPool, "pool", {plain_sum});
  draft.steps[pool].step.window = {3, 3, 2, 2, 1, 1, 1, 1};
  const std::size_t loose_clip = clip("loose_clip", pool, 1);
  const std::size_t table = add_step(draft, StepKind::Table, "table", {pool});
  draft.steps[table].function = [](double x) { return x < 0 ? x / 8 : x; };
  const std::size_t concat = add_step(draft, StepKind::Concat, "concat", {table, loose_clip});
  const std::size_t mean = add_average(draft, "mean", concat, {batch, 40, 5, 5}, {.kernel_height = 3, .kernel_width = 2});
  const std::size_t flat = add_step(draft, StepKind::Flatten, "flatten", {mean});
  add_product(draft, fully_connected("fc", batch, 40 * 3 * 4, 37), {flat});
  fill_weights(draft, 11);
  return draft;
}

QuantisedNetwork quantised(Draft draft, ThreadPool& pool) {
  Result<QuantisedNetwork> network = quantise(std::move(draft), {}, pool);
  EXPECT_TRUE(network) << network.error().message;
  return network ? std::move(network).value() : QuantisedNetwork{};
}

TEST(NetworkRun, EveryKindOfStepIsEqualOnEveryMachine) {
  ThreadPool pool(2);
  const Machine machines[] = {machine(0, 4, 4), machine(0, 3, 5), machine(0, 5, 3),
                              machine(1, 3, 4), machine(2, 4, 3), Machine{}};
  for (const std::int64_t batch : {1, 3}) {
    const QuantisedNetwork network = quantised(all_kinds(batch), pool);
    ASSERT_EQ(network.steps.size(), 15u);
    for (const Machine& m : machines) {
      ASSERT_TRUE(check(m, "machine"));
      const Result<NetworkPlan> plan = plan_network(network, m);
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_EQ(plan->program_count(), 11u);  // all but input, table, concat and flatten
      const NetworkRun result = run_network(network, *plan, random_input(network, 5), {}, pool);
      EXPECT_TRUE(result.is_equal()) << to_json(m) << verification(network, result);
      EXPECT_GT(result.cycles(), 0);
      std::int64_t elements = 0;
      for (std::size_t i = 1; i < network.steps.size(); ++i) {
        if (plan->steps[i].schedule) elements += network.steps[i].shape.elements();
      }
      EXPECT_EQ(result.elements(), elements);  // of the machine: the host's are the reference's own
      EXPECT_EQ(result.compared(), 11);
    }
  }
}

// A correct program does not depend on which module starts first or on what a memory holds before it is written.
TEST(NetworkRun, NeitherTheOrderOfModulesNorOldContentsMatter) {
  ThreadPool pool(1);
  const QuantisedNetwork network = quantised(all_kinds(3), pool);
  const Result<NetworkPlan> plan = plan_network(network, machine(1, 4, 3));
  ASSERT_TRUE(plan) << plan.error().message;
  RunOptions options;
  for (const ModuleOrder order : {ModuleOrder::LoadFirst, ModuleOrder::ComputeFirst, ModuleOrder::StoreFirst}) {
    for (const std::uint8_t fill : {std::uint8_t{0x00}, std::uint8_t{0xA5}}) {
      options.execution.order = order;
      options.execution.fill = fill;
      const NetworkRun result = run_network(network, *plan, random_input(network, 8), options, pool);
      EXPECT_TRUE(result.is_equal()) << verification(network, result);
    }
  }
}

TEST(NetworkRun, MatricesTimesMatrices) {
  ThreadPool pool(1);
  Draft draft;
  draft.name = "square";
  draft.input = {3, 1, 21, 21};
  const std::size_t input = add_step(draft, StepKind::Input, "input", {});
  const Layer layer = matrix_multiply("square", {.batch = 3, .rows = 21, .inner = 21, .columns = 21});
  const std::size_t square = add_product(draft, layer, {input, input});
  draft.steps[square].bias.assign(21, 0.25);
  const std::size_t fourth = add_product(draft, layer, {square, square});
  const std::size_t sum = add_step(draft, StepKind::Add, "sum", {fourth, square});
  draft.steps[add_step(draft, StepKind::Clip, "clip", {sum})].low = 0;
  const QuantisedNetwork network = quantised(std::move(draft), pool);
  ASSERT_EQ(network.steps.size(), 3u);
  EXPECT_TRUE(network.steps[2].has_residual);
  for (const Machine& m : {Machine{}, machine(1, 3, 4), machine(2, 4, 3)}) {
    const Result<NetworkPlan> plan = plan_network(network, m);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->program_count(), 2u);
    const NetworkRun result = run_network(network, *plan, random_input(network, 5), {}, pool);
    EXPECT_TRUE(result.is_equal()) << verification(network, result);
  }
}

TEST(NetworkRun, AWrongNumberIsFoundAndNamed) {
  ThreadPool pool(1);
  const QuantisedNetwork network = quantised(all_kinds(1), pool);
  const Result<NetworkPlan> plan = plan_network(network, Machine{});
  ASSERT_TRUE(plan);
  const std::vector<std::int8_t> input = random_input(network, 5);
  QuantisedTensors expected = run(network, input, pool);
  const std::int8_t computed = expected[3][17];
  expected[3][17] = static_cast<std::int8_t>(computed ^ 1);
  RunOptions options;
  options.expected = &expected;
  const NetworkRun result = run_network(network, *plan, input, options, pool);
  EXPECT_FALSE(result.is_equal());
  EXPECT_EQ(result.differences(), 1);
  const std::string sentence = verification(network, result);
  const std::string end = "1 differ, first in step 'depthwise': element 17 is " + std::to_string(computed) + ", expected " +
                          std::to_string(computed ^ 1);
  EXPECT_TRUE(sentence.ends_with(end)) << sentence;
}

TEST(NetworkRun, ResidualAndDepthwiseNetworksOfTheZoo) {
  ThreadPool pool(2);
  Machine wide;  // 16 x 32
  wide.log_block_out = 5;
  for (const auto& [source, m] : {std::pair{"zoo:resnet18", Machine{}}, {"zoo:mobilenet_v2", wide}}) {
    const Result<QuantisedNetwork> network = read_quantised(source, {.height = 32, .width = 32}, pool);
    ASSERT_TRUE(network) << network.error().message;
    const Result<NetworkPlan> plan = plan_network(*network, m);
    ASSERT_TRUE(plan) << plan.error().message;
    const NetworkRun result = run_network(*network, *plan, random_input(*network, 5), {}, pool);
    EXPECT_TRUE(result.is_equal()) << source << ": " << verification(*network, result);
    for (std::size_t i = 1; i < network->steps.size(); ++i) {
      EXPECT_TRUE(plan->steps[i].schedule || network->steps[i].kind == StepKind::Flatten) << plan->steps[i].reason;
    }
  }
}

TEST(NetworkPlan, ChosenSchedulesAreUsedAndMisfitsRefused) {
  ThreadPool pool(1);
  const QuantisedNetwork network = quantised(all_kinds(1), pool);
  const Schedule smallest;
  const Result<NetworkPlan> plan = plan_network(network, Machine{}, [&](const Layer&) { return std::optional(smallest); });
  ASSERT_TRUE(plan) << plan.error().message;
  for (std::size_t i = 0; i < network.steps.size(); ++i) {
    const bool is_layer = network.steps[i].kind == StepKind::Product && !network.steps[i].is_average;
    EXPECT_EQ(plan->steps[i].schedule == smallest, is_layer) << network.steps[i].name;
  }
  EXPECT_TRUE(run_network(network, *plan, random_input(network, 5), {}, pool).is_equal());
  const Result<NetworkPlan> refused =
      plan_network(network, Machine{}, [](const Layer&) { return std::optional(Schedule{.tile_h = 0}); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("layer 'stem': schedule "), 0u) << refused.error().message;
}

TEST(NetworkManifest, SaysWhatRunsWhereAndWhy) {
  ThreadPool pool(1);
  const QuantisedNetwork network = quantised(all_kinds(1), pool);
  const Result<NetworkPlan> plan = plan_network(network, Machine{});
  ASSERT_TRUE(plan);
  std::vector<std::pair<std::size_t, std::size_t>> files;  // step and bytes
  RunOptions options;
  options.on_program = [&](std::size_t step, const Program& program, const StepRun&) {
    files.emplace_back(step, to_bytes(program).size());
  };
  const NetworkRun result = run_network(network, *plan, random_input(network, 5), options, pool);
  const std::string text = manifest_json(network, *plan, result, {.seed = 5, .timing = options.timing});
  EXPECT_EQ(text, manifest_json(network, *plan, result, {.seed = 5, .timing = options.timing}));
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["format"], "tilewright-manifest-1");
  EXPECT_EQ(json["cycles"], result.cycles());
  EXPECT_EQ(json["macs"], macs(network).value);
  EXPECT_TRUE(json["verification"]["equal"]);
  EXPECT_EQ(json["programs"], files.size());
  ASSERT_EQ(json["steps"].size(), network.steps.size());
  std::size_t next = 0;
  for (const auto& step : json["steps"]) {
    if (step["kind"] == "input") continue;
    const bool on_machine = step["on"] == "machine";
    EXPECT_EQ(on_machine, step.contains("program")) << step["name"];
    if (!on_machine) {
      EXPECT_FALSE(step["host"][0]["why"].get<std::string>().empty()) << step["name"];
      continue;
    }
    ASSERT_LT(next, files.size());
    EXPECT_EQ(step["index"], files[next].first);
    EXPECT_EQ(step["program"]["bytes"], files[next].second);
    EXPECT_EQ(step["program"]["file"].get<std::string>().substr(2), "_" + step["name"].get<std::string>() + ".vtaprog");
    ++next;
  }
  EXPECT_EQ(next, files.size());
  EXPECT_EQ(json["steps"][5]["host"].size(), 2u);  // the dilated convolution widens its residual
}

}  // namespace
}  // namespace tilewright::vta
